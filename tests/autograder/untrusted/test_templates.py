"""nbgrader's templates for formgrader escape what they are given, and no script runs in them but nbgrader's own."""

import base64
import hashlib
import json
import re
from copy import deepcopy
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from traitlets.config import Config

from autograder.source import grade_id
from autograder.untrusted.pages import Pages, policy_of_formgrader
from autograder.untrusted.templates import FOLDER, escaping, formgraders
from tests.conftest import ROOT, release_of

HOSTILE = [
    "<img src=x onerror=top.ran=1>",
    '"><script>top.ran=1</script>',
    "</script><script>top.ran=1</script>",
    '"; top.ran=1; "',
    "'+(top.ran=1)+'",
    "\\",
    "${top.ran=1}",
    "{{ 7 * 7 }}",
    "a\nb\u2028c",
    '" onmouseover="top.ran=1',
    "javascript:top.ran=1",
]
ORDINARY = ["ada", "o'neil", "Zoë 北", "a b+c%2F?d#e&f"]
TEMPLATES = sorted(
    file.name for file in FOLDER.glob("*.tpl") if file.name != "formgrade_404.tpl"
)  # which nbgrader cannot render either: what it imports is not there
NONCE = "the-nonce"


class Page(HTMLParser):
    """What a browser sees: its scripts, its elements' attributes and its text."""

    CDATA_CONTENT_ELEMENTS = ("script", "style")

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.text = [], [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts[-1][1] += data
        else:
            self.text += data

    @property
    def form(self):
        """Its structure, which no value may change."""
        return self.tags, [name for name, _ in self.attributes]


def rendered(template: str, value: str) -> Page:
    names = "student_id assignment_id notebook_id current_config course_dir url_prefix exchange default_timezone error_code".split()
    values = dict.fromkeys(names, value) | {"base_url": "/user/eva", "exchange_missing": True}
    return Page(formgraders().get_template(template).render(**values, nonce=NONCE))


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_value_changes_what_a_page_is_made_of(template):
    usual = rendered(template, "ada")
    for value in [*HOSTILE, *ORDINARY]:
        page = rendered(template, value)
        assert page.form == usual.form, value
        assert all(script["nonce"] == NONCE for script, _ in page.scripts)
        for (_, code), (_, usually) in zip(page.scripts, usual.scripts, strict=True):
            texts = dict(re.findall(r"^ *var (\w+) = (.*);$", code, re.MULTILINE))
            assert code.count("\n") == usually.count("\n") and len(texts) == usually.count("var ")
            for name, text in texts.items():
                given = "/user/eva" if name == "base_url" else value
                assert json.loads(text) == (quote(given, safe="") if name.endswith("_id") else given)


def test_templates_put_values_where_the_tests_look():
    """Each kind of id is in a script, in an address and in the text of some page."""
    pages = [rendered(template, "o'neil") for template in TEMPLATES]
    assert sum(code.count('"o%27neil"') for page in pages for _, code in page.scripts) >= 7
    assert (
        sum(
            value.endswith("/o%27neil") for page in pages for name, value in page.attributes if name == "href"
        )
        >= 2
    )
    assert sum(page.text.count("o'neil") for page in pages) >= 5


def test_lists_call_assignments_and_notebooks_by_their_titles_and_keep_names_as_tooltips():
    titles = {"ps1": "Vectors & <their> lengths", "part": "A second notebook"}
    about = {"assignment_id": "ps1", "notebook_id": "part", "student_id": "ada", "base_url": ""}
    page = Page(
        formgraders()
        .get_template("gradebook_notebook_submissions.tpl")
        .render(**about, titles=titles, nonce=NONCE)
    )
    assert "Vectors & <their> lengths" in page.text and "A second notebook" in page.text
    assert "ps1" not in page.text
    assert {("title", "ps1"), ("title", "part")} <= set(page.attributes)
    (known,) = [re.search("const titles = (.*);", code)[1] for _, code in page.scripts if "titles" in code]
    assert json.loads(known) == titles
    assert ("href", "/formgrader/gradebook/ps1") in page.attributes
    untitled = rendered("gradebook_notebooks.tpl", "ps2")
    assert "ps2" in untitled.text and ("title", "ps2") in untitled.attributes
    for template in TEMPLATES:
        assert "Assignment ID" not in rendered(template, "x").text
    feedback = escaping((FOLDER / "feedback" / "index.html.j2").read_text(), "resources.nonce")
    assert "{{ resources.nbgrader.notebook | titled(resources.titles) | e }} (Score: " in feedback


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.*")), ids=lambda file: file.name)
def test_the_policy_names_each_script_of_an_attribute(file):
    policy = policy_of_formgrader(NONCE)
    for script in re.findall(
        r"\son\w+=[\"']([^\"']*)", file.read_text() if file.is_file() else "", re.IGNORECASE
    ):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy


def test_the_policy_lets_no_other_script_run():
    (scripts,) = [one for one in policy_of_formgrader(NONCE).split("; ") if one.startswith("script-src")]
    assert f"'nonce-{NONCE}'" in scripts
    for weak in ("'unsafe-inline'", "'unsafe-eval'", "'self'", "'strict-dynamic'", "http", "*"):
        assert weak not in scripts


def submission_page(value: str) -> Page:
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    exporter = Pages(config=config)
    exporter.nonce, exporter.hosts = NONCE, ("hub.example.edu",)
    about = {
        "grade_id": value,
        "grade": True,
        "solution": True,
        "points": 2,
        "task": False,
        "schema_version": 3,
    }
    text = "[here](https://hub.example.edu/user/eva/lab) and [there](https://example.org/)"
    notebook = new_notebook(cells=[new_markdown_cell(text, metadata={"nbgrader": about})])
    names = "student last_name first_name notebook_path assignment_id notebook_id submission_id".split()
    resources = dict.fromkeys(names, value) | {"base_url": "/user/eva", "index": 0, "total": 1}
    return Page(exporter.from_notebook_node(notebook, resources)[0])


@pytest.mark.slow
def test_no_value_changes_what_the_page_of_a_submission_is_made_of():
    usual = submission_page("ada")
    assert all(script["nonce"] == NONCE for script, _ in usual.scripts) and len(usual.scripts) > 10
    assert "there" in usual.text and "here" in usual.text
    assert ("href", "https://example.org/") in usual.attributes
    assert not any("hub.example.edu" in (value or "") for _, value in usual.attributes)
    for value in HOSTILE:
        page = submission_page(value)
        assert page.form == usual.form, value
        for (_, code), (_, usually) in zip(page.scripts, usual.scripts, strict=True):
            assert code == usually.replace('"ada"', f'"{quote(value, safe="")}"')


@pytest.mark.slow
def test_formgrader_calls_cells_as_the_notebook_does_and_keeps_their_ids_as_tooltips():
    config = Config()
    config.HTMLExporter.template_name, config.CourseDirectory.root = "formgrade", str(ROOT)
    written, exercise = "attention-reflection-b", "attention-similarities"
    chosen = (written, exercise, f"{exercise}-check")
    cells = [cell for cell in release_of("02_attention").cells if grade_id(cell) in chosen]
    foreign = new_markdown_cell("x", metadata=deepcopy(cells[0].metadata))
    foreign.metadata.nbgrader.grade_id = "<of another notebook>"
    names = "student last_name first_name notebook_path submission_id base_url".split()
    resources = dict.fromkeys(names, "ada") | {"index": 0, "total": 1}
    resources |= {"assignment_id": "02_attention", "notebook_id": "02_attention"}
    page, _ = Pages(config=config).from_notebook_node(new_notebook(cells=[*cells, foreign]), resources)
    assert re.findall(r'<span class="nbgrader-label" title="([^"]*)">([^<]*)</span>', page) == [
        (exercise, "similarities"),
        (f"{exercise}-check", "Check of similarities"),
        (written, "Question 2 · How attention contextualises"),
        ("&lt;of another notebook&gt;", "Student's answer"),
    ]
