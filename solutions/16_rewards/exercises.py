"""16 Learning from rewards: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.judging import Rule

# ------------------------------------------------------------------------------------------ REINFORCE


def reinforce_cases(draw: Draw) -> Iterator[Case]:
    """Log-probabilities of answers, positive and negative rewards, and a baseline for each answer."""
    for n, scale, shift in ((6, 1.0, 3.0), (9, 2.0, 8.0), (4, 0.5, -4.0)):
        yield {
            "log_p": -np.abs(draw.normal(n, scale=2.0)) - 0.1,
            "reward": draw.normal(n, scale=scale) + shift,
            "baseline": draw.normal(n, scale=0.7) + shift / 2,
        }


WEIGHED = "-((reward - baseline) * log_p).mean()"

reinforce_loss = Exercise(
    cases=reinforce_cases,
    rule=Rule(tolerance=1e-4, axes={"": ""}),
    mistakes=(
        Mistake("wrong sign", "Minimising your loss would *lower* the expected reward. The loss needs a minus sign.", WEIGHED, WEIGHED[1:]),
        Mistake("baseline not used", "Your loss does not depend on the baseline. Subtract it from the reward.", "reward - baseline", "reward"),
        Mistake("baseline added", "You add the baseline to the reward. Subtract it: only an answer that is better than expected should become more probable.", "reward - baseline", "reward + baseline"),
        Mistake("sum instead of mean", "You add up the terms of the answers. Take their mean, so that the gradient does not grow with the number of answers.", ".mean()", ".sum()"),
        Mistake("probability instead of its logarithm", "You multiply by probabilities. The answers were sampled, so each is weighted by its probability already: multiply by log p.", "* log_p)", "* log_p.exp())"),
        Mistake(
            "product of means",
            "You average rewards and log-probabilities separately, so it no longer matters which answer had which reward. Multiply first, and then take the mean.",
            WEIGHED, "-(reward - baseline).mean() * log_p.mean()",
        ),
        Mistake("reward divided by the baseline", "You divide by the baseline. Subtract it.", "(reward - baseline)", "(reward / baseline)"),
        Mistake("mean of the log-probabilities only", "Your loss does not depend on the rewards. Weight each log-probability by reward minus baseline.", "(reward - baseline) * log_p", "log_p"),
        Mistake("advantages normalised", "You also divide by the standard deviation. REINFORCE only subtracts the baseline.", "(reward - baseline) *", "((reward - baseline) / (reward - baseline).std()) *"),
        detached("reinforce_loss"),
    ),
    alternatives={
        "dot product": """
def reinforce_loss(log_p, reward, baseline):
    with torch.no_grad():
        weight = (baseline - reward) / len(reward)
    return weight @ log_p
""",
        "answer by answer": """
def reinforce_loss(log_p, reward, baseline):
    terms = [-(r.item() - b.item()) * l for l, r, b in zip(log_p, reward, baseline)]
    return sum(terms) / len(terms)
""",
    },
    hints=(
        "Two answers have rewards 1 and 3, and the baseline is 2 for both. Which answer should become more probable, and what are the weights of the two log-probabilities?",
        "log_p, reward and baseline: (n). Output: one number.",
        "weight of each answer: reward − baseline, without gradient\nminus the mean of weight · log p",
        "A near miss: without the minus sign, the optimiser learns to earn as little as possible.",
    ),
)

# ------------------------------------------------------------------------------------------ leave-one-out baseline


def rewards_cases(draw: Draw) -> Iterator[Case]:
    """Several prompts with several answers each; two answers; rewards that are far from 0."""
    for P, n, shift in ((3, 5, 0.0), (4, 2, 3.0), (2, 7, -6.0)):
        yield {"reward": draw.normal(P, n, scale=2.0) + shift}


OTHERS = "(reward.sum(dim=1, keepdim=True) - reward) / (n - 1)"

leave_one_out = Exercise(
    cases=rewards_cases,
    rule=Rule(tolerance=2e-5, axes={"": "P n"}),
    mistakes=(
        Mistake("own reward included", "Your baseline is the mean reward of all answers to the prompt, including the answer itself. Leave out its own reward.", OTHERS, "reward.mean(dim=1, keepdim=True).expand_as(reward)"),
        Mistake("divided by all answers", "You add the rewards of the other answers, but divide by the number of all answers. There are n − 1 others.", "/ (n - 1)", "/ n"),
        Mistake("own reward not subtracted", "You divide the sum of *all* rewards by n − 1. Subtract the answer's own reward from the sum first.", "keepdim=True) - reward)", "keepdim=True) + 0 * reward)"),
        Mistake("advantage returned", "You return the reward minus the baseline. Return the baseline itself.", f"return {OTHERS}", f"return reward - {OTHERS}"),
        Mistake("mean over prompts", "You average over the prompts. The baseline of an answer is the mean of the other answers to the *same* prompt.", edits={"reward.shape[1]": "reward.shape[0]", "sum(dim=1, keepdim=True)": "sum(dim=0, keepdim=True)"}),
        Mistake("mean over everything else", "You average over the answers to all prompts. Only the other answers to the same prompt count.", OTHERS, "(reward.sum() - reward) / (reward.numel() - 1)"),
        Mistake("sum of the others", "You return the sum of the other rewards. Divide by their number.", " / (n - 1)", ""),
        Mistake("mean of the earlier answers", "You use only the answers before this one. Use all others.", OTHERS, "(reward.cumsum(dim=1) - reward) / torch.arange(n).clamp(min=1)"),
        Mistake("neighbour's reward", "You use the reward of one other answer. Take the mean over all others.", OTHERS, "reward.roll(1, dims=1)"),
        Mistake("median of the others", "You use a median. Take the mean of the other rewards.", code="""
