"""Answers to notebook 05 as students write them, made from the task texts alone: wrong ones and unusual right ones."""

WRONG = {
    "elmo.char_cnn": {
        "no relu": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([conv1d(letters, K, b).max(dim=-1).values for K, b in filters], dim=1)
    return onward(features).reshape(B, T, -1)
""",
        "mean over the places": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([conv1d(letters, K, b).mean(dim=-1) for K, b in filters], dim=1)
    return onward(features.relu()).reshape(B, T, -1)
""",
        "relu, then the mean over the places": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([torch.relu(conv1d(letters, K, b)).mean(dim=-1) for K, b in filters], dim=1)
    return onward(features).reshape(B, T, -1)
""",
        "the rows of padding set to zero": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars] * (chars != 0).unsqueeze(-1)
    letters = letters.reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([conv1d(letters, K, b).max(dim=-1).values for K, b in filters], dim=1)
    return onward(torch.relu(features)).reshape(B, T, -1)
""",
        "padding on both sides, as many places as letters": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = []
    for kernel, bias in filters:
        features.append(conv1d(letters, kernel, bias, padding="same").amax(-1))
    return onward(torch.relu(torch.cat(features, dim=1))).reshape(B, T, -1)
""",
        "the bias forgotten": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([conv1d(letters, kernel).amax(-1) for kernel, bias in filters], dim=1)
    return onward(torch.relu(features)).reshape(B, T, -1)
""",
        "relu behind onward": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([conv1d(letters, K, b).amax(-1) for K, b in filters], dim=1)
    return torch.relu(onward(features)).reshape(B, T, -1)
""",
        "view in place of transpose": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].view(B * T, table.shape[1], C)
    features = torch.cat([conv1d(letters, K, b).amax(-1) for K, b in filters], dim=1)
    return onward(torch.relu(features)).view(B, T, -1)
""",
        "the last place is left out": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1)
    features = []
    for kernel, bias in filters:
        w = kernel.shape[-1]
        best = torch.full((B * T, len(bias)), -torch.inf)
        for start in range(C - w):
            window = letters[:, start:start + w]
            best = torch.maximum(best, torch.einsum("nwc,fcw->nf", window, kernel) + bias)
        features.append(best)
    return onward(torch.relu(torch.cat(features, dim=1))).reshape(B, T, -1)
""",
        "only the letters, without the padding": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    rows = []
    for word in chars.reshape(B * T, C):
        real = word[word != 0]
        features = []
        for kernel, bias in filters:
            w = kernel.shape[-1]
            letters = table[real] if len(real) >= w else table[word[:w]]
            features.append(conv1d(letters.T[None], kernel, bias)[0].amax(-1))
        rows.append(torch.cat(features))
    return onward(torch.relu(torch.stack(rows))).reshape(B, T, -1)
""",
        "words left as one axis": """
def char_cnn(chars, table, filters, onward):
    letters = table[chars.flatten(0, 1)].transpose(1, 2)
    features = torch.cat([conv1d(letters, K, b).amax(-1) for K, b in filters], dim=1)
    return onward(torch.relu(features))
""",
        "the filters from the widest to the narrowest": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = []
    for K, b in sorted(filters, key=lambda pair: -pair[0].shape[-1]):
        features.append(conv1d(letters, K, b).amax(-1))
    return onward(torch.relu(torch.cat(features, dim=1))).reshape(B, T, -1)
""",
        "the filters sorted by width": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = {}
    for K, b in filters:
        features[K.shape[-1]] = conv1d(letters, K, b).amax(-1)
    features = torch.cat([features[w] for w in sorted(features)], dim=1)
    return onward(torch.relu(features)).reshape(B, T, -1)
""",
        "the largest absolute answer": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([conv1d(letters, K, b).abs().amax(-1) for K, b in filters], dim=1)
    return onward(torch.relu(features)).reshape(B, T, -1)
""",
        "the place of the largest answer": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = torch.cat([conv1d(letters, K, b).argmax(-1) for K, b in filters], dim=1)
    return onward(torch.relu(features.float())).reshape(B, T, -1)
""",
        "kernels turned round, as convolution is in mathematics": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = [conv1d(letters, K.flip(-1), b).amax(-1) for K, b in filters]
    return onward(torch.relu(torch.cat(features, dim=1))).reshape(B, T, -1)
""",
        "a stride as wide as the filter": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = [conv1d(letters, K, b, stride=K.shape[-1]).amax(-1) for K, b in filters]
    return onward(torch.relu(torch.cat(features, dim=1))).reshape(B, T, -1)
""",
        "the largest over filters, not places": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    letters = table[chars].reshape(B * T, C, -1).transpose(1, 2)
    features = [conv1d(letters, K, b).amax(dim=1) for K, b in filters]
    return onward(torch.relu(torch.cat(features, dim=1))).reshape(B, T, -1)
""",
    },
    "elmo.reverse_padded": {
        "the whole row is reversed": """
def reverse_padded(x, lengths):
    return x.flip(1)
""",
        "zeros behind the words": """
def reverse_padded(x, lengths):
    out = torch.zeros_like(x)
    for b, n in enumerate(lengths.tolist()):
        out[b, :n] = x[b, :n].flip(0)
    return out
""",
        "writes into the given tensor": """
def reverse_padded(x, lengths):
    for b, n in enumerate(lengths):
        x[b, :n] = x[b, :n].flip(0)
    return x
""",
        "the last axis is flipped, which suits ids": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b, n in enumerate(lengths):
        out[b, :n] = x[b, :n].flip(-1)
    return out
""",
        "off by one place": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b in range(len(x)):
        for t in range(int(lengths[b])):
            out[b, t] = x[b, lengths[b] - t if t else 0]
    return out
""",
        "the longest length for all": """
def reverse_padded(x, lengths):
    n = int(lengths.max())
    return torch.cat([x[:, :n].flip(1), x[:, n:]], dim=1)
""",
        "the length of the first row for all": """
def reverse_padded(x, lengths):
    out = x.clone()
    n = lengths[0]
    out[:, :n] = x[:, :n].flip(1)
    return out
""",
        "the last token stays where it is": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b, n in enumerate(lengths.tolist()):
        out[b, : n - 1] = x[b, : n - 1].flip(0)
    return out
""",
        "the length guessed from the zeros": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b in range(len(x)):
        n = int((x[b] != 0).sum())
        out[b, :n] = x[b, :n].flip(0)
    return out
""",
        "gather for ids only": """
def reverse_padded(x, lengths):
    places = torch.arange(x.shape[1]).expand(len(x), -1)
    order = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    return x.gather(1, order)
""",
        "the padding comes to the front": """
def reverse_padded(x, lengths):
    rows = []
    for row, n in zip(x, lengths):
        rows.append(torch.cat([row[n:], row[:n].flip(0)]))
    return torch.stack(rows)
""",
        "padding is reversed as well": """
def reverse_padded(x, lengths):
    rows = []
    for row, n in zip(x, lengths):
        rows.append(torch.cat([row[:n].flip(0), row[n:].flip(0)]))
    return torch.stack(rows)
""",
        "cut off behind the longest row": """
def reverse_padded(x, lengths):
    rows = [row[:n].flip(0) for row, n in zip(x, lengths.tolist())]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
""",
        "the numbers of each word turned with the words": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b, n in enumerate(lengths.tolist()):
        words = x[b, :n]
        out[b, :n] = words.flip(list(range(words.dim())))
    return out
""",
    },
    "elmo.bilm_loss": {
        "padding is predicted as well": """
def bilm_loss(forward, backward, ids):
    V = forward.shape[-1]
    f = cross_entropy(forward[:, :-1].reshape(-1, V), ids[:, 1:].reshape(-1))
    b = cross_entropy(backward[:, 1:].reshape(-1, V), ids[:, :-1].reshape(-1))
    return f, b
""",
        "ignore_index=0 in both: padding still predicts the last token": """
def bilm_loss(forward, backward, ids):
    V = forward.shape[-1]
    f = cross_entropy(forward[:, :-1].reshape(-1, V), ids[:, 1:].reshape(-1), ignore_index=0)
    b = cross_entropy(backward[:, 1:].reshape(-1, V), ids[:, :-1].reshape(-1), ignore_index=0)
    return f, b
""",
        "mean of the sentences' means": """
def bilm_loss(forward, backward, ids):
    fs, bs = [], []
    for f, b, row in zip(forward, backward, ids):
        n = int((row != 0).sum())
        fs.append(cross_entropy(f[: n - 1], row[1:n]))
        bs.append(cross_entropy(b[1:n], row[: n - 1]))
    return torch.stack(fs).mean(), torch.stack(bs).mean()
""",
        "sum in place of the mean": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    f = cross_entropy(forward[:, :-1][real], ids[:, 1:][real], reduction="sum")
    b = cross_entropy(backward[:, 1:][real], ids[:, :-1][real], reduction="sum")
    return f, b
""",
        "both added up": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    f = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    b = cross_entropy(backward[:, 1:][real], ids[:, :-1][real])
    return f + b
""",
        "backward and forward in the other order": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    f = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    b = cross_entropy(backward[:, 1:][real], ids[:, :-1][real])
    return b, f
""",
        "backward shifted like forward": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    f = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    b = cross_entropy(backward[:, :-1][real], ids[:, 1:][real])
    return f, b
""",
        "nothing shifted": """
def bilm_loss(forward, backward, ids):
    real = ids != 0
    return cross_entropy(forward[real], ids[real]), cross_entropy(backward[real], ids[real])
""",
        "divided by all places": """
def bilm_loss(forward, backward, ids):
    real = (ids[:, 1:] != 0).float()
    f = cross_entropy(forward[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    b = cross_entropy(backward[:, 1:].transpose(1, 2), ids[:, :-1], reduction="none")
    return (f * real).mean(), (b * real).mean()
""",
        "divided by all tokens, also the one that is not predicted": """
def bilm_loss(forward, backward, ids):
    real = (ids[:, 1:] != 0).float()
    f = cross_entropy(forward[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    b = cross_entropy(backward[:, 1:].transpose(1, 2), ids[:, :-1], reduction="none")
    count = (ids != 0).sum()
    return (f * real).sum() / count, (b * real).sum() / count
""",
        "bits, not nats": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    log_f = torch.log2(torch.softmax(forward, dim=-1))[:, :-1][real]
    log_b = torch.log2(torch.softmax(backward, dim=-1))[:, 1:][real]
    f = -log_f.gather(1, ids[:, 1:][real][:, None]).mean()
    b = -log_b.gather(1, ids[:, :-1][real][:, None]).mean()
    return f, b
""",
        "the last token predicts padding": """
def bilm_loss(forward, backward, ids):
    real = ids[:, :-1] != 0
    f = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    b = cross_entropy(backward[:, 1:][real], ids[:, :-1][real])
    return f, b
""",
        "softmax before cross_entropy": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    f = cross_entropy(forward.softmax(-1)[:, :-1][real], ids[:, 1:][real])
    b = cross_entropy(backward.softmax(-1)[:, 1:][real], ids[:, :-1][real])
    return f, b
""",
        "[BOS] and [EOS] are not predicted": """
def bilm_loss(forward, backward, ids):
    f, b, count = 0.0, 0.0, 0
    for row in range(len(ids)):
        n = int((ids[row] != 0).sum())
        f = f + cross_entropy(forward[row, : n - 2], ids[row, 1 : n - 1], reduction="sum")
        b = b + cross_entropy(backward[row, 2:n], ids[row, 1 : n - 1], reduction="sum")
        count += n - 2
    return f / count, b / count
""",
        "the axes of cross_entropy": """
def bilm_loss(forward, backward, ids):
    f = cross_entropy(forward[:, :-1], ids[:, 1:], ignore_index=0)
    b = cross_entropy(backward[:, 1:], ids[:, :-1], ignore_index=0)
    return f, b
""",
        "perplexity": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    f = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    b = cross_entropy(backward[:, 1:][real], ids[:, :-1][real])
    return f.exp(), b.exp()
""",
        "a small number inside the logarithm": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    p = torch.softmax(forward[:, :-1], dim=-1).gather(2, ids[:, 1:, None]).squeeze(-1)
    q = torch.softmax(backward[:, 1:], dim=-1).gather(2, ids[:, :-1, None]).squeeze(-1)
    return -torch.log(p[real] + 1e-5).mean(), -torch.log(q[real] + 1e-5).mean()
""",
        "probabilities clamped": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    p = torch.softmax(forward[:, :-1], dim=-1).gather(2, ids[:, 1:, None]).squeeze(-1)
    q = torch.softmax(backward[:, 1:], dim=-1).gather(2, ids[:, :-1, None]).squeeze(-1)
    return -p[real].clamp(min=1e-8).log().mean(), -q[real].clamp(min=1e-8).log().mean()
""",
    },
    "elmo.influence": {
        "transposed": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    return (J ** 2).sum(dim=(1, 3)).sqrt().T
""",
        "the gradient of the sum of an output's coordinates": """
def influence(model, x):
    rows = []
    for i in range(len(x)):
        x = x.detach().requires_grad_(True)
        y = model(x)
        (g,) = torch.autograd.grad(y[i].sum(), x)
        rows.append(g.norm(dim=-1))
    return torch.stack(rows)
""",
        "no root": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    return J.pow(2).sum(dim=3).sum(dim=1)
""",
        "sum of absolute values": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    return J.abs().sum(dim=(1, 3))
""",
        "the largest absolute value": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    return J.abs().amax(dim=(1, 3))
""",
        "root of the mean": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    return (J ** 2).mean(dim=(1, 3)).sqrt()
""",
        "summed with their signs": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    return J.sum(dim=(1, 3)).abs()
""",
        "gradients add up in x.grad": """
def influence(model, x):
    T = len(x)
    x = x.clone().requires_grad_(True)
    y = model(x)
    out = torch.zeros(T, T)
    for i in range(T):
        for k in range(y.shape[1]):
            y[i, k].backward(retain_graph=True)
            out[i] += x.grad.square().sum(dim=-1)
    return out.sqrt()
""",
        "the gradient of an output's length": """
def influence(model, x):
    x = x.clone().requires_grad_(True)
    y = model(x)
    rows = []
    for i in range(len(y)):
        (g,) = torch.autograd.grad(y[i].norm(), x, retain_graph=True)
        rows.append(g.norm(dim=1))
    return torch.stack(rows)
""",
        "a spectral norm": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x).transpose(1, 2)
    return torch.linalg.matrix_norm(J, ord=2)
""",
        "the axes of words summed away": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    return J.square().sum(dim=(0, 2)).sqrt()
""",
        "each row as shares of one": """
def influence(model, x):
    J = torch.autograd.functional.jacobian(model, x)
    size = J.square().sum(dim=(1, 3)).sqrt()
    return size / size.sum(dim=1, keepdim=True)
""",
        "all coordinates moved at once": """
def influence(model, x):
    eps, T = 1e-3, len(x)
    out = torch.zeros(T, T)
    y = model(x)
    for j in range(T):
        moved = x.clone()
        moved[j] += eps
        out[:, j] = ((model(moved) - y) / eps).norm(dim=1)
    return out
""",
    },
    "elmo.two_stacks": {
        "no residual": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    left, right = x, reverse_padded(x, lengths)
    lefts, rights = [], []
    for forward, backward in zip(forward_layers, backward_layers):
        left, right = forward(left), backward(right)
        lefts.append(left)
        rights.append(reverse_padded(right, lengths))
    return torch.stack(lefts), torch.stack(rights)
""",
        "residual round the first layer, too": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    left, right = x, reverse_padded(x, lengths)
    lefts, rights = [], []
    for forward, backward in zip(forward_layers, backward_layers):
        left, right = left + forward(left), right + backward(right)
        lefts.append(left)
        rights.append(reverse_padded(right, lengths))
    return torch.stack(lefts), torch.stack(rights)
""",
        "x is added, not what the layer read": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(x, layers):
        states = [layers[0](x)]
        for layer in layers[1:]:
            states.append(layer(states[-1]) + x)
        return torch.stack(states)
    backward = run(reverse_padded(x, lengths), backward_layers)
    return run(x, forward_layers), torch.stack([reverse_padded(h, lengths) for h in backward])
""",
        "the first layer's states are added everywhere": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(x, layers):
        states = [layers[0](x)]
        for layer in layers[1:]:
            states.append(layer(states[-1]) + states[0])
        return torch.stack(states)
    backward = run(reverse_padded(x, lengths), backward_layers)
    return run(x, forward_layers), torch.stack([reverse_padded(h, lengths) for h in backward])
""",
        "the backward states are not turned back": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers):
        states = []
        for i, layer in enumerate(layers):
            h = layer(h) if i == 0 else h + layer(h)
            states.append(h)
        return torch.stack(states)
    return run(x, forward_layers), run(reverse_padded(x, lengths), backward_layers)
""",
        "flip, so that padding is read first": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers):
        states = []
        for i, layer in enumerate(layers):
            h = layer(h) if i == 0 else h + layer(h)
            states.append(h)
        return torch.stack(states)
    return run(x, forward_layers), run(x.flip(1), backward_layers).flip(2)
