"""Minimisers: optimality that does not depend on the solver's own word, and honesty when there is none."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from assocmem import progress
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training import descent, small_pass
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import loss_pass

PROBLEMS = [
    (CrossEntropy(), 40, 8, 1e-3),
    (CrossEntropy(), 40, 14, 1e-8),
    (TailAverage(0.15, 30.0), 90, 16, 1e-3),
    (TailAverage(0.15, 5.0), 60, 12, 1e-6),
    (TailAverage(0.3, 30.0), 250, 12, 1e-7),
    (TailAverage(1.0, 1.0), 40, 6, 1e-2),
    (TailAverage(0.5, 2.0), 2, 3, 1e-2),
]


@pytest.fixture
def large(monkeypatch):
    """Fits as they are of problems too large for compiled loops."""
    monkeypatch.setattr(small_pass, "MOST_WORK", 0)


@pytest.fixture(params=["compiled", "l-bfgs", "newton"])
def solver(request, monkeypatch):
    if request.param != "compiled":
        request.getfixturevalue("large")
    monkeypatch.setattr(descent, "EXACT_DIMENSION", 0 if request.param == "l-bfgs" else 40)


def objective(pairs, loss, W, ridge):
    return loss_pass(pairs, loss, W).loss + ridge / (2 * pairs.d**2) * float((W * W).sum())


@cache
def reference(loss, n, d, ridge):
    """Minimum of the objective by SciPy's L-BFGS-B, run to the end of its precision."""
    pairs = gaussian_pairs(n, d, seed=1)

    def f(w):
        W = torch.from_numpy(w.reshape(d, d))
        done = loss_pass(pairs, loss, W)
        gradient = done.gradient + ridge / d**2 * W
        scale = 1 / ridge  # else SciPy takes a small objective for a converged one
        return scale * (done.loss + ridge / (2 * d**2) * float((W * W).sum())), (
            scale * gradient
        ).numpy().ravel()

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 0, "gtol": 0, "maxcor": 30}
    result = minimize(f, np.zeros(d * d), jac=True, method="L-BFGS-B", options=options)
    return result.fun * ridge


@pytest.mark.parametrize(("loss", "n", "d", "ridge"), PROBLEMS, ids=str)
def test_the_gap_bounds_the_distance_from_an_independent_minimum(solver, loss, n, d, ridge):
    pairs = gaussian_pairs(n, d, seed=1)
    found = fit(pairs, loss, ridge=ridge, tol=1e-7)
    assert found.converged
    assert found.gap <= 1e-7
    best = reference(loss, n, d, ridge)
    assert found.objective <= best * (1 + 1e-7)
    assert found.objective >= best * (1 - 1e-5)
    assert found.objective == pytest.approx(objective(pairs, loss, found.W, ridge), rel=1e-12)
    assert found.loss == pytest.approx(found.objective - ridge * found.nu**2 / 2, rel=1e-9)
    assert found.nu == pytest.approx(float(found.W.norm()) / d)
    assert found.loss == pytest.approx(-torch.nn.functional.logsigmoid(found.margins).mean().item())
    assert len(found.trace) == found.passes


def test_the_gap_is_a_bound_at_every_pass(solver):
    pairs, loss = gaussian_pairs(60, 12, seed=2), CrossEntropy()
    found = fit(pairs, loss, ridge=1e-3, tol=1e-10)
    for entry in found.trace:
        if entry["ridge"] == 1e-3:
            assert entry["objective"] * (1 - entry["gap"]) <= found.objective * (1 + 1e-9)


def test_norm_at_small_ridge_is_the_one_that_single_precision_misses():
    """Cross-entropy, n = 80, d = 20, ridge 1e-8: the norm settles only where the gap does."""
    pairs = gaussian_pairs(80, 20, seed=0)
    tight = fit(pairs, CrossEntropy(), ridge=1e-8, tol=1e-10)
    loose = fit(pairs, CrossEntropy(), ridge=1e-8, tol=1e-4)
    assert tight.converged
    assert tight.nu == pytest.approx(133.618, abs=1e-3)
    bound = math.sqrt(2 * 1e-4 * loose.objective / 1e-8)
    assert abs(loose.nu - tight.nu) <= bound


