"""Powers of d of the leave-one-out method in words, and what checks of its other statements compare."""

from collections.abc import Iterable, Mapping

import torch

from assocmem.experiments.frames import DataFrame
from assocmem.experiments.removals.removal_rates import Estimate, Fluctuation, exponent_tolerance
from assocmem.experiments.removals.removal_sizes import threshold_identity, threshold_path
from assocmem.experiments.statistics import PowerLaw, power_law
from assocmem.removal.hessians import Evaluation
from assocmem.removal.leave_one_out import drop


def exponent_in_words(law: PowerLaw) -> str:
    """An exponent with its standard error."""
    return f"{law.exponent:.2f} ± {law.deviation:.2f}"


def power_in_words(estimate: Estimate) -> str:
    """Whether the power that the paper states is the one that the size has."""
    stated, power = estimate.exponent, estimate.power
    if power == stated:
        return "as stated"
    return f"smaller, {power:g}" if power < stated else f"larger, {power:g}"


def fluctuation_evidence(fluctuation: Fluctuation, law: PowerLaw, kind: str = "simulation") -> dict:
    """What a check of Proposition 5 compares: the power of the deviations of an average.

    Parameters
    ----------
    fluctuation : Fluctuation
    law : PowerLaw
        Fitted to the standard deviations over instances.
    kind : str
        What the instances are, one of `assocmem.book.claims.KINDS`.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The falsehood is a bound that is smaller by
        ``sqrt(d)`` than what is found.
    """
    return {
        "claim": "proposition-5",
        "what": f"power of $d$ of the standard deviation of {fluctuation.text}",
        "axis": "power of $d$",
        "kind": kind,
        "measured": law.exponent,
        "predicted": fluctuation.exponent,
        "tolerance": exponent_tolerance(law),
        "relation": "<=",
        "falsehood": (r"smaller by $\sqrt{d}$ than the power $-1$", fluctuation.found - 0.5),
        "limits": "not the best bound: the power is $-1$",
    }


def averages_evidence(laws: Mapping[str, PowerLaw]) -> dict:
    """What a check of (A5) compares for several test functions: the powers of the deviations of averages.

    Parameters
    ----------
    laws : mapping of str to PowerLaw
        Fitted to the standard deviations over instances, by the name of the average.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`, as in `fluctuation_evidence`.
    """
    return {
        "claim": "proposition-5",
        "what": "powers of $d$ of the standard deviations of averages of several functions of the scores",
        "axis": "power of $d$",
        "each": [name.replace("_", " ") for name in laws],
        "kind": "stored simulation",
        "measured": [law.exponent for law in laws.values()],
        "predicted": -0.5,
        "tolerance": [exponent_tolerance(law) for law in laws.values()],
        "relation": "<=",
        "falsehood": (r"smaller by $\sqrt{d}$ than the power $-1$", -1.5),
        "limits": "not the best bound: the power is $-1$",
    }


def response_evidence(samples: Iterable[DataFrame]) -> dict:
    """What a check of Remark 10 compares: the power of the distance of a pair's own response from the trace.

    Parameters
    ----------
    samples : iterable of DataFrame
        Stored sizes, one table for each setting. An instance has one such distance, taken here in units of
        the trace, in which the settings are alike.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    groups: dict[int, list[float]] = {}
    for rows in samples:
        known = rows.loc[rows["chi"].notna()]
        for d, response, chi in zip(known["d"], known["response"], known["chi"], strict=True):
            groups.setdefault(int(d), []).append(response / chi)
    law = power_law(groups)
    return {
        "claim": "remark-10",
        "what": "power of $d$ of the relative distance of a removed pair's response from the trace",
        "axis": "power of $d$",
        "kind": "stored simulation",
        "measured": law.exponent,
        "predicted": -0.5,
        "tolerance": exponent_tolerance(law),
        "relation": "<=",
        "falsehood": (r"smaller by another factor of $\sqrt{d}$", -1),
        "limits": "an instance has one such number, so the power is known no better",
    }


def threshold_evidence(full: Evaluation, rest: Evaluation, h: int) -> dict:
    """What a check of Lemma 12 compares: both sides of the identity for the motion of thresholds.

    Parameters
    ----------
    full, rest : Evaluation
        The minimisers with and without pair h.
    h : int

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`, in units of the root mean square motion. The falsehood
        leaves the new competitor out of the numerator.
    """
    left, right = threshold_identity(full, rest, h)
    path = threshold_path(full, rest, h)
    shift = torch.linalg.vecdot(path, drop(full.S, h) - rest.S, dim=0) / path.sum(dim=0)
    unit = left.square().mean().sqrt()
    return {
        "claim": "lemma-12",
        "what": "motion of the threshold of every other key over the root mean square motion",
        "axis": "motion of a threshold, in units of its root mean square",
        "kind": "identity",
        "measured": left / unit,
        "predicted": right / unit,
        "tolerance": 1e-6,
        "falsehood": ("without the weight $q_{h,i}$ of the new competitor", shift / unit),
    }
