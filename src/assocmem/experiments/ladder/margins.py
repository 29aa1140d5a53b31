"""Worst margins of the memories that rules write, beside the largest margin that any memory has."""

import math

from assocmem.deciding.largest_margin import largest_margin
from assocmem.experiments.ladder.rules import RULES
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import retrieval_margins

COMPARED = ("outer_products", "least_squares", "muon", "evened", "even_clip", "even_clip_ten", "four_clips")
"""Rules whose margins are measured, beside cross-entropy."""


def measure_margins(n: int, d: int, seed: int, *, gap: float = 1e-3) -> dict[str, float]:
    """The largest margin of an instance with its bound, and how much of it rules reach.

    Parameters
    ----------
    n, d, seed : int
        As in `gaussian_pairs`.
    gap : float
        As in `largest_margin`.

    Returns
    -------
    dict
        ``margin`` and ``bound`` in spreads, so times d over ``|W|_F``; the number of comparisons that have a
        weight (``weighted``), and ``passes``; and for each rule its worst margin over ``|W|_F`` as a share of
        the largest, negative where it does not retrieve all pairs.

    Raises
    ------
    ArithmeticError
        If no memory with a margin was found, or none so near the bound.
    """
    pairs = gaussian_pairs(n, d, seed=seed)
    best = largest_margin(pairs, gap=gap)
    if not best.converged:
        at = f"n = {n}, d = {d}, seed = {seed}"
        raise ArithmeticError(f"{at}: margin {best.margin:.3g}, bound {best.bound:.3g}, {best.passes} passes")
    spread = math.sqrt(pairs.entries)
    found = {"margin": best.margin * spread, "bound": best.bound * spread}
    found |= {"weighted": len(best.weights), "passes": best.passes}
    for name in (*COMPARED, "cross_entropy"):
        W = RULES[name].write(pairs)
        found[name] = float(retrieval_margins(pairs, W).min()) / float(W.norm()) / best.margin
    return found
