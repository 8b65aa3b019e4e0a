"""Examples for a prompt, and the scores of the answers."""

import numpy as np
import pytest
import torch

from coursekit.few_shot import draw_demos, opinions, scores


def test_examples_come_from_the_pool_and_each_pair_has_both_labels():
    pool, questions = opinions()
    assert (len(pool), len(questions)) == (24, 96) and not set(pool.text) & set(questions.text)
    demos = draw_demos(pool, seed=3)
    assert len(demos) == 8 and {text for text, _ in demos} <= set(pool.text)
    assert all(
        {one, other} == {"positive", "negative"}
        for (_, one), (_, other) in zip(demos[::2], demos[1::2], strict=True)
    )
    assert demos == draw_demos(pool, seed=3) != draw_demos(pool, seed=4)


def test_the_threshold_changes_the_accuracy_and_not_the_order_of_pairs():
    lean, positive = torch.tensor([3.0, 2.0, 1.5, 0.5]), np.array([True, True, False, False])
    found = scores(lean, empty=1.8, positive=positive)
    assert found == pytest.approx({
        "accuracy": 0.5, "accuracy, calibrated": 1.0, "pairs in order": 1.0, "answered positive": 1.0,
    })  # fmt: skip
