"""Numbers for the explorer pages of the book: what is too long to compute in a browser, as a script.

The pages do the scalar theory themselves (``book/_static_src/explorer``). What they take from here are
moments that they interpolate, certified counts, and what the explicit memories need.
"""

import math

from assocmem.book.plotting import proportion_interval
from assocmem.experiments.explicit.scales import CLIPPED, SPLIT, half_ratio, stored_digits
from assocmem.experiments.transitions import tally, transition
from assocmem.pairs.sizes import tail_count
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.kinematics import pooled_moments, statistical_dimension
from assocmem.theory.unequal_lengths import length_cost
from assocmem.theory.uneven_answers import unevenness_cost

DIGITS = 15.0
"""Decimal digits of the largest number of pairs on the pages, 10^12, and some more to interpolate."""
MEMORIES = {SPLIT: "sparse repair, best reserve", CLIPPED: "equal signals, worst competitors clipped once"}
"""What the pages call the explicit memories of the stored table."""

SOME_TARGETS = (3, 4, 6, 10, 20, 40, 100, 300, 1000, 10**4, 10**5, 10**6, 10**7, 10**9, 10**12)
"""Numbers of targets between which the pages interpolate what facts cost beyond the law."""
LONG = 1000.0
"""Dimension of targets in which the cost of unequal lengths is computed: it goes with the inverse of it."""


def tables() -> dict[str, object]:
    """All tables of the explorer pages, as plain data.

    Returns
    -------
    dict
        ``pooled``: moments of the number of competitors pooled with a signal, for each n along k;
        ``outer_products``: log probability that outer products do not retrieve a key, by n and
        ``d^2/(n log n)``; ``certified``: counts of proved verdicts; ``certified_shift``: how far their
        transitions are from the kinematic ones, in ``d^2/n`` for k = 1, and the largest share of it for any
        tail; ``memories``: the ratio at which half of the instances are retrieved, along the digits of n;
        ``facts``: what facts cost beyond the law, by the number m of targets: the share that is lost for each
        unit of the mean square of ``m f_a - 1`` where answers have the shares ``f_a``, and how much more a
        fact takes where targets differ in length, relatively and times their dimension.
    """
    certified = _certified()
    top1 = [row for row in certified if row["r"] == 0 and _seen_to_turn(row)]
    return {
        "pooled": {"rows": _pooled()},
        "outer_products": _outer_products(),
        "certified": certified,
        "certified_shift": {
            "sizes": [row["n"] for row in top1],
            "shift": [row["shift"] for row in top1],
            "error": [row["shift_error"] for row in top1],
            "largest_share": _digits(max(-row["shift"] / (row["half"] ** 2 / row["n"]) for row in certified)),
        },
        "memories": _memories(),
        "facts": {
            "m": list(SOME_TARGETS),
            "uneven": _rounded(unevenness_cost(m) for m in SOME_TARGETS),
            "lengths": _rounded(LONG * length_cost(m, LONG) / statistical_dimension(m) for m in SOME_TARGETS),
        },
    }


def _seen_to_turn(row):
    """Whether both verdicts were found at one dimension; else the transition is only known to lie between."""
    return any(0 < yes < decided for yes, decided in zip(row["yes"], row["decided"], strict=True))


def _pooled():
    table, moments = read_table("explorer", "pooled").sort_values("k"), ["mean", "variance", "third"]
    return [
        {"n": int(n), "k": rows["k"].astype(int).tolist(), **rows[moments].to_dict("list")}
        for n, rows in table.groupby("n")
    ]


def _outer_products():
    table = read_table("explorer", "outer_products")
    values = table.pivot(index="n", columns="ratio", values="log_failure")
    return {
        "n": values.index.astype(int).tolist(),
        "ratio": values.columns.tolist(),
        "log_failure": values.to_numpy().tolist(),
    }


def _certified():
    """Counts of proved verdicts by tail fraction (0 for first place) and number of pairs."""
    larger = ("verdicts_thousand", "verdicts_large", "verdicts_largest")
    top1 = read_table("finite_size_scaling", "verdicts", *larger)
    tails = read_table("ridgeless_limit", "verdicts", "verdicts_large", "verdicts_largest")
    return [
        *_counts(0.0, top1),
        *(row for r, outcomes in tails.groupby("r") for row in _counts(float(r), outcomes)),
    ]


def _counts(r, outcomes):
    for size, (dimensions, yes, decided) in tally(outcomes).items():
        k = tail_count(r, size - 1) if r else 1
        found = transition(size, dimensions, yes, decided, k)
        low, high = proportion_interval(yes, decided)
        yield {
            "r": r,
            "n": size,
            "d": dimensions.tolist(),
            "yes": yes.tolist(),
            "decided": decided.tolist(),
            "share": _rounded(yes / decided),
            "low": _rounded(low),
            "high": _rounded(high),
            "half": _digits(math.sqrt(size * found.half)),
            "error": _digits(found.error * math.sqrt(size / found.half) / 2),
            "shift": _digits(found.half - pooled_moments(size, k)[0]),
            "shift_error": _digits(found.error),
        }


def _memories():
    choices = read_table("sparse_repair", "predictions")
    digits = [x for x in stored_digits(choices) if x <= DIGITS]
    curves = {
        label: _rounded(half_ratio(choices, x, name) for x in digits) for name, label in MEMORIES.items()
    }
    return {"digits": digits, "ratio": curves}


def _rounded(values):
    return [_digits(x) for x in values]


def _digits(x):
    return float(f"{x:.6g}")
