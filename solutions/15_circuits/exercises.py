"""15 Taking a model apart: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ KL divergence


def kl_cases(draw: Draw) -> Iterator[Case]:
    """Zeros in p except in the first case; logits whose exponentials overflow or vanish in float32."""
    for shape, V, size in (((4,), 6, 2.0), ((2, 3), 9, 1.0), ((5,), 4, 1.5)):
        p = draw.uniform(*shape, V, low=0.1, high=1.0) * (draw.uniform(*shape, V) < (2 if V == 6 else 0.7))
        p[..., 0] += 0.2
        p[..., 1] = 0.3 if V == 6 else 0
        logits = draw.normal(*shape, V, scale=size)
        if V == 4:
            logits += 150
            logits[p == 0] -= 300
        yield {"p": (p / p.sum(axis=-1, keepdims=True)).astype(np.float32), "logits": logits.astype(np.float32)}


KL = "return (torch.xlogy(p, p) - p * logits.log_softmax(dim=-1)).sum(dim=-1)"

kl_divergence = Exercise(
    cases=kl_cases,
    rule=Rule(axes={"": "N"}),
    mistakes=(
        Mistake(
            "entropy of p missing",
            "You return the cross-entropy. The smallest value of the cross-entropy is the entropy of p; subtract this entropy, so that the result is 0 if p and q agree.",
            "torch.xlogy(p, p) - p", "-p",
        ),
        Mistake(
            "cross-entropy missing",
            "Your result does not depend on the logits: it is the negative entropy of p. Subtract p · log q from each term.",
            " - p * logits.log_softmax(dim=-1)", "",
        ),
        Mistake(
            "KL(q || p)",
            "You have swapped p and q. The mean is taken under p: each term has the factor p(v), not q(v).",
            KL, "q = logits.softmax(dim=-1)\n    return (torch.xlogy(q, q) - torch.xlogy(q, p)).sum(dim=-1)",
            also=(
                """
def kl_divergence(p, logits):
    q = logits.softmax(dim=-1)
    return (q * (logits.log_softmax(dim=-1) - p.log())).sum(dim=-1)
""",
            ),
        ),
        Mistake(
            "sign reversed",
            "Your sign is reversed: the divergence is never negative.",
            "torch.xlogy(p, p) - p * logits.log_softmax(dim=-1)", "p * logits.log_softmax(dim=-1) - torch.xlogy(p, p)",
        ),
        Mistake(
            "log of a zero probability",
            "Your result is NaN where p contains a zero, because 0 · log 0 is NaN. Such a word should contribute 0: use torch.xlogy(p, p) for p log p.",
            "torch.xlogy(p, p)", "p * p.log()",
        ),
        Mistake(
            "logits used as log-probabilities",
            "You use the logits as if they were log q. Apply a log-softmax over the words first.",
            "logits.log_softmax(dim=-1)", "logits",
        ),
        Mistake(
            "probabilities instead of their logarithm",
            "You multiply p by q. The formula contains log q: use log_softmax instead of softmax.",
            "log_softmax", "softmax",
        ),
        Mistake(
            "softmax over another axis",
            "You normalise over the first axis. Each row of logits, along the last axis, is one distribution.",
            "log_softmax(dim=-1)", "log_softmax(dim=0)",
        ),
        Mistake(
            "mean over the words",
            "You divide by the number of words V. The divergence is a sum over the words.",
            ".sum(dim=-1)", ".mean(dim=-1)",
        ),
        Mistake(
            "one number for all rows",
            "You sum over all rows as well. Return one number for each row.",
            ".sum(dim=-1)", ".sum()",
        ),
        Mistake(
            "mean over the rows as well",
            "You return the mean over all rows. Return one number for each row.",
            ".sum(dim=-1)", ".sum(dim=-1).mean()",
        ),
        Mistake(
            "bits instead of nats",
            "Your result is in bits. Use the natural logarithm.",
            KL, KL.replace("return (", "return (1 / np.log(2)) * (").replace("return", "import numpy as np\n    return"),
        ),
        Mistake(
            "logarithm of a softmax that underflows",
            "Your result is not finite if some logits are far below the others, because their softmax is exactly 0. Use log_softmax, which is computed without this intermediate step.",
            "logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()",
        ),
    ),
    alternatives={
        "torch's own, row by row": """
def kl_divergence(p, logits):
    return torch.nn.functional.kl_div(logits.log_softmax(dim=-1), p, reduction="none").sum(dim=-1)
""",
        "where p is positive, in float64": """
def kl_divergence(p, logits):
    p, log_q = p.double(), logits.double() - torch.logsumexp(logits.double(), dim=-1, keepdim=True)
    safe = torch.where(p > 0, p, torch.ones_like(p))
    return torch.where(p > 0, p * (safe.log() - log_q), torch.zeros_like(p)).sum(-1)
""",
        "cross-entropy minus entropy": """
def kl_divergence(p, logits):
    cross = -torch.einsum("...v,...v->...", p, logits.log_softmax(dim=-1))
    return cross - torch.special.entr(p).sum(dim=-1)
""",
    },
    hints=(
        "The sum contains two expectations under p. Which of them does not depend on the model?",
        "p and logits: (…, V). log q: (…, V). Each term: (…, V). Output: (…).",
        "log q = log-softmax of the logits over the words\nterms = p log p − p log q, where p log p is 0 for p = 0\nsum over the words",
        "A near miss: `p * (p.log() - log_q)` is NaN wherever p is 0.",
    ),
)

# ------------------------------------------------------------------------------------------ the logit lens


def lens_cases(draw: Draw) -> Iterator[Case]:
    """Points differ in length and their mean is not 0; in the last case they are so short that ε matters."""
    for points, B, T, D, V, size in ((3, 2, 4, 6, 9, 1.0), (5, 3, 2, 5, 5, 2.0), (2, 1, 3, 8, 7, 0.004)):
        lengths = draw.uniform(points, 1, 1, 1, low=0.5, high=2.5) * size
        yield {
            "stream": (draw.normal(points, B, T, D) + draw.normal(points, B, T, 1)) * lengths,
            "gain": draw.uniform(D, low=0.4, high=1.8),
            "bias": draw.normal(D, scale=0.7),
            "table": draw.normal(V, D),
        }


CENTRED = "centred = stream - stream.mean(dim=-1, keepdim=True)"
VARIANCE = "variance = centred.square().mean(dim=-1, keepdim=True)"
LOGITS = "return (centred / (variance + 1e-5).sqrt() * gain + bias) @ table.T"

logit_lens = Exercise(
    cases=lens_cases,
    rule=Rule(axes={"": "points B T V"}),
    mistakes=(
        Mistake(
            "layer norm missing",
            "You multiply the stream by the table without the layer norm. Apply the norm first: without it, longer vectors "
            "give larger logits.",
            LOGITS, "return stream @ table.T",
        ),
        Mistake(
            "gain and bias without normalisation",
            "You apply gain and bias to the stream as it is. First subtract the mean of each vector and divide by √(variance + "
            "10⁻⁵).",
            LOGITS, "return (stream * gain + bias) @ table.T",
        ),
        Mistake(
            "mean not subtracted",
            "You divide but do not subtract the mean first. This is a different norm, RMSNorm.",
            CENTRED, "centred = stream",
        ),
        Mistake(
            "mean not subtracted in the numerator",
            "Your variance is correct, but you do not subtract the mean from the vector that you divide by the standard deviation. Subtract it "
            "there as well.",
            "return (centred /", "return (stream /",
        ),
        Mistake(
            "variance with D − 1",
            "You divide the sum of squares by D − 1, as `var` and `std` do by default. Layer norm uses the mean of the D "
            "squares.",
            VARIANCE, "variance = stream.var(dim=-1, keepdim=True)",
            also=(
                """
