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
# Minimise the smoothed tail-average loss of $n$ Gaussian pairs over all $d \times d$ matrices, with a ridge:
#
# $$
# \min_W \; \frac1n \sum_{i=1}^n \ell\bigl( s_{i,i} - \TAM_{r,\beta}((s_{j,i})_{j \ne i}) \bigr) + \frac{\lambda}{2 d^2} \norm{W}_F^2 ,
# \qquad
# \ell(m) = \log(1 + e^{-m}) .
# $$ (eq-scalar-learning)
#
# The minimiser is a function of all $n^2$ scores at once, and nothing about it is independent.
# Yet as $n, d \to \infty$ with $n/d^2 \to \alpha$ two numbers are said to describe it completely: its size $\nu$ and its susceptibility $\chi$.
# This section computes the two to nearly all digits, derives every law from them, and trains memories to see.

# %% tags=["parameters"]
load = 0.6  # load alpha = n/d^2; [0.02, 5]
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
import math

import numpy as np
import torch
from scipy import special

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import INK, LIMIT, TAIL_AVERAGE, Table, panels, series
from assocmem.experiments.infinite_dimension import (
    ERRORS,
    Limit,
    decay_exponent,
    extrapolate,
    extrapolate_pooled,
    limit_evidence,
)
from assocmem.experiments.statistics import power_law, through_inverse
from assocmem.experiments.tail_average.coupling_evidence import (
    by_dimension,
    coupling_misses,
    equation_sides,
    removed_pairs,
    root_mean_square,
)
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
from assocmem.pairs.data import derived_seed
from assocmem.pairs.scores import signal_percentiles
from assocmem.progress import progress
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.coupling_constants import coupling_miss
from assocmem.theory.law_variants import middle_levels, normal_twin, with_numbers
from assocmem.theory.norm_bounds import largest_square, least_norm
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import (
    dual_potential,
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
# ## What is claimed
#
# Three scalar functions enter.
# The tail average of a normal law of standard deviation $\nu$ is
#
# $$
# c_r(\nu) = \min_\mu \Bigl\{ \mu + \frac1r\, \E\, \phi_\beta(\nu Z - \mu) \Bigr\} , \qquad \phi_\beta(t) = \frac1\beta \log(1 + e^{\beta t}) ,
# $$ (eq-scalar-tail)
#
# the response of the logistic loss to a push of strength $\chi$ is $y = \operatorname{Prox}_\chi(x)$, the solution of
#
# $$
# y - \chi\, \sigma(-y) = x ,
# $$ (eq-scalar-prox)
#
# and the two are joined in a potential ([Definition 3](#definition-3))
#
# $$
# \mathcal P(\nu, \chi) = \frac{\lambda}{2} \nu^2 - \frac{\nu^2}{2 \alpha \chi} + \E \min_s \Bigl[ \frac{(s - \nu G)^2}{2 \chi} + \ell(s - c_r(\nu)) \Bigr] .
# $$ (eq-scalar-potential)
#
# :::{prf:theorem} Scalar description of the minimiser
# :label: thm-scalar
#
# Let $\nu_*$ minimise $\sup_\chi \mathcal P(\nu, \chi)$ and $\chi_*$ attain the supremum there. With $c_* = c_r(\nu_*)$, in probability:
# $\norm{W}_F / d \to \nu_*$; the normalised trace of the inverse Hessian tends to $\chi_*$;
# the competitors of each key look like a sample of $\mathcal N(0, \nu_*^2)$;
# and the signals like a sample of $S = c_* + \operatorname{Prox}_{\chi_*}(\nu_* G - c_*)$.
# :::
#
# This is [Theorem 2](#theorem-2) of the paper, which also assumes that $\nu_*$ is positive; it {ref}`always is <errata-positive>`.
# Here $H$ is the Hessian of the *summed* loss with the thresholds held fixed ([Definition 2](#definition-2)), and $\chi = \operatorname{tr}(H^{-1})/d^2$.
#
# The idea: take one pair out and train on the rest.
# The pair's own score under that memory is $u_i^\top W v_i$ with everything independent, a normal variable $\nu G$.
# Put it back, and the memory is pushed in the direction $u_i v_i^\top$ with the force $\sigma(-m_i)$ that its own loss exerts.
# Seen along that same direction its response is $\chi$ times the force, so the score moves by that much, which is {eq}`eq-scalar-prox`.

# %%
theory = solve_scalar(load, r, beta=beta, ridge=ridge)
Table(
    {
        "quantity": ["$\\nu$", "$\\chi$", "$c$", "$\\mu$", "mean loss", "residual"],
        "value": [
            theory.nu,
            theory.chi,
            theory.c,
            theory.mu,
            theory.loss,
            theory.residual,
        ],
    },
    ".10g",
)

# %% [markdown]
# The last line is the largest relative error in the two saddle-point equations.
# No digit of this rests on a simulation.

# %% [markdown]
# ## The potential
#
# Write $\mathcal V(\nu) = \sup_\chi \mathcal P(\nu, \chi)$.
# Every weight function $a(G) \in [0, 1]$ gives a lower bound, in which the supremum over $\chi$ has become a norm,
#
# $$
# \mathcal V(\nu) \ge \frac{\lambda}{2} \nu^2 + \E \bigl[ a\,(c_r(\nu) - \nu G) - I(a) \bigr] - \frac{\nu}{\sqrt\alpha} \sqrt{\E\, a^2} ,
# \qquad I(a) = a \log a + (1 - a) \log(1 - a) ,
# $$ (eq-scalar-dual)
#
# and the weights of the solution make it an equality at $\nu_*$.
# Upper and lower curve meet there, and nowhere else.
# Why one convex potential is behind the two numbers is half a page: {ref}`proof-duality`.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-potential", "caption": "The scalar potential at the section's parameters. Left: the reduced potential over nu, and the dual lower bound with the weights of the solution; they touch at the minimum, and the curve bends up at least as fast as the ridge alone. Right: over chi at the best nu, a single maximum."}, "image": {"alt": "Left, a convex curve with a dashed curve below that touches it at its minimum. Right, a curve with one maximum."}}
figure, (left, right) = panels(2)
at = {"load": load, "r": r, "beta": beta, "ridge": ridge}
nu = theory.nu * np.linspace(0.4, 2, 33)
curve = {"color": TAIL_AVERAGE, "label": "potential"}
left.plot(nu, [reduced_potential(x, **at) for x in nu], **curve)
bound = {"ls": "--", "color": INK, "label": "dual bound"}
left.plot(nu, [dual_potential(x, theory) for x in nu], **bound)
left.set(xlabel="$\\nu$", ylabel="$\\mathcal{V}(\\nu)$")
chi = theory.chi * np.linspace(0.4, 3, 33)
right.plot(chi, [saddle_potential(theory.nu, x, **at) for x in chi], **curve)
right.set(xlabel="$\\chi$", ylabel="$\\mathcal{P}(\\nu_*, \\chi)$")
for ax, x in ((left, theory.nu), (right, theory.chi)):
    ax.plot(x, theory.objective, "o", color=INK)
left.legend()
figure

# %% [markdown]
# The potential itself, [Definition 3](#definition-3), has two minimisations and two expectations inside.
# We do them by brute force: a search for the threshold, a search for $s$ at every $G$, adaptive quadrature around both.

# %%
places = [
    (theory.nu, theory.chi),
    (0.5 * theory.nu, theory.chi),
    (theory.nu, 2 * theory.chi),
]
values = [potential_by_definition(*place, **at) for place in places]
check(
    "definition-3",
    "the potential at three points, by nested minimisation and adaptive quadrature",
    kind="quadrature",
    measured=[value for value, _ in values],
    predicted=[saddle_potential(*place, **at) for place in places],
    tolerance=1e-8,
    falsehood=(
        "signals stay at their leave-one-out scores",
        [stiff for _, stiff in values],
    ),
)

# %% [markdown]
# [Proposition 10](#proposition-10) says that the saddle point of {eq}`eq-scalar-potential` solves the two equations that the paper derives from the stationarity and from the trace of the Hessian,
#
# $$
# \nu^2 (\lambda + \omega) = \E[A S] , \qquad
# \frac1\alpha = \chi (\lambda + \omega) + \E \frac{\chi B}{1 + \chi B} ,
# \qquad
# \omega = \frac1r\, \E[A]\, \E\, \phi_\beta''(\nu Z - \mu) ,
# $$ (eq-scalar-equations)
#
# with $A = \sigma(c - S)$ and $B = A(1 - A)$.
# We differentiate the potential numerically, which knows nothing of these equations, and compare: here and at five more points, two of them below the critical load and three above, where both expectations are sums over equidistant nodes and the solver's own quadrature plays no part.
# The falsehood is a near miss: averages taken one by one, $\E B / (1 + \chi\, \E B)$ and $(\E A)^2$.

# %%
check(**saddle_evidence((load, r, beta, ridge)))

# %% [markdown]
# It also says that for every $\nu$ there is one best $\chi$.
# In $t = 1/\chi$ the potential is a line plus an infimum of lines, so it is concave, and its slope is $\frac12 (\chi^2 \E A^2 - \nu^2/\alpha)$.
# The proof shows that $\chi^2 \E A^2$ grows without bound, with the power $2\, \E \frac{A^2}{1 + \chi B} / \E A^2 > 0$ of $\chi$.
# First we count maxima over sixteen powers of ten, at a third, once and three times the best $\nu$ of each point.

# %%
check(**maxima_evidence())

# %% [markdown]
# Then the power itself, from second differences of the potential in $1/\chi$: it falls from 2 to a twentieth but stays positive.
# Growth is that of a squared logarithm in the end, since a strong response pushes a key by $\chi A \approx \log \chi$.

# %%
check(**exponent_evidence())

# %% [markdown]
# Last, $\mathcal V$ is $\lambda$-strongly convex: each dual profile $a$ gives a convex function of $\nu$ besides the ridge, and so does their supremum.
# The supremum over $\chi$ is searched for and the second difference taken in $\nu$.
# It is never below the ridge.
# And the ridge is the best constant: far out the potential without it tends to zero or to a straight line, so no number above $\lambda$ would do, on either side of the critical load.

# %%
check(**convexity_evidence())

# %% [markdown]
# ## Training memories
#
# Each memory is trained until its duality gap is below $10^{-8}$, relatively, so what follows is not blurred by a solver that stopped early.
# The Hessian is formed as a dense matrix and inverted, so the trace is exact.
# Of the scores we keep the signals, how far each column of competitors is from a normal law, and the averages that enter the equations further down.


# %%
def train(d, point, *key):
    """One trained memory of a point of the parameters, with norm and susceptibility."""
    return train_instance(d, *point, seed=derived_seed(seed, d, *key))


main = (load, r, beta, ridge)
runs = {
    d: [with_scores(train(d, main, k)) for k in progress(range(instances), f"d = {d}")]
    for d in dimensions
}

# %%
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
# The distance from the theory falls about like $1/d$, so a curve through the means, quadratic in $1/d$ and weighted by their errors, is followed to $d = \infty$.

# %%
inverse = 1 / np.array(dimensions, dtype=float)
limits = {name: extrapolate(dimensions, x) for name, x in values.items()}

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-order", "caption": "Order parameters of trained memories against 1/d. Left and middle: means over the instances with two standard errors, the extrapolation (dashed), and the theory (cross). Right: scatter between instances relative to the theory; dotted, slopes -1/2 and -1."}, "image": {"alt": "Points approach crosses on the vertical axis as 1/d goes to zero; the scatter falls with d at a slope near minus one."}}
figure, axes = panels(3, height=3.2)
dense = np.linspace(0, inverse.max(), 50)
looks = series(NAMES)
for ax, (name, look) in zip(axes[:2], looks[:2], strict=True):
    ax.errorbar(inverse, means[name], yerr=2 * errors[name], ls="none", **look)
    line = np.polyval(limits[name].polynomial, dense)
    ax.plot(dense, line, "--", color=look["color"])
    ax.plot(0, getattr(theory, name), "x", color=INK, ms=8)
    ax.set(xlabel="$1/d$", ylabel=NAMES[name])
for name, look in looks:
    share = scatter[name] / getattr(theory, name)
    axes[2].loglog(dimensions, share, label=NAMES[name], **look)
for slope in (-0.5, -1):
    guide = share[0] * (np.array(dimensions) / dimensions[0]) ** slope
    axes[2].loglog(dimensions, guide, ":", color=LIMIT)
axes[2].set(xlabel="$d$", ylabel="relative scatter")
axes[2].set_xticks(dimensions, [str(d) for d in dimensions], minor=False)
axes[2].minorticks_off()
axes[2].legend(fontsize=8)
figure

# %% [markdown]
# The paper states that the scatter in {numref}`fig-order` falls at least like $d^{-1/2}$; for the norm its own bounds give $1/d$ ({ref}`the argument <proof-poincare>`, {ref}`the gradient <errata-norm>`).
# {prf:ref}`thm-scalar` needs no rate at all.
# A stored table, used further down, has 60, 60, 20 and 12 memories at $d = 24$, 40, 64 and 100; the scatter of their norm scales is 1.50, 1.34, 1.71 and 1.37 in units of their mean over $d$, as the rate $1/d$ has it.
# The exponents in the table below come from fewer and smaller memories, whose scatter still falls faster.
# The check is on the extrapolated values, at four standard errors; the falsehood is a theory in which only $d(d+1)/2$ of the $d^2$ entries count, as for a symmetric matrix.
# Larger memories, further down, allow a nearer falsehood.

# %%
half = solve_scalar(2 * load, r, beta=beta, ridge=ridge)
check(
    **limit_evidence(
        "theorem-2",
        f"norm, susceptibility and mean loss extrapolated to infinite d from d up to {max(dimensions)}",
        [limits[name] for name in NAMES],
        kind="simulation",
        caveat="twelve memories of each dimension up to 40; larger ones are followed further down",
        predicted=[getattr(theory, name) for name in NAMES],
        falsehood=(
            "half of the entries of W count",
            [getattr(half, name) for name in NAMES],
        ),
    )
)


# %%
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
# ## How large a memory can be
#
# Two bounds hold the norm from either side, one for each memory and one for nearly all of them.
# Doing nothing, $W = 0$ with thresholds 0, costs at most $\log 2 + \log 2 / (r\beta)$ a key, so the ridge cannot have been worth more ([Lemma 18](#lemma-18)):
#
# $$
# \nu_d^2 \le C_0 = \frac2\lambda \Bigl( \log 2 + \frac{\log 2}{r \beta} \Bigr) .
# $$ (eq-scalar-upper)
#
# And some outer products $t\, U V^\top$ beat $W = 0$ by a fixed amount, while a convex objective can fall no faster than its slope at zero ([Lemma 19](#lemma-19), by the route of [Remark 8](#remark-8)):
#
# $$
# \norm{W}_F \ge \frac{L(0) - \min_t \{ L(t\, U V^\top) + \tfrac{\lambda t^2}{2 d^2} \norm{U V^\top}_F^2 \}}{\norm{\nabla L(0)}_F} .
# $$ (eq-scalar-lower)
#
# Both hold for every instance, so a comparison of $\nu_d$ with them could not fail.
# What can fail is what they are made of: the slope at zero, the gain of the outer products, and the limit of the lower bound.
#
# At $W = 0$ each tail is uniform and each weight one half, up to the smoothing, so the slope is that of $\frac1{2n} \sum_i (u_i - \bar u_{-i}) v_i^\top$, of norm $\frac{1}{2 \sqrt n}$ for pairs of unit length on average.
# With the smoothing the weight is $\sigma(h(r) / (r \beta))$, where $h(r) = -r \log r - (1 - r) \log(1 - r)$ is the entropy of the tail fraction.

# %%
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

# %%
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
        "d times the slope of the objective at W = 0, extrapolated to infinite d",
        [extrapolate(dimensions, slopes, degree=1)],
        kind="simulation",
        predicted=weight / math.sqrt(load),
        falsehood=("every weight is one half", 0.5 / math.sqrt(load)),
    )
)

