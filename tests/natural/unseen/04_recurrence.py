"""04_recurrence: answers written from the task texts by somebody who had not seen the exercises. See README.md."""

WRONG = {
    "recurrence.recurrent_step": {
        "tanh of word and state each, then added": """
def recurrent_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D H"],
    W_h: Float[Tensor, "H H"],
    b: Float[Tensor, "H"],
) -> Float[Tensor, "B H"]:
    return torch.tanh(x @ W_x + b) + torch.tanh(h @ W_h)
""",
        "sigmoid": """
def recurrent_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D H"],
    W_h: Float[Tensor, "H H"],
    b: Float[Tensor, "H"],
) -> Float[Tensor, "B H"]:
    return torch.sigmoid(x @ W_x + h @ W_h + b)
""",
        "the old state added to the new one": """
def recurrent_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D H"],
    W_h: Float[Tensor, "H H"],
    b: Float[Tensor, "H"],
) -> Float[Tensor, "B H"]:
    new = torch.tanh(x @ W_x + h @ W_h + b)
    return h + new
""",
        "W_h read with outputs in its rows": """
def recurrent_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D H"],
    W_h: Float[Tensor, "H H"],
    b: Float[Tensor, "H"],
) -> Float[Tensor, "B H"]:
    return torch.tanh(x @ W_x + torch.nn.functional.linear(h, W_h, b))
""",
    },
    "recurrence.lstm_step": {
        "order i, f, o, g": """
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    gates = x @ W_x + h @ W_h + b
    i, f, o, g = gates.chunk(4, dim=1)
    i, f, o, g = i.sigmoid(), f.sigmoid(), o.sigmoid(), g.tanh()
    c_new = f * c + i * g
    return o * c_new.tanh(), c_new
""",
        "the output reads the old cell": """
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    H = h.shape[1]
    z = x @ W_x + h @ W_h + b
    i = torch.sigmoid(z[:, :H])
    f = torch.sigmoid(z[:, H : 2 * H])
    g = torch.tanh(z[:, 2 * H : 3 * H])
    o = torch.sigmoid(z[:, 3 * H :])
    h_new = o * torch.tanh(c)
    c_new = f * c + i * g
    return h_new, c_new
""",
        "cell goes out without its tanh": """
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    i, f, g, o = torch.split(x @ W_x + h @ W_h + b, h.shape[1], dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * c
    return h, c
""",
        "forget gate tied to the input gate": """
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    z = (x @ W_x + h @ W_h + b).chunk(4, -1)
    i = torch.sigmoid(z[0])
    g = torch.tanh(z[2])
    o = torch.sigmoid(z[3])
    c = (1 - i) * c + i * g
    return o * torch.tanh(c), c
""",
        "returned as cell, state": """
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    z = (x @ W_x + h @ W_h + b).chunk(4, -1)
    i, f, o = (torch.sigmoid(z[n]) for n in (0, 1, 3))
    c = f * c + i * torch.tanh(z[2])
    return c, o * torch.tanh(c)
""",
    },
    "recurrence.cross_attention": {
        "divided by the root of D": """
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = torch.bmm(q, k.transpose(1, 2)) / dec.shape[-1] ** 0.5
    scores = scores.masked_fill(~source_keep.unsqueeze(1), -1e9)
    w = torch.softmax(scores, dim=-1)
    return w @ v, w
""",
        "exponentials without taking off the largest": """
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    e = torch.exp(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5) * source_keep[:, None, :]
    w = e / e.sum(dim=-1, keepdim=True)
    return w @ v, w
""",
        "padding removed after the softmax, the rest not brought to one": """
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = torch.einsum("btd,bsd->bts", q, k) / q.shape[-1] ** 0.5
    w = scores.softmax(-1) * source_keep.unsqueeze(1)
    return torch.einsum("bts,bsv->btv", w, v), w
""",
        "weights add up to one over the target": """
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / W_q.shape[1] ** 0.5
    scores = scores.masked_fill(~source_keep[:, None, :], -1e9)
    w = torch.softmax(scores, dim=1) * source_keep[:, None, :]
    return w @ v, w
""",
    },
    "recurrence.decoder_mask": {
        "a position may not look at itself": """
def decoder_mask(T: int) -> Bool[Tensor, "T T"]:
    i = torch.arange(T)
    return i[None, :] < i[:, None]
""",
        "True where it must not look": """
def decoder_mask(T: int) -> Bool[Tensor, "T T"]:
    return torch.triu(torch.ones(T, T), diagonal=1).bool()
""",
        "rows and columns exchanged": """
def decoder_mask(T: int) -> Bool[Tensor, "T T"]:
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        for j in range(T):
            if j <= i:
                mask[j, i] = True
    return mask
""",
    },
    "recurrence.shift_right": {
        "writes into the target itself": """
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    target[:, 1:] = target[:, :-1].clone()
    target[:, 0] = bos
    return target
""",
        "one column too many": """
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    start = torch.full((target.shape[0], 1), bos)
    return torch.cat([start, target], dim=1)
""",
        "the first token is overwritten, nothing moves": """
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    out = target.clone()
    out[:, 0] = bos
    return out
""",
        "moved to the left": """
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    out = torch.full_like(target, bos)
    out[:, :-1] = target[:, 1:]
    return out
""",
    },
    "recurrence.greedy_translate": {
        "stops when all have ended, with fewer columns": """
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    ids = torch.full((B, 1), bos, dtype=torch.long)
    done = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        nxt = next_logits(ids)[:, -1].argmax(-1)
        nxt[done] = pad
        ids = torch.cat([ids, nxt[:, None]], 1)
        done |= nxt == eos
        if done.all():
            break
    return ids[:, 1:]
""",
        "goes on writing behind eos": """
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    ids = torch.full((B, 1), bos, dtype=torch.long)
    while ids.shape[1] <= longest:
        logits = next_logits(ids)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    return ids[:, 1:]
""",
        "a chosen pad ends the sentence, too": """
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    out = torch.full((B, longest), pad)
    ids = torch.full((B, 1), bos)
    done = torch.zeros(B, dtype=torch.bool)
    for t in range(longest):
        nxt = next_logits(ids)[:, -1].argmax(dim=-1)
        nxt = nxt.masked_fill(done, pad)
        out[:, t] = nxt
        done = done | (nxt == eos) | (nxt == pad)
        ids = torch.cat([ids, nxt.unsqueeze(1)], dim=1)
    return out
""",
        "eos itself becomes pad": """
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    ids = torch.full((B, 1), bos)
    done = torch.zeros(B, dtype=torch.bool)
    for t in range(longest):
        nxt = next_logits(ids)[:, -1, :].argmax(dim=-1)
        done = done | (nxt == eos)
        nxt = torch.where(done, torch.tensor(pad), nxt)
        ids = torch.cat([ids, nxt[:, None]], dim=1)
    return ids[:, 1:]
""",
        "cut back to longest columns with bos in front": """
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    ids = torch.full((B, 1), bos)
    done = torch.zeros(B, dtype=torch.bool)
    for t in range(longest - 1):
        nxt = next_logits(ids)[:, -1].argmax(dim=-1)
        nxt = torch.where(done, pad, nxt)
        done = done | (nxt == eos)
        ids = torch.cat([ids, nxt[:, None]], dim=1)
    return ids
""",
    },
    "recurrence.mended_cross_mask": {
        "rows of the target's padding are all False": """
def mended_cross_mask(
    source_keep: Bool[Tensor, "B Ts"], target_keep: Bool[Tensor, "B Tt"]
) -> Bool[Tensor, "B Tt Ts"]:
    return target_keep[:, :, None] & source_keep[:, None, :]
""",
        "still causal": """
def mended_cross_mask(
    source_keep: Bool[Tensor, "B Ts"], target_keep: Bool[Tensor, "B Tt"]
) -> Bool[Tensor, "B Tt Ts"]:
    Tt, Ts = target_keep.shape[1], source_keep.shape[1]
    causal = torch.arange(Ts)[None, :] <= torch.arange(Tt)[:, None]
    return source_keep[:, None, :] & causal
""",
        "axes exchanged": """
def mended_cross_mask(
    source_keep: Bool[Tensor, "B Ts"], target_keep: Bool[Tensor, "B Tt"]
) -> Bool[Tensor, "B Tt Ts"]:
    Tt = target_keep.shape[1]
    return source_keep[:, :, None].repeat(1, 1, Tt)
""",
    },
    "recurrence.flops_attention": {
        "only the scores": """
def flops_attention(T: int, D: int) -> int:
    return T * T * D
""",
        "with the projections": """
def flops_attention(T: int, D: int) -> int:
    return 2 * T * T * D + 3 * T * D * D
""",
        "multiplication and addition counted as two": """
def flops_attention(T: int, D: int) -> int:
    scores = 2 * T * T * D
    mix = 2 * T * T * D
    return scores + mix
""",
    },
    "recurrence.flops_recurrent": {
        "only the product with W_h": """
def flops_recurrent(T: int, D: int, gates: int) -> int:
    return T * gates * D * D
""",
        "always four gates": """
def flops_recurrent(T: int, D: int, gates: int) -> int:
    return T * 4 * (D * D + D * D)
""",
        "the first word has no state before it": """
def flops_recurrent(T: int, D: int, gates: int) -> int:
    return gates * D * D * T + gates * D * D * (T - 1)
""",
    },
    "recurrence.path_length": {
        "a convolution reaches three times as far with each layer": """
def path_length(T: int, architecture: str) -> int:
    import math
    if architecture == "recurrent":
        return T - 1
    elif architecture == "attention":
        return 1
    else:
        return math.ceil(round(math.log(T, 3), 9))
""",
        "words counted, not steps": """
def path_length(T: int, architecture: str) -> int:
    if architecture == "recurrent":
        return T
    if architecture == "attention":
        return 1
    reach, layers = 0, 0
    while reach < T - 1:
        reach += 3**layers
        layers += 1
    return layers
""",
        "one layer too many when the reach fits exactly": """
def path_length(T: int, architecture: str) -> int:
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    reach, layers, dilation = 0, 0, 1
    while reach <= T - 1:
        reach += dilation
        dilation *= 3
        layers += 1
    return layers
""",
        "dilations that double": """
def path_length(T: int, architecture: str) -> int:
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    reach, n = 0, 0
    while reach < T - 1:
        reach += 2**n
        n += 1
    return n
""",
    },
}

