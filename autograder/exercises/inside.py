"""08 Inside a pre-trained transformer: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from coursekit.asking import Case
from coursekit.judging import Rule

# ------------------------------------------------------------------------------------------ a word's vector


def word_cases(draw: Draw) -> Iterator[Case]:
    # How many pieces each word has; the word asked for has 2, 3, 1 and 3.
    for layers, pieces, i, D in ((3, (1, 2, 1, 3), 1, 5), (4, (2, 1, 1, 3, 1), 3, 6), (2, (2, 3, 1, 1), 2, 7), (5, (3, 1), 0, 4)):
        word_ids = np.concatenate([[-1], np.repeat(np.arange(len(pieces)), pieces), [-1]])
        if layers == 4:
            word_ids = np.concatenate([word_ids, [-1, -1]])  # padding
        yield {"hidden": draw.normal(layers, len(word_ids), D), "word_ids": word_ids, "i": i}


PIECES = "hidden[:, word_ids == i]"

word_vectors = Exercise(
    name="inside.word_vectors",
    cases=word_cases,
    rule=Rule("close", 1e-5, axes={"": "L+1 D"}),
    mistakes=(
        Mistake(
            "the first piece only",
            "Right for words of one piece. Of the others you return the first piece; that is a custom, too, but here the mean is asked for.",
            {f"{PIECES}.mean(dim=1)": f"{PIECES}[:, 0]"},
        ),
        Mistake(
            "the last piece only",
            "Right for words of one piece. Of the others you return the last piece alone.",
            {f"{PIECES}.mean(dim=1)": f"{PIECES}[:, -1]"},
        ),
        Mistake(
            "the sum of the pieces",
            "A word of three pieces gets a vector three times as long with you: the mean is asked for.",
            {".mean(dim=1)": ".sum(dim=1)"},
        ),
        Mistake(
            "the largest of each coordinate",
            "You take the largest number of each coordinate over the pieces, not their mean.",
            {".mean(dim=1)": ".amax(dim=1)"},
        ),
        Mistake(
            "the word's number taken for a token's",
            "You return the vector of token i. Words and tokens are counted differently: [CLS] comes first, and a word may have several tokens.",
            {f"{PIECES}.mean(dim=1)": "hidden[:, i]"},
        ),
        Mistake(
            "one added for [CLS]",
            "You count [CLS], but not that words before this one may have several pieces.",
            {f"{PIECES}.mean(dim=1)": "hidden[:, i + 1]"},
        ),
        Mistake(
            "the next word",
            "You return the mean of another word's pieces. Words are counted from 0.",
            {"word_ids == i": "word_ids == (i + 1) % (word_ids.max() + 1)"},
        ),
        Mistake(
            "the mean of the whole text",
            "Your vector is the same for every word of the text.",
            {PIECES: "hidden[:, word_ids >= 0]"},
        ),
        Mistake(
            "everything up to the word",
            "You average the words before this one, too.",
            {"word_ids == i": "(word_ids >= 0) & (word_ids <= i)"},
        ),
    ),
    alternatives={
        "a loop over the tokens": """
def word_vectors(hidden, word_ids, i):
    mine = [hidden[:, t] for t in range(len(word_ids)) if word_ids[t] == i]
    return sum(mine) / len(mine)
""",
        "an average with weights": """
def word_vectors(hidden, word_ids, i):
    belongs = (word_ids == i).double()
    return torch.einsum("ltd,t->ld", hidden.double(), belongs / belongs.sum())
""",
        "begin and end, in numpy": """
import numpy as np
def word_vectors(hidden, word_ids, i):
    places = np.flatnonzero(word_ids.numpy() == i)
    return hidden.numpy()[:, places[0] : places[-1] + 1].mean(axis=1)
