"""Stored laws beside predicted ones, on a table that is made of the predictions."""

import numpy as np
import pytest

from assocmem.book.claims import check
from assocmem.experiments.tail_average.percentile_laws import (
    KINDS,
    followed_distances,
    level_places,
    numbers_of_laws,
    numbers_of_memories,
    predicted_spread,
    spread_evidence,
    spread_ratios,
    spread_tolerances,
    stored_dimensions,
    stored_quantiles,
    stored_rows,
    stored_spread,
    tail_shortfall,
)
from assocmem.experiments.tail_average.phase import LEVELS
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.finite_dimension import laws_at_size
from assocmem.theory.law_variants import with_margins_along_lengths

PLACES = ((0.2, 50), (0.28, 50), (0.28, 100))
LAWS = {(load, d): laws_at_size(load, 0.15, d, beta=30.0, ridge=1e-7) for load, d in PLACES}
LEVEL_ARRAY = np.array(LEVELS)


def made_up():
    """Two memories at each place; the quantiles of one are those of the law, of the other a little wider."""
    rows = [(load, d, wide) for load, d in LAWS for wide in (1.0, 1.1)]
    table = {"load": np.array([x for x, _, _ in rows]), "d": np.array([float(d) for _, d, _ in rows])}
    for kind in KINDS:
        quantiles = np.array([wide * LAWS[load, d].quantile(kind, LEVEL_ARRAY) for load, d, wide in rows])
        table |= {f"{kind}_{k}": quantiles[:, k] for k in range(len(LEVELS))}
    return table


TABLE = made_up()


def test_levels_have_places():
    assert [LEVELS[k] for k in level_places([0.1, 0.9])] == [0.1, 0.9]
    (median,) = level_places(0.5)
    assert LEVELS[median] == 0.5


def test_rows_and_dimensions_of_a_load():
    assert stored_rows(TABLE, 50, 0.28).tolist() == [False, False, True, True, False, False]
    assert stored_dimensions(TABLE, 0.2) == [50]
    assert stored_dimensions(TABLE, 0.28) == [50, 100]


def test_quantiles_have_a_line_for_each_memory():
    x = stored_quantiles(TABLE, "signal", 50, 0.2)
    assert x.shape == (2, len(LEVELS))
    np.testing.assert_allclose(x[0], LAWS[0.2, 50].quantile("signal", LEVEL_ARRAY))
    np.testing.assert_allclose(x[1], 1.1 * x[0])


@pytest.mark.parametrize("kind", KINDS)
def test_spreads_of_the_same_laws(kind):
    law = LAWS[0.2, 50]
    expected = 1.05 * predicted_spread(law, kind)
    assert stored_spread(TABLE, kind, 50, 0.2) == pytest.approx(expected)
    np.testing.assert_allclose(spread_ratios(TABLE, LAWS, kind), 1.05)


def test_a_predicted_spread_is_that_of_most_keys():
    law = LAWS[0.28, 100]
    low, high = np.quantile(law.margin, [0.1, 0.9])
    assert predicted_spread(law, "margin") == pytest.approx(high - low)


def test_numbers_of_memories_are_those_of_their_laws():
    narrow = {name: x[::2] for name, x in TABLE.items()}
    edge = float(LAWS[0.28, 100].quantile("percentile", np.array([0.3]))[0])
    found = numbers_of_memories(narrow, 100, 0.28, edge)
    predicted = numbers_of_laws(LAWS[0.28, 100], 100, 0.28, edge)
    np.testing.assert_allclose(found[1:], predicted[1:], rtol=1e-6, atol=1e-3)
    assert found[0] <= predicted[0]  # the end of the law, and the lowest of some keys
    assert predicted[2] == pytest.approx(0.3, abs=1e-3)


def test_a_data_frame_serves_as_well():
    frame = pytest.importorskip("pandas").DataFrame(TABLE)
    assert stored_dimensions(frame, 0.28) == [50, 100]
    np.testing.assert_array_equal(stored_rows(frame, 50, 0.2), stored_rows(TABLE, 50, 0.2))
    np.testing.assert_array_equal(spread_ratios(frame, LAWS, "signal"), spread_ratios(TABLE, LAWS, "signal"))


def test_the_check_tells_a_law_from_a_variant():
    variants = {at: with_margins_along_lengths(law) for at, law in LAWS.items()}
    words = {"what": "spread", "falsehood": "another"}
    found = check(**spread_evidence(TABLE, LAWS, variants, "signal", **words))
    assert found.verdict == "holds"
    swapped = check(**spread_evidence(TABLE, variants, LAWS, "signal", **words))
    assert swapped.verdict == "does not hold"
    assert check(**spread_evidence(TABLE, LAWS, LAWS, "signal", **words)).verdict == "not yet"


def test_tolerances_are_four_standard_errors_that_fall_like_one_over_d():
    """The ratios of the two memories of each place are 1 and 1.1."""
    found = dict(zip(LAWS, spread_tolerances(TABLE, LAWS, "signal"), strict=True))
    one = 4 * 0.05  # of two memories whose spreads are a tenth apart
    assert found[0.2, 50] == pytest.approx(one)
    pooled = 0.1 / 2 * np.sqrt((50**2 + 100**2) / 2)
    assert found[0.28, 50] == pytest.approx(4 * pooled / 50)
    assert found[0.28, 100] == pytest.approx(4 * pooled / 100)


def test_distances_are_followed_to_infinite_dimension():
    """Quantiles are 1.05 of the law's on average, so that distances are a twentieth of it at each size."""
    laws, levels = {d: LAWS[0.28, d] for d in (50, 100)}, np.array([0.1, 0.5])
    distance, error = followed_distances(TABLE, laws, "margin", 0.28, levels)
    small, large = (0.05 * laws[d].quantile("margin", levels) for d in (50, 100))
    np.testing.assert_allclose(distance, 2 * large - small)
    assert (error > 0).all()


def test_tail_averages_above_the_predicted_ones_fall_short_by_less_than_nothing():
    """Signals and margins are 1 and 1.1 of the predicted ones, and so is what parts them."""
    assert tail_shortfall(TABLE, LAWS[0.28, 100], 100, 0.28) == pytest.approx(-0.05)


def test_the_stored_slice_has_memories_at_both_loads():
    table = read_table("ridgeless_limit", "slice", "slice_paper")
    for load in (0.2, 0.28):
        assert 100 in stored_dimensions(table, load)
        x = stored_quantiles(table, "percentile", 100, load)
        assert (np.diff(x, axis=1) >= 0).all()
