"""09 Fine-tuning: inputs, known mistakes, right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ the head


def head_cases(draw: Draw) -> Iterator[Case]:
    """The draws are multiples of 1/16, so that some of them equal p."""
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
            "last token instead of [CLS]",
            "Your logits depend on the last token, which may be padding. BERT's head uses the first token, [CLS].",
            "hidden[:, 0]", "hidden[:, -1]",
        ),
        Mistake(
            "mean of all tokens",
            "Your logits depend on every token of the last layer. That is possible (notebook 10), but BERT's head uses only "
            "the first token.",
            "hidden[:, 0]", "hidden.mean(dim=1)",
        ),
        Mistake(
            "tanh missing",
            "Your pooler is linear, so long vectors give larger logits than they should. Apply tanh after the linear map.",
            POOLED, "hidden[:, 0] @ W_pool + b_pool",
        ),
        Mistake(
            "pooler missing",
            "Your logits do not depend on W_pool.",
            POOLED, "hidden[:, 0]",
        ),
        Mistake(
            "W_pool transposed",
            "You multiply by the transpose of W_pool. The rows of W_pool itself correspond to inputs.",
            "@ W_pool", "@ W_pool.T",
        ),
        Mistake(
            "softmax in the head",
            "Your rows are probabilities, but the head should return logits, because the cross-entropy applies the softmax itself. A second softmax flattens the gradient.",
            LOGITS, "return (dropped @ W + b).softmax(dim=-1)",
        ),
        Mistake(
            "dropout missing",
            "Your answer does not depend on the draws, so it is correct only where p is 0.",
            DROPPED, "pooled",
        ),
        Mistake(
            "kept entries not scaled",
            "You drop the correct entries but do not divide the others by 1 − p, so your logits are too close to b on average.",
            DROPPED, "pooled * (draws >= p)",
        ),
        Mistake(
            "comparison inverted",
            "You keep exactly the entries that should be dropped. An entry should become 0 where its draw is *below* p.",
            "draws >= p", "draws < p",
        ),
        Mistake(
            "divided by p",
            "You divide the kept entries by p, the probability of being dropped. Divide by the probability of being kept, 1 − "
            "p.",
            "/ (1 - p)", "/ (p if p else 1)",
        ),
        Mistake(
            "dropout before the pooler",
            "You drop entries of the [CLS] vector before the pooler. Apply dropout after it.",
            code="""
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    dropped = hidden[:, 0] * (draws >= p) / (1 - p)
    return torch.tanh(dropped @ W_pool + b_pool) @ W + b
""",
        ),
        Mistake(
            "dropout before the tanh",
            "You drop entries between the linear map of the pooler and its tanh. Apply dropout after the tanh.",
            code="""
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    dropped = (hidden[:, 0] @ W_pool + b_pool) * (draws >= p) / (1 - p)
    return torch.tanh(dropped) @ W + b
""",
        ),
        Mistake(
            "draws equal to p dropped",
            "You also drop entries whose draw equals p (with p = 0, a draw of 0). An entry becomes 0 only where its draw is "
            "*below* p.",
            "draws >= p", "draws > p",
        ),
        Mistake(
            "multiplied by 1 − p",
            "You multiply the kept entries by 1 − p. Divide by 1 − p, so that the expected sum stays the same.",
            "/ (1 - p)", "* (1 - p)",
        ),
        Mistake(
            "tanh applied to the logits",
            "Your logits lie between −1 and 1. The tanh belongs to the pooler only.",
            LOGITS, "return torch.tanh(dropped @ W + b)",
        ),
        Mistake(
            "ReLU instead of tanh",
            "Your pooler sets negative values to 0. BERT's pooler uses tanh.",
            "torch.tanh(", "torch.relu(",
        ),
        Mistake(
            "bias b missing",
            "Your logits do not depend on b.",
            LOGITS, "return dropped @ W",
        ),
        Mistake(
            "bias b_pool missing",
            "Your logits do not depend on b_pool. (Did you use b?)",
            " + b_pool", "",
            also=(
                """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    return torch.tanh(hidden[:, 0] @ W_pool) * (draws >= p) / (1 - p) @ W
""",
            ),
        ),
        detached("classification_head"),
    ),
    alternatives={
        "F.linear in float64": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    F = torch.nn.functional
    pooled = F.linear(hidden.select(1, 0).double(), W_pool.T.double(), b_pool.double()).tanh().clone()
    pooled[draws < p] = 0
    return F.linear(pooled, W.T.double() / (1 - p), b.double())
""",
        "einsum and where": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = (torch.einsum("bd,de->be", hidden[:, 0, :], W_pool) + b_pool).tanh()
    kept = torch.where(draws < p, torch.zeros(()), pooled / (1 - p))
    return torch.einsum("bd,dc->bc", kept, W) + b
""",
        "text by text": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    logits = []
    for text, draw in zip(hidden, torch.from_numpy(draws.numpy())):
        pooled = torch.tanh(text[0] @ W_pool + b_pool)
        logits.append((pooled * (draw >= p) / (1 - p)) @ W + b)
    return torch.stack(logits)
""",
    },
    hints=(
        "Which of the T vectors represents the whole sequence? What happens to it before the C logits are computed, and which step "
        "happens only in training?",
        "hidden[:, 0]: (B, D). After the pooler (B, D), after dropout (B, D). W: (D, C). Output: (B, C), any real numbers.",
        "apply W_pool, b_pool and tanh to the vector of [CLS]\nset to 0 where the draw is below p, divide the rest by 1 − "
        "p\napply W and b",
        "A near miss: torch.nn.functional.dropout generates its own draws; here the draws are given, so that everyone obtains the same result.",
    ),
)

# ------------------------------------------------------------------------------------------ counting


def sizes(draw: Draw, L: int) -> list[int]:
    """V, D, F, L, C of a miniature, all different."""
    V, D, F, C = (int(n) for n in draw.rng.permutation(np.arange(13, 60))[:4])
    return [V + 60, D, F, L, C]


def weights_of(L: int) -> int:
    """The number of parameters (tensors) of a miniature with L layers."""
    return 3 + 6 * L + 6


def some_frozen(draw: Draw, L: int) -> np.ndarray:
    """A mask of frozen parameters: a random third, including the first and the last parameter."""
    frozen = draw.uniform(weights_of(L)) < 0.3
    frozen[0], frozen[1], frozen[-2], frozen[-1] = True, False, False, True
    return frozen


