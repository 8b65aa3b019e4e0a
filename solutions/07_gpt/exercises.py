"""07 GPT: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.judging import Rule

# ------------------------------------------------------------------------------------------ causal mask


def mask_cases(draw: Draw) -> Iterator[Case]:
    """Ordinary scores; later words that score hundreds more than the earlier ones; a single word."""
    for T in (4, 7, 11, 1):
        scores = draw.normal(T, T, scale=1.5)
        if T == 7:
            scores = np.round(8 * scores) / 8  # so large that the last bit of any other number would show
            scores[np.triu_indices(T, 1)] += 300
        yield {"scores": scores}


MASK = "torch.full((T, T), -torch.inf).triu(1)"

causal_mask = Exercise(
    cases=mask_cases,
    rule=Rule("close", 1e-5, axes={"": "T T"}),
    mistakes=(
        Mistake(
            "the diagonal masked too",
            "Your first row is NaN: its word may see nothing at all, not even itself, and a softmax over nothing is 0/0.",
            ".triu(1)", ".triu(0)",
        ),
        Mistake(
            "transposed",
            "Your first row sees everything and your last row one word: rows are the words that look.",
            ".triu(1)", ".triu(1).T",
        ),
        Mistake(
            "nothing hidden",
            "Your weights are those without a mask: what you add to the later scores is (nearly) what you add to the others.",
            MASK, "torch.zeros(T, T)",
        ),
        Mistake(
            "the next word may be seen",
            "Each of your words sees one word too many: exactly the one it has to predict.",
            ".triu(1)", ".triu(2)",
        ),
        Mistake(
            "plus infinity",
            "Your weights are NaN wherever something should be hidden. Which number has the exponential 0?",
            "-torch.inf", "torch.inf",
        ),
        Mistake(
            "a difference of 1",
            "In your mask what may be seen and what may not differ by 1 alone (True and False count as 1 and 0). It is going to be added to scores: "
            "that is no wall.",
            MASK, "torch.ones(T, T, dtype=torch.bool).tril()",
        ),
        Mistake(
            "1 for what is hidden",
            "Your mask adds 1 to the scores of the *later* words, which makes them more probable (True counts as 1).",
            MASK, "torch.ones(T, T, dtype=torch.bool).triu(1)",
        ),
        Mistake(
            "zero times infinity",
            "All your weights are NaN: a triangle of zeros and ones was multiplied by ∞, and 0 · ∞ is not 0. Fill with −∞ and put zeros where the past is.",
            MASK, "torch.ones(T, T).triu(1) * -torch.inf",
        ),
        Mistake(
            "ones and minus infinity off the diagonal only",
            "Each of your words sees itself alone.",
            MASK, "torch.full((T, T), -torch.inf).fill_diagonal_(0)",
        ),
        Mistake(
            "a small negative number instead of minus infinity",
            "What should be hidden keeps some weight with you, or all of it where its score is high: your number is not low enough for every score.",
            "-torch.inf", "-10.0",
            also=(
                """
def causal_mask(T):
    return torch.full((T, T), -100.0).triu(1)
""",
                """
def causal_mask(T):
    return torch.full((T, T), -5.0).triu(1)
