"""Sphinx's settings for the course's website. `make book` lays out the sources and then calls Sphinx with these."""

import hashlib
import os
import re
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path
from shutil import copy
from textwrap import shorten

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole

from tools.book.hosts import offer_hosts
from tools.book.sections import write_sections

WITH_SOLUTIONS = os.environ.get("BOOK_KIND") == "with-solutions"

project = "Words in Context"
author = "The authors of Words in Context"
project_copyright = "the authors of Words in Context; prose and figures CC BY 4.0, code BSD 3-Clause"
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["start/*"]  # sections of the start page, included by pages of ours
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # tools/book/execution.py runs the notebooks, and keeps the runs
nb_merge_streams = True
nb_output_stderr = "remove"
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
suppress_warnings = [
    "toc.empty_glob",  # a website of one notebook
    "ref.python",  # two classes of one name: the link in a signature leads to one of them
]

default_role = "code"
highlight_language = "text"  # of blocks that name no language: mostly commands
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True  # as written, not as Python prints them
autodoc_use_type_comments = False  # there are none, and each function would be parsed for them
autodoc_default_options = {"no-value": True, "member-order": "bysource"}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
toc_object_entries = False

html_theme = "sphinx_book_theme"
html_title = "Words in Context, with solutions" if WITH_SOLUTIONS else "Words in Context"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static", "../images/cell.png"]
templates_path = ["_templates"]
html_css_files = ["book.css"]
html_search_scorer = str(
    Path(__file__).with_name("_static") / "scorer.js"
)  # notebooks and the glossary before pages of modules
html_baseurl = os.environ.get("SITE_URL", "")  # where the website will stand: previews of links need it
html_copy_source = False  # the sources of pages are no pages
html_show_sphinx = False
html_show_search_summary = (
    False  # would fetch pages, which a browser refuses for files on a disk: see search.js
)
html_theme_options = {
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "use_download_button": False,
    "max_navbar_depth": 2,  # a package's page lists its modules
    "navbar_persistent": [],  # the search field stands in the sidebar
}
html_context = {"default_mode": "auto"}  # light or dark as the reader's machine is set

# MathJax ------------------------------------------------------------------------------------------------

MATHJAX = "tex-chtml-full.js"
MATHJAX_SHA256 = "91b005503c5d1f0958bf4d73ada1a3be33596b2c4ab5da22277f1b0d3149b5a4"
"""The digest of that file in MathJax 3.2.2 as its authors published it (npm's `mathjax`, folder es5)."""

mathjax_path = f"mathjax/{MATHJAX}"
# The menu loads parts that we do not ship when one of its entries is chosen.
mathjax3_config = {"options": {"enableMenu": False}}


def copy_mathjax(app, exception):
    """MathJax as one file with its fonts, from the package that carries it, into the website; its licence lies in _static."""
    if exception:
        return
    package = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    if hashlib.sha256((package / MATHJAX).read_bytes()).hexdigest() != MATHJAX_SHA256:
        raise ExtensionError(f"{package / MATHJAX} is not the file that MathJax's authors published.")
    fonts = Path("output", "chtml", "fonts", "woff-v2")
    target = app.outdir / "_static" / "mathjax"
    (target / fonts).mkdir(parents=True, exist_ok=True)
    for path in (package / MATHJAX, *(package / fonts).glob("*.woff")):
        copy(path, target / path.relative_to(package))


# What search engines and previews of links are told, and what is one click away ------------------------

ZIP = "words-in-context-student.zip"  # tools/book lays it beside the pages
REPOSITORY = os.environ.get("BOOK_REPOSITORY", "")
PREVIEW = "_static/cell.png"
LONGEST = 230  # of a description, in letters


def describe_page(app, pagename, templatename, context, doctree):
    """A description in the page's head: its first paragraph. And links to the notebooks and the repository in its sidebar."""
    paragraph = next((text for text in map(_words, _paragraphs(doctree)) if len(text) > 40), "")
    title = re.sub("<[^>]*>", "", context.get("title", "")) or project
    address = html_baseurl.rstrip("/") + "/" if html_baseurl else ""
    described = {
        "og:type": "website" if pagename == "index" else "article",
        "og:site_name": project,
        "og:title": unescape(title),
        "og:description": shorten(paragraph, LONGEST, placeholder=" …"),
        "og:image": address + PREVIEW if address else context["pathto"](PREVIEW, 1),
        "og:image:alt": 'The GloVe vectors of 21 words in a plane; "cell" stands between its three senses.',
        "og:url": address + app.builder.get_target_uri(pagename) if address else "",
    }
    tags = [
        f'<meta property="{name}" content="{escape(text)}" />' for name, text in described.items() if text
    ]
    if paragraph:
        tags.append(f'<meta name="description" content="{escape(described["og:description"])}" />')
    tags.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)
    context["theme_icon_links"] = [
        {"name": "Download the notebooks (zip)", "url": context["pathto"](ZIP, 1), "icon": "fa-solid fa-download",
         "attributes": {"target": "_self"}},
    ]  # fmt: skip
    if REPOSITORY:
        context["theme_icon_links"].append(
            {"name": "The repository", "url": REPOSITORY, "icon": "fa-solid fa-code-branch"}
        )


