"""The logit lens on a pre-trained decoder: its final norm and its table of embeddings, applied after every layer."""

import torch

from coursekit.models.loading import Loaded


@torch.no_grad()
def lens_of_word(decoder: Loaded, text: str, word: str) -> tuple[list[int], list[float]]:
    """At each layer, the number of tokens that the lens ranks above the word as the next token, and the word's log probability."""
    asked_for = decoder.tokenizer(word).input_ids[0]
    given = decoder.tokenizer(text, return_tensors="pt")
    states = torch.stack(decoder.model(**given, output_hidden_states=True).hidden_states)[:, 0, -1]
    states[:-1] = decoder.model.norm(states[:-1])  # the last one is already normalised
    logits = states @ decoder.model.embed_tokens.weight.T
    log_p = logits.log_softmax(dim=-1)[:, asked_for]
    return (logits > logits[:, asked_for, None]).sum(dim=-1).tolist(), log_p.tolist()
