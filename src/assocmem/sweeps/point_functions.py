"""Point functions by their names in sweep files: those of this package, of a plugin, of one's own.

A plugin has a name and a colon before the name of its function, as in ``section:scalar_theory``. It is an
entry point of the group `GROUP`, a function that takes the whole name and returns what `PointFunction`
describes, so that the sweep engine need not know the book.
"""

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import get_type_hints

from assocmem.checks import UsageError, nearest
from assocmem.experiments.points import REGISTERED, RELATIONS
from assocmem.sweeps.fingerprints import fingerprint, function_source, neighbours
from assocmem.sweeps.parameters import LONGEST, Parameter, parse_range, short, text_of

GROUP = "assocmem.point_functions"
"""Entry points that make point functions from names with their prefix."""


@dataclass(frozen=True)
class PointFunction:
    """A point function with what is known about it.

    Attributes
    ----------
    name : str
        As in a sweep file.
    call : callable
        The function itself.
    parameters : dict of str to Parameter
        In the order of the columns.
    required : frozenset of str
        Those without a default.
    context : frozenset of str
        Which of ``device`` and ``checkpoint`` it takes.
    text : str
        Its source; for a function of one's own that of its module, and of those beside it that it imports.
    relations : callable, optional
        A function of all parameters, which lists names, whether their values go together, and what would do.
    """

    name: str
    call: Callable
    parameters: dict[str, Parameter]
    required: frozenset[str]
    context: frozenset[str]
    text: str
    relations: Callable[..., list[tuple[str, bool, str]]] | None = None

    @property
    def code(self) -> str:
        """Fingerprint of the function and of all of this package that it imports."""
        return fingerprint(self.text)

    def convert(self, settings: dict) -> dict:
        """Values of all parameters from numbers, words or strings, by name.

        Raises
        ------
        UsageError
            For an unknown or missing name, a wrong type, a value out of range, or values that do not go
            together.
        """
        for name in settings:
            if name not in self.parameters:
                near = nearest(name[:LONGEST], self.parameters)
                raise UsageError(f"{self.name}: unknown parameter {short(repr(name))}{near}")
        missing = [name for name in self.required if name not in settings]
        if missing:
            raise UsageError(f"{self.name}: no value for {', '.join(sorted(missing))}")
        values = {
            name: parameter.convert(settings[name]) if name in settings else parameter.default
            for name, parameter in self.parameters.items()
        }
        for name, ok, allowed in self.relations(**values) if self.relations else []:
            if not ok:
                raise UsageError(f"{self.name}: {name} = {short(values[name])}: must be {allowed}")
        return values


def point_function(name: str) -> PointFunction:
    """The point function of a name.

    Parameters
    ----------
    name : str
        A registered one, ``section:NAME``, or ``MODULE:FUNCTION`` for one of the user's own.

    Returns
    -------
    PointFunction

    Raises
    ------
    UsageError
        If there is no such function, or it is not annotated as a point function must be.
    """
    known = _registered()
    if name in known:
        call = known[name]
        hints = get_type_hints(call, include_extras=True)
        described = _described(name, call, function_source(name), inspect.signature(call), hints)
        return replace(described, relations=RELATIONS.get(name))
    module, _, function = name.partition(":")
    plugins = entry_points(group=GROUP, name=module)
    if plugins:
        try:
            make = next(iter(plugins)).load()
        except ImportError as error:
            raise UsageError(f"point function {name!r}: not installed in full ({text_of(error)})") from None
        return make(name)
    if not module or not function:
        kinds = "or section:NAME, or MODULE:FUNCTION"
        near = nearest(name[:LONGEST], known)
        raise UsageError(f"unknown point function {short(repr(name))}{near}; {kinds}")
    try:
        call = getattr(importlib.import_module(module), function)
        file = Path(sys.modules[call.__module__].__file__)
        texts = [path.read_text(encoding="utf-8") for path in (file, *neighbours(file))]
        signature, hints = inspect.signature(call), get_type_hints(call, include_extras=True)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a module does when it is imported
        line = f"{type(error).__name__}: {text_of(error)}"
        raise UsageError(f"cannot load the point function {short(repr(name))}: {line}") from None
    return _described(name, call, "\n".join(texts), signature, hints)


def _registered():
    return {function.__name__: function for function in REGISTERED}


def _described(name, call, text, signature, hints):
    parameters, required, context = {}, set(), set()
    for key, argument in signature.parameters.items():
        if argument.kind not in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY):
            raise UsageError(f"{name}: parameter {key!r} must be one that can be given by its name")
        if key in ("device", "checkpoint") and not hasattr(hints.get(key), "__metadata__"):
            context.add(key)
            continue
        given = argument.default is not argument.empty
        try:
            kind, note = hints[key].__origin__, hints[key].__metadata__[0]
            if kind not in (int, float, bool, str):
                raise TypeError
            meaning, _, allowed = note.rpartition(";")
            parameter = Parameter(key, kind(), meaning.strip(), parse_range(allowed.strip()))
        except (KeyError, AttributeError, ValueError, TypeError):
            kinds = "Annotated[int, float, str or bool, 'meaning; range']"
            raise UsageError(f"{name}: parameter {key!r} must be annotated as {kinds}") from None
        if given:
            parameter = replace(parameter, default=parameter.convert(argument.default))
        parameters[key] = parameter
        required |= set() if given else {key}
    return PointFunction(name, call, parameters, frozenset(required), frozenset(context), text)
