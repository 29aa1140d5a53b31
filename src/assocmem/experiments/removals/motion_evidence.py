"""Checks of closed forms for what moves when a pair is removed, on the stored table of motions."""

from collections.abc import Mapping, Sequence

import numpy as np

from assocmem.experiments.frames import DataFrame
from assocmem.experiments.removals.removal_rates import exponent_tolerance
from assocmem.experiments.statistics import PowerLaw, power_law, through_inverse
from assocmem.theory.removal_response import RemovalResponse, removal_response
from assocmem.theory.scalar import solve_scalar

NEXT = 1.5
"""What a closed form of leading order may be off by, relatively and times d. Its constants are themselves off
by 0.2 / d, the norm scale, and 0.9 / d, the mean slope, at d = 16."""


def response_at(load: float, r: float, beta: float, ridge: float) -> RemovalResponse:
    """Constants of the theory at the same point.

    Parameters
    ----------
    load, r, beta, ridge : float

    Returns
    -------
    RemovalResponse
    """
    return removal_response(solve_scalar(load, r, beta=beta, ridge=ridge))


def sizes_by_dimension(d: Sequence[float], sizes: Sequence[float]) -> tuple[np.ndarray, ...]:
    """Root mean squares at each dimension.

    Parameters
    ----------
    d, sizes : sequence of float
        One of each an instance.

    Returns
    -------
    d, size, error : ndarray, shape (m,)
        Dimensions, root mean squares, and their standard errors.
    """
    d, squares = np.asarray(d, dtype=float), np.square(np.asarray(sizes, dtype=float))
    found = []
    for x in np.unique(d):
        here = squares[d == x]
        size = np.sqrt(here.mean())
        found.append((x, size, here.std(ddof=1) / np.sqrt(len(here)) / (2 * size)))
    return tuple(np.array(found).T)


def _compared(rows, sizes, expected, wrong):
    """Measured and predicted sizes with tolerances: four standard errors and the next order."""
    d, size, error = sizes_by_dimension(rows["d"], sizes)
    predicted = np.array([expected(x) for x in d])
    return {
        "measured": size,
        "predicted": predicted,
        "tolerance": 4 * error + NEXT * predicted / d,
        "falsehood": np.array([wrong(x) for x in d]),
    }


