"""What the jail shows is on a list, wherever the course and the autograder lie: looked for from inside."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from autograder.course import Assignment
from autograder.jail.outside import bubblewrap
from autograder.pool.pool import settings_for
from tests.conftest import ASSIGNMENTS, ROOT

SECRET_FILES = (
    "solutions/02_attention/hide-me.py",
    "submitted/ada/hide-me.py",
    "gradebook.db",
    "nbgrader_config.py",
)
LOOK = """
import json, os
found, folders_seen = [], 0
for place, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(place, name) not in ("/proc", "/dev", "/sys")]
    folders_seen += 1
    found += [os.path.join(place, name) for name in files if name in ("hide-me.py", "hide-me.db")]
    if os.path.basename(place) == "autograder" and place != "/opt/library/autograder" or "02_attention.key" in files:
        found += [os.path.join(place, name) for name in folders + files]
print(json.dumps([found, folders_seen]))
"""
IMPORTS = "import torch, transformers, matplotlib.pyplot, IPython, autograder.checks.checking\nprint(1)"
TRUTH = """
import coursekit.planted, os
folder = os.path.join(coursekit.planted.__path__[0], "__pycache__")
print(*(os.listdir(folder) if os.path.isdir(folder) else []))
from coursekit.planted.attention import truth
"""

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can lay a course below /usr")

# Run as root in a mount namespace of its own, in which the system's folders are covered by writable copies.
WORLD = """
import json, os, shutil, subprocess, sys
from dataclasses import replace
from pathlib import Path
world = json.loads(sys.argv[1])
for number, folder in enumerate(world["writable"]):
    room = Path(f"/mnt/{number}")
    room.mkdir()
    for part in ("upper", "work"):
        (room / part).mkdir()
    options = f"lowerdir={folder},upperdir={room}/upper,workdir={room}/work"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, folder], check=True)
