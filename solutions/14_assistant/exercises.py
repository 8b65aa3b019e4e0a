"""14 From base model to assistant: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.judging import Rule
from coursekit.legends import OF_WEIGHTS

# ------------------------------------------------------------------------------------------ labels


def ids_of(draw: Draw, many: int) -> np.ndarray:
    return draw.integers(7, 1000, many).astype(np.int64)


def turns_case(draw: Draw, *turns: tuple[str, int]) -> Case:
    lengths = np.array([length for _, length in turns], dtype=np.int64)
    return {"roles": [role for role, _ in turns], "lengths": lengths, "ids": ids_of(draw, int(lengths.sum()))}


def labels_cases(draw: Draw) -> Iterator[Case]:
    """One answer; two answers; a system turn; an assistant that speaks first; an answer of one token; a user at the end."""
    yield turns_case(draw, ("user", 5), ("assistant", 3))
    yield turns_case(draw, ("system", 2), ("user", 4), ("assistant", 6), ("user", 3), ("assistant", 1))
    yield turns_case(draw, ("assistant", 2), ("user", 7), ("assistant", 4), ("user", 2))


LABELLED = 'tokens if role == "assistant" else [-100] * len(tokens)'

sft_labels = Exercise(
    cases=labels_cases,
    rule=Rule("equal", axes={"0": "tokens", "1": "tokens"}),
    mistakes=(
        Mistake("labels everywhere", "You also give labels to the user's tokens. The model should learn to answer questions, not to ask them.", LABELLED, "tokens"),
        Mistake(
            "only the last answer labelled",
            "Your labels are correct if there is only one answer. In a longer conversation, every answer of the assistant should count, not just the last one.",
            code="""
def sft_labels(turns):
    last = max(i for i, (role, _) in enumerate(turns) if role == "assistant")
    ids, labels = [], []
    for i, (role, tokens) in enumerate(turns):
        ids += tokens
        labels += tokens if i == last else [-100] * len(tokens)
    return ids, labels
""",
        ),
        Mistake(
            "labels shifted",
            "Your labels are one position too early. The loss shifts them itself, so they would be shifted twice.",
            "return ids, labels", "return ids, labels[1:] + [-100]",
        ),
        Mistake(
            "end token without a label",
            "The last token of each answer has no label. This token ends the answer: a model that never learns it never stops.",
            LABELLED, 'tokens[:-1] + [-100] if role == "assistant" else [-100] * len(tokens)',
        ),
        Mistake(
            "first token of the answer without a label",
            "The first token of each answer has no label. It is predicted from the question, so it should count.",
            LABELLED, '[-100] + tokens[1:] if role == "assistant" else [-100] * len(tokens)',
        ),
        Mistake(
            "both lists one position short",
            "You drop the last id and the first label. The loss makes this shift itself, so both lists should keep every "
            "position.",
            "return ids, labels", "return ids[:-1], labels[1:]",
        ),
        Mistake(
            "one −100 per turn",
            "For a turn that does not count, you add a single −100. Add one −100 per token, so that labels and ids stay aligned.",
            "[-100] * len(tokens)", "[-100]",
        ),
        Mistake("user's turns labelled", "You label the user's tokens. Label the assistant's tokens instead.", 'role == "assistant"', 'role == "user"'),
        Mistake(
            "system turn labelled",
            "Your labels are correct if there is no system turn. A system turn is not an answer and should have no labels.",
            'role == "assistant"', 'role != "user"',
        ),
        Mistake("0 instead of −100", "For tokens that should not count, your label is 0, which is itself a token. The loss ignores "
                                           "−100.", "[-100] * len", "[0] * len"),
        Mistake("labels of the answers only", "Your labels are shorter than the ids. Every position should have a label, −100 where the "
                                     "token does not count.", LABELLED, 'tokens if role == "assistant" else []'),
        Mistake(
            "everything from the first answer on labelled",
            "Your labels are correct if no question follows an answer. You label everything from the first answer on, but later "
            "questions are not answers.",
            code="""
def sft_labels(turns):
    ids, labels, begun = [], [], False
    for role, tokens in turns:
        begun = begun or role == "assistant"
        ids += tokens
        labels += tokens if begun else [-100] * len(tokens)
    return ids, labels
""",
        ),
    ),
    alternatives={
        "comprehensions and tensors": """
def sft_labels(turns):
    ids = torch.tensor([token for _, tokens in turns for token in tokens])
    answers = torch.tensor([role == "assistant" for role, tokens in turns for _ in tokens])
    return ids, torch.where(answers, ids, -100)
""",
        "copied, then covered": """
def sft_labels(turns):
    ids = sum((list(tokens) for _, tokens in turns), [])
    labels, start = list(ids), 0
    for role, tokens in turns:
        if role in ("user", "system"):
            labels[start : start + len(tokens)] = [-100 for _ in tokens]
        start += len(tokens)
    return torch.tensor(ids), torch.tensor(labels)
""",
    },
    hints=(
        "The user writes 11 12 2, the assistant 21 2. What are the ids, and which of them should the model learn to generate?",
        "turns: a list of (role, ids). Output: two lists of the same length.",
        "for each turn:\n    ids: append its ids\n    labels: append its ids if the role is assistant, otherwise −100 for each",
        "A near miss: returning labels[1:]. As in most libraries, the loss shifts the labels; each label should have the position of its id.",
    ),
)

# ------------------------------------------------------------------------------------------ packing


def packing_case(draw: Draw, lengths: tuple[int, ...], length: int) -> Case:
    sizes = np.array(lengths, dtype=np.int64)
    ids = ids_of(draw, int(sizes.sum()))
    answers = draw.rng.random(len(ids)) < 0.6
    answers[np.cumsum(sizes) - sizes] = True  # first tokens have labels, which must not count
    return {"lengths": sizes, "ids": ids, "labels": np.where(answers, ids, -100), "length": length}


def packing_cases(draw: Draw) -> Iterator[Case]:
    """A row filled exactly; one that a later, shorter conversation would fill; one conversation; one as long as a row."""
    yield packing_case(draw, (4, 3, 5, 2, 6), 9)
    yield packing_case(draw, (5, 4, 3, 2, 7, 2, 2), 7)
    yield packing_case(draw, (3,), 8)
    yield packing_case(draw, (2, 6, 2, 2, 2, 3), 6)


TABLES = "parts = ids, [-100, *labels[1:]], range(n), [segment] * n"

pack = Exercise(
    cases=packing_cases,
    rule=Rule("equal", axes=dict.fromkeys(("ids", "labels", "positions", "segments"), "rows length")),
    mistakes=(
        Mistake(
            "label across the boundary",
            "The first token of each conversation keeps its label, so it would be predicted from the end of another "
            "conversation.",
            "[-100, *labels[1:]]", "labels",
        ),
        Mistake("positions continued across conversations", "Your positions run through the whole row. Each conversation should begin at 0, as if it were "
                                   "alone.", "range(n), [seg", "range(used, used + n), [seg"),
        Mistake("segments counted from 0", "Your first segment is 0, which marks empty positions. Number the segments from 1.", "[segment] * n", "[segment - 1] * n"),
        Mistake("segments not restarted in each row", "Your segments are correct in the first row. In every later row, the segments should restart "
                                             "at 1.", edits={
            "rows, used = [], length": "rows, used, segment = [], length, 0", "used, segment = 0, 0": "used = 0",
        }),
        Mistake("one segment for the whole row", "All conversations of a row have segment 1, so they could attend to each other. Number them within the row.", "[segment] * n", "[1] * n"),
        Mistake("empty positions labelled 0", "Your empty positions have the label 0, which is itself a token. Use −100.", "[-100] * length,", "[0] * length,"),
        Mistake(
            "one conversation per row",
            "You put each conversation into a row of its own. The next conversation should go into the same row if it fits.",
            "if used + n > length:", "if True:",
        ),
        Mistake(
            "new row despite an exact fit",
            "You begin a new row for a conversation that would exactly fill the current row. It should stay in this row.",
            "used + n > length", "used + n >= length or not rows",
        ),
        Mistake(
            "earlier rows filled up",
            "You put a conversation into an earlier row that still has room. Conversations should stay in order, so only the last row "
            "may be filled.",
            code="""
