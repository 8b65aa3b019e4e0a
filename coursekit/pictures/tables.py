"""Tables that notebooks show, written in Markdown."""

from collections.abc import Iterable, Mapping, Sequence

from coursekit.exam import QUESTIONS, Accuracy
from coursekit.intervals import mean_and_half

SIDES = {"l": ":--", "r": "--:"}


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """A table in Markdown; `align` has a letter for each column, l or r.

    By default the first column is aligned on the left and the others, which contain numbers, on the right.
    """
    align = align or "l" + "r" * (len(head) - 1)
    rule = "|" + "|".join(SIDES[side] for side in align) + "|"
    return "\n".join([_line(head), rule, *(_line(row) for row in rows)])


def _line(cells: Sequence[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def accuracies_by_question(models: Mapping[str, Accuracy | Sequence[Accuracy]], corner: str = "") -> str:
    """The accuracy of each model (rows) on each kind of question, with intervals over seeds where there are several.

    `corner` is the head of the first column, which has the names of the models.
    """
    rows = [[name, *(_accuracy(runs, kind) for kind in QUESTIONS)] for name, runs in models.items()]
    return markdown_table([corner, *QUESTIONS.values()], rows)


def _accuracy(runs: Accuracy | Sequence[Accuracy], kind: str) -> str:
    if isinstance(runs, Accuracy):
        return f"{runs[kind]:.3f}"
    mean, half = mean_and_half([run[kind] for run in runs])
    return f"{mean:.3f} ± {half:.3f}"
