"""What a repair in place adds to other signals, against the repaired memory and against its formula."""

import numpy as np
import pytest

from assocmem.experiments.explicit.echoes import echoes
from assocmem.memories.outer_products import correlation_memory
from assocmem.memories.sparse_repair import repair_in_place
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import scores

GAMMA = 0.2


def test_signals_are_taken_apart():
    pairs = gaussian_pairs(80, 40, seed=3)
    found = echoes(pairs, gamma=GAMMA)
    W = correlation_memory(pairs)
    mended = repair_in_place(pairs, W, gamma=GAMMA, rounds=1).W
    S, own = scores(pairs, W), ((pairs.U**2).sum(dim=0) * (pairs.V**2).sum(dim=0)).numpy()
    np.testing.assert_allclose(found.crosstalk, S.diagonal().numpy() - own)
    rivals = S.clone().fill_diagonal_(-np.inf).amax(dim=0)
    margins = (S.diagonal() - rivals).numpy()
    weights = np.where(margins <= GAMMA, 2 * GAMMA - margins, 0)
    gained = (scores(pairs, mended) - S).diagonal().numpy()
    np.testing.assert_allclose(found.added, gained - weights * own, atol=1e-12)
    assert found.mean_weight == pytest.approx(weights.mean())


def test_the_echo_is_what_the_formula_says():
    found = [echoes(gaussian_pairs(1000, 166, seed=seed), gamma=GAMMA) for seed in range(4)]
    taken = -np.mean([e.added.mean() for e in found])
    lost = np.mean([e.lost for e in found])
    assert taken == pytest.approx(lost, rel=0.15)  # lengths, and the next order in the load
    assert lost > 0.02


@pytest.mark.parametrize("gamma", [0, -0.1, float("nan")])
def test_margins_are_positive(gamma):
    with pytest.raises(ValueError, match="gamma"):
        echoes(gaussian_pairs(10, 5, seed=0), gamma=gamma)
