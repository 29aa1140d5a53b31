"""How many facts of the second half of a relation should fit, from the rule that its first half shows.

Everything is fitted on the first half. One half of that gives a rule, and the other half the strength at
which facts cost least with it. The rule of the whole first half, at this strength, is then taken to the
second.
"""

from dataclasses import dataclass

import numpy as np

from assocmem.experiments.words.fact_costs import fact_costs
from assocmem.experiments.words.nested_facts import halves
from assocmem.experiments.words.rule_strength import Rule, measure_rule, whitened

STRENGTHS = (0.0, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)
"""Strengths that are tried. A Gaussian vector has length ``sqrt(d)``, what the rule adds about this much."""


@dataclass(frozen=True)
class WordForecast:
    """What the first half of a relation says about the second.

    Attributes
    ----------
    rule : Rule
        Of the first half.
    strength : float
        The best of `STRENGTHS` on the first half.
    alone, led : ndarray, shape (facts,)
        Costs of the facts of the second half in their order: without a rule, and with it.
    """

    rule: Rule
    strength: float
    alone: np.ndarray
    led: np.ndarray


def word_forecast(relation: str, d: int, order: int, *, draws: int = 2) -> WordForecast:
    """Costs of the facts of a second half, by the rule of the first.

    Parameters
    ----------
    relation, d, order : str, int, int
        As for `halves`.
    draws : int
        Gaussian vectors a fact.

    Returns
    -------
    WordForecast

    Raises
    ------
    ValueError
        For an argument out of range, or vectors of so many dimensions that they cannot be made white.
    """
    cut = halves(relation, d, order)
    targets, keys = whitened(cut.targets, centred=True), whitened(cut.keys, centred=False)

    def rule_of(places):
        rule = targets[:, cut.answers[places]] @ keys[:, places].T
        return rule / np.linalg.norm(rule)

    def costs(rule, places, strengths, seed, draws):
        leads = rule @ keys[:, places]
        strengths = np.array(strengths)
        return fact_costs(targets, cut.answers[places], leads, strengths, draws=draws, seed=seed)

    quarter = len(cut.first) // 2
    tried = costs(rule_of(cut.first[:quarter]), cut.first[quarter:], STRENGTHS, 2 * order, 1).mean(axis=0)
    best = STRENGTHS[int(np.argmin(tried))]
    found = costs(rule_of(cut.first), cut.second, (0.0, best), 2 * order + 1, draws)
    rule = measure_rule(targets, keys[:, cut.first], cut.answers[cut.first])
    return WordForecast(rule, best, found[:, 0], found[:, 1])
