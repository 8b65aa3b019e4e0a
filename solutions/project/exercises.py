"""A project of one's own: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.checks.asking import Case
from autograder.checks.judging import Rule
from autograder.exercise import Draw, Exercise, Mistake
from coursekit.project.codes import BELOW_UNIGRAM, CODE, packed

from .implementations import FAULTS, RIGHT

# ------------------------------------------------------------------------------------------ split


def split_cases(draw: Draw) -> Iterator[Case]:
    """Copies across the split (equal, in other letter case, with other punctuation), and copies within each part.

    Two passages only resemble a training passage: one has its words in another order, one has its letters in other words.

    The parts differ from those that a count of passages gives. In the first case the held-out part has exactly the fraction.
    """
    for before, fraction, exact in ((8, 0.25, True), (11, 0.25, False), (13, 0.2, False)):
        words = ["".join(draw.rng.choice(list("abdefgiklmnoprstu"), 5)) for _ in range(60)]
        made = [" ".join(draw.rng.choice(words, 4, replace=False)) for _ in range(before + 3)]
        *train, one, other, third = (f"{text.capitalize()} {number}." for number, text in enumerate(made))
        train[3] = train[1]
        held = [
            train[0],
            train[2].upper(),
            "«" + train[4].replace(" ", ", ") + "»",
            " ".join(reversed(train[5].split())),
            train[6].replace(" ", "", 1).replace(" ", "-"),
            one,
            one,
            other,
            *[third][before % 2 :],
        ]
        held = [held[place] for place in draw.rng.permutation(len(held))]
        tail = draw.integers(8, 30, len(held))
        whole = int(round((tail.sum() - (0 if exact else tail[0] / 2)) / fraction)) - int(tail.sum())
        head = draw.integers(4, 8, before)
        head[-1] = whole - head[:-1].sum()
        yield {"passages": [*train, *held], "sizes": np.concatenate([head, tail]), "fraction": fraction}


COPY = "-1 if one in training else 1"
WORDS = r'[" ".join(re.findall(r"\w+", one.lower())) for one in passages]'

split = Exercise(
    cases=split_cases,
    rule=Rule("equal", axes={"": "n"}),
    mistakes=(
        Mistake("copies stay in the held-out part", "Some of your held-out passages also occur in the training part: the model can recite them, and its loss will look too good. Mark them with −1.", COPY, "1"),
        Mistake("only exact copies found", "You find copies only if every character is the same. Ignore letter case and punctuation, as the docstring says.", WORDS, "list(passages)"),
        Mistake("punctuation not ignored", "You ignore letter case, but a copy with different punctuation or quotation marks still counts as new. Compare only the words.", r're.findall(r"\w+", one.lower())', "one.lower().split()"),
        Mistake("letter case not ignored", "A copy in capitals still counts as new in your answer. Compare the words in lower case.", "one.lower()", "one"),
        Mistake("copies removed from the training part", "You leave out the copy in the training part and keep the copy in the held-out part. The docstring asks for the opposite.", code=r"""
def split(passages, sizes, fraction):
    first = len(passages)
    while sizes[first:].sum() < fraction * sizes.sum():
        first -= 1
    words = [" ".join(re.findall(r"\w+", one.lower())) for one in passages]
    held_out = set(words[first:])
    return torch.tensor([-1 if one in held_out else 0 for one in words[:first]] + [1] * (len(words) - first))
"""),
        Mistake("copies within the held-out part left out", "You also leave out passages that are repeated within the held-out part. Only copies of *training* passages leak.", f"parts = [{COPY} for one in words[first:]]", "parts = []\n    for one in words[first:]:\n        parts.append(-1 if one in training else 1)\n        training.add(one)"),
        Mistake("the order of the words ignored", "You also leave out passages that have the words of a training passage in another order. A copy has the same words in the same order.", r're.findall(r"\w+", one.lower())', r're.findall(r"\w+", " ".join(sorted(re.findall(r"\w+", one.lower()))))'),
        Mistake("spaces ignored", "You delete the spaces between words, so that “a bc” and “ab c” look the same. Compare the words one by one, or joined by a space.", '" ".join(re.findall', '"".join(re.findall'),
        Mistake("passages that share a word left out", "You leave out every passage that shares a word with the training part. Only a complete copy leaks.", code=r"""
def split(passages, sizes, fraction):
    first = len(passages)
    while sizes[first:].sum() < fraction * sizes.sum():
        first -= 1
    words = [set(re.findall(r"\w+", one.lower())) for one in passages]
    training = set().union(*words[:first])
    return torch.tensor([0] * first + [-1 if one & training else 1 for one in words[first:]])
"""),
        Mistake("fraction counted in passages", "You count passages, but passages have different sizes. Compare sums of sizes.", "sizes[first:].sum() < fraction * sizes.sum()", "len(passages) - first < fraction * len(passages)"),
        Mistake("held-out part too short", "Your held-out part is below the requested fraction. Add passages until it has at least this fraction of the total size.", "    first = len(passages)\n    while sizes[first:].sum() < fraction * sizes.sum():", "    first = len(passages)\n    while sizes[first - 1:].sum() < fraction * sizes.sum():"),
        Mistake("one passage too many when the fraction is met exactly", "If the held-out part has exactly the requested fraction, it is large enough: do not add another passage.", ".sum() < fraction", ".sum() <= fraction"),
        Mistake("held out at the beginning", "Your held-out part is at the beginning of the text. The docstring asks for the last passages.", code=r"""
def split(passages, sizes, fraction):
    end = 0
    while sizes[:end].sum() < fraction * sizes.sum():
        end += 1
    words = [" ".join(re.findall(r"\w+", one.lower())) for one in passages]
    training = set(words[end:])
    return torch.tensor([-1 if one in training else 1 for one in words[:end]] + [0] * (len(words) - end))
"""),
        Mistake("fraction of the training part", "The fraction describes the held-out part, not the training part.", "fraction * sizes.sum()", "(1 - fraction) * sizes.sum()"),
        Mistake("0 and 1 swapped", "You mark training passages with 1 and held-out passages with 0. It is the other way round: 0 is training, 1 is held out.", edits={COPY: "-1 if one in training else 0", "[0] * first": "[1] * first"}),
        Mistake("copies counted as training passages", "You mark the copies in the held-out part with 0, as if the model were trained on them. They belong to neither part: mark them with −1.", COPY, "0 if one in training else 1"),
    ),
    alternatives={
        "cumulative sums": r"""
