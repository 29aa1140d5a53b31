"""Norms of the theory itself are read as the loads that they belong to."""

import numpy as np
import pandas as pd

from assocmem.experiments.tail_average.norms_as_loads import norms_of_map, norms_of_tables
from assocmem.experiments.tail_average.phase import BETA, RIDGE, Map
from assocmem.theory.finite_dimension import effective_load
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import solve_scalar


def test_a_map_of_the_theory_is_read_as_its_own_loads():
    r, load = np.array([0.05, 0.15, 0.2]), np.array([0.05, 0.2, 0.4])
    nu = np.array([solve_scalar(load, x, beta=BETA, ridge=RIDGE).nu for x in r])
    found = norms_of_map(Map(60, load, r, np.zeros_like(nu), nu))
    assert found.r.tolist() == [0.15, 0.15]  # the first of two above 0.05, near the critical load
    assert found.load.tolist() == [0.2, 0.4]
    np.testing.assert_allclose(found.raw, 1, atol=2e-3)
    shares = [effective_load(x, 0.15, 60) / x for x in found.load]
    np.testing.assert_allclose(found.raw / found.corrected, shares, rtol=1e-3)
    assert np.all(found.memories == 1) and np.all(found.falsehood > 1)


def test_memories_of_a_dimension_are_averaged():
    r, load, ridge = 0.15, 0.25, 1e-7
    nu = float(solve_scalar(load, r, beta=BETA, ridge=ridge).nu)
    table = pd.DataFrame({"d": [40, 80, 80, 80, 80], "load": load, "nu": nu})
    found = norms_of_tables([(table, r, load)], beta=BETA, ridge=ridge)
    assert found.d.tolist() == [40, 80] and found.memories.tolist() == [1, 4]
    np.testing.assert_allclose(found.raw, 1, atol=1e-3)
    np.testing.assert_allclose(found.tolerance[0] / found.tolerance[1], 4, rtol=1e-3)
    assert critical_load(r) > load
