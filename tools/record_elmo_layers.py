"""Record data/results/elmo_layers.csv and elmo_mix.csv: notebook 05, part 6, over five seeds (four minutes).

    python tools/record_elmo_layers.py             # both; "layers" or "mix" behind it: one of them

The first holds each layer alone and all mixed, the second the weights of the mix with other penalties and numbers of steps.
A seed is other sentences, other first weights of the task and other verbs kept out. The trained biLM is the one in
data/models; of untrained ones there is another for each seed. The cells of the instructor's source that define what
is measured are run, so notebook and table cannot differ.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

from coursekit.language import Language, load_language
from coursekit.small import ELMo, load
from coursekit.small.recipes import RECIPES, new_model

ROOT = Path(__file__).parents[1]
TABLE, MIX = (ROOT / f"data/results/elmo_{name}.csv" for name in ("layers", "mix"))
SEEDS = range(5)
SETTINGS = {
    "as above: penalty 0.001, 200 steps": {},
    "no penalty": {"strength": 0.0},
    "penalty 0.01": {"strength": 0.01},
    "50 steps": {"steps": 50},
    "600 steps": {"steps": 600},
}


def by_word(names: dict, language: Language, task: str, seed: int) -> float:
    """Accuracy of the label that a word has most often in training; of the commonest label for a word not seen there."""
    learned, asked = (names["task_sentences"](seed, split) for split in ("train", "held_out"))
    chosen, labels = names["examples"](task, learned, False, seed)
    counts = np.zeros((len(language.vocabulary), labels[chosen].max() + 1))
    np.add.at(counts, (learned.ids[chosen], labels[chosen]), 1)
    chosen, labels = names["examples"](task, asked, True, seed)
    words = asked.ids[chosen]
    guesses = np.where(counts[words].any(axis=1), counts[words].argmax(axis=1), counts.sum(axis=0).argmax())
    return float((guesses == labels[chosen]).mean())


def measure(names: dict, model: ELMo, seed: int) -> Iterator[tuple[str, str, float]]:
    """Task, measure and value: accuracies of the mix and of each layer alone, and the weights of the mix."""
    language = load_language()
    for task, (R, labels, asked, right) in names["task_data"](model, seed).items():
        yield task, "accuracy, word alone", by_word(names, language, task, seed)
        for layer in range(len(R)):
            yield (
                task,
                f"accuracy, layer {layer}",
                names["learn"](R, labels, asked, right, seed, only=layer)[1],
            )
        weights, accuracy = names["learn"](R, labels, asked, right, seed)
        yield task, "accuracy, all mixed", accuracy
        for layer, weight in enumerate(weights):
            yield task, f"weight of layer {layer}", float(weight)


def record_layers(names: dict) -> None:
    trained, rows = load("elmo"), []
    for seed in SEEDS:
        untrained = new_model(RECIPES["elmo"], load_language(), seed).eval()
        for name, model in (("trained", trained), ("untrained", untrained)):
            for task, what, value in measure(names, model, seed):
                rows.append(
                    {"seed": seed, "biLM": name, "task": task, "measure": what, "value": round(value, 4)}
                )
                print(*rows[-1].values(), flush=True)
    pd.DataFrame(rows).to_csv(TABLE, index=False)


def record_mix(names: dict) -> None:
    trained, rows = load("elmo"), []
    for seed in SEEDS:
        data = names["task_data"](trained, seed)
        for setting, changed in SETTINGS.items():
            for task, examples in data.items():
                weights, accuracy = names["learn"](*examples, seed, **changed)
                row = {"setting": setting, "task": task, "seed": seed}
                row |= {f"layer {layer}": round(float(weight), 4) for layer, weight in enumerate(weights)}
                rows.append(row | {"accuracy": round(accuracy, 4)})
                print(*rows[-1].values(), flush=True)
    table = pd.DataFrame(rows)
    order = table.setting.map(list(SETTINGS).index)
    table.iloc[order.argsort(kind="stable")].to_csv(MIX, index=False)


TABLES = {"layers": record_layers, "mix": record_mix}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{' or '.join(TABLES)} (default: both)")
    chosen = parser.parse_args().tables or list(TABLES)
    if unknown := set(chosen) - set(TABLES):
        parser.error(f"{min(unknown)!r} is no table; there are {', '.join(TABLES)}")
    torch.set_num_threads(1)  # matrices this small are slower with more
    names = names_of("05_elmo")
    for table in chosen:
        TABLES[table](names)


if __name__ == "__main__":
    main()
