"""Tables and printed results of notebook 11, from values that the notebook has computed."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd
from IPython.display import display
from jaxtyping import Float, Int
from sklearn.metrics import cohen_kappa_score
from torch import Tensor

from coursekit.graded_pairs import GradedPairs
from coursekit.intervals import Interval, bootstrap
from coursekit.models import load
from coursekit.retrieved_answers import MEASURES, RetrievedAnswers


def graded_pairs(pairs: pd.DataFrame, exam: pd.DataFrame) -> None:
    """Four test pairs from low to high grades, the numbers of pairs and of ties, and the annotators' agreement."""
    columns = ["premise", "hypothesis", "first", "second", "similarity"]
    some = exam.sort_values("similarity")[columns].iloc[[0, 60, 120, 191]]
    display(some.style.hide(axis="index").format("{:.2f}", subset=columns[2:]))
    tied = exam.similarity.duplicated(keep=False).mean()
    print(
        f"{len(pairs)} pairs, {len(exam)} of them in the test set, with {exam.similarity.nunique()} different grades; "
        f"{tied:.0%} of the test pairs share their grade with another pair"
    )
    agreement = exam["first"].corr(exam["second"], method="spearman")
    print(f"Spearman's correlation between the two annotators on the test set: {agreement:.2f}")


def correlations(by_order: pd.DataFrame) -> None:
    """Spearman's correlation by each function and each order of the pairs."""
    caption = "Spearman's correlation between overlap and rounded grades"
    display(by_order.style.format("{:.3f}").set_caption(caption))


def gains(found: Mapping[str, Interval]) -> None:
    """Print one line for each difference between correlations."""
    for names, (difference, low, high) in found.items():
        print(f"{names:<62} {difference:+.3f} (95 % interval {low:+.3f} to {high:+.3f})")


def bert_base(
    graded: GradedPairs,
    read: Callable[..., tuple[Tensor, Tensor]],
    mean_pool: Callable[[Tensor, Tensor], Tensor],
    from_hub: bool,
) -> None:
    """Print how well BERT-Base's vectors agree with the grades: their mean, and that of [CLS]."""
    if not from_hub:
        print("BERT-Base was not loaded (FROM_HUB is False).")
        return
    original = load("bert-base-uncased", from_hub=True)
    for name, pool in {"mean": mean_pool, "[CLS]": lambda hidden, keep: hidden[:, 0]}.items():

        def vectors_of(texts: Iterable[str], pool=pool) -> Tensor:
            return pool(*read(texts, original.model, original.tokenizer))

        value, low, high = graded.agreement(graded.cosines(vectors_of))
        print(f"BERT-Base, {name}: {value:.3f} ({low:.3f} to {high:.3f})")


def own_premises(found: Mapping[str, tuple[Float[Tensor, "n n"], float, float]]) -> None:
    """Print how close each model's hypotheses are to their own premises and to the others, and the ranking loss."""
    for name, (matrix, nats, nearest) in found.items():
        others = (matrix.sum() - matrix.trace()) / (matrix.numel() - len(matrix))
        print(
            f"{name:<16} mean cosine with own premise {matrix.diagonal().mean():.2f}, with other premises {others:.2f}; "
            f"loss {nats:.2f} nats; own premise nearest for {nearest:.0%}"
        )


WITHIN = (
    "length alone",
    "words in common",
    "our encoder, untrained",
    "our encoder, ranking loss",
    "MiniLM: trained for this",
)


def within_labels(graded: GradedPairs) -> None:
    """Spearman's correlation with the grades for the pairs with each label."""
    labels = "entailment", "neutral", "contradiction"
    display(
        pd.DataFrame(
            {
                label: {
                    name: "{:.2f} ({:.2f} to {:.2f})".format(*graded.within(name, label)) for name in WITHIN
                }
                for label in labels
            }
        )
    )


def training(course: Float[np.ndarray, "points 3"], every: int) -> None:
    """Print the mean training loss and the agreement on the validation pairs by step."""
    for step, loss, on_pairs in course:
        print(
            f"step {step:2.0f}: mean loss of the last {every} batches {loss:.2f}, Spearman on validation {on_pairs:.2f}"
        )


