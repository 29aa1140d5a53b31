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
# # The dual certificate
#
# That something exists is shown by showing it.
# How does one show that *no* matrix retrieves an instance, among all $d \times d$ matrices?
# By weights under which all its demands cancel.
# This section looks at such weights, checks them in exact arithmetic, and then follows the paper's proof, which writes them down without looking for them, to the sizes where it begins to work.

# %% tags=["parameters"]
seed = 1  # base seed of every random draw; [0, inf)
n = 60  # pairs of the instances taken apart; [6, 300]
below_d = 14  # dimension of the one that is not retrievable; [2, 60]
above_d = 18  # dimension of the one that is; [2, 60]
exact_n = 30  # pairs of the instance checked in exact arithmetic; [4, 60]
exact_d = 9  # its dimension; [2, 16]
hidden_n = 20  # pairs of the instances in which a target may hide; [4, 100]
hidden_d = [4, 5, 6, 7, 8, 10]  # their dimensions; [1, 60]
hidden_instances = 400  # instances at each dimension; [10, 1000000]
array_sizes = [
    300,
    1000,
    3000,
    10000,
]  # pairs in the proof's construction; [100, 1000000]
array_ratios = [0.5, 1.0, 1.5]  # d^2/(n log n) there; (0, 2)
array_instances = 6  # instances of each; [2, 10000]
reach_d = 4  # dimension for the constant of the proof; [1, 10]
reach_sizes = [
    32,
    64,
    128,
    256,
    512,
]  # pairs there, a quarter of them compared with; [12, 2000]
reach_instances = 3  # instances of each; [1, 1000]

# %% tags=["hide-input"]
import math

import numpy as np
import torch

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
from assocmem.deciding import paper_certificate
from assocmem.deciding.certificates import Certificate
from assocmem.deciding.correction import correction
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.deciding.forgeries import largest_negated, nearest_miss
from assocmem.experiments.first_place.comparison_planes import (
    head_to_tail,
    plane_coordinates,
)
from assocmem.experiments.first_place.instance_counts import (
    first_instances,
    share_hiding,
)
from assocmem.experiments.first_place.linear_programs import best_of_program
from assocmem.experiments.first_place.proof_arrays import (
    CONDITIONS,
    array_size,
    onset,
    size_without_overlap,
)
from assocmem.pairs.data import Pairs, derived_seed, gaussian_pairs
from assocmem.pairs.sizes import dimension_at_ratio, top1_ratio
from assocmem.progress import progress

plot.use_style()

# %% tags=["requires", "remove-cell"]
from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.first_place.instance_counts import first_instances
from assocmem.pairs.data import derived_seed, gaussian_pairs


def verdict(n, d):
    """Whether some memory retrieves the first instance of a size."""
    return decide_top1(gaussian_pairs(n, d, seed=seed)).feasible


def occurs(d, feasible):
    """Whether there is such an instance among those that are looked through below."""
    tried = [derived_seed(seed, 1, d, t) for t in range(200)]
    return first_instances(exact_n, d, tried, feasible=feasible, count=1) != []


hopeless = verdict(exact_n, exact_d) is False and occurs(exact_d, False)
requires = [
    (
        "below_d",
        below_d,
        verdict(n, below_d) is False,
        f"a dimension in which no memory retrieves {n} pairs: smaller, or n larger",
    ),
    (
        "above_d",
        above_d,
        verdict(n, above_d) is True,
        f"a dimension in which some memory retrieves {n} pairs: larger, or n smaller",
    ),
    (
        "exact_d",
        exact_d,
        hopeless,
        f"a dimension in which no memory retrieves {exact_n} pairs: smaller, or exact_n larger",
    ),
    (
        "exact_d",
        exact_d,
        not hopeless or occurs(exact_d + 1, True),
        f"one below a dimension in which {exact_n} pairs can be retrieved: larger, or exact_n smaller",
    ),
    (
        "reach_sizes",
        reach_sizes,
        len(set(reach_sizes)) >= 2,
        "two different ones or more",
    ),
]

# %% tags=["memory", "remove-cell"]
from assocmem.deciding.feasibility import decision_bytes
from assocmem.pairs.sizes import dimension_at_ratio, peak_bytes

