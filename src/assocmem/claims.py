"""The ledger: what the paper says, what was measured, and whether it held.

A section calls `check` once for each thing it measures. The result is stored in the executed notebook as
data beside the table a reader sees, and the ledger page and ``claims.json`` are made from those outputs.
"""

import html
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from assocmem.limits import require

VERDICTS = ("holds", "holds with limits", "does not hold", "not yet")
MIME = "application/vnd.assocmem.check+json"
STATEMENTS = Path(__file__).with_name("claims.yml")
SECTIONS = {
    "correlation_memory": "The correlation matrix memory",
    "sparse_repair": "Adaptive sparse repair",
    "top1_threshold": "The sharp top-1 threshold",
    "dual_certificate": "The dual certificate",
    "finite_size_scaling": "Finite-size scaling",
    "tail_average_margin": "The tail-average margin",
    "scalar_theory": "The scalar theory",
    "leave_one_out": "The coupled leave-one-out method",
    "ridgeless_limit": "The ridgeless limit",
}
"""Sections of the finished book in their order, with a title for those still to come."""
_WORST_FIRST = ("does not hold", "not yet", "holds with limits", "holds")
_BADGES = dict(
    zip(VERDICTS, ("verdict-holds", "verdict-limits", "verdict-fails", "verdict-notyet"), strict=True)
)


@dataclass(frozen=True)
class Statement:
    """A numbered statement or figure of the paper, in the words of the book.

    Attributes
    ----------
    id : str
        For instance ``"theorem-1"``.
    kind, number, label : str, int or None, str or None
        As printed and labelled in the paper.
    place : str
        The paper's section it stands in.
    title, says : str
        What it is about, and what it claims.
    section : str
        The section of this book that checks it.
    """

    id: str
    kind: str
    number: int | None
    label: str | None
    place: str
    title: str
    says: str
    section: str

    @property
    def name(self):
        """``Theorem 1``, or ``Formula`` where the paper's number is not known."""
        return f"{self.kind.capitalize()} {self.number}" if self.number else "Formula"

    @property
    def source(self):
        """Name, place and label in the paper, for a machine-readable entry."""
        return f"{self.name}, {self.place}" + (f" [{self.label}]" if self.label else "")


@cache
def statements():
    """All numbered statements and figures of the paper by id, in its order."""
    entries = yaml.safe_load(STATEMENTS.read_text(encoding="utf-8"))
    return {entry["id"]: Statement(**entry) for entry in entries}


@dataclass(frozen=True)
class Check:
    """One measurement against a prediction and against a falsehood.

    Attributes
    ----------
    claim, what : str
        Id of the statement, and what was measured.
    measured, predicted, falsehood_predicted : list of float
        The numbers compared, entry by entry.
    tolerance : list of float
        Largest acceptable distance from the prediction, one number or one for each entry.
    relation : str
        ``"=="``, or ``"<="`` and ``">="`` for a bound.
    falsehood : str
        A wrong claim that the same numbers must contradict.
    limits : str
        Where the statement bites only under conditions worth stating.
    verdict, expected : str
        What came out, and what the text of the section says came out.
    """

    claim: str
    what: str
    measured: list
    predicted: list
    tolerance: list
    relation: str
    falsehood: str
    falsehood_predicted: list
    limits: str
    verdict: str
    expected: str

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self._text(), "text/html": self._html(), MIME: asdict(self)}

    def _rows(self):
        statement = statements()[self.claim]
        return [
            ("Claim", f"{statement.name}: {statement.title}"),
            ("Measured", f"{self.what}: {_numbers(self.measured)}"),
            ("Predicted", self.agreement),
            ("Falsehood", f"{self.falsehood}: {self.rejection}"),
            *([("Limits", self.limits)] if self.limits else []),
        ]

    @property
    def agreement(self):
        """How the measurement compares with the prediction, in a few words."""
        relation = {"==": "", "<=": "at most ", ">=": "at least "}[self.relation]
        text = f"{relation}{_numbers(self.predicted)}, tolerance {_numbers(self.tolerance)}"
        return text + self._count(self.predicted, "within it", True)

    @property
    def rejection(self):
        """How the measurement compares with the falsehood, in a few words."""
        fits = _fits(self.measured, self.falsehood_predicted, self.tolerance, self.relation)
        verb = "not rejected" if fits.all() else "rejected"
        text = f"{_numbers(self.falsehood_predicted)}, {verb}"
        return text + self._count(self.falsehood_predicted, "outside", False)

    def _count(self, predicted, word, wanted):
        """``: 31 of 32 within it``, where there is more than one number."""
        fits = _fits(self.measured, predicted, self.tolerance, self.relation)
        return f": {np.sum(fits == wanted)} of {fits.size} {word}" if fits.size > 1 else ""

    def _text(self):
        return "\n".join(f"{name}: {text}" for name, text in (*self._rows(), ("Verdict", self.verdict)))

    def _html(self):
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self._rows())
        return f'<table class="check"><caption>{badge(self.verdict)}</caption><tbody>{rows}</tbody></table>'


