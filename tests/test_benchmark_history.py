"""Ratios must not see a drift of the machine, and their history must show what became slower."""

import importlib
import math
import subprocess
from argparse import Namespace
from random import Random

import pytest

pytestmark = [
    pytest.mark.usefixtures("benchmarks_folder"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated"),  # torchmin
]


@pytest.fixture
def ratios():
    return importlib.import_module("ratios")


@pytest.fixture
def history(monkeypatch, tmp_path):
    """The history in an empty folder, at a commit that a test can change."""
    module, machine = importlib.import_module("history"), importlib.import_module("machine")
    for place in (module, machine):
        monkeypatch.setattr(place, "RESULTS", tmp_path)
        monkeypatch.setattr(place, "commit", lambda: "aaa")
    monkeypatch.setattr(module, "others", lambda: 0.0)
    return module


HERE = {"processor": "Abacus", "cores": 2, "date": "2026-12-01"}


def found(ratio, half=0.03, rounds=25):
    return {"ratio": ratio, "low": ratio * math.exp(-half), "high": ratio * math.exp(half), "rounds": rounds}


def measured(ratios, random, ratio, rounds, noise):
    """A ratio as rounds with errors give it."""
    return ratios.interval([ratio * math.exp(random.gauss(0, noise)) for _ in range(rounds)])


@pytest.mark.parametrize("rounds", [3, 5, 6, 9, 25])
def test_intervals_cover_the_typical_ratio(ratios, rounds):
    random, missed = Random(rounds), 0
    for _ in range(400):
        draw = measured(ratios, random, 2.0, rounds, 0.3)
        missed += not draw["low"] <= 2.0 <= draw["high"]
    assert missed <= 0.05 * 400 + 3 * math.sqrt(0.05 * 0.95 * 400)


def test_an_interval_of_many_rounds_ignores_an_interruption_and_one_round_has_none(ratios):
    calm = [1.9, 2.0, 2.0, 2.1, 2.0, 1.95, 2.05, 2.0, 2.02]
    assert ratios.interval([*calm[:-1], 200.0])["high"] <= 2.1
    single = ratios.interval([3.0])
    assert single == {"ratio": 3.0, "low": None, "high": None, "rounds": 1}
    assert ratios.shown(single) == "3.00"
    assert ratios.shown(ratios.turned(single)) == "0.33"
    two = ratios.interval([2.0, 2.1])
    assert two["low"] < 2.0 * 0.8
    assert ratios.shown({"ratio": 20.0, "low": 19.0, "high": 24.14}) == "20.0 (19.0 to 24.1)"
    turned = ratios.turned({"ratio": 2.0, "low": 1.6, "high": 2.5, "rounds": 7})
    assert turned == {"ratio": 0.5, "low": 0.4, "high": 0.625, "rounds": 7}


class Clock:
    """A time that goes on only when something is measured."""

    def __init__(self, ratios, monkeypatch):
        self.now, self.measured = 0.0, 0
        monkeypatch.setattr(ratios, "time", Namespace(perf_counter=lambda: self.now))

    def thing(self, seconds):
        """Something to measure on a machine that gets slower all the time."""

        def clock():
            self.measured += 1
            spent = seconds * 1.05**self.measured  # after 20 rounds it is seven times as slow
            self.now += spent
            return spent

        return clock


def test_turns_cancel_a_drift_of_the_machine(ratios, monkeypatch):
    machine = Clock(ratios, monkeypatch)
    times = ratios.by_turns({"ours": machine.thing(2.0), "peer": machine.thing(1.0)}, 1e9, most=20)
    assert [len(some) for some in times.values()] == [20, 20]
    assert machine.measured == 40
    drifting = ratios.ratio(times["ours"], times["peer"])
    assert drifting["low"] <= 2.0 <= drifting["high"]
    assert drifting["high"] / drifting["low"] < 1.11
    assert times["ours"][-1] > 5 * times["ours"][0]


def test_a_brief_first_round_warms_up_and_slow_rounds_are_the_fewest(ratios, monkeypatch):
    machine = Clock(ratios, monkeypatch)
    times = ratios.by_turns({"x": machine.thing(ratios.BRIEF / 2)}, 1e9, most=5)
    assert len(times["x"]) == 5
    assert machine.measured == 6
    times = ratios.by_turns({"x": machine.thing(100.0)}, 0.0)
    assert len(times["x"]) == ratios.LEAST
    assert ratios.summary([3.0, 1.0, 2.0]) == {"seconds": 2.0, "quartiles": [1.5, 2.5], "rounds": 3}


def test_what_is_too_short_to_time_is_repeated(ratios, monkeypatch):
    machine, calls = Clock(ratios, monkeypatch), []

    def call():
        calls.append(1)
        machine.now += ratios.SHORTEST / 7.5

    assert ratios.clock(call)() == pytest.approx(ratios.SHORTEST / 7.5)
    assert len(calls) == 8


@pytest.mark.parametrize(("rounds", "noise"), [(25, 0.1), (9, 0.03), (3, 0.01)])
def test_a_slowdown_of_a_fifth_is_shown_and_noise_is_not(history, ratios, rounds, noise):
    random, shown, alarms, runs = Random(0), 0, 0, 300
    for _ in range(runs):
        old, same, worse = (measured(ratios, random, 2.0 * x, rounds, noise) for x in (1, 1, 1.2))
        shown += history.slower(old, worse)
        alarms += history.slower(old, same)
    assert shown >= 0.93 * runs
    assert alarms <= 0.02 * runs


def test_what_intervals_explain_is_no_slowdown(history):
    assert history.slower(found(2.0), found(2.4))
    assert not history.slower(found(2.0), found(2.1))
    assert not history.slower(found(2.0, half=0.3), found(2.4))
    assert history.remark(found(2.0, half=0.3), found(2.4)) == "scatters too much to tell"
    assert history.remark(found(2.0), found(2.1)) == ""
    text = [x | {"commit": c} for x, c in ((found(2.0, half=0.3), "aaa"), (found(2.4), "bbb"))]
    line = history.line("full", "a pass", "floor", {}, HERE)
    assert (
        "In 1 rows a slowdown of a fifth would not show"
        in list(history.page_lines([line | x for x in text]))[1]
    )
    assert not history.slower(found(2.0), found(1.5))


def test_a_commit_measured_again_replaces_its_line_and_what_belongs_to_none_stays_out(history):
    lines = [history.line("quick", "a pass", "floor", found(x), HERE) for x in (2.0, 2.1)]
    assert history.add(lines[:1])
    assert history.add(lines[1:])
    assert history.read() == lines[1:]
    unsaved = lines[0] | {"commit": None}
    single = lines[0] | {"commit": "bbb", "low": None, "high": None}
    assert not history.add([unsaved, single])
    assert history.read() == lines[1:]


def test_what_is_measured_while_others_compute_stays_out(history, monkeypatch, capsys):
    line = history.line("quick", "a pass", "floor", found(2.0), HERE)
    monkeypatch.setattr(history, "others", lambda: 0.9)
    assert not history.add([line])
    assert history.read() == []
    assert "others use 90% of the cores" in capsys.readouterr().out
    assert not history.add([])
    assert capsys.readouterr().out == ""


def test_only_runs_of_one_kind_on_one_kind_of_machine_are_compared(history):
    first = history.line("full", "a pass", "floor", found(2.0), HERE)
    later = {"commit": "bbb", "ratio": 3.0}
    others = [
        first | later | {"kind": "quick"},
        first | later | {"machine": "Abacus, 8 cores"},
        first | later | {"row": "a fit"},
        first | later | {"against": "a peer"},
    ]
    assert list(history.compared([first, *others])) == []
    assert "no earlier run" in "\n".join(history.page_lines([first, *others]))
    same = first | {"commit": "ccc"} | found(2.0)
    assert list(history.compared([first, *others, same])) == [(first, same)]
    assert "None of 1 rows became slower." in "\n".join(history.page_lines([first, *others, same]))
    assert history.before(same, [first, same]) == first
    assert history.before(first, [first]) is None


def test_the_page_names_what_became_slower_first(history):
    lines = [history.line("full", row, "floor", found(2.0), HERE) for row in ("a fit", "a pass")]
    lines += [lines[0] | {"commit": "bbb"}, lines[1] | {"commit": "bbb"} | found(2.4)]
    text = list(history.page_lines(lines))
    assert text[0] == "1 of 2 rows became slower: a pass (full run)."
    rows = [row for row in text if row.startswith("| a ")]
    assert rows[0].startswith(
        "| a pass, against floor | 2.00 (1.94 to 2.06), aaa | 2.40 (2.33 to 2.47), bbb | +20 % (± 4)"
    )
    assert rows[0].endswith("(± 4): **slower** |")
    assert rows[1].endswith("+0 % (± 4) |")


def test_a_commit_is_that_of_the_package_and_a_changed_package_has_none(monkeypatch, tmp_path):
    machine = importlib.import_module("machine")
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "benchmarks" / "machine.py"))

    def git(*words):
        who = ["-c", "user.name=x", "-c", "user.email=x"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init")
    commits = []
    for name in ("src/module.py", "book.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1", encoding="utf-8")
        git("add", name)
        git("commit", "-m", name)
        commits.append(machine.commit.__wrapped__())
    assert commits[0]
    assert commits[1] == commits[0]
    (tmp_path / "book.md").write_text("2", encoding="utf-8")
    assert machine.commit.__wrapped__() == commits[0]
    (tmp_path / "src" / "module.py").write_text("2", encoding="utf-8")
    assert machine.commit.__wrapped__() is None


def test_no_repository_has_no_commit(monkeypatch, tmp_path):
    machine = importlib.import_module("machine")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "benchmarks" / "machine.py"))
    assert machine.commit.__wrapped__() is None


