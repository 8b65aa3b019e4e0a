"""SmolLM2 learns from 40 examples to answer in JSON (notebook 14, and `python -m experiments assistant_json`).

smol = load("SmolLM2-135M-Instruct", head="causal-lm")
weights = add_lora(smol.model, LoRALinear)                      # of instruction_tuning; the student's layer
train(smol.model, weights, [sft_labels(turns) for turns in conversations(smol.tokenizer, questions("train"))])
write(smol, questions("test"))                                  # ['{"answer": "Paris", "topic": "geography"}', …]
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from coursekit.answering import generated
from coursekit.datasets import read_table
from coursekit.models import Loaded

Messages = Sequence[dict[str, str]]
"""Messages of a conversation, each with its role and its content."""
Conversation = tuple[list[int], list[int]]
"""Ids and labels, as sft_labels returns them."""
TOPICS = ("geography", "animals", "science", "language", "numbers")
END = "<|im_end|>"
TOKENS = 30

# ------------------------------------------------------------------------------------------ the questions, and the format


def questions(split: str) -> pd.DataFrame:
    """The rows of data/json_answers in a split: "train", "test" or "request" (requests that have no short answer)."""
    table = read_table("json_answers/json_answers.csv").fillna("")
    return table[table["split"] == split].reset_index(drop=True)


def as_json(row: pd.Series) -> str:
    """The answer to a question in the format to be learned."""
    return json.dumps({"answer": row["answer"], "topic": row["topic"]})


def parsed(text: str) -> dict[str, str] | None:
    """The object if a text is in the format: one JSON object with the keys "answer" and "topic", both strings, and no other text."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.keys() != {"answer", "topic"}:
        return None
    return found if all(isinstance(value, str) for value in found.values()) else None


def mentions_answer(text: str, row: pd.Series) -> bool:
    """Whether a text contains the answer to a question, or one of its other wordings."""
    accepted = [row["answer"], *filter(None, row["also"].split(";"))]
    return any(re.search(rf"\b{re.escape(words)}\b", text, re.IGNORECASE) for words in accepted)


def counted(texts: Sequence[str], asked: pd.DataFrame) -> dict[str, int]:
    """How many of the texts are in the format, contain the answer, and state the topic of the question in the format."""
    rows, objects = [row for _, row in asked.iterrows()], [parsed(text) for text in texts]
    return {
        "in format": sum(found is not None for found in objects),
        "answer": sum(mentions_answer(text, row) for text, row in zip(texts, rows, strict=True)),
        "topic": sum(
            found is not None and found["topic"] == row["topic"]
            for found, row in zip(objects, rows, strict=True)
        ),
    }


# ------------------------------------------------------------------------------------------ two prompts that ask for the format

DESCRIPTION: Messages = [{
    "role": "system",
    "content": 'Answer with a JSON object and nothing else. Its keys are "answer" and "topic". '
    f"The topic is one of: {', '.join(TOPICS)}.",
}]  # fmt: skip
"""A system prompt that describes the format."""


def five_examples() -> Messages:
    """Five solved questions, the first training question of each topic, as earlier turns of the conversation."""
    first = questions("train").groupby("topic", sort=False).head(1)
    return [
        {"role": role, "content": content}
        for _, row in first.iterrows()
        for role, content in (("user", row["question"]), ("assistant", as_json(row)))
    ]


# ------------------------------------------------------------------------------------------ training and generation


def prompt(tokenizer: Any, question: str, before: Messages = ()) -> str:
    """A question in the chat template, up to the beginning of the assistant's turn; `before` are earlier messages.

    Unless these contain a system prompt, it is empty: shorter, and faster, than the template's own.
    """
    messages = [*before, {"role": "user", "content": question}]
    if messages[0]["role"] != "system":
        messages.insert(0, {"role": "system", "content": ""})
    return tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)


def conversations(tokenizer: Any, asked: pd.DataFrame) -> list[list[tuple[str, list[int]]]]:
    """Each question, including what the template puts before it, and its answer in JSON: two turns, as sft_labels takes them."""

    def ids(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False).input_ids

    return [
        [("user", ids(prompt(tokenizer, row["question"]))), ("assistant", ids(as_json(row) + END))]
        for _, row in asked.iterrows()
    ]


def labelled_loss(model: nn.Module, batch: Sequence[Conversation]) -> Float[Tensor, ""]:
    """The mean loss at the labelled tokens of some conversations; logits are computed at these tokens only."""
    ids, labels = (
        pad_sequence([torch.tensor(part) for part in parts], batch_first=True, padding_value=padding)
        for parts, padding in zip(zip(*batch, strict=True), (0, -100), strict=True)
    )
    targets = labels[:, 1:]
    hidden = model.model(ids, use_cache=False).last_hidden_state[:, :-1]
    return cross_entropy(model.lm_head(hidden[targets != -100]), targets[targets != -100])


def train(
    model: nn.Module,
    weights: Sequence[nn.Parameter],
    examples: Sequence[Conversation],
    lr: float = 3e-3,
    epochs: int = 2,
    rows: int = 4,
    seed: int = 0,
) -> list[float]:
    """Train with AdamW and linear decay on shuffled batches of conversations; return the loss of each step."""
    order, optimiser = np.random.default_rng(seed), torch.optim.AdamW(weights, lr=lr, weight_decay=0.0)
    batches = [
        part
        for _ in range(epochs)
        for part in np.array_split(order.permutation(len(examples)), len(examples) // rows)
    ]
    losses = []
    for step, some in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = lr * (1 - step / len(batches))
        loss = labelled_loss(model, [examples[n] for n in some])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def write(assistant: Loaded, asked: pd.DataFrame, before: Messages = (), tokens: int = TOKENS) -> list[str]:
    """What the assistant generates after each question in its chat template, by greedy decoding, up to a number of tokens."""
    prompts = [prompt(assistant.tokenizer, question, before) for question in asked["question"]]
    return generated(assistant, prompts, tokens)


def recorded_json() -> pd.DataFrame:
    """The recorded runs, in the order of `python -m experiments assistant_json`."""
    return read_table("results/assistant_json.csv")
