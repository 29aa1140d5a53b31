"""What the benchmarks compare must be the same thing, and their page must show what was measured."""

import importlib
import json

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
pytestmark.append(pytest.mark.usefixtures("benchmarks_folder"))
HERE = {"processor": "Abacus", "cores": 2, "date": "2026-12-01"}


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
    ours = script.run_ours(pairs, CrossEntropy(), target)
    assert ours["passes"] <= ours["proved_passes"] <= found.passes
    assert ours["seconds"] <= ours["proved_seconds"]
    assert ours["reached"]
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


@pytest.mark.parametrize("loss", ["cross-entropy", "tail average"])
def test_all_passes_of_a_fit_are_timed_and_told_from_the_rest(loss, monkeypatch):
    script, peers = importlib.import_module("fits"), importlib.import_module("peers")
    with script.passes_timed() as spent:
        fit(gaussian_pairs(30, 8, seed=0), peers.LOSSES[loss], ridge=script.RIDGE)
    assert spent.count == 0  # these are inside of compiled loops
    monkeypatch.setattr("assocmem.training.small_pass.MOST_WORK", 0)
    with script.passes_timed() as spent:
        found = fit(gaussian_pairs(30, 8, seed=0), peers.LOSSES[loss], ridge=script.RIDGE)
    assert spent.count == found.passes
    assert spent.seconds > 0
    assert importlib.import_module("assocmem.training.descent").loss_pass is loss_pass


def test_a_fit_and_a_peer_are_timed_by_turns_and_a_late_peer_once(monkeypatch):
    script, history = importlib.import_module("fits"), importlib.import_module("history")
    monkeypatch.setattr("assocmem.training.small_pass.MOST_WORK", 0)
    pairs = gaussian_pairs(30, 8, seed=0)
    found = fit(pairs, CrossEntropy(), ridge=script.RIDGE, tol=1e-7)
    target = found.objective * (1 + script.ACCURACY)
    head = next(row for row in script.plan() if row["peer"] == script.OURS)
    rows = script.measure(pairs, CrossEntropy(), target, script.QUICK, 60, 0)
    assert list(rows) == [script.OURS, script.QUICK]
    assert {row["rounds"] for row in rows.values()} == {3}
    own, peer = rows.values()
    assert own["between"]["low"] <= own["between"]["ratio"] <= own["between"]["high"]
    assert peer["ratio"]["rounds"] == 3
    lines = [
        line for who, row in rows.items() for line in script.entered(head | {"peer": who} | row, own, HERE)
    ]
    assert [line["against"] for line in lines] == [script.FLOOR, "its own passes", script.QUICK]
    assert lines[1]["ratio"] == pytest.approx(1 + own["between"]["ratio"])
    assert {line["row"] for line in lines} == {"a fit, d = 20, cross-entropy, satisfiable"}
    assert {*history.PLACE, "date", "commit", "ratio", "low", "high", "rounds"} == {*lines[0]}
    late = script.measure(pairs, CrossEntropy(), target, script.QUICK, 0.0, 0)
    assert late[script.QUICK]["rounds"] == 1
    assert "ratio" not in late[script.QUICK]
    assert late[script.OURS]["rounds"] == 3
    assert list(script.entered(head | {"peer": script.QUICK} | late[script.QUICK], own, HERE)) == []


def test_the_plan_of_fits_has_each_row_once():
    script = importlib.import_module("fits")
    names = [script.name(row) for row in script.plan()]
    assert len(set(names)) == len(names)
    assert script.name(script.plan()[-1]) == "d = 200, tail average, satisfiable, SciPy L-BFGS-B"
    assert max(row["d"] for row in script.plan(40)) == 40


