"""Record data/results/induction.csv: notebook 07, part 9, one layer and two, three seeds each (about a minute on one core).

    python tools/record_induction.py

It runs the cells of the instructor's source that define what is measured, so notebook and table cannot differ.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

ROOT = Path(__file__).parents[1]
SEEDS, STEPS, EVERY = range(3), 1200, 40


def main() -> None:
    torch.set_num_threads(1)
    names = names_of("07_gpt", np=np, pd=pd)
    symbols, labels = names["draw_prompts"](4000, torch.Generator().manual_seed(99))
    rows = []
    for layers in (1, 2):
        for seed in SEEDS:
            model, losses = names["learn_to_learn"](layers=layers, seed=seed, steps=STEPS)
            found = measured(names, model, losses, symbols, labels)
            rows += [
                {"layers": layers, "seed": seed, "measure": measure, "where": where, "value": round(value, 4)}
                for (measure, where), value in found.items()
            ]
            print(
                layers,
                seed,
                round(found["loss", "new prompts"], 3),
                round(found["right", "8"], 3),
                flush=True,
            )
    pd.DataFrame(rows).to_csv(ROOT / "data/results/induction.csv", index=False)


def measured(names, model, losses, symbols, labels) -> dict[tuple[str, str], float]:
    """By measure and where: the loss in training by step and at the end, right answers by examples, scores by head."""
    found = {
        ("training loss", str(start + EVERY)): float(np.mean(losses[start : start + EVERY]))
        for start in range(0, STEPS, EVERY)
    }
    with torch.no_grad():
        logits = names["answer"](model, symbols, labels).flatten(0, 1)
    found["loss", "new prompts"] = torch.nn.functional.cross_entropy(logits, labels.flatten()).item()
    for examples, share in enumerate(names["right_by_examples"](model, symbols, labels)):
        found["right", str(examples)] = share
    weights = names["attention_weights"](model, names["as_text"](symbols, labels))
    for measure, scores in names["head_scores"](weights, symbols).items():
        for layer, heads in enumerate(scores.tolist(), start=1):
            for head, value in enumerate(heads, start=1):
                found[measure, f"layer {layer}, head {head}"] = value
    return found


if __name__ == "__main__":
    main()
