"""Natural answers to the exercises of notebook 14, written from its text alone: cells as students write them.

WRONG and RIGHT: exercise → what is wrong or unusual about the answer → the source of the whole cell.
"""


def labels(rule: str, end: str = "return ids, labels") -> str:
    """A loop over the turns; `rule` says what becomes of one turn's labels."""
    return f"""
def sft_labels(turns):
    ids, labels = [], []
    for role, tokens in turns:
        ids.extend(tokens)
        {rule}
    {end}
"""


def packing(
    *,
    fits="used + n <= length",
    label="[-100] + list(labels[1:])",
    places="list(range(n))",
    number="count",
    new="count = 0",
    empty="-100",
) -> str:
    """Rows filled one by one; each part may be another one."""
    return f"""
def pack(conversations, length):
    tables = dict(ids=[], labels=[], positions=[], segments=[])
    used, count = length, 0
    for ids, labels in conversations:
        n = len(ids)
        if not ({fits}):
            tables["ids"].append([0] * length)
            tables["labels"].append([{empty}] * length)
            tables["positions"].append([0] * length)
            tables["segments"].append([0] * length)
            used = 0
            {new}
        count += 1
        tables["ids"][-1][used:used + n] = list(ids)
        tables["labels"][-1][used:used + n] = {label}
        tables["positions"][-1][used:used + n] = {places}
        tables["segments"][-1][used:used + n] = [{number}] * n
        used += n
    return {{name: torch.tensor(rows) for name, rows in tables.items()}}
"""


def lora(*, freeze="for p in base.parameters(): p.requires_grad = False", A="torch.randn(rank, base.in_features) * 0.01", B="torch.zeros(base.out_features, rank)",
         scale="alpha / rank", forward="self.base(x) + self.scale * (x @ self.A.T) @ self.B.T") -> str:  # fmt: skip
    return f"""
class LoRALinear(torch.nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        {freeze}
        self.base = base
        self.scale = {scale}
        self.A = torch.nn.Parameter({A})
        self.B = torch.nn.Parameter({B})

    def forward(self, x):
        return {forward}
"""


def merged(weight: str = "layer.base.weight + layer.scale * layer.B @ layer.A", rest: str = "") -> str:
    return f"""
@torch.no_grad()
def merge(layer):
    out, inputs = layer.base.weight.shape
    new = torch.nn.Linear(inputs, out, bias=layer.base.bias is not None)
    new.weight.data = {weight}
    {rest or "if layer.base.bias is not None: new.bias.data = layer.base.bias.clone()"}
    return new
"""


def log_p(body: str) -> str:
    return (
        "def answer_log_p(logits, labels):\n"
        + "\n".join(f"    {line}" for line in body.strip().splitlines())
        + "\n"
    )


def step(body: str) -> str:
    return (
        "def dpo_step(policy, reference, chosen, rejected, optimiser, beta):\n"
        + "\n".join(f"    {line}" for line in body.strip().splitlines())
        + "\n"
    )


ASK = """
c = answer_log_p(policy(chosen[0]), chosen[1])
r = answer_log_p(policy(rejected[0]), rejected[1])
with torch.no_grad():
    rc = answer_log_p(reference(chosen[0]), chosen[1])
    rr = answer_log_p(reference(rejected[0]), rejected[1])
"""
LEARN = """
optimiser.zero_grad()
loss.backward()
optimiser.step()
return loss.item()
"""


def loss(expression: str) -> str:
    return f"def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):\n    return {expression}\n"


def kl(*lines: str) -> str:
    return (
        "def kl_to_reference(logits, ref_logits, counts):\n"
        + "\n".join(f"    {line}" for line in lines)
        + "\n"
    )


def best(expression: str) -> str:
    return f"def best_policy(log_ref, reward, beta):\n    return {expression}\n"


def order(body: str) -> str:
    return (
        "def in_order(scores, positive):\n"
        + "\n".join(f"    {line}" for line in body.strip().splitlines())
        + "\n"
    )


PARTS = ("p = torch.softmax(logits, -1)", "q = torch.softmax(ref_logits, -1)")