def check(claim, what, *, measured, predicted, tolerance, falsehood, relation="==", limits="", expected=None):
    """Compare a measurement with what is claimed, and with a falsehood that it must contradict.

    Parameters
    ----------
    claim : str
        Id of a statement of the paper.
    what : str
        What was measured, in a few words.
    measured, predicted : float or sequence of float
        Of one length; a single prediction holds for all measurements.
    tolerance : float or sequence of float
        Largest acceptable distance, in the units of the measurement, at least 0.
    falsehood : tuple of str and float or sequence of float
        A wrong claim and what it predicts for the same measurement.
    relation : {"==", "<=", ">="}
        ``"<="`` claims that the measurement is at most the prediction.
    limits : str
        Conditions under which the statement bites; turns "holds" into "holds with limits".
    expected : str, optional
        The verdict that the section's text reports; by default the best one possible here.

    Returns
    -------
    Check
        ``verdict`` is "holds" or "holds with limits" if the measurement agrees with the prediction and
        contradicts the falsehood, "does not hold" if it disagrees with the prediction, and "not yet" if it
        cannot tell the prediction from the falsehood.

    Raises
    ------
    ValueError
        For an unknown claim or relation, a negative tolerance, or numbers that are not finite.
    """
    require(claim in statements(), "claim", claim, "the id of a statement in claims.yml")
    require(relation in ("==", "<=", ">="), "relation", relation, "==, <= or >=")
    best = "holds with limits" if limits else "holds"
    expected = expected or best
    require(expected in VERDICTS, "expected", expected, f"one of {', '.join(VERDICTS)}")
    named, wrong = falsehood
    measured, predicted, tolerance, wrong = map(_list, (measured, predicted, tolerance, wrong))
    for name, numbers in (("predicted", predicted), ("tolerance", tolerance), ("falsehood", wrong)):
        fits = len(numbers) in (1, len(measured))
        require(fits, name, numbers, f"one number or {len(measured)}, like measured")
    finite = np.isfinite(np.concatenate([measured, predicted, tolerance, wrong])).all()
    require(finite, "measured", measured, "finite, and so the numbers it is compared with")
    require(min(tolerance) >= 0, "tolerance", tolerance, ">= 0")
    if not _agrees(measured, predicted, tolerance, relation):
        verdict = "does not hold"
    elif _agrees(measured, wrong, tolerance, relation):
        verdict = "not yet"
    else:
        verdict = best
    return Check(
        claim, what, measured, predicted, tolerance, relation, named, wrong, limits, verdict, expected
    )


def _list(numbers):
    return [float(x) for x in np.atleast_1d(np.asarray(numbers, dtype=float))]


def _fits(measured, predicted, tolerance, relation):
    difference = np.subtract(measured, predicted)
    distance = {"==": np.abs(difference), "<=": difference, ">=": -difference}[relation]
    return distance <= np.asarray(tolerance)


def _agrees(*comparison):
    return bool(_fits(*comparison).all())


