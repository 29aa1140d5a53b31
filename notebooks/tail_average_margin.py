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
# Ranking the right target first is more than many uses need, and it costs a logarithm: $d^2 \asymp n \log n$.
# Being among the best $k$ would do, but that is no convex demand.
# Between the two lies a third: let the signal beat the *average* of its strongest competitors.
# This section shows what the criterion asks, what it buys over either neighbour, how it is smoothed, and how a memory learns by it.

# %% tags=["parameters"]
r = 0.15  # tail fraction; [0.01, 0.9]
beta = 30.0  # inverse smoothing width; [1, 1000]
ridge = 1e-6  # ridge of the trained memories; [1e-9, 1]
d = 16  # dimension of the trained memories; [4, 60]
loads = [0.16, 0.2, 0.24, 0.28, 0.32, 0.36, 0.4]  # their loads n/d^2; [0.05, 2]
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
import math

import numpy as np
import torch
from matplotlib.patches import Polygon
from scipy import special

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import (
    AMONG_BEST,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    TAIL_AVERAGE,
    Table,
    panels,
)
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
# :::{prf:definition} Tail average
# :label: def-tail-average
#
# For $x \in \mathbb R^m$ and a tail fraction $r \in (0, 1]$ let $k = \lceil r m \rceil$.
# The tail average $\TAM_r(x)$ is the mean of the $k$ largest entries of $x$.
# :::
#
# With $k = 1$ it is the maximum and with $k = m$ the mean.
# A memory *retrieves in the tail-average sense* if every signal exceeds the tail average of its $m = n - 1$ competitors.
# This is [Definition 1](#definition-1) of the paper, and two things make it useful.
# It is a certificate: the average of the best $k$ is at least the $k$-th best, so a signal above it is outranked by at most $k - 1$ competitors.
# And it is convex, as the minimum over a threshold of something convex in scores and threshold together,
#
# $$
# \TAM_r(x) = \min_\mu \Bigl\{ \mu + \frac1k \sum_{j=1}^m (x_j - \mu)_+ \Bigr\} ,
# $$ (eq-tam-variational)
#
# attained at the $k$-th largest entry.
# Finance knows the pair as value-at-risk, the threshold, and conditional value-at-risk, the average beyond it {cite:p}`rockafellar2000optimization`.

# %% [markdown]
# ## Between first place and a place on the list
#
# Take a key with three competitors and look at its column of scores less the signal, with the third fixed at $-1$.
# First place asks that both others be negative.
# A place among the best two asks that not both be positive: an L-shaped set, which contains the points A and B but not the middle between them.
# The tail average of the best two asks for a convex set in between.

# %%
A, B = np.array([3.0, -2.0, -1.0]), np.array([-2.0, 3.0, -1.0])
columns = {"A": A, "B": B, "middle": (A + B) / 2}
Table(
    {
        "scores less the signal": [
            f"{name}: {x[0]:g}, {x[1]:g}, {x[2]:g}" for name, x in columns.items()
        ],
        "competitors ahead": [str((x > 0).sum()) for x in columns.values()],
        "average of the best two": [tail_average(x, 0.6) for x in columns.values()],
    }
)

# %% [markdown]
# Scores are linear in $W$.
# With no more pairs than dimensions, $n \le d$, targets and keys are linearly independent and any matrix of scores is some memory's, so the same happens to memories: two that put the target on the list can have an average that does not.
# Then no convex loss has the list as its set of successes.
# With more pairs each column of scores is confined to a subspace of dimension $d$, and whether the list stays non-convex there depends on the instance.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-picture", "caption": "Left: three demands on a key with three competitors, in the plane of two of them less the signal: first place (innermost), tail average of the best two below the signal (next), place among the best two (outermost, not convex: A and B are in, their middle is not). Right: the function of the threshold whose minimum is the tail average, for one column of normal scores, exact and smoothed; the minimum of the exact one is flat between the k-th score and the next."}, "image": {"alt": "Left, a quadrant inside a pentagon inside an L-shaped region. Right, three convex curves in the threshold with minima of nearly the same height."}}
figure, (left, right) = panels(2, height=3.4)
low, high = -5, 4
shapes = [
    (AMONG_BEST, [(low, low), (high, low), (high, 0), (0, 0), (0, high), (low, high)]),
    (TAIL_AVERAGE, [(low, low), (1, low), (1, -1), (-1, 1), (low, 1)]),
    (CROSS_ENTROPY, [(low, low), (0, low), (0, 0), (low, 0)]),
]
for color, corners in shapes:
    left.add_patch(Polygon(corners, color=color, alpha=0.45, lw=0))
