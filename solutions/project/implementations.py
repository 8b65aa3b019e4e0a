"""Implementations for the tests that students write: three that are right, and others with a planted fault.

Each is source code, because the check hands it to the student's tests. Which of them a case contains is drawn, so that grading brings
some that the student has not met.
"""

SPLIT = """
import re
def split(passages, sizes, fraction):
    first = len(passages)
    while sizes[first:].sum() < fraction * sizes.sum():
        first -= 1
    words = [" ".join(re.findall(r"\\w+", one.lower())) for one in passages]
    training = set(words[:first])
    parts = [-1 if one in training else 1 for one in words[first:]]
    return torch.tensor([0] * first + parts)
"""
UNIGRAM = """
def unigram_loss(train, held_out, byte_counts):
    counts = torch.bincount(train, minlength=len(byte_counts)) + 1
    nats = -(counts / counts.sum()).log()[held_out]
    return nats.sum() / byte_counts[held_out].sum()
"""
INTERVAL = """
def interval(values, passage, draws):
    totals = torch.zeros(int(passage.max()) + 1).index_add(0, passage, values)
    sizes = torch.bincount(passage)
    means = totals[draws].sum(dim=1) / sizes[draws].sum(dim=1)
    return torch.stack([means.quantile(0.025), means.quantile(0.975)])
"""


def edits(source: str, *changes: tuple[str, str, str]) -> dict[str, str]:
    """{what is wrong: source code} from (what is wrong, old, new); the old text occurs exactly once."""
    found = {}
    for what, old, new in changes:
        if source.count(old) != 1:
            raise ValueError(f"{what}: {old!r} occurs {source.count(old)} times.")
        found[what] = source.replace(old, new)
    return found


COPIES, WHERE, SMOOTHING, BYTES, WEIGHTS, ENDS = (
    "split: copies", "split: where the held-out part begins", "unigram: unseen tokens", "unigram: bytes",
    "interval: passages of unequal length", "interval: ends",
)  # fmt: skip

FAULTS = {
    COPIES: edits(
        SPLIT,
        ("copies of training passages stay in the held-out part", "-1 if one in training else 1", "1"),
        ("only neighbouring copies are found", "set(words[:first])", "set(words[first - 1 : first])"),
        ("only copies of the first passage are found", "set(words[:first])", "set(words[:1])"),
    ),
    "split: letter case": edits(
        SPLIT,
        ("copies in other letter case are not found", "one.lower()", "one"),
        ("copies in capitals are not found", "one.lower()", "one if one.isupper() else one.lower()"),
    ),
    WHERE: edits(
        SPLIT,
        ("the held-out part is too short by a passage", "    words =", "    first += 1\n    words ="),
        ("fractions are counted in passages", "sizes[first:].sum() < fraction * sizes.sum()", "len(passages) - first < fraction * len(passages)"),
        ("held-out and training passages are exchanged", "torch.tensor([0] * first + parts)", "torch.tensor(parts + [0] * first)"),
    ),
    SMOOTHING: edits(
        UNIGRAM,
        ("unseen tokens have probability 0", "minlength=len(byte_counts)) + 1", "minlength=len(byte_counts))"),
        ("unseen tokens are skipped", "nats.sum()", "nats[torch.bincount(train, minlength=len(byte_counts))[held_out] > 0].sum()"),
        ("one thousandth is added instead of 1", "minlength=len(byte_counts)) + 1", "minlength=len(byte_counts)) + 0.001"),
    ),
    "unigram: which text is counted": edits(
        UNIGRAM,
        ("the held-out text is counted", "bincount(train,", "bincount(held_out,"),
        ("both texts are counted", "bincount(train,", "bincount(torch.cat([train, held_out]),"),
        ("the distribution is uniform", "+ 1\n", "* 0 + 1\n"),
    ),
    BYTES: edits(
        UNIGRAM,
        ("nats per token", "byte_counts[held_out].sum()", "len(held_out)"),
        ("divided by the bytes of the training text", "byte_counts[held_out]", "byte_counts[train]"),
        ("each kind of token counts once", "byte_counts[held_out].sum()", "byte_counts[held_out.unique()].sum()"),
    ),
    WEIGHTS: edits(
        INTERVAL,
        ("the mean of the passages' means", "totals[draws].sum(dim=1) / sizes[draws].sum(dim=1)", "(totals / sizes)[draws].mean(dim=1)"),
        ("divided by the number of passages", "sizes[draws].sum(dim=1)", "draws.shape[1]"),
        ("divided by the number of all values", "sizes[draws].sum(dim=1)", "len(values)"),
    ),
    "interval: passages drawn twice": edits(
        INTERVAL,
        ("passages drawn twice count once", "    means = totals[draws].sum(dim=1) / sizes[draws].sum(dim=1)", "    rows = [row.unique() for row in draws]\n    means = torch.stack([totals[row].sum() / sizes[row].sum() for row in rows])"),
        ("the draws are ignored", "    sizes =", "    draws = torch.arange(len(totals))[None]\n    sizes ="),
    ),
    ENDS: edits(
        INTERVAL,
        ("the interval of 90 %", "0.025), means.quantile(0.975)", "0.05), means.quantile(0.95)"),
        ("smallest and largest mean", "means.quantile(0.025), means.quantile(0.975)", "means.min(), means.max()"),
        ("the ends are exchanged", "0.025), means.quantile(0.975)", "0.975), means.quantile(0.025)"),
    ),
}  # fmt: skip
"""{what a test has to vary to notice it: {what is wrong: source code}}."""

