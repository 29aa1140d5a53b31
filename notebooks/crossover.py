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
# # From a place to a share
#
# The paper has two laws.
# To bring every signal to first place, $n$ pairs take $d^2 \approx 2\, n \log n$.
# To have every signal beat the average of a fixed share of its competitors, they take a fixed multiple of $n$.
# Between one competitor and a share of all of them there are many tails, and the paper says nothing about those.
# Here the tail has $k$ competitors, and $k$ runs from 1 to a share of $n$.
# One function of $k / \log n$ leads from the one law to the other, and certified verdicts follow it.

# %% tags=["parameters"]
sizes = [1000, 1000000, 1000000000, 1000000000000]  # pairs; [1000, 1000000000000]
ratios = 7  # lengths of tails at each size, evenly in log k; [3, 40]
digits = 4000  # decimal digits of the largest number of pairs; [100, 100000]
seed = 1  # base seed of the projections of random columns; [0, inf)
draws = 1000  # columns projected for comparison; [10, 1000000]
cost_scores = 600000  # scores drawn for the cost of lengths; [10000, 10000000]
table_tails = 4  # lengths of tails at each size of the table; [2, 40]
curve_points = 24  # points of each computed curve; [4, 400]
tail_step = 1  # which tails with verdicts are looked at: each, every second one; [1, 2]

# %% tags=["hide-input"]
import math

import numpy as np
from myst_nb import glue

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import Table, panels, series
from assocmem.experiments.first_place.cone_projections import tail_levels
from assocmem.experiments.tail_average import certified_shift as shifts
from assocmem.experiments.transitions import tally, transition, with_both_verdicts
from assocmem.progress import progress
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.list_cone import list_bound, list_shift
from assocmem.theory.lists import list_capacity, list_quantile
from assocmem.theory.place_to_share import (
    crossover_shift,
    local_coefficient,
    log_log_coefficient,
    place_from_levels,
    two_levels,
)
from assocmem.theory.ridgeless import critical_load

plot.use_style()
TEN = math.log(10)
largest = 10**12
shown = sorted({*sizes, largest})

# %% tags=["memory", "remove-cell"]
from assocmem.pairs.sizes import RUNTIME_BYTES
from assocmem.theory.tail_lengths import SLAB

slabs = 8 * 16 * SLAB  # for what unequal lengths cost
memory = [
    ("draws", draws, lambda size: RUNTIME_BYTES + slabs + 8 * 100 * (4 * size + 1))
]

# %% [markdown]
# ## What is claimed
#
# Let a signal have to reach the mean of its $k$ best competitors.
# Write $\delta(n, k)$ for the kinematic value of this demand, which {doc}`finite_size_scaling` calls $\E M$: if all score directions were independent, half of all instances would be satisfiable at $d^2 = n\, \delta(n, k)$.
# Logarithms are natural, and
#
# $$
# z = \frac{2 \log n}{k} .
# $$
#
# :::{prf:conjecture} From a place to a share (not in the paper)
# :label: conj-crossover
#
# As $n \to \infty$ with $z$ fixed,
#
# $$
# \begin{aligned}
# \delta(n, k) - {} & \delta(n, 1) \\
# & \to 2 \log\bigl(1 - e^{-z}\bigr) .
# \end{aligned}
# $$ (eq-crossover)
#
# The left side less the right one is $-\dfrac{3 z}{e^z - 1}\, \dfrac{\log\log n}{\log n}$ to leading order.
# :::
#
# :::{prf:conjecture} The coefficient goes from $-3$ to $-1$ (not in the paper)
# :label: conj-crossover-coefficient
#
# At a fixed $k$ the slope of $\delta(n, k) - 2 \log n$ against $\log\log n$ is
#
# $$
# -3 + \frac{2 z}{e^z - 1} ,
# $$ (eq-crossover-coefficient)
#
# up to terms that vanish as $n \to \infty$ at fixed $z$.
# :::
#
# The ledger keeps them as [the place](#beyond-place-to-share) and [the coefficient](#beyond-log-log-coefficient).
#
# It matters what kind of statement this is.
# *Proved* is only the frame: how a random subspace meets a product of cones {cite:p}`amelunxen2014living`, for score directions that are independent.
# *Derived*, by replacing sums by means and counting what fluctuations change, are both conjectures about $\delta(n, k)$.
# *Only seen*, in certified verdicts, is that the memory itself follows $\delta(n, k)$, up to a small shift.
#
# ## Why: two levels, and how many competitors lie above them
#
# {doc}`finite_size_scaling` finds the cheapest way to let a signal $g_1$ reach the mean of its $k$ best competitors.
# There are two levels $a < b$.
# Competitors above $b$ fall by $b - a$, and those between the levels fall to $a$.
# The signal rises by $\tau = k\,(b - a)$, as much as all competitors fall together.
#
# Replace the number of competitors above a level $x$ by its mean, $N_x = (n - 1)\,\P(g > x)$ with a standard normal $g$.
# Then the two levels are two numbers, which follow from $g_1$ alone by {eq}`eq-two-levels`.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-crossover-levels", "caption": "The two levels for $n = 10^9$ pairs and a signal of $g_1 = 0$, against the length $k$ of the tail. Dotted: the level above which $k$ competitors are expected. Black: how far the signal has to rise. While $k$ is far below $2 \\log n$ (vertical line) the upper level is above all competitors, and the lower one does not know of $k$. Beyond it the two levels close in on the dotted line."}, "image": {"alt": "Four curves against k on a logarithmic axis. The lower level is flat near five and a half up to ten competitors and then falls. The upper level starts at eleven and falls steeply; beyond a hundred the two levels and a dotted line between them run together, with the rise of the signal just above."}}
log_size = 9 * TEN
lengths = np.unique(np.geomspace(1, 1e6, 40).round())
found = [two_levels(log_size, math.log(k)) for k in progress(lengths, "levels")]
figure, ax = panels(height=3.4, width=6.4)
ax.plot(lengths, [x.upper for x in found], color=plot.ORANGE, label="upper level $b$")
ax.plot(lengths, [x.lower for x in found], color=plot.BLUE, label="lower level $a$")
ax.plot(lengths, [x.rise for x in found], color=plot.INK, lw=1, label="rise $\\tau$")
ax.plot(
    lengths,
    [x.expected for x in found],
    ":",
    color=plot.LIMIT,
    label="$k$-th competitor",
)
ax.axvline(2 * log_size, color=plot.LIMIT, lw=0.8)
ax.set(xscale="log", xlabel="length $k$ of the tail", ylabel="score", ylim=(2, 12))
ax.legend()
figure

