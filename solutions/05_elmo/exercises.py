"""05 ELMo: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ words from characters


def spellings(draw: Draw, batch: int, tokens: int, longest: int, characters: int) -> np.ndarray:
    """Words as character ids (1 and above), followed by padding (0): short words, and one word without padding."""
    chars = draw.integers(1, characters, batch, tokens, longest)
    lengths = draw.integers(2, longest, batch, tokens)
    lengths[0, 0] = longest
    return np.where(np.arange(longest) < lengths[..., None], chars, 0)


def char_cnn_cases(draw: Draw) -> Iterator[Case]:
    """Padding has a row of the table like any other character; the widths are not sorted."""
    for batch, tokens, longest, characters, c, filters, D in (
        (2, 3, 7, 9, 4, {2: 5, 1: 6}, 8),
        (3, 2, 6, 11, 5, {2: 3, 3: 4, 1: 7}, 4),
        (4, 5, 8, 10, 3, {3: 2, 1: 6, 4: 4, 2: 5}, 6),
    ):
        F = sum(filters.values())
        yield (
            {
                "chars": spellings(draw, batch, tokens, longest, characters),
                "table": draw.normal(characters, c),
                "widths": np.array(list(filters)),
            }
            | {f"K_{w}": draw.normal(n, c, w, scale=(c * w) ** -0.5) for w, n in filters.items()}
            | {f"b_{w}": draw.normal(n, scale=0.8) + 0.1 for w, n in filters.items()}
            | {"W_high": draw.normal(F, F, scale=F**-0.5), "b_high": draw.normal(F, scale=0.4)}
            | {"W_gate": draw.normal(F, F, scale=F**-0.5), "b_gate": draw.normal(F, scale=0.4)}
            | {"W_proj": draw.normal(F, D, scale=F**-0.5), "b_proj": draw.normal(D, scale=0.4)}
        )


SLID = """
def char_cnn(chars, table, filters, onward):
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    found = [conv1d(letters, kernel, bias, {}).amax(dim=-1) for kernel, bias in filters]
    return onward(torch.relu(torch.cat(found, dim=-1))).unflatten(0, chars.shape[:2])
"""
SORTED = """
def char_cnn(chars, table, filters, onward):
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    filters = sorted(filters, key=lambda pair: {}pair[0].shape[-1])
    found = [conv1d(letters, kernel, bias).amax(dim=-1) for kernel, bias in filters]
    return onward(torch.relu(torch.cat(found, dim=-1))).unflatten(0, chars.shape[:2])
"""

char_cnn = Exercise(
    cases=char_cnn_cases,
    rule=Rule(axes={"": "B T D"}),
    mistakes=(
        Mistake(
            "mean over positions",
            "You average the responses of each filter over all positions, including padding. A feature should indicate "
            "whether the pattern occurs anywhere in the word, so take the largest response instead.",
            "amax(dim=-1)", "mean(dim=-1)",
            also=(
                """
def char_cnn(chars, table, filters, onward):
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    found = [torch.relu(conv1d(letters, kernel, bias)).mean(dim=-1) for kernel, bias in filters]
    return onward(torch.cat(found, dim=-1)).unflatten(0, chars.shape[:2])
""",
            ),
        ),
        Mistake(
            "sum over positions",
            "Your features grow with the number of positions. A feature is the response of a filter at the single position "
            "where this response is largest.",
            "amax(dim=-1)", "sum(dim=-1)",
        ),
        Mistake(
            "only the first position used",
            "Your vectors depend only on the first letters of a word. Each filter should slide over all positions.",
            ".amax(dim=-1)", "[..., 0]",
        ),
        Mistake(
            "relu missing",
            "Some of the features that you pass to `onward` are negative. Apply relu first, so that a filter without a match "
            "gives 0.",
            "torch.relu(torch.cat(found, dim=-1))", "torch.cat(found, dim=-1)",
        ),
        Mistake(
            "tanh instead of relu",
            "Your large features are compressed towards 1. The docstring requires relu as the activation function.",
            "torch.relu", "torch.tanh",
        ),
        Mistake(
            "filter biases not used",
            "Your result does not depend on the biases of the filters. Add them to the responses.",
            "conv1d(letters, kernel, bias)", "conv1d(letters, kernel)",
        ),
        Mistake(
            "filters in a different order",
            "All features are correct, but they are in the wrong order. `onward` expects the filters in the given order.",
            "torch.cat(found, dim=-1)", "torch.cat(found[::-1], dim=-1)",
            also=(SORTED.format(""), SORTED.format("-")),
        ),
        Mistake(
            "filters flipped",
            "The filters of width 1 are correct, but wider filters are not. You reverse each kernel, which conv1d does not "
            "do.",
            "conv1d(letters, kernel, bias)", "conv1d(letters, kernel.flip(-1), bias)",
        ),
        Mistake(
            "letters reshaped instead of transposed",
            "The shapes are correct, but each column that your filters read mixes the vectors of several letters. Move the "
            "axis with `transpose` instead of reshaping.",
            ".transpose(1, 2)", ".reshape(chars.shape[0] * chars.shape[1], -1, chars.shape[2])",
        ),
        Mistake(
            "filters applied beyond the edges",
            "You also apply the filters at positions where they fit only partly. A filter of width w has C − w + 1 positions.",
            "conv1d(letters, kernel, bias)", "conv1d(letters, kernel, bias, padding=kernel.shape[-1] - 1)",
            also=(
                SLID.format("padding=kernel.shape[-1] // 2"),
                """
def char_cnn(chars, table, filters, onward):
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    found = []
    for kernel, bias in filters:
        beside = kernel.shape[-1] - 1  # as conv1d(..., padding="same") pads
        filled = torch.nn.functional.pad(letters, (beside // 2, beside - beside // 2))
        found.append(conv1d(filled, kernel, bias).amax(dim=-1))
    return onward(torch.relu(torch.cat(found, dim=-1))).unflatten(0, chars.shape[:2])
""",
            ),
        ),
        Mistake(
            "last position left out",
            "Some of your features are too small, because you miss the response at the last position. A filter of width w has "
            "C − w + 1 positions.",
            "conv1d(letters, kernel, bias)", "conv1d(letters[..., :-1], kernel, bias)",
        ),
        Mistake(
            "stride larger than 1",
            "The filters of width 1 are correct, but wider filters move by more than one position at a time.",
            code=SLID.format("stride=kernel.shape[-1]"),
        ),
        Mistake(
            "largest absolute value instead of the largest response",
            "You keep the response that is farthest from 0. A strongly negative response means that the pattern is absent, so "
            "take the largest response instead.",
            "bias).amax", "bias).abs().amax",
        ),
        Mistake(
            "position instead of response",
            "You return the position of the largest response of each filter instead of the response itself.",
            "amax(dim=-1) for kernel, bias in filters]", "argmax(dim=-1).float() for kernel, bias in filters]",
        ),
        Mistake(
            "relu applied at the end",
            "None of your vectors has a negative coordinate, because you apply relu at the end. Apply it to the features "
            "before you pass them to `onward`.",
            edits={
                "torch.relu(torch.cat(found, dim=-1))": "torch.cat(found, dim=-1)",
                "onward(features)": "torch.relu(onward(features))",
            },
        ),
        Mistake(
            "padding vector set to 0",
            "Your vectors for words without padding are correct. Padding is character 0, and its row of the table is looked "
            "up like any other row.",
            "table[chars]", "(table[chars] * (chars != 0)[..., None])",
        ),
        Mistake(
            "padding not read",
            "Your vectors for long words are correct. For short words you leave out the positions after the end of the word. "
            "The filters should slide over all C positions.",
            code="""
def char_cnn(chars, table, filters, onward):
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    real = (chars != 0).flatten(0, 1)
    found = []
    for kernel, bias in filters:
        width = kernel.shape[-1]
        inside = real.unfold(1, width, 1).any(-1)[:, None]
        found.append(torch.nn.functional.conv1d(letters, kernel, bias).masked_fill(~inside, -torch.inf).amax(dim=-1))
    return onward(torch.relu(torch.cat(found, dim=-1))).unflatten(0, chars.shape[:2])
""",
            also=(
                """
def char_cnn(chars, table, filters, onward):
    rows = []
    for word in chars.flatten(0, 1):
        found = []
        for kernel, bias in filters:
            letters = table[word[: max(int((word != 0).sum()), kernel.shape[-1])]]
            found.append(conv1d(letters.T[None], kernel, bias)[0].amax(dim=-1))
        rows.append(torch.cat(found))
    return onward(torch.relu(torch.stack(rows))).unflatten(0, chars.shape[:2])
""",
            ),
        ),
        Mistake(
            "onward not applied",
            "You return the features themselves, because you never call `onward`. Pass the features through it.",
            "onward(features)", "features",
        ),
        Mistake(
            "words and sentences swapped",
            "Every vector is correct, but most vectors are in the wrong position. Keep the words of each sentence together.",
            ".unflatten(0, chars.shape[:2])",
            ".unflatten(0, chars.shape[:2]).transpose(0, 1).reshape(*chars.shape[:2], -1)",
        ),
        detached("char_cnn"),
    ),
    alternatives={
        "word by word, place by place": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    rows = []
    for word in chars.reshape(B * T, C):
        letters = table[word]
        features = []
        for kernel, bias in filters:
            width = kernel.shape[-1]
            places = [(kernel * letters[p : p + width].T).sum((1, 2)) + bias for p in range(C - width + 1)]
            features.append(torch.stack(places).amax(0))
        rows.append(torch.cat(features).clamp(min=0))
    return onward(torch.stack(rows)).reshape(B, T, -1)
""",
        "windows and einsum": """
def char_cnn(chars, table, filters, onward):
    letters = table[chars]
    found = [
        torch.relu(torch.einsum("btpcw,fcw->btpf", letters.unfold(2, k.shape[-1], 1), k) + bias).amax(2)
        for k, bias in filters
    ]
    return onward(torch.cat(found, -1))
""",
        "one-hot characters, max_pool1d": """
def char_cnn(chars, table, filters, onward):
    F = torch.nn.functional
    hot = F.one_hot(chars, len(table)).float()
    letters = (hot @ table).flatten(0, 1).permute(0, 2, 1)
    found = []
    for kernel, bias in filters:
        slid = F.relu(F.conv1d(letters, kernel, bias))
        found.append(F.max_pool1d(slid, slid.shape[-1]).squeeze(-1))
    return onward(torch.cat(found, 1)).view(*chars.shape[:2], -1)
""",
    },
    hints=(
        "Take one word and one filter of width 2. At how many positions does the filter fit, and which of its responses do "
        "you keep?",
        "table[chars]: (B, T, C, c). conv1d expects (words, c, C): the channels before the positions, and all words on one "
        "axis. A kernel (F, c, w) gives (words, F, C − w + 1), and (words, F) after the maximum over positions.",
        "look up every letter; put all words of the batch on one axis; move the channels before the positions\nfor each kernel: "
        "convolve, then take the maximum over positions\nconcatenate the features, apply relu, call onward\nrestore the two axes "
        "of the words",
        "A near miss: `conv1d(table[chars][0], …)` without moving an axis treats positions as channels. This raises an error "
        "unless C happens to equal c; in this case the result is silently wrong.",
    ),
)

