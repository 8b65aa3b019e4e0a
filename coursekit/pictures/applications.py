"""Figures of notebook 10. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coursekit.application_runs import MAX_LEN, SOURCES, Scores, of_source
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, SKY, show
from coursekit.sliders import interact

LOOKS = {
    "baseline": (GREY, "s"),
    "frozen": (SKY, "<"),
    "fine-tuned": (BLUE, "o"),
    "fine-tuned, with capitals": (GREEN, "D"),
    "random weights": (ORANGE, "^"),
    "SmolLM2, zero-shot": (PINK, "v"),
}
"""Colour and marker of each kind of model; every other name is drawn as a baseline."""


def _look(name: str) -> tuple[str, str]:
    return LOOKS.get(name, LOOKS["baseline"])


def three_heads(tokens: Sequence[str], parameters: Mapping[str, int], encoder: int) -> None:
    """The output of each head: one label for the sequence, a tag per token, two scores per token."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 2.4))
    n = len(tokens)
    outputs = (["positive"], ["·", *(["O"] * (n - 3)), "B-LOC", "·"], ["start\nend"] * n)
    for ax, (name, count), texts in zip(axes, parameters.items(), outputs, strict=True):
        for t, token in enumerate(tokens):
            ax.text(t, 0.35, token, ha="center", va="center", fontsize=8)
            ax.add_patch(plt.Rectangle((t - 0.38, 0.6), 0.76, 0.35, color=SKY, alpha=0.6, linewidth=0))
        places = [(n - 1) / 2] if len(texts) == 1 else range(n)
        for place, text in zip(places, texts, strict=True):
            reached = range(n) if len(texts) == 1 else [place]
            for t in reached:
                ax.plot([t, place], [0.97, 1.5], color=GREY, linewidth=0.8)
            ax.text(place, 1.72, text, ha="center", va="center", fontsize=8)
        ax.set(xlim=(-0.6, n - 0.4), ylim=(0.2, 2.05))
        ax.set_title(f"{name}: {count:,} parameters", fontsize=10)
        ax.axis("off")
    counts = ", ".join(f"{name} {count:,}" for name, count in parameters.items())
    show(
        figure,
        alt=f"Three heads on the same sequence of {n} vectors. The first predicts one label from all vectors, the second a tag for each vector, "
        f"the third a start score and an end score for each vector. "
        f"Parameters of the heads: {counts}; parameters of the encoder: {encoder:,}.",
    )
    largest = max(parameters.values())
    print(f"encoder: {encoder:,} parameters; largest head: {largest:,} ({largest / encoder:.3%})")


def accuracy_by_phenomenon(found: Mapping[str, Mapping[str, tuple[float, float, float]]]) -> None:
    """Accuracy with 95 % intervals over the reviews: all of them, and by how the opinion is expressed."""
    kinds = list(next(iter(found.values())))
    figure, axes = plt.subplots(1, len(kinds), figsize=(10.4, 3.1), sharey=True)
    said = []
    for ax, kind in zip(axes, kinds, strict=True):
        for place, (name, scores) in enumerate(found.items()):
            middle, low, high = scores[kind]
            colour, marker = _look(name)
            ax.plot([low, high], [place, place], color=colour)
            ax.plot(middle, place, marker, color=colour, markersize=7)
            ax.annotate(
                f"{middle:.2f}", (middle, place), (0, 7), textcoords="offset points", ha="center", fontsize=8
            )
        ax.axvline(0.5, color=GREY, linestyle=":", linewidth=1)
        ax.set(xlim=(0, 1.02), ylim=(len(found) - 0.5, -0.8), title=kind)
        ax.title.set_fontsize(10)
        ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    axes[0].set_yticks(range(len(found)), list(found))
    figure.supxlabel("accuracy on the test reviews (dotted: chance level)", fontsize=10)
    for name, scores in found.items():
        said.append(
            f"{name}: "
            + ", ".join(
                f"{kind} {middle:.2f} ({low:.2f} to {high:.2f})"
                for kind, (middle, low, high) in scores.items()
            )
        )
    show(
        figure,
        alt=f"Accuracy on the test reviews with 95 % intervals. {'; '.join(said)}. Chance level is 0.5.",
    )


TRAINED_ON = {
    "ours": ("our reviews", BLUE, "o"),
    "film": ("film sentences", ORANGE, "^"),
    "product": ("product sentences", GREEN, "s"),
}
"""What a classifier was trained on, with its colour and marker."""