# %% [markdown]
# {numref}`fig-crossover-levels` shows where the tail begins to matter.
# The signal has to rise by about $\sqrt{2 \log n}$, and it can do so only if competitors fall by as much together.
# A competitor above the level $a$ lies above it by about $1/a$, as Gaussian tails fall by a factor $e$ in that distance.
# So about $2 \log n$ competitors have to fall, however short the tail is.
# Only a tail that is itself longer than this makes a difference.
#
# ### The scaling function
#
# Let us follow this to the end, for large $n$.
#
# *How many.*
# Near the level $a$ the mean number above $x$ falls like $N_x = N_a\, e^{-a (x - a)}$.
# So $N_b = N_a e^{-z}$ with $z = a\,(b - a)$.
#
# *The balance.*
# All falls together are $\int_a^b N_x\, \mathrm d x = N_a (1 - e^{-z})/a$.
# They are to be $\tau = k\,(b - a)$, and $\tau$ is $a$ to leading order, as the signal comes from near zero.
# So $z = a \tau / k \approx 2 \log n / k$, and
#
# $$
# \begin{aligned}
# N_a &= \frac{2 \log n}{1 - e^{-z}} , \\
# N_b &= \frac{2 \log n}{e^z - 1} .
# \end{aligned}
# $$ (eq-crossover-numbers)
#
# *The level.*
# From $N_a = n\, \varphi(a)/a$ it follows that
#
# $$
# \begin{aligned}
# a^2 = {} & 2 \log n - 3 \log (2 \log n) - \log 2 \pi \\
# & + 2 \log\bigl(1 - e^{-z}\bigr) + o(1) .
# \end{aligned}
# $$ (eq-crossover-level)
#
# *The bill.*
# The squared distance is $\tau^2$ and the squares of all falls.
# After its rise the signal is at the mean of the $k$ best as they are then: $k - N_b$ of them at the level $a$, and those that were above $b$ higher by $1/a$ on average.
# So it ends at $a + B/a$, with $B = N_b/k = z/(e^z - 1)$.
# With the spread of the signal this gives $\E \tau^2 = a^2 + 2 B + 1$.
# The squares of the falls add up to $\int_a^b 2 (x - a)\, N_x\, \mathrm d x = 2 - 2 B$.
# Hence the bill is $a^2 + 3$ for every $z$: what the signal has to rise further, the competitors save.
#
# So the whole effect of the tail is in the level, and {eq}`eq-crossover-level` less its value at $k = 1$ is {eq}`eq-crossover`.
#
# *The error.*
# The level enters $z$ as well.
# With $a^2 \approx 2 \log n - 3 \log (2 \log n)$ in place of $2 \log n$, $z$ is smaller by the fraction $3 \log(2 \log n)/(2 \log n)$.
# The function {eq}`eq-crossover` has the derivative $2 B$ with respect to $\log z$, so the error is $-3 B \log (2 \log n)/\log n$, up to terms of order $1/\log n$.
#
# *The coefficient.*
# At a fixed $k$, $\log z$ grows like $\log\log n$.
# So the tail adds $2 B$ to the $-3$ of {eq}`eq-crossover-level`, which is {eq}`eq-crossover-coefficient`.
#
# For $k \gg \log n$ the function {eq}`eq-crossover` is $2 \log z$, and so
#
# $$
# \delta(n, k) \approx 2 \log \frac nk - \log\log n + 3 - \log 4 \pi .
# $$
#
# That is what $1/\alpha_{\mathrm c}(k/n)$, the law of a fixed share, becomes for a small share.
# So this end joins the other theory of the paper.
#
# ## A formula at any size
#
# Corrections of order $\log\log n/\log n$ are large at every size that exists.
# So the levels are solved without expanding anything, and the bill is averaged over the signal.
#
# One thing is missing then: the number of competitors above a level fluctuates.
# The bill is a saddle value, least in $a$ and largest in $\tau$, of
#
# $$
# \begin{aligned}
# F(a, \tau) = {} & 2 \tau\,(a - g_1) - \tau^2 \\
# & + \sum_j \phi_{\tau/k}(g_j - a) ,
# \end{aligned}
# $$ (eq-crossover-saddle)
#
# where $\phi_c(y)$ is $y_+^2$ up to $y = c$ and goes on as a straight line, $2 c y - c^2$.
# A saddle value moves in second order when its function fluctuates, by
#
# $$
# - \tfrac12 \operatorname{tr} H^{-1} \operatorname{Cov}(\nabla F)
# $$ (eq-crossover-fluctuations)
#
# with the Hessian $H$ of the mean.
# Both matrices are integrals over the competitors between and above the levels.
#
# `place_from_levels` has this.
# It takes $\log n$ and $\log k$, so that $n$ may have thousands of digits.
# How good is it?
# `statistical_dimension` simulates the order statistics of the competitors and integrates the signal out exactly, to about four digits; it shares no step with the levels.

