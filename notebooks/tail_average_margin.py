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
# # The tail-average margin
#
# To retrieve a target in first place is more than many uses need.
# It is also expensive: a memory with $d^2$ entries holds only so many pairs $n$ that $d^2$ stays above a multiple of $n \log n$.
# Often it would do if the right target were among the best $k$, on a short list that something else goes through.
# But that demand is not convex, and training by convex optimisation cannot aim at it.
#
# Between the two lies a third demand: the signal should beat the *average* of its strongest competitors.
# This section shows what the demand asks, how it is smoothed, how a memory learns by it, and how such a memory differs from others.
# Tools that the proofs of the next sections need are on {doc}`a page of their own <tail_average_margin_checks>`.
# A first reading can leave them out.

# %% tags=["parameters"]
r = 0.15  # tail fraction; [0.01, 0.9]
beta = 30.0  # inverse smoothing width; [1, 1000]
ridge = 1e-6  # ridge of the trained memories; [1e-9, 1]
d = 16  # dimension of the trained memories; [4, 60]
loads = [
    0.16,
    0.2,
    0.24,
    0.28,
    0.32,
    0.36,
    0.4,
]  # their loads, pairs per entry of the memory; [0.05, 2]
instances = 8  # memories of each load; [2, 100000]
metrics_load = 0.28  # load at which three memories are compared; [0.05, 2]
smoothings = [
    0.3,
    1.0,
    3.0,
    10.0,
    30.0,
    100.0,
]  # beta of the smoothing error; [0.1, 10000]
norms = [0.05, 0.2, 1.0, 4.0, 16.0]  # spreads of a column of scores; [0.01, 100]
target_dimensions = [10, 20, 40]  # dimensions of fixed targets; [8, 100]
softest = 3.0  # beta of the columns of scores, if not above beta; [1, 1000]
sizes = [300, 1000, 3000, 10000]  # numbers of scores in a column; [50, 1000000]
draws = 20  # columns of each size; [4, 100000]
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
from assocmem.book.plotting import (
    AMONG_BEST,
    COMPETITOR,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    TAIL_AVERAGE,
    Table,
    panels,
    series,
)
from assocmem.book.tail_average_figures import draw_demands
from assocmem.experiments.tail_average.column_aggregates import compare_aggregates
from assocmem.experiments.tail_average.criterion import (
    definition_evidence,
    place_evidence,
)
from assocmem.experiments.tail_average.held_hessians import (
    column_evidence,
    hessian_evidence,
    order_evidence,
)
from assocmem.experiments.tail_average.key_outcomes import (
    count_successes,
    judge_keys,
    pool_keys,
)
from assocmem.experiments.tail_average.memories_at_load import train_at_load
from assocmem.experiments.tail_average.newcomers import (
    felt_evidence,
    height_evidence,
    measure_columns,
    payer_evidence,
    size_evidence,
    spread_evidence,
    threshold_evidence,
)
from assocmem.experiments.tail_average.per_spread import (
    fall_evidence,
    rate_evidence,
)
from assocmem.experiments.tail_average.worst_directions import uniform_evidence
from assocmem.experiments.tail_average.worst_moves import (
    component_evidence,
    move_evidence,
)
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import derived_seed, gaussian_pairs
from assocmem.pairs.scores import scores
from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import (
    smoothed_tail_average,
    smoothed_threshold,
    tail_average,
)
from assocmem.progress import progress
from assocmem.theory.column_smoothing import largest_excess, normal_excess
from assocmem.theory.column_weights import column_weights
from assocmem.theory.outer_products import percentile_cdf
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import scalar_tail_average
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import loss_pass

plot.use_style()

# %% tags=["requires", "remove-cell"]
requires = [
    ("sizes", sizes, len(set(sizes)) >= 3, "three or more different ones"),
    (
        "target_dimensions",
        target_dimensions,
        len(set(target_dimensions)) >= 2,
        "two or more different ones",
    ),
]

# %% tags=["memory", "remove-cell"]
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training.fit import fit_bytes

memory = [
    ("loads", max(loads), lambda load: fit_bytes(pairs_at_load(load, d), d)),
    ("sizes", max(sizes), lambda n: 24 * 8 * n * draws),
    ("target_dimensions", max(target_dimensions), lambda d: 8 * 16 * d**2 * (d + 20)),
]

# %% [markdown]
# ## What is claimed
#
# A memory $W$ gives target $j$ the score $s_{j,i} = u_j^\top W v_i$ for key $i$.
# The score $s_{i,i}$ of the right target is the *signal* of the key, and the $n - 1$ others are its *competitors*.
# All scores of one key together are a *column*.
#
# :::{prf:definition} Tail average (Definition 1 of the paper)
# :label: def-tail-average
#
# Let $x$ be $N$ numbers, $r \in (0, 1]$ a tail fraction, and $k = \lceil r N \rceil$.
# The tail average $\TAM_r(x)$ is the mean of the $k$ largest of them.
# :::
#
# With $k = 1$ it is the maximum, and with $k = N$ the mean.
# The *tail-average margin* of a key is its signal less the tail average of its $N = n - 1$ competitors.
# A memory *retrieves in the tail-average sense* if all margins are positive.
#
# Two things make this useful.
#
# First, a positive margin guarantees a place.
# The average of the best $k$ competitors is at least the $k$-th best of them.
# A signal above the average is therefore outranked by at most $k - 1$ competitors.
# This is part of [Definition 1](#definition-1) in the paper.
#
# Second, the tail average is convex, although it is defined by sorting.
# Put a threshold $\mu$ anywhere.
# The cost is $\mu$ itself, and $1/k$ for each unit by which a score sticks out above it.
# With a low threshold many scores stick out, and a high one is costly by itself.
# The least cost is the tail average:
#
# $$
# \TAM_r(x) = \min_\mu \Bigl\{ \mu + \frac1k \sum_{j=1}^N (x_j - \mu)_+ \Bigr\} .
# $$ (eq-tam-variational)
#
# Here $(t)_+ = \max(t, 0)$ is the *hinge*.
# The bracket is convex in scores and threshold together, and such a function stays convex when it is minimised over one of its arguments.
# The minimum is attained with the threshold at the $k$-th largest score.
#
# For a column of sixty normal scores, the two sides of {eq}`eq-tam-variational` are these.

# %%
column = np.random.default_rng(seed).standard_normal(60)
k = tail_count(r, len(column))
tail = np.sort(column)[-k:]
by_sorting = tail.mean()
by_threshold = tail[0] + np.maximum(column - tail[0], 0).sum() / k

# %% tags=["remove-cell"]
glue("tam_by_sorting", float(by_sorting), display=False)
glue("tam_by_threshold", float(by_threshold), display=False)
glue("tam_tail_size", k, display=False)

