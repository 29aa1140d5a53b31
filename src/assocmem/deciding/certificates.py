"""Proofs that some memory retrieves an instance, or that none does, and a check that rounding cannot fool.

Needs numpy alone, so that nobody has to trust how a certificate was found:

    python certificates.py FILE...      checks files written by `save`; exit code 0 only if all of them hold,
                                        1 if one does not, 2 if one cannot be read

**What is stored.** There are m targets and n keys, and key i has the target with the number ``a_i`` for its
answer. For pairs, ``m = n`` and ``a_i = i``.

**Retrieval.** Key i is retrieved at level k by a memory W if its signal, the score of its own target, beats
the average of its k best competitors; k = 1 is the top-1 criterion. A *feasible* certificate is such a W.

**No retrieval.** With ``A_ij = (u_a_i - u_j) v_i'``, an *infeasible* certificate is an array of weights
``lam_ij >= 0`` with ``k lam_ij <= sum_j lam_ij`` and ``sum_ij lam_ij A_ij = 0``: were all keys retrieved, the
left-hand side would have a positive product with W. Stored weights are rounded and cancel only nearly,
``R = sum lam A``. But with ``H = sum lam A A'`` and ``H vec(Y) = vec(R)``, the weights
``lam_ij (1 - <A_ij, Y>)`` cancel exactly, and they are weights of the right kind if
``|<A_ij, Y>| <= |A_ij| |R| / lambda_min(H)`` is small enough. So two numbers are to be bounded, ``|R|`` from
above and ``lambda_min(H)`` from below. For k = m - 1 all weights of a key are equal, and H is built from the
sums over its competitors. Where only one key has weights, its target is an average of others, and the gap
``u_a_i - u_j`` takes the place of ``A_ij``.

**Weights that are computed.** The matrix H has a row for each entry of a memory. Where every weight is at
least some *floor* ``f > 0``, it can be replaced by that of the floor alone, ``f sum_ij A A' >= f C (x) B``,
with the centred Gram matrix C of the targets and the Gram matrix B of the keys: two eigenvalues of small
matrices bound the correction, and the floor pays for it. Such weights need not be stored either. A
certificate then holds a memory and a few numbers from which they are computed, block after block, by
`ComputedWeights`. Whatever rounding makes of an exponential is some number, which is compared with the floor;
the bounds concern the weighted sum of the very numbers that came out. Nothing is larger than the vectors, and
the work is that of two passes over the scores.

**Awkward data.** The question does not change when targets, or keys, are mapped by an invertible matrix, nor
when targets are shifted, nor when a key gets another length. Vectors that are far from round are therefore
mapped to rounder ones first, and the error of the map is bounded too. Coordinates that depend on others are
left out, once integers have shown that they do so exactly. Weights on no more than `FEW` comparisons, as
where two keys are equal, are made to cancel in integers, and nothing needs to be bounded.

**Rounding.** Data and certificate are exact binary64 numbers. Sums of products are off by at most
``g(m) = m u / (1 - m u)`` times the sum of absolute values, in whatever order the m operations are done
[Higham, Accuracy and Stability, Section 3.1]. Underflow adds less than `UNDERFLOW` once everything is scaled
to size one. The factor of H is not trusted: ``H - s I - L L'`` is computed, and bounded, for what the
factorisation returned as L. Bounds are rounded up.
"""

import math
import os
import sys
from dataclasses import dataclass, fields

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
ROUND = 1e4
"""Product of the condition numbers of targets and keys up to which they are taken as they are. The smallest
eigenvalue of H is at worst smaller by its square, which double precision affords. Chosen by trial."""
FEW = 100
"""Comparisons up to which weights may be made to cancel in integers."""
LONGEST_WORK = 2**19
"""Binary digits of the longest integers, times comparisons, up to which it is done: a few seconds of work."""
DEPENDENT = 1e-10
"""Share of a row that other rows leave unexplained at which it is worth asking integers whether they explain
all of it. Chosen by trial, well above rounding."""
CANCELLED = 1e-12
"""Error of a mapped vector, over its length, above which it is mapped in integers. Chosen by trial."""
PRIME = 2**31 - 1
"""Rows that are independent modulo this prime are independent. Its products fit in 64 bits."""
SHORT = 2**15 - 1
"""Largest numbers of a fraction that is known from its value modulo the prime."""
TILE = 1024
"""Targets that are summed at a time: the bounds on rounding grow with the longest sum. Chosen by trial."""
SMALL = 2.0**-200
"""Least size of mapped vectors, and over one the largest of anything: no square is lost to underflow."""
WHOLE_CHANGE = 0.99
"""Share of the floor that a correction may take; the rest is far more than what rounding does to this
comparison."""


@dataclass(frozen=True)
class ComputedWeights:
    """Weights given by a memory, which are computed and not stored.

    Targets are scaled by a power of two to entries below one, and their mean is taken off. With
    ``x_j = left u_j`` and ``y_i = right v_i / |right v_i|`` the weight of competitor j of key i is

        sizes_i T(x_j' W y_i - levels_i) + floor (1 + (x_a_i - x_j)' change y_i),

    where T is the exponential for k = 1, and ``1 / (k (1 + exp(-t)))`` otherwise.

    Attributes
    ----------
    left, right : array, shapes (p, d_out) and (q, d_in)
        Maps of targets and keys to vectors that look alike in all directions. Where p or q is less than the
        dimension, the vectors have no more.
    W, change : array, shape (p, q)
    levels, sizes : array, shape (n,)
        The latter are not negative.
    floor : float
        Positive.
    """

    left: np.ndarray
    right: np.ndarray
    W: np.ndarray
    change: np.ndarray
    levels: np.ndarray
    sizes: np.ndarray
    floor: float