# %%
sharper = least_norm(load, r, beta=2 * beta, ridge=ridge)
check(
    **limit_evidence(
        "remark-8",
        "lower bounds of instances, extrapolated to infinite d",
        [extrapolate(dimensions, bounds)],
        kind="simulation",
        caveat="four standard errors of so few instances are a quarter to a half of the effect",
        predicted=limit,
        falsehood=("smoothing over half the width", sharper),
    )
)

# %% [markdown]
# The appendix also writes the bracket as $\nu_d \le C_0$, with the constant that the lemma gives for the square (see the {doc}`errata <../errata>`).
# With a strong ridge $C_0$ is below one and so below its root, and the norm scale can lie between the two.
# At load 0.02, $r = 0.5$, $\beta = 10$ and ridge 100 the theory says 0.0329, which is nearly twice $C_0 = 0.0166$.

# %%
large = [train(dimensions[-2], strong, 99, k) for k in range(other_instances)]
step = solve_scalar(*strong[:2], beta=strong[2], ridge=strong[3]).nu
sizes_there = np.array([run.nu for run in large])
check(
    "lemma-18",
    f"norm scale of memories with a strong ridge, d = {dimensions[-2]}",
    kind="simulation",
    measured=sizes_there.mean(),
    predicted=step,
    tolerance=0.1 * step
    + ERRORS * sizes_there.std(ddof=1) / math.sqrt(other_instances),
    falsehood=(
        "at most C_0 itself, as the appendix has it",
        largest_square(*strong[1:]),
    ),
    limits="the bound on the square holds for every memory and cannot fail; what is tested is whether the norm scale itself may exceed C_0",
)

