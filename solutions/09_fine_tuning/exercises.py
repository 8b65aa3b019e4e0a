"""09 Fine-tuning: inputs, known mistakes, right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ the head


def head_cases(draw: Draw) -> Iterator[Case]:
    """The draws are multiples of 1/16, so that some are exactly p."""
    for B, T, D, C, p in ((3, 4, 6, 2, 0.25), (4, 3, 5, 7, 0.0), (2, 7, 8, 3, 0.5), (5, 2, 9, 9, 0.125)):
        draws = draw.integers(0, 16, B, D) / 16
        draws[0, :2] = p, (p + 0.5) % 1
        yield {
            "hidden": draw.normal(B, T, D),
            "W_pool": draw.normal(D, D, scale=D**-0.5),
            "b_pool": draw.normal(D, scale=0.5),
            "W": draw.normal(D, C, scale=D**-0.5),
            "b": draw.normal(C, scale=0.5),
            "draws": draws.astype(np.float32),
            "p": p,
        }


POOLED = "torch.tanh(hidden[:, 0] @ W_pool + b_pool)"
DROPPED = "pooled * (draws >= p) / (1 - p)"
LOGITS = "return dropped @ W + b"

classification_head = Exercise(
    cases=head_cases,
    rule=Rule(axes={"": "B C"}),
    mistakes=(
        Mistake(
            "the last token instead of [CLS]",
            "Your logits depend on the last token, which may be padding. The first one speaks for the row.",
            "hidden[:, 0]", "hidden[:, -1]",
        ),
        Mistake(
            "the mean of all tokens",
            "Your logits depend on every token of the last layer. That can be done (notebook 10), but BERT's head reads the first alone.",
            "hidden[:, 0]", "hidden.mean(dim=1)",
        ),
        Mistake(
            "no tanh",
            "Your pooler is linear: large vectors give larger logits than they should.",
            POOLED, "hidden[:, 0] @ W_pool + b_pool",
        ),
        Mistake(
            "no pooler",
            "Your logits do not change when W_pool does.",
            POOLED, "hidden[:, 0]",
        ),
        Mistake(
            "W_pool transposed",
            "W_pool is the other way round in your map: its rows stand for the inputs.",
            "@ W_pool", "@ W_pool.T",
        ),
        Mistake(
            "softmax in the head",
            "Your rows are probabilities. Logits are asked: the cross-entropy takes a softmax of its own, and a second one flattens the gradient.",
            LOGITS, "return (dropped @ W + b).softmax(dim=-1)",
        ),
        Mistake(
            "no dropout",
            "Your answer does not depend on the draws: it is right only where p is 0.",
            DROPPED, "pooled",
        ),
        Mistake(
            "what is kept is not divided",
            "You drop the right numbers, but what is kept is not divided: with dropout your logits are too near to b on average.",
            DROPPED, "pooled * (draws >= p)",
        ),
        Mistake(
            "kept where it should be dropped",
            "You keep exactly the numbers that should be dropped: one becomes 0 where its draw is *below* p.",
            "draws >= p", "draws < p",
        ),
        Mistake(
            "divided by p",
            "What is kept is divided by p, the share that is dropped, instead of by the share that is kept.",
            "/ (1 - p)", "/ (p if p else 1)",
        ),
        Mistake(
            "dropout before the pooler",
            "You drop numbers of [CLS] before the pooler; they are to be dropped behind it.",
            code="""
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    dropped = hidden[:, 0] * (draws >= p) / (1 - p)
    return torch.tanh(dropped @ W_pool + b_pool) @ W + b
""",
        ),
        Mistake(
            "dropout before the tanh",
            "You drop numbers between the linear map of the pooler and its tanh; they are to be dropped behind the tanh.",
            code="""
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    dropped = (hidden[:, 0] @ W_pool + b_pool) * (draws >= p) / (1 - p)
    return torch.tanh(dropped) @ W + b
""",
        ),
        Mistake(
            "a draw of exactly p dropped",
            "You also drop where the draw is exactly p (with p = 0, a draw of 0). A number becomes 0 where its draw is *below* p.",
            "draws >= p", "draws > p",
        ),
        Mistake(
            "multiplied by 1 − p",
            "What is kept is multiplied by 1 − p. It is divided by it, so that the sum stays the same on average.",
            "/ (1 - p)", "* (1 - p)",
        ),
        Mistake(
            "a tanh on the logits",
            "Your logits lie between −1 and 1: the tanh belongs to the pooler alone.",
            LOGITS, "return torch.tanh(dropped @ W + b)",
        ),
        Mistake(
            "relu for tanh",
            "Your pooler cuts off what is below 0. BERT's has a tanh.",
            "torch.tanh(", "torch.relu(",
        ),
        Mistake(
            "no bias",
            "Your logits do not change when b does.",
            LOGITS, "return dropped @ W",
        ),
        Mistake(
            "no bias in the pooler",
            "Your logits do not change when b_pool does. (Is b there?)",
            " + b_pool", "",
            also=(
                """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    return torch.tanh(hidden[:, 0] @ W_pool) * (draws >= p) / (1 - p) @ W
""",
            ),
        ),
    ),
    alternatives={
        "F.linear in float64": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    F = torch.nn.functional
    pooled = F.linear(hidden.select(1, 0).double(), W_pool.T.double(), b_pool.double()).tanh()
    pooled[draws < p] = 0
    return F.linear(pooled, W.T.double() / (1 - p), b.double())
""",
        "einsum and where": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = (torch.einsum("bd,de->be", hidden[:, 0, :], W_pool) + b_pool).tanh()
    kept = torch.where(draws < p, torch.zeros(()), pooled / (1 - p))
    return torch.einsum("bd,dc->bc", kept, W) + b
""",
        "numpy": """
import numpy as np
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    first = hidden.numpy()[:, 0]
    pooled = np.tanh(first @ W_pool.numpy() + b_pool.numpy())
    return (pooled * (draws.numpy() >= p) / (1 - p)) @ W.numpy() + b.numpy()
""",
    },
    hints=(
        "Which of the T vectors speaks for the row? What happens to it before there are C numbers, and which step is there only in training?",
        "hidden[:, 0]: (B, D). After the pooler (B, D), after dropout (B, D). W: (D, C). Out: (B, C), any real numbers.",
        "vector of [CLS] through W_pool, b_pool and tanh\nput 0 where the draw is below p, divide the rest by 1 − p\nthrough W and b",
        "Near miss: torch.nn.functional.dropout draws for itself; here the draws come in, so that two people get the same.",
    ),
)

# ------------------------------------------------------------------------------------------ counting


def sizes(draw: Draw, L: int) -> list[int]:
    """V, D, F, L, C of a miniature, all different."""
    V, D, F, C = (int(n) for n in draw.rng.permutation(np.arange(13, 60))[:4])
    return [V + 60, D, F, L, C]


def weights_of(L: int) -> int:
    """How many parameters (tensors) a miniature of L layers has."""
    return 3 + 6 * L + 6


def some_frozen(draw: Draw, L: int) -> np.ndarray:
    """A random third of them, the first one and one of the last among them."""
    frozen = draw.uniform(weights_of(L)) < 0.3
    frozen[0], frozen[1], frozen[-2], frozen[-1] = True, False, False, True
    return frozen


def count_cases(draw: Draw) -> Iterator[Case]:
    """A shared table is frozen once, and learns once."""
    for L, tied in ((2, False), (3, True), (1, True), (5, False)):
        frozen = some_frozen(draw, L)
        frozen[0] = L != 1
        yield {"sizes": sizes(draw, L), "tied": tied, "frozen": frozen}


SIZES = "[(weight.numel(), weight.requires_grad) for weight in model.parameters()]"
COUNTS = "return sum(size for size, _ in sizes), sum(size for size, learns in sizes if learns)"

count_parameters = Exercise(
    cases=count_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "tensors counted instead of numbers",
            "Your counts are far too small: a matrix of 20 × 30 is one tensor and 600 numbers.",
            "weight.numel()", "1",
            also=("""
