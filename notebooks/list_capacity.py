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
# # What convexity costs
#
# Often a memory need not put the right target first.
# It is enough if it is on a list of the best, which something else then looks through.
# The paper trains for this with the *average* of the best competitors, since "the signal is among the best" is no convex demand and the average is.
# What is the price of that step?
# This section computes how many pairs fit if a list is all that is asked for, and finds that the price is nothing, if one knows which average to take.

# %% tags=["parameters"]
seed = 1  # base seed of every random draw; [0, inf)
r = 0.15  # share of the list in what is trained here; [0.05, 0.4]
d = 40  # dimension of the example; [16, 120]
part = 0.84  # load of the example over the capacity of the list; [0.4, 0.95]
dimensions = [24, 40, 64]  # of the memories beside the theory; [12, 200]
instances = 24  # of these in each dimension; [3, 1000]
ridge = 1e-2  # their ridge; [1e-3, 0.1]
bound_sizes = [
    100,
    1000,
    10000,
    1000000,
    100000000,
]  # pairs in the bound on any memory; [100, 100000000]
decided_d = 16  # dimension of the two instances that are decided; [6, 40]

# %% tags=["hide-input"]
import math

import numpy as np
import pandas as pd
from myst_nb import glue
from scipy import special

from assocmem.book import list_figures as figures
from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import Table, panels, series
from assocmem.deciding.lists import decide_list, verify_list
from assocmem.experiments.lists import list_averages as averages
from assocmem.experiments.lists import list_memories as memories
from assocmem.experiments.lists.list_memories import train_for_lists
from assocmem.experiments.lists.list_transitions import list_transition, tally_lists
from assocmem.experiments.statistics import through_inverse
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import scores, signal_percentiles
from assocmem.pairs.sizes import pairs_at_load
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.list_cone import list_bound
from assocmem.theory.lists import (
    best_share,
    equivalent_tail,
    list_capacity,
    solve_list,
)
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import solve_scalar
from assocmem.training.list_fit import fit_list

plot.use_style()

# %% tags=["requires", "remove-cell"]
requires = [
    (
        "dimensions",
        dimensions,
        len(set(dimensions)) >= 3,
        "three or more different ones",
    ),
]

# %% tags=["memory", "remove-cell"]
from assocmem.pairs.sizes import pairs_at_load
from assocmem.theory.lists import list_capacity
from assocmem.training.fit import fit_bytes
from assocmem.training.list_fit import list_fit_bytes

most = float(list_capacity(r))
memory = [
    ("d", d, lambda d: fit_bytes(pairs_at_load(part * most, d), d)),
    (
        "dimensions",
        max(dimensions),
        lambda d: list_fit_bytes(pairs_at_load(1.15 * most, d), d),
    ),
    ("decided_d", decided_d, lambda d: list_fit_bytes(pairs_at_load(2 * most, d), d)),
]

# %% [markdown]
# ## The question
#
# A memory $W$ gives target $j$ the score $s_{j,i} = u_j^\top W v_i$ for key $i$.
# The score $s_{i,i}$ of the right target is the *signal*, and the others are its competitors.
# There are $n$ pairs in $d$ dimensions, and the load is $\alpha = n/d^2$.
#
# A *list* of share $r$ has the best $r n$ targets of a key.
# We want a memory that has the right target of *every* key on its list.
# That is a demand on ranks, and the set of memories that meet it is not convex: halfway between two of them some signal may fall off its list.
#
# The paper asks for more.
# The signal has to beat the average of the top share $r$ of its competitors, and then it is on the list.
# Beating an average is a convex demand, and training for it succeeds up to the critical load $\alpha_c(r)$ of {doc}`ridgeless_limit`.
# For a list of 15 per cent this is 0.294.
#
# So what does the convex demand cost?
#
# ## The idea: a rank is a threshold
#
# Fix a memory and a key.
# The competitors' targets are Gaussian vectors, so their scores look like a sample of a normal law with the standard deviation $\sigma_i = \norm{W v_i}/\sqrt d$, the *spread* of the key.
# The top share $r$ of a standard normal law begins at the quantile $q_r = \Phi^{-1}(1 - r)$.
# So the signal is on the list if
#
# $$
# u_i^\top W v_i \;\ge\; q_r \, \frac{\norm{W v_i}}{\sqrt d} .
# $$ (eq-list-cone)
#
# No competitor is left in this formula.
# And for $r \le \frac12$, where $q_r \ge 0$, it *is* convex: it says that a linear function of $W$ exceeds a norm of $W$, which is a second-order cone.
#
# Here is one key of a memory that was trained for {eq}`eq-list-cone`, with the loss $\log(1 + e^{-m})$ of the margin $m = u_i^\top W v_i - q_r \norm{W v_i}/\sqrt d$.
# We call it the *list loss*.