memory = [
    ("n", n, lambda n: decision_bytes(n, max(below_d, above_d))),
    (
        "array_sizes",
        max(array_sizes),
        lambda n: peak_bytes(n, dimension_at_ratio(n, max(array_ratios))) * 3,
    ),
]

# %% [markdown]
# ## What is claimed
#
# For each key $i$ and each other target $j$ let
#
# $$
# A_{ij} = (u_i - u_j)\, v_i^\top ,
# \qquad
# \inprod{W, A_{ij}} = s_{ii} - s_{ji} .
# $$ (eq-comparison)
#
# A memory retrieves everything exactly if its product with every comparison $A_{ij}$ is positive.
#
# :::{prf:theorem} Weights that cancel
# :label: thm-dual
#
# Some memory has $\inprod{W, A_{ij}} > 0$ for all $i \ne j$, or there are weights $\lambda_{ij} \ge 0$, not all zero, with $\sum_{i \ne j} \lambda_{ij} A_{ij} = 0$, and never both.
# :::
#
# This is Gordan's theorem of 1873.
# That they exclude each other is one line: the product of the sum with $W$ would be zero and positive.
# That one of them always exists is the separation of a point from a convex set, here of zero from the hull of the comparisons.
#
# The impossible half of [Theorem 1](#theorem-1) is proved with two lemmas that construct such weights for large $n$ when $d^2/(n \log n) < 2$.
# With $r = \lfloor n/(\log n)^2 \rfloor$, only the targets $j \le r$ are compared with, and only keys $i > r$ are looked at; $\mathcal A(\lambda)$ is the weighted sum of these comparisons.
#
# :::{prf:lemma} An array that nearly cancels
# :label: lem-dual-array
#
# With probability tending to one there is an array with $\lambda_{ij} \ge 1/(r \log n)$ throughout and $\norm{\mathcal A(\lambda)}_F = o\bigl(n/(d \log n)\bigr)$.
# :::
#
# :::{prf:lemma} Bounded arrays reach far
# :label: lem-dual-reach
#
# There is a constant $c_0 > 0$ such that, with probability tending to one, $\sum_{i > r} \sum_{j \le r} |(u_i - u_j)^\top X v_i| \ge c_0\, r n/d$ for all $\norm{X}_F = 1$; then every matrix of norm at most $c_0\, r n/d$ is $\mathcal A(\delta)$ for an array with $|\delta_{ij}| \le 1$.
# :::
#
# These are [Lemma 1](#lemma-1) and [Lemma 2](#lemma-2).
# Together they give a $\delta$ with $|\delta_{ij}| \le 1/(2 r \log n)$ that takes away what is left of the first array, and $\lambda + \delta > 0$ cancels exactly.
# Both proofs are told in half a page: {ref}`proof-two`.
#
# ## What it looks like
#
# Two instances, one on either side.
# For a picture, project their $n(n-1)$ comparisons, which live in $d^2$ dimensions, onto a plane.

# %%
below, above = (gaussian_pairs(n, d, seed=seed) for d in (below_d, above_d))
no, yes = decide_top1(below), decide_top1(above)
Table(
    {
        "$d$": [str(below_d), str(above_d)],
        "retrievable": [str(no.feasible), str(yes.feasible)],
        "proved": [
            str(verify(no.certificate, below)),
            str(verify(yes.certificate, above)),
        ],
    }
)

# %% [markdown]
# For the retrievable one the plane is that of its memory $W$, and all comparisons are on the positive side.
# For the other, any plane will do.
# Its comparisons are on all sides; and if each is multiplied by its weight, and they are put head to tail in the order of their directions, they close a polygon.

