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
# This section looks at such weights, checks them in exact arithmetic, and shows how they can be found and checked for many thousands of pairs.
# Then it follows the paper's proof, which writes them down without looking for them, to the sizes where it begins to work.

# %% tags=["parameters"]
seed = 1  # base seed of every random draw; [0, inf)
n = 60  # pairs of the instances taken apart; [6, 300]
below_d = 14  # dimension of the one that is not retrievable; [2, 60]
above_d = 18  # dimension of the one that is; [2, 60]
exact_n = 30  # pairs of the instance checked in exact arithmetic; [4, 60]
exact_d = 9  # its dimension; [2, 16]
proofs = 10  # instances there of either kind, checked like it; [1, 50]
floor_n = 300  # pairs of the instance decided in either way; [60, 1000]
floor_d = 42  # its dimension; [25, 90]
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
import assocmem.progress  # noqa: F401  before torch  # isort: skip
import math

import numpy as np
import torch
from myst_nb import glue

from assocmem.book import first_place_figures as figures
from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import Table, panels, series
from assocmem.deciding import paper_certificate
from assocmem.deciding.certificates import Certificate, weights_of
from assocmem.deciding.correction import correction, floor_correction
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.deciding.forgeries import largest_negated, nearest_miss
from assocmem.experiments.first_place import comparison_planes as planes
from assocmem.experiments.first_place import proof_arrays, two_proofs
from assocmem.experiments.first_place.instance_counts import (
    first_instances,
    share_hiding,
)
from assocmem.experiments.first_place.linear_programs import best_of_program
from assocmem.pairs.data import Pairs, derived_seed, gaussian_pairs
from assocmem.pairs.sizes import dimension_at_ratio, top1_ratio
from assocmem.progress import progress
from assocmem.theory.kinematics import critical_dimension

plot.use_style()

# %% tags=["requires", "remove-cell"]
from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.first_place.instance_counts import first_instances
from assocmem.pairs.data import derived_seed, gaussian_pairs


def verdict(n, d):
    """Whether some memory retrieves the first instance of a size."""
    return decide_top1(gaussian_pairs(n, d, seed=seed)).feasible


def computed(n, d):
    """Whether the first instance of a size has a proof of impossibility with computed weights."""
    certificate = decide_top1(gaussian_pairs(n, d, seed=seed)).certificate
    return certificate is not None and certificate.computed is not None


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
        "floor_d",
        floor_d,
        computed(floor_n, floor_d),
        f"a dimension in which no memory retrieves {floor_n} pairs: smaller, or floor_n larger",
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
    ("floor_n", floor_n, lambda n: decision_bytes(n, floor_d)),
    (
        "array_sizes",
        max(array_sizes),
        lambda n: peak_bytes(n, dimension_at_ratio(n, max(array_ratios))) * 3,
    ),
]

# %% [markdown]
# ## What is claimed
#
# Key $i$ is retrieved if its signal $s_{ii}$ is larger than each competing score $s_{ji} = u_j^\top W v_i$.
# Both are linear in the memory $W$, and so is their difference.
# Write $\inprod{A, B}$ for the sum of the products of the entries of two matrices.
# For each key $i$ and each other target $j$ let
#
# $$
# \begin{aligned}
# A_{ij} &= (u_i - u_j)\, v_i^\top , \\
# \inprod{W, A_{ij}} &= s_{ii} - s_{ji} .
# \end{aligned}
# $$ (eq-comparison)
#
# Call these $n(n-1)$ matrices the *comparisons*.
# A memory retrieves everything exactly if its product with every comparison is positive.
#
# :::{prf:theorem} Weights that cancel (Gordan 1873, not in the paper)
# :label: thm-dual
#
# Exactly one of the following is true.
#
# - Some memory has $\inprod{W, A_{ij}} > 0$ for all $i \ne j$.
# - There are weights $\lambda_{ij} \ge 0$, not all zero, with $\sum_{i \ne j} \lambda_{ij} A_{ij} = 0$.
# :::
#
# That the two exclude each other is one line.
# Multiply the sum with $W$: the result would be zero, and it would be positive.
#
# That one of them is always true is the separation of a point from a convex set.
# The point is zero, and the set is made of all averages of comparisons.
# If zero is not one of these averages, some plane has zero on it and all comparisons strictly on one side, and the matrix orthogonal to that plane is a memory that retrieves everything.
#
# So weights that cancel are a *certificate* of impossibility.
# For large $n$ the impossible half of [Theorem 1](#theorem-1) constructs them, in two steps, when $d^2/(n \log n) < 2$.
# It uses a part of the comparisons only.
# With $r = \lfloor n/(\log n)^2 \rfloor$, it looks at the keys $i > r$ and compares them with the targets $j \le r$.
# Let $\mathcal A(\lambda)$ be the sum of these comparisons with weights $\lambda_{ij}$.
#
# :::{prf:lemma} An array that nearly cancels (Lemma 1 of the paper)
# :label: lem-dual-array
#
# With probability tending to one there is an array of weights with $\lambda_{ij} \ge 1/(r \log n)$ throughout and $\norm{\mathcal A(\lambda)}_F = o\bigl(n/(d \log n)\bigr)$.
# :::
#
# :::{prf:lemma} Bounded arrays reach far (Lemma 2 of the paper)
# :label: lem-dual-reach
#
# There is a constant $c_0 > 0$ such that, with probability tending to one,
#
# $$
# \sum_{i > r} \sum_{j \le r} |(u_i - u_j)^\top X v_i| \ge c_0\, \frac{r n}{d}
# $$
#
# for all $d \times d$ matrices $X$ with $\norm{X}_F = 1$.
# Then every matrix of norm at most $c_0\, r n/d$ is $\mathcal A(\delta)$ for an array with $|\delta_{ij}| \le 1$.
# :::
#
# These are [Lemma 1](#lemma-1) and [Lemma 2](#lemma-2) of the ledger.
# The first array leaves a small rest.
# By the second lemma some $\delta$ with $|\delta_{ij}| \le 1/(2 r \log n)$ takes this rest away.
# Since $\delta$ is smaller than every weight, $\lambda + \delta$ is still positive, and it cancels exactly.
# Both proofs are told in half a page: {ref}`proof-two`.
#
# ## What it looks like
#
# Let us decide two instances, one on either side of the transition, and check the proofs.

# %%
below = gaussian_pairs(n, below_d, seed=seed)
above = gaussian_pairs(n, above_d, seed=seed)
no, yes = decide_top1(below), decide_top1(above)

# %% tags=["hide-input"]
words = {True: "yes", False: "no", None: "undecided"}
Table(
    {
        "$d$": [str(below_d), str(above_d)],
        "retrievable": [words[no.feasible], words[yes.feasible]],
        "proved": [
            words[verify(no.certificate, below)],
            words[verify(yes.certificate, above)],
        ],
    }
)

# %% [markdown]
# The certificate of the first holds weights.
# Under them its comparisons should cancel.
# The sum can be written down with three matrix products:

