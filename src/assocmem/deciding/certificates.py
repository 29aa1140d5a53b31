"""Proofs that some memory retrieves an instance, or that none does, and a check that rounding cannot fool.

Needs numpy alone, so that nobody has to trust how a certificate was found:

    python certificates.py FILE...      checks files written by `save`; exit code 0 only if all of them hold

**Retrieval.** Key i is retrieved at level k by a memory W if its signal beats the average of its k best
competitors; k = 1 is the top-1 criterion. A *feasible* certificate is such a W.

**No retrieval.** With ``A_ij = (u_i - u_j) v_i'``, an *infeasible* certificate is an array of weights
``lam_ij >= 0`` with ``k lam_ij <= sum_j lam_ij`` and ``sum_ij lam_ij A_ij = 0``: were all keys retrieved, the
left-hand side would have a positive product with W. Stored weights are rounded and cancel only nearly,
``R = sum lam A``. But with ``H = sum lam A A'`` and ``H vec(Y) = vec(R)``, the weights
``lam_ij (1 - <A_ij, Y>)`` cancel exactly, and they are weights of the right kind if
``|<A_ij, Y>| <= |A_ij| |R| / lambda_min(H)`` is small enough. So two numbers are to be bounded, ``|R|`` from
above and ``lambda_min(H)`` from below. For k = n - 1 all weights of a key are equal, and H is built from the
sums over its competitors. Where only one key has weights, its target is an average of others, and the gap
``u_i - u_j`` takes the place of ``A_ij``.

**Rounding.** Data and certificate are exact binary64 numbers. Sums of products are off by at most
``g(m) = m u / (1 - m u)`` times the sum of absolute values, in whatever order the m operations are done
[Higham, Accuracy and Stability, Section 3.1]. Underflow adds less than `UNDERFLOW` once everything is scaled
to size one. The factor of H is not trusted: ``H - s I - L L'`` is computed, and bounded, for what the
factorisation returned as L. Bounds are rounded up.
"""

import sys
from dataclasses import dataclass
from os import PathLike

import numpy as np

UNIT = 2.0**-53
"""Relative rounding error of one operation in double precision, rounded to nearest."""
UNDERFLOW = 2.0**-900
"""More than all that is lost to underflow once everything is scaled to size one: a single operation loses no
more than ``2^-1074``."""
UPWARD = 1 + 2.0**-20
"""Factor by which bounds are rounded up. They are sums of nonnegative terms, of which rounding takes less: a
share of ``2^-20`` only from ``2^33`` terms on."""
BLOCK = 2**23
"""Entries of a matrix that are worked on at once, 64 MiB in double precision: little beside the matrices that
are held whole. Chosen by trial."""
FORMAT = 1
"""Version of the files that `save` writes, for later versions of this script to tell."""


@dataclass(frozen=True)
class Certificate:
    """Proof that retrieval at level k is possible or that it is not; one of the two arrays is given.

    Attributes
    ----------
    k : int
        Each signal has to beat the average of its k best competitors.
    W : array, shape (d, d), or None
        A memory that does it.
    weights : array, shape (n, n), or None
        ``weights[j, i]`` is the weight of competitor j of key i; zero on the diagonal.
    """

    k: int
    W: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def feasible(self) -> bool:
        """What it claims: whether some memory retrieves every pair."""
        return self.W is not None


def holds(certificate: Certificate, U: np.ndarray, V: np.ndarray) -> bool:
    """Whether a certificate proves its claim about the pairs; never true because of rounding.

    Parameters
    ----------
    certificate : Certificate
    U, V : array, shape (d, n)
        Targets and keys, taken as exact numbers.

    Returns
    -------
    bool
        False for whatever is malformed, does not fit the pairs, is no proof, or is one too narrowly for
        double precision.
    """
    parts = well_formed(certificate, U, V)
    if parts is None:
        return False
    k, W, weights, U, V = parts
    U, V = _unit_scale(U, exact=True), _unit_scale(V, exact=True)
    if U is None or V is None:
        return False
    with np.errstate(all="ignore"):  # inf and nan fail every comparison below
        return _cancels(weights, U, V, k) if W is None else _retrieves(W, U, V, k)


def well_formed(
    certificate: Certificate, U: np.ndarray, V: np.ndarray
) -> tuple[int, np.ndarray | None, np.ndarray | None, np.ndarray, np.ndarray] | None:
    """A certificate and its data as plain arrays of double precision.

    Nothing is converted that a conversion could change: numbers are floating-point of at most 64 bits.

    Parameters
    ----------
    certificate : Certificate
    U, V : array, shape (d, n)
        Targets and keys.

    Returns
    -------
    tuple of k, W, weights, U and V, or None
        None if they do not fit together.
    """
    U, V, W, weights = (_matrix(X) for X in (U, V, certificate.W, certificate.weights))
    if U is None or V is None or U.shape != V.shape or (W is None) == (weights is None):
        return None
    (d, n), k = U.shape, certificate.k
    if not isinstance(k, (int, np.integer)) or not 1 <= k < n or min(d, n - 1) < 1:
        return None
    fits = weights.shape == (n, n) if W is None else W.shape == (d, d)
    return (int(k), W, weights, U, V) if fits else None


