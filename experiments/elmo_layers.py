"""Which layer of ELMo suits which task, and is a learned mix of the layers better than the best of them?

For three tasks, with a trained biLM and with untrained ones (notebook 05, part 6): the accuracy of each layer alone, of
all mixed and of the word alone, and the weights of the mix. A seed draws other sentences, other initial weights of the
task and other held-out verbs; the trained biLM is always the one in data/models. Writes `data/results/elmo_layers.csv`
(about three minutes).
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from coursekit.language import Language, load_language
from coursekit.small import ELMo, load
from coursekit.small.recipes import RECIPES, new_model
from coursekit.word_tasks import examples, learn, task_data, task_sentences
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of


def by_word(language: Language, task: str, seed: int) -> float:
    """Accuracy of the label that a word has most often in training; of the most frequent label for a word that does not occur there."""
    learned, asked = (task_sentences(seed, split) for split in ("train", "held_out"))
    chosen, labels = examples(task, learned, False, seed)
    counts = np.zeros((len(language.vocabulary), labels[chosen].max() + 1))
    np.add.at(counts, (learned.ids[chosen], labels[chosen]), 1)
    chosen, labels = examples(task, asked, True, seed)
    words = asked.ids[chosen]
    guesses = np.where(counts[words].any(axis=1), counts[words].argmax(axis=1), counts.sum(axis=0).argmax())
    return float((guesses == labels[chosen]).mean())


def values(names: dict, model: ELMo, seed: int) -> Iterator[tuple[str, str, float]]:
    """Task, measure and value: accuracies of the mix and of each layer alone, and the weights of the mix."""
    language = load_language()
    for task, (R, labels, asked, right) in task_data(partial(names["layers"], model), seed).items():
        yield task, "accuracy, word alone", by_word(language, task, seed)
        for layer in range(len(R)):
            yield (
                task,
                f"accuracy, layer {layer}",
                learn(names["scalar_mix"], R, labels, asked, right, seed, only=layer)[1],
            )
        weights, accuracy = learn(names["scalar_mix"], R, labels, asked, right, seed)
        yield task, "accuracy, all mixed", accuracy
        for layer, weight in enumerate(weights):
            yield task, f"weight of layer {layer}", float(weight)


def _steps(options: Options) -> Steps:
    names = names_of("05_elmo")

    def measure(seed: int, biLM: str) -> list[dict]:
        model = (
            load("elmo") if biLM == "trained" else new_model(RECIPES["elmo"], load_language(), seed).eval()
        )
        return [
            {"task": task, "measure": what, "value": value}
            for task, what, value in values(names, model, seed)
        ]

    yield Step("elmo_layers", grid(seed=options.seeds, biLM=("trained", "untrained")), measure)


EXPERIMENT = Experiment(_steps, seeds=range(5))
