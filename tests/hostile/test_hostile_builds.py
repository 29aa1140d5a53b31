"""Sections that are broken in one place each: a run fails in a line that names the cell, or it shows all."""

import re

import pytest

from assocmem.__main__ import main

pytestmark = pytest.mark.faults

SECTION = """\
# %% [markdown]
# # A small section

# %% tags=["parameters"]
n = 3  # number of things; [1, 1000000]

# %% tags=["memory"]
memory = [("n", n, lambda n: 1000 * n)]

# %%
import numpy as np
from IPython.display import SVG, display

from assocmem.book import plotting as plot
from assocmem.book.claims import check
from assocmem.book.plotting import Table, panels

plot.use_style()

# %% mystnb={"figure": {"name": "fig-line", "caption": "A line."}, "image": {"alt": "A line."}}
figure, ax = panels()
ax.plot([1, n])
figure

# %%
table = Table({"size": np.arange(n), "square": np.arange(n) ** 2})
table

# %%
found = check("lemma-3", "it", kind="simulation", measured=8, predicted=8, tolerance=1, falsehood=("4", 4),
  axis="size")
found

# %%
print(n, "things")
"""

PRINTED = 'print(n, "things")'
CAPTION = '{"figure": {"name": "fig-line", "caption": "A line."}, "image": {"alt": "A line."}}'

# what is replaced, by what, and whether the run may succeed
FAILURES = {
    "no last line of the figure": ("ax.plot([1, n])\nfigure\n", "ax.plot([1, n])\n"),
    "nothing drawn": (
        "figure, ax = panels()\nax.plot([1, n])\nfigure",
        "from matplotlib.figure import Figure\nFigure()",
    ),
    "the figure is None": ("ax.plot([1, n])\nfigure\n", "figure = None\nfigure\n"),
    "the figure is captured": ("figure, ax = panels()", "%%capture\nfigure, ax = panels()"),
    "text for a figure": ("ax.plot([1, n])\nfigure\n", "repr(figure)\n"),
    "a semicolon behind the figure": ("ax.plot([1, n])\nfigure\n", "ax.plot([1, n])\nfigure;\n"),
    "an empty caption": ('"A line."}, "image"', '" "}, "image"'),
    "no caption": (', "caption": "A line."', ""),
    "a caption with a slip": ('"caption":', '"captoin":'),
    "no alternative text": ('{"alt": "A line."}', "{}"),
    "a header that is no JSON": (CAPTION, CAPTION[:-1]),
    "two figures of one name": ("# %%\nprint", f"# %% mystnb={CAPTION}\nfigure\n\n# %%\nprint"),
    "an empty picture": (PRINTED, 'display({"image/png": ""}, raw=True)'),
    "half a picture": (PRINTED, 'display({"image/png": "iVBORw0KGgo="}, raw=True)'),
    "an SVG that is no XML": (PRINTED, 'display({"image/svg+xml": "<svg><g></svg>"}, raw=True)'),
    "an SVG that is empty": (PRINTED, 'display({"image/svg+xml": ""}, raw=True)'),
    "a page for an SVG": (PRINTED, 'display({"image/svg+xml": "<html><p/></html>"}, raw=True)'),
    "an SVG that IPython reads": (PRINTED, 'SVG(data="<svg")'),
    "no last line of the table": ("** 2})\ntable\n", "** 2})\n"),
    "a table without rows": ('np.arange(n), "square": np.arange(n) ** 2', '[], "square": []'),
    "a table without columns": ('{"size": np.arange(n), "square": np.arange(n) ** 2}', "{}"),
    "columns of two lengths": ("np.arange(n) ** 2", "np.arange(n + 1)"),
    "a table that is only printed": ("** 2})\ntable\n", "** 2})\nprint(table)\n"),
    "no last line of the check": ("4))\nfound\n", "4))\n"),
    "a check that is only printed": ("4))\nfound\n", "4))\nprint(found)\n"),
    "checks of nothing": ("found = check(", "for _ in ():\n  check("),
    "a check of no statement": ('"lemma-3"', '"lemma-99"'),
    "a check of nan": ("measured=8", "measured=float('nan')"),
    "a cell that raises": (PRINTED, "raise ValueError('two\\nlines')"),
    "an exception that a tag allows": ("# %%\n" + PRINTED, '# %% tags=["raises-exception"]\n1 / 0'),
    "an exception without text": (PRINTED, "raise KeyboardInterrupt"),
    "an exception of its own": (PRINTED, "class Own(BaseException):\n    pass\nraise Own"),
    "an exit": (PRINTED, "import sys\nsys.exit()"),
    "an exit of zero": ("figure, ax = panels()", "raise SystemExit(0)"),
    "an exit of one": (PRINTED, "import sys\nsys.exit(1)"),
    "quit": ("figure, ax = panels()", "quit()"),
    "a kernel that exits": (PRINTED, "import os\nos._exit(0)"),
    "a kernel that is killed": (PRINTED, "import os\nos.kill(os.getpid(), 9)"),
    "no Python": (PRINTED, "print(n"),
    "a command of a shell": (PRINTED, "!true"),
    "a command of IPython": (PRINTED, "%time n"),
    "a cell of another language": (PRINTED, "%%bash\necho"),
    "nothing for a text": (PRINTED, "import io, sys\nsys.stdout = io.StringIO()\nprint(n)"),
    "too much output": (PRINTED, "for _ in range(20):\n    print(2**20 * 'x')"),
    "no memory cell": ('tags=["memory"]', ""),
    "a memory cell with a slip": ('tags=["memory"]', 'tags=["memroy"]'),
    "two memory cells": ("# %%\nprint", '# %% tags=["memory"]\nmemory = []\n\n# %%\nprint'),
    "two parameters cells": (
        "# %%\nprint",
        '# %% tags=["parameters"]\nm = 1  # a number; any\n\n# %%\nprint',
    ),
    "a lone surrogate": (PRINTED, "print('\\ud800')"),
}
SUCCESSES = {
    "as it is": (PRINTED, PRINTED),
    "bytes": (PRINTED, "print(bytes(range(256)))"),
    "bytes past Python": (PRINTED, "import os\n_ = os.write(1, b'\\xff\\xfe\\n')"),
    "control characters": (PRINTED, "print(''.join(map(chr, range(32))))"),
    "a table in a loop": ("** 2})\ntable\n", "** 2})\nfor _ in range(2):\n    display(table)\n"),
    "a figure that is displayed": ("ax.plot([1, n])\nfigure\n", "ax.plot([1, n])\ndisplay(figure)\n"),
    "a whole SVG": (PRINTED, "SVG(data=\"<svg xmlns='http://www.w3.org/2000/svg'><g/></svg>\")"),
    "a function that makes a table later": (PRINTED, "def later():\n    return Table({})"),
    "nothing at all": (PRINTED, "# nothing"),
}


