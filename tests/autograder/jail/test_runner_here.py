"""One notebook cell by cell, as the runner in the jail makes its frames: run in this process."""

import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.checks.status import CellEnding, Ending
from autograder.jail.inside.limits import Limits
from autograder.jail.inside.outputs import Outputs
from autograder.jail.inside.watch import FINISHED, _own_status
from autograder.jail.outside import bubblewrap, cgroup
from autograder.jail.outside.bubblewrap import View
from autograder.jail.outside.client import FrameReader, _is_report
from autograder.jail.outside.jobs import cell, make_job
from autograder.untrusted.frames import read_frame
from tests.autograder.here import run_here

PICTURE = {"image/png": b"\x89PNG"}


def frames(*sources, limits=None, cases=None, files=None):
    cells = [cell(source, "x.y" if "check(" in source else "") for source in sources]
    outcome = run_here(make_job(cells, cases or {}, files=files or {}), limits)
    return [read_frame(frame, limits) for frame in outcome.frames]


def texts(frame):
    return [output.get("text") or output.get("data", {}).get("text/plain") for output in frame.outputs]


def test_a_cell_shows_what_it_prints_and_its_last_value_unless_a_semicolon_hides_it():
    shown = frames("print(1)\n2", "3;", "x = 4")
    assert [texts(frame) for frame in shown] == [["1\n", "2"], [], []]


def test_a_cell_that_runs_too_long_is_stopped_and_the_next_one_runs():
    slow, after = frames("while True:\n    pass", "1 + 1", limits=Limits(cell_seconds=0.1))
    assert slow.problem == CellEnding.TIMEOUT and texts(after) == ["2"]


def test_no_except_keeps_a_cell_running():
    (slow,) = frames(
        "while True:\n    try:\n        while True:\n            pass\n    except Exception:\n        pass",
        limits=Limits(cell_seconds=0.1),
    )
    assert slow.problem == CellEnding.TIMEOUT


def test_an_error_ends_its_cell_alone_and_of_a_long_traceback_the_end_is_kept():
    deep = "def f(n):\n    return f(n - 1) if n else 1 / 0\nf(60)"
    failed, after = frames(deep, "2")
    assert failed.problem == CellEnding.ERROR and texts(after) == ["2"]
    assert failed.error_text.endswith("ZeroDivisionError: division by zero")
    (failed,) = frames("raise ValueError('\\n'.join(map(str, range(100))))")
    assert failed.error_text.endswith("\n98\n99")


def test_a_cell_that_prints_without_end_is_cut_off_with_a_word():
    limits = Limits(stream_bytes=100)
    (frame,) = frames("for _ in range(100):\n    print('x' * 50)", limits=limits)
    (text,) = texts(frame)
    assert text.count("x") <= 100 and text.endswith("… the rest of stdout was not kept\n")


def test_so_many_pictures_are_kept_of_a_cell_and_the_first_ones():
    outputs = Outputs(Limits(images_per_cell=2))
    for _ in range(3):
        outputs.show("display_data", dict(PICTURE))
    kinds = [list(output["data"]) for output in outputs.take()]
    assert kinds == [["image/png"], ["image/png"], ["text/plain"]]
    outputs.show("display_data", dict(PICTURE))
    assert list(outputs.take()[0]["data"]) == ["image/png"]


def test_all_answers_of_a_notebook_share_the_room_for_them():
    """The third giant answer has no room; the small one after it has."""
    check = "from autograder.checks import check\ncheck('x.y', lambda case: np.zeros(case['n']))"
    cases = {"x.y": [{"n": 100_000}]}
    limits = Limits(output_bytes=4_000_000)
    *_, first, second, third = frames("import numpy as np", *[check] * 3, limits=limits, cases=cases)
    sizes = [
        [answer.arrays[""].size if answer.arrays else 0 for answer in frame.answers.values()]
        for frame in (first, second, third)
    ]
    assert sizes == [[100_000], [100_000], [0]]
    assert "too much to hand in" in next(iter(third.answers.values())).message


def test_each_check_is_asked_on_every_input_in_its_own_cell_only():
    check = "from autograder.checks import check\ncheck('x.y', lambda case: case['a'] * 2)"
    cases = {"x.y": [{"a": np.float32([n])} for n in range(3)]}
    asked, other = frames(check, check.replace("x.y", "x.z"), cases=cases)
    assert {where: answer.arrays[""].item() for where, answer in asked.answers.items()} == {
        ("", "x.y", n): 2 * n for n in range(3)
    }
    assert not other.answers


WAITS = {
    "input('name? ')": "input() waits for somebody to type",
    "import getpass\ngetpass.getpass()": "input() waits for somebody to type",
    "from time import sleep\nsleep(10**6)": "time.sleep(1e+06) was not begun: a cell may take 60 seconds",
    "import time\ntime.sleep(float('inf'))": "time.sleep(inf) was not begun",
}


@pytest.mark.parametrize(
    "source",
    ["!pip install -q einops", "%pip install einops", "!conda install -y x", "!python3 -m pip install x"],
)
def test_what_would_install_something_says_that_it_cannot(source):
    tried, after = frames(source, "_exit_code")
    assert texts(tried)[0].startswith("Nothing can be installed while a notebook is graded")
    assert texts(after) == ["1"]


@pytest.mark.parametrize(("source", "words"), WAITS.items())
def test_what_waits_for_nothing_says_so_at_once(source, words):
    failed, after = frames(source, "import time\ntime.sleep(0)\n2")
    assert words in failed.error_text and texts(after) == ["2"]


def test_files_lie_beside_the_notebook_byte_for_byte():
    (frame,) = frames("print(open('data/table.csv').read())", files={"data/table.csv": b"a,b\n1,2"})
    assert texts(frame) == ["a,b\n1,2\n"]


def test_how_a_notebook_ended_is_told_by_its_exit_status():
    """0 is a notebook that left by itself, before its end."""
    assert [_own_status(status) for status in (FINISHED << 8, 0, 1 << 8, 9, 11)] == [
        Ending.FINISHED,
        Ending.DIED,
        Ending.DIED,
        Ending.KILLED,
        Ending.DIED,
    ]


def test_a_course_s_folder_is_covered_also_where_it_lies_in_a_readable_one(monkeypatch, tmp_path):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: Path(sys.executable).resolve())
    (tmp_path / "shared" / "course").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o755)
    view = View(readable=(tmp_path / "shared",), hidden=(tmp_path / "shared" / "course",))
    command = bubblewrap.command("", [], 3, view)
    place = command.index(str(tmp_path / "shared" / "course"))
    assert command[place - 1] == "--tmpfs" and place > command.index(str(tmp_path / "shared"))


def test_frames_without_number_are_too_much(monkeypatch):
    monkeypatch.setattr("autograder.jail.outside.client.MOST_FRAMES", 3)
    for count, too_much in ((4, False), (5, True)):
        reader = FrameReader(Limits(), lambda frame: None)
        reader._rest += b"\0" * 8 * count  # the first is the greeting
        reader._cut()
        assert reader.too_much == too_much


def test_a_report_has_all_its_numbers():
    whole = {"status": "finished", "seconds": 1.0, "cpu_seconds": 1.0, "peak_bytes": 5}
    assert _is_report(whole)
    for name in whole:
        assert not _is_report({key: value for key, value in whole.items() if key != name})
    assert not _is_report(whole | {"seconds": "1"}) and not _is_report(whole | {"status": "well"})


def test_two_processors_for_a_notebook_are_two():
    settings = cgroup._settings(Limits(cores=2.0), 2)
    assert settings["cpu.max"] == "200000 100000" and settings["memory.swap.max"] == "0"