def leave_one_out(reward):
    n = reward.shape[1]
    return torch.stack([reward[:, [j for j in range(n) if j != i]].median(dim=1).values for i in range(n)], dim=1)
"""),
    ),
    alternatives={
        "masked mean": """
def leave_one_out(reward):
    n = reward.shape[1]
    others = 1 - torch.eye(n)
    return reward @ others / others.sum(0)
""",
        "loops": """
def leave_one_out(reward):
    rows = []
    for row in reward.tolist():
        rows.append([(sum(row) - own) / (len(row) - 1) for own in row])
    return torch.tensor(rows)
""",
    },
    hints=(
        "Three answers to a prompt have rewards 1, 2 and 6. What is the baseline of each?",
        "reward: (P, n). Output: (P, n), a baseline for each answer.",
        "sum of the rewards of the prompt, minus the answer's own\ndivided by the number of the others",
        "A near miss: reward.mean(dim=1) contains the answer's own reward.",
    ),
)

# ------------------------------------------------------------------------------------------ the exact gradient


def gradient_cases(draw: Draw) -> Iterator[Case]:
    """Logits with a constant added; large logits; rewards of both signs."""
    for N, scale, shift in ((5, 1.0, 0.0), (8, 2.0, 3.0), (6, 0.5, 100.0)):
        yield {"logits": draw.normal(N, scale=scale) + shift, "reward": draw.normal(N, scale=3.0) + 1}


EXACT = "p * (reward - (p * reward).sum())"

exact_gradient = Exercise(
    cases=gradient_cases,
    rule=Rule(tolerance=3e-5, axes={"": "N"}),
    mistakes=(
        Mistake("expected reward not subtracted", "Raising one logit lowers the probabilities of all other answers, because they sum to 1. Subtract the expected reward from each reward.", EXACT, "p * reward"),
        Mistake("mean reward under a uniform policy", "You subtract the plain mean of the rewards. Subtract the mean under the policy, Σ p r.", "(p * reward).sum()", "reward.mean()"),
        Mistake("wrong sign", "Your gradient points towards lower rewards. It should be the gradient of the expected reward, not of a loss.", "reward - (p * reward).sum()", "(p * reward).sum() - reward"),
        Mistake("gradient with respect to the probabilities", "You return the derivatives with respect to the probabilities. The parameters are the logits, so the softmax has to be differentiated, too.", f"return {EXACT}", "return reward + 0 * p"),
        Mistake("not weighted by the probabilities", "Your result is the advantage of each answer. Multiply it by the answer's probability.", EXACT, "reward - (p * reward).sum()"),
        Mistake("softmax missing", "You use the logits as probabilities. Apply softmax first.", "logits.softmax(dim=-1)", "logits"),
        Mistake("log-probabilities instead of probabilities", "You use log-probabilities as weights. Use probabilities.", "logits.softmax", "logits.log_softmax"),
        Mistake("one term of the derivative only", "Your derivative is p (1 − p) r, which ignores that this logit also changes the other answers' probabilities.", EXACT, "p * (1 - p) * reward"),
        Mistake("expected reward returned", "You return the expected reward. Return its derivative with respect to each logit.", f"return {EXACT}", "return (p * reward).sum()"),
        Mistake("divided by the number of answers", "You divide by the number of answers. The sum over answers is weighted by p already.", EXACT, f"{EXACT} / len(p)"),
    ),
    alternatives={
        "autograd": """
def exact_gradient(logits, reward):
    leaf = logits.detach().clone().requires_grad_()
    with torch.enable_grad():
        expected = (leaf.softmax(dim=-1) * reward).sum()
    return torch.autograd.grad(expected, leaf)[0]
""",
        "the softmax's derivative as a matrix": """
def exact_gradient(logits, reward):
    p = torch.softmax(logits, -1)
    jacobian = torch.diag(p) - torch.outer(p, p)
    return jacobian @ reward
""",
        "sum over all answers": """
def exact_gradient(logits, reward):
    p = torch.softmax(logits, -1)
    total = torch.zeros_like(p)
    for y in range(len(p)):
        score = -p.clone()
        score[y] += 1
        total += p[y] * reward[y] * score
    return total
