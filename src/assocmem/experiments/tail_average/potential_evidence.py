"""What checks of Proposition 10 compare: saddle, single maximum and convexity of the scalar potential.

At points on both sides of the critical load, with weak and strong smoothing and ridge. What is measured comes
from `assocmem.theory.potential_shape`, which solves no equation of the saddle point.
"""

import numpy as np

from assocmem.theory.potential_shape import (
    channel_averages,
    curvature,
    exponent_by_differences,
    potential_on_nodes,
    tail_average_on_nodes,
)
from assocmem.theory.scalar import solve_scalar
from assocmem.theory.scalar_reference import logarithmic_slopes

POINTS = (
    (0.1, 0.15, 3.0, 1e-3),
    (0.2, 0.3, 10.0, 1e-2),
    (0.6, 0.15, 3.0, 1e-2),
    (0.8, 0.3, 10.0, 1e-4),
    (0.8, 0.5, 1.0, 1e-3),
)
"""Load, tail fraction, inverse smoothing width and ridge: two below the critical load, three above."""
FACTORS = (0.3, 1.0, 3.0)
"""Norm scales at which the potential is looked at over chi, in units of the solution."""
NORMS = (0.1, 600.0, 6)
"""Least and largest norm scale at which the curvature is measured, and how many."""
SLOPE_STEP = 1e-4
"""Relative step of first differences: its square is below the tolerance, and so is rounding over it."""
SMALL = 1e-5
"""Slopes that count as none, in units of ``nu^2 / (load chi)``: rounding is ten times smaller anywhere."""


def saddle_evidence(here: tuple[float, float, float, float]) -> dict:
    """Slopes of the potential, by differences, where the equations of the paper have their solution.

    Parameters
    ----------
    here : tuple of float
        Load, tail fraction, inverse smoothing width and ridge of one more point, anywhere in their ranges;
        its potential is taken from the panels of the solver.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. In the falsehood both equations have averages taken one
        by one: of B before the response, of the weights before the square.
    """
    slopes, wrong = [], []
    for point in (here, *POINTS):
        at = dict(zip(("load", "r", "beta", "ridge"), point, strict=True))
        s = solve_scalar(**at)
        load = s.load
        differences = logarithmic_slopes if point is here else _slopes_on_nodes
        slopes.extend(np.array(differences(s.nu, s.chi, **at)) * load * s.chi / s.nu**2)
        means = channel_averages(s.nu, s.chi, s.c)
        one_response = means["B"] / (1 + s.chi * means["B"])
        wrong.append(load * s.chi * (one_response - means["response"]))
        wrong.append((1 - means["A"] ** 2 / means["AA"]) / 2)
    return {
        "claim": "proposition-10",
        "what": r"slopes of the potential in $\log\nu$ and $\log\chi$, over $\nu^2/\alpha\chi$, "
        f"at {len(wrong) // 2} points",
        "kind": "quadrature",
        "measured": slopes,
        "predicted": 0.0,
        "tolerance": SMALL,
        "falsehood": ("averages in the equations are taken one by one", wrong),
        "axis": r"slope of the potential, over $\nu^2/\alpha\chi$",
        "each": [
            rf"load {load:g}, $r = {r:g}$, in $\log{letter}$"
            for load, r, *_ in (here, *POINTS)
            for letter in (r"\nu", r"\chi")
        ],
    }


def maxima_evidence() -> dict:
    """Numbers of maxima of the potential over chi from 1e-5 to 1e11, at several norm scales of each point.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    chi = np.geomspace(1e-5, 1e11, 81)
    counts = []
    for load, r, beta, ridge in POINTS:
        at = {"load": load, "r": r, "beta": beta, "ridge": ridge}
        for nu in solve_scalar(**at).nu * np.array(FACTORS):
            rises = np.diff([potential_on_nodes(nu, x, **at) for x in chi]) > 0
            counts.append(int((rises[:-1] & ~rises[1:]).sum()))
    return {
        "claim": "proposition-10",
        "what": rf"maxima over $\chi$ from $10^{{-5}}$ to $10^{{11}}$, at {len(counts)} sizes $\nu$",
        "kind": "quadrature",
        "measured": counts,
        "predicted": 1.0,
        "tolerance": 0.25,
        "falsehood": (r"none: the supremum is approached as $\chi$ grows", 0.0),
        "axis": r"number of maxima over $\chi$",
        "each": _places(),
    }


def exponent_evidence() -> dict:
    """Powers with which the slope of the potential in 1/chi grows, by differences and as the proof has them.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    measured, predicted, wrong = [], [], []
    for load, r, beta, ridge in POINTS:
        solution = solve_scalar(load, r, beta=beta, ridge=ridge)
        for nu in solution.nu * np.array(FACTORS):
            c = tail_average_on_nodes(nu, r, beta)
            for chi in np.geomspace(1e-3, 1e9, 7):
                means = channel_averages(nu, chi, c)
                measured.append(exponent_by_differences(nu, chi, c))
                predicted.append(means["exponent"])
                wrong.append(2 / (1 + chi * means["B"]))
    return {
        "claim": "proposition-10",
        "what": r"power of $\chi$ with which $\chi^2\,\mathbb E A^2$ grows, by second differences of the "
        r"potential in $1/\chi$",
        "kind": "quadrature",
        "measured": measured,
        "predicted": predicted,
        "tolerance": 1e-5,
        "falsehood": (r"all keys respond alike, $2/(1 + \chi\,\mathbb E B)$", wrong),
        "axis": r"power of $\chi$",
    }


def convexity_evidence() -> dict:
    """Least curvature of the reduced potential over the ridge, on a wide range of norm scales at each point.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. No number above the ridge would do as a bound, since
        the curvature tends to the ridge as the norm grows.
    """
    least = [
        min(curvature(nu, load, r, beta=beta, ridge=ridge) for nu in np.geomspace(*NORMS)) / ridge
        for load, r, beta, ridge in POINTS
    ]
    return {
        "claim": "proposition-10",
        "what": rf"least curvature of the reduced potential over the ridge, $\nu$ from {NORMS[0]:g} to "
        f"{NORMS[1]:g}, {len(POINTS)} points",
        "kind": "quadrature",
        "measured": least,
        "predicted": 1.0,
        "tolerance": 1e-3,
        "falsehood": ("the potential is a hundredth more convex than the ridge", 1.01),
        "axis": "least curvature over the ridge",
        "each": [f"load {load:g}, $r = {r:g}$" for load, r, *_ in POINTS],
    }


def _places():
    """The points and sizes at which the potential is looked at over chi, in words."""
    return [
        rf"load {load:g}, $r = {r:g}$, $\nu = {factor:g}\,\nu_*$"
        for load, r, *_ in POINTS
        for factor in FACTORS
    ]


def _slopes_on_nodes(nu, chi, **at):
    """Derivatives of the potential in ``log nu`` and ``log chi``, by central differences."""
    return [
        (
            potential_on_nodes(nu * (1 + a), chi * (1 + b), **at)
            - potential_on_nodes(nu * (1 - a), chi * (1 - b), **at)
        )
        / (2 * SLOPE_STEP)
        for a, b in ((SLOPE_STEP, 0), (0, SLOPE_STEP))
    ]
