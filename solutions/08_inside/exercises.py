"""08 Inside a pre-trained transformer: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ a word's vector


def word_cases(draw: Draw) -> Iterator[Case]:
    # How many pieces each word has; the word asked for has 2, 3, 1 and 3.
    for layers, pieces, i, D in (
        (3, (1, 2, 1, 3), 1, 5),
        (4, (2, 1, 1, 3, 1), 3, 6),
        (2, (2, 3, 1, 1), 2, 7),
        (5, (3, 1), 0, 4),
    ):
        word_ids = np.concatenate([[-1], np.repeat(np.arange(len(pieces)), pieces), [-1]])
        if layers == 4:
            word_ids = np.concatenate([word_ids, [-1, -1]])  # padding
        yield {"hidden": draw.normal(layers, len(word_ids), D), "word_ids": word_ids, "i": i}


PIECES = "hidden[:, word_ids == i]"

word_vectors = Exercise(
    cases=word_cases,
    rule=Rule("close", 1e-5, axes={"": "L+1 D"}),
    mistakes=(
        Mistake(
            "the first piece only",
            "Right for words of one piece. Of the others you return the first piece; that is a custom, too, but here the mean is asked for.",
            f"{PIECES}.mean(dim=1)", f"{PIECES}[:, 0]",
        ),
        Mistake(
            "the last piece only",
            "Right for words of one piece. Of the others you return the last piece alone.",
            f"{PIECES}.mean(dim=1)", f"{PIECES}[:, -1]",
        ),
        Mistake(
            "the sum of the pieces",
            "A word of three pieces gets a vector three times as long with you: the mean is asked for.",
            ".mean(dim=1)", ".sum(dim=1)",
        ),
        Mistake(
            "the largest of each coordinate",
            "You take the largest number of each coordinate over the pieces, not their mean.",
            ".mean(dim=1)", ".amax(dim=1)",
        ),
        Mistake(
            "divided by all tokens",
            "You add up the word's pieces and divide by the number of *all* tokens: the others count as zeros in your mean.",
            f"{PIECES}.mean(dim=1)", "(hidden * (word_ids == i)[:, None]).mean(dim=1)",
        ),
        Mistake(
            "the mean over the layers",
            "You average over the layers, one vector for each piece. The pieces are to be averaged, one vector for each layer.",
            ".mean(dim=1)", ".mean(dim=0)",
        ),
        Mistake(
            "the last layer alone",
            "You return the word's vector at the last layer. One is asked for at every layer.",
            PIECES, "hidden[-1:, word_ids == i]",
            also=(
                """
def word_vectors(hidden, word_ids, i):
    return hidden[-1, word_ids == i].mean(dim=0)
""",
            ),
        ),
        Mistake(
            "as many tokens as the word has pieces, from the wrong place on",
            "You average as many tokens as the word has pieces, but begin at token i + 1: words before this one may have several pieces.",
            PIECES, "hidden[:, i + 1 : i + 1 + int((word_ids == i).sum())]",
        ),
        Mistake(
            "the first and the last piece",
            "Right for words of one or two pieces. Of longer ones you leave out what stands between the first and the last piece.",
            f"{PIECES}.mean(dim=1)", f"({PIECES}[:, 0] + {PIECES}[:, -1]) / 2",
        ),
        Mistake(
            "the word's number taken for a token's",
            "You return the vector of token i. Words and tokens are counted differently: [CLS] comes first, and a word may have several tokens.",
            f"{PIECES}.mean(dim=1)", "hidden[:, i]",
        ),
        Mistake(
            "one added for [CLS]",
            "You count [CLS], but not that words before this one may have several pieces.",
            f"{PIECES}.mean(dim=1)", "hidden[:, i + 1]",
        ),
        Mistake(
            "the next word",
            "You return the mean of another word's pieces. Words are counted from 0.",
            "word_ids == i", "word_ids == (i + 1) % (word_ids.max() + 1)",
        ),
        Mistake(
            "the mean of the whole text",
            "Your vector is the same for every word of the text.",
            PIECES, "hidden[:, word_ids >= 0]",
        ),
        Mistake(
            "everything up to the word",
            "You average the words before this one, too.",
            "word_ids == i", "(word_ids >= 0) & (word_ids <= i)",
            also=(
                """
def word_vectors(hidden, word_ids, i):
    return hidden[:, word_ids <= i].mean(dim=1)
""",
            ),
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
    """Words of one piece and of several; beside them punctuation, spaces, or at once the next word.

    A text that does not begin with a word begins with a quotation mark, which belongs to none. The fourth word
    has no piece, as where a tokenizer drops its characters.
    """
    for count, begin, padding in ((4, 0, 0), (6, 2, 2), (5, 0, 3), (7, 1, 1)):
        pieces, words, place = [(0, 0)], [], begin
        if begin:
            pieces.append((0, 1))
        for number in range(count):
            lengths = draw.integers(1, 5, (3, 1, 2)[number] if number < 3 else int(draw.integers(1, 4)))
            words.append((place, place + int(lengths.sum())))
            for length in lengths:
                if number != 3:
                    pieces.append((place, place + int(length)))
                place += int(length)
            if number == 0:  # the next word follows at once, as in JAKARTATown
                continue
            place += int(number == 2)
            if number < 3 or draw.integers(0, 2):  # a comma, or a dash between spaces, belongs to no word
                pieces.append((place, place + 1))
                place += 1
            place += int(number == 2 or draw.integers(0, 2))  # sometimes a space
        pieces += [(0, 0)] * (1 + padding)
        yield {"pieces": np.array(pieces), "words": np.array(words)}


INSIDE = "(begin >= words[:, 0]) & (end <= words[:, 1]) & (begin < end)"
CHOSEN = "torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)"

mended_words = Exercise(
    mends=True,
    cases=span_cases,
    rule=Rule("equal", axes={"": "T"}),
    mistakes=(
        Mistake(
            "every piece a word of its own",
            "You count every piece that is no special token as a new word. Several pieces may lie inside one word.",
            CHOSEN, "torch.where((begin < end)[:, 0], (begin < end)[:, 0].cumsum(dim=0) - 1, -1)",
        ),
        Mistake(
            "special tokens belong to the first word",
            "Where the first word begins at character 0, [CLS], [SEP] and padding belong to it with you: an empty span lies inside nothing.",
            " & (begin < end)", "",
        ),
        Mistake(
            "the first piece of each word lost",
            "The first piece of each word belongs to none with you: it begins exactly where its word begins.",
            "begin >= words", "begin > words",
        ),
        Mistake(
            "the last piece of each word lost",
            "The last piece of each word belongs to none with you: it ends exactly where its word ends.",
            "end <= words", "end < words",
        ),
        Mistake(
            "only the first piece of each word",
            "Each word has one piece with you, its first.",
            "begin >= words[:, 0]", "begin == words[:, 0]",
        ),
        Mistake(
            "what lies between belongs to the word before",
            "Punctuation belongs to the word before it with you: that a word has begun does not mean that a piece lies inside it.",
            CHOSEN, "torch.where((begin < end)[:, 0], (begin >= words[:, 0]).sum(dim=1) - 1, -1)",
        ),
        Mistake(
            "0 for none",
            "Tokens that belong to no word have the number 0 with you, which is the first word's.",
            CHOSEN, "inside.int().argmax(dim=1)",
        ),
        Mistake(
            "counted from 1",
            "Your words are counted from 1.",
            "inside.int().argmax(dim=1), -1", "inside.int().argmax(dim=1) + 1, -1",
        ),
        Mistake(
            "only words of one piece",
            "You find a piece only where it is the whole word. A piece belongs to the word *inside which* it lies.",
            "(begin >= words[:, 0]) & (end <= words[:, 1])", "(begin == words[:, 0]) & (end == words[:, 1])",
        ),
        Mistake(
            "a piece that begins where a word ends",
            "A piece that begins where a word ends belongs to it with you. A span (begin, end) ends before the character number end.",
            INSIDE, "(begin >= words[:, 0]) & (begin <= words[:, 1]) & (begin < end)",
            also=(
                """
def mended_words(pieces, words):
    found = [-1] * len(pieces)
    for t, (begin, end) in enumerate(pieces.tolist()):
        for w, (first, last) in enumerate(words.tolist()):
            if begin < end and first <= begin <= last:
                found[t] = w
    return torch.tensor(found)
