"""A wrong function costs its own points, and not those of the functions that build on it."""

from collections import Counter
from dataclasses import replace

import pytest

from autograder.course import Assignment
from autograder.grading.engine import Engine
from autograder.grading.reference import solution_sources
from autograder.grading.store import Store
from autograder.jail.inside.runner import read_job
from autograder.untrusted.submission import read_submission
from tests.autograder.road import hand_in, make_course, perfect_notebook, with_cell

pytestmark = pytest.mark.slow

NAME = "02_attention"
WRONG_SCALE = "def scale(scores, d):\n    return scores / d"
OWN_ATTENTION = """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores.masked_fill(~keep, -1e30), dim=-1)
    return weighted_sum(weights * keep, values)
"""
WITHOUT_MASK = OWN_ATTENTION.replace("~keep", "~keep & keep")
NO_MASK_AT_ALL = """
def attention(queries, keys, values, keep):
    return weighted_sum(softmax(scale(similarities(queries, keys), queries.shape[-1]), dim=-1), values)
"""
AS_LIST = """
def similarities(queries, keys):
    return list(queries @ keys.transpose(-1, -2))
"""
HEADS_WITH_FACTOR = """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    scale(x, 4, factor=2.0)
    heads = zip(*((x @ W).chunk(heads, dim=-1) for W in (W_q, W_k, W_v)))
    return torch.cat([attention(q, k, v, keep[:, None, :]) for q, k, v in heads], dim=-1) @ W_o
"""
HEADS = """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    heads = zip(*((x @ W).chunk(heads, dim=-1) for W in (W_q, W_k, W_v)))
    return torch.cat([attention(q, k, v, keep[:, None, :]) for q, k, v in heads], dim=-1) @ W_o
"""
OF_TENSORS = "def scale(scores, d):\n    return torch.div(scores, d**0.5)"
ITS_EDIT = 'edits={MASKED: "scores", ZEROED: "weights"},'


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course, in which attention without a mask earns half of the points."""
    course = make_course(tmp_path_factory.mktemp("dependants"))
    exercises = course / "solutions" / NAME / "exercises.py"
    text = exercises.read_text()
    assert text.count(ITS_EDIT) == 1
    exercises.write_text(text.replace(ITS_EDIT, f"{ITS_EDIT} credit=0.5,"))
    return course


@pytest.fixture(scope="module")
def engine(course):
    with Engine(Assignment(course, NAME), Store(course / "store"), "none") as engine:
        yield engine


@pytest.fixture(scope="module")
def perfect(course):
    return perfect_notebook(Assignment(course, NAME))


@pytest.fixture
def graded(course, engine, perfect, monkeypatch):
    """graded({solution cell: source}) gives the verdicts by exercise and the jobs that were run."""

    def grade(cells):
        notebook = perfect
        for name, source in cells.items():
            notebook = with_cell(notebook, name, source)
        sent = []
        submit = engine.pool.submit
        monkeypatch.setattr(
            engine.pool, "submit", lambda name, job: sent.append(read_job(job)) or submit(name, job)
        )
        hand_in(course, "student", engine.assignment, notebook)
        folder = course / "submitted" / "student" / NAME
        result = engine.grade(read_submission(folder, "student", engine.assignment, engine.release))
        monkeypatch.undo()
        by_id = {verdict.grade_id: verdict for verdict in result.verdicts}
        exercises = engine.assignment.exercises
        return {name.partition(".")[2]: by_id[e.check_id] for name, e in exercises.items()}, sent

    return grade


def lost(verdicts):
    return {name for name, verdict in verdicts.items() if verdict.status != "passed"}


def test_who_builds_on_an_own_mistake_pays_for_it_once(graded):
    verdicts, sent = graded({"attention-scale": WRONG_SCALE, "attention-attention": OWN_ATTENTION})
    assert lost(verdicts) == {"scale"}
    assert (
        verdicts["attention"].reason
        == "Your answer is right if it uses the solution's scale instead of yours."
    )
    assert verdicts["attention"].score == verdicts["attention"].max_score > 0
    assert len(sent) == 2


def test_a_dependant_with_a_mistake_of_its_own_is_still_wrong_and_says_what_it_builds_on(graded):
    verdicts, _ = graded({"attention-scale": WRONG_SCALE, "attention-attention": WITHOUT_MASK})
    assert {"scale", "attention"} <= lost(verdicts)
    assert "This exercise builds on scale, which is not right." in verdicts["attention"].reason
    assert "solution's" not in verdicts["attention"].reason


def test_whoever_could_not_be_judged_again_in_time_is_told_so(graded, engine, monkeypatch):
    """The first run is the last: attention was judged with a right scale, multi_head waits for a right attention."""
    cells = {"attention-scale": WRONG_SCALE, "attention-attention": WITHOUT_MASK}
    whole, _ = graded(cells | {"attention-multi_head": HEADS})
    no_time = replace(engine.settings.limits, notebook_seconds=1e-9)
    monkeypatch.setattr(engine, "settings", replace(engine.settings, limits=no_time))
    verdicts, sent = graded(cells | {"attention-multi_head": HEADS})
    said = "There was no time left to grade your answer with the solution's version."
    assert (
        len(sent) == 2 and said in verdicts["multi_head"].reason and said not in verdicts["attention"].reason
    )
    assert whole["multi_head"].status == "passed" and said not in whole["attention"].reason


def test_a_dependant_with_a_mistake_that_has_a_share_of_the_points_earns_it(graded):
    alone, _ = graded({"attention-attention": NO_MASK_AT_ALL})
    verdicts, _ = graded({"attention-scale": WRONG_SCALE, "attention-attention": NO_MASK_AT_ALL})
    assert verdicts["scale"].score == 0
    for of in (alone, verdicts):
        assert of["attention"].mistake == "no mask at all"
        assert of["attention"].score == of["attention"].max_score / 2 > 0
    said = "With the solution's scale instead of yours, your answer earns 50% of the points."
    assert said in verdicts["attention"].reason


def test_so_does_one_whose_own_answers_an_earlier_error_stops(course, engine, perfect):
    """Its mistakes are recorded, too, in an engine that has recorded none."""
    cells = {
        "attention-scale": "def scale(scores, d):\n    return scores / d.root",
        "attention-attention": NO_MASK_AT_ALL,
    }
    notebook = perfect
    for name, source in cells.items():
        notebook = with_cell(notebook, name, source)
    hand_in(course, "student", engine.assignment, notebook)
    with Engine(Assignment(course, NAME), Store(course / "another store"), "none") as fresh:
        result = fresh.grade(
            read_submission(
                course / "submitted" / "student" / NAME, "student", fresh.assignment, fresh.release
            )
        )
    verdict = next(v for v in result.verdicts if v.grade_id == "attention-attention-check")
    assert verdict.score == verdict.max_score / 2 > 0


def test_what_an_earlier_stub_stops_is_judged_as_if_it_were_there(graded):
    stub = "def scale(scores, d):\n    raise NotImplementedError"
    verdicts, _ = graded({"attention-scale": stub, "attention-attention": OWN_ATTENTION})
    assert lost(verdicts) == {"scale"}


def test_an_earlier_cell_that_does_not_run_costs_its_own_points_only(graded):
    verdicts, _ = graded({"attention-scale": "def scale(:", "attention-attention": OWN_ATTENTION})
    assert lost(verdicts) == {"scale"}


WITH_A_NOTE = {
    "float64": {"attention-softmax": "def softmax(x, dim):\n    return torch.softmax(x.double(), dim)"},
    "a list of tensors, and a function of tensors": {
        "attention-similarities": AS_LIST,
        "attention-scale": OF_TENSORS,
    },
    "a list": {"attention-scale": "def scale(scores, d):\n    return list(scores / d**0.5)"},
    "float16": {"attention-scale": "def scale(scores, d):\n    return (scores / d**0.5).half()"},
    "bfloat16": {"attention-scale": "def scale(scores, d):\n    return (scores / d**0.5).bfloat16()"},
    "two of them": {
        "attention-similarities": AS_LIST,
        "attention-softmax": "def softmax(x, dim):\n    return torch.softmax(x.double(), dim)",
    },
}


@pytest.mark.parametrize("cells", WITH_A_NOTE.values(), ids=WITH_A_NOTE)
def test_what_is_right_with_a_note_costs_nothing_further_on(graded, cells):
    """attention and multi_head call what gives another type than theirs can compute with."""
    own = {"attention-attention": OWN_ATTENTION, "attention-multi_head": HEADS}
    verdicts, sent = graded(own | cells)
    assert lost(verdicts) == set()
    assert "Your answer is right if it uses the solution's" in verdicts["attention"].reason and len(sent) == 2


@pytest.mark.parametrize(
    ("attention", "runs"), [(WITHOUT_MASK, 2), ("def attention(*those):\n    return those[7]", 3)]
)
def test_what_is_lent_leaves_the_student_s_other_functions_where_these_go_with_it(graded, attention, runs):
    """One may have a parameter more than the solution's, of which what follows makes use."""
    cells = {
        "attention-scale": "def scale(scores, d, factor=1.0):\n    return factor * scores / d**0.5",
        "attention-attention": attention,
        "attention-multi_head": HEADS_WITH_FACTOR,
    }
    verdicts, sent = graded(cells)
    assert lost(verdicts) == {"attention"}
    assert (
        verdicts["multi_head"].reason
        == "Your answer is right if it uses the solution's attention instead of yours."
    )
    assert len(sent) == runs  # whom an error has stopped is first lent all that attention calls


