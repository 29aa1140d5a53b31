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
# # Two numbers for a trained memory
#
# A memory is trained by its tail-average margins, with a ridge, as in {doc}`the section before <tail_average_margin>`:
#
# $$
# \begin{gathered}
# \min_W \; \frac1n \sum_{i=1}^n \ell(m_i) + \frac{\lambda}{2 d^2} \norm{W}_F^2 , \\
# m_i = s_{i,i} - \TAM_{r,\beta}\bigl((s_{j,i})_{j \ne i}\bigr) , \\
# \ell(m) = \log(1 + e^{-m}) .
# \end{gathered}
# $$ (eq-scalar-learning)
#
# Here $m_i$ is the smoothed margin of key $i$, $r$ the tail fraction, $\beta$ the sharpness of the smoothing, and $\lambda$ the weight of the ridge.
#
# The minimiser is a function of all $n^2$ scores at once, and nothing about it is independent.
# Yet in the limit of many pairs two numbers are said to describe it completely.
#
# - Its *size* $\nu$ is $\norm{W}_F / d$. A score of a pair that the memory has never seen is normal with this standard deviation.
# - Its *susceptibility* $\chi$ says how far a score gives way to a push of strength one.
#
# The limit is $n, d \to \infty$ with the load $n/d^2$ tending to a fixed $\alpha$, and with $r$, $\beta$ and $\lambda$ fixed.
# This section computes the two numbers to nearly all digits, derives every law from them, and trains memories to see.

# %% tags=["parameters"]
load = 0.6  # load, the pairs per entry of the memory; [0.02, 5]
r = 0.15  # tail fraction; [0.005, 0.98]
beta = 3.0  # inverse smoothing width; [0.1, 1000]
ridge = 0.01  # ridge lambda; [1e-12, 10]
dimensions = [12, 16, 22, 30, 40]  # dimensions d of the simulations; [6, 400]
instances = 12  # memories of each dimension; [3, 100000]
other_instances = 6  # the same at the other points; [3, 100000]
other_loads = [0.1, 0.5, 0.8]  # loads of more points; [0.02, 5]
other_rs = [0.15, 0.5, 0.3]  # their tail fractions; [0.005, 0.98]
other_betas = [3.0, 1.0, 10.0]  # their smoothings; [0.1, 1000]
other_ridges = [0.001, 0.01, 0.0001]  # their ridges; [1e-12, 10]
strong = [
    0.02,
    0.5,
    10.0,
    100.0,
]  # load, r, beta, ridge where the ridge is strong; (0, 1000]
seed = 1  # base seed of every random draw; [0, inf)

# %% tags=["hide-input"]
import assocmem.progress  # noqa: F401  before torch  # isort: skip
import math

import numpy as np
import torch
from myst_nb import glue
from scipy import special

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import INK, LIMIT, TAIL_AVERAGE, Table, panels, series
from assocmem.experiments.infinite_dimension import (
    ERRORS,
    decay_exponent,
    extrapolate,
    limit_evidence,
)
from assocmem.experiments.statistics import power_law
from assocmem.experiments.tail_average.coupling_evidence import equation_sides
from assocmem.experiments.tail_average.potential_evidence import (
    convexity_evidence,
    exponent_evidence,
    maxima_evidence,
    saddle_evidence,
)
from assocmem.experiments.tail_average.scalar_instances import (
    column_distances,
    distance_power,
    least_norm_of,
    train_instance,
    with_scores,
)
from assocmem.experiments.tail_average.stored_instances import LEVELS
from assocmem.experiments.tail_average.stored_limits import (
    at_changed_point,
    competitor_constants,
    enough,
    follow,
    leftovers,
    limit_over_predicted,
    misses_by_dimension,
    scatter_times_dimension,
    share_of_tails,
    theory_and_rows,
)
from assocmem.pairs.data import derived_seed
from assocmem.pairs.scores import signal_percentiles
from assocmem.progress import progress
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.law_variants import middle_levels, normal_twin, with_numbers
from assocmem.theory.norm_bounds import largest_square, least_norm
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import (
    dual_potential,
    prox,
    reduced_potential,
    saddle_potential,
    solve_scalar,
)
from assocmem.theory.scalar_reference import potential_by_definition
from assocmem.training.losses import TailAverage
from assocmem.training.passes import joint_pass, loss_pass

plot.use_style()

# %% tags=["requires", "remove-cell"]
from itertools import pairwise

increasing = all(a < b for a, b in pairwise(dimensions))
points = len(other_loads)
others = {"rs": other_rs, "betas": other_betas, "ridges": other_ridges}
ranges = "four numbers, in [0.02, 5], [0.005, 0.98], [0.1, 1000] and (0, 1000]"
possible = len(strong) == 4 and (
    0.02 <= strong[0] <= 5 and 0.005 <= strong[1] <= 0.98 and strong[2] >= 0.1
)
requires = [
    (
        "dimensions",
        dimensions,
        increasing and len(dimensions) >= 3,
        "three or more, increasing",
    ),
    *(
        (f"other_{name}", x, len(x) == points, f"as many as other_loads, {points}")
        for name, x in others.items()
    ),
    ("strong", strong, possible, ranges),
]

# %% tags=["memory", "remove-cell"]
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training.fit import fit_bytes

most = max(load, *other_loads)
memory = [
    (
        "dimensions",
        max(dimensions),
        lambda d: (
            fit_bytes(n := pairs_at_load(most, d), d)
            + 48 * d**4
            + 40 * n**2
            + 16 * n * d * (instances + other_instances * len(other_loads))
        ),
    )
]

# %% [markdown]
# ## The idea: take one pair out
#
# Nothing about a trained memory is independent of the pairs that it was trained on.
# So take one pair out, and train on the rest.
# The memory that comes out has never seen $u_i$ and $v_i$, and the pair's *fresh* score $u_i^\top W v_i$ under it is a normal variable $\nu G$ with a standard normal $G$.
#
# Now put the pair back.
# Its own loss pushes the memory in the direction $u_i v_i^\top$.
# The force of the push is $\sigma(-m_i)$, with the logistic function $\sigma(t) = 1/(1 + e^{-t})$: nearly one for a margin far below zero, and nearly nothing for one far above.
# Seen along the same direction, the memory gives way by $\chi$ for each unit of force.
# So the margin $y$ in the end is the fresh margin $x$ and $\chi$ times the force that is left in the end:
#
# $$
# y - \chi\, \sigma(-y) = x .
# $$ (eq-scalar-prox)
#
# The solution is called $y = \operatorname{Prox}_\chi(x)$, the *proximal map* of the logistic loss.
#
# A margin is a signal less a tail average.
# The competitors of a key are scores with targets that do not belong to it, and they stay normal with standard deviation $\nu$.
# Their tail average is therefore that of a normal law,
#
# $$
# \begin{aligned}
# c_r(\nu) &= \min_\mu \Bigl\{ \mu + \frac1r\, \E\, \phi_\beta(\nu Z - \mu) \Bigr\} , \\
# \phi_\beta(t) &= \frac1\beta \log(1 + e^{\beta t}) ,
# \end{aligned}
# $$ (eq-scalar-tail)
#
# with a standard normal $Z$.
# We write $c$ for its value at the $\nu$ in question and $\mu$ for the threshold where the minimum is attained.
#
# Both numbers $\nu$ and $\chi$ follow from load, tail fraction, sharpness and ridge, by {ref}`two equations <scalar-equations>` that come further down.
# With them the whole map from fresh scores to signals is known.
#
# ```{widget} proximal
# :label: The proximal map, and the law that it makes
# The proximal map from fresh margins to margins, and the law of the margins before the push and after it, for any size $\nu$ and any susceptibility $\chi$.
# Raise $\chi$, and see the keys pushed that lag behind while those ahead stay; raise $\nu$, and see the keys spread.
# The sentence below the charts says to which load and ridge the two numbers belong.
# ```
#
# We solve the equations, and compute the signal that belongs to each of a range of fresh scores.

# %%
theory = solve_scalar(load, r, beta=beta, ridge=ridge)
fresh = theory.nu * np.linspace(-3, 3, 200)
signal = theory.c + prox(fresh - theory.c, theory.chi)

# %% tags=["hide-input"]
Table(
    {
        "quantity": [
            "size $\\nu$",
            "susceptibility $\\chi$",
            "tail average $c$",
            "threshold $\\mu$",
            "mean loss",
            "residual",
        ],
        "value": [
            *(f"{getattr(theory, x):.10g}" for x in ("nu", "chi", "c", "mu", "loss")),
            f"{theory.residual:.0e}",
        ],
    }
)