def count_cases(draw: Draw) -> Iterator[Case]:
    """A shared table is frozen in one case and trained in another."""
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
            "tensors counted instead of entries",
            "Your counts are far too small, because you count tensors. A matrix of 20 × 30 is one tensor but has 600 entries.",
            "weight.numel()", "1",
            also=("""
def count_parameters(model):
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return len(sizes), sum(size for size, learns in sizes if learns)
""",),
        ),
        Mistake(
            "rows counted instead of entries",
            "Your counts are too small, because you count the rows of each matrix instead of its entries.",
            "weight.numel()", "len(weight)",
            also=("""
def count_parameters(model):
    sizes = [(weight, weight.requires_grad) for weight in model.parameters()]
    return sum(len(weight) for weight, _ in sizes), sum(weight.numel() for weight, learns in sizes if learns)
""",),
        ),
        Mistake(
            "shared matrix counted twice",
            "Where the output layer shares the embedding matrix, you count that matrix twice.",
            SIZES,
            "[(weight.numel(), weight.requires_grad) for _, weight in model.named_parameters(remove_duplicate=False)]",
        ),
        Mistake(
            "state_dict counted",
            "Your first number is too large, because a state_dict also contains buffers and lists a shared matrix under each of its names.",
            "return sum(size for size, _ in sizes)",
            "return sum(entry.numel() for entry in model.state_dict().values())",
        ),
        Mistake(
            "buffers counted",
            "Your first number is too large, because you also count buffers, which no optimiser changes.",
            "return sum(size for size, _ in sizes)",
            "return sum(size for size, _ in sizes) + sum(buffer.numel() for buffer in model.buffers())",
        ),
        Mistake(
            "parameters counted once per enclosing module",
            "You count a parameter once for every module that contains it. model.parameters() already visits all modules.",
            SIZES,
            SIZES.replace(
                "for weight in model", "for module in model.modules() for weight in module"
            ),
        ),
        Mistake(
            "existing gradients checked",
            "Your second number is 0, because no parameter *has* a gradient before the first backward pass. Check which parameters *require* a gradient.",
            "weight.requires_grad", "weight.grad is not None",
        ),
        Mistake(
            "parameters of equal shape merged",
            "You count two parameters of the same shape only once. Only a *shared* matrix is a single parameter.",
            SIZES,
            f"{{(tuple(weight.shape), weight.requires_grad): one for weight, one in zip(model.parameters(), {SIZES})}}.values()",
        ),
        Mistake(
            "frozen parameters as the second number",
            "Your second number counts the parameters that are *not* trainable.",
            "if learns", "if not learns",
        ),
        Mistake(
            "frozen parameters counted as trainable",
            "Your two numbers are equal, but the second number should exclude parameters that require no gradient.",
            " if learns", "",
        ),
        Mistake(
            "results in the wrong order",
            "Your two numbers are swapped: return (all, trainable).",
            COUNTS, "return sum(size for size, learns in sizes if learns), sum(size for size, _ in sizes)",
        ),
        Mistake(
            "biases not counted",
            "Your counts are slightly too small, because you leave out vectors such as biases. They are parameters as well.",
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
        "Which tensors of a model does an optimiser receive, and which of them does it change?",
        "Input: a module. Output: two integers, the second never larger than the first. weight.numel() is the number of "
        "entries of a tensor.",
        "for each parameter of the model (each once):\n    add its number of entries to the first sum\n    and, if it requires a "
        "gradient, to the second",
        "A near miss: len(list(model.parameters())) counts tensors; model.state_dict() lists a shared matrix twice and "
        "includes buffers.",
    ),
)

# ------------------------------------------------------------------------------------------ freezing


