"""What a reader of a section sees: little code, and only such as teaches."""

import pytest
from notebook_cells import cells as read_cells

from assocmem.book.code_labels import FOLDED, label, plumbing, visible
from assocmem.book.sections import section_names

MOST_VISIBLE = 10
"""Lines of a cell that a reader sees without a click."""
MOST_FOLDED = 30
"""Lines of a folded cell: what is longer belongs in the package, with tests."""
WIDEST = 88
"""Characters of a line, which fit a window of 1280 pixels: a browser test looks there."""
ALL_VISIBLE = 150
"""Lines of a section that are visible."""


@pytest.fixture(scope="module", params=section_names())
def cells(request):
    return read_cells(request.param)


def lines(source):
    return [line for line in source.splitlines() if line.strip()]


def test_visible_code_is_short_narrow_and_teaches(cells):
    seen = visible(cells)
    assert [(number, found) for number, source in seen if (found := plumbing(source))] == []
    long = [(number, len(lines(source))) for number, source in seen if len(lines(source)) > MOST_VISIBLE]
    assert long == []
    assert [number for number, source in seen if max(map(len, source.splitlines()), default=0) > WIDEST] == []
    assert sum(len(lines(source)) for _, source in seen) <= ALL_VISIBLE


def test_folded_code_is_not_long_either(cells):
    folded = [
        (number, len(lines(cell["source"])))
        for number, cell in enumerate(cells, 1)
        if FOLDED in cell["metadata"].get("tags", []) and label(cell, "") != "Imports"
    ]
    assert [(number, length) for number, length in folded if length > MOST_FOLDED] == []
