"""What the benchmarks compare must be the same thing, and their page must show what was measured."""

import importlib
import sys
from pathlib import Path

import pytest
import torch

from assocmem.pairs.data import gaussian_pairs
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy
from assocmem.training.passes import loss_pass

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:`torch.jit.script` is deprecated:{kind}")  # torchmin
    for kind in ("DeprecationWarning", "FutureWarning")
]
FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("fits", "gpu", "machine", "page", "pages", "passes", "peers", "precision", "verdicts"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("loss", ["cross-entropy", "tail average"])
def test_peers_compute_the_same_value_and_gradient(loss):
    peers, passes = importlib.import_module("peers"), importlib.import_module("passes")
    pairs, W = passes.problem(30, 8, 2.0)
    reference = loss_pass(pairs, peers.LOSSES[loss], W)
    compared = 0
    for name, prepare in peers.PEERS[loss].items():
        if "compile" in name:
            continue  # takes longer than the rest of the tests; `make bench` compares it
        value, gradient = prepare(pairs, W, reference.mu)()
        if gradient is None:
            continue
        compared += 1
        assert value == pytest.approx(reference.loss, rel=1e-10), name
        torch.testing.assert_close(gradient, reference.gradient, rtol=0, atol=1e-10)
    assert compared >= 3


def test_every_minimiser_reaches_the_target_that_our_gap_sets():
    script = importlib.import_module("fits")
    pairs, _ = importlib.import_module("passes").problem(30, 8, 1.0)
    found = fit(pairs, CrossEntropy(), ridge=script.RIDGE, tol=1e-7)
    target = found.objective * (1 + script.ACCURACY)
    ours = script.run_ours(found, CrossEntropy(), target)
    assert ours["passes"] <= ours["proved_passes"] <= found.passes
    for name in script.PEERS:
        row = script.run_peer(name, pairs, CrossEntropy(), target, 60)
        assert row["reached"], name
        assert row["excess"] <= script.ACCURACY


def test_time_that_runs_out_is_reported():
    script = importlib.import_module("fits")
    pairs, _ = importlib.import_module("passes").problem(30, 8, 1.0)
    row = script.run_peer("SciPy L-BFGS-B", pairs, CrossEntropy(), 1e-12, 0.0)
    assert not row["reached"]
    assert row["late"]
    assert row["excess"] > 1


def test_linear_programs_and_ours_agree_and_no_forgery_passes():
    script = importlib.import_module("verdicts")
    seen = set()
    for d in (4, 6):
        for seed in range(3):
            counts = script.compare((12, d, seed))
            assert not script.wrong(counts)
            assert counts["verified"] == 1
            assert counts["rejected"] == counts["forgeries"] == 3
            pairs = gaussian_pairs(12, d, seed=seed)
            answers = {script.by_program(pairs, method)["feasible"] for method in script.PEERS}
            assert answers == {counts["feasible"] == 1}
            seen |= answers
    assert seen == {True, False}


def test_a_program_without_time_or_memory_is_reported(monkeypatch):
    script = importlib.import_module("verdicts")
    late = {"failed": script.LATE}
    assert script.by_program(gaussian_pairs(30, 11, seed=0), "highs-ds", seconds=1e-3) == late
    assert script.in_a_process("highs-ds", 30, 11, seconds=0.1) == late
    monkeypatch.setattr(script, "SIZES", [(30, (9,)), (60, (15,)), (1000, (88,))])
    monkeypatch.setattr(script, "in_a_process", lambda *_: dict(late))
    rows = [row for row in script.speed_rows(1000) if row["way"] == "highs-ds"]
    assert [(row["n"], row["failed"]) for row in rows] == [(30, script.LATE), (1000, "too large (58 GiB)")]


@pytest.mark.parametrize("fault", [{"disagreements": 1}, {"verified": 4}, {"rejected": 14}])
def test_a_fault_is_noticed(fault):
    script = importlib.import_module("verdicts")
    fine = {"disagreements": 0, "certificates": 5, "verified": 5, "forgeries": 15, "rejected": 15}
    assert not script.wrong(fine)
    assert script.wrong(fine | fault)


def test_the_table_for_a_card_runs_to_its_end_on_a_processor(monkeypatch, capsys):
    script = importlib.import_module("gpu")
    few = {
        name: [peer for peer in peers if "compile" not in peer] for name, peers in script.PEER_NAMES.items()
    }
    monkeypatch.setattr(script, "PEER_NAMES", few)  # compiling takes longer than all the rest
    script.main(["--tiny"])
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines} == {"product", *script.PARTS}
    missing = [line for line in lines if "failed" in line]
    assert all("ModuleNotFoundError" in line for line in missing)
    assert len(missing) < 3 < len(lines)


def test_rows_of_another_card_are_not_kept(monkeypatch, tmp_path):
    script = importlib.import_module("gpu")
    monkeypatch.setattr(script, "TABLE", tmp_path / "gpu.csv")
    assert script._kept({"card": "A"}, {"pass"}) == []
    script.TABLE.write_text("card,part\nA,pass\nA,fit\nB,fit\n", encoding="utf-8")
    assert script._kept({"card": "A"}, {"pass"}) == [{"card": "A", "part": "fit"}]


def test_the_page_shows_the_stored_tables():
    page, machine = importlib.import_module("page"), importlib.import_module("machine")
    tables = [machine.read_results(name) for name in page.NAMES]
    text = page.page(*tables, page.read_gpu())
    assert page.PAGE.read_text(encoding="utf-8") == text
    assert "<<" not in text
    assert (page.UNMEASURED in text) == (not page.read_gpu())


def test_the_page_names_the_card_that_was_measured(tmp_path):
    page, script = importlib.import_module("page"), importlib.import_module("gpu")
    path = tmp_path / "gpu.csv"
    assert page.read_gpu(path) == []
    row = dict.fromkeys(script.COLUMNS, "") | {
        "card": "Card 9000",
        "torch": "2",
        "part": "pass",
        "what": "ours",
    }
    path.write_text(
        "\n".join([",".join(script.COLUMNS), ",".join((row | {"seconds": "0.5", "share": "0.8"}).values())]),
        encoding="utf-8",
    )
    text = "\n".join(page._gpu_tables(page.read_gpu(path)))
    assert "one Card 9000 with torch 2" in text
    assert "500 ms |  | 0.8 |" in text
