"""The whole website, built: no solution on it, no link that leads nowhere, nothing asked of another machine."""

import json
import os
import re
import subprocess
import zipfile
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from html import unescape
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from nbformat import NotebookNode

import autograder.checks
import coursekit.language
import coursekit.models
import coursekit.small
from autograder.source import code_cells
from tests.browser.accessibility import serious_findings
from tests.conftest import ASSIGNMENTS, ROOT, release_of, solution_of
from tests.notebooks.executions import folder_of_the_run, outputs_of
from tools.book import links
from tools.book.__main__ import build, main, origin
from tools.book.hosts import hosts
from tools.book.notebook import TWIN, instructors_page

# If only these tests are run, the first one executes all notebooks.
pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(3600)]

NOTEBOOK = ASSIGNMENTS["02_attention"]
PAGE = f"notebooks/{NOTEBOOK.name}.html"
REPOSITORY = "example/course"


@pytest.fixture(scope="session")
def executed(pytestconfig, tmp_path_factory) -> dict[str, NotebookNode]:
    """Every solution with its outputs, from this run's tests of the notebooks; one that they have left out is executed here."""
    kept = folder_of_the_run(pytestconfig, tmp_path_factory)
    notebooks = {name: outputs_of(name, tmp_path_factory.mktemp("home"), kept) for name in ASSIGNMENTS}
    outputs = [
        (name, one) for name in notebooks for cell in code_cells(notebooks[name]) for one in cell.outputs
    ]
    assert [name for name, output in outputs if output.output_type == "error"] == [], "stopped with an error"
    return notebooks


@pytest.fixture(scope="session")
def site(executed, tmp_path_factory) -> Path:
    """The whole website, as `make book` builds it, in a process of its own: autodoc imports modules anew.

    A warning of Sphinx's is an error, and the student's zip lies beside the pages.
    """
    folder = tmp_path_factory.mktemp("book")
    at_github = patch.dict(os.environ, REPOSITORY_URL=f"https://github.com/{REPOSITORY}")
    with at_github, ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(build, ROOT, executed, folder / "site", folder / "parts").result()
    return folder / "site"


# ---------------------------------------------------------------------------------------------- solutions


class Text(HTMLParser):
    """What a page says, without its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def handle_data(self, data: str) -> None:
        self.said.append(data)


@cache
def text_of(page: Path) -> str:
    parser = Text()
    parser.feed(page.read_text())
    return "".join(parser.said)


def plain(text: str) -> str:
    """Without the signs of Markdown, on one line."""
    return " ".join(re.sub(r"[*`$\\]", "", text).split())


@cache
def handed_out() -> str:
    """What the students' notebooks say, all in one line."""
    return plain("\n".join(cell.source for one in ASSIGNMENTS for cell in release_of(one).cells))


@cache
def secrets(name: str) -> list[str]:
    """Every line of a solution or a model answer of a notebook that no student's notebook contains."""
    lines = []
    for cell in solution_of(name).cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            code = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL)
            lines += (code[0] if cell.cell_type == "code" else cell.source).splitlines()
    return [line for line in map(plain, lines) if len(line) > 12 and line not in handed_out()]


QUOTED = {("05_leak_between_directions", "for _ in range(layers)")}
"""Pages of bugs that quote a published program, and a line of it that is a solution's, too."""


def test_no_page_shows_a_line_of_a_solution(site):
    everything = {secret for name in ASSIGNMENTS for secret in secrets(name)}
    shown = {page: plain(text_of(page)) for page in links.pages(site)}
    assert len(shown) > 70
    found = {(page.stem, secret) for page, said in shown.items() for secret in everything if secret in said}
    assert found == QUOTED


def test_the_reference_describes_every_public_name(site):
    pages = "".join(page.read_text() for page in (site / "api").iterdir())
    described = set(re.findall('id="(?:module-)?([^"]+)"', pages))
    for package in (autograder.checks, coursekit.language, coursekit.models, coursekit.small):
        names = [name for name in package.__all__ if callable(getattr(package, name))]
        assert {f"{package.__name__}.{name}" for name in names} <= described
    assert {"autograder.exercise.Exercise", "coursekit.show", "coursekit.intervals.bootstrap"} <= described


