"""The table of the statistical dimension against the quadrature that it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assocmem.theory.dimension_table import ENDS, TABLE_ERROR, tabulated_dimension
from assocmem.theory.kinematics import statistical_dimension

FAR = [17, 60, 361, 999, 1000, 1001, 50_257, 10**6 + 1, 3 * 10**8, 10**12]


@pytest.mark.parametrize("m", [*range(2, 14), *FAR])
def test_whole_numbers_are_those_of_the_quadrature(m):
    assert tabulated_dimension(m) == pytest.approx(statistical_dimension(m), rel=TABLE_ERROR)


@given(st.floats(2, 1e12))
def test_one_number_and_an_array_give_the_same(m):
    assert tabulated_dimension(np.array([m, 7.0]))[0] == pytest.approx(tabulated_dimension(m), rel=1e-13)


@pytest.mark.parametrize("end", ENDS[1:-1])
def test_pieces_meet(end):
    below, above = tabulated_dimension(end * (1 - 1e-12)), tabulated_dimension(end * (1 + 1e-12))
    assert below == pytest.approx(above, rel=TABLE_ERROR)


def test_it_rises_and_what_each_new_target_adds_falls():
    m = np.geomspace(2, 1e12, 4001)
    values = tabulated_dimension(m)
    slopes = np.diff(values) / np.diff(m)
    assert np.all(slopes > 0)
    assert np.all(np.diff(slopes) < 0)


@pytest.mark.parametrize("m", [1.99, 1.01e12, float("nan"), True, "12", np.array([5.0, 1.0])])
def test_numbers_out_of_range_are_refused(m):
    with pytest.raises(ValueError, match="m = "):
        tabulated_dimension(m)
