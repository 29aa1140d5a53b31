"""Code that readers copy runs when it is pasted alone; commands that they copy are understood."""

import ast
import contextlib
import io
import re
import shlex
import subprocess
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest
from notebook_cells import markdown

from assocmem.__main__ import _parser, main
from assocmem.book.notes import read_notes
from assocmem.book.section_pages import end
from assocmem.book.sections import (
    load_profile,
    load_section,
    read_entries,
    require_relations,
    resolve,
    section_names,
)
from assocmem.sweeps.project import project_root
from assocmem.sweeps.sweep_file import read_sweep

ROOT = project_root()
PLACES = [
    ROOT / "README.md",
    *sorted((ROOT / "book").glob("*.md")),
    *sorted((ROOT / "book" / "api").glob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.py")),
]
FENCE = re.compile(
    r"^(?P<edge>`{3,})(?P<language>\w*) *\n(?P<text>.*?)^(?P=edge) *$", re.MULTILINE | re.DOTALL
)
"""A block of code; directives have a word in braces and are none."""
INLINE = re.compile(r"`([^`\n]*python -m assocmem[^`\n]*)`")
"""A command within a sentence."""
COMMAND = re.compile(r"python -m assocmem\b(?P<words>[^\n;&|]*)")
"""A command in a line of a shell, up to what ends it there."""
SECONDS = 120
"""After so long a block counts as too slow to be pasted; they take a few."""
VALUES = {"SECTION": "correlation_memory", "NAME": "trials", "VALUE": "30", "DIR": "runs", "FILE": "my.yml"}
"""What a reader would put for words in capitals."""


@cache
def prose(path):
    """The Markdown of a page or of a notebook, with its lines joined where a shell would join them."""
    text = markdown(path.stem) if path.suffix == ".py" else path.read_text(encoding="utf-8")
    return re.sub(r"\\\n\s*", "", text)


def blocks(language):
    """Every block of a language: a name for the test, and the text."""
    for path in PLACES:
        found = [match for match in FENCE.finditer(prose(path)) if match["language"] == language]
        for number, match in enumerate(found, 1):
            yield f"{path.relative_to(ROOT)} {number}", match["text"]


def commands():
    """Every command line of the package, without what stands for it alone: a name, and its words."""
    texts = [(str(path.relative_to(ROOT)), prose(path)) for path in PLACES]
    for name, own in read_notes(read_entries(ROOT), ROOT).items():
        texts.append((f"end of {name}", end(load_section(name), own)))
    for place, text in texts:
        shell = (
            match["text"] for match in FENCE.finditer(text) if match["language"] in ("", "sh", "console")
        )
        lines = chain.from_iterable(part.splitlines() for part in [*shell, *INLINE.findall(text)])
        for line in lines:
            for match in COMMAND.finditer(line):
                words = shlex.split(match["words"], comments=True)
                yield f"{place}: {' '.join(words)}", [VALUES.get(word, word) for word in words]


# Those of the README run in tests/test_packaging.py, in an environment with nothing but the science.
PYTHON = {name: text for name, text in blocks("python") if not name.startswith("README")}
COMMANDS = dict(commands())


def missing(text):
    """Modules that a block wants and that are no dependency of the project, such as those of a cluster."""
    trees = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in trees if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in trees if isinstance(node, ast.ImportFrom)}
    return sorted(name for name in names if find_spec(name.partition(".")[0]) is None)


@pytest.mark.parametrize("name", PYTHON, ids=list(PYTHON))
def test_a_block_of_python_runs_when_it_is_pasted_alone(name, tmp_path, warm):
    if absent := missing(PYTHON[name]):
        pytest.skip(f"{', '.join(absent)} is not installed")
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    command = [str(warm), "-c", PYTHON[name]]
    done = subprocess.run(command, cwd=tmp_path, encoding="utf-8", timeout=SECONDS, **streams)
    assert done.returncode == 0, f"{PYTHON[name]}\n{done.stdout}"


@pytest.mark.parametrize("name", COMMANDS, ids=list(COMMANDS))
def test_a_command_is_understood(name):
    words = COMMANDS[name]
    options = _parser().parse_args(words)
    if words[0] == "run":
        section = load_section(options.section)
        settings = {key: "1" if value.startswith("$") else value for key, value in options.settings}
        values = resolve(section, load_profile(options.profile, section), settings)
        require_relations(section, values)
    for file in getattr(options, "files", None) or []:
        assert not file.startswith("data/") or sorted(ROOT.glob(file)) or "$" in file, file


@pytest.mark.parametrize(
    "words", [["list"], ["sweep", "points"], *(["params", name] for name in section_names(ROOT))]
)
def test_a_command_that_lists_does_so(words):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert main(words) == 0
    assert said.getvalue().count("\n") > 3


@pytest.mark.parametrize(("name", "text"), [pair for pair in blocks("yaml") if "point:" in pair[1]])
def test_a_sweep_file_makes_sense(name, text, tmp_path):
    file = Path(tmp_path, "my.yml")
    file.write_text(text, encoding="utf-8")
    assert read_sweep(file)