""",
    },
    hints=(
        "Write the tokens of a text in a row, and under each the number of its word. Which columns belong to word i?",
        "hidden: (L+1, T, D). word_ids: (T). The columns of one word: (L+1, pieces, D). Out: (L+1, D).",
        "choose the tokens whose word_id is i, at all layers\naverage over those tokens",
        "Near miss: `hidden[:, i + 1]` skips [CLS] and is right until some earlier word has two pieces.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def span_cases(draw: Draw) -> Iterator[Case]:
    for count, begin, padding in ((4, 0, 0), (6, 2, 2), (5, 0, 3), (7, 1, 1)):
        pieces, words, place = [(0, 0)], [], begin
        for number in range(count):
            lengths = draw.integers(1, 5, int(draw.integers(1, 4)))
            words.append((place, place + int(lengths.sum())))
            for length in lengths:
                pieces.append((place, place + int(length)))
                place += int(length)
            if number == 1 or draw.integers(0, 2):  # a comma or a dash belongs to no word
                pieces.append((place, place + 1))
                place += 1
            place += int(draw.integers(0, 2))  # sometimes a space
        pieces += [(0, 0)] * (1 + padding)
        yield {"pieces": np.array(pieces), "words": np.array(words)}


INSIDE = "(begin >= words[:, 0]) & (end <= words[:, 1]) & (begin < end)"
CHOSEN = "torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)"

mended_words = Exercise(
    name="inside.mended_words",
    mends=True,
    cases=span_cases,
    rule=Rule("equal", axes={"": "T"}),
    mistakes=(
        Mistake(
            "every piece a word of its own",
            "You count every piece that is no special token as a new word. Several pieces may lie inside one word.",
            {CHOSEN: "torch.where((begin < end)[:, 0], (begin < end)[:, 0].cumsum(dim=0) - 1, -1)"},
        ),
        Mistake(
            "special tokens belong to the first word",
            "Where the first word begins at character 0, [CLS], [SEP] and padding belong to it with you: an empty span lies inside nothing.",
            {" & (begin < end)": ""},
        ),
        Mistake(
            "the first piece of each word lost",
            "The first piece of each word belongs to none with you: it begins exactly where its word begins.",
            {"begin >= words": "begin > words"},
        ),
        Mistake(
            "the last piece of each word lost",
            "The last piece of each word belongs to none with you: it ends exactly where its word ends.",
            {"end <= words": "end < words"},
        ),
        Mistake(
            "only the first piece of each word",
            "Each word has one piece with you, its first.",
            {"begin >= words[:, 0]": "begin == words[:, 0]"},
        ),
        Mistake(
            "what lies between belongs to the word before",
            "Punctuation, [SEP] and padding belong to a word with you: having begun is not the same as lying inside.",
            {CHOSEN: "torch.where((begin < end)[:, 0], (begin >= words[:, 0]).sum(dim=1) - 1, -1)"},
        ),
        Mistake(
            "0 for none",
            "Tokens that belong to no word have the number 0 with you, which is the first word's.",
            {CHOSEN: "inside.int().argmax(dim=1)"},
        ),
        Mistake(
            "counted from 1",
            "Your words are counted from 1.",
            {"inside.int().argmax(dim=1), -1": "inside.int().argmax(dim=1) + 1, -1"},
        ),
        Mistake(
            "the piece's number",
            "You return the number of the piece where the number of its word is asked for.",
            {"inside.int().argmax(dim=1), -1": "torch.arange(len(pieces)), -1"},
        ),
    ),
    alternatives={
        "two loops": """
def mended_words(pieces, words):
    found = [-1] * len(pieces)
    for t, (begin, end) in enumerate(pieces.tolist()):
        for w, (first, last) in enumerate(words.tolist()):
            if begin < end and first <= begin and end <= last:
                found[t] = w
    return torch.tensor(found)
""",
        "a map from characters to words": """
def mended_words(pieces, words):
    of_character = {c: w for w, (begin, end) in enumerate(words.tolist()) for c in range(begin, end)}
    return torch.tensor([of_character.get(begin, -1) if end > begin else -1 for begin, end in pieces.tolist()])
""",
        "searchsorted": """
import numpy as np
def mended_words(pieces, words):
    pieces, words = pieces.numpy(), words.numpy()
    before = np.searchsorted(words[:, 0], pieces[:, 0], side="right") - 1
    lies = (before >= 0) & (pieces[:, 1] <= words[np.maximum(before, 0), 1]) & (pieces[:, 1] > pieces[:, 0])
    return np.where(lies, before, -1)
""",
    },
    hints=(
        "A word stands on characters 4 to 9. Which spans may its pieces have? And where does the span (0, 0) lie?",
        "pieces: (T, 2), words: (W, 2). A table (T, W) of whether piece t lies inside word w. Out: (T).",
        "for each piece, each word:\n    inside if it begins no earlier, ends no later, and is not empty\nthe number of the word it is inside of, or −1",
        "Near miss: asking only whether the piece *begins* inside the word lets the empty span (0, 0) into a word that begins at 0.",
    ),
)

# ------------------------------------------------------------------------------------------ similarity of senses


def similarity_cases(draw: Draw) -> Iterator[Case]:
    for n, layers, D in ((9, 3, 5), (12, 2, 7), (10, 4, 6)):
        words = np.concatenate([[0, 0, 0, 1, 1, 1], draw.integers(0, 4, n - 6)])
        senses = np.concatenate([[0, 0, 1, 0, 1, 1], draw.integers(0, 2, n - 6)])
        order = draw.rng.permutation(n)
        # Uses of a word lie together, lengths differ, and all share a direction: no mean cosine is near 0.
        common = draw.normal(1, layers, D)
        of_word = draw.normal(4, layers, D)[words]
        vectors = (draw.normal(n, layers, D) + of_word + common) * draw.uniform(n, 1, 1, low=0.3, high=2.5)
        yield {"vectors": vectors[order], "words": words[order], "senses": senses[order]}


KINDS = "kinds = (same_sense, same_word & ~same_sense, ~same_word)"
UNIT = "unit = vectors / vectors.norm(dim=-1, keepdim=True)"

sense_similarity = Exercise(
    name="inside.sense_similarity",
    cases=similarity_cases,
    rule=Rule("close", 1e-4, axes={"": "3 L+1"}),
    mistakes=(
        Mistake(
            "occurrences paired with themselves",
            "Your row 0 is too high: every occurrence is paired with itself, and those cosines are 1.",
            {".triu(1)": ".triu(0)"},
        ),
        Mistake(
            "dot products",
            "Your values depend on how long the vectors are.",
            {UNIT: "unit = vectors"},
        ),
        Mistake(
            "senses compared over words",
            "Your row 0 holds pairs of different words: sense 0 of one word has nothing to do with sense 0 of another.",
            {"same_word & (senses[:, None] == senses)": "(senses[:, None] == senses)"},
        ),
        Mistake(
            "row 1 holds all pairs of a word",
            "Your row 1 lies between the first row and what it should be: pairs in one sense are in it, too.",
            {"same_word & ~same_sense, ~same_word)": "same_word, ~same_word)"},
        ),
        Mistake(
            "rows 0 and 1 exchanged",
            "Your first two rows have changed places.",
            {KINDS: "kinds = (same_word & ~same_sense, same_sense, ~same_word)"},
        ),
        Mistake(
            "row 2 holds all pairs",
            "Your control holds pairs of the same word, too. It should be pairs of different words alone.",
            {"~same_sense, ~same_word)": "~same_sense, torch.ones_like(same_word))"},
        ),
        Mistake(
            "sums",
            "Your numbers grow with the number of pairs: a cosine, and a mean of cosines, is at most 1.",
            {".mean(dim=0)": ".sum(dim=0)"},
        ),
        Mistake(
            "all layers averaged",
            "You give one number for each kind. One is asked for at every layer.",
            {"cosines[kind & once].mean(dim=0)": "cosines[kind & once].mean()"},
        ),
        Mistake(
            "lengths over the layers",
            "Your vectors are divided by something that mixes the layers: each layer's vector has a length of its own.",
            {"norm(dim=-1, keepdim=True)": "norm(dim=1, keepdim=True)"},
        ),
        Mistake(
            "the median",
            "Your values are close to the means, and are not: the docstring asks for means.",
            {".mean(dim=0)": ".median(dim=0).values"},
        ),
    ),
    alternatives={
        "three loops": """