""",
        "the states of the top layer alone": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    left, right = forward_layers[0](x), backward_layers[0](reverse_padded(x, lengths))
    for forward, backward in zip(forward_layers[1:], backward_layers[1:]):
        left, right = left + forward(left), right + backward(right)
    return left, reverse_padded(right, lengths)
""",
        "the states before the residual": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers):
        states = []
        for i, layer in enumerate(layers):
            out = layer(h)
            states.append(out)
            h = out if i == 0 else h + out
        return torch.stack(states)
    backward = run(reverse_padded(x, lengths), backward_layers)
    return run(x, forward_layers), torch.stack([reverse_padded(h, lengths) for h in backward])
""",
        "forward layers used twice": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers):
        states = []
        for i, layer in enumerate(layers):
            h = layer(h) if i == 0 else h + layer(h)
            states.append(h)
        return torch.stack(states)
    backward = run(reverse_padded(x, lengths), forward_layers)
    return run(x, forward_layers), torch.stack([reverse_padded(h, lengths) for h in backward])
""",
        "still leaking: the next layer reads the sum of both": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    lefts, rights = [], []
    for i, (forward, backward) in enumerate(zip(forward_layers, backward_layers)):
        left = forward(x)
        right = reverse_padded(backward(reverse_padded(x, lengths)), lengths)
        if i > 0:
            left, right = left + x, right + x
        x = (left + right) / 2
        lefts.append(left)
        rights.append(right)
    return torch.stack(lefts), torch.stack(rights)
