"""The runner: the same bytes for the same inputs, nothing half-written, one line for every mistake."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from assocmem.__main__ import main
from assocmem.book import runner
from assocmem.book.claims import read_checks, surprises
from assocmem.book.section_points import section_point
from assocmem.book.sections import load_section, resolve, section_names
from assocmem.checks import UsageError
from assocmem.machine import THREAD_SETTINGS
from assocmem.sweeps import fingerprints

ROOT = Path(__file__).resolve().parents[2]


FRESH = sys.executable


@pytest.fixture(autouse=True)
def kernels(monkeypatch, warm):
    """Kernels are copies of a warm interpreter; a test that is about fresh ones says so."""
    monkeypatch.setattr(sys, "executable", str(warm))


def run(*arguments):
    return main(["run", *map(str, arguments)])


def streams(path, name="stdout"):
    cells = nbformat.read(path, as_version=4).cells
    outputs = [o for cell in cells for o in cell.get("outputs", [])]
    return "".join(o["text"] for o in outputs if o.output_type == "stream" and o.name == name)


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*"))


# --- what a run leaves ----------------------------------------------------------------------------


def test_two_runs_are_byte_identical_and_clean(project, capsys):
    out = project / "résultats d'été"
    assert run("tiny", "-p", "n", "7", "-p", "xs", "[0.2]", "--out", out / "a") == 0
    assert run("tiny", "-p", "xs", "[0.2]", "-p", "n", "7", "--out", out / "b.ipynb") == 0
    assert capsys.readouterr().err == ""
    assert files(out) == ["a", "a/tiny.ipynb", "a/tiny.run.json", "b.ipynb", "b.run.json"]
    first, second = (out / "a" / "tiny.ipynb").read_bytes(), (out / "b.ipynb").read_bytes()
    assert first == second
    text = first.decode()
    for trace in ("papermill", "start_time", "/tmp", sys.prefix, str(project)):
        assert trace not in text
    assert streams(out / "b.ipynb") == "7 0.5 [0.2] é True\n"
    assert streams(out / "b.ipynb", "stderr") == "<python>\n"
    notebook = nbformat.read(out / "b.ipynb", as_version=4)
    assert notebook.metadata["assocmem"]["parameters"]["n"] == 7
    assert [c.id for c in notebook.cells][:2] == ["cell-000", "cell-001"]
    nbformat.validate(notebook)
    assert files(Path.cwd()) == []


DRAWING = """
# %%
import warnings

from assocmem.book.plotting import panels, use_style

use_style()
warnings.warn("look")

