"""Gaussian facts of any sizes: keys, targets and answers."""

import math

import numpy as np
import torch

from assocmem.checks import require_flag, require_integer
from assocmem.pairs.data import Facts


def gaussian_facts(d_in: int, d_out: int, m: int, n: int, *, seed: int, in_turn: bool = False) -> Facts:
    """Draw keys and targets with independent normal entries of variance one over the dimension, and answers.

    The first facts of a larger draw are the facts of a smaller one, and the targets do not depend on n.

    Parameters
    ----------
    d_in, d_out : int
        Dimensions of keys and of targets.
    m, n : int
        Numbers of targets, at least 2, and of facts.
    seed : int
        Nonnegative.
    in_turn : bool
        Whether targets are answers in turn, so that all are equally often; otherwise each answer is drawn.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    for name, value, least in (("d_in", d_in, 1), ("d_out", d_out, 1), ("m", m, 2), ("n", n, 1)):
        require_integer(name, value, least)
    require_integer("seed", seed, 0)
    require_flag("in_turn", in_turn)
    targets, keys, choice = map(np.random.default_rng, np.random.SeedSequence(int(seed)).spawn(3))
    # drawn a column after another, so that more facts begin with the same ones
    U = targets.standard_normal((int(m), int(d_out))).T / math.sqrt(d_out)
    V = keys.standard_normal((int(n), int(d_in))).T / math.sqrt(d_in)
    answers = np.arange(n) % m if in_turn else choice.integers(0, m, int(n))
    return Facts(np.ascontiguousarray(U), np.ascontiguousarray(V), torch.from_numpy(answers))
