"""Tables as plain text. Sections print with this, so it stays apart from what only pages need."""

from collections.abc import Callable, Sequence


def aligned(rows: Sequence[Sequence[str]], justify: Callable[[str, int], str] = str.ljust) -> list[str]:
    """Lines in which the cells of a column stand below each other, for a terminal.

    Parameters
    ----------
    rows : sequence of sequences of str
        All of the same length.
    justify : function
        ``str.ljust`` or ``str.rjust``.

    Returns
    -------
    list of str
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(justify, row, widths)) for row in rows]
