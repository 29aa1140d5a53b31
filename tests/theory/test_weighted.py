"""The saddle with weights: thirty digits, brute force, equal weights, and what is kept."""

import json
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from weighted_saddle_reference import POINTS, STORE, misses

from assocmem.theory.frequencies import Frequencies, equal, two_classes, zipf_frequencies
from assocmem.theory.ridgeless import solve_unsat
from assocmem.theory.scalar import solve_scalar
from assocmem.theory.weighted import saddle_of_sums, solve_weighted
from assocmem.theory.weighted_reference import highest_in_chi, weighted_potential_by_definition

REFERENCE = json.loads(STORE.read_text(encoding="utf-8"))
SEEN = {"load": 0.6, "r": 0.15, "beta": 5.0, "ridge": 0.01, "frequencies": two_classes(0.2, 16)}


def solution(point):
    load, r, beta, ridge, weights, shares = point
    return solve_weighted(load, r, beta=beta, ridge=ridge, frequencies=Frequencies(weights, shares))


@pytest.mark.parametrize("row", REFERENCE["rows"], ids=[str(k) for k in range(len(POINTS))])
def test_thirty_digits_give_the_same_solution(row):
    s = solution(row["point"])
    assert s.converged
    for name in ("nu", "chi", "c", "loss", "error"):
        assert getattr(s, name) == pytest.approx(float(row[name]), rel=1e-10), name
    scale = abs(float(row["mu"])) + 1 / row["point"][2]
    assert s.mu == pytest.approx(float(row["mu"]), abs=1e-10 * scale)


def test_the_stored_digits_solve_the_equations():
    """One point afresh, so that the table cannot drift away from the code that wrote it."""
    plain = [tuple(tuple(x) if isinstance(x, list) else x for x in row["point"]) for row in REFERENCE["rows"]]
    assert plain == POINTS
    assert all(float(row["miss"]) < 1e-20 for row in REFERENCE["rows"])
    row = REFERENCE["rows"][1]
    with mpmath.workdps(18):
        nu, chi, c, mu = (mpmath.mpf(row[name]) for name in ("nu", "chi", "c", "mu"))
        missed, same_c, same_mu = misses(nu, chi, row["point"], mu)
        assert mpmath.norm(missed) < 1e-14
        assert max(abs(same_c - c), abs(same_mu - mu)) < 1e-14


@settings(max_examples=12)
@given(st.floats(-1, 1), st.floats(0.005, 0.98), st.floats(-1, 1), st.floats(-1, 1), st.floats(0.1, 0.9))
def test_equal_weights_are_the_theory_of_the_paper(load, r, beta, ridge, share):
    point = (0.3 * 15**load, r, 10 * 100**beta, 1e-6 * 1e6**ridge)
    plain = solve_scalar(point[0], r, beta=point[2], ridge=point[3])
    for law in (equal(), Frequencies([1.0, 1.0], [share, 1 - share])):
        s = solve_weighted(point[0], r, beta=point[2], ridge=point[3], frequencies=law)
        for name in ("nu", "chi", "c", "loss", "objective"):
            assert getattr(s, name) == pytest.approx(getattr(plain, name), rel=1e-11), name
        assert s.error == pytest.approx(plain.margin_cdf(0.0), rel=1e-9, abs=1e-14)


def test_without_a_ridge_equal_weights_are_the_theory_of_the_paper():
    plain = solve_unsat(0.5, 0.15, 5.0)
    s = solve_weighted(0.5, 0.15, beta=5.0, ridge=0, frequencies=equal())
    assert (s.nu, s.chi, s.loss) == pytest.approx((plain.nu, plain.chi, plain.loss), rel=1e-12)


