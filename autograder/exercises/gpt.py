"""07 GPT: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from coursekit.asking import Case
from coursekit.judging import Rule

# ------------------------------------------------------------------------------------------ causal mask


def mask_cases(draw: Draw) -> Iterator[Case]:
    for T in (4, 7, 11):
        yield {"scores": draw.normal(T, T, scale=1.5)}


MASK = "torch.full((T, T), -torch.inf).triu(1)"

causal_mask = Exercise(
    name="gpt.causal_mask",
    cases=mask_cases,
    rule=Rule("close", 1e-5, axes={"": "T T"}),
    mistakes=(
        Mistake(
            "the diagonal masked too",
            "Your first row is NaN: its word may see nothing at all, not even itself, and a softmax over nothing is 0/0.",
            {".triu(1)": ".triu(0)"},
        ),
        Mistake(
            "transposed",
            "Your first row sees everything and your last row one word: rows are the words that look.",
            {".triu(1)": ".triu(1).T"},
        ),
        Mistake(
            "nothing hidden",
            "Your weights are those without a mask.",
            {MASK: "torch.zeros(T, T)"},
        ),
        Mistake(
            "the next word may be seen",
            "Each of your words sees one word too many: exactly the one it has to predict.",
            {".triu(1)": ".triu(2)"},
        ),
        Mistake(
            "plus infinity",
            "Your weights are NaN wherever something should be hidden. Which number has the exponential 0?",
            {"-torch.inf": "torch.inf"},
        ),
        Mistake(
            "True and False",
            "Your mask adds 1 to the scores of one triangle. It is going to be added: True counts as 1, False as 0.",
            {MASK: "torch.ones(T, T, dtype=torch.bool).tril()"},
        ),
        Mistake(
            "ones and minus infinity off the diagonal only",
            "Each of your words sees itself alone.",
            {MASK: "torch.full((T, T), -torch.inf).fill_diagonal_(0)"},
        ),
        Mistake(
            "minus ten instead of minus infinity",
            "What should be hidden keeps a little weight with you: no finite number is low enough for every score.",
            {"-torch.inf": "-10.0"},
        ),
    ),
    alternatives={
        "the smallest number there is": """
def causal_mask(T):
    return torch.full((T, T), torch.finfo(torch.float32).min).triu(diagonal=1)
""",
        "from the mask of 04": """
def causal_mask(T):
    keep = torch.arange(T)[:, None] >= torch.arange(T)
    return torch.zeros(T, T).masked_fill(~keep, float("-inf"))
""",
        "a logarithm": """
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.float64).tril().log()
""",
        "two loops and numpy": """
import numpy as np
def causal_mask(T):
    return torch.tensor(np.array([[0.0 if j <= i else -np.inf for j in range(T)] for i in range(T)]))
""",
    },
    hints=(
        "What has to be added to a score so that its weight after the softmax is exactly 0? And so that nothing changes?",
        "In: a number. Out: (T, T) of 0 and −∞. Row i belongs to the word that looks, column j to the word that is looked at.",
        "for each i, for each j:\n    0 where j is not later than i\n    minus infinity where it is",
        "Near miss: a triangle of ones times −∞ has NaN in its other half: 0 · ∞ is not 0. Fill with −∞ first, then put zeros where the past is.",
    ),
)

# ------------------------------------------------------------------------------------------ causal attention


def attention_cases(draw: Draw) -> Iterator[Case]:
    for B, H, T, d in ((2, 3, 4, 5), (3, 1, 6, 8), (1, 4, 5, 3)):
        yield {"q": draw.normal(B, H, T, d), "k": draw.normal(B, H, T, d), "v": draw.normal(B, H, T, d)}


SCORES = "q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5"
MASKED = "scores + causal_mask(q.shape[-2])"

causal_attention = Exercise(
    name="gpt.causal_attention",
    cases=attention_cases,
    rule=Rule("close", 1e-4, axes={"": "B H T d"}),
    uses=("gpt.causal_mask",),
    mistakes=(
        Mistake(
            "no mask",
            "Your last position is right, the earlier ones are not: they have seen the future.",
            {MASKED: "scores"},
        ),
        Mistake(
            "the mask subtracted",
            "Your rows are NaN wherever something should be hidden: minus minus infinity is plus infinity. The mask is added.",
            {MASKED: "scores - causal_mask(q.shape[-2])"},
        ),
        Mistake(
            "the mask transposed",
            "Your first position sees every word and your last one itself alone: past and future have changed places.",
            {MASKED: "scores + causal_mask(q.shape[-2]).T"},
        ),
        Mistake(
            "no scaling", "Your weights are more decided than they should be.", {" / q.shape[-1] ** 0.5": ""}
        ),
        Mistake(
            "divided by d instead of √d",
            "Your weights are too even: the scores were divided by too much.",
            {" ** 0.5": ""},
        ),
        Mistake(
            "scaled by the number of words",
            "Your weights are off wherever T and d differ. Each score is a sum over d products.",
            {"q.shape[-1] ** 0.5": "q.shape[-2] ** 0.5"},
        ),
        Mistake(
            "softmax over the queries",
            "Your columns add up to 1, where the rows should: the words that look compete for a word.",
            {"softmax(dim=-1)": "softmax(dim=-2)"},
        ),
        Mistake(
            "hidden after the softmax",
            "The weights that remain add up to less than 1: the future had taken its share before it was removed.",
            {f"({MASKED}).softmax(dim=-1)": "scores.softmax(dim=-1).tril()"},
        ),
        Mistake(
            "future scores set to 0",
            "A score of 0 is not a weight of 0: the softmax gives it exp(0) = 1 before dividing.",
            {MASKED: "scores.tril()"},
        ),
        Mistake(
            "queries and keys exchanged",
            "Your keys ask and your queries answer: the scores are transposed.",
            {"q @ k.transpose(-2, -1)": "k @ q.transpose(-2, -1)"},
        ),
        Mistake(
            "the weights returned",
            "You return the weights, or mix something that is not the values.",
            {"return weights @ v": "return weights @ k"},
        ),
    ),
    alternatives={
        "F.scaled_dot_product_attention": """
