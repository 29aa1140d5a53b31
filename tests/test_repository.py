"""What the repository promises about itself."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from assocmem.book.notes import read_notes
from assocmem.book.second_pages import is_divided
from assocmem.book.sections import SECOND, load_section, read_entries, section_names
from assocmem.sweeps.project import project_root

ROOT = project_root()


def tracked():
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for path in map(ROOT.joinpath, listed.stdout.splitlines()) if path.is_file()]


def names(path):
    lines = (
        re.split("[#;]", line)[0].strip() for line in (ROOT / path).read_text(encoding="utf-8").splitlines()
    )
    pairs = dict(re.fullmatch(r"([\w.\-]+)==([\w.+!]+)", line).groups() for line in lines if line)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs.items()}


def test_every_direct_dependency_is_pinned_and_locked():
    direct, lock = names("requirements.txt"), names("constraints.txt")
    assert direct.items() <= lock.items()
    assert not [version for version in lock.values() if "+" in version]


def test_the_table_of_contents_has_the_parts_and_sections_in_their_order():
    """``notebooks/sections.yml`` says which; what does not fit is told with the text that would."""
    parts = {}
    for name, notes in read_notes(read_entries(ROOT), ROOT).items():
        chapter = {"file": f"book/sections/{name}"}
        if is_divided(load_section(name, ROOT)):
            chapter["sections"] = [{"file": f"book/sections/{name}{SECOND}"}]
        parts.setdefault(notes.part, []).append(chapter)
    wanted = [{"caption": part, "numbered": True, "chapters": files} for part, files in parts.items()]
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = [part for part in toc["parts"] if part.get("numbered")]
    text = yaml.safe_dump(wanted, sort_keys=False)
    assert found == wanted, f"the numbered parts of _toc.yml must read:\n{text}"


def test_readers_come_through_the_story_before_anything_that_is_run():
    """The links to the next page follow the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    captions = [part["caption"] for part in toc["parts"]]
    assert (captions[0], captions[-3:]) == ("Start", ["Explore", "Reference", "Run it yourself"])
    start, *_, last = ([entry["file"] for entry in part["chapters"]] for part in toc["parts"])
    assert start == ["book/idea", "book/by_hand", "book/why", "book/notation", "book/glossary"]
    assert {"book/how_to", "book/sweeps", "book/tables", "book/status", "book/benchmarks"} <= set(last)


def test_the_readme_has_the_way_from_the_paper_to_each_section():
    notes = read_notes(read_entries(ROOT), ROOT)
    wanted = [f"| {own.source} | `{name}` |" for name, own in notes.items()]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [line for line in readme.splitlines() if re.fullmatch(r"\| .* \| `\w+` \|", line)]
    text = "\n".join(wanted)
    assert found == wanted, f"the table in README.md must read:\n{text}"


def test_the_table_of_rooms_names_every_module():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Add a section")[0]
    modules = {path.stem for path in (ROOT / "src" / "assocmem").rglob("[a-z]*.py")} - {"command"}
    assert {name for name in modules if f"`{name}`" not in table} == set()


def test_no_build_products_and_no_large_files_are_kept():
    for path in tracked():
        assert path.suffix != ".ipynb", path
        assert path.stat().st_size < 1_000_000, path


def test_the_readme_shows_the_commands_and_the_map():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for text in ("make book", "make test", "python -m assocmem run", *section_names()):
        assert text in readme


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("pairs/sizes.py", "import assocmem.theory.laws", "The rooms stand one above the other"),
        ("theory/laws.py", "import assocmem.training.precision", "The rooms stand one above the other"),
        ("theory/laws.py", "from assocmem.pairs import data", "Theory knows nothing of torch"),
        ("deciding/certificates.py", "import scipy", "The verifier of certificates is one file"),
        ("experiments/tail_average/phase.py", "import pandas", "Science needs nothing of the sweep engine"),
    ],
)
def test_an_import_that_breaks_the_rules_of_the_rooms_is_found(tmp_path, module, line, contract):
    shutil.copytree(
        ROOT / "src" / "assocmem", tmp_path / "assocmem", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    changed = tmp_path / "assocmem" / module
    changed.write_text(changed.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    check = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    broken = [text for text in done.stdout.splitlines() if text.endswith("BROKEN")]
    assert done.returncode == 1
    assert contract in done.stdout.split("Broken contracts")[1] and broken, done.stdout
