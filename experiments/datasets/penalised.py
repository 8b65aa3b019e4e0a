"""Logistic regression whose penalty is selected on `validation`: the simple classifier of the data sets' cards."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score


def predictions(
    features: np.ndarray | csr_array,
    labels: Iterable[str],
    split: pd.Series,
    decays: Iterable[float],
    score: Callable[[np.ndarray, np.ndarray], float] = accuracy_score,
    class_weight: str | None = None,
) -> np.ndarray:
    """A label for every row, from a model trained on `train`.

    The loss is the mean cross-entropy plus decay · |w|²; the decay with the best score on `validation` is selected.
    """
    labels = np.asarray(labels)
    train, validation = (np.asarray(split == part) for part in ("train", "validation"))
    answers = []
    for decay in decays:
        strength = 1 / (2 * decay * train.sum())  # scikit-learn's C: the sum of the losses against |w|² / 2
        model = LogisticRegression(C=strength, class_weight=class_weight, max_iter=2_000)
        answers.append(model.fit(features[train], labels[train]).predict(features))
    return max(answers, key=lambda answer: score(labels[validation], answer[validation]))
