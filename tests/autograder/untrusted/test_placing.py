"""A notebook that an editor has touched: no text of the student's is lost, no stub overwrites an answer, and no trick pays."""

import copy
import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.source import former_ids, grade_id
from autograder.untrusted import definitions
from autograder.untrusted.cells import Cell, parse_cells
from autograder.untrusted.placing import restore
from autograder.untrusted.written_answers import ELSEWHERE
from tests.autograder.road import perfect_notebook
from tests.conftest import ASSIGNMENTS

TEXT_STUB = "*Your answer.*"


def answer(name, kind="code", **more):
    nbgrader = {"grade_id": name, "grade": kind != "code", "solution": True, "locked": False, "task": False}
    nbgrader |= {"schema_version": 3} | ({"points": 2} if kind != "code" else {}) | more
    if kind != "code":
        return new_markdown_cell(TEXT_STUB, id=name, metadata={"nbgrader": nbgrader})
    stub = f"def {name}(x):\n    raise NotImplementedError  # your turn"
    return new_code_cell(stub, id=name, metadata={"nbgrader": nbgrader})


def check(name):
    nbgrader = {"grade_id": f"{name}-check", "grade": True, "solution": False, "locked": True, "task": False}
    source = f'check("topic.{name}", lambda case: {name}(case["x"]))'
    return new_code_cell(
        source, id=f"{name}-check", metadata={"nbgrader": nbgrader | {"points": 2, "schema_version": 3}}
    )


RELEASE = new_notebook(
    cells=[
        new_markdown_cell("# A title that is long enough", id="title"),
        new_code_cell("from autograder.checks import check", id="setup"),
        new_markdown_cell("**Question 1.** Why is the sky blue, and not green?", id="q1"),
        answer("why", "markdown"),
        new_markdown_cell("## Two functions, one after the other", id="head"),
        answer("half"),
        check("half"),
        new_code_cell("print(half(2))", id="demo", metadata={"tags": ["demo"]}),
        answer("third"),
        check("third"),
        new_markdown_cell("**Question 2.** And why is it red in the evening?", id="q2"),
        answer("when", "markdown"),
        new_markdown_cell("That was the last question of today.", id="end"),
    ]
)
RELEASED = {cell.id: cell.source for cell in RELEASE.cells}
HALF, THIRD = "def half(x):\n    return x / 2", "def third(x):\n    return x / 3"
ANSWERS = {"why": "Small waves scatter more.", "half": HALF, "third": THIRD, "when": "The way is longer."}


class Work:
    """A student's notebook: the release with answers, as cells that can be taken away, moved and changed."""

    def __init__(self, answers=None):
        notebook = json.loads(nbformat.writes(RELEASE))
        self.cells = [cell | {"source": "".join(cell["source"])} for cell in notebook["cells"]]
        for name, text in (ANSWERS if answers is None else answers).items():
            self[name]["source"] = text

    def __getitem__(self, name):
        return next(cell for cell in self.cells if cell.get("id") == name)

    def has(self, name):
        return any(cell.get("id") == name for cell in self.cells)

    def place(self, name):
        return self.cells.index(self[name])

    def add(self, after, source, kind="code", **more):
        self.cells.insert(
            self.place(after) + 1, {"cell_type": kind, "metadata": {}, "source": source, **more}
        )

    def remove(self, *names):
        self.cells = [cell for cell in self.cells if cell.get("id") not in names]

    def forget(self):
        for cell in self.cells:
            cell.pop("id", None)
            cell["metadata"] = {}

    def restored(self):
        handed = parse_cells(json.dumps({"nbformat": 4, "cells": self.cells}).encode()).cells
        restored = restore(handed, RELEASE)
        nbformat.validate(restored.notebook)
        self.result = restored
        self.after = {grade_id(cell): cell for cell in restored.notebook.cells if grade_id(cell)}
        assert sorted(self.after) == sorted(grade_id(cell) for cell in RELEASE.cells if grade_id(cell))
        for name in ("half-check", "third-check"):  # locked: as released, whatever was done
            assert self.after[name].source == RELEASED[name]
        return {name: self.after[name].source for name in ANSWERS}

    def order(self, *names):
        """Whether the cells with these grade ids stand in this order."""
        ids = [grade_id(cell) for cell in self.result.notebook.cells]
        places = [ids.index(name) for name in names]
        return places == sorted(places)

    def as_run(self):
        """The names that are functions when each check runs, in the order in which the cells run."""
        names, seen = {"check": lambda *call: None}, {}
        for cell in self.result.notebook.cells:
            if cell.cell_type != "code":
                continue
            if grade_id(cell).endswith("-check"):
                name = grade_id(cell).removesuffix("-check")
                seen[name] = names.get(name)
            elif "def " in cell.source:
                exec(cell.source, names)
        return {name: function and _value(function) for name, function in seen.items()}


