"""14 From base model to assistant: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
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
        Mistake("labels everywhere", "Your labels stand at the user's tokens, too. The model shall learn to answer, not to ask.", LABELLED, "tokens"),
        Mistake(
            "only the last answer",
            "With one answer you are right. In a longer conversation every answer of the assistant counts, not the last alone.",
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
            "shifted already",
            "Your labels are one place early: they are shifted. The loss shifts them itself, and twice is once too often.",
            "return ids, labels", "return ids, labels[1:] + [-100]",
        ),
        Mistake(
            "without the end token",
            "The last token of each answer has no label with you. It is the answer's end: who never learns it never stops.",
            LABELLED, 'tokens[:-1] + [-100] if role == "assistant" else [-100] * len(tokens)',
        ),
        Mistake(
            "the first token left out",
            "The first token of each answer has no label with you. It is predicted from the question, and counts.",
            LABELLED, '[-100] + tokens[1:] if role == "assistant" else [-100] * len(tokens)',
        ),
        Mistake(
            "one place shorter",
            "Your ids end a token early and your labels begin a token late: that is the shift of the loss, which it makes itself. Both have every place.",
            "return ids, labels", "return ids[:-1], labels[1:]",
        ),
        Mistake(
            "one −100 for each turn",
            "A turn that counts for nothing has one −100 with you. It has as many as it has tokens, so that labels stand where their ids stand.",
            "[-100] * len(tokens)", "[-100]",
        ),
        Mistake("the user's turns", "Your labels stand at the user's tokens instead of the assistant's.", 'role == "assistant"', 'role == "user"'),
        Mistake(
            "the system's turn too",
            "Without a system turn you are right: what the system says is no answer, and has no labels.",
            'role == "assistant"', 'role != "user"',
        ),
        Mistake("zeros instead of −100", "Where nothing counts, your labels are 0, which is a token. The loss leaves out −100.", "[-100] * len", "[0] * len"),
        Mistake("the answers alone", "Your labels are shorter than the ids: every place has one, −100 where nothing counts.", LABELLED, 'tokens if role == "assistant" else []'),
        Mistake(
            "everything after the first question",
            "Where no question follows an answer you are right. You count everything from the first answer on; later questions are no answers.",
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
        "The user writes 11 12 2, the assistant 21 2. What are the ids, and which of them should the model learn to write?",
        "turns: a list of (role, ids). Out: two lists of the same length.",
        "for each turn:\n    ids: append its ids\n    labels: append its ids if the assistant speaks, otherwise −100 for each",
        "Near miss: labels[1:] shifts. Most libraries shift inside the loss; labels stand where their ids stand.",
    ),
)

# ------------------------------------------------------------------------------------------ packing


def packing_case(draw: Draw, lengths: tuple[int, ...], length: int) -> Case:
    sizes = np.array(lengths, dtype=np.int64)
    ids = ids_of(draw, int(sizes.sum()))
    answers = draw.rng.random(len(ids)) < 0.6
    answers[np.cumsum(sizes) - sizes] = True  # so that first tokens have labels that must not count
    return {"lengths": sizes, "ids": ids, "labels": np.where(answers, ids, -100), "length": length}


def packing_cases(draw: Draw) -> Iterator[Case]:
    """A row that is filled exactly; one that would be by a later, shorter conversation; a single one; one as long as a row."""
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
            "a label across the boundary",
            "The first token of each conversation keeps its label with you. It would be predicted from the end of another conversation.",
            "[-100, *labels[1:]]", "labels",
        ),
        Mistake("positions go on", "Your positions count through the whole row. Each conversation begins at 0, as if it were alone.", "range(n), [seg", "range(used, used + n), [seg"),
        Mistake("segments from 0", "Your first segment is 0, which marks an empty place. Segments count from 1.", "[segment] * n", "[segment - 1] * n"),
        Mistake("segments through all rows", "In the first row you are right. In each row the segments begin with 1 again.", edits={
            "rows, used = [], length": "rows, used, segment = [], length, 0", "used, segment = 0, 0": "used = 0",
        }),
        Mistake("all one segment", "All conversations of a row are segment 1 with you, so each could see the others.", "[segment] * n", "[1] * n"),
        Mistake("empty places are labelled 0", "Your empty places have label 0, which is a token. They count for nothing: −100.", "[-100] * length,", "[0] * length,"),
        Mistake(
            "one row each",
            "Each conversation has a row of its own with you: that is padding. The next one goes behind it, where it fits.",
            "if used + n > length:", "if True:",
        ),
        Mistake(
            "an exact fit refused",
            "A conversation that fills the row exactly begins a new row with you. It fits.",
            "used + n > length", "used + n >= length or not rows",
        ),
        Mistake(
            "a place in an earlier row",
            "You put a conversation into an earlier row that still has room. They stay in order: only the last row is open.",
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
            "cut at the row's end",
            "You cut conversations at the end of a row and go on in the next. One that does not fit begins the next row whole.",
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
        Mistake("no labels", "All your labels are −100: nothing is learned.", "[-100, *labels[1:]]", "[-100] * n"),
        Mistake("ids as labels", "Your labels are the ids, the questions too. They are those that the conversation brings, but for its first token.", "[-100, *labels[1:]]", "[-100, *ids[1:]]"),
        Mistake(
            "the last label covered",
            "You cover the last label of each conversation, its end. It is the first that nothing stands before.",
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
        "Conversations of 4, 3 and 5 tokens, rows of 9: what stands where? From what would the first token of the second be predicted?",
        "conversations: a list of (ids, labels). Out: four tables (rows, length).",
        "for each conversation:\n    does it fit behind what is in the last row? if not: a new, empty row\n    ids and labels, the first label −100\n    positions 0 … n − 1, segment: one more than before in this row",
        "Near miss: with `>=` a conversation that fills its row to the last place is refused.",
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
    """More inputs than outputs and fewer; alpha above, below and equal to the rank; with bias and without; one row and many."""
    yield lora_case(draw, 7, 4, 2, 6.0, True, 3, 5)
    yield lora_case(draw, 3, 8, 3, 1.5, False, 4)
    yield lora_case(draw, 6, 5, 1, 4.0, True, 2, 2, 3)
    yield lora_case(draw, 5, 9, 4, 4.0, True, 6)


CHANGED = "self.scale * (x @ self.A.T @ self.B.T)"
FROZEN = "self.base, self.scale = base.requires_grad_(False), alpha / rank"
ZEROS = "torch.nn.Parameter(torch.zeros(base.out_features, rank))"
DRAWN = "torch.nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)"

lora_linear = Exercise(
    cases=lora_cases,
    rule=Rule(tolerance=3e-5, axes={"registered": "weights", "eval": "… out"}, legend=OF_WEIGHTS),
    mistakes=(
        Mistake(
            "the base learns, too",
            "Your output is right, and the base has a gradient: it is not frozen. Its parameters must ask for none (`requires_grad_(False)`).",
            "base.requires_grad_(False)", "base",
        ),
        Mistake(
            "the base without gradients",
            "Your output is right, but no gradient comes back through the base: no_grad, detach or .data cuts it off, and the layers before this one "
            "would hardly learn. Freezing means that the base's own parameters ask for no gradient; x goes through it as usual.",
            f"return self.base(x) + {CHANGED}", f"with torch.no_grad():\n            y = self.base(x)\n        return y + {CHANGED}",
        ),
        Mistake("not scaled", "Where alpha equals the rank you are right. The change is scaled by alpha / rank.", CHANGED, "(x @ self.A.T @ self.B.T)"),
        Mistake("scaled by alpha", "With rank 1 you are right: the change is scaled by alpha / rank, not by alpha.", "(False), alpha / rank", "(False), alpha"),
        Mistake("divided by alpha", "Where alpha equals the rank you are right. Your scale is rank / alpha.", "(False), alpha / rank", "(False), rank / alpha"),
        Mistake(
            "scaled by the root of the rank",
            "With rank 1 you are right. You divide by the root of the rank: that is rsLoRA (Kalajdzievski 2023). Here it is alpha / rank.",
            "(False), alpha / rank", "(False), alpha / rank**0.5",
        ),
        Mistake(
            "B begins with random numbers",
            "What your layer gives before any training is not what the base gives: B begins with zeros.",
            ZEROS, "torch.nn.Parameter(torch.randn(base.out_features, rank))",
        ),
        Mistake(
            "A begins with zeros",
            "A begins with zeros. It should begin with small random numbers, and B with zeros: if both are zeros, the gradient of "
            "each is a product with the other, so neither of them ever moves.",
            DRAWN, "torch.nn.Parameter(torch.zeros(rank, base.in_features))",
        ),
        Mistake("the change alone", "What the base gives is missing: the change is added to it.", f"self.base(x) + {CHANGED}", CHANGED),
        Mistake("the bias forgotten", "Without a bias you are right. The base's own bias belongs to what it gives.", "self.base(x) +", "x @ self.base.weight.T +"),
        Mistake(
            "the bias scaled, too",
            "Without a bias you are right. The base's bias is in your output more than once.",
            CHANGED, f"{CHANGED} + (0 if self.base.bias is None else self.scale * self.base.bias)",
        ),
        Mistake(
            "tensors instead of parameters",
            "A or B is no parameter of your module (see `registered`): a plain tensor is not saved, and no optimiser finds it.",
            edits={DRAWN: DRAWN.replace("torch.nn.Parameter(", "("), ZEROS: ZEROS.replace("torch.nn.Parameter(", "(")},
        ),
        Mistake(
            "a bias of its own",
            "There are numbers that the docstring does not name (see the last entry of `registered`): A and B are the only new ones.",
            ZEROS, f"{ZEROS}\n        self.extra = torch.nn.Parameter(torch.zeros(base.out_features))",
        ),
        Mistake(
            "A frozen with the base",
            "A has no gradient with you. Both A and B learn.",
            DRAWN, DRAWN[:-1] + ", requires_grad=False)",
        ),
        Mistake(
            "A and B the other way round",
            "A or B has another shape than in the docstring (see `registered`): A is (rank, in), B is (out, rank).",
            edits={
                DRAWN: "torch.nn.Parameter(torch.randn(base.in_features, rank) / base.in_features**0.5)",
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
        "A layer has 64 × 64 weights. How many numbers have A and B for rank 2? What does B A x give while B is zero?",
        "x: (…, in). A: (rank, in), so x Aᵀ: (…, rank). B: (out, rank), so x Aᵀ Bᵀ: (…, out).",
        "init: keep the base, frozen; scale = alpha / rank; A random, B zeros, both nn.Parameter\nforward: base(x) + scale · (x through A, then through B)",
        "Near miss: zeros for both A and B start in the right place and never leave it.",
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
        Mistake("the base alone", "Your weight is the base's: what was learned is lost.", MERGED, "base.weight"),
        Mistake("not scaled", "Where alpha equals the rank you are right: the change is scaled, as in forward.", "layer.scale * (layer.B @ layer.A)", "layer.B @ layer.A"),
        Mistake("subtracted", "You subtract the change. That takes it out of a merged layer.", "base.weight + layer", "base.weight - layer"),
        Mistake("the change alone", "Your weight is the change. It is added to the base's.", MERGED, "layer.scale * (layer.B @ layer.A)"),
        Mistake(
            "merged into the base",
            "The first merge is right and the second is not: you add the change to the base's own weight, where `layer` adds it again.",
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
            "no bias",
            "Where base has no bias you are right. A bias stays as it is, and is yours to copy.",
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
            "a bias of zeros",
            "Your weight is right, and your bias is zeros. It is the base's.",
            "merged.bias.copy_(base.bias)", "merged.bias.zero_()",
        ),
        Mistake(
            "a bias where there was none",
            "A layer without bias has one with you: more parameters than before.",
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
        Mistake("added twice", "The change is in your weight twice.", "layer.scale * (layer", "2 * layer.scale * (layer"),
        Mistake("scaled by its square", "Your change is scaled twice.", "layer.scale * (layer", "layer.scale**2 * (layer"),
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
        "W x + s B (A x): which single matrix gives the same for every x?",
        "B: (out, rank), A: (rank, in), so B A: (out, in), as W. The bias: (out).",
        "a new nn.Linear of the base's sizes, with bias only if base has one\nits weight: base's + scale · B A\nits bias: base's",
        "Near miss: base.weight += … changes the layer itself, whose forward then adds the change again.",
    ),
)

# ------------------------------------------------------------------------------------------ log-probability of an answer


def answer_labels(draw: Draw, B: int, T: int, V: int, first: bool = True) -> np.ndarray:
    """Labels with questions in front and padding behind; the first token has one, which must not count."""
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
    """Answers of several lengths; a label at the first token; a row without labels; large logits; token 0 as a label.

    On the last input a token that counts has a probability of e^−200, which is 0 in float32.
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
            "the mean over tokens",
            "You take the mean over an answer's tokens. log p of an answer is the sum: probabilities of its tokens are multiplied.",
            SUMMED, f"{SUMMED} / (targets != -100).sum(dim=1).clamp(min=1)",
        ),
        Mistake(
            "not shifted",
            "You read each token's probability at its own place. The logits at t are about the token at t + 1.",
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
            "shifted the other way",
            "You read the probability of each token two places off: labels are shifted against the logits, the wrong way.",
            "logits[:, :-1].log_softmax(dim=-1), labels[:, 1:]", "logits[:, 1:].log_softmax(dim=-1), labels[:, :-1]",
        ),
        Mistake(
            "−100 counts as token 0",
            "Where the label is −100 you add the log-probability of token 0. These places count for nothing.",
            SUMMED, "found.sum(dim=1)",
        ),
        Mistake("token 0 left out", "You leave out token 0 as well. It is a token like others; −100 is what does not count.", "targets != -100", "targets > 0"),
        Mistake("probabilities added", "You add probabilities. Those of an answer's tokens are multiplied: add their logarithms.", "log_softmax", "softmax"),
        Mistake(
            "the logarithm of the softmax",
            "Where a token is very improbable, its probability is 0 in float32, and the logarithm of that is −∞. Take log_softmax, which never forms it.",
            "log_softmax(dim=-1)", "softmax(dim=-1).log()",
        ),
        Mistake("logits added", "You add logits. They become log-probabilities through log_softmax.", "logits[:, :-1].log_softmax(dim=-1)", "logits[:, :-1]"),
        Mistake("over the batch", "You have one number. Each answer of the batch has its own.", ".sum(dim=1)", ".sum()"),
        Mistake("the sign", "Your numbers are positive: that is the loss. log p is negative.", "return (found", "return -(found"),
        Mistake("softmax over the tokens", "Your softmax runs over the places of the text. It belongs over the vocabulary.", "dim=-1), labels", "dim=1), labels"),
        Mistake(
            "the first token counted",
            "The label of the first token counts with you. Nothing stands before it, so nothing predicts it.",
            code="""
def answer_log_p(logits, labels):
    before = torch.cat([logits[:, :1], logits[:, :-1]], dim=1).log_softmax(dim=-1)
    found = before.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    return (found * (labels != -100)).sum(dim=1)
""",
        ),
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
        "(logits[:, :].log_softmax(dim=-1)": "gather looks no further than the targets reach",
    },
    hints=(
        "An answer of two tokens with probabilities 1/2 and 1/4: what is its log-probability? At which place of the logits stands each?",
        "logits: (B, T, V). Without the last place: (B, T − 1, V), about labels without the first: (B, T − 1). Out: (B).",
        "log_softmax of the logits without their last place\nat each place, that of the next token's label\n0 where the label is −100\nsum over the places",
        "Near miss: dividing by the number of tokens gives another quantity: long answers are then as likely as short ones.",
    ),
)

