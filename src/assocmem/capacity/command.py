"""The command ``python -m assocmem capacity``."""

import argparse
import sys
import time
from pathlib import Path

from assocmem.checks import UsageError
from assocmem.processes import INTERRUPTED, ends_when_asked
from assocmem.progress import duration

GRACE_SECONDS = 15
"""Time in which the command has to write what is known after a signal; chosen by judgement."""
FEWEST_PASSES, MOST_PASSES = 30, 300
"""Passes over the scores that a verdict takes, away from the transition and next to it."""
TRIAL_COLUMNS = 256
"""Keys whose scores are computed to see how long a pass takes."""


def add_parsers(commands: argparse._SubParsersAction) -> None:
    """Add the command to the subparsers of the command line."""
    parser = commands.add_parser(
        "capacity",
        help="what any matrix can do for your keys and targets, with proofs",
        description="Is there a matrix W that gives each key its answer, in first place of all targets? "
        "A verdict with a proof, a forecast, which facts are in each other's way, and what memories retrieve "
        "that are written down. Files: .npy, .npz, .safetensors (FILE:NAME for one array of several), or "
        "text with a line 'word x1 x2 ...' for each vector. Vectors are rows.",
    )
    parser.add_argument("keys", metavar="KEYS", help="file of key vectors")
    parser.add_argument("targets", metavar="TARGETS", help="file of target vectors; may be the same")
    parser.add_argument(
        "--answers",
        metavar="FILE",
        help="the answer to each key, or a key and its answer on each line: positions from 0, or names "
        "(default: key i has target i)",
    )
    parser.add_argument(
        "--top",
        metavar="K",
        default="1",
        help="ask that answers beat the average of their K best competitors (default: %(default)s)",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder for the report (default: capacity, or capacity-2, ...)"
    )
    parser.add_argument(
        "--key-names", metavar="FILE", help="names of keys, one a line (of targets, too, if TARGETS is KEYS)"
    )
    parser.add_argument("--target-names", metavar="FILE", help="names of targets, one a line")
    parser.add_argument("--columns", action="store_true", help="vectors are the columns of arrays")
    parser.add_argument(
        "--one-answer", action="store_true", help="where a key has several answers, keep the first"
    )
    parser.add_argument(
        "--decisions",
        metavar="N",
        default="30",
        help="sets of facts to decide at most, to find a small impossible one (%(default)s)",
    )
    parser.set_defaults(command=_capacity)


def _capacity(options):
    started = time.monotonic()
    with ends_when_asked(GRACE_SECONDS):
        decisions = whole("--decisions", options.decisions, 0)
        top = whole("--top", options.top, 1)
        folder = _folder(options.out)
        from assocmem.capacity.named_facts import read_facts

        named = read_facts(
            options.keys,
            options.targets,
            options.answers,
            key_names=options.key_names,
            target_names=options.target_names,
            columns=options.columns,
            one_answer=options.one_answer,
        )
        most = named.facts.m - 1
        if top > most:
            raise UsageError(f"--top {top}: must be at most {most}, since there are {most + 1} targets")
        return _examined(named, top, decisions, folder, started)


def _examined(named, top, decisions, folder, started):
    """Make the report, and write it whatever ends the work."""
    from assocmem.capacity.examine import begin_report, fill_report

    report, told = None, set()
    try:
        facts = named.facts
        report, called = begin_report(
            facts, k=top, key_names=named.key_names, target_names=named.target_names
        )
        report.sources = named.sources
        for line in _beforehand(facts, report):
            _print(line)
        report.write(folder)
        try:
            fill_report(report, facts, called, decisions=decisions, keep=lambda: _keep(report, folder, told))
        except Exception:
            report.write(folder)
            raise
    except KeyboardInterrupt:
        if report is None:
            raise
        _say(report, folder, told, started)
        print(f"assocmem: interrupted during {report.stage!r}; what is known is kept", file=sys.stderr)
        return INTERRUPTED
    except UsageError:
        raise
    except ValueError as error:  # sizes for which there is not enough memory
        raise UsageError(str(error)) from None
    _say(report, folder, told, started)
    return 0