def _value(function):
    try:
        return function(6)
    except NotImplementedError:
        return "stub"


RIGHT = {"half": 3, "third": 2}


def test_an_untouched_notebook_stays_as_it_is():
    work = Work()
    assert work.restored() == ANSWERS
    assert work.result.notes == () and work.result.doubtful == {}
    assert [c.metadata for c in work.result.notebook.cells] == [c.metadata for c in RELEASE.cells]


def test_cells_that_lost_every_mark_are_found_again():
    work = Work()
    work.forget()
    assert work.restored() == ANSWERS and work.as_run() == RIGHT
    assert [c.metadata for c in work.result.notebook.cells] == [c.metadata for c in RELEASE.cells]
    assert "6 cells of this notebook had to be found again" in work.result.notes[0]


@pytest.mark.parametrize("unanswered", ANSWERS)
def test_of_cells_that_lost_every_mark_the_unanswered_ones_are_known(unanswered):
    answers = {name: text for name, text in ANSWERS.items() if name != unanswered}
    work = Work(answers)
    work.forget()
    assert work.restored() == {**ANSWERS, unanswered: RELEASED[unanswered]}
    assert work.result.doubtful == {}


def test_without_marks_a_function_is_found_by_order_when_it_has_another_name():
    work = Work(ANSWERS | {"half": "def my_half(x):\n    return x / 2"})
    work.forget()
    assert work.restored()["half"].startswith("def my_half")


def test_without_marks_and_headings_the_functions_are_found():
    work = Work()
    work.remove("title", "q1", "head", "q2", "end", "demo", "setup")
    work.forget()
    restored = work.restored()
    assert (restored["half"], restored["third"]) == (HALF, THIRD) and work.as_run() == RIGHT
    assert ANSWERS["why"] in restored["why"] and ANSWERS["when"] in restored["when"]


def test_checks_that_were_formatted_anew_are_found():
    work = Work()
    work["half-check"]["source"] = "check('topic.half', lambda case: half(case['x']))"
    work.forget()
    work.restored()
    assert work.order("half", "half-check", "third", "third-check")


def test_two_answers_merged_into_one_cell_are_two_answers():
    work = Work()
    work["half"]["source"] += "\n\n\n# now the other one\n" + THIRD
    work.remove("third")
    assert work.restored() == ANSWERS | {"third": f"# now the other one\n{THIRD}"}
    assert work.as_run() == RIGHT


@pytest.mark.parametrize("order", [(HALF, THIRD), (THIRD, HALF)])
def test_everything_in_one_cell_with_the_checks(order):
    work = Work()
    work["half"]["source"] = "\n\n".join(
        ["import math", *order, 'check("topic.half", lambda case: half(case["x"]))']
    )
    work.remove("half-check", "third", "third-check", "demo")
    restored = work.restored()
    assert "return x / 2" in restored["half"] and "return x / 3" in restored["third"]
    assert work.as_run() == RIGHT


def test_a_stub_is_put_back_ahead_of_what_the_student_has_in_its_place():
    """Another name for a function is no definition that could be moved, and counts as it does in the student's kernel."""
    work = Work()
    work["half"]["source"] += "\n\nthird = lambda_of_mine = half"
    work.remove("third")
    work.restored()
    assert work.order("third", "half", "third-check")


@pytest.mark.parametrize("after", ["title", "half", "end"])
def test_an_answer_outside_the_merged_stubs_is_found(after):
    work = Work({})
    work["half"]["source"] += "\n\n\n" + work["third"]["source"]
    work.remove("third")
    work.add(after, HALF)
    unanswered = {name: RELEASED[name] for name in ("why", "third", "when")}
    assert work.restored() == unanswered | {"half": HALF}


def test_so_is_one_below_a_stub_to_which_another_answer_was_added():
    work = Work()
    work["half"]["source"] = RELEASED["half"] + "\n\n\n" + THIRD
    work.remove("third")
    work.add("half", HALF)
    work.restored()
    assert work.as_run() == RIGHT


