# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A plot

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np


# %% nbgrader={"grade": false, "grade_id": "draw", "locked": false, "schema_version": 3, "solution": true, "task": false}
def draw_wave(axes, cycles):
    """Draw sin(2π · cycles · t) for t from 0 to 1 with a title and both labels."""
    ### BEGIN SOLUTION
    t = np.linspace(0, 1, 200)
    axes.plot(t, np.sin(2 * np.pi * cycles * t))
    axes.set(title=f"{cycles} cycles", xlabel="t", ylabel="height")
    ### END SOLUTION


# %%
figure, axes = plt.subplots()
draw_wave(axes, 3)

# %% nbgrader={"grade": true, "grade_id": "draw-line", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
(line,) = axes.get_lines()
x, y = line.get_data()
assert x.min() == 0 and x.max() == 1
np.testing.assert_allclose(y, np.sin(6 * np.pi * x), atol=1e-9)

# %% nbgrader={"grade": true, "grade_id": "draw-words", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
float(bool(axes.get_title())) + float(bool(axes.get_xlabel())) + float(bool(axes.get_ylabel()))

# %% nbgrader={"grade": true, "grade_id": "own", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# A figure of your own, with two waves.
### BEGIN SOLUTION
figure, axes = plt.subplots()
draw_wave(axes, 1)
draw_wave(axes, 2)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "own-exists", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert len(axes.get_lines()) == 2