left.plot([A[0], B[0]], [A[1], B[1]], "--", color=INK, lw=1)
for name, x in columns.items():
    left.plot(x[0], x[1], "o", color=INK)
    left.annotate(name, (x[0] + 0.2, x[1] + 0.2))
left.set(
    xlim=(low, high),
    ylim=(low, high),
    aspect="equal",
    xlabel="first competitor",
    ylabel="second competitor",
)
column = np.random.default_rng(seed).standard_normal(60)
k = tail_count(r, len(column))
mu = np.sort(column)[-k] + np.linspace(-0.9, 1.3, 300)
objective = mu + np.maximum(column[:, None] - mu, 0).sum(axis=0) / k
right.plot(mu, objective, color=INK, label="exact")
for b, style, marker in ((10.0, "--", "s"), (3.0, ":", "^")):
    softplus = np.logaddexp(0, b * (column[:, None] - mu)).sum(axis=0) / (b * k)
    right.plot(mu, mu + softplus, style, color=TAIL_AVERAGE, label=f"$\\beta$ = {b:g}")
    right.plot(
        smoothed_threshold(column, r, b),
        smoothed_tail_average(column, r, b),
        marker,
        color=TAIL_AVERAGE,
    )
right.plot(np.sort(column)[-k], tail_average(column, r), "o", color=INK)
right.set(xlabel="threshold $\\mu$", ylabel="value")
right.legend()
figure

# %% [markdown]
# The definition sorts; {eq}`eq-tam-variational` is a linear program.
# A solver of linear programs, which does not know how to sort, must find the same number.

# %%
fractions = [0.02, r, 0.5, 0.93, 1.0]
x = np.random.default_rng([seed, 1]).standard_normal(47)
check(**definition_evidence(x, fractions))

# %% [markdown]
# The falsehood is the number that finance would have: it takes exactly $r m$ scores, the last one in part, where the paper rounds up.
#
# How far down the list can a signal be that beats its tail average?
# At place $k$ and no further: one competitor far below makes up for $k - 1$ that are just ahead.
# Linear programs find it for several columns: given how many are ahead, the least tail average that the others can bring about.

# %%
counts = [12, 20, 15, 21, 10]
check(**place_evidence(list(zip(counts, fractions, strict=True))))

# %% [markdown]
# ## Memories that differ
#
# Now live.
# At each load, memories are trained twice on the same pairs: by cross-entropy, which is after first place, and by the smoothed tail average.
# The ridge is small, so a memory that meets the demand is found where one exists, up to rare close calls.

# %%
LOSSES = {"cross-entropy": CrossEntropy(), "tail average": TailAverage(r, beta)}


def train(load, loss, *key):
    """Pairs, and a memory trained on them."""
    at = {"ridge": ridge, "tol": 1e-4, "seed": derived_seed(seed, *key)}
    pairs, found = train_at_load(load, d, LOSSES[loss], **at)
    return pairs, found.W


judged = {
    loss: [
        [judge_keys(*train(load, loss, a, t), r) for t in range(instances)]
        for a, load in enumerate(progress(loads, loss))
    ]
    for loss in LOSSES
}

