"""The tasks on which notebook 05 compares layers: which words they use, and what they learn."""

import numpy as np
import pytest
import torch

from coursekit.language import load_language
from coursekit.word_tasks import examples, learn, task_sentences


@pytest.mark.slow
def test_no_form_of_a_tested_verb_occurs_in_training():
    language = load_language()
    used = {}
    for split in ("train", "held_out"):
        sentences = task_sentences(0, split)
        chosen, labels = examples("morphology", sentences, split == "held_out", 0)
        used[split] = {language.vocabulary[i] for i in np.unique(sentences.ids[chosen])}
        assert set(np.unique(labels[chosen])) == {0, 1}
    assert used["train"] and used["held_out"] and not used["train"] & used["held_out"]
    stems = {
        split: {word.removesuffix("ed") for word in words if word.endswith("ed")}
        for split, words in used.items()
    }
    assert not stems["train"] & used["held_out"] and not stems["held_out"] & used["train"]


@pytest.mark.slow
def test_the_layer_that_has_the_answer_gets_the_largest_weight():
    torch.manual_seed(0)
    labels = torch.randint(2, (400,))
    R = torch.randn(3, 400, 8)
    R[1] += 4 * (2 * labels[:, None] - 1) * torch.tensor([1.0, -1.0] * 4)

    def mix(rows, s, gamma):
        return gamma * (s.softmax(dim=0)[:, None, None, None] * rows).sum(dim=0)

    weights, accuracy = learn(mix, R, labels, R, labels, seed=0)
    assert weights.argmax() == 1 and accuracy > 0.95