def logit_lens(stream, gain, bias, table):
    mean, std = stream.mean(dim=-1, keepdim=True), stream.std(dim=-1, keepdim=True)
    return ((stream - mean) / std * gain + bias) @ table.T
""",
            ),
        ),
        Mistake(
            "divided by the variance",
            "You divide by the variance. Only division by its square root, √(variance + 10⁻⁵), gives all vectors the same length.",
            "(variance + 1e-5).sqrt()", "(variance + 1e-5)",
        ),
        Mistake(
            "ε missing",
            "Your logits are correct for long vectors. For short vectors, the 10⁻⁵ that you leave out makes a difference.",
            "(variance + 1e-5).sqrt()", "variance.sqrt()",
        ),
        Mistake(
            "ε outside the square root",
            "Your logits are correct for long vectors. For short vectors, it matters that 10⁻⁵ is added to the variance before the "
            "square root is taken, not to the square root.",
            "(variance + 1e-5).sqrt()", "(variance.sqrt() + 1e-5)",
        ),
        Mistake(
            "gain and bias missing",
            "You normalise but leave out gain and bias. Multiply each coordinate of the normalised vector by its gain and add "
            "its bias.",
            " * gain + bias", "",
        ),
        Mistake(
            "unit length instead of layer norm",
            "You scale each vector to length 1. A layer norm subtracts the mean of its coordinates and divides by √(variance + "
            "10⁻⁵).",
            "(centred / (variance + 1e-5).sqrt()", "(stream / stream.norm(dim=-1, keepdim=True)",
        ),
        Mistake(
            "normalised over the sentences",
            "You compute mean and variance over the sentences of the batch. Normalise each vector separately, over its D "
            "coordinates.",
            edits={CENTRED: CENTRED.replace("dim=-1", "dim=1"), VARIANCE: VARIANCE.replace("dim=-1", "dim=1")},
        ),
        Mistake(
            "gain missing",
            "You leave out the gain: the norm multiplies each of the D coordinates by its own factor.",
            " * gain", "",
        ),
        Mistake(
            "bias missing",
            "You leave out the bias, so all logits of the same word are off by the same amount.",
            " + bias", "",
        ),
        Mistake(
            "bias before gain",
            "You add the bias before you multiply by the gain. The gain comes first.",
            "centred / (variance + 1e-5).sqrt() * gain + bias", "(centred / (variance + 1e-5).sqrt() + bias) * gain",
        ),
        Mistake(
            "normalised over the tokens",
            "You compute mean and variance over the tokens of a sentence. Normalise each vector separately, over its D "
            "coordinates.",
            edits={CENTRED: CENTRED.replace("dim=-1", "dim=-2"), VARIANCE: VARIANCE.replace("dim=-1", "dim=-2")},
        ),
        Mistake(
            "normalised over tokens and coordinates",
            "You compute one mean and one variance for a whole sentence. Normalise each vector separately, over its D "
            "coordinates.",
            edits={CENTRED: CENTRED.replace("dim=-1", "dim=(-2, -1)"), VARIANCE: VARIANCE.replace("dim=-1", "dim=(-2, -1)")},
        ),
        Mistake(
            "mean and variance of the last point used at every point",
            "Your logits at the last point are correct. At the other points you use its mean and variance, but every vector "
            "has its own.",
            edits={
                CENTRED: "centred = stream - stream[-1:].mean(dim=-1, keepdim=True)",
                VARIANCE: "variance = stream[-1:].var(dim=-1, keepdim=True, unbiased=False)",
            },
        ),
        Mistake(
            "only the last point normalised",
            "Only your logits at the last point are correct. The lens treats every point as if the model ended there, so apply "
            "norm and table at each point.",
            LOGITS,
            "normed = centred / (variance + 1e-5).sqrt() * gain + bias\n    return torch.cat([stream[:-1], normed[-1:]]) @ table.T",
        ),
        Mistake(
            "differences of the stream",
            "You read the *contribution* of each part, the difference between two points. The lens reads the stream itself, the "
            "sum of all contributions so far.",
            CENTRED,
            "stream = torch.cat([stream[:1], stream[1:] - stream[:-1]])\n    centred = stream - stream.mean(dim=-1, keepdim=True)",
        ),
        Mistake(
            "softmax applied",
            "Your rows sum to 1. Return the logits, without a softmax.",
            LOGITS, LOGITS.replace("@ table.T", "@ table.T").replace("return (", "return ((") + ").softmax(dim=-1)",
        ),
        Mistake(
            "log-probabilities returned",
            "You return log-probabilities. Return the logits, before any softmax.",
            LOGITS, LOGITS.replace("return (", "return ((") + ").log_softmax(dim=-1)",
        ),
    ),
    alternatives={
        "torch's own layer norm": """
def logit_lens(stream, gain, bias, table):
    return torch.nn.functional.layer_norm(stream, gain.shape, gain, bias, eps=1e-5) @ table.T
""",
        "a loop over the points, in float64": """
def logit_lens(stream, gain, bias, table):
    found = []
    for x in stream.double():
        std = (x.var(dim=-1, unbiased=False, keepdim=True) + 1e-5) ** 0.5
        found.append(torch.einsum("btd,vd->btv", (x - x.mean(-1, keepdim=True)) / std * gain + bias, table.double()))
    return torch.stack(found)
""",
        "gain and bias taken into the table": """
def logit_lens(stream, gain, bias, table):
    x = stream - stream.mean(-1, keepdim=True)
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
    return torch.nn.functional.linear(x, table * gain, table @ bias)