# %%
values = weights_of(no.certificate, below.U, below.V)  # [j, i], zero where j = i
weights = torch.from_numpy(values)
of_keys = torch.diag(weights.sum(dim=0))  # the total weight of each key
left_over = below.U @ (of_keys - weights) @ below.V.T

# %% tags=["hide-input"]
glue("dual-total", float(weights.sum()), display=False)
glue("dual-left-over", float(left_over.norm()) * 1e14, display=False)

# %% [markdown]
# The weights add up to {glue:text}`dual-total:.0f`, and what is left of the sum of all comparisons has the norm {glue:text}`dual-left-over:.1f` $\times 10^{-14}$.
#
# For a picture, project the comparisons, which live in $d^2$ dimensions, onto a plane.
# For the retrievable instance let the first axis be its memory $W$: all comparisons are then on the positive side.
# For the other instance any plane will do, and its comparisons are on all sides.
#
# The weights make a picture too.
# Multiply each comparison by its weight, and put them head to tail in the order of their directions.
# Since they cancel, they close a polygon.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-sides", "caption": "Comparisons of two instances, projected onto a plane. (a) Retrievable: in the direction of the memory that retrieves it, all of them are positive. (b) Not retrievable: in the direction of the sum of outer products most are positive, not all. (c) The same comparisons, each multiplied by its weight in the certificate, head to tail: the polygon closes."}, "image": {"alt": "Above, a cloud of dots strictly to the right of a vertical line. Middle, a cloud that crosses the line. Below, a closed convex curve that starts and ends at a marked point."}}
found = torch.from_numpy(yes.certificate.W)
seen = planes.plane_coordinates(above, found, seed=seed)
outer = torch.from_numpy(below.U.numpy() @ below.V.numpy().T)
mixed = planes.plane_coordinates(below, outer, seed=seed)
polygon = planes.head_to_tail(mixed, values)
titles = (f"(a) $d = {above_d}$", f"(b) $d = {below_d}$", "(c) the weighted ones")
figure, axes = figures.draw_sides(seen, mixed, polygon, titles)
figure

# %% [markdown]
# ### Two numbers, nothing projected
#
# With few enough free numbers the comparisons can be drawn as they are.
# Take $d = 2$, and only those memories that turn the plane and stretch it,
#
# $$
# W = \begin{pmatrix} a & -b \\ b & a \end{pmatrix} .
# $$
#
# Write $v^\perp$ for a key $v$ turned to the left by 90 degrees.
# Then the comparison {eq}`eq-comparison` is a sum of two terms,
#
# $$
# \inprod{W, A_{ij}} = a\, (u_i - u_j)^\top v_i + b\, (u_i - u_j)^\top v_i^\perp .
# $$ (eq-turn)
#
# So each comparison is a vector of two numbers, which is multiplied with $(a, b)$.
# If all these vectors lie in an open half plane, the vector in the middle between the outermost ones is a memory.
# If they do not, two or three of them cancel with positive weights, and no such memory exists.
# Gordan's theorem is the same statement in $d^2$ dimensions.
#
# ```{widget} certificate_polygon
# :label: A certificate in two dimensions, as a polygon
# Turn key 1, the orange arrow $v_1$, and watch the comparisons $A_{ij}$ of {eq}`eq-turn` in the second picture.
# Angles are counter-clockwise, and at 0° key 1 of a regular instance points to target 1.
# Either the comparisons leave a half plane free, and a green arrow $W = (a, b)$ shows a memory that retrieves all pairs: it brings each key into the sector in which its own target, a dot, is the furthest.
# Or, as with the settings at first, weights close a polygon in the third picture, and no memory of two numbers does it.
# A matrix of $d^2$ free numbers has its comparisons in $d^2$ dimensions, and even for $d = 2$ that is four.
# ```
#
# ## From nearly zero to zero
#
# Where do such weights come from?
# From the cross-entropy of all keys, minimised without any ridge.
# If all weights can be positive, it has a minimum at some $\widehat W$.
# The gradient vanishes there, and the gradient is a weighted sum of comparisons:
#
# $$
# -\sum_{i \ne j} \lambda_{ij} A_{ij} ,
# \quad
# \lambda_{ij} = \frac{e^{s_{ji}}}{\sum_l e^{s_{li}}} > 0 .
# $$
#
# So the softmax itself is the certificate.
#
# In a computer the gradient vanishes up to rounding only.
# A sum that is zero up to rounding proves nothing: *some* sum of positive multiples of the comparisons may be tiny without any being zero.
# But an honest zero is near, and here is how to reach it.
#
# Let $R = \sum \lambda_{ij} A_{ij}$ be what is left.
# Read matrices as vectors of $d^2$ numbers, put $H = \sum \lambda_{ij} A_{ij} A_{ij}^\top$, and let $Y$ be the solution of $H Y = R$.
# Change each weight by the factor $1 - \inprod{A_{ij}, Y}$.
# Then
#
# $$
# \sum_{i \ne j} \lambda_{ij} \bigl(1 - \inprod{A_{ij}, Y}\bigr) A_{ij} = R - H Y ,
# $$ (eq-corrected)
#
# which is zero, exactly.
#
# The corrected weights are positive if every $|\inprod{A_{ij}, Y}|$ is below one.
# With $h_{\min}$ for the smallest eigenvalue of $H$,
#
# $$
# \frac{\norm{R}_F \max_{ij} \norm{A_{ij}}_F}{h_{\min}} < 1
# $$ (eq-sufficient)
#
# is enough for that.
# So two numbers have to be bounded, $\norm{R}_F$ from above and $h_{\min}$ from below, and both can be, rounding included.
#
# The check used in this book takes the standard bounds for sums of products in any order {cite:p}`higham2002accuracy` for $R$ and $H$.
# For the smallest eigenvalue it takes a Cholesky factor of $H$ less a multiple of the identity, as {cite:t}`rump2006verification` does, but multiplies it out again, so that nobody has to believe the factorisation.

# %% tags=["hide-input"]
needed = correction(below, values)
Table(
    {
        "quantity": [
            "weights above a millionth of the largest",
            "left over, $\\lVert R\\rVert_F$",
            "smallest eigenvalue $h_{\\min}$ of $H$",
            "left side of {eq}`eq-sufficient`, rounding not counted",
        ],
        "value": [
            f"{(values > 1e-6 * values.max()).sum()} of {n * (n - 1)}",
            f"${figures.scientific(needed.left)}$",
            f"{needed.smallest:.2g}",
            f"${figures.scientific(needed.relative_change)}$",
        ],
    }
)

# %% [markdown]
# The condition is met with room to spare, and the room is what the bounds on rounding use up.
#
# ### A second opinion without rounding
#
# For small instances the same can be done in exact arithmetic.
# The data are binary fractions, so the system for the correction of $d^2$ of the weights can be solved over the rational numbers.
# Then the weights either are nonnegative and cancel, or not.
#
# Here are weights as they were found, rounded, replaced by equal ones, and with one sign turned.

# %%
small = gaussian_pairs(exact_n, exact_d, seed=seed)
proof = decide_top1(small).certificate
candidates = {
    "as found": proof.weights,
    "rounded to 20 bits": np.round(proof.weights * 2**20) / 2**20,
    "all equal": 1 - np.eye(exact_n),
    "largest negated": largest_negated(proof.weights),
}

