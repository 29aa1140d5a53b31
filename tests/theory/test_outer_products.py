"""The correlation memory: exact laws, their limits, and the wrong constants that are rejected."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.theory import outer_products as cmm

LOADS = st.floats(0.02, 50)


def columns_by_definition(n, d, size, seed):
    """First score column of many instances, ``U' U V' V e_1``."""
    U, V = np.random.default_rng(seed).standard_normal((2, size, d, n)) / math.sqrt(d)
    return np.einsum("bkj,bkl,bml,bm->bj", U, U, V, V[:, :, 0])


@pytest.mark.parametrize(("n", "d"), [(3, 2), (5, 2), (4, 7), (9, 4)])
def test_sampled_columns_have_the_law_of_simulated_ones(n, d):
    size = 20_000
    simulated, sampled = columns_by_definition(n, d, size, 1), cmm.sample_score_column(n, d, size, seed=2)
    assert sampled.shape == (size, n)
    features = {
        "signal": lambda s: s[:, 0],
        "competitor": lambda s: s[:, -1],
        "margin": lambda s: s[:, 0] - s[:, 1:].max(axis=1),
        "length": lambda s: np.linalg.norm(s[:, 1:], axis=1),
        "product": lambda s: s[:, 0] * s[:, 1],
    }
    for name, f in features.items():
        assert stats.ks_2samp(f(simulated), f(sampled)).pvalue > 1e-4, name
    gaussian = np.random.default_rng(3).standard_normal((size, n)) * math.sqrt(n) / d + (np.arange(n) == 0)
    assert stats.ks_2samp(simulated[:, 0], gaussian[:, 0]).pvalue < 1e-9


def test_sampling_is_reproducible_and_depends_on_the_seed():
    first, again, other = (cmm.sample_score_column(5, 3, 4, seed=s) for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("n", "d"), [(3, 2), (20, 6), (6, 20)])
def test_exact_variances(n, d):
    x = columns_by_definition(n, d, 200_000 // n, 5)
    for values, exact in ((x[:, 0] - 1, cmm.signal_variance(n, d)), (x[:, 1], cmm.competitor_variance(n, d))):
        error = np.std(values**2) / math.sqrt(len(x))
        assert abs(np.mean(values**2) - exact) < 4.5 * error
        assert abs(np.mean(values**2) - n / d**2) > 4.5 * error  # the limit alone is not the variance


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (cmm.sample_score_column, {"n": 2, "d": 3, "size": 1}, "n = 2: must be an integer >= 3"),
        (cmm.sample_score_column, {"n": 3, "d": 1, "size": 1}, "d = 1: must be an integer >= 2"),
        (cmm.sample_score_column, {"n": 3, "d": 2, "size": 0}, "size = 0"),
        (cmm.sample_score_column, {"n": 10**9, "d": 2, "size": 10**6}, "the largest n that fits"),
        (cmm.query_failure, {"n": 2.0, "d": 3}, "n = 2.0: must be an integer"),
        (cmm.query_failure, {"n": 5, "d": 3, "replicates": 1}, "replicates = 1"),
    ],
)
def test_bad_sizes(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(**arguments, seed=0)


# --- one key fails --------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(30, 25), (60, 38), (60, 54), (300, 83)])
def test_query_failure_against_the_sampled_law(n, d):
    x = cmm.sample_score_column(n, d, 6_000_000 // n, seed=1)
    fails = np.mean(x[:, 0] <= x[:, 1:].max(axis=1))
    error = math.sqrt(fails * (1 - fails) / len(x))
    estimate = cmm.query_failure(n, d)
    assert abs(estimate.value - fails) < 4 * error + 0.012 * fails
    assert estimate.error < 0.01 * estimate.value
    # falsehood: the Gaussian picture, with the lengths of the vectors set to 1
    ratio = d**2 / (n * math.log(n))
    assert math.exp(cmm.log_expected_failures(math.log(n), ratio)) / n < fails - 8 * error


def test_query_failure_against_whole_memories():
    n, d, instances = 200, 80, 150
    margins = (gaussian_pairs(n, d, seed=s) for s in range(instances))
    counts = [int((retrieval_margins(p, correlation_memory(p)) <= 0).sum()) for p in margins]
    error = np.std(counts) / math.sqrt(instances)
    assert abs(np.mean(counts) - n * cmm.query_failure(n, d).value) < 4 * error


def test_query_failure_tends_to_the_gaussian_picture():
    gaps = []
    for n in (10**4, 10**6, 10**9, 10**12):
        d = round(math.sqrt(8 * n * math.log(n)))
        ratio = d**2 / (n * math.log(n))
        picture = cmm.log_expected_failures(math.log(n), ratio)
        gaps.append(abs(math.log(n * cmm.query_failure(n, d).value) - picture))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 2e-3


@given(st.floats(-6.5, 4), st.integers(150, 10**5))
def test_chi_square_expansion_against_the_incomplete_gamma_function(y, df):
    exact = 2 * special.gammaincinv(df / 2, special.ndtr(y)) / df
    assert abs(cmm._chi_square_over_df(df, np.array(y)) - exact) < 1e-4 * math.sqrt(2 / df)


# --- all keys at once -----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "ratio"), [(3, 1.0), (50, 4.0), (1000, 8.0), (10**6, 9.0), (10**6, 1.0)])
def test_expected_failures_against_quadrature(n, ratio):
    s = math.sqrt(ratio * math.log(n))
    fails = lambda z: stats.norm.pdf(z) * -np.expm1(n * special.log_ndtr(z + s))  # noqa: E731
    value, _ = integrate.quad(
        fails, -12, 12, points=[-s, 0, math.sqrt(2 * math.log(n)) - s], limit=400, epsabs=0
    )
    assert math.exp(cmm.log_expected_failures(math.log(n), ratio)) == pytest.approx(n * value, rel=1e-8)


@given(st.floats(math.log(3), 1e4), st.floats(0.5, 20))
def test_pair_bound_holds_in_the_gaussian_picture(log_n, ratio):
    assert cmm.log_expected_failures(log_n, ratio) <= cmm.log_pair_bound(log_n, ratio) + 1e-9


def test_half_success_is_where_failures_have_probability_one_half():
    for log_n in (math.log(100), 30.0, 1e3):
        half = cmm.half_success_ratio(log_n)
        at = [half - 16.3 / log_n, half, half + 16.3 / log_n]
        success = [math.exp(-math.exp(cmm.log_expected_failures(log_n, ratio))) for ratio in at]
        assert success[0] < 0.05
        assert success[1] == pytest.approx(0.5, rel=1e-6)
        assert success[2] > 0.95


def test_exact_transition_is_smooth_in_n():
    values = np.array([cmm.exact_half_success_ratio(n) for n in range(100, 106)])
    assert np.all(np.diff(values) < 0)
    assert np.all(np.abs(np.diff(values, 2)) < 0.01)


def test_half_success_ratio_follows_its_expansion_and_no_other():
    log_n = np.array([1e2, 1e3, 1e4, 1e5])
    half = np.array([cmm.half_success_ratio(x) for x in log_n])
    remainder = (half - cmm.half_success_expansion(log_n)) * log_n
    assert np.all(np.abs(np.diff(np.abs(remainder))) > 0)
    assert np.all(np.abs(remainder[1:]) < np.abs(remainder[:-1]))
    assert abs(remainder[-1]) < 0.05
    # falsehoods: the union bound taken whole (no factor 1/2), and -log log n in place of -2 log log n
    assert abs(remainder[-1] - 4 * math.log(2)) > 2
    assert abs(remainder[-1] - math.log(log_n[-1])) > 2


def test_exact_transition_starts_above_eight_and_dips_below():
    at = {n: cmm.exact_half_success_ratio(n) for n in (100, 1000, 10**4, 10**6, 10**12)}
    assert at[100] > 13 > at[1000] > 9
    assert 8 > at[10**4] > at[10**6]
    assert at[10**6] < at[10**12] < 8
    assert at[10**12] == pytest.approx(cmm.half_success_ratio(math.log(10**12)), abs=2e-3)


@pytest.mark.parametrize(("log_n", "ratio"), [(0.5, 1.0), (5.0, 0.0), (5.0, -1.0), (5.0, math.nan)])
def test_picture_refuses_nonsense(log_n, ratio):
    with pytest.raises(ValueError, match="must be"):
        cmm.log_expected_failures(log_n, ratio)


# --- percentiles ----------------------------------------------------------------------------------


@given(LOADS, st.floats(1e-6, 1 - 1e-6))
def test_density_is_the_derivative_of_the_distribution_function(load, omega):
    step = 1e-4 * min(omega, 1 - omega)
    quotient = (cmm.percentile_cdf(omega + step, load) - cmm.percentile_cdf(omega - step, load)) / (2 * step)
    assert quotient == pytest.approx(cmm.percentile_pdf(omega, load), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("load", [0.3, 1.0, 7.0])
def test_density_mean_and_symmetry(load):
    mass, _ = integrate.quad(cmm.percentile_pdf, 0, 1, args=(load,), limit=200)
    mean, _ = integrate.quad(lambda w: w * cmm.percentile_pdf(w, load), 0, 1, limit=200)
    assert mass == pytest.approx(1, abs=1e-6)
    assert mean == pytest.approx(cmm.percentile_mean(load), abs=1e-6)
    omega = np.linspace(0.1, 0.9, 5)
    ratio = cmm.percentile_pdf(omega, load) * cmm.percentile_pdf(1 - omega, load)
    np.testing.assert_allclose(ratio, math.exp(-1 / load))


def test_limits_of_the_percentile_law():
    omega = np.array([0.0, 0.3, 1.0])
    np.testing.assert_allclose(cmm.percentile_cdf(omega, 1e9), omega, atol=1e-4)
    np.testing.assert_allclose(cmm.percentile_cdf(omega, 1e-4), [0, 0, 1])
    assert cmm.percentile_pdf(0.0, 1.0) == 0
    assert cmm.percentile_pdf(1.0, 1.0) == math.inf


@pytest.mark.parametrize(
    ("omega", "load", "message"), [(1.2, 1, "omega = 1.2"), (0.5, 0, "load = 0"), (math.nan, 1, "omega")]
)
def test_percentile_law_refuses_nonsense(omega, load, message):
    for function in (cmm.percentile_cdf, cmm.percentile_pdf):
        with pytest.raises(ValueError, match=message):
            function(omega, load)