""",
    },
    hints=(
        "What happens to a vector between the last layer of a pre-norm model and the logits? Do the same at every point.",
        "stream: (points, B, T, D). Mean and variance: (points, B, T, 1). Normalised vectors: the same shape as the stream. After multiplication by the transposed "
        "table: (points, B, T, V).",
        "subtract each vector's mean\ndivide by the square root of its variance + 1e-5\nmultiply by gain, add bias\nmatrix product "
        "with the transposed table",
        "A near miss: `stream.std(dim=-1)` divides by D − 1. Layer norm uses `unbiased=False`, or the mean of the squares.",
    ),
)

# ------------------------------------------------------------------------------------------ a head taken away


def head_cases(draw: Draw) -> Iterator[Case]:
    """Padding has large values; the means of sentences, positions and heads all differ."""
    for B, H, T, d, head in ((3, 2, 5, 4, 1), (2, 4, 4, 3, 0), (4, 3, 6, 2, 2)):
        real = draw.padding(B, T)
        outputs = draw.normal(B, H, T, d) + draw.normal(1, H, 1, d) + draw.normal(B, 1, 1, d) + draw.normal(1, 1, T, d)
        outputs += 4 * (~real)[:, None, :, None]
        yield {"outputs": outputs.astype(np.float32), "real": real.astype(np.int64), "head": head}


MEAN_OF_HEAD = "mean = outputs[:, head][real == 1].mean(dim=0)"
CLONES = "zeroed, meaned = outputs.clone(), outputs.clone()"
TAKEN = "zeroed[:, head], meaned[:, head] = 0, mean"

ablate_head = Exercise(
    cases=head_cases,
    rule=Rule(axes={"": "rows B H T d"}),
    mistakes=(
        Mistake(
            "padding included in the mean",
            "Your mean includes the vectors at padding. Only real tokens, for which `real` is 1, should be averaged.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head].mean(dim=(0, 1))",
        ),
        Mistake(
            "padding as zeros in the mean",
            "You set padding to 0 and divide by the number of *all* tokens. Divide by the number of real tokens.",
            "outputs[:, head][real == 1].mean(dim=0)", "(outputs[:, head] * real[..., None]).mean(dim=(0, 1))",
        ),
        Mistake(
            "one mean per sentence",
            "You use a separate mean for each sentence, which still contains information about that sentence. Use one mean "
            "over all sentences.",
            "outputs[:, head][real == 1].mean(dim=0)",
            "((outputs[:, head] * real[..., None]).sum(dim=1) / real.sum(dim=1)[:, None])[:, None]",
        ),
        Mistake(
            "mean of the sentence means",
            "You average within each sentence first, which gives more weight to tokens of short sentences. All real tokens "
            "should have the same weight.",
            "outputs[:, head][real == 1].mean(dim=0)",
            "((outputs[:, head] * real[..., None]).sum(dim=1) / real.sum(dim=1)[:, None]).mean(dim=0)",
        ),
        Mistake(
            "one mean per position",
            "You use a separate mean for each position, taken over the sentences. Use one vector, the mean over all real "
            "tokens at all positions.",
            "outputs[:, head][real == 1].mean(dim=0)",
            "(outputs[:, head] * real[..., None]).sum(dim=0) / real.sum(dim=0)[:, None]",
        ),
        Mistake(
            "mean over the d coordinates as well",
            "You replace the head's output with a single number, because you also average over its d coordinates. Each coordinate "
            "has its own mean.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head][real == 1].mean()",
        ),
        Mistake(
            "mean of all heads",
            "You replace the head's output with the mean of *all* heads. Use the mean of this head.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs.transpose(1, 2)[real == 1].mean(dim=(0, 1))",
            also=(
                """
def ablate_head(outputs, real, head):
    zeroed, meaned = outputs.clone(), outputs.clone()
    zeroed[:, head], meaned[:, head] = 0, outputs.mean(dim=1)
    return torch.stack([zeroed, meaned])
""",
            ),
        ),
        Mistake(
            "sum instead of mean",
            "In row 1, you use the *sum* over the real tokens. Use their mean.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head][real == 1].sum(dim=0)",
        ),
        Mistake(
            "other heads ablated",
            "You ablate the *other* heads. Ablate only the head with the given number and leave the others unchanged.",
            TAKEN,
            "rest = [h for h in range(outputs.shape[1]) if h != head]\n    zeroed[:, rest] = 0\n    meaned[:, rest] = outputs[:, rest].transpose(1, 2)[real == 1].mean(dim=0)[:, None]",
        ),
        Mistake(
            "heads counted from 1",
            "You ablate the head before the given one (head − 1). Heads are numbered from 0.",
            edits={MEAN_OF_HEAD: "head = head - 1\n    " + MEAN_OF_HEAD},
        ),
        Mistake(
            "all heads ablated",
            "You ablate all heads. Leave the other heads unchanged.",
            edits={
                MEAN_OF_HEAD: "mean = outputs.transpose(1, 2)[real == 1].mean(dim=0)[:, None]",
                TAKEN: "zeroed[:], meaned[:] = 0, mean",
            },
        ),
        Mistake(
            "both rows the same tensor",
            "Your two rows are equal: they are the same tensor, so the second change overwrites the first. Each "
            "row needs its own copy.",
            CLONES, "zeroed = meaned = outputs.clone()",
        ),
        Mistake(
            "rows swapped",
            "Your rows are swapped: row 0 should contain the zeros, row 1 the mean.",
            "[zeroed, meaned]", "[meaned, zeroed]",
        ),
        Mistake(
            "padding left unchanged",
            "You ablate the head only at real tokens. Replace its output at padding as well: the docstring says *at every position*.",
            TAKEN,
            "zeroed[:, head] = outputs[:, head] * (real == 0)[..., None]\n    meaned[:, head] = torch.where((real == 1)[..., None], mean, outputs[:, head])",
        ),
        Mistake(
            "zeros at padding in row 1",
            "In row 1, you put zeros at padding. Insert the mean there as well.",
            TAKEN, "zeroed[:, head], meaned[:, head] = 0, mean * real[..., None]",
        ),
        Mistake(
            "mean subtracted instead of inserted",
            "In row 1, you subtract the head's mean from its output, which keeps what is specific to this word. Replace the output with the mean.",
            TAKEN, "zeroed[:, head], meaned[:, head] = 0, outputs[:, head] - mean",
        ),
    ),
    alternatives={
        "where, with a mask of the head": """
def ablate_head(outputs, real, head):
    mine = (torch.arange(outputs.shape[1]) == head)[:, None, None]
    weights = real[:, None, :, None].to(outputs.dtype)
    mean = (outputs * weights).sum(dim=(0, 2), keepdim=True) / weights.sum()
    return torch.stack([outputs.masked_fill(mine, 0.0), torch.where(mine, mean, outputs)])
""",
        "a loop over the tokens, in numpy": """
import numpy as np
def ablate_head(outputs, real, head):
    outputs, real = outputs.numpy(), real.numpy()
    seen = [outputs[b, head, t] for b in range(len(real)) for t in range(real.shape[1]) if real[b, t]]
    both = np.stack([outputs, outputs])
    both[0, :, head] = 0
    both[1, :, head] = np.mean(seen, axis=0)
    return both
""",
        "an average with weights": """
def ablate_head(outputs, real, head):
    share = real.double() / real.sum()
    mean = torch.einsum("btd,bt->d", outputs[:, head].double(), share).to(outputs.dtype)
    both = outputs.repeat(2, 1, 1, 1, 1)
    both[:, :, head] = torch.stack([torch.zeros_like(mean), mean])[:, None, None]
    return both