# ------------------------------------------------------------------------------------------ reading backwards


def ragged(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """The lengths of the rows: one full row, one with a single token, and others in between."""
    lengths = draw.integers(2, tokens, batch)
    lengths[0], lengths[-1] = tokens, 1
    return draw.rng.permutation(lengths)


def reverse_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens in ((3, 6), (5, 7)):
        lengths = ragged(draw, batch, tokens)
        ids = draw.integers(3, 900, batch, tokens)
        yield {"x": np.where(np.arange(tokens) < lengths[:, None], ids, 0), "lengths": lengths}
    for batch, tokens, dim in ((4, 5, 3), (2, 8, 6)):
        yield {"x": draw.normal(batch, tokens, dim), "lengths": ragged(draw, batch, tokens)}


ROW_BY_ROW = """
def reverse_padded(x, lengths):
    return torch.stack([torch.cat([{}]) for row, n in zip(x, lengths.tolist())])
"""
ORDER = "torch.where(places < last, last - 1 - places, places)"

reverse_padded = Exercise(
    cases=reverse_cases,
    rule=Rule("close", 1e-5),  # no axes: the answers have two or three
    mistakes=(
        Mistake(
            "padding reversed with the words",
            "Your result is correct for full rows. In shorter rows the padding now comes first, and the words are no longer "
            "at the beginning.",
            ORDER, "(x.shape[1] - 1 - places).expand(len(x), -1)",
        ),
        Mistake(
            "entries shifted by one position",
            "All entries are shifted by one position. Your first entry is the entry after the last word.",
            "last - 1 - places", "(last - places).clamp(max=x.shape[1] - 1)",
        ),
        Mistake(
            "entries not reversed",
            "You return the rows unchanged. Reverse the first lengths[b] entries of each row b.",
            ORDER, "places.expand(len(x), -1)",
        ),
        Mistake(
            "first token not moved",
            "The first token of each row has not moved. A backward model must read the last token first, even if the first "
            "token is a special token.",
            ORDER, "torch.where((places > 0) & (places < last), last - places, places)",
        ),
        Mistake(
            "last token not moved",
            "The last token of each row has not moved, although a backward model must read it first.",
            ORDER, "torch.where(places < last - 1, last - 2 - places, places)",
        ),
        Mistake(
            "padding overwritten with 0",
            "The words are correct. The entries after them should stay unchanged, but you set them to 0.",
            code="""
def reverse_padded(x, lengths):
    places = torch.arange(x.shape[1])
    last = lengths[:, None]
    order = torch.where(places < last, last - 1 - places, places)
    turned = x[torch.arange(len(x))[:, None], order]
    return turned * (places < last).reshape(*order.shape, *[1] * (x.ndim - 2))
""",
        ),
        Mistake(
            "padding reversed as well",
            "The words are correct. The entries after them should stay unchanged, but you reverse them.",
            code=ROW_BY_ROW.format("row[:n].flip(0), row[n:].flip(0)"),
        ),
        Mistake(
            "padding placed before the words",
            "Your words are in the correct order, but the padding precedes them. Each row should still begin with its words.",
            code=ROW_BY_ROW.format("row[n:], row[:n].flip(0)"),
        ),
        Mistake(
            "one length for all rows",
            "You reverse the same number of entries in every row as in the first row. Each row has its own length.",
            "last = lengths[:, None]", "last = lengths[:1, None]",
        ),
        Mistake(
            "lengths counted from the entries",
            "Your result is correct for rows of ids. If the entries are vectors, counting nonzero numbers counts coordinates "
            "instead of tokens. Use the argument lengths.",
            code="""
def reverse_padded(x, lengths):
    out = x.clone()
    for b, row in enumerate(x):
        n = int((row != 0).sum())
        out[b, :n] = row[:n].flip(0)
    return out
""",
        ),
        Mistake(
            "sentences reversed",
            "You reverse the order of the sentences in the batch. Reverse the words within each row instead.",
            "x[torch.arange(len(x))[:, None], order]", "x.flip(0)",
        ),
        Mistake(
            "coordinates reversed",
            "Your result is correct for rows of ids. If the entries are vectors, you reverse their coordinates. Move whole "
            "vectors instead.",
            "return x[torch.arange(len(x))[:, None], order]",
            "turned = x[torch.arange(len(x))[:, None], order]\n"
            "    return turned.flip(-1) if x.ndim > 2 else turned",
            also=(
                ROW_BY_ROW.format("row[:n].flip(-1), row[n:]"),
                ROW_BY_ROW.format("row[:n].flip(tuple(range(row.ndim))), row[n:]"),
            ),
        ),
        detached("reverse_padded"),
    ),
    alternatives={
        "a loop and flip": """
def reverse_padded(x, lengths):
    rows = []
    for row, n in zip(x, lengths.tolist()):
        rows.append(torch.cat([row[:n].flip(0), row[n:]]))
    return torch.stack(rows)
""",
        "gather": """
def reverse_padded(x, lengths):
    t = torch.arange(x.shape[1]).repeat(len(x), 1)
    n = lengths.unsqueeze(1)
    index = (n - 1 - t) * (t < n) + t * (t >= n)
    wide = index.reshape(*index.shape, *[1] * (x.ndim - 2)).expand(x.shape)
    return x.gather(1, wide)
""",
        "flip all, then roll each row": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b in range(len(x)):
        n = int(lengths[b])
        out[b, :n] = x[b].flip(0).roll(n, dims=0)[:n]
    return out
""",
        "written into a copy": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b, n in enumerate(lengths.tolist()):
        out[b, :n] = x[b, :n].flip(0)
    return out
""",
    },
    hints=(
        "In a row of 5 tokens, of which the first 3 are words, which word does the backward model read first? Which entries must not move?",
        "Input: x (B, T) or (B, T, D), lengths (B). Output: the shape of x. Each row has its own length.",
        "for each row: its first `length` entries in reverse order, then the rest unchanged\nwithout a loop: compute for each "
        "position the position from which its entry is taken",
        "A near miss: `x.flip(1)` is correct without padding. With padding, the backward model would read the padding first, "
        "and this would affect its state throughout the sentence.",
    ),
)

# ------------------------------------------------------------------------------------------ the joint objective


def bilm_cases(draw: Draw) -> Iterator[Case]:
    """In the first case, both models are confident of a wrong token: a constant added to the probability changes the loss."""
    for batch, tokens, vocabulary in ((2, 6, 9), (4, 5, 7), (3, 8, 11)):
        lengths = draw.integers(3, tokens, batch)
        lengths[0], lengths[1] = tokens, tokens - 2
        ids = draw.integers(1, vocabulary, batch, tokens)
        forward, backward = draw.normal(2, batch, tokens, vocabulary)
        if batch == 2:
            for logits, right in ((forward[0, 0], ids[0, 1]), (backward[0, 1], ids[0, 0])):
                logits[right], logits[right - 1] = -30, 30
        yield {
            "forward": forward,
            "backward": backward,
            "ids": np.where(np.arange(tokens) < lengths[:, None], ids, 0),
        }


FOLLOWING = "cross_entropy(forward[:, :-1][real], ids[:, 1:][real])"
PRECEDING = "cross_entropy(backward[:, 1:][real], ids[:, :-1][real])"
KEPT_AWAY = """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    def nats(logits, targets):
        p = logits.softmax(-1).gather(-1, targets[..., None])[..., 0]
        return -torch.log(p + {})[real].mean()
    return nats(forward[:, :-1], ids[:, 1:]), nats(backward[:, 1:], ids[:, :-1])
"""

bilm_loss = Exercise(
    cases=bilm_cases,
    mistakes=(
        Mistake(
            "each token predicts itself",
            "You compare the logits at position t with token t. The model has already read this token, so it should predict "
            "the token's neighbour.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, 1:][real], ids[:, 1:][real])",
                PRECEDING: "cross_entropy(backward[:, 1:][real], ids[:, 1:][real])",
            },
            also=(
                """
def bilm_loss(forward, backward, ids):
    real = ids != 0
    return cross_entropy(forward[real], ids[real]), cross_entropy(backward[real], ids[real])
""",
            ),
        ),
        Mistake(
            "backward model predicts the next token",
            "Your first number is correct. The backward logits at position t come from a model that has read token t and all "
            "tokens after it. Which neighbour can it still predict?",
            PRECEDING, "cross_entropy(backward[:, :-1][real], ids[:, 1:][real])",
        ),
        Mistake(
            "directions swapped",
            "You compare the forward logits with the preceding token and the backward logits with the following token. The "
            "directions are swapped.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, 1:][real], ids[:, :-1][real])",
                PRECEDING: "cross_entropy(backward[:, :-1][real], ids[:, 1:][real])",
            },
        ),
        Mistake(
            "padding counted in the loss",
            "Your result is correct for batches without padding. Otherwise, some of the tokens that you predict, or from "
            "which you predict, are padding.",
            "ids[:, 1:] != 0", "torch.ones_like(ids[:, 1:], dtype=torch.bool)",
        ),
        Mistake(
            "backward prediction from padding",
            "Your first number is correct. For the second number, you use padding to predict the last token of a sequence.",
            PRECEDING, "cross_entropy(backward[:, 1:][ids[:, :-1] != 0], ids[:, :-1][ids[:, :-1] != 0])",
        ),
        Mistake(
            "sums instead of means",
            "Your numbers grow with the size of the batch. Return the mean in nats per predicted token.",
            edits={
                FOLLOWING: 'cross_entropy(forward[:, :-1][real], ids[:, 1:][real], reduction="sum")',
                PRECEDING: 'cross_entropy(backward[:, 1:][real], ids[:, :-1][real], reduction="sum")',
            },
        ),
        Mistake(
            "padding in the denominator",
            "Your sums are correct, but you divide by a number of tokens that includes padding.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, :-1][real], ids[:, 1:][real]) * real.float().mean()",
                PRECEDING: "cross_entropy(backward[:, 1:][real], ids[:, :-1][real]) * real.float().mean()",
            },
        ),
        Mistake(
            "mean of sentence means",
            "You average within each sentence first, so a short sentence has the same weight as a long one. Every predicted "
            "token should have the same weight.",
            code="""
def bilm_loss(forward, backward, ids):
    def one(logits, targets, real):
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none") * real
        return (losses.sum(1) / real.sum(1)).mean()
    real = ids[:, 1:] != 0
    return one(forward[:, :-1], ids[:, 1:], real), one(backward[:, 1:], ids[:, :-1], real)
""",
        ),
        Mistake(
            "bits instead of nats",
            "Your numbers are too large by a factor of 1.44. Use the natural logarithm.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, :-1][real], ids[:, 1:][real]) / 0.6931472",
                PRECEDING: "cross_entropy(backward[:, 1:][real], ids[:, :-1][real]) / 0.6931472",
            },
        ),
        Mistake(
            "last token not predicted",
            "In the forward direction you never predict the last token of a sentence. This token should be predicted like any "
            "other.",
            "real = ids[:, 1:] != 0", "real = torch.nn.functional.pad(ids[:, 2:] != 0, (0, 1))",
        ),
        Mistake(
            "[BOS] and [EOS] left out",
            "You average only over the words. [BOS] and [EOS] are tokens like any other: the forward model predicts [EOS], "
            "and the backward model predicts [BOS].",
            code="""
def bilm_loss(forward, backward, ids):
    following, preceding, count = 0, 0, 0
    for left, right, row in zip(forward, backward, ids):
        n = int((row != 0).sum())
        following += cross_entropy(left[: n - 2], row[1 : n - 1], reduction="sum")
        preceding += cross_entropy(right[2:n], row[1 : n - 1], reduction="sum")
        count += n - 2
    return following / count, preceding / count
""",
        ),
        Mistake(
            "one pair too many in short rows",
            "You check that the *earlier* token of each pair is real. At the end of a short row, padding is then predicted "
            "and is also used to predict. Check the later token instead.",
            "real = ids[:, 1:] != 0", "real = ids[:, :-1] != 0",
        ),
        Mistake(
            "division by the number of all tokens",
            "Your sums are correct, but you divide by too many tokens. Of the n tokens in each row, n − 1 are predicted in "
            "each direction.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, :-1][real], ids[:, 1:][real]) * real.sum() / (ids != 0).sum()",
                PRECEDING: "cross_entropy(backward[:, 1:][real], ids[:, :-1][real]) * real.sum() / (ids != 0).sum()",
            },
        ),
        Mistake(
            "softmax before cross_entropy",
            "All your numbers are close to log V, because you apply the softmax twice. cross_entropy expects logits.",
            edits={
                FOLLOWING: "cross_entropy(forward.softmax(-1)[:, :-1][real], ids[:, 1:][real])",
                PRECEDING: "cross_entropy(backward.softmax(-1)[:, 1:][real], ids[:, :-1][real])",
            },
        ),
        Mistake(
            "probabilities kept away from 0",
            "Your loss is too small if a model is confident of a wrong token. The probability of the correct token is then "
            "almost 0, and you add a small number to it before you take the logarithm.",
            code=KEPT_AWAY.format(1e-5),
            also=tuple(KEPT_AWAY.format(least) for least in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)),
        ),
        Mistake(
            "perplexities instead of losses",
            "You return the exponentials of the losses. Return the losses themselves, in nats.",
            "return following, preceding", "return following.exp(), preceding.exp()",
        ),
        Mistake(
            "sum of both losses",
            "You return the sum of the two losses. Training adds them later; here, return both losses.",
            "return following, preceding", "return following + preceding",
        ),
        Mistake(
            "results in the wrong order",
            "Your two numbers are swapped. Return the forward loss first.",
            "return following, preceding", "return preceding, following",
        ),
        detached("bilm_loss"),
    ),
    alternatives={
        "ignore_index": """
def bilm_loss(forward, backward, ids):
    F = torch.nn.functional
    after = F.cross_entropy(forward[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
    before = ids[:, :-1].masked_fill(ids[:, 1:] == 0, -100)
    return after, F.cross_entropy(backward[:, 1:].transpose(1, 2), before)
""",
        "log-probabilities and gather, in float64": """
def bilm_loss(forward, backward, ids):
    real = (ids[:, 1:] != 0).double()
    def nats(logits, targets):
        logs = logits.double().log_softmax(-1).gather(-1, targets[..., None])[..., 0]
        return -(logs * real).sum() / real.sum()
    return nats(forward[:, :-1], ids[:, 1:]), nats(backward[:, 1:], ids[:, :-1])
""",
        "loops": """
def bilm_loss(forward, backward, ids):
    after, before = [], []
    for b, row in enumerate(ids.tolist()):
        n = sum(i != 0 for i in row)
        for t in range(n - 1):
            after.append(-torch.log_softmax(forward[b, t], 0)[row[t + 1]])
            before.append(-torch.log_softmax(backward[b, t + 1], 0)[row[t]])
    return sum(after) / len(after), sum(before) / len(before)
""",
    },
    hints=(
        "Take the sequence [BOS] the cell [EOS] [PAD]. List the pairs (predicting position, predicted token) of the forward "
        "direction. Which pairs does the backward direction have?",
        "forward and backward: (B, T, V). Each direction has at most T − 1 pairs per sequence, and fewer if the sequence is padded. Both "
        "directions have the same number of pairs. Output: two numbers.",
        "real pairs: those whose later token is not padding\nforward: logits at the earlier position, token at the later "
        "one\nbackward: logits at the later position, token at the earlier one\neach: mean of −log p over the real pairs",
        "A near miss: `cross_entropy(…, ignore_index=0)` excludes padding that is *predicted*. In the backward direction, "
        "padding would still be used to *predict* the last token of a short sequence.",
    ),
)

