# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Sums

# %%
import numpy as np

from autograder.checks import check


# %% nbgrader={"grade": false, "grade_id": "sums-running", "locked": false, "schema_version": 3, "solution": true, "task": false}
def running(x):
    """The sum of each entry of x and all before it. Shapes (n,) → (n,)."""
    ### BEGIN SOLUTION
    return np.cumsum(x)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "sums-running-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("sums.running", lambda case: running(case["x"]))


# %% nbgrader={"grade": false, "grade_id": "undo", "locked": false, "schema_version": 3, "solution": true, "task": false}
def undo(x):
    """What `running` has made x of."""
    ### BEGIN SOLUTION
    return np.diff(x, prepend=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "undo-values", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert undo(running(np.array([3.0, 1.0, 2.0]))).tolist() == [3, 1, 2]
### BEGIN HIDDEN TESTS
assert undo(np.array([5.0])).tolist() == [5]
### END HIDDEN TESTS