# %% [markdown]
# The residual is the largest relative error that the solution leaves in the two equations.
# No digit of this table rests on a simulation.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-push", "caption": "What training does to a signal, at the section's parameters. Line: the signal with the pair, against its fresh score under the memory without it. Dashed: no push. Dotted: the tail average of the competitors. Arrows: the push at three fresh scores. Shaded: where fresh scores lie, a normal law of standard deviation $\\nu$."}, "image": {"alt": "A rising curve above the diagonal, further above it at the left than at the right. Three arrows lead from the diagonal to the curve, the longest at the left."}}
figure, ax = panels(1, width=5.4, height=3.8)
ax.plot(fresh, signal, color=TAIL_AVERAGE, label="with the pair")
ax.plot(fresh, fresh, "--", color=LIMIT, lw=1, label="no push")
ax.axhline(theory.c, ls=":", color=INK, label="tail average $c$")
for place in (20, 70, 150):
    arrow = {"arrowstyle": "->", "color": INK}
    ends = (fresh[place], signal[place]), (fresh[place], fresh[place])
    ax.annotate("", *ends, arrowprops=arrow)
density = np.exp(-((fresh / theory.nu) ** 2) / 2)
bottom = fresh[0]
heights = bottom + 0.2 * np.ptp(fresh) * density
ax.fill_between(fresh, bottom, heights, color=LIMIT, alpha=0.25, lw=0)
ax.set(xlabel="fresh score $\\nu G$", ylabel="signal", ylim=(bottom, None))
ax.legend(loc="upper left")
figure

# %% [markdown]
# In {numref}`fig-push` the keys that lag furthest behind their competitors are pushed by nearly $\chi$.
# The further a key is ahead by itself, the less it is pushed.

# %% [markdown]
# ## What is claimed
#
# The two numbers are the saddle point of one function, the *scalar potential* ([Definition 3](#definition-3)).
# It weighs three things: the ridge, what a memory of size $\nu$ can do at the load $\alpha$, and the mean loss of a key that may be pushed at a cost:
#
# $$
# \begin{aligned}
# \mathcal P(\nu, \chi) &= \frac{\lambda}{2} \nu^2 - \frac{\nu^2}{2 \alpha \chi} + \E\, e_\chi(\nu G) , \\
# e_\chi(g) &= \min_s \Bigl[ \frac{(s - g)^2}{2 \chi} + \ell(s - c_r(\nu)) \Bigr] .
# \end{aligned}
# $$ (eq-scalar-potential)
#
# The best $s$ in the second line is the signal that {eq}`eq-scalar-prox` gives.
#
# The theorem speaks of the Hessian $H$ of the summed loss with the thresholds held fixed ([Definition 2](#definition-2)).
# Its inverse says how the memory gives way, and its normalised trace $\operatorname{tr}(H^{-1}) / d^2$ is the susceptibility of a trained memory.
#
# :::{prf:theorem} Scalar description of the minimiser (Theorem 2 of the paper)
# :label: thm-scalar
#
# Let $\nu_*$ minimise $\sup_\chi \mathcal P(\nu, \chi)$ and let $\chi_*$ attain the supremum there.
# Put $c_* = c_r(\nu_*)$.
# Then in probability
#
# - $\norm{W}_F / d \to \nu_*$ and $\operatorname{tr}(H^{-1}) / d^2 \to \chi_*$,
# - the competitors of each key look like a sample of $\mathcal N(0, \nu_*^2)$,
# - and the signals look like a sample of $S = c_* + \operatorname{Prox}_{\chi_*}(\nu_* G - c_*)$.
# :::
#
# This is [Theorem 2](#theorem-2), which also assumes that $\nu_*$ is positive; it {ref}`always is <errata-positive>`.
# How it is proved, by taking pairs out, is the subject of {doc}`the next section <leave_one_out>`.
#
# Write $\mathcal V(\nu) = \sup_\chi \mathcal P(\nu, \chi)$ for the *reduced* potential.
# It also has a description from below.
# Every function $a(G)$ with values in $[0, 1]$, a *weight* for each key, gives a lower bound:
#
# $$
# \begin{aligned}
# \mathcal V(\nu) \ge{}& \frac{\lambda}{2} \nu^2 + \E \bigl[ a\,(c_r(\nu) - \nu G) - I(a) \bigr] \\
# &- \frac{\nu}{\sqrt\alpha} \sqrt{\E\, a^2} , \\
# I(a) ={}& a \log a + (1 - a) \log(1 - a) .
# \end{aligned}
# $$ (eq-scalar-dual)
#
# The supremum over $\chi$ has been carried out, and has become the square root.
# The weights of the solution, which are the forces $\sigma(-m)$, make the bound an equality at $\nu_*$.
# Why one convex potential is behind the two numbers is half a page: {ref}`proof-duality`.
#
# ```{widget} scalar_potential
# :label: The potential, its minimum and its maximum
# The reduced potential $\mathcal V(\nu)$ is the sum of the ridge term $\lambda \nu^2 / 2$ and the mean loss of the keys at the best $\chi$.
# Its minimum is the size of the trained memory; at that size the potential over $\chi$ has its maximum at the susceptibility, and falls below zero towards $\chi = 0$.
# Lower the ridge at load 0.2 and at load 0.6, and see the minimum run away at the one and stop at the other.
# ```

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-potential", "caption": "The scalar potential at the section's parameters. Top: the reduced potential against the size $\\nu$, and the dual lower bound with the weights of the solution; they touch at the minimum. Bottom: the potential at the best $\\nu$ against the susceptibility $\\chi$, with a single maximum. Dots: the saddle point."}, "image": {"alt": "Top, a convex curve with a dashed curve below that touches it at its minimum. Bottom, a curve with one maximum."}}
figure, (top, bottom) = panels(1, rows=2, height=5.8, width=5.4)
at = {"load": load, "r": r, "beta": beta, "ridge": ridge}
nu = theory.nu * np.linspace(0.4, 2, 33)
curve = {"color": TAIL_AVERAGE, "label": "potential"}
top.plot(nu, [reduced_potential(x, **at) for x in nu], **curve)
bound = {"ls": "--", "color": INK, "label": "dual lower bound"}
top.plot(nu, [dual_potential(x, theory) for x in nu], **bound)
top.set(xlabel="size $\\nu$", ylabel="reduced potential $\\mathcal{V}(\\nu)$")
chi = theory.chi * np.linspace(0.4, 3, 33)
bottom.plot(chi, [saddle_potential(theory.nu, x, **at) for x in chi], **curve)
bottom.set(xlabel="susceptibility $\\chi$", ylabel="$\\mathcal{P}(\\nu_*, \\chi)$")
for ax, x in ((top, theory.nu), (bottom, theory.chi)):
    ax.plot(x, theory.objective, "o", color=INK)
top.legend()
figure

# %% [markdown]
# (scalar-equations)=
# ## The two equations
#
# At the saddle point both derivatives of the potential vanish ([Proposition 10](#proposition-10)).
# This gives two equations for $\nu$ and $\chi$.
# They contain averages over one random key.
# Its signal is $S$, its force is $A = \sigma(c - S)$, and the slope of that force is $B = A(1 - A)$.
#
# $$
# \begin{aligned}
# \nu^2 (\lambda + \omega) &= \E[A S] , \\
# \frac1\alpha &= \chi (\lambda + \omega) + \E \frac{\chi B}{1 + \chi B} , \\
# \omega &= \frac1r\, \E[A]\, \E\, \phi_\beta''(\nu Z - \mu) .
# \end{aligned}
# $$ (eq-scalar-equations)
#
# The first is the stationarity of the minimiser: the ridge and the competitors pull as much as the signals do.
# The second is the trace of the inverse Hessian.
# The number $\omega$ is what the smoothed tail adds to the ridge, through the second derivative of the softplus near the threshold.
# The solver finds the root of these equations; {doc}`scalar_theory_checks` differentiates the potential and compares.
# Facts that count more or less than others keep these two numbers: {doc}`what_is_kept`.

# %% [markdown]
# ## Training memories
#
# Now memories are trained, at several dimensions, and set beside the theory.
# Each is trained until its duality gap is below $10^{-8}$, relatively, so that nothing is blurred by a solver that stopped early.
# The Hessian is formed as a dense matrix and inverted, so the trace is exact.


# %%
def train(d, point, *key):
    """One memory at a point of the parameters, with size and susceptibility."""
    return train_instance(d, *point, seed=derived_seed(seed, d, *key))


# %%
main = (load, r, beta, ridge)
runs = {}
for d in dimensions:
    bar = progress(range(instances), f"d = {d}")
    runs[d] = [with_scores(train(d, main, k)) for k in bar]

# %% tags=["hide-input"]
NAMES = {"nu": "$\\nu$", "chi": "$\\chi$", "loss": "mean loss"}
values = {
    name: np.array([[getattr(run, name) for run in runs[d]] for d in dimensions])
    for name in NAMES
}
means = {name: x.mean(axis=1) for name, x in values.items()}
scatter = {name: x.std(axis=1, ddof=1) for name, x in values.items()}
errors = {name: x / math.sqrt(instances) for name, x in scatter.items()}

