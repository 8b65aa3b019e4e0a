"""05 ELMo: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ words from characters


def spellings(draw: Draw, batch: int, tokens: int, longest: int, characters: int) -> np.ndarray:
    """Words as characters, 1 and above, then padding 0: short words and one that fills its row."""
    chars = draw.integers(1, characters, batch, tokens, longest)
    lengths = draw.integers(2, longest, batch, tokens)
    lengths[0, 0] = longest
    return np.where(np.arange(longest) < lengths[..., None], chars, 0)


def char_cnn_cases(draw: Draw) -> Iterator[Case]:
    """Padding has a row of numbers like any character; the widths stand in no order by size."""
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
            "the mean over the places",
            "Every place has a say in yours, padding too. A filter should report whether it found its pattern anywhere, "
            "not how often on average.",
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
            "the sum over the places",
            "Your numbers grow with the number of places. One place, the best one, speaks for a filter.",
            "amax(dim=-1)", "sum(dim=-1)",
        ),
        Mistake(
            "only the first place",
            "Your vectors depend on the first letters of a word alone: the filters never move.",
            ".amax(dim=-1)", "[..., 0]",
        ),
        Mistake(
            "no relu",
            "What goes into the highway has negative numbers in yours. A filter that found nothing should say 0.",
            "torch.relu(torch.cat(found, dim=-1))", "torch.cat(found, dim=-1)",
        ),
        Mistake(
            "tanh instead of relu",
            "The large features are squashed to 1 in yours. Another activation is asked for.",
            "torch.relu", "torch.tanh",
        ),
        Mistake(
            "no biases",
            "Your answer does not change when the filters' biases do.",
            "conv1d(letters, kernel, bias)", "conv1d(letters, kernel)",
        ),
        Mistake(
            "the filters in another order",
            "Every feature is there, but not at its place: what comes behind expects the filters in the order in which they are given.",
            "torch.cat(found, dim=-1)", "torch.cat(found[::-1], dim=-1)",
            also=(SORTED.format(""), SORTED.format("-")),
        ),
        Mistake(
            "filters read backwards",
            "Filters of width 1 are right in yours and wider ones are not: they are turned round. conv1d does not turn them.",
            "conv1d(letters, kernel, bias)", "conv1d(letters, kernel.flip(-1), bias)",
        ),
        Mistake(
            "letters reshaped instead of transposed",
            "The shapes fit, but a column that your filters see mixes numbers of several letters: an axis was reshaped where it "
            "should have been moved.",
            ".transpose(1, 2)", ".reshape(chars.shape[0] * chars.shape[1], -1, chars.shape[2])",
        ),
        Mistake(
            "filters that hang over the edges",
            "Your filters also look at places where they only half fit. Here a filter of width w has C − w + 1 places.",
            "conv1d(letters, kernel, bias)", "conv1d(letters, kernel, bias, padding=kernel.shape[-1] - 1)",
            also=(
                SLID.format("padding=kernel.shape[-1] // 2"),
                """
