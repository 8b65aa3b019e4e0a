"""The table of architectures of notebook 12, and the measurements that it states."""

from collections.abc import Callable, Mapping
from time import process_time

import pandas as pd
import torch
from IPython.display import display
from jaxtyping import Float, Int
from torch import Tensor

PROPERTIES = (
    "words in the context", "attention", "training objective", "generates text", "cells from first to last word",
    "sequential steps", "CPU time for four times as many words", "typical use",
)  # fmt: skip


@torch.no_grad()
def growth(module: Callable[[Float[Tensor, "B T D"]], object], T: int = 512) -> float:
    """The factor by which CPU time grows when there are four times as many words."""

    def typical(x: Float[Tensor, "B T D"]) -> float:
        times = []
        for _ in range(7):
            start = process_time()
            module(x)
            times.append(process_time() - start)
        return sorted(times)[len(times) // 2]

    return typical(torch.randn(1, 4 * T, 64)) / typical(torch.randn(1, T, 64))


def encoder_decoder_agrees() -> bool:
    """Whether each output of a small encoder–decoder depends on all source words and on exactly the target words up to its own."""
    translator = torch.nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True).eval()
    hidden_future = translator.generate_square_subsequent_mask(5)
    source, target = torch.randn(1, 7, 16), torch.randn(1, 5, 16)
    slopes = torch.autograd.functional.jacobian(
        lambda s, t: translator(s, t, tgt_mask=hidden_future, tgt_is_causal=True), (source, target)
    )
    to_source, to_target = (slope[0].square().sum(dim=(1, 2, 4)) > 0 for slope in slopes)
    return bool(to_source.all() and (to_target == torch.ones(5, 5).tril().bool()).all())


def architectures(
    agrees: Mapping[str, bool], both_agree: bool, lengths: Mapping[str, Int[Tensor, "T T"]]
) -> None:
    """The properties of each architecture; the times are measured now.

    agrees      whether the measured influence has the zeros of the diagram, by architecture
    both_agree  the same for an encoder–decoder
    lengths     path lengths from the diagrams; from a word to itself it is the number of layers L
    """
    grows = {
        "recurrent": growth(torch.nn.LSTM(64, 64, batch_first=True)),
        "attention": growth(lambda x: torch.softmax(x @ x.mT / 8, dim=-1) @ x),
    }
    steps = {"recurrent": "T", "attention": "1 per layer"}

    def far(name: str) -> str:
        from_first, from_itself = lengths[name][-1, [0, -1]].tolist()
        return "L + T − 1" if from_first - from_itself == len(lengths[name]) - 1 else "L"

    rows = {
        "recurrent LM": ("words before", agrees["recurrent"], "none", "next word", "yes",
                         far("recurrent"), "recurrent", "scoring sentences"),
        "ELMo": ("all words", agrees["elmo"], "none", "next word, previous word", "each stack alone",
                 far("elmo"), "recurrent", "features for a task model"),
        "encoder (BERT)": ("all words", agrees["encoder"], "both sides", "masked words", "no",
                           far("encoder"), "attention", "understanding, fine-tuned"),
        "decoder (GPT)": ("words before", agrees["decoder"], "causal", "next word", "yes",
                          far("decoder"), "attention", "generation, prompting"),
        "encoder–decoder": ("source, target words before", both_agree, "three kinds", "next target word",
                            "yes", "source: L + 1, target: L", "attention", "translation, summarisation"),
    }  # fmt: skip
    display(pd.DataFrame({
        name: (f"{sees} {'✓' if checked else '✗'}", attends, says, writes, path, steps[kind],
               f"× {grows[kind]:.0f}", use)
        for name, (sees, checked, attends, says, writes, path, kind, use) in rows.items()
    }, index=PROPERTIES))  # fmt: skip