# %%
grid = [
    (n, round(k)) for n in (100, *shown) for k in np.geomspace(1, n / 4, table_tails)
]
simulated = [statistical_dimension(n, k) for n, k in progress(grid, "simulated")]
levels, without = [], []
for n, k in progress(grid, "levels"):
    levels.append(place_from_levels(math.log(n), math.log(k)))
    without.append(place_from_levels(math.log(n), math.log(k), fluctuations=False))

# %% tags=["hide-input"]
missed = np.array(levels) - simulated
glue("crossover-worst", float(np.abs(missed).max()), display=False)
Table(
    {
        "$n$": [f"$10^{{{round(math.log10(n))}}}$" for n, _ in grid],
        "$k$": [f"{k:,}".replace(",", " ") for _, k in grid],
        "simulated": simulated,
        "two levels": levels,
        "without fluctuations": without,
    },
    ".4f",
)

# %% [markdown]
# The levels agree with the simulation everywhere, as well as that is known.
# Without the fluctuations the place would be too high by 0.21 at $n = 100$, $k = 1$, and by about $1/\log n$ for large $n$ and short tails.
# They cease to matter for long tails, where they are of the order $1/k$.
#
# A second route to the same number was tried and is *worse*.
# $\delta(n, k)$ is also the mean number of competitors strictly between the levels.
# Taking $N_a - N_b$ for that number misses about one: the levels are drawn to places where competitors are, and the space between them is not a typical one.

# %% tags=["hide-input"]
check(
    "beyond-share-levels",
    f"$d^2/n$ by simulated order statistics, {len(grid)} sizes and tails, "
    "less that of the two levels",
    kind="quadrature",
    measured=(-missed).tolist(),
    predicted=0,
    tolerance=[0.003 + 4e-4 * x for x in simulated],
    falsehood=(
        "fluctuations of the competitors change nothing",
        (np.array(without) - levels).tolist(),
    ),
    limits="the tolerance is what the simulation leaves open, and 0.003; "
    "tails up to a quarter of the competitors",
    axis="difference of $d^2/n$",
)

# %% [markdown]
# The projection itself can be done on random columns of numbers, which tests the levels and the simulation alike.


# %%
def bill(g, k):
    """Squared distance of scores, signal first, from the cone of their tail."""
    rivals = np.sort(g[1:])[::-1]
    a, b = tail_levels(g[0], rivals, k)
    return (k * (b - a)) ** 2 + np.sum(np.clip(rivals - a, 0, b - a) ** 2)


# %%
rng = np.random.default_rng([seed, 0])
short = [(100, k) for k in (1, 4, 16, 49)]
columns = [rng.standard_normal((draws, n)) for n, _ in short]
bills = [
    [bill(g, k) for g in some] for (_, k), some in zip(short, columns, strict=True)
]

# %% tags=["hide-input"]
Table(
    {
        "$n$": [str(n) for n, _ in short],
        "$k$": [str(k) for _, k in short],
        "squared distance, projected": [np.mean(b) for b in bills],
        "± two standard errors": [2 * np.std(b) / draws**0.5 for b in bills],
        "two levels": [place_from_levels(math.log(n), math.log(k)) for n, k in short],
    },
    {"± two standard errors": ".1g", "squared distance, projected": ".3f"}
    | {"two levels": ".3f"},
)

# %% [markdown]
# ## The scaling function, from a thousand pairs on
#
# Now vary $k$ at each size, and look at the place relative to that of $k = 1$.

# %%
scaled = {}
for n in progress(shown, "sizes"):
    longest = min(300 * math.log(n), n / 4)
    tails = np.unique(np.geomspace(1, longest, ratios).round())
    first = statistical_dimension(n)
    moved = [statistical_dimension(n, int(k)) - first for k in tails]
    scaled[n] = tails / math.log(n), np.array(moved)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-crossover-scaling", "caption": "How far the place $d^2/n$ lies below that of $k = 1$, against $k/\\log n$. Black: the scaling function, which has no fitted constant. Marks: simulated order statistics at four sizes. Grey: the two levels at $10^{100}$ pairs (dashed) and at the largest number of digits asked for (solid, on top of the black line). Dotted: $2 \\log z$, the law of a share."}, "image": {"alt": "A curve that is flat at zero up to k of a third of log n and then bends down to a straight line on the logarithmic axis. Marks of four sizes lie a little below it in the bend and closer for larger sizes; the grey lines close the gap."}}
