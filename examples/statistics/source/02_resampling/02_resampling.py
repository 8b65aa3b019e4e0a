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
# How far might the mean of another sample have been from ours? The *bootstrap* (Efron 1979) asks the sample itself: it
# draws from it, with replacement, as many numbers as it holds, takes their mean, and does so many times.
#
# **You need** integer indexing in numpy. **Time** about 15 minutes.

# %%
import numpy as np

from autograder.checks import check, hint, predict, reveal

# %% tags=["demo"]
rng = np.random.default_rng(1)
waiting = rng.exponential(10.0, size=40)  # minutes
low, high = np.quantile(waiting, [0.05, 0.95])
print(f"{len(waiting)} people waited {waiting.mean():.1f} minutes on average, the middle 90 % of them {low:.1f} to {high:.1f}")

# %% [markdown]
# The middle 90 % of the means of many such resamples are an interval, too. How wide is it, in minutes?

# %%
predict("resampling.width", ...)

# %% nbgrader={"grade": false, "grade_id": "resampling-interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def interval(sample: np.ndarray, indices: np.ndarray, level: float) -> np.ndarray:
    """Both ends (2,) of the bootstrap interval for the mean of `sample` (n,).

    Each row of `indices` (draws, n) holds the places of one resample. The interval holds the share `level` of the resamples'
    means, and as many lie below it as above (quantiles as `np.quantile` takes them).  (difficulty ●●○, 8 minutes)
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
# **Question.** Nobody in the sample waited longer than its longest. Would the same method give an interval for the longest waiting
# time of all? (2–3 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "resampling-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# No. A resample holds no number that the sample does not hold, so that its maximum is never above the sample's, while that of
# the population nearly always is. The bootstrap imitates how a mean varies from sample to sample, and does not imitate a maximum.
#
# *Marking: 1 point for no with the bound; 1 point for what the bootstrap can and cannot imitate.*