def _joined(parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _check(claim, what, axis, parts, falsehood, **others):
    found = _joined(parts)
    wrong = found.pop("falsehood")
    return {"claim": claim, "what": what, "axis": axis, "kind": "stored simulation", **found} | {
        "falsehood": (falsehood, wrong),
        **others,
    }


def threshold_motion_evidence(rows: DataFrame, response: RemovalResponse) -> dict:
    """What a check of the motion of thresholds compares, away from ``r = 1/2``.

    Parameters
    ----------
    rows : DataFrame
        Motions at one point.
    response : RemovalResponse
        Of the same point.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`: at each dimension the average of targets that moves a
        threshold, and the average of moved scores in units of ``|Delta W|_F / d``. The falsehood is what the
        proof of Appendix B takes for granted, a motion of ``d^-2``: the part B / d alone.
    """
    share = response.score_share
    parts = [
        _compared(rows, rows["gradient"], response.gradient, lambda d: response.across / d),
        _compared(
            rows,
            rows["averaged"] * rows["d"] / rows["moved"],
            lambda d: response.gradient(d) * share(d),
            lambda d: response.across / d * share(d),
        ),
    ]
    what = (
        r"length of the average $g_i$ that moves a threshold, and the motion $g_i^\top \Delta W v_i$ that it "
        r"makes over $\lVert\Delta W\rVert_F/d$"
    )
    return _check(
        "claim-threshold-motion",
        what,
        r"length of $g_i$; motion over $\lVert\Delta W\rVert_F/d$",
        parts,
        r"thresholds that move by $d^{-2}$: $g_\perp/d$ alone",
        each=[f"{name}, $d = {d:g}$" for name in ("length", "motion") for d in np.unique(rows["d"])],
    )


def half_fraction_evidence(rows: DataFrame, response: RemovalResponse, nearby: RemovalResponse) -> dict:
    """What a check of the motion of thresholds compares at ``r = 1/2``, where the slow part vanishes.

    Parameters
    ----------
    rows : DataFrame
        Motions at ``r = 1/2``.
    response, nearby : RemovalResponse
        There, and at another fraction.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The falsehood adds the slow part of the other fraction.
    """
    part = _compared(
        rows,
        rows["gradient"],
        response.gradient,
        lambda d: np.hypot(response.gradient(d), nearby.along / np.sqrt(d)),
    )
    what = r"at $r = 1/2$, length of the average $g_i$ that moves a threshold, beside $g_\perp/d$"
    wrong = r"a part $g_\parallel/\sqrt{d}$ as at $r = 0.4$"
    each = [f"$d = {d:g}$" for d in np.unique(rows["d"])]
    return _check("claim-threshold-motion", what, "length of $g_i$", [part], wrong, each=each)


def score_share_evidence(points: Mapping[str, tuple[DataFrame, RemovalResponse]]) -> dict:
    """What a second check of (A2) compares: motions of scores in units of ``|Delta W|_F / d``.

    Parameters
    ----------
    points : mapping of str to (DataFrame, RemovalResponse)
        By the name of a point, sizes as `removal_sizes.measure_instance` has them, and constants.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The next term is taken for half the square of the first
        correction. The falsehood is no correction.
    """
    parts, each = [], []
    for name, (rows, response) in points.items():
        d, size, error = sizes_by_dimension(rows["d"], rows["score_rms"] * rows["d"] / rows["moved"])
        predicted = np.array([response.score_share(x) for x in d])
        tolerance = 4 * error + (1 / predicted - 1) ** 2 / 2
        each += [f"{name}, $d = {x:g}$" for x in d]
        parts.append(
            {"measured": size, "predicted": predicted, "tolerance": tolerance, "falsehood": np.ones(len(d))}
        )
    return _check(
        "proposition-4",
        r"motion of scores over $\lVert\Delta W\rVert_F/d$, root mean square, at " + ", ".join(points),
        r"motion of scores over $\lVert\Delta W\rVert_F/d$",
        parts,
        "exactly $1/d$, without the next term",
        limits=r"the fitted power of $d$ is short of $-1$ by this term until $d$ is far above $40\,w/\alpha$",
        each=each,
    )


def simplification_evidence(
    groups: Mapping[int, Sequence[float]], response: RemovalResponse, kind: str = "stored simulation"
) -> dict:
    """What a second check of Lemma 22 compares: its difference of traces with the constant that it has.

    Parameters
    ----------
    groups : mapping of int to sequence of float
        Differences by dimension, at least four.
    response : RemovalResponse
    kind : str
        What the instances are, one of `assocmem.book.claims.KINDS`.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`: the limit of d times the difference, by a quadratic in
        1/d; the tolerance is four standard errors and what the quadratic term adds to a line. The falsehood
        leaves out the square of p.
    """
    d = np.array(sorted(groups), dtype=float)
    values = [np.asarray(groups[int(x)]) * x for x in d]
    means = np.array([v.mean() for v in values])
    errors = np.array([v.std(ddof=1) / np.sqrt(len(v)) for v in values])
    line, _ = through_inverse(d, means, errors, 1)
    curve, error = through_inverse(d, means, errors, 2)
    return {
        "claim": "lemma-22",
        "what": "limit of $d$ times the difference of the traces",
        "axis": r"$d\,(\chi - \widetilde\chi)$",
        "kind": kind,
        "measured": curve[-1],
        "predicted": response.simplification,
        "tolerance": 4 * error + abs(line[-1] - curve[-1]),
        "falsehood": (r"without the squares of $p_i$", response.simplification_linear),
    }


def entry_law(rows: DataFrame, name: str = "entry") -> PowerLaw:
    """Power law of a size in units of the minimiser's motion, which scatters with the removed pair.

    Parameters
    ----------
    rows : DataFrame
        Motions at one point.
    name : str
        Of the size.

    Returns
    -------
    PowerLaw
    """
    d, ratio = np.asarray(rows["d"]), np.asarray(rows[name] / rows["moved"])
    return power_law({int(x): ratio[d == x] for x in np.unique(d)})


def entry_evidence(rows: DataFrame, *, half: bool = False) -> dict:
    """What a check of the Taylor entries compares: their power off the diagonal with the paper's -4.

    Parameters
    ----------
    rows : DataFrame
        Motions at one point.
    half : bool
        Whether its fraction is 1/2, where the paper's power is right.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The falsehood is a bound better by ``sqrt(d)``.
    """
    law = entry_law(rows)
    fraction = "at $r = 1/2$" if half else f"at $r = {float(np.asarray(rows['r'])[0]):g}$"
    return {
        "claim": "equation-ehat-entry-sizes",
        "what": rf"power of $d$ of the entries of $\widehat E$ off the diagonal over the motion, {fraction}",
        "axis": "power of $d$",
        "kind": "stored simulation",
        "measured": law.exponent,
        "predicted": -4,
        "tolerance": exponent_tolerance(law),
        "relation": "<=",
        "falsehood": (r"smaller by another factor of $\sqrt{d}$", -4.5),
        "limits": "at $r = 1/2$ alone, where symmetry removes the leading term" if half else "",
        "expected": None if half else "does not hold",
    }
