"""The Gaussian picture of repaired memories, against the picture drawn key by key and against simulation."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from assocmem.memories.outer_products import correlation_memory
from assocmem.memories.sparse_repair import repair_in_place, sparse_repair
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.theory import outer_products as cmm
from assocmem.theory import repair as theory


def drawn(n, ratio, share, gamma, draws, seed):
    """Share of failing and of deficient keys when the picture is drawn key by key, at the theory's noise."""
    d = math.sqrt(ratio * n * math.log(n))
    d0, d1 = (1 - share) * d, share * d
    rng = np.random.default_rng(seed)
    s = 1 + math.sqrt(n / d0**2 + 2.5 / d0) * rng.standard_normal(draws)
    x = math.sqrt(n / d0**2 + 1.5 / d0) * rng.standard_normal((draws, n))
    m = s - x.max(axis=1)
    w = np.where(m <= gamma, 2 * gamma - m, 0.0)
    square = np.mean(w**2)
    own = np.where(w > 0, square / max(np.mean(w > 0), 1e-12), 0.0)
    tau = math.sqrt(square * (n / d1**2 + 1 / d1))
    t = w + np.sqrt(tau**2 + 4 * own / d1) * rng.standard_normal(draws)
    x += np.sqrt(tau**2 + own / d1)[:, None] * rng.standard_normal((draws, n))
    return np.mean(s + t <= x.max(axis=1)), np.mean(m <= gamma), tau


@pytest.mark.parametrize(
    ("n", "ratio", "share", "gamma"),
    [(40, 9.0, 0.2, 0.1), (40, 20.0, 0.5, 0.3), (200, 5.0, 0.4, 0.2), (200, 7.0, 0.1, 0.02)],
)
def test_quadrature_against_drawing_the_picture(n, ratio, share, gamma):
    draws = 4_000_000 // n
    failing, deficient, tau = drawn(n, ratio, share, gamma, draws, seed=n)
    found = theory.predict_repair(math.log(n), ratio, share=share, gamma=gamma)
    expected = math.exp(found.log_failures) / n
    noise = 5 * math.sqrt(expected / draws)
    assert abs(failing - expected) < noise + 0.02 * expected
    assert abs(deficient - found.deficient) < 5 * math.sqrt(deficient / draws) + 0.02 * deficient
    assert tau == pytest.approx(found.noise, rel=0.05)


def test_prediction_against_simulation():
    n, d, d1, gamma = 1000, 250, 40, 0.1
    found = [sparse_repair(gaussian_pairs(n, d, seed=s), gamma=gamma, reserve=d1) for s in range(6)]
    deficient = np.array([len(f.deficient) for f in found])
    noise = np.array([float(f.weights.norm()) / d1 for f in found])
    log_n = math.log(n)
    predicted = theory.predict_repair(log_n, d**2 / (n * log_n), share=d1 / d, gamma=gamma)
    assert deficient.mean() == pytest.approx(n * predicted.deficient, rel=0.12)
    assert noise.mean() == pytest.approx(predicted.noise, rel=0.15)
    assert np.median([float(f.base_margins.median()) for f in found]) == pytest.approx(
        predicted.margin, abs=0.03
    )


def test_in_place_the_repair_echoes():
    """Failing keys, and what a signal loses to the repair of others, against simulation and independence."""
    n, d, gamma, failing, lost, margins = 1000, 160, 0.2, [], [], []
    for seed in range(8):
        pairs = gaussian_pairs(n, d, seed=seed)
        W = correlation_memory(pairs)
        repaired = repair_in_place(pairs, W, gamma=gamma)
        m = retrieval_margins(pairs, W)
        own = torch.where(m <= gamma, 2 * gamma - m, 0.0) * (pairs.U.norm(dim=0) * pairs.V.norm(dim=0)) ** 2
        gained = ((pairs.U.T @ (repaired.W - W)) * pairs.V.T).sum(dim=1)
        margins.append(m)
        failing.append(repaired.failures[-1])
        lost.append(float((own - gained).mean()))
    log_n = math.log(n)
    high, low = (
        math.exp(theory.predict_repair(log_n, c * d**2 / (n * log_n), share=None, gamma=gamma).log_failures)
        for c in (1, 1.15)
    )
    assert low < np.mean(failing) < high
    assert low > 0.3  # taken for independent of the base, the repair leaves 0.1 failing keys
    margins = torch.cat(margins).numpy()
    density = np.mean(np.abs(margins - gamma) < 0.05) / 0.1
    echo = n / d**2 * (np.mean(margins <= gamma) + gamma * density)
    assert np.mean(lost) == pytest.approx(echo, rel=0.2)  # to first order in the load
    assert np.mean(lost) > 1.4 * n / d**2 * np.mean(margins <= gamma)  # the weights' jump counts


