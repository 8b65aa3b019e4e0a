"""Pages of coursekit and its packages: sphinx-apidoc writes them in Sphinx's notation, autodoc fills them in from docstrings.

The page of autograder's public names is docs/book/api/autograder.rst.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.ext.apidoc import main as apidoc

PICTURES = "pictures"
"""Without a page: each of its functions draws one figure of one notebook."""
TEMPLATES = Path("docs") / "book" / "_apidoc"


def pages(root: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of the page of each package."""
    package = root / "coursekit"
    with TemporaryDirectory() as folder:
        options = ["-q", "--no-toc", "--templatedir", root / TEMPLATES, "--output-dir", folder]
        apidoc([str(word) for word in (*options, package, package / PICTURES)])
        for page in sorted(Path(folder).glob("*.rst")):
            yield f"api/{page.name}", page.read_bytes()
