"""Write verdicts into nbgrader's gradebook. One scoring function serves our command and nbgrader's own."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import sqlalchemy.exc
from nbformat import NotebookNode
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum

from autograder.course import Assignment, notebook_names
from autograder.errors import CourseError
from autograder.files import UNWRITABLE, aside, write_aside
from autograder.generating import require_current
from autograder.gradebook import rows
from autograder.gradebook.history import read_history, remember
from autograder.gradebook.queries import find_released, knows_notebook, seconds_late, total_score
from autograder.gradebook.renaming import rename_cells, rename_in_files
from autograder.nbgrader_patches import CellsChanged, find_schema_version, log_no_traceback, save_cells
from autograder.registered import registered_release
from autograder.results import CellVerdict, Result
from autograder.settings import SQLITE, course_directory, own_settings
from autograder.source import former_ids, grade_id, is_grade, is_solution, is_task
from autograder.untrusted.autograded import fill_outputs, shown_verdicts
from autograder.untrusted.submission import LeftOut, Submission, read_regular_file

REMEDIES = {
    "locked": "Another program is writing to the gradebook: try again when that program has finished. An interrupted run continues where it stopped.",
    "full": "Free some disk space and run the command again: it continues where it stopped.",
    "malformed": "The gradebook is damaged and was left unchanged: replace it with your last backup.",
    "readonly": "The gradebook is not writable: if a command was run with sudo, make the file yours again with `sudo chown`.",
    "not a database": "The gradebook is damaged and was left unchanged: replace it with your last backup.",
}


@contextmanager
def open_gradebook(root: Path) -> Iterator[Gradebook]:
    """The course's gradebook. A locked or damaged one, or a full disk, is a CourseError, and nothing is lost."""
    settings = course_directory(root)
    log_no_traceback()
    with explained_faults(settings.db_url):
        _create(settings.db_url, settings.course_id)
        with Gradebook(settings.db_url, settings.course_id) as gradebook:
            yield gradebook


@contextmanager
def explained_faults(db_url: str) -> Iterator[None]:
    """What a database raises becomes a CourseError that says what to do."""
    try:
        yield
    except (sqlalchemy.exc.DBAPIError, InvalidEntry) as error:
        fault = error if isinstance(error, sqlalchemy.exc.DBAPIError) else error.__context__
        if not isinstance(fault, sqlalchemy.exc.DBAPIError):
            raise
        remedy = next((sentence for sign, sentence in REMEDIES.items() if sign in str(fault.orig)), "")
        raise CourseError(f"The gradebook {db_url} cannot be used: {fault.orig}. {remedy}") from error


def _exists(db_url: str) -> bool:
    """Another database than SQLite has been made by a person."""
    return not db_url.startswith(SQLITE) or Path(db_url.removeprefix(SQLITE)).exists()


def _create(db_url: str, course_id: str) -> None:
    """Make a gradebook that is not there yet aside: a run killed meanwhile leaves none, and not half of one."""
    if _exists(db_url):
        return
    path = Path(db_url.removeprefix(SQLITE))
    find_schema_version()
    with aside(path) as new, Gradebook(f"{SQLITE}{new}", course_id):
        pass


def register(assignment: Assignment) -> NotebookNode:
    """Make sure that the gradebook knows the assignment with its cells and points. Returns what hand-ins are restored from."""
    notebook = registered_release(assignment)
    wanted = {grade_id(cell): cell for cell in notebook.cells if grade_id(cell)}
    with open_gradebook(assignment.root) as gradebook:
        try:
            registered = gradebook.find_notebook(assignment.notebook, assignment.name)
            points = {cell.name: cell.max_score for cell in (*registered.grade_cells, *registered.task_cells)}
            checksums = {cell.name: cell.checksum for cell in registered.source_cells}
        except MissingEntry:
            points, checksums = {}, {}
    worth = {
        name: float(cell.metadata.nbgrader.points)
        for name, cell in wanted.items()
        if is_grade(cell) or is_task(cell)
    }
    current = {name: compute_checksum(cell) for name, cell in wanted.items()}
    if points != worth or checksums != current:
        with registering({assignment: require_current(assignment).cells}):
            pass
    return notebook


@contextmanager
def registering(notebooks: Mapping[Assignment, NotebookNode]) -> Iterator[None]:
    """Register notebooks of an assignment, with their cells, in one transaction.

    The block runs before the commit, and an error in it undoes everything.
    """
    first = next(iter(notebooks))
    with open_gradebook(first.root) as gradebook, one_transaction(gradebook):
        gradebook.update_or_create_assignment(first.name)
        _remove_old_notebooks(gradebook, first)
        renamed = {}
        for notebook, cells in notebooks.items():
            renamed[notebook] = rename_cells(gradebook, notebook, cells)
            try:
                save_cells(gradebook, notebook.name, notebook.notebook, cells)
            except CellsChanged as error:  # there are submissions
                differing = ", ".join(error.names)
                raise CourseError(
                    f"{notebook.called} has gained or lost cells ({differing or 'their types have changed'}). "
                    "nbgrader's gradebook allows that only while nobody has handed in."
                ) from error
        yield
        for notebook, names in renamed.items():
            if names:
                rename_in_files(notebook, names)


