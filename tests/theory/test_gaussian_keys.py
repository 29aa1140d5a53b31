"""One key among n targets: the quadratures against each other and against drawing, for any n."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from assocmem.theory import gaussian_keys as keys
from assocmem.theory import outer_products as cmm


@pytest.mark.parametrize(
    ("own", "rival", "shared"), [(0.3, 0.3, 0.0), (0.6, 0.2, 0.0), (0.1, 0.4, 0.0), (0.2, 0.3, 0.05)]
)
def test_it_is_the_share_of_drawn_keys_that_fail(own, rival, shared):
    n, draws = 30, 200_000
    rng = np.random.default_rng(0)
    signal = 1 + own * rng.standard_normal(draws)
    best = rng.standard_normal((draws, n)).max(axis=1) * np.sqrt(rival**2 + shared * signal**2)
    found = math.exp(keys.log_failure(math.log(n), own, rival, shared=shared))
    assert np.mean(signal <= best) == pytest.approx(found, abs=4 * math.sqrt(found / draws))


def test_it_is_the_picture_of_outer_products():
    for log_n, ratio in ((math.log(300), 7.0), (math.log(1e12), 6.0), (3000.0, 7.9)):
        spread = math.sqrt(1 / (ratio * log_n))
        expected = cmm.log_expected_failures(log_n, ratio)
        assert log_n + keys.log_failure(log_n, spread, spread) == pytest.approx(expected, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.floats(2.5, 300), st.floats(0.03, 1), st.floats(1e-3, 0.01))
def test_the_two_quadratures_meet_where_the_spreads_are_equal(log_n, spread, more):
    one = keys.log_failure(log_n, spread, spread)
    other = keys.log_failure(log_n, spread * (1 + 1e-9), spread)
    assert one == pytest.approx(other, abs=1e-5)
    assert keys.log_failure(log_n, spread, spread + more) >= one - 1e-9
    assert keys.log_failure(log_n, spread, spread, shared=more) >= one - 1e-9
    assert one <= 0


def test_a_signal_without_spread_meets_the_largest_of_n():
    expected = 1 - (1 - special.ndtr(-1 / 0.4)) ** 50
    assert keys.log_failure(math.log(50), 0.0, 0.4) == pytest.approx(math.log(expected), abs=1e-10)


def test_a_tail_of_one_s_own_is_met_in_the_same_way():
    log_n = math.log(40)
    found = keys.log_failure_of_tail(log_n, 0.3, lambda x: special.log_ndtr(-x / 0.2), width=0.2)
    assert found == pytest.approx(keys.log_failure(log_n, 0.3, 0.2), abs=1e-8)
    found = keys.log_failure_of_tail(log_n, 0.0, lambda x: -6 * np.maximum(x, 0), width=0.2)
    assert found == pytest.approx(math.log(1 - (1 - math.exp(-6)) ** 40), abs=1e-10)


def test_the_half_point_is_where_failures_pass_log_two():
    log_n = math.log(1e6)

    def failures(ratio):
        return log_n + keys.log_failure(log_n, *2 * [math.sqrt(1 / (ratio * log_n))])

    found = keys.half_point(failures, log_n)
    assert found == pytest.approx(cmm.half_success_ratio(log_n), rel=1e-7)
    assert keys.half_point(lambda _: -100.0, log_n) == pytest.approx(0.05 / log_n)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: keys.log_failure(1.0, 0.1, 0.1), "log_n = 1.0: must be between log 10"),
        (lambda: keys.log_failure(5.0, -0.1, 0.1), "signal_spread = -0.1"),
        (lambda: keys.log_failure(5.0, 0.1, 0.0), "rival_spread = 0.0"),
        (lambda: keys.log_failure(5.0, 0.1, 0.1, shared=-1), "shared = -1"),
        (lambda: keys.log_failure_of_tail(5.0, 0.1, lambda _: None, width=0.1), "log_tail = "),
        (lambda: keys.log_failure_of_tail(5.0, 0.1, lambda x: x + 1.0, width=0.1), "log_tail = "),
        (lambda: keys.log_failure_of_tail(5.0, 0.1, 3, width=0.1), "log_tail = 3: must be a function"),
        (lambda: keys.half_point(lambda _: 5.0, 5.0), "log_failures = .*small at a large ratio"),
        (lambda: keys.half_point(lambda _: math.nan, 5.0), "log_failures = nan"),
        (lambda: keys.half_point(None, 5.0), "log_failures = None: must be a function"),
        (lambda: keys.require_log_n("x"), "log_n = 'x'"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
