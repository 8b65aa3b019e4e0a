"""Natural answers to the exercises of 09, wrong and right, written from the task texts alone.

Each is a complete cell. WRONG and RIGHT map an exercise to {what is wrong or unusual: the cell}.
"""

WRONG = {
    "fine_tuning.classification_head": {
        "mean of the tokens": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden.mean(dim=1) @ W_pool + b_pool)
    return pooled * (draws >= p) / (1 - p) @ W + b
""",
        "the last token": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, -1] @ W_pool + b_pool)
    return pooled * (draws >= p) / (1 - p) @ W + b
""",
        "W_pool transposed": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(torch.nn.functional.linear(hidden[:, 0], W_pool, b_pool))
    return pooled * (draws >= p) / (1 - p) @ W + b
""",
        "no tanh": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = hidden[:, 0] @ W_pool + b_pool
    return pooled * (draws >= p) / (1 - p) @ W + b
""",
        "dropout before tanh": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = (hidden[:, 0] @ W_pool + b_pool) * (draws >= p) / (1 - p)
    return torch.tanh(pooled) @ W + b
""",
        "dropout before the pooler": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    first = hidden[:, 0] * (draws >= p) / (1 - p)
    return torch.tanh(first @ W_pool + b_pool) @ W + b
""",
        "the others are not divided": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return pooled * (draws >= p) @ W + b
""",
        "what is below p is kept": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return pooled * (draws < p) / (1 - p) @ W + b
""",
        "a draw of exactly p drops": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return pooled * (draws > p) / (1 - p) @ W + b
""",
        "times 1 - p": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return pooled * (draws >= p) * (1 - p) @ W + b
""",
        "no dropout": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    return torch.tanh(hidden[:, 0] @ W_pool + b_pool) @ W + b
""",
        "torch's dropout instead of the draws": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.dropout(pooled, p, training=True) @ W + b
""",
        "probabilities": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return (pooled * (draws >= p) / (1 - p) @ W + b).softmax(dim=-1)
""",
        "tanh at the end, too": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return torch.tanh(pooled * (draws >= p) / (1 - p) @ W + b)
""",
        "no biases": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool)
    return pooled * (draws >= p) / (1 - p) @ W
""",
        "relu for tanh": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.relu(hidden[:, 0] @ W_pool + b_pool)
    return pooled * (draws >= p) / (1 - p) @ W + b
""",
        "divided by p": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    if p > 0:
        pooled = pooled * (draws >= p) / p
    return pooled @ W + b
""",
    },
    "fine_tuning.count_parameters": {
        "those that learn come first": """
def count_parameters(model):
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return sum(n for n, learns in sizes if learns), sum(n for n, _ in sizes)
""",
        "tensors, not numbers": """
def count_parameters(model):
    parameters = list(model.parameters())
    return len(parameters), sum(weight.requires_grad for weight in parameters)
""",
        "buffers, too": """
def count_parameters(model):
    n = sum(weight.numel() for weight in model.parameters())
    buffers = sum(buffer.numel() for buffer in model.buffers())
    return n + buffers, sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
""",
        "the state dict": """
def count_parameters(model):
    n = sum(weight.numel() for weight in model.state_dict().values())
    return n, sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
""",
        "a shared table twice": """
def count_parameters(model):
    sizes = [(w.numel(), w.requires_grad) for _, w in model.named_parameters(remove_duplicate=False)]
    return sum(n for n, _ in sizes), sum(n for n, learns in sizes if learns)
""",
        "the frozen ones": """
def count_parameters(model):
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return sum(n for n, _ in sizes), sum(n for n, learns in sizes if not learns)
""",
        "each module's own, shared tables twice": """
def count_parameters(model):
    every = [w for module in model.modules() for w in module.parameters(recurse=False)]
    return sum(w.numel() for w in every), sum(w.numel() for w in every if w.requires_grad)
""",
        "each level of modules again": """
def count_parameters(model):
    every = [w for module in model.modules() for w in module.parameters()]
    return sum(w.numel() for w in every), sum(w.numel() for w in every if w.requires_grad)
""",
        "matrices only": """
def count_parameters(model):
    every = [w for w in model.parameters() if w.ndim > 1]
    return sum(w.numel() for w in every), sum(w.numel() for w in every if w.requires_grad)