RIGHT = {
    "recurrence.recurrent_step": {
        "word and state side by side": """
def recurrent_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D H"],
    W_h: Float[Tensor, "H H"],
    b: Float[Tensor, "H"],
) -> Float[Tensor, "B H"]:
    both = torch.cat([x, h], dim=1)
    W = torch.cat([W_x, W_h], dim=0)
    return (both @ W + b).tanh()
""",
    },
    "recurrence.lstm_step": {
        "PyTorch's cell with these weights": """
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    cell = torch.nn.LSTMCell(x.shape[1], h.shape[1])
    with torch.no_grad():
        cell.weight_ih.copy_(W_x.T)
        cell.weight_hh.copy_(W_h.T)
        cell.bias_ih.copy_(b)
        cell.bias_hh.zero_()
        h, c = cell(x, (h, c))
    return h, c
""",
        "slices": """
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    H = h.shape[1]
    z = x @ W_x + h @ W_h + b
    i = torch.sigmoid(z[:, 0 * H : 1 * H])
    f = torch.sigmoid(z[:, 1 * H : 2 * H])
    g = torch.tanh(z[:, 2 * H : 3 * H])
    o = torch.sigmoid(z[:, 3 * H : 4 * H])
    c_new = f * c + i * g
    return (o * torch.tanh(c_new), c_new)
""",
    },
    "recurrence.cross_attention": {
        "a loop over the sentences, only real words": """
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    outs, all_w = [], torch.zeros(dec.shape[0], dec.shape[1], enc.shape[1])
    for b in range(len(dec)):
        real = source_keep[b]
        source = enc[b][real]
        s = (dec[b] @ W_q) @ (source @ W_k).T / W_q.shape[1] ** 0.5
        w = torch.softmax(s, dim=-1)
        all_w[b, :, real] = w
        outs.append(w @ (source @ W_v))
    return torch.stack(outs), all_w
""",
        "minus 1e9 added": """
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.mT / q.shape[-1] ** 0.5
    scores = torch.where(source_keep[:, None, :], scores, torch.full_like(scores, -1e9))
    w = torch.softmax(scores, dim=-1)
    return torch.matmul(w, v), w
""",
    },
    "recurrence.decoder_mask": {
        "lower triangle": """
def decoder_mask(T: int) -> Bool[Tensor, "T T"]:
    return torch.tril(torch.ones(T, T, dtype=torch.bool))
""",
        "a list of lists": """
def decoder_mask(T: int) -> Bool[Tensor, "T T"]:
    return torch.tensor([[j <= i for j in range(T)] for i in range(T)])
""",
    },
    "recurrence.shift_right": {
        "rolled": """
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    out = torch.roll(target, shifts=1, dims=1)
    out[:, 0] = bos
    return out
""",
        "padded in front": """
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    return torch.nn.functional.pad(target, (1, 0), value=bos)[:, :-1]
""",
    },
    "recurrence.greedy_translate": {
        "array filled column by column, early stop": """
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    out = torch.full((B, longest + 1), pad, dtype=torch.long)
    out[:, 0] = bos
    finished = torch.zeros(B, dtype=torch.bool)
    for t in range(longest):
        choice = next_logits(out[:, : t + 1])[:, t].argmax(dim=-1)
        out[~finished, t + 1] = choice[~finished]
        finished |= choice == eos
        if bool(finished.all()):
            break
    return out[:, 1:]
""",
        "writes on, then blanks what stands behind the first eos": """
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    ids = torch.full((B, 1), bos)
    for _ in range(longest):
        ids = torch.cat([ids, next_logits(ids)[:, -1].argmax(-1, keepdim=True)], dim=1)
    out = ids[:, 1:].clone()
    ends = (out == eos).long()
    behind = ends.cumsum(1) - ends > 0
    out[behind] = pad
    return out
""",
    },
    "recurrence.mended_cross_mask": {
        "multiplied with ones": """
def mended_cross_mask(
    source_keep: Bool[Tensor, "B Ts"], target_keep: Bool[Tensor, "B Tt"]
) -> Bool[Tensor, "B Tt Ts"]:
    ones = torch.ones_like(target_keep)
    return ones.unsqueeze(2) & source_keep.unsqueeze(1)
""",
        "repeated": """
def mended_cross_mask(
    source_keep: Bool[Tensor, "B Ts"], target_keep: Bool[Tensor, "B Tt"]
) -> Bool[Tensor, "B Tt Ts"]:
    return source_keep.unsqueeze(1).repeat(1, target_keep.size(1), 1)
""",
    },
    "recurrence.flops_attention": {
        "added up": """
def flops_attention(T: int, D: int) -> int:
    scores = T**2 * D
    output = T**2 * D
    return scores + output
""",
    },
    "recurrence.flops_recurrent": {
        "a loop": """
def flops_recurrent(T: int, D: int, gates: int) -> int:
    total = 0
    for _ in range(T):
        total += D * (gates * D)
        total += D * (gates * D)
    return total
""",
    },
    "recurrence.path_length": {
        "integers, closed form": """
def path_length(T: int, architecture: str) -> int:
    match architecture:
        case "recurrent":
            return T - 1
        case "attention":
            return 1
        case _:
            n = 1
            while (3**n - 1) // 2 < T - 1:
                n += 1
            return n
""",
    },
}
