"""What students wrote, as HTML that an instructor's browser may draw: every element and address is on a list.

It is the HTML that is cleaned, not what it was made from: Markdown makes links and pictures of text in which no cleaner
sees them. What is made here of formulas and code stands aside meanwhile, so that a student's HTML needs no class, no
style and no MathML. `untrusted` calls these functions, in a process of its own.
"""

import os
import re
import secrets
import socket
from collections.abc import Collection
from functools import cache
from html import escape, unescape
from urllib.parse import unquote, urlsplit

import nh3
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from autograder.untrusted.formulas import mathml

Attachments = dict[str, dict[str, str]]  # {name: {media type: base64}}

ELEMENTS = set(
    "a abbr b blockquote br caption cite code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p "
    "pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var".split()
)
ATTRIBUTES = {
    "*": set(),
    "a": {"href"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "style"},
    "th": {"colspan", "rowspan", "style"},
}
PICTURES = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
)  # of attachments; `cells` keeps the same. An SVG may hold links and scripts
MAIL = re.compile(r"mailto:[^\x00-\x20]+", re.IGNORECASE)
LINK = re.compile(
    r"https?://(?P<host>(?:[a-z0-9_-]+\.)+(?:[a-z]{2,}|xn--[a-z0-9-]+))\.?(?::\d+)?(?P<path>[/?#][^\x00-\x20]*)?",
    re.IGNORECASE | re.ASCII,
)
"""To a host with a name of several parts. Numbers, names of one part, a user before the host and signs that browsers read as
others are the ways to write the host that serves the page so that it looks like another."""
OF_THIS_NETWORK = {"arpa", "internal", "local", "localdomain", "localhost"}
OF_A_HUB = ("JUPYTERHUB_HOST", "JUPYTERHUB_PUBLIC_URL", "JUPYTERHUB_PUBLIC_HUB_URL")
"""Variables in which JupyterHub tells a server where its users find it."""
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
ALIGNED = re.compile(r"text-align: ?(?:left|center|right);?")  # as the tables of Markdown have it
ALLOWED = {("img", "src"): PICTURE, ("td", "style"): ALIGNED, ("th", "style"): ALIGNED}


def markdown(source: str, attachments: Attachments | None = None, hosts: Collection[str] = ()) -> str:
    """HTML of a Markdown cell, with its attached pictures. `hosts` as in `clean`."""
    renderer = Renderer(attachments or {})
    dirty = MarkdownWithMath(renderer=renderer).render(source)
    return renderer.put_back(clean(dirty, hosts))


def clean(html: str, hosts: Collection[str] = ()) -> str:
    """Only the elements, attributes and addresses that are allowed. Links open a page that knows nothing of this one.

    No link leads to `hosts`, the names of the host that serves the page: a link that an instructor clicks acts with the
    instructor's login there.
    """
    own = frozenset(host.lower() for host in hosts) | names_of_this_host()

    def allowed(element: str, attribute: str, value: str) -> str | None:
        if (element, attribute) == ("a", "href"):
            return value if MAIL.fullmatch(value) or leads_elsewhere(value, own) else None
        pattern = ALLOWED.get((element, attribute))
        return value if pattern is None or pattern.fullmatch(value) else None

    return nh3.clean(
        html,
        tags=ELEMENTS,
        attributes=ATTRIBUTES,
        attribute_filter=allowed,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def leads_elsewhere(address: str, own: Collection[str]) -> bool:
    """Whether a link surely leads to a host that is not this one.

    A page of feedback does not know where it will be read, so that formgrader's addresses are refused at every host.
    """
    match = LINK.fullmatch(address)
    if match is None:
        return False
    host = match["host"].lower()
    in_formgrader = "formgrader" in _decoded(match["path"] or "").lower()
    return host not in own and host.rpartition(".")[2] not in OF_THIS_NETWORK and not in_formgrader


def _decoded(path: str) -> str:
    """Decoded as often as it is encoded, within reason: servers in front of others decode once more."""
    for _ in range(5):
        path = unquote(path)
    return path


@cache
def names_of_this_host() -> frozenset[str]:
    """Names under which a browser may find this machine, or the hub that started this server."""
    hub = [urlsplit(os.environ.get(name, "")).hostname for name in OF_A_HUB]
    return frozenset(name.lower() for name in (socket.gethostname(), *hub) if name)


def output(html: str) -> str:
    """The HTML of a cell's output. Only verdicts have any, but the file that holds them may be changed."""
    return nh3.clean(  # what the box with a verdict needs, which `autograded` makes
        html,
        tags={"div", "b"},
        attributes={"div": {"style"}, "b": {"style"}},
        filter_style_properties={"border-left", "padding", "color", "white-space"},
    )


def code(source: str, language: str = "ipython3") -> str:
    """Highlighted source."""
    formatter = HtmlFormatter(cssclass="highlight")
    return highlight(source or " ", get_lexer_by_name(language), formatter)


class Renderer(IPythonRenderer):
    """Markdown as nbconvert renders it, but for formulas, code and pictures."""

    def __init__(self, attachments: Attachments):
        super().__init__(escape=False, attachments=attachments, exclude_anchor_links=True)
        self._mark = secrets.token_hex(16)  # nobody can have written it
        self._aside: list[str] = []

    def put_back(self, html: str) -> str:
        """What stood aside in its places. In an attribute, where broken HTML may have taken a mark, is no place."""
        mark = rf"{self._mark}-(\d+)-"

        def back(match: re.Match[str]) -> str:
            if match[1] is None:  # a whole tag
                return re.sub(mark, "", match[0])
            return self._aside[int(match[1])]

        # nh3 writes attributes in double quotes, and no such quote within them.
        return re.sub(rf'<[^<>"]*(?:"[^"]*"[^<>"]*)*>|{mark}', back, html)

    def block_math(self, body: str) -> str:
        """A formula on a line of its own, as MathML, which no cleaner would let through."""
        return self._put_aside(mathml(body, "block"))

    def inline_math(self, body: str) -> str:
        """A formula within a sentence, as MathML."""
        return self._put_aside(mathml(body, "inline"))

    def latex_environment(self, name: str, body: str) -> str:
        r"""A formula between \begin and \end, which has no dollar signs, as MathML."""
        return self._put_aside(mathml(rf"\begin{{{name}}}{body}\end{{{name}}}", "block"))

    def block_code(self, code_: str, info: str | None = None) -> str:
        """A fenced or indented block, highlighted if its first line names a language that pygments knows."""
        try:
            return self._put_aside(code(code_, (info or "").split()[0])) + "\n"
        except (IndexError, ClassNotFound):  # no language, or one that nobody knows
            return self._put_aside(f"<pre>{escape(code_)}</pre>") + "\n"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that is attached; of any other only its description."""
        name = unescape(url).removeprefix("attachment:")
        kinds = self.attachments.get(name, {}) if name != unescape(url) else {}
        for kind in PICTURES:
            if kinds.get(kind):
                return super().image(text, f"data:{kind};base64,{''.join(kinds[kind].split())}", None)
        if PICTURE.fullmatch(url):
            return super().image(text, url, None)
        what = "a picture that is not attached"
        if kinds:
            what = (
                f"a picture of type {escape(next(iter(kinds)))}, which cannot be shown here; it can be seen in the submitted notebook, "
                "and PNG or JPEG would be shown"
            )
        return f"({text}: {what})" if text else f"({what})"

    def _put_aside(self, html: str) -> str:
        self._aside.append(html)
        return f"{self._mark}-{len(self._aside) - 1}-"


RENDERERS = {function.__name__: function for function in (markdown, output, code)}
