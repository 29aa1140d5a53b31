"""The command that examines facts of one's own, as a stranger would use it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from assocmem.__main__ import main
from assocmem.book.sections import Section
from assocmem.capacity import command, examine
from assocmem.capacity.named_facts import read_facts
from assocmem.deciding import certificates

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in, with keys and targets."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("keys.npy", rng.standard_normal((14, 5)).astype(np.float32))
    np.save("targets.npy", rng.standard_normal((14, 6)).astype(np.float32))
    vectors = rng.standard_normal((12, 8))
    lines = [f"w{i} {' '.join(f'{x:.4f}' for x in row)}" for i, row in enumerate(vectors)]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "facts.tsv").write_text("w3\tw0\nw4\tw1\nw3\tw2\nw5\tw1\n", encoding="utf-8")
    return tmp_path


def run(capsys, *words):
    code = main(["capacity", *words])
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err.splitlines()


def test_arrays_are_examined_and_the_report_is_whole(here, capsys):
    code, said, errors = run(capsys, "keys.npy", "targets.npy", "--decisions", "3")
    assert (code, errors) == (0, [])
    assert said[0].startswith("14 facts: 14 different keys in 5 dimensions, 14 targets in 6")
    assert "GiB of memory; the verdict takes about" in said[1] and "Ctrl-C" in said[1]
    assert said[-1].startswith("capacity/report.html: written after")
    told = json.loads((here / "capacity" / "report.json").read_text(encoding="utf-8"))
    assert told["finished"] and told["sources"] == {"keys": "keys.npy", "targets": "targets.npy"}
    proofs = list((here / "capacity").glob("*.npz"))
    assert proofs and all(certificates.holds(*certificates.load(path)) for path in proofs)
    verdict = certificates.load(here / "capacity" / "verdict.npz")
    assert verdict[1].dtype == np.float32 and (verdict[1] == np.load("targets.npy").T).all()
    before = (here / "capacity" / "report.json").read_bytes()
    assert run(capsys, "keys.npy", "targets.npy", "--decisions", "3", "--out", "again")[0] == 0
    assert (here / "again" / "report.json").read_bytes() == before  # the same numbers every time
    assert run(capsys, "keys.npy", "targets.npy", "--decisions", "0")[1][-1].startswith("capacity-2/")


def test_words_are_called_by_their_names(here, capsys):
    words = ("words.txt", "words.txt", "--answers", "facts.tsv", "--out", "o")
    code, said, _ = run(capsys, *words)
    assert code == 0
    assert "fact 2 contradicts an earlier one (w3: w2; against w0)" in said
    told = json.loads((here / "o" / "report.json").read_text(encoding="utf-8"))
    assert told["sizes"]["facts"] == 4 and told["sizes"]["targets"] == 12 and told["sizes"]["answers"] == 3
    assert "w3" in (here / "o" / "report.html").read_text(encoding="utf-8")
    code, said, _ = run(capsys, *words, "--one-answer")
    assert code == 0 and said[2].startswith("yes: a 8 x 8 matrix retrieves all 3 facts")


def test_columns_and_names_from_a_list(here):
    np.savez("both.npz", k=np.load("keys.npy").T, t=np.load("targets.npy").T)
    (here / "names.txt").write_text("\n".join(f"n{i}" for i in range(14)), encoding="utf-8")
    plain = read_facts("keys.npy", "targets.npy")
    turned = read_facts("both.npz:k", "both.npz:t", key_names="names.txt", columns=True)
    assert (turned.facts.V == plain.facts.V).all() and (turned.facts.U == plain.facts.U).all()
    assert turned.key_names[13] == "n13" and turned.target_names is None and plain.key_names[13] == "key 13"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("keys.npy targets.npy --top 14", "--top 14: must be at most 13"),
        ("keys.npy targets.npy --top 0", "--top 0: must be an integer >= 1"),
        ("keys.npy targets.npy --decisions x", "--decisions x"),
        ("keys.npy targets.npy --out keys.npy", "--out keys.npy: must be a folder"),
        ("keys.npy targets.npy --out ''", "--out ''"),
        ("keys.npy words.txt", "14 vectors for 12 targets, so answers must say"),
        ("keys.npy no.npy", "targets no.npy: is not there"),
        ("keys.npy", "required: TARGETS"),
        ("nan.npy targets.npy", "keys nan.npy: vector 3 has nan as coordinate 1"),
        ("zero.npy targets.npy", "keys zero.npy: vector 2 is zero"),
        ("keys.npy one.npy --answers one.txt", "targets one.npy: has one vector"),
    ],
)
def test_bad_input_is_told_in_one_line_before_any_work(here, capsys, words, said):
    keys = np.load("keys.npy")
    nan, zero = keys.copy(), keys.copy()
    nan[3, 1], zero[2] = np.nan, 0
    for name, array in (("nan", nan), ("zero", zero), ("one", keys[:1])):
        np.save(f"{name}.npy", array)
    (here / "one.txt").write_text("0\n" * 14, encoding="utf-8")
    before = set(here.iterdir())
    code, out, errors = run(capsys, *(word.replace("''", "") for word in words.split()))
    assert (code, out, len(errors)) == (2, [], 1)
    assert errors[0].startswith("assocmem: ") and said in errors[0]
    assert set(here.iterdir()) == before


def test_too_little_memory_is_told_in_one_line(here, capsys, monkeypatch):
    def short(*_, **__):
        raise ValueError("pairs = 14 pairs: must be smaller, since memory is short")

    monkeypatch.setattr(examine, "decide", short)
    code, _, errors = run(capsys, "keys.npy", "targets.npy")
    assert code == 2 and errors == ["assocmem: pairs = 14 pairs: must be smaller, since memory is short"]


def test_an_interrupt_keeps_what_is_known(here, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(examine, "trained_outcome", interrupted)
    code, said, errors = run(capsys, "keys.npy", "targets.npy", "--decisions", "0", "--out", "o")
    assert code == 130 and errors == [
        "assocmem: interrupted during 'a trained memory'; what is known is kept"
    ]
    assert said[-1].startswith("o/report.html: partial after")
    told = json.loads((here / "o" / "report.json").read_text(encoding="utf-8"))
    assert not told["finished"] and told["verdict"]["verified"] and len(told["memories"]) >= 5
    with pytest.raises(KeyboardInterrupt):
        monkeypatch.setattr(examine, "begin_report", interrupted)
        command._examined(read_facts("keys.npy", "targets.npy"), 1, 0, here / "p", 0.0)


def test_a_signal_keeps_what_is_known(here):
    """In a process of its own, while sets of facts are decided."""
    rng = np.random.default_rng(1)
    np.save("k.npy", rng.standard_normal((150, 12)))
    np.save("t.npy", rng.standard_normal((150, 12)))
    words = [sys.executable, "-m", "assocmem", "capacity", "k.npy", "t.npy", "--out", "o"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*words, "--decisions", "100000"], env=os.environ, **pipes) as process:
        while not (here / "o" / "verdict.npz").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors.count("\n") == 1 and "what is known is kept" in errors
    assert "no 12 x 12 matrix" in out
    told = json.loads((here / "o" / "report.json").read_text(encoding="utf-8"))
    assert not told["finished"] and told["verdict"]["retrievable"] is False
    assert not [path for path in (here / "o").iterdir() if path.name.startswith(".")]


# --- what the book says -------------------------------------------------------------------------------------

PART = re.search(
    r"^## Your own keys and targets$(.*?)^\(large-instances\)=$",
    (ROOT / "book" / "how_to.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)[1]


def test_the_transcript_in_the_book_is_true(tmp_path, capsys, monkeypatch):
    """All but how long it takes, and how much memory."""
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", PART, re.DOTALL)[1], {})
    command_line, *told = re.search(r"```console\n\$ (.*?)```", PART, re.DOTALL)[1].splitlines()
    words = shlex.split(command_line.removeprefix("python -m assocmem capacity "))
    code, said, errors = run(capsys, *words)
    assert (code, errors, said[0]) == (0, [], told[0])
    assert said[2:-1] == told[2:-1]
    for ours, theirs in ((said[1], told[1]), (said[-1], told[-1])):
        assert ours.split()[:2] == theirs.split()[:2] or ours.split()[0] == theirs.split()[0] == "about"


@pytest.mark.skipif(find_spec("papermill") is None, reason="needs the extra for the book")
def test_the_template_runs_with_files_of_ones_own(here, monkeypatch, warm):
    monkeypatch.setattr(sys, "executable", str(warm))  # of its kernel
    import jupytext
    import papermill

    source = ROOT / "notebooks" / "templates" / "my_facts.py"
    jupytext.write(jupytext.read(source), here / "my_facts.ipynb")
    settings = {"keys": "keys.npy", "targets": "targets.npy", "decisions": 0, "folder": "o"}
    done = papermill.execute_notebook(
        here / "my_facts.ipynb", here / "done.ipynb", settings, kernel_name="python3", progress_bar=False
    )
    shown = str([cell.get("outputs") for cell in done.cells])
    assert "14 keys in 5 dimensions" in shown and "<iframe" in shown
    assert (here / "o" / "report.html").exists()


def test_the_template_says_what_its_parameters_are():
    """As those of a section do, though it is none."""
    path = ROOT / "notebooks" / "templates" / "my_facts.py"
    section = Section("my_facts", path, path.read_text(encoding="utf-8"))
    assert set(section.parameters) >= {"keys", "targets", "answers"}


@pytest.mark.skipif(not (ROOT / "data" / "words").is_dir(), reason="the words are not there")
def test_the_words_of_the_book_are_decided(tmp_path, capsys):
    words = ROOT / "data" / "words"
    vectors, names, capitals = (str(words / x) for x in ("vectors.npy", "words.txt", "capital.txt"))
    given = vectors, vectors, "--key-names", names, "--answers", capitals, "--out", str(tmp_path / "o")
    code, said, errors = run(capsys, *given)
    assert (code, errors) == (0, []) and said[2].startswith("yes: a 50 x 50 matrix retrieves all")
    assert certificates.holds(*certificates.load(tmp_path / "o" / "verdict.npz"))
