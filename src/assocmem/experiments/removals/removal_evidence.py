"""Powers of d of the leave-one-out method in words, and what checks of its other statements compare."""

import torch

from assocmem.experiments.removals.removal_rates import Estimate, Fluctuation
from assocmem.experiments.removals.removal_sizes import threshold_identity, threshold_path
from assocmem.experiments.statistics import PowerLaw
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


def fluctuation_evidence(fluctuation: Fluctuation, law: PowerLaw) -> dict:
    """What a check of Proposition 5 compares: the power of the deviations of an average.

    Parameters
    ----------
    fluctuation : Fluctuation
    law : PowerLaw
        Fitted to the standard deviations over instances.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The falsehood is a bound that is smaller by
        ``sqrt(d)`` than what is found; the tolerance lies below the half that powers differ by.
    """
    return {
        "claim": "proposition-5",
        "what": f"exponent of the deviations of {fluctuation.size.replace('_', ' ')}",
        "measured": law.exponent,
        "predicted": fluctuation.exponent,
        "tolerance": 0.3,
        "relation": "<=",
        "falsehood": ("smaller by sqrt(d) than the power -1", fluctuation.found - 0.5),
        "limits": "not the best bound: the power is -1",
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
        "measured": left / unit,
        "predicted": right / unit,
        "tolerance": 1e-6,
        "falsehood": ("without the new competitor's q_hi", shift / unit),
    }