""",
        "the leaking stack as it was, all layers kept": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    lefts, rights = [], []
    for forward, backward in zip(forward_layers, backward_layers):
        left = forward(x)
        right = reverse_padded(backward(reverse_padded(x, lengths)), lengths)
        x = torch.cat([left, right], dim=-1)
        lefts.append(left)
        rights.append(right)
    return torch.stack(lefts), torch.stack(rights)
""",
        "turned round for the first layer, not for the others": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    left, right = forward_layers[0](x), backward_layers[0](reverse_padded(x, lengths))
    right = reverse_padded(right, lengths)
    lefts, rights = [left], [right]
    for forward, backward in zip(forward_layers[1:], backward_layers[1:]):
        left, right = left + forward(left), right + backward(right)
        lefts.append(left)
        rights.append(right)
    return torch.stack(lefts), torch.stack(rights)
""",
        "layers behind the batch": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers):
        states = []
        for i, layer in enumerate(layers):
            h = layer(h) if i == 0 else h + layer(h)
            states.append(h)
        return states
    backward = [reverse_padded(h, lengths) for h in run(reverse_padded(x, lengths), backward_layers)]
    return torch.stack(run(x, forward_layers), dim=1), torch.stack(backward, dim=1)
""",
        "x counted as a layer": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers):
        states = [h]
        for i, layer in enumerate(layers):
            h = layer(h) if i == 0 else h + layer(h)
            states.append(h)
        return torch.stack(states)
    backward = run(reverse_padded(x, lengths), backward_layers)
    return run(x, forward_layers), torch.stack([reverse_padded(h, lengths) for h in backward])
