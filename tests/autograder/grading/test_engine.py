"""The engine with real servers: what these import ahead, what harms them, and what they never see.

test_engine_here tries everything else in this process.
"""

import copy
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.authoring.builder import PUBLIC_SEED
from autograder.checks.status import Ending
from autograder.course import Assignment
from autograder.grading import reference
from autograder.grading.engine import Engine
from autograder.grading.store import Store
from autograder.jail.outside.client import Outcome
from autograder.jail.outside.jobs import cell, make_job
from autograder.pool.local import LocalPool
from autograder.pool.pool import settings_for
from autograder.source import imported_ahead
from autograder.untrusted.autograded import fill_outputs
from autograder.untrusted.frames import read_frame
from autograder.untrusted.pages import Pages
from autograder.untrusted.submission import read_submission
from tests.autograder.commands import refusal
from tests.autograder.road import hand_in, make_course, perfect_notebook, with_cell
from tests.conftest import ASSIGNMENTS, MODELS, OPTIMISERS, SETTINGS, TWO_NOTEBOOKS

pytestmark = pytest.mark.slow

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
        ("def step(model, optimiser: Optimizer):", [], (OPTIMISERS,)),
        ("from transformers import BertModel", ["demo"], ()),
        ("import torch", [], ()),
    ],
)
def test_what_takes_seconds_is_imported_ahead_where_a_cell_that_is_run_asks_for_it(source, tags, modules):
    cells = [new_code_cell("x = 1"), new_code_cell(source, metadata={"tags": tags})]
    assert imported_ahead(SETTINGS.preload_where, new_notebook(cells=cells)) == modules


@pytest.mark.parametrize(("ahead", "found"), [((), [True, False]), ((MODELS,), [True, True])])
def test_a_jail_has_imported_what_the_release_needs_and_what_it_was_told(course, ahead, found):
    pool = LocalPool(settings_for(Assignment(course, "09_fine_tuning"), "none", ahead))
    names = [OPTIMISERS, MODELS]
    pool.submit("look", make_job([cell(f"import sys\nprint([name in sys.modules for name in {names}])")], {}))
    _, outcome = pool.take()
    pool.close()
    (frame,) = map(read_frame, outcome.frames)
    assert frame.outputs[0]["text"] == f"{found}\n"


@pytest.mark.parametrize("name", TWO_NOTEBOOKS)
def test_nothing_of_a_notebook_imports_what_takes_long_or_is_ours(name):
    """Each submission would, in its own fork."""
    one = ASSIGNMENTS[name]
    long = [OPTIMISERS, MODELS, "pandas", "scipy.stats"]
    look = cell(
        f"import sys\nprint(sorted(name for name in sys.modules if name in {long} or name.startswith('coursekit')))"
    )
    modules = [*SETTINGS.preload, *imported_ahead(SETTINGS.preload_where, one.read_release())]
    cases = reference.draw(one, one.exercises, PUBLIC_SEED)
    with reference.own_server(one.root, modules) as server:
        outcome = server.run(make_job([look, *reference.variant_cells(one, {}), look], cases, "torch"))
    first, *_, last = map(read_frame, outcome.frames)
    assert outcome.status == Ending.FINISHED and first.outputs and first.outputs == last.outputs


def test_who_kills_the_server_loses_alone(course, engine, perfect):
    evil = copy.deepcopy(perfect)
    evil.cells.insert(1, new_code_cell("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"))
    result = grade(course, engine, "evil", evil)
    assert statuses(result) == {"error"}
    assert "process stopped" in result.verdicts[-1].reason
    changed = with_cell(perfect, "attention-reflection-b", "Another answer, so that nothing is remembered.")
    assert statuses(grade(course, engine, "after", changed)) == {"passed"}


LOOK_FOR = r"""
import re
found = set()
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for line in maps:
        start, end, rights = re.match(r"(\w+)-(\w+) (....)", line).groups()
        if rights.startswith("rw"):
            memory.seek(int(start, 16))
            found |= {*re.findall(b"only-the-" + b"[a-z]+", memory.read(int(end, 16) - int(start, 16)))}
print(sorted(found))
"""


