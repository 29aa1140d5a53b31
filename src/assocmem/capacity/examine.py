"""Examines somebody's facts: the verdict, the forecast, what is in the way, and what memories do."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from assocmem.capacity.conflicts import (
    chosen,
    first_retrievable,
    hidden_alone,
    impossible_sets,
    key_groups,
    repeated_keys,
    weights_by_fact,
)
from assocmem.capacity.outcomes import (
    TEN,
    counts,
    evened,
    explicit_outcomes,
    extents,
    in_their_spans,
    rank,
    trained_outcome,
)
from assocmem.capacity.report import (
    CapacityReport,
    Conflict,
    Decision,
    FirstFacts,
    Forecast,
    Involved,
    Outcome,
    Sizes,
)
from assocmem.checks import require, require_callable, require_instance, require_integer
from assocmem.deciding.feasibility import decide
from assocmem.deciding.hopeless import unseen_targets
from assocmem.pairs.data import Facts, Pairs
from assocmem.progress import status_line
from assocmem.theory.facts_that_fit import facts_that_fit

SHOWN = 40
"""Facts of a proof that a report lists."""
MOST_ALONE = 100
"""Answers that are asked, by a verdict on one fact, whether other targets hide them."""
DECISIONS = 30
"""Smaller sets that are decided on the way to one that is impossible by itself."""
SAME = 1e-12
"""Squared length along a main axis, over the largest, that is rounding in single precision."""
SHORT_UNIT = 2.0**-23
"""Relative rounding of numbers in single precision."""


def capacity_report(
    facts: Facts | Pairs,
    *,
    k: int = 1,
    key_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    decisions: int = DECISIONS,
    folder: str | Path | None = None,
) -> CapacityReport:
    """Find out what any matrix, and some that can be written down, can do for facts.

    Is there a matrix that retrieves all facts, by a proof; how many would fit if vectors were Gaussian; and
    what do outer products, ridge regression, equal signals, clipped and trained memories retrieve? Where no
    matrix does it: how many of the first facts are retrievable, and which facts are impossible by themselves.

    Parameters
    ----------
    facts : Facts or Pairs
    k : int
        Between 1, which asks that the answer has the highest score, and ``m - 1``; in between, that it beats
        the average of its k best competitors.
    key_names, target_names : sequence of str, optional
        One for each key and target; by default they are numbered.
    decisions : int
        Smaller sets that are decided at most, to find one that is impossible by itself.
    folder : path, optional
        Where ``report.json``, ``report.html`` and the proofs are written, and brought up to date after every
        stage.

    Returns
    -------
    CapacityReport

    Raises
    ------
    ValueError
        For an argument out of range, or facts for which there is not enough memory.
    OSError
        If a file of the report cannot be written.
    """
    require_integer("decisions", decisions, 0)
    report, names = begin_report(facts, k=k, key_names=key_names, target_names=target_names)
    keep = (lambda: None) if folder is None else lambda: report.write(folder)
    keep()
    try:
        fill_report(report, facts, names, decisions=decisions, keep=keep)
    except BaseException:
        keep()
        raise
    return report


Names = tuple[Callable[[int], str], Callable[[int], str]]
"""What a fact's key is called, and a target, by their positions."""


