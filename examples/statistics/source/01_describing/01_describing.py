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
# This notebook describes data in two ways: it puts columns with different units on one scale, and it finds the middle of
# a set of values in which some count more than others.
#
# **You need** arrays, slicing and `axis` in NumPy. **Time** about 20 minutes.

# %%
import numpy as np

from autograder.checks import check, hint, predict, reveal

# %% [markdown]
# ## 1 · Columns on one scale
#
# The table contains the heights of four people in metres and their yearly incomes in euros. The distance between two people
# depends on income alone, because the incomes are much larger numbers:

# %% tags=["demo"]
people = np.array([[1.62, 31_000.0], [1.95, 31_400.0], [1.70, 58_000.0], [1.81, 24_500.0]])
print("distances from the first person:", np.linalg.norm(people - people[0], axis=1).round(1))

# %% [markdown]
# *Standardised* columns have the mean 0 and the standard deviation 1. Here we use the standard deviation of a sample: the sum
# of the squares is divided by $n - 1$. A column whose values are all equal cannot be standardised; it becomes a column of zeros.

# %% nbgrader={"grade": false, "grade_id": "describing-standardise", "locked": false, "schema_version": 3, "solution": true, "task": false}
def standardise(table: np.ndarray) -> np.ndarray:
    """Subtract from each column of a table (rows, columns) its mean, and divide by its sample standard deviation (n − 1).

    A column whose values are all equal becomes zeros.  (difficulty ●○○, 5 minutes)
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
print("distances from the first person:", np.linalg.norm(standardise(people) - standardise(people)[0], axis=1).round(1))

# %% [markdown]
# ## 2 · The weighted median
#
# A town has four shops with 1, 2, 2 and 20 employees, which pay 10, 12, 13 and 15 euros an hour. The median of the four
# wages is 12.5. If all 25 employees stand in a row, ordered by pay, what does the person in the middle earn?

# %%
predict("describing.pay", ...)

# %% [markdown]
# The *weighted median* is the smallest value at which the weights, added up from the smallest value to the largest, reach
# half of their sum.

# %% nbgrader={"grade": false, "grade_id": "describing-weighted_median", "locked": false, "schema_version": 3, "solution": true, "task": false}
def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The smallest of `values` (n,) at which the cumulative `weights` (n,) reach at least half of their sum.

    The values may be in any order.  (difficulty ●●○, 8 minutes)
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
# **Question.** One newspaper reports the mean income in a town, another the median. Then a very rich person moves to the
# town. Which of the two numbers changes more, and which one would you report? (2–4 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "describing-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The mean changes more: every income contributes its full size, so a single income can shift the mean by any amount. The
# median moves by at most one position in the sorted incomes. To describe what a person in the town usually earns, I would
# report the median; to describe what the town could tax, the mean, because the mean times the number of people is the sum.
#
# *Marking: 1 point for the mean, with a reason; 1 point for a choice, with its purpose.*
