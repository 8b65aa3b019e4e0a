"""What another user may read, where only permissions keep a notebook from the solution."""

import os
import sys
from pathlib import Path

import pytest

from autograder.errors import JailError
from autograder.jail.outside import as_nobody
from autograder.jail.outside.as_nobody import Place, others_reach
from autograder.jail.outside.bubblewrap import View
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can run a notebook as another user")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A closed folder; the interpreter of these tests may lie in another, so that a program of the system stands for it."""
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    (tmp_path / "course" / "data").mkdir(parents=True)
    (tmp_path / "course" / "data" / "table.csv").write_text("1")
    (tmp_path / "course").chmod(0o700)
    return tmp_path / "course"


def test_a_closed_folder_closes_what_lies_in_it(course):
    assert not others_reach(course) and not others_reach(course / "data" / "table.csv")
    assert others_reach(Path("/usr/bin"))


def test_it_shows_what_a_jail_would_show_and_answers_are_masked(course):
    view = View(
        packages=("coursekit",),
        readable=(course / "data",),
        hidden=(course,),
        answers=("coursekit.planted",),
        withheld=("coursekit.seq2seq.dot_context",),
    )
    place = Place(view)
    try:
        shown = sorted(path.name for path in place.library.iterdir())
        assert shown == ["autograder", "coursekit", "data"]
        assert [path.name for path in (place.library / "autograder").iterdir() if path.is_dir()] == ["checks"]
        assert (place.server / "inside" / "server.py").exists()
        assert "def dot_context" in (ROOT / "coursekit" / "seq2seq.py").read_text()
        assert "def dot_context" not in (place.library / "coursekit" / "seq2seq.py").read_text()
        answers = (place.library / "coursekit" / "planted" / "attention.py").read_bytes()
        assert answers == as_nobody.bubblewrap.NOT_WHILE_GRADED.read_bytes()
        assert place.scratch.stat().st_uid == as_nobody.NOBODY != place.library.stat().st_uid
        assert (place.library / "data" / "table.csv").stat().st_mode & 0o777 == 0o644
    finally:
        place.cleanup()
    assert not place.top.exists()


def test_a_course_that_everybody_can_read_is_refused():
    assert others_reach(Path("/usr/share"))
    with pytest.raises(JailError, match="/usr/share can be read by every user: `chmod go-rwx /usr/share`"):
        Place(View(hidden=(Path("/usr/share"),)))


def test_an_interpreter_that_only_root_can_run_is_refused(course, monkeypatch):
    hidden = course / "python"
    hidden.write_text("")
    monkeypatch.setattr(sys, "executable", str(hidden))
    with pytest.raises(JailError, match="can be run by root only"):
        Place(View(hidden=(course,)))
