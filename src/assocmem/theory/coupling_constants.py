r"""How far a signal score is from its proximal law at a finite dimension, in closed form.

Proposition 7 puts ``chi_d`` where the leave-one-out expansion has the form of a fresh rank-one matrix,
``<u v', H^-1 [u v']>``, which is ``chi |u|^2 |v|^2`` to leading order, and ``c_r(nu_d)`` where it has the
tail average of the key's own competitors, which follows the length of the key's answer, ``|W v|``. Both vary
by ``d^-1/2`` from key to key, and the derivatives of ``s = g + chi sigma(c - s)`` turn this into the root
mean square of what the proposition leaves out.
"""

import math

import numpy as np
from scipy import special

from assocmem.checks import require, require_instance, require_integer, require_number
from assocmem.theory.law_variants import middle_levels
from assocmem.theory.scalar import ScalarSolution, scalar_tail_average

LEVELS = 20_000
"""Quantiles of a law over which an average is taken, which is good to four digits at least."""


def coupling_miss(solution: ScalarSolution, d: int, *, response: float = 1.0, tail: float = 1.0) -> float:
    r"""Root mean square of ``s - c - Prox_chi(g - c)`` to leading order in 1/d.

    With ``x = |u|^2 |v|^2 - 1`` and ``y = |W v| / (nu sqrt(d)) - 1`` the score moves by
    ``(A chi x + chi B c_r'(nu) nu y) / (1 + chi B)``. For a matrix with the singular values of a square
    one of independent entries, which memories have in the limit, x has the variance 4/d, y has 1/d, and since
    both contain ``|v|^2`` their covariance is 1/d.

    Parameters
    ----------
    solution : ScalarSolution
        Of a single point, with the ``nu`` and ``chi`` that are meant.
    d : int
    response, tail : float
        Factors on x and y: 0 if its part is accounted for already.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a solution of several points, or a dimension below one.
    """
    require_instance("solution", solution, ScalarSolution)
    require(np.ndim(solution.nu) == 0, "solution", f"{np.size(solution.nu)} points", "of a single point")
    require_integer("d", d, 1)
    require_number("response", response)
    require_number("tail", tail)
    nu, chi = solution.nu, solution.chi
    A = special.expit(-solution.margin.quantile(middle_levels(LEVELS)))
    softened = 1 + chi * A * (1 - A)
    _, _, slope = scalar_tail_average(nu, solution.r, solution.beta)
    x = response * A * chi / softened
    y = tail * chi * A * (1 - A) * slope * nu / softened
    return math.sqrt(np.mean(4 * x**2 + y**2 + 2 * x * y) / d)