""",
        "the residual in the wrong order of the words": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    lefts, rights = [], []
    left = right = x
    for i, (forward, backward) in enumerate(zip(forward_layers, backward_layers)):
        new_left = forward(left)
        new_right = backward(reverse_padded(right, lengths))
        if i > 0:
            new_left, new_right = new_left + left, new_right + right
        left, right = new_left, reverse_padded(new_right, lengths)
        lefts.append(left)
        rights.append(right)
    return torch.stack(lefts), torch.stack(rights)
""",
    },
    "elmo.representations": {
        "layer 0 holds x once and zeros": """
def representations(x, forward, backward):
    first = torch.cat([x, torch.zeros_like(x)], dim=-1)
    return torch.cat([first[None], torch.cat([forward, backward], dim=-1)])
""",
        "backward in front of forward": """
def representations(x, forward, backward):
    first = torch.cat([x, x], dim=-1)
    return torch.cat([first[None], torch.cat([backward, forward], dim=-1)])
""",
        "from the top down": """
def representations(x, forward, backward):
    layers = [torch.cat([f, b], dim=-1) for f, b in zip(forward, backward)]
    return torch.stack(layers[::-1] + [torch.cat([x, x], dim=-1)])
""",
        "layer 0 at the end": """
def representations(x, forward, backward):
    layers = [torch.cat([f, b], dim=-1) for f, b in zip(forward, backward)]
    layers.append(torch.cat([x, x], dim=-1))
    return torch.stack(layers)
""",
        "no layer 0": """
def representations(x, forward, backward):
    return torch.cat([forward, backward], dim=-1)
""",
        "coordinates of both alternate": """
def representations(x, forward, backward):
    both = torch.stack([forward, backward], dim=-1).flatten(-2)
    return torch.cat([torch.stack([x, x], dim=-1).flatten(-2)[None], both])
""",
        "forward and backward added": """
def representations(x, forward, backward):
    return torch.cat([x[None], forward + backward])
""",
        "the batch axis in front": """
def representations(x, forward, backward):
    layers = [torch.cat([x, x], dim=-1)]
    layers += [torch.cat([f, b], dim=-1) for f, b in zip(forward, backward)]
    return torch.stack(layers, dim=1)
""",
        "two layers written by hand": """
def representations(x, forward, backward):
    return torch.stack([
        torch.cat([x, x], dim=-1),
        torch.cat([forward[0], backward[0]], dim=-1),
        torch.cat([forward[1], backward[1]], dim=-1),
    ])
""",
        "words put side by side, not coordinates": """
def representations(x, forward, backward):
    first = torch.cat([x, x], dim=-2)
    return torch.cat([first[None], torch.cat([forward, backward], dim=-2)])
""",
        "the backward states turned round": """
def representations(x, forward, backward):
    both = torch.cat([forward, backward.flip(2)], dim=-1)
    return torch.cat([torch.cat([x, x], dim=-1)[None], both])
""",
        "2L + 1 vectors": """
def representations(x, forward, backward):
    return torch.cat([x[None], forward, backward])
""",
    },
    "elmo.scalar_mix": {
        "variance divided by E - 1": """
def scalar_mix(R, s, gamma):
    normed = (R - R.mean(-1, keepdim=True)) / torch.sqrt(R.var(-1, keepdim=True) + 1e-5)
    w = torch.softmax(s, dim=0)
    return gamma * torch.einsum("l,lbte->bte", w, normed)
""",
        "1e-5 outside of the root": """
def scalar_mix(R, s, gamma):
    normed = (R - R.mean(-1, keepdim=True)) / (R.std(-1, unbiased=False, keepdim=True) + 1e-5)
    w = torch.softmax(s, dim=0)
    return gamma * torch.einsum("l,lbte->bte", w, normed)
""",
        "not normalised": """
def scalar_mix(R, s, gamma):
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * R).sum(0)
""",
        "1e-5 forgotten": """
def scalar_mix(R, s, gamma):
    mean = R.mean(-1, keepdim=True)
    var = ((R - mean) ** 2).mean(-1, keepdim=True)
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * (R - mean) / var.sqrt()).sum(0)
""",
        "another epsilon, 1e-12": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:], eps=1e-12)
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "normalised over words and coordinates": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-2:])
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "each layer normalised as a whole": """
def scalar_mix(R, s, gamma):
    normed = torch.stack([(h - h.mean()) / torch.sqrt(h.var(unbiased=False) + 1e-5) for h in R])
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "raw numbers as weights": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:])
    return gamma * (s.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "s divided by its sum": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:])
    w = s / s.sum()
    return gamma * (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "gamma forgotten": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:])
    w = torch.softmax(s, dim=0)
    return (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "the mean is not subtracted": """
