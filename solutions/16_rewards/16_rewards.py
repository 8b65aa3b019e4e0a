# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 16 · Learning from rewards
#
# In notebook 14, a model learned from pairs of answers. Often, however, an answer can simply be *scored*: a program checks a sum, runs a test or counts
# the letters. Reinforcement learning turns such a **reward** into a gradient. You will implement REINFORCE and GRPO, the method behind many of today's
# reasoning models. For our generated language, the best possible policy is known exactly, so we can measure how close training comes to it, and predict when a
# wrong reward starts to do harm.
#
# **You need** notebooks 07 and 14. **Time** about 85 minutes for the core: nine exercises and two written questions; *Further* is optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [15 · Taking a model apart](../15_circuits/15_circuits.ipynb) · next: [A project of one's own](../project/project.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - estimate the gradient of an expected reward from samples, and reduce the variance of the estimate with a baseline;
# - implement GRPO, and say which of its terms keeps the policy near the reference;
# - predict at which distance from the reference a proxy reward stops helping;
# - evaluate a model with pass@k and majority vote, and compare both with the chance level.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit import check, hint, predict, reveal

# %% [markdown]
# ## 1 · An answer that can be checked
#
# We ask SmolLM2, the assistant of notebook 14, for a sum and sample eight answers. Then a **verifier**, which is a line of Python, checks them.

# %% tags=["demo"]
YOUR_SUM = 8, 5, 7                                   # digits from 0 to 9: change them

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import numpy as np

from coursekit import sums
from coursekit.models import load as load_pretrained
from coursekit.pictures import rewards as pictures
from coursekit.plots import use_style

use_style()
print("This takes about ten seconds.")
smol = load_pretrained("SmolLM2-135M-Instruct", head="causal-lm")
verified = {}
for digits in ((6, 9, 4), YOUR_SUM):
    given = [sums.number_in(text) for text in sums.asked(smol, [digits], samples=8, seed=0)[0]]
    verified[digits] = [number == sum(digits) for number in given]
    marked = "   ".join(f"{number} {'✓' if right else '✗'}" for number, right in zip(given, verified[digits]))
    print(f"{' + '.join(map(str, digits))} =   {marked}")

# %% [markdown]
# Few samples are correct. The verifier does not show the model *how* to add: it only assigns the reward 1 or 0. Learning from such rewards is
# called **reinforcement learning with verifiable rewards** (RLVR, Lambert et al. 2024). There are two ways to use the verifier: choose the best of several
# answers each time, or train the model so that correct answers become more probable.

# %% [markdown]
# ## 2 · The gradient of an expected reward
#
# A policy π generates an answer y with probability π(y), and the answer earns the reward r(y). The expected reward is a sum over all answers, and so is its
# gradient. The sum cannot be computed for a real language model, but it can be written as an expectation, which can be estimated from samples:
#
# $$\nabla\, \mathbb{E}_\pi[r] = \sum_y r(y)\, \nabla \pi(y) = \mathbb{E}_\pi\big[r(y)\, \nabla \log \pi(y)\big]$$
#
# This is the **policy gradient** estimator **REINFORCE** (Williams 1992). The expectation of ∇ log π(y) is 0, so a **baseline** b that does not depend on y can be
# subtracted from the reward. The expected gradient remains the same. The difference r − b is called the **advantage**.

