# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The critical load
#
# Take the ridge away from a trained memory, after the dimension has gone to infinity.
# Below some load the loss goes to zero and the norm to infinity; above it, neither.
# The load has a closed form, and so have the laws of scores and margins below it.
# This section computes both limits, finds the rates at which they are reached, which the paper leaves open, and repeats the paper's two figures of trained memories.

# %% tags=["parameters"]
r = 0.15  # tail fraction of the slice; [0.01, 0.9]
beta = 30.0  # inverse smoothing width; [0.3, 300]
load = 0.28  # load of the laws, below the critical one of r = 0.15; {0.2, 0.28}
above = 0.4  # a load above it; [0.31, 2]
betas = [0.3, 3.0, 30.0, 300.0]  # smoothings to compare; [0.3, 300]
ridges = [1e-6, 1e-8, 1e-10, 1e-12]  # ridges near the transition; [1e-16, 1e-5]
grid_d = 40  # dimension of memories trained here over load and r; [8, 1000]
grid_rs = [0.05, 0.15, 0.25, 0.4]  # their tail fractions; [0.01, 0.9]
grid_loads = [0.1, 0.2, 0.3, 0.4, 0.5]  # their loads; [0.02, 2]
slice_d = 30  # dimension of memories trained here along the slice; [8, 1000]
slice_loads = [0.2, 0.28, 0.32, 0.4]  # their loads; [0.02, 2]
seed = 1  # base seed of every random draw; [0, inf)
device = "cpu"  # where memories are trained; {cpu, cuda}

# %% tags=["hide-input"]
import math

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from scipy import special

from assocmem import kinematics, phase
from assocmem import plotting as plot
from assocmem.claims import check
from assocmem.correlation import percentile_cdf
from assocmem.crossover import crossover, edge_shift, ridge_at_norm
from assocmem.model import derived_seed, tail_count
from assocmem.plotting import BLUE, GREEN, GREY, ORANGE, PALETTE, PINK, Table, panels
from assocmem.progress import progress
from assocmem.results import read_table
from assocmem.ridgeless import (
    critical_load,
    hinge_moments,
    sat_edge,
    sat_laws,
    solve_unsat,
    tail_mean,
)
from assocmem.scalar_theory import reduced_potential, scalar_tail_average, solve_scalar
from assocmem.scaling import pooled_errors, through_inverse

plot.use_style()

# %% tags=["memory", "remove-cell"]
from assocmem.fit import fit_bytes
from assocmem.model import pairs_at_load

memory = [
    (
        "grid_d",
        grid_d,
        lambda d: fit_bytes(pairs_at_load(max(grid_loads), d), d),
    ),
    (
        "slice_d",
        slice_d,
        lambda d: fit_bytes(pairs_at_load(max(slice_loads), d), d),
    ),
]

# %% [markdown]
# ## What is claimed
#
# Let $\kappa_r$ be the mean of the top $r$-fraction of a standard normal law, $q_r = \Phi^{-1}(1 - r)$ the quantile where it begins, and $G$ standard normal.
#
# :::{prf:definition} Critical load
# :label: def-critical
#
# $$
# \kappa_r = \frac{\varphi(q_r)}{r} , \qquad
# \alpha_{\mathrm c}(r) = \frac{1}{\E (\kappa_r - G)_+^2} = \frac{1}{(1 + \kappa_r^2)\, \Phi(\kappa_r) + \kappa_r\, \varphi(\kappa_r)} .
# $$
# :::
#
# :::{prf:theorem} The ridge to zero
# :label: thm-ridgeless
#
# Let $\nu_\lambda$ be the norm of {prf:ref}`thm-scalar` at ridge $\lambda$, with $r$ and $\beta$ fixed, and let $\lambda \downarrow 0$.
#
# * If $\alpha < \alpha_{\mathrm c}(r)$ then $\nu_\lambda \to \infty$ and the loss vanishes. With the edge $\rho_\alpha$, the solution of $\E(\rho - G)_+^2 = 1/\alpha$, the signal over $\nu_\lambda$ has the limit law of $\max(G, \rho_\alpha)$, the margin that of $\max(G, \rho_\alpha) - \kappa_r$, and the percentile that of $\Phi(\max(G, \rho_\alpha))$.
# * If $\alpha > \alpha_{\mathrm c}(r)$ then $\nu_\lambda$ tends to a finite $\nu_0$, the loss to a positive number, and the laws are those of {prf:ref}`thm-scalar` at $\nu_0$.
# :::
#
# These are [Definition 4](#definition-4) and Propositions [11](#proposition-11), [12](#proposition-12) and [13](#proposition-13) of the paper.
#
# ## A hinge decides
#
# In the dual form {eq}`eq-scalar-dual` of the potential two terms are proportional to $\nu$ and the entropy is not.
# For large $\nu$ the tail average of the competitors is $c_r(\nu) \approx \kappa_r \nu$, so what counts is whether some profile of weights $a(G) \in [0, 1]$ makes
#
# $$
# \E [a(G)\, (\kappa_r - G)] - \frac{1}{\sqrt\alpha} \sqrt{\E\, a(G)^2}
# $$ (eq-ridgeless-slope)
#
# positive.
# Then the potential rises with $\nu$ and the norm stays finite.
# By the inequality of Cauchy and Schwarz the best direction is the hinge $(\kappa_r - G)_+$, and the sign is that of $\E(\kappa_r - G)_+^2 - 1/\alpha$.
# The hinge exceeds one, which a weight may not; scaled down and cut off at one it comes as close as one likes.
#
# The one ingredient is that $c_r(\nu)/\nu \to \kappa_r$.
# A softplus exceeds its hinge by the area $\pi^2 / 6\beta^2$, all of it near the threshold, where the normal law of width $\nu$ has the density $\varphi(q_r)/\nu$.
# So the approach is
#
# $$
# \frac{c_r(\nu)}{\nu} = \kappa_r \Bigl( 1 + \frac{\pi^2}{6\, \beta^2 \nu^2} + \dots \Bigr) ,
# $$ (eq-ridgeless-tail)
#
# always from above, and $\beta$ drops out as $\nu$ grows.

