"""The language of a notebook, and the kernel that runs it where that is not Python.

The name of a kernel is private to each machine. So Python notebooks run in this environment's Python, and others in the
kernel of that name, or else in another one of the same language.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from autograder.errors import CourseError

if TYPE_CHECKING:
    from jupyter_client.kernelspec import KernelSpecManager

USUAL = ("", "python3", "python")
PYTHON = re.compile(r"i?python", re.IGNORECASE)
OTHERS = {
    r"ir\d*|.*\bxr\b": "R",
    r"julia.*": "Julia",
    r"octave|xoctave": "Octave",
    r"matlab.*": "MATLAB",
    r"bash": "Bash",
    r"zsh": "Zsh",
    r"powershell|\.net-powershell": "PowerShell",
    r"xcpp.*|xeus-cling.*": "C++",
    r"i?java|jjava|rapaio.*": "Java",
    r"i?javascript|node.*|jslab": "JavaScript",
    r"typescript|deno|tslab": "TypeScript",
    r"scala.*|almond.*|spylon.*": "Scala",
    r"kotlin": "Kotlin",
    r"i?ruby": "Ruby",
    r"rust|evcxr.*": "Rust",
    r"i?haskell": "Haskell",
    r"gophernotes|gonb": "Go",
    r"\.net-csharp": "C#",
    r"\.net-fsharp": "F#",
    r"stata|nbstata": "Stata",
    r"xsql.*|sqlite.*": "SQL",
}
"""The languages of kernels that are known by their names, of which a notebook need not say more."""

INSTALL = {
    "r": "`apt-get install r-cran-irkernel` on Debian and Ubuntu, `conda install r-irkernel` with conda, or in R itself "
    '`install.packages("IRkernel"); IRkernel::installspec()`',
    "julia": 'in Julia, `using Pkg; Pkg.add("IJulia")`',
    "octave": "`pip install octave_kernel`",
    "bash": "`pip install bash_kernel`, then `python -m bash_kernel.install`",
}
"""By language, in small letters."""
ANY_KERNEL = "see https://github.com/jupyter/jupyter/wiki/Jupyter-kernels"

SYSTEM = ("/usr/lib", "/usr/local/lib", "/usr/share", "/usr/local/share", "/etc")
"""Where a system keeps what a language needs, in a folder that has its name."""
PARTS = ("bin", "lib", "lib64", "libexec", "share", "etc", "ssl", "pyvenv.cfg")
"""Of a folder in which a language is installed by itself."""
SHARED = (Path("/usr"), Path("/usr/local"), Path.home() / ".local", Path.home(), *Path.home().parents)
"""Where others than the language keep things, too."""

LIBRARIES = {
    "r": (("-s", "-e", "cat(.libPaths(), sep='\\n')"), "R_LIBS"),
}
"""By language: how to ask its program where its packages are, and the variable that tells it."""
ASK_SECONDS = 60


@dataclass(frozen=True)
class Kernel:
    """An installed kernel."""

    name: str
    language: str
    folder: Path  # of its specification
    needs: tuple[Path, ...] = ()  # what it reads to start, beside what every system has
    programs: tuple[str, ...] = ()  # folders
    variables: Mapping[str, str] = field(default_factory=dict)


def language(notebook: NotebookNode) -> str:
    """ "Python", or whatever else the notebook says that it is in; without a word about it, Python."""
    kernel, info = (notebook.metadata.get(part) or {} for part in ("kernelspec", "language_info"))
    said = str(kernel.get("language") or info.get("name") or "python")
    return _language(str(kernel.get("name") or ""), said)


def _language(kernel: str, said: str) -> str:
    known = (other for pattern, other in OTHERS.items() if re.fullmatch(pattern, kernel.lower()))
    return next(known, "Python" if PYTHON.match(said) else said)


def installed() -> dict[str, str]:
    """The languages of the kernels that are installed here, by name."""
    found = _specifications().get_all_specs()
    return {name: _language(name, one["spec"].get("language") or "") for name, one in sorted(found.items())}


def _specifications() -> "KernelSpecManager":
    from jupyter_client.kernelspec import KernelSpecManager  # start-up: for other languages alone

    return KernelSpecManager()


def kernel_for(notebook: NotebookNode, path: Path) -> str:
    """The name of the kernel that runs a notebook here; "" for one in Python. Raises CourseError where there is none."""
    wanted = language(notebook)
    if wanted == "Python":
        return ""
    there = installed()
    own = str((notebook.metadata.get("kernelspec") or {}).get("name") or "").lower()
    if there.get(own, "Python") != "Python":
        return own
    same = [name for name, other in there.items() if other.lower() == wanted.lower()]
    if same:
        return same[0]
    raise CourseError(
        f"{path} is written in {wanted}, but its kernel{f' {own}' if own else ''} is not installed here. Nothing was run, and the "
        f"submissions are not graded yet. Install the kernel ({how_to_install(wanted)}) and run the command again."
    )


def how_to_install(spoken: str) -> str:
    """Where a kernel of a language comes from."""
    return INSTALL.get(spoken.lower(), ANY_KERNEL)


def find_kernel(name: str) -> Kernel:
    """The installed kernel of that name, with what it needs. Raises CourseError."""
    try:
        specification = _specifications().get_kernel_spec(name)
    except KeyError:  # NoSuchKernel
        raise CourseError(
            f"The kernel {name} is not installed on {platform.node()}: install it there."
        ) from None
    spoken = _language(name, specification.language)
    folder = Path(specification.resource_dir).resolve()
    program, *arguments = specification.argv
    found = shutil.which(program)
    if found is None:
        raise CourseError(f"{folder / 'kernel.json'} starts {program}, which is not installed: install it.")
    named = [
        *arguments,
        *(place for value in specification.env.values() for place in value.split(os.pathsep)),
    ]
    needs = [Path(place) for place in named if os.path.isabs(place) and Path(place).resolve() not in SHARED]
    needs += [folder, *_installation(Path(found))]
    needs += [Path(place, called) for place in SYSTEM for called in {spoken, spoken.lower()}]
    libraries, variable = _libraries(found, spoken)
    needs += libraries
    return Kernel(
        name,
        spoken,
        folder,
        tuple(path for path in dict.fromkeys(needs) if path.exists()),
        (str(Path(found).parent),),
        {variable: os.pathsep.join(map(str, libraries))} if libraries else {},
    )


def _installation(program: Path) -> list[Path]:
    """The program itself, and what is installed with it, unless others keep things there, too."""
    places = program, program.resolve()  # a virtual environment, and the Python that it is made of
    prefixes = [place.parent.parent for place in places if place.parent.parent not in SHARED]
    return [*places, *(prefix / part for prefix in prefixes for part in PARTS)]


def _libraries(program: str, spoken: str) -> tuple[list[Path], str]:
    """The folders that hold the language's packages, as it says itself, and the variable that names them."""
    question, variable = LIBRARIES.get(spoken.lower(), ((), ""))
    if not question:
        return [], ""
    try:
        said = subprocess.run(
            [program, *question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            cwd="/",  # R executes a .Rprofile in its working directory, and a student may have written one
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return [], ""
    return [
        Path(line).resolve() for line in said.splitlines() if os.path.isabs(line) and Path(line).is_dir()
    ], variable


def remark(notebook: NotebookNode) -> str:
    """What to say once of a notebook that is run in a kernel of another name than its own; "" otherwise."""
    name = (notebook.metadata.get("kernelspec") or {}).get("name") or ""
    if language(notebook) != "Python":
        kernel, named = kernel_for(notebook, Path(name)), f"the kernel {name}" if name else "no kernel"
        same = kernel == name.lower()
        return "" if same else f"The notebook names {named}: it is run in the kernel {kernel}."
    if name in USUAL:
        return ""
    return (
        f"The notebook names the kernel {name}: it is run in the Python of this environment, {platform.python_version()} in "
        f"{sys.prefix}."
    )
