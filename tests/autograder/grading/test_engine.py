"""One bad submission harms only itself; our own errors stop everything and write nothing."""

import copy
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from typer.testing import CliRunner

from autograder.authoring.builder import PUBLIC_SEED
from autograder.checks import answers, recording
from autograder.checks.asking import Answer
from autograder.checks.status import Ending
from autograder.cli import app
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.exercise import edited
from autograder.grading import engine as engine_module
from autograder.grading import reference
from autograder.grading.engine import MOST_AT_ONCE, Engine
from autograder.grading.run import course_lock
from autograder.grading.store import Store
from autograder.jail.inside.runner import read_job
from autograder.jail.outside.client import Outcome
from autograder.jail.outside.jobs import cell, make_job
from autograder.pool.local import LocalPool
from autograder.pool.pool import settings_for
from autograder.settings import limits
from autograder.source import grade_id, imported_ahead, is_demo
from autograder.untrusted.autograded import fill_outputs
from autograder.untrusted.frames import read_frame
from autograder.untrusted.pages import Pages
from autograder.untrusted.submission import read_submission
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
    submit = engine.pool.submit
    monkeypatch.setattr(engine.pool, "submit", lambda name, job: sent.append(job) or submit(name, job))
    raising = f'def similarities(queries, keys):\n    raise ValueError("{text}")'
    result = grade(course, engine, "raising", with_cell(perfect, first, raising))
    reasons = [verdict.reason for verdict in result.verdicts if verdict.grade_id.endswith("-check")]
    assert "NameError" in reasons[0]
    demos = {cell.source for cell in engine.release.cells if is_demo(cell)}
    ran = {cell["source"] for job in sent for cell in read_job(job).cells}
    assert sent and not ran & demos


def test_a_mistake_that_is_recorded_just_after_it_was_looked_for_is_named(course, perfect, monkeypatch):
    """Recording goes on beside: it may end between a verdict and the question what was still to be recorded."""
    first = next(iter(Assignment(course, NAME).exercises.values()))
    with Engine(Assignment(course, NAME), Store(course / "race"), "none") as engine:
        judge = engine_module.judge_cells

        def judge_and_wait(*arguments):
            verdicts = judge(*arguments)
            engine.expected.record_mistakes([first.name]).result()
            return verdicts

        monkeypatch.setattr(engine_module, "judge_cells", judge_and_wait)
        (wrong,) = [c for c in perfect.cells if grade_id(c) == first.solution_id]
        mistake = first.mistakes[0]
        result = grade(
            course,
            engine,
            "raced",
            with_cell(perfect, first.solution_id, edited(wrong.source, first, mistake)),
        )
    (verdict,) = [v for v in result.verdicts if v.grade_id == first.check_id]
    assert verdict.mistake == mistake.name


LOOK_FOR = """
import re
found = set()
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for line in maps:
        start, end, rights = re.match("(\\w+)-(\\w+) (....)", line).groups()
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


def test_mistakes_are_recorded_for_exercises_that_somebody_got_wrong(course, perfect, tmp_path):
    with Engine(Assignment(course, NAME), Store(tmp_path), "none") as engine:
        assert statuses(grade(course, engine, "perfect", perfect)) == {"passed"}
        assert not any(key.mistakes for key in engine.keys.values())

        softmax = engine.assignment.exercises["attention.softmax"]
        mistake = softmax.mistakes[0]
        source = edited(reference.solution_sources(engine.assignment)[softmax.name], softmax, mistake)
        result = grade(course, engine, "wrong", with_cell(perfect, softmax.solution_id, source))
        (verdict,) = (v for v in result.verdicts if v.grade_id == softmax.check_id)
        assert (verdict.status, verdict.mistake, verdict.hint) == ("failed", mistake.name, mistake.hint)
        # And of those that build on it, which are wrong with it.
        recorded = {name for name, key in engine.keys.items() if key.mistakes}
        wrong = {v.grade_id for v in result.verdicts if v.status in ("failed", "error")}
        rescued = {v.grade_id for v in result.verdicts if v.reason.startswith("Right with")}
        asked = {engine.assignment.by_check_id[check].name for check in wrong | rescued}
        assert softmax.name in recorded and recorded == asked

        stub = with_cell(perfect, softmax.solution_id, "def softmax(x, dim):\n    raise NotImplementedError")
        missing = grade(course, engine, "stub", stub)
        assert {v.grade_id: v.status for v in missing.verdicts}[softmax.check_id] == "missing"
        whole = reference.exercise_keys(engine._reference, engine.assignment, engine.seed)
        assert [m.name for m in engine.keys[softmax.name].mistakes] == [
            m.name for m in whole[softmax.name].mistakes
        ]


AWKWARD = """