""",
    },
    survivors={"logits.softmax(dim=0)": "there is only one axis"},
    hints=(
        "Two answers have probability 1/2 each and rewards 0 and 1. In which direction does the gradient move the two logits? What if both rewards are 1?",
        "logits and reward: (N). Output: (N), a derivative for each logit.",
        "p = softmax of the logits\nexpected reward: Σ p r\np · (r − expected reward)",
        "A near miss: p · r. If all rewards are equal, nothing can be gained, and the gradient should be 0.",
    ),
)

# ------------------------------------------------------------------------------------------ advantages within a group


def advantages_cases(draw: Draw) -> Iterator[Case]:
    """Numbers; rewards of 0 and 1, where one group has only ones; two answers in a group."""
    yield {"reward": draw.normal(3, 5, scale=2.0) + 1}
    right = (draw.rng.random((4, 6)) < 0.5).astype(np.float32)
    right[0, :2] = 0, 1
    right[2] = 1
    yield {"reward": right}
    lower, gap = draw.normal(5, scale=0.5) - 3, draw.uniform(5, low=0.3, high=1.5)
    yield {"reward": np.stack([lower, lower + gap * np.where(np.arange(5) < 3, 1, -1)], axis=1).astype(np.float32)}


SPREAD = "reward.std(dim=1, keepdim=True, correction=0)"

group_advantages = Exercise(
    cases=advantages_cases,
    rule=Rule(tolerance=1e-4, axes={"": "P G"}),
    mistakes=(
        Mistake(
            "divided by G − 1",
            "Your standard deviation divides by G − 1, as torch.std does by default. Divide by G: use `correction=0`.",
            ", correction=0", "",
        ),
        Mistake("mean over the whole batch", "You subtract the mean over all prompts. Subtract the mean of the group, so that an easy prompt has no advantage over a hard one.", "reward.mean(dim=1, keepdim=True)", "reward.mean()"),
        Mistake("standard deviation of the whole batch", "You divide by the standard deviation over all prompts. Divide by the standard deviation of the group.", SPREAD, "reward.std(correction=0)"),
        Mistake("normalised over the whole batch", "You use the mean and the standard deviation of all prompts together. Each row, the answers to one prompt, has its own mean and standard deviation.", edits={"reward.mean(dim=1, keepdim=True)": "reward.mean()", SPREAD: "reward.std(correction=0)"}),
        Mistake("not divided by the standard deviation", "You subtract the mean, but do not divide by the standard deviation.", f"centred / ({SPREAD} + 1e-4)", "centred"),
        Mistake("mean not subtracted", "You do not subtract the group's mean, so every answer with a positive reward would become more probable.", "reward - reward.mean(dim=1, keepdim=True)", "reward"),
        Mistake("divided by the variance", "You divide by the variance. Divide by its square root, the standard deviation.", "reward.std(", "reward.var("),
        Mistake("0.0001 missing", "If all answers of a group have the same reward, you divide 0 by 0. Add 0.0001 to the standard deviation.", f"({SPREAD} + 1e-4)", SPREAD),
        Mistake("normalised over the prompts", "You normalise over the prompts. Each row, the answers to one prompt, is a group.", edits={"mean(dim=1": "mean(dim=0", "std(dim=1": "std(dim=0"}),
        Mistake("own reward left out of the mean", "Your mean leaves out the answer's own reward. GRPO subtracts the mean of the whole group.", "reward.mean(dim=1, keepdim=True)", "(reward.sum(dim=1, keepdim=True) - reward) / (reward.shape[1] - 1)"),
        Mistake("range instead of standard deviation", "You divide by the range of the rewards. Divide by their standard deviation.", SPREAD, "(reward.amax(dim=1, keepdim=True) - reward.amin(dim=1, keepdim=True))"),
    ),
    alternatives={
        "variance by hand": """
def group_advantages(reward):
    mean = reward.mean(dim=1)[:, None]
    variance = ((reward - mean) ** 2).mean(dim=1)[:, None]
    return (reward - mean) / (variance**0.5 + 1e-4)
""",
        "group by group": """
def group_advantages(reward):
    rows = []
    for row in reward:
        spread = torch.std(row, unbiased=False)
        rows.append((row - row.mean()) / (spread + 0.0001))
    return torch.stack(rows)
