"""Long points of a sweep keep a state; one that cannot be used is told in a line and never fails a point."""

import pytest
import torch

from assocmem.__main__ import main
from assocmem.pairs.data import gaussian_pairs
from assocmem.sweeps.point_functions import point_function
from assocmem.sweeps.run import state_file
from assocmem.sweeps.sweep_file import read_sweep
from assocmem.sweeps.tasks import Task, compute
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy

SWEEP = "point: tail_memory\npoints: {d: 8, r: 0.15, load: 0.4, tol: 1.0e-4, ridge: 1.0e-4}"


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yml").write_text(SWEEP)
    return read_sweep("mine.yml")


def unusable(path):
    """States that cannot be used, by what the line about them says."""
    fit(gaussian_pairs(20, 12, seed=7), CrossEntropy(), ridge=1e-2, checkpoint=path)
    content = path.read_bytes()
    older = torch.load(path, weights_only=True) | {"format": 1}
    path.unlink()
    yield "only part of a state", b""
    yield "only part of a state", content[:-100]
    yield "of the same pairs, loss and ridge", content
    yield "a checkpoint of a fit", b"nonsense"
    torch.save(older, path)
    yield "another version", path.read_bytes()


def test_a_state_that_cannot_be_used_means_compute_again(sweep, tmp_path, capsys):
    point, state = sweep.points[0], tmp_path / "state"
    at = (sweep.function.name, sweep.function.code, point.key, point.parameters)
    wanted = compute(Task(*at)).row
    assert wanted
    for words, content in list(unusable(state)):
        state.write_bytes(content)
        result = compute(Task(*at, str(state)))
        assert (result.row, result.failure) == (wanted, None)
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1
        capsys.readouterr()
        compute(Task(*at, str(state)))
        assert capsys.readouterr().err == "", "a whole one has taken its place"


STUBBORN = """\
from pathlib import Path
from typing import Annotated


def stubborn(a: Annotated[int, "a number; [0, 9]"], *, checkpoint):
    \"\"\"Converges from the beginning, but not from its own state; not at all for one.\"\"\"
    if Path(checkpoint).exists() or a == 1:
        raise ArithmeticError("gap 2e-11")
    return {"b": a}
"""


def test_a_point_that_fails_on_its_state_is_computed_anew(tmp_path, monkeypatch, capsys):
    (tmp_path / "stubborn_points.py").write_text(STUBBORN)
    monkeypatch.syspath_prepend(str(tmp_path))
    name, state = "stubborn_points:stubborn", tmp_path / "state"
    for a, row in ((0, {"b": 0}), (1, None)):
        state.write_bytes(b"a state")
        result = compute(Task(name, point_function(name).code, "k", {"a": a}, str(state)))
        assert result.row == row
        assert (result.failure is None) == (row is not None)
        said = "the point is computed anew, since it fails on its state: gap 2e-11"
        assert capsys.readouterr().err.count(said) == 1
        assert not state.exists()


def test_a_run_removes_what_it_cannot_use(sweep, capsys):
    state = state_file(sweep.store, sweep.points[0].key, sweep.function.code)
    state.write_bytes(b"nonsense")
    assert main(["sweep", "run", "mine.yml"]) == 0
    output = capsys.readouterr()
    assert "the point is computed anew" in output.err
    assert "1 done" in output.out
    assert sorted(p.name for p in sweep.path.absolute().parent.iterdir()) == ["mine.sqlite", "mine.yml"]


def test_a_failed_point_keeps_its_state(sweep, monkeypatch):
    state = state_file(sweep.store, sweep.points[0].key, sweep.function.code)

    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("assocmem.training.small_pass.MOST_WORK", 0)
    monkeypatch.setattr("assocmem.training.descent.LOOK_BACK", 10**6)
    with monkeypatch.context() as patch:
        patch.setattr("assocmem.training.history.History.times", full)
        assert main(["sweep", "run", "mine.yml"]) == 1
    assert state.exists()
    assert main(["sweep", "run", "mine.yml", "--retry"]) == 0
    assert not state.exists()


@pytest.mark.parametrize("words", ["run mine.yml --into ", "export mine.yml --out ", "merge mine.yml "])
def test_an_empty_path_is_refused(sweep, capsys, words):
    assert main(["sweep", *words.split(" ")]) == 2
    assert "'': must be a path, not empty\n" in capsys.readouterr().err
    assert not sweep.store.exists()