# %% mystnb={"figure": {"name": "fig-line", "caption": "A line."}, "image": {"alt": "A line."}}
figure, ax = panels()
ax.plot([1, n])
figure
"""


def test_a_home_that_cannot_be_written_leaves_no_trace(project, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(sys, "executable", FRESH)  # libraries look for their homes when they are loaded
    source = project / "notebooks" / "tiny.py"
    source.write_text(source.read_text(encoding="utf-8") + DRAWING, encoding="utf-8")
    assert run("tiny", "--out", project / "a.ipynb") == 0
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("HOME", "/dev/null/home")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    assert run("tiny", "--out", project / "b.ipynb") == 0
    assert (project / "a.ipynb").read_bytes() == (project / "b.ipynb").read_bytes()
    assert "<cell>:6: UserWarning: look" in streams(project / "b.ipynb", "stderr")
    assert capfd.readouterr().err == ""
    assert files(scratch) == []


def test_a_figure_that_is_not_there_fails_and_is_named(project, capsys):
    source = project / "notebooks" / "tiny.py"
    text = source.read_text(encoding="utf-8") + DRAWING
    source.write_text(text.removesuffix("figure\n"), encoding="utf-8")
    assert run("tiny", "--out", project / "out") == 1
    error = capsys.readouterr().err
    assert error.startswith("assocmem: section tiny failed, cell 7: its figure fig-line has no picture; see ")
    assert files(project / "out") == ["tiny.failed.ipynb"]


def test_a_run_that_is_up_to_date_is_skipped_until_forced(project, capsys):
    assert run("tiny", "--out", project) == 0
    target = project / "tiny.ipynb"
    before = target.stat().st_mtime_ns
    assert run("tiny", "--out", project) == 0
    assert "up to date" in capsys.readouterr().out
    assert target.stat().st_mtime_ns == before
    assert run("tiny", "--out", project, "--force") == 0
    assert target.stat().st_mtime_ns > before


def test_a_run_that_ends_before_its_notebook_is_in_place_is_run_again_with_its_record(project, monkeypatch):
    command = ["run", "tiny", "--out", str(project / "out")]
    target, record = project / "out" / "tiny.ipynb", project / "out" / "tiny.run.json"
    with monkeypatch.context() as patch:
        patch.setattr(runner, "_write", lambda *there: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main(command) == 130
    assert not target.exists()
    assert main(command) == 0
    assert json.loads(record.read_text())["key"] == nbformat.read(target, 4).metadata["assocmem"]["key"]


def test_an_output_that_takes_nothing_is_told_in_one_line(project):
    with open("/dev/full", "w") as full:
        command = [FRESH, "-m", "assocmem", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("assocmem: ") and line.endswith("No space left on device")


def test_a_corrupt_target_is_run_again(project):
    (project / "tiny.ipynb").write_text("{", encoding="utf-8")
    assert run("tiny", "--out", project) == 0
    assert "cells" in json.loads((project / "tiny.ipynb").read_text(encoding="utf-8"))


def test_a_failure_leaves_the_failed_notebook_and_the_good_one(project, capsys):
    out = project / "out"
    assert run("tiny", "--out", out) == 0
    good = (out / "tiny.ipynb").read_bytes()
    capsys.readouterr()
    assert run("tiny", "-p", "flag", "true", "--out", out) == 1
    error = capsys.readouterr().err
    assert "section tiny failed, cell 6: AssertionError: flag is True" in error
    assert str(out / "tiny.failed.ipynb") in error
    assert error.count("\n") == 1
    assert files(out) == ["tiny.failed.ipynb", "tiny.ipynb", "tiny.run.json"]
    assert (out / "tiny.ipynb").read_bytes() == good
    assert "flag is True" in (out / "tiny.failed.ipynb").read_text(encoding="utf-8")
    assert run("tiny", "--out", out, "--force") == 0
    assert files(out) == ["tiny.ipynb", "tiny.run.json"]


def test_a_kernel_that_dies_is_a_failure(project, capsys):
    source = project / "notebooks" / "tiny.py"
    source.write_text(
        source.read_text(encoding="utf-8") + "\n# %%\nimport os\nos._exit(9)\n", encoding="utf-8"
    )
    assert run("tiny", "--out", project / "out") == 1
    assert "its kernel died (out of memory, or killed) in cell 6" in capsys.readouterr().err
    assert files(project / "out") == ["tiny.failed.ipynb"]


def test_it_works_as_a_command_anywhere_with_an_ascii_locale(project, tmp_path):
    environment = os.environ | {"LC_ALL": "C", "ASSOCMEM_ROOT": str(project), "MPLBACKEND": "Agg"}
    settings = tmp_path / "réglages.yml"
    settings.write_text("word: Größe\nn: 9\n", encoding="utf-8")
    command = [
        FRESH,
        "-m",
        "assocmem",
        "run",
        "tiny",
        "--profile",
        "smoke",
        "-y",
        settings,
        "-p",
        "n",
        "4",
    ]
    done = subprocess.run([*command, "--out", "là bas"], env=environment, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert streams(tmp_path / "là bas" / "tiny.ipynb") == "4 0.5 [0.1, 0.9] Größe True\n"


# --- what a result depends on ---------------------------------------------------------------------


def test_the_key_depends_on_text_parameters_code_data_lock_file_and_nothing_else(project, monkeypatch):
    section = load_section("tiny")
    values = resolve(section)
    keys = [runner.run_key(section, values)]
    assert runner.run_key(section, dict(reversed(values.items()))) == keys[0]
    keys.append(runner.run_key(section, values | {"n": 4}))
    (project / "data" / "other").mkdir(parents=True)
    (project / "data" / "other" / "table.csv").write_text("1\n", encoding="utf-8")
    assert runner.run_key(section, values) == keys[0]
    (project / "data" / "tiny").mkdir()
    (project / "data" / "tiny" / "table.csv").write_text("1\n", encoding="utf-8")
    keys.append(runner.run_key(section, values))
    (project / "constraints.txt").write_text("numpy==1\n", encoding="utf-8")
    keys.append(runner.run_key(section, values))
    section.path.write_text(section.text + "\n# %%\nfrom assocmem.pairs import sizes\n", encoding="utf-8")
    keys.append(runner.run_key(load_section("tiny"), values))
    reading = (
        section.path.read_text(encoding="utf-8")
        + '\ntable = results.read_table(section="other", name="table")\n'
    )
    section.path.write_text(reading, encoding="utf-8")
    keys.append(runner.run_key(load_section("tiny"), values))
    (project / "data" / "other" / "table.csv").write_text("2\n", encoding="utf-8")
    keys.append(runner.run_key(load_section("tiny"), values))
    (project / "data" / "other" / "make.py").write_text("1\n", encoding="utf-8")
    assert runner.run_key(load_section("tiny"), values) == keys[-1]
    monkeypatch.setattr(runner.platform, "python_version", lambda: "3.99.0")
    keys.append(runner.run_key(load_section("tiny"), values))
    assert len(set(keys)) == len(keys)


def test_what_is_said_about_a_section_executes_nothing_again(project, capsys):
    assert main(["run", "tiny", "--profile", "smoke", "--out", "here"]) == 0
    entries = project / "notebooks" / "sections.yml"
    entries.write_text("tiny: {smoke: {n: 2}, see: much, know: nothing, try: {n: 5}, checks: {}}")
    assert main(["run", "tiny", "--profile", "smoke", "--out", "here"]) == 0
    assert "up to date" in capsys.readouterr().out
    entries.write_text("tiny: {smoke: {n: 4}}")
    assert main(["run", "tiny", "--profile", "smoke", "--out", "here"]) == 0
    assert "up to date" not in capsys.readouterr().out


def test_as_a_point_of_a_sweep_a_section_depends_on_its_profiles_and_not_on_what_is_said(project):
    entries = project / "notebooks" / "sections.yml"
    point = section_point("section:tiny")
    before = point.code
    entries.write_text("tiny: {smoke: {n: 2}, see: much}")
    assert point.code == before
    entries.write_text("tiny: {smoke: {n: 4}, see: much}")
    assert point.code != before


def test_the_key_depends_on_what_the_package_computes_and_not_on_its_comments_and_places(
    project, tmp_path, monkeypatch
):
    """Two modules of one name in two rooms, of which the section imports the upper one."""
    monkeypatch.setattr(fingerprints, "PACKAGE", tmp_path)
    section = load_section("tiny")
    section = replace(section, text=section.text + "\n# %%\nfrom assocmem.attic.data import x\n")

    def key(first, second, place="cellar"):
        first = f"from assocmem.{place}.data import x as y\n\n{first}"
        for room, text in (("attic", first), (place, second)):
            (tmp_path / room).mkdir(exist_ok=True)
            (tmp_path / room / "data.py").write_text(text + "\n", encoding="utf-8")
        return runner.run_key(section, resolve(section))

    before = key("x = 1", "x = 2")
    assert key("x = 1  # a word", '"""A docstring."""\n\nx = 2') == before
    assert key("x = 1", "x = 2", place="shed") == before
    others = {key("x = 2", "x = 2"), key("x = 1", "x = 1"), key("x = 2", "x = 1")}
    assert len({before, *others}) == 4


def test_pictures_are_left_alone_where_paths_are_hidden():
    output = {"image/png": "iVBOR/app/w0K", "text/plain": "/app/data"}
    assert runner._replaced(output, {"/app": "<project>"}) == {
        "image/png": "iVBOR/app/w0K",
        "text/plain": "<project>/data",
    }


def test_code_is_followed_through_imports():
    names = {
        path.name
        for path in fingerprints.reachable_modules(
            "from assocmem.book import claims\nfrom assocmem.pairs import data\nimport numpy\n"
        )
    }
    assert names == {"claims.py", "claims.yml", "strip.py", "data.py", "checks.py", "machine.py"}
    assert fingerprints.reachable_modules("import assocmem.theory.ridgeless") != []
    assert fingerprints.reachable_modules("%matplotlib inline\n") == []
    assert fingerprints.reachable_modules("from assocmem.pairs.data import Pairs")[0].name == "checks.py"


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["run", "tinny"], ["unknown section 'tinny'", "did you mean 'tiny'"]),
        (["params", "tinny"], ["unknown section 'tinny'"]),
        (["run", "tiny", "-p", "scael", "3"], ["unknown parameter 'scael'", "'scale'", "(0, 1]"]),
        (["run", "tiny", "-p", "n", "3.5"], ["n = 3.5", "an integer in [1,"]),
        (["run", "tiny", "-p", "scale", "2"], ["scale = 2", "(0, 1]"]),
        (["run", "tiny", "-p", "scale", "0"], ["scale = 0", "(0, 1]"]),
        (["run", "tiny", "-p", "device", "gpu"], ["device = gpu", "one of cpu, cuda"]),
        (["run", "tiny", "-y", "missing.yml"], ["cannot read missing.yml"]),
        (["run", "tiny", "-y", "bad.yml"], ["bad.yml is not valid YAML"]),
        (["run", "tiny", "--profile", "papers"], ["unknown profile 'papers'", "'paper'"]),
        (["run", "tiny", "-p", "n"], ["expected 2 arguments"]),
        (["run"], ["SECTION"]),
        (["rum", "tiny"], ["invalid choice: 'rum'"]),
        ([], ["COMMAND"]),
        (["run", "tiny", "-p", "n", "1" + 400 * "0"], ["n = 1000", "an integer in [1,"]),
        (["run", "tiny", "-p", "xs", f"[1{400 * '0'}]"], ["xs = ", "a number in [0, 1]"]),
        (["run", "tiny", "-p", "xs", 3000 * "["], ["xs = ", "a list"]),
        (["run", "tiny", "-y", "date.yml"], ["n = 2024-99-99: must be an integer"]),
        (["run", "tiny", "-p", "n", "010"], ["n = 010: must be an integer", "without leading zeros"]),
        (["run", "tiny", "-p", "n", "1:30"], ["n = 1:30: must be an integer", "colons"]),
        (["run", "tiny", "-p", "n", "1_000"], ["n = 1_000: must be an integer", "underscores"]),
        (["run", "tiny", "-p", "n", "２０"], ["n = ２０: must be an integer", "decimal digits"]),
        (["run", "tiny", "-p", "xs", "[010]"], ["xs = [010]: must be a list", "without leading zeros"]),
        (["run", "tiny", "-p", "scale", "1e-9_9"], ["scale = 1e-9_9: must be a number", "underscores"]),
        (["run", "tiny", "-p", "flag", "yes"], ["flag = yes: must be true or false"]),
        (["run", "tiny", "-p", "word", "a\nb"], ["word = a b: must be a word"]),
        (["run", "tiny", "-p", "word", "\ud800"], ["word = \\ud800: must be a word"]),
        (["run", "tiny", "-y", "octal.yml"], ["n = 010: must be an integer", "without leading zeros"]),
        (["run", "tiny", "-y", "switch.yml"], ["flag = on: must be true or false"]),
        (["run", "tiny", "-p", "scale", "-1e-3"], ["scale = -1e-3: must be a number in (0, 1]"]),
        (["run", "tiny", "-p", "scale", "-.5E+2"], ["scale = -.5E+2: must be a number"]),
        (["run", "tiny", "-p", "scale", "-inf"], ["scale = -inf: must be a number"]),
        (["run", "tiny", "--out", "folder.ipynb"], ["folder.ipynb: it is a folder"]),
        (["run", "tiny", "--out", "/proc/nowhere"], ["cannot make the output folder"]),
        (["run", "tiny", "--out", "a file/below"], ["cannot make the output folder", "a file"]),
        (
            ["run", "tiny", "-p", "n", "1000000000000"],
            ["n = 1000000000000 needs about", "the largest n that fits is"],
        ),
    ],
)
def test_mistakes_are_one_line_with_exit_code_two_and_nothing_written(project, capsys, arguments, messages):
    Path("bad.yml").write_text("n: [1", encoding="utf-8")
    Path("date.yml").write_text("n: 2024-99-99", encoding="utf-8")
    Path("octal.yml").write_text("n: 010", encoding="utf-8")
    Path("switch.yml").write_text("flag: on", encoding="utf-8")
    Path("a file").write_text("", encoding="utf-8")
    Path("folder.ipynb").mkdir()
    before = files(Path.cwd()), files(project)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("assocmem: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    for message in messages:
        assert message in captured.err
    assert (files(Path.cwd()), files(project)) == before


def test_cuda_without_a_gpu_is_a_mistake(project, capsys, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run("tiny", "-p", "device", "cuda") == 2
    assert capsys.readouterr().err == "assocmem: device = cuda: no CUDA GPU is available here, use cpu\n"
    assert files(Path.cwd()) == []


def test_an_interrupt_leaves_nothing(project, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "_papermill", interrupted)
    assert run("tiny", "--out", "out") == 130
    assert capsys.readouterr().err == "assocmem: interrupted; nothing half-written is left\n"
    assert files(Path.cwd()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_cleanly(project, tmp_path, number):
    source = project / "notebooks" / "tiny.py"
    marker = tmp_path / "started"
    wait = f"\n# %%\nimport time\nPath({str(marker)!r}).touch()\ntime.sleep(60)\n"
    source.write_text(source.read_text(encoding="utf-8") + wait, encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [FRESH, "-m", "assocmem", "run", "tiny", "--out", tmp_path / "out"],
        env=os.environ | {"TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not marker.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error == b"assocmem: interrupted; nothing half-written is left\n"
    assert not (tmp_path / "out").exists()
    assert files(scratch) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("n = 3  #", "n = 3 +  #", 2, "parameters cell, line 'n = 3 +"),
        ("n: 1000 * n", "n: 1000 * m", 2, "memory cell: NameError: name 'm' is not defined"),
        ("import sys", "import sys)", 1, "SyntaxError"),
        ("import sys", "%load_ext x", 2, "cell 4: '%load_ext x' is a command of IPython"),
        ('tags=["memory"]', "", 2, "section tiny, no cell has the tag memory"),
    ],
)
def test_mistakes_in_a_section_are_one_line(project, capsys, old, new, code, message):
    source = project / "notebooks" / "tiny.py"
    text = source.read_text(encoding="utf-8")
    assert old in text
    source.write_text(text.replace(old, new), encoding="utf-8")
    assert run("tiny", "--out", "out") == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert files(Path.cwd()) == (["out", "out/tiny.failed.ipynb"] if code == 1 else [])


RELATION = """# %% tags=["requires", "remove-cell"]
requires = [("n", n, n < 10 * len(xs), f"below {10 * len(xs)}, ten for each of xs")]

