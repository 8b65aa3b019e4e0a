# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · Describing
#
# Two ways to describe numbers that are not alike: columns with different units on one scale, and a middle where
# some observations count more than others.
#
# **You need** arrays, slicing and `axis` in numpy. **Time** about 20 minutes.

# %%
import numpy as np

from autograder.checks import check, hint, predict, reveal

# %% [markdown]
# ## 1 · Columns on one scale
#
# Four people, their height in metres and their yearly income in euros. The distance between two people is a matter of income
# alone, because its numbers are larger:

# %% tags=["demo"]
people = np.array([[1.62, 31_000.0], [1.95, 31_400.0], [1.70, 58_000.0], [1.81, 24_500.0]])
print("from the first to each:", np.linalg.norm(people - people[0], axis=1).round(1))

# %% [markdown]
# *Standardised* columns have the mean 0 and the standard deviation 1. The standard deviation here is that of a sample: the
# squares are divided by $n - 1$. A column whose numbers are all equal has none; it becomes a column of zeros.

# %% nbgrader={"grade": false, "grade_id": "describing-standardise", "locked": false, "schema_version": 3, "solution": true, "task": false}
def standardise(table: np.ndarray) -> np.ndarray:
    """The table (rows, columns) with each column minus its mean, divided by its sample standard deviation (n − 1).

    A column that does not vary becomes zeros.  (difficulty ●○○, 5 minutes)
    """
    ### BEGIN SOLUTION
    deviation = table.std(axis=0, ddof=1)
    deviation[deviation == 0] = 1
    return (table - table.mean(axis=0)) / deviation
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "describing-standardise-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("describing.standardise", lambda case: standardise(case["table"]))

# %%
# hint("describing.standardise")

# %% tags=["demo"]
print("from the first to each:", np.linalg.norm(standardise(people) - standardise(people)[0], axis=1).round(1))

# %% [markdown]
# ## 2 · A middle with weights
#
# A town has four shops, with 1, 2, 2 and 20 people at work; they pay 10, 12, 13 and 15 euros an hour. The median of the
# four numbers is 12.5. What does the person in the middle earn, when all 25 stand in a row by their pay?

# %%
predict("describing.pay", ...)

# %% [markdown]
# The *weighted median* is the smallest of the values at which the weights, added up from the smallest value on, reach half of
# their sum.

# %% nbgrader={"grade": false, "grade_id": "describing-weighted_median", "locked": false, "schema_version": 3, "solution": true, "task": false}
def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The smallest of `values` (n,) at which the cumulated `weights` (n,) reach at least half of their sum.

    The values come in any order.  (difficulty ●●○, 8 minutes)
    """
    ### BEGIN SOLUTION
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return values[order][np.searchsorted(reached, reached[-1] / 2)]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "describing-weighted_median-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("describing.weighted_median", lambda case: weighted_median(case["values"], case["weights"]))

# %%
# hint("describing.weighted_median")

# %% tags=["demo"]
reveal("describing.pay", weighted_median(np.array([10.0, 12.0, 13.0, 15.0]), np.array([1.0, 2.0, 2.0, 20.0])))

# %% [markdown]
# **Question.** A newspaper reports the mean of the incomes in a town, another one the median. One very rich person moves to
# the town. Which of the two numbers changes more, and which would you report? (2–4 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "describing-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The mean: every income enters it with its size, so that a single one can move it as far as it likes. The median moves by one
# place in the row at most. For what a person in that town usually earns I would report the median; for what the town could
# tax, the mean, which times the number of people is the sum.
#
# *Marking: 1 point for the mean with a reason; 1 point for a choice with a purpose.*
