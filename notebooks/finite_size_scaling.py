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
# # Finite-size scaling
#
# At every size that fits on Earth the top-1 transition is far from its limit, so what one meets in practice is the correction.
# The paper reads it off seven peaks of a norm, and backs it with a calculation that it omits.
# This section does the calculation, repeats the figure, measures the transition directly with certified verdicts, and finds out by how much the calculation is off and which of its simplifications is to blame.

# %% tags=["parameters"]
seed = 1  # base seed of every random draw; [0, inf)
sizes = [40, 70]  # numbers of pairs decided here, beside the stored ones; [10, 299]
instances = 30  # instances at each dimension; [10, 100000]
half_width = 1  # dimensions on either side of the predicted transition; [1, 20]
peak_dimensions = [9]  # dimensions trained here, beside the stored ones; [4, 1000]
peak_instances = 3  # instances of each; [1, 1000]
grid_step = 0.01  # spacing of their loads near the peak; (0, 0.2]
tail_sizes = [
    100,
    10000,
    100000000,
]  # numbers of pairs for longer tails; [10, 1000000000000]
draws = 3000  # random vectors projected for comparison; [100, 10000000]
trained_n = 30  # pairs of memories trained to look at lengths; [10, 200]
trained_instances = 8  # instances of them; [2, 1000]
key_n = 30  # pairs in the test of one key's cone; [4, 1000]
key_d = 10  # dimension there; [2, 200]
device = "cpu"  # where memories are trained; {cpu, cuda}

# %% tags=["hide-input"]
import math

import numpy as np
import pandas as pd

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import (
    ANY_MEMORY,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    Table,
    panels,
    series,
)
from assocmem.experiments.first_place import norm_peak
from assocmem.experiments.first_place.cone_projections import (
    asked_dimensions,
    simulated_pools,
)
from assocmem.experiments.first_place.growth import (
    coefficient_reach,
    growth,
    law_evidence,
)
from assocmem.experiments.first_place.instance_counts import count_feasible
from assocmem.experiments.first_place.peak_slopes import (
    norm_sweep,
    relative_half_step,
    slope_evidence,
    slopes_by_choice,
)
from assocmem.experiments.first_place.surrogates import STRUCTURES, pooled_with_norms
from assocmem.experiments.first_place.trained_lengths import length_exponent
from assocmem.experiments.statistics import line_through
from assocmem.experiments.transitions import tally, transition, with_both_verdicts
from assocmem.pairs.data import derived_seed
from assocmem.progress import progress
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.kinematics import (
    critical_dimension,
    large_size,
    pooled_moments,
    statistical_dimension,
)
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.second_order import local_slope, surrogate_series, two_terms

plot.use_style()

# %% tags=["memory", "remove-cell"]
from assocmem.deciding.feasibility import decision_bytes
from assocmem.experiments.first_place.norm_peak import critical_pairs
from assocmem.theory.kinematics import critical_dimension
from assocmem.training.fit import fit_bytes

memory = [
    (
        "sizes",
        max(sizes),
        lambda n: decision_bytes(n, round(critical_dimension(n)) + half_width),
    ),
    (
        "peak_dimensions",
        max(peak_dimensions),
        lambda d: fit_bytes(round(1.5 * critical_pairs(d)), d),
    ),
]

# %% [markdown]
# ## What is claimed
#
# Write $d_{\mathrm c}(n)$ for the smallest dimension in which at least half of all Gaussian instances of $n$ pairs can be retrieved by some memory.
#
# :::{prf:conjecture} Second-order law of top-1 capacity
# :label: con-second-order
#
# $$
# d_{\mathrm c}^2(n) = n \bigl( 2 \log n - 3 \log\log n + o(\log\log n) \bigr) .
# $$
# :::
#
# This is [Conjecture 1](#conjecture-1) of the paper; the first term is its theorem.
# The second is what replacing the $n^2$ directions $u_j v_i^\top$ by independent Gaussian ones gives, and what seven simulated peaks are said to show.
#
# ## The surrogate, worked out
#
# With independent directions the scores of all memories fill a uniformly random subspace of dimension $d^2$ in $\R^{n^2}$.
# Some memory retrieves every pair if it meets the interior of the product of $n$ cones, one for each key,
#
# $$
# C = \{ s \in \R^n : s_1 \ge s_j \text{ for all } j \} ,
# $$ (eq-cone)
#
# with the signal in the first place.
# By the conic kinematic formula {cite:p}`amelunxen2014living` the probability of that is close to one half where $d^2$ passes the codimension $n\,(n - \delta(C))$, and $n - \delta(C) = \E \operatorname{dist}^2(g, C)$ for a Gaussian vector $g$.
#
# **The projection.** To move $g$ into $C$ at least expense, raise the signal and lower competitors until they meet at a level $t$:
#
# $$
# \operatorname{dist}^2(g, C) = \min_t \Bigl\{ (t - g_1)_+^2 + \sum_{j > 1} (g_j - t)_+^2 \Bigr\} .
# $$ (eq-bill)
#
# If the signal leads already, every $t$ between it and its best competitor gives zero.
# Otherwise the best level solves $t - g_1 = \sum_{j>1} (g_j - t)_+$: it is the average of a pool, the signal and the $M$ competitors above $t$.
# The projection replaces them all by $t$ and leaves the others alone, so it lands in a face of dimension $n - M$, and near $g$ it is a linear map of that rank.
# By Gaussian integration by parts the mean squared length of a projection is the mean trace of its derivative, so
#
# $$
# n - \delta(C) = \E \operatorname{dist}^2(g, C) = \E M .
# $$ (eq-mean-pool)
#
# **The mean.** A competitor of size $x$ is in the pool exactly if those above it have not filled it up to there, $g_1 + \sum_j (g_j - x)_+ < x$, the sum being over the other $n - 2$. Hence
#
# $$
# \E M = (n - 1) \int \varphi(x) \, \P\Bigl( g_1 + \sum_{j=3}^{n} (g_j - x)_+ < x \Bigr) \, \mathrm d x ,
# $$ (eq-quadrature)
#
# where the probability is one Fourier integral: a sum of independent terms with a known characteristic function, and a Gaussian term that makes it decay.
# Pairs of competitors give $\operatorname{Var} M$ in the same way.
# Nothing is simulated in these two, and they take a tenth of a second whatever $n$.

