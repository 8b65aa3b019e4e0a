"""What do the short questions contain, and how often is the most frequent topic or the answer of the most similar question correct?

The card `data/json_answers/README.md` quotes these lines (one second).
"""

from collections.abc import Iterator

import pandas as pd
from rapidfuzz import fuzz, process

from coursekit.datasets import read_table
from experiments.harness import Card, Options


def read() -> pd.DataFrame:
    """The questions and requests."""
    return read_table("json_answers/json_answers.csv").fillna("")


def contents(table: pd.DataFrame) -> Iterator[str]:
    """What the table contains."""
    asked = table[table["split"] != "request"]
    words = {name: asked[name].str.split().str.len() for name in ("question", "answer")}
    yield f"questions {len(asked)}: {', '.join(f'{split} {n}' for split, n in asked['split'].value_counts().items())}; requests {len(table) - len(asked)}"
    for name, each in words.items():
        yield f"words in a{'n' if name == 'answer' else ''} {name}: {each.min()} to {each.max()}, median {each.median():.0f}"


def trivial(table: pd.DataFrame) -> dict[str, float]:
    """Accuracy on the test questions without understanding them: of one topic for all, and of the topic and answer of the most similar training question."""
    train, test = (table[table["split"] == split].reset_index(drop=True) for split in ("train", "test"))
    nearest = [process.extractOne(one, train["question"], scorer=fuzz.ratio)[2] for one in test["question"]]
    copied = train.loc[nearest].reset_index(drop=True)
    return {
        "most frequent topic": test["topic"].value_counts(normalize=True).max(),
        "topic of the most similar training question": (copied["topic"] == test["topic"]).mean(),
        "answer of the most similar training question": (copied["answer"] == test["answer"]).mean(),
    }


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    table = read()
    yield from contents(table)
    yield from (f"{name}: {value:.3f}" for name, value in trivial(table).items())


EXPERIMENT = Card(lines)