""",
            ),
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
    cases=attention_cases,
    rule=Rule(axes={"": "B H T d"}),
    uses=("gpt.causal_mask",),
    mistakes=(
        Mistake(
            "no mask",
            "Your last position is right, the earlier ones are not: they have seen the future.",
            MASKED, "scores",
        ),
        Mistake(
            "the mask subtracted",
            "Your rows are NaN wherever something should be hidden: minus minus infinity is plus infinity. The mask is added.",
            MASKED, "scores - causal_mask(q.shape[-2])",
        ),
        Mistake(
            "the mask transposed",
            "Your first position sees every word and your last one itself alone: past and future have changed places.",
            MASKED, "scores + causal_mask(q.shape[-2]).T",
        ),
        Mistake(
            "no scaling", "Your weights are more decided than they should be.", " / q.shape[-1] ** 0.5", ""
        ),
        Mistake(
            "divided by d instead of √d",
            "Your weights are too even: the scores were divided by too much.",
            " ** 0.5", "",
        ),
        Mistake(
            "scaled by the number of words",
            "Your weights are off wherever T and d differ. Each score is a sum over d products.",
            "q.shape[-1] ** 0.5", "q.shape[-2] ** 0.5",
        ),
        Mistake(
            "softmax over the queries",
            "Your columns add up to 1, where the rows should: the words that look compete for a word.",
            "softmax(dim=-1)", "softmax(dim=-2)",
        ),
        Mistake(
            "hidden after the softmax",
            "The weights that remain add up to less than 1: the future had taken its share before it was removed.",
            f"({MASKED}).softmax(dim=-1)", "scores.softmax(dim=-1).tril()",
        ),
        Mistake(
            "future scores set to 0",
            "A score of 0 is not a weight of 0: the softmax gives it exp(0) = 1 before dividing.",
            MASKED, "scores.tril()",
        ),
        Mistake(
            "queries and keys exchanged",
            "Your keys ask and your queries answer: the scores are transposed.",
            "q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)",
        ),
        Mistake(
            "multiplied by √d",
            "Your weights are far too decided: the scores are to be divided by √d, and you multiply.",
            "q @ k.transpose(-2, -1) / q.shape[-1]", "q @ k.transpose(-2, -1) * q.shape[-1]",
        ),
        Mistake(
            "the keys mixed",
            "Your weights are right, but it is the keys that you mix with them. What a word hands on is its value.",
            "return weights @ v", "return weights @ k",
        ),
        Mistake(
            "the weights returned",
            "You return the weights themselves, (B, H, T, T). Each position is to get the sum of the values, weighted with its row.",
            "return weights @ v", "return weights",
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
    """Sentences of several lengths, one without padding; pad is 0 or another id, and may stand in front or inside."""
    for batch, T, V, anywhere in ((3, 5, 9, False), (2, 8, 12, False), (5, 6, 7, True), (4, 7, 10, True)):
        pad = 0 if V == 12 else int(draw.integers(1, V))
        words = np.delete(np.arange(V), pad)
        ids = words[draw.integers(0, V - 1, batch, T)]
        lengths = draw.integers(2, T, batch)
        lengths[:2] = T, T - 2
        ids[np.arange(T) >= lengths[:, None]] = pad
        if anywhere:
            ids[0, 2] = pad
            ids[1] = ids[1, ::-1]
            ids[2, 1:] = pad  # nothing is predicted there
        yield {"logits": draw.normal(batch, T, V, scale=2.0), "ids": ids, "pad": pad}


PREDICTED = "predicted, target = logits[:, :-1], ids[:, 1:]"
CROSS = "torch.nn.functional.cross_entropy(predicted.flatten(0, 1), target.flatten(), ignore_index=pad)"

shift_loss = Exercise(
    cases=loss_cases,
    mistakes=(
        Mistake(
            "not shifted",
            "You score each position on the very token that stands there. It has seen that token; what it has to say is the next one.",
            PREDICTED, "predicted, target = logits, ids",
        ),
        Mistake(
            "shifted twice",
            "You score position t on token t + 2. One shift too many; it happens easily when a data set has shifted the labels already.",
            PREDICTED, "predicted, target = logits[:, :-2], ids[:, 2:]",
        ),
        Mistake(
            "shifted the wrong way",
            "You score position t on token t − 1, which it has read long ago.",
            PREDICTED, "predicted, target = logits[:, 1:], ids[:, :-1]",
        ),
        Mistake(
            "the first token comes round as the last target",
            "Your last position has to predict the first token of its sentence. It has nothing to predict: leave it out.",
            PREDICTED, "predicted, target = logits, ids.roll(-1, dims=1)",
        ),
        Mistake(
            "padding counted",
            "You are right for sentences without padding. In the others the model would be taught to write padding.",
            ", ignore_index=pad", "",
        ),
        Mistake(
            "the sum",
            "Your loss grows with the number of tokens: the docstring asks for the mean.",
            "ignore_index=pad", 'ignore_index=pad, reduction="sum"',
        ),
        Mistake(
            "the mean of the sentences' means",
            "You average within each sentence first, so that a word of a short sentence counts for more. Every predicted token counts the same.",
            f"return {CROSS}",
            "losses = torch.nn.functional.cross_entropy(predicted.transpose(1, 2), target, ignore_index=pad, "
            'reduction="none")\n    return (losses.sum(1) / (target != pad).sum(1)).mean()',
        ),
        Mistake(
            "padding divides too",
            "Padding adds nothing to your sum but is counted when you divide.",
            f"return {CROSS}",
            "losses = torch.nn.functional.cross_entropy(predicted.flatten(0, 1), target.flatten(), ignore_index=pad, "
            'reduction="none")\n    return losses.mean()',
        ),
        Mistake(
            "probabilities given to cross-entropy",
            "A softmax is taken twice: cross-entropy wants logits.",
            "predicted.flatten(0, 1)", "predicted.flatten(0, 1).softmax(dim=-1)",
        ),
        Mistake(
            "left out where the input is padding",
            "You leave a position out when its *input* is padding. It is the target that counts: the last word of a sentence would have to predict a pad with you.",
            f"return {CROSS}",
            "real = ids[:, :-1] != pad\n    return torch.nn.functional.cross_entropy(predicted[real], target[real])",
        ),
        Mistake(
            "left out where input or target is padding",
            "You also leave out words that stand *behind* a pad. Padding may stand in front: only what is pad itself is not predicted.",
            f"return {CROSS}",
            "real = (target != pad) & (ids[:, :-1] != pad)\n    return torch.nn.functional.cross_entropy(predicted[real], target[real])",
        ),
        Mistake(
            "padding is always 0",
            "Your loss leaves out token 0, whatever pad is. It is passed to your function: it may be any id.",
            "ignore_index=pad", "ignore_index=0",
        ),
        Mistake(
            "shifted over the ends of the rows",
            "You flatten first and shift then: the last position of a sentence has to predict the first token of the next one.",
            PREDICTED, "predicted, target = logits.flatten(0, 1)[None, :-1], ids.flatten()[None, 1:]",
        ),
        Mistake(
            "minus the logit",
            "You take the mean of minus the logits. −log p needs the log-softmax: logits of one position do not stand for probabilities until they are compared with all V.",
            f"return {CROSS}",
            "chosen = predicted.gather(-1, target[..., None])[..., 0]\n    return -chosen[target != pad].mean()",
        ),
        Mistake(
            "minus the probability",
            "You average the probabilities of the next tokens; the logarithm is missing.",
            f"return {CROSS}",
            "chosen = predicted.softmax(-1).gather(-1, target[..., None])[..., 0]\n    return -chosen[target != pad].mean()",
        ),
        Mistake(
            "bits instead of nats",
            "Your loss is in bits. The course counts in nats, with the natural logarithm.",
            CROSS, f"{CROSS} / 0.6931471805599453",
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
    """k from 1 to V; in each case a draw of 0 where token 0 has no probability; in the last, logits of −∞."""
    for rows, V, k, temperature in (
        (24, 9, 4, 0.6),
        (30, 12, 7, 1.7),
        (20, 7, 3, 2.5),
        (8, 6, 1, 0.8),
        (10, 5, 5, 1.3),
    ):
        logits = draw.normal(rows, V, scale=1.5)
        logits += logits.argsort(axis=1).argsort(axis=1) / 32  # so that no two are close to each other
        draws = draw.uniform(rows, low=0.02, high=0.98)
        draws[0] = 0.0  # the first token that has a probability at all
        logits[0, 0] = logits[0].min() - 1
        if k == V:  # as top-p leaves them
            logits[:4, 0], logits[2:6, -1] = -np.inf, -np.inf
        draws = off_the_edges(logits, draws, temperature, k)
        yield {"logits": logits, "draws": draws, "temperature": temperature, "k": k}


def off_the_edges(logits: np.ndarray, draws: np.ndarray, temperature: float, k: int) -> np.ndarray:
    """The draws; one at which the rounding of a sum would decide goes to the middle of its token's piece."""
    kept = np.where(logits >= np.sort(logits, axis=1)[:, [-k]], logits.astype(np.float64), -np.inf)
    weights = np.exp((kept - kept.max(axis=1, keepdims=True)) / temperature)
    ends = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    owner = (ends > draws[:, None]).argmax(axis=1)
    end = ends[np.arange(len(draws)), owner]
    begin = np.where(owner > 0, ends[np.arange(len(draws)), owner - 1], 0)
    close = (np.abs(ends - draws[:, None]) < 1e-3).any(axis=1) & (draws > 0)
    return np.where(close, (begin + end) / 2, draws).astype(np.float32)