RIGHT = {
    "split: right": {
        "a loop from the end": '''
def split(passages, sizes, fraction):
    wanted, parts, held = fraction * float(sizes.sum()), [], 0
    import re
    for size in reversed(sizes.tolist()):
        if held >= wanted:
            break
        held += size
        parts.append(1)
    first = len(passages) - len(parts)
    same = lambda text: re.findall("[^\\\\W]+", text.casefold())
    seen = [same(one) for one in passages[:first]]
    return torch.tensor([0] * first + [-1 if same(one) in seen else 1 for one in passages[first:]])
''',
        "cumulative sums": '''
import re
def split(passages, sizes, fraction):
    behind = sizes.flip(0).cumsum(0).flip(0)
    first = int((behind >= fraction * sizes.sum()).sum()) - 1
    words = [tuple(re.findall(r"\\w+", one.lower())) for one in passages]
    where = {}
    for place, one in enumerate(words):
        where.setdefault(one, place)
    return torch.tensor([0 if i < first else -1 if where[one] < first else 1 for i, one in enumerate(words)])
''',
    },
    "unigram: right": {
        "float64": UNIGRAM.replace("+ 1\n", "+ 1.0\n    counts = counts.double()\n"),
        "token by token": '''
import math
def unigram_loss(train, held_out, byte_counts):
    train, V = train.tolist(), len(byte_counts)
    nats = [-math.log((train.count(id) + 1) / (len(train) + V)) for id in held_out.tolist()]
    return torch.tensor(sum(nats) / sum(byte_counts[id].item() for id in held_out.tolist()))
''',
    },
    "interval: right": {
        "float64": INTERVAL.replace("torch.zeros(int(passage.max()) + 1)", "torch.zeros(int(passage.max()) + 1, dtype=torch.float64)").replace("passage, values)", "passage, values.double())"),
        "values of each resample": '''
def interval(values, passage, draws):
    means = []
    for row in draws.tolist():
        drawn = torch.cat([values[passage == one] for one in row])
        means.append(drawn.mean())
    ends = torch.tensor([0.025, 0.975], dtype=means[0].dtype)
    return torch.stack(means).quantile(ends)
''',
    },
}  # fmt: skip
