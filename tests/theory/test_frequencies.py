"""Laws of weights: sums over few ranks against sums over all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from assocmem.theory.frequencies import (
    Frequencies,
    condensed,
    equal,
    rank_nodes,
    two_classes,
    zipf_frequencies,
)


@settings(max_examples=15)
@given(st.integers(1, 30_000), st.floats(0.1, 4), st.floats(0.1, 2))
def test_few_ranks_stand_for_all(n, s, gamma):
    weights = np.arange(1.0, n + 1) ** (-s * gamma)
    weights /= weights.mean()
    law = zipf_frequencies(n, s, gamma)
    assert law.mean(lambda p: p) == pytest.approx(1, rel=1e-13)
    assert law.masses.sum() == pytest.approx(1, rel=1e-13)

    def bend(p):  # like the share of facts that are kept
        return special.ndtr(1.5 - 0.7 * np.minimum(p, 1e3))

    for function in (bend, np.log, lambda p: p**2 / (1 + p) ** 2, lambda p: np.minimum(p, 1e3) * bend(p)):
        scale = np.mean(np.abs(function(weights))) + 1e-3
        assert law.mean(function) == pytest.approx(np.mean(function(weights)), abs=1e-9 * scale)


@pytest.mark.parametrize(("s", "gamma"), [(1.2, 1.0), (2.0, 3.0)])
def test_sums_over_a_thousand_billion_ranks_are_zeta_functions(s, gamma):
    ranks, counts = rank_nodes(1e12, s * gamma)
    assert counts.sum() == pytest.approx(1e12, rel=1e-12)
    found = counts @ ranks ** (-s * gamma)
    exact = special.zeta(s * gamma) - special.zeta(s * gamma, 1e12 + 1)
    assert found == pytest.approx(exact, rel=1e-11)
    late, many = rank_nodes(1e12, s * gamma, first=1001)
    rest = special.zeta(s * gamma, 1001) - special.zeta(s * gamma, 1e12 + 1)
    assert many @ late ** (-s * gamma) == pytest.approx(rest, rel=1e-11)
    assert late[0] == pytest.approx(1001, rel=1e-2)
    assert len(zipf_frequencies(1e12, s, gamma).values) < 1500


def test_a_long_law_is_condensed_without_changing_averages():
    rng = np.random.default_rng(1)
    law = Frequencies(np.exp(rng.normal(0, 2, 20_000)), rng.random(20_000) + 0.1)
    few = condensed(law)
    assert len(few.values) < 250
    for function in (lambda p: 1 / (1 + p), np.log, lambda p: special.ndtr(1 - 0.3 * p)):
        assert few.mean(function) == pytest.approx(law.mean(function), rel=1e-9)
    assert condensed(two_classes(0.2, 16)).values.tolist() == two_classes(0.2, 16).values.tolist()


def test_weights_are_divided_by_their_mean():
    law = two_classes(0.2, 16)
    np.testing.assert_allclose(law.values, [0.25, 4.0], rtol=1e-15)
    np.testing.assert_allclose(law.masses, [0.8, 0.2], rtol=1e-15)
    assert equal().values.tolist() == [1.0]
    counted = Frequencies([3.0, 1.0, 2.0])
    np.testing.assert_allclose(counted.values, [1.5, 0.5, 1.0], rtol=1e-15)
    np.testing.assert_allclose(counted.masses, 1 / 3, rtol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        law.values[0] = 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Frequencies([1.0, 0.0]), "values"),
        (lambda: Frequencies([1.0, 2.0], [1.0]), "masses = .* a vector of 2 numbers"),
        (lambda: Frequencies([[1.0]]), "values = .* a vector"),
        (lambda: Frequencies([1e-300, 1e300]), "values .* apart"),
        (lambda: two_classes(0.0, 2.0), "share = 0.0"),
        (lambda: zipf_frequencies(10.5, 1.0), "n = 10.5: must be a whole number"),
        (lambda: zipf_frequencies(100, 10.0, 6.0), "gamma = 6.0"),
        (lambda: rank_nodes(10, 1.0, first=11), "first = 11"),
        (lambda: equal().mean(lambda p: np.ones(3)), "function"),
    ],
)
def test_bad_parameters_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
