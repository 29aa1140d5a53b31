"""The command ``python -m assocmem score``."""

import argparse
import importlib.util
import json
import math
import sys
from pathlib import Path

from assocmem.capacity.command import whole
from assocmem.checks import UsageError, nearest

LARGEST = 10_000
"""Pairs of an instance at most: some minutes for a rule that is not slow."""


def add_parsers(commands: argparse._SubParsersAction) -> None:
    """Add the command to the subparsers of the command line."""
    parser = commands.add_parser(
        "score",
        help="how few dimensions a write rule of your own can do with, beside known ones",
        description="Puts a rule that writes a memory on the ladder of the book: from how many dimensions "
        "on it retrieves all pairs of public instances, and what it retrieves with fewer. The rule is a "
        "function write(U, V) that takes targets and keys, the columns of float64 tensors of shape (d, n), "
        "and returns a memory W of shape (d, d): target i should have the largest of the scores "
        "U.T @ W @ V[:, i]. FILE is executed.",
    )
    parser.add_argument("rule", metavar="FILE.py:FUNCTION", help="the rule; or the name of one in the book")
    parser.add_argument(
        "--pairs", metavar="N", nargs="+", default=["300"], help="numbers of pairs (default: 300)"
    )
    parser.add_argument(
        "--instances", metavar="N", default="4", help="instances of each (default: %(default)s)"
    )
    parser.add_argument("--out", metavar="FILE.json", help="where to write the numbers as well")
    parser.set_defaults(command=_score)


def _score(options):
    sizes = [whole("--pairs", text, 3, LARGEST) for text in options.pairs]
    instances = whole("--instances", options.instances, 1, 1000)
    from assocmem.files import require_writable, write_whole

    if options.out is not None:
        try:
            require_writable("--out", options.out)
        except ValueError as error:
            raise UsageError(str(error)) from None
    name, write = _rule(options.rule)
    from assocmem.capacity.scoring import RuleError, score_rule

    scores = []
    for n in sizes:
        try:
            scores.append(score_rule(write, n, instances=instances))
        except RuleError as error:
            raise UsageError(f"{options.rule}: {error}") from error
        for line in _lines(name, scores[-1]):
            print(line, flush=True)
        if options.out is not None:
            write_whole(Path(options.out), json.dumps([_plain(name, x) for x in scores], indent=1) + "\n")
    return 0


def _rule(given):
    """Name and function of a rule: one of the book's, or of a file."""
    from assocmem.experiments.ladder.rules import RULES

    if given in RULES:
        from assocmem.pairs.data import Pairs

        return given, lambda U, V: RULES[given].write(Pairs(U, V))
    path, _, function = given.rpartition(":")
    if not path.endswith(".py"):
        raise UsageError(f"{given}: must be FILE.py:FUNCTION, or a rule of the book{nearest(given, RULES)}")
    if not Path(path).is_file():
        raise UsageError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location("scored_rule", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(Path(path).absolute().parent))  # for what stands beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path}: {type(error).__name__}: {' '.join(str(error).split())}") from error
    write = getattr(module, function, None)
    if not callable(write):
        raise UsageError(f"{path}: has no function {function}")
    return function, write


def _lines(name, score):
    """What is said of a rule at one number of pairs: its own numbers, and its place among the others."""
    from assocmem.capacity.scoring import ANY_MEMORY, BITS, NOISE, ladder
    from assocmem.experiments.ladder.rules import RULES

    count = len(score.dimensions)
    yield f"{name}, {score.n} pairs, {count} instance{'s' if count > 1 else ''}"
    dimensions = ", ".join("none" if d is None else str(d) for d in score.dimensions)
    yield f"  retrieves all pairs from these dimensions on: {dimensions}"
    shares = ", ".join(f"{100 * share:.3g} % at {ratio:g}" for ratio, share in score.shares.items())
    yield f"  share retrieved, by d^2/(n log n): {shares}"
    yield (
        f"  left at {max(score.shares):g}: {100 * score.noisy:.3g} % with noise of spread {NOISE:g} "
        f"on queries, {100 * score.rounded:.3g} % with entries of {BITS} bits"
    )
    yield f"  {score.seconds:.2g} s to write the largest of these memories"
    if score.ratio is None:
        yield "  no place on the ladder: on some instance it fails in all dimensions that were tried"
        return
    rows = [(rung.ratio, rung.error, rung.rule) for rung in ladder(score.n)]
    rows.append((score.ratio, score.error, None))
    yield "  the ladder: d^2/(n log n) from which all pairs are retrieved, mean over instances"
    for ratio, error, rule in sorted(rows, key=lambda row: row[0]):
        label = name if rule is None else "any memory, proved" if rule == ANY_MEMORY else RULES[rule].label
        bar = "       " if math.isnan(error) else f"+- {error:4.2f}"
        yield f"  {'>' if rule is None else ' '} {ratio:6.2f} {bar}  {label}"


def _plain(name, score):
    """A score for a file."""
    return {
        "rule": name,
        "n": score.n,
        "dimensions": list(score.dimensions),
        "ratio": score.ratio,
        "error": score.error,
        "shares": {f"{ratio:g}": share for ratio, share in score.shares.items()},
        "noisy": score.noisy,
        "rounded": score.rounded,
        "seconds": score.seconds,
    }
