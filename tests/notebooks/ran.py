"""The digest of all that decides what the tests of a notebook say: ran/NAME holds it (tests/kept.py).

Its source and exercises, its release, the checks, these tests, the versions, and of coursekit, tools and data what they reach.
"""

import ast
import platform
from functools import cache
from pathlib import Path

from autograder.digests import digest
from tests.conftest import ASSIGNMENTS, ROOT
from tests.kept import Kept, content
from tests.reach import Reached

HERE = Path(__file__).parent
FOLDER = HERE / "ran"
USED = ("coursekit", "autograder/checks", "data", "tests/notebooks", "tools")
PACKAGES = ("coursekit", "tools")


@cache
def digest_of(name: str) -> str:
    """Over the files with their paths, Python's version, and the machine's kind."""
    one = ASSIGNMENTS[name]
    tests = [
        path for path in _files("tests/notebooks") if path.name != "test_ran.py" and not of_others(path, name)
    ]
    code = [one.source, one.exercises_file, *(path for path in tests if path.suffix == ".py")]
    reached = Reached(ROOT, PACKAGES, [path.read_text(encoding="utf-8") for path in code])
    files = {ROOT / "constraints.txt", *code, *tests, one.release, *_files("autograder/checks")}
    files |= {path for folder in (*PACKAGES, "data") for path in _files(folder) if _decides(reached, path)}
    paths = sorted(path.relative_to(one.root if path == one.release else ROOT).as_posix() for path in files)
    machine = (platform.python_version_tuple()[:2], platform.system(), platform.machine())
    return digest((), paths, [content(ROOT / path) for path in paths], machine)


def _decides(reached: Reached, path: Path) -> bool:
    place = path.relative_to(ROOT).as_posix()
    return place.startswith("tools/jupyterlab/") or (reached.decides(place) and not _beside(place))


def _beside(place: str) -> bool:
    """What lies in `tools` and is no module: it is read by what is not tried here."""
    return place.startswith("tools/") and not place.endswith(".py")


def of_others(path: Path, name: str) -> bool:
    """Whether a file holds tests of other notebooks only: it says which."""
    if path.suffix != ".py":
        return False
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="NOTEBOOKS")], value=ast.List(elts=notebooks)):
                named = [one.value for one in notebooks if isinstance(one, ast.Constant)]
                return len(named) == len(notebooks) and name not in named
    return False


@cache
def _files(folder: str) -> tuple[Path, ...]:
    found = (ROOT / folder).rglob("*")
    return tuple(
        path
        for path in found
        if path.is_file() and "__pycache__" not in path.parts and FOLDER not in path.parents
    )


KEPT = Kept(HERE, frozenset(HERE.glob("test_*.py")), digest_of)
