"""08 Inside a pre-trained transformer: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ a word's vector


def word_cases(draw: Draw) -> Iterator[Case]:
    # The number of subwords of each word; word i has 2, 3, 1 and 3.
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
            "first subword only",
            "Your vector is correct for words of one subword. For longer words you return the vector of the first subword. This is "
            "common, but the mean is required here.",
            f"{PIECES}.mean(dim=1)", f"{PIECES}[:, 0]",
        ),
        Mistake(
            "last subword only",
            "Your vector is correct for words of one subword. For longer words you return the vector of the last subword instead of the mean.",
            f"{PIECES}.mean(dim=1)", f"{PIECES}[:, -1]",
        ),
        Mistake(
            "sum instead of mean",
            "With your sum, a word of three subwords gets a vector three times as long as their mean.",
            ".mean(dim=1)", ".sum(dim=1)",
        ),
        Mistake(
            "maximum instead of mean",
            "You take the maximum of each coordinate over the subwords instead of the mean.",
            ".mean(dim=1)", ".amax(dim=1)",
        ),
        Mistake(
            "divided by the number of all tokens",
            "You add up the word's subwords and divide by the number of *all* tokens, so the other tokens count as zeros in "
            "your mean.",
            f"{PIECES}.mean(dim=1)", "(hidden * (word_ids == i)[:, None]).mean(dim=1)",
        ),
        Mistake(
            "mean over the layers",
            "You average over the layers and get one vector per subword. Average over the subwords, so that there is one "
            "vector per layer.",
            ".mean(dim=1)", ".mean(dim=0)",
        ),
        Mistake(
            "last layer only",
            "You return the word's vector only for the last layer. Return one vector for every layer.",
            PIECES, "hidden[-1:, word_ids == i]",
            also=(
                """
def word_vectors(hidden, word_ids, i):
    return hidden[-1, word_ids == i].mean(dim=0)
