"""Read the percent-format source of a notebook, and write notebooks that are the same byte for byte."""

import ast
import copy
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, ValidationError

from autograder.errors import CourseError
from autograder.files import write_aside
from autograder.parsing import parse

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
KEPT = ("nbgrader", "tags", "course", "jupyter")
"""Of a cell's metadata; "jupyter" says whether its code is folded."""
MAGIC = re.compile(r"^[%!].*$", re.MULTILINE)
DEMO = "demo"
"""Tag of cells that only show something: unchanged ones are not run when grading."""


def read_source(path: Path) -> NotebookNode:
    """The notebook of a percent script, with cell ids that do not change from run to run; or a notebook as it is."""
    if path.suffix == ".ipynb":
        return _read_notebook(path)
    return copy.deepcopy(_parsed(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=32)
def _parsed(script: str) -> NotebookNode:
    """Takes a tenth of a second, and a command often needs the same source several times."""
    import jupytext  # start-up: it imports JupyterLab's server

    notebook = jupytext.reads(script, fmt="py:percent")
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    used: dict[str, int] = {}
    for cell in notebook.cells:
        cell.id = _cell_id(cell, used)
        # jupytext also notes how many empty lines follow a cell
        cell.metadata = nbformat.from_dict(
            {name: cell.metadata[name] for name in KEPT if name in cell.metadata}
        )
    nbformat.validate(notebook)
    return notebook


def _read_notebook(path: Path) -> NotebookNode:
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, ValidationError) as error:
        what = next(iter(str(error).splitlines()), type(error).__name__)
        raise CourseError(f"{path} cannot be read as a notebook: {what}") from None


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook in place of what is at `path`."""
    write_aside(path, notebook_bytes(notebook))


def notebook_bytes(notebook: NotebookNode) -> bytes:
    """The content of a notebook's file, which ends in one newline; equal notebooks give equal bytes."""
    return f"{nbformat.writes(notebook).rstrip()}\n".encode()


def _of_nbgrader(cell: NotebookNode) -> Mapping[str, Any]:
    """What nbgrader wrote into the cell. By index: an attribute of a NotebookNode takes ten times as long."""
    return cell["metadata"].get("nbgrader", {})


def grade_id(cell: NotebookNode) -> str:
    """The cell's nbgrader id, or ""."""
    return _of_nbgrader(cell).get("grade_id", "")


# As nbgrader.utils has them. Importing these would import nbgrader, which takes a second.


def is_grade(cell: NotebookNode) -> bool:
    """Whether the cell has points."""
    return _of_nbgrader(cell).get("grade", False)


def is_solution(cell: NotebookNode) -> bool:
    """Whether the student writes in the cell."""
    return _of_nbgrader(cell).get("solution", False)


def is_locked(cell: NotebookNode) -> bool:
    """Whether the cell is put back as it was released."""
    if is_solution(cell):
        return False
    return is_grade(cell) or _of_nbgrader(cell).get("locked", False)


def is_task(cell: NotebookNode) -> bool:
    """Whether the cell says what to do, and a person grades what the student adds."""
    return _of_nbgrader(cell).get("task", False)


def graded_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Those with points: tests, checks, answers that a person grades, and tasks."""
    return [cell for cell in notebook["cells"] if is_grade(cell) or is_task(cell)]


def points(cell: NotebookNode) -> float:
    """What the cell is worth, without extra credit."""
    return float(cell.metadata.nbgrader.get("points", 0))


def former_ids(notebook: NotebookNode) -> dict[str, str]:
    """{the grade id that a cell had: the one that it has now}, as `course={"formerly": …}` in its metadata says.

    A former id that another cell uses now is left out, because a hand-in does not show which of the two cells is meant.
    """
    now = {grade_id(cell) for cell in notebook["cells"]}
    former = {
        cell["metadata"].get("course", {}).get("formerly"): grade_id(cell) for cell in notebook["cells"]
    }
    return {old: new for old, new in former.items() if old and new and old not in now}


def extra_credit(cell: NotebookNode) -> float:
    """The points beyond those that count towards the maximum."""
    return float(cell.metadata.get("course", {}).get("extra_credit", 0))


def code_cells(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """The notebook's own cells of code, in order; changing one changes the notebook."""
    return (cell for cell in notebook.cells if cell.cell_type == "code")


def is_demo(cell: NotebookNode) -> bool:
    """Whether the cell only shows something, so that grading does not run it unless a student changed it."""
    return DEMO in cell.metadata.get("tags", [])