""",
    },
    hints=(
        "Which part of the head's output is common to *all* words, and which is specific to this one? Which part remains when the "
        "mean replaces the output?",
        "outputs: (B, H, T, d). One head: (B, T, d); its real tokens: (n, d); their mean: (d). Output: (2, B, H, T, d).",
        "mean = the head's vectors at real tokens, averaged\ntwo copies of outputs\nat every position, set the head's output to 0 in one "
        "copy and to the mean in the other\nstack them",
        "A near miss: `outputs[:, head].mean(dim=(0, 1))` includes padding, and `a = b = outputs.clone()` makes one copy, not "
        "two.",
    ),
)

# ------------------------------------------------------------------------------------------ activation patching


def patching_cases(draw: Draw) -> Iterator[Case]:
    """Layers mix the words, so that a patch spreads; there are at most as many layers as positions."""
    for L, T, D in ((2, 4, 3), (3, 3, 5), (1, 5, 4)):
        yield {
            "among": draw.normal(L, T, T, scale=0.7),
            "within": draw.normal(L, D, D, scale=0.6),
            "target": draw.normal(T, D),
            "source": draw.normal(T, D),
        }


EXCHANGE = "x[range(T), range(T)] = both[1]"
START = "x = both[0].repeat(T, 1, 1)"
REST = "for rest in layers[layer:]:"
ON = "both = layers[layer](both) if layer < len(layers) else both"

patching = Exercise(
    cases=patching_cases,
    rule=Rule(axes={"": "L+1 T position D"}),
    mistakes=(
        Mistake(
            "source and target swapped",
            "You take everything except position t from the source. Do the reverse: run the target, and insert the "
            "source's vector only at position t.",
            edits={START: "x = both[1].repeat(T, 1, 1)", EXCHANGE: "x[range(T), range(T)] = both[0]"},
        ),
        Mistake(
            "source input inserted at every layer",
            "Your entries for layer 0 are correct. At later layers, you still insert the input to the *first* layer. Take the "
            "vector of that layer from the source's own run.",
            EXCHANGE, "x[range(T), range(T)] = source",
        ),
        Mistake(
            "target run not continued",
            "Your entries for layer 0 are correct. At later layers, the other positions still contain the input of the first layer. Like the source, the target has to be run through the layers.",
            START, "x = target.repeat(T, 1, 1)",
        ),
        Mistake(
            "neither run continued",
            "Your entries for layer 0 are correct. At later layers, you still combine the vectors that enter the first layer. "
            "Run both through the layers, one layer at a time.",
            edits={START: "x = target.repeat(T, 1, 1)", EXCHANGE: "x[range(T), range(T)] = source"},
        ),
        Mistake(
            "all layers run after each patch",
            "Your entries for layer 0 are correct. After a patch at a later layer, you run *all* layers again; run only the "
            "remaining ones.",
            REST, "for rest in layers:",
        ),
        Mistake(
            "one layer skipped",
            "You skip a layer. The patch replaces a vector in the *input* to layer l, so layer l itself still has to run.",
            REST, "for rest in layers[layer + 1 :]:",
        ),
        Mistake(
            "remaining layers not run",
            "You return the vectors right after the patch. They still have to pass through the remaining layers.",
            "        for rest in layers[layer:]:\n            x = rest(x)\n", "",
        ),
        Mistake(
            "only one layer run after the patch",
            "After a patch, you run only one layer. Run all the remaining ones.",
            REST, "for rest in layers[layer : layer + 1]:",
        ),
        Mistake(
            "earlier patches not undone",
            "In your entry [l, t], positions 0 to t are all patched, because you never undo earlier patches. Each run should patch only "
            "one vector, in a copy of the target's vectors.",
            EXCHANGE, "x = torch.where(torch.ones(T, T).tril().bool()[..., None], both[1], x)",
            also=(
                """
def patching(layers, target, source):
    found, a, b = [], target[None].clone(), source[None]
    for layer in range(len(layers) + 1):
        row = []
        for t in range(len(target)):
            x = a
            x[0, t] = b[0, t]
            for rest in layers[layer:]:
                x = rest(x)
            row.append(x[0].clone())
        found.append(torch.stack(row))
        if layer < len(layers):
            a, b = layers[layer](a), layers[layer](b)
    return torch.stack(found)
""",
            ),
        ),
        Mistake(
            "all positions patched",
            "You replace the vectors at *all* positions, which simply reproduces the source's run. Replace the vector at only one position in each run.",
            EXCHANGE, "x[:] = both[1]",
        ),
        Mistake(
            "target run changed by a patch",
            "Your entries for layer 0 are correct. After layer 0, the target's run continues from vectors that a patch has "
            "changed. Patch a copy of the vectors instead.",
            code="""
def patching(layers, target, source):
    T, found = len(target), []
    a, b = target.clone()[None], source[None]
    for layer in range(len(layers) + 1):
        row = []
        for t in range(T):
            kept = a[0, t].clone()
            a[0, t] = b[0, t]
            x = a
            for rest in layers[layer:]:
                x = rest(x)
            row.append(x[0].clone())
            if t < T - 1:
                a[0, t] = kept
        found.append(torch.stack(row))
        if layer < len(layers):
            a, b = layers[layer](a), layers[layer](b)
    return torch.stack(found)
""",
        ),
        Mistake(
            "added instead of replaced",
            "You *add* the source's vector to the target's. Replace the target's vector instead.",
            EXCHANGE, "x[range(T), range(T)] += both[1]",
        ),
        Mistake(
            "source vector from another position",
            "You insert the source's vector of another position. Use the same layer and the same position.",
            EXCHANGE, "x[range(T), range(T)] = both[1].roll(1, dims=0)",
        ),
        Mistake(
            "layers in reverse order",
            "You run the layers from the last to the first. Run them from the first to the last.",
            edits={REST: "for rest in layers[::-1][layer:]:", ON: "both = layers[::-1][layer](both) if layer < len(layers) else both"},
        ),
        Mistake(
            "difference from the target run",
            "You return the difference between the patched run and the target's run. Return the vectors of the patched run.",
            "found.append(x)", "found.append(x)\n        whole = target[None]\n        for one in layers:\n            whole = one(whole)\n        found[-1] = x - whole",
        ),
        Mistake(
            "position axis before layer axis",
            "Your first two axes are swapped: the first should be the layer, the second the position.",
            code="""
def patching(layers, target, source):
    T, found = len(target), []
    for t in range(T):
        row, a, b = [], target[None], source[None]
        for layer in range(len(layers) + 1):
            x = a.clone()
            x[0, t] = b[0, t]
            for rest in layers[layer:]:
                x = rest(x)
            row.append(x[0])
            if layer < len(layers):
                a, b = layers[layer](a), layers[layer](b)
        found.append(torch.stack(row))
    return torch.stack(found)
""",
        ),
        Mistake(
            "patch after the last layer missing",
            "Your last row is missing. There are L + 1 patches per position, including the one after the last layer.",
            "for layer in range(len(layers) + 1):", "for layer in range(len(layers)):",
        ),
    ),
    alternatives={
        "one run at a time": """
def patching(layers, target, source):
    def run(x, some):
        for layer in some:
            x = layer(x)
        return x
    found = []
    for l in range(len(layers) + 1):
        a, b = run(target[None], layers[:l]), run(source[None], layers[:l])
        row = []
        for t in range(len(target)):
            x = a.clone()
            x[0, t] = b[0, t]
            row.append(run(x, layers[l:])[0])
        found.append(torch.stack(row))
    return torch.stack(found)
""",
        "hidden states first, then where": """
def patching(layers, target, source):
    T = len(target)
    states = [torch.stack([target, source])]
    for layer in layers:
        states.append(layer(states[-1]))
    mine = torch.eye(T, dtype=torch.bool)[:, :, None]
    found = []
    for l, (a, b) in enumerate(states):
        x = torch.where(mine, b, a)
        for layer in layers[l:]:
            x = layer(x)
        found.append(x)
    return torch.stack(found)
""",
        "from the last layer down": """
def patching(layers, target, source):
    if not layers:
        return torch.stack([torch.cat([target[:t], source[t : t + 1], target[t + 1 :]]) for t in range(len(target))])[None]
    first, rest = layers[0], layers[1:]
    x = torch.stack([torch.cat([target[:t], source[t : t + 1], target[t + 1 :]]) for t in range(len(target))])
    for layer in layers:
        x = layer(x)
    above = patching(rest, first(target[None])[0], first(source[None])[0])
    return torch.cat([x[None], above])