rows = [*(str(d) for d in dimensions), "theory"]
columns = {
    label: [
        *(f"{m:.4f} ± {e:.4f}" for m, e in zip(means[name], errors[name], strict=True)),
        f"{getattr(theory, name):.4f}",
    ]
    for name, label in NAMES.items()
}
Table({"$d$": rows, **columns})

# %% [markdown]
# The distance from the theory falls about like $1/d$.
# So a curve through the means, quadratic in $1/d$ and weighted by their errors, is followed to $d = \infty$.

# %%
limits = {name: extrapolate(dimensions, x) for name, x in values.items()}

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-order", "caption": "Trained memories of growing dimension. Top: means of size, susceptibility and mean loss over the theory, with two standard errors, against $1/d$; dashed, the extrapolation; cross, the theory. Bottom: scatter between instances relative to the theory, against $d$; dotted, slopes $-1/2$ and $-1$."}, "image": {"alt": "Top, points approach a cross at one on the vertical axis as 1/d goes to zero. Bottom, the scatter falls with d at a slope near minus one."}}
figure, (top, bottom) = panels(1, rows=2, height=6.4, width=5.4)
inverse = 1 / np.array(dimensions, dtype=float)
dense = np.linspace(0, inverse.max(), 50)
for name, colour in series(NAMES):
    exact, look = getattr(theory, name), colour | {"label": NAMES[name]}
    bars = 2 * errors[name] / exact
    top.errorbar(inverse, means[name] / exact, yerr=bars, ls="none", **look)
    line = np.polyval(limits[name].polynomial, dense) / exact
    top.plot(dense, line, "--", color=colour["color"], lw=1)
    share = scatter[name] / exact
    bottom.loglog(dimensions, share, lw=1, **look)
top.plot(0, 1, "x", color=INK, ms=9, mew=2, label="theory")
top.set(xlabel="$1/d$", ylabel="measured over theory")
for slope, place in ((-0.5, "slope $-1/2$"), (-1, "slope $-1$")):
    guide = share[0] * (np.array(dimensions) / dimensions[0]) ** slope
    bottom.loglog(dimensions, guide, ":", color=LIMIT, label=place, lw=-2 * slope)
bottom.set(xlabel="dimension $d$", ylabel="relative scatter")
bottom.set_xticks(dimensions, [str(d) for d in dimensions], minor=False)
bottom.minorticks_off()
top.legend()
bottom.legend(fontsize=8, ncols=2)
figure

# %% [markdown]
# In the upper panel of {numref}`fig-order` all three numbers tend to the theory.
# In the lower panel their scatter between instances falls: larger memories are all alike.
#
# The paper states that the scatter falls at least like $d^{-1/2}$.
# For the norm its own bounds give $1/d$ ({ref}`the argument <proof-poincare>`, {ref}`the gradient <errata-norm>`), and that is what the figure has.
# {prf:ref}`thm-scalar` itself needs no rate at all.
#
# The check is on the extrapolated values, at four standard errors.
# The falsehood is a theory in which only $d(d+1)/2$ of the $d^2$ entries count, as for a symmetric matrix.
# {doc}`Larger memories <scalar_theory_checks>` allow a nearer falsehood.

# %% tags=["hide-input"]
half = solve_scalar(2 * load, r, beta=beta, ridge=ridge)
check(
    **limit_evidence(
        "theorem-2",
        "size, susceptibility and mean loss extrapolated to infinite $d$ from $d$ up "
        f"to {max(dimensions)}",
        [limits[name] for name in NAMES],
        kind="simulation",
        caveat="twelve memories of each dimension up to 40; larger ones are followed "
        "on the page of all checks",
        predicted=[getattr(theory, name) for name in NAMES],
        falsehood=(
            "half of the entries of $W$ count",
            [getattr(half, name) for name in NAMES],
        ),
    ),
    axis="value at infinite $d$",
    each=["size", "susceptibility", "mean loss"],
)

# %% [markdown]
# ## The laws of the scores
#
# Now one memory of the largest dimension is looked at score by score.
# Its own $\nu_d$ and $\chi_d$, which are not yet at their limits, are put into the laws, as [Proposition 7](#proposition-7) does.

# %%
d = max(dimensions)
one = runs[d][0]
law = with_numbers(theory, one.nu, one.chi)

# %% tags=["hide-input"] explore="explore_ridge?load=0.6&r=0.15&beta=3&ridge=0.01" mystnb={"figure": {"name": "fig-laws", "caption": "One memory of the largest dimension (dots) and its laws (lines). Top: the signals against the quantiles of the proximal law. Middle: the share of keys with a margin below any number. Bottom: the same for percentiles, the share of competitors that a signal beats."}, "image": {"alt": "Dots near a diagonal, and dots that follow two distribution functions closely."}}
figure, axes = panels(1, rows=3, height=8, width=5.4)
n = one.pairs.n
p = (np.arange(n) + 0.5) / n
dots = {"ls": "none", "marker": ".", "ms": 3, "color": TAIL_AVERAGE}
axes[0].plot(law.signal.quantile(p), np.sort(one.signal), **dots, label="memory")
axes[0].axline((0, 0), slope=1, color=INK, lw=1, label="law")
axes[0].set(xlabel="quantile of the law", ylabel="signal score")
margins = np.sort(one.margin)
axes[1].plot(margins, p, **dots)
t = np.linspace(margins[0], margins[-1], 200)
axes[1].plot(t, law.margin_cdf(t), color=INK, lw=1)
axes[1].set(xlabel="margin", ylabel="share of keys below")
percentiles = np.sort(signal_percentiles(one.pairs, one.fit.W).numpy())
axes[2].plot(percentiles, p, **dots)
w = np.linspace(0, 1, 400)
axes[2].plot(w, law.percentile_cdf(w), color=INK, lw=1)
axes[2].set(xlabel="percentile of the signal", ylabel="share of keys below")
axes[0].legend(markerscale=3)
figure

# %% [markdown]
# The laws have no fitted number in them, and the dots follow them closely.
# What differs at the ends is few keys, and a dimension that is not yet infinite.
#
# ## Limits
#
# - The corrections are of order $1/d$ with a coefficient that grows with $\nu$. At the default parameters a dimension of 40 is 10% above the theory in norm, and only the extrapolation meets it to a percent. At loads where a memory can satisfy all keys, and with a ridge of $10^{-7}$, $\nu$ is above 100, and a dimension of 100 still falls 15% short in norm.
# - At loads far below {doc}`the critical one <ridgeless_limit>`, where all keys can easily be satisfied, the law of the signals is narrow, and small memories do not follow it. At load 0.1 and $d = 30$ their scores spread several times as wide, since the tail average of each key still varies with the length of $W v_i$.
# - The theorem fixes $\beta$ and $\lambda$ while $n$ grows. What happens as the ridge vanishes is another limit, with {doc}`its own section <ridgeless_limit>`.
# - The laws are one-key laws. They say nothing about how the margins of two keys depend on each other.
#
# What larger memories can tell, and cannot, is at the end of {doc}`all checks <scalar_theory_checks>`.
#
# ## Exercises
#
# ```{exercise} A hundred times the susceptibility
# :label: ex-scalar-hundred
#
# At the section's parameters the key in the middle has the fresh margin $-1.36$, and is pushed up by 0.81.
# How far is it pushed if it gives way a hundred times as easily, with $\chi = 128$ at the same $\nu$?
# Write down a guess, then set $\chi$ in [the widget](#widget-proximal).
# Show from {eq}`eq-scalar-prox` how the push grows with $\chi$ in the end.
# ```
#
# ```{solution} ex-scalar-hundred
# :class: dropdown
#
# It is pushed by 4.64, not six times as far.
# The force is what is left in the end, and a key that has come above zero is hardly pushed any more.
#
# Let $P = y - x = \chi\, \sigma(-y)$ be the push.
# Then $e^y = \chi / P - 1$.
# For large $\chi$ the margin is large as well, so that $\chi / P$ is, and $y \approx \log \chi - \log P$.
# The push is $y - x$, and so it grows like $\log \chi$, less the logarithm of that logarithm.
# A further factor of a hundred, from 128 to 12 845, makes it 8.66, which is 4.02 more; $\log 100$ is 4.61.
#
# Only keys far below $-\chi$ are pushed in proportion to $\chi$: their force is one whatever happens.
# ```
#
# ```{exercise} Twice the critical load
# :label: ex-scalar-twice
#
# For $r = 0.15$ the {doc}`critical load <ridgeless_limit>` is $\alpha_c = 0.294$: below it a memory can give all keys a positive margin.
# At twice that load a memory could still serve nearly half of all keys.
# It would be trained on these alone, which is a load below $\alpha_c$, and would give up the others.
# What share of keys has a positive margin under the memory that minimises {eq}`eq-scalar-learning` for all of them, at $\beta = 3$ and a ridge of $10^{-7}$?
#
# Show first that a key fails exactly if its fresh margin is below $-\chi / 2$, and write the share with $\nu$, $\chi$, $c$ and the normal distribution function $\Phi$.
# ```
#
# ```{solution-start} ex-scalar-twice
# :class: dropdown
# ```
#
# The proximal map increases, and it takes $x = -\chi / 2$ to $y = 0$, since $\sigma(0) = \frac12$.
# The fresh margin is $\nu G - c$, so the share of positive margins is $\Phi\bigl((\chi / 2 - c) / \nu\bigr)$.
# The cell prints it by this formula and from the law of the margins.

