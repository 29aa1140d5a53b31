"""The widgets of the sections on first place compute what the package computes, and show it."""

import json
import math

import numpy as np
import pytest
import torch

import assocmem as am
from assocmem.deciding.comparisons import cancellation
from assocmem.experiments.first_place.cone_projections import tail_levels
from assocmem.theory.kinematics import pool, pooled_moments

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]


@pytest.fixture
def shown(widget):
    """Open a section at a widget with settings; give the page, and what the widget says that it shows."""

    def open_page(name, **settings):
        place = widget(name, **settings)
        return place.page, place.evaluate("host => ({...host.dataset})")

    return open_page


# --- the certificate as a polygon ---

TURN = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
"""The matrix that turns the plane by 90 degrees."""
INSTANCES = [(n, draw, 20.0 * draw) for n in (2, 3, 4, 5, 6) for draw in range(25)]
DECIDED = """
    instances => instances.map(([n, draw, degrees]) => {
        const {instance, comparisons, decide, headToTail} = assocmem.certificate_polygon;
        const given = instance(n, draw, degrees), all = comparisons(given), vectors = all.map(c => c.at);
        const {memory, weights} = decide(vectors);
        const path = headToTail(vectors, weights || vectors.map(() => 1));
        return {...given, all, memory, weights, end: path[path.length - 1].to};
    })
"""


def pairs_of(found):
    targets, keys = (torch.tensor(found[name], dtype=torch.float64).T for name in ("targets", "keys"))
    return am.Pairs(targets, keys)


def matrix_of(found, numbers):
    """Numbers of comparisons at their places ``[j, i]``."""
    n = len(found["keys"])
    matrix = torch.zeros(n, n, dtype=torch.float64)
    for comparison, number in zip(found["all"], numbers, strict=True):
        matrix[comparison["j"], comparison["i"]] = number
    return matrix


def test_comparisons_are_those_of_the_package(shown):
    page, _ = shown("certificate_polygon")
    for found in page.evaluate(DECIDED, INSTANCES):
        pairs = pairs_of(found)
        for place, W in enumerate((torch.eye(2, dtype=torch.float64), TURN)):
            S = am.scores(pairs, W)
            expected = S.diagonal() - S
            seen = matrix_of(found, [comparison["at"][place] for comparison in found["all"]])
            np.testing.assert_allclose(seen, expected.fill_diagonal_(0), atol=1e-12)


def test_each_instance_has_a_memory_that_retrieves_or_weights_that_cancel(shown):
    page, _ = shown("certificate_polygon")
    verdicts = []
    for found in page.evaluate(DECIDED, INSTANCES):
        pairs = pairs_of(found)
        verdicts.append(found["memory"] is not None)
        if found["memory"]:
            a, b = found["memory"]
            W = a * torch.eye(2, dtype=torch.float64) + b * TURN
            assert float(am.retrieval_margins(pairs, W).min()) > 0
            assert np.dot(found["end"], found["memory"]) > 0
        else:
            weights = matrix_of(found, found["weights"])
            assert weights.min() >= 0
            assert float(weights.sum()) == pytest.approx(1)
            assert 2 <= int((weights > 0).sum()) <= 3
            rest = cancellation(pairs, weights)
            np.testing.assert_allclose([rest.trace(), (rest * TURN).sum(), *found["end"]], 0, atol=1e-12)
    assert 20 < sum(verdicts) < len(verdicts) - 20


def test_what_all_matrices_cannot_do_those_of_two_numbers_cannot(shown):
    page, _ = shown("certificate_polygon")
    tried = [(n, draw, 0.0) for n in (4, 5) for draw in range(1, 13)]
    hopeless = 0
    for found in page.evaluate(DECIDED, tried):
        if am.decide_top1(pairs_of(found)).feasible is False:
            hopeless += 1
            assert found["weights"]
    assert hopeless > 5


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_a_key_of_a_regular_instance_can_be_turned_as_far_as_the_exercise_says(shown, n):
    page, _ = shown("certificate_polygon")
    angles = [sign * (360 / n + more) for sign in (1, -1) for more in (-0.01, 0.0)]
    within, at, other, at_other = page.evaluate(DECIDED, [(n, 0, angle) for angle in angles])
    assert within["memory"]
    assert other["memory"]
    for found in (at, at_other):
        assert sorted(weight for weight in found["weights"] if weight) == pytest.approx([0.5, 0.5])


def test_the_polygon_shows_its_weights_or_its_memory(shown):
    page, data = shown("certificate_polygon", turn=150.0)
    assert data["verdict"] == "weights"
    assert sum(json.loads(data["weights"])) == pytest.approx(1)
    assert "the polygon closes" in page.inner_text("#widget-certificate_polygon .am-answer")
    page, data = shown("certificate_polygon", turn=100.0)
    assert float(data["degrees"]) == pytest.approx(-50)
    assert "turn every key by −50 degrees" in page.inner_text("#widget-certificate_polygon .am-answer")


def test_the_key_can_be_dragged(shown):
    page, _ = shown("certificate_polygon")
    plane = page.locator("#widget-certificate_polygon svg.am-map")
    middle = plane.evaluate("svg => svg.getBoundingClientRect().width") / 2

    def hover(right, up):
        plane.hover(position={"x": middle + right, "y": middle - up})

    hover(0, 40)
    page.mouse.down()
    hover(-40, 0)
    page.mouse.up()
    assert page.input_value("#set-certificate_polygon-turn") == "90"
    hover(0, -40)
    assert page.input_value("#set-certificate_polygon-turn") == "90"
    page.wait_for_selector("#widget-certificate_polygon [data-verdict=memory]")