def begin_report(
    facts: Facts | Pairs,
    *,
    k: int,
    key_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
) -> tuple[CapacityReport, Names]:
    """A report of which only sizes are known, and what is said about the data.

    Parameters
    ----------
    facts, k, key_names, target_names
        As in `capacity_report`.

    Returns
    -------
    report : CapacityReport
    names : pair of callables

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_instance("facts", facts, (Facts, Pairs))
    require_integer("k", k, 1)
    require(k < facts.m, "k", k, f"at most m - 1 = {facts.m - 1}")
    for name, X in (("keys", facts.V), ("targets", facts.U)):
        require(bool(X.any()), "facts", f"{name} that are all zero", f"of {name} that are not all zero")
    for name, given, count in (
        ("key_names", key_names, facts.n),
        ("target_names", target_names, facts.m),
    ):
        if given is not None:
            listed = isinstance(given, Sequence) and not isinstance(given, str)
            require(listed and len(given) == count, name, given, f"{count} words")
    key = _named(key_names, "key")
    names = key, _named(target_names, "target")
    even, short = evened(facts), facts.V.itemsize < 8
    unit = SHORT_UNIT if short else 2.0**-52
    sizes = Sizes(
        facts=facts.n,
        targets=facts.m,
        d_in=facts.d_in,
        d_out=facts.d_out,
        rank_in=rank(even.V, unit=unit),
        rank_out=rank(even.U, centred=True, unit=unit),
        keys=int(key_groups(facts).max()) + 1,
        answers=len(facts.answers.unique()),
        top=int(k),
    )
    report = CapacityReport(sizes)
    report.extents = {"keys": extents(even.V), "targets": extents(even.U, centred=True)}
    answers = facts.answers.tolist()
    report.contradictions = [
        Involved(i, names[0](i), names[1](answers[i]), names[1](answers[j]), 0.0)
        for i, j in repeated_keys(facts)
    ]
    report.notes = _notes(facts, sizes)
    return report, names


def fill_report(
    report: CapacityReport,
    facts: Facts | Pairs,
    names: Names,
    *,
    decisions: int = DECISIONS,
    keep: Callable[[], object] = lambda: None,
) -> None:
    """Find out all the rest, stage after stage; what is known after an interrupt is in the report.

    Parameters
    ----------
    report : CapacityReport
        As `begin_report` makes it.
    facts : Facts or Pairs
    names : pair of callables
    decisions : int
        As in `capacity_report`.
    keep : callable
        Called after every stage.
    """
    require_callable("keep", keep)
    k = report.sizes.top
    with status_line() as show:

        def stage(text: str) -> None:
            report.stage = text
            show(f"capacity: {text}")

        stage("forecast for Gaussian vectors")
        report.forecast = Forecast(_forecast(report.sizes))
        stage("verdict on all facts")
        verdict = decide(facts, k)
        if verdict.feasible is None and _flat(report.sizes):
            stage("verdict on all facts in the directions that vectors have")
            facts, _, _ = in_their_spans(evened(facts), least=SAME)
            report.notes.append(
                "all that is said is about the vectors in the directions that they have, up to rounding: the "
                f"proofs are about keys in {facts.d_in} dimensions and targets in {facts.d_out}"
            )
            verdict = decide(facts, k)
        report.verdict = Decision(
            verdict.feasible,
            _proof(report, "verdict.npz", verdict.certificate, facts),
            verdict.certificate is not None,
            verdict.passes,
            verdict.steps,
            verdict.reason,
        )
        if verdict.feasible:
            _excess(report, facts.n, None)
        keep()
        even = evened(facts)
        stage("memories that are written down")
        for outcome in explicit_outcomes(even, k):
            report.memories.append(outcome)
            stage(f"memories that are written down: {outcome.memory}")
        keep()
        if not verdict.feasible:
            _alone(report, facts, names, stage)
            keep()
            good = _without_hopeless(report, facts)
            rest, certificate = facts, verdict.certificate
            if len(good) < facts.n:
                stage("verdict on the other facts")
                rest = chosen(facts, good) if good else None
                certificate = _rest(report, rest)
            if rest is not None and not (report.first_facts and report.first_facts.retrievable):
                _first(report, rest, stage, None if certificate is None else False)
                keep()
            if certificate is not None:
                for _ in _conflicts(report, rest, good, names, certificate, decisions, stage):
                    keep()
        stage("a trained memory")
        report.memories.append(trained_outcome(even, k))
        if verdict.feasible:
            report.memories.append(_of_proof(verdict.certificate, facts, even, k))
    report.finished, report.stage = True, ""
    keep()


# --- stages -------------------------------------------------------------------------------------------------


def _flat(sizes):
    """Whether keys or targets have fewer directions than they could have."""
    flat_keys = sizes.rank_in < min(sizes.d_in, sizes.facts)
    return flat_keys or sizes.rank_out < min(sizes.d_out, sizes.targets - 1)


def _forecast(sizes):
    """Facts that fit for Gaussian vectors with as many directions as these have.

    Few keys span few directions, but further ones would have further directions.
    """
    d_in = sizes.rank_in if sizes.rank_in < min(sizes.d_in, sizes.facts) else sizes.d_in
    if not sizes.rank_out:  # all targets are one vector
        return 0.0
    return float(f"{facts_that_fit(d_in, sizes.rank_out, sizes.targets, sizes.top):.6g}")


def _proof(report, name, certificate, facts):
    """Keep a proof with what it is about, under the name of a file; None where there is none."""
    if certificate is None:
        return None
    arrays = (x.detach().cpu().numpy() for x in (facts.U, facts.V, facts.answers))
    report.proofs[name] = (certificate, *arrays)
    return name


def _excess(report, low, high):
    """How much more than forecast is retrievable: of so many facts it is known, of so many it is not so."""
    expected = report.forecast.facts
    if expected > 0:
        report.forecast.excess_from = low / expected - 1
        report.forecast.excess_to = None if high is None else (high - 1) / expected - 1


def _alone(report, facts, names, stage):
    """Facts that are impossible by themselves."""
    stage("facts that are impossible by themselves")
    key, target = names
    answers = facts.answers.tolist()
    k = report.sizes.top
    found = [(i, int(answers[i] == 0)) for i in (~facts.V.any(dim=0)).nonzero().flatten().tolist()]

    def tell():
        report.alone = [Involved(i, key(i), target(answers[i]), target(j), 0.0) for i, j in sorted(found)]

    tell()
    doubtful = unseen_targets(facts, k)
    if len(doubtful) > MOST_ALONE:
        report.notes.append(
            f"answers that others may hide: {len(doubtful)}, of which {MOST_ALONE} were asked"
        )
    for count, answer in enumerate(doubtful[:MOST_ALONE], 1):
        which, against = hidden_alone(facts, k, answer)
        found += [(i, against) for i in which]
        tell()
        stage(f"facts that are impossible by themselves: {count} of {len(doubtful)} answers")


def _without_hopeless(report, facts):
    """Positions of the facts that neither contradict an earlier one nor are impossible by themselves."""
    hopeless = {one.fact for one in report.alone}
    if report.sizes.top == 1:
        hopeless |= {one.fact for one in report.contradictions}
    return [i for i in range(facts.n) if i not in hopeless]


def _rest(report, rest):
    """The proof that the facts that are not hopeless are impossible, too, or None."""
    report.first_facts = FirstFacts(report.sizes.facts - (rest.n if rest else 0), 0, None)
    if rest is None:
        return None
    verdict = decide(rest, report.sizes.top)
    if verdict.feasible:
        report.first_facts.retrievable = rest.n
        report.first_facts.certificates = [_proof(report, "retrievable.npz", verdict.certificate, rest)]
        _excess(report, rest.n, None)
    return verdict.certificate if verdict.feasible is False else None


def _first(report, facts, stage, whole):
    """How many of the first facts are retrievable, of facts that are not known to be all so."""
    last = FirstFacts(report.sizes.facts - facts.n, 0, facts.n if whole is False else None)
    report.first_facts = last

    def tell(count, verdict):
        if verdict.feasible:
            last.retrievable = max(last.retrievable, count)
            name = "retrievable.npz"
        elif verdict.feasible is False:
            last.impossible = min(last.impossible or count, count)
            name = "impossible.npz"
        else:
            return
        if count in (last.retrievable, last.impossible):
            _proof(report, name, verdict.certificate, chosen(facts, range(count)))
        last.certificates = [x for x in ("retrievable.npz", "impossible.npz") if x in report.proofs]
        _excess(report, last.retrievable, last.impossible)
        most = (last.impossible or facts.n + 1) - 1
        stage(f"the first facts that are retrievable: from {last.retrievable} to {most}")

    stage("the first facts that are retrievable")
    guess = max(1, round(report.forecast.facts))
    first_retrievable(facts, report.sizes.top, guess, tell, whole=whole)
    _excess(report, last.retrievable, last.impossible)


def _conflicts(report, facts, places, names, certificate, decisions, stage):
    """Which facts are in each other's way; each step is a smaller set. They stand at these places of all."""
    found = weights_by_fact(certificate, facts)
    if found is None:
        report.notes.append("the proof has too many weights to be summed by fact")
        order = np.arange(facts.n)
        report.conflict = Conflict([])
    else:
        shares, _ = found
        order = np.argsort(-shares, kind="stable")
        order = order[: int((shares > 0).sum())]
        report.conflict = Conflict(_involved(facts, names, found, order[:SHOWN], places))
    stage("a small set of facts that is impossible")
    if decisions == 0:
        return
    for which, smaller, minimal, made in impossible_sets(facts, report.sizes.top, order.tolist(), decisions):
        part = chosen(facts, which)
        conflict = report.conflict
        conflict.minimal, conflict.decisions = minimal, made
        proof = certificate if smaller is None and len(which) == facts.n else smaller
        weights = None if proof is None else weights_by_fact(proof, part)
        if weights is None:
            weights = np.zeros(len(which)), np.full(len(which), -1)
        where = [places[i] for i in which]
        listed = _involved(part, names, weights, np.argsort(-weights[0], kind="stable"), where)
        conflict.smallest = listed
        conflict.certificate = _proof(report, "conflict.npz", proof, part)
        stage(f"a small set of facts that is impossible: {len(which)} after {made} decisions")
        yield
    report.conflict.ended = True
    yield


