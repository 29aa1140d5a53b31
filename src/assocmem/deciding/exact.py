"""Certificates checked in exact rational arithmetic, for dimensions up to about 20.

Nothing is bounded here because nothing is rounded: the data are integers over a power of two. Weights that
nearly cancel are made to cancel by solving for d^2 of them over the rationals, and looked at again.
"""

import flint
import numpy as np
from scipy.linalg import qr

from assocmem.checks import require
from assocmem.deciding.certificates import Certificate, well_formed
from assocmem.pairs.data import Pairs

LARGEST_DIMENSION = 24
"""Dimension up to which exact arithmetic takes no more than about a minute."""
WEIGHT_BITS = 60
"""Binary digits after the point to which weights, the largest of size one, are rounded before they are made
to cancel. Short numbers make exact arithmetic fast, and what rounding spoils is corrected with the rest."""
SINGULAR = 1e-13
"""Last pivot over the first up to which comparisons do not count as a basis of all matrices: several hundred
roundings of double precision. Chosen by trial."""


def holds_exactly(certificate: Certificate, pairs: Pairs) -> bool:
    """Whether a certificate proves its claim about these pairs, in exact arithmetic.

    Parameters
    ----------
    certificate : Certificate
    pairs : Pairs
        Of dimension at most 24, where this takes a minute; the work grows as d^8.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the dimension is too large.
    """
    require(pairs.d <= LARGEST_DIMENSION, "pairs", f"dimension {pairs.d}", f"at most {LARGEST_DIMENSION}")
    parts = well_formed(certificate, *(X.detach().cpu().numpy() for X in (pairs.U, pairs.V)))
    if parts is None:
        return False
    k, W, weights, U, V = parts
    U, V = _integers(U), _integers(V)
    return _cancels(weights, U, V, k) if W is None else _retrieves(_integers(W), U, V, k)


def _retrieves(W, U, V, k):
    """Whether every signal exceeds the average of its k best competitors."""
    S = U.T @ (W @ V)
    signal = S.diagonal().copy()
    n = len(S)
    rivals = (sorted(np.delete(S[:, i], i))[n - 1 - k :] for i in range(n))
    return all(k * signal[i] > sum(best) for i, best in enumerate(rivals))


def _cancels(weights, U, V, k):
    """Whether weights near these are a proof that no memory retrieves, by making them cancel exactly."""
    n = U.shape[1]
    if (weights < 0).any() or weights.diagonal().any() or not weights.any():
        return False
    exact = _integers(np.rint(np.ldexp(weights / weights.max(), WEIGHT_BITS)))
    if np.count_nonzero(exact.any(axis=0)) == 1:  # one key: its target alone is at stake
        V = np.ones((1, n), dtype=object)
    left = U * exact.sum(axis=0) - U @ exact
    rest = (left @ V.T).reshape(-1)
    if k == n - 1:  # one weight for all competitors of a key
        if not all(len(set(np.delete(exact[:, i], i))) == 1 for i in range(n)):
            return False
        targets, keys = n * U - U.sum(axis=1)[:, None], np.arange(n)
        sizes = exact[1 - (keys > 0), keys].astype(float)
    else:
        j, keys = np.nonzero(exact)
        targets, sizes = U[:, keys] - U[:, j], exact[j, keys].astype(float)
    columns = _independent(targets, V[:, keys], sizes)
    if columns is None:
        return not rest.any() and _capped(exact, k)
    A = (targets[:, None, columns] * V[None][:, :, keys[columns]]).reshape(len(rest), -1)
    change = flint.fmpz_mat(A.tolist()).solve(flint.fmpz_mat([[x] for x in rest]))
    corrected = exact * flint.fmpq(1)
    for place, column in enumerate(columns):
        where = (slice(None), keys[column]) if k == n - 1 else (j[column], keys[column])
        corrected[where] = corrected[where] - change[place, 0]
    np.fill_diagonal(corrected, flint.fmpq(0))
    return all(x >= 0 for x in corrected.reshape(-1)) and _capped(corrected, k)


def _capped(weights, k):
    """Whether the weights of each key are at most their sum over k, and not all are zero."""
    total = weights.sum(axis=0)
    within = all(k * max(weights[:, i]) <= total[i] for i in range(len(total)))
    return bool(within and any(x > 0 for x in total))


def _independent(targets, V, sizes):
    """Indices of comparisons that are a basis of all matrices, of large weight first; None if none are."""
    size = len(targets) * len(V)
    if len(sizes) < size:
        return None
    A = (_unit(targets)[:, None] * _unit(V)[None]).reshape(size, -1) * (sizes / sizes.max())
    R, order = qr(A, mode="r", pivoting=True)
    if not abs(R[size - 1, size - 1]) > SINGULAR * abs(R[0, 0]):
        return None
    return order[:size]


def _unit(X):
    """Integers as floating-point numbers of size one."""
    top = max(abs(x) for x in X.reshape(-1)) or 1
    return np.array([x / top for x in X.reshape(-1)], dtype=np.float64).reshape(X.shape)


def _integers(X):
    """Floating-point numbers times a common power of two, as Python integers."""
    mantissa, exponent = np.frexp(np.asarray(X, dtype=np.float64))
    mantissa = np.ldexp(mantissa, 53).astype(np.int64)
    least = int(exponent[mantissa != 0].min(initial=0))
    shifts = np.where(mantissa != 0, exponent - least, 0)
    values = [int(m) << int(s) for m, s in zip(mantissa.reshape(-1), shifts.reshape(-1), strict=True)]
    return np.array(values, dtype=object).reshape(mantissa.shape)