# %% [markdown]
# Smoothing enters the bound through $1/\beta$ alone ([Remark 7](#remark-7)), in the cost of doing nothing.
# At thresholds 0 the tail average of $W = 0$ is exactly $\frac{(n - 1) \log 2}{k \beta}$, and the best thresholds bring it down to $h(k / (n - 1)) (n - 1) / (k \beta)$, which is the same at $r = 1/2$ alone.
# Both are computed by the passes of the fit, for one instance and several $\beta$.

# %%
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
    f"mean loss at W = 0 for beta from {sharpness[0]:g} to {sharpness[-1]:g}, thresholds 0 and best",
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
)

# %% [markdown]
# ## The laws of the scores
#
# One memory of the largest dimension is looked at score by score.
# First the competitors: not pooled, but key by key, as the theorem has it.


# %%
d = max(dimensions)
one = runs[d][0]
n = one.pairs.n
normal = column_distances(np.random.default_rng([seed, 1]).standard_normal((n, n)))
own = np.array([run.own_distance for run in runs[d]])

# %% [markdown]
# The columns are further from the normal law than normal samples of their size, since the norms $\norm{W v_i}$ of the answers vary by about $d^{-1/2}$ from key to key, and with them the spread of the whole column.
# Divided by its own spread a column is as normal as a normal sample that is divided by its own.

