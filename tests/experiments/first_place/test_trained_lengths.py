"""Growth of scores with the length of targets: evened out where they are shared, and only there."""

import numpy as np
import pytest

from assocmem.experiments.first_place.surrogates import STRUCTURES
from assocmem.experiments.first_place.trained_lengths import length_exponent

BY_NAME = {structure.name: structure for structure in STRUCTURES}


def test_an_exponent_is_repeated_for_the_same_seed():
    structure = BY_NAME["same keys"]
    assert length_exponent(structure, 10, 1) == length_exponent(structure, 10, 1)
    assert length_exponent(structure, 10, 1) != length_exponent(structure, 10, 2)


def test_shared_targets_are_evened_out_and_others_are_not():
    found = {
        name: np.array([length_exponent(BY_NAME[name], 20, seed) for seed in range(8)])
        for name in ("same targets and keys", "same keys")
    }
    shared, anew = found.values()
    error = np.hypot(shared.std(ddof=1), anew.std(ddof=1)) / np.sqrt(8)
    assert shared.mean() < anew.mean() - 2 * error
    assert 0 < anew.mean() < 1


def test_lengths_that_do_not_differ_have_no_exponent():
    with pytest.raises(ValueError):
        length_exponent(BY_NAME["products, unit"], 10, 0)
