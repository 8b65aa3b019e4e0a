"""A base model continues a question, an assistant answers it (notebook 14)."""

import torch
from tokenizers import Tokenizer

from coursekit.models import Loaded
from coursekit.small import GPT


@torch.no_grad()
def continued(model: GPT, pieces: Tokenizer, text: str, tokens: int = 30) -> str:
    """The base model's continuation of the text, sampled at temperature 0.8."""
    ids, draws = pieces.encode(text, add_special_tokens=False).ids, torch.Generator().manual_seed(0)
    given = [pieces.token_to_id("[BOS]"), *ids]
    for _ in range(tokens):
        logits = model(torch.tensor([given])).logits[0, -1]
        logits[: pieces.token_to_id("[SEP]") + 1] = -torch.inf
        given.append(torch.multinomial((logits / 0.8).softmax(dim=-1), 1, generator=draws).item())
    return pieces.decode(given[len(ids) + 1 :])


@torch.no_grad()
def answered(assistant: Loaded, question: str, tokens: int = 40) -> str:
    """The assistant's answer to a question in its chat template, by greedy decoding."""
    tokenizer = assistant.tokenizer
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    ids = assistant.model.generate(
        **prompt, max_new_tokens=tokens, do_sample=False, pad_token_id=tokenizer.eos_token_id
    )
    return tokenizer.decode(ids[0, prompt.input_ids.shape[1] :], skip_special_tokens=True)
