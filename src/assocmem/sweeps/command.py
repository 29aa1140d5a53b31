"""The command ``python -m assocmem sweep``."""

import argparse
import ast
import contextlib
import math
import sys
import time
from functools import partial
from pathlib import Path

from assocmem.checks import UsageError
from assocmem.processes import ends_when_asked
from assocmem.sweeps.parameters import integer, number

GRACE_SECONDS = 15
"""Time in which a command has to end after a signal; a cluster says goodbye in five. Chosen by judgement."""


def add_parsers(commands: argparse._SubParsersAction) -> None:
    """Add the command and its verbs to the subparsers of the command line."""
    sweep = commands.add_parser("sweep", help="many points, from a sweep file: run, status, export, ...")
    verbs = sweep.add_subparsers(required=True, metavar="VERB")

    run = _verb(verbs, "run", _run, "compute the points that have no result yet")
    run.add_argument("--workers", type=integer, default=0, metavar="N", help="processes on this machine")
    run.add_argument(
        "--threads", type=integer, metavar="N", help="threads of each (default: cores shared out)"
    )
    run.add_argument("--scheduler", metavar="ADDRESS", help="a running Dask scheduler, tcp://...")
    run.add_argument("--scheduler-file", metavar="FILE", help="the same, by the file it has written")
    run.add_argument("--most", type=number, default=math.inf, metavar="SECONDS", help="then begin no other")
    run.add_argument(
        "--into", metavar="FOLDER", help="put results there, to be merged (default: beside FILE)"
    )
    run.add_argument("--retry", action="store_true", help="try failed points again")

    status = _verb(verbs, "status", _status, "how far it is; exit code 1 unless complete")
    status.add_argument("--failures", action="store_true", help="show tracebacks")

    export = _verb(verbs, "export", _export, "write rows and their record beside FILE")
    export.add_argument("--out", metavar="PATH", help="another .csv to write")

    merge = _verb(verbs, "merge", _merge, "take over results from other stores", several=False)
    merge.add_argument("sources", nargs="+", metavar="SOURCE", help="store, or folder with stores")

    confirm = _verb(
        verbs, "confirm", _confirm, "compute a few rows of older code again; if they agree, all count"
    )
    confirm.add_argument("--rows", type=integer, default=5, metavar="N", help="of each version (%(default)s)")
    confirm.add_argument("--workers", type=integer, default=0, metavar="N", help="processes on this machine")

    verbs.add_parser("points", help="list the point functions").set_defaults(command=_points)


def _verb(verbs, name, command, text, *, several=True):
    parser = verbs.add_parser(name, help=text)
    parser.add_argument("files", nargs="+" if several else 1, metavar="FILE", help="sweep file, YAML")
    parser.set_defaults(command=partial(_guarded, command))
    return parser