def causal_attention(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
        "position by position, without a mask": """
def causal_attention(q, k, v):
    out = []
    for t in range(q.shape[2]):
        scores = torch.einsum("bhd,bhsd->bhs", q[:, :, t], k[:, :, : t + 1]) / q.shape[-1] ** 0.5
        out.append(torch.einsum("bhs,bhsd->bhd", scores.softmax(-1), v[:, :, : t + 1]))
    return torch.stack(out, dim=2)
""",
        "float64 and exponentials": """
def causal_attention(q, k, v):
    scores = q.double() @ k.double().mT / q.shape[-1] ** 0.5
    exponentials = scores.exp().tril()
    return exponentials / exponentials.sum(-1, keepdim=True) @ v.double()
""",
        "finfo.min as the mask": """
def causal_attention(q, k, v):
    T = q.shape[-2]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = (q / q.shape[-1] ** 0.5) @ k.transpose(-2, -1)
    return scores.masked_fill(later, torch.finfo(scores.dtype).min).softmax(-1) @ v
""",
    },
    hints=(
        "It is the attention of 02 with one line more. Where does the line stand: before the softmax or after it? Try both on paper for two words.",
        "q, k, v: (B, H, T, d). scores and weights: (B, H, T, T). The mask (T, T) stretches over batch and heads by itself.",
        "scores = every query with every key, scaled\nadd the mask\nweights = softmax over the keys\nreturn weighted sums of the values",
        "Near miss: `weights.tril()` after the softmax removes the future's weights but leaves rows that no longer add up to 1.",
    ),
)

# ------------------------------------------------------------------------------------------ shifted loss


def loss_cases(draw: Draw) -> Iterator[Case]:
    for batch, T, V in ((3, 5, 9), (2, 8, 12), (5, 6, 7), (4, 7, 10)):
        pad = int(draw.integers(0, V))
        words = np.delete(np.arange(V), pad)
        ids = words[draw.integers(0, V - 1, batch, T)]
        lengths = draw.integers(2, T, batch)
        lengths[0] = T
        ids[np.arange(T) >= lengths[:, None]] = pad
        yield {"logits": draw.normal(batch, T, V, scale=2.0), "ids": ids, "pad": pad}


PREDICTED = "predicted, target = logits[:, :-1], ids[:, 1:]"
CROSS = "torch.nn.functional.cross_entropy(predicted.flatten(0, 1), target.flatten(), ignore_index=pad)"

shift_loss = Exercise(
    name="gpt.shift_loss",
    cases=loss_cases,
    rule=Rule("close", 1e-4),
    mistakes=(
        Mistake(
            "not shifted",
            "You score each position on the very token that stands there. It has seen that token; what it has to say is the next one.",
            {PREDICTED: "predicted, target = logits, ids"},
        ),
        Mistake(
            "shifted twice",
            "You score position t on token t + 2. One shift too many; it happens easily when a data set has shifted the labels already.",
            {PREDICTED: "predicted, target = logits[:, :-2], ids[:, 2:]"},
        ),
        Mistake(
            "shifted the wrong way",
            "You score position t on token t − 1, which it has read long ago.",
            {PREDICTED: "predicted, target = logits[:, 1:], ids[:, :-1]"},
        ),
        Mistake(
            "the first token comes round as the last target",
            "Your last position has to predict the first token of its sentence. It has nothing to predict: leave it out.",
            {PREDICTED: "predicted, target = logits, ids.roll(-1, dims=1)"},
        ),
        Mistake(
            "padding counted",
            "You are right for sentences without padding. In the others the model would be taught to write padding.",
            {", ignore_index=pad": ""},
        ),
        Mistake(
            "the sum",
            "Your loss grows with the number of tokens: the docstring asks for the mean.",
            {"ignore_index=pad": 'ignore_index=pad, reduction="sum"'},
        ),
        Mistake(
            "the mean of the sentences' means",
            "You average within each sentence first, so that a word of a short sentence counts for more. Every predicted token counts the same.",
            {
                f"return {CROSS}": "losses = torch.nn.functional.cross_entropy(predicted.transpose(1, 2), target, ignore_index=pad, "
                'reduction="none")\n    return (losses.sum(1) / (target != pad).sum(1)).mean()'
            },
        ),
        Mistake(
            "padding divides too",
            "Padding adds nothing to your sum but is counted when you divide.",
            {
                f"return {CROSS}": "losses = torch.nn.functional.cross_entropy(predicted.flatten(0, 1), target.flatten(), ignore_index=pad, "
                'reduction="none")\n    return losses.mean()'
            },
        ),
        Mistake(
            "probabilities given to cross-entropy",
            "A softmax is taken twice: cross-entropy wants logits.",
            {"predicted.flatten(0, 1)": "predicted.flatten(0, 1).softmax(dim=-1)"},
        ),
        Mistake(
            "bits instead of nats",
            "Your loss is in bits. The course counts in nats, with the natural logarithm.",
            {CROSS: f"{CROSS} / 0.6931471805599453"},
        ),
    ),
    alternatives={
        "log-probabilities gathered": """
def shift_loss(logits, ids, pad):
    log_p = logits[:, :-1].double().log_softmax(-1)
    chosen = log_p.gather(-1, ids[:, 1:, None])[..., 0]
    return -chosen[ids[:, 1:] != pad].mean()
""",
        "labels of −100, as in Hugging Face": """
def shift_loss(logits, ids, pad):
    labels = ids.masked_fill(ids == pad, -100)
    labels = torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], -100)], dim=1)
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels)
""",
        "two loops": """
def shift_loss(logits, ids, pad):
    losses = []
    for b in range(len(ids)):
        for t in range(ids.shape[1] - 1):
            if ids[b, t + 1] != pad:
                losses.append(torch.logsumexp(logits[b, t], 0) - logits[b, t, ids[b, t + 1]])
    return sum(losses) / len(losses)
""",
    },
    hints=(
        "Write three tokens a b c in a row. Which logits should make b probable? Which c? What is left over?",
        "logits: (B, T, V), ids: (B, T). Both lose one column, at different ends: (B, T−1, V) and (B, T−1). Out: one number.",
        "predictions = all positions but the last\ntargets = all tokens but the first\nmean of −log p(target), over the targets that are not pad",
        "Near miss: leaving out positions whose input is padding counts one target too many: from the last word of a sentence, its first pad is predicted.",
    ),
)