# %%
tested = [3, 30, 300]
rng = np.random.default_rng([seed, 0])
simulated = [simulated_pools(n, draws, rng) for n in tested]
Table(
    {
        "$n$": [str(n) for n in tested],
        "$\\E M$, quadrature": [statistical_dimension(n) for n in tested],
        "pool, simulated": [s[:, 0].mean() for s in simulated],
        "distance², simulated": [s[:, 1].mean() for s in simulated],
        "± two standard errors": [2 * s[:, 1].std() / draws**0.5 for s in simulated],
        "$\\operatorname{Var} M$, quadrature": [pooled_moments(n)[1] for n in tested],
        "simulated": [s[:, 0].var() for s in simulated],
    },
    {"± two standard errors": ".1g"},
)

# %% [markdown]
# ## Its expansion
#
# For many pairs the pool fills up and the level hardly fluctuates.
# At a fixed $t$ the bracket of {eq}`eq-bill` has mean $t^2 + 1 + (n-1)\, \E (g - t)_+^2$, up to terms that vanish; it is least where
#
# $$
# (n - 1)\, \E (g - t)_+ = t .
# $$ (eq-level)
#
# Since $\E (g - t)_+ \approx \varphi(t)/t^2$, the level satisfies $t^2 = 2 \log n - 3 \log t^2 - \log 2\pi - 6/t^2 + \dots$
# At that level $(n - 1)\,\E (g - t)_+^2 \approx 2 - 6/t^2$, and since the minimum of a fluctuating parabola lies below the minimum of its mean, by half the variance of its slope over its curvature, $3/t^2$ comes off.
# Collecting terms, with $y = 2 \log n$,
#
# $$
# \E M = y - 3 \log y - \log 2\pi + 3 + \frac{9 \log y + 3 \log 2\pi - 15}{y} + o\Bigl(\frac 1 y\Bigr) .
# $$ (eq-series)
#
# The first two terms are the conjecture's, since $\log y = \log\log n + \log 2$.
# `large_size` solves {eq}`eq-level` and adds the rest; it needs only $\log n$.

# %%
digits = np.array([2, 3, 6, 12, 100, 10**4, 10**6])
log_n = digits * math.log(10)
expansion = np.array([large_size(x).mean for x in log_n])
conjectured = two_terms(log_n)
exact = [statistical_dimension(10.0**k) for k in digits if k <= 12]
Table(
    {
        "$n$": [f"$10^{{{k}}}$" for k in digits],
        "$\\E M$, quadrature": [f"{x:.5f}" for x in exact]
        + [""] * (len(digits) - len(exact)),
        "from the level": expansion,
        "series": surrogate_series(log_n),
        "two terms": conjectured,
        "$\\E M$ less two terms": expansion - conjectured,
    },
    {"from the level": ".10g", "series": ".10g", "two terms": ".10g"},
)