def split(passages, sizes, fraction):
    behind = sizes.flip(0).cumsum(0).flip(0)
    first = int((behind >= fraction * sizes.sum()).nonzero()[-1])
    same = lambda text: tuple(re.findall(r"\w+", text.lower()))
    training = {same(one) for one in passages[:first]}
    parts = torch.zeros(len(passages), dtype=torch.long)
    parts[first:] = torch.tensor([-1 if same(one) in training else 1 for one in passages[first:]])
    return parts
""",
        "a list, and a slow comparison": r"""
def split(passages, sizes, fraction):
    held, first = 0, len(passages)
    while held < fraction * sizes.sum().item():
        first -= 1
        held += sizes[first].item()
    clean = [re.sub(r"\W+", " ", one).strip().lower() for one in passages]
    return [0] * first + [-1 if any(one == other for other in clean[:first]) else 1 for one in clean[first:]]
""",
    },
    hints=(
        "A licence or a chorus occurs ten times in your text. What does the held-out loss measure on its last copy?",
        "passages: n strings; sizes: (n). Output: (n), integers −1, 0 or 1; the zeros come first.",
        "go from the end until the sizes add up to the fraction\nthe words of each passage, in lower case, as one string\nthe set of these strings before the split\n−1 for a string after the split that is in the set",
        "A near miss: `passage in passages[:first]` finds exact copies only.",
    ),
    survivors={"training = set(words[:first])` → `training = words[:first]": "searching a list gives the same result, but more slowly"},
)  # fmt: skip

# ------------------------------------------------------------------------------------------ the unigram baseline


def unigram_cases(draw: Draw) -> Iterator[Case]:
    """Tokens that do not occur in the training text, and the last ids of the vocabulary in neither; bytes of unequal number."""
    for V, train, held_out in ((11, 60, 25), (7, 35, 40), (16, 90, 30)):
        frequent = draw.rng.permutation(V - 1)
        shares = 0.6 ** np.arange(V - 3)
        ids = frequent[2:][draw.rng.choice(V - 3, train, p=shares / shares.sum())]
        new = np.concatenate([frequent[2:][draw.rng.integers(0, V - 3, held_out - 3)], frequent[[0, 1, 0]]])
        sizes = draw.rng.permutation(np.arange(V) % 5 + 1)
        yield {"train": ids, "held_out": draw.rng.permutation(new), "byte_counts": sizes}


BYTES = "byte_counts[held_out].sum()"
COUNTED = "torch.bincount(train, minlength=len(byte_counts)) + 1"

unigram_loss = Exercise(
    cases=unigram_cases,
    rule=Rule("close", 2e-5),
    mistakes=(
        Mistake("no smoothing", "Tokens that do not occur in the training text have probability 0 in your model, so the loss is infinite. Add 1 to every count.", COUNTED, COUNTED.removesuffix(" + 1")),
        Mistake("a tiny number added to the probabilities", "You add a tiny number to the probabilities, so the loss of a token that does not occur in the training text is 20 nats or more. Add 1 to every count instead.", code="""
def unigram_loss(train, held_out, byte_counts):
    p = torch.bincount(train, minlength=len(byte_counts)) / len(train)
    return -(p[held_out] + 1e-10).log().sum() / byte_counts[held_out].sum()
"""),
        Mistake("no 1 added for the last ids", "The last ids of the vocabulary do not occur in the training text, and you do not add 1 for them. Count all V tokens: bincount(…, minlength=V).", "bincount(train, minlength=len(byte_counts))", "bincount(train, minlength=int(held_out.max()) + 1)", also=("""
def unigram_loss(train, held_out, byte_counts):
    counts = torch.bincount(train) + 1
    nats = -(counts / counts.sum()).log()[held_out]
    return nats.sum() / byte_counts[held_out].sum()
""",)),
        Mistake("number of tokens that occur added to the denominator", "You add to the denominator only the number of different tokens that occur in the training text. You add 1 to the counts of all V tokens, so add V to the denominator.", "counts / counts.sum()", "counts / (len(train) + len(train.unique()))"),
        Mistake("counts of 0 raised to 1", "You change counts of 0 to 1 and leave the other counts unchanged. Add 1 to every count.", COUNTED, COUNTED.removesuffix(" + 1") + ".clamp(min=1)"),
        Mistake("counts weighted by bytes", "You multiply the counts by the byte counts of the tokens. The model predicts tokens: use the byte counts only in the division at the end.", COUNTED, f"({COUNTED}) * byte_counts"),
        Mistake("1 added to the probabilities", "You add 1 to the probabilities, which makes them nearly equal. Add 1 to the counts, before you divide.", "(counts / counts.sum())", "(((counts - 1) / len(train) + 1) / (len(byte_counts) + 1))"),
        Mistake("counts taken as logits", "You use the counts as logits, so a softmax turns them into powers of e. Probabilities are proportional to the counts themselves: take their logarithms.", "-(counts / counts.sum()).log()[held_out]", "-counts.float().log_softmax(0)[held_out]"),
        Mistake("bytes of the vocabulary", "You divide by the bytes of all tokens of the vocabulary, or by their mean. Divide by the total number of bytes of the held-out text.", BYTES, "byte_counts.sum()", also=("""
def unigram_loss(train, held_out, byte_counts):
    counts = torch.bincount(train, minlength=len(byte_counts)) + 1
    nats = -(counts / counts.sum()).log()[held_out]
    return nats.mean() / byte_counts.float().mean()
""",)),
        Mistake("each distinct token counted once", "You count each distinct token once. A token that occurs five times in the held-out text has to count five times.", edits={"[held_out]\n": "[held_out.unique()]\n", BYTES: "byte_counts[held_out.unique()].sum()"}),
        Mistake("entropy of the training text", "You compute the entropy of the unigram model, which is its expected loss. Sum −log p over the tokens of the held-out text.", code="""
def unigram_loss(train, held_out, byte_counts):
    counts = torch.bincount(train, minlength=len(byte_counts)) + 1
    p = counts / counts.sum()
    return -(p * p.log()).sum() / (p * byte_counts).sum()
