"""Tables and printed results of notebook 08, from values that the notebook has computed."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.occurrences import accuracy_over_words

KINDS = "all", "plain", "far", "right", "decoy"


def shown(mean: float, low: float, high: float) -> str:
    """A mean with its interval."""
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"


def signed(mean: float, low: float, high: float) -> str:
    """A difference with its interval."""
    return f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"


def wrong_words(wrong: Mapping[str, int], sentences: int) -> None:
    """Print in how many sentences each way of numbering words finds another word."""
    for name, count in wrong.items():
        print(f"{name:<14} wrong word in {count} of {sentences} sentences ({count / sentences:.0%})")


def moved_by_position(here: Mapping[str, Tensor], there: Mapping[str, Tensor]) -> None:
    """Print, for each kind of static vector, the cosine of *bank* at position 6 and at position 9."""
    for name in here:
        moved = torch.cosine_similarity(here[name], there[name], dim=-1).item()
        print(f"cosine of bank at position 6 and bank at position 9, {name:<9} {moved:.3f}")


def gaps(
    nouns: Float[Tensor, "3 layers"],
    grammar: Float[Tensor, "3 layers"],
    between: Mapping[str, Mapping[tuple[str, str], float]],
) -> None:
    """Print the gaps between the three kinds of pairs by layer, for both groups of words, and those between senses of single words."""
    for half, rows in {"all nouns": nouns, "another part of speech": grammar}.items():
        for kind, other in {"two senses": rows[1], "different words": rows[2]}.items():
            by_layer = " ".join(f"{gap:.3f}" for gap in rows[0] - other)
            print(f"{f'{half}, one sense − {kind}, by layer:':<63}{by_layer}")
    for word, found in between.items():
        listed = ", ".join(f"{one} and {two} {gap:.3f}" for (one, two), gap in found.items())
        print(f"{word}, gaps at the last layer:", listed)


def senses_by_kind(
    correct: Bool[np.ndarray, " n"],
    asked: pd.DataFrame,
    recorded: pd.DataFrame,
    halves: Mapping[str, str],
    chosen: int,
) -> None:
    """Accuracy by kind of test sentence at the chosen layer, with the recorded classifiers and differences.

    `correct` says for each row of `asked` whether its sense was found; `halves` names the groups of words by their parts of speech.
    """
    layer = recorded[recorded.vectors == "context of two"].variant.iloc[0]
    rows = {
        f"{layer}, whole sentence, probe": "context, probe",
        "window of two, logistic regression": "window of two",
        "near words, probe": "near words, probe",
        "near words, 1-NN": "near words",
        "bag of words, 1-NN": "bag",
        f"{layer}, window only, 1-NN": "context of two",
        "probe: sentence − window of two": "context above window of two, probe",
        "probe: sentence − near words": "context above near words, probe",
        "1-NN: sentence − window of two": "context above window of two",
        "1-NN: sentence − window only": "context above context of two",
    }
    probes = recorded[recorded.judge == "probe"].set_index(["half", "vectors", "part"])
    others = without_probes(recorded)

    def of_recorded(half: str, vectors: str, kind: str) -> str:
        table = probes if vectors.endswith(", probe") else others
        row = table.loc[(half, vectors.removesuffix(", probe"), kind)]
        return shown(row.value, row.low, row.high)

    found = {}
    for half, parts_of_speech in halves.items():
        masks = {
            kind: ((asked.parts_of_speech == parts_of_speech) & ((asked.kind == kind) | (kind == "all"))).to_numpy()
            for kind in KINDS
        }  # fmt: skip
        found[half, f"layer {chosen}, whole sentence, 1-NN"] = {
            kind: shown(*accuracy_over_words(correct[mask], asked.word[mask])) for kind, mask in masks.items()
        }
        for name, vectors in rows.items():
            found[half, name] = {kind: of_recorded(half, vectors, kind) for kind in KINDS}
    display(pd.DataFrame(found).T)


def without_probes(recorded: pd.DataFrame) -> pd.DataFrame:
    """The recorded results by nearest neighbour, and those of the window of two, at the layers chosen; by half, vectors and part."""
    kept = recorded[recorded.chosen | recorded.vectors.str.contains("above")]
    return kept[kept.judge != "probe"].set_index(["half", "vectors", "part"])


def found_and_missed(
    vectors: Float[Tensor, "n D"],
    senses: pd.DataFrame,
    words: Int[Tensor, " n"],
    asked: pd.DataFrame,
    correct: Bool[np.ndarray, " m"],
) -> None:
    """For each kind of hard sentence, print a noun that was found and one that was missed, with the nearest training sentence.

    The m rows of `asked` are the test sentences among the n of `senses`, in the same order.
    """
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    in_test = (senses.split == "test").to_numpy()
    in_all = senses.index[in_test]
    for kind in ("far", "right", "decoy"):
        for outcome in (True, False):
            such = asked[(asked.parts_of_speech == "same") & (asked.kind == kind) & (correct == outcome)]
            one = in_all[such.sample(1, random_state=3).index[0]]
            barred = torch.tensor(in_test) | (words != words[one])
            alike = (unit @ unit[one]).masked_fill(barred, -1).argmax().item()
            print(
                f"{'found' if outcome else 'missed':<7}{kind}, {senses.word[one]} ({senses.sense[one]}): {senses.sentence[one]}"
            )
            print(f"      nearest ({senses.sense[alike]}): {senses.sentence[alike]}")


def centred_or_not(before: Bool[Tensor, " n"], after: Bool[Tensor, " n"], words: Sequence[str]) -> None:
    """Accuracy on the nouns with and without centring, and the difference with its interval over words."""
    difference, low, high = accuracy_over_words((after.float() - before.float()).numpy(), words)
    display(
        Markdown(
            f"On the nouns, accuracy is **{after.float().mean():.3f}** with centred vectors and "
            f"**{before.float().mean():.3f}** without centring: a difference of {difference:+.3f} "
            f"(95 % interval {low:+.3f} to {high:+.3f})."
        )
    )
