"""Tables of notebook 12, from what the notebook has computed or loaded."""

from collections.abc import Callable, Mapping, Sequence
from string import ascii_lowercase

import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Bool, Float, Int
from torch import Tensor

KINDS = ("all", "plain", "far", "right", "decoy")
"""Kinds of sentence in `data/senses`, after all of them."""
Interval = Sequence[float]
"""A mean and the ends of its 95 % interval."""


def _with_ends(interval: Interval) -> str:
    return "{:.2f} ({:.2f} to {:.2f})".format(*interval[:3])


def by_kind(
    right: Mapping[str, Float[Tensor, " n"]],
    sentences: pd.DataFrame,
    nouns: Bool[Tensor, " n"],
    with_interval: Callable[[Float[Tensor, " n"]], Interval],
) -> None:
    """The accuracy of each method by kind of sentence, for the nouns and for the other words."""
    for half, in_half in {"all nouns": nouns, "different parts of speech": ~nouns}.items():
        rows = {}
        for kind in KINDS:
            here = torch.from_numpy(in_half & ((sentences.kind == kind) | (kind == "all")).to_numpy())
            rows[f"{kind} ({int(here.sum())})"] = {
                name: _with_ends(with_interval(row[here])) for name, row in right.items()
            }
        display(Markdown(f"**{half}**"), pd.DataFrame(rows))


def trained_probes(by_judge: Mapping[str, pd.DataFrame]) -> None:
    """The accuracy on the nouns with each classifier, by kind of sentence."""
    counts = by_judge["MiniLM, 1-NN"].sentences
    display(Markdown("**all nouns**"), pd.DataFrame({
        f"{part} ({counts[part]})": {
            called: _with_ends(rows.loc[part, ["value", "low", "high"]]) for called, rows in by_judge.items()
        }
        for part in KINDS
    }))  # fmt: skip


def widths(found: Mapping[str, Mapping[str, float]]) -> None:
    """The widths of intervals in percentage points, a column for each pair of models."""
    table = (100 * pd.DataFrame(found)).round(1).astype(object).fillna("")
    display(table.rename_axis("width of the 95 % interval, points"))


CLAIMED = {
    "ahead": "{a} is ahead of {b}{more}",
    "equal": "{a} and {b} differ by less than {points:g} points",
    "unclear": "{a} and {b} cannot be distinguished",
}
"""What a claim of each type says."""


def report(
    claims: Sequence[tuple[str, str, str, str, float]],
    right: Mapping[str, Float[Tensor, " n"]],
    kinds: pd.Series,
    unsupported: Callable[..., Bool[Tensor, " claims"]],
    draw_items: Callable[[int], Int[Tensor, "times n"]],
    with_interval: Callable[[Float[Tensor, " n"]], Interval],
) -> list[int]:
    """Claims (kind of sentence, a, type, b, margin) on the answers of each method, with the interval of a minus b and the verdict.

    Returns the positions of the claims that `unsupported` finds unsupported.
    """
    names, rows, found = list(right), [], []
    for position, (kind, a, says, b, margin) in enumerate(claims):
        here = torch.from_numpy(((kinds == kind) | (kind == "all")).to_numpy().copy())
        answers = torch.stack(list(right.values()))[:, here]
        claim = (names.index(a), says, names.index(b), margin)
        if unsupported(answers, [claim], draw_items(answers.shape[1]), 0.95)[0]:
            found.append(position)
        more = f" by more than {100 * margin:g} points" if margin else ""
        mean, low, high = (100 * end for end in with_interval((right[a] - right[b])[here]))
        rows.append({
            "sentences": f"{kind} ({int(here.sum())})",
            "claim": CLAIMED[says].format(a=a, b=b, more=more, points=100 * margin),
            "difference in points": f"{mean:+.1f} ({low:+.1f} to {high:+.1f})",
            "your verdict": "not supported" if position in found else "supported",
        })  # fmt: skip
    with pd.option_context("display.max_colwidth", None):
        display(pd.DataFrame(rows, index=list(ascii_lowercase[: len(rows)])))
    return found


def distances(moved: Mapping[tuple[str, str, float], tuple[float, float]]) -> None:
    """The distances from the exact posteriors, by model, by what the exact posterior has read, and by temperature."""
    table = pd.Series({where: "{:.2f} ± {:.2f}".format(*interval) for where, interval in moved.items()})
    table = table.unstack().rename_axis(["", "distance from the exact posterior"], axis=0)
    display(table.rename_axis("temperature", axis=1))


def in_novels(
    right: pd.DataFrame,
    sentences: pd.DataFrame,
    halves: Mapping[str, "pd.Series[bool]"],
    by_word: Callable[..., Interval],
) -> None:
    """The accuracy of each method (a column of `right`) by kind of sentence, with intervals over words, for each half of the words."""
    for half, in_half in halves.items():
        rows = {}
        for kind in KINDS:
            here = (in_half & ((sentences.kind == kind) | (kind == "all"))).to_numpy()
            rows[f"{kind} ({here.sum()})"] = {
                name: _with_ends(by_word(column[here].to_numpy(), sentences.word[here]))
                for name, column in right.items()
            }
        display(Markdown(f"**{half}**, {sentences.word[in_half].nunique()} words"), pd.DataFrame(rows))


def leads(
    comparisons: Sequence[tuple[str, str, str]],
    gaps_in: Mapping[str, Sequence[Interval]],
    stays_in: Mapping[str, Sequence[bool]],
) -> None:
    """The lead of one method over another (position of the cue, one, other) in each group of sentences; ✓ where it stays clear."""
    display(pd.DataFrame({
        called: [
            f"{mean:+.2f} ({low:+.2f} to {high:+.2f})" + (" ✓" if stay else "")
            for (mean, low, high, _), stay in zip(gaps, stays_in.get(called, [False] * len(gaps)), strict=True)
        ]
        for called, gaps in gaps_in.items()
    }, index=[f"{one} − {other}, {place}" for place, one, other in comparisons]))  # fmt: skip
    corrected = sum(map(len, stays_in.values()))
    print(f"✓: clear after Holm's correction for the {corrected} comparisons in the novels")
