"""11 Sentences: inputs, known mistakes, right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ rank correlation


def rank_cases(draw: Draw) -> Iterator[Case]:
    """Cosines and grades with ties of different sizes; in the last two cases both lists have ties. One correlation is negative."""
    for often, also, sign in (
        ((1, 4, 2, 2), (), 1),
        ((2, 1, 5, 3, 3), (), -1),
        ((2, 6, 4), (1, 3, 5, 1, 2), 1),
        ((3, 1, 4, 2, 1, 6), (5, 2, 6, 4), 1),
    ):
        n = sum(often)
        a = np.arange(n) / 4 + draw.uniform(n, high=0.125)  # all different, in the order of their ranks
        b = np.repeat(np.arange(len(often)), often)
        if also:
            a = np.repeat(draw.uniform(len(also)).cumsum() + np.arange(len(also)), also)
        # A few values are exchanged, so that the two orders agree only partly; the order of the file is random.
        grades, agreement = b, 0.0
        while not 0.3 < agreement < 0.95:
            b = grades.copy()
            for _ in range(3):
                one, other = draw.rng.choice(n, 2, replace=False)
                b[[one, other]] = b[[other, one]]
            agreement = np.corrcoef(mean_ranks(a), mean_ranks(b))[0, 1]
        order = draw.rng.permutation(n)
        a, b = (x[order].astype(np.float32) for x in (a**3, sign * b))
        yield {"a": a, "b": b}


def mean_ranks(x: np.ndarray) -> np.ndarray:
    return (x[:, None] > x).sum(axis=1) + (x[:, None] == x).sum(axis=1) / 2


RANKS, PEARSON = "(below + equal / 2)[place]", "(ra @ rb) / (ra.norm() * rb.norm())"

spearman = Exercise(
    cases=rank_cases,
    mends=True,
    survivors={"equal.cumsum(dim=-1)": "The tensor has a single axis."},
    mistakes=(
        Mistake(
            "argsort used as ranks",
            "Your argsort gives, for each position in the sorted list, the index of the value at that position. A rank is the "
            "inverse: the position of each value in the sorted list. The ranks of 30, 10, 20 are 3, 1, 2.",
            RANKS, "x.argsort().float()",
        ),
        Mistake(
            "argsort applied twice",
            "Your answer would be correct if all values were different. You give equal values, in one list or in both, different ranks, which depend on their order in the file.",
            RANKS, "x.argsort().argsort().float()",
            also=("""
def spearman(a, b):
    ra = (a[:, None] > a).sum(dim=1) + (a[:, None] == a).sum(dim=1) / 2
    return torch.corrcoef(torch.stack([ra, b.argsort().argsort().float()]))[0, 1]
""",),
        ),
        Mistake(
            "smallest rank for tied values",
            "Equal values get equal ranks in your answer, but these ranks are too small: each value should get the mean of the "
            "ranks that the equal values occupy together.",
            RANKS, "below[place].float()",
        ),
        Mistake(
            "largest rank for tied values",
            "Equal values get equal ranks in your answer, but these ranks are too large: each value should get the mean of the "
            "ranks that the equal values occupy together.",
            RANKS, "(below + equal)[place].float()",
        ),
        Mistake(
            "tied values counted as one",
            "After a group of equal values, your next rank is only one higher, however large the group is. Three equal values "
            "occupy three ranks.",
            RANKS, "x.unique(return_inverse=True)[1].float()",
        ),
        Mistake(
            "values instead of ranks",
            "You compute Pearson's correlation of the values themselves. This correlation changes when a model's cosines are compressed, "
            "although their order stays the same. Use the ranks of the values.",
            RANKS, "x",
        ),
        Mistake(
            "only the first list ranked",
            "Your result changes when the values of the second list are compressed, although their order stays the same: convert this list to ranks as well.",
            "ranks(a), ranks(b)", "ranks(a), b",
        ),
        Mistake(
            "short formula despite ties",
            "The formula 1 − 6Σd²/(n(n²−1)) holds only if no two values are equal: ties make the variance of the ranks "
            "smaller.",
            PEARSON, "1 - 6 * (ra - rb).square().sum() / (len(a) * (len(a) ** 2 - 1))",
        ),
        Mistake(
            "means not subtracted",
            "Your results are too close to 1, because two vectors of positive ranks always point in similar directions. What "
            "must be subtracted from the ranks first?",
            "ra, rb = ra - ra.mean(), rb - rb.mean()", "pass",
            also=("""
def spearman(a, b):
    ra, rb = ((x[:, None] > x).sum(dim=1) + ((x[:, None] == x).sum(dim=1) + 1) / 2 for x in (a, b))
    return torch.cosine_similarity(ra, rb, dim=0)
""",),
        ),
        Mistake(
            "Kendall's correlation",
            "You compute Kendall's correlation, which compares the order of every pair of values in the two lists. Compute "
            "Pearson's correlation of the ranks instead.",
            code="""
def spearman(a, b):
    up, right = ((x[:, None] - x).sign() for x in (a, b))
    return (up * right).sum() / (up.square().sum() * right.square().sum()).sqrt()
""",
        ),
        Mistake(
            "covariance instead of correlation",
            "Your results can lie outside the range from −1 to 1: divide by the standard deviations of both lists.",
            PEARSON, "(ra @ rb) / len(a)",
        ),
    ),
    alternatives={
        "scipy": """
from scipy.stats import spearmanr
def spearman(a, b):
    return float(spearmanr(a.numpy(), b.numpy()).statistic)
""",
        "mean ranks of pandas": """
import pandas as pd
def spearman(a, b):
    return pd.Series(a.numpy()).rank().corr(pd.Series(b.numpy()).rank())
""",
        "the cosine of signed comparisons": """
def spearman(a, b):
    a, b = (torch.sign(x[:, None] - x[None]).sum(dim=1).double() for x in (a, b))
    return torch.cosine_similarity(a, b, dim=0)
""",
        "a loop over a sorted list": """
def spearman(a, b):
    def ranks(x):
        x, places = x.tolist(), {}
        for place, value in enumerate(sorted(x), start=1):
            places.setdefault(value, []).append(place)
        return torch.tensor([sum(places[v]) / len(places[v]) for v in x])
    return torch.corrcoef(torch.stack([ranks(a), ranks(b)]))[0, 1]
""",
    },
    hints=(
        "Write the ranks of 2, 5, 5, 9 by hand. Which two ranks do the fives occupy together, and which rank does each of them "
        "get?",
        "Input: two lists of n numbers. Ranks: n numbers per list, whose sum is n(n + 1)/2 with or without ties. Output: a "
        "number between −1 and 1.",
        "for each value: count the smaller values and the equal values (including itself)\nits rank, up to a constant that cancels: "
        "number of smaller values + half the number of equal values\nthen Pearson's correlation of the two lists of ranks",
        "A near miss: `x.argsort().argsort()` is correct if all values are different. The grades of the pairs contain ties.",
    ),
)

# ------------------------------------------------------------------------------------------ siamese


def objective_cases(draw: Draw) -> Iterator[Case]:
    for B, D, classes in ((5, 4, 3), (4, 6, 5), (7, 3, 2), (8, 5, 4)):
        yield {
            "u": draw.normal(B, D),
            "v": draw.normal(B, D),
            "W": draw.normal(3 * D, classes, scale=0.5),
            "labels": draw.integers(0, classes, B),
        }
    # Logits in the hundreds: the label's probability is too small for float32 in the first pair, but its logarithm is not.
    u, v, labels = draw.uniform(4, 5, low=1, high=2), draw.normal(4, 5), draw.integers(0, 2, 4)
    labels[0] = 2
    W = draw.normal(15, 3)
    W[:5] += np.array([30, 30, -30])
    yield {"u": u, "v": v, "W": W.astype(np.float32), "labels": labels}


FEATURES, NATS = "torch.cat([u, v, (u - v).abs()], dim=1)", "-log_p.gather(1, labels[:, None]).mean()"
WITH_EPSILON = """
def classification_objective(u, v, W, labels):
    p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).softmax(dim=1)
    return -(p[range(len(labels)), labels] + EPSILON).log().mean()
