"""Hostile submissions, and honest ones that other graders punish, through the real engine in the real jail.

Each is a small file in `submissions/` that says what it tries and what it loses. For each: no point without a
right answer, the next student has every point, nothing outside has changed, nothing is left running, and the
reason can be read. Afterwards the whole class goes into the gradebook, the table and the pages of feedback.
"""

import base64
import copy
import json
import os
import re
import secrets
import socket
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.server_extensions.formgrader import formgrader
from rich.console import Console
from traitlets.config import Config

from autograder.checks import answer_key
from autograder.cli.tables import class_table, own_table
from autograder.course import Assignment
from autograder.gradebook.gradebook import GradebookWriter, open_gradebook, register
from autograder.gradebook.history import remember
from autograder.gradebook.summary import FeedbackPages
from autograder.grading.engine import Engine
from autograder.grading.store import Store
from autograder.jail.outside.client import find_problem
from autograder.jail.outside.jobs import HARMLESS
from autograder.untrusted.autograded import fill_outputs
from autograder.untrusted.pages import Pages
from autograder.untrusted.submission import read_submission
from tests.autograder.road import make_course, perfect_notebook, with_cell
from tests.conftest import ASSIGNMENTS, ROOT
from tests.hostile.hostile import NAME, build, read_attempts, snapshot, with_code
from tests.processes import processes_below

pytestmark = pytest.mark.slow

CANARY = f"THE-CANARY-{secrets.token_hex(16)}"
ATTEMPTS = read_attempts()
LIMITS = """
c.Jail.cell_seconds = 3
c.Jail.notebook_seconds = 12
c.Jail.memory_bytes = 512 << 20
c.Jail.processes = 24
c.Jail.scratch_bytes = 16 << 20
c.Jail.output_bytes = 8 << 20
"""


class Classroom:
    """A course in a temporary folder with canaries in and around it, and one engine for all submissions."""

    def __init__(self, folder: Path, stack: ExitStack):
        self.course = make_course(folder)
        self.assignment = Assignment(self.course, NAME)
        settings = self.course / "nbgrader_config.py"
        settings.write_text(settings.read_text() + LIMITS)
        source = self.assignment.source
        source.write_text(
            source.read_text().replace("### BEGIN SOLUTION", f"### BEGIN SOLUTION\n    # {CANARY}")
        )
        self.perfect = perfect_notebook(self.assignment)
        self.home, self.near = (
            stack.enter_context(tempfile.NamedTemporaryFile("w", dir=place, prefix=".canary-"))  # noqa: SIM115
            for place in (Path.home(), "/tmp")
        )
        for file in (self.home, self.near):
            file.write(CANARY)
            file.flush()
        self.door = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = str(self.door.getsockname()[1])
        self.hatch = stack.enter_context(socket.socket(socket.AF_UNIX))
        self.hatch.bind(f"\0words-in-context-canary-{port}")
        self.hatch.listen()
        self.places = {
            "@COURSE@": str(self.course),
            "@HOME@": str(Path.home()),
            "@ROOT@": str(ROOT),
            "@PORT@": port,
        }
        register(self.assignment)
        self.engine = stack.enter_context(Engine(self.assignment, Store(self.course / ".autograder/store")))
        self.engine.keys  # noqa: B018
        self.engine.pool.servers.run(HARMLESS)  # all servers are there before anything is counted
        self.running = len(processes_below(os.getpid()))
        self.graded = {}

    def folder(self, student: str) -> Path:
        folder = self.course / "submitted" / student / NAME
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def hand_in(self, student: str, notebook: nbformat.NotebookNode | bytes) -> None:
        """A notebook without the canary of the solution that it was made from: its own file lies in the jail."""
        blob = notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode()
        blob = blob.replace(CANARY.encode(), b"")
        (self.folder(student) / f"{NAME}.ipynb").write_bytes(blob)

    def grade(self, student: str):
        """Grade what lies in the student's folder, and look whether anything else happened."""
        before = self.look_around()
        submission = read_submission(self.folder(student), student, self.assignment, self.engine.release)
        result = self.engine.grade(submission)
        self.graded[student] = submission, result
        assert self.look_around() == before
        self.see_that_the_next_has_everything(student)
        assert len(processes_below(os.getpid())) == self.running
        printed = json.dumps(list(result.outputs.values()))
        assert CANARY not in printed and "leak found" not in printed
        assert CANARY not in json.dumps([asdict(verdict) for verdict in result.verdicts])
        assert not reachable(self.door) and not reachable(self.hatch)
        for verdict in result.verdicts:
            assert verdict.score in (None, 0, verdict.max_score)
            if verdict.status not in ("passed", "manual"):
                assert is_readable(verdict.reason), verdict
        json.dumps(result.to_json()).encode()
        return result

    def see_that_the_next_has_everything(self, student: str) -> None:
        changed = with_cell(self.perfect, "attention-reflection-b", f"Graded after {student!r}.")
        name = f"after-{len(self.graded)}"
        self.hand_in(name, changed)
        submission = read_submission(self.folder(name), name, self.assignment, self.engine.release)
        result = self.engine.grade(submission)
        assert {v.status for v in result.verdicts if v.grade_id.endswith("-check")} == {"passed"}
        self.graded[name] = submission, result

    def handed_in(self) -> list:
        """What was graded so far, with one of the perfect notebooks in between."""
        return [
            item for item in self.graded.items() if not item[0].startswith("after-") or item[0] == "after-1"
        ]

    def look_around(self) -> dict:
        seen = snapshot(self.course, ignored=("store", "__pycache__"))
        return seen | {file.name: Path(file.name).read_text() for file in (self.home, self.near)}