""",
    },
    survivors={"+ 0.0": "a hundredth of a percent is within the tolerance"},
    hints=(
        "A group has rewards 0, 0, 0 and 1. What are the four advantages? What should they be if all four rewards are 1?",
        "reward: (P, G). Output: (P, G). Means and standard deviations: (P, 1).",
        "subtract the mean of each row\ndivide by (standard deviation of the row, with correction=0, + 0.0001)",
        "A near miss: torch.std divides by G − 1 unless you set correction=0.",
    ),
)

# ------------------------------------------------------------------------------------------ the loss of GRPO


def grpo_case(draw: Draw, N: int, T: int, beta: float, clip: float, moved: float) -> Case:
    log_old = -np.abs(draw.normal(N, T, scale=1.5)) - 0.2
    lengths = np.concatenate([[T, 1], draw.integers(2, T, N - 2)])
    counts = np.arange(T) < lengths[:, None]
    change = draw.normal(N, T, scale=moved)
    change[0, :2], change[1, 0], change[2, 0] = (2 * moved, -2 * moved), -2.2 * moved, 2 * moved  # outside the bounds on both sides
    advantages = np.abs(draw.normal(N, scale=0.8)) + 0.3
    advantages[:3] = 2.8, -0.9, -0.7
    return {
        "log_p": (log_old + change).astype(np.float32), "log_old": log_old.astype(np.float32),
        "log_ref": (log_old + draw.normal(N, T, scale=0.6)).astype(np.float32),
        "advantages": advantages, "counts": counts, "beta": beta, "clip": clip,
    }  # fmt: skip


def grpo_cases(draw: Draw) -> Iterator[Case]:
    """Ratios inside and outside the bounds, with advantages of both signs; answers of several lengths; beta 0 and above 1."""
    yield grpo_case(draw, 5, 4, 0.1, 0.2, 0.25)
    yield grpo_case(draw, 7, 6, 1.3, 0.1, 0.2)
    yield grpo_case(draw, 4, 5, 0.0, 0.3, 0.4)


CLIPPED = "torch.minimum(ratio * A, ratio.clamp(1 - clip, 1 + clip) * A)"
PENALTY = "gap.exp() - gap - 1"
AVERAGED = "-((each * counts).sum(dim=1) / counts.sum(dim=1)).mean()"

grpo_loss = Exercise(
    cases=grpo_cases,
    rule=Rule(tolerance=1e-4, axes={"": ""}),
    mistakes=(
        Mistake("ratio not clipped", "Your ratio is never clipped, so a single answer can move the policy arbitrarily far.", CLIPPED, "ratio * A"),
        Mistake("minimum not taken", "You always use the clipped ratio. Take the minimum of both products: an answer that became *less* probable although it was good must still have a gradient.", CLIPPED, "ratio.clamp(1 - clip, 1 + clip) * A"),
        Mistake("maximum instead of minimum", "You take the larger of the two products. Take the smaller one, so that the policy gains nothing by moving the ratio beyond the bounds.", "torch.minimum(", "torch.maximum("),
        Mistake("ratio inverted", "Your ratio is old / new. It should be the new probability divided by the old one.", "(log_p - log_old).exp()", "(log_old - log_p).exp()"),
        Mistake("difference of logarithms instead of ratio", "You use the difference of the log-probabilities. The ratio is its exponential.", "(log_p - log_old).exp()", "(log_p - log_old)"),
        Mistake("ratio to the reference", "Your ratio compares the policy with the reference. It should compare the policy with the policy that generated the answers (log_old).", "(log_p - log_old)", "(log_p - log_ref)"),
        Mistake("KL penalty with the wrong sign", "Your loss decreases as the policy moves away from the reference. Subtract the penalty from the objective, i.e. add it to the loss.", "- beta * penalty", "+ beta * penalty"),
        Mistake("KL penalty missing", "Your loss does not depend on the reference. Add beta times the penalty.", " - beta * penalty", ""),
        Mistake("beta not used", "Your loss is correct only for beta = 1. Multiply the penalty by beta.", "beta * penalty", "penalty"),
        Mistake("difference of logarithms as penalty", "Your penalty is log p − log p_ref. For a single token it can be negative; use exp(gap) − gap − 1.", PENALTY, "-gap"),
        Mistake("gap in the wrong direction", "Your gap is log p − log p_ref. It should be log p_ref − log p.", "log_ref - log_p", "log_p - log_ref"),
        Mistake("squared gap as penalty", "Your penalty is half the squared gap, which is only approximately exp(gap) − gap − 1.", PENALTY, "gap**2 / 2"),
        Mistake("1 not subtracted", "Your penalty is 1, not 0, where policy and reference agree. Subtract 1.", PENALTY, "gap.exp() - gap"),
        Mistake("mean over positions that do not count", "You average over all positions. Leave out those where counts is false.", AVERAGED, "-each.mean()"),
        Mistake(
            "mean over all tokens",
            "You average over the tokens of all answers together, so that long answers count more. Average within each answer first. (Some libraries use your variant.)",
            AVERAGED, "-each[counts].mean()",
        ),
        Mistake("sum over the tokens", "You add up the terms of an answer's tokens. Divide by the number of tokens.", AVERAGED, "-(each * counts).sum(dim=1).mean()"),
        Mistake("divided by the longest answer", "You divide each answer's sum by the number of all positions. Divide by the number of tokens that count in this answer.", AVERAGED, "-((each * counts).sum(dim=1) / counts.shape[1]).mean()"),
        Mistake("sum over the answers", "You add up the terms of the answers. Take their mean.", AVERAGED, "-((each * counts).sum(dim=1) / counts.sum(dim=1)).sum()"),
        Mistake("wrong sign", "Your function returns the objective. A loss is its negative.", AVERAGED, AVERAGED[1:]),
        Mistake("clipped on one side only", "You clip the ratio only from above. Clip it from below, too.", "clamp(1 - clip, 1 + clip)", "clamp(max=1 + clip)"),
        Mistake("bounds of the ratio around 0", "You clip the ratio to −clip … clip. The ratio is 1 where nothing has changed, so clip it to 1 − clip … 1 + clip.", "clamp(1 - clip, 1 + clip)", "clamp(-clip, clip)"),
        Mistake(
            "one ratio for the whole answer",
            "You use one ratio for the whole answer, as GSPO does. In GRPO, each token has a ratio of its own.",
            "(log_p - log_old).exp()", "((log_p - log_old) * counts).sum(dim=1, keepdim=True).exp().expand_as(log_p)",
        ),
        detached("grpo_loss"),
    ),
    alternatives={
        "by the sign of the advantage": """
def grpo_loss(log_p, log_old, log_ref, advantages, counts, beta, clip):
    ratio = torch.exp(log_p - log_old)
    A = advantages.unsqueeze(1).expand_as(ratio)
    bounded = torch.where(A >= 0, ratio.clamp(max=1 + clip), ratio.clamp(min=1 - clip)) * A
    k3 = torch.exp(log_ref - log_p) - 1 + (log_p - log_ref)
    loss = (beta * k3 - bounded).masked_fill(~counts, 0.0)
    return (loss.sum(-1) / counts.sum(-1)).mean()
