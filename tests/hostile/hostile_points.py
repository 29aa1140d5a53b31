"""A point function that misbehaves in every way that its parameter names; see `test_hostile_points`."""

import asyncio
import enum
import os
import signal
import sys
import warnings
from typing import Annotated

import numpy as np


class Abrupt(BaseException):
    pass


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Silent(Exception):
    def __str__(self):
        return None  # noqa: PLE0307

    __repr__ = __str__


class Killing(Exception):
    def __str__(self):
        raise Abrupt

    __repr__ = __str__


class Word(str):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __format__ = __len__ = __hash__ = __str__


class Name(str):
    __slots__ = ()


class Number(float):
    def __repr__(self):
        raise RuntimeError("no text")

    __str__ = __float__ = __repr__


class Whole(int):
    def __repr__(self):
        raise RuntimeError("no text")

    __str__ = __int__ = __index__ = __repr__


class Colour(enum.IntEnum):
    RED = 3


class Kind(enum.StrEnum):
    RED = "red"


class Shy:
    def __repr__(self):
        raise Abrupt


class Item:
    @property
    def item(self):
        raise Abrupt


class Strange(dict):
    def items(self):
        raise Abrupt


def raises(error):
    def function():
        raise error

    return function


def deep(levels):
    return deep(levels + 1) + 1


def ping(levels):
    return pong(levels + 1) + 1


def pong(levels):
    return ping(levels + 1) + 1


def recursive():
    row = {}
    row["c"] = row
    return row


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def chained():
    try:
        raise ValueError("first")
    except ValueError:
        raise Mute from Silent()


def grouped():
    raise BaseExceptionGroup("several", [Abrupt(), Mute(), KeyboardInterrupt()])


async def later():
    return {"c": 1}


def coroutine():
    call = later()
    call.close()
    return call


def named():
    raise type("Two\nlines \ud800 \x1b[31m", (Exception,), {})("x")


def cancelled():
    raise asyncio.CancelledError


def generated():
    yield {"c": 1}


def warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.warn("a warning", stacklevel=1)


FAIL = {
    "no_text": raises(ValueError()),
    "empty_text": raises(ValueError("")),
    "blank_text": raises(ValueError(" \n\t ")),
    "mute": raises(Mute()),
    "silent": raises(Silent()),
    "killing_text": raises(Killing()),
    "base": raises(Abrupt("base")),
    "interrupt": raises(KeyboardInterrupt()),
    "exit": raises(SystemExit()),
    "exit_text": raises(SystemExit("bye\nbye")),
    "sys_exit": lambda: sys.exit(0),
    "generator_exit": raises(GeneratorExit()),
    "stop": raises(StopIteration()),
    "stop_async": raises(StopAsyncIteration()),
    "cancelled": cancelled,
    "memory": raises(MemoryError()),
    "broken_pipe": raises(BrokenPipeError()),
    "timeout": raises(TimeoutError()),
    "group": grouped,
    "chained": chained,
    "class_name": named,
    "surrogate_text": raises(ValueError("a lone \ud800 half")),
    "control_text": raises(ValueError("\x1b[31m red \x00 nul \r return")),
    "huge_text": raises(ValueError("x" * 10**7)),
    "recursion": lambda: deep(0),
    "two_recursions": lambda: ping(0),
    "warning": warns,
    "syntax": lambda: compile("a b\ud800", "x", "exec"),
    "division": lambda: 1 / 0,
    "none": lambda: None,
    "list": lambda: [1],
    "empty": dict,
    "text": lambda: "c: 1",
    "generator": generated,
    "coroutine": coroutine,
    "class": lambda: dict,
    "shy": Shy,
    "shy_column": lambda: {"c": Shy()},
    "item": lambda: {"c": Item()},
    "strange": lambda: Strange(c=1),
    "huge_integer": lambda: {"c": 10**5000},
    "huge_negative": lambda: {"c": -(10**400)},
    "beyond_floats": lambda: {"c": 2**1024},
    "huge_word": lambda: {"c": "x" * 10**6},
    "surrogate_word": lambda: {"c": "a \ud800"},
    "nul_word": lambda: {"c": "a\x00b"},
    "return_word": lambda: {"c": "a\rb"},
    "lines_word": lambda: {"c": "a\nb"},
    "number_word": lambda: {"c": " 12 "},
    "underscore_word": lambda: {"c": "1_0"},
    "wide_digits": lambda: {"c": "２"},
    "nested": lambda: {"c": nested(10)},
    "deeply_nested": lambda: {"c": nested(10**5)},
    "recursive": recursive,
    "mapping": lambda: {"c": {"d": 1}},
    "tuple": lambda: {"c": (1, 2)},
    "set": lambda: {"c": {1}},
    "bytes": lambda: {"c": b"1"},
    "complex": lambda: {"c": 1j},
    "array": lambda: {"c": np.zeros(3)},
    "huge_array": lambda: {"c": np.zeros(10**6)},
    "date": lambda: {"c": np.datetime64("2020-01-01")},
    "long_double": lambda: {"c": np.longdouble(1) / 3},
    "numpy_complex": lambda: {"c": np.complex64(1)},
    "function": lambda: {"c": print},
    "numbered_column": lambda: {1: 1},
    "no_name": lambda: {None: 1},
    "empty_name": lambda: {"": 1},
    "taken_name": lambda: {"kind": 1},
    "seconds": lambda: {"seconds": 1},
    "origin": lambda: {"origin": 1},
    "surrogate_name": lambda: {"\ud800": 1},
    "nul_name": lambda: {"a\x00": 1},
    "return_name": lambda: {"a\rb": 1},
    "huge_name": lambda: {"x" * 10**6: 1},
}
"""What has to come out as a failed point."""

