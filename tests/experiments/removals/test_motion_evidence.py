"""Checks of closed forms: on motions that are made up from them, and on others."""

import numpy as np
import pandas as pd
import pytest

from assocmem.book.claims import check
from assocmem.experiments.removals.motion_evidence import (
    entry_evidence,
    entry_law,
    half_fraction_evidence,
    response_at,
    score_share_evidence,
    simplification_evidence,
    sizes_by_dimension,
    threshold_motion_evidence,
)

RESPONSE = response_at(0.25, 0.2, 3.0, 0.5)
HALF = response_at(0.25, 0.5, 3.0, 0.5)


def made_up(response, r, gradient=None, entries=-3.5):
    """Rows of motions with a length of the average, and entries of a power of d."""
    rng = np.random.default_rng(1)
    rows = []
    for d in (16, 24, 32, 48, 64, 96):
        length = (gradient or response.gradient)(d)
        for _ in range(30):
            moved, noise = rng.uniform(1, 2), np.exp(0.03 * rng.standard_normal())
            share = response.score_share(d)
            rows.append(
                {
                    "d": d,
                    "r": r,
                    "moved": moved,
                    "gradient": length * noise,
                    "averaged": length * share * moved / d * noise,
                    "score_rms": share * moved / d * noise,
                    "entry": moved * d**entries * noise,
                }
            )
    return pd.DataFrame(rows)


def test_sizes_are_root_mean_squares():
    d, size, error = sizes_by_dimension([8, 8, 4, 4], [2.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(d, [4, 8])
    np.testing.assert_allclose(size, [np.sqrt(12.5), 2])
    np.testing.assert_allclose(error, [3.5 / (2 * np.sqrt(12.5)), 0])


@pytest.mark.parametrize(
    ("gradient", "verdict"), [(None, "holds"), (lambda d: RESPONSE.across / d, "does not hold")]
)
def test_thresholds_move_by_the_closed_form(gradient, verdict):
    found = check(**threshold_motion_evidence(made_up(RESPONSE, 0.2, gradient), RESPONSE))
    assert (found.verdict, len(found.measured)) == (verdict, 12)
    assert found.force > 3


@pytest.mark.parametrize(
    ("gradient", "verdict"), [(None, "holds"), (lambda d: 0.3 / np.sqrt(d), "does not hold")]
)
def test_half_the_competitors_move_them_less(gradient, verdict):
    found = check(
        **half_fraction_evidence(made_up(HALF, 0.5, gradient), HALF, response_at(0.25, 0.4, 3.0, 0.5))
    )
    assert found.verdict == verdict


@pytest.mark.parametrize(("power", "verdict"), [(-3.5, "does not hold"), (-4.0, "holds"), (-4.5, "not yet")])
def test_entries_have_the_power_of_the_paper_or_not(power, verdict):
    rows = made_up(RESPONSE, 0.2, entries=power)
    assert entry_law(rows).exponent == pytest.approx(power, abs=0.03)
    found = check(**entry_evidence(rows))
    assert (found.verdict, found.expected) == (verdict, "does not hold")
    best = verdict.replace("holds", "holds with limits")
    assert check(**entry_evidence(rows, half=True)).verdict == best


def test_scores_take_their_share_of_the_motion():
    rows = made_up(RESPONSE, 0.2)
    assert check(**score_share_evidence({"here": (rows, RESPONSE)})).verdict == "holds with limits"
    whole = rows.assign(score_rms=rows["moved"] / rows["d"])
    assert check(**score_share_evidence({"here": (whole, RESPONSE)})).verdict == "does not hold"


@pytest.mark.parametrize(("factor", "verdict"), [(1, "holds"), (1.3, "does not hold")])
def test_the_difference_of_traces_has_its_limit(factor, verdict):
    rng = np.random.default_rng(1)
    limit = factor * RESPONSE.simplification
    groups = {d: (limit - 2.4 / d) / d * (1 + 0.02 * rng.standard_normal(50)) for d in (16, 24, 32, 48, 64)}
    assert check(**simplification_evidence(groups, RESPONSE)).verdict == verdict