def test_both_phases_of_the_tail_average(large):
    d, loss = 24, TailAverage(0.15, 30.0)
    below = fit(gaussian_pairs(pairs_at_load(0.15, d), d, seed=0), loss, ridge=1e-6)
    above = fit(gaussian_pairs(pairs_at_load(0.6, d), d, seed=0), loss, ridge=1e-6)
    assert below.converged
    assert above.converged
    assert below.loss < 0.01
    assert above.loss > 0.3
    assert below.nu > 20 * above.nu
    # above the transition nothing is gained by going through stages
    assert len({(entry["ridge"], entry["beta"]) for entry in above.trace}) == 1
    assert above.passes < below.passes / 2


@pytest.mark.parametrize("steps", [0, 10**6])
def test_what_is_not_easy_is_solved_through_stages_however_long_it_was_tried(large, monkeypatch, steps):
    pairs, loss = gaussian_pairs(90, 24, seed=1), TailAverage(0.15, 30.0)
    monkeypatch.setattr(descent, "EASY_STEPS", steps)
    found = fit(pairs, loss, ridge=1e-6)
    assert found.converged
    betas = [entry["beta"] for entry in found.trace]
    tried = betas.index(1.0) if 1.0 in betas else len(betas)
    assert tried >= descent.LOOK_BACK
    if not steps:
        assert tried <= descent.LOOK_BACK + 4
        assert set(betas) >= {1.0, 2.0, 4.0, 8.0, 16.0, 30.0}


def test_pairs_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr("assocmem.machine.available_bytes", lambda: 2**28)
    with pytest.raises(ValueError, match=r"pairs = .*must be fewer, since n = 30 needs about .* GiB"):
        fit(gaussian_pairs(30, 6, seed=1), CrossEntropy(), ridge=1e-2)


def test_a_watched_fit_says_how_it_stands(monkeypatch, tmp_path):
    terminal = tmp_path / "terminal"
    monkeypatch.setenv(progress.TERMINAL, str(terminal))
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)
    fit(gaussian_pairs(40, 8, seed=1), CrossEntropy(), ridge=1e-3)
    assert "fit: gap" in terminal.read_text()
    assert "s left" in terminal.read_text()


def test_a_warm_start_takes_fewer_passes_to_the_same_minimum():
    pairs, loss = gaussian_pairs(120, 50, seed=3), CrossEntropy()
    cold = fit(pairs, loss, ridge=1e-2)
    warm = fit(pairs, loss, ridge=1e-2, W0=cold.W)
    assert warm.passes == 1
    nearby = fit(pairs, loss, ridge=9e-3, W0=cold.W)
    assert nearby.converged
    assert nearby.passes < cold.passes


def test_single_precision_pairs_give_a_double_precision_fit():
    found = fit(gaussian_pairs(30, 5, seed=0, dtype=torch.float32), CrossEntropy(), ridge=1e-2, tol=1e-10)
    assert found.W.dtype == torch.float64
    assert found.converged


@pytest.mark.parametrize("precision", ["tf32", "float32"])
@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.15, 5.0)], ids=str)
def test_a_fit_that_begins_in_a_cheap_precision_ends_in_the_exact_one(loss, precision):
    pairs = gaussian_pairs(90, 24, seed=1)
    exact = fit(pairs, loss, ridge=1e-3, tol=1e-8)
    found = fit(pairs, loss, ridge=1e-3, tol=1e-8, precision=precision)
    assert found.converged
    assert found.objective == pytest.approx(exact.objective, rel=2e-8)
    assert found.objective == pytest.approx(objective(pairs, loss, found.W, 1e-3), rel=1e-12)
    used = [entry["precision"] for entry in found.trace]
    assert used.count(precision) > 5
    assert used[-1] == "float64"
    assert used.count("float64") < exact.passes