# ------------------------------------------------------------------------------------------ sampling


def sample_cases(draw: Draw) -> Iterator[Case]:
    for rows, V, k, temperature in ((24, 9, 4, 0.6), (30, 12, 7, 1.7), (20, 7, 3, 2.5)):
        logits = draw.normal(rows, V, scale=1.5)
        draws = draw.uniform(rows, low=0.02, high=0.98)
        draws[0] = 0.0  # the first token that has a probability at all
        logits[0, 0] = logits[0].min() - 1
        yield {"logits": logits, "draws": draws, "temperature": temperature, "k": k}


CUT = "logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)"
INVERSE = "(probabilities.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)"

sample = Exercise(
    name="gpt.sample",
    cases=sample_cases,
    rule=Rule("close", 1e-4, axes={"0": "B V", "1": "B"}),
    mistakes=(
        Mistake(
            "logits multiplied by the temperature",
            "High temperatures make your probabilities sharper and low ones flatter: it is the other way round.",
            {" / temperature)": " * temperature)"},
        ),
        Mistake(
            "no temperature",
            "Your probabilities do not depend on the temperature.",
            {" / temperature)": ")"},
        ),
        Mistake(
            "nothing cut off",
            "All tokens keep a probability with you; only k may.",
            {CUT: "logits"},
        ),
        Mistake(
            "one token too many",
            "One more token than k keeps its probability.",
            {"logits.topk(k)": "logits.topk(k + 1)"},
        ),
        Mistake(
            "the k least probable kept",
            "You keep the tail and cut off the head.",
            {CUT: "logits.masked_fill(logits > logits.topk(k, largest=False).values[:, -1:], -torch.inf)"},
        ),
        Mistake(
            "cut after the softmax",
            "Your probabilities no longer add up to 1: what was cut off has to be given to those that stay.",
            {
                "probabilities = (kept / temperature).softmax(dim=-1)": "probabilities = (logits / temperature).softmax(dim=-1)"
                ".masked_fill(kept == -torch.inf, 0)"
            },
        ),
        Mistake(
            "always the most probable token",
            "Your probabilities are right, but the draws are not used: the most probable token comes every time.",
            {INVERSE: "probabilities.argmax(dim=-1)"},
        ),
        Mistake(
            "ranks instead of tokens",
            "Your probabilities are right. The numbers you return are ranks among the sorted tokens: they have to be turned back into ids.",
            {
                INVERSE: "(probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)"
            },
        ),
        Mistake(
            "counted from the other end",
            "Your probabilities are right. You add them up from the last token; the docstring begins with token 0.",
            {INVERSE: "(probabilities.cumsum(dim=-1) > 1 - draws[:, None]).int().argmax(dim=-1)"},
        ),
        Mistake(
            "probabilities divided by the temperature",
            "Your probabilities do not add up to 1: the temperature divides logits, before the softmax.",
            {"(kept / temperature).softmax(dim=-1)": "kept.softmax(dim=-1) / temperature"},
        ),
        Mistake(
            "one token short",
            "Your probabilities are right. Your token is the last one below the draw; asked is the first above.",
            {INVERSE: f"({INVERSE} - 1).clamp(min=0)"},
        ),
    ),
    alternatives={
        "searchsorted, in float64": """
def sample(logits, draws, temperature, k):
    best = logits.topk(k, dim=-1)
    kept = torch.full_like(logits, -torch.inf).scatter(1, best.indices, best.values)
    probabilities = torch.softmax(kept.double() / temperature, dim=-1)
    return probabilities, torch.searchsorted(probabilities.cumsum(-1), draws.double()[:, None], right=True)[:, 0]
""",
        "powers of probabilities, row by row": """
def sample(logits, draws, temperature, k):
    all_probabilities, tokens = [], []
    for row, draw in zip(logits, draws):
        p = row.softmax(0) ** (1 / temperature)
        p[row.argsort(descending=True)[k:]] = 0
        p = p / p.sum()
        total = 0.0
        for token in range(len(p)):
            total += p[token].item()
            if total > draw.item():
                break
        all_probabilities.append(p)
        tokens.append(token)
    return torch.stack(all_probabilities), torch.tensor(tokens)
""",
        "numpy": """
import numpy as np
def sample(logits, draws, temperature, k):
    z = logits.numpy() / temperature
    kept = np.where(z >= np.sort(z, axis=1)[:, [-k]], z, -np.inf)
    p = np.exp(kept - kept.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p, (p.cumsum(axis=1) <= draws.numpy()[:, None]).sum(axis=1)
""",
    },
    hints=(
        "Lay the probabilities side by side on a line from 0 to 1. A draw is a point on it. Which token owns that point?",
        "logits, probabilities: (B, V). draws and tokens: (B). The k-th largest logit of each row: (B, 1), to compare with.",
        "kept = logits, minus infinity where they are not among the k largest\nprobabilities = softmax of kept divided by the temperature\n"
        "running = running sums of the probabilities along the vocabulary\ntoken = first place where running is greater than the draw",
        "Near miss: setting small probabilities to 0 leaves a row that adds up to less than 1, and draws near 1 then find no token at all.",
    ),
)