@pytest.fixture
def attempt(project, capsys):
    """Runs the section with one change, and says what is wrong with how it ended; empty if nothing is."""
    (project / "notebooks" / "tiny.py").write_text(SECTION, encoding="utf-8")

    def run(name, old, new, good):
        assert SECTION.count(old) == 1, name
        source = project / "notebooks" / "tiny.py"
        source.write_text(SECTION.replace(old, new), encoding="utf-8")
        out = project / "out" / re.sub(r"\W", "-", name)
        try:
            code = main(["run", "tiny", "--out", str(out)])
        except BaseException as error:
            return [f"{name}: {type(error).__name__} {error}"]
        text = capsys.readouterr().err
        if good:
            return [] if code == 0 and not text else [f"{name}: exit {code}, {text!r}"]
        kept = (out / "tiny.ipynb").exists()
        told = (
            text.startswith("assocmem: section tiny")
            and text.count("\n") == 1
            and re.search(r"\bcell\b", text)
        )
        return [] if code in (1, 2) and told and not kept else [f"{name}: exit {code}, {text!r}, kept {kept}"]

    return run


def test_a_section_that_is_broken_in_one_place_fails_there(attempt, report_trials):
    failures = []
    for name, (old, new) in FAILURES.items():
        failures += attempt(name, old, new, False)
    for name, (old, new) in SUCCESSES.items():
        failures += attempt(name, old, new, True)
    report_trials("sections with one fault in a cell", len(FAILURES) + len(SUCCESSES), failures)
