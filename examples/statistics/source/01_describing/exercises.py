"""01 Describing: inputs, expected mistakes, other right answers and hints of its exercises."""

from collections.abc import Iterator, Sequence

import numpy as np

from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from autograder.exercise import Draw, Exercise, Mistake

# ------------------------------------------------------------------------------------------- standardise


def table_cases(draw: Draw) -> Iterator[Case]:
    """Columns with different scales; one column of each table is constant."""
    for rows, columns, constant in ((5, 3, 1), (4, 6, 0), (9, 2, 1)):
        # No standard deviation is near 1, so an answer that does not divide, or divides by the variance, differs clearly.
        table = draw.normal(rows, columns) * draw.uniform(columns, low=3.0, high=8.0)
        table[0] += 20  # so that no draw has only small values
        table += draw.uniform(columns, low=2.0, high=9.0)
        table[:, constant] = 3.0
        yield {"table": table}


standardise = Exercise(
    name="describing.standardise",
    cases=table_cases,
    rule=Rule("close", 1e-4, axes={"": "rows columns"}),
    mistakes=(
        Mistake(
            "divided by n instead of n − 1",
            "Your columns are too large by a factor that approaches 1 as the number of rows grows: the sample standard deviation divides by n − 1.",
            "ddof=1",
            "ddof=0",
        ),
        Mistake(
            "the variance instead of the standard deviation",
            "You divided by the variance. Its unit is the square of the column's unit, so your result still has a unit.",
            "table.std(axis=0, ddof=1)",
            "table.var(axis=0, ddof=1)",
        ),
        Mistake(
            "not centred",
            "The spread of your columns is right, but their means are not 0: subtract the mean of each column.",
            "(table - table.mean(axis=0))",
            "table",
        ),
        Mistake(
            "centred but not divided",
            "The means of your columns are 0, but their standard deviations are still those of the original columns.",
            " / deviation",
            "",
        ),
        Mistake(
            "one standard deviation for the whole table",
            "You divided all columns by the same number, but each column has a standard deviation of its own.",
            "table.std(axis=0, ddof=1)",
            "np.full(table.shape[1], table.std(ddof=1))",
        ),
        Mistake(
            "rows instead of columns",
            "Each of your rows has the mean 0, but each column should.",
            code="""
def standardise(table):
    deviation = table.std(axis=1, ddof=1, keepdims=True)
    return (table - table.mean(axis=1, keepdims=True)) / deviation
""",
        ),
        Mistake(
            "a constant column is divided by zero",
            "If the values of a column are all equal, you divide 0 by 0. Such a column should become zeros.",
            "    deviation[deviation == 0] = 1\n",
            "",
        ),
        Mistake(
            "a constant column is left unchanged",
            "A column whose values are all equal keeps its mean in your answer. It should become zeros.",
            edits={
                "return (table - table.mean(axis=0)) / deviation": (
                    "varies = table.std(axis=0) > 0\n"
                    "    return np.where(varies, (table - table.mean(axis=0)) / deviation, table)"
                )
            },
        ),
    ),
    alternatives={
        "a loop over the columns": """
def standardise(table):
    columns = []
    for column in table.T:
        centred = column - sum(column) / len(column)
        deviation = np.sqrt(sum(centred**2) / (len(column) - 1))
        columns.append(centred / deviation if deviation > 0 else np.zeros(len(column)))
    return np.stack(columns, axis=1)
""",
        "float64, the division left out by `where`": """
def standardise(table):
    table = table.astype(np.float64)
    centred = table - table.mean(axis=0)
    deviation = np.sqrt((centred**2).sum(axis=0) / (len(table) - 1))
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
""",
    },
    hints=(
        "Which two numbers do you need from each column, the same for all its rows?",
        "In and out: (rows, columns). Means and standard deviations: (columns,).",
        "deviation = sample standard deviation of each column\nreplace deviations of 0 by 1\n(table − means) / deviation",
        "Near miss: `table.std(axis=0)` divides by n. Look for the argument that sets what is subtracted from n.",
    ),
    survivors={"`deviation[deviation == 0] = 2`": "a constant column becomes 0 for any divisor other than 0"},
)