def test_fits_that_are_asked_for_are_measured_and_kept(monkeypatch, tmp_path):
    script, machine = importlib.import_module("fits"), importlib.import_module("machine")
    history = importlib.import_module("history")
    for place in (machine, history):
        monkeypatch.setattr(place, "RESULTS", tmp_path)
        monkeypatch.setattr(place, "commit", lambda: "aaa")
    monkeypatch.setattr(history, "others", lambda: 0.0)
    monkeypatch.setattr(script, "OF_DIMENSION", {8: [script.QUICK, "torch.optim.LBFGS"]})
    monkeypatch.setattr(script, "CASES", script.CASES[:1])
    monkeypatch.setattr(script, "warm_up", lambda: None)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["fits.py", "--seconds", "0", *words])
        script.main()
        return {row["peer"]: row for row in machine.read_results("fits")["rows"]}

    first = run("--only", "L-BFGS-B")
    assert list(first) == [script.QUICK]
    rows = run("--keep")
    assert list(rows) == [script.OURS, script.QUICK, "torch.optim.LBFGS"]
    assert rows[script.QUICK] == first[script.QUICK]
    lines = history.read()
    again = run("--only", "assocmem")
    assert again[script.OURS] != rows[script.OURS]
    assert again[script.QUICK] == rows[script.QUICK]
    assert len(history.read()) == len(lines) == 3
    assert run("--keep") == again


def test_a_pass_its_floor_and_a_peer_are_timed_by_turns():
    script = importlib.import_module("passes")
    for peer in (script.FLOOR, script.OURS, "autograd, full scores"):
        row = script.measure("cross-entropy", peer, 30, 8, 1.0, 0)
        assert row["rounds"] == 3
        assert ("ratio" in row) == (peer != script.FLOOR)
        assert ("to_ours" in row) == (peer not in (script.FLOOR, script.OURS))
        lines = script.entered(
            {"d": 8, "loss": "cross-entropy", "scale": "small norm", "peer": peer} | row, HERE
        )
        assert len(lines) == (peer == script.OURS)


def test_fits_at_once_are_compared_with_the_same_one_by_one():
    script = importlib.import_module("many")
    head = {"d": 6, "n": 12, "loss": repr(CrossEntropy()), "instances": 3}
    row = head | script.measure(head, 0)
    assert row["difference"] == 0
    (line,) = script.entered(row, HERE)
    assert (line["row"], line["against"]) == ("3 fits, d = 6, cross-entropy, at once", "one by one")
    table = list(importlib.import_module("page")._many_table([row]))
    assert table[2].startswith("| cross-entropy | 6 | 12 | 3 |")
    assert table[2].endswith("| 3 | nothing |")


def test_the_quick_run_measures_ratios_of_everything_that_matters(monkeypatch):
    quick = importlib.import_module("quick")
    monkeypatch.setattr(quick, "SECONDS", 0)
    monkeypatch.setattr(quick, "INSTANCES", 2)
    monkeypatch.setattr(quick, "PASSES", [(30, 8, "tail average", "small norm")])
    monkeypatch.setattr(
        quick, "FITS", [(8, CrossEntropy(), 0.075, quick.QUICK), (8, CrossEntropy(), 0.075, None)]
    )
    monkeypatch.setattr(quick, "MANY", [(8, CrossEntropy(), 0.075)])
    monkeypatch.setattr(quick, "VERDICTS", [(30, 9, "infeasible")])
    found = [row for made in quick.rows() for row in made]
    against = [quick.FLOOR, quick.FLOOR, quick.QUICK, quick.FLOOR, "one by one", quick.FLOOR]
    assert [row[1] for row in found] == against
    assert all(ratio["low"] <= ratio["ratio"] <= ratio["high"] for *_, ratio in found)
    assert len({row[:2] for row in found}) == len(found)


def test_the_verdicts_of_the_quick_run_are_those_that_it_names():
    quick, verdicts = (
        importlib.import_module("quick"),
        importlib.import_module("machine").read_results("verdicts"),
    )
    found = {(row["n"], row["d"]): row["feasible"] for row in verdicts["rows"] if row["way"] == "assocmem"}
    assert all(found[n, d] == (what == "feasible") for n, d, what in quick.VERDICTS)