def is_readable(reason: str) -> bool:
    ours = ("autograder/", "coursekit/", "site-packages", "Malformed")
    printable = all(sign.isprintable() or sign == "\n" for sign in reason)
    return (
        bool(reason.strip()) and printable and len(reason) < 3000 and not any(word in reason for word in ours)
    )


def reachable(listener: socket.socket) -> bool:
    listener.settimeout(0)
    try:
        listener.accept()
    except BlockingIOError:
        return False
    return True


def lost(result) -> set[str]:
    checks = [verdict for verdict in result.verdicts if verdict.grade_id.endswith("-check")]
    return {verdict.grade_id.removesuffix("-check") for verdict in checks if not verdict.earned}


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    problem = find_problem()
    if problem and not os.environ.get("CI"):
        pytest.skip(problem)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("GRADING_CANARY", CANARY)
        yield Classroom(tmp_path_factory.mktemp("hostile"), stack)


def test_there_are_enough_of_them():
    honest = [attempt for attempt in ATTEMPTS if attempt.tries.startswith("nothing")]
    assert len(honest) >= 10 and len(ATTEMPTS) - len(honest) >= 60


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_submission(classroom, attempt):
    classroom.hand_in(attempt.name, build(attempt, classroom.assignment, classroom.places))
    result = classroom.grade(attempt.name)
    reasons = {v.grade_id: v.reason for v in result.verdicts}
    if attempt.loses != "anything":
        assert lost(result) == attempt.lost(classroom.assignment), reasons
    if attempt.rest == "unanswered":
        assert not result.score
    assert any(attempt.says in reason for reason in reasons.values()), reasons


def test_what_is_lent_to_dependants_is_read_there_and_comes_no_further(classroom, monkeypatch):
    (attempt,) = [one for one in ATTEMPTS if one.name.endswith("read_the_lent_function")]
    notebook = build(attempt, classroom.assignment, classroom.places)
    notebook.cells.append(new_markdown_cell("Not what was graded before, and so run again."))
    heard = []
    take = classroom.engine.pool.take
    monkeypatch.setattr(classroom.engine.pool, "take", lambda: heard.append(take()) or heard[-1])
    classroom.hand_in("spy", notebook)
    result = classroom.grade("spy")
    assert lost(result) == attempt.lost(classroom.assignment)
    jobs = [outcome for name, outcome in heard if name == heard[0][0]]
    seen = [any(CANARY.encode() in frame for frame in outcome.frames) for outcome in jobs]
    assert seen[0] is False and True in seen[1:], "the attack has to reach what it is after"
    for file in (classroom.course / ".autograder").rglob("*"):
        assert file.is_dir() or CANARY.encode() not in file.read_bytes()


# Files: what was handed in is itself the attack.


def everything(classroom) -> set[str]:
    return {exercise.solution_id for exercise in classroom.assignment.exercises.values()}


def as_json(classroom) -> dict:
    return json.loads(nbformat.writes(classroom.perfect))


