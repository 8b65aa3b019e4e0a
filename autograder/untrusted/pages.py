"""The pages of formgrader and feedback: what students wrote is rendered by `rendered`, and nothing of it can run.

Two walls stand one behind the other: only listed elements and addresses come into a page, and the page's content security
policy lets no script run but nbgrader's own, and nothing be loaded from elsewhere.
"""

import copy
import time
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import ansi2html
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.server_extensions.formgrader.handlers import template_path
from traitlets.config import Config

from autograder.course import Assignment, notebook_of
from autograder.source import is_demo
from autograder.untrusted import budgets
from autograder.untrusted.budgets import TooMuch
from autograder.untrusted.templates import OURS, escaped, scripts_of_attributes
from autograder.untrusted.titles import titles

NOTHING_ELSE = "base-uri 'none'; object-src 'none'; frame-src 'none'; form-action 'none'"
ALONE = f"default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; {NOTHING_ELSE}"
"""The policy of a page that needs nothing but itself."""

OF_FORMGRADER = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'unsafe-hashes' {hashes}; connect-src 'self'; img-src {pictures}; "
    f"font-src 'self' data:; style-src 'self' 'unsafe-inline'; {NOTHING_ELSE}"
)
"""Not 'self' for scripts: under formgrader's address lie the files that students handed in, too."""

A_STUDENTS_FILE = f"{ALONE}; sandbox"
"""The policy of a file beside the notebook: formgrader serves it under its own address."""

NO_MATHJAX = "var MathJax = {Hub: {Startup: {signal: {Interest: (listener) => listener('End')}}}};"
"""nbgrader's script waits for MathJax before it listens to the keyboard; our formulas need none."""

NOT_RUN = "This cell only displays something, so it was not run for grading: run it in the notebook to see the output.\n"


def policy_of_formgrader(nonce: str, pictures: str = "'self' data:") -> str:
    """The policy of formgrader's pages, in which only scripts with this nonce run. `pictures` says where they come from."""
    return OF_FORMGRADER.format(nonce=nonce, hashes=" ".join(scripts_of_attributes()), pictures=pictures)


