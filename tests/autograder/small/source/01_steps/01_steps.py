# %% [markdown]
# # 01 · Steps
#
# Three functions, of which each calls the one before it, and one question.

# %%
import numpy as np

from autograder.checks import check


# %% tags=["demo"]
def added(values):
    return sum(values.tolist())


print("three thirds:", added(np.full(3, 1 / 3)))


# %% nbgrader={"grade": false, "grade_id": "steps-total", "locked": false, "schema_version": 3, "solution": true, "task": false}
def total(values: np.ndarray) -> float:
    """The sum of `values` (n,)."""
    ### BEGIN SOLUTION
    return values.sum()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "steps-total-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("steps.total", lambda case: total(case["values"]))


# %% nbgrader={"grade": false, "grade_id": "steps-shares", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shares(values: np.ndarray) -> np.ndarray:
    """Each of `values` (n,) divided by their sum."""
    ### BEGIN SOLUTION
    return values / total(values)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "steps-shares-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("steps.shares", lambda case: shares(case["values"]))


# %% nbgrader={"grade": false, "grade_id": "steps-largest", "locked": false, "schema_version": 3, "solution": true, "task": false}
def largest(values: np.ndarray) -> float:
    """The largest share."""
    ### BEGIN SOLUTION
    return shares(values).max()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "steps-largest-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} course={"extra_credit": 2}
check("steps.largest", lambda case: largest(case["values"]))

# %% [markdown]
# **Question.** What happens to the shares when all values are doubled?

# %% [markdown] nbgrader={"grade": true, "grade_id": "steps-question", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# Nothing: the sum doubles, too.
#
# *Marking: 2 points for "nothing"; 1 point for the reason.*
