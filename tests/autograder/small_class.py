"""A class of seventeen, graded by the real engine into a real gradebook; in the jail's place a light server.

The light server (light.py) takes an answer for right when its text is the solution's. Every mistake that an
exercise knows keeps its name.
"""

import copy
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from autograder.course import Assignment
from autograder.exercise import edited
from autograder.gradebook.gradebook import register
from autograder.grading.reference import solution_sources
from tests.autograder import light
from tests.autograder.road import grade_all, hand_in, make_course, perfect_notebook, with_cell

NAME = "02_attention"
FIRST, SECOND, SOFTMAX = "attention-similarities", "attention-scale", "attention-softmax"
LATER = "attention-attention"  # calls both
WRITTEN = "attention-reflection-b"
SCRIPT = "<img src=x onerror=alert(1)>"  # a student's name, and what stands in the student's answers
FORMULA = "=1+1"  # another's

RULE = """
from nbgrader.plugins import LateSubmissionPlugin

class ATenthADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score * 0.1 * -(-total_seconds_late // 86400)

c.AssignLatePenalties.plugin_class = ATenthADay
"""

COPIED = {
    SOFTMAX: '''def softmax(x, dim):
    """Mine."""
    # start with the biggest
    top, places = torch.sort(x, dim=dim, descending=True)
    biggest = top.narrow(dim, 0, 1)
    powers = torch.pow(torch.full_like(x, 2.718281828459045), x - biggest)
    total = torch.cumsum(powers, dim=dim).narrow(dim, x.shape[dim] - 1, 1)
    return torch.true_divide(powers, total)
''',
    FIRST: """def similarities(queries, keys):
    pieces = []
    for row in torch.unbind(queries, dim=-2):
        line = torch.mul(row.unsqueeze(-2), keys)
        pieces.append(torch.add(line.sum(dim=-1), 0.0))
    return torch.stack(tuple(pieces), dim=-2).contiguous()
""",
}
CORRECTION = ("    return scores / d**0.5", "    # as it was meant\n    return scores / d**0.5")
"""In the solution of SECOND. What "nia" handed in is then right, and the perfect answers of before are wrong."""
RENAMED = {"top": "best", "places": "_", "powers": "ups", "pieces": "out", "line": "prod", "# start": "#"}
SHORT = """def scale(scores, d):
    root = torch.sqrt(torch.tensor(float(d)))
    factor = torch.reciprocal(root)
    return torch.mul(scores, factor)
"""


@dataclass(frozen=True)
class Class:
    course: Path
    failing: dict[str, str]  # {student: name of the known mistake}

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.course, NAME)

    @contextmanager
    def gradebook(self):
        with Gradebook(f"sqlite:///{self.course}/gradebook.db", "words-in-context") as gradebook:
            yield gradebook

    def grade(self) -> None:
        grade_all(self.assignment)

    def hand_in_late(self, student: str, timestamp: str) -> None:
        (self.course / "submitted" / student / NAME / "timestamp.txt").write_text(timestamp)


def use_light_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(light.bubblewrap, "SERVE", light.bubblewrap.SERVE)  # put back afterwards
    light.install()


def make_class(folder: Path) -> Class:
    """Hand in and grade: everybody once, and "cem" a second time."""
    course = make_course(folder)
    settings = course / "nbgrader_config.py"
    settings.write_text(settings.read_text() + RULE)
    assignment = Assignment(course, NAME)
    failing = _hand_in(course, assignment)
    kind = Class(course, failing)
    register(assignment)
    with kind.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2026, 10, 2))
        gradebook.update_or_create_student(
            "ada", first_name="Ada", last_name="Lovelace", email="ada@example.org"
        )
        gradebook.update_or_create_student("absent")
    kind.hand_in_late("dua", "2026-10-02 20:00:00 UTC")
    kind.grade()
    again = with_cell(perfect_notebook(assignment), SECOND, "def scale(scores, d): return scores")
    hand_in(course, "cem", assignment, again)
    kind.grade()
    return kind


def _hand_in(course: Path, assignment: Assignment) -> dict[str, str]:
    perfect = perfect_notebook(assignment)
    sources = solution_sources(assignment)
    first, second = (assignment.by_check_id[f"{cell}-check"] for cell in (FIRST, SECOND))
    release = assignment.read_release()

    def wrong(exercise, mistake):
        return with_cell(perfect, exercise.solution_id, edited(sources[exercise.name], exercise, mistake))

    def answers(texts):
        notebook = perfect
        for cell, text in texts.items():
            notebook = with_cell(notebook, cell, text)
        return notebook

    def renamed(text):
        for old, new in RENAMED.items():
            text = text.replace(old, new)
        return text

    dies = copy.deepcopy(perfect)
    dies.cells.insert(1, new_code_cell("# run this\nimport os\nos._exit(1)"))
    alternative = next(iter(second.alternatives.values()))
    hostile = f"</pre></script><script>alert(1)</script>{SCRIPT}"
    several = {
        "ada": perfect,
        "bob": answers({SECOND: alternative}),
        "cem": wrong(second, second.mistakes[0]),
        "dua": wrong(first, first.mistakes[0]),
        "eva": wrong(first, first.mistakes[0]),
        "fay": wrong(first, first.mistakes[1]),
        "gil": release,
        "hao": "This is my homework.",
        "ian": dies,
        "jon": answers(COPIED),
        "kit": answers({cell: renamed(text) for cell, text in COPIED.items()}),
        "lea": answers({SECOND: SHORT}),
        "mia": answers(
            {SECOND: SHORT.replace("root", "r"), LATER: sources["attention.attention"] + "# mine"}
        ),
        "bea": answers({SECOND: alternative + "\n# my own"}),
        SCRIPT: answers({**COPIED, SOFTMAX: f"# {hostile}\n{COPIED[SOFTMAX]}", WRITTEN: hostile}),
        FORMULA: perfect,
        "nia": answers({SECOND: sources[second.name].replace(*CORRECTION)}),
    }
    for student, notebook in several.items():
        hand_in(course, student, assignment, notebook)
    return {
        "dua": first.mistakes[0].name,
        "eva": first.mistakes[0].name,
        "fay": first.mistakes[1].name,
    }