# %%
kappa, critical = float(tail_mean(r)), float(critical_load(r))
norms = np.array([1, 10, 100, 1000]) / beta
tails = np.array([scalar_tail_average(nu, r, beta)[0] / nu for nu in norms])
correction = math.pi**2 / (6 * beta**2 * norms**2)
bend = [
    (
        scalar_tail_average(1.01 * nu, r, beta)[1 + 1]
        - scalar_tail_average(0.99 * nu, r, beta)[1 + 1]
    )
    / (0.02 * nu)
    for nu in norms
]
Table(
    {
        "$\\beta\\nu$": [f"{x:g}" for x in beta * norms],
        "$c_r(\\nu)/\\nu$": tails,
        "$c_r(\\nu)/\\kappa_r\\nu - 1$": [f"{x:.4e}" for x in tails / kappa - 1],
        "$\\pi^2/6\\beta^2\\nu^2$": [f"{x:.4e}" for x in correction],
        "$c_r''(\\nu)$": [f"{x:.3e}" for x in bend],
    },
    ".10g",
)

# %% [markdown]
# The last column is positive: $c_r$ is strictly convex, which makes the minimum above the critical load a single one.
# By {eq}`eq-ridgeless-tail` it falls like $\pi^2 \kappa_r / 3 \beta^2 \nu^3$, so the strictness fades with the norm.
#
# Here is the hinge in the solutions themselves.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-hinge", "caption": "Weights of the keys against their leave-one-out score G, from the saddle point (lines) and in the limit (dashed). Left, below the critical load: weights times chi/nu, for ridges from 0.1 to 1e-4 (darker: smaller), tend to the hinge that ends at the edge. Right, without a ridge and above the critical load by 10%, 0.1%, 1e-5 and 1e-7 (darker: nearer): weights tend to a hinge that ends at kappa, cut off at one; keys to the left of the cut are given up."}, "image": {"alt": "Left, smooth curves that approach a straight falling line which ends on the axis. Right, curves that fall from one to zero, more and more like a straight line between two corners that move apart."}}
figure, (left, right) = panels(2)
G = np.linspace(-5, 3, 400)
shades = np.linspace(0.25, 1, 4)
for ridge, shade in zip([0.1, 1e-2, 1e-3, 1e-4], shades, strict=True):
    point = solve_scalar(load, r, beta=beta, ridge=ridge)
    moved = point.margin.quantile(special.ndtr(G)) + point.c - point.nu * G
    left.plot(G, moved / point.nu, color=BLUE, alpha=shade)
left.plot(G, np.maximum(sat_edge(load) - G, 0), "--", color=ORANGE)
left.set(xlabel="$G$", ylabel="$a(G)\\, \\chi/\\nu$")
for excess, shade in zip([0.1, 1e-3, 1e-5, 1e-7], shades, strict=True):
    point = solve_unsat(critical * (1 + excess), r, beta)
    a = special.expit(-point.margin.quantile(special.ndtr(G)))
    right.plot(G, a, color=BLUE, alpha=shade)
M = crossover(critical * (1 + 1e-7), r, 0.0).M
right.plot(G, np.clip((kappa - G) / M, 0, 1), "--", color=ORANGE)
right.set(xlabel="$G$", ylabel="$a(G)$")
figure

# %% [markdown]
# ## The curve
#
# Near the ends the critical load is simple.
# For small tails $\kappa_r$ is large and $(\kappa_r - G)_+$ is hardly ever cut off; for tails that take in nearly everyone $\kappa_r$ is small:
#
# $$
# \frac{1}{\alpha_{\mathrm c}} \simeq 1 + \kappa_r^2 \quad (r \to 0) , \qquad
# \frac{2}{\alpha_{\mathrm c}} \simeq 1 + 4 \varphi(0)\, \kappa_r + \kappa_r^2 + \tfrac23 \varphi(0)\, \kappa_r^3 \quad (r \to 1) .
# $$ (eq-ridgeless-ends)
#
# With $L = \log(1/r)$ the first is $2 L - \log(4 \pi L) + 3 + (\log(4 \pi L) - 5)/2L$ up to terms of the order $L^{-2}$ and logarithms.
# At a tail of one competitor, $r = 1/n$, its leading term is $d^2/n = 2 \log n$: the threshold of {prf:ref}`thm-threshold`, out of the other half of the paper.
# The next terms do not agree, $- \log\log n$ here against $- 3 \log\log n$ in {prf:ref}`con-second-order`, since a tail of a few competitors is not a mean over many.

# %%
fractions = np.array([1e-12, 1e-6, 1e-3, 0.15, 0.5, 0.9, 0.999])
k, L, phi0 = tail_mean(fractions), np.log(1 / fractions), 1 / math.sqrt(2 * math.pi)
slow = np.log(4 * math.pi * L)
Table(
    {
        "$r$": [f"{x:g}" for x in fractions],
        "$\\kappa_r$": k,
        "$\\alpha_{\\mathrm c}$": critical_load(fractions),
        "$1/\\alpha_{\\mathrm c}$": 1 / critical_load(fractions),
        "$1 + \\kappa_r^2$": 1 + k**2,
        "in $L$": 2 * L - slow + 3 + (slow - 5) / (2 * L),
        "from $r = 1$": (1 + 4 * phi0 * k + k**2 + 2 / 3 * phi0 * k**3) / 2,
    },
    ".6g",
)

# %% [markdown]
# Does the scalar theory, at a ridge too small to matter, jump there?
# We look for the load at which its loss passes a tenth, and compare with two formulas that are easily mistaken for the right one.

# %%
tried = np.array([0.02, 0.15, 0.5, 0.9])
theory_jumps = [
    phase.predicted_boundary(x, beta=beta, ridge=1e-13, level=0.1) for x in tried
]
check(
    "definition-4",
    "load at which the loss passes 0.1, ridge 1e-13, r from 0.02 to 0.9",
    measured=theory_jumps,
    predicted=critical_load(tried),
    tolerance=1e-5,
    falsehood=(
        "kappa without the factor 1/r",
        1 / hinge_moments(tried * tail_mean(tried))[1],
    ),
)

# %%
check(
    "definition-4",
    "the same",
    measured=theory_jumps,
    predicted=critical_load(tried),
    tolerance=1e-5,
    falsehood=(
        "the quantile where the tail begins in place of its mean",
        1 / hinge_moments(-special.ndtri(tried))[1],
    ),
)