@dataclass(frozen=True)
class Certificate:
    """Proof that retrieval at level k is possible or that it is not; one of the three is given.

    Attributes
    ----------
    k : int
        Each signal has to beat the average of its k best competitors.
    W : array, shape (d_out, d_in), or None
        A memory that does it.
    weights : array, shape (m, n), or None
        ``weights[j, i]`` is the weight of competitor j of key i; zero at its own target.
    computed : ComputedWeights or None
        The same where they are not stored.
    """

    k: int
    W: np.ndarray | None = None
    weights: np.ndarray | None = None
    computed: ComputedWeights | None = None

    @property
    def feasible(self) -> bool:
        """What it claims: whether some memory retrieves every pair."""
        return self.W is not None


PARTS = ("W", "weights", "computed")
"""What a certificate can hold."""
RULE = tuple(field.name for field in fields(ComputedWeights))
"""What weights are computed from."""
STORED, COMPUTED, ANSWERED = 1, 2, 3
"""Versions of files for pairs, without and with such weights, and for other facts, with either: for copies of
this script to tell which they can read."""
PREFIX = "computed_"
"""Before the names of these in a file."""


def holds(certificate: Certificate, U: np.ndarray, V: np.ndarray, answers: np.ndarray | None = None) -> bool:
    """Whether a certificate proves its claim about the pairs or facts; never true because of rounding.

    Parameters
    ----------
    certificate : Certificate
    U, V : array or tensor, shapes (d_out, m) and (d_in, n)
        Targets and keys, taken as exact numbers.
    answers : array or tensor of integers, shape (n,), optional
        The target of each key, by its number; by default key i has target i, and shapes are equal.

    Returns
    -------
    bool
        False for whatever is malformed, None among it, does not fit, is no proof, or is one too narrowly for
        double precision.
    """
    parts = well_formed(certificate, U, V, answers)
    if parts is None:
        return False
    k, body, U, V, own = parts
    with np.errstate(all="ignore"):  # inf and nan fail every comparison below
        if isinstance(body, ComputedWeights):
            return _floor_pays(body, U, V, own, k)
        U, V = _unit_scale(U, exact=True), _unit_scale(V, exact=True)
        if U is None or V is None:
            return False
        return (_retrieves if certificate.feasible else _cancels)(body, U, V, own, k)


def well_formed(
    certificate: Certificate, U: np.ndarray, V: np.ndarray, answers: np.ndarray | None = None
) -> tuple[int, np.ndarray | ComputedWeights, np.ndarray, np.ndarray, np.ndarray] | None:
    """A certificate and its data as plain arrays of double precision.

    Nothing is converted that a conversion could change: numbers are floating-point of at most 64 bits.

    Parameters
    ----------
    certificate : Certificate
    U, V : array or tensor, shapes (d_out, m) and (d_in, n)
        Targets and keys.
    answers : array or tensor, shape (n,), optional
        As for `holds`.

    Returns
    -------
    tuple of k, what the certificate holds, U, V and answers, or None
        None if they do not fit together.
    """
    if not isinstance(certificate, Certificate):
        return None
    U, V, k = _matrix(U), _matrix(V), certificate.k
    given = [x for x in (certificate.W, certificate.weights, certificate.computed) if x is not None]
    if U is None or V is None or (answers is None and U.shape != V.shape) or len(given) != 1:
        return None
    (d_out, m), (d_in, n) = U.shape, V.shape
    own = np.arange(n) if answers is None else _numbers(answers)
    if own is None or own.shape != (n,) or min(d_out, d_in, m - 1, n) < 1:
        return None
    if not isinstance(k, (int, np.integer)) or not 1 <= k < m or own.min() < 0 or own.max() >= m:
        return None
    if certificate.computed is not None:
        body = _well_formed_rule(certificate.computed, d_out, d_in, n)
    else:
        body = _matrix(given[0])
        if body is not None and body.shape != ((m, n) if certificate.W is None else (d_out, d_in)):
            body = None
    return None if body is None else (int(k), body, U, V, own)


def _well_formed_rule(rule, d_out, d_in, n):
    """A rule for the weights of n keys in double precision, or None if it does not fit."""
    if not isinstance(rule, ComputedWeights):
        return None
    left, right, W, change = (_matrix(X) for X in (rule.left, rule.right, rule.W, rule.change))
    levels, sizes = (_matrix(x, 1) for x in (rule.levels, rule.sizes))
    floor = _matrix(np.array(rule.floor), 0) if isinstance(rule.floor, float | np.floating) else None
    if any(x is None for x in (left, right, W, change, levels, sizes, floor)):
        return None
    p, q = len(left), len(right)
    fits = left.shape == (p, d_out) and right.shape == (q, d_in) and W.shape == change.shape == (p, q)
    fits = fits and 1 <= p <= d_out and 1 <= q <= d_in and levels.shape == sizes.shape == (n,)
    if not fits or not floor > 0 or not (sizes >= 0).all():
        return None
    return ComputedWeights(left, right, W, change, levels, sizes, float(floor))


