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
# # From the perceptron to the associative memory
#
# Take two targets, and a matrix that stores facts is a perceptron, which learns two facts for each of its inputs.
# Take as many targets as facts, and it is the memory of the paper, whose capacity has a logarithm.
# What is in between?
# People who store facts have a vocabulary of some size, the same answer many times, and keys and targets of different dimensions.
# One curve without a fitted constant leads through all of these cases, and this section follows it with certified verdicts.

# %% tags=["parameters"]
seed = 1  # base seed of every random draw; [0, inf)
perceptron_d = 16  # dimension of the keys where there are two targets; [2, 60]
perceptron_instances = 40  # instances at each number of facts there; [4, 10000]
d_in = 16  # dimension of the keys of the example; [2, 40]
d_out = 8  # dimension of the targets of the example; [1, 40]
m = 40  # number of targets of the example; [2, 500]
curve_points = 200  # numbers of targets along each computed curve; [8, 1000]
margin = 0.25  # share of the forecast by which the example has fewer facts, and more; [0.1, 0.9]

# %% tags=["hide-input"]
import math

import numpy as np
from myst_nb import glue

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import Table, panels, series
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.experiments.fact_transitions import fact_transition, tally_facts
from assocmem.experiments.gaussian_facts import gaussian_facts
from assocmem.pairs.data import derived_seed
from assocmem.progress import progress
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.facts_that_fit import (
    LIMITING_BITS,
    bits_per_parameter,
    cover_probability,
    facts_that_fit,
    fit_probability,
    fit_width,
    pairs_that_fit,
)
from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.unequal_lengths import length_cost
from assocmem.theory.uneven_answers import random_answers_cost

plot.use_style()

# %% tags=["memory", "remove-cell"]
import math

from assocmem.deciding.feasibility import decision_bytes
from assocmem.theory.facts_that_fit import facts_that_fit

memory = [
    (
        "d_in",
        d_in,
        lambda d: decision_bytes(
            math.ceil((1 + margin) * facts_that_fit(d, d_out, m)) + 1,
            math.ceil(math.sqrt(d * d_out)),
            m,
        ),
    ),
    (
        "perceptron_d",
        perceptron_d,
        lambda d: decision_bytes(4 * d, math.ceil(math.sqrt(d)), 2),
    ),
]

# %% [markdown]
# ## What is claimed
#
# There are $m$ targets $u_1, \dots, u_m$ in $\R^{d_{\mathrm{out}}}$ and $n$ keys $v_1, \dots, v_n$ in $\R^{d_{\mathrm{in}}}$.
# A *fact* is a key $v_i$ with one of the targets, number $a_i$, for its answer.
# Several facts may have the same answer, and some targets may be nobody's answer.
# A matrix $W$ with $d_{\mathrm{out}}$ rows and $d_{\mathrm{in}}$ columns retrieves the fact if the answer comes out first:
#
# $$
# u_{a_i}^\top W v_i > u_j^\top W v_i \quad \text{for all } j \ne a_i .
# $$ (eq-facts-demand)
#
# The pairs of the paper are the case $m = n$, $a_i = i$, with one dimension on both sides.
#
# With two targets the whole truth has been known since {cite:t}`cover1965geometrical`.
#
# :::{prf:theorem} Two targets (Cover 1965, not in the paper)
# :label: thm-facts-cover
#
# Let $m = 2$, the two targets be different, and the keys be Gaussian.
# Then some matrix retrieves all $n$ facts with probability
#
# $$
# 2^{1-n} \sum_{j < d_{\mathrm{in}}} \binom{n-1}{j} ,
# $$
#
# whatever the answers are. It is one half at $n = 2\, d_{\mathrm{in}}$.
# :::
#
# For other $m$ we go by a calculation that is exact in some cases only.
#
# :::{prf:conjecture} Facts that fit (not in the paper)
# :label: conj-facts-fit
#
# Let $\delta(m)$ be the mean number of competitors that are pooled with a signal among $m$ scores, the $\E M$ of {eq}`eq-kinematic`.
# Gaussian facts are retrievable by some matrix about as often as not when
#
# $$
# n\, \delta(m) = d_{\mathrm{in}} \min(d_{\mathrm{out}}, m - 1) .
# $$ (eq-facts-fit)
# :::
#
# The ledger keeps them as [two targets](#beyond-two-targets) and [facts that fit](#beyond-facts-that-fit).
# Nothing of this stands in the paper, whose case is the end of the curve.
#
# ## Why: what facts ask for, and what a matrix has
#
# {doc}`top1_threshold` explains the price of one key.
# Its scores are changed as little as possible until the signal is the largest; the signal is pooled with the few competitors that stand above it, and what the key asks for is the number of these competitors.
# Its mean depends on one thing, the number of scores of a key, and here this is $m$.
# All facts together ask for $n\, \delta(m)$.
#
# What does a matrix have to pay with?
# It has $d_{\mathrm{in}} d_{\mathrm{out}}$ entries, but not all of them need count.
# A vector that is added to all targets moves all scores of a key by the same amount, and changes nothing in {eq}`eq-facts-demand`.
# So only the differences of targets matter, and $m$ targets have no more than $m - 1$ independent ones.
# Each of these directions gets one number for each coordinate of the key.
#
# :::{prf:proposition} The ends of the curve (not in the paper)
# :label: prop-facts-ends
#
# The law {eq}`eq-facts-fit` has Cover's $n = 2\, d_{\mathrm{in}}$ at $m = 2$, and $d^2 = n\, \delta(n)$, the kinematic value of the paper's pairs, at $m = n$ and $d_{\mathrm{in}} = d_{\mathrm{out}} = d \le n - 1$.
# :::
#
# :::{prf:proof}
# With two scores the signal is pooled with its competitor if it is the smaller one, so $\delta(2) = \frac12$, and $m - 1 = 1$.
# The other end is {eq}`eq-facts-fit` as it stands.
# :::

