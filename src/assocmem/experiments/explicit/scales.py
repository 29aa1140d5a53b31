"""Success of the explicit memories at n = 10^digits, predicted: a thousand pairs, a million, 10^30, and on.

Repairs take the best reserves and margins. Those are computed once, by `points.repair_prediction`, and stored
in a table, which the functions here are given as ``choices``.
"""

import math
from collections.abc import Sequence

import numpy as np

from assocmem.checks import SCALES, require, require_number
from assocmem.experiments.frames import DataFrame
from assocmem.pairs.sizes import dimension_at_ratio
from assocmem.theory import kinematics, outer_products, repair

EXACT_UP_TO = 6
"""Digits up to which outer products have their exact one-column law; beyond, they have that of the Gaussian
picture, which only takes log n."""

PROOF = "repair, the proof's reserve"
SPLIT = "repair, best reserve"
IN_PLACE = "repair, in place"
PLAIN = "outer products"
EQUAL = "equal signals"
CLIPPED = "equal signals, 1 clip"
KINDS = {SPLIT: 0, PROOF: 1, IN_PLACE: 2}
"""Repairs by name, with the ``kind`` that they have in the stored table."""
MARGINS = 0.01, 0.03, 0.1
"""Margins of a clip; the best of the three is taken at each ratio."""
PLAIN_FAILURE_FLOOR = 1e-300
"""Probability that stands for one too small for a double, before its logarithm is taken."""
LARGEST_SHOWN = 6.0
"""Logarithm of the expected number of failures at which curves of success are cut off, at exp(-exp(6))."""
QUADRATURE_UP_TO = 12
"""Digits up to which the kinematic value is known by quadrature."""


def stored_choice(choices: DataFrame, digits: float, name: str) -> repair.BestRepair:
    """Best ratio, share and margin of a repair at n = 10^digits.

    Parameters
    ----------
    choices : DataFrame
        The stored table of `points.repair_prediction`.
    digits : float
        A multiple of 0.1.
    name : str
        One of `KINDS`.

    Returns
    -------
    assocmem.theory.repair.BestRepair

    Raises
    ------
    ValueError
        For digits that are not stored.
    """
    near = np.isclose(_decimal_logarithms(choices), digits, rtol=0, atol=1e-7)
    rows = choices[near & (choices["kind"] == KINDS[name])]
    known = ", ".join(f"{x:g}" for x in stored_digits(choices))
    require(len(rows) > 0, "digits", digits, f"one of {known}")
    ratio, share, gamma = map(float, rows[["ratio", "share", "gamma"]].iloc[0])
    return repair.BestRepair(ratio, None if math.isnan(share) else share, gamma)


def success_curves(choices: DataFrame, digits: float, ratios: Sequence[float]) -> dict[str, np.ndarray]:
    """Probability that all pairs are retrieved, by construction.

    Parameters
    ----------
    choices : DataFrame
    digits : float
        As in `stored_choice`.
    ratios : sequence of float
        ``d^2 / (n log n)``, above ``1 / log n``.

    Returns
    -------
    dict of str to ndarray
        By the names of the constructions.
    """
    log_n = digits * math.log(10)
    curves = {}
    for name in KINDS:
        found = stored_choice(choices, digits, name)
        plan = {"share": found.share, "gamma": found.gamma}
        curves[name] = [repair.predict_repair(log_n, c, **plan).log_failures for c in ratios]
    curves[PLAIN] = [_plain_failures(digits, c) for c in ratios]
    curves[EQUAL] = [repair.log_equalised_failures(log_n, c) for c in ratios]
    clips = [[repair.log_clipped_failures(log_n, c, x) for c in ratios] for x in MARGINS]
    curves[CLIPPED] = np.min(clips, axis=0)
    return {name: np.exp(-np.exp(np.minimum(x, LARGEST_SHOWN))) for name, x in curves.items()}


def _plain_failures(digits, ratio):
    """Log of the expected number of keys that outer products do not retrieve."""
    if digits > EXACT_UP_TO:
        return outer_products.log_expected_failures(digits * math.log(10), ratio)
    n = round(10**digits)
    one = outer_products.query_failure(n, dimension_at_ratio(n, ratio), log2_points=8).value
    return math.log(n) + math.log(max(one, PLAIN_FAILURE_FLOOR))


def half_ratios(choices: DataFrame) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Ratio at which each construction succeeds half of the time, for all stored numbers of pairs.

    Returns
    -------
    digits : ndarray
    curves : dict of str to ndarray
    """
    digits = np.array(stored_digits(choices))
    names = (*KINDS, PLAIN, EQUAL, CLIPPED)
    return digits, {name: np.array([half_ratio(choices, x, name) for x in digits]) for name in names}


def stored_digits(choices: DataFrame) -> list[float]:
    """Digits of the numbers of pairs for which best repairs are stored, ascending."""
    return np.unique(_decimal_logarithms(choices)).tolist()


def _decimal_logarithms(choices):
    """What is called digits here, for each row; the table has ten times it, a whole number."""
    return choices["digits"].to_numpy() / 10


def half_ratio(choices: DataFrame, digits: float, name: str) -> float:
    """Ratio ``d^2 / (n log n)`` at which a construction succeeds half of the time.

    Parameters
    ----------
    choices : DataFrame
    digits : float
        As in `stored_choice`.
    name : str
        One of `KINDS`, or `PLAIN`, `EQUAL`, `CLIPPED`.

    Returns
    -------
    float
    """
    if name in KINDS:
        return stored_choice(choices, digits, name).ratio
    if name == PLAIN:
        return _plain_half(digits)
    half = {EQUAL: repair.equalised_half_ratio, CLIPPED: repair.clipped_half_ratio}[name]
    return half(digits * math.log(10))


def _plain_half(digits):
    if digits > EXACT_UP_TO:
        return outer_products.half_success_ratio(digits * math.log(10))
    return outer_products.exact_half_success_ratio(round(10**digits), log2_points=8)


def any_memory(digits: float) -> float:
    """Ratio at which half of the instances are retrievable at all.

    The kinematic value up to 10^12 pairs, and the two terms of Conjecture 1 beyond.
    """
    require_number("digits", digits, math.log10(2), SCALES[1])
    log_n = digits * math.log(10)
    if digits <= QUADRATURE_UP_TO:
        return kinematics.statistical_dimension(10.0**digits) / log_n
    return 2 - 3 * math.log(log_n) / log_n


def digits_below(digits: np.ndarray, curve: np.ndarray, level: float | np.ndarray) -> str:
    """Digits of n from which on a curve stays below a level, interpolated in the logarithm, in words.

    Parameters
    ----------
    digits, curve : ndarray
    level : float or ndarray
        A number, or another curve.

    Returns
    -------
    str
    """
    gap = np.log(curve) - np.log(level)
    above = np.flatnonzero(gap > 0)
    if len(above) == 0:
        return f"less than {digits[0]:g}"
    if above[-1] == len(gap) - 1:
        return f"more than {digits[-1]:g}"
    i = above[-1]
    return f"{math.exp(np.interp(0, -gap[i : i + 2], np.log(digits[i : i + 2]))):.3g}"