def test_no_exercise_is_asked_in_a_run_that_holds_its_solution(graded, engine):
    """Whatever runs beside a lent function can read it."""
    wrong = {
        "attention-similarities": "def similarities(queries, keys):\n    return queries @ keys.transpose(-2, -1) * 2",
        "attention-scale": WRONG_SCALE,
        "attention-attention": WITHOUT_MASK,
    }
    apart = {
        "attention-similarities": AS_LIST,
        "attention-scale": OF_TENSORS,
        "attention-attention": OWN_ATTENTION,
    }
    sources = solution_sources(engine.assignment)
    for cells in (wrong, apart):
        verdicts, sent = graded(cells)
        assert ("attention" in lost(verdicts)) == (cells is wrong) and len(sent) > 1
        theirs = {name.replace("-", ".") for name in cells}
        for job in sent[1:]:
            texts = Counter(cell["source"] for cell in job.cells)
            asked = {cell["exercise"] for cell in job.cells if cell["exercise"]}
            lent = {name for name in theirs if texts[sources[name]]}
            assert asked and lent and not lent & asked
            assert set(job.cases) == asked


def test_mistakes_that_nothing_builds_on_are_not_run_again(graded):
    verdicts, sent = graded({"attention-split_heads": "def split_heads(x, heads):\n    return x"})
    assert lost(verdicts) == {"split_heads"} and len(sent) == 1