# %%
places = [tail_count(r, pairs_at_load(load, d) - 1) for load in loads]
by_tail = judged["tail average"]
first = count_successes(judged["cross-entropy"], lambda keys: keys.first > 0)
tail = count_successes(by_tail, lambda keys: keys.tail > 0)
listed = count_successes(by_tail, lambda keys, k: keys.ahead < k, places)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-success", "caption": "Share of instances in which every key succeeds, against the load, with 95% intervals: first place after training by cross-entropy; signal above the tail average, and among the best k, after training by the tail average. Dotted: the asymptotic critical load of the tail average."}, "image": {"alt": "Three falling curves. That of first place falls first, that of the tail average later, that of the list last."}}
figure, ax = panels(1, width=5.5)
for wins, name, color, marker, shift in (
    (first, "first place", CROSS_ENTROPY, "o", -0.004),
    (tail, "above the tail average", TAIL_AVERAGE, "s", 0),
    (listed, "among the best $k$", AMONG_BEST, "^", 0.004),
):
    plot.proportions(
        ax,
        np.array(loads) + shift,
        wins,
        [instances] * len(loads),
        color=color,
        marker=marker,
        label=name,
    )
    ax.plot(np.array(loads) + shift, np.array(wins) / instances, color=color, lw=1)
ax.axvline(critical_load(r), color=LIMIT, ls=":")
ax.set(xlabel="load $n/d^2$", ylabel="share of instances", ylim=(-0.05, 1.05))
ax.legend()
figure

# %% [markdown]
# In {numref}`fig-tam-success` first place gives way well before the tail average does.
# The gap is what the criterion buys, and in proportion it grows without bound: the first load falls like $1/\log n$ as memories grow, the second goes to a constant.
# Trained for its tail average, a memory keeps all signals on the list hardly longer than above that average: once some signals must fail, they fail by far.

# %% [markdown]
# ## Smoothing
#
# The hinge has a kink, so it is replaced by the softplus $\phi_\beta(t) = \beta^{-1} \log(1 + e^{\beta t})$, which lies above it by at most $\log 2 / \beta$:
#
# $$
# \TAM_{r,\beta}(x) = \min_\mu \Bigl\{ \mu + \frac1k \sum_j \phi_\beta(x_j - \mu) \Bigr\} ,
# \qquad
# \TAM_r \le \TAM_{r,\beta} \le \TAM_r + \frac{m \log 2}{k \beta} .
# $$ (eq-tam-smoothed)
#
# The upper bound is the cost of a column of equal scores with the threshold at their height.
# A column with a density $f$ at its threshold feels $\pi^2 f / (6 r \beta^2)$, since only scores within $1/\beta$ of it notice; and once $1/\beta$ is smaller than the distance between scores, less than that.

# %%
column = np.random.default_rng([seed, 2]).standard_normal(max(sizes))
excess = np.array(
    [smoothed_tail_average(column, r, b) for b in smoothings]
) - tail_average(column, r)
sharp = np.array(smoothings)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-smoothing", "caption": "What smoothing adds to the tail average of a column of normal scores (dots), the bound that holds for any column (dashed), and the law for a density at the threshold (line)."}, "image": {"alt": "Dots below a dashed line of slope minus one, following a line of slope minus two."}}
figure, ax = panels(1, width=5)
ax.loglog(sharp, excess, "o", color=TAIL_AVERAGE)
ax.loglog(sharp, largest_excess(r, sharp), "--", color=INK)
ax.loglog(sharp, normal_excess(r, sharp), color=INK)
ax.set(xlabel="$\\beta$", ylabel="smoothed less exact")
figure

# %% [markdown]
# Whether a column is sharp or smooth depends on $\beta$ times its spread alone.
# A normal law of spread $\nu$ has a smoothed tail average $c_r(\nu)$, and for every fixed $\beta$ the ratio $c_r(\nu) / \nu$ decreases to the tail average $\kappa_r$ of the standard normal law without smoothing ([the claim](#claim-tail-average-per-spread)).
# This is all that {doc}`the critical load <ridgeless_limit>` will need to know of the smoothing.
#
# It decreases since $\phi_\beta(\nu y)/\nu$ does, for every $y$.
# The law above says how fast: with $f = \varphi(q_r)$ and spread $\nu$ the excess is $\pi^2 \kappa_r / (6 \beta^2 \nu^2)$, since $\varphi(q_r) / r$ is $\kappa_r$ itself.
# The tolerance is one and a half times the next term of that expansion.

