"""The scores with which ELMo and BERT were presented, as tables (notebook 06). All are those of the two papers; only the last columns are computed."""

import numpy as np
import pandas as pd
from IPython.display import display

ELMO_TASKS = pd.DataFrame(
    [
        ("SQuAD", "answers to questions (F1)", 84.4, 81.1, 85.8),
        ("SNLI", "entailment (accuracy)", 88.6, 88.0, 88.7),
        ("SRL", "semantic roles (F1)", 81.7, 81.4, 84.6),
        ("Coref", "coreference (mean F1)", 67.2, 67.2, 70.4),
        ("NER", "named entities (F1)", 91.93, 90.15, 92.22),
        ("SST-5", "sentiment, five classes (accuracy)", 53.7, 51.4, 54.7),
    ],
    columns=["task", "what is predicted", "best before", "their network", "the same with ELMo"],
).set_index("task")
"""Peters et al. (2018), table 1."""

BERT_TASKS = pd.DataFrame(
    [
        ("MNLI", "entailment (accuracy, matched)", 392, 82.1, 84.6, 86.7),
        ("QQP", "same question? (F1)", 363, 70.3, 71.2, 72.1),
        ("QNLI", "does the sentence contain the answer? (accuracy)", 108, 87.4, 90.5, 92.7),
        ("SST-2", "sentiment (accuracy)", 67, 93.2, 93.5, 94.9),
        ("CoLA", "acceptable sentence? (Matthews)", 8.5, 45.4, 52.1, 60.5),
        ("STS-B", "similarity (Spearman)", 5.7, 81.0, 85.8, 86.5),
        ("MRPC", "paraphrase? (F1)", 3.5, 86.0, 88.9, 89.3),
        ("RTE", "entailment (accuracy)", 2.5, 61.7, 66.4, 70.1),
        ("SQuAD 1.1", "answers to questions (F1)", np.nan, 91.7, np.nan, 93.2),
        ("SQuAD 2.0", "answers to questions, some of which have none (F1)", np.nan, 78.0, np.nan, 83.1),
        ("SWAG", "which continuation? (accuracy)", np.nan, 78.0, np.nan, 86.3),
    ],
    columns=["task", "what is predicted", "training examples (thousands)", "best before", "BERT-Base", "BERT-Large"],
).set_index("task")  # fmt: skip
"""Devlin et al. (2019), tables 1 to 4."""


def distance_closed(before: pd.Series, after: pd.Series) -> pd.Series:
    """The fraction of the distance to 100 by which a score has improved."""
    return (after - before) / (100 - before)


def removed_by_elmo() -> pd.Series:
    """The fraction of its network's errors that ELMo removed in each task."""
    return distance_closed(ELMO_TASKS["their network"], ELMO_TASKS["the same with ELMo"])


def closed_by_bert() -> pd.Series:
    """The fraction of the distance to 100 that BERT-Large closed in each task."""
    return distance_closed(BERT_TASKS["best before"], BERT_TASKS["BERT-Large"])


def elmo_and_bert() -> None:
    """The six tasks of ELMo's paper, and the eleven of BERT's."""
    elmo = ELMO_TASKS.assign(**{"errors removed": removed_by_elmo().map("{:.0%}".format)})
    display(elmo.rename_axis("Peters et al. (2018), table 1"))
    bert = BERT_TASKS.assign(**{"distance to 100 closed": closed_by_bert().map("{:.0%}".format)})
    bert = bert.rename_axis("Devlin et al. (2019), tables 1 to 4")
    display(bert.style.format(precision=1, na_rep="–"))