""",
            ),
        ),
        Mistake(
            "a new word behind each gap",
            "You begin a new word where there is a gap between two pieces. Punctuation leaves no gap, and two words may leave none either: ask in which word's span a piece lies.",
            CHOSEN,
            "torch.where((begin < end)[:, 0], (begin[:, 0] != end[:, 0].roll(1)).logical_and((begin < end)[:, 0]).cumsum(dim=0) - 1, -1)",
            also=(
                """
def mended_words(pieces, words):
    found, number, last_end = [], -1, -1
    for begin, end in pieces.tolist():
        if begin == end:
            found.append(-1)
            continue
        number += begin != last_end
        last_end = end
        found.append(number)
    return torch.tensor(found)
""",
            ),
        ),
        Mistake(
            "only the first and the last token taken for special",
            "[CLS] and the very last token belong to none with you. With padding, [SEP] is not the last: all empty spans belong to none.",
            edits={
                " & (begin < end)": "",
                f"return {CHOSEN}": f"found = {CHOSEN}\n    found[[0, -1]] = -1\n    return found",
            },
            also=(
                """
def mended_words(pieces, words):
    found = [-1]
    for begin, end in pieces[1:-1].tolist():
        inside = [w for w, (first, last) in enumerate(words.tolist()) if begin >= first and end <= last]
        found.append(inside[0] if inside else -1)
    return torch.tensor(found + [-1])
""",
            ),
        ),
        Mistake(
            "every piece that begins at 0 taken for special",
            "The first piece of a word that begins at character 0 belongs to none with you. Special tokens are *empty*: they end where they begin.",
            "(begin < end)", "(begin > 0)",
            also=(
                """
def mended_words(pieces, words):
    begin, end = pieces[:, :1], pieces[:, 1:]
    inside = (begin >= words[:, 0]) & (end <= words[:, 1]) & (begin != 0) & (end != 0)
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
""",
            ),
        ),
        Mistake(
            "words without a piece not counted",
            "You count only the words that have a piece. The number of a word is its place in the list of words; one may have no piece.",
            f"return {CHOSEN}", f"found = {CHOSEN}\n    return found.unique(return_inverse=True)[1] - 1",
            also=(
                """
def mended_words(pieces, words):
    found, number, last = [], -1, None
    for begin, end in pieces.tolist():
        inside = [w for w, (first, past) in enumerate(words.tolist()) if first <= begin < end <= past]
        number += bool(inside) and inside[0] != last
        last = inside[0] if inside else last
        found.append(number if inside else -1)
    return torch.tensor(found)
""",
            ),
        ),
        Mistake(
            "the piece's number",
            "You return the number of the piece where the number of its word is asked for.",
            "inside.int().argmax(dim=1), -1", "torch.arange(len(pieces)), -1",
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
    """Word 0 has more pairs of either kind than word 1; another occurs once."""
    for n, layers, D in ((9, 4, 5), (12, 2, 7), (10, 5, 6)):
        words = np.concatenate([[0, 0, 0, 0, 1, 1, 1, 2], draw.integers(2, 4, n - 8) + 1])
        senses = np.concatenate([[0, 0, 0, 1, 0, 1, 1, 0], draw.integers(0, 2, n - 8)])
        words = draw.rng.permutation(5)[words]
        order = draw.rng.permutation(n)
        # Uses of a word lie together, lengths differ, and all share a direction: no mean cosine is near 0.
        common = draw.normal(1, layers, D)
        of_word = draw.normal(5, layers, D)[words]
        vectors = (draw.normal(n, layers, D) + of_word + common) * draw.uniform(n, 1, 1, low=0.3, high=2.5)
        yield {"vectors": vectors[order], "words": words[order], "senses": senses[order]}


KINDS = "kinds = (same_sense, same_word & ~same_sense, ~same_word)"
UNIT = "unit = vectors / vectors.norm(dim=-1, keepdim=True)"

sense_similarity = Exercise(
    cases=similarity_cases,
    rule=Rule(axes={"": "kinds L+1"}),
    mistakes=(
        Mistake(
            "occurrences paired with themselves",
            "Your row 0 is too high: every occurrence is paired with itself, and those cosines are 1.",
            ".triu(1)", ".triu(0)",
            also=(
                """
def sense_similarity(vectors, words, senses):
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    cosines = torch.einsum("ild,jld->ijl", unit, unit)
    same_word, same_sense = words[:, None] == words, senses[:, None] == senses
    kinds = (same_word & same_sense, same_word & ~same_sense, ~same_word)
    return torch.stack([cosines[kind].mean(dim=0) for kind in kinds])
""",
            ),
        ),
        Mistake(
            "two senses compared over words",
            "Your row 1 holds pairs of different words: they have different senses, but it is the same word in two senses that is asked for.",
            "same_word & ~same_sense, ~same_word)", "senses[:, None] != senses, ~same_word)",
            also=(
                """
def sense_similarity(vectors, words, senses):
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    cosines = torch.einsum("ild,jld->ijl", unit, unit)
    same_word, same_sense = words[:, None] == words, senses[:, None] == senses
    once = torch.ones_like(same_word).triu(1)
    kinds = (same_sense, ~same_sense, ~same_word)
    return torch.stack([cosines[kind & once].mean(dim=0) for kind in kinds])
""",
            ),
        ),
        Mistake(
            "every word counts the same",
            "You average within each word first, so that a pair of a rare word counts for more. All pairs of a kind count the same.",
            code="""
def sense_similarity(vectors, words, senses):
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    cosines = torch.einsum("ild,jld->ijl", unit, unit)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    same_word, same_sense = words[:, None] == words, senses[:, None] == senses
    rows = []
    for kind in (same_sense, ~same_sense):
        masks = [kind & same_word & (words == word) & once for word in words.unique()]
        rows.append(torch.stack([cosines[mask].mean(dim=0) for mask in masks if mask.any()]).mean(dim=0))
    return torch.stack([*rows, cosines[~same_word].mean(dim=0)])
""",
        ),
        Mistake(
            "cosines of mean vectors",
            "You take the mean of vectors first and then a cosine. It is the cosines of single pairs that are averaged; a mean vector lies closer to everything.",
            code="""
def sense_similarity(vectors, words, senses):
    means = {}
    for word, sense in zip(words.tolist(), senses.tolist()):
        means[word, sense] = vectors[(words == word) & (senses == sense)].mean(dim=0)
    rows = [[], [], []]
    for vector, word, sense in zip(vectors, words.tolist(), senses.tolist()):
        rows[0].append(torch.cosine_similarity(vector, means[word, sense], dim=-1))
    for word, sense in means:
        for other, kind in means:
            if (word, sense) != (other, kind):
                cosine = torch.cosine_similarity(means[word, sense], means[other, kind], dim=-1)
                rows[1 if word == other else 2].append(cosine)
    return torch.stack([torch.stack(row).mean(dim=0) for row in rows])
""",
        ),
        Mistake(
            "divided by the number of all pairs",
            "Your three rows add up to the mean of all pairs: each kind is to be divided by the number of its own pairs.",
            "cosines[kind & once].mean(dim=0)", "(cosines * (kind & once)[..., None]).sum(dim=(0, 1)) / once.sum()",
        ),
        Mistake(
            "layers before kinds",
            "Your table is transposed: a row for each layer. One for each of the three kinds is asked for, with the layers as columns.",
            "for kind in kinds])", "for kind in kinds], dim=1)",
        ),
        Mistake(
            "neighbours in the list only",
            "You compare each occurrence with the next one in the list. Every pair counts, however far apart they stand.",
            "once = torch.ones_like(same_word).triu(1)", "once = torch.ones_like(same_word).triu(1).tril(1)",
            also=(
                """
def sense_similarity(vectors, words, senses):
    cosines = torch.cosine_similarity(vectors[:-1], vectors[1:], dim=-1)
    same_word, same_sense = words[:-1] == words[1:], senses[:-1] == senses[1:]
    kinds = (same_word & same_sense, same_word & ~same_sense, ~same_word)
    empty = torch.zeros(cosines.shape[1])
    return torch.stack([cosines[kind].mean(dim=0) if kind.any() else empty for kind in kinds])
