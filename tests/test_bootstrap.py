"""`make lab` on machines that are not ready, were interrupted, or have everything already."""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = ("pyproject.toml", "course/pyproject.toml", "constraints.txt", "requirements-models.txt")


@pytest.fixture
def course(tmp_path):
    for folder in ("tools", "course"):
        (tmp_path / folder).mkdir()
    for name in (*FILES, "tools/bootstrap.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "tools" / "jupyterlab", tmp_path / "tools" / "jupyterlab")
    return tmp_path


@pytest.fixture
def bootstrap(course, monkeypatch):
    """The script in a course of its own, where packages are installed in no time: `done` lists what was."""
    spec = importlib.util.spec_from_file_location("bootstrap", course / "tools" / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.done = []

    def make_venv():
        module.done.append("venv")
        shutil.rmtree(module.VENV, ignore_errors=True)
        module.BIN.mkdir(parents=True)
        module.PYTHON.write_text("#!/bin/sh\nexit 1\n")  # a Python whose pip fails
        module.PYTHON.chmod(0o755)

    module.really_pip_install = module.pip_install
    monkeypatch.setattr(module, "make_venv", make_venv)
    monkeypatch.setattr(module, "pip_install", lambda what, *arguments: module.done.append(what))
    monkeypatch.setattr(module, "torch_index", lambda: [])
    module.really_asks_pip = module.torch_brings_gpu_libraries
    monkeypatch.setattr(module, "torch_brings_gpu_libraries", lambda: False)
    monkeypatch.setattr(module, "works", lambda *command: True)
    return module


EVERYTHING = ["PyTorch", "the course", "the autograder", "the model weights"]


def test_an_empty_folder_gets_everything_torch_first(bootstrap):
    assert bootstrap.main([]) == 0
    assert bootstrap.done == ["venv", *EVERYTHING]
    below = bootstrap.VENV / "share" / "jupyter"
    assert json.loads((below / "lab/settings/overrides.json").read_text())
    assert (below / "labextensions/exercise-page/package.json").is_file()
    assert "skipping" in (bootstrap.VENV / "etc/ipython/ipython_kernel_config.py").read_text()


def test_the_second_run_installs_nothing(bootstrap):
    bootstrap.main([])
    bootstrap.done.clear()
    assert bootstrap.main([]) == 0
    assert bootstrap.done == []


def test_students_have_tool_and_course_in_one(bootstrap, course):
    shutil.rmtree(course / "course")
    assert bootstrap.main([]) == 0
    assert bootstrap.done == ["venv", *(what for what in EVERYTHING if what != "the autograder")]


@pytest.mark.parametrize("name", FILES)
def test_a_changed_list_is_installed_without_starting_over(bootstrap, course, name):
    bootstrap.main([])
    bootstrap.done.clear()
    with (course / name).open("a") as file:
        file.write("# changed\n")
    assert bootstrap.main([]) == 0
    assert bootstrap.done == EVERYTHING


def test_an_interrupted_installation_goes_on(bootstrap, monkeypatch, capsys):
    """What is there stays, but for the package of which pip had copied a part."""

    def interrupted(what, *arguments):
        for name, files in (("whole-1.0", ("METADATA", "INSTALLER", "RECORD")), ("half-1.0", ("METADATA",))):
            folder = bootstrap.VENV / "lib" / "python3.11" / "site-packages" / f"{name}.dist-info"
            folder.mkdir(parents=True)
            for file in files:
                (folder / file).touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "pip_install", interrupted)
        assert "goes on from here" in bootstrap.main([])
    bootstrap.done.clear()
    assert bootstrap.main([]) == 0
    assert bootstrap.done == EVERYTHING, "no new environment"
    assert [path.name for path in bootstrap.VENV.rglob("*.dist-info")] == ["whole-1.0.dist-info"]
    assert "Going on" in capsys.readouterr().out


def test_what_it_takes_is_said_before_anything_is_installed(bootstrap, monkeypatch, capsys):
    said = []
    install = bootstrap.pip_install

    def pip_install(what, *arguments):
        said.append(capsys.readouterr().out)
        install(what, *arguments)

    monkeypatch.setattr(bootstrap, "pip_install", pip_install)
    bootstrap.main([])
    assert "GB of disk" in said[0] and "minutes" in said[0]


@pytest.mark.parametrize(
    ("needs", "gpu"), [(["nvidia-cublas==13; platform_system == 'Linux'", "sympy"], True), (["sympy"], False)]
)
def test_a_torch_with_gpu_libraries_is_recognised(bootstrap, monkeypatch, needs, gpu):
    """A mirror of PyPI without wheels for the CPU alone brought 6 GB, and nobody had said so."""
    report = json.dumps({"install": [{"metadata": {"requires_dist": needs}}]})
    monkeypatch.setattr(bootstrap.sys, "platform", "linux")
    monkeypatch.setattr(bootstrap.subprocess, "run", lambda *a, **k: SimpleNamespace(stdout=report))
    assert bootstrap.really_asks_pip() is gpu


def test_a_torch_with_gpu_libraries_is_announced_and_needs_more_room(bootstrap, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap, "torch_brings_gpu_libraries", lambda: True)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda path: usage(99e9, 90e9, 9e9))
    assert "needs 12 GB" in bootstrap.main([])
    assert "instead of 2" in capsys.readouterr().out
    assert bootstrap.done == ["venv"]


