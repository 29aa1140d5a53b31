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
# # The correlation matrix memory
#
# The oldest way to store pairs in a matrix is to add up their outer products {cite:p}`kohonen1972correlation`,
#
# $$
# W_{\CMM} = U V^\top = \sum_{k=1}^n u_k v_k^\top ,
# $$ (eq-cmm)
#
# and it is the memory against which every other one in this book is measured.
# Shown the key $v_i$, it answers with $u_i \norm{v_i}^2$ plus the cross-talk of all other pairs.
# How much cross-talk is too much?
# This section takes one score column apart exactly, puts the columns together, and finds two numbers:
# $d^2 = 2\, n \log n$ is where a *typical* key starts to be retrieved, $d^2 = 8\, n \log n$ where *every* key is, and it takes
# astronomically many pairs before either is sharp.

# %% tags=["parameters"]
seed = 1  # base seed of every random draw; [0, inf)
sizes = [100, 300, 1000, 2000]  # numbers of pairs n; [3, 1000000]
ratios = [4.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 16.0]  # d^2/(n log n); [0.1, 100]
trials = 24  # instances of the largest size, more of smaller ones; [2, 1000000]
small_n = 8  # pairs in the test of the exact law; [3, 100]
small_d = 4  # dimension in that test; [2, 100]
samples = 100000  # instances, and draws from the law, in that test; [100, 10000000]
loads = [0.25, 1.0, 4.0]  # loads n/d^2 for the percentiles; (0, 100]
load_d = 60  # dimension for the percentiles; [2, 2000]
keys = 60000  # keys of each load whose percentiles are counted; [100, 10000000]
pair_instances = 24  # instances in which failing pairs are counted; [2, 100000]
picture_ratio = 5.0  # d^2/(n log n) of the memory shown key by key; [0.1, 100]
curve_points = 24  # points of each computed curve; [4, 200]
device = "cpu"  # where scores are computed; {cpu, cuda}

# %% tags=["hide-input"]
import math

import numpy as np
from scipy import integrate, stats

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import (
    ANY_MEMORY,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    Table,
    panels,
    series,
)
from assocmem.experiments.explicit.column_scores import (
    STATISTICS,
    at_quartiles,
    critical_distance,
    distances,
    picture_columns,
    simulated_columns,
)
from assocmem.experiments.explicit.outer_product_memories import (
    dips_and_rises,
    failing_keys,
    percentiles,
)
from assocmem.experiments.explicit.pair_margins import exponent_in_large_dimension
from assocmem.pairs.data import derived_seed, gaussian_pairs
from assocmem.pairs.sizes import dimension_at_ratio, pairs_at_load, top1_ratio
from assocmem.progress import progress
from assocmem.theory import outer_products as cmm
from assocmem.theory.column_variants import column_without_self_noise, first_scores
from assocmem.theory.failing_counts import exact_growth, growth_between
from assocmem.theory.finite_percentiles import percentile_cdf_at_size

plot.use_style()

# %% tags=["requires", "remove-cell"]
from assocmem.pairs.sizes import dimension_at_ratio

lowest = dimension_at_ratio(min(sizes), min(ratios))
enough = f"so large that {min(sizes)} pairs have two dimensions or more"
requires = [("ratios", ratios, lowest >= 2, enough)]

# %% tags=["memory", "remove-cell"]
from assocmem.pairs.sizes import dimension_at_ratio, pairs_at_load, peak_bytes

memory = [
    ("n", max(sizes), lambda n: peak_bytes(n, dimension_at_ratio(n, max(ratios)))),
    ("n", pairs_at_load(max(loads), load_d), lambda n: peak_bytes(n, load_d)),
    ("samples", samples, lambda m: 8 * m * small_n * (2 * small_d + 8)),
]

# %% [markdown]
# ## What is claimed
#
# :::{prf:theorem} Outer products suffice above 8
# :label: thm-cmm
#
# Along any sequence $n, d \to \infty$ with $\liminf d^2/(n \log n) > 8$, the memory {eq}`eq-cmm` ranks every target first with probability tending to one.
# :::
#
# This is [Proposition 1](#proposition-1) of the paper.
# It rests on a description of the scores of one key that is exact at every size, [Lemma 3](#lemma-3):
#
# :::{prf:lemma} Exact law of one score column
# :label: lem-column
#
# Let $n \ge 3$, $d \ge 2$, and let $a \sim \mathcal N(0,1)$, $g \sim \mathcal N(0, I_{n-1})$,
# $\rho_1, \rho_2 \sim \chi(d)/\sqrt d$, $\rho_3 \sim \chi(n-1)/\sqrt n$, $\rho_4 \sim \chi(d-1)/\sqrt d$, $\rho_5 \sim \chi(n-2)/\sqrt n$ be independent.
# The signal score and the $n-1$ competing scores of one key are jointly distributed as
#
# $$
# s_{1,1} = \rho_1 \rho_2 \tau ,
# \qquad
# (s_{2,1}, \dots, s_{n,1}) = \rho_1 \sigma \sqrt n\, \frac{g}{\norm{g}} ,
# $$ (eq-column)
#
# where $\tau = \rho_1 \rho_2 + \rho_3\, a \sqrt n / d$ and
#
# $$
# \sigma^2 = \frac{1}{d} \Bigl( \frac{a \tau}{\sqrt n} + \rho_3 \rho_4^2 \Bigr)^2 + \frac{\tau^2 \rho_5^2}{d} + \frac{n}{d^2}\, \rho_3^2 \rho_4^2 \rho_5^2 .
# $$ (eq-column-scale)
# :::
#
# Given the lengths, the competitors are a uniformly random direction: nothing in one column but six scalars and a point on a sphere.
# When both sizes are large the lengths concentrate and the column becomes the **Gaussian picture**
#
# $$
# s_{i,i} \approx 1 + \sqrt{\alpha}\, Z_i ,
# \qquad
# s_{j,i} \approx \sqrt{\alpha}\, Z_{j,i} ,
# \qquad
# \alpha = n/d^2 ,
# $$ (eq-picture)
#
# with independent standard normal variables ([Remark 6](#remark-6)).

