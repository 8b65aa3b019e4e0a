"""The sense exam by kind of question: where, or by what, a sentence tells the sense of its ambiguous word.

    exam = sense_exam_of(load_language(2))
    table = exam_table(exam, {"bert": (untrained_models, trained_models)})

Every reader is asked the same way: an occurrence of the word takes the sense of its nearest labelled occurrence.
`python -m coursekit.exam --edition 2 --models build/retrain` prints the table of models that coursekit.retrain made.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from coursekit.intervals import half_width, mean_and_half
from coursekit.language import EDITIONS, Language, Sentences, load_language, sense_bound
from coursekit.language.blind import majority_accuracy, order_blind_accuracy, position_accuracy
from coursekit.scoreboard import Exam, nearest_hits
from coursekit.small.figures import LOSSES, SENTENCES, sense_vectors
from coursekit.small.figures import SEED as SEED_OF_LOSSES

QUESTIONS = {
    "left": "cue on the left",
    "right": "cue only on the right",
    "order1": "order, one clause",
    "order2": "order, two clauses",
}
LABELLED, HELD_OUT, SEED = 24_000, 6_000, 2013


def sense_exam_of(language: Language, labelled: int = LABELLED, held_out: int = HELD_OUT) -> Exam:
    """Sentences of both sides of the split, those with an ambiguous word."""
    rng = np.random.default_rng(SEED)
    labelled, asked = (
        language.sample(n, rng, side) for n, side in ((labelled, "train"), (held_out, "held_out"))
    )
    return Exam(labelled[labelled.position >= 0], asked[np.isin(asked.cue, list(QUESTIONS))])


def by_question(exam: Exam, right: Bool[np.ndarray, " held_out"]) -> dict[str, float]:
    """The share of right answers to each kind of question."""
    return {kind: float(right[exam.held_out.cue == kind].mean()) for kind in QUESTIONS}


def counted(language: Language, sentences: Sentences, near: bool) -> Float[Tensor, "sentences V"]:
    """Each sentence as counts of its words but the ambiguous one; with `near`, a word at distance d counts 1 / d."""
    ids = torch.from_numpy(sentences.ids)
    distance = (torch.arange(ids.shape[1]) - torch.from_numpy(sentences.position)[:, None]).abs()
    weight = torch.where(distance > 0, 1.0 / distance.clamp(min=1) if near else 1.0, 0.0)
    weight = weight.masked_fill(ids < 7, 0.0)  # special tokens
    return torch.zeros(len(ids), len(language.vocabulary)).scatter_add_(1, ids, weight)


def exact_rows(language: Language, exam: Exam) -> dict[str, dict[str, float]]:
    """What is known without a model: the bounds on these very questions; the others over the whole language."""
    asked = {kind: exam.held_out[exam.held_out.cue == kind] for kind in QUESTIONS}
    rows = {
        f"bound, {words}": {kind: sense_bound(language, asked[kind], context).mean for kind in QUESTIONS}
        for context, words in (("both", "whole sentence"), ("left", "words before"), ("right", "words after"))
    }
    blind = {
        "majority": majority_accuracy,
        "position and length": position_accuracy,
        "no order (the best)": order_blind_accuracy,
    }
    return rows | {
        name: {kind: accuracy(language, [kind]) for kind in QUESTIONS} for name, accuracy in blind.items()
    }


def exam_table(
    language: Language, exam: Exam, models: Mapping[str, tuple[Sequence[nn.Module], Sequence[nn.Module]]]
) -> pd.DataFrame:
    """Share of senses found. Rows: bounds, readers of counts, and models by name: untrained ones and trained ones.

    Columns: the kinds of question, and each with "±": half of the 95 % interval over the seeds (Student's t), not given
    where there are fewer than two models. A model has a row for each layer; layer 0 are its embeddings.
    """
    rows: dict[str, dict[str, float]] = exact_rows(language, exam)
    for name, near in (("bag of words", False), ("near words", True)):
        vectors = [counted(language, sentences, near) for sentences in (exam.labelled, exam.held_out)]
        rows[name] = by_question(exam, nearest_hits(exam, *vectors))
    for name, both in models.items():
        for text, group in zip(("untrained", "trained"), both, strict=True):
            if group:
                rows |= over_seeds(f"{name}, {text}", exam, group)
    return pd.DataFrame(rows).T


def over_seeds(name: str, exam: Exam, models: Sequence[nn.Module]) -> dict[str, dict[str, float]]:
    """One row for each layer, means and intervals over the models; 0 are the embeddings."""
    found = []  # model, layer, kind
    for model in models:
        layers = zip(sense_vectors(model, exam.labelled), sense_vectors(model, exam.held_out), strict=True)
        found.append([list(by_question(exam, nearest_hits(exam, *pair)).values()) for pair in layers])
    shares = np.array(found)
    half = mean_and_half(shares)[1] if len(models) > 1 else np.full(shares.shape[1:], np.nan)
    return {
        f"{name}, layer {layer}": dict(zip(QUESTIONS, mean, strict=True))
        | {f"{kind} ±": width for kind, width in zip(QUESTIONS, half[layer], strict=True)}
        for layer, mean in enumerate(shares.mean(axis=0))
    }


def main() -> None:
    """Print the table."""
    from coursekit.retrain import EVERY_RECIPE, checkpoint, load_trained

    parser = argparse.ArgumentParser(prog="python -m coursekit.exam", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--edition", type=int, choices=EDITIONS, default=2, help="(default: 2)")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="checkpoints of coursekit.retrain")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], metavar="SEED")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    language, models = load_language(arguments.edition), {}
    recipes = EVERY_RECIPE if arguments.models else {}
    for name in recipes.keys() & LOSSES.keys():
        recipe = recipes[name]
        seeds = [seed for seed in arguments.seeds if checkpoint(arguments.models, name, seed).exists()]
        untrained = []
        for seed in seeds:
            torch.manual_seed(seed)
            untrained.append(recipe.build(language).eval())
        trained = [load_trained(name, seed, recipe, language, arguments.models) for seed in seeds]
        models[name] = untrained, trained
    table = exam_table(language, sense_exam_of(language), models)
    print(table.to_string(float_format="{:.3f}".format, na_rep=""))
    for name, (_, trained) in models.items():
        for figure, (mean, half) in losses(name, trained, language).items():
            print(f"{name}, {figure}: {mean:.4f} ± {half:.4f} ({len(trained)} seeds)")


@torch.no_grad()
def losses(name: str, models: Sequence[nn.Module], language: Language) -> dict[str, tuple[float, float]]:
    """Losses in nats and how far above the exact bound, on both sides of the split: means and intervals over models."""
    found: dict[str, list[float]] = {}
    for side, text in (("held_out", "held-out"), ("train", "fresh training-side")):
        sample = language.sample(SENTENCES, np.random.default_rng(SEED_OF_LOSSES), side)
        for model in models:
            rng = np.random.default_rng(SEED_OF_LOSSES)
            for figure, value in LOSSES[name](model, language, sample, rng, text).items():
                found.setdefault(figure, []).append(value)
    return {
        figure: (float(np.mean(values)), half_width(values) if len(values) > 1 else float("nan"))
        for figure, values in found.items()
    }


if __name__ == "__main__":
    main()