""",
        "rows, not numbers": """
def count_parameters(model):
    return sum(len(w) for w in model.parameters()), sum(len(w) for w in model.parameters() if w.requires_grad)
""",
        "all learn": """
def count_parameters(model):
    n = sum(weight.numel() for weight in model.parameters())
    return n, n
""",
        "those with a gradient": """
def count_parameters(model):
    n = sum(weight.numel() for weight in model.parameters())
    return n, sum(weight.numel() for weight in model.parameters() if weight.grad is not None)
""",
        "same sizes taken for the same table": """
def count_parameters(model):
    sizes = {(tuple(w.shape), w.requires_grad): w.numel() for w in model.parameters()}
    return sum(sizes.values()), sum(n for (_, learns), n in sizes.items() if learns)
""",
    },
    "fine_tuning.freeze": {
        "a name anywhere in the name": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(part in name for part in names)
""",
        "begins with, so layers.1 means layers.10, too": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(name.startswith(part) for part in names)
""",
        "the others are left as they were": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        if any(name == part or name.startswith(part + ".") for part in names):
            weight.requires_grad = False
""",
        "the other way round": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = any(name == part or name.startswith(part + ".") for part in names)
""",
        "whole names only": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = name not in names
""",
        "modules only, not parameters": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(name.startswith(part + ".") for part in names)
""",
        "only the last name counts": """
def freeze(model, names):
    for part in names:
        for name, weight in model.named_parameters():
            weight.requires_grad = not (name == part or name.startswith(part + "."))
""",
        "nothing is done without names": """
def freeze(model, names):
    if not names:
        return
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(name == part or name.startswith(part + ".") for part in names)
""",
        "first part of the name only": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = name.split(".")[0] not in names
""",
        "a module's attribute is set, which does nothing": """
def freeze(model, names):
    for weight in model.parameters():
        weight.requires_grad = True
    for name in names:
        part = model
        for piece in name.split("."):
            part = getattr(part, piece)
        part.requires_grad = False
""",
        "parts of the name in any place": """
def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(f".{part}." in f".{name}." for part in names)
""",
        "a regular expression whose point stands for anything": """
import re

def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(re.match(part, name) for part in names)
""",
        "direct parameters of the module only": """
def freeze(model, names):
    for weight in model.parameters():
        weight.requires_grad_(True)
    parameters = dict(model.named_parameters())
    modules = dict(model.named_modules())
    for name in names:
        if name in parameters:
            parameters[name].requires_grad_(False)
        else:
            for weight in modules[name].parameters(recurse=False):
                weight.requires_grad_(False)
""",
        "the parts' first parameter only": """
def freeze(model, names):
    for weight in model.parameters():
        weight.requires_grad = True
    for part in names:
        for name, weight in model.named_parameters():
            if name == part or name.startswith(part + "."):
                weight.requires_grad = False
                break
""",
    },
    "fine_tuning.parameter_groups": {
        "the last layer learns like the head": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L if part[0] == "embeddings" else L - 1 - int(part[1]) if part[0] == "layers" else 0
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "embeddings like layer 0": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "lower layers learn faster": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        up = 0 if part[0] == "embeddings" else int(part[1]) + 1 if part[0] == "layers" else L + 1
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**up, "weight_decay": pull})
    return groups
""",
        "only biases are spared": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        pull = 0.0 if name.endswith("bias") else weight_decay
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "only layer norms are spared": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        pull = 0.0 if "norm" in name else weight_decay
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "vectors decay, matrices do not": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        pull = weight_decay if weight.ndim == 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "all decay": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": weight_decay})
    return groups
""",
        "embeddings are spared, too": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        pull = weight_decay if weight.ndim > 1 and part[0] != "embeddings" else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "one digit of the layer's number": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        if name.startswith("layers."):
            below = L - int(name[7])
        else:
            below = L + 1 if name.startswith("embeddings") else 0
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "frozen parameters are in no group": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        if not weight.requires_grad:
            continue
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "what stands above the layers is forgotten, but for the head": """
def parameter_groups(model, lr, decay, weight_decay):
    rates = [(model.head, lr)]
    for layer in reversed(model.layers):
        rates.append((layer, rates[-1][1] * decay))
    rates.append((model.embeddings, rates[-1][1] * decay))
    groups = []
    for part, rate in rates:
        for weight in part.parameters():
            pull = weight_decay if weight.ndim > 1 else 0.0
            groups.append({"params": [weight], "lr": rate, "weight_decay": pull})
    return groups
""",
        "one rate for all": """
def parameter_groups(model, lr, decay, weight_decay):
    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    vectors = [weight for weight in model.parameters() if weight.ndim <= 1]
    return [{"params": matrices, "lr": lr, "weight_decay": weight_decay},
            {"params": vectors, "lr": lr, "weight_decay": 0.0}]
""",
        "rates fall in a line": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        rate = lr * decay * below if below else lr
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": rate, "weight_decay": pull})
    return groups