def _beforehand(facts, report):
    """What there is, what it takes, and what may be a mistake."""
    s = report.sizes
    yield (
        f"{s.facts} facts: {s.keys} different keys in {s.d_in} dimensions, {s.targets} targets in {s.d_out}, "
        f"{s.answers} of them answers"
    )
    from assocmem.machine import GIB

    low, high = (count * _seconds_of_a_pass(facts) for count in (FEWEST_PASSES, MOST_PASSES))
    time_of_verdict = (
        "a second or two" if high < 2 else f"{duration(round(low) or 1)} to {duration(round(high))}"
    )
    yield (
        f"about {_bytes(facts) / GIB:.1g} GiB of memory; the verdict takes about {time_of_verdict}, all the "
        "rest up to fifty times as long (Ctrl-C keeps what is known)"
    )
    if facts.n < facts.d_in and facts.m < facts.d_out:
        yield (
            "note: fewer vectors than dimensions; if vectors are the columns of your arrays, use --columns"
        )
    for note in report.notes:
        yield f"note: {note}"


def _bytes(facts):
    """Bytes that the work takes at its peak, roughly."""
    from assocmem.pairs.sizes import BLOCK_BYTES, RUNTIME_BYTES

    vectors, entries = facts.m * facts.d_out + facts.n * facts.d_in, facts.d_out * facts.d_in
    weights = min(3 * 8 * facts.m * facts.n, 3 * 2**29)
    return RUNTIME_BYTES + 8 * (16 * vectors + 200 * entries) + 6 * BLOCK_BYTES + weights


def _seconds_of_a_pass(facts):
    """Time of a pass over the scores, from one over a few of them."""
    import torch

    W = torch.zeros(facts.d_out, facts.d_in, dtype=facts.U.dtype)
    few = facts.V[:, :TRIAL_COLUMNS]
    times = []
    for _ in range(2):
        started = time.perf_counter()
        S = facts.U.T @ (W @ few)
        (facts.U @ S.exp()) @ few.T
        times.append(time.perf_counter() - started)
    return min(times) * facts.n / few.shape[1]


def _keep(report, folder, told):
    """Write what is known, and say what is new."""
    report.write(folder)
    for line in report.lines():
        if line not in told:
            told.add(line)
            _print(line)


def _say(report, folder, told, started):
    _keep(report, folder, told)
    state = "written" if report.finished else "partial"
    _print(f"{folder / 'report.html'}: {state} after {duration(time.monotonic() - started)}")


def _print(line):
    """Print a line; on a terminal above those that say how things stand."""
    if sys.stdout is not None and sys.stdout.isatty():
        from tqdm import tqdm

        tqdm.write(line)
        sys.stdout.flush()
    else:
        print(line, flush=True)


def whole(name: str, text: str, least: int, most: int | None = None) -> int:
    """An integer of the command line.

    Parameters
    ----------
    name : str
        The option.
    text : str
        What was given for it.
    least : int
    most : int, optional
        The largest that is allowed; without one a thousand million, which no message mentions.

    Returns
    -------
    int

    Raises
    ------
    UsageError
        For another text.
    """
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= (10**9 if most is None else most):
        allowed = f">= {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name} {text}: must be an integer {allowed}")
    return value


def _folder(given):
    """The folder for the report, checked before any work; by default the first free one of some names."""
    if given == "":
        raise UsageError("--out '': must be a path, not empty")
    if given is None:
        folder, count = Path("capacity"), 2
        while folder.exists():
            folder, count = Path(f"capacity-{count}"), count + 1
        given = folder
    folder = Path(given)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {given}: must be a folder, unlike what is there")
    return folder
