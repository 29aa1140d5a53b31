"""Claims: what the paper says, what was measured, and whether it held.

A section calls `check` once for each thing it measures. The result is stored in the executed notebook as
data beside the table a reader sees; `assocmem.book.ledger` makes its page and ``claims.json`` from those
outputs.
"""

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import yaml

from assocmem.book.strip import Strip, strip, svg
from assocmem.checks import require

VERDICTS = ("holds", "holds with limits", "does not hold", "not yet")
"""What can come out, the best first."""
KINDS = {
    "simulation": "instances drawn and computed while the page was made",
    "stored simulation": "instances computed earlier, by a sweep whose table is in the book",
    "quadrature": "integrals and equations of the theory, solved in a second way",
    "identity": "the two sides of an exact statement, computed in two ways",
    "exact proof": "arithmetic without rounding, or with rounding that is bounded",
    "asymptotic arithmetic": "a formula of the theory at sizes that no computer reaches",
}
"""What a check rests on. The last compares theory with theory where no instance can be made, so it is no
evidence that anything happens: such a check has to state its limits, and is counted apart."""
FORCE = 3
"""Tolerances that a falsehood has to be away from the prediction, unless the check's limits say why not."""
MIME = "application/vnd.assocmem.check+json"
"""The type under which an executed notebook carries a check as data."""
STATEMENTS = Path(__file__).with_name("claims.yml")
"""The statements of the paper, and those that the book adds, in the words of the book."""
BEYOND = "beyond"
"""The kind of a statement that is not in the paper."""
FEW = 4
"""Up to so many numbers are listed one by one: more would not fit into a cell of the ledger."""
_BADGES = {
    "holds": "verdict-holds",
    "holds with limits": "verdict-limits",
    "does not hold": "verdict-fails",
    "not yet": "verdict-notyet",
}
"""The class of each verdict in the styles of the book."""