# %% [markdown]
# The level gives three digits at $n = 100$, four at $n = 1000$ and five at $10^{12}$.
# The last column is the conjecture's $o(\log\log n)$ as the surrogate has it.
# It tends to $3 - 3 \log 2 - \log 2\pi = -0.92$, but it is between 0.06 and 0.17 for 20 to 1000 pairs, where simulations are made, and zero near 12,000. At these sizes the two terms alone do better than their order promises.
#
# So what slope would a straight line through exact values have, against $\log\log n$?

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-slope", "caption": "Local slope of the surrogate's d²/n - 2 log n against log log n, from the quadrature up to 10^12 and from the expansion beyond. The conjecture's -3 (dashed) is the limit. The slope passes through -3 on its way down, near 100 pairs, turns at -3.4, and comes back to within 0.05 of the limit only for numbers with two hundred digits. Grey: the sizes of the stored peaks."}, "image": {"alt": "A curve that falls from minus 2.4 to minus 3.4 within the first six digits of n and then rises slowly towards a dashed line at minus 3 over a thousand digits."}}
logs = np.log(10) * np.logspace(np.log10(1.2), 3.5, 40)
slopes = np.array([local_slope(x) for x in logs])
figure, ax = panels(height=3.0)
known = read_table("finite_size_scaling", "last")["n"]
ax.axvspan(*np.log10([known.min(), known.max()]), color=LIMIT, alpha=0.2, lw=0)
ax.plot(logs / math.log(10), slopes, color=ANY_MEMORY)
ax.axhline(-3, ls="--", color=ANY_MEMORY)
ax.set(xscale="log", xlabel="decimal digits of $n$", ylabel="local slope")
ax.set_xticks(
    [1.5, 2, 3, 6, 12, 100, 1000], ["1.5", "2", "3", "6", "12", "100", "1000"]
)
ax.minorticks_off()
figure

# %% [markdown]
# A slope near $-3$ at some hundred pairs is therefore not yet the asymptotic law at work.
# The surrogate has that slope there in passing; at ten times the size it shows $-3.3$, and $-3.4$ at a million.
#
# ## How wide the transition is
#
# The number of pools' members in all keys together, $M_1 + \dots + M_n$, is what has to stay below $d^2$, so
#
# $$
# \P(\mathsf{PR}_n) \approx \P( M_1 + \dots + M_n < d^2 ) \approx \Phi\Bigl( \frac{d^2 - n\,\E M}{\sqrt{n \operatorname{Var} M}} \Bigr) ,
# $$ (eq-width)
#
# with a small correction for the skewness of $M$ in what follows.
# From the level, $\operatorname{Var} M = 4 t^2 + 2 + (n-1)\,\E(g - t)_+^4 - 2\,\E M$, about twice $\E M$.
# In dimensions the transition therefore has the standard deviation $\sqrt{n \operatorname{Var} M}/2d \to 1/\sqrt 2$: however large the system, the transition takes no more than two or three dimensions.

# %%
Table(
    {
        "$n$": [f"$10^{{{k}}}$" for k in digits[:4]],
        "$d_{\\mathrm c}$": [critical_dimension(10.0**k) for k in digits[:4]],
        "standard deviation of $d$": [
            math.sqrt(v / m) / 2
            for m, v in (pooled_moments(10.0**k) for k in digits[:4])
        ],
    },
    {"$d_{\\mathrm c}$": ".6g", "standard deviation of $d$": ".3f"},
)

# %% [markdown]
# ## Longer tails: from the logarithm to the critical load
#
# The same surrogate answers the question for the tail-average criterion, where a signal need only beat the mean of its $k$ best competitors.
# The cone is then $\{ s : s_1 \ge \text{mean of the } k \text{ largest others} \}$.
# Its polar cone consists of the vectors $(-\tau, y)$ with $0 \le y_j \le \tau/k$ that sum to zero, and the point of it nearest to $g$ is $y_j = \operatorname{clip}(g_j - a, 0, b - a)$ with two levels instead of one.
# With the convex function $Q(x) = k x + \sum_j (g_j - x)_+$ the levels satisfy
#
# $$
# Q(a) = Q(b) = k g_1 + k (k + 1) (b - a) ,
# $$ (eq-two-levels)
#
# and $M$ becomes the number of competitors strictly between them, or one if there are none and the signal is too low.
# As the signal falls the levels part and pass one competitor after the other, so the signal can be integrated out exactly; the order statistics around the $k$-th are simulated with a low-discrepancy sequence, to four digits.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-fractions", "caption": "Where half of all instances should be solvable, d²/n, when signals need only beat the average of a fraction r of their competitors (dots, one colour for each n; leftmost, k = 1). Line: the limit of many pairs at fixed r, the inverse of the critical load. One formula covers both halves of the paper."}, "image": {"alt": "A falling curve from 34 at tiny fractions to one half at all competitors; dots of each size lie on it on the right, fall behind where the tail is a few dozen competitors, and level off where it is one."}}
figure, ax = panels(height=3.2)
for n, look in series(tail_sizes):
    ks = np.unique(np.geomspace(1, n - 1, 7).round().astype(int))
    asked = [statistical_dimension(n, int(k)) for k in progress(ks, f"tails, n = {n}")]
    name = f"$n = 10^{{{math.log10(n):.3g}}}$"
    ax.plot(ks / (n - 1), asked, ls="none", label=name, **look)
r = np.logspace(-math.log10(max(tail_sizes)), 0, 80)
ax.plot(r, [1 / critical_load(x) for x in r], color=LIMIT, label="$1/\\alpha_c(r)$")
ax.set(xscale="log", xlabel="tail fraction $r$", ylabel="$d^2/n$")
ax.legend()
figure

