"""02 Resampling: inputs, expected mistakes, other right answers and hints of its exercise."""

from collections.abc import Iterator

from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from autograder.exercise import Draw, Exercise, Mistake


def interval_cases(draw: Draw) -> Iterator[Case]:
    for n, draws, level in ((6, 40, 0.9), (5, 25, 0.5), (8, 60, 0.8)):
        sample = draw.normal(n) * 4 + 20
        sample[0] += 15  # skewed, so that mean and median differ
        yield {"sample": sample, "indices": draw.integers(0, n, draws, n), "level": level}


interval = Exercise(
    name="resampling.interval",
    cases=interval_cases,
    rule=Rule("close", 1e-5, axes={"": "ends"}),
    mistakes=(
        Mistake(
            "the sample's own quantiles",
            "These are quantiles of the sample. The interval is for the mean: compute the mean of each resample first.",
            "means = sample[indices].mean(axis=1)",
            "means = sample",
        ),
        Mistake(
            "the mean over the resamples",
            "You averaged over the resamples, which gives one mean per position. Compute the mean of each resample, that is, of each row.",
            "axis=1",
            "axis=0",
        ),
        Mistake(
            "1 − level on each side",
            "Your interval leaves too many means outside: 1 − level is the fraction on both sides together.",
            "(1 - level) / 2",
            "1 - level",
        ),
        Mistake(
            "the medians of the resamples",
            "These are quantiles of the resamples' medians. The interval is for the mean.",
            "sample[indices].mean(axis=1)",
            "np.median(sample[indices], axis=1)",
        ),
        Mistake(
            "the ends in the wrong order",
            "The upper end comes first in your answer.",
            "[outside, 1 - outside]",
            "[1 - outside, outside]",
        ),
        Mistake(
            "resamples drawn again",
            "You drew positions of your own. `indices` specifies which values belong to each resample.",
            "sample[indices]",
            "np.random.default_rng(0).choice(sample, indices.shape)",
        ),
    ),
    alternatives={
        "a loop over the resamples, in percent": """
def interval(sample, indices, level):
    means = [sum(sample[row]) / len(row) for row in indices]
    return np.percentile(means, [50 - 50 * level, 50 + 50 * level])
""",
        "one end after the other, in float64": """
def interval(sample, indices, level):
    means = sample.astype(np.float64)[indices].mean(axis=-1)
    low = np.quantile(means, 0.5 - level / 2)
    high = np.quantile(means, 0.5 + level / 2)
    return np.array([low, high])
""",
    },
    hints=(
        "How many means are there, and what fraction of them may lie outside the interval?",
        "`sample[indices]` has the shape (draws, n), the means have (draws,), and the answer has (2,).",
        "means = mean of each row of the resampled values\noutside = half of 1 − level\nreturn the quantiles outside and 1 − outside",
        "Near miss: `np.quantile(means, [1 - level, level])` leaves twice as many means outside.",
    ),
)
