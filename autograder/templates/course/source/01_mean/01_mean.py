# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · The mean
#
# Replace `raise NotImplementedError` in the cells that ask for it and run the check below. `check` compares what your
# function returns with what it should return, and `hint` helps in four steps.

# %%
import numpy as np

from autograder.checks import check, hint, predict, reveal

# %% [markdown]
# ## 1 · A weighted mean
#
# Three values with the weights $w_i$ have the mean $\sum_i w_i x_i / \sum_i w_i$. The first of the values 2, 4 and 9
# counts three times as much as each of the others. Do you expect more or less than 4?

# %%
predict("mean.first", ...)


# %% nbgrader={"grade": false, "grade_id": "mean-weighted", "locked": false, "schema_version": 3, "solution": true, "task": false}
def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """The mean of `values` (n,), each counted as often as `weights` (n,) says. Weights need not add up to 1."""
    ### BEGIN SOLUTION
    return (weights * values).sum() / weights.sum()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "mean-weighted-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("mean.weighted", lambda case: weighted_mean(case["values"], case["weights"]))

# %%
# hint("mean.weighted")

# %% tags=["demo"]
reveal("mean.first", weighted_mean(np.array([2.0, 4.0, 9.0]), np.array([3.0, 1.0, 1.0])))

# %% [markdown]
# ## 2 · Centred columns


# %% nbgrader={"grade": false, "grade_id": "mean-centred", "locked": false, "schema_version": 3, "solution": true, "task": false}
def centred(table: np.ndarray) -> np.ndarray:
    """The table (rows, columns) with the mean of each column taken away from that column."""
    ### BEGIN SOLUTION
    return table - table.mean(axis=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "mean-centred-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("mean.centred", lambda case: centred(case["table"]))

# %% [markdown]
# **Question.** One of 100 incomes is mistyped with a zero too many. What happens to the mean, and what happens to the median?
# (2–3 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "mean-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The mean grows by nine hundredths of that income, since every value enters it. The median moves by one place at most,
# whatever the size of the error.
#
# *Marking: 1 point for the mean, with a reason; 1 point for the median.*
