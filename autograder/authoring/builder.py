"""Make the products of a source: the instructor's notebook, the student's notebook and the answer key."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from nbformat.v4 import new_output

from autograder.authoring.lending import lent_bytes
from autograder.checks import answer_key
from autograder.checks.overview import CourseMap, map_of
from autograder.course import Assignment, assignments
from autograder.files import write_aside
from autograder.generating import Generated, release_bytes
from autograder.grading import reference
from autograder.jail.outside.client import Server
from autograder.settings import course_settings
from autograder.source import code_cells, notebook_bytes, read_source

PUBLIC_SEED = 0
"""Seed of the inputs in the answer keys, which every student has. Grading draws others."""

START = "start"
SHOWS_THE_MAP = re.compile(r"^course_map\(\)", re.MULTILINE)


def products(server: Server, assignment: Assignment, generated: Generated) -> dict[Path, bytes | None]:
    """All that is made from a source, with the place of each; None where a file must not be. Writes nothing."""
    made: dict[Path, bytes | None] = {
        assignment.release.parent / name: content for name, content in generated.files.items()
    }
    if assignment.instructor_notebook != assignment.source:
        made[assignment.instructor_notebook] = notebook_bytes(read_source(assignment.source))
    if assignment.exercises:
        made[assignment.key] = key_bytes(server, assignment)
    made[assignment.lent] = lent_bytes(assignment)
    return made | generated.kept


def put(made: Mapping[Path, bytes | None]) -> None:
    """Replace the old products, each at once and whole. A file that stays as it is keeps its time."""
    for path, content in made.items():
        if content is None:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != content:
            write_aside(path, content)


def start_page(root: Path) -> dict[Path, bytes]:
    """The first page that students open, a notebook without exercises, and its place; nothing without a start.py.

    A call of `course_map()` has the output that a new student would see.
    """
    settings = course_settings(root)
    source = root / settings.source_directory / f"{START}.py"
    if not source.exists():
        return {}
    release = root / settings.release_directory / f"{START}.ipynb"
    page = read_source(source)
    for cell in code_cells(page):
        if SHOWS_THE_MAP.search(cell.source):
            cell.outputs = [new_output("display_data", _map(root, release.parent)._repr_mimebundle_())]
    return {release: notebook_bytes(page)}


def _map(root: Path, folder: Path) -> CourseMap:
    """Of the sources: the notebooks in the release folder may hold somebody's own answers."""
    cells = {
        one.key: [(cell.cell_type, cell.source, cell.metadata) for cell in read_source(one.source).cells]
        for one in assignments(root)
        if one.key.exists()
    }
    return map_of(cells, {}, folder, cells)


def key_bytes(server: Server, assignment: Assignment) -> bytes:
    """The answer key: public inputs, expected answers, fingerprints of mistakes, hints.

    An exercise whose key is there already, and agrees, keeps it to the last bit, which depends on the processor.
    """
    made = _public_keys(server, assignment)
    there = _key_there(assignment)
    recorded_answers = {
        name: there[name] for name, key in made.items() if name in there and not _change(key, there[name])
    }
    return answer_key.to_bytes((made | recorded_answers).values())


def _public_keys(server: Server, assignment: Assignment) -> dict[str, answer_key.ExerciseKey]:
    keys = reference.public_keys(server, assignment, PUBLIC_SEED)
    return {name: reference.without_messages(key) for name, key in keys.items()}


def _key_there(assignment: Assignment) -> Mapping[str, answer_key.ExerciseKey]:
    """The key beside the release; nothing if there is none, or one that is damaged."""
    try:  # the file as it is now: `load` remembers what it has read
        return answer_key.load.__wrapped__(assignment.key)
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def stale(server: Server, assignment: Assignment) -> Iterator[str]:
    """What `build` would change, in one sentence each."""
    if not assignment.release.exists() or release_bytes(assignment) != assignment.release.read_bytes():
        yield f"{assignment.release.relative_to(assignment.root)} differs from what its source generates"
    if not assignment.exercises:
        return
    if not assignment.key.exists():
        yield f"{assignment.key.relative_to(assignment.root)} is missing"
        return
    if (assignment.lent.read_bytes() if assignment.lent.exists() else None) != lent_bytes(assignment):
        yield f"{assignment.lent.relative_to(assignment.root)} differs from what its source and c.Autograder.lend generate"
    yield from _key_differences(_public_keys(server, assignment), _key_there(assignment), assignment)


def _key_differences(
    made: Mapping[str, answer_key.ExerciseKey],
    committed: Mapping[str, answer_key.ExerciseKey],
    assignment: Assignment,
) -> Iterator[str]:
    path = assignment.key.relative_to(assignment.root)
    if set(made) != set(committed):
        yield f"{path} contains {sorted(committed)}, but its source generates {sorted(made)}"
        return
    for name, key in made.items():
        if change := _change(key, committed[name]):
            yield f"{path}: the {change} of {name} have changed"


def _change(key: answer_key.ExerciseKey, old: answer_key.ExerciseKey) -> str:
    """What has changed, or "". Arrays may differ by rounding from machine to machine: answers agree by the exercise's rule."""
    if _texts(key) != _texts(old):
        return "hints or mistakes"
    if not reference.same_cases(key.cases, old.cases):
        return "inputs"
    return "" if reference.same_answers(key, old) else "answers"


def _texts(key: answer_key.ExerciseKey) -> tuple:
    """What a key holds beside arrays."""
    mistakes = [(mistake.name, mistake.hint, mistake.credit) for mistake in key.mistakes]
    return key.rule, key.hints, key.uses, key.arguments, mistakes
