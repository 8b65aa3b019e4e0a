"""Answers to the exercises of notebook 12, written from its task texts by somebody who had not seen the exercises."""

WRONG = {
    "comparison.evaluate": {
        "the first of the nearest decides alone": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    cos = normalize(asked, dim=1) @ normalize(known, dim=1).T
    cos[asked_words[:, None] != known_words[None, :]] = -2
    return known_senses[cos.argmax(dim=1)]
""",
        "of equally frequent senses the one that comes first": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    from collections import Counter
    answer = []
    for vector, word in zip(asked, asked_words):
        mine = known_words == word
        cos = torch.cosine_similarity(known[mine], vector[None], dim=-1)
        near = known_senses[mine][cos >= cos.max() - TIE].tolist()
        answer.append(Counter(near).most_common(1)[0][0])
    return torch.tensor(answer)
""",
        "all labelled occurrences of the word vote": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    S = int(known_senses.max()) + 1
    cos = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    same = asked_words[:, None] == known_words[None]
    votes = torch.zeros(len(asked), S)
    for s in range(S):
        votes[:, s] = (cos * same * (known_senses == s)).sum(dim=1)
    return votes.argmax(dim=1)
""",
    },
    "comparison.bootstrap_interval": {
        "the normal interval": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1)
    z = torch.distributions.Normal(0.0, 1.0).icdf(torch.tensor((1 + level) / 2))
    middle, spread = means.mean(), means.std()
    return middle - z * spread, middle + z * spread
""",
        "the whole rest is left out at each end": """
def bootstrap_interval(right, draws, level):
    means = right[draws].float().mean(dim=-1)
    alpha = 1 - level
    return torch.quantile(means, alpha), torch.quantile(means, 1 - alpha)
""",
        "sorted means by their number, not interpolated": """
def bootstrap_interval(right, draws, level):
    means = torch.stack([right[draw].mean() for draw in draws]).sort().values
    n = len(means)
    low = int(n * (1 - level) / 2)
    high = min(n - 1, int(n * (1 + level) / 2))
    return means[low], means[high]
""",
    },
    "comparison.clear_differences": {
        "clear where the two models' own intervals do not overlap": """
def clear_differences(right, draws, level):
    means = right.mean(dim=1)
    ends = [bootstrap_interval(row, draws, level) for row in right]
    n = len(right)
    clear = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(n):
            clear[i, j] = bool(ends[i][0] > ends[j][1] or ends[j][0] > ends[i][1])
    return means[:, None] - means[None, :], clear
""",
        "an interval that ends at 0 counts as clear": """
def clear_differences(right, draws, level):
    M = len(right)
    differences = torch.zeros(M, M)
    clear = torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(M):
            gap = right[i] - right[j]
            low, high = bootstrap_interval(gap, draws, level)
            differences[i, j] = gap.mean()
            clear[i, j] = not (low < 0 < high)
    return differences, clear
""",
        "the differences are means over the draws": """
def clear_differences(right, draws, level):
    means = right[:, draws].mean(dim=-1)
    gaps = means[:, None] - means[None]
    tail = (1 - level) / 2
    low = gaps.quantile(tail, dim=-1)
    high = gaps.quantile(1 - tail, dim=-1)
    return gaps.mean(dim=-1), (low > 0) | (high < 0)
""",
    },
    "comparison.mended_answers": {
        "the repeated items are cut off and the order stays": """
def mended_answers(gathered, items):
    return gathered.reshape(-1)[:items]
""",
        "the order is mended and the repeated items stay": """
def mended_answers(gathered, items):
    machines, rounds = gathered.shape
    answers = []
    for r in range(rounds):
        for m in range(machines):
            answers.append(gathered[m, r])
    return torch.stack(answers)
""",
        "cut off in front": """
def mended_answers(gathered, items):
    in_order = gathered.transpose(0, 1).reshape(-1)
    extra = in_order.numel() - items
    return in_order[extra:]
""",
    },
    "comparison.path_lengths": {
        "recurrent without its layers": """
def path_lengths(architecture, T, layers):
    out = torch.zeros(T, T, dtype=torch.long)
    for i in range(T):
        for j in range(T):
            if architecture == "recurrent" and j <= i:
                out[i, j] = i - j + 1
            elif architecture == "elmo":
                out[i, j] = abs(i - j) + 1
            elif architecture == "encoder" or (architecture == "decoder" and j <= i):
                out[i, j] = layers
    return out
""",
        "rows and columns exchanged": """
def path_lengths(architecture, T, layers):
    i = torch.arange(T)[None, :]
    j = torch.arange(T)[:, None]
    if architecture == "encoder":
        return torch.full((T, T), layers)
    if architecture == "decoder":
        return torch.where(j <= i, layers, 0)
    far = layers + (i - j).abs()
    if architecture == "elmo":
        return far
    return torch.where(j <= i, far, 0)
""",
        "elmo hears from the right what a recurrent net does: nothing": """
def path_lengths(architecture, T, layers):
    i, j = torch.meshgrid(torch.arange(T), torch.arange(T), indexing="ij")
    if architecture in ("recurrent", "elmo"):
        length = layers + (i - j)
    else:
        length = torch.full((T, T), layers)
    if architecture != "encoder":
        length = length * (j <= i)
    return length
""",
    },
    "comparison.explain": {
        "probabilities are multiplied and get too small": """
def explain(log_prior, log_words, senses, S):
    K, T = log_words.shape
    p = log_prior.exp()
    rows = []
    for n in range(T + 1):
        if n > 0:
            p = p * log_words[:, n - 1].exp()
        row = torch.stack([p[senses == s].sum() for s in range(S)])
        total = row.sum()
        rows.append(row / total if total > 0 else torch.zeros(S))
    return torch.stack(rows)
""",
        "templates without the word count for the last sense": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    rows = []
    for n in range(running.shape[1]):
        column = running[:, n]
        top = column.max()
        row = torch.zeros(S)
        if top > -float("inf"):
            weights = (column - top).exp()
            for k, s in enumerate(senses.tolist()):
                row[s] += weights[k]
            row = row / row.sum()
        rows.append(row)
    return torch.stack(rows)
""",
        "not a number where no template is left": """
def explain(log_prior, log_words, senses, S):
    joint = log_prior.unsqueeze(1) + torch.cat(
        [torch.zeros(len(log_prior), 1), log_words.cumsum(dim=1)], dim=1
    )
    joint = joint[senses >= 0]
    kept = senses[senses >= 0]
    posterior = torch.softmax(joint, dim=0)
    return posterior.T @ one_hot(kept, S).float()
""",
    },
    "comparison.neighbour_posterior": {
        "exp of a hundred is too large for float32": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cos = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = torch.exp(cos / temperature) * same_word
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ one_hot(known_senses, S).float()
""",
        "other words get a score of 0": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cos = torch.cosine_similarity(asked[:, None], known[None], dim=-1)
    weights = torch.softmax(cos * same_word / temperature, dim=-1)
    out = torch.zeros(len(asked), S)
    for s in range(S):
        out[:, s] = weights[:, known_senses == s].sum(dim=-1)
    return out
""",
        "a sense gets the mean weight of its occurrences": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    scores = normalize(asked, dim=1) @ normalize(known, dim=1).T / temperature
    scores = scores.masked_fill(~same_word, float("-inf"))
    w = scores.softmax(dim=1)
    members = one_hot(known_senses, S).float()
    return (w @ members) / members.sum(dim=0).clamp(min=1)
""",
    },
    "comparison.attention_tests": {
        "random numbers and nothing hidden": """
def attention_tests(queries, keys, values, coin):
    return {
        "queries": queries,
        "keys": keys,
        "values": values,
        "keep": torch.ones_like(coin, dtype=torch.bool),
    }
""",
        "random masks, but small scores and no query without a key": """
def attention_tests(queries, keys, values, coin):
    keep = coin > 0
    keep[:, :, 0] = True
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
""",
        "nobody sees anything": """
def attention_tests(queries, keys, values, coin):
    keep = torch.zeros(coin.shape, dtype=torch.bool)
    return {"queries": queries * 100, "keys": keys * 100, "values": values, "keep": keep}
""",
    },
    "comparison.calibration": {
        "a bin holds its upper end": """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        inside = (confidence > low) & (confidence <= high)
        if b == 0:
            inside = confidence <= high
        count[b] = inside.sum()
        if count[b] > 0:
            said[b] = confidence[inside].mean()
            found[b] = right[inside].mean()
    error = (count / len(confidence) * (said - found).abs()).sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "the error is a mean over the bins": """
def calibration(confidence, right, bins):
    index = (confidence * bins).long().clamp(max=bins - 1)
    count = torch.bincount(index, minlength=bins).float()
    said = torch.bincount(index, weights=confidence, minlength=bins) / count.clamp(min=1)
    found = torch.bincount(index, weights=right, minlength=bins) / count.clamp(min=1)
    error = (said - found).abs().mean()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "a confidence of 1 lies in no bin": """
def calibration(confidence, right, bins):
    said, found, count = [], [], []
    for b in range(bins):
        member = (confidence >= b / bins) & (confidence < (b + 1) / bins)
        n = member.sum()
        count.append(n.float())
        said.append(confidence[member].mean() if n else torch.tensor(0.0))
        found.append(right[member].mean() if n else torch.tensor(0.0))
    said, found, count = torch.stack(said), torch.stack(found), torch.stack(count)
    error = (count * (said - found).abs()).sum() / len(confidence)
    return {"said": said, "found": found, "count": count, "error": error}
""",
    },
}

