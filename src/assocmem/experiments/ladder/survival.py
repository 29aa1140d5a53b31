"""What a memory survives: noise, few bits, few entries, low rank, keys that are overwritten.

Six of the harms leave every score what it was, up to a factor, and add noise of a known spread. How many keys
survive can then be told from the scores alone, before any noise is drawn. Key i has the signal s and the
competitors s_j, and the noise on them is Gaussian: given that on the signal, z spreads of it, the noise on a
competitor has a mean and a spread that follow from two inner products of targets. Taking the competitors as
independent given z, key i is retrieved with probability

    E_z prod_j Phi((s + sigma z - s_j - mean_j(z)) / spread_j).

Noise xi on the query becomes ``U' W xi``, so that two targets share noise as ``W' u`` and ``W' u_j`` do.
Noise on the memory becomes ``U' Z v_i``, and they share it as u and u_j do. Rounding and the like are taken
for noise on the memory of their own relative variance (`assocmem.memories.compression.relative_error`): that
is a guess, which fails where the error is no noise.
"""

import math
from functools import lru_cache

import numpy as np
import torch

from assocmem.checks import require, require_choice, require_number
from assocmem.memories.compression import low_rank, relative_error, rounded, sparsified
from assocmem.pairs.data import Facts, Pairs, derived_seed, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins, score_blocks, take_signal

QUERY, MEMORY, BITS, BITS_ROWS, BITS_RANDOM, ENTRIES, RANK, OVERWRITTEN = HARMS = (
    "query",
    "memory",
    "bits",
    "bits_rows",
    "bits_stochastic",
    "entries",
    "rank",
    "overwritten",
)
"""What happens to a memory. The size of a harm is the spread of noise relative to the length of a
key, or to the memory; bits of an entry with one scale for all, with one for each row, and with random
rounding; the share of the entries that is kept; the share of the rank; and the share of the keys that get
another target later."""

LARGEST_MARGIN, DELTA_STREAM = SPECIAL = ("largest_margin", "delta_stream")
"""Beside the rules of `assocmem.experiments.ladder.rules`: the memory that has the most to lose, and the
delta rule with the step that keeps the most keys of an endless stream, ``4 e log(n) / d``, but at most one.
The step of the rule itself is the best one for n keys that are each written once."""

MARGIN_GAP = 3e-3
"""Gap to which it is found."""

DRAWS = 16
"""Draws of noise over which retrieved keys are counted. Each has noise of its own for every key, or for every
entry of the memory."""

WIDEST, NODES = 6.0, 41
"""Noise on a signal, in its spreads, over which the prediction is averaged: evenly spaced nodes, at which an
integral over a smooth function with normal weights is accurate to many digits."""

LEAST_SPREAD = 1e-12
"""Spread of a competitor relative to its noise below which it counts as certain."""

NONE_LEFT = 1e6
"""Spread of noise for a memory of which nothing is left."""


@lru_cache(maxsize=128)
def written(rule: str, n: int, d: int, seed: int) -> tuple[Pairs, torch.Tensor]:
    """An instance and the memory that a rule writes for it; kept, since many harms are done to one.

    Parameters
    ----------
    rule : str
        A name of `assocmem.experiments.ladder.rules.RULES`, or one of `SPECIAL`.
    n, d, seed : int
        As in `gaussian_pairs`.

    Returns
    -------
    Pairs and Tensor
        Not to be changed.

    Raises
    ------
    ValueError
        For another rule.
    ArithmeticError
        If the rule finds nothing.
    """
    pairs = gaussian_pairs(n, d, seed=seed)
    return pairs, write(rule, pairs)


def write(rule: str, pairs: Pairs) -> torch.Tensor:
    """The memory that a rule writes.

    Parameters
    ----------
    rule : str
        As in `written`.
    pairs : Pairs

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For another rule.
    ArithmeticError
        If no memory was found that has a margin.
    """
    if rule == LARGEST_MARGIN:
        from assocmem.deciding.largest_margin import largest_margin

        found = largest_margin(pairs, gap=MARGIN_GAP)
        if not found.converged:
            at = f"n = {pairs.n}, d = {pairs.d_in}"
            raise ArithmeticError(f"{rule}, {at}: gap {found.gap:.1e} after {found.passes} passes")
        return found.W
    if rule == DELTA_STREAM:
        from assocmem.memories.delta_rule import delta_memory

        return delta_memory(pairs, step=min(1.0, 4 * math.e * math.log(pairs.n) / pairs.d_in))
    from assocmem.experiments.ladder.rules import RULES

    require_choice("rule", rule, (*RULES, *SPECIAL))
    return RULES[rule].write(pairs)