def _numbers(answers):
    """An array of integers, in 64 bits; None for anything else."""
    answers = _array(answers)
    known = isinstance(answers, np.ndarray) and answers.dtype.kind in "iu" and answers.dtype != np.uint64
    return answers.astype(np.int64) if known else None


def _array(X):
    """An array of what has the form of one, as tensors of torch have; anything else as it is."""
    try:
        return np.asarray(X) if hasattr(X, "__array__") else X
    except (RuntimeError, TypeError, ValueError):  # of a device, or of a type, that NumPy does not know
        return None


def _matrix(X, dimensions=2):
    """A finite array of floating-point numbers, in double precision; None for anything else."""
    X = _array(X)
    known = isinstance(X, np.ndarray) and X.ndim == dimensions
    known = known and X.dtype.kind == "f" and X.dtype.itemsize <= 8
    return X.astype(np.float64) if known and bool(np.isfinite(X).all()) else None


def save(
    path: str | os.PathLike[str],
    certificate: Certificate,
    U: np.ndarray,
    V: np.ndarray,
    answers: np.ndarray | None = None,
) -> None:
    """Write a certificate with the pairs or facts it is about to a compressed file, in one step.

    Parameters
    ----------
    path : str or path
        Of the file, ``.npz``.
    certificate : Certificate
    U, V : array or tensor, shapes (d_out, m) and (d_in, n)
        Targets and keys.
    answers : array or tensor, shape (n,), optional
        As for `holds`.

    Raises
    ------
    ValueError
        If the certificate is none, or does not fit the rest.
    OSError
        If the file cannot be written; a file that was there is left as it was.
    """
    if well_formed(certificate, U, V, answers) is None:
        what = "U and V" if answers is None else "U, V and the answers"
        raise ValueError(f"certificate = {_named(certificate)}: must be a Certificate that fits {what}")
    if certificate.computed is not None:
        body = {PREFIX + name: getattr(certificate.computed, name) for name in RULE}
    else:
        body = {"W": certificate.W} if certificate.feasible else {"weights": certificate.weights}
    version = _version(answers is not None, certificate.computed is not None)
    if answers is not None:
        body["answers"] = _numbers(answers)
    path = os.path.realpath(path)  # what a link leads to is written, and the link is left
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"path = {path!r}: must be a file, unlike what is there")
    partial = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
    try:
        with open(partial, "wb") as file:
            np.savez_compressed(
                file, format=version, k=certificate.k, U=np.asarray(U), V=np.asarray(V), **body
            )
        os.replace(partial, path)
    except BaseException as error:
        if os.path.exists(partial):
            os.unlink(partial)
        if isinstance(error, OSError) and error.filename == partial:
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _version(answered, computed):
    """Number of the format of a file with such parts."""
    return ANSWERED if answered else COMPUTED if computed else STORED


def _named(certificate):
    """What was given for a certificate, in a few words."""
    if not isinstance(certificate, Certificate):
        return type(certificate).__name__
    return f"one of {', '.join(x for x in PARTS if getattr(certificate, x) is not None) or 'nothing'}"


def load(
    path: str | os.PathLike[str],
) -> tuple[Certificate, np.ndarray, np.ndarray, np.ndarray | None]:
    """Read what `save` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    certificate : Certificate
    U, V : array, shapes (d_out, m) and (d_in, n)
    answers : array, shape (n,), or None
        None for pairs.

    Raises
    ------
    ValueError
        If the file is not of this kind.
    """
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            body = {name: file[name] for name in PARTS if name in file}
            if PREFIX + "W" in file:
                rule = {name: file[PREFIX + name] for name in RULE}
                body["computed"] = ComputedWeights(**rule | {"floor": rule["floor"].item()})
            answers = file.get("answers")
            known = file["format"].item() == _version(answers is not None, "computed" in body)
            result = Certificate(file["k"].item(), **body), file["U"], file["V"], answers
    except Exception as error:
        raise ValueError(f"path = {str(path)!r}: not a certificate ({type(error).__name__})") from None
    if not known:
        raise ValueError(f"path = {str(path)!r}: a certificate of a newer format")
    return result


# --- a memory that retrieves --------------------------------------------------------------------------------


def _retrieves(W, U, V, own, k):
    """Whether every signal exceeds the average of its k best competitors by more than rounding can be."""
    n, terms, W = V.shape[1], len(U) + len(V) + 2, _unit_scale(W)
    if W is None:
        return False
    X = W @ V
    # |fl(s) - s| <= g(terms) |u_j|' |W| |v_i|, and the average of k scores adds g(k + 1) of the largest
    sizes = np.abs(W) @ np.abs(V)
    largest = _norms(U).max() * _norms(sizes) * UPWARD
    doubt = (2 * _g(terms) + _g(k + 8)) * largest * UPWARD + UNDERFLOW
    step = _keys_at_once(U, V)
    for start in range(0, n, step):
        keys = np.arange(start, min(n, start + step))
        S = U.T @ X[:, keys]
        signal, best = _signal_and_best(S, own[keys], k)
        beaten = signal - best > doubt[keys]
        if not beaten.all():  # where targets differ much in length, each score has a doubt of its own
            keys = keys[~beaten]
            S, E = U.T @ X[:, keys], np.abs(U.T) @ sizes[:, keys] * (_g(terms) * UPWARD) + UNDERFLOW
            signal, best = _signal_and_best(S + E, own[keys], k)
            signal -= 2 * E[own[keys], np.arange(len(keys))]
            if not (signal - best > _g(k + 8) * (np.abs(signal) + np.abs(S + E).max(axis=0)) * UPWARD).all():
                return False
    return True


