"""The exercises of 01, one vector per word: counting, comparing, learning and taking apart word vectors."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from coursekit.asking import Case
from coursekit.judging import Rule

# ---------------------------------------------------------------- ppmi


def _counts(draw: Draw, words: int, contexts: int, rate: float) -> np.ndarray:
    """Counts with zeros, a word that never occurs and a context word that never occurs."""
    popularity = draw.rng.gamma(1.0, size=(words, 1)) * draw.rng.gamma(1.0, size=(1, contexts))
    counts = draw.rng.poisson(rate * popularity + 0.5).astype(np.float32)
    counts[0, 1] = 3 + counts.max()  # one pair that surely belongs together
    counts[-1, :] = 0
    counts[:, 0] = 0
    return counts


def _ppmi_cases(draw: Draw) -> Iterator[Case]:
    for words, contexts, rate in ((4, 6, 3.0), (7, 5, 1.5), (9, 12, 6.0)):
        yield {"counts": _counts(draw, words, contexts, rate)}


PPMI = Exercise(
    name="static.ppmi",
    cases=_ppmi_cases,
    rule=Rule("close", 1e-4, axes={"": "word context"}),
    mistakes=(
        Mistake(
            "negative values were kept",
            "Some of your entries are below zero. The first P of PPMI stands for positive: pairs that meet less "
            "often than by chance count as 0.",
            {".log().clamp(min=0)": ".log()"},
        ),
        Mistake(
            "logarithm to base 2",
            "Every entry is larger than expected by the same factor, 1.4427. Which number is the base of your logarithm?",
            {".log()": ".log2()"},
        ),
        Mistake(
            "the total was left out",
            "Your table is 0 nearly everywhere. Compare one observed count with the one you expect by chance: are "
            "both counts, or is one of them a count squared?",
            {" / counts.sum()": ""},
        ),
        Mistake(
            "compared with the word's frequency only",
            "The entries of frequent context words are too large: a word such as \"the\" is near everything. "
            "What you expect by chance depends on how frequent both words are.",
            {"counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()": "counts.sum(dim=1, keepdim=True) / counts.shape[1]"},
        ),
        Mistake(
            "compared with the context's frequency only",
            "The rows of frequent words are too large. What you expect by chance depends on how frequent both words are.",
            {"counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()": "counts.sum(dim=0) / counts.shape[0]"},
        ),
        Mistake(
            "the ratio itself, without a logarithm",
            "Your entries run from 0 to large numbers, and a pair that meets as often as by chance gets 1. "
            "PMI measures on a scale where such a pair gets 0.",
            {".log().clamp(min=0)": ""},
        ),
        Mistake(
            "0/0 for a word that never occurs",
            "Your table holds NaN in the row or column of a word that never occurs. Only pairs that were seen need a logarithm.",
            {"torch.where(counts > 0, counts / by_chance, 1.0)": "(counts / by_chance)"},
        ),
        Mistake(
            "one was added to every count",
            "Pairs that never met have positive entries in your table. Adding one to the counts is another method; "
            "here a pair that was never seen gets 0.",
            {"    by_chance = ": "    counts = counts + 1\n    by_chance = "},
        ),
        Mistake(
            "multiplied by the count",
            "Frequent pairs get entries far above the expected ones. PMI says how surprising one meeting is, "
            "however often it happened.",
            {".log().clamp(min=0)": ".log().clamp(min=0) * counts"},
        ),
    ),
    alternatives={
        "probabilities, and NaN removed at the end": """
def ppmi(counts):
    joint = counts / counts.sum()
    word, context = joint.sum(1), joint.sum(0)
    pmi = torch.log(joint) - torch.log(word)[:, None] - torch.log(context)[None, :]
    return torch.nan_to_num(pmi, nan=0.0, neginf=0.0).clamp_min(0)
""",
        "a loop over the pairs": """
import math

def ppmi(counts):
    total = counts.sum().item()
    table = torch.zeros_like(counts)
    for w in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            n = counts[w, c].item()
            if n > 0:
                table[w, c] = max(0.0, math.log(n * total / (counts[w].sum().item() * counts[:, c].sum().item())))
    return table
""",
        "numpy, in float64": """
import numpy as np

def ppmi(counts):
    n = counts.numpy().astype(np.float64)
    chance = np.outer(n.sum(1), n.sum(0)) / n.sum()
    return np.log(np.maximum(np.divide(n, chance, out=np.ones_like(n), where=n > 0), 1))