def test_the_same_search_finds_all_of_them_on_the_instructor_s_page(executed):
    for name, notebook in executed.items():
        page = nbformat.reads(instructors_page(ASSIGNMENTS[name], notebook), as_version=4)
        said = plain("\n".join(cell.source for cell in page.cells))
        assert len(secrets(name)) > 20, name
        assert [secret for secret in secrets(name) if secret not in said] == []


def test_the_student_s_page_shows_stubs_figures_and_what_demonstrations_print(site):
    said = text_of(site / PAGE)
    assert "slices of the input: " in said  # printed by a loop
    assert re.search(r"In \d of 9 rows the largest dot product", said)  # markdown that a cell displays
    for name in ASSIGNMENTS:
        page, release = site / "notebooks" / f"{name}.html", release_of(name)
        said, cells = text_of(page), code_cells(release)
        stubs = "\n".join(cell.source for cell in cells).count("raise NotImplementedError  # your turn")
        assert said.count("raise NotImplementedError  # your turn") == stubs > 2, name
        assert not re.search(r"✓\s*\w+\.\w+: right", said), f"{name}: the exercises are empty"
        pictures = re.findall(r"<img [^>]*>", page.read_text())
        assert len(pictures) > 2, name
        assert [one[:80] for one in pictures if not re.search(r'alt="[^"]{30}', one)] == [], name


def test_each_part_of_the_course_has_its_pages_and_the_start_page_leads_to_every_notebook(site):
    names = {
        *(f"notebooks/{name}" for name in ASSIGNMENTS),
        *(f"guides/{page.stem}" for page in (ROOT / "docs").glob("*.md")),
        *(f"bugs/{page.stem}" for page in (ROOT / "docs" / "bugs").glob("*.md")),
        *(f"data/{page.parent.name}/{page.stem}" for page in (ROOT / "data").glob("*/*.md")),
        *("glossary", "notation", "references", "senses", "api", "api/coursekit", "api/autograder"),
    } - {"guides/glossary"}
    pages = {page.relative_to(site).with_suffix("").as_posix() for page in links.pages(site)}
    assert names - pages == set()
    start = (site / "index.html").read_text().partition("<article")[2].partition("</article>")[0]
    assert [name for name in ASSIGNMENTS if f'href="notebooks/{name}.html"' not in start] == []


def test_every_page_describes_itself_for_search_engines_and_previews(site):
    for page in (site / "index.html", site / PAGE, site / "glossary.html", site / "guides" / "students.html"):
        tags = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"', page.read_text()))
        assert 40 < len(tags["description"]) <= 230 and tags["description"] == tags["og:description"], page
        assert tags["og:title"] in text_of(page)
        assert (page.parent / tags["og:image"]).resolve().is_file()
    assert "Sixteen notebooks" in (site / "index.html").read_text().partition("</head>")[0]


def test_the_notebooks_are_one_click_away(site):
    """On each page, in the sidebar; on a notebook's also in the note at its top. The file is the zip for those who learn alone."""
    archives = set()
    for page in links.pages(site):
        (archive, *_) = re.findall(r'<a href="([^"]+\.zip)"', page.read_text())
        archives.add((page.parent / archive).resolve())
    (archive,) = archives
    with zipfile.ZipFile(archive) as students:
        assert students.testzip() is None
        for name in ASSIGNMENTS:
            place = f"words-in-context/notebooks/{name}/{name}"
            nbformat.validate(nbformat.reads(students.read(f"{place}.ipynb").decode(), as_version=4))
            assert json.loads(students.read(f"{place}.lent"))["key"], "who learns alone may borrow"
            assert (site / "notebooks" / f"{name}.html").read_text().count('.zip"') >= 2


