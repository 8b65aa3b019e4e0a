"""What the engine makes of a submission, and of a class: jobs run in this process, and badly where a test says so."""

from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.checks import answers
from autograder.checks.status import Ending, Status
from autograder.grading.engine import MOST_AT_ONCE, Engine
from autograder.grading.own_notebook import as_file
from autograder.grading.reference import exercise_keys
from autograder.grading.store import Store
from autograder.grading.verdicts import judge_cells
from autograder.jail.inside.limits import Limits
from autograder.untrusted.frames import read_frame
from tests.autograder.commands import refusal
from tests.autograder.here import NAME, Pool, Servers, by_name, cut_off

ANSWERED = {"question": "Nothing happens."}
OTHERWISE = "def largest(values):\n    return max(shares(values))"
TOO_LATE = cut_off(Ending.TIMEOUT)


@pytest.fixture
def graded(small):
    """graded(student, …) grades what was handed in: the result, and the jobs that were run for it."""

    def grade(student, *faults, fresh=False):
        with small.engine(*faults, fresh=fresh) as engine:
            return engine.grade(small.read(student)), engine.pool.sent

    return grade


def statuses(result):
    return {name: verdict.status for name, verdict in by_name(result).items()}


def test_who_is_right_everywhere_earns_every_point_and_the_extra_ones(small):
    result = small.grade("ada", **ANSWERED)
    verdicts = by_name(result)
    assert [verdicts[name].score for name in ("total", "shares", "largest")] == [2, 4, 1]
    assert verdicts["largest"].extra == 2 and result.score == 9 and result.max_score == 10
    assert verdicts["question"].score is None and verdicts["question"].status == Status.MANUAL
    assert not result.trouble and result.seconds == 0.25 and len(result.seed) == 32


def test_a_question_without_an_answer_has_no_points_and_waits_for_nobody(small):
    verdict = by_name(small.grade("ada"))["question"]
    assert (verdict.score, verdict.status) == (0, Status.MISSING)


def test_a_known_mistake_is_named_and_earns_nothing(small):
    verdict = by_name(small.grade("ada", total="def total(values):\n    return values.mean()"))["total"]
    assert (verdict.score, verdict.status) == (0, Status.FAILED)
    assert verdict.mistake == "the mean instead of the sum"
    assert verdict.hint == "Your answer does not grow with n."


def test_a_mistake_with_a_share_of_the_points_earns_that_share(small):
    verdict = by_name(small.grade("ada", shares="def shares(values):\n    return values"))["shares"]
    assert (verdict.score, verdict.credit, verdict.mistake) == (2, 0.5, "not divided")
    assert "This earns 50% of the points." in verdict.reason


def test_what_no_known_mistake_explains_is_told_with_a_picture_of_both(small):
    verdict = by_name(small.grade("ada", shares="def shares(values):\n    return values[::-1] * 3"))["shares"]
    assert verdict.status == Status.FAILED and not verdict.mistake and verdict.score == 0
    assert verdict.panels.shapes == ((4,), (4,)) and verdict.panels.yours != verdict.panels.expected


def test_an_error_costs_its_exercise_and_is_quoted(small):
    result = small.grade("ada", largest="def largest(values):\n    return values.nothing()")
    assert statuses(result)["largest"] == Status.ERROR and result.score == 6
    assert "has no attribute 'nothing'" in by_name(result)["largest"].reason


def test_a_cell_that_is_no_python_costs_its_exercise_alone(small):
    assert small.grade("ada", largest="def largest(:").score == 6


def test_only_the_check_s_own_cell_answers_for_it(small):
    """A right answer that is handed to the check from another cell does not count."""
    cheat = "def total(values):\n    return 0\ncheck('steps.total', lambda case: case['values'].sum())"
    assert statuses(small.grade("ada", total=cheat))["total"] == Status.FAILED


def test_what_a_cell_prints_stands_under_it(small):
    printing = "print('made by ada')\ndef largest(values):\n    return shares(values).max()"
    result = small.grade("ada", largest=printing)
    assert [output["text"] for shown in result.outputs.values() for output in shown] == ["made by ada\n"]