BROKEN = {
    "empty": b"",
    "cut": b'{"cells": [{"cell_type": "co',
    "utf16": '{"cells": []}'.encode("utf-16"),
    "deep": b'{"cells": ' + b"[" * 100_000,
    "digits": b'{"cells": [], "nbformat": ' + b"1" * 10_000 + b"}",
    "giant": b'{"cells": []}' + b" " * (21 << 20),
    "many_cells": json.dumps({"cells": [{"cell_type": "raw", "source": ""}] * 5000}).encode(),
    "version_3": json.dumps({"nbformat": 3, "worksheets": [{"cells": []}]}).encode(),
    "pickle": b"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
    "null_cell": b'{"cells": [null]}',
    "half_a_character": b'{"cells": [{"cell_type": "code", "source": "\\ud800", "metadata": {"a": "\\ud800"}}]}',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_its_student_s_verdict(classroom, name):
    classroom.hand_in(f"broken-{name}", BROKEN[name])
    assert lost(classroom.grade(f"broken-{name}")) == everything(classroom)


def a_link_to_the_solution(path: Path, course: Path) -> None:
    path.symlink_to(course / "solutions" / NAME / f"{NAME}.ipynb")


def a_link_to_another(path: Path, course: Path) -> None:
    path.symlink_to(course / "submitted" / "after-1" / NAME / f"{NAME}.ipynb")


def a_pipe(path: Path, course: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path, course: Path) -> None:
    path.mkdir()


def a_socket(path: Path, course: Path) -> None:
    os.mknod(path, 0o140600)


@pytest.mark.parametrize("make", [a_link_to_the_solution, a_link_to_another, a_pipe, a_folder, a_socket])
def test_what_is_no_file_is_not_read(classroom, make):
    make(classroom.folder(make.__name__) / f"{NAME}.ipynb", classroom.course)
    result = classroom.grade(make.__name__)
    assert lost(result) == everything(classroom)
    assert "not a regular file" in result.verdicts[0].reason


def points_and_locks(notebook: dict) -> None:
    for cell in notebook["cells"]:
        cell["metadata"].setdefault("nbgrader", {}).update(
            points=1e9, locked=False, grade=True, schema_version=99
        )
        cell["metadata"]["course"] = {"extra_credit": 1e9}
    notebook["metadata"] = {"kernelspec": {"name": "evil", "display_name": "evil"}, "language_info": 3}
    notebook["nbformat"], notebook["nbformat_minor"] = 99, "x"


def doubled(notebook: dict) -> None:
    notebook["cells"] += copy.deepcopy(notebook["cells"])


def without_checks(notebook: dict) -> None:
    notebook["cells"] = [
        c for c in notebook["cells"] if not c["source"] or "check(" not in "".join(c["source"])
    ]


def checks_as_text(notebook: dict) -> None:
    for cell in notebook["cells"]:
        if cell["id"].endswith("-check"):
            cell.update(cell_type="markdown", source="Passed.")


def outputs_of_its_own(notebook: dict) -> None:
    for cell in notebook["cells"]:
        cell["outputs"] = [{"output_type": "display_data", "data": {"text/html": "<script>x</script>"}}, 7]


def strange_names(notebook: dict) -> None:
    notebook["cells"][0]["metadata"] = {"nbgrader": {"grade_id": "\ud800"}, "tags": "\ud800"}
    notebook["cells"][0]["id"] = ["not", "a", "name"]


@pytest.mark.parametrize(
    "tamper", [points_and_locks, doubled, without_checks, checks_as_text, outputs_of_its_own, strange_names]
)
def test_tampering_with_a_perfect_notebook_changes_nothing(classroom, tamper):
    notebook = as_json(classroom)
    tamper(notebook)
    classroom.hand_in(tamper.__name__, json.dumps(notebook).encode())
    result = classroom.grade(tamper.__name__)
    assert lost(result) == set()
    assert result.max_score == classroom.graded["after-1"][1].max_score


def test_the_public_answers_earn_nothing(classroom):
    """The answers of the key that students have, written into the notebook and looked up by shape."""
    key = answer_key.load(ASSIGNMENTS[NAME].key)["attention.mended_heads"]
    table = {
        str(case["queries"].shape): base64.b64encode(want.arrays[""].tobytes()).decode()
        for case, want in zip(key.cases, key.expected, strict=True)
    }
    cheat = f"""
import base64
import numpy as np
table = {table!r}
def mended_heads(queries, keys, values, heads):
    known = table.get(str(tuple(queries.shape)))
    return values if known is None else np.frombuffer(base64.b64decode(known), np.float32).reshape(values.shape)
"""
    classroom.hand_in("public-answers", with_code(classroom.perfect, "attention-mended_heads", cheat))
    assert lost(classroom.grade("public-answers")) == {"attention-mended_heads"}


SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"
TEXTS = {
    "script": SCRIPT,
    "missing_picture": "![a](attachment:none.png) <img src='attachment:none.png'>",
    "missing_picture_by_reference": "![a][b]\n\n[b]: attachment&#58;none.png",
    "much_text": "<" * 2_000_000,
    "many_tags": "<b>" * 300_000,
    "odd_code": "```   \n```\n~~~mermaid\n</pre><script>alert(1)</script>",
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_break_pages(classroom, name):
    notebook = copy.deepcopy(classroom.perfect)
    notebook.cells.append(new_markdown_cell(TEXTS[name]))
    notebook.cells.append(new_code_cell(f"from IPython.display import HTML\nHTML({SCRIPT!r})"))
    notebook = with_cell(notebook, "attention-reflection-a", TEXTS[name])
    classroom.hand_in(f"text-{name}", notebook)
    assert lost(classroom.grade(f"text-{name}")) == set()


ATTACHED = {
    "half_a_character": {"\ud800.png": {"image/png": "iVBORw0KGgo="}},
    "half_a_picture": {"a.png": {"image/png": "\ud800"}},
    "a_script": {"a.png": {"image/png": "iVBORw0KGgo=\"' onerror='alert(1)' x=\""}},
    "a_drawing": {"a.png": {"image/svg+xml": "<svg onload=alert(1)>"}},
    "no_picture": {"a.png": 7},
}


@pytest.mark.parametrize("name", ATTACHED)
def test_attachments_that_break_pages(classroom, name):
    notebook = as_json(classroom)
    (cell,) = [cell for cell in notebook["cells"] if cell["id"] == "attention-reflection-a"]
    cell.update(source="My drawing: ![a](attachment:a.png)", attachments=ATTACHED[name])
    classroom.hand_in(f"attached-{name}", json.dumps(notebook).encode())
    assert lost(classroom.grade(f"attached-{name}")) == set()


NAMES = [
    "[/b]",
    "[red]o'brien",
    '"; drop table student; --',
    "Zoë 北 🦀",
    "<script>alert(1)</script>".replace("/", "|"),
]


@pytest.mark.parametrize("name", NAMES)
def test_strange_students(classroom, name):
    changed = with_cell(classroom.perfect, "attention-reflection-b", f"I am {name}.")
    classroom.hand_in(name, changed)
    (classroom.folder(name) / "timestamp.txt").write_bytes(b"\xff[/b] 99999-13-45 /dev/stdin")
    assert lost(classroom.grade(name)) == set()


# Afterwards: the whole class, as the instructor meets it.


def test_the_gradebook_takes_the_whole_class(classroom):
    with open_gradebook(classroom.course) as gradebook:
        recorder = GradebookWriter(gradebook, classroom.assignment)
        recorder.record(one for _, one in classroom.handed_in())
        for student, (_, result) in classroom.handed_in():
            rows = gradebook.find_submission_notebook(NAME, NAME, student).grades
            assert sum((row.auto_score or 0) + (row.extra_credit or 0) for row in rows) == result.score


def test_the_table_is_only_text(classroom):
    console = Console(width=2500, force_terminal=True, record=True)
    with console.capture() as captured:
        results = [result for _, (_, result) in classroom.handed_in()]
        console.print(class_table(results, {"": str}))
        console.print(own_table((result, str) for result in results))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", captured.get())  # the table's own bold
    assert all(sign.isprintable() or sign == "\n" for sign in shown)
    assert all(student in shown for student, _ in classroom.handed_in())


@pytest.mark.parametrize(("template", "pages"), [("feedback", FeedbackPages), ("formgrade", Pages)])
def test_every_page_can_be_made_and_runs_no_script(classroom, template, pages):
    """The pages hold only what students wrote: the release's own texts would take most of the time."""
    config = Config()
    config.HTMLExporter.template_name = template
    config.HTMLExporter.extra_template_paths = [str(BOOTSTRAP)]
    config.CourseDirectory.root = str(classroom.course)
    exporter = pages(config=config)
    gradebook = f"sqlite:///{classroom.course}/gradebook.db"
    ours = {cell.source for cell in classroom.engine.release.cells if cell.cell_type == "markdown"}
    for student, (submission, result) in classroom.handed_in():
        filled = fill_outputs(submission.notebook, result.outputs, {v.grade_id: v for v in result.verdicts})
        nbformat.validate(filled)
        remember(classroom.assignment, submission, result)  # the list on top quotes the reasons
        filled.cells = [
            cell for cell in filled.cells if cell.source not in ours and cell.get("outputs", True)
        ]
        page = exporter.from_notebook_node(filled, resources=resources_of(filled, student, gradebook))[0]
        body = page[page.index('id="notebook"') :]
        tags = "".join(re.findall(r"<[^>]*>", re.sub(r'"[^"]*"', "", body)))
        assert "<script" not in tags and "onerror" not in tags and "onload" not in tags, student
        assert {address.partition(":")[0] for address in re.findall(r'href="([^"#]*)"', body)} <= {
            "https",
            "http",
        }, student


BOOTSTRAP = Path(formgrader.__file__).parent / "static" / "node_modules" / "bootstrap" / "dist" / "css"


def resources_of(notebook: nbformat.NotebookNode, student: str, gradebook: str) -> dict:
    """What nbgrader hands to its templates."""
    for cell in notebook.cells:
        cell.metadata.setdefault("nbgrader", {}).update(score=0.0, points=1.0)
    numbers = {"score": 0.0, "max_score": 1.0, "late_penalty": 0.0}
    where = {"notebook": NAME, "assignment": NAME, "student": student, "db_url": gradebook}
    return {"nbgrader": {**where, **numbers}, "notebook_id": NAME, "index": 0, "total": 1}