# %% tags=["hide-input"]
offered = [Certificate(1, weights=w) for w in candidates.values()]
Table(
    {
        "weights": list(candidates),
        "bounded rounding": [words[verify(c, small)] for c in offered],
        "exact rationals": [words[holds_exactly(c, small)] for c in offered],
    }
)

# %% [markdown]
# Both checks agree.
# (Weights that were rounded are still near enough to an exact certificate, and either check finds it.)
#
# ### Nothing passes where a memory exists
#
# The converse must hold as well: on a retrievable instance nothing may pass, however nearly it cancels.
# So take instances just above the transition and the weights that come closest to cancelling.
# These are the average of comparisons that is nearest to zero, which is a nonnegative least-squares problem.
# Offer them as a certificate.

# %% tags=["hide-input"]
tried, tried_above = (
    [derived_seed(seed, 1, d, t) for t in range(200)] for d in (exact_d, exact_d + 1)
)
hopeless = first_instances(exact_n, exact_d, tried, feasible=False, count=proofs)
solvable = first_instances(
    exact_n, exact_d + 1, tried_above, feasible=True, count=proofs
)
offers = [(*nearest_miss(p), p) for p in solvable]
accepted = [verify(Certificate(1, weights=w), p) for w, _, p in offers]
glue("dual-nearest", float(min(s for _, s, _ in offers)), display=False)
glue("dual-offers", len(offers), display=False)
glue("dual-accepted", int(sum(accepted)), display=False)

# %% [markdown]
# The nearest of {glue:text}`dual-offers` such averages has the norm {glue:text}`dual-nearest:.4f`, at a total weight of one.
# Of all these offers {glue:text}`dual-accepted` were accepted.
#
# One more opinion comes from a linear program.
# It looks for the memory of largest margin among those with entries between $-1$ and $1$, and knows nothing of certificates.
# Where it finds a positive margin, its memory is checked in exact arithmetic.
# Where it finds none, the weights are.
# By {prf:ref}`thm-dual` each instance has one proof and not the other.

# %% tags=["hide-input"]
one_proof = []
for p in (*solvable, *hopeless):
    retrievable, memory_found = best_of_program(p)
    certificate = decide_top1(p).certificate
    proof_of = Certificate(1, W=memory_found) if retrievable else certificate
    agree = retrievable == certificate.feasible
    one_proof.append(agree and holds_exactly(proof_of, p))
check(
    "theorem-1",
    f"share of {len(one_proof)} instances, $n = {exact_n}$, with an exact proof of "
    "what a linear program says, and of retrievable ones whose nearest miss passes",
    kind="exact proof",
    measured=[np.mean(one_proof), np.mean(accepted)],
    predicted=[1, 0],
    tolerance=0.01,
    falsehood=("one instance in ten has both proofs, or neither", [0.9, 0.1]),
    limits="an exact statement about each instance; "
    "where the transition lies is another check",
    axis="share of instances",
    each=["one proof", "nearest miss passes"],
)

# %% [markdown]
# ## A proof without a large matrix
#
# The matrix $H$ has $d^2$ rows.
# For a thousand pairs next to the transition, at $d = 88$, it takes half a gigabyte.
# For ten thousand pairs, at $d = 343$, it would take more than a hundred, and its factor more time than anybody has.
# Is it needed?
#
# It is there for the weights that are almost nothing.
# If only those comparisons count whose weight is not, one has to find out whether they still point in all $d^2$ directions, and how well.
# Suppose instead that *no* weight is almost nothing: that all of them have a *floor* under them.
# Then all comparisons count, and how well all of them point in every direction can be said in general.
#
# :::{prf:proposition} A floor pays for what is left (not in the paper)
# :label: thm-floor
#
# Let $\lambda_{ij} \ge f > 0$ for all $i \ne j$, and let $R = \sum \lambda_{ij} A_{ij}$.
# Let $C$ be the Gram matrix of the targets less their mean $\bar u$, and $B$ that of the keys,
#
# $$
# \begin{aligned}
# C &= \sum_j (u_j - \bar u)(u_j - \bar u)^\top , \\
# B &= \sum_i v_i v_i^\top ,
# \end{aligned}
# $$
#
# and let $c_{\min}$ and $b_{\min}$ be their smallest eigenvalues.
# If
#
# $$
# \norm{R}_F \max_{ij} \norm{A_{ij}}_F < f\, c_{\min}\, b_{\min} ,
# $$ (eq-floor)
#
# then some weights that differ from the $\lambda_{ij}$ by less than $f$ cancel exactly, and they are all positive.
# :::
#
# So two eigenvalues of $d \times d$ matrices take the place of one of a matrix with $d^2$ rows.
# The proof is short.
#
# :::{dropdown} Proof
# Read matrices as vectors of $d^2$ numbers, and put $G = \sum_{i \ne j} A_{ij} A_{ij}^\top$, in which no weights stand.
# For a matrix $X$ and a key $i$ let $x = X v_i$.
# The numbers $\inprod{A_{ij}, X} = (u_i - \bar u)^\top x - (u_j - \bar u)^\top x$ have the squares
#
# $$
# \sum_j \inprod{A_{ij}, X}^2 = n\, \bigl((u_i - \bar u)^\top x\bigr)^2 + x^\top C x ,
# $$
#
# since the $u_j - \bar u$ add up to zero.
# Leave the first term out, and add up the second over the keys,
#
# $$
# \begin{aligned}
# \inprod{X, G X} &\ge \sum_i v_i^\top X^\top C X v_i \\
# &\ge c_{\min} \sum_i \norm{X v_i}^2 \\
# &\ge c_{\min}\, b_{\min} \norm{X}_F^2 .
# \end{aligned}
# $$
#
# So $G Y = R$ has a solution with $\norm{Y}_F \le \norm{R}_F / (c_{\min} b_{\min})$.
# The weights $\lambda_{ij} - \inprod{A_{ij}, Y}$ cancel, as their sum of comparisons is $R - G Y = 0$.
# By {eq}`eq-floor` they differ from the $\lambda_{ij}$ by $\norm{A_{ij}}_F \norm{Y}_F < f$ at most, and $f$ is no more than any weight.
# :::
#
# ### How to put a floor under the weights
#
# Take from the cross-entropy a small multiple of the sum of all comparisons, and minimise what is left,
#
# $$
# \sum_i -\log \frac{e^{s_{ii}}}{\sum_l e^{s_{li}}} - f \sum_{i \ne j} \inprod{A_{ij}, W} .
# $$ (eq-tilted)
#
# Call the second sum the *tilt*.
# With $q_{ij} = e^{s_{ji}} / \sum_l e^{s_{li}}$ for the softmax, the gradient is $-\sum (q_{ij} + f) A_{ij}$.
# So at a minimum the weights $q_{ij} + f$ cancel, and none of them is below $f$.
#
# But is there a minimum?
#
# - Where some memory retrieves everything there is none. All its products with comparisons are positive, so that the tilt pulls the search towards it, and there it is found.
# - Where no memory does, there is one if the floor is low enough (unless some comparison can have no weight at all, as where a target hides). With a floor that is too high the loss {eq}`eq-tilted` falls below zero and on for ever.
#
# :::{dropdown} Why a negative value shows that the floor is too high
# Let weights $q_{ij} + f$ cancel, where $q_{ij} \ge 0$ and $\sum_j q_{ij} \le 1$ for each key, as softmax weights have it; $q_{ii}$ is what these lack to one.
# The logarithm of a sum of exponentials is at least any average of the exponents plus the entropy of the average's weights,
#
# $$
# \begin{aligned}
# \log \sum_l e^{s_{li} - s_{ii}} \ge &-\sum_{j \ne i} q_{ij} \inprod{A_{ij}, W} \\
# &- \sum_l q_{il} \log q_{il} .
# \end{aligned}
# $$
#
# The left side is the cross-entropy of key $i$.
# Add this up over the keys and subtract the tilt: the terms in $W$ are $-\inprod{\sum (q_{ij} + f) A_{ij}, W} = 0$.
# What stays is the entropy, which is not negative.
# So if {eq}`eq-tilted` is negative for *one* memory, there are no such weights with this floor, though there may be with a lower one.
# :::
#
# So the search starts with a floor of a hundredth of $1/(n - 1)$, looks at its loss, and lowers the floor where the tilt gets heavy: where it is a fifth of the cross-entropy.
# The value and the gradient of {eq}`eq-tilted` cost one pass over the scores, in which they are computed block by block and not kept.
#
# The last digits need no search.
# Let the floor vary: with $f\,(1 + \inprod{A_{ij}, Z})$ in place of $f$, the weights cancel if $G Z = -R/f$, where $G$ is the sum of all $A_{ij} A_{ij}^\top$.
# This is the correction of the proof, made beforehand.
# The product of $G$ with a matrix needs no scores, and some twenty of them solve for $Z$.
# Then $R$ is down to rounding, and what has to be seen is that no weight has fallen to zero.
# That can be looked up weight by weight.
# It asks for much less than {eq}`eq-floor` does without $Z$, where the longest comparison is supposed to point along $Y$: the search may stop when $R$ is some $d/6$ times as large.
#
# `decide_top1` does all this where $d$ is above 24.
# (In fewer dimensions Newton's method, which forms $H$ anyway, is the faster one.)
# Here is an instance that needs it, and the search reports after every step.

