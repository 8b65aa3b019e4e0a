"""How well the words of a figure stand out from what is drawn behind them."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text

LEAST = 4.5
"""The ratio that WCAG 2.2 asks of words (success criterion 1.4.3)."""


def contrast(front: np.ndarray, back: np.ndarray) -> float:
    """The ratio of two colours, red, green and blue from 0 to 1: from 1 to 21."""
    linear = [
        np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        for colour in (np.asarray(front), np.asarray(back))
    ]
    light, dark = sorted((float(one @ (0.2126, 0.7152, 0.0722)) for one in linear), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def faint_words(figure: Figure) -> list[str]:
    """The words of a figure whose contrast is below `LEAST`, each with its ratio."""
    with drawn_without_words(figure) as (texts, behind):
        found = []
        for text, colour, box in texts:
            left, bottom, right, top = (round(at) for at in box.extents)
            height = behind.shape[0]
            region = behind[max(0, height - top) : height - bottom, max(0, left) : right]
            if not region.size:
                continue  # outside of the figure
            back = np.median(region.reshape(-1, 4), axis=0)[:3] / 255
            alpha = colour[3] * (1 if text.get_alpha() is None else text.get_alpha())
            ratio = contrast(alpha * np.array(colour[:3]) + (1 - alpha) * back, back)
            if ratio < LEAST:
                found.append(f"{text.get_text()!r} {ratio:.1f}")
    return found


@contextmanager
def drawn_without_words(figure: Figure) -> Iterator[tuple[list, np.ndarray]]:
    """The words of a figure with their colours and places, and the figure's points without them (rows, columns, 4)."""
    figure.draw_without_rendering()  # lays everything out
    texts = [
        (text, to_rgba(text.get_color()), text.get_window_extent())
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip()
    ]
    engine = figure.get_layout_engine()
    figure.set_layout_engine("none")  # everything stays where it is
    for text, *_ in texts:
        text.set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="rgba", dpi=figure.dpi)
    for text, *_ in texts:
        text.set_visible(True)
    figure.set_layout_engine(engine)
    width, height = (
        int(length + 1e-6) for length in figure.get_size_inches() * figure.dpi
    )  # as Agg cuts it off
    yield texts, np.frombuffer(buffer.getvalue(), np.uint8).reshape(height, width, 4)