# %%
Table(
    {
        "columns": [
            "scaled by $\\nu$",
            "each by its own spread",
            "normal samples, the same",
        ],
        "mean distance times $\\sqrt{n}$": [
            x * math.sqrt(n)
            for x in (
                np.mean([run.distance for run in runs[d]]),
                own.mean(),
                normal.mean(),
            )
        ],
    },
    ".3f",
)

# %% [markdown]
# In the limit the columns need not be scaled one by one ([Remark 3](#remark-3)): with $\nu_d$ of the memory in place of their own spread, their distance from the normal law vanishes too, at least at the rate $d^{-1/2}$ of the lengths $\norm{W v_i}$, but not at the rate $1/d$ of normal samples of these sizes.

# %%
away = np.array([[run.distance for run in runs[size]] for size in dimensions])
slope, error = distance_power(dimensions, away)
check(
    "remark-3",
    f"exponent of d in the mean distance of columns from the normal law, d up to {max(dimensions)}",
    kind="simulation",
    measured=slope,
    predicted=-0.5,
    tolerance=4 * error,
    relation="<=",
    falsehood=("columns are exact normal samples, at distance n^-1/2", -1.0),
)

# %% [markdown]
# Now the signals.
# The loss pushes those up that lag behind, and leaves those alone that lead.
# [Proposition 7](#proposition-7) puts the finite $\nu_d$, $\chi_d$ and $c_r(\nu_d)$ in place of their limits, and so do we.

