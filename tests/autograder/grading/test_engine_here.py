"""What the engine makes of a submission, and of a class: jobs run in this process, and badly where a test says so."""

from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.checks import answers
from autograder.checks.status import Ending, Status
from autograder.grading.demonstrations import Demonstrations
from autograder.grading.engine import Engine
from autograder.grading.own_notebook import as_file
from autograder.grading.store import Store
from autograder.jail.inside.limits import Limits
from autograder.untrusted.frames import read_frame
from tests.autograder.here import Pool, Servers, by_name, cut_off

ANSWERED = {"question": "Nothing happens."}


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


def test_twins_are_run_once_and_each_has_the_result(small):
    for student in ("ada", "bob", "cem"):
        small.hand_in(student)
    with small.engine() as engine:
        graded = list(engine.grade_all(small.read(student) for student in ("ada", "bob", "cem")))
        assert sorted(result.student for _, result in graded) == ["ada", "bob", "cem"]
        assert all(result.student == submission.student for submission, result in graded)
        assert {result.score for _, result in graded} == {9} and len(engine.pool.sent) == 1


def test_different_submissions_have_results_of_their_own_in_whatever_order_they_end(small):
    wrong = {"ada": "largest", "bob": "shares", "cem": "total"}
    for student, cell in wrong.items():
        small.hand_in(student, **{cell: f"def {cell}(values):\n    return values * 7.5"})
    with small.engine() as engine:
        graded = list(engine.grade_all(small.read(student) for student in wrong))
    lost = {s.student: [n for n, status in statuses(r).items() if status == "failed"] for s, r in graded}
    assert lost == {student: [cell] for student, cell in wrong.items()}


def test_what_is_in_the_store_is_not_run_again_unless_asked_for(small):
    small.grade("ada")
    for fresh, jobs in ((False, 0), (True, 1)):
        with small.engine(fresh=fresh) as engine:
            assert engine.grade(small.read("ada")).score == 9
            assert len(engine.pool.sent) == jobs


def test_what_came_of_the_store_is_what_was_put_there(small):
    small.hand_in("ada", shares="def shares(values):\n    return values", largest="print('x')\n1 / 0")
    with small.engine() as engine:
        first = engine.grade(small.read("ada"))
    with small.engine() as engine:
        assert engine.grade(small.read("ada")) == first


def test_another_notebook_and_a_corrected_solution_are_run(small):
    small.grade("ada")
    small.hand_in("ada", largest="def largest(values):\n    return max(shares(values))")
    with small.engine() as engine:
        engine.grade(small.read("ada"))
        assert len(engine.pool.sent) == 1
    small.correct("return values.sum()", "return sum(values)")
    exercises = small.assignment.exercises_file
    exercises.write_text(
        exercises.read_text().replace('".sum()", ".mean()"', '"sum(values)", "values.mean()"')
    )
    exercises.write_text(
        exercises.read_text().replace('"values.sum()", "values[1:].sum()"', '"sum(values)", "0"')
    )
    with small.engine() as engine:
        engine.grade(small.read("ada"))
        assert len(engine.pool.sent) == 1


@pytest.mark.parametrize("ending", [Ending.TIMEOUT, Ending.MEMORY, Ending.DIED])
def test_a_result_in_which_the_machine_may_have_had_a_part_is_not_kept(small, ending):
    assert small.grade("ada", cut_off(ending)).score == 0
    assert small.grade("ada").score == 9


def test_who_ran_out_of_time_beside_others_is_run_again_alone(small):
    small.hand_in("ada")
    small.hand_in("bob", largest="def largest(values):\n    return max(shares(values))")
    with small.engine(cut_off(Ending.TIMEOUT)) as engine:
        graded = list(engine.grade_all(map(small.read, ("ada", "bob"))))
        assert [(s.student, r.score) for s, r in graded] == [("bob", 9), ("ada", 9)]
        assert len(engine.pool.sent) == 3


def test_who_runs_out_of_time_alone_has_no_second_try(small):
    small.hand_in("ada")
    with small.engine(cut_off(Ending.TIMEOUT)) as engine:
        assert engine.grade(small.read("ada")).score == 0
        assert len(engine.pool.sent) == 1


def test_an_unchanged_demonstration_is_run_only_for_an_answer_that_needs_it(small):
    small.hand_in("ada")
    with small.engine() as engine:
        engine.grade(small.read("ada"))
        (job,) = engine.pool.sent
        assert not any("def added" in cell["source"] for cell in job.cells)
    small.hand_in("bob", total="def total(values):\n    return added(values)")
    with small.engine() as engine:
        assert engine.grade(small.read("bob")).score == 9
        first, second = engine.pool.sent
        assert any("def added" in cell["source"] for cell in second.cells)


def test_a_file_that_is_no_notebook_is_not_run_and_says_so_in_every_cell(small):
    small.hand_in("ada", "This is my homework.")
    with small.engine() as engine:
        result = engine.grade(small.read("ada"))
        assert not engine.pool.sent
    assert result.trouble and result.ending == Ending.NOT_RUN and result.score == 0
    assert {(verdict.status, verdict.score) for verdict in result.verdicts} == {(Status.MALFORMED, 0)}
    assert all("not a notebook" in verdict.reason for verdict in result.verdicts)


def test_a_check_that_was_rewritten_is_asked_as_it_was_released(small):
    notebook = small.perfect
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "steps-total-check":
            cell.source = "pass"
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "steps-total":
            cell.source = "def total(values):\n    return 0"
    small.hand_in("ada", notebook)
    with small.engine() as engine:
        assert statuses(engine.grade(small.read("ada")))["total"] == Status.FAILED


def test_each_run_draws_inputs_of_its_own(small):
    small.grade("ada")
    small.hand_in("bob", largest="def largest(values):\n    return max(shares(values))")
    asked = []
    for fresh in (True, True):
        with small.engine(fresh=fresh) as engine:
            engine.grade(small.read("bob"))
            asked.append(engine.pool.sent[0].cases["steps.total"][0]["values"].tolist())
    assert asked[0] != asked[1]


def test_the_pool_is_closed_whatever_happens(small):
    small.hand_in("ada")

    def breaks(outcome):
        raise RuntimeError("ours")

    engine = small.engine(breaks)
    with pytest.raises(RuntimeError, match="ours"), engine:
        engine.grade(small.read("ada"))
    assert engine.pool.closed


def test_other_limits_make_another_result(small):
    small.grade("ada")
    settings = small.root / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace("cell_seconds = 10", "cell_seconds = 20"))
    with small.engine() as engine:
        engine.grade(small.read("ada"))
        assert len(engine.pool.sent) == 1


def test_demonstrations_that_build_on_one_another_are_run_together():
    cells = [new_code_cell(text, metadata={"tags": ["demo"]}) for text in ("a = 1", "b = a + 1", "c = 3")]
    notebook = new_notebook(cells=[*cells, new_code_cell("d = b")])
    assert Demonstrations(notebook).that_define({"b"}, notebook) == [0, 1]
    assert Demonstrations(notebook).that_define(set(), notebook) == []


def test_the_notebook_itself_lies_where_it_is_run(small):
    reads = "import glob, json\n(name,) = glob.glob('*.ipynb')\nown = json.load(open(name))\nprint(name, len(own['cells']))"
    notebook = small.perfect
    notebook.cells.insert(0, new_code_cell(reads))
    small.hand_in("ada", notebook)
    with small.engine() as engine:
        result = engine.grade(small.read("ada"))
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