@pytest.mark.parametrize(
    ("ending", "status", "said"),
    [
        (Ending.TIMEOUT, Status.TIMEOUT, "ran out of time"),
        (Ending.MEMORY, Status.MEMORY, "used more memory than allowed"),
        (Ending.KILLED, Status.MEMORY, "the notebook was stopped twice"),
        (Ending.OUTPUT, Status.ERROR, "wrote more output than allowed"),
        (Ending.DIED, Status.ERROR, "process stopped"),
        (Ending.FINISHED, Status.ERROR, "no readable answers"),
    ],
)
def test_a_job_that_ends_early_keeps_what_it_had_and_says_why_the_rest_is_missing(
    small, ending, status, said
):
    """Three cells ran: the imports, the first function, its check."""
    result = small.grade("ada", cut_off(ending, frames=3))
    verdicts = by_name(result)
    assert verdicts["total"].status == Status.PASSED and verdicts["total"].score == 2
    assert verdicts["shares"].status == verdicts["largest"].status == status
    assert said in verdicts["shares"].reason and result.score == 2
    assert result.trouble == (ending != Ending.FINISHED) and result.ending == ending


@pytest.mark.slow
@pytest.mark.parametrize(
    ("waits", "seconds", "status", "said"),
    [
        ("threading.Event().wait()", 60, Status.ERROR, "threading.Event.wait would wait for ever"),
        (
            "queue.SimpleQueue().get()",
            0.2,
            Status.TIMEOUT,
            "time limit: it was waiting in line 3, queue.SimpleQueue().get().",
        ),
        (
            "[0 for _ in iter(int, 1)]",
            0.2,
            Status.TIMEOUT,
            "Your function did not return within the time limit.",
        ),
    ],
)
def test_a_function_that_waits_is_told_for_what(small, monkeypatch, waits, seconds, status, said):
    monkeypatch.setattr("tests.autograder.here.Limits", lambda: Limits(cell_seconds=seconds))
    source = f"import queue, threading\ndef largest(values):\n    {waits}"
    verdict = by_name(small.grade("ada", largest=source))["largest"]
    assert verdict.status == status and said in verdict.reason


def test_frames_come_in_any_order_and_those_that_cannot_be_read_count_as_not_sent(small):
    def torn(outcome):
        *others, last = reversed(outcome.frames)
        return replace(outcome, frames=(b"nothing", *others, last[:-1]))

    result = small.grade("ada", torn)
    assert result.score == 9


def test_of_two_frames_about_a_cell_the_first_counts(small):
    def forged(outcome):
        frames = list(outcome.frames)
        of_check = next(frame for frame in frames if read_frame(frame).answers)
        arrays, words = answers.unpack(of_check)
        right = {name: array * 0 for name, array in arrays.items()}
        return replace(outcome, frames=(*frames, answers.pack(right, words)))

    assert small.grade("ada", forged).score == 9


@pytest.mark.parametrize(("fault", "score"), [(None, 9), (cut_off(Ending.DIED), 0)])
def test_twins_are_run_once_and_each_has_the_result(small, fault, score):
    """Also before their result is known, and when it is not one to keep."""
    for student in ("ada", "bob", "cem"):
        small.hand_in(student)
    with small.engine(fault) as engine:
        graded = [*engine.grade_all(map(small.read, ("ada", "bob"))), *engine.grade_all([small.read("cem")])]
        assert sorted(result.student for _, result in graded) == ["ada", "bob", "cem"]
        assert all(result.student == submission.student for submission, result in graded)
        assert {result.score for _, result in graded} == {score} and len(engine.pool.sent) == 1
        assert len({(result.seconds, result.seed) for _, result in graded}) == 1


def test_what_is_known_is_not_held_back_while_a_jail_is_waited_for(small, monkeypatch):
    monkeypatch.setattr(Pool, "wait", lambda pool, seconds: False)
    small.hand_in("ada")
    students = [*(f"missing-{number}" for number in range(MOST_AT_ONCE + 2)), "ada"]
    with small.engine() as engine:
        batches = [[s.student for s, _ in several] for several in engine.batches(map(small.read, students))]
    assert batches == [students[:MOST_AT_ONCE], students[MOST_AT_ONCE:-1], ["ada"]]