""",
    },
    hints=(
        "There are two unmodified runs, the target's and the source's. At which layers do you need both, and which of them "
        "continues after the patch?",
        "The two runs: (2, T, D) at each layer. With one patch per position: a batch (T, T, D). After the remaining layers: "
        "(T, T, D). Output: (L+1, T, T, D).",
        "for each layer, and once after the last:\n    T copies of the target's vectors; in copy t, position t gets the "
        "source's vector\n    run the remaining layers on all copies\n    advance both runs, unchanged, by one layer",
        "A near miss: inserting `source` itself is correct at layer 0. At later layers you need the vector from the source's "
        "*own run*.",
    ),
)

# ------------------------------------------------------------------------------------------ attribution patching


def attribution_cases(draw: Draw) -> Iterator[Case]:
    """As for patching, with a score that depends on all positions; in the last case no layer comes after the input."""
    for L, T, D in ((2, 4, 3), (3, 3, 5), (1, 5, 4)):
        yield {
            "among": draw.normal(L, T, T, scale=0.7),
            "within": draw.normal(L, D, D, scale=0.6),
            "target": draw.normal(T, D),
            "source": draw.normal(T, D),
            "direction": draw.normal(D),
        }


SLOPES = "slopes = torch.autograd.grad(score(states[-1]), states)"
STATES = "states, others = [target.clone().requires_grad_()], [source]"
EXACT_EFFECTS = """
def attribution(layers, target, source, score):
    found, a, b = [], target[None], source[None]
    whole = target[None]
    for layer in layers:
        whole = layer(whole)
    for layer in range(len(layers) + 1):
        row = []
        for t in range(len(target)):
            x = a.clone()
            x[0, t] = b[0, t]
            for rest in layers[layer:]:
                x = rest(x)
            row.append(score(x[0]) - score(whole[0]))
        found.append(torch.stack(row))
        if layer < len(layers):
            a, b = layers[layer](a), layers[layer](b)
    return torch.stack(found)
"""

attribution = Exercise(
    cases=attribution_cases,
    rule=Rule(axes={"": "L+1 T"}),
    mistakes=(
        Mistake(
            "exact effects instead of estimates",
            "You patch the vectors and run the layers again, which gives the exact effects. The estimate needs only the gradient of the target's score.",
            code=EXACT_EFFECTS,
        ),
        Mistake(
            "target minus source",
            "Your signs are reversed: a patch adds the source's vector and subtracts the target's.",
            "(other - state)", "(state - other)",
        ),
        Mistake(
            "gradient in the source's run",
            "You differentiate the source's score. The patch changes the target's run, so use the gradient of the target's score.",
            edits={
                STATES: "states, others = [source.clone().requires_grad_()], [target]",
                "(other - state)": "(state - other)",
            },
        ),
        Mistake(
            "difference missing",
            "You multiply the gradient by the source's vector alone. The patch changes the input by the source's vector minus the target's.",
            "(other - state)", "other",
        ),
        Mistake(
            "gradient times input",
            "You multiply the gradient by the target's own vector. Up to its sign, this estimates the effect of setting the vector to 0, not the effect of a patch.",
            "(other - state)", "state",
        ),
        Mistake(
            "gradient without the difference",
            "You sum the coordinates of the gradient. Multiply them by the difference of the two vectors first.",
            "(slope * (other - state)).sum", "slope.sum",
        ),
        Mistake(
            "length of the gradient",
            "You return the length of the gradient. You need its dot product with the difference, which also depends on the direction of the change.",
            "(slope * (other - state)).sum(dim=-1)", "slope.norm(dim=-1)",
        ),
        Mistake(
            "absolute values",
            "Your values are never negative. A patch may also lower the score, so keep the sign.",
            "(slope * (other - state)).sum(dim=-1)", "(slope * (other - state)).sum(dim=-1).abs()",
        ),
        Mistake(
            "difference of the inputs at every layer",
            "Your first row is correct. At later layers, you still use the difference of the two inputs; use the vectors of the two runs at that layer.",
            "(other - state)", "(source - target)",
        ),
        Mistake(
            "source not run through the layers",
            "Your first row is correct. At later layers, you still use the source's input: run the source through the layers as well.",
            "others.append(layer(others[-1][None])[0])", "others.append(source)",
        ),
        Mistake(
            "gradient of the input at every layer",
            "Your first row is correct. At later layers, you still use the gradient with respect to the input of the first layer. Each layer's input has its own gradient.",
            "zip(slopes, others, states)", "zip([slopes[0]] * len(states), others, states)",
        ),
        Mistake(
            "mean over the coordinates",
            "You average over the coordinates. A dot product is a sum.",
            ".sum(dim=-1)", ".mean(dim=-1)",
        ),
        Mistake(
            "one number for each layer",
            "You sum over the positions as well. Return one number for each layer and position.",
            ".sum(dim=-1)", ".sum()",
        ),
        Mistake(
            "no dot product",
            "You keep all D coordinates. Sum the products over the coordinates.",
            "(slope * (other - state)).sum(dim=-1)", "slope * (other - state)",
        ),
        Mistake(
            "last row missing",
            "Your last row is missing. It belongs to the vectors after the last layer.",
            "zip(slopes, others, states)", "list(zip(slopes, others, states))[:-1]",
        ),
        Mistake(
            "first row missing",
            "Your first row is missing. It belongs to the inputs of the first layer.",
            "zip(slopes, others, states)", "list(zip(slopes, others, states))[1:]",
        ),
        Mistake(
            "layers in reverse order",
            "You run the layers from the last to the first. Run them from the first to the last.",
            "for layer in layers:", "for layer in layers[::-1]:",
        ),
    ),
    alternatives={
        "backward and retained gradients": """
def attribution(layers, target, source, score):
    a, b = target.clone().unsqueeze(0).requires_grad_(True), source.unsqueeze(0)
    mine, theirs = [a], [b]
    for layer in layers:
        mine.append(layer(mine[-1]))
        mine[-1].retain_grad()
        theirs.append(layer(theirs[-1]))
    score(mine[-1][0]).backward()
    return torch.stack([torch.einsum("btd,btd->t", m.grad, t - m) for m, t in zip(mine, theirs)])
""",
        "a new run from each layer": """
def attribution(layers, target, source, score):
    found, a, b = [], target, source
    for number in range(len(layers) + 1):
        x = a.detach().clone().requires_grad_()
        y = x[None]
        for layer in layers[number:]:
            y = layer(y)
        (slope,) = torch.autograd.grad(score(y[0]), x)
        found.append((slope * (b - a)).sum(-1))
        if number < len(layers):
            a, b = layers[number](a[None])[0], layers[number](b[None])[0]
    return torch.stack(found)
""",
        "a derivative in the direction of the difference": """
def attribution(layers, target, source, score):
    rows, a, b = [], target, source
    for number in range(len(layers) + 1):
        def after(x, rest=layers[number:]):
            x = x[None]
            for layer in rest:
                x = layer(x)
            return score(x[0])
        slope = torch.func.grad(after)(a)
        rows.append(((b - a) * slope).sum(dim=1))
        if number < len(layers):
            a, b = layers[number](a[None])[0], layers[number](b[None])[0]
    return torch.stack(rows)