""",
        "the part above the layers learns with decay, too": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 2 if part[0] == "embeddings" else L + 1 - int(part[1]) if part[0] == "layers" else 1
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "twelve layers": """
def parameter_groups(model, lr, decay, weight_decay):
    groups = []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = 13 if part[0] == "embeddings" else 12 - int(part[1]) if part[0] == "layers" else 0
        pull = weight_decay if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
        "weight decay falls with the rate": """
def parameter_groups(model, lr, decay, weight_decay):
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part = name.split(".")
        below = L + 1 if part[0] == "embeddings" else L - int(part[1]) if part[0] == "layers" else 0
        pull = weight_decay * decay**below if weight.ndim > 1 else 0.0
        groups.append({"params": [weight], "lr": lr * decay**below, "weight_decay": pull})
    return groups
""",
    },
    "fine_tuning.warmup_linear": {
        "counted from 1": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return (step + 1) / warmup
    return max(0.0, (total - step) / (total - warmup))
""",
        "falls from (total - warmup) / total": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return max(0.0, (total - step) / total)
""",
        "below 0 at the end": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return (total - step) / (total - warmup)
""",
        "stays 1": """
def warmup_linear(step, warmup, total):
    return min(1.0, step / max(1, warmup)) if step < total else 0.0
""",
        "no warm-up divides by 0": """
def warmup_linear(step, warmup, total):
    if step <= warmup:
        return step / warmup
    return max(0.0, (total - step) / (total - warmup))
""",
        "0 at step 0, also without warm-up": """
def warmup_linear(step, warmup, total):
    if step <= warmup:
        return step / max(1, warmup)
    return max(0.0, (total - step) / (total - warmup))
""",
        "rises and rises": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return min(1.0, (step - warmup) / (total - warmup))
""",
        "1 minus the share of the whole": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return max(0.0, 1 - step / total)
""",
        "a cosine": """
import math

def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    share = min(1.0, (step - warmup) / (total - warmup))
    return (1 + math.cos(math.pi * share)) / 2
""",
        "whole numbers": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step // warmup
    return max(0, (total - step) // (total - warmup))
""",
        "0 at the last step, total - 1": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return max(0.0, (total - 1 - step) / max(1, total - 1 - warmup))
""",
        "the smaller of two lines through the whole": """
def warmup_linear(step, warmup, total):
    up = step / warmup if warmup else 1.0
    return max(0.0, min(up, 1 - step / total))
""",
        "no warm-up at all": """
def warmup_linear(step, warmup, total):
    return max(0.0, (total - step) / total)
""",
        "1 throughout step warmup, then one step late": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    if step == warmup:
        return 1.0
    return max(0.0, (total - step + 1) / (total - warmup))
""",
    },
    "fine_tuning.adam_step": {
        "the code of 2018": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    update = m / (v.sqrt() + epsilon) + weight_decay * w
    return w - lr * update, m, v
""",
        "corrected means returned": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = (beta_1 * m + (1 - beta_1) * gradient) / (1 - beta_1**step)
    v = (beta_2 * v + (1 - beta_2) * gradient**2) / (1 - beta_2**step)
    update = m / (v.sqrt() + epsilon) + weight_decay * w
    return w - lr * update, m, v
""",
        "epsilon inside the root": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - lr * (m_hat / (v_hat + epsilon).sqrt() + weight_decay * w), m, v
""",
        "weight decay inside the gradient": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    gradient = gradient + weight_decay * w
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - lr * m_hat / (v_hat.sqrt() + epsilon), m, v
""",
        "weight decay without lr": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - lr * m_hat / (v_hat.sqrt() + epsilon) - weight_decay * w, m, v
""",
        "only m corrected": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat = m / (1 - beta_1**step)
    return w - lr * (m_hat / (v.sqrt() + epsilon) + weight_decay * w), m, v
""",
        "only v corrected": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    v_hat = v / (1 - beta_2**step)
    return w - lr * (m / (v_hat.sqrt() + epsilon) + weight_decay * w), m, v
""",
        "the first step's correction each time": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1), v / (1 - beta_2)
    return w - lr * (m_hat / (v_hat.sqrt() + epsilon) + weight_decay * w), m, v
""",
        "step counted once more": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1 ** (step + 1)), v / (1 - beta_2 ** (step + 1))
    return w - lr * (m_hat / (v_hat.sqrt() + epsilon) + weight_decay * w), m, v
