# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Squares
#
# Each function takes and gives numpy arrays.

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import numpy as np

# %% [markdown]
# The squares of 1 to n, in order.


# %% nbgrader={"grade": false, "grade_id": "squares", "locked": false, "schema_version": 3, "solution": true, "task": false}
def squares(n):
    ### BEGIN SOLUTION
    if n < 1:
        raise ValueError("n must be 1 or more")
    return np.arange(1, n + 1) ** 2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "squares-values", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert squares(3).tolist() == [1, 4, 9]
### BEGIN HIDDEN TESTS
assert squares(1).tolist() == [1]
assert squares(12)[-1] == 144
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "squares-error", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
"""squares(0) is a ValueError."""
### BEGIN HIDDEN TESTS
try:
    squares(0)
except ValueError:
    pass
else:
    raise AssertionError("squares(0) raised nothing")
### END HIDDEN TESTS

# %% [markdown]
# Every column with mean 0 and standard deviation 1.


# %% nbgrader={"grade": false, "grade_id": "standardise", "locked": false, "schema_version": 3, "solution": true, "task": false}
def standardise(table):
    ### BEGIN SOLUTION
    return (table - table.mean(axis=0)) / table.std(axis=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "standardise-values", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
table = np.array([[1.0, 10.0], [3.0, 30.0], [5.0, 20.0]])
np.testing.assert_allclose(standardise(table).mean(axis=0), 0, atol=1e-12)
np.testing.assert_allclose(standardise(table).std(axis=0), 1)
