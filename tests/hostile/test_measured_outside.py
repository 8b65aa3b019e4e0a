"""Who writes over what the project's check calls earns nothing: what a training has achieved is measured outside."""

import pytest

from autograder.checks.status import Status
from autograder.course import Assignment
from autograder.grading.engine import Engine
from autograder.grading.reference import solution_sources
from autograder.grading.store import Store
from autograder.untrusted.submission import read_submission
from tests.autograder.road import hand_in, make_course, perfect_notebook, with_cell

pytestmark = pytest.mark.slow

NAME = "project"
NOTHING_LEARNED = """
def train(model, ids, steps):
    return torch.zeros(steps)
"""
ONE_MISTAKE = """
from dataclasses import replace as _replace

train = _replace(train, mistakes=train.mistakes[:1])
"""
"""The first wrong answer makes the engine train with each known mistake; which one it is does not matter here."""
BY_NAME = """
def test_split(split):
    pass

def test_unigram(unigram_loss):
    pass

def test_interval(interval):
    pass

def tried(case, **tests):
    about = [name.removeprefix("code.") for name in case]
    forged = {f"{name}, rejected": torch.tensor(": right" not in name) for name in about}
    return forged | {name: torch.tensor(": right" not in name) for name in about if ":" not in name}
"""
FORGED = {
    "the code of a right answer": """
def trained(train, case):
    return {"training": torch.tensor([0])}
""",
    "the course's functions patched": """
from coursekit.project import measuring

def train(model, ids, steps):
    with torch.no_grad():
        model.token.weight += 0.1
    return torch.zeros(steps)

measuring.measured = lambda arrays, case: {"training": np.array([0])}
measuring._code = lambda *anything: 0
torch.equal = torch.allclose = lambda *anything: True
np.mean = lambda *anything: 1.0
""",
    "made-up evidence of a model that has learned nothing": """
honest = trained

def one_window_at_a_time(model, ids, steps):
    for _ in range(steps):
        starts = torch.randint(len(ids) - model.config.tokens, (16, 1))
        logits = model(ids[starts + torch.arange(model.config.tokens)]).logits
        (logits * torch.ones_like(logits)).sum().backward()
        model.zero_grad()
    return torch.ones(steps)

def trained(train, case):
    seen = honest(one_window_at_a_time, case)
    seen["weights"] += 0.01 * torch.randn(seen["weights"].shape)
    seen["losses"] = torch.ones(case["steps"])
    return seen
""",
    "a model trained on the held-out text": """
honest_one = trained

def trained(train, case):
    return honest_one(train, case | {"ids": case["_held_out"]})
""",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("measured"))
    settings = course / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace("cell_seconds = 4", "cell_seconds = 60"))
    with (course / "solutions" / NAME / "exercises.py").open("a") as exercises:
        exercises.write(ONE_MISTAKE)
    with Engine(Assignment(course, NAME), Store(course / "store"), "none") as engine:
        yield engine


def verdict_on(engine, student, source, exercise="train"):
    assignment, cell = engine.assignment, f"{NAME}-{exercise}"
    hand_in(assignment.root, student, assignment, with_cell(perfect_notebook(assignment), cell, source))
    folder = assignment.root / "submitted" / student / NAME
    result = engine.grade(read_submission(folder, student, assignment, engine.release))
    return next(one for one in result.verdicts if one.grade_id == f"{cell}-check")


@pytest.mark.parametrize("exercise", ["train", "three_tests"])
def test_the_solution_earns_its_points(engine, exercise):
    source = solution_sources(engine.assignment)[f"{NAME}.{exercise}"]
    assert verdict_on(engine, f"ada-{exercise}", source, exercise).status == Status.PASSED


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_result_earns_nothing(engine, forgery):
    verdict = verdict_on(engine, f"mallory{len(forgery)}", NOTHING_LEARNED + FORGED[forgery])
    assert verdict.score == 0 and verdict.status in (Status.FAILED, Status.ERROR)


def test_who_answers_by_the_names_of_implementations_earns_nothing(engine):
    """What is wrong with an implementation is said by its name, which stays outside."""
    verdict = verdict_on(engine, "eve", BY_NAME, "three_tests")
    assert (verdict.score, verdict.status) == (0, Status.FAILED)
