"""The figures of the critical load and of the rates around it: scalar theory, without memories."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from scipy import special

from assocmem.book.plotting import ABOVE, AT, BELOW, INK, LIMIT, TAIL_AVERAGE, panels, series
from assocmem.theory.crossover import crossover, ridge_at_norm
from assocmem.theory.ridgeless import critical_load, sat_edge, solve_unsat, tail_mean
from assocmem.theory.scalar import ScalarSolution, density, solve_scalar

NARROW = 5.2
"""Width of a column of panels in inches, which a phone shows at a size that can be read."""

PREDICTION = {"ls": "--", "color": INK, "lw": 1}
"""The look of explicit laws on top of what they are compared with."""

PHASES = ((BELOW, "o"), (AT, "s"), (ABOVE, "^"))
"""Colour and marker below the critical load, at it, and above."""

EXPLICIT = 1e-10
"""Ridges up to here are small enough for the explicit law of the transition."""


def power_of_ten(x: float) -> str:
    """A number as a formula, in powers of ten where it is one.

    Parameters
    ----------
    x : float
        Positive.

    Returns
    -------
    str
        With its dollar signs.
    """
    exponent = round(np.log10(x))
    return f"$10^{{{exponent}}}$" if np.isclose(x, 10.0**exponent, rtol=1e-9) else f"${x:g}$"


def draw_critical_load(r: float) -> Figure:
    """The tail of a normal law with its mean, and the critical load over the tail fraction.

    Parameters
    ----------
    r : float
        The tail fraction that is marked.

    Returns
    -------
    Figure
    """
    figure, (tail, curve) = panels(1, rows=2, height=5.2, width=NARROW)
    z, quantile, kappa = np.linspace(-3.2, 3.6, 400), -special.ndtri(r), float(tail_mean(r))
    tail.plot(z, density(z), color=LIMIT, label="competitors over $\\nu$")
    tail.fill_between(
        z, density(z), where=z >= quantile, color=TAIL_AVERAGE, alpha=0.4, lw=0, label=f"share $r = {r:g}$"
    )
    tail.axvline(quantile, color=TAIL_AVERAGE, ls=":", label=f"the tail begins, $q_r = {quantile:.3g}$")
    tail.axvline(kappa, color=TAIL_AVERAGE, ls="--", label=f"its mean, $\\kappa_r = {kappa:.3g}$")
    tail.set(xlabel="score of a competitor over $\\nu$", ylabel="density", ylim=(0, 0.7))
    tail.legend(loc="upper left", fontsize=8)
    fractions = np.linspace(0.002, 0.998, 400)
    critical = critical_load(fractions)
    curve.fill_between(fractions, critical, color=BELOW, alpha=0.14, lw=0, label="loss goes to zero")
    curve.fill_between(fractions, critical, 2.1, color=ABOVE, alpha=0.14, lw=0, label="loss stays positive")
    curve.plot(fractions, critical, color=AT, label="critical load $\\alpha_{\\mathrm{c}}(r)$")
    curve.plot(r, critical_load(r), "o", color=INK, label=f"$\\alpha_c = {critical_load(r):.4g}$")
    curve.set(xlabel="tail fraction $r$", ylabel="load $\\alpha = n/d^2$", xlim=(0, 1), ylim=(0, 2.1))
    curve.legend(loc="upper left")
    return figure


def draw_hinges(
    low_load: float, r: float, beta: float, ridges: Sequence[float], excesses: Sequence[float]
) -> Figure:
    """Weights of the keys against their leave-one-out scores, on both sides of the critical load.

    Parameters
    ----------
    low_load : float
        Below the critical load.
    r, beta : float
    ridges : sequence of float
        For the load below.
    excesses : sequence of float
        By which a load exceeds the critical one, relative to it, at ridge zero; the least is that of the
        limit.

    Returns
    -------
    Figure
    """
    figure, (below, above) = panels(1, rows=2, height=5.6, width=NARROW, sharex=True)
    G, marks = np.linspace(-5, 3, 400), 50
    share, kappa, critical = special.ndtr(G), float(tail_mean(r)), float(critical_load(r))
    for ridge, look in series(ridges):
        point = solve_scalar(low_load, r, beta=beta, ridge=ridge)
        lifted = point.margin.quantile(share) + point.c - point.nu * G
        label = f"$\\lambda =$ {power_of_ten(ridge)}"
        below.plot(G, lifted / point.nu, markevery=marks, label=label, **look)
    below.plot(G, np.maximum(sat_edge(low_load) - G, 0), label="limit $(\\rho_\\alpha - G)_+$", **PREDICTION)
    below.set(ylabel="lift $\\chi\\, a(G)$ over $\\nu$", title=f"below: load {low_load:.3g}, ridge to zero")
    for excess, look in series(excesses):
        point = solve_unsat(critical * (1 + excess), r, beta)
        weights = special.expit(-point.margin.quantile(share))
        above.plot(G, weights, markevery=marks, label=f"{power_of_ten(excess)} above", **look)
    M = crossover(critical * (1 + min(excesses)), r, 0.0).M
    label = "limit, cut at one"
    above.plot(G, np.clip((kappa - G) / M, 0, 1), label=label, **PREDICTION)
    above.set(xlabel="score $G$ without the key's own training, over $\\nu$", ylabel="weight $a(G)$")
    above.set(title="above, without a ridge: load to the critical one")
    for ax in (below, above):
        ax.legend(fontsize=8)
    return figure


def draw_ridge_paths(r: float, paths: Mapping[float, ScalarSolution], limit: ScalarSolution) -> Figure:
    """Norm and loss while the ridge goes to zero, with the explicit laws.

    Parameters
    ----------
    r : float
    paths : dict of float to ScalarSolution
        By load: one below the critical load, the critical load itself, one above. The ridges are the same,
        decreasing.
    limit : ScalarSolution
        At the last load, without a ridge.

    Returns
    -------
    Figure
    """
    figure, (norm, loss) = panels(1, rows=2, height=5.6, width=NARROW, sharex=True)
    names = ("below", "at the critical load", "above")
    for (load, path), name, (color, marker) in zip(paths.items(), names, PHASES, strict=True):
        look = {"color": color, "marker": marker, "markevery": 0.15, "label": f"{name}: {load:.4g}"}
        norm.plot(1 / path.ridge, path.nu, **look)
        loss.plot(1 / path.ridge, path.loss, **look)
    low, critical, _ = paths
    ridges = next(iter(paths.values())).ridge
    delta = float(sat_edge(low) - tail_mean(r))
    far = np.geomspace(5, 50, 60) / delta
    rate = ridge_at_norm(low, r, far)
    kept = (rate > ridges.min()) & (rate < 1e-3)
    small = ridges[ridges <= 1e-7]
    at_critical = [crossover(critical, r, x) for x in small]
    norm.plot(1 / rate[kept], far[kept], label="explicit law", **PREDICTION)
    norm.plot(1 / small, [x.nu for x in at_critical], **PREDICTION)
    loss.plot(1 / rate[kept], (rate * far / delta)[kept], label="explicit law", **PREDICTION)
    loss.plot(1 / small, [x.loss for x in at_critical], **PREDICTION)
    ends = {"ls": ":", "color": ABOVE, "label": "limit without a ridge, above"}
    norm.axhline(limit.nu, **ends)
    loss.axhline(limit.loss, **ends)
    norm.set(xscale="log", yscale="log", ylabel="norm scale $\\nu$")
    loss.set(xscale="log", yscale="log", ylabel="mean loss", xlabel="inverse ridge $1/\\lambda$")
    norm.legend(fontsize=8)
    loss.legend(fontsize=8, loc="lower left")
    return figure


def draw_smoothings(r: float, betas: Sequence[float]) -> Figure:
    """Norm and loss above the critical load at ridge zero, for several smoothings.

    Parameters
    ----------
    r : float
    betas : sequence of float

    Returns
    -------
    Figure
    """
    figure, (norm, loss) = panels(1, rows=2, height=5.4, width=NARROW, sharex=True)
    critical, excess = float(critical_load(r)), np.logspace(-7, 0.3, 41)
    for beta, look in series(betas):
        points = solve_unsat(critical * (1 + excess), r, beta)
        norm.plot(excess, points.nu * excess, markevery=8, label=f"$\\beta = {beta:g}$", **look)
        loss.plot(excess, points.loss, markevery=8, label=f"$\\beta = {beta:g}$", **look)
    close = excess[excess < 1e-4]
    lines = [crossover(critical * (1 + x), r, 0.0) for x in close]
    products = [x.nu * e for x, e in zip(lines, close, strict=True)]
    norm.plot(close, products, label="explicit law", **PREDICTION)
    loss.plot(close, [x.loss for x in lines], label="explicit law", **PREDICTION)
    norm.set(xscale="log", yscale="log", ylabel="norm $\\nu_0$ times the excess")
    loss.set(xscale="log", ylabel="mean loss", ylim=(0.45, 1.25))
    loss.set(xlabel="relative excess of the load, $\\alpha/\\alpha_{\\mathrm{c}} - 1$")
    for ax in (norm, loss):
        ax.legend(fontsize=8)
    return figure


def draw_crossover(r: float, beta: float, ridges: Sequence[float]) -> Figure:
    """The loss across the transition, the load in units of the root of the ridge.

    Parameters
    ----------
    r, beta : float
    ridges : sequence of float
        The explicit law is drawn for those up to `EXPLICIT`.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.6, width=NARROW)
    critical, window = float(critical_load(r)), np.linspace(-12, 6, 25)
    label = "explicit law"
    for ridge, look in series(ridges):
        loads = critical * (1 + window * np.sqrt(ridge))
        losses = solve_scalar(loads, r, beta=beta, ridge=ridge).loss
        ax.plot(window, losses, markevery=4, label=f"$\\lambda =$ {power_of_ten(ridge)}", **look)
        if ridge <= EXPLICIT:
            laws = [crossover(x, r, ridge).loss for x in loads]
            ax.plot(window, laws, label=label, zorder=3, **PREDICTION)
            label = None
    ax.axvline(0, color=LIMIT, lw=0.8, ls=":", label="critical load")
    ax.set(
        xlabel="excess of the load, $(\\alpha/\\alpha_{\\mathrm{c}} - 1)/\\sqrt{\\lambda}$",
        ylabel="mean loss",
    )
    ax.legend(fontsize=8)
    return figure
