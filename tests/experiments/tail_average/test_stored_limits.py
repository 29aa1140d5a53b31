"""Stored memories followed to infinite dimension: on tables that are made up, with known limits."""

import numpy as np
import pandas as pd
import pytest

from assocmem.experiments.tail_average import stored_limits
from assocmem.theory.scalar import prox, solve_scalar

AT = {"load": 0.6, "r": 0.15, "beta": 3.0, "ridge": 0.01}
DIMENSIONS = (100, 200, 400)


def table(at=AT, dimensions=DIMENSIONS, memories=4):
    """Memories whose norm scale is off by 2/d, whose pairs are pushed by their own response exactly."""
    theory, random = solve_scalar(**at), np.random.default_rng(1)
    d = np.repeat(dimensions, memories)
    rows = pd.DataFrame({**at, "d": d, "nu": theory.nu * (1 + 2 / d), "chi": theory.chi})
    for h in range(3):
        square = 1 + random.standard_normal(len(d)) * 2 / np.sqrt(d)
        fresh = theory.nu * random.standard_normal(len(d))
        signal = theory.c + prox(fresh - theory.c, theory.chi * square)
        kept = {"fresh": fresh, "square": square, "signal": signal, "tail": theory.c, "answer": 1.0}
        rows = rows.assign(**{f"{name}_{h}": x for name, x in kept.items()})
    return rows


@pytest.fixture(scope="module")
def points():
    return stored_limits.theory_and_rows(table())


def test_points_are_sorted_and_those_with_few_dimensions_left_out():
    wide = AT | {"load": 0.8}
    found = stored_limits.theory_and_rows(pd.concat([table(), table(wide, (100, 200))]))
    assert [theory.load for theory, _ in found] == [0.8, 0.6]
    assert [theory.load for theory, _ in stored_limits.enough(found)] == [0.6]


def test_a_line_in_one_over_d_is_followed_to_its_end(points):
    scattered = [np.random.default_rng(2).standard_normal(12) / points[0][1].d * 1e-6]
    (limit,) = stored_limits.follow(lambda t, rows: [rows.nu / t.nu + scattered[0]], points)
    assert limit.value == pytest.approx(1, abs=1e-5)
    assert limit.error < 1e-5


def test_nothing_changed_is_one(points):
    assert stored_limits.at_changed_point(points[0][0]) == pytest.approx([1, 1, 1])
    assert stored_limits.at_changed_point(points[0][0], load=1.2)[0] < 0.7


def test_the_pairs_own_response_leaves_nothing(points):
    theory = points[0][0]
    exact = [(theory, points[0][1].assign(nu=theory.nu))]
    left = stored_limits.leftovers(exact)
    assert [(x.d, x.pairs) for x in left] == [(d, 12) for d in DIMENSIONS]
    assert max(x.size("own response and tail")[0] for x in left) < 1e-9
    stated = stored_limits.misses_by_dimension(left, theory, "as stated")
    assert list(stated) == list(DIMENSIONS)
    assert all(np.abs(misses).max() > 1e-3 for misses in stated.values())
    limit, error = stored_limits.limit_over_predicted(left, theory)
    assert abs(limit - 1) < 6 * error
    assert 0 < stored_limits.share_of_tails(theory) < 1


def test_constants_are_those_of_independent_entries(points):
    theory, rows = points[0]
    n = np.round(theory.load * rows.d**2)
    square = rows.nu**2
    rows = rows.assign(
        coupling=rows.nu / np.sqrt(rows.d),
        column_variance=4 / rows.d + 2 / n,
        row_variance=4 / rows.d + 2 / n,
        competitor_square=square,
        competitor_fourth=3 * square**2 * (1 + 4 / rows.d),
        scaled_square=square,
        scaled_fourth=3 * square**2,
    )
    for found, expected in zip(
        stored_limits.competitor_constants(theory, rows), (1, 4, 4, 0, 1, 4), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_scatter_is_relative_and_times_d():
    rows = table().assign(nu=lambda x: 1 + np.tile([-1.0, 1.0, -1.0, 1.0], 3) / x.d)
    (found,) = stored_limits.scatter_times_dimension(stored_limits.theory_and_rows(rows))
    assert found == pytest.approx(dict.fromkeys(DIMENSIONS, np.std([-1, 1, -1, 1], ddof=1)))
