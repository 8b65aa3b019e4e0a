"""What arrives in a watched folder is graded once, with feedback, and harms nobody else."""

import shutil

import pytest
from nbgrader.utils import notebook_hash

from autograder.errors import CourseError
from autograder.files import Busy, course_lock
from autograder.gradebook.exchange import Inbound
from autograder.gradebook.feedback import page_of
from autograder.gradebook.history import read_history
from autograder.grading.run import Options
from autograder.grading.watching import AGAIN_AFTER, Watch
from tests.autograder.commands import refusal
from tests.autograder.here import NAME

WRONG = "def total(values):\n    return values.mean()"
RULE = """
from nbgrader.plugins import LateSubmissionPlugin

class Fails(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return {"ada": 0}[student_id]

c.AssignLatePenalties.plugin_class = Fails
"""


class Watched:
    """A course that is watched, by one process after the other."""

    def __init__(self, small):
        self.small, self.told, self.now = small, [], 0.0

    def watch(self, **how) -> Watch:
        folder = self.small.assignment.submitted
        return Watch(
            self.small.assignment, folder, Options("none"), self.told.append, clock=lambda: self.now, **how
        )

    @property
    def runs(self) -> int:
        return len(self.small.pool.sent)


@pytest.fixture
def watched(small):
    return Watched(small)


def names(arrivals):
    return [arrival.student for arrival in arrivals]


def twice(watch):
    """What came of two looks: the first sees it, the second takes it."""
    return [*watch.look(), *watch.look()]


def page(small, student):
    return page_of(small.assignment, student)


@pytest.mark.slow
def test_what_is_the_same_in_two_looks_is_graded_with_feedback_and_not_again(watched):
    small = watched.small
    with watched.watch() as watch:
        assert twice(watch) == [] and watched.told == []
        small.hand_in("ada")
        assert watch.look() == []
        (arrival,) = watch.look()
        assert (arrival.student, sum(one.score for one in arrival.results)) == ("ada", 9)
        assert "of 10 points" in page(small, "ada").read_text()
        assert small.scores() == {"ada": 9.0}
        small.hand_in("bob", total=WRONG)
        assert names(twice(watch)) == ["bob"]
        assert twice(watch) == [] and watched.told == []
    assert small.pool.closed


@pytest.mark.slow
def test_a_file_that_still_grows_is_not_taken_and_one_that_is_replaced_is_graded_again(watched):
    small = watched.small
    with watched.watch() as watch:
        path = small.hand_in("ada", total=WRONG) / small.assignment.file
        whole = path.read_text()
        for size in (0, 100, 2000):
            path.write_text(whole[:size])
            assert watch.look() == []
        path.write_text(whole)
        assert names(twice(watch)) == ["ada"]
        small.hand_in("ada")
        assert names(twice(watch)) == ["ada"]
    assert small.scores() == {"ada": 9.0}
    assert len(read_history(small.assignment, "ada").hand_ins) == 2


@pytest.mark.slow
def test_a_folder_without_a_file_of_the_student_is_no_hand_in_yet(watched):
    with watched.watch() as watch:
        folder = watched.small.hand_in("ada")
        kept = (folder / watched.small.assignment.file).read_bytes()
        (folder / watched.small.assignment.file).unlink()
        assert twice(watch) == []
        (folder / watched.small.assignment.file).write_bytes(kept)
        assert names(twice(watch)) == ["ada"]


@pytest.mark.slow
def test_the_next_process_goes_on_and_runs_nothing_twice(watched):
    small = watched.small
    small.hand_in("ada")
    small.hand_in("bob", total=WRONG)
    small.hand_in("hao", "This is my homework.")
    with watched.watch() as watch:
        assert names(twice(watch)) == ["ada", "bob", "hao"]
    runs = watched.runs
    page(small, "bob").unlink()  # as if killed before
    with watched.watch() as watch:
        assert names(twice(watch)) == ["bob"] and page(small, "bob").exists()
        assert watched.runs == runs
        small.hand_in("cem")  # the same file as ada's
        assert names(twice(watch)) == ["cem"] and watched.runs == runs
    small.hand_in("bob")
    with watched.watch() as watch:
        assert names(twice(watch)) == ["bob"]


@pytest.mark.slow
def test_what_autograder_grade_has_graded_only_lacks_its_feedback(watched):
    small = watched.small
    small.hand_in("ada")
    small.grade_class()
    runs = watched.runs
    with watched.watch() as watch:
        assert names(twice(watch)) == ["ada"] and page(small, "ada").exists()
    assert watched.runs == runs


@pytest.mark.slow
def test_another_time_of_the_same_file_counts(watched):
    small = watched.small
    folder = small.hand_in("ada")
    with watched.watch() as watch:
        assert names(twice(watch)) == ["ada"]
    (folder / "timestamp.txt").write_text("2026-10-03 12:00:00 UTC")
    with watched.watch() as watch:
        assert names(twice(watch)) == ["ada"]
    with small.gradebook() as gradebook:
        assert gradebook.find_submission(NAME, "ada").timestamp.day == 3


@pytest.mark.slow
def test_a_broken_hand_in_gets_its_sentence_and_harms_only_itself(watched):
    small = watched.small
    small.hand_in("ada")
    small.hand_in("hao", "This is my homework.")
    (small.assignment.submitted / "notes.ipynb").write_text("{}")
    (small.assignment.submitted / "fay").mkdir()
    (small.assignment.submitted / "fay" / NAME).write_text("a file in the place of the folder")
    with watched.watch() as watch:
        scores = {one.student: sum(result.score for result in one.results) for one in twice(watch)}
        assert scores == {"ada": 9, "fay": 0, "hao": 0}
        assert twice(watch) == []
    assert "not a notebook" in page(small, "hao").read_text()
    (told,) = watched.told
    assert told.startswith("notes.ipynb: it is a file")