""",
    },
    hints=(
        "Near one point, a function changes by its gradient times the step. At which point is the gradient taken here, and what is the step?",
        "The vectors of each run: L + 1 tensors (T, D). Gradients: of the same shapes. Output: (L+1, T).",
        "run both inputs through the layers and keep all vectors; those of the target need gradients\nscore of the target's last vectors\ngradient with "
        "respect to every kept tensor of the target\ndot products with source minus target",
        "A near miss: `source - target` is the right difference at layer 0 only. Later layers need the two runs' vectors at that layer.",
    ),
    survivors={
        "[None])[-1]": "a batch of one run: its first is its last",
        "target.requires_grad_()": "the values are the same; the check makes its own tensor",
        "torch.stack(rows)`": "the values are the same with their gradients",
    },
)

# ------------------------------------------------------------------------------------------ a sparse code


def encode_cases(draw: Draw) -> Iterator[Case]:
    """Few and many latents kept, all of them (k = 0), and more than are positive."""
    for n, D, F, k in ((14, 4, 12, 3), (3, 5, 9, 0), (4, 3, 6, 5), (12, 2, 9, 1)):
        yield {
            "x": draw.normal(n, D) + 1,
            "matrix": draw.normal(D, F),
            "bias": draw.normal(F, scale=0.5) + 0.4,
            "centre": draw.normal(D, scale=0.8),
            "k": k,
        }


CODES = "codes = torch.relu((x - centre) @ matrix + bias)"
KEPT = "kept = codes.topk(k, dim=1)"
SCATTERED = "return torch.zeros_like(codes).scatter(1, kept.indices, kept.values)"

encode = Exercise(
    cases=encode_cases,
    rule=Rule(axes={"": "n F"}),
    mistakes=(
        Mistake(
            "centre not subtracted",
            "You do not subtract the centre. The latents describe how a vector differs from the centre.",
            "(x - centre)", "x",
        ),
        Mistake(
            "centre added",
            "You add the centre. Subtract it in encoding; decoding adds it back.",
            "(x - centre)", "(x + centre)",
        ),
        Mistake(
            "bias missing",
            "You leave out the bias, with which a latent sets its own threshold.",
            " + bias", "",
        ),
        Mistake(
            "bias subtracted",
            "You subtract the bias. Add it.",
            " + bias", " - bias",
        ),
        Mistake(
            "ReLU missing",
            "Your codes may be negative. Apply a ReLU: a code is either positive, if the latent is active, or 0.",
            CODES, CODES.replace("torch.relu(", "("),
        ),
        Mistake(
            "absolute value instead of the ReLU",
            "You take the absolute value, so a latent is active for its direction and for the opposite one. Apply a ReLU.",
            "torch.relu(", "torch.abs(",
        ),
        Mistake(
            "bias added after the ReLU",
            "You add the bias after the ReLU, so codes may be negative, and inactive latents may have codes other than 0. Add the bias before the ReLU.",
            CODES, "codes = torch.relu((x - centre) @ matrix) + bias",
        ),
        Mistake(
            "all codes kept",
            "You keep all codes even if k is not 0. Keep only the k largest of each vector.",
            "if k == 0:", "if True:",
        ),
        Mistake(
            "k = 0 keeps nothing",
            "If k is 0, you set all codes to 0. In this case, all codes should be kept.",
            "    if k == 0:\n        return codes\n", "",
        ),
        Mistake(
            "k smallest",
            "You keep the k smallest codes. Keep the k largest.",
            "codes.topk(k, dim=1)", "codes.topk(k, dim=1, largest=False)",
        ),
        Mistake(
            "k largest of each latent",
            "You keep the k largest codes of each *latent*, along the first axis. Keep the k largest of each vector.",
            edits={KEPT: "kept = codes.topk(min(k, len(codes)), dim=0)", SCATTERED: SCATTERED.replace("scatter(1", "scatter(0")},
        ),
        Mistake(
            "k largest of the whole batch",
            "You keep the n · k largest codes of the whole batch, so a vector may keep more or fewer than k. Choose the k largest of each vector.",
            edits={
                KEPT: "kept = codes.flatten().topk(k * len(codes))",
                SCATTERED: "return torch.zeros_like(codes).flatten().scatter(0, kept.indices, kept.values).view_as(codes)",
            },
        ),
        Mistake(
            "ones instead of codes",
            "You return 1 for each latent that is kept. Return its code.",
            "kept.values)", "torch.ones_like(kept.values))",
        ),
        Mistake(
            "only the kept codes returned",
            "You return k columns. Return all F columns, with 0 where a code is not kept.",
            SCATTERED, "return kept.values",
        ),
        Mistake(
            "k largest absolute values before the ReLU",
            "You choose the k largest *absolute* values before the ReLU, so a negative value can take the place of a positive one. Apply the ReLU first.",
            edits={
                CODES: "codes = (x - centre) @ matrix + bias",
                "        return codes\n": "        return torch.relu(codes)\n",
                KEPT: "kept = codes.abs().topk(k, dim=1)",
                SCATTERED: "return torch.relu(torch.zeros_like(codes).scatter(1, kept.indices, codes.gather(1, kept.indices)))",
            },
        ),
        Mistake(
            "softmax instead of the ReLU",
            "You apply a softmax, so the codes of a vector compete and sum to 1. Apply a ReLU to each code.",
            "torch.relu((x - centre) @ matrix + bias)", "((x - centre) @ matrix + bias).softmax(dim=1)",
        ),
        detached("encode"),
    ),
    alternatives={
        "a threshold: the k-th largest": """
def encode(x, matrix, bias, centre, k):
    codes = ((x - centre) @ matrix + bias).clamp(min=0)
    if k:
        codes = codes * (codes >= codes.topk(k, dim=1).values[:, -1:])
    return codes
""",
        "a mask, chosen before the ReLU": """
def encode(x, matrix, bias, centre, k):
    before = torch.einsum("nd,df->nf", x - centre, matrix) + bias
    if k > 0:
        order = before.argsort(dim=1, descending=True).argsort(dim=1)
        before = torch.where(order < k, before, torch.zeros_like(before))
    return torch.relu(before)
""",
        "row by row": """
def encode(x, matrix, bias, centre, k):
    rows = []
    for one in x:
        codes = torch.relu((one - centre) @ matrix + bias)
        mask = torch.ones_like(codes)
        if k > 0:
            mask = torch.zeros_like(codes)
            mask[codes.topk(k).indices] = 1
        rows.append(codes * mask)
    return torch.stack(rows)
