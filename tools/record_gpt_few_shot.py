"""Record data/results/gpt_few_shot.csv: notebook 07, part 8, over 5 draws of the examples (about 5 minutes on one core).

    python tools/record_gpt_few_shot.py

It runs the cells of the instructor's source that define what is measured, so notebook and table cannot differ.
"""

import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the packaged model, which everybody has

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

from coursekit.models import load

ROOT = Path(__file__).parents[1]
DRAWS, COUNTS = range(5), (0, 1, 2, 4, 8)


def main() -> None:
    torch.set_num_threads(1)
    names, model = names_of("07_gpt", np=np, pd=pd), load("SmolLM2-135M", head="causal-lm")
    leaning, swapped, questions = names["leaning"], names["SWAPPED"], names["questions"]
    texts, positive = questions.text.tolist(), (questions.label == "positive").to_numpy()
    rows = []
    for draw in DRAWS:
        demos = names["draw_demos"](draw)
        for labels in ("right", "swapped"):
            shown = demos if labels == "right" else [(text, swapped[label]) for text, label in demos]
            for count in COUNTS if labels == "right" else (8,):
                if count == 0 and draw:
                    continue  # without examples there is nothing to draw
                empty = leaning(model, shown[:count], names["WITHOUT_TEXT"]).mean().item()
                found = names["scores"](leaning(model, shown[:count], texts), empty, positive)
                rows += [
                    {
                        "model": model.name,
                        "draw": draw,
                        "labels": labels,
                        "examples": count,
                        "measure": name,
                        "value": round(float(value), 3),
                    }
                    for name, value in found.items()
                ]
                print(
                    draw,
                    labels,
                    count,
                    {name: round(float(value), 3) for name, value in found.items()},
                    flush=True,
                )
    pd.DataFrame(rows).to_csv(ROOT / "data/results/gpt_few_shot.csv", index=False)


if __name__ == "__main__":
    main()