# %% tags=["memory"]
"""


@pytest.fixture
def related(project):
    """The project, with a relation between two parameters of its section."""
    source = project / "notebooks" / "tiny.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace('# %% tags=["memory"]\n', RELATION), encoding="utf-8")
    return project


def test_values_that_do_not_go_together_are_refused_before_anything_runs(related, capsys):
    assert run("tiny", "-p", "n", "20", "--out", "out") == 2
    assert capsys.readouterr().err == "assocmem: n = 20: must be below 20, ten for each of xs\n"
    assert files(Path.cwd()) == []
    assert run("tiny", "-p", "n", str(10**12), "--out", "out") == 2
    assert "GiB" in capsys.readouterr().err  # memory comes first, since relations may compute


def test_as_points_of_a_sweep_they_are_refused_when_it_is_read(related):
    point = section_point("section:tiny")
    assert point.convert({"n": 19}) == {"profile": "default", "n": 19}
    with pytest.raises(UsageError, match="^n = 12: must be below 10, ten for each of xs$"):
        point.convert({"n": 12, "xs": [0.5]})


# --- list, params ---------------------------------------------------------------------------------


def test_list_and_params_say_what_there_is(project, capsys):
    assert main(["list"]) == 0
    assert capsys.readouterr().out == "tiny  A tiny section\n"
    assert main(["params", "tiny"]) == 0
    head, first, *rest = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "type", "default", "range", "meaning"]
    assert first.split(maxsplit=4) == ["n", "int", "3", "[1,", "1000000000000]  number of things"]
    assert len(rest) == 5


AT_ONCE = """
import sys
from assocmem.__main__ import main
asked = (["list"], ["params", "tiny"], ["run", "tinny"], ["run", "tiny", "-p", "n", "0"])
answers = [main(words) for words in asked]
slow = "numpy scipy torch numba pandas matplotlib IPython nbformat papermill jupytext"
print(answers, set(slow.split()) & set(sys.modules))
"""


def test_what_needs_no_library_waits_for_none(project):
    done = subprocess.run([FRESH, "-c", AT_ONCE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 2, 2] set()"


def test_verdicts_other_than_the_text_reports_are_noted(project, capsys):
    checks = """