def sense_similarity(vectors, words, senses):
    kinds = [[], [], []]
    for i in range(len(words)):
        for j in range(i):
            kind = 2 if words[i] != words[j] else 0 if senses[i] == senses[j] else 1
            kinds[kind].append(torch.cosine_similarity(vectors[i], vectors[j], dim=-1))
    return torch.stack([torch.stack(pairs).mean(dim=0) for pairs in kinds])
""",
        "every pair twice": """
def sense_similarity(vectors, words, senses):
    n = len(words)
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1).transpose(0, 1)
    cosines = unit @ unit.mT
    word = (words.view(-1, 1) == words.view(1, -1)) & ~torch.eye(n, dtype=torch.bool)
    sense = senses.view(-1, 1) == senses.view(1, -1)
    different = words.view(-1, 1) != words.view(1, -1)
    return torch.stack([(cosines * kind).sum((1, 2)) / kind.sum() for kind in (word & sense, word & ~sense, different)])
""",
        "layer by layer, in numpy": """
import numpy as np
def sense_similarity(vectors, words, senses):
    first, second = np.triu_indices(len(words), k=1)
    words, senses, found = words.numpy(), senses.numpy(), []
    same = words[first] == words[second]
    one = same & (senses[first] == senses[second])
    for layer in vectors.numpy().transpose(1, 0, 2):
        unit = layer / np.linalg.norm(layer, axis=1, keepdims=True)
        cosines = (unit[first] * unit[second]).sum(axis=1)
        found.append([cosines[one].mean(), cosines[same & ~one].mean(), cosines[~same].mean()])
    return np.array(found).T
""",
    },
    hints=(
        "Take four occurrences: bank (river), bank (river), bank (money), cell (prison). How many pairs are there, and in which of the three rows does each belong?",
        "vectors: (n, L+1, D). Cosines: (n, n, L+1). Three masks (n, n), which no pair shares. Out: (3, L+1).",
        "cosines of all pairs, layer by layer\nsame word? same word and same sense?\nkeep every pair once, none with itself\nfor each kind: the mean of its pairs at each layer",
        "Near miss: `senses[:, None] == senses` alone puts sense 0 of *bank* and sense 0 of *cell* together.",
    ),
)

# ------------------------------------------------------------------------------------------ anisotropy, centre


def cone_cases(draw: Draw) -> Iterator[Case]:
    for n, D, shift in ((5, 8, 1.0), (9, 4, 0.6), (7, 11, 1.5), (3, 6, 0.8)):
        vectors = draw.normal(n, D) + shift * draw.normal(1, D)
        yield {"vectors": vectors * draw.uniform(n, 1, low=0.3, high=3.0)}


PAIRS = "(unit.sum(dim=0).square().sum() - n) / (n * (n - 1))"

anisotropy = Exercise(
    name="inside.anisotropy",
    cases=cone_cases,
    rule=Rule("close", 1e-4),
    mistakes=(
        Mistake(
            "vectors paired with themselves",
            "Your value is too high, most of all where there are few vectors: each is paired with itself, too.",
            {PAIRS: "unit.sum(dim=0).square().sum() / n**2"},
        ),
        Mistake(
            "divided by n² without the pairs with itself",
            "Your value is a little too small, most of all where there are few vectors. How many pairs of different vectors are there?",
            {"(n * (n - 1))": "n**2"},
        ),
        Mistake(
            "dot products",
            "Your value depends on how long the vectors are.",
            {"unit = vectors / vectors.norm(dim=-1, keepdim=True)": "unit = vectors"},
        ),
        Mistake(
            "coordinates instead of vectors",
            "You compare the columns: each coordinate with each coordinate, over all words.",
            {"unit = vectors / vectors.norm(dim=-1, keepdim=True)": "unit = (vectors / vectors.norm(dim=0, keepdim=True)).T"},
        ),
        Mistake(
            "cosine with the mean vector",
            "You compare each vector with the mean of all, not with each other one.",
            {PAIRS: "torch.cosine_similarity(vectors, vectors.mean(dim=0)[None], dim=-1).mean()"},
        ),
        Mistake(
            "centred first",
            "You take the mean away before you compare. What is to be measured is gone then.",
            {"unit = vectors / vectors.norm(dim=-1, keepdim=True)": "vectors = vectors - vectors.mean(dim=0)\n    unit = vectors / vectors.norm(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "absolute values",
            "Negative cosines count as positive ones with you.",
            {PAIRS: "((unit @ unit.T).abs().sum() - n) / (n * (n - 1))"},
        ),
        Mistake(
            "every pair counted half",
            "Your value is half of what it should be: n (n − 1) counts every pair twice. Is each cosine added twice with you?",
            {"(n * (n - 1))": "(2 * n * (n - 1))"},
        ),
        Mistake(
            "neighbours in the list only",
            "You compare each vector with the next one in the list alone.",
            {PAIRS: "(unit[1:] * unit[:-1]).sum(dim=-1).mean()"},
        ),
    ),
    alternatives={
        "all cosines, the diagonal taken out": """