def keep_up(assignment: Assignment) -> None:
    """Where cells have got other grade ids since the gradebook was written: register them under these."""
    for notebook in assignment.notebooks:
        former = former_ids(notebook.read_release()) if notebook.release.exists() else {}
        if former and not former.keys().isdisjoint(_registered(notebook)):
            register(notebook)


def _registered(assignment: Assignment) -> set[str]:
    """The names of the cells that the gradebook knows. Makes none."""
    if not _exists(course_directory(assignment.root).db_url):
        return set()
    with open_gradebook(assignment.root) as gradebook:
        try:
            return {
                cell.name
                for cell in gradebook.find_notebook(assignment.notebook, assignment.name).source_cells
            }
        except MissingEntry:
            return set()


def _remove_old_notebooks(gradebook: Gradebook, assignment: Assignment) -> None:
    """Those that the source no longer has, whose points would count. As nbgrader does; with scores they stay."""
    names = notebook_names(assignment.root, assignment.name) or [assignment.notebook]
    registered = gradebook.find_assignment(assignment.name)
    if not registered.submissions:
        for notebook in [notebook.name for notebook in registered.notebooks if notebook.name not in names]:
            gradebook.remove_notebook(notebook, assignment.name)


@contextmanager
def one_transaction(gradebook: Gradebook) -> Iterator[None]:
    """Commit everything at the end of the block, or nothing after an error. nbgrader's functions commit after each row.

    This is SQLAlchemy's "joining a session into an external transaction": within it a session's commit only flushes.
    """
    sessions = gradebook.db
    with gradebook.engine.connect() as connection, connection.begin():
        sessions.remove()
        sessions.configure(bind=connection)
        try:
            yield
        finally:
            sessions.remove()
            sessions.configure(bind=gradebook.engine)


class NobodyGraded(CourseError):
    """There is nothing to show of an assignment yet."""

    def __init__(self, assignment: Assignment):
        name, argument = assignment.name, assignment.argument
        super().__init__(f"Nobody's {name} has been graded: run `autograder grade {argument}` first.")


def recorded_students(assignment: Assignment) -> list[str]:
    """Who has a submission in the gradebook. Makes none."""
    if not _exists(course_directory(assignment.root).db_url):
        return []
    with open_gradebook(assignment.root) as gradebook:
        return sorted(one.student.id for one in gradebook.assignment_submissions(assignment.name))