def name_toggles(app, pagename, templatename, context, doctree):
    """A name for each arrow in the sidebar that opens what is below a page: the theme gives it none."""
    theirs = context["generate_toctree_html"]

    def generate_toctree_html(**options):
        tree = theirs(**options)  # in the order of the theme's call, whose result the theme keeps
        for arrow in tree("summary"):
            arrow["aria-label"] = f"Pages below {arrow.find_parent('li').find('a').get_text(strip=True)}"
        return tree

    context["generate_toctree_html"] = generate_toctree_html


def show_parameters(app, pagename, templatename, context, doctree):
    """The parameters of a long signature as plain blocks: Sphinx writes a list of definitions that define nothing."""
    if pagename.startswith("api/"):
        context["body"] = SIGNATURE_LIST.sub(_as_blocks, context["body"])


SIGNATURE_LIST = re.compile(r"<dl>\n(<dd>.*?)</dl>", re.DOTALL)


def _as_blocks(match):
    parameters = match[1].replace("<dd>", "<div>").replace("</dd>", "</div>")
    return f'<div class="sig-params">\n{parameters}</div>'


def add_buttons(app, docname, source):
    """Where the guide on installing says where one can work."""
    if docname == "guides/installing":
        source[0] = offer_hosts(source[0], REPOSITORY)


def _paragraphs(doctree):
    """Those that stand in the text itself, not in a box, a list or a table."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    return (one for one in paragraphs if isinstance(one.parent, nodes.section | nodes.document))


def _words(paragraph):
    """A paragraph on one line, without its formulas."""
    formulas = [node.astext() for node in paragraph.findall(nodes.math)]
    text = paragraph.astext()
    for formula in formulas:
        text = text.replace(formula, "…")
    return " ".join(text.split())


# Our notation -------------------------------------------------------------------------------------------


class NotebookRole(SphinxRole):
    """{nb}`02`: a link to the page of notebook 02, or its number alone where it has no page."""

    def run(self):
        name = re.compile(rf"notebooks/{re.escape(self.text)}(_.+)?")
        page = next((doc for doc in self.env.found_docs if name.fullmatch(doc)), None)
        number = nodes.inline(self.rawtext, self.text)
        if page is None:
            return [number], []
        link = pending_xref(
            self.rawtext, number, refdomain="std", reftype="doc", reftarget=f"/{page}", refexplicit=True
        )
        link["refdoc"] = self.env.docname
        return [link], []


def docstring_as_text(app, what, name, obj, options, lines):
    """Docstrings here are plain text: paragraphs, `code` in backticks, indented lines that are kept as they are."""
    text, verbatim = [], False
    for line in lines:
        if line.startswith("  "):
            if not verbatim:
                text += ["", "::", ""]
            verbatim = True
        elif line:
            if verbatim:
                text.append("")
            verbatim = False
            line = _escaped(line)
        text.append(line)
    lines[:] = [*text, ""]


def without_modules(app, what, name, obj, options, signature, returns):
    """Float[Tensor, "B T"] without the module of each name: Sphinx cannot read jaxtyping's axes, and leaves them in."""
    return tuple(part and re.sub(r"~[\w.]+\.", "", part) for part in (signature, returns))


def _escaped(line):
    """Backticks mark code and a pair of stars emphasis; nothing else is special to a reader."""
    parts = re.split(r"(`+)(.+?)\1", line)
    plain, code = parts[::3], parts[2::3]
    plain = [re.sub(r"(?<![\w*])(\*\w[^*]*\*)(?![\w*])|([*_|\\`])", _escape, part) for part in plain]
    plain = [re.sub(r"^(\s*)([-+]|\d+\.|\.\.|>>>)(?= )", r"\1\\\2", part) for part in plain[:1]] + plain[1:]
    marked = [f"\\ ``{part.strip()}``\\ " for part in code]
    return "".join(x for pair in zip(plain, [*marked, ""], strict=True) for x in pair)


def _escape(found):
    emphasis, special = found.groups()
    return emphasis or "\\" + special


def setup(app):
    app.add_role("nb", NotebookRole())
    app.connect("autodoc-process-docstring", docstring_as_text)
    app.connect("autodoc-process-signature", without_modules)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", write_sections)
    app.connect("html-page-context", describe_page)
    app.connect("html-page-context", name_toggles, priority=900)  # after the theme's own
    app.connect("html-page-context", show_parameters)
    app.connect("source-read", add_buttons)
    # Links to notebooks depend on which there are: another set, and all pages are read again.
    app.add_config_value("notebooks", [], "env")
    app.add_config_value("repository", REPOSITORY, "env")
    app.connect("config-inited", _list_notebooks)


def _list_notebooks(app, config):
    config.notebooks = sorted(path.stem for path in Path(app.srcdir, "notebooks").glob("*.ipynb"))
