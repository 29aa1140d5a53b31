"""A few scores of a column are those of the whole column; the law without a term is another."""

import numpy as np
import pytest
from scipy import stats

from assocmem.theory.column_variants import column_without_self_noise, first_scores
from assocmem.theory.outer_products import competitor_variance, sample_score_column, signal_variance


@pytest.mark.parametrize(("n", "d"), [(5, 3), (40, 12)])
def test_first_scores_are_those_of_the_exact_law(n, d):
    few, whole = first_scores(n, d, 20000, seed=1), sample_score_column(n, d, 20000, seed=2)
    for k in range(3):
        assert stats.ks_2samp(few[:, k], whole[:, k]).pvalue > 1e-4
    products = [stats.ks_2samp(f(few), f(whole)).pvalue for f in (lambda x: x[:, 0] - x[:, 1], _of_squares)]
    assert min(products) > 1e-4


def _of_squares(x):
    return x[:, 1] ** 2 + x[:, 2] ** 2


def test_first_scores_have_the_exact_variances():
    found = first_scores(900, 30, 200000, seed=3).var(axis=0)
    expected = [signal_variance(900, 30), competitor_variance(900, 30), competitor_variance(900, 30)]
    np.testing.assert_allclose(found, expected, rtol=0.02)


def test_without_self_noise_competitors_are_weaker_and_signals_the_same():
    n, d = 8, 4
    lacking = column_without_self_noise(n, d, 50000, seed=4)
    whole = sample_score_column(n, d, 50000, seed=5)
    assert stats.ks_2samp(lacking[:, 0], whole[:, 0]).pvalue > 1e-4
    # E tau^2 rho_1^2 rho_5^2 / d is what the variance of a competitor loses
    assert lacking[:, 1].var() < 0.8 * whole[:, 1].var()
    with pytest.raises(ValueError, match="n"):
        column_without_self_noise(3, 4, 10, seed=0)