def freeze_cases(draw: Draw) -> Iterator[Case]:
    """Names of modules and of single parameters, different in each case. layers.1 also occurs in models that have a layers.10.

    The part norm at the top has the same name as parts inside others.
    """
    two, one = (sorted(draw.rng.choice(8, n, replace=False) + 2) for n in (2, 1))
    low = draw.rng.permutation(np.arange(1, 4))  # few models have more than ten layers, because building one takes longer than freezing it
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
            "Where layers.1 is named, you also freeze layers.10, whose name begins with the same characters.",
            FROZEN, "any(name.startswith(part) for part in names)",
        ),
        Mistake(
            "frozen and trainable swapped",
            "In your model, the named parts are trainable and everything else is frozen. It should be the other way round.",
            "not frozen", "frozen",
        ),
        Mistake(
            "previously frozen parts left frozen",
            "Parts that are not named must be trainable afterwards, even if they were frozen before. You leave frozen parts frozen.",
            SET, "weight.requires_grad_(weight.requires_grad and not frozen)",
        ),
        Mistake(
            "module names ignored",
            "You act on a name only if it is the name of a parameter. The name of a module refers to everything inside it (and setting "
            "requires_grad = False on a module has no effect).",
            FROZEN, "name in names",
        ),
        Mistake(
            "parameter names ignored",
            "You act on a name only if it is the name of a module. A name may also refer to a single parameter.",
            FROZEN, 'any(name.startswith(part + ".") for part in names)',
        ),
        Mistake(
            "nested modules missed",
            "You freeze the parameters that belong directly to a named module but miss the parameters of the modules inside it.",
            FROZEN, 'any(name == part or name.rpartition(".")[0] == part for part in names)',
        ),
        Mistake(
            "biases and layer norms left trainable",
            "In the frozen parts you leave the vectors (biases and layer norms) trainable.",
            SET, "weight.requires_grad_(not (frozen and weight.ndim > 1))",
        ),
        Mistake(
            "requires_grad set on a module",
            "Nothing changed. You can set any attribute on a module, including requires_grad = False, but this does not affect "
            "its parameters.",
            code="""
def freeze(model, names):
    for name, module in model.named_modules():
        if name in names:
            module.requires_grad = False
""",
        ),
        Mistake(
            "only the first name frozen",
            "You use only the first name and ignore the others.",
            FROZEN, 'any(name == part or name.startswith(part + ".") for part in names[:1])',
        ),
        Mistake(
            "only the last name frozen",
            "Only the last name has an effect, because you set all parameters again for each name. This unfreezes the parts named earlier.",
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
            "empty list ignored",
            "You do nothing for an empty list. In this case all parameters must be trainable, including those that were frozen before.",
            "    for name, weight", "    if not names:\n        return\n    for name, weight",
        ),
        Mistake(
            "substring match",
            "You freeze every parameter whose name contains the given name anywhere. For example, layers.1 also freezes layers.10, and norm, the part at the top, also freezes the norm of every layer. Match from the beginning of the name.",
            FROZEN, "any(part in name for part in names)",
        ),
        Mistake(
            "match in the middle of a name",
            "You distinguish layers.1 from layers.10, but where norm, the part at the top, is named, you also freeze the norm of every layer. "
            "Match from the beginning of the name.",
            FROZEN, 'any(f".{part}." in f".{name}." for part in names)',
        ),
        Mistake(
            "only the first component compared",
            "You compare only the part of the name before the first dot, so a single layer or a parameter inside a part is never found.",
            FROZEN, 'name.split(".")[0] in names',
        ),
        Mistake(
            "one parameter per part frozen",
            "You freeze the first parameter of each part and stop. Freeze everything inside the part.",
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
        "Print the names in model.named_parameters(). Which of them belong to \"layers.1\", and how can you tell from the name "
        "alone?",
        "Input: a module and a list of names. Nothing has to be returned: weight.requires_grad_(True or False) changes a "
        "parameter in place.",
        "for each parameter with its name:\n    is it one of the names, or inside one of them (the name, a dot, and more)?\n    "
        "it requires a gradient if and only if neither is the case",
        "A near miss: name.startswith(\"layers.1\") is also true of layers.10 and layers.11.",
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
            "layer order reversed",
            "Your learning rates are reversed: layer 0 has the highest rate and the last layer the lowest.",
            BELOW, 'L + 1 if part == "embeddings" else 1 + int(number) if part == "layers" else 0',
        ),
        Mistake(
            "layer rates one step too high",
            "The learning rates of your layers and embeddings are one step too high. The last layer should already use lr · decay.",
            BELOW, 'L if part == "embeddings" else L - 1 - int(number) if part == "layers" else 0',
        ),
        Mistake(
            "head with a reduced rate",
            "In your groups, the parts above the layers use a lower learning rate. They should use lr itself.",
            BELOW, 'L + 2 if part == "embeddings" else L + 1 - int(number) if part == "layers" else 1',
        ),
        Mistake(
            "embeddings with the full rate",
            "Your embeddings use the full learning rate. They are the lowest part and should use the lowest rate.",
            BELOW, 'L - int(number) if part == "layers" else 0',
        ),
        Mistake(
            "embeddings with the rate of layer 0",
            "Your embeddings use the rate of layer 0. They are one step below layer 0, so their rate should be lower by the factor decay.",
            BELOW, 'L if part == "embeddings" else L - int(number) if part == "layers" else 0',
        ),
        Mistake(
            "only one digit of the layer number",
            "From layer 10 on, your layers use the rate of layer 1, because you read only the first of two digits.",
            "int(number) if", "int(number[0]) if",
        ),
        Mistake(
            "one rate for all parts",
            "All your learning rates equal lr, because you do not use decay.",
            POWER, "lr",
        ),
        Mistake(
            "linear decay",
            "Your rates decrease linearly. Each layer uses decay times the rate of the layer above it.",
            POWER, "lr * (1 - (1 - decay) * below)",
        ),
        Mistake(
            "decay multiplied by depth",
            "You multiply decay by the number of steps down. Multiply the rate by decay *at each* step.",
            POWER, "lr * (decay * below if below else 1)",
        ),
        Mistake(
            "counted from the bottom",
            "Your learning rates are reversed: the embeddings use lr and the head uses the lowest rate.",
            BELOW, '0 if part == "embeddings" else int(number) + 1 if part == "layers" else L + 1',
        ),
        Mistake(
            "twelve layers assumed",
            "Your rates are correct for a model with twelve layers. Use the number of layers of the given model.",
            "L, groups = len(model.layers), []", "L, groups = 12, []",
        ),
        Mistake(
            "frozen parameters in no group",
            "You leave out parameters that are currently frozen. They may be unfrozen later, so they must belong to a group.",
            "    for name, weight in model.named_parameters():",
            "    for name, weight in model.named_parameters():\n        if not weight.requires_grad:\n            continue",
        ),
        Mistake(
            "parts above the layers left out",
            "You name some of the parts above the layers (here norm, pooler and head) and leave out others, which then belong "
            "to no group and would not be trained. Every parameter belongs to a group.",
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
            "weight decay reduced by depth",
            "Your weight decay shrinks from layer to layer along with the learning rate. It should be the same for all matrices.",
            VECTORS, "weight_decay * decay**below * (weight.ndim > 1)",
        ),
        Mistake(
            "embedding matrix without weight decay",
            "You use no weight decay for the embedding matrix. It should use weight_decay like all other matrices.",
            VECTORS, 'weight_decay * (weight.ndim > 1 and part != "embeddings")',
        ),
        Mistake(
            "weight decay on biases and layer norms",
            "All your parameters use the same weight decay. Biases and layer norms should use 0.",
            VECTORS, "weight_decay",
        ),
        Mistake(
            "weight decay on layer norms",
            "You exempt the biases from weight decay but not the scales of the layer norms. (Here a layer norm is called norm; "
            "searching the names for \"LayerNorm\" finds nothing.)",
            VECTORS, 'weight_decay * (not name.endswith("bias"))',
        ),
        Mistake(
            "weight decay on biases",
            "You exempt the layer norms from weight decay but not the biases of the linear maps.",
            VECTORS, 'weight_decay * ("norm" not in name)',
        ),
        Mistake(
            "weight decay on vectors instead of matrices",
            "You use weight decay for biases and layer norms but not for matrices. It should be the other way round.",
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
        "Number the parts from the top: how many steps down are the head, the last layer, layer 0 and the embeddings?",
        "Input: a module. Output: a list of any number of dicts that torch.optim.AdamW accepts. Each parameter occurs "
        "exactly once. In a name such as layers.11.norm.bias, the layer number is between the first two dots.",
        "for each parameter with its name:\n    steps below the top: 0 for head and pooler, 1 for the last layer, L for layer "
        "0, L + 1 for the embeddings\n    lr · decay to the power of these steps\n    weight_decay for matrices, 0 for vectors\n    "
        "put the parameter into a dict of its own",
        "A near miss: \"LayerNorm\" in name finds the layer norms of BERT in transformers but misses those of a model that calls "
        "them norm.",
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
            "warm-up one step ahead",
            "Your warm-up is one step ahead. The fraction should be 0 at step 0 and reach 1 at step warmup.",
            RISE, "return (step + 1) / warmup",
        ),
        Mistake(
            "division by 0 without warm-up",
            "Without warm-up (warmup = 0) your function divides by 0. In that case the fraction should be 1 at step 0 and "
            "decrease from there.",
            "if step < warmup", "if step <= warmup",
        ),
        Mistake(
            "0 at step 0 without warm-up",
            "Without warm-up (warmup = 0), the fraction at step 0 should be 1, but your function returns 0.",
            edits={"if step < warmup": "if step <= warmup", RISE: "return step / max(1, warmup)"},
        ),
        Mistake(
            "negative after the end",
            "After step total your fraction is negative, so the optimiser would increase the loss. The fraction should stay at 0.",
            FALL, "return (total - step) / (total - warmup)",
        ),
        Mistake(
            "no decay after the warm-up",
            "Your fraction stays at 1 after the warm-up. It should decrease linearly to 0 at step total.",
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
            "increase after the warm-up",
            "After step warmup your fraction increases again from 0. After the warm-up, it should be the number of steps still *left*, divided by the number of all steps after the warm-up.",
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
            "cosine decay",
            "Your fraction decreases along a cosine. It should decrease linearly.",
            FALL,
            "share = torch.tensor(min(1.0, (step - warmup) / (total - warmup)))\n    return (1 + torch.cos(torch.pi * share)) / 2",
        ),
        Mistake(
            "minimum of the rise and a decay from step 0",
            "Your decay is the line from 1 at step 0 to 0 at step total, so your maximum is below 1. The decay should start "
            "from 1 at step warmup.",
            edits={
                FALL: "pass\n    return max(0.0, min(step / max(1, warmup) if warmup else 1.0, 1 - step / total))",
                "if step < warmup:": "if False:",
            },
        ),
        Mistake(
            "no warm-up phase",
            "Your fraction decreases from step 0 on, so there is no warm-up.",
            edits={FALL: "return max(0.0, (total - step) / total)", RISE: "return (total - step) / total"},
        ),
        Mistake(
            "decay one step late",
            "Your fraction is 1 both at step warmup and at the following step, and reaches 0 one step late.",
            FALL, "return min(1.0, max(0.0, (total - step + 1) / (total - warmup)))",
        ),
        Mistake(
            "warm-up missing",
            "Your fraction is 1 from the first step on. It should increase linearly from 0 at step 0 to 1 at step warmup.",
            RISE, "return 1.0",
        ),
        Mistake(
            "jump at the end of the warm-up",
            "At step warmup your fraction jumps. The decay should start from 1, so spread the decay over the steps that are left.",
            FALL, "return max(0.0, (total - step) / total)",
        ),
        Mistake(
            "decay ends too late",
            "Your decay ends too late. The fraction should reach 0 at step total, not at total + warmup.",
            FALL, "return max(0.0, (total - (step - warmup)) / total)",
        ),
        Mistake(
            "decay ends one step early",
            "Your fraction reaches 0 one step early.",
            FALL, "return max(0.0, (total - 1 - step) / (total - 1 - warmup))",
        ),
        Mistake(
            "integer division",
            "Your fractions are only 0 and 1, because // discards everything after the decimal point.",
            edits={RISE: "return step // warmup", FALL: "return max(0.0, (total - step) // (total - warmup))"},
        ),
        Mistake(
            "increase after the end",
            "After step total your fraction increases again. It should stay at 0.",
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
        "Draw the function: where does the line start, where is its maximum, where does it end? What are the two slopes?",
        "Input: three integers. Output: a number from 0 to 1. At 0, warmup, total: 0, 1, 0.",
        "before step warmup: step as a fraction of warmup\nfrom then on: the steps left until total, as a fraction of the "
        "steps left at step warmup\nnever below 0",
        "A near miss: (total − step) / total also decreases linearly to 0, but it is not 1 at step warmup.",
    ),
)

