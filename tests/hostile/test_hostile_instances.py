"""Verdicts on instances in no general position agree with linear programming, and are proved."""

import pytest
from degenerate_instances import ROUNDED, best_margin, instances

from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide, decide_top1, verify

CLEAR = 1e-9
"""A margin below this is none, for a linear program that satisfies its constraints to 1e-7 at worst."""


def faults_of(name, pairs):
    """What is wrong with the verdict on one instance, in a list of lines."""
    try:
        verdict = decide_top1(pairs)
    except Exception as error:
        return [f"{name}: {type(error).__name__}: {error}"]
    if verdict.feasible is None:
        known = name.startswith(ROUNDED) and "double precision" in verdict.reason
        return [] if known else [f"{name}: no verdict: {verdict.reason}"]
    lines = [] if verify(verdict.certificate, pairs) else [f"{name}: the certificate does not hold"]
    if not name.startswith(ROUNDED) and verdict.feasible != (best_margin(pairs) > CLEAR):
        lines.append(f"{name}: the verdict is {verdict.feasible}, but a linear program says otherwise")
    return lines


@pytest.mark.faults
def test_verdicts_on_degenerate_instances(report_trials):
    tried = list(instances(range(1, 5)))
    faults = [line for name, pairs in tried for line in faults_of(name, pairs)]
    report_trials("verdicts on degenerate instances", len(tried), faults)


@pytest.mark.faults
def test_verdicts_on_degenerate_instances_hold_in_exact_arithmetic(report_trials):
    tried = [(name, pairs) for name, pairs in instances([1]) if pairs.d <= 8]
    faults = []
    for name, pairs in tried:
        verdict = decide_top1(pairs)
        if verdict.feasible is not None and not holds_exactly(verdict.certificate, pairs):
            faults.append(f"{name}: {verdict.feasible} is not confirmed")
    report_trials("degenerate certificates in exact arithmetic", len(tried), faults)


@pytest.mark.faults
@pytest.mark.parametrize("k", [2, 5, "n - 1"])
def test_verdicts_on_tails_of_degenerate_instances(k, report_trials):
    """At k > 1 there may be no answer for the signs, whose contradictions are among few comparisons."""
    faults, tried = [], [(name, pairs) for name, pairs in instances([1])]
    for name, pairs in tried:
        verdict = decide(pairs, pairs.n - 1 if k == "n - 1" else k)
        if verdict.feasible is None and not name.startswith((*ROUNDED, "signs")):
            faults.append(f"{name}: no verdict: {verdict.reason}")
        elif verdict.feasible is not None and not verify(verdict.certificate, pairs):
            faults.append(f"{name}: the certificate does not hold")
    report_trials(f"verdicts on tails of degenerate instances, k = {k}", len(tried), faults)


def test_some_verdicts_on_degenerate_instances():
    tried = [(name, pairs) for name, pairs in instances([1]) if pairs.n == 20][::3]
    assert [line for name, pairs in tried for line in faults_of(name, pairs)] == []
    assert {decide_top1(pairs).feasible for _, pairs in tried} >= {True, False}
