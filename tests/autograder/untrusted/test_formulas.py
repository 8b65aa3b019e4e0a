"""Formulas in formgrader and feedback: MathML, drawn without a network, and safe whatever a student typed."""

import xml.etree.ElementTree as ElementTree

import pytest
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from traitlets.config import Config

from autograder.untrusted.formulas import mathml
from autograder.untrusted.pages import Pages
from autograder.untrusted.rendered import Renderer, markdown
from tests.conftest import ASSIGNMENTS


@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_neither_page_of_nbgrader_loads_mathjax(template):
    config = Config()
    config.HTMLExporter.template_name = template
    exporter = Pages(config=config)
    source, *_ = exporter.environment.loader.get_source(exporter.environment, "mathjax.html.j2")
    assert "MathML" in source


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_formula_of_the_course_can_be_drawn(name):
    for cell in ASSIGNMENTS[name].read_release().cells:
        if cell.cell_type == "markdown" and "$" in cell.source:
            html = markdown(cell.source)
            for formula in html.split("<math")[1:]:
                ElementTree.fromstring("<math" + formula.partition("</math>")[0] + "</math>")
            counting = Counting({})
            MarkdownWithMath(renderer=counting).render(cell.source)
            assert html.count("<math") == counting.formulas, cell.source


class Counting(Renderer):
    """Counts the formulas."""

    formulas = 0

    def _count(self, *parts):
        self.formulas += 1
        return ""

    block_math = inline_math = latex_environment = _count


@pytest.mark.parametrize(
    "latex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;script&gt;alert(1)&lt;/script&gt;}",
        r"\text{&amp;lt;script&amp;gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(http://example.org)}{x}",
        r"\class{formgrade-button}{x}",
        r'\colorbox{red" onload="alert(1)}{x}',
        r"\frac{<img src=x onerror=alert(1)>",
        "^{" * 5_000,
    ],
)
def test_a_formula_is_text_and_nothing_else(latex):
    made = mathml(latex, "inline")
    tree = ElementTree.fromstring(made)  # well-formed: what was typed stands in text, escaped
    assert {part.tag.rpartition("}")[2] for part in tree.iter()} <= {
        "math", "mrow", "mfrac", "mtext", "mi", "mo", "mn", "mpadded", "mstyle", "code",
    }  # fmt: skip
    for part in tree.iter():
        assert not {"href", "style", "class", "onload"} & set(part.attrib)


def test_what_is_no_formula_stays_as_it_was_typed():
    assert mathml(r"\frac{", "inline") == r"<code>\frac{</code>"
