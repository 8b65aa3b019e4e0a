"""Tables of notebook 10, from what the notebook has computed or loaded."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill

import numpy as np
import pandas as pd
from IPython.display import display
from jaxtyping import Float
from torch import Tensor

from coursekit.application_runs import SOURCES, Scores, of_source
from coursekit.entity_scores import Spans, Tagged
from coursekit.intervals import Interval, bootstrap, half_width
from coursekit.plots import listed


def _verdict(low: float, high: float) -> str:
    return "exceeds the noise" if low > 0 or high < 0 else "within the noise"


def probes(right: Mapping[str, Float[Tensor, " n"]], gains: Mapping[str, Float[np.ndarray, " n"]]) -> None:
    """The accuracy of a linear layer on each pooled vector, and what the mean gains over the others on the same reviews."""
    for name, hits in right.items():
        low, high = bootstrap(hits.numpy())
        print(f"{name:<8} accuracy {hits.mean():.3f}  (95 % {low:.3f} to {high:.3f}; chance level 0.500)")
    for name, gain in gains.items():
        low, high = bootstrap(gain)
        print(f"accuracy on the same reviews, mean − {name}: {gain.mean():+.3f} (95 % {low:+.3f} to {high:+.3f})")  # fmt: skip


def gains_of_fine_tuning(gains: Mapping[str, Interval], answers: pd.DataFrame) -> None:
    """What the fine-tuned model gains over each other model, and its accuracy by seed."""
    for name, (middle, low, high) in gains.items():
        verdict = _verdict(low, high)
        print(f"fine-tuned − {name:<18} {middle:+z.3f}  (95 % {low:+.3f} to {high:+.3f}): {verdict}")
    by_seed = answers[answers["model"] == "fine-tuned"].groupby("seed")["right"].mean()
    print(f"fine-tuned, accuracy by seed: {listed(by_seed, 3)} (± {half_width(by_seed):.3f})")


def other_sources(answers: pd.DataFrame) -> None:
    """By how many points other training examples change the accuracy on the same test sentences, by model and source."""
    for source in SOURCES[1:]:
        for model in ("frozen", "fine-tuned"):
            own, ours = answers[f"{source}, {model}"], answers[f"ours, {model}"]
            middle, low, high = of_source(own - ours, source)
            print(
                f"{source:<7}  {model:<10}  {f'{source} sentences minus our reviews as training data:':<54}"
                f"{100 * middle:+5.1f} points (95 % {100 * low:+.1f} to {100 * high:+.1f})"
            )
    middle, low, high = of_source(answers["film, frozen, 3,120"] - answers["film, frozen"], "film")
    print(
        f"film     frozen      {'3,120 minus 780 film sentences as training data:':<54}"
        f"{100 * middle:+5.1f} points (95 % {100 * low:+.1f} to {100 * high:+.1f})"
    )
    for source in SOURCES[1:]:
        middle, low, high = of_source(answers["one rater"], source)
        print(f"{source:<7}  one rater agrees with the others: {middle:.3f} (95 % {low:.3f} to {high:.3f})")


def entities(tokens: Sequence[str], taggings: Sequence[list[str]], spans: Spans) -> None:
    """The entities that different tags find in the same sentence."""
    for tags in taggings:
        print(" ".join(tags))
        for begin, end, kind in spans(tags):
            print(f"    {kind:<5}", " ".join(tokens[begin:end]))


def errors(
    sentences: Sequence[list[str]], truth: Tagged, predicted: Tagged, spans: Spans, most: int = 4
) -> None:
    """The true and the predicted entities of the first sentences in which they differ."""
    wrong = [
        (tokens, {"true": spans(true), "predicted": spans(tags)})
        for tokens, true, tags in zip(sentences, truth, predicted, strict=True)
        if set(spans(true)) != set(spans(tags))
    ]
    for tokens, found in wrong[:most]:
        print(" ".join(tokens))
        for name, entities in found.items():
            named = [f"{' '.join(tokens[begin:end])} {kind}" for begin, end, kind in entities]
            print(f"    {name}:", "; ".join(named) or "–")


def taggers(table: pd.DataFrame, flattery: pd.Series, silent: float) -> None:
    """Token accuracy and entity F1 of each tagger, and by how much the first exceeds the second."""
    display(table.style.format("{:.3f}", na_rep="–"))
    print(
        f"token accuracy exceeds entity F1 by {flattery.min():.2f} to {flattery.max():.2f};",
        f"if O is predicted everywhere, by {silent:.2f}",
    )


def gains_in_f1(gains: Mapping[tuple[str, str], Interval]) -> None:
    """The F1 of one tagger minus that of another."""
    for (one, other), (middle, low, high) in gains.items():
        verdict = _verdict(low, high)
        print(f"{one} − {other}: {middle:+.3f} (95 % {low:+.3f} to {high:+.3f}): {verdict}")


def f1_by_size(scores: Mapping[int, Sequence[float]]) -> None:
    """The F1 of the fine-tuned tagger by the number of training sentences."""
    for size, of in scores.items():
        print(
            f"fine-tuned on {size:>3} sentences: F1 {np.mean(of):.3f} ± {half_width(of):.3f} "
            "(three seeds; about the same number of steps for every size)"
        )


def highest_scores(question: pd.Series, scores: Scores) -> None:
    """A question and its text, and the words with the highest start and end scores."""
    start, end, _, offsets = scores
    text = question["context"]
    print(question["question"], f"\n\n{fill(text, 72)}\n")
    for name, values in (("start", start), ("end", end)):
        best = values.topk(3).indices.tolist()
        words = [text[slice(*offsets[t])] if t else "[CLS]" for t in best]
        said = ", ".join(f"{word} ({values[t]:.1f})" for word, t in zip(words, best, strict=True))
        print(f"highest {name} scores: {said}")


def no_valid_span(invalid: pd.Series, questions: int) -> None:
    """The fraction of questions for which start and end form no valid span, by model and seed."""
    for name in ("fine-tuned", "frozen"):
        shares = invalid[name]
        seeds = ", ".join(f"{x:.1%}" for x in shares)
        print(
            f"{name:<11} no valid span: {shares.mean():.1%} of {questions} questions",
            f"(by seed {seeds}; ± {100 * half_width(shares):.1f} points)",
        )


def scored_answers(
    mark: Callable[[str, list[str]], tuple[float, float]], answers: Sequence[tuple[str, list[str]]]
) -> None:
    """Exact match and F1 of some answers, each with its accepted answers."""
    for answer, accepted in answers:
        exact, overlap = mark(answer, accepted)
        print(f"answer {answer!r:<18} accepted {accepted!s:<36} exact match {exact:.0f}, F1 {overlap:.2f}")


def answers(
    forced: Mapping[str, Sequence[pd.DataFrame]],
    allowed: Mapping[str, Sequence[pd.DataFrame]],
    of_paragraphs: Callable[[Sequence[pd.DataFrame], str], Interval],
) -> None:
    """Exact match and F1 of each model: on questions with an answer (`forced`), and on all, where it may abstain (`allowed`)."""
    table: dict[str, dict[str, str]] = {}
    for name in allowed:
        line = table[name] = {}
        for title, source in (("has an answer", forced), ("all", allowed)):
            for mark in ("exact match", "F1"):
                if name in source:
                    middle, low, high = of_paragraphs(source[name], mark)
                    line[f"{title}: {mark}"] = f"{middle:.3f} ({low:.2f}–{high:.2f})"
    display(pd.DataFrame(table).T.fillna("–"))
    by_seed = [one["F1"].mean() for one in forced["fine-tuned"]]
    print(
        f"fine-tuned, F1 on questions with an answer, by seed: {listed(by_seed, 3)} (± {half_width(by_seed):.3f})"
    )


def thresholds(
    gained: Sequence[tuple[float, float, float, float]], gain: Float[np.ndarray, " seeds"]
) -> None:
    """For each seed, the threshold and the test F1 at 0, at this threshold, and at the best one for the test questions; the mean gain."""
    for seed, (threshold, zero, chosen, best) in enumerate(gained):
        print(
            f"seed {seed}: threshold {threshold:+.2f}; test F1 {zero:.3f} at threshold 0,",
            f"{chosen:.3f} at this threshold, {best:.3f} at the threshold that is best for the test questions",
        )
    print(f"gain over threshold 0: {gain.mean():+.3f} ± {half_width(gain):.3f}")


def finding_answerable(aucs: Mapping[str, Interval], more: tuple[float, float]) -> None:
    """AUCs of telling the questions with an answer from the others, and the interval of their difference."""
    for name, found in aucs.items():
        print("{}: AUC {:.2f} ({:.2f} to {:.2f})".format(name, *found))
    print("margin, fine-tuned − words of the question alone: 95 % {:+.2f} to {:+.2f}".format(*more))