def test_the_potential_is_that_of_its_definition_and_highest_there():
    s = solve_weighted(**SEEN)
    value = weighted_potential_by_definition(s.nu, s.chi, **SEEN)
    assert value == pytest.approx(s.objective, rel=1e-12)
    bent = [weighted_potential_by_definition(s.nu, s.chi * f, **SEEN) for f in (0.999, 1.001)]
    assert max(bent) < value
    assert (bent[1] - bent[0]) / 2e-3 == pytest.approx(0, abs=1e-5)
    # the least of the highest: a step aside in nu, with chi at its best
    highest, chi = highest_in_chi(s.nu * 1.02, s.chi, **SEEN)
    assert highest > value
    assert chi == pytest.approx(s.chi, rel=0.1)


def test_what_is_kept_is_what_the_margins_say():
    s = solve_weighted(**SEEN)
    assert s.kept(np.array([0.25, 4.0])) == pytest.approx([0.1019818601, 0.9999571242], rel=1e-8)
    for p in (0.25, 4.0):
        assert s.margin(p).cdf(0.0) == pytest.approx(s.lost(p), rel=1e-9)
        sample = s.margin(p).sample(100_000, seed=1)
        spread = math.sqrt(s.kept(p) * s.lost(p) / len(sample))
        assert np.mean(sample > 0) == pytest.approx(s.kept(p), abs=5 * spread + 1e-5)
    sample = [np.logaddexp(0, -s.margin(p).sample(200_000, seed=2)).mean() for p in (0.25, 4.0)]
    assert 0.8 * 0.25 * sample[0] + 0.2 * 4 * sample[1] == pytest.approx(s.loss, rel=5e-3)
    assert s.error == pytest.approx(0.8 * 0.25 * s.lost(0.25) + 0.2 * 4 * s.lost(4.0), rel=1e-13)
    assert s.percentile(4.0).quantile(0.5) > s.percentile(0.25).quantile(0.5)


@pytest.mark.parametrize(
    ("n", "s", "gamma", "load", "ridge"), [(300, 1.3, 1.0, 2.0, 0.0), (500, 2.0, 1.5, 0.2, 1e-5)]
)
def test_many_weights_are_found_as_few_are(n, s, gamma, load, ridge):
    """Binned weights and Newton's method against all weights, one by one, in the slower search."""
    law = zipf_frequencies(n, s, gamma)
    found = solve_weighted(load, 0.15, beta=1.0, ridge=ridge, frequencies=law)
    weights = np.arange(1.0, n + 1) ** (-s * gamma)
    weights /= weights.mean()
    nu, chi, c, _, total, residual, converged = saddle_of_sums(
        weights, np.full(n, load / n), 0.15, beta=1.0, ridge=load * ridge
    )
    assert converged
    assert residual < 1e-10
    assert (found.nu, found.chi, found.c) == pytest.approx((nu, chi, c), rel=1e-10)
    assert found.loss == pytest.approx(total / load, rel=1e-10)
    error = float(weights @ special.ndtr((c - 0.5 * chi * weights) / nu)) / n
    assert found.error == pytest.approx(error, rel=1e-9, abs=1e-15)


def test_weights_in_another_unit_are_another_chi():
    values, counts = np.array([0.3, 2.0, 50.0]), np.array([1.0, 0.5, 0.1])
    one = saddle_of_sums(values, counts, 0.2, beta=2.0, ridge=1e-3)
    other = saddle_of_sums(10 * values, counts, 0.2, beta=2.0, ridge=1e-2)
    assert (other[0], 10 * other[1], other[4]) == pytest.approx((one[0], one[1], 10 * one[4]), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"load": 0}, r"load = 0: must be in \[1e-06, 1e\+06\]"),
        ({"load": [0.3, 0.4]}, "load"),
        (
            {"ridge": 0.0, "load": 0.2},
            "ridge = 0.0: must be at least 1e-16, or 0 above the critical load 0.294439",
        ),
        ({"frequencies": [1.0, 2.0]}, "frequencies = .* a Frequencies"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve_weighted(**(SEEN | arguments))
