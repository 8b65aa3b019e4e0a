"""A student's numbers beside the expected ones, as pictures of a few hundred bytes.

They are the heat maps of a check's card, drawn without axes: a class of a thousand has some thousands of them, and
matplotlib takes a quarter of a second for one. Nothing but numbers of ours goes in, and nothing but a picture comes out.
"""

import base64
import io
from dataclasses import dataclass

import numpy as np

from autograder.checks.panels import Panels


@dataclass(frozen=True)
class Picture:
    """An image for a page of feedback, and the range of its colours in words."""

    title: str
    numbers: str  # what the colours range over
    data: str  # a PNG, in base64
    width: int = 150  # pixels on the page
    height: int = 110


def pictures(shown: Panels) -> list[Picture]:
    """Yours and expected in the same colours and, if their shapes agree, how far they are apart."""
    made = [
        _picture(title, matrix, "viridis", shown.range)
        for title, matrix in zip(shown.titles, shown.matrices, strict=True)
    ]
    if shown.same_shape:
        made.append(_picture("|difference|", shown.difference, "magma", shown.difference_range))
    return made


def place(shown: Panels) -> str:
    """Which part of larger arrays the pictures show; "" where they show all."""
    where = (
        [f"at [{', '.join(map(str, shown.place))}] of the batch"] if shown.place and shown.same_shape else []
    )
    size = tuple(shown.matrices[1].shape)
    if shown.same_shape and size != (1, *shown.shapes[1])[-2:]:
        where.append(f"{size[0]}×{size[1]} of the numbers")
    return f"{' and '.join(where)}, where they differ most".capitalize() if where else ""


def _picture(title: str, matrix: np.ndarray, colours: str, range_: tuple[float, float] | None) -> Picture:
    from matplotlib.image import imsave  # start-up: most commands draw nothing

    finite = matrix[np.isfinite(matrix)]
    low, high = range_ or ((finite.min(), finite.max()) if finite.size else (0.0, 1.0))
    filled = np.nan_to_num(np.where(np.isnan(matrix), low, matrix), posinf=high, neginf=low)
    across = high / 2 - low / 2  # halves, because the largest numbers lie too far apart
    shades = (filled / 2 - low / 2) / across if across else np.full(matrix.shape, 0.5)
    buffer = io.BytesIO()
    imsave(buffer, np.clip(shades, 0, 1), cmap=colours, vmin=0, vmax=1, format="png")
    return Picture(title, _range_in_words(matrix, finite), base64.b64encode(buffer.getvalue()).decode())


def _range_in_words(matrix: np.ndarray, finite: np.ndarray) -> str:
    ends = [] if not finite.size else [_number(finite.min()), _number(finite.max())]
    text = ends[0] if len(set(ends)) == 1 else " to ".join(ends)
    others = [name for name, there in (("NaN", np.isnan(matrix)), ("±∞", np.isinf(matrix))) if there.any()]
    return ", ".join(filter(None, [text, *others]))


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
