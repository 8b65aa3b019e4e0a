"""What notebook 14 measures of packed conversations, of tuning, and of judges."""

import numpy as np
import pandas as pd
import pytest
import torch

from coursekit import preferences
from coursekit.instruction_tuning import TuningRuns, packed_logits
from coursekit.judged_reviews import Judged
from coursekit.small import GPT, GPTConfig


def test_the_chosen_rate_is_the_lowest_within_one_point_of_the_best():
    runs = pd.DataFrame({
        "method": ["full"] * 4, "seed": [0, 0, 0, 1], "lr": [1e-3, 3e-3, 1e-2, 3e-3],
        "validation": [0.70, 0.795, 0.80, 0.60], "right": [0.1, 0.2, 0.3, 0.4],
    })  # fmt: skip
    tuning = TuningRuns(runs)
    assert tuning.rate == {"full": 3e-3}
    assert tuning.at_rate["full"]["right"].tolist() == [0.2, 0.4]
    assert tuning.lower["right"].tolist() == [0.1]


def test_with_boundaries_a_packed_conversation_has_the_logits_that_it_has_alone():
    torch.manual_seed(0)
    model = GPT(GPTConfig(vocabulary=20, tokens=8)).eval()
    first, second = torch.randint(7, 20, (3,)), torch.randint(7, 20, (4,))
    rows = {
        "ids": torch.cat([first, second])[None],
        "segments": torch.tensor([[1, 1, 1, 2, 2, 2, 2]]),
        "positions": torch.tensor([[0, 1, 2, 0, 1, 2, 3]]),
    }
    with torch.no_grad():
        alone = model(second[None]).logits[0]
        assert torch.allclose(packed_logits(model, rows, apart=True)[0, 3:], alone, atol=1e-5)
        assert not torch.allclose(packed_logits(model, rows, apart=False)[0, 3:], alone, atol=1e-2)


@pytest.fixture
def judged() -> Judged:
    """Two runs on three test reviews and one other: the second run is wrong about one of them."""
    asked = pd.DataFrame({"question 1": [2.0, -1.0, 3.0, -9.0], "MiniLM, seed 0": [2.0, 1.0, 3.0, 9.0]})
    liked, is_test = np.array([True, False, True, True]), np.array([True, True, True, False])
    return Judged(asked, pd.DataFrame(), liked, is_test)


def test_only_test_reviews_are_summed_up(judged):
    assert judged.ways["MiniLM, fine-tuned"] == ["MiniLM, seed 0"]
    assert judged.each_review(["question 1"])["accuracy"].tolist() == [1, 1, 1]
    assert judged.each_review(["question 1", "MiniLM, seed 0"])["accuracy"].tolist() == [1, 0.5, 1]
    assert judged.per_run["MiniLM, fine-tuned"][0]["accuracy"] == pytest.approx(2 / 3)


def test_the_auc_is_asked_for_the_scores_of_test_reviews(judged):
    def in_order(scores, positive):
        assert scores.tolist() == [2, 1, 3] and positive.tolist() == [True, False, True]
        return torch.tensor(0.75)

    assert judged.auc("MiniLM, seed 0", in_order) == 0.75


@pytest.mark.slow
def test_themost_probable_continuations_are_pairs_of_words():
    size = len(preferences.load_language().vocabulary)
    log_p = torch.full((size, size), -50.0)
    log_p[10, 20] = 0.0
    (text, probability), *_ = preferences.most_probable(log_p)
    words = preferences.load_language().vocabulary
    assert text == f"{words[10]} {words[20]}" and probability == 1