"""),
        Mistake("nats per token", "You divide by the number of tokens. A tokeniser with longer tokens would look worse: divide by the bytes.", BYTES, "len(held_out)"),
        Mistake("bits instead of nats", "Your loss is in bits. The docstring asks for nats: use the natural logarithm.", ".log()", ".log2()"),
        Mistake("counts of the held-out text", "You count tokens in the held-out text, which the model must not have seen. Count only tokens of the training text.", "bincount(train,", "bincount(held_out,"),
        Mistake("counts of both texts", "You count tokens in both texts. Count only tokens of the training text.", "bincount(train,", "bincount(torch.cat([train, held_out]),"),
        Mistake("probabilities do not sum to 1", "You add 1 to each count, but divide by the number of tokens without these additions, so the probabilities sum to more than 1.", "counts.sum()", "len(train)"),
        Mistake("mean over tokens of nats per byte", "You divide each token's loss by its bytes and average. Divide the sum of all losses by the sum of all bytes.", f"nats.sum() / {BYTES}", "(nats / byte_counts[held_out]).mean()"),
        Mistake("bytes of the training text", "You divide by the bytes of the training text. You compute the loss of the held-out text, so divide by its bytes.", "byte_counts[held_out]", "byte_counts[train]"),
        Mistake("loss of the training text", "You compute the loss of the training text. Compute the loss of the held-out text.", edits={"[held_out]\n": "[train]\n", BYTES: "byte_counts[train].sum()"}),
        Mistake("sum instead of a mean", "You return the sum of the losses. Divide it by the number of bytes.", f" / {BYTES}", ""),
        Mistake("wrong sign", "Your loss is negative. The loss of a token is minus its log-probability.", "-(counts", "(counts"),
        Mistake("uniform distribution", "All tokens have the same probability in your model. Use their counts in the training text.", "+ 1\n", "* 0 + 1\n"),
    ),
    alternatives={
        "cross_entropy": """
def unigram_loss(train, held_out, byte_counts):
    V = len(byte_counts)
    counts = one_hot(train, V).sum(dim=0) + 1
    log_p = torch.log(counts.double() / (len(train) + V))
    loss = cross_entropy(log_p.expand(len(held_out), -1), held_out, reduction="sum")
    return loss / byte_counts.gather(0, held_out).sum()
""",
        "token by token": """
def unigram_loss(train, held_out, byte_counts):
    nats = total = 0.0
    for id in held_out.tolist():
        share = ((train == id).sum().item() + 1) / (len(train) + len(byte_counts))
        nats -= math.log(share)
        total += byte_counts[id].item()
    return nats / total
""",
    },
    hints=(
        "What probability does the model assign to a token that occurs only in the held-out text?",
        "train: (N), held_out: (M), byte_counts: (V). Output: one number.",
        "counts of the V tokens in the training text, plus 1\nprobabilities: counts divided by their sum\n−log p of each held-out token, summed\ndivided by the bytes of the held-out tokens",
        "A near miss: the mean over tokens depends on the tokeniser, because one with longer tokens predicts fewer of them.",
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ training


def training_cases(draw: Draw) -> Iterator[Case]:
    """A made-up language of three chapters with words of their own, in which each token nearly determines the next one.

    The chapters have unequal lengths and the shortest comes first, so windows from the beginning alone are not enough, and a
    unigram model is better than a uniform one.
    """
    for V, window, steps, lengths in (
        (24, 16, 90, (300, 800, 1600)),
        (30, 12, 110, (320, 820, 1500)),
        (27, 20, 80, (280, 800, 1650)),
    ):
        third = V // 3
        chapters = [
            (draw.rng.permutation(np.arange(k * third, (k + 1) * third)), draw.rng.permutation(third))
            for k in range(3)
        ]
        ids, held_out = (
            np.concatenate(
                [chapter(draw, *one, length) for one, length in zip(chapters, these, strict=True)]
            )
            for these in (lengths, (100, 280, 560))
        )
        yield {"ids": ids, "_held_out": held_out, "V": V, "window": window, "steps": steps, "seed": int(draw.integers(0, 10**6))}  # fmt: skip


def chapter(draw: Draw, order: np.ndarray, jumps: np.ndarray, length: int) -> np.ndarray:
    """Tokens that follow one another in a circle, with a probability of 0.93; otherwise another one follows."""
    place, found = 0, []
    for straight in draw.rng.random(length) < 0.93:
        found.append(order[place])
        place = (place + 1) % len(order) if straight else jumps[place]
    return np.array(found)


TARGETS = "windows[:, 1:].flatten()"
STARTS = "torch.randint(len(ids) - T, (16, 1))"

train = Exercise(
    cases=training_cases,
    rule=Rule("equal", axes={"training": "codes"}, legend={"training": BELOW_UNIGRAM}, measure="coursekit.project.measuring:measured"),
    mistakes=(
        Mistake("the weights do not change", BELOW_UNIGRAM["last 2"], "        optimiser.step()\n", ""),
        Mistake("wrong sign", BELOW_UNIGRAM["last 3"], "loss.backward()", "(-loss).backward()"),
        Mistake("targets not shifted", BELOW_UNIGRAM["last 4"], TARGETS, "windows[:, :-1].flatten()"),
        Mistake("targets shifted backwards", BELOW_UNIGRAM["last 5"], TARGETS, "windows.roll(1, 1)[:, :-1].flatten()"),
        Mistake("targets shifted twice", BELOW_UNIGRAM["last 6"], TARGETS, "windows.roll(-2, 1)[:, :-1].flatten()"),
        Mistake("windows from a part of the text", BELOW_UNIGRAM["last 7"], STARTS, "torch.arange(16)[:, None]"),
        Mistake("the last position only", BELOW_UNIGRAM["last 14"], edits={"logits.flatten(0, 1)": "logits[:, -1]", TARGETS: "windows[:, -1]"}),
        Mistake("gradients add up", BELOW_UNIGRAM["last 13"], "        optimiser.zero_grad()\n", ""),
        Mistake("two batches for each step", BELOW_UNIGRAM["last 8"], "        logits = model", "        model(windows[:, :-1])\n        logits = model"),
        Mistake("not one loss for each step", BELOW_UNIGRAM["last 9"], "return losses", "return losses[-1]"),
        Mistake("wrong losses returned", BELOW_UNIGRAM["last 10"], "losses[step] = loss.detach()", "losses[step] = 16 * T * loss.detach()", also=("""