""",
        "answer by answer": """
def grpo_loss(log_p, log_old, log_ref, advantages, counts, beta, clip):
    losses = []
    for i in range(len(log_p)):
        keep = counts[i]
        new, old, ref = log_p[i][keep], log_old[i][keep], log_ref[i][keep]
        ratio = (new - old).exp()
        gained = torch.min(ratio * advantages[i], torch.clamp(ratio, 1 - clip, 1 + clip) * advantages[i])
        gap = ref - new
        losses.append((beta * (gap.exp() - gap - 1) - gained).mean())
    return torch.stack(losses).mean()
""",
    },
    hints=(
        "An answer has advantage +1, and one of its tokens is now 1.5 times as probable as when it was generated. What is this token's term for clip = 0.2? And for advantage −1?",
        "log_p, log_old, log_ref and counts: (N, T). advantages: (N), so use advantages[:, None]. Output: one number.",
        "ratio = exp(log_p − log_old)\ngained = the smaller of ratio · A and (ratio clipped to 1 ± clip) · A\ngap = log_ref − log_p; penalty = exp(gap) − gap − 1\n"
        "mean of gained − beta · penalty over the tokens of each answer, then over the answers; minus sign",
        "A near miss: clamp alone. Without the minimum, a good answer that has become improbable gets no gradient.",
    ),
)

# ------------------------------------------------------------------------------------------ best of n


def best_of_cases(draw: Draw) -> Iterator[Case]:
    """Distinct rewards; many equal rewards; all rewards but one equal; n = 1, small and large."""
    for N, n, levels in ((6, 3, 0), (9, 5, 3), (5, 1, 2), (7, 16, 2)):
        p = draw.uniform(N, low=0.2, high=1.0).astype(np.float64)
        reward = draw.normal(N, scale=2.0) if not levels else draw.integers(0, levels, N).astype(np.float32)
        if levels:
            reward[:2] = 0, levels - 1
        yield {"p": (p / p.sum()).astype(np.float32), "reward": reward, "n": n}


LEVEL = "(p * (reward == reward[:, None])).sum(dim=1)"
BEST = "p * (at_most**n - below**n) / level"

best_of_n = Exercise(
    cases=best_of_cases,
    rule=Rule(tolerance=5e-5, axes={"": "N"}),
    mistakes=(
        Mistake("n not used", "Your result is correct only for n = 1. With n answers, the probability that all have at most this reward is the n-th power of the probability for one answer.", "at_most**n - below**n", "at_most - below"),
        Mistake("worst of n", "Your policy keeps the answer with the *lowest* reward.", BEST, "p * ((1 - below)**n - (1 - at_most)**n) / level"),
        Mistake("probability of all equally rewarded answers given to each", "Your result is correct if all rewards differ. Answers with the same reward share the probability that one of them is kept: multiply by p and divide by the total probability of the answers with this reward.", BEST, "at_most**n - below**n"),
        Mistake("probability shared equally among equal rewards", "You divide the probability equally among the answers with the same reward. An answer that is more probable is sampled more often: divide the probability in proportion to p.", BEST, "(at_most**n - below**n) / (reward == reward[:, None]).sum(dim=1)"),
        Mistake("derivative of the power", "You use n · p · F^(n − 1), which is only approximately right: it assumes that no single answer has a noticeable probability.", BEST, "p * n * at_most ** (n - 1)"),
        Mistake("lower rewards ignored", "Your probabilities sum to more than 1. From the probability that all rewards are at most r, subtract the probability that all are below r.", BEST, "p * at_most**n / level"),
        Mistake("probability that the answer occurs at all", "You compute the probability that an answer is among the n. An answer is kept only if no other answer has a higher reward.", BEST, "1 - (1 - p) ** n"),
        Mistake("uniform over answers", "You count answers instead of adding their probabilities.", edits={"(p * (reward <= reward[:, None])).sum(dim=1)": "(reward <= reward[:, None]).float().mean(dim=1)"}),
        Mistake("n − 1 answers", "You use the power n − 1. There are n answers, including the one that is kept.", "at_most**n - below**n", "at_most ** (n - 1) - below ** (n - 1)"),
        Mistake("not divided by the probability of equal rewards", "Your probabilities do not sum to 1. Divide by the total probability of the answers with this reward.", BEST, "p * (at_most**n - below**n)"),
        Mistake("logarithms returned", "You return log-probabilities. Return probabilities.", f"return {BEST}", f"return ({BEST}).log()"),
        Mistake("softmax of the rewards", "You tilt the policy by exp(n · reward). Best-of-n depends only on the order of the rewards.", f"return {BEST}", "return (p.log() + n * reward).softmax(dim=-1)"),
    ),
    alternatives={
        "level by level": """
def best_of_n(p, reward, n):
    levels, place = torch.unique(reward, return_inverse=True)
    mass = torch.zeros(len(levels), dtype=torch.float64).index_add(0, place, p.double())
    upto = mass.cumsum(0)
    gained = upto**n - (upto - mass) ** n
    return p * (gained / mass)[place]
""",
        "answer by answer": """
def best_of_n(p, reward, n):
    out = torch.zeros_like(p)
    for y in range(len(p)):
        same = p[reward == reward[y]].sum()
        lower = p[reward < reward[y]].sum()
        out[y] = p[y] / same * ((lower + same) ** n - lower**n)
    return out
