"""Command line: run a section with parameters, list what there is, sweep, build the book."""

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from assocmem.checks import UsageError


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``assocmem`` and of ``python -m assocmem``.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words of the command line, by default those the process was started with.

    Returns
    -------
    int
        0 for success, 1 if something failed, 2 for a request that makes no sense, 3 for a sweep that stopped
        before its end.
    """
    try:
        options = _parser().parse_args(arguments)
        code = options.command(options) or 0
        sys.stdout.flush()  # here, where it is told what prevents it
        return code
    except UsageError as error:
        print(f"assocmem: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads our output has seen enough
        _drop_output()
        return 1
    except OSError as error:  # a full disk, a folder that cannot be written, a file that is gone
        _drop_output()
        place = error.filename or "a file, or the output of this command"
        print(f"assocmem: {place}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("assocmem: interrupted; nothing half-written is left", file=sys.stderr)
        return 130


def _drop_output():
    """Nothing more can be written to where the output goes, or nothing that is in its buffer matters."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser():
    parser = _OneLineParser(prog="python -m assocmem", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    if find_spec("papermill"):
        from assocmem.book.command import add_parsers as add_book

        add_book(commands)
    else:
        _name_missing(commands, "book", "run", "list", "params", "build", "pdf")
    if find_spec("yaml"):
        from assocmem.sweeps.command import add_parsers as add_sweeps

        add_sweeps(commands)
    else:
        _name_missing(commands, "sweeps", "sweep")
    return parser


def _name_missing(commands, extra, *names):
    """Commands of an extra that is not installed say how to get it."""

    def refuse(options):
        raise UsageError(f"this command is not installed: pip install 'assocmem[{extra}]'")

    for name in names:
        parser = commands.add_parser(name, help=f"needs assocmem[{extra}]")
        parser.add_argument("rest", nargs=argparse.REMAINDER)
        parser.set_defaults(command=refuse)


class _OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others."""

    def error(self, message):
        raise UsageError(f"{message} (see {self.prog} --help)")


if __name__ == "__main__":
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)  # end like an interrupt: tidy up, say so
    sys.exit(main())
