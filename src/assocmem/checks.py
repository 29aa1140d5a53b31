"""Argument checks and errors: one line that names the argument, its value and what is allowed."""

import difflib
import math
from collections.abc import Collection
from numbers import Integral, Real

SCALES = (1e-60, 1e60)
"""Least and largest of positive numbers whose squares and quotients neither overflow nor vanish."""

LONGEST_SHOWN = 200
"""Characters of a value that a message shows at most, so that it stays one line to read."""


def require(ok: bool, name: str, value: object, allowed: str) -> None:
    """Raise a one-line `ValueError` unless ``ok``.

    Parameters
    ----------
    ok : bool
        Whether the value is acceptable.
    name : str
        The argument.
    value : object
        What was passed for it.
    allowed : str
        What would be acceptable, for instance ``"an integer >= 2"``.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is allowed.
    """
    if not ok:
        raise ValueError(f"{name} = {shown(value)}: must be {allowed}")


def shown(value: object) -> str:
    """A value as a message shows it: on one line, and not too long a one, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # an integer of too many digits, or an object that is broken
        return f"<{type(value).__name__}>"
    if "\n" in text or len(text) > LONGEST_SHOWN:
        text = " ".join(text.split())
        text = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 4]} ..."
    return text


def require_integer(name: str, value: object, minimum: int) -> None:
    """Check that an argument is an integer (a bool is not) of at least ``minimum``.

    Parameters
    ----------
    name : str
        The argument.
    value : object
        What was passed for it; an integer of Python or of NumPy is accepted.
    minimum : int
        Smallest value that is allowed.

    Raises
    ------
    ValueError
        Naming the argument, its value and the smallest allowed one.
    """
    ok = isinstance(value, Integral) and not isinstance(value, bool) and value >= minimum
    require(ok, name, value, f"an integer >= {minimum}")
    require(is_number(value), name, value, f"an integer >= {minimum} that a float can hold")


def is_number(value: object) -> bool:
    """Whether a value is a real number that a float can hold; a bool is none, nor is an array."""
    if isinstance(value, float):  # the most common case, and the quickest to tell
        return True
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def require_number(
    name: str, value: object, low: float = -math.inf, high: float = math.inf, *, ends: str = "()"
) -> None:
    """Check that an argument is one finite number between two bounds.

    Parameters
    ----------
    name : str
        The argument.
    value : object
        What was passed for it; a number of Python or of NumPy is accepted, a bool is not.
    low, high : float
        The bounds.
    ends : str
        A bracket for each bound, round where the bound itself is not allowed: ``"()"``, ``"[)"``, ``"(]"``
        or ``"[]"``. An infinite bound is never allowed.

    Raises
    ------
    ValueError
        Naming the argument, its value and the bounds.
    """
    ok = is_number(value) and math.isfinite(value)
    ok = ok and not (isinstance(value, Integral) and abs(value) >= 2**63)  # NumPy has no type for it
    ok = ok and (low < value or (ends[0] == "[" and value == low))
    ok = ok and (value < high or (ends[1] == "]" and value == high))
    if not ok:  # words are put together where they are needed, since some checks stand in loops
        require(False, name, value, _between(low, high, ends))


def require_numbers(
    name: str, values: object, low: float = -math.inf, high: float = math.inf, *, ends: str = "()"
) -> None:
    """Check that an argument is a number, or an array of numbers, between two bounds.

    Parameters
    ----------
    name : str
        The argument.
    values : object
        What was passed for it: a number, an array, or nested sequences of numbers; not empty.
    low, high : float
        The bounds.
    ends : str
        As for `require_number`; here an infinite bound with a square bracket is allowed.

    Raises
    ------
    ValueError
        Naming the argument, its value and the bounds.
    """
    import numpy as np  # this module is loaded by every command, most of which need no arrays

    if isinstance(values, float):
        array = np.float64(values)
    else:
        try:
            array = np.asarray(values)
        except Exception:  # rows of different lengths, or a tensor that is not in the memory of the processor
            array = np.empty(0, dtype=object)
    if array.dtype.kind not in "iuf" or not array.size:
        require(False, name, values, f"{_between(low, high, ends)}, or an array of such numbers")
    low, high = np.float64(low), np.float64(high)  # not cast to the type of the array
    ok = array >= low if ends[0] == "[" else array > low
    ok = ok & (array <= high if ends[1] == "]" else array < high)
    if not np.all(ok):
        require(False, name, array.tolist(), _between(low, high, ends))


def _between(low: float, high: float, ends: str) -> str:
    """The words for the numbers between two bounds."""
    if math.isfinite(low) and math.isfinite(high):
        return f"in {ends[0]}{low:g}, {high:g}{ends[1]}"
    bounds = [
        f"{sign}{'=' if end in '[]' else ''} {bound:g}"
        for sign, bound, end in ((">", low, ends[0]), ("<", high, ends[1]))
        if math.isfinite(bound)
    ]
    finite = [] if ("[" in ends and low == -math.inf) or ("]" in ends and high == math.inf) else ["finite"]
    return " ".join(["a", *finite, "number", *bounds])


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Check that an argument is one of a few words.

    Parameters
    ----------
    name : str
        The argument.
    value : object
        What was passed for it.
    choices : collection of str
        What is allowed.

    Raises
    ------
    ValueError
        Naming the argument, its value and all that is allowed.
    """
    ok = isinstance(value, str) and value in choices
    require(ok, name, value, f"one of {', '.join(choices)}")


def require_instance(name: str, value: object, kind: type | tuple[type, ...]) -> None:
    """Check that an argument is an object of a class, or of one of a few.

    Parameters
    ----------
    name : str
        The argument.
    value : object
        What was passed for it.
    kind : class, or tuple of classes
        What is allowed.

    Raises
    ------
    ValueError
        Naming the argument, what was passed and the classes. Where the class itself was passed, it says so.
    """
    if isinstance(value, kind):
        return
    kinds = kind if isinstance(kind, tuple) else (kind,)
    what = "the class " + value.__name__ if isinstance(value, type) else value
    names = " or ".join(f"{'an' if k.__name__[0] in 'AEIOU' else 'a'} {k.__name__}" for k in kinds)
    call = f", as {value.__name__}(...) makes one" if isinstance(value, type) and value in kinds else ""
    require(False, name, what, names + call)


def require_callable(name: str, value: object) -> None:
    """Check that an argument is a function, or an object that can be called as one; a class is none.

    Parameters
    ----------
    name : str
        The argument.
    value : object
        What was passed for it.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is allowed.
    """
    require(callable(value) and not isinstance(value, type), name, value, "a function")


def require_flag(name: str, value: object) -> None:
    """Check that an argument is true or false, of Python or of NumPy.

    Parameters
    ----------
    name : str
        The argument.
    value : object
        What was passed for it.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is allowed.
    """
    ok = isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    require(ok, name, value, "True or False")


class UnusableState(ValueError):
    """A file with the state of a long computation that is not of this one; its text is one line."""


class UsageError(ValueError):
    """A request that cannot be carried out as it stands; its text is one line for the user."""


def nearest(name: str, names: Collection[str]) -> str:
    """The end of a message about an unknown name: the nearest of those there are, and all of them.

    Parameters
    ----------
    name : str
        What was asked for.
    names : collection of str
        What there is.

    Returns
    -------
    str
        Begins with a colon; empty where there are no names.
    """
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    return f": did you mean {near[0]!r}? Valid: {', '.join(names)}" if near else ""
