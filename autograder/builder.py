"""Make the products of a source: the instructor's notebook, the student's notebook and the answer key."""

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder import nbgrader_settings, reference
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.jail.client import Server
from autograder.source import read_source, write_notebook
from coursekit import answer_key

PUBLIC_SEED = 0
"""Seed of the inputs in the answer keys, which every student has. Grading draws others."""

START = "start"


def build(server: Server, assignment: Assignment) -> None:
    """Write all products of one assignment into the course."""
    write_notebook(read_source(assignment.source), assignment.instructor_notebook)
    release = release_bytes(assignment)
    key = key_bytes(server, assignment)
    # Everything that can fail has been done: only now are the old products replaced.
    assignment.release.parent.mkdir(parents=True, exist_ok=True)
    assignment.release.write_bytes(release)
    assignment.key.parent.mkdir(parents=True, exist_ok=True)
    assignment.key.write_bytes(key)


def build_start_page(root: Path) -> None:
    """notebooks/start.ipynb from solutions/start.py: a page without exercises."""
    write_notebook(read_source(root / "solutions" / f"{START}.py"), root / "notebooks" / f"{START}.ipynb")


def key_bytes(server: Server, assignment: Assignment) -> bytes:
    """The answer key: public inputs, expected answers, fingerprints of mistakes, hints."""
    keys = reference.exercise_keys(server, assignment, PUBLIC_SEED)
    return answer_key.to_bytes(reference.without_messages(key) for key in keys.values())


def release_bytes(assignment: Assignment, db_url: str = "") -> bytes:
    """The student's notebook, through nbgrader's generate_assignment in a folder aside.

    With `db_url` the cells and their points are also registered in that gradebook.
    """
    with tempfile.TemporaryDirectory(prefix="release-") as aside:
        folder = Path(aside) / "solutions" / assignment.name
        folder.mkdir(parents=True)
        write_notebook(read_source(assignment.source), folder / f"{assignment.name}.ipynb")
        config = nbgrader_settings.load(assignment.root)
        config.CourseDirectory.root = aside
        config.CourseDirectory.assignment_id = assignment.name
        if db_url:
            config.CourseDirectory.db_url = db_url
        else:
            config.SaveCells.enabled = False
            config.GenerateAssignment.no_database = True
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.log = _quiet_logger()
        try:
            converter.start()
        except Exception as error:
            raise CourseError(
                f"nbgrader could not generate {assignment.name}: {_last_words(converter.log) or error}"
            ) from error
        return (Path(aside) / "notebooks" / assignment.name / f"{assignment.name}.ipynb").read_bytes()


class _Collect(logging.Handler):
    """Keeps nbgrader's error messages, to be shown as one sentence when it fails."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _quiet_logger() -> logging.Logger:
    logger = logging.Logger("generate_assignment", logging.ERROR)
    logger.addHandler(_Collect())
    return logger


def _last_words(logger: logging.Logger) -> str:
    return " ".join(
        message.strip().splitlines()[-1]
        for h in logger.handlers
        for message in h.messages[:1]
        if message.strip()
    )


def stale(server: Server, assignment: Assignment) -> Iterator[str]:
    """What `build` would change, in one sentence each."""
    if not assignment.release.exists() or release_bytes(assignment) != assignment.release.read_bytes():
        yield f"{assignment.release.relative_to(assignment.root)} is not what its source gives"
    if not assignment.key.exists():
        yield f"{assignment.key.relative_to(assignment.root)} is missing"
        return
    made = reference.exercise_keys(server, assignment, PUBLIC_SEED)
    yield from _key_differences(made, answer_key.load(assignment.key), assignment)


def _key_differences(made, committed, assignment: Assignment) -> Iterator[str]:
    """Arrays may differ by rounding from machine to machine, so keys are compared with the exercise's rule."""
    path = assignment.key.relative_to(assignment.root)
    if set(made) != set(committed):
        yield f"{path} holds {sorted(committed)}, the source {sorted(made)}"
        return
    for name, key in made.items():
        key, old = reference.without_messages(key), committed[name]
        words = (key.rule, key.hints, key.uses, [(m.name, m.hint) for m in key.mistakes])
        if words != (old.rule, old.hints, old.uses, [(m.name, m.hint) for m in old.mistakes]):
            yield f"{path}: the hints or mistakes of {name} have changed"
        elif not reference.same_answers(key, old):
            yield f"{path}: the answers of {name} have changed"


def start_page_is_stale(root: Path) -> bool:
    with tempfile.TemporaryDirectory() as aside:
        made = Path(aside) / "start.ipynb"
        write_notebook(read_source(root / "solutions" / f"{START}.py"), made)
        committed = root / "notebooks" / f"{START}.ipynb"
        return not committed.exists() or made.read_bytes() != committed.read_bytes()