""",
    },
    hints=(
        "If the two words knew nothing of each other, how often would you expect to see them together? "
        "Say it in words before you write it.",
        "counts is (word, context). Row sums are (word, 1), column sums (1, context), the total is one number; "
        "what you expect by chance is (word, context) again.",
        "expected = row sum × column sum ÷ total; ratio = count ÷ expected; take its logarithm where the count is "
        "above 0; put 0 everywhere else and wherever the logarithm is negative.",
        "Near miss: log(count / expected) with negative values cut off is right except where a word never occurs: "
        "there it computes 0/0. Decide those entries before the logarithm.",
    ),
)

# ---------------------------------------------------------------- cosine


def _cosine_cases(draw: Draw) -> Iterator[Case]:
    for n, m, size in ((3, 5, 4), (6, 2, 7), (4, 9, 3)):
        a, b = draw.normal(n, size) + 0.4, 3 * draw.normal(m, size) - 0.5
        b[1] = 0  # a word without a vector
        yield {"a": a, "b": b}


COSINE = Exercise(
    name="static.cosine",
    cases=_cosine_cases,
    rule=Rule("close", 1e-4, axes={"": "n m"}),
    mistakes=(
        Mistake(
            "dot products, not cosines",
            "Your values leave the range from −1 to 1: long vectors still count for more than short ones.",
            {"F.normalize(a, dim=1) @ F.normalize(b, dim=1).T": "a @ b.T"},
        ),
        Mistake(
            "only the first set was brought to length 1",
            "Your values leave the range from −1 to 1 in some columns: those of long vectors in b.",
            {"F.normalize(b, dim=1)": "b"},
        ),
        Mistake(
            "only the second set was brought to length 1",
            "Some rows of your answer leave the range from −1 to 1: those of long vectors in a.",
            {"F.normalize(a, dim=1)": "a"},
        ),
        Mistake(
            "lengths along the wrong axis",
            "A vector compared with itself should give 1; yours does not. You made each feature of length 1, "
            "over all words, instead of each word's vector.",
            {"F.normalize(a, dim=1) @ F.normalize(b, dim=1).T": "F.normalize(a, dim=0) @ F.normalize(b, dim=0).T"},
        ),
        Mistake(
            "distance instead of similarity",
            "Your value for two vectors that point the same way is 0, and for opposite ones 2.",
            {"return ": "return 1 - "},
        ),
        Mistake(
            "divided by the squared lengths",
            "Your values are too small for long vectors and too large for short ones. What is the length of a vector: "
            "the sum of its squares, or something done to it?",
            code="""
def cosine(a, b):
    squares = (a * a).sum(1)[:, None] * (b * b).sum(1)[None, :]
    return a @ b.T / squares.clamp(min=1e-12)
""",
        ),
        Mistake(
            "centred first: that is a correlation",
            "Your values are Pearson correlations: each vector lost its mean before it was compared. The cosine keeps it.",
            {"    return ": "    a, b = a - a.mean(1, keepdim=True), b - b.mean(1, keepdim=True)\n    return "},
        ),
        Mistake(
            "0/0 for a vector of zeros",
            "A column of yours is NaN: one of the vectors is all zeros and has length 0. The docstring says what its cosine is.",
            code="""
def cosine(a, b):
    return (a @ b.T) / (a.norm(dim=1)[:, None] * b.norm(dim=1)[None, :])
""",
        ),
        Mistake(
            "the sign was lost",
            "None of your values is negative. Vectors that point in opposite directions have cosine −1.",
            {"F.normalize(a, dim=1) @ F.normalize(b, dim=1).T": "(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).abs()"},
        ),
    ),
    alternatives={
        "torch's own, by broadcasting": """
def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a[:, None, :], b[None, :, :], dim=-1)
""",
        "two loops": """
import math

def cosine(a, b):
    rows = []
    for u in a.tolist():
        row = []
        for v in b.tolist():
            lengths = math.sqrt(sum(x * x for x in u)) * math.sqrt(sum(x * x for x in v))
            row.append(sum(x * y for x, y in zip(u, v)) / lengths if lengths else 0.0)
        rows.append(row)
    return torch.tensor(rows)
""",
        "einsum in float64": """
def cosine(a, b):
    a, b = a.double(), b.double()
    dots = torch.einsum("nd,md->nm", a, b)
    lengths = torch.einsum("n,m->nm", a.square().sum(1).sqrt(), b.square().sum(1).sqrt())
    return torch.where(lengths > 0, dots / lengths, 0.0)
