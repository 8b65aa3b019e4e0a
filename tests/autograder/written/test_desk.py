"""What people decide at a desk, and that nothing of it is lost or overwritten in silence."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from nbgrader.apps import NbGraderAPI

from autograder.errors import CourseError
from autograder.gradebook.by_hand import Mark, write_marks
from autograder.gradebook.export import EXPORTERS
from autograder.gradebook.gradebook import open_gradebook
from autograder.gradebook.queries import find_released
from autograder.gradebook.rows import Rows
from autograder.settings import course_directory, load
from autograder.written.desk import Conflict, Refused
from tests.autograder.written.class_of import NAME, QUESTION, give, group_of, marks, record, seen
from tests.autograder.written.conftest import EXAMPLES, MIXTURE, TEXTS

pytestmark = pytest.mark.slow


def test_a_group_s_points_and_comment_stand_in_the_gradebook(nine, desk):
    give(desk, "ann", MIXTURE, 1, ticks=[0], comment="And two examples?")
    given = marks(nine)
    assert {s for s, mark in given.items() if mark.score == 1} == {"ada", "bob", "cem", "dua"}
    assert given["cem"] == Mark(1, "And two examples?", waiting=False)
    assert given["eva"].waiting and given["gil"].blank
    view = desk.view("ann")
    assert (view["count"], view["waiting"], view["blank"], view["unread"]) == (8, 4, 1, 0)
    assert group_of(view, MIXTURE)["rows"][0]["decision"]["ticks"] == (0,)


def test_what_a_person_gave_survives_another_round_and_is_exported(nine, desk):
    give(desk, "ann", MIXTURE, 0.5, comment="half")
    give(desk, "ann", EXAMPLES, 0)
    record(nine, TEXTS)
    given = marks(nine)
    assert given["ada"] == Mark(0.5, "half", waiting=False) and given["eva"] == Mark(0, "", waiting=False)
    with open_gradebook(nine.root) as gradebook:
        exporter = EXPORTERS["csv"](assignment=[NAME])
        exporter.to = str(nine.root / "grades.csv")
        exporter.export(gradebook)
        checks = sum(
            c.max_score for c in gradebook.find_notebook(NAME, NAME).grade_cells if c.name.endswith("-check")
        )
    line = next(line for line in (nine.root / "grades.csv").read_text().splitlines() if ",ada," in line)
    assert f",{checks + 0.5}," in line


def test_the_student_s_feedback_has_points_and_comment(nine, desk):
    give(desk, "ann", MIXTURE, 0.5, comment="And two examples?")
    made = NbGraderAPI(course_directory(nine.root), config=load(nine.root)).generate_feedback(NAME, "ada")
    assert made["success"], made["log"]
    page = (nine.root / "feedback" / "ada" / NAME / f"{NAME}.html").read_text()
    cell = page.partition(f'name="{QUESTION}"')[2][:5000]
    assert "And two examples?" in cell and re.search(r"0\.5\s*/\s*2\.0", cell)


def test_who_hands_in_another_answer_is_read_again(nine, desk):
    give(desk, "ann", MIXTURE, 1)
    record(nine, TEXTS | {"ada": EXAMPLES, "new": MIXTURE})
    view = desk.view("ann")
    examples, mixture = group_of(view, EXAMPLES), group_of(view, MIXTURE)
    assert marks(nine)["ada"] == Mark(1, "", waiting=True)
    assert sum(len(row["answers"]) for row in examples["rows"]) == 3
    (late,) = [row for row in mixture["rows"] if row["waiting"]]
    assert len(late["answers"]) == 1


def test_an_answer_keeps_points_of_its_own(nine, desk):
    mixture = group_of(desk.view("ann"), MIXTURE)
    desk.give("ann", seen(mixture, 0), 2, alone=True)
    rows = group_of(desk.view("ann"), MIXTURE)["rows"]
    assert [row["decision"] and row["decision"]["alone"] for row in rows].count(True) == 1


def test_split_join_and_the_way_back(nine, desk):
    before = desk.view("ann")["groups"]
    mixture = group_of(desk.view("ann"), MIXTURE)
    new = desk.split("ann", mixture["id"], mixture["tag"], list(seen(mixture, 1)))
    names = [group["id"] for group in desk.view("ann")["groups"]]
    assert names.index(new) == names.index(mixture["id"]) + 1
    tags = {group["id"]: group["tag"] for group in desk.view("ann")["groups"]}
    assert desk.join("ann", {name: tags[name] for name in (new, names[-1])}) == new
    assert len(desk.view("ann")["groups"]) == len(before)
    assert desk.undo("ann").what == "2 groups joined"
    assert desk.undo("ann").what == "1 answer split off"
    assert desk.view("ann")["groups"] == before
    with pytest.raises(Refused, match="nothing"):
        desk.undo("ann")


def test_another_program_goes_on_where_this_one_was(new_desk):
    first = new_desk()
    give(first, "ann", MIXTURE, 1, ticks=[0])
    later = new_desk()
    assert later.view("ann")["groups"] == first.view("ann")["groups"]
    assert later.undo("ann").what == "1 point to 4 answers"


def test_two_graders_overwrite_nothing_in_silence(nine, new_desk):
    ann, bob = new_desk(), new_desk()
    stale = group_of(bob.view("bob"), MIXTURE)
    give(ann, "ann", MIXTURE, 1)
    with pytest.raises(Conflict, match="ann has given 1 point to 4 answers"):
        bob.give("bob", seen(stale), 2)
    assert marks(nine)["ada"].score == 1
    give(bob, "bob", MIXTURE, 2)  # having seen it
    with pytest.raises(Conflict, match="nothing was undone"):
        ann.undo("ann")
    assert marks(nine)["ada"].score == 2


def test_a_group_that_changed_meanwhile_is_not_split(new_desk):
    ann, bob = new_desk(), new_desk()
    stale = group_of(bob.view("bob"), MIXTURE)
    ann.split("ann", stale["id"], stale["tag"], list(seen(stale, 1)))
    with pytest.raises(Conflict):
        bob.split("bob", stale["id"], stale["tag"], list(seen(stale, 0)))
    with pytest.raises(Conflict):
        bob.join("bob", {stale["id"]: stale["tag"], "g2": group_of(bob.view("bob"), EXAMPLES)["tag"]})


def test_what_formgrader_gave_is_seen_and_not_overwritten(nine, desk):
    stale = group_of(desk.view("ann"), MIXTURE)
    with open_gradebook(nine.root) as gradebook:
        write_marks(gradebook, nine, QUESTION, {"ada": Mark(2, "by hand", waiting=False)})
    with pytest.raises(Conflict, match="formgrader has given 2 points"):
        desk.give("ann", seen(stale), 0)
    rows = group_of(desk.view("ann"), MIXTURE)["rows"]
    assert [(row["decision"]["by"], row["decision"]["alone"]) for row in rows if row["decision"]] == [
        ("formgrader", True)
    ]


def test_points_given_while_a_run_records_the_same_answer_stay(nine, desk):
    """`autograder grade` reads a student's rows, and writes them a moment later."""

    def grade(name, row):
        if name == QUESTION:
            give(desk, "ann", MIXTURE, 1, comment="well said")
        return {"auto_score": 0.25, "needs_manual_grade": row["needs_manual_grade"]}

    with open_gradebook(nine.root) as gradebook:
        released = find_released(gradebook.db, NAME, NAME)
        rows = Rows(gradebook.db, released)
        rows.set_grades(rows.hand_in("ada", None), grade)
        rows.write()
        gradebook.db.commit()
    assert marks(nine)["ada"] == Mark(1, "well said", waiting=False)


