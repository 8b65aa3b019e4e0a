"""What notebook 04 measures of translations: shares, gaps and attention weights, on sentences that can be counted by hand."""

import pytest
import torch

from coursekit.language import PAD
from coursekit.translating import compare_decodings, compare_searches, share_found


def test_after_the_first_error_free_decoding_loses_more():
    real = torch.tensor([[True, True, True, True], [True, True, True, False]])
    forced = torch.tensor([[True, False, True, True], [False, True, True, True]])
    free = torch.tensor([[True, False, False, False], [False, False, True, False]])
    found = compare_decodings(forced, free, real)
    assert found.token_share == {"forced": pytest.approx(5 / 7), "free": pytest.approx(2 / 7)}
    assert found.behind_share == {"forced": 1.0, "free": 0.25}  # of the four tokens after a first error
    assert found.gaps["all tokens"][0] == pytest.approx(3 / 7)
    assert found.gaps["after the first error"][0] == 0.75
    assert not any(whole.any() for whole in found.whole.values()) and found.agree == 1


def test_only_stems_are_looked_for():
    weights = torch.tensor([[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]])
    assert share_found(weights, torch.tensor([[0, 0, -1]])) == 0.5


def test_searches_are_compared_by_the_probability_that_the_model_gives_them():
    target = torch.tensor([[5, 6], [5, 5]])
    logits = torch.zeros(2, 2, 7)
    logits[..., 5] = 1.0  # the model prefers token 5
    found = compare_searches(
        greedy=torch.tensor([[5, 5], [5, 5]]),
        beam=torch.tensor([[5, 6], [5, PAD]]),
        target=target,
        logits_of=lambda ids: logits,
    )
    assert found.only == (1, 1) and found.mcnemar == 1
    assert found.more_probable.tolist() == [False, True]  # padding costs nothing
    assert found.model_errors.tolist() == [True, False]
