"""Sums of one-digit numbers for a language model: the question, its sampled answers, and the number in an answer."""

import re
from collections.abc import Sequence

import numpy as np
import torch

from coursekit.models import Loaded

EXAMPLES = 5
"""Solved sums that the prompt shows, as long as the one that is asked."""
ROOM = 3
"""Tokens of an answer: a digit is one, and so is the end of the turn."""


def prompt(digits: Sequence[int]) -> str:
    """Solved examples and the question, up to where the model is to go on, in the form that SmolLM2 was trained on."""
    shown = np.random.default_rng(len(digits)).integers(1, 10, (EXAMPLES, len(digits))).tolist()
    turns = [_turns(one, f" {sum(one)}<|im_end|>\n") for one in shown]
    return "".join(turns) + _turns(digits, "")


def _turns(digits: Sequence[int], end: str) -> str:
    asked = " + ".join(map(str, digits))
    return f"<|im_start|>user\n{asked} = ?<|im_end|>\n<|im_start|>assistant\n{asked} ={end}"


@torch.no_grad()
def asked(
    smol: Loaded, sums: Sequence[Sequence[int]], samples: int, seed: int, temperature: float = 0.7
) -> list[list[str]]:
    """Sampled answers of SmolLM2 to each of several sums of the same length. Raises ValueError for a number that is not one digit."""
    if wrong := [number for one in sums for number in one if number not in range(10)]:
        raise ValueError(f"{wrong[0]} is not a digit; choose numbers from 0 to 9.")
    rows = [smol.tokenizer(prompt(one)).input_ids for one in sums for _ in range(samples)]
    differ = (place for place, tokens in enumerate(zip(*rows, strict=True)) if len(set(tokens)) > 1)
    shared = next(differ, len(rows[0]) - 1)
    cache = smol.model(torch.tensor([rows[0][:shared]]), use_cache=True).past_key_values
    cache.batch_repeat_interleave(len(rows))  # the examples are read only once
    fed, random, written = torch.tensor(rows)[:, shared:], torch.Generator().manual_seed(seed), []
    for _ in range(ROOM):
        logits = smol.model(fed, past_key_values=cache, logits_to_keep=1).logits[:, -1]
        fed = torch.multinomial((logits / temperature).softmax(dim=-1), 1, generator=random)
        written.append(fed)
    said = smol.tokenizer.batch_decode(torch.cat(written, dim=1))
    return [said[start : start + samples] for start in range(0, len(said), samples)]


def number_in(text: str) -> int:
    """The number with which an answer begins; −1 where there is none."""
    found = re.match(r"\s*(\d+)", text)
    return int(found[1]) if found else -1