def anisotropy(vectors):
    cosines = torch.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    return cosines[~torch.eye(len(vectors), dtype=torch.bool)].mean()
""",
        "combinations, one by one": """
from itertools import combinations
def anisotropy(vectors):
    pairs = [torch.cosine_similarity(a, b, dim=0) for a, b in combinations(vectors.double(), 2)]
    return sum(pairs) / len(pairs)
""",
        "numpy, the upper triangle": """
import numpy as np
def anisotropy(vectors):
    unit = vectors.numpy() / np.sqrt((vectors.numpy() ** 2).sum(axis=1, keepdims=True))
    return (unit @ unit.T)[np.triu_indices(len(unit), 1)].mean()
""",
    },
    hints=(
        "Three vectors: how many pairs of different ones are there? What is the cosine of a vector with itself, and does it belong in the mean?",
        "vectors: (n, D). Cosines: (n, n), of which n on the diagonal are 1. Out: one number.",
        "divide each vector by its length\nadd up the cosines of all ordered pairs\ntake the n pairs with itself away\ndivide by n (n − 1)",
        "Near miss: the mean of the whole matrix of cosines looks right for thousands of vectors, and is too high by up to 1/n.",
    ),
)


def centre_cases(draw: Draw) -> Iterator[Case]:
    for n, m, D in ((4, 7, 5), (6, 3, 8), (3, 9, 4)):
        shift = 2 * draw.normal(1, D)
        yield {
            "vectors": draw.normal(n, D) + shift,
            "sample": (draw.normal(m, D) ** 2 * 0.7 + shift).astype(np.float32),  # skewed: its median is not its mean
        }


MEAN = "vectors - sample.mean(dim=0)"

centre = Exercise(
    name="inside.centre",
    cases=centre_cases,
    rule=Rule("close", 1e-4, axes={"": "n D"}),
    mistakes=(
        Mistake(
            "their own mean",
            "Your vectors have the mean 0 exactly: you subtract their own mean. The sample's is asked for.",
            {MEAN: "vectors - vectors.mean(dim=0)"},
        ),
        Mistake(
            "each vector's own mean",
            "You subtract one number from each vector, as layer norm does. What is common to all vectors is a vector.",
            {MEAN: "vectors - vectors.mean(dim=1, keepdim=True)"},
        ),
        Mistake(
            "one number from the sample",
            "You subtract the same number from every coordinate: each coordinate has a mean of its own.",
            {MEAN: "vectors - sample.mean()"},
        ),
        Mistake(
            "added",
            "You add the mean vector.",
            {MEAN: "vectors + sample.mean(dim=0)"},
        ),
        Mistake(
            "the sum of the sample",
            "What you subtract grows with the size of the sample.",
            {MEAN: "vectors - sample.sum(dim=0)"},
        ),
        Mistake(
            "the median",
            "You subtract the median of each coordinate, not its mean.",
            {MEAN: "vectors - sample.median(dim=0).values"},
        ),
        Mistake(
            "standardised",
            "You also divide by the standard deviation of each coordinate. Only the mean is to be taken away.",
            {MEAN: "(vectors - sample.mean(dim=0)) / sample.std(dim=0)"},
        ),
        Mistake(
            "made to length 1",
            "Your vectors have length 1: leave their lengths as they come out.",
            {MEAN: "torch.nn.functional.normalize(vectors - sample.mean(dim=0), dim=-1)"},
        ),
        Mistake(
            "projected out",
            "You remove the direction of the mean from every vector. Only the mean vector itself is to be subtracted.",
            {
                f"return {MEAN}": "common = torch.nn.functional.normalize(sample.mean(dim=0), dim=0)\n    return vectors - (vectors @ common)[:, None] * common"
            },
        ),
    ),
    alternatives={
        "einsum with even weights": """
def centre(vectors, sample):
    return vectors - torch.einsum("md,m->d", sample, torch.full((len(sample),), 1 / len(sample)))
""",
        "numpy in double precision": """
import numpy as np
def centre(vectors, sample):
    return vectors.numpy().astype(np.float64) - sample.numpy().astype(np.float64).mean(axis=0, keepdims=True)
