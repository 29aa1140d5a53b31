"""Powers in words, and the check of averages that concentrate."""

import numpy as np
import pandas as pd
import pytest

from assocmem.book.claims import check
from assocmem.experiments.removals.removal_evidence import (
    averages_evidence,
    exponent_in_words,
    fluctuation_evidence,
    power_in_words,
    response_evidence,
    threshold_evidence,
)
from assocmem.experiments.removals.removal_rates import FLUCTUATIONS, Estimate
from assocmem.experiments.statistics import power_law
from assocmem.pairs.data import gaussian_pairs
from assocmem.removal.leave_one_out import full_problem, minimise, without
from assocmem.training.losses import TailAverage


def law(power):
    rng = np.random.default_rng(1)
    return power_law({d: d**power * np.exp(0.01 * rng.standard_normal(8)) for d in (16, 32, 64)})


def test_an_exponent_has_its_error_behind_it():
    found = law(-1.0)
    value, error = exponent_in_words(found).split(" ± ")
    assert float(value) == pytest.approx(found.exponent, abs=0.005)
    assert float(error) == pytest.approx(found.deviation, abs=0.005)


@pytest.mark.parametrize(
    ("found", "words"), [(None, "as stated"), (-2, "smaller, -2"), (-0.5, "larger, -0.5")]
)
def test_the_power_of_a_size_in_words(found, words):
    assert power_in_words(Estimate("lemma-5", "size", "x", -1, found=found)) == words


@pytest.mark.parametrize(
    ("power", "verdict"), [(-1.0, "holds with limits"), (0.0, "does not hold"), (-2.0, "not yet")]
)
def test_averages_concentrate_as_stated_or_faster_but_not_too_fast(power, verdict):
    found = check(**fluctuation_evidence(FLUCTUATIONS[0], law(power)))
    assert (found.claim, found.verdict) == ("proposition-5", verdict)
    assert found.what.startswith("power of $d$ of the standard deviation of (A5)")


@pytest.mark.parametrize(
    ("power", "verdict"), [(-1.0, "holds with limits"), (0.0, "does not hold"), (-2.0, "not yet")]
)
def test_several_averages_are_one_check(power, verdict):
    found = check(**averages_evidence({"signal_square": law(power), "signal_cosine": law(power)}))
    assert (found.verdict, len(found.measured)) == (verdict, 2)
    assert found.each == ["signal square", "signal cosine"]


@pytest.mark.parametrize(
    ("power", "verdict"), [(-0.5, "holds with limits"), (0.0, "does not hold"), (-1.0, "not yet")]
)
def test_responses_of_several_settings_are_taken_in_units_of_the_trace(power, verdict):
    rng = np.random.default_rng(1)
    samples = []
    for chi in (1.0, 100.0):
        d = np.repeat([16, 24, 32, 48, 64, 96], 30)
        sizes = np.where(d < 90, chi, np.nan)
        samples.append(
            pd.DataFrame({"d": d, "chi": sizes, "response": chi * d**power * rng.uniform(0.9, 1.1, len(d))})
        )
    found = check(**response_evidence(samples))
    assert found.verdict == verdict
    assert found.measured[0] == pytest.approx(power, abs=0.03)


def test_the_motion_of_thresholds_needs_the_new_competitor():
    problem = full_problem(gaussian_pairs(20, 6, seed=1), TailAverage(0.2, 3.0), 0.5)
    full = minimise(problem)
    evidence = threshold_evidence(full, minimise(without(problem, 3), full.W), 3)
    assert len(evidence["measured"]) == 19
    assert float(evidence["measured"].square().mean()) == pytest.approx(1)
    assert check(**evidence).verdict == "holds"