# ------------------------------------------------------------------------------------------ top-p


def top_p_cases(draw: Draw) -> Iterator[Case]:
    for rows, V, p in ((12, 8, 0.7), (9, 14, 0.9), (15, 6, 0.45)):
        logits = draw.normal(rows, V, scale=1.5)
        logits[0, V // 2] = logits[0].max() + 6  # one token alone passes p
        probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        yield {"probabilities": probabilities.astype(np.float32), "p": p}


KEPT = "ordered.masked_fill(before >= p, 0)"
BEFORE = "before = ordered.cumsum(dim=-1) - ordered"

top_p = Exercise(
    name="gpt.top_p",
    cases=top_p_cases,
    rule=Rule("close", 1e-4, axes={"": "B V"}),
    mistakes=(
        Mistake(
            "the crossing token dropped",
            "Your tokens together stay below p (and where one token alone passes p, nothing is left: 0/0). The token that crosses p belongs to them.",
            {"before >= p": "before + ordered > p"},
        ),
        Mistake(
            "one token too many",
            "You keep one token after p has been reached.",
            {BEFORE: "before = torch.nn.functional.pad((ordered.cumsum(dim=-1) - ordered), (1, 0))[:, :-1]"},
        ),
        Mistake(
            "not normalised",
            "What is left does not add up to 1.",
            {"return kept / kept.sum(dim=-1, keepdim=True)": "return kept"},
        ),
        Mistake(
            "tokens with at least p",
            "You compare each probability by itself with p. What has to reach p is their sum.",
            {
                "before >= p": "(ordered < p) & (ordered < ordered[:, :1])",
            },
        ),
        Mistake(
            "not sorted",
            "You add up in the order of the vocabulary: begin with the most probable token.",
            {
                "probabilities.sort(dim=-1, descending=True)": "probabilities, torch.arange(probabilities.shape[1]).expand(probabilities.shape)"
            },
        ),
        Mistake(
            "sorted upwards",
            "You keep the least probable tokens.",
            {"descending=True": "descending=False"},
        ),
        Mistake(
            "left in sorted order",
            "Your numbers are right, but they stand in order of size: each has to go back to its own token.",
            {"torch.zeros_like(probabilities).scatter(-1, tokens, kept)": "kept"},
        ),
        Mistake(
            "sorted back by the wrong permutation",
            "Your numbers are right, but stand at wrong tokens: the order that sorts is not the order that brings back.",
            {"torch.zeros_like(probabilities).scatter(-1, tokens, kept)": "kept.gather(-1, tokens)"},
        ),
        Mistake(
            "p is what is cut off",
            "You remove p and keep the rest: with a larger p you keep less.",
            {"before >= p": "before >= 1 - p"},
        ),
    ),
    alternatives={
        "from an ascending sort": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.double().sort(dim=-1)
    gone = ordered.cumsum(-1) <= 1 - p
    kept = ordered.masked_fill(gone, 0).scatter(-1, tokens, ordered.masked_fill(gone, 0))
    return kept / kept.sum(-1, keepdim=True)
""",
        "one token after the other": """
def top_p(probabilities, p):
    kept = torch.zeros_like(probabilities)
    for row, out in zip(probabilities, kept):
        total = 0.0
        for token in row.argsort(descending=True):
            if total >= p:
                break
            out[token] = row[token]
            total += row[token].item()
    return kept / kept.sum(1, keepdim=True)
""",
        "a threshold found for each row": """
import numpy as np
def top_p(probabilities, p):
    values = probabilities.numpy().astype(np.float64)
    ordered = -np.sort(-values, axis=1)
    last = (ordered.cumsum(axis=1) < p).sum(axis=1)
    threshold = np.take_along_axis(ordered, last[:, None], axis=1)
    kept = np.where(values >= threshold, values, 0)
    return kept / kept.sum(axis=1, keepdims=True)
""",
        "logits, as in Hugging Face": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    remove = ordered.cumsum(dim=-1) > p
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    remove = remove.scatter(1, tokens, remove)
    return probabilities.log().masked_fill(remove, -torch.inf).softmax(-1)
""",
    },
    survivors={
        "before > p": "a running sum that is exactly p does not come up",
    },
    hints=(
        "Sort 0.5, 0.3, 0.15, 0.05 and take p = 0.6. Which tokens do you need so that they have at least 0.6 together?",
        "probabilities, sorted probabilities, running sums: (B, V). Sorting also tells where each value came from: (B, V) of ids. Out: (B, V), in the vocabulary's order.",
        "sort each row downwards\nfor each token: how much do the more probable ones have together?\nkeep it if that is still less than p\n"
        "put the kept ones back to their own tokens; divide by their sum",
        "Near miss: keeping where the running sum including the token is at most p drops the token that crosses p; with one sure token it drops everything.",
    ),
)

# ------------------------------------------------------------------------------------------ key–value cache


def cache_cases(draw: Draw) -> Iterator[Case]:
    for B, L, H, t, d, V in ((2, 2, 3, 4, 5, 11), (3, 3, 2, 6, 4, 9), (4, 2, 1, 3, 6, 13)):
        D = H * d
        yield {
            "token": draw.integers(0, V, B),
            "words": draw.normal(V, D),
            "places": draw.normal(t + 3, D),
            "W_qkv": draw.normal(L, D, 3 * D, scale=D**-0.5),
            "W_o": draw.normal(L, D, D, scale=D**-0.5),
            "keys": draw.normal(L, B, H, t, d),
            "values": draw.normal(L, B, H, t, d),
        }


ATTEND = "weights = ((k @ q[..., None])[..., 0] / q.shape[-1] ** 0.5).softmax(dim=-1)"

step_with_cache = Exercise(
    name="gpt.step_with_cache",
    cases=cache_cases,
    rule=Rule("close", 1e-4, axes={"0": "B V", "1": "L B H t+1 d", "2": "L B H t+1 d"}),
    mistakes=(
        Mistake(
            "cached positions restart at 0",
            "Your word stands at position 0, whatever came before it. Where does it stand when t words are in the cache?",
            {"gpt.embed(token, keys.shape[3])": "gpt.embed(token, 0)"},
        ),
        Mistake(
            "one position too far",
            "Your word stands one place too far to the right: t words before it take the places 0 to t − 1.",
            {"gpt.embed(token, keys.shape[3])": "gpt.embed(token, keys.shape[3] + 1)"},
        ),
        Mistake(
            "the new word does not see itself",
            "The cache you return is right, but your word attends to the old words alone.",
            {
                ATTEND: ATTEND.replace("(k @", "(k[:, :, :-1] @"),
                "(weights[..., None] * v)": "(weights[..., None] * v[:, :, :-1])",
            },
        ),
        Mistake(
            "the cache not used",
            "The cache you return is right, but your word attends to itself alone, as if it were the first.",
            {
                ATTEND: ATTEND.replace("(k @", "(k[:, :, -1:] @"),
                "(weights[..., None] * v)": "(weights[..., None] * v[:, :, -1:])",
            },
        ),
        Mistake(
            "the old cache returned",
            "Your logits are right. The cache you return lacks the new word: the next step would forget it.",
            {"torch.stack(new_keys), torch.stack(new_values)": "keys, values"},
        ),
        Mistake(
            "the new word put in front",
            "Your logits are right. In the cache the new word stands before the old ones.",
            {
                "torch.cat([old_k, k[:, :, None]], dim=2)": "torch.cat([k[:, :, None], old_k], dim=2)",
                "torch.cat([old_v, v[:, :, None]], dim=2)": "torch.cat([v[:, :, None], old_v], dim=2)",
            },
        ),
        Mistake(
            "all layers read the first layer's cache",
            "Your first layer is right; the later ones look into the cache of the first. Each layer has its own.",
            {
                "zip(gpt.layers, keys, values)": "zip(gpt.layers, [keys[0]] * len(keys), [values[0]] * len(values))"
            },
        ),
        Mistake(
            "every layer starts from the embedding",
            "Your first layer's cache is right, the others' are not: each layer reads what the layer below it wrote.",
            {"q, k, v = layer.project(x)": "q, k, v = layer.project(gpt.embed(token, keys.shape[3]))"},
        ),
        Mistake(
            "no scaling", "Your weights are more decided than they should be.", {" / q.shape[-1] ** 0.5": ""}
        ),
        Mistake(
            "keys and values have changed places",
            "Your logits are right. What you return as keys are the values, and the other way round.",
            {
                "torch.stack(new_keys), torch.stack(new_values)": "torch.stack(new_values), torch.stack(new_keys)"
            },
        ),
        Mistake(
            "softmax over the heads",
            "Your weights add up to 1 over the heads. Each head spreads its own attention over the words.",
            {"softmax(dim=-1)": "softmax(dim=1)"},
        ),
    ),
    alternatives={
        "F.scaled_dot_product_attention": """
def step_with_cache(token, gpt, keys, values):
    x, cache = gpt.embed(token, keys.shape[-2]), ([], [])
    for number, layer in enumerate(gpt.layers):
        q, k, v = (part[:, :, None] for part in layer.project(x))
        k, v = torch.cat([keys[number], k], -2), torch.cat([values[number], v], -2)
        x = layer.finish(x, torch.nn.functional.scaled_dot_product_attention(q, k, v)[:, :, 0])
        cache[0].append(k)
        cache[1].append(v)
    return gpt.logits(x), torch.stack(cache[0]), torch.stack(cache[1])
""",
        "room made first, einsum": """
def step_with_cache(token, gpt, keys, values):
    L, B, H, t, d = keys.shape
    keys, values = (torch.cat([old, torch.zeros(L, B, H, 1, d)], dim=3) for old in (keys, values))
    x = gpt.embed(token, t)
    for number, layer in enumerate(gpt.layers):
        q, keys[number, :, :, t], values[number, :, :, t] = layer.project(x)
        scores = torch.einsum("bhd,bhsd->bhs", q / d**0.5, keys[number])
        x = layer.finish(x, torch.einsum("bhs,bhsd->bhd", scores.softmax(-1), values[number]))
    return gpt.logits(x), keys, values
""",
        "head by head, in float64": """
def step_with_cache(token, gpt, keys, values):
    x, all_k, all_v = gpt.embed(token, keys.shape[3]), [], []
    for layer, k_old, v_old in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([k_old, k.unsqueeze(2)], 2), torch.cat([v_old, v.unsqueeze(2)], 2)
        heads = []
        for h in range(q.shape[1]):
            scores = (k[:, h].double() * q[:, h, None].double()).sum(-1) / q.shape[2] ** 0.5
            w = scores.softmax(-1)
            heads.append((w[:, :, None] * v[:, h].double()).sum(1).float())
        x = layer.finish(x, torch.stack(heads, dim=1))
        all_k.append(k)
        all_v.append(v)
    return gpt.logits(x), torch.stack(all_k), torch.stack(all_v)
""",
    },
    survivors={
        "[..., -1]": "the product with one query leaves an axis of size 1, whose first entry is its last",
    },
    hints=(
        "The new word asks. Whom may it ask, and which of their keys and values are already there? At which position does it stand?",
        "x: (B, D). q, k, v of the new word: (B, H, d). One layer's cache: (B, H, t, d), with the new word (B, H, t+1, d). Weights: (B, H, t+1).",
        "x = embedding of the token at position t\nfor each layer with its part of the cache:\n    q, k, v = project(x)\n    append k and v to this layer's cache\n"
        "    attend with q to all t + 1 words\n    x = finish(x, what attention gave)\nreturn the logits of x, and the stacked caches",
        "Near miss: without any mask and with the old cache alone, everything has the right shape, and the new word is the only one it cannot see.",
    ),
)

# ------------------------------------------------------------------------------------------ few-shot prompt


def prompt_cases(draw: Draw) -> Iterator[Case]:
    def some(low: int, high: int) -> list[int]:
        return [int(one) for one in draw.integers(10, 500, int(draw.integers(low, high)))]

    for count, marks in ((3, 2), (0, 1), (5, 3), (1, 2)):
        yield {
            "texts": [some(3, 8) for _ in range(count)],
            "labels": [some(1, 3) for _ in range(count)],
            "query": some(4, 9),
            "mark": np.array(some(marks, marks + 1)),
            "end": np.array(some(5 - marks, 6 - marks)),
        }


DEMO = "prompt += [*text, *mark, *label, *end]"
QUERY = "torch.tensor(prompt + [*query, *mark])"

few_shot_prompt = Exercise(
    name="gpt.few_shot_prompt",
    cases=prompt_cases,
    rule=Rule("equal", axes={"": "tokens"}),
    mistakes=(
        Mistake(
            "no mark behind the query",
            "Your prompt ends with the query's text. The model would go on writing the text: what tells it that a label is wanted?",
            {QUERY: "torch.tensor(prompt + [*query])"},
        ),
        Mistake(
            "end behind the query's mark",
            "Your prompt says that the query's answer is over before the model has given it.",
            {QUERY: "torch.tensor(prompt + [*query, *mark, *end])"},
        ),
        Mistake(
            "examples not separated",
            "The next text begins right behind a label: `end` is missing between the examples.",
            {DEMO: "prompt += [*text, *mark, *label]"},
        ),
        Mistake(
            "no mark in the examples",
            "In your examples the label follows the text directly, and in the query it does not: an example has to look like the query.",
            {DEMO: "prompt += [*text, *label, *end]"},
        ),
        Mistake(
            "the label before the mark",
            "In your examples the label stands before the mark; in the query it is to be written behind it.",
            {DEMO: "prompt += [*text, *label, *mark, *end]"},
        ),
        Mistake(
            "the query first",
            "Your query stands before the examples. A decoder reads from left to right: what would it have learnt when it comes to the query?",
            {QUERY: "torch.tensor([*query, *mark] + prompt)"},
        ),
        Mistake(
            "examples in reverse order",
            "Your examples come in reverse order. It may matter: the last one is nearest to the query.",
            {"in demos:": "in demos[::-1]:"},
        ),
        Mistake(
            "all texts, then all labels",
            "Your texts come first and their labels after them all.",
            {
                "    for text, label in demos:": "    for text, _ in demos:\n        prompt += [*text, *mark]\n    for _, label in demos:",
                DEMO: "prompt += [*label, *end]",
            },
        ),
        Mistake(
            "only the last example",
            "Only your last example is left in the prompt.",
            {DEMO: "prompt = [*text, *mark, *label, *end]"},
        ),
        Mistake(
            "labels in front",
            "Your labels come before their texts. With the query the label is to be written at the end.",
            {DEMO: "prompt += [*label, *mark, *text, *end]"},
        ),
    ),
    alternatives={
        "tensors joined": """
def few_shot_prompt(demos, query, mark, end):
    parts = []
    for text, label in demos:
        parts += [torch.tensor(text), mark, torch.tensor(label), end]
    return torch.cat([*parts, torch.tensor(query), mark])
""",
        "one comprehension": """
def few_shot_prompt(demos, query, mark, end):
    return torch.tensor([i for t, l in demos for i in (*t, *mark.tolist(), *l, *end.tolist())] + list(query) + mark.tolist())
""",
        "numpy": """
import numpy as np
def few_shot_prompt(demos, query, mark, end):
    blocks = [np.concatenate([text, mark.numpy(), label, end.numpy()]) for text, label in demos]
    return np.concatenate([*blocks, np.array(query), mark.numpy()]).astype(np.int64)
""",
    },
    hints=(
        "The model only ever continues a text. What must stand at the very end so that the label is the natural next token?",
        "demos: pairs of two lists of ids. query: a list. mark, end: tensors of ids. Out: one tensor of ids, in one row.",
        "for each example: its text, mark, its label, end\nthen the query's text and mark\nnothing after that",
        "Near miss: leaving out `end` after the last example, as one would between items of a list, glues the query to the last label.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def label_cases(draw: Draw) -> Iterator[Case]:
    for batch, T in ((4, 7), (5, 10), (3, 8)):
        end = int(draw.integers(5, 20))
        ids = draw.integers(20, 90, batch, T)
        lengths = draw.integers(2, T - 2, batch)
        lengths[0], lengths[1] = T, T - 1  # cut off before it ended; ends in the last column
        ids[np.arange(T) >= lengths[:, None]] = end
        yield {"ids": ids, "end": end}


IGNORED = "ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)"

mended_labels = Exercise(
    name="gpt.mended_labels",
    mends=True,
    cases=label_cases,
    rule=Rule("equal", axes={"": "B T"}),
    mistakes=(
        Mistake(
            "the code as it was",
            "This is the code of 2023: with it no `end` at all is a target.",
            {IGNORED: "ids.masked_fill(ids == end, -100)"},
        ),
        Mistake(
            "nothing ignored",
            "All padding is a target with you: the model would be taught to write it, and half of its loss may be about nothing else.",
            {IGNORED: "ids.clone()"},
        ),
        Mistake(
            "only the first end ignored",
            "It is the other way round: the first `end` of a row is what the model has to learn, those behind it are padding.",
            {"> 1": "== 1"},
        ),
        Mistake(
            "two ends kept",
            "You keep the `end` of the sentence and one token of padding.",
            {"> 1": "> 2"},
        ),
        Mistake(
            "the last end kept",
            "You keep the `end` in the last column. Where does the sentence end?",
            {
                IGNORED: "ids.masked_fill((ids == end) & (torch.arange(ids.shape[1]) < ids.shape[1] - 1), -100)"
            },
        ),
        Mistake(
            "shifted",
            "Your labels have moved one place to the left. As in Hugging Face's models, the shift is the loss's business here.",
            {IGNORED: f"{IGNORED}.roll(-1, dims=1)"},
        ),
        Mistake(
            "zero instead of −100",
            "What is to be ignored has become token 0, which the loss does not ignore.",
            {"-100": "0"},
        ),
        Mistake(
            "the words ignored",
            "You ignore the words and keep the padding.",
            {IGNORED: "ids.masked_fill((ids == end).cumsum(dim=1) <= 1, -100)"},
        ),
    ),
    alternatives={
        "the place of the first end": """
def mended_labels(ids, end):
    T = ids.shape[1]
    is_end = ids == end
    first = torch.where(is_end.any(1), is_end.int().argmax(1), T)
    return torch.where(torch.arange(T) > first[:, None], -100, ids)
""",
        "an end whose neighbour on the left is an end": """
def mended_labels(ids, end):
    labels = ids.clone()
    again = (ids[:, 1:] == end) & (ids[:, :-1] == end)
    labels[:, 1:][again] = -100
    return labels
""",
        "a loop": """
def mended_labels(ids, end):
    labels = ids.tolist()
    for row in labels:
        if end in row:
            place = row.index(end)
            row[place + 1 :] = [-100] * (len(row) - place - 1)
    return torch.tensor(labels)
""",
    },
    hints=(
        "From which token should the model learn to stop? Mark it in the row  the cat sleeps END END END.",
        "In: (B, T) ids. Out: (B, T) labels: ids, with −100 at some places. Not shifted.",
        "count the ends of each row from the left\nwhere the count is above 1, the token is padding: −100\neverything else stays",
        "Near miss: `ids == end` says that a token looks like padding. The first one of a row looks so too.",
    ),
)

# ------------------------------------------------------------------------------------------ extension


def beam_cases(draw: Draw) -> Iterator[Case]:
    widths = (3, 4, 3, 5, 3, 3, 4, 3, 6, 5, 4, 3, 4, 6)
    sizes = [(5 + number % 5, 6 + number % 4, width) for number, width in enumerate(widths)]
    for longest, V, width in sizes:
        bos, eos, pad = (int(token) for token in draw.rng.permutation(V)[:3])
        scores = draw.normal(1, longest, V, scale=0.5)
        words = draw.normal(V, V, scale=0.8)
        scores[:, :, [bos, pad]] = -8
        words[:, [bos, pad]] = 0
        scores[:, 1:, eos] += 1.0  # sentences end early, and the beam holds finished and unfinished ones
        yield {
            "scores": scores,
            "words": words,
            "width": width,
            "longest": longest,
            "bos": bos,
            "eos": eos,
            "pad": pad,
        }


EXTENDED = "candidates = (total[:, None] + torch.where(ended[:, None], stay, log_p)).flatten()"

beam_search = Exercise(
    name="gpt.beam_search",
    cases=beam_cases,
    rule=Rule("close", 1e-4, axes={"0": "longest"}),
    mistakes=(
        Mistake(
            "a beam of one",
            "You return what greedy decoding returns: only one beginning survives each step.",
            {"candidates.topk(min(width, len(candidates)))": "candidates.topk(1)"},
        ),
        Mistake(
            "logits added up",
            "Your totals are sums of logits. They compare only after a log-softmax: each step's probabilities add up to 1.",
            {".log_softmax(dim=-1)": ""},
        ),
        Mistake(
            "probabilities added up",
            "Probabilities of steps multiply; you add them.",
            {".log_softmax(dim=-1)": ".softmax(dim=-1)"},
        ),
        Mistake(
            "finished sentences go on",
            "Your sentences go on behind eos and pay for it. A finished one stays as it is, and keeps its place in the beam.",
            {"torch.where(ended[:, None], stay, log_p)": "log_p"},
        ),
        Mistake(
            "the worst of the beam",
            "The beam is right, but you return its last sentence instead of its best.",
            {"return ids[0, 1:], total[0]": "return ids[-1, 1:], total[-1]"},
        ),
        Mistake(
            "totals forgotten",
            "You compare beginnings by their last step alone: what they cost before has to be added.",
            {"(total[:, None] + torch.where": "(0 * total[:, None] + torch.where"},
        ),
        Mistake(
            "who has ended is not carried along",
            "After a step the beginnings change places, but your notes on who has ended stay where they were.",
            {"ended = ended[rows] | (tokens == eos)": "ended = tokens == eos"},
        ),
        Mistake(
            "the least probable",
            "You keep the worst beginnings each time.",
            {
                "candidates.topk(min(width, len(candidates)))": "candidates.nan_to_num(neginf=1e9).topk(min(width, len(candidates)), largest=False)"
            },
        ),
        Mistake(
            "bos returned",
            "Your first token is bos, which nobody wrote.",
            {"return ids[0, 1:], total[0]": "return ids[0, :-1], total[0]"},
        ),
    ),
    alternatives={
        "lists of hypotheses": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam = [(0.0, [bos], False)]
    for _ in range(longest):
        grown = []
        for total, ids, ended in beam:
            if ended:
                grown.append((total, ids + [pad], True))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].double().log_softmax(-1).tolist()
            grown += [(total + value, ids + [token], token == eos) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
    return torch.tensor(beam[0][1][1:]), torch.tensor(beam[0][0])
""",
        "the best `width` of each beginning first": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids, total = torch.tensor([[bos]]), torch.zeros(1)
    for _ in range(longest):
        done = (ids == eos).any(dim=1)
        log_p = torch.log(torch.softmax(next_logits(ids)[:, -1], dim=-1))
        log_p[done] = -torch.inf
        log_p[done, pad] = 0
        values, tokens = (total[:, None] + log_p).topk(min(width, log_p.shape[1]), dim=1)
        order = values.flatten().argsort(descending=True)[:width]
        ids = torch.cat([ids[order // values.shape[1]], tokens.flatten()[order, None]], dim=1)
        total = values.flatten()[order]
    return ids[0, 1:], total[0]
""",
    },
    hints=(
        "Two beginnings survive a step, each can go on with V tokens. How many candidates are there, and by which number do you compare them?",
        "ids: (n, t), n at most width. log p of the next token: (n, V). Totals: (n). Candidates: n · V numbers; number i belongs to row i // V and token i % V.",
        "one beginning: bos, total 0\nlongest times:\n    candidates = totals + log p of each next token\n    (a finished one has a single candidate: pad, at no cost)\n"
        "    keep the `width` best, with their ids, totals and who has ended\nreturn the best one without bos, and its total",
        "Near miss: keeping the best token of each beginning gives `width` greedy searches side by side; the candidates of all beginnings compete together.",
    ),
)

EXERCISES = (
    causal_mask,
    causal_attention,
    shift_loss,
    mended_labels,
    sample,
    top_p,
    step_with_cache,
    few_shot_prompt,
    beam_search,
)