# %%
weights = no.certificate.weights
found = torch.from_numpy(yes.certificate.W)
seen = plane_coordinates(above, found, seed=seed)
outer = torch.from_numpy(below.U.numpy() @ below.V.numpy().T)
random_plane = plane_coordinates(below, outer, seed=seed)
polygon = head_to_tail(random_plane, weights)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-sides", "caption": "Comparisons of two instances, projected onto a plane. (a) Retrievable: in the direction of the memory that retrieves it, all of them are positive. (b) Not retrievable: in the direction of the outer-product memory most are positive, not all. (c) The same comparisons, each multiplied by its weight in the certificate, head to tail: the polygon closes."}, "image": {"alt": "Left, a cloud of dots strictly to the right of a vertical line. Middle, a cloud that crosses the line. Right, a closed convex curve that starts and ends at a marked point."}}
figure, axes = panels(3, height=2.8)
titles = [f"(a) $d = {above_d}$", f"(b) $d = {below_d}$", "(c) weighted, head to tail"]
for ax, title in zip(axes, titles, strict=True):
    ax.set_title(title)
shown = (
    (seen, "$W$", ANY_MEMORY),
    (random_plane, "$U V^T$", OUTER_PRODUCTS),
)
for ax, (points, name, color) in zip(axes, shown, strict=False):
    ax.plot(*points, ".", ms=1, color=color, alpha=0.5)
    ax.axvline(0, color=LIMIT, lw=1)
    ax.set(xlabel=f"along {name}", ylabel="across")
axes[2].plot(*polygon, color=INK)
axes[2].plot(0, 0, "o", color=INK)
axes[2].set(xlabel="along $U V^T$", aspect="equal")
figure

# %% [markdown]
# ## From nearly zero to zero
#
# Where do such weights come from?
# Minimise the cross-entropy of all keys without any ridge.
# If all weights can be positive, the minimum is attained at some $\widehat W$, and the gradient there, which vanishes, is
#
# $$
# -\sum_{i \ne j} \lambda_{ij} A_{ij} ,
# \qquad
# \lambda_{ij} = \frac{e^{s_{ji}}}{\sum_l e^{s_{li}}} > 0 ,
# $$
#
# so the softmax itself is the certificate.
# In a computer it vanishes up to rounding, and a sum that is zero up to rounding proves nothing: *some* sum of positive multiples of the comparisons may be tiny without any being zero.
# But an honest zero is near.
# Let $R = \sum \lambda_{ij} A_{ij}$ be what is left, $H = \sum \lambda_{ij} A_{ij} A_{ij}^\top$ with the comparisons as vectors, and $H Y = R$.
# Then
#
# $$
# \sum_{i \ne j} \lambda_{ij} \bigl(1 - \inprod{A_{ij}, Y}\bigr) A_{ij} = R - H Y = 0
# $$ (eq-corrected)
#
# exactly, and the corrected weights are positive if $\max |\inprod{A_{ij}, Y}| < 1$, for which
#
# $$
# \frac{\max \norm{A_{ij}} \, \norm{R}}{\lambda_{\min}(H)} < 1
# $$ (eq-sufficient)
#
# is enough.
# Two numbers have to be bounded, one from above and one from below, and both can be, rounding included.
# The check used in this book takes the standard bounds for sums of products in any order {cite:p}`higham2002accuracy` for $R$ and $H$, and for the smallest eigenvalue a Cholesky factor of $H - s I$, as {cite:t}`rump2006verification` does, but multiplied out again, so that nobody has to believe the factorisation.

# %%
needed = correction(below, weights)
Table(
    {
        "quantity": [
            "total weight",
            "weights above a millionth of the largest",
            "left over, $\\lVert R\\rVert_F$",
            "smallest eigenvalue of $H$",
            "{eq}`eq-sufficient`, rounding not counted",
        ],
        "value": [
            f"{weights.sum():.4g}",
            f"{(weights > 1e-6 * weights.max()).sum()} of {n * (n - 1)}",
            f"{needed.left:.1e}",
            f"{needed.smallest:.1e}",
            f"{needed.relative_change:.1e}",
        ],
    }
)

# %% [markdown]
# The condition is met with room to spare, and the room is what the bounds on rounding use up.
# For small instances there is a second opinion, in which nothing is rounded at all.
# The data are binary fractions, so the system for the correction of $d^2$ of the weights can be solved over the rational numbers; then the weights either are nonnegative and cancel, or not.

