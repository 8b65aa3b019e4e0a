"""Words in figures can be read, whatever colour of the palette they have."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from coursekit.plots import BLUE, GREY, INK, PALETTE, SKY, YELLOW, ink_on, show, write_in_cells
from tests.conftest import ROOT
from tests.contrast import LEAST, contrast, faint_words


@pytest.fixture
def figure():
    """Titles, labels, a legend and notes in the colours of lines."""
    figure, axes = plt.subplots(2, 4)
    for ax, colour in zip(axes.flat, (*PALETTE, YELLOW), strict=True):
        ax.plot([0, 1], color=colour, label="a line")
        ax.set_title("a title", color=colour)
        ax.set_ylabel("a label", color=colour)
        ax.text(0.5, 0.1, "a note", color=colour)
        ax.legend(labelcolor=colour)
    yield figure
    plt.close(figure)


@pytest.mark.slow
def test_show_darkens_words_until_they_stand_out(figure, capsys):
    assert len(faint_words(figure)) > 20
    show(figure, alt="Eight lines from 0 to 1.")
    assert faint_words(figure) == []
    assert [line.get_color() for ax in figure.axes for line in ax.lines] == [*PALETTE, YELLOW], (
        "lines keep theirs"
    )


def test_each_ink_is_dark_enough_on_white_and_blue_needs_none():
    def on_white(colour: str) -> float:
        return contrast(np.array(to_rgb(colour)), np.ones(3))

    assert {*PALETTE, YELLOW} - INK.keys() == {BLUE} and on_white(BLUE) >= LEAST
    assert [colour for colour, ink in INK.items() if on_white(colour) >= LEAST or on_white(ink) < LEAST] == []
    assert on_white(SKY) < 2.5 and on_white(GREY) < LEAST


@pytest.mark.slow
def test_words_on_a_coloured_ground_are_measured_on_it(figure):
    cells = plt.figure().subplots()
    cells.imshow([[0.0, 1.0]], cmap="Blues")
    for place, colour in enumerate(("black", "white")):
        cells.text(place, 0, "0.5", color=colour, ha="center", va="center")
    cells.axis("off")
    assert faint_words(cells.figure) == []
    for text in cells.texts:
        text.set_color("white" if text.get_color() == "black" else "black")
    assert len(faint_words(cells.figure)) == 2
    plt.close(cells.figure)


def colour_maps_in_use() -> list[str]:
    """Those that the course's code names, in packages and notebooks, and the one that it uses where it names none."""
    files = [*(ROOT / "coursekit").rglob("*.py"), *(ROOT / "solutions").rglob("*.py")]
    found = {name for file in files for name in re.findall(r'(?:cmap=|get_cmap\()"(\w+)"', file.read_text())}
    return sorted(found | {"viridis"})


@pytest.mark.slow
@pytest.mark.parametrize("name", colour_maps_in_use())
def test_numbers_in_cells_can_be_read_on_every_colour_of_a_map(name):
    _, ax = plt.subplots()
    values = np.linspace(-1, 1, 256).reshape(8, 32)
    image = ax.imshow(values, cmap=name)
    write_in_cells(image, np.array([[f"{value:.1f}" for value in row] for row in values]), fontsize=7)
    assert len(ax.texts) == values.size
    for text in ax.texts:
        column, row = text.get_position()
        assert text.get_text() == f"{values[row, column]:.1f}"
        cell = np.array(image.cmap(image.norm(values[row, column]))[:3])
        assert contrast(np.array(to_rgb(text.get_color())), cell) >= LEAST
    plt.close(ax.figure)


def test_numbers_in_empty_cells_are_black_and_pale_colours_are_seen_on_paper():
    _, ax = plt.subplots()
    image = ax.imshow([[np.nan, 1.0]], cmap="Blues", vmin=0, vmax=1)
    write_in_cells(image, np.array([["none", "1.0"]]))
    assert [text.get_color() for text in ax.texts] == ["black", "white"]
    plt.close(ax.figure)
    assert [ink_on((BLUE, alpha)) for alpha in (0.1, 1.0)] == ["black", "white"]


def test_figures_choose_the_colour_of_numbers_in_cells_with_the_helper():
    """A threshold on the value is right for one colour map and wrong for the next."""
    by_value = re.compile(r'"white" if .* else "black"')
    files = (ROOT / "coursekit").rglob("*.py")
    found = [file.name for file in files if file.name != "plots.py" and by_value.search(file.read_text())]
    assert found == [], "use write_in_cells or ink_on of coursekit.plots"