@dataclass(frozen=True)
class Statement:
    """A statement or figure of the paper, or one that the book adds, in the words of the book.

    Attributes
    ----------
    id : str
        For instance ``"theorem-1"``.
    kind, number, label : str, int or None, str or None
        As printed and labelled in the paper; of the kind `BEYOND`, what the book adds.
    place : str or None
        The paper's section it stands in, None for what the book adds.
    title, says : str
        What it is about, and what it claims.
    section : str
        The section of this book that checks it.
    uses : tuple of str
        Ids of the statements that its proof in the paper rests on, as far as it cites or needs them directly;
        for what the book adds, the statements from which it goes on.
    """

    id: str
    kind: str
    number: int | None
    label: str | None
    place: str | None
    title: str
    says: str
    section: str
    uses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``Theorem 1``, for what has no number ``Formula`` or ``Claim``, or ``Beyond the paper``."""
        if self.beyond:
            return "Beyond the paper"
        if self.number:
            return f"{self.kind.capitalize()} {self.number}"
        return "Claim" if self.kind == "claim" else "Formula"

    @property
    def beyond(self) -> bool:
        """Whether the book adds it to the paper."""
        return self.kind == BEYOND

    @property
    def called(self) -> str:
        """The name, with the title where there is no number to tell it from others."""
        return self.name if self.number else f"{self.name} ({self.title})"

    @property
    def source(self) -> str:
        """Name, place and label in the paper, for a machine-readable entry."""
        place = f", {self.place}" if self.place else ""
        return f"{self.name}{place}" + (f" [{self.label}]" if self.label else "")


@cache
def statements() -> dict[str, Statement]:
    """All statements and figures of the paper by id, in its order, and then what the book adds to it."""
    entries = yaml.safe_load(STATEMENTS.read_text(encoding="utf-8"))
    return {entry["id"]: Statement(**entry | {"uses": tuple(entry.get("uses", ()))}) for entry in entries}


@dataclass(frozen=True)
class Check:
    """One measurement against a prediction and against a falsehood.

    Attributes
    ----------
    claim, what : str
        Id of the statement, and what was measured.
    kind : str
        What the check rests on, one of `KINDS`.
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
    axis : str
        What the numbers are, with their unit; stands at the axis of the strip.
    each : list of str
        A few words on each number, or nothing.
    """

    claim: str
    what: str
    kind: str
    measured: list[float]
    predicted: list[float]
    tolerance: list[float]
    relation: str
    falsehood: str
    falsehood_predicted: list[float]
    limits: str
    verdict: str
    expected: str
    axis: str = ""
    each: list[str] = field(default_factory=list)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self._text(), "text/html": self.html(), MIME: asdict(self)}

    def _rows(self):
        statement = statements()[self.claim]
        return [
            ("Claim", f"{statement.name}: {statement.title}"),
            ("Kind", f"{self.kind}: {KINDS[self.kind]}"),
            ("Measured", f"{self.what}: {in_short(self.measured)}"),
            (
                "Predicted",
                f"{bound_in_short(self.relation, self.predicted)}, tolerance {in_short(self.tolerance)}: "
                f"{self.agreement}",
            ),
            ("Falsehood", f"{self.falsehood}: {in_short(self.falsehood_predicted)}, {self.rejection}"),
            *([("Limits", self.limits)] if self.limits else []),
        ]

    @property
    def distance(self) -> float:
        """How far the numbers are from the prediction together, in tolerances.

        The root mean square of their distances, each in units of its own tolerance; 0 for a number on the
        right side of a bound, infinite for one that misses a prediction without tolerance.
        """
        return _together(self.measured, self.predicted, self.tolerance, self.relation)

    @property
    def falsehood_distance(self) -> float:
        """How far the numbers are from the falsehood together, in tolerances, as in `distance`."""
        return _together(self.measured, self.falsehood_predicted, self.tolerance, self.relation)

    @property
    def force(self) -> float:
        """How far the falsehood is from the prediction, in tolerances: what the check can tell apart."""
        return _together(self.falsehood_predicted, self.predicted, self.tolerance, "==")

    @property
    def agreement(self) -> str:
        """How far the measurement is from the prediction, in a few words."""
        return _in_tolerances(self.distance)

    @property
    def rejection(self) -> str:
        """How far the measurement is from the falsehood, in a few words."""
        verb = "rejected" if self.falsehood_distance > 1 else "not rejected"
        return f"{verb}, {_in_tolerances(self.falsehood_distance)}"

    @cached_property
    def strip(self) -> Strip:
        """The numbers along an axis, to be drawn."""
        return strip(self.measured, self.predicted, self.tolerance, self.falsehood_predicted, self.relation)

    def drawing(self, *, small: bool = False) -> str:
        """The strip as an inline SVG, with a sentence for those who do not see it.

        Parameters
        ----------
        small : bool
            Without ticks, for a cell of a table.

        Returns
        -------
        str
        """
        count = len(self.measured)
        numbers = f"{count} numbers" if count > 1 else "One number"
        told = f"{numbers}: {self.agreement} from the prediction; the falsehood is {self.rejection}."
        return svg(self.strip, told, small=small)

    def _text(self):
        return "\n".join(f"{name}: {text}" for name, text in (*self._rows(), ("Verdict", self.verdict)))

    def html(self) -> str:
        """The check as its strip and a table, in HTML, which shows in any notebook; pages have a card."""
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self._rows())
        caption = f"<caption>{badge(self.verdict)}</caption>"
        return f'{self.drawing()}<table class="check">{caption}<tbody>{rows}</tbody></table>'


def check(
    claim: str,
    what: str,
    *,
    kind: str,
    measured: float | Sequence[float],
    predicted: float | Sequence[float],
    tolerance: float | Sequence[float],
    falsehood: tuple[str, float | Sequence[float]],
    relation: str = "==",
    limits: str = "",
    expected: str | None = None,
    axis: str = "",
    each: Sequence[str] = (),
) -> Check:
    """Compare a measurement with what is claimed, and with a falsehood that it must contradict.

    Parameters
    ----------
    claim : str
        Id of a statement of the paper.
    what : str
        What was measured, in a few words.
    kind : str
        What the check rests on, one of `KINDS`.
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
    axis : str
        What the numbers are, with their unit, for the axis under them. This, like ``what``, ``limits`` and
        the words of the falsehood, may hold formulas between dollars.
    each : sequence of str
        A few words on each of the numbers.

    Returns
    -------
    Check
        ``verdict`` is "holds" or "holds with limits" if every number agrees with the prediction and all of
        them together contradict the falsehood, "does not hold" if a number disagrees with the prediction,
        and "not yet" if the numbers together are within a tolerance of the falsehood.

    Raises
    ------
    ValueError
        For an unknown claim, kind or relation, a negative tolerance, numbers that are not finite, words on
        more or fewer numbers than there are, or asymptotic arithmetic without limits.
    """
    require(claim in statements(), "claim", claim, "the id of a statement in claims.yml")
    require(kind in KINDS, "kind", kind, f"one of {', '.join(KINDS)}")
    apart = kind != "asymptotic arithmetic"
    require(limits or apart, "limits", limits, "stated for asymptotic arithmetic, which shows no instance")
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
    each = [str(words) for words in each]
    require(len(each) in (0, len(measured)), "each", each, f"{len(measured)} words, one for each number")
    if not (_distances(measured, predicted, tolerance, relation) <= 1).all():
        verdict = "does not hold"
    elif _together(measured, wrong, tolerance, relation) <= 1:
        verdict = "not yet"
    else:
        verdict = best
    return Check(
        claim,
        what,
        kind,
        measured,
        predicted,
        tolerance,
        relation,
        named,
        wrong,
        limits,
        verdict,
        expected,
        axis,
        each,
    )


def _list(numbers):
    return [float(x) for x in np.atleast_1d(np.asarray(numbers, dtype=float))]


def _distances(measured, predicted, tolerance, relation):
    """Distances on the wrong side of a prediction, in tolerances."""
    difference = np.subtract(measured, predicted)
    distance = {"==": abs(difference), "<=": difference, ">=": -difference}[relation].clip(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance > 0, distance / np.asarray(tolerance), 0.0)


def _together(*comparison):
    return float(np.sqrt(np.mean(_distances(*comparison) ** 2)))


def _in_tolerances(distance):
    """A distance in words."""
    if distance == 0:
        return "0 tolerances away"
    if np.isinf(distance):
        return "away where nothing is tolerated"
    number = "more than 1000" if distance > 1000 else f"{distance:.{2 if distance < 99.5 else 3}g}"
    return f"{number} tolerances away"


def in_short(numbers: Sequence[float]) -> str:
    """A few numbers, or how many there are and their range."""
    if len(numbers) <= FEW:
        return ", ".join(f"{x:.4g}" for x in numbers)
    return f"{len(numbers)} numbers from {min(numbers):.3g} to {max(numbers):.3g}"


def bound_in_short(relation: str, numbers: Sequence[float]) -> str:
    """Predictions as `in_short` has them, with what they bound.

    Parameters
    ----------
    relation : {"==", "<=", ">="}
        Of the measurements to the predictions.
    numbers : sequence of float
        The predictions.

    Returns
    -------
    str
    """
    if relation == "==":
        return in_short(numbers)
    words, kind = {"<=": ("at most", "upper"), ">=": ("at least", "lower")}[relation]
    if len(numbers) <= FEW:
        return f"{words} {in_short(numbers)}"
    return in_short(numbers).replace("numbers", f"{kind} bounds")


def badge(verdict: str) -> str:
    """A verdict as a small coloured label (HTML)."""
    return f'<span class="verdict {_BADGES[verdict]}">{verdict}</span>'


# --- checks of executed notebooks -----------------------------------------------------------------


def read_checks(notebook: str | Path) -> list[Check]:
    """The checks stored in an executed notebook.

    Parameters
    ----------
    notebook : path

    Returns
    -------
    list of Check
    """
    return checks_of(json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"])


def checks_of(cells: Iterable[dict]) -> list[Check]:
    """The checks that executed cells hold, in order."""
    found = (check_in(output) for cell in cells for output in cell.get("outputs", []))
    return [c for c in found if c]


def check_in(output: dict) -> Check | None:
    """The check that an output of a notebook holds, or None."""
    data = output.get("data", {}).get(MIME)
    return Check(**data) if data else None


def surprises(checks: Iterable[Check]) -> list[str]:
    """Lines for the checks whose verdict is not the one the text reports."""
    return [
        f"{c.claim}, {c.what}: verdict '{c.verdict}', the section says '{c.expected}'"
        for c in checks
        if c.verdict != c.expected
    ]


def weak(checks: Iterable[Check]) -> list[str]:
    """Lines for the checks that could hardly have failed: a falsehood nearer than `FORCE`, and no limits.

    Parameters
    ----------
    checks : iterable of Check

    Returns
    -------
    list of str
    """
    return [
        f"{c.claim}, {c.what}: the falsehood is only {c.force:.2g} tolerances from the prediction, "
        f"and no limits say why"
        for c in checks
        if c.force < FORCE and not c.limits
    ]


def unlabelled(checks: Iterable[Check]) -> list[str]:
    """Lines for the checks whose axis says nothing, so that a strip would be points of nobody knows what.

    Parameters
    ----------
    checks : iterable of Check

    Returns
    -------
    list of str
    """
    return [f"{c.claim}, {c.what}: axis must say what the numbers are" for c in checks if not c.axis.strip()]