@pytest.mark.slow
def test_an_error_that_one_meets_harms_no_other_and_is_tried_again_later(watched):
    small = watched.small
    settings = small.root / "nbgrader_config.py"
    before = settings.read_text()
    settings.write_text(before + RULE)
    for student in ("ada", "bob", "cem"):
        (small.hand_in(student) / "timestamp.txt").write_text("2026-10-05 12:00:00 UTC")
    with small.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-10-04 00:00:00 UTC")
    (small.assignment.submitted / "cem" / NAME / "timestamp.txt").unlink()
    with watched.watch() as watch:
        assert names(twice(watch)) == ["ada", "cem"]
        (told,) = watched.told
        assert told.startswith("bob: The rule for late penalties, Fails, fails for bob")
        assert twice(watch) == [] and len(watched.told) == 1
        settings.write_text(before)
        assert twice(watch) == []
        watched.now += AGAIN_AFTER
        assert names(twice(watch)) == ["bob"]


@pytest.mark.slow
def test_inputs_are_drawn_anew_for_what_comes_later(watched):
    """Who has seen the inputs in the feedback must not be able to answer from it."""
    small = watched.small
    seeds = set()
    with watched.watch() as watch:
        for student in ("ada", "bob", "cem"):
            small.hand_in(
                student,
                total=f"def total(values):\n    return values.sum() + 0 * {len(student + str(len(seeds)))}  # {student}",
            )
            assert names(twice(watch)) == [student]
            seeds.add(read_history(small.assignment, student).seed)
    assert len(seeds) == 3


@pytest.mark.slow
def test_another_run_is_waited_for_and_said_once(watched):
    small = watched.small
    small.hand_in("ada")
    with watched.watch() as watch:
        with course_lock(small.root):
            assert twice(watch) == [] and twice(watch) == []
        assert len(watched.told) == 1 and "Another run is grading" in watched.told[0]
        assert names(watch.look()) == ["ada"]


def test_only_one_process_watches_a_course(watched):
    with watched.watch():
        with pytest.raises(Busy, match="already"), watched.watch():
            pass
        with course_lock(watched.small.root):  # other runs may grade
            pass
    with watched.watch():
        pass


@pytest.mark.slow
def test_corrected_exercises_count_from_then_on(watched):
    small = watched.small
    with watched.watch() as watch:
        watch.start()
        small.hand_in("ada")
        assert names(twice(watch)) == ["ada"]
        small.correct("values.sum()", "values.sum() + 1")
        small.hand_in("bob", largest="def largest(values):\n    return shares(values).max()  # mine")
        (arrival,) = twice(watch)
        assert "The exercises have changed" in watched.told[0]
    verdicts = {one.grade_id: one.status for one in arrival.results[0].verdicts}
    assert verdicts["steps-total-check"] == "failed"


@pytest.mark.slow
def test_only_the_wanted_are_graded(watched):
    watched.small.hand_in("ada")
    watched.small.hand_in("bob")
    with watched.watch(wanted=["bob", "zoe"]) as watch:
        assert names(twice(watch)) == ["bob"]


SECRET = "5ec7e7"


@pytest.fixture
def exchange(small):
    """nbgrader's exchange of the course; the function submits as `nbgrader submit` does."""
    root = small.root / "exchange"
    settings = small.root / "nbgrader_config.py"
    settings.write_text(settings.read_text() + f"\nc.Exchange.root = {str(root)!r}\n")
    inbound = root / "small" / "inbound"
    inbound.mkdir(parents=True)
    for folder in (root, root / "small", inbound):
        folder.chmod(0o777)

    def submit(student, day, **cells):
        handed_in = small.hand_in("draft", **cells)
        target = inbound / f"{student}+{NAME}+2026-10-0{day} 12:00:00 UTC"
        shutil.copytree(handed_in, target)
        shutil.rmtree(handed_in.parent)
        (target / "timestamp.txt").write_text(f"2026-10-0{day} 12:00:00 UTC")
        return target

    return root, submit


@pytest.mark.slow
def test_the_exchange_is_collected_from_and_its_feedback_is_released_there(watched, exchange):
    small, (root, submit) = watched.small, exchange
    with watched.watch(inbound=Inbound(small.assignment)) as watch:
        target = submit("ada", 1, total=WRONG)
        assert (
            twice(watch) == [] and not (small.assignment.submitted / "ada").exists()
        )  # nbgrader still writes
        (target / "submission_secret.txt").write_text(SECRET)
        arrivals = [*twice(watch), *twice(watch)]
        assert names(arrivals) == ["ada"]
        released = root / "small" / "feedback" / f"{notebook_hash(secret=SECRET, notebook_id=NAME)}.html"
        assert "the mean instead of the sum" in released.read_text().lower()
        (submit("ada", 2) / "submission_secret.txt").write_text(SECRET)
        assert names([*twice(watch), *twice(watch)]) == ["ada"]
        assert "the mean instead of the sum" not in released.read_text().lower()
        assert twice(watch) == []
    assert small.scores() == {"ada": 9.0} and watched.told == []


def test_without_an_exchange_there_is_a_sentence(small):
    with pytest.raises(CourseError, match="There is no exchange in"):
        Inbound(small.assignment)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--exchange"], "--exchange works only with --watch"),
        (["--watch", "--fresh"], "work only without it"),
        (["--watch", "--json", "x.json"], "work only without it"),
        (["--watch", "--submitted", "nowhere"], "there is no such folder"),
        (["--watch", "source"], "use `--watch --submitted source` to watch it"),
    ],
)
def test_what_cannot_be_is_said(small, arguments, sentence):
    assert sentence in refusal("grade", NAME, *arguments)
