"""Argument checks and memory estimates."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