"""

classification_objective = Exercise(
    cases=objective_cases,
    mistakes=(
        Mistake(
            "softmax applied twice",
            "Your loss stays close to that of a uniform distribution, however confident the logits are. Does your log-softmax still receive logits?",
            "(features @ W)", "(features @ W).softmax(dim=1)",
        ),
        Mistake(
            "sum instead of mean",
            "Your loss grows with the number of pairs. Take the mean.",
            NATS, "-log_p.gather(1, labels[:, None]).sum()",
        ),
        Mistake(
            "minus sign missing",
            "Your loss is negative, because log p is negative. The loss is −log p.",
            NATS, "log_p.gather(1, labels[:, None]).mean()",
        ),
        Mistake(
            "bits instead of nats",
            "All your losses are too large by the same factor, 1.44. Which logarithm is required?",
            NATS, "-(log_p / torch.tensor(2.0).log()).gather(1, labels[:, None]).mean()",
            also=("""
def classification_objective(u, v, W, labels):
    p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).softmax(dim=1)
    return -p[range(len(labels)), labels].log2().mean()
""",),
        ),
        Mistake(
            "softmax over the pairs",
            "Your loss grows with the number of pairs, although it is a mean. Over which axis should the probabilities sum to "
            "1?",
            "log_softmax(dim=1)", "log_softmax(dim=0)",
        ),
        Mistake(
            "mean over all classes",
            "Your loss does not depend on the labels, because you average over all classes. Select the log-probability of each label.",
            NATS, "-log_p.mean()",
        ),
        Mistake(
            "difference without absolute value",
            "The third part of your features contains negative numbers. |u − v| measures how far apart two sentences are, whichever of them "
            "comes first.",
            "(u - v).abs()", "u - v",
        ),
        Mistake(
            "product instead of difference",
            "The third part of your features is u · v, coordinate by coordinate. Some models use this product; the exercise asks for the "
            "absolute difference.",
            "(u - v).abs()", "u * v",
        ),
        Mistake(
            "difference squared",
            "The third part of your features is never negative, but squaring makes small differences too small and large ones too large.",
            "(u - v).abs()", "(u - v).square()",
        ),
        Mistake(
            "difference placed first",
            "Your three parts are correct, but their order differs from that of the rows of W: the difference should come last.",
            FEATURES, "torch.cat([(u - v).abs(), u, v], dim=1)",
        ),
        Mistake(
            "difference placed second",
            "Your three parts are correct, but their order differs from that of the rows of W: u, then v, then the difference.",
            FEATURES, "torch.cat([u, (u - v).abs(), v], dim=1)",
        ),
        Mistake(
            "features interleaved",
            "Your features are correct but interleaved: u, v and the difference alternate from coordinate to coordinate. Put "
            "all of u first, then all of v, then the difference.",
            FEATURES, "torch.stack([u, v, (u - v).abs()], dim=2).flatten(1)",
        ),
        Mistake(
            "u and v swapped",
            "Your loss is that of the reversed pairs: the first D rows of W belong to u.",
            FEATURES, "torch.cat([v, u, (u - v).abs()], dim=1)",
        ),
        Mistake(
            "vectors normalised",
            "Your answer does not change when u becomes twice as long. Only a cosine ignores lengths; here the vectors are used unchanged.",
            "features = ", "u, v = torch.nn.functional.normalize(u, dim=1), torch.nn.functional.normalize(v, dim=1)\n    features = ",
        ),
        Mistake(
            "accuracy instead of loss",
            "You return the accuracy, the share of pairs whose label gets the highest score. The loss is the mean of "
            "−log p of the labels.",
            NATS, "(log_p.argmax(dim=1) == labels).float().mean()",
        ),
        Mistake(
            "probability instead of its logarithm",
            "Your loss is bounded, however wrong the model is. The loss of a confident but wrong model should have no bound: "
            "take log p, not p.",
            NATS, "1 - log_p.exp().gather(1, labels[:, None]).mean()",
            also=("""
def classification_objective(u, v, W, labels):
    p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).softmax(dim=1)
    return -p.gather(1, labels[:, None]).mean()
""",),
        ),
        Mistake(
            "every label applied to every pair",
            "You average over all pairs and all labels of the batch: `log_p[:, labels]` selects every label in every row. Row "
            "i has only label i.",
            NATS, "-log_p[:, labels].mean()",
        ),
        Mistake(
            "one loss per pair",
            "You return one number per pair. Return their mean.",
            NATS, "-log_p.gather(1, labels[:, None])[:, 0]",
        ),
        Mistake(
            "logarithm of a vanishing probability",
            "When the logits are in the hundreds, the label's probability is too small for float32 and becomes 0, or the "
            "exponentials become infinite. The log-probability itself is within range: use log-softmax or logsumexp.",
            code="""
def classification_objective(u, v, W, labels):
    p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).softmax(dim=1)
    return -p[range(len(labels)), labels].log().mean()
""",
            also=tuple(WITH_EPSILON.replace("EPSILON", e) for e in ("1e-6", "1e-8", "1e-9", "1e-10", "1e-12")),
        ),
        detached("classification_objective"),
    ),
    alternatives={
        "cross_entropy": """
def classification_objective(u, v, W, labels):
    return torch.nn.functional.cross_entropy(torch.cat([u, v, (u - v).abs()], dim=1) @ W, labels)
""",
        "the three blocks of W, float64": """
def classification_objective(u, v, W, labels):
    u, v, W, D = u.double(), v.double(), W.double(), u.shape[1]
    logits = u @ W[:D] + v @ W[D : 2 * D] + (u - v).abs() @ W[2 * D :]
    return (logits.logsumexp(dim=1) - logits[range(len(labels)), labels]).mean()
""",
        "a loop over the pairs": """
def classification_objective(u, v, W, labels):
    total = 0.0
    for features, label in zip(torch.cat([u, v, (u - v).abs()], dim=1), labels.tolist()):
        logits = features @ W
        logits = logits - logits.max()
        total -= logits[label] - torch.log(torch.exp(logits).sum())
    return total / len(labels)