def test_a_merged_cell_with_an_error_is_not_called_unanswered():
    work = Work()
    work["half"]["source"] += "\n\ndef third(x:\n    return x / 3"
    work.remove("third")
    work.restored()
    assert work.result.doubtful == {"third": "def half(x):"}


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_code_that_was_turned_into_text_is_code(kind):
    work = Work()
    work["half"]["cell_type"] = kind
    assert work.restored() == ANSWERS and work.after["half"].cell_type == "code"
    assert work.result.notes[0].endswith("but their text is still graded: `half`.")


def test_code_between_fences_is_code():
    work = Work()
    work["half"].update(cell_type="markdown", source=f"My answer:\n\n```python\n{HALF}\n```\nThat is all.")
    assert work.restored() == ANSWERS


@pytest.mark.parametrize("kind", ["code", "raw"])
def test_a_written_answer_that_was_turned_into_something_else_is_text(kind):
    work = Work()
    work["why"]["cell_type"] = kind
    assert work.restored() == ANSWERS and work.after["why"].cell_type == "markdown"


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
@pytest.mark.parametrize("where", ["q1", "why"])
def test_an_answer_beside_its_cell_is_the_answer(where, kind):
    work = Work({name: text for name, text in ANSWERS.items() if name != "why"})
    text = ANSWERS["why"] if kind != "code" else f"# {ANSWERS['why']}"
    work.add(where, text, kind)
    assert work.restored() == ANSWERS | {"why": text}


def test_an_answer_within_the_question_is_the_answer():
    work = Work({name: text for name, text in ANSWERS.items() if name != "why"})
    work["q1"]["source"] += "\n\n" + ANSWERS["why"]
    assert work.restored() == ANSWERS
    work.remove("why")
    assert work.restored() == ANSWERS


@pytest.mark.parametrize("marks", [("id", "metadata"), ()], ids=["a copy of its marks", "no mark"])
def test_the_second_half_of_a_split_answer_is_part_of_it(marks):
    work = Work()
    work.add("why", "And a second paragraph.", "markdown", **{mark: work["why"][mark] for mark in marks})
    assert work.restored()["why"] == f"{ANSWERS['why']}\n\nAnd a second paragraph."


@pytest.mark.parametrize("name", ["why", "half"])
def test_of_a_doubled_cell_the_one_that_is_answered_counts(name):
    work = Work()
    stub = copy.deepcopy(work[name]) | {"source": RELEASED[name]}
    work.cells.insert(work.place(name), stub)
    assert work.restored() == ANSWERS and work.as_run() == RIGHT


def test_a_text_far_away_is_shown_with_every_question_without_an_answer():
    work = Work({"why": ANSWERS["why"], "half": HALF})
    work.add("half-check", "I think that the light has a longer way.", "markdown")
    restored = work.restored()
    assert restored["why"] == ANSWERS["why"]
    assert restored["when"] == f"{ELSEWHERE}\n\nI think that the light has a longer way."


def test_pictures_come_along_and_none_takes_another_s_name():
    work = Work({})
    for number in range(2):
        picture = {"image.png": {"image/png": "iVBORw0KGgo" + "AB"[number] * 5}}
        work.add("why", f"![drawn](attachment:image.png) {number}", "markdown", attachments=picture)
    text = work.restored()["why"]
    attached = work.after["why"].attachments
    assert len(attached) == 2 and all(f"attachment:{name}" in text for name in attached)


@pytest.mark.parametrize("where", ["half", "half-check", "demo", "end"])
def test_a_function_below_its_stub_is_the_answer_and_its_check_comes_after_it(where):
    work = Work({name: text for name, text in ANSWERS.items() if name != "half"})
    work.add(where, HALF)
    assert work.restored() == ANSWERS and work.as_run() == RIGHT


def test_a_function_typed_over_another_stub_is_the_answer():
    work = Work(ANSWERS | {"half": "def third(x):\n    return x / 3"})
    work["third"]["source"] = RELEASED["third"]
    assert work.restored()["third"] == THIRD
    assert work.as_run() == {"half": "stub", "third": 2}


def test_a_function_typed_into_the_check_is_the_answer():
    work = Work({name: text for name, text in ANSWERS.items() if name != "half"})
    work["half-check"]["source"] = f"{HALF}\n\n" + work["half-check"]["source"]
    assert "return x / 2" in work.restored()["half"] and work.as_run() == RIGHT


def test_a_check_that_was_moved_above_its_answer_runs_below_it():
    work = Work()
    moved = work["third-check"]
    work.cells.remove(moved)
    work.cells.insert(0, moved)
    assert work.restored() == ANSWERS and work.as_run() == RIGHT