def test_linear_programs_and_ours_agree_and_no_forgery_passes():
    script = importlib.import_module("verdicts")
    seen = set()
    for d in (4, 6):
        for seed in range(3):
            counts = script.compare((12, d, seed))
            assert not script.wrong(counts)
            assert counts["verified"] == counts["certificates"] == 2
            assert counts["rejected"] == counts["forgeries"] == 6
            pairs = gaussian_pairs(12, d, seed=seed)
            answers = {script.by_program(pairs, method)["feasible"] for method in script.PROGRAMS}
            assert answers == {counts["feasible"] == 1}
            seen |= answers
    assert seen == {True, False}


def test_a_program_without_time_or_memory_is_reported(monkeypatch):
    script = importlib.import_module("verdicts")
    late = {"failed": script.LATE}
    assert script.by_program(gaussian_pairs(30, 11, seed=0), "highs-ds", seconds=1e-3) == late
    assert script.in_a_process("highs-ds", 30, 11, seconds=0.1) == late
    ways = script.PROGRAMS
    monkeypatch.setattr(script, "SIZES", [(30, (9,), ways), (60, (15,), ways), (1000, (88,), ways)])
    monkeypatch.setattr(script, "in_a_process", lambda *_: dict(late))
    rows = [row for row in script.speed_rows(1000) if row["way"] == "highs-ds"]
    assert [(row["n"], row["failed"]) for row in rows] == [(30, script.LATE), (1000, "too large (58 GiB)")]


def test_rows_that_are_kept_are_not_measured_again(monkeypatch):
    script = importlib.import_module("verdicts")
    monkeypatch.setattr(script, "SIZES", [(30, (9, 10), ("highs-ds",)), (60, (15,), ("highs-ds",))])
    monkeypatch.setattr(script, "in_a_process", lambda *_: {"seconds": 1.0})
    kept = {"n": 30, "d": 9, "way": "highs-ds", "seconds": 2.0}
    assert [row["seconds"] for row in script.speed_rows(60, [kept])] == [2.0, 1.0, 1.0]
    late = kept | {"failed": script.LATE}
    assert list(script.speed_rows(60, [late])) == [late]


@pytest.mark.parametrize("d", [6, 9])
def test_each_way_decides_alone_and_proves_it(d):
    script = importlib.import_module("verdicts")
    pairs = gaussian_pairs(20, d, seed=0)
    found = {way: script.by_ours(pairs, way) for way in (script.OURS, script.NEWTON)}
    found[script.QUASI_NEWTON] = script.by_quasi_newton(pairs)
    assert len({result["feasible"] for result, _ in found.values()}) == 1
    assert all(script.verify(certificate, pairs) for _, certificate in found.values())
    assert found[script.OURS][0]["steps"] == 0 < found[script.OURS][0]["passes"]
    assert found[script.NEWTON][0]["passes"] == 0


def test_l_bfgs_is_stopped_when_its_time_is_over():
    script = importlib.import_module("verdicts")
    result, certificate = script.by_quasi_newton(gaussian_pairs(12, 4, seed=0), seconds=0)
    assert (result, certificate) == ({"passes": 0, "failed": script.LATE}, None)


def _stored(again, n, d, seed, feasible, r=""):
    key = dict(zip(again.KEY, ("table", str(n), str(d), r, str(seed)), strict=True))
    return key | {"stored": feasible}