def test_many_graders_at_once_lose_nothing(nine, new_desk):
    """Each gives one answer its points, all at the same moment; two want the same one."""
    answers = [answer for group in new_desk().view("")["groups"] for answer in seen(group).items()]
    refused = []

    def grade(number, alias, tag):
        try:
            new_desk().give(f"grader {number}", {alias: tag}, 1)
        except Conflict:
            refused.append(number)

    with ThreadPoolExecutor(len(answers) + 1) as graders:
        work = [graders.submit(grade, n, *one) for n, one in enumerate([*answers, answers[0]])]
    assert [done.result() for done in work] == [None] * 9 and len(refused) == 1
    final = new_desk().view("")
    assert final["waiting"] == 0
    rows = [row for group in final["groups"] for row in group["rows"]]
    givers = {row["decision"]["by"] for row in rows}
    assert len(givers) == len({row["text"] + row["decision"]["by"] for row in rows})


def test_nobody_is_named(nine, desk):
    text = json.dumps(desk.view("ann"))
    assert "ian" not in [name.strip("<b>") for name in TEXTS if name in text] and '"ada"' not in text
    aliases = {alias for group in desk.view("ann")["groups"] for alias in seen(group)}
    assert len(aliases) == 8 and not aliases & set(TEXTS)


def test_a_damaged_file_is_a_sentence_and_the_points_are_safe(nine, desk):
    give(desk, "ann", MIXTURE, 1)
    path = nine.root / ".autograder" / "written" / NAME / f"{QUESTION}.json"
    path.write_text('{"serial": 3')
    with pytest.raises(CourseError, match="Delete it"):
        desk.view("ann")
    path.unlink()
    assert group_of(desk.view("ann"), MIXTURE)["rows"][0]["decision"]["score"] == 1