# %% [markdown]
# ## Figure 1 again
#
# Cross-entropy training with an effective ridge $\lambda n/d^2 = 10^{-8}$ reaches a tiny loss with a moderate norm while a retrieving memory exists, needs ever larger norms as the last retrieving memories vanish, and has a finite minimum after that.
# The norm peaks in between.
# Each instance here is a nested one, pairs being added one after another, and each fit has a relative duality gap of at most $10^{-6}$.
# Near the peak the problems are badly conditioned; `fit` turns to the exact Hessian there, if $d \le 40$ (see {doc}`the benchmarks <../benchmarks>`).

# %%
stored = read_table("finite_size_scaling", "peaks", "peaks_paper")
rows = []
for d in progress(peak_dimensions, "training"):
    seeds = [derived_seed(seed, 1, d, t) for t in range(peak_instances)]
    rows += norm_sweep(d, seeds, step=grid_step, device=device)
kept = stored.loc[~stored["d"].isin(peak_dimensions), ["d", "seed", "n", "nu"]]
norms = pd.concat([kept, pd.DataFrame(rows, columns=kept.columns)])
norms = norms.sort_values(["d", "seed", "n"], ignore_index=True)
peaks = norm_peak.grid_peaks(norms)
x, y, errors, free = norm_peak.mean_line(peaks)
fixed = norm_peak.mean_line(peaks, slope=-3.0)[-1]

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-figure1", "caption": "The paper's Figure 1 repeated. (a) Norm scale along the load, one instance for each dimension (darker: larger), with stars at the peaks; grey, the limiting threshold 1/2. (b) Peaks in the coordinates in which the conjecture is a line of slope -3: means over instances (squares) with two standard errors, single instances (small dots), the fitted lines of slope -3 (solid) and of free slope (dashed), and the kinematic value (green)."}, "image": {"alt": "Left, twelve curves with sharp peaks between loads 0.82 and 1.2, further left for larger dimension. Right, points along a falling line, with a cloud of single instances around those of small dimension."}}
figure, (left, right) = panels(2)
shades = np.linspace(0.25, 1.0, len(peaks))
for d, shade in zip(peaks, shades, strict=True):
    mine = norms[(norms["d"] == d) & (norms["seed"] == 0)]
    n, nu = mine["n"].to_numpy(), mine["nu"].to_numpy()
    load, best = n * np.log(n) / d**2, nu.argmax()
    left.plot(load, nu, color=CROSS_ENTROPY, alpha=shade, lw=1, label=f"{d}")
    left.plot(load[best], nu[best], "*", color=INK, ms=7)
    single = norm_peak.linearised(peaks[d], d)
    right.plot(*single, ".", color=CROSS_ENTROPY, alpha=0.25, ms=3)
left.axvline(0.5, color=LIMIT, lw=1)
left.set(
    yscale="log", xlabel="$n \\log n / d^2$", ylabel="$\\|W\\|_F / d$", title="(a)"
)
left.legend(title="$d$", ncols=2, fontsize=8)
right.errorbar(x, y, 2 * errors, fmt="s", color=CROSS_ENTROPY)
ends = np.array([x.min() - 0.03, x.max() + 0.03])
right.plot(ends, fixed.intercept - 3 * ends, color=INK, label="slope −3")
right.plot(
    ends,
    free.intercept + free.slope * ends,
    "--",
    color=INK,
    label=f"slope −{-free.slope:.2f}",
)
many = np.exp(np.exp(np.linspace(*ends, 12)))
surrogate = [statistical_dimension(n) - 2 * math.log(n) for n in many]
right.plot(np.log(np.log(many)), surrogate, color=ANY_MEMORY, label="kinematic")
right.set(xlabel="$\\log\\log n$", ylabel="$d^2/n - 2\\log n$", title="(b)")
right.legend()
figure

# %% [markdown]
# The picture in {numref}`fig-figure1` is the paper's, and so is the slope, about $-3$.
# How much weight will it bear?
# The slope is an outcome of choices: which dimensions, how many instances, which grid of loads.

# %%
rng = np.random.default_rng([seed, 2])
single = norm_peak.single_slopes(peaks, rng, min(draws, 1000))
lines = slopes_by_choice(norms)
exact_line = line_through(
    x,
    [statistical_dimension(n) - 2 * math.log(n) for n in np.exp(np.exp(x))],
)
Table(
    {
        "points": [*lines, "one instance at each dimension", "kinematic values"],
        "free slope": [
            *(line.slope for line in lines.values()),
            single.mean(),
            exact_line.slope,
        ],
        "±": [f"{line.slope_error:.2f}" for line in lines.values()]
        + [f"{single.std():.2f}", ""],
    },
    ".2f",
)