figure, ax = panels(height=3.8, width=6.6)
kappa = np.geomspace(0.03, 300, 120)
ax.plot(kappa, crossover_shift(2 / kappa), color=plot.INK, label="scaling function")
ax.plot(kappa, 2 * np.log(2 / kappa), ":", color=plot.INK, lw=1, label="$2 \\log z$")
for d, line in ((100, "--"), (digits, "-")):
    some = np.geomspace(max(0.03, 1 / (d * TEN)), 300, curve_points)
    first = place_from_levels(d * TEN)
    there = [place_from_levels(d * TEN, math.log(x * d * TEN)) - first for x in some]
    ax.plot(some, there, line, color=plot.LIMIT, lw=1, label=f"levels, $10^{{{d}}}$")
for n, look in series(shown):
    name = f"$n = 10^{{{round(math.log10(n))}}}$"
    ax.plot(*scaled[n], ls="none", label=name, **look)
ax.set(xscale="log", xlabel="$k / \\log n$", ylim=(-11, 1))
ax.set(ylabel="$\\delta(n, k) - \\delta(n, 1)$")
ax.legend()
figure

# %% [markdown]
# In {numref}`fig-crossover-scaling` a thousand pairs already show the function's shape.
# For a tail of a few competitors nothing changes, and the bend is where $k$ is about $\log n$.
#
# How fast is the limit approached?
# The table has the difference of the levels and the scaling function, in units of the error term of {prf:ref}`conj-crossover`.

# %%
kappas = [0.5, 1, 2, 5, 20]
many = np.array(sorted({3, 12, 100, 1000, digits}))
error = {}
for D in progress(many, "digits"):
    L, first = D * TEN, place_from_levels(D * TEN)
    moved = [place_from_levels(L, math.log(x * L)) - first for x in kappas]
    error[D] = np.array(moved) - crossover_shift(2 / np.array(kappas))

# %% tags=["hide-input"]
B = (log_log_coefficient(2 / np.array(kappas)) + 3) / 2
term = {D: -3 * B * math.log(2 * D * TEN) / (D * TEN) for D in many}
Table(
    {"$k / \\log n$": [f"{x:g}" for x in kappas]}
    | {f"error at $10^{{{D}}}$": [f"{x:.4f}" for x in error[D]] for D in many}
    | {
        f"over its leading term, $10^{{{D}}}$": [f"{x:.2f}" for x in error[D] / term[D]]
        for D in (many[0], many[-1])
    }
)

# %% [markdown]
# The error is 0.2 at a thousand pairs and still at $10^{12}$, and falls below a hundredth only at a thousand digits.
# Its leading term comes out, slowly, since the next term is smaller by a factor of $\log\log n$ alone.

# %% tags=["hide-input"]
check(
    "beyond-place-to-share",
    rf"$\delta(n,k) - \delta(n,1)$ from the two levels at $n = 10^{{{digits}}}$",
    kind="asymptotic arithmetic",
    measured=(crossover_shift(2 / np.array(kappas)) + error[digits]).tolist(),
    predicted=crossover_shift(2 / np.array(kappas)).tolist(),
    tolerance=(-1.5 * term[digits]).tolist(),
    falsehood=(
        r"$\log(1 - e^{-z})$, without the factor 2",
        (crossover_shift(2 / np.array(kappas)) / 2).tolist(),
    ),
    limits="by the levels and not by instances; the tolerance is one and a half "
    "times the error term",
    axis="difference of $d^2/n$",
    each=[rf"$k = {x:g} \log n$" for x in kappas],
)

# %% [markdown]
# At the sizes that can be simulated the error term is no small thing, and it is part of the prediction.
# The next check is by order statistics, with the tolerance of the terms of order $1/\log n$ that are not known.

# %% tags=["hide-input"]
log_n = math.log(largest)
x, moved = (part[1:] for part in scaled[largest])
B_there = (log_log_coefficient(2 / x) + 3) / 2
expected = crossover_shift(2 / x) - 3 * B_there * math.log(2 * log_n) / log_n
check(
    "beyond-place-to-share",
    r"$\delta(n,k) - \delta(n,1)$ by order statistics, "
    rf"$n = 10^{{{math.log10(largest):g}}}$",
    kind="quadrature",
    measured=moved.tolist(),
    predicted=expected.tolist(),
    tolerance=(0.03 + 12 * B_there / log_n).tolist(),
    falsehood=(
        r"$\log(1 - e^{-z})$, without the factor 2",
        (crossover_shift(2 / x) / 2).tolist(),
    ),
    limits=r"the tolerance is $12 B/\log n$ for what is of that order, and 0.03",
    axis="difference of $d^2/n$",
    each=[rf"$k = {ratio:.2g} \log n$" for ratio in x],
)

# %% [markdown]
# ## The coefficient, followed over the digits of $n$
#
# For first place the second term of the law is $-3 \log\log n$, for a share $- \log\log n$.
# For a tail of fixed length both are seen, one after the other: while $\log n$ is far below $k$ the tail acts as a share, and when $\log n$ has outgrown it, as first place.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-crossover-slope", "caption": "Local slope of $\\delta(n, k) - 2 \\log n$ against $\\log\\log n$, for tails of fixed length, against the number of decimal digits of $n$. Lines: the two levels. Dashed: the limit $-3 + 2 z/(e^z - 1)$. The window in which the coefficient changes is where $n$ has about $k/4$ digits. At the left ends the tail is a quarter of all competitors."}, "image": {"alt": "Three falling curves, one for each length of the tail, from near minus one to minus three and a little lower, with dashed curves of the same shape that they approach for the longer tails further right."}}
figure, ax = panels(height=3.4, width=6.4)
for k, look in series([10, 100, 1000]):
    many_digits = np.geomspace(1.5 * math.log10(4 * k), 30 * k, curve_points)
    slopes = [local_coefficient(D * TEN, math.log(k)) for D in many_digits]
    line = {"color": look["color"], "lw": 1.2}
    ax.plot(many_digits, slopes, label=f"$k = {k}$", **line)
    ax.plot(many_digits, log_log_coefficient(2 * many_digits * TEN / k), "--", **line)