# ------------------------------------------------------------------------------------------ the best policy


def policy_cases(draw: Draw) -> Iterator[Case]:
    """A row of answers, a batch; beta above and below 1; rewards that are large against beta."""
    for shape, beta, scale in (((6,), 2.5, 1.0), ((3, 5), 0.4, 2.0), ((2, 3, 4), 0.05, 8.0), ((2, 7), 1.5, 3.0)):
        reference = draw.normal(*shape, scale=1.2).astype(np.float64)
        log_ref = reference - np.log(np.exp(reference).sum(axis=-1, keepdims=True))
        yield {"log_ref": log_ref.astype(np.float32), "reward": draw.normal(*shape, scale=scale), "beta": beta}


BEST = "(log_ref + reward / beta).log_softmax(dim=-1)"

best_policy = Exercise(
    cases=policy_cases,
    rule=Rule(tolerance=2e-5, axes={"": "… N"}),
    mistakes=(
        Mistake("multiplied by beta", "You multiply the reward by beta. The *smaller* beta, the more the reward counts: it divides.", BEST, "(log_ref + reward * beta).log_softmax(dim=-1)"),
        Mistake("without beta", "Your policy is that of beta = 1.", BEST, "(log_ref + reward).log_softmax(dim=-1)"),
        Mistake("without the reference", "Your policy knows the reward alone: π* begins from the reference.", BEST, "(reward / beta).log_softmax(dim=-1)"),
        Mistake("not normalised", "Your probabilities do not sum to 1: divide by the sum, or take log_softmax.", ".log_softmax(dim=-1)", ""),
        Mistake("probabilities", "You return probabilities. log π* is asked for.", "log_softmax", "softmax"),
        Mistake("the reference divided, too", "You divide both by beta. Beta belongs under the reward; the reference stays as it is.", BEST, "((log_ref + reward) / beta).log_softmax(dim=-1)"),
        Mistake("the reference as a probability", "You add the reward to probabilities. In logarithms, multiplying becomes adding.", "log_ref + reward", "log_ref.exp() + reward"),
        Mistake("the worst", "Your policy likes low rewards.", "log_ref + reward", "log_ref - reward"),
        Mistake("over the batch", "Your sum runs over the first axis. Each row of N answers sums to 1.", "dim=-1", "dim=0"),
        Mistake(
            "rewards times probabilities",
            "You multiply probabilities by rewards. π* multiplies them by exp(reward / beta).",
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
        "Two answers, 0.8 and 0.2 under the reference; the second has the reward log 4 more. What is π* at beta = 1?",
        "log_ref and reward: (…, N). Out: (…, N), whose exponentials sum to 1 along N.",
        "log of π_ref · exp(reward / beta)\nminus the log of its sum over the N answers",
        "Near miss: (log_ref + reward) / beta sharpens the reference as well. Only the reward is divided.",
    ),
)

# ------------------------------------------------------------------------------------------ the loss of DPO


def dpo_case(draw: Draw, pairs: int, scale: float, beta: float) -> Case:
    """Among the pairs one that the policy has raised the wrong way, so that the loss is never tiny."""
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
        Mistake("without the reference", "Your loss knows the policy alone. The margin is what it has changed against the reference.", MARGIN, "chosen - rejected"),
        Mistake("the rejected preferred", "Your loss falls when the rejected answer rises.", MARGIN, "(rejected - ref_rejected) - (chosen - ref_chosen)"),
        Mistake("the reference's sign", "Your margin adds what the reference thinks of the pair. It is subtracted: only the change counts.", MARGIN, "(chosen + ref_chosen) - (rejected + ref_rejected)"),
        Mistake("without beta", "Your loss is that of beta = 1.", "beta * margin", "margin"),
        Mistake("divided by beta", "You divide by beta. In the reward beta divides; here the reward has been solved for, and beta multiplies.", "beta * margin", "margin / beta"),
        Mistake("beta for the policy alone", "Beta multiplies the whole margin, the reference's part too.", "beta * margin", "(beta * (chosen - rejected) - (ref_chosen - ref_rejected))"),
        Mistake("the sum", "You add the losses of the pairs. Their mean is asked for.", ".mean()", ".sum()"),
        Mistake("the sign", "Your loss is negative: −log of a probability is not.", "-logsigmoid", "logsigmoid"),
        Mistake("no logarithm", "Your loss is a probability. Its −log is asked for.", LOSS, "(1 - (beta * margin).sigmoid()).mean()"),
        Mistake(
            "log of sigmoid",
            "With margins of hundreds your loss is infinite: the sigmoid becomes 0 before its log is taken. `logsigmoid` does both at once.",
            "-logsigmoid(beta * margin)", "-(beta * margin).sigmoid().log()",
        ),
        Mistake("the mean inside", "You take the mean of the margins before the logarithm. Each pair has its own loss.", LOSS, "-logsigmoid((beta * margin).mean())"),
        Mistake(
            "log-probabilities divided",
            "You divide log-probabilities. A ratio of probabilities is a *difference* of their logarithms.",
            MARGIN, "chosen / ref_chosen - rejected / ref_rejected",
        ),
        Mistake(
            "a hinge",
            "Your loss is 0 where the margin is large: that is a hinge, as SLiC has it. Here it is −log σ.",
            LOSS, "(1 - beta * margin).clamp(min=0).mean()",
        ),
        Mistake("beta outside", "Beta stands inside the sigmoid, at the margin. Outside it only scales the loss.", LOSS, "-beta * logsigmoid(margin).mean()"),
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
        "What is the loss while policy and reference are the same model?",
        "All four: (B), one number for each pair. Out: one number.",
        "raised = chosen − ref_chosen, and the same for the rejected\nmargin = the first minus the second\nmean of −logsigmoid(beta · margin)",
        "Near miss: sigmoid(…).log() is −inf where the margin is very negative.",
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
        Mistake("old gradients kept", "Your first loss is right. Old gradients were still there when you went backward: set them to zero first.", "    optimiser.zero_grad()\n", ""),
        Mistake(
            "the reference has gradients",
            "Your policy is right, and a gradient went into the reference. Ask it under torch.no_grad(): half of the memory was for nothing.",
            "    with torch.no_grad():\n        theirs = [", "    if True:\n        theirs = [",
        ),
        Mistake("no step", "Your loss is right, and the policy stays as it was: there was no step, or the gradients were set to zero between backward and step.", "    optimiser.step()\n", ""),
        Mistake(
            "the policy is its own reference",
            "Your first loss is log 2: you asked the policy twice. The margin is against the reference.",
            "answer_log_p(reference(ids), labels)", "answer_log_p(policy(ids), labels)",
        ),
        Mistake(
            "chosen and rejected exchanged",
            "Your policy raises what was rejected: chosen and rejected, or policy and reference, have changed places in the loss.",
            "loss = dpo_loss(*ours, *theirs, beta)", "loss = dpo_loss(*ours[::-1], *theirs[::-1], beta)",
        ),
        Mistake(
            "questions counted",
            "The questions' tokens count with you. Only what has a label belongs to the answer.",
            edits={
                "answer_log_p(policy(ids), labels)": "answer_log_p(policy(ids), ids)",
                "answer_log_p(reference(ids), labels)": "answer_log_p(reference(ids), ids)",
            },
        ),
        Mistake("the loss after the step", "You return the loss after the step. The one before it is asked for.", "    return loss.item()",
                "    with torch.no_grad():\n        ours = [answer_log_p(policy(ids), labels) for ids, labels in (chosen, rejected)]\n    return dpo_loss(*ours, *theirs, beta).item()"),
        Mistake("without the rejected", "Only the chosen answer moves your policy, as in supervised fine-tuning. The rejected one has to move it, too: let its gradient through.", "loss = dpo_loss(*ours, *theirs, beta)", "loss = dpo_loss(ours[0], ours[1].detach(), *theirs, beta)"),
        Mistake("two steps", "Your policy moves twice as far.", "    optimiser.step()\n", "    optimiser.step()\n    optimiser.step()\n"),
        Mistake("upwards", "Your loss grows: you went against the gradient's direction.", "    loss.backward()", "    (-loss).backward()"),
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
        "Which of the four log-probabilities must have a gradient?",
        "chosen and rejected: (ids, labels), each (B, T), with a T of their own. answer_log_p: (B).",
        "log p of both answers under the policy\nwithout gradients: under the reference\nloss\nold gradients away, backward, step\nthe loss as a number",
        "Near miss: zero_grad between backward and step leaves nothing to step by.",
    ),
)

