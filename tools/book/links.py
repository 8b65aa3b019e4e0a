"""Where the links of a built website lead. Nothing is asked of any other machine."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


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


def broken(site: Path) -> list[tuple[str, str]]:
    """(page, link) for every link within the website whose file or place on the page does not exist."""
    read = cache(_read)
    addresses = []
    for path in pages(site):
        for link in sorted(read(path).links):
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            name = unquote(address.fragment)
            reached = target.is_file() and (
                not name or target.suffix != ".html" or name in read(target).names
            )
            if not reached:
                addresses.append((path.relative_to(site).as_posix(), link))
    return addresses


def external(site: Path) -> set[str]:
    """Every address outside the website that a page names."""
    links = {link for path in pages(site) for link in _read(path).links}
    return {link for link in links if urlsplit(link).scheme in ("http", "https")}


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page
