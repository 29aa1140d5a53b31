"""Means along the load, laws of spreads and limits of stored memories for lists."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special

from assocmem.experiments.lists.list_averages import along_load, list_instances, mean_place, spread_law
from assocmem.experiments.lists.list_memories import LIST, LONG_TAIL, LOSSES
from assocmem.theory.lists import solve_list
from assocmem.theory.ridgeless import sat_edge


def rows(**columns):
    size = max(len(np.atleast_1d(x)) for x in columns.values())
    fixed = {"r": 0.15, "loss": LOSSES.index(LIST), "d": 40, "load": 0.4}
    return pd.DataFrame({name: np.broadcast_to(x, size) for name, x in (fixed | columns).items()})


def test_means_along_the_load_are_of_one_loss_dimension_and_list():
    stored = rows(load=[0.4, 0.2, 0.4, 0.4], d=[40, 40, 40, 80], listed=[0.8, 1.0, 0.9, 0.0])
    found = along_load(stored, "listed", loss=LIST, d=40)
    assert found.load.tolist() == [0.2, 0.4]
    assert found.mean == pytest.approx([1.0, 0.85])
    assert found.error == pytest.approx([0.0, 0.05])
    assert found.instances.tolist() == [1, 2]
    assert len(along_load(stored, "listed", loss=LONG_TAIL, d=40).load) == 0
    assert len(along_load(stored, "listed", loss=LIST, d=40, r=0.2).load) == 0


def test_the_power_of_spreads_comes_out():
    d = np.repeat([20, 40, 80, 160], 3)
    spread = d**-0.5 * np.tile([0.99, 1.0, 1.01], 4)
    law = spread_law(rows(d=d, spread=spread), LIST, 0.4)
    assert law.exponent == pytest.approx(-0.5, abs=0.01)


def test_the_mean_place_is_that_of_the_law_at_the_edge():
    G = special.ndtri((np.arange(20000) + 0.5) / 20000)
    sampled = special.ndtr(np.maximum(G, sat_edge(0.4))).mean()
    assert mean_place(0.4) == pytest.approx(sampled, abs=1e-4)


def test_instances_are_near_the_scalar_equations_and_come_out_again():
    means, errors = list_instances(0.3, 0.2, 0.05, {20: 6, 40: 3}, seed=1)
    again, _ = list_instances(0.3, 0.2, 0.05, {20: 6}, seed=1)
    assert means.shape == errors.shape == (2, 2)
    assert np.array_equal(means[:1], again)
    point = solve_list(0.3, 0.2, ridge=0.05)
    assert means[1] == pytest.approx([point.nu, point.loss], rel=0.1)
    assert (errors > 0).all()
    assert math.isfinite(errors.sum())
