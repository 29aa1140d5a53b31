"""How to cite a page: its title, the version, the commit and the day of what the book was built from."""

import os
import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, date, datetime
from html import escape
from pathlib import Path

from assocmem import __version__

BOOK = "Linear associative memory, executed"
"""The title of the book."""
WHO = "The assocmem project"
"""Its authors."""
PAPER = (
    "N. Barnfield, J. Kim, E. Nichani, J. D. Lee and Y. M. Lu, “Sharp Capacity Thresholds in Linear "
    "Associative Memory: From Top-1 Retrieval to Tail-Average Learning”, 2026"
)
"""The paper, which whoever cites the book should cite, too."""
DAY_VARIABLE = "SOURCE_DATE_EPOCH"
"""The variable of the environment that fixes all times of a build, in seconds."""
DIGITS = 12
"""Of a commit."""


@dataclass(frozen=True)
class Edition:
    """What a book was built from.

    Attributes
    ----------
    version : str
        Of the package.
    commit : str
        Of the sources, marked where they have changed since; empty without git.
    day : date or None
        Of that commit, unless the environment names another; None where neither is known.
    """

    version: str
    commit: str
    day: date | None


def edition(root: Path) -> Edition:
    """The edition of the sources in a folder.

    Parameters
    ----------
    root : Path
        Of the project.

    Returns
    -------
    Edition
    """
    commit = _git(root, "describe", "--always", f"--abbrev={DIGITS}", "--dirty", "--exclude=*")
    seconds = os.environ.get(DAY_VARIABLE, "") or (commit and _git(root, "log", "-1", "--format=%ct"))
    day = datetime.fromtimestamp(int(seconds), UTC).date() if seconds and seconds.isdigit() else None
    return Edition(__version__, commit, day)


def _git(root, *words):
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def day_in_words(day: date) -> str:
    """A day as one writes it, such as 3 March 2026."""
    return f"{day.day} {day:%B %Y}"


def edition_in_words(own: Edition) -> str:
    """Version, commit and day, as far as they are known."""
    parts = [f"version {own.version}"]
    parts += [f"commit {own.commit.replace('-dirty', ' with changes since')}"] if own.commit else []
    parts += [day_in_words(own.day)] if own.day else []
    return ", ".join(parts)


def citation(what: str, own: Edition, address: str = "") -> str:
    """A citation in words.

    Parameters
    ----------
    what : str
        The title of a page or of an entry.
    own : Edition
    address : str
        Whole, or nothing where it is not known.

    Returns
    -------
    str
    """
    end = f", {address}" if address else ""
    return f"{WHO}, “{what}”, in: {BOOK}, {edition_in_words(own)}{end}."


def bibtex(what: str, page: str, own: Edition, address: str = "") -> str:
    """The same for BibTeX.

    Parameters
    ----------
    what : str
        The title of the page.
    page : str
        Its name, of which the key is made.
    own : Edition
    address : str
        Whole, or nothing where it is not known.

    Returns
    -------
    str
    """
    commit = f", commit {own.commit}" if own.commit else ""
    fields = {
        "author": f"{{{WHO}}}",
        "title": what.replace("&", r"\&"),
        "booktitle": BOOK,
        "year": str(own.day.year) if own.day else "",
        "note": f"Version {own.version}{commit}",
        "url": address,
    }
    key = "assocmem-" + re.sub(r"[^a-z0-9]+", "-", page.rpartition("/")[2].lower()).strip("-")
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@incollection{{{key},", *lines, "}"])


def footer(what: str, page: str, own: Edition, *, address: str = "", pdf: str = "") -> str:
    """What stands at the foot of a page, as HTML.

    Parameters
    ----------
    what : str
        The title of the page; empty for a page that nobody cites, such as the search.
    page : str
        Its name.
    own : Edition
    address : str
        Whole, or nothing where it is not known.
    pdf : str
        Where the print lies, seen from the page, or nothing where there is none.

    Returns
    -------
    str
    """
    lines = []
    if what:
        lines += [
            '<details class="cite-page">',
            "<summary>Cite this page</summary>",
            f'<p class="cite-words">{escape(citation(what, own, address))}</p>',
            f'<pre class="cite-bibtex">{escape(bibtex(what, page, own, address))}</pre>',
            f"<p>The paper that the book is about: {escape(PAPER)}.</p>",
            "</details>",
        ]
    words = edition_in_words(own)
    printed = f' · <a href="{escape(pdf)}">The book as a PDF</a>' if pdf else ""
    return "\n".join([*lines, f'<p class="edition">{escape(words[0].upper() + words[1:])}{printed}</p>'])
