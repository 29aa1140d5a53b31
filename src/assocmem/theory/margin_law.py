"""The largest margin of any memory for its norm, if all score directions were independent (not in the paper).

As in `assocmem.theory.kinematics`, scores range over a random subspace of dimension d^2 in R^(n^2); for a
memory of norm ``|W|_F = d`` each has spread one. The margin kappa asks for ``s_i >= s_j + kappa`` for all
competitors j. Gordon's comparison says when that is possible: for convex sets like this one, in the limit, as
long as

    d^2 > n D(n, kappa),    D = E min_t [(t + kappa - g_1)_+^2 + sum_j (g_j - t)_+^2],

the mean squared distance of a Gaussian column to what is asked. (For the perceptron this is Gardner's
capacity.) So the largest margin solves ``D(n, kappa) = d^2 / n``; it is that of a memory of norm d, and
``kappa / d`` per norm. At kappa = 0 the distance is that of a cone, `statistical_dimension`.

The distance is that of `assocmem.theory.list_cone` for the first place, with a signal of mean ``-kappa``.

For many pairs the competitors are nearly at ``sqrt(2 log n)``, and to leading order
``D = (sqrt(2 log n) + kappa)^2``, so that ``kappa = sqrt(log n) (sqrt(c) - sqrt(2))`` for
``c = d^2 / (n log n)``.

Independence is an assumption: the law is derived, not proved, for pairs.
"""

import math

from scipy.optimize import brentq

from assocmem.checks import is_number, require, require_number
from assocmem.theory.list_cone import LARGEST_KAPPA, column_distance
from assocmem.theory.tail_cone import LARGEST_N


def margin_distance(n: float, kappa: float) -> float:
    """Dimensions d^2 over n that the margin kappa needs, the mean squared distance of one column.

    Parameters
    ----------
    n : float
        Number of pairs, in [3, 1e12].
    kappa : float
        In spreads of a score, in [0, 20].

    Returns
    -------
    float
        Increasing in kappa, from `assocmem.theory.kinematics.statistical_dimension` at zero.

    Raises
    ------
    ValueError
        For an n or kappa out of range.
    """
    require(is_number(n) and 3 <= n <= LARGEST_N, "n", n, "in [3, 1e12]")
    return column_distance(n, 1, kappa)


def largest_margin_law(n: float, ratio: float) -> float:
    """Largest margin of any memory whose scores have spread one, in the picture of independent directions.

    Parameters
    ----------
    n : float
        Number of pairs, in [3, 1e12].
    ratio : float
        ``d^2 / (n log n)``, positive.

    Returns
    -------
    float
        In spreads, so times ``|W|_F / d`` that of a memory; zero where no memory retrieves all pairs.

    Raises
    ------
    ValueError
        For an n or a ratio out of range, or a ratio so large that ``d^2 / n`` is above 400.
    """
    require(is_number(n) and 3 <= n <= LARGEST_N, "n", n, "in [3, 1e12]")
    require_number("ratio", ratio, 0)
    wanted = float(ratio) * math.log(n)
    most = math.sqrt(wanted)  # as the signal alone would have to be so far above zero
    if margin_distance(n, 0.0) >= wanted:
        return 0.0
    highest = LARGEST_KAPPA**2 / math.log(n)
    require(most <= LARGEST_KAPPA, "ratio", ratio, f"at most {highest:.4g} for n = {n:g}")
    # the root of the distance is nearly linear
    return brentq(lambda kappa: math.sqrt(margin_distance(n, kappa)) - most, 0, most, xtol=1e-9, rtol=1e-10)


def margin_limit(log_n: float, ratio: float) -> float:
    """Leading order of the largest margin for many pairs, ``sqrt(log n) (sqrt(ratio) - sqrt(2))``.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, positive.
    ratio : float
        ``d^2 / (n log n)``, positive.

    Returns
    -------
    float
        Zero below the critical ratio 2.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("log_n", log_n, 0)
    require_number("ratio", ratio, 0)
    return math.sqrt(log_n) * max(0.0, math.sqrt(ratio) - math.sqrt(2))