""",
        "over the number of ties": """
def best_of_n(p, reward, n):
    from math import comb

    same = (p * (reward == reward[:, None])).sum(dim=1)
    lower = (p * (reward < reward[:, None])).sum(dim=1)
    return p * sum(comb(n, k) * same ** (k - 1) * lower ** (n - k) for k in range(1, n + 1))
""",
    },
    hints=(
        "Three answers have probability 1/3 each and rewards 1, 2 and 3. You sample two answers and keep the better one. How probable is it that both have at most reward 2? At most reward 1? And that the best one has exactly reward 2?",
        "p and reward: (N). Output: (N), which sums to 1. reward <= reward[:, None] has the shape (N, N).",
        "at_most: the probability that one sample has at most this reward\nbelow: that it has less\nbest of n has exactly this reward: at_most ** n − below ** n\n"
        "the share of this answer among those with the same reward: p / their total probability",
        "A near miss: at_most ** n − below ** n, for each answer. Answers with equal rewards have to share this probability.",
    ),
)

# ------------------------------------------------------------------------------------------ a proxy


def proxy_cases(draw: Draw) -> Iterator[Case]:
    """A true reward that agrees with the proxy in part; beta above and below 1; a table of answers with two axes."""
    for shape, beta in (((6,), 1.7), ((8,), 0.7), ((3, 4), 0.9)):
        reference = draw.normal(*shape, scale=1.2).astype(np.float64)
        proxy = draw.normal(*shape, scale=1.2) + 1
        yield {
            "log_ref": (reference - np.log(np.exp(reference).sum())).astype(np.float32),
            "proxy": proxy, "true": (0.9 * proxy + draw.normal(*shape, scale=0.8) + 3).astype(np.float32), "beta": beta,
        }  # fmt: skip


SLOPE = "(p * true * (proxy - (p * proxy).sum())).sum()"

overoptimised = Exercise(
    cases=proxy_cases,
    rule=Rule(tolerance=1e-3, axes={"kl": "", "true": "", "slope": ""}),
    mistakes=(
        Mistake("policy of the true reward", "Your policy is the best one for the true reward, which nobody can measure in training. It should follow the proxy.", "(log_ref + proxy / beta)", "(log_ref + true / beta)"),
        Mistake("beta as a factor", "You multiply the proxy by beta. Divide by it.", "proxy / beta)", "proxy * beta)"),
        Mistake("proxy's mean returned", "You return the mean of the proxy. Return the mean of the true reward.", '"true": (p * true).sum()', '"true": (p * proxy).sum()'),
        Mistake("variance of the proxy", "Your slope is the variance of the proxy, which is the slope of the *proxy's* mean. Use the covariance of true reward and proxy.", SLOPE, "(p * proxy * (proxy - (p * proxy).sum())).sum()"),
        Mistake("product of both rewards", "Your slope is the mean of the product. For the covariance, subtract the proxy's mean first.", SLOPE, "(p * true * proxy).sum()"),
        Mistake("covariance under the reference", "You compute the covariance under the reference. Use the probabilities of π*.", SLOPE, "(log_ref.exp() * true * (proxy - (log_ref.exp() * proxy).sum())).sum()"),
        Mistake("true reward's mean under the reference", "You average the true reward under the reference. Average it under π*.", '"true": (p * true).sum()', '"true": (log_ref.exp() * true).sum()'),
        Mistake("KL divergence in the wrong direction", "You compute KL(π_ref ‖ π*). The expectation should be under π*.", "(p * (log_p - log_ref)).sum()", "(log_ref.exp() * (log_ref - log_p)).sum()"),
        Mistake("KL divergence with the wrong sign", "Your KL divergence is negative.", "log_p - log_ref", "log_ref - log_p"),
        Mistake(
            "plain means subtracted", "You subtract the plain mean of the proxy over all answers. Subtract its mean under π*.", SLOPE, "(p * true * (proxy - proxy.mean())).sum()"),
        Mistake("derivative with respect to beta", "Your slope is the derivative with respect to β. The slope with respect to 1/β is the covariance itself.", SLOPE, f"-{SLOPE} / beta**2"),
        Mistake(
            "sum over the last axis only", "Your result is correct if the tensors have only one axis. Here, normalise and add up over *all* answers.", ".flatten().log_softmax(dim=0).view_as(log_ref)", ".log_softmax(dim=-1)"),
    ),
    alternatives={
        "means of products": """
def overoptimised(log_ref, proxy, true, beta):
    tilted = log_ref.double() + proxy.double() / beta
    log_p = tilted - torch.logsumexp(tilted.reshape(-1), 0)
    p = log_p.exp()
    mean = lambda x: (p * x).sum()
    return {"kl": mean(log_p - log_ref), "true": mean(true), "slope": mean(true * proxy) - mean(true) * mean(proxy)}
""",
        "KL from the proxy's mean": """
def overoptimised(log_ref, proxy, true, beta):
    shape = log_ref.shape
    tilted = (log_ref + proxy / beta).reshape(-1)
    p, log_z = tilted.softmax(0), tilted.logsumexp(0)
    proxy, true = proxy.reshape(-1), true.reshape(-1)
    centred = true - p @ true
    return {"kl": p @ proxy / beta - log_z, "true": p @ true, "slope": (p * centred * proxy).sum()}