def retrieved_share(pairs: Pairs | Facts, W: torch.Tensor) -> float:
    """Share of the keys whose signal is above all competitors.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)

    Returns
    -------
    float
    """
    return float((retrieval_margins(pairs, W) > 0).double().mean())


def harmed(W: torch.Tensor, harm: str, size: float, seed: int) -> torch.Tensor:
    """A memory after something was done to it.

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
    harm : str
        One of `HARMS` that concerns the memory, so neither the query nor overwritten keys.
    size : float
        As `HARMS` says.
    seed : int
        Of noise and of random rounding.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For another harm or a size out of range.
    """
    require_choice("harm", harm, (MEMORY, BITS, BITS_ROWS, BITS_RANDOM, ENTRIES, RANK))
    require_size(harm, size)
    if harm == MEMORY:
        return W + size * float(W.norm()) / math.sqrt(W.numel()) * _normal(W, seed)
    if harm == ENTRIES:
        return sparsified(W, size)
    if harm == RANK:
        return low_rank(W, max(1, round(size * min(W.shape))))
    return rounded(W, int(size), rows=harm == BITS_ROWS, seed=seed if harm == BITS_RANDOM else None)


def require_size(harm: str, size: float) -> None:
    """Check that a size is one of a harm.

    Parameters
    ----------
    harm : str
        One of `HARMS`.
    size : float

    Raises
    ------
    ValueError
        Naming what would be one.
    """
    require_choice("harm", harm, HARMS)
    require_number("size", size, 0, 100)
    require(size_allowed(harm, size), "size", size, size_words(harm))


def size_allowed(harm: str, size: float) -> bool:
    """Whether a positive size is one of a harm.

    Parameters
    ----------
    harm : str
        One of `HARMS`.
    size : float

    Returns
    -------
    bool
    """
    if harm in (BITS, BITS_ROWS, BITS_RANDOM):
        return size == int(size) and 1 <= size <= 16
    return size <= (1 if harm in (ENTRIES, RANK, OVERWRITTEN) else 100)


def size_words(harm: str) -> str:
    """What a size of a harm may be.

    Parameters
    ----------
    harm : str
        One of `HARMS`.

    Returns
    -------
    str
        The end of a message.
    """
    if harm in (BITS, BITS_ROWS, BITS_RANDOM):
        return "a number of bits, an integer from 1 to 16"
    return "a share, at most 1" if harm in (ENTRIES, RANK, OVERWRITTEN) else "at most 100"


def measured_survival(pairs: Pairs | Facts, W: torch.Tensor, harm: str, size: float, seed: int) -> float:
    """Share of the keys that are retrieved after a harm, over `DRAWS` draws where there is something to draw.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)
    harm : str
        One of `HARMS` but for overwritten keys.
    size : float
        As `HARMS` says.
    seed : int
        Of the draws.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For another harm or a size out of range.
    """
    require_choice("harm", harm, HARMS[:-1])
    require_size(harm, size)
    draws = DRAWS if harm in (QUERY, MEMORY, BITS_RANDOM) else 1
    shares = []
    for k in range(draws):
        own = derived_seed(seed, HARMS.index(harm), k)
        if harm == QUERY:
            noise = _normal(pairs.V, own) / math.sqrt(pairs.d_in)
            shares.append(retrieved_share(pairs.with_vectors(pairs.U, pairs.V + size * noise), W))
        else:
            shares.append(retrieved_share(pairs, harmed(W, harm, size, own)))
    return sum(shares) / draws


def noise_of(W: torch.Tensor, harm: str, size: float, seed: int = 0) -> float:
    """Spread of the noise that a harm comes to, relative to the memory, or of a query to the length of a key.

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
    harm : str
        One of `HARMS` but for overwritten keys.
    size : float
        As `HARMS` says.
    seed : int
        Of random rounding.

    Returns
    -------
    float
        At most `NONE_LEFT`.

    Raises
    ------
    ValueError
        For another harm or a size out of range.
    """
    require_choice("harm", harm, HARMS[:-1])
    require_size(harm, size)
    if harm in (QUERY, MEMORY):
        return float(size)
    return min(NONE_LEFT, math.sqrt(relative_error(W, harmed(W, harm, size, seed))))