""",
            ),
        ),
        Mistake(
            "different words first",
            "Your rows come from the bottom up: one sense, two senses, different words is the order.",
            KINDS, "kinds = (~same_word, same_word & ~same_sense, same_sense)",
        ),
        Mistake(
            "dot products",
            "Your values depend on how long the vectors are.",
            UNIT, "unit = vectors",
        ),
        Mistake(
            "senses compared over words",
            "Your row 0 holds pairs of different words: sense 0 of one word has nothing to do with sense 0 of another.",
            "same_word & (senses[:, None] == senses)", "(senses[:, None] == senses)",
        ),
        Mistake(
            "row 1 holds all pairs of a word",
            "Your row 1 lies between the first row and what it should be: pairs in one sense are in it, too.",
            "same_word & ~same_sense, ~same_word)", "same_word, ~same_word)",
        ),
        Mistake(
            "rows 0 and 1 exchanged",
            "Your first two rows have changed places.",
            KINDS, "kinds = (same_word & ~same_sense, same_sense, ~same_word)",
        ),
        Mistake(
            "row 2 holds all pairs",
            "Your control holds pairs of the same word, too. It should be pairs of different words alone.",
            "~same_sense, ~same_word)", "~same_sense, torch.ones_like(same_word))",
        ),
        Mistake(
            "sums",
            "Your numbers grow with the number of pairs: a cosine, and a mean of cosines, is at most 1.",
            ".mean(dim=0)", ".sum(dim=0)",
        ),
        Mistake(
            "all layers averaged",
            "You give one number for each kind. One is asked for at every layer.",
            "cosines[kind & once].mean(dim=0)", "cosines[kind & once].mean()",
        ),
        Mistake(
            "lengths over the layers",
            "Your vectors are divided by something that mixes the layers: each layer's vector has a length of its own.",
            "norm(dim=-1, keepdim=True)", "norm(dim=1, keepdim=True)",
        ),
        Mistake(
            "the median",
            "Your values are close to the means, and are not: the docstring asks for means.",
            ".mean(dim=0)", ".median(dim=0).values",
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

# ------------------------------------------------------------------------------------------ anisotropy


def cone_cases(draw: Draw) -> Iterator[Case]:
    """Two of the vectors point in nearly opposite directions."""
    for n, D, shift in ((5, 8, 1.0), (9, 4, 0.6), (7, 11, 1.5), (3, 6, 0.8)):
        vectors = draw.normal(n, D) + shift * draw.normal(1, D)
        vectors[-1] = draw.normal(D, scale=0.1) - vectors[0]
        yield {"vectors": vectors * draw.uniform(n, 1, low=0.3, high=3.0)}


PAIRS = "(unit.sum(dim=0).square().sum() - n) / (n * (n - 1))"

anisotropy = Exercise(
    cases=cone_cases,
    mistakes=(
        Mistake(
            "vectors paired with themselves",
            "Your value is too high, most of all where there are few vectors: each is paired with itself, too.",
            PAIRS, "unit.sum(dim=0).square().sum() / n**2",
        ),
        Mistake(
            "divided by n² without the pairs with itself",
            "Your value is too near to 0, most of all where there are few vectors. How many pairs of different vectors are there?",
            "(n * (n - 1))", "n**2",
        ),
        Mistake(
            "dot products",
            "Your value depends on how long the vectors are.",
            edits={
                "unit = vectors / vectors.norm(dim=-1, keepdim=True)": "unit = vectors",
                "unit.sum(dim=0).square().sum() - n": "unit.sum(dim=0).square().sum() - unit.square().sum()",
            },
            also=(
                """
def anisotropy(vectors):
    n = len(vectors)
    return (vectors.sum(dim=0).square().sum() - n) / (n * (n - 1))
""",
                """
def anisotropy(vectors):
    return (vectors @ vectors.T).mean()
""",
            ),
        ),
        Mistake(
            "lengths of the coordinates",
            "You divide each coordinate by its length over all vectors. A cosine needs each *vector* divided by its own.",
            "norm(dim=-1, keepdim=True)", "norm(dim=0, keepdim=True)",
            also=(
                """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=0)
    cosines = unit @ unit.T
    return cosines[~torch.eye(len(vectors), dtype=torch.bool)].mean()
""",
            ),
        ),
        Mistake(
            "half of the matrix with its diagonal",
            "Your value is too high: the triangle whose mean you take holds the diagonal, so that each vector is paired with itself.",
            PAIRS, "((unit.sum(dim=0).square().sum() - n) / 2 + n) / (n * (n + 1) / 2)",
        ),
        Mistake(
            "the first vector with each other one",
            "You compare the first vector with all others. All pairs are asked for.",
            PAIRS, "(unit[1:] @ unit[0]).mean()",
        ),
        Mistake(
            "one minus the mean cosine",
            "You return a distance: 1 minus what is asked for.",
            PAIRS, f"1 - {PAIRS}",
        ),
        Mistake(
            "coordinates instead of vectors",
            "You compare the columns: each coordinate with each coordinate, over all words.",
            "unit = vectors / vectors.norm(dim=-1, keepdim=True)",
            "unit = (vectors / vectors.norm(dim=0, keepdim=True)).T",
        ),
        Mistake(
            "cosine with the mean vector",
            "You compare each vector with the mean of all, not with each other one.",
            PAIRS, "torch.cosine_similarity(vectors, vectors.mean(dim=0)[None], dim=-1).mean()",
        ),
        Mistake(
            "centred first",
            "You take the mean away before you compare. What is to be measured is gone then.",
            "unit = vectors / vectors.norm(dim=-1, keepdim=True)",
            "vectors = vectors - vectors.mean(dim=0)\n    unit = vectors / vectors.norm(dim=-1, keepdim=True)",
        ),
        Mistake(
            "absolute values",
            "Negative cosines count as positive ones with you.",
            PAIRS, "((unit @ unit.T).abs().sum() - n) / (n * (n - 1))",
        ),
        Mistake(
            "every pair counted half",
            "Your value is half of what it should be: n (n − 1) counts every pair twice. Is each cosine added twice with you?",
            "(n * (n - 1))", "(2 * n * (n - 1))",
        ),
        Mistake(
            "neighbours in the list only",
            "You compare each vector with the next one in the list alone.",
            PAIRS, "(unit[1:] * unit[:-1]).sum(dim=-1).mean()",
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


# ------------------------------------------------------------------------------------------ entropy of attention


def entropy_cases(draw: Draw) -> Iterator[Case]:
    for layers, heads, T, hidden in (
        (2, 3, 5, "padding"),
        (3, 4, 6, "nothing"),
        (1, 5, 7, "future"),
        (4, 2, 3, "padding"),
    ):
        scores = draw.normal(layers, heads, T, T, scale=1.5)
        if hidden == "padding":
            scores[..., -1] = -np.inf
        if hidden == "future":
            scores = np.where(np.tri(T, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        yield {"attention": (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)}


ENTROPY = "-torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1)"

attention_entropy = Exercise(
    cases=entropy_cases,
    rule=Rule(axes={"": "L H"}),
    mistakes=(
        Mistake(
            "log of 0",
            "You get NaN where a weight is 0: 0 times minus infinity is not a number for a computer. Such a weight adds nothing.",
            ENTROPY, "-(attention * attention.log()).sum(dim=-1).mean(dim=-1)",
        ),
        Mistake(
            "rows with a 0 left out",
            "You leave out the rows in which a weight is 0. Only that *weight* adds nothing; the row counts like all others.",
            ENTROPY, "-(attention * attention.log()).sum(dim=-1).nanmean(dim=-1)",
        ),
        Mistake(
            "rows with a 0 taken for sharp ones",
            "Rows in which a weight is 0 have the entropy 0 with you: the NaN of one weight has spread over its row before it was replaced.",
            ENTROPY, "-(attention * attention.log()).sum(dim=-1).nan_to_num(0.0).mean(dim=-1)",
        ),
        Mistake(
            "a softmax once more",
            "You take a softmax of the attention. Its rows add up to 1 already: they are the probabilities.",
            ENTROPY, "-torch.xlogy(attention.softmax(dim=-1), attention.softmax(dim=-1)).sum(dim=-1).mean(dim=-1)",
        ),
        Mistake(
            "the median row",
            "You take the median of a head's rows. The mean is asked for.",
            ENTROPY, "(-torch.xlogy(attention, attention).sum(dim=-1)).median(dim=-1).values",
        ),
        Mistake(
            "the sign forgotten",
            "Your entropies are negative: the logarithm of a weight below 1 is.",
            "-torch.xlogy", "torch.xlogy",
        ),
        Mistake(
            "in bits",
            "Your values are in bits; the docstring asks for nats.",
            ENTROPY, "-torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1) / 0.6931471805599453",
        ),
        Mistake(
            "a column as a distribution",
            "You ask how a token's popularity is spread: the columns, made to add up to 1. A row is what one token looks at.",
            ENTROPY,
            "-torch.xlogy(attention / attention.sum(dim=-2, keepdim=True).clamp(min=1e-9), attention / attention.sum(dim=-2, keepdim=True).clamp(min=1e-9)).sum(dim=-2).mean(dim=-1)",
        ),
        Mistake(
            "the entropy of the mean row",
            "Your values are too high: you average the rows first. Heads that look sharply at different places come out as looking everywhere.",
            ENTROPY, "-torch.xlogy(attention.mean(dim=-2), attention.mean(dim=-2)).sum(dim=-1)",
        ),
        Mistake(
            "rows added up",
            "Your values grow with the length of the text: the rows are to be averaged.",
            ".mean(dim=-1)", ".sum(dim=-1)",
        ),
        Mistake(
            "a mean where a sum belongs",
            "Your values are T times too small: within a row the parts are added up.",
            ".sum(dim=-1)", ".mean(dim=-1)",
        ),
        Mistake(
            "as a share of log T",
            "You divide by the largest possible entropy. Nats are asked for.",
            ENTROPY, f"{ENTROPY} / torch.tensor(float(attention.shape[-1])).log()",
        ),
        Mistake(
            "heads averaged",
            "You give one number for each layer. One is asked for each head.",
            ".mean(dim=-1)", ".mean(dim=(-1, -2))",
        ),
        Mistake(
            "the exponential",
            "You give the number of tokens that a row looks at in effect, the exponential of its entropy.",
            ENTROPY, "(-torch.xlogy(attention, attention).sum(dim=-1)).exp().mean(dim=-1)",
        ),
        Mistake(
            "something small added inside the logarithm",
            "You add something that can be seen in the result. Where is it needed, and is there a way without it?",
            ENTROPY, "-(attention * (attention + 0.01).log()).sum(dim=-1).mean(dim=-1)",
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
        number = (
            draw.rng.permutation(3 * count) + 50
        )  # the numbers of the senses say nothing about their words
        train_senses = number[3 * train_words + draw.integers(0, 3, m)]
        common = shared * draw.normal(1, D)  # without it, all cosines of a word may be negative
        train = (draw.normal(m, D) + common) * draw.uniform(m, 1, low=0.4, high=2.5)
        test = (draw.normal(n, D) + common) * draw.uniform(n, 1, low=0.4, high=2.5)
        if not shared:  # all uses of a word lie on the other side of test 0
            its = train_words == test_words[0]
            train[its] = (draw.normal(int(its.sum()), D, scale=0.2) - test[0]) * draw.uniform(
                1, low=0.8, high=1.2
            )
        yield {
            "train": train,
            "train_words": train_words,
            "train_senses": train_senses,
            "test": clearly(draw, train, train_words, test, test_words),
            "test_words": test_words,
        }


def clearly(
    draw: Draw, train: np.ndarray, train_words: np.ndarray, test: np.ndarray, test_words: np.ndarray
) -> np.ndarray:
    """The test, each vector moved a little until no two of its word's cosines are equal up to rounding."""
    unit = train / np.linalg.norm(train, axis=1, keepdims=True)
    test = test.copy()
    for vector, word in zip(test, test_words, strict=True):
        while np.diff(np.sort(unit[train_words == word] @ vector)[-2:]).min(initial=1) < 1e-3:
            vector += draw.normal(len(vector), scale=0.05)
    return test


