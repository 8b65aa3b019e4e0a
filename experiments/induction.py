"""How many layers does a decoder need to learn a new rule from the examples in its prompt?

Decoders of one and of two layers are trained on prompts with ever new rules (notebook 07, part 9): the loss during
training, on 4,000 prompts with held-out rules the loss and the accuracy by number of examples, and for each head the mean
weight on the previous token and on matching labels. Writes `data/results/induction.csv` (about a minute); and
`data/results/induction_wide.csv`, the accuracy of one layer with 16 heads after 3,000 steps (about five minutes).
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from coursekit.small import GPT, GPTConfig
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

STEPS, EVERY = 1200, 40
"""Training steps, and steps over which the loss is averaged."""


def names_of_gpt() -> dict:
    """What notebook 07 defines."""
    return names_of("07_gpt", CourseGPT=GPT, GPTConfig=GPTConfig, cross_entropy=cross_entropy)


def _steps(options: Options) -> Steps:
    names = names_of_gpt()
    symbols, labels = names["draw_prompts"](4000, torch.Generator().manual_seed(99), names["HELD_OUT_RULES"])

    def values(layers: int, seed: int) -> Iterator[tuple[str, str, float]]:
        """Measure, where it was measured, and value."""
        model, losses = names["learn_to_learn"](layers=layers, seed=seed, steps=STEPS)
        for start in range(0, STEPS, EVERY):
            yield "training loss", str(start + EVERY), np.mean(losses[start : start + EVERY])
        with torch.no_grad():
            logits = names["answer"](model, symbols, labels).flatten(0, 1)
        yield "loss", "new prompts", cross_entropy(logits, labels.flatten()).item()
        for examples, accuracy in enumerate(names["right_by_examples"](model, symbols, labels)):
            yield "right", str(examples), accuracy
        weights = names["attention_weights"](model, names["as_text"](symbols, labels))
        for measure, scores in names["head_scores"](weights, symbols).items():
            for layer, heads in enumerate(scores.tolist(), start=1):
                for head, score in enumerate(heads, start=1):
                    yield measure, f"layer {layer}, head {head}", score

    def measure(layers: int, seed: int) -> list[dict]:
        return [dict(zip(("measure", "where", "value"), each, strict=True)) for each in values(layers, seed)]

    def measure_wide(seed: int) -> list[dict]:
        model, _ = names["learn_to_learn"](
            layers=1, seed=seed, steps=3000, dim=64, heads=16, feed_forward=512
        )
        found = names["right_by_examples"](model, symbols, labels)
        return [{"where": str(examples), "value": accuracy} for examples, accuracy in enumerate(found)]

    yield Step("induction", grid(layers=(1, 2), seed=options.seeds), measure)
    yield Step("induction_wide", grid(seed=options.seeds), measure_wide)


EXPERIMENT = Experiment(_steps, seeds=range(3))
