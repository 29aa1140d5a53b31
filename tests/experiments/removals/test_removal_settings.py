"""Sizes at several settings, on a made-up table and on the stored one."""

import numpy as np
import pandas as pd

from assocmem.experiments.removals.removal_rates import setting_name
from assocmem.experiments.removals.removal_settings import (
    COMMON_DIMENSION,
    missed_share,
    rows_at_setting,
    setting_powers,
)
from assocmem.experiments.removals.removal_sizes import SETTINGS
from assocmem.sweeps.stored_table import read_table


def made_up():
    """The error falls like ``1/d`` at the first setting and is constant at others; the motion is one."""
    rows = [(s, d) for s in range(len(SETTINGS)) for d in (16, 32, 48, 64) for _ in range(3)]
    setting, d = np.array(rows, dtype=float).T
    error = np.where(setting == 0, 1 / d, 0.5)
    error = np.where(d > COMMON_DIMENSION, 7.0, error) * np.tile([0.9, 1.0, 1.1], len(d) // 3)
    return pd.DataFrame({"setting": setting, "d": d, "newton_error": error, "moved": np.ones(len(d))})


def test_rows_of_one_setting_and_the_columns_that_are_asked_for():
    found = rows_at_setting(made_up(), 2, ("d", "moved"))
    assert list(found) == ["d", "moved"]
    assert len(found["d"]) == 12
    assert set(found["d"]) == {16, 32, 48, 64}


def test_powers_of_all_settings_leave_large_dimensions_out():
    powers = setting_powers(made_up(), "newton_error")
    np.testing.assert_allclose(powers, [-1, *[0] * (len(SETTINGS) - 1)], atol=1e-12)


def test_the_missed_share_is_that_of_the_motion():
    d, share = missed_share(made_up(), 0)
    np.testing.assert_array_equal(d, [16, 32, 48, 64])
    scatter = np.sqrt(np.mean(np.array([0.9, 1.0, 1.1]) ** 2))
    np.testing.assert_allclose(share[:3] * d[:3], scatter)


def test_settings_are_named_by_what_is_different():
    names = [setting_name(place) for place in range(len(SETTINGS))]
    assert names[:4] == ["gaussian", "sphere", "rademacher", "$\\beta = 10$"]
    assert names[-1] == "$\\alpha = 0.5$, $\\lambda = 0.001$"
    assert len(set(names)) == len(names)


def test_the_stored_table_has_the_common_dimension_at_every_setting():
    table = read_table("leave_one_out", "removals")
    setting, d = np.asarray(table["setting"]), np.asarray(table["d"])
    for place in range(len(SETTINGS)):
        assert COMMON_DIMENSION in d[setting == place]
