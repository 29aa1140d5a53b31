"""What `pip install .` brings: the science alone, with types, a face that loads lazily, and a command."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = "yaml", "pandas", "distributed", "matplotlib", "IPython", "jupytext", "papermill", "nbformat"
"""Modules that only the extras bring."""

NAMES = (
    *("gaussian_pairs", "Pairs", "scores", "retrieval_margins", "signal_percentiles"),
    *("correlation_memory", "percentile_cdf", "sample_score_column", "sparse_repair", "clipped_memory"),
    *("tail_average", "smoothed_tail_average", "fit", "Fit", "CrossEntropy", "TailAverage"),
    *("decide_top1", "decide", "Verdict", "verify"),
    *("solve_scalar", "tail_mean", "critical_load", "sat_edge", "solve_unsat"),
    *("statistical_dimension", "critical_dimension"),
)

ROOT = Path(__file__).resolve().parents[1]
"""What scripts outside this repository call through the face."""


def science():
    """Distributions that the package requires without its extras, directly or through others."""
    return brought(["assocmem"])


def brought(todo):
    """Distributions that others require, directly or through others."""
    found = {}
    while todo:
        requirements = distribution(todo.pop()).requires or []
        for requirement in map(Requirement, requirements):
            if requirement.name in found or (
                requirement.marker and not requirement.marker.evaluate({"extra": ""})
            ):
                continue
            try:
                found[requirement.name] = distribution(requirement.name)
            except PackageNotFoundError:  # a choice of the other's, such as a GPU library
                continue
            todo.append(requirement.name)
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Python of an environment with the wheel and what it requires, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from flit_core.buildapi import build_wheel; print(build_wheel({str(folder)!r}))"
    made = subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True, capture_output=True, text=True)
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())
    for found in science().values():
        for top in {file.parts[0] for file in found.files if file.parts[0] != ".."}:
            source, target = Path(found.locate_file(top)), packages / top
            if source.exists() and not target.exists() and top != "__pycache__":
                target.symlink_to(source)
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*install, folder / made.stdout.strip()], check=True, capture_output=True)
    share_compiled_code(ROOT / "src" / "assocmem", packages / "assocmem")
    return python


def share_compiled_code(source, target):
    """Give a copy of the package what has been compiled beside its source, if its modules are the same.

    Numba knows a module by its size and its time.
    """
    for path in target.rglob("*.py"):
        original = source / path.relative_to(target)
        assert path.read_bytes() == original.read_bytes()
        shutil.copystat(original, path)
    for kept in source.rglob("__pycache__/*.nb[ic]"):
        place = target / kept.relative_to(source)
        place.parent.mkdir(exist_ok=True)
        shutil.copy(kept, place)


def run(command, folder, **options):
    clean = {name: x for name, x in os.environ.items() if name not in ("PYTHONPATH", "ASSOCMEM_ROOT")}
    return subprocess.run(
        command, cwd=folder, env=clean, capture_output=True, text=True, check=False, **options
    )


EACH_ALONE = """
import json, os, sys
import assocmem, numba, scipy.optimize, scipy.stats, torch
for block in json.load(sys.stdin):
    if not (child := os.fork()):
        exec(compile(block, "block", "exec"), {"__name__": "__main__"})
        print(end="\\0", flush=True)
        os._exit(0)
    if status := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(status)
"""
"""Runs pieces of Python, each in a copy of an interpreter that has loaded what takes it seconds."""


def test_the_wheel_alone_runs_what_the_readme_shows(plain, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    done = run([plain, "-c", EACH_ALONE], tmp_path, input=json.dumps(blocks))  # alone, as it is pasted
    assert done.returncode == 0, done.stderr
    *said, rest = (text.strip() for text in done.stdout.split("\0"))
    assert len(said) == len(blocks) and not rest
    fit, verdict, memory, _, lists, weights = said
    assert 0.9 < float(fit.split()[0]) / float(fit.split()[2]) < 1.1
    assert (verdict, memory.split()[0]) == ("False True", "True")
    fitting, share = (float(number) for number in re.findall(r"\d+\.\d*", lists))
    assert fitting > 700 and 0.99 < share <= 1  # more pairs fit than the example has
    asked, sharper = (float(number) for number in weights.split())
    assert 0.9 < asked < sharper < 1
    script = plain.parents[1] / "certificates.py"
    script.write_bytes((ROOT / "src" / "assocmem" / "deciding" / "certificates.py").read_bytes())
    assert run([plain, script, "proof.npz"], tmp_path).returncode == 0


def test_the_wheel_alone_has_the_science_and_none_of_the_rest(plain, tmp_path):
    rooms = "pairs", "theory", "memories", "training", "deciding", "removal", "experiments", "capacity"
    source = ROOT / "src"
    paths = (path for room in rooms for path in (source / "assocmem" / room).rglob("[a-z]*.py"))
    modules = [".".join(path.relative_to(source).with_suffix("").parts) for path in paths]
    modules = [module for module in modules if not module.endswith("_gpu")]  # need Triton
    code = f"""
