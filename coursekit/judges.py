"""SmolLM2 as a judge of reviews, for notebook 14: eight questions, and how confident its answers are.

judge = load("SmolLM2-135M-Instruct", head="causal-lm")
margins(judge, ["The soup was cold."])                          # log p(positive) − log p(negative), one number for each text
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.models import Loaded

QUESTIONS = (
    ("Review: {}\nSentiment:", " positive", " negative"),
    ("{}\nIs this review positive or negative? Answer:", " positive", " negative"),
    ("Is the following review positive or negative?\n{}\nIt is", " positive", " negative"),
    ("{}\nThe writer's opinion is", " positive", " negative"),
    ("{}\nOverall, it was", " good", " bad"),
    ("{}\nDid the writer like it? Answer yes or no:", " yes", " no"),
    ("{}\nWould the writer advise a friend to go there or buy it? Yes or no?", " Yes", " No"),
    (
        "<|im_start|>user\nIs this review positive or negative? Answer with one word.\n\n{}<|im_end|>\n<|im_start|>assistant\nThis review is",
        " positive",
        " negative",
    ),
)
"""The question about a review, and the beginnings of the two answers: first the positive, then the negative one."""


def encoded(tokenizer: Any, texts: Sequence[str]) -> tuple[Int[Tensor, "n T"], Int[Tensor, " n"]]:
    """Ids padded on the right, which no earlier token attends to, and the position of each text's last token."""
    rows = [torch.tensor(tokenizer(text, add_special_tokens=False).input_ids) for text in texts]
    last = torch.tensor([len(row) - 1 for row in rows])
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), last


def answer_tokens(tokenizer: Any, question: tuple[str, str, str] = QUESTIONS[0]) -> list[int]:
    """The first token of the positive answer and of the negative one."""
    return [tokenizer(answer, add_special_tokens=False).input_ids[0] for answer in question[1:]]


def next_logits(
    judge: Loaded, texts: Sequence[str], question: tuple[str, str, str] = QUESTIONS[0], cache: Any = None
) -> Float[Tensor, "n V"]:
    """SmolLM2's predictions after the question about each text, each preceded by what the cache contains."""
    ids, last = encoded(judge.tokenizer, [question[0].format(text) for text in texts])
    if cache is not None:
        cache = deepcopy(cache)  # the model would extend the cache itself
        cache.batch_repeat_interleave(len(ids))
    hidden = judge.model.model(ids, past_key_values=cache, use_cache=cache is not None).last_hidden_state
    return judge.model.lm_head(hidden[torch.arange(len(ids)), last])


@torch.no_grad()
def margins(
    judge: Loaded,
    texts: Sequence[str],
    question: tuple[str, str, str] = QUESTIONS[0],
    before: str = "",
    rows: int = 16,
) -> Float[np.ndarray, " n"]:
    """log p(positive answer) − log p(negative answer) after the question about each text; `before` precedes each question."""
    positive, negative = answer_tokens(judge.tokenizer, question)
    cache = None
    if before:
        cache = judge.model.model(encoded(judge.tokenizer, [before])[0], use_cache=True).past_key_values
    found = np.empty(len(texts))
    order = np.argsort([len(text) for text in texts], kind="stable")  # similar lengths together: less padding
    for some in np.array_split(order, -(-len(texts) // rows)):
        logits = next_logits(judge, [texts[n] for n in some], question, cache)
        found[some] = (logits[:, positive] - logits[:, negative]).numpy()
    return found


def with_examples(solved: Sequence[tuple[str, str]]) -> str:
    """Solved reviews with their labels, in the form of the first question."""
    return "".join(f"{QUESTIONS[0][0].format(text)} {label}\n\n" for text, label in solved)


def summed_up(
    margins: Float[np.ndarray, "runs n"], positive: Sequence[bool]
) -> dict[str, Float[np.ndarray, " n"]]:
    """For each review, means over runs of three values: correctness at the threshold 0, confidence (0.5 to 1), and −log p(label) in nats."""
    positive = np.asarray(positive, dtype=bool)
    towards = np.where(positive, margins, -margins)
    return {
        "accuracy": ((margins > 0) == positive).mean(axis=0),
        "confidence": (1 / (1 + np.exp(-np.abs(margins)))).mean(axis=0),
        "log loss": np.logaddexp(0, -towards).mean(axis=0),
    }