# %% tags=["answer"] says="0.139 0.139"
from scipy.special import ndtr

from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import solve_scalar

at_twice = solve_scalar(2 * critical_load(0.15), 0.15, beta=3, ridge=1e-7)
served = ndtr((at_twice.chi / 2 - at_twice.c) / at_twice.nu)
by_law = 1 - at_twice.margin_cdf(0)
print(f"{served:.3f} {by_law:.3f}")

# %% [markdown]
# The trained memory serves one key in seven, and not one in two.
# The logistic loss grows in proportion to a negative margin.
# It is cheaper to bring all keys a little nearer to zero than to serve some and leave the others behind.
# The objective counts losses, not successes, and the theorem says nothing of memories that minimise something else.
#
# ```{solution-end}
# ```
#
# ```{exercise} Read backwards
# :label: ex-scalar-backwards
#
# To find $\nu$ and $\chi$ from load and ridge two equations have to be solved.
# The other way is explicit.
# Differentiate the potential {eq}`eq-scalar-potential` in $\chi$, and find the load from $\nu$ and $\chi$.
# What does the equation say about the pushes of all keys?
# Then find the ridge.
# Do all pairs $\nu$, $\chi$ belong to a memory?
# ```
#
# ```{solution} ex-scalar-backwards
# :class: dropdown
#
# In the derivative of a minimum only what stands in the formula counts, since the best $s$ is stationary.
# So $\partial_\chi e_\chi(g) = - (s - g)^2 / (2 \chi^2)$, and $s - g$ is the push $\chi A$.
# The derivative of the potential is $\nu^2 / (2 \alpha \chi^2) - \frac12 \E A^2$, and it vanishes at
#
# $$
# \nu^2 = \alpha\, \E (\chi A)^2 .
# $$
#
# The square of the size is the load times the mean square of the pushes.
#
# This gives $\alpha = \nu^2 / (\chi^2\, \E A^2)$, where $A$ is the force $\sigma(-y)$ at the proximal map of $\nu G - c_r(\nu)$.
# The first equation of {eq}`eq-scalar-equations` then gives $\lambda = \E[A S] / \nu^2 - \omega$.
#
# Not all pairs have a positive $\lambda$.
# In [the widget](#widget-proximal) set $\nu = 1$ and leave $\chi$ at 1.28: the load is 1.2, and the ridge would have to be negative.
# No memory that minimises {eq}`eq-scalar-learning` is that large at that load.
# ```
#
# ```{exercise} Another loss
# :label: ex-scalar-hinge
#
# Replace the logistic loss by the hinge loss $\ell(m) = (-m)_+$.
# The margin in the end is again the minimiser of $(y - x)^2 / 2 \chi + \ell(y)$.
# Find the proximal map, and the law of the margins that it makes of the normal law of $\nu G - c$.
# How does this law differ in kind from that of the logistic loss?
# ```
#
# ```{solution} ex-scalar-hinge
# :class: dropdown
#
# The hinge loss has the slope $-1$ below zero, and 0 above.
# So there are three cases:
#
# - A key with $x > 0$ is not pushed.
# - A key with $x < -\chi$ is pushed by $\chi$, and stays below zero.
# - All keys between are pushed up to zero and no further.
#
# So the margins have an atom at zero, with the share $\Phi(c / \nu) - \Phi((c - \chi) / \nu)$ of the keys.
# Below zero they are normal and shifted by $\chi$, and above zero they are as they were.
#
# The logistic loss has no such atom.
# Its proximal map has the derivative $1 / (1 + \chi B)$, which is never zero, and so the margins have a density everywhere.
# For large sizes and scores in units of $\nu$ the logistic loss looks like the hinge loss, and its law like one with an atom.
# That is what {doc}`the critical load <ridgeless_limit>` rests on.
# ```
#
# ```{exercise} A ridge that fades
# :label: ex-scalar-fades
#
# The ridge falls from $10^{-3}$ to $10^{-6}$ and on to $10^{-9}$.
# By how much does the size of the trained memory grow in each of these steps, at load 0.6 and at load 0.2?
# Guess whether it settles, is multiplied, or has something added, and then move the ridge in [the widget](#widget-scalar_potential).
# What must the mean loss do at large sizes to explain what you see at load 0.2?
# ```
#
# ```{solution} ex-scalar-fades
# :class: dropdown
#
# At load 0.6 the size settles: it goes from 0.6436 to 0.6447 and stays there.
# The mean loss has a minimum of its own.
#
# At load 0.2 the size goes from 8.6 to 21.9 to 36.2: each factor of a thousand adds about 14.
# At the minimum the slope of the mean loss is $-\lambda \nu$.
# If a thousandth of the ridge adds a fixed number to $\nu$, the slope falls exponentially in $\nu$, and so does the loss.
#
# This is as it should be below the critical load.
# All margins are then positive and grow in proportion to $\nu$, and a margin $m$ costs $\ell(m) \approx e^{-m}$.
# {doc}`The section on the critical load <ridgeless_limit>` has the rate: the least margins are $\delta \nu$ with $\delta = 0.447$ here, and to leading order a factor of a thousand adds $\log 1000 / \delta = 15.5$.
# Since $\lambda \nu$ has the $\nu$ as well, it is a little less at finite sizes.
# ```
#
# ## Try
#
# Another load and a weaker ridge, or a sharper and wider tail:
#
# ```sh
# python -m assocmem run scalar_theory -p load 0.25 -p ridge 1e-3
# python -m assocmem run scalar_theory -p beta 30 -p r 0.5
# ```
#
# The theory alone takes no training, at any number of points:
#
# ```python
# import assocmem as am
#
# print(am.solve_scalar([0.1, 0.2, 0.4], 0.15, beta=30, ridge=1e-7).nu)
# ```

# %% [markdown] tags=["second-page"]
# # Scalar theory: all checks
#
# {doc}`The story <scalar_theory>` tells what the two numbers $\nu$ and $\chi$ are, and compares trained memories with them.
# Here is the rest of the evidence: the potential and its shape, bounds on the norm, the laws and equations at finite size, other points of the parameters, and larger memories that a sweep has stored.

# %% [markdown]
# ## The potential
#
# The potential of [Definition 3](#definition-3), {eq}`eq-scalar-potential`, has two minimisations and two expectations inside.
# We do them by brute force: a search for the threshold, a search for $s$ at every $G$, and adaptive quadrature around both.
# The falsehood is that a key cannot be pushed, so that signals stay at their fresh scores.

# %% tags=["hide-input"]
places = [
    (theory.nu, theory.chi),
    (0.5 * theory.nu, theory.chi),
    (theory.nu, 2 * theory.chi),
]
potentials = [potential_by_definition(*place, **at) for place in places]
check(
    "definition-3",
    "the potential at three points, by nested minimisation and adaptive quadrature",
    kind="quadrature",
    measured=[value for value, _ in potentials],
    predicted=[saddle_potential(*place, **at) for place in places],
    tolerance=1e-8,
    falsehood=(
        "signals stay at their fresh scores",
        [stiff for _, stiff in potentials],
    ),
    axis="scalar potential",
    each=["at the saddle", "at half of the size", "at twice the susceptibility"],
)

# %% [markdown]
# [Proposition 10](#proposition-10) makes three statements about it.
#
# The first is that the saddle point solves the two equations {eq}`eq-scalar-equations`.
# We differentiate the potential numerically, which knows nothing of these equations, and compare.
# This is done here and at five more points, two of them below the critical load and three above.
# There both expectations are sums over equidistant nodes, and the solver's own quadrature plays no part.
# The falsehood is a near miss: averages taken one by one, $\E B / (1 + \chi\, \E B)$ and $(\E A)^2$.

# %% tags=["hide-input"]
check(**saddle_evidence((load, r, beta, ridge)))