# %%
wide = gaussian_pairs(floor_n, floor_d, seed=seed)
told = []
by_passes = decide_top1(wide, report=lambda step, seconds_left: told.append(step))
rule = by_passes.certificate.computed  # a memory and a few numbers, no weights
on_a_floor = weights_of(by_passes.certificate, wide.U, wide.V)

# %% [markdown]
# What is stored is a rule: the memory, $Z$, the floor, two numbers for each key, which make a softmax of its scores, and the two maps of the next section.
# Whoever checks the proof computes the weights from it, block after block.
# Nobody has to trust the exponential of the computer: whatever comes out is a number, it is compared with the others to find the least one, and $R$ is bounded for *these* numbers.
#
# For comparison, Newton's method decides the same instance and stores all its weights.

# %% tags=["hide-input"]
by_newton = two_proofs.decided_by_newton(wide)
both = {"stored": by_newton.certificate, "computed": by_passes.certificate}


def facts(proof):
    """What a proof holds, and the two conditions, each on all of its weights."""
    x = weights_of(proof, wide.U, wide.V)
    of_h, of_floor = correction(wide, x), floor_correction(wide, x)
    quantities = {
        "numbers stored": two_proofs.numbers_in(proof),
        "weights above a millionth of the largest": (x > 1e-6 * x.max()).sum(),
        "least weight": of_floor.least,
        "left over, $\\lVert R\\rVert_F$": of_h.left,
        "smallest eigenvalue of $H$": of_h.smallest,
        "left side of {eq}`eq-sufficient`": of_h.relative_change,
        "left over right side of {eq}`eq-floor`": of_floor.share,
        "verified": words[verify(proof, wide)],
    }
    return {name: figures.told(value) for name, value in quantities.items()}


columns = {name: facts(proof) for name, proof in both.items()}
sizes_of_files = [two_proofs.file_bytes(proof, wide) / 1000 for proof in both.values()]
glue("dual-file-stored", sizes_of_files[0], display=False)
glue("dual-file-computed", sizes_of_files[1], display=False)
glue("dual-passes", by_passes.passes, display=False)
glue("dual-floor", rule.floor * 1e6, display=False)
glue("dual-file-pairs", 16 * floor_n * floor_d / 1000, display=False)
shown = {"weights": list(columns["stored"])}
Table(shown | {name: list(column.values()) for name, column in columns.items()})

# %% [markdown]
# The search has ended with a floor of {glue:text}`dual-floor:.1f` $\times 10^{-6}$, for keys that are mapped to length one.
# Of the stored weights some are zero, so that {prf:ref}`thm-floor` has nothing to say about them.
# The smallest eigenvalue of $H$ has to do the work.
# The computed weights meet either condition, and the second is the one that is cheap to check.
# With the pairs, which take {glue:text}`dual-file-pairs:.0f` kB, the one proof is a file of {glue:text}`dual-file-stored:.0f` kB, and the other one of {glue:text}`dual-file-computed:.0f` kB.
# At these sizes the one is verified in half a second, and the other in a few milliseconds.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-floor", "caption": "A floor under the weights. (a) All weights of two proofs for the same instance, in decreasing order. Those that Newton's method finds go down to nothing; those of the search in passes stay above a floor. (b) The search. After each pass it looks at what its weights leave over, in units of what can be taken out of the floor. A floor that is too high is lowered, and then less is allowed. Once the rest is small enough the proof is made and checked."}, "image": {"alt": "Above, two falling curves on logarithmic axes: a dashed one drops without end, a solid one bends into a level line. Below, a noisy curve that falls a little, jumps up where its colour changes, and then falls steadily to a horizontal line at one."}}
stored = by_newton.certificate.weights
figure, axes = figures.draw_floor(stored, on_a_floor, told)
figure

# %% [markdown]
# In {numref}`fig-floor` the search takes {glue:text}`dual-passes` passes, since this instance is next to its transition.
# Three dimensions away it takes ten to fifty.
# These numbers hardly grow with $n$, and that makes the difference at large sizes, as counted here at the dimension at which half of all instances can be retrieved.

# %% tags=["hide-input"]
counted = [300, 1000, 3000, 10000]
at_d = [round(critical_dimension(m)) for m in counted]
pairs_of = list(zip(counted, at_d, strict=True))
Table(
    {
        "$n$": [str(m) for m in counted],
        "$d$": [str(d) for d in at_d],
        "numbers in $H$": [f"${figures.scientific(d**4)}$" for d in at_d],
        "in $C$ and $B$": [f"${figures.scientific(2 * d**2)}$" for d in at_d],
        "operations with $H$": [
            f"${figures.scientific(m * d**4 / 2 + d**6)}$" for m, d in pairs_of
        ],
        "with a floor": [f"${figures.scientific(6 * m * m * d)}$" for m, d in pairs_of],
        "weights": [f"${figures.scientific(m * m)}$" for m in counted],
        "numbers in a rule": [
            f"${figures.scientific(4 * d * d + 2 * m + 1)}$" for m, d in pairs_of
        ],
    }
)

