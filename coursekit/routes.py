"""Routes through twelve towns, for the small GPTs of notebook 16: where does one arrive after some buses?

From each town, one bus goes to one town. The prompt lists where the buses from A, B, C … go, then the number of buses and the
town where the route starts. No route visits a town twice. There are two ways to write the answer:

    F C A … | 3 B = D $          at once: the bus from B goes to C, from there to A, and from there to D
    F C A … | 3 B = C A D $      step by step

The answer is the town before the end. A program can check it without knowing how it was found.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from coursekit.small.gpt import GPT, GPTConfig

TOWNS, MOST = 12, 8
"""Towns, and buses of the longest route."""
PAD, END = 0, 1
BUSES, TOWN = END, END + MOST + 1
"""Tokens: n buses are BUSES + n, and the first town is TOWN."""
VOCABULARY = TOWN + TOWNS
PROMPT, ROOM = TOWNS + 2, MOST + 1
"""Tokens of a prompt and of the longest answer."""
LEAST = 4
"""Buses of the shortest route in reinforcement learning and its test."""
SAMPLES = (1, 2, 4, 8, 16, 32, 64)
"""The k of pass@k."""
FORMS = ("at once", "step by step")


@dataclass(frozen=True)
class Routes:
    """For each route: where the bus from each town goes, the number of buses, and the town where it starts."""

    bus_to: Int[np.ndarray, "n 12"]
    buses: Int[np.ndarray, " n"]
    start: Int[np.ndarray, " n"]

    @property
    def prompts(self) -> Int[Tensor, "n 14"]:
        """The tokens that a model is given."""
        columns = TOWN + self.bus_to, BUSES + self.buses, TOWN + self.start
        return torch.from_numpy(np.column_stack(columns))

    @property
    def on_the_way(self) -> Int[np.ndarray, "n 8"]:
        """The towns after one, two … eight buses."""
        towns, here, rows = [], self.start, np.arange(len(self.start))
        for _ in range(MOST):
            here = self.bus_to[rows, here]
            towns.append(here)
        return np.column_stack(towns)

    @property
    def answers(self) -> Int[Tensor, " n"]:
        """The town where each route ends."""
        return torch.from_numpy(self.on_the_way[np.arange(len(self.buses)), self.buses - 1])

    def written(self, form: Int[np.ndarray, " n"]) -> Int[Tensor, "n 23"]:
        """Prompts with correct answers; `form` is the number of each answer's form in FORMS."""
        steps = np.where((form == 1)[:, None], TOWN + self.on_the_way, TOWN + self.answers.numpy()[:, None])
        ends = np.where(form == 1, self.buses, 1)[:, None]
        place = np.arange(ROOM)
        tokens = np.where(place < ends, np.column_stack([steps, steps[:, -1]]), PAD)
        tokens = np.where(place == ends, END, tokens)
        return torch.cat([self.prompts, torch.from_numpy(tokens)], dim=1)


def draw(n: int, random: np.random.Generator, least: int = 1, most: int = MOST) -> Routes:
    """n random routes of `least` to `most` buses that visit no town twice; the other buses go anywhere."""
    order = random.permuted(np.tile(np.arange(TOWNS), (n, 1)), axis=1)  # the route visits the first of them
    buses, rows = random.integers(least, most + 1, n), np.arange(n)
    bus_to = random.integers(0, TOWNS, (n, TOWNS))
    for step in range(most):
        here = order[:, step]
        bus_to[rows, here] = np.where(step < buses, order[:, step + 1], bus_to[rows, here])
    return Routes(bus_to, buses, order[:, 0])


def spelled(row: Int[Tensor, " tokens"]) -> str:
    """A route and its answer as a person reads them."""
    signs = {END: "$"} | {TOWN + town: chr(ord("A") + town) for town in range(TOWNS)}
    words = [
        str(token - BUSES) if BUSES < token < TOWN else signs[token] for token in row.tolist() if token != PAD
    ]
    asked = " ".join(words[:TOWNS]), " ".join(words[TOWNS:PROMPT]), " ".join(words[PROMPT:])
    return "{} | {} = {}".format(*asked)


# ------------------------------------------------------------------------------------------------------- answering


@torch.no_grad()
def sample(
    model: GPT, prompts: Int[Tensor, "n 14"], random: torch.Generator | None = None
) -> tuple[Int[Tensor, "n 9"], Float[Tensor, "n 9"]]:
    """An answer to each prompt, with the log-probability of each of its tokens; greedy without `random`."""
    ids, log_ps = prompts, []
    ended = torch.zeros(len(ids), dtype=torch.bool)
    for _ in range(ROOM):
        if ended.all():
            break
        log_p = _next(model, ids)
        if random is None:
            tokens = log_p.argmax(dim=-1)
        else:
            tokens = torch.multinomial(log_p.exp(), 1, generator=random)[:, 0]
        tokens = torch.where(ended, PAD, tokens)
        log_ps.append(torch.where(ended, 0.0, log_p.gather(-1, tokens[:, None])[:, 0]))
        ended = ended | (tokens == END)
        ids = torch.cat([ids, tokens[:, None]], dim=1)
    answers, log_p = ids[:, PROMPT:], torch.stack(log_ps, dim=1)
    room = (0, ROOM - answers.shape[1])
    return pad(answers, room, value=PAD), pad(log_p, room)


