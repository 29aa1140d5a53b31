"""The figures of lists show what they are given, and where theory puts it."""

import numpy as np
import pandas as pd
import pytest

from assocmem.book import list_figures as figures
from assocmem.experiments.lists.list_memories import LIST, LONG_TAIL, LOSSES
from assocmem.theory.lists import best_share, equivalent_tail, list_capacity, list_quantile


def stored():
    rows = [
        {
            "d": d,
            "r": 0.15,
            "load": load,
            "loss": LOSSES.index(loss),
            "listed": 0.9,
            "worst": 0.8 + seed / 100,
        }
        for d in (40, 80)
        for load in (0.2, 0.4)
        for loss in (LONG_TAIL, LIST)
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows)


def points(ax):
    """Places of the markers with error bars, by label."""
    return {bar.get_label(): bar.lines[0].get_xydata() for bar in ax.containers}


def test_a_column_has_its_signal_and_the_place_where_the_list_begins():
    scores = np.random.default_rng(1).normal(size=400)
    (ax,) = figures.draw_column(scores, 1.2, 0.15).axes
    places = {line.get_label(): line.get_xdata()[0] for line in ax.lines}
    assert places["signal"] == 1.2
    assert [x for label, x in places.items() if label.startswith("the list begins")] == [list_quantile(0.15)]


def test_the_arrow_leads_along_one_load():
    (ax,) = figures.draw_capacities(0.2).axes
    ends = next(line.get_xydata() for line in ax.lines if len(line.get_xydata()) == 2)
    assert ends == pytest.approx(
        np.array([[0.2, list_capacity(0.2)], [equivalent_tail(0.2), list_capacity(0.2)]])
    )


def test_stored_memories_are_drawn_by_loss_and_dimension():
    for ax in figures.draw_listed(stored(), [40, 80]).axes:
        assert set(points(ax)) == {LONG_TAIL, LIST}
        assert points(ax)[LIST] == pytest.approx(np.array([[0.2, 0.9], [0.4, 0.9]]))


def test_the_worst_signals_stand_beside_the_best_possible_share():
    for ax in figures.draw_worst(stored(), [40, 80, 120]).axes:
        assert set(points(ax)) == {"$d = 40$", "$d = 80$"}
        assert points(ax)["$d = 80$"] == pytest.approx(np.array([[0.2, 0.195], [0.4, 0.195]]))
        load, share = ax.lines[0].get_xydata()[100]
        assert share == pytest.approx(best_share(load))
