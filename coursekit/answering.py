"""The same question to a base model, to an assistant without its chat template, and to the assistant (notebook 14). All decoding is greedy."""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer

from coursekit.models import Loaded
from coursekit.small import GPT

TOKENS = 30


def asked_three_ways(
    novels: GPT, subwords: Tokenizer, assistant: Loaded, question: str
) -> tuple[str, str, str]:
    """What the novels' GPT, SmolLM2 without its template and SmolLM2 with its template generate after a question."""
    return (
        continued(novels, subwords, question),
        continued_by_assistant(assistant, question),
        answered(assistant, question),
    )


@torch.no_grad()
def continued(model: GPT, subwords: Tokenizer, text: str, tokens: int = TOKENS) -> str:
    """The base model's continuation of a text."""
    ids = subwords.encode(text, add_special_tokens=False).ids
    given = [subwords.token_to_id("[BOS]"), *ids]
    for _ in range(tokens):
        logits = model(torch.tensor([given])).logits[0, -1]
        logits[: subwords.token_to_id("[SEP]") + 1] = -torch.inf
        given.append(logits.argmax().item())
    return subwords.decode(given[len(ids) + 1 :])


def continued_by_assistant(assistant: Loaded, text: str, tokens: int = TOKENS, at_least: int = TOKENS) -> str:
    """The assistant's continuation of a text that is not marked as a user's turn: the same weights, used as a base model.

    As in `continued`, the text may not end before it has `at_least` tokens.
    """
    return generated(assistant, [text], tokens, min_new_tokens=at_least)[0]


def answered(assistant: Loaded, question: str, tokens: int = TOKENS) -> str:
    """The assistant's answer to a question in its chat template."""
    messages = [{"role": "user", "content": question}]
    prompt = assistant.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    return generated(assistant, [prompt], tokens)[0]


@torch.no_grad()
def generated(assistant: Loaded, prompts: Sequence[str], tokens: int, **how: int) -> list[str]:
    """What SmolLM2 generates after each prompt, without special tokens; `how` is passed to the library's `generate`."""
    tokenizer = assistant.tokenizer
    given = tokenizer(
        list(prompts), padding=True, padding_side="left", return_tensors="pt", add_special_tokens=False
    )
    ids = assistant.model.generate(
        **given, max_new_tokens=tokens, do_sample=False, pad_token_id=tokenizer.eos_token_id, **how
    )
    return tokenizer.batch_decode(ids[:, given.input_ids.shape[1] :], skip_special_tokens=True)