def times(readings: Mapping[str, int], seconds: Mapping[str, float]) -> None:
    """Print the forward passes and seconds of a cross-encoder and a bi-encoder for all pairs of n sentences."""
    n = readings["bi-encoder"]
    for name, count in readings.items():
        print(f"{name:<14} {count:>12,} forward passes, {seconds[name]:>12,.0f} s")
    print(f"all {n:,} × {n:,} cosines: {seconds['all cosines']:.1f} s (extrapolated from a fifth of them)")
    ratio = seconds["cross-encoder"] / (seconds["bi-encoder"] + seconds["all cosines"])
    hours = seconds["cross-encoder"] / 3600
    print(
        f"all pairs with the cross-encoder: {hours:,.0f} hours, {ratio:,.0f} times as long as with the bi-encoder"
    )


def minilm_or_tfidf(places: Mapping[str, Int[Tensor, " Q"]]) -> None:
    """Print the difference between two searches in recall at 1, and how many questions only one of them answers first."""
    both = np.stack([(places[name] == 1).double() for name in ("MiniLM", "TF-IDF")], axis=1)
    low, high = bootstrap(both, lambda hit: (hit[:, 0] - hit[:, 1]).mean(), draws=1000)
    only = [int((both[:, i] > both[:, 1 - i]).sum()) for i in (0, 1)]
    gap = (both[:, 0] - both[:, 1]).mean()
    print(
        f"recall at 1, MiniLM minus TF-IDF: {gap:+.3f} (95 % interval {low:+.3f} to {high:+.3f}); "
        f"for {only[0]} of {len(both)} questions, only MiniLM ranks the relevant paragraph first; for {only[1]}, only TF-IDF does"
    )


def results(paragraphs: pd.DataFrame, numbers: Int[Tensor, "1 k"], cosines: Float[Tensor, "1 k"]) -> None:
    """Print the beginnings of the paragraphs that a search returns, with their cosines."""
    for number, cosine in zip(numbers[0].tolist(), cosines[0].tolist(), strict=True):
        print(f"    {cosine:.2f}  {paragraphs.title[number]}: {paragraphs.context[number][:60]}…")


def agreement_of_annotators(judged: pd.DataFrame) -> None:
    """Print the fraction of pairs on which the author and the second annotator agree, and Cohen's kappa."""
    kappa = cohen_kappa_score(judged.author, judged.second)
    same = (judged.author == judged.second).mean()
    print(f"the two annotators agree on {same:.0%} of the pairs; κ = {kappa:.2f}")


def answers(recorded: RetrievedAnswers) -> None:
    """Differences between the answers for each wording, how many of them add nothing, and how many have much support."""
    gains = {
        f"“{wording}”": {
            f"{MEASURES[measure]}: {after}, minus {control}": "{:+.2f} ({:+.2f} to {:+.2f})".format(*values)
            for (measure, after, control), values in recorded.gains(wording).items()
        }
        for wording in recorded.shares
    }
    caption = "Differences for two wordings of the prompt (95 % intervals over questions)"
    display(pd.DataFrame(gains).style.set_caption(caption))
    adds_nothing = recorded.answers.pivot_table(
        index="given", columns="wording", values="adds nothing", sort=False
    )
    caption = "Fraction of answers that add no content word to the question"
    display(adds_nothing.style.format("{:.0%}").set_caption(caption))
    for wording in recorded.shares:
        mean, low, high = recorded.silence(wording)
        print(
            f"fraction of answers that add nothing, with a wrong passage minus without a passage (“{wording}”): {mean:+.2f} "
            f"(95 % interval {low:+.2f} to {high:+.2f})"
        )
    whole = {
        way: {bound: float((found["true"] >= bound).mean()) for bound in (0.5, 0.8, 1.0)}
        for way, found in recorded.shares["a few words"].items()
    }
    caption = "Fraction of answers with at least this much support from the right passage"
    display(pd.DataFrame(whole).T.style.format("{:.0%}").set_caption(caption))
