"""Code that runs inside a page: it finds all it needs in a small archive, and nothing else."""

import io
import json
import re
import subprocess
import sys
import zipfile
from functools import cache

import pytest
import yaml
from notebook_cells import cells, markdown

from assocmem.book.exercises import answers
from assocmem.book.light import PACKAGE, archive, is_light, light_modules, script
from assocmem.book.sections import load_section, section_names
from assocmem.sweeps.project import project_root

ROOT = project_root()
SOURCE = ROOT / "src"
LARGEST = 300_000
"""Bytes of the archive; what it comes with weighs a hundred times as much."""
TOGETHER = 8
"""So many blocks of code share an interpreter."""
FENCE = re.compile(r"^```python *\n(?P<text>.*?)^``` *$", re.MULTILINE | re.DOTALL)
PAGE = '''
import sys

class Page:
    """Finds nothing that a page does not have."""

    def find_spec(self, name, path=None, target=None):
        first = name.partition(".")[0]
        own = "numpy", "scipy", "assocmem", "lazy_loader", "psutil", "resource"
        if first not in {*sys.stdlib_module_names, *own} and not first.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Page())
sys.path.insert(0, sys.argv[1])
'''
"""An interpreter like that of a page, whose archive is in the folder that the command line names."""
EACH = """
import contextlib, io, json, traceback

outcomes = []
for text in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            exec(compile(text, "cell", "exec"), {"__name__": "__main__"})
        except Exception:
            print(traceback.format_exc())
    outcomes.append(said.getvalue().strip())
    assert not {"torch", "numba", "pandas"} & set(sys.modules)
print(json.dumps(outcomes))
"""


def section_answers():
    return {
        f"{name}: {answer.exercise}": answer for name in section_names() for answer in answers(cells(name))
    }


def snippets():
    """Code to copy in the text of pages and sections."""
    pages = [path for path in sorted((ROOT / "book").rglob("*.md")) if "sections" not in path.parts]
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    texts |= {load_section(name).path: markdown(name) for name in section_names()}
    for path, text in texts.items():
        for number, match in enumerate(FENCE.finditer(text), 1):
            yield f"{path.relative_to(ROOT)} {number}", match["text"]


ANSWERS = {name: a for name, a in section_answers().items() if is_light(a.source, SOURCE)}
SNIPPETS = {name: text for name, text in snippets() if PACKAGE in text and is_light(text, SOURCE)}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("light")
    zipfile.ZipFile(io.BytesIO(archive(SOURCE))).extractall(folder)
    return folder


def in_page(code, folder, told=""):
    command = [sys.executable, "-I", "-c", PAGE + code, str(folder)]
    done = subprocess.run(command, input=told, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def said(unpacked):
    """What a light block prints, in an interpreter that has what a page has."""
    texts = {name: answer.source for name, answer in ANSWERS.items()} | SNIPPETS
    names = list(texts)

    @cache
    def group(first):
        told = [texts[name] for name in names[first : first + TOGETHER]]
        return json.loads(in_page(EACH, unpacked, json.dumps(told)))

    def outcome(name):
        place = names.index(name)
        return group(place - place % TOGETHER)[place % TOGETHER]

    return outcome


# --- the archive ---


def test_the_theory_is_light_and_what_needs_torch_is_not():
    light = light_modules(SOURCE)
    theory = {f"assocmem.theory.{path.stem}" for path in (SOURCE / "assocmem/theory").glob("[!_]*.py")}
    assert theory | {"assocmem.pairs.sizes", "assocmem.checks"} <= light.keys()
    heavy = {"assocmem.pairs.data", "assocmem.training.fit", "assocmem.book.plotting", "assocmem.__main__"}
    assert not heavy & light.keys()


def test_the_archive_is_small_and_always_the_same():
    packed = archive(SOURCE)
    assert packed == archive(SOURCE)
    assert len(packed) < LARGEST
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert {"assocmem/__init__.pyi", "lazy_loader/__init__.py", "psutil.py"} <= set(names)
    assert any("LICEN" in name for name in names)
    assert "base64" not in script(SOURCE)[:100]
    assert script(SOURCE).startswith("(globalThis.assocmem ||= {}).light = ")


def test_everything_in_the_archive_can_be_imported_from_it(unpacked):
    names = sorted(light_modules(SOURCE))
    code = f"""
import importlib
for name in {names}:
    module = importlib.import_module(name)
    assert module.__file__.startswith(sys.argv[1]), module.__file__
assert not {{"torch", "numba", "matplotlib", "pandas", "tqdm"}} & set(sys.modules)
import assocmem as am
from assocmem.machine import available_bytes
print(am.critical_load(0.5), available_bytes() > 0)
try:
    am.gaussian_pairs(3, 2)
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert in_page(code, unpacked).split() == ["0.6577127279442718", "True", "assocmem.pairs.data"]


# --- which code is light ---


@pytest.mark.parametrize(
    "text",
    [
        "from assocmem.theory.ridgeless import critical_load\nprint(critical_load(0.5))",
        "from assocmem.theory import ridgeless, scalar",
        "import math\nimport numpy as np\nfrom scipy.special import ndtr\nfrom assocmem.pairs import sizes",
        "import assocmem as am\nprint(am.critical_load(0.15))",
        "import assocmem\nassocmem.solve_scalar(0.3, 0.15, 3, 0.1)",
        "from assocmem import solve_scalar",
        "from math import comb\nprint(comb(4, 2))",
    ],
)
def test_light(text):
    assert is_light(text, SOURCE)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nfrom assocmem.pairs.sizes import tail_count",
        "import assocmem as am\nam.gaussian_pairs(30, 5)",
        "from assocmem import decide_top1",
        "from assocmem.pairs.data import gaussian_pairs",
        "from assocmem.book.plotting import panels",
        "from assocmem.nothing import anything",
        "def f():\n    import pandas\nfrom assocmem.theory import scalar",
        "python -m assocmem list",
    ],
)
def test_not_light(text):
    assert not is_light(text, SOURCE)


# --- the code of the book ---


def test_the_book_has_answers_that_run_in_a_page():
    assert len(ANSWERS) >= 1
    assert len(SNIPPETS) >= 2


@pytest.mark.parametrize("name", ANSWERS, ids=list(ANSWERS))
def test_a_light_answer_is_the_same_with_what_a_page_has(name, said):
    assert said(name) == ANSWERS[name].says


@pytest.mark.parametrize("name", SNIPPETS, ids=list(SNIPPETS))
def test_light_code_to_copy_runs_with_what_a_page_has(name, said):
    assert "Traceback" not in said(name)


# --- the settings ---


def test_the_version_is_said_alike_in_settings_and_text():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    version = re.search(r"/v([\d.]+)/", settings["pyodide_address"])[1]
    text = (ROOT / "book" / "how_to.md").read_text(encoding="utf-8")
    part = text[text.index("(run-in-page)=") :]
    assert f"Pyodide {version}" in part
    assert f"pyodide-{version}.tar.bz2" in part
    assert f"{settings['pyodide_megabytes']} MB" in part