# %%
load = part * float(list_capacity(r))
pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=seed)
listed = fit_list(pairs, r, ridge=1e-6, tol=1e-2)
place = signal_percentiles(pairs, listed.W).numpy()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-list-column", "caption": "The scores of one key of a memory that was trained with the list loss, over the spread of the key. The list begins at the quantile $q_r$. The average of the list lies further right, at $\\kappa_r$: that is what the paper asks a signal to beat. Triangle: the signal of this key, which is one of those at the edge."}, "image": {"alt": "A histogram of scores along a bell curve whose right tail is shaded. A line where the shading begins, a dashed line to the right of it, and a triangle between the two."}}
key = int(np.argsort(place)[pairs.n // 3])
column = scores(pairs, listed.W, slice(key, key + 1))[:, 0].numpy()
spread = float((listed.W @ pairs.V[:, key]).norm()) / math.sqrt(d)
glue("list-n", pairs.n, display=False)
glue("list-load", f"{load:.3g}", display=False)
figures.draw_column(np.delete(column, key) / spread, column[key] / spread, r)

# %% [markdown]
# ## How many pairs fit
#
# Nearly all keys of a memory have the same spread, the norm scale $\nu = \norm{W}_F / d$; we come back to this below.
# Then {eq}`eq-list-cone` asks for $n$ linear functions of the $d^2$ entries of $W$ to exceed $q_r$ times the norm scale.
# This is a perceptron with $d^2$ weights and the margin $q_r$, and its capacity is known since {cite:t}`gardner1988space`:
#
# $$
# \begin{aligned}
# \alpha_{\mathrm{list}}(r) &= \frac{1}{\E (q_r + G)_+^2} \\
# &= \frac{1}{(1 + q_r^2)\, \Phi(q_r) + q_r\, \varphi(q_r)} .
# \end{aligned}
# $$ (eq-list-capacity)
#
# For a list of 15 per cent it is 0.499, which is 1.69 times the critical load of the average.
# So it looks as if convexity were expensive.
#
# ## The finding: the wrong tail
#
# Compare {eq}`eq-list-capacity` with the critical load {eq}`eq-ridgeless-critical`.
# They are one formula, once with $q_r$, where the list begins, and once with $\kappa_r$, the average of the list.
# The average is larger, and that is the whole difference.
#
# But nobody is forced to take the average of *the list*.
# The average of a longer tail, of a share $r' > r$, is smaller.
# Choose $r'$ so that it just equals the place where the list begins.
#
# :::{prf:proposition} The longer tail (not in the paper)
# :label: prop-list-tail
#
# Let $r'$ be the tail fraction with $\kappa_{r'} = q_r$. Then $\alpha_c(r') = \alpha_{\mathrm{list}}(r)$.
# As $r \to 0$, $r'/r \to e = 2.718\ldots$, and at $r = \frac12$ it is 2.
# :::
#
# :::{prf:proof}
# The first is the remark above.
# For the second, let $x = q_{r'}$ be large. The mean of a normal variable beyond $x$ is $x + 1/x$ up to $O(x^{-3})$, so that $x = q_r - 1/q_r + O(q_r^{-3})$.
# The share beyond $x$ is $\varphi(x)/x$ to leading order, so $r'/r \to \lim e^{(q_r^2 - x^2)/2} = e$.
# At $r = \frac12$ the list begins at 0, which is the average of all.
# :::
#
# The average of the longer tail is as convex as that of the list.
# So *convexity costs nothing*: the tail-average memory for $r'$ has the whole capacity of the list $r$.
# What costs is to name the tail after the list.
#
# So far {eq}`eq-list-capacity` is an answer by analogy.
# But through the longer tail the theorems of the paper apply, and they prove it from both sides.
#
# :::{prf:theorem} The capacity of lists (not in the paper)
# :label: thm-list-capacity
#
# Let $0 < r < \frac12$ and $n/d^2 \to \alpha$.
#
# * If $\alpha < \alpha_{\mathrm{list}}(r)$, there are memories with a share of the signals on the list that tends to one.
# * If $\alpha > \alpha_{\mathrm{list}}(r)$, there is a share $\eta > 0$ so that, with probability tending to one, *no* memory has more than the share $1 - \eta$ of the signals on the list.
#
# :::
#
# The second part is about any matrix, however it was found.
# So it is not the convex demand that stops at $\alpha_{\mathrm{list}}(r)$, but the list itself.
# The proof takes three theorems of the paper for granted, those of {doc}`scalar_theory` and {doc}`ridgeless_limit`.
#
# :::{prf:proof}
# *Below.* Train the tail average of $r'$ with a small ridge.
# The percentiles have a limiting law ({prf:ref}`thm-scalar`), which tends to that of $\Phi(\max(G, \rho_\alpha))$ as the ridge goes to zero ({prf:ref}`thm-ridgeless-below`).
# Since $\alpha < \alpha_c(r')$, the edge $\rho_\alpha$ is above $\kappa_{r'} = q_r$, and all of that law is above $\Phi(q_r) = 1 - r$.
#
# *Above.* The critical load is continuous in the tail, so there is a tail $r'' > r'$ that still has $\alpha > \alpha_c(r'')$. Let $4 \varepsilon = q_r - \kappa_{r''}$.
# By {prf:ref}`thm-scalar` and {prf:ref}`thm-ridgeless` there is an $L > 0$ so that, for every ridge, the least regularised loss of the tail average of $r''$ stays above $L$ as $n \to \infty$.
# Take any memory $W$. Ranks do not change with its scale, so let $\norm{W}_F = d$.
# Write $\sigma_i = \norm{W v_i}/\sqrt d$ for the spreads.
#
# 1. Columns are normal for all directions at once. For every unit vector $x$ the numbers $\sqrt d\, u_j^\top x$ have a quantile at $1 - r$ and a tail average at $r''$ that are within $\varepsilon$ of $q_r$ and $\kappa_{r''}$, except with vanishing probability. Both are read off averages over $j$ of Lipschitz functions of these numbers. The largest deviation of such an average over all $x$ is of the order of the mean length of $\frac1n \sum_j \pm \sqrt d\, u_j$ with random signs, which is $\sqrt{d/n}$ (symmetrisation and contraction).
# 2. So a key whose signal is on the list has $s_{ii} \ge (q_r - \varepsilon)\, \sigma_i$, and its margin over the tail average of $r''$ is at least $2 \varepsilon \sigma_i$.
# 3. Few spreads are small. For a random key $\sigma^2$ is a weighted sum of squares of normal numbers with mean one, so that $\P(\sigma^2 \le c) \le \sqrt{\mathrm e c}$, by Chernoff's bound. This, too, holds for all memories at once: by the same argument as in 1, deviations are of the order $\frac dn$ times the norm of $\sum_i \pm v_i v_i^\top$, which is $\sqrt{d/n}$ again. So at most a share $\sqrt{2 \mathrm e c}$ of all keys, and a vanishing one, has $\sigma_i^2 \le c$.
# 4. The mean squares of the signals and of the spreads are bounded by one constant for all memories. For the signals this is so because the matrix with the columns $d \operatorname{vec}(u_i v_i^\top)$ has a norm of the order of $d$ {cite:p}`adamczak2010quantitative`.
#
# Now suppose that all but a share $\eta$ of the signals are on the list, and take the memory $T W$ for a large number $T$.
# Keys with $\sigma_i^2 \le c$ that are on the list cost no more than about $\log 2$ each.
# The others on the list cost next to nothing, as their margins are at least $2 \varepsilon \sqrt c\, T$, less a constant for the smoothing.
# The share $\eta$ costs $\eta \log 2$ and its negative margins, which are at most a constant times $T \sqrt\eta$ in the mean over all keys, by 4 and the inequality of Cauchy and Schwarz.
# The ridge costs $\frac\lambda2 T^2$.
# With a small $c$, then a large $T$, and then a small $\lambda$ and a small $\eta$, the regularised loss is below $L$. That cannot be.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-list-capacities", "caption": "How many pairs fit, over $d^2$, if every signal has to be in the top share (solid), and if it has to beat the average of the top share (dashed). The arrow leads from a list to the longer tail, whose average has the same capacity."}, "image": {"alt": "Two rising curves in a log-log chart, the solid one above the dashed one. A horizontal arrow leads from a point on the solid curve to the right, to a point on the dashed one."}}
figures.draw_capacities(r)

# %% tags=["hide-input"]
lists = np.array([0.5, 0.3, 0.15, 0.05, 0.01, 1e-3, 1e-6])
Table(
    {
        "list $r$": [f"{x:g}" for x in lists],
        "its average fits, $\\alpha_c(r)$": critical_load(lists),
        "the list fits, $\\alpha_{\\mathrm{list}}(r)$": list_capacity(lists),
        "factor": list_capacity(lists) / critical_load(lists),
        "longer tail $r'$": [f"{x:.4g}" for x in equivalent_tail(lists)],
        "$r'/r$": equivalent_tail(lists) / lists,
    }
)

# %% tags=["hide-input"]
factors = list_capacity(lists) / critical_load(lists)
check(
    "beyond-longer-tail",
    "critical load of the longer tail over that of the tail of the list",
    kind="identity",
    measured=list(critical_load(equivalent_tail(lists)) / critical_load(lists)),
    predicted=list(factors),
    tolerance=1e-12,
    falsehood=("the tail has to have the share of the list", 1),
    axis="factor by which more pairs fit",
    each=[f"$r = {x:g}$" for x in lists],
)

# %% [markdown]
# ## Measured: which memories have everything on the list
#
# The example above has {glue:text}`list-n` pairs at the load {glue:text}`list-load`, between the two capacities.
# We train four memories on it, and count exactly, signal by signal, which are on the list.

# %%
losses = memories.LOSSES[1:]
trained = [train_for_lists(loss, pairs, r, ridge=1e-6) for loss in losses]
places = [signal_percentiles(pairs, memory.W).numpy() for memory in trained]
on_list = [(place >= 1 - r).mean() for place in places]

# %% tags=["hide-input"]
Table(
    {
        "trained for": list(losses),
        "on the list": on_list,
        "in first place": [float((place == 1).mean()) for place in places],
        "mean share below": [float(place.mean()) for place in places],
        "worst share below": [float(place.min()) for place in places],
        "mean loss": [memory.loss for memory in trained],
    },
    {"on the list": ".4f", "in first place": ".4f", "mean loss": ".2g"},
)

# %% [markdown]
# Stored memories of a list of 15 per cent say the same in other dimensions and at other loads.
# All of them have a ridge of $10^{-6}$, and averages are smoothed with $\beta = 1$.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-list-listed", "caption": "Share of keys whose signal is in the top 15 per cent, counted exactly, against the load. Dashed lines: the critical load of the average of the list, and the capacity of the list. Error bars: two standard errors over instances."}, "image": {"alt": "Two panels. Two curves stay near one beyond the first dashed line and fall near the second one; three others fall from the first one on or lie far below everywhere."}}
stored = pd.concat(
    [
        read_table("list_capacity", "memories"),
        read_table("list_capacity", "list_memories"),
    ],
    ignore_index=True,
)
figures.draw_listed(stored, [40, 80])

# %% [markdown]
# The two memories that aim at the place where the list begins have nearly all keys on it, up to near the capacity.
# The average of the list itself gives up keys as soon as it cannot have them all.
# The longer tail does even a little better than the list loss.
# Its average is taken over the real competitors of a key, while the list loss takes a normal law in their place.

# %% tags=["hide-input"]
at = stored[(stored["r"] == 0.15) & stored["load"].isin([0.42, 0.47])]
longer = at[(at["loss"] == memories.LOSSES.index(memories.LONG_TAIL)) & (at["d"] >= 80)]
short_tail = [
    1 - float(solve_scalar(x, 0.15, beta=1.0, ridge=1e-6).percentile_cdf(0.85))
    for x in longer["load"]
]
check(
    "beyond-longer-tail",
    "share of keys in the top 15 %, memories of the average of the top 36 %",
    kind="stored simulation",
    measured=list(longer["listed"]),
    predicted=1,
    tolerance=0.002,
    falsehood=(
        "above its critical load no average can have all keys on the list: the share "
        "by the theory for the average of the list",
        short_tail,
    ),
    axis="share of keys on the list",
    each=[f"$d = {int(x.d)}$, load {x.load:g}" for x in longer.itertuples()],
)

# %% [markdown]
# Which loss is best for which aim?
# The table is from stored memories at a load of 0.42 in 40 dimensions, means over four instances.

# %% tags=["hide-input"]
rows = [stored[(stored["d"] == 40) & (stored["r"] == 0.15) & (stored["load"] == 0.42)]]
means = rows[0].groupby("loss")[["first", "listed", "worst", "middle"]].mean()
Table(
    {
        "memory": [memories.LOSSES[int(i)] for i in means.index],
        "in first place": means["first"].to_numpy(),
        "in the top 15 %": means["listed"].to_numpy(),
        "mean share below": means["middle"].to_numpy(),
        "worst share below": means["worst"].to_numpy(),
    },
    {"in first place": ".4f"},
)

# %% [markdown]
# The shorter the list, the larger the dimension has to be.
# Here is a list of 5 per cent, whose average fits up to the load 0.190, and which itself fits up to 0.271.

# %% tags=["hide-input"]
short = stored[stored["r"] == 0.05]
cases = sorted({(int(x.d), x.load) for x in short.itertuples()})
shares = short.groupby(["loss", "d", "load"])["listed"].mean()
aims = (memories.SHORT_TAIL, memories.LONG_TAIL, memories.LIST)
Table(
    {
        "$d$": [str(size) for size, _ in cases],
        "load": [f"{x:g}" for _, x in cases],
    }
    | {
        aim: [
            float(shares.get((memories.LOSSES.index(aim), *case), math.nan))
            for case in cases
        ]
        for aim in aims
    },
    dict.fromkeys(aims, ".4f"),
)

# %% [markdown]
# Back to the list of 15 per cent.
# Each aim has its own winner.
# For first place it is cross-entropy, for the mean place the average of the list, and for having everybody on the list the two new ones.
# They pay with first places, of which they have next to none: no key is allowed to be better than it need be.
#
# ## One memory for all lists
#
# Let the ridge vanish.
# Below its capacity the list loss then leads to the memory with the largest margin over its norm, and so does the tail average below its critical load.
# In the limit all spreads are $\nu$, and the margin is the smallest signal less a constant times $\nu$.
# So *the same memory* is the best for all lists and all tails that can be had.
#
# :::{prf:conjecture} One law for all lists (not in the paper)
# :label: conj-list-one
#
# As the ridge vanishes, signals over spreads have the law of $\max(G, \rho_\alpha)$, with the edge $\rho_\alpha$ of {eq}`eq-ridgeless-rho`, for every list with $\alpha < \alpha_{\mathrm{list}}(r)$.
# The smallest share on which a memory can have the signals at the load $\alpha$ is
#
# $$
# r^*(\alpha) = \Phi(-\rho_\alpha) ,
# $$ (eq-list-best)
#
# and it is reached whatever list was trained for.
# :::
#
# For tail averages the law is {prf:ref}`thm-ridgeless-below`, which does not depend on the tail, and $r^*$ is {prf:ref}`thm-list-capacity` read the other way round.
# Only for the list loss is it derived and not proved.
#
# The mean share of competitors below a signal then is $(1 + \Phi(\rho_\alpha)^2)/2$.
# Here are memories of three lists at the load of the example, with next to no ridge.

# %%
three = [r, (r + 0.5) / 2, 0.5]
middles = np.empty((len(three), len(dimensions), 6))
for i, size in enumerate(dimensions):
    for t in range(6):
        some = gaussian_pairs(pairs_at_load(load, size), size, seed=seed + t)
        for j, own in enumerate(three):
            memory = fit_list(some, own, ridge=1e-9, tol=3e-2)
            middles[j, i, t] = signal_percentiles(some, memory.W).mean()

# %% tags=["hide-input"]
scatter = middles.std(axis=2, ddof=1) / math.sqrt(middles.shape[2])
limits = [
    through_inverse(dimensions, mean, error)
    for mean, error in zip(middles.mean(axis=2), scatter, strict=True)
]
check(
    "beyond-one-list-memory",
    f"mean share of competitors below a signal, three lists at the load {load:.3g}, "
    "followed to infinite dimension",
    kind="simulation",
    measured=[line[-1] for line, _ in limits],
    predicted=averages.mean_place(load),
    tolerance=[4 * error + 0.002 for _, error in limits],
    falsehood=(
        "each memory stops where its own list begins",
        [(1 + (1 - own) ** 2) / 2 for own in three],
    ),
    limits="the tolerance has 0.002 for a ridge that is small and not zero, beside "
    "four standard errors",
    axis="mean share of competitors below the signal",
    each=[f"list of {own:.3g}" for own in three],
)

# %% [markdown]
# A memory that was trained for a list of one half puts nearly the same keys in nearly the same places as one for 15 per cent.
# How bad is its worst key?

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-list-worst", "caption": "Share of competitors above the worst-placed signal of all, for stored memories, against the load. Line: the best possible share $r^*(\\alpha)$ in a large dimension. Dotted: the list of 15 per cent that was trained for."}, "image": {"alt": "Two panels with a rising curve. Points lie above it, those of larger dimensions closer to it, on the left closer than on the right."}}
figures.draw_worst(stored, [40, 80, 120])

# %% [markdown]
# In {numref}`fig-list-worst` the worst signal lies above the line and comes down to it as the dimension grows.
# It has to, and slowly.
# The scores of a column are a sample and not the normal law itself: the share of $n$ targets beyond a given place deviates by about $\sqrt{d/n} = 1/\sqrt{\alpha d}$ at most, over all directions $W v_i$ at once.
#
# ## Two numbers that describe the memory
#
# With a ridge that is not small the list loss has a scalar theory like that of {doc}`scalar_theory`.
# Let $\chi$ be the susceptibility and $y$ the margin that solves $y = \nu G - q_r \nu + \chi a$ with $a = 1/(1 + e^y)$; let $b = a (1 - a)$ be the curvature of the loss.
# The norm scale follows from
#
# $$
# \begin{aligned}
# \nu^2 &= \alpha \chi^2\, \E a^2 , \\
# \lambda + \frac{q_r \E a}{\nu} &= \frac{1}{\alpha \chi} - \E \frac{b}{1 + \chi b} .
# \end{aligned}
# $$ (eq-list-scalar)
#
# These are the equations {eq}`eq-scalar-equations` of the paper with $q_r \nu$ in place of the tail average, so those of the longer tail without smoothing.
# They are derived for {eq}`eq-list-cone` by the same argument and are not proved here.
#
# At large loads the list loss gives up.
# A small memory changes the mean loss by $\frac12 (q_r - \alpha^{-1/2})\, \nu$: its spreads cost $q_r$ each, and its signals bring no more than $\alpha^{-1/2}$.
# So from the load $1/q_r^2$ on, which is 0.93 for a list of 15 per cent, the best memory is none at all.
#
# Let us compare on both sides of the capacity, at 0.7 and 1.15 times $\alpha_{\mathrm{list}}(r)$.

# %%
tried = [x * float(list_capacity(r)) for x in (0.7, 1.15)]
theory = [solve_list(x, r, ridge=ridge) for x in tried]
sizes = dict.fromkeys(dimensions, instances)
measured = [averages.list_instances(x, r, ridge, sizes, seed=seed) for x in tried]

# %% tags=["hide-input"]
followed = [
    through_inverse(dimensions, mean[:, i], error[:, i])
    for mean, error in measured
    for i in range(2)
]
average = [solve_scalar(x, r, beta=1e6, ridge=ridge) for x in tried]
check(
    "beyond-list-equations",
    "norm scale and loss of the list loss on both sides of the capacity, "
    f"ridge {ridge:g}, followed to infinite dimension",
    kind="simulation",
    measured=[line[-1] for line, _ in followed],
    predicted=[x for point in theory for x in (point.nu, point.loss)],
    tolerance=[4 * error for _, error in followed],
    falsehood=(
        "the average of the list in place of where it begins",
        [x for point in average for x in (point.nu, point.loss)],
    ),
    axis="norm scale, or mean loss",
    each=[
        f"{name}, load {x:.3g}" for x in tried for name in ("norm scale", "mean loss")
    ],
)

# %% [markdown]
# ## Instances that can be proved hopeless
#
# {prf:ref}`thm-list-capacity` is about the limit.
# For a single instance there is a proof, if not of everything.
#
# :::{prf:proposition} Certificate of the cone (not in the paper)
# :label: prop-list-certificate
#
# Let there be weights $\lambda_i > 0$ and vectors $e_i$ of length at most 1 with
#
# $$
# \sum_i \lambda_i \Bigl( u_i - \frac{q_r}{\sqrt d}\, e_i \Bigr) v_i^\top = 0 .
# $$ (eq-list-certificate)
#
# Then no memory has $u_i^\top W v_i > q_r \norm{W v_i}/\sqrt d$ for all $i$.
# :::
#
# :::{prf:proof}
# Multiply {eq}`eq-list-certificate` by any $W$, entry by entry, and add up.
# Since $e_i^\top W v_i \le \norm{W v_i}$, the result is at least $\sum_i \lambda_i (u_i^\top W v_i - q_r \norm{W v_i}/\sqrt d)$, and it is zero. So not all of these terms are positive.
# :::
#
# `decide_list` looks for a memory or for such weights, and `verify_list` checks what it has found, with all rounding bounded.
# Here are two instances, with fewer pairs than the capacity and with more.

# %%
room = float(list_capacity(r)) * decided_d**2
two = [
    gaussian_pairs(max(4, round(x * room)), decided_d, seed=seed) for x in (0.8, 1.3)
]
verdicts = [decide_list(instance, r) for instance in two]

# %% tags=["hide-input"]
words = {True: "yes", False: "no", None: "undecided"}
both = list(zip(verdicts, two, strict=True))
Table(
    {
        "pairs $n$": [str(instance.n) for instance in two],
        "capacity of the list": [room] * 2,
        "some memory": [words[v.feasible] for v in verdicts],
        "proof verified": [
            words[v.feasible is not None and verify_list(v.certificate, instance, r)]
            for v, instance in both
        ],
    },
    {"capacity of the list": ".1f"},
)

# %% [markdown]
# Stored verdicts of a list of 15 per cent show the transition.

# %%
counted = read_table("list_capacity", "verdicts")
crossings = {
    size: list_transition(size, *counts)
    for size, counts in tally_lists(counted).items()
}

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-list-verdicts", "caption": "Share of instances with a memory for the cone {eq}`eq-list-cone` of a list of 15 per cent, certified (points with 95% intervals), against the load, in several dimensions. Vertical line: the capacity of the list. Curves: a normal law whose place and width are fitted."}, "image": {"alt": "Points of four dimensions that fall from one to zero around a vertical line at a load of one half, steeper for larger dimensions."}}
glue("list-proved", int(counted["feasible"].notna().sum()), display=False)
glue("list-undecided", int(counted["feasible"].isna().sum()), display=False)
figure, ax = panels(height=3.4, width=6.0)
for (size, (n, yes, of)), look in series(tally_lists(counted).items()):
    own = crossings[size]
    color = look["color"]
    plot.proportions(ax, n / size**2, yes, of, color=color, label=f"$d = {size}$")
    fine = np.linspace(0.36, 0.62, 200)
    ax.plot(fine, special.ndtr((own.load - fine) / own.width), color=color, lw=1)
ax.axvline(float(list_capacity(0.15)), color=plot.INK, lw=1)
ax.set(xlabel="load $n/d^2$", ylabel="share with a memory")
ax.legend()
figure

# %% tags=["hide-input"]
check(
    "beyond-list-capacity",
    "load at which half of the certified instances have a memory, list of 15 %",
    kind="stored simulation",
    measured=[own.load for own in crossings.values()],
    predicted=float(list_capacity(0.15)),
    tolerance=[4 * own.error + 0.3 / size for size, own in crossings.items()],
    falsehood=("the critical load of the average of the list", critical_load(0.15)),
    limits="the tolerance has $0.3/d$ for small dimensions, beside four standard errors",
    axis="load at one half",
    each=[f"$d = {size}$" for size in crossings],
)

# %% [markdown]
# The certified transition lies within two hundredths of the capacity in all four dimensions, and no drift shows.
# That is unlike first place, where {doc}`finite_size_scaling` has a shift at all sizes that can be computed.
#
# Some of the "no" are cheap: a target shorter than $q_r/\sqrt d$ cannot meet {eq}`eq-list-cone` with any memory, since $e_i = \sqrt d\, u_i / q_r$ with a single weight is a certificate. In twelve dimensions this happens in one of some five hundred instances, and in larger ones practically never.
#
# A "no" here is proved for the cone, not for the ranks.
# In a finite dimension a memory might have all signals on their lists although some of them miss {eq}`eq-list-cone`, and the longer tail above is an example of how much there is to gain.
# A "yes" for the ranks is proved by counting, as in the tables above.
# Nobody has a proof of "no" for the ranks of an instance.
#
# ## Could a memory cheat?
#
# The perceptron has one margin for all keys, as if all spreads were $\nu$.
# A memory might give small spreads to keys that are hard, so that these need smaller signals.
# Does it?
#
# Let the spreads differ, $\sigma_i = \norm{W v_i}/\sqrt d$.
# Their mean square is $\nu^2$ whatever $W$ is, as there are many more keys than dimensions.
# If spreads are chosen without regard to the targets, the signals have to be lifted by $(q_r \sigma_i + \sigma_i G)_+$, whose mean square is $\E \sigma_i^2\, \E (q_r + G)_+^2$: the same as with equal spreads.
# So nothing is won unless small spreads fall to keys with unlucky targets.
# But $\sigma_i^2$ is a quadratic form of the key, and for a matrix with $d$ singular values of one size it deviates by $O(d^{-1/2})$ only.
# For more, few singular values would have to carry the whole memory, and then it has few parameters and stores few pairs.
# The proof of {prf:ref}`thm-list-capacity` gets along with less: only a small share of the spreads can be small.
# What do trained memories do?

# %% tags=["hide-input"]
law = averages.spread_law(stored, memories.LIST, 0.42)
check(
    "beyond-list-capacity",
    "power of $d$ of the deviation of spreads between keys, memories of the list loss",
    kind="stored simulation",
    measured=law.exponent,
    predicted=-0.5,
    tolerance=4 * law.deviation + 0.05,
    falsehood=("spreads stay different however large the dimension", 0),
    limits="the tolerance has 0.05 for small dimensions, beside four standard errors",
    axis="exponent of $d$",
)

# %% tags=["hide-input"]
spreads = stored[(stored["r"] == 0.15) & (stored["load"] == 0.42)].groupby(
    ["loss", "d"]
)
spread_of = spreads["spread"].mean()
counts = spread_of.groupby(level="d").size()
seen = [int(x) for x in counts.index[counts == len(memories.LOSSES)]]
Table(
    {"memory": list(memories.LOSSES)}
    | {
        f"$\\sqrt d$ times deviation, $d = {size}$": [
            float(spread_of.get((i, size), math.nan)) * math.sqrt(size)
            for i in range(len(memories.LOSSES))
        ]
        for size in seen
    }
)

# %% [markdown]
# The deviation is that of any matrix of full rank, for all memories alike: nobody cheats.
#
# There is a second way to ask.
# Forget that scores come from a matrix, and let all their directions be independent, as in {doc}`finite_size_scaling`.
# Then a theorem of Gordon bounds what any closed cone of columns asks for, convex or not.
# "At most $k - 1$ competitors above the signal" costs a key at least
#
# $$
# \begin{aligned}
# D(n, k) = \E \min_t \Bigl[ & (t - g_1)_+^2 \\
# & + \sum_{j \ge k} (g_{(j)} - t)_+^2 \Bigr] ,
# \end{aligned}
# $$ (eq-list-gordon)
#
# with the signal $g_1$ and the competitors $g_{(j)}$ in decreasing order, all standard normal.
# No memory has all signals so high if $n\, D(n, k) > d^2$, up to fluctuations.
# At a fixed share $r = k/n$ this tends to the capacity from above.

# %% tags=["hide-input"]
many = sorted(bound_sizes)
bounds = {x: [list_bound(n, round(x * n)) for n in many] for x in (0.05, 0.15, 0.3)}
Table(
    {"pairs": [f"{n:,}".replace(",", " ") for n in many]}
    | {
        f"$1/D$, list of {x:g}": [float(1 / bound) for bound in found]
        for x, found in bounds.items()
    }
)

# %% tags=["hide-input"]
check(
    "beyond-list-capacity",
    f"bound on any memory, convex or not, over the capacity, {many[-1]:.0e} pairs",
    kind="asymptotic arithmetic",
    measured=[1 / found[-1] / float(list_capacity(x)) for x, found in bounds.items()],
    predicted=1,
    tolerance=1e-3,
    falsehood=(
        "what is not convex can have twice as many pairs",
        2,
    ),
    limits="the bound is above the capacity by a few times $1/\\sqrt n$, "
    "and it holds if score directions were independent",
    axis="bound over capacity",
    each=[f"$r = {x:g}$" for x in bounds],
)

# %% [markdown]
# So to leading order even a memory that no convex problem can find does no better.
#
# ## Limits
#
# - *Proved*, in the limit and from the paper's theorems: {prf:ref}`thm-list-capacity`, for all but a vanishing share of the keys. That a memory can have *every* key on the list is seen in the counts, and not proved.
# - *Proved*, for any instance: that the longer tail's training is convex; {prf:ref}`prop-list-tail`; {prf:ref}`prop-list-certificate`, with {glue:text}`list-proved` stored verdicts on the cone (and {glue:text}`list-undecided` undecided); and every count of signals on a list, which is about one memory.
# - *Derived* by the methods of physics, for the limit: the law of $\max(G, \rho_\alpha)$ for the list loss, and the equations {eq}`eq-list-scalar`. That the cone stands for the ranks rests on scores of a column being normal for all memories at once, up to $1/\sqrt{\alpha d}$ in the share.
# - *Only seen*: that the longer tail does better than the list loss in small dimensions, and which loss wins at what.
# - At $d = 40$ the correction is no small one: $1/\sqrt{\alpha d}$ is a quarter. Near the capacity the list loss there has some keys off the list, since in a small dimension the columns are not quite normal.
# - With $r > \frac12$ the demand {eq}`eq-list-cone` is not convex, no tail has a negative mean, and nothing here applies.
# - All pairs are equal here. Which ones are lost where some are asked for more often is in {doc}`what_is_kept`.
#
# ## Exercises
#
# ```{exercise} The better half
# :label: ex-list-half
#
# Every signal is to be above the median of its competitors.
# How many pairs fit, and which tail average does one train?
# Why does this remind of a perceptron?
# ```
#
# ```{solution} ex-list-half
# :class: dropdown
#
# Here $q_r = 0$, and $\E G_+^2 = \frac12$: the capacity is $n = 2 d^2$.
# The tail is $r' = 1$, the average of all competitors, which is close to zero.
# So the demand is $u_i^\top W v_i > 0$: one linear function of $d^2$ weights for each pair, with the capacity 2 of Cover's perceptron {cite:p}`cover1965geometrical`.
# ```
#
# ```{exercise} The price of the wrong tail
# :label: ex-list-price
#
# Show that the factor $\alpha_{\mathrm{list}}(r)/\alpha_c(r)$ tends to 1 as $r \to 0$, and how fast: it is $1 + 2/q_r^2$ to leading order.
# ```
#
# ```{solution} ex-list-price
# :class: dropdown
#
# For large $q$ the expectation $\E (q + G)_+^2$ is $1 + q^2$ up to a tiny term.
# With $\kappa_r = q_r + 1/q_r + O(q_r^{-3})$ the quotient is $(1 + \kappa_r^2)/(1 + q_r^2) \approx 1 + 2/q_r^2$.
# At $r = 10^{-6}$ this is 1.09, and the table has 1.08.
# So the shorter the list, the less it matters which average is taken.
# ```
#
# ```{exercise} A search page
# :label: ex-list-page
#
# Vectors have 1000 dimensions, and a search shows the best tenth of all targets.
# How many pairs can one matrix have on these lists, which tail does one train, and how many pairs would fit with the tail of a tenth?
# And if there are 400 000 pairs, how short a list is possible at best?
# ```
#
# ```{solution-start} ex-list-page
# :class: dropdown
# ```
#
# One line for each.

# %% tags=["answer"] says="384165 pairs fit, with a tail of 0.246\n245799 with a tail of 0.1\na list of 10.7 % for 400000 pairs"
from assocmem.theory.lists import best_share, equivalent_tail, list_capacity
from assocmem.theory.ridgeless import critical_load

pairs, tail = list_capacity(0.1) * 1e6, equivalent_tail(0.1)
print(f"{pairs:.0f} pairs fit, with a tail of {tail:.3f}")
print(f"{critical_load(0.1) * 1e6:.0f} with a tail of 0.1")
print(f"a list of {100 * best_share(0.4):.1f} % for 400000 pairs")

# %% [markdown]
# ```{solution-end}
# ```
#
# ## Try
#
# Another list, and a larger memory:
#
# ```
# python -m assocmem run list_capacity -p r 0.3 -p d 80 --out runs/lists
# ```
#
# What a list costs, and a memory for it:
#
# ```python
# from assocmem.pairs.data import gaussian_pairs
# from assocmem.theory.lists import equivalent_tail, list_capacity
# from assocmem.training.list_fit import fit_list
#
# print(list_capacity(0.05), equivalent_tail(0.05))
# memory = fit_list(gaussian_pairs(400, 40, seed=1), 0.05, ridge=1e-6, tol=1e-2)
# print(memory.nu, float(memory.margins.min()))
# ```