""",
    },
    hints=(
        "Two arrows: which of their properties should not matter when you ask whether they point the same way?",
        "a is (n, D), b is (m, D). The answer is (n, m), one number for each pair: the axis D has been summed over.",
        "divide each row of a by its length; the same for b; then one matrix product gives all dot products.",
        "Near miss: a @ b.T divided by the product of the two lengths, as (n, 1) and (1, m), is right for all "
        "vectors but one of zeros: there it divides by 0.",
    ),
)

# ---------------------------------------------------------------- nearest


def _nearest_cases(draw: Draw) -> Iterator[Case]:
    for words, size, k in ((30, 6, 5), (41, 9, 7), (53, 4, 3)):
        # Lengths differ by a factor of fifty, as those of frequent and rare words do.
        vectors = draw.normal(words, size) * np.exp(draw.uniform(words, 1, low=-2.0, high=2.0))
        yield {"vectors": vectors, "query": int(draw.integers(1, words)), "k": k}


NEAREST = Exercise(
    name="static.nearest",
    cases=_nearest_cases,
    uses=("static.cosine",),
    rule=Rule("equal", axes={"": "k"}),
    mistakes=(
        Mistake(
            "the word itself is in the list",
            "Your first neighbour is the word that was asked for. It is always the most similar one, and tells nothing.",
            {"    similarity[query] = -torch.inf\n": ""},
        ),
        Mistake(
            "the word was dropped, and one neighbour with it",
            "Your list is one too short: it was cut to k before the word itself was taken out.",
            {"    similarity[query] = -torch.inf\n": "", "topk(k).indices": "topk(k).indices[1:]"},
        ),
        Mistake(
            "ranked by the dot product",
            "Your list prefers words with long vectors, also where they point elsewhere. The docstring asks for the "
            "cosine: in it, length does not count.",
            {"cosine(vectors[[query]], vectors).squeeze(0)": "vectors @ vectors[query]"},
        ),
        Mistake(
            "the farthest words",
            "Your list holds the words that are least like the query.",
            {"similarity[query] = -torch.inf": "similarity[query] = torch.inf", "topk(k)": "topk(k, largest=False)"},
        ),
        Mistake(
            "ranked by distance between the points",
            "Your list prefers words whose vectors are about as long as the query's. The docstring asks for the cosine.",
            {"cosine(vectors[[query]], vectors).squeeze(0)": "-(vectors - vectors[query]).norm(dim=1)"},
        ),
        Mistake(
            "in the order of the vocabulary",
            "These are the right words in the wrong order: the most similar one comes first.",
            {"topk(k).indices": "topk(k).indices.sort().values"},
        ),
        Mistake(
            "similarities instead of words",
            "Your function returns how similar the neighbours are. The docstring asks which rows they are.",
            {".indices": ".values"},
        ),
        Mistake(
            "opposite words counted as near",
            "Some of your neighbours point away from the query: their cosine is near −1, not near 1.",
            {"cosine(vectors[[query]], vectors).squeeze(0)": "cosine(vectors[[query]], vectors).squeeze(0).abs()"},
        ),
        Mistake(
            "worst first",
            "These are the right words in reverse: the most similar one comes first.",
            {"topk(k).indices": "topk(k).indices.flip(0)"},
        ),
    ),
    alternatives={
        "sorted in full, the first one skipped": """
def nearest(vectors, query, k):
    order = cosine(vectors, vectors[query : query + 1]).squeeze(1).argsort(descending=True)
    return order[1 : k + 1]
""",
        "a list of numbers in plain Python": """
def nearest(vectors, query, k):
    unit = torch.nn.functional.normalize(vectors.double(), dim=1)
    scores = (unit @ unit[query]).tolist()
    others = [i for i in range(len(scores)) if i != query]
    return sorted(others, key=lambda i: -scores[i])[:k]
""",
        "numpy": """
import numpy as np

def nearest(vectors, query, k):
    v = vectors.numpy()
    s = v @ v[query] / np.linalg.norm(v, axis=1)
    s[query] = -np.inf
    return np.argsort(-s)[:k]
