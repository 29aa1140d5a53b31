"""What a repair in place does to the signals of other keys: it makes the base grow, and it echoes.

In a sum of outer products pair i adds ``<u_k, u_i> <v_i, v_k>`` to the signal of key k, and pair k adds the
same number to the signal of key i. A signal that is low because of a neighbour has its own pair stored once
more with a large weight, and through the same product that neighbour is lowered: an echo. Over all keys
together it takes ``load (q + gamma f)`` from every signal, q being the share of deficient keys and f the
density of margins at gamma.
"""

from dataclasses import dataclass

import numpy as np

from assocmem.checks import require_number
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, require_pairs
from assocmem.pairs.scores import retrieval_margins, signals_and_rivals

WINDOW = 0.1
"""Half the width of the window around gamma in which margins are counted for their density."""


@dataclass(frozen=True)
class Echoes:
    """One instance, repaired once in place.

    Attributes
    ----------
    crosstalk : ndarray, shape (n,)
        What the other pairs add to the signal of each key in the base.
    added : ndarray, shape (n,)
        What the repair of the other keys adds to it.
    mean_weight : float
        Mean weight of the repair over all keys, 0 for those that are not deficient.
    lost : float
        ``load (q + gamma f)``, with q and f counted on the instance.
    """

    crosstalk: np.ndarray
    added: np.ndarray
    mean_weight: float
    lost: float


def echoes(pairs: Pairs, *, gamma: float) -> Echoes:
    """What one repair in place adds to the signals of the other keys.

    Parameters
    ----------
    pairs : Pairs
    gamma : float
        Margin at or below which a key is repaired, positive.

    Returns
    -------
    Echoes

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_pairs(pairs)
    require_number("gamma", gamma, 0)
    W = correlation_memory(pairs)
    margins = retrieval_margins(pairs, W)
    deficient = margins <= gamma
    weights = (2 * gamma - margins) * deficient
    own = (pairs.U**2).sum(dim=0) * (pairs.V**2).sum(dim=0)
    signals, _ = signals_and_rivals(pairs, W)
    repaired, _ = signals_and_rivals(pairs, (pairs.U * weights) @ pairs.V.T)
    density = float(((margins - gamma).abs() < WINDOW).double().mean()) / (2 * WINDOW)
    lost = pairs.n / pairs.d**2 * (float(deficient.double().mean()) + gamma * density)
    return Echoes(
        (signals - own).cpu().numpy(), (repaired - weights * own).cpu().numpy(), float(weights.mean()), lost
    )
