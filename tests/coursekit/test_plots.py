"""Words in figures can be read, whatever colour of the palette they have."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from coursekit.plots import BLUE, GREY, INK, PALETTE, SKY, YELLOW, show
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


def test_show_darkens_words_until_they_stand_out(figure, capsys):
    assert len(faint_words(figure)) > 20
    show(figure, alt="Eight lines from 0 to 1.")
    assert faint_words(figure) == []
    assert [line.get_color() for ax in figure.axes for line in ax.lines] == [*PALETTE, YELLOW], (
        "lines keep theirs"
    )


def test_each_ink_is_dark_enough_on_white_and_blue_needs_none():
    def on_white(colour: str) -> float:
        return contrast(np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]), np.ones(3))

    assert {*PALETTE, YELLOW} - INK.keys() == {BLUE} and on_white(BLUE) >= LEAST
    assert [colour for colour, ink in INK.items() if on_white(colour) >= LEAST or on_white(ink) < LEAST] == []
    assert on_white(SKY) < 2.5 and on_white(GREY) < LEAST


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
