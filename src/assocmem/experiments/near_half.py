"""Which of the counts at several dimensions say where a transition is."""

import math

import numpy as np

from assocmem.experiments.transitions import NEAR
from assocmem.theory.kinematics import pooled_moments


def near_half(
    n: int, d: np.ndarray, successes: np.ndarray, trials: np.ndarray, k: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts at the dimensions around the one whose share is closest to one half.

    Further away instances fail or succeed for other reasons. `assocmem.experiments.transitions.transition`
    looks at the same dimensions.

    Parameters
    ----------
    n : int
        Number of pairs.
    d, successes, trials : ndarray, shape (m,)
        Dimensions, and how many of how many instances were retrievable at each; those without any are left
        out.
    k : int
        As in `assocmem.theory.kinematics.statistical_dimension`.

    Returns
    -------
    d, successes, trials : ndarray
        Those within 2.5 predicted widths.
    """
    d, successes, trials = (x[trials > 0] for x in (d, successes, trials))
    _, variance = pooled_moments(n, k)
    place = d**2 / n
    middle = place[np.argmin(np.abs(successes / trials - 0.5))]
    near = np.abs(place - middle) <= NEAR * math.sqrt(variance / n)
    return d[near], successes[near], trials[near]
