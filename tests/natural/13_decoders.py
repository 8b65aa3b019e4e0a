"""Natural answers to the exercises of notebook 13, written from its text alone: cells as students write them.

WRONG and RIGHT: exercise → what is wrong or unusual about the answer → the source of the whole cell.
"""


def attention(*, init="", split="", turn="", join="", share="", scores="", out="", reset="") -> str:
    """A cell with a GroupedAttention, as a student would write it; each part may be another one."""
    return f"""
class GroupedAttention(torch.nn.Module):
    def __init__(self, dim, heads, kv_heads, base=10_000.0):
        super().__init__()
        self.heads, self.kv, self.size, self.base = heads, kv_heads, dim // heads, base
        {
        init
        or '''self.query = torch.nn.Linear(dim, dim, bias=False)
        self.key = torch.nn.Linear(dim, kv_heads * self.size, bias=False)
        self.value = torch.nn.Linear(dim, kv_heads * self.size, bias=False)
        self.output = torch.nn.Linear(dim, dim, bias=False)'''
    }
        self.reset()

    def reset(self, cached=False):
        {reset or "self.cached, self.k, self.v = cached, None, None"}

    def forward(self, x):
        B, T, D = x.shape
        {
        split
        or '''q = self.query(x).view(B, T, self.heads, self.size).transpose(1, 2)
        k = self.key(x).view(B, T, self.kv, self.size).transpose(1, 2)
        v = self.value(x).view(B, T, self.kv, self.size).transpose(1, 2)'''
    }
        start = self.k.shape[2] if self.k is not None else 0
        pos = torch.arange(start, start + T)
        {
        turn
        or '''q = rotary(q, pos, self.base)
        k = rotary(k, pos, self.base)'''
    }
        {
        join
        or '''if self.cached:
            if self.k is not None:
                k = torch.cat([self.k, k], dim=2)
                v = torch.cat([self.v, v], dim=2)
            self.k, self.v = k, v'''
    }
        {
        share
        or '''k = k.repeat_interleave(self.heads // self.kv, dim=1)
        v = v.repeat_interleave(self.heads // self.kv, dim=1)'''
    }
        {
        scores
        or '''s = q @ k.transpose(-1, -2) / self.size ** 0.5
        mask = torch.ones(T, k.shape[2], dtype=torch.bool).tril(diagonal=start)
        w = s.masked_fill(~mask, float("-inf")).softmax(dim=-1)'''
    }
        {out or "return self.output((w @ v).transpose(1, 2).reshape(B, T, D))"}
"""


def decoder(*, token="", layers="", norm="", reset="", start="", end="") -> str:
    """A cell with a Decoder, as a student would write it."""
    return f"""
class Decoder(torch.nn.Module):
    def __init__(self, vocabulary, dim, layers, heads, kv_heads, inner, base=10_000.0, eps=1e-5):
        super().__init__()
        {token or "self.token = torch.nn.Embedding(vocabulary, dim)"}
        {
        layers
        or "self.layers = torch.nn.ModuleList([Layer(dim, heads, kv_heads, inner, base, eps) for _ in range(layers)])"
    }
        {norm or "self.norm = RMSNorm(dim, eps)"}

    def reset(self, cached=False):
        {
        reset
        or '''for l in self.layers:
            l.attention.reset(cached)'''
    }

    def forward(self, ids):
        {start or "h = self.token(ids)"}
        for l in self.layers:
            h = l(h)
        {end or "return self.norm(h) @ self.token.weight.T"}
"""


def swiglu(forward: str) -> str:
    """A cell with a SwiGLU whose forward returns this."""
    return f"""
class SwiGLU(torch.nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.gate = torch.nn.Linear(dim, inner, bias=False)
        self.up = torch.nn.Linear(dim, inner, bias=False)
        self.down = torch.nn.Linear(inner, dim, bias=False)

    def forward(self, x):
        return {forward}
"""


def trained(
    count: str = "counts[a, b] += n",
    best: str = "",
    ids: str = "list(w.encode())",
    new: str = "256 + step",
    stop: str = "break",
) -> str:
    """A cell with a bpe_train, as a student would write it."""
    best = best or "sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]"
    return f"""
def bpe_train(words, merges):
    texts = [({ids}, n) for w, n in words.items()]
    result = []
    for step in range(merges):
        counts = Counter()
        for row, n in texts:
            for a, b in zip(row[:-1], row[1:]):
                {count}
        if not counts:
            {stop}
        best = {best}
        result.append(best)
        texts = [(merge(row, best, {new}), n) for row, n in texts]
    return result
"""


