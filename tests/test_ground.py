"""Argument checks and memory estimates."""

import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assocmem import homes
from assocmem.checks import (
    is_number,
    require,
    require_callable,
    require_choice,
    require_flag,
    require_instance,
    require_integer,
    require_number,
    require_numbers,
)
from assocmem.machine import available_bytes, largest_that_fits, memory_shortage
from assocmem.pairs.data import gaussian_pairs
from assocmem.processes import warn_if_forked
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy


def test_require_names_argument_value_and_what_is_allowed():
    with pytest.raises(ValueError, match=r"^r = 1\.5: must be in \(0, 1\]$"):
        require(False, "r", 1.5, "in (0, 1]")


@pytest.mark.parametrize("value", [2, np.int64(7)])
def test_integers_are_accepted(value):
    assert require_integer("n", value, 2) is None


@pytest.mark.parametrize("value", [1, 2.0, True, "3", None, np.float64(3)])
def test_anything_else_is_refused(value):
    with pytest.raises(ValueError, match="n = .*: must be an integer >= 2"):
        require_integer("n", value, 2)


@given(st.integers(1, 10**6), st.integers(1, 10**12))
def test_largest_that_fits_is_the_last_one_that_does(slope, budget):
    n = largest_that_fits(lambda m: slope * m, budget)
    assert (slope * n <= budget < slope * (n + 1)) if n else budget < 3 * slope


def test_shortage_gives_the_number_and_the_largest_size():
    line = memory_shortage(lambda n: n * 2**30, 8, budget=3.5 * 2**30)
    assert line == "n = 8 needs about 8 GiB of memory and 3.5 GiB can be used: the largest n that fits is 3"
    assert memory_shortage(lambda n: n * 2**30, 3, budget=3.5 * 2**30) == ""
    assert "no samples fits" in memory_shortage(lambda n: n * 2**30, 8, name="samples", budget=2**30)


def test_available_memory_is_that_of_a_machine():
    assert 2**26 < available_bytes() < 2**50


# --- a home that can be written -------------------------------------------------------------------


def homeless(monkeypatch, **settings):
    for name in (*homes.PLACES, *homes.OWN_PLACES):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))


def test_a_home_that_can_be_written_is_left_alone(tmp_path, monkeypatch):
    homeless(monkeypatch, HOME=tmp_path / "not" / "there" / "yet")
    before = dict(os.environ)
    with homes.writable_home():
        assert dict(os.environ) == before
    assert list(tmp_path.iterdir()) == []


def test_libraries_get_a_home_where_they_cannot_write_and_it_is_removed(tmp_path, monkeypatch):
    """As root, for whom all folders can be written, below a file none can."""
    homeless(monkeypatch, HOME="/dev/null/home", XDG_CACHE_HOME=tmp_path, NUMBA_CACHE_DIR="/dev/null/numba")
    before = dict(os.environ)
    with homes.writable_home():
        changed = {name: Path(os.environ[name]) for name in os.environ.keys() - before.keys()}
        changed |= {name: Path(os.environ[name]) for name in ("HOME", "NUMBA_CACHE_DIR")}
        assert {"MPLCONFIGDIR", "XDG_CONFIG_HOME", "JUPYTER_DATA_DIR"} <= changed.keys()
        assert "IPYTHONDIR" not in changed
        assert os.environ["XDG_CACHE_HOME"] == str(tmp_path)
        for place in changed.values():
            (place / "kept").mkdir()
    assert dict(os.environ) == before
    assert not any(place.exists() for place in changed.values())


def test_one_folder_that_cannot_be_written_is_replaced_alone(tmp_path, monkeypatch):
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "matplotlib").write_text("no folder")
    homeless(monkeypatch, HOME=tmp_path)
    before = dict(os.environ)
    with homes.writable_home():
        assert os.environ.keys() - before.keys() == {"MPLCONFIGDIR"}
        assert os.environ["HOME"] == str(tmp_path)


