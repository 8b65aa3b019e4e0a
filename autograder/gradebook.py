"""Write verdicts into nbgrader's gradebook. One scoring function serves our command and nbgrader's own."""

import hashlib
import json
import logging
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import nbformat
import sqlalchemy.exc
from nbformat import NotebookNode
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, is_grade, is_solution

from autograder import builder, nbgrader_settings
from autograder.autograded import fill_outputs
from autograder.course import Assignment
from autograder.engine import Result
from autograder.errors import CourseError
from autograder.source import grade_id
from autograder.submission import Submission
from autograder.verdicts import CellVerdict

# nbgrader creates a submission's rows in an order that SQLAlchemy remarks on; nothing is lost by it.
warnings.filterwarnings("ignore", category=sqlalchemy.exc.SAWarning, module=r"nbgrader\.api")

# It also prints a traceback of each error that it raises again.
logging.getLogger("tornado.application").addFilter(
    lambda line: "Rolling back session" not in line.getMessage()
)

REMEDIES = {
    "locked": "Another program writes in it: end that one and run the command again, which goes on where it was.",
    "full": "Make room and run the command again: it goes on where it was.",
    "malformed": "It is damaged and was left as it is: put your last copy of it in its place.",
    "not a database": "It is damaged and was left as it is: put your last copy of it in its place.",
}


@contextmanager
def open_gradebook(root: Path) -> Iterator[Gradebook]:
    """The course's gradebook. A locked or damaged one, or a full disk, is a CourseError, and nothing is lost."""
    settings = nbgrader_settings.course_directory(root)
    try:
        _create(settings.db_url, settings.course_id)
        with Gradebook(settings.db_url, settings.course_id) as gradebook:
            yield gradebook
    except (sqlalchemy.exc.DBAPIError, InvalidEntry) as error:
        fault = error if isinstance(error, sqlalchemy.exc.DBAPIError) else error.__context__
        if not isinstance(fault, sqlalchemy.exc.DBAPIError):
            raise
        remedy = next((words for sign, words in REMEDIES.items() if sign in str(fault.orig)), "")
        raise CourseError(
            f"The gradebook {settings.db_url} cannot be used: {fault.orig}. {remedy}"
        ) from error


def _create(db_url: str, course_id: str) -> None:
    """Make a gradebook that is not there yet aside: a run killed meanwhile leaves none, and not half of one."""
    path = Path(db_url.removeprefix("sqlite:///"))
    if not db_url.startswith("sqlite:///") or path.exists():
        return
    aside = path.with_name(f"{path.name}.new")
    aside.unlink(missing_ok=True)
    with Gradebook(f"sqlite:///{aside}", course_id):
        pass
    os.replace(aside, path)


def register(assignment: Assignment) -> None:
    """Make sure that the gradebook knows the assignment with the cells and points of the release."""
    release = {grade_id(cell): cell for cell in assignment.read_release().cells if grade_id(cell)}
    with open_gradebook(assignment.root) as gradebook:
        try:
            known = gradebook.find_notebook(assignment.name, assignment.name)
            points = {cell.name: cell.max_score for cell in known.grade_cells}
            checksums = {cell.name: cell.checksum for cell in known.source_cells}
        except MissingEntry:
            points, checksums = {}, {}
    wanted = {name: float(cell.metadata.nbgrader.points) for name, cell in release.items() if is_grade(cell)}
    current = {name: compute_checksum(cell) for name, cell in release.items()}
    if points == wanted and checksums == current:
        return
    settings = nbgrader_settings.course_directory(assignment.root)
    if builder.release_bytes(assignment, settings.db_url) != assignment.release.read_bytes():
        raise CourseError(f"{assignment.release} is older than its source: run `make notebooks` first.")


def record(gradebook: Gradebook, assignment: Assignment, submission: Submission, result: Result) -> None:
    """One student's rows, committed together, and the autograded notebook."""
    name, student = assignment.name, submission.student
    gradebook.update_or_create_student(student)
    if submission.timestamp:
        gradebook.update_or_create_submission(name, student, timestamp=submission.timestamp)
    else:
        gradebook.update_or_create_submission(name, student)
    verdicts = {verdict.grade_id: verdict for verdict in result.verdicts}
    save_scores(gradebook, assignment, student, submission.notebook, verdicts)
    save_late_penalty(gradebook, assignment, student)
    shown = {cell_id: v for cell_id, v in verdicts.items() if cell_id in assignment.by_check_id}
    _write_autograded(assignment, submission, fill_outputs(submission.notebook, result.outputs, shown))