for path in world["courses"]:
    for name in world["files"]:
        file = Path(path, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("the solution")
if world["packages"]:
    for name in ("autograder", "coursekit"):
        shutil.copytree(Path(world["root"], name), Path(world["packages"], name))
sys.path.append(world["root"])  # for `tests` alone
import autograder
from autograder.jail.outside.client import Server
from tests.conftest import COURSE_VIEW, SETTINGS
from tests.autograder.jail.conftest import LIMITS, run_in
assert Path(autograder.__file__).is_relative_to(world["packages"] or world["root"]), autograder.__file__
hidden = [Path(path) for path in world["courses"]]
limits = replace(LIMITS, cell_seconds=120, notebook_seconds=240)
with Server(limits, view=replace(COURSE_VIEW, hidden=tuple(hidden)), modules=SETTINGS.preload) as server:
    ran = run_in(server, *world["cells"])
print("RAN", json.dumps([[frame.error_text, ran.stream(number)] for number, frame in enumerate(ran.frames)]))
"""


def run_in_a_world(python: str, mounts: str, **world) -> list[tuple[str, str]]:
    """For each cell its error and what it printed, in a jail of a system that `mounts` and `world` have changed."""
    world = {
        "writable": ["/usr"],
        "courses": [],
        "packages": "",
        "root": str(ROOT),
        "files": SECRET_FILES,
    } | world
    script = f'mount -t tmpfs tmpfs /mnt && {mounts} exec "$0" -c "$1" "$2"'
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "bash",
            "-c",
            script,
            python,
            WORLD,
            json.dumps(world),
        ],
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert "RAN " in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(done.stdout.partition("RAN ")[2])


@needs_root
@pytest.mark.slow
def test_a_course_below_usr_is_not_shown(jail_possible):
    packages = sysconfig.get_paths()["purelib"]
    courses = ["/usr/src/app", "/usr/local/share/course", "/usr/local/lib/course", "/usr/lib/course"]
    courses += ["/usr/bin/course", f"/usr/lib/{os.uname().machine}-linux-gnu/course", f"{packages}/course"]
    imports, look = run_in_a_world(
        sys.executable,
        "",
        courses=courses,
        writable=["/usr", packages],
        cells=[IMPORTS, LOOK],
        packages=packages,
    )
    assert imports == ["", "1\n"]
    found, folders = json.loads(look[1])
    assert found == [] and folders > 1000


@needs_root
@pytest.mark.slow
def test_an_installation_in_the_system_s_python_is_not_shown(jail_possible):
    """Debian's own interpreter, with our packages in its site-packages and the course below /usr/src, as in an image."""
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    if not Path(python).exists() or sys.version_info[:2] != (3, 11):
        pytest.skip(f"the system has no {python}, into which this environment's packages would fit")
    place = f"/usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}/dist-packages"
    mounts = f"mount --bind {sysconfig.get_paths()['purelib']} {place} &&"
    imports, look, truth, where = run_in_a_world(
        python,
        mounts,
        writable=["/usr/src", place],
        packages=place,
        courses=["/usr/src/app"],
        cells=[IMPORTS, LOOK, TRUTH, "import sys, torch; print(sys.prefix, torch.__file__)"],
    )
    assert imports == ["", "1\n"]
    assert json.loads(look[1])[0] == []
    assert "not available while a notebook is graded" in truth[0] and truth[1] == "\n"
    assert where[1].startswith(f"/usr {place}/")


@pytest.mark.slow
def test_right_answers_of_the_package_cannot_be_imported(run):
    ran = run(
        TRUTH,
        "from coursekit import planted\nplanted.task('coursekit.planted.attention')",
        "import autograder.checks.judging\nprint(1)",
    )
    assert "not available while a notebook is graded" in ran.frames[0].error_text and ran.stream(0) == "\n"
    assert "not available while a notebook is graded" in ran.frames[1].error_text
    assert ran.value() == 1


@pytest.mark.slow
def test_who_practises_on_them_has_them(run_in_new_server):
    ran = run_in_new_server(
        [], TRUTH, "print(truth.__name__ == 'truth' and 1)", practice=("coursekit.planted.attention",)
    )
    assert ran.value() == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_only_the_notebook_that_teaches_testing_practises_on_them(name):
    wanted = ("coursekit.planted.attention",) if name == "12_one_corpus" else ()
    assert settings_for(ASSIGNMENTS[name], "bwrap").practice == wanted


def test_every_engine_hides_its_course(tmp_path):
    names = (
        "notebooks/02_attention/02_attention.ipynb",
        "solutions/02_attention/exercises.py",
        "nbgrader_config.py",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    assert settings_for(Assignment(tmp_path, "02_attention"), "bwrap").course == str(tmp_path.resolve())


@pytest.mark.slow
def test_a_course_within_what_is_shown_is_hidden_and_what_it_holds_itself_is_not(run_in_new_server, tmp_path):
    """An environment below a course below a folder that is shown."""
    for name in ("shown/table", "shown/course/hide-me.py", "shown/course/.venv/lib/module.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    shown, course = tmp_path / "shown", tmp_path / "shown" / "course"
    tmp_path.chmod(0o755)
    ran = run_in_new_server(
        [shown, course / ".venv" / "lib"],
        f"import json, os\nprint(json.dumps([os.listdir({str(shown)!r}), os.listdir({str(course)!r}), os.listdir('{course}/.venv/lib')]))",
        f"open('{course}/trace', 'w')",
        hidden=(course,),
    )
    listed = json.loads(ran.stream(0))
    assert sorted(listed[0]) == ["course", "table"] and listed[1:] == [[".venv"], ["module.py"]]
    assert "Read-only file system" in ran.frames[1].error_text


def test_what_is_shown_of_the_system_is_no_folder_for_everything():
    for folder in (
        "/usr",
        "/usr/src",
        "/usr/local",
        "/usr/local/lib",
        "/usr/share",
        "/opt",
        "/srv",
        "/home",
        "/var",
    ):
        assert Path(folder) not in bubblewrap._system_paths()