# %% nbgrader={"grade": false, "grade_id": "rewards-reinforce_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def reinforce_loss(
    log_p: Float[Tensor, "n"], reward: Float[Tensor, "n"], baseline: Float[Tensor, "n"]
) -> Float[Tensor, ""]:
    """A loss whose gradient is minus the REINFORCE estimate.  (difficulty ●○○, 4 minutes)

    log_p contains the log-probabilities of n sampled answers. Return minus the mean of
    (reward − baseline) · log_p. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return -((reward - baseline) * log_p).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-reinforce_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("rewards.reinforce_loss", lambda case: reinforce_loss(**case), gradients=["log_p"])

# %% [markdown]
# A good baseline is the expected reward: the advantage then shows whether an answer was better than usual. If several answers to the same prompt are sampled, the mean
# reward of the *other* answers estimates the expected reward without bias (**leave-one-out**, Kool et al. 2019).

# %% nbgrader={"grade": false, "grade_id": "rewards-leave_one_out", "locked": false, "schema_version": 3, "solution": true, "task": false}
def leave_one_out(reward: Float[Tensor, "P n"]) -> Float[Tensor, "P n"]:
    """The mean reward of the other answers to the same prompt.  (difficulty ●○○, 3 minutes)

    reward contains the rewards of n answers (n ≥ 2) to each of P prompts.
    """
    ### BEGIN SOLUTION
    n = reward.shape[1]
    return (reward.sum(dim=1, keepdim=True) - reward) / (n - 1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-leave_one_out-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("rewards.leave_one_out", lambda case: leave_one_out(case["reward"]))

# %% [markdown]
# Is the estimate correct? If there are few possible answers, the exact gradient can be computed. Let the policy be a softmax over N answers, whose logits are the
# parameters.

# %% nbgrader={"grade": false, "grade_id": "rewards-exact_gradient", "locked": false, "schema_version": 3, "solution": true, "task": false}
def exact_gradient(
    logits: Float[Tensor, "N"], reward: Float[Tensor, "N"]
) -> Float[Tensor, "N"]:
    """Gradient of the expected reward with respect to the logits.  (difficulty ●●○, 6 minutes)

    The policy is softmax(logits), and the expected reward is Σ π(y) r(y). Derive the formula,
    or let autograd compute the gradient; do not sample.
    """
    ### BEGIN SOLUTION
    p = logits.softmax(dim=-1)
    return p * (reward - (p * reward).sum())
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-exact_gradient-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("rewards.exact_gradient", lambda case: exact_gradient(case["logits"], case["reward"]))

# %% [markdown]
# We test all three functions on the next word after "yesterday the scout". The policy is the small GPT of notebook 07, with 1,795 possible words, and a word earns
# half a point per letter, as in notebook 14. The error of an estimate is its distance from the exact gradient, relative to the length of the exact gradient.
#
# **Predict:** with 16 samples, what fraction of the *squared* error does the leave-one-out baseline remove?

# %% tags=["demo"]
predict("rewards.variance_removed", ...)             # between 0 and 1

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit import instructions
from coursekit import rewards as rewarding

word_logits = rewarding.reference()[1].double()
word_rewards = rewarding.letter_rewards()[1].double()
exact = exact_gradient(word_logits, word_rewards)

def estimates(n: int, baseline: str, times: int = 400) -> Float[Tensor, "times N"]:
    """REINFORCE estimates of the gradient, each from n sampled words."""
    random, leaf, found = torch.Generator().manual_seed(n), word_logits.clone().requires_grad_(), []
    for _ in range(times):
        words = torch.multinomial(word_logits.softmax(dim=-1), n, replacement=True, generator=random)
        reward = word_rewards[words]
        subtracted = leave_one_out(reward[None])[0] if baseline == "leave-one-out" else torch.zeros_like(reward)
        loss = reinforce_loss(leaf.log_softmax(dim=-1)[words], reward, subtracted)
        found.append(-torch.autograd.grad(loss, leaf)[0])
    return torch.stack(found)

squared_errors, biases = {}, {}
for baseline in ("none", "leave-one-out"):
    for n in (2, 4, 16, 64):
        drawn = estimates(n, baseline)
        squared_errors[baseline, n] = ((drawn - exact).norm(dim=1) / exact.norm()).square().numpy()
        biases[baseline, n] = ((drawn.mean(dim=0) - exact).norm() / exact.norm()).item()
removed = 1 - squared_errors["leave-one-out", 16].mean() / squared_errors["none", 16].mean()
reveal("rewards.variance_removed", removed)
for baseline in ("none", "leave-one-out"):
    print(f"baseline {baseline}: error of one estimate from 16 samples {squared_errors[baseline, 16].mean() ** 0.5:.1f}, of the mean of 400 estimates {biases[baseline, 16]:.2f}")
pictures.errors(squared_errors)

# %% [markdown]
# Both estimates are correct on average: the mean of 400 estimates is much closer to the exact gradient than a single estimate. Without a baseline, however, a single
# estimate from 16 samples consists almost entirely of noise. Every word has a positive reward, so every sampled word is made more probable. The baseline removes
# most of this noise at no cost, and the error falls as 1/√n in both cases.

# %% [markdown]
# ## 3 · GRPO
#
# **Proximal policy optimisation** (PPO, Schulman et al. 2017) was the method of the first assistants (14). It takes several steps on the same samples. After the
# first step, the samples no longer come from the current policy; the ratio of new to old probabilities corrects this, and **clipping** the ratio keeps a step
# small. PPO's baseline is a second network, the *critic*. **Group relative policy optimisation** (GRPO, Shao et al. 2024) leaves the critic out: it samples a
# group of answers to each prompt and compares them with one another.

# %% nbgrader={"grade": false, "grade_id": "rewards-group_advantages", "locked": false, "schema_version": 3, "solution": true, "task": false}
def group_advantages(reward: Float[Tensor, "P G"]) -> Float[Tensor, "P G"]:
    """Rewards normalised within each group.  (difficulty ●○○, 4 minutes)

    Each row contains the rewards of the G answers to one prompt. Subtract the row's mean and
    divide by the row's standard deviation + 0.0001. The standard deviation divides by G, not
    by G − 1.
    """
    ### BEGIN SOLUTION
    centred = reward - reward.mean(dim=1, keepdim=True)
    return centred / (reward.std(dim=1, keepdim=True, correction=0) + 1e-4)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-group_advantages-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("rewards.group_advantages", lambda case: group_advantages(case["reward"]))

# %% [markdown]
# All tokens of an answer share its advantage A. For each token, let ρ be the ratio of its probability under the policy to that under the old policy, which
# generated the answer. The objective takes the smaller of two products, so the policy gains nothing by moving ρ beyond the bounds. The last term is a penalty
# for moving away from the reference:
#
# $$\min\big(\rho A,\ \mathrm{clip}(\rho, 1-\epsilon, 1+\epsilon)\, A\big) - \beta\,\big(e^{g} - g - 1\big), \qquad g = \log \pi_\text{ref} - \log \pi$$

# %% nbgrader={"grade": false, "grade_id": "rewards-grpo_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grpo_loss(
    log_p: Float[Tensor, "N T"], log_old: Float[Tensor, "N T"], log_ref: Float[Tensor, "N T"],
    advantages: Float[Tensor, "N"], counts: Bool[Tensor, "N T"], beta: float, clip: float,
) -> Float[Tensor, ""]:
    """The loss of GRPO for N answers.  (difficulty ●●●, 14 minutes)

    The first three tensors contain the log-probability of each token under the policy, under
    the policy that generated the answers, and under the reference. Compute the objective
    above for each token with ε = clip. Average it over the tokens of an answer where `counts`
    is true (there is at least one), and then over the answers. The loss is minus this mean.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    ratio, A = (log_p - log_old).exp(), advantages[:, None]
    gained = torch.minimum(ratio * A, ratio.clamp(1 - clip, 1 + clip) * A)           # N T
    gap = log_ref - log_p
    penalty = gap.exp() - gap - 1                                                    # N T
    each = gained - beta * penalty
    return -((each * counts).sum(dim=1) / counts.sum(dim=1)).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-grpo_loss-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("rewards.grpo_loss", lambda case: grpo_loss(**case), gradients=["log_p"])

