"""SmolLM2 as a judge of answers, and its verdicts as a reward (notebook 16).

    questions = asked()                       # questions of data/retrieval, each with a right and a wrong answer
    preferred(judge, question, first, seconds)     # log p(first is better) − log p(second is better), for each second
    verdicts = Verdicts()                     # the same, recorded for all questions and both orders
    verdicts.summary("A, B"), verdicts.rewards()

An answer is a passage of data/retrieval. Three annotators have judged whether it answers the question; only answers on
which all three agree are used. Each answer also occurs in a padded form: a sentence is added that is true but says nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from coursekit import judges
from coursekit.datasets import read_table
from coursekit.intervals import Interval, bootstrap
from coursekit.models import Loaded

PADDING = (
    " This is worth knowing, because it comes up again and again when people talk about language models."
)
"""Added to an answer, it changes neither what the answer says nor whether it is right."""
PADDED = "+"
"""After the id of a passage: its padded form."""
LABELS = {"A, B": ("A", "B"), "B, A": ("B", "A")}
"""The names of the answer that is shown first and of the other; each is a single token."""


@dataclass(frozen=True)
class Asked:
    """A question and the ids of a right and a wrong answer."""

    id: str
    question: str
    right: str
    wrong: str


def texts_of_answers() -> dict[str, str]:
    """Every passage of data/retrieval after its title, plain and padded."""
    passages = read_table("retrieval/passages.csv")
    plain = dict(zip(passages["id"], passages["title"] + ": " + passages["text"], strict=True))
    return plain | {id + PADDED: text + PADDING for id, text in plain.items()}


def asked() -> list[Asked]:
    """The questions with an answer that all annotators accept, and one that all reject.

    The wrong answer is drawn at random from those rejected. A search had ranked them among the best for this question.
    """
    readings = read_table("retrieval/readings.csv")
    votes = readings[["author", "second", "third"]].sum(axis=1)
    random, found = np.random.default_rng(16), []
    for row in read_table("retrieval/questions.csv").itertuples():
        here = readings["id"] == row.id
        right, wrong = (readings.loc[here & (votes == count), "passage"].tolist() for count in (3, 0))
        if right and wrong:
            found.append(Asked(row.id, row.question, right[0], str(random.choice(wrong))))
    return found


def comparisons(one: Asked, padded: bool) -> dict[str, list[str]]:
    """For each answer that is shown first, those that are shown second: right and wrong in both orders.

    With `padded`, also each padded answer and each plain one, in both orders.
    """
    plain = [one.right, one.wrong]
    found = {first: [second for second in plain if second != first] for first in plain}
    if padded:
        long = [answer + PADDED for answer in plain]
        found = {first: seconds + long for first, seconds in found.items()} | {first: plain for first in long}
    return found


def preferred(
    judge: Loaded, question: str, first: str, seconds: Sequence[str], labels: tuple[str, str] = LABELS["A, B"]
) -> Float[np.ndarray, " n"]:
    """log p(the first answer is better) − log p(the second is better), for each second answer."""
    before = f"<|im_start|>user\nQuestion: {question}\n\nAnswer {labels[0]}: {first}\n\nAnswer {labels[1]}:"
    after = (
        f" {{}}\n\nWhich answer to the question is better, {labels[0]} or {labels[1]}?<|im_end|>\n"
        "<|im_start|>assistant\nThe better answer is Answer"
    )
    return judges.margins(judge, seconds, (after, f" {labels[0]}", f" {labels[1]}"), before)


# -------------------------------------------------------------------------------------------------- recorded verdicts

CANDIDATES = ("right", "wrong", "right, padded", "wrong, padded")
Kind = str
"""One of CANDIDATES."""


class Verdicts:
    """The margins recorded by `python -m experiments rewards_judge`.

    A margin is the log-probability that the judge names the answer shown first, minus that of the other.
    """

    def __init__(self) -> None:
        self.asked = asked()
        keys = ["labels", "id", "first", "second"]
        self._margins = read_table("results/rewards_judge.csv").set_index(keys)["margin"].to_dict()

    def margins(self, first: Kind, second: Kind, labels: str = "A, B") -> Float[np.ndarray, " questions"]:
        """For each question, the margin when these two answers are shown in this order."""
        pairs = ((one.id, _of(one, first), _of(one, second)) for one in self.asked)
        return np.array([self._margins[labels, *pair] for pair in pairs])

    def preference(self, one: Kind, other: Kind, labels: str = "A, B") -> Float[np.ndarray, " questions"]:
        """The margin in favour of one answer over another, averaged over both orders."""
        return (self.margins(one, other, labels) - self.margins(other, one, labels)) / 2

    def first_chosen(self, labels: str = "A, B") -> Bool[np.ndarray, "questions 2"]:
        """Whether the judge prefers the answer shown first: with the right answer first, and with the wrong one first."""
        orders = (("right", "wrong"), ("wrong", "right"))
        return np.column_stack([self.margins(*order, labels) > 0 for order in orders])

    def summary(self, labels: str = "A, B") -> dict[str, Interval]:
        """Position bias and agreement with the annotators, each with its 95 % interval over questions."""
        both_orders = self.preference("right", "wrong", labels) > 0
        items = np.column_stack([self.first_chosen(labels), both_orders, ~both_orders])
        measures: dict[str, Callable[[np.ndarray], float]] = {
            "first chosen": lambda some: some[:, :2].mean(),
            "changed by the order": lambda some: (some[:, 0] == some[:, 1]).mean(),
            "κ, one order": lambda some: agreement(some[:, :2]),
            "κ, both orders": lambda some: agreement(some[:, 2:]),
        }
        return {name: (float(of(items)), *bootstrap(items, of)) for name, of in measures.items()}

    def padding_preferred(self) -> Bool[np.ndarray, "questions 2"]:
        """Whether the judge prefers the padded form of the right answer, and of the wrong one, to its plain form."""
        return np.column_stack([self.preference(f"{kind}, padded", kind) > 0 for kind in CANDIDATES[:2]])

    def rewards(self) -> Float[np.ndarray, "questions 4"]:
        """The reward of each of CANDIDATES: its mean margin over the right and the wrong answer, 0 for itself."""
        opponents = CANDIDATES[:2]
        columns = [
            sum(self.preference(kind, other) for other in opponents if other != kind) / len(opponents)
            for kind in CANDIDATES
        ]
        return np.column_stack(columns)


def _of(one: Asked, kind: Kind) -> str:
    """The id of an answer."""
    return (one.right if kind.startswith("right") else one.wrong) + PADDED * kind.endswith("padded")


def agreement(first_chosen: Bool[np.ndarray, "questions 2"]) -> float:
    """Cohen's κ of the judge and the annotators, who prefer the first answer in the first column and the second in the other.

    The annotators prefer the first answer in half of the cases, so the agreement expected by chance is 1/2 for every judge.
    """
    return float(2 * (first_chosen == [True, False]).mean() - 1)