# %%
law = with_numbers(theory, one.nu, one.chi)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-laws", "caption": "One memory of the largest dimension (dots) and its laws (lines) with its own nu and chi. Left: quantiles of the signal scores against those of the proximal law. Middle: margins. Right: the share of competitors that a signal beats."}, "image": {"alt": "Dots near a diagonal, and dots that follow two distribution functions closely."}}
figure, axes = panels(3, height=3.2)
p = (np.arange(n) + 0.5) / n
axes[0].plot(law.signal.quantile(p), np.sort(one.signal), ".", color=TAIL_AVERAGE, ms=3)
axes[0].axline((0, 0), slope=1, color=LIMIT, lw=1)
axes[0].set(xlabel="quantile of the law", ylabel="signal score")
margins = np.sort(one.margin)
axes[1].plot(margins, p, ".", color=TAIL_AVERAGE, ms=3)
t = np.linspace(margins[0], margins[-1], 200)
axes[1].plot(t, law.margin_cdf(t), color=INK, lw=1)
axes[1].set(xlabel="margin", ylabel="share of keys below")
percentiles = np.sort(signal_percentiles(one.pairs, one.fit.W).numpy())
axes[2].plot(percentiles, p, ".", color=TAIL_AVERAGE, ms=3)
w = np.linspace(0, 1, 400)
axes[2].plot(w, law.percentile_cdf(w), color=INK, lw=1)
axes[2].set(xlabel="percentile of the signal", ylabel="share of keys below")
figure

# %% [markdown]
# ## The equations at finite size
#
# At a minimiser the gradient vanishes, and its inner product with $W$ gives an identity that holds at every size:
#
# $$
# \lambda \frac{\norm{W}_F^2}{d^2} = \frac1n \sum_i a_i \Bigl( s_{i,i} - \frac1k \sum_{j \ne i} q_{j,i} s_{j,i} \Bigr) .
# $$ (eq-scalar-stationarity)
#
# Replacing the averages over scores by averages over the laws turns it into the first equation of {eq}`eq-scalar-equations`; the second comes from the trace of the Hessian.
# Here both are evaluated with the measured $\nu$, $\chi$ and scores of each memory.


# %%
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
# Both ratios approach one, with a distance that falls about like $1/d$ where the paper proves $d^{-1/2}$; the identity holds to the $10^{-4}$ that a gap of $10^{-8}$ allows, and to rounding once the gradient that the fit has left is put back in.
# The propositions have no scores in them but the laws at $\nu_d$ and $\chi_d$; with these the ratios are closer to one, and they are checked on larger memories below.

# %% [markdown]
# ## Other points
#
# The same comparison at other loads, tail fractions, smoothings and ridges: two on the satisfiable side, where only the ridge keeps the norm finite, and one on the other.
# With fewer memories a straight line in $1/d$ has to do, and the check allows five per cent for its being straight.

# %%
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

# %%
halves = [solve_scalar(2 * p[0], p[1], beta=p[2], ridge=p[3]) for p in others]
check(
    "theorem-2",
    f"norm and susceptibility at {len(others)} other points, extrapolated from d up to {sizes[-1]}, over the theory",
    kind="simulation",
    measured=[
        e[name].value / getattr(t, name)
        for e, t in zip(estimates, theories, strict=True)
        for name in ("nu", "chi")
    ],
    predicted=1.0,
    tolerance=[
        0.05 + 4 * e[name].error / getattr(t, name)
        for e, t in zip(estimates, theories, strict=True)
        for name in ("nu", "chi")
    ],
    falsehood=(
        "half of the entries of W count",
        [
            getattr(h, name) / getattr(t, name)
            for h, t in zip(halves, theories, strict=True)
            for name in ("nu", "chi")
        ],
    ),
)

# %% [markdown]
# Far from the transition on the unsatisfiable side the proximal law is close to a normal one; where the susceptibility is large it is not.
# A key that lags is pushed far, one that leads is left alone, so the margins pile up on the left and keep a normal tail on the right.
# Of these points we take the one whose law of margins is furthest from normal, and draw its memories against both.

# %%
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

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-bent", "caption": "Margins of memories at the point whose law is furthest from normal, pooled over instances. Left: against quantiles of the proximal law. Right: against those of the normal law with its mean and variance."}, "image": {"alt": "Left, dots close to the diagonal. Right, dots on a curve that bends away from it at both ends."}}
figure, axes = panels(2, height=3.2)
for ax, quantiles, name in (
    (axes[0], bent.margin.quantile(p), "proximal law"),
    (axes[1], twin.quantile(p), "normal law"),
):
    ax.plot(quantiles, pooled, ".", color=TAIL_AVERAGE, ms=3)
    ax.axline((twin.mean, twin.mean), slope=1, color=LIMIT, lw=1)
    ax.set(xlabel=f"quantile of the {name}", ylabel="margin")
figure

