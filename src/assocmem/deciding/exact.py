"""Certificates checked in exact rational arithmetic, for dimensions up to about 20.

Nothing is bounded here because nothing is rounded: the data are integers over a power of two. Weights that
nearly cancel are made to cancel by solving for some of them over the rationals, as many as there are
independent comparisons, and looked at again.
"""

import flint
import numpy as np
from scipy.linalg import qr

from assocmem.checks import require
from assocmem.deciding.certificates import Certificate, weights_of, well_formed
from assocmem.deciding.comparisons import as_given_to_verifier
from assocmem.pairs.data import Facts, Pairs

LARGEST_DIMENSION = 24
"""Dimension up to which exact arithmetic takes no more than about a minute."""
WEIGHT_BITS = 60
"""Binary digits after the point to which weights, the largest of size one, are rounded before they are made
to cancel. Short numbers make exact arithmetic fast, and what rounding spoils is corrected with the rest."""
SINGULAR = 1e-13
"""Pivot over the first up to which a comparison counts as a combination of others: several hundred roundings
of double precision. Chosen by trial."""

PRIME = 2**61 - 1
"""Rows that are independent modulo this prime are independent."""


def holds_exactly(certificate: Certificate, pairs: Pairs | Facts) -> bool:
    """Whether a certificate proves its claim about these pairs, in exact arithmetic.

    Parameters
    ----------
    certificate : Certificate
    pairs : Pairs or Facts
        Of dimension at most 24, where this takes a minute; the work grows as d^8.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the dimension is too large.
    """
    d = max(pairs.d_out, pairs.d_in)
    require(d <= LARGEST_DIMENSION, "pairs", f"dimension {d}", f"at most {LARGEST_DIMENSION}")
    parts = well_formed(certificate, *as_given_to_verifier(pairs))
    if parts is None:
        return False
    k, body, U, V, own = parts
    if certificate.feasible:
        return _retrieves(_integers(body), _integers(U), _integers(V), own, k)
    weights = weights_of(certificate, U, V, own)
    if not np.isfinite(weights).all():
        return False
    powers = np.frexp(np.abs(V).max(axis=0))[1]  # lengths of keys play no part: they go to the weights
    with np.errstate(over="ignore"):
        weights = np.ldexp(weights, powers)
    if not np.isfinite(weights).all():
        return False
    return _cancels(weights, _integers(U), _key_integers(V, powers), own, k)


def _retrieves(W, U, V, own, k):
    """Whether every signal exceeds the average of its k best competitors."""
    S = U.T @ (W @ V)
    best = (sorted(np.delete(S[:, i], a))[len(S) - 1 - k :] for i, a in enumerate(own))
    return all(k * S[a, i] > sum(rivals) for i, (a, rivals) in enumerate(zip(own, best, strict=True)))


def _cancels(weights, U, V, own, k):
    """Whether weights near these are a proof that no memory retrieves, by making them cancel exactly."""
    m, n = weights.shape
    if (weights < 0).any() or weights[own, np.arange(n)].any() or not weights.any():
        return False
    exact = _integers(np.rint(np.ldexp(weights / weights.max(), WEIGHT_BITS)))
    used = exact.any(axis=0)
    if np.count_nonzero(used) == 1 and V[:, used].any():  # one key: its target alone is at stake
        V = np.ones((1, n), dtype=object)
    left = U[:, own] * exact.sum(axis=0) - U @ exact
    rest = (left @ V.T).reshape(-1)
    if k == m - 1:  # one weight for all competitors of a key
        if not all(len(set(np.delete(exact[:, i], a))) == 1 for i, a in enumerate(own)):
            return False
        targets, keys = m * U[:, own] - U.sum(axis=1)[:, None], np.arange(n)
        sizes = exact[1 - (own > 0), keys].astype(float)
    else:
        j, keys = np.nonzero(exact)
        targets, sizes = U[:, own[keys]] - U[:, j], exact[j, keys].astype(float)
    columns = _independent(targets, V[:, keys], sizes)
    if not len(columns):
        return not rest.any() and _capped(exact, k)
    A = (targets[:, None, columns] * V[None][:, :, keys[columns]]).reshape(len(rest), -1)
    rows = _independent_rows(A)
    if len(rows) < len(columns):
        return False
    change = flint.fmpz_mat(A[rows].tolist()).solve(flint.fmpz_mat([[x] for x in rest[rows]]))
    if flint.fmpz_mat(A.tolist()) * change != flint.fmpq_mat(flint.fmpz_mat([[x] for x in rest])):
        return False
    corrected = exact * flint.fmpq(1)
    for place, column in enumerate(columns):
        where = (slice(None), keys[column]) if k == m - 1 else (j[column], keys[column])
        corrected[where] = corrected[where] - change[place, 0]
    corrected[own, np.arange(n)] = flint.fmpq(0)
    return all(x >= 0 for x in corrected.reshape(-1)) and _capped(corrected, k)


def _capped(weights, k):
    """Whether the weights of each key are at most their sum over k, and not all are zero."""
    total = weights.sum(axis=0)
    within = all(k * max(weights[:, i]) <= total[i] for i in range(len(total)))
    return bool(within and any(x > 0 for x in total))


def _independent(targets, V, sizes):
    """Indices of comparisons of which all others are combinations up to rounding, of large weight first."""
    A = (_even(targets)[:, None] * _even(V)[None]).reshape(-1, len(sizes))
    R, order = qr(A * (sizes / sizes.max()), mode="r", pivoting=True)
    pivots = np.abs(R.diagonal())
    return order[: np.count_nonzero(pivots > SINGULAR * pivots.max(initial=0))]


def _independent_rows(A):
    """Indices of rows of integers, as many as its columns if these are independent, modulo a prime."""
    reduced, rank = flint.nmod_mat(flint.fmpz_mat(A.T.tolist()), PRIME).rref()
    return [next(j for j in range(len(A)) if int(reduced[i, j])) for i in range(rank)]


def _even(X):
    """Integers as floating-point vectors, mapped so that they have about one extent in all directions."""
    tops = [max(map(abs, x)) or 1 for x in X]
    X = np.array([[x / top for x in row] for row, top in zip(X, tops, strict=True)])
    for _ in range(2):
        left, values, _ = np.linalg.svd(X, full_matrices=False)
        kept = values > SINGULAR * values.max(initial=0)
        X = (left[:, kept] / values[kept]).T @ X
    return X


def _integers(X):
    """Floating-point numbers times a common power of two, as Python integers."""
    return _with_power(X)[0]


def _key_integers(V, powers):
    """Keys without their lengths: the column ``v_i 2^-powers_i``, times a common power of two."""
    columns = [_with_power(v) for v in V.T]
    shift = max(int(p) - q for (_, q), p in zip(columns, powers, strict=True))
    return np.column_stack([z * 2 ** (q + shift - int(p)) for (z, q), p in zip(columns, powers, strict=True)])


def _with_power(X):
    """Python integers, and the power of two that they have to be multiplied by to be these numbers."""
    mantissa, exponent = np.frexp(np.asarray(X, dtype=np.float64))
    mantissa = np.ldexp(mantissa, 53).astype(np.int64)
    least = int(exponent[mantissa != 0].min(initial=0))
    shifts = np.where(mantissa != 0, exponent - least, 0)
    values = [int(m) << int(s) for m, s in zip(mantissa.reshape(-1), shifts.reshape(-1), strict=True)]
    return np.array(values, dtype=object).reshape(mantissa.shape), least - 53
