"""A student's path from empty stubs to MiniLM's hidden states out of own code, in JupyterLab: notebooks 02, 03, then 06.

`SCREENSHOTS=docs/images make test TEST_ARGS="-k growing_model"` renews the picture in docs/.
"""

import re
import shutil

import nbformat
import pytest

from autograder.source import grade_id, is_demo, read_source
from tests.browser.conftest import open_notebook, pictures, run_all
from tests.conftest import ASSIGNMENTS, ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ATTENTION, BLOCKS, BERT = "02_attention", "03_transformer_layer", "06_bert"
CELLS = "window.jupyterapp.shell.currentWidget.content.widgets"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A student's folder with what the path needs of the three notebooks: stubs, checks, `keep`, `mine` and MiniLM."""
    monkeypatch.delenv("AUTOGRADER_HOME", raising=False)  # my_model.py lies beside the notebooks
    folder = tmp_path / "course"
    begin, end = 'mine("Block"', "differences(minilm, own_bert"
    for name, needed in (
        (ATTENTION, lambda cells: up_to(cells, 'check("attention.multi_head"')),
        (BLOCKS, lambda cells: [*up_to(cells, "keep(sinusoid"), *step_and_batches(cells)]),
        (BERT, lambda cells: [*up_to(cells, "mine("), *between(cells, begin, end)]),
    ):
        notebook = ASSIGNMENTS[name].read_release()
        notebook.cells = needed([cell for cell in notebook.cells if cell.cell_type == "code"])
        place = folder / "notebooks" / name
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{name}.ipynb")
        shutil.copy(ASSIGNMENTS[name].key, place)
    shutil.copytree(ROOT / "tools" / "jupyterlab", folder / "tools" / "jupyterlab")
    return folder


def up_to(cells: list, words: str) -> list:
    """The cells as far as the first one with these words; of demonstrations those alone that import for the exercises."""
    last = next(i for i, cell in enumerate(cells) if words in cell.source)
    first = next((i for i, cell in enumerate(cells) if grade_id(cell)), last)
    demos = [cell for cell in cells[:first] if "import " in cell.source]
    return [cell for cell in cells[:last] if not is_demo(cell) or cell in demos] + [cells[last]]


def step_and_batches(cells: list) -> list:
    """The exercises of which training is made, with what their checks need and the cells that keep them."""
    return [
        cell
        for first, last in (("def training_step", "keep(training_step)"), ("def collate", "keep(collate)"))
        for cell in between(cells, first, last)
    ]


def between(cells: list, begin: str, end: str) -> list:
    """All cells from the first one with these words to the first one with those."""
    first, last = (next(i for i, cell in enumerate(cells) if words in cell.source) for words in (begin, end))
    return cells[first : last + 1]


def open_and_answer(page, name: str) -> None:
    """Open a notebook, type the answer into each stub, and run all cells."""
    answers = {
        grade_id(cell): re.sub(r"^ *### (BEGIN|END) SOLUTION\n?", "", cell.source, flags=re.MULTILINE)
        for cell in read_source(ASSIGNMENTS[name].source).cells
    }
    open_notebook(page, f"notebooks/{name}/{name}.ipynb")
    cells = page.evaluate(f"() => {CELLS}.map(cell => cell.model.sharedModel.metadata.nbgrader ?? {{}})")
    for number, mark in enumerate(cells):
        if mark.get("solution"):
            page.evaluate(
                """async number => {
                    const notebook = window.jupyterapp.shell.currentWidget.content;
                    notebook.activeCellIndex = number;
                    await notebook.scrollToItem(number, "center");
                    notebook.mode = "edit";
                    notebook.widgets[number].editor.focus();
                }""",
                number,
            )
            page.keyboard.press("Control+a")
            page.keyboard.insert_text(answers[mark["grade_id"]])
    run_all(page)


def said(page) -> list[str]:
    """What each cell has put out, as text."""
    return page.evaluate(
        f"""() => {CELLS}.map(cell => (cell.model.outputs?.toJSON() ?? []).map(
            output => [output.text ?? output.data?.["text/plain"] ?? output.evalue ?? ""].flat().join("")
        ).join("\\n"))"""
    )


def test_from_empty_stubs_to_minilm_in_own_code(course, start_lab, page, picture):
    page.goto(re.sub(r"/lab/tree/\S*\?", "/lab?", start_lab(course)))
    open_and_answer(page, ATTENTION)
    checked = [text for text in said(page) if "✓ attention." in text]
    assert len(checked) == 6 and all("right" in text for text in checked), said(page)
    pictures(page, picture, "path_attention", 'check("attention.multi_head"')

    open_and_answer(page, BLOCKS)
    checked = [text for text in said(page) if "transformer." in text]
    assert len(checked) >= 8 and all("right" in text for text in checked), checked
    assert sum("my_model.py: " in text and "Kept in /" in text for text in said(page)) == 3
    own = (course / "notebooks" / "my_model.py").read_text()
    assert "class Block(nn.Module)" in own and "def collate" in own and "SOLUTION" not in own
    pictures(page, picture, "path_block", 'check("transformer.Block"')

    open_and_answer(page, BERT)
    texts = said(page)
    kept = {"Block: yours", "collate: yours", "training_step: yours"}
    assert kept <= {line for text in texts for line in text.splitlines()}, texts
    assert {"✓ bert.Bert: right", "✓ bert.bert_names: right"} <= {text.strip() for text in texts}
    difference = re.search(r"largest difference between the last hidden states: (\S+)", texts[-1])
    assert float(difference[1]) < 1e-5, texts[-1]
    pictures(page, picture, "path_own_bert", "differences(minilm, own_bert")