# %% [markdown]
# ## One column, exactly
#
# The lemma can be tested where the Gaussian picture is plainly wrong: a handful of pairs in a handful of dimensions.
# We draw many tiny instances, keep the first column of each score matrix, and set it beside as many draws from {eq}`eq-column`.

# %%
simulated = simulated_columns(small_n, small_d, samples, seed)
exact = cmm.sample_score_column(small_n, small_d, samples, seed=derived_seed(seed, 1))
rng = np.random.default_rng([seed, 2])
gaussian = picture_columns(small_n, small_d, samples, rng)
lacking = column_without_self_noise(
    small_n, small_d, samples, seed=derived_seed(seed, 7)
)

# %% [markdown]
# Five statistics of a column are compared by two-sample Kolmogorov–Smirnov tests: the signal, one competitor, the best competitor, the length of all competitors together, and the margin, which knows how signal and competitors go together.
# With five tests at level 0.1% in all, the two samples of {prf:ref}`lem-column` should pass.
# The Gaussian picture should not, and neither should a law that lacks one term of {eq}`eq-column-scale`, the $\tau^2 \rho_5^2/d$ that the key's own target adds to the scores of the others.

# %%
critical = critical_distance(samples)
Table(
    {
        "statistic": list(STATISTICS),
        "exact law": distances(simulated, exact),
        "one term missing": distances(simulated, lacking),
        "Gaussian picture": distances(simulated, gaussian),
    }
)