""",
    },
    hints=(
        "Which word is always the most similar to the query? Do you want it in the list?",
        "vectors is (V, D), query and k are whole numbers. The answer is (k,): rows of the table, best first. "
        "Your cosine wants two matrices: what has shape (1, D) here?",
        "similarity of the query's row to all rows; take the query out of the race; the k largest, in order; "
        "return where they are, not how large.",
        "Near miss: taking the k most similar and then dropping the first leaves k − 1. Take the query out before "
        "you choose, or choose one more.",
    ),
)

# ---------------------------------------------------------------- skip-gram with negative sampling


def _sgns_cases(draw: Draw) -> Iterator[Case]:
    for batch, k, size in ((2, 3, 5), (5, 2, 4), (3, 7, 6)):
        yield {"center": draw.normal(batch, size) + 0.2, "context": draw.normal(batch, size) - 0.1,
               "negatives": draw.normal(batch, k, size) + 0.1}  # fmt: skip
    # One pair of long vectors that point apart: the score is near −200, and σ(−200) is 0 in float32.
    center, context = draw.normal(4, 8), draw.normal(4, 8)
    center[0] *= 12 / np.linalg.norm(center[0])
    context[0] = -center[0] * 1.4
    yield {"center": center, "context": context, "negatives": draw.normal(4, 5, 8)}


SGNS = Exercise(
    name="static.sgns_loss",
    cases=_sgns_cases,
    rule=Rule("close", 1e-4),
    mistakes=(
        Mistake(
            "negatives pulled instead of pushed",
            "Your loss falls when the center agrees with its negatives: it treats them as true neighbours. "
            "Which probability do you want to be large for a word that was drawn at random?",
            {"F.logsigmoid(-noise)": "F.logsigmoid(noise)"},
        ),
        Mistake(
            "the true pair pushed apart",
            "Your loss grows when center and context agree, and these two did meet.",
            {"F.logsigmoid(true)": "F.logsigmoid(-true)"},
        ),
        Mistake(
            "the sign of the whole",
            "Your loss is negative. It is a log likelihood: training would make it smaller and smaller, which means worse.",
            {"return -(": "return ("},
        ),
        Mistake(
            "mean over the negatives",
            "The part of the negatives is k times too small: the formula adds one term for each of them.",
            {"F.logsigmoid(-noise).sum(dim=1)": "F.logsigmoid(-noise).mean(dim=1)"},
        ),
        Mistake(
            "sum over the batch",
            "Your loss is B times too large: it adds up over the batch, and the docstring asks for the mean.",
            {".sum(dim=1)).mean()": ".sum(dim=1)).sum()"},
        ),
        Mistake(
            "no negatives",
            "Your loss is that of the true pairs alone. Vectors that all point the same way would make it 0.",
            {" + F.logsigmoid(-noise).sum(dim=1)": ""},
        ),
        Mistake(
            "negatives compared with the context",
            "The part of the true pairs is right. In the other part you compare the random words with the context "
            "word; they are there to be told apart from the center's true neighbour.",
            {"negatives * center.unsqueeze(1)": "negatives * context.unsqueeze(1)"},
        ),
        Mistake(
            "sigmoid without a logarithm",
            "Your loss lies between −(k + 1) and 0: it adds up probabilities. The formula adds up their logarithms.",
            {"return -(F.logsigmoid(true) + F.logsigmoid(-noise)": "return -(torch.sigmoid(true) + torch.sigmoid(-noise)"},
        ),
        Mistake(
            "logarithm of a sigmoid that has become 0",
            "It is right until center and context point far apart: then σ is 0 in float32, its logarithm infinite, "
            "and training is over. There is a function that computes both at once.",
            {"F.logsigmoid(true)": "torch.sigmoid(true).log()"},
        ),
        Mistake(
            "averaged over the features",
            "Your scores are D times too small. A dot product is a sum over the features.",
            {"(center * context).sum(dim=1)": "(center * context).mean(dim=1)",
             "(negatives * center.unsqueeze(1)).sum(dim=2)": "(negatives * center.unsqueeze(1)).mean(dim=2)"},
        ),
    ),
    alternatives={
        "binary cross-entropy with labels": """
def sgns_loss(center, context, negatives):
    words = torch.cat([context.unsqueeze(1), negatives], dim=1)
    scores = torch.bmm(words, center.unsqueeze(2)).squeeze(2)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="none").sum(1).mean()
""",
        "softplus and einsum": """
def sgns_loss(center, context, negatives):
    true = torch.einsum("bd,bd->b", center, context)
    noise = torch.einsum("bkd,bd->bk", negatives, center)
    return torch.nn.functional.softplus(-true).mean() + torch.nn.functional.softplus(noise).sum() / len(true)
""",
        "a loop in float64": """
def sgns_loss(center, context, negatives):
    total = 0.0
    for u, v, others in zip(center.double(), context.double(), negatives.double()):
        total = total + torch.log1p(torch.exp(-(u @ v)))
        for n in others:
            total = total + torch.log1p(torch.exp(u @ n))
    return total / len(center)
""",
    },
    hints=(
        "The model plays a game: for each pair of words it says how likely it is that the pair is real. "
        "When should it be punished?",
        "center and context are (B, D): one score for each row, (B,). negatives is (B, k, D): with center as "
        "(B, 1, D) the scores are (B, k).",
        "true = dot(center, context); noise = dot(center, each negative); "
        "loss = −log σ(true) − Σ over negatives of log σ(−noise); mean over the batch.",
        "Near miss: torch.log(torch.sigmoid(score)) is right for small scores and −∞ for a score of −200. "
        "Look for a function of torch whose name is both words in one.",
    ),
)

# ---------------------------------------------------------------- find the bug: CBOW's gradient


def _cbow_cases(draw: Draw) -> Iterator[Case]:
    for batch, contexts, k, size in ((2, 4, 3, 6), (3, 2, 5, 4), (4, 6, 2, 5)):
        yield {"contexts": draw.normal(batch, contexts, size), "target": draw.normal(batch, size),
               "negatives": draw.normal(batch, k, size)}  # fmt: skip


CBOW = Exercise(
    name="static.cbow_gradient",
    mends=True,
    cases=_cbow_cases,
    rule=Rule("close", 1e-4, axes={"": "B C D"}),
    mistakes=(
        Mistake(
            "still the gradient of word2vec.c",
            "Every number is too large by the same factor, and the factor is the number of context words. Each of "
            "them enters the average with a small weight: how far does the average move when one of them moves by 1?",
            {" / contexts.shape[1]": ""},
        ),
        Mistake(
            "the average became a sum",
            "Now the forward pass has changed: the hidden vector is the average of the context words. Mend the "
            "gradient, not the model.",
            {"contexts.mean(dim=1)": "contexts.sum(dim=1)", " / contexts.shape[1]": ""},
        ),
        Mistake(
            "divided by the batch",
            "Your gradient changes with the number of examples B. Each example has a loss of its own here.",
            {" / contexts.shape[1]": " / contexts.shape[0]"},
        ),
        Mistake(
            "divided by the number of features",
            "Your factor is the length D of a vector. Which average stands between the context words and the loss?",
            {" / contexts.shape[1]": " / contexts.shape[2]"},
        ),
        Mistake(
            "divided by the number of negatives",
            "Your factor is the number of negatives k. Which average stands between the context words and the loss?",
            {" / contexts.shape[1]": " / negatives.shape[1]"},
        ),
        Mistake(
            "uphill",
            "Your numbers have the opposite sign: following them makes the loss larger. word2vec.c adds the negative "
            "gradient; the docstring asks for the gradient.",
            {"return error": "return -error"},
        ),
        Mistake(
            "multiplied by the number of context words",
            "Your numbers are too large by the square of the number of context words: the factor went the wrong way.",
            {" / contexts.shape[1]": " * contexts.shape[1]"},
        ),
        Mistake(
            "the first context word took it all",
            "Only one of the context words gets a gradient. Each of them had a part in the average.",
            {"error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]": "torch.cat([error.unsqueeze(1) / contexts.shape[1], torch.zeros_like(contexts[:, 1:])], dim=1)"},
        ),
    ),
    alternatives={
        "autograd does it": """
