"""The course as a website that needs no network: run the solutions, lay out the pages, build, check the links.

    python -m tools.book                          all notebooks, into build/book (this is `make book`)
    SOLUTIONS=1 python -m tools.book              the same with solutions, into build/book-with-solutions
    python -m tools.book 02_attention --into DIR  one notebook and all other pages

SITE_URL=https://… is the address at which the website will be published, for previews of links to it;
REPOSITORY_URL=https://… is the address of the repository, if this clone came from somewhere else.
Only what has changed is run and built again.
"""

import argparse
import gc
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import copy, which

from nbformat import NotebookNode
from sphinx.cmd.build import main as sphinx

from autograder.authoring.student_zip import write_student_zip
from autograder.course import assignments, course_root, find_assignment
from autograder.errors import CourseError
from autograder.settings import course_settings
from autograder.source import read_source
from autograder.startup import THRESHOLDS
from tools.book import links
from tools.book.execution import execute
from tools.book.layout import lay_out, source_files
from tools.book.notebook import made_once, zip_name

PARTS = Path("build") / "book-parts"
"""What is kept from one build to the next: executed notebooks, laid-out sources, parsed pages."""

SPHINX_S_OWN = {Path("genindex"), Path("py-modindex"), Path("search")}
"""Pages without a source."""


def main(arguments: list[str] | None = None) -> int | str:
    """Exit status, or the sentence that says why there is no website."""
    options = _options(arguments)
    root = course_root()
    with_solutions = bool(os.environ.get("SOLUTIONS"))
    name = "book-with-solutions" if with_solutions else "book"
    site = options.into or root / "build" / name
    started = time.monotonic()
    if site.exists() and any(site.iterdir()) and not (site / ".buildinfo").is_file():  # Sphinx leaves that
        return f"{site} contains files that are not part of this course's website: choose another folder."
    try:
        chosen = [find_assignment(root, name) for name in options.names] or assignments(root)
        parts = options.parts or root / PARTS
        sources = {assignment: read_source(assignment.source) for assignment in chosen}
        unrun = {assignment.name: source for assignment, source in sources.items()}
        if lost := links.unresolved(dict(source_files(root, chosen, unrun, with_solutions))):
            return "Broken links:\n" + "\n".join(f"  {page}: {link}" for page, link in lost)
        build(root, execute(sources, parts / "executed"), site, parts, with_solutions)
    except CourseError as error:
        return str(error)
    if broken := links.broken(site):
        return "Broken links:\n" + "\n".join(f"  {page}: {link}" for page, link in broken)
    outside = links.external(site)
    (site / "external-links.txt").write_text("\n".join(sorted(outside)) + "\n", encoding="utf-8")
    print(
        f"{site / 'index.html'} ({time.monotonic() - started:.0f} s): {len(links.pages(site))} pages without broken "
        f"links; {len(outside)} external links, listed in external-links.txt, were not checked."
    )
    gc.freeze()  # otherwise Python looks through all pages once more, for ten seconds, before it ends
    return 0


def build(
    root: Path,
    executed: Mapping[str, NotebookNode],
    site: Path,
    parts: Path,
    with_solutions: bool = False,
) -> None:
    """Write the website of the executed solutions, by the names of their notebooks, into `site`. Raises CourseError."""
    kind = "with-solutions" if with_solutions else "student"
    source = parts / f"source-{kind}"
    chosen = [find_assignment(root, name) for name in executed]
    lay_out(source_files(root, chosen, executed, with_solutions), source)
    os.environ["BOOK_KIND"] = kind  # docs/book/conf.py asks for these two
    os.environ["BOOK_REPOSITORY"] = os.environ.get("REPOSITORY_URL") or origin(root)
    # Twice as many as with "auto", so that no core waits long for the one that has the notebooks.
    processes = 2 * (os.cpu_count() or 1)
    options = "-q", "-W", "--keep-going", "-j", str(processes)
    arguments = [*options, "-c", root / "docs" / "book", "-d", parts / f"parsed-{kind}"]
    gc.set_threshold(*THRESHOLDS)
    name = zip_name(course_settings(root))
    zipped = write_student_zip(parts.resolve() / name, alone=True, of_release=made_once)
    if sphinx([str(argument) for argument in (*arguments, source, site)]):
        raise CourseError("Sphinx reported the problems above: fix them and build again.")
    copy(zipped, site / name)  # last: after a failed build the folder holds only what Sphinx wrote
    _drop_old_pages(site, source)


def origin(root: Path) -> str:
    """Where the repository was cloned from, as a page to visit; "" where that is no address of the web."""
    if not which("git"):
        return ""
    asked = subprocess.run(["git", "remote", "get-url", "origin"], cwd=root, capture_output=True, text=True)
    address = re.sub(r"^git@([^:]+):", r"https://\1/", asked.stdout.strip())
    return address.removesuffix(".git") if re.match(r"https://[^@]+$", address) else ""


def _drop_old_pages(site: Path, source: Path) -> None:
    """Sphinx leaves the page of a source that is gone."""
    made = {path.relative_to(source).with_suffix("") for path in source.rglob("*.*")} | SPHINX_S_OWN
    for page in links.pages(site):
        if page.relative_to(site).with_suffix("") not in made:
            page.unlink()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.book", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NOTEBOOK", help="such as 02_attention; all by default")
    parser.add_argument("--into", type=Path, metavar="DIR", help="where the website is written")
    parser.add_argument(
        "--parts", type=Path, metavar="DIR", help="where intermediate results are kept between builds"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