# %% [markdown]
# The mean of the {glue:text}`tam_tail_size` largest scores is {glue:text}`tam_by_sorting:.4f`, and the bracket at the threshold has the value {glue:text}`tam_by_threshold:.4f`.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-threshold", "caption": "The tail average as a minimum, for one column of sixty normal scores. The line is the bracket of the formula as a function of the threshold; its least value is the tail average (dashed). Ticks at the bottom are the scores; the long ones are the tail, and the minimum lies at the lowest of them."}, "image": {"alt": "A convex curve with straight pieces whose minimum touches a dashed horizontal line above the lowest of the long ticks."}}
figure, ax = panels(1, width=5.4, height=3.2)
mu = np.linspace(tail[0] - 0.9, tail[0] + 1.3, 300)
bracket = mu + np.maximum(column[:, None] - mu, 0).sum(axis=0) / k
ax.plot(mu, bracket, color=TAIL_AVERAGE, label="bracket")
ax.axhline(by_sorting, ls="--", color=INK, lw=1, label="tail average")
ax.plot(tail[0], by_sorting, "o", color=INK)
bottom = by_sorting - 0.35 * np.ptp(bracket)
heights = np.where(column >= tail[0], 0.2, 0.08) * np.ptp(bracket)
ax.vlines(column, bottom, bottom + heights, color=COMPETITOR, lw=1, label="scores")
ax.set(xlabel="threshold $\\mu$", ylabel="value", xlim=mu[[0, -1]])
ax.legend(loc="upper center")
figure

# %% [markdown]
# Finance knows the pair as *value-at-risk*, the threshold, and *conditional value-at-risk*, the average beyond it {cite:p}`rockafellar2000optimization`.
#
# The first check compares the definition, which sorts, with a solver of linear programs, which does not know how to sort.
# The solver must find the same minimum of {eq}`eq-tam-variational`.
# The falsehood is the number that finance would use: it takes exactly $r N$ scores, the last one in part, where the paper rounds up.

# %% tags=["hide-input"]
fractions = [0.02, r, 0.5, 0.93, 1.0]
x = np.random.default_rng([seed, 1]).standard_normal(47)
check(**definition_evidence(x, fractions))

# %% [markdown]
# The second check asks how far down the list a signal can be that beats its tail average.
# The answer is place $k$ and no further: one competitor that is far below makes up for $k - 1$ that are just ahead.
# Linear programs find it for several columns.
# Given how many competitors are ahead of the signal, they look for the least tail average that the others can bring about.

# %% tags=["hide-input"]
counts = [12, 20, 15, 21, 10]
check(**place_evidence(list(zip(counts, fractions, strict=True))))

# %% [markdown]
# ## Between first place and a place on the list
#
# Three demands can be made on a key: first place, a margin above zero, and a place among the best $k$.
# Each implies the next.
# A small example shows how they differ.
#
# Take a key with three competitors and write down their scores less the signal.
# Let the third be at $-1$, so that two numbers are left, which are the axes of {numref}`fig-tam-picture`.
# Take $k = 2$.
#
# - First place asks that both numbers be negative.
# - The tail average asks that the mean of the best two of the three be negative.
# - A place among the best two asks only that not both numbers be positive.
#
# The last set has the shape of an L.
# It contains the points P and Q, but not the middle between them, so it is not convex.

# %%
P, Q = np.array([3.0, -2.0, -1.0]), np.array([-2.0, 3.0, -1.0])
columns = {"P": P, "Q": Q, "middle": (P + Q) / 2}
ahead = {name: (x > 0).sum() for name, x in columns.items()}
averages = {name: tail_average(x, 2 / 3) for name, x in columns.items()}

# %% tags=["hide-input"]
Table(
    {
        "column": list(columns),
        "scores less the signal": [
            f"{x[0]:g}, {x[1]:g}, {x[2]:g}" for x in columns.values()
        ],
        "competitors ahead": [str(count) for count in ahead.values()],
        "average of the best two": list(averages.values()),
    }
)

# %% [markdown]
# At P and at Q one competitor is ahead, so the target has the second place.
# In the middle two are ahead, and it has the third.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-picture", "caption": "Three demands on a key with three competitors, in the plane of two of them, the third at $-1$. Each region contains those inside it: first place, then the tail average of the best two below the signal, then a place among the best two. The last is not convex: P and Q are in, their middle is not."}, "image": {"alt": "A square labelled first place inside a pentagon labelled tail average inside an L-shaped region labelled among the best two; the corner that is left is labelled third place. A dashed line leads from P to Q, both in the L, through a middle outside of it."}}
figure, ax = panels(1, width=4.6, height=4.4)
draw_demands(ax, columns)
figure

# %% [markdown]
# What happens to columns of scores can happen to memories.
# With no more pairs than dimensions, $n \le d$, the targets are linearly independent, and so are the keys.
# Then every matrix of scores belongs to some memory, and scores are linear in $W$.
# Two memories can put all targets on the list while their average does not.
# No convex loss has such a set as its set of successes.
#
# With more pairs than dimensions each column of scores is confined to a subspace of dimension $d$.
# Whether the list stays non-convex there depends on the instance.

# %% [markdown]
# ## Smoothing
#
# The hinge has a kink, and methods that use second derivatives need a function without one.
# So the hinge is replaced by the *softplus* $\phi_\beta(t) = \beta^{-1} \log(1 + e^{\beta t})$.
# It lies above the hinge by at most $\log 2 / \beta$, which it reaches at the kink.
# The number $\beta$ says how sharp the corner is: what is smoothed is a range of width about $1 / \beta$.
#
# $$
# \begin{gathered}
# \TAM_{r,\beta}(x) = \min_\mu \Bigl\{ \mu + \frac1k \sum_j \phi_\beta(x_j - \mu) \Bigr\} , \\
# 0 \le \TAM_{r,\beta} - \TAM_r \le \frac{N \log 2}{k \beta} .
# \end{gathered}
# $$ (eq-tam-smoothed)
#
# {numref}`fig-tam-softened` has the bracket for the sixty scores of before.
# Smoothing rounds its corners, lifts its minimum and moves it a little.
#
# ```{widget} tail_smoothing
# :label: The smoothed tail average of a column
# The first chart has the bracket for the sixty scores over the threshold $\mu$: the exact one of {eq}`eq-tam-variational`, and the smoothed one of {eq}`eq-tam-smoothed`.
# The second has what each score $s$ counts at the best threshold: one or nothing without smoothing, and $\sigma(\beta(s - \mu))$ with it, where $\sigma(t) = 1/(1 + e^{-t})$.
# Lower $\beta$, and see the minimum rise and more scores take part; stretch the column, and see fewer.
# ```

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-softened", "caption": "The bracket whose minimum is the tail average, for the same sixty scores: exact, and smoothed with two values of $\\beta$. Markers: the minima. That of the exact bracket is flat between the $k$-th score and the next."}, "image": {"alt": "Three convex curves in the threshold; the more smoothing the higher, and the rounder at the minimum."}}
figure, ax = panels(1, width=5.4, height=3.2)
ax.plot(mu, bracket, color=INK, label="exact")
ax.plot(tail[0], by_sorting, "o", color=INK)
for b, style, marker in ((10.0, "--", "s"), (3.0, ":", "^")):
    softplus = np.logaddexp(0, b * (column[:, None] - mu)).sum(axis=0) / (b * k)
    ax.plot(mu, mu + softplus, style, color=TAIL_AVERAGE, label=f"$\\beta$ = {b:g}")
    place = smoothed_threshold(column, r, b), smoothed_tail_average(column, r, b)
    ax.plot(*place, marker, color=TAIL_AVERAGE)
