"""Natural answers to the exercises of notebook 12, written from its text alone: cells as students write them.

WRONG and RIGHT: exercise → what is wrong or unusual about the answer → the source of the whole cell.
"""

WRONG = {
    "comparison.evaluate": {
        "the first of the nearest, without a vote": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    similarity[asked_words[:, None] != known_words[None]] = -2
    return known_senses[similarity.argmax(dim=-1)]
""",
        "all words take part": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    best = similarity.max(dim=-1, keepdim=True).values
    near = (similarity >= best - TIE).float()
    return (near @ one_hot(known_senses).float()).argmax(dim=-1)
""",
        "the best among the word's own, the vote among all": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    c = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    same = asked_words[:, None] == known_words
    best = c.masked_fill(~same, -2).amax(1, keepdim=True)
    near = (c - best).abs() <= TIE
    return (near.float() @ one_hot(known_senses).float()).argmax(1)
""",
        "dot products": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    similarity = asked @ known.T
    similarity = similarity.masked_fill(asked_words[:, None] != known_words[None], -torch.inf)
    best = similarity.max(dim=-1, keepdim=True).values
    near = (similarity >= best - TIE).float()
    return (near @ one_hot(known_senses).float()).argmax(dim=-1)
""",
        "only exactly equal cosines vote": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    similarity = similarity.masked_fill(asked_words[:, None] != known_words[None], -torch.inf)
    near = similarity == similarity.max(dim=-1, keepdim=True).values
    return (near.float() @ one_hot(known_senses).float()).argmax(dim=-1)
""",
        "of equally frequent senses the largest id": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    similarity = similarity.masked_fill(asked_words[:, None] != known_words[None], -torch.inf)
    near = (similarity >= similarity.max(dim=-1, keepdim=True).values - TIE).float()
    votes = near @ one_hot(known_senses).float()
    S = votes.shape[-1]
    return S - 1 - votes.flip(-1).argmax(dim=-1)
""",
        "of equally frequent senses the one met first": """
from collections import Counter

def evaluate(known, known_words, known_senses, asked, asked_words):
    answers = []
    for vector, word in zip(asked, asked_words):
        rows = (known_words == word).nonzero()[:, 0]
        cosines = torch.cosine_similarity(vector[None], known[rows], dim=-1)
        near = rows[cosines >= cosines.max() - TIE]
        answers.append(Counter(known_senses[near].tolist()).most_common(1)[0][0])
    return torch.tensor(answers)
""",
        "all labelled occurrences of the word vote": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    answers = []
    for word in asked_words:
        senses = known_senses[known_words == word]
        answers.append(senses.bincount().argmax())
    return torch.stack(answers)
""",
        "the smallest of the senses that are near, whatever their number": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    answers = []
    for vector, word in zip(asked, asked_words):
        rows = known_words == word
        cosines = torch.cosine_similarity(vector[None], known[rows], dim=-1)
        answers.append(known_senses[rows][cosines >= cosines.max() - TIE].min())
    return torch.stack(answers)
""",
        "masked cosines are 0, so that a negative cosine loses": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    similarity = similarity * (asked_words[:, None] == known_words[None])
    near = (similarity >= similarity.max(dim=-1, keepdim=True).values - TIE).float()
    return (near @ one_hot(known_senses).float()).argmax(dim=-1)
""",
        "the mean vector of each sense": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    answers = []
    for vector, word in zip(asked, asked_words):
        senses = known_senses[known_words == word].unique()
        centres = torch.stack([
            known[(known_words == word) & (known_senses == s)].mean(dim=0) for s in senses
        ])
        answers.append(senses[torch.cosine_similarity(vector[None], centres, dim=-1).argmax()])
    return torch.stack(answers)
""",
    },
    "comparison.bootstrap_interval": {
        "the whole level on each side": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1)
    return means.quantile(1 - level), means.quantile(level)
""",
        "indexed instead of interpolated": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1).sort().values
    outside = (1 - level) / 2
    times = len(means)
    return means[int(outside * times)], means[min(int((1 - outside) * times), times - 1)]
""",
        "indexed, rounded to the nearest of the n − 1 steps": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1)
    outside = (1 - level) / 2
    q = torch.tensor([outside, 1 - outside])
    low, high = torch.quantile(means, q, interpolation="nearest")
    return low, high