# %% [markdown]
# The second statement is that for every $\nu$ there is one best $\chi$.
# In $t = 1/\chi$ the potential is a line plus an infimum of lines, so it is concave.
# Its slope in $t$ is $\frac12 (\chi^2 \E A^2 - \nu^2/\alpha)$.
# The proof shows that $\chi^2 \E A^2$ grows without bound, with the power $2\, \E \frac{A^2}{1 + \chi B} / \E A^2 > 0$ of $\chi$.
#
# First we count maxima over sixteen powers of ten, at a third, once and three times the best $\nu$ of each point.

# %% tags=["hide-input"]
check(**maxima_evidence())

# %% [markdown]
# Then we measure the power itself, from second differences of the potential in $1/\chi$.
# It falls from 2 to a twentieth but stays positive.
# In the end the growth is that of a squared logarithm, since a strong response pushes a key by $\chi A \approx \log \chi$.

# %% tags=["hide-input"]
check(**exponent_evidence())

# %% [markdown]
# The third statement is that $\mathcal V$ is $\lambda$-strongly convex: its second derivative is at least $\lambda$.
# The reason is {eq}`eq-scalar-dual`: each weight $a$ gives a convex function of $\nu$ besides the ridge, and so does their supremum.
#
# The check searches for the supremum over $\chi$ and takes the second difference in $\nu$.
# It is never below the ridge.
# And the ridge is the best constant: far out the potential without it tends to zero or to a straight line.
# So no number above $\lambda$ would do, on either side of the critical load.

# %% tags=["hide-input"]
check(**convexity_evidence())

# %% [markdown]
# ## How large a memory can be
#
# Two bounds hold the norm from either side.
#
# Doing nothing, $W = 0$ with thresholds 0, costs at most $\log 2 + \log 2 / (r\beta)$ a key.
# So the ridge term of the best memory cannot be larger ([Lemma 18](#lemma-18)):
#
# $$
# \nu_d^2 \le C_0 = \frac2\lambda \Bigl( \log 2 + \frac{\log 2}{r \beta} \Bigr) ,
# $$ (eq-scalar-upper)
#
# where $\nu_d = \norm{W}_F / d$ is the size of a memory of dimension $d$.
#
# The other bound uses that some multiple $t\, U V^\top$ of the outer products beats $W = 0$ by a fixed amount.
# A convex objective can fall no faster than its slope at zero, so the best memory cannot be near zero ([Lemma 19](#lemma-19), by the route of [Remark 8](#remark-8)).
# With $L$ for the mean loss,
#
# $$
# \begin{aligned}
# \norm{W}_F &\ge \frac{L(0) - L_{\min}}{\norm{\nabla L(0)}_F} , \\
# L_{\min} &= \min_t \Bigl\{ L(t\, U V^\top) + \frac{\lambda t^2}{2 d^2} \norm{U V^\top}_F^2 \Bigr\} .
# \end{aligned}
# $$ (eq-scalar-lower)
#
# Both bounds, over $d$, beside the memories of the section:

# %% tags=["hide-input"]
loss = TailAverage(r=r, beta=beta)
limit = least_norm(**at)
bounds = np.array(
    [
        [least_norm_of(run.pairs, loss, ridge) for run in progress(runs[d], "bounds")]
        for d in dimensions
    ]
)
upper = math.sqrt(largest_square(r, beta, ridge))
Table(
    {
        "$d$": [*(str(d) for d in dimensions), "limit"],
        "lower bound": [*bounds.mean(axis=1), limit],
        "$\\nu$": [*means["nu"], theory.nu],
        "upper bound": [upper] * (len(dimensions) + 1),
    }
)

# %% [markdown]
# Both bounds hold for every instance, so a comparison of $\nu_d$ with them could not fail.
# What can fail is what they are made of: the slope at zero, the gain of the outer products, and the limit of the lower bound.
#
# First the slope.
# At $W = 0$ each tail is uniform and each force about one half.
# So the slope is that of $\frac1{2n} \sum_i (u_i - \bar u_{-i}) v_i^\top$, where $\bar u_{-i}$ is the mean of the other targets, and has the norm $\frac{1}{2 \sqrt n}$ for pairs of unit length on average.
# With the smoothing the force is $\sigma(-I(r) / (r \beta))$ instead of one half, where $-I(r)$ is the entropy of the tail fraction, with the $I$ of {eq}`eq-scalar-dual`.

# %% tags=["hide-input"]
entropy = special.entr(r) + special.entr(1 - r)
slopes = np.array(
    [
        [
            float(loss_pass(run.pairs, loss, 0 * run.fit.W).gradient.norm()) * d
            for run in runs[d]
        ]
        for d in dimensions
    ]
)
weight = special.expit(entropy / (r * beta))
check(
    **limit_evidence(
        "lemma-19",
        "$d$ times the slope of the objective at $W = 0$, extrapolated to infinite $d$",
        [extrapolate(dimensions, slopes, degree=1)],
        kind="simulation",
        predicted=weight / math.sqrt(load),
        falsehood=("every weight is one half", 0.5 / math.sqrt(load)),
    ),
    axis="slope of the objective, times $d$",
)

# %% [markdown]
# Next the lower bound as a whole, with the gain of the outer products in it.

# %% tags=["hide-input"]
sharper = least_norm(load, r, beta=2 * beta, ridge=ridge)
check(
    **limit_evidence(
        "remark-8",
        "lower bounds of instances, extrapolated to infinite $d$",
        [extrapolate(dimensions, bounds)],
        kind="simulation",
        caveat="four standard errors of so few instances are a quarter to a half of "
        "the effect",
        predicted=limit,
        falsehood=("smoothing over half the width", sharper),
    ),
    axis="lower bound on the size",
)

# %% [markdown]
# The appendix also writes the bracket as $\nu_d \le C_0$, with the constant that the lemma gives for the square (see the {doc}`errata <../errata>`).
# With a strong ridge $C_0$ is below one and so below its root, and $\nu_d$ can lie between the two.
# At load 0.02, $r = 0.5$, $\beta = 10$ and ridge 100 the theory says 0.0329, which is nearly twice $C_0 = 0.0166$.

# %% tags=["hide-input"]
large = [train(dimensions[-2], strong, 99, k) for k in range(other_instances)]
step = solve_scalar(*strong[:2], beta=strong[2], ridge=strong[3]).nu
sizes_there = np.array([run.nu for run in large])
check(
    "lemma-18",
    f"size of memories with a strong ridge, $d = {dimensions[-2]}$",
    kind="simulation",
    measured=sizes_there.mean(),
    predicted=step,
    tolerance=0.1 * step
    + ERRORS * sizes_there.std(ddof=1) / math.sqrt(other_instances),
    falsehood=(
        "at most $C_0$ itself, as the appendix has it",
        largest_square(*strong[1:]),
    ),
    limits="the bound on the square holds for every memory and cannot fail; what is "
    "tested is whether the size itself may exceed $C_0$",
    axis=r"size $\nu$",
)

# %% [markdown]
# Smoothing enters the upper bound through $1/\beta$ alone ([Remark 7](#remark-7)), in the cost of doing nothing.
# At thresholds 0 the tail average of $W = 0$ is exactly $\frac{(n - 1) \log 2}{k \beta}$.
# The best thresholds bring it down to $-I(k / (n - 1))\, (n - 1) / (k \beta)$, which is the same at $r = 1/2$ alone.
# The check computes both by the passes of the fit, for one instance and several $\beta$.

# %% tags=["hide-input"]
sharpness = np.array([1.0, 10.0, 100.0, 1000.0])
pairs = runs[dimensions[0]][0].pairs
zero = torch.zeros(pairs.d, pairs.d, dtype=torch.float64)
losses = [TailAverage(r=r, beta=b) for b in sharpness]
held = [joint_pass(pairs, x, zero, zero.new_zeros(pairs.n))[0] for x in losses]
idle = [loss_pass(pairs, x, zero).loss for x in losses]
share = losses[0].tail(pairs.n - 1) / (pairs.n - 1)
tail = (special.entr(share) + special.entr(1 - share)) / (share * sharpness)
check(
    "remark-7",
    rf"mean loss at $W = 0$ for $\beta$ from {sharpness[0]:g} to {sharpness[-1]:g}, "
    r"thresholds 0 and best",
    kind="identity",
    measured=[*held, *idle],
    predicted=[
        *np.logaddexp(0, math.log(2) / (share * sharpness)),
        *np.logaddexp(0, tail),
    ],
    tolerance=1e-9,
    falsehood=(
        "the bound of the lemma is attained",
        2 * [*(math.log(2) * (1 + 1 / (share * sharpness)))],
    ),
    axis="mean loss at $W = 0$",
    each=[
        rf"thresholds {t}, $\beta = {b:g}$" for t in ("0", "best") for b in sharpness
    ],
)

# %% [markdown]
# ## Rates in small memories
#
# With what powers of $d$ do the memories of the section approach the theory, and how fast does their scatter fall?
# An exponent of 1 in the table means a fall like $1/d$.
# The intervals hold 90% of resampled instances.