# --- the projection onto the cone ---

COLUMNS = [(n, k, seed) for n in (3, 7, 30, 200) for k in (1, 2, 5, 29, 199) if k < n for seed in range(12)]
PROJECTED = (
    "columns => columns.map(([signal, rivals, k]) => assocmem.cone_projection.project(signal, rivals, k))"
)


def drawn():
    for n, k, seed in COLUMNS:
        rng = np.random.default_rng([n, k, seed])
        signal = rng.uniform(-4, 2)
        yield signal, np.sort(rng.standard_normal(n - 1))[::-1], k


def test_projections_are_those_of_the_package(shown):
    page, _ = shown("cone_projection")
    columns = list(drawn())
    projected = page.evaluate(PROJECTED, [(signal, x.tolist(), k) for signal, x, k in columns])
    for found, (signal, x, k) in zip(projected, columns, strict=True):
        low, high = tail_levels(signal, x, k)
        after = x - np.clip(x - low, 0, high - low)
        np.testing.assert_allclose(found["after"], after, atol=1e-9)
        assert found["signal"] == pytest.approx(signal + k * (high - low), abs=1e-9)
        if k == 1:
            level, count = pool(signal, x)
            assert found["pool"] == count
            assert found["signal"] == pytest.approx(level, abs=1e-12)
            cost = max(level - signal, 0) ** 2 + ((x[:count] - level) ** 2).sum()
            assert found["distance"] == pytest.approx(cost, rel=1e-12, abs=1e-12)


def test_projections_meet_the_conditions_of_the_nearest_point(shown):
    page, _ = shown("cone_projection")
    columns = list(drawn())
    projected = page.evaluate(PROJECTED, [(signal, x.tolist(), k) for signal, x, k in columns])
    for found, (signal, x, k) in zip(projected, columns, strict=True):
        after = np.array(found["after"])
        falls, rise = x - after, found["signal"] - signal
        assert found["signal"] >= np.sort(after)[-k:].mean() - 1e-12  # in the cone
        assert rise * found["signal"] == pytest.approx(
            falls @ after, abs=1e-10
        )  # at a right angle to the rest
        assert falls.min() >= 0  # what is taken away is in the polar cone
        assert falls.max() <= rise / k + 1e-12
        assert falls.sum() == pytest.approx(rise, abs=1e-11)
        assert found["distance"] == pytest.approx(rise**2 + falls @ falls, rel=1e-12)


def test_the_dimension_of_a_face_has_the_mean_of_the_package(shown):
    page, _ = shown("cone_projection")
    columns, k = np.random.default_rng(1).standard_normal((1500, 30)), 4
    asked = [(column[0], np.sort(column[1:])[::-1].tolist(), k) for column in columns]
    projected = page.evaluate(PROJECTED, asked)
    mean, variance = pooled_moments(30, k)
    for values in ([found[name] for found in projected] for name in ("pool", "distance")):
        assert np.mean(values) == pytest.approx(mean, abs=4 * np.std(values) / math.sqrt(len(values)))
    assert np.var([found["pool"] for found in projected]) == pytest.approx(variance, rel=0.2)


def test_the_projection_shows_pool_and_distance_and_their_mean(shown):
    page, data = shown("cone_projection", signal=-4.0)
    assert float(data["mean"]) == pytest.approx(pooled_moments(30)[0], rel=1e-4)
    assert data["pool"] == "7"  # as the solution of an exercise says
    assert "M = 7" in page.inner_text("#widget-cone_projection .am-answer")
    _, data = shown("cone_projection", signal=4.0)
    assert (data["pool"], data["distance"]) == ("0", "0")
    _, data = shown("cone_projection", signal=-4.0, n=3, r=1.0)
    assert data["pool"] == "1"  # a half space


# --- the transition ---


def test_what_keys_ask_for_and_its_probability_are_those_of_the_package(shown):
    page, data = shown("transition", n=100, d=22)
    sizes = [(100, 22), (100, 20), (1000, 90), (31, 10), (5400, 240), (10**6, 4427), (777_777, 3875)]
    found = page.evaluate(
        """sizes => sizes.map(([n, d]) => {
            const {asked, spread, probability} = assocmem.transition.kinematic(n, d);
            return [asked, spread, probability];
        })""",
        sizes,
    )
    for (n, d), (asked, spread, probability) in zip(sizes, found, strict=True):
        mean, variance = pooled_moments(n)
        assert asked == pytest.approx(n * mean, rel=1e-6)
        assert spread == pytest.approx(math.sqrt(n * variance), rel=1e-6)
        z = (d * d - n * mean) / math.sqrt(n * variance)
        assert probability == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), abs=2e-3)
        assert probability == pytest.approx(am.retrieval_probability(n, d), abs=0.03)  # without the skewness
    assert float(data["probability"]) == found[0][2]
    assert "58.2%" in page.inner_text("#widget-transition .am-answer")


def test_a_slider_that_is_pulled_to_its_end_gives_the_last_value(shown):
    page, _ = shown("transition")
    slider = page.locator("#set-transition-n-slider")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 20, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert page.input_value("#set-transition-n") == "1000000"
    page.keyboard.press("Home")
    page.keyboard.press("End")
    assert page.input_value("#set-transition-n") == "1000000"