# %% [markdown]
# The last row but one is the experiment as one would do it once: one instance at each dimension.
# Its slope scatters by two tenths, so that the paper's $-2.97$ is well within what it gives, and so are $-2.7$ and $-3.3$; the second decimal needs more instances, or larger ones, whose peaks are relatively narrower.
# A coarser grid moves the slope as well, since at the small end its steps are wider than the transition.
# With all instances the slope is $-3$ to less than a tenth, and so is that of the kinematic values, which are known to bend: what the figure supports is a slope near $-3$ at these sizes, and not that it has converged.
#
# ## The direct measurement
#
# A peak is a proxy.
# Verdicts with proofs say where the transition is: half of the instances at $d_{\mathrm c}$ have a retrieving memory, and half a certificate that there is none.
# The stored tables hold fifteen thousand; more are decided here.

# %%
verdicts = read_table("finite_size_scaling", "verdicts", "verdicts_thousand")
counts = tally(verdicts)
for n in progress(sizes, "deciding"):
    middle = round(math.sqrt(n * (statistical_dimension(n) - 0.15)))
    tried = []
    for d in range(max(1, middle - half_width), middle + half_width + 1):
        seeds = [derived_seed(seed, 3, n, d, t) for t in range(instances)]
        tried.append((d, *count_feasible(n, d, seeds)))
    counts[n] = tuple(np.array(tried).T)
counts = with_both_verdicts(counts)
all_sizes = sorted(counts)
found = {n: transition(n, *counts[n]) for n in all_sizes}
predicted = {n: statistical_dimension(n) for n in all_sizes}

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-law", "caption": "The finite-size law. Green dots: where half of all instances are certified to be retrievable, with two standard errors. Lines: the kinematic value (solid), its expansion in the level (dotted, on top of it), the conjecture's two terms (dashed), and the peaks of the trained norm (orange squares, mean over instances). The certified points lie below the kinematic line, and a little below the dashed one."}, "image": {"alt": "Falling curves of d squared over n minus two log n against n on a logarithmic axis from 20 to 2500; green dots slightly below the solid line, orange squares near them, a dashed line that runs among the points."}}
figure, ax = panels(height=3.6)
span = np.geomspace(16, 1.2 * np.exp(np.exp(x.max())), 25)
ax.plot(
    span,
    [statistical_dimension(n) - 2 * math.log(n) for n in span],
    color=ANY_MEMORY,
    label="kinematic",
)
ax.plot(
    span,
    [large_size(math.log(n)).mean - 2 * math.log(n) for n in span],
    ":",
    color=INK,
    label="expansion",
)
ax.plot(
    span,
    -3 * np.log(np.log(span)),
    "--",
    color=ANY_MEMORY,
    label="$-3\\,\\log\\log n$",
)
ax.errorbar(
    np.exp(np.exp(x)),
    y,
    2 * errors,
    fmt="s",
    color=CROSS_ENTROPY,
    label="norm peaks",
)
half = np.array([found[n].half for n in all_sizes])
half_error = np.array([found[n].error for n in all_sizes])
ax.errorbar(
    all_sizes,
    half - 2 * np.log(all_sizes),
    2 * half_error,
    fmt="o",
    color=ANY_MEMORY,
    label="certified",
)
ax.set(xscale="log", xlabel="$n$", ylabel="$d^2/n - 2\\,\\log n$ at one half")
ax.legend()
figure

# %%
shift = half - [predicted[n] for n in all_sizes]
Table(
    {
        "$n$": [str(n) for n in all_sizes],
        "instances": [str(counts[n][2].sum()) for n in all_sizes],
        "$d_{\\mathrm c}$, certified": np.sqrt(half * all_sizes),
        "±": half_error * np.sqrt(all_sizes / half) / 2,
        "kinematic": [critical_dimension(n) for n in all_sizes],
        "two terms": [
            math.sqrt(n * (2 * math.log(n) - 3 * math.log(math.log(n))))
            for n in all_sizes
        ],
        "shift of $d^2/n$": [
            f"{s:.3f} ± {e:.3f}" for s, e in zip(shift, half_error, strict=True)
        ],
        "width over predicted": [
            f"{found[n].stretch:.2f} ± {found[n].stretch_error:.2f}" for n in all_sizes
        ],
    },
    {
        "$d_{\\mathrm c}$, certified": ".2f",
        "±": ".2f",
        "kinematic": ".2f",
        "two terms": ".2f",
    },
)

# %% [markdown]
# Two things stand out.
# The transition has the shape that the surrogate predicts, and is about a sixth narrower.
# And it lies *below* the kinematic value, by 0.10 in $d^2/n$ at $n = 20$, 0.2 between 200 and 500, and $0.11 \pm 0.03$ at 1000: real directions are easier to serve than independent ones, at every size by several standard errors.
# The two-term formula lies a few hundredths above the stored points, closer than the calculation it comes from.
# That is a coincidence of two small numbers, the shift and the last column of the expansion, of which the second changes sign near $n = 12{,}000$.
#
# ## Does the norm peak at the transition?
#
# On a nested instance the question has an exact answer.
# Pairs are added one at a time; bisection between verdicts finds the last number that some memory retrieves, with a proof on either side.