# %% tags=["hide-input"]
def exponent(statistic, x):
    """The power of 1/d in a statistic, and its interval, in words."""
    found = decay_exponent(dimensions, x, statistic, seed=seed)
    return "{:.2f} ({:.2f} to {:.2f})".format(*found)


Table(
    {
        "quantity": list(NAMES.values()),
        "exponent of the distance": [
            exponent(
                lambda y: abs(y.mean(axis=1)), values[name] - getattr(theory, name)
            )
            for name in NAMES
        ],
        "exponent of the scatter": [
            exponent(lambda y: y.std(axis=1, ddof=1) + 1e-300, values[name])
            for name in NAMES
        ],
    }
)

# %% [markdown]
# The distance falls about like $1/d$.
# The scatter of these few small memories falls faster than $1/d$, and larger ones settle at that rate, as is shown further down.
#
# ## Competitors, column by column
#
# The theorem speaks of the competitors of each key, not of all keys pooled.
# So columns of scores are compared with the normal law one by one, by the largest distance between distribution functions.

# %% tags=["hide-input"]
d = max(dimensions)
normal = column_distances(np.random.default_rng([seed, 1]).standard_normal((n, n)))
glue(
    "scalar_columns",
    float(math.sqrt(n) * np.mean([run.distance for run in runs[d]])),
    display=False,
)
glue(
    "scalar_columns_own",
    float(math.sqrt(n) * np.mean([run.own_distance for run in runs[d]])),
    display=False,
)
glue("scalar_columns_normal", float(math.sqrt(n) * normal.mean()), display=False)

# %% [markdown]
# We give distances in units of $1/\sqrt n$.
# Divided by $\nu$, columns of $n$ competitors at the largest dimension have a mean distance of {glue:text}`scalar_columns:.2f` from the normal law.
# Normal samples of their size, each divided by its own spread, have {glue:text}`scalar_columns_normal:.2f`.
# The columns are further away since the lengths $\norm{W v_i}$ of the answers vary by about $d^{-1/2}$ from key to key, and with them the spread of the whole column.
# Divided by its own spread a column is as normal as a normal sample, at {glue:text}`scalar_columns_own:.2f`.
#
# In the limit the columns need not be scaled one by one ([Remark 3](#remark-3)).
# With $\nu_d$ of the memory in place of their own spread their distance from the normal law vanishes too, at least at the rate $d^{-1/2}$ of the lengths $\norm{W v_i}$.
# It does not fall at the rate $1/d$ of normal samples of these sizes.

# %% tags=["hide-input"]
away = np.array([[run.distance for run in runs[size]] for size in dimensions])
slope, error = distance_power(dimensions, away)
check(
    "remark-3",
    "exponent of $d$ in the mean distance of columns from the normal law, $d$ up to "
    f"{max(dimensions)}",
    kind="simulation",
    measured=slope,
    predicted=-0.5,
    tolerance=4 * error,
    relation="<=",
    falsehood=("columns are exact normal samples, at distance $n^{-1/2}$", -1.0),
    axis="power of $d$",
)

# %% [markdown]
# ## The equations at finite size
#
# At a minimiser the gradient vanishes, and its inner product with $W$ gives an identity that holds at every size.
# With the forces $a_i = \sigma(-m_i)$ and the weights $q_{j,i} = \sigma(\beta (s_{j,i} - \mu_i))$ of the tails, $\mu_i$ the threshold of key $i$,
#
# $$
# \lambda \frac{\norm{W}_F^2}{d^2} = \frac1n \sum_i a_i \Bigl( s_{i,i} - \frac1k \sum_{j \ne i} q_{j,i} s_{j,i} \Bigr) .
# $$ (eq-scalar-stationarity)
#
# Replacing averages over scores by averages over the laws turns it into the first equation of {eq}`eq-scalar-equations`.
# The second comes from the trace of the Hessian.
#
# Here both are evaluated with the measured $\nu$, $\chi$ and scores of each memory, as the ratio of their two sides.

# %% tags=["hide-input"]
sides = [[run.ratios for run in runs[d]] for d in dimensions]
sides = {
    name: np.array([[s[name] for s in row] for row in sides]) for name in sides[0][0]
}
Table(
    {
        "$d$": [str(d) for d in dimensions],
        "identity - 1": [f"{x:.0e}" for x in abs(sides["identity"] - 1).max(axis=1)],
        "with the gradient left": [
            f"{x:.0e}" for x in abs(sides["with what is left"] - 1).max(axis=1)
        ],
        "variance equation": sides["variance"].mean(axis=1),
        "susceptibility equation": sides["response"].mean(axis=1),
        "the latter without $B$": sides["without B"].mean(axis=1),
    }
)

# %% [markdown]
# The identity holds to the $10^{-4}$ that a gap of $10^{-8}$ allows, and to rounding once the gradient that the fit has left is put back in.
# The ratios of both equations approach one, with a distance that falls about like $1/d$ where the paper proves $d^{-1/2}$.
#
# The propositions have no scores in them but the laws at $\nu_d$ and $\chi_d$.
# With these the ratios are closer to one, and they are checked on larger memories below.

# %% [markdown]
# ## Other points
#
# The same comparison at other loads, tail fractions, smoothings and ridges: two points at which all keys can be satisfied, so that only the ridge keeps the norm finite, and one at which they cannot.
# With fewer memories a straight line in $1/d$ has to do, and the check allows five per cent for its being straight.

# %% tags=["hide-input"]
others = list(zip(other_loads, other_rs, other_betas, other_ridges, strict=True))
theories = [solve_scalar(p[0], p[1], beta=p[2], ridge=p[3]) for p in others]
sizes = dimensions[1:]
trained = [
    [[train(d, point, k, t) for t in range(other_instances)] for d in sizes]
    for k, point in enumerate(progress(others, "points"))
]
estimates = [
    {
        name: extrapolate(
            sizes, np.array([[getattr(run, name) for run in row] for row in rows]), 1
        )
        for name in NAMES
    }
    for rows in trained
]
table = {"load, $r$, $\\beta$, ridge": [", ".join(f"{x:g}" for x in p) for p in others]}
for name, label in NAMES.items():
    table[f"{label}, theory"] = [getattr(t, name) for t in theories]
    table[f"{label}, trained"] = [
        f"{e[name].value:.4g} ± {e[name].error:.2g}" for e in estimates
    ]
Table(table)

# %% tags=["hide-input"]
halves = [solve_scalar(2 * p[0], p[1], beta=p[2], ridge=p[3]) for p in others]
both = [(k, name) for k in range(len(others)) for name in ("nu", "chi")]
exact = [getattr(theories[k], name) for k, name in both]
check(
    "theorem-2",
    f"size and susceptibility at {len(others)} other points, extrapolated from $d$ up "
    f"to {sizes[-1]}, over the theory",
    kind="simulation",
    measured=[
        estimates[k][name].value / x for (k, name), x in zip(both, exact, strict=True)
    ],
    predicted=1.0,
    tolerance=[
        0.05 + 4 * estimates[k][name].error / x
        for (k, name), x in zip(both, exact, strict=True)
    ],
    falsehood=(
        "half of the entries of $W$ count",
        [
            getattr(halves[k], name) / x
            for (k, name), x in zip(both, exact, strict=True)
        ],
    ),
    axis="extrapolated over theory",
    each=[f"load {theories[k].load:g}, {NAMES[name]}" for k, name in both],
)

# %% [markdown]
# ### Where the proximal law is not normal
#
# At loads far above the critical one the proximal law is close to a normal law.
# Where the susceptibility is large it is not.
# A key that lags is pushed far, and one that leads is left alone.
# So the margins pile up on the left and keep a normal tail on the right.
#
# Of these points we take the one whose law of margins is furthest from normal, and draw its memories against both.

# %% tags=["hide-input"]
levels = middle_levels(20_000)
twins = [normal_twin(t.margin, levels) for t in theories]
chosen = max(range(len(others)), key=lambda k: twins[k].distance)
rows = trained[chosen][-1]
bent = with_numbers(
    theories[chosen],
    np.mean([run.nu for run in rows]),
    np.mean([run.chi for run in rows]),
)
twin = normal_twin(bent.margin, levels)
pooled = np.sort(np.concatenate([run.margin for run in rows]))
p = (np.arange(len(pooled)) + 0.5) / len(pooled)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-bent", "caption": "Margins of memories at the point whose law is furthest from normal, pooled over instances, against the quantiles of two laws: the proximal law, and the normal law with its mean and variance. Where a law is right the dots lie on the diagonal."}, "image": {"alt": "Dots of the proximal law lie close to the diagonal. Those of the normal law form a curve that bends away from it at both ends."}}
figure, ax = panels(1, width=5.4, height=3.8)
dots = {"ls": "none", "ms": 3}
normal_look = {"marker": "x", "color": plot.GREY, "label": "normal law"}
ax.plot(twin.quantile(p), pooled, **dots, **normal_look)
bent_look = {"marker": "o", "color": TAIL_AVERAGE, "label": "proximal law"}
ax.plot(bent.margin.quantile(p), pooled, **dots, **bent_look)
ax.axline((twin.mean, twin.mean), slope=1, color=INK, lw=1)
ax.set(xlabel="quantile of the law", ylabel="margin")
ax.legend(markerscale=2)
figure