def _numbers(numbers):
    if len(numbers) <= 4:
        return ", ".join(f"{x:.4g}" for x in numbers)
    return f"{len(numbers)} values from {min(numbers):.3g} to {max(numbers):.3g}"


def badge(verdict):
    """A verdict as a small coloured label (HTML)."""
    return f'<span class="verdict {_BADGES[verdict]}">{verdict}</span>'


# --- from executed notebooks to the ledger --------------------------------------------------------


def read_checks(notebook):
    """The checks stored in an executed notebook.

    Parameters
    ----------
    notebook : path

    Returns
    -------
    list of Check
    """
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    return [Check(**output["data"][MIME]) for output in outputs if MIME in output.get("data", {})]


def surprises(checks):
    """Lines for the checks whose verdict is not the one the text reports."""
    return [
        f"{c.claim}, {c.what}: verdict '{c.verdict}', the section says '{c.expected}'"
        for c in checks
        if c.verdict != c.expected
    ]


def ledger(checks):
    """One entry for each statement of the paper, as plain data for ``claims.json``.

    Parameters
    ----------
    checks : list of Check
        Of all sections. A statement with several takes the worst verdict and the numbers that go with it.

    Returns
    -------
    list of dict
    """
    entries = []
    for statement in statements().values():
        own = [c for c in checks if c.claim == statement.id]
        worst = min(own, key=lambda c: _WORST_FIRST.index(c.verdict), default=None)
        entries.append(
            {
                "id": statement.id,
                "source": statement.source,
                "title": statement.title,
                "section": statement.section,
                "verdict": worst.verdict if worst else "not yet",
                "measured": worst.measured if worst else None,
                "predicted": worst.predicted if worst else None,
                "tolerance": worst.tolerance if worst else None,
                "falsehood": worst.falsehood if worst else None,
                "checks": [asdict(c) for c in own],
            }
        )
    return entries


def ledger_page(entries, titles):
    """The ledger as a page of the book.

    Parameters
    ----------
    entries : list of dict
        From `ledger`.
    titles : dict
        Titles of the sections that the book has by now, by name.

    Returns
    -------
    str
        MyST Markdown.
    """
    counts = ", ".join(f"{sum(e['verdict'] == v for e in entries)} {badge(v)}" for v in VERDICTS)
    parts = [_LEDGER_HEAD.format(total=len(entries), counts=counts)]
    for name, planned in SECTIONS.items():
        title = f"{{doc}}`{titles[name]} <sections/{name}>`" if name in titles else f"{planned} (to come)"
        parts.append(f"## {title}\n")
        parts += [_entry(e) for e in entries if e["section"] == name]
    return "\n".join(parts)


_LEDGER_HEAD = """\
# The ledger

Every numbered statement and figure of the paper, section by section, with what was measured.
A verdict is earned by numbers.
The measurement must agree with the prediction and contradict a named falsehood on the same data.
The page is made from the outputs of the executed sections.
The same entries for machines are in <a href="../claims.json">claims.json</a>.

Of {total} entries: {counts}.
"""


def _entry(entry):
    statement = statements()[entry["id"]]
    label = f" `{statement.label}`" if statement.label else ""
    lines = [
        f"({entry['id']})=",
        f"**{statement.name}** {badge(entry['verdict'])}  ",
        f"*{statement.title}*, {statement.place}{label}",
        "",
        statement.says.strip(),
        "",
    ]
    if entry["checks"]:
        lines += ["```{list-table}", ":header-rows: 1", ":class: ledger-table", ""]
        rows = [("Verdict", "Measured", "Predicted", "Falsehood")]
        rows += [_check_row(Check(**c)) for c in entry["checks"]]
        lines += [f"{'*' if i == 0 else ' '} - {cell}" for row in rows for i, cell in enumerate(row)]
        lines += ["```", ""]
    return "\n".join(lines)


def _check_row(c):
    return (
        badge(c.verdict) + (f" {c.limits}" if c.limits else ""),
        f"{c.what}: {_numbers(c.measured)}",
        c.agreement,
        f"{c.falsehood}: {c.rejection}",
    )
