"""`python -m coursekit.small`: the recorded results of the small models, with the baselines and bounds."""

import numpy as np

from coursekit.exam import QUESTIONS
from coursekit.language import load_language
from coursekit.small.table import loss_table, sense_table, training_minutes


def main() -> None:
    """Print the sense accuracy, the loss and the training time of each small model, with intervals over seeds."""
    print(*_figures(), sep="\n")


def _figures() -> list[str]:
    shares = sense_table(load_language())
    heading = "the scoreboard's test"
    lines = [f"{heading:28}{''.join(f'{kind:>16}' for kind in QUESTIONS)}"]
    for name, row in shares.iterrows():
        cells = [f"{row[kind]:.3f}" + _with_half(row.get(f"{kind} ±")) for kind in QUESTIONS]
        lines.append(f"{name:28}{''.join(f'{cell:>16}' for cell in cells)}")
    lines += ["", f"{'loss above the exact bound':52}{'mean':>8}{'':>10}{'seeds':>6}"]
    lines += [
        f"{name + ', ' + measure.removesuffix(', above the bound'):52}{row['mean']:8.1%} ± {row.half_width:5.1%}{row.seeds:8.0f}"
        for (name, measure), row in loss_table().iterrows()
    ]
    spent = ", ".join(f"{name} {minutes:.0f}" for name, minutes in training_minutes().items())
    return [*lines, f"CPU minutes to train one seed: {spent}"]


def _with_half(width: float | None) -> str:
    return "" if width is None or np.isnan(width) else f" ± {width:.3f}"


if __name__ == "__main__":
    main()