# ------------------------------------------------------------------------------------------ influence


def influence_cases(draw: Draw) -> Iterator[Case]:
    for T, D, K in ((4, 3, 5), (6, 5, 2), (5, 4, 7)):
        mix = draw.normal(T, T, scale=0.6)
        mix[draw.rng.random((T, T)) < 0.25] = 0
        mix[0, 1], mix[1, 0] = 0, 0.75
        yield {
            "x": draw.normal(T, D),
            "mix": mix,
            "W": draw.normal(D, K, scale=D**-0.5),
            "b": draw.normal(K, scale=0.5),
        }


SIZE = "jacobian.square().sum(dim=(1, 3)).sqrt()"

influence = Exercise(
    cases=influence_cases,
    rule=Rule("close", 5e-4, axes={"": "output input"}),
    mistakes=(
        Mistake(
            "matrix transposed",
            "Your matrix is transposed. Row i should show on which inputs *output* i depends.",
            SIZE, SIZE + ".T",
        ),
        Mistake(
            "square root missing",
            "You return the sums of squares. Take their square roots.",
            SIZE, "jacobian.square().sum(dim=(1, 3))",
        ),
        Mistake(
            "sum of absolute values",
            "You add the absolute values of the derivatives. Take the square root of the sum of their squares instead.",
            SIZE, "jacobian.abs().sum(dim=(1, 3))",
        ),
        Mistake(
            "signed derivatives added",
            "Some of your numbers are negative or too small, because you add signed derivatives, which partly cancel. Square "
            "them first.",
            SIZE, "jacobian.sum(dim=(1, 3))",
            also=(
                """
def influence(model, x):
    return torch.autograd.functional.jacobian(model, x).sum(dim=(1, 3)).abs()
""",
            ),
        ),
        Mistake(
            "gradient of the sum of an output's coordinates",
            "Your numbers are slightly wrong. You add the coordinates of an output *before* you differentiate, so their "
            "derivatives partly cancel.",
            SIZE, "jacobian.sum(dim=1).square().sum(dim=-1).sqrt()",
        ),
        Mistake(
            "mean square instead of sum of squares",
            "In each case, all your numbers are off by the same factor. Add the squares without dividing by their number.",
            "sum(dim=(1, 3))", "mean(dim=(1, 3))",
        ),
        Mistake(
            "only the first coordinate of each output",
            "Your numbers are too small. An output has K coordinates, but you use only one of them.",
            SIZE, "jacobian[:, 0].square().sum(dim=-1).sqrt()",
        ),
        Mistake(
            "largest derivative instead of all derivatives",
            "You return the largest partial derivative. The result should include all partial derivatives.",
            SIZE, "jacobian.abs().amax(dim=(1, 3))",
        ),
        Mistake(
            "gradient times input",
            "You multiply the derivatives by the input. This is a different measure, in which a word with a short vector has "
            "little influence.",
            SIZE, "(jacobian * x).square().sum(dim=(1, 3)).sqrt()",
        ),
        Mistake(
            "rows normalised to 1",
            "You divide each row by its sum. Leave the values on their original scale.",
            "return " + SIZE, "sizes = " + SIZE + "\n    return sizes / sizes.sum(dim=-1, keepdim=True)",
        ),
        Mistake(
            "one gradient for all outputs",
            "You compute a single number for each input word, because you add all outputs before you differentiate. Keep the "
            "outputs separate.",
            code="""
def influence(model, x):
    x = x.clone().requires_grad_()
    model(x).sum().backward()
    return x.grad.norm(dim=-1)
""",
            also=(
                """
def influence(model, x):
    x = x.clone().requires_grad_()
    model(x).sum().backward()
    return x.grad.norm(dim=-1).expand(len(x), -1)
""",
            ),
        ),
        Mistake(
            "gradients accumulated",
            "`backward` adds to x.grad, which you never reset. Your later rows therefore still contain the gradients of "
            "earlier outputs.",
            code="""
def influence(model, x):
    x = x.clone().requires_grad_()
    out = model(x)
    squares = torch.zeros(len(x), len(x))
    for i, row in enumerate(out):
        for value in row:
            value.backward(retain_graph=True)
            squares[i] += x.grad.square().sum(dim=-1)
    return squares.sqrt()
""",
        ),
        Mistake(
            "gradient of an output's length",
            "You differentiate the length of each output, which is a single number. If an output rotates without changing its "
            "length, this derivative is 0.",
            code="""
def influence(model, x):
    x = x.clone().requires_grad_()
    out = model(x)
    return torch.stack([torch.autograd.grad(row.norm(), x, retain_graph=True)[0].norm(dim=-1) for row in out])
""",
        ),
        Mistake(
            "largest singular value",
            "You return the largest factor by which an output can change (the spectral norm). Take the square root of the sum "
            "of all squares (the Frobenius norm).",
            SIZE, "torch.linalg.matrix_norm(jacobian.transpose(1, 2), ord=2)",
        ),
        Mistake(
            "all input coordinates moved together",
            "You differentiate with respect to a joint movement of all coordinates of an input. Each coordinate has its own "
            "derivatives, which may cancel in the sum.",
            SIZE, "jacobian.sum(dim=3).square().sum(dim=1).sqrt()",
            also=(
                """
def influence(model, x):
    y, columns = model(x), []
    for j in range(len(x)):
        moved = x.clone()
        moved[j] += 1e-3
        columns.append(((model(moved) - y) / 1e-3).norm(dim=1))
    return torch.stack(columns, dim=1)
""",
            ),
        ),
        Mistake(
            "gradient of an output's squared length",
            "You differentiate the squared length of each output. If an output is close to 0, this derivative is also close "
            "to 0, whatever the input is.",
            code="""
def influence(model, x):
    x = x.clone().requires_grad_()
    out = model(x)
    return torch.stack([torch.autograd.grad(row.square().sum(), x, retain_graph=True)[0].norm(dim=-1) for row in out])
""",
        ),
    ),
    alternatives={
        "one coordinate after the other": """
def influence(model, x):
    x = x.detach().clone().requires_grad_(True)
    outputs = model(x)
    squares = torch.zeros(len(outputs), len(x))
    for i, output in enumerate(outputs):
        for coordinate in output:
            (gradient,) = torch.autograd.grad(coordinate, x, retain_graph=True)
            squares[i] += gradient.pow(2).sum(-1)
    return squares.sqrt()
""",
        "torch.func": """
def influence(model, x):
    return torch.func.jacrev(model)(x).transpose(1, 2).flatten(2).norm(dim=-1)
""",
        "finite differences, in float64": """
def influence(model, x):
    T, D = x.shape
    step, columns = 1e-3, []
    for j in range(T):
        change = 0
        for m in range(D):
            up, down = x.clone(), x.clone()
            up[j, m] += step
            down[j, m] -= step
            change = change + ((model(up).double() - model(down).double()) / (up[j, m] - down[j, m]).double()).pow(2).sum(-1)
        columns.append(change.sqrt())
    return torch.stack(columns, 1)
""",
    },
    hints=(
        "One output vector has K coordinates, and one input vector has D coordinates. How many partial derivatives connect output i with input "
        "j?",
        "x: (T, D). model(x): (T, K). All derivatives together: (T, K, T, D). Output: (T, T).",
        "compute all partial derivatives of all outputs with respect to all inputs (notebook 04 used a function from "
        "`torch.autograd.functional` for this)\nfor each pair i, j: square the derivatives, add them, take the square root",
        "A near miss: `model(x).sum().backward()` gives one gradient for each input, which does not show which output depends "
        "on this input.",
    ),
)

