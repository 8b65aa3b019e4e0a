"""Answers to the exercises of notebook 09, written from its task texts by somebody who had not seen the exercises."""

WRONG = {
    "fine_tuning.classification_head": {
        "rows of W_pool taken for outputs, as nn.Linear has them": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    cls = hidden[:, 0]
    pooled = torch.tanh(torch.nn.functional.linear(cls, W_pool, b_pool))
    keep = (draws >= p).float()
    return (pooled * keep / (1 - p)) @ W + b
""",
        "kept with probability p": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    x = torch.tanh(hidden[:, 0, :] @ W_pool + b_pool)
    if p > 0:
        x = torch.where(draws < p, x, torch.zeros_like(x)) / (1 - p)
    return x @ W + b
""",
        "what is kept is not divided by 1 - p": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    x = (hidden[:, 0] @ W_pool + b_pool).tanh()
    x = x.masked_fill(draws < p, 0.0)
    return x @ W + b
""",
    },
    "fine_tuning.count_parameters": {
        "buffers and shared tables counted as well": """
def count_parameters(model):
    total = sum(t.numel() for t in model.state_dict().values())
    learns = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return total, learns
""",
        "tensors counted instead of numbers": """
def count_parameters(model):
    params = list(model.parameters())
    trainable = [p for p in params if p.requires_grad]
    return len(params), len(trainable)
""",
        "the second number is of those that do not learn": """
def count_parameters(model):
    total, frozen = 0, 0
    for name, p in model.named_parameters():
        total += p.numel()
        if not p.requires_grad:
            frozen += p.numel()
    return (total, frozen)
""",
    },
    "fine_tuning.freeze": {
        "what was frozen before stays frozen": """
def freeze(model, names):
    for name, p in model.named_parameters():
        for part in names:
            if name == part or name.startswith(part + "."):
                p.requires_grad = False
""",
        "layers.1 freezes layers.10 as well": """
def freeze(model, names):
    for name, p in model.named_parameters():
        p.requires_grad = not name.startswith(tuple(names))
""",
        "names of parameters are passed over": """
def freeze(model, names):
    for p in model.parameters():
        p.requires_grad = True
    for name, module in model.named_modules():
        if name in names:
            for p in module.parameters():
                p.requires_grad = False
""",
    },
    "fine_tuning.parameter_groups": {
        "the last layer learns as fast as the head": """
def parameter_groups(model, lr, decay, weight_decay):
    L = len(model.layers)
    groups = []
    for name, p in model.named_parameters():
        if name.startswith("embeddings"):
            rate = lr * decay ** L
        elif name.startswith("layers."):
            i = int(name.split(".")[1])
            rate = lr * decay ** (L - 1 - i)
        else:
            rate = lr
        groups.append({"params": [p], "lr": rate, "weight_decay": weight_decay if p.dim() > 1 else 0.0})
    return groups
""",
        "scales of layer norms get weight decay": """
def parameter_groups(model, lr, decay, weight_decay):
    L = len(model.layers)
    groups = []
    for name, p in model.named_parameters():
        if name.startswith("embeddings"):
            depth = L + 1
        elif name.startswith("layers"):
            depth = L - int(name.split(".")[1])
        else:
            depth = 0
        wd = 0.0 if name.endswith("bias") else weight_decay
        groups.append(dict(params=[p], lr=lr * decay ** depth, weight_decay=wd))
    return groups
""",
        "frozen parameters are in no group": """
def parameter_groups(model, lr, decay, weight_decay):
    L = len(model.layers)

    def rate(name):
        if "embeddings" in name:
            return lr * decay ** (L + 1)
        if "layers" in name:
            return lr * decay ** (L - int(name.split(".")[1]))
        return lr

    return [
        {"params": [p], "lr": rate(n), "weight_decay": weight_decay if p.ndim >= 2 else 0}
        for n, p in model.named_parameters() if p.requires_grad
    ]
""",
    },
    "fine_tuning.warmup_linear": {
        "0 at step 0 without warm-up": """
def warmup_linear(step, warmup, total):
    if step <= warmup:
        return step / max(1, warmup)
    return max(0.0, (total - step) / (total - warmup))
""",
        "falls as if it had fallen from the start": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return step / warmup
    return max(0.0, 1 - step / total)
""",
        "below 0 after the end": """
def warmup_linear(step, warmup, total):
    if warmup > 0 and step < warmup:
        return step / warmup
    return 1 - (step - warmup) / (total - warmup)
""",
    },
    "fine_tuning.adam_step": {
        "the corrected means are returned": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient ** 2
    m = m / (1 - beta_1 ** step)
    v = v / (1 - beta_2 ** step)
    w = w - lr * (m / (v.sqrt() + epsilon) + weight_decay * w)
    return w, m, v
""",
        "weight decay goes into the gradient": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    g = gradient + weight_decay * w
    m = beta_1 * m + (1 - beta_1) * g
    v = beta_2 * v + (1 - beta_2) * g * g
    m_hat = m / (1 - beta_1 ** step)
    v_hat = v / (1 - beta_2 ** step)
    return w - lr * m_hat / (torch.sqrt(v_hat) + epsilon), m, v
""",
        "the root corrected in the rate, so that epsilon counts for more": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient ** 2
    rate = lr * (1 - beta_2 ** step) ** 0.5 / (1 - beta_1 ** step)
    new_w = w - rate * m / (v.sqrt() + epsilon) - lr * weight_decay * w
    return new_w, m, v
""",
    },
    "fine_tuning.train_step": {
        "the sum over all examples": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    loss_fn = torch.nn.CrossEntropyLoss(reduction="sum")
    total, n = 0.0, 0
    for inputs, labels in parts:
        loss = loss_fn(model(inputs), labels)
        loss.backward()
        total, n = total + loss.item(), n + labels.numel()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return total / n
""",
        "each tensor of weights is clipped by itself": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    n, total = sum(len(y) for _, y in parts), 0.0
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n
        loss.backward()
        total += loss.item()
    for p in model.parameters():
        torch.nn.utils.clip_grad_norm_(p, max_norm)
    optimiser.step()
    schedule.step()
    return total
""",
        "the schedule before the optimiser": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad()
    n, total = sum(len(y) for _, y in parts), 0.0
    for x, y in parts:
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / n
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    schedule.step()
    optimiser.step()
    return total
""",
    },
    "fine_tuning.unfreeze_at": {
        "a negative place once everything learns": """
def unfreeze_at(epoch, L):
    learns = torch.zeros(L + 2, dtype=torch.bool)
    learns[L + 1 - epoch:] = True
    return learns
""",
        "what has learnt is frozen again": """
def unfreeze_at(epoch, L):
    parts = torch.zeros(L + 2, dtype=torch.bool)
    parts[max(L + 1 - epoch, 0)] = True
    return parts
""",
        "from the bottom up": """
def unfreeze_at(epoch, L):
    return torch.tensor([part <= epoch for part in range(L + 2)])
""",
    },
    "fine_tuning.early_stopping": {
        "one epoch too many": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best = float("inf")
        self.best_epoch = -1
        self.epoch = -1
        self.bad = 0

    def step(self, loss):
        self.epoch += 1
        if loss < self.best - self.min_delta:
            self.best = loss
            self.best_epoch = self.epoch
            self.bad = 0
        else:
            self.bad += 1
        return self.bad > self.patience
""",
        "compared with the epoch before": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.last, self.waiting = float("inf"), 0

    def step(self, loss):
        self.epoch += 1
        if loss < self.best:
            self.best, self.best_epoch = loss, self.epoch
        if loss < self.last - self.min_delta:
            self.waiting = 0
        else:
            self.waiting += 1
        self.last = loss
        return self.waiting >= self.patience
""",
        "the count of bad epochs never begins again": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1
        self.counter = 0

    def step(self, loss):
        self.epoch += 1
        if self.best - loss > self.min_delta:
            self.best = loss
            self.best_epoch = self.epoch
        else:
            self.counter += 1
            if self.counter >= self.patience:
                return True
        return False
""",
    },
}

RIGHT = {
    "fine_tuning.classification_head": {
        "linear maps of the library": """
def classification_head(hidden, W_pool, b_pool, W, b, draws, p):
    linear = torch.nn.functional.linear
    pooled = torch.tanh(linear(hidden[:, 0], W_pool.T, b_pool))
    dropped = torch.where(draws < p, torch.zeros_like(pooled), pooled / (1 - p))
    return linear(dropped, W.T, b)
""",
    },
    "fine_tuning.count_parameters": {
        "a set of those already seen": """
def count_parameters(model):
    seen, total, learns = set(), 0, 0
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if id(p) in seen:
                continue
            seen.add(id(p))
            total += p.numel()
            if p.requires_grad:
                learns += p.numel()
    return total, learns
""",
    },
    "fine_tuning.freeze": {
        "parts of the name compared": """
def freeze(model, names):
    wanted = [name.split(".") for name in names]
    for name, p in model.named_parameters():
        path = name.split(".")
        p.requires_grad = True
        for part in wanted:
            if path[:len(part)] == part:
                p.requires_grad = False
""",
    },
    "fine_tuning.parameter_groups": {
        "one group for each pair of settings": """
def parameter_groups(model, lr, decay, weight_decay):
    L = len(model.layers)
    groups = {}
    for name, p in model.named_parameters():
        if name.startswith("embeddings."):
            rate = lr * decay * decay ** L
        elif name.startswith("layers."):
            rate = lr * decay ** (L - int(name.split(".")[1]))
        else:
            rate = lr
        wd = weight_decay if p.dim() >= 2 else 0.0
        groups.setdefault((rate, wd), []).append(p)
    return [{"params": ps, "lr": r, "weight_decay": wd} for (r, wd), ps in groups.items()]
""",
    },
    "fine_tuning.warmup_linear": {
        "of the transformers library": """
def warmup_linear(step, warmup, total):
    if step < warmup:
        return float(step) / float(max(1, warmup))
    return max(0.0, float(total - step) / float(max(1, total - warmup)))
""",
        "the smaller of two lines": """
def warmup_linear(step, warmup, total):
    up = step / warmup if warmup > 0 else 1.0
    down = (total - step) / (total - warmup)
    return max(0.0, min(up, down))
""",
    },
    "fine_tuning.adam_step": {
        "decay first": """
def adam_step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    new_m = m + (1 - beta_1) * (gradient - m)
    new_v = v + (1 - beta_2) * (gradient.square() - v)
    denominator = (new_v / (1 - beta_2 ** step)).sqrt() + epsilon
    decayed = w * (1 - lr * weight_decay)
    return decayed - lr / (1 - beta_1 ** step) * new_m / denominator, new_m, new_v
""",
    },
    "fine_tuning.train_step": {
        "the shares first": """
def train_step(model, optimiser, schedule, parts, max_norm):
    model.train()
    optimiser.zero_grad(set_to_none=True)
    sizes = [len(labels) for _, labels in parts]
    batch_loss = torch.zeros(())
    for (inputs, labels), size in zip(parts, sizes):
        loss = torch.nn.functional.cross_entropy(model(inputs), labels) * (size / sum(sizes))
        loss.backward()
        batch_loss += loss.detach()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return batch_loss.item()
""",
    },
    "fine_tuning.unfreeze_at": {
        "part by part": """
def unfreeze_at(epoch, L):
    learning = min(epoch + 1, L + 2)
    return torch.tensor([False] * (L + 2 - learning) + [True] * learning)
""",
    },
    "fine_tuning.early_stopping": {
        "a count of bad epochs": """
class EarlyStopping:
    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best = None
        self.best_epoch = None
        self.epoch = 0
        self.bad = 0

    def step(self, loss):
        if self.best is None or loss < self.best - self.min_delta:
            self.best, self.best_epoch, self.bad = loss, self.epoch, 0
        else:
            self.bad += 1
        self.epoch += 1
        return self.bad >= self.patience
""",
    },
}