ax.set(xlabel="threshold $\\mu$", ylabel="value")
ax.legend()
figure

# %% [markdown]
# The upper bound is that of a column of equal scores with the threshold at their height, where every score has the largest error.
# The best threshold of that column lies elsewhere unless $r = 1/2$, and does better; how much better is an exercise at the end.
#
# For other columns the error is smaller.
# Suppose the scores have a density $f$ at the threshold.
# Only scores within about $1/\beta$ of it notice the smoothing, and each by about $1 / \beta$, so the error is of order $1/\beta^2$.
# Its constant comes from the area between softplus and hinge: the error is $\pi^2 f / (6 r \beta^2)$.
# This law needs several scores within $1/\beta$ of the threshold.
# Once $1/\beta$ is smaller than the distance between neighbouring scores, the error falls below this law.
#
# We smooth a long column of normal scores more and more sharply.

# %%
column = np.random.default_rng([seed, 2]).standard_normal(max(sizes))
smoothed = [smoothed_tail_average(column, r, b) for b in smoothings]
excess = np.array(smoothed) - tail_average(column, r)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-smoothing", "caption": "What smoothing adds to the tail average of a column of normal scores, against the sharpness $\\beta$: measured, the bound that holds for any column, and the law for scores with a density at the threshold."}, "image": {"alt": "Dots below a dashed line of slope minus one, following a line of slope minus two."}}
figure, ax = panels(1, width=5.4)
sharp = np.array(smoothings)
ax.loglog(sharp, excess, "o", color=TAIL_AVERAGE, label="measured")
ax.loglog(sharp, normal_excess(r, sharp), color=INK, label="law of the density")
bound = {"ls": "--", "color": LIMIT, "label": "bound for any column"}
ax.loglog(sharp, largest_excess(r, sharp), **bound)
ax.set(xlabel="sharpness $\\beta$", ylabel="smoothed less exact tail average")
ax.legend()
figure

# %% [markdown]
# At the smallest $\beta$ the whole column is within the range that is smoothed, and the error is about half of the bound.
# From there it turns to the law of the density, and falls like $1 / \beta^2$.
#
# (tail-wide-columns)=
# ### Wide columns feel no smoothing
#
# Stretch a column by some factor, and divide $\beta$ by it: nothing changes but the scale.
# So how much a column is blurred depends only on $\beta$ times the *spread* of the column, the standard deviation of its scores.
#
# Let $c_r(\nu)$ be the smoothed tail average of a normal law with standard deviation $\nu$, and let $\kappa_r$ be that of the standard normal law without smoothing.
# For every fixed $\beta$ the ratio $c_r(\nu) / \nu$ decreases to $\kappa_r$ as $\nu$ grows ([the claim](#claim-tail-average-per-spread)).
# This is all that {doc}`the critical load <ridgeless_limit>` will need to know of the smoothing.
#
# The ratio decreases since $\phi_\beta(\nu y)/\nu$ does, for every $y$.
# The law of the density says how fast.
# Write $\varphi$ for the standard normal density and $z_r$ for the level above which a standard normal variable lies with probability $r$.
# Then $\kappa_r = \varphi(z_r) / r$, and the law has the density $\varphi(z_r) / \nu$ at its threshold.
# To leading order, $c_r(\nu) / (\kappa_r \nu) - 1$ is therefore $\pi^2 / (6 \beta^2 \nu^2)$.
#
# The check multiplies by $(\beta \nu)^2$, which leaves the constant.
# Its tolerance is one and a half times the next term of the expansion.

# %% tags=["hide-input"]
check(**rate_evidence([10, 30, 100, 1000], [0.05, r, 0.5], [1.0, beta]))

# %% [markdown]
# At small spreads the smoothing decides: $c_r$ tends to a constant, and the ratio $c_r(\nu) / \nu$ falls like $1/\nu$.
# So on logarithmic scales the slope of the ratio lies between $-1$ and zero, and it should never reach zero.
# The check computes slopes in two ways: by a search for the threshold with adaptive quadrature, and from Stein's identity for the derivative of $c_r$.

# %% tags=["hide-input"]
check(**fall_evidence([0.1, 0.3, 1, 3, 10, 30], [0.05, r, 0.5], beta))

# %% [markdown]
# ## How a memory learns by it
#
# Training minimises a loss of the margins.
# The *logistic loss* $\ell(t) = \log(1 + e^{-t})$ is small for a large positive margin $t$, and grows in proportion to a negative one.
# The objective is its mean over the keys and a *ridge*, a penalty with weight $\lambda$ that keeps the memory finite:
#
# $$
# \begin{gathered}
# \min_W \; \frac1n \sum_i \ell(m_i) + \frac{\lambda}{2 d^2} \norm{W}_F^2 , \\
# m_i = s_{i,i} - \TAM_{r,\beta}\bigl((s_{j,i})_{j \ne i}\bigr) .
# \end{gathered}
# $$ (eq-tam-learning)
#
# Here $m_i$ is the smoothed margin of key $i$.
# Scores are linear in $W$, the tail average is convex, and $\ell$ is convex and decreasing.
# So the whole objective is convex in $W$.
#
# The usual *cross-entropy* is the same with another aggregate of the competitors.
# It is the logistic loss of the signal less their *log-sum-exp*, $\operatorname{LSE}(x) = \log \sum_j e^{x_j}$:
#
# $$
# -s_{i,i} + \log \sum_j e^{s_{j,i}} = \ell\bigl( s_{i,i} - \operatorname{LSE}((s_{j,i})_{j \ne i}) \bigr) .
# $$
#
# We train a memory by its tail average and compute its cross-entropy in both ways, as a loss of margins and as PyTorch has it.

# %%
LOSSES = {"cross-entropy": CrossEntropy(), "tail average": TailAverage(r, beta)}


def train(load, loss, *key):
    """Pairs, and a memory trained on them."""
    at = {"ridge": ridge, "tol": 1e-4, "seed": derived_seed(seed, *key)}
    pairs, found = train_at_load(load, d, LOSSES[loss], **at)
    return pairs, found.W


# %%
pairs, W = train(metrics_load, "tail average", 90)
S = scores(pairs, W)
ours = loss_pass(pairs, CrossEntropy(), W).loss
torchs = float(torch.nn.functional.cross_entropy(S.T, torch.arange(pairs.n)))