# %% [markdown]
# The operations are those of the check, and a check with a floor takes about as long as two passes.
# At a thousand pairs that is 0.02 s on two cores, and at ten thousand it is a few seconds.
#
# Where every signal has to beat the average of its $k$ best competitors, weights have to keep to one more condition, $k \lambda_{ij} \le \sum_j \lambda_{ij}$: no competitor may carry more than a $k$-th of the weight of its key.
# Each weight changes by less than some $\epsilon$ in the correction, so the two sides come closer by less than $(n - 1 + k)\, \epsilon$, and that has to fit in.
# The floor itself makes room for it, as it adds $k f$ on the left and $(n - 1) f$ on the right.
# Only for $k = n - 1$ there is none: all weights of a key are equal then, and the proof is one with $H$.
#
# ### Nothing else passes
#
# A rule with a floor makes *positive* weights out of any memory whatever, and with the right $Z$ it makes *cancelling* ones.
# Gordan's theorem says that it cannot do both where some memory retrieves everything.
# So take the retrievable instances from above, and offer what their own memories make: once with $Z = 0$, and once with the $Z$ that takes everything away that is left.
# And on the others, exact arithmetic should agree with the search in passes.

# %% tags=["hide-input"]
agreed = []
for p in hopeless:
    proof = two_proofs.decided_by_passes(p).certificate
    agreed.append(proof is not None and proof.computed is not None)
    agreed[-1] &= holds_exactly(proof, p)
passed, qualities = {False: [], True: []}, {False: [], True: []}
for p in solvable:
    memory_found = torch.from_numpy(decide_top1(p).certificate.W)
    for balanced in (False, True):
        offer = two_proofs.tilted_certificate(p, memory_found, 1e-4, balanced=balanced)
        made = floor_correction(p, weights_of(offer, p.U, p.V))
        qualities[balanced].append(made.left if balanced else made.least)
        passed[balanced].append(verify(offer, p) or holds_exactly(offer, p))
glue("dual-least-positive", min(qualities[False]) * 1e5, display=False)
glue("dual-most-left", max(qualities[True]) * 1e15, display=False)
shares = [np.mean(x) for x in (agreed, passed[False], passed[True])]

# %% [markdown]
# The offers look well.
# Without $Z$ the least of their weights is {glue:text}`dual-least-positive:.1f` $\times 10^{-5}$ or more, and with it no more than {glue:text}`dual-most-left:.1f` $\times 10^{-15}$ is left over.

# %% tags=["hide-input"]
check(
    "theorem-1",
    f"share of {len(agreed)} hopeless instances, $n = {exact_n}$, whose computed weights "
    "are a proof in exact arithmetic, and of "
    f"{len(solvable)} retrievable ones that pass with such weights",
    kind="exact proof",
    measured=shares,
    predicted=[1, 0, 0],
    tolerance=0.01,
    falsehood=("weights on a floor, or weights that nearly cancel, suffice", [1, 1, 1]),
    limits="an exact statement about each instance; the search may end without a proof "
    "where a target hides, and other means decide then",
    axis="share of instances",
    each=["proved", "on a floor", "cancelling"],
)

# %% [markdown]
# ## Any vectors
#
# Nothing so far asks the vectors to be Gaussian.
# Yet three kinds of data would spoil the bounds, and the check has an answer to each.
#
# *Some directions are much shorter than others*, as in most embeddings.
# The smallest eigenvalue of $H$ then drowns in rounding.
# But the question does not change when all targets are mapped by one invertible matrix and shifted, when all keys are mapped by another, or when a key gets another length.
# So vectors are first mapped to where they look alike in all directions, and what the map rounds away is bounded with the rest.
# (A rule for computed weights holds the two maps with which it was found.)
#
# *Coordinates depend on each other*, as where all keys lie in a subspace.
# The smallest eigenvalue is zero then.
# Coordinates that depend on others are left out, once integers have shown that they do so exactly.
#
# *A few comparisons contradict each other*, and the rest plays no part.
# If one key is stored with two targets, two weights cancel, and $H$ has rank one.
# Such weights are made to cancel in integers.
#
# Here are the retrievable instance from above, and three versions of it that are spoilt in these ways.

# %% tags=["hide-input"]
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
verdicts = [decide_top1(pairs) for pairs in cases.values()]
used = [
    str(np.count_nonzero(weights_of(v.certificate, p.U, p.V)))
    if v.feasible is False
    else ""
    for v, p in zip(verdicts, cases.values(), strict=True)
]
verified = [
    verify(v.certificate, p) for v, p in zip(verdicts, cases.values(), strict=True)
]
Table(
    {
        f"$n = {n}$, $d = {above_d}$": list(cases),
        "retrievable": [words[v.feasible] for v in verdicts],
        "comparisons in the proof": used,
        "verified": [words[answer] for answer in verified],
    }
)

# %% [markdown]
# Where vectors depend on each other up to rounding only, the answer would hang on digits that nobody meant.
# There is no verdict then, and a reason that says which vectors lie in how many dimensions.
#
# ## A target that hides
#
# The simplest certificate needs one key only.
# Suppose that the target $u_i$ is an average of other targets, as in {numref}`fig-hidden`.
# Whatever the vector $x = W v_i$ is, the score of an average is the average of the scores.
# So $u_i^\top x$ is never the largest, and the key plays no part.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-hidden", "caption": "A target that hides, in two dimensions. The square lies among the other targets. Whatever vector $x$ its key is mapped to, some other target reaches further in that direction: the dashed line has all vectors with the same score."}, "image": {"alt": "Seven dots joined to a ring, a square inside it, an arrow from the centre, and a dashed line through the square across the arrow; two dots lie beyond the line."}}
figure, ax = figures.draw_hidden(5)
figure

# %% [markdown]
# Gaussian targets do not hide when the dimension is large, but in few dimensions they do.

# %% tags=["hide-input"]
hiding = []
for d in progress(hidden_d, "hidden targets"):
    seeds = [derived_seed(seed, 3, d, t) for t in range(hidden_instances)]
    hiding.append(share_hiding(hidden_n, d, seeds))
name = f"share of instances with a hidden target, $n = {hidden_n}$"
Table(
    {
        "$d$": [str(d) for d in hidden_d],
        name: hiding,
        "$d^2/(n \\log n)$": [top1_ratio(hidden_n, d) for d in hidden_d],
    },
    {name: ".3f"},
)