def count_parameters(model):
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return len(sizes), sum(size for size, learns in sizes if learns)
""",),
        ),
        Mistake(
            "only the rows counted",
            "Your counts are too small: of a matrix you count the rows alone.",
            "weight.numel()", "len(weight)",
            also=("""
def count_parameters(model):
    sizes = [(weight, weight.requires_grad) for weight in model.parameters()]
    return sum(len(weight) for weight, _ in sizes), sum(weight.numel() for weight, learns in sizes if learns)
""",),
        ),
        Mistake(
            "a shared table counted twice",
            "Where the output layer shares the table of the embeddings, you count that table twice.",
            SIZES,
            "[(weight.numel(), weight.requires_grad) for _, weight in model.named_parameters(remove_duplicate=False)]",
        ),
        Mistake(
            "everything in the state_dict counted",
            "Your first number is too large: a state_dict also holds buffers, and a shared table under each of its names.",
            "return sum(size for size, _ in sizes)",
            "return sum(entry.numel() for entry in model.state_dict().values())",
        ),
        Mistake(
            "buffers counted",
            "Your first number is too large: you count buffers, too. No optimiser touches them.",
            "return sum(size for size, _ in sizes)",
            "return sum(size for size, _ in sizes) + sum(buffer.numel() for buffer in model.buffers())",
        ),
        Mistake(
            "every module's parameters again",
            "You count a parameter once for each module that it lies in. model.parameters() goes through all modules by itself.",
            SIZES,
            SIZES.replace(
                "for weight in model", "for module in model.modules() for weight in module"
            ),
        ),
        Mistake(
            "those that have a gradient already",
            "Your second number is 0: before the first backward no parameter *has* a gradient. Ask which require one.",
            "weight.requires_grad", "weight.grad is not None",
        ),
        Mistake(
            "one for each shape",
            "Two parameters of the same shape count once with you. Only a table that is *shared* is one parameter.",
            SIZES,
            f"{{(tuple(weight.shape), weight.requires_grad): one for weight, one in zip(model.parameters(), {SIZES})}}.values()",
        ),
        Mistake(
            "the frozen ones as the second number",
            "Your second number is the count of what does *not* learn.",
            "if learns", "if not learns",
        ),
        Mistake(
            "the frozen ones counted among those that learn",
            "Your two numbers are equal: the second is to leave out what requires no gradient.",
            " if learns", "",
        ),
        Mistake(
            "the results in the other order",
            "Your two numbers have changed places: (all, those that learn).",
            COUNTS, "return sum(size for size, learns in sizes if learns), sum(size for size, _ in sizes)",
        ),
        Mistake(
            "biases left out",
            "Your counts are a little too small: vectors are parameters, too.",
            "for weight in model.parameters()]", "for weight in model.parameters() if weight.ndim > 1]",
        ),
    ),
    alternatives={
        "a loop": """
def count_parameters(model):
    whole = learning = 0
    for name, weight in model.named_parameters():
        rows = 1
        for n in weight.shape:
            rows *= n
        whole += rows
        learning += rows if weight.requires_grad else 0
    return whole, learning
""",
        "a vector of all numbers": """
def count_parameters(model):
    flat = torch.nn.utils.parameters_to_vector(model.parameters())
    learning = [weight.flatten() for weight in model.parameters() if weight.requires_grad]
    return flat.numel(), torch.cat(learning).numel() if learning else 0
""",
    },
    hints=(
        "What does an optimiser get to see of a model? Which of these things does it change?",
        "In: a module. Out: two whole numbers, the second never above the first. weight.numel() counts the numbers of a tensor.",
        "for each parameter of the model (each once):\n    its count of numbers goes into the first sum\n    and, if it requires a gradient, into the second",
        "Near miss: len(list(model.parameters())) counts matrices; model.state_dict() names a shared table twice and has buffers in it.",
    ),
)

# ------------------------------------------------------------------------------------------ freezing


def freeze_cases(draw: Draw) -> Iterator[Case]:
    """Modules and single parameters by name, other ones in every round; layers.1 where there is a layers.10, too.

    The name of a part at the top, norm, is also that of parts inside others.
    """
    two, one = (sorted(draw.rng.choice(8, n, replace=False) + 2) for n in (2, 1))
    low = draw.rng.permutation(np.arange(1, 4))  # few models have layers beyond 9: to build one costs more than to freeze it
    asked = (
        (12, ["embeddings", "layers.1", *(f"layers.{i}" for i in two), "pooler"]),
        (4, [*(f"layers.{i}.norm" for i in low[:2]), "layers.0", "head.weight"]),
        (11, ["layers.1.widen.weight", "layers.10", f"layers.{one[0]}.narrow", "layers.9.norm.bias", "head"]),
        (4, ["norm", f"layers.{low[2]}.widen", "pooler.bias", "embeddings.token"]),
        (2, []),
    )
    for L, names in asked:
        yield {"sizes": sizes(draw, L), "tied": False, "frozen": some_frozen(draw, L), "names": names}


FROZEN = 'any(name == part or name.startswith(part + ".") for part in names)'
SET = "weight.requires_grad_(not frozen)"

freeze = Exercise(
    cases=freeze_cases,
    rule=Rule("equal", axes={"": "parameters"}),
    mistakes=(
        Mistake(
            "layers.10 frozen together with layers.1",
            "Where layers.1 is named you freeze more than it: layers.10 begins with the same letters.",
            FROZEN, "any(name.startswith(part) for part in names)",
        ),
        Mistake(
            "only the named parts learn",
            "It is the other way round: what you were told to freeze learns, and all else is frozen.",
            "not frozen", "frozen",
        ),
        Mistake(
            "what was frozen before stays frozen",
            "Parts that are not named learn afterwards, also those that came to you frozen. Yours stay as they were.",
            SET, "weight.requires_grad_(weight.requires_grad and not frozen)",
        ),
        Mistake(
            "names of parameters only",
            "You freeze a name only where it is that of a parameter. The name of a module means everything in it (and requires_grad = False, set on a module, does nothing).",
            FROZEN, "name in names",
        ),
        Mistake(
            "names of modules only",
            "You freeze a name only where it is that of a module; a single parameter can be named, too.",
            FROZEN, 'any(name.startswith(part + ".") for part in names)',
        ),
        Mistake(
            "only what lies directly in a module",
            "You freeze the parameters that lie directly in a named module and miss those of the modules inside it.",
            FROZEN, 'any(name == part or name.rpartition(".")[0] == part for part in names)',
        ),
        Mistake(
            "biases and layer norms still learn",
            "In the frozen parts you leave the vectors alone: biases and layer norms still learn.",
            SET, "weight.requires_grad_(not (frozen and weight.ndim > 1))",
        ),
        Mistake(
            "requires_grad set on a module",
            "Nothing changed. A module takes any attribute you give it, requires_grad = False as well, and its parameters know nothing of it.",
            code="""
def freeze(model, names):
    for name, module in model.named_modules():
        if name in names:
            module.requires_grad = False
""",
        ),
        Mistake(
            "only the first name",
            "You freeze the first of the names and forget the others.",
            FROZEN, 'any(name == part or name.startswith(part + ".") for part in names[:1])',
        ),
        Mistake(
            "only the last name",
            "You freeze the last of the names alone: for each name you set all parameters anew, and forget what the names before it froze.",
            FROZEN, 'any(name == part or name.startswith(part + ".") for part in names[-1:])',
            also=(
                """
