"""What an instructor decides about lending: nobody, those who learn alone, whoever has the key, everybody."""

import json
import re
import shutil
import stat
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.authoring.lending import lent_bytes, published_key, secret_file
from autograder.authoring.student_zip import write_student_zip
from autograder.checks import lent_file
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.grading.reference import solution_sources
from autograder.settings import course_settings
from autograder.source import grade_id
from tests.autograder.authoring.conftest import run
from tests.conftest import ASSIGNMENTS, ROOT

NAME = "01_describing"
CONFIG = "nbgrader_config.py"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """course(lend settings) is a copy of the example course with them."""

    def make(*lines):
        folder = tmp_path / "course"
        if not folder.exists():
            shutil.copytree(ROOT / "examples" / "statistics", folder)
        settings = (ROOT / "examples" / "statistics" / CONFIG).read_text()
        (folder / CONFIG).write_text("\n".join([settings, *lines]))
        course_settings.__globals__["_course_settings"].cache_clear()
        monkeypatch.chdir(folder)
        return Assignment(folder, NAME)

    return make


def zipped(one, **options):
    with zipfile.ZipFile(write_student_zip(one.root / "out.zip", **options)) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def lent(one, content):
    (file,) = [content[name] for name in content if name.endswith(f"{one.name}.lent")]
    path = one.root / "out.lent"
    path.write_bytes(file)
    return lent_file.read(path)


def nothing_readable(one, content):
    answers = [line.strip() for source in solution_sources(one).values() for line in source.splitlines()]
    released = one.read_release()
    known = "\n".join(cell.source for cell in released.cells)
    secret = [line.encode() for line in answers if len(line) > 20 and line not in known]
    assert secret
    return not any(line in part for line in secret for part in content.values())


@pytest.mark.slow
def test_unless_the_instructor_says_otherwise_only_those_who_learn_alone_may_borrow(course):
    one = course()
    assert lent_bytes(one) is None
    assert not [name for name in zipped(one) if name.endswith(".lent")]
    assert not secret_file(one.root).exists()
    alone = zipped(one, alone=True)
    file = lent(one, alone)
    assert file.functions(file.key) == solution_sources(one)
    assert zipped(one, alone=True) == alone
    with pytest.raises(CourseError, match='c.Autograder.lend = "alone"'):
        published_key(one)


@pytest.mark.slow
def test_with_a_key_nothing_is_readable_until_it_is_published(course):
    one = course('c.Autograder.lend = "key"')
    content = zipped(one)
    file = lent(one, content)
    assert file.key == "" and nothing_readable(one, content)
    secret = secret_file(one.root)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert not any(secret.read_bytes().strip() in part for part in content.values())
    assert zipped(one) == content, "the same bytes each time"
    one.lent.write_bytes(lent_bytes(one))
    (key,) = re.findall(r'^borrow\(key="([\w-]{43})"\)$', run("lend", NAME).output, re.MULTILINE)
    assert file.functions(key) == solution_sources(one)
    other = Assignment(one.root, "02_resampling")
    with pytest.raises(lent_file.WrongKey):
        lent(other, content).functions(key)
    secret.unlink()  # a new term: last year's key opens nothing
    with pytest.raises(lent_file.WrongKey):
        lent(one, zipped(one)).functions(key)


def test_those_who_learn_alone_have_another_key_than_a_class(course):
    one = course('c.Autograder.lend = "key"')
    public = lent(one, zipped(one, alone=True)).key
    with pytest.raises(lent_file.WrongKey):
        lent(one, zipped(one)).functions(public)