WRONG = {
    "decoders.bpe_train": {
        "most_common": trained(best="counts.most_common(1)[0][0]"),
        "every word once": trained(count="counts[a, b] += 1"),
        "the highest of equals": trained(best="max(counts, key=lambda p: (counts[p], p))"),
        "code points": trained(ids="list(map(ord, w))"),
        "new tokens from 1000": trained(new="1000 + step"),
        "new tokens from 0": trained(new="step"),
        "pairs across words": """
def bpe_train(words, merges):
    row = []
    for word, n in words.items():
        row += list(word.encode()) * n
    result = []
    for step in range(merges):
        counts = Counter(pairwise(row))
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], p))
        result.append(best)
        row = merge(row, best, 256 + step)
    return result
""",
        "pairs of letters come back": """
def bpe_train(words, merges):
    texts = {w: list(w.encode()) for w in words}
    out = []
    for step in range(merges):
        counts = Counter()
        for w, row in texts.items():
            for p in pairwise(row):
                counts[p] += words[w]
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], p))
        out.append((256 + step, *best))
        texts = {w: merge(row, best, 256 + step) for w, row in texts.items()}
    return out
""",
    },
    "decoders.bpe_encode": {
        "the first pair found": """
def bpe_encode(word, merges):
    ids = list(word.encode())
    changed = True
    while changed:
        changed = False
        for i in range(len(ids) - 1):
            pair = (ids[i], ids[i + 1])
            if pair in merges:
                ids[i:i + 2] = [256 + merges.index(pair)]
                changed = True
                break
    return ids
""",
        "the newest merge first": """
def bpe_encode(word, merges):
    ids = list(word.encode())
    for i in reversed(range(len(merges))):
        ids = merge(ids, merges[i], 256 + i)
    return ids
""",
        "code points": """
def bpe_encode(word, merges):
    ids = [ord(c) for c in word]
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + i)
    return ids
""",
        "numbers from 255": """
def bpe_encode(word, merges):
    ids = list(word.encode())
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, 255 + i)
    return ids
""",
        "one occurrence per merge": """
def bpe_encode(word, merges):
    ids = list(word.encode())
    for i, (a, b) in enumerate(merges):
        for j in range(len(ids) - 1):
            if ids[j] == a and ids[j + 1] == b:
                ids[j:j + 2] = [256 + i]
                break
    return ids
""",
        "only the first that fits": """
def bpe_encode(word, merges):
    ids = list(word.encode())
    for i, pair in enumerate(merges):
        if pair in list(pairwise(ids)):
            return merge(ids, pair, 256 + i)
    return ids
""",
    },
    "decoders.rms_norm": {
        "std": """
def rms_norm(x, weight, eps):
    return x / (x.std(dim=-1, keepdim=True) + eps) * weight
""",
        "layer_norm": """
def rms_norm(x, weight, eps):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, None, eps)
""",
        "the norm": """
def rms_norm(x, weight, eps):
    return x / torch.sqrt((x**2).sum(-1, keepdim=True) + eps) * weight
""",
        "eps added at the end": """
def rms_norm(x, weight, eps):
    rms = torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True))
    return x / (rms + eps) * weight
""",
        "the default eps": """
def rms_norm(x, weight, eps):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight)
""",
        "no root": """
def rms_norm(x, weight, eps):
    return weight * x / (torch.mean(x ** 2, -1, keepdim=True) + eps)
""",
        "mean of everything": """
def rms_norm(x, weight, eps):
    return weight * x * torch.rsqrt(x.pow(2).mean() + eps)
""",
    },
    "decoders.rotary": {
        "neighbours": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    speed = base ** (-torch.arange(0, d, 2) / d)
    a = positions[:, None] * speed
    even, odd = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2] = even * a.cos() - odd * a.sin()
    out[..., 1::2] = even * a.sin() + odd * a.cos()
    return out
""",
        "the other way": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    a = torch.outer(positions.float(), base ** (-torch.arange(0, d, 2) / d))
    u, v = x[..., :d // 2], x[..., d // 2:]
    return torch.cat([u * a.cos() + v * a.sin(), v * a.cos() - u * a.sin()], dim=-1)
""",
        "speeds of i over d": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    a = torch.outer(positions.float(), base ** (-torch.arange(d // 2) / d))
    u, v = x.chunk(2, dim=-1)
    return torch.cat([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], dim=-1)
""",
        "positions of its own": """
def rotary(x, positions, base=10_000.0):
    T, d = x.shape[-2:]
    a = torch.outer(torch.arange(T).float(), base ** (-torch.arange(0, d, 2) / d))
    u, v = x.chunk(2, dim=-1)
    return torch.cat([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], dim=-1)
""",
        "rotate_half without the minus": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    a = torch.outer(positions.float(), 1 / base ** (torch.arange(0, d, 2) / d))
    a = torch.cat([a, a], dim=-1)
    half = torch.cat([x[..., d // 2:], x[..., :d // 2]], dim=-1)
    return x * a.cos() + half * a.sin()
""",
        "angles for neighbours, rotate_half": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    a = torch.outer(positions.float(), 1 / base ** (torch.arange(0, d, 2) / d)).repeat_interleave(2, dim=-1)
    half = torch.cat([-x[..., d // 2:], x[..., :d // 2]], dim=-1)
    return x * a.cos() + half * a.sin()
""",
        "base forgotten": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    a = positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    u, v = x.chunk(2, -1)
    return torch.cat([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], -1)
""",
    },
    "decoders.attention": {
        "repeat": attention(
            share="k, v = k.repeat(1, self.heads // self.kv, 1, 1), v.repeat(1, self.heads // self.kv, 1, 1)"
        ),
        "positions from 0": attention(
            turn="q, k = rotary(q, torch.arange(T), self.base), rotary(k, torch.arange(T), self.base)"
        ),
        "default base": attention(turn="q, k = rotary(q, pos), rotary(k, pos)"),
        "values turned": attention(
            turn="q, k, v = rotary(q, pos, self.base), rotary(k, pos, self.base), rotary(v, pos, self.base)"
        ),
        "view without transpose": attention(
            split="q = self.query(x).view(B, self.heads, T, self.size)\n        k = self.key(x).view(B, self.kv, T, self.size)\n"
            "        v = self.value(x).view(B, self.kv, T, self.size)"
        ),
        "no mask with the cache": attention(
            scores="s = q @ k.transpose(-1, -2) / self.size ** 0.5\n        if self.k is None or start == 0:\n"
            '            s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), float("-inf"))\n        w = s.softmax(dim=-1)'
        ),
        "reset without forgetting": attention(
            init="self.k = self.v = None\n        self.query = torch.nn.Linear(dim, dim, bias=False)\n"
            "        self.key = torch.nn.Linear(dim, kv_heads * self.size, bias=False)\n"
            "        self.value = torch.nn.Linear(dim, kv_heads * self.size, bias=False)\n        self.output = torch.nn.Linear(dim, dim, bias=False)",
            reset="self.cached = cached",
        ),
        "one cache for all modules of the class": attention(
            join="new = k, v\n        if self.cached:\n            if GroupedAttention.past:\n"
            "                k, v = (torch.cat(pair, dim=2) for pair in zip(GroupedAttention.past, new))\n"
            "            GroupedAttention.past, self.k = (k, v), k",
            reset="self.cached, self.k, GroupedAttention.past = cached, None, None",
        ),
        "the heads are not joined by output": attention(
            out="return (w @ v).transpose(1, 2).reshape(B, T, D)"
        ),
        "with biases": attention(
            init="self.query = torch.nn.Linear(dim, dim)\n        self.key = torch.nn.Linear(dim, kv_heads * self.size)\n"
            "        self.value = torch.nn.Linear(dim, kv_heads * self.size)\n        self.output = torch.nn.Linear(dim, dim)"
        ),
    },
    "decoders.swiglu": {
        "silu of up": swiglu("self.down(self.gate(x) * silu(self.up(x)))"),
        "silu of the product": swiglu("self.down(silu(self.gate(x) * self.up(x)))"),
        "sum": swiglu("self.down(silu(self.gate(x)) + self.up(x))"),
        "sigmoid": swiglu("self.down(torch.sigmoid(self.gate(x)) * self.up(x))"),
        "gelu": swiglu("self.down(torch.nn.functional.gelu(self.gate(x)) * self.up(x))"),
        "silu at the end": swiglu("silu(self.down(self.gate(x) * self.up(x)))"),
    },
    "decoders.decoder": {
        "no last norm": decoder(end="return h @ self.token.weight.T"),
        "a head of its own": decoder(
            norm="self.norm = RMSNorm(dim, eps)\n        self.head = torch.nn.Linear(dim, vocabulary, bias=False)",
            end="return self.head(self.norm(h))",
        ),
        "a plain list": decoder(
            layers="self.layers = [Layer(dim, heads, kv_heads, inner, base, eps) for _ in range(layers)]"
        ),
        "one layer many times": decoder(
            layers="self.layers = torch.nn.ModuleList([Layer(dim, heads, kv_heads, inner, base, eps)] * layers)"
        ),
        "reset forgets to hand on": decoder(reset="for l in self.layers:\n            l.attention.reset()"),
        "softmax at the end": decoder(end="return (self.norm(h) @ self.token.weight.T).softmax(-1)"),
        "base and eps left out": decoder(
            layers="self.layers = torch.nn.ModuleList([Layer(dim, heads, kv_heads, inner, 10_000.0, 1e-5) for _ in range(layers)])"
        ),
        "scaled as in 2017": decoder(
            start="h = self.token(ids) * ids.new_tensor(self.token.weight.shape[1]) ** 0.5"
        ),
    },
    "decoders.own_names": {
        "with lm_head": """
def own_names(theirs):
    out = {}
    for name, value in theirs.items():
        parts = name.replace("model.", "").split(".")
        if parts[0] == "layers":
            key = ".".join(parts[2:-1])
            if key in PLACES:
                out[f"layers.{parts[1]}.{PLACES[key]}.{parts[-1]}"] = value
        elif parts[0] in PLACES:
            out[f"{PLACES[parts[0]]}.{parts[-1]}"] = value
        else:
            out[name] = value
    return out
""",
        "transposed": """
def own_names(theirs):
    out = {}
    for name, value in theirs.items():
        parts = name.removeprefix("model.").split(".")
        if parts[0] == "layers" and ".".join(parts[2:-1]) in PLACES:
            out[f"layers.{parts[1]}.{PLACES['.'.join(parts[2:-1])]}.{parts[-1]}"] = value.T
        elif parts[0] in PLACES:
            out[f"{PLACES[parts[0]]}.{parts[-1]}"] = value
    return out
""",
        "only names with model.": """
def own_names(theirs):
    out = {}
    for name, value in theirs.items():
        parts = name.split(".")[1:]
        if parts[0] == "layers" and ".".join(parts[2:-1]) in PLACES:
            out[f"layers.{parts[1]}.{PLACES['.'.join(parts[2:-1])]}.{parts[-1]}"] = value
        elif parts[0] in PLACES:
            out[f"{PLACES[parts[0]]}.{parts[-1]}"] = value
    return out
""",
        "the norm at the end left out": """
def own_names(theirs):
    out = {}
    for name, value in theirs.items():
        parts = name.removeprefix("model.").split(".")
        if parts[0] == "layers" and ".".join(parts[2:-1]) in PLACES:
            out[f"layers.{parts[1]}.{PLACES['.'.join(parts[2:-1])]}.{parts[-1]}"] = value
        elif parts[0] == "embed_tokens":
            out["token.weight"] = value
    return out
""",
        "buffers, too": """
def own_names(theirs):
    out = {}
    for name, value in theirs.items():
        name = name.removeprefix("model.")
        if name == "lm_head.weight":
            continue
        for old, new in PLACES.items():
            if f".{old}." in f".{name}":
                name = f".{name}".replace(f".{old}.", f".{new}.")[1:]
                break
        out[name] = value
    return out
""",
    },
    "decoders.mended_rows": {
        "all rows at once": """
def mended_rows(weight, heads):
    return torch.cat([weight[0::2], weight[1::2]], dim=0)
""",
        "the way back": """
def mended_rows(weight, heads):
    rows, D = weight.shape
    return weight.view(heads, 2, rows // heads // 2, D).transpose(1, 2).reshape(rows, D)
""",
        "unchanged": """
def mended_rows(weight, heads):
    return weight.view(heads, -1, weight.shape[1]).reshape(weight.shape)
""",
        "columns": """
def mended_rows(weight, heads):
    return torch.cat([weight[:, 0::2], weight[:, 1::2]], dim=1)
""",
        "odd first": """
def mended_rows(weight, heads):
    w = weight.view(heads, -1, weight.shape[1])
    return torch.cat([w[:, 1::2], w[:, 0::2]], dim=1).reshape(weight.shape)
""",
    },
    "decoders.route": {
        "probabilities of all, cut": """
def route(scores, k):
    p = scores.softmax(-1)
    top = p.topk(k, dim=-1)
    w = torch.zeros_like(p).scatter(-1, top.indices, top.values)
    f = (w > 0).float().mean(0) / k
    return w, scores.shape[1] * (f * p.mean(0)).sum()
""",
        "f per token": """
def route(scores, k):
    top = scores.topk(k, dim=-1)
    w = torch.zeros_like(scores).scatter(-1, top.indices, top.values.softmax(-1))
    f = (w > 0).float().mean(0)
    return w, scores.shape[1] * (f * scores.softmax(-1).mean(0)).sum()
""",
        "P from the weights": """
def route(scores, k):
    top = scores.topk(k, dim=-1)
    w = torch.zeros_like(scores).scatter(-1, top.indices, top.values.softmax(-1))
    f = (w > 0).float().mean(0) / k
    return w, scores.shape[1] * (f * w.mean(0)).sum()
""",
        "no E": """
def route(scores, k):
    top = scores.topk(k, dim=-1)
    w = torch.zeros_like(scores).scatter(-1, top.indices, top.values.softmax(-1))
    f = (w > 0).float().mean(0) / k
    return w, (f * scores.softmax(-1).mean(0)).sum()
""",
        "softmax of zeros": """
def route(scores, k):
    top = scores.topk(k, dim=-1)
    kept = torch.zeros_like(scores).scatter(-1, top.indices, top.values)
    w = kept.softmax(-1)
    f = (kept != 0).float().mean(0) / k
    return w, scores.shape[1] * (f * scores.softmax(-1).mean(0)).sum()
""",
        "a mean instead of a sum": """
def route(scores, k):
    top = scores.topk(k, dim=-1)
    w = torch.zeros_like(scores).scatter(-1, top.indices, top.values.softmax(-1))
    f = (w > 0).float().mean(0) / k
    return w, (f * scores.softmax(-1).mean(0)).mean()
""",
    },
    "decoders.quantise": {
        "truncated": """
def quantise(x, size):
    b = x.view(-1, size)
    s = b.abs().max(dim=1).values / 7
    q = torch.where(s[:, None] > 0, b / s[:, None], 0.0).int().float()
    return q.view(-1), s
""",
        "max without abs": """
def quantise(x, size):
    b = x.view(-1, size)
    s = b.max(dim=1).values / 7
    q = torch.nan_to_num(torch.round(b / s[:, None]))
    return q.view(-1), s
""",
        "divided by zero": """
def quantise(x, size):
    b = x.view(-1, size)
    s = b.abs().max(dim=1).values / 7
    return torch.round(b / s[:, None]).view(-1), s
""",
        "one scale": """
def quantise(x, size):
    s = x.abs().max() / 7
    return torch.round(x / s), s.repeat(len(x) // size)
""",
        "from -8 to 7": """
def quantise(x, size):
    b = x.view(-1, size)
    s = b.abs().max(dim=1).values / 8
    q = torch.nan_to_num(torch.round(b / s[:, None])).clamp(-8, 7)
    return q.view(-1), s
""",
        "the largest value as scale": """
def quantise(x, size):
    b = x.view(-1, size)
    s = b.abs().max(dim=1).values
    q = torch.nan_to_num(torch.round(b / s[:, None] * 7))
    return q.view(-1), s
""",
    },
}

RIGHT = {
    "decoders.bpe_train": {
        "sorted": trained(),
        "return in the loop": trained(stop="return result"),
        "by hand, without Counter": """
def bpe_train(words, merges):
    rows = [list(w.encode()) for w in words]
    freq = list(words.values())
    learned = []
    while len(learned) < merges:
        table = {}
        for row, n in zip(rows, freq):
            for i in range(1, len(row)):
                key = (row[i - 1], row[i])
                table[key] = table.get(key, 0) + n
        if not table:
            return learned
        top = max(table.values())
        pair = sorted(p for p, n in table.items() if n == top)[0]
        rows = [merge(row, pair, len(learned) + 256) for row in rows]
        learned.append(pair)
    return learned
""",
    },
    "decoders.bpe_encode": {
        "merge after merge": """
def bpe_encode(word, merges):
    row = list(word.encode("utf-8"))
    for token, pair in enumerate(merges, start=256):
        row = merge(row, pair, token)
    return row
""",
        "ranks with a default": """
def bpe_encode(word, merges):
    rank = {tuple(p): i for i, p in enumerate(merges)}
    ids = list(word.encode())
    while len(ids) > 1:
        best = min(zip(ids, ids[1:]), key=lambda p: rank.get(p, 10**9))
        if best not in rank:
            break
        ids = merge(ids, best, 256 + rank[best])
    return ids
""",
    },
    "decoders.rms_norm": {
        "two lines": """
def rms_norm(x, weight, eps):
    mean_square = torch.mean(x * x, dim=-1, keepdim=True)
    return x * torch.rsqrt(mean_square + eps) * weight
""",
        "a norm": """
def rms_norm(x, weight, eps):
    D = x.shape[-1]
    return weight * x / torch.sqrt(x.norm(dim=-1, keepdim=True) ** 2 / D + eps)
""",
    },
    "decoders.rotary": {
        "loops over planes": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    out = torch.zeros_like(x)
    for i in range(d // 2):
        a = positions * base ** (-2 * i / d)
        u, v = x[..., i], x[..., i + d // 2]
        out[..., i] = u * torch.cos(a) - v * torch.sin(a)
        out[..., i + d // 2] = u * torch.sin(a) + v * torch.cos(a)
    return out
""",
        "rotation matrices": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    a = positions[:, None].double() / base ** (torch.arange(0, d, 2).double() / d)
    R = torch.stack([torch.stack([a.cos(), -a.sin()], -1), torch.stack([a.sin(), a.cos()], -1)], -2)
    points = torch.stack(x.double().chunk(2, -1), -1)
    turned = (R @ points[..., None])[..., 0]
    return torch.cat([turned[..., 0], turned[..., 1]], -1).float()
""",
    },
    "decoders.attention": {
        "as one would": attention(),
        "by groups": attention(
            share="q = q.reshape(B, self.kv, self.heads // self.kv, T, self.size)\n        k, v = k[:, :, None], v[:, :, None]",
            scores="s = q @ k.transpose(-1, -2) / self.size ** 0.5\n        mask = torch.ones(T, k.shape[-2], dtype=torch.bool).tril(diagonal=start)\n"
            '        w = s.masked_fill(~mask, float("-inf")).softmax(dim=-1)',
            out="return self.output((w @ v).flatten(1, 2).transpose(1, 2).reshape(B, T, D))",
        ),
    },
    "decoders.swiglu": {
        "as one would": swiglu("self.down(silu(self.gate(x)) * self.up(x))"),
        "sigmoid written out": swiglu("self.down(self.gate(x) * torch.sigmoid(self.gate(x)) * self.up(x))"),
    },
    "decoders.decoder": {
        "as one would": decoder(),
        "F.linear": decoder(end="return torch.nn.functional.linear(self.norm(h), self.token.weight)"),
    },
    "decoders.own_names": {
        "a dict comprehension": """
def own_names(theirs):
    def new(name):
        parts = name.removeprefix("model.").split(".")
        n = 2 if parts[0] == "layers" else 0
        place = PLACES.get(".".join(parts[n:-1]))
        return place and ".".join([*parts[:n], place, parts[-1]])
    return {new(name): value for name, value in theirs.items() if new(name)}
""",
    },
    "decoders.mended_rows": {
        "permute": """
def mended_rows(weight, heads):
    rows, D = weight.shape
    return weight.reshape(heads, -1, 2, D).permute(0, 2, 1, 3).reshape(rows, D)
""",
    },
    "decoders.route": {
        "one_hot": """
def route(scores, k):
    E = scores.shape[-1]
    values, places = scores.sort(dim=-1, descending=True)
    share = values[:, :k].softmax(-1)
    hot = torch.nn.functional.one_hot(places[:, :k], E).float()
    weights = (hot * share[..., None]).sum(1)
    return weights, E * (hot.sum((0, 1)) / hot.sum() * scores.softmax(-1).mean(0)).sum()
""",
    },
    "decoders.quantise": {
        "where": """
def quantise(x, size):
    blocks = x.view(-1, size)
    scale = blocks.abs().max(1).values / 7
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    return torch.round(blocks / safe[:, None]).view(-1), scale
""",
    },
}