ax.axhline(-3, color=plot.LIMIT, lw=0.8)
ax.axhline(-1, color=plot.LIMIT, lw=0.8)
ax.set(xscale="log", xlabel="decimal digits of $n$", ylabel="local slope")
ax.legend()
figure

# %% [markdown]
# In {numref}`fig-crossover-slope` a tail of a hundred competitors has a coefficient between $-1.6$ and $-2$ for all numbers of pairs with up to 25 digits, and the $-3$ of first place only from a hundred digits on.
# So no memory that will ever be built is so large that a hundred competitors are as hard to beat as the best of them: at a million pairs $\delta$ is 16.5 for the hundred, and 19.6 for the best.
#
# The same can be said with a power of the logarithm.
# With $k = (\log n)^p$ and a share told as $n/k$, the place is $2 \log (n/k)$ with the second term $(-3 + 2 \min(p, 1)) \log\log n$.

# %% tags=["hide-input"]
far_log = 1e6
at = np.array([0.3, 1, 3, 20])
slopes = [local_coefficient(far_log, math.log(x * far_log)) for x in at]
check(
    "beyond-log-log-coefficient",
    r"local slope of the two levels against $\log\log n$ at fixed $k$, $\log n = 10^6$",
    kind="asymptotic arithmetic",
    measured=slopes,
    predicted=log_log_coefficient(2 / at).tolist(),
    tolerance=20 * math.log(far_log) / far_log,
    falsehood=("$-3$ for every tail", -3),
    limits="by the levels, at a size with 434,000 digits; the tolerance is twenty "
    "times "
    r"$\log\log n/\log n$ there",
    axis=r"slope against $\log\log n$",
    each=[rf"$k = {x:g} \log n$" for x in at],
)

# %% [markdown]
# ## Certified verdicts
#
# All of this is about independent directions.
# What does the memory itself do?
# The stored verdicts were taken around the expected transition for tails of 1, 2, 4 and so on competitors.
# Each "yes" is a memory in which every signal beats the mean of its $k$ best competitors, and each "no" comes with a certificate.

# %%
stored = read_table("crossover", "verdicts")
stored = stored[stored["k"].isin(sorted(stored["k"].unique())[::tail_step])]
halves = {}
for k in sorted(stored["k"].astype(int).unique()):
    counts = with_both_verdicts(tally(stored[stored["k"] == k]))
    halves |= {(n, k): transition(n, *counts[n], k) for n in counts}
keys = sorted(halves)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-crossover-verdicts", "caption": "Where half of all instances are certified to be satisfiable (marks, two standard errors), against the length of the tail. Lines: the two levels, with no fitted constant. Dashed: the law of a fixed share $k/n$, which knows no logarithm."}, "image": {"alt": "Three falling curves for a hundred, three hundred and a thousand pairs, flat on the left and steep on the right, with marks on or a little below them; dashed curves join them on the right and run far above them on the left."}}
figure, ax = panels(height=3.6, width=6.4)
for n, look in series(sorted({n for n, _ in keys})):
    own = [k for m, k in keys if m == n]
    fine = np.geomspace(1, min(3 * max(own), (n - 1) / 2), curve_points)
    line = {"color": look["color"], "lw": 1.2}
    theory = [place_from_levels(math.log(n), math.log(k)) for k in fine]
    ax.plot(fine, theory, label=f"$n = {n}$", **line)
    ax.plot(fine, 1 / critical_load(fine / n), "--", **line)
    half, error_bar = np.array([(halves[n, k].half, halves[n, k].error) for k in own]).T
    mark = {"fmt": look["marker"], "color": look["color"], "ms": 5}
    ax.errorbar(own, half, 2 * error_bar, **mark)
ax.set(xscale="log", xlabel="competitors $k$ in the tail", ylabel="$d^2/n$ at one half")
ax.legend()
figure

# %% [markdown]
# The marks of {numref}`fig-crossover-verdicts` follow the levels, and leave the law of a share where the tail is shorter than some multiple of $\log n$.
#
# In {doc}`finite_size_scaling` the transition at first place lies a little below the kinematic value, by a part of what unequal lengths of targets cost.
# {doc}`ridgeless_limit` finds the same at three fixed shares.
# The cost can be computed for every tail: it is the price of a key whose competitors differ in length, less that of one whose competitors do not.
# Is the shift one and the same part of it all the way from a place to a share?

# %%
tails = shifts.tails_near_half(stored)
costs = shifts.length_costs(tails, seed=seed, scores=cost_scores)
shared = shifts.fit_shift(tails, costs, together=True)
constant = shifts.fit_shift(tails, np.ones(len(tails)), together=True)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-crossover-shift", "caption": "How far the certified transition lies below the kinematic value (marks, two standard errors), against the length of the tail over $\\log n$. Lines: what unequal lengths of targets cost, times one number for all sizes and tails. Dashed: the best shift that is the same for all."}, "image": {"alt": "Marks of three sizes near minus 0.2 for short tails that rise towards zero for long ones, along lines of the same shape; a dashed horizontal line is too high on the left and too low on the right."}}
shift = {}
for x in tails:
    place = transition(x.n, x.d, x.yes, x.decided, x.k)
    shift[x.n, x.k] = place.half - x.kinematic, place.error