# ------------------------------------------------------------------------------------------ Adam, mended


def adam_cases(draw: Draw) -> Iterator[Case]:
    """Learning rates and epsilons so large that each of them affects the answer visibly."""
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
            "bug of 2018 unchanged",
            "Your step still has the bug: both running means start at 0 and are too small at first, each by a different factor.",
            HATS, "m_hat, v_hat = m, v",
        ),
        Mistake(
            "only m corrected",
            "You correct only m. v is still too small at first, so you divide by too little and your steps are too long.",
            HATS, "m_hat, v_hat = m / (1 - beta_1**step), v",
        ),
        Mistake(
            "only v corrected",
            "You correct only v. m is still too small at first, so your first steps are too short.",
            HATS, "m_hat, v_hat = m, v / (1 - beta_2**step)",
        ),
        Mistake(
            "correction of the first step used throughout",
            "You use the correction of the first step at every step. By what factor are the means too small after two steps?",
            HATS, "m_hat, v_hat = m / (1 - beta_1), v / (1 - beta_2)",
        ),
        Mistake(
            "correction of the next step",
            "You use the correction of the following step. The first step is number 1.",
            HATS, "m_hat, v_hat = m / (1 - beta_1 ** (step + 1)), v / (1 - beta_2 ** (step + 1))",
        ),
        Mistake(
            "correction of the next step for m",
            "You correct m with the number of the next step, but the first step is number 1. Your v is correct.",
            "m / (1 - beta_1**step)", "m / (1 - beta_1 ** (step + 1))",
        ),
        Mistake(
            "corrected means returned",
            "You pass the corrected means on to the next step, where they are corrected again. Return m and v themselves.",
            RETURN, "return w - lr * update, m_hat, v_hat",
        ),
        Mistake(
            "weight decay inside the gradient",
            "You add the weights to the gradient, so Adam also divides them by √v. A comment in the file of 2018 warns "
            "against exactly this.",
            edits={
                NEXT_M: "gradient = gradient + weight_decay * w\n    m = beta_1 * m + (1 - beta_1) * gradient",
                UPDATE: "update = m_hat / (v_hat.sqrt() + epsilon)",
            },
        ),
        Mistake(
            "weight decay missing",
            "Your weights do not decay, because the term with weight_decay is missing.",
            UPDATE, "update = m_hat / (v_hat.sqrt() + epsilon)",
        ),
        Mistake(
            "weight decay not multiplied by the learning rate",
            "Your weights decay by weight_decay, whatever lr is. The decay is part of the update, which is multiplied by lr.",
            edits={
                UPDATE: "update = m_hat / (v_hat.sqrt() + epsilon)",
                RETURN: "return w - lr * update - weight_decay * w, m, v",
            },
        ),
        Mistake(
            "epsilon inside the square root",
            "You add epsilon inside the square root. Add it after taking the root.",
            "(v_hat.sqrt() + epsilon)", "(v_hat + epsilon).sqrt()",
        ),
        Mistake(
            "epsilon added to the uncorrected root",
            "You add epsilon to the root of the *uncorrected* v and correct within the learning rate, so the correction also "
            "changes epsilon. Use the corrected means in the update.",
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
            "You apply the decay *after* the weights have moved. Compute both the step and the decay from the old weights.",
            RETURN, "return (w - lr * m_hat / (v_hat.sqrt() + epsilon)) * (1 - lr * weight_decay), m, v",
        ),
        Mistake(
            "beta multiplied by the step",
            "You multiply beta by the number of the step. Use a power of beta instead: after two steps, the initial value is multiplied by beta².",
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
            "beta_1 and beta_2 swapped",
            "Your m decays as slowly as v should, and v decays as fast as m should, because beta_1 and beta_2 are swapped. beta_1 belongs to the mean of the gradient.",
            NEXT_M, "beta_1, beta_2 = beta_2, beta_1\n    m = beta_1 * m + (1 - beta_1) * gradient",
        ),
        Mistake(
            "beta_2 for both averages",
            "Your m changes as slowly as v. beta_1 belongs to the mean of the gradient, beta_2 to the mean of its square.",
            NEXT_M, "m = beta_2 * m + (1 - beta_2) * gradient",
        ),
        Mistake(
            "gradient not squared",
            "Your v averages absolute values. It should be the running mean of the *squared* gradient.",
            "gradient**2", "gradient.abs()",
        ),
        Mistake(
            "square root missing",
            "You divide by the corrected v itself. Its square root has the unit of a gradient.",
            "v_hat.sqrt()", "v_hat",
        ),
        Mistake(
            "sign of the update wrong",
            "Your weights move in the wrong direction. Subtract the update.",
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
        "m and v start at 0. After one step, what fraction of the gradient does m contain, and what fraction of its square "
        "does v contain? After ten steps?",
        "w, gradient, m, v all have the same shape. step is 1 at the first call. Output: three tensors of that shape; m and v "
        "uncorrected.",
        "m and v as before\nm corrected: divided by 1 − beta_1 to the power of step\nv corrected: likewise with beta_2\nthe "
        "update with the corrected means; everything else as before",
        "A near miss: passing the corrected m and v on to the next step corrects them a second time there.",
    ),
)