""",
            ),
        ),
        Mistake(
            "right number of tokens from the wrong position",
            "You average as many tokens as the word has subwords, but you start at token i + 1. Words before this one may have "
            "several subwords.",
            PIECES, "hidden[:, i + 1 : i + 1 + int((word_ids == i).sum())]",
        ),
        Mistake(
            "only the first and last subword averaged",
            "Your vector is correct for words of one or two subwords. For longer words you leave out the subwords between the "
            "first and the last.",
            f"{PIECES}.mean(dim=1)", f"({PIECES}[:, 0] + {PIECES}[:, -1]) / 2",
        ),
        Mistake(
            "word index used as token index",
            "You return the vector of token i. Words and tokens have different numbers: [CLS] comes first, and a word may "
            "have several tokens.",
            f"{PIECES}.mean(dim=1)", "hidden[:, i]",
        ),
        Mistake(
            "only [CLS] accounted for",
            "You account for [CLS] but not for earlier words that have several subwords.",
            f"{PIECES}.mean(dim=1)", "hidden[:, i + 1]",
        ),
        Mistake(
            "next word",
            "You return the mean of another word's subwords. Words are counted from 0.",
            "word_ids == i", "word_ids == (i + 1) % (word_ids.max() + 1)",
        ),
        Mistake(
            "mean of the whole text",
            "Your vector is the same for every word of the text. Average only the subwords of word i.",
            PIECES, "hidden[:, word_ids >= 0]",
        ),
        Mistake(
            "earlier words included",
            "Your mean also includes the subwords of earlier words. Average only the subwords of word i.",
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
        "Write the tokens of a text in a line, and below each the number of its word. Which columns belong to word i?",
        "hidden: (L+1, T, D). word_ids: (T). The columns of one word: (L+1, subwords, D). Output: (L+1, D).",
        "select the tokens whose word_id is i, in all layers\naverage over those tokens",
        "A near miss: `hidden[:, i + 1]` skips [CLS] and is correct until an earlier word has two subwords.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def span_cases(draw: Draw) -> Iterator[Case]:
    """Words of one subword and of several; each is followed by punctuation, by a space, or directly by the next word.

    A text that does not begin with a word begins with a quotation mark, which belongs to no word. The fourth word
    has no subword, as happens when a tokenizer drops its characters.
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
            "every subword counted as a word",
            "You count every subword that is not a special token as a new word. A word may contain several subwords.",
            CHOSEN, "torch.where((begin < end)[:, 0], (begin < end)[:, 0].cumsum(dim=0) - 1, -1)",
        ),
        Mistake(
            "special tokens assigned to the first word",
            "When the first word begins at character 0, you assign [CLS], [SEP] and padding to it. An empty span is not inside "
            "any word.",
            " & (begin < end)", "",
        ),
        Mistake(
            "first subword of each word lost",
            "You give −1 to the first subword of each word. This subword begins exactly where its word begins.",
            "begin >= words", "begin > words",
        ),
        Mistake(
            "last subword of each word lost",
            "You give −1 to the last subword of each word. This subword ends exactly where its word ends.",
            "end <= words", "end < words",
        ),
        Mistake(
            "only the first subword of each word",
            "You assign only the first subword to each word. Every subword of a word belongs to it.",
            "begin >= words[:, 0]", "begin == words[:, 0]",
        ),
        Mistake(
            "punctuation assigned to the word before",
            "You assign punctuation to the word before it. A subword may come after the beginning of a word without being "
            "inside that word.",
            CHOSEN, "torch.where((begin < end)[:, 0], (begin >= words[:, 0]).sum(dim=1) - 1, -1)",
        ),
        Mistake(
            "0 instead of −1 for no word",
            "You give tokens that belong to no word the number 0, which is the number of the first word.",
            CHOSEN, "inside.int().argmax(dim=1)",
        ),
        Mistake(
            "words counted from 1",
            "You count words from 1. They should be counted from 0.",
            "inside.int().argmax(dim=1), -1", "inside.int().argmax(dim=1) + 1, -1",
        ),
        Mistake(
            "only words of one subword",
            "You assign a subword to a word only if it is the whole word. A subword belongs to the word that *contains* it.",
            "(begin >= words[:, 0]) & (end <= words[:, 1])", "(begin == words[:, 0]) & (end == words[:, 1])",
        ),
        Mistake(
            "subword at the end of a word included",
            "You assign a subword that begins where a word ends, such as a comma, to that word. A span (begin, end) does not include the character at index `end`.",
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
            "new word after each gap",
            "You start a new word wherever there is a gap between two subwords. There may be no gap before punctuation or even "
            "between two words. Check which word's span contains the subword.",
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
            "only the first and last token treated as special",
            "You treat only [CLS] and the very last token as special. With padding, [SEP] is not the last token. Recognise special "
            "tokens by their empty spans.",
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
            "every subword at character 0 treated as special",
            "You give −1 to the first subword of a word that begins at character 0. Special tokens have *empty* spans: "
            "they end where they begin.",
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
            "words without a subword not counted",
            "You count only the words that have a subword. The number of a word is its position in the list of words, and a "
            "word may have no subword.",
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
            "subword index returned",
            "You return the index of the subword instead of the number of its word.",
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
        "A word consists of characters 4 to 9. Which spans can its subwords have? And where is the span (0, 0) located?",
        "pieces: (T, 2), words: (W, 2). A table (T, W) that shows whether subword t lies inside word w. Output: (T).",
        "for each subword and each word:\n    inside if the subword begins no earlier, ends no later, and is not empty\nfor each "
        "subword: the number of the word that contains it, or −1",
        "A near miss: if you only check whether the subword *begins* inside the word, the empty span (0, 0) is assigned to "
        "a word that begins at 0.",
    ),
)

# ------------------------------------------------------------------------------------------ similarity of senses


