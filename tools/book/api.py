"""A page for every module of a package, in Sphinx's own notation; autodoc fills them in from the docstrings."""

import ast
from collections.abc import Iterator
from pathlib import Path

LEFT_OUT = ("autograder.jail.inside.not_while_graded", "autograder.templates.")
"""Modules without a page: what stands in the jail for others, and what `autograder init` copies."""

OPTIONS = "   :members:\n   :ignore-module-all:\n   :member-order: bysource\n"
"""What a module defines itself, in its own order; what it passes on from another module stands on that one's page."""


def pages(root: Path, package: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of the package's own page and of its modules'."""
    modules = _modules(root, package)
    listed = "\n".join(
        f"   * - :doc:`{name} <{name}>`\n     - {_plain(line)}" for name, line in modules.items()
    )
    hidden = "\n".join(f"   {name}" for name in modules)
    table = f".. list-table::\n   :widths: 35 65\n\n{listed}\n"
    toctree = f".. toctree::\n   :hidden:\n\n{hidden}\n"
    yield f"api/{package}.rst", _page(package, f".. automodule:: {package}\n\n{table}\n{toctree}")
    for name in modules:
        yield f"api/{name}.rst", _page(name, f".. automodule:: {name}\n{OPTIONS}")


def _modules(root: Path, package: str) -> dict[str, str]:
    """The first line of every module's docstring, by the module's name; modules without one are not documented."""
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        runs = parts[-1] in ("__main__", "_version")
        if name != package and docstring and not runs and not name.startswith(LEFT_OUT):
            found[name] = docstring.partition("\n")[0]
    return found


def _page(title: str, body: str) -> bytes:
    return f"{title}\n{'=' * len(title)}\n\n{body}".encode()


def _plain(line: str) -> str:
    """A line of a docstring for reStructuredText: `code` is code, nothing else is special."""
    code = line.split("`")
    text = [
        part.replace("\\", "\\\\").replace("*", r"\*").replace("|", r"\|").replace("_", r"\_")
        for part in code
    ]
    return "".join(
        f"``{raw}``" if i % 2 and raw else part for i, (raw, part) in enumerate(zip(code, text, strict=True))
    )
