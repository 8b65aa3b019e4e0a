"""How well an exercise separates students."""

import pytest

from autograder.grading.discrimination import discrimination


def test_the_value_is_the_point_biserial_correlation():
    """(mean of the right − mean of the wrong) / standard deviation · √(share right · share wrong)."""
    others = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0]
    found = discrimination([False, False, True, False, True, True], others)
    spread = (sum((x - 4) ** 2 for x in others) / 6) ** 0.5
    assert found and found.value == pytest.approx((17 / 3 - 7 / 3) / spread * 0.5)
    assert -1 < found.low < found.value < found.high < 1 and not found.certain


def test_the_interval_is_fisher_s_and_shrinks_with_the_class():
    right, others = [False, True, False, True], [1.0, 2.0, 3.0, 4.0]
    ten, hundred = (discrimination(right * times, others * times) for times in (10, 100))
    assert ten and hundred and ten.certain and ten.value == pytest.approx(hundred.value)
    assert ten.value == pytest.approx(0.4472, abs=1e-4)
    assert (ten.low, ten.high) == pytest.approx((0.1575, 0.6666), abs=1e-3)
    assert hundred.high - hundred.low < ten.high - ten.low


@pytest.mark.parametrize(
    ("right", "others"),
    [([True] * 30, list(range(30))), ([True, False] * 15, [2.0] * 30), ([True, False, True], [1, 2, 3])],
)
def test_it_is_not_defined_where_nothing_differs(right, others):
    assert discrimination(right, others) is None


def test_a_perfect_exercise_is_no_error():
    found = discrimination([False] * 15 + [True] * 15, [0.0] * 15 + [1.0] * 15)
    assert found and found.value == pytest.approx(1) and 0.9 < found.low <= found.high <= 1
