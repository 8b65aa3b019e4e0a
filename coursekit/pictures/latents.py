"""Tables and the figure of notebook 15 about the latents of a pre-trained decoder."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from jaxtyping import Float
from torch import Tensor

from coursekit.intervals import bootstrap
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, show

ORDER = (
    ("linear probe", BLUE, ""), ("sparse autoencoder", ORANGE, "//"), ("random directions", GREY, ""),
    ("principal components", GREEN, ".."), ("always active", "#d0d0d0", ""),
)  # fmt: skip


def seeds(recorded: pd.DataFrame, exact: pd.DataFrame) -> None:
    """What was measured for the autoencoder of each seed, on text that training did not see; above, what recurs in the exact case."""
    shares = exact.pivot(index="latents", columns="seed", values="recurring").loc[
        list(dict.fromkeys(exact.latents))
    ]
    shares.index = [each if each == "all latents" else f"best for {each}" for each in shares.index]
    display(shares.rename(columns="seed {}".format).rename_axis("generated language: fraction of latents that recur in other seeds").rename_axis("", axis=1).round(2))  # fmt: skip
    display(pd.DataFrame({
        f"seed {row.seed:.0f}": {
            "variance left unexplained, new authors": f"{row['unexplained, novels']:.0%}",
            "variance left unexplained, new texts of the course": f"{row['unexplained, course']:.0%}",
            "active latents per token": f"{row['active, novels']:.0f}",
            "latents never active (new authors)": f"{row['dead, novels']:.1%}",
            "latents that recur with another seed": f"{row.recurring:.0%}",
        }
        for _, row in recorded.iterrows()
    }).rename_axis("SmolLM2"))  # fmt: skip


def senses_detected(
    chosen: pd.DataFrame, tested: pd.DataFrame, others: Mapping[str, Float[np.ndarray, " senses"]]
) -> None:
    """The best latent of each sense: F1 on the sentences that chose it; precision, recall and F1 on others, next to baselines."""
    display(pd.DataFrame({
        "sense": tested.name.str.removeprefix("sense "),
        "best latent": tested.direction,
        "F1, choosing": chosen.f1,
        "precision": tested.precision,
        "recall": tested.recall,
        "F1, test": tested.f1,
        **{f"F1, {name}": f1 for name, f1 in others.items()},
    }).set_index("sense").round(2))  # fmt: skip


def examples_of(
    latents: Mapping[str, int], codes: Float[Tensor, "n F"], contexts: Sequence[str], number: int = 4, seed: int = 0
) -> None:  # fmt: skip
    """For each latent: on how many tokens it is active, the contexts with the highest codes, and random ones among the active."""
    draw, rows = np.random.default_rng(seed), []
    for name, latent in latents.items():
        code = codes[:, latent].numpy()
        on = np.flatnonzero(code > 0)
        highest = on[np.argsort(-code[on], kind="stable")[:number]]
        chosen = draw.choice(on, min(number, len(on)), replace=False)
        for nth, (high, any_of_them) in enumerate(zip(highest, chosen, strict=True)):
            first = nth == 0
            rows.append({
                "latent": f"{latent} ({name})" if first else "",
                "active on": f"{len(on) / len(code):.1%} of tokens" if first else "",
                "highest codes": contexts[high],
                "random active tokens": contexts[any_of_them],
            })  # fmt: skip
    display(pd.DataFrame(rows).set_index("latent"))


def f1_by_word(recorded: pd.DataFrame, method: str) -> pd.Series:
    """The mean F1 of the senses of each word, over seeds."""
    rows = recorded[recorded.method == method]
    word = rows.name.str.removeprefix("sense ").str.split("#").str[0]
    return rows.f1.groupby(word).mean()


def senses_recorded(recorded: pd.DataFrame) -> None:
    """Mean F1 over the senses of 44 words by method, with 95 % intervals over words."""
    figure, ax = plt.subplots(figsize=(8.4, 2.9))
    said = []
    for at, (method, colour, hatch) in enumerate(ORDER):
        values = f1_by_word(recorded, method).to_numpy()
        mean, (low, high) = values.mean(), bootstrap(values)
        ax.barh(at, mean, 0.7, color=colour, hatch=hatch, edgecolor="white")
        ax.errorbar(mean, at, xerr=[[mean - low], [high - mean]], color="black", capsize=3, linewidth=1)
        ax.text(high + 0.01, at, f"{mean:.2f}", va="center", fontsize=9)
        said.append(f"{method} {mean:.2f} ({low:.2f} to {high:.2f})")
    ax.set_yticks(range(len(ORDER)), [method for method, *_ in ORDER])
    ax.invert_yaxis()
    ax.set(xlabel=f"F1 of the best direction, mean over {len(values)} words", xlim=(0, 1))
    ours = f1_by_word(recorded, "sparse autoencoder")
    for method in ("always active", "random directions", "linear probe"):
        difference = (ours - f1_by_word(recorded, method)).to_numpy()
        low, high = bootstrap(difference)
        said.append(
            f"sparse autoencoder − {method}: {difference.mean():+.3f} (95 % interval over words {low:+.3f} to {high:+.3f})"
        )
        print(said[-1])
    show(figure, alt=f"F1 of the best direction for a sense, mean over {len(values)} words, 95 % intervals over words: {'; '.join(said)}.")  # fmt: skip