# %% [markdown]
# With the proximal law the dots of {numref}`fig-bent` stay near the diagonal but for the few lowest.
# With the normal law they leave it at both ends.

# %% [markdown]
# ## Larger memories
#
# A stored table has memories of dimensions up to 100, at three points of the parameters, and more of what each one says.
# The first point is that of this section.
# At the second the tail is wider, and the load is above the critical one as well.
# At the third, at load 0.2, all keys can be satisfied, and the ridge alone keeps the norm finite; we call it the *satisfiable point*.
#
# A limit is that of a straight line in $1/d$.
# Its tolerance is four standard errors and the distance to the limit of a curve quadratic in $1/d$.
# Of the largest dimension there are few memories, and this is what the checks are limited by.
#
# This rule was fixed before the memories of dimension 100 were there.
# Two checks leave the satisfiable point out, since the rule turned out to be too narrow there; their limits say by how much.

# %% tags=["hide-input"]
stored = read_table("scalar_theory", "instances")
everything = theory_and_rows(stored)
groups = enough(everything)
settled = [t for t, _ in groups]
names = [f"load {t.load:g}, $r$ = {t.r:g}" for t in settled]
places = f"at {len(groups)} points"
FEW_LARGE = (
    f"followed to infinite $d$ from dimensions up to {stored.d.max():.0f}, "
    "of which there are few memories"
)
order = follow(
    lambda t, rows: [rows.nu / t.nu, rows.chi / t.chi, rows.loss / t.loss], groups
)
Table(
    {
        "point": names,
        "memories, to $d$": [
            f"{len(rows)}, to {rows.d.max():.0f}" for _, rows in groups
        ],
        **{
            f"{label}, over the theory": [
                f"{x.value:.4f} ± {x.error:.4f}" for x in order[k::3]
            ]
            for k, label in enumerate(NAMES.values())
        },
    }
)

# %% tags=["hide-input"]
check(
    **limit_evidence(
        "theorem-2",
        f"size, susceptibility and mean loss of stored memories {places}, "
        "extrapolated, over the theory",
        order,
        kind="stored simulation",
        caveat=f"{FEW_LARGE}; at load 0.5 the means still bend, and size and "
        "susceptibility are known to 60 and 75% only",
        predicted=1.0,
        falsehood=(
            "a load that is a quarter larger",
            [x for t in settled for x in at_changed_point(t, load=1.25 * t.load)],
        ),
    ),
    axis="extrapolated over theory",
    each=[f"{point}, {label}" for point in names for label in NAMES.values()],
)

# %% tags=["hide-input"]
steady = scatter_times_dimension(groups)[0]
for rank, size in zip(("first", "second", "third", "last"), steady, strict=False):
    memories = int((groups[0][1].d == size).sum())
    glue(f"scalar_{rank}_d", size, display=False)
    glue(f"scalar_{rank}_memories", memories, display=False)
    glue(f"scalar_{rank}_scatter", steady[size], display=False)

# %% [markdown]
# At the first point the table has {glue:text}`scalar_first_memories`, {glue:text}`scalar_second_memories`, {glue:text}`scalar_third_memories` and {glue:text}`scalar_last_memories` memories at $d =$ {glue:text}`scalar_first_d`, {glue:text}`scalar_second_d`, {glue:text}`scalar_third_d` and {glue:text}`scalar_last_d`.
# The scatter of their sizes, relative to the mean and times $d$, is {glue:text}`scalar_first_scatter:.2f`, {glue:text}`scalar_second_scatter:.2f`, {glue:text}`scalar_third_scatter:.2f` and {glue:text}`scalar_last_scatter:.2f`, as the rate $1/d$ has it.
#
# ### The two equations
#
# Now the equations of Propositions 8 and 9 in their own form, with the laws at each memory's own $\nu_d$ and $\chi_d$.

# %% tags=["hide-input"]
sides = {t.load: equation_sides(rows, t) for t, rows in groups}
variance = follow(lambda t, rows: [sides[t.load]["variance"]], groups)
response = follow(lambda t, rows: [sides[t.load]["response"]], groups)
Table(
    {
        "point": names,
        "variance equation": [f"{x.value:.4f} ± {x.error:.4f}" for x in variance],
        "susceptibility equation": [f"{x.value:.4f} ± {x.error:.4f}" for x in response],
    }
)

# %% tags=["hide-input"]
at_c = follow(lambda t, rows: [sides[t.load]["variance_at_c"]], groups)
check(
    **limit_evidence(
        "proposition-8",
        f"ratio of the two sides of the variance equation {places}, extrapolated",
        variance,
        kind="stored simulation",
        caveat=FEW_LARGE,
        predicted=1.0,
        falsehood=(
            r"$\phi_\beta''$ is taken at $\nu Z - c$ and not at $\nu Z - \mu$",
            [x.value for x in at_c],
        ),
    ),
    axis="ratio of the two sides",
    each=names,
)

# %% tags=["hide-input"]
first = follow(lambda t, rows: [sides[t.load]["response_first"]], groups)
check(
    **limit_evidence(
        "proposition-9",
        f"right-hand side of the susceptibility equation {places}, extrapolated",
        response,
        kind="stored simulation",
        caveat=FEW_LARGE,
        predicted=1.0,
        falsehood=(
            r"$\chi B$ in place of $\chi B / (1 + \chi B)$",
            [x.value for x in first],
        ),
    ),
    axis="right-hand side",
    each=names,
)

# %% [markdown]
# ### Competitors are normal key by key
#
# Under a memory that has not seen them, the competitors of key $i$ are exactly normal with the variance $\norm{W v_i}^2 / d$, and independent.
# So the coupling of [Proposition 6](#proposition-6) can be written down: $z_{j,i} = \nu_d\, s_{j,i} \sqrt d / \norm{W v_i}$.
#
# For a matrix with the singular values of independent entries $\norm{W v}^2$ varies by a share $4/d$.
# This gives three constants with nothing fitted:
#
# - the root mean square of $s - z$ is $\nu_d / \sqrt d$;
# - the mean squares of columns vary by a share $4/d$ beyond sampling;
# - the fourth moment of the scores is larger than $3 \nu^4$ by a share $4/d$, while that of the $z$ is not.

# %% tags=["hide-input"]
constants = follow(competitor_constants, groups)
labels = [
    "root mean square of $s - z$, times $\\sqrt d / \\nu$",
    "$d$ times share by which columns vary",
    "$d$ times excess fourth moment of $s$",
    "$d$ times excess fourth moment of $z$",
    "mean square over $\\nu_d^2$",
    "$d$ times share by which rows vary",
]
Table(
    {"limit of": labels}
    | {
        name: [f"{x.value:.3f} ± {x.error:.3f}" for x in constants[6 * k : 6 * (k + 1)]]
        for k, name in enumerate(names)
    }
)

# %% tags=["hide-input"]
few = [x for k in range(len(groups)) for x in constants[6 * k : 6 * k + 5]]
check(
    **limit_evidence(
        "proposition-6",
        f"constants of the coupling of competitors {places}, extrapolated",
        few,
        kind="stored simulation",
        caveat=FEW_LARGE,
        predicted=[1, 4, 4, 0, 1] * len(groups),
        falsehood=(
            "lengths vary with the key alone, by a share $2/d$",
            [math.sqrt(0.5), 2, 2, 0, 1] * len(groups),
        ),
    ),
    axis="constant of the coupling",
    each=[f"{point}: {label}" for point in names for label in labels[:5]],
)