""",
        "a loop over the coordinates": """
def centre(vectors, sample):
    return torch.stack([vectors[:, d] - sum(sample[:, d]) / len(sample) for d in range(vectors.shape[1])], dim=1)
""",
    },
    hints=(
        "If every vector has the same large number in coordinate 3, what do their cosines measure? What has to go?",
        "vectors: (n, D), sample: (m, D). The mean vector of the sample: (D). Out: (n, D).",
        "the mean over the rows of sample, one number for each coordinate\nsubtract it from each row of vectors",
        "Near miss: `vectors - vectors.mean(dim=0)` uses the vectors that are compared; their cosines then look smaller than those of new vectors would.",
    ),
)

# ------------------------------------------------------------------------------------------ entropy of attention


def entropy_cases(draw: Draw) -> Iterator[Case]:
    for layers, heads, T, hidden in ((2, 3, 5, "padding"), (3, 4, 6, "nothing"), (1, 5, 7, "future"), (4, 2, 3, "padding")):
        scores = draw.normal(layers, heads, T, T, scale=1.5)
        if hidden == "padding":
            scores[..., -1] = -np.inf
        if hidden == "future":
            scores = np.where(np.tri(T, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        yield {"attention": (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)}


ENTROPY = "-torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1)"

attention_entropy = Exercise(
    name="inside.attention_entropy",
    cases=entropy_cases,
    rule=Rule("close", 1e-4, axes={"": "L H"}),
    mistakes=(
        Mistake(
            "log of 0",
            "You get NaN where a weight is 0: 0 times minus infinity is not a number for a computer. Such a weight adds nothing.",
            {ENTROPY: "-(attention * attention.log()).sum(dim=-1).mean(dim=-1)"},
        ),
        Mistake(
            "the sign forgotten",
            "Your entropies are negative: the logarithm of a weight below 1 is.",
            {"-torch.xlogy": "torch.xlogy"},
        ),
        Mistake(
            "in bits",
            "Your values are in bits; the docstring asks for nats.",
            {ENTROPY: "-torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1) / 0.6931471805599453"},
        ),
        Mistake(
            "a column as a distribution",
            "You ask how a token's popularity is spread: the columns, made to add up to 1. A row is what one token looks at.",
            {ENTROPY: "-torch.xlogy(attention / attention.sum(dim=-2, keepdim=True).clamp(min=1e-9), attention / attention.sum(dim=-2, keepdim=True).clamp(min=1e-9)).sum(dim=-2).mean(dim=-1)"},
        ),
        Mistake(
            "the entropy of the mean row",
            "Your values are too high: you average the rows first. Heads that look sharply at different places come out as looking everywhere.",
            {ENTROPY: "-torch.xlogy(attention.mean(dim=-2), attention.mean(dim=-2)).sum(dim=-1)"},
        ),
        Mistake(
            "rows added up",
            "Your values grow with the length of the text: the rows are to be averaged.",
            {".mean(dim=-1)": ".sum(dim=-1)"},
        ),
        Mistake(
            "a mean where a sum belongs",
            "Your values are T times too small: within a row the parts are added up.",
            {".sum(dim=-1)": ".mean(dim=-1)"},
        ),
        Mistake(
            "as a share of log T",
            "You divide by the largest possible entropy. Nats are asked for.",
            {ENTROPY: f"{ENTROPY} / torch.tensor(float(attention.shape[-1])).log()"},
        ),
        Mistake(
            "heads averaged",
            "You give one number for each layer. One is asked for each head.",
            {".mean(dim=-1)": ".mean(dim=(-1, -2))"},
        ),
        Mistake(
            "the exponential",
            "You give the number of tokens that a row looks at in effect, the exponential of its entropy.",
            {ENTROPY: "(-torch.xlogy(attention, attention).sum(dim=-1)).exp().mean(dim=-1)"},
        ),
        Mistake(
            "something small added inside the logarithm",
            "You add something that can be seen in the result. Where is it needed, and is there a way without it?",
            {ENTROPY: "-(attention * (attention + 0.01).log()).sum(dim=-1).mean(dim=-1)"},
        ),
    ),
    alternatives={
        "zeros replaced by ones inside the logarithm": """
def attention_entropy(attention):
    logs = torch.where(attention > 0, attention, 1.0).log()
    return -(attention * logs).sum((-2, -1)) / attention.shape[-2]
""",
        "torch.special.entr": """
def attention_entropy(attention):
    return torch.special.entr(attention.double()).sum(-1).mean(-1)
""",
        "row by row, zeros left out": """
def attention_entropy(attention):
    L, H, T, _ = attention.shape
    out = torch.zeros(L, H)
    for l in range(L):
        for h in range(H):
            for row in attention[l, h]:
                row = row[row > 0]
                out[l, h] -= (row * row.log()).sum() / T
    return out
""",
        "a distribution object of torch": """
def attention_entropy(attention):
    return torch.distributions.Categorical(probs=attention.double()).entropy().mean(dim=-1)