# %% [markdown]
# ## Larger memories
#
# A stored table has memories of dimensions up to 100, three points of the parameters, and more of what each one says.
# One point is that of this section, one is satisfiable, where the ridge alone keeps the norm finite, and one has a wider tail beyond its transition.
# A limit is that of a straight line in $1/d$, and its tolerance four standard errors and the distance to the limit of a curve quadratic in $1/d$.
# Of the largest dimension there are few memories, and this is what the checks are limited by.
# This rule was fixed before the memories of dimension 100 were there.
# Two checks leave the satisfiable point out, since the rule turned out to be too narrow there; their limits say by how much.

# %% tags=["hide-input"]
stored = read_table("scalar_theory", "instances")
POINT = ["load", "r", "beta", "ridge"]
FEW_LARGE = f"followed to infinite d from dimensions up to {stored.d.max():.0f}, of which there are few memories"
everything = [
    (solve_scalar(p[0], p[1], beta=p[2], ridge=p[3]), rows.reset_index(drop=True))
    for p, rows in sorted(stored.groupby(POINT), key=lambda item: -item[0][0])
]
groups = [(t, rows) for t, rows in everything if rows.d.nunique() >= 3]
names = [f"load {t.load:g}, $r$ = {t.r:g}" for t, _ in groups]
places = f"at {len(groups)} points"


def followed(columns, points=groups):
    """Limits of columns at points, in one list; columns are made from theory and rows."""
    found = []
    for t, rows in points:
        table = by_dimension(rows, np.column_stack(columns(t, rows)))
        line, error = extrapolate_pooled(table, 1)
        curve, _ = extrapolate_pooled(table, 2)
        doubt = error + abs(line - curve) / ERRORS
        found += [Limit(np.array([x]), e) for x, e in zip(line, doubt, strict=True)]
    return found


def at_each(values, points=groups):
    """Numbers of the theories of points, in one list as `followed` has them."""
    return [x for t, _ in points for x in values(t)]


order = followed(lambda t, rows: [rows.nu / t.nu, rows.chi / t.chi, rows.loss / t.loss])
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


# %%
def moved(t, **changed):
    """Norm scale, susceptibility and loss with parameters changed, over those of a point."""
    point = {name: float(getattr(t, name)) for name in POINT} | changed
    found = solve_scalar(**point)
    return [getattr(found, name) / getattr(t, name) for name in NAMES]


check(
    **limit_evidence(
        "theorem-2",
        f"norm, susceptibility and mean loss of stored memories {places}, extrapolated, over the theory",
        order,
        kind="stored simulation",
        caveat=f"{FEW_LARGE}; at load 0.5 the means still bend, and norm and susceptibility are known to 60 and 75% only",
        predicted=1.0,
        falsehood=(
            "a load that is a quarter larger",
            at_each(lambda t: moved(t, load=1.25 * t.load)),
        ),
    )
)

# %% [markdown]
# The equations of Propositions 8 and 9 with the laws at each memory's own $\nu_d$ and $\chi_d$.

# %%
sides = [equation_sides(rows, t) for t, rows in groups]
lookup = {t.load: x for (t, _), x in zip(groups, sides, strict=True)}
variance = followed(lambda t, rows: [lookup[t.load]["variance"]])
response = followed(lambda t, rows: [lookup[t.load]["response"]])
Table(
    {
        "point": names,
        "variance equation": [f"{x.value:.4f} ± {x.error:.4f}" for x in variance],
        "susceptibility equation": [f"{x.value:.4f} ± {x.error:.4f}" for x in response],
    }
)

# %%
check(
    **limit_evidence(
        "proposition-8",
        f"ratio of the two sides of the variance equation {places}, extrapolated",
        variance,
        kind="stored simulation",
        caveat=FEW_LARGE,
        predicted=1.0,
        falsehood=(
            "phi'' is taken at nu Z - c and not at nu Z - mu",
            [
                x.value
                for x in followed(lambda t, rows: [lookup[t.load]["variance_at_c"]])
            ],
        ),
    )
)

# %%
check(
    **limit_evidence(
        "proposition-9",
        f"right-hand side of the susceptibility equation {places}, extrapolated",
        response,
        kind="stored simulation",
        caveat=FEW_LARGE,
        predicted=1.0,
        falsehood=(
            "chi B in place of chi B / (1 + chi B)",
            [
                x.value
                for x in followed(lambda t, rows: [lookup[t.load]["response_first"]])
            ],
        ),
    )
)

# %% [markdown]
# ### Competitors are normal key by key
#
# Under a memory that has not seen them, competitors of key $i$ are exactly normal with the variance $\norm{W v_i}^2 / d$, and independent.
# So the coupling of [Proposition 6](#proposition-6) can be written down: $z_{j,i} = \nu_d\, s_{j,i} \sqrt d / \norm{W v_i}$.
# For a matrix with the singular values of independent entries $\norm{W v}^2$ varies by a share $4/d$, which gives three constants with nothing fitted:
# the root mean square of $s - z$ is $\nu_d / \sqrt d$;
# the mean squares of columns vary by a share $4/d$ beyond sampling;
# and the fourth moment of the scores is larger than $3 \nu^4$ by a share $4/d$, while that of the $z$ is not.


