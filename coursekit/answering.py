"""The same question to a base model, to an assistant without its chat template, and to the assistant (notebook 14). All decoding is greedy."""

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
    return _generated(assistant, text, tokens, min_new_tokens=at_least)


def answered(assistant: Loaded, question: str, tokens: int = TOKENS) -> str:
    """The assistant's answer to a question in its chat template."""
    messages = [{"role": "user", "content": question}]
    prompt = assistant.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    return _generated(assistant, prompt, tokens)


@torch.no_grad()
def _generated(assistant: Loaded, prompt: str, tokens: int, **how: int) -> str:
    tokenizer = assistant.tokenizer
    given = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
    ids = assistant.model.generate(
        **given, max_new_tokens=tokens, do_sample=False, pad_token_id=tokenizer.eos_token_id, **how
    )
    return tokenizer.decode(ids[0, given.input_ids.shape[1] :], skip_special_tokens=True)