def other_sources(answers: pd.DataFrame) -> None:
    """Accuracy on the examples of each source with 95 % intervals, by what the classifier was trained on; and that of one rater."""
    figure, axes = plt.subplots(1, len(SOURCES), figsize=(10.4, 3.4), sharey=True, sharex=True)
    rows = [(trained, model) for model in ("frozen", "fine-tuned") for trained in TRAINED_ON]
    said = []
    for ax, source in zip(axes, SOURCES, strict=True):
        for place, (trained, model) in enumerate(rows):
            middle, low, high = of_source(answers[f"{trained}, {model}"], source)
            name, colour, marker = TRAINED_ON[trained]
            ax.plot([low, high], [place, place], color=colour)
            ax.plot(middle, place, marker, color=colour, markersize=7)
            ax.annotate(
                f"{middle:.2f}", (middle, place), (0, 6), textcoords="offset points", ha="center", fontsize=8
            )
            said.append(
                f"{model}, trained on {name}, tested on {TRAINED_ON[source][0]}: {middle:.2f} ({low:.2f} to {high:.2f})"
            )
        if source != "ours":
            rater, *_ = of_source(answers["one rater"], source)
            ax.axvline(rater, color=PINK, linestyle="--", linewidth=1.5)
            ax.text(rater, -0.85, "one rater", color="black", ha="center", fontsize=8)
            said.append(f"one rater, {TRAINED_ON[source][0]}: {rater:.2f}")
        ax.axvline(0.5, color=GREY, linestyle=":", linewidth=1)
        ax.set(xlim=(0.45, 1), ylim=(len(rows) - 0.5, -1.1))
        ax.set_title(f"tested on {TRAINED_ON[source][0]}", fontsize=10)
    axes[0].set_yticks(
        range(len(rows)), [f"{model}, trained on {TRAINED_ON[trained][0]}" for trained, model in rows]
    )
    figure.supxlabel("accuracy (dotted: chance level)", fontsize=10)
    show(figure, alt=f"Accuracy with 95 % intervals. {'; '.join(said)}. Chance level is 0.5.")


def pieces(tokens: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    """The subwords of a sentence and their labels in each scheme; · where the loss ignores the position."""
    figure, ax = plt.subplots(figsize=(10, 0.5 + 0.42 * (len(rows) + 1)))
    names = ["subword", *rows]
    for height, (name, texts) in enumerate({"subword": tokens, **rows}.items()):
        for t, text in enumerate(texts):
            kind = text[2:] if text[:2] in ("B-", "I-") else ""
            colour = {"PER": ORANGE, "LOC": BLUE, "ORG": GREEN, "MISC": PINK}.get(kind, "white")
            if name != "subword" and kind:
                ax.add_patch(plt.Rectangle((t - 0.47, height - 0.4), 0.94, 0.8, color=colour, linewidth=0,
                                           alpha=0.55 if text[0] == "B" else 0.22))  # fmt: skip
            ax.text(
                t, height, text, ha="center", va="center", fontsize=8, color=GREY if text == "·" else "black"
            )
    ax.set(xlim=(-0.6, len(tokens) - 0.4), ylim=(len(names) - 0.5, -0.6))
    ax.set_yticks(range(len(names)), names)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    labels = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in rows.items())
    show(figure, alt=f"{len(tokens)} subwords: {' '.join(tokens)}. {labels}.")


def live_run(curve: Sequence[tuple[int, float, float, float]], floor: tuple[float, float]) -> None:
    """Loss, token accuracy and entity F1 while the head and the upper layers are trained."""
    steps, losses, accuracies, f1s = zip(*curve, strict=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.3))
    left.plot(steps, losses, color=BLUE, marker="o", markersize=4)
    left.set(xlabel="step (16 sentences each)", ylabel="training loss (nats per word)", ylim=(0, None))
    right.plot(steps, accuracies, color=ORANGE, marker="s", markersize=4, label="token accuracy")
    right.plot(steps, f1s, color=BLUE, marker="o", markersize=4, label="entity F1")
    right.axhline(
        floor[0],
        color=ORANGE,
        linestyle=":",
        label=f"everything O: accuracy {floor[0]:.2f}, F1 {floor[1]:.2f}",
    )
    right.set(xlabel="step (16 sentences each)", ylabel="score on the test sentences", ylim=(-0.03, 1.03))
    right.legend(fontsize=8, loc="lower right")
    show(
        figure,
        alt=f"Left: training loss falls from {losses[0]:.2f} to {losses[-1]:.2f} nats in {steps[-1]} steps. Right: token accuracy rises from {accuracies[0]:.2f} to "
        f"{accuracies[-1]:.2f}, entity F1 from {f1s[0]:.2f} to {f1s[-1]:.2f}; predicting O for every token reaches {floor[0]:.2f} and {floor[1]:.2f}.",
    )


