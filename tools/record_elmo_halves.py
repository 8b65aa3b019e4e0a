"""Record data/results/elmo_halves.csv: notebook 05, part 5, what each half of ELMo's top layer knows of senses.

    python -m coursekit.pretrain --models elmo       # the checkpoints of all seeds, in build/pretrain
    python tools/record_elmo_halves.py               # one minute a seed

Two readers of the same vectors: the nearest neighbour, with the scoreboard's labelled sentences and with four times as
many, and a linear classifier. The cells of the instructor's source that make the vectors are run, so notebook and
table cannot differ. Seeds that are not trained to the end are left out.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from notebook_names import names_of
from torch import Tensor

from coursekit.exam import Accuracy, Exam, ambiguous_words, by_question, nearest_sense, sense_exam
from coursekit.language import load_language
from coursekit.pretrain import load_trained, read_progress
from coursekit.small import ELMo
from coursekit.small.figures import MORE_LABELS
from coursekit.small.recipes import RECIPES, new_model

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "data/results/elmo_halves.csv"
STEPS = 3_000
"""Of the linear classifier."""


def measure(names: dict, model: ELMo) -> Iterator[tuple[str, str, Accuracy]]:
    """Half, reader and accuracy."""
    exam, language = sense_exam(), load_language()
    more = language.sample(MORE_LABELS[-1], np.random.default_rng(MORE_LABELS[-1]), "train")
    larger = replace(exam, labelled=more[more.position >= 0])
    few, many, asked = (
        names["exam_vectors"](model, part)[-1] for part in (exam.labelled, larger.labelled, exam.held_out)
    )
    for half, part in names["halves_of"](model).items():
        yield half, "nearest neighbour", nearest_sense(exam, few[:, part], asked[:, part])
        yield half, f"{MORE_LABELS[-1]:,} labelled", nearest_sense(larger, many[:, part], asked[:, part])
        yield half, "linear classifier", linear(exam, few[:, part], asked[:, part])


def linear(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Accuracy:
    """Accuracy of one linear map from vectors to senses, trained on the labelled ones; it chooses among the word's senses."""
    torch.manual_seed(0)
    mean, spread = labelled.mean(dim=0), labelled.std(dim=0)
    sense = torch.from_numpy(exam.labelled.sense)
    words, asked = (torch.from_numpy(ambiguous_words(part)) for part in (exam.labelled, exam.held_out))
    classify = torch.nn.Linear(labelled.shape[1], int(sense.max()) + 1)
    impossible = torch.full((len(exam.labelled.vocabulary), classify.out_features), -torch.inf)
    impossible[words, sense] = 0
    optimiser = torch.optim.Adam(classify.parameters(), lr=0.01)
    slower = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, STEPS)
    for _ in range(STEPS):
        rows = torch.randint(len(sense), (256,))
        logits = classify((labelled[rows] - mean) / spread) + impossible[words[rows]]
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(logits, sense[rows]).backward()
        optimiser.step()
        slower.step()
    with torch.no_grad():
        guesses = (classify((held_out - mean) / spread) + impossible[asked]).argmax(dim=1)
    return by_question(exam, guesses.numpy() == exam.held_out.sense)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="folder", type=Path, default=Path("build/pretrain"))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # matrices this small are slower with more
    names, language, recipe, rows = names_of("05_elmo"), load_language(), RECIPES["elmo"], []
    for seed in arguments.seeds:
        if (done := read_progress(arguments.folder, "elmo", seed, recipe.steps).done) < recipe.steps:
            print(f"seed {seed}: {done:,} of {recipe.steps:,} steps in {arguments.folder}", flush=True)
            continue
        models = {
            "trained": load_trained("elmo", seed, recipe, language, arguments.folder),
            "untrained": new_model(recipe, language, seed).eval(),
        }
        for biLM, model in models.items():
            for half, reader, accuracy in measure(names, model):
                shares = {kind: round(share, 4) for kind, share in asdict(accuracy).items()}
                rows.append({"seed": seed, "biLM": biLM, "half": half, "reader": reader} | shares)
                print(*rows[-1].values(), flush=True)
    pd.DataFrame(rows).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
