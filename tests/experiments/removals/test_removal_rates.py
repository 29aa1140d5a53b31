"""Stated powers of d against fitted ones, on sizes whose powers are known."""

import numpy as np
import pandas as pd
import pytest

from assocmem.book.claims import check, statements
from assocmem.experiments.removals.removal_rates import (
    ALLOWANCE,
    ESTIMATES,
    FLUCTUATIONS,
    SLOW,
    exponent_tolerance,
    fit_estimate,
    fluctuation_laws,
    rate_evidence,
    size_groups,
)
from assocmem.experiments.removals.removal_sizes import SETTINGS
from assocmem.pairs.sizes import pairs_at_load

LOAD = 0.25
CLAIMS = sorted({e.claim for e in ESTIMATES})


def made_up(shift=0.0, claim=None):
    """Instances on which sizes have their powers, those of one statement shifted, maxima also logarithms."""
    rng = np.random.default_rng(1)
    rows = []
    for d in (16, 24, 32, 48, 64, 96):
        log_n = 2 * np.log(pairs_at_load(LOAD, d))
        for _ in range(20):
            noise = np.exp(0.1 * rng.standard_normal())
            row = {"d": d}
            for e in ESTIMATES:
                if e.size in row and e.claim != claim:
                    continue
                size = noise * d ** (e.power + shift * (e.claim == claim))
                row[e.size] = size * log_n**e.logs
                row[f"{e.size}_rms"] = size
            row |= {f.size: 1 + d**f.found * rng.standard_normal() for f in FLUCTUATIONS}
            rows.append(row)
    return pd.DataFrame(rows)


INSTANCES = made_up()


def test_estimates_belong_to_statements_and_have_one_size_each():
    assert {e.claim for e in ESTIMATES} <= set(statements())
    assert all(statements()[e.claim].section == "leave_one_out" for e in ESTIMATES)
    assert len({(e.claim, e.size) for e in ESTIMATES}) == len(ESTIMATES)
    assert not any("|" in e.text for e in (*ESTIMATES, *FLUCTUATIONS))  # they stand in a table


def test_fits_find_the_powers_without_the_logarithms():
    for e in ESTIMATES:
        laws = fit_estimate(INSTANCES, e, LOAD)
        assert len(laws) == (2 if e.logs else 1)
        for law in laws:
            assert law.exponent == pytest.approx(e.exponent if e.found is None else e.found, abs=0.1)
    score = next(e for e in ESTIMATES if e.size == "score")
    raw = fit_estimate(INSTANCES.assign(score_rms=INSTANCES["score"]), score, LOAD)[1]
    assert raw.exponent > score.exponent + 0.2  # with the logarithm left in


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_bound_holds_where_sizes_have_their_power(claim):
    found = check(**rate_evidence(claim, INSTANCES, LOAD))
    assert found.verdict == found.expected
    assert (found.verdict == "does not hold") == (claim == "equation-ehat-entry-sizes")


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_bound_fails_where_sizes_are_larger(claim):
    best_possible = any(e.found is None for e in ESTIMATES if e.claim == claim)
    verdict = check(**rate_evidence(claim, made_up(0.5, claim), LOAD)).verdict
    assert verdict == ("does not hold" if best_possible else "holds with limits")


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_bound_says_nothing_where_sizes_are_smaller(claim):
    broken = any(e.found is not None and e.found > e.exponent for e in ESTIMATES if e.claim == claim)
    assert check(**rate_evidence(claim, made_up(-0.5, claim), LOAD)).verdict == (
        "holds" if broken else "not yet"
    )


def test_further_settings_are_further_numbers_and_what_is_slow_is_said(monkeypatch):
    one = check(**rate_evidence("lemma-24", INSTANCES, LOAD))
    three = check(**rate_evidence("lemma-24", INSTANCES, LOAD, further={3: INSTANCES, 6: INSTANCES}))
    slow = sum(
        (f"{e.size}{end}", place) in SLOW
        for e in ESTIMATES
        if e.claim == "lemma-24"
        for end in ("", "_rms")
        for place in (3, 6)
    )
    assert len(three.measured) == 3 * len(one.measured) - slow
    assert three.what == one.what + ", at 3 settings"
    monkeypatch.setattr("assocmem.experiments.removals.removal_rates.SLOW", {("coefficient_b", 3): "there"})
    found = check(**rate_evidence("lemma-24", INSTANCES, LOAD, "so", further={3: INSTANCES}))
    assert found.limits.startswith("so; instances scatter")
    assert r"$\max_i \lvert \Delta b_i\rvert$ only $d^{-" in found.limits
    assert found.limits.endswith(" there")
    assert len(found.measured) == 2 * len(one.measured) - 1


def test_what_is_slow_names_estimates():
    names = {e.size for e in ESTIMATES} | {f"{e.size}_rms" for e in ESTIMATES if e.logs}
    assert {name for name, _ in SLOW} <= names
    assert all(0 < place < len(SETTINGS) for _, place in SLOW)


def test_late_sizes_are_fitted_late_where_there_are_enough():
    bent = INSTANCES.assign(coefficient_ar=INSTANCES["coefficient_ar"].where(INSTANCES["d"] > 40, 1.0))
    estimate = next(e for e in ESTIMATES if e.size == "coefficient_ar")
    assert fit_estimate(bent, estimate, LOAD)[0].exponent == pytest.approx(-1, abs=0.1)
    few = bent[bent["d"] < 60]
    assert sorted(fit_estimate(few, estimate, LOAD)[0].d) == [16, 24, 32, 48]


def test_the_tolerance_of_a_good_fit_is_below_a_third_of_a_half():
    law = fit_estimate(INSTANCES, ESTIMATES[0], LOAD)[0]
    assert ALLOWANCE < exponent_tolerance(law) == ALLOWANCE + 2 * law.deviation < 1 / 6


def test_fluctuations_are_those_of_the_instances():
    for f, law in zip(FLUCTUATIONS, fluctuation_laws(INSTANCES, LOAD), strict=True):
        assert law.exponent == pytest.approx(f.found, abs=4 * law.deviation)
        assert law.deviation < 0.2


def test_dimensions_where_a_size_is_missing_are_left_out():
    instances = INSTANCES.assign(chi=INSTANCES["chi"].where(INSTANCES["d"] <= 50))
    assert sorted(size_groups(instances, "chi", LOAD)) == [16, 24, 32, 48]
    assert sorted(size_groups(instances, "norm", LOAD)) == [16, 24, 32, 48, 64, 96]


def test_a_statement_without_estimates_is_refused():
    with pytest.raises(ValueError, match="claim = 'lemma-12': must be a statement with estimates"):
        check(**rate_evidence("lemma-12", INSTANCES, LOAD))
