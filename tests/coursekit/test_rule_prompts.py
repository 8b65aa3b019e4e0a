"""Prompts with a rule of their own, and the scores of the heads that may read it."""

import pytest
import torch

from coursekit.rule_prompts import (
    ASKED,
    LABELS,
    OPTIMAL_LOSS,
    OPTIMUM,
    SYMBOLS,
    TRAINING_RULES,
    as_text,
    draw_prompts,
    head_scores,
    prompt_with_one_match,
    same_symbol_earlier,
    spoken,
)  # fmt: skip


@pytest.fixture(scope="module")
def prompts():
    return draw_prompts(20_000, torch.Generator().manual_seed(0), TRAINING_RULES)


def test_within_a_prompt_a_symbol_has_one_label(prompts):
    symbols, labels = prompts
    same = same_symbol_earlier(symbols)
    assert (labels[:, :, None] == labels[:, None, :])[same].all()
    assert as_text(symbols, labels)[0, :4].tolist() == [
        symbols[0, 0], SYMBOLS + labels[0, 0], symbols[0, 1], SYMBOLS + labels[0, 1]
    ]  # fmt: skip


def test_the_optimum_is_the_accuracy_of_repeating_a_label_or_guessing(prompts):
    met = same_symbol_earlier(prompts[0]).any(dim=-1).double().mean(dim=0)
    accuracy = met + (1 - met) / LABELS
    assert accuracy.tolist() == pytest.approx(OPTIMUM, abs=0.01)
    assert ((1 - met) * torch.tensor(LABELS).log()).mean().item() == pytest.approx(OPTIMAL_LOSS, abs=0.01)


def test_a_head_that_attends_to_the_previous_token_or_to_matching_labels_scores_one(prompts):
    symbols = prompts[0][:500]
    T = 2 * ASKED
    weights = torch.zeros(1, len(symbols), 2, T, T)
    weights[:, :, 0, torch.arange(1, T), torch.arange(T - 1)] = 1
    same = same_symbol_earlier(symbols).float()
    weights[0, :, 1, 0::2, 1::2] = same / same.sum(dim=-1, keepdim=True).clamp(min=1)
    scores = head_scores(weights, symbols)
    assert scores["previous token"][0].tolist() == pytest.approx([1, 0], abs=0.01)
    assert scores["match"][0, 1].item() == pytest.approx(1)


def test_the_prompt_that_is_shown_ends_with_a_symbol_seen_once(prompts):
    symbols, labels = prompts
    shown = prompt_with_one_match(symbols)
    tokens = spoken(symbols[shown].tolist(), labels[shown].tolist())
    assert len(tokens) == 2 * ASKED and tokens[:-2].count(tokens[-2]) == 1
    assert len(set(tokens[0::2])) == ASKED - 4