# %%
last = read_table("finite_size_scaling", "last")
mean_last = last.groupby("d")["n"].mean()
steps = norm_peak.steps_past_last(stored, last)
exact_hits = sum(int((x == 0).sum()) for x in steps.values())
pairs_compared = sum(len(x) for x in steps.values())
Table(
    {
        "$d$": [str(d) for d in steps],
        "instances": [str(len(x)) for x in steps.values()],
        "last retrievable $n$, mean": [mean_last[d] for d in steps],
        "peak at the last": [str((x == 0).sum()) for x in steps.values()],
        "elsewhere, by grid points": [
            ", ".join(f"{s:+d}" for s in x[x != 0]) for x in steps.values()
        ],
    }
)

# %% tags=["hide-input"]
print(
    f"{exact_hits} of {pairs_compared} norms peak at the last retrievable load of their grid"
)

# %% [markdown]
# The proxy is as good as its grid: the norm is largest at the last retrievable load.
# Where the loads are further apart than one pair, the peak is up to a step too low, which is the only bias.
# The one exception by more than a pair is an instance in which a target comes to lie among the others (a hidden target of {doc}`dual_certificate`): that makes it hopeless without any strain on the other keys, and the norm goes on growing.
#
# ## Which simplification is to blame?
#
# The surrogate forgets three things about $u_j v_i^\top$: that it is a product, that products of long vectors are longer, and that vectors are shared.
# Each can be restored alone.

# %%
trials = read_table("finite_size_scaling", "structures")
moved = {}
for place, structure in enumerate(STRUCTURES):
    for n, outcome in tally(trials[trials["structure"] == place]).items():
        fitted = transition(n, *outcome)
        moved[structure.name, n] = fitted.half - statistical_dimension(n), fitted.error
structure_sizes = sorted({n for _, n in moved})

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-structures", "caption": "How far each structure of the score directions moves the transition from the kinematic value, with two standard errors. Unit: vectors of length one instead of Gaussian ones. Products of unit vectors behave like independent directions. Unequal lengths cost, shared vectors gain; with Gaussian vectors that share a key the two cancel, and what is left for the memory of the paper (last row) is what the sharing of targets gains."}, "image": {"alt": "A dot plot of nine structures; products of Gaussian vectors at plus 0.3, independent and unit products and same keys at zero, unit vectors that share keys at minus 0.28, and the paper's memory at minus 0.12."}}
order = [0, 1, 2, 7, 3, 4, 8, 5, 6]
figure, ax = panels(height=3.8)
for shown, (n, look) in enumerate(series(structure_sizes)):
    values = np.array([moved[STRUCTURES[i].name, n] for i in order])
    where = np.arange(len(order)) + 0.18 * (shown - (len(structure_sizes) - 1) / 2)
    ax.errorbar(
        values[:, 0],
        where,
        xerr=2 * values[:, 1],
        ls="none",
        label=f"$n = {n}$",
        **look,
    )
ax.axvline(0, color=LIMIT, lw=1)
ax.set_yticks(range(len(order)), [STRUCTURES[i].name for i in order])
ax.invert_yaxis()
ax.set(xlabel="shift of $d^2/n$ at one half")
ax.legend()
figure

# %% [markdown]
# *Products.* Directions of rank one, all different, of length one, cannot be told from independent Gaussian ones.
#
# *Lengths.* With Gaussian vectors the directions differ in length, and long competitors are hard to beat.
# The cone {eq}`eq-cone` is then $\{ s : \sigma_1 s_1 \ge \sigma_j s_j \}$, and its statistical dimension says what that costs, again without a fit.

# %%
lengths = {
    n: pooled_with_norms(n, round(critical_dimension(n)), draws=5 * draws, seed=seed)
    for n in structure_sizes
}
Table(
    {
        "$n$": [str(n) for n in structure_sizes],
        "lengths of products, predicted": [lengths[n][0][0] for n in structure_sizes],
        "measured": [
            "{:.3f} ± {:.3f}".format(*moved["products", n]) for n in structure_sizes
        ],
        "lengths of one vector, predicted": [lengths[n][0][1] for n in structure_sizes],
    },
    ".3f",
)