def cbow_gradient(contexts, target, negatives):
    contexts = contexts.clone().requires_grad_()
    hidden = contexts.mean(1)
    true = (hidden * target).sum(1)
    noise = (negatives * hidden.unsqueeze(1)).sum(2)
    loss = -(torch.nn.functional.logsigmoid(true).sum() + torch.nn.functional.logsigmoid(-noise).sum())
    return torch.autograd.grad(loss, contexts)[0]
""",
        "weights of the average, by einsum": """
def cbow_gradient(contexts, target, negatives):
    weights = torch.full(contexts.shape[:2], 1 / contexts.shape[1])
    words = torch.cat([target.unsqueeze(1), negatives], dim=1)
    labels = torch.zeros(words.shape[:2])
    labels[:, 0] = 1
    hidden = torch.einsum("bc,bcd->bd", weights, contexts)
    wrong = torch.sigmoid(torch.einsum("bkd,bd->bk", words, hidden)) - labels
    return torch.einsum("bc,bk,bkd->bcd", weights, wrong, words)
""",
        "a loop over examples, in float64": """
def cbow_gradient(contexts, target, negatives):
    rows = []
    for c, t, n in zip(contexts.double(), target.double(), negatives.double()):
        h = c.mean(0)
        g = (torch.sigmoid(h @ t) - 1) * t + torch.sigmoid(n @ h) @ n
        rows.append(torch.stack([g / len(c)] * len(c)))
    return torch.stack(rows)
""",
    },
    hints=(
        "Change one context word a little: how much does the hidden vector change? The chain rule needs that number.",
        "contexts is (B, C, D), hidden and error are (B, D). The gradient is (B, C, D): the same row for every context word.",
        "error = ∂loss/∂hidden, as before; ∂hidden/∂context word = 1/C; multiply.",
        "Near miss: dropping the average in the forward pass makes forward and backward agree too, "
        "but it is another model. Only the last line is wrong.",
    ),
)

# ---------------------------------------------------------------- mixture of senses


def _mixture_cases(draw: Draw) -> Iterator[Case]:
    for senses, size in ((2, 7), (3, 9), (5, 12)):
        shared = draw.normal(size)  # senses of one word resemble each other
        table = 0.8 * draw.normal(senses, size) + shared
        weights = draw.uniform(senses, low=0.1, high=1.0)
        yield {"v": weights @ table + 0.15 * draw.normal(size), "senses": table}


MIXTURE = Exercise(
    name="static.sense_mixture",
    cases=_mixture_cases,
    rule=Rule("close", 1e-3, axes={"": "S"}),
    mistakes=(
        Mistake(
            "each sense on its own",
            "Your weights add up to too much: what the senses have in common is counted once for each of them. "
            "The weights have to be found together.",
            code="""
def sense_mixture(v, senses):
    return senses @ v / senses.square().sum(1)
""",
        ),
        Mistake(
            "cosines instead of weights",
            "Your numbers lie between −1 and 1 and say how similar the word is to each sense. A weight says how much of "
            "that sense it takes to rebuild the word.",
            code="""
def sense_mixture(v, senses):
    return torch.nn.functional.cosine_similarity(senses, v.unsqueeze(0), dim=1)
""",
        ),
        Mistake(
            "dot products instead of weights",
            "Your numbers are the dot products with each sense: long senses and common parts blow them up. "
            "Multiply them back with the senses: do you get the word?",
            code="""
def sense_mixture(v, senses):
    return senses @ v
