"""Numbers for the widget of write rules: what stored instances retrieve, and what they survive."""

import math
from collections.abc import Iterable

from assocmem.book.rule_figures import RUNGS, in_order, means, rung
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.ladder.rules import RULES
from assocmem.pairs.sizes import top1_ratio
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.noisy_recall import MEMORIES, rounding_noise

PLAIN, EQUAL, CLIPPED = MEMORIES
UNDER_NOISE = {
    PLAIN: ("outer_products", "least_squares", "whitened"),
    EQUAL: ("evened", "equal_signals"),
    CLIPPED: (
        "even_clip",
        "even_clip_ten",
        "one_clip",
        "four_clips",
        "softmax_two",
        "softmax_ten",
        "cross_entropy",
    ),
}
"""Rules whose constant under noise is known, by the memory that it is known from."""
HARMS = ("query", "bits")
"""What the widget does to memories."""
BITS = range(1, 9)
"""Bits of an entry."""


def rule_tables() -> dict[str, object]:
    """All numbers of the widget, as plain data.

    Returns
    -------
    dict
        ``rules``: for each, in the order of the ladder, its ``name``, ``label``, ``constant`` or null, what
        that is (``status``), the place of its memory under noise in ``memories`` or null, and its smallest
        ratios ``needs``, as lists of n, mean and standard error or null; ``memories``: their names;
        ``shares``: for each ``n`` the ``ratio`` of each dimension, and for each rule the share of keys that
        is ``retrieved``, of all and of the oldest and newest tenth; ``survival``: for each ``ratio`` what is
        left after each harm, for each rule as lists of size, share that was retrieved and share that was told
        from the scores; ``noise``: what rounding to 1, 2 and more bits amounts to.
    """
    needs = means(read_table("write_rules", "dimensions", "dimensions_large"), "ratio", ["rule", "n"])
    return {
        "rules": [_rule(name, needs) for name in RUNGS],
        "memories": list(MEMORIES),
        "shares": list(_shares(read_table("write_rules", "shares"))),
        "survival": list(_survival(read_table("write_rules", "survival"))),
        "noise": [_digits(rounding_noise(b)) for b in BITS],
    }


def _rule(name, needs):
    rule = RULES[name]
    memory = next((k for k, names in enumerate(UNDER_NOISE.values()) if name in names), None)
    found = sorted((n, *needs[known, n][:2]) for known, n in needs if known == name)
    return {
        "name": name,
        "label": rung(name).label,
        "constant": None if rule.constant is None else _digits(rule.constant),
        "status": rule.status,
        "memory": memory,
        "needs": [
            [int(n), _digits(mean), None if math.isnan(error) else _digits(error)] for n, mean, error in found
        ],
    }


def _shares(table: DataFrame) -> Iterable[dict]:
    columns = ("retrieved", "oldest", "newest")
    for n, rows in table.groupby("n"):
        dimensions = sorted({int(d) for d in rows["d"]})
        of = {column: means(rows, column, ["rule", "d"]) for column in columns}
        yield {
            "n": int(n),
            "ratio": [_digits(top1_ratio(int(n), d)) for d in dimensions],
            "rules": {
                name: [[_digits(of[column][name, d][0]) for d in dimensions] for column in columns]
                for name in in_order(rows["rule"])
                if all((name, d) in of["retrieved"] for d in dimensions)
            },
        }


def _survival(table: DataFrame) -> Iterable[dict]:
    rows = table[(table["n"] == 300) & table["harm"].isin(HARMS)]
    for d, own in rows.groupby("d"):
        left, told = (means(own, column, ["harm", "rule", "size"]) for column in ("retrieved", "predicted"))
        yield {
            "ratio": _digits(top1_ratio(300, int(d))),
            **{
                harm: {
                    name: [
                        [size, _digits(left[key][0]), _digits(told[key][0])]
                        for key in left
                        for size in key[2:]
                        if key[:2] == (harm, name)
                    ]
                    for name in in_order(own["rule"])
                    if name in RULES
                }
                for harm in HARMS
            },
        }


def _digits(x):
    """A number with the digits that a chart can show."""
    return float(f"{x:.4g}")