# %%
check(**rate_evidence([10, 30, 100, 1000], [0.05, r, 0.5], [1.0, beta]))

# %% [markdown]
# At small spreads the law of the excess is not that one: there $c_r$ tends to a constant and the ratio falls like $1/\nu$.
# So logarithmic slopes lie between $-1$ and zero, and none of them reaches zero.
# We compute them once by search and adaptive quadrature, and once from Stein's identity for $c_r'$.

# %%
check(**fall_evidence([0.1, 0.3, 1, 3, 10, 30], [0.05, r, 0.5], beta))

# %% [markdown]
# ## What a move of scores does
#
# [Lemma 4](#lemma-4) says what the tail average does when scores move.
# Derivatives follow from the envelope theorem.
# With $q_j = \sigma(\beta(x_j - \mu))$ the gradient is $p = q/k$, and when the scores move, the threshold moves along by the average of their moves with weights $w_j = \frac\beta k q_j (1 - q_j)$.
# So the Hessian is $B = D - D\mathbf 1 \mathbf 1^\top D / \mathbf 1^\top D \mathbf 1$ with $D = \operatorname{diag}(w)$: a move of all scores together costs nothing.
# We differentiate value, threshold and gradient numerically, at a point where the weights are anything but equal.

# %%
x = np.random.default_rng([seed, 3]).standard_normal(40)
check(**column_evidence(x, r, min(beta, 10.0)))

# %% [markdown]
# The lemma orders them, $0 \preceq B \preceq D \preceq \frac{\beta}{4k} I$, and both ends are met: relative to $D$ the Hessian is a projection, with one eigenvalue zero and all others one.

# %%
x = np.random.default_rng([seed, 7]).standard_normal(12)
check(**order_evidence(x, r, 2.0))

# %% [markdown]
# Two bounds follow, for the error of the linearised tail average and for the move of the weights,
#
# $$
# \bigl| \TAM(x + h) - \TAM(x) - p^\top h \bigr| \le \frac{\beta}{8k} \norm{h}_2^2 , \qquad \norm{p(x + h) - p(x)}_2 \le \frac{\beta}{4k} \norm{h}_2 .
# $$ (eq-tam-moves)
#
# An inequality that holds says little if it could be much better.
# These could not: a search over columns of six scores and their moves, which climbs the ratio of the two sides and knows no formula, reaches both constants at every $k$ and passes neither.
# The worst are two scores at the threshold that change places.
# A single score would do less, since it takes the threshold along.

# %%
cases = [(1, 1.0), (2, 10.0), (3, beta)]
check(**move_evidence(cases, seed))

# %% [markdown]
# The third bound is for one weight and for the largest move: $\lvert p_j(x + h) - p_j(x) - (Bh)_j \rvert \le \frac{C_\beta}{k} \norm{h}_\infty^2$.
# It does not follow from the others, and the lemma leaves $C_\beta$ open; its proof gives $\beta^2$.
# The best constant is $\beta^2 / 3\sqrt 3$, about a fifth of that.
# For let $\eta = h - \dot\mu$ be the moves less that of the threshold: the second derivative of $p_j$ is $\beta w_j$ times the difference of $(1 - 2 q_j) \eta_j^2$ and its average with weights $w$.
# With $\lvert h_j \rvert \le H$ the first is at most $(1 - 2 q_j) (H + \lvert\dot\mu\rvert)^2$ and the second, a variance, at most $(H + \lvert\dot\mu\rvert)(H - \lvert\dot\mu\rvert)$.
# Their sum is largest where all others move by $-H$ and take the threshold along, so that one score moves by $2H$ relative to it; what is left is the maximum of $2 q (1 - q) (1 - 2q)$, at $q = (1 - 1/\sqrt 3)/2$.
# A search over columns of thousands of scores finds that number.