# %% [markdown]
# *One key.* A key's scores are $s_j = u_j^\top (W v_i)$: all its competitors act on the one vector $W v_i \in \R^d$.
# What it asks of that vector is to lie in the cone of directions in which its target is the furthest of all,
# $X_i = \{ x \in \R^d : u_i^\top x \ge u_j^\top x \text{ for all } j \}$.
#
# :::{prf:proposition} One key asks as much as in the surrogate
# :label: prop-one-key
#
# For $2 \le d \le n$ and independent Gaussian targets the mean intrinsic volumes of $X_i$ are those of $C$, shifted: $\E v_m(X_i) = v_{m + n - d}(C)$ for $m \ge 1$. In particular its mean codimension $d - \E\,\delta(X_i)$ is $\E \min(M, d)$.
# :::
#
# :::{prf:proof}
# Write $G$ for the $n \times d$ matrix whose rows are the targets, so that $X_i = \{x : G x \in C\}$ up to the order of coordinates.
# Let $E$ be a uniformly random subspace of $\R^d$ of dimension $m$, independent of the targets. With probability one $G$ is injective, and then $X_i$ meets $E$ outside the origin if and only if $C$ meets $G E$.
# Given $E$, the images under $G$ of an orthonormal basis of $E$ are independent Gaussian vectors of $\R^n$, so that $G E$ is a uniformly random subspace of dimension $m$.
# Hence both meet with the same probability, for every $m \le d$. ($X_i$ is either $\{0\}$, which meets nothing, or no subspace, and $C$ is none.) By the kinematic formula these probabilities are the half-tail sums of the intrinsic volumes of $X_i$ and of $C$, taken from $d - m + 1$ and from $n - m + 1$ on; differences of them are the intrinsic volumes.
# :::
#
# (The intrinsic volumes $v_m$ of a cone are the probabilities that the projection of a Gaussian vector lands in a face of dimension $m$; their mean is $\delta$.)
# So for Gaussian targets the effects of lengths and of sharing a key among its competitors cancel in these volumes.
# For unit vectors the first is missing, and the second shows.

# %%
asked = asked_dimensions(key_n, key_d, draws, np.random.default_rng([seed, 4]))
one_key = statistical_dimension(key_n)  # and E min(M, d), unless d is as small as M
Table(
    {
        "targets": ["Gaussian", "of length one"],
        "asked of $W v_i$, mean": asked.mean(axis=0),
        "± standard error": asked.std(axis=0) / draws**0.5,
        "$\\E M$": [one_key, one_key],
    },
    {"± standard error": ".1g"},
)

# %% [markdown]
# This is a statement about one key. That whole instances follow it is an observation: in {numref}`fig-structures`, with Gaussian targets drawn anew for every key ("same keys"), the transition is at the kinematic value, and with unit ones it is lower by what was just found.
#
# *All keys.* What remains is that all keys have the same targets.
# With unit vectors that gains little beyond the sharing of keys, though by itself it gains 0.1; with Gaussian ones it gains the whole shift.
# So lengths have to do with it, and there is a reason.
# A memory $W = A W'$ presents the targets $A^\top u_j$ to the keys.
# Lengths that are the same for every key can be evened out by one such map, those drawn anew for every key cannot.
# It takes a positive semidefinite $A A^\top$ with $n$ prescribed values $u_j^\top A A^\top u_j$, an ellipsoid through $n$ random points, which is believed to exist for $n$ up to about $d^2/4$: at the transition, from some sixty pairs on.
# For fewer, and since the map makes the targets less evenly spread, lengths will be evened out in part.
#
# Trained memories show it.
# Long targets compete with larger scores; the exponent says how much larger.
# It would be less than one even if nothing were evened out, since training presses the strongest competitors down, so memories with targets drawn anew for every key are the control.

# %%
structures = {s.name: s for s in STRUCTURES}
exponents = {}
for name in ("same targets and keys", "same keys"):
    seeds = (derived_seed(seed, 5, t) for t in range(trained_instances))
    found_here = [
        length_exponent(structures[name], trained_n, s) for s in progress(seeds, name)
    ]
    exponents[name] = np.array(found_here)
Table(
    {
        "targets": ["the same for all keys", "drawn anew for every key"],
        "exponent": [x.mean() for x in exponents.values()],
        "± standard error": [x.std(ddof=1) / len(x) ** 0.5 for x in exponents.values()],
    },
    ".2f",
)

# %% [markdown]
# If this is the mechanism, the shift should be a part of what unequal lengths of targets cost in the surrogate.