def scalar_mix(R, s, gamma):
    normed = R / torch.sqrt(R.var(-1, unbiased=False, keepdim=True) + 1e-5)
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "the sum is normalised, not the vectors": """
def scalar_mix(R, s, gamma):
    w = torch.softmax(s, dim=0)
    mixed = (w.view(-1, 1, 1, 1) * R).sum(0)
    return gamma * torch.nn.functional.layer_norm(mixed, mixed.shape[-1:])
""",
        "mean over the layers": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:])
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * normed).mean(0)
""",
        "the weights in reverse order": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:])
    w = torch.softmax(s.flip(0), dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "gamma inside the softmax": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:])
    w = torch.softmax(gamma * s, dim=0)
    return (w.view(-1, 1, 1, 1) * normed).sum(0)
""",
        "divided by the variance": """
def scalar_mix(R, s, gamma):
    mean = R.mean(-1, keepdim=True)
    var = R.var(-1, unbiased=False, keepdim=True)
    w = torch.softmax(s, dim=0)
    return gamma * (w.view(-1, 1, 1, 1) * (R - mean) / (var + 1e-5)).sum(0)
""",
        "gamma must be a tensor": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:])
    return torch.einsum(",l,lbte->bte", gamma, s.softmax(0), normed)
""",
        "another epsilon, 1e-6": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, R.shape[-1:], eps=1e-6)
    return gamma * (torch.softmax(s, dim=0).view(-1, 1, 1, 1) * normed).sum(dim=0)
""",
    },
    "elmo.with_elmo": {
        "R is not detached": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    first = scalar_mix(R, s[0], gamma[0]) * (draws[0] >= p) / (1 - p)
    second = scalar_mix(R, s[1], gamma[1]) * (draws[1] >= p) / (1 - p)
    h = rnn(torch.cat([x, first], dim=-1))
    return torch.cat([h, second], dim=-1)
""",
        "the whole mix is detached": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    mixed = []
    for i in range(2):
        mix = scalar_mix(R, s[i], gamma[i]).detach()
        mixed.append(mix * (draws[i] >= p).float() / (1 - p))
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "no division by 1 - p": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "a draw of exactly p is dropped": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] > p) / (1 - p) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "kept where the draw is below p": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] < p) / (1 - p) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "divided by p": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / p for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "one mix for both ends": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    mix = scalar_mix(R.detach(), s[0], gamma[0]) * (draws[0] >= p) / (1 - p)
    h = rnn(torch.cat([x, mix], dim=-1))
    return torch.cat([h, mix], dim=-1)
""",
        "ELMo at the input alone": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    mix = scalar_mix(R.detach(), s[0], gamma[0]) * (draws[0] >= p) / (1 - p)
    return rnn(torch.cat([x, mix], dim=-1))
""",
        "ELMo in front of x and h": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / (1 - p) for i in range(2)]
    h = rnn(torch.cat([mixed[0], x], dim=-1))
    return torch.cat([mixed[1], h], dim=-1)
""",
        "the two rows the other way round": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / (1 - p) for i in (1, 0)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "dropout on x and h as well": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / (1 - p) for i in range(2)]
    h = rnn(torch.cat([x / (1 - p), mixed[0]], dim=-1))
    return torch.cat([h / (1 - p), mixed[1]], dim=-1)
