"""One bad submission harms only itself; our own errors stop everything and write nothing."""

import copy
import os
import re
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from typer.testing import CliRunner

from autograder.autograded import fill_outputs
from autograder.cli import app
from autograder.course import Assignment
from autograder.engine import MOST_AT_ONCE, Engine
from autograder.errors import CourseError
from autograder.grading import course_lock
from autograder.jail.client import Outcome
from autograder.jail.frames import read_frame
from autograder.jail.jobs import HARMLESS, cell, make_job
from autograder.jail.launch import MODELS, OPTIMISERS
from autograder.jails import OwnJail
from autograder.nbgrader_settings import limits
from autograder.source import imported_ahead
from autograder.standing import PromptEngine
from autograder.store import Store
from autograder.submission import read_submission
from tests.autograder import light
from tests.autograder.road import hand_in, make_course, perfect_notebook, with_cell
from tests.processes import processes_below

NAME = "02_attention"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="module")
def engine(course):
    """Without the jail: here it is about verdicts, and a submission can do more harm."""
    with Engine(Assignment(course, NAME), Store(course / "store"), "none") as engine:
        yield engine


@pytest.fixture(scope="module")
def perfect(course):
    return perfect_notebook(Assignment(course, NAME))


def grade(course, engine, student, notebook):
    hand_in(course, student, engine.assignment, notebook)
    folder = course / "submitted" / student / NAME
    return engine.grade(read_submission(folder, student, engine.assignment, engine.release))


def statuses(result):
    return {verdict.status for verdict in result.verdicts if verdict.grade_id.endswith("-check")}


def test_a_perfect_notebook_earns_every_point(course, engine, perfect):
    result = grade(course, engine, "perfect", perfect)
    assert statuses(result) == {"passed"}
    waiting = sum(verdict.max_score for verdict in result.verdicts if verdict.status == "manual")
    extra = sum(verdict.extra for verdict in result.verdicts)
    assert extra > 0 and result.score == result.max_score - waiting + extra


@pytest.mark.parametrize(
    ("source", "tags", "modules"),
    [
        ("from transformers import BertModel", [], (MODELS,)),
        ("from coursekit.models import load", [], (MODELS,)),
        ("step = torch.optim.Adam", [], (OPTIMISERS,)),
        ("from transformers import BertModel", ["demo"], ()),
        ("import torch", [], ()),
    ],
)
def test_what_takes_seconds_is_imported_ahead_where_a_cell_that_is_run_asks_for_it(source, tags, modules):
    cells = [new_code_cell("x = 1"), new_code_cell(source, metadata={"tags": tags})]
    assert imported_ahead(new_notebook(cells=cells)) == modules


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "found"), [(Engine, [True, True]), (PromptEngine, [True, False])])
def test_of_a_class_somebody_needs_models_and_one_submission_what_the_release_needs(course, kind, found):
    engine = kind(Assignment(course, "09_fine_tuning"), Store(course / "store"))
    jails = OwnJail(replace(engine.settings, isolation="none"))
    names = [OPTIMISERS, MODELS]
    jails.submit(
        "look", make_job([cell(f"import sys\nprint([name in sys.modules for name in {names}])")], {})
    )
    _, outcome = jails.take()
    jails.close()
    (frame,) = map(read_frame, outcome.frames)
    assert frame.outputs[0]["text"] == f"{found}\n"


@pytest.mark.slow
def test_who_kills_the_server_loses_alone(course, engine, perfect):
    evil = copy.deepcopy(perfect)
    evil.cells.insert(1, new_code_cell("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"))
    result = grade(course, engine, "evil", evil)
    assert statuses(result) == {"error"}
    assert "process ended" in result.verdicts[-1].reason
    changed = with_cell(perfect, "attention-reflection-1", "Another answer, so that nothing is remembered.")
    assert statuses(grade(course, engine, "after", changed)) == {"passed"}


@pytest.mark.slow
def test_a_name_that_only_a_demonstration_defines_costs_nothing(course, engine, perfect):
    """Unchanged demonstrations are not run; if an answer needs them all the same, they are."""
    first = next(iter(engine.assignment.exercises.values())).solution_id
    source = next(
        cell.source for cell in perfect.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == first
    )
    leaning = source.replace("    ### BEGIN SOLUTION\n", "    ### BEGIN SOLUTION\n    np.ones(1)\n")
    result = grade(course, engine, "leaning", with_cell(perfect, first, leaning))
    assert statuses(result) == {"passed"}