def predicted_survival(pairs: Pairs | Facts, W: torch.Tensor, spread: float, *, query: bool = False) -> float:
    """Share of the keys that should be retrieved under noise, from the scores, without drawing any.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)
    spread : float
        Of the noise on each entry of W relative to their root mean square, or, for a query, of noise ``spread
        N(0, I / d_in)`` on each key; positive.
    query : bool
        Which of the two.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a spread out of range.
    """
    require_number("spread", spread, 0)
    if query:
        sources, size = W.T @ pairs.U, spread / math.sqrt(pairs.d_in)
    else:
        sources, size = pairs.U, spread * float(W.norm()) / math.sqrt(W.numel())
    square = sources.square().sum(dim=0)
    own, lengths = square[pairs.answers], torch.linalg.vector_norm(pairs.V, dim=0)
    z = torch.linspace(-WIDEST, WIDEST, NODES, dtype=W.dtype, device=W.device)
    weights = torch.softmax(-z.square() / 2, dim=0)
    survived = 0.0
    for columns, block in score_blocks(pairs, W):
        answers = pairs.answers[columns]
        signal = take_signal(block, answers, -math.inf)
        scale = size * (torch.ones_like(signal) if query else lengths[columns])
        root = own[columns].clamp(min=1e-300).sqrt()
        along = (sources.T @ sources[:, answers]) / root  # what a competitor shares, for a unit of z
        rest = (square[:, None] - along.square()).clamp(min=LEAST_SPREAD**2 * float(square.max()) + 1e-300)
        gap, slope = signal - block, root - along
        rest = rest.sqrt()
        offset, tilt = gap / (rest * scale.clamp(min=1e-300)), slope / rest
        keys = torch.arange(len(answers), device=W.device)
        offset[answers, keys], tilt[answers, keys] = math.inf, 0.0
        chance = torch.zeros_like(signal)
        for node, weight in zip(z.tolist(), weights.tolist(), strict=True):
            chance += weight * torch.special.log_ndtr(offset + node * tilt).sum(dim=0).exp()
        survived += float(chance.sum())
    return survived / pairs.n


def overwritten_shares(rule: str, n: int, d: int, share: float, seed: int) -> tuple[float, float]:
    """What a rule makes of keys that come a second time, later, with a new target.

    Parameters
    ----------
    rule : str
        As in `written`.
    n, d, seed : int
        Of the first pairs, as in `gaussian_pairs`.
    share : float
        Of the keys, drawn at random, that come again; in (0, 1].

    Returns
    -------
    old, new : float
        Share of the other keys that still retrieve their only target, nan where there are none; and of these
        that retrieve the new one, above the old and all others.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_size(OVERWRITTEN, share)
    pairs = gaussian_pairs(n, d, seed=seed)
    count = max(1, round(share * n))
    own = derived_seed(seed, HARMS.index(OVERWRITTEN))
    again = torch.from_numpy(np.random.default_rng(own).permutation(n)[:count])
    later = gaussian_pairs(max(2, count), d, seed=derived_seed(own, 0)).U[:, :count]
    both = Pairs(torch.cat([pairs.U, later], dim=1), torch.cat([pairs.V, pairs.V[:, again]], dim=1))
    held = retrieval_margins(both, write(rule, both)) > 0
    alone = torch.ones(n, dtype=torch.bool)
    alone[again] = False
    return float(held[:n][alone].double().mean()), float(held[n:].double().mean())


def measure_survival(n: int, d: int, rule: str, harm: str, size: float, seed: int) -> dict[str, float | None]:
    """All that is to be told about one harm to one memory.

    Parameters
    ----------
    n, d, seed : int
        As in `gaussian_pairs`.
    rule : str
        As in `written`.
    harm : str
        One of `HARMS`.
    size : float
        As `HARMS` says.

    Returns
    -------
    dict
        Shares of keys ``retrieved`` after the harm, ``predicted`` from the scores before, and ``intact``
        without any harm; the ``spread`` of the noise that it comes to; and of keys that were overwritten the
        share that retrieve their ``new`` target, while ``retrieved`` are the others.
    """
    if harm == OVERWRITTEN:
        old, new = overwritten_shares(rule, n, d, size, seed)
        old = None if math.isnan(old) else old
        return {"retrieved": old, "predicted": None, "intact": None, "spread": None, "new": new}
    pairs, W = written(rule, n, d, seed)
    found = measured_survival(pairs, W, harm, size, seed)
    spread = noise_of(W, harm, size, seed)
    predicted = 1.0 if not spread else predicted_survival(pairs, W, spread, query=harm == QUERY)
    predicted = retrieved_share(pairs, W) if not spread else predicted
    shares = {"retrieved": found, "predicted": predicted, "intact": retrieved_share(pairs, W)}
    return shares | {"spread": spread, "new": None}


def _normal(like: torch.Tensor, seed: int) -> torch.Tensor:
    """Standard normal numbers, the same on every device."""
    drawn = np.random.default_rng(seed).standard_normal(tuple(like.shape))
    return torch.from_numpy(drawn).to(like)