def _matrix(X):
    """A finite matrix of floating-point numbers, in double precision; None for anything else."""
    known = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float16, np.float32, np.float64)
    return X.astype(np.float64) if known and bool(np.isfinite(X).all()) else None


def save(path: str | PathLike[str], certificate: Certificate, U: np.ndarray, V: np.ndarray) -> None:
    """Write a certificate with the pairs it is about to a compressed file.

    Parameters
    ----------
    path : str or path
        Of the file, ``.npz``.
    certificate : Certificate
    U, V : array, shape (d, n)
        Targets and keys.
    """
    body = {"W": certificate.W} if certificate.feasible else {"weights": certificate.weights}
    with open(path, "wb") as file:
        np.savez_compressed(file, format=FORMAT, k=certificate.k, U=np.asarray(U), V=np.asarray(V), **body)


def load(path: str | PathLike[str]) -> tuple[Certificate, np.ndarray, np.ndarray]:
    """Read what `save` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    certificate : Certificate
    U, V : array, shape (d, n)

    Raises
    ------
    ValueError
        If the file is not of this kind.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            body = {name: file[name] for name in ("W", "weights") if name in file}
            known = file["format"].item() == FORMAT
            result = Certificate(file["k"].item(), **body), file["U"], file["V"]
    except Exception as error:
        raise ValueError(f"path = {str(path)!r}: not a certificate ({type(error).__name__})") from None
    if not known:
        raise ValueError(f"path = {str(path)!r}: a certificate of a newer format")
    return result


# --- a memory that retrieves --------------------------------------------------------------------------------


def _retrieves(W, U, V, k):
    """Whether every signal exceeds the average of its k best competitors by more than rounding can be."""
    (d, n), W = U.shape, _unit_scale(W)
    if W is None:
        return False
    X = W @ V
    # |fl(s) - s| <= g(2 d + 2) |u_j|' |W| |v_i|, and the average of k scores adds g(k + 1) of the largest
    largest = _norms(U).max() * _norms(np.abs(W) @ np.abs(V)) * UPWARD
    doubt = (2 * _g(2 * d + 2) + _g(k + 8)) * largest * UPWARD + UNDERFLOW
    for start in range(0, n, max(1, BLOCK // n)):
        keys = np.arange(start, min(n, start + max(1, BLOCK // n)))
        S = U.T @ X[:, keys]
        signal = S[keys, keys - start].copy()
        S[keys, keys - start] = -np.inf
        best = S.max(axis=0) if k == 1 else np.partition(S, n - k, axis=0)[n - k :].mean(axis=0)
        if not (signal - best > doubt[keys]).all():
            return False
    return True


# --- weights that cancel ------------------------------------------------------------------------------------


def _cancels(weights, U, V, k):
    """Whether weights near these are a proof that no memory retrieves."""
    n = U.shape[1]
    if not (weights >= 0).all() or np.diagonal(weights).any():
        return False
    weights = _unit_scale(weights)
    if weights is None:
        return False
    even = bool((weights + np.diag(weights.max(axis=0)) == weights.max(axis=0)).all())
    if (k == 1 or even) and not weights[~_vanishing(U, V)].any():
        return True  # the comparisons are themselves zero
    shared = k == n - 1
    if shared and not even:
        return False
    total = weights.sum(axis=0)
    if np.count_nonzero(total) == 1:  # a target that is an average of others: its key plays no part
        V = np.ones((1, n))
    u, v = _norms(U), _norms(V)
    change = 0.5 if k == 1 or shared else _room_below_cap(weights, total, k)
    if not change > 0:
        return False
    rest = (U * total - U @ weights) @ V.T
    sizes = v * (u * total + u @ weights)
    longest = float((v * ((n * u + u.sum()) if shared else (u + u.max()))).max())  # of sum_j A_ij, or A_ij
    residual = (_length(rest) + _g(2 * n + 8) * sizes.sum()) * UPWARD + UNDERFLOW
    needed = residual * longest * UPWARD / change + UNDERFLOW
    return _smallest_eigenvalue_exceeds(needed, weights, total, U, V, u, v, shared)


def _room_below_cap(weights, total, k):
    """Relative change up to which ``k lam_ij <= sum_j lam_ij`` survives in every weight, at most 1/2."""
    used = total > 0
    ratio = float((total[used] / (k * weights.max(axis=0)[used])).min()) * (1 - _g(2 * len(total) + 8))
    return min(0.5, 0.99 * (ratio - 1) / (ratio + 1))


def _smallest_eigenvalue_exceeds(needed, weights, total, U, V, u, v, shared):
    """Whether ``lambda_min(H) >= needed`` for certain."""
    n = len(total)
    H = _gram(weights, total, U, V, shared)
    if shared:
        spread = weights.max(axis=0) * (n * u + u.sum()) ** 2
    else:
        spread = u**2 * total + 2 * u * (u @ weights) + u**2 @ weights
    rounding = _g(4 * n + 20) * float((v**2 * spread).sum()) * UPWARD + UNDERFLOW
    size, trace, largest = len(H), float(H.trace()), float(H.diagonal().max())
    shift = 1.01 * needed + rounding + 2 * _g(size + 4) * trace * UPWARD
    H[np.diag_indices(size)] -= shift
    rounding += 2 * UNIT * (largest + shift)
    try:
        L = np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return False
    for row in range(size):
        L[row, row + 1 :] = 0
    error, step = 0.0, max(1, BLOCK // size)
    for start in range(0, size, step):  # H - L L', lower triangle, counted twice
        rows, stop = slice(start, min(size, start + step)), min(size, start + step)
        part = np.tril(H[rows, :stop] - L[rows, :stop] @ L[:stop, :stop].T, start)
        error = np.hypot(error, np.sqrt(2) * _length(part))
    error = (error + _g(size + 4) * _length(L) ** 2) * UPWARD + UNDERFLOW
    return bool(shift - rounding - error >= needed)


def _gram(weights, total, U, V, shared):
    """``H`` as a matrix on vec(X) by rows: sum over keys of a matrix in targets (x) ``v_i v_i'``."""
    (a, c), (b, e) = (np.tril_indices(len(X)) for X in (U, V))
    if shared:
        G = len(total) * U - U.sum(axis=1, keepdims=True)
        left = G[a] * G[c] * weights.max(axis=0)
    else:
        M = U @ weights
        left = (U[a] * U[c]) @ weights + total * (U[a] * U[c]) - U[a] * M[c] - M[a] * U[c]
    K = left @ (V[b] * V[e]).T
    H = np.empty((len(U), len(V), len(U), len(V)))
    rows, columns = _places(len(U)), _places(len(V))
    for row in range(len(U)):
        H[row] = K[rows[row]][:, columns].transpose(1, 0, 2)
    return H.reshape(len(U) * len(V), -1)