def test_rows_are_written_one_by_one_and_a_run_goes_on_where_it_was(history, capsys, monkeypatch):
    machine = importlib.import_module("machine")
    plan = [{"d": d, "side": side} for d in (20, 200) for side in ("satisfiable", "unsatisfiable")]
    here = HERE | {"versions": {}}

    def rows(**changed):
        chosen = {"only": [], "keep": False, "list": False} | changed
        return machine.Rows(
            "table", here, plan, lambda row: f"d = {row['d']}, {row['side']}", Namespace(**chosen), ridge=1
        )

    assert list(rows(only=["d = 20", "satisfiable"]).asked(plan)) == plan[:1]
    assert list(rows(list=True).asked(plan)) == []
    assert capsys.readouterr().out.splitlines()[2] == "d = 200, satisfiable"
    first = rows()
    for row in (plan[3], plan[0]):
        first.add(row | {"seconds": 1.0})
    stored = machine.read_results("table")
    assert [row["d"] for row in stored["rows"]] == [20, 200]
    assert stored["ridge"] == 1
    assert stored["rows"][0]["commit"] == "aaa"
    assert list(rows(keep=True).asked(plan)) == plan[1:3]
    assert list(rows().asked(plan)) == plan
    monkeypatch.setattr(machine, "commit", lambda: None)  # the package has changed since
    assert list(rows(keep=True).asked(plan)) == plan
    here = here | {"cores": 8}
    assert rows().rows == {}