# %%
from assocmem.book.claims import check

check("lemma-3", "it", kind="simulation", measured=n, predicted=3, tolerance=1, falsehood=("9", 9))
"""
    source = project / "notebooks" / "tiny.py"
    source.write_text(source.read_text(encoding="utf-8") + checks, encoding="utf-8")
    assert run("tiny", "--out", "out") == 0
    assert "note" not in capsys.readouterr().out
    assert run("tiny", "-p", "n", "7", "--out", "out") == 0
    assert "note: lemma-3, it: verdict 'does not hold', the section says 'holds'" in capsys.readouterr().out


# --- the sections themselves ----------------------------------------------------------------------


@pytest.mark.parametrize("name", section_names())
def test_every_section_runs_under_the_smoke_profile_with_the_verdicts_it_reports(
    name, tmp_path, monkeypatch, capfd
):
    for setting in THREAD_SETTINGS:  # of the kernel
        monkeypatch.setenv(setting, "1")
    monkeypatch.chdir(ROOT)
    assert run(name, "--profile", "smoke", "--out", tmp_path) == 0, capfd.readouterr().err
    path = tmp_path / f"{name}.ipynb"
    checks = read_checks(path)
    assert checks
    assert surprises(checks) == []
    assert streams(path, "stderr") == ""


@pytest.mark.parametrize("name", section_names())
def test_every_section_says_what_does_not_fit_into_memory(name, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("assocmem.machine.available_bytes", lambda: 2**28)
    assert run(name, "--out", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert f"section {name}: " in error
    assert "needs about" in error
    assert not (tmp_path / "out").exists()