def _places(d):
    """Where entry (a, c) of a symmetric matrix stands among those of its lower triangle."""
    a, c = np.tril_indices(d)
    place = np.empty((d, d), dtype=np.intp)
    place[a, c] = place[c, a] = np.arange(len(a))
    return place


# --- small tools --------------------------------------------------------------------------------------------


def _g(m):
    """Share of the sum of absolute values by which a sum of m products in double precision may be off."""
    return m * UNIT / (1 - m * UNIT)


def _norms(X):
    """Euclidean norms of the columns, from above; squares of small numbers do not underflow."""
    power = np.frexp(np.abs(X).max(axis=0))[1]
    scaled = np.ldexp(X, -power)
    return np.ldexp(np.sqrt((scaled * scaled).sum(axis=0)), power) * UPWARD + UNDERFLOW


def _length(X):
    """Frobenius norm, from above."""
    return float(_norms(X.reshape(-1, 1))[0])


def _unit_scale(X, *, exact=False):
    """``X`` times a power of two with largest entry in [1/2, 1); None if zero, not finite, or not exact."""
    top = np.abs(X).max(initial=0.0)
    if not 0 < top < np.inf:
        return None
    power = -int(np.frexp(top)[1])
    scaled = np.ldexp(X, power)
    return None if exact and not (np.ldexp(scaled, -power) == X).all() else scaled


def _vanishing(U, V):
    """Which comparisons are zero, since two targets are equal or the key is zero, shape (n, n)."""
    _, group = np.unique(U, axis=1, return_inverse=True)
    return (group.reshape(-1, 1) == group.reshape(1, -1)) | ~V.any(axis=0)


def _main(paths):
    """Check files and say what was found; the exit code."""
    if not paths:
        print("usage: python certificates.py FILE...", file=sys.stderr)
        return 2
    failed = False
    for path in paths:
        try:
            certificate, U, V = load(path)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        good = holds(certificate, U, V)
        claim = "some memory retrieves" if certificate.feasible else "no memory retrieves"
        size = f"all pairs, (d, n) = {U.shape}, at k = {certificate.k}"
        print(f"{path}: {claim} {size}: {'proved' if good else 'NOT proved'}")
        failed |= not good
    return int(failed)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