""",
    },
    hints=(
        "One vector, five latents, codes 0.2, 3, 0, 1, 0.5 and k = 2: what is returned?",
        "x: (n, D); matrix: (D, F). Codes before and after the choice: (n, F).",
        "codes = ReLU of (x − centre) times matrix, plus bias\nif k is 0: return these codes\notherwise: keep the k largest of each row, with zeros elsewhere",
        "A near miss: `codes.topk(k)` returns only k columns. Put the values back at their indices.",
    ),
    survivors={"codes.topk(k)`": "the last axis is the default"},
)

# ------------------------------------------------------------------------------------------ its loss


def loss_cases(draw: Draw) -> Iterator[Case]:
    """Directions of different lengths; with and without a penalty."""
    for n, D, F, l1 in ((5, 4, 7, 0.3), (3, 5, 6, 0.0), (4, 3, 8, 1.5)):
        codes = draw.uniform(n, F, low=0.2, high=2.0) * (draw.uniform(n, F) < 0.5)
        yield {
            "x": draw.normal(n, D),
            "codes": codes.astype(np.float32),
            "directions": draw.normal(F, D) * draw.uniform(F, 1, low=0.3, high=2.0),
            "centre": draw.normal(D),
            "l1": l1,
        }


ERRORS = "errors = (x - codes @ directions - centre).square().sum(dim=1)"
PENALTY = "l1 * (codes @ directions.norm(dim=1))"

sparse_loss = Exercise(
    cases=loss_cases,
    rule=Rule(axes={"": ""}),
    mistakes=(
        Mistake(
            "length of the directions missing",
            "Your penalty does not depend on the lengths of the directions, so small codes with long directions would evade it. Multiply each code by the length of its direction.",
            PENALTY, "l1 * codes.sum(dim=1)",
        ),
        Mistake(
            "penalty missing",
            "Your loss contains only the error. Add l1 times the penalty.",
            " + " + PENALTY, "",
        ),
        Mistake(
            "l1 missing",
            "You add the penalty without the factor l1.",
            "l1 * (codes", "(codes",
        ),
        Mistake(
            "penalty subtracted",
            "You subtract the penalty, which rewards large codes. Add it.",
            "errors + l1", "errors - l1",
        ),
        Mistake(
            "centre missing",
            "You decode without the centre. The codes describe how a vector differs from the centre.",
            " - centre)", ")",
        ),
        Mistake(
            "centre subtracted in decoding",
            "You subtract the centre from the decoded vector. Decoding adds it.",
            " - centre)", " + centre)",
        ),
        Mistake(
            "mean over the coordinates",
            "You average the squared error over the D coordinates. Sum over the coordinates and average over the vectors only.",
            ".square().sum(dim=1)", ".square().mean(dim=1)",
        ),
        Mistake(
            "distance not squared",
            "You use the distance between x and the decoded vector. Use its square.",
            ".square().sum(dim=1)", ".norm(dim=1)",
        ),
        Mistake(
            "absolute error",
            "You sum absolute differences. Sum their squares.",
            ".square()", ".abs()",
        ),
        Mistake(
            "sum over the vectors",
            "You sum over the n vectors. Take the mean over them.",
            "(codes @ directions.norm(dim=1))).mean()", "(codes @ directions.norm(dim=1))).sum()",
        ),
        Mistake(
            "penalty averaged over the latents",
            "You average the penalty over the F latents. Sum over the latents and average over the vectors.",
            PENALTY, PENALTY + " / codes.shape[1]",
        ),
        Mistake(
            "penalty summed over the vectors",
            "Your error is a mean over the vectors, but your penalty is a sum over them. Take the mean of both.",
            "return (errors + l1 * (codes @ directions.norm(dim=1))).mean()",
            "return errors.mean() + (l1 * (codes @ directions.norm(dim=1))).sum()",
        ),
        Mistake(
            "squared codes in the penalty",
            "You penalise the squares of the codes, which makes codes small but not sparse. Use the codes themselves.",
            "l1 * (codes @", "l1 * (codes.square() @",
        ),
        Mistake(
            "squared lengths in the penalty",
            "You multiply by the squared length of each direction. Multiply by the length.",
            "directions.norm(dim=1)", "directions.square().sum(dim=1)",
        ),
        Mistake(
            "number of active latents in the penalty",
            "Your penalty counts the active latents. A count has no gradient; multiply the codes by the lengths of their directions.",
            "(codes @ directions.norm(dim=1))", "(codes > 0).float().sum(dim=1)",
        ),
        Mistake(
            "one loss per vector",
            "You return one number per vector. Return their mean.",
            "(codes @ directions.norm(dim=1))).mean()", "(codes @ directions.norm(dim=1)))",
        ),
        detached("sparse_loss"),
    ),
    alternatives={
        "two means": """
def sparse_loss(x, codes, directions, centre, l1):
    decoded = centre + codes @ directions
    error = torch.nn.functional.mse_loss(decoded, x) * x.shape[1]
    return error + l1 * (codes * directions.pow(2).sum(1).sqrt()).sum() / len(x)
""",
        "latent by latent": """
def sparse_loss(x, codes, directions, centre, l1):
    decoded, penalty = centre.expand_as(x), 0
    for f in range(len(directions)):
        decoded = decoded + codes[:, f : f + 1] * directions[f]
        penalty = penalty + codes[:, f] * torch.linalg.vector_norm(directions[f])
    return (((x - decoded) ** 2).sum(-1) + l1 * penalty).mean()
""",
        "the norm of each contribution": """
def sparse_loss(x, codes, directions, centre, l1):
    contributions = codes[:, :, None] * directions
    lengths = torch.einsum("nf,f->n", codes, directions.norm(dim=-1))
    rest = x - centre - contributions.sum(dim=1)
    return torch.einsum("nd,nd->n", rest, rest).mean() + l1 * lengths.mean()
""",
    },
    hints=(
        "How could an autoencoder halve the sum of its codes without changing any decoded vector?",
        "Decoded: (n, D). Error of each vector: (n). Lengths of the directions: (F). Penalty of each vector: (n). Output: one number.",
        "decoded = centre + codes times directions\nerror = squared differences, summed over the coordinates\npenalty = codes times the "
        "lengths of the directions, summed over the latents\nmean of error + l1 × penalty",
        "A near miss: `mse_loss(decoded, x)` also averages over the D coordinates.",
    ),
)

# ------------------------------------------------------------------------------------------ precision and recall


def detection_cases(draw: Draw) -> Iterator[Case]:
    """A latent that is never active, one that is active once, a feature that no token has, one that a single token has, a latent that equals a feature."""
    for n, F, C in ((12, 5, 3), (9, 4, 6), (15, 3, 2)):
        active, truth = draw.uniform(n, F) < 0.5, draw.uniform(n, C) < 0.4
        active[0], truth[1] = True, True
        active[:, 1], truth[:, 0] = False, False
        active[:, 0] = truth[:, 1]
        active[:, 2], active[1, 2] = False, True
        if C > 2:
            truth[:, 2], truth[0, 2] = False, True
        yield {"active": active, "truth": truth}


BOTH = "both = active.T @ truth"
PRECISION = "precision = both / active.sum(dim=0)[:, None].clamp_min(1)"
RETURNED = "return torch.stack([precision, both / truth.sum(dim=0).clamp_min(1)])"

detection = Exercise(
    cases=detection_cases,
    rule=Rule(axes={"": "rows F C"}),
    mistakes=(
        Mistake(
            "rows swapped",
            "Your rows are swapped: precision comes first, then recall.",
            "[precision, both / truth.sum(dim=0).clamp_min(1)]", "[both / truth.sum(dim=0).clamp_min(1), precision]",
        ),
        Mistake(
            "precision twice",
            "Your recall equals your precision. Recall divides by the number of tokens that have the feature.",
            "both / truth.sum(dim=0).clamp_min(1)]", "precision]",
        ),
        Mistake(
            "recall twice",
            "Your precision equals your recall. Precision divides by the number of tokens on which the latent is active.",
            "[precision, both / truth.sum(dim=0).clamp_min(1)]", "[both / truth.sum(dim=0).clamp_min(1)] * 2",
        ),
        Mistake(
            "not a number for a latent that is never active",
            "Your precision is NaN for a latent that is never active: 0 divided by 0. It should be 0.",
            "active.sum(dim=0)[:, None].clamp_min(1)", "active.sum(dim=0)[:, None]",
        ),
        Mistake(
            "not a number for a feature that no token has",
            "Your recall is NaN for a feature that no token has: 0 divided by 0. It should be 0.",
            "truth.sum(dim=0).clamp_min(1)", "truth.sum(dim=0)",
        ),
        Mistake(
            "divided by the number of all tokens",
            "You divide by the number of all tokens. Precision divides by the number of tokens on which the latent is active, recall by the number of tokens that have the feature.",
            edits={PRECISION: "precision = both / len(active)", RETURNED: "return torch.stack([precision, precision])"},
        ),
        Mistake(
            "accuracy instead of precision",
            "Your row 0 is the share of tokens on which latent and feature agree, which also counts tokens with neither. Precision looks only at tokens on which the latent is active.",
            PRECISION, "precision = (both + (1 - active).T @ (1 - truth)) / len(active)",
        ),
        Mistake(
            "features before latents",
            "Your last two axes are swapped: latents come before features.",
            RETURNED, RETURNED.replace(")])", ")]).transpose(1, 2)"),
        ),
        Mistake(
            "counts instead of shares",
            "You return counts. Divide them by the number of active tokens (precision) and of tokens with the feature (recall).",
            edits={PRECISION: "precision = both", RETURNED: "return torch.stack([both, both])"},
        ),
        Mistake(
            "F1 instead of recall",
            "Your row 1 is F1. Return recall itself.",
            RETURNED,
            "recall = both / truth.sum(dim=0).clamp_min(1)\n    f1 = 2 * precision * recall / (precision + recall).clamp_min(1e-9)\n    return torch.stack([precision, f1])",
        ),
        Mistake(
            "tokens without the feature",
            "You count tokens *without* the feature. Count the tokens on which the latent is active and that have the feature.",
            BOTH, "both = active.T @ (1 - truth)",
        ),
        Mistake(
            "1 added to the divisor",
            "You add 1 to every divisor, so your shares are too small. Only a divisor of 0 needs special treatment.",
            edits={
                PRECISION: "precision = both / (active.sum(dim=0)[:, None] + 1)",
                RETURNED: "return torch.stack([precision, both / (truth.sum(dim=0) + 1)])",
            },
        ),
        Mistake(
            "1 where nothing is active",
            "You return 1 for a latent that is never active. The docstring asks for 0.",
            PRECISION, "precision = torch.where(active.sum(dim=0)[:, None] > 0, both / active.sum(dim=0)[:, None].clamp_min(1), 1.0)",
        ),
    ),
    alternatives={
        "nan_to_num": """