# %%
cases = [(200, 1.0), (500, 3.0), (1000, beta)]
check(**component_evidence(cases, seed))

# %% [markdown]
# ## Who pays for a newcomer
#
# The lemma goes on to say what happens in a column of normal scores with spread $\rho$, which is what the competitors of a key are.
# All of it is an inequality with an unknown constant.
# We measure the quantities themselves and compare with integrals over the normal law, so that constants can be read off.
#
# The threshold is at most of order $1 + \rho$: far out it is a quantile of the scores, and for scores that are nearly equal it is a constant of order $1/\beta$.
# The number of scores that feel the smoothing, $\sum_j g_j$ with $g_j = q_j (1 - q_j)$, is at least of order $n / (1 + \rho)$.
# Their weights $g_j / \sum_l g_l$ have a squared length of at most order $(1 + \rho)/n$, so none of them has much.
#
# One more competitor lifts the threshold, and all old weights fall.
# What it takes from them has a length of at most $\frac Ck \sqrt{(1 + \rho)/n}$, so of order $n^{-3/2}$: not one weight of order $1/k$, since what it takes is spread over all that feel the smoothing.
# How much depends on its height: a newcomer of weight $q$ takes $\frac qk$ in all, in proportion to the $g_j$.
# So it is those at the threshold who pay, and not those with most.
#
# Newcomers come low, at the threshold, a little above it and out of reach.
# Columns are smoothed at the parameter `softest`, unless $\beta$ is below it, so that dozens of scores feel the smoothing even at the largest spread.

