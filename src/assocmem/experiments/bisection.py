"""Where along the integers a condition stops to hold: strides that grow until it changes, then halving."""

import math
from collections.abc import Callable


def last_that_holds(
    holds: Callable[[int], bool],
    start: int,
    stride: Callable[[int, int], int],
    *,
    floor: int = 1,
    ceiling: float = math.inf,
    known: int | None = None,
    close: Callable[[int], float] = lambda high: 1,
) -> tuple[int, int]:
    """Two integers between which a condition changes that holds for small ones and not for large ones.

    The search strides away from where it starts, up where the condition holds and down where it does not,
    until it has changed. Then it halves the distance.

    Parameters
    ----------
    holds : callable
        From an integer to whether the condition holds there; asked at most once for each.
    start : int
        The first integer that is asked.
    stride : callable
        From the integer that was asked last and the number of strides before to the length of the next one,
        a positive integer.
    floor : int
        The smallest integer that may be asked.
    ceiling : int
        The largest integer that may be asked.
    known : int, optional
        A number below ``start`` where the condition is taken to hold; no stride goes down then.
    close : callable
        From the upper integer to a distance, at least 1, at which the two are near enough.

    Returns
    -------
    low, high : int
        It holds at ``low`` and not at ``high``. Where it does not even hold at the floor, they are
        ``floor - 1`` and ``floor``; where it holds up to the ceiling, ``ceiling`` and ``ceiling + 1``.
    """
    low, high, n, strides = known, None, start, 0
    while True:
        low, high = (n, high) if holds(n) else (low, n)
        if low is None and high == floor:
            return floor - 1, floor
        if high is None and low == ceiling:
            return low, low + 1
        if low is not None and high is not None and high - low <= close(high):
            return low, high
        if low is None:
            n = max(floor, n - stride(n, strides))
        elif high is None:
            n = min(ceiling, n + stride(n, strides))
        else:
            n = (low + high) // 2
        strides += 1
