"""The same questions to a base model, to an assistant without its chat template, and to the assistant (notebook 14). All decoding is greedy."""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer

from coursekit.models import Loaded
from coursekit.small import GPT

TOKENS = 30


def asked_three_ways(
    novels: GPT, subwords: Tokenizer, assistant: Loaded, questions: Sequence[str]
) -> dict[str, tuple[str, str, str]]:
    """What the novels' GPT, SmolLM2 without its template and SmolLM2 with its template generate after each question."""
    texts = zip(
        [continued(novels, subwords, question) for question in questions],
        continued_by_assistant(assistant, questions),
        answered(assistant, questions),
        strict=True,
    )
    return dict(zip(questions, texts, strict=True))


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


def continued_by_assistant(
    assistant: Loaded, texts: Sequence[str], tokens: int = TOKENS, at_least: int = TOKENS
) -> list[str]:
    """The assistant's continuations of texts that are not marked as a user's turn: the same weights, used as a base model.

    As in `continued`, a text may not end before it has `at_least` tokens.
    """
    return generated(assistant, texts, tokens, min_new_tokens=at_least)


def answered(assistant: Loaded, questions: Sequence[str], tokens: int = TOKENS) -> list[str]:
    """The assistant's answer to each question in its chat template."""
    turns = [[{"role": "user", "content": question}] for question in questions]
    prompts = assistant.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    return generated(assistant, prompts, tokens)


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
