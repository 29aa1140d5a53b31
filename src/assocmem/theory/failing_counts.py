"""How the number of keys that outer products fail grows with n at a fixed ratio ``d^2 / (n log n)``.

In the Gaussian picture a signal that dips by x units of ``sqrt(load log n)`` has probability ``n^(-x^2/2)``,
and a key's best competitor rises to ``sqrt 2`` without any luck. Where the ratio c is below 8 the keys that
fail are those that dip by ``sqrt c - sqrt 2``, and their number is a positive power of n; above 8 a rival
has to be lucky too, and the expected number is a negative power.
"""

import math

from assocmem.checks import require, require_integer, require_number
from assocmem.theory.outer_products import LARGEST_SIZE, query_failure_at_ratio


def leading_power(ratio: float, constant: float = 8.0) -> float:
    """Power of n in the expected number of failing keys, to leading order.

    ``1 - (sqrt c - sqrt 2)^2 / 2`` up to ``c = 8`` and ``2 - c / 4`` from there on.

    Parameters
    ----------
    ratio : float
        ``c = d^2 / (n log n)``, at least 2.
    constant : float
        Where the power changes sign, if it is to be wrong: the same function of ``8 c / constant``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a ratio below 2 or a constant that is not positive.
    """
    require_number("constant", constant, 0)
    require_number("ratio", ratio, 2, ends="[)")
    c = 8 * ratio / constant
    return 1 - (math.sqrt(c) - math.sqrt(2)) ** 2 / 2 if c < 8 else 2 - c / 4


def growth_between(few: int, many: int, ratio: float, constant: float = 8.0) -> float:
    """The power of n between two sizes, with the factor ``1 / sqrt(log n)`` that goes with it.

    Parameters
    ----------
    few, many : int
        Numbers of pairs.
    ratio, constant : float
        As in `leading_power`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    _require_sizes(few, many)
    x, y = math.log(few), math.log(many)
    return leading_power(ratio, constant) - 0.5 * math.log(y / x) / (y - x)


def exact_growth(few: int, many: int, ratio: float, *, log2_points: int = 12) -> float:
    """The same power from the exact law of one column, integrated at both sizes.

    Parameters
    ----------
    few, many : int
        Numbers of pairs.
    ratio : float
        ``d^2 / (n log n)``.
    log2_points : int
        As in `assocmem.theory.outer_products.query_failure`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    _require_sizes(few, many)
    one, other = (
        math.log(n * query_failure_at_ratio(n, ratio, log2_points=log2_points).value) for n in (few, many)
    )
    return (other - one) / math.log(many / few)


def _require_sizes(few, many):
    """Check two sizes."""
    require_integer("few", few, 3)
    require_integer("many", many, 3)
    require(few < many <= LARGEST_SIZE, "many", many, f"above few = {few}, at most {LARGEST_SIZE:g}")
