"""05_elmo: answers written from the task texts by somebody who had not seen the exercises. See README.md."""

WRONG = {
    "elmo.char_cnn": {
        "averaged over the places": """
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    B, T, C = chars.shape
    emb = table[chars.view(B * T, C)].transpose(1, 2)
    feats = [conv1d(emb, K, b).mean(dim=2) for K, b in filters]
    return onward(torch.relu(torch.cat(feats, 1))).view(B, T, -1)
""",
        "vectors of padding characters set to zero": """
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    B, T, C = chars.shape
    emb = table[chars] * (chars != 0).unsqueeze(-1)
    emb = emb.view(B * T, C, -1).permute(0, 2, 1)
    feats = torch.cat([conv1d(emb, K, b).max(dim=-1).values for K, b in filters], dim=-1)
    return onward(feats.relu()).view(B, T, -1)
""",
        "relu left out": """
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    B, T, C = chars.shape
    emb = table[chars].flatten(0, 1).permute(0, 2, 1)
    feats = torch.cat([conv1d(emb, K, b).amax(-1) for K, b in filters], -1)
    return onward(feats).reshape(B, T, -1)
""",
        "filters may hang over the ends": """
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    B, T, C = chars.shape
    emb = table[chars].flatten(0, 1).transpose(1, 2)
    feats = [conv1d(emb, K, b, padding=K.shape[-1] - 1).amax(-1) for K, b in filters]
    return onward(torch.relu(torch.cat(feats, -1))).reshape(B, T, -1)
""",
        "axes of the letters reshaped in place of transposed": """
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    B, T, C = chars.shape
    emb = table[chars].reshape(B * T, table.shape[1], C)
    feats = [conv1d(emb, K, b).amax(-1) for K, b in filters]
    return onward(torch.relu(torch.cat(feats, -1))).reshape(B, T, -1)
""",
    },
    "elmo.reverse_padded": {
        "the whole row turned, padding in front": """
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    return torch.flip(x, dims=[1])
""",
        "turned and rolled, so that the rest is turned as well": """
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    rows = []
    for row, n in zip(x, lengths.tolist()):
        rows.append(torch.roll(row.flip(0), shifts=n, dims=0))
    return torch.stack(rows)
""",
        "the rest becomes zero": """
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    out = torch.zeros_like(x)
    for b in range(len(x)):
        n = int(lengths[b])
        out[b, :n] = x[b, :n].flip(0)
    return out
""",
        "numbers of each vector turned as well": """
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    out = x.clone()
    for b, n in enumerate(lengths.tolist()):
        out[b, :n] = torch.flip(x[b, :n], dims=tuple(range(x.dim() - 1)))
    return out
""",
    },
    "elmo.bilm_loss": {
        "the first padding place has to say [EOS] in the backward loss": """
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    V = forward.shape[-1]
    fwd = cross_entropy(forward[:, :-1].reshape(-1, V), ids[:, 1:].reshape(-1), ignore_index=0)
    bwd = cross_entropy(backward[:, 1:].reshape(-1, V), ids[:, :-1].reshape(-1), ignore_index=0)
    return fwd, bwd
""",
        "padding counts": """
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    fwd = cross_entropy(forward[:, :-1].transpose(1, 2), ids[:, 1:])
    bwd = cross_entropy(backward[:, 1:].transpose(1, 2), ids[:, :-1])
    return fwd, bwd
""",
        "mean over sentences of each sentence's mean": """
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    f, b = [], []
    for row in range(len(ids)):
        n = int((ids[row] != 0).sum())
        f.append(cross_entropy(forward[row, : n - 1], ids[row, 1:n]))
        b.append(cross_entropy(backward[row, 1:n], ids[row, : n - 1]))
    return torch.stack(f).mean(), torch.stack(b).mean()
""",
        "backward logits scored against the next token": """
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    real = ids[:, 1:] != 0
    f = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    b = cross_entropy(backward[:, :-1][real], ids[:, 1:][real])
    return f, b
""",
        "[BOS] and [EOS] not predicted": """
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    f, b = [], []
    for row in range(len(ids)):
        n = int((ids[row] != 0).sum())
        logp_f = forward[row].log_softmax(-1)
        logp_b = backward[row].log_softmax(-1)
        for t in range(1, n - 1):
            f.append(-logp_f[t - 1, ids[row, t]])
            b.append(-logp_b[t + 1, ids[row, t]])
    return torch.stack(f).mean(), torch.stack(b).mean()
""",
    },
    "elmo.influence": {
        "derivative of the sum of the outputs": """
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    T = x.shape[0]
    x = x.clone().requires_grad_(True)
    out = model(x)
    result = torch.zeros(T, T)
    for i in range(T):
        (g,) = torch.autograd.grad(out[i].sum(), x, retain_graph=True)
        result[i] = g.norm(dim=1)
    return result
""",
        "rows for the input, columns for the output": """
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    J = torch.autograd.functional.jacobian(model, x)
    size = torch.sqrt((J**2).sum(dim=(1, 3)))
    return size.T
""",
        "sum of absolute values": """
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    J = torch.autograd.functional.jacobian(model, x)
    return J.abs().sum(dim=3).sum(dim=1)
""",
        "one step that moves all coordinates of a word at once": """
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    T = x.shape[0]
    base = model(x)
    eps = 1e-3
    result = torch.zeros(T, T)
    for j in range(T):
        moved = x.clone()
        moved[j] += eps
        result[:, j] = (model(moved) - base).norm(dim=1) / eps
    return result
""",
    },
    "elmo.two_stacks": {
        "backward states stay in the reversed order": """
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    def go(h, layers):
        states = []
        for n, layer in enumerate(layers):
            new = layer(h)
            h = new if n == 0 else new + h
            states.append(h)
        return torch.stack(states)
    return go(x, forward_layers), go(reverse_padded(x, lengths), backward_layers)
""",
        "residual around the first layer as well": """
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    fwd, bwd = [], []
    f, b = x, reverse_padded(x, lengths)
    for lf, lb in zip(forward_layers, backward_layers):
        f = f + lf(f)
        b = b + lb(b)
        fwd.append(f)
        bwd.append(reverse_padded(b, lengths))
    return torch.stack(fwd), torch.stack(bwd)
""",
        "the sentence's x is added, not what the layer read": """
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    fwd, bwd = [], []
    start = reverse_padded(x, lengths)
    f, b = x, start
    for n, (lf, lb) in enumerate(zip(forward_layers, backward_layers)):
        f, b = lf(f), lb(b)
        if n > 0:
            f, b = f + x, b + start
        fwd.append(f)
        bwd.append(reverse_padded(b, lengths))
    return torch.stack(fwd), torch.stack(bwd)
""",
        "padding is read first from the right": """
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    fwd, bwd = [], []
    f, b = x, x.flip(1)
    for n in range(len(forward_layers)):
        new_f, new_b = forward_layers[n](f), backward_layers[n](b)
        if n > 0:
            new_f, new_b = new_f + f, new_b + b
        f, b = new_f, new_b
        fwd.append(f)
        bwd.append(b.flip(1))
    return torch.stack(fwd), torch.stack(bwd)
""",
        "no residual": """
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    fwd, bwd = [], []
    f, b = x, x
    for lf, lb in zip(forward_layers, backward_layers, strict=True):
        f = lf(f)
        b = reverse_padded(lb(reverse_padded(b, lengths)), lengths)
        fwd.append(f)
        bwd.append(b)
    return torch.stack(fwd), torch.stack(bwd)
""",
    },
    "elmo.representations": {
        "sum of both directions": """
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"], backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    layers = [torch.cat([x, x], dim=-1)]
    for f, b in zip(forward, backward):
        layers.append(torch.cat([f + b, f + b], dim=-1))
    return torch.stack(layers)
""",
        "backward before forward": """
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"], backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    first = torch.cat([x, x], dim=-1).unsqueeze(0)
    rest = torch.cat([backward, forward], dim=-1)
    return torch.cat([first, rest], dim=0)
""",
        "numbers of both directions in turn": """
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"], backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    h = torch.stack([forward, backward], dim=-1).flatten(-2)
    zero = torch.stack([x, x], dim=-1).flatten(-2)
    return torch.cat([zero[None], h])
""",
        "second half of layer 0 is zero": """
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"], backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    first = torch.nn.functional.pad(x, (0, x.shape[-1]))[None]
    return torch.cat([first, torch.cat([forward, backward], dim=3)])
""",
    },
    "elmo.scalar_mix": {
        "the vectors are mixed as they are": """
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    w = torch.softmax(s, dim=0).view(-1, 1, 1, 1)
    return gamma * (w * R).sum(dim=0)
""",
        "raw numbers s as weights": """
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    h = torch.nn.functional.layer_norm(R, R.shape[-1:])
    return gamma * torch.einsum("l,lbte->bte", s, h)
""",
        "each layer normalised as a whole": """
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    w = torch.softmax(s, dim=-1)
    out = 0
    for l in range(len(R)):
        mean = R[l].mean()
        var = ((R[l] - mean) ** 2).mean()
        out = out + w[l] * (R[l] - mean) / torch.sqrt(var + 1e-5)
    return gamma * out
""",
        "the mix is normalised, not the layers": """
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    w = torch.softmax(s, dim=0)
    mixed = torch.einsum("l,lbte->bte", w, R)
    return gamma * torch.nn.functional.layer_norm(mixed, mixed.shape[-1:])
""",
        "sample variance": """
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    w = torch.softmax(s, 0)[:, None, None, None]
    h = (R - R.mean(-1, keepdim=True)) / torch.sqrt(R.var(-1, keepdim=True) + 1e-5)
    return gamma * torch.sum(w * h, dim=0)
""",
    },
    "elmo.with_elmo": {
        "numbers kept where the draw is below p": """
def with_elmo(
    x: Float[Tensor, "B T D"],
    R: Float[Tensor, "L+1 B T E"],
    s: Float[Tensor, "2 L+1"],
    gamma: Float[Tensor, "2"],
    rnn: Callable[[Float[Tensor, "B T D+E"]], Float[Tensor, "B T H"]],
    draws: Float[Tensor, "2 B T E"],
    p: float,
) -> Float[Tensor, "B T H+E"]:
    R = R.detach()
    def mix(i):
        m = scalar_mix(R, s[i], gamma[i])
        return m * (draws[i] < p).float() / (1 - p)
    h = rnn(torch.cat([x, mix(0)], dim=-1))
    return torch.cat([h, mix(1)], dim=-1)
""",
        "the others are not divided by one minus p": """
def with_elmo(
    x: Float[Tensor, "B T D"],
    R: Float[Tensor, "L+1 B T E"],
    s: Float[Tensor, "2 L+1"],
    gamma: Float[Tensor, "2"],
    rnn: Callable[[Float[Tensor, "B T D+E"]], Float[Tensor, "B T H"]],
    draws: Float[Tensor, "2 B T E"],
    p: float,
) -> Float[Tensor, "B T H+E"]:
    R = R.detach()
    m_in = scalar_mix(R, s[0], gamma[0]).masked_fill(draws[0] < p, 0.0)
    m_out = scalar_mix(R, s[1], gamma[1]).masked_fill(draws[1] < p, 0.0)
    h = rnn(torch.cat([x, m_in], dim=-1))
    return torch.cat([h, m_out], dim=-1)
""",
        "the mix computed without gradients": """
def with_elmo(
    x: Float[Tensor, "B T D"],
    R: Float[Tensor, "L+1 B T E"],
    s: Float[Tensor, "2 L+1"],
    gamma: Float[Tensor, "2"],
    rnn: Callable[[Float[Tensor, "B T D+E"]], Float[Tensor, "B T H"]],
    draws: Float[Tensor, "2 B T E"],
    p: float,
) -> Float[Tensor, "B T H+E"]:
    with torch.no_grad():
        m = [scalar_mix(R, s[i], gamma[i]) for i in (0, 1)]
    m = [m[i] * (draws[i] >= p) / (1 - p) for i in (0, 1)]
    h = rnn(torch.cat([x, m[0]], dim=-1))
    return torch.cat([h, m[1]], dim=-1)
""",
        "gradients reach the biLM": """
def with_elmo(
    x: Float[Tensor, "B T D"],
    R: Float[Tensor, "L+1 B T E"],
    s: Float[Tensor, "2 L+1"],
    gamma: Float[Tensor, "2"],
    rnn: Callable[[Float[Tensor, "B T D+E"]], Float[Tensor, "B T H"]],
    draws: Float[Tensor, "2 B T E"],
    p: float,
) -> Float[Tensor, "B T H+E"]:
    mixes = []
    for i in range(2):
        mask = (draws[i] >= p).float() / (1 - p)
        mixes.append(scalar_mix(R, s[i], gamma[i]) * mask)
    return torch.cat([rnn(torch.cat([x, mixes[0]], -1)), mixes[1]], -1)
""",
        "the same mix at both places": """
def with_elmo(
    x: Float[Tensor, "B T D"],
    R: Float[Tensor, "L+1 B T E"],
    s: Float[Tensor, "2 L+1"],
    gamma: Float[Tensor, "2"],
    rnn: Callable[[Float[Tensor, "B T D+E"]], Float[Tensor, "B T H"]],
    draws: Float[Tensor, "2 B T E"],
    p: float,
) -> Float[Tensor, "B T H+E"]:
    m = scalar_mix(R.detach(), s[0], gamma[0]) * (draws[0] >= p) / (1 - p)
    h = rnn(torch.cat([x, m], dim=-1))
    return torch.cat([h, m], dim=-1)
""",
    },
    "elmo.embed_sentence": {
        "[BOS] and [EOS] are never read": """
def embed_sentence(words: list[str], bilm: BiLM) -> Float[Tensor, "L+1 T 2*D"]:
    chars = bilm.spell(words).unsqueeze(0)
    x = bilm.token(chars)
    lengths = torch.tensor([len(words)])
    f, b = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, f, b)[:, 0]
""",
        "[BOS] and [EOS] are left in the result": """
def embed_sentence(words: list[str], bilm: BiLM) -> Float[Tensor, "L+1 T 2*D"]:
    chars = bilm.spell(["[BOS]"] + words + ["[EOS]"]).unsqueeze(0)
    x = bilm.token(chars)
    lengths = torch.tensor([len(words) + 2])
    f, b = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, f, b).squeeze(1)
""",
        "length of the words alone, so that the right reader starts in the wrong place": """
def embed_sentence(words: list[str], bilm: BiLM) -> Float[Tensor, "L+1 T 2*D"]:
    tokens = ["[BOS]", *words, "[EOS]"]
    x = bilm.token(bilm.spell(tokens)[None])
    f, b = two_stacks(x, torch.tensor([len(words)]), bilm.forward_layers, bilm.backward_layers)
    return representations(x, f, b)[:, 0, 1:-1]
""",
        "only [BOS] in front": """
def embed_sentence(words: list[str], bilm: BiLM) -> Float[Tensor, "L+1 T 2*D"]:
    x = bilm.token(bilm.spell(["[BOS]"] + list(words))[None])
    f, b = two_stacks(x, torch.tensor([x.shape[1]]), bilm.forward_layers, bilm.backward_layers)
    return representations(x, f, b)[:, 0, 1:]
""",
    },
}