class GradebookWriter:
    """Writes students' results into an open gradebook, and what goes with them into the course's folders.

    `folders` names the folders where nbgrader was given others than nbgrader_config.py has.
    """

    def __init__(self, gradebook: Gradebook, assignment: Assignment, folders: CourseDirectory | None = None):
        self.db = gradebook.db
        self.assignment = assignment
        self.folders = folders or assignment.settings
        self.released = find_released(self.db, assignment.name, assignment.notebook)
        others = [
            find_released(self.db, one.name, one.notebook)
            for one in assignment.notebooks
            if one != assignment and knows_notebook(self.db, one.name, one.notebook)
        ]
        self.rows = rows.Rows(self.db, self.released, others)
        self.penalties = AssignLatePenalties(config=own_settings(assignment.root))
        self.penalties.init_plugin()

    def record(self, batch: Iterable[tuple[Submission, Result]]) -> list[LeftOut]:
        """Of each student the rows, the autograded notebook and the reasons. The rows are committed together.

        Returns those whose files could not be written, which harms nobody else.
        """
        batch = list(batch)
        self.rows.find([submission.student for submission, _ in batch])
        remembered = [self.set_rows(submission, result.verdicts) for submission, result in batch]
        for recorded in remembered:
            recorded.announce()
        self.commit()
        # Remembered after the commit: a run killed between the two asks for one look too many, not too few.
        left = []
        for recorded, (submission, result) in zip(remembered, batch, strict=True):
            try:
                recorded.save()
                self._write_autograded(submission, result)
                remember(self.assignment, submission, result)
            except UNWRITABLE as error:
                where = f"{error.filename} cannot be written ({error.strerror})"
                remedy = "correct this and grade the student again"
                left.append(LeftOut(submission.student, f"the scores are recorded, but {where}: {remedy}."))
        return left

    def commit(self) -> None:
        """Write the rows that are still pending, and end the transaction."""
        self.rows.write()
        self.db.commit()

    def set_rows(self, submission: Submission, verdicts: Iterable[CellVerdict]) -> "RecordedCells":
        """One student's rows. Commits nothing."""
        handed_in = self.rows.hand_in(
            submission.student, submission.timestamp, time_unread=bool(submission.time_unread)
        )
        recorded = self.set_scores(handed_in, submission, verdicts)
        self._set_late_penalty(handed_in, submission.student)
        return recorded

    def set_scores(
        self, handed_in: rows.SubmissionRow, submission: Submission, verdicts: Iterable[CellVerdict]
    ) -> "RecordedCells":
        """Every graded cell gets an explicit score. What a person gave by hand stays as it is.

        A cell is marked for grading by hand when it has no score yet, or when what was graded by hand has
        changed since: the automatic score, the text of the answer, or the points.
        """
        recorded = RecordedCells(self.assignment, submission)
        history = read_history(self.assignment, submission.student)
        before = history.by_cell() if history else {}
        of_cell = {verdict.grade_id: verdict for verdict in verdicts}

        def grade(name: str, row: rows.Values) -> rows.Values:
            verdict = of_cell[name]
            changed = row["auto_score"] != verdict.score or name in recorded.changed
            if row["manual_score"] and name in before:  # 0 points are 0 points
                changed |= before[name].max_score != verdict.max_score
            by_hand = row["needs_manual_grade"] or changed
            values = {
                "auto_score": verdict.score,
                "needs_manual_grade": verdict.score is None if row["manual_score"] is None else by_hand,
            }
            last = before[name].extra if name in before else 0.0
            if row["extra_credit"] in (
                None,
                0.0,
                recorded.extra.get(name, 0.0),
                last,
            ):  # not typed in by a person
                recorded.extra[name] = values["extra_credit"] = verdict.extra
            return values

        self.rows.set_grades(handed_in, grade)
        self.rows.set_comments(handed_in, _comments(submission))
        return recorded

    def _set_late_penalty(self, handed_in: rows.SubmissionRow, student: str) -> None:
        """What nbgrader's AssignLatePenalties does, which opens the gradebook again for each student."""
        penalty, late = None, seconds_late(handed_in.timestamp, self.released.duedate, handed_in.extension)
        if late > 0:
            self.rows.write()  # the score is summed up there
            penalty = self._late_penalty(
                student, total_score(self.db, handed_in.notebook, self.released.graded), late
            )
        self.rows.set_late_penalty(handed_in, penalty)

    def _late_penalty(self, student: str, score: float, seconds: float) -> float | None:
        """What the instructor's rule says. Raises CourseError where it fails."""
        rule = self.penalties.plugin_inst
        try:
            penalty = rule.late_submission_penalty(student, score, seconds)
            if penalty is None:
                return None
            return min(max(penalty, 0), score)
        except Exception as error:
            raise CourseError(
                f"The rule for late penalties, {type(rule).__name__}, fails for {student}, who has {score:g} points "
                f"and is {seconds:g} s late: {type(error).__name__}: {error}. The rule is set in nbgrader_config.py."
            ) from error

    def _write_autograded(self, submission: Submission, result: Result) -> None:
        of_student = Path(submission.student) / self.assignment.name
        folder = self.assignment.root / self.folders.autograded_directory / of_student
        visible = shown_verdicts(self.assignment, submission.notebook, result)
        filled = fill_outputs(submission.notebook, result.outputs, visible)
        # On one line: nbformat.writes would check and indent it, for longer than the notebook ran.
        write_aside(folder / self.assignment.file, msgspec.json.encode(filled))
        if submission.timestamp:
            write_aside(folder / "timestamp.txt", f"{submission.timestamp.isoformat(sep=' ')} UTC")
        submitted = self.assignment.root / self.folders.submitted_directory / of_student
        # nbgrader names the page of feedback by it; a hand-in by mail has none.
        with suppress(OSError, ValueError):
            secret = read_regular_file(submitted, "submission_secret.txt", limit=1000).decode("ascii")
            write_aside(folder / "submission_secret.txt", secret)


def _comments(submission: Submission) -> dict[str, str | None]:
    """nbgrader's own: it says where nothing was written, and nothing elsewhere that may be the answer."""
    cells = (grade_id(cell) for cell in submission.notebook.cells if is_solution(cell))
    answered = {*submission.written, *submission.doubtful, *submission.unsure}
    return {name: None if name in answered else "No response." for name in cells}


class RecordedCells:
    """What was recorded of a student's cells last time: digests of the written answers, and the extra credit."""

    def __init__(self, assignment: Assignment, submission: Submission):
        self._path = assignment.kept("answers") / f"{submission.student}.json"
        written = [cell for cell in submission.graded if is_grade(cell) and is_solution(cell)]
        self._digests = {grade_id(cell): _digest(cell.source) for cell in written}
        try:
            before = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            before = {"answers": {}, "extra": {}}
        self._before = before
        self.extra: dict[str, float] = {**before["extra"]}
        self.changed = {
            name for name, digest in before["answers"].items() if digest != self._digests.get(name)
        }

    def announce(self) -> None:
        """Keep new extra credit before it is in the gradebook: after a kill in between it would seem typed in."""
        before = self._before["extra"]
        if any(extra != before.get(name, 0.0) for name, extra in self.extra.items()):
            with suppress(*UNWRITABLE):  # `save` will say so
                write_aside(self._path, json.dumps(self._before | {"extra": self.extra}))

    def save(self) -> None:
        """Replace what was remembered of the last grading, with which the next one is compared."""
        write_aside(self._path, json.dumps({"answers": self._digests, "extra": self.extra}))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
