"""One style for all figures: a palette that everyone can distinguish, and pictures with a text description."""

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from cycler import cycler
from IPython.display import display
from jaxtyping import Shaped

if TYPE_CHECKING:  # importing pyplot takes half a second; a notebook that draws has imported it anyway
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.typing import ColorType

# Okabe and Ito (2008): distinguishable with every common form of colour blindness.
BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW, GREY = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f",
)  # fmt: skip
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, RED, GREY)
INK = {
    ORANGE: "#996a00", GREEN: "#008360", PINK: "#ba4a88", SKY: "#177ab2", RED: "#be5400", YELLOW: "#7d750a",
    GREY: "#737373",
}  # fmt: skip
"""The same hues for words, with a contrast of at least 4.5 : 1 to white (WCAG 2.2, success criterion 1.4.3)."""
FAINT = "#5f5f5f"
"""Grey for words on a tinted ground, where the ink of GREY has too little contrast."""
HATCHES = "", "//", "..", "xx"
"""Patterns for adjacent bars, which colours alone would not distinguish."""

STYLE = {
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.size": 10,
    "image.cmap": "viridis",
    "legend.frameon": False,
    "lines.linewidth": 2,
}


def use_style() -> None:
    """Apply the course's style to every later figure of this session."""
    import matplotlib  # start-up: a notebook that draws has imported it

    matplotlib.rcParams.update(STYLE)


@dataclass(frozen=True)
class Picture:
    """A drawn figure with its description; `text/plain` is the description alone."""

    png: bytes
    alt: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        data = base64.b64encode(self.png).decode()
        html = f'<img style="max-width:100%" alt="{escape(self.alt, quote=True)}" src="data:image/png;base64,{data}">'
        # Browsers take the HTML with its description; the picture itself is for places that strip HTML.
        return {"text/plain": f"Figure: {self.alt}", "text/html": html, "image/png": data}


def show(figure: "Figure", alt: str) -> None:
    """Display `figure` with the description `alt`, which states its numbers, and close it."""
    if not alt.strip():
        raise ValueError("show(figure, alt): describe the figure in words, with its numbers.")
    _darken_words(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight", facecolor="white")
    import matplotlib.pyplot  # start-up: as above

    matplotlib.pyplot.close(figure)
    display(Picture(buffer.getvalue(), alt))


def write_in_cells(image: "AxesImage", texts: Shaped[np.ndarray, "rows columns"], **style: Any) -> None:
    """Write a text into each cell of a heat map, in black or in white: see `ink_on`. `style` goes to matplotlib's `text`."""
    cells = image.to_rgba(image.get_array())
    for (row, column), text in np.ndenumerate(texts):
        colour = ink_on(tuple(cells[row, column]))
        image.axes.text(column, row, text, ha="center", va="center", color=colour, **style)


def ink_on(ground: "ColorType") -> str:
    """Black or white, whichever has the higher contrast to a colour on white paper: always at least 4.5 : 1.

    The luminance is that of WCAG 2.2. Black on a colour of luminance L has the contrast (L + 0.05) / 0.05, white
    1.05 / (L + 0.05).
    """
    from matplotlib.colors import to_rgba  # start-up: as above

    *colour, alpha = to_rgba(ground)
    seen = alpha * np.array(colour) + (1 - alpha)
    linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"


def _darken_words(figure: "Figure") -> None:
    """Words in a colour of the palette get its ink."""
    from matplotlib.colors import to_hex  # start-up: as above
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if ink := INK.get(to_hex(text.get_color())):
            text.set_color(ink)


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Numbers as an alt text lists them: "0.12, 0.30"."""
    return ", ".join(f"{value:.{digits}f}" for value in values)
