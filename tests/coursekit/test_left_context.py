"""What the words on the left determine."""

import pytest
import torch

from coursekit.language import load_language
from coursekit.left_context import relative_differences, senses_from_the_left


def test_a_difference_is_relative_to_the_first_vector():
    layers = torch.tensor([[[3.0, 4.0], [3.0, 4.0]], [[0.0, 2.0], [0.0, 3.0]]])
    assert relative_differences(layers) == pytest.approx([0, 0.5])


@pytest.mark.slow
def test_the_actor_before_the_word_determines_its_sense_and_the_actor_after_it_does_not():
    language = load_language()
    known = senses_from_the_left(language, "the prisoner that the biologist visited checked the cell", "cell")
    open_ = senses_from_the_left(
        language, "the cell that the prisoner checked surprised the biologist", "cell"
    )
    assert (
        list(known.values()) == [1] and len(open_) > 1 and sum(open_.values()) == pytest.approx(1, abs=0.01)
    )