def imported_ahead(preload_where: Mapping[str, str], notebook: NotebookNode) -> tuple[str, ...]:
    """The modules that take seconds to import, and that cells of the notebook need which are run when grading."""
    text = "\n".join(cell.source for cell in code_cells(notebook) if not is_demo(cell))
    found = (
        module for sign, module in preload_where.items() if re.search(rf"(?<!\w){re.escape(sign)}", text)
    )
    return tuple(dict.fromkeys(found))


USUAL = ("numpy", "pandas", "scipy", "matplotlib.pyplot", "sympy", "sklearn", "seaborn")
"""What notebooks import most, and what takes longest of what they do. Importing them starts no thread."""


def usual_imports(notebook: NotebookNode) -> tuple[str, ...]:
    """Those of the usual modules that a notebook imports and that are installed."""
    text = "\n".join(cell.source for cell in code_cells(notebook))
    imported = re.findall(r"^\s*(?:import|from)\s+([\w.]+)", text, re.MULTILINE)
    needed = [
        package
        for package in USUAL
        if any(name == package or name.startswith(f"{package}.") for name in imported)
    ]
    return tuple(package for package in needed if find_spec(package.partition(".")[0]))


def imported_from(packages: Iterable[str], notebook: NotebookNode) -> tuple[str, ...]:
    """The modules of these packages that a notebook imports, by `from package import module`."""
    text = "\n".join(cell.source for cell in code_cells(notebook))
    return tuple(
        sorted(
            f"{package}.{name}"
            for package in packages
            for name in set(re.findall(rf"^from {re.escape(package)} import (\w+)", text, re.MULTILINE))
        )
    )


CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
GRADE_ID = re.compile(r'"grade_id": *"([^"]+)"')
KINDS = {"b": re.compile(r"\b(Bool|Shaped)\["), "i": re.compile(r"\b(U?Int(eger)?\d*|Shaped)\[")}
"""What jaxtyping calls truth values, whole numbers of any size, and both: those of the input."""


def answer_cells(text: str, suffix: str) -> dict[str, str]:
    """The cells with a grade id in the file of a source, by that id. Read without jupytext, which takes long to import."""
    if suffix == ".ipynb":
        try:
            cells = json.loads(text).get("cells", []) if text else []
            return {grade_id(cell): "".join(cell["source"]) for cell in cells if grade_id(cell)}
        except (ValueError, KeyError, AttributeError):  # `read_source` says what is wrong with it
            return {}
    _, *parts = CELL.split(text)
    headers = zip(parts[::2], parts[1::2], strict=True)
    return {found[1]: source for header, source in headers if (found := GRADE_ID.search(header))}


def promised_kinds(source: str) -> str:
    """The kinds of values that a solution promises to return: "i" for an `Int`, "b" for a `Bool`, "bi" for both.

    Floats are not among them: whole numbers in their place are accepted with a note.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError):
        return ""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.returns]
    promised = " ".join(ast.unparse(node.returns) for node in functions if node.returns)
    return "".join(kind for kind, annotation in KINDS.items() if annotation.search(promised))


@cache
def defined_in(source: str) -> frozenset[str]:
    """The functions and classes that a cell of ours defines."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return frozenset(node.name for node in _body(source) if isinstance(node, kinds))


def defined_in_answers(notebook: NotebookNode) -> set[str]:
    """The functions and classes that the cells for students' answers define."""
    return {name for cell in code_cells(notebook) if is_solution(cell) for name in defined_in(cell.source)}


def used_from(packages: Iterable[str], notebook: NotebookNode) -> set[str]:
    """What the cells that are no student's answer use of these packages: "coursekit.small.GPT", however it is imported."""
    names: dict[str, str] = {}
    used: set[str] = set()
    nodes = [
        node
        for cell in code_cells(notebook)
        if not is_solution(cell)
        for statement in _body(cell.source)
        for node in ast.walk(statement)
    ]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names |= {alias.asname: alias.name} if alias.asname else {top: top}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            used |= {f"{node.module}.{alias.name}" for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            first, *attributes = ast.unparse(node).split(".")
            used.add(".".join([names.get(first, ""), *attributes]))
    return {name for name in used if name.partition(".")[0] in packages}


def _body(source: str) -> list[ast.stmt]:
    """The statements of a cell, without lines of IPython's own; none where it is not Python."""
    try:
        return parse(MAGIC.sub("pass", source)).body
    except (SyntaxError, ValueError):
        return []


def _cell_id(cell: NotebookNode, used: dict[str, int]) -> str:
    """From the grade id, else from the text: moving or adding a cell leaves the other ids alone."""
    stem = grade_id(cell) or hashlib.sha256(cell.source.encode()).hexdigest()[:8]
    used[stem] = used.get(stem, 0) + 1
    return stem if used[stem] == 1 else f"{stem}-{used[stem]}"