COSINES = "cosines = unit(test, dim=-1) @ unit(train, dim=-1).T"
SAME = "cosines = cosines.masked_fill(test_words[:, None] != train_words, -torch.inf)"
NEAREST = "return train_senses[cosines.argmax(dim=1)]"

disambiguate = Exercise(
    cases=exam_cases,
    rule=Rule("equal", axes={"": "n"}),
    mistakes=(
        Mistake(
            "dot products",
            "Your neighbours are the long vectors: the nearest is the one with the largest cosine.",
            COSINES, "cosines = test @ train.T",
        ),
        Mistake(
            "distances between the tips",
            "Your neighbours are near as points; a long and a short vector of the same direction count as far apart with you.",
            COSINES, "cosines = -torch.cdist(test, train)",
        ),
        Mistake(
            "other words asked, too",
            "Some of your answers are senses of another word: its vectors were nearer, but they cannot be asked.",
            SAME, "cosines = cosines + 0",
        ),
        Mistake(
            "other words alone asked",
            "All your answers are senses of other words: the mask is the wrong way round.",
            "test_words[:, None] != train_words", "test_words[:, None] == train_words",
        ),
        Mistake(
            "other words' cosines set to 0",
            "Where all cosines of a word are negative, another word answers with you: 0 is not low enough.",
            "-torch.inf", "0.0",
        ),
        Mistake(
            "the farthest",
            "You ask the vector that is most unlike.",
            edits={
                SAME: "cosines = cosines.masked_fill(test_words[:, None] != train_words, torch.inf)",
                "argmax": "argmin",
            },
        ),
        Mistake(
            "the neighbour's number",
            "You return where the nearest neighbour stands. Its sense is asked for.",
            NEAREST, "return cosines.argmax(dim=1)",
        ),
        Mistake(
            "the neighbour's word",
            "You return the neighbour's word, which was known before.",
            NEAREST, "return train_words[cosines.argmax(dim=1)]",
        ),
        Mistake(
            "the place among the word's own uses",
            "The right neighbour, but its place is counted among the uses of its word, and you look it up among all: senses have to be chosen in the same way as vectors.",
            NEAREST,
            "places = [cosines[t][train_words == word].argmax() for t, word in enumerate(test_words)]\n    return train_senses[torch.stack(places)]",
        ),
        Mistake(
            "lengths over the sentences",
            "You divide each coordinate by its length over all sentences: a cosine needs each *vector* divided by its own.",
            COSINES, "cosines = unit(test, dim=0) @ unit(train, dim=0).T",
            also=(
                """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cosines = unit(test, dim=-1) @ unit(train, dim=0).T
    cosines = cosines.masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[cosines.argmax(dim=1)]
""",
            ),
        ),
        Mistake(
            "the size of the cosine",
            "A vector of the opposite direction is near with you: the largest cosine is meant, not its size.",
            COSINES,
            COSINES.replace(
                "unit(test, dim=-1) @ unit(train, dim=-1).T",
                "(unit(test, dim=-1) @ unit(train, dim=-1).T).abs()",
            ),
        ),
        Mistake(
            "nothing below 0 is found",
            "Where all cosines of a word are negative, you find no neighbour at all: the search has to begin below −1, not at 0.",
            code="""
def disambiguate(train, train_words, train_senses, test, test_words):
    answers = []
    for vector, word in zip(test, test_words):
        best, answer = 0.0, 0
        for other, its_word, sense in zip(train, train_words, train_senses):
            cosine = torch.cosine_similarity(vector, other, dim=0)
            if its_word == word and cosine > best:
                best, answer = cosine, sense.item()
        answers.append(answer)
    return torch.tensor(answers)
""",
            also=(
                """
def disambiguate(train, train_words, train_senses, test, test_words):
    answers = []
    for vector, word in zip(test, test_words):
        best, answer = 0.0, -1
        for other, its_word, sense in zip(train, train_words, train_senses):
            cosine = torch.cosine_similarity(vector, other, dim=0)
            if its_word == word and cosine > best:
                best, answer = cosine, sense.item()
        answers.append(answer)
    return torch.tensor(answers)
""",
            ),
        ),
        Mistake(
            "a vote of three",
            "You let three neighbours vote. The nearest alone decides.",
            NEAREST, "return train_senses[cosines.topk(3, dim=1).indices].mode(dim=1).values",
            also=(
                """
def disambiguate(train, train_words, train_senses, test, test_words):
    answers = []
    for vector, word in zip(test, test_words):
        mine = train_words == word
        cosines = torch.cosine_similarity(vector[None], train[mine], dim=-1)
        near = cosines.topk(min(3, len(cosines))).indices
        answers.append(train_senses[mine][near].mode().values)
    return torch.stack(answers)
""",
            ),
        ),
        Mistake(
            "the word's most frequent sense",
            "Your answer is the same for every sentence of a word: that is the majority, the control.",
            NEAREST, "return torch.stack([train_senses[train_words == word].mode().values for word in test_words])",
        ),
        Mistake(
            "the nearest mean",
            "You judge a sense by a mean, of its vectors or of their cosines. The nearest single sentence is asked; senses can have several clusters.",
            NEAREST,
            "kinds = train_senses.unique()\n    means = torch.stack([unit(train, dim=-1)[train_senses == kind].mean(dim=0) for kind in kinds])\n"
            "    owner = torch.stack([train_words[train_senses == kind][0] for kind in kinds])\n"
            "    near = (unit(test, dim=-1) @ unit(means, dim=-1).T).masked_fill(test_words[:, None] != owner, -torch.inf)\n"
            "    return kinds[near.argmax(dim=1)]",
            also=(
                """
def disambiguate(train, train_words, train_senses, test, test_words):
    answers = []
    for vector, word in zip(test, test_words):
        mine = train_words == word
        kinds = train_senses[mine].unique()
        means = torch.stack([train[mine & (train_senses == kind)].mean(dim=0) for kind in kinds])
        answers.append(kinds[torch.cosine_similarity(vector[None], means, dim=-1).argmax()])
    return torch.stack(answers)
""",
                """
def disambiguate(train, train_words, train_senses, test, test_words):
    answers = []
    for vector, word in zip(test, test_words):
        mine = train_words == word
        cosines = torch.cosine_similarity(vector[None], train, dim=-1)
        kinds = train_senses[mine].unique()
        means = torch.stack([cosines[mine & (train_senses == kind)].mean() for kind in kinds])
        answers.append(kinds[means.argmax()])
    return torch.stack(answers)
""",
            ),
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
    survivors={
        "→ `cosines = unit(test) @": "the axis is the default",
        "@ unit(train).T`": "the axis is the default",
    },
    hints=(
        "You meet *bank* in a new sentence and know 28 old ones, sorted by sense. Whom do you ask, and who may not be asked however near?",
        "train: (m, D), test: (n, D). Cosines: (n, m), of which some may not count. The neighbour's row: (n). Out: (n) senses.",
        "cosines of each test vector with each training vector\nminus infinity where the words differ\nfor each test vector: the training row with the largest\nits sense",
        "Near miss: setting forbidden cosines to 0 works until every cosine of the right word is below 0.",
    ),
)

# ------------------------------------------------------------------------------------------ the logit lens


def lens_cases(draw: Draw) -> Iterator[Case]:
    """Points differ in length and lie off zero; in the last case they are so short that ε counts."""
    for points, B, T, D, V, size in ((3, 2, 4, 6, 9, 1.0), (5, 3, 2, 5, 5, 2.0), (2, 1, 3, 8, 7, 0.004)):
        lengths = draw.uniform(points, 1, 1, 1, low=0.5, high=2.5) * size
        yield {
            "stream": (draw.normal(points, B, T, D) + draw.normal(points, B, T, 1)) * lengths,
            "gain": draw.uniform(D, low=0.4, high=1.8),
            "bias": draw.normal(D, scale=0.7),
            "table": draw.normal(V, D),
        }


CENTRED = "centred = stream - stream.mean(dim=-1, keepdim=True)"
VARIANCE = "variance = centred.square().mean(dim=-1, keepdim=True)"
LOGITS = "return (centred / (variance + 1e-5).sqrt() * gain + bias) @ table.T"

logit_lens = Exercise(
    cases=lens_cases,
    rule=Rule(axes={"": "points B T V"}),
    mistakes=(
        Mistake(
            "no norm",
            "You multiply the stream with the table as it is. The norm comes first: without it a longer vector gives larger logits.",
            LOGITS, "return stream @ table.T",
        ),
        Mistake(
            "gain and bias, but no norm",
            "You apply gain and bias to the stream as it is. Before that each vector loses its mean and is divided by √(variance + 10⁻⁵).",
            LOGITS, "return (stream * gain + bias) @ table.T",
        ),
        Mistake(
            "the mean stays",
            "You divide, but do not take the mean away first: that is another norm, RMSNorm.",
            CENTRED, "centred = stream",
        ),
        Mistake(
            "the mean stays in what is divided",
            "Your variance is right, but it is the vector with its mean that you divide: take the mean away there, too.",
            "return (centred /", "return (stream /",
        ),
        Mistake(
            "divided by D − 1",
            "You divide the squares by D − 1, as `var` and `std` do by themselves. Layer norm takes the mean of the D squares.",
            VARIANCE, "variance = stream.var(dim=-1, keepdim=True)",
            also=(
                """
def logit_lens(stream, gain, bias, table):
    mean, std = stream.mean(dim=-1, keepdim=True), stream.std(dim=-1, keepdim=True)
    return ((stream - mean) / std * gain + bias) @ table.T
""",
            ),
        ),
        Mistake(
            "divided by the variance",
            "You divide by the variance. It is its square root, √(variance + 10⁻⁵), that makes all vectors equally long.",
            "(variance + 1e-5).sqrt()", "(variance + 1e-5)",
        ),
        Mistake(
            "without ε",
            "Right on long vectors. On short ones the 10⁻⁵ counts that you leave out.",
            "(variance + 1e-5).sqrt()", "variance.sqrt()",
        ),
        Mistake(
            "ε added to the root",
            "Right on long vectors. On short ones it matters that 10⁻⁵ is added to the variance, before the root is taken, not to its root.",
            "(variance + 1e-5).sqrt()", "(variance.sqrt() + 1e-5)",
        ),
        Mistake(
            "neither gain nor bias",
            "You normalise, and leave out gain and bias: each number of the normed vector is multiplied with its gain, and its bias is added.",
            " * gain + bias", "",
        ),
        Mistake(
            "unit length",
            "You bring each vector to length 1. A layer norm takes the mean of its numbers away, and divides by √(variance + 10⁻⁵).",
            "(centred / (variance + 1e-5).sqrt()", "(stream / stream.norm(dim=-1, keepdim=True)",
        ),
        Mistake(
            "normalised over the sentences",
            "You take mean and variance over the sentences of the batch. Each vector is normalised by itself, over its D numbers.",
            edits={CENTRED: CENTRED.replace("dim=-1", "dim=1"), VARIANCE: VARIANCE.replace("dim=-1", "dim=1")},
        ),
        Mistake(
            "gain forgotten",
            "You leave out the gain: the norm multiplies each of its D numbers with a number of its own.",
            " * gain", "",
        ),
        Mistake(
            "bias forgotten",
            "You leave out the bias: all your logits of a word are off by the same amount.",
            " + bias", "",
        ),
        Mistake(
            "bias before gain",
            "You add the bias before you multiply with the gain. The gain comes first.",
            "centred / (variance + 1e-5).sqrt() * gain + bias", "(centred / (variance + 1e-5).sqrt() + bias) * gain",
        ),
        Mistake(
            "normalised over the tokens",
            "You take mean and variance over the tokens of a sentence. Each vector is normalised by itself, over its D numbers.",
            edits={CENTRED: CENTRED.replace("dim=-1", "dim=-2"), VARIANCE: VARIANCE.replace("dim=-1", "dim=-2")},
        ),
        Mistake(
            "normalised over tokens and numbers",
            "You take one mean and one variance for a whole sentence. Each vector is normalised by itself, over its D numbers.",
            edits={CENTRED: CENTRED.replace("dim=-1", "dim=(-2, -1)"), VARIANCE: VARIANCE.replace("dim=-1", "dim=(-2, -1)")},
        ),
        Mistake(
            "the last point's mean and variance for all",
            "Right at the last point. The others you normalise with its mean and variance; every vector has its own.",
            edits={
                CENTRED: "centred = stream - stream[-1:].mean(dim=-1, keepdim=True)",
                VARIANCE: "variance = stream[-1:].var(dim=-1, keepdim=True, unbiased=False)",
            },
        ),
        Mistake(
            "only the last point normalised",
            "Right at the last point alone. The lens treats every point as if the model ended there: norm and table for each.",
            LOGITS,
            "normed = centred / (variance + 1e-5).sqrt() * gain + bias\n    return torch.cat([stream[:-1], normed[-1:]]) @ table.T",
        ),
        Mistake(
            "what each part adds",
            "You read what each part *adds*, the difference of two points. The lens reads the stream itself, the sum of everything so far.",
            CENTRED,
            "stream = torch.cat([stream[:1], stream[1:] - stream[:-1]])\n    centred = stream - stream.mean(dim=-1, keepdim=True)",
        ),
        Mistake(
            "probabilities",
            "Your rows add up to 1: a softmax is not asked for, the logits are.",
            LOGITS, LOGITS.replace("@ table.T", "@ table.T").replace("return (", "return ((") + ").softmax(dim=-1)",
        ),
        Mistake(
            "log probabilities",
            "You return log-probabilities. The logits are asked for, before any softmax.",
            LOGITS, LOGITS.replace("return (", "return ((") + ").log_softmax(dim=-1)",
        ),
    ),
    alternatives={
        "torch's own layer norm": """
def logit_lens(stream, gain, bias, table):
    return torch.nn.functional.layer_norm(stream, gain.shape, gain, bias, eps=1e-5) @ table.T
""",
        "a loop over the points, in float64": """
def logit_lens(stream, gain, bias, table):
    found = []
    for x in stream.double():
        std = (x.var(dim=-1, unbiased=False, keepdim=True) + 1e-5) ** 0.5
        found.append(torch.einsum("btd,vd->btv", (x - x.mean(-1, keepdim=True)) / std * gain + bias, table.double()))
    return torch.stack(found)
""",
        "gain and bias taken into the table": """
def logit_lens(stream, gain, bias, table):
    x = stream - stream.mean(-1, keepdim=True)
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
    return torch.nn.functional.linear(x, table * gain, table @ bias)
""",
    },
    hints=(
        "What happens to a vector of a pre-norm model between its last layer and the logits? Do just that, at every point.",
        "stream: (points, B, T, D). Mean and variance: (points, B, T, 1). Normed: as the stream. Times the table transposed: (points, B, T, V).",
        "take each vector's mean away\ndivide by the root of its variance + 1e-5\ntimes gain, plus bias\nmatrix product with the table, transposed",
        "Near miss: `stream.std(dim=-1)` divides by D − 1. `unbiased=False`, or the mean of the squares, is what layer norm does.",
    ),
)

# ------------------------------------------------------------------------------------------ a head taken away


def head_cases(draw: Draw) -> Iterator[Case]:
    """Padding holds large numbers; means of sentences, places and heads all differ."""
    for B, H, T, d, head in ((3, 2, 5, 4, 1), (2, 4, 4, 3, 0), (4, 3, 6, 2, 2)):
        real = draw.padding(B, T)
        outputs = draw.normal(B, H, T, d) + draw.normal(1, H, 1, d) + draw.normal(B, 1, 1, d) + draw.normal(1, 1, T, d)
        outputs += 4 * (~real)[:, None, :, None]
        yield {"outputs": outputs.astype(np.float32), "real": real.astype(np.int64), "head": head}


MEAN_OF_HEAD = "mean = outputs[:, head][real == 1].mean(dim=0)"
CLONES = "zeroed, meaned = outputs.clone(), outputs.clone()"
TAKEN = "zeroed[:, head], meaned[:, head] = 0, mean"

ablate_head = Exercise(
    cases=head_cases,
    rule=Rule(axes={"": "rows B H T d"}),
    mistakes=(
        Mistake(
            "padding counts in the mean",
            "Your mean counts the vectors at padding. Only real tokens count: those where `real` is 1.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head].mean(dim=(0, 1))",
        ),
        Mistake(
            "padding as zeros in the mean",
            "You set padding to 0 and divide by the number of *all* tokens. Divide by the number of real ones.",
            "outputs[:, head][real == 1].mean(dim=0)", "(outputs[:, head] * real[..., None]).mean(dim=(0, 1))",
        ),
        Mistake(
            "a mean for each sentence",
            "You give every sentence a mean of its own: then it still says something of that sentence. One mean over all sentences is asked for.",
            "outputs[:, head][real == 1].mean(dim=0)",
            "((outputs[:, head] * real[..., None]).sum(dim=1) / real.sum(dim=1)[:, None])[:, None]",
        ),
        Mistake(
            "the mean of the sentences' means",
            "You average within each sentence first, so that a token of a short sentence counts for more. All real tokens count the same.",
            "outputs[:, head][real == 1].mean(dim=0)",
            "((outputs[:, head] * real[..., None]).sum(dim=1) / real.sum(dim=1)[:, None]).mean(dim=0)",
        ),
        Mistake(
            "a mean for each place",
            "You give every place a mean of its own, over the sentences. One vector is asked for, over all real tokens at all places.",
            "outputs[:, head][real == 1].mean(dim=0)",
            "(outputs[:, head] * real[..., None]).sum(dim=0) / real.sum(dim=0)[:, None]",
        ),
        Mistake(
            "one number for the mean",
            "You put a single number in the head's place, the mean over its d numbers as well. Each of the d numbers has a mean of its own.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head][real == 1].mean()",
        ),
        Mistake(
            "the mean of all heads",
            "You put the mean of *all* heads in the head's place. It gets its own.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs.transpose(1, 2)[real == 1].mean(dim=(0, 1))",
            also=(
                """
def ablate_head(outputs, real, head):
    zeroed, meaned = outputs.clone(), outputs.clone()
    zeroed[:, head], meaned[:, head] = 0, outputs.mean(dim=1)
    return torch.stack([zeroed, meaned])
""",
            ),
        ),
        Mistake(
            "the sum",
            "In row 1 you put the *sum* over the real tokens. Their mean is asked for.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head][real == 1].sum(dim=0)",
        ),
        Mistake(
            "all other heads taken away",
            "It is the *other* heads that you take away. The head asked for goes, the others stay.",
            TAKEN,
            "rest = [h for h in range(outputs.shape[1]) if h != head]\n    zeroed[:, rest] = 0\n    meaned[:, rest] = outputs[:, rest].transpose(1, 2)[real == 1].mean(dim=0)[:, None]",
        ),
        Mistake(
            "heads counted from 1",
            "You take away the head before the one asked for: heads are numbered from 0.",
            edits={MEAN_OF_HEAD: "head = head - 1\n    " + MEAN_OF_HEAD},
        ),
        Mistake(
            "all heads taken away",
            "You take all heads away. The others stay as they are.",
            edits={
                MEAN_OF_HEAD: "mean = outputs.transpose(1, 2)[real == 1].mean(dim=0)[:, None]",
                TAKEN: "zeroed[:], meaned[:] = 0, mean",
            },
        ),
        Mistake(
            "both rows one tensor",
            "Your two rows are the same: both names mean one tensor, and the second change overwrites the first. Each row needs a copy.",
            CLONES, "zeroed = meaned = outputs.clone()",
        ),
        Mistake(
            "the rows exchanged",
            "Your rows are exchanged: row 0 holds the zeros, row 1 the mean.",
            "[zeroed, meaned]", "[meaned, zeroed]",
        ),
        Mistake(
            "padding left as it was",
            "You take the head away at real tokens alone. At padding, too, it gives zeros or its mean: *at every token*.",
            TAKEN,
            "zeroed[:, head] = outputs[:, head] * (real == 0)[..., None]\n    meaned[:, head] = torch.where((real == 1)[..., None], mean, outputs[:, head])",
        ),
        Mistake(
            "the mean at real tokens, zeros at padding",
            "In row 1 you put zeros at padding. There, too, the head gives its mean.",
            TAKEN, "zeroed[:, head], meaned[:, head] = 0, mean * real[..., None]",
        ),
        Mistake(
            "the mean taken away, not put in",
            "In row 1 you subtract the head's mean from what it gives: what it says of this word stays. The mean is to take its place.",
            TAKEN, "zeroed[:, head], meaned[:, head] = 0, outputs[:, head] - mean",
        ),
    ),
    alternatives={
        "where, with a mask of the head": """
def ablate_head(outputs, real, head):
    mine = (torch.arange(outputs.shape[1]) == head)[:, None, None]
    weights = real[:, None, :, None].to(outputs.dtype)
    mean = (outputs * weights).sum(dim=(0, 2), keepdim=True) / weights.sum()
    return torch.stack([outputs.masked_fill(mine, 0.0), torch.where(mine, mean, outputs)])
""",
        "a loop over the tokens, in numpy": """
import numpy as np
def ablate_head(outputs, real, head):
    outputs, real = outputs.numpy(), real.numpy()
    seen = [outputs[b, head, t] for b in range(len(real)) for t in range(real.shape[1]) if real[b, t]]
    both = np.stack([outputs, outputs])
    both[0, :, head] = 0
    both[1, :, head] = np.mean(seen, axis=0)
    return both
""",
        "an average with weights": """
def ablate_head(outputs, real, head):
    share = real.double() / real.sum()
    mean = torch.einsum("btd,bt->d", outputs[:, head].double(), share).to(outputs.dtype)
    both = outputs.repeat(2, 1, 1, 1, 1)
    both[:, :, head] = torch.stack([torch.zeros_like(mean), mean])[:, None, None]
    return both
""",
    },
    hints=(
        "What does the head say of *all* words, and what of this one? Which of the two is left when its mean takes its place?",
        "outputs: (B, H, T, d). One head: (B, T, d); its real tokens: (n, d); their mean: (d). Out: (2, B, H, T, d).",
        "mean = the head's vectors at real tokens, averaged\ntwo copies of outputs\nin one the head is 0, in the other the mean, at every token\nstack them",
        "Near miss: `outputs[:, head].mean(dim=(0, 1))` counts padding, and `a = b = outputs.clone()` makes one copy, not two.",
    ),
)

# ------------------------------------------------------------------------------------------ activation patching


def patching_cases(draw: Draw) -> Iterator[Case]:
    """Layers mix the words, so that an exchange spreads; none, as many and more layers than places."""
    for L, T, D in ((2, 4, 3), (3, 3, 5), (1, 5, 4)):
        yield {
            "among": draw.normal(L, T, T, scale=0.7),
            "within": draw.normal(L, D, D, scale=0.6),
            "target": draw.normal(T, D),
            "source": draw.normal(T, D),
        }


EXCHANGE = "x[range(T), range(T)] = both[1]"
START = "x = both[0].repeat(T, 1, 1)"
REST = "for rest in layers[layer:]:"
ON = "both = layers[layer](both) if layer < len(layers) else both"

patching = Exercise(
    cases=patching_cases,
    rule=Rule(axes={"": "L+1 T place D"}),
    mistakes=(
        Mistake(
            "the other way round",
            "Everything but place t is the source's with you. It is the other way round: the target is run, and at place t alone gets the source's vector.",
            edits={START: "x = both[1].repeat(T, 1, 1)", EXCHANGE: "x[range(T), range(T)] = both[0]"},
        ),
        Mistake(
            "the source's input at every layer",
            "Right at layer 0. Further up you still put in what *enters the first* layer; the source's own run gives the vector of that layer.",
            EXCHANGE, "x[range(T), range(T)] = source",
        ),
        Mistake(
            "the target does not run on",
            "Right at layer 0. Further up everything around the exchanged vector is still what enters the first layer: the target's run goes on, too.",
            START, "x = target.repeat(T, 1, 1)",
        ),
        Mistake(
            "neither run goes on",
            "Right at layer 0. Further up both vectors are still those that enter the first layer. Both runs go on, layer by layer.",
            edits={START: "x = target.repeat(T, 1, 1)", EXCHANGE: "x[range(T), range(T)] = source"},
        ),
        Mistake(
            "all layers after each exchange",
            "Right at layer 0. After an exchange further up you run *all* layers again; only those above are left.",
            REST, "for rest in layers:",
        ),
        Mistake(
            "one layer left out",
            "You leave out a layer: what *enters* layer l is exchanged, so layer l itself runs, too.",
            REST, "for rest in layers[layer + 1 :]:",
        ),
        Mistake(
            "what leaves the exchange",
            "You return the vectors right after the exchange. They still have to go through the layers that are left.",
            "        for rest in layers[layer:]:\n            x = rest(x)\n", "",
        ),
        Mistake(
            "one layer only after the exchange",
            "After an exchange you run one layer only. All that are left are to run.",
            REST, "for rest in layers[layer : layer + 1]:",
        ),
        Mistake(
            "exchanges that stay",
            "In entry [l, t] places 0 to t are exchanged with you: the exchanges before were never undone. Each run has one exchange only, in a copy of the target's vectors.",
            EXCHANGE, "x = torch.where(torch.ones(T, T).tril().bool()[..., None], both[1], x)",
            also=(
                """
def patching(layers, target, source):
    found, a, b = [], target[None].clone(), source[None]
    for layer in range(len(layers) + 1):
        row = []
        for t in range(len(target)):
            x = a
            x[0, t] = b[0, t]
            for rest in layers[layer:]:
                x = rest(x)
            row.append(x[0].clone())
        found.append(torch.stack(row))
        if layer < len(layers):
            a, b = layers[layer](a), layers[layer](b)
    return torch.stack(found)
""",
            ),
        ),
        Mistake(
            "every place exchanged",
            "You exchange the vectors of *all* places, so that it is the source's run. One place at a time.",
            EXCHANGE, "x[:] = both[1]",
        ),
        Mistake(
            "the exchange spoils the next layer",
            "Right at layer 0. The target that runs on is not the one you started with: an exchange changed it. Exchange in a copy.",
            code="""
def patching(layers, target, source):
    T, found = len(target), []
    a, b = target.clone()[None], source[None]
    for layer in range(len(layers) + 1):
        row = []
        for t in range(T):
            kept = a[0, t].clone()
            a[0, t] = b[0, t]
            x = a
            for rest in layers[layer:]:
                x = rest(x)
            row.append(x[0].clone())
            if t < T - 1:
                a[0, t] = kept
        found.append(torch.stack(row))
        if layer < len(layers):
            a, b = layers[layer](a), layers[layer](b)
    return torch.stack(found)
""",
        ),
        Mistake(
            "added, not exchanged",
            "You *add* the source's vector to the target's. It takes its place.",
            EXCHANGE, "x[range(T), range(T)] += both[1]",
        ),
        Mistake(
            "another place of the source",
            "The source's vector comes from another place than the one it is put in. Same layer, same place.",
            EXCHANGE, "x[range(T), range(T)] = both[1].roll(1, dims=0)",
        ),
        Mistake(
            "layers in the reverse order",
            "You run the layers from the last to the first.",
            edits={REST: "for rest in layers[::-1][layer:]:", ON: "both = layers[::-1][layer](both) if layer < len(layers) else both"},
        ),
        Mistake(
            "the difference to the target's run",
            "You return how far the run moved from the target's. The vectors themselves are asked for.",
            "found.append(x)", "found.append(x)\n        whole = target[None]\n        for one in layers:\n            whole = one(whole)\n        found[-1] = x - whole",
        ),
        Mistake(
            "places before layers",
            "Your entries are turned: the first axis is the layer, the second the place.",
            code="""
def patching(layers, target, source):
    T, found = len(target), []
    for t in range(T):
        row, a, b = [], target[None], source[None]
        for layer in range(len(layers) + 1):
            x = a.clone()
            x[0, t] = b[0, t]
            for rest in layers[layer:]:
                x = rest(x)
            row.append(x[0])
            if layer < len(layers):
                a, b = layers[layer](a), layers[layer](b)
        found.append(torch.stack(row))
    return torch.stack(found)
""",
        ),
        Mistake(
            "no exchange after the last layer",
            "Your last row is missing: the exchange after the last layer counts, too, L + 1 in all.",
            "for layer in range(len(layers) + 1):", "for layer in range(len(layers)):",
        ),
    ),
    alternatives={
        "one run at a time": """
def patching(layers, target, source):
    def run(x, some):
        for layer in some:
            x = layer(x)
        return x
    found = []
    for l in range(len(layers) + 1):
        a, b = run(target[None], layers[:l]), run(source[None], layers[:l])
        row = []
        for t in range(len(target)):
            x = a.clone()
            x[0, t] = b[0, t]
            row.append(run(x, layers[l:])[0])
        found.append(torch.stack(row))
    return torch.stack(found)
""",
        "hidden states first, then where": """
def patching(layers, target, source):
    T = len(target)
    states = [torch.stack([target, source])]
    for layer in layers:
        states.append(layer(states[-1]))
    mine = torch.eye(T, dtype=torch.bool)[:, :, None]
    found = []
    for l, (a, b) in enumerate(states):
        x = torch.where(mine, b, a)
        for layer in layers[l:]:
            x = layer(x)
        found.append(x)
    return torch.stack(found)
""",
        "from the last layer down": """
def patching(layers, target, source):
    if not layers:
        return torch.stack([torch.cat([target[:t], source[t : t + 1], target[t + 1 :]]) for t in range(len(target))])[None]
    first, rest = layers[0], layers[1:]
    x = torch.stack([torch.cat([target[:t], source[t : t + 1], target[t + 1 :]]) for t in range(len(target))])
    for layer in layers:
        x = layer(x)
    above = patching(rest, first(target[None])[0], first(source[None])[0])
    return torch.cat([x[None], above])
""",
    },
    hints=(
        "There are two runs as they are, the target's and the source's. At which layers do you need both of them, and which one goes on after the exchange?",
        "The two runs: (2, T, D) at each layer. With one exchange for each place: a batch (T, T, D). After the layers that are left: (T, T, D). Out: (L+1, T, T, D).",
        "for each layer, and once after the last:\n    T copies of the target's vectors; in copy t place t gets the source's\n    run the layers that are left on all copies\n    let both runs, unchanged, go one layer on",
        "Near miss: putting in `source` itself is right at layer 0. Further up it is what the source's *own run* has there.",
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
    cases=rollout_cases,
    rule=Rule(axes={"": "T T"}),
    mistakes=(
        Mistake(
            "no residual",
            "Nothing stays where it is with you: half of each token's vector comes along the residual connection.",
            STEP, "share = layer @ share",
        ),
        Mistake(
            "the identity added, not mixed",
            "Your rows add up to more than 1: the layer and the identity count half each.",
            STEP, "share = (layer + torch.eye(len(layer))) @ share",
        ),
        Mistake(
            "the first layer on the left",
            "Your layers are multiplied in reverse: the last layer looks at what the layers below it have mixed.",
            STEP, "share = share @ (layer + torch.eye(len(layer))) / 2",
        ),
        Mistake(
            "the last layer alone",
            "Only your last layer counts: what the layers below mixed is forgotten.",
            STEP, "share = (layer + torch.eye(len(layer))) / 2",
        ),
        Mistake(
            "the mean of the layers",
            "You average the layers. They work one after the other, so their shares multiply.",
            "    for layer in attention.mean(dim=1):\n        share = (layer + torch.eye(len(layer))) / 2 @ share\n    return share",
            "    return (attention.mean(dim=(0, 1)) + share) / 2",
        ),
        Mistake(
            "heads added up",
            "Your numbers grow with the number of heads.",
            "attention.mean(dim=1)", "attention.sum(dim=1)",
        ),
        Mistake(
            "the strongest head",
            "You take the largest weight of all heads where their mean is asked for; rows then add up to more than 1 until somebody divides them.",
            "attention.mean(dim=1)", "attention.amax(dim=1)",
            also=(
                """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for layer in attention.amax(dim=1):
        mixed = layer + torch.eye(len(layer))
        share = mixed / mixed.sum(dim=-1, keepdim=True) @ share
    return share
""",
            ),
        ),
        Mistake(
            "no residual in the first layer",
            "Your first layer has no residual connection: begin with the identity, so that every layer is mixed with it.",
            edits={
                "share = torch.eye(attention.shape[-1])": "share = attention[0].mean(dim=0)",
                "in attention.mean(dim=1)": "in attention.mean(dim=1)[1:]",
            },
        ),
        Mistake(
            "heads multiplied, layers averaged",
            "You average over the layers and multiply the heads. Heads work side by side, layers one after the other.",
            "attention.mean(dim=1)", "attention.mean(dim=0)",
        ),
        Mistake(
            "multiplied number by number",
            "You multiply the layers number by number. What a token gets through all that lies between is a matrix product.",
            "/ 2 @ share", "/ 2 * share",
            also=(
                """
def attention_rollout(attention):
    share = torch.ones(attention.shape[-1], attention.shape[-1])
    for layer in attention.mean(dim=1):
        share = share * (layer + torch.eye(len(layer))) / 2
    return share
""",
            ),
        ),
        Mistake(
            "ones in place of the identity",
            "You mix each layer with a table of ones. The residual connection hands a token to *itself* alone: that is the identity.",
            STEP, "share = (layer + torch.ones_like(layer)) / 2 @ share",
            also=(
                """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for layer in attention.mean(dim=1):
        mixed = (layer + torch.ones_like(layer)) / 2
        share = mixed / mixed.sum(dim=-1, keepdim=True) @ share
    return share
""",
            ),
        ),
        Mistake(
            "the first head alone",
            "All heads but the first are missing.",
            "attention.mean(dim=1)", "attention[:, 0]",
        ),
        Mistake(
            "transposed",
            "Rows and columns have changed places: your columns add up to 1.",
            "    return share", "    return share.T",
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
        labels = draw.rng.permutation(
            np.concatenate([np.arange(K), draw.integers(0, K, m - K) % max(K - 1, 2)])
        )
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
    cases=probe_cases,
    rule=Rule("close", 1e-3, axes={"": "n K"}),
    mistakes=(
        Mistake(
            "no ridge",
            "Your scores do not depend on ridge: the weights are fitted without a penalty.",
            "x.T @ x + ridge * torch.eye(x.shape[1])", "x.T @ x",
        ),
        Mistake(
            "ridge against the mean error",
            "Your penalty is too strong by the number of training vectors: the squares are summed, not averaged.",
            "ridge * torch.eye", "len(x) * ridge * torch.eye",
        ),
        Mistake(
            "ridge squared",
            "Your penalty is the square of what it should be.",
            "ridge * torch.eye", "ridge**2 * torch.eye",
        ),
        Mistake(
            "inputs not centred",
            "Your weights also have to explain what is common to all vectors: the inputs are centred first.",
            edits={
                XY: "x, y = train, targets - targets.mean(dim=0)",
                SCORES: "return test @ W + targets.mean(dim=0)",
            },
            also=(
                """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train.dtype)
    return test @ torch.linalg.solve(train.T @ train + ridge * torch.eye(train.shape[1]), train.T @ y)
""",
            ),
        ),
        Mistake(
            "the constant penalised, too",
            "You give the inputs a column of ones and penalise its weight like all others. Centring leaves the mean free: it is not pulled towards 0.",
            code="""
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train.dtype)
    x = torch.cat([train, torch.ones(len(train), 1)], dim=1)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ y)
    return torch.cat([test, torch.ones(len(test), 1)], dim=1) @ W
""",
        ),
        Mistake(
            "ridge added to every number of xᵀx",
            "You add ridge to every number of xᵀx. Only the diagonal gets it: the derivative of ridge · |W|² is ridge times W itself.",
            " * torch.eye(x.shape[1])", "",
        ),
        Mistake(
            "inputs divided by their deviation",
            "You also divide the inputs by their standard deviation, which changes what the penalty costs. Only the mean is to be taken away.",
            code="""
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train.dtype)
    mean, deviation = train.mean(dim=0), train.std(dim=0)
    x = (train - mean) / deviation
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(dim=0)))
    return (test - mean) / deviation @ W + y.mean(dim=0)
""",
            also=(
                """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train.dtype)
    mean, deviation = train.mean(dim=0), train.std(dim=0, correction=0)
    x = (train - mean) / deviation
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(dim=0)))
    return (test - mean) / deviation @ W + y.mean(dim=0)
""",
            ),
        ),
        Mistake(
            "targets of 1 and −1",
            "Your targets are 1 and −1. One-hot vectors are asked for: 1 for the label, 0 for the others.",
            "torch.nn.functional.one_hot(labels).to(train.dtype)",
            "torch.nn.functional.one_hot(labels).to(train.dtype) * 2 - 1",
        ),
        Mistake(
            "half of the penalty, or twice",
            "Your penalty is off by the factor 2. Both squares are summed as they are, so the 2 of their derivatives is on both sides and drops out.",
            "ridge * torch.eye", "ridge / 2 * torch.eye",
            also=(
                """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train.dtype)
    x = train - train.mean(dim=0)
    W = torch.linalg.solve(x.T @ x + 2 * ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(dim=0)))
    return (test - train.mean(dim=0)) @ W + y.mean(dim=0)
""",
            ),
        ),
        Mistake(
            "the label instead of its scores",
            "You return the label with the highest score. The scores of all K labels are asked for.",
            SCORES, "return ((test - train.mean(dim=0)) @ W + targets.mean(dim=0)).argmax(dim=1)",
        ),
        Mistake(
            "two labels only",
            "Your scores have two columns whatever the labels are: there are as many as labels, one for each.",
            "torch.nn.functional.one_hot(labels)", "torch.nn.functional.one_hot(labels.clamp(max=1), 2)",
        ),
        Mistake(
            "the test centred with its own mean",
            "Your scores of one test vector depend on the other test vectors.",
            "(test - train.mean(dim=0))", "(test - test.mean(dim=0))",
        ),
        Mistake(
            "the test not centred",
            "Your scores are all shifted: the test vectors have to be centred like those the weights were fitted to.",
            "(test - train.mean(dim=0))", "test",
        ),
        Mistake(
            "the mean target forgotten",
            "Your scores lie around 0. The mean target is to be added again, so that frequent labels keep their lead.",
            " + targets.mean(dim=0)", "",
        ),
        Mistake(
            "labels as one number",
            "You fit the label as a number. Label 2 is not twice label 1: each label has a column of its own.",
            "torch.nn.functional.one_hot(labels).to(train.dtype)",
            "torch.nn.functional.one_hot(labels).to(train.dtype) * (1 + labels[:, None])",
        ),
        Mistake(
            "probabilities",
            "Your rows lie between 0 and 1 and add up to 1: a softmax is not asked for.",
            SCORES, "return ((test - train.mean(dim=0)) @ W + targets.mean(dim=0)).softmax(dim=-1)",
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
        "targets - targets.mean())`": "x is centred, so that no number taken from all targets changes its product with them",
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
