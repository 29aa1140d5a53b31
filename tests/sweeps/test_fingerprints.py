"""Fingerprints change with what is computed, and not with what is said about it or where it stands."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from loaded_modules import CALLS, POINTS

from assocmem.experiments.points import REGISTERED
from assocmem.sweeps import fingerprints
from assocmem.sweeps.fingerprints import bare, fingerprint, function_source, reachable_modules, recipe

TEXT = """
import math
from assocmem.room.limits import require


def f(x):
    '''A docstring
    of two lines.'''
    # a comment
    text = "# no comment"  # a comment

    return x, text, f"{x} # neither"
"""


def test_comments_docstrings_and_empty_lines_do_not_count():
    plain = bare(TEXT)
    assert "docstring" not in plain
    assert "a comment" not in plain
    assert 'text = "# no comment"\n' in plain
    assert "# neither" in plain
    assert bare(plain) == plain
    other = TEXT.replace("docstring", "word").replace("# a comment", "# another").replace("\n\n", "\n\n\n")
    assert fingerprint(other) == fingerprint(TEXT)


@pytest.mark.parametrize(("old", "new"), [("return x,", "return 2 * x,"), ("no comment", "none")])
def test_code_counts(old, new):
    assert fingerprint(TEXT.replace(old, new)) != fingerprint(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('def f(): "doc"; return 1', 'def f(): "doc"; return 2'),
        ("x = 1  # a\n\f\ny = 2 * 3  # b", "x = 1  # a\n\f\ny = 2 * 4  # b"),
        ('def f():\n    """é"""; return 1', 'def f():\n    """é"""; return 2'),
        ("x = 'é'  # é\ny = 1", "x = 'é'  # é\ny = 2"),
    ],
)
def test_code_beside_what_does_not_count_does(old, new):
    assert bare(old) != bare(new)


NOTED = """
def f(n: Annotated[int, "a; [0, 9]"], *, r: typing.Annotated[float, "b; (0, 1)"] = 0.5, w: str = "c") -> Row:
    return n * r
"""


@pytest.mark.parametrize(("old", "new"), [('"a; [0, 9]"', '"another; [1, 8]"'), ("b; (0, 1)", "b; any")])
def test_meanings_and_ranges_of_parameters_do_not_count(old, new):
    assert fingerprint(NOTED.replace(old, new)) == fingerprint(NOTED)


@pytest.mark.parametrize(
    ("old", "new"),
    [("n: A", "m: A"), ("[int", "[float"), ("0.5", "0.6"), ('"c"', '"d"'), ("n * r", "Annotated[n, 'a']")],
)
def test_types_names_and_defaults_of_parameters_count(old, new):
    assert fingerprint(NOTED.replace(old, new)) != fingerprint(NOTED)


def test_what_is_imported_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprints, "PACKAGE", tmp_path)
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "limits.py").write_text("from assocmem import deep\n\ndef require():\n    pass\n")
    (tmp_path / "deep.py").write_text("x = 1\n")
    (tmp_path / "deep.yml").write_text("a: 1\n")
    (tmp_path / "apart.py").write_text("x = 1\n")
    assert [p.name for p in reachable_modules(TEXT)] == ["deep.py", "deep.yml", "limits.py"]
    seen = [fingerprint(TEXT)]
    for name, text in (
        ("apart.py", "x = 2"),
        ("deep.py", "x = 1  # one"),
        ("deep.py", "x = 2"),
        ("deep.yml", "a: 2"),
    ):
        (tmp_path / name).write_text(text + "\n")
        seen.append(fingerprint(TEXT))
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen)) == 3


def test_a_point_function_depends_on_what_stands_in_it_alone():
    names = {p.name for p in reachable_modules(function_source("repair_prediction"))}
    assert "repair.py" in names
    assert not names & {"points.py", "fit.py", "phase.py"}
    assert "phase.py" in {p.name for p in reachable_modules(function_source("tail_memory"))}


def test_recipes_are_those_of_functions_that_are_there():
    assert recipe("top1_verdict") != recipe("tail_verdict") != ""
    assert recipe("nowhere:f") == ""


# --- modules that move, change and go in circles ---


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules, one below the other; returns what writes a module of it."""
    monkeypatch.setattr(fingerprints, "PACKAGE", tmp_path)

    def write(name, text):
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    write("room.top", "from assocmem.room import middle\n\n\ndef f(x):\n    return middle.g(x)\n")
    write("room.middle", "from assocmem.cellar.deep import h as g\n")
    write("cellar.deep", "def h(x):\n    return 2 * x\n")
    return write


TOP = "from assocmem.room.top import f"