def freeze(model, names):
    for part in names:
        for name, weight in model.named_parameters():
            weight.requires_grad = not (name == part or name.startswith(part + "."))
""",
            ),
        ),
        Mistake(
            "nothing done without names",
            "With an empty list you do nothing. All parameters learn then, also those that were frozen before.",
            "    for name, weight", "    if not names:\n        return\n    for name, weight",
        ),
        Mistake(
            "the letters of a name anywhere",
            "You freeze what holds the letters of a name anywhere: layers.10 with layers.1, and every layer's norm with the norm at the top. A name is read from the left.",
            FROZEN, "any(part in name for part in names)",
        ),
        Mistake(
            "the steps of a name anywhere",
            "layers.1 and layers.10 are told apart; but with the norm at the top you freeze the norm of every layer. A name is read from the left.",
            FROZEN, 'any(f".{part}." in f".{name}." for part in names)',
        ),
        Mistake(
            "the first step of the name alone",
            "You compare what stands before the first dot: a layer, or a parameter inside a part, is never found.",
            FROZEN, 'name.split(".")[0] in names',
        ),
        Mistake(
            "one parameter of each part",
            "You freeze the first parameter of each part and stop there. Everything inside a part stays as it is.",
            code="""
def freeze(model, names):
    model.requires_grad_(True)
    for part in names:
        for name, weight in model.named_parameters():
            if name == part or name.startswith(part + "."):
                weight.requires_grad = False
                break
""",
        ),
    ),
    alternatives={
        "all free, then module by module": """
def freeze(model, names):
    model.requires_grad_(True)
    modules, weights = dict(model.named_modules()), dict(model.named_parameters())
    for name in names:
        (modules[name] if name in modules else weights[name]).requires_grad_(False)
""",
        "the names cut at their dots": """
def freeze(model, names):
    wanted = {tuple(name.split(".")) for name in names}
    for name, weight in model.named_parameters():
        steps = tuple(name.split("."))
        weight.requires_grad = not any(steps[:n] in wanted for n in range(1, len(steps) + 1))
    return model
""",
    },
    hints=(
        'Print the names of model.named_parameters(). Which of them lie in "layers.1", and how can you tell from the name alone?',
        "In: a module and a list of names. Nothing has to be returned: weight.requires_grad_(True or False) changes a parameter where it is.",
        "for each parameter with its name:\n    is it one of the names, or inside one of them (the name, a dot, and more)?\n    it requires a gradient exactly if not",
        'Near miss: name.startswith("layers.1") is also true of layers.10 and layers.11.',
    ),
)

# ------------------------------------------------------------------------------------------ groups of parameters


def group_cases(draw: Draw) -> Iterator[Case]:
    """In two of the models some parameters are frozen; they belong to a group as well."""
    for L, lr, decay, weight_decay in ((12, 0.3, 0.9, 0.1), (3, 0.02, 0.5, 0.01), (4, 0.1, 0.6, 0.2), (2, 0.5, 0.7, 0.05), (1, 0.04, 0.8, 0.3)):  # fmt: skip
        lr, decay, weight_decay = (
            float(value * draw.uniform(low=0.8, high=1.1)) for value in (lr, decay, weight_decay)
        )
        yield {
            "sizes": sizes(draw, L),
            "tied": False,
            "frozen": some_frozen(draw, L) & (L in (3, 12)),
            "lr": lr,
            "decay": decay,
            "weight_decay": weight_decay,
        }


BELOW = 'L + 1 if part == "embeddings" else L - int(number) if part == "layers" else 0'
POWER = "lr * decay**below"
VECTORS = "weight_decay * (weight.ndim > 1)"

parameter_groups = Exercise(
    cases=group_cases,
    rule=Rule(axes={"lr": "parameters", "weight decay": "parameters"}),
    mistakes=(
        Mistake(
            "the depth reversed",
            "Your rates run the other way: your layer 0 learns fastest and the last layer slowest.",
            BELOW, 'L + 1 if part == "embeddings" else 1 + int(number) if part == "layers" else 0',
        ),
        Mistake(
            "the last layer as fast as the head",
            "Your layers and embeddings are one step too fast: the last layer already learns with lr · decay.",
            BELOW, 'L if part == "embeddings" else L - 1 - int(number) if part == "layers" else 0',
        ),
        Mistake(
            "the head slowed down, too",
            "What lies above the layers learns with lr itself; yours is slowed down.",
            BELOW, 'L + 2 if part == "embeddings" else L + 1 - int(number) if part == "layers" else 1',
        ),
        Mistake(
            "embeddings as fast as the head",
            "Your embeddings learn with the full rate. They are the lowest part.",
            BELOW, 'L - int(number) if part == "layers" else 0',
        ),
        Mistake(
            "embeddings as fast as layer 0",
            "Your embeddings learn as fast as layer 0: they lie one step below it.",
            BELOW, 'L if part == "embeddings" else L - int(number) if part == "layers" else 0',
        ),
        Mistake(
            "one digit of the layer's number",
            "Layers from 10 on get the rate of layer 1 in your answer: their number has two digits.",
            "int(number) if", "int(number[0]) if",
        ),
        Mistake(
            "one rate for all",
            "All your rates are lr: decay is never used.",
            POWER, "lr",
        ),
        Mistake(
            "decay times the depth",
            "Your rates fall in a line. Each layer gets decay times the rate of the one above it.",
            POWER, "lr * (1 - (1 - decay) * below)",
        ),
        Mistake(
            "decay times the number of steps",
            "You multiply decay by the number of steps down. The rate is multiplied by decay *at each* step.",
            POWER, "lr * (decay * below if below else 1)",
        ),
        Mistake(
            "counted from the bottom",
            "Your rates run the other way: your embeddings learn with lr and the head slowest.",
            BELOW, '0 if part == "embeddings" else int(number) + 1 if part == "layers" else L + 1',
        ),
        Mistake(
            "twelve layers assumed",
            "Your rates are right for a model of twelve layers. Count those of the model that comes in.",
            "L, groups = len(model.layers), []", "L, groups = 12, []",
        ),
        Mistake(
            "frozen parameters in no group",
            "Parameters that are frozen just now are in none of your groups. They may learn later, and the optimiser must know them.",
            "    for name, weight in model.named_parameters():",
            "    for name, weight in model.named_parameters():\n        if not weight.requires_grad:\n            continue",
        ),
        Mistake(
            "parts above the layers forgotten",
            "Of what lies above the layers (here norm, pooler and head) you name some parts and forget others, which are in no group and would not learn: every parameter is in one.",
            code="""
def parameter_groups(model, lr, decay, weight_decay):
    groups, rate = [], lr
    for part in (model.head, *reversed(model.layers), model.embeddings):
        for weight in part.parameters():
            groups.append({"params": [weight], "lr": rate, "weight_decay": weight_decay * (weight.ndim > 1)})
        rate *= decay
    return groups
""",
            also=(
                """
def parameter_groups(model, lr, decay, weight_decay):
    groups, rate = [], lr
    above = torch.nn.ModuleList([model.pooler, model.head])
    for part in (above, *reversed(model.layers), model.embeddings):
        for weight in part.parameters():
            groups.append({"params": [weight], "lr": rate, "weight_decay": weight_decay * (weight.ndim > 1)})
        rate *= decay
    return groups