def test_the_repository_is_where_the_clone_came_from(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert origin(tmp_path) == ""
    for address in ("git@example.org:us/course.git", "https://example.org/us/course.git"):
        subprocess.run(["git", "-C", tmp_path, "config", "remote.origin.url", address], check=True)
        assert origin(tmp_path) == "https://example.org/us/course"
    subprocess.run(["git", "-C", tmp_path, "config", "remote.origin.url", "/home/us/course"], check=True)
    assert origin(tmp_path) == ""


def test_the_page_on_where_to_work_opens_the_repository_elsewhere(site):
    page = (site / "guides" / "installing.html").read_text()
    section = page.partition('id="where-you-can-work"')[2].partition("<table")[0]
    assert re.findall(r'<a class="btn [^"]*" href="([^"]+)">([^<]+)</a>', section) == [
        (f"https://codespaces.new/{REPOSITORY}", "Open in Codespaces"),
        (
            f"https://mybinder.org/v2/gh/{REPOSITORY}/HEAD?urlpath=lab%2Ftree%2Fnotebooks%2Fstart.ipynb",
            "Open on Binder",
        ),
    ]
    assert hosts("") == {}, "where the repository is not known, nothing is offered"
    (address,) = hosts("https://gitlab.example.org/us/course").values()
    assert address.startswith(
        "https://mybinder.org/v2/git/https%3A%2F%2Fgitlab.example.org%2Fus%2Fcourse/HEAD?"
    )


def test_code_that_is_not_meant_to_be_read_is_folded(site):
    for name in ASSIGNMENTS:
        folded = [cell for cell in solution_of(name).cells if "hide-input" in cell.metadata.get("tags", [])]
        page = (site / "notebooks" / f"{name}.html").read_text()
        assert page.count("Show the code") == len(folded) > 0, name


def test_a_slider_stands_where_it_starts(site):
    page = (site / PAGE).read_text()
    after = page[page.index(TWIN) :][:2000]
    assert 'alt="The weight of bank on itself' in after
    assert [
        page.name for page in (site / "notebooks").iterdir() if "jupyter.widget" in page.read_text()
    ] == []


# -------------------------------------------------------------------------------------------------- links


def test_no_link_leads_nowhere_and_references_lead_outside(site):
    assert links.broken(site) == []
    outside = links.external(site)
    assert "https://arxiv.org/abs/1706.03762" in outside
    assert all(address.startswith("https://") for address in outside)
    in_the_notebook = links.external(site / "notebooks")
    assert "https://github.com/jsbaan/transformer-from-scratch/pull/6" in in_the_notebook


def test_a_link_to_a_missing_page_or_place_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a><a href="#here">a</a></p>')
    (tmp_path / "b.html").write_text('<p id="other"><img src="c.png"><a href="https://example.org">e</a></p>')
    assert links.broken(tmp_path) == [("a.html", "b.html#there"), ("b.html", "c.png")]
    assert links.external(tmp_path) == {"https://example.org"}


def test_no_page_has_a_script_a_style_or_a_picture_from_elsewhere(site):
    loads = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    assert {page.name: loads.findall(page.read_text()) for page in links.pages(site)} == {
        page.name: [] for page in links.pages(site)
    }


def test_a_name_that_no_notebook_has_is_a_sentence():
    assert "There is no assignment '13_nothing'" in main(["13_nothing"])


# ---------------------------------------------------------------------------------------------- a browser


@pytest.fixture
def visit(chromium, site):
    """Opens a page of the website without a network, and notes whatever goes wrong."""
    contexts, wrong = [], []

    def open_page(name: str, width: int = 1300, **settings):
        contexts.append(
            chromium.new_context(viewport={"width": width, "height": 900}, offline=True, **settings)
        )
        page = contexts[-1].new_page()
        page.on(
            "request", lambda one: None if one.url.startswith(("file:", "data:")) else wrong.append(one.url)
        )
        page.on("requestfailed", lambda one: wrong.append(f"failed: {one.url[:200]}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.goto(f"file://{site}/{name}")
        page.wait_for_function("!window.MathJax || (MathJax.startup && MathJax.startup.promise)")
        page.evaluate("window.MathJax && MathJax.startup.promise")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


PAGES = {
    "start": "index.html",
    "notebook": PAGE,
    "another notebook": "notebooks/01_static_embeddings.html",
    "notation": "notation.html",
    "glossary": "glossary.html",
    "guide": "guides/grading.html",
    "bug": "bugs/02_heads_without_a_transpose.html",
    "package": "api/autograder.html",
}
"""By kind, which names the tests: those that `-k 02_attention` chooses shall not execute all notebooks."""


@pytest.mark.parametrize("name", PAGES.values(), ids=PAGES)
def test_a_page_opens_without_a_network_and_fits_a_narrow_window(visit, name):
    page = visit(name, width=400)
    assert page.locator("article h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    broken = "[...document.images].filter(image => image.complete && !image.naturalWidth).length"
    assert page.evaluate(broken) == 0


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, colours):
    for name in (*PAGES.values(), "guides/installing.html", "search.html?q=softmax"):
        page = visit(name, width=1280, color_scheme=colours)
        if "search" in name:
            page.locator("#search-results li a").first.wait_for(timeout=20_000)
        assert serious_findings(page) == [], name


def test_formulas_are_typeset(visit):
    page = visit(PAGE)
    formulas = page.locator(".math").count()
    assert formulas > 5
    assert page.locator(".math mjx-container").count() == formulas
    assert page.locator("mjx-merror").count() == 0
    fonts = page.evaluate(
        "document.fonts.ready.then(all => [...all].filter(f => f.status == 'error').length)"
    )
    assert fonts == 0


def test_a_first_visit_takes_less_than_a_megabyte(chromium, site):
    """Every file that the first page asks for, as it lies on the disk: a server would send it compressed."""
    context = chromium.new_context()
    page, files = context.new_page(), set()
    page.on("request", lambda one: files.add(urlsplit(one.url).path) if one.url.startswith("file:") else None)
    page.goto(f"file://{site}/index.html", wait_until="networkidle")
    sizes = {file: Path(unquote(file)).stat().st_size for file in files}
    context.close()
    assert len(sizes) > 8 and any(file.endswith("cell.png") for file in sizes)
    assert sum(sizes.values()) < 1e6, sorted(sizes.items(), key=lambda one: -one[1])[:5]


def test_the_first_page_shows_a_card_and_has_two_buttons(visit):
    page = visit("index.html")
    second = page.locator("article img").nth(1)
    assert (
        "names the mistake" in second.get_attribute("alt")
        and second.evaluate("one => one.naturalWidth") > 300
    )
    start, instructors = page.locator("article a.btn").all()
    assert "Start" in start.inner_text() and start.get_attribute("href").endswith(".zip")
    instructors.click()
    assert page.locator("article h1").inner_text().startswith("The first hour")


@pytest.mark.parametrize("name", PAGES.values(), ids=PAGES)
def test_a_title_is_said_once_and_there_is_a_favicon(site, name):
    page = (site / name).read_text()
    assert page.count("<h1") == 1
    title = unescape(re.search("<title>(.*?)</title>", page)[1])
    assert len(set(parts := re.split(" [—-] ", title))) == len(parts)
    icon = re.search(r'<link rel="icon" href="([^"?]+)', page)[1]
    assert (site / name).parent.joinpath(icon).is_file()


def test_a_reader_s_dark_setting_is_followed(visit):
    ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    assert max(visit(PAGE, color_scheme="dark").evaluate(ground)) < 60
    assert min(visit(PAGE, color_scheme="light").evaluate(ground)) > 200


def test_the_search_finds_a_term_in_the_notebook_and_the_glossary_first(visit):
    page = visit("search.html?q=softmax")
    found = page.locator("#search-results > ul > li > a")
    page.locator("#search-results li a", has_text="autograder.").first.wait_for(timeout=20_000)
    places = [link.get_attribute("href").partition("?")[0] for link in found.all()]
    first_module = next(i for i, place in enumerate(places) if place.startswith("api/"))
    assert {PAGE, "glossary.html"} <= {place.partition("#")[0] for place in places[:first_module]}
    assert all(place.startswith("api/") for place in places[first_module:])


def test_a_result_leads_to_the_section_and_shows_the_words_in_it(visit):
    page = visit("search.html?q=padding+masks")
    result = page.locator(f"#search-results li:has(a[href^='{PAGE}'])").first
    shown = result.locator("p.context")
    shown.wait_for(timeout=20_000)
    marked = [word.lower() for word in shown.locator("mark").all_inner_texts()]
    assert marked and all(word.startswith(("pad", "mask")) for word in marked)
    title = result.locator("a").inner_text().rpartition(" › ")[2]
    result.locator("a").click()
    place = urlsplit(page.url).fragment
    section = page.locator(f"[id='{place}']")
    assert title in section.locator("h1, h2, h3").first.inner_text()
    assert re.search(r"\bpad", section.inner_text(), re.I) and re.search(
        r"\bmask", section.inner_text(), re.I
    )