def detection(active, truth):
    hits = (active[:, :, None] & truth[:, None]).sum(dim=0)
    precision = hits / active.sum(dim=0)[:, None]
    recall = hits / truth.sum(dim=0)[None]
    return torch.stack([precision, recall]).nan_to_num(0.0)
""",
        "loops": """
def detection(active, truth):
    F, C = active.shape[1], truth.shape[1]
    result = torch.zeros(2, F, C)
    for f in range(F):
        for c in range(C):
            hits = (active[:, f] & truth[:, c]).sum().item()
            if active[:, f].any():
                result[0, f, c] = hits / active[:, f].sum().item()
            if truth[:, c].any():
                result[1, f, c] = hits / truth[:, c].sum().item()
    return result
""",
        "where, in float64": """
def detection(active, truth):
    a, t = active.double(), truth.double()
    hits = torch.einsum("nf,nc->fc", a, t)
    shares = [torch.where(total > 0, hits / total.clamp(min=1e-12), torch.zeros_like(hits)) for total in (a.sum(0)[:, None], t.sum(0)[None])]
    return torch.stack(shares)
""",
    },
    hints=(
        "A latent is active on 4 tokens, 3 of which belong to the topic; in all, 10 tokens belong to it. What are precision and recall?",
        "active: (n, F), truth: (n, C). Tokens with both: (F, C). Divisors: (F, 1) and (C). Output: (2, F, C).",
        "count the tokens on which latent f is active and that have feature c, for all pairs: a matrix product\ndivide by the number of tokens on which "
        "the latent is active\ndivide by the number of tokens with the feature\n0 where a divisor is 0",
        "A near miss: dividing by a count of 0 gives NaN, not 0.",
    ),
)

# ------------------------------------------------------------------------------------------ steering


def steering_cases(draw: Draw) -> Iterator[Case]:
    """Three and more senses of different frequency; the first sense is not always the one steered towards."""
    for n, D, senses, towards, away in ((9, 4, 3, 2, 0), (12, 3, 4, 1, 3), (7, 5, 2, 0, 1)):
        of = np.concatenate([np.arange(senses), draw.integers(0, senses, n - senses)]).astype(np.int64)
        yield {"vectors": draw.normal(n, D) + of[:, None].astype(np.float32), "senses": of, "towards": towards, "away": away}


MEANS = "return vectors[senses == towards].mean(dim=0) - vectors[senses == away].mean(dim=0)"

steering_vector = Exercise(
    cases=steering_cases,
    rule=Rule(axes={"": "D"}),
    mistakes=(
        Mistake(
            "opposite direction",
            "Your vector points the wrong way: it leads from `towards` to `away`.",
            MEANS, "return vectors[senses == away].mean(dim=0) - vectors[senses == towards].mean(dim=0)",
        ),
        Mistake(
            "sums instead of means",
            "You subtract sums, so the more frequent sense dominates. Subtract the means.",
            edits={MEANS: MEANS.replace(".mean(", ".sum(")},
        ),
        Mistake(
            "all other vectors counted as the other sense",
            "You subtract the mean of all vectors that do not have the sense `towards`. Use only the vectors of the sense `away`.",
            "vectors[senses == away]", "vectors[senses != towards]",
        ),
        Mistake(
            "mean of all vectors subtracted",
            "You subtract the mean of all vectors. Subtract the mean of the vectors with the sense `away`.",
            "vectors[senses == away].mean", "vectors.mean",
        ),
        Mistake(
            "other sense not subtracted",
            "You return the mean vector of one sense. Subtract the mean vector of the sense `away`.",
            " - vectors[senses == away].mean(dim=0)", "",
        ),
        Mistake(
            "scaled to length 1",
            "You scale the vector to length 1. Return the difference itself: its length shows how far apart the two means are.",
            MEANS, "difference = " + MEANS.removeprefix("return ") + "\n    return difference / difference.norm()",
        ),
        Mistake(
            "mean over the coordinates",
            "You average over all coordinates. Return a vector of D coordinates.",
            edits={MEANS: MEANS.replace(".mean(dim=0)", ".mean()")},
        ),
        Mistake(
            "sum of the two means",
            "You add the two means. Subtract the second mean.",
            "dim=0) - vectors", "dim=0) + vectors",
        ),
        Mistake(
            "half of the difference",
            "You return half of the difference, which leads only to the midpoint between the two means.",
            MEANS, "return (" + MEANS.removeprefix("return ") + ") / 2",
        ),
        Mistake(
            "one vector of each sense",
            "You use the first vector of each sense. Use the mean of all vectors of the sense.",
            edits={MEANS: MEANS.replace(".mean(dim=0)", "[0]")},
        ),
        Mistake(
            "means scaled to length 1",
            "You scale the two means to length 1 before you subtract them. Subtract the means themselves.",
            MEANS,
            "unit = torch.nn.functional.normalize\n    return unit(vectors[senses == towards].mean(dim=0), dim=0) - unit(vectors[senses == away].mean(dim=0), dim=0)",
        ),
        Mistake(
            "median instead of mean",
            "You use the median of each coordinate. Use the mean.",
            edits={MEANS: MEANS.replace(".mean(dim=0)", ".median(dim=0).values")},
        ),
    ),
    alternatives={
        "weights of each vector": """
def steering_vector(vectors, senses, towards, away):
    one, other = (senses == towards).float(), (senses == away).float()
    return (one / one.sum() - other / other.sum()) @ vectors
""",
        "sums and counts in a loop": """
def steering_vector(vectors, senses, towards, away):
    sums = {towards: torch.zeros(vectors.shape[1]), away: torch.zeros(vectors.shape[1])}
    counts = {towards: 0, away: 0}
    for vector, sense in zip(vectors, senses.tolist()):
        if sense in sums:
            sums[sense] = sums[sense] + vector
            counts[sense] += 1
    return sums[towards] / counts[towards] - sums[away] / counts[away]
""",
    },
    hints=(
        "The vector is an arrow between two means. At which end is the sense that you want to steer towards?",
        "vectors: (n, D). Vectors of one sense: (m, D). Means: (D). Output: (D).",
        "mean of the vectors whose sense is `towards`\nminus the mean of the vectors whose sense is `away`",
        "A near miss: `senses != towards` also includes other senses, such as the telephone sense of *cell*.",
    ),
)
