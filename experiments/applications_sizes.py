"""How many labelled sentences does a fine-tuned tagger need?

Notebook 10: the tags of the test sentences by taggers fine-tuned on an eighth, a quarter and half of the training
sentences, with about as many steps as on all. Writes `data/results/applications_sizes.csv` (two minutes).
"""

import torch

from coursekit.models import load
from experiments.applications import NOTEBOOK
from experiments.applications_entities import EPOCHS_AND_RATE
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

PARTS = (8, 4, 2)
"""A tagger is trained on one of so many equal parts of the sentences."""


def _steps(options: Options) -> Steps:
    names, loaded = names_of(NOTEBOOK), load("all-MiniLM-L6-v2")
    table, (epochs, rate) = names["sentences"], EPOCHS_AND_RATE
    train, test = (names["part"](table, split) for split in ("train", "test"))
    rows = names["sentence_rows"](loaded.model, loaded.tokenizer, names["HALF"])
    parts_of = {len(train) // parts: parts for parts in PARTS}

    def measure(sentences: int, seed: int) -> list[dict]:
        torch.manual_seed(seed)
        some = train[torch.randperm(len(train))[:sentences]]
        model = names["Upper"](loaded.model, names["HALF"], len(names["TAGS"]))
        names["fine_tune"](model, names["tag_loss"], rows, some, epochs * parts_of[sentences], rate, seed)
        tags = names["tags_of"](model, rows, test)
        ids = table.index[test.numpy()]
        return [{"sentence": id, "tags": " ".join(each)} for id, each in zip(ids, tags, strict=True)]

    yield Step("applications_sizes", grid(sentences=parts_of, seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
