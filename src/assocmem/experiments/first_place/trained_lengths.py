"""Whether training evens out the lengths of targets: how competing scores grow with them.

Long targets compete with larger scores. Where all keys have the same targets, one linear map of them could
even their lengths out, and scores would no longer grow with the lengths; where targets are drawn anew for
every key no map can.
"""

import math

import numpy as np

from assocmem.experiments.first_place.surrogates import Structure, scale_exponent, score_directions, trained
from assocmem.theory.kinematics import critical_dimension

RIDGE = 1e-8
"""Ridge of the training, as small as that of the paper's Figure 1."""


def length_exponent(structure: Structure, n: int, seed: int) -> float:
    """Exponent with which competing scores grow with the length of their target, in a trained memory.

    In the dimension next to the predicted transition, where an instance as a rule can just be retrieved.

    Parameters
    ----------
    structure : Structure
        How directions share their vectors.
    n, seed : int
        As in `score_directions`.

    Returns
    -------
    float
        One if scores are in proportion to lengths, zero if they do not depend on them.
    """
    d = math.ceil(critical_dimension(n)) + 1
    A = score_directions(structure, n, d, seed)
    S = A @ trained(A, RIDGE)
    rivals = ~np.eye(n, dtype=bool)
    lengths = A.norm(dim=-1)
    lengths = lengths / lengths.mean(dim=0)  # of the targets: the length of the key is divided out
    return scale_exponent(lengths[rivals].numpy(), S[rivals].numpy())