def test_a_module_that_moves_to_another_room_keeps_the_fingerprint(package):
    before = fingerprint(TOP)
    package("cellar.deep", "").unlink()
    package("attic.depths", "def h(x):\n    return 2 * x\n")
    package("room.middle", "from assocmem.attic.depths import h as g\n")
    assert fingerprint(TOP) == before
    assert [path.name for path in reachable_modules(TOP)] == ["depths.py", "middle.py", "top.py"]


def test_a_name_that_means_another_module_changes_the_fingerprint(package):
    """Two modules whose names are swapped keep it only if their importers follow."""
    package("room.top", "from assocmem.room import a, b\n\nx = a.v - b.v\n")
    a, b = package("room.a", "v = 1\n"), package("room.b", "v = 2\n")
    before = fingerprint(TOP)
    a.write_text("v = 2\n")
    b.write_text("v = 1\n")
    assert fingerprint(TOP) != before
    package("room.top", "from assocmem.room import a as b, b as a\n\nx = a.v - b.v\n")
    assert fingerprint(TOP) == before


def test_a_formula_deep_below_counts(package):
    before = fingerprint(TOP)
    package("cellar.deep", "def h(x):\n    return 3 * x\n")
    changed = fingerprint(TOP)
    package("cellar.deep", "def h(x):\n    'Twice.'\n    return 2 * x  # doubled\n")
    assert changed != fingerprint(TOP) == before


def test_a_circle_of_imports_is_refused(package):
    package("cellar.deep", "from assocmem.room.top import f\n")
    with pytest.raises(ValueError, match="in a circle: top -> middle -> deep -> top"):
        fingerprint(TOP)
    assert len(reachable_modules(TOP)) == 3, "which modules there are can be told all the same"


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("import assocmem as am\n\nam.f(1)\n", ["deep.py", "middle.py", "other.py", "top.py"]),
        ("from assocmem import f\n\nf(1)\n", ["deep.py", "middle.py", "top.py"]),
    ],
)
def test_the_face_of_the_package_stands_for_what_it_names(package, tmp_path, text, reached):
    package("room.other", "y = 1\n")
    stub = "from .room.other import y as y\nfrom .room.top import f as f\n\n__version__: str\n"
    (tmp_path / "__init__.pyi").write_text(stub)
    before = fingerprint(text)
    assert [path.name for path in reachable_modules(text)] == reached
    package("cellar.deep", "def h(x):\n    return 3 * x\n")
    assert fingerprint(text) != before


def test_the_face_of_the_package_reaches_what_is_defined_below_it():
    names = {path.name for path in reachable_modules("import assocmem as am")}
    assert {"fit.py", "feasibility.py", "certificates.py", "scalar.py", "passes.py"} <= names
    assert not names & {"norm_peak.py", "runner.py", "store.py"}


# --- the package itself ---


def module_name(path):
    return ".".join(("assocmem", *path.relative_to(fingerprints.PACKAGE).with_suffix("").parts))


def reachable_names(name):
    paths = reachable_modules(function_source(name))
    return {module_name(path) for path in paths if path.suffix == ".py"}


def is_face(module):
    return fingerprints.PACKAGE.joinpath(*module.split(".")[1:], "__init__.py").is_file()


def unforeseen(loaded, reachable):
    """Modules that were loaded and that nobody would have expected from the text."""
    return {module for module in loaded if not is_face(module)} - {POINTS} - reachable


@pytest.fixture(scope="module")
def loaded(once):
    """Modules that are in memory after a call of each point function."""
    script = Path(__file__).with_name("loaded_modules.py")

    def made():
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return once("loaded", made)


def test_every_point_function_is_called():
    assert set(CALLS) == {function.__name__ for function in REGISTERED}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_point_function_loads_is_what_its_text_reaches(loaded, name):
    reachable = reachable_names(name)
    assert unforeseen(loaded[name], reachable) == set()
    used = reachable & set(loaded[name])
    assert used, "a point function does nothing by itself"
    for module in used:
        assert unforeseen(loaded[name], reachable - {module}) == {module}


ROOMS = sorted(path.parent.name for path in fingerprints.PACKAGE.glob("*/__init__.py"))
SOURCES = sorted(fingerprints.PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_the_face_of_a_room_defines_nothing(room):
    """Fingerprints leave faces out."""
    (line,) = ast.parse((fingerprints.PACKAGE / room / "__init__.py").read_text(encoding="utf-8")).body
    assert isinstance(line, ast.Expr)
    assert isinstance(line.value, ast.Constant)


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_name_the_module_that_defines_what_they_want(path):
    """In full, since fingerprints follow no others. A face gives the version, which computes nothing."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    from_faces = {symbol for _, _, symbol, file in fingerprints._bindings(tree) if file is None}
    assert from_faces <= {"__version__"}
