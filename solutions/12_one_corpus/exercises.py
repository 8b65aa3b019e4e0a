"""12 One corpus, four models: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from .unseen_attention import UNSEEN
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ evaluate


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def exam_cases(draw: Draw) -> Iterator[Case]:
    for D, words, known, asked in ((5, 3, 40, 36), (7, 4, 62, 50), (4, 2, 30, 44)):
        case = exam(draw, D, words, known, asked)
        while not decided(case):
            case = exam(draw, D, words, known, asked)
        yield case


def exam(draw: Draw, D: int, words: int, known: int, asked: int) -> Case:
    """Random words, followed by one extra word for each situation that distinguishes right from wrong answers."""
    word_ids = draw.rng.choice(90, words + len(SITUATIONS), replace=False)
    centres = draw.normal(words * 3, D) + 2 * np.sqrt(D) * unit(draw.normal(words, D)).repeat(3, axis=0)
    static = draw.rng.permutation(np.arange(D) < 4) * draw.rng.choice((-0.5, 0.5), D)  # of length 1
    sides = []
    for count in (known, asked):
        word = np.concatenate([np.arange(words), draw.integers(0, words, count - words)])
        # Senses 3w, 3w + 1, 3w + 2 of word w: the last is the most frequent.
        sense = 3 * word + draw.rng.choice(3, count, p=(0.2, 0.3, 0.5))
        vectors = (centres[sense] + draw.normal(count, D)) * draw.uniform(count, 1, low=0.3, high=3.0)
        vectors[word == 0] = static  # like a static vector, the same wherever the word occurs
        sides.append([vectors, word, sense])
    (labelled, labelled_words, senses), (vectors, asked_words, _) = sides
    # Some held-out vectors are nearest to another word; others have a negative cosine with all occurrences of their own word.
    few = np.flatnonzero(asked_words != 0)[:8]
    vectors[few[:4]] = labelled[labelled_words == 0][[0] * 4]
    own = np.array([unit(labelled[labelled_words == word]).mean(axis=0) for word in asked_words[few[4:]]])
    vectors[few[4:]] = draw.normal(len(own), D, scale=0.1) - own
    for number, occurrences in enumerate(SITUATIONS, start=words):
        # Axes in any order and direction: equal cosines stay equal to the last bit, on every processor.
        axes = draw.rng.permutation(np.eye(D)) * draw.rng.choice((-1, 1), (D, 1))
        labelled = np.concatenate([labelled, [np.array(place) @ axes[: len(place)] for _, place in occurrences]])
        owners = [1 if sense == OTHER else number for sense, _ in occurrences]
        labelled_words = np.concatenate([labelled_words, owners])
        senses = np.concatenate([senses, [3 * owner + sense % 3 for owner, (sense, _) in zip(owners, occurrences, strict=True)]])
        vectors = np.concatenate([vectors, axes[:1]])
        asked_words = np.concatenate([asked_words, [number]])
    return {
        "known": labelled.astype(np.float32),
        "known_words": word_ids[labelled_words],
        "known_senses": senses,
        "asked": vectors.astype(np.float32),
        "asked_words": word_ids[asked_words],
    }


def at(cosine: float) -> tuple[float, float]:
    return cosine, (1 - cosine**2) ** 0.5


OTHER = 3
SITUATIONS = (
    # The sense of each labelled occurrence and the direction of its vector; the held-out one points along the first axis.
    ((1, (3, 1)), (2, (6, 2)), (0, (1.5, 0.5)), (2, (3, 1)), (0, (12, 4)), (1, (6, 2))),  # a tie of all
    ((0, (3, 1)), (2, (6, 2)), (2, (3, 1)), (1, (1, 1))),  # not the smallest, and not the first
    # Within TIE, but not equal; the third sense is nearly as near. TIE is absolute, not relative to the highest cosine.
    ((1, at(0.4)), *[(2, at(0.4 - 5.5e-6))] * 2, *[(0, at(0.4 - 1e-4))] * 3),
    ((0, (56, 8)), (1, (1, 0.75)), (2, (1, 3))),  # near in angle and far in distance
    ((0, (0.25, 0.0625)), (1, (2, 3)), (2, (0.5, 1.5))),  # near in angle, with a small dot product
    ((0, (3, 1)), (0, (-4, 0, 3)), (0, (-4, 0, 0, 3)), *[(1, (1, 2))] * 4),  # the mean vector of the nearest sense is far away
    ((2, (3, 1)), (1, (1, 1)), (OTHER, (3, 1)), (OTHER, (6, 2))),  # two occurrences of another word are as near, and would win
)


def decided(case: Case) -> bool:
    """True if rounding never decides which cosines are within TIE, and if enough held-out vectors point away from their own word."""
    cosines = unit(case["asked"].astype(float)) @ unit(case["known"].astype(float)).T
    own = np.where(case["asked_words"][:, None] == case["known_words"], cosines, -9)
    behind = own.max(axis=1, keepdims=True) - own
    away = (own.max(axis=1) < -0.05) & (cosines.max(axis=1) > 0.05)
    return away.sum() >= 2 and not ((behind > 7e-6) & (behind < 5e-5)).any()


MASKED = "similarity.masked_fill(asked_words[:, None] != known_words, -torch.inf)"
VOTES = "votes.argmax(dim=-1)"
NEAR = "torch.isclose(similarity, similarity.amax(dim=-1, keepdim=True), rtol=0, atol=TIE)"

evaluate = Exercise(
    cases=exam_cases,
    rule=Rule("equal", axes={"": "asked"}),
    mistakes=(
        Mistake(
            "neighbours of other words",
            "Some of your senses do not belong to the held-out word, because the nearest neighbour was an occurrence of another word.",
            MASKED, "similarity",
        ),
        Mistake(
            "votes from equally near occurrences of other words",
            "You also let occurrences of other words vote if they are as near as the nearest occurrence of the word itself. Only its own "
            "occurrences may vote.",
            code="""
def evaluate(known, known_words, known_senses, asked, asked_words):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    own = cosines.masked_fill(asked_words[:, None] != known_words, -2)
    near = (cosines - own.amax(dim=-1, keepdim=True)).abs() <= TIE
    return (near.float() @ one_hot(known_senses).float()).argmax(dim=-1)
""",
        ),
        Mistake(
            "dot products instead of cosines",
            "In your answer, long vectors win, whatever their direction, because you use dot products. Use cosines.",
            "normalize(asked, dim=-1) @ normalize(known, dim=-1).T", "asked @ known.T",
        ),
        Mistake(
            "first of several equally near neighbours",
            "Where a word has the same vector everywhere, your answer depends on the order of the labelled sentences. The "
            "docstring says how to resolve ties.",
            f"return {VOTES}", "return known_senses[similarity.argmax(dim=-1)]",
        ),
        Mistake(
            "neighbours of other words, and ties resolved by order",
            "Your answer has two faults. Some of your senses belong to another word, but only occurrences of the same word may vote. Where several occurrences are equally near, you take the first; the docstring says how to resolve ties.",
            edits={MASKED: "similarity", f"return {VOTES}": "return known_senses[similarity.argmax(dim=-1)]"},
        ),
        Mistake(
            "most frequent sense of the word",
            "Your answer is the same for every occurrence of a word, because all labelled occurrences vote, whether near or not.",
            NEAR, "similarity > -2",
        ),
        Mistake(
            "largest id among equally frequent senses",
            "Where two senses have equally many votes, you take the larger id. The docstring asks for the smaller id.",
            f"return {VOTES}", "return votes.shape[-1] - 1 - votes.flip(-1).argmax(dim=-1)",
        ),
        Mistake(
            "first of several equally frequent senses",
            "Where two senses have equally many votes, you take the sense that occurs first, so the answer depends on the order of a file. The smallest id should win.",
            code="""
def evaluate(known, known_words, known_senses, asked, asked_words):
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    similarity = similarity.masked_fill(asked_words[:, None] != known_words, -torch.inf)
    answers = []
    for row in similarity >= similarity.amax(dim=-1, keepdim=True) - TIE:
        senses = known_senses[row].tolist()
        answers.append(max(dict.fromkeys(senses), key=senses.count))
    return torch.tensor(answers)
""",
        ),
        Mistake(
            "tolerance TIE not used",
            "You let only the occurrences with the highest cosine vote. All cosines within TIE of the highest count as equal, because the same vector computed twice may differ slightly.",
            NEAR, "similarity == similarity.amax(dim=-1, keepdim=True)",
        ),
        Mistake(
            "smallest id without a vote",
            "Among the senses that are equally near, you take the smallest id. Let the occurrences vote first; the id decides only "
            "between equally frequent senses.",
            "near.float() @ one_hot(known_senses).float()",
            "(near.float() @ one_hot(known_senses).float()).clamp(max=1)",
        ),
        Mistake(
            "mean vector of each sense",
            "You compare each vector with one mean vector per sense. The occurrences of one sense may differ, so compare with the nearest occurrence, not with their mean.",
            code="""
def evaluate(known, known_words, known_senses, asked, asked_words):
    answers = []
    for vector, word in zip(asked, asked_words):
        senses = known_senses[known_words == word].unique()
        means = torch.stack([known[(known_words == word) & (known_senses == s)].mean(dim=0) for s in senses])
        answers.append(senses[torch.cosine_similarity(vector[None], means, dim=-1).argmax()])
    return torch.stack(answers)
