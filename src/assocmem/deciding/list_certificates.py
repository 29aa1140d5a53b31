"""Proofs that some memory has every signal q spreads high, or that none has, checked so that rounding cannot
fool (not in the paper).

Needs numpy alone, and what `assocmem.deciding.certificates` has for bounds on rounding.

**The question.** For a share r of the list, ``q = Phi^-1(1 - r)`` and ``kappa = q / sqrt(d)`` with d the
dimension of the targets. Is there a memory W with ``u_i' W v_i > kappa |W v_i|`` for all keys? Each key asks
for a second-order cone.

**A memory.** A *feasible* certificate is such a W.

**None.** An *infeasible* certificate has weights ``lam_i >= 0``, not all zero, and vectors e_i in the unit
ball with

    sum_i lam_i (u_i - kappa e_i) v_i' = 0.

For any W the left-hand side has the product ``sum lam_i (u_i' W v_i - kappa e_i' W v_i)`` with it, in which
every term with a positive weight would be positive, since ``e_i' W v_i <= |W v_i|``. That is a contradiction.

**Weights that cancel nearly.** With ``f_i = kappa e_i`` as it is computed, what is left is ``R = sum lam_i
(u_i - f_i) v_i'``. With ``M = sum lam_i v_i v_i'`` the vectors ``f_i + R M^-1 v_i`` cancel exactly, since
``sum lam_i R M^-1 v_i v_i' = R``. They are of the right kind as long as ``|f_i| + |R| |v_i| / lambda_min(M)
<= kappa``. So an upper bound on ``|R|`` and a lower bound on ``lambda_min(M)``, both with everything that
rounding can do, prove the claim if the e_i leave a little room in the unit ball. Coordinates of keys that
depend exactly on others are left out first, so that M is regular where keys lie in a subspace. Keys may be
multiplied by powers of two, each by its own, and coordinates of keys too.

**The quantile.** q is not a number that a computer has. `level_bounds` gives two neighbouring
floating-point numbers with q between them, from the series of the normal law in decimal arithmetic of as many
digits as it takes. A memory is asked to do it for the upper one, which is harder. Weights have to prove
that it cannot be done for the lower one, which is easier, so that it cannot be done for q either.

**Half of the list.** For r = 1/2 there is no cone but a half-space, ``u_i' W v_i > 0``, so that all e_i are
zero and have no room. The weights are then a proof that no memory has each signal beat the score of a target
that is zero, which `assocmem.deciding.certificates` checks. What half of the list proves, it proves for any
smaller share.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from assocmem.deciding import certificates as proofs
from assocmem.deciding.certificates import UNDERFLOW, UNIT, UPWARD, spanning_rows

SPARE_DIGITS = 60
"""Decimal digits of a tail of the normal law that are known beyond its leading zeros."""

FARTHEST = 40.0
"""The tail of the normal law beyond it is smaller than any positive floating-point number."""

LARGEST_TABLE = 2**25
"""Targets times keys up to which a certificate for half of the list is checked, 256 MiB of weights."""


@dataclass(frozen=True)
class ListCertificate:
    """Proof that all signals can be q spreads high for a share of the list, or that they cannot.

    Attributes
    ----------
    r : float
        The share of the list, in (0, 1/2].
    W : array, shape (d_out, d_in), or None
        A memory that does it.
    weights : array, shape (n,), or None
        Not negative; given with the vectors, where no memory does it.
    vectors : array, shape (d_out, n), or None
        In the unit ball.
    """

    r: float
    W: np.ndarray | None = None
    weights: np.ndarray | None = None
    vectors: np.ndarray | None = None

    @property
    def feasible(self) -> bool:
        """What it claims: whether some memory does it."""
        return self.W is not None


@lru_cache(maxsize=256)
def level_bounds(r: float) -> tuple[float, float]:
    """Neighbouring floating-point numbers with ``Phi^-1(1 - r)`` between them, for certain.

    Parameters
    ----------
    r : float
        In (0, 1/2], taken as an exact number.

    Returns
    -------
    low, high : float
        Both zero for r = 1/2.

    Raises
    ------
    ValueError
        For a share out of range.
    """
    if not (isinstance(r, float | np.floating) and 0 < r <= 0.5):
        raise ValueError(f"r = {r!r}: must be a float in (0, 1/2]")
    if r == 0.5:
        return 0.0, 0.0
    low, high, exact = 0.0, FARTHEST, Decimal(float(r))
    while (middle := low + (high - low) / 2) not in (low, high):
        least, most = _tail(middle, exact)
        if least > exact:  # the tail falls, so that its quantile is farther out
            low = middle
        elif most < exact:
            high = middle
        else:  # too near to tell, which only widens the bounds
            return math.nextafter(middle, 0), math.nextafter(middle, math.inf)
    return low, high


def _tail(x, size):
    """Bounds on ``1 - Phi(x)`` for x >= 0, tight if it is about as large as ``size`` or larger.

    ``Phi(x) - 1/2`` is ``phi(x)`` times ``x + x^3 / 3 + x^5 / (3 5) + ...``, of which all terms are positive.
    """
    digits = SPARE_DIGITS - min(0, size.adjusted())
    with localcontext() as context:
        context.prec = digits + 10
        context.Emin, context.Emax = -(10**6), 10**6
        x = Decimal(x)
        square = x * x
        term, total, odd = x, x, 1
        while True:
            odd += 2
            term = term * square / odd
            total += term
            # the terms left fall faster than by halves
            if 2 * square < odd and term < total * Decimal(10) ** (-digits):
                break
        density = (-square / 2).exp() / (2 * _pi(digits)).sqrt()
        half = density * (total + term)
        # each operation is off by less than 10^(1 - prec) of its result, in all by far less than this
        doubt = Decimal(10) ** (-digits) * 3 * odd + 2 * density * term
        tail = Decimal("0.5") - half
        return tail - doubt, tail + doubt


def _pi(digits):
    """The circle's number to so many digits, by Machin's formula in integers."""
    one = 10 ** (digits + 10)

    def arc(part):  # of the arc tangent of one over an integer
        power, total, odd, sign = one // part, 0, 1, 1
        while power:
            total += sign * (power // odd)
            power, odd, sign = power // part**2, odd + 2, -sign
        return total

    return Decimal(4 * (4 * arc(5) - arc(239))) / one


def list_holds(
    certificate: ListCertificate, U: np.ndarray, V: np.ndarray, r: float, answers: np.ndarray | None = None
) -> bool:
    """Whether a certificate proves its claim about pairs or facts; never true because of rounding.

    Parameters
    ----------
    certificate : ListCertificate
    U, V : array or tensor, shapes (d_out, m) and (d_in, n)
        Targets and keys, taken as exact numbers.
    r : float
        Share of the list, that of the certificate.
    answers : array or tensor of integers, shape (n,), optional
        The target of each key, by its number; by default key i has target i, and shapes are equal.

    Returns
    -------
    bool
        False for whatever is malformed, None among it, does not fit, is no proof, or is one too narrowly for
        double precision.
    """
    parts = _well_formed(certificate, U, V, r, answers)
    if parts is None:
        return False
    certificate, U, V, own = parts
    with np.errstate(all="ignore"):  # inf and nan fail every comparison below
        if certificate.feasible:
            return _all_high(certificate.W, U[:, own], V, float(r))
        return _cancels(certificate.weights, certificate.vectors, U, V, own, float(r))


def _well_formed(certificate, U, V, r, answers):
    """A certificate and its data as plain arrays of double precision; None if they do not fit together."""
    if not isinstance(certificate, ListCertificate):
        return None
    for share in (r, certificate.r):
        if not isinstance(share, float | np.floating) or not 0 < share <= 0.5:
            return None
    share = float(r)
    U, V = proofs._matrix(U), proofs._matrix(V)
    if share != float(certificate.r) or U is None or V is None or (answers is None and U.shape != V.shape):
        return None
    (d_out, m), (d_in, n) = U.shape, V.shape
    own = np.arange(n) if answers is None else proofs._numbers(answers)
    if own is None or own.shape != (n,) or min(d_out, d_in, m, n) < 1 or own.min() < 0 or own.max() >= m:
        return None
    fits = _body(certificate, d_out, d_in, n)
    return None if fits is None else (ListCertificate(share, *fits), U, V, own)


def _body(certificate, d_out, d_in, n):
    """What a certificate holds as arrays of double precision, or None if it is not of these shapes."""
    given = [x is not None for x in (certificate.W, certificate.weights, certificate.vectors)]
    if given == [True, False, False]:
        W = proofs._matrix(certificate.W)
        return None if W is None or W.shape != (d_out, d_in) else (W, None, None)
    weights, vectors = proofs._matrix(certificate.weights, 1), proofs._matrix(certificate.vectors)
    if given[0] or weights is None or vectors is None:
        return None
    return (None, weights, vectors) if weights.shape == (n,) and vectors.shape == (d_out, n) else None


def _scaled_columns(X):
    """Columns times powers of two that make their largest entries about one, and these powers."""
    powers = np.frexp(np.abs(X).max(axis=0))[1]
    scaled = np.ldexp(X, -powers)
    return (scaled, powers) if (np.ldexp(scaled, powers) == X).all() else (None, None)


def _lengths(X):
    """Lengths of columns, off by no more than the share ``g(rows + 4)``; no square is lost to underflow."""
    powers = np.frexp(np.abs(X).max(axis=0))[1]
    shares = np.ldexp(X, -powers)
    return np.ldexp(np.sqrt((shares * shares).sum(axis=0)), powers)


def _slopes(r, d, power):
    """Bounds on ``q / sqrt(d)`` times a power of two."""
    low, high = level_bounds(r)
    root = math.sqrt(d)
    low, high = low / math.nextafter(root, math.inf), high / math.nextafter(root, 0)
    low, high = (float(np.ldexp(x, power)) for x in (low, high))
    return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf) if high else 0.0


# --- a memory -----------------------------------------------------------------------------------------------


def _all_high(W, targets, V, r):
    """Whether every signal exceeds q spreads by more than rounding can be."""
    V, _ = _scaled_columns(V)
    W, power = proofs._unit_scale(W), -int(np.frexp(np.abs(targets).max())[1])
    scaled = np.ldexp(targets, power)
    if V is None or W is None or not (np.ldexp(scaled, -power) == targets).all():
        return False
    kappa = _slopes(r, len(targets), power)[1]
    terms = len(targets) + len(V) + 16
    Z, sizes = W @ V, np.abs(W) @ np.abs(V)
    signal = np.einsum("ij,ij->j", scaled, Z)
    length = _lengths(Z)
    # every coordinate of W v_i is off by no more than g(d_in) times its bound in `sizes`
    largest = np.einsum("ij,ij->j", np.abs(scaled), sizes) + kappa * proofs._norms(sizes)
    doubt = 2 * proofs._g(terms) * largest * UPWARD + (1 + kappa) * UNDERFLOW
    return bool((signal - kappa * length > doubt).all())


# --- weights and vectors that cancel ------------------------------------------------------------------------


def _cancels(weights, vectors, U, V, own, r):
    """Whether weights and vectors near these are a proof that no memory does it."""
    if not (weights >= 0).all() or not weights.any():
        return False
    used = weights > 0
    if not (V[:, used].any(axis=0) & U[:, own[used]].any(axis=0)).all():
        return True  # a key or a target that is zero has a signal of zero, which is never above its spread
    if r == 0.5 or not vectors.any():
        return not vectors.any() and _cancels_for_half(weights, U, V, own)
    weights, vectors, targets, V = weights[used], vectors[:, used], U[:, own[used]], V[:, used]
    if len(weights) == 1:
        V = np.ones((1, 1))  # a target within kappa of zero: its key plays no part
    V = V[spanning_rows(V)]
    rows = np.frexp(np.abs(V).max(axis=1, keepdims=True))[1]
    even = np.ldexp(V, -rows)
    if not (np.ldexp(even, rows) == V).all():
        return False
    V, powers = _scaled_columns(even)
    power = -int(np.frexp(np.abs(targets).max())[1])
    if V is None or not (np.ldexp(np.ldexp(targets, power), -power) == targets).all():
        return False
    scaled = np.ldexp(weights, powers - int(np.frexp(weights.max())[1]) - int(powers.max()))
    # a weight may be any number near the one given: those that vanish against the others are left out
    kappa = _slopes(r, len(targets), power)[0]
    return bool(scaled.any()) and _nearly_cancels(scaled, vectors, np.ldexp(targets, power), V, kappa)


def _nearly_cancels(weights, vectors, targets, V, kappa):
    """Whether vectors near these cancel, and stay within the ball."""
    n = len(weights)
    F = kappa * vectors  # as it comes out: these numbers are the vectors from here on
    f, u, v = (proofs._norms(X) for X in (F, targets, V))
    rest = ((targets - F) * weights) @ V.T
    size = float((weights * (u + f) * v).sum())
    residual = (proofs._length(rest) + proofs._g(n + 8) * size * UPWARD) * UPWARD + UNDERFLOW
    # square roots of the weights are off by a unit, their products with the keys by another
    roots = np.sqrt(weights) * V
    smallest = proofs._least_extent(roots, 4 * UNIT * proofs._norms(roots) * UPWARD + UNDERFLOW)
    if not smallest > 0:
        return False
    moved = residual * v / smallest * UPWARD + UNDERFLOW
    exact = _lengths(F) * (1 + 2 * proofs._g(len(F) + 8)) + UNDERFLOW  # as `f` is too rough a bound
    return bool(((exact + moved * UPWARD) * (1 + 4 * UNIT) <= kappa).all())


def _cancels_for_half(weights, U, V, own):
    """The same where there is no spread: weights that cancel against a target which is zero."""
    m, n = U.shape[1], V.shape[1]
    if (m + 1) * n > LARGEST_TABLE:
        return False
    table = np.zeros((m + 1, n))
    table[m] = weights
    certificate = proofs.Certificate(1, weights=table)
    return proofs.holds(certificate, np.column_stack([U, np.zeros(len(U))]), V, own)