def test_a_function_of_another_name_beside_the_stub_is_named_to_a_person():
    work = Work({name: text for name, text in ANSWERS.items() if name != "half"})
    work.add("half", "def my_half(x):\n    return x / 2")
    assert "NotImplementedError" in work.restored()["half"]
    assert work.result.doubtful == {"half": "def my_half(x):"}


@pytest.mark.parametrize("where", ["title", "setup", "third-check"])
def test_a_function_of_another_name_far_away_is_named_to_a_person_unless_an_answer_calls_it(where):
    work = Work({"third": THIRD})
    work.add(where, "def my_half(x):\n    return x / two()")
    work.add("title", "def two():\n    return 2")
    work.restored()
    assert set(work.result.doubtful) == {"half"} == set(work.result.unsure) - {"half-check"}
    work["third"]["source"] = "def third(x):\n    return my_half(x) / 1.5"
    work.restored()
    assert work.result.doubtful == {} == work.result.unsure


@pytest.mark.parametrize(
    "source", ["%%writefile helper.py\n" + HALF, f'exec("""{HALF}""")', "# " + HALF.replace("\n", "\n# ")]
)
def test_a_function_that_no_cell_defines_is_shown_to_a_person(source):
    work = Work({name: text for name, text in ANSWERS.items() if name != "half"})
    work.add("setup", source)
    assert "NotImplementedError" in work.restored()["half"]
    assert work.result.doubtful == {"half": source.splitlines()[0]}


def test_scratch_cells_are_no_answers():
    work = Work({name: text for name, text in ANSWERS.items() if name not in ("half", "why")})
    work.add("half", "print(x)\nhalf(2)")
    work.add("why", "x = [2, 3]\nx[0] + len(x)")
    restored = work.restored()
    assert restored["why"] == TEXT_STUB and "NotImplementedError" in restored["half"]
    assert work.result.doubtful == {}


def test_a_cell_of_code_that_was_emptied_is_not_answered():
    work = Work(ANSWERS | {"half": "  \n", "why": ""})
    assert "NotImplementedError" in work.restored()["half"]
    assert work.restored()["why"] == ""  # as nbgrader has it: a person sees it


def test_spaces_that_an_editor_adds_are_no_answer():
    work = Work({})
    for name in ANSWERS:
        work[name]["source"] = "\n" + work[name]["source"].replace("\n", "  \n") + " \n"
    assert work.restored()["why"] == TEXT_STUB
    assert work.restored()["half"] == RELEASED["half"]


def forget_kinds(work):
    for name in ANSWERS:
        if work.has(name):
            work[name]["cell_type"] = "raw"


def merge_answers(work):
    if work.has("half") and work.has("third"):
        work["half"]["source"] += "\n\n" + work["third"]["source"]
        work.remove("third")


def merge_question(work):
    if work.has("q1") and work.has("why"):
        work["q1"]["source"] += "\n\n" + work["why"]["source"]
        work.remove("why")


def move_checks_up(work):
    for name in ("half-check", "third-check"):
        if work.has(name):
            work.cells.insert(0, work.cells.pop(work.place(name)))


def write_below(work):
    for name in ("half", "third"):
        if work.has(name):
            work.add(name, work[name]["source"])
            work[name]["source"] = RELEASED[name]


