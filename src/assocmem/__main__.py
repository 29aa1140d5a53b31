"""Command line: run a section, examine facts of your own, list what there is, sweep, build the book."""

import argparse
import contextlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from assocmem.checks import UsageError

ABOUT = "Run a section with parameters, examine facts of your own, list what there is, sweep, build the book."
"""What the commands do, for the help; python -OO drops docstrings."""

NEGATIVE = re.compile(r"-(\.?[0-9]|\.?inf|\.?nan).*", re.IGNORECASE)
"""Words that are values and not options although they begin with a dash."""


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
        before its end, 130 if interrupted, 141 if whoever reads the output has gone.
    """
    with contextlib.suppress(AttributeError, OSError, ValueError):  # none, or not one with an encoding
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error shows what it cannot encode
    try:
        try:
            options = _parser().parse_args(arguments)
            return options.command(options) or 0
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where what goes wrong can be told
    except UsageError as error:
        _tell(error)
        return 2
    except KeyboardInterrupt:
        _tell("interrupted; nothing half-written is left")
        return 130
    except BrokenPipeError:  # whoever reads our output has seen enough
        _close_output()
        return 141
    except OSError as error:
        try:
            sys.stdout.flush()
        except (AttributeError, OSError, ValueError):  # it was the output itself that could not be written
            _close_output()
        _tell(error)
        return 1


def _tell(what):
    """Say what went wrong, in one line, also where a name in it has several."""
    print(f"assocmem: {' '.join(str(what).splitlines())}", file=sys.stderr)


def _close_output():
    """Send what is still to be written to nowhere, so that the end of the process does not fail for it."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser():
    parser = _OneLineParser(prog="python -m assocmem", description=ABOUT)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    if find_spec("papermill"):
        from assocmem.book.command import add_parsers as add_book

        add_book(commands)
    else:
        _name_missing(commands, "book", "run", "list", "params", "build", "pdf")
    from assocmem.capacity.command import add_parsers as add_capacity
    from assocmem.capacity.score_command import add_parsers as add_score

    add_capacity(commands)
    add_score(commands)
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
    """A parser whose errors are one line, like all others, and that takes -1e-3 for a number."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        # Its own pattern knows -1 and -0.5 alone, and takes all else for options.
        self._negative_number_matcher = NEGATIVE

    def error(self, message):
        raise UsageError(f"{message} (see {self.prog} --help)")


if __name__ == "__main__":
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)  # end like an interrupt: tidy up, say so
    sys.exit(main())