# ------------------------------------------------------------------------------------------ one step of training


def step_cases(draw: Draw) -> Iterator[Case]:
    """Micro-batches of unequal sizes, in one case a single one; max_norm is small in all but the first case."""
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
    """A cell with the code to run after each micro-batch's backward pass, and after all of them."""
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
            "mean of the micro-batches' means",
            "All your micro-batches have the same weight, however few examples they contain. Take the mean over all examples "
            "of the batch, each with the same weight.",
            LOSS, "torch.nn.functional.cross_entropy(model(inputs), labels) / len(parts)",
        ),
        Mistake(
            "sum of the micro-batches' means",
            "Your loss grows with the number of micro-batches, because you add up their means. Divide by the number of "
            "examples in the whole batch.",
            LOSS, MEAN,
            also=(_in_parts(MEAN, "pass", f"{CLIP}; optimiser.step(); schedule.step()", "sum(losses) / len(losses)"),),
        ),
        Mistake(
            "sum instead of mean",
            "Your loss grows with the size of the batch, and so do your steps. Take the mean.",
            LOSS, 'torch.nn.functional.cross_entropy(model(inputs), labels, reduction="sum")',
        ),
        Mistake(
            "gradients zeroed for each micro-batch",
            "Only the last micro-batch affects the step, because you set the gradients of the earlier micro-batches to zero. The gradients must accumulate.",
            edits={"    optimiser.zero_grad()\n": "", "        loss = torch": "        optimiser.zero_grad()\n        loss = torch"},
        ),
        Mistake(
            "gradients never set to zero",
            "From the second step on, each gradient also contains the gradients of all earlier steps, because they accumulate until they are set to zero.",
            "optimiser.zero_grad()", "pass",
        ),
        Mistake(
            "one step per micro-batch",
            "Your optimiser steps once per micro-batch. The micro-batches form one batch, for which it should step only once.",
            edits={EACH: EACH + f"        {CLIP}\n        optimiser.step()\n", f"    {CLIP}\n    optimiser.step()\n": ""},
            also=tuple(
                _in_parts(loss, f"{CLIP}; optimiser.step(); {each}; optimiser.zero_grad()", after, returned)
                for loss in (LOSS, MEAN)
                for each, after in (("pass", "schedule.step()"), ("schedule.step()", "pass"))
                for returned in ("sum(losses)", "sum(losses) / len(losses)", WEIGHTED)
            ),
        ),
        Mistake(
            "clipped after each micro-batch",
            "You clip after each micro-batch. Clip the gradient of the whole batch, after the gradients of all micro-batches have been accumulated.",
            edits={EACH: EACH + f"        {CLIP}\n", f"    {CLIP}\n    optimiser": "    optimiser"},
        ),
        Mistake(
            "micro-batches concatenated",
            "You process the whole batch at once, but such a batch may not fit into memory. Let the model process one "
            "micro-batch at a time.",
            "    for inputs, labels in parts:\n",
            "    for inputs, labels in [tuple(map(torch.cat, zip(*parts)))]:\n",
        ),
        Mistake(
            "weights that never change",
            "Your weights never change. Either the gradients are set to zero before the optimiser uses them, or the optimiser "
            "never steps.",
            "optimiser.step()", "optimiser.zero_grad()",
        ),
        Mistake(
            "softmax before the cross-entropy",
            "Your loss hardly decreases, because cross_entropy expects logits and applies the softmax itself.",
            "model(inputs), labels", "model(inputs).softmax(dim=-1), labels",
        ),
        Mistake(
            "gradient not clipped",
            "Your steps are too large where the gradient is large. Either max_norm is not used, or you clip before the "
            "gradients exist or after the optimiser has stepped.",
            CLIP, "pass",
        ),
        Mistake(
            "gradient always scaled to max_norm",
            "You also scale small gradients *up* to max_norm. Only a norm above max_norm is reduced.",
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
            "clipped by value instead of by norm",
            "You clip each entry of the gradient at max_norm. Clip its norm instead: all entries are scaled by the same "
            "factor, which preserves the direction.",
            CLIP, "torch.nn.utils.clip_grad_value_(model.parameters(), max_norm)",
        ),
        Mistake(
            "each tensor clipped separately",
            "You clip the gradient of each parameter separately. Clip the norm of all gradients together.",
            CLIP, "[torch.nn.utils.clip_grad_norm_([weight], max_norm) for weight in model.parameters()]",
        ),
        Mistake(
            "schedule not stepped",
            "Your learning rate never changes. Call schedule.step() after each step.",
            "schedule.step()", "pass",
        ),
        Mistake(
            "schedule stepped before the optimiser",
            "Your learning rates are one step ahead, because the first value of the schedule is never used.",
            "optimiser.step()\n    schedule.step()", "schedule.step()\n    optimiser.step()",
        ),
        Mistake(
            "schedule stepped per micro-batch",
            "Your schedule advances too fast, because it steps once per micro-batch. It should advance once for each step of the optimiser.",
            edits={EACH: EACH + "        schedule.step()\n", "    optimiser.step()\n    schedule.step()\n": "    optimiser.step()\n"},
        ),
        Mistake(
            "model left in evaluation mode",
            "The model is still in evaluation mode when it processes the batch, so components such as dropout are inactive. "
            "Call `model.train()` first.",
            "model.train()", "pass",
        ),
        Mistake(
            "model returned in evaluation mode",
            "The weights are correct, but you leave the model in evaluation mode. The exercise does not require this, because the code that evaluates the model sets the mode itself.",
            "return total", "model.eval()\n    return total",
        ),
        Mistake(
            "loss of the last micro-batch returned",
            "The weights are correct, but you return only the last micro-batch's contribution to the loss. Return the loss of "
            "the whole batch.",
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
        "Two micro-batches contain four and two examples. What weight does each example have in the mean of the whole batch?",
        "Input: a list of micro-batches. Output: a number. model(inputs): (b, C), logits. The function changes the model and "
        "the optimiser in place.",
        "training mode\nset old gradients to zero\ncount the examples of all micro-batches\nfor each micro-batch: its "
        "contribution to the loss, backward\nclip\noptimiser step, then schedule step\nreturn the sum of the contributions as a "
        "number",
        "A near miss: the mean of the micro-batches' means. It is correct only if all micro-batches have the same size.",
    ),
)

# ------------------------------------------------------------------------------------------ choosing on validation data


