"""Stored sizes of the leave-one-out method at several settings: what smoothing, ridge and law do to them."""

from collections.abc import Iterable

import numpy as np

from assocmem.experiments.frames import DataFrame
from assocmem.experiments.removals.removal_rates import size_groups
from assocmem.experiments.removals.removal_sizes import SETTINGS
from assocmem.experiments.statistics import power_law

COMMON_DIMENSION = 48
"""The largest dimension that is stored at every setting."""


def rows_at_setting(table: DataFrame, place: int, names: Iterable[str]) -> DataFrame:
    """Stored sizes at one of the settings.

    Parameters
    ----------
    table : DataFrame
        Columns ``setting``, and those that are wanted; one row an instance.
    place : int
        Of the setting among `assocmem.experiments.removals.removal_sizes.SETTINGS`.
    names : iterable of str
        Which columns.

    Returns
    -------
    DataFrame
    """
    return table.loc[table["setting"] == place, list(names)]


def missed_share(table: DataFrame, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Share of the minimiser's motion that the coupled Newton step misses at a setting.

    Parameters
    ----------
    table, place
        As for `rows_at_setting`.

    Returns
    -------
    d, share : ndarray, shape (m,)
        Dimensions, and root mean squares of the error over those of the motion.
    """
    columns = rows_at_setting(table, place, ("d", "newton_error", "moved"))
    error, moved = (
        power_law(size_groups(columns, name, SETTINGS[place]["load"])) for name in ("newton_error", "moved")
    )
    return error.d, error.size / moved.size


def setting_powers(table: DataFrame, name: str) -> list[float]:
    """Fitted powers of d of one size at all settings, from the dimensions that all of them have.

    Parameters
    ----------
    table : DataFrame
        As for `rows_at_setting`.
    name : str
        Of the size.

    Returns
    -------
    list of float
    """
    found = []
    for place, setting in enumerate(SETTINGS):
        groups = size_groups(rows_at_setting(table, place, ("d", name)), name, setting["load"])
        found.append(power_law({d: x for d, x in groups.items() if d <= COMMON_DIMENSION}).exponent)
    return found
