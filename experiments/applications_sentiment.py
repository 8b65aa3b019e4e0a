"""How much does fine-tuning half of an encoder add to a trained head when it classifies reviews?

Notebook 10: which test reviews each model calls positive: logistic regression on a bag of words, a head on the frozen
encoder, the encoder with fine-tuned upper layers, and as a control one with random weights. Answers are recorded, not
scores: the notebook computes the scores with the student's code. Writes `data/results/applications_sentiment.csv` (two
minutes).
"""

import torch

from experiments.applications import FROZEN, NOTEBOOK, RANDOM, TUNED, Heads, runs_of
from experiments.datasets import sentiment
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

BAG = "bag of words"


def _steps(options: Options) -> Steps:
    names = names_of(NOTEBOOK)
    reviews = names["reviews"]
    test = names["part"](reviews, "test")
    heads = Heads(names["review_rows"], names["review_loss"], reviews, outputs=2, epochs_and_rate=(3, 2e-4))

    def positive(model: str, seed: int) -> list[int]:
        if model == BAG:
            right = sentiment.logistic_regression(sentiment.bag_of_words(reviews), reviews)
            return torch.from_numpy(right == (reviews["label"] == "positive").to_numpy())[test].int().tolist()
        trained, rows = heads.trained(model, seed)
        with torch.no_grad():
            logits = torch.cat([names["review_logits"](trained, rows[few]) for few in test.split(32)])
        return logits.argmax(dim=1).tolist()

    def measure(model: str, seed: int) -> list[dict]:
        ids = reviews["id"].iloc[test.numpy()]
        return [{"id": id, "positive": answer} for id, answer in zip(ids, positive(model, seed), strict=True)]

    runs = runs_of((BAG,), (FROZEN, TUNED, RANDOM), list(options.seeds))
    yield Step("applications_sentiment", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