def _signal_and_best(S, own, k):
    """The scores of some keys' own targets, and averages of their k best competitors; overwrites S."""
    m, places = len(S), np.arange(len(own))
    signal = S[own, places].copy()
    S[own, places] = -np.inf
    return signal, S.max(axis=0) if k == 1 else np.partition(S, m - k, axis=0)[m - k :].mean(axis=0)


# --- weights that cancel ------------------------------------------------------------------------------------


def _cancels(weights, U, V, own, k):
    """Whether weights near these are a proof that no memory retrieves."""
    m, n = weights.shape
    if not (weights >= 0).all() or weights[own, np.arange(n)].any() or not weights.any():
        return False
    weights, shared = _unit_scale(weights), k == m - 1
    most = weights.max(axis=0)
    if not weights[~_vanishing(U, V, own)].any():  # the comparisons are themselves zero
        alike = (weights == most) | (weights == 0)
        return k == 1 or bool(alike.all() and ((weights > 0).sum(axis=0) >= k)[weights.any(axis=0)].all())
    if shared and ((weights == most).sum(axis=0) < m - 1).any():
        return False
    weights, U, V, own = _what_plays_a_part(weights, U, V, own)
    few = min(FEW, len(U) * len(V))
    if k == 1 and np.count_nonzero(weights) <= few:
        return _cancels_in_integers(weights, U, V, own, False)
    if k > 1 and shared and len(own) <= few and _cancels_in_integers(weights, U, V, own, True):
        return True
    near = _nearly_cancels if _condition(U) * _condition(V) <= ROUND else _nearly_cancels_when_mapped
    return near(weights, U, V, own, k, shared)


def _what_plays_a_part(weights, U, V, own):
    """All without targets and keys that no weight concerns, and without dependent coordinates."""
    keys = weights.any(axis=0)
    weights, V, own = weights[:, keys], V[:, keys], own[keys]
    if len(own) == 1:  # a target that is an average of others: its key plays no part
        V = np.ones((1, 1))
    there = weights.any(axis=1)
    there[own] = True
    weights, U, own = weights[there], U[:, there], (np.cumsum(there) - 1)[own]
    return weights, U[spanning_rows(U, shifted=True)], V[spanning_rows(V)], own


def _nearly_cancels_when_mapped(weights, U, V, own, k, shared):
    """Whether weights near these cancel, for vectors that prefer some directions, or keys of any lengths."""
    powers = np.frexp(np.abs(V).max(axis=0))[1]
    scaled = _unit_scale(np.ldexp(weights, powers))
    if scaled is None or not ((scaled > 0) == (weights > 0)).all():
        return False
    V, total = np.ldexp(V, -powers), scaled.sum(axis=0)
    centre = U[:, [own[total.argmax()]]]
    height = np.sqrt(np.bincount(own, total, len(scaled)) + scaled.sum(axis=1))
    U, du = mapped(evening_map((U - centre) * height), U, centre)
    V, dv = mapped(evening_map(V * np.sqrt(total)), V, 0 * V[:, :1])
    return _nearly_cancels(scaled, U, V, own, k, shared, du, dv)


def _nearly_cancels(weights, U, V, own, k, shared, du=None, dv=None):
    """Whether weights near these cancel, for vectors whose columns are this far from those that are given."""
    terms, total, u, v = max(weights.shape), weights.sum(axis=0), _norms(U), _norms(V)
    change = 0.5 if k == 1 or shared else _room_below_cap(weights, total, k)
    if not change > 0:
        return False
    rest = (U[:, own] * total - U @ weights) @ V.T
    sizes = v * (u[own] * total + u @ weights)
    residual = (_length(rest) + _g(2 * terms + 8) * sizes.sum()) * UPWARD + UNDERFLOW
    lost = 0.0
    if du is None:
        longest = float(_sizes_of_sums(u, v, own, shared).max())
    else:  # what the maps round away: of every comparison, and then of H
        longest = float(_sizes_of_sums(u + du, v + dv, own, shared).max())
        moved = (v + dv) * (du[own] * total + du @ weights) + dv * (u[own] * total + u @ weights)
        residual += float(moved.sum())
        lost = _lost_in_gram(weights, u, v, own, du, dv, shared) * UPWARD
    needed = residual * longest * UPWARD / change + UNDERFLOW + lost
    return _smallest_eigenvalue_exceeds(needed, weights, total, U, V, own, shared)


def _sizes_of_sums(u, v, own, shared):
    """Bounds on the comparisons of each key, or on the sums of all of them, for vectors of these sizes."""
    return v * ((len(u) * u[own] + u.sum()) if shared else (u[own] + u.max()))


def _lost_in_gram(weights, u, v, own, du, dv, shared):
    """Bound on the change of H when vectors of these sizes change by so much."""
    if shared:
        weights = weights.max(axis=0)
        size, change = len(u) * u[own] + u.sum(), len(du) * du[own] + du.sum()
    else:
        size, change = u[own] + u[:, None], du[own] + du[:, None]
    change = change * (v + dv) + size * dv
    return float((weights * change * (2 * size * v + change)).sum())


def _room_below_cap(weights, total, k):
    """Relative change up to which ``k lam_ij <= sum_j lam_ij`` survives in every weight, at most 1/2."""
    used = total > 0
    ratio = float((total[used] / (k * weights.max(axis=0)[used])).min()) * (1 - _g(2 * len(weights) + 8))
    return min(0.5, 0.99 * (ratio - 1) / (ratio + 1))