""",
    },
    survivors={
        "sum(dim=-2).mean(dim=-1)": "every part of the matrix is added once and the sum divided by T, in either order",
    },
    hints=(
        "What is the entropy of the row 1, 0, 0? Of ⅓, ⅓, ⅓? What does a computer make of 0 · log 0?",
        "attention: (L, H, T, T); the last axis adds up to 1. One entropy for each row: (L, H, T). Out: (L, H).",
        "for each row: minus the sum of weight times log weight, where the weight is above 0\nthen the mean of a head's rows",
        "Near miss: `-(a * a.log()).sum(-1)` is right until a weight is exactly 0, as it is wherever there is a mask.",
    ),
)

# ------------------------------------------------------------------------------------------ disambiguate


def exam_cases(draw: Draw) -> Iterator[Case]:
    for m, n, D, count, shared in ((24, 20, 5, 3, 0.5), (30, 26, 7, 4, 0.5), (10, 25, 4, 5, 0.0)):
        train_words = draw.rng.permutation(np.arange(m) % count)
        test_words = draw.integers(0, count, n)
        number = draw.rng.permutation(3 * count) + 50  # the numbers of the senses say nothing about their words
        train_senses = number[3 * train_words + draw.integers(0, 3, m)]
        common = shared * draw.normal(1, D)  # without it, all cosines of a word may be negative
        yield {
            "train": (draw.normal(m, D) + common) * draw.uniform(m, 1, low=0.4, high=2.5),
            "train_words": train_words,
            "train_senses": train_senses,
            "test": (draw.normal(n, D) + common) * draw.uniform(n, 1, low=0.4, high=2.5),
            "test_words": test_words,
        }


COSINES = "cosines = unit(test, dim=-1) @ unit(train, dim=-1).T"
SAME = "cosines = cosines.masked_fill(test_words[:, None] != train_words, -torch.inf)"
NEAREST = "return train_senses[cosines.argmax(dim=1)]"

disambiguate = Exercise(
    name="inside.disambiguate",
    cases=exam_cases,
    rule=Rule("equal", axes={"": "n"}),
    mistakes=(
        Mistake(
            "dot products",
            "Your neighbours are the long vectors: the nearest is the one with the largest cosine.",
            {COSINES: "cosines = test @ train.T"},
        ),
        Mistake(
            "distances between the tips",
            "Your neighbours are near as points; a long and a short vector of the same direction count as far apart with you.",
            {COSINES: "cosines = -torch.cdist(test, train)"},
        ),
        Mistake(
            "other words asked, too",
            "Some of your answers are senses of another word: its vectors were nearer, but they cannot be asked.",
            {SAME: "cosines = cosines + 0"},
        ),
        Mistake(
            "other words alone asked",
            "All your answers are senses of other words: the mask is the wrong way round.",
            {"test_words[:, None] != train_words": "test_words[:, None] == train_words"},
        ),
        Mistake(
            "other words' cosines set to 0",
            "Where all cosines of a word are negative, another word answers with you: 0 is not low enough.",
            {"-torch.inf": "0.0"},
        ),
        Mistake(
            "the farthest",
            "You ask the vector that is most unlike.",
            {
                SAME: "cosines = cosines.masked_fill(test_words[:, None] != train_words, torch.inf)",
                "argmax": "argmin",
            },
        ),
        Mistake(
            "the neighbour's number",
            "You return where the nearest neighbour stands. Its sense is asked for.",
            {NEAREST: "return cosines.argmax(dim=1)"},
        ),
        Mistake(
            "the neighbour's word",
            "You return the neighbour's word, which was known before.",
            {NEAREST: "return train_words[cosines.argmax(dim=1)]"},
        ),
        Mistake(
            "a vote of three",
            "You let three neighbours vote. The nearest alone decides.",
            {NEAREST: "return train_senses[cosines.topk(3, dim=1).indices].mode(dim=1).values"},
        ),
        Mistake(
            "the word's most frequent sense",
            "Your answer is the same for every sentence of a word: that is the majority, the control.",
            {
                NEAREST: "return torch.stack([train_senses[train_words == word].mode().values for word in test_words])"
            },
        ),
        Mistake(
            "the nearest mean",
            "You compare with the mean of each sense. The nearest single sentence is asked; senses can have several clusters.",
            {
                NEAREST: "kinds = train_senses.unique()\n    means = torch.stack([unit(train, dim=-1)[train_senses == kind].mean(dim=0) for kind in kinds])\n"
                "    owner = torch.stack([train_words[train_senses == kind][0] for kind in kinds])\n"
                "    near = (unit(test, dim=-1) @ unit(means, dim=-1).T).masked_fill(test_words[:, None] != owner, -torch.inf)\n"
                "    return kinds[near.argmax(dim=1)]"
            },
        ),
    ),
    alternatives={
        "a loop over the test": """
def disambiguate(train, train_words, train_senses, test, test_words):
    answers = []
    for vector, word in zip(test, test_words):
        mine = train_words == word
        cosines = torch.cosine_similarity(train[mine], vector[None], dim=-1)
        answers.append(train_senses[mine][cosines.argmax()])
    return torch.stack(answers)
""",
        "distances between unit vectors": """
def disambiguate(train, train_words, train_senses, test, test_words):
    a = test.double() / test.double().norm(dim=1, keepdim=True)
    b = train.double() / train.double().norm(dim=1, keepdim=True)
    far = torch.cdist(a, b) + 10.0 * (test_words[:, None] != train_words)
    return train_senses[far.argmin(dim=1)]
""",
        "word by word, in numpy": """