# ------------------------------------------------------------------------------------------ distance to the reference


def kl_cases(draw: Draw) -> Iterator[Case]:
    """Policies near their reference and far; logits with a constant added; few places that count, and rows without any.

    On the last two inputs a token that the policy, or the reference, never says has a probability of 0 in float32.
    """
    for B, T, V, scale in ((2, 5, 6, 1.0), (3, 4, 9, 3.0), (4, 7, 3, 0.5), (3, 6, 7, 1.0), (2, 6, 5, 1.5)):
        logits = draw.normal(B, T, V, scale=scale)
        reference = draw.normal(B, T, V, scale=1.0)
        counts = draw.rng.random((B, T)) < 0.5
        counts[0] = np.arange(T) < 2
        counts[1] = draw.rng.permutation(T) > 0  # rows with different numbers of places
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
        Mistake("the other way round", "You have KL(reference ‖ policy): the mean is taken under the reference. Here the *policy's* probabilities weight.", EACH, "(log_ref.exp() * (log_ref - log_p)).sum(dim=-1)"),
        Mistake("the sign", "Your distance is negative.", "log_p - log_ref", "log_ref - log_p"),
        Mistake("all places", "Every place counts with you. Take the mean over those that count.", "each[counts].mean()", "each.mean()"),
        Mistake(
            "divided by all places",
            "You leave out what does not count, and divide by all places all the same.",
            "each[counts].mean()", "(each * counts).mean()",
        ),
        Mistake(
            "the mean over the vocabulary",
            "Your distance is V times too small: it is a sum over the vocabulary (PyTorch's kl_div divides by default).",
            ".sum(dim=-1)", ".mean(dim=-1)",
        ),
        Mistake(
            "the mean of the rows' means",
            "You average the places of each row first. Every place that counts weighs the same.",
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
            "the size of each difference",
            "You add up the sizes of the differences. Where the policy finds a token less likely than the reference, its term is negative.",
            "(log_p - log_ref)", "(log_p - log_ref).abs()",
        ),
        Mistake("the sum over the places", "You add up the places: nats per token are asked for.", "each[counts].mean()", "each[counts].sum()"),
        Mistake("logits instead of log-probabilities", "You subtract logits. A constant added to all of them must change nothing: log_softmax first.", EACH, "(log_p.exp() * (logits - ref_logits)).sum(dim=-1)"),
        Mistake("cross-entropy", "You have the cross-entropy: the policy's own entropy is not subtracted.", "log_p - log_ref", "-log_ref"),
        Mistake(
            "the logarithm of the softmax",
            "Where a token is very improbable, its probability is 0 in float32, and the logarithm of that is −∞. Take log_softmax, which never forms it.",
            "logits.log_softmax(dim=-1), ref_logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log(), ref_logits.softmax(dim=-1).log()",
        ),
        Mistake("not weighted", "You add up differences of log-probabilities. Each counts with the policy's probability.", "log_p.exp() * (log_p - log_ref)", "log_p - log_ref"),
        Mistake("in bits", "Your distance is in bits. Nats are asked for: the natural logarithm.", "each[counts].mean()", "each[counts].mean() / 0.6931472"),
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
        "Policy 1/2, 1/2 and reference 1/4, 3/4: what is the sum? Whose probabilities weight the logarithms?",
        "logits: (B, T, V). The distance at each place: (B, T). Out: one number.",
        "log-probabilities of both\nat each place: sum over v of p · (log p − log p_ref)\nmean over the places that count",
        "Near miss: F.kl_div(log_p, log_ref, log_target=True) is KL(reference ‖ policy), and divides by all numbers.",
    ),
)

