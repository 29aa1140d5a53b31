"""Rows of the stored table by construction: made-up ones, and those that are stored."""

import numpy as np
import pandas as pd
import pytest

from assocmem.experiments.explicit.construction_table import median_products, smallest_dimensions
from assocmem.experiments.explicit.constructions import CONSTRUCTIONS
from assocmem.sweeps.stored_table import read_table

TABLE = pd.DataFrame(
    {
        "n": [100, 100, 100, 200, 100],
        "construction": [7, 7, 7, 7, 0],
        "d": [20, 30, 25, 50, 60],
        "products": [3, 1, 2, 9, 0],
        "steps": [10, 20, 30, 40, 0],
    }
)


def test_dimensions_come_in_the_order_of_the_table():
    assert smallest_dimensions(TABLE, 100, 7).tolist() == [20, 30, 25]
    assert smallest_dimensions(TABLE, 200, 7).tolist() == [50]
    assert smallest_dimensions(TABLE, 200, 0).tolist() == []


def test_steps_count_by_their_size():
    # 3 + 2 * 10 * 20 / 100, 1 + 2 * 20 * 30 / 100 and 2 + 2 * 30 * 25 / 100 products
    assert median_products(TABLE, 100, 7) == pytest.approx(np.median([7, 13, 17]))
    assert median_products(TABLE, 100, 0) == 0


def test_stored_constructions_need_less_the_more_they_do():
    stored = read_table("sparse_repair", "dimensions")
    names = [construction.name for construction in CONSTRUCTIONS]
    order = ["outer products", "equal signals", "equal signals, 1 clip", "equal signals, 2 clips"]
    places = [names.index(name) for name in order]
    dimensions = [np.median(smallest_dimensions(stored, 1000, place)) for place in places]
    assert dimensions == sorted(dimensions, reverse=True)
    work = [median_products(stored, 1000, place) for place in places]
    assert work == sorted(work)
    assert work[0] == 0