CUT = "logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)"
INVERSE = "(probabilities.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)"

sample = Exercise(
    cases=sample_cases,
    rule=Rule(axes={"0": "B V", "1": "B"}),
    mistakes=(
        Mistake(
            "logits multiplied by the temperature",
            "High temperatures make your probabilities sharper and low ones flatter: it is the other way round.",
            " / temperature)", " * temperature)",
        ),
        Mistake(
            "no temperature",
            "Your probabilities do not depend on the temperature.",
            " / temperature)", ")",
        ),
        Mistake(
            "nothing cut off",
            "All tokens keep a probability with you; only k may.",
            CUT, "logits",
        ),
        Mistake(
            "one token too many",
            "One more token than k keeps its probability.",
            "logits.topk(k)", "logits.topk(min(k + 1, logits.shape[1]))",
        ),
        Mistake(
            "the k least probable kept",
            "You keep the tail and cut off the head.",
            CUT, "logits.masked_fill(logits > logits.topk(k, largest=False).values[:, -1:], -torch.inf)",
        ),
        Mistake(
            "cut after the softmax",
            "Your probabilities no longer add up to 1: what was cut off has to be given to those that stay.",
            "probabilities = (kept / temperature).softmax(dim=-1)",
            "probabilities = (logits / temperature).softmax(dim=-1)"
            ".masked_fill(kept == -torch.inf, 0)",
        ),
        Mistake(
            "always the most probable token",
            "Your probabilities are right, but the draws are not used: the most probable token comes every time.",
            INVERSE, "probabilities.argmax(dim=-1)",
        ),
        Mistake(
            "ranks instead of tokens",
            "Your probabilities are right. The numbers you return are ranks among the sorted tokens: they have to be turned back into ids.",
            INVERSE,
            "(probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)",
        ),
        Mistake(
            "counted from the other end",
            "Your probabilities are right. You add them up from the last token; the docstring begins with token 0.",
            INVERSE,
            "logits.shape[1] - 1 - (probabilities.flip(-1).cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)",
        ),
        Mistake(
            "probabilities divided by the temperature",
            "Your probabilities do not add up to 1: the temperature divides logits, before the softmax.",
            "(kept / temperature).softmax(dim=-1)", "kept.softmax(dim=-1) / temperature",
        ),
        Mistake(
            "one token short",
            "Your probabilities are right. Your token is the last one below the draw; asked is the first above.",
            INVERSE, f"({INVERSE} - 1).clamp(min=0)",
        ),
        Mistake(
            "one token too far",
            "Your probabilities are right. Your token is the one behind the first whose running sum is above the draw.",
            INVERSE, f"({INVERSE} + 1).clamp(max=logits.shape[1] - 1)",
        ),
        Mistake(
            "a running sum equal to the draw",
            "You stop where the running sum *equals* the draw. It has to be more: with a draw of 0 you choose token 0, even where its probability is 0.",
            "> draws[:, None]", ">= draws[:, None]",
        ),
        Mistake(
            "the pieces in order of size",
            "Your probabilities are right, and you return ids. But you lay the pieces in order of size on the line; the docstring lays them in the order of the vocabulary.",
            f"return probabilities, {INVERSE}",
            "ordered, tokens = probabilities.sort(dim=-1, descending=True)\n"
            "    place = (ordered.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)\n"
            "    return probabilities, tokens.gather(-1, place[:, None])[:, 0]",
        ),
        Mistake(
            "the k-th token dropped",
            "One token fewer than k keeps its probability: the k-th largest logit itself belongs to those that stay.",
            CUT, "logits.masked_fill(logits <= logits.topk(k).values[:, -1:], -torch.inf)",
            also=(
                """
def sample(logits, draws, temperature, k):
    kept = logits
    if k < logits.shape[1]:
        kept = logits.masked_fill(logits <= logits.topk(k).values[:, -1:], -torch.inf)
    probabilities = (kept / temperature).softmax(dim=-1)
    return probabilities, (probabilities.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)
""",
            ),
        ),
        Mistake(
            "one threshold for all rows",
            "Some of your rows keep more than k tokens: you compare all rows with one threshold. Each row has a k-th largest logit of its own.",
            CUT, "logits.masked_fill(logits < logits.topk(k).values.min(), -torch.inf)",
        ),
        Mistake(
            "zero instead of minus infinity",
            "What you cut off still has a probability: a logit of 0 has the weight exp(0) = 1 before dividing.",
            CUT, "logits.masked_fill(logits < logits.topk(k).values[:, -1:], 0.0)",
        ),
        Mistake(
            "the first draw for all rows",
            "Your probabilities are right. You compare all rows with the draw of the first; each has its own.",
            "> draws[:, None]", "> draws[0]",
        ),
        Mistake(
            "tokens first, probabilities second",
            "Your tuple is the other way round: the probabilities come first.",
            f"return probabilities, {INVERSE}", f"return {INVERSE}, probabilities",
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
    """Rows in which one token alone passes p, in which all are needed, with zeros, and whose sum is exactly p."""
    for rows, V, p in ((12, 8, 0.7), (9, 14, 0.9), (15, 6, 0.45), (7, 5, 0.9375)):
        probabilities = np.stack([row_off(p, draw, V) for _ in range(rows)])
        probabilities[0] = row_off(p, draw, V, alone=V // 2)
        probabilities[1] = row_off(p, draw, V, scale=0.05)
        probabilities[2, :-2] = row_off(p, draw, V - 2)
        probabilities[2, -2:] = 0
        if V == 5:  # sums without rounding: 15/16 after three tokens, and after two
            probabilities[3] = draw.rng.permutation([1 / 2, 1 / 4, 3 / 16, 1 / 16, 0])
            probabilities[4] = draw.rng.permutation([1 / 2, 7 / 16, 1 / 16, 0, 0])
        yield {"probabilities": probabilities, "p": p}


def row_off(p: float, draw: Draw, V: int, scale: float = 1.5, alone: int = -1) -> np.ndarray:
    """Probabilities, no two of them close, of which no running sum is close to p, where rounding would decide."""
    while True:
        logits = draw.normal(V, scale=scale).astype(np.float64)
        if alone >= 0:
            logits[alone] = logits.max() + 6
        row = np.exp(logits) / np.exp(logits).sum()
        ordered = np.sort(row)[::-1]
        if np.abs(ordered.cumsum() - p).min() > 1e-3 and -np.diff(ordered).max() > 1e-6:
            return row.astype(np.float32)


KEPT = "ordered.masked_fill(before >= p, 0)"
BEFORE = "before = ordered.cumsum(dim=-1) - ordered"

top_p = Exercise(
    cases=top_p_cases,
    rule=Rule(axes={"": "B V"}),
    mistakes=(
        Mistake(
            "the crossing token dropped",
            "Your tokens together stay below p (and where one token alone passes p, nothing is left: 0/0). The token that crosses p belongs to them.",
            "before >= p", "before + ordered > p",
        ),
        Mistake(
            "the crossing token dropped, but for the first",
            "Your tokens together stay below p, unless the first one alone passes it. The token that crosses p belongs to them.",
            "before >= p", "(before + ordered > p) & (before > 0)",
        ),
        Mistake(
            "one more where the sum is exactly p",
            "Where a running sum is exactly p you keep one token more. At least p is reached then: the set has to be the smallest.",
            "before >= p", "before > p",
        ),
        Mistake(
            "a softmax instead of a division",
            "Your rows add up to 1, but by a softmax: it gives tokens outside the nucleus exp(0) = 1, too. Divide by the sum of the row.",
            "return kept / kept.sum(dim=-1, keepdim=True)", "return kept.softmax(dim=-1)",
        ),
        Mistake(
            "divided by the sum of all rows",
            "Your whole table adds up to 1. Each row should.",
            "kept.sum(dim=-1, keepdim=True)", "kept.sum()",
        ),
        Mistake(
            "as many tokens in every row",
            "You keep as many tokens in each row as the row needs that needs most. Each row has a nucleus of its own.",
            "before >= p", "torch.arange(ordered.shape[1]) >= (before < p).sum(dim=1).max()",
        ),
        Mistake(
            "one token too many",
            "You keep one token after p has been reached.",
            BEFORE, "before = torch.nn.functional.pad((ordered.cumsum(dim=-1) - ordered), (1, 0))[:, :-1]",
        ),
        Mistake(
            "not normalised",
            "What is left does not add up to 1.",
            "return kept / kept.sum(dim=-1, keepdim=True)", "return kept",
        ),
        Mistake(
            "tokens with at least p",
            "You compare each probability by itself with p. What has to reach p is their sum.",
            "before >= p", "(ordered < p) & (ordered < ordered[:, :1])",
            also=(
                """
def top_p(probabilities, p):
    kept = torch.where(probabilities >= p, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
""",
                """
def top_p(probabilities, p):
    kept = torch.where(probabilities >= p, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-9)
""",
                """
def top_p(probabilities, p):
    kept = torch.where(probabilities > p, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
""",
            ),
        ),
        Mistake(
            "not sorted",
            "You add up in the order of the vocabulary: begin with the most probable token.",
            "probabilities.sort(dim=-1, descending=True)",
            "probabilities, torch.arange(probabilities.shape[1]).expand(probabilities.shape)",
        ),
        Mistake(
            "sorted upwards",
            "You keep the least probable tokens.",
            "descending=True", "descending=False",
        ),
        Mistake(
            "left in sorted order",
            "Your numbers are right, but they stand in order of size: each has to go back to its own token.",
            "torch.zeros_like(probabilities).scatter(-1, tokens, kept)", "kept",
        ),
        Mistake(
            "sorted back by the wrong permutation",
            "Your numbers are right, but stand at wrong tokens: the order that sorts is not the order that brings back.",
            "torch.zeros_like(probabilities).scatter(-1, tokens, kept)", "kept.gather(-1, tokens)",
        ),
        Mistake(
            "p is what is cut off",
            "You remove p and keep the rest: with a larger p you keep less.",
            "before >= p", "before >= 1 - p",
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
    remove = ordered.cumsum(dim=-1) >= p
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    remove = remove.scatter(1, tokens, remove)
    return probabilities.log().masked_fill(remove, -torch.inf).softmax(-1)
""",
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
    """The last cache is empty: its word is the first."""
    for B, L, H, t, d, V in (
        (2, 2, 3, 4, 5, 11),
        (3, 3, 2, 6, 4, 9),
        (4, 2, 1, 3, 6, 13),
        (5, 2, 3, 0, 4, 7),
    ):
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
    cases=cache_cases,
    rule=Rule(axes={"0": "B V", "1": "L B H t+1 d", "2": "L B H t+1 d"}),
    mistakes=(
        Mistake(
            "cached positions restart at 0",
            "Your word stands at position 0, whatever came before it. Where does it stand when t words are in the cache?",
            "gpt.embed(token, keys.shape[3])", "gpt.embed(token, 0)",
        ),
        Mistake(
            "one position too far",
            "Your word stands one place too far to the right: t words before it take the places 0 to t − 1.",
            "gpt.embed(token, keys.shape[3])", "gpt.embed(token, keys.shape[3] + 1)",
        ),
        Mistake(
            "the new word does not see itself",
            "Your first layer's cache is right, but your word attends to the old words alone.",
            edits={
                ATTEND: ATTEND.replace("(k @", "(k[:, :, :-1] @"),
                "(weights[..., None] * v)": "(weights[..., None] * v[:, :, :-1])",
            },
            also=(
                """
def step_with_cache(token, gpt, keys, values):
    t = keys.shape[3]
    x, new_keys, new_values = gpt.embed(token, t), [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        new_keys.append(torch.cat([old_k, k[:, :, None]], dim=2))
        new_values.append(torch.cat([old_v, v[:, :, None]], dim=2))
        seen_k, seen_v = (old_k, old_v) if t else (new_keys[-1], new_values[-1])
        weights = (torch.einsum("bhd,bhtd->bht", q, seen_k) / q.shape[-1] ** 0.5).softmax(dim=-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", weights, seen_v))
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
            ),
        ),
        Mistake(
            "nothing seen while the cache is empty",
            "With an empty cache your word gets zeros from attention. It is the first word then, and sees itself.",
            "(weights[..., None] * v).sum(dim=2)", "(weights[..., None] * v).sum(dim=2) * (keys.shape[3] > 0)",
        ),
        Mistake(
            "one position too early",
            "Your word stands at the place of the word before it: t words before it take the places 0 to t − 1.",
            "gpt.embed(token, keys.shape[3])", "gpt.embed(token, keys.shape[3] - 1)",
            also=(
                """
def step_with_cache(token, gpt, keys, values):
    x, new_keys, new_values = gpt.embed(token, max(keys.shape[3] - 1, 0)), [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], dim=2), torch.cat([old_v, v[:, :, None]], dim=2)
        weights = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(dim=-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", weights, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
            ),
        ),
        Mistake(
            "divided by √D",
            "You divide the scores by the root of the model's width D = H · d. Each head's score is a sum over its own d products.",
            "/ q.shape[-1] ** 0.5", "/ x.shape[-1] ** 0.5",
        ),
        Mistake(
            "the vector instead of the logits",
            "Your caches are right. In the first place you return the last layer's vector: gpt.logits makes the logits of it.",
            "return gpt.logits(x), ", "return x, ",
        ),
        Mistake(
            "probabilities instead of logits",
            "Your first answer adds up to 1 in each row: logits are asked for.",
            "return gpt.logits(x), ", "return gpt.logits(x).softmax(dim=-1), ",
        ),
        Mistake(
            "the cache not used",
            "Your first layer's cache is right, but your word attends to itself alone, as if it were the first.",
            edits={
                ATTEND: ATTEND.replace("(k @", "(k[:, :, -1:] @"),
                "(weights[..., None] * v)": "(weights[..., None] * v[:, :, -1:])",
            },
        ),
        Mistake(
            "the old cache returned",
            "Your logits are right. The cache you return lacks the new word: the next step would forget it.",
            "torch.stack(new_keys), torch.stack(new_values)", "keys, values",
        ),
        Mistake(
            "the new word put in front",
            "Your logits are right. In the cache the new word stands before the old ones.",
            edits={
                "torch.cat([old_k, k[:, :, None]], dim=2)": "torch.cat([k[:, :, None], old_k], dim=2)",
                "torch.cat([old_v, v[:, :, None]], dim=2)": "torch.cat([v[:, :, None], old_v], dim=2)",
            },
        ),
        Mistake(
            "all layers read the first layer's cache",
            "Your first layer is right; the later ones look into the cache of the first. Each layer has its own.",
            "zip(gpt.layers, keys, values)", "zip(gpt.layers, [keys[0]] * len(keys), [values[0]] * len(values))",
        ),
        Mistake(
            "every layer starts from the embedding",
            "Your first layer's cache is right, the others' are not: each layer reads what the layer below it wrote.",
            "q, k, v = layer.project(x)", "q, k, v = layer.project(gpt.embed(token, keys.shape[3]))",
            also=(
                """
def step_with_cache(token, gpt, keys, values):
    embedded, new_keys, new_values = gpt.embed(token, keys.shape[3]), [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(embedded)
        k, v = torch.cat([old_k, k[:, :, None]], dim=2), torch.cat([old_v, v[:, :, None]], dim=2)
        weights = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(dim=-1)
        x = layer.finish(embedded, torch.einsum("bht,bhtd->bhd", weights, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
            ),
        ),
        Mistake(
            "no scaling", "Your weights are more decided than they should be.", " / q.shape[-1] ** 0.5", ""
        ),
        Mistake(
            "keys and values have changed places",
            "Your logits are right. What you return as keys are the values, and the other way round.",
            "torch.stack(new_keys), torch.stack(new_values)", "torch.stack(new_values), torch.stack(new_keys)",
        ),
        Mistake(
            "softmax over the heads",
            "Your weights add up to 1 over the heads. Each head spreads its own attention over the words.",
            "softmax(dim=-1)", "softmax(dim=1)",
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

    # The first label has two ids.
    for count, marks in ((3, 2), (0, 1), (5, 3), (1, 2)):
        yield {
            "texts": [some(3, 8) for _ in range(count)],
            "labels": [some(1 + (number == 0), 3) for number in range(count)],
            "query": some(4, 9),
            "mark": np.array(some(marks, marks + 1)),
            "end": np.array(some(5 - marks, 6 - marks)),
        }


DEMO = "prompt += [*text, *mark, *label, *end]"
QUERY = "torch.tensor(prompt + [*query, *mark])"

few_shot_prompt = Exercise(
    cases=prompt_cases,
    rule=Rule("equal", axes={"": "tokens"}),
    mistakes=(
        Mistake(
            "no mark behind the query",
            "Your prompt ends with the query's text. The model would go on writing the text: what tells it that a label is wanted?",
            QUERY, "torch.tensor(prompt + [*query])",
        ),
        Mistake(
            "end behind the query's mark",
            "Your prompt says that the query's answer is over before the model has given it.",
            QUERY, "torch.tensor(prompt + [*query, *mark, *end])",
        ),
        Mistake(
            "examples not separated",
            "The next text begins right behind a label: `end` is missing between the examples.",
            DEMO, "prompt += [*text, *mark, *label]",
        ),
        Mistake(
            "no end behind the last example",
            "Your query begins right behind the last label: `end` stands behind *each* example, not only between them.",
            DEMO, "prompt += [*(end if prompt else []), *text, *mark, *label]",
        ),
        Mistake(
            "one id of each label",
            "Of each label you take the first id. A label may be several tokens long.",
            DEMO, "prompt += [*text, *mark, label[0], *end]",
        ),
        Mistake(
            "one id of mark and end",
            "Of mark and end you take the first id. Both may be several tokens long.",
            edits={
                DEMO: "prompt += [*text, mark[0], *label, end[0]]",
                QUERY: "torch.tensor(prompt + [*query, mark[0]])",
            },
        ),
        Mistake(
            "an error without examples",
            "Your function stops when demos is empty. There may be none: then the query and mark are the whole prompt.",
            code="""
def few_shot_prompt(demos, query, mark, end):
    blocks = [torch.cat([torch.tensor(text), mark, torch.tensor(label), end]) for text, label in demos]
    return torch.cat([torch.cat(blocks), torch.tensor(query), mark])
""",
            also=(
                """
def few_shot_prompt(demos, query, mark, end):
    texts, labels = zip(*demos)
    blocks = [[*text, *mark, *label, *end] for text, label in zip(texts, labels)]
    return torch.tensor(sum(blocks, []) + [*query, *mark])
""",
                """
def few_shot_prompt(demos, query, mark, end):
    blocks = [torch.cat([torch.tensor(text), mark, torch.tensor(label), end]) for text, label in demos]
    return torch.cat([torch.stack(blocks[:1])[0], *blocks[1:], torch.tensor(query), mark])
""",
            ),
        ),
        Mistake(
            "no mark in the examples",
            "In your examples the label follows the text directly, and in the query it does not: an example has to look like the query.",
            DEMO, "prompt += [*text, *label, *end]",
        ),
        Mistake(
            "the label before the mark",
            "In your examples the label stands before the mark; in the query it is to be written behind it.",
            DEMO, "prompt += [*text, *label, *mark, *end]",
        ),
        Mistake(
            "the query first",
            "Your query stands before the examples. A decoder reads from left to right: what would it have learnt when it comes to the query?",
            QUERY, "torch.tensor([*query, *mark] + prompt)",
        ),
        Mistake(
            "examples in reverse order",
            "Your examples come in reverse order. It may matter: the last one is nearest to the query.",
            "in demos:", "in demos[::-1]:",
        ),
        Mistake(
            "all texts, then all labels",
            "Your texts come first and their labels after them all.",
            edits={
                "    for text, label in demos:": "    for text, _ in demos:\n        prompt += [*text, *mark]\n    for _, label in demos:",
                DEMO: "prompt += [*label, *end]",
            },
            also=(
                """
def few_shot_prompt(demos, query, mark, end):
    texts = [token for text, _ in demos for token in text]
    labels = [token for _, label in demos for token in label]
    return torch.tensor([*texts, *mark, *labels, *end, *query, *mark])
""",
            ),
        ),
        Mistake(
            "only the last example",
            "Only your last example is left in the prompt.",
            DEMO, "prompt = [*text, *mark, *label, *end]",
        ),
        Mistake(
            "labels in front",
            "Your labels come before their texts. With the query the label is to be written at the end.",
            DEMO, "prompt += [*label, *mark, *text, *end]",
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
    """A row cut off before it ended, one that ends in the last column, others with padding. Ids lie around `end`."""
    for batch, T in ((4, 7), (5, 10), (3, 8)):
        end = int(draw.integers(20, 60))
        ids = np.delete(np.arange(90), end)[draw.integers(0, 89, batch, T)]
        ids[0, -1] = 0  # a word like any other
        lengths = draw.integers(2, T - 2, batch)
        lengths[0], lengths[1] = T, T - 1  # cut off before it ended; ends in the last column
        ids[np.arange(T) >= lengths[:, None]] = end
        yield {"ids": ids, "end": end}


IGNORED = "ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)"

mended_labels = Exercise(
    mends=True,
    cases=label_cases,
    rule=Rule("equal", axes={"": "B T"}),
    mistakes=(
        Mistake(
            "the code as it was",
            "This is the code of 2023: with it no `end` at all is a target.",
            IGNORED, "ids.masked_fill(ids == end, -100)",
        ),
        Mistake(
            "nothing ignored",
            "All padding is a target with you: the model would be taught to write it, and half of its loss may be about nothing else.",
            IGNORED, "ids.clone()",
        ),
        Mistake(
            "only the first end ignored",
            "It is the other way round: the first `end` of a row is what the model has to learn, those behind it are padding.",
            "> 1", "== 1",
        ),
        Mistake(
            "two ends kept",
            "You keep the `end` of the sentence and one token of padding.",
            "> 1", "> 2",
        ),
        Mistake(
            "the last end kept",
            "You keep the `end` in the last column. Where does the sentence end?",
            IGNORED, "ids.masked_fill((ids == end) & (torch.arange(ids.shape[1]) < ids.shape[1] - 1), -100)",
        ),
        Mistake(
            "shifted",
            "Your labels have moved one place to the left. As in Hugging Face's models, the shift is the loss's business here.",
            IGNORED, f"{IGNORED}.roll(-1, dims=1)",
            also=(
                """
def mended_labels(ids, end):
    labels = ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)
    return torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], -100)], dim=1)
""",
                """
def mended_labels(ids, end):
    return ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)[:, 1:]
""",
            ),
        ),
        Mistake(
            "−1 instead of −100",
            "What is to be ignored is −1 with you. The loss ignores −100 alone, and stops at −1 with an error.",
            "-100", "-1",
        ),
        Mistake(
            "counted down the columns",
            "You count the ends of each *column*, from row to row. Each row has its own first `end`.",
            "cumsum(dim=1)", "cumsum(dim=0)",
        ),
        Mistake(
            "a row that was cut off taken for one that ends at once",
            "Rows with an `end` are right. A row that was cut off has none, and loses all but its first token with you: argmax gives 0 where nothing is found.",
            IGNORED, "ids.masked_fill(torch.arange(ids.shape[1]) > (ids == end).int().argmax(dim=1)[:, None], -100)",
        ),
        Mistake(
            "an end given to every row",
            "Rows with an `end` are right. A row that was cut off has none, and you put one at its end: labels are ids or −100, nothing else.",
            f"return {IGNORED}",
            f"labels = {IGNORED}\n    labels[:, -1] = torch.where((ids == end).any(dim=1), labels[:, -1], end)\n    return labels",
        ),
        Mistake(
            "zero instead of −100",
            "What is to be ignored has become token 0, which the loss does not ignore.",
            "-100", "0",
        ),
        Mistake(
            "the words ignored",
            "You ignore the words and keep the padding.",
            IGNORED, "ids.masked_fill((ids == end).cumsum(dim=1) <= 1, -100)",
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
    """Tables of chance, in which sentences end early, or none does; then four made for what decides."""
    widths = (3, 4, 3, 5, 6, 5, 4, 3, 9)
    sizes = [(5 + number % 5, 6 + number % 4, width) for number, width in enumerate(widths)]
    for longest, V, width in sizes:
        bos, eos, pad = (int(token) for token in draw.rng.permutation(V)[:3])
        scores = draw.normal(1, longest, V, scale=0.5)
        words = draw.normal(V, V, scale=0.8)
        scores[:, :, [bos, pad]] = -8
        words[:, [bos, pad]] = 0
        if width > V:  # fewer beginnings than the beam holds, and none of them ends
            scores[:, :, eos] = -8
            words[:, eos] = 0
        else:
            scores[:, 1:, eos] += 1.0  # the beam holds finished and unfinished ones
        yield {
            "scores": scores,
            "words": words,
            "width": width,
            "longest": longest,
            "bos": bos,
            "eos": eos,
            "pad": pad,
        }
    yield two_from_one_beginning(draw)
    for at_once, goes_on in ((0.3, 0.6), (0.55, 0.4)):
        yield ended_or_not(draw, at_once, goes_on)
    yield ended_and_dropped(draw)


NEVER = -9.0


def two_from_one_beginning(draw: Draw) -> Case:
    """The best sentence goes on from the second-best continuation of the best first word: beams have to compete."""
    V, longest = 7, 3
    bos, eos, pad, a, b, c, d = (int(token) for token in draw.rng.permutation(V))
    scores, words = np.zeros((1, longest, V)), np.zeros((V, V))
    scores[0, 0] = words[a] = words[b] = NEVER
    scores[0, 0, [a, b]] = np.log([0.55, 0.38])
    words[a, [c, d]] = words[b, [c, d]] = np.log([0.52, 0.45])
    words[c] = words[d] = -words[a]  # what a said is taken back; behind c anything may come, behind d only a
    words[d] -= 5 * (np.arange(V) != a)
    words[c, [bos, pad]] += NEVER
    return made(draw, scores, words, 2, longest, bos, eos, pad)


def ended_or_not(draw: Draw, at_once: float, goes_on: float) -> Case:
    """A sentence that ends at once, and one that never does: the more probable one is the best."""
    V, longest = 6, 4
    bos, eos, pad, a, b, c = (int(token) for token in draw.rng.permutation(V))
    scores, words = np.zeros((1, longest, V)), np.zeros((V, V))
    scores[0, 0] = words[a] = NEVER
    scores[0, 0, [a, eos]] = np.log([goes_on, at_once])
    words[a, b] = 0
    words[b] = -words[a] + NEVER * (np.arange(V) != c)
    return made(draw, scores, words, 3, longest, bos, eos, pad)


def ended_and_dropped(draw: Draw) -> Case:
    """A sentence that ends at once falls out of the beam, whose others become less probable than it was."""
    V, longest = 6, 3
    bos, eos, pad, a, b, c = (int(token) for token in draw.rng.permutation(V))
    scores, words = np.zeros((1, longest, V)), np.zeros((V, V))
    scores[0, 0] = words[a] = NEVER
    scores[0, 0, [a, eos]] = np.log([0.73, 0.25])
    words[a, [b, c]] = 0.1, 0
    words[[b, c]] = -words[a]  # behind them anything may come
    words[np.ix_([b, c], [bos, pad])] += NEVER
    return made(draw, scores, words, 2, longest, bos, eos, pad)


def made(draw: Draw, scores: np.ndarray, words: np.ndarray, width: int, longest: int, *tokens: int) -> Case:
    """The case, its tables a little different in every draw."""
    scores, words = (
        table.astype(np.float32) + draw.normal(*table.shape, scale=0.02) for table in (scores, words)
    )
    bos, eos, pad = tokens
    return {
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
    cases=beam_cases,
    rule=Rule(axes={"0": "longest"}),
    mistakes=(
        Mistake(
            "a beam of one",
            "You return what greedy decoding returns: only one beginning survives each step.",
            "candidates.topk(min(width, len(candidates)))", "candidates.topk(1)",
        ),
        Mistake(
            "logits added up",
            "Your totals are sums of logits. They compare only after a log-softmax: each step's probabilities add up to 1.",
            ".log_softmax(dim=-1)", "",
        ),
        Mistake(
            "probabilities added up",
            "Probabilities of steps multiply; you add them.",
            ".log_softmax(dim=-1)", ".softmax(dim=-1)",
        ),
        Mistake(
            "finished sentences go on",
            "Your sentences go on behind eos and pay for it. A finished one stays as it is, and keeps its place in the beam.",
            "torch.where(ended[:, None], stay, log_p)", "log_p",
        ),
        Mistake(
            "the worst of the beam",
            "The beam is right, but you return its last sentence instead of its best.",
            "return ids[0, 1:], total[0]", "return ids[-1, 1:], total[-1]",
        ),
        Mistake(
            "totals forgotten",
            "You compare beginnings by their last step alone: what they cost before has to be added.",
            "(total[:, None] + torch.where", "(0 * total[:, None] + torch.where",
        ),
        Mistake(
            "who has ended is not carried along",
            "After a step the beginnings change places, but your notes on who has ended stay where they were.",
            "ended = ended[rows] | (tokens == eos)", "ended = tokens == eos",
        ),
        Mistake(
            "the least probable",
            "You keep the worst beginnings each time.",
            "candidates.topk(min(width, len(candidates)))",
            "candidates.nan_to_num(neginf=1e9).topk(min(width, len(candidates)), largest=False)",
        ),
        Mistake(
            "bos returned",
            "Your first token is bos, which nobody wrote.",
            "return ids[0, 1:], total[0]", "return ids[0, :-1], total[0]",
            also=(
                """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam = [(0.0, [bos], False)]
    for _ in range(longest):
        grown = []
        for total, ids, ended in beam:
            if ended:
                grown.append((total, ids + [pad], True))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
            grown += [(total + value, ids + [token], token == eos) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
    return torch.tensor(beam[0][1]), torch.tensor(beam[0][0])
""",
            ),
        ),
        Mistake(
            "greedy searches side by side",
            "Each of your beginnings goes on with its own best token. The continuations of *all* beginnings compete together: two of the best may come from one.",
            code="""
def beam_search(next_logits, width, longest, bos, eos, pad):
    log_p = next_logits(torch.tensor([[bos]]))[0, -1].log_softmax(dim=-1)
    total, tokens = log_p.topk(min(width, len(log_p)))
    ids = torch.stack([torch.full_like(tokens, bos), tokens], dim=1)
    ended = tokens == eos
    for _ in range(longest - 1):
        best, tokens = next_logits(ids)[:, -1].log_softmax(dim=-1).max(dim=-1)
        tokens = torch.where(ended, pad, tokens)
        total = total + torch.where(ended, 0.0, best)
        ids, ended = torch.cat([ids, tokens[:, None]], dim=1), ended | (tokens == eos)
    return ids[total.argmax(), 1:], total.max()
""",
        ),
        Mistake(
            "an ended sentence preferred",
            "You return the best sentence that has ended. The best one is asked for, whether it has ended or not.",
            "return ids[0, 1:], total[0]", "best = ended.int().argmax()\n    return ids[best, 1:], total[best]",
            also=(
                """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam, finished = [(0.0, [bos])], []
    for _ in range(longest):
        grown = []
        for total, ids in beam:
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
            grown += [(total + value, ids + [token]) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
        finished += [one for one in beam if one[1][-1] == eos]
        beam = [one for one in beam if one[1][-1] != eos]
    total, ids = max(finished or beam)
    return torch.tensor(ids[1:] + [pad] * (longest + 1 - len(ids))), torch.tensor(total)
""",
            ),
        ),
        Mistake(
            "an ended sentence kept for ever",
            "You set ended sentences aside and compare them at the end. They compete at every step like all others, and one that falls out of the beam is gone.",
            code="""
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam, finished = [(0.0, [bos])], []
    for _ in range(longest):
        grown = []
        for total, ids in beam:
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
            grown += [(total + value, ids + [token]) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
        finished += [one for one in beam if one[1][-1] == eos]
        beam = [one for one in beam if one[1][-1] != eos]
    total, ids = max(finished + beam)
    return torch.tensor(ids[1:] + [pad] * (longest + 1 - len(ids))), torch.tensor(total)
""",
        ),
        Mistake(
            "divided by the length",
            "You return the sentence with the best mean over its tokens. The docstring asks for the sum: no normalisation by length.",
            "return ids[0, 1:], total[0]",
            "best = (total / (ids[:, 1:] != pad).sum(dim=1)).argmax()\n    return ids[best, 1:], total[best]",
        ),
        Mistake(
            "padding paid for",
            "A finished sentence pays for each pad with you, so that ending early is punished. Behind eos nothing costs anything.",
            "stay[:, pad] = 0", "stay[:, pad] = log_p[:, pad]",
        ),
        Mistake(
            "no pad behind eos",
            "Your sentence is shorter than `longest` where it ends early. Exactly `longest` tokens are asked for, with pad behind eos.",
            "ended = ended[rows] | (tokens == eos)",
            "ended = ended[rows] | (tokens == eos)\n        if ended[0]:\n            break",
            also=(
                """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam = [(0.0, [bos])]
    for _ in range(longest):
        grown = [one for one in beam if one[1][-1] == eos]
        for total, ids in beam:
            if ids[-1] != eos:
                log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
                grown += [(total + value, ids + [token]) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
        if beam[0][1][-1] == eos:
            break
    return torch.tensor(beam[0][1][1:]), torch.tensor(beam[0][0])
""",
            ),
        ),
        Mistake(
            "one token short",
            "Your sentence is one token short: bos does not count.",
            "range(longest)", "range(longest - 1)",
        ),
        Mistake(
            "the probability instead of its logarithm",
            "Your sentence is right. You return its probability; the log-probability is asked for.",
            "return ids[0, 1:], total[0]", "return ids[0, 1:], total[0].exp()",
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

# ------------------------------------------------------------------------------------------ one table at both ends


def tie_cases(draw: Draw) -> Iterator[Case]:
    """Two tables that differ, tokens some of which come twice and some never."""
    for V, D, n, lr in ((5, 3, 7, 0.5), (9, 4, 12, 1.0), (6, 6, 4, 0.3)):
        yield {
            "table": draw.normal(V, D),
            "other": draw.normal(V, D),
            "ids": draw.integers(0, V - 1, n),
            "next_ids": draw.integers(0, V, n),
            "lr": lr,
        }


TIED = "softmax.weight = token.weight"

tie = Exercise(
    cases=tie_cases,
    rule=Rule(axes={"gradient": "V D", "token table": "V D", "softmax table": "V D"}),
    mistakes=(
        Mistake(
            "nothing is tied",
            "There are two tables, as before. The softmax multiplies with its attribute `weight`, and only an assignment to that attribute puts another table there.",
            TIED, "pass",
        ),
        Mistake(
            "a copy",
            "The numbers are equal at first, and part at the first step of training: there are still two parameters, each with a gradient of its own.",
            TIED, "softmax.weight.data.copy_(token.weight.data)",
            also=(
                """
def tie(token, softmax):
    softmax.weight = torch.nn.Parameter(token.weight.detach().clone())
""",
                """
def tie(token, softmax):
    softmax.load_state_dict(token.state_dict())
""",
            ),
        ),
        Mistake(
            "one place in memory, two parameters",
            "Both tables stand in one place in memory and are still two parameters (`.data` shares numbers, no more): each is counted, has a gradient of its own, "
            "and an optimiser such as Adam would keep two accounts of one place.",
            TIED, "softmax.weight.data = token.weight.data",
            also=(
                """
def tie(token, softmax):
    softmax.weight = torch.nn.Parameter(token.weight.data)
""",
            ),
        ),
        Mistake(
            "the numbers of the softmax",
            "One table, but with the numbers of the softmax: those of `token` were to stay.",
            TIED, "token.weight = softmax.weight",
        ),
        Mistake(
            "a new table of zeros",
            "One parameter at both ends, but a new one, full of zeros: what `token` has learned is gone, and tokens of one vector teach nothing.",
            TIED, "token.weight = softmax.weight = torch.nn.Parameter(torch.zeros_like(token.weight))",
        ),
        Mistake(
            "the softmax's table is no parameter",
            "It is counted once, but the use in the softmax gives no gradient: the table was detached there.",
            TIED, "del softmax.weight\n    softmax.weight = token.weight.detach()",
        ),
    ),
    alternatives={
        "by its name": """
def tie(token, softmax):
    softmax.register_parameter("weight", token.weight)
""",
        "numbers first, then the same parameter": """
def tie(token, softmax):
    with torch.no_grad():
        softmax.weight.copy_(token.weight)
        softmax.weight.set_(token.weight.data)
    setattr(softmax, "weight", token.weight)
""",
    },
    hints=(
        "What is the difference between two equal tables and one table that two modules use? Think of what `model.parameters()` gives out.",
        "token.weight and softmax.weight are both (V, D), of class nn.Parameter. Nothing is returned.",
        "the attribute `weight` of one module becomes the very object that is the attribute `weight` of the other",
        "Near miss: `softmax.weight.data = token.weight.data` shares the numbers, but leaves two parameters.",
    ),
)
