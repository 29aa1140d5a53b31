"""Equal signals and clipped competitors without a linear system: two lines of products.

Outer products fail first at keys whose signal happens to be low. Let each be divided by its own squared
lengths ``l_ji = |u_j|^2 |v_i|^2``, and let s_kk be the signals of that sum. What they lack is added,

    W_1 = sum_k (1 + (1 - s_kk)) u_k v_k' / l_kk ,

and all signals are one but for a small error. A *clip* then takes from each competitor what it has above
``1 - gamma``,

    W_2 = W_1 - sum_ji (s_ji - (1 - gamma))_+ u_j v_i' / l_ji ,

and the signals are evened again. Few competitors stand so high, so that a clip costs little more than the
scores that show them. It is what `assocmem.memories.clipped` does by solving linear systems, with one step
for each. Vectors are whitened first, so that products of different ones are small in every direction.
"""

from collections.abc import Sequence

import torch

from assocmem.checks import require, require_flag, require_integer, require_number
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.pairs.scores import block_columns, require_finite_products, take_signal
from assocmem.pairs.sizes import column_slices

SPARSE = 0.005
"""Share of the scores of a block up to which those above the level are listed one by one; beyond, products
of whole matrices are faster. By trial."""

MOST_CLIPS = 10_000
"""Rounds at most, so that a slip of the pen does not run for days."""


def even_and_clip(
    pairs: Pairs | Facts, *, clips: int = 1, gamma: float | Sequence[float] = 0.2, whiten: bool = True
) -> torch.Tensor:
    """Even the signals, then clip competitors in rounds.

    Parameters
    ----------
    pairs : Pairs or Facts
    clips : int
        Rounds of clipping, each one pass over the scores; none leaves the evened outer products, which need
        none.
    gamma : float, or sequence of float
        What a clipped competitor is left below the signals, in (0, 1). One for all rounds, or one for each:
        with ten rounds, `falling` margins reach more than equal ones.
    whiten : bool
        Whether vectors are whitened first.

    Returns
    -------
    Tensor, shape (d_out, d_in)
        Its signals are near one, but for zero vectors, which have none.

    Raises
    ------
    ValueError
        For an argument out of range, and vectors so long that their products overflow.
    """
    require_facts(pairs)
    _require_clips(clips, 0)
    margins = _margins(gamma, int(clips))
    require_flag("whiten", whiten)
    U, V, left, right = pairs.U, pairs.V, None, None
    if whiten:
        (left, U), (right, V) = _whitened(U), _whitened(V)
    targets = U if isinstance(pairs, Pairs) else U[:, pairs.answers]
    over_u, over_v = _over_squares(U), _over_squares(V)
    own = over_u[pairs.answers] * over_v

    def evened(W, weights):
        """Signals are brought to one, each as if the others did not feel it."""
        signal = torch.linalg.vecdot(targets, W @ V, dim=0)
        return weights + (1 - signal) * own

    W = targets * own @ V.T
    W = targets * evened(W, own) @ V.T
    require_finite_products(W)
    for margin in margins:
        W = _clip(U, V, pairs.answers, W, 1 - margin, over_u, over_v)
        W = torch.addmm(W, targets * evened(W, 0), V.T)
        require_finite_products(W)
    return left @ W @ right if whiten else W


def falling(clips: int, first: float = 0.2, last: float = 0.03) -> tuple[float, ...]:
    """Margins for rounds of clipping that fall in equal ratios.

    Wide ones first take down all that stands near the signals; small ones then spend nothing on competitors
    that do no harm.

    Parameters
    ----------
    clips : int
        At least 1.
    first, last : float
        In (0, 1).

    Returns
    -------
    tuple of float
        One for each round; of one round ``first``.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    _require_clips(clips, 1)
    require_number("first", first, 0, 1)
    require_number("last", last, 0, 1)
    most = max(1, int(clips) - 1)
    return tuple(float(first) * (float(last) / float(first)) ** (k / most) for k in range(int(clips)))


def _require_clips(clips, least):
    require_integer("clips", clips, least)
    require(clips <= MOST_CLIPS, "clips", clips, f"at most {MOST_CLIPS}")


def _margins(gamma, clips):
    """One margin for each round."""
    if not isinstance(gamma, Sequence) or isinstance(gamma, str | bytes):
        require_number("gamma", gamma, 0, 1)
        return [float(gamma)] * clips
    require(len(gamma) == clips, "gamma", gamma, f"a number, or {clips} of them, one for each round")
    for margin in gamma:
        require_number("gamma", margin, 0, 1)
    return [float(margin) for margin in gamma]


def _whitened(X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A symmetric square root R of the pseudo-inverse of ``X X' d/n``, and ``R X``."""
    d, n = X.shape
    gram = X @ X.T * (d / n)
    require_finite_products(gram)
    sizes, basis = torch.linalg.eigh(gram)
    held = sizes > 4 * max(d, n) * torch.finfo(X.dtype).eps * sizes[-1]
    basis = basis[:, held]
    root = basis / sizes[held].sqrt() @ basis.T
    return root, root @ X


def _over_squares(X: torch.Tensor) -> torch.Tensor:
    """One over the squared length of each vector, and zero for one of length zero."""
    square = torch.linalg.vecdot(X, X, dim=0)
    return torch.where(square > 0, 1 / square, 0)


def _clip(
    U: torch.Tensor,
    V: torch.Tensor,
    answers: torch.Tensor,
    W: torch.Tensor,
    level: float,
    over_u: torch.Tensor,
    over_v: torch.Tensor,
) -> torch.Tensor:
    """W less the outer products of competitors above a level."""
    m, n = U.shape[1], V.shape[1]
    rows, WV, W = U.T.contiguous(), W @ V, W.clone()
    for columns in column_slices(n, block_columns(m, V.element_size(), V.device, keys=n)):
        block = WV[:, columns].T @ U  # the scores of a key lie side by side
        take_signal(block.T, answers[columns], -torch.inf)
        keys, targets = (block > level).nonzero(as_tuple=True)
        if len(keys) <= SPARSE * block.numel():
            excess = (block[keys, targets] - level) * over_u[targets]
            pulled = V.new_zeros(block.shape[0], len(U))
            pulled.index_add_(0, keys, rows[targets] * excess[:, None])
        else:
            pulled = block.sub_(level).clamp_(min=0).mul_(over_u) @ rows
        W.addmm_(pulled.T * over_v[columns], V[:, columns].T, alpha=-1)
    return W