""",
        ),
        Mistake(
            "forced to sum to one",
            "Your weights sum to exactly 1. Nothing in the question asks for that: best means the smallest distance.",
            code="""
def sense_mixture(v, senses):
    weights = torch.linalg.lstsq(senses.T, v.unsqueeze(1)).solution.squeeze(1)
    return weights / weights.sum()
""",
        ),
        Mistake(
            "a softmax of the similarities",
            "Your weights are all positive, sum to 1 and are close to one another: a softmax gave them. "
            "Nothing guarantees that they rebuild the word.",
            code="""
def sense_mixture(v, senses):
    return torch.softmax(senses @ v, dim=0)
""",
        ),
        Mistake(
            "the senses were brought to length 1 first",
            "Your weights are those of shortened senses: multiplied with the senses as they are, they rebuild too long a word.",
            {"    return ": "    senses = torch.nn.functional.normalize(senses, dim=1)\n    return "},
        ),
        Mistake(
            "the word was brought to length 1 first",
            "Your weights have the right proportions and all the wrong size, by the same factor: the length of v.",
            {"    return ": "    v = v / v.norm()\n    return "},
        ),
        Mistake(
            "all senses alike",
            "All your weights are equal. How often does each sense occur in what the word has learnt?",
            code="""
def sense_mixture(v, senses):
    return torch.full((len(senses),), 1 / len(senses))
""",
        ),
        Mistake(
            "centred first",
            "You took the mean out of every vector before solving. These are weights of other vectors.",
            {"    return ": "    v, senses = v - v.mean(), senses - senses.mean(1, keepdim=True)\n    return "},
        ),
    ),
    alternatives={
        "normal equations in float64": """
def sense_mixture(v, senses):
    s = senses.double()
    return torch.linalg.solve(s @ s.T, s @ v.double())
""",
        "numpy": """
import numpy as np

def sense_mixture(v, senses):
    weights, *_ = np.linalg.lstsq(senses.numpy().T, v.numpy(), rcond=None)
    return weights
""",
        "the pseudo-inverse": """
def sense_mixture(v, senses):
    return v @ torch.linalg.pinv(senses)
""",
        "gradient descent": """
def sense_mixture(v, senses):
    s, target = senses.double(), v.double()
    step = 1 / torch.linalg.matrix_norm(s, 2) ** 2
    weights = torch.zeros(len(s), dtype=torch.float64)
    for _ in range(20000):
        weights = weights - step * s @ (weights @ s - target)
    return weights
""",
    },
    hints=(
        "You have a few ingredients and a finished mixture. What would you minimise to find out how much of each went in?",
        "v is (D,), senses is (S, D), the answer is (S,). weights @ senses is (D,) and should come as close to v as it can.",
        "solve the least-squares problem senses.T · weights ≈ v: D equations, S unknowns. torch.linalg has it.",
        "Near miss: projecting v on each sense alone is right only for senses at right angles to each other. "
        "And a least-squares solver wants a matrix on the right, (D, 1), and gives one back.",
    ),
)

# ---------------------------------------------------------------- separation


def _separation_cases(draw: Draw) -> Iterator[Case]:
    for senses, size, occurrences in ((2, 5, 7), (3, 8, 13), (4, 6, 19)):
        centres = draw.normal(senses, size) + 0.5
        which = np.concatenate([np.arange(senses), np.arange(senses), draw.integers(0, senses, occurrences - 2 * senses)])
        which = draw.rng.permutation(which)
        lengths = np.exp(draw.uniform(occurrences, 1, low=-1.0, high=1.0))
        yield {"h": (centres[which] + 0.6 * draw.normal(occurrences, size)) * lengths, "senses": which}


SEPARATION = Exercise(
    name="static.separation",
    cases=_separation_cases,
    uses=("static.cosine",),
    rule=Rule("close", 1e-4),
    mistakes=(
        Mistake(
            "occurrences compared with themselves",
            "Your value is too high: an occurrence has cosine 1 with itself, and that is not a pair.",
            {" & ~itself": ""},
        ),
        Mistake(
            "the wrong way round",
            "Your number is right but for its sign: same sense minus different sense, not the reverse.",
            {"similarity[same & ~itself].mean() - similarity[~same].mean()": "similarity[~same].mean() - similarity[same & ~itself].mean()"},
        ),
        Mistake(
            "only the pairs of one sense",
            "You return how similar occurrences of one sense are. Without the pairs of different senses that number has no "
            "control: all occurrences of a word resemble one another.",
            {" - similarity[~same].mean()": ""},
        ),
        Mistake(
            "compared with all pairs",
            "Your value is too small: the pairs that you subtract also hold those of the same sense.",
            {"similarity[~same].mean()": "similarity[~itself].mean()"},
        ),
        Mistake(
            "dot products, not cosines",
            "Your value changes with the length of the vectors; the docstring asks for cosines.",
            {"similarity = cosine(h, h)": "similarity = h @ h.T"},
        ),
        Mistake(
            "sums instead of means",
            "Your value grows with the number of occurrences: these are sums over pairs, not means.",
            {"similarity[same & ~itself].mean() - similarity[~same].mean()": "similarity[same & ~itself].sum() - similarity[~same].sum()"},
        ),
        Mistake(
            "a ratio instead of a difference",
            "A word whose senses cannot be told apart should get 0 from your function; it gets 1.",
            {" - similarity[~same].mean()": " / similarity[~same].mean()"},
        ),
        Mistake(
            "divided by all pairs",
            "Both of your means are too small: pairs that were masked out still count in the number you divide by.",
            {"similarity[same & ~itself].mean() - similarity[~same].mean()": "(similarity * (same & ~itself)).mean() - (similarity * ~same).mean()"},
        ),
        Mistake(
            "compared the senses' averages",
            "You compare occurrences with the average vector of each sense. The docstring asks for pairs of occurrences.",
            code="""
