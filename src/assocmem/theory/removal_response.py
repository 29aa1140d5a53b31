"""How far thresholds, scores and traces move when one pair is removed, with their constants.

The paper bounds these sizes by powers of d. Here is the leading term of each in the scalar theory, and for
some the next one. As in the paper ``phi'' = beta q (1 - q)``, Z is standard normal, and m, a, b are the
margin of a key, its weight ``sigma(-m)``, and ``a (1 - a)``; ``kappa = E phi''(nu Z - mu) / r``.

**Thresholds.** By the exact identity of Lemma 12, ``kappa Delta mu_i`` is nearly ``q_hi / k + g_i' Delta W
v_i`` with ``g_i = (1/k) sum_j phi''(s_ji - mu_i) u_j``. The score is ``s_ji = u_j' W v_i``, so u_j has the
part ``s_ji / |W v_i|`` along ``W v_i`` and is independent of the score across it. Along, integration by
parts gives ``A / sqrt(d)`` with ``A = nu E phi'''(nu Z - mu) / r``; across, independent vectors add up to
``B / d`` with ``B^2 = E phi''^2 / (r^2 alpha)``. The matrix ``Delta W`` is nearly fresh for key i and
takes g to a number whose root mean square is ``|g| |Delta W|_F / d``.

**Scores.** Likewise ``u_j' Delta W v_i`` has the root mean square ``|Delta W|_F / d``, less a part of
relative order 1/d, since ``Delta W = T F`` is large where the inverse Hessian T is, where scores are stiff
least. Let G be ``(d/n)^2 U U' (x) V V'``, of mean 1 and variance ``2 / (alpha d)``. All of the Hessian but
its ridge is made of features, so T falls by the share ``w = 1 - alpha ridge chi`` of what G grows by, and
the mean of squares ``tr(T G T) / tr(T^2)`` is ``1 - 4 w / (alpha d)``.

**The simplified trace.** Lemma 22 replaces ``u_i - p_i`` by ``u_i``; as ``p_i`` is ``nu kappa / sqrt(d)``
along ``W v_i``, squared lengths differ by ``(nu^2 kappa^2 - 2 kappa s_ii) / d``. Each pair enters ``log
det H`` as ``log(1 + b_i chi |u_i - p_i|^2)``, and the derivative of that in the ridge is the trace.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from assocmem.checks import require, require_instance, require_number
from assocmem.theory.scalar import ScalarSolution, prox

STEP = 0.2
"""Step of the trapezoidal rule on the scale on which an integrand varies; its error falls exponentially."""
RANGE = 12.0
"""Standard deviations beyond which nothing is added up."""


@dataclass(frozen=True)
class RemovalResponse:
    """Constants of what moves when a pair is removed.

    Attributes
    ----------
    load : float
        The load they belong to.
    along, across : float
        A and B: the average of targets that moves a threshold has the length ``sqrt(A^2 / d + B^2 / d^2)``.
    slope : float
        kappa, the mean of ``phi''`` over the tail fraction.
    newcomer : float
        Root mean square of ``d^2 q_hi / k``, the share of the new competitor.
    entry : float
        Root mean square of ``d^2 a_i phi''_ji / k``, by which a moved threshold is multiplied in a Taylor
        entry.
    moved : float
        Root mean square of ``|Delta W|_F``, to leading order.
    stiffness : float
        w, the share of the Hessian that is made of features, in units of the inverse susceptibility.
    simplification, simplification_linear : float
        Limit of ``d (chi - chi~)`` of Lemma 22, and what it would be without the squares of ``p_i``.
    """

    load: float
    along: float
    across: float
    slope: float
    newcomer: float
    entry: float
    moved: float
    stiffness: float
    simplification: float
    simplification_linear: float

    def gradient(self, d: float) -> float:
        """Length of the average of targets that moves a threshold, in dimension d."""
        require_number("d", d, 0)
        return float(np.hypot(self.along / np.sqrt(d), self.across / d))

    def threshold(self, d: float, moved: float) -> float:
        """Root mean square motion of a threshold.

        Parameters
        ----------
        d : float
            Dimension, above 0.
        moved : float
            Frobenius norm of the motion of the minimiser, at least 0.

        Returns
        -------
        float
        """
        require_number("moved", moved, 0)
        return float(np.hypot(self.gradient(d) * moved / d, self.newcomer / d**2) / self.slope)

    def score_share(self, d: float) -> float:
        """Root mean square motion of scores in units of ``|Delta W|_F / d``, with the term of order 1/d."""
        require_number("d", d, 0)
        return float(1 / (1 + 2 * self.stiffness / (self.load * d)))


def removal_response(solution: ScalarSolution) -> RemovalResponse:
    """The constants of a removal at a saddle point of the scalar theory.

    Parameters
    ----------
    solution : ScalarSolution
        Of a single point.

    Returns
    -------
    RemovalResponse

    Raises
    ------
    ValueError
        For a solution of several points.
    """
    require_instance("solution", solution, ScalarSolution)
    require(np.ndim(solution.nu) == 0, "solution", f"{np.size(solution.nu)} points", "of a single point")
    load, r, beta, nu, chi = (float(getattr(solution, x)) for x in ("load", "r", "beta", "nu", "chi"))
    Z, weights = _normal_nodes(STEP / (1 + beta * nu))
    q = special.expit(beta * (nu * Z - solution.mu))
    bend = beta * q * (1 - q)
    slope = weights @ bend / r
    along = nu * abs(weights @ (beta * bend * (1 - 2 * q))) / r
    bends, shares = weights @ bend**2, weights @ q**2
    Z, weights = _normal_nodes(STEP / (1 + nu))
    margin = prox(nu * Z - solution.c, chi)
    a = special.expit(-margin)
    b = a * (1 - a)
    softer = b / (1 + b * chi)
    steep = 1 / (1 / chi**2 - load * (weights @ softer**2))
    gain = steep * load * weights * b / (1 + b * chi) ** 2
    linear = gain @ (2 * slope * (margin + solution.c))
    return RemovalResponse(
        load=load,
        along=float(along),
        across=float(np.sqrt(bends / load) / r),
        slope=float(slope),
        newcomer=float(np.sqrt(shares) / (r * load)),
        entry=float(np.sqrt((weights @ a**2) * bends) / (r * load)),
        moved=float(np.sqrt(steep * (weights @ a**2))),
        stiffness=float(1 - load * solution.ridge * chi),
        simplification=float(linear - (nu * slope) ** 2 * gain.sum()),
        simplification_linear=float(linear),
    )


def _normal_nodes(step):
    Z = np.arange(-RANGE, RANGE + step, step)
    weights = np.exp(-(Z**2) / 2)
    return Z, weights / weights.sum()
