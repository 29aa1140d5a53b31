"""Made-up memories whose laws have the limits of the theory, and what is found when they are followed."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

from assocmem.experiments.tail_average.law_limits import (
    Below,
    followed_above,
    followed_laws,
    followed_smoothings,
    followed_step,
    share_below,
)
from assocmem.experiments.tail_average.phase import LEVELS
from assocmem.theory.finite_dimension import LawsAtSize
from assocmem.theory.ridgeless import sat_laws, solve_unsat

THEORY = {"beta": 30.0, "ridge": 1e-7}
SIZES = (30, 60, 120)
rng = np.random.default_rng(3)


def rows(load, quantiles, per_size=3):
    """Memories of some sizes, their quantiles scattered by 1/d."""
    out = []
    for d in SIZES:
        for seed in range(per_size):
            row = {"d": d, "load": load, "seed": seed}
            for kind, value in quantiles.items():
                noisy = value * (1 + 0.02 * rng.standard_normal() / d)
                row |= {f"{kind}_{k}": x for k, x in enumerate(noisy)}
            out.append(row)
    return pd.DataFrame(out)


@pytest.fixture(scope="module")
def case():
    """Memories that have the predicted law, which is some law at every size."""
    signal = np.linspace(1.5, 2.5, 400)
    law = LawsAtSize(signal, signal - 1.4, special.ndtr(signal), 1e-3, 1.4)
    quantiles = {kind: law.quantile(kind, np.array(LEVELS)) for kind in ("signal", "margin", "percentile")}
    table = rows(0.28, quantiles)
    return Below(0.28, 0.15, table, dict.fromkeys(SIZES, law), [0.1, 0.5], [0.97, 0.99])


@pytest.mark.parametrize(("kind", "side", "count"), [("percentile", "under", 2), ("margin", "both", 4)])
def test_laws_as_predicted_have_the_limits_of_the_proposition(case, kind, side, count):
    wrong = lambda law, r, p: law.rho + p  # noqa: E731
    found = followed_laws(kind, side, [case], wrong, **THEORY)
    assert found.measured.shape == (count,)
    assert np.all(abs(found.measured - found.predicted) < found.tolerance)
    law = sat_laws(0.28, 0.15)
    np.testing.assert_allclose(found.falsehood - law.rho, [0.1, 0.5, 0.97, 0.99][:count])


def test_the_step_is_the_edge_less_the_tail(case):
    found = followed_step(case, [0.1, 0.5], 1.0, **THEORY)
    law = sat_laws(0.28, 0.15)
    np.testing.assert_allclose(found.predicted, law.rho - law.kappa)
    np.testing.assert_allclose(found.falsehood, law.rho - 1.0)
    assert np.all(abs(found.measured - found.predicted) < found.tolerance)


def test_the_share_below_a_level_is_interpolated(case):
    assert share_below(case, 60, 2.0, LEVELS) == pytest.approx(0.5, abs=0.01)


def test_memories_like_the_theory_above_agree_with_it():
    levels = [0.1, 0.5, 0.9]
    here = solve_unsat(0.4, 0.15, 30.0)
    table = rows(0.4, {"margin": here.margin.quantile(np.clip(LEVELS, 1e-4, 1 - 1e-4)) / here.nu})
    table["nu"] = here.nu * (1 + 0.01 * rng.standard_normal(len(table)) / table["d"])
    table["loss"] = here.loss * (1 + 0.01 * rng.standard_normal(len(table)) / table["d"])
    scalars, laws = followed_above([(0.4, 0.15, 30.0, table)], levels)
    np.testing.assert_allclose(scalars.predicted, [here.nu, here.loss])
    for found in (scalars, laws):
        assert np.all(abs(found.measured - found.predicted) <= found.tolerance)
        assert np.any(abs(found.falsehood - found.predicted) > found.tolerance)


def test_differences_of_smoothings_are_those_on_the_same_pairs():
    levels = np.clip(LEVELS, 1e-4, 1 - 1e-4)
    soft, hard = (solve_unsat(0.4, 0.15, beta) for beta in (1.0, 30.0))
    tables = []
    for point in (soft, hard):
        table = rows(0.4, {"percentile": point.percentile.quantile(levels)})
        tables.append(table.assign(loss=point.loss + 0.001 * table["seed"] / table["d"], r=0.15))
    found, largest = followed_smoothings(*tables, 0.4, 0.15, (1.0, 30.0), [0.1, 0.9])
    assert largest == max(SIZES)
    np.testing.assert_allclose(found.measured[0], soft.loss - hard.loss, atol=1e-9)
    assert np.all(abs(found.measured - found.predicted)[1:] < found.tolerance[1:])
    assert not found.falsehood.any()