""",
        "beta times step for its power": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1 * step), v / (1 - beta_2 * step)
    return w - lr * (m_hat / (v_hat.abs().sqrt() + epsilon) + weight_decay * w), m, v
""",
        "betas exchanged": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_2 * m + (1 - beta_2) * gradient
    v = beta_1 * v + (1 - beta_1) * gradient**2
    m_hat, v_hat = m / (1 - beta_2**step), v / (1 - beta_1**step)
    return w - lr * (m_hat / (v_hat.sqrt() + epsilon) + weight_decay * w), m, v
""",
        "gradient not squared": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient.abs()
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - lr * (m_hat / (v_hat.sqrt() + epsilon) + weight_decay * w), m, v
""",
        "weight decay on the weight after the step": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    w = w - lr * m_hat / (v_hat.sqrt() + epsilon)
    return w - lr * weight_decay * w, m, v
""",
        "epsilon beside the root of the uncorrected v": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    size = lr * (1 - beta_2**step) ** 0.5 / (1 - beta_1**step)
    return w - size * m / (v.sqrt() + epsilon) - lr * weight_decay * w, m, v
""",
        "no root": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - lr * (m_hat / (v_hat + epsilon) + weight_decay * w), m, v
""",
        "uphill": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w + lr * (m_hat / (v_hat.sqrt() + epsilon) + weight_decay * w), m, v
""",
        "no weight decay": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - lr * m_hat / (v_hat.sqrt() + epsilon), m, v
""",
    },
    "fine_tuning.train_step": {
        "gradients add up": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    total = sum(len(y) for x, y in parts)
    running = 0
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / total
        loss.backward()
        running += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return running
""",
        "the mean of the parts' means": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    criterion = torch.nn.CrossEntropyLoss()
    losses = []
    for x, y in parts:
        loss = criterion(model(x), y) / len(parts)
        loss.backward()
        losses.append(loss.item())
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return sum(losses)
""",
        "means, not divided; their mean is returned": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    losses = []
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        losses.append(loss.item())
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return sum(losses) / len(losses)
""",
        "zeroed inside the loop": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    n = sum(len(labels) for _, labels in parts)
    whole = 0.0
    for inputs, labels in parts:
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels) * len(labels) / n
        loss.backward()
        whole += float(loss)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return whole
""",
        "a whole step for each part": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    losses, sizes = [], []
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimiser.step()
        losses.append(loss.item() * len(y))
        sizes.append(len(y))
    schedule.step()
    return sum(losses) / sum(sizes)
""",
        "all parts in one row of inputs": """
def train_step(model, optimiser, schedule, parts, max_norm):
    x = torch.cat([part[0] for part in parts])
    y = torch.cat([part[1] for part in parts])
    model.train()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return loss.item()
""",
        "no training mode": """
def train_step(model, optimiser, schedule, parts, max_norm):
    optimiser.zero_grad()
    n, total = sum(len(y) for _, y in parts), 0.0
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return total
""",
        "clipped in the loop": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    n, total = sum(len(y) for _, y in parts), 0.0
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        total += loss.item()
    optimiser.step()
    schedule.step()
    return total
