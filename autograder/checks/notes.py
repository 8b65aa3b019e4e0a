"""A short framed text in a notebook: for hints, predictions, and cells that wait for an answer."""

import re
from dataclasses import dataclass
from html import escape

# Blue for right and orange for wrong: told apart by everyone, and seen on JupyterLab's light and dark pages. Words have the
# page's own colour: no colour is dark enough for words on white and light enough for words on black.
RIGHT, WRONG, WAITING = "#0072b2", "#d55e00", "#7f7f7f"


def in_html(text: str) -> str:
    """Words that may be a student's, with `names` in backquotes shown as code and an *emphasised* word in italics."""
    emphasised = re.sub(r"(?<![\w*])\*([a-z]{2,20})\*(?![\w*])", r"<em>\1</em>", escape(text))
    return re.sub(r"`([^`]{1,80})`", r"<code>\1</code>", emphasised)


@dataclass(frozen=True)
class Note:
    """A title and some lines, with a coloured edge."""

    title: str
    lines: tuple[str, ...] = ()
    colour: str = RIGHT

    def text(self) -> str:
        """The title and the lines, where no frame can be shown."""
        return "\n  ".join([self.title, *self.lines])

    summary = text  # of a card it is shorter

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        rows = "".join(
            f'<div style="margin-top:4px;white-space:pre-wrap">{in_html(line)}</div>' for line in self.lines
        )
        html = (
            f'<div role="note" style="border-left:4px solid {self.colour};padding:6px 10px;margin:2px 0">'
            f'<div style="font-weight:600">{in_html(self.title)}</div>{rows}</div>'
        )
        return {"text/plain": self.text(), "text/html": html}