""",
        "dropout before the mix": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R * (draws[i] >= p) / (1 - p), s[i], gamma[i]) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "dropout with draws of one's own": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [torch.nn.functional.dropout(scalar_mix(R, s[i], gamma[i]), p) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "no dropout": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    h = rnn(torch.cat([x, scalar_mix(R, s[0], gamma[0])], dim=-1))
    return torch.cat([h, scalar_mix(R, s[1], gamma[1])], dim=-1)
""",
        "gamma is not learned": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i].item()) * (draws[i] >= p) / (1 - p) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "x is frozen as well": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    x, R = x.detach(), R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / (1 - p) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
        "the network runs without gradients": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / (1 - p) for i in range(2)]
    with torch.no_grad():
        h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
""",
    },
    "elmo.embed_sentence": {
        "no [BOS] and no [EOS]": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(words)[None])
    lengths = torch.tensor([len(words)])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0]
""",
        "[BOS] and [EOS] are kept": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]"] + words + ["[EOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0]
""",
        "the batch axis is kept": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]"] + words + ["[EOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, :, 1:-1]
""",
        "the length without [BOS] and [EOS]": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]"] + words + ["[EOS]"])[None])
    lengths = torch.tensor([len(words)])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:-1]
""",
        "only [BOS] is cut off": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]"] + words + ["[EOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:]
""",
        "cut one place too late": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]"] + words + ["[EOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 2:]
""",
        "the given list grows": """
def embed_sentence(words, bilm):
    words.insert(0, "[BOS]")
    words.append("[EOS]")
    x = bilm.token(bilm.spell(words)[None])
    lengths = torch.tensor([len(words)])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:-1]
""",
        "words in small letters": """
def embed_sentence(words, bilm):
    words = [word.lower() for word in words]
    x = bilm.token(bilm.spell(["[BOS]", *words, "[EOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:-1]
""",
        "[EOS] in front, [BOS] behind": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[EOS]", *words, "[BOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:-1]
""",
        "the top layer alone": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]", *words, "[EOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[-1, 0, 1:-1]
""",
        "words in front of layers": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]", *words, "[EOS]"])[None])
    lengths = torch.tensor([len(words) + 2])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:-1].transpose(0, 1)
""",
        "one string is spelt": """
def embed_sentence(words, bilm):
    chars = bilm.spell(" ".join(["[BOS]", *words, "[EOS]"]))[None]
    x = bilm.token(chars)
    lengths = torch.tensor([x.shape[1]])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:-1]
""",
        "each word in a sentence of its own": """
def embed_sentence(words, bilm):
    found = []
    for word in words:
        x = bilm.token(bilm.spell(["[BOS]", word, "[EOS]"])[None])
        forward, backward = two_stacks(x, torch.tensor([3]), bilm.forward_layers, bilm.backward_layers)
        found.append(representations(x, forward, backward)[:, 0, 1])
    return torch.stack(found, dim=1)
""",
        "[BOS] in front, nothing behind": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]", *words]).unsqueeze(0))
    f, b = two_stacks(x, torch.tensor([len(words) + 1]), bilm.forward_layers, bilm.backward_layers)
    return representations(x, f, b)[:, 0, 1:]
""",
        "[EOS] behind, nothing in front": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell([*words, "[EOS]"]).unsqueeze(0))
    f, b = two_stacks(x, torch.tensor([len(words) + 1]), bilm.forward_layers, bilm.backward_layers)
    return representations(x, f, b)[:, 0, :-1]
""",
    },
}