""",
        "clipped before there are gradients": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    n, total = sum(len(y) for _, y in parts), 0.0
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n
        loss.backward()
        total += loss.item()
    optimiser.step()
    schedule.step()
    return total
""",
        "the loss of the last part is returned": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    n = sum(len(y) for _, y in parts)
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return loss.item()
""",
        "no schedule": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    n = sum(y.shape[0] for _, y in parts)
    losses = [torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n for x, y in parts]
    loss = sum(losses)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    return loss.item()
""",
        "nothing is returned": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    n = sum(len(y) for _, y in parts)
    for x, y in parts:
        (torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
""",
    },
    "fine_tuning.unfreeze_at": {
        "the other way round": """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) < L + 1 - epoch
""",
        "the last layer learns in epoch 0, too": """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) >= L - epoch
""",
        "nothing learns in epoch 0": """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) >= L + 2 - epoch
""",
        "one part at a time": """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) == L + 1 - epoch
""",
        "from the bottom": """
def unfreeze_at(epoch, L):
    learns = torch.arange(L + 2) < epoch
    learns[-1] = True
    return learns
""",
        "layers and head only": """
def unfreeze_at(epoch, L):
    return torch.arange(L + 1) >= L - epoch
""",
        "head first": """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) <= epoch
""",
        "fails when all learn": """
def unfreeze_at(epoch, L):
    learns = [False] * (L + 2)
    for i in range(epoch + 1):
        learns[L + 1 - i] = True
    return torch.tensor(learns)
""",
        "a slice that begins at minus epoch": """
def unfreeze_at(epoch, L):
    learns = torch.zeros(L + 2, dtype=torch.bool)
    learns[-epoch:] = True
    learns[-1] = True
    return learns
""",
        "the embeddings never learn": """
def unfreeze_at(epoch, L):
    learns = torch.arange(L + 2) >= L + 1 - epoch
    learns[0] = False
    return learns
""",
        "begins again when all have learnt": """
def unfreeze_at(epoch, L):
    return torch.arange(L + 2) >= L + 1 - epoch % (L + 2)
""",
        "the numbers of the parts": """
def unfreeze_at(epoch, L):
    return torch.arange(max(0, L + 1 - epoch), L + 2)
""",
    },
    "fine_tuning.early_stopping": {
        "one epoch too patient": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1

    def step(self, loss):
        self.epoch += 1
        if loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch > self.patience
""",
        "compared with the epoch before": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.last = float("inf")

    def step(self, loss):
        self.epoch += 1
        if loss < self.last - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        self.last = loss
        return self.epoch - self.best_epoch >= self.patience
""",
        "worse epochs are never forgiven": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.bad = 0

    def step(self, loss):
        self.epoch += 1
        if loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        else:
            self.bad += 1
        return self.bad >= self.patience
""",
        "min_delta ignored": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1

    def step(self, loss):
        self.epoch += 1
        if loss < self.best:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        "min_delta added": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1

    def step(self, loss):
        self.epoch += 1
        if loss < self.best + self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        "an equal loss is better": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1

    def step(self, loss):
        self.epoch += 1
        if loss <= self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        "best follows every small improvement": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.waited = 0

    def step(self, loss):
        self.epoch += 1
        if loss < self.best - self.min_delta:
            self.waited, self.best_epoch = 0, self.epoch
        else:
            self.waited += 1
        self.best = min(self.best, loss)
        return self.waited >= self.patience
""",
        "best_epoch follows every small improvement": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.lowest = float("inf")
        self.waited = 0

    def step(self, loss):
        self.epoch += 1
        self.waited += 1
        if loss < self.best - self.min_delta:
            self.best, self.waited = loss, 0
        if loss < self.lowest:
            self.lowest, self.best_epoch = loss, self.epoch
        return self.waited >= self.patience
""",
        "epochs counted from 1": """
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
        "the larger the better": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("-inf"), -1

    def step(self, loss):
        self.epoch += 1
        if loss > self.best + self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        "true while it gets better": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1

    def step(self, loss):
        self.epoch += 1
        if loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch < self.patience
""",
        "best_epoch is never set": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.waited = 0

    def step(self, loss):
        self.waited += 1
        if loss < self.best - self.min_delta:
            self.best, self.waited = loss, 0
        return self.waited >= self.patience