# %% [markdown]
# **Close to the best policy?** We train a policy to continue the three prompts of notebook 14 with one word. The reward is half a point per letter. The
# policy is a table of logits, with one row per prompt, initialised with the log-probabilities of the GPT. All 1,795 words can be enumerated, so π* ∝ π_ref ·
# exp(r/β) is known for each β (`best_policy`, from notebook 14), and so are all rewards and divergences.
#
# There are two ways to stay near the reference. The penalty of `grpo_loss` acts *in the loss*. Alternatively, β · log(π/π_ref) is subtracted *from the reward* of each
# answer, as for the first assistants (Ouyang et al. 2022), and β is 0 in the loss.

# %% tags=["demo"]
def best_policy(log_ref: Tensor, reward: Tensor, beta: float) -> Tensor:
    """log π* over the answers along the last axis."""
    return (log_ref + reward / beta).log_softmax(dim=-1)

def train_policy(reward, beta, penalty, group, seed, steps=300, samples=64, after_step=None):
    """GRPO with your functions; `penalty` is "in the loss" or "in the reward"."""
    log_ref = rewarding.reference()
    logits, draw = log_ref.clone().requires_grad_(), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam([logits], lr=0.05, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    rows = torch.arange(len(log_ref)).repeat_interleave(samples)
    counts = torch.ones(len(rows), 1, dtype=torch.bool)          # each answer has one token
    for step in range(steps):
        if after_step is not None:
            after_step(step, logits.detach().log_softmax(dim=-1))
        with torch.no_grad():
            log_p = logits.log_softmax(dim=-1)
            words = torch.multinomial(log_p.exp(), samples, replacement=True, generator=draw)
            words = words.flatten()
            log_old, ref = log_p[rows, words], log_ref[rows, words]
            earned = reward[rows, words]
            if penalty == "in the reward":
                earned = earned - beta * (log_old - ref)
        advantages = group_advantages(earned.view(-1, group)).flatten()
        in_loss = beta if penalty == "in the loss" else 0.0
        for _ in range(2):                                      # two steps on the same samples
            new = logits.log_softmax(dim=-1)[rows, words]
            columns = (one[:, None] for one in (new, log_old, ref))
            loss = grpo_loss(*columns, advantages, counts, in_loss, clip=0.2)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
    return logits.detach().log_softmax(dim=-1)

# %% [markdown]
# **Predict:** at β = 1, π* is 0.28 nats away from the reference. How many nats away does GRPO end up with the penalty in the loss?

# %% tags=["demo"]
predict("rewards.nats_in_the_loss", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import pandas as pd

print("This takes about fifteen seconds.")
log_ref, letters = rewarding.reference(), rewarding.letter_rewards()

def judged(log_p: Tensor, beta: float) -> dict[str, float]:
    """Reward and divergences, exact."""
    best = best_policy(log_ref, letters, beta)
    return {
        "reward": rewarding.mean_reward(log_p, letters), "to_ref": rewarding.mean_kl(log_p, log_ref), "to_best": rewarding.mean_kl(log_p, best),
        "best_reward": rewarding.mean_reward(best, letters), "best_to_ref": rewarding.mean_kl(best, log_ref), "ref_to_best": rewarding.mean_kl(log_ref, best),
    }

grpo = pd.DataFrame([
    {"penalty": penalty, "group": group, "beta": beta, "seed": seed, **judged(train_policy(letters, beta, penalty, group, seed), beta)}
    for penalty, group in (("in the reward", 16), ("in the reward", 4), ("in the loss", 16)) for beta in (1.0, 0.5, 0.3) for seed in range(3)
])
ref_reward = rewarding.mean_reward(log_ref, letters)
in_the_loss = grpo[(grpo["penalty"] == "in the loss") & (grpo["beta"] == 1)]
reveal("rewards.nats_in_the_loss", in_the_loss["to_ref"].mean())
print(f"{'penalty':>14}{'group':>7}{'β':>6}{'reward':>9}{'of π*':>8}{'nats from reference':>22}{'of π*':>8}{'nats from π*':>15}    (means of three seeds)")
for (penalty, group, beta), runs in grpo.groupby(["penalty", "group", "beta"], sort=False):
    one = runs.mean(numeric_only=True)
    print(f"{penalty:>14}{group:>7}{beta:>6g}{one['reward']:>9.2f}{one['best_reward']:>8.2f}{one['to_ref']:>22.2f}{one['best_to_ref']:>8.2f}{one['to_best']:>15.3f}")

# %% [markdown]
# With the penalty in the reward, GRPO ends up very close to π* at β = 1, whether groups have 4 or 16 answers. With the penalty in the loss, it ends up
# several times as far from the reference as π* is. Why?
#
# On samples from the policy, the *value* of the penalty e^g − g − 1 is an unbiased estimate of KL(π ‖ π_ref). Its *gradient*, however, is not the gradient of KL(π ‖ π_ref), because
# differentiating the loss leaves out that π also decides which answers are sampled (Tang and Munos 2025). We compute both exactly, by enumeration.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
moved = best_policy(log_ref, letters, 0.5)[1].double().clone().requires_grad_()
log_q = log_ref[1].double()
log_p = moved.log_softmax(dim=-1)
gap = log_q - log_p
divergences = {
    "the penalty, on samples from π": (log_p.exp().detach() * (gap.exp() - gap - 1)).sum(),
    "KL(π ‖ π_ref)": (log_p.exp() * (log_p - log_q)).sum(), "KL(π_ref ‖ π)": (log_q.exp() * (log_q - log_p)).sum(),
}
slopes = {name: torch.autograd.grad(value, moved, retain_graph=True)[0] for name, value in divergences.items()}
of_penalty = slopes["the penalty, on samples from π"]
agreement = {name: torch.cosine_similarity(of_penalty, slope, dim=0).item() for name, slope in slopes.items()}
for name, value in divergences.items():
    print(f"{name:>32}: value {value:.3f}, length of the gradient {slopes[name].norm():.3f}, cosine with the gradient of the penalty {agreement[name]:.3f}")

# %% [markdown]
# The penalty has the value of KL(π ‖ π_ref), but the gradient of KL(π_ref ‖ π). The latter divergence hardly increases when a policy gives much probability to a few
# answers that the reference almost never generates. The division by the standard deviation also changes the balance: it has the same effect as multiplying β by the
# standard deviation of the rewards. If you train with a library, find out which penalty it applies, and report the measured divergence rather than β.
#
# At β = 0.3, training stops before it reaches π*: after 300 steps, the longest words have hardly ever been sampled.

# %% [markdown]
# ## 4 · Best of n
#
# Instead of training, we can sample n answers and keep the one with the highest reward. This, too, is a policy, and we can compute its probabilities. If no two
# answers have the same reward and no single answer is probable, its distance from the reference is log n − (n − 1)/n nats (Stiennon et al. 2020).

# %% nbgrader={"grade": false, "grade_id": "rewards-best_of_n", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_of_n(p: Float[Tensor, "N"], reward: Float[Tensor, "N"], n: int) -> Float[Tensor, "N"]:
    """The probability of each of N answers under best-of-n.  (difficulty ●●●, 10 minutes)

    p contains the reference's probabilities (all positive). n answers are sampled from it
    independently, and the first one with the highest reward is kept. Answers may have equal
    rewards. You may build an (N, N) table: it fits into memory.
    """
    ### BEGIN SOLUTION
    at_most = (p * (reward <= reward[:, None])).sum(dim=1)
    below = (p * (reward < reward[:, None])).sum(dim=1)
    level = (p * (reward == reward[:, None])).sum(dim=1)
    return p * (at_most**n - below**n) / level
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-best_of_n-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("rewards.best_of_n", lambda case: best_of_n(case["p"], case["reward"], case["n"]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
best_of = []
for n in (2, 4, 16, 64, 256):
    kept = torch.stack([best_of_n(p.double().exp(), r, n) for p, r in zip(log_ref, letters)])
    kept = kept / kept.sum(dim=-1, keepdim=True)                     # corrects rounding
    nats = torch.xlogy(kept, kept / log_ref.double().exp()).sum(dim=-1).mean().item()
    best_of.append((n, nats, (kept * letters).sum(dim=-1).mean().item()))
    print(f"best of {n:>3}: {nats:.2f} nats from the reference (formula: {np.log(n) - (n - 1) / n:.2f}), reward {best_of[-1][2]:.2f}")

# %% [markdown]
# The exact distances are below those of the formula, because many words have equally many letters. Among such words, best-of-n chooses in proportion to the
# reference's probabilities. In general, the formula is an upper bound (Beirami et al. 2024).
#
# We can now draw all methods in one plane. DPO (14) is trained on 2,000 comparisons per prompt, which were sampled from the reference.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def train_dpo(beta: float, seed: int, steps: int = 300) -> Tensor:
    """DPO on the table of logits, with all comparisons in each step."""
    preferred, other = rewarding.compared(letters, 2000, torch.Generator().manual_seed(seed))
    logits = log_ref.clone().requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=0.05, fused=True)
    for _ in range(steps):
        change = logits.log_softmax(dim=-1) - log_ref
        margin = change.gather(1, preferred) - change.gather(1, other)
        loss = -torch.nn.functional.logsigmoid(beta * margin).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return logits.detach().log_softmax(dim=-1)

dpo = pd.DataFrame([{"beta": beta, "seed": seed, **judged(train_dpo(beta, seed), beta)} for beta in (1.0, 0.5, 0.3) for seed in range(3)])
best_curve = np.array([(rewarding.mean_kl(best, log_ref), rewarding.mean_reward(best, letters)) for best in (best_policy(log_ref, letters, beta) for beta in np.geomspace(5, 0.15, 60))])
pictures.plane(best_curve, grpo, dpo, best_of, ref_reward)

# %% [markdown]
# GRPO with the penalty in the reward is almost on the curve of the best policies. With the penalty in the loss, it earns clearly less than the best policy at
# the same distance. Best-of-n stays close to the curve for all n. It needs no training, but each answer costs n times as much.
#
# For every seed and every β, DPO earns less than the best policy at the same distance. The comparison is not quite fair, because GRPO saw 19,200 rewards per
# prompt. Moreover, a table of logits shares nothing between words, so the logit of a rare word that won its only comparison by chance rises further and
# further.

# %% [markdown]
# ## 5 · When the reward is wrong
#
# So far, the reward was what we wanted. In practice it is a **proxy**: a reward model trained on people's preferences, as in RLHF (14), a test suite, a count. Optimising a proxy
# too far harms the quality that the proxy stands for. This effect is called **reward hacking** or over-optimisation, and Gao et al. (2023) measured it with a
# second reward model as the judge. We can compute it.
#
# Suppose that readers like long words, but only in possible sentences. The **true reward** is half a point per letter if some sentence of the language begins
# like this, and 0 otherwise; the language's exact probability model decides. The proxy counts letters only.

# %% [markdown]
# Let λ = 1/β. The more weight λ the proxy gets, the further π* moves from the reference. How does the true reward change? The derivative of its mean has a simple form:
#
# $$\frac{d}{d\lambda}\, \mathbb{E}_{\pi^*}[\text{true}] = \mathrm{Cov}_{\pi^*}(\text{true}, \text{proxy})$$
#
# The proxy helps as long as it is positively correlated with the true reward *under the current policy*. At the maximum, the covariance is 0.

# %% nbgrader={"grade": false, "grade_id": "rewards-overoptimised", "locked": false, "schema_version": 3, "solution": true, "task": false}
def overoptimised(
    log_ref: Float[Tensor, "*answers"], proxy: Float[Tensor, "*answers"],
    true: Float[Tensor, "*answers"], beta: float,
) -> dict[str, Float[Tensor, ""]]:
    """What optimising a proxy does to the true reward.  (difficulty ●●○, 8 minutes)

    The three tensors have the same shape, with one entry for each answer. Let π* be the best
    policy for the *proxy* at this beta. Return a dictionary of three numbers with these names:
    kl      KL(π* ‖ reference) in nats;
    true    the mean of the true reward under π*;
    slope   the covariance of true reward and proxy under π*.
    """
    ### BEGIN SOLUTION
    log_p = (log_ref + proxy / beta).flatten().log_softmax(dim=0).view_as(log_ref)
    p = log_p.exp()
    return {
        "kl": (p * (log_p - log_ref)).sum(),
        "true": (p * true).sum(),
        "slope": (p * true * (proxy - (p * proxy).sum())).sum(),
    }
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-overoptimised-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("rewards.overoptimised", lambda case: overoptimised(**case))

# %% [markdown]
# A **better proxy** includes a checker, which gives the reward 0 to nine out of ten impossible words, chosen at random, and overlooks the others.
#
# **Predict:** with the plain proxy, how many nats from the reference is the true reward highest?

# %% tags=["demo"]
predict("rewards.peak_in_nats", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
true = rewarding.true_rewards()
proxies = {"letters": letters, "checked": rewarding.checked_rewards(), "true": true}

def over_prompts(name: str, weight: float) -> dict[str, float]:
    """Your function for β = 1/weight, averaged over the three prompts."""
    each = [overoptimised(*(table.double() for table in row), 1 / weight) for row in zip(log_ref, proxies[name], true)]
    return {what: float(np.mean([found[what] for found in each])) for what in each[0]}

def peak(name: str, low: float = 0.01, high: float = 12.0) -> dict[str, float]:
    """Where the slope is zero, by bisection."""
    for _ in range(40):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if over_prompts(name, middle)["slope"] > 0 else (low, middle)
    return over_prompts(name, low) | {"beta": 1 / low}

curves = {name: pd.DataFrame([over_prompts(name, weight) for weight in np.geomspace(0.01, 15, 150)]) for name in proxies}
peaks = {name: peak(name) for name in ("letters", "checked")}
begun_true = rewarding.mean_reward(log_ref, true)

def while_training(name: str, seed: int) -> list[dict]:
    """GRPO on a proxy without a penalty: the exact distance and both rewards after every tenth step."""
    found = []

    def look(step: int, log_p: Tensor) -> None:
        if step % 10 == 0:
            found.append({
                "proxy": name, "seed": seed, "step": step, "kl": rewarding.mean_kl(log_p, log_ref),
                "proxy_reward": rewarding.mean_reward(log_p, proxies[name]), "true_reward": rewarding.mean_reward(log_p, true),
            })

    look(300, train_policy(proxies[name], 0.0, "in the loss", 16, seed, after_step=look))
    return found

hacking = pd.DataFrame([row for name in peaks for seed in range(3) for row in while_training(name, seed)])
reveal("rewards.peak_in_nats", peaks["letters"]["kl"])
print(f"true reward of the reference: {begun_true:.2f}")
stopped = {}
for name, one in peaks.items():
    runs = hacking[hacking["proxy"] == name]
    ends = runs[runs["step"] == 300]
    stopped[name] = {"best": runs.groupby("seed")["true_reward"].max().to_numpy(), "last": ends["true_reward"].to_numpy()}
    print(f"proxy {name!r}: highest true reward of a best policy {one['true']:.2f}, at β = {one['beta']:.2f}, {one['kl']:.2f} nats from the reference")
    print(f"    GRPO without a penalty: highest true reward {stopped[name]['best'].mean():.2f}, after 300 steps {stopped[name]['last'].mean():.2f} (proxy {ends['proxy_reward'].mean():.2f}, {ends['kl'].mean():.1f} nats)")
pictures.hacked(curves, hacking, {name: one["kl"] for name, one in peaks.items()})

# %% [markdown]
# With the plain proxy, the true reward rises up to a distance of about one nat and then falls to zero, because the longest words are impossible after these prompts.
# The zero of the covariance predicts the maximum. The mean of the *proxy*, however, rises all the time, so it does not reveal when to stop.

# %% [markdown]
# Three remedies can be seen. **Early stopping:** GRPO without a penalty passes the maximum; for each of the three seeds, the true reward is lower after 300
# steps than it had been earlier in training. **A larger β** keeps the best policy at the maximum or before it. **A better proxy** moves the maximum to a
# higher reward and a greater distance. It only delays the decline: the words that the checker overlooks are exactly those that an optimiser finds.

# %% [markdown]
# ## 6 · Several answers to one question
#
# We return to SmolLM2 and its sums. Two measures describe what a model can do with several samples. **pass@k** is the probability that at least one of k samples is
# correct (Chen et al. 2021). Given n ≥ k samples, of which c are correct, the formula 1 − (1 − c/n)^k is biased; the following estimate is not.

# %% nbgrader={"grade": false, "grade_id": "rewards-pass_at_k", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pass_at_k(correct: Int[Tensor, "P"], n: int, k: int) -> Float[Tensor, "P"]:
    """The probability that k samples contain a correct answer.  (difficulty ●●○, 8 minutes)

    For each of P problems, `correct` of n samples are correct. Draw k of these n samples
    without replacement (k ≤ n): the unbiased estimate is 1 − C(n − c, k) / C(n, k), where
    C(a, b) is 0 if a < b. For n = 200, binomial coefficients exceed the range of
    floating-point numbers; the product over i = n − c + 1, …, n of (1 − k/i) has the same
    value as the fraction.
    """
    ### BEGIN SOLUTION
    i = torch.arange(1, n + 1)
    fails = torch.where(i > n - correct[:, None], 1 - k / i, 1.0)                    # P n
    return 1 - fails.prod(dim=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-pass_at_k-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("rewards.pass_at_k", lambda case: pass_at_k(case["correct"], case["n"], case["k"]))

# %% [markdown]
# pass@k needs a verifier that finds the correct sample. Without one, the samples can vote: **self-consistency** (Wang et al. 2023) returns the most frequent answer.

# %% nbgrader={"grade": false, "grade_id": "rewards-majority_vote", "locked": false, "schema_version": 3, "solution": true, "task": false}
def majority_vote(answers: Int[Tensor, "P n"]) -> Int[Tensor, "P"]:
    """The most frequent of n answers to each of P questions.  (difficulty ●●○, 5 minutes)

    Answers are numbers from 0; −1 means that a sample contains no answer, and does not count.
    Among equally frequent answers, return the one that occurs first in the row. If no sample
    contains an answer, return −1.
    """
    ### BEGIN SOLUTION
    votes = (answers[:, :, None] == answers[:, None]).sum(dim=2) * (answers >= 0)
    return answers.gather(1, votes.argmax(dim=1, keepdim=True))[:, 0]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "rewards-majority_vote-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("rewards.majority_vote", lambda case: majority_vote(case["answers"]))

# %% [markdown]
# We sample eight answers to each of 24 sums of two digits. No training is involved: better answers are bought with more computation at test time (**test-time
# compute**).
#
# **Predict:** how much higher is the accuracy of the majority of eight than that of a single sample (as a fraction)?

# %% tags=["demo"]
predict("rewards.majority_adds", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import bootstrap, mean_and_half

print("This takes about fifteen seconds.")
drawn = np.random.default_rng(16).permutation([(a, b) for a in range(1, 10) for b in range(1, 10)])[:24].tolist()
given = torch.tensor([[sums.number_in(text) for text in texts] for texts in sums.asked(smol, drawn, samples=8, seed=1)])
wanted = torch.tensor(drawn).sum(dim=1)
correct = (given == wanted[:, None]).sum(dim=1)
per_sum = {
    "one sample": pass_at_k(correct, 8, 1), "majority of 8": (majority_vote(given) == wanted).double(),
    "pass@2": pass_at_k(correct, 8, 2), "pass@4": pass_at_k(correct, 8, 4), "pass@8": pass_at_k(correct, 8, 8),
}
per_sum = {way: values.double().numpy() for way, values in per_sum.items()}
voted = {way: (values.mean(), *bootstrap(values)) for way, values in per_sum.items()}
majority_gain = per_sum["majority of 8"] - per_sum["one sample"]
reveal("rewards.majority_adds", majority_gain.mean())
print(f"majority of 8, compared with one sample: {majority_gain.mean():+.2f} ({', '.join(f'{end:+.2f}' for end in bootstrap(majority_gain))})")
pictures.voted(voted, len(drawn))

# %% [markdown]
# The majority of eight is more accurate than a single sample (95 % interval of the difference: 2 to 15 points), although no verifier is involved. For each of these sums, at least
# one of the eight samples is correct. Best of eight (section 4), with the verifier as the reward, would therefore answer all of them correctly. Training on rewards can turn
# this gap between pass@1 and pass@8 into higher accuracy for a single answer.

# %% [markdown]
# Verified samples can also become training data. Fine-tuning a model on its own verified answers is called **rejection-sampling fine-tuning** (as in STaR,
# Zelikman et al. 2022). Training a small model on the answers of a larger one is **distillation**. DeepSeek's small reasoning models were made in this way
# (DeepSeek-AI 2025).

# %% [markdown]
# RLVR updates the policy directly from the rewards. For large models, Yue et al. (2025) report that pass@1 rises but the *base* model catches up, or is better, at large k:
# training had raised the probability of correct answers that the base model could already generate. Such a comparison must include the chance level at the
# same k: guessing one of ten digits gives a pass@64 of 99.9 %. (The optional section 7 makes this comparison with small models.)

# %% [markdown]
# **Question 1 · What has been learned?** A report says: "After reinforcement learning with verifiable rewards, pass@1 of our model on a mathematics test rose from 30 % to
# 60 %. Our model has learned to reason." Which measurements would you request before you believe the second sentence, and what would each of them show? (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "rewards-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# First, I would ask for pass@k of the base and the tuned model up to large k, on the same problems. If the base model catches up, training has raised the
# probability of answers that the model could already produce; if the tuned model stays ahead, it solves problems that the base model does not. Because some
# answers can be guessed, pass@k must be compared with the chance level at the same k. Second, I would ask for the majority vote of the base model, which also
# needs no verifier at test time: the fair comparison has the same number of generated tokens. Third, I would use new problems that are longer or written
# after training, in order to exclude leaked tests and to see whether the steps generalise. Finally, I would check the reasoning steps themselves: a correct
# final answer does not show that they are correct, because only the answer was rewarded.
#
# *Marking: 1 point for distinguishing sharpening from new abilities (pass@k at large k, with chance level or a count of problems solved only after training); 1 point
# for one further control with its reason (majority vote or equal compute, fresh or longer problems, correctness of the steps).*

# %% [markdown]
# **Question 2 · When to stop.** You train an assistant against a reward model, and the reward rises steadily. Nobody can measure the true reward of each answer, but annotators
# can judge a few hundred answers. What would you record during training, how would you decide when to stop, and which two changes would let you train longer?
# (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "rewards-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The reward itself does not show when to stop, because it rises both before and after the true reward reaches its maximum. I would record the KL divergence
# to the reference, which is comparable between runs, and from time to time have annotators compare samples of the current policy with samples of the
# reference. When their preference stops rising (or the correlation of reward and judgement among current samples reaches zero), I would stop and return to
# the best checkpoint. A larger β limits the distance from the reference, so that training ends near the maximum of the true reward. A better proxy moves the
# maximum further away: I would add comparisons of *current* samples to the reward model's training data, since it was trained on the reference's samples and
# is wrong where the policy is now.
#
# *Marking: 1 point for recording the distance from the reference and an independent judgement of current samples, with a rule for stopping; 1 point for two changes with
# reasons (larger β or an earlier stop; better proxy, e.g. comparisons of current samples, an ensemble, a verifier).*

# %% [markdown]
# ## 7 · Further: a chain of steps
#
# Reasoning models generate intermediate steps before they answer (**chain of thought**, Wei et al. 2022). Why should additional tokens help? A transformer has a fixed number
# of layers, so the computation for a single token is limited. Later tokens can read the steps that have been written, so the work is divided among many tokens.

# %% [markdown]
# Our example is a map of twelve towns, A to L. Each town has one bus, with one destination. The prompt lists where the buses from A, B, C … go, then the number of buses that
# we take and the town where we start. The answer is the last town before the end token ("$"). No route visits a town twice.
#
# The answer is written in one of two forms: *at once*, as the last town alone, or *step by step*, with every town on the way.

# %% tags=["demo"]
from coursekit import routes
from coursekit.datasets import read_table
from coursekit.pictures import rewards_tables as tables

shown = routes.draw(1, np.random.default_rng(5), least=4)
for number, form in enumerate(routes.FORMS):
    print(f"{form:>12}:   {routes.spelled(shown.written(np.array([number]))[0])}")

# %% [markdown]
# Two-layer GPTs were trained on new routes with three seeds: for 400 updates on answers written step by step, and for 800 on answers written at once (`python
# -m experiments rewards_steps`).
#
# **Predict:** how accurate is the model that answers *at once*, on average over routes of one to eight buses? (The chance level is one in twelve, 0.08.)

# %% tags=["demo"]
predict("rewards.at_once", ...)

# %% tags=["demo"]
forms = read_table("results/rewards_forms.csv")
at_once = forms[forms["form"] == "at once"]
reveal("rewards.at_once", at_once["accuracy"].mean())
longer = read_table("results/rewards_at_once.csv").groupby("seed")["accuracy"].mean()
mean, half = mean_and_half(longer)
print(f"at once, trained for 3,200 steps: {mean:.3f} ± {half:.3f} (95 % interval over seeds)")
pictures.by_buses(forms)

# %% [markdown]
# The model that answers step by step is correct for every number of buses. The model that answers at once is correct for 15 % of the routes on average
# (chance level: 8 %), although it was trained for twice as long. Even with four times as many training steps, we detect no gain. A step is a single look-up
# in the map, and every step on the way is a training target. A direct answer has one target for the whole route.

# %% [markdown]
# For a single bus, the two forms coincide, so two layers can compute this answer. The model trained on direct answers fails even here: without the steps, training does
# not find the look-up. This experiment does not show whether two layers could compute a long route at once.

# %% [markdown]
# **Does reinforcement learning find the steps?** We take a base model that has seen both kinds of answers: one in five was written step by step, the others at once. GRPO
# trains it for 60 steps with your `group_advantages` and `grpo_loss`, without a penalty. The reward is 1 if the last town is correct, so the steps themselves are not rewarded. As a
# control, the same training starts from a base model that has never seen a step.
#
# **Predict:** before GRPO, about a fifth of the base model's answers are written step by step. What fraction is written step by step afterwards?

# %% tags=["demo"]
predict("rewards.stepwise_after", ...)

# %% tags=["demo"]
verified_runs = read_table("results/rewards_verified.csv")
with_steps = verified_runs["share"] > 0
tuned = verified_runs["stage"] == "tuned"
reveal("rewards.stepwise_after", verified_runs[with_steps & tuned]["stepwise"].mean())
tables.verified(verified_runs)
pictures.passes(verified_runs)

# %% [markdown]
# After GRPO, nearly every answer is written step by step, and a single sample is almost always correct, although only the last town was rewarded.
# Among the base model's samples, those with steps are correct more often than the others, so their advantages are positive on average. GRPO also improves the steps
# themselves: most of the base model's answers with steps were wrong.

# %% [markdown]
# In the control, there is nothing to reinforce, because the base model generates practically no steps. After GRPO, two of the three models write several towns in
# some of their answers. In one model, 13 % of these answers are correct, against 10 % of the others; in the other model, 7 % against 11 %. No gain in
# accuracy can be detected, and the guesses become less varied: pass@8 falls for each of the three seeds. Here, reinforcement learning strengthens a behaviour
# that the base model already shows occasionally; it does not discover a new one.

# %% [markdown]
# As in the comparison of Yue et al. (2025), the base model catches up: with 64 samples, it solves every problem. In our case, however, this shows little, because guessing also solves 99.6 % of them.
# At k = 8, the base model that has seen steps is above chance level, but far below its tuned version.

# %% [markdown]
# ## 8 · Further: a judge model as a reward
#
# For most answers, there is no verifier. Often another language model judges them (**LLM as a judge**, 14), and its verdict becomes the reward. This reward
# is a proxy like any other (section 5), so we evaluate the judge before we optimise its verdict.

# %% [markdown]
# SmolLM2 reads a question about this course and two passages, named A and B, as possible answers (`data/retrieval`, 11). Its margin is log p(A) − log p(B) after "The better answer is Answer".
# For each of 58 questions, three annotators agree that one passage answers it and that the other does not. SmolLM2 judges each pair in both orders; we recorded the
# margins (`python -m experiments rewards_judge`).
#
# **Predict:** if the two answers change places, what fraction of the verdicts changes, too?

# %% tags=["demo"]
predict("rewards.changed_by_order", ...)

# %% tags=["demo"]
from coursekit import judged_answers

verdicts = judged_answers.Verdicts()
summaries = {names: verdicts.summary(names) for names in judged_answers.LABELS}
reveal("rewards.changed_by_order", summaries["A, B"]["changed by the order"][0])
tables.verdicts(summaries)

# %% [markdown]
# With the names A and B, three verdicts in four depend on the order, so the verdicts in a single order agree only weakly with the annotators. The **average over both orders** removes this position
# bias, and κ rises to about 0.5 (95 % interval 0.24 to 0.69). We chose pairs on which the annotators agree; for all questions and passages that the first two
# annotators judged, their κ is 0.90 (11).

# %% [markdown]
# Averaging does not remove every bias. If the first answer is called B and the second A, the judge *always* names A, and even with the average over both orders, no
# agreement can be detected. This result is consistent with two biases, one towards the *name* A and one towards the *second* answer. In the first row of the table, the two biases work against each other; in
# the second row, they add up. κ describes the model together with its prompt, not the model alone.

# %% [markdown]
# **What would such a reward select?** Each question now has four candidates: the right and the wrong answer, each plain or padded with a sentence that is true but says nothing. The
# reward of a candidate is its mean margin over the two plain answers, in both orders. Your `best_of_n` computes which candidate is kept if all four are equally probable.

# %% tags=["demo"]
rewards_judged = torch.from_numpy(verdicts.rewards())  # 58 × right, wrong, both padded
uniform = torch.full((4,), 0.25, dtype=torch.double)
is_right, is_padded = torch.tensor([[1, 0, 1, 0], [0, 0, 1, 1]], dtype=torch.double)
kept = {"reward": {}, "right": {}, "padded": {}}
for n in (1, 2, 4, 8, 16):
    p = torch.stack([best_of_n(uniform, reward, n) for reward in rewards_judged])
    kept["reward"][n] = (p * rewards_judged).sum(dim=1).numpy()
    kept["right"][n], kept["padded"][n] = (p @ is_right).numpy(), (p @ is_padded).numpy()
pictures.judge_kept(kept)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
covariances = {}
for name, quality in (("right", is_right), ("padded", is_padded)):
    covariances[name] = (rewards_judged * (quality - 0.5)).mean(dim=1).numpy()
    low, high = bootstrap(covariances[name])
    print(f"covariance of the reward with {name!r}: {covariances[name].mean():+.3f} ({low:+.3f} to {high:+.3f}) nats")
plain_preferred = 1 - verdicts.padding_preferred().mean(axis=1)
low, high = bootstrap(plain_preferred)
print(f"the plain form is preferred to the padded one in {plain_preferred.mean():.0%} of the pairs ({low:.0%} to {high:.0%})")

# %% [markdown]
# The judge's verdict is a useful reward here: the covariance with *right* is positive, and best of n keeps more right answers as n grows. As in section 5, this covariance
# under the reference predicts the direction in which the true quality starts to change.
#
# The covariance with *padded* is negative, so this reward also selects *short* answers, although padding makes no answer wrong. Large judges often prefer long answers (**length
# bias** or verbosity bias, Zheng et al. 2023); ours prefers the plain form in six of seven pairs. The sign of a bias cannot be assumed: measure it for your judge,
# your prompt and your answers before you train on its verdicts.

# %% [markdown]
# ## Summary
#
# - REINFORCE estimates the gradient of an expected reward from samples; a baseline removes most of the variance of the estimate.
# - GRPO replaces the critic with the mean reward of a group and clips the ratio of probabilities. The policy that training approaches depends on where the penalty is applied.
# - A proxy helps as long as it is positively correlated with the true reward under the current policy. Stop early, keep β large, or improve the proxy.
# - Several samples contain a correct answer more often than a single sample does; a verifier finds this answer, and a vote often does.
# - Compare pass@k with that of the base model at the same k, and with the chance level.

# %% [markdown]
# ## References
#
# - Beirami, A. et al. (2024). Theoretical guarantees on the best-of-n alignment policy. arXiv:2401.01879.
# - Chen, M. et al. (2021). Evaluating large language models trained on code. arXiv:2107.03374.
# - DeepSeek-AI (2025). DeepSeek-R1: incentivizing reasoning capability in LLMs via reinforcement learning. arXiv:2501.12948.
# - Gao, L., Schulman, J. and Hilton, J. (2023). Scaling laws for reward model overoptimization. *ICML*. arXiv:2210.10760.
# - Kool, W., van Hoof, H. and Welling, M. (2019). Buy 4 REINFORCE samples, get a baseline for free! *ICLR workshop on deep reinforcement learning meets structured prediction*.
# - Lambert, N. et al. (2024). Tülu 3: pushing frontiers in open language model post-training. arXiv:2411.15124.
# - Ouyang, L. et al. (2022). Training language models to follow instructions with human feedback. *NeurIPS* 35. arXiv:2203.02155.
# - Schulman, J., Wolski, F., Dhariwal, P., Radford, A. and Klimov, O. (2017). Proximal policy optimization algorithms. arXiv:1707.06347.
# - Shao, Z. et al. (2024). DeepSeekMath: pushing the limits of mathematical reasoning in open language models. arXiv:2402.03300.
# - Stiennon, N. et al. (2020). Learning to summarize from human feedback. *NeurIPS* 33. arXiv:2009.01325.
# - Tang, Y. and Munos, R. (2025). On a few pitfalls in KL divergence gradient estimation for RL. arXiv:2506.09477.
# - Wang, X. et al. (2023). Self-consistency improves chain of thought reasoning in language models. *ICLR*. arXiv:2203.11171.
# - Wei, J. et al. (2022). Chain-of-thought prompting elicits reasoning in large language models. *NeurIPS* 35. arXiv:2201.11903.
# - Williams, R. J. (1992). Simple statistical gradient-following algorithms for connectionist reinforcement learning. *Machine Learning* 8, 229–256.
# - Yue, Y. et al. (2025). Does reinforcement learning really incentivize reasoning capacity in LLMs beyond the base model? arXiv:2504.13837.
# - Zelikman, E., Wu, Y., Mu, J. and Goodman, N. D. (2022). STaR: bootstrapping reasoning with reasoning. *NeurIPS* 35. arXiv:2203.14465.
# - Zheng, L. et al. (2023). Judging LLM-as-a-judge with MT-Bench and Chatbot Arena. *NeurIPS* 36. arXiv:2306.05685.

# %% [markdown]
# This was the last notebook with new methods. [A project of one's own](../project/project.ipynb) applies the course to a text that you choose. The [start page](../start.ipynb) shows your progress.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit import predictions

predictions()
