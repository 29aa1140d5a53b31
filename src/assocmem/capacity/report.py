"""What was found about somebody's facts: plain numbers, a page that shows them, and proofs beside it.

A report is written as ``report.json`` and ``report.html``, with the certificates as ``.npz`` files that
``assocmem.deciding.certificates`` checks. The JSON is the report's own fields, nested as they are here, in
plain numbers, words and lists; ``null`` stands for what is not known.
"""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

from assocmem.checks import require
from assocmem.files import write_whole

SCHEMA = 1
"""Version of the fields of a report, for programs that read them."""


@dataclass
class Sizes:
    """How many facts there are, and in how many dimensions.

    Attributes
    ----------
    facts, targets : int
        The letters n and m of the book.
    d_in, d_out : int
        Dimensions of keys and of targets.
    rank_in, rank_out : int
        Directions that the keys, and the targets less their mean, really have.
    keys, answers : int
        Different vectors among the keys, and targets that are the answer to some key.
    top : int
        The letter k of the book: how many of the best competitors the signal has to beat on average.
    """

    facts: int
    targets: int
    d_in: int
    d_out: int
    rank_in: int
    rank_out: int
    keys: int
    answers: int
    top: int


@dataclass
class Decision:
    """Whether some matrix retrieves all facts.

    Attributes
    ----------
    retrievable : bool or None
        None where neither answer was proved.
    certificate : str or None
        File of the proof.
    verified : bool
        Whether the proof has been checked.
    passes, steps : int
        Passes over the scores, or steps of Newton's method, that it took.
    reason : str
        Why there is no answer; otherwise empty.
    """

    retrievable: bool | None
    certificate: str | None
    verified: bool
    passes: int
    steps: int
    reason: str


@dataclass
class Forecast:
    """How many facts would fit if all vectors were Gaussian.

    Attributes
    ----------
    facts : float
        Number of facts at which half of all Gaussian instances are retrievable.
    excess_from, excess_to : float or None
        Between which shares more than that is retrievable here, of the facts in their order; negative where
        it is less. None for an end that is not known, as where all facts are retrievable.
    """

    facts: float
    excess_from: float | None = None
    excess_to: float | None = None


@dataclass
class FirstFacts:
    """How many of the first facts are retrievable, of those that are not hopeless.

    Attributes
    ----------
    left_out : int
        Facts that are not counted: those that contradict an earlier one, or are impossible by themselves.
    retrievable : int
        So many of the others, in their order, are retrievable by a proof.
    impossible : int or None
        So many are not, by a proof; one more than ``retrievable`` unless something remained undecided. None
        where all are retrievable, or where that is not known.
    certificates : list of str
        Files of the two proofs.
    """

    left_out: int
    retrievable: int
    impossible: int | None
    certificates: list[str] = field(default_factory=list)


@dataclass
class Involved:
    """A fact that a proof of impossibility makes use of.

    Attributes
    ----------
    fact : int
        Its position, from 0.
    key, answer, against : str
        Names of the key, of its answer, and of the target that its weight is mostly against.
    share : float
        Of all weight.
    """

    fact: int
    key: str
    answer: str
    against: str
    share: float


@dataclass
class Conflict:
    """Which facts are in each other's way.

    Attributes
    ----------
    involved : list of Involved
        Those with the largest weights in the proof.
    smallest : list of Involved
        The smallest set found that no matrix retrieves, whatever becomes of the rest.
    minimal : bool
        Whether the set is retrievable as soon as any one of its facts is left out.
    ended : bool
        Whether the search for a smaller one has ended.
    certificate : str or None
        File of the proof about that set.
    decisions : int
        Smaller sets that were decided on the way.
    """

    involved: list[Involved]
    smallest: list[Involved] = field(default_factory=list)
    minimal: bool = False
    ended: bool = False
    certificate: str | None = None
    decisions: int = 0


@dataclass
class Outcome:
    """What one memory retrieves.

    Attributes
    ----------
    memory : str
        Which.
    first : int or None
        Facts whose answer has the highest score; None where the memory could not be made.
    top : int or None
        Facts whose answer beats the average of its k best competitors.
    ten : int or None
        Facts whose answer is among the ten highest scores; None where there are no more than ten targets.
    note : str
        How it was made, or why it was not.
    """

    memory: str
    first: int | None
    top: int | None
    ten: int | None
    note: str = ""