""",
        "mean and 1.96 standard deviations": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1)
    return means.mean() - 1.96 * means.std(), means.mean() + 1.96 * means.std()
""",
        "95 % whatever the level": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1)
    return means.quantile(0.025), means.quantile(0.975)
""",
        "means over the wrong axis": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=0)
    outside = (1 - level) / 2
    return means.quantile(outside), means.quantile(1 - outside)
""",
        "the upper end first": """
def bootstrap_interval(right, draws, level):
    means = right[draws].mean(dim=1)
    outside = (1 - level) / 2
    return means.quantile(1 - outside), means.quantile(outside)
""",
        "quantiles of the items, not of the means": """
def bootstrap_interval(right, draws, level):
    values = right[draws].flatten().float()
    outside = (1 - level) / 2
    return values.quantile(outside), values.quantile(1 - outside)
""",
        "draws of its own": """
def bootstrap_interval(right, draws, level):
    times, n = draws.shape
    means = right[torch.randint(n, (times, n))].mean(dim=1)
    outside = (1 - level) / 2
    return means.quantile(outside), means.quantile(1 - outside)
""",
        "the median of the draws": """
def bootstrap_interval(right, draws, level):
    means = right[draws].median(dim=1).values
    outside = (1 - level) / 2
    return means.quantile(outside), means.quantile(1 - outside)
""",
    },
    "comparison.clear_differences": {
        "two intervals that do not overlap": """
def clear_differences(right, draws, level):
    ends = [bootstrap_interval(row, draws, level) for row in right]
    low = torch.stack([end[0] for end in ends])
    high = torch.stack([end[1] for end in ends])
    means = right.mean(dim=1)
    clear = (low[:, None] > high[None]) | (high[:, None] < low[None])
    return means[:, None] - means[None], clear
""",
        "only where the row's model is better": """
def clear_differences(right, draws, level):
    M = len(right)
    differences, clear = torch.zeros(M, M), torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(M):
            gap = right[i] - right[j]
            low, high = bootstrap_interval(gap, draws, level)
            differences[i, j], clear[i, j] = gap.mean(), low > 0
    return differences, clear
""",
        "column minus row": """
def clear_differences(right, draws, level):
    M = len(right)
    differences, clear = torch.zeros(M, M), torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(M):
            gap = right[j] - right[i]
            low, high = bootstrap_interval(gap, draws, level)
            differences[i, j], clear[i, j] = gap.mean(), low > 0 or high < 0
    return differences, clear
""",
        "the mean of the draws for the mean of the items": """
def clear_differences(right, draws, level):
    gaps = right[:, None] - right[None]
    drawn = gaps[:, :, draws].mean(dim=-1)
    outside = (1 - level) / 2
    low = drawn.quantile(outside, dim=-1)
    high = drawn.quantile(1 - outside, dim=-1)
    return drawn.mean(dim=-1), (low > 0) | (high < 0)
""",
        "clear and unclear change places": """
def clear_differences(right, draws, level):
    M = len(right)
    differences, clear = torch.zeros(M, M), torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(M):
            gap = right[i] - right[j]
            low, high = bootstrap_interval(gap, draws, level)
            differences[i, j], clear[i, j] = gap.mean(), low <= 0 <= high
    return differences, clear
""",
        "an end at 0 counts as clear": """
def clear_differences(right, draws, level):
    M = len(right)
    differences, clear = torch.zeros(M, M), torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(M):
            gap = right[i] - right[j]
            low, high = bootstrap_interval(gap, draws, level)
            differences[i, j], clear[i, j] = gap.mean(), low >= 0 or high <= 0
    return differences, clear
""",
        "only above the diagonal": """
def clear_differences(right, draws, level):
    M = len(right)
    differences, clear = torch.zeros(M, M), torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(i + 1, M):
            gap = right[i] - right[j]
            low, high = bootstrap_interval(gap, draws, level)
            differences[i, j], clear[i, j] = gap.mean(), low > 0 or high < 0
    return differences, clear
""",
        "the size of the differences without sign": """
def clear_differences(right, draws, level):
    gaps = (right[:, None] - right[None])
    ends = torch.tensor([[bootstrap_interval(gap, draws, level) for gap in row] for row in gaps])
    return gaps.mean(dim=-1).abs(), (ends[..., 0] > 0) | (ends[..., 1] < 0)
""",
        "95 % whatever the level": """
def clear_differences(right, draws, level):
    gaps = (right[:, None] - right[None])
    ends = torch.tensor([[bootstrap_interval(gap, draws, 0.95) for gap in row] for row in gaps])
    return gaps.mean(dim=-1), (ends[..., 0] > 0) | (ends[..., 1] < 0)
""",
    },
    "comparison.mended_answers": {
        "cut off, but in the order of the machines": """
def mended_answers(gathered, items):
    return gathered.flatten()[:items]
""",
        "transposed, but the padding kept": """
def mended_answers(gathered, items):
    return gathered.T.flatten()
""",
        "reshaped instead of transposed": """
def mended_answers(gathered, items):
    machines, rounds = gathered.shape
    return gathered.reshape(rounds, machines).flatten()[:items]
""",
        "the last items instead of the first": """
def mended_answers(gathered, items):
    return gathered.T.flatten()[-items:]
""",
        "duplicates removed by value": """
def mended_answers(gathered, items):
    return gathered.T.flatten().unique()[:items]
""",
        "the last round dropped": """
def mended_answers(gathered, items):
    machines, rounds = gathered.shape
    whole = items // machines
    return gathered[:, :whole].T.flatten()
""",
        "the rounds dealt in blocks": """
def mended_answers(gathered, items):
    machines, rounds = gathered.shape
    per_machine = items // machines
    return torch.cat([gathered[m, :per_machine + (m < items % machines)] for m in range(machines)])
""",
    },
    "comparison.path_lengths": {
        "the distance alone, without the layers": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    if architecture == "recurrent":
        return (i - j + layers) * (i >= j)
    if architecture == "elmo":
        return (i - j).abs() + layers
    if architecture == "encoder":
        return torch.ones(T, T, dtype=torch.long)
    return (i >= j).long()
""",
        "one cell too few on the diagonal: arrows counted, not cells": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    apart = i - j
    if architecture == "recurrent":
        return (apart + layers - 1) * (apart >= 0)
    if architecture == "elmo":
        return apart.abs() + layers - 1
    if architecture == "encoder":
        return torch.full((T, T), layers - 1)
    return (apart >= 0) * (layers - 1)
""",
        "rows and columns change places": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[None], torch.arange(T)[:, None]
    apart = i - j
    if architecture == "recurrent":
        return (apart + layers) * (apart >= 0)
    if architecture == "elmo":
        return apart.abs() + layers
    if architecture == "encoder":
        return torch.full((T, T), layers)
    return (apart >= 0) * layers
""",
        "each layer costs the whole distance": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    apart = i - j
    if architecture == "recurrent":
        return (apart + 1) * layers * (apart >= 0)
    if architecture == "elmo":
        return (apart.abs() + 1) * layers
    if architecture == "encoder":
        return torch.full((T, T), layers)
    return (apart >= 0) * layers
""",
        "the decoder reads step by step": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    apart = i - j
    if architecture in ("recurrent", "decoder"):
        return (apart + layers) * (apart >= 0)
    if architecture == "elmo":
        return apart.abs() + layers
    return torch.full((T, T), layers)
""",
        "a word does not see itself": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    apart = i - j
    if architecture == "recurrent":
        return (apart + layers) * (apart > 0)
    if architecture == "elmo":
        return (apart.abs() + layers) * (apart != 0)
    if architecture == "encoder":
        return torch.full((T, T), layers)
    return (apart > 0) * layers
""",
        "−1 where there is no way": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    apart = i - j
    if architecture == "recurrent":
        return torch.where(apart >= 0, apart + layers, -1)
    if architecture == "elmo":
        return apart.abs() + layers
    if architecture == "encoder":
        return torch.full((T, T), layers)
    return torch.where(apart >= 0, layers, -1)
""",
        "elmo is one stack from the left": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    apart = i - j
    if architecture in ("recurrent", "elmo"):
        return (apart + layers) * (apart >= 0)
    if architecture == "encoder":
        return torch.full((T, T), layers)
    return (apart >= 0) * layers
""",
        "elmo takes twice the layers": """
def path_lengths(architecture, T, layers):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    apart = i - j
    if architecture == "recurrent":
        return (apart + layers) * (apart >= 0)
    if architecture == "elmo":
        return apart.abs() + 2 * layers
    if architecture == "encoder":
        return torch.full((T, T), layers)
    return (apart >= 0) * layers
""",
    },
    "comparison.explain": {
        "probabilities instead of logarithms": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1).exp()
    rows = torch.stack([running[senses == s].sum(dim=0) for s in range(S)], dim=-1)
    total = rows.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, rows / total, torch.zeros_like(rows))