def test_without_a_repair_the_picture_is_that_of_outer_products():
    log_n, ratio = math.log(1e12), 7.0
    predicted = theory.predict_repair(log_n, ratio, share=1e-9, gamma=1e-9)
    plain = cmm.log_expected_failures(log_n, ratio)
    share = math.log(predicted.deficient) + log_n
    assert share == pytest.approx(plain, abs=0.01)


@pytest.mark.parametrize("digits", [3, 30, 300, 3000])
def test_half_success_is_where_it_says(digits):
    log_n = digits * math.log(10)
    for keywords in ({"share": 0.08, "gamma": 0.05}, {"share": None, "gamma": 0.05}):
        ratio = theory.half_success_ratio(log_n, **keywords)
        if digits < 100:
            assert theory.predict_repair(log_n, ratio, **keywords).success == pytest.approx(0.5, abs=0.1)
        assert theory.predict_repair(log_n, 1.05 * ratio, **keywords).success > 0.6
        assert theory.predict_repair(log_n, 0.95 * ratio, **keywords).success < 0.4


def test_the_best_margin_beats_others():
    log_n = math.log(1e6)
    best = theory.best_margin(log_n, None)
    for factor in (1.3, 1 / 1.3):
        other = theory.half_success_ratio(log_n, share=None, gamma=factor * best.gamma)
        assert other > best.ratio
    assert theory.half_success_ratio(log_n, share=theory.paper_share(log_n), gamma=0.4) > 5 * best.ratio


def test_the_best_split_beats_others():
    log_n = math.log(1e6)
    share, gamma = 0.065, 0.036  # as stored
    best = theory.half_success_ratio(log_n, share=share, gamma=gamma)
    for other in ((1.6, 1), (1 / 1.6, 1), (1, 1.6), (1, 1 / 1.6)):
        found = theory.half_success_ratio(log_n, share=other[0] * share, gamma=other[1] * gamma)
        assert found > 1.002 * best


def test_with_a_good_margin_the_ratio_falls_towards_two():
    """In place, at 100, 400 and 1600 digits; a floor under the noise's tail once turned this round."""
    far = [
        theory.half_success_ratio(math.log(10) * digits, share=None, gamma=0.243 / math.sqrt(digits))
        for digits in (100, 400, 1600)
    ]
    assert 2.35 > far[0] > far[1] > far[2] > 2
    assert far[0] - 2 > 3 * (far[2] - 2)


def test_equal_signals_tend_to_four_and_one_clip_to_two():
    far = [math.log(10) * digits for digits in (3, 30, 300, 3000)]
    equal = [theory.equalised_half_ratio(x) for x in far]
    clipped = [theory.clipped_half_ratio(x) for x in far]
    assert np.all(np.diff(equal) > 0)
    assert equal[-1] == pytest.approx(4, abs=0.01)
    assert np.all(np.diff(clipped) > 0)
    assert clipped[-1] == pytest.approx(2, abs=0.01)
    for log_n, ratio in zip(far[:2], equal[:2], strict=True):
        spread = math.sqrt(1 / (ratio * log_n - 1))
        log_failing = 2 * log_n + special.log_ndtr(-1 / spread)
        assert math.exp(log_failing) == pytest.approx(math.log(2), rel=1e-6)
    assert theory.clipped_half_ratio(far[0], 0.3) > clipped[0]


@pytest.mark.parametrize(
    ("keywords", "line"),
    [
        ({"log_n": 2.0}, "log_n = 2.0: must be between log 10 and 10000"),
        ({"log_n": 2e4}, "log_n = 20000.0: must be between log 10 and 10000"),
        ({"ratio": 0.0}, "ratio = 0.0: must be a finite number > 0"),
        ({"share": 1.0}, "share = 1.0: must be None or in (0, 1)"),
        ({"gamma": 0.5}, "gamma = 0.5: must be in (0, 1/2)"),
    ],
)
def test_refusals_of_the_prediction(keywords, line):
    asked = {"log_n": 9.0, "ratio": 5.0, "share": 0.1, "gamma": 0.1} | keywords
    with pytest.raises(ValueError) as error:
        theory.predict_repair(**asked)
    assert str(error.value) == line


@settings(max_examples=25, deadline=None)
@given(st.floats(2.4, 9000), st.floats(0.5, 60), st.none() | st.floats(0.001, 0.99), st.floats(1e-3, 0.49))
def test_predictions_are_finite_and_mean_something(log_n, ratio, share, gamma):
    found = theory.predict_repair(log_n, ratio, share=share, gamma=gamma)
    assert 0 <= found.deficient <= 1 + 1e-6
    assert found.noise >= 0
    assert found.log_failures <= log_n + 1e-3
    assert 0 <= found.success <= 1
