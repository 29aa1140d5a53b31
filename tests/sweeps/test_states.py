"""Long points of a sweep keep a state; one that cannot be used is told in a line and never fails a point."""

import pytest
import torch

from assocmem.__main__ import main
from assocmem.pairs.data import gaussian_pairs
from assocmem.sweeps.export import known
from assocmem.sweeps.run import state_file
from assocmem.sweeps.sweep_file import read_sweep
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy

SWEEP = "point: tail_memory\npoints: {d: 8, r: 0.15, load: 0.4, tol: 1.0e-4, ridge: 1.0e-4}"


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yml").write_text(SWEEP)
    return read_sweep("mine.yml")


def row(sweep):
    (result,) = known(sweep).rows.values()
    return result.row


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


def test_a_state_that_cannot_be_used_means_compute_again(sweep, capsys):
    file = sweep.path.absolute()
    state = state_file(sweep.store, sweep.points[0].key, sweep.function.code)
    assert main(["sweep", "run", str(file)]) == 0
    wanted = row(sweep)
    for words, content in list(unusable(state)):
        sweep.store.unlink()
        state.write_bytes(content)
        capsys.readouterr()
        assert main(["sweep", "run", str(file)]) == 0
        output = capsys.readouterr()
        assert output.err.count("\n") == 1
        assert words in output.err
        assert "failed" not in output.out
        assert row(sweep) == wanted
        assert sorted(p.name for p in file.parent.iterdir()) == ["mine.sqlite", "mine.yml"]


def test_a_failed_point_keeps_its_state(sweep, monkeypatch):
    state = state_file(sweep.store, sweep.points[0].key, sweep.function.code)

    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("assocmem.training.fit.EASY_SHARE", -1.0)
    with monkeypatch.context() as patch:
        patch.setattr("assocmem.training.descent._lbfgs_product", full)
        patch.setattr("assocmem.training.descent.exact_inverse", full)
        assert main(["sweep", "run", "mine.yml"]) == 1
    assert state.exists()
    assert main(["sweep", "run", "mine.yml", "--retry"]) == 0
    assert not state.exists()


@pytest.mark.parametrize(
    "words",
    [["run", "mine.yml", "--into", ""], ["export", "mine.yml", "--out", ""], ["merge", "mine.yml", ""]],
)
def test_an_empty_path_is_refused(sweep, capsys, words):
    assert main(["sweep", *words]) == 2
    assert "'': must be a path, not empty\n" in capsys.readouterr().err
    assert not sweep.store.exists()
