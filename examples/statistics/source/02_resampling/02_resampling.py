# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · Resampling
#
# How different might the mean of another sample have been? The *bootstrap* (Efron 1979) estimates this from the sample
# itself: it draws as many values from the sample as the sample contains, with replacement, and takes their mean. This is
# repeated many times.
#
# **You need** integer indexing in NumPy. **Time** about 15 minutes.

# %%
import numpy as np

from autograder.checks import check, hint, predict, reveal

# %% tags=["demo"]
rng = np.random.default_rng(1)
waiting = rng.exponential(10.0, size=40)  # minutes
low, high = np.quantile(waiting, [0.05, 0.95])
print(f"{len(waiting)} people waited {waiting.mean():.1f} minutes on average; the middle 90 % waited {low:.1f} to {high:.1f} minutes")

# %% [markdown]
# The middle 90 % of the means of many such resamples form an interval, too. How wide is this interval, in minutes?

# %%
predict("resampling.width", ...)

# %% nbgrader={"grade": false, "grade_id": "resampling-interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def interval(sample: np.ndarray, indices: np.ndarray, level: float) -> np.ndarray:
    """The two ends (2,) of the bootstrap interval for the mean of `sample` (n,).

    Each row of `indices` (draws, n) contains the positions of one resample. The interval contains the fraction `level` of the
    resamples' means, and equally many lie below and above it (quantiles as computed by `np.quantile`).  (difficulty ●●○, 8 minutes)
    """
    ### BEGIN SOLUTION
    means = sample[indices].mean(axis=1)
    outside = (1 - level) / 2
    return np.quantile(means, [outside, 1 - outside])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "resampling-interval-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("resampling.interval", lambda case: interval(case["sample"], case["indices"], case["level"]))

# %%
# hint("resampling.interval")

# %% tags=["demo"]
ends = interval(waiting, rng.integers(0, 40, (2000, 40)), 0.9)
print(f"90 % of the means lie between {ends[0]:.1f} and {ends[1]:.1f} minutes")
reveal("resampling.width", ends[1] - ends[0])

# %% [markdown]
# **Question.** Would the same method give a useful interval for the longest waiting time of all people, including those who are
# not in the sample? (2–3 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "resampling-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# No. A resample contains no value that the sample does not contain, so its maximum is never above that of the sample, whereas
# the maximum of the population nearly always is. The bootstrap imitates how a mean varies from sample to sample, but not how a
# maximum varies.
#
# *Marking: 1 point for no, with this bound; 1 point for what the bootstrap can and cannot imitate.*