# ------------------------------------------------------------------------------------------ the leaking stack


def stack_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, dim, layers in ((3, 5, 4, 2), (2, 4, 5, 3), (4, 6, 3, 2)):
        yield {
            "x": draw.normal(batch, tokens, dim),
            "lengths": ragged(draw, batch, tokens),
            **{
                name: draw.normal(layers, dim, dim, scale=dim**-0.5)
                for name in ("forward_x", "forward_h", "backward_x", "backward_h")
            },
        }


FROM_BELOW = """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(x, layers):
        below, states = x, []
        for number, layer in enumerate(layers):
            wrote = layer(below)
            below = wrote + {1} if number else wrote
            states.append({0})
        return states
    backward = [reverse_padded(h, lengths) for h in run(reverse_padded(x, lengths), backward_layers)]
    return torch.stack(run(x, forward_layers)), torch.stack(backward)
"""
BETWEEN = """
def two_stacks(x, lengths, forward_layers, backward_layers):
    left, right = x, x
    lefts, rights = [], []
    for number, (forward, backward) in enumerate(zip(forward_layers, backward_layers)):
        left = forward(left) + (left if number else 0)
        right = {}
        lefts.append(left)
        rights.append(right)
    return torch.stack(lefts), torch.stack(rights)
"""
RUN = "h = layer(h) + h if number else layer(h)"
FLIP = "run(reverse_padded(x, lengths), backward_layers)"
BACK = "torch.stack([reverse_padded(h, lengths) for h in backward])"