# %%
small = gaussian_pairs(exact_n, exact_d, seed=seed)
proof = decide_top1(small).certificate
candidates = {
    "as found": proof.weights,
    "rounded to 20 bits": np.round(proof.weights * 2**20) / 2**20,
    "all equal": 1 - np.eye(exact_n),
    "largest negated": largest_negated(proof.weights),
}
opinions = [
    (
        verify(Certificate(1, weights=w), small),
        holds_exactly(Certificate(1, weights=w), small),
    )
    for w in candidates.values()
]
Table(
    {
        "weights": list(candidates),
        "bounded rounding": [str(a) for a, _ in opinions],
        "exact rationals": [str(b) for _, b in opinions],
    }
)

# %% [markdown]
# (Weights that were rounded are still near enough to an exact certificate, and either check finds it.)
# The converse must hold as well: on a retrievable instance nothing may pass, however nearly it cancels.
# Just above the transition we take the weights that come closest to cancelling, the point of the hull of all comparisons nearest to zero (a nonnegative least-squares problem), and offer them as a certificate.

# %%
seeds = {
    d: [derived_seed(seed, 1, d, t) for t in range(200)] for d in (exact_d, exact_d + 1)
}
solvable = first_instances(
    exact_n, exact_d + 1, seeds[exact_d + 1], feasible=True, count=10
)
hopeless = first_instances(exact_n, exact_d, seeds[exact_d], feasible=False, count=10)
offers = [(*nearest_miss(p), p) for p in solvable]
accepted = [verify(Certificate(1, weights=w), p) for w, _, p in offers]

# %% tags=["hide-input"]
print(
    f"sums of the offers, at total weight one: {min(s for _, s, _ in offers):.1e} and longer"
)

# %% [markdown]
# A second opinion comes from a linear program, which looks for the memory of largest margin among those with entries between $-1$ and $1$ and knows nothing of certificates.
# Where it finds a positive margin, its memory is checked in exact arithmetic; where it finds none, the weights are.
# By {prf:ref}`thm-dual` each instance has one proof and not the other.

# %%
one_proof = []
for p in (*solvable, *hopeless):
    retrievable, memory_found = best_of_program(p)
    certificate = decide_top1(p).certificate
    proof_of = Certificate(1, W=memory_found) if retrievable else certificate
    agree = retrievable == certificate.feasible
    one_proof.append(agree and holds_exactly(proof_of, p))
check(
    "theorem-1",
    f"share of {len(one_proof)} instances, n = {exact_n}, with an exact proof of what a linear program says, and of retrievable ones whose nearest miss passes",
    kind="exact proof",
    measured=[np.mean(one_proof), np.mean(accepted)],
    predicted=[1, 0],
    tolerance=0.01,
    falsehood=("one instance in ten has both proofs, or neither", [0.9, 0.1]),
    limits="an exact statement about each instance; where the transition lies is another check",
)

# %% [markdown]
# ## Any vectors
#
# Nothing so far asks the vectors to be Gaussian.
# Yet three kinds of data would spoil the bounds, and the check has an answer to each.
#
# - *Some directions are much shorter than others*, as in most embeddings. The smallest eigenvalue of $H$ then drowns in rounding. But the question does not change when all targets are mapped by one invertible matrix and shifted, when all keys are mapped by another, or when a key gets another length. So vectors are first mapped to where they look alike in all directions, and what the map rounds away is bounded with the rest.
# - *Coordinates depend on each other*, as where all keys lie in a subspace. The smallest eigenvalue is zero then. Coordinates that depend on others are left out, once integers have shown that they do so exactly.
# - *A few comparisons contradict each other*, and the rest plays no part. If one key is stored with two targets, two weights cancel, and $H$ has rank one. Such weights are made to cancel in integers.

# %%
flat, twin = above.V.clone(), above.V.clone()
flat[2:] = 0  # all keys in a plane
twin[:, 1] = twin[:, 0]  # one key with two targets
units = torch.logspace(-4, 4, above_d, dtype=above.U.dtype)[:, None]
cases = {
    "as drawn": above,
    "coordinates in units from 0.0001 to 10000": Pairs(
        units * above.U, above.V / units
    ),
    "all keys in a plane": Pairs(above.U, flat),
    "one key with two targets": Pairs(above.U, twin),
}
verdicts = {name: decide_top1(pairs) for name, pairs in cases.items()}