# %% [markdown]
# ## How the norm diverges
#
# The theorem says that the norm diverges below the critical load, not how.
# Write $\delta = \rho_\alpha - \kappa_r$: the margin, over $\nu$, of the keys at the edge.
# Their loss is about $e^{-\delta \nu}$, so the potential is about $\tfrac\lambda2 \nu^2 + C e^{-\delta\nu}$ and the norm grows like the logarithm of the ridge, with $1/\delta$ in front.
# The proof of [Proposition 12](#proposition-12) gives all the constants, if one keeps the terms of order $1/\nu$.
# With $h = (\rho_\alpha - G)_+$ the weights are $a = (\nu/\chi)\, h$, and a key below the edge ends up at
#
# $$
# \frac{S}{\nu} = \rho_\alpha + \frac1\nu \Bigl( \frac{\E[h \log h]}{\E h} - \log(\rho_\alpha - G) \Bigr) + o\Bigl(\frac1\nu\Bigr) ,
# $$ (eq-ridgeless-edge)
#
# where the shift follows from $\E(S/\nu - G)^2 = 1/\alpha$, an equation that holds at every ridge.
# Then $\chi/\nu$ is the exponential of $\delta\nu$ plus that shift, the mean loss is the mean weight, and $\lambda \nu^2 = \E[a\,(S - c)]$ becomes $\lambda\nu = \delta \cdot \text{loss}$:
#
# $$
# \log \frac1\lambda = \delta\, \nu_\lambda + \log \nu_\lambda + \frac{\E[h \log h]}{\E h} - \log(\delta\, \E h) + o(1) ,
# \qquad \text{loss} \simeq \frac{\lambda\, \nu_\lambda}{\delta} .
# $$ (eq-ridgeless-rate)
#
# Above the critical load nothing diverges and the limit is approached linearly, $\nu_0 - \nu_\lambda \simeq \lambda\, \nu_0 / \mathcal V''(\nu_0)$.

# %%
decades = np.arange(0, 16.5, 0.5)
sides = {"below": load, "at": critical, "above": above}
paths = {
    side: solve_scalar(at, r, beta=beta, ridge=10.0**-decades)
    for side, at in sides.items()
}
delta = sat_laws(load, r).rho - kappa
limit = solve_unsat(above, r, beta)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-ridge", "caption": "Norm (left) and loss (right) of the scalar theory as the ridge goes from 1 to 1e-16: below the critical load, at it, and above. Dashed: the rate derived here, below; the limit without a ridge, above; and the law of the last but one part, at the critical load. Below, the norm grows as the logarithm and the loss falls as the ridge. At the critical load the norm grows as a square root, and the loss hardly falls."}, "image": {"alt": "Left, three curves against the negative logarithm of the ridge: one flat, one bending like a logarithm, one straight in the logarithmic plot. Right, one loss falls steeply, two stay between one half and one."}}
figure, (left, right) = panels(2)
for (side, path), color in zip(paths.items(), PALETTE, strict=False):
    left.plot(decades, path.nu, color=color, label=f"load {sides[side]:.4g}")
    right.plot(decades, path.loss, color=color)
far = np.geomspace(20, 600, 60)
rate = ridge_at_norm(load, r, far)
kept = rate > 1e-16
left.plot(-np.log10(rate[kept]), far[kept], "--", color="black", lw=1)
right.plot(-np.log10(rate[kept]), (rate * far / delta)[kept], "--", color="black", lw=1)
small = decades[decades >= 7]
at_critical = [crossover(critical, r, 10.0**-x) for x in small]
left.plot(small, [x.nu for x in at_critical], "--", color="black", lw=1)
right.plot(small, [x.loss for x in at_critical], "--", color="black", lw=1)
left.axhline(limit.nu, ls=":", color=GREEN)
right.axhline(limit.loss, ls=":", color=GREEN)
for ax, name in ((left, "$\\nu$"), (right, "mean loss")):
    ax.set(yscale="log", xlabel="$\\log_{10} 1/\\lambda$", ylabel=name)
left.legend()
figure

# %%
tiny = solve_scalar(load, r, beta=beta, ridge=[1e-8, 1e-12, 1e-16])
check(
    "proposition-11",
    f"logarithm of 1/ridge at load {load:g}, ridges 1e-8, 1e-12, 1e-16, from the norm",
    measured=-np.log(tiny.ridge),
    predicted=-np.log(ridge_at_norm(load, r, tiny.nu)),
    tolerance=0.02,
    falsehood=(
        "keys at the edge have the margin rho nu",
        -np.log(ridge_at_norm(load, r, tiny.nu)) + kappa * tiny.nu,
    ),
)

# %%
check(
    "proposition-11",
    f"mean loss over ridge times norm at load {load:g}, the same ridges",
    measured=tiny.loss / (tiny.ridge * tiny.nu),
    predicted=1 / delta,
    tolerance=1e-3 / delta,
    falsehood=("it is 1/rho", 1 / (delta + kappa)),
)

# %%
step = 1e-3 * limit.nu
V = [
    reduced_potential(limit.nu + x, above, r, beta=beta, ridge=0.0)
    for x in (-step, 0, step)
]
curvature = (V[0] - 2 * V[1] + V[2]) / step**2
weak = solve_scalar(above, r, beta=beta, ridge=[1e-5, 1e-6])
check(
    "proposition-11",
    f"distance of the norm from its limit over the ridge, load {above:g}, ridges 1e-5 and 1e-6",
    measured=(limit.nu - weak.nu) / weak.ridge,
    predicted=limit.nu / curvature,
    tolerance=1e-3 * limit.nu / curvature,
    falsehood=("the square root of the ridge", np.sqrt(1 / weak.ridge) * limit.nu),
)

# %% [markdown]
# The laws below the critical load are reached slowly, at the rate $1/\nu$ of {eq}`eq-ridgeless-edge`, which is one over the logarithm of the ridge.
# At four quantiles below the edge we multiply the distance from the edge by $\nu$, at the smallest ridge that the solver takes.

# %%
levels = np.array([0.1, 0.3, 0.5, 0.7])
edge, point = float(sat_edge(load)), solve_scalar(load, r, beta=beta, ridge=1e-16)
score = special.ndtri(levels)
check(
    "proposition-12",
    f"nu times the distance of normalised signals from the edge at four quantiles, load {load:g}, ridge 1e-16",
    measured=point.signal.quantile(levels) - edge * point.nu,
    predicted=edge_shift(load) - np.log(edge - score),
    tolerance=0.02,
    falsehood=(
        "the law has no atom, keys below the edge stay where they were",
        point.nu * (score - edge),
    ),
)

