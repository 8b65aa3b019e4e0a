"""nbgrader's own templates for formgrader, with what they lack: they escape nothing, and their scripts have no nonce.

And they call an assignment, a notebook and a cell by its id, where students read a title.

The templates are changed while they are read, so that a new version of nbgrader brings its own. What is put into HTML is
escaped by Jinja; in a script, an id becomes a string of JavaScript; in an address, it is quoted.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import BaseLoader, Environment, FileSystemLoader
from nbgrader.server_extensions.formgrader.handlers import template_path

FOLDER = Path(template_path)
SCRIPT = re.compile(r"<script\b(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL)
TEXT = re.compile(r'"\{\{ (?P<value>[\w.]+) \}\}(?P<rest>[^"{}]*)"')
"""In a script: a text that begins with a value."""
PART = re.compile(r"(?<=/)\{\{ ([\w.]+_id) \}\}")
"""An id as a part of an address."""
VALUE = re.compile(r"\{\{ ((?:resources|cell\.metadata)(?:\.\w+)+) \}\}")
"""In the templates that nbconvert's environment renders, which does not escape by itself."""
LABEL = re.compile(r'<span class="nbgrader-label">(?P<words>[^\n]*?)</span>')
"""What nbgrader writes over a cell that is graded or answered: the same words over all, or a grade id."""
SHOWN = re.compile(
    r"<(?P<element>(?:a|li|span|h4)\b[^>]*)>"
    r"\{\{ (?P<name>(?P<of>resources\.)?(?:(?:assignment|notebook)_id|nbgrader\.notebook)) \}\}(?P<rest>[ <])"
)
"""The id of an assignment or a notebook as the words of an element."""
COLUMN = re.compile(r"<th>(Assignment|Notebook) ID</th>")
UTILITIES = '<script src="{{ base_url }}/formgrader/static/js/utils.js"></script>'
OURS = Path(__file__).parents[1] / "templates" / "nbgrader"
RENAMING = (
    "<script>\nconst titles = {{ (titles or {}) | tojson }};\n"
    f"{(OURS / 'titles.js').read_text(encoding='utf-8')}</script>"
)
"""Of the lists, whose rows nbgrader's scripts make of what they fetch."""
STYLES = re.compile(r"<link\b[^>]*/formgrader/static/css/(?:nbgrader|formgrade)\.css[^>]*>")
NARROW = f"<style>\n{(OURS / 'formgrader.css').read_text(encoding='utf-8')}</style>"
ON_EVENT = re.compile(r'\bon\w+="([^"]*)"', re.IGNORECASE)


def formgraders() -> Environment:
    """The environment in place of nbgrader's.

    Its templates are to be rendered with the `nonce` of their response and the `titles` of assignments and notebooks.
    """
    return escaped(Environment(loader=FileSystemLoader(template_path), autoescape=True), "nonce")


def escaped(environment: Environment, nonce: str) -> Environment:
    """An environment of nbgrader's templates, which now escape their values; `nonce` as in `escaping`."""
    assert environment.loader
    environment.loader = EscapingLoader(environment.loader, nonce)
    environment.filters |= {"quoted": quoted, "titled": titled}
    return environment


def quoted(value: object) -> str:
    """An id as one part of an address."""
    return quote(str(value), safe="")


def titled(name: str, titles: Mapping[str, str] | None) -> str:
    """What an assignment or a notebook is called."""
    return (titles or {}).get(name, name)


class EscapingLoader(BaseLoader):
    """The templates of another loader; of those that are nbgrader's for formgrader, what `escaping` makes of them."""

    def __init__(self, theirs: BaseLoader, nonce: str):
        self._theirs, self._nonce = theirs, nonce

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        """As jinja2.BaseLoader has it."""
        source, file, is_current = self._theirs.get_source(environment, template)
        if file is not None and Path(file).is_relative_to(FOLDER):
            source = escaping(source, self._nonce)
        return source, file, is_current


def escaping(source: str, nonce: str) -> str:
    """The text of a template that escapes its values; `nonce` is the expression that gives the nonce in it."""

    def script(match: re.Match[str]) -> str:
        body = TEXT.sub(_as_javascript, match["body"])
        return f'<script nonce="{{{{ {nonce} }}}}"{match["attributes"]}>{body}</script>'

    source = COLUMN.sub(r"<th>\1</th>", SHOWN.sub(_shown, LABEL.sub(_label, source)))
    source = source.replace(UTILITIES, UTILITIES + RENAMING)
    source = STYLES.sub(lambda match: match[0] + NARROW, source)
    source = PART.sub(r"{{ \1 | quoted }}", SCRIPT.sub(script, source))
    return VALUE.sub(r"{{ \1 | e }}", source)


def _label(match: re.Match[str]) -> str:
    """What the cell is called, by the filter `called` of `pages`; a tooltip has the grade id."""
    name = "cell.metadata.nbgrader.grade_id"
    words = "" if "{{" in match["words"] else match["words"]
    return f'<span class="nbgrader-label" title="{{{{ {name} | e }}}}">{{{{ {name} | called("{words}") | e }}}}</span>'


def _shown(match: re.Match[str]) -> str:
    """The title, with the id as a tooltip."""
    name, titles = match["name"], f"{match['of'] or ''}titles"
    return f'<{match["element"]} title="{{{{ {name} | e }}}}">{{{{ {name} | titled({titles}) | e }}}}{match["rest"]}'


def _as_javascript(match: re.Match[str]) -> str:
    """nbgrader's scripts use ids in addresses alone."""
    value = match["value"]
    if value.endswith("_id"):
        value = f"{value} | quoted"
    if match["rest"]:
        value = f'({value} ~ "{match["rest"]}")'
    return f"{{{{ {value} | tojson }}}}"


@lru_cache
def scripts_of_attributes() -> tuple[str, ...]:
    """Hashes of the scripts in attributes such as onclick, which cannot carry a nonce, as a policy names them."""
    files = sorted(file for kind in ("*.tpl", "*.j2") for file in FOLDER.rglob(kind))
    scripts = [script for file in files for script in ON_EVENT.findall(file.read_text(encoding="utf-8"))]
    return tuple(dict.fromkeys(map(_hash, scripts)))


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