# %% tags=["hide-input"]
used = [
    np.count_nonzero(v.certificate.weights) if v.feasible is False else ""
    for v in verdicts.values()
]
Table(
    {
        f"$n = {n}$, $d = {above_d}$": list(cases),
        "retrievable": [str(v.feasible) for v in verdicts.values()],
        "comparisons in the proof": [str(count) for count in used],
        "verified": [
            str(verify(v.certificate, p))
            for v, p in zip(verdicts.values(), cases.values(), strict=True)
        ],
    }
)

# %% [markdown]
# Where vectors depend on each other up to rounding only, the answer would hang on digits that nobody meant.
# There is no verdict then, and a reason that says which vectors lie in how many dimensions.
#
# ## A target that hides
#
# The simplest certificate needs one key only.
# If the target $u_i$ is an average of other targets, then $u_i^\top x$ is never the largest product, whatever $x = W v_i$ is: the key plays no part.
# Gaussian targets do not hide when the dimension is large, but in few dimensions they do.

# %%
seeds = {
    d: [derived_seed(seed, 3, d, t) for t in range(hidden_instances)] for d in hidden_d
}
hiding = [
    share_hiding(hidden_n, d, seeds[d]) for d in progress(hidden_d, "hidden targets")
]
Table(
    {
        "$d$": [str(d) for d in hidden_d],
        f"share of instances, $n = {hidden_n}$": hiding,
        "$d^2/(n \\log n)$": [top1_ratio(hidden_n, d) for d in hidden_d],
    },
    {f"share of instances, $n = {hidden_n}$": ".3f"},
)

# %% [markdown]
# Around the transition at this size, between $d = 7$ and 8, some three to ten instances in a hundred have such a target.
# Where the other keys can all be satisfied by a memory that sends this one to zero, the cross-entropy has no minimum at all: they are satisfied ever better while this one stays where it is.
# An optimiser that waits for its gradient to vanish waits for ever.
#
# ## The proof's own certificate
#
# The paper's array is written down without any optimiser.
# Let $x_i = M H^{-1} v_i$ with $M = \sum_{i > r} u_i v_i^\top$ and $H = \sum_{i > r} v_i v_i^\top$, the least-squares memory's answer to $v_i$.
# Key $i$ gives every target $j \le r$ a small weight, and a large one to those that lie far in the direction of $x_i$,
#
# $$
# \lambda_{ij} = \frac1r \Bigl[ \frac{1}{\log n} + \frac{b}{p_i} 1\Bigl\{ \frac{\sqrt d\, u_j^\top x_i}{\norm{x_i}} \ge z_i \Bigr\} \Bigr] ,
# $$ (eq-array)
#
# where $b = 1 - 1/\log n$, $p_i = 1 - \Phi(z_i)$, and $z_i$ solves $b\, \varphi(z_i)/p_i = \sqrt d\, \norm{x_i}$.
#
# Over a fresh target $u_j$, $r \lambda_{ij}$ has mean 1 and $r \lambda_{ij} u_j$ has mean $x_i$, so that $\sum_i r \lambda_{ij} (u_i - u_j) v_i^\top$ has mean $M - \sum_i x_i v_i^\top = 0$.
# This is exact, and explains the 2: far-away targets, at $z_i \approx d/\sqrt n$ standard deviations, must exist among the $r$ compared with, $\log r$ is about $\log n$, and $z_i < \sqrt{2 \log n}$ says $d^2 < 2\, n \log n$.
#
# How much is left, $\norm{\mathcal A(\lambda)}_F$ in units of $n/(d \log n)$?
# Its square is a variance, and adding up the largest terms gives
#
# $$
# c\, (\log n)^5\, \frac{1}{n} \Bigl( \frac{2 b^2}{p} + d \Bigr) ,
# \qquad
# c = \frac{d^2}{n \log n} .
# $$ (eq-size)
#
# The first term is the price of rare events, the second that of keys which overlap and so have weights that rise together.

