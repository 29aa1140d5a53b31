"""Times taken by turns in one run, and their ratios with intervals.

A machine drifts: others compute beside, the clock of the processor rises and falls. What is compared is timed
by turns, so that a drift hits both, and the ratio is taken within each round. The interval covers the typical
ratio with at least 95 % probability:

- From `MANY` rounds on it lies between two of the ordered ratios, around their median. It assumes no
  distribution, and a round that something interrupted moves it little.
- With fewer rounds no two of them are that far apart. There it is the interval of Student's t for the mean
  of the logarithms, which assumes that these are about normal. With two rounds it is very wide.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence

from scipy.stats import binom, t

LEAST = 3
"""Rounds that are always taken: with two, an interval is five times as wide."""
MOST = 25
"""Rounds that are enough."""
MANY = 6
"""Rounds from which an interval between two of their ratios covers the median in 95 % of cases."""
OUTSIDE = 0.05
"""Probability that an interval misses."""
SHORTEST = 0.02
"""Seconds that a measurement lasts at least; what is shorter is repeated, and the mean counts."""
FAIR = 0.25
"""The same for a floor beside something long. Where others compute as well, a process that has slept gets the
cores for some milliseconds, so that a short measurement next to a long one looks too fast."""
BRIEF = 1.0
"""Seconds of a first round below which it only warms up."""


def clock(call: Callable[[], object], shortest: float = SHORTEST) -> Callable[[], float]:
    """A function that tells how many seconds a call takes; what is shorter than ``shortest`` is repeated."""

    def seconds():
        count, started = 0, time.perf_counter()
        while True:
            call()
            count += 1
            spent = time.perf_counter() - started
            if spent >= shortest:
                return spent / count

    return seconds


def by_turns(
    clocks: dict[str, Callable[[], float]], seconds: float, *, least: int = LEAST, most: int = MOST
) -> dict[str, list[float]]:
    """Seconds of several things, measured in rounds in which each has its turn.

    Every other round goes in the opposite order. A first round that is brief only warms up.

    Parameters
    ----------
    clocks : dict of str to callable
        Each measures one thing once and returns its seconds.
    seconds : float
        No round is begun after this time, but ``least`` rounds are taken in any case.
    least, most : int
        Numbers of rounds.

    Returns
    -------
    dict of str to list of float
        One number for each round.
    """
    times = {name: [] for name in clocks}
    began = started = time.perf_counter()
    rounds = 0
    while rounds < least or (rounds < most and time.perf_counter() - started < seconds):
        names = list(clocks) if rounds % 2 == 0 else list(reversed(clocks))
        for name in names:
            times[name].append(clocks[name]())
        rounds += 1
        if began == started and rounds == 1 and time.perf_counter() - began < BRIEF:
            times, rounds, started = {name: [] for name in clocks}, 0, time.perf_counter()
    return times


def interval(values: Sequence[float]) -> dict:
    """The typical one of positive numbers, with an interval.

    Parameters
    ----------
    values : sequence of float
        One for each round.

    Returns
    -------
    dict
        ``ratio``; ``low`` and ``high``, which are None for a single round; and ``rounds``.
    """
    count, logs = len(values), sorted(math.log(x) for x in values)
    middle = statistics.median(logs) if count >= MANY else statistics.fmean(logs)
    low = high = None
    if count >= MANY:
        outside = int(binom.ppf(OUTSIDE / 2, count, 0.5)) - 1  # ordered ratios left out on either side
        low, high = logs[outside], logs[count - 1 - outside]
    elif count > 1:
        half = t.ppf(1 - OUTSIDE / 2, count - 1) * statistics.stdev(logs) / math.sqrt(count)
        low, high = middle - half, middle + half
    ends = {name: None if x is None else digits(math.exp(x)) for name, x in (("low", low), ("high", high))}
    return {"ratio": digits(math.exp(middle)), **ends, "rounds": count}


def ratio(ours: Sequence[float], others: Sequence[float]) -> dict:
    """How many times as long the first took as the second, round by round, with an interval."""
    return interval([x / y for x, y in zip(ours, others, strict=True)])


def turned(found: dict) -> dict:
    """The same with the two exchanged."""
    names = {"ratio": "ratio", "low": "high", "high": "low"}
    ends = {name: None if found[other] is None else digits(1 / found[other]) for name, other in names.items()}
    return found | ends


def summary(times: Sequence[float]) -> dict:
    """Median and quartiles of the seconds of some rounds, as a row of a table keeps them."""
    quartiles = statistics.quantiles(times, method="inclusive") if len(times) > 1 else [times[0]] * 3
    first, middle, third = map(digits, quartiles)
    return {"seconds": middle, "quartiles": [first, third], "rounds": len(times)}


def digits(value: float) -> float:
    """A number with the four digits that a measurement can mean."""
    return float(f"{value:.4g}")


def shown(found: dict) -> str:
    """A ratio with its interval as the page writes it: ``2.1 (1.9 to 2.4)``."""
    middle = found["ratio"]
    if found.get("low") is None:
        return _number(middle, middle)
    return f"{_number(middle, middle)} ({_number(found['low'], middle)} to {_number(found['high'], middle)})"


def _number(value, scale):
    """With two or three digits, and as many decimals as the number beside it."""
    if scale >= 100:
        return f"{value:.0f}"
    return f"{value:.{1 if scale >= 10 else 2}f}"
