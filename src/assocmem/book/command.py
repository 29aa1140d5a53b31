"""The commands of the book: run a section, list what there is, build the pages, print them."""

import argparse
import sys
from pathlib import Path

from assocmem.book.sections import DEFAULT, PROFILES, load_profile, load_section, resolve, section_names
from assocmem.book.terminal_table import aligned
from assocmem.homes import writable_home
from assocmem.sweeps.parameters import read_settings


def add_parsers(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands of the book to the subparsers of the command line."""
    run = commands.add_parser("run", help="execute one section")
    run.add_argument("section", metavar="SECTION")
    run.add_argument(
        "-p",
        nargs=2,
        action="append",
        default=[],
        dest="settings",
        metavar=("NAME", "VALUE"),
        help="set a parameter",
    )
    run.add_argument("-y", dest="file", metavar="FILE", help="YAML mapping of parameters; -p goes over it")
    run.add_argument("--profile", default=DEFAULT, help=f"one of {', '.join(PROFILES)} (%(default)s)")
    run.add_argument(
        "--out", default="runs", metavar="PATH", help="folder, or name of the .ipynb to write (%(default)s/)"
    )
    run.add_argument("--force", action="store_true", help="execute even if the result is up to date")
    run.set_defaults(command=_run)

    commands.add_parser("list", help="name the sections").set_defaults(command=_list)

    params = commands.add_parser(
        "params", help="parameters of a section: name, type, default, meaning, range"
    )
    params.add_argument("section", metavar="SECTION")
    params.set_defaults(command=_params)

    build = commands.add_parser("build", help="execute every section that is out of date and build the book")
    build.add_argument("--force", action="store_true", help="execute every section")
    build.add_argument("--pdf", action="store_true", help="print the book as well, beside the pages")
    build.set_defaults(command=_build)

    pdf = commands.add_parser("pdf", help="the same book as a PDF (needs LaTeX)")
    pdf.set_defaults(command=_pdf)


def _run(options):
    section = load_section(options.section)
    layers = [load_profile(options.profile, section)]
    layers += [read_settings(options.file)] if options.file else []
    values = resolve(section, *layers, dict(options.settings))
    target = Path(options.out)
    target = target if target.suffix == ".ipynb" else target / f"{section.name}.ipynb"

    from assocmem.book.claims import read_checks, surprises
    from assocmem.book.runner import SectionFailed, run_section

    if sys.stderr.isatty():
        print(f"section 1 of 1: {section.name} running", file=sys.stderr)
    try:
        done = run_section(section, values, target, force=options.force)
    except SectionFailed as error:
        print(f"assocmem: {error}", file=sys.stderr)
        return 1
    print(f"{done.target}: {f'executed in {done.seconds:.1f} s' if done.fresh else 'up to date'}")
    for line in surprises(read_checks(done.target)):
        print(f"note: {line}")
    return 0


def _list(options):
    rows = [(name, load_section(name).title) for name in section_names()]
    print("".join(f"{line.rstrip()}\n" for line in aligned(rows)), end="")


def _params(options):
    section = load_section(options.section)
    rows = [("name", "type", "default", "range", "meaning")]
    rows += [
        (p.name, p.type_name, repr(p.default), p.allowed.text, p.meaning) for p in section.parameters.values()
    ]
    print("".join(f"{line.rstrip()}\n" for line in aligned(rows)), end="")


def _build(options):
    with writable_home():  # one for all sections, and for Matplotlib, which looks for it when it is imported
        from assocmem.book.build import build_book

        if options.pdf:
            from assocmem.book.pdf import require_latex

            require_latex()
        return build_book(force=options.force, pdf=options.pdf)


def _pdf(options):
    with writable_home():
        from assocmem.book.pdf import build_pdf

        return build_pdf()