def _involved(facts, names, found, order, places):
    """Facts with the weight that they have, in an order; they stand at these places of all."""
    shares, against = found
    answers, key, target = facts.answers.tolist(), *names
    listed = []
    for i in map(int, order):
        place = places[i]
        rival = target(int(against[i])) if against[i] >= 0 else ""
        share = float(f"{shares[i]:.4g}")
        listed.append(Involved(place, key(place), target(answers[i]), rival, share))
    return listed


def _of_proof(certificate, facts, even, k):
    """What the memory of a proof retrieves: all, as was proved."""
    n, ten = facts.n, facts.n if facts.m > TEN else None
    if k == 1:
        return Outcome("the matrix of the proof", n, n, ten)
    W = torch.from_numpy(certificate.W).to(even.U)
    first, _, ten = counts(even, W / W.abs().max(), k)
    return Outcome("the matrix of the proof", first, n, ten)


def _named(names, word):
    """What a key or a target is called."""
    return (lambda i: f"{word} {i}") if names is None else (lambda i: str(names[i]))


def _notes(facts, sizes):
    """What is worth knowing about the data."""
    found = []
    if sizes.keys < sizes.facts:
        found.append(f"facts with a key of an earlier one, up to its length: {sizes.facts - sizes.keys}")
    if sizes.rank_in < min(sizes.d_in, sizes.facts):
        found.append(f"directions of the keys: {sizes.rank_in} of {sizes.d_in}")
    if sizes.rank_out < min(sizes.d_out, sizes.targets - 1):
        found.append(f"directions of the targets, less their mean: {sizes.rank_out} of {sizes.d_out}")
    U = np.ascontiguousarray(facts.U.detach().cpu().double().numpy().T)
    same = len(U) - len(np.unique(U, axis=0))
    if same:
        found.append(f"targets that equal an earlier one, whose scores are the same: {same}")
    empty = int((~facts.V.any(dim=0)).sum())
    if empty:
        found.append(f"keys that are zero, for which all scores are the same: {empty}")
    return found