""",
        ),
        Mistake(
            "index of the neighbour instead of its sense",
            "Your answers are indices of labelled sentences. Return the sense of the word in that sentence.",
            f"return {VOTES}", "return similarity.argmax(dim=-1)",
        ),
        Mistake(
            "farthest neighbour",
            "You take the labelled vector that is least similar to the held-out one.",
            edits={
                MASKED: MASKED.replace("-torch.inf", "torch.inf"),
                NEAR: NEAR.replace("amax", "amin"),
            },
        ),
        Mistake(
            "similarity 0 for other words",
            "You give other words the similarity 0, so they win where all cosines of the same word are negative. Use minus infinity.",
            "-torch.inf", "0.0",
        ),
        Mistake(
            "normalised over the sentences",
            "You divide each coordinate by its norm over all sentences. For a cosine, divide each vector by its own norm.",
            edits={"normalize(asked, dim=-1)": "normalize(asked, dim=0)", "normalize(known, dim=-1)": "normalize(known, dim=0)"},
        ),
        Mistake(
            "Euclidean distance",
            "Your nearest neighbour depends on the lengths of the vectors. The docstring asks for the cosine.",
            "normalize(asked, dim=-1) @ normalize(known, dim=-1).T", "-torch.cdist(asked, known)",
        ),
    ),  # fmt: skip
    alternatives={
        "one word at a time": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    guesses = torch.zeros(len(asked), dtype=torch.long)
    for i in range(len(asked)):
        own = known_words == asked_words[i]
        cosines = torch.cosine_similarity(known[own].double(), asked[i].double()[None], dim=-1)
        near = known_senses[own][cosines >= cosines.max() - TIE]
        guesses[i] = near.bincount().argmax()
    return guesses
""",
        "numpy": """
import numpy as np
def evaluate(known, known_words, known_senses, asked, asked_words):
    a, b = np.asarray(asked, np.float64), np.asarray(known, np.float64)
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    out = []
    for vector, word in zip(a, np.asarray(asked_words)):
        cosine = np.where(np.asarray(known_words) == word, b @ vector, -9)
        senses, counts = np.unique(np.asarray(known_senses)[cosine > cosine.max() - 1e-5], return_counts=True)
        out.append(senses[counts.argmax()])
    return np.array(out)
""",
    },
    survivors={
        "keepdim=True), atol=TIE)`": "this at most doubles the tolerance, and no two different cosines are that close",
    },
    hints=(
        "Which labelled sentences may vote for a held-out word at all? What if a word has the same vector in every sentence?",
        "The cosines and the mask of the voters have shape (asked, known), the highest cosine of each row (asked, 1), the votes (asked, senses) "
        "and the output (asked,).",
        "cosines of every held-out vector with every labelled one\nmask the cosines with other words\nnear = within TIE of the largest "
        "in the row\ncount the senses among the near ones\nthe sense with the most votes",
        "A near miss: argmax over the similarities works for contextual vectors but is arbitrary for static ones, whose "
        "neighbours are all equally near.",
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ bootstrap_interval


def answers_of(draw: Draw, models: int, items: int) -> np.ndarray:
    """Right (1) and wrong (0) answers of several models that find the same items hard."""
    hard = draw.uniform(items)
    ability = np.linspace(0.25, 0.75, models)[draw.rng.permutation(models)]
    noise = draw.normal(models, items, scale=0.18)
    right = (hard + noise < ability[:, None]).astype(np.float32)
    right[:, 0], right[:, 1] = 1, 0  # never all equal
    return right


def interval_cases(draw: Draw) -> Iterator[Case]:
    """No two means are equal, and both ends lie well between two of them, so an answer without interpolation is wrong."""
    for items, times, level, lowest in ((31, 24, 0.95, 0), (47, 37, 0.8, 0), (23, 16, 0.9, 0), (37, 29, 0.7, -1)):
        right = answers_of(draw, 1, items)[0]
        yes, no = np.flatnonzero(right), np.flatnonzero(right == 0)
        counts = 1 + draw.rng.choice(items - 1, times, replace=False)
        rows = [np.concatenate([draw.rng.choice(yes, n), draw.rng.choice(no, items - n)]) for n in counts]
        # In the last case values start at −1, as the difference of two models may.
        yield {"right": right + np.float32(lowest), "draws": draw.rng.permuted(rows, axis=1), "level": level}


MEANS = "right[draws].mean(dim=1)"
BOTH = "torch.tensor([outside, 1 - outside])"
NOT_INTERPOLATED = """
def bootstrap_interval(right, draws, level):
    ends = torch.tensor([(1 - level) / 2, 1 - (1 - level) / 2])
    return tuple(right[draws].mean(dim=1).quantile(ends, interpolation="WAY"))
"""
INDEXED = """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1).sort().values
    shares = (1 - level) / 2, 1 - (1 - level) / 2
    return tuple(means[min(PLACE, len(means) - 1)] for share in shares)
"""

bootstrap_interval = Exercise(
    cases=interval_cases,
    mistakes=(
        Mistake(
            "mean over the draws",
            "You average over the draws, so each of your means mixes all draws. Each row of draws is one new test set, with one mean.",
            MEANS, "right[draws].mean(dim=0)",
        ),
        Mistake(
            "whole remainder on each side",
            "Your interval is too narrow. At level 0.95 it leaves 5 % on each side, but it should leave only 5 % in total.",
            "outside = (1 - level) / 2", "outside = 1 - level",
        ),
        Mistake(
            "1.96 standard errors",
            "Your interval is symmetric and does not depend on the level. The ends of a percentile interval are quantiles of the resampled means.",
            f"low, high = means.quantile({BOTH})",
            "low, high = means.mean() - 1.96 * means.std(), means.mean() + 1.96 * means.std()",
        ),
        Mistake(
            "quantiles not interpolated",
            "Each end of your interval is the mean of a draw, or the midpoint of two such means. A quantile that falls between two means is "
            "interpolated in proportion.",
            f"low, high = means.quantile({BOTH})", f"low, high = means.quantile({BOTH}, interpolation='nearest')",
            also=(
                *(NOT_INTERPOLATED.replace("WAY", way) for way in ("lower", "higher", "midpoint")),
                INDEXED.replace("PLACE", "int(share * len(means))"),
                INDEXED.replace("PLACE", "round(share * len(means))"),
            ),
        ),
        Mistake(
            "interval reflected about the measured mean",
            "You reflect the interval about the mean of the original items, which gives the basic bootstrap interval. The ends of the percentile interval are quantiles of the resampled means.",
            "return low, high", "return 2 * right.mean() - high, 2 * right.mean() - low",
        ),
        Mistake(
            "level fixed at 95 %",
            "Your interval is correct only at level 0.95, but the level is an argument.",
            "outside = (1 - level) / 2", "outside = 0.025",
        ),
        Mistake(
            "smallest and largest mean",
            "Your interval contains all the means, so it grows with the number of draws. Use quantiles instead.",
            f"low, high = means.quantile({BOTH})", "low, high = means.min(), means.max()",
        ),
        Mistake(
            "single answers instead of means",
            "The ends of your interval are single answers, such as 0 and 1, rather than proportions. Use the mean of each draw. (The median of a draw is also a single answer.)",
            MEANS, "right",
        ),
        Mistake(
            "upper end before lower end",
            "Your first number is the larger one, but the lower end should come first.",
            "return low, high", "return high, low",
        ),
        Mistake(
            "sums instead of means",
            "The ends of your interval are sums over the items, but they should be means.",
            MEANS, "right[draws].sum(dim=1)",
        ),
        Mistake(
            "half of each draw",
            "Your interval is too wide, because a mean of fewer items varies more. Use all items of each draw.",
            MEANS, "right[draws][:, ::2].mean(dim=1)",
        ),
    ),
    alternatives={
        "a loop and numpy": """
import numpy as np
def bootstrap_interval(right, draws, level):
    means = [np.asarray(right)[np.asarray(row)].mean() for row in draws]
    return tuple(np.percentile(means, [50 - 50 * level, 50 + 50 * level]))
""",
        "sorted, and interpolated by hand": """
def bootstrap_interval(right, draws, level):
    means = right.double()[draws].mean(-1).sort().values
    def at(share):
        place = share * (len(means) - 1)
        below = int(place)
        above = min(below + 1, len(means) - 1)
        return means[below] + (place - below) * (means[above] - means[below])
    return at((1 - level) / 2), at((1 + level) / 2)
""",
    },
    hints=(
        "What might another test set of the same size have looked like? Which accuracy would you have reported for it?",
        "right[draws] has shape (times, items). Take the mean of each row, then two quantiles of these means.",
        "means = for each row of draws, the proportion of correct answers among its items\nlow = the quantile (1 − level) / 2 "
        "of the means\nhigh = the quantile 1 − (1 − level) / 2",
        "A near miss: the quantiles 0 and `level` (0.95) leave 5 % above and nothing below.",
    ),
)

# ------------------------------------------------------------------------------------------ clear_differences


def pair_cases(draw: Draw) -> Iterator[Case]:
    """Random models, with one pair whose difference is clear at this level but not at a higher one, and one pair whose difference is not clear."""
    for models, items, times, level in ((5, 61, 150, 0.95), (6, 53, 120, 0.9), (7, 90, 198, 0.8)):
        right, draws = answers_of(draw, models, items), draw.integers(0, items, times, items)
        place = (1 - level) / 2 * (times - 1)  # of the lower end among the sorted differences
        higher = 0.005 if level == 0.95 else 0.025  # what a level of 0.99 or 0.95 leaves below the interval
        worst, bad, *_, good, best = right.sum(axis=1).argsort()
        pairs = ((worst, best, higher * (times - 1) + 1, place), (bad, good, place + 1, 0.24 * times))
        for one, other, low, high in pairs:
            # They differ in only a few items, always in the same direction, and many draws contain none of these items.
            untouched = -1
            while not low < untouched < high:
                few = draw.rng.choice(np.flatnonzero(right[other]), int(draw.integers(1, 6)), replace=False)
                untouched = int((~np.isin(draws, few).any(axis=1)).sum())
            right[one] = right[other]
            right[one, few] = 0
        yield {"right": right, "draws": draws, "level": level}


GAPS = "right[:, None] - right"
ENDS = "bootstrap_interval(gap, draws, level)"
CLEAR = "(low > 0) | (high < 0)"

clear_differences = Exercise(
    cases=pair_cases,
    uses=("comparison.bootstrap_interval",),
    rule=Rule(axes={"0": "model model", "1": "model model"}),
    mistakes=(
        Mistake(
            "sign of the differences reversed",
            "Your differences have the wrong sign. The entry in row i, column j should be the mean of model i minus that of model j.",
            GAPS, "right - right[:, None]",
        ),
        Mistake(
            "separate intervals compared",
            "You call two models different if their own intervals do not overlap. This rule misses clear differences. Both models answered the same items, and an item that is hard for one model is usually also hard for the other, so it cancels in the difference.",
            f"ends = [[{ENDS} for gap in row] for row in gaps]",
            f"own = [{ENDS.replace('gap', 'row')} for row in right]\n"
            "    ends = [[(a[0] - b[1], a[1] - b[0]) for b in own] for a in own]",
        ),
        Mistake(
            "different draws for each model",
            "You resample different items for the two models of a pair, so the variation that they share does not cancel, and "
            "your intervals are too wide.",
            f"ends = [[{ENDS} for gap in row] for row in gaps]",
            "means = torch.stack([row[draws].mean(dim=-1).roll(i) for i, row in enumerate(right)])\n"
            "    outside = (1 - level) / 2\n"
            "    ends = (means[:, None] - means).quantile(torch.tensor([outside, 1 - outside]), dim=-1).permute(1, 2, 0).tolist()",
        ),
        Mistake(
            "only positive differences clear",
            "Your table of clear differences is not symmetric, but a model can also be clearly worse.",
            CLEAR, "low > 0",
        ),
        Mistake(
            "clear and unclear swapped",
            "On your diagonal, each model differs clearly from itself.",
            CLEAR, "(low <= 0) & (high >= 0)",
        ),
        Mistake(
            "every non-zero difference called clear",
            "You call every non-zero difference clear. A difference is clear only if its interval over the draws does not contain 0.",
            CLEAR, "gaps.mean(dim=-1) != 0",
        ),
        Mistake(
            "difference computed from the draws",
            "Your differences are slightly inaccurate. Compute each difference on the original items, not on the draws.",
            "return gaps.mean(dim=-1)", "return (low + high) / 2",
            also=("""
def clear_differences(right, draws, level):
    gaps = (right[:, None] - right)[:, :, draws].mean(dim=-1)
    low, high = gaps.quantile(torch.tensor([(1 - level) / 2, 1 - (1 - level) / 2]), dim=-1)
    return gaps.mean(dim=-1), (low > 0) | (high < 0)
""",),
        ),
        Mistake(
            "interval that ends at 0 called clear",
            "An interval that ends at 0 contains 0, so the difference is not clear. (For a model compared with itself, the interval is 0 to "
            "0.)",
            CLEAR, "(low >= 0) | (high <= 0)",
        ),
        Mistake(
            "one triangle of the tables only",
            "Your tables are empty below or above the diagonal. Each pair occurs in both orders, with opposite signs.",
            "return gaps.mean(dim=-1), (low > 0) | (high < 0)",
            "return gaps.mean(dim=-1).triu(), ((low > 0) | (high < 0)).triu()",
            also=("""
def clear_differences(right, draws, level):
    gaps = right[:, None] - right
    low, high = torch.tensor([[bootstrap_interval(gap, draws, level) for gap in row] for row in gaps]).unbind(-1)
    return gaps.mean(dim=-1).tril(), ((low > 0) | (high < 0)).tril()
""",),
        ),
        Mistake(
            "absolute differences",
            "None of your differences is negative. The entry in row i, column j is the mean of model i minus that of model j, which is negative if model i is worse.",
            "return gaps.mean(dim=-1)", "return gaps.mean(dim=-1).abs()",
        ),
        Mistake(
            "fixed level",
            "Your answer does not depend on the level, which is an argument.",
            ENDS, "bootstrap_interval(gap, draws, 0.5)",
            also=("""
def clear_differences(right, draws, level):
    gaps = right[:, None] - right
    low, high = torch.tensor([[bootstrap_interval(gap, draws, 0.95) for gap in row] for row in gaps]).unbind(-1)
    return gaps.mean(dim=-1), (low > 0) | (high < 0)
""",),
        ),
    ),
    alternatives={
        "differences of the resampled means": """
def clear_differences(right, draws, level):
    means = right[:, draws].mean(dim=-1)
    gaps = means[:, None] - means
    low, high = gaps.quantile(torch.tensor([(1 - level) / 2, (1 + level) / 2]), dim=-1)
    average = right.mean(dim=-1)
    return average[:, None] - average, ~((low <= 0) & (high >= 0))
""",
        "counts of how often each item was drawn": """
def clear_differences(right, draws, level):
    items = right.shape[1]
    counts = torch.nn.functional.one_hot(draws, items).sum(dim=1).double() / items
    means = right.double() @ counts.T
    gaps = means[:, None, :] - means[None, :, :]
    ends = torch.quantile(gaps, torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.double), dim=-1)
    difference = right.mean(-1).unsqueeze(1) - right.mean(-1).unsqueeze(0)
    return difference, (ends[0] > 1e-9) | (ends[1] < -1e-9)
""",
    },
    hints=(
        "Two models answered the same items. Should a new test set have the same new items for both models, or separate ones?",
        "right[:, draws] has shape (models, times, items), and the differences of all pairs (models, models, times).",
        "means of every model on every draw\nfor each pair: the difference in each draw\nits interval, as before\nclear if 0 lies "
        "outside it",
        "A near miss: comparing separate intervals. They may overlap although nearly every draw favours the same model.",
    ),
)

# ------------------------------------------------------------------------------------------ unsupported


def claim_cases(draw: Draw) -> Iterator[Case]:
    """Scores are multiples of 1/8 and their number is a power of two, so a mean that is exactly at a limit is there in any arithmetic."""
    for models, items, times, level, edges in ((5, 64, 150, 0.95, False), (4, 32, 120, 0.9, True), (6, 128, 198, 0.8, True)):
        case = claims_about(draw, models, items, times, level, edges)
        while not case:
            case = claims_about(draw, models, items, times, level, edges)
        yield case


def claims_about(draw: Draw, models: int, items: int, times: int, level: float, edges: bool) -> Case:
    """Claims of each type that the data support or do not support, each for its own reason; empty if rounding might decide about one of them."""
    scores = list(answers_of(draw, models, items))
    draws = draw.integers(0, items, times, items)
    outside = (1 - level) / 2
    place = outside * (times - 1)  # of the lower end among the sorted differences
    higher = 0.005 if level == 0.95 else 0.025  # what a level of 0.99 or 0.95 leaves below the interval

    def add(row: np.ndarray) -> int:
        scores.append(row.astype(np.float32))
        return len(scores) - 1

    def changed(row: np.ndarray, among: np.ndarray, by: float, low: float, high: float) -> np.ndarray:
        """Another score on a few items, such that between low and high draws contain none of them."""
        untouched = -1
        while not low < untouched < high:
            few = draw.rng.choice(among, int(draw.integers(1, 6)), replace=False)
            untouched = int((~np.isin(draws, few).any(axis=1)).sum())
        row = row.copy()
        row[few] += by
        return row

    def ends(a: int, b: int) -> tuple[float, float, float]:
        """The measured difference and the ends of its interval."""
        gap = (scores[a] - scores[b]).astype(float)
        low, high = np.quantile(gap[draws].mean(axis=1), [outside, 1 - outside])
        return gap.mean(), low, high

    order = np.argsort([row.sum() for row in scores])
    worst, best, other = int(order[0]), int(order[-1]), int(order[models // 2])
    yes, no = (np.flatnonzero(scores[other] == value) for value in (1, 0))
    slightly = add(changed(scores[other], yes, -1, higher * (times - 1) + 1, place))  # worse, and clearly so at this level alone
    mixed = scores[other].copy()  # better on some items and worse on about as many
    mixed[draw.rng.choice(yes, len(yes) // 2, replace=False)] = 0
    mixed[draw.rng.choice(no, len(no) // 2, replace=False)] = 1
    ahead, behind = add(mixed), other
    if ends(ahead, behind)[0] < 0:
        ahead, behind = behind, ahead
    mean, low, high = ends(best, worst)
    even, least, most = ends(ahead, behind)
    if not (mean - low > 0.02 and high - mean > 0.02 and low > 0.02 and even > 0.005 and least < -0.02 and most - even > 0.02 and even < -least - 0.02):
        return {}
    claims: list[tuple[int, str, int, float]] = [
        (best, "ahead", worst, low / 2),
        (best, "ahead", worst, (low + mean) / 2),  # the measured difference is above the margin
        (best, "ahead", worst, (mean + high) / 2),
        (worst, "ahead", best, 0.0),
        (worst, "ahead", best, low / 2),
        (best, "equal", worst, (mean + high) / 2),
        (worst, "equal", best, (mean + high) / 2),
        (best, "equal", worst, (low + mean) / 2),
        (best, "equal", worst, high + 0.03),  # equal within the margin, although the interval does not contain 0
        (best, "unclear", worst, high + 0.04),
        (worst, "unclear", best, high + 0.04),
        (ahead, "ahead", behind, 0.0),
        (ahead, "unclear", behind, even / 2),
        (behind, "unclear", ahead, even / 2),
        (ahead, "equal", behind, (even + min(most, -least)) / 2),  # not clear, and not within the margin
        (behind, "equal", ahead, (even + min(most, -least)) / 2),
        (ahead, "equal", behind, max(most, -least) + 0.02),
        (other, "ahead", slightly, 0.0),
        (slightly, "unclear", other, 0.05),
    ]
    if edges:
        touching = add(changed(scores[other], yes, -1, place + 1, 0.24 * times))
        same = add(scores[other])
        anywhere = np.arange(items)
        above = add(changed(scores[worst] + 0.125, anywhere, 0.25, place + 1, 0.24 * times))
        below = add(changed(scores[worst] + 0.125, anywhere, -0.125, place + 1, 0.24 * times))
        claims += [
            (other, "ahead", touching, 0.0),
            (other, "unclear", touching, 0.0),
            (touching, "unclear", other, 0.0),
            (other, "ahead", same, 0.0),
            (other, "equal", same, 0.0),
            (same, "equal", other, 0.01),
            (other, "unclear", same, 0.02),
            (above, "ahead", worst, 0.125),
            (above, "ahead", worst, 0.1),
            (below, "equal", worst, 0.125),
            (worst, "equal", below, 0.125),
        ]
    chosen = [claims[int(i)] for i in draw.rng.permutation(len(claims))]
    shuffled = draw.rng.permutation(len(scores))
    now_at = np.argsort(shuffled)
    return {
        "scores": np.stack(scores)[shuffled],
        "claims": [(int(now_at[a]), says, int(now_at[b]), round(float(margin), 4)) for a, says, b, margin in chosen],
        "draws": draws,
        "level": level,
    }


PAIRED = "bootstrap_interval(scores[a] - scores[b], draws, level)"
AHEAD, EQUAL, UNCLEAR = "low > margin,", "low > -margin and high < margin", "low <= 0 <= high"
WITH_ENDS = """
def unsupported(scores, claims, draws, level):
    verdicts = []
    for a, says, b, margin in claims:
        low, high = bootstrap_interval(scores[a] - scores[b], draws, level)
        gap = (scores[a] - scores[b]).mean()
        supported = {"ahead": AHEAD, "equal": EQUAL, "unclear": UNCLEAR}
        verdicts.append(not supported[says])
    return torch.tensor(verdicts)
"""


def with_ends(ahead: str = "low > margin", equal: str = EQUAL, unclear: str = UNCLEAR) -> str:
    """An answer with these conditions."""
    return WITH_ENDS.replace("AHEAD", ahead).replace("EQUAL", equal).replace("UNCLEAR", unclear)


unsupported = Exercise(
    cases=claim_cases,
    uses=("comparison.bootstrap_interval",),
    rule=Rule("equal", axes={"": "claims"}),
    mistakes=(
        Mistake(
            "unclear difference taken as equality",
            "You count two models as equal as soon as their difference is not clear. An interval that contains 0 may be wide and "
            "also contain large differences. For \"equal\", the whole interval must be between -margin and margin.",
            EQUAL, "low <= 0 <= high",
            also=(with_ends(equal="low <= 0 <= high and abs(gap) < margin"), with_ends(equal="low < 0 < high")),
        ),
        Mistake(
            "margins not used",
            "Your answer does not depend on the margins: you accept \"ahead\" for every clear lead, and \"equal\" for every unclear difference. For \"ahead\" the whole interval must be above the margin, and for \"equal\" between -margin and margin.",
            code=with_ends("low > 0", "low <= 0 <= high"),
        ),
        Mistake(
            "measured differences instead of intervals",
            "You compare the measured difference with the margin. Other items would give another difference: compare the ends of the interval with the margin.",
            code=with_ends("gap > margin", "abs(gap) < margin"),
            also=(with_ends("gap > margin", "abs(gap) < margin", "abs(gap) <= margin"), with_ends("gap > margin", "abs(gap) < margin", "gap == 0")),
        ),
        Mistake(
            "measured difference above the margin",
            "Your \"ahead\" requires only that the interval be above 0 and the measured difference above the margin. The whole interval must be above the margin.",
            AHEAD, "low > 0 and (scores[a] - scores[b]).mean() > margin,",
            also=(with_ends("gap > margin"),),
        ),
        Mistake(
            "measured difference within the margin",
            "Your \"equal\" requires only that the measured difference be between -margin and margin. The whole interval must be there.",
            EQUAL, "abs((scores[a] - scores[b]).mean()) < margin",
        ),
        Mistake(
            "separate intervals compared",
            "You compare the two models' own intervals. They are wide, because some items are hard for both models. In the paired difference such items cancel, so use the interval of the difference.",
            f"low, high = {PAIRED}",
            "(low_a, high_a), (low_b, high_b) = (bootstrap_interval(scores[m], draws, level) for m in (a, b))\n"
            "        low, high = low_a - high_b, high_a - low_b",
        ),
        Mistake(
            "different draws for each model",
            "You resample different items for the two models, so the variation that they share does not cancel, and your intervals are too wide.",
            f"low, high = {PAIRED}",
            "means_a, means_b = (scores[m][draws].mean(dim=1) for m in (a, b))\n"
            "        low, high = (means_a - means_b.roll(1)).quantile(torch.tensor([(1 - level) / 2, (1 + level) / 2]))",
            also=("""
def unsupported(scores, claims, draws, level):
    means = torch.stack([row[draws].mean(dim=1).roll(i) for i, row in enumerate(scores)])
    verdicts = []
    for a, says, b, margin in claims:
        low, high = (means[a] - means[b]).quantile(torch.tensor([(1 - level) / 2, (1 + level) / 2]))
        supported = {"ahead": low > margin, "equal": low > -margin and high < margin, "unclear": low <= 0 <= high}
        verdicts.append(not supported[says])
    return torch.tensor(verdicts)
""",),
        ),
        Mistake(
            "sign of the difference reversed",
            "You reject \"ahead\" where model a is clearly ahead, and accept it where a is clearly behind. The difference is model a minus model b.",
            "scores[a] - scores[b]", "scores[b] - scores[a]",
        ),
        Mistake(
            "direction of the difference ignored",
            "You accept \"ahead\" where model a is clearly behind model b. A clear difference is not enough; its sign matters, too.",
            AHEAD, "low > margin or high < -margin,",
        ),
        Mistake(
            "claims accepted unless they are refuted",
            "You accept a claim if the interval leaves it possible. The data support a claim only if every value of the interval agrees with it.",
            code=with_ends("high > margin", "low < margin and high > -margin"),
            also=(with_ends("high > margin"), with_ends(equal="low < margin and high > -margin")),
        ),
        Mistake(
            "margin of \"ahead\" not used",
            "For \"ahead\" you compare the interval with 0. The claim says more: the whole interval must be above the margin.",
            AHEAD, "low > 0,",
        ),
        Mistake(
            "only one end compared for \"equal\"",
            "For \"equal\" you compare only one end of the interval with the margin, so you accept a model that may be much better or much worse. Compare both ends.",
            EQUAL, "high < margin",
            also=(with_ends(equal="low > -margin"), with_ends(equal="abs(low) < margin")),
        ),
        Mistake(
            "\"equal\" rejected where the interval does not contain 0",
            "You reject \"equal\" where the interval does not contain 0. A difference may be clear and nevertheless smaller than the margin.",
            EQUAL, "low > -margin and high < margin and low <= 0 <= high",
        ),
        Mistake(
            "margin used for \"unclear\"",
            "Your \"unclear\" depends on the margin. This claim is only about 0: the interval contains 0, or it does not.",
            UNCLEAR, "low <= margin and high >= -margin",
            also=(with_ends(unclear="low <= margin <= high"), with_ends(unclear="low > -margin and high < margin")),
        ),
        Mistake(
            "\"unclear\" accepted for a clear difference",
            "You accept \"unclear\" where the interval does not contain 0, and reject it where the interval does. It is the other way round.",
            UNCLEAR, "low > 0 or high < 0",
        ),
        Mistake(
            "only positive differences clear",
            "You call a difference unclear although model a is clearly behind model b. An interval below 0 does not contain 0 either.",
            UNCLEAR, "low <= 0",
        ),
        Mistake(
            "interval that ends at 0 called clear",
            "An interval that ends at 0 contains 0, so the claim \"unclear\" is supported. (For two models with the same scores, the interval is 0 to 0.)",
            UNCLEAR, "low < 0 < high",
        ),
        Mistake(
            "interval that ends at the margin accepted",
            "You accept a claim although the interval ends exactly at the margin. Such an interval is not above the margin, nor between the margins.",
            code=with_ends("low >= margin", "low >= -margin and high <= margin"),
            also=(with_ends("low >= margin"), with_ends(equal="low >= -margin and high <= margin")),
        ),
        Mistake(
            "supported claims marked instead of unsupported ones",
            "Your answer is the opposite of what is asked for: it is True for the claims that the data support.",
            "verdicts.append(not supported", "verdicts.append(supported",
        ),
        Mistake(
            "positions instead of True and False",
            "Your answer is a list of positions. Return True or False for each claim.",
            "torch.tensor(verdicts)", "torch.tensor(verdicts).nonzero().flatten()",
        ),
        Mistake(
            "level fixed at 95 %",
            "Your answer does not depend on the level, which is an argument.",
            PAIRED, "bootstrap_interval(scores[a] - scores[b], draws, 0.95)",
        ),
    ),
    alternatives={
        "all intervals at once, conditions as tensors": """
def unsupported(scores, claims, draws, level):
    a, says, b, margin = zip(*claims)
    means = scores[:, draws].mean(dim=-1)
    gaps = means[list(a)] - means[list(b)]
    low, high = gaps.quantile(torch.tensor([(1 - level) / 2, (1 + level) / 2]), dim=-1)
    margin = torch.tensor(margin)
    ahead, equal, unclear = low > margin, (low > -margin) & (high < margin), (low <= 0) & (high >= 0)
    kind = torch.tensor([("ahead", "equal", "unclear").index(one) for one in says])
    return ~torch.stack([ahead, equal, unclear]).gather(0, kind[None])[0]
""",
        "numpy, and a list of truth values": """
import numpy as np
def unsupported(scores, claims, draws, level):
    scores, draws, out = np.asarray(scores, np.float64), np.asarray(draws), []
    for a, says, b, margin in claims:
        gaps = scores[a][draws].mean(axis=1) - scores[b][draws].mean(axis=1)
        low, high = np.percentile(gaps, [50 - 50 * level, 50 + 50 * level])
        if says == "ahead":
            out.append(bool(low <= margin))
        elif says == "equal":
            out.append(bool(max(abs(low), abs(high)) >= margin))
        else:
            out.append(bool(low > 0 or high < 0))
    return out
""",
    },
    hints=(
        "An interval contains all differences that other items might well have shown. Which of these differences agree with the claim?",
        "scores[a] - scores[b] has shape (n,) and has one interval with two ends. The answer has shape (claims,) and contains True or False.",
        "for each claim:\n    low, high = the interval of the scores of a minus those of b\n    ahead: is low above the margin?\n"
        "    equal: are both ends between −margin and margin?\n    unclear: is 0 between low and high?\n    True if the answer is no",
        "A near miss: accepting \"equal\" because the interval contains 0. An interval from −0.2 to 0.2 contains 0, and does not show that the models differ by less than 0.05.",
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ find the bug


def gathered_cases(draw: Draw) -> Iterator[Case]:
    for machines, items, senses in ((4, 41, 7), (3, 50, 9), (8, 67, 5), (5, 45, 11), (9, 6, 13)):
        answers = draw.integers(0, senses, items)
        each = -(-items // machines)
        padded = np.concatenate([answers, answers[: each * machines - items]])
        yield {"gathered": padded.reshape(each, machines).T.copy(), "items": items}


IN_ORDER = "gathered.T.flatten()[:items]"

mended_answers = Exercise(
    cases=gathered_cases,
    mends=True,
    rule=Rule("equal", axes={"": "items"}),
    mistakes=(
        Mistake(
            "answers in the order of the machines",
            "You return the right number of answers, but in the order of the machines. The second item was assigned to the second machine. (Reshaping does not swap axes.)",
            IN_ORDER, "gathered.flatten()[:items]",
        ),  # reshape(rounds, machines) gives the same result, because it does not exchange axes
        Mistake(
            "repeated items kept",
            "You return more answers than there are items. Drop the repetitions at the end.",
            IN_ORDER, "gathered.T.flatten()",
        ),
        Mistake(
            "first answers removed instead of repetitions",
            "The repetitions are at the end of the last round; you remove the first answers instead and keep the repetitions.",
            IN_ORDER, "gathered.T.flatten()[-items:]",
        ),
        Mistake(
            "last round dropped",
            "Some items are missing at the end. Only some of the items assigned in the last round are repetitions: keep the others.",
            IN_ORDER, "gathered[:, :-1].T.flatten()",
            also=("""
def mended_answers(gathered, items):
    return gathered[:, : items // len(gathered)].T.flatten()
""",),
        ),
        Mistake(
            "items assumed to be assigned in blocks",
            "You concatenate the machines' answers. But the items were assigned in turn: item 0 to the first machine, item 1 to the second, and so on.",
            code="""
def mended_answers(gathered, items):
    machines = len(gathered)
    return torch.cat([row[: items // machines + (m < items % machines)] for m, row in enumerate(gathered)])
""",
        ),
        Mistake(
            "equal answers treated as repetitions",
            "You keep each distinct answer once, but two items may well have the same answer.",
            IN_ORDER, "gathered.T.flatten().unique()",
            also=("""
def mended_answers(gathered, items):
    return torch.tensor(list(dict.fromkeys(gathered.T.flatten().tolist())))
""",),
        ),
    ),
    alternatives={
        "item by item": """
def mended_answers(gathered, items):
    machines = len(gathered)
    return torch.stack([gathered[i % machines, i // machines] for i in range(items)])
""",
        "places computed": """
def mended_answers(gathered, items):
    where = torch.arange(items)
    return gathered[where % gathered.shape[0], where.div(gathered.shape[0], rounding_mode="floor")]
""",
    },
    hints=(
        "Deal the cards 0, 1, 2, 3, 4 to two players in turn, then a copy of card 0, so that both have three. Who has which cards? Collect the cards "
        "again in order.",
        "gathered has shape (machines, rounds): item 0 is gathered[0, 0], item 1 is gathered[1, 0]. The output has shape (items,).",
        "for each round: for each machine: the next answer\nstop after `items` answers",
        "A near miss: flattening goes through all answers of one machine first.",
    ),
)

# ------------------------------------------------------------------------------------------ path_lengths

ARCHITECTURES = ("recurrent", "elmo", "encoder", "decoder")


def length_cases(draw: Draw) -> Iterator[Case]:
    for architecture in ARCHITECTURES:
        for T in draw.rng.choice(np.arange(3, 13), 2, replace=False):
            layers = int(draw.rng.choice([n for n in range(2, 9) if n != T]))
            yield {"ids": np.arange(T), "architecture": architecture, "layers": layers}


FARTHER = 'if architecture in ("recurrent", "elmo"):'
BLIND = 'if architecture in ("recurrent", "decoder"):'

path_lengths = Exercise(
    cases=length_cases,
    rule=Rule("equal", axes={"": "output input"}),
    mistakes=(
        Mistake(
            "outputs and inputs swapped",
            "In your answer, recurrent and decoder outputs depend on later words, not on earlier ones. Rows should be outputs, and columns should be inputs.",
            "apart < 0", "apart > 0",
        ),
        Mistake(
            "layers not counted",
            "Your lengths do not depend on the number of layers. A path needs at least one cell in each layer.",
            "torch.full((T, T), layers)", "torch.ones(T, T, dtype=torch.long)",
        ),
        Mistake(
            "distance counted in every layer",
            "Your recurrent paths are too long, because a path covers the distance only once, not in every layer.",
            "lengths + apart.abs()", "lengths * (apart.abs() + 1)",
        ),
        Mistake(
            "ELMo in one direction only",
            "Your ELMo reads in only one direction. Its second stack, which reads from right to left, is missing.",
            BLIND, 'if architecture in ("recurrent", "decoder", "elmo"):',
        ),
        Mistake(
            "decoder without a causal mask",
            "Your decoder's outputs depend on later words, but a causal mask should prevent this.",
            BLIND, 'if architecture == "recurrent":',
        ),
        Mistake(
            "distance counted with attention",
            "With attention, all words are equally near, but your lengths grow with the distance.",
            FARTHER, "if True:",
            also=("""
def path_lengths(architecture, T, layers):
    apart = torch.arange(T)[:, None] - torch.arange(T)
    lengths = torch.full((T, T), layers)
    if architecture != "encoder":
        lengths = lengths + apart.abs()
    if architecture in ("recurrent", "decoder"):
        lengths = lengths.masked_fill(apart < 0, 0)
    return lengths
""",),
        ),
        Mistake(
            "maximum of layers and distance",
            "Your recurrent paths are too short. Each step leads one word to the right or one layer up, never both at once.",
            "lengths = lengths + apart.abs()", "lengths = torch.maximum(lengths, apart.abs() + 1)",
        ),
        Mistake(
            "attention paths of one cell",
            "With attention, your paths have only one cell, however many layers there are. Even the shortest path passes through "
            "one cell per layer.",
            "torch.full((T, T), layers)", 'torch.full((T, T), layers if architecture in ("recurrent", "elmo") else 1)',
        ),
        Mistake(
            "one layer too few",
            "All your lengths are one too small. Count the cells on the path, not the steps between them. The path from a word to its own output has one cell per layer.",
            "torch.full((T, T), layers)", "torch.full((T, T), layers - 1)",
        ),
        Mistake(
            "−1 where there is no path",
            "Your entries are −1 where there is no path, but the docstring asks for 0.",
            "apart < 0, 0)", "apart < 0, -1)",
        ),
        Mistake(
            "ELMo's stacks in series",
            "Your ELMo has twice as many layers as it should. ELMo's two stacks run side by side, so a path from one word to another leads through only one of them.",
            "torch.full((T, T), layers)", 'torch.full((T, T), 2 * layers if architecture == "elmo" else layers)',
        ),
        Mistake(
            "diagonal masked",
            "Your diagonal is 0, as if an output did not depend on its own input.",
            "apart < 0", "apart <= 0",
            also=("""
def path_lengths(architecture, T, layers):
    apart = torch.arange(T)[:, None] - torch.arange(T)
    lengths = torch.full((T, T), layers)
    if architecture in ("recurrent", "elmo"):
        lengths = lengths + apart.abs()
    if architecture in ("recurrent", "decoder"):
        lengths = lengths.masked_fill(apart < 0, 0)
    return lengths if architecture == "encoder" else lengths.fill_diagonal_(0)
""",),
        ),
        Mistake(
            "one step too many",
            "The path from a word to its own output passes through each layer once. Count the cells, not the arrows in and out.",
            "torch.full((T, T), layers)", "torch.full((T, T), layers + 1)",
        ),
    ),
    alternatives={
        "two loops": """
def path_lengths(architecture, T, layers):
    lengths = torch.zeros(T, T, dtype=torch.long)
    for i in range(T):
        for j in range(T):
            if j > i and architecture in ("recurrent", "decoder"):
                continue
            lengths[i, j] = layers + (abs(i - j) if architecture in ("recurrent", "elmo") else 0)
    return lengths
""",
        "numpy": """
import numpy as np
def path_lengths(architecture, T, layers):
    distance = np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    lengths = layers + distance * (architecture in ("recurrent", "elmo"))
    return np.tril(lengths) if architecture in ("recurrent", "decoder") else lengths
""",
    },
    hints=(
        "Draw two layers over four words, once with arrows from state to state, once with arrows from every word to every "
        "word. How does word 1 reach output 4?",
        "The result has shape (T, T) and contains integers. Row i is the output at word i, column j the input at word j. An entry is 0 where there is no path.",
        "each layer costs 1\nwhere a state is passed on from word to word, each word of distance costs 1 more\nwhere later words "
        "are masked, there is no path from them",
        "A near miss: distance times layers. A path has to cover the distance only once, not in each layer.",
    ),
)

# ------------------------------------------------------------------------------------------ neighbour_posterior


def posterior_cases(draw: Draw) -> Iterator[Case]:
    for asked, known, D, S, temperature in ((4, 17, 5, 3, 0.4), (6, 25, 8, 4, 0.25), (3, 20, 4, 7, 1.5)):
        senses = np.concatenate([np.arange(S), draw.rng.choice(S, known - S, p=np.arange(1, S + 1) / (S * (S + 1) / 2))])
        same = draw.uniform(asked, known) < 0.6
        same[:, :2] = True
        yield {
            "asked": draw.normal(asked, D) * draw.uniform(asked, 1, low=0.5, high=3.0),
            "known": draw.normal(known, D) * draw.uniform(known, 1, low=0.5, high=3.0),
            "known_senses": senses,
            "same_word": same,
            "temperature": temperature,
            "S": S,
        }  # fmt: skip
    # At the temperature of the notebook, exp of the quotients overflows. Three senses, including the last, do not occur.
    middle = 4 * unit(draw.normal(6))
    sides = [middle + draw.normal(count, 6, scale=0.4) for count in (5, 22)]
    same = draw.uniform(5, 22) < 0.6
    same[:, :4] = True
    yield {
        "asked": sides[0],
        "known": sides[1],
        "known_senses": draw.rng.permutation(np.arange(22) % 3 * 2),
        "same_word": same,
        "temperature": 0.01,
        "S": 6,
    }
    # The first row is opposite to its own word, with scores near −100; other words have scores near 100.
    middle = unit(draw.normal(5))
    senses = np.concatenate([draw.rng.permutation(np.arange(5) % 3), draw.integers(0, 4, 9)])
    same = draw.uniform(4, 14) < 0.6
    same[0], same[:, 5] = np.arange(14) < 5, np.arange(4) > 0
    sides = [middle + draw.uniform(count, 5, low=-0.1, high=0.1) for count in (4, 14)]
    sides[0][0] = middle
    sides[1][:5] *= -1
    yield {
        "asked": sides[0],
        "known": sides[1],
        "known_senses": senses,
        "same_word": same,
        "temperature": 0.01,
        "S": 4,
    }


COSINES = "normalize(asked, dim=-1) @ normalize(known, dim=-1).T"
WEIGHTS = "(cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=-1)"
TAKEN_OFF = """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    scores = normalize(asked, dim=-1) @ normalize(known, dim=-1).T / temperature
    weights = (scores - LARGEST).exp() * same_word
    weights = weights / weights.sum(dim=-1, keepdim=True)
    posterior = weights @ one_hot(known_senses, S).float()
    return posterior
"""

neighbour_posterior = Exercise(
    cases=posterior_cases,
    rule=Rule(axes={"": "asked sense"}),
    mistakes=(
        Mistake(
            "multiplied by the temperature",
            "In your answer, a low temperature makes the posterior flatter, but it should make the posterior sharper.",
            "cosines / temperature", "cosines * temperature",
        ),
        Mistake(
            "temperature not used",
            "Your posterior does not depend on the temperature. Divide the cosines by the temperature.",
            "cosines / temperature", "cosines",
        ),
        Mistake(
            "neighbours of other words",
            "In your answer, occurrences of other words have some weight, but their weight should be 0.",
            ".masked_fill(~same_word, -torch.inf)", "",
        ),
        Mistake(
            "nearest neighbour only",
            "Each of your rows has a single 1, because only the nearest occurrence counts. All occurrences of the same word should "
            "have a weight, and nearer ones a larger weight.",
            WEIGHTS, "one_hot(cosines.masked_fill(~same_word, -torch.inf).argmax(dim=-1), len(known)).float()",
        ),
        Mistake(
            "cosine 0 for other words",
            "You give other words a cosine of 0, which has some weight in a softmax. Only a score of minus infinity has a "
            "weight of 0.",
            WEIGHTS, "(cosines * same_word / temperature).softmax(dim=-1)",
        ),
        Mistake(
            "overflow of exp in float32",
            "At a low temperature your answer contains NaN, because the exponential of a number above 88 is infinite in float32. Subtract each row's largest "
            "score first, or call softmax.",
            WEIGHTS, "torch.nn.functional.normalize((cosines / temperature).exp() * same_word, p=1, dim=-1)",
        ),
        Mistake(
            "maximum taken before masking",
            "Where all occurrences of the same word have low cosines, your row is NaN or 0 at a low temperature. You subtract the score of another word, which is so much larger that every exp underflows. Mask other words first, then subtract each row's largest score.",
            code=TAKEN_OFF.replace("LARGEST", "scores.amax(dim=-1, keepdim=True)"),
            also=(
                TAKEN_OFF.replace("LARGEST", "scores.max()"),
                TAKEN_OFF.replace("LARGEST", "scores.amax(dim=-1, keepdim=True)").replace("posterior = ", "weights = weights.nan_to_num()\n    posterior = "),
            ),
        ),
        Mistake(
            "other words masked with a finite score",
            "Other words have some weight where all cosines of the same word are near −1: at temperature 0.01 these scores are near −100. "
            "Only a score of minus infinity gives a weight of 0.",
            "-torch.inf", "-100.0",
        ),
        Mistake(
            "number of senses taken from the labels",
            "Your last columns are missing where no labelled sentence has those senses. Your answer should have S columns.",
            "one_hot(known_senses, S)", "one_hot(known_senses)",
        ),
        Mistake(
            "softmax over the senses",
            "You add up the cosines of each sense and then take the softmax over senses. Take the softmax over labelled "
            "occurrences, then add up their weights.",
            code="""
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    return (cosines * same_word @ one_hot(known_senses, S).float() / temperature).softmax(dim=-1)
""",
        ),
        Mistake(
            "mask applied after the softmax",
            "Your rows sum to less than 1, because other words received weight in the softmax before you masked them.",
            WEIGHTS, "(cosines / temperature).softmax(dim=-1) * same_word",
        ),
        Mistake(
            "softmax over the wrong axis",
            "Your rows do not sum to 1, because the held-out words compete with one another for a labelled sentence.",
            "softmax(dim=-1)", "softmax(dim=0)",
            also=("""
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=0).nan_to_num()
    return weights @ one_hot(known_senses, S).float()
""",),
        ),
        Mistake(
            "dot products instead of cosines",
            "In your answer, longer vectors have more weight, but a cosine does not depend on length.",
            COSINES, "asked @ known.T",
        ),
        Mistake(
            "equal weight for every neighbour",
            "Your posterior is the proportion of each sense among the word's labelled sentences, whether near or far.",
            WEIGHTS, "same_word / same_word.sum(dim=-1, keepdim=True)",
        ),
        Mistake(
            "mean weight of each sense",
            "In your answer, a frequent sense has no advantage, because you average the weights of its occurrences. Add them up instead.",
            "return weights @ one_hot(known_senses, S).float()",
            "votes = weights @ one_hot(known_senses, S).float()\n"
            "    votes = votes / (same_word.float() @ one_hot(known_senses, S).float()).clamp(min=1)\n"
            "    return votes / votes.sum(dim=-1, keepdim=True)",
            also=("""
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=-1)
    member = one_hot(known_senses, S).float()
    return weights @ member / member.sum(dim=0).clamp(min=1)
""",),
        ),
    ),
    alternatives={
        "PyTorch's attention": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    q, k = normalize(asked, dim=-1), normalize(known, dim=-1)
    values = one_hot(known_senses, S).to(q.dtype)
    return torch.nn.functional.scaled_dot_product_attention(
        q[None], k[None], values[None], attn_mask=same_word[None], scale=1 / temperature)[0]
""",
        "row by row, exponentials in float64": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    out = torch.zeros(len(asked), S, dtype=torch.double)
    for i in range(len(asked)):
        for j in torch.nonzero(same_word[i]).flatten():
            cosine = torch.cosine_similarity(asked[i].double(), known[j].double(), dim=0)
            out[i, known_senses[j]] += (cosine / temperature).exp()
    return out / out.sum(-1, keepdim=True)
""",
    },
    survivors={
        "@ normalize(known).T`": "the axis is the default",
        "→ `cosines = normalize(asked) @": "the axis is the default",
    },
    hints=(
        "This is the attention of notebook 02. What is the query, what are the keys, and which values make the output a "
        "distribution over senses?",
        "The cosines and the weights have shape (asked, known). The values have shape (known, S), with one 1 in each row. The output has shape (asked, S); each row sums to 1.",
        "cosines, divided by the temperature\nmask the sentences of other words\nsoftmax over the labelled sentences\nadd up the "
        "weights of each sense",
        "A near miss: multiplying the weights by the mask after the softmax, without dividing by their new sum.",
    ),
)

# ------------------------------------------------------------------------------------------ explain


def sentence_cases(draw: Draw) -> Iterator[Case]:
    for K, T, S in ((14, 5, 3), (20, 7, 4), (11, 4, 2)):
        senses = np.concatenate([np.arange(S), draw.integers(-1, S, K - S)])
        senses = draw.rng.permutation(senses)
        senses[: 2 * S] = np.repeat(np.arange(S), 2)
        senses[-1] = -1
        log_words = draw.normal(K, T, scale=1.2) - 2
        impossible = draw.uniform(K, T) < 0.12
        impossible[: 2 * S] = impossible[-1] = False
        log_words[impossible] = -np.inf
        yield {"log_prior": draw.normal(K) - 3, "log_words": log_words, "senses": senses, "S": S}
    # A long sentence, whose probabilities are too small for float32, and one that the language cannot generate.
    senses = np.array([0, 1, -1, 1, 2, 0, 2, -1])
    yield {"log_prior": draw.normal(8) - 120, "log_words": draw.normal(8, 6) - 30, "senses": senses, "S": 3}
    log_words = draw.normal(8, 3) - 2
    log_words[senses >= 0, 1] = -np.inf
    yield {"log_prior": draw.normal(8) - 2, "log_words": log_words, "senses": senses, "S": 3}
    # Senses of other words have no template here; a template without a sense is far more probable than all those that count.
    senses = np.array([3, 1, -1, 1, 3, 3, -1])
    log_prior = draw.normal(7) - 200 * np.float32(senses >= 0)
    yield {"log_prior": log_prior, "log_words": draw.normal(7, 4), "senses": senses, "S": 6}


RUNNING = "torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)"
BY_SENSE = "running[senses == s].logsumexp(dim=0)"

explain = Exercise(
    cases=sentence_cases,
    rule=Rule(axes={"": "read sense"}),
    mistakes=(
        Mistake(
            "prior not used",
            "Your first row does not depend on log_prior, so all templates have the same weight before a word is read.",
            "torch.cat([log_prior[:, None], log_words]", "torch.cat([0 * log_prior[:, None], log_words]",
        ),
        Mistake(
            "each word on its own",
            "Your rows ignore the earlier words. Each row is the posterior after a single word, as if the others had not been read.",
            ".cumsum(dim=1)", "",
            also=("""
def explain(log_prior, log_words, senses, S):
    scores = torch.cat([log_prior[:, None], log_prior[:, None] + log_words], dim=1)
    by_sense = torch.stack([scores[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    return by_sense.softmax(dim=-1).nan_to_num()
""",),
        ),
        Mistake(
            "probabilities instead of logarithms",
            "For a long sentence your rows are zero, because products of small probabilities underflow in float32. Use logarithms "
            "until the end.",
            BY_SENSE, "running[senses == s].exp().sum(dim=0).log()",
        ),
        Mistake(
            "best template of each sense",
            "You take each sense's most probable template. Add up the probabilities of all its templates instead.",
            BY_SENSE, "running.masked_fill((senses != s)[:, None], -torch.inf).amax(dim=0)",
            also=("""
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    by_sense = torch.stack([running[senses == s].amax(dim=0) for s in range(S)], dim=-1)
    return by_sense.softmax(dim=-1).nan_to_num()
""",),
        ),
        Mistake(
            "mean over the templates of a sense",
            "In your answer, a sense with many templates has no advantage, because you average their probabilities. Add them up instead.",
            BY_SENSE, "(running[senses == s].logsumexp(dim=0) - (senses == s).sum().clamp(min=1).log())",
        ),
        Mistake(
            "templates without a sense assigned to a sense",
            "One of your senses is too probable. As an index, −1 selects the last column (or the first, if clamped), but here it marks a template without a sense.",
            code="""
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    return (running.softmax(dim=0).nan_to_num().T @ one_hot(senses % S, S).to(running.dtype))
""",
            also=("""
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    return (running.softmax(dim=0).nan_to_num().T @ one_hot(senses.clamp(min=0), S).to(running.dtype))
""",),
        ),
        Mistake(
            "largest of all templates subtracted",
            "Where a template without a sense is far more probable than all those with one, your rows are zeros or NaN. "
            "Subtract the largest log-probability among the templates that have a sense.",
            "(by_sense - by_sense.logsumexp(dim=-1, keepdim=True)).exp().nan_to_num()",
            "((by_sense - running.amax(dim=0)[:, None]).exp() / (by_sense - running.amax(dim=0)[:, None]).exp().sum(dim=-1, keepdim=True)).nan_to_num()",
            also=("""
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    shares = torch.stack([running.softmax(dim=0).nan_to_num()[senses == s].sum(dim=0) for s in range(S)], dim=-1)
    return shares / shares.sum(dim=-1, keepdim=True)
""",),
        ),
        Mistake(
            "uniform distribution for impossible sentences",
            "Your rows are correct until the sentence becomes impossible in the language, but uniform from then on. The docstring asks for zeros.",
            ".exp().nan_to_num()", ".exp().nan_to_num(nan=1 / S)",
        ),
        Mistake(
            "not normalised",
            "Your rows do not sum to 1, because they contain joint probabilities of senses *and* words.",
            "by_sense - by_sense.logsumexp(dim=-1, keepdim=True)", "by_sense",
        ),
        Mistake(
            "templates without a sense in the normalisation",
            "Your rows sum to less than 1 where some templates have no sense (−1). Leave these templates out of the sum as well.",
            "by_sense.logsumexp(dim=-1, keepdim=True)", "running.logsumexp(dim=0)[:, None]",
        ),
        Mistake(
            "NaN for impossible sentences",
            "Your rows are correct until the sentence becomes impossible in the language, but NaN from then on (−∞ − −∞). The docstring asks for zeros.",
            ".exp().nan_to_num()", ".exp()",
        ),
        Mistake(
            "row before the first word missing",
            "Your row 0 is already the posterior after one word, but it should be the posterior before any word is read.",
            ".exp().nan_to_num()", ".exp().nan_to_num()[1:]",
        ),
    ),
    alternatives={
        "template by template, in float64": """
def explain(log_prior, log_words, senses, S):
    rows = []
    for n in range(log_words.shape[1] + 1):
        total = log_prior.double() + log_words[:, :n].double().sum(dim=1)
        total = total.masked_fill(senses < 0, -torch.inf)
        largest = total.max()
        shares = torch.zeros(S, dtype=torch.double)
        if largest > -torch.inf:
            for k in range(len(senses)):
                if senses[k] >= 0:
                    shares[senses[k]] += (total[k] - largest).exp()
            shares /= shares.sum()
        rows.append(shares)
    return torch.stack(rows)
""",
        "a softmax over templates, then a product": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[None], log_words.T]).cumsum(dim=0)
    running = running.masked_fill(senses < 0, -torch.inf)
    weights = running.softmax(dim=-1).nan_to_num()
    return weights @ one_hot(senses.clamp(min=0), S).float()
""",
    },
    hints=(
        "How probable is each template before a word is read? How does one word change that probability? Which templates can be combined?",
        "After n words there are K log-probabilities, each the joint log-probability of a template and the words. The sums over the templates of each sense have shape (T + 1, S).",
        "running = log prior, plus the log-probability of one word after another\nfor each sense: the log of the sum of its "
        "templates' probabilities\nsubtract the log of the sum over senses\ntake exp; zeros where no template is possible",
        "A near miss: a softmax over all templates includes those without a sense (−1), so the probabilities of the senses sum to less than 1.",
    ),
)

# ------------------------------------------------------------------------------------------ attention_tests


LARGEST_SCORE, RARE = 3.0, 2.5


def input_cases(draw: Draw) -> Iterator[Case]:
    """Normal numbers whose extremes are the same in every draw, so that no fault is exposed by chance.

    The largest score, divided by the root of d, is LARGEST_SCORE, so whether a factor makes it too large
    for exp does not depend on the draw. Each query has one coin value of RARE and one of −RARE, so a threshold between them
    masks some of its keys, but not all.
    """
    for B in draw.rng.choice(np.arange(4, 8), 3, replace=False):
        Tq, Tk, d, dv = draw.rng.choice(np.delete(np.arange(4, 11), B - 4), 4, replace=False)
        queries, keys, coin = draw.normal(B, Tq, d), draw.normal(B, Tk, d), draw.normal(B, Tq, Tk)
        scores = queries @ keys.transpose(0, 2, 1) / np.float32(d**0.5)
        places = draw.rng.random(coin.shape).argsort(axis=-1)[..., :2]
        np.put_along_axis(coin, places, np.float32([RARE, -RARE]), axis=-1)
        yield {
            "queries": queries * np.float32(LARGEST_SCORE) / scores.max(axis=(1, 2), keepdims=True),
            "keys": keys,
            "values": draw.normal(B, Tk, dv),
            "coin": coin,
        }


LARGE = "q *= 1000 "
COIN = "keep = coin.signbit()"
WORST = "mask[:] = (q @ k.T).signbit() "
NOTHING = "keep[0] = False "

attention_tests = Exercise(
    cases=input_cases,
    rule=Rule(
        "exposes",
        faults="coursekit.planted.attention",
        axes={"queries": "B Tq d", "keys": "B Tk d", "values": "B Tk dv", "keep": "B Tq Tk"},
    ),
    unseen=UNSEEN,
    mistakes=(
        Mistake(
            "nothing masked",
            "All your queries may attend to all keys, so code that ignores keep gives the same output.",
            edits={COIN: "keep = torch.ones_like(coin, dtype=torch.bool)", WORST: "", NOTHING: ""},
        ),
        Mistake(
            "no fully masked query",
            "Read the docstring again: what does it promise for a query that may attend to no key at all? Your inputs never "
            "test it.",
            NOTHING, "keep[..., 0] = True ",
        ),
        Mistake(
            "no large scores",
            "All your scores are so small that exp does not overflow. What happens in float32 when a score exceeds 88?",
            LARGE, "q *= 1.1 ",
        ),
        Mistake(
            "scores too close to 0",
            "All your scores are so small that every key receives nearly the same weight. Code that computes the scores wrongly therefore gives the same output.",
            LARGE, "queries *= 0.0005 ",
        ),
        Mistake(
            "all scores too large",
            "All your scores are so large that the best key receives all the weight. Code that scales the scores wrongly, or ignores the other keys, therefore gives the same output.",
            LARGE, "queries *= 10_000 ",
        ),
        Mistake(
            "one mask for the whole batch",
            "All rows of your batch mask the same keys, so code that applies the first mask to all rows gives the same output.",
            NOTHING, "keep[:] = keep[:1].clone()\n    keep[:, 0] = False ",
        ),
        Mistake(
            "one mask for all queries",
            "In each row of your batch, all queries may attend to the same keys, so code that uses the first query's mask for all queries gives the same output.",
            edits={WORST: "", NOTHING: "keep[:] = keep[:, :1].clone()\n    keep[0] = False "},
        ),
        Mistake(
            "same value at every key",
            "Within a row, all your values are equal, but a weighted mean of equal numbers is the same for all weights.",
            "return {", "values[:] = values[:, :1].clone()\n    return {",
        ),
        Mistake(
            "differences lost in rounding",
            "Your keys are far from 0 and close to one another. In float32, the scores lose the digits in which they differ, so that correct implementations disagree. These are false alarms.",
            LARGE, "keys += 300_000\n    q *= 1000 ",
        ),
    ),
    alternatives={
        "a generator of one's own": """
def attention_tests(queries, keys, values, coin):
    B, Tq, Tk = coin.shape
    torch.manual_seed(7)
    q, k, v = torch.randn(queries.shape), torch.randn(keys.shape), torch.rand(values.shape) - 0.5
    keep = torch.rand(B, Tq, Tk) < 0.6
    q[1] = q[1] * 3000
    keep[1] = (q[1] @ k[1].T) < 0
    keep[2, 1] = False
    keep[0, 0] = torch.arange(Tk) % 2 == 0
    return {"queries": q, "keys": k, "values": v, "keep": keep}
""",
        "numpy in float64, keep as 0 and 1": """
import numpy as np
def attention_tests(queries, keys, values, coin):
    q, k, v = (np.array(x, dtype=np.float64) for x in (queries, keys, values))
    keep = (np.array(coin) > -0.3).astype(np.int64)
    q[0] *= 2000
    keep[0] = q[0] @ k[0].T < np.median(q[0] @ k[0].T)
    keep[-1, -1] = 0
    return {"queries": q, "keys": k, "values": v, "keep": keep}
""",
    },
    survivors={
        "→ `mask[:] = q @ k.T`": "other keys are masked, and the inputs expose the same faults",
        "→ `queries, keys, values = (queries.clone(), keys, values.clone())`": "the keys are not written to",
        "→ `queries, keys, values = (queries.clone(), keys.clone(), values)`": "the values are not written to",
        "q *= 1001": "the exact factor does not matter",
        "q *= 999": "the exact factor does not matter",
        "keep[1] = False": "another row of the batch has all keys masked",
        "keep[-1] = False": "all keys are masked in the row of large scores, and exp overflows there all the same",
    },
    hints=(
        "Take one fault: the mask is ignored. For which inputs does this fault change the output, and for which does it not? Now take the "
        "next fault.",
        "Return four arrays of the given shapes. Each row of the batch is a test of its own, and so is each query, so they can have "
        "different purposes.",
        "most rows: ordinary numbers and a random mask, a different one for each query\none row: scores far beyond 88, of both "
        "signs\none query: every key masked",
        "A near miss: huge numbers everywhere. Such numbers expose an overflow in exp but hide every fault in the scaling, because the best key receives all the weight anyway. Use ordinary numbers in most rows.",
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ calibration


def calibration_cases(draw: Draw) -> Iterator[Case]:
    """Each case has an empty bin (once the last one), a bin with a single answer, and confidences of exactly 0, 1 and bin ends."""
    for items, bins, ends in ((60, 4, (0.25, 0.5)), (83, 7, ()), (45, 10, (0.5,)), (38, 8, (0.375, 0.625, 0.875))):
        empty, single = {4: (1, 0), 7: (6, 1)}.get(bins, (2, 1))
        most = [b for b in range(bins) if b not in (empty, single)]
        which = np.concatenate([most, [single], draw.rng.choice(most, items - len(most) - 1)])
        # Well inside its bin, so that rounding decides nothing.
        confidence = ((which + draw.uniform(items, low=0.1, high=0.9)) / bins).astype(np.float32)
        ends = [end for end in ends if int(end * bins) in most]
        exact = [0] if empty == bins - 1 else [1]
        exact += [1 if single == 0 else 0, *ends, *ends]
        confidence[len(most) + 1 :][: len(exact)] = exact
        # Underconfident in the lower half, overconfident in the upper one.
        right = (draw.uniform(items) < np.where(confidence < 0.5, 0.8, 0.4)).astype(np.float32)
        yield {"confidence": confidence, "right": right, "bins": bins}


WHICH = "(confidence * bins).long().clamp(max=bins - 1)"
SHARES = "member @ x / count.clamp(min=1)"
ERROR = "(count * (said - found).abs()).sum() / count.sum()"
BIN_BY_BIN = """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    for b in range(bins):
        inside = INSIDE
        count[b] = inside.sum()
        if inside.any():
            said[b], found[b] = confidence[inside].mean(), right[inside].mean()
    error = (count * (said - found).abs()).sum() / len(confidence)
    return {"said": said, "found": found, "count": count, "error": error}
"""

calibration = Exercise(
    cases=calibration_cases,
    rule=Rule(axes={"said": "bins", "found": "bins", "count": "bins"}),
    mistakes=(
        Mistake(
            "empty last bins missing",
            "Where the last bins are empty, they are missing from your answer. State the number of bins: `one_hot(which, bins)` or "
            "`bincount(which, minlength=bins)`.",
            "one_hot(which, bins)", "one_hot(which)",
        ),
        Mistake(
            "confidence 1 outside the last bin",
            "You lose a confidence of exactly 1 or assign it to an additional bin. It belongs to the last bin.",
            edits={
                WHICH: "(confidence * bins).long()",
                "one_hot(which, bins)": "one_hot(which, bins + 1)[:, :bins]",
            },
        ),
        Mistake(
            "upper end included in a bin",
            "A confidence exactly on the boundary of two bins belongs to the upper bin, and 0 to the first.",
            WHICH, "((confidence * bins).ceil().long() - 1).clamp(min=0)",
            also=(BIN_BY_BIN.replace("INSIDE", "(confidence > b / bins) & (confidence <= (b + 1) / bins)"),),
        ),
        Mistake(
            "bins between lowest and highest confidence",
            "Your bins divide the range of the confidences that occur. They should divide the range from 0 to 1, whichever confidences occur.",
            code="""
def calibration(confidence, right, bins):
    low, high = confidence.min(), confidence.max()
    which = ((confidence - low) / (high - low) * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said, found = (member @ x / count.clamp(min=1) for x in (confidence, right))
    return {"said": said, "found": found, "count": count, "error": (count * (said - found).abs()).sum() / count.sum()}
""",
        ),
        Mistake(
            "equally many answers in each bin",
            "Your bins contain equally many answers. Here, bins should have equal width and may contain many answers or none.",
            code="""
def calibration(confidence, right, bins):
    parts = confidence.argsort().tensor_split(bins)
    said, found = (torch.stack([x[part].mean() for part in parts]) for x in (confidence, right))
    count = torch.tensor([len(part) for part in parts]).float()
    return {"said": said, "found": found, "count": count, "error": (count * (said - found).abs()).sum() / count.sum()}
""",
        ),
        Mistake(
            "proportions instead of counts",
            "Your \"said\", \"found\" and \"error\" are correct. Your \"count\" is a proportion, not the number of answers in a bin.",
            '"count": count,', '"count": count / count.sum(),',
        ),
        Mistake(
            "rounded to the nearest bin",
            "Your bins are shifted by half a width, so answers in the upper half of a bin are counted in the next bin.",
            WHICH, "(confidence * bins).round().long().clamp(max=bins - 1)",
        ),
        Mistake(
            "sums instead of means",
            "Your \"said\" or \"found\" is a sum over the answers in a bin, so it grows with their number.",
            SHARES, "member @ x",
            also=("""
def calibration(confidence, right, bins):
    member = one_hot((confidence * bins).long().clamp(max=bins - 1), bins).T.float()
    count, found = member.sum(dim=1), member @ right
    said = member @ confidence / count.clamp(min=1)
    return {"said": said, "found": found, "count": count, "error": (count * (said - found).abs()).sum() / count.sum()}
""",),
        ),
        Mistake(
            "equal weight for every bin",
            "Your error is a mean over bins, so a bin of two answers counts as much as one of twenty.",
            ERROR, "(said - found).abs().mean()",
            also=("""
def calibration(confidence, right, bins):
    member = one_hot((confidence * bins).long().clamp(max=bins - 1), bins).T.float()
    count = member.sum(dim=1)
    said, found = (member @ x / count.clamp(min=1) for x in (confidence, right))
    return {"said": said, "found": found, "count": count, "error": (said - found).abs()[count > 0].mean()}
""",),
        ),
        Mistake(
            "largest gap instead of the mean",
            "Your error is the largest gap of all bins. It should be the mean gap, with each bin weighted by its number of answers.",
            ERROR, "(said - found).abs().max()",
        ),
        Mistake(
            "absolute value missing",
            "In your error, overconfident and underconfident bins cancel.",
            "(said - found).abs()", "(said - found)",
        ),
        Mistake(
            "squared differences",
            "You square the differences, but the expected calibration error uses absolute values.",
            "(said - found).abs()", "(said - found).square()",
        ),
        Mistake(
            "NaN in empty bins",
            "For an empty bin you compute 0/0, but the docstring asks for 0.",
            SHARES, "member @ x / count",
            also=("""
def calibration(confidence, right, bins):
    member = one_hot((confidence * bins).long().clamp(max=bins - 1), bins).T.float()
    count = member.sum(dim=1)
    said, found = (member @ x / count for x in (confidence, right))
    error = (count * (said - found).abs()).nansum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",),
        ),
        Mistake(
            "midpoint of the bin instead of the mean confidence",
            "Your \"said\" is the midpoint of each bin, but it should be the mean of the confidences in the bin.",
            edits={
                "said, found = (": "found = [",
                "for x in (confidence, right))": "for x in (confidence, right)][1]\n    said = (torch.arange(bins) + 0.5) / bins * (count > 0)",
            },
        ),
    ),
    alternatives={
        "bin by bin": """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        inside = (confidence * bins >= b) & ((confidence * bins < b + 1) | (b == bins - 1))
        count[b] = inside.sum()
        if inside.any():
            said[b], found[b] = confidence[inside].mean(), right[inside].mean()
    error = sum(count[b] / len(right) * abs(said[b] - found[b]) for b in range(bins))
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "bincount in float64": """
def calibration(confidence, right, bins):
    which = torch.floor(confidence * bins).long()
    which[which == bins] = bins - 1
    count = which.bincount(minlength=bins).double()
    said, found = (which.bincount(x.double(), bins) / count.clamp(min=1) for x in (confidence, right))
    return {"said": said, "found": found, "count": count, "error": (count / len(right)) @ (said - found).abs()}
""",
    },
    hints=(
        "Of all answers that were given with a confidence of about 0.8, what proportion should be correct?",
        "Each answer belongs to one of `bins` bins of equal width. Each bin has two means and a count; the error is one number for all "
        "bins.",
        "bin of an answer = its confidence times bins, rounded down; 1.0 belongs to the last\nmean confidence, mean of right, "
        "count\nerror = mean over answers of |mean confidence − mean of right| in their bins",
        "A near miss: the mean over bins. This mean gives a bin with two answers as much weight as one with two hundred.",
    ),
)
