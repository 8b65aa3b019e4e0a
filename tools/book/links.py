"""Where the links of a website lead, of its sources and of what was built. Nothing is asked of any other machine."""

import json
import re
from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from mdit_py_plugins.anchors.index import slugify

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,3} +(.+?) *$", re.MULTILINE)


class _Page(HTMLParser):
    """The names a page can be linked by, and the addresses it mentions."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.names.add(value)
            if value and name in ("href", "src") and not value.startswith("data:"):
                self.links.add(value)


def pages(site: Path) -> list[Path]:
    """Every page; the theme's templates among the static files are none."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts]


def unresolved(sources: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """(page, link) for every link in Markdown to a file or heading that the sources, by their paths, do not have.

    It takes no built page, and so no notebook that has run.
    """
    texts = {path: _markdown(path, content) for path, content in sources.items()}
    lost = []
    for page, text in texts.items():
        for link in LINK.findall(CODE.sub("", text)):
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            path, place = unquote(address.path), unquote(address.fragment)
            target = normpath(PurePosixPath("/", page).parent / path).lstrip("/") if path else page
            headings = HEADING.findall(CODE.sub(_without_signs, texts.get(target, "")))
            if target not in sources or (place and place not in map(slugify, headings)):
                lost.append((page, link))
    return lost


def _markdown(path: str, content: bytes) -> str:
    if path.endswith(".ipynb"):
        cells = json.loads(content)["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return content.decode() if path.endswith(".md") else ""


def _without_signs(code: re.Match) -> str:
    """A word set as code in a heading counts for its address, a block of code does not."""
    return "" if code[0].startswith("```") else code[0].strip("`")


def broken(site: Path) -> list[tuple[str, str]]:
    """(page, link) for every link within the website whose file or place on the page does not exist."""
    addresses = []
    for path in pages(site):
        for link in sorted(_page(path).links):
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            name = unquote(address.fragment)
            reached = target.is_file() and (
                not name or target.suffix != ".html" or name in _page(target).names
            )
            if not reached:
                addresses.append((path.relative_to(site).as_posix(), link))
    return addresses


def external(site: Path) -> set[str]:
    """Every address outside the website that a page names."""
    links = {link for path in pages(site) for link in _page(path).links}
    return {link for link in links if urlsplit(link).scheme in ("http", "https")}


def _page(path: Path) -> _Page:
    return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, changed: int) -> _Page:
    """A page, parsed once, and again only after its file has changed."""
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page