sizes_here = np.array([x.n for x in tails])
ratio = np.array([x.k / math.log(x.n) for x in tails])
figure, ax = panels(height=3.4, width=6.4)
for n, look in series(sorted({*sizes_here})):
    own = sizes_here == n
    values = np.array([shift[x.n, x.k] for x in tails if x.n == n])
    mark = {"fmt": look["marker"], "color": look["color"], "ms": 5}
    ax.errorbar(ratio[own], values[:, 0], 2 * values[:, 1], label=f"$n = {n}$", **mark)
    ax.plot(ratio[own], -shared.factors[0] * costs[own], color=look["color"], lw=1.2)
ax.axhline(-constant.factors[0], ls="--", color=plot.LIMIT, lw=1)
ax.set(xscale="log", xlabel="$k / \\log n$", ylabel="shift of $d^2/n$")
ax.legend(loc="lower right")
figure

# %% tags=["hide-input"]
proved = int(stored["feasible"].notna().sum())
glue("crossover-proved", f"{proved:,}", display=False)
glue("crossover-undecided", len(stored) - proved, display=False)
glue("crossover-part", float(shared.factors[0]), display=False)
glue("crossover-part-error", float(shared.errors[0]), display=False)
worse = 2 * (constant.surprise - shared.surprise)
glue("crossover-worse", float(worse), display=False)
Table(
    {
        "$n$": [str(x.n) for x in tails],
        "$k$": [str(x.k) for x in tails],
        "certified $d^2/n$": [
            f"{shift[x.n, x.k][0] + x.kinematic:.3f} ± {shift[x.n, x.k][1]:.3f}"
            for x in tails
        ],
        "$\\delta(n, k)$": [x.kinematic for x in tails],
        "shift": ["{:.3f} ± {:.3f}".format(*shift[x.n, x.k]) for x in tails],
        "cost of lengths": costs,
        "shift over cost": [
            -shift[x.n, x.k][0] / c for x, c in zip(tails, costs, strict=True)
        ],
    },
    {"shift over cost": ".2f", "cost of lengths": ".3f", "$\\delta(n, k)$": ".3f"},
)

# %% [markdown]
# It is: {glue:text}`crossover-part:.2f` $\pm$ {glue:text}`crossover-part-error:.2f` of the cost, with one number for all sizes and tails, fits the counts.
# A shift that is the same for all tails is worse by {glue:text}`crossover-worse:.0f` in twice the log-likelihood, with as many fitted numbers.
# So what makes first place a little cheaper than the calculation makes long tails cheaper too, and it fades as lengths matter less.
# Why the part is a little more than one half is not known; all of this is seen, not derived.
#
# The check fits the part to short tails, $k < \log n$, and again to long ones, $k > 3 \log n$.
# If the shift did not depend on the tail, the second would be larger by the ratio of the costs.

# %% tags=["hide-input"]
short, far = ratio < 1, ratio > 3
of_short, of_far = (
    shifts.fit_shift(
        [x for x, kept in zip(tails, chosen, strict=True) if kept],
        costs[chosen],
        together=True,
    )
    for chosen in (short, far)
)
check(
    "beyond-shift-along-tails",
    "shift over cost of lengths for tails with $k > 3 \\log n$",
    kind="stored simulation",
    measured=float(of_far.factors[0]),
    predicted=float(of_short.factors[0]),
    tolerance=4 * math.hypot(of_far.errors[0], of_short.errors[0]),
    falsehood=(
        "the shift is the same for all tails",
        float(of_short.factors[0] * costs[short].mean() / costs[far].mean()),
    ),
    limits="predicted is the part that short tails have, $k < \\log n$; "
    "the tolerance is four standard errors, half of the part itself",
    axis="shift over cost of lengths",
)

# %% [markdown]
# The first check takes the longer tails, for which it matters what $k$ is.
# Its tolerance is four standard errors, and the shift at first place.

# %% tags=["hide-input"]
longer = [(n, k) for n, k in keys if k > 2 * math.log(n)]
check(
    "beyond-certified-tails",
    f"certified $d^2/n$ at one half, {len(longer)} sizes and tails with "
    "$k > 2 \\log n$",
    kind="stored simulation",
    measured=[halves[key].half for key in longer],
    predicted=[place_from_levels(math.log(n), math.log(k)) for n, k in longer],
    tolerance=[4 * halves[key].error + 0.2 for key in longer],
    falsehood=(
        "the length of the tail makes no difference",
        [statistical_dimension(n) for n, _ in longer],
    ),
    axis="$d^2/n$ at one half",
    each=[f"$n = {n}$, $k = {k}$" for n, k in longer],
)

# %% tags=["hide-input"]
shorter = [(n, k) for n, k in keys if k < math.log(n)]
check(
    "beyond-certified-tails",
    f"certified $d^2/n$ at one half, {len(shorter)} sizes and tails with $k < \\log n$",
    kind="stored simulation",
    measured=[halves[key].half for key in shorter],
    predicted=[place_from_levels(math.log(n), math.log(k)) for n, k in shorter],
    tolerance=[4 * halves[key].error + 0.2 for key in shorter],
    falsehood=(
        "the law of a fixed share, $1/\\alpha_{\\mathrm c}(k/n)$",
        [float(1 / critical_load(k / n)) for n, k in shorter],
    ),
    axis="$d^2/n$ at one half",
    each=[f"$n = {n}$, $k = {k}$" for n, k in shorter],
)