""",
            ),
        ),
        Mistake(
            "weight decay falls with the rate",
            "Your weight decay shrinks from layer to layer like the rate. It is the same for all matrices.",
            VECTORS, "weight_decay * decay**below * (weight.ndim > 1)",
        ),
        Mistake(
            "the table not decayed",
            "You spare the table of the embeddings. It is a matrix and gets weight_decay like all others.",
            VECTORS, 'weight_decay * (weight.ndim > 1 and part != "embeddings")',
        ),
        Mistake(
            "biases and layer norms decayed",
            "All your parameters have the same weight decay. Biases and layer norms are not to be pulled towards 0.",
            VECTORS, "weight_decay",
        ),
        Mistake(
            "layer norms decayed",
            'You spare the biases and decay the scales of the layer norms. (Here a layer norm is called norm; a search for "LayerNorm" in the names finds nothing.)',
            VECTORS, 'weight_decay * (not name.endswith("bias"))',
        ),
        Mistake(
            "biases decayed",
            "You spare the layer norms and decay the biases of the linear maps.",
            VECTORS, 'weight_decay * ("norm" not in name)',
        ),
        Mistake(
            "decay the other way round",
            "You decay biases and layer norms, and spare the matrices.",
            VECTORS, "weight_decay * (weight.ndim < 2)",
        ),
    ),
    alternatives={
        "one group for each rate and decay": """
def parameter_groups(model, lr, decay, weight_decay):
    rates = {"embeddings": lr * decay ** (len(model.layers) + 1)}
    rate = lr
    for number in reversed(range(len(model.layers))):
        rate *= decay
        rates[f"layers.{number}"] = rate
    groups = {}
    for name, weight in model.named_parameters():
        part = next((part for part in rates if name.startswith(part + ".")), "")
        spared = name.endswith(".bias") or "norm" in name.split(".")
        key = rates.get(part, lr), 0.0 if spared else weight_decay
        groups.setdefault(key, []).append(weight)
    return [{"params": found, "lr": a, "weight_decay": b} for (a, b), found in groups.items()]
""",
        "modules instead of names": """
def parameter_groups(model, lr, decay, weight_decay):
    levels = [model.embeddings, *model.layers]
    inside = {id(w): len(levels) - i for i, part in enumerate(levels) for w in part.parameters()}
    plain = {id(w) for m in model.modules() if isinstance(m, (torch.nn.Linear, torch.nn.Embedding))
             for n, w in m.named_parameters(recurse=False) if n == "weight"}
    return [{"params": w, "lr": lr * decay ** inside.get(id(w), 0), "weight_decay": weight_decay if id(w) in plain else 0}
            for w in model.parameters()]
""",
    },
    hints=(
        "Number the parts from the top: how many steps down is the head, the last layer, layer 0, the table of embeddings?",
        "In: a module. Out: a list of dicts, as many as you like; torch.optim.AdamW(list) must take it, so each parameter stands in it once. "
        "A name such as layers.11.norm.bias has its layer between the first two dots.",
        "for each parameter with its name:\n    steps below the top: 0 for head and pooler, 1 for the last layer, L for layer 0, L + 1 for the embeddings\n"
        "    lr · decay to the power of these steps\n    weight_decay for matrices, 0 for vectors\n    a dict of its own",
        'Near miss: "LayerNorm" in name finds the layer norms of BERT in transformers and misses those of a model that calls them norm.',
    ),
)

# ------------------------------------------------------------------------------------------ warm-up


def warmup_cases(draw: Draw) -> Iterator[Case]:
    for warmup, total in ((5, 20), (0, 7), (1, 9), (11, 13), (40, 400)):
        total += int(draw.integers(0, 6))
        stop = total + 4
        steps = np.arange(stop) if stop < 60 else np.sort(draw.rng.permutation(stop)[:50])
        yield {"steps": steps, "warmup": warmup, "total": total}


RISE, FALL = "return step / warmup", "return max(0.0, (total - step) / (total - warmup))"

warmup_linear = Exercise(
    cases=warmup_cases,
    rule=Rule(axes={"": "steps"}),
    mistakes=(
        Mistake(
            "one step ahead in the warm-up",
            "Your warm-up is one step ahead: at step 0 the share is 0, and 1 is reached at step warmup.",
            RISE, "return (step + 1) / warmup",
        ),
        Mistake(
            "a division by 0 without warm-up",
            "Without warm-up (warmup = 0) your function divides by 0. The share is 1 at step 0 then, and the fall begins at once.",
            "if step < warmup", "if step <= warmup",
        ),
        Mistake(
            "0 at step 0 without warm-up",
            "Without warm-up (warmup = 0) the share is 1 at step 0; yours is 0.",
            edits={"if step < warmup": "if step <= warmup", RISE: "return step / max(1, warmup)"},
        ),
        Mistake(
            "negative after the end",
            "After step total your share is below 0: the model would climb the loss instead of going down.",
            FALL, "return (total - step) / (total - warmup)",
        ),
        Mistake(
            "no fall",
            "Your share stays at 1 after the warm-up; it has to fall in a line to 0 at step total.",
            FALL, "return 1.0",
            also=(
                """
def warmup_linear(step, warmup, total):
    return min(1.0, step / max(1, warmup)) if step < total else 0.0
""",
                """
def warmup_linear(step, warmup, total):
    return min(1.0, step / max(1, warmup))
""",
                """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return 1.0 if step < total else 0.0
""",
            ),
        ),
        Mistake(
            "a rise after the warm-up",
            "After step warmup your share rises from 0 again. From there on it is the part of the way that is *left*.",
            FALL, "return min(1.0, (step - warmup) / (total - warmup))",
            also=(
                """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return (step - warmup) / (total - warmup)
""",
            ),
        ),
        Mistake(
            "a cosine",
            "Your share falls in a curve, as a cosine does. Here it falls in a line.",
            FALL,
            "share = torch.tensor(min(1.0, (step - warmup) / (total - warmup)))\n    return (1 + torch.cos(torch.pi * share)) / 2",
        ),
        Mistake(
            "the lower of the rise and a fall from step 0",
            "Your fall is the line from 1 at step 0 to 0 at step total, so that your top is below 1. It has to begin at step warmup, with 1.",
            edits={
                FALL: "pass\n    return max(0.0, min(step / max(1, warmup) if warmup else 1.0, 1 - step / total))",
                "if step < warmup:": "if False:",
            },
        ),
        Mistake(
            "one line from 1 to 0",
            "Your share falls from step 0 on: there is no warm-up in it.",
            edits={FALL: "return max(0.0, (total - step) / total)", RISE: "return (total - step) / total"},
        ),
        Mistake(
            "the fall one step late",
            "Your share is 1 at step warmup and at the step after it, and reaches 0 one step late.",
            FALL, "return min(1.0, max(0.0, (total - step + 1) / (total - warmup)))",
        ),
        Mistake(
            "no warm-up",
            "Your share is 1 from the first step on.",
            RISE, "return 1.0",
        ),
        Mistake(
            "a jump at the end of the warm-up",
            "At step warmup your share jumps: the fall has to begin at 1, so it is shared out over the steps that are left.",
            FALL, "return max(0.0, (total - step) / total)",
        ),
        Mistake(
            "the fall counted from step warmup",
            "Your fall ends too late: 0 is to be reached at step total, not at total + warmup.",
            FALL, "return max(0.0, (total - (step - warmup)) / total)",
        ),
        Mistake(
            "the end one step early",
            "Your share reaches 0 one step early.",
            FALL, "return max(0.0, (total - 1 - step) / (total - 1 - warmup))",
        ),
        Mistake(
            "whole numbers only",
            "Your shares are 0 and 1 with nothing between: // drops what is behind the point.",
            edits={RISE: "return step // warmup", FALL: "return max(0.0, (total - step) // (total - warmup))"},
        ),
        Mistake(
            "down to the start value and up again",
            "After step total your share rises again.",
            FALL, "return abs(total - step) / (total - warmup)",
        ),
    ),
    alternatives={
        "the lower of two lines": """
