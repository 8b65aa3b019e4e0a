"""What notebook 16 rewards: the true reward agrees with the language, the proxies differ from it as they say."""

import torch

from coursekit import rewards, sums
from coursekit.instructions import PROMPTS
from coursekit.language import load_language


def test_the_true_reward_is_zero_exactly_where_no_sentence_goes_on_like_this():
    language, true = load_language(), rewards.true_rewards()
    for prompt, row in zip(PROMPTS, true, strict=True):
        possible = torch.from_numpy(language.next_word_after(prompt) > 0)
        words = rewards.letter_rewards()[0] > 0
        assert torch.equal(row > 0, possible & words)
    assert ((true == 0) | (true == rewards.letter_rewards())).all()


def test_the_checker_overlooks_a_tenth_of_the_impossible_words():
    true, checked, letters = rewards.true_rewards(), rewards.checked_rewards(), rewards.letter_rewards()
    assert (checked >= true).all()
    impossible = (true == 0) & (letters > 0)
    assert 0.08 < ((checked > 0) & impossible).sum() / impossible.sum() < 0.12


def test_divergence_and_mean_are_averaged_over_prompts():
    log_ref = rewards.reference()
    assert rewards.mean_kl(log_ref, log_ref) == 0
    uniform = torch.zeros_like(log_ref).log_softmax(dim=-1)
    assert rewards.mean_kl(log_ref, uniform) > 1
    expected = rewards.letter_rewards()[0].mean().item()
    assert abs(rewards.mean_reward(uniform, rewards.letter_rewards()) - expected) < 1e-4


def test_the_longer_word_wins_most_comparisons():
    letters = rewards.letter_rewards()
    preferred, other = rewards.compared(letters, 500, torch.Generator().manual_seed(0))
    gained = letters.gather(1, preferred) - letters.gather(1, other)
    assert preferred.shape == other.shape == (len(PROMPTS), 500)
    assert (gained > 0).sum() > 2 * (gained < 0).sum()


def test_an_answer_is_the_number_that_it_begins_with():
    found = {" 15<|im_end|>": 15, "7": 7, " about 9": -1, "": -1, " 12, 13": 12}
    assert {text: sums.number_in(text) for text in found} == found
    assert sums.prompt((6, 9, 4)).endswith("6 + 9 + 4 =")
