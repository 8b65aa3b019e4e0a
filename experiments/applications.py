"""Heads on an encoder, and a decoder that is asked in words: what the experiments of notebook 10 share."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pandas as pd
import torch
from transformers import BertModel

from coursekit.models import Loaded, load
from experiments.harness import Options, Run, grid
from experiments.notebooks import names_of

NOTEBOOK = "10_applications"
FROZEN, TUNED, CAPITALS, RANDOM = "frozen", "fine-tuned", "fine-tuned, with capitals", "random weights"
HEAD_EPOCHS_AND_RATE = (20, 5e-3)
"""For a head on a frozen encoder."""


def runs_of(baselines: tuple[str, ...], models: tuple[str, ...], seeds: list[int]) -> list[Run]:
    """Baselines with one seed, models with all; the encoder with random weights has one seed, too."""
    runs = grid(model=baselines, seed=[0])
    for model in models:
        runs += grid(model=[model], seed=[0] if model == RANDOM else seeds)
    return runs


class Heads:
    """Trains the heads of one task on the output of the pre-trained encoder, or of one with random weights."""

    def __init__(
        self, rows_of: Callable, loss: Callable, table: pd.DataFrame, outputs: int, epochs_and_rate: tuple
    ):
        self.names, self.encoder = names_of(NOTEBOOK), load("all-MiniLM-L6-v2")
        self.rows_of, self.loss, self.outputs, self.epochs_and_rate = rows_of, loss, outputs, epochs_and_rate
        self.train = self.names["part"](table, "train")
        self._rows = cache(lambda below: rows_of(self.encoder.model, self.encoder.tokenizer, below))

    def trained(self, model: str, seed: int) -> tuple:
        """A trained model and the rows that it reads."""
        base, config = self.encoder.model, self.encoder.model.config
        below = config.num_hidden_layers if model == FROZEN else self.names["HALF"]
        if model == RANDOM:
            torch.manual_seed(100 + seed)
            base = BertModel(config).eval()
            rows = self.rows_of(base, self.encoder.tokenizer, below)
        else:
            rows = self._rows(below)
        torch.manual_seed(seed)
        upper = self.names["Upper"](base, below, self.outputs, 2 if model == CAPITALS else 0)
        epochs, rate = HEAD_EPOCHS_AND_RATE if model == FROZEN else self.epochs_and_rate
        return self.names["fine_tune"](upper, self.loss, rows, self.train, epochs, rate, seed), rows


def batches(asks: list[str], options: Options, begun: str = "", size: int = 16) -> Iterator[tuple]:
    """SmolLM2, the numbers of requests of similar length, and their tokens."""
    smol = load("SmolLM2-135M-Instruct", head="causal-lm")
    smol.tokenizer.padding_side = "left"
    smol.tokenizer.pad_token = smol.tokenizer.pad_token or smol.tokenizer.eos_token
    prompts = [f"<|im_start|>user\n{ask}<|im_end|>\n<|im_start|>assistant\n{begun}" for ask in asks]
    order = np.argsort([len(prompt) for prompt in prompts])
    for start in options.track(range(0, len(order), size), "batches of requests"):
        few = order[start : start + size]
        yield smol, few, smol.tokenizer([prompts[n] for n in few], padding=True, return_tensors="pt")


@torch.no_grad()
def answers(asks: list[str], tokens: int, options: Options) -> list[str]:
    """SmolLM2's answers by greedy decoding, on one line each."""
    found = [""] * len(asks)
    for smol, few, batch in batches(asks, options):
        generated = smol.model.generate(**batch, max_new_tokens=tokens, do_sample=False)
        texts = smol.tokenizer.batch_decode(
            generated[:, batch["input_ids"].shape[1] :], skip_special_tokens=True
        )
        for n, text in zip(few, texts, strict=True):
            found[n] = re.sub(r"\s+", " ", text).strip()
    return found


@torch.no_grad()
def likelier(asks: list[str], begun: str, choices: tuple[str, ...], options: Options) -> list[str]:
    """The choice whose first token SmolLM2 finds most probable after the beginning of its answer."""
    found = [""] * len(asks)
    for smol, few, batch in batches(asks, options, begun):
        firsts = [first_token(smol, choice) for choice in choices]
        best = smol.model(**batch, logits_to_keep=1).logits[:, -1, firsts].argmax(dim=1)
        for n, choice in zip(few, best.tolist(), strict=True):
            found[n] = choices[choice]
    return found


def first_token(smol: Loaded, word: str) -> int:
    """The id of the first token of a word within a sentence."""
    return smol.tokenizer(f" {word}", add_special_tokens=False).input_ids[0]
