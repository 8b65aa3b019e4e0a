"""The language of a notebook. The name of its kernel is private to each machine, so Python notebooks run in this environment's Python."""

import platform
import re
import sys
from pathlib import Path

from nbformat import NotebookNode

from autograder.errors import CourseError

USUAL = ("", "python3", "python")
PYTHON = re.compile(r"i?python", re.IGNORECASE)
OTHERS = {
    r"ir\d*|.*\bxr\b": "R",
    r"julia.*": "Julia",
    r"octave|xoctave": "Octave",
    r"matlab.*": "MATLAB",
    r"bash|zsh|powershell": "a shell's language",
    r"xcpp.*|xeus-cling.*": "C++",
    r"i?java|jjava|rapaio.*": "Java",
    r"i?javascript|deno|node.*|typescript|tslab|jslab": "JavaScript",
    r"scala.*|almond.*|spylon.*": "Scala",
    r"kotlin": "Kotlin",
    r"i?ruby": "Ruby",
    r"rust|evcxr.*": "Rust",
    r"i?haskell": "Haskell",
    r"gophernotes|gonb": "Go",
    r"\.net-.*": "a language of .NET",
    r"stata|nbstata": "Stata",
    r"xsql.*|sqlite.*": "SQL",
}
"""The languages of kernels that are known by their names, of which a notebook need not say more."""


def language(notebook: NotebookNode) -> str:
    """ "Python", or whatever else the notebook says that it is in; without a word about it, Python."""
    kernel, info = (notebook.metadata.get(part) or {} for part in ("kernelspec", "language_info"))
    name = str(kernel.get("name") or "").lower()
    said = str(kernel.get("language") or info.get("name") or "python")
    known = (other for pattern, other in OTHERS.items() if re.fullmatch(pattern, name))
    return next(known, "Python" if PYTHON.match(said) else said)


def require_python(notebook: NotebookNode, path: Path) -> None:
    """Raise CourseError for a notebook in another language."""
    found = language(notebook)
    if found != "Python":
        raise CourseError(f"{path} is written in {found}; only notebooks in Python are graded.")


def remark(notebook: NotebookNode) -> str:
    """What to say once of a notebook in Python whose kernel has a name of its own; "" otherwise."""
    name = (notebook.metadata.get("kernelspec") or {}).get("name") or ""
    if name in USUAL:
        return ""
    return (
        f"The notebook names the kernel {name}: it is run in the Python of this environment, {platform.python_version()} in "
        f"{sys.prefix}."
    )
