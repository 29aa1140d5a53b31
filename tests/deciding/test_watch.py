"""What a decision tells while it goes on, and what it keeps for the next time."""

import errno
import math

import pytest
import torch

from assocmem.deciding import feasibility, watch
from assocmem.deciding.feasibility import decide, verify
from assocmem.deciding.tilted import State
from assocmem.deciding.watch import Watch
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.training.fit import fit
from assocmem.training.losses import TailAverage


@pytest.fixture(autouse=True)
def by_passes(monkeypatch):
    monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 0)


def hard_pairs(seed=1):
    return gaussian_pairs(60, 14, seed=seed)


class Interrupted(Exception):
    """Stands for what ends a decision."""


def interrupted(path, pairs, passes, k=1):
    """Begin a decision and break it off after some passes."""

    def report(state, left):
        if state["passes"] >= passes:
            raise Interrupted

    with pytest.raises(Interrupted):
        decide(pairs, k, checkpoint=path, report=report)


def test_reports_have_finite_numbers():
    reports = []
    verdict = decide(hard_pairs(), report=lambda state, left: reports.append((state, left)))
    assert len(reports) > 5
    for state, left in reports:
        assert set(state) == {"passes", "margin", "excess", "floor", "seconds"}
        assert all(math.isfinite(x) for x in state.values())
        assert left is None or 0 < left < math.inf
    passes = [state["passes"] for state, _ in reports]
    assert passes == sorted(passes)
    assert passes[-1] == verdict.passes
    assert reports[-1][0]["margin"] == verdict.margin


def test_the_time_left_is_where_the_excess_reaches_one(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(watch.time, "monotonic", lambda: clock[0])
    told, lines = [], []
    told_of = Watch(hard_pairs(), 1, None, lambda _, left: told.append(left), lines.append)
    W = torch.zeros(14, 14, dtype=torch.float64)
    for step in range(5):  # ten times less a second
        clock[0] += 1
        told_of.after_step(State(W, 1e-4, step, -1.0, 10.0 ** (8 - step)))
    assert told[:2] == [None, None]
    assert told[2:] == pytest.approx([6, 5, 4])
    assert "a proof of no in about" in lines[-1]
    told_of.after_step(State(W, 1e-5, 6, -1.0, 1e9))  # another floor is another story
    assert told[-1] is None


@pytest.mark.parametrize("k, d", [(1, 14), (3, 9)])
def test_an_interrupted_decision_goes_on(tmp_path, k, d):
    pairs, path = gaussian_pairs(60, d, seed=1), tmp_path / "state"
    whole = decide(pairs, k)
    interrupted(path, pairs, whole.passes - 3, k)
    assert path.exists()
    counts = []
    verdict = decide(pairs, k, checkpoint=path, report=lambda state, _: counts.append(state["passes"]))
    assert verdict.feasible == whole.feasible
    assert verify(verdict.certificate, pairs)
    assert counts[0] > whole.passes - 3  # passes before are counted
    assert len(counts) < whole.passes


def test_a_checkpoint_of_another_problem_is_refused_and_left(tmp_path):
    pairs, path = hard_pairs(), tmp_path / "state"
    interrupted(path, pairs, 5)
    before = path.read_bytes()
    for other, k in ((hard_pairs(seed=2), 1), (pairs, 2), (gaussian_pairs(59, 14, seed=1), 1)):
        with pytest.raises(
            ValueError, match="^checkpoint = .*must be of a decision about the same pairs"
        ) as told:
            decide(other, k, checkpoint=path)
        assert "\n" not in str(told.value)
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match="^checkpoint = "):
        fit(pairs, TailAverage(0.3, 5.0), ridge=0.1, checkpoint=path)
    assert path.read_bytes() == before


def test_files_of_another_kind_are_refused_and_left(tmp_path):
    pairs = hard_pairs()
    fit(pairs, TailAverage(0.3, 5.0), ridge=0.1, max_passes=3, checkpoint=tmp_path / "fit")
    (tmp_path / "text").write_text("a letter\n")
    for name in ("fit", "text"):
        path = tmp_path / name
        if not path.exists():
            continue
        before = path.read_bytes()
        with pytest.raises(ValueError, match="^checkpoint = .*move it away to begin anew$"):
            decide(pairs, checkpoint=path)
        assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0, 0.5])
def test_an_empty_file_or_a_part_of_one_counts_for_nothing(tmp_path, share):
    pairs, path = hard_pairs(), tmp_path / "state"
    interrupted(path, pairs, 5)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert decide(pairs, checkpoint=path).passes == decide(pairs).passes


def test_a_full_disk_does_not_cost_the_verdict(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(watch, "write_state", full)
    monkeypatch.setattr(watch, "CHECKPOINT_SECONDS", -1)
    verdict = decide(hard_pairs(), checkpoint=tmp_path / "state")
    assert verdict.feasible is not None
    assert capsys.readouterr().err.count("not written, the search goes on (No space left on device)") == 1


def test_a_checkpoint_in_a_subspace_goes_on(tmp_path):
    """Also where there are fewer pairs than coordinates, so that maps have fewer rows."""
    base = gaussian_pairs(12, 5, seed=0)
    pairs = Pairs(*(torch.cat([X, X, 0 * X]) for X in (base.U, base.V)))
    whole = decide(pairs)
    interrupted(tmp_path / "state", pairs, 2)
    verdict = decide(pairs, checkpoint=tmp_path / "state")
    assert verdict.feasible is whole.feasible is not None