# %%
soft = min(beta, softest)
heights = (-2.0, 0.0, 1.0, 60.0)  # above the threshold, in widths of the smoothing
at = {"r": r, "beta": soft, "draws": draws}
by_size = [
    measure_columns(n, 1.0, **at, seed=[seed, 4, n]) for n in progress(sizes, "columns")
]
by_norm = [
    measure_columns(max(sizes), rho, heights=heights, **at, seed=[seed, 4, 0])
    for rho in progress(norms, "spreads")
]
Table(
    {
        "spread $\\rho$": norms,
        "scores that feel the smoothing": [c.felt.mean() * c.n for c in by_norm],
        "old weights that fall, of all": [
            1 - c.rises / (c.n * draws * len(heights)) for c in by_norm
        ],
    },
    ".4g",
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-geometry", "caption": "Columns of normal scores, mean and standard deviation over draws; lines are integrals over the normal law. Left: the number of scores that feel the smoothing, times (1 + rho)/n, against the spread rho, at the largest size. Middle: what a newcomer at each of four heights takes from the others, times k sqrt(n/(1 + rho)). Right: what a newcomer out of reach takes, times n to the power 3/2, against n at spread one."}, "image": {"alt": "Left, dots on a line that rises a little, falls and levels off. Middle, four rows of dots on lines, the lower the newcomer the lower. Right, dots of about equal height on a line."}}
figure, axes = panels(3, height=3)
left, middle, right = axes
spreads = np.geomspace(min(norms), max(norms), 60)
laws = [column_weights(rho, r, soft) for rho in spreads]
dots = {"fmt": "o", "ms": 4, "color": TAIL_AVERAGE}
felt = [(1 + c.rho) * c.felt for c in by_norm]
left.errorbar(norms, np.mean(felt, axis=1), np.std(felt, axis=1), **dots)
left.plot(spreads, (1 + spreads) * [law.felt for law in laws], color=INK)
per_spread = np.sqrt([law.spread for law in laws] / (1 + spreads))
for i, height in enumerate(heights):
    taken = [c.taken[i] / math.sqrt(1 + c.rho) for c in by_norm]
    middle.errorbar(norms, np.mean(taken, axis=1), np.std(taken, axis=1), **dots)
    middle.plot(spreads, special.expit(height) * per_spread, color=INK)
by_n = [c.taken[-1] * c.n / tail_count(r, c.n) for c in by_size]
right.errorbar(sizes, np.mean(by_n, axis=1), np.std(by_n, axis=1), **dots)
right.axhline(math.sqrt(column_weights(1.0, r, soft).spread) / r, color=INK)
left.set(xlabel="spread $\\rho$", ylabel="felt, times $(1 + \\rho)/n$", xscale="log")
middle.set(xlabel="spread $\\rho$", ylabel="taken, scaled", xscale="log")
right.set(xlabel="scores $n$", ylabel="taken, times $n^{3/2}$", xscale="log")
for ax in axes:
    ax.set_ylim(0, None)
figure

# %% [markdown]
# For the checks tolerances are four standard errors and one over the number of scores that feel the smoothing, the relative order at which sums over so many differ from integrals.
# First the thresholds.
# Were they at most of order $\rho$, as quantiles are, they would vanish with the spread.

# %%
check(**threshold_evidence(by_norm, r))

# %% [markdown]
# Next, how many feel the smoothing.
# At large spreads they are $n \varphi(q_r) / \beta \rho$; at small ones all do, and no more than a quarter each.

# %%
check(**felt_evidence(by_norm, r, soft))

# %% [markdown]
# The lemma claims more: with the same targets it holds for all answers $Wv$ at once, also for those that a memory has chosen by looking at them.
# So we look for the worst, the direction in which the fewest of $16 d^2$ fixed targets feel the smoothing, at spread one, by descent from several places.
# How far it is below a typical direction should go to zero like $d^{-1/2}$, the root of the number of directions over the number of targets; a single direction that is drawn is off by $d^{-1}$.

# %%
check(**uniform_evidence(sorted(target_dimensions), r, soft, seed))

# %% [markdown]
# The proof bounds the squared length of their normalised weights by the largest times the sum, with $g \le \frac14$.
# In truth it is less, at large spreads by a factor $\int g^2 / \frac14 \int g = \frac23$, and the data tell the two apart.

# %%
check(**spread_evidence(by_norm))

# %% [markdown]
# The same factor, under a root, is in what newcomers take, at all heights and spreads.

# %%
check(**height_evidence(by_norm, heights))

# %% [markdown]
# Who pays shows in the mean of $q$ among the payers, in proportion to what they pay.
# At large spreads it is one half, as at the threshold; for scores that are nearly equal it is $r$, since all pay alike.
# If all weights shrank by one factor, as when they are divided by a larger sum, those with most would pay.

# %%
check(**payer_evidence(by_norm))

# %% [markdown]
# And the power of $n$, at spread one.

# %%
check(**size_evidence(by_size))

# %% [markdown]
# ## Learning, and the same loss with another aggregate
#
# Training minimises the logistic loss of the margin between signal and smoothed tail average, with a ridge:
#
# $$
# \min_W \; \frac1n \sum_i \ell\bigl( s_{i,i} - \TAM_{r,\beta}((s_{j,i})_{j \ne i}) \bigr) + \frac{\lambda}{2 d^2} \norm{W}_F^2 ,
# \qquad \ell(t) = \log(1 + e^{-t}) .
# $$ (eq-tam-learning)
#
# Scores are linear in $W$, the aggregate is convex and $\ell$ decreases, so the whole is convex.
# Cross-entropy is the same with another aggregate, since $-s_{i,i} + \log \sum_j e^{s_{j,i}} = \ell(s_{i,i} - \operatorname{LSE}_{j \ne i})$ with the log-sum-exp over the competitors alone.
# To the last digits:

# %%
pairs, W = train(metrics_load, "tail average", 90)
S = scores(pairs, W)
ours = loss_pass(pairs, CrossEntropy(), W).loss
torchs = float(torch.nn.functional.cross_entropy(S.T, torch.arange(pairs.n)))
Table(
    {
        "mean cross-entropy": ["logistic loss of a margin", "as usually written"],
        "value": [ours, torchs],
    },
    ".15f",
)

# %% [markdown]
# The two aggregates read a column quite differently.
# The paper calls the log-sum-exp a smoothed maximum (see its {doc}`errata <../errata>`).
# It is one only where scores spread by more than $\sqrt{2 \log n}$: below, the sum is carried by the bulk of the column, and $\operatorname{LSE} \approx \log n + \nu^2/2$ for scores of spread $\nu$.
# It is the freezing transition of Derrida's random energy model {cite:p}`derrida1981random`.
# The tail average takes the best fraction $r$ at any spread.

# %%
n = max(sizes)
column = np.random.default_rng([seed, 5]).standard_normal((draws, n))
spreads = np.linspace(0.25, 9, 22)
frozen_at = math.sqrt(2 * math.log(n))
largest = -special.ndtri(1 / n)  # of n normal scores, typically
values, carriers = compare_aggregates(column, spreads, r, beta)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-aggregates", "caption": "Two aggregates of a column of normal scores against its spread. Left: their values (dots), with the bulk law of the log-sum-exp (line), the largest score (dashed), and the tail average of the normal law (line). Right: the effective number of competitors that carry the gradient, one over the sum of squared weights. Dotted: the spread at which the log-sum-exp freezes."}, "image": {"alt": "Left, two rising curves on lines. Right, the number of carriers of the log-sum-exp falls from all to a few, that of the tail average stays."}}
figure, (left, right) = panels(2, height=3.2)
bulk = spreads < frozen_at
for name, color, marker in (
    ("log-sum-exp", CROSS_ENTROPY, "o"),
    ("tail average", TAIL_AVERAGE, "s"),
):
    look = {"marker": marker, "ms": 3, "color": color, "label": name}
    left.plot(spreads, values[name], ls="none", **look)
    right.semilogy(spreads, carriers[name], lw=1, **look)
left.plot(
    spreads[bulk], math.log(n) + spreads[bulk] ** 2 / 2, color=CROSS_ENTROPY, lw=1
)
left.plot(spreads, largest * spreads, "--", color=CROSS_ENTROPY, lw=1)
law = [scalar_tail_average(nu, r, beta)[0] for nu in spreads]
left.plot(spreads, law, color=TAIL_AVERAGE, lw=1)
for ax in (left, right):
    ax.axvline(frozen_at, color=LIMIT, ls=":")
    ax.set_xlabel("spread $\\nu$ of the scores")
left.set_ylabel("value")
right.set_ylabel("carriers")
left.legend()
figure

# %% [markdown]
# At spread one, {numref}`fig-tam-aggregates`, cross-entropy pulls against thousands of competitors at once; deep on the satisfiable side, where memories have norms of many tens, against one or two.
# The tail average pulls against the same fraction everywhere, so its law of large numbers does not wear out.

# %% [markdown]
# ## The Hessian with the thresholds held
#
# The theory of the next sections needs the second derivative in $W$ of the *joint* objective, of $W$ and all thresholds, with the thresholds held fixed.
# [Definition 2](#definition-2) writes it column by column: with $Q_{i,i} = -1$, $Q_{j,i} = q_{j,i}/k$, $a_i = \sigma(-m_i)$ and $b_i = a_i (1 - a_i)$ the block of column $i$ is
#
# $$
# M_i = b_i\, Q_{:,i} Q_{:,i}^\top + a_i \operatorname{diag}\bigl( \tfrac\beta k q_{j,i} (1 - q_{j,i}) \bigr)_{j \ne i} ,
# \qquad
# H = \frac{\lambda n}{d^2} I + (V \otimes U) \operatorname{diag}(M_1, \dots, M_n) (V \otimes U)^\top .
# $$ (eq-tam-hessian)
#
# Automatic differentiation, applied twice to the joint objective of a small instance, knows none of these letters.

# %%
small = gaussian_pairs(14, 3, seed=derived_seed(seed, 6))
W = torch.randn(
    3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
)
check(**hessian_evidence(small, W, TailAverage(r=0.3, beta=3.0), ridge))

# %% [markdown]
# ## Three measures of a memory
#
# Success or failure of all keys is one bit.
# The rest of this part measures three things: the mean loss, the law of the margins, and the law of the *percentiles* $\Omega_i$, the share of competitors that a signal beats.
# Here they are for three memories of the same pairs: the plain sum of outer products, cross-entropy, and the tail average.

# %%
memories = {"outer products": [], "cross-entropy": [], "tail average": []}
for t in progress(range(instances), "metrics"):
    for name in LOSSES:
        pairs, W = train(metrics_load, name, 91, t)
        memories[name].append((pairs, W))
    memories["outer products"].append((pairs, correlation_memory(pairs)))
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
Table(
    {
        "memory": list(memories),
        "mean tail-average loss": list(mean_losses.values()),
        "$\\lVert W \\rVert_F/d$": [
            np.mean([float(W.norm()) / d for _, W in f]) for f in memories.values()
        ],
        "keys first": [(keys.ahead == 0).mean() for keys in pooled.values()],
        "keys above their tail average": [
            (keys.tail > 0).mean() for keys in pooled.values()
        ],
    },
    ".3g",
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tam-metrics", "caption": "Three memories of the same pairs, pooled over instances. Left: margins between signal and tail average, in units of the norm scale of the memory. Right: percentiles of the signals; the dotted line is the law of the outer-product memory."}, "image": {"alt": "Distribution functions: the tail-average memory has almost no negative margin and hardly any signal at the very top; the outer-product memory is spread over all percentiles."}}
figure, (left, right) = panels(2, height=3.3)
looks = (OUTER_PRODUCTS, "-."), (CROSS_ENTROPY, "--"), (TAIL_AVERAGE, "-")
for (name, found), (color, style) in zip(memories.items(), looks, strict=True):
    scale = np.mean([float(W.norm()) / d for _, W in found])
    values = np.sort(pooled[name].tail) / scale
    p = (np.arange(len(values)) + 0.5) / len(values)
    left.plot(values, p, style, color=color, label=name)
    right.plot(np.sort(pooled[name].share), p, style, color=color)
w = np.linspace(0.001, 0.999, 400)
right.plot(w, percentile_cdf(w, metrics_load), ":", color=INK)
left.axvline(0, color=LIMIT, lw=0.8)
left.set(xlabel="margin over norm scale", ylabel="share of keys below", xlim=(-3, 3))
right.set(
    xlabel="percentile of the signal", ylabel="share of keys below", xlim=(0.5, 1.005)
)
left.legend()
figure

# %% [markdown]
# The tail-average memory wastes nothing: its margins pile up just above zero, and its signals just inside the tail.
# Cross-entropy puts more signals in first place, and pays with signals that fall out of the tail.
#
# ## Limits
#
# - A trained memory that fails shows that *this* memory fails. For the tail average at a tiny ridge that is nearly the same as that none exists; for the list of $k$ it is not, since nobody minimised anything for it, and its curve in {numref}`fig-tam-success` is a lower bound.
# - At $d = 16$ the transitions are broad, and that of the tail average lies at a higher load than the asymptotic one. The percentiles of outer products in {numref}`fig-tam-metrics` lie off their law for the same reason.
# - The bounds of Lemma 4 for all answers at once are tried for one of them, the number of scores that feel the smoothing, at spread one; the others are measured on columns of independent scores. A search finds a bad direction and does not prove that none is worse.
# - The paper says that the loss vanishes exactly if all but a vanishing share of the margins are positive. That needs the norm to diverge, as it does when the ridge vanishes; at a fixed norm a positive margin still costs $\ell(m) > 0$ (see the {doc}`errata <../errata>`).
#
# ## Try
#
# ```sh
# python -m assocmem run tail_average_margin -p r 0.4 -p metrics_load 0.5
# python -m assocmem run tail_average_margin -p d 24 -p instances 16
# ```
