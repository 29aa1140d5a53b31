"""What the explorer pages are given: complete, true to the package, written once."""

import json

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator

from assocmem.book import explorer
from assocmem.book.data_scripts import TABLES, write_data_script
from assocmem.sweeps.stored_table import read_table
from assocmem.theory import kinematics
from assocmem.theory.outer_products import query_failure, query_failure_at_ratio
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.unequal_lengths import length_cost
from assocmem.theory.uneven_answers import unevenness_cost


@pytest.fixture(scope="module")
def tables(once):
    return once("tables", explorer.tables)


def test_tables_are_plain_finite_data(tables):
    assert json.loads(json.dumps(tables, allow_nan=False)) == tables


def test_moments_cover_all_tails_of_every_size(tables):
    for row in tables["pooled"]["rows"]:
        n, k = row["n"], row["k"]
        assert (k[0], k[-1]) == (1, n - 1)
        assert k == sorted(set(k))
        assert (row["mean"][-1], row["variance"][-1], row["third"][-1]) == (0.5, 0.25, 0.0)
        assert np.all(np.diff(row["mean"]) <= 0.03)  # longer tails are cheaper, up to the noise of simulation


def test_moments_of_first_place_have_all_their_digits(tables):
    rows = {row["n"]: row for row in tables["pooled"]["rows"]}
    assert rows[3]["mean"][0] == pytest.approx(5 / 6, abs=1e-11)  # three exchangeable Gaussian entries
    for n in (10, 1000, 10**12):
        assert rows[n]["mean"][0] == pytest.approx(kinematics.statistical_dimension(n), rel=1e-11)


def nearest(xs, ys, x, order):
    """The polynomial through the neighbours of x, by which the pages interpolate."""
    start = int(np.clip(np.searchsorted(xs, x) - order // 2, 0, len(xs) - order))
    return float(BarycentricInterpolator(xs[start : start + order], ys[start : start + order])(x))


@pytest.mark.parametrize("m", [14, 28, 57, 450, 50_257, 3 * 10**7])
def test_six_neighbours_give_the_moments_of_first_place_between_sizes(tables, m):
    rows = tables["pooled"]["rows"]
    logs = np.log([row["n"] for row in rows])
    expected = kinematics.pooled_moments(m)
    for name, value, error in zip(("mean", "variance"), expected, (1e-8, 1e-7), strict=True):
        found = nearest(logs, [row[name][0] for row in rows], np.log(m), 6)
        assert found == pytest.approx(value, rel=error)


def test_four_neighbours_give_what_facts_cost_beyond_the_law(tables):
    facts = tables["facts"]
    logs = np.log(facts["m"])
    assert facts["uneven"] == sorted(facts["uneven"])
    for m in (13, 60):
        assert nearest(logs, facts["uneven"], np.log(m), 4) == pytest.approx(unevenness_cost(m), rel=0.01)
    for m, d in ((48, 12), (200, 30), (2 * 10**4, 500)):
        share = length_cost(m, d) / kinematics.statistical_dimension(m)
        assert nearest(logs, facts["lengths"], np.log(m), 4) / d == pytest.approx(share, rel=0.03)


def test_moments_of_long_tails_approach_the_inverse_critical_load(tables):
    (row,) = [row for row in tables["pooled"]["rows"] if row["n"] == 10**8]
    for k, mean in zip(row["k"], row["mean"], strict=True):
        if k >= 10**4:
            assert mean == pytest.approx(1 / critical_load(k / (10**8 - 1)), rel=2e-3)


def test_counts_are_those_of_the_stored_verdicts(tables):
    stored = read_table("finite_size_scaling", "verdicts")
    (row,) = [row for row in tables["certified"] if row["n"] == 50 and row["r"] == 0]
    for d, yes, decided in zip(row["d"], row["yes"], row["decided"], strict=True):
        mine = stored["feasible"][(stored["n"] == 50) & (stored["d"] == d)]
        assert (yes, decided) == (np.nansum(mine), np.isfinite(mine).sum())
    assert row["half"] ** 2 / 50 == pytest.approx(
        kinematics.statistical_dimension(50) + row["shift"], abs=1e-4
    )


def test_every_shift_is_small_and_downward(tables):
    shift, error = (np.array(tables["certified_shift"][name]) for name in ("shift", "error"))
    assert np.all(shift < -2 * error)
    for row in tables["certified"]:
        share = -row["shift"] / (row["half"] ** 2 / row["n"])
        assert share <= tables["certified_shift"]["largest_share"] < 0.047  # 4.5 % of what it is shifted from


def test_ratio_and_dimension_ask_for_the_same_failure():
    n, d = 500, 90
    ratio = d**2 / (n * np.log(n))
    same = query_failure_at_ratio(n, ratio), query_failure(n, d, log2_points=11)
    assert same[0].value == pytest.approx(same[1].value, rel=1e-9)
    with pytest.raises(ValueError, match=r"ratio = 1e-09: must be a number > "):
        query_failure_at_ratio(10**6, 1e-9)


def test_the_script_is_written_once(tmp_path, monkeypatch, tables):
    path = tmp_path / "tables.js"
    monkeypatch.setattr(explorer, "tables", lambda: tables)
    write_data_script(TABLES, path)
    head, script = path.read_text().splitlines()
    assert head.startswith("// made by assocmem.book.explorer from ")
    assert json.loads(script.partition(".tables = ")[2].rstrip(";")) == tables
    assert len(script) < 500_000

    monkeypatch.setattr(explorer, "tables", lambda: pytest.fail("made again"))
    write_data_script(TABLES, path)
    whole = path.read_text()
    monkeypatch.setattr(explorer, "tables", lambda: {})
    for other in ("// made by assocmem.book.explorer from something else\n", whole[: len(whole) // 2]):
        path.write_text(other)
        write_data_script(TABLES, path)
        assert path.read_text().endswith(".tables = {};\n")
