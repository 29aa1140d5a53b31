"""The worst direction among all: it is worse than those that are drawn, and less so in high dimensions."""

import numpy as np

from assocmem.book.claims import check
from assocmem.experiments.tail_average import worst_directions
from assocmem.experiments.tail_average.worst_directions import fewest_felt, uniform_evidence
from assocmem.pairs.tail_average import smoothed_gradient


def test_no_direction_drawn_is_worse():
    n, d, rho, r, beta = 900, 6, 1.5, 0.2, 3.0
    worst = fewest_felt(n, d, rho, r, beta, seed=4)
    rng = np.random.default_rng(4)
    U, x = rng.standard_normal((d, n)), rng.standard_normal((300, d))
    scores = rho * (x @ U) / np.linalg.norm(x, axis=1, keepdims=True)
    q = r * n * smoothed_gradient(scores, r, beta)
    drawn = (q * (1 - q)).sum(axis=1)
    drawn /= drawn.mean()
    assert 0.5 < worst < drawn.min()
    assert worst > drawn.min() - 2 * drawn.std()


def test_the_check_holds_and_can_fail(monkeypatch):
    found = check(**uniform_evidence([8, 16], 0.2, 2.0, seed=1))
    assert found.verdict == "holds"
    monkeypatch.setattr(
        worst_directions, "fewest_felt", lambda n, d, *key: 0.8 + 1e-3 * (key[-1][-1] % 2) / d
    )
    assert check(**uniform_evidence([8, 16], 0.2, 2.0, seed=1)).verdict == "does not hold"