def train(model, ids, steps):
    T, losses = model.config.tokens, []
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.005)
    for _ in range(steps):
        windows = ids[torch.randint(len(ids) - T, (16, 1)) + torch.arange(T + 1)]
        loss = cross_entropy(model(windows[:, :-1]).logits.flatten(0, 1), windows[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return torch.tensor(losses).cumsum(0) / torch.arange(1, steps + 1)
""",)),
        Mistake("not the cross-entropy of the next tokens", BELOW_UNIGRAM["last 15"], "logits.flatten(0, 1)", "logits.softmax(dim=-1).flatten(0, 1)"),
        Mistake("positions that never count in the loss", BELOW_UNIGRAM["last 16"], "torch.arange(T + 1)", "torch.arange(T)"),
        Mistake("learning rate too small", BELOW_UNIGRAM["last 11"], "lr=0.005", "lr=0.00001"),
        Mistake("half of the steps", BELOW_UNIGRAM["last 12"], "range(steps)", "range(steps // 2)"),
    ),
    alternatives={
        "Adam, windows one by one": """
def train(model, ids, steps):
    length, losses = model.config.tokens, []
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        rows = []
        for _ in range(12):
            start = random.randrange(len(ids) - length)
            rows.append(ids[start : start + length + 1])
        batch = torch.stack(rows)
        optimiser.zero_grad()
        loss = cross_entropy(model(batch[:, :-1]).logits.transpose(1, 2), batch[:, 1:])
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return torch.tensor(losses)
""",
        "the course's own loss, clipping and a schedule": """
def train(model, ids, steps):
    chunks = ids.unfold(0, model.config.tokens + 1, 1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.1, steps)
    losses = []
    for step in range(steps):
        batch = chunks[torch.randperm(len(chunks))[:16]]
        log_p = model(batch[:, :-1]).logits.log_softmax(-1)
        loss = -log_p.gather(2, batch[:, 1:, None]).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        losses.append(loss.detach())
    return torch.stack(losses)
""",
    },
    hints=(
        "A window has T + 1 tokens. Which T of them does the model read, and which T does it predict?",
        "windows: (16, T + 1). logits: (16, T, V). targets: (16, T). Output: (steps).",
        "an optimiser for the model's parameters\nat each step:\n    16 random starts, and T + 1 tokens from each\n    logits for all tokens but the last; the targets are all tokens but the first\n    mean cross-entropy; gradients set to zero; backward; step",
        "A near miss: if the targets are the tokens that the model reads, the loss falls to nearly 0, and the model has learned to copy.",
    ),
    survivors={
        "lr=0.01)": "the docstring allows learning rates from 0.003 to 0.01",
        "(17, 1)": "the docstring leaves the number of windows free",
        "(15, 1)": "the docstring leaves the number of windows free",
        "AdamW(model.parameters())": "AdamW's default rate of 0.001 is slower, but the loss still falls below the baseline's",
        "losses[step] = loss`": "the values are the same; only the graph of each loss, whose buffers backward() has freed, is kept longer",
    },
)  # fmt: skip

# ------------------------------------------------------------------------------------------ agreement


def readings(draw: Draw) -> Iterator[Case]:
    """Undecided occurrences in either annotation; annotators with different habits; a sense that one of them never uses."""
    for n, senses in ((40, 3), (55, 4), (30, 2), (48, 5)):
        shares = np.arange(1, senses + 1) ** 1.3
        first = draw.rng.choice(senses, n, p=shares / shares.sum())
        first[:senses] = np.arange(senses)
        second = np.where(draw.rng.random(n) < 0.65, first, draw.rng.integers(0, senses, n))
        second[:senses] = [*range(1, senses), senses - 1]  # the readers' habits differ
        if senses == 4:
            second = np.minimum(second, 2)
        if senses == 5:
            first = np.minimum(first, 3)
        first[-8:-4], second[-6:-1] = -1, -1
        order = draw.rng.permutation(n)
        yield {"first": first[order], "second": second[order], "senses": senses}


BOTH = "(first >= 0) & (second >= 0)"
CHANCE = "(p * q).sum()"

kappa = Exercise(
    cases=readings,
    rule=Rule("close", 2e-5),
    mistakes=(
        Mistake("undecided counted as disagreement", "You divide by the number of all occurrences, so an undecided occurrence counts as a disagreement. Leave out the occurrences that are −1 in either annotation.", code="""
def kappa(first, second, senses):
    n = len(first)
    p = torch.stack([(first == sense).sum() for sense in range(senses)]) / n
    q = torch.stack([(second == sense).sum() for sense in range(senses)]) / n
    agreed = ((first == second) & (first >= 0)).sum() / n
    return (agreed - (p * q).sum()) / (1 - (p * q).sum())
"""),
        Mistake("occurrences kept that only one annotator labelled", "You keep occurrences that only one annotator labelled. Keep those that both annotators labelled.", code="""
def kappa(first, second, senses):
    either = (first >= 0) | (second >= 0)
    first, second = first[either], second[either]
    p = torch.stack([(first == sense).float().mean() for sense in range(senses)])
    q = torch.stack([(second == sense).float().mean() for sense in range(senses)])
    agreed = (first == second).float().mean()
    return (agreed - (p * q).sum()) / (1 - (p * q).sum())
"""),
        Mistake("undecided left out of the agreement only", "You leave out undecided occurrences when you count agreement, but not when you compute the frequencies. Leave them out in both steps.", code="""
def kappa(first, second, senses):
    both = (first >= 0) & (second >= 0)
    agreed = (first[both] == second[both]).float().mean()
    p = torch.stack([(first == sense).float().mean() for sense in range(senses)])
    q = torch.stack([(second == sense).float().mean() for sense in range(senses)])
    return (agreed - (p * q).sum()) / (1 - (p * q).sum())
"""),
        Mistake("two undecided labels counted as agreement", "You count it as agreement if both annotators were undecided. Leave out the occurrences that are −1 in either annotation.", code="""
def kappa(first, second, senses):
    agreed = (first == second).float().mean()
    p = torch.stack([(first == sense).float().mean() for sense in range(senses)])
    q = torch.stack([(second == sense).float().mean() for sense in range(senses)])
    return (agreed - (p * q).sum()) / (1 - (p * q).sum())
"""),
        Mistake("undecided counted as a sense", "You treat −1 as an additional sense. Leave out the occurrences that are −1 in either annotation.", edits={BOTH: "first == first", "first[both], second[both]": "first[both] + 1, second[both] + 1", "minlength=senses) / len(first)": "minlength=senses + 1) / len(first)", "minlength=senses) / len(second)": "minlength=senses + 1) / len(second)"}),
        Mistake("undecided left out of the first annotation only", "You leave out the occurrences on which the first annotator was undecided, but keep those on which the second was undecided. Leave out both.", code="""
def kappa(first, second, senses):
    both = first >= 0
    first, second = first[both], second[both]
    p = torch.stack([(first == sense).float().mean() for sense in range(senses)])
    q = torch.stack([(second == sense).float().mean() for sense in range(senses)])
    agreed = (first == second).float().mean()
    return (agreed - (p * q).sum()) / (1 - (p * q).sum())
"""),
        Mistake("sense 0 left out", "You leave out the occurrences of sense 0 as if they were undecided. Only −1 means undecided: keep labels of at least 0.", BOTH, "(first > 0) & (second > 0)"),
        Mistake("sense 0 left out of chance", "Your sum over senses leaves out sense 0. The senses are numbered from 0 to senses − 1.", CHANCE, "(p * q)[1:].sum()"),
        Mistake("divided by the disagreement", "You divide by 1 − agreed. Divide by the largest possible value of the numerator, 1 − chance.", "/ (1 - chance)", "/ (1 - agreed)"),
        Mistake("agreement not corrected for chance", "You return the fraction of equal labels. Two annotators who choose labels at random also agree sometimes: subtract this chance agreement.", "(agreed - chance) / (1 - chance)", "agreed"),
        Mistake("not divided by 1 − chance", "You subtract chance but do not divide by 1 − chance, so κ would be less than 1 for perfect agreement.", "(agreed - chance) / (1 - chance)", "agreed - chance"),
        Mistake("divided by chance", "You divide by the chance agreement. Divide by the largest possible value of the numerator, 1 − chance.", "/ (1 - chance)", "/ chance"),
        Mistake("all senses equally probable", "You assume that annotators choose each sense equally often. Use the frequencies with which each annotator uses it.", CHANCE, "1 / senses"),
        Mistake("one distribution for both annotators", "You average the two annotators' frequencies first (Scott's π). Cohen's κ multiplies the frequencies of one annotator by those of the other.", CHANCE, "((p + q) / 2).square().sum()"),
        Mistake("chance from the first annotator", "You use the first annotator's frequencies twice. Multiply them by those of the second annotator.", CHANCE, "(p * p).sum()"),
        Mistake("the most frequent sense as chance", "You use the frequency of the most frequent sense as the chance agreement. Sum the product of the two annotators' frequencies over all senses.", CHANCE, "p.max()"),
    ),
    alternatives={
        "scikit-learn": """
def kappa(first, second, senses):
    from sklearn.metrics import cohen_kappa_score
    keep = ((first != -1) & (second != -1)).numpy()
    return torch.tensor(cohen_kappa_score(first.numpy()[keep], second.numpy()[keep]))
""",
        "a table of pairs": """
def kappa(first, second, senses):
    table = torch.zeros(senses, senses)
    for a, b in zip(first.tolist(), second.tolist()):
        if min(a, b) >= 0:
            table[a, b] += 1
    table /= table.sum()
    chance = table.sum(dim=0) @ table.sum(dim=1)
    return (table.trace() - chance) / (1 - chance)
""",
    },
    hints=(
        "Two annotators each give the most frequent label to 9 of 10 occurrences and another label to the tenth, at random. How often do they agree?",
        "first, second: (n), −1 where undecided. Output: one number.",
        "keep the occurrences that both annotators labelled\nagreed: fraction of equal labels\nchance: sum over senses of (fraction for the first annotator) · (fraction for the second annotator)\n(agreed − chance) / (1 − chance)",
        "A near miss: the fraction of equal labels is high for a word with one frequent sense, even if the annotators choose at random.",
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ the control


def control_cases(draw: Draw) -> Iterator[Case]:
    """Clusters of unequal size whose numbers are not those of the senses; permutations that are as good as the labels."""
    for n, clusters, senses, R in ((24, 3, 2, 40), (30, 4, 3, 60), (20, 2, 3, 25)):
        label = draw.rng.choice(senses, n, p=np.arange(senses, 0, -1) / np.arange(senses + 1).sum())
        label[:senses] = np.arange(senses)
        number = (label + 1) % clusters
        mixed = draw.rng.random(n) < 0.3
        number = np.where(mixed, draw.rng.integers(0, clusters, n), number)
        number[-clusters:] = np.arange(clusters)
        orders = np.stack([draw.rng.permutation(n) for _ in range(R)])
        orders[[0, 3]] = np.arange(n)  # a permutation that changes nothing is exactly as good
        yield {"clusters": number, "senses": label, "orders": orders}


P_VALUE = "(1 + (permuted >= observed).sum()) / (1 + len(orders))"

control = Exercise(
    cases=control_cases,
    rule=Rule("close", 2e-5),
    mistakes=(
        Mistake("clusters compared with senses by number", "You count the occurrences whose cluster number equals their sense number, but clusters have arbitrary numbers. Count the most frequent sense of each cluster.", code="""
def control(clusters, senses, orders):
    observed = (clusters == senses).sum()
    permuted = torch.stack([(clusters == senses[order]).sum() for order in orders])
    p = (1 + (permuted >= observed).sum()) / (1 + len(orders))
    return {"purity": observed / len(senses), "chance": permuted.float().mean() / len(senses), "p": p}
"""),
        Mistake("most frequent cluster of each sense", "You take the most frequent cluster of each *sense*. Purity takes the most frequent sense of each *cluster*.", "labels[clusters == one].bincount().max().item() for one in clusters.unique()", "clusters[labels == one].bincount().max().item() for one in labels.unique()", also=("""
def control(clusters, senses, orders):
    def right(groups):
        return sum(groups[senses == one].bincount().max().item() for one in senses.unique())
    observed, n = right(clusters), len(senses)
    permuted = torch.tensor([right(clusters[order]) for order in orders])
    p = (1 + (permuted >= observed).sum()) / (1 + len(orders))
    return {"purity": torch.tensor(observed / n), "chance": permuted.float().mean() / n, "p": p}
""",)),
        Mistake("1 − p", "Your p is near 1 if the labels are better than nearly all permutations. p is the fraction of permutations that are at least as good, not the fraction of the rest.", P_VALUE, f"1 - {P_VALUE}"),
        Mistake("p can be 0", "Your p is 0 if no permutation is as good as the labels. The original order of the labels is also possible: add 1 to both counts.", P_VALUE, "(permuted >= observed).float().mean()"),
        Mistake("1 added to the numerator only", "You add 1 to the count, but not to the number of orders.", "/ (1 + len(orders))", "/ len(orders)"),
        Mistake("equally good permutations not counted", "You count only permutations that are better than the labels. Count permutations that are equally good as well.", ">= observed", "> observed"),
        Mistake("the other tail", "You count the permutations that are worse than the labels. p is the fraction of permutations that are at least as good.", ">= observed", "<= observed"),
        Mistake("clusters permuted as well", "You permute clusters and senses in the same way, so that each occurrence keeps its cluster and its sense. Permute only the senses.", code="""
def control(clusters, senses, orders):
    def pure(groups, labels):
        pairs = torch.zeros(int(clusters.max()) + 1, int(senses.max()) + 1)
        pairs.index_put_((groups, labels), torch.ones(len(labels)), accumulate=True)
        return pairs.max(dim=1).values.sum()
    observed = pure(clusters, senses)
    permuted = torch.stack([pure(clusters[order], senses[order]) for order in orders])
    p = (1 + (permuted >= observed).sum()) / (1 + len(orders))
    return {"purity": observed / len(senses), "chance": permuted.mean() / len(senses), "p": p}
"""),
        Mistake("clusters permuted instead of senses", "You permute the clusters and keep the senses. Permute the senses by each row of `orders` and keep the clusters, as the docstring says.", code="""
def control(clusters, senses, orders):
    def pure(groups):
        pairs = torch.zeros(int(clusters.max()) + 1, int(senses.max()) + 1)
        pairs.index_put_((groups, senses), torch.ones(len(senses)), accumulate=True)
        return pairs.max(dim=1).values.sum()
    observed = pure(clusters)
    permuted = torch.stack([pure(clusters[order]) for order in orders])
    p = (1 + (permuted >= observed).sum()) / (1 + len(orders))
    return {"purity": observed / len(senses), "chance": permuted.mean() / len(senses), "p": p}
"""),
        Mistake("the median permutation as chance", "You take the median purity of the permutations. The chance level is their mean purity.", "permuted.float().mean()", "permuted.median()"),
        Mistake("fraction of the most frequent sense as chance", "Your chance level is the purity of a single cluster that contains everything. Several clusters have a higher purity by chance alone: average the purity over the permutations.", "permuted.float().mean() / n", "senses.bincount().max() / n"),
        Mistake("clusters not weighted by their size", "You average the purities of the clusters, so that small clusters count as much as large ones. Divide the sum of the largest counts by n.", edits={"sum(labels[clusters == one].bincount().max().item() for one in clusters.unique())": "len(labels) * sum(labels[clusters == one].bincount().max().item() / (clusters == one).sum().item() for one in clusters.unique()) / len(clusters.unique())"}),
        Mistake("counts instead of fractions", "Your purity is a count. Divide it by the number of occurrences.", edits={"torch.tensor(observed / n)": "torch.tensor(float(observed))", "permuted.float().mean() / n": "permuted.float().mean()"}),
        Mistake("the best permutation as chance", "You return the purity of the best permutation. The chance level is the mean purity over all orders.", "permuted.float().mean()", "permuted.max()"),
    ),
    alternatives={
        "a loop over clusters": """
def control(clusters, senses, orders):
    def purity(labels):
        right = 0
        for number in clusters.unique():
            right += labels[clusters == number].bincount().max().item()
        return right
    observed = purity(senses)
    permuted = [purity(senses[order]) for order in orders]
    at_least = sum(one >= observed for one in permuted)
    n = len(senses)
    return {"p": (at_least + 1) / (len(permuted) + 1), "purity": observed / n, "chance": sum(permuted) / len(permuted) / n}
""",
        "all orders at once": """
def control(clusters, senses, orders):
    in_cluster = one_hot(clusters).double()
    def right(labels):
        return (in_cluster.T @ one_hot(labels, int(senses.max()) + 1).double()).amax(-1).sum(-1)
    found, permuted = right(senses), right(senses[orders])
    p = ((permuted >= found).sum() + 1) / (len(orders) + 1)
    return {"purity": found / len(senses), "chance": permuted.mean() / len(senses), "p": p}
""",
    },
    hints=(
        "If the clusters had nothing to do with the senses, how pure would they be? Which experiment measures this purity?",
        "clusters, senses: (n); orders: (R, n), each row a permutation of 0 … n − 1. Output: three numbers.",
        "right(labels): for each cluster the count of its most frequent label, summed over clusters\nobserved = right(senses); permuted = right(senses[order]) for each order\npurity = observed / n; chance = mean of permuted / n\np = (1 + how many permuted are at least observed) / (1 + R)",
        "A near miss: without the added 1, p may be 0 after a hundred permutations, but a hundred permutations cannot show that p is below 1/101.",
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ the interval


def interval_cases(draw: Draw) -> Iterator[Case]:
    """Passages with one to many values whose means differ; each resample repeats some passages."""
    for P, R in ((6, 40), (9, 80), (5, 60)):
        sizes = draw.rng.permutation(np.arange(1, P + 1))
        passage = draw.rng.permutation(np.repeat(np.arange(P), sizes))
        means = sizes / P + draw.normal(P, scale=0.3)
        values = (means[passage] + draw.normal(len(passage), scale=0.2)).astype(np.float32)
        yield {"values": values, "passage": passage, "draws": draw.integers(0, P, R, P)}


MEANS = "totals[draws].sum(dim=1) / sizes[draws].sum(dim=1)"
BOUNDS = "means.quantile(0.025), means.quantile(0.975)"

interval = Exercise(
    cases=interval_cases,
    rule=Rule("close", 3e-5, axes={"": "ends"}),
    mistakes=(
        Mistake("mean of the passages' means", "You average the means of the passages, so a passage with one occurrence counts as much as a passage with ten. Divide the sum of all values by their number.", MEANS, "(totals / sizes)[draws].mean(dim=1)"),
        Mistake("divided by the number of values in the text", "You divide by the number of values in the whole text. The number of values differs between resamples, because passages have unequal numbers of values.", "sizes[draws].sum(dim=1)", "len(values)"),
        Mistake("divided by the number of passages", "You divide by the number of passages drawn. Divide by the number of values in these passages.", "sizes[draws].sum(dim=1)", "draws.shape[1]"),
        Mistake("occurrences resampled", "You use the numbers in `draws` as indices of occurrences. They are indices of passages: draw all values of a passage together.", MEANS, "values[draws].mean(dim=1)"),
        Mistake("passages drawn twice counted once", "Your resamples contain each passage only once. A passage that is drawn twice has to count twice.", MEANS, "torch.stack([totals[row.unique()].sum() / sizes[row.unique()].sum() for row in draws])"),
        Mistake("90 % interval", "Your interval contains the middle 90 % of the means. For 95 %, its ends are the 2.5th and the 97.5th percentile.", BOUNDS, "means.quantile(0.05), means.quantile(0.95)"),
        Mistake("smallest and largest mean", "You return the smallest and the largest mean. Return the 2.5th and the 97.5th percentile.", BOUNDS, "means.min(), means.max()"),
        Mistake("ends swapped", "Your upper end comes first. Return the lower end first.", BOUNDS, "means.quantile(0.975), means.quantile(0.025)"),
        Mistake("normal approximation", "You return the mean ± 1.96 standard deviations. Return the percentiles of the resampled means.", BOUNDS, "means.mean() - 1.96 * means.std(), means.mean() + 1.96 * means.std()"),
        Mistake("normal approximation around the mean of all values", "You return the mean of all values ± 1.96 standard deviations of the resampled means. Return the percentiles of the resampled means.", BOUNDS, "values.mean() - 1.96 * means.std(), values.mean() + 1.96 * means.std()"),
        Mistake("percentiles without interpolation", "You use individual resampled means as the ends, without interpolation. The docstring asks for percentiles with linear interpolation.", f"torch.stack([{BOUNDS}])", "means.sort().values[[int(0.025 * len(means)), int(0.975 * len(means))]]", also=("""
def interval(values, passage, draws):
    totals = torch.zeros(int(passage.max()) + 1).index_add(0, passage, values)
    means = totals[draws].sum(dim=1) / torch.bincount(passage)[draws].sum(dim=1)
    return torch.quantile(means, torch.tensor([0.025, 0.975]), interpolation="nearest")
""", """
def interval(values, passage, draws):
    totals = torch.zeros(int(passage.max()) + 1).index_add(0, passage, values)
    means = totals[draws].sum(dim=1) / torch.bincount(passage)[draws].sum(dim=1)
    ordered, cut = means.sort().values, int(0.025 * len(means))
    return torch.stack([ordered[cut], ordered[-cut - 1]])
""")),
        Mistake("values assumed to be in the order of their passages", "You assume that the values of a passage are next to one another. `passage` says to which passage each value belongs: values[passage == i].", code="""
def interval(values, passage, draws):
    sizes = torch.bincount(passage)
    ends = sizes.cumsum(0)
    rows = [torch.cat([values[ends[i] - sizes[i] : ends[i]] for i in row]) for row in draws.tolist()]
    means = torch.stack([row.mean() for row in rows])
    return torch.stack([means.quantile(0.025), means.quantile(0.975)])
"""),
        Mistake("the mean and half of the width", "You return the mean and half of the interval's width. Return its two ends, the lower one first.", BOUNDS, "means.mean(), (means.quantile(0.975) - means.quantile(0.025)) / 2"),
        Mistake("mirrored percentiles", "You mirror the percentiles at the mean of all values (the basic bootstrap). The docstring asks for the percentiles themselves.", BOUNDS, "2 * values.mean() - means.quantile(0.975), 2 * values.mean() - means.quantile(0.025)"),
        Mistake("percentiles of the values", "Your ends are percentiles of the values. The ends of an interval for the mean are percentiles of the resamples' means.", f"torch.stack([{BOUNDS}])", "torch.stack([values.quantile(0.025), values.quantile(0.975)])"),
        Mistake("sums instead of means", "You use the sums of the resamples. Divide each sum by its number of values.", " / sizes[draws].sum(dim=1)", ""),
    ),
    alternatives={
        "values of each resample": """
def interval(values, passage, draws):
    means = [torch.cat([values[passage == one] for one in row]).mean() for row in draws]
    return torch.stack(means).quantile(torch.tensor([0.025, 0.975]))
""",
        "numpy": """
def interval(values, passage, draws):
    drawn = one_hot(draws, int(passage.max()) + 1).sum(dim=1).double()
    weights = drawn[:, passage]
    means = (weights @ values.double()) / weights.sum(dim=1)
    return np.percentile(means.numpy(), [2.5, 97.5])
""",
    },
    hints=(
        "Ten occurrences come from one passage on a single topic. Are they ten independent observations?",
        "values, passage: (n); draws: (R, P). Sums and numbers of values for each passage: (P). Means: (R). Output: (2).",
        "sum of the values and number of values of each passage\nfor each row of draws: the sum of the drawn sums, divided by the sum of the drawn numbers\nthe 0.025 and 0.975 quantiles of these means",
        "A near miss: resampling single occurrences makes the interval too narrow, because the occurrences of one passage resemble one another.",
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ three tests


def implementation_cases(draw: Draw) -> Iterator[Case]:
    """In each case, one fault of each kind, drawn from several, and two right implementations of each function.

    The student's code gets them under numbers: their names, which say what is wrong with them, are for the verdict.
    """
    cases = []
    for extra in (0, 1, 2):
        chosen = {}
        for about, faults in FAULTS.items():
            function = about.partition(":")[0]
            many = 1 + (extra > 0 and len(faults) > extra)
            for what in draw.rng.permutation(list(faults))[:many]:
                chosen[f"{function}: {what}"] = faults[what]
        for about, right in RIGHT.items():
            function = about.partition(":")[0]
            for what, source in right.items():
                chosen[f"{function}: right, {what}"] = source
        cases.append(chosen)
    for chosen in cases:
        numbers = draw.rng.permutation(len(chosen)).tolist()
        numbered = {f"{name.partition(':')[0]} {number}": name for name, number in zip(chosen, numbers, strict=True)}
        yield {f"{CODE}{number}": packed(chosen[name]) for number, name in numbered.items()} | {"_names": numbered}


three_tests = Exercise(
    cases=implementation_cases,
    rule=Rule("equal", measure="coursekit.project.codes:named"),
    mistakes=(
        Mistake("no copies in the test of split", "Your passages are all different, so an implementation that ignores copies gives the correct answer.", edits={'"the sea the SEA", "IT RAINED"': '"Early.", "Late."', "0, 0, 0, 0, -1, -1, 1": "0, 0, 0, 0, 1, 1, 1", "0, 0, 0, 1, -1, -1, 1": "0, 0, 0, 1, 1, 1, 1"}),
        Mistake("exact copies only", "The copies in your passages are identical character by character, so an implementation that does not ignore letter case gives the correct answer.", '"the sea the SEA", "IT RAINED"', '"The sea, the sea!", "It rained."'),
        Mistake("one value in every passage", "Each of your passages contains one value. The mean of the passages' means and the mean of all values are then the same.", edits={"[0, 0, 0, 1, 2, 2]": "[0, 1, 2]", "[0.0, 0, 0, 1, 2, 2]": "[0.0, 1, 2]", "[1 / 7, 6 / 4, 2, 5 / 6]": "[1 / 3, 4 / 3, 2, 1]"}),
        Mistake("the test of split checks nothing", "Your test of split never fails: it needs an `assert` that compares the result with what you worked out by hand.", "    assert found ==", "    found =="),
        Mistake("the test of the unigram loss checks nothing", "Your test of the unigram loss never fails: it needs an `assert` that compares the result with what you worked out by hand.", "    assert abs(loss", "    abs(loss"),
        Mistake("the test of the interval checks nothing", "Your test of the interval never fails: it needs an `assert` that compares the result with what you worked out by hand.", "    assert torch.allclose(", "    torch.allclose("),
        Mistake("float32 required", "Your test of the interval rejects a correct implementation that computes in float64. Compare the values, not the types.", "torch.allclose(found.float(), expected, atol=0.001)", "found.dtype == torch.float32 and torch.allclose(found, expected, atol=0.001)"),
        Mistake("correct implementations of split rejected", "Your test of split rejects correct implementations. Copies get −1; work out the other numbers by hand again, and accept a list as well as a tensor.", edits={"0, 0, 0, 0, -1, -1, 1": "0, 0, 0, 0, 1, 1, 1", "0, 0, 0, 1, -1, -1, 1": "0, 0, 0, 1, 1, 1, 1"}),
        Mistake("correct implementations of the unigram loss rejected", "Your test of the unigram loss rejects correct implementations. Does the test expect nats per byte, not per token? Does it allow for rounding? Compare with a tolerance.", "math.log(2) / 15", "math.log(2) / 6"),
        Mistake("correct implementations of the interval rejected", "Your test of the interval rejects correct implementations. Does the test expect the mean of all values, not the mean of the passages' means? Does it compare percentiles with a tolerance?", "[1 / 7, 6 / 4, 2, 5 / 6]", "[1 / 3, 4 / 3, 2, 1]"),
    ),
    alternatives={
        "other numbers": """
def test_split(split):
    passages = [f"Number {i} of many." for i in range(8)] + ["NUMBER 0 OF MANY", "number 5, of many!", "Number 5 of many.", "The end."]
    parts = torch.as_tensor(split(passages, torch.tensor([50, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), 3 / 61))
    assert parts.tolist() == [0] * 9 + [-1, -1, 1]
    parts = split(passages, torch.tensor([50, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), 4 / 61 - 0.001)
    assert list(parts) == [0] * 8 + [-1, -1, -1, 1]

def test_unigram(unigram_loss):
    found = unigram_loss(torch.tensor([1, 1, 1, 1, 1, 2, 2]), torch.tensor([1, 0, 1, 2]), torch.tensor([5, 2, 1]))
    wanted = -(2 * math.log(6 / 10) + math.log(1 / 10) + math.log(3 / 10)) / (5 + 2 + 2 + 1)
    if not math.isclose(float(found), wanted, rel_tol=1e-4):
        raise AssertionError("wrong loss")

def test_interval(interval):
    values, passage = torch.tensor([1.0, 5, 5, 5, 9, 9]), torch.tensor([0, 1, 1, 1, 2, 2])
    draws = torch.tensor([[0, 0, 0], [0, 0, 1], [1, 1, 2], [2, 2, 2], [0, 2, 2]])
    means = np.array([1, 17 / 5, 48 / 8, 9, 37 / 5])
    low, high = interval(values, passage, draws)
    assert abs(low - np.quantile(means, 0.025)) < 1e-3 and abs(high - np.quantile(means, 0.975)) < 1e-3
""",
        "an own implementation as the truth": r"""
def test_split(split):
    passages = ["Once upon a time.", "b", "c d", "c, d", "ONCE upon a time", "C D!", "e", "e", "E F"]
    sizes = torch.tensor([30, 10, 9, 8, 7, 6, 5, 4, 3])
    for fraction in (0.05, 0.1, 0.3):
        first, training = len(passages), []
        while sum(sizes[first:].tolist()) < fraction * 82:
            first -= 1
        training = [re.sub(r"\W", "", one).lower() for one in passages[:first]]
        wanted = [0] * first
        for one in passages[first:]:
            wanted.append(-1 if re.sub(r"\W", "", one).lower() in training else 1)
        found = [int(part) for part in split(passages, sizes, fraction)]
        assert found == wanted, found

def test_unigram(unigram_loss):
    train, held_out, sizes = torch.tensor([3, 3, 3, 1]), torch.tensor([0, 3, 3, 2, 2]), torch.tensor([2, 1, 7, 3])
    p = torch.tensor([1, 2, 1, 4]) / 8
    np.testing.assert_allclose(float(unigram_loss(train, held_out, sizes)), float(-p[held_out].log().sum() / 22), rtol=1e-4)

def test_interval(interval):
    random = torch.Generator().manual_seed(1)
    values, passage = torch.rand(20, generator=random), torch.tensor([0] * 9 + [1] * 8 + [2] * 2 + [3])
    draws = torch.randint(4, (50, 4), generator=random)
    means = torch.stack([torch.cat([values[passage == one] for one in row]).mean() for row in draws])
    found = [float(end) for end in interval(values, passage, draws)]
    assert found[0] < found[1]
    np.testing.assert_allclose(found, np.quantile(means.numpy(), [0.025, 0.975]), atol=1e-4)
""",
    },
    hints=(
        "Which sentence of a docstring could an implementation ignore without your test noticing?",
        "Each test takes a function, calls it on inputs of your own, and returns nothing. It raises an AssertionError if the result differs from the one that you worked out by hand.",
        "passages with copies in different letter case, and sizes for which counting passages gives a wrong split\ntokens that occur in only one of the texts, with unequal numbers of bytes\npassages with unequal numbers of values, one of them drawn twice\nassert that the result is close to the one that you worked out by hand",
        "A near miss: a test that checks only the shape of the result detects almost no planted fault.",
    ),
    survivors=dict.fromkeys(("<= 0.001", "< 0.002", "atol=0.002", "found.float(), expected)`"), "another tolerance for rounding"),
)  # fmt: skip