# %% [markdown]
# Around the transition at this size, between $d = 7$ and 8, some three to ten instances in a hundred have such a target.
# Where the other keys can all be satisfied by a memory that sends this one to zero, the cross-entropy has no minimum at all.
# The other keys are satisfied ever better while this one stays where it is.
# An optimiser that waits for its gradient to vanish waits for ever.
#
# ## The proof's own certificate
#
# The weights above were found by an optimiser.
# The paper's proof writes its weights down.
# How can one guess weights that cancel?
# In four steps.
#
# *What has to cancel.*
# Let the weights of each key $i > r$ add up to one, and call $x_i = \sum_{j \le r} \lambda_{ij} u_j$ the weighted average of the targets that it is compared with.
# The weighted sum of its comparisons is then $u_i v_i^\top - x_i v_i^\top$.
# So all of them cancel if
#
# $$
# \sum_{i > r} x_i v_i^\top = \sum_{i > r} u_i v_i^\top .
# $$
#
# *Which averages would do.*
# Least squares has an answer: map each key to its target as well as a linear map can, and let $x_i$ be what the map makes of the key,
#
# $$
# x_i = \Bigl( \sum_{l > r} u_l v_l^\top \Bigr) \Bigl( \sum_{l > r} v_l v_l^\top \Bigr)^{-1} v_i .
# $$
#
# Sum $x_i v_i^\top$ over $i$, and the inverse goes away: the equation holds exactly.
# Since there are many more keys than dimensions, the map fits badly, and the $x_i$ are short, of a length near $\sqrt{d/n}$.
#
# *How to make the average of the targets equal $x_i$.*
# The targets $j \le r$ have nothing to do with $x_i$, so their plain average is close to zero.
# To move it towards $x_i$, give more weight to the targets that lie far in this direction.
# Measure how far a target lies in standard deviations, $g_{ij} = \sqrt d\, u_j^\top x_i/\norm{x_i}$, which is a standard normal number.
# Every target gets a small weight, and those beyond a level $z_i$ a large one:
#
# $$
# \lambda_{ij} = \frac1r \Bigl[ \frac{1}{\log n} + \frac{b}{p_i} 1\{ g_{ij} \ge z_i \} \Bigr] .
# $$ (eq-array)
#
# Here $p_i = 1 - \Phi(z_i)$ is the share of targets beyond the level, and $b = 1 - 1/\log n$ makes the average of the bracket one.
#
# *Where to put the level.*
# The bracket times $g_{ij}$ has the mean $b\, \varphi(z_i)/p_i$, with the standard normal density $\varphi$.
# It should be the length of $x_i$ in standard deviations, so $z_i$ solves $b\, \varphi(z_i)/p_i = \sqrt d\, \norm{x_i}$.
# {numref}`fig-tilt` shows the outcome for one key.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-tilt", "caption": "The weights of one key, for $n = 1000$ and $d^2/(n \\log n) = 0.3$. Dashed: the density of the targets in the direction of $x_i$. Solid: the same times the weights. All targets keep a small weight, and the few beyond the level $z_i$ carry most of it, so that the mean moves to where $x_i$ is."}, "image": {"alt": "A bell curve about zero, dashed; below it a low bell curve that jumps up at a vertical line near 1.1 and falls off to the right; a second vertical line near 1.4 marks the mean."}}
figure, ax = figures.draw_tilt(3 * math.log(10), 0.3)
figure

# %% [markdown]
# So over a fresh target $u_j$ the bracket has the mean 1, and the bracket times $u_j$ has the mean $x_i$.
# What target $j$ contributes to the sum of all comparisons then has the mean $\sum_{i > r} (u_i - x_i) v_i^\top = 0$.
# This is exact.
#
# It also explains the 2.
# The length of $x_i$ in standard deviations is about $d/\sqrt n$, and the level $z_i$ is there too.
# Targets as far away as that must exist among the $r$ compared with.
# The furthest of $r$ normal numbers is near $\sqrt{2 \log r}$, and $\log r$ is about $\log n$.
# So $d/\sqrt n < \sqrt{2 \log n}$ is needed, which says $d^2 < 2\, n \log n$.
#
# ### How much is left
#
# The mean is zero, but an instance is not its mean.
# Let $c = d^2/(n \log n)$, and let $p$ be the typical value of the $p_i$.
# The square of $\norm{\mathcal A(\lambda)}_F$, in units of $n/(d \log n)$, is a variance, and adding up its largest terms gives
#
# $$
# c\, (\log n)^5\, \frac{1}{n} \Bigl( \frac{2 b^2}{p} + d \Bigr) .
# $$ (eq-size)
#
# The first term is the price of rare events: the weights of the few targets beyond the level are large.
# The second is that of keys which overlap, and so have weights that rise together.
#
# The construction can be carried out on instances, and its rest measured.

