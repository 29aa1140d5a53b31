"""The live memory of the opening page computes what the package computes, and shows it."""

import numpy as np
import pytest
import torch

from assocmem.book.live_instances import SEEDS, UNIT, integer_pairs, live_instances
from assocmem.memories.clipped import clipped_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import retrieval_margins, scores
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]

OUTER, EQUAL, CLIPPED, TRAINED, ANY = range(1, 6)
SIZES = [(23, 10, 1), (40, 12, 2), (30, 12, 3), (14, 6, 3), (36, 6, 1), (9, 3, 2), (12, 8, 1), (3, 2, 2)]
WIDGET = "[data-widget=live_memory]"


@pytest.fixture
def memory(widget):
    """Open the opening page at settings of the live memory."""
    return lambda **settings: widget("live_memory", **settings).page


def given(n, d, draw):
    """The pairs of the page."""
    U, V = (X[:d, :n] / (UNIT * d**0.5) for X in integer_pairs(SEEDS[draw - 1]))
    return Pairs(torch.from_numpy(U), torch.from_numpy(V))


def shown(page, name):
    return page.get_attribute(WIDGET, f"data-{name}")


def said(page):
    return page.inner_text("#widget-live_memory .am-answer")


# --- the numbers ---


def test_scores_and_margins_are_those_of_the_package(memory):
    found = memory().evaluate(
        """sizes => sizes.map(([n, d, draw]) => {
            const {memories: m} = assocmem, pairs = m.instance(n, d, draw);
            const S = m.scores(pairs, m.outerProducts(pairs)), found = m.margins(S, n);
            return [Array.from(S), found.map(x => x.margin), found.map(x => x.rival)];
        })""",
        SIZES,
    )
    for size, (S, margins, rivals) in zip(SIZES, found, strict=True):
        pairs = given(*size)
        expected = scores(pairs, correlation_memory(pairs))
        np.testing.assert_allclose(np.reshape(S, expected.shape), expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(margins, retrieval_margins(pairs, correlation_memory(pairs)), atol=1e-13)
        np.testing.assert_array_equal(rivals, expected.fill_diagonal_(-torch.inf).argmax(dim=0))


def dense_clipping(pairs, rounds, gamma=0.1, softness=0.1):
    """Equal signals, then rounds of clipping: one dense system each, for W and its multipliers."""
    U, V, n, d = pairs.U.numpy(), pairs.V.numpy(), pairs.n, pairs.d
    row = lambda j, i: np.outer(U[:, j], V[:, i]).reshape(-1)  # noqa: E731
    A = np.array([row(i, i) for i in range(n)])
    energy, memories, above = np.kron(U @ U.T, V @ V.T) * (d / n) ** 2, [], []
    for _ in range(rounds + 1):
        H, h = energy.copy(), np.zeros(d * d)
        for j, i in above:
            H += np.outer(row(j, i), row(j, i)) / softness
            h += row(j, i) * (1 - gamma) / softness
        system = np.block([[H, A.T], [A, np.zeros((n, n))]])
        W = np.linalg.lstsq(system, np.append(h, np.ones(n)), rcond=None)[0][: d * d].reshape(d, d)
        S = U.T @ W @ V
        memories.append(W)
        rivals = np.where(np.eye(n, dtype=bool), -np.inf, S)
        above = np.argwhere(rivals > 1 - gamma)
        if (rivals.max(axis=0) < S.diagonal()).all() or len(above) > d * d:
            break
    return memories[0], memories[-1]


def test_equal_signals_and_clipping_are_those_of_the_package(memory):
    sizes = [(n, d, draw) for n, d, draw in SIZES if d < n < d * d]
    found = memory().evaluate(
        """sizes => sizes.map(([n, d, draw]) => {
            const {equal, W} = assocmem.memories.clipped(assocmem.memories.instance(n, d, draw));
            return [Array.from(equal), Array.from(W)];
        })""",
        sizes,
    )
    for size, both in zip(sizes, found, strict=True):
        pairs, d = given(*size), size[1]
        for flat, expected, rounds in zip(both, dense_clipping(pairs, 2), (0, 2), strict=True):
            W = np.reshape(flat, (d, d))
            np.testing.assert_allclose(W, expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())
            package = clipped_memory(pairs, rounds=rounds)
            assert package.converged
            np.testing.assert_allclose(W, package.W, atol=0.02 * np.abs(expected).max())
            S = scores(pairs, torch.from_numpy(W))
            np.testing.assert_allclose(S.diagonal(), 1, atol=1e-9)


def test_equal_signals_exist_exactly_up_to_as_many_pairs_as_numbers(memory):
    found = memory().evaluate(
        """() => [1, 2, 3].flatMap(draw => [2, 3, 4, 5, 6, 9, 12].flatMap(d => [2, 3, d, d * d, d * d + 1]
            .filter(n => n <= 40).map(n => {
                const m = assocmem.memories, pairs = m.instance(n, d, draw), found = m.clipped(pairs);
                const S = found && m.scores(pairs, found.equal);
                return [n, d, found && Math.max(...m.range(n).map(i => Math.abs(S[i * n + i] - 1)))];
            })))"""
    )
    for n, d, error in found:
        assert error is None if n > d * d else error < 1e-9, (n, d)


def test_the_loss_is_cross_entropy_and_every_step_lowers_it(memory):
    n, d, draw = 23, 10, 1
    found = memory().evaluate(
        """([n, d, draw]) => {
            const m = assocmem.memories, pairs = m.instance(n, d, draw), W = m.outerProducts(pairs);
            const gradient = W.map(() => 0), value = m.loss(pairs, W, gradient);
            const state = m.training(pairs), losses = [state.loss];
            while (!state.done) { state.step(); losses.push(state.loss); }
            return [value, Array.from(gradient), losses];
        }""",
        [n, d, draw],
    )
    pairs = given(n, d, draw)
    W = correlation_memory(pairs).requires_grad_()
    loss = torch.nn.functional.cross_entropy((pairs.U.T @ W @ pairs.V).T, torch.arange(n))
    loss.backward()
    assert found[0] == pytest.approx(loss.item(), rel=1e-12)
    np.testing.assert_allclose(np.reshape(found[1], (d, d)), W.grad, atol=1e-14)
    losses = np.array(found[2])
    assert losses[0] == pytest.approx(np.log(n), rel=1e-12)
    assert np.all(np.diff(losses) <= 0)
    assert losses[-1] < 0.01


def test_training_retrieves_where_the_fit_of_the_package_does(memory):
    sizes = [(6, 4, 2), (11, 6, 1), (12, 6, 2), (18, 8, 1), (23, 10, 1), (25, 10, 3), (30, 12, 1)]
    found = memory().evaluate(
        """sizes => sizes.map(([n, d, draw]) => {
            const m = assocmem.memories, pairs = m.instance(n, d, draw), state = m.training(pairs);
            while (!state.done) state.step();
            return [m.failing(m.margins(m.scores(pairs, state.W), n)), state.steps];
        })""",
        sizes,
    )
    for size, (failing, steps) in zip(sizes, found, strict=True):
        pairs = given(*size)
        assert (retrieval_margins(pairs, fit(pairs, CrossEntropy(), ridge=1e-5).W) > 0).all()
        assert failing == 0
        assert steps < 400


def test_every_setting_has_the_verdict_that_was_proved(memory):
    found = memory().evaluate(
        """() => {
            const m = assocmem.memories, decided = (n, d, draw) => {
                const {proof, rest, weights, scores} = m.anyMemory(m.instance(n, d, draw));
                if (proof) return [false, rest, Math.min(...weights), weights.reduce((a, b) => a + b)];
                return [true, m.failing(m.margins(scores, n)), scores.every(Number.isSafeInteger)];
            };
            const ofDraw = draw => m.range(11).map(d => m.range(39).map(n => decided(n + 2, d + 2, draw)));
            return [1, 2, 3].map(ofDraw);
        }"""
    )
    for draw, mine in zip(live_instances()["draws"], found, strict=True):
        for verdict, row in zip(draw["verdicts"], mine, strict=True):
            for n, (possible, *proof) in enumerate(row, 2):
                assert possible == (n <= verdict["n"])
                if possible:
                    assert proof == [0, True]
                else:
                    rest, least, total = proof
                    assert rest < 1e-15
                    assert least > 1e-7
                    assert total == pytest.approx(1)


# --- what is shown ---


def test_the_five_memories_one_after_another_by_keyboard(memory):
    page = memory()
    pairs = given(23, 10, 1)
    kept = lambda W: str(int((retrieval_margins(pairs, W) > 0).sum()))  # noqa: E731
    expected = [kept(correlation_memory(pairs)), *(kept(clipped_memory(pairs, rounds=x).W) for x in (0, 2))]
    choices = page.locator(".am-live-choice input")
    choices.first.focus()
    for at, count in enumerate([*expected, "23", "23"], 1):
        page.wait_for_function(
            "count => document.querySelector('[data-widget=live_memory]').dataset.retrieved === count",
            arg=count,
        )
        assert choices.nth(at - 1).is_checked()
        assert (f"live_memory.memory={at}" in page.url) == (at > 1)
        page.wait_for_function(
            "([at, words]) => document.querySelectorAll('.am-live-count')[at].textContent === words",
            arg=[at - 1, f"{count} of 23"],
        )
        page.keyboard.press("ArrowDown")
    assert choices.first.is_checked()  # and around


def test_the_proof_is_drawn_where_one_pair_is_too_many(memory):
    page = memory(n=32, memory=ANY)
    verdict = live_instances()["draws"][0]["verdicts"][8]
    assert (verdict["d"], verdict["n"]) == (10, 31)
    assert page.locator(f"{WIDGET} svg[role=img] circle").count() == len(verdict["proof"])
    assert 0 < float(shown(page, "rest")) < 1e-15
    assert "No matrix retrieves all 32 keys" in said(page)
    page.fill("#set-live_memory-n", "31")
    page.wait_for_function(
        "() => document.querySelector('[data-widget=live_memory]').dataset.verdict === 'possible'"
    )
    assert page.locator(f"{WIDGET} svg[role=img] circle").count() == 0
    assert float(shown(page, "margin")) > 0
    assert "the first 31 of these pairs fit" in said(page)


def test_a_memory_that_does_not_exist_is_said_to(memory):
    page = memory(n=26, d=5, memory=EQUAL)
    assert "26 keys" in said(page)
    assert "d² = 25" in said(page)
    assert page.locator(".am-live-count").all_inner_texts()[1:3] == ["does not exist"] * 2


def test_other_vectors_are_others_and_come_around(memory):
    page, seen = memory(), []
    for draw in (1, 2, 3):
        assert f"now {draw} of 3" in page.inner_text(".am-live-again")
        seen.append(page.locator(f"{WIDGET} svg[role=img]").evaluate("svg => svg.innerHTML"))
        page.click(".am-live-again")
        page.wait_for_function(
            "d => document.querySelector('.am-live-again').textContent.includes(`now ${d} of`)",
            arg=draw % 3 + 1,
        )
    assert len(set(seen)) == 3
    assert page.locator(f"{WIDGET} svg[role=img]").evaluate("svg => svg.innerHTML") == seen[0]


def test_a_cell_that_is_pointed_at_says_its_score(memory):
    page = memory()
    S = scores(given(23, 10, 1), correlation_memory(given(23, 10, 1)))
    chart = page.locator("#widget-live_memory-chart")
    chart.scroll_into_view_if_needed()
    box, side = chart.bounding_box(), chart.bounding_box()["width"] - 21  # beside the axis and the frame
    for j, i in ((4, 4), (20, 7)):
        page.mouse.move(box["x"] + 20 + (i + 0.5) * side / 23, box["y"] + (j + 0.5) * side / 23)
        words = page.text_content(".am-live-hint").replace("\u2212", "-")
        assert words.startswith(f"target {j + 1} for key {i + 1}: ")
        assert float(words.partition(": ")[2].partition(",")[0]) == pytest.approx(float(S[j, i]), rel=0.01)
        assert ("its signal" in words) == (i == j)
    page.mouse.move(1, 1)
    assert page.text_content(".am-live-hint") == ""


WATCH = """
    () => {
        window.losses = [];
        const host = document.querySelector('[data-widget=live_memory]');
        const note = () => {
            const {steps, loss} = host.dataset;
            if (loss) window.losses.push([Number(steps), Number(loss)]);
        };
        new MutationObserver(note).observe(host, {attributeFilter: ['data-loss']});
    }
"""
TRAINED_ALL = "() => document.querySelector('[data-widget=live_memory]').dataset.trained"


def test_training_moves_until_it_is_done(memory):
    page = memory()
    page.evaluate(WATCH)
    page.locator(".am-live-choice input").nth(TRAINED - 1).check()
    page.wait_for_function(TRAINED_ALL)
    steps, losses = np.transpose(page.evaluate("losses"))
    assert len(losses) > 10
    assert np.all(np.diff(steps) >= 0)
    assert np.all(np.diff(losses) <= 0)
    assert "all 23 keys are retrieved" in said(page)
    page.fill("#set-live_memory-n", "38")  # a setting that changes while it runs starts it anew
    page.wait_for_function(
        "() => Number(document.querySelector('[data-widget=live_memory]').dataset.steps) > 3"
    )
    page.fill("#set-live_memory-n", "12")
    page.wait_for_function(TRAINED_ALL)
    assert shown(page, "trained") == shown(page, "retrieved") == "12"


def test_with_reduced_motion_the_end_is_shown_at_once(memory, page):
    page.emulate_media(reduced_motion="reduce")
    memory()
    page.evaluate(WATCH)
    page.locator(".am-live-choice input").nth(TRAINED - 1).check()
    page.wait_for_function(TRAINED_ALL)
    assert len(page.evaluate("losses")) == 1
    assert float(shown(page, "loss")) < 0.01
    page.emulate_media(reduced_motion="no-preference")


def test_print_has_the_end_of_the_training_and_no_buttons(memory):
    page = memory(n=36, d=12)
    page.evaluate(
        """() => {
            document.querySelectorAll('.am-live-choice input')[3].click();
            return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        }"""
    )
    assert shown(page, "trained") is None
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert int(shown(page, "trained")) > 30
    page.emulate_media(media="print")
    assert page.locator(f"{WIDGET} svg[role=img]").is_visible()
    assert page.locator(".am-live-choices").is_visible()
    assert not page.locator(f"{WIDGET} input:visible, {WIDGET} button:visible").count()
    page.emulate_media(media="screen")