# %% [markdown]
# The rows have scales of their own, $\norm{W^\top u_j}$, which a coupling by columns leaves alone.
# The joint law of several keys and competitors has them too, at the same order.
# So the rate $d^{-1/2}$ is that of a coupling of whole columns.
# A fixed number of competitors has a law that differs from the normal one by $1/d$, as the fourth moment says.
#
# ### Signals are pushed one by one
#
# [Proposition 7](#proposition-7) is a statement about each pair.
# So pairs are removed, their memories trained again without them, and the fresh scores $g_h = u_h^\top W^{\setminus h} v_h$ put into the proximal map, where $W^{\setminus h}$ is the memory without pair $h$.
# What is left is $\Delta_h = s_{h,h} - c_d - \operatorname{Prox}_{\chi_d}(g_h - c_d)$, and it should be of order $d^{-1/2}$.
#
# It can be predicted with its constant.
# The response along $u_h v_h^\top$ is not $\chi$ but $\chi \norm{u_h}^2 \norm{v_h}^2$ to leading order.
# The tail average of key $h$ follows $\norm{W v_h}$.
# Both vary by $d^{-1/2}$, and the derivatives of {eq}`eq-scalar-prox` turn that into
#
# $$
# \begin{aligned}
# d\, \E\, \Delta^2 &\to \E\, \frac{4 P^2 + T^2 + 2 P T}{(1 + \chi B)^2} , \\
# P &= \chi A , \\
# T &= \chi B\, \nu\, c_r'(\nu) .
# \end{aligned}
# $$ (eq-scalar-miss)
#
# Here $P$ is the push, and $T$ is what the push changes when the tail average changes.
# With the pair's own lengths and tail average in place of $\chi_d$ and $c_d$, nothing of that order should remain.
#
# Sizes in the table are root mean squares over the removed pairs.

# %% tags=["hide-input"]
left = leftovers(everything)
Table(
    {
        "load": [f"{x.theory.load:g}" for x in left],
        "$d$": [str(x.d) for x in left],
        "pairs": [str(x.pairs) for x in left],
        "size of $g / \\nu_d$": [x.normal for x in left],
        "size of what is left, times $\\sqrt d$": [
            math.sqrt(x.d) * x.size("as stated")[0] for x in left
        ],
        "predicted": [math.sqrt(x.d) * x.predicted for x in left],
    },
    ".3f",
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-left", "caption": "What the proximal law leaves of signals: root mean square over removed pairs, with one standard error, against the dimension, at three points. Markers: the law as stated; with the pair's own response; with its own response and tail average; and with half the push. Black line: the prediction for the law as stated."}, "image": {"alt": "Three panels with falling points. The law as stated follows the black line; with own response and tail average the points fall faster and lie lowest; with half the push they hardly fall."}}
figure, axes = panels(1, rows=len(everything), height=9, width=5.4, squeeze=False)
FORMS = ("as stated", "own response", "own response and tail", "half the push")
for ax, (t, _) in zip(axes.flat, everything, strict=True):
    there = [x for x in left if x.theory is t]
    d_there = [x.d for x in there]
    for form, look in series(FORMS):
        size, bar = np.transpose([x.size(form) for x in there])
        ax.errorbar(d_there, size, bar, lw=1, label=form, **look)
    ax.plot(d_there, [x.predicted for x in there], color=INK, lw=1, label="predicted")
    ax.set(xscale="log", yscale="log", ylabel="size of what is left")
    ax.set_title(f"load {t.load:g}, $r$ = {t.r:g}")
    ax.set_xticks(d_there, [str(x) for x in d_there])
    ax.minorticks_off()
axes[-1, 0].set_xlabel("dimension $d$")
figure.legend(
    *axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2
)
figure

# %% [markdown]
# In {numref}`fig-left` the law as stated leaves what was predicted at load 0.6.
# At the other two points small memories leave more, and larger ones come closer.
# With the pair's own response and tail average in it the law leaves least, and that falls faster.
# At load 0.2 the scatter of the tail averages hides the push: by this measure half the push would do no worse.
#
# The first check compares the constant, the second the powers of $d$ as stated and with the pair's own numbers.

# %% tags=["hide-input"]
ratios = [limit_over_predicted(left, t) for t in settled]
check(
    "proposition-7",
    "what the proximal law leaves of signals, root mean square over the predicted "
    f"one, {places}, extrapolated",
    kind="stored simulation",
    measured=[x for x, _ in ratios],
    predicted=1.0,
    tolerance=[ERRORS * e for _, e in ratios],
    falsehood=("only the tail averages vary", [share_of_tails(t) for t in settled]),
    limits="few pairs: four standard errors are a third of the constant, and at load "
    "0.5 two thirds, where what is left is 1.3 times the predicted at $d = 40$ "
    "and 1.2 times at $d = 100$",
    axis="measured over predicted",
    each=names,
)

# %% tags=["hide-input"]
powers = [
    power_law(misses_by_dimension(left, t, form))
    for t in settled
    for form in ("as stated", "own response and tail")
]
check(
    "proposition-7",
    "powers of $d$ in what is left as stated, and with the pair's own response and "
    f"tail, {places}",
    kind="stored simulation",
    measured=[x.exponent for x in powers],
    predicted=[-0.5, -1.0] * len(settled),
    tolerance=[ERRORS * x.deviation for x in powers],
    falsehood=("the other way round", [-1.0, -0.5] * len(settled)),
    limits="few dimensions and pairs: four standard errors are half of what the "
    "powers differ by, and more at load 0.5, where small memories fall faster",
    axis="power of $d$",
    each=[
        f"{point}, {form}" for point in names for form in ("as stated", "own numbers")
    ],
)

# %% [markdown]
# So the exponent of the proposition is right.
# At the section's point its error is nearly all in the lengths of the two vectors of the pair; at the satisfiable point more of it is in the tail average.
# With both put in, what is left falls about like $1/d$.
#
# ### The laws of signals, margins and weights
#
# Last, Proposition 7 as a law: the share of signals below five quantiles of the proximal law, with each memory's own $\nu_d$ and $\chi_d$.

# %% tags=["hide-input"]
fifths = np.array(LEVELS)
beyond = [(t, rows) for t, rows in groups if t.load > critical_load(t.r)]
quantiles = [
    f"load {t.load:g}, $r$ = {t.r:g}, quantile {q:g}" for t, _ in beyond for q in fifths
]
NARROW = (
    "the satisfiable point is left out, whose law is so narrow that memories of these "
    "sizes are far from it; by the same line 0.316 of its margins are below the "
    "quantile 0.3, with a tolerance of 0.015"
)


def below(kind):
    """Limits of the shares below five quantiles, beyond the transition."""
    columns = [f"{kind}_below_{i}" for i in range(len(fifths))]
    return follow(lambda t, rows: [rows[name] for name in columns], beyond)


def under_half_push(kind):
    """Shares below the quantiles if the push were half as strong."""
    weaker = [with_numbers(t, t.nu, t.chi / 2) for t, _ in beyond]
    return np.concatenate(
        [
            getattr(weak, kind).cdf(getattr(t, kind).quantile(fifths))
            for weak, (t, _) in zip(weaker, beyond, strict=True)
        ]
    )


# %% tags=["hide-input"]
check(
    **limit_evidence(
        "proposition-7",
        f"signals below five quantiles of the proximal law at {len(beyond)} points "
        "beyond the transition, extrapolated",
        below("signal"),
        kind="stored simulation",
        caveat=NARROW,
        predicted=[*fifths] * len(beyond),
        falsehood=("half the push", under_half_push("signal")),
    ),
    axis="share of signals below a quantile",
    each=quantiles,
)

# %% [markdown]
# The same for margins ([Remark 2](#remark-2)).

# %% tags=["hide-input"]
check(
    **limit_evidence(
        "remark-2",
        f"margins below five quantiles of the law at {len(beyond)} points beyond the "
        "transition, extrapolated",
        below("margin"),
        kind="stored simulation",
        caveat=NARROW,
        predicted=[*fifths] * len(beyond),
        falsehood=("half the push", under_half_push("margin")),
    ),
    axis="share of margins below a quantile",
    each=quantiles,
)

# %% [markdown]
# And the weights $a_i = \sigma(-m_i)$ of the keys, which [Remark 11](#remark-11) identifies with the optimal weights $a(G)$ of {eq}`eq-scalar-dual`.


# %% tags=["hide-input"]
def weights(t, chi):
    """Mean and mean square of the weights of a law."""
    A = special.expit(-with_numbers(t, t.nu, chi).margin.quantile(levels))
    return [A.mean(), (A**2).mean()]


check(
    **limit_evidence(
        "remark-11",
        f"mean and mean square of the weights {places}, extrapolated",
        follow(lambda t, rows: [rows.a, rows.a_square], groups),
        kind="stored simulation",
        caveat=FEW_LARGE,
        predicted=[x for t in settled for x in weights(t, t.chi)],
        falsehood=(
            "half the push",
            [x for t in settled for x in weights(t, t.chi / 2)],
        ),
    ),
    axis="mean and mean square of the weights",
    each=[f"{point}, {kind}" for point in names for kind in ("mean", "mean square")],
)

# %% [markdown]
# ## Limits of the stored memories
#
# - They reach dimension 100. Size and susceptibility are known to 4% at the section's point and to 3% and 10% at the satisfiable one. At load 0.5 their means still bend, and they are known to 60% and 75% only.
# - At the satisfiable point a line in $1/d$ does not lead the shares of signals and margins to their law: 0.316 of the margins are below the quantile 0.3, with a tolerance of 0.015. Larger memories would have to tell whether the means still bend there.
