"""What is lent to functions of tensors: test_dependants_here tries the rest in the small course."""

from collections import Counter

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


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("dependants"))
    with Engine(Assignment(course, NAME), Store(course / "store"), "none") as engine:
        yield engine


@pytest.fixture(scope="module")
def perfect(engine):
    return perfect_notebook(engine.assignment)


@pytest.fixture
def graded(engine, perfect, monkeypatch):
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
        hand_in(engine.assignment.root, "student", engine.assignment, notebook)
        folder = engine.assignment.submitted / "student" / NAME
        result = engine.grade(read_submission(folder, "student", engine.assignment, engine.release))
        monkeypatch.undo()
        by_id = {verdict.grade_id: verdict for verdict in result.verdicts}
        exercises = engine.assignment.exercises
        return {name.partition(".")[2]: by_id[e.check_id] for name, e in exercises.items()}, sent

    return grade


def lost(verdicts):
    return {name for name, verdict in verdicts.items() if verdict.status != "passed"}


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