@pytest.mark.parametrize("text", ["NameError", "NameError: name 'np'", "lost\\nNameError: name 'np'"])
def test_a_message_that_speaks_of_a_missing_name_is_no_reason_to_run_again(
    course, engine, perfect, monkeypatch, text
):
    first = next(iter(engine.assignment.exercises.values())).solution_id
    sent = []
    submit = engine.jails.submit
    monkeypatch.setattr(engine.jails, "submit", lambda name, job: sent.append(name) or submit(name, job))
    raising = f'def similarities(queries, keys):\n    raise ValueError("{text}")'
    result = grade(course, engine, "raising", with_cell(perfect, first, raising))
    reasons = [verdict.reason for verdict in result.verdicts if verdict.grade_id.endswith("-check")]
    assert "NameError" in reasons[0] and len(sent) == 1


def test_the_server_that_knew_the_solution_is_gone_when_its_answers_are_recorded(
    course, tmp_path, monkeypatch
):
    monkeypatch.setattr(light.bubblewrap, "SERVE", light.bubblewrap.SERVE)  # put back afterwards
    light.install()
    before = processes_below(os.getpid())
    with Engine(Assignment(course, NAME), Store(tmp_path), "none") as engine:
        assert engine.keys
        engine.jails.warm.start()
        new = {*processes_below(os.getpid())} - {*before}
        assert len(new) == 1  # whose forks run the submissions
        engine.jails.submit("harmless", HARMLESS)
        assert engine.jails.take()[1].status == "finished"


def test_the_same_notebook_is_run_once(course, engine, perfect):
    before = grade(course, engine, "perfect", perfect)
    again = grade(course, engine, "twin", perfect)
    assert (again.seconds, again.seed) == (before.seconds, before.seed)
    assert again.student == "twin"


class Recorded:
    """Jails that run nothing: each job ends as it is told, and is counted."""

    full = False
    ready = True

    def __init__(self, outcome):
        self.outcome = outcome
        self.names = []
        self.left = []

    def submit(self, name, job):
        self.names.append(name)
        self.left.append(name)

    def take(self):
        return self.left.pop(), self.outcome

    def warm_up(self):
        pass

    def close(self):
        pass


@pytest.fixture
def recorded_engine(course, engine, tmp_path):
    """recorded_engine(status, fresh) makes an engine whose jobs all end so, with a store of its own."""

    def make(status="finished", fresh=False):
        jails = Recorded(Outcome((), status, 0.0, 0.0, 0))
        made = Engine(engine.assignment, Store(tmp_path / "store"), "none", jails, fresh)
        made.__dict__["keys"] = engine.keys  # recorded once, for all tests
        return made

    return make


def test_twins_are_run_once(course, recorded_engine, perfect):
    """Also before their result is known, and when it is not one to keep."""
    for status in ("finished", "died"):
        engine = recorded_engine(status)
        notebook = with_cell(perfect, "attention-reflection-1", f"This one {status}.")
        for student in ("one", "two", "three"):
            hand_in(course, student, engine.assignment, notebook)
        submissions = [
            read_submission(course / "submitted" / student / NAME, student, engine.assignment, engine.release)
            for student in ("one", "two", "three")
        ]
        results = [result.student for _, result in engine.grade_all(submissions[:2])]
        results += [result.student for _, result in engine.grade_all(submissions[2:])]
        assert sorted(results) == ["one", "three", "two"] and len(engine.jails.names) == 1


def test_what_is_known_is_not_held_back_while_a_jail_is_waited_for(course, recorded_engine, perfect):
    engine = recorded_engine()
    engine.jails.ready = False
    hand_in(course, "to-run", engine.assignment, perfect)
    students = [f"missing-{number}" for number in range(MOST_AT_ONCE + 2)] + ["to-run"]
    submissions = [
        read_submission(course / "submitted" / student / NAME, student, engine.assignment, engine.release)
        for student in students
    ]
    batches = [[submission.student for submission, _ in several] for several in engine.batches(submissions)]
    assert batches == [students[:MOST_AT_ONCE], students[MOST_AT_ONCE:-1], ["to-run"]]


@pytest.mark.parametrize("status", ["timeout", "memory", "output", "died"])
def test_what_the_machine_may_have_caused_is_not_kept(course, recorded_engine, perfect, status):
    for _ in range(2):
        engine = recorded_engine(status)
        result = grade(course, engine, "unlucky", perfect)
        assert result.trouble and len(engine.jails.names) == 1


def test_fresh_runs_again_and_replaces(course, recorded_engine, perfect):
    first = grade(course, recorded_engine(), "perfect", perfect)
    assert grade(course, recorded_engine(), "perfect", perfect).seed == first.seed
    again = recorded_engine(fresh=True)
    second = grade(course, again, "perfect", perfect)
    assert second.seed != first.seed and len(again.jails.names) == 1
    assert grade(course, again, "twin", perfect).seed == second.seed and len(again.jails.names) == 1
    assert grade(course, recorded_engine(), "perfect", perfect).seed == second.seed