# %% [markdown]
# ## The other side, and a loss that jumps
#
# Come down to the critical load from above, without a ridge.
# The norm diverges, {numref}`fig-hinge` shows what becomes of the weights, and both can be calculated.
# Let $h = (\kappa_r - G)_+$ be the hinge, $M = \chi/\nu$ its width, so that the weights are $A = \min(h/M, 1)$, and $\tau = \kappa_r - M$ the score below which a key has weight one.
# Such keys are given up: nothing that the memory could do for them is worth its price.
# To first order in $1/\nu$ the two saddle-point equations become
#
# $$
# \E(\tau - G)_+^2 = \frac{1}{\alpha_{\mathrm c}} - \frac1\alpha + 2 M \lambda \nu , \qquad
# \lambda \nu^2 + \nu\, \E(\tau - G)_+ = \E\Bigl[ A \log\frac{1 - A}{A} ;\, G > \tau \Bigr] ,
# $$ (eq-ridgeless-near)
#
# and the loss is $\E\, \mathsf H(A) - \lambda \nu^2$ with the binary entropy $\mathsf H$.
# With $\lambda = 0$ the first equation says that *the keys given up have the same second moment that the critical load lacks*, and $\tau$ is the edge of {prf:ref}`thm-ridgeless` at the load $1/(1/\alpha_{\mathrm c} - 1/\alpha)$.
# Everything then follows without solving anything else, and $\beta$ is in none of it.

# %%
excesses = 10.0 ** -np.arange(4, 8)
law = [crossover(critical * (1 + x), r, 0.0) for x in excesses]
exact = solve_unsat(critical * (1 + excesses), r, beta)
Table(
    {
        "$\\alpha/\\alpha_{\\mathrm c} - 1$": [f"{x:.0e}" for x in excesses],
        "share given up": [f"{x.given_up:.2e}" for x in law],
        "$M$": [x.M for x in law],
        "$\\chi_0/\\nu_0$": exact.chi / exact.nu,
        "$\\nu$": [x.nu for x in law],
        "$\\nu_0$": exact.nu,
        "loss, law": [x.loss for x in law],
        "loss": exact.loss,
    }
)

# %% [markdown]
# At an excess of $10^{-4}$ the norm is not large enough for the law, at $10^{-6}$ it is right to four digits.
# As the load comes down, $M$ grows like the square root of a logarithm, and the loss, about $\log M / M$ times $\E h$, falls slower than anything one meets: at a distance of $10^{-7}$ from the critical load it is still one half.
# The transition is continuous in the sense of the theorem, and looks like a jump to anybody who measures it.

# %%
near = excesses[-2:]
check(
    "proposition-11",
    "mean loss at ridge zero, 1e-6 and 1e-7 above the critical load",
    measured=exact.loss[-2:],
    predicted=[x.loss for x in law[-2:]],
    tolerance=1e-4,
    falsehood=("it falls linearly from its value at ten per cent", limit.loss * near),
)

# %% [markdown]
# ## What the smoothing does
#
# By {eq}`eq-ridgeless-tail` the smoothing matters as $1/\beta\nu$ and drops out where the norm diverges.
# So curves for all $\beta$ meet at the boundary, from above, and part where the norm is of order one.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-beta", "caption": "Ridge zero, above the critical load: norm times relative excess (left) and loss (right) for smoothings from 0.3 to 300. Dashed: the explicit law, in which beta does not occur. Far from the boundary the curves differ by factors; at the boundary they are one."}, "image": {"alt": "Left, four curves that start far apart on the right and merge on the left, where a dashed line lies on them. Right, four curves rising from a common one."}}
figure, (left, right) = panels(2)
excess = np.logspace(-7, 0.3, 21)
for b, color in zip(betas, PALETTE, strict=False):
    points = solve_unsat(critical * (1 + excess), r, b)
    left.plot(excess, points.nu * excess, color=color)
    right.plot(excess, points.loss, color=color, label=f"$\\beta = {b:g}$")
close = excess[excess < 1e-4]
lines = [crossover(critical * (1 + x), r, 0.0) for x in close]
left.plot(close, [x.nu * e for x, e in zip(lines, close, strict=True)], "k--", lw=1)
right.plot(close, [x.loss for x in lines], "k--", lw=1)
for ax in (left, right):
    ax.set(xscale="log", xlabel="$\\alpha/\\alpha_{\\mathrm{c}} - 1$")
left.set(yscale="log", ylabel="$\\nu_0\\,(\\alpha/\\alpha_{\\mathrm{c}} - 1)$")
right.set(ylabel="mean loss", ylim=(0.45, 1.25))
right.legend()
figure

# %%
jumps = [phase.predicted_boundary(r, beta=b, ridge=1e-13, level=0.1) for b in betas]
unit = [scalar_tail_average(1.0, r, b)[0] for b in betas]
check(
    "remark-4",
    f"load at which the loss passes 0.1, ridge 1e-13, beta from {min(betas):g} to {max(betas):g}",
    measured=jumps,
    predicted=critical,
    tolerance=1e-5,
    falsehood=(
        "the smoothed tail average of a unit normal law in place of kappa",
        1 / hinge_moments(np.array(unit))[1],
    ),
)

# %% [markdown]
# Above, the paper's remark says "generally": nothing there escapes $\beta$.
# Whether memories notice is seen further down.
#
# ## The ridge rounds the transition
#
# With a ridge, {eq}`eq-ridgeless-near` has a solution on both sides of the critical load.
# Where no keys are given up it depends on the distance from the critical load and the ridge only through $(1/\alpha - 1/\alpha_{\mathrm c})/\sqrt\lambda$, so the width of the rounded transition is proportional to $\sqrt\lambda$.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-crossover", "caption": "The transition with a ridge, in units of its square root: loss of the scalar theory for ridges from 1e-6 to 1e-12 (lines, darker: smaller) and the explicit law (dashed, from 1e-10 on). Left of the critical load all ridges share one curve; right of it the loss creeps up."}, "image": {"alt": "Curves that fall together on the left side and fan out slightly on the right, with dashed lines on top."}}
figure, ax = panels(height=3.2)
window = np.linspace(-12, 6, 25)
for ridge, shade in zip(ridges, np.linspace(0.3, 1, len(ridges)), strict=True):
    at = critical * (1 + window * math.sqrt(ridge))
    ax.plot(
        window,
        solve_scalar(at, r, beta=beta, ridge=ridge).loss,
        color=BLUE,
        alpha=shade,
        label=f"$10^{{{math.log10(ridge):.0f}}}$",
    )
    if ridge <= 1e-10:
        laws = [crossover(x, r, ridge).loss for x in at]
        ax.plot(window, laws, "--", color=ORANGE, lw=1)
