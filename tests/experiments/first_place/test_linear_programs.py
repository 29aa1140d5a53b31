"""A linear program gives the verdicts that certificates prove."""

import numpy as np
import pytest

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.first_place.linear_programs import best_of_program
from assocmem.pairs.data import gaussian_pairs


@pytest.mark.parametrize("d", [4, 5])
def test_verdicts_agree_and_memories_hold(d):
    verdicts = []
    for seed in range(5):
        pairs = gaussian_pairs(12, d, seed=seed)
        retrievable, W = best_of_program(pairs)
        assert retrievable == decide_top1(pairs).feasible
        assert np.abs(W).max() <= 1 + 1e-9
        assert not retrievable or holds_exactly(Certificate(1, W=W), pairs)
        verdicts.append(retrievable)
    assert d == 4 or any(verdicts)