# %% tags=["hide-input"]
sizes = {}
for c in array_ratios:
    for m in progress(array_sizes, f"ratio {c}"):
        d = dimension_at_ratio(m, c)
        repeats = array_instances * min(4, max(array_sizes) // m)
        seeds = [derived_seed(seed, 4, m, d, t) for t in range(repeats)]
        sizes[m, c] = proof_arrays.array_size(m, d, seeds)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-array", "caption": "How much of the proof's array is left over, in the units in which Lemma 1 says that it vanishes. Points: the construction carried out. Lines: the leading terms. It grows at first, and is small only for numbers of pairs that no memory will ever hold; the grey line is at $1/\\pi$, below which the second lemma can take it away."}, "image": {"alt": "Three curves on logarithmic axes that rise or are flat near ten and a hundred for small n, where points lie on them, and fall below one near 10 to the 17, 10 to the 20 and 10 to the 50."}}
figure, ax = panels(height=3.8, width=figures.WIDTH)
digits = np.linspace(2, 100, 300)
for (c, look), dashes in zip(series(array_ratios), figures.DASHES, strict=False):
    line = paper_certificate.predicted_size(digits * math.log(10), c)
    ax.plot(digits, line, color=look["color"], ls=dashes)
    points = np.array([(sizes[m, c].root, sizes[m, c].error) for m in array_sizes])
    name = f"$d^2/(n\\,\\log n) = {c:g}$"
    at = np.log10(array_sizes)
    ax.errorbar(at, points[:, 0], points[:, 1], ls="none", label=name, **look)
ax.axhline(1 / math.pi, color=plot.LIMIT, lw=1, label="small enough")
ax.set(xscale="log", yscale="log", ylim=(1e-3, 1e4))
ax.set(xlabel="decimal digits of $n$, that is $\\log_{10} n$")
ax.set_ylabel("rest $\\|\\mathcal{A}(\\lambda)\\|_F\\; d\\,\\log n / n$")
marks = [2, 3, 6, 12, 25, 50, 100]
ax.set_xticks(marks, [str(x) for x in marks])
ax.minorticks_off()
ax.legend()
figure

# %% [markdown]
# In {numref}`fig-array` the points follow {eq}`eq-size`, and by that formula the lemma is true.
# But what it promises happens elsewhere.
# That the rest vanishes has not been seen: at ratio 0.5 it is near 31 from $10^3$ to $10^4$ pairs, where it is largest, and at ratio 1 it is above a hundred.
#
# What the check compares is the leading order of this book, from which the lemma follows.
# It takes the smallest ratio, since at larger ones a few rare events carry the mean square.
# The falsehood is the first term of {eq}`eq-size` alone.
# The tolerance is four standard errors and $1/\sqrt d$, by which lengths vary.

# %% tags=["hide-input"]
smallest_ratio = min(array_ratios)
large = [m for m in array_sizes if m >= max(array_sizes) / 10]
tested = [(m, smallest_ratio) for m in large]
measured = np.array([sizes[key].root for key in tested])
errors = np.array([sizes[key].error for key in tested])
alone = [proof_arrays.size_without_overlap(*key) for key in tested]
check(
    "lemma-1",
    f"log of the size of the array at $d^2/(n \\log n) = {smallest_ratio:g}$, "
    f"$n$ = {', '.join(str(m) for m, _ in tested)}",
    kind="simulation",
    measured=np.log(measured),
    predicted=np.log([sizes[key].predicted for key in tested]),
    tolerance=4 * errors / measured
    + [dimension_at_ratio(*key) ** -0.5 for key in tested],
    falsehood=("keys do not overlap: the second term is missing", np.log(alone)),
    limits="this tests the leading order that the book derives and not the $o(1)$ of "
    f"the lemma, which no instance shows: sizes are {measured.min():.0f} and more "
    "here; by the formula they are first below 1 near $n = 10^{17}$ at ratio 0.5, "
    "$10^{20}$ at 1, $10^{50}$ at 1.5",
    axis="log of the size, in units of $n/(d \\log n)$",
    each=[f"$n = {m}$" for m, _ in tested],
)

# %% [markdown]
# ## How far bounded arrays reach
#
# The second lemma says which rests can be taken away.
# Its constant is the smallest value of
#
# $$
# \frac{d}{r (n-r)} \sum_{i > r} \sum_{j \le r} |(u_i - u_j)^\top X v_i|
# $$
#
# over all $X$ of length one.
#
# What should it be for many pairs?
# The proof treats the two factors $u_i - u_j$ and $v_i$ one after the other, and allows each key the worst value of its own score.
# That leaves the mean absolute value of a standard normal number twice, $2/\pi \approx 0.64$, for large $n$ and $r/d$.
#
# In a fixed dimension the truth is better.
# The sum tends to $(2/\sqrt\pi)\, \sqrt d\, \E \norm{X v}$ with $v \sim \N(0, I_d/d)$, which is least for a matrix $X$ of rank one.
# That gives $2 \sqrt 2/\pi \approx 0.90$.
#
# On an instance the constant is a minimum over a sphere in $d^2$ dimensions.
# Descents from random starts give a value from above.
# The least singular value of the comparisons over the longest of them gives one from below.

# %% tags=["hide-input"]
reaches = {}
for m in progress(reach_sizes, "reach"):
    repeats = reach_instances * min(4, max(reach_sizes) // m)
    seeds = [derived_seed(seed, 5, m, t) for t in range(repeats)]
    drawn = [gaussian_pairs(m, reach_d, seed=s) for s in seeds]
    reaches[m] = np.array([paper_certificate.reach(p, m // 4) for p in drawn])
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
# The minimum rises with $n$ and stays well below 0.90.
# What is missing goes like $1/\sqrt n$, as the averages over the $n/4$ targets fluctuate.
# A line through all instances continues it to infinitely many pairs.

# %% tags=["hide-input"]
least = np.concatenate([x[:, 1] for x in reaches.values()])
at = np.concatenate([np.full(len(x), m**-0.5) for m, x in reaches.items()])
line, covariance = np.polyfit(at, least, 1, cov="unscaled")
missed = least - np.polyval(line, at)
scatter = math.sqrt(missed @ missed / max(1, len(missed) - 2))
raw = reaches[reach_sizes[-1]][:, 1].mean()
check(
    "lemma-2",
    f"smallest sum found, continued to $n = \\infty$ in $1/\\sqrt n$, "
    f"$d = {reach_d}$, $r = n/4$, $n$ = {', '.join(map(str, reach_sizes))}",
    kind="simulation",
    measured=line[1],
    predicted=2 * math.sqrt(2) / math.pi,
    tolerance=4 * scatter * math.sqrt(covariance[1, 1]) + 0.03,
    falsehood=("no better than the proof's value", 2 / math.pi),
    limits=f"this is an extrapolation from {raw:.2f} at $n = {reach_sizes[-1]}$; $d$ "
    "is fixed, where the lemma lets it grow, and descents find minima only from above; "
    "the constant is zero where $r(n-r) < d^2$; the proof needs $r > d$, "
    "from $n = 10^5$ on",
    axis="smallest sum, $d/(r(n-r))$ times the sum of absolute values",
)

# %% [markdown]
# ## From which size the proof works
#
# Two things must be the case before this constant is anything.
#
# - There must be at least as many comparisons as unknowns, $r (n - r) \ge d^2$. Otherwise some $X$ is orthogonal to all of them, as in the first row of the last table.
# - For the argument of the proof the $r$ targets have to span the space with room, $r > d$. Otherwise its lower bound is exactly zero, whatever the true minimum is.
#
# Two more conditions are about the size of the array, in units of $n/(d \log n)$.
#
# - The first lemma says that this size tends to zero, so it should at least be below one.
# - The correction $\delta$ may be half as large as the smallest weight, so in these units it reaches half the constant of the second lemma. With the proof's $2/\pi$ that is $1/\pi$, and the array has to be smaller.
#
# To leading order all four conditions can be followed to any size:

# %% tags=["hide-input"]
columns = {
    f"from $n$ at ratio {c:g}": [
        proof_arrays.onset(holds, c) for holds in proof_arrays.CONDITIONS.values()
    ]
    for c in array_ratios
}
Table({"needed": list(proof_arrays.CONDITIONS), **columns})

# %% [markdown]
# So the proof's certificate is one for astronomers.
# Impossibility itself does not wait.
# Below the transition of the preceding section each of hundreds of instances has a certificate, from $n = 30$ to $n = 1000$.
# It is only not one of this kind.
#
# ## Limits
#
# - A certificate proves that one instance is hopeless. That almost all are, below 2 and for large $n$, is the theorem; what is measured here are its ingredients.
# - {eq}`eq-size` collects the largest terms for vectors of typical length. At ratio 1.5 a few rare events carry the mean square, so that the averages of so few instances scatter.
# - The value of {prf:ref}`lem-dual-reach` found by descent is an upper estimate of a minimum that is not convex; the bound from below is a proof, and weak.
# - Weights have a floor only where *all* comparisons can have positive weights. If a target hides, or two keys are equal, the others may have to be zero. Such proofs are looked for first, and they need neither a search nor a floor.
# - Next to the transition the floor has to be low, and the search takes more passes: a hundred to three hundred, where three dimensions away fifty are enough. An instance that is nearer to it than double precision can tell is left undecided.
# - Exact arithmetic is affordable up to dimension 20, where a check takes ten seconds.
#
# ## Exercises
#
# ```{exercise} Turn one key
# :label: ex-dual-turn
#
# Three targets stand at the corners of a regular triangle, and each key points to its own target.
# Then key 1 is turned.
# A memory may turn all keys by one angle, and stretch them.
# Predict how far key 1 can be turned until no such memory retrieves everything.
# Then turn it in [the widget](#widget-certificate_polygon).
# How far is it with $n$ pairs, at the corners of a regular polygon?
# ```
#
# ```{solution} ex-dual-turn
# :class: dropdown
#
# A turned key has the largest score with the target that is the furthest in its direction.
# So it must come into the sector of its target, which reaches $180/n$ degrees to either side.
# The other keys are still in the middle of theirs, so the memory may turn by less than $180/n$ degrees.
# Key 1 has been turned by $\psi$, and the memory has to bring it back to within $180/n$ degrees.
# Some angle meets both demands if $\psi$ is less than $360/n$ degrees: 120 degrees for three pairs.
# At 120 degrees exactly, two comparisons are opposite to each other, and the polygon is a line there and back.
# A little beyond, it is a triangle.
# ```
#
# ```{exercise} Four numbers instead of two
# :label: ex-dual-four
#
# In the triangle of the last exercise let key 1 be turned by 150 degrees, to where the first coordinate is $-\frac12$ and the second $-\frac12\sqrt3$.
# No memory that turns and stretches retrieves the three pairs.
# Is the instance hopeless for all $2 \times 2$ matrices?
# Try diagonal ones with pencil and paper before you open the solution.
# ```
#
# ```{solution-start} ex-dual-four
# :class: dropdown
# ```
#
# It is not.
# The matrix with 1 and $-\frac12$ on the diagonal turns the second coordinate over and halves it.
# Keys 2 and 3 point down to the left and to the right.
# They now point up a little, by 16 degrees, and are still in the sectors of their targets, which reach up to 30 degrees above the horizontal.
# Key 1 comes to 139 degrees, inside the sector of its target between 30 and 150.
# The cell computes the three margins.

# %% tags=["answer"] says="0.217 0.375 0.375"
import numpy as np

corners = np.radians([90, 210, 330])
U = np.array([np.cos(corners), np.sin(corners)])
keys = corners + np.radians([150, 0, 0])
V = np.array([np.cos(keys), np.sin(keys)])
S = U.T @ np.diag([1, -0.5]) @ V
best = (S - 9 * np.eye(3)).max(axis=0)  # of the competitors
print(*(f"{margin:.3f}" for margin in np.diag(S) - best))

# %% [markdown]
# A certificate is always one against a set of memories.
# That of the widget speaks about two numbers, and that of {prf:ref}`thm-dual` about all $d^2$.
#
# ```{solution-end}
# ```
#
# ```{exercise} Few comparisons are enough
# :label: ex-dual-few
#
# In the plane two or three comparisons make a certificate.
# Show that in $d^2$ dimensions every hopeless instance has a certificate with at most $d^2 + 1$ weights that are not zero.
# Why does the one that the cross-entropy finds have $n (n-1)$?
# ```
#
# ```{solution} ex-dual-few
# :class: dropdown
#
# Take a certificate with as few nonzero weights as possible, and suppose that there are more than $d^2 + 1$.
# Append a one to each of their comparisons, read as a vector of $d^2$ numbers.
# These are more than $d^2 + 1$ vectors in $d^2 + 1$ dimensions, so they are linearly dependent.
# There are numbers $\mu_{ij}$, not all zero, with $\sum \mu_{ij} A_{ij} = 0$ and $\sum \mu_{ij} = 0$.
# Some of them are positive.
# Let $t$ be the smallest $\lambda_{ij}/\mu_{ij}$ over the positive ones.
# Then the weights $\lambda_{ij} - t \mu_{ij}$ are nonnegative, they cancel, and they have the same positive sum.
# But one more of them is zero, which contradicts the choice of the certificate.
#
# The weights of the cross-entropy are exponentials of scores, divided by sums of them, and these are never zero.
# (In a computer, where a last Newton step predicts them, a few of the smallest come out negative and are set to zero.)
# That is no waste: the correction needs a positive $h_{\min}$, and so at least $d^2$ comparisons with positive weights.
# With a floor it is a gain: then every comparison helps to bound the correction.
# ```
#
# ```{exercise} What a near miss is good for
# :label: ex-dual-near
#
# Weights with $\lambda_{ij} \ge 0$ and $\sum \lambda_{ij} = 1$ leave $R = \sum \lambda_{ij} A_{ij}$, which is small and not zero.
# They prove no impossibility.
# Show that they prove something else: a memory with $\norm{W}_F = d$ has a worst margin of at most $d\, \norm{R}_F$.
# Then let the instance be retrievable, and show that for the nearest miss, where $\norm{R}_F$ is as small as possible, some memory reaches this.
# ```
#
# ```{solution} ex-dual-near
# :class: dropdown
#
# The product $\inprod{W, R}$ is the average of all $\inprod{W, A_{ij}}$ with the weights $\lambda_{ij}$.
# The average is at least the smallest of them, which is the worst margin, and it is at most $\norm{W}_F \norm{R}_F = d\, \norm{R}_F$.
#
# Now let $R$ be the average of comparisons that is nearest to zero, and $A$ any comparison.
# The average is not zero itself, as it would be a certificate, and the instance is retrievable.
# The averages $R + t (A - R)$ with $0 \le t \le 1$ are no nearer.
# The derivative of their squared length at $t = 0$ is $2 \inprod{R, A - R}$, so it is not negative, and $\inprod{R, A} \ge \norm{R}_F^2$.
# The memory $W = d\, R / \norm{R}_F$ has the norm $d$, and its product with every comparison is at least $d\, \norm{R}_F$.
#
# So for a retrievable instance the largest worst margin and the nearest miss are one number, told from two sides.
# That is why a margin which is tiny makes an instance hard to decide.
# ```
#
# ```{exercise} Lengths
# :label: ex-dual-lengths
#
# Multiply one key by a positive number.
# Show that the instance stays what it is, retrievable or hopeless.
# Somebody claims the same for a target, since only its direction should matter.
# Refute this with five targets in the plane.
# ```
#
# ```{solution} ex-dual-lengths
# :class: dropdown
#
# If $v_i$ is multiplied by $c > 0$, so are its comparisons $(u_i - u_j) v_i^\top$.
# A memory that has positive products with them still has.
# Weights that cancel do so again if $\lambda_{ij}$ is divided by $c$ for this $i$.
#
# For the claim, let five targets stand at the corners of a regular pentagon about the origin, and let each be its own key.
# The identity matrix retrieves all of them.
# Now divide the first target by ten.
# The other four have the origin inside the area of their averages, and at 0.1 from it the first target is inside, too: the nearest side is the one between its two neighbours, at a distance of 0.31.
# So the target hides, as in {numref}`fig-hidden`, and the instance is hopeless.
# The lengths of targets matter, and those of keys do not.
# ```
#
# ## Try
#
# A larger instance on either side, a floor under more weights, or the proof's array at a ratio where it shrinks soonest:
#
# ```
# python -m assocmem run dual_certificate \
#     -p n 100 -p below_d 19 -p above_d 25 --out runs/dual
# python -m assocmem run dual_certificate \
#     -p floor_n 600 -p floor_d 60 --out runs/floor
# python -m assocmem run dual_certificate \
#     -p array_ratios "[0.7]" -p array_sizes "[1000, 20000]" --out runs/array
# ```