ax.set(
    xlabel="$(\\alpha/\\alpha_{\\mathrm{c}} - 1)/\\sqrt{\\lambda}$", ylabel="mean loss"
)
ax.legend(title="ridge $\\lambda$")
figure

# %% [markdown]
# At the ridge of the paper's phase diagram, $10^{-6}$, the window is a few thousandths of the critical load wide: less than what finite size does to it.
# At the critical load itself the norm grows like $\lambda^{-1/2}$, up to logarithms, as {numref}`fig-ridge` has it.
#
# ## The phase diagram
#
# Now memories.
# At a ridge of $10^{-6}$ we train over load and tail fraction, here at a small dimension and, stored, at a larger one.
# The empirical boundary needs a rule, which the paper does not give.
# Ours is: add pairs to one instance until the mean loss passes half of $\log 2$, the loss of a memory that tells nothing from anything, and interpolate between neighbours.
# In the theory at this ridge the rule errs by less than 0.2%, as long as the loss jumps by more than that, which it does up to $r = 0.5$.

# %%
grid = phase.largest_map(read_table("ridgeless_limit", "grid"))
edges = read_table("ridgeless_limit", "boundaries")
fractions = np.unique(edges["r"]) / 1000
trained = {x: phase.by_dimension(edges, x) for x in fractions}
live = [
    (
        at,
        x,
        phase.train(at, x, grid_d, seed=derived_seed(seed, 0), tol=0.01, device=device)[
            1
        ],
    )
    for x in grid_rs
    for at in progress(grid_loads, f"phase diagram, r = {x:g}")
]

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-phase", "caption": "The paper's Figure 2 repeated: mean loss (a, colours clipped at one) and norm (b, clipped at 100) of trained memories. Tiles: stored, at the largest dimension; squares with a white rim: trained here, at the smaller one. Line: the critical load. Open circles: where the loss of stored instances passes half of log 2, at their largest dimension."}, "image": {"alt": "Two maps over load and tail fraction, each cut in two by a rising curve: dark below it in one map, bright in the other. Squares have the colour of the tiles around them; circles lie on the curve."}}
figure, axes = panels(2, height=3.6, sharey=True)
squares = np.array([(a, x, found.loss, found.nu) for a, x, found in live]).T
circles = [points.load[-1] for points in trained.values()]
curve = np.linspace(0.005, 0.42, 80)
scales = (("loss", Normalize(0, 1)), ("nu", LogNorm(0.1, 100)))
for ax, (name, scale), colour in zip(axes, scales, squares[2:], strict=True):
    look = {"norm": scale, "cmap": "cividis"}
    tiles = ax.pcolormesh(
        grid.load, grid.r, getattr(grid, name), rasterized=True, **look
    )
    ax.scatter(*squares[:2], c=colour, marker="s", edgecolors="white", s=28, **look)
    ax.plot(critical_load(curve), curve, color=ORANGE)
    ax.plot(
        circles,
        fractions,
        "o",
        mfc="none",
        mec="white",
        mew=1.6,
        ms=7,
    )
    ax.set(xlim=(0.025, 0.625), ylim=(0, 0.42), xlabel="load $\\alpha$")
    ax.grid(False)
    figure.colorbar(tiles, ax=ax)
axes[0].set(ylabel="tail fraction $r$", title="(a) mean loss")
axes[1].set(title="(b) $\\|W\\|_F/d$")
figure

# %% [markdown]
# At the stored dimension the boundary is where it should be to the eye.
# How far off is it?
# At a finite dimension the tail consists of a finite number of competitors, and instances differ.
# The kinematic formula of {doc}`finite_size_scaling`, at $k = \lceil r (n - 1) \rceil$, predicts the effect of the first, and the scatter, with nothing fitted.
# Independently of any loss, stored verdicts with certificates say where half of all instances can be satisfied at all.

# %%
verdicts = read_table("ridgeless_limit", "verdicts")
decided = np.unique(verdicts["r"]) / 1000
certified = {
    x: phase.certified_by_dimension(verdicts, x) for x in progress(decided, "verdicts")
}

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-distance", "caption": "Boundaries over the critical load, less one, against the dimension. Squares: half of the instances are certified to be satisfiable, with two standard errors. Circles: the loss of trained memories passes half of log 2, mean over instances with two standard errors. Lines: the kinematic prediction for each."}, "image": {"alt": "Three panels of falling points that approach zero as the dimension grows, with lines slightly below them."}}
figure, axes = panels(len(certified), height=3.2, sharey=True, squeeze=False)
for ax, (x, proved), color in zip(axes[0], certified.items(), PALETTE, strict=False):
    critical_x = critical_load(x)
    for points, style in ((proved, "s"), (trained[x], "o")):
        ax.errorbar(
            points.d,
            points.load / critical_x - 1,
            2 * points.error / critical_x,
            fmt=style,
            color=color,
            mfc="none",
        )
        ax.plot(points.d, points.predicted / critical_x - 1, color=GREY)
    ax.axhline(0, color="black", lw=0.6)
    ax.set(xscale="log", xlabel="$d$", title=f"$r = {x:g}$")
    ax.set_xticks([10, 20, 50, 100], ["10", "20", "50", "100"])
    ax.minorticks_off()
axes[0, 0].set_ylabel("load over critical load, less 1")
figure

# %%
rows = [
    (x, *row)
    for x, p in trained.items()
    for row in zip(
        p.d,
        p.load / critical_load(x),
        p.error / critical_load(x),
        p.predicted / critical_load(x),
        strict=True,
    )
]
Table(
    {
        "$r$": [f"{row[0]:g}" for row in rows],
        "$d$": [f"{row[1]:g}" for row in rows],
        "boundary over critical load": [f"{row[2]:.3f} ± {row[3]:.3f}" for row in rows],
        "kinematic": [row[4] for row in rows],
        "ratio": [row[2] / row[4] for row in rows],
    },
    ".3f",
)

