"""Argument checks and errors: one line that names the argument, its value and what is allowed."""

import difflib
from collections.abc import Collection


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
        raise ValueError(f"{name} = {value!r}: must be {allowed}")


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
    integral = isinstance(value, int) or (type(value).__module__ == "numpy" and hasattr(value, "__index__"))
    ok = integral and not isinstance(value, bool) and value >= minimum
    require(ok, name, value, f"an integer >= {minimum}")


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