def separation(h, senses):
    own, other = [], []
    for i in range(len(h)):
        for s in senses.unique():
            value = cosine(h[i : i + 1], h[senses == s].mean(0, keepdim=True))[0, 0]
            (own if s == senses[i] else other).append(value)
    return torch.stack(own).mean() - torch.stack(other).mean()
""",
        ),
    ),
    alternatives={
        "a loop over pairs": """
def separation(h, senses):
    table = cosine(h, h).tolist()
    same, different = [], []
    for i in range(len(h)):
        for j in range(i):
            (same if senses[i] == senses[j] else different).append(table[i][j])
    return sum(same) / len(same) - sum(different) / len(different)
""",
        "triangle indices in float64": """
def separation(h, senses):
    unit = torch.nn.functional.normalize(h.double(), dim=1)
    i, j = torch.triu_indices(len(h), len(h), offset=1)
    values = (unit[i] * unit[j]).sum(1)
    same = senses[i] == senses[j]
    return values[same].mean() - values[~same].mean()
""",
        "weights instead of masks": """
def separation(h, senses):
    table = cosine(h, h)
    alike = (senses.unsqueeze(0) == senses.unsqueeze(1)).float()
    pairs = alike - torch.eye(len(h))
    return float((table * pairs).sum() / pairs.sum() - (table * (1 - alike)).sum() / (1 - alike).sum())
""",
    },
    hints=(
        "Two sentences with the same sense, two with different senses: what do you hope about the similarity of the "
        "word's vectors in them? Which one number says it?",
        "h is (n, D), senses is (n,). All cosines are (n, n), and so is the mask of pairs with the same sense.",
        "same[i, j] = senses[i] equals senses[j]; mean cosine over same pairs with i ≠ j, minus mean cosine over the others.",
        "Near miss: the mean over cosine(h, h)[same] also counts the diagonal, which is 1 everywhere.",
    ),
)

# ---------------------------------------------------------------- extension: where negatives come from


def _distribution_cases(draw: Draw) -> Iterator[Case]:
    for words, power in ((5, 0.75), (9, 0.5), (14, 0.75), (7, 1.0)):
        counts = np.ceil(draw.rng.pareto(0.9, words) * 4 + 1).astype(np.float32)
        counts[1] = 0
        yield {"counts": counts, "power": power}


DISTRIBUTION = Exercise(
    name="static.negative_distribution",
    cases=_distribution_cases,
    rule=Rule("close", 1e-4, axes={"": "V"}),
    mistakes=(
        Mistake(
            "not a distribution yet",
            "Your numbers do not sum to 1.",
            {"return weights / weights.sum()": "return weights"},
        ),
        Mistake(
            "the power was left out",
            "These are the words' frequencies. Does power stand in your answer, and where a factor would not cancel "
            "when you divide by the sum?",
            {"counts**power": "counts"},
        ),
        Mistake(
            "the power taken after dividing",
            "Your numbers do not sum to 1: the power came after the division.",
            {"weights = counts**power": "weights = counts", "return weights / weights.sum()": "return (weights / weights.sum()) ** power"},
        ),
        Mistake(
            "always 3/4",
            "It is right when power is 0.75, and the power is an argument.",
            {"counts**power": "counts**0.75"},
        ),
        Mistake(
            "logarithms of the counts",
            "Your answer does not depend on power, and frequent words come out hardly above rare ones: a logarithm "
            "flattens far more than a power near one.",
            {"counts**power": "torch.log1p(counts)"},
        ),
        Mistake(
            "one added to every count",
            "A word that never occurs gets drawn in yours.",
            {"counts**power": "(counts + 1) ** power"},
        ),
        Mistake(
            "a softmax",
            "Nearly all of your probability lies on one word: a softmax of counts takes e to the power of hundreds.",
            {"weights = counts**power": "weights = torch.exp(counts * power - (counts * power).max())"},
        ),
        Mistake(
            "the power upside down",
            "Rare words are drawn too seldom in yours, and frequent ones too often: the power is above 1.",
            {"counts**power": "counts ** (1 / power)"},
        ),
    ),
    alternatives={
        "numpy in float64": """
