"""What each fact asks of a memory, from the place of its answer among all targets.

A memory W retrieves a fact if the vector ``z = W v`` of its key v lies in the cone of the answer a, where
``u_a z`` is the largest of all ``u_j z``. If keys are random, the vectors z of all n keys range over a random
subspace of dimension ``d_in d_out`` in ``R^(n d_out)``. By the kinematic argument it meets the product of the
cones inside if ``d_in d_out`` is more than the sum of ``E dist(h, K_a)^2``, h Gaussian. That is what a fact
costs, for the targets as they are; for Gaussian ones the mean is near the statistical dimension.

A rule C moves h by ``t C v / |C|_F``, with one strength t for all facts: those whose answer is where the rule
leads cost less, and the best strength makes the sum least.
"""

import numpy as np
from scipy.optimize import nnls

from assocmem.checks import require, require_integer, require_numbers


def squared_distance(targets: np.ndarray, answer: int, z: np.ndarray) -> float:
    """Squared distance of a vector from the cone in which one target is the largest.

    The part of z outside the cone is its projection on the polar cone, which the differences of the other
    targets and this one span: a problem of nonnegative least squares.

    Parameters
    ----------
    targets : ndarray, shape (d, m)
    answer : int
        Place of the target.
    z : ndarray, shape (d,)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For arrays that do not belong together.
    """
    require_numbers("targets", targets)
    require(np.ndim(targets) == 2, "targets", f"shape {np.shape(targets)}", "a matrix of columns")
    require_integer("answer", answer, 0)
    m = targets.shape[1]
    require(answer < m, "answer", answer, f"below m = {m}")
    require_numbers("z", z)
    require(np.shape(z) == targets.shape[:1], "z", f"shape {np.shape(z)}", f"a vector of {len(targets)}")
    others = np.delete(targets, answer, axis=1) - targets[:, [answer]]
    _, left = nnls(others, z, maxiter=30 * others.shape[1])
    return max(0.0, float(z @ z - left**2))


def fact_costs(
    targets: np.ndarray,
    answers: np.ndarray,
    leads: np.ndarray,
    strengths: np.ndarray,
    *,
    draws: int,
    seed: int,
) -> np.ndarray:
    """Mean squared distances of facts, at several strengths of a rule.

    Parameters
    ----------
    targets : ndarray, shape (d, m)
        White.
    answers : ndarray of int, shape (n,)
        Places among the targets.
    leads : ndarray, shape (d, n)
        Where the rule takes each key.
    strengths : ndarray, shape (s,)
        Factors of the leads.
    draws : int
        Gaussian vectors a fact; the same at all strengths.
    seed : int
        Nonnegative.

    Returns
    -------
    ndarray, shape (n, s)

    Raises
    ------
    ValueError
        For arrays that do not belong together.
    """
    require_integer("draws", draws, 1)
    require_integer("seed", seed, 0)
    require_numbers("strengths", strengths)
    require_numbers("leads", leads)
    shape = (len(targets), len(answers))
    require(np.shape(leads) == shape, "leads", f"shape {np.shape(leads)}", f"shape {shape}")
    rng = np.random.default_rng(seed)
    costs = np.zeros((len(answers), len(strengths)))
    for i, answer in enumerate(answers):
        for h in rng.standard_normal((draws, len(targets))):
            at = [squared_distance(targets, int(answer), h + t * leads[:, i]) for t in strengths]
            costs[i] += np.array(at) / draws
    return costs
