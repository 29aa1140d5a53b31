"""The widget of the removed pair trains, removes and predicts as the package does."""

import json

import numpy as np
import pytest
import torch

from assocmem.pairs.data import Pairs
from assocmem.removal import leave_one_out as loo
from assocmem.removal.hessians import dense_operator, evaluate
from assocmem.training.losses import TailAverage

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]

D, N, R = 12, 36, 0.2
SETTINGS = [(3.0, 0.5), (10.0, 0.05), (0.3, 10.0)]  # sharpness and ridge
REMOVE = """([d, n, beta, ridge, pairs]) => {
    const {gaussianPairs, problem, minimise, remove, finish, hessian, scoresMoved} = assocmem.removed_pair;
    const data = gaussianPairs(n, d, 28), list = (X) => Array.from(X);
    const full = finish(minimise(problem(data, {beta, ridge}), new Float64Array(d * d)));
    return {
        U: data.U.map(list), V: data.V.map(list), W: list(full.W),
        hessians: [true, false].map(x => list(hessian(full, x))),
        removals: pairs.map(h => {
            const {rest, motion, predictions, a, theta, zeta} = finish(remove(full, h));
            const {target, signals} = scoresMoved(data, h, motion);
            const numbers = [a, theta, zeta], guesses = predictions.map(list);
            return {rest: list(rest.W), motion: list(motion), predictions: guesses, numbers, target, signals};
        }),
    };
}"""


@pytest.fixture
def section(widget):
    """Open the section, with settings of the widget."""

    def open_page(**settings):
        page = widget("removed_pair", **settings).page
        page.wait_for_selector('[data-widget="removed_pair"][data-state="done"]')
        return page

    return open_page


def square(values):
    return torch.tensor(values, dtype=torch.float64).reshape(D, D)


def lower(H):
    return np.tril(np.asarray(H).reshape(D * D, D * D))


def test_removals_are_those_of_the_package(section):
    page = section()
    for beta, ridge in SETTINGS:
        compare(page.evaluate(REMOVE, [D, N, beta, ridge, [0, 7, 35]]), beta, ridge)


def compare(found, beta, ridge):
    """Hold what the browser found against the package, which evaluates at the browser's memories."""
    pairs = Pairs(*(torch.tensor(found[x], dtype=torch.float64).T.contiguous() for x in "UV"))
    problem = loo.full_problem(pairs, TailAverage(R, beta), ridge)
    full = evaluate(problem, square(found["W"]))
    # The gradient over the coefficient of the ridge bounds the distance from the minimiser.
    assert full.gradient.norm() / problem.effective_ridge < 1e-9
    for kind, H in zip(("profiled", "full"), found["hessians"], strict=True):
        np.testing.assert_allclose(lower(H), lower(dense_operator(full, kind)), rtol=1e-9, atol=1e-12)
    for h, removal in zip([0, 7, 35], found["removals"], strict=True):
        rest = evaluate(loo.without(problem, h), square(removal["rest"]))
        assert rest.gradient.norm() / problem.effective_ridge < 1e-8
        step, change = loo.newton_step(problem, rest, h), full.W - rest.W
        expected = [step.a * step.response, loo.rank_one_response(problem, full, rest, h), step.W - rest.W]
        for X, prediction in zip(expected, removal["predictions"], strict=True):
            np.testing.assert_allclose(square(prediction), X, atol=1e-8 * float(X.norm()))
        np.testing.assert_allclose(removal["numbers"], [step.a, step.theta, step.zeta], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(square(removal["motion"]), change, atol=1e-12)
        moved = pairs.U.T @ change @ pairs.V
        np.testing.assert_allclose(removal["target"], loo.drop(moved[h], h), atol=1e-10)
        np.testing.assert_allclose(removal["signals"], loo.drop(moved.diagonal().clone(), h), atol=1e-10)


def test_pairs_look_like_normal_ones(section):
    found = section().evaluate(
        "() => { const {U, V} = assocmem.removed_pair.gaussianPairs(400, 30, 5);"
        " return [U, V].map(X => X.map(x => Array.from(x))); }"
    )
    entries = np.ravel(found) * np.sqrt(30)
    quantiles = np.quantile(entries, [0.02, 0.2, 0.5, 0.8, 0.98])
    np.testing.assert_allclose(quantiles, [-2.054, -0.842, 0, 0.842, 2.054], atol=0.05)
    assert abs(np.corrcoef(entries[:-1], entries[1:])[0, 1]) < 0.03


def test_what_is_shown_is_what_the_package_says(section):
    page = section(h=8, prediction=3)
    host = page.locator('[data-widget="removed_pair"]')
    U, V = page.evaluate(
        "([n, d]) => { const {U, V} = assocmem.removed_pair.gaussianPairs(n, d, 28);"
        " return [U, V].map(X => X.map(x => Array.from(x))); }",
        [N, D],
    )
    pairs = Pairs(*(torch.tensor(X, dtype=torch.float64).T.contiguous() for X in (U, V)))
    problem = loo.full_problem(pairs, TailAverage(R, 3.0), 0.5)
    full = loo.minimise(problem)
    rest = loo.minimise(loo.without(problem, 7), full.W)
    step, change = loo.newton_step(problem, rest, 7), full.W - rest.W
    guesses = [step.a * step.response, loo.rank_one_response(problem, full, rest, 7), step.W - rest.W]
    missed = [float((change - X).norm() / change.norm()) for X in guesses]
    np.testing.assert_allclose(json.loads(host.get_attribute("data-missed")), missed, atol=1e-5)
    assert f"the coupled step {100 * missed[2]:.2g}%" in host.locator(".am-answer").inner_text()


@pytest.mark.parametrize(
    ("h", "beta", "ridge"), [(1, 10, 0.05), (36, 0.3, 10), (20, 10, 10), (31, 0.3, 0.05)]
)
def test_the_ends_of_the_settings_have_an_answer(section, h, beta, ridge):
    page = section(h=h, beta=beta, ridge=ridge, prediction=2)
    said = page.locator('[data-widget="removed_pair"] .am-answer').inner_text()
    assert said.startswith(f"Pair {h} moves the memory") and "NaN" not in said


def test_the_numbers_of_the_exercises_are_those_shown(section):
    shown = []
    for beta, ridge in ((3, 0.5), (3, 5), (10, 0.5)):
        host = section(beta=beta, ridge=ridge).locator('[data-widget="removed_pair"]')
        missed = [round(100 * x) for x in json.loads(host.get_attribute("data-missed"))]
        slopes = [round(float(host.get_attribute(f"data-{name}")), 2) for name in ("slope", "predicted")]
        shown.append((missed, slopes))
    assert shown[0] == ([37, 58, 18], [-0.14, 0.07])
    assert [missed[2] for missed, _ in shown[1:]] == [9, 31]


def test_presets_keep_the_prediction_that_was_chosen(section):
    page = section()
    host = page.locator('[data-widget="removed_pair"]')
    host.get_by_role("radio", name="coupled").check()
    host.get_by_role("button", name="more ridge").click()
    assert page.input_value("#set-removed_pair-ridge") == "5"
    assert page.input_value("#set-removed_pair-prediction") == "3"
    assert host.get_by_role("radio", name="coupled").is_checked()
    host.locator(".am-reset").click()
    assert page.input_value("#set-removed_pair-prediction") == "1"