def _guarded(command, options):
    """A store that cannot be written ends the command with one line."""
    from assocmem.sweeps.store import StoreError

    try:
        with ends_when_asked(GRACE_SECONDS):
            return command(options)
    except StoreError as error:
        print(f"assocmem: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 1


def _sweeps(options):
    from assocmem.sweeps.sweep_file import read_sweep

    return [read_sweep(path) for path in options.files]


def _run(options):
    from assocmem.sweeps.run import into, run

    _require_path("--into", options.into)
    if not options.most >= 0:
        raise UsageError(f"--most {options.most}: must be a number >= 0")
    _require_at_least(0, options, "workers")
    _require_at_least(1, options, "threads")
    for name in ("scheduler", "scheduler_file"):
        if getattr(options, name) == "":  # most likely a variable of the shell that is not set
            raise UsageError(f"--{name.replace('_', '-')}: must not be empty; leave it out to compute here")
    chosen = [name for name in ("workers", "scheduler", "scheduler_file") if getattr(options, name)]
    if len(chosen) > 1 or (options.threads and chosen != ["workers"]):
        raise UsageError("one of --workers, --scheduler and --scheduler-file; --threads goes with --workers")
    sweeps, codes, deadline = _sweeps(options), [], time.monotonic() + options.most
    with _engine(options.workers, options.threads, options.scheduler, options.scheduler_file) as engine:
        for sweep in sweeps:
            codes.append(
                run(
                    sweep,
                    engine,
                    store=into(sweep, Path(options.into).absolute()) if options.into else None,
                    most=deadline - time.monotonic(),
                    retry=options.retry,
                    shared_disk=not options.scheduler and not options.scheduler_file,
                    say=_say,
                )
            )
    return 1 if 1 in codes else max(codes)


def _status(options):
    from assocmem.sweeps.picture import shown_in
    from assocmem.sweeps.run import status

    found = [status(sweep, failures=options.failures) for sweep in _sweeps(options)]
    text = "\n\n".join("\n".join(lines) for lines, _ in found)
    print(shown_in(getattr(sys.stdout, "encoding", None), text))
    return 0 if all(complete for _, complete in found) else 1


def _export(options):
    from assocmem.sweeps.export import export

    sweeps = _sweeps(options)
    _require_path("--out", options.out)
    if options.out and len(sweeps) > 1:
        raise UsageError("--out: one FILE only")
    if options.out and not options.out.endswith(".csv"):
        raise UsageError(f"--out {options.out}: must end in .csv")
    for sweep in sweeps:
        path, rows, missing = export(sweep, options.out)
        print(f"{path}: {rows} rows" + (f", {missing} missing" if missing else ""))


def _merge(options):
    from assocmem.sweeps.compare import AGREE, merge

    for source in options.sources:
        _require_path("SOURCE", source)
    (sweep,) = _sweeps(options)
    found = merge(sweep, *options.sources)
    print(f"{sweep.path.stem}: {found.added} results taken over", end="")
    print(
        f", {found.shared} were known, differences up to {found.difference:.1e}" if found.shared else "",
        end="",
    )
    print(f", {found.foreign} not asked for by {sweep.path.name}" if found.foreign else "")
    if found.difference > AGREE:
        print("assocmem: the two disagree; what was here is kept", file=sys.stderr)
        return 1
    return 0


def _confirm(options):
    from assocmem.sweeps.compare import confirm

    _require_at_least(1, options, "rows")
    _require_at_least(0, options, "workers")
    sweeps = _sweeps(options)
    with _engine(options.workers) as engine:
        return 0 if confirm(sweeps, engine, rows=options.rows, say=_say) else 1


@contextlib.contextmanager
def _engine(count, threads=None, address=None, scheduler_file=None):
    """What computes: processes on this machine, a cluster that is there already, or else this process."""
    from assocmem.sweeps import workers

    if count:
        with workers.local_cluster(count, threads) as client:
            yield partial(workers.on_cluster, client)
    elif address or scheduler_file:
        with workers.remote_cluster(address, scheduler_file) as client:
            yield partial(workers.on_cluster, client)
    else:
        yield workers.in_process


def _require_at_least(least, options, name):
    """Refuse a number of the command line that is too small."""
    value = getattr(options, name)
    if value is not None and value < least:
        raise UsageError(f"--{name} {value}: must be an integer >= {least}")


def _points(options):
    from assocmem.experiments.points import REGISTERED
    from assocmem.sweeps.point_functions import point_function

    for function in REGISTERED:
        described = point_function(function.__name__)
        # From its source, since there are no docstrings under python -OO.
        meaning = ast.get_docstring(ast.parse(described.text).body[0]) or ""
        print(f"{function.__name__}: {' '.join(meaning.split())}")
        for name, parameter in described.parameters.items():
            needed = name in described.required
            default = "" if needed else f", default {parameter.default!r}"
            print(f"    {name:16} {parameter.meaning}, {parameter.range_text}{default}")
    print("section:NAME: a section of the book, with its parameters and `profile`; a column for each check")
    print("MODULE:FUNCTION: a function of your own")


def _say(line):
    print(line, flush=True)


def _require_path(name, path):
    """An empty path comes from a variable that is not set, and does not mean the folder at hand."""
    if path == "":
        raise UsageError(f"{name} '': must be a path, not empty")