def test_pip_says_what_it_does(bootstrap, monkeypatch):
    commands = []
    monkeypatch.setattr(
        bootstrap.subprocess,
        "run",
        lambda command, **rest: commands.append(command) or SimpleNamespace(returncode=0),
    )
    bootstrap.really_pip_install("the course", "-e", ".")
    assert not {"--quiet", "-q"} & set(commands[0])


def test_a_moved_folder_gets_a_new_environment(bootstrap, monkeypatch):
    bootstrap.main([])
    bootstrap.done.clear()
    text = bootstrap.INSTALLED.read_text()
    bootstrap.INSTALLED.write_text(text.replace(str(bootstrap.ROOT), "/somewhere/else"))
    assert bootstrap.main([]) == 0
    assert bootstrap.done == ["venv", *EVERYTHING]


def test_a_package_that_cannot_be_had_is_one_sentence(bootstrap, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "pip_install", bootstrap.really_pip_install)
        assert bootstrap.main([]).startswith("Installing PyTorch failed")
    bootstrap.done.clear()
    assert bootstrap.main([]) == 0
    assert bootstrap.done == EVERYTHING, "what was there before is kept"


@pytest.mark.slow
def test_where_tool_and_course_were_one_distribution_the_command_stays(bootstrap, course, monkeypatch):
    """pip removes that distribution with its command `autograder`, wherever the tool's new one already is."""
    for package in ("autograder", "coursekit"):
        shutil.copytree(ROOT / package, course / package, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", bootstrap.VENV], check=True)
    monkeypatch.setenv("PIP_NO_DEPS", "1")
    now = (course / "pyproject.toml").read_text()
    then = now.replace('"autograder-notebooks"', '"words-in-context"')
    then = then.replace('["autograder*"]', '["coursekit*", "autograder*"]')
    (course / "pyproject.toml").write_text(then)
    bootstrap.really_pip_install("both", "-e", ".")
    (course / "pyproject.toml").write_text(now)

    def only_what_lies_here(what, *arguments):
        if "-e" in arguments:
            bootstrap.really_pip_install(what, *arguments)

    monkeypatch.setattr(bootstrap, "pip_install", only_what_lies_here)
    assert bootstrap.main([]) == 0

    def said(*arguments):
        command = [bootstrap.PYTHON, *arguments]
        return subprocess.run(command, cwd=course.parent, capture_output=True, text=True, check=True).stdout

    listed = json.loads(said("-m", "pip", "list", "--editable", "--format", "json"))
    assert {one["name"]: Path(one["editable_project_location"]) for one in listed} == {
        "autograder-notebooks": course,
        "words-in-context": course / "course",
    }
    paths = said("-c", "import autograder, coursekit; print(autograder.__file__, coursekit.__file__)").split()
    assert [Path(path).parent for path in paths] == [course / "autograder", course / "coursekit"]
    assert [path.name for path in bootstrap.BIN.glob("autograder*")] != []


def test_an_old_python_is_told_which_one_is_needed(bootstrap, monkeypatch):
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 10, 13))
    message = bootstrap.main(["lab"])
    assert "needs Python 3.11 or newer and this is Python 3.10" in message
    assert bootstrap.done == []


def test_a_full_disk_is_noticed_before_anything_is_downloaded(bootstrap, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda path: usage(9e9, 8e9, 1e9))
    assert "needs 5 GB" in bootstrap.main([])
    assert bootstrap.done == []


@pytest.mark.parametrize(("user", "told"), [(0, True), (1000, False)])
def test_only_root_allows_root(bootstrap, monkeypatch, user, told):
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: user)
    command = bootstrap.lab_command("/course", ["--no-browser"])
    assert ("--allow-root" in command) == told
    assert command[-1] == "--no-browser"


def test_an_unknown_word_is_refused_before_anything_happens(bootstrap):
    assert "not `labb`" in bootstrap.main(["labb"])
    assert bootstrap.done == []