@pytest.mark.parametrize(("soon", "sizes"), [(False, [1, 1, 1]), (True, [3])])
def test_what_comes_soon_after_one_another_is_recorded_together(small, monkeypatch, soon, sizes):
    """A commit for each would cost more than all that is written."""
    monkeypatch.setattr(Pool, "wait", lambda pool, seconds: soon)
    students = ("ada", "bob", "cem")
    for student in students:
        small.hand_in(student, largest=f"{OTHERWISE}  # {student}")
    with small.engine() as engine:
        assert [len(batch) for batch in engine.batches(map(small.read, students))] == sizes


def test_different_submissions_have_results_of_their_own_in_whatever_order_they_end(small):
    wrong = {"ada": "largest", "bob": "shares", "cem": "total"}
    for student, cell in wrong.items():
        small.hand_in(student, **{cell: f"def {cell}(values):\n    return values * 7.5"})
    with small.engine() as engine:
        graded = list(engine.grade_all(small.read(student) for student in wrong))
    lost = {s.student: [n for n, status in statuses(r).items() if status == "failed"] for s, r in graded}
    assert lost == {student: [cell] for student, cell in wrong.items()}


def test_what_is_in_the_store_is_not_run_again_unless_asked_for_and_then_replaced(small, graded):
    first = small.grade("ada")
    small.hand_in("bob")
    again, jobs = graded("ada")
    assert (again.seed, again.score, jobs) == (first.seed, 9, [])
    with small.engine(fresh=True) as engine:
        second = engine.grade(small.read("ada"))
        assert second.seed != first.seed and second.score == 9
        assert engine.grade(small.read("bob")).seed == second.seed and len(engine.pool.sent) == 1
    assert graded("ada")[0].seed == second.seed


def test_what_came_of_the_store_is_what_was_put_there(small, graded):
    small.hand_in("ada", shares="def shares(values):\n    return values", largest="print('x')\n1 / 0")
    first, _ = graded("ada")
    assert graded("ada") == (first, [])


def test_another_notebook_and_a_corrected_solution_are_run(small, graded):
    small.grade("ada")
    small.hand_in("ada", largest=OTHERWISE)
    assert len(graded("ada")[1]) == 1
    small.correct("return values.sum()", "return sum(values)")
    exercises = small.assignment.exercises_file
    exercises.write_text(
        exercises.read_text().replace('".sum()", ".mean()"', '"sum(values)", "values.mean()"')
    )
    exercises.write_text(
        exercises.read_text().replace('"values.sum()", "values[1:].sum()"', '"sum(values)", "0"')
    )
    assert len(graded("ada")[1]) == 1


@pytest.mark.parametrize("ending", [Ending.TIMEOUT, Ending.MEMORY, Ending.OUTPUT, Ending.KILLED, Ending.DIED])
def test_a_result_in_which_the_machine_may_have_had_a_part_is_not_kept(small, ending):
    assert small.grade("ada", cut_off(ending)).score == 0
    assert small.grade("ada").score == 9


@pytest.mark.parametrize(
    ("order", "faults"),
    [
        # One of two runs out of time beside the other, and once more when it is alone; or it does not; or both do.
        (["ada", "bob", "ada"], [TOO_LATE, None, TOO_LATE]),
        (["ada", "bob", "ada"], [TOO_LATE, None, None]),
        (["ada", "bob", "bob", "ada"], [TOO_LATE, TOO_LATE, None, TOO_LATE]),
    ],
)
def test_who_ran_out_of_time_beside_others_is_run_again_alone(small, order, faults):
    small.hand_in("ada")
    small.hand_in("bob", largest=OTHERWISE)
    with small.engine(*faults) as engine:
        graded = {s.student: r.ending for s, r in engine.grade_all(map(small.read, ("ada", "bob")))}
        sources = [{cell["source"] for cell in job.cells} for job in engine.pool.sent]
    assert ["bob" if OTHERWISE in of else "ada" for of in sources] == order
    last = dict(zip(order, faults, strict=True))
    assert graded == {who: Ending.TIMEOUT if fault else Ending.FINISHED for who, fault in last.items()}


def test_who_runs_out_of_time_alone_has_no_second_try(small, graded):
    small.hand_in("ada")
    result, jobs = graded("ada", TOO_LATE)
    assert result.score == 0 and len(jobs) == 1


