"""Which half of ELMo's top layer knows the sense of a word, the forward or the backward language model?

For the seeds of ELMo, trained and untrained: the scoreboard's test with the forward half, the backward half and both
(notebook 05, part 5), by the nearest neighbour among the scoreboard's labelled sentences, among four times as many, and by
a linear classifier. Needs the checkpoints of `python -m coursekit.pretrain --models elmo`. Writes
`data/results/elmo_halves.csv` (a minute per seed).
"""

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.exam import Accuracy, Exam, ambiguous_words, by_question, nearest_sense, sense_exam
from coursekit.language import load_language
from coursekit.pretrain import load_trained, read_progress
from coursekit.reading_elmo import halves_of
from coursekit.small import ELMo
from coursekit.small.figures import MORE_LABELS
from coursekit.small.recipes import RECIPES, new_model
from experiments.harness import Experiment, ExperimentError, Options, Step, Steps, grid
from experiments.notebooks import names_of

STEPS = 3_000
"""Training steps of the linear classifier."""


def accuracies(names: dict, model: ELMo) -> Iterator[tuple[str, str, Accuracy]]:
    """Each half, each classifier, and its accuracy."""
    exam, language = sense_exam(), load_language()
    more = language.sample(MORE_LABELS[-1], np.random.default_rng(MORE_LABELS[-1]), "train")
    larger = replace(exam, labelled=more[more.position >= 0])
    few, many, asked = (
        names["exam_vectors"](model, part)[-1] for part in (exam.labelled, larger.labelled, exam.held_out)
    )
    for half, part in halves_of(model).items():
        yield half, "nearest neighbour", nearest_sense(exam, few[:, part], asked[:, part])
        yield half, f"{MORE_LABELS[-1]:,} labelled", nearest_sense(larger, many[:, part], asked[:, part])
        yield half, "linear classifier", linear(exam, few[:, part], asked[:, part])


def linear(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Accuracy:
    """Accuracy of one linear map from vectors to senses, trained on the labelled ones; it chooses among the senses of the word."""
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


def _steps(options: Options) -> Steps:
    names, language, recipe = names_of("05_elmo"), load_language(), RECIPES["elmo"]

    def model(seed: int, biLM: str) -> ELMo:
        if biLM == "untrained":
            return new_model(recipe, language, seed).eval()
        done = read_progress(options.checkpoints, "elmo", seed, recipe.steps).done
        if done < recipe.steps:
            raise ExperimentError(
                f"ELMo's seed {seed} has {done:,} of {recipe.steps:,} steps in {options.checkpoints}: train it with "
                "`python -m coursekit.pretrain --models elmo`."
            )
        return load_trained("elmo", seed, recipe, language, options.checkpoints)

    def measure(seed: int, biLM: str) -> list[dict]:
        found = accuracies(names, model(seed, biLM))
        return [{"half": half, "reader": reader} | asdict(accuracy) for half, reader, accuracy in found]

    yield Step("elmo_halves", grid(seed=options.seeds, biLM=("trained", "untrained")), measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
