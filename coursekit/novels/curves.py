"""The loss curve of a training run, next to the model's card: its numbers in `novels_NAME.csv`, its picture in `novels_NAME.svg`."""

import io
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from autograder.checks.storing import write_aside
from coursekit.plots import BLUE, ORANGE, STYLE

Curve = list[tuple[int, float, float]]
"""After each block of batches: the number of steps so far, the block's mean loss, and the loss on held-out text (NaN if it was not measured)."""
UNITS = {
    "skipgram": "nats per pair",
    "elmo": "nats per word, both directions together, against sampled words",
    "bert": "nats per masked subword",
    "gpt": "nats per subword",
    "minilm": "nats per masked subword",
}
"""The unit of each model's loss."""


def write_curve(curve: Curve, unit: str, weights: Path) -> None:
    """Write both files next to the weights; `unit` is one of UNITS."""
    table = pd.DataFrame(curve, columns=["step", "training", "validation"])
    write_aside(weights.with_suffix(".csv"), table.round(4).to_csv(index=False).encode())
    write_aside(weights.with_suffix(".svg"), drawn(table, unit))


def drawn(table: pd.DataFrame, unit: str) -> bytes:
    """The picture as SVG, always with the same bytes."""
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": "words in context", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 3.2))
        axes = figure.add_subplot()
        held_out = table.dropna()
        axes.plot(table["step"], table["training"], color=BLUE, linewidth=1, label="training batches")
        axes.plot(
            held_out["step"], held_out["validation"], "o-", color=ORANGE, markersize=4, label="unread authors"
        )
        axes.set(xlabel="steps", ylabel="loss (nats)", title=unit)
        axes.legend()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", facecolor="white", metadata={"Date": None})
    return buffer.getvalue()