def test_what_students_code_forks_from_has_never_seen_a_solution(tmp_path):
    """Also while the solution is recorded, and its mistakes. A job finds in its memory what it was sent, and no more."""
    course = make_course(tmp_path / "marked")
    one = Assignment(course, NAME)
    text = one.source.read_text()
    one.source.write_text(
        text.replace("### BEGIN SOLUTION\n", "### BEGIN SOLUTION\n    # only-the-teacher\n")
    )
    with Engine(one, Store(tmp_path), "none") as engine:
        assert engine.keys
        engine.expected.record_mistakes(one.exercises).result()
        source = f"# only-the-student\n{LOOK_FOR}"
        for runner in (engine.pool.servers, engine._reference):
            (frame,) = map(read_frame, runner.run(make_job([cell(source)], {})).frames)
            found = frame.outputs[0]["text"]  # pieces of freed memory, too
            assert "only-the-student" in found and "only-the-t" not in found
        ours = reference.solution_sources(one)[next(iter(one.exercises))]
        *_, frame = map(read_frame, engine.pool.servers.run(make_job([cell(ours), cell(source)], {})).frames)
        assert "only-the-teacher" in frame.outputs[0]["text"]  # it would be found


class Replayed:
    """A pool that runs nothing: each job ends as the next of these outcomes, and is counted."""

    full = False

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.names = []

    def submit(self, name, job):
        self.names.append(name)

    def wait(self, seconds):
        return True

    def take(self):
        return self.names[-1], self.outcomes.pop(0)

    def close(self): ...


@pytest.mark.parametrize(("recorded", "runs"), [(False, 2), (True, 1)])
def test_who_ran_out_of_time_beside_the_solution_runs_once_more(
    course, engine, perfect, tmp_path, recorded, runs
):
    pool = Replayed(*(Outcome((), status, 0.0, 0.0, 0) for status in ("timeout", "finished")))
    with Engine(engine.assignment, Store(tmp_path), "none", pool) as own:
        if recorded:
            assert own.keys
        own.expected.start()
        notebook = with_cell(perfect, "attention-reflection-b", f"Beside the solution: {recorded}")
        result = grade(course, own, "early", notebook)
    assert len(pool.names) == runs and result.ending == ("timeout" if recorded else "finished")


def test_no_script_reaches_the_instructor_s_browser(course, engine, perfect):
    evil = copy.deepcopy(perfect)
    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    evil.cells.append(new_markdown_cell(f"{script} $a<b$"))
    evil.cells.append(new_code_cell(f"from IPython.display import HTML, display\ndisplay(HTML({script!r}))"))
    evil = with_cell(evil, "attention-reflection-b", f"My answer. {script}")
    hand_in(course, "script", engine.assignment, evil)
    submission = read_submission(
        course / "submitted" / "script" / NAME, "script", engine.assignment, engine.release
    )
    result = engine.grade(submission)
    shown = fill_outputs(submission.notebook, result.outputs, {v.grade_id: v for v in result.verdicts})
    outputs = [output for cell in shown.cells for output in cell.get("outputs", [])]
    html = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    assert "alert" not in html
    shown.cells = [cell for cell in shown.cells if "alert" in cell.source]
    assert len(shown.cells) == 3
    page, _ = Pages().from_notebook_node(shown)
    body = page[page.index("<main") :]
    tags = "".join(re.findall(r"<[^>]*>", re.sub(r'"[^"]*"', "", body)))
    assert "script" not in tags and "onerror" not in tags
    assert "My answer." in body


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["grade", "13_nothing"],
            "There is no assignment '13_nothing'. Available: 01_static_embeddings, 02_attention",
        ),
        (["grade", NAME, "nobody"], "contains no 02_attention from nobody"),
        (["grade", NAME, "--submitted", "elsewhere"], "contains no submission of 02_attention"),
    ],
)
def test_wrong_calls_get_a_sentence(course, monkeypatch, arguments, words):
    monkeypatch.chdir(course)
    assert words in refusal(*arguments)


def test_outside_a_course_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "not inside a course" in refusal("grade", NAME)