WRONG = {
    "assistant.sft_labels": {
        "every token has a label": labels("labels.extend(tokens)"),
        "the user's tokens are labelled": labels(
            'labels.extend(tokens if role == "user" else [-100] * len(tokens))'
        ),
        "0 where nothing counts": labels(
            'labels.extend(tokens if role == "assistant" else [0] * len(tokens))'
        ),
        "shifted by one": labels(
            'labels.extend(tokens if role == "assistant" else [-100] * len(tokens))',
            "return ids[:-1], labels[1:]",
        ),
        "the end token left out": labels(
            'labels.extend(tokens[:-1] + [-100] if role == "assistant" else [-100] * len(tokens))'
        ),
        "one −100 for each question": labels('labels.extend(tokens if role == "assistant" else [-100])'),
    },
    "assistant.pack": {
        "the first label kept": packing(label="list(labels)"),
        "positions through the row": packing(places="list(range(used, used + n))"),
        "segments from 0": packing(number="count - 1"),
        "segments never begin anew": packing(new="pass"),
        "an exact fit refused": packing(fits="used + n < length"),
        "empty labels are 0": packing(empty="0"),
        "the last label covered instead of the first": packing(label="list(labels[:-1]) + [-100]"),
    },
    "assistant.lora_linear": {
        "the base not frozen": lora(freeze="pass"),
        "no scale": lora(forward="self.base(x) + (x @ self.A.T) @ self.B.T"),
        "scaled by alpha": lora(scale="alpha"),
        "both random": lora(B="torch.randn(base.out_features, rank) * 0.01"),
        "both zero": lora(A="torch.zeros(rank, base.in_features)"),
        "without the base": lora(forward="self.scale * (x @ self.A.T) @ self.B.T"),
        "A and B the other way round": lora(
            A="torch.randn(base.in_features, rank) * 0.01",
            B="torch.zeros(rank, base.out_features)",
            forward="self.base(x) + self.scale * (x @ self.A) @ self.B",
        ),
    },  # fmt: skip
    "assistant.merge": {
        "no scale": merged("layer.base.weight + layer.B @ layer.A"),
        "A and B transposed": merged("layer.base.weight + layer.scale * (layer.A.T @ layer.B.T)"),
        "the bias forgotten": merged(rest="if new.bias is not None: new.bias.data.zero_()"),
        "in place": """
def merge(layer):
    layer.base.weight.data += layer.scale * layer.B.data @ layer.A.data
    return layer.base
""",
        "the base comes back": "def merge(layer):\n    return layer.base\n",
    },
    "assistant.answer_log_p": {
        "not shifted": log_p("""
lp = torch.log_softmax(logits, -1)
t = labels.masked_fill(labels == -100, 0)
return (lp.gather(-1, t.unsqueeze(-1)).squeeze(-1) * (labels != -100)).sum(-1)"""),
        "the mean": log_p("""
lp = torch.log_softmax(logits[:, :-1], -1)
t = labels[:, 1:]
mask = t != -100
found = lp.gather(-1, t.masked_fill(~mask, 0).unsqueeze(-1)).squeeze(-1)
return (found * mask).sum(-1) / mask.sum(-1).clamp(min=1)"""),
        "the loss": log_p(
            "return cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], reduction='none').sum(1)"
        ),
        "one number for all": log_p(
            "return -cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction='sum')"
        ),
        "no softmax": log_p("""
t = labels[:, 1:]
found = logits[:, :-1].gather(-1, t.clamp(min=0).unsqueeze(-1)).squeeze(-1)
return (found * (t != -100)).sum(-1)"""),
        "gather of −100": log_p(
            "return logits[:, :-1].log_softmax(-1).gather(-1, labels[:, 1:, None]).sum((1, 2))"
        ),
    },
    "assistant.best_policy": {
        "times beta": best("torch.log_softmax(log_ref + beta * reward, -1)"),
        "without the reference": best("torch.log_softmax(reward / beta, -1)"),
        "not normalised": best("log_ref + reward / beta"),
        "a probability": best("torch.softmax(log_ref + reward / beta, -1)"),
        "probabilities times rewards": best("(log_ref.exp() * (reward / beta)).log_softmax(-1)"),
    },
    "assistant.dpo_loss": {
        "no reference": loss("-logsigmoid(beta * (chosen - rejected)).mean()"),
        "the wrong way round": loss(
            "-logsigmoid(beta * ((rejected - ref_rejected) - (chosen - ref_chosen))).mean()"
        ),
        "sigmoid, then log": loss(
            "-torch.log(torch.sigmoid(beta * ((chosen - ref_chosen) - (rejected - ref_rejected)))).mean()"
        ),
        "the sum": loss("-logsigmoid(beta * ((chosen - ref_chosen) - (rejected - ref_rejected))).sum()"),
        "beta outside": loss("-beta * logsigmoid((chosen - ref_chosen) - (rejected - ref_rejected)).mean()"),
        "no minus": loss("logsigmoid(beta * ((chosen - ref_chosen) - (rejected - ref_rejected))).mean()"),
        "ratios of log-probabilities": loss(
            "-logsigmoid(beta * (chosen / ref_chosen - rejected / ref_rejected)).mean()"
        ),
    },
    "assistant.dpo_step": {
        "no zero_grad": step(
            ASK + "loss = dpo_loss(c, r, rc, rr, beta)\nloss.backward()\noptimiser.step()\nreturn loss.item()"
        ),
        "the reference with gradients": step(
            ASK.replace("with torch.no_grad():", "if True:") + "loss = dpo_loss(c, r, rc, rr, beta)" + LEARN
        ),
        "rejected first": step(ASK + "loss = dpo_loss(r, c, rr, rc, beta)" + LEARN),
        "no step": step(
            ASK
            + "loss = dpo_loss(c, r, rc, rr, beta)\noptimiser.zero_grad()\nloss.backward()\nreturn loss.item()"
        ),
        "the policy without gradients": step(
            "with torch.no_grad():\n"
            + "\n".join(
                f"    {line}"
                for line in ASK.strip().replace("with torch.no_grad():", "if True:").splitlines()
            )
            + "\nloss = dpo_loss(c, r, rc, rr, beta)"
            + LEARN
        ),
        "ids as labels": step(
            ASK.replace("chosen[1]", "chosen[0]").replace("rejected[1]", "rejected[0]")
            + "loss = dpo_loss(c, r, rc, rr, beta)"
            + LEARN
        ),
    },
    "assistant.kl_to_reference": {
        "the other direction": kl(*PARTS, "return (q * (q.log() - p.log())).sum(-1)[counts].mean()"),
        "every place": kl(*PARTS, "return (p * (p.log() - q.log())).sum(-1).mean()"),
        "kl_div as it comes": kl(
            *PARTS, "return torch.nn.functional.kl_div(p.log()[counts], q[counts], reduction='batchmean')"
        ),
        "masked, then the mean of all": kl(
            *PARTS, "return ((p * (p.log() - q.log())).sum(-1) * counts).mean()"
        ),
        "the mean over words": kl(*PARTS, "return (p * (p.log() - q.log()))[counts].mean()"),
        "logits": kl(*PARTS, "return (p * (logits - ref_logits)).sum(-1)[counts].mean()"),
    },
    "assistant.in_order": {
        "equal ones count nothing": order(
            "return (scores[positive][:, None] > scores[~positive][None]).float().mean()"
        ),
        "accuracy": order("return ((scores > 0) == positive).float().mean()"),
        "equal ones count whole": order(
            "return (scores[positive][:, None] >= scores[~positive][None]).float().mean()"
        ),
        "turned round": order(
            "a, b = scores[positive], scores[~positive]\nreturn ((a[:, None] < b).float() + 0.5 * (a[:, None] == b).float()).mean()"
        ),
        "median as a threshold": order("return ((scores > scores.median()) == positive).float().mean()"),
    },
    "assistant.mended_unload": {
        "the base": """
def mended_unload(model):
    for name, child in model.named_children():
        if isinstance(child, LoRALinear):
            setattr(model, name, child.base)
        else:
            mended_unload(child)
    return model
""",
        "merged, but not put in": """
def mended_unload(model):
    for name, child in model.named_children():
        if isinstance(child, LoRALinear):
            child = merge(child)
        else:
            mended_unload(child)
    return model
""",
        "no recursion": """
def mended_unload(model):
    for name, child in model.named_children():
        if isinstance(child, LoRALinear):
            setattr(model, name, merge(child))
    return model
""",
        "nothing comes back": """
def mended_unload(model):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LoRALinear):
                setattr(module, name, merge(child))
""",
        "names with dots": """
def mended_unload(model):
    for name, module in list(model.named_modules()):
        if isinstance(module, LoRALinear):
            model._modules[name] = merge(module)
    return model
""",
    },
}

