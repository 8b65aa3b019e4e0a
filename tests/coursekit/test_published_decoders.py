"""Costs and shares that the tables of notebook 13 state."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from coursekit.decoder_costs import (
    LLAMA_3_8B,
    cached_numbers,
    flops_of_next_token,
    settings_of,
    texts_in_memory,
)
from coursekit.published_decoders import IDEAS, predicted_over_built, shares_of_ideas


class Attention(nn.Module):
    """Stores its tokens as keys and values, and a matrix product with them is all that it computes."""

    class Cache:
        past = None

    def __init__(self):
        super().__init__()
        self.cache = self.Cache()

    def reset(self, cached=False):
        self.cache.past = None

    def forward(self, x):
        x = x.float()
        self.cache.past = (x, x + 1)
        return x @ torch.ones(x.shape[-1], 3)


def test_a_tensor_that_is_stored_twice_counts_once():
    assert cached_numbers(Attention(), dim=4, tokens=10) == 2 * 10 * 4


def test_the_flops_are_those_of_the_next_token_alone():
    assert flops_of_next_token(Attention(), before=5) == 2 * 1 * 3


def test_texts_fill_the_memory_that_the_weights_leave():
    def costs(vocabulary, dim, layers, heads, kv_heads, inner, tied, tokens):
        assert (vocabulary, kv_heads, tied) == (128_256, 8, False)
        return 1_000, 7 * tokens, 0

    assert set(settings_of(LLAMA_3_8B)) == {
        "vocabulary", "dim", "layers", "heads", "kv_heads", "inner", "tied"
    }  # fmt: skip
    assert texts_in_memory(costs, LLAMA_3_8B, memory=5_000, tokens=100) == (2, 2_000, 1_400)


def test_a_census_is_summed_up_by_period_and_by_what_a_formula_predicts():
    census = pd.DataFrame({
        "decoder": ["old", "new", "newer", "unknown"],
        "year": [2019, 2025, 2026, 2026],
        "parameters": [100.0, 50.0, 40.0, 1.0],
        "vocabulary": [10, 10, 10, np.nan],
        **dict.fromkeys(["dim", "layers", "heads", "kv_heads", "inner"], 1),
        "tied": [True, False, True, True],
        **{idea: [False, True, False, False] for idea in IDEAS},
    })  # fmt: skip
    shares = shares_of_ideas(census)
    assert shares.columns.tolist() == ["up to 2022 (1)", "since 2025 (3)"]
    assert shares.loc["GQA"].tolist() == pytest.approx([0, 1 / 3])
    ratio, experts = predicted_over_built(lambda vocabulary, *rest, tokens: (10 * vocabulary, 0, 0), census)
    assert ratio.to_dict() == {"old": 1, "new": 2, "newer": 2.5} and experts.to_dict()["new"]
