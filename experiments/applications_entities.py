"""Which tagger finds the most names, and what do capital letters contribute?

Notebook 10: the tags of the test sentences by the most frequent tag, a window of words, a head on the frozen encoder, the
fine-tuned encoder without and with capitals, and as a control one with random weights. Answers are recorded, not scores.
Writes `data/results/applications_entities.csv` (three minutes).
"""

from experiments.applications import CAPITALS, FROZEN, NOTEBOOK, RANDOM, TUNED, Heads, runs_of
from experiments.datasets import entities
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

EPOCHS_AND_RATE = (5, 5e-4)
MEMORY, WINDOW = "most frequent tag", "window of words"


def _steps(options: Options) -> Steps:
    names, tokens = names_of(NOTEBOOK), entities.read()
    sentences = names["sentences"]
    test = names["part"](sentences, "test")
    ids = sentences.index[test.numpy()]
    heads = Heads(names["sentence_rows"], names["tag_loss"], sentences, len(names["TAGS"]), EPOCHS_AND_RATE)

    def tags(model: str, seed: int) -> list[list[str]]:
        if model in (MEMORY, WINDOW):
            found = (
                entities.memory(tokens)
                if model == MEMORY
                else entities.logistic_regression(entities.window(tokens), tokens)
            )
            return tokens.assign(tag=found).groupby("sentence")["tag"].agg(list)[ids].tolist()
        trained, rows = heads.trained(model, seed)
        return names["tags_of"](trained, rows, test)

    def measure(model: str, seed: int) -> list[dict]:
        return [
            {"sentence": id, "tags": " ".join(each)} for id, each in zip(ids, tags(model, seed), strict=True)
        ]

    runs = runs_of((MEMORY, WINDOW), (FROZEN, TUNED, CAPITALS, RANDOM), list(options.seeds))
    yield Step("applications_entities", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