""",
    },
    hints=(
        "Which three vectors of a pair does the classifier receive? After that, this is softmax regression: which of its "
        "probabilities belongs to the label?",
        "u, v and |u − v|: (B, D) each, concatenated (B, 3D). W: (3D, C), logits (B, C), labels (B). Output: a number.",
        "concatenate u, v and the absolute value of their difference\nmultiply these features by W: logits\nlog-softmax over the "
        "classes\nminus the label's entry of each row, averaged over the pairs",
        "A near miss: `cross_entropy` expects logits. With probabilities, softmax is applied twice and the loss cannot become "
        "small.",
    ),
)

# ------------------------------------------------------------------------------------------ ranking


def ranking_cases(draw: Draw) -> Iterator[Case]:
    """Positives of different lengths that resemble their anchors; in some cases hard negatives follow."""
    for B, N, D, scale in ((4, 4, 6, 5.0), (5, 5, 3, 3.0), (3, 6, 7, 8.0), (6, 9, 4, 4.0)):
        anchors = draw.normal(B, D)
        positives = np.concatenate([anchors + 1.2 * draw.normal(B, D), draw.normal(N - B, D)])
        lengths = draw.uniform(N, 1, low=0.5, high=1.8)
        yield {"anchors": anchors, "positives": (positives * lengths).astype(np.float32), "scale": scale}
    # The scale of the notebook, and a first anchor that is as far as possible from its own positive.
    anchors = draw.normal(7, 5)
    positives = np.concatenate([-anchors[:1], anchors[1:], anchors[:1]]) + 0.1 * draw.normal(8, 5)
    yield {"anchors": anchors, "positives": positives, "scale": 20.0}


SIMILARITY = "scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T"
PICK = "-log_p.diagonal().mean()"
PROBABILITY = """
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    return -(scores.softmax(dim=1).diagonal() + EPSILON).log().mean()
"""

ranking_loss = Exercise(
    cases=ranking_cases,
    mistakes=(
        Mistake(
            "dot products instead of cosines",
            "Your loss changes when the vector of a sentence becomes twice as long. Use cosines.",
            SIMILARITY, "scale * anchors @ positives.T",
        ),
        Mistake(
            "only the positives normalised",
            "Your loss changes when an anchor's vector becomes twice as long, but not when the vector of a positive does. Normalise the anchors as well.",
            "normalize(anchors, dim=1)", "anchors",
        ),
        Mistake(
            "divided by the scale",
            "Your loss is close to the logarithm of the number of candidates, as if nothing had been learned. A larger scale "
            "should make the softmax sharper.",
            "scale * normalize", "1 / scale * normalize",
        ),
        Mistake(
            "scale not used",
            "Your loss does not depend on the scale. Cosines are between −1 and 1, so their softmax is nearly uniform.",
            "scale * normalize", "normalize",
        ),
        Mistake(
            "softmax over the anchors",
            "Your probabilities sum to 1 over the anchors. They should sum to 1 over the positives, because each anchor chooses among the positives.",
            "log_softmax(dim=1)", "log_softmax(dim=0)",
        ),
        Mistake(
            "both directions averaged",
            "You return the mean of two losses, from anchors to positives and back, as in CLIP. Return only the first loss.",
            PICK,
            "(PICKED + BACK) / 2".replace("PICKED", PICK).replace(
                "BACK", "-scores[:, : len(anchors)].log_softmax(dim=0).diagonal().mean()"
            ),
        ),
        Mistake(
            "no negatives",
            "Your loss is proportional to the scale and cannot detect a model that gives *all* sentences the same direction. "
            "Which sentences should be far from an anchor?",
            PICK, "-scores.diagonal().mean()",
        ),
        Mistake(
            "positive left out of the softmax",
            "Your loss can become negative, because the correct answer is missing from the candidates of the softmax.",
            PICK,
            "(scores.masked_fill(torch.eye(*scores.shape, dtype=torch.bool), float('-inf')).logsumexp(dim=1) - scores.diagonal()).mean()",
        ),
        Mistake(
            "sum instead of mean",
            "Your loss grows with the number of anchors. Take the mean.",
            PICK, "-log_p.diagonal().sum()",
        ),
        Mistake(
            "hard negatives left out",
            "Your answer is correct when there are as many positives as anchors. Additional positives are candidates as well, although they belong to no anchor.",
            "normalize(positives, dim=1)", "normalize(positives[: len(anchors)], dim=1)",
        ),
        Mistake(
            "normalised over the sentences",
            "A sentence's cosines change when another sentence joins the batch. Along which axis is the length of a vector "
            "computed?",
            "normalize(positives, dim=1)", "normalize(positives, dim=0)",
            also=("""
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=0) @ normalize(positives, dim=0).T
    return -scores.log_softmax(dim=1).diagonal().mean()
""",),
        ),
        Mistake(
            "divided by the number of positives",
            "Your answer is correct when there are as many positives as anchors. The mean is over the anchors: additional positives are only candidates.",
            PICK, "-log_p.diagonal().sum() / len(positives)",
        ),
        Mistake(
            "epsilon added to the probability",
            "The loss of an anchor far from its own positive is too small: the number that you add before taking the logarithm is larger than the probability. A log-softmax needs no such number.",
            PICK, "-(log_p.exp().diagonal() + 1e-8).log().mean()",
            also=tuple(PROBABILITY.replace("EPSILON", e) for e in ("1e-6", "1e-9", "1e-10", "1e-12")),
        ),
        detached("ranking_loss"),
    ),
    alternatives={
        "cross_entropy with the row's own number": """
def ranking_loss(anchors, positives, scale):
    cosines = torch.cosine_similarity(anchors[:, None], positives[None], dim=-1)
    return torch.nn.functional.cross_entropy(cosines * scale, torch.arange(len(anchors)))
""",
        "one anchor after the other, float64": """
def ranking_loss(anchors, positives, scale):
    losses = []
    for i, anchor in enumerate(anchors.double()):
        cosines = positives.double() @ anchor / (positives.double().norm(dim=1) * anchor.norm())
        losses.append(torch.logsumexp(scale * (cosines - cosines[i]), dim=0))
    return torch.stack(losses).mean()
""",
        "einsum and lengths": """
def ranking_loss(anchors, positives, scale):
    dots = torch.einsum("id,jd->ij", anchors, positives)
    scores = scale * dots / anchors.norm(dim=1)[:, None] / positives.norm(dim=1)
    return -(scores.diagonal() - scores.exp().sum(dim=1).log()).mean()
""",
    },
    survivors={
        "normalize(anchors) @": "This axis is the default.",
        "@ normalize(positives).T`": "This axis is the default.",
    },
    hints=(
        "Imagine asking each anchor a multiple-choice question: which of these sentences is your partner? What are the wrong answers, "
        "and where do they come from?",
        "anchors (B, D), positives (N, D) with N at least B. Scores: (B, N). The correct answer for row i is in column i. "
        "Output: a number.",
        "cosine of every anchor with every candidate, times scale\nlog-softmax of each row\nminus the diagonal, averaged over "
        "the anchors",
        "A near miss: leaving the diagonal out of the denominator (\"negatives only\") gives a different loss, which can be "
        "negative.",
    ),
)

# ------------------------------------------------------------------------------------------ search


def search_cases(draw: Draw) -> Iterator[Case]:
    """No two texts have the same cosine with a query; in the last case all texts are requested, including those with negative cosines."""
    for Q, N, D, k in ((3, 20, 5, 4), (5, 31, 8, 3), (4, 26, 6, 7), (2, 17, 4, 1), (3, 9, 6, 9)):
        apart = 0.0
        while apart < 1e-4:
            query, corpus = draw.normal(Q, D) + 0.5, draw.normal(N, D) + (0.5 if k < N else 0)
            cosines = unit(query) @ unit(corpus).T
            apart = np.diff(np.sort(cosines, axis=1), axis=1).min()
        lengths = draw.uniform(N, 1, low=0.4, high=2.5)
        yield {"query": query, "corpus": (corpus * lengths).astype(np.float32), "k": k}


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


COSINES = "normalize(query, dim=1) @ normalize(corpus, dim=1).T"
TOP = "cosines.topk(k, dim=1)"

search = Exercise(
    cases=search_cases,
    withheld=("sentence_transformers.util.retrieval.semantic_search",),
    rule=Rule(axes={"0": "Q k", "1": "Q k"}),
    mistakes=(
        Mistake(
            "dot products instead of cosines",
            "Long vectors come first in your lists, regardless of what their texts say, and your scores can lie outside the range from −1 to 1.",
            COSINES, "query @ corpus.T",
        ),
        Mistake(
            "only the corpus normalised",
            "Your order is correct, but your scores are cosines multiplied by the length of the query vector.",
            "normalize(query, dim=1)", "query",
        ),
        Mistake(
            "only the query normalised",
            "Long vectors of the corpus come first in your lists, regardless of what their texts say. Normalise the corpus as well.",
            "normalize(corpus, dim=1)", "corpus",
        ),
        Mistake(
            "least similar first",
            "Your lists contain the texts that are least similar to the query.",
            TOP, "cosines.topk(k, dim=1, largest=False)",
        ),
        Mistake(
            "best last",
            "You find the correct k texts, but in the wrong order: the best should come first.",
            TOP, "(x.flip(1) for x in cosines.topk(k, dim=1))",
        ),
        Mistake(
            "results swapped",
            "Your two results are swapped: return (numbers, cosines).",
            "return numbers, best", "return best, numbers",
        ),
        Mistake(
            "best text skipped",
            "Your lists begin with the second-best text. Skipping the best text is correct only when the query itself is in the corpus; here it is not.",
            TOP, "(x[:, 1 : k + 1] for x in cosines.sort(dim=1, descending=True))",
            also=("""
def search(query, corpus, k):
    cosines = torch.nn.functional.cosine_similarity(query[:, None], corpus[None], dim=-1)
    best, numbers = cosines.topk(k + 1, dim=1)
    return numbers[:, 1:], best[:, 1:]
""",),
        ),
        Mistake(
            "nearest queries of each text",
            "Your results have one column per text: you look for the queries nearest to each text. Look for the texts nearest to each query.",
            TOP, "cosines.topk(min(k, len(query)), dim=0)",
        ),
        Mistake(
            "nearest by distance",
            "Your lists favour vectors whose *length* is close to the query's. Only the angle should count.",
            code="""