def pack(conversations, length):
    rows = []
    for ids, labels in conversations:
        for row in rows:
            if sum(len(i) for i, _ in row) + len(ids) <= length:
                row.append((ids, labels))
                break
        else:
            rows.append([(ids, labels)])
    tables = {name: torch.full((len(rows), length), -100 if name == "labels" else 0) for name in ("ids", "labels", "positions", "segments")}
    for r, row in enumerate(rows):
        used = 0
        for s, (ids, labels) in enumerate(row, start=1):
            n = len(ids)
            for name, part in zip(tables, (ids, [-100, *labels[1:]], list(range(n)), [s] * n)):
                tables[name][r, used : used + n] = torch.tensor(part)
            used += n
    return tables
""",
        ),
        Mistake(
            "conversations split across rows",
            "You split conversations at the end of a row and continue in the next. A conversation that does not fit should begin the next "
            "row, undivided.",
            code="""
def pack(conversations, length):
    ids, labels, positions, segments = [], [], [], []
    for number, (i, l) in enumerate(conversations, start=1):
        ids += i
        labels += [-100, *l[1:]]
        positions += range(len(i))
        segments += [number] * len(i)
    rows = -(-len(ids) // length)
    fill = lambda row, with_: torch.tensor(row + [with_] * (rows * length - len(row))).view(rows, length)
    return {"ids": fill(ids, 0), "labels": fill(labels, -100), "positions": fill(positions, 0), "segments": fill(segments, 0)}
""",
        ),
        Mistake("labels all −100", "All your labels are −100, so nothing is learned. Use the labels of each conversation, except at its first token.", "[-100, *labels[1:]]", "[-100] * n"),
        Mistake("ids used as labels", "Your labels are the ids, including those of the questions. Use the labels of each "
                                 "conversation, except at its first token.", "[-100, *labels[1:]]", "[-100, *ids[1:]]"),
        Mistake(
            "last label masked instead of the first",
            "You mask the last label of each conversation, which marks its end. Mask the first instead, because no token precedes it.",
            "[-100, *labels[1:]]", "[*labels[:-1], -100]",
        ),
    ),
    alternatives={
        "tables filled row by row": """
def pack(conversations, length):
    groups = [[]]
    for conversation in conversations:
        if sum(len(ids) for ids, _ in groups[-1]) + len(conversation[0]) > length:
            groups.append([])
        groups[-1].append(conversation)
    out = {name: torch.full((len(groups), length), fill) for name, fill in (("ids", 0), ("labels", -100), ("positions", 0), ("segments", 0))}
    for r, group in enumerate(groups):
        start = 0
        for s, (ids, labels) in enumerate(group, 1):
            end = start + len(ids)
            out["ids"][r, start:end] = torch.tensor(ids)
            out["labels"][r, start + 1 : end] = torch.tensor(labels[1:], dtype=torch.long)
            out["positions"][r, start:end] = torch.arange(len(ids))
            out["segments"][r, start:end] = s
            start = end
    return out
""",
        "lists padded at the end": """
def pack(conversations, length):
    rows = []
    for ids, labels in conversations:
        if not rows or len(rows[-1]["ids"]) + len(ids) > length:
            rows.append({"ids": [], "labels": [], "positions": [], "segments": []})
        row = rows[-1]
        number = max(row["segments"], default=0) + 1
        row["ids"] = row["ids"] + list(ids)
        row["labels"] = row["labels"] + [-100] + list(labels)[1:]
        row["positions"] = row["positions"] + [i for i in range(len(ids))]
        row["segments"] = row["segments"] + [number for _ in ids]
    empty = {"ids": 0, "labels": -100, "positions": 0, "segments": 0}
    return {name: torch.tensor([row[name] + [fill] * (length - len(row[name])) for row in rows]) for name, fill in empty.items()}
""",
    },
    hints=(
        "Pack conversations of 4, 3 and 5 tokens into rows of 9. From which token would the first token of the second "
        "conversation be predicted?",
        "conversations: a list of (ids, labels). Output: four tables (rows, length).",
        "for each conversation:\n    does it fit into what is left of the last row? if not: a new, empty row\n    ids and "
        "labels, the first label −100\n    positions 0 … n − 1, segment: that of the previous conversation in this row, plus one",
        "A near miss: with `>=`, a conversation that would exactly fill the row is moved to a new one.",
    ),
)

# ------------------------------------------------------------------------------------------ LoRA


def lora_case(draw: Draw, inputs: int, outputs: int, rank: int, alpha: float, bias: bool, *batch: int) -> Case:
    shapes = {"base.weight": (outputs, inputs), "A": (rank, inputs), "B": (outputs, rank)}
    if bias:
        shapes["base.bias"] = (outputs,)
    return {
        "config": {"inputs": inputs, "outputs": outputs, "rank": rank, "alpha": alpha, "bias": bias},
        "x": draw.normal(*batch, inputs),
        **{f"weights.{name}": draw.normal(*shape, scale=0.6) for name, shape in shapes.items()},
    }


def lora_cases(draw: Draw) -> Iterator[Case]:
    """More inputs than outputs and fewer; alpha above, below and equal to the rank; with bias and without; one batch axis and several."""
    yield lora_case(draw, 7, 4, 2, 6.0, True, 3, 5)
    yield lora_case(draw, 3, 8, 3, 1.5, False, 4)
    yield lora_case(draw, 6, 5, 1, 4.0, True, 2, 2, 3)
    yield lora_case(draw, 5, 9, 4, 4.0, True, 6)


CHANGED = "self.scale * (x @ self.A.T @ self.B.T)"
FROZEN = "self.base, self.scale = base.requires_grad_(False), alpha / rank"
ZEROS = "torch.nn.Parameter(torch.zeros(base.out_features, rank))"
DRAWN = "torch.randn(rank, base.in_features) / base.in_features**0.5"

lora_linear = Exercise(
    cases=lora_cases,
    rule=Rule(tolerance=3e-5, axes={"registered": "weights", "eval": "… out"}, legend=OF_WEIGHTS),
    mistakes=(
        Mistake(
            "base not frozen",
            "Your output is correct, but the base receives a gradient, because it is not frozen. Its parameters must not require a "
            "gradient (`requires_grad_(False)`).",
            "base.requires_grad_(False)", "base",
        ),
        Mistake(
            "gradient through the base cut off",
            "Your output is correct, but no gradient flows back through the base: no_grad, detach or .data cuts it off, so "
            "earlier layers would hardly learn. Freezing means that the base's own parameters require no gradient; x passes "
            "through as usual.",
            f"return self.base(x) + {CHANGED}", f"with torch.no_grad():\n            y = self.base(x)\n        return y + {CHANGED}",
        ),
        Mistake("update not scaled", "Your output is correct if alpha equals the rank. The update B A x should be scaled by alpha / rank.", CHANGED, "(x @ self.A.T @ self.B.T)"),
        Mistake("update scaled by alpha", "Your output is correct for rank 1. The update B A x should be scaled by alpha / rank, not by alpha.", "(False), alpha / rank", "(False), alpha"),
        Mistake("scale inverted", "Your output is correct if alpha equals the rank. Otherwise, your scale is inverted: use alpha / rank, not rank / alpha.", "(False), alpha / rank", "(False), rank / alpha"),
        Mistake(
            "scale alpha / √rank",
            "Your output is correct for rank 1. You divide by the square root of the rank, as rsLoRA does (Kalajdzievski 2023). Here, "
            "the scale should be alpha / rank.",
            "(False), alpha / rank", "(False), alpha / rank**0.5",
        ),
        Mistake(
            "B initialised with random numbers",
            "Before any training, the output of your layer differs from that of the base. Initialise B with zeros.",
            ZEROS, "torch.nn.Parameter(torch.randn(base.out_features, rank))",
        ),
        Mistake(
            "A initialised with zeros",
            "Your A starts with zeros. Initialise it with small random numbers, and B with zeros: if both are zero, so are "
            "their gradients (each is a product with the other matrix), and neither matrix ever changes.",
            DRAWN, "torch.zeros(rank, base.in_features)",
        ),
        Mistake("output of the base missing", "Your output is only the low-rank update. Add it to the output of the base.", f"self.base(x) + {CHANGED}", CHANGED),
        Mistake("bias of the base missing", "Your output is correct if the base has no bias. Otherwise, its bias is missing from your output.", "self.base(x) +", "x @ self.base.weight.T +"),
        Mistake(
            "bias of the base added again",
            "Your output is correct if the base has no bias. Otherwise, it contains the bias more than once.",
            CHANGED, f"{CHANGED} + (0 if self.base.bias is None else self.scale * self.base.bias)",
        ),
        Mistake(
            "tensors instead of parameters",
            "A or B is not a parameter. A plain tensor is not saved, and no optimiser finds it.",
            edits={"self.A = torch.nn.Parameter(": "self.A = (", "self.B = torch.nn.Parameter(": "self.B = ("},
        ),
        Mistake(
            "additional parameters",
            "Your module has parameters that the docstring does not name. Only A and B "
            "are new.",
            ZEROS, f"{ZEROS}\n        self.extra = torch.nn.Parameter(torch.zeros(base.out_features))",
        ),
        Mistake(
            "A frozen",
            "Your A has no gradient. Both A and B should be trained.",
            DRAWN, f"{DRAWN}, requires_grad=False",
        ),
        Mistake(
            "A or B transposed",
            "A or B does not have the shape in the docstring: A is (rank, in), B is (out, rank).",
            edits={
                DRAWN: "torch.randn(base.in_features, rank) / base.in_features**0.5",
                ZEROS: "torch.nn.Parameter(torch.zeros(rank, base.out_features))",
                "self.A.T @ self.B.T": "self.A @ self.B",
            },
        ),
    ),
    alternatives={
        "F.linear, A and B by kaiming": """
class LoRALinear(torch.nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        for parameter in self.base.parameters():
            parameter.requires_grad = False
        self.scale = alpha / rank
        self.A = torch.nn.Parameter(torch.empty(rank, base.in_features))
        self.B = torch.nn.Parameter(torch.zeros(base.out_features, rank))
        torch.nn.init.kaiming_uniform_(self.A, a=5**0.5)

    def forward(self, x):
        linear = torch.nn.functional.linear
        return self.base(x) + linear(linear(x, self.A), self.B) * self.scale
""",
        "one matrix": """
class LoRALinear(torch.nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        base.weight.requires_grad = False
        if base.bias is not None:
            base.bias.requires_grad = False
        out, inputs = base.weight.shape
        self.A = torch.nn.Parameter(0.01 * torch.randn(rank, inputs))
        self.B = torch.nn.Parameter(torch.zeros(out, rank))
        self.base, self.scale = base, alpha / rank

    def forward(self, x):
        change = self.scale * torch.einsum("or,ri->oi", self.B, self.A)
        return self.base(x) + torch.einsum("...i,oi->...o", x, change)
""",
    },
    survivors={
        f"A = torch.nn.Parameter(torch.randn(rank, base.in_features) {change}": "any small random numbers will do"
        for change in (
            "* base.in_features ** 0.5", "/ (base.in_features * 0.5)", "/ base.in_features ** 1.0", "/ base.in_features ** (-0.5)",
        )
    },
    hints=(
        "A layer has 64 × 64 weights. How many parameters do A and B have for rank 2? What is B A x while B is zero?",
        "x: (…, in). A: (rank, in), so x Aᵀ: (…, rank). B: (out, rank), so x Aᵀ Bᵀ: (…, out).",
        "init: keep the base, frozen; scale = alpha / rank; A random, B zeros, both nn.Parameter\nforward: base(x) + scale · (x "
        "through A, then through B)",
        "A near miss: with zeros for both A and B, both gradients are 0, so training changes nothing.",
    ),
)

# ------------------------------------------------------------------------------------------ merging


MERGED = "base.weight + layer.scale * (layer.B @ layer.A)"
COPIED = f"merged.weight.copy_({MERGED})"

merge = Exercise(
    cases=lora_cases,
    rule=Rule(tolerance=3e-5, axes={"weight": "out in", "bias": "out", "merged again": "out in", "base afterwards": "out in"}),
    uses=("assistant.lora_linear",),
    mistakes=(
        Mistake("weight of the base only", "Your weight is that of the base alone, so what A and B learned is lost.", MERGED, "base.weight"),
        Mistake("update not scaled", "Your layer is correct if alpha equals the rank. Scale the update B A, as in forward.", "layer.scale * (layer.B @ layer.A)", "layer.B @ layer.A"),
        Mistake("update subtracted", "You subtract the update B A, which would remove it from a merged layer. Add it.", "base.weight + layer", "base.weight - layer"),
        Mistake("weight of the update only", "Your weight is only the low-rank update. Add it to the base's weight.", MERGED, "layer.scale * (layer.B @ layer.A)"),
        Mistake(
            "merged into the base",
            "You add the low-rank update to the base's own weight. A second merge then adds the update again, and so does the forward "
            "of `layer`.",
            code="""
@torch.no_grad()
def merge(layer):
    layer.base.weight += layer.scale * (layer.B @ layer.A)
    return layer.base
""",
            also=(
                """
@torch.no_grad()
def merge(layer):
    base = layer.base
    base.weight.add_(layer.scale * (layer.B @ layer.A))
    merged = torch.nn.Linear(base.in_features, base.out_features, bias=base.bias is not None)
    merged.load_state_dict(base.state_dict())
    return merged
""",
            ),
        ),
        Mistake(
            "bias missing",
            "Your layer is correct if the base has no bias. Merging does not change a bias, but you have to copy it.",
            code="""
@torch.no_grad()
def merge(layer):
    base = layer.base
    merged = torch.nn.Linear(base.in_features, base.out_features, bias=False)
    merged.weight.copy_(base.weight + layer.scale * (layer.B @ layer.A))
    return merged
""",
        ),
        Mistake(
            "bias of zeros",
            "Your weight is correct, but your bias is zero. It should be the base's bias.",
            "merged.bias.copy_(base.bias)", "merged.bias.zero_()",
        ),
        Mistake(
            "bias added to a base without one",
            "Your layer has a bias although the base has none, so your layer has more parameters than the base.",
            code="""
@torch.no_grad()
def merge(layer):
    base = layer.base
    merged = torch.nn.Linear(base.in_features, base.out_features)
    merged.weight.copy_(base.weight + layer.scale * (layer.B @ layer.A))
    merged.bias.zero_() if base.bias is None else merged.bias.copy_(base.bias)
    return merged
""",
        ),
        Mistake("update added twice", "Your weight contains the update B A twice. Add it only once.", "layer.scale * (layer", "2 * layer.scale * (layer"),
        Mistake("update scaled twice", "You scale the update B A twice. Scale it only once.", "layer.scale * (layer", "layer.scale**2 * (layer"),
    ),
    alternatives={
        "asked with unit vectors": """
@torch.no_grad()
def merge(layer):
    base = layer.base
    zero = layer(torch.zeros(1, base.in_features))[0]
    merged = torch.nn.Linear(base.in_features, base.out_features, bias=base.bias is not None)
    merged.weight.copy_((layer(torch.eye(base.in_features)) - zero).T)
    if base.bias is not None:
        merged.bias.copy_(zero)
    return merged
""",
        "a copy of the base": """
def merge(layer):
    from copy import deepcopy

    merged = deepcopy(layer.base)
    merged.weight.data = merged.weight.data + (layer.B.data @ layer.A.data) * layer.scale
    return merged
""",
    },
    hints=(
        "Consider W x + s B (A x). Which single matrix gives the same result for every x?",
        "B: (out, rank), A: (rank, in), so B A: (out, in), like W. The bias: (out).",
        "a new nn.Linear of the base's sizes, with a bias only if the base has one\nits weight: the base's weight + scale · B "
        "A\nits bias: the base's bias",
        "A near miss: base.weight += … changes the layer itself, whose forward then adds the update again.",
    ),
)

# ------------------------------------------------------------------------------------------ log-probability of an answer


def answer_labels(draw: Draw, B: int, T: int, V: int, first: bool = True) -> np.ndarray:
    """Labels with a question before and padding after the answer; the first token has a label, which must not count."""
    labels = draw.integers(0, V, B, T).astype(np.int64)
    for row in labels:
        start = int(draw.rng.integers(1, T - 2))
        end = int(draw.rng.integers(start + 2, T + 1))
        row[1:start] = -100
        row[end:] = -100
    if not first:
        labels[:, 0] = -100
    return labels


def log_p_cases(draw: Draw) -> Iterator[Case]:
    """Answers of several lengths; a label at the first token; a sequence without labels; large logits; token 0 as a label.

    In the last input, a token that counts has a probability of about e^−200, which is 0 in float32.
    """
    for B, T, V, scale in ((3, 7, 5, 1.0), (2, 9, 4, 3.0), (4, 6, 8, 1.5), (5, 8, 6, 1.0)):
        labels = answer_labels(draw, B, T, V)
        if B == 4:
            labels[2] = -100
        labels[0, -1] = 0
        logits = draw.normal(B, T, V, scale=scale) + 40 * (B == 2)
        if B == 5:
            logits[0, -2, 0] -= 200
        yield {"logits": logits, "labels": labels}


SUMMED = "(found * (targets != -100)).sum(dim=1)"

answer_log_p = Exercise(
    cases=log_p_cases,
    rule=Rule(tolerance=2e-5, axes={"": "B"}),
    mistakes=(
        Mistake(
            "mean over tokens",
            "You take the mean over the tokens of an answer. Its log-probability is the sum, because the probabilities of its "
            "tokens are multiplied.",
            SUMMED, f"{SUMMED} / (targets != -100).sum(dim=1).clamp(min=1)",
        ),
        Mistake(
            "labels not shifted",
            "You read the probability of each token at its own position. The logits at t predict the token at t + 1.",
            "logits[:, :-1].log_softmax(dim=-1), labels[:, 1:]", "logits[:, 1:].log_softmax(dim=-1), labels[:, 1:]",
            also=(
                """
def answer_log_p(logits, labels):
    found = logits.log_softmax(dim=-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    return (found * (labels != -100)).sum(dim=1)
""",
            ),
        ),
        Mistake(
            "labels shifted the wrong way",
            "You read the probability of each token two positions too late: you shift the labels in the wrong direction.",
            "logits[:, :-1].log_softmax(dim=-1), labels[:, 1:]", "logits[:, 1:].log_softmax(dim=-1), labels[:, :-1]",
        ),
        Mistake(
            "−100 counted as token 0",
            "At positions where the label is −100, you add the log-probability of token 0. These positions should not count.",
            SUMMED, "found.sum(dim=1)",
        ),
        Mistake("token 0 left out", "You also leave out token 0. It is a token like any other; only −100 marks a token that "
                                    "does not count.", "targets != -100", "targets > 0"),
        Mistake("probabilities added", "You add probabilities. The probability of an answer is the product over its tokens, so add "
                                       "the logarithms.", "log_softmax", "softmax"),
        Mistake(
            "logarithm of the softmax",
            "If a token is very improbable, its probability is 0 in float32, and the logarithm of 0 is −∞. Use "
            "log_softmax, which never computes the probability itself.",
            "log_softmax(dim=-1)", "softmax(dim=-1).log()",
        ),
        Mistake("logits added", "You add logits. Apply log_softmax to turn them into log-probabilities.", "logits[:, :-1].log_softmax(dim=-1)", "logits[:, :-1]"),
        Mistake("sum over the batch", "You return a single number. Each answer in the batch should have its own log-probability.", ".sum(dim=1)", ".sum()"),
        Mistake("wrong sign", "Your numbers are positive, like losses. A log-probability is never positive.", "return (found", "return -(found"),
        Mistake("softmax over the positions", "Your softmax runs over the positions of the sequence. It should run over the "
                                           "vocabulary.", "dim=-1), labels", "dim=1), labels"),
        Mistake(
            "first token counted",
            "You count the label of the first token. No token precedes it, so it cannot be predicted.",
            code="""
def answer_log_p(logits, labels):
    before = torch.cat([logits[:, :1], logits[:, :-1]], dim=1).log_softmax(dim=-1)
    found = before.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    return (found * (labels != -100)).sum(dim=1)
""",
        ),
        detached("answer_log_p"),
    ),
    alternatives={
        "cross_entropy": """
def answer_log_p(logits, labels):
    lost = cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100, reduction="none")
    return -lost.sum(dim=-1)
""",
        "token by token": """
def answer_log_p(logits, labels):
    totals = []
    for row, wanted in zip(logits, labels):
        total = torch.zeros(())
        for t in range(1, len(wanted)):
            if wanted[t] != -100:
                total = total + row[t - 1, wanted[t]] - row[t - 1].logsumexp(0)
        totals.append(total)
    return torch.stack(totals)
""",
    },
    survivors={
        "targets.clamp(min=0)[..., None])[..., -1]": "the axis has one entry",
        "(logits[:, :].log_softmax(dim=-1)": "gather reads only as many positions as there are targets",
    },
    hints=(
        "An answer has two tokens with probabilities 1/2 and 1/4. What is its log-probability? Which position of the logits "
        "predicts each token?",
        "logits: (B, T, V). Without the last position: (B, T − 1, V). They predict the labels without the first: (B, T − 1). "
        "Output: (B).",
        "log_softmax of the logits without the last position\nat each position, the entry of the next token's label\n0 where the "
        "label is −100\nsum over the positions",
        "A near miss: dividing by the number of tokens gives a different quantity, which does not penalise long answers.",
    ),
)

# ------------------------------------------------------------------------------------------ the best policy


def policy_cases(draw: Draw) -> Iterator[Case]:
    """One list of answers, and batches; beta above and below 1; rewards that are large relative to beta."""
    for shape, beta, scale in (((6,), 2.5, 1.0), ((3, 5), 0.4, 2.0), ((2, 3, 4), 0.05, 8.0), ((2, 7), 1.5, 3.0)):
        reference = draw.normal(*shape, scale=1.2).astype(np.float64)
        log_ref = reference - np.log(np.exp(reference).sum(axis=-1, keepdims=True))
        yield {"log_ref": log_ref.astype(np.float32), "reward": draw.normal(*shape, scale=scale), "beta": beta}


BEST = "(log_ref + reward / beta).log_softmax(dim=-1)"

best_policy = Exercise(
    cases=policy_cases,
    rule=Rule(tolerance=2e-5, axes={"": "… N"}),
    mistakes=(
        Mistake("reward multiplied by beta", "You multiply the reward by beta. The *smaller* beta is, the more the reward counts, so "
                                      "divide by it.", BEST, "(log_ref + reward * beta).log_softmax(dim=-1)"),
        Mistake("beta not used", "Your policy is correct only for beta = 1. Divide the reward by beta.", BEST, "(log_ref + reward).log_softmax(dim=-1)"),
        Mistake("reference not used", "Your policy depends only on the reward. π* also depends on the reference.", BEST, "(reward / beta).log_softmax(dim=-1)"),
        Mistake("not normalised", "Your probabilities do not sum to 1. Divide by their sum, or use log_softmax.", ".log_softmax(dim=-1)", ""),
        Mistake("probabilities returned", "You return probabilities. Return log π*.", "log_softmax", "softmax"),
        Mistake("reference divided by beta", "You divide both terms by beta. Divide only the reward, not the "
                                              "reference.", BEST, "((log_ref + reward) / beta).log_softmax(dim=-1)"),
        Mistake("reward added to probabilities", "You add the reward to probabilities. Add it to their logarithms.", "log_ref + reward", "log_ref.exp() + reward"),
        Mistake("reward subtracted", "Your policy prefers low rewards. Add the reward instead of subtracting it.", "log_ref + reward", "log_ref - reward"),
        Mistake("normalised over the first axis", "You normalise over the first axis. The N probabilities of the last axis should sum to 1.", "dim=-1", "dim=0"),
        Mistake(
            "probabilities multiplied by rewards",
            "You multiply probabilities by rewards. Multiply them by exp(reward / beta) instead.",
            "log_ref + reward / beta).log", "log_ref.exp() * (reward / beta)).log",
        ),
    ),
    alternatives={
        "logsumexp": """
def best_policy(log_ref, reward, beta):
    unnormalised = log_ref + reward / beta
    return unnormalised - torch.logsumexp(unnormalised, -1, keepdim=True)
""",
        "weights, shifted": """
def best_policy(log_ref, reward, beta):
    tilt = (reward.double() - reward.double().amax(-1, keepdim=True)) / beta
    weights = log_ref.double().exp() * tilt.exp()
    return log_ref + tilt - weights.sum(-1, keepdim=True).log()
""",
    },
    hints=(
        "Two answers have probabilities 0.8 and 0.2 under the reference; the reward of the second is log 4 higher. What is π* "
        "at beta = 1?",
        "log_ref and reward: (…, N). Output: (…, N), whose exponentials sum to 1 along N.",
        "log of π_ref · exp(reward / beta)\nminus the log of its sum over the N answers",
        "A near miss: (log_ref + reward) / beta also sharpens the reference. Only the reward is divided.",
    ),
)

# ------------------------------------------------------------------------------------------ the loss of DPO


def dpo_case(draw: Draw, pairs: int, scale: float, beta: float) -> Case:
    """Pairs, one of which the policy has changed in the wrong direction, so that the loss is never tiny."""
    names = ("chosen", "rejected", "ref_chosen", "ref_rejected")
    case = {name: draw.normal(pairs, scale=scale) - 3 * scale for name in names}
    case["rejected"][0] = case["ref_rejected"][0] + case["chosen"][0] - case["ref_chosen"][0] + scale
    return case | {"beta": beta}


def dpo_cases(draw: Draw) -> Iterator[Case]:
    """Small margins and large ones; beta above and below 1; a policy that equals its reference; a margin of minus 800."""
    yield dpo_case(draw, 5, 1.0, 0.7)
    yield dpo_case(draw, 7, 6.0, 0.1)
    yield dpo_case(draw, 3, 2.0, 1.6)
    far = dpo_case(draw, 4, 1.0, 0.5)
    far["rejected"][2] += 800
    yield far


MARGIN = "(chosen - ref_chosen) - (rejected - ref_rejected)"
LOSS = "-logsigmoid(beta * margin).mean()"

dpo_loss = Exercise(
    cases=dpo_cases,
    rule=Rule(tolerance=2e-5, axes={"": ""}),
    mistakes=(
        Mistake("reference not used", "Your loss depends only on the policy. The margin measures its change relative to the "
                                         "reference.", MARGIN, "chosen - rejected"),
        Mistake("rejected answers preferred", "Your loss decreases when the rejected answer becomes more probable. It should increase.", MARGIN, "(rejected - ref_rejected) - (chosen - ref_chosen)"),
        Mistake("reference added instead of subtracted", "Your margin adds the log-probabilities of the reference. Subtract them: only the "
                                        "change counts.", MARGIN, "(chosen + ref_chosen) - (rejected + ref_rejected)"),
        Mistake("beta not used", "Your loss is correct only for beta = 1. Multiply the margin by beta.", "beta * margin", "margin"),
        Mistake("divided by beta", "You divide by beta. In π*, the reward is divided by beta; solving for the reward makes "
                                   "beta a factor.", "beta * margin", "margin / beta"),
        Mistake("beta applied to the policy only", "Beta should multiply the whole margin, including the reference's part.", "beta * margin", "(beta * (chosen - rejected) - (ref_chosen - ref_rejected))"),
        Mistake("sum instead of mean", "You add the losses of the pairs. Take their mean.", ".mean()", ".sum()"),
        Mistake("wrong sign", "Your loss is negative, but −log of a probability is never negative.", "-logsigmoid", "logsigmoid"),
        Mistake("logarithm missing", "Your loss is the mean of 1 − σ(beta · margin). Average −log σ instead.", LOSS, "(1 - (beta * margin).sigmoid()).mean()"),
        Mistake(
            "log of sigmoid",
            "For large negative margins, your loss is infinite: the sigmoid becomes 0 before its logarithm is taken. "
            "`logsigmoid` computes the two functions together.",
            "-logsigmoid(beta * margin)", "-(beta * margin).sigmoid().log()",
        ),
        Mistake("mean inside the logarithm", "You average the margins before taking the logarithm. Compute the loss of each pair, and then take the mean.", LOSS, "-logsigmoid((beta * margin).mean())"),
        Mistake(
            "log-probabilities divided",
            "You divide log-probabilities. The logarithm of a ratio is a *difference* of logarithms.",
            MARGIN, "chosen / ref_chosen - rejected / ref_rejected",
        ),
        Mistake(
            "hinge loss",
            "Your loss is 0 if the margin is large, as in a hinge loss (SLiC). Here, the loss is −log σ.",
            LOSS, "(1 - beta * margin).clamp(min=0).mean()",
        ),
        Mistake("beta outside the sigmoid", "Beta belongs inside the sigmoid, where it multiplies the margin. Outside the sigmoid, it only scales the "
                                "loss.", LOSS, "-beta * logsigmoid(margin).mean()"),
        detached("dpo_loss"),
    ),
    alternatives={
        "softplus": """
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    ours, theirs = chosen - rejected, ref_chosen - ref_rejected
    return torch.nn.functional.softplus(-beta * (ours - theirs)).mean()
""",
        "cross-entropy of two rewards": """
def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    rewards = beta * torch.stack([chosen - ref_chosen, rejected - ref_rejected], dim=1)
    return cross_entropy(rewards, torch.zeros(len(rewards), dtype=torch.long))
""",
    },
    hints=(
        "What is the loss as long as the policy and the reference are the same model?",
        "All four: (B), one number for each pair. Output: one number.",
        "change = chosen − ref_chosen, and likewise for the rejected answer\nmargin = the first change minus the second\nmean of "
        "−logsigmoid(beta · margin)",
        "A near miss: sigmoid(…).log() is −inf if the margin is very negative.",
    ),
)

# ------------------------------------------------------------------------------------------ one step of DPO


def step_case(draw: Draw, B: int, T: int, V: int, beta: float, rate: float) -> Case:
    case: Case = {"policy": draw.normal(V, V), "reference": draw.normal(V, V), "beta": beta, "rate": rate}
    for name, extra in (("chosen", 0), ("rejected", 2)):
        case[name] = draw.integers(0, V, B, T + extra).astype(np.int64)
        labels = answer_labels(draw, B, T + extra, V, first=False)
        case[f"{name} labels"] = np.where(labels == -100, -100, case[name])
    return case


def step_cases(draw: Draw) -> Iterator[Case]:
    """Chosen and rejected answers of different lengths; several sizes of beta and of the step."""
    yield step_case(draw, 3, 6, 7, 0.5, 0.8)
    yield step_case(draw, 5, 5, 9, 0.1, 3.0)
    yield step_case(draw, 2, 8, 6, 1.2, 0.4)


STEPPED = "    optimiser.zero_grad()\n    loss.backward()\n    optimiser.step()\n"

dpo_step = Exercise(
    cases=step_cases,
    rule=Rule(tolerance=5e-5, axes={"losses": "steps", "policy": "V V", "reference": "V V"}),
    uses=("assistant.answer_log_p", "assistant.dpo_loss"),
    mistakes=(
        Mistake("old gradients kept", "Your first loss is correct, but your backward pass adds to the old gradients. "
                                      "Set them to zero first.", "    optimiser.zero_grad()\n", ""),
        Mistake(
            "reference with gradients",
            "Your policy is correct, but a gradient also reached the reference. Call the reference under torch.no_grad(); "
            "otherwise, memory is wasted on its activations.",
            "    with torch.no_grad():\n        theirs = [", "    if True:\n        theirs = [",
        ),
        Mistake("policy unchanged", "Your first loss is correct, but the policy does not change: there is no step, or the gradients are "
                           "set to zero between backward and step.", "    optimiser.step()\n", ""),
        Mistake(
            "policy used as reference",
            "Your first loss is log 2, because you use the policy as its own reference. Run the reference instead.",
            "answer_log_p(reference(ids), labels)", "answer_log_p(policy(ids), labels)",
        ),
        Mistake(
            "chosen and rejected swapped",
            "Your policy makes the rejected answers more probable: in the loss, either chosen and rejected or policy and "
            "reference are swapped.",
            "loss = dpo_loss(*ours, *theirs, beta)", "loss = dpo_loss(*ours[::-1], *theirs[::-1], beta)",
        ),
        Mistake(
            "questions counted",
            "You also count the tokens of the questions. Only tokens with a label belong to the answer.",
            edits={
                "answer_log_p(policy(ids), labels)": "answer_log_p(policy(ids), ids)",
                "answer_log_p(reference(ids), labels)": "answer_log_p(reference(ids), ids)",
            },
        ),
        Mistake("loss computed after the step", "You return the loss after the step. Return the loss before the step.", "    return loss.item()",
                "    with torch.no_grad():\n        ours = [answer_log_p(policy(ids), labels) for ids, labels in (chosen, rejected)]\n    return dpo_loss(*ours, *theirs, beta).item()"),
        Mistake("no gradient through the rejected answer", "Only the chosen answer changes your policy, as in supervised fine-tuning. The "
                                        "gradient of the rejected answer should also change the policy.", "loss = dpo_loss(*ours, *theirs, beta)", "loss = dpo_loss(ours[0], ours[1].detach(), *theirs, beta)"),
        Mistake("two steps per call", "Your policy moves twice as far as it should. Call the optimiser only once.", "    optimiser.step()\n", "    optimiser.step()\n    optimiser.step()\n"),
        Mistake("step in the wrong direction", "Your loss increases: you step along the gradient, not against it.", "    loss.backward()", "    (-loss).backward()"),
    ),
    alternatives={
        "everything by name": """
def dpo_step(policy, reference, chosen, rejected, optimiser, beta):
    optimiser.zero_grad(set_to_none=True)
    (chosen_ids, chosen_labels), (rejected_ids, rejected_labels) = chosen, rejected
    with torch.no_grad():
        ref_chosen = answer_log_p(reference(chosen_ids), chosen_labels)
        ref_rejected = answer_log_p(reference(rejected_ids), rejected_labels)
    policy_chosen = answer_log_p(policy(chosen_ids), chosen_labels)
    policy_rejected = answer_log_p(policy(rejected_ids), rejected_labels)
    loss = dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta)
    loss.backward()
    optimiser.step()
    return loss
""",
        "a loop, detached": """
def dpo_step(policy, reference, chosen, rejected, optimiser, beta):
    found = []
    for model in (policy, reference):
        for ids, labels in (chosen, rejected):
            with torch.set_grad_enabled(model is policy):
                found.append(answer_log_p(model(ids), labels))
    loss = dpo_loss(found[0], found[1], found[2].detach(), found[3].detach(), beta)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return float(loss)
""",
    },
    hints=(
        "Which of the four log-probabilities need a gradient?",
        "chosen and rejected: (ids, labels), each (B, T), where T may differ between the two. answer_log_p: (B).",
        "log p of both answers under the policy\nlog p of both answers under the reference, without gradients\nloss\nset old gradients to "
        "zero, backward, step\nreturn the loss as a number",
        "A near miss: zero_grad between backward and step leaves the optimiser without a gradient.",
    ),
)

# ------------------------------------------------------------------------------------------ distance to the reference


def kl_cases(draw: Draw) -> Iterator[Case]:
    """Policies near their reference and far from it; logits with a constant added; sequences with few positions that count, or none.

    In the last two inputs, a token has probability 0 in float32 under the policy and under the reference, respectively.
    """
    for B, T, V, scale in ((2, 5, 6, 1.0), (3, 4, 9, 3.0), (4, 7, 3, 0.5), (3, 6, 7, 1.0), (2, 6, 5, 1.5)):
        logits = draw.normal(B, T, V, scale=scale)
        reference = draw.normal(B, T, V, scale=1.0)
        counts = draw.rng.random((B, T)) < 0.5
        counts[0] = np.arange(T) < 2
        counts[1] = draw.rng.permutation(T) > 0  # sequences with different numbers of positions
        counts[-1] = False
        if V == 7:
            logits[..., 0] -= 200
        if V == 5:
            reference[..., 0] -= 200
        yield {"logits": logits + 3, "ref_logits": reference - 2, "counts": counts}


EACH = "(log_p.exp() * (log_p - log_ref)).sum(dim=-1)"

kl_to_reference = Exercise(
    cases=kl_cases,
    rule=Rule(tolerance=3e-5, axes={"": ""}),
    mistakes=(
        Mistake("KL divergence in the wrong direction", "You compute KL(reference ‖ policy), an expectation under the reference. Here, the "
                                       "*policy's* probabilities are the weights.", EACH, "(log_ref.exp() * (log_ref - log_p)).sum(dim=-1)"),
        Mistake("wrong sign", "Your result is negative. A KL divergence is never negative.", "log_p - log_ref", "log_ref - log_p"),
        Mistake("mean over all positions", "You average over every position. Take the mean over the positions that count.", "each[counts].mean()", "each.mean()"),
        Mistake(
            "divided by the number of all positions",
            "You leave out the positions that do not count, but still divide by the number of all positions.",
            "each[counts].mean()", "(each * counts).mean()",
        ),
        Mistake(
            "mean over the vocabulary",
            "Your result is V times too small: it should be a sum over the vocabulary. (By default, PyTorch's kl_div takes a mean.)",
            ".sum(dim=-1)", ".mean(dim=-1)",
        ),
        Mistake(
            "mean of the sequences' means",
            "You first average within each sequence. Give the same weight to every position that counts.",
            "each[counts].mean()", "((each * counts).sum(dim=1) / counts.sum(dim=1).clamp(min=1))[counts.any(dim=1)].mean()",
            also=(
                """
def kl_to_reference(logits, ref_logits, counts):
    log_p, log_ref = logits.log_softmax(dim=-1), ref_logits.log_softmax(dim=-1)
    each = (log_p.exp() * (log_p - log_ref)).sum(dim=-1)
    return ((each * counts).sum(dim=1) / counts.sum(dim=1).clamp(min=1)).mean()
""",
            ),
        ),
        Mistake(
            "absolute differences",
            "You add the absolute values of the differences. A token that is less likely under the policy than under the reference "
            "should have a negative term.",
            "(log_p - log_ref)", "(log_p - log_ref).abs()",
        ),
        Mistake("sum over the positions", "You take the sum over the positions. Take the mean: the result should be in nats per token.", "each[counts].mean()", "each[counts].sum()"),
        Mistake("logits instead of log-probabilities", "You subtract logits. A constant added to all logits should change "
                                                       "nothing, so apply log_softmax first.", EACH, "(log_p.exp() * (logits - ref_logits)).sum(dim=-1)"),
        Mistake("cross-entropy instead of KL divergence", "You compute the cross-entropy. Subtract the entropy of the policy.", "log_p - log_ref", "-log_ref"),
        Mistake(
            "logarithm of the softmax",
            "If a token is very improbable, its probability is 0 in float32, and the logarithm of 0 is −∞. Use "
            "log_softmax, which never computes the probability itself.",
            "logits.log_softmax(dim=-1), ref_logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log(), ref_logits.softmax(dim=-1).log()",
        ),
        Mistake("differences not weighted", "You add differences of log-probabilities. Weight each difference by the token's probability under the policy.", "log_p.exp() * (log_p - log_ref)", "log_p - log_ref"),
        Mistake("bits instead of nats", "Your result is in bits. Use the natural logarithm, which gives nats.", "each[counts].mean()", "each[counts].mean() / 0.6931472"),
    ),
    alternatives={
        "kl_div": """
def kl_to_reference(logits, ref_logits, counts):
    log_p, log_ref = (torch.log_softmax(both[counts], -1) for both in (logits, ref_logits))
    return torch.nn.functional.kl_div(log_ref, log_p, log_target=True, reduction="batchmean")
""",
        "distributions": """
def kl_to_reference(logits, ref_logits, counts):
    policy, reference = (torch.distributions.Categorical(logits=both.double()) for both in (logits, ref_logits))
    each = torch.distributions.kl_divergence(policy, reference)
    return (each * counts).sum() / counts.sum()
""",
    },
    hints=(
        "Let the policy be 1/2, 1/2 and the reference 1/4, 3/4. What is KL(policy ‖ reference)? Whose probabilities weight the logarithms?",
        "logits: (B, T, V). The KL divergence at each position: (B, T). Output: one number.",
        "log-probabilities of both\nat each position: sum over v of p · (log p − log p_ref)\nmean over the positions that count",
        "A near miss: F.kl_div(log_p, log_ref, log_target=True) is KL(reference ‖ policy), and divides by the number of "
        "entries.",
    ),
)

# ------------------------------------------------------------------------------------------ order


def order_cases(draw: Draw) -> Iterator[Case]:
    """Scores without ties; even numbers with many ties; more of one kind than of the other; all scores negative."""
    for N, share, even in ((12, 0.5, False), (20, 0.3, True), (9, 0.7, True), (15, 0.4, False)):
        positive = np.zeros(N, dtype=bool)
        positive[: max(2, round(share * N))] = True
        positive = draw.rng.permutation(positive)
        scores = draw.normal(N, scale=1.5) + positive - 4
        # Even numbers: with all whole ones there may be as many gaps of 1 as ties.
        yield {"scores": 2 * np.round(scores).astype(np.float32) if even else scores, "positive": positive}


GAPS = "((gap > 0).double() + (gap == 0).double() / 2).mean()"

in_order = Exercise(
    cases=order_cases,
    rule=Rule(tolerance=1e-5, axes={"": ""}),
    mistakes=(
        Mistake("ties counted as wrong", "Your result is correct if no scores are equal. A pair with equal scores counts as one half.", GAPS, "(gap > 0).double().mean()"),
        Mistake("ties counted as in order", "You count a pair with equal scores as being in order. It counts as one half, because a constant "
                                          "score orders nothing.", GAPS, "(gap >= 0).double().mean()"),
        Mistake("order reversed", "You count the pairs in which the negative has the higher score. Count the pairs in which the positive has the higher score.", "(gap > 0)", "(gap < 0)"),
        Mistake(
            "accuracy with threshold 0",
            "You compute the accuracy with the threshold 0. The AUC needs no threshold: it compares scores in pairs.",
            code="""
def in_order(scores, positive):
    return ((scores > 0) == positive).double().mean()
""",
        ),
        Mistake(
            "accuracy with the mean or median as threshold",
            "You compute an accuracy with the mean or median score as threshold. The AUC needs no threshold: it "
            "compares scores in pairs.",
            code="""
def in_order(scores, positive):
    return ((scores > scores.mean()) == positive).double().mean()
""",
            also=(
                """
def in_order(scores, positive):
    return ((scores > scores.median()) == positive).double().mean()
""",
            ),
        ),
        Mistake("mean difference of the scores", "You compute how much higher the positives score on average. Count the pairs that are in order instead.", GAPS, "gap.double().mean()"),
        Mistake(
            "scaled from −1 to 1",
            "Your result is 0 for a random order and −1 for a reversed one: you doubled the fraction of pairs and subtracted 1. Return the fraction "
            "itself.",
            GAPS, f"2 * {GAPS} - 1",
        ),
        Mistake("number of pairs instead of the fraction", "You return the number of pairs in order. Divide it by the number of all pairs.", "/ 2).mean()", "/ 2).sum()"),
        Mistake(
            "positives paired with all scores",
            "You also compare positives with each other. A pair should consist of a positive and a negative.",
            "gap = scores[positive][:, None] - scores[~positive]", "gap = scores[positive][:, None] - scores",
        ),
        Mistake(
            "paired one by one",
            "You pair the first positive with the first negative, and so on. Compare each positive with each negative.",
            "gap = scores[positive][:, None] - scores[~positive]",
            "few = min(int(positive.sum()), int((~positive).sum()))\n    gap = scores[positive][:few] - scores[~positive][:few]",
        ),
    ),
    alternatives={
        "ranks": """
def in_order(scores, positive):
    scores = scores.double()
    ranks = (scores[:, None] > scores).sum(1) + ((scores[:, None] == scores).sum(1) + 1) / 2
    P = positive.sum()
    return (ranks[positive].sum() - P * (P + 1) / 2) / (P * (~positive).sum())
""",
        "two loops": """
def in_order(scores, positive):
    total, pairs = 0.0, 0
    for high in scores[positive].tolist():
        for low in scores[~positive].tolist():
            total += 1.0 if high > low else 0.5 if high == low else 0.0
            pairs += 1
    return total / pairs
""",
    },
    survivors={
        "+ (gap == 0) / 2)": "a division gives floats",
        "→ `return ((gap > 0) + (gap == 0).double()": "a sum with floats gives floats, too",
    },
    hints=(
        "Two positives have the scores 3 and 1, two negatives 1 and 0. Which of the four pairs are in order?",
        "scores: (N). Positives minus negatives: (P, N − P). Output: one number between 0 and 1.",
        "the score of every positive minus that of every negative\n1 where it is above 0, 1/2 where it is 0\nmean over all pairs",
        "A near miss: `>` alone counts equal scores as wrong. A constant score would get 0 instead of 1/2.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def unload_cases(draw: Draw) -> Iterator[Case]:
    for B, D, rank, alpha in ((3, 4, 2, 3.0), (5, 6, 1, 2.0), (2, 5, 3, 1.5)):
        yield {
            "x": draw.normal(B, D), "alpha": alpha, "plain": draw.normal(D, D, scale=0.5),
            **{name: draw.normal(3, *shape, scale=0.5) for name, shape in {"weight": (D, D), "A": (rank, D), "B": (D, rank)}.items()},
        }


WALK = "for module in list(model.modules()):"

mended_unload = Exercise(
    cases=unload_cases,
    rule=Rule(tolerance=3e-5, axes={"output": "B D", "layers left": "kinds"}),
    uses=("assistant.lora_linear", "assistant.merge"),
    mistakes=(
        Mistake("bug unchanged", "The bug is still there: the base replaces the layer, so what A and B learned is lost.", "merge(child)", "child.base"),
        Mistake(
            "top level only",
            "Layers inside other modules are still there (see `layers left`). Look into every module of the model.",
            WALK, "for module in [model]:",
        ),
        Mistake(
            "one level of nesting only",
            "A layer nested more deeply is still there (see `layers left`). Look into every module of the model, at any depth.",
            WALK, "for module in [model, *model.children()]:",
        ),
        Mistake("no layer replaced", "No layer has been replaced: merge returns a new layer, which must replace the old layer.", "setattr(module, name, merge(child))", "merge(child)"),
        Mistake(
            "merged layers set at the top level",
            "You attach all merged layers to the model itself. Each merged layer should replace its old layer.",
            "setattr(module, name, merge(child))", "setattr(model, name, merge(child))",
        ),
        Mistake(
            "copy returned",
            "You return a copy. Change and return the model itself, so that it is merged wherever it is used.",
            "    for module in list(model.modules()):", "    from copy import deepcopy\n\n    model = deepcopy(model)\n    for module in list(model.modules()):",
        ),
        Mistake(
            "update merged twice",
            "Your output contains the low-rank update twice. Merge each layer only once.",
            "setattr(module, name, merge(child))",
            "child.base = merge(child)\n                setattr(module, name, merge(child))",
        ),
    ),
    alternatives={
        "recursion": """
def mended_unload(model):
    for name, child in model.named_children():
        if isinstance(child, LoRALinear):
            model._modules[name] = merge(child)
        else:
            mended_unload(child)
    return model
""",
        "by paths": """
def mended_unload(model):
    paths = [path for path, part in model.named_modules() if isinstance(part, LoRALinear)]
    for path in paths:
        above, _, name = path.rpartition(".")
        holder = model.get_submodule(above)
        holder.add_module(name, merge(model.get_submodule(path)))
    return model
""",
    },
    hints=(
        "Which layer replaces child, and does it contain what A and B have learned?",
        "model.modules(): every module, at any depth. named_children(): names and modules directly inside one module.",
        "for every module of the model:\n    for every child that is a LoRALinear:\n        replace the child with the merged "
        "layer\nreturn the model",
        "A near miss: model.named_children() visits only the modules at the top level.",
    ),
)
