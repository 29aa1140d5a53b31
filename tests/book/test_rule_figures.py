"""The figures of write rules show what they are given, rule by rule and size by size."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from assocmem.book import rule_figures as figures
from assocmem.experiments.ladder.rules import RULES

SIZES = (300, 1000)
LIMITS = {"outer_products": (8.0, "proved"), "muon": (11.1, "derived"), "softmax_two": (None, "measured")}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def ladder():
    rows = [
        {"n": n, "rule": rule, "seed": seed, "d": 50, "ratio": 2.0 + k + seed / 10}
        for k, rule in enumerate(LIMITS)
        for n in SIZES
        for seed in (0, 1)
        if not (n == 1000 and rule == "softmax_two" and seed)
    ]
    return pd.DataFrame(rows)


def bars(ax):
    """Places of the markers with error bars, by label or in order."""
    return [bar.lines[0].get_xydata() for bar in ax.containers]


def test_every_rule_of_the_ladder_has_its_words_and_a_known_kind():
    assert set(figures.RUNGS) == set(RULES)
    assert {figures.rung(name).kind for name in RULES} == set(figures.KINDS)
    labels = [figures.rung(name).label for name in RULES]
    assert len(set(labels)) == len(labels)


def test_a_rule_that_nobody_knows_has_its_own_name_and_comes_last():
    assert figures.rung("my_rule").label == "my rule"
    assert figures.in_order(["my_rule", "muon", "outer_products", "muon"]) == [
        "outer_products",
        "muon",
        "my_rule",
    ]


def test_means_are_over_instances_and_one_alone_has_no_error():
    found = figures.means(ladder(), "ratio", ["rule", "n"])
    mean, error, count = found["outer_products", 300]
    assert (mean, error, count) == (pytest.approx(2.05), pytest.approx(0.05), 2)
    alone = found["softmax_two", 1000]
    assert math.isnan(alone[1])
    assert figures.uncertainty(alone) == pytest.approx(0.05 * 4)
    assert figures.uncertainty((2.0, 0.01, 4)) == pytest.approx(0.05)
    assert figures.uncertainty((2.0, 0.3, 4)) == 0.3
    assert figures.in_brackets(alone) == "4.00"
    assert figures.in_brackets((mean, error, count)) == "2.05(5)"
    assert figures.in_brackets((11.44, 0.31, 8)) == "11.4(3)"
    assert figures.in_brackets((1.4, 0.0, 8)) == "1.40(1)"
    assert figures.in_brackets(None) == ""


def test_the_ladder_has_a_row_a_rule_and_limits_that_say_what_they_are():
    certified = {300: 1.1, 1000: 1.2}
    (ax,) = figures.draw_ladder(ladder(), LIMITS, certified).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        figures.rung(name).label for name in ("softmax_two", "muon", "outer_products")
    ]
    places = np.concatenate(bars(ax))
    assert places[:2] == pytest.approx(np.array([[2.05, 2.1], [2.05, 1.9]]))
    marks = {
        (line.get_xdata()[0], line.get_markerfacecolor()) for line in ax.lines if line.get_marker() == "^"
    }
    assert marks == {(8.0, "black"), (11.1, "white")}
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (band.x0, band.x1) == (pytest.approx(1.1), pytest.approx(1.2))
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[:2] == ["300 pairs", "1 000 pairs"]


def test_shares_stand_at_their_loads():
    rows = [
        {"n": n, "d": d, "rule": rule, "seed": seed, "retrieved": share + seed / 100}
        for n in SIZES
        for rule, share in (("muon", 0.5), ("delta", 0.7))
        for d in (20, 40)
        for seed in (0, 1)
    ]
    (ax,) = figures.draw_along_load(pd.DataFrame(rows), 300, ["muon", "delta", "evened"]).axes
    drawn = dict(zip(ax.get_legend_handles_labels()[1], bars(ax), strict=True))
    assert drawn["one step of Muon"] == pytest.approx(np.array([[300 / 1600, 0.505], [300 / 400, 0.505]]))
    assert set(drawn) == {"one step of Muon", "delta rule (DeltaNet)"}
    with pytest.raises(ValueError, match="must be one of the stored"):
        figures.draw_along_load(pd.DataFrame(rows), 77, ["muon"])


def test_what_is_kept_stands_beside_its_theory():
    (ax,) = figures.draw_kept(["a", "b"], [0.6, 0.7], [0.61, 0.69], [0.01, 0.02]).axes
    assert [bar.get_width() for bar in ax.patches] == [0.6, 0.7]
    (points,) = (bar.lines[0].get_xydata() for bar in ax.containers if hasattr(bar, "lines"))
    assert points == pytest.approx(np.array([[0.61, 1], [0.69, 0]]))


def test_small_ratios_have_a_line_and_points_for_each_rule():
    found = np.array([[[1.0, 1.2], [0.9, 0.9]], [[0.5, 0.5], [0.6, 0.8]]])
    curves = {"a": [1, 1, 1], "b": [0.5, 0.6, 0.7]}
    (ax,) = figures.draw_small_ratio([1, 2, 4], curves, [2, 4], found).axes
    assert bars(ax) == [
        pytest.approx(np.array([[2, 1.1], [4, 0.9]])),
        pytest.approx(np.array([[2, 0.5], [4, 0.7]])),
    ]
    assert ax.get_legend_handles_labels()[1] == list(curves)


def test_ages_have_a_line_and_points_for_each_curve():
    curves = {
        "step 0.1": (lambda ages: 1 - ages / 40, [0.9, 0.4], [0.1, 0.1]),
        "step 0.3": (lambda ages: 1 - ages / 20, [1, 0.1], [0.1, 0.1]),
    }
    (ax,) = figures.draw_ages([10, 20], curves).axes
    assert bars(ax)[1] == pytest.approx(np.array([[10, 1], [20, 0.1]]))
    assert ax.lines[0].get_ydata()[[0, -1]] == pytest.approx([1, 0.5])
    assert ax.get_legend_handles_labels()[1] == list(curves)


def test_survival_has_predictions_as_lines_and_measurements_as_points():
    rows = [
        {
            "rule": rule,
            "harm": harm,
            "size": size,
            "seed": seed,
            "retrieved": 1 - size,
            "predicted": 0.99 - size,
        }
        for rule in ("muon", "even_clip")
        for harm in ("query", "bits")
        for size in (0.1, 0.5)
        for seed in (0, 1)
    ]
    (ax,) = figures.draw_survival(pd.DataFrame(rows), "query", ["muon", "even_clip"], "noise").axes
    assert bars(ax)[0] == pytest.approx(np.array([[0.1, 0.9], [0.5, 0.5]]))
    assert ax.lines[0].get_ydata() == pytest.approx([0.89, 0.49])
    assert ax.get_xlabel() == "noise"
    with pytest.raises(ValueError, match="must be one of bits, query"):
        figures.draw_survival(pd.DataFrame(rows), "nothing", ["muon"], "")


def test_bits_have_a_curve_for_each_memory():
    (ax,) = figures.draw_bits([1, 2], {"a": [0.1, 0.05], "b": [0.2, 0.1]}).axes
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.1, 0.05], [0.2, 0.1]]
