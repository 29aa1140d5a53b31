"""The balance behind the best reserve, solved by brute force, and the extrapolations that follow from it."""

import math

import numpy as np
import pytest

from assocmem.theory.repair_balance import (
    balanced_share,
    extrapolated_coefficient,
    extrapolated_constant,
    leading_excess,
)


@pytest.mark.parametrize("log_n", [100.0, 1e4, 1e8])
def test_the_share_minimises_the_balance(log_n):
    x = np.geomspace(1e-7, 0.5, 200001)
    excess = 4 * (x + np.sqrt(2 * np.log(1 / x) / log_n))
    assert balanced_share(log_n) == pytest.approx(x[np.argmin(excess)], rel=1e-3)


def test_the_leading_terms_are_approached():
    off = []
    for log_n in (1e4, 1e8, 1e11):
        x = balanced_share(log_n)
        excess = 4 * (x + math.sqrt(2 * math.log(1 / x) / log_n))
        off.append(excess / leading_excess(log_n) - 1)
    assert off[0] > off[1] > off[2] > 0
    assert off[2] < 0.15


def test_extrapolations_find_what_was_put_in():
    log_n = np.array([900.0, 2000.0, 9000.0])
    ell = np.log(log_n)
    ratios = 2.1 + 4 * np.sqrt(ell / log_n) + 7 / np.sqrt(log_n * ell)
    assert extrapolated_constant(log_n, ratios) == pytest.approx(2.1)
    ratios = 2 + np.sqrt(ell / log_n) * (3 + 5 / ell)
    assert extrapolated_coefficient(log_n, ratios) == pytest.approx(3)
    with pytest.raises(ValueError, match="log_n"):
        extrapolated_constant([100.0], [3.0])