import numpy as np
def disambiguate(train, train_words, train_senses, test, test_words):
    train, test = train.numpy(), test.numpy()
    train = train / np.linalg.norm(train, axis=1, keepdims=True)
    answers = np.zeros(len(test), dtype=np.int64)
    for word in np.unique(test_words.numpy()):
        rows, asked = np.flatnonzero(train_words.numpy() == word), np.flatnonzero(test_words.numpy() == word)
        answers[asked] = train_senses.numpy()[rows[(test[asked] @ train[rows].T).argmax(axis=1)]]
    return answers
""",
    },
    hints=(
        "You meet *bank* in a new sentence and know 28 old ones, sorted by sense. Whom do you ask, and who may not be asked however near?",
        "train: (m, D), test: (n, D). Cosines: (n, m), of which some may not count. The neighbour's row: (n). Out: (n) senses.",
        "cosines of each test vector with each training vector\nminus infinity where the words differ\nfor each test vector: the training row with the largest\nits sense",
        "Near miss: setting forbidden cosines to 0 works until every cosine of the right word is below 0.",
    ),
)

# ------------------------------------------------------------------------------------------ extension: rollout


def rollout_cases(draw: Draw) -> Iterator[Case]:
    for layers, heads, T in ((2, 3, 4), (4, 2, 5), (3, 5, 6)):
        scores = draw.normal(layers, heads, T, T, scale=1.5)
        weights = np.exp(scores)
        yield {"attention": (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)}


STEP = "share = (layer + torch.eye(len(layer))) / 2 @ share"

attention_rollout = Exercise(
    name="inside.attention_rollout",
    cases=rollout_cases,
    rule=Rule("close", 1e-4, axes={"": "T T"}),
    mistakes=(
        Mistake(
            "no residual",
            "Nothing stays where it is with you: half of each token's vector comes along the residual connection.",
            {STEP: "share = layer @ share"},
        ),
        Mistake(
            "the identity added, not mixed",
            "Your rows add up to more than 1: the layer and the identity count half each.",
            {STEP: "share = (layer + torch.eye(len(layer))) @ share"},
        ),
        Mistake(
            "the first layer on the left",
            "Your layers are multiplied in reverse: the last layer looks at what the layers below it have mixed.",
            {STEP: "share = share @ (layer + torch.eye(len(layer))) / 2"},
        ),
        Mistake(
            "the last layer alone",
            "Only your last layer counts: what the layers below mixed is forgotten.",
            {STEP: "share = (layer + torch.eye(len(layer))) / 2"},
        ),
        Mistake(
            "the mean of the layers",
            "You average the layers. They work one after the other, so their shares multiply.",
            {
                "    for layer in attention.mean(dim=1):\n        share = (layer + torch.eye(len(layer))) / 2 @ share\n    return share": "    return (attention.mean(dim=(0, 1)) + share) / 2"
            },
        ),
        Mistake(
            "heads added up",
            "Your numbers grow with the number of heads.",
            {"attention.mean(dim=1)": "attention.sum(dim=1)"},
        ),
        Mistake(
            "the strongest head",
            "You take the largest weight of all heads; rows then add up to more than 1.",
            {"attention.mean(dim=1)": "attention.amax(dim=1)"},
        ),
        Mistake(
            "the first head alone",
            "All heads but the first are missing.",
            {"attention.mean(dim=1)": "attention[:, 0]"},
        ),
        Mistake(
            "transposed",
            "Rows and columns have changed places: your columns add up to 1.",
            {"    return share": "    return share.T"},
        ),
    ),
    alternatives={
        "torch.linalg.multi_dot": """
def attention_rollout(attention):
    mixed = 0.5 * attention.mean(1) + 0.5 * torch.eye(attention.shape[-1])
    return torch.linalg.multi_dot(list(mixed.flip(0)))
""",
        "token by token": """
def attention_rollout(attention):
    mean = attention.double().mean(dim=1)
    T = mean.shape[-1]
    rows = torch.eye(T, dtype=torch.float64)
    for layer in range(len(mean)):
        rows = torch.stack([rows[i] / 2 + sum(mean[layer, i, j] * rows[j] for j in range(T)) / 2 for i in range(T)])
    return rows
""",
        "functools.reduce": """
from functools import reduce
def attention_rollout(attention):
    layers = [(layer.mean(0) + torch.eye(layer.shape[-1])) / 2 for layer in attention]
    return reduce(lambda below, above: above @ below, layers)
