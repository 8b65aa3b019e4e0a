"""What a release lends: the solution's functions, encrypted, and the keys that an instructor publishes.

Each notebook has a key of its own. In a class they are made from a secret of the course's folder, which is in no release
and in no repository; for those who learn alone, whose release has the keys in it, from the notebook's name.
"""

import secrets
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from autograder.checks.lent_file import KEY_BYTES, key_text, seal
from autograder.course import Assignment, assignments
from autograder.errors import CourseError
from autograder.files import kept_secret
from autograder.grading.reference import solution_sources

PUBLIC = b"for everybody"


def lent_bytes(assignment: Assignment, alone: bool = False) -> bytes | None:
    """The file beside the release; None where nothing is lent. `alone`: in a release for those who learn alone."""
    who = assignment.settings.lend
    if not assignment.exercises or who == "never" or (who == "alone" and not alone):
        return None
    public = alone or who == "always"
    key = _derived(PUBLIC if public else _secret(assignment.root), assignment)
    opens = "" if public else _opens(assignment)
    return seal(assignment.called, solution_sources(assignment), key, opens, publish=public).to_bytes()


def published_key(assignment: Assignment, early: bool = False) -> str:
    """The key of one notebook. Raises CourseError where none is to be published, or not yet and not `early`."""
    who, opens = assignment.settings.lend, _opens(assignment)
    if who != "key":
        raise CourseError(
            f'nbgrader_config.py sets c.Autograder.lend = "{who}", but a key can be published only if it is "key". Change the setting, run '
            "`autograder build`, and hand out the release."
        )
    if not assignment.lent.exists():
        raise CourseError(f"{assignment.lent} is missing: run `autograder build` and hand out the release.")
    if opens and not early and datetime.now(UTC) < datetime.fromisoformat(opens):
        raise CourseError(
            f"{assignment.called} can be borrowed from {opens} on (c.Autograder.lend_from); --early prints the key now."
        )
    return key_text(_derived(_secret(assignment.root), assignment))


def _opens(assignment: Assignment) -> str:
    """From when the key of an assignment is published, or "". Raises CourseError for a time of one that there is not."""
    times = assignment.settings.lend_from
    if unknown := sorted(set(times) - {other.name for other in assignments(assignment.root)}):
        raise CourseError(
            f"nbgrader_config.py sets c.Autograder.lend_from for {', '.join(unknown)}: no such assignment."
        )
    return times.get(assignment.name, "")


def secret_file(root: Path) -> Path:
    """Where a course keeps the secret from which the keys of its notebooks are derived. Git ignores the folder."""
    return root / ".autograder" / "lend.secret"


def _secret(root: Path) -> bytes:
    """The course's secret; made when it is first needed."""
    return kept_secret(secret_file(root), f"{secrets.token_urlsafe(KEY_BYTES)}\n".encode()).strip()


def _derived(secret: bytes, assignment: Assignment) -> bytes:
    about = f"lend {assignment.settings.course_id} {assignment.called}".encode()
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=about).derive(secret)