""",
    },
    survivors={"log_softmax(dim=-1)": "there is only one axis after flatten"},
    hints=(
        "If proxy and true reward are the same, what is their covariance: positive, zero or negative? What does this say about the slope?",
        "log_ref, proxy and true have the same shape. Output: a dictionary of three numbers.",
        "log π*: log_ref + proxy / beta, normalised over all answers\nkl: Σ p (log p − log p_ref)\ntrue: Σ p · true\nslope: Σ p · true · (proxy − its mean under p)",
        "A near miss: the plain mean, proxy.mean(), weights all answers equally. π* does not.",
    ),
)

# ------------------------------------------------------------------------------------------ majority vote


def votes_cases(draw: Draw) -> Iterator[Case]:
    """Clear majorities and ties, which the first answer wins; missing answers, which may be the most frequent; none given at all."""
    yield {"answers": np.array([
        [3, 5, 5, 2, 3, 5, 9], [8, 1, 1, 8, 4, 0, -1], [1, 8, 0, 1, 8, -1, 6], [-1, -1, -1, 7, 2, 7, -1], [4, 0, 0, 2, 0, 4, 1],
    ])}  # fmt: skip
    answers = draw.integers(0, 4, 6, 9)
    answers[draw.rng.random((6, 9)) < 0.3] = -1
    answers[2] = -1
    answers[4] = np.array([-1, 6, 5, -1, 5, 6, -1, -1, -1])
    yield {"answers": answers}
    yield {"answers": np.column_stack([np.full(4, 9), draw.integers(0, 9, 4, 4)])}


VOTES = "(answers[:, :, None] == answers[:, None]).sum(dim=2)"

majority_vote = Exercise(
    cases=votes_cases,
    rule=Rule("equal", axes={"": "P"}),
    mistakes=(
        Mistake("missing answers counted", "Where most samples have no answer, you return −1. A missing answer has no vote.", f"{VOTES} * (answers >= 0)", VOTES),
        Mistake("ties given to the smallest answer", "In a tie, you return the smallest answer. Return the one that was given first.", code="""
def majority_vote(answers):
    found = []
    for row in answers.tolist():
        given = [a for a in row if a >= 0]
        found.append(min(given, key=lambda a: (-given.count(a), a)) if given else -1)
    return torch.tensor(found)
"""),
        Mistake("ties given to the largest answer", "In a tie, you return the largest answer. Return the one that was given first.", code="""
def majority_vote(answers):
    found = []
    for row in answers.tolist():
        given = [a for a in row if a >= 0]
        found.append(max(given, key=lambda a: (given.count(a), a)) if given else -1)
    return torch.tensor(found)
"""),
        Mistake("ties given to the last answer", "In a tie, you return the answer that was given last. Return the one that was given first.", code="""
def majority_vote(answers):
    votes = (answers[:, :, None] == answers[:, None]).sum(dim=2) * (answers >= 0)
    last = answers.shape[1] - 1 - votes.flip(1).argmax(dim=1)
    return answers.gather(1, last[:, None])[:, 0]
"""),
        Mistake("torch.mode", "torch.mode also counts missing answers, and returns the smallest answer in a tie.", code="""
def majority_vote(answers):
    return answers.mode(dim=1).values
"""),
        Mistake("number of votes returned", "You return how many votes the answer has. Return the answer.", "return answers.gather(1, votes.argmax(dim=1, keepdim=True))[:, 0]", "return votes.amax(dim=1)"),
        Mistake("position returned", "You return a position. Return the answer at this position.", "return answers.gather(1, votes.argmax(dim=1, keepdim=True))[:, 0]", "return votes.argmax(dim=1)"),
        Mistake("first answer returned", "You return the first answer. Return the most frequent one.", "votes.argmax(dim=1, keepdim=True)", "(answers >= 0).int().argmax(dim=1, keepdim=True)"),
        Mistake("mean or median of the answers", "You average the answers. Answers are names, not quantities: 3 and 5 do not agree on 4.", code="""
def majority_vote(answers):
    return answers.median(dim=1).values
"""),
        Mistake("answer 0 treated as missing", "You also leave out the answer 0. Only −1 marks a missing answer.", "answers >= 0", "answers > 0"),
        Mistake("rarest answer returned", "You return the answer with the fewest votes.", "votes.argmax(", "(-votes).argmax("),
        Mistake("vote over the prompts", "You compare answers to different prompts. Vote within each row.", code="""
def majority_vote(answers):
    votes = (answers[:, None] == answers[None]).sum(dim=1) * (answers >= 0)
    return answers.gather(1, votes.argmax(dim=1, keepdim=True))[:, 0]
"""),
    ),
    alternatives={
        "Counter": """
def majority_vote(answers):
    from collections import Counter

    winners = []
    for row in answers.tolist():
        given = Counter(a for a in row if a != -1)
        winners.append(given.most_common(1)[0][0] if given else -1)
    return torch.tensor(winners)
""",
        "one-hot": """
def majority_vote(answers):
    table = torch.nn.functional.one_hot(answers + 1)[..., 1:]
    counts = table.sum(dim=1)
    votes = (table * counts[:, None]).sum(-1)
    return torch.stack([row[v.argmax()] for row, v in zip(answers, votes)])