# %% [markdown]
# ## The same for lists
#
# {doc}`list_capacity` has another demand: a signal need not beat the mean of the $k$ best, only be among them.
# At a fixed share $r$ this is a convex cone after all, and the value is $1/\alpha_{\mathrm{list}}(r)$.
# At a finite size it is not convex, and what is known is a bound $D(n, k)$, below which no memory whatever can do it if score directions were independent.
# Where is the cone the truth?
#
# The levels answer again.
# Now the $k - 1$ best competitors stay where they are, and all from the $k$-th on, which is near a level $b$, are lowered to $t$.
# With $N_t e^{-\zeta} = k$ and $\zeta = t\,(b - t)$ the falls add up to $N_t \bigl(1 - (1 + \zeta) e^{-\zeta}\bigr)/t$, and they are $t$.
#
# :::{prf:conjecture} Lists of any length (not in the paper)
# :label: conj-crossover-lists
#
# Let $e^\zeta - 1 - \zeta = z$. As $n \to \infty$ with $z = 2 \log n / k$ fixed,
#
# $$
# \begin{aligned}
# D(n, k) - {} & \delta(n, 1) \\
# \to {} & 2 \log\bigl(1 - (1 + \zeta) e^{-\zeta}\bigr) \\
# & - \zeta^2 / z .
# \end{aligned}
# $$ (eq-crossover-lists)
#
# The cone's value $1/\alpha_{\mathrm{list}}(k/n)$ lies above $D(n, k)$ by about $\frac43 \sqrt{2 z}$ for $k \gg \log n$.
# :::
#
# :::{prf:proof}
# This is a sketch, of the kind above.
# The number $N_t$ is $k e^\zeta$, and $t^2 \approx 2 \log n$, so the balance $N_t \bigl(1 - (1+\zeta) e^{-\zeta}\bigr) = t^2$ is $e^\zeta - 1 - \zeta = z$.
# From $N_t = n\, \varphi(t)/t$ the level has the first term of the limit where that of $k = 1$ has nothing.
# The squares of the falls are $N_t/t^2$ times $2 - (2 + 2\zeta + \zeta^2) e^{-\zeta}$, which is $2 - \zeta^2/z$.
#
# The cone has $q^2 + 1$ with $n\,\varphi(q)/q = k$, which is $2 \log (n/k) - \log(2 \log n)$ plus $1 - \log 2\pi$.
# So $D$ less the cone's value tends to {eq}`eq-crossover-lists` and $2 - 2 \log z$.
# For a small $z$, $\zeta \approx \sqrt{2 z}$, and this is $-\frac43 \zeta$ to first order.
# :::
#
# With $q = \Phi^{-1}(1 - k/n)$, the score of the $k$-th best competitor, $z$ may as well be $q^2/k$.
# In the limit that is the same, and at a finite size it is much closer.
#
# The ledger keeps it as [lists](#beyond-cone-at-finite-size).

# %%
lists = {}
for n in progress(shown, "lists"):
    tails = np.geomspace(1, min(1e4 * math.log(n), n / 4), ratios).astype(int)
    bound = np.array([list_bound(n, int(k)) for k in tails])
    z = list_quantile(tails / n) ** 2 / tails
    lists[n] = z, bound - 1 / list_capacity(tails / n)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-crossover-lists", "caption": "How far the value of the convex cone overstates what a list of $k$ asks for: the bound $D(n, k)$ less $1/\\alpha_{\\mathrm{list}}(k/n)$, against $2/z = 2k/q^2$, which is about $k/\\log n$ (marks). Black: the limit. Dotted: its leading term. Pink, for comparison: the tail average of the $k$ best less the law of its share, $-z$ to leading order."}, "image": {"alt": "Marks of four sizes that rise from minus five at short lists towards zero at long ones, above a black curve that they approach with growing size; a pink curve reaches zero much earlier."}}
figure, ax = panels(height=3.6, width=6.4)
kappa = np.geomspace(0.05, 1e5, 200)
limit = 2 - 2 * np.log(2 / kappa) + list_shift(kappa)
ax.plot(kappa, limit, color=plot.INK, label="limit for lists")
ax.plot(kappa, -8 / 3 / np.sqrt(kappa), ":", color=plot.INK, lw=1)
average = crossover_shift(2 / kappa) - 2 * np.log(2 / kappa)
ax.plot(kappa, average, color=plot.TAIL_AVERAGE, label="limit for tail averages")
for n, look in series(shown):
    name = f"$n = 10^{{{round(math.log10(n))}}}$"
    z, gap = lists[n]
    ax.plot(2 / z, gap, ls="none", label=name, **look)
ax.set(xscale="log", xlabel="$2k/q^2$", ylim=(-6.5, 0.5))
ax.set(ylabel="finite size less law of a share")
ax.legend()
figure