def test_public_answers_earn_nothing(course, engine, perfect):
    """A function that returns the expected arrays of the answer key, looked up by shape."""
    name = next(iter(engine.assignment.exercises))
    cheat = f"""
from coursekit import answer_key
key = answer_key.load(__import__("pathlib").Path({str(engine.assignment.key)!r}))[{name!r}]
def similarities(queries, keys):
    for case, answer in zip(key.cases, key.expected):
        if case["queries"].shape == tuple(queries.shape):
            return torch.from_numpy(answer.arrays[""].copy())
"""
    result = grade(
        course, engine, "cheat", with_cell(perfect, engine.assignment.exercises[name].solution_id, cheat)
    )
    verdict = next(v for v in result.verdicts if v.grade_id == engine.assignment.exercises[name].check_id)
    assert (verdict.status, verdict.score) == ("failed", 0)


def test_no_script_reaches_the_instructor_s_browser(course, engine, perfect):
    evil = copy.deepcopy(perfect)
    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    evil.cells.append(new_markdown_cell(f"{script} $a<b$"))
    evil.cells.append(new_code_cell(f"from IPython.display import HTML, display\ndisplay(HTML({script!r}))"))
    evil = with_cell(evil, "attention-reflection-1", f"My answer. {script}")
    hand_in(course, "script", engine.assignment, evil)
    submission = read_submission(
        course / "submitted" / "script" / NAME, "script", engine.assignment, engine.release
    )
    result = engine.grade(submission)
    shown = fill_outputs(submission.notebook, result.outputs, {v.grade_id: v for v in result.verdicts})
    markdown = "".join(cell.source for cell in shown.cells if cell.cell_type == "markdown")
    tags = "".join(re.findall(r"<[^>]*>", markdown))
    assert "script" not in tags and "onerror" not in tags
    outputs = [output for cell in shown.cells for output in cell.get("outputs", [])]
    html = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    assert "alert" not in html
    assert "My answer." in markdown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["grade", "13_nothing"],
            "There is no assignment '13_nothing'. There are: 01_static_embeddings, 02_attention",
        ),
        (["grade", NAME, "nobody"], "holds no 02_attention of nobody"),
        (["grade", NAME, "--submitted", "elsewhere"], "holds no submission of 02_attention"),
    ],
)
def test_wrong_calls_get_a_sentence(course, monkeypatch, arguments, words):
    monkeypatch.chdir(course)
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, CourseError)
    assert words in str(result.exception)


def test_outside_a_course_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "not inside a course" in str(CliRunner().invoke(app, ["grade", NAME]).exception)


def test_a_wrong_limit_is_a_sentence(course, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Jail.cell_secnds = 3\n")
    with pytest.raises(CourseError, match="sets c.Jail.cell_secnds. There are: cell_seconds"):
        limits(tmp_path)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Jail.cell_seconds = -3\n")
    with pytest.raises(CourseError, match="must be a number above zero"):
        limits(tmp_path)


@pytest.mark.slow
def test_our_own_error_stops_the_run_and_writes_nothing(course, perfect, tmp_path, monkeypatch):
    """A solution that does not run is our fault: no verdict, no gradebook row, no autograded file."""
    broken = make_course(tmp_path / "broken")
    one = Assignment(broken, NAME)
    hand_in(broken, "perfect", one, perfect)
    one.source.write_text(
        one.source.read_text().replace("### BEGIN SOLUTION\n", "### BEGIN SOLUTION\n    int('ours')\n", 1)
    )
    monkeypatch.chdir(broken)
    result = CliRunner().invoke(app, ["grade", NAME, "--isolation", "none"])
    assert "answer to case 0 is not clean: exception" in str(result.exception)
    assert isinstance(result.exception, CourseError)
    assert not (broken / "autograded").exists()


def test_a_second_run_on_the_same_course_says_so(course):
    with (
        course_lock(course),
        pytest.raises(CourseError, match="Another run is grading this course"),
        course_lock(course),
    ):
        pass


def test_feedback_of_an_old_release_is_refused(course, tmp_path, perfect, monkeypatch):
    """Points that changed without `make notebooks` would be recorded wrongly."""
    stale = make_course(tmp_path / "stale")
    one = Assignment(stale, NAME)
    hand_in(stale, "perfect", one, perfect)
    one.source.write_text(one.source.read_text().replace('"points": 2', '"points": 3', 1))
    monkeypatch.chdir(stale)
    result = CliRunner().invoke(app, ["grade", NAME, "--isolation", "none"])
    assert "run `make notebooks` first" in str(result.exception)
    assert not (stale / "autograded").exists()
