"""What the proximal law leaves of a signal, against draws of the two lengths that it comes from."""

import numpy as np
import pytest

from assocmem.theory.coupling_constants import coupling_miss
from assocmem.theory.scalar import prox, scalar_tail_average, solve_scalar


def test_the_miss_is_that_of_drawn_lengths():
    r, beta, d, rng = 0.15, 3.0, 4000, np.random.default_rng(1)
    law = solve_scalar(0.6, r, beta=beta, ridge=0.01)
    g = law.nu * rng.standard_normal(200_000)
    u, v = (rng.standard_normal(len(g)) * np.sqrt(2 / d) for _ in range(2))  # |u|^2 - 1 and |v|^2 - 1
    y = (v + rng.standard_normal(len(g)) * np.sqrt(2 / d)) / 2
    step = 1e-4
    slope = (scalar_tail_average(law.nu + step, r, beta)[0] - law.c) / step
    c = law.c + slope * law.nu * y
    s = c + prox(g - c, law.chi * (1 + u + v))
    left = s - law.c - prox(g - law.c, law.chi)
    assert np.sqrt(np.mean(left**2)) == pytest.approx(coupling_miss(law, d), rel=0.01)
    assert coupling_miss(law, d, tail=0) < 0.95 * coupling_miss(law, d)


def test_the_miss_falls_like_one_over_the_root_of_d():
    law = solve_scalar(0.6, 0.15, beta=3.0, ridge=0.01)
    assert coupling_miss(law, 100) == pytest.approx(coupling_miss(law, 1) / 10)
    with pytest.raises(ValueError, match="d"):
        coupling_miss(law, 0)