RIGHT = {
    "elmo.char_cnn": {
        "relu before the maximum": """
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    B, T, C = chars.shape
    emb = torch.nn.functional.embedding(chars, table).view(B * T, C, -1).transpose(1, 2)
    feats = []
    for kernel, bias in filters:
        feats.append(torch.relu(conv1d(emb, kernel, bias)).max(dim=2)[0])
    return onward(torch.cat(feats, dim=1)).view(B, T, -1)
""",
        "windows by unfold": """
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    B, T, C = chars.shape
    emb = table[chars].reshape(B * T, C, -1)
    feats = []
    for K, b in filters:
        windows = emb.unfold(1, K.shape[-1], 1)
        feats.append((torch.einsum("npcw,fcw->npf", windows, K) + b).amax(dim=1))
    return onward(torch.cat(feats, dim=1).clamp(min=0)).reshape(B, T, -1)
""",
    },
    "elmo.reverse_padded": {
        "copy and a loop": """
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    out = x.clone()
    for b in range(x.shape[0]):
        n = lengths[b].item()
        out[b, :n] = x[b, :n].flip(dims=(0,))
    return out
""",
        "lists of places": """
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    T = x.shape[1]
    rows = []
    for b, n in enumerate(lengths.tolist()):
        order = list(range(n))[::-1] + list(range(n, T))
        rows.append(x[b][order])
    return torch.stack(rows)
""",
    },
    "elmo.bilm_loss": {
        "token by token": """
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    f, b = [], []
    for row in range(len(ids)):
        n = int((ids[row] != 0).sum())
        logp_f = forward[row].log_softmax(-1)
        logp_b = backward[row].log_softmax(-1)
        for t in range(n - 1):
            f.append(-logp_f[t, ids[row, t + 1]])
            b.append(-logp_b[t + 1, ids[row, t]])
    return torch.stack(f).mean(), torch.stack(b).mean()
""",
        "labels with ignored places": """
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    V = forward.size(-1)
    nxt = ids[:, 1:].clone()
    prev = ids[:, :-1].clone()
    hidden = ids[:, 1:] == 0
    nxt[hidden] = -100
    prev[hidden] = -100
    return (
        cross_entropy(forward[:, :-1].reshape(-1, V), nxt.reshape(-1)),
        cross_entropy(backward[:, 1:].reshape(-1, V), prev.reshape(-1)),
    )
""",
    },
    "elmo.influence": {
        "one gradient for each output number": """
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    T = x.shape[0]
    x = x.detach().clone().requires_grad_(True)
    out = model(x)
    squares = torch.zeros(T, T)
    for i in range(T):
        for k in range(out.shape[1]):
            g = torch.autograd.grad(out[i, k], x, retain_graph=True)[0]
            squares[i] += (g**2).sum(dim=1)
    return squares.sqrt()
""",
        "jacrev and a norm": """
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    J = torch.func.jacrev(model)(x)
    return torch.linalg.norm(J.permute(0, 2, 1, 3).flatten(2), dim=-1)
""",
    },
    "elmo.two_stacks": {
        "turned at every layer": """
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    fwd, bwd = [], []
    f, b = x, x
    for n, (lf, lb) in enumerate(zip(forward_layers, backward_layers)):
        new_f = lf(f)
        new_b = reverse_padded(lb(reverse_padded(b, lengths)), lengths)
        if n >= 1:
            new_f = new_f + f
            new_b = new_b + b
        f, b = new_f, new_b
        fwd.append(f)
        bwd.append(b)
    return torch.stack(fwd, dim=0), torch.stack(bwd, dim=0)
""",
    },
    "elmo.representations": {
        "x put in front of both stacks": """
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"], backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    left = torch.cat([x[None], forward])
    right = torch.cat([x[None], backward])
    return torch.cat([left, right], dim=-1)
""",
        "a list": """
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"], backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    reps = [x.repeat(1, 1, 2)]
    for l in range(forward.shape[0]):
        reps.append(torch.cat((forward[l], backward[l]), dim=2))
    return torch.stack(reps)
""",
    },
    "elmo.scalar_mix": {
        "the library's norm, einsum": """
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    h = torch.nn.functional.layer_norm(R, (R.shape[-1],), eps=1e-5)
    return gamma * torch.einsum("l,lbte->bte", torch.softmax(s, dim=0), h)
""",
        "a loop over the layers": """
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    e = torch.exp(s - s.max())
    w = e / e.sum()
    out = torch.zeros_like(R[0])
    for layer, weight in zip(R, w):
        mu = layer.mean(-1, keepdim=True)
        var = ((layer - mu) ** 2).mean(-1, keepdim=True)
        out = out + weight * (layer - mu) / torch.sqrt(var + 1e-5)
    return out * gamma
""",
    },
    "elmo.with_elmo": {
        "torch.where": """
def with_elmo(
    x: Float[Tensor, "B T D"],
    R: Float[Tensor, "L+1 B T E"],
    s: Float[Tensor, "2 L+1"],
    gamma: Float[Tensor, "2"],
    rnn: Callable[[Float[Tensor, "B T D+E"]], Float[Tensor, "B T H"]],
    draws: Float[Tensor, "2 B T E"],
    p: float,
) -> Float[Tensor, "B T H+E"]:
    frozen = R.detach()
    zero = torch.tensor(0.0)
    first = scalar_mix(frozen, s[0], gamma[0])
    first = torch.where(draws[0] < p, zero, first / (1 - p))
    second = scalar_mix(frozen, s[1], gamma[1])
    second = torch.where(draws[1] < p, zero, second / (1 - p))
    hidden = rnn(torch.cat((x, first), dim=2))
    return torch.cat((hidden, second), dim=2)
""",
    },
    "elmo.embed_sentence": {
        "words cut out by their number": """
def embed_sentence(words: list[str], bilm: BiLM) -> Float[Tensor, "L+1 T 2*D"]:
    sentence = ["[BOS]"] + list(words) + ["[EOS]"]
    n = len(sentence)
    x = bilm.token(bilm.spell(sentence).unsqueeze(0))
    fwd, bwd = two_stacks(x, torch.tensor([n]), bilm.forward_layers, bilm.backward_layers)
    reps = representations(x, fwd, bwd).squeeze(1)
    return reps[:, 1 : 1 + len(words), :]
""",
    },
}
