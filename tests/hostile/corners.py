"""Corners of the ranges of parameters, and a program that executes sections there.

As a program it reads settings of one section, a JSON object a line, executes the cells of the section with
each of them in this process, over the profile ``smoke``, and writes a line of JSON for each: the settings,
what happened, and the checks that surprised.
"""

import ast
import contextlib
import io
import json
import os
import random
import signal
import sys

from assocmem.checks import UsageError
from assocmem.sweeps.parameters import Interval, Parameter

OPEN = 1e-3
"""Distance from an end that does not belong to a range, over the length of the range where that is finite."""
GROWTH = 2
"""How many times its size under the profile a count is made: an end of a million would only take time."""
LIMIT = 15
"""Seconds of a processor after which an execution is given up, and says nothing."""
REFUSED, SUCCESS, LATE = "refused: ", "success", "given up after the time allowed"


def ends(parameter: Parameter, base: object) -> list:
    """A value at the lower end of a parameter's range, and one at the upper end, or a modest large one."""
    allowed = parameter.allowed
    if not isinstance(allowed, Interval):
        return []
    largest = max(base) if isinstance(base, list) else base
    if parameter.item_type is int:
        low = -int(-allowed.low // 1) + (not allowed.closed[0])
        high = int(min(allowed.high, max(GROWTH * largest, allowed.low + 1)))
        return [low, high - (not allowed.closed[1] and high == allowed.high)]
    finite = allowed.high < float("inf")
    inwards = OPEN * (allowed.high - allowed.low if finite else 1)
    low = allowed.low + (0 if allowed.closed[0] else inwards)
    high = allowed.high - (0 if allowed.closed[1] else inwards) if finite else 10.0 * largest
    return [low, high]


def corners(parameters: dict[str, Parameter], base: dict, pairs: int, seed: int) -> list[dict]:
    """Settings with one parameter at an end of its range, and seeded random pairs of such.

    Parameters
    ----------
    parameters : dict of str to Parameter
    base : dict
        The other values, of which a list keeps all but its first item.
    pairs : int
        How many pairs of corners.
    seed : int

    Returns
    -------
    list of dict
    """
    single = []
    for name, parameter in parameters.items():
        for end in ends(parameter, base[name]):
            values = [[end], [end, *base[name][1:]]] if parameter.is_list else [end]
            single += [{name: value} for value in values if value != base[name]]
    rng = random.Random(seed)
    doubles = []
    while len(doubles) < pairs:
        first, second = rng.sample(single, 2)
        if first.keys() != second.keys():
            doubles.append(first | second)
    return single + doubles


def execute(section, values: dict) -> list[str]:
    """Execute the cells of a section as a kernel would, and look at what each shows.

    Parameters
    ----------
    section : assocmem.book.sections.Section
    values : dict
        A value for every parameter.

    Returns
    -------
    list of str
        What `assocmem.book.claims.surprises` says of its checks.
    """
    from assocmem.book.claims import Check, surprises

    space, checks = {"__name__": "__main__"}, []
    for number, (header, source) in enumerate(section.cells, 1):
        if "[markdown]" in header:
            continue
        tree, place = ast.parse(source), f"{section.name}, cell {number}"
        last = tree.body.pop().value if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, place, "exec"), space)
        shown = eval(compile(ast.Expression(last), place, "eval"), space) if last else None
        if '"parameters"' in header:
            space |= values
        checks += [shown] if isinstance(shown, Check) else []
        for method in ("_repr_mimebundle_", "_repr_html_"):
            if hasattr(shown, method):
                getattr(shown, method)()
        if hasattr(shown, "savefig"):
            shown.savefig(io.BytesIO(), bbox_inches="tight")
    return surprises(checks)


def outcome(section, settings: dict) -> tuple[str, list[str]]:
    """What comes of a section with settings over its profile ``smoke``, and what surprised.

    Parameters
    ----------
    section : assocmem.book.sections.Section
    settings : dict

    Returns
    -------
    what : str
        `SUCCESS`, a refusal, `LATE`, or an error that should not have come.
    surprises : list of str
    """
    import matplotlib.pyplot as plt

    from assocmem.book.runner import require_possible
    from assocmem.book.sections import load_profile, resolve

    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        values = resolve(section, load_profile("smoke", section), settings)
        require_possible(section, values)
        with contextlib.redirect_stdout(io.StringIO()):
            return SUCCESS, execute(section, values)
    except UsageError as error:
        return f"{REFUSED}{error}", []
    except TimeoutError:
        return LATE, []
    except Exception as error:
        return f"{type(error).__name__}: {error} ({_place(error, section)})", []
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        plt.close("all")


def _place(error, section):
    """The cell in which an error came."""
    trace = error.__traceback__
    while trace and not trace.tb_frame.f_code.co_filename.startswith(section.name):
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename if trace else "before any cell"


def give_up(*_) -> None:
    """End what runs: the handler of the timer."""
    raise TimeoutError


def main() -> None:
    """Read settings of the section that is named, and write what comes of them."""
    os.environ["MPLBACKEND"] = "agg"
    from assocmem.book.sections import load_section

    signal.signal(signal.SIGPROF, give_up)
    section = load_section(sys.argv[1])
    for line in sys.stdin:
        settings = json.loads(line)
        what, surprised = outcome(section, settings)
        print(json.dumps({"settings": settings, "what": what, "surprises": surprised}), flush=True)


if __name__ == "__main__":
    main()
