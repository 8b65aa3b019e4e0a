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
            "You return the cross-entropy. Its smallest value is the entropy of p; subtract this entropy, so that the result is 0 if p and q agree.",
            "torch.xlogy(p, p) - p", "-p",
        ),
        Mistake(
            "cross-entropy missing",
            "Your result does not depend on the logits: it is the negative entropy of p. Subtract p · log q from each term.",
            " - p * logits.log_softmax(dim=-1)", "",
        ),
        Mistake(
            "KL(q || p)",
            "You have exchanged p and q. The mean is taken under p: each term has the factor p(v), not q(v).",
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
            "Your signs are reversed. The divergence is never negative.",
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
            "You sum over all rows. Return one number for each row.",
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
        "Which two averages under p does the sum contain, and which of them does not depend on the model?",
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
            "You divide but do not subtract the mean first. That is a different norm, RMSNorm.",
            CENTRED, "centred = stream",
        ),
        Mistake(
            "mean not subtracted in the numerator",
            "Your variance is correct, but the vector that you divide by its root still contains its mean. Subtract the mean from it "
            "as well.",
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
            "You divide by the variance. Only division by its square root, √(variance + 10⁻⁵), makes all vectors equally long.",
            "(variance + 1e-5).sqrt()", "(variance + 1e-5)",
        ),
        Mistake(
            "ε missing",
            "Your logits are correct for long vectors. For short vectors, the 10⁻⁵ that you leave out matters.",
            "(variance + 1e-5).sqrt()", "variance.sqrt()",
        ),
        Mistake(
            "ε outside the square root",
            "Your logits are correct for long vectors. For short vectors, it matters that 10⁻⁵ is added to the variance before the "
            "square root is taken, not to the root.",
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
            "mean and variance of the last point for all",
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
        "What happens to a vector of a pre-norm model between its last layer and the logits? Do the same at every point.",
        "stream: (points, B, T, D). Mean and variance: (points, B, T, 1). Normalised: as the stream. Times the transposed "
        "table: (points, B, T, V).",
        "subtract each vector's mean\ndivide by the square root of its variance + 1e-5\ntimes gain, plus bias\nmatrix product "
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
            "Your mean includes the vectors at padding. Only real tokens, for which `real` is 1, should count.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head].mean(dim=(0, 1))",
        ),
        Mistake(
            "padding as zeros in the mean",
            "You set padding to 0 and divide by the number of *all* tokens. Divide by the number of real ones.",
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
            "In row 1, you use the *sum* over the real tokens instead of their mean.",
            "outputs[:, head][real == 1].mean(dim=0)", "outputs[:, head][real == 1].sum(dim=0)",
        ),
        Mistake(
            "other heads ablated",
            "You ablate the *other* heads. Ablate only the head with the given number and keep the others.",
            TAKEN,
            "rest = [h for h in range(outputs.shape[1]) if h != head]\n    zeroed[:, rest] = 0\n    meaned[:, rest] = outputs[:, rest].transpose(1, 2)[real == 1].mean(dim=0)[:, None]",
        ),
        Mistake(
            "heads counted from 1",
            "You ablate head − 1: heads are numbered from 0.",
            edits={MEAN_OF_HEAD: "head = head - 1\n    " + MEAN_OF_HEAD},
        ),
        Mistake(
            "all heads ablated",
            "You ablate all heads. The other heads should stay as they are.",
            edits={
                MEAN_OF_HEAD: "mean = outputs.transpose(1, 2)[real == 1].mean(dim=0)[:, None]",
                TAKEN: "zeroed[:], meaned[:] = 0, mean",
            },
        ),
        Mistake(
            "both rows the same tensor",
            "Your two rows are equal: both names refer to the same tensor, and the second change overwrites the first. Each "
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
            "You ablate the head only at real tokens. The replacement also applies at padding: the docstring says *at every token*.",
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
            "In row 1 you subtract the head's mean from its output, which keeps what is specific to this word. Replace the output with the mean.",
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
        "Which part of the head's output is common to *all* words, and which is specific to this one? Which remains when the "
        "mean replaces the output?",
        "outputs: (B, H, T, d). One head: (B, T, d); its real tokens: (n, d); their mean: (d). Output: (2, B, H, T, d).",
        "mean = the head's vectors at real tokens, averaged\ntwo copies of outputs\nat every token, set the head to 0 in one "
        "copy and to the mean in the other\nstack them",
        "A near miss: `outputs[:, head].mean(dim=(0, 1))` includes padding, and `a = b = outputs.clone()` makes one copy, not "
        "two.",
    ),
)