# %% tags=["hide-input"]
some = [2, 3, 10, 100, 1000, 50257, 10**6, 10**12]
Table(
    {
        "targets $m$": [f"{x:,}".replace(",", " ") for x in some],
        "one fact asks for $\\delta(m)$": [statistical_dimension(x) for x in some],
        "$2 \\log m$": [2 * math.log(x) for x in some],
    }
)

# %% [markdown]
# The price of a fact grows with the vocabulary, but slowly.
# Among the 50 257 tokens of a well-known language model a fact asks for 14.4 numbers, which is 29 times the price in a perceptron.
#
# ## Two targets: the perceptron
#
# Let $w = W^\top (u_1 - u_2)$.
# A fact with the first answer asks for $w^\top v_i > 0$ and one with the second for $w^\top v_i < 0$.
# That is all there is: a perceptron with the weights $w$.
#
# Let us count certified verdicts around $n = 2\, d_{\mathrm{in}}$.

# %%
counts = []
for n in progress(
    np.unique(np.linspace(1.2, 2.8, 9) * perceptron_d // 1), "two targets"
):
    sizes = {"d_in": perceptron_d, "d_out": 3, "m": 2, "n": int(n)}
    seeds = [derived_seed(seed, 1, int(n), t) for t in range(perceptron_instances)]
    found = [decide_top1(gaussian_facts(**sizes, seed=s)).feasible for s in seeds]
    counts.append((int(n), found.count(True), len(found) - found.count(None)))

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-facts-cover", "caption": "Two targets: the share of instances that some matrix retrieves, certified (points with 95% intervals), against the number of facts for each coordinate of a key. Black: Cover's count, which is exact. Dashed: the law of this section, which has to guess the spread as well."}, "image": {"alt": "Points that fall from one to zero between one and a half and two and a half facts a coordinate, along a solid curve; a dashed curve lies on top of it."}}
tried, successes, trials = np.array(counts).T
figure, ax = panels(height=3.2, width=6.0)
plot.proportions(
    ax,
    tried / perceptron_d,
    successes,
    trials,
    color=plot.ANY_MEMORY,
    label="certified",
)
fine = np.arange(perceptron_d, 3 * perceptron_d + 1)
exact = cover_probability(fine, perceptron_d)
ax.plot(fine / perceptron_d, exact, color=plot.INK, label="Cover's count")
law = fit_probability(fine, perceptron_d, 3, 2)
ax.plot(fine / perceptron_d, law, "--", color=plot.LIMIT, label="the law")
ax.set(xlabel="facts a coordinate, $n / d_{\\mathrm{in}}$", ylabel="share retrievable")
ax.legend()
figure

# %% tags=["hide-input"]
retrieved, expected = successes.sum(), trials @ cover_probability(tried, perceptron_d)
chance = cover_probability(tried, perceptron_d)
spread = math.sqrt(trials @ (chance * (1 - chance)))
shorter = max(1, round(0.75 * perceptron_d))
check(
    "beyond-two-targets",
    f"certified instances that some matrix retrieves, of {trials.sum()}, two targets, "
    f"$d_{{\\mathrm{{in}}}} = {perceptron_d}$",
    kind="simulation",
    measured=int(retrieved),
    predicted=expected,
    tolerance=4 * spread,
    falsehood=(
        f"keys of {shorter} coordinates, a quarter less",
        trials @ cover_probability(tried, shorter),
    ),
    axis="number of retrievable instances",
)

# %% [markdown]
# ## Many targets: one instance, decided
#
# `Facts` holds targets, keys and answers of any sizes, and `decide_top1` decides it as it decides pairs.
# We draw fewer facts than the law expects, and more.

# %%
forecast = facts_that_fit(d_in, d_out, m)
fewer = max(1, round((1 - margin) * forecast))
more = math.ceil((1 + margin) * forecast)
facts = [gaussian_facts(d_in, d_out, m, n, seed=seed) for n in (fewer, more)]
verdicts = [decide_top1(some) for some in facts]
both = zip(verdicts, facts, strict=True)
proved = [verify(verdict.certificate, some) for verdict, some in both]

# %% tags=["hide-input"]
words = {True: "yes", False: "no", None: "undecided"}
Table(
    {
        "facts $n$": [str(fewer), str(more)],
        "forecast of one half": [forecast] * 2,
        "probability by the law": [
            float(fit_probability(n, d_in, d_out, m)) for n in (fewer, more)
        ],
        "retrievable": [words[v.feasible] for v in verdicts],
        "proof verified": [words[p] for p in proved],
    },
    {"forecast of one half": ".1f"},
)

# %% [markdown]
# ## The curve, with a corner
#
# Now let the vocabulary grow, with a square matrix of a fixed size.
# At first each new target brings a new direction to store in, and more facts fit.
# From $m = d_{\mathrm{out}} + 1$ on there are no new directions, and each new target is one more competitor.
# So the law has a sharp corner there.
#
# The stored verdicts are of two kinds.
# In one the answers are drawn at random among all targets.
# In the other the targets are answers *in turn*, so that each is as frequent as any other.

# %%
stored = read_table("perceptron_to_memory", "verdicts")
places = {
    size: fact_transition(*counted, *size[:4])
    for size, counted in tally_facts(stored).items()
}
undecided = int(stored["feasible"].isna().sum())

# %% tags=["hide-input"]
glue("facts-proved", f"{len(stored) - undecided}", display=False)
glue("facts-undecided", undecided, display=False)


def curve(d, in_turn):
    """Targets, half points and their errors, for square matrices of one size."""
    mine = [
        (size[2], p.half, p.error)
        for size, p in places.items()
        if size[:2] == (d, d) and size[3:] == (1, in_turn)
    ]
    return np.array(sorted(mine)).T


# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-facts-curve", "caption": "Facts that some matrix of $12 \\times 12$ (a) and of $24 \\times 24$ entries (b) retrieves as often as not, against the number of targets. Line: the law, with no fitted constant, with its corner at $m = d + 1$; the grey square is where every fact has a target of its own. Points: certified verdicts with two standard errors. Dashed: the law less what unequally frequent answers cost. Dotted: the law with targets of unequal length."}, "image": {"alt": "Two panels with a line that rises from two targets to a sharp peak at d plus one and falls slowly beyond it. Diamonds for answers in turn lie on the line or a little above it; dots for random answers lie below the peak, on a dashed line, and beyond it between the line and a dotted one."}}
figure, axes = panels(2, height=3.4)
for ax, d in zip(axes, (12, 24), strict=True):
    targets = np.unique(np.geomspace(2, 1000, curve_points).round())
    ax.plot(targets, [facts_that_fit(d, d, x) for x in targets], color=plot.INK, lw=1.2)
    free, bound = targets[targets <= d + 1], targets[targets > d + 1]
    lower = [facts_that_fit(d, d, x) - random_answers_cost(x) for x in free]
    ax.plot(free, lower, "--", color=plot.INK, lw=1)
    step = max(1, curve_points // 25)  # a smooth line, and costly places
    bound = np.unique([*bound[::step], bound[-1]])
    longer = [statistical_dimension(x) + length_cost(x, d) for x in bound]
    ax.plot(bound, d * d / np.array(longer), ":", color=plot.INK, lw=1)
    kinds = ((0, "o", plot.ANY_MEMORY, "drawn"), (1, "D", plot.AMONG_BEST, "in turn"))
    for in_turn, marker, color, label in kinds:
        x, half, error = curve(d, in_turn)
        look = {"color": color, "ms": 5, "label": f"answers {label}"}
        ax.errorbar(x, half, 2 * error, fmt=marker, **look)
    ax.set(xscale="log", xlabel=f"targets $m$, $d = {d}$")
    own = pairs_that_fit(d, d)
    ax.plot(own, own, "s", color=plot.LIMIT, ms=6, label="a target for each")
axes[0].set(ylabel="facts $n$ at one half")
axes[0].legend()
figure

# %% [markdown]
# In {numref}`fig-facts-curve` the law has its corner where the verdicts have their peak.
# The most facts fit with one target more than there are dimensions.
# With answers in turn the verdicts lie within a few per cent of the line.
# With answers drawn at random they stay below it, the most at the corner.

# %% tags=["hide-input"]
turned = {size: p for size, p in places.items() if size[4] and size[2] <= size[1] + 1}
check(
    "beyond-facts-that-fit",
    "half points of square matrices over the law, answers in turn, up to the corner",
    kind="stored simulation",
    measured=[p.ratio for p in turned.values()],
    predicted=1,
    tolerance=[4 * p.ratio_error + 0.03 for p in turned.values()],
    falsehood=(
        "a fact asks for $2 \\log m$, the leading term for many targets",
        [statistical_dimension(size[2]) / (2 * math.log(size[2])) for size in turned],
    ),
    limits="in small dimensions a few per cent more facts fit than the law says, "
    "for which the tolerance has 3 % beside four standard errors",
    axis="facts at one half, measured over predicted",
    each=[f"$m = {size[2]}$, $d = {size[0]}$" for size in turned],
)

# %% [markdown]
# ## Why the corner is lower: answers that are given more often
#
# Up to the corner the scores of different targets are free of each other.
# The targets could be moved to the corners of a regular simplex without changing what is possible, since {eq}`eq-facts-demand` can be met before an invertible linear map of the targets, and a shift of all of them, exactly if it can be met after.
# All that is left is the perceptron with $m$ outputs, and for that a mean-field calculation exists when $d_{\mathrm{in}}$ is large.
#
# It looks for two covariances, that of the scores and that of the forces, and both have as many rows as there are targets.
# If all answers are equally frequent, both must treat all targets alike, and then the calculation gives back {eq}`eq-facts-fit`.
# So up to the corner the law is the leading order for large $d_{\mathrm{in}}$, and not only a plausible replacement.
#
# Answers of unequal frequency break the symmetry.
# Think of the extreme: if only two of the $m$ targets are ever an answer, the facts are those of a perceptron, and $2\, d_{\mathrm{in}}$ of them fit.
# That is fewer than with all $m$ in use.
#
# :::{prf:proposition} Unequally frequent answers (derived by the mean-field method, not in the paper)
# :label: prop-facts-uneven
#
# Let $m \le d_{\mathrm{out}} + 1$, let $f_a$ be the share of the facts that have answer $a$, and let $d_{\mathrm{in}}$ be large.
# To second order in $m f_a - 1$ the number of facts at one half is that of equal shares times
#
# $$
# 1 - c(m)\, \frac1m \sum_{a=1}^m (m f_a - 1)^2 .
# $$ (eq-facts-uneven)
#
# In particular, answers drawn at random cost $c(m)\,(m - 1)$ facts, in whatever dimension.
# The number $c(m)$ is an average over the pool of one key ($A$, $R$ and $G$ below): with $h = 1/m$,
#
# $$
# \begin{aligned}
# c(m) = \frac{m}{4(m-1)} \biggl( & \frac{(R-h)^2}{A-h} \\
# & - \frac{(2A-R-h)^2}{G-h} \biggr) .
# \end{aligned}
# $$
# :::
#
# Here $\delta A$, $\delta R$ and $\delta G$ are the means of $M/(1+M)$, of $r^2$ and of $M T^2$, for a signal that rises by $r$ to meet its $M$ pooled competitors at the level $T$.
#
# :::{prf:proof}
# This is a sketch.
# The mean-field threshold is a saddle point of a quotient: maximal in the covariance $Q$ of the scores, minimal in the metric $X$ in which the changes are billed,
#
# $$
# \begin{aligned}
# \frac{n}{d_{\mathrm{in}}} &= \max_Q \min_X \frac{\operatorname{tr} Q X}{D(Q, X)} , \\
# D(Q, X) &= \sum_a f_a\, \E \operatorname{dist}_X(Q^{1/2} g, C_a)^2 ,
# \end{aligned}
# $$
#
# with the cone $C_a$ on which score $a$ is the largest.
# By symmetry the deviations $m f_a - 1$ couple only with changes of $Q$ and $X$ that stretch the targets' axes.
# So there are two unknowns for each target, and the saddle point moves the value by a quadratic form.
# Its second derivatives are means over the pool, since the price of a key is a variance within its pool.
# Given the size of the pool its level and the differences within it are independent, which makes several of these means equal.
#
# Of $n$ random answers each has a share whose square $(m f_a - 1)^2$ is $(m-1)/n$ on average.
# :::

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-facts-uneven", "caption": "What answers drawn at random cost, in facts: half points of certified counts with answers in turn, less those with answers drawn (points, two standard errors), and $c(m)(m-1)$ (line), which contains no dimension and no fitted constant."}, "image": {"alt": "A convex rising curve from zero at two targets to about twenty facts at thirty targets; points at five, eight and thirteen targets and one at twenty-five lie near it."}}
pairs_of = [
    (size[2], size[0], places[(*size[:4], 1)], places[size])
    for size in sorted(places)
    if not size[4] and (*size[:4], 1) in places and size[2] <= size[1] + 1
]
lost = np.array([b.half - a.half for _, _, b, a in pairs_of])
lost_error = np.array([math.hypot(a.error, b.error) for *_, a, b in pairs_of])
costs = np.array([random_answers_cost(x) for x, *_ in pairs_of])
figure, ax = panels(height=3.2, width=6.0)
fine = np.arange(2, 31)
ax.plot(
    fine, [random_answers_cost(x) for x in fine], color=plot.INK, label="$c(m)(m-1)$"
)
for d, look in series(sorted({d for _, d, *_ in pairs_of})):
    own = [i for i, pair in enumerate(pairs_of) if pair[1] == d]
    x = [pairs_of[i][0] for i in own]
    style = {"fmt": look["marker"], "color": look["color"], "label": f"$d = {d}$"}
    ax.errorbar(x, lost[own], 2 * lost_error[own], **style)
ax.set(xlabel="targets $m$", ylabel="facts lost by chance")
ax.legend()
figure

# %% tags=["hide-input"]
information = costs / lost_error**2
slope = float(information @ lost / (information @ costs))
check(
    "beyond-uneven-answers",
    "facts that random answers cost, against answers in turn, over $c(m)(m-1)$: "
    f"weighted mean of {len(costs)} sizes up to the corner",
    kind="stored simulation",
    measured=slope,
    predicted=1,
    tolerance=4 / math.sqrt(information @ costs),
    falsehood=("unequal answers cost nothing", 0),
    limits="the shares are taken to second order and the dimension of the keys for "
    "large; costs that differ by less than a third are not told apart",
    axis="facts lost, measured over predicted",
)

# %% [markdown]
# {numref}`fig-facts-uneven` compares.
# The cost is a fixed number of facts and does not grow with the dimension of the keys.
# At the corner it is the share $c(d)\, \delta(d)/d$ of all facts, nine per cent at $d = 12$ and 1.4 per cent at a thousand.
# So the law is right in the limit, and it is approached slowly.
#
# Facts of the world have answers of very different frequency, and there {eq}`eq-facts-uneven` is no small correction: a few answers that many facts share leave less room than the vocabulary promises.
#
# Beyond the corner targets are not free any more, and a matrix cannot treat them as it likes.
# There something else matters, which {doc}`finite_size_scaling` has found for the paper's pairs: Gaussian targets differ in length, and long ones are strong competitors of all keys.
# The dotted lines of {numref}`fig-facts-curve` have that cost.
# The verdicts lie between it and the law, since keys that are shared by all targets give something back.
#
# ## Matrices that are not square
#
# By the law the shape of the matrix does not matter beyond the corner, only the product $d_{\mathrm{in}} d_{\mathrm{out}}$.
# Here are shapes of 144 entries with 20 targets, which are answers in turn.

# %% tags=["hide-input"]
shapes = sorted(size[:2] for size in places if size[2] == 20)
shaped = [places[(*shape, 20, 1, 1)] for shape in shapes]
lengths = [144 / (statistical_dimension(20) + length_cost(20, b)) for _, b in shapes]
Table(
    {
        "$d_{\\mathrm{in}}$": [str(a) for a, _ in shapes],
        "$d_{\\mathrm{out}}$": [str(b) for _, b in shapes],
        "facts at one half": [p.half for p in shaped],
        "standard error": [p.error for p in shaped],
        "law": [p.predicted for p in shaped],
        "law, unequal lengths": lengths,
    },
    {"standard error": ".1g", "facts at one half": ".1f", "law": ".1f"}
    | {"law, unequal lengths": ".1f"},
)

# %% [markdown]
# The narrower the output is, the more the lengths of targets differ, and the law does not know of this.
# In the extreme it fails altogether.
# A target that lies among others, inside their convex hull, is never the first for any key.
# Of 48 Gaussian targets in four dimensions about half are hidden in this way, and no matrix whatever retrieves facts that have them for answers.
#
# ## How sharp it is
#
# The law also has a width: the number of facts at which an instance stops being retrievable has the standard deviation $\sqrt{n \operatorname{Var} M}/\delta(m)$.
# That is a few facts, about as many as the square root of $n$ or fewer, so that the transition looks sharper the larger the matrix is.
# Counts around one half tell their own width, which is compared with it here, on average over all sizes up to the corner.

# %% tags=["hide-input"]
near = {s: p for s, p in places.items() if s[2] <= s[1] + 1 and s[3] == 1}
weights = np.array([1 / p.stretch_error**2 for p in near.values()])
stretches = np.array([p.stretch for p in near.values()])
mean_stretch = float(weights @ stretches / weights.sum())
roots = [math.sqrt(p.predicted) / fit_width(*s[:3]) for s, p in near.items()]
root = weights @ np.array(roots) / weights.sum()
check(
    "beyond-width-of-facts",
    f"width of the transition over the predicted one, mean over {len(near)} sizes",
    kind="stored simulation",
    measured=mean_stretch,
    predicted=1,
    tolerance=4 / math.sqrt(weights.sum()) + 0.05,
    falsehood=("a standard deviation of $\\sqrt n$ facts", float(root)),
    limits="the width is taken to be near the predicted one before counts are seen, "
    "with a standard deviation of a quarter",
    axis="measured over predicted width",
)

# %% [markdown]
# ## Bits per parameter
#
# A fact names one of $m$ answers, which is $\log_2 m$ bits, and it asks for $\delta(m)$ numbers.
# So at the threshold a matrix holds
#
# $$
# \frac{\log_2 m}{\delta(m)} \text{ bits}
# $$ (eq-facts-bits)
#
# for each of the $d_{\mathrm{in}} \min(d_{\mathrm{out}}, m-1)$ numbers that count.
# A perceptron has 2.
# Since $\delta(m)$ is below $2 \log m$, the value is above $1/(2 \log 2) = 0.72$, and it falls so slowly that it is still 0.89 at $10^{12}$ targets.
#
# Language models have been found to hold about 2 bits of knowledge per parameter, when they see each made-up fact often enough {cite:p}`allenzhu2025physics`.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-facts-bits", "caption": "Bits per parameter at the threshold, against the number of targets. Line: the law. Points: certified half points of square matrices beyond the corner and of answers in turn. Dashed: the limit $1/(2 \\log 2)$. Dotted: what has been reported for language models that were trained on made-up facts."}, "image": {"alt": "A line that falls from two at two targets over 1.2 at a thousand and 1.1 at fifty thousand to 0.9 at ten to the twelfth, far above a dashed line at 0.72, with points along its left part; a dotted line at two touches it at its left end only."}}
figure, ax = panels(height=3.2, width=6.4)
targets = np.geomspace(2, 1e12, 200)
ax.plot(targets, bits_per_parameter(targets), color=plot.ANY_MEMORY, label="law")
for size, p in places.items():
    if size[0] == size[1] and size[3] == 1 and (size[4] or size[2] > size[1] + 1):
        each = math.log2(size[2]) / (size[0] * min(size[1], size[2] - 1))
        ax.errorbar(
            size[2],
            p.half * each,
            2 * p.error * each,
            fmt="o",
            color=plot.ANY_MEMORY,
            ms=4,
        )
ax.axhline(LIMITING_BITS, ls="--", lw=1, color=plot.LIMIT, label="limit 0.72")
ax.axhline(2, ls=":", lw=1.5, color=plot.CROSS_ENTROPY, label="language models")
ax.axvline(50257, lw=0.6, color=plot.LIMIT)
ax.annotate("50 257 tokens", (50257, 1.6), xytext=(4, 0), textcoords="offset points")
ax.set(xscale="log", xlabel="targets $m$", ylabel="bits per parameter", ylim=(0, 2.3))
ax.legend()
figure

# %% tags=["hide-input"]
beyond = {
    s: p for s, p in places.items() if s[0] == s[1] == 24 and s[3] == 1 and s[2] > 24
}
rates = [
    math.log2(s[2]) * p.half / (s[0] * min(s[1], s[2] - 1)) for s, p in beyond.items()
]
rules = [float(bits_per_parameter(s[2])) for s in beyond]
check(
    "beyond-bits-per-parameter",
    "bits per parameter at certified half points, $d = 24$",
    kind="stored simulation",
    measured=rates,
    predicted=rules,
    tolerance=[
        rule * (4 * p.ratio_error + 0.08)
        for rule, p in zip(rules, beyond.values(), strict=True)
    ],
    falsehood=("two bits for any vocabulary", 2),
    limits="the tolerance has 8 % for unequal answers and lengths in small dimensions",
    axis="bits per parameter",
    each=[f"$m = {s[2]}$" + (", in turn" if s[4] else "") for s in beyond],
)

# %% [markdown]
# The two numbers are of one size, and that is all that should be read into them.
#
# - The 2 bits are for a whole network, in which attention, embeddings and several layers share the work. Ours are for one matrix, with keys and targets given for free.
# - The facts of those experiments have structure that a network can use, and answers of several tokens. Ours are independent, and unequal frequencies would cost something.
# - Our number counts the answers that a matrix *could* hold at all, just at the threshold, where no margin is left. Theirs is what training finds.
#
# What one can say is that a single linear map, at its best, does not come to two bits with a vocabulary of realistic size, and comes to more than half of it.

# %% [markdown]
# ## Limits
#
# - Cover's count is a theorem. The law {eq}`eq-facts-fit` is a calculation for independent score directions; up to the corner it is the leading order of a mean-field calculation for large $d_{\mathrm{in}}$, which is derived and not proved, and beyond the corner nothing is derived here.
# - The stored verdicts have dimensions of 12 and 24, {glue:text}`facts-proved` of them proved one way or the other and {glue:text}`facts-undecided` undecided. In such small dimensions answers in turn fit a few per cent above the law. With 400 targets in 12 dimensions a sixth fewer facts fit: lengths differ, and a few targets are hidden among the others.
# - $c(m)$ is the second order of an expansion in the deviations of the shares. At shares as unequal as 0.6 and four times 0.1 it predicts twice the loss that the whole saddle point has.
# - It is for $m \le d_{\mathrm{out}} + 1$. How much of it survives when targets are many more than dimensions has not been computed.
# - Real keys and targets are not Gaussian, and true facts have structure; the law is a forecast for vectors about which nothing is known.
#
# ## Exercises
#
# ```{exercise} Three targets
# :label: ex-facts-three
#
# Show that $\delta(3) = \frac56$, so that $2.4\, d_{\mathrm{in}}$ facts fit with three targets.
# Take the mean number of competitors that are pooled with the signal, and use that three independent normal numbers, less their mean, point in a uniformly random direction of a plane.
# ```
#
# ```{solution} ex-facts-three
# :class: dropdown
#
# In that plane the scores in which the first is the largest are a wedge of 120 degrees.
# A random direction lies inside with probability $\frac13$, and nothing is pooled.
# It lies opposite, in the wedge of 60 degrees that makes right angles with both sides, with probability $\frac16$; then all three scores are pooled, and $M = 2$.
# With the remaining probability $\frac12$ one side of the wedge is the closest, and $M = 1$.
# So $\delta(3) = \frac12 + 2 \cdot \frac16 = \frac56$, and $n = 2\, d_{\mathrm{in}} / \frac56 = 2.4\, d_{\mathrm{in}}$.
# ```
#
# ```{exercise} Two answers in use
# :label: ex-facts-two-used
#
# Let there be $m \le d_{\mathrm{out}} + 1$ Gaussian targets, of which only the first two are answers.
# Show that all facts are retrievable exactly if a perceptron separates the keys of the first answer from those of the second.
# How many facts fit?
# Compare with $m = 13$ targets that are all in use, at $d_{\mathrm{in}} = 12$.
# ```
#
# ```{solution} ex-facts-two-used
# :class: dropdown
#
# If {eq}`eq-facts-demand` holds, then $w = W^\top (u_1 - u_2)$ separates them.
# The other way round, let $w$ separate them.
# The differences of so few Gaussian targets are independent, so some $W$ gives each key $v$ the scores $w^\top v$ for the first target, $-w^\top v$ for the second, and $0$ for all others, up to a constant.
# One of the first two scores is positive, and it is the right one.
#
# So $2\, d_{\mathrm{in}} = 24$ facts fit, by {prf:ref}`thm-facts-cover`.
# With all targets in use equally often it is 63.
# ```
#
# ```{exercise} A layer of a language model
# :label: ex-facts-layer
#
# The second matrix of a feed-forward layer in a well-known small language model has keys of dimension 3072 and outputs of dimension 768, and the vocabulary has 50 257 tokens.
# How many Gaussian facts would fit into that matrix, and how many bits would it hold for each of its entries?
# How many facts would fit with only ten possible answers, and what would be wasted?
# ```
#
# ```{solution-start} ex-facts-layer
# :class: dropdown
# ```
#
# With 50 257 targets all 2.36 million entries count.
# With ten targets only nine directions of the output are used: $3072 \cdot 9$ numbers, little more than a hundredth of the matrix.
# Each of these numbers holds more bits than before.

# %% tags=["answer"] says="50257 answers: 163298 facts, 1.08 bits an entry\n10 answers: 13879 facts, 0.02 bits an entry"
import math

from assocmem.theory.facts_that_fit import facts_that_fit

d_in, d_out = 3072, 768
for m in (50257, 10):
    n = facts_that_fit(d_in, d_out, m)
    bits = n * math.log2(m) / (d_in * d_out)
    print(f"{m} answers: {n:.0f} facts, {bits:.2f} bits an entry")

# %% [markdown]
# ```{solution-end}
# ```
#
# ## Try
#
# A larger vocabulary, or another shape, for the instance that is decided above:
#
# ```
# python -m assocmem run perceptron_to_memory -p m 200 -p d_out 12 --out runs/facts
# ```
#
# The forecast for a matrix of your own, and the number of facts that fit with a probability of 99 per cent:
#
# ```python
# from assocmem.theory.facts_that_fit import facts_at, facts_that_fit
#
# print(facts_that_fit(d_in=300, d_out=64, m=1000))
# print(facts_at(0.99, d_in=300, d_out=64, m=1000))
# ```