two_stacks = Exercise(
    cases=stack_cases,
    rule=Rule(axes={"0": "L B T D", "1": "L B T D"}),
    uses=("elmo.reverse_padded",),
    mends=True,
    mistakes=(
        Mistake(
            "directions still connected",
            "Your first layer is correct. In the second layer, each direction still reads the output of the other direction, "
            "so the leak remains.",
            code="""
def two_stacks(x, lengths, forward_layers, backward_layers):
    left = right = x
    lefts, rights = [], []
    for number, (forward, backward) in enumerate(zip(forward_layers, backward_layers)):
        new_left = forward(left) + (left if number else 0)
        new_right = reverse_padded(backward(reverse_padded(right, lengths)), lengths) + (right if number else 0)
        left = right = new_left + new_right
        lefts.append(new_left)
        rights.append(new_right)
    return torch.stack(lefts), torch.stack(rights)
""",
            also=(
                """
def two_stacks(x, lengths, forward_layers, backward_layers):
    lefts, rights = [], []
    for number, (forward, backward) in enumerate(zip(forward_layers, backward_layers)):
        left = forward(x) + (x if number else 0)
        right = reverse_padded(backward(reverse_padded(x, lengths)), lengths) + (x if number else 0)
        x = (left + right) / 2
        lefts.append(left)
        rights.append(right)
    return torch.stack(lefts), torch.stack(rights)
""",
            ),
        ),
        Mistake(
            "residual connection missing",
            "Your first layer is correct. From the second layer on, add the input of each layer to the layer's output.",
            RUN, "h = layer(h)",
        ),
        Mistake(
            "residual connection around the first layer",
            "You add x to the output of the first layer. The residual connections start with the second layer.",
            RUN, "h = layer(h) + h",
        ),
        Mistake(
            "residual connection always from x",
            "Your first layer is correct. You add x to the output of every later layer. Add the layer's *own* input instead, "
            "which is the state of the layer below.",
            RUN, "h = layer(h) + x if number else layer(h)",
            also=(FROM_BELOW.format("below", "x"),),
        ),
        Mistake(
            "residual connection always from the first layer",
            "Your result would be correct for two layers. You add the states of the first layer to the output of every later "
            "layer. Add the layer's *own* input instead.",
            code=FROM_BELOW.format("below", "states[0]"),
        ),
        Mistake(
            "states before the residual connection",
            "Your first layer is correct. For the other layers you return the output of the LSTM without the residual "
            "connection.",
            code=FROM_BELOW.format("wrote", "below"),
        ),
        Mistake(
            "backward states not reversed again",
            "Your forward states are correct. Your backward states are still in the order in which they were read: position 0 "
            "belongs to the last word.",
            BACK, "backward",
        ),
        Mistake(
            "backward stack not reversed",
            "Your backward stack also reads from left to right: at position 0 it has seen only the first word.",
            edits={FLIP: "run(x, backward_layers)", BACK: "backward"},
        ),
        Mistake(
            "states reversed between the layers",
            "Your first layer is correct. Your second backward layer reads from left to right, because you reverse the states "
            "before this layer.",
            code="""
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers, turn):
        states = []
        for number, layer in enumerate(layers):
            h = layer(h) + h if number else layer(h)
            h = reverse_padded(h, lengths) if turn else h
            states.append(h)
        return torch.stack(states)
    return run(x, forward_layers, False), run(reverse_padded(x, lengths), backward_layers, True)
""",
            also=(
                BETWEEN.format(
                    "backward(right) + right if number else reverse_padded(backward(reverse_padded(x, lengths)), lengths)"
                ),
            ),
        ),
        Mistake(
            "residual connection in a different order",
            "Your first layer is correct. In your backward stack you add the input of a layer before you reverse the words, "
            "so the state of another word is added to each word.",
            code=BETWEEN.format(
                "reverse_padded(backward(reverse_padded(right, lengths)) + (right if number else 0), lengths)"
            ),
        ),
        Mistake(
            "padding read first",
            "Your result is correct for full rows. In shorter rows your backward stack reads the padding before the words, "
            "because you reverse the whole row.",
            edits={
                FLIP: "run(x.flip(1), backward_layers)",
                BACK: "torch.stack([h.flip(1) for h in backward])",
            },
        ),
        Mistake(
            "forward layers used twice",
            "Your backward stack uses the weights of the forward stack. The two directions share the word vectors and the "
            "softmax, but each has its own LSTM layers.",
            FLIP, "run(reverse_padded(x, lengths), forward_layers)",
        ),
        Mistake(
            "only the top layer returned",
            "You return only the states of the top layers. Return the states of all layers.",
            edits={"return forward, ": "return forward[-1:], ", BACK: BACK + "[-1:]"},
        ),
        Mistake(
            "results in the wrong order",
            "Your two results are swapped. Return the forward states first.",
            f"return forward, {BACK}", f"return {BACK}, forward",
        ),
        detached("two_stacks"),
    ),
    alternatives={
        "both directions in one loop": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    left, right = x, reverse_padded(x, lengths)
    lefts, rights = [], []
    for number in range(len(forward_layers)):
        skip = 0 if number == 0 else 1
        left = forward_layers[number](left) + skip * left
        right = backward_layers[number](right) + skip * right
        lefts.append(left)
        rights.append(reverse_padded(right, lengths))
    return torch.stack(lefts), torch.stack(rights)
""",
        "turned round and back at every layer": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    forward, backward = [], []
    for f, b in zip(forward_layers, backward_layers):
        lower_f, lower_b = (forward[-1], backward[-1]) if forward else (x, x)
        up_f, up_b = f(lower_f), reverse_padded(b(reverse_padded(lower_b, lengths)), lengths)
        forward.append(up_f + lower_f if forward else up_f)
        backward.append(up_b + lower_b if backward else up_b)
    return torch.stack(forward), torch.stack(backward)
""",
    },
    hints=(
        "What does the second forward layer in leaking_stack read? What does one half of this input already contain about the "
        "words on the right?",
        "x: (B, T, D). Each layer maps (B, T, D) to (B, T, D). Output: two tensors (L, B, T, D), both in the order of the "
        "sentence.",
        "forward: each layer reads the states of the forward layer below; keep all states\nbackward: reverse x once, do the "
        "same with the backward layers, then reverse the states of every layer\nfrom the second layer on: add a layer's input "
        "to its output",
        "A near miss: if you reverse the states after every layer but not again before the next one, the second backward layer "
        "reads from left to right. Reverse the states either once before the first layer and once after the last layer, or before and after every layer.",
    ),
)

# ------------------------------------------------------------------------------------------ L+1 representations


def representation_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, dim, layers in ((2, 5, 4, 2), (4, 3, 5, 1), (3, 6, 2, 4)):
        yield {
            "x": draw.normal(batch, tokens, dim),
            "forward": draw.normal(layers, batch, tokens, dim),
            "backward": draw.normal(layers, batch, tokens, dim),
        }


BOTH = "torch.cat([forward, backward], dim=-1)"
FIRST = "torch.cat([x, x], dim=-1)"