def test_stored_verdicts_are_decided_again_and_a_run_goes_on_where_it_was(tmp_path):
    again = importlib.import_module("again")
    rows = [
        _stored(again, 12, 4, 0, "0"),
        _stored(again, 12, 8, 0, "1"),
        _stored(again, 12, 8, 1, "1", "0.4"),
    ]
    file = tmp_path / "decided.csv"
    whole = dict.fromkeys(again.COLUMNS, "x")
    known = whole | rows[0] | {"found": "1", "proved": "1", "passes": "5", "seconds": "1"}
    cut = ",".join(list(rows[1].values())[:3])  # as an interrupt leaves a line
    file.write_text("\n".join([",".join(again.COLUMNS), ",".join(known.values()), cut]), encoding="utf-8")
    done = again.run(file, rows, 1)
    assert done[0] == known  # though it is wrong: it was not decided once more
    assert sorted(row["found"] for row in done) == ["1", "1", "1"]
    assert sorted(map(str, again.decided(file))) == sorted(map(str, done))
    top, tail = again.summary(done, rows)
    assert (top["rows"], top["equal"], top["different"], top["undecided"], top["proved"]) == (2, 1, 1, 0, 2)
    assert (tail["criterion"], tail["n"], tail["equal"], tail["stored"]) == ("tail", 12, 1, 1)


def test_what_passes_leave_open_is_counted_and_not_left_to_newton(monkeypatch):
    again = importlib.import_module("again")
    from assocmem.deciding import feasibility

    for name in ("DENSE_DIMENSION", "_by_newton"):
        monkeypatch.setattr(feasibility, name, getattr(feasibility, name))
    threads = torch.get_num_threads()
    again.begin()
    torch.set_num_threads(threads)
    monkeypatch.setattr(feasibility, "search", lambda *_, **__: _nothing_found())
    row = again.decide_again(_stored(again, 12, 4, 1, "0"))
    assert (row["found"], row["proved"]) == ("", "0")
    (counts,) = again.summary([row], [row])
    assert (counts["undecided"], counts["different"], counts["equal"]) == (1, 0, 0)


def _nothing_found():
    from assocmem.deciding.tilted import CANCELLED_ALL, End, State

    return End(None, State(torch.zeros(4, 4, dtype=torch.float64), 1e-3, 3), CANCELLED_ALL)


def test_the_page_tells_of_verdicts_that_differ():
    page = importlib.import_module("page")
    fine = {"rows": 5, "different": 0, "undecided": 0, "proved": 5}
    assert page._differences([fine, fine]).startswith("No verdict differs, and none of those")
    told = page._differences([fine, fine | {"different": 2, "undecided": 1, "proved": 3}])
    assert told.startswith("2 verdicts differ, and 1 of those decided is without a proof that holds; 1 that")


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
    page = importlib.import_module("page")
    text = page.stored_page()
    assert page.PAGE.read_text(encoding="utf-8") == text
    assert "<<" not in text
    assert (page.UNMEASURED in text) == (not page.read_gpu())


def test_the_page_shows_intervals_where_there_are_rounds_and_none_where_there_are_not():
    page, machine = importlib.import_module("page"), importlib.import_module("machine")
    tables = {name: machine.read_results(name) for name in page.NAMES}
    fits = json.loads(json.dumps(tables["fits"]))
    own, peer = (row for row in fits["rows"] if row["d"] == 200)
    for row in (own, peer):
        row |= {"rounds": 3, "date": "2027-01-02"}
    own["between"] = {"ratio": 0.25, "low": 0.24, "high": 0.26, "rounds": 3}
    peer["ratio"] = {"ratio": 4.1, "low": 3.9, "high": 4.3, "rounds": 3}
    text = page.page(**tables | {"fits": fits}, many=None, runs=[])
    assert "| 4.10 (3.90 to 4.30) | SciPy L-BFGS-B |" in text  # of the table on top
    assert "| 3 | 5.4 × the passes, 4.10 (3.90 to 4.30) × the time |" in text
    assert "| 200 | tail average | satisfiable |" in text
    assert "| 0.25 (0.24 to 0.26) | 3 |" in text
    assert "to 2027-01-02" in text
    single = {name: x for name, x in peer.items() if name not in ("ratio", "rounds")}
    assert page._outcome(single, own).endswith("× the time")
    assert "(" not in page._outcome(single, own)


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