""",
    },
    survivors={
        "attention.shape[-2]": "the matrix is square",
    },
    hints=(
        "After layer 1, which share of token 3 comes from input 5? Then layer 2 mixes those mixtures: what is multiplied with what?",
        "attention: (L, H, T, T). Over heads: (L, T, T). Out: (T, T), rows add up to 1.",
        "shares = identity: before the first layer each token is itself\nfor each layer from below:\n    mix = half the mean of its heads + half the identity\n    shares = mix times shares",
        "Near miss: `shares @ mix` has the same shape and rows that add up to 1, and lets the first layer look at what the last one made.",
    ),
)

# ------------------------------------------------------------------------------------------ extension: probe


def probe_cases(draw: Draw) -> Iterator[Case]:
    for m, n, D, K, ridge in ((14, 6, 5, 3, 0.8), (19, 8, 7, 4, 2.5), (12, 9, 4, 2, 1.5)):
        labels = draw.rng.permutation(np.concatenate([np.arange(K), draw.integers(0, K, m - K) % max(K - 1, 2)]))
        centres = 1.2 * draw.normal(K, D)
        shift = draw.normal(1, D)
        yield {
            "train": draw.normal(m, D) + centres[labels] + shift,
            "labels": labels,
            "test": draw.normal(n, D) + centres[draw.integers(0, K, n)] + shift,
            "ridge": ridge,
        }


XY = "x, y = train - train.mean(dim=0), targets - targets.mean(dim=0)"
SCORES = "return (test - train.mean(dim=0)) @ W + targets.mean(dim=0)"

probe = Exercise(
    name="inside.probe",
    cases=probe_cases,
    rule=Rule("close", 1e-3, axes={"": "n K"}),
    mistakes=(
        Mistake(
            "no ridge",
            "Your scores do not depend on ridge: the weights are fitted without a penalty.",
            {"x.T @ x + ridge * torch.eye(x.shape[1])": "x.T @ x"},
        ),
        Mistake(
            "ridge against the mean error",
            "Your penalty is too strong by the number of training vectors: the squares are summed, not averaged.",
            {"ridge * torch.eye": "len(x) * ridge * torch.eye"},
        ),
        Mistake(
            "ridge squared",
            "Your penalty is the square of what it should be.",
            {"ridge * torch.eye": "ridge**2 * torch.eye"},
        ),
        Mistake(
            "inputs not centred",
            "Your weights also have to explain what is common to all vectors: the inputs are centred first.",
            {XY: "x, y = train, targets - targets.mean(dim=0)", SCORES: "return test @ W + targets.mean(dim=0)"},
        ),
        Mistake(
            "the test centred with its own mean",
            "Your scores of one test vector depend on the other test vectors.",
            {"(test - train.mean(dim=0))": "(test - test.mean(dim=0))"},
        ),
        Mistake(
            "the test not centred",
            "Your scores are all shifted: the test vectors have to be centred like those the weights were fitted to.",
            {"(test - train.mean(dim=0))": "test"},
        ),
        Mistake(
            "the mean target forgotten",
            "Your scores lie around 0. The mean target is to be added again, so that frequent labels keep their lead.",
            {" + targets.mean(dim=0)": ""},
        ),
        Mistake(
            "labels as one number",
            "You fit the label as a number. Label 2 is not twice label 1: each label has a column of its own.",
            {
                "torch.nn.functional.one_hot(labels).to(train.dtype)": "torch.nn.functional.one_hot(labels).to(train.dtype) * (1 + labels[:, None])"
            },
        ),
        Mistake(
            "probabilities",
            "Your rows lie between 0 and 1 and add up to 1: a softmax is not asked for.",
            {SCORES: "return ((test - train.mean(dim=0)) @ W + targets.mean(dim=0)).softmax(dim=-1)"},
        ),
    ),
    alternatives={
        "least squares with rows for the penalty": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).double()
    x = train.double() - train.double().mean(0)
    D, K = x.shape[1], y.shape[1]
    x_more = torch.cat([x, ridge**0.5 * torch.eye(D, dtype=torch.float64)])
    y_more = torch.cat([y - y.mean(0), torch.zeros(D, K, dtype=torch.float64)])
    W = torch.linalg.lstsq(x_more, y_more).solution
    return (test.double() - train.double().mean(0)) @ W + y.mean(0)
""",
        "the other way round, with m equations": """
def probe(train, labels, test, ridge):
    mean, y = train.mean(0), torch.eye(int(labels.max()) + 1)[labels]
    x = train - mean
    inner = x @ x.T + ridge * torch.eye(len(x))
    return (test - mean) @ x.T @ torch.linalg.inv(inner) @ (y - y.mean(0)) + y.mean(0)
""",
        "an intercept that is not penalised": """
import numpy as np
def probe(train, labels, test, ridge):
    x = np.hstack([train.numpy().astype(float), np.ones((len(train), 1))])
    y = np.eye(int(labels.max()) + 1)[labels.numpy()]
    penalty = ridge * np.eye(x.shape[1])
    penalty[-1, -1] = 0
    W = np.linalg.solve(x.T @ x + penalty, x.T @ y)
    return np.hstack([test.numpy().astype(float), np.ones((len(test), 1))]) @ W
""",
    },
    survivors={
        "targets + targets.mean(dim=0)": "x is centred, so that what is constant in y does not change xᵀy",
        "targets - targets.sum(dim=0)": "x is centred, so that what is constant in y does not change xᵀy",
    },
    hints=(
        "For which W is |x W − y|² + ridge · |W|² smallest? Set its derivative to 0: which linear equations come out?",
        "x: (m, D), y: (m, K), W: (D, K). The equations: (D, D) times W = (D, K). Out: (n, K).",
        "one column for each label: 1 where it is the label\ncentre x and y with their means over train\nsolve (xᵀx + ridge · identity) W = xᵀy\nscores = (test − mean of train) W + mean of y",
        "Near miss: centring the test with its own mean gives nearly the same labels on a balanced test, and others as soon as the test is not.",
    ),
)

EXERCISES = (
    word_vectors,
    mended_words,
    sense_similarity,
    anisotropy,
    centre,
    attention_entropy,
    disambiguate,
    attention_rollout,
    probe,
)