representations = Exercise(
    cases=representation_cases,
    rule=Rule("close", 1e-5, axes={"": "L+1 B T 2D"}),
    mistakes=(
        Mistake(
            "backward half first",
            "Your layer 0 is correct. In the other layers the two halves are swapped. Put the forward half first.",
            BOTH, "torch.cat([backward, forward], dim=-1)",
        ),
        Mistake(
            "layers concatenated",
            "You return one long vector for each word. Concatenate the *directions*, but keep the layers separate, so that "
            "each layer can have its own weight.",
            "torch.cat([first[None], both])", "torch.cat([first, *both], dim=-1)",
        ),
        Mistake(
            "layer 0 missing",
            "You return L layers. Add layer 0, which contains x.",
            "torch.cat([first[None], both])", "both",
        ),
        Mistake(
            "layer 0 padded with zeros",
            "Half of your layer 0 is zero. Both directions start from the same x, so put x into both halves.",
            FIRST, "torch.cat([x, torch.zeros_like(x)], dim=-1)",
        ),
        Mistake(
            "layer 0 placed at the end",
            "All your layers are correct, but layer 0 comes last. Put it first.",
            "torch.cat([first[None], both])", "torch.cat([both, first[None]])",
        ),
        Mistake(
            "layers in reverse order",
            "Your layers are in reverse order. Start with layer 0.",
            "torch.cat([first[None], both])", "torch.cat([first[None], both]).flip(0)",
        ),
        Mistake(
            "halves interleaved",
            "Your forward and backward coordinates alternate. Put the two halves one after the other.",
            BOTH, "torch.stack([forward, backward], dim=-1).flatten(-2)",
            also=(
                """
def representations(x, forward, backward):
    left, right = torch.cat([x[None], forward]), torch.cat([x[None], backward])
    return torch.stack([left, right], dim=-1).flatten(-2)
""",
            ),
        ),
        Mistake(
            "directions added",
            "You add the forward and backward states. Concatenate them instead, so that the information from both directions "
            "is preserved.",
            BOTH, "torch.cat([forward + backward, forward + backward], dim=-1)",
            also=(
                """
def representations(x, forward, backward):
    return torch.cat([x[None], forward + backward])
""",
            ),
        ),
        Mistake(
            "backward states reversed",
            "Your forward halves are correct. The backward states are already in the order of the sentence, but you reverse "
            "them again.",
            BOTH, "torch.cat([forward, backward.flip(2)], dim=-1)",
        ),
        Mistake(
            "2L + 1 layers",
            "You return 2L + 1 separate vectors. Concatenate the two vectors of the same layer into one vector of size 2D.",
            edits={f"both = {BOTH}": "both = torch.cat([forward, backward])", FIRST: "x"},
        ),
    ),
    alternatives={
        "layer by layer": """
def representations(x, forward, backward):
    layers = [torch.cat((x, x), 2)]
    for left, right in zip(forward, backward):
        layers.append(torch.cat((left, right), 2))
    return torch.stack(layers)
""",
        "x put under both stacks": """
def representations(x, forward, backward):
    left = torch.cat([x.unsqueeze(0), forward])
    right = torch.cat([x.unsqueeze(0), backward])
    return torch.cat([left, right], -1)
""",
        "written into an empty tensor": """
def representations(x, forward, backward):
    L, B, T, D = forward.shape
    R = torch.empty(L + 1, B, T, 2 * D, dtype=torch.float64)
    R[0, ..., :D], R[0, ..., D:] = x, x
    R[1:, ..., :D], R[1:, ..., D:] = forward, backward
    return R
""",
    },
    hints=(
        "How many vectors does a word have at this point: at the bottom, in the forward stack and in the backward stack? Which "
        "of these vectors belong together?",
        "x: (B, T, D). forward, backward: (L, B, T, D). Output: (L + 1, B, T, 2D).",
        "layer 0: x concatenated with itself\nlayer l: forward layer l concatenated with backward layer l\nstack all of them on "
        "a new first axis, from the bottom up",
        "A near miss: `torch.cat([forward, backward])` without `dim` concatenates along the first axis and gives 2L layers of "
        "half the size.",
    ),
)

# ------------------------------------------------------------------------------------------ the mix


def mix_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, dim, layers in ((2, 4, 6, 3), (3, 5, 8, 2), (5, 2, 7, 4)):
        R = draw.normal(layers, batch, tokens, dim) * draw.uniform(layers, 1, 1, 1, low=0.5, high=3.0)
        R += draw.normal(layers, batch, tokens, 1)
        R[:, 0] *= np.float32(4e-3)  # a variance about as small as epsilon, in every layer
        gamma = np.round(draw.uniform(low=1.3, high=2.5), 3)
        yield {
            "R": R,
            "s": draw.normal(layers),
            "gamma": float(gamma) if layers < 4 else np.array(gamma),  # a number, and a tensor
        }


VARIANCE = "(R - mean).square().mean(dim=-1, keepdim=True)"
NORMED = "(R - mean) / (variance + 1e-5) ** 0.5"
SOFT = "torch.softmax(s, dim=0)"
MIX = "gamma * (weights[:, None, None, None] * normed).sum(dim=0)"

scalar_mix = Exercise(
    cases=mix_cases,
    rule=Rule(axes={"": "B T E"}),
    mistakes=(
        Mistake(
            "s used directly as weights",
            "You use s itself as the weights, which may then be negative and do not sum to 1. Apply the softmax to s.",
            SOFT, "s",
        ),
        Mistake(
            "s divided by its sum",
            "Your weights sum to 1 but can be negative. Use the function from notebook 02 that turns any numbers into "
            "positive weights that sum to 1.",
            SOFT, "s / s.sum()",
        ),
        Mistake(
            "a sigmoid for each layer",
            "Each of your weights lies between 0 and 1, but they do not sum to 1, because you apply a sigmoid to each entry "
            "of s. Apply the softmax instead.",
            SOFT, "torch.sigmoid(s)",
        ),
        Mistake(
            "layer 0 left out",
            "Your weights are correct, but layer 0 is missing from the sum.",
            MIX, "gamma * (weights[1:, None, None, None] * normed[1:]).sum(dim=0)",
        ),
        Mistake(
            "only the LSTM layers mixed",
            "Your result depends neither on layer 0 nor on the first entry of s. Mix all L + 1 layers.",
            edits={
                SOFT: "torch.softmax(s[1:], dim=0)",
                MIX: "gamma * (weights[:, None, None, None] * normed[1:]).sum(dim=0)",
            },
        ),
        Mistake(
            "gamma not used",
            "In each case, all your numbers are off by the same factor. Multiply the sum by gamma.",
            MIX, "(weights[:, None, None, None] * normed).sum(dim=0)",
        ),
        Mistake(
            "gamma inside the softmax",
            "Your gamma changes how peaked the weights are. Multiply the result by gamma instead.",
            edits={
                SOFT: "torch.softmax(gamma * s, dim=0)",
                MIX: "(weights[:, None, None, None] * normed).sum(dim=0)",
            },
        ),
        Mistake(
            "layers not normalised",
            "In your sum, layers with large activations dominate, whatever their weights are. Normalise the vectors first.",
            NORMED, "R",
        ),
        Mistake(
            "normalisation after mixing",
            "You normalise the sum instead of the layers, so layers with large activations dominate the sum. Normalise the "
            "layers first.",
            code="""
def scalar_mix(R, s, gamma):
    mixed = (torch.softmax(s, dim=0)[:, None, None, None] * R).sum(dim=0)
    return gamma * torch.nn.functional.layer_norm(mixed, mixed.shape[-1:])
""",
        ),
        Mistake(
            "normalisation over the whole layer",
            "You use one mean and one variance for all words of a layer, as AllenNLP does. Here each vector has its own mean "
            "and variance, as in notebook 03.",
            edits={
                "R.mean(dim=-1, keepdim=True)": "R.mean(dim=(1, 2, 3), keepdim=True)",
                VARIANCE: "(R - mean).square().mean(dim=(1, 2, 3), keepdim=True)",
            },
        ),
        Mistake(
            "variance divided by E − 1",
            "Your numbers are slightly too small. In layer norm, the variance is the sum of the squared deviations divided by "
            "the number of coordinates, E.",
            VARIANCE, "R.var(dim=-1, keepdim=True)",
        ),
        Mistake(
            "epsilon missing, of a different size, or outside the root",
            "Your result is wrong only for vectors whose coordinates are nearly equal. For these vectors it matters how large "
            "epsilon is and whether it is added before or after the square root.",
            NORMED, "(R - mean) / variance ** 0.5",
            also=(
                """
def scalar_mix(R, s, gamma):
    normed = (R - R.mean(-1, keepdim=True)) / (R.std(-1, unbiased=False, keepdim=True) + 1e-5)
    return gamma * torch.einsum("l,lbte->bte", s.softmax(0), normed)
""",
                *(
                    f"""
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:], eps={epsilon})
    return gamma * torch.einsum("l,lbte->bte", s.softmax(0), normed)
"""
                    for epsilon in (1e-6, 1e-8)
                ),
            ),
        ),
        Mistake(
            "normalisation over the sentence",
            "You use one mean and one variance for all words of a sentence. Here each vector has its own mean and variance, "
            "as in notebook 03.",
            edits={
                "R.mean(dim=-1, keepdim=True)": "R.mean(dim=(-2, -1), keepdim=True)",
                VARIANCE: "(R - mean).square().mean(dim=(-2, -1), keepdim=True)",
            },
        ),
        Mistake(
            "mean not subtracted",
            "Your vectors have the correct variance, but their mean is not 0. Subtract the mean first.",
            NORMED, "R / (variance + 1e-5) ** 0.5",
        ),
        Mistake(
            "square root missing",
            "You divide by the variance. Layer norm divides by its square root.",
            NORMED, "(R - mean) / (variance + 1e-5)",
        ),
        Mistake(
            "mean over the layers",
            "Your numbers are too small by a factor equal to the number of layers. The weights already sum to 1, so add "
            "the layers without dividing.",
            MIX, "gamma * (weights[:, None, None, None] * normed).mean(dim=0)",
        ),
        Mistake(
            "uniform weights",
            "Your result does not depend on s, because every layer has the same weight.",
            SOFT, "torch.full_like(s, 1 / len(s))",
        ),
        Mistake(
            "weights in reverse order",
            "Your weights are in reverse order: layer 0 has the weight of the top layer.",
            SOFT, SOFT + ".flip(0)",
        ),
        detached("scalar_mix"),
    ),
    alternatives={
        "layer_norm and einsum": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, [R.shape[-1]])
    return gamma * torch.einsum("l,lbte->bte", s.softmax(0), normed)
""",
        "a loop over the layers, in float64": """
def scalar_mix(R, s, gamma):
    exponentials = s.double().exp()
    total = 0
    for layer, e in zip(R.double(), exponentials):
        centred = layer - layer.mean(-1, keepdim=True)
        total = total + e * centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5)
    return gamma * total / exponentials.sum()
