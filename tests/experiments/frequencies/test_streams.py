"""Streams of facts: what they are made of, predictions against measurements, and who forgets what."""

import numpy as np
import pytest

from assocmem.experiments.frequencies import streams
from assocmem.experiments.frequencies.streams import (
    WRITTEN,
    chances,
    contents,
    decay,
    delta_step,
    draw_stream,
    fitting,
    go_through,
    measure_stream,
)
from assocmem.pairs.scores import retrieval_margins
from assocmem.theory.forgetting import retrieved_by_age


def test_a_stream_is_what_it_says():
    once = draw_stream(16, 4, 0, 1)
    assert once.questions.tolist() == list(range(32))
    assert once.age.tolist() == [3] * 8 + [2] * 8 + [1] * 8 + [0] * 8
    drawn = draw_stream(16, 40, 1.2, 1)
    assert drawn.pairs.n == len(drawn.questions) == 320
    assert drawn.times.sum() == 320
    assert drawn.frequencies.sum() == pytest.approx(1)
    assert drawn.times[0] / 320 == pytest.approx(drawn.frequencies[0], abs=0.08)
    for i in np.flatnonzero(drawn.times):
        assert drawn.questions[drawn.last[i]] == i
        assert i not in drawn.questions[drawn.last[i] + 1 :]
    assert np.array_equal(draw_stream(16, 40, 1.2, 1).questions, drawn.questions)


@pytest.mark.parametrize("way", WRITTEN)
def test_where_facts_come_once_predictions_are_those_of_rules_that_forget(way):
    stream = draw_stream(40, 10, 0, 0)
    ages = np.array([0, 20, 100, 400])
    told = chances(stream, contents(stream, way))[stream.pairs.n - 1 - ages]
    n = stream.pairs.n
    at = {
        "outer_products": {"keep": 1.0},
        "decayed": {"keep": decay(stream)},
        "delta": {"step": delta_step(stream)},
    }
    theory = retrieved_by_age(ages, n, 40, **at[way])
    assert told == pytest.approx(theory, abs=0.02 if way == "delta" else 0.005)


def test_signals_and_crosstalk_are_those_of_memories():
    # means over keys and answers; what frequent facts call up is left out, as it scatters much
    for way in WRITTEN:
        measured, told = [], []
        for seed in range(6):
            stream = draw_stream(24, 12, 1.0, seed)
            pairs, W = stream.pairs, go_through(stream, way)
            called = W @ pairs.V
            signal = (pairs.U * called).sum(dim=0).numpy()
            along = (pairs.U * called).sum(dim=0) / (pairs.U**2).sum(dim=0)
            rest = ((called - pairs.U * along) ** 2).sum(dim=0).numpy()
            held = contents(stream, way)
            often, once, never = stream.times >= 8, stream.times == 1, stream.times == 0
            measured.append([signal[often].mean(), rest[once].mean(), rest[never].mean()])
            means = (held.signal[often], held.crosstalk[once], held.crosstalk[never])
            told.append([x.mean() for x in means])
        assert np.mean(measured, axis=0) == pytest.approx(np.mean(told, axis=0), rel=0.2), way


@pytest.mark.parametrize("way", WRITTEN)
def test_predictions_are_near_what_is_measured_of_facts_that_come_again(way):
    rows = [measure_stream(32, 8, way, 1.0, seed) for seed in range(4)]
    for name in ("questions", "times_1", "times_2"):
        found = np.mean([row[name] for row in rows])
        told = np.mean([row[f"told_{name}"] for row in rows])
        assert told == pytest.approx(found, abs=0.1), name


def test_no_way_holds_more_than_fits_and_who_holds_what():
    ways = ("delta", "newest", "replay", "retrained", "keep")
    rows = {way: measure_stream(24, 32, way, 0, 0) for way in ways}
    fits = fitting(draw_stream(24, 32, 0, 0))
    held = {way: row["held"] for way, row in rows.items()}
    assert held["keep"] > 0.7 * fits
    assert max(held[way] for way in ways if way != "keep") < 0.8 * held["keep"]
    # all at once is worse than the newest alone: far above capacity equal facts crowd each other out
    assert held["retrained"] < held["newest"]
    assert rows["newest"]["age_0"] > 0.9
    assert rows["newest"]["age_4"] < 0.1
    assert rows["retrained"]["told_questions"] is rows["retrained"]["told_age_0"] is None


def test_frequent_facts_outlive_the_rare():
    rows = {way: measure_stream(24, 24, way, 1.2, 0) for way in ("newest", "retrained", "keep")}
    for way, row in rows.items():
        assert row["times_16"] > 0.7 > row["times_1"], way
    assert rows["newest"]["questions"] < rows["retrained"]["questions"]


def test_a_minimiser_that_is_not_found_is_told(monkeypatch):
    monkeypatch.setattr(streams, "GAP", 1e-14)
    monkeypatch.setattr(
        streams, "fit", lambda *a, **k: type("Fit", (), {"converged": False, "gap": 1.0, "passes": 3})
    )
    with pytest.raises(ArithmeticError, match="facts: gap 1.0e"):
        go_through(draw_stream(16, 4, 0, 0), "retrained")


def test_all_facts_compete():
    stream = draw_stream(16, 4, 0, 0)
    facts = stream.asked(np.array([3, 5]))
    assert (facts.n, facts.m) == (2, 32)
    W = go_through(stream, "outer_products")
    assert retrieval_margins(facts, W).tolist() == pytest.approx(
        retrieval_margins(stream.pairs, W)[[3, 5]].tolist()
    )
