"""Fingerprints change with what is computed, and not with what is said about it."""

import pytest

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