def test_an_unchanged_demonstration_is_run_only_for_an_answer_that_needs_it(small, graded):
    small.hand_in("ada")
    _, (job,) = graded("ada")
    assert not defines_added(job)
    small.hand_in("bob", total="def total(values):\n    return added(values)")
    result, jobs = graded("bob")
    assert result.score == 9 and [defines_added(job) for job in jobs] == [False, True]


def defines_added(job):
    return any("def added" in cell["source"] for cell in job.cells)


@pytest.mark.parametrize(("fault", "status"), [(None, Status.PASSED), (TOO_LATE, Status.ERROR)])
def test_a_second_run_for_a_missing_name_takes_nothing_away(small, graded, fault, status):
    """What the first run had stays."""
    small.hand_in("ada", largest=f"{OTHERWISE} + 0 * added(values)")
    result, jobs = graded("ada", None, fault)
    assert [defines_added(job) for job in jobs] == [False, True]
    of_cells = statuses(result)
    assert of_cells["largest"] == status and of_cells["total"] == of_cells["shares"] == Status.PASSED


@pytest.mark.parametrize("before", ["", "NameError: ", "lost\\nNameError: "])
def test_a_message_that_speaks_of_a_missing_name_is_no_reason_to_run_again(small, graded, before):
    raising = f"""raise ValueError("{before}name 'added' is not defined")"""
    small.hand_in("ada", largest=f"def largest(values):\n    {raising}")
    result, jobs = graded("ada")
    assert "name 'added' is not defined" in by_name(result)["largest"].reason and len(jobs) == 1


def test_a_file_that_is_no_notebook_is_not_run_and_says_so_in_every_cell(small, graded):
    small.hand_in("ada", "This is my homework.")
    result, jobs = graded("ada")
    assert not jobs
    assert result.trouble and result.ending == Ending.NOT_RUN and result.score == 0
    assert {(verdict.status, verdict.score) for verdict in result.verdicts} == {(Status.MALFORMED, 0)}
    assert all("not a notebook" in verdict.reason for verdict in result.verdicts)


def test_a_check_that_was_rewritten_is_asked_as_it_was_released(small, graded):
    notebook = small.perfect
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "steps-total-check":
            cell.source = "pass"
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "steps-total":
            cell.source = "def total(values):\n    return 0"
    small.hand_in("ada", notebook)
    assert statuses(graded("ada")[0])["total"] == Status.FAILED


def test_each_run_draws_inputs_of_its_own(small, graded):
    small.hand_in("ada")
    runs = [graded("ada", fresh=True)[1] for _ in range(2)]
    first, second = (job.cases["steps.total"][0]["values"].tolist() for (job,) in runs)
    assert first != second


def test_a_mistake_that_is_recorded_just_after_it_was_looked_for_is_named(small, graded, monkeypatch):
    """Recording goes on beside: it may end between a verdict and the question what was still to be recorded."""

    def judge_and_wait(assignment, submission, keys, *replies):
        verdicts = judge_cells(assignment, submission, keys, *replies)
        engine.expected.record_mistakes(["steps.largest"]).result()
        return verdicts

    monkeypatch.setattr("autograder.grading.engine.judge_cells", judge_and_wait)
    small.hand_in("ada", largest=SMALLEST)
    with small.engine() as engine:
        verdict = by_name(engine.grade(small.read("ada")))["largest"]
    assert verdict.mistake == "the smallest"


SMALLEST = "def largest(values):\n    return shares(values).min()"


def test_mistakes_are_recorded_for_exercises_that_somebody_got_wrong(small):
    small.hand_in("ada")
    small.hand_in("bob", largest=SMALLEST)
    small.hand_in("cem", shares="def shares(values):\n    raise NotImplementedError")
    with small.engine() as engine:

        def recorded():
            return {name for name, key in engine.keys.items() if key.mistakes}

        assert engine.grade(small.read("ada")).score == 9 and recorded() == set()
        verdict = by_name(engine.grade(small.read("bob")))["largest"]
        assert (verdict.status, verdict.mistake, verdict.hint) == (
            Status.FAILED,
            "the smallest",
            "You took the other end.",
        )
        assert statuses(engine.grade(small.read("cem")))["shares"] == Status.MISSING
        assert recorded() == {"steps.largest"}
        whole = exercise_keys(Servers(), small.assignment, engine.seed)["steps.largest"]
        assert [m.name for m in engine.keys[whole.name].mistakes] == [m.name for m in whole.mistakes]