ROWS = {
    "nan": (lambda: {"c": float("nan")}, None),
    "infinite": (lambda: {"c": float("-inf")}, float("-inf")),
    "nothing": (lambda: {"c": None}, None),
    "true": (lambda: {"c": True}, 1),
    "numpy_true": (lambda: {"c": np.bool_(True)}, 1),
    "numpy_integer": (lambda: {"c": np.int8(-3)}, -3),
    "numpy_unsigned": (lambda: {"c": np.uint64(2**64 - 1)}, 2**64 - 1),
    "numpy_half": (lambda: {"c": np.float16(0.5)}, 0.5),
    "numpy_nan": (lambda: {"c": np.float32("nan")}, None),
    "numpy_word": (lambda: {"c": np.str_("word")}, "word"),
    "one_item": (lambda: {"c": np.array([[2.5]])}, 2.5),
    "big_endian": (lambda: {"c": np.array(3, dtype=">i4")}, 3),
    "large": (lambda: {"c": 10**300}, 10**300),
    "tiny": (lambda: {"c": 5e-324}, 5e-324),
    "colour": (lambda: {"c": Colour.RED}, 3),
    "kind": (lambda: {"c": Kind.RED}, "red"),
    "word_class": (lambda: {"c": Word("hello")}, "hello"),
    "number_class": (lambda: {"c": Number(0.25)}, 0.25),
    "whole_class": (lambda: {"c": Whole(7)}, 7),
    "name_class": (lambda: {Name("c"): 1}, 1),
    "quotes": (lambda: {"c": 'say "a, b"; é λ 😀'}, 'say "a, b"; é λ 😀'),
    "long_word": (lambda: {"c": "é" * 10**5}, "é" * 10**5),
}
"""What has to come out as a row, with the entry that the table has."""


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(0)


DIE = {"kill": kill, "leave": leave, "abort": os.abort}
"""What ends the process, of which only another process can tell."""


def hostile(
    kind: Annotated[str, "what to do; any"],
    a: Annotated[int, "which; [0, 1000000]"] = 0,
):
    if kind == "good":
        return {"c": a + 0.5}
    if kind in ROWS:
        return ROWS[kind][0]()
    return (FAIL | DIE)[kind]()
