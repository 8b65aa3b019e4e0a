"""A page for every package, with its modules: sphinx-apidoc writes them in Sphinx's notation, autodoc fills them in from docstrings."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.ext.apidoc import main as apidoc

LEFT_OUT = ("jail/inside/not_while_graded.py", "templates")
"""Without a page: what stands in the jail for others, and what `autograder init` copies."""
TEMPLATES = Path("docs") / "book" / "_apidoc"
"""What a module defines itself, in its own order; what it passes on from another module stands on that one's page."""


def pages(root: Path, package: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of the page of the package and of each package within it."""
    left_out = [root / package / path for path in LEFT_OUT]
    with TemporaryDirectory() as folder:
        options = ["-q", "--no-toc", "--templatedir", root / TEMPLATES, "--output-dir", folder]
        apidoc([str(word) for word in (*options, root / package, *left_out)])
        for page in sorted(Path(folder).glob("*.rst")):
            yield f"api/{page.name}", page.read_bytes()