RIGHT = {
    "assistant.sft_labels": {
        "if and else": labels(
            'if role == "assistant":\n            labels.extend(tokens)\n        else:\n            labels.extend([-100 for _ in tokens])'
        ),
    },
    "assistant.pack": {"tables of lists": packing()},
    "assistant.lora_linear": {
        "a loop that freezes": lora(),
        "two linear layers": lora(
            forward="self.base(x) + torch.nn.functional.linear(torch.nn.functional.linear(x, self.A), self.B).mul(self.scale)"
        ),
    },
    "assistant.merge": {"data of a new layer": merged()},
    "assistant.answer_log_p": {
        "masked_fill": log_p("""
lp = torch.log_softmax(logits[:, :-1], -1)
t = labels[:, 1:]
mask = t != -100
return (lp.gather(-1, t.masked_fill(~mask, 0).unsqueeze(-1)).squeeze(-1) * mask.float()).sum(-1)"""),
    },
    "assistant.best_policy": {
        "subtracts the logarithm of the sum": best(
            "log_ref + reward / beta - (log_ref + reward / beta).logsumexp(-1, keepdim=True)"
        )
    },
    "assistant.dpo_loss": {
        "two log ratios": loss("-logsigmoid(beta * (chosen - ref_chosen - rejected + ref_rejected)).mean()")
    },
    "assistant.dpo_step": {"one by one": step(ASK + "loss = dpo_loss(c, r, rc, rr, beta)" + LEARN)},
    "assistant.kl_to_reference": {
        "probabilities": kl(*PARTS, "return (p * (p.log() - q.log())).sum(-1)[counts].mean()")
    },
    "assistant.in_order": {
        "two comparisons": order(
            "a, b = scores[positive][:, None], scores[~positive][None, :]\nreturn (a > b).float().mean() + 0.5 * (a == b).float().mean()"
        )
    },
    "assistant.mended_unload": {
        "recursion": """
def mended_unload(model):
    for name, child in model.named_children():
        if isinstance(child, LoRALinear):
            setattr(model, name, merge(child))
        else:
            mended_unload(child)
    return model
""",
    },
}