# %%
limits = [
    through_inverse(p.d, p.load / p.predicted, p.error / p.predicted)
    for p in certified.values()
]
rejected = 1 / (critical_load(decided) * hinge_moments(-special.ndtri(decided))[1])
check(
    "definition-4",
    f"certified boundaries over the kinematic ones, extrapolated in 1/d, r from {min(decided):g} to {max(decided):g}",
    measured=[polynomial[-1] for polynomial, _ in limits],
    predicted=1.0,
    tolerance=[4 * error for _, error in limits],
    falsehood=("the quantile where the tail begins in place of its mean", rejected),
)

# %%
limits = [
    through_inverse(p.d, p.load / p.predicted, p.error / p.predicted)
    for p in trained.values()
]
rejected = 1 / (critical_load(fractions) * hinge_moments(-special.ndtri(fractions))[1])
check(
    "figure-2",
    f"boundaries by the loss over the kinematic ones, extrapolated in 1/d from d up to {max(edges['d']):g}",
    measured=[polynomial[-1] for polynomial, _ in limits],
    predicted=[phase.predicted_boundary(x) / critical_load(x) for x in fractions],
    tolerance=[4 * error for _, error in limits],
    falsehood=("the quantile where the tail begins in place of its mean", rejected),
)

# %% [markdown]
# ## The slice
#
# The paper's second figure looks along the load at $r = 0.15$, $\beta = 30$, with a ridge of $10^{-7}$, and at the laws at load 0.28.

# %%
sliced = read_table("ridgeless_limit", "slice")
along = {"beta": 30.0, "ridge": 1e-7}
sliced_fits = [
    phase.train(
        at, 0.15, slice_d, seed=derived_seed(seed, 1), tol=1e-4, device=device, **along
    )[1]
    for at in progress(slice_loads, "slice")
]
loads = np.linspace(0.09, 0.52, 87)
theory = solve_scalar(loads, 0.15, **along)
big = int(max(sliced["d"]))


def stored_memories(d, at):
    """Rows of the stored slice at a dimension and a load."""
    return (sliced["d"] == d) & (sliced["load"] == round(1000 * at))


def quantiles(kind, rows):
    """Stored quantiles of one kind, one line for each memory."""
    return np.array([sliced[f"{kind}_{k}"][rows] for k in range(len(phase.LEVELS))]).T


laws = sat_laws(load, 0.15)
finite = solve_scalar(load, 0.15, **along)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-slice", "caption": "The paper's Figure 3, upper half, repeated: mean loss (a) and inverse norm (b) along the load at r = 0.15. Line: scalar theory; dashed, the critical load. Memories stored at d = 100 (dots) and at the largest dimension (open circles), and trained here at the smaller one (squares)."}, "image": {"alt": "Losses are zero up to a dashed line and jump to more than one half; inverse norms leave zero at the same line. Points follow the curves."}}
figure, axes = panels(2)
for ax, curve, name in (
    (axes[0], theory.loss, "loss"),
    (axes[1], 1 / theory.nu, "nu"),
):
    ax.plot(loads, curve, color=GREY)
    ax.axvline(critical_load(0.15), color="black", ls="--", lw=0.8)
    for d, style in ((100, {"fmt": "."}), (big, {"fmt": "o", "mfc": "none"})):
        rows = (sliced["d"] == d) & (sliced["seed"] == 0)
        value = sliced[name][rows]
        value = 1 / value if name == "nu" else value
        ax.errorbar(
            sliced["load"][rows] / 1000, value, color=BLUE, label=f"$d = {d}$", **style
        )
    mine = np.array([getattr(found, name) for found in sliced_fits])
    ax.plot(
        slice_loads,
        1 / mine if name == "nu" else mine,
        "s",
        color=ORANGE,
        ms=4,
        label=f"$d = {slice_d}$",
    )
    ax.set(xlabel="load $\\alpha$")
axes[0].set(ylabel="mean loss", title="(a)")
axes[1].set(ylabel="$1/\\nu$", title="(b)", ylim=(0, 6))
axes[0].legend()
figure

# %% [markdown]
# A distance in loss or norm means little near a jump.
# So we read each stored memory as a load, the one at which the theory has its loss, and compare with the load it was trained at.
# Instances of a dimension differ by the scatter of their critical loads, which the kinematic formula gives.

# %%
rows = np.flatnonzero((sliced["d"] >= 100) & (sliced["seed"] == 0))
dense = np.linspace(0.05, 0.7, 131)
losses = np.log(solve_scalar(dense, 0.15, **along).loss)
actual = sliced["load"][rows] / 1000
read = np.interp(np.log(sliced["loss"][rows]), losses, dense)
n = np.round(actual * sliced["d"][rows] ** 2)
mean, variance = kinematics.pooled_moments(1000, tail_count(0.15, 999))
check(
    "figure-3",
    f"load at which the theory has the loss of a memory over its own, {len(rows)} memories, d = 100 and {big}",
    measured=read / actual,
    predicted=1.0,
    tolerance=4 * np.sqrt(variance / n) / mean,
    falsehood=(
        "the transition is where the median rule has it",
        1 / (critical_load(0.15) * hinge_moments(-special.ndtri(0.15))[1]),
    ),
)

# %% [markdown]
# ## The laws, and what finite size does to them
#
# The paper draws the margin as the signal less $c_r(\nu)$, over $\nu$, and calls the rounding of its step an effect of finite dimension.
# It is a large one, and it has two parts.
#
# **Lengths.** The competitors of a key are normal with the standard deviation $\norm{W v_i}$, which is $\nu$ only on average.
# The singular values of trained memories are spread about like those of a Gaussian matrix, and then lengths differ by $d^{-1/2}$ of themselves: {eq}`eq-ridgeless-lengths` below gives the number that would be one.
# The signal of a key at the edge is $\rho_\alpha \norm{W v_i}$, so it scatters by $\rho_\alpha d^{-1/2}$.
# At the paper's $d = 600$ this is 0.066, more than the distance $\rho_\alpha - \kappa_r = 0.055$ of the step from zero at load 0.28: a fifth of the keys would seem to have a negative margin, and none has.
#
# $$
# \sqrt d\; \frac{\operatorname{sd} \norm{W v}}{\E \norm{W v}} \simeq \frac{\sqrt{d \operatorname{tr}(M^2)/2}}{\operatorname{tr} M} , \qquad M = W^\top W .
# $$ (eq-ridgeless-lengths)
#
# **Samples.** In a margin $s_{i,i} - \TAM(\dots)$ or a percentile the length cancels, since it multiplies the whole column.
# What is left for a percentile is that $n$ competitors are a sample.
# A key at the edge keeps a fixed distance from their tail average, which is a sample's too, so its percentile has the variance
#
# $$
# \frac1n \operatorname{Var}\Bigl[ \mathbf 1\{G \le \rho_\alpha\} + \frac{\varphi(\rho_\alpha)}{r}\, (G - q_r)_+ \Bigr] ,
# $$ (eq-ridgeless-samples)
#
# that is, it scatters as $1/d$.
# With the rounding by the ridge, which {prf:ref}`thm-scalar` has, both laws at finite size are predicted without a fit.