""",
    },
    survivors={"sum(dim=1)": "the comparison is symmetric", "keepdim=True))[:, -1]": "the axis has one entry"},
    hints=(
        "Five samples give the answers 7, none, 3, 3 and none. Which answer wins? And for 7, none, 3, 3 and 7?",
        "answers: (P, n). Output: (P). The comparison answers[:, :, None] == answers[:, None] has the shape (P, n, n).",
        "for each sample: how many samples of the same prompt agree with it\n0 votes for a missing answer\nthe answer of the first sample with the most votes",
        "A near miss: torch.mode. It counts −1 as an answer and resolves ties in favour of the smallest number.",
    ),
)

# ------------------------------------------------------------------------------------------ pass@k


def pass_cases(draw: Draw) -> Iterator[Case]:
    """No sample correct, one, all, and fewer wrong ones than k; k = 1; hundreds of samples, whose binomial coefficients overflow."""
    yield {"correct": np.array([0, 1, 3, 8, 10, 5]), "n": 10, "k": 4}
    yield {"correct": np.concatenate([[0, 7], draw.integers(1, 7, 3)]), "n": 7, "k": 1}
    yield {"correct": np.concatenate([[0, 1, 200, 150], draw.integers(1, 40, 4)]), "n": 200, "k": 64}
    yield {"correct": np.concatenate([[2], draw.integers(0, 6, 3)]), "n": 5, "k": 5}


KEPT = "torch.where(i > n - correct[:, None], 1 - k / i, 1.0)"

pass_at_k = Exercise(
    cases=pass_cases,
    rule=Rule(tolerance=3e-5, axes={"": "P"}),
    mistakes=(
        Mistake("samples drawn with replacement", "1 − (1 − c/n)^k is biased: it is what you get if the k samples are drawn *with* replacement. Draw k of the n samples without replacement.", "1 - fails.prod(dim=1)", "1 - (1 - correct / n) ** k"),
        Mistake("accuracy", "You return the fraction of correct samples, which is pass@1.", "return 1 - fails.prod(dim=1)", "return correct / n"),
        Mistake("probability that all k are wrong", "You return the probability that none of the k samples is correct. Subtract it from 1.", "return 1 - fails", "return fails"),
        Mistake("probability that all k are correct", "You return the probability that *all* k samples are correct. One is enough.", code="""
def pass_at_k(correct, n, k):
    from math import comb
    return torch.tensor([comb(c, k) / comb(n, k) for c in correct.tolist()])
"""),
        Mistake("expected number of correct samples", "You compute the expected number of correct samples among k, cut off at 1. This counts a problem twice when two samples are correct.", "return 1 - fails.prod(dim=1)", "return (k * correct / n).clamp(max=1)"),
        Mistake("any sample correct", "You return whether any of the n samples is correct, which is pass@n.", "return 1 - fails.prod(dim=1)", "return (correct > 0).float()"),
        Mistake("first factor left out", "Your product has one factor too few. There are as many factors as correct samples.", "i > n - correct[:, None]", "i > n - correct[:, None] + 1"),
        Mistake("one factor too many", "Your product has one factor too many. There are as many factors as correct samples.", "i > n - correct[:, None]", "i >= n - correct[:, None]"),
        Mistake("mean over the problems", "You average over the problems. Return one number for each problem.", "fails.prod(dim=1)", "fails.prod(dim=1).mean()"),
        Mistake(
            "factorials that overflow",
            "With hundreds of samples, the factorials exceed the range of floating-point numbers, and your result is NaN or infinite. Use the product, `math.comb` (exact integers) or `lgamma`.",
            code="""
def pass_at_k(correct, n, k):
    def choose(a, b):
        a = torch.as_tensor(a, dtype=torch.float32)
        return torch.where(a < b, 0.0, (a + 1).lgamma().exp() / ((a - b).clamp(min=0) + 1).lgamma().exp())
    return 1 - choose(n - correct, k) / choose(n, k)
""",
        ),
    ),
    alternatives={
        "math.comb": """
def pass_at_k(correct, n, k):
    from math import comb

    return torch.tensor([1 - comb(n - c, k) / comb(n, k) for c in correct.tolist()])
""",
        "lgamma": """
def pass_at_k(correct, n, k):
    log_choose = lambda a, b: torch.lgamma(a + 1.0) - torch.lgamma(b + 1.0) - torch.lgamma(a - b + 1.0)
    wrong = (n - correct).double()
    total, few = torch.tensor(float(n)).double(), torch.tensor(float(k)).double()
    fails = (log_choose(wrong.clamp(min=k), few) - log_choose(total, few)).exp()
    return torch.where(wrong < k, 1.0, 1 - fails)
""",
        "one draw after the other": """
def pass_at_k(correct, n, k):
    wrong = n - correct.double()
    fails = torch.ones_like(wrong)
    for j in range(k):
        fails = fails * (wrong - j).clamp(min=0) / (n - j)
    return 1 - fails
""",
    },
    survivors={"torch.arange(0, n + 1)": "i = 0 is never above n − c"},
    hints=(
        "Of four samples, one is correct. You look at two of the four. How probable is it that the correct one is among them? What would (1 − 1/4)² give?",
        "correct: (P), integers. Output: (P), between 0 and 1.",
        "for each problem: the probability that k samples, drawn from the n without replacement, are all wrong\n= Π over i = n − c + 1 … n of (1 − k / i)\n1 minus this",
        "A near miss: 1 − (1 − c/n)^k, which draws with replacement and is too small.",
    ),
)