# ------------------------------------------------------------------------------------------ activation patching


def patching_cases(draw: Draw) -> Iterator[Case]:
    """Layers mix the words, so that an exchange spreads; there are at most as many layers as positions."""
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
            "You take everything except position t from the source. It should be the reverse: run the target, and insert the "
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
            "Your entries for layer 0 are correct. At later layers, the other positions still hold the input of the first layer. The target, like the source, has to be run through the layers.",
            START, "x = target.repeat(T, 1, 1)",
        ),
        Mistake(
            "neither run continued",
            "Your entries for layer 0 are correct. At later layers you still combine the vectors that enter the first layer. "
            "Both runs should continue, layer by layer.",
            edits={START: "x = target.repeat(T, 1, 1)", EXCHANGE: "x[range(T), range(T)] = source"},
        ),
        Mistake(
            "all layers run after each exchange",
            "Your entries for layer 0 are correct. After an exchange at a later layer you run *all* layers again; run only the "
            "remaining ones.",
            REST, "for rest in layers:",
        ),
        Mistake(
            "one layer skipped",
            "You skip a layer. The exchange replaces the *input* to layer l, so layer l itself still has to run.",
            REST, "for rest in layers[layer + 1 :]:",
        ),
        Mistake(
            "remaining layers not run",
            "You return the vectors right after the exchange. They still have to pass through the remaining layers.",
            "        for rest in layers[layer:]:\n            x = rest(x)\n", "",
        ),
        Mistake(
            "only one layer after the exchange",
            "After an exchange you run only one layer. Run all the remaining ones.",
            REST, "for rest in layers[layer : layer + 1]:",
        ),
        Mistake(
            "earlier exchanges not undone",
            "In your entry [l, t], positions 0 to t are exchanged: you never undo earlier exchanges. Each run should have only one "
            "exchange, in a copy of the target's vectors.",
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
            "all positions exchanged",
            "You replace the vectors at *all* positions, which simply reproduces the source's run. Replace the vector at one position at a time.",
            EXCHANGE, "x[:] = both[1]",
        ),
        Mistake(
            "target run changed by an exchange",
            "Your entries for layer 0 are correct. After that, the target's run continues from vectors that an exchange has "
            "changed. Make each exchange in a copy.",
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
            "added instead of exchanged",
            "You *add* the source's vector to the target's. It should replace it.",
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
            "You return the difference from the target's run. Return the vectors themselves.",
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
            "exchange after the last layer missing",
            "Your last row is missing. There are L + 1 exchanges per position, including the one after the last layer.",
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
        "There are two unmodified runs, the target's and the source's. At which layers do you need both, and which one "
        "continues after the exchange?",
        "The two runs: (2, T, D) at each layer. With one exchange per position: a batch (T, T, D). After the remaining layers: "
        "(T, T, D). Output: (L+1, T, T, D).",
        "for each layer, and once after the last:\n    T copies of the target's vectors; in copy t, position t gets the "
        "source's vector\n    run the remaining layers on all copies\n    advance both runs, unchanged, by one layer",
        "A near miss: inserting `source` itself is correct at layer 0. At later layers you need the vector from the source's "
        "*own run*.",
    ),
)

