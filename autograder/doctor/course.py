"""The course: its settings, its assignments, its gradebook, and how hand-ins come in."""

import os
import shlex
from pathlib import Path

from autograder.course import Assignment, assignments
from autograder.doctor.readiness import Level, Readiness
from autograder.errors import CourseError
from autograder.settings import SQLITE, course_directory, course_settings, limits, own_settings


def course(root: Path) -> Readiness:
    """Whether its settings and exercises can be read, and which assignments have been built."""
    try:
        settings = course_settings(root)
        found_assignments = assignments(root)
        limits(root)
        for assignment in found_assignments:
            _ = assignment.exercises
    except CourseError as error:
        return Readiness(Level.BAD, str(error))
    except Exception as error:  # whatever stands in the course's own files
        fault = f"{type(error).__name__}: {error}"
        return Readiness(Level.BAD, fault, "correct nbgrader_config.py or exercises.py.")
    if not found_assignments:
        where = f"{root / settings.source_directory} contains no assignment."
        return Readiness(Level.BAD, where, "create a folder NN_topic with a file NN_topic.py.")
    count = len({one.name for one in found_assignments})
    built = [assignment for assignment in found_assignments if is_built(assignment)]
    if not built:
        return Readiness(Level.NOTE, f"{count} assignments, none built.", "`autograder build`")
    unbuilt = list(dict.fromkeys(one.name for one in found_assignments if one not in built))
    if unbuilt:
        remedy = f"`autograder build {shlex.join(unbuilt)}`"
        return Readiness(Level.NOTE, f"{count} assignments; not built: {', '.join(unbuilt)}.", remedy)
    return Readiness(Level.GOOD, f"{settings.course_id or root.name}: {count} assignments, all built")


def is_built(assignment: Assignment) -> bool:
    """Whether there is a release, with an answer key where the assignment has exercises."""
    return assignment.release.exists() and (not assignment.exercises or assignment.key.exists())


def gradebook(root: Path) -> Readiness:
    """Whether it can be opened and written, and how many students it knows."""
    from autograder.gradebook.gradebook import open_gradebook  # optional: `python` names what is missing

    url = course_directory(root).db_url
    path = Path(url.removeprefix(SQLITE))
    if url.startswith(SQLITE) and not path.exists():
        remedy = "run `autograder students students.csv` before collecting, so that names are known."
        return Readiness(Level.NOTE, f"there is no gradebook yet ({path}): the first run creates it.", remedy)
    with open_gradebook(root) as opened:
        students = len(opened.students)
    if url.startswith(SQLITE) and not os.access(path, os.W_OK):
        return Readiness(Level.BAD, f"{path} is not writable.", "correct its permissions.")
    return Readiness(
        Level.GOOD, f"{students} students in {path if url.startswith(SQLITE) else 'the database'}"
    )


def submissions(root: Path) -> Readiness:
    """How many submissions of each assignment there are, and what cannot be graded as one."""
    from autograder.untrusted.submission import left_out, students  # optional: needs msgspec

    submitted = root / course_settings(root).submitted_directory
    counts = {
        assignment.name: len(list(students(submitted, assignment.name))) for assignment in assignments(root)
    }
    left = [hand_in for name in counts for hand_in in left_out(submitted, name)]
    there = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
    if left:
        named = "; ".join(map(str, left[:3])) + (" …" if len(left) > 3 else "")
        return Readiness(Level.NOTE, f"{there or 'none'}; {len(left)} cannot be graded.", named)
    if not there:
        remedy = "`nbgrader collect`, or `autograder collect FILE.zip` for a download from Moodle or Canvas."
        return Readiness(Level.NOTE, f"none in {submitted.name}/ yet.", remedy)
    return Readiness(Level.GOOD, there)


def exchange(root: Path) -> Readiness:
    """Whether nbgrader's exchange can be written. A course does without one if it collects from Moodle or Canvas."""
    config = own_settings(root)
    folder = Path(config.get("Exchange", {}).get("root", "/usr/local/share/nbgrader/exchange"))
    without = (
        "work without an exchange: use `autograder collect FILE.zip` and `autograder feedback NAME --zip`."
    )
    if "ExchangeFactory" in config:
        return Readiness(
            Level.GOOD,
            "nbgrader_config.py sets an exchange other than nbgrader's own, which `doctor` cannot test",
        )
    if not folder.is_dir():
        return Readiness(Level.NOTE, f"none: there is no {folder} (c.Exchange.root).", without)
    if not os.access(folder, os.W_OK | os.X_OK):
        return Readiness(Level.NOTE, f"{folder} is not writable.", f"`chmod ugo+rwx {folder}`; or {without}")
    if not course_settings(root).course_id:
        return Readiness(
            Level.NOTE, "c.CourseDirectory.course_id is not set.", "set this option; the exchange needs it."
        )
    return Readiness(Level.GOOD, str(folder))