SLIPS = {
    "marks lost": Work.forget,
    "kinds changed": forget_kinds,
    "answers merged": merge_answers,
    "question merged": merge_question,
    "checks moved": move_checks_up,
    "checks deleted": lambda work: work.remove("half-check", "third-check"),
    "texts deleted": lambda work: work.remove("title", "head", "end", "q2"),
    "written below": write_below,
    "scratch": lambda work: work.cells.insert(len(work.cells) // 2, {"cell_type": "code", "source": "half(1) + third(2)"}),
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.permutations(list(SLIPS)), st.integers(1, 4))
def test_several_slips_at_once_cost_nothing(slips, count):
    slips = slips[:count]
    work = Work()
    for slip in slips:
        SLIPS[slip](work)
    restored = work.restored()
    assert work.as_run() == RIGHT, slips
    for name in ("why", "when"):
        assert ANSWERS[name] in restored[name], (slips, restored[name])


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_every_notebook_of_the_course_is_known_without_any_mark(assignment):
    perfect, release = perfect_notebook(assignment), assignment.read_release()
    cells = [Cell(cell.cell_type, cell.source, "") for cell in perfect.cells]
    placed = restore(cells, release)
    assert [(grade_id(cell), cell.source) for cell in placed.notebook.cells] == [
        (grade_id(cell), cell.source) for cell in perfect.cells
    ]


# Whoever wants points for nothing


def test_an_answer_is_never_replaced_by_a_text_elsewhere():
    work = Work(ANSWERS | {"half": "def half(x):\n    return x  # wrong"})
    for name in ("title", "half-check", "end"):
        work.add(name, HALF)
        work.add(name, HALF, "raw")
        work.add(name, f"```\n{HALF}\n```", "markdown")
    assert work.restored()["half"] == "def half(x):\n    return x  # wrong"


def test_an_import_or_another_name_is_no_definition():
    """Else the notebook that imports `half` for a comparison would be paid for it."""
    work = Work({})
    work.add("setup", "from library import half, third\nhalf = half\nthird: object = half")
    assert "NotImplementedError" in work.restored()["half"]
    assert work.order("half", "half-check", "third", "third-check")


def test_forged_marks_move_no_point_and_no_lock():
    work = Work()
    for cell in work.cells:
        cell["metadata"] = {
            "nbgrader": {"grade_id": cell["id"], "points": 99, "locked": False, "solution": True}
        }
    work["half-check"]["source"] = "check = print"
    work.add("end", 'check("topic.half", lambda case: 7)', metadata={"nbgrader": {"grade_id": "half-check"}})
    assert work.restored() == ANSWERS
    marks = [cell.metadata.nbgrader for cell in work.after.values()]
    assert [mark.get("points") for mark in marks if mark.grade] == [2] * 4
    copies = [c for c in work.result.notebook.cells if c.source.endswith("lambda case: 7)")]
    assert [grade_id(c) for c in copies] == [""]


def test_each_check_is_asked_once_however_often_it_is_copied():
    work = Work()
    for _ in range(5):
        work.cells += [copy.deepcopy(work["half-check"])]
        work.add("title", work["half-check"]["source"])
    work.restored()
    assert sum(grade_id(c) == "half-check" for c in work.result.notebook.cells) == 1


BOMBS = {
    "deep": "half = " + "(" * 5000 + ")" * 5000,
    "long": "def half(x):\n    pass\n" + "x = 1\n" * 50_000,
    "minus": "def half(x):\n    return " + "-" * 15_000 + "1",
    "fences": "```\ndef half(x): pass\n" * 800,
    "spaces": "half" + " " * 15_000 + "x",
    "quotes": "def half(x):\n    '''" + "\\'" * 9000,
}


@pytest.mark.parametrize("kind", ["code", "markdown", "raw"])
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_what_is_hard_to_parse_harms_nobody(bomb, kind):
    work = Work({})
    work.add("half", bomb, kind)
    work.restored()
    assert work.order("half", "half-check", "third", "third-check")


@pytest.mark.slow
def test_no_more_is_parsed_than_the_budget(monkeypatch):
    """2,000 cells that each define the function would take minutes."""
    parsed = []
    real = definitions.ast.parse
    monkeypatch.setattr(definitions.ast, "parse", lambda source: parsed.append(len(source)) or real(source))
    many = [Cell("code", f"def half(x):\n    return {n}\n" + f"x = {n}\n" * 1500, "") for n in range(300)]
    restore(many, RELEASE)
    assert 0 < sum(parsed) <= definitions.MOST_PARSED + 1000


def test_a_cell_is_recognised_by_the_id_that_it_had():
    """Hand-ins that were made before it got another one; also where only the cell's own id is left."""
    release = copy.deepcopy(RELEASE)
    now = next(cell for cell in release.cells if cell.id == "why")
    now.id = now.metadata.nbgrader.grade_id = "question-1"
    now.metadata.course = {"formerly": "why"}
    for forget in (False, True):
        work = Work()
        if forget:
            work["why"]["metadata"] = {}
        handed = parse_cells(json.dumps({"nbformat": 4, "cells": work.cells}).encode()).cells
        after = {grade_id(cell): cell.source for cell in restore(handed, release).notebook.cells}
        assert after["question-1"] == ANSWERS["why"] and "why" not in after


def test_a_former_id_that_another_cell_has_now_says_nothing():
    release = copy.deepcopy(RELEASE)
    now = next(cell for cell in release.cells if cell.id == "why")
    now.metadata.course = {"formerly": "when"}
    assert former_ids(release) == {}