# %%
tabled = [
    d for d in np.unique(sliced["d"]).astype(int) if stored_memories(d, load).any()
]
levels = np.array(phase.LEVELS)
low, middle, high = (int(np.flatnonzero(levels == p)[0]) for p in (0.1, 0.5, 0.9))
p_edge = float(special.ndtr(sat_edge(load)))
places = np.linspace(p_edge - 0.08, 0.999, 3000)
scores = np.linspace(0.2, 4, 3000)


def of_memories(d):
    """Of the stored memories: lowest and median percentile, share below the edge, spreads."""
    omega, signal = (
        quantiles(kind, stored_memories(d, load)) for kind in ("percentile", "signal")
    )
    below = np.mean([np.interp(p_edge, x, levels) for x in omega])
    spreads = [(x[:, high] - x[:, low]).mean() for x in (omega, signal)]
    return [omega[:, 0].mean(), omega[:, middle].mean(), below, *spreads]


def of_laws(d):
    """The same numbers of the predicted laws."""
    omega = phase.percentile_cdf_at_size(places, load, 0.15, d, **along)
    signal = phase.signal_cdf_at_size(scores, load, 0.15, d, **along)
    lowest, q10, q50, q90 = np.interp(
        [math.log(2) / (load * d**2), 0.1, 0.5, 0.9], omega, places
    )
    s10, s90 = np.interp([0.1, 0.9], signal, scores)
    return [lowest, q50, np.interp(p_edge, places, omega), q90 - q10, s90 - s10]


measured, expected = (
    np.array([f(d) for d in tabled]).T for f in (of_memories, of_laws)
)
NUMBERS = [
    "lowest percentile",
    "median percentile",
    "share below the edge",
    "spread of percentiles",
    "spread of signals",
]
Table(
    {"": NUMBERS}
    | {
        f"$d = {d}$": [f"{a:.4g} ({b:.4g})" for a, b in zip(x, y, strict=True)]
        for d, x, y in zip(tabled, measured.T, expected.T, strict=True)
    }
)

# %% [markdown]
# Measured, and predicted in brackets; spreads are distances between the 10% and the 90% quantile.
# The spreads agree within a few per cent at every dimension, and so does the lowest of all keys.
# The share below the edge does not, since the whole distribution sits a little higher or lower as the critical load of the instance does: at $d = 100$ that moves the median by as much as a quarter of the spread.
# On average it sits high at small dimension, and the prediction knows: the limit theory has been asked for a slightly lower load, by the ratio of the kinematic critical load to $\alpha_{\mathrm c}$.
# That alone explains most of what finite size does to the norm here.

# %%
nus = [sliced["nu"][stored_memories(d, load)] for d in tabled]
effective = [phase.effective_load(load, 0.15, d) for d in tabled]
Table(
    {
        "$d$": [str(d) for d in tabled],
        "memories": [str(len(x)) for x in nus],
        "largest gap": [
            f"{max(sliced['gap'][stored_memories(d, load)]):.0e}" for d in tabled
        ],
        "effective load": effective,
        "median $\\nu$": [np.median(x) for x in nus],
        "theory there": [solve_scalar(x, 0.15, **along).nu for x in effective],
        "theory": [finite.nu for _ in tabled],
    }
)

# %%
check(
    "figure-3",
    f"spread of percentiles over the predicted one, load {load:g}, d from {tabled[0]} to {big}",
    measured=measured[3] / expected[3],
    predicted=1.0,
    tolerance=0.1,
    falsehood=(
        "competitors are a sample, and their tail average is not",
        math.sqrt(p_edge * (1 - p_edge)) / laws.percentile_scatter,
    ),
)

# %%
check(
    "figure-3",
    "spread of signals over nu over the predicted one, the same memories",
    measured=measured[4] / expected[4],
    predicted=1.0,
    tolerance=0.1,
    falsehood=(
        "lengths scatter as those of a random rotation's answers, by 1/sqrt(2d)",
        math.sqrt(0.5),
    ),
)

# %% [markdown]
# The assumption about singular values is read off memories trained here.