def test_a_time_holds_the_key_back_and_is_told(course):
    later, before = "2999-12-01T18:00+01:00", "2020-12-01T18:00+01:00"
    setting = 'c.Autograder.lend = "key"\nc.Autograder.lend_from = {"%s": "%s"}'
    one = course(setting % (NAME, later))
    one.lent.write_bytes(lent_bytes(one))
    assert lent(one, zipped(one)).opens == later
    with pytest.raises(CourseError, match=re.escape(f"can be borrowed from {later} on")):
        run("lend", NAME)
    assert "borrow(key=" in run("lend", NAME, "--early").output
    course(setting % (NAME, before))
    assert "borrow(key=" in run("lend", NAME).output


def test_a_time_for_no_assignment_is_an_error(course):
    one = course(
        'c.Autograder.lend = "key"\nc.Autograder.lend_from = {"1_describing": "2026-12-01T18:00+01:00"}'
    )
    with pytest.raises(CourseError, match="lend_from for 1_describing: no such assignment"):
        lent_bytes(one)


def test_always_and_never(course):
    one = course('c.Autograder.lend = "always"')
    file = lent(one, zipped(one))
    assert file.functions(file.key) == solution_sources(one)
    one = course('c.Autograder.lend = "never"')
    assert not [name for name in zipped(one, alone=True) if name.endswith(".lent")]


@pytest.mark.parametrize(
    "line, words",
    [
        ('c.Autograder.lend = "sometimes"', "must be one of"),
        ('c.Autograder.lend_from = {"01_describing": "tomorrow"}', "must be a time with its zone"),
        ('c.Autograder.lend_from = {"01_describing": "2026-12-01T18:00"}', "must be a time with its zone"),
    ],
)
def test_a_setting_that_means_nothing_is_an_error(course, line, words):
    with pytest.raises(CourseError, match=words):
        course(line).settings  # noqa: B018


@pytest.mark.slow
def test_build_makes_it_and_takes_it_away(course):
    one = course('c.Autograder.lend = "key"')
    assert run("build", NAME, "--check").exit_code == 1
    run("build", NAME, "--seeds", "2")
    assert one.lent.read_bytes() == lent_bytes(one)
    assert one.lent.name not in one.handed_out, "no jail has it"
    assert run("build", NAME, "--check").exit_code == 0
    course('c.Autograder.lend = "never"')
    assert run("build", NAME, "--check").exit_code == 1
    run("build", NAME, "--seeds", "2")
    assert not one.lent.exists()


@pytest.mark.slow
def test_a_hand_in_that_borrows_earns_nothing_for_what_is_lent(course):
    from autograder.grading.engine import Engine
    from autograder.grading.store import Store
    from autograder.registered import registered_release
    from autograder.untrusted.submission import read_submission

    one = course('c.Autograder.lend = "always"')
    one.lent.write_bytes(lent_bytes(one))
    notebook = one.read_release()
    exercise, other = list(one.exercises.values())[:2]
    for place, cell in enumerate(notebook.cells):
        if grade_id(cell) == exercise.solution_id:
            borrowed = f'from autograder.checks import borrow\nborrow("{exercise.name}")'
            notebook.cells.insert(place + 1, new_code_cell(borrowed))
            break
    for cell in notebook.cells:
        if grade_id(cell) == other.solution_id:
            cell.source = solution_sources(one)[other.name]
    folder = one.root / "submitted" / "ada" / NAME
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{NAME}.ipynb")
    with Engine(one, Store(one.root / "store"), "none") as engine:
        result = engine.grade(read_submission(folder, "ada", one, registered_release(one)))
    verdicts = {verdict.grade_id: verdict for verdict in result.verdicts}
    assert verdicts[exercise.check_id].status == "missing" and verdicts[exercise.check_id].score == 0
    assert verdicts[other.check_id].score == verdicts[other.check_id].max_score > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_each_notebook_of_this_course_lends_all_its_exercises(name):
    one = ASSIGNMENTS[name]
    content = lent_bytes(one, alone=True)
    assert content == lent_bytes(one, alone=True)
    file = lent_file.LentFile(**json.loads(content))
    assert file.functions(file.key).keys() == one.exercises.keys()