""",
        "templates without a sense are in the sum below": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    p = running.softmax(dim=0).nan_to_num()
    return torch.stack([p[senses == s].sum(dim=0) for s in range(S)], dim=-1)
""",
        "NaN where no template is left": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    by_sense = torch.stack([running[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    return by_sense.softmax(dim=-1)
""",
        "a uniform row where no template is left": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    by_sense = torch.stack([running[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    rows = by_sense.softmax(dim=-1)
    return torch.where(rows.isnan(), torch.full_like(rows, 1 / S), rows)
""",
        "the row before the first word is missing": """
def explain(log_prior, log_words, senses, S):
    running = log_prior[:, None] + log_words.cumsum(dim=1)
    by_sense = torch.stack([running[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    return by_sense.softmax(dim=-1).nan_to_num()
""",
        "each word alone, not all so far": """
def explain(log_prior, log_words, senses, S):
    scores = torch.cat([log_prior[:, None], log_prior[:, None] + log_words], dim=1)
    by_sense = torch.stack([scores[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    return by_sense.softmax(dim=-1).nan_to_num()
""",
        "the best template of each sense instead of the sum": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    best = torch.full((running.shape[1], S), -torch.inf, dtype=running.dtype)
    for s in range(S):
        if (senses == s).any():
            best[:, s] = running[senses == s].max(dim=0).values
    return best.softmax(dim=-1).nan_to_num()
""",
        "templates without a sense count for the last one": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    p = running.softmax(dim=0).nan_to_num()
    rows = torch.zeros(running.shape[1], S, dtype=p.dtype)
    for k, s in enumerate(senses.tolist()):
        rows[:, s] += p[k]
    return rows / rows.sum(dim=-1, keepdim=True).clamp(min=1e-30)
""",
        "the prior counts as equal": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([torch.zeros(len(log_prior), 1), log_words], dim=1).cumsum(dim=1)
    by_sense = torch.stack([running[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    return by_sense.softmax(dim=-1).nan_to_num()
""",
        "the mean over a sense's templates": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    columns = []
    for s in range(S):
        mine = running[senses == s]
        columns.append(mine.logsumexp(dim=0) - torch.tensor(float(max(len(mine), 1))).log())
    return torch.stack(columns, dim=-1).softmax(dim=-1).nan_to_num()
""",
        "the largest of all templates taken off, also of those without a sense": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    p = (running - running.max(dim=0).values).exp().nan_to_num()
    rows = torch.stack([p[senses == s].sum(dim=0) for s in range(S)], dim=-1)
    return (rows / rows.sum(dim=-1, keepdim=True)).nan_to_num()
""",
    },
    "comparison.neighbour_posterior": {
        "the largest score of all is taken off": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    scores = normalize(asked, dim=1) @ normalize(known, dim=1).T / temperature
    e = torch.exp(scores - scores.max()) * same_word
    return (e / e.sum(dim=1, keepdim=True)) @ one_hot(known_senses, S).float()
""",
        "the row's largest score, before other words are hidden": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    scores = normalize(asked, dim=1) @ normalize(known, dim=1).T / temperature
    scores = scores - scores.max(dim=1, keepdim=True).values
    e = scores.masked_fill(~same_word, -torch.inf).exp()
    return (e / e.sum(dim=1, keepdim=True)) @ one_hot(known_senses, S).float()
""",
        "other words get −100": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    scores = normalize(asked, dim=1) @ normalize(known, dim=1).T / temperature
    weights = scores.masked_fill(~same_word, -100).softmax(dim=1)
    return weights @ one_hot(known_senses, S).float()
""",
        "the temperature multiplies": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines * temperature).masked_fill(~same_word, -torch.inf).softmax(dim=-1)
    return weights @ one_hot(known_senses, S).float()
""",
        "dot products": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    scores = asked @ known.T / temperature
    weights = scores.masked_fill(~same_word, -torch.inf).softmax(dim=-1)
    return weights @ one_hot(known_senses, S).float()
""",
        "other words weigh as if their cosine were 0": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines * same_word / temperature).softmax(dim=-1)
    return weights @ one_hot(known_senses, S).float()
""",
        "masked after the softmax, not normalised again": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).softmax(dim=-1) * same_word
    return weights @ one_hot(known_senses, S).float()
""",
        "an inlined softmax that overflows": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    e = (cosines / temperature).exp() * same_word
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ one_hot(known_senses, S).float()
""",
        "the mask forgotten": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).softmax(dim=-1)
    return weights @ one_hot(known_senses, S).float()
""",
        "as many senses as occur": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=-1)
    return weights @ one_hot(known_senses).float()
""",
        "softmax over the asked words": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=0).nan_to_num()
    return weights @ one_hot(known_senses, S).float()
""",
        "the mean weight of a sense instead of the sum": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=-1)
    member = one_hot(known_senses, S).float()
    return weights @ member / member.sum(dim=0).clamp(min=1)
""",
        "softmax over the senses' summed cosines": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    by_sense = (cosines * same_word) @ one_hot(known_senses, S).float()
    return (by_sense / temperature).softmax(dim=-1)
""",
    },
    "comparison.attention_tests": {
        "random numbers, nothing hidden": """
def attention_tests(queries, keys, values, coin):
    keep = torch.ones(coin.shape, dtype=torch.bool)
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
""",
        "random numbers and a random mask": """
def attention_tests(queries, keys, values, coin):
    return {"queries": queries, "keys": keys, "values": values, "keep": coin > 0}
""",
        "zeros everywhere": """
def attention_tests(queries, keys, values, coin):
    return {"queries": torch.zeros_like(queries), "keys": torch.zeros_like(keys),
            "values": torch.zeros_like(values), "keep": torch.ones(coin.shape, dtype=torch.bool)}
""",
        "everything hidden": """
def attention_tests(queries, keys, values, coin):
    return {"queries": queries, "keys": keys, "values": values,
            "keep": torch.zeros(coin.shape, dtype=torch.bool)}
""",
        "a causal mask": """
def attention_tests(queries, keys, values, coin):
    keep = torch.ones(coin.shape, dtype=torch.bool).tril()
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
""",
        "scores with digits that float32 does not have": """
def attention_tests(queries, keys, values, coin):
    keep = coin > 0
    keep[0] = False
    keys = keys + 300_000
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
""",
        "the same mask for all rows of the batch, and large scores": """
def attention_tests(queries, keys, values, coin):
    keep = (coin[:1] > 0).expand(coin.shape).clone()
    queries = queries.clone()
    queries[-1] *= 1000
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
""",
    },
    "comparison.calibration": {
        "the upper end belongs to the bin, not the lower one": """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    for b in range(bins):
        inside = (confidence > b / bins) & (confidence <= (b + 1) / bins)
        if inside.any():
            said[b], found[b] = confidence[inside].mean(), right[inside].mean()
            count[b] = inside.sum()
    error = (count * (said - found).abs()).sum() / len(confidence)
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "1 falls out of the last bin": """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    for b in range(bins):
        inside = (confidence >= b / bins) & (confidence < (b + 1) / bins)
        if inside.any():
            said[b], found[b] = confidence[inside].mean(), right[inside].mean()
            count[b] = inside.sum()
    error = (count * (said - found).abs()).sum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "the mean over the bins": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said = member @ confidence / count.clamp(min=1)
    found = member @ right / count.clamp(min=1)
    return {"said": said, "found": found, "count": count, "error": (said - found).abs().mean()}
""",
        "the mean over the bins that are not empty": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said = member @ confidence / count.clamp(min=1)
    found = member @ right / count.clamp(min=1)
    error = (said - found).abs()[count > 0].mean()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "NaN in an empty bin": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said, found = member @ confidence / count, member @ right / count
    error = (count * (said - found).abs()).nansum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "the middle of the bin for what was said": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said = (torch.arange(bins) + 0.5) / bins * (count > 0)
    found = member @ right / count.clamp(min=1)
    error = (count * (said - found).abs()).sum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "the gap keeps its sign": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said = member @ confidence / count.clamp(min=1)
    found = member @ right / count.clamp(min=1)
    error = (count * (said - found)).sum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "bins from the lowest to the highest confidence": """
def calibration(confidence, right, bins):
    low, high = confidence.min(), confidence.max()
    which = ((confidence - low) / (high - low) * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said = member @ confidence / count.clamp(min=1)
    found = member @ right / count.clamp(min=1)
    error = (count * (said - found).abs()).sum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "bins of equally many answers": """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    for b, inside in enumerate(confidence.argsort().tensor_split(bins)):
        if len(inside):
            said[b], found[b], count[b] = confidence[inside].mean(), right[inside].mean(), len(inside)
    error = (count * (said - found).abs()).sum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "shares instead of counts": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said = member @ confidence / count.clamp(min=1)
    found = member @ right / count.clamp(min=1)
    share = count / count.sum()
    return {"said": said, "found": found, "count": share, "error": (share * (said - found).abs()).sum()}
""",
        "the number of right answers for what was found": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()
    count = member.sum(dim=1)
    said = member @ confidence / count.clamp(min=1)
    found = member @ right
    error = (count * (said - found).abs()).sum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
""",
    },
}

RIGHT = {
    "comparison.evaluate": {
        "a loop over the asked words": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    answers = []
    for vector, word in zip(asked, asked_words):
        rows = known_words == word
        cosines = torch.cosine_similarity(vector[None], known[rows], dim=-1)
        senses = known_senses[rows][cosines >= cosines.max() - TIE]
        answers.append(senses.bincount().argmax())
    return torch.stack(answers)
""",
        "numpy": """
import numpy as np

def evaluate(known, known_words, known_senses, asked, asked_words):
    known, asked = known.double().numpy(), asked.double().numpy()
    known = known / np.linalg.norm(known, axis=1, keepdims=True)
    asked = asked / np.linalg.norm(asked, axis=1, keepdims=True)
    found = []
    for vector, word in zip(asked, asked_words.numpy()):
        rows = np.flatnonzero(known_words.numpy() == word)
        cosines = known[rows] @ vector
        near = rows[cosines.max() - cosines <= TIE]
        found.append(np.argmax(np.bincount(known_senses.numpy()[near])))
    return np.array(found)
""",
        "the mode, which is the smallest of the most frequent": """
def evaluate(known, known_words, known_senses, asked, asked_words):
    cosines = torch.cosine_similarity(asked[:, None], known[None], dim=-1)
    cosines = torch.where(asked_words[:, None] == known_words[None], cosines, -2.0)
    near = cosines > cosines.max(dim=1, keepdim=True).values - TIE
    return torch.stack([known_senses[row].sort().values.mode().values for row in near])
""",
    },
    "comparison.bootstrap_interval": {
        "numpy's percentile": """
import numpy as np

def bootstrap_interval(right, draws, level):
    means = right.numpy()[draws.numpy()].mean(axis=1)
    low, high = np.percentile(means, [50 * (1 - level), 50 * (1 + level)])
    return low, high
""",
        "sorted, and interpolated by hand": """
def bootstrap_interval(right, draws, level):
    means = torch.stack([right[row].double().mean() for row in draws]).sort().values
    def at(q):
        place = q * (len(means) - 1)
        below = int(place)
        above = min(below + 1, len(means) - 1)
        return means[below] + (place - below) * (means[above] - means[below])
    return at((1 - level) / 2), at((1 + level) / 2)
""",
        "a list of two": """
def bootstrap_interval(right, draws, level):
    means = torch.gather(right.expand(len(draws), -1), 1, draws).mean(dim=-1)
    return [torch.quantile(means, (1 - level) / 2), torch.quantile(means, 1 - (1 - level) / 2)]
""",
    },
    "comparison.clear_differences": {
        "two loops": """
def clear_differences(right, draws, level):
    M = len(right)
    differences, clear = torch.zeros(M, M), torch.zeros(M, M, dtype=torch.bool)
    for i in range(M):
        for j in range(M):
            gap = right[i] - right[j]
            low, high = bootstrap_interval(gap, draws, level)
            differences[i, j] = gap.mean()
            clear[i, j] = bool(low > 0) or bool(high < 0)
    return differences, clear
""",
        "half of the pairs, and the other half by symmetry": """
def clear_differences(right, draws, level):
    means = right.mean(dim=1)
    clear = torch.zeros(len(right), len(right), dtype=torch.bool)
    for i in range(len(right)):
        for j in range(i):
            low, high = bootstrap_interval(right[i] - right[j], draws, level)
            clear[i, j] = clear[j, i] = not (low <= 0 <= high)
    return means[:, None] - means[None, :], clear
""",
    },
    "comparison.mended_answers": {
        "index by index": """
def mended_answers(gathered, items):
    machines = len(gathered)
    return torch.stack([gathered[i % machines, i // machines] for i in range(items)])
""",
        "put in their places": """
def mended_answers(gathered, items):
    machines, rounds = gathered.shape
    answers = torch.empty(machines * rounds, dtype=gathered.dtype)
    for m in range(machines):
        answers[m::machines] = gathered[m]
    return answers[:items]
""",
        "a list": """
def mended_answers(gathered, items):
    return [answer for column in gathered.T.tolist() for answer in column][:items]
""",
    },
    "comparison.path_lengths": {
        "loops": """
def path_lengths(architecture, T, layers):
    rows = torch.zeros(T, T, dtype=torch.long)
    for i in range(T):
        for j in range(T):
            if architecture == "encoder" or architecture == "decoder" and j <= i:
                rows[i, j] = layers
            elif architecture == "elmo" or architecture == "recurrent" and j <= i:
                rows[i, j] = layers + abs(i - j)
    return rows
""",
        "numpy": """
import numpy as np

def path_lengths(architecture, T, layers):
    apart = np.subtract.outer(np.arange(T), np.arange(T))
    return {
        "recurrent": np.where(apart >= 0, apart + layers, 0),
        "elmo": np.abs(apart) + layers,
        "encoder": np.full((T, T), layers),
        "decoder": np.tril(np.full((T, T), layers)),
    }[architecture]
""",
    },
    "comparison.explain": {
        "the senses' templates only, float64": """
def explain(log_prior, log_words, senses, S):
    counted = senses >= 0
    log_prior, log_words, senses = log_prior[counted].double(), log_words[counted].double(), senses[counted]
    K, T = log_words.shape
    rows = torch.zeros(T + 1, S, dtype=torch.float64)
    score = log_prior.clone()
    for n in range(T + 1):
        if n > 0:
            score = score + log_words[:, n - 1]
        if torch.isfinite(score).any():
            p = (score - score.max()).exp()
            rows[n] = rows[n].index_add(0, senses, p) / p.sum()
    return rows
""",
        "softmax over the templates that count": """
def explain(log_prior, log_words, senses, S):
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)
    p = running[senses >= 0].softmax(dim=0).nan_to_num(0.0)
    return p.T @ one_hot(senses[senses >= 0], S).to(p.dtype)
""",
    },
    "comparison.neighbour_posterior": {
        "a loop": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    rows = []
    for vector, mask in zip(asked, same_word):
        cosines = torch.cosine_similarity(vector[None], known[mask], dim=-1)
        weights = torch.softmax(cosines / temperature, dim=0)
        rows.append(torch.zeros(S).index_add(0, known_senses[mask], weights))
    return torch.stack(rows)
""",
        "in float64, with the largest taken off": """
def neighbour_posterior(asked, known, known_senses, same_word, temperature, S):
    a, k = asked.double(), known.double()
    cosines = (a / a.norm(dim=-1, keepdim=True)) @ (k / k.norm(dim=-1, keepdim=True)).T
    scores = torch.where(same_word, cosines / temperature, -torch.inf)
    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.stack([weights[:, known_senses == s].sum(dim=-1) for s in range(S)], dim=-1)
""",
    },
    "comparison.attention_tests": {
        "a row of the batch for each purpose": """
def attention_tests(queries, keys, values, coin):
    queries = queries.clone()
    keep = coin > 0
    keep[0, 0] = False
    keep[1] = False
    keep[1, :, 0] = True
    keep[1, 1] = False
    queries[2] = queries[2] * 1000
    queries[3] = queries[3] * 1000
    best = (queries[3] @ keys[3].T).argmax(dim=-1)
    keep[3] = True
    keep[3, torch.arange(len(best)), best] = False
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
""",
        "numpy": """
import numpy as np

def attention_tests(queries, keys, values, coin):
    q, k, v = (x.numpy().copy() for x in (queries, keys, values))
    keep = coin.numpy() < 0.3
    keep[0] = False
    q[-1] *= 1000
    keep[-1] = (q[-1] @ k[-1].T) < 0
    return {"queries": q, "keys": k, "values": v, "keep": keep}
""",
    },
    "comparison.calibration": {
        "a loop over the bins": """
def calibration(confidence, right, bins):
    said, found, count = torch.zeros(bins), torch.zeros(bins), torch.zeros(bins)
    which = torch.clamp((confidence * bins).floor().long(), max=bins - 1)
    for b in range(bins):
        inside = which == b
        count[b] = inside.sum()
        if count[b] > 0:
            said[b], found[b] = confidence[inside].mean(), right[inside].mean()
    error = sum(count * (said - found).abs()) / len(confidence)
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "bincount": """
def calibration(confidence, right, bins):
    which = (confidence * bins).long().clamp(max=bins - 1)
    count = which.bincount(minlength=bins)
    some = count.clamp(min=1)
    said = which.bincount(weights=confidence.double(), minlength=bins) / some
    found = which.bincount(weights=right.double(), minlength=bins) / some
    error = (said - found).abs()[which].mean()
    return {"said": said, "found": found, "count": count, "error": error}
""",
        "ends compared": """
def calibration(confidence, right, bins):
    ends = torch.arange(bins + 1) / bins
    said, found, count = [], [], []
    for b in range(bins):
        inside = (confidence >= ends[b]) & ((confidence < ends[b + 1]) | (b == bins - 1))
        n = int(inside.sum())
        count.append(n)
        said.append(confidence[inside].mean() if n else torch.tensor(0.0))
        found.append(right[inside].float().mean() if n else torch.tensor(0.0))
    said, found, count = torch.stack(said), torch.stack(found), torch.tensor(count)
    return {"said": said, "found": found, "count": count,
            "error": ((said - found).abs() * count).sum() / count.sum()}
""",
    },
}