# %%
Table(
    {
        "load": slice_loads,
        "scatter of lengths times $\\sqrt{d}$": [
            phase.length_scatter(f.W) for f in sliced_fits
        ],
        "relative gap": [f"{f.gap:.0e}" for f in sliced_fits],
        "passes": [str(f.passes) for f in sliced_fits],
    }
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-slice-laws", "caption": "The paper's Figure 3, lower half, at one load below. (c) Signal less c(nu), over nu: limit law (grey), predicted law at the largest stored dimension (orange), and the memory (dots); green, its true margins, in which lengths cancel. (d) Percentiles of signals: limit law, memory, and the correlation memory (dashed). (e) The edge of (d), for three dimensions (dots) with their predictions (lines)."}, "image": {"alt": "Left, a step and a smooth curve across it on which the dots lie; green dots rise almost as steeply as the step. Middle, a jump near 0.95, and a dashed curve far to the left. Right, smooth rises around the edge, steeper for larger dimension, with dots on lines."}}
figure, axes = panels(3, height=3.3)
rows = stored_memories(big, load)
limit_margin, limit_percentile = laws.margin, laws.percentile
t = np.linspace(-0.6, 2.2, 800)
own = (
    scalar_tail_average(sliced["nu"][rows].mean(), 0.15, 30.0)[0]
    / sliced["nu"][rows].mean()
)
axes[0].plot(t, limit_margin.cdf(t), color=GREY)
axes[0].plot(
    t, phase.signal_cdf_at_size(t + own, load, 0.15, big, **along), color=ORANGE
)
axes[0].plot(quantiles("signal", rows).mean(axis=0) - own, levels, ".", color=BLUE)
axes[0].plot(quantiles("margin", rows).mean(axis=0), levels, ".", color=GREEN)
axes[0].set(xlim=(-0.5, 1.1), xlabel="normalised margin", title="(c)")
axes[0].set_ylabel("share of keys below")
w = np.linspace(0, 1, 2001)
axes[1].plot(w, limit_percentile.cdf(w), color=GREY)
axes[1].plot(w, percentile_cdf(w, load), "--", color=PINK)
axes[1].plot(quantiles("percentile", rows).mean(axis=0), levels, ".", color=BLUE)
axes[1].set(xlabel="percentile", title="(d)")
for d, color in zip((tabled[0], 100, big), PALETTE, strict=False):
    omega = quantiles("percentile", stored_memories(d, load)).mean(axis=0)
    axes[2].plot(omega, levels, ".", color=color, label=f"$d = {d}$")
    axes[2].plot(
        places,
        phase.percentile_cdf_at_size(places, load, 0.15, d, **along),
        color=color,
        lw=1,
    )
axes[2].plot(w, limit_percentile.cdf(w), color=GREY)
axes[2].set(xlim=(p_edge - 0.025, p_edge + 0.035), xlabel="percentile", title="(e)")
axes[2].legend(fontsize=8)
figure

# %% [markdown]
# For the check, the quantiles of the percentile are followed to infinite dimension.
# The prediction is the law at this ridge.

# %%
chosen = [int(np.flatnonzero(levels == p)[0]) for p in (0.1, 0.3, 0.5, 0.7, 0.9)]


def followed(values_of, at, degree=1):
    """Limits at infinite d of five quantiles, and their standard errors."""
    dims = [
        d for d in np.unique(sliced["d"]).astype(int) if stored_memories(d, at).any()
    ]
    values = [values_of(stored_memories(d, at)) for d in dims]
    found = [
        through_inverse(
            dims,
            [v[:, k].mean() for v in values],
            pooled_errors(dims, [v[:, k] for v in values]),
            degree,
        )
        for k in range(values[0].shape[1])
    ]
    return np.array([polynomial[-1] for polynomial, _ in found]), np.array(
        [e for _, e in found]
    )


value, error = followed(lambda rows: quantiles("percentile", rows)[:, chosen], load)
check(
    "proposition-12",
    f"five quantiles of the percentile at load {load:g}, extrapolated in 1/d from d up to {big}",
    measured=value,
    predicted=finite.percentile.quantile(levels[chosen]),
    tolerance=4 * error,
    falsehood=(
        "no atom: percentiles are uniform above the edge",
        p_edge + (1 - p_edge) * levels[chosen],
    ),
)

# %% [markdown]
# Above the critical load the ridge of $10^{-7}$ is as good as none, and the memories should have the norm, the loss and the laws of `solve_unsat`.

# %%
point = solve_unsat(0.4, 0.15, 30.0)
value, error = followed(
    lambda rows: np.array([sliced["nu"][rows], sliced["loss"][rows]]).T, 0.4, 2
)
check(
    "proposition-13",
    f"norm and loss at load 0.4, extrapolated to infinite d from d up to {big}",
    measured=value,
    predicted=[point.nu, point.loss],
    tolerance=4 * error,
    falsehood=(
        "the same for beta = 3",
        [solve_unsat(0.4, 0.15, 3.0).nu, solve_unsat(0.4, 0.15, 3.0).loss],
    ),
)

# %%
value, error = followed(lambda rows: quantiles("signal", rows)[:, chosen], 0.4)
check(
    "proposition-13",
    f"five quantiles of the signal over nu at load 0.4, extrapolated in 1/d from d up to {big}",
    measured=value,
    predicted=point.signal.quantile(levels[chosen]) / point.nu,
    tolerance=4 * error,
    falsehood=("leave-one-out scores, not pushed", special.ndtri(levels[chosen])),
)

# %%
pair = [
    phase.train(
        above,
        r,
        slice_d,
        seed=derived_seed(seed, 2),
        beta=b,
        ridge=1e-7,
        tol=1e-4,
        device=device,
    )[1]
    for b in (1.0, 30.0)
]
ratio = solve_unsat(above, r, 1.0).nu / solve_unsat(above, r, 30.0).nu
check(
    "remark-5",
    f"logarithm of the ratio of norms at beta 1 and 30, load {above:g}, one instance of d = {slice_d}",
    measured=math.log(pair[0].nu / pair[1].nu),
    predicted=math.log(ratio),
    tolerance=0.4 * abs(math.log(ratio)),
    falsehood=("the smoothing does not matter", 0.0),
    limits="finite size moves the ratio by tens of per cent at this dimension",
)

# %% [markdown]
# ## Limits
#
# - The limits are sequential, dimension first. A memory of finite size at ridge zero is another matter: it either satisfies an instance or not, and only the certified verdicts above speak of that.
# - The laws below the critical load are reached as one over the logarithm of the ridge: at $10^{-7}$ and load 0.28 the median normalised margin is 0.056 where the limit is 0.0545, and at load 0.2 the limit law of percentiles has an atom where the law at that ridge spreads over four thousandths.
# - The explicit law above the critical load needs a norm that is large: an excess of $10^{-5}$ or less at $r = 0.15$.
# - Stored memories reach $d = 200$, 56 million scores; the paper's sizes are 400 and 600. `python data/ridgeless_limit/slice.py --paper` and its two neighbours compute those a row at a time, on a GPU, and this page will draw them.
# - The paper does not state the smoothing of its phase diagram, its grid, or how its open circles were found.
#
# ## Try
#
# ```sh
# python -m assocmem run ridgeless_limit -p load 0.2
# python -m assocmem run ridgeless_limit -p r 0.5 -p above 0.8 -p beta 3
# ```
#
# The theory alone: `critical_load(0.15)`, `sat_laws(0.28, 0.15).percentile.cdf(0.95)`, `solve_unsat(0.4, 0.15, 30).nu`, and `crossover(0.2944, 0.15, 1e-8).loss`.
