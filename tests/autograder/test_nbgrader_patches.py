"""Each change to nbgrader is still needed, and still works: every symptom is seen without our configuration and not with it.

Where the first test fails, nbgrader has fixed a symptom: delete the patch. Where the second one does, nbgrader has moved what the
patch replaces.
"""

import inspect
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader import api as gradebook_api
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.apps import api
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeReleaseFeedback, collect
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, BaseHandler
from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler
from nbgrader.validator import Validator
from traitlets.config import Config

from autograder import nbgrader_steps
from autograder.gradebook.gradebook import one_transaction
from autograder.nbgrader_patches import find_schema_version
from autograder.nbgrader_steps import Generate, Grade
from tests.autograder import nbgrader_symptoms as symptoms
from tests.conftest import ROOT

SYMPTOMS = [
    *(symptom.__name__ for symptom in symptoms.IN_ORDER),
    "a_students_script_is_in_the_page",
    "a_students_file_may_run_scripts",
    "formgraders_pages_may_load_anything",
    "an_id_becomes_a_script",
    "an_answer_to_a_script_is_a_page",
    "a_link_runs_a_students_program",
]


def seen(folder: Path, *arguments: str) -> dict[str, bool]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.autograder.nbgrader_symptoms", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(folder / "none")},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def without_us(tmp_path_factory) -> dict[str, bool]:
    return seen(tmp_path_factory.mktemp("nbgrader"))


@pytest.fixture(scope="module")
def with_us(tmp_path_factory) -> dict[str, bool]:
    return seen(tmp_path_factory.mktemp("configured"), "configured")


@pytest.mark.slow
@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_nbgrader_still_needs_the_patch(symptom, without_us):
    assert without_us[symptom], "nbgrader no longer needs this patch: delete it"


@pytest.mark.slow
@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_the_patch_still_works(symptom, with_us):
    assert not with_us[symptom]


def test_what_is_replaced_is_called_as_before():
    """Including when a process reads its configuration twice."""
    for _ in range(2):
        nbgrader_steps.configure(Config())
    for owner, name in (
        (api, "capture_log"),
        (api.NbGraderAPI, "get_submitted_students"),
        (api.NbGraderAPI, "get_submitted_timestamp"),
        (CourseDirectory, "get_existing_timestamp"),
        (utils, "parse_utc"),
        (gradebook_api, "get_alembic_version"),
        (ExchangeReleaseFeedback, "copy_files"),
        (Validator, "_get_failed_cells"),
        (BaseHandler, "render"),
        (BaseApiHandler, "set_default_headers"),
        (FormgraderHandler, "get"),
    ):
        ours = getattr(owner, name)
        original = getattr(ours, "of_nbgrader", ours.__wrapped__)
        file = Path(original.__code__.co_filename)
        assert not file.is_relative_to(ROOT / "autograder"), f"{name} was wrapped twice"
        theirs = inspect.signature(original).parameters.values()
        called = [one.name for one in theirs if one.kind is not one.VAR_KEYWORD]
        inspect.signature(ours, follow_wrapped=False).bind(*called)


@pytest.mark.parametrize("converter", [Generate, Grade])
def test_what_our_converters_override_has_the_same_parameters(converter):
    theirs = converter.__mro__[1]
    overridden = [
        name for name, value in vars(converter).items() if inspect.isfunction(value) and hasattr(theirs, name)
    ]
    assert "start" in overridden or "init_notebooks" in overridden
    for name in overridden:
        ours, original = (
            list(inspect.signature(getattr(one, name)).parameters) for one in (converter, theirs)
        )
        assert ours == original, name


def test_a_course_keeps_the_exchange_that_its_hub_has_set():
    config = Config()
    nbgrader_steps.configure(config)
    assert "ExchangeFactory" not in config


def test_rows_of_nbgrader_s_are_committed_together_or_not_at_all(tmp_path):
    def names() -> list[str]:
        with Gradebook(db_url) as gradebook:
            return sorted(assignment.name for assignment in gradebook.assignments)

    find_schema_version()
    db_url = f"sqlite:///{tmp_path}/gradebook.db"
    with Gradebook(db_url) as gradebook:
        gradebook.add_assignment("first")
        gradebook.db.rollback()
        assert names() == ["first"], "nbgrader no longer commits each row: delete one_transaction"
        with pytest.raises(KeyboardInterrupt), one_transaction(gradebook):
            gradebook.add_assignment("second")
            gradebook.add_assignment("third")
            raise KeyboardInterrupt
        assert names() == ["first"]
        with one_transaction(gradebook):
            gradebook.add_assignment("second")
            assert names() == ["first"]
        assert names() == ["first", "second"]
        gradebook.add_assignment("fourth")
    assert names() == ["first", "fourth", "second"]


def test_a_due_date_is_read_with_its_zone_and_never_guessed():
    nbgrader_steps.configure(Config())
    for text in ("2026-10-05 23:58 +0200", "2026-10-05T23:58 CEST", "Oct 5 2026 9:58 PM", "2026-10-05 21:58"):
        assert utils.parse_utc(text) == datetime(2026, 10, 5, 21, 58), text
    assert utils.parse_utc("2026-10-05") == datetime(2026, 10, 5) and utils.parse_utc(None) is None
    with pytest.raises(ValueError, match="several places use"):
        utils.parse_utc("2026-10-05 23:58 CST")
    assert collect.parse_utc("2026-10-05 23:58:00 CST"), "a folder of the exchange stops no other"
