"""What a person says about a section besides its notebook: ``notebooks/sections.yml``, checked."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assocmem.book.claims import statements
from assocmem.book.sections import (
    DEFAULT,
    ENTRIES,
    PROFILES,
    load_profile,
    load_section,
    read_entries,
    resolve,
)
from assocmem.checks import UsageError


@dataclass(frozen=True)
class Notes:
    """The entry of a section.

    Attributes
    ----------
    part : str
        The part of the book that the section stands in.
    source : str
        Where its matter stands in the paper.
    see, know : str
        What a reader will see, and what to know first (MyST Markdown).
    example : dict
        One parameter worth changing, and its value; ``try`` in the file.
    checks : dict
        How many times each statement is checked.
    """

    part: str
    source: str
    see: str
    know: str
    example: dict[str, object]
    checks: dict[str, int]


WORDS = ("part", "source", "see", "know")
"""Keys of an entry that hold text."""
KEYS = (*WORDS, "try", "checks", *(profile for profile in PROFILES if profile != DEFAULT))
"""All keys of an entry, each of which it must have."""


def read_notes(names: Iterable[str], root: Path) -> dict[str, Notes]:
    """Notes of sections by name.

    Parameters
    ----------
    names : iterable of str
    root : Path
        Of the project.

    Returns
    -------
    dict

    Raises
    ------
    UsageError
        If a section has no entry, a part of it is missing or of the wrong kind, a parameter, a value or a
        statement does not exist, or a number is none.
    """
    entries = read_entries(root)
    return {name: _notes(name, entries.get(name, {}), root) for name in names}


def _notes(name, entry, root):
    where = f"{ENTRIES}: section {name}"
    if set(entry) != set(KEYS):
        raise UsageError(f"{where} must have {', '.join(KEYS[:-1])} and {KEYS[-1]}")
    for key in WORDS:
        if not isinstance(entry[key], str):
            raise UsageError(f"{where}: {key} must be text")
    if not isinstance(entry["try"], dict) or len(entry["try"]) != 1:
        raise UsageError(f"{where}: try must be one parameter and its value")
    if not isinstance(entry["checks"], dict):
        raise UsageError(f"{where}: checks must be numbers by statement")
    wrong = [
        f"{claim}: {count}"
        for claim, count in entry["checks"].items()
        if claim not in statements() or type(count) is not int or count < 1
    ]
    if wrong:
        raise UsageError(f"{where}: no statement of claims.yml, or no number: {wrong[0]}")
    section = load_section(name, root)
    for settings in (entry["try"], *(load_profile(profile, section, root) for profile in PROFILES)):
        resolve(section, settings)
    return Notes(*(" ".join(entry[key].split()) for key in WORDS), entry["try"], entry["checks"])