# --------------------------------------------------------------------------------------- weighted median


def weighted_cases(draw: Draw) -> Iterator[Case]:
    """Weights with few binary digits, so that every processor computes the same sum."""
    yield weighted_case(
        draw, [0.5, 1.5, 1.0, 1.0], [2, 0, 3, 1]
    )  # exactly half is reached at the second value
    yield weighted_case(draw, [3.0, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25], [3, 6, 1, 0, 5, 2, 4])
    yield weighted_case(draw, [0.25, 0.25, 0.5, 0.5, 0.25, 4.0], [5, 2, 0, 3, 1, 4])
    yield weighted_case(draw, [1.0, 0.25, 0.5, 2.0, 0.25], [3, 4, 0, 2, 1])


def weighted_case(draw: Draw, weights: Sequence[float], order: Sequence[int]) -> Case:
    """Random values that are far enough apart, with the weights of the sorted values; both are then arranged according to `order`."""
    values = np.cumsum(draw.uniform(len(weights), low=0.5, high=2.0)) - 3
    return {"values": values[order], "weights": np.array(weights, dtype=np.float32)[order]}


weighted_median = Exercise(
    name="describing.weighted_median",
    cases=weighted_cases,
    rule=Rule("close", 1e-5),
    mistakes=(
        Mistake(
            "the weights ignored",
            "This is the median of the values alone: the 20 employees of the large shop count as one.",
            "return values[order][np.searchsorted(reached, reached[-1] / 2)]",
            "return np.median(values)",
        ),
        Mistake(
            "the weighted mean",
            "This is the weighted mean. The weighted median is one of the values.",
            edits={
                "return values[order][np.searchsorted(reached, reached[-1] / 2)]": (
                    "return (values * weights).sum() / weights.sum()"
                )
            },
        ),
        Mistake(
            "the values not sorted",
            "Your answer depends on the order of the values. Sort the values by size first.",
            "order = np.argsort(values)",
            "order = np.arange(len(values))",
        ),
        Mistake(
            "the weights not sorted along with the values",
            "The values are sorted, but the weights are in their old order: each weight must stay with its value.",
            "np.cumsum(weights[order])",
            "np.cumsum(weights)",
        ),
        Mistake(
            "sorted by the weights",
            "You sorted by weight. Sort by the values instead.",
            edits={"np.argsort(values)": 'np.argsort(weights, kind="stable")'},
        ),
        Mistake(
            "more than half instead of at least half",
            "If the weights reach exactly half of their sum, your answer is the next value.",
            edits={"reached[-1] / 2)": 'reached[-1] / 2, side="right")'},
        ),
        Mistake(
            "the position of the value instead of the value",
            "This is the position in the sorted values, counted from 0. Which value is at this position?",
            edits={
                "values[order][np.searchsorted(reached, reached[-1] / 2)]": (
                    "np.searchsorted(reached, reached[-1] / 2)"
                )
            },
        ),
    ),
    alternatives={
        "a loop": """
def weighted_median(values, weights):
    reached = 0.0
    for value, weight in sorted(zip(values.tolist(), weights.tolist())):
        reached += weight
        if reached >= sum(weights) / 2:
            return value
""",
        "every value repeated as often as it counts": """
def weighted_median(values, weights):
    everybody = np.sort(np.repeat(values, (weights * 4).astype(int)))
    return everybody[(len(everybody) - 1) // 2]
""",
    },
    hints=(
        "If all employees stand in a row, ordered by pay, which position is in the middle?",
        "In: two arrays (n,). Out: one of the values.",
        "sort the values, and the weights with them\nadd up the weights from the left\nfind the first position at which half of the sum is reached",
        "Near miss: `np.sort(values)` and `np.sort(weights)` separate each weight from its value; `np.argsort` gives one order for both.",
    ),
)
