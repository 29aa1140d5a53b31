"""Several fits are the same fits, and paths lead to the same minima in fewer passes."""

import pytest
import torch

from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.training import small_pass
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.many import fit_many, fit_path


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.15, 30.0)], ids=str)
def test_at_once_the_numbers_are_those_of_single_fits(two_threads, loss):
    instances = [gaussian_pairs(40 + seed, 10, seed=seed) for seed in range(6)]
    together = fit_many(instances, loss, ridge=1e-4)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    for pairs, found in zip(instances, together, strict=True):
        alone = fit(pairs, loss, ridge=1e-4)
        assert found.converged
        assert torch.equal(found.W, alone.W)
        assert (found.objective, found.passes) == (alone.objective, alone.passes)


def test_one_that_cannot_be_fitted_ends_all(two_threads):
    instances = [gaussian_pairs(20, 5, seed=seed) for seed in range(3)]
    long = Pairs(1e80 * instances[0].U, instances[0].V)
    with pytest.raises(ValueError, match=r"^pairs = .*lengths of up to .*: must be shorter"):
        fit_many([*instances, long], CrossEntropy(), ridge=1e-2)
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.15, 5.0)], ids=str)
def test_along_a_path_fits_take_fewer_passes_to_the_same_minima(loss, size, monkeypatch):
    if size == "large":
        monkeypatch.setattr(small_pass, "MOST_WORK", 0)
    pairs = gaussian_pairs(60, 16, seed=1)
    problems = [(pairs, loss, 10.0**-k) for k in range(1, 7)]
    path = fit_path(problems)
    alone = [fit(pairs, loss, ridge=ridge) for _, _, ridge in problems]
    for found, other in zip(path, alone, strict=True):
        assert found.converged
        assert found.objective == pytest.approx(other.objective, rel=2e-6)
    share = {"small": 0.95, "large": 0.6}[size]
    assert sum(f.passes for f in path) < share * sum(f.passes for f in alone)


def test_a_path_may_lead_through_loads_and_losses():
    pairs = gaussian_pairs(80, 12, seed=2)
    facts = [Facts(pairs.U[:, :n], pairs.V[:, :n]) for n in (80, 60, 40)]
    path = fit_path([(f, TailAverage(r, 5.0), 1e-3) for f, r in zip(facts, (0.3, 0.2, 0.1), strict=True)])
    for f, r, found in zip(facts, (0.3, 0.2, 0.1), path, strict=True):
        other = fit(f, TailAverage(r, 5.0), ridge=1e-3)
        assert found.objective == pytest.approx(other.objective, rel=2e-6)


def test_what_is_no_list_of_problems_is_refused():
    pairs = gaussian_pairs(20, 5, seed=0)
    with pytest.raises(ValueError, match=r"^instances = .*must be"):
        fit_many(pairs, CrossEntropy(), ridge=1e-2)
    with pytest.raises(ValueError, match=r"^instances = .*none.*must be at least one"):
        fit_many([], CrossEntropy(), ridge=1e-2)
    with pytest.raises(ValueError, match=r"^problems = .*must be triples \(pairs, loss, ridge\)"):
        fit_path([pairs])
    other = gaussian_pairs(20, 6, seed=0)
    with pytest.raises(ValueError, match=r"^problems = .*must be of one shape"):
        fit_path([(pairs, CrossEntropy(), 1e-2), (other, CrossEntropy(), 1e-2)])