def warmup_linear(step, warmup, total):
    up = step / warmup if warmup else 1.0
    down = (total - step) / (total - warmup)
    return max(min(up, down), 0.0)
""",
        "interpolation": """
import numpy as np
def warmup_linear(step, warmup, total):
    if warmup == 0:
        return float(np.interp(step, [0, total], [1, 0]))
    return float(np.interp(step, [0, warmup, total], [0, 1, 0]))
""",
        "a tensor": """
def warmup_linear(step, warmup, total):
    step = torch.tensor(float(step))
    return torch.where(step < warmup, step / max(warmup, 1), (total - step) / (total - warmup)).clamp(min=0)
""",
    },
    survivors={
        "if step <= warmup": "at step warmup both lines are 1, and without warm-up step 0 must not divide",
        "max(0.0": "max(0, x) for whole 0",
    },
    hints=(
        "Draw it: where does the line start, where is its top, where does it end? What are the two slopes?",
        "In: three whole numbers. Out: one number from 0 to 1. At 0, warmup, total: 0, 1, 0.",
        "before step warmup: step as a share of warmup\nfrom there on: what is left until total, as a share of what was left at warmup\nnever below 0",
        "Near miss: (total − step) / total is a line to 0 as well, but it does not pass through 1 at step warmup.",
    ),
)

# ------------------------------------------------------------------------------------------ Adam, mended


def adam_cases(draw: Draw) -> Iterator[Case]:
    """Rates and epsilons so large that each of them shows in the answer."""
    settings = ((0.2, 0.9, 0.99, 0.05, 0.1), (0.05, 0.6, 0.8, 0.2, 0.4), (0.1, 0.8, 0.95, 0.1, 0.0), (0.3, 0.5, 0.9, 0.02, 0.2))  # fmt: skip
    for (lr, beta_1, beta_2, epsilon, weight_decay), (rows, columns), steps in zip(
        settings, ((3, 4), (2, 6), (4, 2), (5, 3)), (4, 3, 6, 1), strict=True
    ):
        yield {
            "w": draw.normal(rows, columns),
            "gradients": draw.normal(steps, rows, columns),
            "lr": lr,
            "beta_1": beta_1,
            "beta_2": beta_2,
            "epsilon": epsilon,
            "weight_decay": weight_decay,
        }


HATS = "m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)"
UPDATE = "update = m_hat / (v_hat.sqrt() + epsilon) + weight_decay * w"
NEXT_M, NEXT_V = "m = beta_1 * m + (1 - beta_1) * gradient", "v = beta_2 * v + (1 - beta_2) * gradient**2"
RETURN = "return w - lr * update, m, v"

adam_step = Exercise(
    cases=adam_cases,
    rule=Rule(axes={"w": "rows columns", "m": "rows columns", "v": "rows columns"}),
    mends=True,
    mistakes=(
        Mistake(
            "as it was in 2018",
            "This is still the faulty step: both averages start at 0 and are too small at first, each by another factor.",
            HATS, "m_hat, v_hat = m, v",
        ),
        Mistake(
            "only m corrected",
            "You correct m alone: v is still too small at first, so you divide by too little and your steps are too long.",
            HATS, "m_hat, v_hat = m / (1 - beta_1**step), v",
        ),
        Mistake(
            "only v corrected",
            "You correct v alone: m is still too small at first, and your first steps are too short.",
            HATS, "m_hat, v_hat = m, v / (1 - beta_2**step)",
        ),
        Mistake(
            "the same factor at every step",
            "Your correction is that of the first step for ever. How much is missing after two steps?",
            HATS, "m_hat, v_hat = m / (1 - beta_1), v / (1 - beta_2)",
        ),
        Mistake(
            "one step late",
            "Your correction is that of the next step: the first step is number 1.",
            HATS, "m_hat, v_hat = m / (1 - beta_1 ** (step + 1)), v / (1 - beta_2 ** (step + 1))",
        ),
        Mistake(
            "the correction of m one step late",
            "You correct m as at the next step: the first step is number 1. v is corrected rightly.",
            "m / (1 - beta_1**step)", "m / (1 - beta_1 ** (step + 1))",
        ),
        Mistake(
            "the corrected averages handed on",
            "You hand the corrected averages to the next step, where they are corrected again. m and v themselves go on.",
            RETURN, "return w - lr * update, m_hat, v_hat",
        ),
        Mistake(
            "the weights added to the gradient",
            "You add the weights to the gradient, so that Adam divides them by √v, too. The comment in the file of 2018 warns of exactly this.",
            edits={
                NEXT_M: "gradient = gradient + weight_decay * w\n    m = beta_1 * m + (1 - beta_1) * gradient",
                UPDATE: "update = m_hat / (v_hat.sqrt() + epsilon)",
            },
        ),
        Mistake(
            "no weight decay",
            "Your weights do not shrink: the term with weight_decay is missing.",
            UPDATE, "update = m_hat / (v_hat.sqrt() + epsilon)",
        ),
        Mistake(
            "weight decay without the learning rate",
            "Your weights shrink by weight_decay whatever lr is. It belongs to the update, which lr multiplies.",
            edits={
                UPDATE: "update = m_hat / (v_hat.sqrt() + epsilon)",
                RETURN: "return w - lr * update - weight_decay * w, m, v",
            },
        ),
        Mistake(
            "epsilon under the root",
            "Your epsilon stands under the root; it belongs behind it.",
            "(v_hat.sqrt() + epsilon)", "(v_hat + epsilon).sqrt()",
        ),
        Mistake(
            "epsilon added to the uncorrected root",
            "Your epsilon is added to the root of the *uncorrected* v: the correction, made in the learning rate, then changes epsilon, too. The update uses both means corrected.",
            code="""
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    size = lr * (1 - beta_2**step) ** 0.5 / (1 - beta_1**step)
    return w - size * m / (v.sqrt() + epsilon) - lr * weight_decay * w, m, v
""",
        ),
        Mistake(
            "weight decay after the step",
            "You shrink the weights *after* they have moved. Update and decay are both taken from the old weights.",
            RETURN, "return (w - lr * m_hat / (v_hat.sqrt() + epsilon)) * (1 - lr * weight_decay), m, v",
        ),
        Mistake(
            "beta times step",
            "You multiply beta by the number of the step. After two steps beta · beta of the start is left: its power.",
            HATS, "m_hat, v_hat = m / (1 - beta_1 * step), v / (1 - beta_2 * step)",
            also=(
                """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1 * step), v / (1 - beta_2 * step)
    return w - lr * (m_hat / (v_hat.abs().sqrt() + epsilon) + weight_decay * w), m, v