def search(query, corpus, k):
    numbers = torch.cdist(query, corpus).topk(k, dim=1, largest=False).indices
    normalize = torch.nn.functional.normalize
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    return numbers, cosines.gather(1, numbers)
""",
        ),
        Mistake(
            "sorted in corpus order",
            "You find the correct k texts, but you return them in the order of the corpus. Sort them by cosine.",
            code="""
def search(query, corpus, k):
    normalize = torch.nn.functional.normalize
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    numbers = cosines.topk(k, dim=1).indices.sort(dim=1).values
    return numbers, cosines.gather(1, numbers)
""",
        ),
    ),
    alternatives={
        "sorted as a whole": """
def search(query, corpus, k):
    cosines = torch.cosine_similarity(query[:, None], corpus[None], dim=-1)
    order = cosines.argsort(dim=1, descending=True)[:, :k]
    return order, cosines.gather(1, order)
""",
        "numpy, one query at a time": """
import numpy as np
def search(query, corpus, k):
    numbers, best = [], []
    for one in query.numpy().astype(float):
        rows = corpus.numpy().astype(float)
        cosines = rows @ one / np.linalg.norm(rows, axis=1) / np.linalg.norm(one)
        order = np.argsort(-cosines)[:k]
        numbers.append(order)
        best.append(cosines[order])
    return np.array(numbers), np.array(best)
""",
        "the nearest on the unit sphere": """
def search(query, corpus, k):
    normalize = torch.nn.functional.normalize
    distance = torch.cdist(normalize(query.double()), normalize(corpus.double()))
    near, numbers = distance.topk(k, largest=False)
    return numbers, 1 - near**2 / 2
""",
    },
    survivors={
        "→ `best, numbers = cosines.topk(k)`": "This axis is the default.",
        "→ `cosines = normalize(query) @": "This axis is the default.",
        "@ normalize(corpus).T`": "This axis is the default.",
    },
    hints=(
        "Which number do you compute for each pair of a query and a text, and which of these numbers do you keep?",
        "query (Q, D), corpus (N, D), cosines (Q, N). Output: numbers (Q, k) of rows of the corpus, and their cosines (Q, k).",
        "cosine of every query with every text\nfor each query the k largest, in descending order\ntheir row numbers, and the "
        "cosines themselves",
        "A near miss: `argsort` sorts in ascending order, so its first k are the k worst.",
    ),
)

# ------------------------------------------------------------------------------------------ recall at k


def recall_cases(draw: Draw) -> Iterator[Case]:
    """Each case has queries with one relevant text, several, more than k, and none; some are found and some are not."""
    for extra, N, k in ((6, 11, 3), (7, 14, 5), (5, 9, 2), (8, 12, 12), (6, 10, 1)):
        edge = min(k, N - 1)  # the first position that does not count
        places = [[0], [edge - 1, N - 1], range(min(k + 1, N)), [], [edge, N - 2], [0, edge, N - 1]]
        for _ in range(extra):  # the others are random, so that no two draws have the same recall
            places.append(draw.rng.choice(N, int(draw.integers(1, 5)), replace=False))
        Q = len(places)
        # No two scores of a query are equal, and half of them are below 0.
        scores = draw.rng.permuted(np.tile(np.arange(N, dtype=np.float32), (Q, 1)), axis=1) - N / 2 + 0.25
        scores = scores * draw.uniform(Q, 1, low=0.05, high=0.1)
        order, relevant = np.argsort(-scores, axis=1), np.zeros((Q, N), dtype=bool)
        for row, those in enumerate(places):
            relevant[row, order[row, list(those)]] = True
        shuffled = draw.rng.permutation(Q)
        yield {"scores": scores[shuffled].astype(np.float32), "relevant": relevant[shuffled], "k": k}


TOP_K, SHARES = "scores.topk(k, dim=1).indices", "(found[asked] / total[asked]).mean()"

recall_at_k = Exercise(
    cases=recall_cases,
    rule=Rule("close", 1e-5),
    mistakes=(
        Mistake(
            "precision instead of recall",
            "You divide by k, which gives precision: the share of the results that are relevant. Recall is the share of the "
            "relevant texts that were found.",
            SHARES, "(found[asked] / k).mean()",
            also=("""
def recall_at_k(scores, relevant, k):
    return relevant.gather(1, scores.topk(k, dim=1).indices).double().mean()
""",),
        ),
        Mistake(
            "1 for any relevant text found",
            "You give a query 1 as soon as a single relevant text is among the first k. A query that finds one of four "
            "relevant texts has recall 1/4.",
            SHARES, "(found[asked] > 0).double().mean()",
            also=("""
def recall_at_k(scores, relevant, k):
    return relevant.gather(1, scores.topk(k, dim=1).indices).any(dim=1).double().mean()
""",),
        ),
        Mistake(
            "all queries counted together",
            "You divide the number of all found texts by the number of all relevant ones, so a query with many relevant texts "
            "counts most. Compute the recall of each query, then average over the queries.",
            SHARES, "found.sum() / total.sum()",
        ),
        Mistake(
            "0 for a query without relevant texts",
            "A query without relevant texts lowers your mean. There was nothing to find: leave it out.",
            SHARES, "(found / total.clamp(min=1)).mean()",
        ),
        Mistake(
            "1 for a query without relevant texts",
            "A query without relevant texts raises your mean. Its recall is undefined: leave it out.",
            SHARES, "torch.where(asked, found / total.clamp(min=1), 1.0).mean()",
        ),
        Mistake(
            "division by zero",
            "If a query has no relevant text, you divide 0 by 0, and one such query makes the mean NaN.",
            SHARES, "(found / total).mean()",
        ),
        Mistake(
            "lowest scores",
            "You select the k texts with the *lowest* scores. The highest score marks the best text.",
            TOP_K, "scores.topk(k, dim=1, largest=False).indices",
            also=("""
def recall_at_k(scores, relevant, k):
    best = scores.argsort(dim=1)[:, :k]
    found, total = relevant.gather(1, best).sum(dim=1), relevant.sum(dim=1)
    return (found[total > 0] / total[total > 0]).mean()
""",),
        ),
        Mistake(
            "one text too few",
            "You consider only the first k − 1 texts. Consider the first k.",
            TOP_K, "scores.topk(k, dim=1).indices[:, : k - 1]",
        ),
        Mistake(
            "one text too many",
            "You consider the first k + 1 texts: the positions from 0 to k are k + 1 positions.",
            TOP_K, "scores.topk(min(k + 1, scores.shape[1]), dim=1).indices",
        ),
        Mistake(
            "best text skipped",
            "You skip the first result. Skipping it is correct only when the query itself is in the collection; here it is not.",
            TOP_K, "scores.topk(min(k + 1, scores.shape[1]), dim=1).indices[:, 1:]",
        ),
        Mistake(
            "divisor limited to k",
            "When more than k texts are relevant, you divide by k, so that the recall can still reach 1. By our definition, it cannot, because the relevant texts beyond the first k count as missed.",
            SHARES, "(found[asked] / total[asked].clamp(max=k)).mean()",
        ),
        Mistake(
            "one recall per query",
            "You return one number per query. Return their mean.",
            "(found[asked] / total[asked]).mean().item()", "found[asked] / total[asked]",
        ),
    ),
    alternatives={
        "sets and a loop": """
def recall_at_k(scores, relevant, k):
    recalls = []
    for row, wanted in zip(scores.tolist(), relevant.tolist()):
        best = sorted(range(len(row)), key=row.__getitem__, reverse=True)[:k]
        right = {n for n, yes in enumerate(wanted) if yes}
        if right:
            recalls.append(len(right & set(best)) / len(right))
    return sum(recalls) / len(recalls)
""",
        "the places of all texts": """
def recall_at_k(scores, relevant, k):
    place = scores.argsort(dim=1, descending=True).argsort(dim=1)
    found = ((place < k) & relevant).double().sum(dim=1)
    return torch.nanmean(found / relevant.sum(dim=1))