def similarity_cases(draw: Draw) -> Iterator[Case]:
    """Word 0 has more pairs of either kind than word 1; another word occurs once."""
    for n, layers, D in ((9, 4, 5), (12, 2, 7), (10, 5, 6)):
        words = np.concatenate([[0, 0, 0, 0, 1, 1, 1, 2], draw.integers(2, 4, n - 8) + 1])
        senses = np.concatenate([[0, 0, 0, 1, 0, 1, 1, 0], draw.integers(0, 2, n - 8)])
        words = draw.rng.permutation(5)[words]
        order = draw.rng.permutation(n)
        # Uses of a word are close together, lengths differ, and all vectors share a direction: no mean cosine is near 0.
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
            "Your row 0 is too high: you pair every occurrence with itself, and the cosine of such a pair is 1.",
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
            "row 1 with pairs of different words",
            "Your row 1 contains pairs of different words. Their senses differ, but this row is for two senses of the same "
            "word.",
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
            "every word weighted equally",
            "You average within each word first, which gives more weight to pairs of rare words. All pairs of a kind should "
            "have the same weight.",
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
            "You average vectors first and then compute a cosine. Average the cosines of individual pairs: a mean vector is "
            "closer to all other vectors.",
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
            "Your three rows add up to the mean of all pairs. Divide each kind by the number of its own pairs.",
            "cosines[kind & once].mean(dim=0)", "(cosines * (kind & once)[..., None]).sum(dim=(0, 1)) / once.sum()",
        ),
        Mistake(
            "table transposed",
            "Your table is transposed: it has one row per layer. It should have one row for each of the three kinds and one "
            "column per layer.",
            "for kind in kinds])", "for kind in kinds], dim=1)",
        ),
        Mistake(
            "only neighbours in the list compared",
            "You compare each occurrence only with the next one in the list. Include every pair, no matter how far apart the two occurrences are.",
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
            "rows in reverse order",
            "Your rows are in reverse order. The correct order is: same sense, two senses, different words.",
            KINDS, "kinds = (~same_word, same_word & ~same_sense, same_sense)",
        ),
        Mistake(
            "dot products instead of cosines",
            "Your values depend on the lengths of the vectors. Cosines do not.",
            UNIT, "unit = vectors",
        ),
        Mistake(
            "row 0 with pairs of different words",
            "Your row 0 contains pairs of different words. Sense 0 of one word has nothing to do with sense 0 of another.",
            "same_word & (senses[:, None] == senses)", "(senses[:, None] == senses)",
        ),
        Mistake(
            "row 1 with all pairs of a word",
            "Your row 1 lies between row 0 and the correct value: it also contains pairs with the same sense.",
            "same_word & ~same_sense, ~same_word)", "same_word, ~same_word)",
        ),
        Mistake(
            "rows 0 and 1 swapped",
            "Your first two rows are swapped: row 0 should contain the pairs that share a sense.",
            KINDS, "kinds = (same_word & ~same_sense, same_sense, ~same_word)",
        ),
        Mistake(
            "row 2 with all pairs",
            "Your baseline, row 2, also contains pairs of the same word. It should contain only pairs of different words.",
            "~same_sense, ~same_word)", "~same_sense, torch.ones_like(same_word))",
        ),
        Mistake(
            "sums instead of means",
            "Your values grow with the number of pairs. A cosine is at most 1, and so is a mean of cosines.",
            ".mean(dim=0)", ".sum(dim=0)",
        ),
        Mistake(
            "all layers averaged",
            "You return one number for each kind. Return one for each kind and layer.",
            "cosines[kind & once].mean(dim=0)", "cosines[kind & once].mean()",
        ),
        Mistake(
            "norm over the layers",
            "You divide by a norm that mixes the layers. Divide the vector of each layer by its own length.",
            "norm(dim=-1, keepdim=True)", "norm(dim=1, keepdim=True)",
        ),
        Mistake(
            "median instead of mean",
            "Your values are close to the means but not equal to them: you return medians.",
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
        "Take four occurrences: bank (river), bank (river), bank (money), cell (prison). How many pairs are there, and to "
        "which of the three rows does each belong?",
        "vectors: (n, L+1, D). Cosines: (n, n, L+1). Three masks (n, n); no pair belongs to two of them. Output: (3, L+1).",
        "cosines of all pairs, layer by layer\nsame word? same word and same sense?\nkeep every pair once, none with itself\nfor "
        "each kind: the mean of its pairs in each layer",
        "A near miss: `senses[:, None] == senses` alone puts sense 0 of *bank* and sense 0 of *cell* together.",
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
            "Your value is too high, especially for few vectors: you also pair each vector with itself.",
            PAIRS, "unit.sum(dim=0).square().sum() / n**2",
        ),
        Mistake(
            "divided by n² without the diagonal",
            "Your value is too close to 0, especially for few vectors. How many pairs of different vectors are there?",
            "(n * (n - 1))", "n**2",
        ),
        Mistake(
            "dot products instead of cosines",
            "Your value depends on the lengths of the vectors. Cosines do not.",
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
            "norm over the vectors",
            "You divide each coordinate by its norm over all vectors. For a cosine, divide each *vector* by its own norm.",
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
            "triangle with its diagonal",
            "Your value is too high: you average over a triangle that includes the diagonal, where each vector is paired with "
            "itself.",
            PAIRS, "((unit.sum(dim=0).square().sum() - n) / 2 + n) / (n * (n + 1) / 2)",
        ),
        Mistake(
            "first vector compared with the others",
            "You compare only the first vector with all the others. All pairs are required.",
            PAIRS, "(unit[1:] @ unit[0]).mean()",
        ),
        Mistake(
            "distance instead of cosine",
            "You return a distance, 1 minus the mean cosine. Return the mean cosine itself.",
            PAIRS, f"1 - {PAIRS}",
        ),
        Mistake(
            "coordinates compared instead of vectors",
            "You compare the columns, each coordinate with every other. Compare the vectors, which are the rows.",
            "unit = vectors / vectors.norm(dim=-1, keepdim=True)",
            "unit = (vectors / vectors.norm(dim=0, keepdim=True)).T",
        ),
        Mistake(
            "cosine with the mean vector",
            "You compare each vector with the mean of all vectors instead of with each other vector.",
            PAIRS, "torch.cosine_similarity(vectors, vectors.mean(dim=0)[None], dim=-1).mean()",
        ),
        Mistake(
            "vectors centred first",
            "You subtract the mean before you compare the vectors. This removes exactly what you want to measure.",
            "unit = vectors / vectors.norm(dim=-1, keepdim=True)",
            "vectors = vectors - vectors.mean(dim=0)\n    unit = vectors / vectors.norm(dim=-1, keepdim=True)",
        ),
        Mistake(
            "absolute values of the cosines",
            "You count negative cosines as positive. A negative cosine should lower the mean.",
            PAIRS, "((unit @ unit.T).abs().sum() - n) / (n * (n - 1))",
        ),
        Mistake(
            "half of the mean",
            "Your value is half of what it should be: n (n − 1) counts every pair twice. Does your sum contain each cosine "
            "twice?",
            "(n * (n - 1))", "(2 * n * (n - 1))",
        ),
        Mistake(
            "only neighbours in the list compared",
            "You compare each vector only with the next one in the list. All pairs are required.",
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
        "How many pairs of different vectors can you form from three vectors? What is the cosine of a vector with itself, and "
        "does it belong in the mean?",
        "vectors: (n, D). Cosines: (n, n), of which the n on the diagonal are 1. Output: one number.",
        "divide each vector by its length\nadd up the cosines of all ordered pairs\nsubtract the n pairs of a vector with "
        "itself\ndivide by n (n − 1)",
        "A near miss: the mean of the whole matrix of cosines looks right for thousands of vectors but is too high by up to "
        "about 1/n.",
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
            "logarithm of 0",
            "You get NaN where a weight is 0, because floating-point arithmetic gives NaN for 0 times minus infinity. Such a "
            "weight adds nothing.",
            ENTROPY, "-(attention * attention.log()).sum(dim=-1).mean(dim=-1)",
        ),
        Mistake(
            "rows with a zero left out",
            "You leave out the rows that contain a weight of 0. Only this *weight* adds nothing; the row counts like any "
            "other.",
            ENTROPY, "-(attention * attention.log()).sum(dim=-1).nanmean(dim=-1)",
        ),
        Mistake(
            "entropy 0 for rows with a zero",
            "You give rows that contain a weight of 0 the entropy 0: the NaN of one weight spread to the sum of its row before "
            "you replaced it.",
            ENTROPY, "-(attention * attention.log()).sum(dim=-1).nan_to_num(0.0).mean(dim=-1)",
        ),
        Mistake(
            "second softmax",
            "You apply a softmax to the attention weights. They are already probabilities: each row sums to 1.",
            ENTROPY, "-torch.xlogy(attention.softmax(dim=-1), attention.softmax(dim=-1)).sum(dim=-1).mean(dim=-1)",
        ),
        Mistake(
            "median over the rows",
            "You take the median of a head's rows instead of the mean.",
            ENTROPY, "(-torch.xlogy(attention, attention).sum(dim=-1)).median(dim=-1).values",
        ),
        Mistake(
            "minus sign missing",
            "Your entropies are negative, because the logarithm of a weight below 1 is negative. Change the sign.",
            "-torch.xlogy", "torch.xlogy",
        ),
        Mistake(
            "bits instead of nats",
            "Your values are in bits; the docstring asks for nats.",
            ENTROPY, "-torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1) / 0.6931471805599453",
        ),
        Mistake(
            "columns instead of rows",
            "You normalise the columns and compute their entropies, which shows how the attention to one token is spread. A "
            "row shows what one token attends to.",
            ENTROPY,
            "-torch.xlogy(attention / attention.sum(dim=-2, keepdim=True).clamp(min=1e-9), attention / attention.sum(dim=-2, keepdim=True).clamp(min=1e-9)).sum(dim=-2).mean(dim=-1)",
        ),
        Mistake(
            "entropy of the mean row",
            "Your values are too high: you average the rows first. A head with sharp attention to a different position in each "
            "row then seems to attend everywhere.",
            ENTROPY, "-torch.xlogy(attention.mean(dim=-2), attention.mean(dim=-2)).sum(dim=-1)",
        ),
        Mistake(
            "sum over the rows",
            "Your values grow with the length of the text. Average over the rows.",
            ".mean(dim=-1)", ".sum(dim=-1)",
        ),
        Mistake(
            "mean within the rows",
            "Your values are too small by the factor T. Within a row, take the sum of the terms.",
            ".sum(dim=-1)", ".mean(dim=-1)",
        ),
        Mistake(
            "divided by log T",
            "You divide by the maximum entropy. Return the entropy in nats.",
            ENTROPY, f"{ENTROPY} / torch.tensor(float(attention.shape[-1])).log()",
        ),
        Mistake(
            "heads averaged",
            "You return one number for each layer. Return one for each head.",
            ".mean(dim=-1)", ".mean(dim=(-1, -2))",
        ),
        Mistake(
            "exponential of the entropy",
            "You return the effective number of tokens that a row attends to, the exponential of its entropy.",
            ENTROPY, "(-torch.xlogy(attention, attention).sum(dim=-1)).exp().mean(dim=-1)",
        ),
        Mistake(
            "constant added inside the logarithm",
            "You add a constant that is large enough to change the result. Where is it needed, and can you do without it?",
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
        "sum(dim=-2).mean(dim=-1)": "every entry of the matrix is added once and the sum is divided by T, in either order",
    },
    hints=(
        "What is the entropy of the row 1, 0, 0? Of ⅓, ⅓, ⅓? What does a computer return for 0 · log 0?",
        "attention: (L, H, T, T); the last axis sums to 1. One entropy per row: (L, H, T). Output: (L, H).",
        "for each row: minus the sum of weight times log weight, where the weight is above 0\nthen the mean over a head's rows",
        "A near miss: `-(a * a.log()).sum(-1)` is correct until a weight is exactly 0, which happens wherever there is a mask.",
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
        # Coordinates differ in size, as in a model, so that normalising columns instead of rows changes the neighbours.
        columns = draw.rng.permutation(np.geomspace(0.25, 4.0, D))
        train = (draw.normal(m, D) + common) * columns * draw.uniform(m, 1, low=0.4, high=2.5)
        test = (draw.normal(n, D) + common) * columns * draw.uniform(n, 1, low=0.4, high=2.5)
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
    """The test vectors, each moved slightly until the two largest cosines with its word differ clearly."""
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
            "dot products instead of cosines",
            "Your choice favours long vectors. Choose the vector with the largest cosine, which ignores lengths.",
            COSINES, "cosines = test @ train.T",
        ),
        Mistake(
            "Euclidean distance",
            "You compare the vectors as points, so a long and a short vector in the same direction are far apart.",
            COSINES, "cosines = -torch.cdist(test, train)",
        ),
        Mistake(
            "other words not excluded",
            "Some of your answers are senses of another word. The vectors of other words may be nearer, but they should be excluded.",
            SAME, "cosines = cosines + 0",
        ),
        Mistake(
            "mask inverted",
            "All your answers are senses of other words: your mask is inverted.",
            "test_words[:, None] != train_words", "test_words[:, None] == train_words",
        ),
        Mistake(
            "masked cosines set to 0",
            "If all cosines of a word are negative, you choose a neighbour of another word: 0 is not low enough.",
            "-torch.inf", "0.0",
        ),
        Mistake(
            "farthest instead of nearest",
            "You choose the least similar vector. Choose the most similar one.",
            edits={
                SAME: "cosines = cosines.masked_fill(test_words[:, None] != train_words, torch.inf)",
                "argmax": "argmin",
            },
        ),
        Mistake(
            "index of the neighbour returned",
            "You return the index of the nearest neighbour instead of its sense.",
            NEAREST, "return cosines.argmax(dim=1)",
        ),
        Mistake(
            "word of the neighbour returned",
            "You return the neighbour's word, which was already known.",
            NEAREST, "return train_words[cosines.argmax(dim=1)]",
        ),
        Mistake(
            "index within the word used for all senses",
            "You find the right neighbour, but its index refers to the vectors of its word, and you apply it to the list of all senses. Select senses in "
            "the same way as vectors.",
            NEAREST,
            "places = [cosines[t][train_words == word].argmax() for t, word in enumerate(test_words)]\n    return train_senses[torch.stack(places)]",
        ),
        Mistake(
            "norm over the sentences",
            "You divide each coordinate by its norm over all sentences. For a cosine, divide each *vector* by its own norm.",
            COSINES, "cosines = unit(test, dim=0) @ unit(train, dim=0).T",
            also=(
                """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cosines = unit(test, dim=-1) @ unit(train, dim=0).T
    cosines = cosines.masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[cosines.argmax(dim=1)]
""",
                """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cosines = unit(test, dim=0) @ unit(train, dim=-1).T
    cosines = cosines.masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[cosines.argmax(dim=1)]
""",
            ),
        ),
        Mistake(
            "absolute value of the cosine",
            "You treat a vector in the opposite direction as near. Use the largest cosine, not the largest absolute value.",
            COSINES,
            COSINES.replace(
                "unit(test, dim=-1) @ unit(train, dim=-1).T",
                "(unit(test, dim=-1) @ unit(train, dim=-1).T).abs()",
            ),
        ),
        Mistake(
            "search started at 0",
            "If all cosines of a word are negative, you find no neighbour at all. Start the search below −1, not at 0.",
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
            "majority vote of three neighbours",
            "You let three neighbours vote. Only the nearest one should decide.",
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
            "most frequent sense of the word",
            "Your answer is the same for every sentence of a word: this is the majority baseline.",
            NEAREST, "return torch.stack([train_senses[train_words == word].mode().values for word in test_words])",
        ),
        Mistake(
            "nearest mean instead of nearest neighbour",
            "You score a sense by a mean, either of its vectors or of their cosines. Use the nearest single sentence: a sense "
            "can have several clusters.",
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
        "You read *bank* in a new sentence and have 28 labelled sentences, sorted by sense. Which sentence determines the sense, and "
        "which vectors are excluded, however near they are?",
        "train: (m, D), test: (n, D). Cosines: (n, m), some of which do not count. The neighbour's index: (n). Output: (n) "
        "senses.",
        "cosines of each test vector with each training vector\nminus infinity where the words differ\nfor each test vector: the "
        "training vector with the largest cosine\nits sense",
        "A near miss: setting the excluded cosines to 0 works until every cosine of the right word is below 0.",
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
            "residual connection missing",
            "You ignore the residual connection: half of each token's vector comes through it, from the same position.",
            STEP, "share = layer @ share",
        ),
        Mistake(
            "identity added without dividing by 2",
            "Your rows sum to more than 1: the layer and the identity should have a weight of one half each.",
            STEP, "share = (layer + torch.eye(len(layer))) @ share",
        ),
        Mistake(
            "matrix product in the wrong order",
            "You multiply the layers in reverse order. The last layer attends to the mixtures computed by the layers below it.",
            STEP, "share = share @ (layer + torch.eye(len(layer))) / 2",
        ),
        Mistake(
            "last layer only",
            "Only your last layer counts: you discard the mixtures computed by the layers below it.",
            STEP, "share = (layer + torch.eye(len(layer))) / 2",
        ),
        Mistake(
            "layers averaged",
            "You average the layers. Layers work one after the other, so multiply their matrices.",
            "    for layer in attention.mean(dim=1):\n        share = (layer + torch.eye(len(layer))) / 2 @ share\n    return share",
            "    return (attention.mean(dim=(0, 1)) + share) / 2",
        ),
        Mistake(
            "sum over the heads",
            "Your values grow with the number of heads. Take the mean over the heads.",
            "attention.mean(dim=1)", "attention.sum(dim=1)",
        ),
        Mistake(
            "maximum over the heads",
            "You take the maximum over the heads instead of the mean. The rows then sum to more than 1 unless they are "
            "normalised again.",
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
            "residual connection missing in the first layer",
            "Your first layer has no residual connection. Start with the identity, so that every layer is mixed with it.",
            edits={
                "share = torch.eye(attention.shape[-1])": "share = attention[0].mean(dim=0)",
                "in attention.mean(dim=1)": "in attention.mean(dim=1)[1:]",
            },
        ),
        Mistake(
            "heads multiplied and layers averaged",
            "You average over the layers and multiply the heads. Heads work in parallel, whereas layers work one after the other.",
            "attention.mean(dim=1)", "attention.mean(dim=0)",
        ),
        Mistake(
            "element-wise product",
            "You multiply the layers element by element. A matrix product sums over all intermediate tokens.",
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
            "ones instead of the identity",
            "You mix each layer with a matrix of ones. The residual connection passes a token only to *itself*, as the "
            "identity does.",
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
            "first head only",
            "You use only the first head. Average over all heads.",
            "attention.mean(dim=1)", "attention[:, 0]",
        ),
        Mistake(
            "result transposed",
            "Your result is transposed: its columns sum to 1. Its rows should sum to 1.",
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
        "After layer 1, what share of token 3 comes from input 5? Layer 2 then mixes those mixtures: what is multiplied by "
        "what?",
        "attention: (L, H, T, T). Averaged over heads: (L, T, T). Output: (T, T), whose rows sum to 1.",
        "shares = identity: before the first layer each token is itself\nfor each layer from the bottom:\n    mix = half the "
        "mean of its heads + half the identity\n    shares = mix times shares",
        "A near miss: `shares @ mix` has the same shape and rows that sum to 1, but lets the first layer attend to the output "
        "of the last.",
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
            "ridge penalty missing",
            "Your scores do not depend on ridge: you fit the weights without a penalty.",
            "x.T @ x + ridge * torch.eye(x.shape[1])", "x.T @ x",
        ),
        Mistake(
            "mean instead of sum of squares",
            "Your penalty is too strong by a factor equal to the number of training vectors: the squares should be "
            "summed, not averaged.",
            "ridge * torch.eye", "len(x) * ridge * torch.eye",
        ),
        Mistake(
            "ridge squared",
            "You use the square of ridge as the penalty. Use ridge itself.",
            "ridge * torch.eye", "ridge**2 * torch.eye",
        ),
        Mistake(
            "inputs not centred",
            "Your weights also have to account for the mean of all vectors. Centre the inputs first.",
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
            "intercept penalised",
            "You add a column of ones to the inputs and penalise its weight like all others. Centring leaves the mean free of "
            "the penalty, which would pull it towards 0.",
            code="""
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train.dtype)
    x = torch.cat([train, torch.ones(len(train), 1)], dim=1)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ y)
    return torch.cat([test, torch.ones(len(test), 1)], dim=1) @ W
""",
        ),
        Mistake(
            "ridge added to every entry of xᵀx",
            "You add ridge to every entry of xᵀx. Add it only to the diagonal: the derivative of ridge · |W|² is proportional "
            "to W itself.",
            " * torch.eye(x.shape[1])", "",
        ),
        Mistake(
            "inputs standardised",
            "You also divide the inputs by their standard deviation, which changes the effect of the penalty. Subtract only "
            "the mean.",
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
            "Your targets are 1 and −1. Use one-hot vectors: 1 for the label, 0 for the others.",
            "torch.nn.functional.one_hot(labels).to(train.dtype)",
            "torch.nn.functional.one_hot(labels).to(train.dtype) * 2 - 1",
        ),
        Mistake(
            "penalty off by a factor of 2",
            "Your penalty is off by a factor of 2. Both terms are plain sums of squares, so the 2 in their derivatives appears "
            "on both sides and cancels.",
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
            "label returned instead of scores",
            "You return the label with the highest score. Return the scores of all K labels.",
            SCORES, "return ((test - train.mean(dim=0)) @ W + targets.mean(dim=0)).argmax(dim=1)",
        ),
        Mistake(
            "only two labels",
            "Your scores always have two columns. There should be one column for each label.",
            "torch.nn.functional.one_hot(labels)", "torch.nn.functional.one_hot(labels.clamp(max=1), 2)",
        ),
        Mistake(
            "test set centred with its own mean",
            "Your scores for one test vector depend on the other test vectors. Centre the test vectors with the means over train.",
            "(test - train.mean(dim=0))", "(test - test.mean(dim=0))",
        ),
        Mistake(
            "test vectors not centred",
            "Your scores are all shifted. Centre the test vectors in the same way as the training vectors.",
            "(test - train.mean(dim=0))", "test",
        ),
        Mistake(
            "mean target missing",
            "Your scores are centred on 0. Add the mean target again, so that frequent labels keep their advantage.",
            " + targets.mean(dim=0)", "",
        ),
        Mistake(
            "label numbers as targets",
            "Your targets contain the number of the label, counted from 1. Label 2 is not twice label 1: use 1 in the column "
            "of the label, whatever its number is.",
            "torch.nn.functional.one_hot(labels).to(train.dtype)",
            "torch.nn.functional.one_hot(labels).to(train.dtype) * (1 + labels[:, None])",
        ),
        Mistake(
            "softmax applied",
            "Your rows are between 0 and 1 and sum to 1. Return the scores without a softmax.",
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
        "targets - targets.mean())`": "x is centred, so subtracting one number from all targets does not change xᵀy",
        "targets + targets.mean(dim=0)": "x is centred, so what is constant in y does not change xᵀy",
        "targets - targets.sum(dim=0)": "x is centred, so what is constant in y does not change xᵀy",
    },
    hints=(
        "For which W is |x W − y|² + ridge · |W|² smallest? Set its derivative to 0: which linear equations do you get?",
        "x: (m, D), y: (m, K), W: (D, K). The equations: (D, D) times W = (D, K). Output: (n, K).",
        "one target column for each label: 1 for vectors with this label, 0 for all others\ncentre x and y with their means over train\nsolve (xᵀx "
        "+ ridge · identity) W = xᵀy\nscores = (test − mean of train) W + mean of y",
        "A near miss: centring the test set with its own mean gives nearly the same labels on a balanced test set, but "
        "different labels otherwise.",
    ),
)