def save_scores(
    gradebook: Gradebook,
    assignment: Assignment,
    student: str,
    notebook: NotebookNode,
    verdicts: Mapping[str, CellVerdict],
) -> None:
    """Every graded cell ends with an explicit score. What a person gave by hand stays as it is.

    A cell is marked for grading by hand when it has no score yet, or when what was graded by hand has
    changed since: the automatic score, or the text of the answer.
    """
    remembered = _Answers(assignment, student)
    for grade in gradebook.find_submission_notebook(assignment.name, assignment.name, student).grades:
        verdict = verdicts[grade.name]
        changed = grade.auto_score != verdict.score or remembered.changed(notebook, grade.name)
        if grade.manual_score is None:
            grade.needs_manual_grade = verdict.score is None
        elif changed:
            grade.needs_manual_grade = True
        if grade.extra_credit in (None, 0.0, remembered.extra(grade.name)):  # not typed in by a person
            grade.extra_credit = verdict.extra
            remembered.set_extra(grade.name, verdict.extra)
        grade.auto_score = verdict.score
    for comment in gradebook.find_submission_notebook(assignment.name, assignment.name, student).comments:
        comment.auto_comment = _comment(notebook, comment.name)
    gradebook.db.commit()
    # Remembered after the commit: a run killed between the two asks for one look too many, not too few.
    remembered.save(notebook)


def save_late_penalty(gradebook: Gradebook, assignment: Assignment, student: str) -> None:
    """What nbgrader's AssignLatePenalties does, in a gradebook that is already open."""
    rule = AssignLatePenalties(config=nbgrader_settings.load(assignment.root))
    rule.init_plugin()
    late = gradebook.find_submission(assignment.name, student).total_seconds_late
    notebook = gradebook.find_submission_notebook(assignment.name, assignment.name, student)
    penalty = rule.plugin_inst.late_submission_penalty(student, notebook.score, late) if late > 0 else None
    notebook.late_submission_penalty = (
        None if penalty is None else rule._check_late_penalty(notebook, penalty)
    )
    gradebook.db.commit()


def _comment(notebook: NotebookNode, name: str) -> str | None:
    for cell in notebook.cells:
        if grade_id(cell) == name and is_solution(cell):
            return (
                "No response." if cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) else None
            )
    return None


class _Answers:
    """What was recorded last time for a student: a digest of each written answer, and the extra credit."""

    def __init__(self, assignment: Assignment, student: str):
        self.path = assignment.root / ".autograder" / "answers" / assignment.name / f"{student}.json"
        try:
            self.record = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.record = {"answers": {}, "extra": {}}

    def changed(self, notebook: NotebookNode, name: str) -> bool:
        before = self.record["answers"].get(name)
        return before is not None and before != _digests(notebook).get(name)

    def extra(self, name: str) -> float:
        return self.record["extra"].get(name, 0.0)

    def set_extra(self, name: str, value: float) -> None:
        self.record["extra"][name] = value

    def save(self, notebook: NotebookNode) -> None:
        self.record["answers"] = _digests(notebook)
        write_aside(self.path, json.dumps(self.record, indent=1))


def _digests(notebook: NotebookNode) -> dict[str, str]:
    written = [cell for cell in notebook.cells if is_grade(cell) and is_solution(cell)]
    return {grade_id(cell): hashlib.sha256(cell.source.encode()).hexdigest()[:16] for cell in written}


def _write_autograded(assignment: Assignment, submission: Submission, notebook: NotebookNode) -> None:
    folder = assignment.root / "autograded" / submission.student / assignment.name
    write_aside(folder / f"{assignment.name}.ipynb", nbformat.writes(notebook, version=4))
    if submission.timestamp:
        write_aside(folder / "timestamp.txt", f"{submission.timestamp.isoformat(sep=' ')} UTC")


def write_aside(path: Path, text: str) -> None:
    """Write a whole file or none: aside first, then moved into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