# %%
costs = {
    n: pooled_with_norms(
        n,
        round(math.sqrt(n * found[n].half)),
        draws=min(5 * draws, 3_000_000 // n),
        seed=seed,
    )
    for n in all_sizes
}
cost, cost_error = np.array([(costs[n][0][1], costs[n][1][1]) for n in all_sizes]).T
Table(
    {
        "$n$": [str(n) for n in all_sizes],
        "cost of the targets' lengths": cost,
        "shift": shift,
        "shift over cost": -shift / cost,
        "±": np.hypot(half_error, shift * cost_error / cost) / cost,
    },
    ".2f",
)

# %% [markdown]
# The shift is between a half and three quarters of the cost at every size where it is known well.
# The cost falls in the end, as the lengths concentrate: their relative variance is $1/2d$ and the cost of the order of $\log^2 n / d$.
# If the shift remains a part of it, it disappears and the conjecture does not suffer; that is not proved here, and a formula for the part would turn it into a prediction.
#
# ## Checks

# %% tags=["hide-input"]
measured_growth = growth(found)
reach = coefficient_reach(measured_growth)
LIMITS = f"other coefficients are tried with the kinematic value's remaining terms; those of log log n from {-3 - reach:.1f} to {-3 + reach:.1f} are not told apart, since the shift may change by 0.15; the asymptotic slope itself shows beyond hundreds of digits"

# %% [markdown]
# The conjecture, directly: between the smallest and the largest size the certified $d_{\mathrm c}^2/n$ has to grow as the kinematic value does, which has the law's two terms and all others.
# With the same other terms, another coefficient of $\log\log n$, or of $\log n$, adds that much times its growth.
# The tolerance is four standard errors and 0.15 for the shift, which the kinematic value leaves out and which changes by less than that from size to size.
# So the nearest whole coefficients, $-2$ and $-4$, are rejected, $-2.7$ and $-3.3$ are not, and neither is a second term that is as large as $\log\log n$ but not a multiple of it.

# %%
check(**law_evidence(measured_growth, of_log_log=-2, limits=LIMITS))

# %%
check(**law_evidence(measured_growth, of_log_log=-4, limits=LIMITS))

# %%
check(**law_evidence(measured_growth, of_log=2.5, limits=LIMITS))

# %% [markdown]
# Its source: in the surrogate the coefficient does tend to $-3$, which is arithmetic with its expansion at sizes without end.

# %%
far = [large_size(x) for x in (1e6, 1e12)]
slope = (far[1].mean - 2e12 - far[0].mean + 2e6) / math.log(1e12 / 1e6)
check(
    "conjecture-1",
    "slope of the surrogate's d^2/n - 2 log n against log log n, from log n = 10^6 to 10^12",
    kind="asymptotic arithmetic",
    measured=slope,
    predicted=-3.0,
    tolerance=0.001,
    falsehood=("coefficient -2.9", -2.9),
    limits="this is the surrogate with independent directions, by its own expansion, and not the memory itself",
)

# %% [markdown]
# The figure: the free slope through the mean peaks, and the loads at which they are, which are well above the limiting $1/2$.

# %%
check(**slope_evidence(free, -2.0))

# %%
check(**slope_evidence(free, -4.0))

# %% [markdown]
# The loads at the peaks of all dimensions say more than the slope does, since they need no line.
# With the kinematic value's other terms a second term of $-2 \log\log n$ would put them lower.
# The tolerance is four standard errors of the mean peak, the shift, and half a step of the grid of loads.

# %%
dimensions = np.array(list(peaks))
mean_peak = np.array([values.mean() for values in peaks.values()])
asked = np.array([statistical_dimension(m) for m in mean_peak])
half_step = [relative_half_step(norms, d) for d in peaks]
log_peak = np.log(mean_peak)
check(
    "figure-1",
    f"load n log n / d^2 at the peak of the norm, d = {dimensions.min()} to {dimensions.max()}",
    kind="stored simulation",
    measured=mean_peak * log_peak / dimensions**2,
    predicted=log_peak / asked,
    tolerance=log_peak / asked * ((4 * errors + 0.15) / asked + half_step),
    falsehood=(
        "-2 log log n in place of -3",
        log_peak / (asked + np.log(log_peak)),
    ),
    limits="coefficients from -3.4 to -2.6 are not told apart: most of the tolerance is the shift and the grid",
)

# %% [markdown]
# And the norm does peak where the last retrieving memory is lost, which is what makes it a proxy: from certified verdicts on the same nested instances, the mean distance of the peak from the last retrievable load of its grid, in grid points.

# %%
steps_past = np.concatenate(list(steps.values()))
check(
    "figure-1",
    f"grid points from the last retrievable load to the peak, mean over {len(steps_past)} instances",
    kind="stored simulation",
    measured=steps_past.mean(),
    predicted=0,
    tolerance=4 * max(steps_past.std(ddof=1) / math.sqrt(len(steps_past)), 0.01),
    falsehood=("the norm peaks one load later, where nothing is retrievable", 1),
)

# %% [markdown]
# ## Limits
#
# - Certified counts go to $n = 1000$, where a verdict takes half a minute. They cannot tell a shift that stays from one that slowly disappears.
# - The conjecture is about $n \to \infty$; what is verified is the law that contains it, at sizes where its other terms are as large. A proof has to explain the shift, or bound it.
# - The kinematic formula holds for one random subspace and one cone; that it describes a product structure so well is an observation.
# - Peaks go to $d = 150$ on two cores, where a fit next to the peak takes up to 1900 passes and six minutes, and above $d = 56$ there is one instance of each. The sweep `peaks_paper` has further ones up to $d = 400$, for a GPU ({doc}`../sweeps`); those have not been run.
#
# ## Try
#
# Another size, decided with proofs and placed on the curve:
#
# ```
# python -m assocmem run finite_size_scaling -p sizes "[60]" -p instances 200 --out runs/n60
# ```
#
# More peaks:
#
# ```
# python -m assocmem run finite_size_scaling -p peak_dimensions "[14, 24, 32]" -p peak_instances 10 --out runs/peaks
# ```
#
# The stored tables are made by sweeps, and grow by them: {doc}`../sweeps`.