# %% tags=["hide-input"]
print(
    f"critical distance {critical:.4f} at n = {small_n}, d = {small_d}, {samples} columns each"
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-column", "caption": "Scores of one key in a tiny memory: histogram of simulated instances, the exact law (line), and the Gaussian picture (dashed). The true scores have a sharper peak and heavier tails, and the signal leans to the right."}, "image": {"alt": "Two histograms, of the signal score and of the best competing score, each with a solid line that follows it and a dashed Gaussian line that does not."}}
figure, axes = panels(2)
curves = (
    (exact, {"ls": "-", "color": OUTER_PRODUCTS, "label": "exact law"}),
    (gaussian, {"ls": "--", "color": INK, "label": "Gaussian picture"}),
)
for ax, name in zip(axes, ["signal", "best competitor"], strict=True):
    values = STATISTICS[name](simulated)
    bins = np.linspace(*np.quantile(values, [0.002, 0.99]), 50)
    look = {"color": OUTER_PRODUCTS, "alpha": 0.25, "label": "simulated"}
    ax.hist(values, bins, density=True, **look)
    for sample, look in curves:
        plot.density_line(ax, STATISTICS[name](sample), bins, **look)
    ax.set(xlabel=f"score of the {name}", ylabel="density", yticks=[])
axes[0].legend()
figure

# %% [markdown]
# The line and the histogram in {numref}`fig-column` are two samples of the same law; the dashed curve is what the limit would say.
# For the ledger, the empirical distribution functions are compared at the quartiles of each statistic.

# %%
check(
    "lemma-3",
    f"distribution functions of five column statistics at quartiles, n = {small_n}, d = {small_d}",
    kind="simulation",
    measured=at_quartiles(simulated, simulated),
    predicted=at_quartiles(exact, simulated),
    tolerance=critical,
    falsehood=(
        "sigma^2 lacks the term tau^2 rho_5^2 / d",
        at_quartiles(lacking, simulated),
    ),
)

# %% [markdown]
# ### Moments
#
# Two exact moments tell how far a finite memory is from the picture.
# Expanding {eq}`eq-cmm` gives means 1 and 0, and
#
# $$
# \operatorname{Var} s_{i,i} = \frac{4}{d} + \frac{n+3}{d^2} ,
# \qquad
# \operatorname{Var} s_{j,i} = \frac{2}{d} + \frac{n+2}{d^2} .
# $$ (eq-moments)
#
# The terms in $1/d$ come from the lengths of $u_i$ and $v_i$ and from the two overlaps $\inprod{u_j, u_i}$ and $\inprod{v_j, v_i}$.
# They are smaller than $\alpha = n/d^2$ by the factor $4d/n$ only, and at $d^2 = 8\,n\log n$ that factor is $4\sqrt{8 \log n / n}$:
# for a thousand pairs it is still 0.94, so the signal fluctuates with *twice* the variance that the picture gives it.

# %%
column = cmm.sample_score_column(400, 40, 20000, seed=derived_seed(seed, 3))
squares = np.stack([(column[:, 0] - 1) ** 2, column[:, 1] ** 2])
Table(
    {
        "score": ["signal", "competitor"],
        "sampled variance": squares.mean(axis=1),
        "standard error": squares.std(axis=1) / math.sqrt(len(column)),
        "exact variance": [
            cmm.signal_variance(400, 40),
            cmm.competitor_variance(400, 40),
        ],
        "picture, $n/d^2$": [0.25, 0.25],
    },
    {"standard error": ".2g"},
)

# %% [markdown]
# [Remark 6](#remark-6) says that the standardised scores become independent standard normal variables once $d/n \to 0$.
# By the exact law a sample of three scores, the signal and two competitors, costs ten random numbers at any size, so that the limit can be watched: at load one and $d = 1000$ the variances exceed the load by $4/d$ and $2/d$, and allowing that much beside four standard errors leaves little room.
# Correlations of the scores are zero at every size; those of their *squares* say that they are not independent at small sizes, where all competitors share a length.
# The condition matters: with $n = 10\,d$, where $d/n$ does not vanish, the signal has 1.4 times the variance of the picture, however large both are.

# %%
wide_d, size = 1000, 200_000
few, wide = (
    first_scores(m, wide_d, size, seed=derived_seed(seed, 4, m)) / math.sqrt(m) * wide_d
    for m in (10 * wide_d, wide_d**2)
)
variances = wide[:, :2].var(axis=0)
pairs_of = (0, 1), (1, 2)
of_scores = [np.corrcoef(wide.T)[i, j] for i, j in pairs_of]
of_squares = [np.corrcoef((wide - wide.mean(axis=0)).T ** 2)[i, j] for i, j in pairs_of]
noise = 4 / math.sqrt(size)
check(
    "remark-6",
    f"variances of signal and competitor over load, n = d^2, d = {wide_d}",
    kind="simulation",
    measured=variances,
    predicted=[1, 1],
    tolerance=[4 / wide_d + noise * math.sqrt(2), 2 / wide_d + noise * math.sqrt(2)],
    falsehood=(
        "d/n need not vanish: the variances of n = 10 d",
        few[:, :2].var(axis=0),
    ),
    limits="this is a limit: at a finite size the ratios are 1 + 4d/n and 1 + 2d/n, and that of the signal is 2 at n = 1000, d^2 = 8 n log n",
)

# %%
small = first_scores(30**2, 30, size, seed=derived_seed(seed, 4, 30))
check(
    "remark-6",
    f"correlations of signal and competitor, of two competitors, and of their squares, n = d^2, d = {wide_d}",
    kind="simulation",
    measured=[*of_scores, *of_squares],
    predicted=0,
    tolerance=[noise, noise, noise + 4 / wide_d, noise + 4 / wide_d],
    falsehood=(
        "squares stay correlated as at d = 30",
        [
            0,
            0,
            *(
                np.corrcoef((small - small.mean(axis=0)).T ** 2)[i, j]
                for i, j in pairs_of
            ),
        ],
    ),
    limits="only correlations of scores and of squares are looked at; other dependence could have gone unnoticed",
)

# %% [markdown]
# ## Why 8, when a typical key needs 2
#
# Measure everything in units of $\sqrt{\alpha \log n}$: let a signal *dip* by $x$ of them below 1, and its best competitor *rise* by $y$ above 0.
# The key fails when $x + y > \sqrt{c}$ with $c = d^2/(n \log n)$, since that is how far apart 1 and 0 are.
#
# In the Gaussian picture a dip of $x$ has probability $n^{-x^2/2}$, and so has a rise of one given competitor.
# Among $n$ keys and $n^2$ pairs, the ones with a dip beyond $x$ and a rise beyond $y$ number about
#
# $$
# n^{\,2 - (x^2 + y^2)/2} \quad \text{pairs,} \qquad \text{and they exist only where} \qquad n^{\,1 - x^2/2} \ge 1 .
# $$ (eq-count)
#
# - A typical key has no dip, and the best of its competitors rises to $y = \sqrt 2$: it is retrieved once $\sqrt c > \sqrt 2$, that is $c > 2$.
# - The pairs that occur anywhere fill what $|x| \le \sqrt 2$ leaves of the disc $x^2 + y^2 < 4$. The line $x + y = \sqrt c$ leaves it at $c = 8$, at the corner $x = y = \sqrt 2$.

# %%
n = max(sizes)
d = dimension_at_ratio(n, picture_ratio)
pairs = gaussian_pairs(n, d, seed=derived_seed(seed, 5), device=device)
dip, rise = dips_and_rises(pairs)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-plane", "caption": "Each dot is a key of one memory: how far its signal dips below 1, and how far its best competitor rises above 0, in units of sqrt(load log n). Dots above the dashed line fail. Shaded, where pairs of a key and a competitor occur as n grows; the line for 2 passes the typical key, the line for 8 touches the corner where the worst key of all meets an ordinary best competitor."}, "image": {"alt": "A cloud of dots around dip 0 and rise 1.4, most of them inside a shaded half disc that is cut at a dip of plus and minus the square root of 2, with three parallel slanted lines."}}
figure, ax = panels(width=5.6, height=4.6)
angle = np.linspace(0, np.pi, 200)
inside = np.abs(2 * np.cos(angle)) <= math.sqrt(2)
edge = 2 * np.cos(angle[inside]), 2 * np.sin(angle[inside])
ax.fill_between(*edge, color=LIMIT, alpha=0.18, lw=0, label="pairs, large $n$")
look = {"ms": 2.5, "color": OUTER_PRODUCTS, "alpha": 0.6}
ax.plot(dip, rise, ".", label=f"keys, $n={n}$, $d={d}$", **look)
x = np.linspace(-1.6, 2.4, 2)
for c, color, style in (
    (2, ANY_MEMORY, "-"),
    (8, OUTER_PRODUCTS, "-"),
    (d**2 / (n * math.log(n)), INK, "--"),
):
    ax.plot(
        x, math.sqrt(c) - x, style, color=color, label=f"$d^2/(n\\,\\log n) = {c:.3g}$"
    )
ax.plot([0, math.sqrt(2)], [math.sqrt(2)] * 2, "+", color=INK, ms=9)
ax.set(
    xlim=(-1.6, 2.4),
    ylim=(0, 3.4),
    xlabel="dip of the signal",
    ylabel="rise of the best competitor",
)
ax.legend(loc="lower left", fontsize=8)
figure

# %% [markdown]
# {numref}`fig-plane` also shows something that the usual account of the constant 8 hides.
# The touching point has $x = \sqrt 2$, the largest dip that one of $n$ signals makes, and $y = \sqrt 2$, the rise that *every* key's best competitor makes.
# So the key that fails last is the one with the lowest signal, beaten by a perfectly ordinary rival, and counting key by key, with each signal drawn only once, gives 8 as well:
# $1 - \sqrt{2 \alpha \log n} > \sqrt{2 \alpha \log n}$ is $d^2 > 8\,n \log n$.
# A union bound over all $n^2$ pairs is therefore not as wasteful as it may seem.
# Of the failing pairs near the touching point it counts the half with $x > \sqrt 2$ too often: they come in bunches, many rivals of one exceptional key.
# So at the transition it is too large by a factor of two, and no more.
# What outer products waste is not in the proof; it is in the memory.
# (The paper says that the 8 comes from the count over pairs, which is one of its {doc}`errata <../errata>`.)
# The proof itself is half a page: {ref}`proof-eight`.

# %% [markdown]
# ## All keys at once
#
# Let $p(n, d)$ be the probability that one key fails.
# It follows from {prf:ref}`lem-column` without simulating a single vector: six scalars are integrated, and the maximum of a random direction is a beta integral.
# By the union bound over *keys* all are retrieved with probability at least $1 - n\,p$; if failures are as rare and as scattered as they look, with probability
#
# $$
# \P(\text{all retrieved}) \approx e^{-n\,p(n, d)} .
# $$ (eq-poisson)
#
# The paper's account replaces $n\,p$ by a union bound over pairs in the Gaussian picture, $n^2 e^{-d^2/4n}$ ([equation](#equation-cmm-eight-heuristic)).
# Neither has a free constant, so both can be put beside simulated memories.

# %%
grid = sorted({(n, dimension_at_ratio(n, c)) for n in sizes for c in ratios})
repeats = {n: trials * min(10, max(sizes) // n) for n in sizes}
failed = {point: [] for point in grid}
runs = [(n, d, t) for n, d in grid for t in range(repeats[n])]
for n, d, t in progress(runs, "memories"):
    instance = derived_seed(seed, n, d, t)
    pairs = gaussian_pairs(n, d, seed=instance, device=device)
    failed[n, d].append(failing_keys(pairs))

# %%
reached = np.array([top1_ratio(n, d) for n, d in grid])
number = np.array([len(failed[point]) for point in grid])
successes = np.array([np.sum(np.equal(failed[point], 0)) for point in grid])
expected = np.array([n * cmm.query_failure(n, d).value for n, d in grid])

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-success", "caption": "Probability that outer products retrieve all pairs. Points: simulated memories with 95% intervals. Solid: the exact one-column law. Dotted: one minus the union bound over pairs in the Gaussian picture, for the smallest and the largest n; the smaller the memory, the more it promises too much."}, "image": {"alt": "Rising curves of success probability against d squared over n log n for several n, steeper and further left for larger n, with points on the solid curves and dotted curves far to their left."}}
figure, ax = panels(height=3.8)
dense = np.linspace(min(ratios), max(ratios), curve_points)
for n, look in series(sizes):
    color = look["color"]
    here = np.array([point[0] == n for point in grid])
    plot.proportions(
        ax, reached[here], successes[here], number[here], label=f"$n={n}$", **look
    )
    dims = sorted({dimension_at_ratio(n, c) for c in dense})
    law = [math.exp(-n * cmm.query_failure(n, d, replicates=2).value) for d in dims]
    ax.plot([top1_ratio(n, d) for d in dims], law, color=color)
    if n in (sizes[0], sizes[-1]):
        bound = np.exp([min(0.0, cmm.log_pair_bound(math.log(n), c)) for c in dense])
        ax.plot(dense, 1 - bound, ":", color=color)
ax.axvline(8, color=LIMIT, lw=1)
ax.set(
    xlabel="$d^2/(n\\,\\log n)$",
    ylabel="probability that all are retrieved",
    ylim=(-0.03, 1.03),
)
ax.legend(loc="lower right")
figure

# %% [markdown]
# The solid curves of {numref}`fig-success` pass through the points: whether a memory succeeds behaves as if its keys failed independently, each with the probability that the one-column law gives.
# The check compares every simulated probability with {eq}`eq-poisson`, within a binomial band of level 0.1% over all of them and one trial.

# %%
half = {n: cmm.exact_half_success_ratio(n) for n in (100, 1000)}
poisson = np.exp(-expected)
width = stats.norm.isf(0.0005 / len(grid))
check(
    "proposition-1",
    f"probability that all are retrieved at {len(grid)} sizes, {number.sum()} memories",
    kind="simulation",
    measured=successes / number,
    predicted=poisson,
    tolerance=width * np.sqrt(poisson * (1 - poisson) / number) + 1 / number,
    falsehood=(
        "three quarters of the ratio are enough, constant 6 in place of 8",
        np.exp(
            [
                -n * cmm.query_failure(n, round(d * math.sqrt(8 / 6))).value
                for n, d in grid
            ]
        ),
    ),
    limits=f"half of all memories succeed at {half[1000]:.1f} for n = 1000, {half[100]:.1f} for n = 100; a constant of 7 is barely told from 8 by shares of successes",
)

# %% [markdown]
# The number of failing keys carries more information than whether there is any, and reaches to ratios where no memory ever succeeds.

# %%
shown = [i for i in range(len(grid)) if expected[i] * number[i] > 1][
    :: max(1, len(ratios) // 3)
]
count = {i: np.array(failed[grid[i]]) for i in shown}
Table(
    {
        "$n$": [str(grid[i][0]) for i in shown],
        "$d$": [str(grid[i][1]) for i in shown],
        "$d^2/(n \\log n)$": [f"{reached[i]:.2f}" for i in shown],
        "failing keys": [count[i].mean() for i in shown],
        "standard error": [count[i].std() / math.sqrt(number[i]) for i in shown],
        "exact law, $n\\,p$": expected[shown],
        "union over pairs": [
            math.exp(cmm.log_pair_bound(math.log(grid[i][0]), reached[i]))
            for i in shown
        ],
    },
    {"standard error": ".2g"},
)

# %% [markdown]
# The last column is no bound at all where it drops below the one before it.
# In the Gaussian picture it is a bound, at every $n$ and every ratio, since $\Phi(-x) \le e^{-x^2/2}$.
# The lengths of the vectors, which the picture sets to 1, cost a real memory more.
# At $d^2 = 10\,n\log n$ the exact law crosses under the bound only near $n = 10^4$.
#
# What can be measured is the law of one pair that the bound is made of: a margin is $1 + \sqrt{2\alpha}\, G$, and negative with a probability of logarithm $-1/(4\alpha)$.
# The share of all pairs that fail in an instance, read as a normal tail, gives an exponent in units of $1/(4\alpha)$.
# At dimension $d$ the lengths add $6/d$ to the variance $2\alpha$, so that it comes to 1 like $1/d$; instances in two dimensions are continued to infinite $d$.

# %%
pair_law = {
    load: exponent_in_large_dimension(
        load, d, [derived_seed(seed, 8, d, t) % 2**40 for t in range(pair_instances)]
    )
    for load, d in ((0.25, 40), (0.1, 60))
}
real = 1000 * cmm.query_failure(1000, dimension_at_ratio(1000, 10)).value
excess = real / math.exp(cmm.log_pair_bound(math.log(1000), 10))
check(
    "equation-cmm-eight-heuristic",
    f"exponent of failing pairs over 1/(4 load), continued to large d, loads {list(pair_law)}",
    kind="simulation",
    measured=[value for value, *_ in pair_law.values()],
    predicted=1,
    tolerance=[4 * error + 2 * more for _, error, more in pair_law.values()],
    falsehood=("the exponent is 1/(5 load), constant 10 in place of 8", 0.8),
    limits=f"this is the leading order for large d: 1000 real pairs at ratio 10 fail {excess:.1f} times as often as the union bound says",
)

# %% [markdown]
# ## How slowly it sharpens
#
# Where is success as likely as not?
# In the Gaussian picture the answer can be expanded.
# With $s^2 = 1/\alpha = c \log n$, the union bound over pairs is $n^2 \cdot \tfrac12 \operatorname{erfc}(s/2) \simeq n^2 e^{-s^2/4}/(\sqrt\pi\, s)$, half of it counts further rivals of a key that has failed already, and setting what is left to $\log 2$ gives
#
# $$
# c_{1/2}(n) = 8 - \frac{2 \log\log n + 4 \log\bigl(4 \sqrt{2\pi}\, \log 2\bigr)}{\log n} + o\Bigl(\frac{1}{\log n}\Bigr) .
# $$ (eq-cmm-half)
#
# The constant 8 is approached *from below* and no faster than $2 \log\log n / \log n$; success turns from 5% to 95% over a stretch of $16/\log n$.

# %%
log_n = np.concatenate(
    [np.log([1e2, 1e3, 1e4, 1e6, 1e9, 1e12]), np.array([20.0, 50, 100]) * math.log(10)]
)
picture = [cmm.half_success_ratio(x) for x in log_n]
exact_n = [round(math.exp(x)) for x in log_n if x < 30]
exact_half = [cmm.exact_half_success_ratio(m) for m in progress(exact_n, "exact law")]
Table(
    {
        "$n$": [f"$10^{{{x / math.log(10):.0f}}}$" for x in log_n],
        "exact law": [f"{x:.2f}" for x in exact_half]
        + ["as the picture"] * (len(log_n) - len(exact_half)),
        "Gaussian picture": picture,
        "expansion": [cmm.half_success_expansion(x) for x in log_n],
    },
    {"Gaussian picture": ".3f", "expansion": ".3f"},
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-half", "caption": "The ratio at which half of all memories retrieve everything. Finite dimension pushes it above 8 for small n; it falls below 8 near n = 5000, is lowest near a million, and then climbs back so slowly that it is at 7.9 for 10^100 pairs."}, "image": {"alt": "Exact law falling from 13 at n = 100 to a minimum of 7.2, Gaussian picture rising from 6 towards 8 on an axis that reaches 10 to the power 100."}}
figure, ax = panels(height=3.5)
digits = np.linspace(2, 100, 80)
few = np.unique(np.round(np.logspace(2, 12, curve_points)).astype(int))
half_exact = [cmm.exact_half_success_ratio(int(m)) for m in few]
half_picture = [cmm.half_success_ratio(x * math.log(10)) for x in digits]
half_expanded = cmm.half_success_expansion(digits * math.log(10))
ax.plot(np.log10(few), half_exact, color=OUTER_PRODUCTS, label="exact law")
ax.plot(digits, half_picture, "--", color=INK, label="Gaussian picture")
ax.plot(digits, half_expanded, ":", color=INK, label="two-term expansion")
ax.axhline(8, color=LIMIT, lw=1)
ax.set(xscale="log", xlabel="decimal digits of $n$", ylim=(5.5, 14))
ax.set_ylabel("$d^2/(n\\,\\log n)$ for success 1/2")
ax.set_xticks([2, 3, 6, 12, 25, 50, 100], ["2", "3", "6", "12", "25", "50", "100"])
ax.minorticks_off()
ax.legend()
figure

# %% [markdown]
# {numref}`fig-half` is the answer to whether a simulation could have found the 8: it could not.
#
# ## Above 8, and below
#
# What the constant decides is whether the expected number $n\,p$ of failing keys falls or grows with $n$ at a fixed ratio $c$.
# By {numref}`fig-plane` the keys that fail are those whose signal dips by $\sqrt c - \sqrt 2$, as long as such dips occur, and beyond $c = 8$ a competitor has to be lucky as well:
#
# $$
# n\,p \approx \frac{n^{\theta(c)}}{\sqrt{\log n}} ,
# \qquad
# \theta(c) = 1 - \tfrac12 \bigl(\sqrt c - \sqrt 2\bigr)^2 \ \ (2 \le c \le 8) ,
# \qquad
# \theta(c) = 2 - \tfrac c4 \ \ (c \ge 8) ,
# $$ (eq-theta)
#
# up to a constant.
# The power is negative above 8, and then all keys are retrieved with probability at least $1 - n\,p \to 1$.
# It is positive below 8, and then more and more keys are expected to fail.
# The paper says in one clause that 8 cannot be improved for outer products, and gives no proof ([the claim](#claim-outer-products-not-below-8)).
# What follows is no proof either.
# The *expected* number of failures grows, but they might crowd into few memories; were the signals independent, they would not.
# The exact law of one column says what the power is between $10^{10}$ and $10^{13}$ pairs.

# %%
few, many = 10**10, 10**13
above, below = (8.5, 9.0, 10.0, 12.0), (6.0, 6.5, 7.0, 7.5)
powers = {
    c: exact_growth(few, many, c) for c in progress((*below, *above), "exact law")
}
Table(
    {
        "$d^2/(n \\log n)$": list(powers),
        "power of $n$, exact law": list(powers.values()),
        "leading terms": [growth_between(few, many, c) for c in powers],
        "with the constant 7.5": [growth_between(few, many, c, 7.5) for c in powers],
    },
    {"$d^2/(n \\log n)$": "g"},
)

# %%
check(
    "proposition-1",
    f"power of n in the expected number of failing keys, exact law, n = 1e10 to 1e13, ratios {above}",
    kind="asymptotic arithmetic",
    measured=[powers[c] for c in above],
    predicted=[growth_between(few, many, c) for c in above],
    tolerance=0.02,
    falsehood=(
        "the constant is 7.5",
        [growth_between(few, many, c, 7.5) for c in above],
    ),
    limits="the exact law of one key, at sizes that no instance has; half of all memories succeed at 7.5 for n = 1e12",
)

# %% [markdown]
# The tolerance, here and below, is a few times $1/(\log n)^2$, where the next terms are.

# %%
check(
    "claim-outer-products-not-below-8",
    f"power of n in the expected number of failing keys, exact law, n = 1e10 to 1e13, ratios {below}",
    kind="asymptotic arithmetic",
    measured=[powers[c] for c in below],
    predicted=[growth_between(few, many, c) for c in below],
    tolerance=0.02,
    falsehood=(
        "the constant is 7.5",
        [growth_between(few, many, c, 7.5) for c in below],
    ),
    limits="these are expected numbers, at sizes that no instance has: failures might crowd into few memories; the paper states the claim and does not prove it",
)

# %% [markdown]
# At sizes that exist it is only the law itself that can be tested below 8: the mean number of failing keys in the simulated memories, against the exact law, and against what it would be if seven eighths of the ratio did.

# %%
low = [
    i
    for i, (n, d) in enumerate(grid)
    if reached[i] < 8 and expected[i] * number[i] > 30
]
counted = np.array([np.mean(failed[grid[i]]) for i in low])
spread = [np.std(failed[grid[i]], ddof=1) / math.sqrt(number[i]) for i in low]
eased = [
    n * cmm.query_failure(n, round(d * math.sqrt(8 / 7))).value
    for n, d in (grid[i] for i in low)
]
check(
    "claim-outer-products-not-below-8",
    f"log of the mean number of failing keys at {len(low)} sizes with ratios below 8",
    kind="simulation",
    measured=np.log(counted),
    predicted=np.log(expected[low]),
    tolerance=4 * np.array(spread) / counted + 0.02,
    falsehood=("the constant is 7: as at 8/7 of the ratio", np.log(eased)),
    limits="this tests the law of one key and not the constant: memories of these sizes fail above 8 as well",
)

# %% [markdown]
# ## Percentiles: what is left at constant load
#
# With $n/d^2 \to \alpha$ there is no hope of ranking first, but the target still beats most competitors.
# Its *percentile* $\Omega_i$, the share of competitors at or below it, has in the Gaussian picture the value $\Phi(Z_i + \alpha^{-1/2})$, so its distribution function is
#
# $$
# F_\alpha(\omega) = \Phi\bigl(\Phi^{-1}(\omega) - \alpha^{-1/2}\bigr) ,
# \qquad
# \E\, \Omega = \Phi\bigl(1/\sqrt{2\alpha}\bigr) .
# $$ (eq-percentile)
#
# To find the density, write $x = \Phi^{-1}(\omega)$, so that $\mathrm d\omega = \varphi(x)\,\mathrm d x$:
#
# $$
# f_\alpha(\omega) = \frac{\varphi(x - \alpha^{-1/2})}{\varphi(x)} = \exp\Bigl(\frac{\Phi^{-1}(\omega)}{\sqrt\alpha} - \frac{1}{2\alpha}\Bigr) ,
# $$ (eq-percentile-density)
#
# which is the formula of the paper: a likelihood ratio, as it must be, since $\omega$ is the level at which a test would tell the signal from a competitor.

# %%
numbers = {load: pairs_at_load(load, load_d) for load in loads}
measured = {
    load: np.concatenate(
        [
            percentiles(m, load_d, seed=derived_seed(seed, 6, m, t), device=device)
            for t in range(max(1, keys // m))
        ]
    )
    for load, m in numbers.items()
}

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-percentile", "caption": "Percentile of the signal among its competitors. Left: distribution functions, simulated (steps) and predicted (lines). Right: densities, simulated (steps) and predicted (lines). As the load grows the target sinks into the crowd, and the law tends to the uniform one."}, "image": {"alt": "Left, distribution functions that hug the right edge for load 0.25 and approach the diagonal for load 4, simulated steps on predicted lines. Right, the densities."}}
figure, (left, right) = panels(2)
omega = np.linspace(0, 1, 400)
for (load, values), look in series(measured.items()):
    color = look["color"]
    left.ecdf(values, color=color, alpha=0.5, lw=3)
    left.plot(
        omega,
        cmm.percentile_cdf(omega, load),
        lw=1,
        markevery=40,
        label=f"load {load:g}",
        **look,
    )
    right.hist(
        values, 25, range=(0, 1), density=True, color=color, alpha=0.5, histtype="step"
    )
    right.plot(omega[1:-1], cmm.percentile_pdf(omega[1:-1], load), color=color)
left.set(xlabel="percentile $\\omega$", ylabel="$F_\\alpha(\\omega)$")
right.set(xlabel="percentile $\\omega$", ylabel="$f_\\alpha(\\omega)$", ylim=(0, 6))
left.legend()
figure

# %% [markdown]
# The mean says the same in one number.

# %%
Table(
    {
        "load": loads,
        "mean percentile": [v.mean() for v in measured.values()],
        "standard error": [v.std() / math.sqrt(len(v)) for v in measured.values()],
        "predicted": [cmm.percentile_mean(load) for load in loads],
    },
    {"load": "g", "standard error": ".2g"},
)

# %% [markdown]
# A finite memory departs from {eq}`eq-percentile` because its variances are those of {eq}`eq-moments` and not $\alpha$.
# With them in the same formula the agreement is within a Kolmogorov–Smirnov band of level 0.1% in all, and $0.6/d$ for scores that are not quite normal: a signal leans to the right.
# (The band is that of independent keys; keys of one memory share its matrix, which at these sizes does not show.)

# %%
points = np.array([0.5, 0.8, 0.95])
number_of_keys = np.array([len(v) for v in measured.values()])
band = np.sqrt(math.log(2 * len(loads) / 0.001) / (2 * number_of_keys))
check(
    "equation-percentile-copula",
    f"distribution functions at {points.tolist()}, loads {loads}, d = {load_d}",
    kind="simulation",
    measured=np.ravel([[np.mean(v <= w) for w in points] for v in measured.values()]),
    predicted=np.ravel(
        [percentile_cdf_at_size(points, numbers[load], load_d) for load in loads]
    ),
    tolerance=np.repeat(band, len(points)) + 0.6 / load_d,
    falsehood=(
        "the variance is 1.5 n/d^2",
        np.ravel([cmm.percentile_cdf(points, 1.5 * load) for load in loads]),
    ),
    limits="the law is compared with the variances of a finite memory, which exceed the load by 4/d and 2/d; scores are not quite normal at this d, so that a variance of 1.2 n/d^2 is not told apart",
)

# %% [markdown]
# The density is the paper's second formula.
# Two integrals over it are known without it: its mass up to a level, which is $F_\alpha$, and its mean, which is the probability that one competitor is below one signal, $\Phi(1/\sqrt{2\alpha})$.

# %%
level = 0.9
mass, mean = (
    [
        integrate.quad(
            lambda w, k=k, load=load: w**k * cmm.percentile_pdf(w, load), 0, top
        )[0]
        for load in loads
    ]
    for k, top in ((0, level), (1, 1))
)
check(
    "equation-percentile-copula",
    f"integrals of the density, up to {level} and of the percentile, loads {loads}",
    kind="identity",
    measured=[*mass, *mean],
    predicted=[
        *(cmm.percentile_cdf(level, load) for load in loads),
        *(cmm.percentile_mean(load) for load in loads),
    ],
    tolerance=1e-6,
    falsehood=(
        "the signal does not fluctuate",
        [
            *(float(math.sqrt(1 / load) < stats.norm.ppf(level)) for load in loads),
            *(stats.norm.cdf(1 / math.sqrt(load)) for load in loads),
        ],
    ),
)

# %% [markdown]
# ## Limits
#
# - The one-column law is exact. The step from one key to all keys, {eq}`eq-poisson`, is not proved here; it is what the simulation confirms, and $1 - n\,p$ is a bound in any case.
# - In computing $p$ the largest coordinate of a random direction is exact up to three-point correlations, which cost less than 1% from $n = 60$ on.
# - The Gaussian picture underrates the signal's variance by the factor $1 + 4d/n$. Below a few thousand pairs that moves the transition more than the $\log\log n$ term does, and in the opposite direction.
# - Nothing here says that 8 is the best constant for *some* memory. It is not: the next sections reach 2.
#
# ## Try
#
# More memories, at sizes and ratios of your own, in a folder of your own:
#
# ```
# python -m assocmem run correlation_memory -p trials 200 -p sizes "[500, 4000]" -p ratios "[7, 8, 9]" --out runs/cmm
# ```
#
# The law of one column at the smallest size it allows, `-p small_n 3 -p small_d 2`, where it is nothing like a Gaussian; the percentiles of an almost hopeless memory, `-p loads "[20]"`; and, on a GPU, `--profile paper`.