def accuracy_flatters(points: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Entity F1 against token accuracy, with a point for each tagger and seed."""
    figure, ax = plt.subplots(figsize=(8.6, 4.2))
    said = []
    baseline = iter("sXP*h")
    for name, runs in points.items():
        colour, marker = _look(name)
        accuracies, scores = np.array(runs).T
        ax.plot(accuracies, scores, marker if name in LOOKS else next(baseline), color=colour, markersize=8,
                linestyle="none", label=name)  # fmt: skip
        said.append(f"{name}: accuracy {accuracies.mean():.3f}, F1 {scores.mean():.3f}")
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    ax.text(0.985, 0.955, "equal", color=GREY, fontsize=8, ha="right")
    ax.set(xlabel="token accuracy", ylabel="entity F1", xlim=(0.5, 1), ylim=(-0.03, 1))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(
        figure,
        alt=f"Token accuracy and entity F1 on the test sentences, means over seeds. {'; '.join(said)}.",
    )


def triangle(
    scores: Float[Tensor, "T T"],
    allowed: Bool[Tensor, "T T"],
    tokens: Sequence[str],
    chosen: tuple[int, int],
    alone: tuple[int, int],
    none: float,
    title: str,
) -> None:
    """The scores of all spans: rows are first tokens, columns are last tokens; invalid cells are white."""
    answer = " ".join(tokens[chosen[0] : chosen[1] + 1])
    figure, ax = plt.subplots(figsize=(7.6, 6.6))
    shown = np.where(allowed.numpy(), scores.numpy(), np.nan)
    picture = ax.imshow(shown, cmap="viridis")
    figure.colorbar(picture, ax=ax, shrink=0.7, label=f"start + end score (no answer: {none:.1f})")
    ax.plot(chosen[1], chosen[0], "o", markersize=13, markerfacecolor="none", markeredgecolor="black",
            markeredgewidth=2, label=f"best span: {answer if len(answer) < 40 else answer[:37] + '…'}")  # fmt: skip
    ax.plot(alone[1], alone[0], "x", markersize=10, color=ORANGE, markeredgewidth=2.5,
            label="start and end chosen independently")  # fmt: skip
    every = range(0, len(tokens), max(1, len(tokens) // 30))
    ax.set_xticks(every, [tokens[t] for t in every], rotation=90, fontsize=7)
    ax.set_yticks(every, [tokens[t] for t in every], fontsize=7)
    ax.set(xlabel="last token", ylabel="first token")
    ax.set_title(title, fontsize=10)
    ax.legend(fontsize=8, loc="lower left")
    best = scores[chosen].item()
    place = "the same span" if chosen == alone else (
        f"tokens {alone[0]} (first) and {alone[1]} (last), which is {'not a span' if alone[1] < alone[0] else 'a different span'}"
    )  # fmt: skip
    show(figure, alt=(
        f"{title} The text of {len(tokens)} tokens has {int(allowed.sum()):,} valid spans. The best one is “{answer}” with a score of {best:.1f}; the score of "
        f"no answer is {none:.1f}. If start and end are chosen independently, the result is {place}."
    ))  # fmt: skip


def question_triangle(
    id: str, questions: pd.DataFrame, scores_of: Callable[[str], Scores], best_span: Callable
) -> None:
    """The triangle of the text that belongs to one question, with the student's best span."""
    start, end, context, offsets = scores_of(id)
    first, last, _ = best_span(start, end, context, MAX_LEN)
    places = context.nonzero()[:, 0]
    skip, table = places[0].item(), start[places][:, None] + end[places]
    band = torch.ones_like(table).triu().tril(MAX_LEN - 1).bool()
    text, title = questions.loc[id, "context"], questions.loc[id, "question"]
    tokens = [text[slice(*offsets[place])] for place in places.tolist()]
    alone = start[places].argmax().item(), end[places].argmax().item()
    none = (start[0] + end[0]).item()
    triangle(table, band, tokens, (first - skip, last - skip), alone, none, title)


def triangle_slider(
    first: str, questions: pd.DataFrame, scores_of: Callable[[str], Scores], best_span: Callable
) -> None:
    """A slider over the questions, from the first id, above the triangle of the chosen one."""
    from ipywidgets import IntSlider  # start-up: grading does not need it

    ids = questions.index
    slider = IntSlider(value=ids.get_loc(first), max=len(ids) - 1, continuous_update=False)
    interact(lambda number: question_triangle(ids[number], questions, scores_of, best_span), number=slider)


def thresholds(margins: np.ndarray, f1: np.ndarray, answerable: np.ndarray, chosen: float) -> None:
    """The score at each threshold: nearly all questions are answered on the left, none on the right."""
    candidates = np.sort(margins)
    scores = [np.where(margins > t, f1, ~answerable).mean() for t in candidates]
    figure, ax = plt.subplots(figsize=(7.6, 3.4))
    ax.plot(candidates, scores, color=BLUE)
    at_zero = np.where(margins > 0, f1, ~answerable).mean()
    best = np.where(margins > chosen, f1, ~answerable).mean()
    ax.axvline(0, color=GREY, linestyle=":", label=f"threshold 0: {at_zero:.3f}")
    name = f"{chosen:.2f}" if np.isfinite(chosen) else "all answered"
    ax.axvline(
        max(chosen, candidates[0]),
        color=GREEN,
        linestyle="--",
        label=f"chosen on the validation set, {name}: {best:.3f}",
    )
    ax.axhline(
        (~answerable).mean(),
        color=ORANGE,
        linestyle=":",
        label=f"always abstains: {(~answerable).mean():.3f}",
    )
    ax.set(xlabel="threshold for the margin", ylabel="F1 on the test questions", ylim=(0, None))
    ax.legend(fontsize=9)
    show(
        figure,
        alt=f"F1 on {len(f1)} test questions by threshold: {scores[0]:.3f} if nearly all questions are answered, {scores[-1]:.3f} if none is answered; "
        f"{at_zero:.3f} at the threshold 0, {best:.3f} at the threshold chosen on the validation set ({name}).",
    )


def decision(measured: Mapping[str, tuple[float, float]]) -> None:
    """A decision tree from left to right: which model for which task; the leaves show the scores measured here.

    `measured` has the score and its baseline for "sentiment", "entities" and "questions".
    """
    scores = {task: f"{score:.2f}" for task, (score, _) in measured.items()}
    baselines = {task: f"baseline {baseline:.2f}" for task, (_, baseline) in measured.items()}
    leaves = pd.DataFrame([
        ("encoder + head on a pooled vector (sentiment)", "text",
         f"accuracy {scores['sentiment']}; {baselines['sentiment']}"),
        ("encoder + head on every token (entities)", "word",
         f"F1 {scores['entities']}; {baselines['entities']}"),
        ("encoder + start and end scores (questions)", "span",
         f"F1 {scores['questions']}, may abstain; {baselines['questions']}"),
        ("sentence vectors that are compared", "two texts", "next notebook (11)"),
    ], columns=["model", "way", "measured"]).set_index("model")  # fmt: skip
    figure, ax = plt.subplots(figsize=(10.4, 4.4))

    def box(x: float, y: float, text: str, colour: str, width: float) -> None:
        ax.add_patch(plt.Rectangle((x, y - 0.38), width, 0.76, facecolor=colour, alpha=0.25, linewidth=0))
        ax.text(x + width / 2, y, text, ha="center", va="center", fontsize=8)

    def way(x0: float, y0: float, x1: float, y1: float, text: str) -> None:
        ax.plot([x0, x1], [y0, y1], color=GREY, linewidth=1)
        ax.text(
            (x0 + x1) / 2, (y0 + y1) / 2, text, fontsize=8, ha="center", va="center", backgroundcolor="white"
        )

    box(0, 2, "Is the answer\na new text?", GREY, 1.6)
    way(1.6, 2.1, 2.6, 4, "yes")
    way(1.6, 1.9, 2.6, 1.5, "no")
    box(2.6, 4, "decoder, or encoder–decoder: generates (04, 07)", PINK, 3.6)
    box(2.6, 1.5, "Does the answer concern\nthe text, each word, a\nspan, or two texts?", GREY, 1.7)
    for y, (name, row) in zip((3, 2, 1, 0), leaves.iterrows(), strict=True):
        way(4.3, 1.5, 5.3, y, row["way"])
        box(5.3, y, f"{name}\n{row['measured']}", BLUE if row["way"] != "two texts" else GREEN, 5.1)
    ax.set(xlim=(-0.1, 10.5), ylim=(-0.5, 4.5))
    ax.axis("off")
    said = "; ".join(f"{row['way']}: {name}, {row['measured']}" for name, row in leaves.iterrows())
    show(figure, alt=(
        "A decision tree. If the answer is a new text, use a decoder or an encoder–decoder; otherwise use an encoder whose head depends on what the answer concerns. "
        f"{said}."
    ).replace("\n", " "))  # fmt: skip
