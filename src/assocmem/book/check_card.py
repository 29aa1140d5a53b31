"""The card of a check on a page: the sentence, the strip, the key to it, and the numbers behind a toggle."""

from assocmem.book.claims import FEW, Check, badge, bound_in_short, in_short, statements
from assocmem.book.markdown import list_table
from assocmem.book.strip import latex

MOST_LISTED = 60
"""Numbers that a card lists; all are in ``claims.json``."""
IN_TOLERANCES = "distance from the prediction, in tolerances"
"""What the axis of a strip has where its numbers are not shown in their own units."""
KEYS = {"points": "measured", "band": "predicted", "crosses": "falsehood"}
"""The marks of a strip, in the order of the key."""


def card(c: Check, anchor: str) -> str:
    """A check as its card.

    Parameters
    ----------
    c : Check
    anchor : str
        The name of its place in the book.

    Returns
    -------
    str
        MyST Markdown.
    """
    statement, count = statements()[c.claim], len(c.measured)
    words = {
        "points": f"measured: {in_short(c.measured) if count <= FEW else f'{count} numbers'}",
        "band": f"{_predicted(c)}. What was measured is {c.agreement}.",
        "crosses": f"falsehood: {c.falsehood}. {_rejected(c)}",
    }
    lines = [
        f"({anchor})=",
        "::::::{div} check-card",
        "",
        f'{badge(c.verdict)} <span class="check-kind">{c.kind}</span> '
        f"[{statement.name}](#{c.claim}): {statement.title}",
        "",
        f"**{_capital(c.what)}**",
        "",
        f"```{{raw}} html\n{c.drawing()}\n```",
        "",
        f"```{{raw}} latex\n\\par\\noindent {latex(c.strip)}\\par\n```",
        "",
        ":::{div} check-axis",
        _axis(c),
        ":::",
        "",
        ":::{div} check-key",
        *(f'- <span class="strip-key strip-key-{mark}"></span> {words[mark]}' for mark in KEYS),
        ":::",
        "",
    ]
    if c.limits:
        lines += [f"*Limits*: {c.limits}.", ""]
    return "\n".join([*lines, *_numbers(c), "::::::", ""])


def _axis(c):
    if not c.strip.in_tolerances:
        return c.axis
    return f"{c.axis}: {IN_TOLERANCES}" if c.axis else IN_TOLERANCES


def _predicted(c):
    """The prediction and its tolerance, where they are few enough to be read."""
    if len(c.predicted) > FEW:
        return "predicted, each with its tolerance"
    same = len(set(c.tolerance)) == 1
    known = f"tolerance {in_short(c.tolerance[:1])}" if same else "each number with its tolerance"
    return f"predicted: {bound_in_short(c.relation, c.predicted)}, {known}"


def _rejected(c):
    verdict, _, away = c.rejection.partition(", ")
    return f"It is {verdict}: what was measured is {away} from it."


def _capital(text):
    """A sentence begins with a capital, unless with a formula."""
    return text[:1].upper() + text[1:]


def _numbers(c):
    """All numbers in a table that opens on request; paper has no use for it."""
    count = len(c.measured)
    columns = [c.each] if c.each else []
    for numbers in (c.measured, c.predicted, c.tolerance, c.falsehood_predicted):
        columns.append([f"{x:.6g}" for x in (numbers * count if len(numbers) == 1 else numbers)])
    head = [*(["Number"] if c.each else []), "Measured", "Predicted", "Tolerance", "Falsehood"]
    rows = [head, *list(zip(*columns, strict=True))[:MOST_LISTED]]
    more = [f"\nThe other {count - MOST_LISTED} are in `claims.json`."] if count > MOST_LISTED else []
    title = "The numbers" if count > 1 else "The number"
    table = list_table(rows, "check-numbers")
    return ["`````{only} html", f"````{{dropdown}} {title}", table, *more, "````", "`````", ""]