""",
        "counts of higher scores": """
import numpy as np
def recall_at_k(scores, relevant, k):
    s, r = np.asarray(scores), np.asarray(relevant)
    among = (s[:, None, :] > s[:, :, None]).sum(axis=2) < k
    return float(np.mean([(a & w).sum() / w.sum() for a, w in zip(among, r) if w.any()]))
""",
    },
    survivors={
        "→ `best = scores.topk(k).indices`": "This axis is the default.",
    },
    hints=(
        "Three texts answer a question, and two of them are among the first five. What is the recall at five? What if no text "
        "answers it?",
        "scores (Q, N), relevant (Q, N), True or False. Counts of found and of relevant texts: (Q), one per query. Output: a number.",
        "the k highest scores of each row\ncount the relevant texts among them, and all relevant texts\ntheir ratio for each "
        "query that has any; the mean of these ratios",
        "A near miss: `found.sum() / total.sum()` counts a query with ten relevant texts ten times.",
    ),
)

# ------------------------------------------------------------------------------------------ extensions


def window_cases(draw: Draw) -> Iterator[Case]:
    """Texts that end inside a window or with one, that fit into a single window, or that are shorter than the overlap."""
    sizes = ((23, 8, 3), (14, 5, 1), (20, 8, 2), (6, 9, 4), (12, 4, 0), (17, 7, 2), (9, 10, 2), (2, 5, 4))
    for number, (T, size, overlap) in enumerate(sizes):
        ids = draw.integers(20, 30_000, T)
        # In half of the cases the id of the padding also occurs in the text.
        pad = int(ids[T // 2]) if number % 2 == 0 else int(draw.integers(1, 10))
        yield {"ids": ids, "size": size, "overlap": overlap, "pad": pad}


STARTS = "range(0, max(len(ids) - overlap, 1), size - overlap)"

windows = Exercise(
    cases=window_cases,
    rule=Rule("equal", axes={"0": "W size", "1": "W size"}),
    mistakes=(
        Mistake(
            "no overlap",
            "Your second window begins where the first one ends, so a phrase that extends across the boundary is not complete in "
            "any window.",
            STARTS, "range(0, len(ids), size)",
        ),
        Mistake(
            "overlap used as the step",
            "Your windows begin at the wrong positions: overlap is the number of tokens that two neighbouring windows share, not the distance between their "
            "starts.",
            STARTS, "range(0, len(ids), max(overlap, 1))",
            also=("""
def windows(ids, size, overlap, pad):
    rows, start = [], 0
    while not rows or start - max(overlap, 1) + size < len(ids):
        rows.append(ids[start : start + size].tolist())
        start += max(overlap, 1)
    keep = torch.tensor([[place < len(row) for place in range(size)] for row in rows])
    return torch.tensor([row + [pad] * (size - len(row)) for row in rows]), keep
""",),
        ),
        Mistake(
            "last window without new tokens",
            "Your last window lies entirely inside the previous one. The first window that reaches the end of the text should be the "
            "last.",
            STARTS, "range(0, len(ids), size - overlap)",
            also=("""
def windows(ids, size, overlap, pad):
    rows, start = [], 0
    while not rows or start - (size - overlap) + size <= len(ids):
        rows.append(ids[start : start + size].tolist())
        start += size - overlap
    keep = torch.tensor([[place < len(row) for place in range(size)] for row in rows])
    return torch.tensor([row + [pad] * (size - len(row)) for row in rows]), keep
""",),
        ),
        Mistake(
            "no window for a short text",
            "A text shorter than the overlap gets no window in your answer. Every text should have at least one window.",
            STARTS, "range(0, len(ids) - overlap, size - overlap)",
            also=("""