# %%
sizes = {}
for c in array_ratios:
    for m in progress(array_sizes, f"ratio {c}"):
        d = dimension_at_ratio(m, c)
        repeats = array_instances * min(4, max(array_sizes) // m)
        seeds = [derived_seed(seed, 4, m, d, t) for t in range(repeats)]
        sizes[m, c] = array_size(m, d, seeds)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-array", "caption": "How much of the proof's array is left over, in the units in which Lemma 1 says that it vanishes. Points: the construction carried out. Lines: the leading terms. It grows at first, and is small only for numbers of pairs that no memory will ever hold; the grey line is the size below which the rest of the proof can work."}, "image": {"alt": "Three curves on logarithmic axes that rise or are flat near ten and a hundred for small n, where points lie on them, and fall below one near 10 to the 17, 10 to the 20 and 10 to the 50."}}
figure, ax = panels(height=3.5)
digits = np.linspace(2, 100, 300)
for c, look in series(array_ratios):
    line = paper_certificate.predicted_size(digits * math.log(10), c)
    ax.plot(digits, line, color=look["color"])
    points = np.array([(sizes[n, c].root, sizes[n, c].error) for n in array_sizes])
    name = f"$d^2/(n\\,\\log n) = {c:g}$"
    digits_of = np.log10(array_sizes)
    ax.errorbar(digits_of, points[:, 0], points[:, 1], ls="none", label=name, **look)
ax.axhline(1 / math.pi, color=LIMIT, lw=1)
ax.set(xscale="log", yscale="log", ylim=(1e-3, 1e4), xlabel="decimal digits of $n$")
ax.set_ylabel("$\\|\\mathcal{A}(\\lambda)\\|_F\\; d\\,\\log n / n$")
ax.set_xticks([2, 3, 6, 12, 25, 50, 100], ["2", "3", "6", "12", "25", "50", "100"])
ax.minorticks_off()
ax.legend()
figure

# %% [markdown]
# In {numref}`fig-array` the points follow {eq}`eq-size`, and by that formula the lemma is true; but what it promises happens elsewhere.
# What the lemma says, that the size vanishes, has not been seen: at ratio 0.5 it is near 31 from $10^3$ to $10^4$ pairs, where it is largest, and at ratio 1 above a hundred.
# What the check compares is the leading order of this book, from which the lemma follows.
# It takes the smallest ratio, since at larger ones a few rare events carry the mean square.
# The falsehood is the first term of {eq}`eq-size` alone; the tolerance is four standard errors and $1/\sqrt d$, by which lengths vary.

# %%
smallest_ratio = min(array_ratios)
tested = [
    key for key in sizes if key[0] >= max(array_sizes) / 10 and key[1] == smallest_ratio
]
measured = np.array([sizes[key].root for key in tested])
errors = np.array([sizes[key].error for key in tested])
alone = [size_without_overlap(*key) for key in tested]
check(
    "lemma-1",
    f"log of the size of the array, n and d^2/(n log n) in {tested}",
    kind="simulation",
    measured=np.log(measured),
    predicted=np.log([sizes[key].predicted for key in tested]),
    tolerance=4 * errors / measured
    + [dimension_at_ratio(*key) ** -0.5 for key in tested],
    falsehood=("keys do not overlap: the second term is missing", np.log(alone)),
    limits=f"this tests the leading order that the book derives and not the o(1) of the lemma, which no instance shows: sizes are {measured.min():.0f} and more here; by the formula they are first below 1 near n = 10^17 at ratio 0.5, 10^20 at 1, 10^50 at 1.5",
)

# %% [markdown]
# ## How far bounded arrays reach
#
# The constant of {prf:ref}`lem-dual-reach` is the smallest value of
# $\frac{d}{r (n-r)} \sum |(u_i - u_j)^\top X v_i|$ over all $X$ of length one.
# The proof treats the two factors one after the other and allows each key the worst value of its own score, which leaves $\E |G| \cdot \E |G'| = 2/\pi \approx 0.64$ for large $n$ and $r/d$.
# In a fixed dimension the truth is better: the sum tends to $\sqrt{2} \sqrt{2/\pi}\, \E \norm{X v} \sqrt d$, least for a matrix of rank one, which gives $2 \sqrt 2/\pi \approx 0.90$.
# On an instance it is a minimum over a sphere in $d^2$ dimensions; descents from random starts give a value from above, the least singular value of the comparisons over the longest of them one from below.

# %%
reaches = {
    m: np.array(
        [
            paper_certificate.reach(
                gaussian_pairs(m, reach_d, seed=derived_seed(seed, 5, m, t)), m // 4
            )
            for t in range(reach_instances * min(4, max(reach_sizes) // m))
        ]
    )
    for m in progress(reach_sizes, "reach")
}
starved = paper_certificate.reach(gaussian_pairs(12, 6, seed=seed), 2)
Table(
    {
        "$n$": [str(m) for m in [12, *reach_sizes]],
        "$d$": ["6", *[str(reach_d)] * len(reach_sizes)],
        "$r$": ["2", *(str(m // 4) for m in reach_sizes)],
        "found": [starved[1], *(x[:, 1].mean() for x in reaches.values())],
        "bound": [starved[0], *(x[:, 0].mean() for x in reaches.values())],
    },
    {"found": ".3f", "bound": ".2g"},
)

# %% [markdown]
# Two things must be the case before the constant is anything.
# There must be at least as many comparisons as unknowns, $r (n - r) \ge d^2$, or some $X$ is orthogonal to all of them (the first row).
# And for the argument of the proof the $r$ targets have to span the space with room, $r > d$; otherwise its lower bound is exactly zero, whatever the true minimum is.

# %%
Table(
    {
        "needed": list(CONDITIONS),
        **{
            f"from $n$ at ratio {c:g}": [
                onset(holds, c) for holds in CONDITIONS.values()
            ]
            for c in array_ratios
        },
    }
)

# %% [markdown]
# So the proof's certificate is one for astronomers, and the table says, to leading order, where it would begin.
# Impossibility itself does not wait: below the transition of the preceding section each of hundreds of instances has a certificate, from $n = 30$ to $n = 1000$; only not this one.

# %% [markdown]
# In the table the minimum rises with $n$ and stays well below 0.90.
# What is missing goes like $1/\sqrt n$, as the averages over the $n/4$ targets fluctuate, and a line through all instances continues it to infinitely many pairs.

# %%
least = np.concatenate([x[:, 1] for x in reaches.values()])
at = np.concatenate([np.full(len(x), m**-0.5) for m, x in reaches.items()])
line, covariance = np.polyfit(at, least, 1, cov="unscaled")
missed = least - np.polyval(line, at)
scatter = math.sqrt(missed @ missed / max(1, len(missed) - 2))
raw = reaches[reach_sizes[-1]][:, 1].mean()
check(
    "lemma-2",
    f"smallest sum found, continued to n = infinity in 1/sqrt(n), d = {reach_d}, r = n/4, n = {reach_sizes}",
    kind="simulation",
    measured=line[1],
    predicted=2 * math.sqrt(2) / math.pi,
    tolerance=4 * scatter * math.sqrt(covariance[1, 1]) + 0.03,
    falsehood=("no better than the proof's value", 2 / math.pi),
    limits=f"this is an extrapolation from {raw:.2f} at n = {reach_sizes[-1]}; d is fixed, where the lemma lets it grow, and descents find minima only from above; the constant is zero where r(n-r) < d^2; the proof needs r > d, from n = 10^5 on",
)

# %% [markdown]
# ## Limits
#
# - A certificate proves that one instance is hopeless. That almost all are, below 2 and for large $n$, is the theorem; what is measured here are its ingredients.
# - {eq}`eq-size` collects the largest terms for vectors of typical length. At ratio 1.5 a few rare events carry the mean square, so that the averages of so few instances scatter.
# - The value of {prf:ref}`lem-dual-reach` found by descent is an upper estimate of a minimum that is not convex; the bound from below is a proof, and weak.
# - Exact arithmetic is affordable up to dimension 20, where a check takes ten seconds.
#
# ## Try
#
# A larger instance on either side, or the proof's array at a ratio where it shrinks soonest:
#
# ```
# python -m assocmem run dual_certificate -p n 100 -p below_d 19 -p above_d 25 --out runs/dual
# python -m assocmem run dual_certificate -p array_ratios "[0.7]" -p array_sizes "[1000, 20000]" --out runs/array
# ```