RIGHT = {
    "comparison.evaluate": {
        "one after the other": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    answer = []
    for vector, word in zip(asked, asked_words):
        mine = known_words == word
        cos = torch.cosine_similarity(known[mine], vector[None], dim=-1)
        near = known_senses[mine][cos >= cos.max() - TIE]
        answer.append(torch.bincount(near).argmax())
    return torch.stack(answer)
""",
    },
    "comparison.bootstrap_interval": {
        "of numpy": """
def bootstrap_interval(right, draws, level):
    import numpy as np
    means = right[draws].mean(dim=1).numpy()
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return torch.tensor(low), torch.tensor(high)
""",
        "interpolated by hand": """
def bootstrap_interval(right, draws, level):
    means = torch.stack([right[draw].mean() for draw in draws]).sort().values

    def at(q):
        place = q * (len(means) - 1)
        below = int(place)
        above = min(below + 1, len(means) - 1)
        return means[below] + (place - below) * (means[above] - means[below])

    return at((1 - level) / 2), at((1 + level) / 2)
""",
    },
    "comparison.clear_differences": {
        "pair by pair": """
def clear_differences(right, draws, level):
    M = right.shape[0]
    differences = torch.zeros(M, M)
    clear = torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(M):
            difference = right[i] - right[j]
            low, high = bootstrap_interval(difference, draws, level)
            differences[i, j] = difference.mean()
            clear[i, j] = not (low <= 0 <= high)
    return differences, clear
""",
    },
    "comparison.mended_answers": {
        "where each item was dealt": """
def mended_answers(gathered, items):
    machines = gathered.shape[0]
    item = torch.arange(items)
    return gathered[item % machines, item // machines]
""",
    },
    "comparison.path_lengths": {
        "entry by entry": """
def path_lengths(architecture, T, layers):
    lengths = torch.zeros(T, T, dtype=torch.long)
    for i in range(T):
        for j in range(T):
            if architecture == "encoder":
                lengths[i, j] = layers
            elif architecture == "decoder":
                lengths[i, j] = layers if j <= i else 0
            elif architecture == "recurrent":
                lengths[i, j] = layers + i - j if j <= i else 0
            else:
                lengths[i, j] = layers + abs(i - j)
    return lengths
""",
    },
    "comparison.explain": {
        "word by word, the largest taken off": """
def explain(log_prior, log_words, senses, S):
    mine = senses >= 0
    total, names = log_prior[mine].double(), senses[mine]
    words = log_words[mine].double()
    rows = []
    for n in range(words.shape[1] + 1):
        if n > 0:
            total = total + words[:, n - 1]
        row = torch.zeros(S, dtype=torch.float64)
        if len(total) and total.max() > -float("inf"):
            row.index_add_(0, names, (total - total.max()).exp())
            row = row / row.sum()
        rows.append(row)
    return torch.stack(rows).float()
""",
    },
    "comparison.neighbour_posterior": {
        "one after the other": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    out = torch.zeros(len(asked), S)
    for i in range(len(asked)):
        mine = same_word[i]
        cos = torch.cosine_similarity(known[mine], asked[i][None], dim=-1)
        weights = torch.softmax(cos / temperature, dim=0)
        for weight, sense in zip(weights, known_senses[mine]):
            out[i, sense] += weight
    return out
""",
    },
    "comparison.attention_tests": {
        "a situation in each sentence of the batch": """
def attention_tests(queries, keys, values, coin):
    queries, keys, values = queries.clone(), keys.clone(), values.clone()
    keep = coin > 0
    keep[0] = False                                     # nothing to see
    keep[1, :, 0], keep[1, 0, :] = True, True           # a plain random mask
    queries[2] = 300 * queries[2]                       # large scores, the best hidden
    scores = queries[2] @ keys[2].T
    keep[2] = True
    keep[2, torch.arange(len(scores)), scores.argmax(dim=1)] = False
    queries[3] = 300 * queries[3]                       # large scores, all below zero are kept
    keep[3] = queries[3] @ keys[3].T < 0
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
""",
    },
    "comparison.calibration": {
        "bin by bin": """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        inside = (confidence >= low) & (confidence < high)
        if b == bins - 1:
            inside = confidence >= low
        count[b] = inside.sum()
        if inside.any():
            said[b] = confidence[inside].mean()
            found[b] = right[inside].mean()
    error = (count * (said - found).abs()).sum() / len(confidence)
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "bucketize": """
def calibration(confidence, right, bins):
    edges = torch.arange(1, bins) / bins
    which = torch.bucketize(confidence, edges, right=True)
    count = torch.zeros(bins).index_add(0, which, torch.ones_like(confidence))
    n = count.clamp(min=1)
    said = torch.zeros(bins).index_add(0, which, confidence) / n
    found = torch.zeros(bins).index_add(0, which, right) / n
    return {"said": said, "found": found, "count": count,
            "error": (count * (said - found).abs()).sum() / count.sum()}
""",
    },
}
