"""The last integer at which a condition holds, and in which order integers are asked."""

import pytest

from assocmem.experiments.bisection import last_that_holds


def search(last, start, **limits):
    """What is found where a condition holds up to ``last``, and the integers asked."""
    asked = []

    def holds(n):
        asked.append(n)
        return n <= last

    return last_that_holds(holds, start, lambda n, strides: 3 * 2**strides, **limits), asked


@pytest.mark.parametrize("start", [1, 7, 40, 200])
@pytest.mark.parametrize("last", [1, 2, 6, 7, 39, 40, 41, 300])
def test_the_last_is_found_from_anywhere(start, last):
    found, asked = search(last, start)
    assert found == (last, last + 1)
    assert len(set(asked)) == len(asked)
    assert set(found) <= set(asked)


def test_strides_grow_and_then_distances_halve():
    assert search(32, 10) == ((32, 33), [10, 13, 19, 31, 55, 43, 37, 34, 32, 33])
    assert search(5, 40, floor=2) == ((5, 6), [40, 37, 31, 19, 2, 10, 6, 4, 5])


def test_nothing_beyond_the_limits_is_asked():
    assert search(1, 9, floor=2) == ((1, 2), [9, 6, 2])
    assert search(99, 9, ceiling=20) == ((20, 21), [9, 12, 18, 20])


def test_what_is_known_is_not_asked_again():
    assert search(6, 12, known=4) == ((6, 7), [12, 8, 6, 7])


def test_a_bracket_can_be_left_wide():
    assert search(32, 10, close=lambda high: 0.2 * high)[0] == (31, 37)
