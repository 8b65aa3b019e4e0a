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

from coursekit.rule_prompts import (
    HELD_OUT_RULES,
    answer,
    draw_prompts,
    head_scores,
    learn_to_learn,
    right_by_examples,
    weights_of_heads,
)
from coursekit.small import GPT
from experiments.harness import Experiment, Options, Step, Steps, grid

STEPS, EVERY = 1200, 40
"""Training steps, and steps over which the loss is averaged."""


def _steps(options: Options) -> Steps:
    symbols, labels = draw_prompts(4000, torch.Generator().manual_seed(99), HELD_OUT_RULES)

    def values(layers: int, seed: int) -> Iterator[tuple[str, str, float]]:
        """Measure, where it was measured, and value."""
        model, losses = learn_to_learn(GPT, layers=layers, seed=seed, steps=STEPS)
        for start in range(0, STEPS, EVERY):
            yield "training loss", str(start + EVERY), np.mean(losses[start : start + EVERY])
        with torch.no_grad():
            logits = answer(model, symbols, labels).flatten(0, 1)
        yield "loss", "new prompts", cross_entropy(logits, labels.flatten()).item()
        for examples, accuracy in enumerate(right_by_examples(model, symbols, labels)):
            yield "right", str(examples), accuracy
        weights = weights_of_heads(model, symbols, labels)
        for measure, scores in head_scores(weights, symbols).items():
            for layer, heads in enumerate(scores.tolist(), start=1):
                for head, score in enumerate(heads, start=1):
                    yield measure, f"layer {layer}, head {head}", score

    def measure(layers: int, seed: int) -> list[dict]:
        return [dict(zip(("measure", "where", "value"), each, strict=True)) for each in values(layers, seed)]

    def measure_wide(seed: int) -> list[dict]:
        model, _ = learn_to_learn(GPT, layers=1, seed=seed, steps=3000, dim=64, heads=16, feed_forward=512)
        found = right_by_examples(model, symbols, labels)
        return [{"where": str(examples), "value": accuracy} for examples, accuracy in enumerate(found)]

    yield Step("induction", grid(layers=(1, 2), seed=options.seeds), measure)
    yield Step("induction_wide", grid(seed=options.seeds), measure_wide)


EXPERIMENT = Experiment(_steps, seeds=range(3))
