"""01 The mean: inputs, expected mistakes, other right answers and hints of its exercises."""

from collections.abc import Iterator

from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from autograder.exercise import Draw, Exercise, Mistake


def weighted_cases(draw: Draw) -> Iterator[Case]:
    for n in (4, 7, 10):
        # Far from 0 and from 1, so that no wrong answer comes near a right one by luck.
        yield {"values": draw.normal(n) + 5, "weights": draw.uniform(n, low=0.5, high=3.0) ** 2}


weighted = Exercise(
    name="mean.weighted",
    cases=weighted_cases,
    rule=Rule("close", 1e-5),
    mistakes=(
        Mistake(
            "the weights ignored",
            "Your answer does not change with the weights. Which of the two inputs is never read?",
            "(weights * values).sum() / weights.sum()",
            "values.mean()",
        ),
        Mistake(
            "not divided by the sum of the weights",
            "Your answer is the sum of the products. If the weights are doubled, the sum doubles, whereas a mean does not change.",
            " / weights.sum()",
            "",
        ),
        Mistake(
            "divided by the number of values",
            "You divided by the number of values, but some values count more than others: divide by the sum of the weights.",
            "weights.sum()",
            "len(values)",
        ),
    ),
    alternatives={
        "numpy's own": """
def weighted_mean(values, weights):
    return np.average(values, weights=weights)
""",
        "a loop": """
def weighted_mean(values, weights):
    total = 0.0
    for value, weight in zip(values, weights):
        total += value * weight
    return total / sum(weights)
""",
    },
    hints=(
        "If all weights are 2, what should the result be?",
        "In: two arrays (n,). Out: one number.",
        "add up weight times value\ndivide by the sum of the weights",
        "Near miss: dividing by n is right only where the weights add up to n.",
    ),
)


def centred_cases(draw: Draw) -> Iterator[Case]:
    for rows, columns in ((5, 3), (4, 6), (9, 2)):
        yield {"table": draw.normal(rows, columns) * 2 + draw.uniform(columns, low=2.0, high=9.0)}


centred = Exercise(
    name="mean.centred",
    cases=centred_cases,
    rule=Rule("close", 1e-5, axes={"": "rows columns"}),
    mistakes=(
        Mistake(
            "the mean of each row",
            "Each of your rows adds up to 0, but each column should.",
            "axis=0",
            "axis=1, keepdims=True",
        ),
        Mistake(
            "one mean of all numbers",
            "You subtracted the same number everywhere, but each column has a mean of its own.",
            "table.mean(axis=0)",
            "table.mean()",
        ),
        Mistake(
            "standardised",
            "Your columns have a standard deviation of 1, because you also divided by the standard deviation. Subtract only the mean.",
            "table - table.mean(axis=0)",
            "(table - table.mean(axis=0)) / table.std(axis=0)",
        ),
    ),
    alternatives={
        "a loop over the columns": """
def centred(table):
    return np.stack([column - sum(column) / len(column) for column in table.T], axis=1)
""",
        "a matrix product": """
def centred(table):
    return table - np.ones((len(table), len(table))) / len(table) @ table
""",
    },
    hints=(
        "Which number do all rows of a column share?",
        "In and out: (rows, columns). The means have the shape (columns,).",
        "means = mean over the rows\nfor each row: the row minus the means",
        "Near miss: `table.mean()` without an axis is one number for the whole table.",
    ),
)