def test_a_gradient_that_is_too_wrong_is_not_followed(monkeypatch):
    monkeypatch.setattr(descent, "TRUSTED_ERROR", 0.0)
    pairs, loss = gaussian_pairs(60, 16, seed=1), CrossEntropy()
    found = fit(pairs, loss, ridge=1e-3, precision="tf32")
    assert found.converged
    begun = 1 + len({entry["ridge"] for entry in found.trace})  # the last problem is tried before all stages
    assert [entry["precision"] for entry in found.trace].count("tf32") in (1, begun)


def test_too_few_passes_are_reported(solver):
    pairs, loss = gaussian_pairs(60, 16, seed=1), TailAverage(0.15, 5.0)
    found = fit(pairs, loss, ridge=1e-6, max_passes=8)
    assert not found.converged
    assert found.gap > 1e-6
    assert found.passes <= 9
    assert found.objective == pytest.approx(objective(pairs, loss, found.W, 1e-6), rel=1e-12)


def test_an_impossible_tolerance_is_reported(solver):
    found = fit(gaussian_pairs(30, 6, seed=1), CrossEntropy(), ridge=1e-3, tol=1e-30)
    assert not found.converged
    assert found.gap < 1e-12


def test_an_interrupted_fit_goes_on_from_its_checkpoint(tmp_path, solver):
    pairs, loss, path = gaussian_pairs(60, 16, seed=1), TailAverage(0.15, 5.0), tmp_path / "fit.pt"
    whole = fit(pairs, loss, ridge=1e-6)
    seen = []

    def stop(entry, seconds_left):
        seen.append(entry)
        if len(seen) == whole.passes // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(pairs, loss, ridge=1e-6, checkpoint=path, report=stop)
    assert path.exists()
    rest = fit(pairs, loss, ridge=1e-6, checkpoint=path)
    assert rest.converged
    assert rest.objective == pytest.approx(whole.objective, rel=2e-6)
    assert rest.trace[: len(seen) - 1] == seen[:-1]
    again = fit(pairs, loss, ridge=1e-6, checkpoint=path)
    assert again.passes <= rest.passes + 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fit.pt"]


def test_a_checkpoint_of_another_problem_is_refused_and_left(tmp_path):
    path = tmp_path / "fit.pt"
    fit(gaussian_pairs(20, 4, seed=1), CrossEntropy(), ridge=1e-2, checkpoint=path)
    before = path.read_bytes()
    for pairs, ridge in ((gaussian_pairs(20, 4, seed=2), 1e-2), (gaussian_pairs(20, 4, seed=1), 1e-3)):
        with pytest.raises(ValueError, match="checkpoint = .*of the same pairs, loss and ridge"):
            fit(pairs, CrossEntropy(), ridge=ridge, checkpoint=path)
    assert path.read_bytes() == before
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="checkpoint = .*must be a checkpoint of a fit"):
        fit(gaussian_pairs(20, 4, seed=1), CrossEntropy(), ridge=1e-2, checkpoint=path)


def test_reports_estimate_the_time_left():
    estimates = []
    fit(
        gaussian_pairs(60, 45, seed=1),
        CrossEntropy(),
        ridge=1e-5,
        report=lambda _, left: estimates.append(left),
    )
    numbers = [x for x in estimates if x is not None]
    assert numbers
    assert min(numbers) >= 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ridge": 0}, "ridge = 0: must be a finite number > 0"),
        ({"ridge": math.inf}, "ridge = inf"),
        ({"tol": -1}, "tol = -1"),
        ({"max_passes": 0}, "max_passes = 0"),
        ({"precision": "half"}, "precision = 'half': must be one of tf32, float32, tf32x3, float64"),
        ({"W0": torch.zeros(3, 3)}, r"W0 = .*must be a tensor of shape \(4, 4\)"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit(gaussian_pairs(10, 4, seed=0), CrossEntropy(), **({"ridge": 1e-2} | arguments))


def test_cross_entropy_near_its_transition_gets_the_exact_hessian():
    """n = 150 is the last retrievable number of pairs here; without it thousands of passes do not suffice."""
    d, n = 28, 150
    pairs = gaussian_pairs(n, d, seed=1)
    found = fit(pairs, CrossEntropy(), ridge=1e-8 * d**2 / n, max_passes=600)
    assert found.converged
    assert found.nu == pytest.approx(1093.72, rel=1e-4)