# %% tags=["remove-cell"]
glue("tam_cross_entropy", float(ours), display=False)
glue("tam_cross_entropy_torch", torchs, display=False)

# %% [markdown]
# The two numbers are {glue:text}`tam_cross_entropy:.10f` and {glue:text}`tam_cross_entropy_torch:.10f`.
# They are large because this memory was not trained for first place.
#
# ### Who carries the gradient
#
# The tail average and the log-sum-exp both make one number, an *aggregate*, of the competitors of a key.
# They read a column quite differently.
# The paper calls the log-sum-exp a smoothed maximum, but it is one only for columns that are wide enough (see the {doc}`errata <../errata>`).
#
# Take $n$ normal scores of spread $\nu$.
# Where $\nu$ is below $\sqrt{2 \log n}$, the sum in the log-sum-exp is carried by the bulk of the column, and it is about $\log n + \nu^2/2$.
# Only above does it follow the largest score.
# This is the freezing transition of Derrida's random energy model {cite:p}`derrida1981random`.
# The tail average takes the best fraction $r$ at any spread.
#
# The gradient of an aggregate is a set of weights on the competitors, which sum to one.
# One over the sum of their squares is the effective number of competitors that carry the gradient: it is $N$ for $N$ equal weights.
# We stretch columns of normal scores and measure value and carriers of both aggregates.

# %%
n = max(sizes)
column = np.random.default_rng([seed, 5]).standard_normal((draws, n))
spreads = np.linspace(0.25, 9, 22)
values, carriers = compare_aggregates(column, spreads, r, beta)
frozen_at = math.sqrt(2 * math.log(n))

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-aggregates", "caption": "Two aggregates of a column of normal scores against its spread $\\nu$. Top: their values (markers), with what theory expects: for the log-sum-exp the law of the bulk (line) and the largest score (dashed), for the tail average that of the normal law (line). Bottom: the effective number of competitors that carry the gradient. Dotted: the spread at which the log-sum-exp freezes."}, "image": {"alt": "Top, two rising curves on lines. Bottom, the number of carriers of the log-sum-exp falls from all to a few, that of the tail average stays."}}
figure, (top, bottom) = panels(1, rows=2, height=5.8, width=5.4, sharex=True)
bulk = spreads < frozen_at
largest = -special.ndtri(1 / n) * spreads  # of n normal scores, typically
for name, color, marker in (
    ("log-sum-exp", CROSS_ENTROPY, "o"),
    ("tail average", TAIL_AVERAGE, "s"),
):
    look = {"marker": marker, "ms": 3, "color": color, "label": name}
    top.plot(spreads, values[name], ls="none", **look)
    bottom.semilogy(spreads, carriers[name], lw=1, **look)
line = {"color": CROSS_ENTROPY, "lw": 1}
below = math.log(n) + spreads[bulk] ** 2 / 2
top.plot(spreads[bulk], below, **line, label="law of the bulk")
top.plot(spreads, largest, "--", **line, label="largest score")
law = [scalar_tail_average(nu, r, beta)[0] for nu in spreads]
top.plot(spreads, law, color=TAIL_AVERAGE, lw=1, label="normal law")
for ax in (top, bottom):
    ax.axvline(frozen_at, color=LIMIT, ls=":", label="freezing")
top.set_ylabel("value")
bottom.set(xlabel="spread $\\nu$ of the scores", ylabel="carriers of the gradient")
top.legend()
figure

# %% tags=["remove-cell"]
at_one, at_nine = int(np.argmin(abs(spreads - 1))), len(spreads) - 1
for name, index in (("one", at_one), ("nine", at_nine)):
    glue(f"tam_lse_at_{name}", float(carriers["log-sum-exp"][index]), display=False)
    glue(f"tam_tail_at_{name}", float(carriers["tail average"][index]), display=False)

# %% [markdown]
# At a spread of about one, cross-entropy pulls against {glue:text}`tam_lse_at_one:.0f` competitors at once.
# At a spread of nine it pulls against {glue:text}`tam_lse_at_nine:.1f`.
# Trained memories go through all this range and beyond it.
# Where they can fit their pairs, the spread of their scores grows to many tens as the ridge vanishes.
#
# The tail average pulls against {glue:text}`tam_tail_at_one:.0f` and {glue:text}`tam_tail_at_nine:.0f` competitors, about the fraction $r$ of all.
# So it stays an average over many scores, whatever their spread.

# %% [markdown]
# ## Memories that differ
#
# How much is gained by asking for less?
# The experiment draws pairs at several *loads*, the number of pairs per entry of the memory, $n / d^2$.
# At each load it trains two memories on the same pairs: one by cross-entropy, which aims at first place, and one by the smoothed tail average.
#
# The ridge is tiny, so training nearly always finds a memory that meets its demand where there is one.
# An instance counts as a success if *every* key meets the demand.

# %%
judged = {
    loss: [
        [judge_keys(*train(load, loss, a, t), r) for t in range(instances)]
        for a, load in enumerate(progress(loads, loss))
    ]
    for loss in LOSSES
}

# %% [markdown]
# For the memories trained by cross-entropy, we count the instances in which all signals are first.
# For those trained by the tail average, we count the instances in which all margins are positive, and those in which all targets are among the best $k$.

# %%
by_tail = judged["tail average"]
places = [tail_count(r, pairs_at_load(load, d) - 1) for load in loads]
first = count_successes(judged["cross-entropy"], lambda keys: keys.first > 0)
tail = count_successes(by_tail, lambda keys: keys.tail > 0)
listed = count_successes(by_tail, lambda keys, k: keys.ahead < k, places)

# %% tags=["hide-input"] explore="explore_phase?r=0.15&load=0.28" mystnb={"figure": {"name": "fig-tam-success", "caption": "Share of instances in which every key succeeds, against the load, with 95% intervals: first place after training by cross-entropy; signal above the tail average, and among the best $k$, after training by the tail average. Dotted: the critical load of the tail average for $n, d \\to \\infty$."}, "image": {"alt": "Three falling curves. That of first place falls first, that of the tail average later, that of the list last."}}
figure, ax = panels(1, width=5.4)
for wins, name, color, marker, style, shift in (
    (first, "all first", CROSS_ENTROPY, "o", "-.", -0.004),
    (tail, "all above the tail average", TAIL_AVERAGE, "s", "-", 0),
    (listed, "all among the best $k$", AMONG_BEST, "^", "--", 0.004),
):
    x, trials = np.array(loads) + shift, [instances] * len(loads)
    look = {"color": color, "marker": marker, "label": name}
    plot.proportions(ax, x, wins, trials, **look)
    ax.plot(x, np.array(wins) / instances, style, color=color, lw=1)
ax.axvline(critical_load(r), color=LIMIT, ls=":", label="critical load")
ax.set(xlabel="load $n/d^2$", ylabel="share of instances", ylim=(-0.05, 1.05))
ax.legend()
figure