@dataclass
class CapacityReport:
    """What any matrix, and some that can be written down, can do for somebody's facts.

    Attributes
    ----------
    sizes : Sizes
    sources : dict of str to str
        The files that were read; empty for arrays.
    notes : list of str
        What is worth knowing about the data.
    contradictions : list of Involved
        Facts whose key is that of an earlier fact with another answer.
    alone : list of Involved
        Facts that are impossible by themselves: other targets hide their answer, whatever the key.
    verdict : Decision or None
    forecast : Forecast or None
    first_facts : FirstFacts or None
    conflict : Conflict or None
    memories : list of Outcome
    extents : dict of str to list of float
        Of ``keys`` and ``targets``: lengths along their main axes, over the largest, in falling order; at
        most a hundred of them.
    finished : bool
        False for a report that was interrupted.
    stage : str
        What was being done, or empty.
    schema : int
    proofs : dict
        Certificates with what they are about, by the names of their files; not in the JSON.
    """

    sizes: Sizes
    sources: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    contradictions: list[Involved] = field(default_factory=list)
    alone: list[Involved] = field(default_factory=list)
    verdict: Decision | None = None
    forecast: Forecast | None = None
    first_facts: FirstFacts | None = None
    conflict: Conflict | None = None
    memories: list[Outcome] = field(default_factory=list)
    extents: dict[str, list[float]] = field(default_factory=dict)
    finished: bool = False
    stage: str = ""
    schema: int = SCHEMA
    proofs: dict = field(default_factory=dict, repr=False)

    def as_dict(self) -> dict:
        """All but the proofs as numbers, words, lists and dicts."""
        return _plain(asdict(self) | {"proofs": None}, leave_out="proofs")

    def write(self, folder: str | Path) -> Path:
        """Write ``report.json``, ``report.html`` and the proofs.

        Parameters
        ----------
        folder : path
            Made where it is not there.

        Returns
        -------
        Path
            Of the page.

        Raises
        ------
        ValueError
            For what is no path of a folder.
        OSError
            If a file cannot be written; what was there is left as it was.
        """
        from assocmem.capacity.page import page
        from assocmem.deciding import certificates

        require(isinstance(folder, str | Path) and folder != "", "folder", folder, "the path of a folder")
        folder = Path(folder)
        require(
            folder.is_dir() or not folder.exists(), "folder", str(folder), "a folder, unlike what is there"
        )
        folder.mkdir(parents=True, exist_ok=True)
        for name, (certificate, *facts) in self.proofs.items():
            if not (folder / name).exists() or name not in self._written:
                certificates.save(folder / name, certificate, *facts)
                self._written.add(name)
        text = json.dumps(self.as_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(folder / "report.json", text + "\n")
        write_whole(folder / "report.html", page(self))
        return folder / "report.html"

    def __post_init__(self) -> None:
        """Nothing has been written yet."""
        self._written: set[str] = set()

    def lines(self) -> list[str]:
        """The report in a few lines, for a terminal."""
        s, said = self.sizes, []
        what = f"all {s.facts} facts" if s.facts > 1 else "the fact"
        if self.verdict:
            shape = f"{s.d_out} x {s.d_in}"
            said.append(
                {
                    True: f"yes: a {shape} matrix retrieves {what}",
                    False: f"no: no {shape} matrix retrieves {what}",
                    None: f"undecided whether a {shape} matrix retrieves {what}: {self.verdict.reason}",
                }[self.verdict.retrievable]
                + (f" (proof: {self.verdict.certificate}, verified)" if self.verdict.verified else "")
            )
        if self.forecast:
            said.append(f"forecast for Gaussian vectors: {self.forecast.facts:.0f} facts fit")
        said += _some("contradicts an earlier one", self.contradictions)
        said += _some("is impossible by itself", self.alone)
        if self.first_facts and self.first_facts.left_out < s.facts:
            said.append(_first_ones(self.first_facts, s.facts) + _excess(self.forecast))
        if self.conflict and self.conflict.smallest and (self.conflict.ended or not self.stage):
            size = len(self.conflict.smallest)
            named = ", ".join(f"{x.key}: {x.answer}" for x in self.conflict.smallest[:4])
            least = "none can be left out" if self.conflict.minimal else "perhaps fewer do"
            said.append(f"impossible together: {size} facts ({least}), {named}{', ...' * (size > 4)}")
        for outcome in self.memories:
            if outcome.first is not None:
                best = "" if s.top == 1 else f", {outcome.top} above the average of their {s.top} best"
                said.append(f"{outcome.memory}: {outcome.first} of {s.facts} in first place{best}")
        return said

    def _repr_html_(self) -> str:
        """The page, in a frame of its own, where a notebook shows the report."""
        from html import escape

        from assocmem.capacity.page import page

        style = "width:100%;height:60em;border:1px solid #8888"
        return f'<iframe title="report" style="{style}" srcdoc="{escape(page(self), quote=True)}"></iframe>'


def _some(what: str, facts: list[Involved]) -> list[str]:
    """Lines about facts, of which three are named."""
    said = [f"fact {one.fact} {what} ({one.key}: {one.answer}; against {one.against})" for one in facts[:3]]
    if len(facts) > 3:
        said.append(f"so it is with {len(facts) - 3} more")
    return said


def _first_ones(first: FirstFacts, count: int) -> str:
    """What is known of the first facts, in words."""
    low, high, all_of_them = first.retrievable, first.impossible, count - first.left_out
    kept = "of the other facts" if first.left_out else "facts"
    if low == all_of_them and first.left_out:
        return f"all {low} other facts are retrievable together"
    if high is None:
        return f"the first {low} {kept} are retrievable, and perhaps more"
    gap = "" if high == low + 1 else " (in between, nothing was proved)"
    return f"the first {low} {kept} are retrievable, the first {high} are not{gap}"


def _excess(forecast: Forecast) -> str:
    """How much more than forecast is retrievable, in words."""
    low, high = forecast.excess_from, forecast.excess_to
    if low is None or high is None:
        return ""
    if round(100 * low) == round(100 * high):
        return f" ({low:+.0%} against the forecast)"
    return f" ({low:+.0%} to {high:+.0%} against the forecast)"


def _plain(value, leave_out=""):
    """Numbers, words, lists and dicts alone, of finite numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(x) for key, x in value.items() if key != leave_out}
    if isinstance(value, list | tuple):
        return [_plain(x) for x in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