import importlib, importlib.util
for name in {modules}: importlib.import_module(name)
print([name for name in {EXTRAS} if importlib.util.find_spec(name)])
"""
    done = run([plain, "-c", code], tmp_path)
    assert done.stdout == "[]\n", done.stderr
    assert len(modules) > 60


def test_the_wheel_alone_scores_the_rule_of_the_readme(plain, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = (x for x in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def write" in x)
    (tmp_path / "my_rule.py").write_text(block, encoding="utf-8")
    done = run([plain.parent / "assocmem", "score", "my_rule.py:write", "--pairs", "100"], tmp_path)
    assert done.returncode == 0, done.stderr
    rungs = re.findall(r"([0-9.]+) \+- [0-9.]+  (.+)", done.stdout)
    place = {label: float(ratio) for ratio, label in rungs}
    assert place["any memory, proved"] < place["write"] < place["outer products"]


def test_the_wheel_alone_examines_facts_of_ones_own(plain, tmp_path):
    code = "import numpy as np; np.save('v.npy', np.random.default_rng(0).standard_normal((6, 4)))"
    assert run([plain, "-c", code], tmp_path).returncode == 0
    done = run([plain.parent / "assocmem", "capacity", "v.npy", "v.npy", "--out", "o"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "o").iterdir()} >= {"report.html", "report.json"}


@pytest.mark.parametrize(
    ("command", "extra"), [("sweep status x.yml", "sweeps"), ("run top1_threshold", "book")]
)
def test_commands_of_an_extra_say_how_to_get_it(plain, tmp_path, command, extra):
    done = run([plain.parent / "assocmem", *command.split()], tmp_path)
    line = f"assocmem: this command is not installed: pip install 'assocmem[{extra}]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def test_the_face_has_its_names_and_loads_nothing_before_they_are_used():
    code = """
import os, sys
import assocmem as am
print(sorted({"numpy", "scipy", "torch", "numba"} & set(sys.modules)), os.environ["OMP_WAIT_POLICY"])
print(round(am.critical_load(0.15), 3), "torch" in sys.modules)
"""
    done = run([sys.executable, "-c", code], ROOT)
    assert done.stdout == "[] passive\n0.294 False\n", done.stderr
    import assocmem as am

    assert set(NAMES) <= set(dir(am))
    assert all(callable(getattr(am, name)) for name in NAMES)
    with pytest.raises(AttributeError, match="no_such_name"):
        am.no_such_name


@pytest.mark.parametrize(
    ("code", "variables", "warns"),
    [
        ("import torch, assocmem", {}, True),
        ("import torch, assocmem", {"OMP_WAIT_POLICY": "active"}, False),
        ("import assocmem, torch", {}, False),
    ],
)
def test_threads_that_will_spin_are_warned_of_once(code, variables, warns):
    clean = {name: x for name, x in os.environ.items() if name != "OMP_WAIT_POLICY"} | variables
    again = f"{code}\nimport importlib; importlib.import_module('assocmem.pairs.data')"
    done = subprocess.run(
        [sys.executable, "-c", again], env=clean, capture_output=True, text=True, check=True
    )
    assert done.stderr.count("RuntimeWarning: torch was imported before assocmem") == warns
    assert ("OMP_WAIT_POLICY=passive" in done.stderr) == warns


def test_rooms_import_where_there_is_no_unix():
    """Libraries have ways of their own; our modules import without what only Unix has."""
    code = """
import sys
import assocmem, psutil, torch, numba
sys.modules["resource"] = sys.modules["fcntl"] = None
import assocmem.deciding.feasibility, assocmem.experiments.explicit.constructions, assocmem.experiments.points
import assocmem.book.sections, assocmem.sweeps.stored_table, assocmem.sweeps.store
"""
    done = run([sys.executable, "-c", code], ROOT)
    assert done.returncode == 0, done.stderr


# --- signatures and docstrings -----------------------------------------------------------------------------


def public_functions(tree, prefix=""):
    """Functions and methods without an underscore, with their names, of classes without one as well."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield prefix + node.name, node


def arguments(node):
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [a for a in every if a and a.arg not in ("self", "cls")]


def shortcomings(text):
    """What public functions lack: types, or the sections of their docstrings."""
    for name, node in public_functions(ast.parse(text)):
        compiled = any("jit" in ast.unparse(x) or "property" in ast.unparse(x) for x in node.decorator_list)
        untyped = [a.arg for a in arguments(node) if a.annotation is None]
        if (untyped or node.returns is None) and not compiled:
            yield f"{name}: no type of {', '.join(untyped) or 'the result'}"
        said = ast.get_docstring(node) or ""
        if len(arguments(node)) >= 2 and not compiled:
            if "Parameters\n---" not in said:
                yield f"{name}: no section Parameters"
            silent = node.returns is None or ast.unparse(node.returns) in ("None", "NoReturn")
            if not silent and "Returns\n---" not in said and "Yields\n---" not in said:
                yield f"{name}: no section Returns"


SOURCES = sorted((ROOT / "src" / "assocmem").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_public_functions_have_types_and_say_what_they_take_and_return(path):
    """Point functions say it in the annotations of their parameters, which the sweep command prints."""
    lacking = shortcomings(path.read_text(encoding="utf-8"))
    assert [x for x in lacking if path.name != "points.py" or "no type" in x] == []


def test_what_public_functions_lack_is_found():
    assert list(shortcomings("def f(x, y: int):\n    '''Add.'''\n    return x + y\n")) == [
        "f: no type of x",
        "f: no section Parameters",
    ]
    assert list(shortcomings("def f(x: int) -> int:\n    return x\ndef _g(x):\n    return x\n")) == []


def test_the_extra_for_the_book_brings_all_extensions_of_sphinx():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]
    wanted = set(settings["config"]["extensions"]) - set(settings["local_extensions"])
    homes = packages_distributions()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [Requirement(line).name for line in project["optional-dependencies"]["book"]]
    named.remove("assocmem")
    there = {canonicalize_name(name) for name in [*named, *brought(list(named))]}
    lacking = {name: homes[name.partition(".")[0]] for name in wanted}
    assert {name for name, home in lacking.items() if not there & set(map(canonicalize_name, home))} == set()
