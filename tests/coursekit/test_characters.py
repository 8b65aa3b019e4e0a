"""Letters that words share, and the plurals whose singular occurs."""

import pytest
import torch

from coursekit.characters import plurals, shared_pairs, shared_with
from coursekit.language import load_language


def test_pairs_of_adjacent_letters_are_counted_with_both_ends_of_the_word():
    assert shared_pairs("cell", "cell") == 1
    assert shared_pairs("cells", "cell") == pytest.approx(4 / 5)  # <c ce el ll, but not l>
    assert shared_pairs("cell", "bus") == 0


def test_new_words_are_compared_with_their_nearest_words_and_with_all():
    near, average = shared_with(["cells"], ["cell", "bus"], torch.tensor([[0]]))
    assert near == pytest.approx(4 / 5) and average == pytest.approx((4 / 5 + 1 / 4) / 2)  # s>
    with pytest.raises(ValueError, match="not new: bus"):
        shared_with(["bus"], ["cell", "bus"], torch.tensor([[0]]))


@pytest.mark.slow
def test_irregular_plurals_have_their_singular():
    found = plurals(load_language())
    assert found["cells"] == "cell" and found["thieves"] == "thief"