# %%
def scaled(t, rows):
    """The constants of the coupling of competitors."""
    d, n = rows.d, np.round(t.load * rows.d**2)
    kurtosis = rows.competitor_fourth / rows.competitor_square**2 / 3
    scaled_kurtosis = rows.scaled_fourth / rows.scaled_square**2 / 3
    return [
        np.sqrt(d) * rows.coupling / rows.nu,
        d * (rows.column_variance - 2 / n),
        d * (kurtosis - 1),
        d * (scaled_kurtosis - 1),
        rows.competitor_square / rows.nu**2,
        d * (rows.row_variance - 2 / n),
    ]


constants = followed(scaled)
labels = [
    "rms of $s - z$, times $\\sqrt d / \\nu$",
    "$d$ times share of columns",
    "$d$ times excess of $s$",
    "$d$ times excess of $z$",
    "mean square over $\\nu_d^2$",
    "$d$ times share of rows",
]
Table(
    {"limit of": labels}
    | {
        name: [f"{x.value:.3f} ± {x.error:.3f}" for x in constants[6 * k : 6 * (k + 1)]]
        for k, name in enumerate(names)
    }
)

# %%
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
            "lengths vary with the key alone, by a share 2/d",
            [math.sqrt(0.5), 2, 2, 0, 1] * len(groups),
        ),
    )
)

# %% [markdown]
# The rows have scales of their own, $\norm{W^\top u_j}$, which a coupling by columns leaves alone: the joint law of several keys and competitors has them too, at the same order.
# So the rate $d^{-1/2}$ is that of a coupling of whole columns; a fixed number of competitors has a law that differs from the normal one by $1/d$, as the fourth moment says.
#
# ### Signals are pushed one by one
#
# [Proposition 7](#proposition-7) is a statement about each pair, so pairs are removed, their memories trained again without them, and $g_h = u_h^\top W^{\setminus h} v_h$ put into the proximal map.
# What is left, $s_{h,h} - c_d - \operatorname{Prox}_{\chi_d}(g_h - c_d)$, should be of order $d^{-1/2}$.
# It can be predicted with its constant.
# The response along $u_h v_h^\top$ is not $\chi$ but $\chi \norm{u_h}^2 \norm{v_h}^2$ to leading order, and the tail average of key $h$ follows $\norm{W v_h}$; both vary by $d^{-1/2}$, and the derivatives of {eq}`eq-scalar-prox` turn that into
#
# $$
# d\, \E \bigl( s - c - \operatorname{Prox}_\chi(g - c) \bigr)^2 \to \E\, \frac{4 (\chi A)^2 + (\chi B \nu c_r'(\nu))^2 + 2 \chi A\, \chi B\, \nu c_r'(\nu)}{(1 + \chi B)^2} .
# $$ (eq-scalar-miss)
#
# With the pair's own lengths and tail average in place of $\chi_d$ and $c_d$, nothing of that order should remain.

# %% tags=["hide-input"]
lines = []
for t, rows in everything:
    for d, some in rows.groupby("d"):
        law = with_numbers(t, some.nu.mean(), some.chi.mean())
        pairs_there = removed_pairs(some)
        misses = coupling_misses(pairs_there, law)
        lines.append(
            {"load": t.load, "d": int(d), "misses": misses, "law": law}
            | {
                "pairs": len(pairs_there["fresh"]),
                "normal": pairs_there["fresh"] / law.nu,
            }
        )
FORMS = ["as stated", "own response", "own response and tail", "half the push"]
Table(
    {
        "load": [f"{x['load']:g}" for x in lines],
        "$d$": [str(x["d"]) for x in lines],
        "pairs": [str(x["pairs"]) for x in lines],
        "rms of $g / \\nu_d$": [root_mean_square(x["normal"])[0] for x in lines],
        **{
            f"{name}, $\\sqrt d$ rms": [
                math.sqrt(x["d"]) * root_mean_square(x["misses"][name])[0]
                for x in lines
            ]
            for name in FORMS
        },
        "predicted": [
            math.sqrt(x["d"]) * coupling_miss(x["law"], x["d"]) for x in lines
        ],
    },
    ".3f",
)


# %%
def of_point(t, name, least_pairs=6):
    """What is left in one form at the dimensions of a point."""
    return {
        x["d"]: x["misses"][name]
        for x in lines
        if x["load"] == t.load and x["pairs"] >= least_pairs
    }


def followed_ratio(t):
    """Root mean square of what is left over the predicted one, at infinite d, and its error."""
    there = [x for x in lines if x["load"] == t.load]
    found = [
        np.array(root_mean_square(x["misses"]["as stated"]))
        / coupling_miss(x["law"], x["d"])
        for x in there
    ]
    size, error = np.transpose(found)
    polynomial, error = through_inverse([x["d"] for x in there], size, error)
    return polynomial[-1], error


settled = [t for t, _ in groups]
ratios = [followed_ratio(t) for t in settled]
check(
    "proposition-7",
    f"what the proximal law leaves of signals, root mean square over the predicted one, {places}, extrapolated",
    kind="stored simulation",
    measured=[x for x, _ in ratios],
    predicted=1.0,
    tolerance=[ERRORS * e for _, e in ratios],
    falsehood=(
        "only the tail averages vary",
        [coupling_miss(t, 1, response=0) / coupling_miss(t, 1) for t in settled],
    ),
    limits="few pairs: four standard errors are a third of the constant, and at load 0.5 two thirds, where what is left is 1.3 times the predicted at d = 40 and 1.2 times at d = 100",
)

