"""Every section of the website with its words: what _static/search.js leads to, and shows of it."""

import json
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import desc, desc_signature

FILE = "search-sections.js"
UNITS = (nodes.section, desc)
CODE = (nodes.literal_block, nodes.doctest_block, nodes.math_block)
SILENT = (nodes.raw, nodes.comment, nodes.image, nodes.system_message, desc_signature, nodes.title)


def write_sections(app, exception) -> None:
    """Write the sections of all pages as a script, since a page on a disk may load no other file. At the end of a build."""
    if exception or app.builder.format != "html":
        return
    pages = {name: list(sections(app.env.get_doctree(name))) for name in sorted(app.env.found_docs)}
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    Path(app.outdir, "_static", FILE).write_text(f"const SECTIONS = {text};\n", encoding="utf-8")


def sections(page: nodes.document) -> Iterator[tuple[str, str, str, str]]:
    """(place, title, prose, code) of each section of a page, and of each class and function that it describes."""
    for unit in page.findall(lambda node: isinstance(node, UNITS)):
        head = unit.next_node(nodes.title if isinstance(unit, nodes.section) else desc_signature)
        places = unit["ids"] if isinstance(unit, nodes.section) else head["ids"]
        if not places:
            continue
        prose: list[str] = []
        code: list[str] = []
        for part in unit.children:
            _gather(part, prose, code)
        yield places[0], _in_one_line([head.astext()]), _in_one_line(prose), _in_one_line(code)


def _gather(node: nodes.Node, prose: list[str], code: list[str]) -> None:
    """The words of a node, without those of sections in it."""
    if isinstance(node, (*UNITS, *SILENT)):
        return
    if isinstance(node, CODE):
        code.append(node.astext())
    elif isinstance(node, nodes.TextElement):
        prose.append(node.astext())
    else:
        for child in node.children:
            _gather(child, prose, code)


def _in_one_line(texts: list[str]) -> str:
    return " ".join(" ".join(texts).split())
