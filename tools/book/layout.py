"""Every source file of the website, and where it stands: what Sphinx is given to read."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbformat import NotebookNode

from autograder.authoring.builder import START
from autograder.course import Assignment
from autograder.source import read_source
from tools.book.notebook import instructors_page, students_page

GLOSSARY = "glossary.md"
TO_NOTEBOOK = re.compile(r"\[([^][]+)\]\((?:\.\./)*(?:notebooks/)?(\d\d_\w+|project)/\2\.ipynb\)")
PAGES = {
    "start.ipynb": "/index.md",
    "students.md": "/guides/students.md",
    "glossary.md": "/glossary.md",
}
"""What notebooks link beside one another, and the pages of the website with the same content."""
TO_PAGE = re.compile(rf"\]\((?:\.\./)*(?:docs/)?({'|'.join(map(re.escape, PAGES))})(#[^)]*)?\)")
TO_SAME_PLACE = re.compile(r"\]\((?:\.\./)*(?:docs/)?((?:data|bugs)/[\w/]+\.md(?:#[^)]*)?)\)")
"""Cards of data and pages of bugs, which stand on the website where they stand in the repository."""
TO_REPOSITORY = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)\)")


def source_files(
    root: Path, chosen: list[Assignment], executed: dict[str, NotebookNode], with_solutions: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file that Sphinx reads."""
    names = [assignment.name for assignment in chosen]
    yield from _folder(root / "docs" / "book", "", "*.md")
    yield from _start_page(root, names)
    for assignment in chosen:
        page = (
            instructors_page(assignment, executed[assignment.name])
            if with_solutions
            else students_page(assignment, executed[assignment.name])
        )
        yield f"notebooks/{assignment.name}.ipynb", lead_to_pages(page, names).encode()
    for path, content in _folder(root / "docs", "guides/", "*.md"):
        text = lead_to_pages(content.decode(), names)
        if path == f"guides/{GLOSSARY}":
            yield GLOSSARY, text.encode()
        else:
            yield path, TO_REPOSITORY.sub(r"\1 (`\2`)", text).encode()
    yield from _folder(root / "docs", "guides/", "*.csv")
    yield from _folder(root / "docs" / "images", "guides/images/", "*")
    for path, content in _folder(root / "docs" / "bugs", "bugs/", "*.md"):
        yield path, lead_to_pages(content.decode(), names).encode()
    for folder in sorted(path for path in (root / "data").iterdir() if path.is_dir()):
        for path, content in _folder(folder, f"data/{folder.name}/", "*.md"):
            yield path, lead_to_pages(content.decode(), names).encode()
        yield from _folder(folder, f"data/{folder.name}/", "*.svg")
    yield from _folder(root / "docs" / "book" / "api", "api/", "*.rst")


def lead_to_pages(text: str, names: list[str]) -> str:
    """Links to notebooks, the start page, guides, data cards and pages of bugs as links to pages of the website; the title alone where a notebook has none."""

    def replace(link: re.Match) -> str:
        title, name = link.groups()
        return f"[{title}](/notebooks/{name}.ipynb)" if name in names else title

    text = TO_SAME_PLACE.sub(r"](/\1)", TO_NOTEBOOK.sub(replace, text))
    return TO_PAGE.sub(lambda link: f"]({PAGES[link[1]]}{link[2] or ''})", text)


def lay_out(files: Iterable[tuple[str, bytes]], folder: Path) -> None:
    """Make `folder` hold these files and no others. An equal file is left as it is, so Sphinx need not read it again."""
    wanted = {folder / path: content for path, content in files}
    for path in folder.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()
    for path, content in wanted.items():
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _start_page(root: Path, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The sections of the course's start page, each as a file that our pages include."""
    cells = read_source(root / "solutions" / f"{START}.py").cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for section in re.split(r"(?m)^## ", text)[1:]:
        title, _, body = section.partition("\n")
        slug = "-".join(re.findall(r"\w+", title.lower()))
        yield f"start/{slug}.md", lead_to_pages(body.strip() + "\n", names).encode()


def _folder(folder: Path, into: str, pattern: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.glob(pattern)):
        if path.is_file():
            yield into + path.name, path.read_bytes()