# ------------------------------------------------------------------------------------------ order


def order_cases(draw: Draw) -> Iterator[Case]:
    """Scores without ties; whole numbers with many; more of one kind; all scores negative."""
    for N, share, whole in ((12, 0.5, False), (20, 0.3, True), (9, 0.7, True), (15, 0.4, False)):
        positive = np.zeros(N, dtype=bool)
        positive[: max(2, round(share * N))] = True
        positive = draw.rng.permutation(positive)
        scores = draw.normal(N, scale=1.5) + positive - 4
        yield {"scores": np.round(scores).astype(np.float32) if whole else scores, "positive": positive}


GAPS = "((gap > 0).double() + (gap == 0).double() / 2).mean()"

in_order = Exercise(
    cases=order_cases,
    rule=Rule(tolerance=1e-5, axes={"": ""}),
    mistakes=(
        Mistake("equal scores are wrong", "Without equal scores you are right. A pair with equal scores counts one half.", GAPS, "(gap > 0).double().mean()"),
        Mistake("equal scores are right", "A pair with equal scores counts as in order with you. It counts one half: who says the same of all has no order.", GAPS, "(gap >= 0).double().mean()"),
        Mistake("the other order", "You count the pairs in which the negative one is higher.", "(gap > 0)", "(gap < 0)"),
        Mistake(
            "accuracy at 0",
            "That is the accuracy with the threshold 0. Order knows no threshold: only pairs are compared.",
            code="""
def in_order(scores, positive):
    return ((scores > 0) == positive).double().mean()
""",
        ),
        Mistake(
            "accuracy at the mean",
            "That is an accuracy with a threshold in the middle of the scores, their mean or median. Order knows no threshold: only pairs are compared.",
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
        Mistake("the mean gap", "That is how much higher the positives are on average. Count pairs.", GAPS, "gap.double().mean()"),
        Mistake(
            "scaled from −1 to 1",
            "A random order has 0 with you and the wrong one −1: you have doubled the share and taken 1 away. The share of pairs is asked for.",
            GAPS, f"2 * {GAPS} - 1",
        ),
        Mistake("a number of pairs", "You give the number of pairs. Their share is asked for.", "/ 2).mean()", "/ 2).sum()"),
        Mistake(
            "all pairs",
            "You compare each with each, also two positives. A pair is one positive and one that is not.",
            "gap = scores[positive][:, None] - scores[~positive]", "gap = scores[positive][:, None] - scores",
        ),
        Mistake(
            "neighbours alone",
            "You pair the first positive with the first negative, and so on. Each positive is compared with each negative.",
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
        "+ (gap == 0) / 2)": "a division makes floats",
        "→ `return ((gap > 0) + (gap == 0).double()": "so does a sum with floats",
    },
    hints=(
        "Scores 3 and 1 for two positives, 1 and 0 for two others: which of the four pairs are in order?",
        "scores: (N). Positives against others: (P, N − P). Out: one number between 0 and 1.",
        "difference of every positive's score and every other's\n1 where it is above 0, 1/2 where it is 0\nmean over all pairs",
        "Near miss: > alone calls equal scores wrong; a model that says the same of all would have 0 instead of 1/2.",
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
        Mistake("the bug", "That is the bug: the base takes the layer's place, and what was learned is gone.", "merge(child)", "child.base"),
        Mistake(
            "only the top",
            "Layers inside other parts are still there (see `layers left`): look into every module of the model.",
            WALK, "for module in [model]:",
        ),
        Mistake(
            "one part deep",
            "A layer that lies deeper is still there (see `layers left`): look into every module of the model, at any depth.",
            WALK, "for module in [model, *model.children()]:",
        ),
        Mistake("nothing replaced", "No layer has been replaced: merge gives a new one, which has to be put in the old one's place.", "setattr(module, name, merge(child))", "merge(child)"),
        Mistake(
            "always at the top",
            "The merged layers are all hung up at the model itself. Each belongs where the old one was.",
            "setattr(module, name, merge(child))", "setattr(model, name, merge(child))",
        ),
        Mistake(
            "a copy comes back",
            "What comes back is a copy. The model itself is changed and comes back: who has put it elsewhere finds it merged there, too.",
            "    for module in list(model.modules()):", "    from copy import deepcopy\n\n    model = deepcopy(model)\n    for module in list(model.modules()):",
        ),
        Mistake(
            "the base takes the change twice",
            "The change is in the output twice.",
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
        "Which layer is put in place of child, and does it hold what A and B have learned?",
        "model.modules(): every part, at any depth. named_children(): the names and parts that one module holds.",
        "for every module of the model:\n    for every child that is a LoRALinear:\n        set the merged layer in its place\nreturn the model",
        "Near miss: model.named_children() sees the top floor alone.",
    ),
)
