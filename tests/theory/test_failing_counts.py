"""The number of failing keys grows below a ratio of 8 and falls above, by the exact law."""

import pytest

from assocmem.theory.failing_counts import exact_growth, growth_between, leading_power


def test_the_power_changes_sign_at_the_constant():
    assert leading_power(8) == pytest.approx(0, abs=1e-12)
    assert leading_power(7.9) > 0 > leading_power(8.1)
    assert leading_power(7.9, constant=7.5) < 0
    assert leading_power(8 + 1e-9) == pytest.approx(leading_power(8 - 1e-9), abs=1e-8)


@pytest.mark.parametrize("ratio", [6.0, 7.5, 8.5, 12.0])
def test_the_exact_law_has_the_power(ratio):
    assert exact_growth(10**10, 10**13, ratio, log2_points=10) == pytest.approx(
        growth_between(10**10, 10**13, ratio), abs=0.012
    )


def test_sizes_that_do_not_grow_are_refused():
    with pytest.raises(ValueError, match="many"):
        growth_between(100, 100, 8.0)
    with pytest.raises(ValueError, match="ratio"):
        leading_power(1.0)