""",
        "the layers in numpy": """
def scalar_mix(R, s, gamma):
    R = R.numpy()
    normed = (R - R.mean(-1, keepdims=True)) / (R.var(-1, keepdims=True) + 1e-5) ** 0.5
    w = torch.exp(s - s.max())
    return gamma * torch.tensordot(w / w.sum(), torch.from_numpy(normed), 1)
""",
    },
    survivors={"torch.softmax(s, dim=-1)": "s has one axis: its first is its last"},
    hints=(
        "Three things happen to the layers: they are normalised, they are weighted and added, and the sum is scaled. Which "
        "argument is responsible for which step?",
        "R: (L + 1, B, T, 2D). s: (L + 1). Mean and variance: (L + 1, B, T, 1). Output: (B, T, 2D).",
        "for each vector: subtract its mean, divide by the square root of (its variance plus epsilon)\nweights = softmax of "
        "s\nsum over the layers of weight times normalised layer, times gamma",
        "A near miss: `(weights * R)` aligns the weights with the *last* axis, the coordinates. The layers are the first axis.",
    ),
)

# ------------------------------------------------------------------------------------------ extension: the task network


def with_elmo_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, dim, width, layers, state, p in (
        (2, 4, 3, 6, 3, 5, 0.5),
        (3, 5, 4, 8, 2, 6, 0.25),
        (4, 3, 6, 4, 4, 7, 0.375),
    ):
        draws = draw.uniform(2, batch, tokens, width)
        draws[:, 0, 0, :2] = p  # exactly p: kept
        draws[:, 1, 1, :2] = p
        yield {
            "x": draw.normal(batch, tokens, dim),
            "R": draw.normal(layers, batch, tokens, width),
            "s": draw.normal(2, layers),
            "gamma": draw.uniform(2, low=0.6, high=1.8),
            "draws": draws,
            "p": p,
            "W_x": draw.normal(dim + width, state, scale=(dim + width) ** -0.5),
            "W_h": draw.normal(state, state, scale=state**-0.5),
        }


DROPPED = "scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / (1 - p)"

with_elmo = Exercise(
    cases=with_elmo_cases,
    rule=Rule(
        "close",
        1e-4,
        axes={
            "output": "B T H+E",
            "gradient for R": "L+1 B T E",
            "gradient for s": "two L+1",
            "gradient for x": "B T D",
        },
    ),
    uses=("elmo.scalar_mix",),
    mistakes=(
        Mistake(
            "biLM not frozen",
            "Your output is correct. However, a gradient reaches R, so the task would train the biLM as well.",
            "R = R.detach()", "R = R * 1.0",
        ),
        Mistake(
            "mix frozen as well",
            "Your output is correct. However, no gradient reaches s, so the task could not learn the weights of the layers. "
            "Freeze only R.",
            DROPPED, f"({DROPPED}).detach()",
        ),
        Mistake(
            "gamma frozen as well",
            "Your output is correct. However, no gradient reaches gamma, which the task should learn together with s.",
            "gamma[i])", "gamma[i].item())",
        ),
        Mistake(
            "the task's own vectors frozen as well",
            "Your output is correct. However, no gradient reaches x. The task's own word vectors are trained; only the biLM "
            "is frozen.",
            "R = R.detach()", "R, x = R.detach(), x.detach()",
        ),
        Mistake(
            "the task's network without gradients",
            "Your output is correct. However, no gradient passes through the network, so neither the network nor its input "
            "could be trained.",
            "h = rnn(torch.cat([x, mixed[0]], dim=-1))", "h = rnn(torch.cat([x, mixed[0]], dim=-1)).detach()",
        ),
        Mistake(
            "ELMo missing at the output",
            "You return only the states of the network. Concatenate them with the second mix.",
            "torch.cat([h, mixed[1]], dim=-1)", "h",
        ),
        Mistake(
            "one mix for input and output",
            "You use the same weights at the input and at the output, so row 1 of s is never used.",
            "for i in range(2)]", "for i in (0, 0)]",
        ),
        Mistake(
            "mixes swapped",
            "You use the first row of s and gamma at the output. The first row belongs to the input.",
            edits={
                "torch.cat([x, mixed[0]], dim=-1)": "torch.cat([x, mixed[1]], dim=-1)",
                "[h, mixed[1]]": "[h, mixed[0]]",
            },
        ),
        Mistake(
            "ELMo placed first",
            "You put ELMo first in both concatenations. The order should be [x; ELMo] and [h; ELMo].",
            edits={
                "torch.cat([x, mixed[0]], dim=-1)": "torch.cat([mixed[0], x], dim=-1)",
                "[h, mixed[1]]": "[mixed[1], h]",
            },
        ),
        Mistake(
            "dropout missing",
            "You do not apply dropout: none of your ELMo activations is 0.",
            DROPPED, "scalar_mix(R, s[i], gamma[i])",
        ),
        Mistake(
            "kept activations not scaled up",
            "You do not scale up the activations that remain. The network would therefore receive smaller values in training "
            "than at test time.",
            " / (1 - p)", "",
        ),
        Mistake(
            "division by p instead of 1 − p",
            "You divide the remaining activations by p. The fraction of activations that *remain* is 1 − p, so divide by 1 − "
            "p.",
            "(1 - p)", "p",
        ),
        Mistake(
            "kept and dropped swapped",
            "You drop an activation if its draw is at least p. Drop it if the draw is below p, which happens with probability "
            "p.",
            "draws[i] >= p", "draws[i] < p",
        ),
        Mistake(
            "activations with a draw of exactly p dropped",
            "Your output is correct at nearly all positions. Drop only activations whose draw is *below* p; some draws are "
            "exactly p.",
            "draws[i] >= p", "draws[i] > p",
        ),
        Mistake(
            "x and h scaled up as well",
            "You also divide x and h by 1 − p. This dropout applies only to the two mixes.",
            edits={"[x, mixed[0]]": "[x / (1 - p), mixed[0]]", "[h, mixed[1]]": "[h / (1 - p), mixed[1]]"},
        ),
        Mistake(
            "dropout applied before the mix",
            "You apply dropout to the layers before they are normalised and added. Apply dropout to the mix.",
            DROPPED, "scalar_mix(R * (draws[i] >= p) / (1 - p), s[i], gamma[i])",
        ),
        Mistake(
            "the task's own vectors at the output",
            "At the output you concatenate h with x. Concatenate h with the second mix instead.",
            "[h, mixed[1]]", "[h, x]",
        ),
    ),
    alternatives={
        "the two places one after the other": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    frozen = R.detach()
    def elmo(place):
        kept = (draws[place] >= p).to(x.dtype) / (1 - p)
        return kept * scalar_mix(frozen, s[place], gamma[place])
    h = rnn(torch.cat((x, elmo(0)), 2))
    return torch.cat((h, elmo(1)), 2)
""",
        "masked_fill": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.data
    first = scalar_mix(R, s[0], gamma[0]).masked_fill(draws[0] < p, 0.0).div(1 - p)
    second = scalar_mix(R, s[1], gamma[1]).masked_fill(draws[1] < p, 0.0).div(1 - p)
    return torch.cat([rnn(torch.cat([x, first], dim=2)), second], dim=2)