""",
            ),
        ),
        Mistake(
            "the betas exchanged",
            "Your m forgets as slowly as v should, and v as fast as m: beta_1 belongs to the mean of the gradient.",
            NEXT_M, "beta_1, beta_2 = beta_2, beta_1\n    m = beta_1 * m + (1 - beta_1) * gradient",
        ),
        Mistake(
            "beta_2 for both averages",
            "Your m forgets as slowly as v: beta_1 belongs to the mean of the gradient, beta_2 to that of its square.",
            NEXT_M, "m = beta_2 * m + (1 - beta_2) * gradient",
        ),
        Mistake(
            "the gradient not squared",
            "Your v is a mean of sizes: it is the *square* of the gradient whose mean v keeps.",
            "gradient**2", "gradient.abs()",
        ),
        Mistake(
            "no root",
            "You divide by the corrected v itself. Its root has the unit of a gradient.",
            "v_hat.sqrt()", "v_hat",
        ),
        Mistake(
            "uphill",
            "Your weights go the other way: the update is subtracted.",
            RETURN, "return w + lr * update, m, v",
        ),
    ),
    alternatives={
        "the correction in the learning rate": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = torch.lerp(m, gradient, 1 - beta_1)
    v = torch.lerp(v, gradient.square(), 1 - beta_2)
    root = (1 - beta_2**step) ** 0.5
    size = lr * root / (1 - beta_1**step)
    return w * (1 - lr * weight_decay) - size * m / (v.sqrt() + epsilon * root), m, v
""",
        "torch's own AdamW": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    weight = torch.nn.Parameter(w.clone())
    optimiser = torch.optim.AdamW([weight], lr=lr, betas=(beta_1, beta_2), eps=epsilon, weight_decay=weight_decay)
    optimiser.state[weight] = {"step": torch.tensor(float(step - 1)), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    weight.grad = gradient.clone()
    optimiser.step()
    state = optimiser.state[weight]
    return weight.detach(), state["exp_avg"], state["exp_avg_sq"]
""",
    },
    hints=(
        "m and v start at 0. After one step, which share of the gradient is in m, and which share of its square in v? After ten?",
        "w, gradient, m, v: all of one shape. step is 1 at the first call. Out: three tensors of that shape; m and v as they are, uncorrected.",
        "m and v as before\nm corrected: divided by 1 − beta_1 to the power of step\nv corrected: the same with beta_2\nthe update with the corrected two; all else as before",
        "Near miss: handing the corrected m and v on to the next step corrects them a second time there.",
    ),
)

# ------------------------------------------------------------------------------------------ one step of training


def step_cases(draw: Draw) -> Iterator[Case]:
    """Parts of unequal sizes, in one case a single one; the norm is bounded in the last two."""
    settings = (
        ("SGD", 0.5, 5.0, 4, (4, 2), 5, 3),
        ("SGD", 0.3, 0.2, 3, (2, 3, 2), 4, 2),
        ("AdamW", 0.1, 0.15, 4, (2, 6), 3, 6),
        ("SGD", 0.4, 0.1, 3, (5,), 4, 3),
    )
    for kind, lr, max_norm, steps, sizes, D, C in settings:
        yield {
            "W": draw.normal(C, D, scale=0.5),
            "b": draw.normal(C, scale=0.5),
            "inputs": draw.normal(steps, sum(sizes), D),
            "labels": draw.integers(0, C, steps, sum(sizes)),
            "sizes": list(sizes),
            "shares": [float(share) for share in draw.uniform(3 * steps + 1, low=0.3, high=1.0)],
            "kind": kind,
            "lr": lr,
            "max_norm": max_norm,
        }


LOSS = 'torch.nn.functional.cross_entropy(model(inputs), labels, reduction="sum") / count'
CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
MEAN = "torch.nn.functional.cross_entropy(model(inputs), labels)"
WEIGHTED = "sum(loss * len(labels) for loss, (_, labels) in zip(losses, parts)) / count"
EACH = "        total += loss.item()\n"



def _in_parts(loss: str, each: str, after: str, returned: str) -> str:
    """A cell with what is done after each part's gradient is there, and after all parts."""
    return f"""
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    count, losses = sum(len(labels) for _, labels in parts), []
    for inputs, labels in parts:
        loss = {loss}
        loss.backward()
        {each}
        losses.append(loss.item())
    {after}
    return {returned}
"""


train_step = Exercise(
    cases=step_cases,
    rule=Rule(axes={"weight": "C D", "losses": "steps"}),
    mistakes=(
        Mistake(
            "the mean of the means",
            "Your parts all count the same, however few examples they hold. The mean over all examples of the batch is asked: an example in a small part counts no more than one in a large part.",
            LOSS, "torch.nn.functional.cross_entropy(model(inputs), labels) / len(parts)",
        ),
        Mistake(
            "the means added up",
            "Your loss grows with the number of parts: the means of the parts are added up. Divide by the number of examples of the whole batch.",
            LOSS, MEAN,
            also=(_in_parts(MEAN, "pass", f"{CLIP}; optimiser.step(); schedule.step()", "sum(losses) / len(losses)"),),
        ),
        Mistake(
            "the sum of the losses",
            "Your loss grows with the size of the batch, and so does the step: the mean is asked.",
            LOSS, 'torch.nn.functional.cross_entropy(model(inputs), labels, reduction="sum")',
        ),
        Mistake(
            "zeroed for each part",
            "Only the last part of your batch teaches: the gradients of the parts before are set to zero. They are to add up.",
            edits={"    optimiser.zero_grad()\n": "", "        loss = torch": "        optimiser.zero_grad()\n        loss = torch"},
        ),
        Mistake(
            "no zero_grad",
            "From the second step on your gradients hold those of all steps before: they add up until someone sets them to zero.",
            "optimiser.zero_grad()", "pass",
        ),
        Mistake(
            "a step for each part",
            "Your optimiser steps once for each part. The parts make one batch, and that is one step.",
            edits={EACH: EACH + f"        {CLIP}\n        optimiser.step()\n", f"    {CLIP}\n    optimiser.step()\n": ""},
            also=tuple(
                _in_parts(loss, f"{CLIP}; optimiser.step(); {each}; optimiser.zero_grad()", after, returned)
                for loss in (LOSS, MEAN)
                for each, after in (("pass", "schedule.step()"), ("schedule.step()", "pass"))
                for returned in ("sum(losses)", "sum(losses) / len(losses)", WEIGHTED)
            ),
        ),
        Mistake(
            "clipped for each part",
            "You clip after each part. What must not be too large is the gradient of the whole batch, when all parts have been added.",
            edits={EACH: EACH + f"        {CLIP}\n", f"    {CLIP}\n    optimiser": "    optimiser"},
        ),
        Mistake(
            "the parts glued together",
            "You read the whole batch at once. That is what does not fit into memory: the model reads one part at a time.",
            "    for inputs, labels in parts:\n",
            "    for inputs, labels in [tuple(map(torch.cat, zip(*parts)))]:\n",
        ),
        Mistake(
            "weights that never change",
            "Your weights never change: the gradient is thrown away before the optimiser can use it, or the optimiser never steps.",
            "optimiser.step()", "optimiser.zero_grad()",
        ),
        Mistake(
            "softmax before the cross-entropy",
            "Your loss is too even, and hardly falls: cross_entropy takes logits and has a softmax of its own.",
            "model(inputs), labels", "model(inputs).softmax(dim=-1), labels",
        ),
        Mistake(
            "no clipping",
            "Your steps are too long where the gradient is large: max_norm is not used, or before the gradients are there, or after the optimiser has stepped.",
            CLIP, "pass",
        ),
        Mistake(
            "always scaled to max_norm",
            "You also scale gradients *up* to max_norm. Only a norm above it is brought down.",
            CLIP,
            "norm = torch.cat([weight.grad.flatten() for weight in model.parameters()]).norm()\n"
            "    [weight.grad.mul_(max_norm / norm) for weight in model.parameters()]",
        ),
        Mistake(
            "clipped at 1",
            "You clip at 1, whatever max_norm is.",
            CLIP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        ),
        Mistake(
            "each number clipped",
            "You cut each number of the gradient at max_norm. Its norm is meant: all of them are scaled by one factor, and the direction stays.",
            CLIP, "torch.nn.utils.clip_grad_value_(model.parameters(), max_norm)",
        ),
        Mistake(
            "each tensor clipped by itself",
            "You clip each parameter by itself. The norm is that of all gradients together.",
            CLIP, "[torch.nn.utils.clip_grad_norm_([weight], max_norm) for weight in model.parameters()]",
        ),
        Mistake(
            "the schedule forgotten",
            "Your learning rate never changes: the schedule has to be told of each step.",
            "schedule.step()", "pass",
        ),
        Mistake(
            "the schedule before the optimiser",
            "Your learning rates are one step ahead: the first share of the schedule is never used.",
            "optimiser.step()\n    schedule.step()", "schedule.step()\n    optimiser.step()",
        ),
        Mistake(
            "the schedule told of each part",
            "Your schedule runs too fast: it is told of each part. It counts steps of the optimiser.",
            edits={EACH: EACH + "        schedule.step()\n", "    optimiser.step()\n    schedule.step()\n": "    optimiser.step()\n"},
        ),
        Mistake(
            "left in evaluation mode",
            "The model is still in evaluation mode, as the last look at the test sentences left it: what works otherwise in training, such as dropout, sleeps.",
            "model.train()", "pass",
        ),
        Mistake(
            "back in evaluation mode",
            "The weights are right, but you leave the model in evaluation mode. The next step would find it there; who evaluates sets it.",
            "return total", "model.eval()\n    return total",
        ),
        Mistake(
            "the loss of the last part",
            "The weights are right, but what you return is the last part's share of the loss, not that of the whole batch.",
            "return total", "return loss.item()",
        ),
    ),
    alternatives={
        "the outputs side by side, one backward, clipped by hand": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train(True)
    log_p = torch.cat([model(inputs) for inputs, _ in parts]).log_softmax(dim=1)
    labels = torch.cat([labels for _, labels in parts])
    loss = -log_p[torch.arange(len(labels)), labels].mean()
    loss.backward()
    gradients = [weight.grad for weight in model.parameters()]
    norm = sum(g.square().sum() for g in gradients).sqrt()
    if norm > max_norm:
        for g in gradients:
            g.mul_(max_norm / norm)
    optimiser.step()
    optimiser.zero_grad(set_to_none=False)
    schedule.step()
    return loss
""",
        "means, weighted by their examples": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    for weight in model.parameters():
        weight.grad = None
    sizes = torch.tensor([float(len(labels)) for _, labels in parts])
    losses = []
    for share, (inputs, labels) in zip(sizes / sizes.sum(), parts):
        loss = share * torch.nn.CrossEntropyLoss()(model(inputs), labels)
        loss.backward()
        losses.append(loss.detach())
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
    optimiser.step()
    schedule.step()
    return float(sum(losses))
""",
    },
    hints=(
        "Two parts hold four examples and two. What share of the whole batch's mean does each example have?",
        "In: a list of parts. Out: one number. model(inputs): (b, C), logits as they are. What changes is inside the model and the optimiser.",
        "training mode\nold gradients away\ncount the examples of all parts\nfor each part: its share of the loss, backward\nclip\nthe optimiser's step, then the schedule's\nreturn the sum of the shares as a number",
        "Near miss: the mean of each part, divided by the number of parts. It is right as long as all parts are of one size.",
    ),
)

# ------------------------------------------------------------------------------------------ gradual unfreezing


def unfreeze_cases(draw: Draw) -> Iterator[Case]:
    """Every epoch until all parts learn, and some after that; in the last case a late one."""
    for L in (2, 6, 12, 3):
        yield {"epochs": draw.rng.permutation([*range(L + 4), *([15] if L == 3 else [])]), "L": L}


LEARNS = "torch.arange(L + 2) >= L + 1 - epoch"

unfreeze_at = Exercise(
    cases=unfreeze_cases,
    rule=Rule("equal", axes={"": "epochs parts"}),
    mistakes=(
        Mistake(
            "from the bottom up",
            "Your embeddings learn first and the head last. The head is new, so it comes first.",
            LEARNS, "torch.arange(L + 2) <= epoch",
        ),
        Mistake(
            "one part at a time",
            "In each epoch only one part learns. What has begun to learn goes on.",
            LEARNS, "torch.arange(L + 2) == max(L + 1 - epoch, 0)",
            also=(
                """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) == L + 1 - epoch
""",
            ),
        ),
        Mistake(
            "the head first, then from the bottom",
            "The head learns first, as it should; but behind it you go from the bottom up. The highest layer comes next, the embeddings last.",
            LEARNS, "(torch.arange(L + 2) < epoch) | (torch.arange(L + 2) == L + 1)",
        ),
        Mistake(
            "a slice of −epoch",
            "In epoch 0 everything learns, or you are one part behind: a slice that begins at −0 begins at 0, and in epoch e there are e + 1 parts.",
            LEARNS,
            "torch.cat([torch.zeros(L + 2), torch.zeros(0)]).index_fill(0, torch.arange(L + 2)[-epoch:], 1).bool()",
            also=(
                """
def unfreeze_at(epoch, L):
    learns = torch.zeros(L + 2, dtype=torch.bool)
    learns[-epoch:] = True
    learns[-1] = True
    return learns
""",
            ),
        ),
        Mistake(
            "begun again when all have learned",
            "When all parts learn your plan begins again with the head alone. What has begun to learn goes on.",
            LEARNS, "torch.arange(L + 2) >= L + 1 - epoch % (L + 2)",
        ),
        Mistake(
            "an error after the last part",
            "Your function stops with an error in late epochs. When all parts learn, nothing more happens.",
            code="""
def unfreeze_at(epoch, L):
    learns = [False] * (L + 2)
    for part in range(epoch + 1):
        learns[L + 1 - part] = True
    return torch.tensor(learns)
""",
        ),
        Mistake(
            "no embeddings",
            "You have L + 1 truth values. There are L + 2 parts: the embeddings, L layers and the head.",
            LEARNS, "torch.arange(L + 1) >= L - epoch",
        ),
        Mistake(
            "one layer early",
            "In epoch 0 your last layer learns already; the head is to be alone there.",
            LEARNS, "torch.arange(L + 2) >= L - epoch",
        ),
        Mistake(
            "one layer late",
            "In epoch 0 nothing learns in your answer. The head does.",
            LEARNS, "torch.arange(L + 2) > L + 1 - epoch",
        ),
        Mistake(
            "embeddings never",
            "Your embeddings stay frozen for ever; they are the last to be freed.",
            LEARNS, "torch.arange(L + 2) >= max(L + 1 - epoch, 1)",
        ),
        Mistake(
            "all after the first epoch",
            "From epoch 1 on everything learns in your answer: one part is freed in each epoch.",
            LEARNS, "torch.arange(L + 2) >= (L + 1 if epoch == 0 else 0)",
        ),
        Mistake(
            "frozen instead of learning",
            "Your answer says what is frozen. True is for what learns.",
            LEARNS, "torch.arange(L + 2) < L + 1 - epoch",
        ),
    ),
    alternatives={
        "a list": """
def unfreeze_at(epoch, L):
    learns = [False] * (L + 2)
    for part in range(1, min(epoch + 1, L + 2) + 1):
        learns[-part] = True
    return torch.tensor(learns)
""",
        "turned round": """
import numpy as np
def unfreeze_at(epoch, L):
    from_the_top = np.arange(L + 2) <= epoch
    return from_the_top[::-1].copy()
""",
    },
    hints=(
        "In epoch 0 one part learns, in epoch 1 two. Which? How many are there in all?",
        "Out: L + 2 truth values: embeddings first, then layer 0 to L − 1, then the head.",
        "epoch 0: the head\neach epoch after it: one part more, from the top down\nafter L + 1 epochs: everything",
        "Near miss: freeing only the newest part in each epoch is another method (chain-thaw, Felbo et al. 2017).",
    ),
)

# ------------------------------------------------------------------------------------------ early stopping


def stopping_cases(draw: Draw) -> Iterator[Case]:
    """Curves that fall, waver and rise, in steps of 1/8, so that ties and gains of exactly min_delta occur."""
    for curves, epochs, patience, min_delta in (
        (9, 17, 3, 0.0),
        (11, 14, 2, 0.125),
        (8, 19, 4, 0.25),
        (12, 9, 1, 0.0),
    ):
        bottom = draw.uniform(curves, 1, low=epochs / 3, high=epochs)
        trend = 3 * ((np.arange(epochs) - bottom) / epochs) ** 2
        wavering = draw.normal(curves, epochs, scale=0.2)
        losses = np.round(8 * (1 + trend + wavering).clip(min=0.125)) / 8
        losses[:5] = made_curves(epochs, min_delta)
        yield {"curves": draw.rng.permutation(losses), "patience": patience, "min_delta": min_delta}


def made_curves(epochs: int, min_delta: float) -> np.ndarray:
    """Curves in which one rule decides. Behind each of them the loss only rises."""
    gain = min_delta or 0.5
    begun = (
        [3, 3 - min_delta],  # a gain of exactly min_delta, or a tie: not better
        [
            3,
            3 - 0.75 * gain,
            3 - 1.5 * gain,
            3 - 2.25 * gain,
            3 - 3 * gain,
        ],  # two small gains make a large one
        [3, 4, 3.5, 3.25, 3.125],  # falls, but never below the first
        [3, 3.5, 2.5, 3, 2, 2.5, 1.5, 2],  # every other epoch is better
        [3, 2, 1, 0.5],
    )
    return np.array([[*some, *(5 + np.arange(epochs - len(some)) / 8)] for some in begun])


BETTER = "loss < self.best - self.min_delta"
KEEP = "self.best, self.best_epoch = loss, self.epoch"
STOP = "return self.epoch - self.best_epoch >= self.patience"
START = """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch, self.worse = -1, float("inf"), -1, 0

    def step(self, loss):
        self.epoch += 1
"""

early_stopping = Exercise(
    cases=stopping_cases,
    rule=Rule("equal", axes={"stop": "curves epochs", "best epoch": "curves"}),
    mistakes=(
        Mistake(
            "patience never reset",
            "You count all bad epochs together. A new best loss starts the count again.",
            code=START
            + """
        if loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        else:
            self.worse += 1
        return self.worse >= self.patience
""",
        ),
        Mistake(
            "compared with the epoch before",
            "You compare with the epoch before. A loss that wavers upwards then looks better every other time; the best so far is the measure.",
            code=START
            + """
        if loss < self.best - self.min_delta:
            self.best_epoch = self.epoch
        self.best = loss
        return self.epoch - self.best_epoch >= self.patience
""",
        ),
        Mistake(
            "a tie counted as better",
            "An epoch that only equals the best, or is below it by exactly min_delta, counts as better in your answer. It has to be *more*.",
            BETTER, "loss <= self.best - self.min_delta",
        ),
        Mistake(
            "min_delta not used",
            "You take the smallest gain for an improvement: it has to be more than min_delta.",
            BETTER, "loss < self.best",
        ),
        Mistake(
            "min_delta added",
            "An epoch that is a little *worse* than the best counts as better in your answer: min_delta is to be subtracted from the best.",
            BETTER, "loss < self.best + self.min_delta",
        ),
        Mistake(
            "min_delta as a share",
            "You take min_delta for a share of the best loss. It is a difference between two losses.",
            BETTER, "loss < self.best * (1 - self.min_delta)",
        ),
        Mistake(
            "the best follows every small gain",
            "Your best loss follows each small gain, so that several of them never add up to one that counts. best changes only with an epoch that is better by more than min_delta.",
            code=START
            + """
        if loss < self.best - self.min_delta:
            self.worse, self.best_epoch = 0, self.epoch
        else:
            self.worse += 1
        self.best = min(self.best, loss)
        return self.worse >= self.patience
""",
        ),
        Mistake(
            "best_epoch follows every small gain",
            "You stop at the right time, but best_epoch is that of the lowest loss. It belongs to the last epoch that was better by more than min_delta.",
            code=START
            + """
        if loss < self.best - self.min_delta:
            self.best, self.worse = loss, 0
        else:
            self.worse += 1
        self.losses = [*getattr(self, "losses", []), loss]
        self.best_epoch = self.losses.index(min(self.losses))
        return self.worse >= self.patience
""",
        ),
        Mistake(
            "the last of several as good",
            "Of epochs with the same lowest loss you take the last as the best, or ignore min_delta besides. An epoch is better only if it is below the best by more than min_delta.",
            code="""
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.losses, self.best_epoch = patience, [], -1

    def step(self, loss):
        self.losses.append(loss)
        lowest = min(self.losses)
        self.best_epoch = max(epoch for epoch, one in enumerate(self.losses) if one == lowest)
        return len(self.losses) - 1 - self.best_epoch >= self.patience
""",
        ),
        Mistake(
            "epochs counted from 1",
            "You stop at the right time, but your best_epoch is one too high: epochs count from 0.",
            code="""
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = 0, float("inf"), 0

    def step(self, loss):
        self.epoch += 1
        if loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        ),
        Mistake(
            "best_epoch never set",
            "You stop at the right time, but best_epoch stays where it began.",
            code=START
            + """
        if loss < self.best - self.min_delta:
            self.best, self.worse = loss, 0
        else:
            self.worse += 1
        return self.worse >= self.patience
""",
        ),
        Mistake(
            "the first epoch never the best",
            "Epoch 0 is never the best with you: best_epoch stays −1 until a later one is better, and you stop too early.",
            code=START
            + """
        if self.epoch == 0:
            self.best = loss
        elif loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        ),
        Mistake(
            "True while it goes on",
            "Your answer is True as long as the training should go on. True means stop.",
            STOP, "return self.epoch - self.best_epoch < self.patience",
        ),
        Mistake(
            "one epoch too patient",
            "You stop one epoch late: with patience 1 the first epoch without improvement is the last.",
            STOP, "return self.epoch - self.best_epoch > self.patience",
        ),
        Mistake(
            "the largest loss as the best",
            "You take the largest for the best. That is right for an accuracy; here it is a loss.",
            BETTER, "self.epoch == 0 or loss > self.best + self.min_delta",
        ),
        Mistake(
            "best_epoch is the last one",
            "You stop at the right time, but best_epoch is the epoch at which you stop. The weights to keep are older.",
            code=START
            + """
        if loss < self.best - self.min_delta:
            self.best, self.worse = loss, 0
        else:
            self.worse += 1
        self.best_epoch = self.epoch
        return self.worse >= self.patience
""",
        ),
        Mistake(
            "never stops",
            "Your answer is never True.",
            STOP, "return False",
        ),
    ),
    alternatives={
        "a counter": START
        + """
        if loss + self.min_delta < self.best:
            self.best, self.best_epoch, self.worse = loss, self.epoch, 0
        else:
            self.worse += 1
        return self.worse >= self.patience
""",
        "all losses kept": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta, self.losses = patience, min_delta, []

    def step(self, loss):
        self.losses.append(loss)
        best, self.best_epoch = self.losses[0], 0
        for epoch, one in enumerate(self.losses):
            if best - one > self.min_delta:
                best, self.best_epoch = one, epoch
        return torch.tensor(len(self.losses) - 1 - self.best_epoch >= self.patience)
""",
    },
    hints=(
        "Which epoch would you go back to if you stopped now? How long ago was it?",
        "step gets one number and returns True or False. Between calls the object remembers: the epoch, the best loss, its epoch.",
        "one epoch more\nbetter than the best by more than min_delta? then it is the best, with its epoch\nstop if the best is at least patience epochs old",
        "Near miss: counting the bad epochs without ever setting the count back to 0 stops a training that is still getting better.",
    ),
)