AWKWARD = """

drawn = []


def awkward(draw):
    drawn.append(draw)
    for case in cases(draw):
        yield {} if len(drawn) == 1 else case


total = dataclasses.replace(total, cases=awkward)
"""


def test_a_notebook_that_ran_on_inputs_which_are_drawn_again_runs_again(small):
    """The solution has no answer to the first ones."""
    exercises = small.assignment.exercises_file
    exercises.write_text(exercises.read_text().replace('"""\n', '"""\n\nimport dataclasses\n', 1) + AWKWARD)
    small.hand_in("ada")
    with small.engine() as engine:
        assert engine.expected.cases["steps.total"][0] == {}
        assert engine.grade(small.read("ada")).score == 9
        assert [sorted(job.cases["steps.total"][0]) for job in engine.pool.sent] == [[], ["values"]]


BUILT_BEFORE = '"grade_id": "steps-total-check", "locked": true, "points": 2'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # A solution that does not run, and points that changed without a new build, are our fault.
        ("    return values.sum()\n", "    int('ours')\n", "answer to case 0 has a problem: exception"),
        (BUILT_BEFORE, BUILT_BEFORE.replace("2", "3"), "run `autograder build` first"),
    ],
)
def test_our_own_error_stops_the_run_and_writes_nothing(small, old, new, said):
    """No verdict, no gradebook row, no autograded file."""
    small.hand_in("ada")
    small.correct(old, new)
    with small.gradebook() as gradebook:  # in which nothing of this assignment has been graded yet
        gradebook.remove_assignment(NAME)
    assert said in refusal("grade", NAME, "--isolation", "none")
    assert not (small.root / "autograded").exists()


def test_the_pool_is_closed_whatever_happens(small):
    small.hand_in("ada")

    def breaks(outcome):
        raise RuntimeError("ours")

    engine = small.engine(breaks)
    with pytest.raises(RuntimeError, match="ours"), engine:
        engine.grade(small.read("ada"))
    assert engine.pool.closed


def test_other_limits_make_another_result(small, graded):
    small.grade("ada")
    settings = small.root / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace("cell_seconds = 10", "cell_seconds = 20"))
    assert len(graded("ada")[1]) == 1


def test_the_notebook_itself_lies_where_it_is_run(small, graded):
    reads = "import glob, json\n(name,) = glob.glob('*.ipynb')\nown = json.load(open(name))\nprint(name, len(own['cells']))"
    notebook = small.perfect
    notebook.cells.insert(0, new_code_cell(reads))
    small.hand_in("ada", notebook)
    result, _ = graded("ada")
    assert result.outputs[0][0]["text"] == f"01_steps.ipynb {len(notebook.cells)}\n"


def test_the_notebook_as_a_file_holds_the_answers_and_no_hidden_test():
    metadata = {"grade": True, "locked": True, "solution": False, "grade_id": "t"}
    test = new_code_cell("assert f(1)", metadata={"nbgrader": metadata})
    restored = new_code_cell("assert f(1)\nassert f(2)  # hidden", metadata={"nbgrader": metadata})
    answer = new_code_cell("f = bool  # mine", outputs=[new_output("stream", text="x")])
    picture = new_markdown_cell("![](attachment:a.png)", attachments={"a.png": {"image/png": "aaaa"}})
    file = as_file(new_notebook(cells=[answer, restored, picture]), new_notebook(cells=[test]))
    read = nbformat.reads(file, 4)
    assert [cell.source for cell in read.cells] == [
        "f = bool  # mine",
        "assert f(1)",
        "![](attachment:a.png)",
    ]
    assert read.cells[0].outputs == [] and "aaaa" not in file


@pytest.mark.parametrize("isolation, of_solution", [("nobody", "none"), ("none", "none"), ("bwrap", "bwrap")])
def test_the_solution_never_runs_as_the_user_whose_memory_a_submission_can_read(
    small, monkeypatch, isolation, of_solution
):
    """A jail keeps processes apart; where only the user does, two of one user read each other's."""
    started = []
    monkeypatch.setattr(
        "autograder.grading.engine.ServerPool",
        lambda settings, beside=None: started.append(settings.isolation) or Servers(),
    )
    with Engine(small.assignment, Store(small.root / "store"), isolation, Pool()):
        assert started == [of_solution]