class Pages(HTMLExporter):
    """HTMLExporter for what cannot be trusted. It is configured by the same settings.

    Formgrader sets for each page the nonce of its response, and the names of the host that serves it.
    """

    nonce = ""
    hosts: tuple[str, ...] = ()

    def __init__(self, config: Config | None = None, **kw: Any):
        config = copy.deepcopy(config or Config())
        folders = config.HTMLExporter.get("extra_template_basedirs", [])
        config.HTMLExporter.extra_template_basedirs = [str(OURS), *folders, template_path]
        super().__init__(config=config, **kw)
        self.sanitize_html = True  # no JavaScript, no widgets, and all HTML through `clean_html`
        self.filters = {
            **self.filters,
            "markdown2html": self._markdown,
            "highlight_code": self._code,
            "clean_html": self._output,
            "ansi2html": self._printed,
            "called": self._called,
            "strip_files_prefix": lambda html: (
                html
            ),  # it would change addresses after they have been looked at
        }

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own exporters return a str as well
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """A whole page of HTML with its policy. Every page has a budget of its own for what students wrote."""
        self._seconds, self._characters = 0.0, 0
        resources = {**(resources or {}), "nonce": self.nonce}
        self._assignment = self._find_assignment(resources)
        resources["titles"] = titles(self._assignment.root, self._assignment.name)
        page, resources = super().from_notebook_node(_bounded(nb), resources, **kw)
        return self._guarded(page), resources

    def _create_environment(self) -> Environment:
        """nbconvert's, in which the templates of nbgrader escape what they are given."""
        return escaped(super()._create_environment(), "resources.nonce")

    def _guarded(self, page: str) -> str:
        """With the policy in its head: only nbgrader's scripts stand before it, and what a student wrote behind.

        And with the language of nbgrader's words, by which a screen reader chooses its voice.
        """
        page = page.replace("<html>", '<html lang="en">', 1)
        if self.template_name != "formgrade":
            return page.replace("<head>", f"<head>{_meta(ALONE)}", 1)
        policy = _meta(policy_of_formgrader(self.nonce, "data:"))
        script = f'<script nonce="{self.nonce}">{NO_MATHJAX}</script>'
        return page.replace("</head>", f"{script}{policy}</head>", 1)

    def _find_assignment(self, resources: dict[str, Any]) -> Assignment:
        """Feedback and formgrader call the two names differently."""
        where = resources.get("nbgrader", {})
        name = where.get("assignment") or resources.get("assignment_id", "")
        notebook = where.get("notebook") or resources.get("notebook_id", "")
        return notebook_of(Path(self.config.CourseDirectory.get("root", Path.cwd())), name, notebook)

    # Filters of the templates

    def _called(self, name: str, words: str = "") -> str:
        """What a cell with this grade id is called; nbgrader's `words`, or the id, where it has no title."""
        titles = self._assignment.titles
        if name not in titles:
            return words or name
        return f"Check of {titles[name]}" if name in self._assignment.by_check_id else titles[name]

    @pass_context
    def _markdown(self, context: Context, source: str) -> str:
        attachments = context.get("cell", {}).get("attachments", {})
        return self._written("markdown", source, attachments or None, self.hosts)

    def _code(self, source: str, language: str | None = None, metadata: Any = None) -> str:
        return self._written("code", source)

    def _output(self, html: str) -> str:
        return html if isinstance(html, Made) else self._written("output", str(html))

    def _printed(self, text: str) -> str:
        return ansi2html(budgets.cut_off(text, "printed"))

    def _written(self, kind: str, source: str, *more: Any) -> "Made":
        """HTML by the scribe; of what is beyond a budget its beginning, as it was typed."""
        shown = budgets.cut_off(source, kind)
        self._characters += len(shown)
        if shown != source:
            return as_typed(shown)
        if self._characters > budgets.PAGE_CHARACTERS or self._seconds > budgets.PAGE_SECONDS:
            return as_typed(source, "The notebook is too large to show all of it in colour.")
        began = time.monotonic()
        try:
            return Made(_scribe(kind, source, *more))
        except TooMuch as error:
            return as_typed(source, str(error))
        finally:
            self._seconds += time.monotonic() - began


class Made(str):
    """HTML that was made here: some templates clean what others do not."""


def as_typed(text: str, why: str = "") -> Made:
    """The text without any interpretation; with a reason only its beginning."""
    note = f"<p><i>{escape(why)}</i></p>" if why else ""
    if why and len(text) > budgets.SHOWN_OF_TOO_MUCH:
        text = f"{text[: budgets.SHOWN_OF_TOO_MUCH]} …"
    return Made(f'<pre style="white-space: pre-wrap">{escape(text)}</pre>{note}')


def _scribe(kind: str, source: str, *more: Any) -> str:
    """Most texts are the release's own and come again with every student. Long ones would fill the memory."""
    if len(source) > 5000 or any(isinstance(one, dict) for one in more):  # attachments
        return budgets.scribe.write(kind, source, *more)
    return _remembered(kind, source, *more)


@lru_cache(maxsize=2000)
def _remembered(kind: str, source: str, *more: Any) -> str:
    return budgets.scribe.write(kind, source, *more)


def _bounded(nb: NotebookNode) -> NotebookNode:
    """With the texts of raw cells as code, which no template interprets, and no more outputs than can be shown.

    A demonstration that was not run says so: the figure that its reader looks for is in the student's own notebook.
    """
    shown = NotebookNode(nb, cells=[NotebookNode(cell) for cell in nb.cells])
    room = budgets.MOST_OUTPUTS
    for cell in shown.cells:
        if cell.cell_type == "raw":
            cell.cell_type = "markdown"
            cell.source = "\n".join(f"    {line}" for line in cell.source.splitlines())
        if cell.cell_type == "code":
            if is_demo(cell) and not cell.outputs:
                cell.outputs = [new_output("stream", text=NOT_RUN)]
            cell.outputs = cell.outputs[:room]
            room -= len(cell.outputs)
    return shown


def _meta(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