def logits_of(draw: Draw, right: np.ndarray, labels: np.ndarray, classes: int, sure_when_right: np.ndarray, sure_when_wrong: np.ndarray) -> np.ndarray:
    """Logits of R models whose number of correct answers is `right`, with the given mean margins where they are correct and wrong."""
    R, n = len(right), len(labels)
    logits = draw.rng.uniform(-0.2, 0.2, (R, n, classes))
    for r in range(R):
        correct = np.isin(np.arange(n), draw.rng.choice(n, right[r], replace=False))
        said = np.where(correct, labels, (labels + draw.rng.integers(1, classes, n)) % classes)
        logits[r, np.arange(n), said] += np.where(correct, sure_when_right[r], sure_when_wrong[r]) * draw.rng.uniform(0.9, 1.1, n)
    return logits.astype(np.float32)


def choosing_cases(draw: Draw) -> Iterator[Case]:
    """Two models are equally good on validation data; the one with the lower rate comes later or first. Others have the lowest loss, or are best on the test.

    The model in `order[0]` is to be chosen, and `order[1]` is as good; `order[2]` is the best on the test, `order[3]` is the best on
    both together, and `order[4]` has the lowest rate. One of the last two has the lowest loss.
    """
    for R, n, m, classes, later in ((5, 30, 23, 2, True), (6, 25, 34, 3, True), (7, 41, 29, 4, False)):
        order = draw.rng.permutation(R)
        while (order[1] < order[0]) != later:
            order = draw.rng.permutation(R)
        rates = np.zeros(R)
        rates[order] = np.array([3e-4, 1e-3, 3e-3, 1e-2, 1e-4, 3e-2, 2e-4][:R]) * draw.rng.uniform(0.8, 1.2)
        validation, test = np.zeros(R, int), np.zeros(R, int)
        validation[order] = [n - 8, n - 8, n - 12, n - 9, n - 14, n - 16, n - 11][:R]
        test[order] = np.array([m - 9, m - 11, m - 3, m - 4, m - 7, m - 14, m - 8][:R]) - draw.rng.integers(0, 4)
        sure, unsure = np.full(R, 2.0), np.full(R, 5.0)
        loss_is_lowest = order[3 if R == 5 else 4]
        sure[loss_is_lowest], unsure[loss_is_lowest] = 6.0, 0.5
        labels = draw.rng.integers(0, classes, n), draw.rng.integers(0, classes, m)
        yield {
            "rates": rates.astype(np.float32),
            "validation_logits": logits_of(draw, validation, labels[0], classes, sure, unsure), "validation_labels": labels[0],
            "test_logits": logits_of(draw, test, labels[1], classes, sure, unsure), "test_labels": labels[1],
        }


RIGHT = "(validation_logits.argmax(dim=-1) == validation_labels).float().mean(dim=-1)"
CHOSEN = "torch.where(right == right.max(), rates, torch.inf).argmin()"
TESTED = "(test_logits[chosen].argmax(dim=-1) == test_labels).float().mean()"
ON_TEST = "(test_logits.argmax(dim=-1) == test_labels).float().mean(dim=-1)"

choose_and_report = Exercise(
    cases=choosing_cases,
    rule=Rule(tolerance=1e-5, axes={"0": "", "1": ""}),
    mistakes=(
        Mistake(
            "model chosen on the test set",
            "You choose the model that is best on the test examples. Its test accuracy is then too high, because it was chosen for being high. Choose on the validation examples.",
            RIGHT, ON_TEST,
        ),
        Mistake(
            "validation accuracy reported",
            "Your rate is correct, but you report the accuracy on the validation examples, on which the model was chosen. Report the accuracy on the test examples.",
            f"tested = {TESTED}", "tested = right.max()",
        ),
        Mistake(
            "best test accuracy reported",
            "Your rate is correct, but you report the highest test accuracy of all models. Report the test accuracy of the model you have chosen.",
            f"tested = {TESTED}", f"tested = {ON_TEST}.max()",
        ),
        Mistake(
            "mean test accuracy reported",
            "Your rate is correct, but you report the mean test accuracy of all models. Report the test accuracy of the model you have chosen.",
            f"tested = {TESTED}", "tested = (test_logits.argmax(dim=-1) == test_labels).float().mean()",
        ),
        Mistake(
            "first of equally accurate models",
            "Among equally accurate models, you choose the first. The docstring asks for the one with the lowest rate.",
            CHOSEN, "right.argmax()",
        ),
        Mistake(
            "highest rate among equally accurate models",
            "Among equally accurate models, you choose the one with the highest rate. The docstring asks for the lowest.",
            CHOSEN, "torch.where(right == right.max(), rates, -torch.inf).argmax()",
        ),
        Mistake(
            "lowest loss instead of highest accuracy",
            "You choose the model with the lowest validation loss. A model may have a low loss because it is unsure where it is wrong. The docstring asks for the highest accuracy.",
            RIGHT,
            "torch.stack([-torch.nn.functional.cross_entropy(one, validation_labels) for one in validation_logits])",
        ),
        Mistake(
            "both sets used to choose",
            "You choose on the validation and test examples together. The test examples must not influence the choice.",
            RIGHT, "torch.cat([validation_logits.argmax(dim=-1) == validation_labels, test_logits.argmax(dim=-1) == test_labels], dim=1).float().mean(dim=-1)",
        ),
        Mistake(
            "least accurate model chosen", "You choose the model with the lowest validation accuracy.", "right == right.max()", "right == right.min()",
        ),
        Mistake(
            "lowest rate chosen", "You always choose the lowest rate. The rate should decide only between equally accurate models.", CHOSEN, "rates.argmin()",
        ),
        Mistake(
            "index returned instead of the rate", "Your accuracy is correct, but you return the index of the model instead of its rate.", "rates[chosen].item()", "chosen.item()",
        ),
        Mistake(
            "number of correct answers reported", "Your rate is correct, but you report the number of correct answers instead of their fraction.", TESTED, TESTED.replace("mean()", "sum()"),
        ),
        Mistake(
            "accuracy in per cent", "Your rate is correct, but your accuracy is in per cent. The docstring asks for a number from 0 to 1.", "tested.item()", "100 * tested.item()",
        ),
        Mistake("accuracy returned first", "Your tuple is in the wrong order: the rate should come first.", "rates[chosen].item(), tested.item()", "tested.item(), rates[chosen].item()"),
    ),
    alternatives={
        "sorted by rate first": """
def choose_and_report(rates, validation_logits, validation_labels, test_logits, test_labels):
    order = rates.argsort()
    right = (validation_logits[order].argmax(-1) == validation_labels).sum(-1).tolist()
    best = order[right.index(max(right))]
    return rates[best], (test_logits[best].argmax(-1) == test_labels).double().mean()
""",
        "a loop in Python": """
def choose_and_report(rates, validation_logits, validation_labels, test_logits, test_labels):
    def accuracy(logits, labels):
        return sum(int(row.argmax()) == int(label) for row, label in zip(logits, labels)) / len(labels)
    found = [(-accuracy(logits, validation_labels), float(rate), i) for i, (rate, logits) in enumerate(zip(rates, validation_logits))]
    _, rate, i = min(found)
    return rate, accuracy(test_logits[i], test_labels)
""",
    },
    survivors={"validation_labels).float().sum(dim=-1)": "the number of correct answers orders the models as their fraction does"},
    hints=(
        "Which of the two sets may influence the choice, and on which one is the chosen model then evaluated?",
        "validation_logits: (R, n, C); predicted classes: (R, n); accuracy: (R). Of the chosen model: test_logits[chosen]: (m, C). Output: two numbers.",
        "accuracy of each model on the validation examples\namong the models with the highest accuracy, the one with the lowest rate\n"
        "return its rate and its accuracy on the test examples",
        "A near miss: `accuracy.argmax()` returns one of several equally accurate models, whatever its rate.",
    ),
)

