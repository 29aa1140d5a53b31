"""The figures of sparse repair show the numbers they are given, and a key to all of them."""

import numpy as np

from assocmem.book import repair_figures as figures
from assocmem.experiments.explicit.constructions import CONSTRUCTIONS
from assocmem.experiments.explicit.echoes import Echoes


def labels(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_margins_are_told_apart_at_gamma():
    before, after = np.array([-0.1, 0.05, 0.3]), np.array([0.2, 0.21, 0.29])
    figure = figures.draw_repaired({"one": (before, after), "other": (before, after)}, 0.1)
    alone, repaired = figure.axes[1].lines[:2]
    np.testing.assert_array_equal(alone.get_xdata(), [0.3])
    np.testing.assert_array_equal(repaired.get_ydata(), [0.2, 0.21])
    assert len(labels(figure.legends[0])) == 4


def test_each_size_has_points_and_a_line():
    ratios = np.array([2.0, 8.0])
    counted = {"title": {n: (ratios, [0, 3], [4, 4]) for n in (100, 300)}}
    lines = {"title": {n: np.array([0.1, 0.9]) for n in (100, 300)}}
    figure = figures.draw_grid(counted, ratios, lines)
    names = [f"$n = {n}$, {how}" for n in (100, 300) for how in ("simulated", "predicted")]
    assert sorted(labels(figure.legends[0])) == sorted(names)


def test_the_line_without_repair_and_the_share_of_the_proof_are_named():
    counts = {0.1: np.array([[0, 0], [4, 2]])}
    lines = {0.1: (np.array([0.1, 0.5]), np.array([1.0, 3.0]))}
    figure = figures.draw_split([0.1, 0.5], counts, lines, 2.0, 0.7, 100)
    names = labels(figure.legends[0])
    assert set(names) == {"$\\gamma = 0.1$", "outer products, no repair", "reserve of the proof"}


def test_the_echo_is_between_two_lines():
    rng = np.random.default_rng(1)
    found = [Echoes(rng.normal(size=50), rng.normal(size=50), 0.1, 0.02) for _ in range(2)]
    (ax,) = figures.draw_echo(found).axes
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    for name, change in (("growth of the base alone", 0.0), ("growth less echo", 0.02)):
        for x, y in lines[name]:
            np.testing.assert_allclose(y, 0.1 * x - change * (1 + x))
    assert len(lines["keys"]) == 100


def test_a_histogram_for_each_memory():
    scores = np.linspace(0, 1, 5), np.linspace(-0.1, 0.9, 5)
    figure = figures.draw_signals({"one": scores, "other": scores}, 10)
    assert [ax.get_title("left") or ax.get_title() for ax in figure.axes] == ["one", "other"]
    assert sorted(labels(figure.axes[0].get_legend())) == ["best competitor", "signal"]


def test_costs_have_a_key_to_the_kinds():
    points = [(c.name, "trained" if c.trained else "equal signals", 2.0, 1.5) for c in CONSTRUCTIONS]
    figure = figures.draw_costs(points)
    assert labels(figure.legends[0]) == [*figures.KINDS, "1.5 times the best"]
    assert [text.get_text() for text in figure.axes[0].texts] == [c.name for c in CONSTRUCTIONS]
    assert len(set(figures.KINDS.values())) == len(figures.KINDS)
    assert set(figures.PLACES) <= {c.name for c in CONSTRUCTIONS}
