"""States of fits: which problem they belong to, and what happens to those that cannot be used."""

import dataclasses
import os

import pytest
import torch

from assocmem.checks import UnusableState
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.training import checkpoints
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage

LOSS = TailAverage(0.15, 5.0)


@pytest.fixture
def state(tmp_path):
    """A file with the state of a fit that was interrupted."""
    path, seen = tmp_path / "fit.pt", []

    def stop(entry, _):
        seen.append(entry)
        if len(seen) == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(problem(), LOSS, ridge=1e-4, checkpoint=path, report=stop)
    return path


def problem():
    return gaussian_pairs(40, 12, seed=1)


def again(path, **others):
    return fit(problem(), LOSS, **({"ridge": 1e-4} | others), checkpoint=path)


def test_a_problem_is_told_by_bytes_whatever_the_threads_and_the_layout(monkeypatch):
    pairs = gaussian_pairs(3000, 30, seed=1)
    wanted = checkpoints.digest(pairs)
    threads = torch.get_num_threads()
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        assert checkpoints.digest(pairs) == wanted
    torch.set_num_threads(threads)
    assert checkpoints.digest(Pairs(pairs.U.contiguous(), pairs.V.T.contiguous().T)) == wanted
    monkeypatch.setattr(checkpoints, "HASHED_COLUMNS", 7)
    assert checkpoints.digest(pairs) == wanted


def test_every_bit_of_the_data_counts():
    pairs = problem()
    known = {checkpoints.digest(pairs), checkpoints.digest(Pairs(pairs.V, pairs.U))}
    for X in (pairs.U, pairs.V):
        for place in ((0, 0), (5, 17), (-1, -1)):
            changed = X.clone()
            changed[place] = torch.nextafter(changed[place], torch.tensor(9.0, dtype=torch.float64))
            both = (changed, pairs.V) if X is pairs.U else (pairs.U, changed)
            known.add(checkpoints.digest(Pairs(*both)))
        swapped = X.clone()
        swapped[:, [3, 4]] = X[:, [4, 3]]  # which no sum over the entries tells
        both = (swapped, pairs.V) if X is pairs.U else (pairs.U, swapped)
        known.add(checkpoints.digest(Pairs(*both)))
    assert len(known) == 2 + 2 * 4


def test_a_state_serves_any_number_of_threads_and_kind_of_number(state):
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        found = again(state)
    finally:
        torch.set_num_threads(threads)
    assert found.converged
    assert len(found.trace) == found.passes > 12
    assert [entry["seconds"] for entry in found.trace] == sorted(entry["seconds"] for entry in found.trace)
    twin = dataclasses.replace(LOSS, beta=torch.tensor(5.0).item(), r=float("0.15"))
    assert fit(problem(), twin, ridge=1e-4, checkpoint=state).passes <= found.passes + 1


def test_what_goes_on_is_the_same_each_time(state):
    content = state.read_bytes()
    first = again(state)
    state.write_bytes(content)
    second = again(state)
    assert torch.equal(first.W, second.W)
    assert [e["objective"] for e in first.trace] == [e["objective"] for e in second.trace]


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.99, "nul"])
def test_a_state_that_broke_off_counts_for_nothing(state, capsys, share):
    content = state.read_bytes()
    state.write_bytes(b"\0" * len(content) if share == "nul" else content[: int(share * len(content))])
    found = again(state)
    fresh = fit(problem(), LOSS, ridge=1e-4)
    assert torch.equal(found.W, fresh.W)
    assert (
        capsys.readouterr().err
        == f"assocmem: checkpoint = {state}: only part of a state, the fit begins anew\n"
    )
    assert again(state).passes <= found.passes + 1, "the file has been replaced by a whole one"


def other_things(path):
    """What may lie in a file that is no state of this problem, by name."""
    state = torch.load(path, weights_only=True)
    W = state["W"]
    yield "another version", state | {"format": 1}
    yield "no version", {name: value for name, value in state.items() if name != "format"}
    yield "another problem", state | {"problem": state["problem"] | {"data": "0" * 64}}
    yield "another size", state | {"W": W[:3, :3]}
    yield "a nan", state | {"W": W * float("nan")}
    yield "no memory", state | {"W": None}
    yield "no trace", state | {"trace": None}
    yield "words", state | {"passes": "many"}
    yield "a tensor", W
    yield "a model", {"weights": W}
    yield "a text", b"Dear diary"
    yield "an archive", b"PK\x05\x06" + bytes(18)


def test_anything_else_is_refused_and_left(state):
    for name, thing in list(other_things(state)):
        if isinstance(thing, bytes):
            state.write_bytes(thing)
        else:
            torch.save(thing, state)
        before = state.read_bytes()
        with pytest.raises(
            UnusableState, match="checkpoint = .*must be .*move it away to begin anew"
        ) as caught:
            again(state)
        assert "\n" not in str(caught.value), name
        assert state.read_bytes() == before, name
    assert [p.name for p in state.parent.iterdir()] == ["fit.pt"]


def test_another_loss_or_ridge_is_refused(state):
    for loss, ridge in ((CrossEntropy(), 1e-4), (TailAverage(0.15, 5.1), 1e-4), (LOSS, 1e-3)):
        with pytest.raises(UnusableState, match="of the same pairs, loss and ridge"):
            fit(problem(), loss, ridge=ridge, checkpoint=state)


@pytest.mark.parametrize("path", ["no/such/folder/x", "", "folder"])
def test_a_checkpoint_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    passes = []
    with pytest.raises(ValueError, match=f"checkpoint = '{path}': must be "):
        fit(problem(), LOSS, ridge=1e-4, checkpoint=path, report=lambda *_: passes.append(1))
    assert not passes
    assert os.listdir(tmp_path) == ["folder"]


def test_a_disk_that_is_full_does_not_cost_the_result(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("assocmem.training.fit.CHECKPOINT_SECONDS", 0)

    def full(path, *_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assocmem.training.fit.write_state", full)
    assert again(tmp_path / "fit.pt").converged
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "not written, the fit goes on (No space left on device)" in error
