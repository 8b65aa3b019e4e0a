"""Formulas as MathML, which browsers draw themselves: formgrader and feedback need no MathJax from a network."""

from html import escape, unescape
from xml.etree import ElementTree

from latex2mathml.converter import convert_to_element

ATTRIBUTES = {
    "xmlns", "display", "mathvariant", "displaystyle", "scriptlevel", "linethickness", "accent", "accentunder",
    "stretchy", "fence", "form", "separator", "symmetric", "largeop", "movablelimits", "minsize", "maxsize",
    "lspace", "rspace", "width", "height", "depth", "voffset", "notation",
    "columnalign", "columnspacing", "columnlines", "rowspacing", "rowlines",
}  # fmt: skip
"""What an element may have: \\href and \\style would let a student's formula lead a reader elsewhere."""


def mathml(latex: str, display: str) -> str:
    """A formula as a MathML element; one that is no LaTeX (a student wrote it) stays as it was typed.

    The converter's own `convert` would turn `\\text{&lt;script&gt;}` into a script; here the text of an element stays text.
    """
    try:
        element = convert_to_element(unescape(latex), display=display)
    except Exception:  # the converter's errors have no common name
        return f"<code>{escape(unescape(latex))}</code>"
    for part in element.iter():
        part.attrib = {name: value for name, value in part.attrib.items() if name in ATTRIBUTES}
        part.text = unescape(part.text or "")  # the converter writes signs as character references
    return ElementTree.tostring(element, encoding="unicode")
