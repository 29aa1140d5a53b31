"""A section of the book as a point function of a sweep: `section:NAME` in a sweep file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assocmem.book.sections import (
    DEFAULT,
    PROFILES,
    Section,
    load_profile,
    load_section,
    require_relations,
    resolve,
)
from assocmem.sweeps.parameters import Choice, Parameter

PREFIX = "section:"
"""What distinguishes a section from the point functions of the package in a sweep file."""


def section_point(name: str) -> "SectionPoint":
    """A section as a point function.

    Parameters
    ----------
    name : str
        ``section:NAME``.

    Returns
    -------
    SectionPoint

    Raises
    ------
    UsageError
        For a section that there is not.
    """
    load_section(name.removeprefix(PREFIX))
    return SectionPoint(name)


@dataclass(frozen=True)
class SectionPoint:
    """A section of the book as a point function: parameters are those of the section, and ``profile``.

    Attributes
    ----------
    name : str
        ``section:NAME``.
    context, required : frozenset
        What a point function may ask the sweep for, and which parameters have no default: nothing, none.
    """

    name: str
    context = frozenset()
    required = frozenset()

    @property
    def section(self) -> Section:
        """The section itself."""
        return load_section(self.name.removeprefix(PREFIX))

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The section's parameters and the profile."""
        allowed = Choice(f"{{{', '.join(PROFILES)}}}", PROFILES)
        return {"profile": Parameter("profile", DEFAULT, "", allowed)} | self.section.parameters

    @property
    def code(self) -> str:
        """Hash of all that the section depends on besides its parameters, with the values of its profiles."""
        from assocmem.book.runner import run_key

        section = self.section
        return run_key(section, {name: load_profile(name, section) for name in PROFILES})[:16]

    def convert(self, settings: Mapping[str, object]) -> dict[str, object]:
        """The profile, and the parameters that are given or differ from it."""
        settings = dict(settings)
        profile = str(settings.pop("profile", DEFAULT))
        section = self.section
        layer = load_profile(profile, section)
        values, base = resolve(section, layer, settings), resolve(section, layer)
        require_relations(section, values)
        return {"profile": profile} | {
            name: value for name, value in values.items() if name in settings or value != base[name]
        }

    def call(self, profile: str, **settings: object) -> dict[str, object]:
        """Run the section.

        Parameters
        ----------
        profile : str
        **settings
            Parameters of the section that go over the profile.

        Returns
        -------
        dict
            The number of checks and of surprises, and the verdict and the measurement of each check.

        Raises
        ------
        SectionFailed
            If a cell raises or the kernel dies.
        """
        from assocmem.book.claims import read_checks, surprises
        from assocmem.book.runner import SectionFailed, run_section
        from assocmem.files import temporary_folder

        section = self.section
        values = resolve(section, load_profile(profile, section), settings)
        with temporary_folder("assocmem-") as folder:
            try:
                checks = read_checks(run_section(section, values, Path(folder, "run.ipynb")).target)
            except SectionFailed as error:  # it names the notebook, which goes with the folder
                raise SectionFailed(str(error).partition("; see ")[0]) from None
        row = {"checks": len(checks), "surprises": len(surprises(checks))}
        for check in checks:
            number = sum(name.split(" ")[0] == check.claim for name in row) // 2
            label = f"{check.claim} {number + 1}"
            row[f"{label} verdict"] = check.verdict
            single = len(check.measured) == 1
            row[f"{label} measured"] = check.measured[0] if single else " ".join(map(str, check.measured))
        return row