def char_cnn(chars, table, filters, onward):
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    found = []
    for kernel, bias in filters:
        beside = kernel.shape[-1] - 1  # as conv1d(..., padding="same") fills up
        filled = torch.nn.functional.pad(letters, (beside // 2, beside - beside // 2))
        found.append(conv1d(filled, kernel, bias).amax(dim=-1))
    return onward(torch.relu(torch.cat(found, dim=-1))).unflatten(0, chars.shape[:2])
""",
            ),
        ),
        Mistake(
            "the last place left out",
            "Some of your features are too small: where a filter's best place is the very last one, you miss it. A filter of width w "
            "has C − w + 1 places.",
            "conv1d(letters, kernel, bias)", "conv1d(letters[..., :-1], kernel, bias)",
        ),
        Mistake(
            "filters that jump",
            "Filters of width 1 are right in yours. Wider ones move by more than one place at a time.",
            code=SLID.format("stride=kernel.shape[-1]"),
        ),
        Mistake(
            "the largest absolute value",
            "You keep the answer that is farthest from 0. A filter's strongest no is no yes: its largest answer counts.",
            "bias).amax", "bias).abs().amax",
        ),
        Mistake(
            "where instead of how much",
            "You keep the place of a filter's best answer. Asked is the answer itself.",
            "amax(dim=-1) for kernel, bias in filters]", "argmax(dim=-1).float() for kernel, bias in filters]",
        ),
        Mistake(
            "relu at the end",
            "Your vectors have no negative number. relu is for the features, before they go onward.",
            edits={
                "torch.relu(torch.cat(found, dim=-1))": "torch.cat(found, dim=-1)",
                "onward(features)": "torch.relu(onward(features))",
            },
        ),
        Mistake(
            "the row of padding set to 0",
            "Words that fill their row are right. Padding is character 0, and its row of the table is read like any other.",
            "table[chars]", "(table[chars] * (chars != 0)[..., None])",
        ),
        Mistake(
            "padding left out",
            "Long words are right. For short ones you have left out the places behind the word's end; here all C places count.",
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
            "the rest of the way left out",
            "These are the features. What happens to them further, `onward`, is never called.",
            "onward(features)", "features",
        ),
        Mistake(
            "words and sentences have changed places",
            "Every vector is right and stands at the wrong place: word 1 of sentence 0 went to sentence 1.",
            ".unflatten(0, chars.shape[:2])",
            ".unflatten(0, chars.shape[:2]).transpose(0, 1).reshape(*chars.shape[:2], -1)",
        ),
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
        "Take one word and one filter of width 2. On how many places can it lie, and which one number do you keep of all its results?",
        "table[chars]: (B, T, C, c). conv1d wants (words, c, C): the letters' numbers before their places, all words in one row. "
        "Out of one kernel (F, c, w): (words, F, C − w + 1), and (words, F) when the places are gone.",
        "look up every letter; put all words of the batch into one axis; letter numbers before places\n"
        "for each kernel: slide it, keep the best place\n"
        "join the features, cut off what is below 0, send them onward\ngive the words their two axes back",
        "Near miss: `conv1d(table[chars][0], …)` without moving an axis takes the places for the letters' numbers. It complains unless "
        "C happens to equal c; then it is silent and wrong.",
    ),
)

# ------------------------------------------------------------------------------------------ reading backwards


def ragged(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """Lengths of rows: one full, one of a single token, the others between."""
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
    rule=Rule("close", 1e-5),  # no axes: they are named from the back, and the answers have two or three
    mistakes=(
        Mistake(
            "padding turned round with the words",
            "Full rows are right. In shorter ones the padding stands in front now, and the words begin somewhere in the middle.",
            ORDER, "(x.shape[1] - 1 - places).expand(len(x), -1)",
        ),
        Mistake(
            "one place too far",
            "Everything is moved by one place: your first entry is the one behind the last word.",
            "last - 1 - places", "(last - places).clamp(max=x.shape[1] - 1)",
        ),
        Mistake(
            "nothing reversed",
            "Your rows are what came in.",
            ORDER, "places.expand(len(x), -1)",
        ),
        Mistake(
            "the first token kept in front",
            "Your rows still begin with the same token. A reader from the right begins with the last one, whatever the first one is.",
            ORDER, "torch.where((places > 0) & (places < last), last - places, places)",
        ),
        Mistake(
            "the last token kept at the end",
            "The last token of each row stays where it is in yours. It is the first that a reader from the right meets.",
            ORDER, "torch.where(places < last - 1, last - 2 - places, places)",
        ),
        Mistake(
            "padding overwritten with 0",
            "The words are right. What stands behind them should be left as it was, and it was not 0.",
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
            "padding turned round as well",
            "The words are right. What stands behind them should be left as it was; in yours it is reversed.",
            code=ROW_BY_ROW.format("row[:n].flip(0), row[n:].flip(0)"),
        ),
        Mistake(
            "padding in front",
            "Your words are in the right order, behind the padding. A row still begins with its words.",
            code=ROW_BY_ROW.format("row[n:], row[:n].flip(0)"),
        ),
        Mistake(
            "one length for all rows",
            "You have reversed as many entries in each row as in the first. Each row has a length of its own.",
            "last = lengths[:, None]", "last = lengths[:1, None]",
        ),
        Mistake(
            "lengths counted from the entries",
            "Rows of ids are right. Where an entry is a vector, counting what is not 0 counts coordinates: take the lengths that are given.",
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
            "the sentences reversed",
            "Your batch is in reverse order. It is the words within each row that change places.",
            "x[torch.arange(len(x))[:, None], order]", "x.flip(0)",
        ),
        Mistake(
            "the vectors' coordinates reversed",
            "Rows of ids are right. Where an entry is a vector, you have reversed its coordinates: it is whole entries that change places.",
            "return x[torch.arange(len(x))[:, None], order]",
            "turned = x[torch.arange(len(x))[:, None], order]\n"
            "    return turned.flip(-1) if x.ndim > 2 else turned",
            also=(
                ROW_BY_ROW.format("row[:n].flip(-1), row[n:]"),
                ROW_BY_ROW.format("row[:n].flip(tuple(range(row.ndim))), row[n:]"),
            ),
        ),
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
        "numpy": """
import numpy as np
def reverse_padded(x, lengths):
    out = x.numpy().copy()
    for b, n in enumerate(lengths.numpy()):
        out[b, :n] = out[b, :n][::-1]
    return out
""",
    },
    hints=(
        "Which word does the backward reader meet first, in a row of 5 tokens of which 3 are words? And which entries must not move at all?",
        "In: x (B, T) or (B, T, D), lengths (B). Out: like x. Each row has its own length.",
        "for each row: the first `length` entries from the last to the first, then the rest as it is\n"
        "Without a loop: for each place, the number of the place from which its entry is taken.",
        "Near miss: `x.flip(1)` is right where nothing is padded. With padding, the backward reader would read padding first and "
        "carry it in its state through the whole sentence.",
    ),
)

# ------------------------------------------------------------------------------------------ the joint objective


def bilm_cases(draw: Draw) -> Iterator[Case]:
    """In the first, both models are sure of a wrong token: what is added to its probability shows in the logarithm."""
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
            "Your logits at t are compared with the token at t. A language model that has read the token knows it; it has to say another one.",
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
            "backward predicts the next token too",
            "Your first number is right. The backward logits at t come from t and what follows: which neighbour is left to say?",
            PRECEDING, "cross_entropy(backward[:, :-1][real], ids[:, 1:][real])",
        ),
        Mistake(
            "the directions have changed places",
            "Your forward logits predict the token before, your backward logits the token after.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, 1:][real], ids[:, :-1][real])",
                PRECEDING: "cross_entropy(backward[:, :-1][real], ids[:, 1:][real])",
            },
        ),
        Mistake(
            "padding in the loss",
            "Batches without padding would be right. In yours some of what is predicted, or predicts, is padding.",
            "ids[:, 1:] != 0", "torch.ones_like(ids[:, 1:], dtype=torch.bool)",
        ),
        Mistake(
            "the backward direction starts from padding",
            "Your first number is right. In the second, padding behind the last token predicts that token.",
            PRECEDING, "cross_entropy(backward[:, 1:][ids[:, :-1] != 0], ids[:, :-1][ids[:, :-1] != 0])",
        ),
        Mistake(
            "sums instead of means",
            "Your numbers grow with the batch. Asked are nats for one predicted token.",
            edits={
                FOLLOWING: 'cross_entropy(forward[:, :-1][real], ids[:, 1:][real], reduction="sum")',
                PRECEDING: 'cross_entropy(backward[:, 1:][real], ids[:, :-1][real], reduction="sum")',
            },
        ),
        Mistake(
            "padding in the denominator",
            "Your sums are right and you divide them by too much: by the padding as well.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, :-1][real], ids[:, 1:][real]) * real.float().mean()",
                PRECEDING: "cross_entropy(backward[:, 1:][real], ids[:, :-1][real]) * real.float().mean()",
            },
        ),
        Mistake(
            "a mean of the sentences' means",
            "A short sentence counts as much as a long one in yours. Every predicted token counts the same.",
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
            "in bits",
            "Your numbers are right up to a factor of 1.44: the logarithm is natural here.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, :-1][real], ids[:, 1:][real]) / 0.6931472",
                PRECEDING: "cross_entropy(backward[:, 1:][real], ids[:, :-1][real]) / 0.6931472",
            },
        ),
        Mistake(
            "the last token never predicted",
            "The end of each sentence is a token like any other: your forward direction never has to say it.",
            "real = ids[:, 1:] != 0", "real = torch.nn.functional.pad(ids[:, 2:] != 0, (0, 1))",
        ),
        Mistake(
            "[BOS] and [EOS] left out",
            "Your means are over the words alone. [BOS] and [EOS] are tokens like others: forward has to say [EOS], backward [BOS].",
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
            "You ask where the *earlier* of two tokens is real. Behind the last token of a short row that lets padding be predicted, "
            "and predict.",
            "real = ids[:, 1:] != 0", "real = ids[:, :-1] != 0",
        ),
        Mistake(
            "divided by all tokens",
            "Your sums are right and you divide them by too much: a row of n tokens has n − 1 that are predicted in each direction.",
            edits={
                FOLLOWING: "cross_entropy(forward[:, :-1][real], ids[:, 1:][real]) * real.sum() / (ids != 0).sum()",
                PRECEDING: "cross_entropy(backward[:, 1:][real], ids[:, :-1][real]) * real.sum() / (ids != 0).sum()",
            },
        ),
        Mistake(
            "softmax before cross_entropy",
            "Your numbers are all close to log V: cross_entropy takes logits and does the softmax itself.",
            edits={
                FOLLOWING: "cross_entropy(forward.softmax(-1)[:, :-1][real], ids[:, 1:][real])",
                PRECEDING: "cross_entropy(backward.softmax(-1)[:, 1:][real], ids[:, :-1][real])",
            },
        ),
        Mistake(
            "probabilities kept away from 0",
            "Where a model is sure of a wrong token, your loss is too small: the right one's probability is nearly 0, and you take the "
            "logarithm of a larger number.",
            code=KEPT_AWAY.format(1e-5),
            also=tuple(KEPT_AWAY.format(least) for least in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)),
        ),
        Mistake(
            "perplexities",
            "You return the exponentials. The losses themselves are in nats.",
            "return following, preceding", "return following.exp(), preceding.exp()",
        ),
        Mistake(
            "both in one number",
            "You have added the two up. Training does that later; here we want to see both.",
            "return following, preceding", "return following + preceding",
        ),
        Mistake(
            "the results in the other order",
            "Your two numbers have changed places: forward comes first.",
            "return following, preceding", "return preceding, following",
        ),
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
        "Take the row [BOS] the cell [EOS] [PAD]. Which pairs (from where, which token) does the forward direction have? And the backward one?",
        "forward and backward: (B, T, V). T − 1 pairs a row in each direction at most, fewer with padding; both have equally many. Out: two numbers.",
        "real pairs: those in which the later token is no padding\nforward: logits at the earlier place, token at the later one\n"
        "backward: logits at the later place, token at the earlier one\neach: mean of −log p over the real pairs",
        "Near miss: `cross_entropy(…, ignore_index=0)` takes care of padding that *is predicted*. In the backward direction padding "
        "would still *predict*: the last token of a short row has no right neighbour.",
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
            "inputs in the rows",
            "Your matrix is turned: row i should say on what *output* i depends.",
            SIZE, SIZE + ".T",
        ),
        Mistake(
            "squared",
            "You have the sums of squares. The size of a derivative is their root.",
            SIZE, "jacobian.square().sum(dim=(1, 3))",
        ),
        Mistake(
            "absolute values added up",
            "You have added up absolute values, which is another size than the one asked for.",
            SIZE, "jacobian.abs().sum(dim=(1, 3))",
        ),
        Mistake(
            "derivatives added up with their signs",
            "Some of your numbers are negative, or too small: positive and negative derivatives cancelled.",
            SIZE, "jacobian.sum(dim=(1, 3))",
            also=(
                """
def influence(model, x):
    return torch.autograd.functional.jacobian(model, x).sum(dim=(1, 3)).abs()
""",
            ),
        ),
        Mistake(
            "the gradient of the sum of an output's coordinates",
            "Your numbers are somewhat off: the coordinates of an output were added up *before* the derivative was taken, and partly cancel.",
            SIZE, "jacobian.sum(dim=1).square().sum(dim=-1).sqrt()",
        ),
        Mistake(
            "the mean square instead of the sum",
            "Your numbers are right up to one factor for each case: nothing is divided here.",
            "sum(dim=(1, 3))", "mean(dim=(1, 3))",
        ),
        Mistake(
            "only the first coordinate of each output",
            "Your numbers are too small: an output has K coordinates and you have looked at one.",
            SIZE, "jacobian[:, 0].square().sum(dim=-1).sqrt()",
        ),
        Mistake(
            "the largest derivative",
            "You report the largest of all partial derivatives; all of them count.",
            SIZE, "jacobian.abs().amax(dim=(1, 3))",
        ),
        Mistake(
            "gradient times input",
            "You have multiplied the derivatives by the input. That measures something else: a word with a small vector would have little influence.",
            SIZE, "(jacobian * x).square().sum(dim=(1, 3)).sqrt()",
        ),
        Mistake(
            "rows that add up to 1",
            "You have divided each row by its sum. Influence has a scale of its own; leave it.",
            "return " + SIZE, "sizes = " + SIZE + "\n    return sizes / sizes.sum(dim=-1, keepdim=True)",
        ),
        Mistake(
            "one gradient for all outputs",
            "You have one number for each input word: all outputs were added up before the derivative was taken. Of which output does it speak?",
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
            "gradients that pile up",
            "`backward` adds to x.grad: your later rows still hold what earlier outputs left there, because it was never removed.",
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
            "the gradient of an output's length",
            "You have differentiated one number, the length of an output. Where an output turns without getting longer, that "
            "derivative is 0.",
            code="""
def influence(model, x):
    x = x.clone().requires_grad_()
    out = model(x)
    return torch.stack([torch.autograd.grad(row.norm(), x, retain_graph=True)[0].norm(dim=-1) for row in out])
""",
        ),
        Mistake(
            "the largest singular value",
            "You have the largest factor by which a change can grow (the spectral norm). Asked is the root of the sum of all squares.",
            SIZE, "torch.linalg.matrix_norm(jacobian.transpose(1, 2), ord=2)",
        ),
        Mistake(
            "one direction only",
            "You have moved all coordinates of an input together. Each coordinate has derivatives of its own, which may cancel in the sum.",
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
            "the gradient of the squared output",
            "You have differentiated the squared length of an output. Where an output is near 0, so is that derivative, whatever the input does.",
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
        "One output vector has K coordinates, one input vector has D. How many partial derivatives connect output i with input j?",
        "x: (T, D). model(x): (T, K). All derivatives together: (T, K, T, D). Out: (T, T).",
        "all partial derivatives of all outputs for all inputs (04 had a function for that in `torch.autograd.functional`)\n"
        "for each pair i, j: square them, add them up, take the root",
        "Near miss: `model(x).sum().backward()` gives one gradient for each input; of which output it speaks is lost.",
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
            "the directions still meet",
            "Your first layer is right. In the second, each direction has read what the other one wrote: the leak is still there.",
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
            "no residual",
            "Your first layer is right. From the second on something is added to what the layer writes.",
            RUN, "h = layer(h)",
        ),
        Mistake(
            "a residual around the first layer too",
            "You have added x to what the first layer writes. The residual begins with the second layer.",
            RUN, "h = layer(h) + h",
        ),
        Mistake(
            "the residual always from x",
            "Your first layer is right. To every later one you have added x; a layer adds its *own* input, what the layer below it wrote.",
            RUN, "h = layer(h) + x if number else layer(h)",
            also=(FROM_BELOW.format("below", "x"),),
        ),
        Mistake(
            "the residual always from the first layer",
            "Two layers would be right. To every later one you have added the first layer's states; a layer adds its *own* input.",
            code=FROM_BELOW.format("below", "states[0]"),
        ),
        Mistake(
            "the states before the residual",
            "Your first layer is right. Of the others you keep what the layer wrote; what it read has to be added to that, too.",
            code=FROM_BELOW.format("wrote", "below"),
        ),
        Mistake(
            "not turned back",
            "Your forward part is right. Your backward part still stands in the order in which it was read: place 0 belongs to the last word.",
            BACK, "backward",
        ),
        Mistake(
            "never turned round",
            "Your backward part reads from left to right as well: at place 0 it has seen the first word alone.",
            edits={FLIP: "run(x, backward_layers)", BACK: "backward"},
        ),
        Mistake(
            "turned back between the layers",
            "The first layer is right. In your backward stack the second one reads from left to right, because the states are turned "
            "back before it reads them.",
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
            "what was read added in the other order",
            "The first layer is right. In your backward stack what a layer read is added before its words are turned back: a word "
            "gets the sum with another word's state.",
            code=BETWEEN.format(
                "reverse_padded(backward(reverse_padded(right, lengths)) + (right if number else 0), lengths)"
            ),
        ),
        Mistake(
            "padding read first",
            "Full rows are right. In shorter ones your backward part reads the padding before the words: the whole row was flipped.",
            edits={
                FLIP: "run(x.flip(1), backward_layers)",
                BACK: "torch.stack([h.flip(1) for h in backward])",
            },
        ),
        Mistake(
            "the forward layers used twice",
            "Your backward stack has the forward stack's weights. The directions share the words' vectors and the softmax, not the LSTMs.",
            FLIP, "run(reverse_padded(x, lengths), forward_layers)",
        ),
        Mistake(
            "only the last layer",
            "You return what the top layers wrote. ELMo wants all layers.",
            edits={"return forward, ": "return forward[-1:], ", BACK: BACK + "[-1:]"},
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: forward comes first.",
            f"return forward, {BACK}", f"return {BACK}, forward",
        ),
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
        "In leaking_stack, what does the second forward layer read? What does one half of that already know about the words on the right?",
        "x: (B, T, D). Every layer: (B, T, D) to (B, T, D). Out: two tensors (L, B, T, D), both in the order of the sentence.",
        "forward: each layer reads what the forward layer below wrote; keep all states\n"
        "backward: turn x round once, do the same with the backward layers, turn every state back\n"
        "from the second layer on: what a layer writes, plus what it read",
        "Near miss: turning the states back after every layer and forgetting to turn them round again lets the second backward layer read "
        "from left to right. Either turn once at the bottom and once at the end, or at every layer both ways.",
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
            "backward first",
            "Layer 0 is right. In the others the halves have changed places: forward comes first.",
            BOTH, "torch.cat([backward, forward], dim=-1)",
        ),
        Mistake(
            "the layers side by side",
            "You have one long vector for each word. The *directions* are put side by side; the layers stay apart, so that each can get a weight of its own.",
            "torch.cat([first[None], both])", "torch.cat([first, *both], dim=-1)",
        ),
        Mistake(
            "layer 0 forgotten",
            "You have L layers. What about the vector of the word alone?",
            "torch.cat([first[None], both])", "both",
        ),
        Mistake(
            "layer 0 filled up with zeros",
            "Half of your layer 0 is empty. Both directions start from the same x.",
            FIRST, "torch.cat([x, torch.zeros_like(x)], dim=-1)",
        ),
        Mistake(
            "layer 0 at the end",
            "Your layers are all there, but the lowest stands last.",
            "torch.cat([first[None], both])", "torch.cat([both, first[None]])",
        ),
        Mistake(
            "the top layer first",
            "Your layers stand in the reverse order.",
            "torch.cat([first[None], both])", "torch.cat([first[None], both]).flip(0)",
        ),
        Mistake(
            "the halves shuffled together",
            "Forward and backward coordinates take turns in yours; they should be two blocks.",
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
            "the directions added",
            "You have added forward and backward. Side by side they keep what each of them knows.",
            BOTH, "torch.cat([forward + backward, forward + backward], dim=-1)",
            also=(
                """
def representations(x, forward, backward):
    return torch.cat([x[None], forward + backward])
""",
            ),
        ),
        Mistake(
            "the backward states turned round",
            "Your forward halves are right. The backward states already stand in the order of the sentence; you have turned them round again.",
            BOTH, "torch.cat([forward, backward.flip(2)], dim=-1)",
        ),
        Mistake(
            "2L + 1 layers",
            "You have kept the 2L + 1 vectors apart. Those of one layer belong together, as one vector of size 2D.",
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
        "How many vectors does a word have by now: below, in the forward stack, in the backward stack? Which of them belong together?",
        "x: (B, T, D). forward, backward: (L, B, T, D). Out: (L + 1, B, T, 2D).",
        "layer 0: x twice, side by side\nlayer l: forward l and backward l, side by side\nall of them on one new first axis, from the bottom up",
        "Near miss: `torch.cat([forward, backward])` without a dim joins along the first axis: 2L layers of half vectors.",
    ),
)

# ------------------------------------------------------------------------------------------ the mix


def mix_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, dim, layers in ((2, 4, 6, 3), (3, 5, 8, 2), (5, 2, 7, 4)):
        R = draw.normal(layers, batch, tokens, dim) * draw.uniform(layers, 1, 1, 1, low=0.5, high=3.0)
        R += draw.normal(layers, batch, tokens, 1)
        R[:, 0] *= np.float32(4e-3)  # a variance of the size of epsilon, in every layer
        gamma = np.round(draw.uniform(low=1.3, high=2.5), 3)
        yield {
            "R": R,
            "s": draw.normal(layers),
            "gamma": float(gamma) if layers < 4 else np.array(gamma),  # a number, and a tensor
        }


NORMED = "(R - mean) / (variance + 1e-5) ** 0.5"
SOFT = "torch.softmax(s, dim=0)"
MIX = "gamma * (weights[:, None, None, None] * normed).sum(dim=0)"

scalar_mix = Exercise(
    cases=mix_cases,
    rule=Rule(axes={"": "B T E"}),
    mistakes=(
        Mistake(
            "the raw numbers as weights",
            "You have used s as it is: your weights may be negative and do not add up to 1.",
            SOFT, "s",
        ),
        Mistake(
            "the raw numbers divided by their sum",
            "Your weights add up to 1, but they can be negative. Another function makes weights of raw numbers; 02 built it.",
            SOFT, "s / s.sum()",
        ),
        Mistake(
            "a sigmoid for each layer",
            "Each of your weights lies between 0 and 1, but together they are not 1: the layers do not compete.",
            SOFT, "torch.sigmoid(s)",
        ),
        Mistake(
            "layer 0 left out",
            "Your weights are right for all layers, but the lowest never enters the sum.",
            MIX, "gamma * (weights[1:, None, None, None] * normed[1:]).sum(dim=0)",
        ),
        Mistake(
            "only the LSTM layers mixed",
            "Your answer does not change with layer 0 or with the first number of s. All L + 1 layers are mixed.",
            edits={
                SOFT: "torch.softmax(s[1:], dim=0)",
                MIX: "gamma * (weights[:, None, None, None] * normed[1:]).sum(dim=0)",
            },
        ),
        Mistake(
            "no gamma",
            "Your numbers are right up to one factor for each case.",
            MIX, "(weights[:, None, None, None] * normed).sum(dim=0)",
        ),
        Mistake(
            "gamma inside the softmax",
            "Your gamma makes the weights more decided. It should scale the result.",
            edits={
                SOFT: "torch.softmax(gamma * s, dim=0)",
                MIX: "(weights[:, None, None, None] * normed).sum(dim=0)",
            },
        ),
        Mistake(
            "no layer norm",
            "Layers with large numbers rule your sum, whatever their weight. Something comes before the mixing.",
            NORMED, "R",
        ),
        Mistake(
            "layer norm after mixing",
            "Your result is normalised, the layers are not: a layer with large numbers has already ruled the sum.",
            code="""
def scalar_mix(R, s, gamma):
    mixed = (torch.softmax(s, dim=0)[:, None, None, None] * R).sum(dim=0)
    return gamma * torch.nn.functional.layer_norm(mixed, mixed.shape[-1:])
""",
        ),
        Mistake(
            "normalised over the whole layer",
            "You have taken one mean and one variance for all words of a layer, as AllenNLP does. Here each vector has its own, as in 03.",
            edits={
                "R.mean(dim=-1, keepdim=True)": "R.mean(dim=(1, 2, 3), keepdim=True)",
                "R.var(dim=-1, unbiased=False, keepdim=True)": "R.var(dim=(1, 2, 3), unbiased=False, keepdim=True)",
            },
        ),
        Mistake(
            "variance divided by E − 1",
            "Your numbers are a little too small. The variance of a layer norm divides by the number of coordinates.",
            "unbiased=False", "unbiased=True",
        ),
        Mistake(
            "epsilon forgotten, of another size, or outside the root",
            "All is right but the vectors that hardly vary: there it matters how large epsilon is and where it stands.",
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
            "normalised over all words of a sentence",
            "You have taken one mean and one variance for the words of a sentence together. Here each vector has its own, as in 03.",
            edits={
                "R.mean(dim=-1, keepdim=True)": "R.mean(dim=(-2, -1), keepdim=True)",
                "R.var(dim=-1, unbiased=False, keepdim=True)": "R.var(dim=(-2, -1), unbiased=False, keepdim=True)",
            },
        ),
        Mistake(
            "the mean not taken away",
            "Your vectors have the right variance, but not the mean 0: first the mean goes.",
            NORMED, "R / (variance + 1e-5) ** 0.5",
        ),
        Mistake(
            "no root",
            "You have divided by the variance. Layer norm divides by its root.",
            NORMED, "(R - mean) / (variance + 1e-5)",
        ),
        Mistake(
            "the mean of the layers",
            "Your numbers are too small by the number of layers. The weights add up to 1 already: it is a sum.",
            MIX, "gamma * (weights[:, None, None, None] * normed).mean(dim=0)",
        ),
        Mistake(
            "a plain average",
            "Your answer does not change with s: every layer counts the same.",
            SOFT, "torch.full_like(s, 1 / len(s))",
        ),
        Mistake(
            "the weights in reverse",
            "The weight of the top layer went to the lowest.",
            SOFT, SOFT + ".flip(0)",
        ),
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
        "numpy": """
import numpy as np
def scalar_mix(R, s, gamma):
    R, s = R.numpy(), s.numpy()
    normed = (R - R.mean(-1, keepdims=True)) / np.sqrt(R.var(-1, keepdims=True) + 1e-5)
    w = np.exp(s - s.max())
    return float(gamma) * np.tensordot(w / w.sum(), normed, 1)
""",
    },
    survivors={"torch.softmax(s, dim=-1)": "s has one axis: its first is its last"},
    hints=(
        "Three things happen to the layers: they are brought to one scale, they are weighed, and the sum gets a size. Which parameter does which?",
        "R: (L + 1, B, T, 2D). s: (L + 1). Mean and variance: (L + 1, B, T, 1). Out: (B, T, 2D).",
        "each vector: minus its mean, divided by the root of (its variance plus epsilon)\nweights = softmax of s\n"
        "sum over the layers of weight times normalised layer, times gamma",
        "Near miss: `(weights * R)` stretches the weights along the *last* axis, over the coordinates. The layers are the first axis.",
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
        draws[:, 0, 0, :2] = p  # exactly at the border: kept
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
            "the biLM not frozen",
            "Your output is right. But a gradient reaches R: the task would train the biLM along with itself.",
            "R = R.detach()", "R = R * 1.0",
        ),
        Mistake(
            "the mix frozen too",
            "Your output is right. But no gradient reaches s: the task could never learn which layers it wants. What exactly has to be frozen?",
            DROPPED, f"({DROPPED}).detach()",
        ),
        Mistake(
            "gamma frozen too",
            "Your output is right. But no gradient reaches gamma, which the task has to learn as it learns s.",
            "gamma[i])", "gamma[i].item())",
        ),
        Mistake(
            "the task's own vectors frozen too",
            "Your output is right. But no gradient reaches x: the task's own word vectors are learned, only the biLM is frozen.",
            "R = R.detach()", "R, x = R.detach(), x.detach()",
        ),
        Mistake(
            "the task's network without gradients",
            "Your output is right. But no gradient passes through the network: nothing could be learned of what it reads.",
            "h = rnn(torch.cat([x, mixed[0]], dim=-1))", "h = rnn(torch.cat([x, mixed[0]], dim=-1)).detach()",
        ),
        Mistake(
            "nothing at the output",
            "You have only what the network writes. ELMo comes in a second time.",
            "torch.cat([h, mixed[1]], dim=-1)", "h",
        ),
        Mistake(
            "one mix for both places",
            "Input and output use the same weights in yours: row 1 of s is never read.",
            "for i in range(2)]", "for i in (0, 0)]",
        ),
        Mistake(
            "the mixes have changed places",
            "The first row of s and gamma belongs to the input; you have used it at the output.",
            edits={
                "torch.cat([x, mixed[0]], dim=-1)": "torch.cat([x, mixed[1]], dim=-1)",
                "[h, mixed[1]]": "[h, mixed[0]]",
            },
        ),
        Mistake(
            "ELMo first",
            "The order is [x; ELMo] and [h; ELMo]; yours is the other way round.",
            edits={
                "torch.cat([x, mixed[0]], dim=-1)": "torch.cat([mixed[0], x], dim=-1)",
                "[h, mixed[1]]": "[mixed[1], h]",
            },
        ),
        Mistake(
            "no dropout",
            "None of your ELMo numbers is 0: nothing was dropped.",
            DROPPED, "scalar_mix(R, s[i], gamma[i])",
        ),
        Mistake(
            "dropped, and the rest not enlarged",
            "What is left keeps its size in yours. Then the network gets smaller numbers in training than in use.",
            " / (1 - p)", "",
        ),
        Mistake(
            "divided by p",
            "What is left is enlarged by the wrong factor: the share that *stays* is 1 − p.",
            "(1 - p)", "p",
        ),
        Mistake(
            "kept and dropped confused",
            "You drop where the draw is p or more. Below p is what has probability p.",
            "draws[i] >= p", "draws[i] < p",
        ),
        Mistake(
            "a draw of exactly p dropped",
            "Nearly all is right. Dropped is what has a draw *below* p; some draws are p itself.",
            "draws[i] >= p", "draws[i] > p",
        ),
        Mistake(
            "not only the mixes enlarged",
            "You have divided x and h by 1 − p, too. Only the mixes go through this dropout.",
            edits={"[x, mixed[0]]": "[x / (1 - p), mixed[0]]", "[h, mixed[1]]": "[h / (1 - p), mixed[1]]"},
        ),
        Mistake(
            "dropout before the mix",
            "You have dropped numbers of the layers, before they are normalised and added. It is the numbers of the mix that are dropped.",
            DROPPED, "scalar_mix(R * (draws[i] >= p) / (1 - p), s[i], gamma[i])",
        ),
        Mistake(
            "the task's own vectors at the output",
            "At the output you have put x beside h. ELMo goes there.",
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
        "Where may a gradient go: into s and gamma, into R, into both? Where does ELMo enter?",
        "x: (B, T, D). Both mixes: (B, T, E). rnn takes (B, T, D + E) and gives (B, T, H). Out: (B, T, H + E).",
        "cut R off from the gradient\nfor each place: mix with its own s and gamma, set to 0 where the draw is below p, enlarge the rest\n"
        "run the network on [x; first mix]\nput the second mix beside what it writes",
        "Near miss: `with torch.no_grad():` around the mix keeps the gradient away from R, and from s as well.",
    ),
)

# ------------------------------------------------------------------------------------------ extension: embed a sentence


def sentence_cases(draw: Draw) -> Iterator[Case]:
    alphabet = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    for tokens, dim, layers in ((5, 4, 2), (3, 5, 1), (7, 3, 3)):
        words = ["".join(draw.rng.choice(alphabet, draw.integers(2, 9))) for _ in range(tokens)]
        words[0] = words[
            0
        ].capitalize()  # a sentence begins with a capital letter, which is a character of its own
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
            "the marks left in",
            "You have two tokens too many: [BOS] and [EOS] are read, but nobody asked for their vectors.",
            EMBEDDED, "representations(x, forward, backward)[:, 0]",
        ),
        Mistake(
            "no marks at all",
            "Layer 0 is right. Higher up your vectors differ: the model was trained on sentences with [BOS] in front and [EOS] behind.",
            edits={AROUND: "words", EMBEDDED: "representations(x, forward, backward)[:, 0]"},
        ),
        Mistake(
            "no [EOS]",
            "Your forward halves are right, and so is layer 0. The backward reader begins with the last word in yours: it was trained "
            "on sentences with [EOS] behind them.",
            edits={
                AROUND: '["[BOS]", *words]',
                EMBEDDED: "representations(x, forward, backward)[:, 0, 1:]",
            },
        ),
        Mistake(
            "no [BOS]",
            "Your backward halves are right, and so is layer 0. The forward reader begins with the first word in yours: it was trained "
            "on sentences with [BOS] in front.",
            edits={
                AROUND: '[*words, "[EOS]"]',
                EMBEDDED: "representations(x, forward, backward)[:, 0, :-1]",
            },
        ),
        Mistake(
            "the wrong two tokens cut off",
            "Your vectors stand one place too far: the first of yours belongs to the second word.",
            "1:-1", "2:",
        ),
        Mistake(
            "[EOS] left in",
            "You have one token too many at the end: [EOS] is read, but nobody asked for its vector.",
            "1:-1", "1:",
        ),
        Mistake(
            "[EOS] in front and [BOS] behind",
            "Layer 0 is right. Higher up your vectors differ: [BOS] begins a sentence and [EOS] ends it.",
            AROUND, '["[EOS]", *words, "[BOS]"]',
        ),
        Mistake(
            "a length without the marks",
            "Your forward halves are right. The backward reader was told a length that leaves [BOS] and [EOS] out, so it begins two "
            "tokens too early.",
            "torch.tensor([x.shape[1]])", "torch.tensor([len(words)])",
        ),
        Mistake(
            "small letters",
            "Words without a capital letter are right at layer 0. Characters are what ELMo reads: a capital letter is another one.",
            AROUND, '["[BOS]", *(word.lower() for word in words), "[EOS]"]',
        ),
        Mistake(
            "one string spelt",
            "You have far too many words: `spell` wants a list of words, and takes a string apart into its letters.",
            f"bilm.spell({AROUND})", f'bilm.spell(" ".join({AROUND}))',
        ),
        Mistake(
            "the top layer alone",
            "You have one layer. Asked are all of them.",
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
            "the layers averaged",
            "You have mixed the layers. Here they stay apart: a task will weigh them.",
            EMBEDDED, "representations(x, forward, backward)[:, 0, 1:-1].mean(dim=0)",
        ),
        Mistake(
            "the batch left in",
            "One sentence is no batch: an axis of size 1 is left over.",
            EMBEDDED, "representations(x, forward, backward)[:, :, 1:-1]",
        ),
        Mistake(
            "words before layers",
            "Your first axis is the words. Layers come first.",
            EMBEDDED, "representations(x, forward, backward)[:, 0, 1:-1].transpose(0, 1)",
        ),
        Mistake(
            "the layers side by side",
            "Each word has one long vector in yours. The layers are an axis of their own.",
            EMBEDDED, "representations(x, forward, backward)[:, 0, 1:-1].transpose(0, 1).flatten(1)",
        ),
        Mistake(
            "one word at a time",
            "Layer 0 is right, and nothing else: every word was read by itself, without its sentence.",
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
        "What did the model read in training before the first word and behind the last? Does the caller want vectors for that?",
        "chars: (1, T + 2, C). x: (1, T + 2, D). States: (L, 1, T + 2, D) each. Out: (L + 1, T, 2D).",
        "put the marks around the words; spell; make vectors; run both stacks on a batch of one sentence; pack\n"
        "drop the batch axis and the two marks",
        "Near miss: without the marks everything runs and the shapes are right. The first word then starts from an empty state, which the model has never seen.",
    ),
)
