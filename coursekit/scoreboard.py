"""The scoreboard of the course: how well each model distinguishes the senses of a word, compared with the best possible accuracy.

    add_row("MiniLM", nearest_sense(exam, *vectors))             # one model
    add_row("attention, 1 layer", accuracies, note="4 seeds")    # the same recipe with several seeds
    draw()                                                       # draw(every=True): also the oldest rows

Rows are stored with the student's progress, so the scoreboard grows from notebook to notebook. The exact bounds and two
baselines that use word counts are included from the beginning.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from autograder.checks import journal
from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy, over_seeds, sense_exam
from coursekit.intervals import wilson

Row = dict[str, Any]
"""`shares`: mean and interval by kind of question; `seeds`, `note`, and `loss` if there is one."""

LATEST = 10
"""The largest number of rows with which a figure can be read at a glance."""
_of_this_kernel: set[str] = set()


def add_row(
    model: str, accuracy: Accuracy | Sequence[Accuracy], *, loss: float | None = None, note: str = ""
) -> None:
    """Put a model on the scoreboard, or replace its row; several accuracies belong to the same recipe with several seeds.

    Accuracies are between 0 and 1, and the loss is in nats. Raises ValueError for other accuracies.
    """
    runs = [accuracy] if isinstance(accuracy, Accuracy) else list(accuracy)
    if not runs:
        raise ValueError(
            f"add_row({model!r}): the list of accuracies is empty; give one accuracy for each seed."
        )
    for kind, share in ((kind, share) for run in runs for kind, share in asdict(run).items()):
        if not 0 <= share <= 1:
            raise ValueError(f"add_row({model!r}): {kind}={share:g} is not a fraction between 0 and 1.")
    shares = over_seeds(runs) if len(runs) > 1 else _of_one(runs[0])
    row = {"shares": shares, "seeds": len(runs), "note": note} | (
        {} if loss is None else {"loss": float(loss)}
    )
    with journal.changing("scoreboard") as rows:
        last = max((other["place"] for other in rows.values()), default=0)
        rows[model] = row | {"place": rows[model]["place"] if model in rows else last + 1}
    _of_this_kernel.add(model)


def draw(*, every: bool = False) -> None:
    """Show the scoreboard: accuracy by kind of question, with 95 % intervals and the exact bounds.

    A row of several seeds has an interval over seeds (Student's t), any other row an interval over the questions (Wilson). If there are more
    than `LATEST` models, only the latest are shown, together with those that were added since the kernel started, unless `every` is True.
    """
    # start-up: adding a row needs no pictures
    from coursekit.pictures import exam
    from coursekit.plots import GREY, show

    models = [(name, row) for name, row in journal.read()["scoreboard"].items() if "shares" in row]
    if not models:
        print("The scoreboard is empty: add_row(model, accuracy) adds a model.")
        return
    models.sort(key=lambda item: item[1]["place"])
    if not every:
        first = len(models) - LATEST
        latest = [item for place, item in enumerate(models) if place >= first or item[0] in _of_this_kernel]
        if hidden := len(models) - len(latest):
            print(
                f"The {'oldest row is' if hidden == 1 else f'{hidden} oldest rows are'} left out; draw(every=True) shows all."
            )
        models = latest
    readers = [
        exam.Reader(f"{name}\ncounts", exam.of_answers(found), GREY) for name, found in readers_of_counts()
    ]
    for name, row in models:
        shares = {kind: exam.Share(*share) for kind, share in row["shares"].items()}
        readers.append(exam.Reader(_label(name, row), shares))
    show(*exam.rows(readers))


def readers_of_counts() -> list[tuple[str, Accuracy]]:
    """ "Bag of words" and "near words", recorded: `python -m experiments sense_exam`."""
    recorded = read_table("results/sense_exam.csv").set_index("model")
    return [
        (name, Accuracy(**recorded.loc[name, list(QUESTIONS)].astype(float)))
        for name in ("bag of words", "near words")
    ]


def _of_one(accuracy: Accuracy) -> dict[str, Sequence[float]]:
    return {
        kind: (share, *wilson(share, sense_exam().count(kind))) for kind, share in asdict(accuracy).items()
    }


def _label(model: str, row: Row) -> str:
    seeds = f"{row['seeds']} seeds" if row["seeds"] > 1 else ""
    small = ", ".join(filter(None, (f"{row['loss']:.2f} nats" if "loss" in row else "", row["note"], seeds)))
    return f"{model}\n{small}" if small else model
