# %% [markdown]
# # 02 · Tests
#
# A function that nbgrader's own test cells grade.


# %% nbgrader={"grade": false, "grade_id": "double", "locked": false, "schema_version": 3, "solution": true, "task": false}
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "double-values", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
print("two times two:", double(2))
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(3) == 6, "three"
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "double-share", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
4 if double(0.5) == 1 else 1