# %%
powers = [
    power_law(of_point(t, name))
    for t in settled
    for name in ("as stated", "own response and tail")
]
check(
    "proposition-7",
    f"powers of d in what is left as stated, and with the pair's own response and tail, {places}",
    kind="stored simulation",
    measured=[x.exponent for x in powers],
    predicted=[-0.5, -1.0] * len(settled),
    tolerance=[ERRORS * x.deviation for x in powers],
    falsehood=("the other way round", [-1.0, -0.5] * len(settled)),
    limits="few dimensions and pairs: four standard errors are half of what the powers differ by, and more at load 0.5, where small memories fall faster",
)

# %% [markdown]
# So the exponent of the proposition is right.
# At the section's point its error is nearly all in the lengths of the two vectors of the pair, at the satisfiable point more of it is in the tail average.
# With both put in, what is left falls about like $1/d$.
#
# As a law: the shares of signals and of margins below five quantiles, with each memory's own $\nu_d$ and $\chi_d$, and the weights $a_i = \sigma(-m_i)$ of the keys, which [Remark 11](#remark-11) has as the optimal profile $a(G)$ of {eq}`eq-scalar-dual`.


# %%
fifths = np.array(LEVELS)
beyond = [(t, rows) for t, rows in groups if t.load > critical_load(t.r)]
NARROW = (
    "the satisfiable point is left out, whose law is so narrow that memories of these sizes are far from it; "
    "by the same line 0.316 of its margins are below the quantile 0.3, with a tolerance of 0.015"
)


def below(kind, points):
    """Limits of the shares below five quantiles."""
    return followed(
        lambda t, rows: [rows[f"{kind}_below_{i}"] for i in range(len(fifths))], points
    )


def under_half_push(t, kind):
    """Shares below the quantiles if the push were half as strong."""
    weaker = with_numbers(t, t.nu, t.chi / 2)
    return getattr(weaker, kind).cdf(getattr(t, kind).quantile(fifths))


check(
    **limit_evidence(
        "proposition-7",
        f"signals below five quantiles of the proximal law at {len(beyond)} points beyond the transition, extrapolated",
        below("signal", beyond),
        kind="stored simulation",
        caveat=NARROW,
        predicted=[*fifths] * len(beyond),
        falsehood=(
            "half the push",
            at_each(lambda t: under_half_push(t, "signal"), beyond),
        ),
    )
)

# %%
check(
    **limit_evidence(
        "remark-2",
        f"margins below five quantiles of the law at {len(beyond)} points beyond the transition, extrapolated",
        below("margin", beyond),
        kind="stored simulation",
        caveat=NARROW,
        predicted=[*fifths] * len(beyond),
        falsehood=(
            "half the push",
            at_each(lambda t: under_half_push(t, "margin"), beyond),
        ),
    )
)


# %%
def weights(t, chi):
    """Mean and mean square of the weights of a law."""
    A = special.expit(-with_numbers(t, t.nu, chi).margin.quantile(levels))
    return [A.mean(), (A**2).mean()]


check(
    **limit_evidence(
        "remark-11",
        f"mean and mean square of the weights {places}, extrapolated",
        followed(lambda t, rows: [rows.a, rows.a_square]),
        kind="stored simulation",
        caveat=FEW_LARGE,
        predicted=at_each(lambda t: weights(t, t.chi)),
        falsehood=("half the push", at_each(lambda t: weights(t, t.chi / 2))),
    )
)

# %% [markdown]
# ## Limits
#
# - The corrections are of order $1/d$ with a coefficient that grows with $\nu$: at the default parameters a dimension of 40 is 10% above the theory in norm, and only the extrapolation meets it to a percent; on the satisfiable side with a ridge of $10^{-7}$, where $\nu$ is above 100, a dimension of 100 still falls 15% short in norm.
# - Deep in the satisfiable phase the law of the signals is narrow, and small memories do not follow it: at load 0.1 and $d = 30$ their scores spread several times as wide, since the tail average of each key still varies with the length of $W v_i$.
# - The theorem fixes $\beta$ and $\lambda$ while $n$ grows. What happens as the ridge vanishes is another limit, with its own section.
# - The stored memories reach dimension 100. Norm and susceptibility are known to 4% at the section's point and to 3% and 10% at the satisfiable one. At load 0.5 their means still bend, and they are known to 60% and 75% only.
# - At the satisfiable point a line in $1/d$ does not lead the shares of signals and margins to their law: 0.316 of the margins are below the quantile 0.3, with a tolerance of 0.015. Larger memories would have to tell whether the means still bend there.
# - The laws are one-key laws. They say nothing about how the margins of two keys depend on each other.
#
# ## Try
#
# ```sh
# python -m assocmem run scalar_theory -p load 0.25 -p ridge 1e-3
# python -m assocmem run scalar_theory -p beta 30 -p r 0.5
# ```
#
# The theory alone, for any number of points, is one line: `solve_scalar([0.1, 0.2, 0.4], 0.15, beta=30, ridge=1e-7).nu`.