def test_the_quick_run_says_what_became_slower_and_keeps_it_only_at_a_commit(history, monkeypatch, capsys):
    quick = importlib.import_module("quick")
    written = []
    monkeypatch.setattr(quick.page, "main", lambda: written.append(history.read()))
    monkeypatch.setattr(quick.fits, "warm_up", lambda: None)
    monkeypatch.setattr(quick, "machine", lambda: HERE)
    ratio = {"a pass": 2.0, "a fit": 30.0}

    def broken():
        yield "a verdict", "floor", found(1.0)
        raise ImportError("not there")

    def rows():
        yield from ([(row, "floor", found(x))] for row, x in ratio.items())
        yield broken()

    monkeypatch.setattr(quick, "rows", rows)

    def run(commit):
        monkeypatch.setattr(history, "commit", lambda: commit)
        quick.main()
        return capsys.readouterr().out

    text = run("aaa")
    assert "nothing became slower" in text
    assert "left out, ImportError: not there" in text
    assert [x["row"] for x in written[-1]] == ["a pass", "a fit"]
    ratio["a fit"] = 36.0
    for commit in (None, "bbb"):
        text = run(commit)
        assert text.count("SLOWER") == 1
        assert "slower:\na fit\n" in text
        assert ("the history stays as it is" in text) == (commit is None)
    assert [x["commit"] for x in written[-1]] == ["aaa", "aaa", "bbb", "bbb"]
    assert len(written) == 2
    assert all(x["kind"] == "quick" for x in written[-1])


def test_rows_of_the_quick_run_enter_the_page_under_their_kind(history):
    lines = [history.line("quick", "a pass", "floor", found(2.0), HERE)]
    lines.append(lines[0] | {"commit": "bbb"})
    text = "\n".join(history.page_lines(lines))
    assert ":::{dropdown} Quick runs, Abacus, 2 cores: 2026-12-01 to 2026-12-01" in text