def _next(model: GPT, ids: Int[Tensor, "n T"]) -> Float[Tensor, "n V"]:
    return torch.cat([model(some).logits[:, -1] for some in ids.split(1024)]).log_softmax(dim=-1)


def read(answers: Int[Tensor, "n 9"]) -> Int[Tensor, " n"]:
    """The town before the end; −1 where there is none."""
    ends = answers == END
    last = (ends.int().argmax(dim=1) - 1).clamp(min=0)
    found = answers.gather(1, last[:, None])[:, 0] - TOWN
    return torch.where(ends.any(dim=1) & (found >= 0), found, -1)


def accuracies(model: GPT, n: int, seed: int) -> dict[int, float]:
    """Greedy accuracy on n new routes of each number of buses."""
    found = {}
    for buses in range(1, MOST + 1):
        tests = draw(n, np.random.default_rng(seed), buses, buses)
        found[buses] = (read(sample(model, tests.prompts)[0]) == tests.answers).float().mean().item()
    return found


def judged(
    model: GPT,
    pass_at_k: Callable[[Tensor, int, int], Tensor],
    majority_vote: Callable[[Tensor], Tensor],
    problems: int = 60,
    samples: int = 64,
) -> dict[str, float]:
    """Accuracy with one and with several samples, on new routes of four to eight buses; length and form of the answers.

    An answer of more than one town counts as step by step. The two functions are those of notebook 16.
    """
    tests = draw(problems, np.random.default_rng(98), LEAST)
    rows = tests.prompts.repeat_interleave(samples, dim=0)
    answers, _ = sample(model, rows, torch.Generator().manual_seed(0))
    given, length = read(answers).view(problems, samples), (answers != PAD).sum(dim=1)
    is_right = given == tests.answers[:, None]
    stepwise = (length > 2).view(problems, samples)
    greedy, _ = sample(model, tests.prompts)
    passed = {f"pass@{k}": pass_at_k(is_right.sum(dim=1), samples, k).mean().item() for k in SAMPLES}
    return passed | {
        "majority of 16": (majority_vote(given[:, :16]) == tests.answers).double().mean().item(),
        "greedy": (read(greedy) == tests.answers).double().mean().item(),
        "stepwise": stepwise.double().mean().item(),
        "correct if stepwise": is_right[stepwise].double().mean().item(),
        "correct if at once": is_right[~stepwise].double().mean().item(),
        "length": length.double().mean().item(),
    }


# -------------------------------------------------------------------------------------------------------- training


def learn(
    shares: Mapping[str, float], seed: int, steps: int, rows: int = 64, lr: float = 5e-3, dim: int = 32
) -> GPT:
    """A GPT of two layers, trained on new routes and their correct answers; `shares` says how many have each form."""
    torch.manual_seed(seed)
    model = GPT(GPTConfig(VOCABULARY, PROMPT + ROOM, dim, feed_forward=4 * dim))
    random = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    p = [shares.get(form, 0.0) for form in FORMS]
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = lr * min((step + 1) / 100, 1.0, (steps - step) / (0.3 * steps))
        ids = draw(rows, random).written(random.choice(len(FORMS), rows, p=p))
        ids = ids[:, : (ids != PAD).sum(dim=1).max()]
        logits, targets = model(ids).logits[:, PROMPT - 1 : -1], ids[:, PROMPT:]
        loss = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


def reinforce(
    base: GPT,
    advantages_of: Callable[[Tensor], Tensor],
    loss_of: Callable[..., Tensor],
    seed: int,
    steps: int,
    prompts: int = 16,
    group: int = 8,
    lr: float = 1e-3,
) -> tuple[GPT, list[float]]:
    """GRPO with the functions of notebook 16: the reward is 1 if the last town is correct. Also returns the mean reward of each step."""
    model, numbers = deepcopy(base), np.random.default_rng(1000 + seed)
    random, rewards = torch.Generator().manual_seed(seed), []
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        asked = draw(prompts, numbers, LEAST)
        rows = asked.prompts.repeat_interleave(group, dim=0)
        answers, log_old = sample(model, rows, random)
        reward = (read(answers) == asked.answers.repeat_interleave(group)).float()
        advantages = advantages_of(reward.view(prompts, group)).flatten()
        ids, counts = torch.cat([rows, answers], dim=1), answers != PAD
        for _ in range(2):  # two steps on the same samples
            log_ps = model(ids).logits[:, PROMPT - 1 : -1].log_softmax(dim=-1)
            log_p = log_ps.gather(-1, answers[..., None])[..., 0]
            loss = loss_of(log_p, log_old, log_old, advantages, counts, 0.0, 0.2)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        rewards.append(reward.mean().item())
    return model, rewards