RIGHT = {
    "elmo.char_cnn": {
        "windows by unfold, einsum": """
def char_cnn(chars, table, filters, onward):
    B, T, C = chars.shape
    found = []
    for kernel, bias in filters:
        windows = table[chars].unfold(2, kernel.shape[-1], 1)
        answers = torch.einsum("btpcw,fcw->btpf", windows, kernel) + bias
        found.append(answers.relu().max(dim=2).values)
    features = torch.cat(found, dim=-1).reshape(B * T, -1)
    return onward(features).reshape(B, T, -1)
""",
        "word by word, place by place": """
def char_cnn(chars, table, filters, onward):
    sentences = []
    for sentence in chars:
        words = []
        for word in sentence:
            letters, features = table[word], []
            for kernel, bias in filters:
                F, c, w = kernel.shape
                places = [(kernel * letters[p:p + w].T).sum(dim=(1, 2)) + bias for p in range(len(letters) - w + 1)]
                features.append(torch.stack(places).max(dim=0).values)
            words.append(torch.relu(torch.cat(features)))
        sentences.append(onward(torch.stack(words)))
    return torch.stack(sentences)
""",
        "max_pool1d and embedding": """
def char_cnn(chars, table, filters, onward):
    import torch.nn.functional as F
    B, T, C = chars.shape
    letters = F.embedding(chars.view(-1, C), table).permute(0, 2, 1)
    outs = []
    for kernel, bias in filters:
        h = F.relu(F.conv1d(letters, kernel, bias))
        outs.append(F.max_pool1d(h, h.shape[-1]).squeeze(-1))
    return onward(torch.cat(outs, 1)).view(B, T, -1)
""",
    },
    "elmo.reverse_padded": {
        "a copy, row by row": """
def reverse_padded(x, lengths):
    out = x.clone()
    for b, n in enumerate(lengths.tolist()):
        out[b, :n] = x[b, :n].flip(0)
    return out
""",
        "gather with expanded indices": """
def reverse_padded(x, lengths):
    B, T = x.shape[:2]
    t = torch.arange(T).repeat(B, 1)
    n = lengths.unsqueeze(1)
    index = torch.where(t < n, n - 1 - t, t)
    index = index.view(B, T, *[1] * (x.dim() - 2)).expand_as(x)
    return torch.gather(x, 1, index)
""",
        "numpy": """
def reverse_padded(x, lengths):
    out = x.numpy().copy()
    for row, n in zip(out, lengths.numpy()):
        row[:n] = row[:n][::-1].copy()
    return out
""",
        "lists": """
def reverse_padded(x, lengths):
    rows = []
    for row, n in zip(x, lengths.tolist()):
        entries = list(row)
        rows.append(torch.stack(entries[:n][::-1] + entries[n:]))
    return torch.stack(rows)
""",
    },
    "elmo.bilm_loss": {
        "log_softmax and a loop": """
def bilm_loss(forward, backward, ids):
    lf, lb = forward.log_softmax(-1), backward.log_softmax(-1)
    f = b = 0.0
    count = 0
    for i in range(len(ids)):
        n = int((ids[i] != 0).sum())
        for t in range(n - 1):
            f -= lf[i, t, ids[i, t + 1]].item()
            b -= lb[i, t + 1, ids[i, t]].item()
            count += 1
    return f / count, b / count
""",
        "labels set to -100": """
def bilm_loss(forward, backward, ids):
    nxt = torch.full_like(ids, -100)
    nxt[:, :-1] = ids[:, 1:]
    nxt[nxt == 0] = -100
    prev = torch.full_like(ids, -100)
    prev[:, 1:] = ids[:, :-1]
    prev[ids == 0] = -100
    return cross_entropy(forward.transpose(1, 2), nxt), cross_entropy(backward.transpose(1, 2), prev)
""",
        "logsumexp, a mask and a quotient": """
def bilm_loss(forward, backward, ids):
    real = (ids[:, 1:] != 0).float()
    def nats(logits, targets):
        chosen = logits.gather(2, targets[..., None])[..., 0]
        return ((logits.logsumexp(-1) - chosen) * real).sum() / real.sum()
    return nats(forward[:, :-1], ids[:, 1:]), nats(backward[:, 1:], ids[:, :-1])
""",
        "the two in a list": """
def bilm_loss(forward, backward, ids):
    real = ids[:, 1:] != 0
    return [
        cross_entropy(forward[:, :-1][real], ids[:, 1:][real]),
        cross_entropy(backward[:, 1:][real], ids[:, :-1][real]),
    ]
""",
        "the backward model turned round and treated as a forward one": """
def bilm_loss(forward, backward, ids):
    def following(logits, ids):
        return cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
    lengths = (ids != 0).sum(dim=1)
    return following(forward, ids), following(reverse_padded(backward, lengths), reverse_padded(ids, lengths))
""",
    },
    "elmo.influence": {
        "a gradient for each output number": """
def influence(model, x):
    x = x.clone().requires_grad_(True)
    y = model(x)
    T, K = y.shape
    total = torch.zeros(T, T)
    for i in range(T):
        for k in range(K):
            (g,) = torch.autograd.grad(y[i, k], x, retain_graph=True)
            total[i] += (g ** 2).sum(dim=1)
    return total.sqrt()
""",
        "jacrev": """
def influence(model, x):
    J = torch.func.jacrev(model)(x)
    return torch.linalg.matrix_norm(J.transpose(1, 2))
""",
        "jacfwd": """
def influence(model, x):
    return torch.einsum("ikjd,ikjd->ij", *[torch.func.jacfwd(model)(x)] * 2) ** 0.5
""",
        "backward on the given x, with the gradient set to zero": """
def influence(model, x):
    x.requires_grad_(True)
    y = model(x)
    out = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        squares = 0
        for k in range(y.shape[1]):
            x.grad = None
            y[i, k].backward(retain_graph=True)
            squares = squares + x.grad.pow(2).sum(1)
        out[i] = squares.sqrt()
    return out.detach()
""",
    },
    "elmo.two_stacks": {
        "turned round and back in each layer": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    lefts, rights = [], []
    left, right = x, x
    for i, (forward, backward) in enumerate(zip(forward_layers, backward_layers)):
        new_left = forward(left)
        new_right = reverse_padded(backward(reverse_padded(right, lengths)), lengths)
        left = new_left + left if i > 0 else new_left
        right = new_right + right if i > 0 else new_right
        lefts.append(left)
        rights.append(right)
    return torch.stack(lefts), torch.stack(rights)
""",
        "sentence by sentence, without a mask": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    def run(h, layers):
        states = []
        for l, layer in enumerate(layers):
            h = layer(h) + (h if l > 0 else 0)
            states.append(h)
        return torch.stack(states)
    lefts, rights = [], []
    for row, n in zip(x, lengths.tolist()):
        turned = torch.cat([row[:n].flip(0), row[n:]])
        lefts.append(run(row[None], forward_layers))
        right = run(turned[None], backward_layers)
        rights.append(torch.cat([right[:, :, :n].flip(2), right[:, :, n:]], dim=2))
    return torch.cat(lefts, dim=1), torch.cat(rights, dim=1)
""",
        "lists of tensors": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    first, *others = forward_layers
    lefts = [first(x)]
    for layer in others:
        lefts.append(lefts[-1] + layer(lefts[-1]))
    first, *others = backward_layers
    rights = [first(reverse_padded(x, lengths))]
    for layer in others:
        rights.append(rights[-1] + layer(rights[-1]))
    return lefts, [reverse_padded(h, lengths) for h in rights]
""",
        "tensors filled": """
def two_stacks(x, lengths, forward_layers, backward_layers):
    L = len(forward_layers)
    F = torch.zeros(L, *x.shape)
    G = torch.zeros(L, *x.shape)
    h, g = x, reverse_padded(x, lengths)
    for l in range(L):
        out, tuo = forward_layers[l](h), backward_layers[l](g)
        h, g = (out, tuo) if l == 0 else (h + out, g + tuo)
        F[l] = h
        G[l] = reverse_padded(g, lengths)
    return F, G
""",
    },
    "elmo.representations": {
        "layer by layer": """
def representations(x, forward, backward):
    layers = [torch.cat((x, x), -1)]
    for f, b in zip(forward, backward):
        layers.append(torch.cat((f, b), -1))
    return torch.stack(layers)
""",
        "x in front of both": """
def representations(x, forward, backward):
    left = torch.cat([x.unsqueeze(0), forward])
    right = torch.cat([x.unsqueeze(0), backward])
    return torch.cat([left, right], dim=3)
""",
        "a list of layers": """
def representations(x, forward, backward):
    return [x.repeat(1, 1, 2)] + [torch.cat([f, b], dim=2) for f, b in zip(forward, backward)]
""",
        "numpy": """
def representations(x, forward, backward):
    import numpy as np
    both = np.concatenate([forward.numpy(), backward.numpy()], axis=-1)
    return np.concatenate([np.tile(x.numpy(), 2)[None], both])
""",
    },
    "elmo.scalar_mix": {
        "layer_norm and einsum": """
def scalar_mix(R, s, gamma):
    normed = torch.nn.functional.layer_norm(R, (R.size(-1),), eps=1e-5)
    return gamma * torch.einsum("l,lbte->bte", s.softmax(dim=0), normed)
""",
        "loop over layers, softmax by hand": """
def scalar_mix(R, s, gamma):
    e = torch.exp(s - s.max())
    w = e / e.sum()
    total = torch.zeros_like(R[0])
    for weight, h in zip(w, R):
        centred = h - h.mean(dim=-1, keepdim=True)
        total = total + weight * centred / torch.sqrt((centred ** 2).mean(dim=-1, keepdim=True) + 1e-5)
    return gamma * total
""",
        "float64": """
def scalar_mix(R, s, gamma):
    R, s = R.double(), s.double()
    normed = (R - R.mean(-1, keepdim=True)) * torch.rsqrt(R.var(-1, correction=0, keepdim=True) + 1e-5)
    return gamma * torch.tensordot(torch.softmax(s, 0), normed, dims=1)
""",
        "mean of squares less square of the mean": """
def scalar_mix(R, s, gamma):
    mean = R.mean(-1, keepdim=True)
    variance = R.square().mean(-1, keepdim=True) - mean ** 2
    normed = (R - mean) / torch.sqrt(variance + 1e-5)
    return gamma * torch.stack([w * h for w, h in zip(torch.softmax(s, -1), normed)]).sum(0)
""",
        "mean of squares less square of the mean, in float64": """
def scalar_mix(R, s, gamma):
    R = R.double()
    m = R.mean(-1, keepdim=True)
    v = (R ** 2).mean(-1, keepdim=True) - m ** 2
    w = s.exp() / s.exp().sum()
    return (gamma * (w[:, None, None, None] * (R - m) / (v.clamp(min=0) + 1e-5).sqrt()).sum(0)).float()
""",
    },
    "elmo.with_elmo": {
        "masks by where": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R = R.detach()
    ends = []
    for i in range(2):
        mix = scalar_mix(R, s[i], gamma[i])
        ends.append(torch.where(draws[i] < p, torch.zeros_like(mix), mix / (1 - p)))
    return torch.cat([rnn(torch.cat([x, ends[0]], -1)), ends[1]], -1)
""",
        "R made a constant by its flag": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    R.requires_grad_(False)
    keep = (draws >= p).float() / (1 - p)
    before = scalar_mix(R, s[0], gamma[0]) * keep[0]
    after = scalar_mix(R, s[1], gamma[1]) * keep[1]
    return torch.cat([rnn(torch.cat([x, before], dim=2)), after], dim=2)
""",
        "R.data": """
def with_elmo(x, R, s, gamma, rnn, draws, p):
    def elmo_at(i):
        return scalar_mix(R.data, s[i], gamma[i]) * torch.ge(draws[i], p) * (1 / (1 - p))
    h = rnn(torch.cat([x, elmo_at(0)], dim=-1))
    return torch.cat([h, elmo_at(1)], dim=-1)
""",
    },
    "elmo.embed_sentence": {
        "step by step": """
def embed_sentence(words, bilm):
    marked = ["[BOS]"] + list(words) + ["[EOS]"]
    chars = bilm.spell(marked).unsqueeze(0)
    x = bilm.token(chars)
    f, b = two_stacks(x, torch.LongTensor([len(marked)]), bilm.forward_layers, bilm.backward_layers)
    R = representations(x, f, b).squeeze(1)
    return R[:, 1 : len(words) + 1]
""",
        "without the own functions": """
def embed_sentence(words, bilm):
    x = bilm.token(bilm.spell(["[BOS]", *words, "[EOS]"])[None])
    layers = [torch.cat([x, x], dim=-1)]
    left, right = x, x.flip(1)
    for number, (forward, backward) in enumerate(zip(bilm.forward_layers, bilm.backward_layers)):
        left = forward(left) + (left if number else 0)
        right = backward(right) + (right if number else 0)
        layers.append(torch.cat([left, right.flip(1)], dim=-1))
    return torch.stack(layers)[:, 0, 1:-1]
""",
    },
}