# %% [markdown]
# So for lists the cone becomes the truth when $k/\log n$ is large again, but slowly.
# A tail average has come within 0.1 of its law of a share from $k = 20 \log n$ on.
# For a list that takes about $k = 700 \log n$: at a million pairs and $k = 2048$ the cone is still 0.116 too high.
# The reason is in the falls.
# If score directions are independent, single competitors can be lowered.
# Those next below the end of the list fall, about $2 \sqrt{k \log n}$ of them, and the signal need not rise as high.
# The cone lowers nobody.
#
# With the same $z$ the tail average has an explicit formula at finite size, $1/\alpha_{\mathrm c}(k/n) + 2 \log \bigl((1 - e^{-z})/z\bigr)$.
# From a thousand pairs on it is within 0.35 of the two levels at any $k$, within 0.06 from $k = 64$ on, and within 0.002 from $k = 2048$ on.

# %% tags=["hide-input"]
z, gap = lists[largest]
z, gap = z[z < 4], gap[z < 4]
check(
    "beyond-cone-at-finite-size",
    rf"$D(n, k)$ less the cone's value at $n = 10^{{{math.log10(largest):g}}}$, "
    "over its limit",
    kind="quadrature",
    measured=(gap / (2 - 2 * np.log(z) + list_shift(2 / z))).tolist(),
    predicted=1,
    tolerance=math.log(log_n) / log_n,
    falsehood=("the convex cone is the truth for every list", 0),
    limits=r"lists with $k > q^2/4$; the tolerance is $\log\log n/\log n$",
    axis="difference over its limit",
    each=[f"$z = {x:.2g}$" for x in z],
)

# %% [markdown]
# ## Limits
#
# - {prf:ref}`conj-crossover` and the formula in levels are about independent directions. They are derived by means and their first correction. What is left of the formula is below {glue:text}`crossover-worst:.4f` in the table above, most of which is the simulation's own error. Below a hundred pairs it was not pursued: at three pairs it is 0.012 off.
# - The scaling function is a limit with errors of order $\log\log n/\log n$. At $10^{12}$ pairs they are up to 0.2, and up to 0.26 at a million.
# - The verdicts, {glue:text}`crossover-proved` of them proved and {glue:text}`crossover-undecided` undecided, go to a thousand pairs. That the memory follows $\delta(n, k)$ up to a small shift is an observation, as it is at first place.
# - For lists of finite length $D(n, k)$ is a lower bound under independent directions, and nobody has shown that memories reach it.
#
# ## Exercises
#
# ```{exercise} The two ends
# :label: ex-crossover-ends
#
# Show that {eq}`eq-crossover` is $2 \log z$ up to terms that vanish as $z \to 0$, and find the first of them.
# From which $k$ on does a tail average lie within 0.1 of the law of its share?
# ```
#
# ```{solution} ex-crossover-ends
# :class: dropdown
#
# $1 - e^{-z} = z\,(1 - z/2 + \dots)$, so $2 \log(1 - e^{-z}) = 2 \log z - z + \dots$
# The law of the share has the first term, and the difference is $-z = -2 \log n/k$.
# It is 0.1 at $k = 20 \log n$.
# ```
#
# ```{exercise} Halfway
# :label: ex-crossover-half
#
# At which $k/\log n$ is the coefficient of $\log\log n$ halfway between $-1$ and $-3$?
# How many digits has $n$ there for a tail of a thousand competitors?
# The cell solves for it.
# ```
#
# ```{solution-start} ex-crossover-half
# :class: dropdown
# ```
#
# Halfway, $2 z/(e^z - 1) = 1$.
# So $e^z = 1 + 2 z$, which has the solution $z = 1.256$.

# %% tags=["answer"] says="z = 1.2564, k = 1.592 log n, 273 digits"
import math

from scipy.optimize import brentq

z = brentq(lambda z: math.exp(z) - 1 - 2 * z, 0.5, 3)
digits_of_n = z * 1000 / 2 / math.log(10)
print(f"z = {z:.4f}, k = {2 / z:.3f} log n, {digits_of_n:.0f} digits")

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} Who falls
# :label: ex-crossover-falls
#
# Let $n = 10^9$ and $k = 1$, and a signal of zero.
# How many competitors fall, and how many of them lie above the upper level?
# Do the same for $k = 41$, which is $2 \log n$, and compare with {eq}`eq-crossover-numbers`.
# ```
#
# ```{solution-start} ex-crossover-falls
# :class: dropdown
# ```
#
# By {eq}`eq-crossover-numbers` there are $2 \log n = 41$ of them for $k = 1$, and none above the upper level.
# For $k = 41$, $z = 1$ and there are $41/(1 - e^{-1}) = 66$, of which the share $e^{-1} = 0.37$ is above both.
# At this size the numbers are smaller, as the square of the level is 28 or 29 rather than 41.

# %% tags=["answer"] says="k = 1: 31 fall, 0 % of them above both\nk = 41: 58 fall, 48 % of them above both"
import math

from assocmem.theory.place_to_share import two_levels

for k in (1, 41):
    found = two_levels(9 * math.log(10), math.log(k))
    moved = math.exp(found.log_moved)
    print(f"k = {k}: {moved:.0f} fall, {100 * found.untied:.0f} % of them above both")

# %% [markdown]
# ```{solution-end}
# ```
#
# ## Try
#
# Larger numbers of pairs for the table of errors:
#
# ```
# python -m assocmem run crossover -p digits 100000 --out runs/crossover
# ```
#
# The place for a tail of your own, at any size:
#
# ```python
# import math
#
# from assocmem.theory.place_to_share import place_from_levels
#
# print(place_from_levels(math.log(1e6), math.log(50)))
# ```