def test_threads_in_a_fork_of_a_process_that_has_had_some_are_warned_of(monkeypatch):
    """OpenMP hangs there; one thread does not."""
    monkeypatch.setattr("assocmem.processes._with_threads", set())
    warn_if_forked(1)
    warn_if_forked(2)
    warn_if_forked(2)
    here = os.getpid()
    monkeypatch.setattr("os.getpid", lambda: here + 1)
    warn_if_forked(1)
    with pytest.warns(RuntimeWarning, match="was forked from one that has computed with several threads"):
        warn_if_forked(2)


def test_a_fit_warns_where_it_would_hang(monkeypatch):
    monkeypatch.setattr("assocmem.processes._with_threads", {-1})
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    pairs = gaussian_pairs(6, 4, seed=0)
    with pytest.warns(RuntimeWarning, match="OMP_NUM_THREADS=1"):
        fit(pairs, CrossEntropy(), ridge=0.1)


class Broken:
    """An object that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize("value", ["a\nb\nc", np.eye(50), "x" * 1000, 10**5000, Broken()], ids=range(5))
def test_whatever_is_refused_the_message_is_one_short_line(value):
    with pytest.raises(ValueError, match=r"^x = .*: must be good$") as error:
        require(False, "x", value, "good")
    assert len(str(error.value)) < 250
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [True, "2", None, 2j, np.ones(1), np.True_, 10**400, int], ids=range(8))
def test_what_is_no_number(value):
    assert not is_number(value)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), Fraction(2), np.inf])
def test_what_is_a_number(value):
    assert is_number(value)


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (0.0, (0,), "must be a finite number > 0"),
        (-1, (0, np.inf, "[)"), "must be a finite number >= 0"),
        (np.inf, (0,), "must be a finite number > 0"),
        (np.nan, (), "must be a finite number"),
        (0, (0, 1, "(]"), "must be in (0, 1]"),
        (1.0, (0, 1), "must be in (0, 1)"),
        (True, (0, 1, "[]"), "x = True: must be in [0, 1]"),
        ("0.5", (0, 1), "x = '0.5': must be in (0, 1)"),
        (2**64, (0,), "x = 18446744073709551616"),
    ],
    ids=str,
)
def test_numbers_between_bounds(value, bounds, message):
    low, high, ends = (*bounds, *(-np.inf, np.inf, "()")[len(bounds) :])
    for check in (require_number, require_numbers):
        with pytest.raises(ValueError, match=re.escape(message)):
            check("x", value, low, high, ends=ends)


def test_arrays_of_numbers():
    for values in (0.5, [0.5, 1], np.array([0.25, 1], dtype=np.float16), np.ones((2, 3), dtype=int)):
        require_numbers("x", values, 0, 1, ends="(]")
    for values in ([], [[1], [1, 2]], np.array(["a"]), {}, [True, False], [0.5, np.nan], [0.5, 0], [None]):
        with pytest.raises(ValueError, match=r"^x = .*: must be in \(0, 1\]"):
            require_numbers("x", values, 0, 1, ends="(]")
    require_numbers("x", [-np.inf, np.inf], -np.inf, np.inf, ends="[]")


def test_a_class_in_place_of_an_instance_is_named():
    with pytest.raises(ValueError, match="x = 'the class dict': must be a dict, as dict") as error:
        require_instance("x", dict, dict)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="x = None: must be a str or an ArithmeticError$"):
        require_instance("x", None, (str, ArithmeticError))
    require_instance("x", {}, (str, dict))


def test_words_functions_and_flags():
    require_choice("x", "b", ("a", "b"))
    require_callable("x", len)
    require_flag("x", np.bool_(True))
    for value in ("c", None, np.array(["a", "b"]), ["a"]):
        with pytest.raises(ValueError, match="must be one of a, b$"):
            require_choice("x", value, ("a", "b"))
    for value in (None, int, "len"):
        with pytest.raises(ValueError, match="must be a function$"):
            require_callable("x", value)
    for value in (0, 1, None, "True", np.ones(2)):
        with pytest.raises(ValueError, match="must be True or False$"):
            require_flag("x", value)