""",
        "the first epoch cannot be the best": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, None, -1

    def step(self, loss):
        self.epoch += 1
        if self.best is None:
            self.best = loss
        elif loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        "min_delta as a share": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1

    def step(self, loss):
        self.epoch += 1
        if loss < self.best * (1 - self.min_delta):
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
""",
        "the last epoch of those as good": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.losses, self.best_epoch = [], -1

    def step(self, loss):
        self.losses.append(loss)
        self.best_epoch = min(range(len(self.losses)), key=lambda i: (self.losses[i], -i))
        return len(self.losses) - 1 - self.best_epoch >= self.patience
""",
    },
}

RIGHT = {
    "fine_tuning.classification_head": {
        "torch.where": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    pooled = torch.tanh(torch.addmm(b_pool, hidden[:, 0], W_pool))
    dropped = torch.where(draws < p, torch.zeros_like(pooled), pooled / (1 - p))
    return torch.nn.functional.linear(dropped, W.T, b)
""",
        "einsum and float64": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    first = hidden.double()[:, 0]
    pooled = (torch.einsum("bi,ij->bj", first, W_pool.double()) + b_pool).tanh()
    pooled[draws < p] = 0
    return torch.einsum("bd,dc->bc", pooled / (1 - p), W.double()) + b
""",
        "numpy, sentence by sentence": """
import numpy

def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    rows = []
    for x, draw in zip(hidden.numpy()[:, 0], draws.numpy()):
        pooled = numpy.tanh(x @ W_pool.numpy() + b_pool.numpy())
        rows.append(numpy.where(draw < p, 0.0, pooled / (1 - p)) @ W.numpy() + b.numpy())
    return numpy.stack(rows)
""",
    },
    "fine_tuning.count_parameters": {
        "a loop": """
def count_parameters(model):
    everything, learns = 0, 0
    for _, weight in model.named_parameters():
        everything += weight.numel()
        if weight.requires_grad:
            learns += weight.numel()
    return everything, learns
""",
        "each once by its id, a list of tensors": """
def count_parameters(model):
    seen = {id(w): w for module in model.modules() for w in module._parameters.values() if w is not None}
    n = sum(w.numel() for w in seen.values())
    return [torch.tensor(n), torch.tensor(sum(w.numel() for w in seen.values() if w.requires_grad))]
""",
        "shapes multiplied": """
import math

def count_parameters(model):
    sizes = {w: math.prod(w.shape) for w in model.parameters()}
    return sum(sizes.values()), sum(n for w, n in sizes.items() if w.requires_grad)
""",
    },
    "fine_tuning.freeze": {
        "by looking the parts up": """
def freeze(model, names):
    model.requires_grad_(True)
    for name in names:
        part = model
        for piece in name.split("."):
            part = getattr(part, piece)
        part.requires_grad_(False)
""",
        "compared piece by piece": """
def freeze(model, names):
    parts = [name.split(".") for name in names]
    for name, weight in model.named_parameters():
        pieces = name.split(".")
        weight.requires_grad = all(pieces[: len(part)] != part for part in parts)
""",
        "a regular expression": """
import re

def freeze(model, names):
    for name, weight in model.named_parameters():
        weight.requires_grad = not any(re.match(re.escape(part) + r"(\\.|$)", name) for part in names)
""",
    },
    "fine_tuning.parameter_groups": {
        "part by part from the top": """
def parameter_groups(model, lr, decay, weight_decay):
    below = [model.embeddings, *model.layers]
    of_parts = {id(w) for part in below for w in part.parameters()}
    above = [w for w in model.parameters() if id(w) not in of_parts]
    groups, rate = [], lr
    for weights in [above, *(list(part.parameters()) for part in reversed(below))]:
        groups.append({"params": [w for w in weights if w.ndim > 1], "lr": rate, "weight_decay": weight_decay})
        groups.append({"params": [w for w in weights if w.ndim == 1], "lr": rate, "weight_decay": 0.0})
        rate *= decay
    return groups
""",
        "by name": """
def parameter_groups(model, lr, decay, weight_decay):
    L = len(model.layers)
    groups = {}
    for name, weight in model.named_parameters():
        if name.startswith("embeddings."):
            rate = lr * decay ** (L + 1)
        elif name.startswith("layers."):
            rate = lr * decay ** (L - int(name.split(".")[1]))
        else:
            rate = lr
        pull = 0.0 if name.endswith("bias") or "norm" in name else weight_decay
        groups.setdefault((rate, pull), []).append(weight)
    return [{"params": w, "lr": rate, "weight_decay": pull} for (rate, pull), w in groups.items()]