def negative_distribution(counts, power):
    raised = counts.double().numpy() ** power
    return raised / raised.sum()
""",
        "a loop": """
def negative_distribution(counts, power):
    raised = [c**power for c in counts.tolist()]
    return torch.tensor([r / sum(raised) for r in raised])
""",
        "L1-normalised": """
def negative_distribution(counts, power):
    return torch.nn.functional.normalize(counts.pow(power), p=1, dim=0)
""",
    },
    hints=(
        "If negatives were drawn as often as the words occur, which words would nearly all of them be?",
        "counts is (V,), power is a number, the answer is (V,) and sums to 1.",
        "raise every count to the power; divide by the sum of the results.",
        "Near miss: dividing first and raising afterwards does not sum to 1.",
    ),
)

# ---------------------------------------------------------------- extension: analogies


def _analogy_cases(draw: Draw) -> Iterator[Case]:
    for words, size, k, alike in ((40, 7, 4, False), (57, 5, 3, True), (33, 9, 6, False)):
        vectors = draw.normal(words, size)
        a, b, c = (int(i) for i in draw.rng.choice(words, 3, replace=False))
        if alike:  # as walk and talk are: then b − a + c is next to b
            vectors[a] = vectors[c] + 0.2 * draw.normal(size)
        vectors *= np.exp(draw.uniform(words, 1, low=-1.5, high=1.5))
        yield {"vectors": vectors, "a": a, "b": b, "c": c, "k": k}


ANALOGY = Exercise(
    name="static.analogy",
    cases=_analogy_cases,
    uses=("static.cosine",),
    rule=Rule("equal", axes={"": "k"}),
    mistakes=(
        Mistake(
            "question words among the answers",
            "Your answers hold a word of the question. This is what the plain method gives; the docstring leaves them out, "
            "and the notebook shows how much that matters.",
            {"    similarity[[a, b, c]] = -torch.inf\n": ""},
        ),
        Mistake(
            "only c left out",
            "Your answers hold b: where a and c resemble each other, b − a + c is next to b. All three words of the question are left out.",
            {"similarity[[a, b, c]]": "similarity[[c]]"},
        ),
        Mistake(
            "the offset backwards",
            "You walk from b to a. The question goes from a to b: what is to c as b is to a?",
            {"unit[b] - unit[a] + unit[c]": "unit[a] - unit[b] + unit[c]"},
        ),
        Mistake(
            "the vectors were not brought to length 1",
            "Long vectors rule your sum: the docstring asks for vectors of length 1.",
            {"F.normalize(vectors, dim=1)": "vectors"},
        ),
        Mistake(
            "everything added",
            "Your target is the sum of all three; the word a has to be taken away.",
            {"unit[b] - unit[a] + unit[c]": "unit[b] + unit[a] + unit[c]"},
        ),
        Mistake(
            "neighbours of the offset alone",
            "You look near b − a, without c: apart from leaving c out, your answers do not depend on it.",
            {"unit[b] - unit[a] + unit[c]": "unit[b] - unit[a]"},
        ),
        Mistake(
            "neighbours of c alone",
            "You look near c, without the offset: your answers do not depend on a and b.",
            {"unit[b] - unit[a] + unit[c]": "unit[c]"},
        ),
        Mistake(
            "ranked by distance between the points",
            "The target is longer than 1, so the nearest point is not the one in its direction: the docstring asks for the cosine.",
            {"cosine(target.unsqueeze(0), unit).squeeze(0)": "-(vectors - target).norm(dim=1)"},
        ),
    ),
    alternatives={
        "the sum of three cosines": """
def analogy(vectors, a, b, c, k):
    to = cosine(vectors[[a, b, c]], vectors)
    score = to[1] - to[0] + to[2]
    keep = [i for i in score.argsort(descending=True).tolist() if i not in (a, b, c)]
    return torch.tensor(keep[:k])
""",
        "numpy in float64": """
import numpy as np

def analogy(vectors, a, b, c, k):
    v = vectors.numpy().astype(float)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    s = v @ (v[b] - v[a] + v[c])
    s[[a, b, c]] = -np.inf
    return np.argsort(-s)[:k]
""",
    },
    hints=(
        "If the step from \"france\" to \"paris\" is the same as the one from \"italy\" to its capital, how do you get to \"rome\"?",
        "vectors is (V, D); a, b, c and k are whole numbers; the answer is (k,), best first.",
        "every row to length 1; target = b − a + c; cosine of the target with all rows; "
        "take a, b and c out of the race; the k largest.",
        "Near miss: b − a + c with the vectors as they are is a different target, because long vectors weigh more.",
    ),
)

EXERCISES = (PPMI, COSINE, NEAREST, SGNS, CBOW, MIXTURE, SEPARATION, DISTRIBUTION, ANALOGY)
"""In the order of the notebook; the last two are extensions."""
