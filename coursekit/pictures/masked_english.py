"""Tables of notebook 06 about masked words in English: what two encoders predict in our sentences and in novels."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import display
from jaxtyping import Bool
from tokenizers import Tokenizer
from torch import nn

from coursekit.datasets import read_table
from coursekit.intervals import mean_and_half, wilson
from coursekit.novels.gaps import GapsRead, Reader, best_guesses, paired_in_novels
from coursekit.novels.shipped import curve, recorded
from coursekit.small import BERT

IN_TURN = "5-grams", "ELMo", "BERT", "MiniLM with the new head", "unigrams"
"""Models by their accuracy on gaps in novels, the best first."""
GAPS = (
    "The prisoner sat in a dark [MASK].", "The red blood [MASK] carries oxygen.", "Plug in your [MASK] phone.",
    "I will hike along the [MASK] of a river.", "I will open a new account at my [MASK].",
)  # fmt: skip


def difference_from_course(own: nn.Module, course: BERT, pieces: Tokenizer) -> float:
    """Print and return the largest difference between the hidden states of `own` and of the course's BERT with the same weights."""
    ids = torch.tensor([pieces.encode("the prisoner sat in a dark cell .").ids])
    with torch.no_grad():
        states, _ = own(ids, torch.zeros_like(ids), ids > 0)
        difference = (states - course(ids).hidden).abs().max().item()
    print(
        f"largest difference between your Bert and the course's Bert, with the novels' weights: {difference:.0e} "
        "(the course's Bert has ε = 1e-5)\n"
    )
    return difference


def guesses(readers: Mapping[str, Reader], *texts: str) -> None:
    """Print each text with every reader's most probable subwords at its gap."""
    for text in (*GAPS, *texts):
        print(text)
        for name, by in readers.items():
            print(f"    {name + ':':<18} {best_guesses(by, text)}")


def our_sentences(gaps_read: Mapping[str, GapsRead], exact: float) -> None:
    """Accuracies, and the worth of the right side, of two readers on our sentences; `exact` is its worth in the generated language."""
    by_reader = {}
    for name, found in gaps_read.items():
        by_reader[name] = {
            "top-1 accuracy": _share(found.ranks < 1),
            "top-5 accuracy": _share(found.ranks < 5),
            "gain from seeing the right side, instead of masking it (nats)": "{:.1f} ± {:.1f}".format(
                *found.worth_of_right("left, rest hidden")
            ),
            "gain from seeing the right side, instead of removing it (nats)": "{:.1f} ± {:.1f}".format(
                *found.worth_of_right("left")
            ),
            "predicts punctuation if the right side is removed": f"{np.mean(found.ends):.0%}",
        }
    display(pd.DataFrame(by_reader))
    print(
        "top-1 accuracy of the novels' BERT minus that of MiniLM, paired by sentence: {:+.2f} ± {:.2f}".format(
            *between_readers(gaps_read)
        )
    )
    print(f"in the generated language the right-hand context is worth {exact:.1f} nats (exact)\n")


def between_readers(gaps_read: Mapping[str, GapsRead]) -> tuple[float, float]:
    """The top-1 accuracy of the second reader minus that of the first, paired by sentence, with half the width of its interval."""
    first, second = ((found.ranks < 1).astype(float) for found in gaps_read.values())
    return mean_and_half(second - first)


def _share(correct: Bool[np.ndarray, " gaps"]) -> str:
    return "{:.2f} ({:.2f} to {:.2f})".format(correct.mean(), *wilson(correct.mean(), len(correct)))


def novels() -> None:
    """Accuracies on gaps in novels from the model cards, and their differences, paired by gap."""
    print("Gaps in novels by authors outside the training set (from the model cards):")
    display(_on_cards())
    print("Differences in top-1 accuracy, paired by gap (both sides given):")
    _print_differences({
        f"{one} minus {other}": found for (one, other), found in gap_by_gap().items()
    })  # fmt: skip
    _print_differences({
        f"{one} minus the BERT trained with another seed": found for one, found in other_training().items()
    })  # fmt: skip


def gap_by_gap() -> dict[tuple[str, str], tuple[float, float]]:
    """The differences in top-1 accuracy between neighbours in IN_TURN."""
    return paired_in_novels(zip(IN_TURN, IN_TURN[1:], strict=False))


def other_training() -> dict[str, tuple[float, float]]:
    """The differences in top-1 accuracy of BERT and ELMo from a BERT trained with another seed."""
    found = paired_in_novels((name, "BERT, seed 1") for name in ("BERT", "ELMo"))
    return {name: difference for (name, _), difference in found.items()}


def _print_differences(found: Mapping[str, Sequence[float]]) -> None:
    for name, (mean, half) in found.items():
        print(f"  {name}: {mean:+.3f} ± {half:.3f}")


def _on_cards() -> pd.DataFrame:
    sides = "words before the gap only", "words after the gap only"
    of_readers = [
        recorded(card).iloc[:3].rename(index={f"the same, {side}": f"{name}, {side}" for side in sides})
        for card, name in (("minilm", "MiniLM"), ("bert", "BERT"))
    ]
    multiplied = {"ELMo, product of both directions": "ELMo, its two directions multiplied"}
    of_elmo = recorded("elmo").loc[list(multiplied)].rename(index=multiplied)
    rows = pd.concat([*of_readers, of_elmo, recorded("bert").iloc[3:]])[of_readers[0].columns]
    return rows.rename(
        index=lambda who: who.replace(sides[0], "left side only").replace(sides[1], "right side only")
    )


def training_curves() -> dict[str, pd.DataFrame]:
    """The recorded losses of two BERTs and of notebook 07's GPT on novels by authors outside the training set, by step."""
    return {
        "BERT": curve("bert"),
        "BERT, another seed": read_table("results/novels_curves.csv").query("model == 'BERT' and seed == 1"),
        "GPT (07)": curve("gpt"),
    }