""",
    },
    hints=(
        "Where should gradients flow: into s and gamma, into R, or into all of them? At which two points does ELMo enter the network?",
        "x: (B, T, D). Both mixes: (B, T, E). rnn maps (B, T, D + E) to (B, T, H). Output: (B, T, H + E).",
        "detach R\nfor input and output: mix with its own s and gamma, set to 0 where the draw is below p, divide the rest by 1 "
        "− p\nrun the network on [x; first mix]\nconcatenate its states with the second mix",
        "A near miss: `with torch.no_grad():` around the mix keeps gradients away from R, but also from s.",
    ),
)

# ------------------------------------------------------------------------------------------ extension: embed a sentence


def sentence_cases(draw: Draw) -> Iterator[Case]:
    alphabet = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    for tokens, dim, layers in ((5, 4, 2), (3, 5, 1), (7, 3, 3)):
        words = ["".join(draw.rng.choice(alphabet, draw.integers(2, 9))) for _ in range(tokens)]
        words[0] = words[
            0
        ].capitalize()  # a capital letter is a different character
        yield {
            "words": words,
            "table": draw.normal(41, dim),
            **{
                name: draw.normal(layers, dim, dim, scale=dim**-0.5)
                for name in ("forward_x", "forward_h", "backward_x", "backward_h")
            },
        }


EMBEDDED = "representations(x, forward, backward)[:, 0, 1:-1]"
AROUND = '["[BOS]", *words, "[EOS]"]'

embed_sentence = Exercise(
    cases=sentence_cases,
    rule=Rule(axes={"": "L+1 T 2D"}),
    uses=("elmo.reverse_padded", "elmo.two_stacks", "elmo.representations"),
    mistakes=(
        Mistake(
            "[BOS] and [EOS] returned",
            "You return two vectors too many. The model reads [BOS] and [EOS], but the result should contain only the words.",
            EMBEDDED, "representations(x, forward, backward)[:, 0]",
        ),
        Mistake(
            "[BOS] and [EOS] not added",
            "Your layer 0 is correct. Your higher layers are wrong, because the model was trained on sentences that begin "
            "with [BOS] and end with [EOS].",
            edits={AROUND: "words", EMBEDDED: "representations(x, forward, backward)[:, 0]"},
        ),
        Mistake(
            "[EOS] not added",
            "Your forward halves and layer 0 are correct. Your backward model begins with the last word, but it was trained on "
            "sentences that end with [EOS].",
            edits={
                AROUND: '["[BOS]", *words]',
                EMBEDDED: "representations(x, forward, backward)[:, 0, 1:]",
            },
        ),
        Mistake(
            "[BOS] not added",
            "Your backward halves and layer 0 are correct. Your forward model begins with the first word, but it was trained "
            "on sentences that begin with [BOS].",
            edits={
                AROUND: '[*words, "[EOS]"]',
                EMBEDDED: "representations(x, forward, backward)[:, 0, :-1]",
            },
        ),
        Mistake(
            "wrong tokens removed",
            "Your vectors are shifted by one position, so your first vector belongs to the second word. Remove one token at "
            "each end.",
            "1:-1", "2:",
        ),
        Mistake(
            "[EOS] returned with the words",
            "You return one vector too many at the end. The model reads [EOS], but the result should contain only the words.",
            "1:-1", "1:",
        ),
        Mistake(
            "[BOS] and [EOS] swapped",
            "Your layer 0 is correct. Your higher layers are wrong, because a sentence should begin with [BOS] and end with "
            "[EOS].",
            AROUND, '["[EOS]", *words, "[BOS]"]',
        ),
        Mistake(
            "length without [BOS] and [EOS]",
            "Your forward halves are correct. The length that you pass does not include [BOS] and [EOS], so the backward "
            "model begins two tokens too early.",
            "torch.tensor([x.shape[1]])", "torch.tensor([len(words)])",
        ),
        Mistake(
            "words converted to lower case",
            "Your layer 0 is correct for words without a capital letter. ELMo reads characters, and a capital letter is a "
            "different character from the corresponding small letter.",
            AROUND, '["[BOS]", *(word.lower() for word in words), "[EOS]"]',
        ),
        Mistake(
            "a string instead of a list",
            "You return far too many words. `spell` expects a list of words, and it splits a string into its letters.",
            f"bilm.spell({AROUND})", f'bilm.spell(" ".join({AROUND}))',
        ),
        Mistake(
            "only the top layer returned",
            "You return only the top layer. Return the representations at all layers.",
            EMBEDDED, "representations(x, forward, backward)[-1:, 0, 1:-1]",
            also=(
                """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]", *words, "[EOS]"])[None])
    lengths = torch.tensor([x.shape[1]])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[-1, 0, 1:-1]
""",
            ),
        ),
        Mistake(
            "layers averaged",
            "You average the layers. Keep them separate, because each task learns its own weights for them.",
            EMBEDDED, "representations(x, forward, backward)[:, 0, 1:-1].mean(dim=0)",
        ),
        Mistake(
            "batch axis not removed",
            "Your result has an additional axis of size 1 for the batch. Return the result for a single sentence without this "
            "axis.",
            EMBEDDED, "representations(x, forward, backward)[:, :, 1:-1]",
        ),
        Mistake(
            "axis of the words before the axis of the layers",
            "Your first axis is the axis of the words. The axis of the layers should come first.",
            EMBEDDED, "representations(x, forward, backward)[:, 0, 1:-1].transpose(0, 1)",
        ),
        Mistake(
            "layers concatenated",
            "You return one long vector for each word. Keep a separate axis for the layers.",
            EMBEDDED, "representations(x, forward, backward)[:, 0, 1:-1].transpose(0, 1).flatten(1)",
        ),
        Mistake(
            "words processed one at a time",
            "Only your layer 0 is correct, because you pass each word to the model without the rest of its sentence.",
            code="""
def embed_sentence(words, bilm):
    columns = []
    for word in words:
        x = bilm.token(bilm.spell(["[BOS]", word, "[EOS]"])[None])
        forward, backward = two_stacks(x, torch.tensor([3]), bilm.forward_layers, bilm.backward_layers)
        columns.append(representations(x, forward, backward)[:, 0, 1])
    return torch.stack(columns, dim=1)
""",
        ),
    ),
    alternatives={
        "a batch of two copies": """
def embed_sentence(words, bilm):
    chars = bilm.spell(["[BOS]"] + list(words) + ["[EOS]"])
    x = bilm.token(torch.stack([chars, chars]))
    lengths = torch.full((2,), len(words) + 2)
    states = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, *states)[:, 1, 1 : len(words) + 1].double()
""",
        "layers by hand": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]", *words, "[EOS]"]).unsqueeze(0))[0]
    layers, left, right = [torch.cat([x, x], 1)], x, x.flip(0)
    for number, (f, b) in enumerate(zip(bilm.forward_layers, bilm.backward_layers)):
        left = f(left[None])[0] + (left if number else 0)
        right = b(right[None])[0] + (right if number else 0)
        layers.append(torch.cat([left, right.flip(0)], 1))
    return torch.stack(layers)[:, 1:-1]
""",
    },
    survivors={"[:, -1, 1:-1]": "a batch of one sentence: its first is its last"},
    hints=(
        "What did the model read in training before the first word and after the last word? Should the result contain vectors "
        "for these tokens?",
        "chars: (1, T + 2, C). x: (1, T + 2, D). States: (L, 1, T + 2, D) each. Output: (L + 1, T, 2D).",
        "put [BOS] and [EOS] around the words; spell them; compute x; run both stacks on a batch of one sentence; call "
        "representations\nremove the batch axis and the two extra tokens",
        "A near miss: without [BOS] and [EOS] the code runs and the shapes are correct. However, the model then reads the "
        "first word in its initial state, which never happened in training.",
    ),
)