# ------------------------------------------------------------------------------------------ gradual unfreezing


def unfreeze_cases(draw: Draw) -> Iterator[Case]:
    """Every epoch until all parts are trained, and some epochs after that; the last case also contains a late epoch."""
    for L in (2, 6, 12, 3):
        yield {"epochs": draw.rng.permutation([*range(L + 4), *([15] if L == 3 else [])]), "L": L}


LEARNS = "torch.arange(L + 2) >= L + 1 - epoch"

unfreeze_at = Exercise(
    cases=unfreeze_cases,
    rule=Rule("equal", axes={"": "epochs parts"}),
    mistakes=(
        Mistake(
            "unfrozen from the bottom up",
            "You train the embeddings first and the head last. The head is new, so it should be trained first.",
            LEARNS, "torch.arange(L + 2) <= epoch",
        ),
        Mistake(
            "one part at a time",
            "You train only one part in each epoch. Once trained, a part continues to be trained.",
            LEARNS, "torch.arange(L + 2) == max(L + 1 - epoch, 0)",
            also=(
                """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) == L + 1 - epoch
""",
            ),
        ),
        Mistake(
            "head first, then from the bottom",
            "You train the head first, as you should, but then continue from the bottom. The highest layer should be unfrozen next, and the embeddings last.",
            LEARNS, "(torch.arange(L + 2) < epoch) | (torch.arange(L + 2) == L + 1)",
        ),
        Mistake(
            "slice starting at −epoch",
            "In epoch 0 you train everything, or you are one part behind. A slice that starts at −0 starts at 0, and epoch e has e + 1 trained parts.",
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
            "schedule restarted",
            "Once all parts are trained, your schedule starts again with only the head. Once trained, a part continues to "
            "be trained.",
            LEARNS, "torch.arange(L + 2) >= L + 1 - epoch % (L + 2)",
        ),
        Mistake(
            "error in late epochs",
            "Your function raises an error in late epochs. Once all parts are trained, nothing more changes.",
            code="""
def unfreeze_at(epoch, L):
    learns = [False] * (L + 2)
    for part in range(epoch + 1):
        learns[L + 1 - part] = True
    return torch.tensor(learns)
""",
        ),
        Mistake(
            "embeddings left out",
            "You return L + 1 truth values. There are L + 2 parts: the embeddings, L layers and the head.",
            LEARNS, "torch.arange(L + 1) >= L - epoch",
        ),
        Mistake(
            "one epoch early",
            "In epoch 0 you already train the last layer. Only the head should be trained then.",
            LEARNS, "torch.arange(L + 2) >= L - epoch",
        ),
        Mistake(
            "one epoch late",
            "In epoch 0 you train nothing. The head should be trained from the start.",
            LEARNS, "torch.arange(L + 2) > L + 1 - epoch",
        ),
        Mistake(
            "embeddings never unfrozen",
            "Your embeddings stay frozen throughout. They should be the last part to be unfrozen.",
            LEARNS, "torch.arange(L + 2) >= max(L + 1 - epoch, 1)",
        ),
        Mistake(
            "everything unfrozen after epoch 0",
            "From epoch 1 on you train everything. Unfreeze one more part in each epoch.",
            LEARNS, "torch.arange(L + 2) >= (L + 1 if epoch == 0 else 0)",
        ),
        Mistake(
            "frozen parts marked True",
            "You mark the frozen parts with True, but True means that a part is trained.",
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
        "In epoch 0 one part is trained, in epoch 1 two. Which ones? How many parts are there in all?",
        "Output: L + 2 truth values: first the embeddings, then layers 0 to L − 1, then the head.",
        "epoch 0: the head\neach later epoch: one more part, from the top down\nafter L + 1 epochs: everything",
        "A near miss: unfreezing only the newest part in each epoch is a different method (chain-thaw, Felbo et al. 2017).",
    ),
)

# ------------------------------------------------------------------------------------------ early stopping


def stopping_cases(draw: Draw) -> Iterator[Case]:
    """Noisy curves that first fall and then rise. The steps are multiples of 1/8, so that ties and gains of exactly min_delta occur."""
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
    """Curves that each test a single rule. At the end of each curve, the loss only rises."""
    gain = min_delta or 0.5
    begun = (
        [3, 3 - min_delta],  # a gain of exactly min_delta, or a tie: not better
        [
            3,
            3 - 0.75 * gain,
            3 - 1.5 * gain,
            3 - 2.25 * gain,
            3 - 3 * gain,
        ],  # two small gains add up to a large one
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
            "You count all epochs without improvement together. A new best loss should reset the count.",
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
            "compared with the previous epoch",
            "You compare with the previous epoch, so a loss that rises in a zigzag looks like an improvement in every other epoch. "
            "Compare with the best loss so far.",
            code=START
            + """
        if loss < self.best - self.min_delta:
            self.best_epoch = self.epoch
        self.best = loss
        return self.epoch - self.best_epoch >= self.patience
""",
        ),
        Mistake(
            "tie counted as improvement",
            "You count an epoch as an improvement even if its loss equals the best loss, or is below the best loss by exactly min_delta. The difference has to be *larger* than min_delta.",
            BETTER, "loss <= self.best - self.min_delta",
        ),
        Mistake(
            "min_delta not used",
            "You count even the smallest gain as an improvement. A gain has to exceed min_delta.",
            BETTER, "loss < self.best",
        ),
        Mistake(
            "min_delta added",
            "You count an epoch slightly *worse* than the best as an improvement. Subtract min_delta from the best loss.",
            BETTER, "loss < self.best + self.min_delta",
        ),
        Mistake(
            "min_delta treated as a fraction",
            "You treat min_delta as a fraction of the best loss. It is a difference between two losses.",
            BETTER, "loss < self.best * (1 - self.min_delta)",
        ),
        Mistake(
            "best updated by every small gain",
            "Your best loss follows every small gain, so that several small gains never add up to an improvement. Update best only "
            "when an epoch is better by more than min_delta.",
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
            "best_epoch updated by every small gain",
            "You stop at the right time, but best_epoch is the epoch of the lowest loss. It should be the last epoch that was "
            "better by more than min_delta.",
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
            "last of several equal epochs",
            "You choose the last of several epochs with the same lowest loss, or you ignore min_delta. An epoch is an "
            "improvement only if it is below the best by more than min_delta.",
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
            "You stop at the right time, but your best_epoch is one too high: epochs are counted from 0.",
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
            "You stop at the right time, but best_epoch keeps its initial value.",
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
            "first epoch never the best",
            "Epoch 0 is never the best in your answer: best_epoch stays −1 until a later epoch improves, and you stop too "
            "early.",
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
            "True while training continues",
            "You return True as long as training should continue, but True means that training should stop.",
            STOP, "return self.epoch - self.best_epoch < self.patience",
        ),
        Mistake(
            "one epoch too patient",
            "You stop one epoch late. With patience 1, the first epoch without improvement is the last epoch.",
            STOP, "return self.epoch - self.best_epoch > self.patience",
        ),
        Mistake(
            "largest loss as the best",
            "You treat the largest value as the best. This would be correct for an accuracy, but the values are losses.",
            BETTER, "self.epoch == 0 or loss > self.best + self.min_delta",
        ),
        Mistake(
            "best_epoch set to the last epoch",
            "You stop at the right time, but best_epoch is the epoch at which you stop. The weights to keep come from an earlier epoch.",
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
            "You never return True.",
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
        "Which epoch would you return to if you stopped now? How many epochs ago was it?",
        "step receives a number and returns True or False. Between calls the object stores the epoch, the best loss and the "
        "best epoch.",
        "increase the epoch\nbetter than the best by more than min_delta? then store it as the best, with its epoch\nstop if the "
        "best is at least patience epochs old",
        "A near miss: counting the epochs without improvement but never resetting the count stops a run that is still "
        "improving.",
    ),
)