def _smallest_eigenvalue_exceeds(needed, weights, total, U, V, own, shared):
    """Whether ``lambda_min(H) >= needed`` for certain."""
    u, v = _norms(U), _norms(V)
    H = _gram(weights, total, U, V, own, shared)
    if shared:
        spread = weights.max(axis=0) * (len(u) * u[own] + u.sum()) ** 2
    else:
        spread = u[own] ** 2 * total + 2 * u[own] * (u @ weights) + u**2 @ weights
    rounding = _g(4 * max(weights.shape) + 20) * float((v**2 * spread).sum()) * UPWARD + UNDERFLOW
    size, trace, largest = len(H), float(H.trace()), float(H.diagonal().max())
    shift = 1.01 * needed + rounding + 2 * _g(size + 4) * trace * UPWARD
    H[np.diag_indices(size)] -= shift
    rounding += 2 * UNIT * (largest + shift)
    error = _error_of_factor(H)
    return error is not None and bool(shift - rounding - error >= needed)


def _error_of_factor(H):
    """A bound on ``H - L L'`` in norm for what is taken for the Cholesky factor L; None if there is none."""
    size = len(H)
    try:
        L = np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return None
    for row in range(size):
        L[row, row + 1 :] = 0
    error, step = 0.0, max(1, BLOCK // size)
    for start in range(0, size, step):  # lower triangle, counted twice
        rows, stop = slice(start, min(size, start + step)), min(size, start + step)
        part = np.tril(H[rows, :stop] - L[rows, :stop] @ L[:stop, :stop].T, start)
        error = np.hypot(error, np.sqrt(2) * _length(part))
    return float((error + _g(size + 4) * _length(L) ** 2) * UPWARD + UNDERFLOW)


def _gram(weights, total, U, V, own, shared):
    """``H`` as a matrix on vec(X) by rows: sum over keys of a matrix in targets (x) ``v_i v_i'``."""
    (a, c), (b, e) = (np.tril_indices(len(X)) for X in (U, V))
    own = U[:, own]
    if shared:
        G = len(weights) * own - U.sum(axis=1, keepdims=True)
        left = G[a] * G[c] * weights.max(axis=0)
    else:
        M = U @ weights
        left = (U[a] * U[c]) @ weights + total * (own[a] * own[c]) - own[a] * M[c] - M[a] * own[c]
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


# --- weights that are computed ------------------------------------------------------------------------------


def weights_of(
    certificate: Certificate, U: np.ndarray, V: np.ndarray, answers: np.ndarray | None = None
) -> np.ndarray | None:
    """The weights of a certificate as an array, whether they are stored or computed.

    Computed ones belong to keys of length one after their map; they are given for the keys as they are.

    Parameters
    ----------
    certificate : Certificate
    U, V : array or tensor, shapes (d_out, m) and (d_in, n)
        Targets and keys.
    answers : array or tensor, shape (n,), optional
        As for `holds`.

    Returns
    -------
    array, shape (m, n), or None
        ``weights[j, i]`` of competitor j of key i; not all finite where a number is too large, or a map
        makes a key zero. None where there are none, or where they do not fit.
    """
    parts = well_formed(certificate, U, V, answers)
    if parts is None or certificate.feasible:
        return None
    k, body, U, V, own = parts
    if certificate.computed is None:
        return body
    weights = np.empty((U.shape[1], V.shape[1]))
    with np.errstate(all="ignore"):  # numbers that are no weights are for the caller to see
        x, _ = _targets_in(body, _unit_scale(U) if U.any() else U)
        y, _, lengths, powers = _keys_in(body, V)
        for keys, block in _computed_blocks(body, x, y, own, k):
            weights[:, keys] = block
        return np.ldexp(weights / lengths, -powers)


def _targets_in(rule, U):
    """Targets less their mean, mapped by a rule, and bounds on the errors of their lengths."""
    return _mapped_by(rule.left, U, U.mean(axis=1, keepdims=True))


def _keys_in(rule, V):
    """Keys mapped by a rule to length one, bounds on their errors, and what they were divided by.

    That is a power of two before, whatever it is, and a length afterwards.
    """
    powers = np.frexp(np.abs(V).max(axis=0))[1]
    y, dy = _mapped_by(rule.right, np.ldexp(V, -powers), 0 * V[:, :1])
    lengths = np.sqrt((y * y).sum(axis=0))  # any number will do, since lengths of keys play no part
    y, dy = y / lengths, (dy / lengths + 2 * UNIT) * UPWARD + UNDERFLOW
    return y, dy, lengths, powers


def _mapped_by(A, X, centre):
    """What a matrix makes of vectors less a centre, and bounds on the lengths of the errors."""
    D = X - centre
    return A @ D, _g(len(X) + 2) * _norms(np.abs(A) @ np.abs(D)) * UPWARD + UNDERFLOW


def _computed_blocks(rule, x, y, own, k):
    """Weights of blocks of keys, as they come out; zero for the own target."""
    n = y.shape[1]
    moves = rule.change.any()
    signal = np.einsum("ij,ij->j", x[:, own], rule.change @ y) if moves else None
    step = _keys_at_once(x, y)
    for start in range(0, n, step):
        keys = np.arange(start, min(n, start + step))
        t = x.T @ (rule.W @ y[:, keys])
        t -= rule.levels[keys]
        if k == 1:
            np.exp(t, out=t)
        else:
            np.negative(t, out=t)
            np.exp(t, out=t)
            t += 1
            t *= k
            np.reciprocal(t, out=t)
        t *= rule.sizes[keys]
        if moves:
            z = x.T @ (rule.change @ y[:, keys])
            np.subtract(signal[keys] + 1, z, out=z)
            z *= rule.floor
            t += z
        else:
            t += rule.floor
        t[own[keys], np.arange(len(keys))] = 0
        yield keys, t


def _keys_at_once(U, V):
    """Keys in a block of scores of these targets and keys."""
    return min(V.shape[1], max(1, BLOCK // U.shape[1]))


def _floor_pays(rule, U, V, own, k):
    """Whether weights near the computed ones are a proof that no memory retrieves."""
    m = U.shape[1]
    U, V = _unit_scale(U, exact=True), _unit_scale(V, exact=True)
    if U is None or V is None or not V.any(axis=0).all():
        return False
    if not max(float(np.abs(A).max()) for A in (rule.left, rule.right)) < 1 / SMALL:
        return False
    (x, dx), (y, dy, lengths, _) = _targets_in(rule, U), _keys_in(rule, V)
    u, v = _norms(x), _norms(y)
    if not (SMALL < u.max() < 1 / SMALL and lengths.min() > SMALL and v.max() < 2):
        return False
    left = _left_by_computed(rule, x, dx, y, dy, own, k)
    smallest = _least_extent(x, dx, centred=True) * _least_extent(y, dy) * (1 - 2.0**-20)
    if left is None or not smallest > 0:
        return False
    residual, least, room = left
    longest = float((u + dx).max() * 2 * (v + dy).max()) * UPWARD
    change = residual / smallest * longest * UPWARD + UNDERFLOW  # of any weight
    paid = change <= WHOLE_CHANGE * least and (k == 1 or change * (m - 1 + k) * UPWARD <= room)
    return bool(paid and _spanned(rule, U, V))


def _left_by_computed(rule, x, dx, y, dy, own, k):
    """Of computed weights: a bound on the length of their sum, the least, and the least room below a cap.

    The sum is that for vectors off by no more than dx and dy; the cap is that of ``k lam_ij`` for k > 1. None
    if a weight is none, or too large.
    """
    (m, n), u, v = (x.shape[1], y.shape[1]), _norms(x), _norms(y)
    rest, rounded, moved, least, room = np.zeros((len(x), len(y))), 0.0, 0.0, np.inf, np.inf
    step = _keys_at_once(x, y)
    longest_sum = min(m, TILE) + m // TILE + step + n // step + 32  # of targets, tiles, keys and blocks
    for keys, weights in _computed_blocks(rule, x, y, own, k):
        answers, places = own[keys], np.arange(len(keys))
        pulled, total, size, change = np.zeros((len(x), len(keys))), 0.0, 0.0, 0.0
        for start in range(0, m, TILE):
            tile = slice(start, min(m, start + TILE))
            part = weights[tile]
            pulled += x[:, tile] @ part
            total, size, change = total + part.sum(axis=0), size + u[tile] @ part, change + dx[tile] @ part
        most = weights.max(axis=0)
        weights[answers, places] = np.inf
        if not (weights.min() > 0 and most.max() < 1 / SMALL):
            return None
        least = min(least, float(weights.min()))
        slack = total * (1 - _g(longest_sum)) - k * most * UPWARD
        room = min(room, float(slack.min()))
        rest += (x[:, answers] * total - pulled) @ y[:, keys].T
        size, change = u[answers] * total + size, dx[answers] * total + change
        rounded += float((v[keys] * size).sum())
        moved += float(((v + dy)[keys] * change + dy[keys] * size).sum())
    residual = (_length(rest) + (_g(2 * longest_sum) * rounded + moved) * UPWARD) * UPWARD + UNDERFLOW
    return residual, least, room


def _spanned(rule, U, V):
    """Whether maps to fewer dimensions lose nothing, since the vectors have no more."""
    p, q = len(rule.left), len(rule.right)
    targets = p >= min(len(U), U.shape[1] - 1) or len(spanning_rows(U, shifted=True)) == p
    return targets and (q >= min(V.shape) or len(spanning_rows(V)) == q)


def _least_extent(X, error, *, centred=False):
    """A lower bound on the smallest eigenvalue of ``X X'`` for vectors this far from X, or zero."""
    n = X.shape[1]
    if centred:
        centre, doubt = X.mean(axis=1, keepdims=True), _g(n + 4) * _norms(X).mean()
        X = X - centre
        error = error + (error.mean() + doubt + 2 * UNIT * _norms(X)) * UPWARD
    sizes = _norms(X)
    G, off = X @ X.T, float((2 * sizes * error + error**2 + _g(n + 2) * sizes**2).sum()) * UPWARD
    shift = float(np.linalg.eigvalsh(G)[0]) * 0.999
    G[np.diag_indices(len(G))] -= shift
    left_over = _error_of_factor(G)
    if left_over is None or not shift > 0:
        return 0.0
    return max(0.0, (shift - left_over - off - 2 * UNIT * float(np.abs(G).max()) * UPWARD) * (1 - 2.0**-20))


# --- awkward data -------------------------------------------------------------------------------------------


def _condition(X):
    """Largest over smallest singular value, without guarantee; it only decides which way to go."""
    values = np.linalg.svd(X, compute_uv=False)
    return float(values[0] / values[-1]) if len(X) <= X.shape[1] else np.inf


def evening_map(X: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """A matrix that gives the columns of X about as much extent in every direction in which they have any.

    Nothing is promised, and nothing that is proved relies on it.

    Parameters
    ----------
    X : array, shape (d, n)
    floor : float
        Share of the largest extent below which one counts as none.

    Returns
    -------
    array, shape (d, d)
    """
    A = np.diag(np.ldexp(1.0, -np.frexp(np.abs(X).max(axis=1))[1]))
    for least in (floor, 0.1 if floor else 0.0):  # the second time corrects what the first could not resolve
        left, values, _ = np.linalg.svd(A @ X, full_matrices=False)
        A = (left / np.maximum(values, max(least * values[0], UNDERFLOW))).T @ A
        A[values < floor * values[0]] = 0  # else multiples of it, as large as one over the floor, come in
    return A


def mapped(A: np.ndarray, X: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors less a centre, mapped by a matrix times a power of two that makes the largest about one.

    Columns that the map all but cancels are mapped in integers.

    Parameters
    ----------
    A : array, shape (r, d)
    X : array, shape (d, n)
    centre : array, shape (d, 1)

    Returns
    -------
    mapped : array, shape (r, n)
    error : array, shape (n,)
        Bounds on the lengths of the errors.
    """
    A = np.ldexp(A, -np.frexp(np.abs(A @ (X - centre)).max())[1])
    Y, error = _mapped_by(A, X, centre)
    poor = np.flatnonzero(error > CANCELLED * _norms(Y))
    if len(poor):
        (rows, power), (columns, more) = _integers(A), _integers(np.column_stack([X[:, poor], centre]))
        Y[:, poor] = _floats(rows @ (columns[:, :-1] - columns[:, -1:]), power + more)
        error[poor] = 8 * UNIT * _norms(Y[:, poor]) * UPWARD + UNDERFLOW
    return Y, error


def spanning_rows(X: np.ndarray, *, shifted: bool = False) -> np.ndarray:
    """Rows on which all others depend exactly; all rows where that is not so, or cannot be told.

    Parameters
    ----------
    X : array, shape (d, n)
    shifted : bool
        Whether they need to depend on these only up to constants, as coordinates of targets may.

    Returns
    -------
    array of int
    """
    kept = _independent_rows(X - X[:, :1] if shifted else X)
    if not 0 < len(kept) < len(X):
        return np.arange(len(X))
    Z = _integers(X)[0] if shifted else np.column_stack([_integers(x)[0] for x in X.T])
    Z = (Z - Z[:, :1] if shifted else Z)[[*kept, *np.setdiff1d(np.arange(len(X)), kept)]]
    # as many independent rows as there are columns leave nothing to depend on anything else
    whole = len(kept) == X.shape[1] - shifted
    whole = whole and _eliminated(Z[: len(kept)], len(kept), PRIME).any(axis=1).all()
    ok = whole or _rest_depends(Z, len(kept))
    return np.sort(kept) if ok else np.arange(len(X))


def _independent_rows(X):
    """Rows of which the others are combinations, as far as double precision shows, the largest first."""
    sizes = np.abs(X).max(axis=0)
    R = X[:, sizes > 0] / sizes[sizes > 0]
    kept, whole = [], np.sqrt((R * R).sum(axis=1))
    for _ in range(min(R.shape)):
        share = np.sqrt((R * R).sum(axis=1)) / np.where(whole > 0, whole, 1)
        row = int(share.argmax())
        if not share[row] > DEPENDENT:
            break
        kept.append(row)
        unit = R[row] / np.sqrt(R[row] @ R[row])
        for _ in range(2):  # twice, so that what is left is at right angles in spite of rounding
            R = R - np.outer(R @ unit, unit)
        R[row] = 0
    return kept


def _rest_depends(Z, count):
    """Whether all rows of integers depend on the first few; most that do not are seen modulo a prime.

    Modulo the prime one also sees how they depend. Where that is in a simple way, as for coordinates that are
    zero or there twice, it is confirmed at once; only where it is not, integers are eliminated, which grow.
    """
    first, rest, n = Z[:count], Z[count:], Z.shape[1]
    left = _eliminated(np.hstack([Z, np.eye(len(Z), dtype=int)]), count, PRIME)[count:]
    if left[:, :n].any():
        return False
    combined = left[:, n : n + count], left[:, n + count :].diagonal()
    hard = [z for z, *how in zip(rest, *combined, strict=True) if not _is_combined(z, first, *how)]
    return not hard or not _eliminated(np.vstack([first, hard]), count)[count:].any()


def _is_combined(z, rows, shares, own):
    """Whether ``own z + shares rows`` vanishes not only modulo a prime, if the shares are short fractions."""
    used, inverse = np.flatnonzero(shares), pow(int(own), -1, PRIME)
    short = [_short_fraction(-int(share) * inverse % PRIME) for share in shares[used]]
    if None in short:
        return False
    whole = math.lcm(*(below for _, below in short))
    left = whole * z
    for row, (above, below) in zip(rows[used], short, strict=True):
        left = left - above * (whole // below) * row
    return not left.any()


def _short_fraction(x):
    """Short numbers ``(a, b)`` with ``x = a / b`` modulo the prime, by Euclid's algorithm, or None."""
    (a, b), (above, below) = (PRIME, 0), (x, 1)
    while above > SHORT:
        (a, b), (above, below) = (above, below), (a % above, b - a // above * below)
    return None if abs(below) > SHORT else (above if below > 0 else -above, abs(below))


def _eliminated(Z, count, modulus=None):
    """What is left of each row of integers when the first few before it are eliminated, up to a factor."""
    Z, last = Z.copy() if modulus is None else (Z % modulus).astype(np.int64), 1
    for row in range(count):
        if not Z[row].any():
            continue
        column = int(np.flatnonzero(Z[row])[0])
        pivot, below = Z[row, column], Z[row + 1 :]
        below = below * pivot - below[:, [column]] * Z[row]
        Z[row + 1 :] = below // last if modulus is None else below % modulus  # Bareiss: nothing is left over
        last = pivot
    return Z


def _cancels_in_integers(weights, U, V, own, shared):
    """Whether weights on few comparisons, or on sums of them, cancel.

    Some may stay as they are, and the others are what that demands.
    """
    j, i = np.nonzero(weights)
    if shared:
        j, i = (own == 0).astype(int), np.arange(len(own))  # any competitor: all have the same weight
    keys = np.column_stack([_integers(x)[0] for x in V.T])  # of any lengths
    A = (_gaps(_integers(U)[0], own, j, i, shared)[:, None] * keys[None][:, :, i]).reshape(-1, len(i))
    if max(abs(a) for a in A.reshape(-1)).bit_length() * len(i) ** 2 > LONGEST_WORK:
        return False
    if _eliminated(A.T, len(i), PRIME).any(axis=1).all():
        return False  # the comparisons are independent
    lengths = np.abs(V).max(axis=0)[i]
    sizes = weights[j, i] * lengths / (weights[j, i] * lengths).max()
    gaps = _gaps(U, own, j, i, shared)
    rows = _independent_rows((gaps[:, None] * (V[:, i] / lengths)).reshape(len(A), -1))
    R, solved, last = A[rows], [], 1
    for row in range(len(rows)):  # Gauss and Jordan, without fractions
        columns = np.flatnonzero(R[row])
        columns = columns[~np.isin(columns, solved)]
        if not len(columns):
            return False
        column = int(columns[sizes[columns].argmax()])
        pivot, line = R[row, column], R[row].copy()
        R = (R * pivot - R[:, [column]] * line) // last
        R[row], last = line, pivot
        solved.append(column)
    exact = np.array([int(np.ldexp(x, 60)) for x in sizes], dtype=object)
    exact[solved] = 0
    left = R @ exact
    exact = exact * abs(last)
    exact[solved] = -left if last > 0 else left
    return bool((exact >= 0).all() and exact.any() and not (A @ exact).any())


def _gaps(U, own, j, i, shared):
    """Targets of keys i less competitors j, or the sums of that over all competitors."""
    if shared:
        return U.shape[1] * U[:, own[i]] - U.sum(axis=1)[:, None]
    return U[:, own[i]] - U[:, j]


def _integers(X):
    """Integers of Python, and the power of two that they have to be multiplied by to be these numbers."""
    mantissa, power = np.frexp(X)
    least = int(power[mantissa != 0].min(initial=0))
    mantissa, power = np.ldexp(mantissa, 53).astype(np.int64), np.where(mantissa != 0, power - least, 0)
    values = [int(m) << int(p) for m, p in zip(mantissa.reshape(-1), power.reshape(-1), strict=True)]
    return np.array(values, dtype=object).reshape(X.shape), least - 53


def _floats(Z, power):
    """Integers of Python times a power of two, as floating-point numbers with two roundings at most."""
    short = [max(0, z.bit_length() - 60) for z in Z.reshape(-1)]
    values = [np.ldexp(float(z >> s), s + power) for z, s in zip(Z.reshape(-1), short, strict=True)]
    return np.array(values).reshape(Z.shape)


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
    """``X`` times a power of two with largest entry in [1/2, 1); None if not finite, or not exact, or zero.

    Vectors that are all zero are exact as they are: then every comparison is zero.
    """
    top = np.abs(X).max(initial=0.0)
    if exact and X.size and top == 0:
        return X
    if not 0 < top < np.inf:
        return None
    power = -int(np.frexp(top)[1])
    scaled = np.ldexp(X, power)
    return None if exact and not (np.ldexp(scaled, -power) == X).all() else scaled


def _vanishing(U, V, own):
    """Which comparisons are zero, since two targets are equal or the key is zero, shape (m, n)."""
    _, group = np.unique(U, axis=1, return_inverse=True)
    group = group.reshape(-1)
    return (group[:, None] == group[own]) | ~V.any(axis=0)


def _main(paths):
    """Check files and say what was found; the exit code."""
    if not paths:
        print("usage: python certificates.py FILE...", file=sys.stderr)
        return 2
    code = 0
    for path in paths:
        try:
            certificate, U, V, answers = load(path)
        except ValueError as error:
            print(error, file=sys.stderr)
            code = 2
            continue
        good = holds(certificate, U, V, answers)
        claim = "some memory retrieves" if certificate.feasible else "no memory retrieves"
        what = f"pairs, (d, n) = {U.shape}"
        if answers is not None:
            what = f"facts, targets {U.shape}, keys {V.shape}"
        size = f"all {what}, at k = {certificate.k}"
        print(f"{path}: {claim} {size}: {'proved' if good else 'NOT proved'}")
        code = max(code, int(not good))
    return code


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
