"""The page of letters: a table for each section, in the order of the book."""

import re

from assocmem.book.sections import load_section, read_entries
from assocmem.sweeps.project import project_root

ROOT = project_root()
TEXT = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")


def test_every_section_has_its_letters():
    by_section = TEXT.split("## Section by section")[1]
    parts = re.split("^### (.*)$", by_section, flags=re.MULTILINE)
    titles, tables = parts[1::2], parts[2::2]
    assert titles == [*(load_section(name).title for name in read_entries(ROOT)), "Proofs and errata"]
    assert min(table.count("\n|") for table in tables) >= 5


def test_rows_have_as_many_cells_as_their_heads():
    for table in re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE):
        assert len({row.count(" | ") for row in table.splitlines() if not row.startswith("|:")}) == 1
        assert all(row.count("$") % 2 == 0 for row in table.splitlines())