# ------------------------------------------------------------------------------------------ batches of similar length


def length_cases(draw: Draw) -> Iterator[Case]:
    """Lengths with ties, in no order. In one case the size divides the number of sequences; in the others, the last batch is smaller."""
    for n, size in ((11, 4), (15, 5), (19, 3), (14, 6)):
        lengths = 2 + draw.integers(0, 6, n) * 3
        lengths[:3] = 31, 3, 30
        order = draw.rng.permutation(n)
        while True:
            moved = lengths[order]
            sorts = np.argsort(moved, kind="stable")
            # Neither nearly sorted already, nor restored by applying the same order twice.
            if np.mean(moved[sorts][sorts] == moved) < 0.5 and (moved[:size] > moved[-size:].min()).any():
                break
            order = draw.rng.permutation(n)
        yield {"lengths": moved, "size": size}


ORDER, BATCHES, BACK = "lengths.argsort()", "list(order.split(size))", "order.argsort()"

length_sorted = Exercise(
    cases=length_cases,
    rule=Rule("equal", axes={"lengths": "n", "sizes": "batches", "restored": "n"}),
    mistakes=(
        Mistake(
            "order returned instead of its inverse",
            "Your second result is the order of the batches itself. outputs[back] should undo this order: at each row number, "
            "back contains the position of this sequence in the concatenated batches.",
            BACK, "order",
        ),
        Mistake(
            "order not restored",
            "Your second result leaves the outputs in the order of the batches.",
            BACK, "torch.arange(len(order))",
        ),
        Mistake(
            "longest sequences first",
            "Your first batch contains the longest sequences. The docstring requires the shortest sequences first, so that a smaller "
            "last batch contains the longest sequences, which saves the most padding.",
            ORDER, "lengths.argsort(descending=True)",
        ),
        Mistake(
            "sequences not sorted",
            "Your batches contain the sequences in their original order, so short and long sequences share a batch.",
            ORDER, "torch.arange(len(lengths))",
        ),
        Mistake(
            "sorted only within each batch",
            "You sort the sequences within each batch, but the batches are those of the original order. Sort all sequences before you "
            "form batches.",
            code="""
def length_sorted(lengths, size):
    batches = [batch[lengths[batch].argsort()] for batch in torch.arange(len(lengths)).split(size)]
    return batches, torch.cat(batches).argsort()
""",
        ),
        Mistake(
            "size used as the number of batches",
            "You return `size` batches. The argument is the number of sequences in each batch.",
            BATCHES, "list(order.chunk(size))",
            also=("""
def length_sorted(lengths, size):
    order = lengths.argsort()
    return list(order.tensor_split(size)), order.argsort()
""",),
        ),
        Mistake(
            "incomplete last batch left out",
            "You leave out the sequences that do not fill a batch. These sequences need an output, too: the last batch may be smaller.",
            code="""
def length_sorted(lengths, size):
    order = lengths.argsort()
    order = order[: len(order) // size * size]
    return list(order.split(size)), order.argsort()
""",
        ),
        Mistake(
            "smaller batch at the beginning",
            "Your first batch is the smaller one. Only the last batch may be smaller than `size`.",
            code="""
def length_sorted(lengths, size):
    order = lengths.argsort()
    rest = len(order) % size
    first = [order[:rest]] if rest else []
    return [*first, *order[rest:].split(size)], order.argsort()
""",
        ),
        Mistake(
            "sorted sequences distributed in turn",
            "You distribute the sorted sequences over the batches in turn, so every batch contains short and long sequences. Each batch "
            "should contain neighbours in the sorted list.",
            code="""
def length_sorted(lengths, size):
    order = lengths.argsort()
    number = -(-len(order) // size)
    batches = [order[i::number] for i in range(number)]
    return batches, torch.cat(batches).argsort()
""",
        ),
        Mistake(
            "order restored within each batch only",
            "Your second result restores the order within each batch, but not the order of all sequences.",
            code="""
def length_sorted(lengths, size):
    batches = list(lengths.argsort().split(size))
    return batches, torch.cat([batch.argsort() + size * i for i, batch in enumerate(batches)])
""",
        ),
    ),
    alternatives={
        "lists of numbers": """
def length_sorted(lengths, size):
    order = sorted(range(len(lengths)), key=lambda row: int(lengths[row]))
    back = [0] * len(order)
    for place, row in enumerate(order):
        back[row] = place
    return [order[i : i + size] for i in range(0, len(order), size)], back
""",
        "the inverse by assignment": """
def length_sorted(lengths, size):
    order = torch.sort(lengths, stable=True).indices
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order))
    return order.split(size), back
""",
        "numpy": """
import numpy as np

def length_sorted(lengths, size):
    order = np.argsort(lengths.numpy(), kind="stable")
    return np.array_split(order, range(size, len(order), size)), np.argsort(order)
""",
        "equal lengths in reverse order": """
def length_sorted(lengths, size):
    order = (-lengths).argsort().flip(0)
    return list(order.split(size)), order.argsort()
""",
    },
    hints=(
        "Which sequences should share a batch so that little padding is needed? If outputs arrive in the order 3, 1, 2, 0, at which position is "
        "the output of sequence 0?",
        "lengths is (n,). The order by length is a list of n row numbers; each batch is a part of it with `size` row numbers. back is "
        "(n,): one position for each sequence.",
        "Compute order = argsort of the lengths, and divide it into parts of `size`. The inverse of an order is the argsort of this "
        "order.",
        "A near miss: outputs[order] applies the order a second time instead of undoing it. You need the inverse, which "
        "contains the position of each row number in order.",
    ),
)