def windows(ids, size, overlap, pad):
    step = size - overlap
    count = -((overlap - len(ids)) // step)
    places = step * torch.arange(count)[:, None] + torch.arange(size)
    keep = places < len(ids)
    rows = torch.full((count, size), pad)
    rows[keep] = ids[places[keep]]
    return rows, keep
""",),
        ),
        Mistake(
            "padding identified by its id",
            "Your keep is False at some tokens of the text, because the id of the padding can also occur in the text. Identify "
            "padding by its position.",
            "return rows, keep", "return rows, rows != pad",
        ),
        Mistake(
            "end of the text lost",
            "The last tokens of the text are not in any window. If the text does not fill the last window, fill this window up with padding.",
            STARTS, "range(0, max(len(ids) - size + 1, 1), size - overlap)",
        ),
        Mistake(
            "last window moved back",
            "Your last window begins too early, so that it is full. It should begin after the usual step and end with padding.",
            code="""
def windows(ids, size, overlap, pad):
    starts = range(0, max(len(ids) - overlap, 1), size - overlap)
    rows = torch.full((len(starts), size), pad)
    keep = torch.zeros(len(starts), size, dtype=torch.bool)
    for row, start in enumerate(starts):
        start = max(min(start, len(ids) - size), 0)
        piece = ids[start : start + size]
        rows[row, : len(piece)] = piece
        keep[row, : len(piece)] = True
    return rows, keep
""",
        ),
        Mistake(
            "only the first window",
            "You return a single window, which amounts to truncating the text. The rest of the text needs windows as well.",
            STARTS, "range(1)",
        ),
        Mistake(
            "keep inverted",
            "Your second result is True at the padding. It should be True at the text.",
            "return rows, keep", "return rows, ~keep",
        ),
        Mistake(
            "padding marked as text",
            "Your second result is True everywhere. It should be False at the padding.",
            "return rows, keep", "return rows, torch.ones_like(keep)",
        ),
        Mistake(
            "0 used for padding",
            "You pad with 0. Use the padding id that is passed as the argument pad.",
            "(len(starts), size), pad)", "(len(starts), size), 0)",
        ),
        Mistake(
            "padding before the text",
            "In your last window, the padding comes before the text. The text should come first.",
            edits={
                "rows[row, : len(piece)]": "rows[row, size - len(piece) :]",
                "keep[row, : len(piece)]": "keep[row, size - len(piece) :]",
            },
        ),
    ),
    alternatives={
        "a list that shrinks": """
def windows(ids, size, overlap, pad):
    rest, rows = ids.tolist(), []
    while True:
        rows.append(rest[:size])
        if len(rest) <= size:
            break
        rest = rest[size - overlap :]
    keep = torch.tensor([[place < len(row) for place in range(size)] for row in rows])
    return torch.tensor([row + [pad] * (size - len(row)) for row in rows]), keep
""",
        "unfold": """
import math
def windows(ids, size, overlap, pad):
    step = size - overlap
    count = max(math.ceil((len(ids) - overlap) / step), 1)
    missing = (count - 1) * step + size - len(ids)
    places = torch.arange(len(ids) + missing).unfold(0, size, step)
    return torch.cat([ids, ids.new_full((missing,), pad)])[places], places < len(ids)
""",
    },
    hints=(
        "Draw a line of 20 tokens and cover it with windows of 8 that overlap by 2. Where does each window begin, and which one is "
        "the last?",
        "ids (T). Window w begins at w · (size − overlap). Output: (W, size) twice; W is 1 if the whole text fits.",
        "from the beginning, in steps of size − overlap:\n    take size tokens, or those that are left; fill up with padding\n   "
        " stop after the first window that reaches the end",
        "A near miss: `range(0, T, size - overlap)` can add a window that contains only the end of the previous one.",
    ),
)


def pool_window_cases(draw: Draw) -> Iterator[Case]:
    for W, size, D in ((3, 6, 5), (5, 4, 8), (4, 9, 3)):
        keep = np.ones((W, size), dtype=bool)
        keep[-1, int(draw.integers(1, size - 1)) :] = False
        hidden = np.where(keep[..., None], draw.normal(W, size, D) + draw.normal(W, 1, D), 4.0)
        yield {"hidden": hidden.astype(np.float32), "keep": keep}


WEIGHTED = "(weights[:, None] * mean_pool(hidden, keep)).sum(dim=0)"

pool_windows = Exercise(
    cases=pool_window_cases,
    rule=Rule(axes={"": "D"}),
    mistakes=(
        Mistake(
            "equal weights for all windows",
            "In your answer, a last window of two tokens counts as much as a full window. Weight each window by its number of tokens.",
            WEIGHTED, "mean_pool(hidden, keep).mean(dim=0)",
        ),
        Mistake(
            "only the first window",
            "You return the vector of the first window, which amounts to truncating the text.",
            WEIGHTED, "mean_pool(hidden, keep)[0]",
        ),
        Mistake(
            "padding included in the mean",
            "Your mean includes the padding of the last window. Average only the tokens of the text.",
            WEIGHTED, "hidden.mean(dim=(0, 1))",
        ),
        Mistake(
            "weights not normalised",
            "Your weights do not sum to 1, so the vector grows with the text. The weight of a window is its share of all "
            "tokens.",
            "weights = counts / counts.sum()", "weights = counts",
            also=("""
def pool_windows(hidden, keep):
    return (keep.float().mean(dim=1)[:, None] * mean_pool(hidden, keep)).sum(dim=0)
""",),
        ),
        Mistake(
            "weighted windows averaged",
            "Your vector is too short by a factor of W, the number of windows. The weights already sum to 1: do not divide again.",
            WEIGHTED, "(weights[:, None] * mean_pool(hidden, keep)).mean(dim=0)",
        ),
        Mistake(
            "softmax of the counts",
            "Your weights sum to 1, but the longest windows get nearly all the weight. Divide each count by the sum of the counts instead.",
            "weights = counts / counts.sum()", "weights = counts.softmax(dim=0)",
        ),
        Mistake(
            "counts divided by the number of windows",
            "Your weights are counts divided by the number of windows, not by the number of tokens.",
            "weights = counts / counts.sum()", "weights = counts / len(counts)",
        ),
        Mistake(
            "one vector per window",
            "You return one vector per window, but the text should have only one.",
            WEIGHTED, "mean_pool(hidden, keep)",
            also=("""
def pool_windows(hidden, keep):
    return (keep.sum(dim=1) / keep.sum())[:, None] * mean_pool(hidden, keep)
""",),
        ),
    ),
    alternatives={
        "all tokens of all windows as one sentence": """
def pool_windows(hidden, keep):
    return hidden[keep].mean(dim=0)
""",
        "one long row": """
def pool_windows(hidden, keep):
    return mean_pool(hidden.flatten(0, 1)[None], keep.flatten()[None])[0]
""",
    },
    survivors={
        "→ `counts = keep.sum(dim=1)`": "The division returns floats for both types.",
    },
    hints=(
        "With windows of 64 and no overlap, a text of 130 tokens has a last window of 2. How much should that window count?",
        "hidden (W, size, D), keep (W, size). Pooled: (W, D). Weights: (W), which sum to 1. Output: (D).",
        "weight of each window: its tokens, divided by those of all windows\nmean_pool of each window\nadd up these vectors, each times "
        "its weight",
        "A near miss: `mean_pool(hidden, keep).mean(dim=0)` gives a window of two tokens the same weight as one of 64.",
    ),
)


# ------------------------------------------------------------------------------------------ retrieval, then an answer

ASKED = ("How many pieces are there?", "Which layer looks back?", "What is a nat?", "Where does padding go?", "Who reads both sides?")
SAID = (
    "attention weights add up to one token vector layer mask score query key value head word model text loss nat bit row step "
    "rate seed draw share mean rank pair batch label sense cell bank phone river money"
).split()


def prompt_cases(draw: Draw) -> Iterator[Case]:
    """Prompts without passages; with all of them; exactly full; with a first passage that is too long; with a middle one that is too long although a shorter, later one would fit."""
    kinds = ("none", "all", "full", "first too long", "middle too long", "one word too many", "one word to spare")
    for many, kind in enumerate(kinds, start=3):
        lengths = [int(n) for n in draw.integers(4, 8, many)]
        most = sum(lengths) + 5
        if kind == "none":
            lengths = []
        if kind == "full":
            most = sum(lengths[:-1])
        if kind == "first too long":
            lengths[0], most = 12, 11
        if kind == "middle too long":
            lengths[1], lengths[2], most = 14, 1, lengths[0] + 5
        if kind == "one word too many":
            most = sum(lengths) - 1
        if kind == "one word to spare":  # too little for a question, or for the numbers
            most = sum(lengths[:-1]) + 1
        passages = [" ".join(draw.rng.choice(SAID, length)) + "." for length in lengths]
        if kind in ("all", "full", "one word to spare"):  # split(" ") also finds empty words
            passages = [passage.replace(" ", "  ", 9 if kind == "all" else 2) for passage in passages]
        yield {
            "question": str(draw.rng.choice(ASKED)),
            "passages": passages,
            "most": int(most),
            "words": np.array(lengths, dtype=int),
        }


COUNT, STOP, LINE = "words += len(passage.split())", "            break\n", 'lines.append(f"[{number}] {passage}")'
JOIN = '"\\n".join([*lines, f"Question: {question}", "Answer:"])'
EMPTY = '    if lines:\n        lines.append("")\n'

answer_prompt = Exercise(
    cases=prompt_cases,
    rule=Rule("equal", axes={"": "bytes"}),
    mistakes=(
        Mistake(
            "limit ignored",
            "You include all passages, however many words they contain. The prompt has room for only `most` words.",
            "if words > most:", "if False:",
        ),
        Mistake(
            "later, shorter passage included",
            "You leave out the passage that does not fit and include a later, shorter one. The first passage that does not fit ends the list, because all later passages match less well.",
            edits={COUNT: "size = len(passage.split())", "if words > most:": "if words + size > most:", STOP: "            continue\n        words += size\n"},
        ),
        Mistake(
            "later passage included and renumbered",
            "You leave out the passage that does not fit, include a later, shorter one and renumber it. The first passage that does not fit ends the list.",
            code="""
def answer_prompt(question, passages, most):
    lines, words = [], 0
    for passage in passages:
        if words + len(passage.split()) <= most:
            words += len(passage.split())
            lines.append(f"[{len(lines) + 1}] {passage}")
    if lines:
        lines.append("")
    return "\\n".join([*lines, f"Question: {question}", "Answer:"])
""",
        ),
        Mistake(
            "passage beyond the limit included",
            "You check the limit only after including a passage. Leave out the passage that does not "
            "fit.",
            code="""
def answer_prompt(question, passages, most):
    lines, words = [], 0
    for number, passage in enumerate(passages, start=1):
        if words >= most:
            break
        words += len(passage.split())
        lines.append(f"[{number}] {passage}")
    if lines:
        lines.append("")
    return "\\n".join([*lines, f"Question: {question}", "Answer:"])
""",
        ),
        Mistake(
            "limit treated as exclusive",
            "If the passages have exactly `most` words, you leave out the last passage. Exactly `most` words are allowed.",
            "if words > most:", "if words >= most:",
        ),
        Mistake(
            "limit applied to each passage",
            "You compare each passage separately with `most`. The limit applies to all included passages together.",
            COUNT, "words = len(passage.split())",
        ),
        Mistake(
            "characters counted instead of words",
            "Your prompts contain hardly any passages, because you count characters. The limit is in words.",
            COUNT, "words += len(passage)",
        ),
        Mistake(
            "empty words counted",
            "Your answer is correct unless one space follows another: split(' ') finds an empty word between two spaces, but split() does not.",
            COUNT, 'words += len(passage.split(" "))',
        ),
        Mistake(
            "number of the passage counted as a word",
            "You count \"[1]\" as a word, which is one word too many per passage. The numbers do not count towards the limit.",
            COUNT, "words += len(passage.split()) + 1",
        ),
        Mistake(
            "words of the question counted",
            "You also count the question's words. The limit applies only to the passages.",
            "lines, words = [], 0", "lines, words = [], len(question.split())",
        ),
        Mistake(
            "last passage truncated",
            "You truncate the last passage at the limit. Half a sentence can mean the opposite of the whole: include a "
            "passage completely or not at all.",
            code="""
def answer_prompt(question, passages, most):
    lines, left = [], most
    for number, passage in enumerate(passages, start=1):
        words = passage.split()[:left]
        if not words:
            break
        left -= len(words)
        lines.append(f"[{number}] {' '.join(words)}")
    if lines:
        lines.append("")
    return "\\n".join([*lines, f"Question: {question}", "Answer:"])
""",
        ),
        Mistake(
            "numbered from 0",
            "Your first passage has the number [0]: start at 1.",
            LINE, 'lines.append(f"[{number - 1}] {passage}")',
        ),
        Mistake(
            "numbers missing",
            "Your passages have no numbers, so an answer could not state which passage it comes from.",
            LINE, "lines.append(passage)",
        ),
        Mistake(
            "empty line without passages",
            "If no passage is included, your prompt begins with an empty line. It should begin with the question.",
            EMPTY, '    lines.append("")\n',
        ),
        Mistake(
            "empty line missing",
            "Your question follows the last passage directly. Separate the two with an empty line.",
            EMPTY, "",
        ),
        Mistake(
            "empty lines between passages",
            "Your passages are separated by empty lines. Each passage belongs on the line directly below the previous one.",
            LINE, 'lines.append(f"[{number}] {passage}" if number == 1 else f"\\n[{number}] {passage}")',
        ),
        Mistake(
            "question before the passages",
            "Your question comes before the passages. A decoder reads from left to right: here the question should come last, just before the answer.",
            JOIN, '"\\n".join([f"Question: {question}", "", *lines, "Answer:"] if lines else [f"Question: {question}", "Answer:"])',
            also=("""
def answer_prompt(question, passages, most):
    lines, words = [f"Question: {question}"], 0
    for number, passage in enumerate(passages, start=1):
        words += len(passage.split())
        if words > most:
            break
        lines.append(f"[{number}] {passage}")
    return "\\n".join([*lines, "Answer:"])
""",),
        ),
        Mistake(
            "answer line missing",
            "Your prompt ends with the question. Its last line should be \"Answer:\", which signals to the model that the answer comes next.",
            JOIN, '"\\n".join([*lines, f"Question: {question}"])',
        ),
        Mistake(
            "space or line break at the end of the prompt",
            "You add a space or a line break after \"Answer:\". A decoder continues from exactly that point, and a token often "
            "begins with its own space.",
            JOIN, '"\\n".join([*lines, f"Question: {question}", "Answer: "])',
            also=("""
def answer_prompt(question, passages, most):
    lines, words = [], 0
    for number, passage in enumerate(passages, start=1):
        words += len(passage.split())
        if words > most:
            break
        lines.append(f"[{number}] {passage}")
    if lines:
        lines.append("")
    return "\\n".join([*lines, f"Question: {question}", "Answer:\\n"])
""",),
        ),
        Mistake(
            "passages in reverse order",
            "Your passages are in reverse order: the best one should come first and have the number 1.",
            "    return", "    lines[:-1] = lines[:-1][::-1]\n    return",
            also=("""
def answer_prompt(question, passages, most):
    lines, words = [], 0
    for number, passage in enumerate(passages[::-1], start=1):
        words += len(passage.split())
        if words > most:
            break
        lines.append(f"[{number}] {passage}")
    if lines:
        lines.append("")
    return "\\n".join([*lines, f"Question: {question}", "Answer:"])
""",),
        ),
    ),
    alternatives={
        "cumulative counts": """
from itertools import accumulate
def answer_prompt(question, passages, most):
    totals = accumulate(len(passage.split()) for passage in passages)
    taken = [passage for passage, total in zip(passages, totals) if total <= most]
    block = "".join(f"[{i + 1}] {passage}\\n" for i, passage in enumerate(taken))
    return (block + "\\n" if taken else "") + f"Question: {question}\\nAnswer:"
""",
        "a string that grows": """
def answer_prompt(question, passages, most):
    prompt, number = "", 0
    while number < len(passages):
        most = most - len(passages[number].split())
        if most < 0:
            break
        number = number + 1
        prompt += "[" + str(number) + "] " + passages[number - 1] + "\\n"
    if prompt != "":
        prompt += "\\n"
    return prompt + "Question: " + question + "\\n" + "Answer:"
""",
    },
    hints=(
        "The limit is ten words; the passages have six, five and two. Which of them belong in the prompt?",
        "Input: a text, a list of texts (perhaps empty), a maximum number of words. Output: one text, its lines joined by line breaks.",
        "for each passage, numbered from 1:\n    add its words to the count; stop if there are too many\n    add a line "
        "\"[number] passage\"\nif there is any line: add an empty one\n\"Question: …\", then \"Answer:\"",
        "A near miss: `if words + size <= most` around the body continues after a passage that does not fit.",
    ),
)


def support_cases(draw: Draw) -> Iterator[Case]:
    """Each case has an answer of every kind, with random words; every second case also has answers that claim nothing."""
    for extra in range(4):
        words = [str(word) for word in draw.rng.permutation(SAID)]
        here, elsewhere = words[:9], words[12:]
        passage = f"The {here[0].capitalize()} of {' '.join(here[1:])}, and 570,000 {elsewhere[0]}ers."
        answers = [
            f"{here[1].upper()} is the {here[2]}.",  # fully supported
            f"It is {elsewhere[1]}, {elsewhere[2]}.",  # not supported
            f"{here[3]} {here[4]} and {elsewhere[3]}",
            f"{elsewhere[4]} {elsewhere[4]} {elsewhere[4]} of {here[5]}",  # once, however often
            f"{here[6]} {here[6]} {here[6]} {elsewhere[5]}",
            *(["", "It is that."] if extra % 2 else []),  # no content word
            f"{elsewhere[0]} {here[7]}",  # only as part of a longer word
            f"570,000 {here[0]}",
            f"The 570 {here[8]}s",
            f"What is it? {here[2]} {here[3]} {here[4]} {here[5]} {elsewhere[6]}",
        ]
        answers += [" ".join(map(str, draw.rng.choice(words, int(draw.integers(2, 7))))) for _ in range(extra)]
        yield {"answers": answers, "passages": [passage] * len(answers), "numbers": np.arange(len(answers))}


CLAIMED, SUPPORT = "set(content_words(answer))", "len(claimed & set(content_words(passage))) / len(claimed)"

supported = Exercise(
    cases=support_cases,
    rule=Rule("close", 1e-5, axes={"": "answers"}),
    mistakes=(
        Mistake(
            "repeated words counted each time",
            "If an answer contains a word three times, you count it three times. Each distinct word counts once.",
            code="""
def supported(answer, passage):
    claimed = content_words(answer)
    if not claimed:
        return 1.0
    stands = set(content_words(passage))
    return sum(word in stands for word in claimed) / len(claimed)
""",
            also=("""
def supported(answer, passage):
    claimed = set(content_words(answer))
    if not claimed:
        return 1.0
    return len(claimed & set(content_words(passage))) / len(content_words(answer))
""",),
        ),
        Mistake(
            "share of the passage's words",
            "You measure how much of the passage the answer repeats. A short answer from a long passage may be fully supported, so divide by the number of words in the answer.",
            SUPPORT, "len(claimed & set(content_words(passage))) / len(set(content_words(passage)))",
            also=("""
def supported(answer, passage):
    claimed, stands = set(content_words(answer)), set(content_words(passage))
    return len(claimed & stands) / len(stands)
""",),
        ),
        Mistake(
            "share of the words of both texts",
            "You divide by the number of words in the answer and the passage together. The rest of the passage does not weaken the answer's support.",
            SUPPORT, "len(claimed & set(content_words(passage))) / len(claimed | set(content_words(passage)))",
            also=("""
def supported(answer, passage):
    claimed, stands = set(content_words(answer)), set(content_words(passage))
    return len(claimed & stands) / len(claimed | stands)
""",),
        ),
        Mistake(
            "parts of words matched",
            "You look for the letters of a word anywhere in the passage, so that *art* is found in *part*. Compare whole "
            "words.",
            SUPPORT, "sum(word in passage.lower() for word in claimed) / len(claimed)",
        ),
        Mistake(
            "function words counted",
            "You count all words. *The* and *is* occur in nearly every passage and provide no evidence.",
            edits={CLAIMED: 'set(re.findall(r"[a-z]+|\\d[\\d.,]*\\d|\\d", answer.lower()))', "set(content_words(passage))": 'set(re.findall(r"[a-z]+|\\d[\\d.,]*\\d|\\d", passage.lower()))'},
            also=("""
def supported(answer, passage):
    claimed = set(answer.lower().split())
    return len(claimed & set(passage.lower().split())) / len(claimed) if claimed else 1.0
""", """
def supported(answer, passage):
    claimed = set(answer.split())
    return len(claimed & set(passage.split())) / len(claimed) if claimed else 1.0
""", """
def supported(answer, passage):
    claimed = set(re.findall(r"[a-z]+", answer.lower()))
    return len(claimed & set(re.findall(r"[a-z]+", passage.lower()))) / len(claimed) if claimed else 1.0
"""),
        ),
        Mistake(
            "0 for an answer without content words",
            "You return 0 for an answer without content words. It claims nothing that the passage would have to support: "
            "return 1.",
            "return 1.0", "return 0.0",
        ),
        Mistake(
            "division by zero",
            "Your function raises an error for an answer without content words. Such an answer claims nothing: return 1.",
            "    if not claimed:\n        return 1.0\n", "",
        ),
        Mistake(
            "1 only for full support",
            "You return 1 if every word occurs in the passage, otherwise 0. Return the share of the words that occur in it.",
            SUPPORT, "float(claimed <= set(content_words(passage)))",
        ),
        Mistake(
            "1 as soon as one word is supported",
            "You return 1 as soon as one word occurs in the passage. Return the share of the words that occur in it.",
            SUPPORT, "float(bool(claimed & set(content_words(passage))))",
        ),
        Mistake(
            "share of unsupported words",
            "You return the share of the words that do *not* occur in the passage. Return the share of those that do.",
            SUPPORT, "len(claimed - set(content_words(passage))) / len(claimed)",
        ),
        Mistake(
            "number instead of fraction",
            "You return the number of supported words. Divide it by the number of distinct content words in the answer.",
            SUPPORT, "len(claimed & set(content_words(passage)))",
        ),
    ),
    alternatives={
        "a loop": """
def supported(answer, passage):
    passage_words = content_words(passage)
    seen, there = [], 0
    for word in content_words(answer):
        if word in seen:
            continue
        seen.append(word)
        if word in passage_words:
            there += 1
    return there / len(seen) if seen else 1
""",
        "what is missing": """
def supported(answer, passage):
    claimed = set(content_words(answer))
    missing = claimed.difference(content_words(passage))
    return 1 - len(missing) / max(len(claimed), 1)
""",
        "a mean": """
import numpy as np
def supported(answer, passage):
    claimed = sorted({*content_words(answer)})
    return np.mean([word in content_words(passage) for word in claimed]) if claimed else np.float64(1)
""",
    },
    hints=(
        "The passage is \"The sky is blue.\" To what extent does it support \"Blue!\", \"It is a green sky\", and an answer that "
        "says nothing?",
        "Input: two texts. `content_words` returns a list of words for each, which may contain a word twice. Output: a number "
        "from 0 to 1.",
        "the distinct content words of the answer\nif there are none: 1\nthe number of them that occur among the content words of the passage, divided by the number of content words in the answer",
        "A near miss: `word in passage` looks for a sequence of letters, whereas `word in content_words(passage)` looks for a whole word.",
    ),
)


def last_cases(draw: Draw) -> Iterator[Case]:
    """Sequences padded on the right, the first without padding; then padded on the left; then both in one batch."""
    for B, T, D, side in ((4, 7, 5, "right"), (3, 9, 4, "left"), (5, 6, 8, "both")):
        keep = draw.padding(B, T)
        if side == "right":  # the first row reveals nothing about the others
            keep = keep[(~keep.all(axis=1)).argsort(kind="stable")]
        while side != "right" and keep[:2].all(axis=1).any():  # at least one row of each side is padded
            keep = draw.padding(B, T)
        turned = {"right": [], "left": range(B), "both": range(1, B, 2)}[side]
        for row in turned:
            keep[row] = keep[row][::-1].copy()
        yield {"hidden": draw.normal(B, T, D), "keep": keep}


LAST = "(keep * torch.arange(1, T + 1)).argmax(dim=1)"

last_token = Exercise(
    cases=last_cases,
    rule=Rule("close", 1e-5, axes={"": "B D"}),
    mistakes=(
        Mistake(
            "last position regardless of padding",
            "For sequences that end in padding, you return the vector of a padding position.",
            LAST, "torch.full((len(hidden),), T - 1)",
        ),
        Mistake(
            "number of tokens used as a position",
            "Your vectors are wrong for sequences padded on the left: there, the number of tokens does not give the position "
            "of the last one.",
            LAST, "keep.sum(dim=1) - 1",
        ),
        Mistake(
            "first token instead of the last",
            "You return the vector of the first token, which in a decoder has seen nothing but itself.",
            LAST, "keep.int().argmax(dim=1)",
        ),
        Mistake(
            "first position regardless of padding",
            "You return the vector at the first position, whether it is a token or padding.",
            LAST, "torch.zeros(len(hidden), dtype=torch.long)",
        ),
        Mistake(
            "token before the last",
            "You look one position too early. (One position before 0 is index −1, the end of the sequence.)",
            LAST, "((keep * torch.arange(1, T + 1)).argmax(dim=1) - 1).clamp(min=0)",
            also=("""
def last_token(hidden, keep):
    last = (keep * torch.arange(1, keep.shape[1] + 1)).argmax(dim=1)
    return hidden[torch.arange(len(hidden)), last - 1]
""",),
        ),
        Mistake(
            "position after the last token",
            "If padding follows, you look one position too late. (If you number the positions from 1, subtract 1 to get an index.)",
            LAST, "((keep * torch.arange(1, T + 1)).argmax(dim=1) + 1).clamp(max=T - 1)",
        ),
        Mistake(
            "one padding side for the whole batch",
            "You choose one padding side for the whole batch. Some sequences may be padded on the left, others on the right or "
            "not at all: each has its own last position.",
            code="""
def last_token(hidden, keep):
    last = torch.full((len(keep),), keep.shape[1] - 1) if keep[0, -1] else keep.sum(dim=1) - 1
    return hidden[range(len(keep)), last]
""",
            also=("""
def last_token(hidden, keep):
    last = torch.full((len(keep),), keep.shape[1] - 1) if keep[:, -1].all() else keep.sum(dim=1) - 1
    return hidden[range(len(keep)), last]
""", """
def last_token(hidden, keep):
    last = keep.sum(dim=1) - 1 if keep[:, 0].all() else torch.full((len(keep),), keep.shape[1] - 1)
    return hidden[range(len(keep)), last]
"""),
        ),
        Mistake(
            "every position looked up in every sequence",
            "You look up *all* positions in each sequence, which gives (B, B, D). Each sequence needs only its own position.",
            "return hidden[torch.arange(len(hidden)), last]", "return hidden[:, last]",
        ),
        Mistake(
            "mean instead of the last token",
            "You return the mean of the tokens instead of the last one.",
            code="""
def last_token(hidden, keep):
    return mean_pool(hidden, keep)
""",
        ),
    ),
    alternatives={
        "a loop": """
def last_token(hidden, keep):
    return torch.stack([row[real][-1] for row, real in zip(hidden, keep)])
""",
        "counted from the end": """
def last_token(hidden, keep):
    behind = keep.flip(1).long().argmax(dim=1)
    return hidden.flip(1)[range(len(keep)), behind]
""",
        "numpy": """
import numpy as np
def last_token(hidden, keep):
    return np.array([h[np.flatnonzero(k)[-1]] for h, k in zip(hidden.numpy(), keep.numpy())], dtype=np.float64)
""",
    },
    hints=(
        "In which column is the last True of each row? Try a row that begins with padding.",
        "keep (B, T) → one position per sequence (B). hidden (B, T, D) → (B, D).",
        "number the positions from 1 to T, with 0 at padding\nposition of the largest number in each row\nselect the vector "
        "there",
        "A near miss: `keep.sum(dim=1) - 1` is correct as long as the padding is on the right.",
    ),
)