# %% [markdown]
# In {numref}`fig-tam-success` first place gives way well before the tail average does.
# The gap is what is gained by asking for less.
#
# In proportion the gap grows without bound as memories grow.
# The largest load at which all can be first falls like $1/\log n$, while the critical load of the tail average is a constant.
#
# The third curve lies close to the second.
# A memory that is trained for the tail average keeps its targets on the list hardly longer than above the tail average: once some signals must fail, they fail by far.

# %% [markdown]
# ## Three measures of a memory
#
# Whether all keys succeed is a single yes or no.
# The sections from here on measure three things that say more:
#
# - the mean loss,
# - the law of the margins, that is, the share of keys with a margin below any number,
# - and the law of the *percentiles*, where the percentile of a key is the share of competitors that its signal beats.
#
# We compare three memories of the same pairs: the plain sum of outer products, one trained by cross-entropy, and one trained by the tail average.

# %%
memories = {"outer products": [], "cross-entropy": [], "tail average": []}
for t in progress(range(instances), "metrics"):
    for name in LOSSES:
        pairs, W = train(metrics_load, name, 91, t)
        memories[name].append((pairs, W))
    memories["outer products"].append((pairs, correlation_memory(pairs)))

# %% tags=["hide-input"]
pooled = {
    name: pool_keys(judge_keys(pairs, W, r) for pairs, W in found)
    for name, found in memories.items()
}
mean_losses = {
    name: np.mean(
        [loss_pass(pairs, LOSSES["tail average"], W).loss for pairs, W in found]
    )
    for name, found in memories.items()
}
norm_scales = {
    name: np.mean([float(W.norm()) / d for _, W in found])
    for name, found in memories.items()
}
Table(
    {
        "memory": list(memories),
        "mean tail-average loss": list(mean_losses.values()),
        "norm scale $\\lVert W \\rVert_F/d$": list(norm_scales.values()),
        "keys first": [(keys.ahead == 0).mean() for keys in pooled.values()],
        "keys above their tail average": [
            (keys.tail > 0).mean() for keys in pooled.values()
        ],
    },
    ".3g",
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-metrics", "caption": "Three memories of the same pairs, pooled over instances. Top: margins between signal and tail average, in units of the norm scale of the memory. Bottom: percentiles of the signals; dotted, the law of the outer products."}, "image": {"alt": "Distribution functions: the tail-average memory has almost no negative margin and hardly any signal at the very top; the outer-product memory is spread over all percentiles."}}
figure, (top, bottom) = panels(1, rows=2, height=5.8, width=5.4)
looks = (OUTER_PRODUCTS, "-."), (CROSS_ENTROPY, "--"), (TAIL_AVERAGE, "-")
for (name, keys), (color, style) in zip(pooled.items(), looks, strict=True):
    p = (np.arange(len(keys.tail)) + 0.5) / len(keys.tail)
    look = {"ls": style, "color": color, "label": name}
    top.plot(np.sort(keys.tail) / norm_scales[name], p, **look)
    bottom.plot(np.sort(keys.share), p, **look)
top.axvline(0, color=LIMIT, lw=0.8)
top.set(xlabel="margin over norm scale", ylabel="share of keys below", xlim=(-3, 3))
w = np.linspace(0.001, 0.999, 400)
law = percentile_cdf(w, metrics_load)
bottom.plot(w, law, ":", color=INK, label="law of outer products")
bottom.set(xlabel="percentile of the signal", ylabel="share of keys below")
bottom.set_xlim(0.5, 1.005)
top.legend()
bottom.legend()
figure

# %% [markdown]
# The memory trained by the tail average wastes nothing.
# Its margins pile up just above zero, and its signals just inside the tail.
# Cross-entropy puts more signals in first place, and pays with signals that fall out of the tail.

# %% [markdown]
# ## Limits
#
# - A trained memory that fails shows that *this* memory fails. For the tail average at a tiny ridge that is nearly the same as that none exists. For the list of $k$ it is not, since nobody minimised anything for it, and its curve in {numref}`fig-tam-success` is a lower bound.
# - At $d = 16$ the transitions are broad, and that of the tail average lies at a higher load than the critical one. The percentiles of outer products in {numref}`fig-tam-metrics` lie off their law for the same reason.
# - The paper says that the loss vanishes exactly if all but a vanishing share of the margins are positive. That needs the norm to diverge, as it does when the ridge vanishes. At a fixed norm a positive margin $m$ still costs $\ell(m) > 0$ (see the {doc}`errata <../errata>`).
#
# ## Exercises
#
# ```{exercise} Where the weight goes
# :label: ex-tail-weights
#
# Without smoothing the best nine of the sixty scores count one each, and the others nothing.
# Smoothing takes weight from the best ones, and the weights still sum to nine.
# Where does that weight go, and does the threshold rise or fall?
# Predict it, then lower $\beta$ from 100 to 1 in [the widget](#widget-tail_smoothing).
# What changes at $r = 0.85$?
# ```
#
# ```{solution} ex-tail-weights
# :class: dropdown
#
# The weight goes to all scores below the tail, first to those just below it.
# At $\beta = 1$ the best score has the weight 0.55, the ninth 0.25, the tenth 0.23, and the last of all still 0.01.
#
# The threshold rises, from 0.78 to 1.92.
# Were it held, a softer step would bring all weights nearer to one half, and their sum nearer to thirty.
# Nine is less than that, so the threshold must go up.
# In the limit of small $\beta$ all weights are equal to $r$, which needs a threshold of about $\beta^{-1} \log \frac{1 - r}{r}$.
#
# At $r = 0.85$ the tail has 51 of the sixty scores.
# That is more than thirty, and the threshold falls.
# ```
#
# ```{exercise} Convex without a threshold
# :label: ex-tail-subsets
#
# Show that the tail average is convex without the help of {eq}`eq-tam-variational`: write it as a maximum of functions that are linear in the scores.
# Why does the same not work for the $k$-th largest score?
# ```
#
# ```{solution} ex-tail-subsets
# :class: dropdown
#
# Take the average over any $k$ of the scores.
# It is linear in them, and it is largest for the best $k$.
# So
#
# $$
# \TAM_r(x) = \max_{\lvert J \rvert = k} \frac1k \sum_{j \in J} x_j ,
# $$
#
# and a maximum of linear functions is convex.
#
# The $k$-th largest score is a maximum over the same sets, but of the *least* score in the set.
# A minimum of linear functions is concave, and a maximum of concave functions need be neither convex nor concave.
# The columns P and Q of {numref}`fig-tam-picture` show that it is not convex.
# Their second largest number is $-1$, and that of their middle is $\frac12$.
# ```
#
# ```{exercise} A bound that is not reached
# :label: ex-tail-alike
#
# {eq}`eq-tam-smoothed` allows smoothing to add $N \log 2 / k \beta$.
# Press "all alike" in [the widget](#widget-tail_smoothing): the scores are nearly equal there, and what smoothing adds is still well below that bound.
# Find a tail fraction at which it comes close.
# Then prove that for any column
#
# $$
# \TAM_{r,\beta} - \TAM_r \le \frac{N}{k \beta}\, h\Bigl(\frac kN\Bigr) ,
# $$
#
# with $h(q) = - q \log q - (1 - q) \log (1 - q)$, and that this bound is reached.
# A hint: $\phi_\beta(t) = \max_{0 \le q \le 1} \{ q t + h(q) / \beta \}$.
# ```
#
# ```{solution} ex-tail-alike
# :class: dropdown
#
# The hint holds since the derivative of the bracket in $q$ vanishes at $q = \sigma(\beta t)$, and its value there is $\phi_\beta(t)$.
# At the best threshold $\mu$ these $q_j = \sigma(\beta (x_j - \mu))$ are the weights, and they sum to $k$.
# So $\mu$ drops out:
#
# $$
# \begin{aligned}
# \TAM_{r,\beta}(x) &= \mu + \frac1k \sum_j \Bigl[ q_j (x_j - \mu) + \frac{h(q_j)}{\beta} \Bigr] \\
# &= \frac1k \sum_j q_j x_j + \frac{1}{k \beta} \sum_j h(q_j) .
# \end{aligned}
# $$
#
# The first term is at most $\TAM_r(x)$, since no weight is above one and together they are $k$.
# The sum in the second is at most $N h(k/N)$, since $h$ is concave and the mean of the weights is $k/N$.
#
# Equal scores have equal weights, and then both are equalities.
# Since $h$ is at most $\log 2$, and equal to it only at one half, the bound with $\log 2$ is reached at $r = 1/2$ alone.
# At $r = 0.15$ the number $h(0.15) = 0.423$ is 61% of $\log 2$.
# ```
#
# ```{exercise} How sharp is sharp enough
# :label: ex-tail-sharp
#
# How large must $\beta$ be for smoothing to add at most one per cent to the tail average of the standard normal law?
# Does a small tail fraction, with fewer scores to average over, need a sharper corner?
# Predict both from the leading order of $c_r(\nu) / (\kappa_r \nu) - 1$ that stands under {ref}`"Wide columns feel no smoothing" <tail-wide-columns>`.
# What if the scores have the spread two?
# ```
#
# ```{solution-start} ex-tail-sharp
# :class: dropdown
# ```
#
# The leading order is $\pi^2 / (6 \beta^2 \nu^2)$, and there is no $r$ in it.
# Both the density at the threshold and the tail average itself are in proportion to $\varphi(z_r)$.
# One per cent at $\nu = 1$ gives $\beta = \pi / \sqrt{0.06} = 12.8$.
# The cell solves the full equation at $r = 0.05$, 0.15 and 0.5.

# %% tags=["answer"] says="12.8 12.8 12.8"
from scipy.optimize import brentq

from assocmem.theory.ridgeless import tail_mean
from assocmem.theory.scalar import scalar_tail_average


def miss(beta, r):
    return scalar_tail_average(1.0, r, beta)[0] - 1.01 * tail_mean(r)


print(*(f"{brentq(miss, 1, 100, args=(r,)):.1f}" for r in (0.05, 0.15, 0.5)))

# %% [markdown]
# At spread two half of that is enough, since only the product $\beta \nu$ matters.
#
# ```{solution-end}
# ```
#
# ```{exercise} Carriers that are lost at half the freezing
# :label: ex-tail-carriers
#
# The log-sum-exp puts the weights $e^{x_j} / \sum_i e^{x_i}$ on its competitors.
# So its effective number of carriers is $(\sum_j e^{x_j})^2 / \sum_j e^{2 x_j}$.
# Put in the means over the normal law of spread $\nu$, and find $n e^{-\nu^2}$.
# For ten thousand scores this says that a single carrier is left at $\nu = 3$, far below the freezing at 4.3.
# But such columns have about forty carriers there.
# Which of the two sums is not what its mean says, and from which spread on?
# ```
#
# ```{solution} ex-tail-carriers
# :class: dropdown
#
# The mean of $e^x$ is $e^{\nu^2/2}$, and that of $e^{2x}$ is $e^{2\nu^2}$.
# So the ratio is $n^2 e^{\nu^2} / (n\, e^{2 \nu^2}) = n e^{-\nu^2}$.
#
# The sum of the squares is at fault.
# It is the sum of exponentials of a column with *twice* the spread.
# Such a sum freezes where $2 \nu = \sqrt{2 \log n}$, at half of the spread at which the log-sum-exp itself does.
# For ten thousand scores that is $\nu = 2.15$.
#
# Above it the mean of $e^{2x}$ rests on scores so high that a column of $n$ hardly ever has one.
# The sum that a column really has is smaller, and the number of carriers larger.
# The change is a broad one: at $\nu = 1$ there are 3690 carriers on average and the formula has 3679, at $\nu = 2$ they are 320 and 183, and at $\nu = 3$ they are 42 and 1.2.
# ```
#
# ## Try
#
# Another tail fraction and a higher load, or larger memories and more of them:
#
# ```sh
# python -m assocmem run tail_average_margin -p r 0.4 -p metrics_load 0.5
# python -m assocmem run tail_average_margin -p d 24 -p instances 16
# ```

# %% [markdown] tags=["second-page"]
# # The tail average: tools of the proofs
#
# {doc}`The story <tail_average_margin>` tells what a tail-average margin is, and how a memory learns by it.
# The proofs of the next sections need to know more: what the smoothed tail average does when scores move or a competitor comes, and how the loss bends.
# That is [Lemma 4](#lemma-4) and [Definition 2](#definition-2), with nearly all checks of this section.

# %% [markdown]
# ## What a move of scores does
#
# [Lemma 4](#lemma-4) says what the smoothed tail average of a column does when its scores move.
# All of it follows from one number for each score, its weight $q_j = \sigma(\beta(x_j - \mu))$, where $\sigma(t) = 1 / (1 + e^{-t})$ is the logistic function and $\mu$ the best threshold.
# A weight is near one above the threshold, near zero below it, and one half at it.
#
# - The gradient of the tail average is $p = q / k$.
# - When the scores move, the threshold moves along by the average of their moves with the weights $w_j = \frac\beta k q_j (1 - q_j)$. So only scores near the threshold take it along.
# - The second derivative is the matrix $B = D - D\mathbf 1 \mathbf 1^\top D / \mathbf 1^\top D \mathbf 1$ with $D = \operatorname{diag}(w)$ and $\mathbf 1$ the vector of ones. A move of all scores together costs nothing.
#
# The check differentiates value, threshold and gradient numerically, at a point where the weights are anything but equal.

# %% tags=["hide-input"]
x = np.random.default_rng([seed, 3]).standard_normal(40)
check(**column_evidence(x, r, min(beta, 10.0)))

# %% [markdown]
# [Lemma 4](#lemma-4) also orders these matrices, $0 \preceq B \preceq D \preceq \frac{\beta}{4k} I$, where $A \preceq B$ means that $B - A$ has no negative eigenvalue.
# The first two bounds are as good as they can be: relative to $D$ the second derivative is a projection, with one eigenvalue zero and all others one.

# %% tags=["hide-input"]
x = np.random.default_rng([seed, 7]).standard_normal(12)
check(**order_evidence(x, r, 2.0))

# %% [markdown]
# Two bounds follow for a move $h$ of the scores.
# One is on the error of the linearised tail average, $\epsilon = \TAM(x + h) - \TAM(x) - p^\top h$, the other on the move of the weights:
#
# $$
# \begin{aligned}
# \lvert \epsilon \rvert &\le \frac{\beta}{8k} \norm{h}_2^2 , \\
# \norm{p(x + h) - p(x)}_2 &\le \frac{\beta}{4k} \norm{h}_2 .
# \end{aligned}
# $$ (eq-tam-moves)
#
# An inequality that holds says little if it could be much better.
# These two could not.
# The check searches over columns of six scores and their moves, and climbs the ratio of the two sides without knowing any formula.
# It reaches both constants at every $k$ and passes neither.
# The worst case is two scores at the threshold that change places.
# A single score would do less, since it takes the threshold along.

# %% tags=["hide-input"]
cases = [(1, 1.0), (2, 10.0), (3, beta)]
check(**move_evidence(cases, seed))

# %% [markdown]
# The third bound is for one weight and for the largest move $\delta = \max_j \lvert h_j \rvert$:
#
# $$
# \bigl| p_j(x + h) - p_j(x) - (Bh)_j \bigr| \le \frac{C_\beta}{k}\, \delta^2 .
# $$
#
# It does not follow from the others.
# The lemma leaves $C_\beta$ open, and its proof gives $\beta^2$.
# The best constant is $\beta^2 / 3\sqrt 3$, about a fifth of that.
#
# The reason takes three steps.
# Let $\dot\mu$ be the move of the threshold and $\eta_j = h_j - \dot\mu$ the moves relative to it.
# The second derivative of $p_j$ is $\beta w_j$ times the difference between $(1 - 2 q_j) \eta_j^2$ and its average with the weights $w$.
#
# The first of these is at most $(1 - 2 q_j) (\delta + \lvert\dot\mu\rvert)^2$.
# The second is a variance, and at most $(\delta + \lvert\dot\mu\rvert)(\delta - \lvert\dot\mu\rvert)$.
#
# Their sum is largest where all other scores move by $-\delta$ and take the threshold along, so that one score moves by $2\delta$ relative to it.
# What is left is the maximum of $2 q (1 - q) (1 - 2q)$, which lies at $q = (1 - 1/\sqrt 3)/2$.
#
# A search over columns of thousands of scores finds that number.

# %% tags=["hide-input"]
cases = [(200, 1.0), (500, 3.0), (1000, beta)]
check(**component_evidence(cases, seed))

# %% [markdown]
# ## Who pays for a newcomer
#
# The proofs add and remove pairs one at a time, so one needs to know what one more competitor does to a column.
# The weights $q_j$ of a column sum to $k$.
# A newcomer with a weight of its own lifts the threshold, and all old weights fall to make room.
# Who pays for it, and how much?
#
# [Lemma 4](#lemma-4) answers for columns of normal scores with spread $\nu$, which the paper calls $\rho$.
# Let $g_j = q_j (1 - q_j)$ say how much score $j$ feels the smoothing: it is one quarter at the threshold and falls off on both sides.
# There are four statements, with constants $c$ and $C$ that are left open.
#
# | quantity | bound in the lemma |
# |:---|:---|
# | the threshold, $\lvert \mu \rvert$ | at most $C (1 + \nu)$ |
# | number of scores that feel the smoothing, $\sum_j g_j$ | at least $c\, n / (1 + \nu)$ |
# | squared length of the shares $g_j / \sum_l g_l$ | at most $C (1 + \nu) / n$ |
# | length of what a newcomer takes from the old weights $p_j$ | at most $\frac Ck \sqrt{(1 + \nu)/n}$ |
#
# The last is of order $n^{-3/2}$.
# What is taken in all is a weight of order $1/k$, but it is spread over all scores that feel the smoothing, so no single one pays much.
#
# We measure the quantities themselves and compare them with integrals over the normal law, so that constants can be read off.
# How much a newcomer takes depends on its height.
# One with weight $q$ takes $\frac qk$ in all, in proportion to the $g_j$.
# So those at the threshold pay, and not those with most.
#
# Newcomers come low, at the threshold, a little above it, and out of reach.
# Columns are smoothed at the parameter `softest`, unless $\beta$ is below it, so that dozens of scores feel the smoothing even at the largest spread.

# %%
soft = min(beta, softest)
heights = (-2.0, 0.0, 1.0, 60.0)  # above the threshold, in units of 1 / soft
at = {"r": r, "beta": soft, "draws": draws}
by_norm = [
    measure_columns(max(sizes), nu, heights=heights, **at, seed=[seed, 4, 0])
    for nu in progress(norms, "spreads")
]

# %% tags=["hide-input"]
by_size = [
    measure_columns(n, 1.0, **at, seed=[seed, 4, n]) for n in progress(sizes, "columns")
]
old_weights = len(by_norm) * max(sizes) * draws * len(heights)
glue("tam_old_weights", old_weights, display=False)
glue("tam_old_rises", sum(c.rises for c in by_norm), display=False)
glue("tam_felt_narrow", float(by_norm[0].felt.mean() * by_norm[0].n), display=False)
glue("tam_felt_wide", float(by_norm[-1].felt.mean() * by_norm[-1].n), display=False)
glue("tam_narrow", float(norms[0]), display=False)
glue("tam_wide", float(norms[-1]), display=False)
glue("tam_column_size", max(sizes), display=False)

# %% [markdown]
# Of {glue:text}`tam_old_weights:,` old weights that were compared, {glue:text}`tam_old_rises` grew when a newcomer came.
# In columns of {glue:text}`tam_column_size` scores, the number $\sum_j g_j$ that feel the smoothing is {glue:text}`tam_felt_narrow:.0f` at spread {glue:text}`tam_narrow:g` and {glue:text}`tam_felt_wide:.0f` at spread {glue:text}`tam_wide:g`.

# %% tags=["hide-input"]
spreads = np.geomspace(min(norms), max(norms), 60)
laws = [column_weights(nu, r, soft) for nu in spreads]
felt = [(1 + c.rho) * c.felt for c in by_norm]
taken = [[row / math.sqrt(1 + c.rho) for row in c.taken] for c in by_norm]
taken_by_size = [c.taken[-1] * c.n / tail_count(r, c.n) for c in by_size]
per_spread = np.sqrt([law.spread for law in laws] / (1 + spreads))
names = ("low", "at the threshold", "a little above", "out of reach")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-geometry", "caption": "Columns of normal scores: mean and standard deviation over draws (markers), and integrals over the normal law (lines). Top: the number of scores that feel the smoothing, times $(1 + \\nu)/n$, against the spread $\\nu$, at the largest size. Middle: the length of what a newcomer at each of four heights takes from the others, times $k \\sqrt{n/(1 + \\nu)}$. Bottom: what a newcomer out of reach takes, times $n^{3/2}$, against the size $n$ at spread one."}, "image": {"alt": "Top, dots on a line that rises a little, falls and levels off. Middle, four rows of dots on lines, the lower the newcomer the lower. Bottom, dots of about equal height on a line."}}
figure, axes = panels(1, rows=3, height=8.4, width=5.4)
top, middle, bottom = axes
dots = {"ls": "none", "marker": "o", "color": TAIL_AVERAGE}
top.errorbar(norms, np.mean(felt, axis=1), np.std(felt, axis=1), **dots)
top.plot(spreads, (1 + spreads) * [law.felt for law in laws], color=INK, lw=1)
for i, (name, look) in enumerate(series(names)):
    lengths = [rows[i] for rows in taken]
    mean, scatter = np.mean(lengths, axis=1), np.std(lengths, axis=1)
    middle.errorbar(norms, mean, scatter, ls="none", label=name, **look)
    middle.plot(spreads, special.expit(heights[i]) * per_spread, color=INK, lw=1)
middle.set_ylim(0, 1.6 * middle.get_ylim()[1])
means, scatter = np.mean(taken_by_size, axis=1), np.std(taken_by_size, axis=1)
bottom.errorbar(sizes, means, scatter, **dots)
law = math.sqrt(column_weights(1.0, r, soft).spread) / r
bottom.axhline(law, color=INK, lw=1)
top.set(xlabel="spread $\\nu$", ylabel="felt, times $(1 + \\nu)/n$", xscale="log")
middle.set(xlabel="spread $\\nu$", xscale="log")
middle.set_ylabel("taken, times $k \\sqrt{n/(1 + \\nu)}$")
bottom.set(xlabel="scores $n$", ylabel="taken, times $n^{3/2}$", xscale="log")
for ax in (top, bottom):
    ax.set_ylim(0, None)
middle.legend(title="newcomer", ncols=2, loc="upper left")
figure

# %% [markdown]
# All measurements lie on their integrals, and all scaled quantities stay bounded.
#
# In the checks tolerances are four standard errors and one over the number of scores that feel the smoothing.
# The latter is the relative order at which sums over so many scores differ from integrals.
#
# First the thresholds.
# Far out, a threshold is a quantile of the scores and in proportion to $\nu$.
# For scores that are nearly equal, it is a constant of order $1/\beta$.
# Were it in proportion to $\nu$ throughout, it would vanish with the spread.

# %% tags=["hide-input"]
check(**threshold_evidence(by_norm, r))

# %% [markdown]
# Next, how many scores feel the smoothing.
# At large spreads the number is $n \varphi(z_r) / \beta \nu$.
# At small ones all scores feel it, and no more than a quarter each.

# %% tags=["hide-input"]
check(**felt_evidence(by_norm, r, soft))

# %% [markdown]
# The lemma claims more than this.
# With the same targets it holds for all answers $Wv$ of a memory at once, also for those that the memory has chosen by looking at the targets.
# So the check looks for the worst answer.
# Among all directions, at spread one, a descent from several places seeks the one in which the fewest of $16 d^2$ fixed targets feel the smoothing.
#
# The share by which its number of such targets lies below that of a typical direction should go to zero like $d^{-1/2}$, the root of the number of directions over the number of targets.
# For a single direction drawn at random it would be of order $d^{-1}$.

# %% tags=["hide-input"]
check(**uniform_evidence(sorted(target_dimensions), r, soft, seed))

# %% [markdown]
# The proof bounds the squared length of the shares by the largest times their sum, with $g \le \frac14$.
# In truth it is less, at large spreads by the factor $\int g^2 / \frac14 \int g = \frac23$, and the data tell the two apart.

# %% tags=["hide-input"]
check(**spread_evidence(by_norm))

# %% [markdown]
# The same factor, under a root, is in what newcomers take, at all heights and spreads.

# %% tags=["hide-input"]
check(**height_evidence(by_norm, heights))

# %% [markdown]
# Who pays shows in the mean of $q$ among the payers, in proportion to what they pay.
# At large spreads it is one half, as at the threshold.
# For scores that are nearly equal it is $r$, since all pay alike.
# If all weights shrank by one factor, as when they are divided by a larger sum, those with most would pay.

# %% tags=["hide-input"]
check(**payer_evidence(by_norm))

# %% [markdown]
# Last, the power of $n$ in what a newcomer takes, at spread one.

# %% tags=["hide-input"]
check(**size_evidence(by_size))

# %% [markdown]
# ## The Hessian with the thresholds held
#
# The theory of the next sections needs a second derivative in $W$.
# The *joint* objective is a function of $W$ and of all thresholds, and the derivative is taken with the thresholds held fixed.
#
# [Definition 2](#definition-2) writes it column by column.
# Two numbers come from the logistic loss: $a_i = \sigma(-m_i)$, the force that the loss exerts on key $i$, and $b_i = a_i (1 - a_i)$, its slope.
# Let $Q_{:,i}$ be the gradient of $-m_i$ in the scores of column $i$, with the entries $Q_{i,i} = -1$ and $Q_{j,i} = q_{j,i} / k$.
# Let $R_i$ be the diagonal matrix of the weights $w_{j,i} = \frac\beta k q_{j,i} (1 - q_{j,i})$ of the competitors, and zero at the signal.
# Then the block of column $i$, and the Hessian of the summed loss, are
#
# $$
# \begin{aligned}
# M_i &= b_i\, Q_{:,i} Q_{:,i}^\top + a_i R_i , \\
# H &= \frac{\lambda n}{d^2} I + X \operatorname{diag}(M_1, \dots, M_n)\, X^\top ,
# \end{aligned}
# $$ (eq-tam-hessian)
#
# where $X = V \otimes U$, the Kronecker product, leads from scores to entries of $W$.
# Automatic differentiation, applied twice to the joint objective of a small instance, knows none of these letters.

# %% tags=["hide-input"]
small = gaussian_pairs(14, 3, seed=derived_seed(seed, 6))
W = torch.randn(
    3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
)
check(**hessian_evidence(small, W, TailAverage(r=0.3, beta=3.0), ridge))

# %% [markdown]
# ## Limits of these checks
#
# - The bounds of Lemma 4 for all answers at once are tried for one of them, the number of scores that feel the smoothing, at spread one. The others are measured on columns of independent scores. A search finds a bad direction and does not prove that none is worse.