drawn = []


def awkward_cases(draw):
    drawn.append(draw)
    for case in similarity_cases(draw):
        if len(drawn) == 1:
            case = {**case, "keys": case["keys"][..., :-1]}
        yield case


similarities = dataclasses.replace(similarities, cases=awkward_cases)
"""


def test_a_notebook_that_ran_on_inputs_which_are_drawn_again_runs_again(tmp_path, perfect):
    course = make_course(tmp_path / "awkward")
    one = Assignment(course, NAME)
    one.exercises_file.write_text(f"import dataclasses\n{one.exercises_file.read_text()}{AWKWARD}")
    with Engine(one, Store(tmp_path), "none") as engine:
        first = engine.expected.cases["attention.similarities"]
        result = grade(course, engine, "perfect", perfect)
        assert statuses(result) == {"passed"}
        assert engine.keys["attention.similarities"].cases is not first


def test_the_same_notebook_is_run_once(course, engine, perfect):
    before = grade(course, engine, "perfect", perfect)
    again = grade(course, engine, "twin", perfect)
    assert (again.seconds, again.seed) == (before.seconds, before.seed)
    assert again.student == "twin"


class Recorded:
    """A pool that runs nothing: each job ends as it is told, and is counted."""

    full = False
    ended = True

    def __init__(self, outcome):
        self.outcome = outcome
        self.names = []
        self.left = []

    def submit(self, name, job):
        self.names.append(name)
        self.left.append(name)

    def wait(self, seconds):
        return self.ended

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
        pool = Recorded(Outcome((), status, 0.0, 0.0, 0))
        made = Engine(engine.assignment, Store(tmp_path / "store"), "none", pool, fresh)
        made.__dict__["expected"] = engine.expected  # recorded once, for all tests
        engine.expected.start()
        engine.expected.record_mistakes([]).result()  # when this is done, nothing runs beside the jobs
        return made

    return make


def test_twins_are_run_once(course, recorded_engine, perfect):
    """Also before their result is known, and when it is not one to keep."""
    for status in ("finished", "died"):
        engine = recorded_engine(status)
        notebook = with_cell(perfect, "attention-reflection-b", f"This one {status}.")
        for student in ("one", "two", "three"):
            hand_in(course, student, engine.assignment, notebook)
        submissions = [
            read_submission(course / "submitted" / student / NAME, student, engine.assignment, engine.release)
            for student in ("one", "two", "three")
        ]
        results = [result.student for _, result in engine.grade_all(submissions[:2])]
        results += [result.student for _, result in engine.grade_all(submissions[2:])]
        assert sorted(results) == ["one", "three", "two"] and len(engine.pool.names) == 1


def test_what_is_known_is_not_held_back_while_a_jail_is_waited_for(course, recorded_engine, perfect):
    engine = recorded_engine()
    engine.pool.ended = False
    hand_in(course, "to-run", engine.assignment, perfect)
    students = [f"missing-{number}" for number in range(MOST_AT_ONCE + 2)] + ["to-run"]
    submissions = [
        read_submission(course / "submitted" / student / NAME, student, engine.assignment, engine.release)
        for student in students
    ]
    batches = [[submission.student for submission, _ in several] for several in engine.batches(submissions)]
    assert batches == [students[:MOST_AT_ONCE], students[MOST_AT_ONCE:-1], ["to-run"]]


def test_what_comes_soon_after_one_another_is_recorded_together(course, recorded_engine, perfect):
    """A commit for each would cost more than all that is written."""
    engine = recorded_engine()
    students = ["one", "two", "three"]
    for student in students:
        changed = with_cell(perfect, "attention-reflection-b", f"Written by {student}.")
        hand_in(course, student, engine.assignment, changed)
    submissions = [
        read_submission(course / "submitted" / student / NAME, student, engine.assignment, engine.release)
        for student in students
    ]
    for soon, sizes in ((False, [1, 1, 1]), (True, [3])):
        engine = recorded_engine(fresh=True)
        engine.pool = Replayed([ENDED] * 3, beside=3)
        engine.pool.ended = soon
        assert [len(batch) for batch in engine.batches(submissions)] == sizes


@pytest.mark.parametrize("status", ["timeout", "memory", "output", "killed", "died"])
def test_what_the_machine_may_have_caused_is_not_kept(course, recorded_engine, perfect, status):
    for _ in range(2):
        engine = recorded_engine(status)
        result = grade(course, engine, "unlucky", perfect)
        assert result.trouble and len(engine.pool.names) == 1


class Replayed(Recorded):
    """Each job ends as the next of a list of outcomes; `beside` jobs are there before the first is taken."""

    def __init__(self, outcomes, beside):
        self.outcomes = list(outcomes)
        self.beside = beside
        self.names, self.left, self.jobs = [], [], []

    @property
    def full(self):
        return len(self.left) > self.beside

    def submit(self, name, job):
        self.jobs.append([cell["source"] for cell in read_job(job).cells])
        super().submit(name, job)

    def take(self):
        return self.left.pop(0), self.outcomes.pop(0)


TIMED_OUT, ENDED = (Outcome((), status, 0.0, 0.0, 0) for status in ("timeout", "finished"))


@pytest.mark.parametrize(
    ("beside", "outcomes", "order"),
    [
        # The first times out beside the second, and once more when it is alone; or it does not.
        (1, [TIMED_OUT, ENDED, TIMED_OUT], ["one", "two", "one"]),
        (1, [TIMED_OUT, ENDED, ENDED], ["one", "two", "one"]),
        (0, [TIMED_OUT, ENDED], ["one", "two"]),  # nobody was beside it
        (1, [TIMED_OUT, TIMED_OUT, ENDED, TIMED_OUT], ["one", "two", "one", "two"]),
    ],
)
def test_who_ran_out_of_time_beside_others_runs_once_more_alone(
    course, recorded_engine, perfect, beside, outcomes, order
):
    engine = recorded_engine()
    engine.pool = Replayed(outcomes, beside)
    submissions, who = [], {}
    for student in ("one", "two"):
        notebook = with_cell(perfect, "attention-reflection-b", f"{student} of {len(outcomes)} {beside}")
        hand_in(course, student, engine.assignment, notebook)
        folder = course / "submitted" / student / NAME
        submissions.append(read_submission(folder, student, engine.assignment, engine.release))
        who[engine._name(submissions[-1].digest)] = student
    results = {submission.student: result for submission, result in engine.grade_all(submissions)}
    assert [who[name] for name in engine.pool.names] == order
    last = {student: outcome.status for student, outcome in zip(order, outcomes, strict=True)}
    assert {student: result.ending for student, result in results.items()} == last


@pytest.mark.parametrize(("recorded", "runs"), [(False, 2), (True, 1)])
def test_who_ran_out_of_time_beside_the_solution_runs_once_more(
    course, engine, perfect, tmp_path, recorded, runs
):
    pool = Replayed([TIMED_OUT, ENDED], 0)
    with Engine(engine.assignment, Store(tmp_path), "none", pool) as own:
        if recorded:
            assert own.keys
        own.expected.start()
        notebook = with_cell(perfect, "attention-reflection-b", f"Beside the solution: {recorded}")
        result = grade(course, own, "early", notebook)
    assert len(pool.names) == runs and result.ending == ("timeout" if recorded else "finished")


def with_answers(engine, cells, problem):
    """An outcome in which every check of `cells` answers its cases with an exception, or not at all."""
    by_source = {
        cell.source: engine.assignment.by_check_id[grade_id(cell)].name
        for cell in engine.release.cells
        if grade_id(cell) in engine.assignment.by_check_id
    }
    frames = []
    for number, source in enumerate(cells):
        name = by_source.get(source, "")
        given = {
            ("", name, case): Answer(problem="exception", message=problem(name))
            if problem(name)
            else engine.keys[name].expected[case]
            for case in range(len(engine.keys[name].cases) if name else 0)
        }
        arrays, described = recording.answers_to_file(given)
        words = {"cell": number, "answers": described, "outputs": [], "seconds": 0.0, "problem": ""}
        frames.append(answers.pack(arrays, words))
    return Outcome(tuple(frames), "finished", 0.0, 0.0, 0)


@pytest.mark.parametrize("second", ["timeout", "finished"])
def test_a_second_run_for_a_missing_name_takes_nothing_away(course, recorded_engine, perfect, second):
    """The demonstration that defines the name runs, and no other; what the first run had stays."""
    engine = recorded_engine()
    pool = engine.pool = Replayed([], 0)
    first = next(iter(engine.assignment.exercises))
    notebook = with_cell(perfect, "attention-reflection-b", f"The second run: {second}")
    hand_in(course, "leaning", engine.assignment, notebook)

    def take():
        again = len(pool.jobs) > 1
        if again and second == "timeout":
            outcome = TIMED_OUT
        else:
            missing = "" if again else "NameError: name 'river' is not defined"
            outcome = with_answers(engine, pool.jobs[-1], lambda name: missing if name == first else "")
        return pool.left.pop(0), outcome

    pool.take = take
    folder = course / "submitted" / "leaning" / NAME
    result = engine.grade(read_submission(folder, "leaning", engine.assignment, engine.release))
    demos = {cell.source for cell in engine.release.cells if is_demo(cell)}
    assert [len(demos & set(job)) for job in pool.jobs] == [0, 1]
    by_id = {verdict.grade_id: verdict.status for verdict in result.verdicts}
    of_first = by_id.pop(engine.assignment.exercises[first].check_id)
    assert of_first == ("passed" if second == "finished" else "error")
    assert {status for name, status in by_id.items() if name.endswith("-check")} == {"passed"}


def test_fresh_runs_again_and_replaces(course, recorded_engine, perfect):
    first = grade(course, recorded_engine(), "perfect", perfect)
    assert grade(course, recorded_engine(), "perfect", perfect).seed == first.seed
    again = recorded_engine(fresh=True)
    second = grade(course, again, "perfect", perfect)
    assert second.seed != first.seed and len(again.pool.names) == 1
    assert grade(course, again, "twin", perfect).seed == second.seed and len(again.pool.names) == 1
    assert grade(course, recorded_engine(), "perfect", perfect).seed == second.seed


def test_public_answers_earn_nothing(course, engine, perfect):
    """A function that returns the expected arrays of the answer key, looked up by shape."""
    name = next(iter(engine.assignment.exercises))
    cheat = f"""
from autograder.checks import answer_key
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
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, CourseError)
    assert words in str(result.exception)


def test_outside_a_course_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "not inside a course" in str(CliRunner().invoke(app, ["grade", NAME]).exception)


def test_a_wrong_limit_is_a_sentence(course, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Jail.cell_secnds = 3\n")
    with pytest.raises(
        CourseError, match="sets c.Jail.cell_secnds, which does not exist. The settings are: cell_seconds"
    ):
        limits(tmp_path)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Jail.cell_seconds = -3\n")
    with pytest.raises(CourseError, match="must be a number above zero"):
        limits(tmp_path)


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
    assert "answer to case 0 has a problem: exception" in str(result.exception)
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
    """Points that changed without a new build would be recorded wrongly."""
    stale = make_course(tmp_path / "stale")
    one = Assignment(stale, NAME)
    hand_in(stale, "perfect", one, perfect)
    one.source.write_text(one.source.read_text().replace('"points": 2', '"points": 3', 1))
    monkeypatch.chdir(stale)
    result = CliRunner().invoke(app, ["grade", NAME, "--isolation", "none"])
    assert "run `autograder build` first" in str(result.exception)
    assert not (stale / "autograded").exists()