""",
    },
    "fine_tuning.warmup_linear": {
        "the smaller of two lines": """
def warmup_linear(step, warmup, total):
    up = step / warmup if warmup > 0 else 1.0
    return max(0.0, min(up, 1.0, (total - step) / (total - warmup)))
""",
        "a tensor": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return torch.tensor(step) / warmup
    return torch.clamp(1 - torch.tensor((step - warmup) / (total - warmup)), min=0)
""",
        "numpy.interp": """
import numpy

def warmup_linear(step, warmup, total):
    if warmup == 0:
        return numpy.interp(step, [0, total], [1.0, 0.0])
    return numpy.interp(step, [0, warmup, total], [0.0, 1.0, 0.0])
""",
    },
    "fine_tuning.adam_step": {
        "decay first": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = m + (1 - beta_1) * (gradient - m)
    v = v + (1 - beta_2) * (gradient.square() - v)
    w = (1 - lr * weight_decay) * w
    return w - lr * (m / (1 - beta_1**step)) / (torch.sqrt(v / (1 - beta_2**step)) + epsilon), m, v
""",
        "in place, as torch does": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m, v = m.clone(), v.clone()
    m.mul_(beta_1).add_(gradient, alpha=1 - beta_1)
    v.mul_(beta_2).addcmul_(gradient, gradient, value=1 - beta_2)
    denominator = (v.sqrt() / (1 - beta_2**step) ** 0.5).add_(epsilon)
    w = w * (1 - lr * weight_decay)
    return w.addcdiv(m, denominator, value=-lr / (1 - beta_1**step)), m, v
""",
        "float64": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    w, gradient, m, v = (one.double() for one in (w, gradient, m, v))
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient * gradient
    correct = (1 - beta_2**step) ** 0.5 / (1 - beta_1**step)
    update = correct * m / (v.sqrt() + epsilon * (1 - beta_2**step) ** 0.5)
    return w - lr * update - lr * weight_decay * w, m, v
""",
    },
    "fine_tuning.train_step": {
        "all losses in one sum": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    n = sum(y.shape[0] for _, y in parts)
    loss = sum(torch.nn.functional.cross_entropy(model(x), y, reduction="sum") for x, y in parts) / n
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return loss.item()
""",
        "gradients divided in the end": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    model.zero_grad()
    summed, n = 0.0, 0
    for x, y in parts:
        loss = torch.nn.CrossEntropyLoss(reduction="sum")(model(x), y)
        loss.backward()
        summed, n = summed + loss.detach(), n + len(y)
    for weight in model.parameters():
        weight.grad /= n
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
    optimiser.step()
    schedule.step()
    optimiser.zero_grad()
    return summed / n
""",
    },
    "fine_tuning.unfreeze_at": {
        "a list": """
def unfreeze_at(epoch, L):
    return [part >= L + 1 - epoch for part in range(L + 2)]
""",
        "numpy": """
import numpy

def unfreeze_at(epoch, L):
    learns = numpy.zeros(L + 2, dtype=bool)
    learns[-(epoch + 1) :] = True
    return learns
""",
        "from the top, turned round": """
def unfreeze_at(epoch, L):
    return (torch.arange(L + 2) <= epoch).flip(0)
""",
        "ones and zeros": """
def unfreeze_at(epoch, L):
    first = max(0, L + 1 - epoch)
    return torch.tensor([0] * first + [1] * (L + 2 - first))
""",
    },
    "fine_tuning.early_stopping": {
        "counts worse epochs": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.worse = 0

    def step(self, loss):
        self.epoch = self.epoch + 1
        if self.best - loss > self.min_delta:
            self.best, self.best_epoch, self.worse = loss, self.epoch, 0
        else:
            self.worse += 1
        return self.worse >= self.patience
""",
        "keeps all losses": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta, self.losses = patience, min_delta, []

    def step(self, loss):
        self.losses.append(loss)
        best = None
        for epoch, one in enumerate(self.losses):
            if best is None or one < best - self.min_delta:
                best, self.best_epoch = one, epoch
        self.best = best
        return len(self.losses) > self.best_epoch + self.patience
""",
    },
}
