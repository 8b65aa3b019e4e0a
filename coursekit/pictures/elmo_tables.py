"""Tables and sentences of notebook 05, from numbers that the notebook has computed."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.architectures import LONG, SHORT, Measured
from coursekit.characters import PluralFilter, plurals, shared_with
from coursekit.exam import QUESTIONS, Accuracy, Exam, ambiguous_words, surest_sense
from coursekit.intervals import half_width, mean_and_half
from coursekit.language import Language, load_language
from coursekit.small import ELMo


def plural_filters(trained: PluralFilter, untrained: Sequence[PluralFilter], language: Language) -> None:
    """How reliably the best filter for plurals responds, in a trained model and in untrained ones."""
    print(
        f"The best filter responds more strongly to the plural in {trained.risen:.1%} of {len(plurals(language))} nouns "
        f"(on average by {trained.effect:.1f} standard deviations)."
    )
    print(
        "The same values for the best filters of six untrained ELMos:",
        ", ".join(f"{one.risen:.0%} ({one.effect:.1f})" for one in untrained),
    )


def nearest_words(
    new: Sequence[str],
    words: Sequence[str],
    near: tuple[Float[Tensor, "new k"], Int[Tensor, "new k"]],
) -> None:
    """The nearest words of each new word, with their cosines. `near` has the cosines, and the indices into `words`."""
    for word, cosines, places in zip(new, *near, strict=True):
        print(f"{word:<11}", ", ".join(f"{words[i]} {c:.2f}" for c, i in zip(cosines, places, strict=True)))


def letters_shared(
    new: Sequence[str], words: Sequence[str], nearest: Int[Tensor, "new k"], difference: float
) -> None:
    """The fraction of letter pairs that new words share with their nearest words (indices into `words`) and with an average word.

    `difference` is the largest difference between the student's vectors and the model's.
    """
    near, average = shared_with(new, words, nearest)
    display(
        Markdown(
            f"A new word shares **{near:.0%}** of its pairs of adjacent letters with its nearest words and **{average:.0%}** "
            f"with an average word. (Largest difference between your vectors and the model's own: {difference:.0e}.)"
        )
    )


def perplexities(nats: Mapping[str, tuple[float, float, float]]) -> None:
    """A row for each model: the perplexities of both directions and the lowest possible one, from losses in nats."""
    table = pd.DataFrame(nats, index=["forward", "backward", "best possible (entropy)"]).T
    display(np.exp(table).round(3).rename_axis("perplexity"))


def sides_that_decide(exam: Exam) -> None:
    """In how many questions the words before or after the ambiguous word determine its sense."""
    left, right = (surest_sense(exam, side) > 0.999 for side in ("left", "right"))
    print(
        f"Among {len(left):,} questions, the words before determine the sense in {left.sum():,}, "
        f"the words after in {right.sum():,}, and neither side alone in {(~(left | right)).sum():,}."
    )


def accuracy_of_layers(recorded: pd.DataFrame, tasks: Sequence[str]) -> None:
    """The accuracy of each layer alone, of the mix and of the word alone, over seeds, for each task and biLM."""
    spread = recorded.groupby(["task", "biLM", "measure"]).value.agg(["mean", half_width])
    accuracies = spread[spread.index.get_level_values("measure").str.startswith("accuracy")]
    cells = accuracies.apply(lambda row: f"{row['mean']:.3f} ± {row.half_width:.3f}", axis=1)
    cells = cells.unstack("measure").rename(columns=lambda name: name.removeprefix("accuracy, "))
    layers = sorted(name for name in cells.columns if name.startswith("layer"))
    cells = cells.loc[list(tasks), ["word alone", *layers, "all mixed"]]
    display(cells.rename(columns={"word alone": "most frequent label"}))


def compared_with_bag(found: Sequence[Accuracy], bag: Accuracy) -> None:
    """For each kind of question, the mean over seeds, and whether its interval lies above or below the bag of words or contains it."""

    def beside(kind: str) -> str:
        mean, half = mean_and_half([one[kind] for one in found])
        other = bag[kind]
        place = (
            "above" if mean - half > other else "below" if mean + half < other else "not distinguishable from"
        )
        return f"**{mean:.3f} ± {half:.3f}**, {place} {other:.3f}"

    said = "; ".join(f"{text} {beside(kind)}" for kind, text in QUESTIONS.items())
    display(Markdown(f"ELMo compared with the bag of words: {said}."))


def nearest_sentences(
    exam: Exam,
    labelled: Float[Tensor, "L+1 labelled E"],
    held_out: Float[Tensor, "L+1 held_out E"],
    question: int,
    count: int = 3,
) -> None:
    """For each layer, the labelled sentences with the same word whose vectors are nearest to that of a question, with their senses."""
    senses = load_language().senses
    word = exam.held_out.ids[question, exam.held_out.position[question]]
    same = np.flatnonzero(ambiguous_words(exam.labelled) == word)
    for layer in range(len(labelled)):
        near = torch.cosine_similarity(labelled[layer, same], held_out[layer, question], dim=-1)
        best, places = near.topk(count)
        asked = " ".join(exam.held_out.words(question))
        print(f"layer {layer}: {asked}  ({senses[exam.held_out.sense[question]]})")
        for cosine, one in zip(best.tolist(), same[places.numpy()].tolist(), strict=True):
            sentence = " ".join(exam.labelled.words(one))
            print(f"    {cosine:.3f}  {sentence}  ({senses[exam.labelled.sense[one]]})")


def parameter_counts(
    parts: Mapping[str, int], total: int, units: int, size: int, vocabulary: int, ours: ELMo
) -> None:
    """The parameters of the original ELMo by part, compared with PyTorch's LSTM, its softmax and the course's ELMo.

    units     of an LSTM layer, whose outputs are projected to `size` dimensions
    """
    for name, count in (*parts.items(), ("total", total)):
        print(f"{name:<20} {count:>12,}")
    theirs = torch.nn.LSTM(size, units, proj_size=size, device="meta")
    second_bias = 4 * units  # PyTorch has two biases for each gate
    layer = parts["one LSTM layer"] + parts["its projection"]
    agrees = sum(weight.numel() for weight in theirs.parameters()) - second_bias == layer
    print("same number of parameters in nn.LSTM:", agrees)
    print(f"softmax over {vocabulary:,} words (used only in training): {vocabulary * size:,} weights")
    print(f"our ELMo, including the softmax: {sum(weight.numel() for weight in ours.parameters()):,}")


OF_RECURRENT = {
    "attention": ("none", "none"),
    "objective": ("next word", "next word and preceding word"),
    "generates text": ("yes, left to right", "only with a single stack"),
    "sequential steps": ("T", "T, both stacks in parallel"),
    "used for": ("generating text, scoring sentences", "vectors for the network of a task"),
}
"""What the architecture table says of one stack and of both without measuring it."""


def architecture_columns(found: Mapping[str, Measured]) -> None:
    """What was measured of one stack of ELMo and of both, with what is known of them."""

    def column(one: Measured) -> dict[str, str]:
        seen, left = one.seen, one.derivatives
        middle = len(seen) // 2
        mean = np.exp(np.log(left).mean())
        return {
            f"context of the middle word (of {len(seen)})": f"{int(seen[:middle].sum())} words left, {int(seen[middle + 1 :].sum())} right",
            f"influence of the first word, {SHORT} words / 2": f"{mean:.2g} ({len(left)} random texts: {min(left):.1g} to {max(left):.1g})",
            f"ms at T = {SHORT}": f"{one.ms[SHORT]:.2f}",
            f"ms at T = {LONG}": f"{one.ms[LONG]:.0f}",
        }

    table = pd.DataFrame({name: column(one) for name, one in found.items()})
    for name, values in OF_RECURRENT.items():
        table.loc[name] = values
    display(table)
