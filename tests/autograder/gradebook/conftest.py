"""A course to which downloads are brought."""

from datetime import datetime

import pytest

from tests.autograder.here import NAME


@pytest.fixture
def course(small):
    """The small course, due on 5 October 2026 at 12:00, with three people."""
    people = {"ada": ("Ada", "Lovelace"), "bob": ("Bob", "Müller"), "cem": ("Cem", "Öz-Kaya")}
    with small.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2026, 10, 5, 12))
        for student, (first, last) in people.items():
            gradebook.update_or_create_student(
                student, first_name=first, last_name=last, email=f"{student}@example.org"
            )
        gradebook.update_or_create_student("bob", lms_user_id="4711")
    return small
