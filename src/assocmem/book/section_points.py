"""A section of the book as a point function of a sweep: `section:NAME` in a sweep file."""

from dataclasses import dataclass
from pathlib import Path

from assocmem.book.sections import load_profile, load_section, resolve
from assocmem.sweeps.parameters import Parameter, parse_range


def section_point(name):
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
    load_section(name.removeprefix("section:"))
    return SectionPoint(name)


@dataclass(frozen=True)
class SectionPoint:
    """A section of the book as a point function: parameters are those of the section, and ``profile``."""

    name: str
    context = frozenset()
    required = frozenset()

    @property
    def section(self):
        """The section itself."""
        return load_section(self.name.removeprefix("section:"))

    @property
    def parameters(self):
        """The section's parameters and the profile."""
        allowed = parse_range("{smoke, default, paper}")
        return {"profile": Parameter("profile", "default", "", allowed)} | self.section.parameters

    @property
    def code(self):
        """Hash of all that the section depends on besides its parameters."""
        from assocmem.book.runner import run_key

        return run_key(self.section, {})[:16]

    def convert(self, settings):
        """The profile, and the parameters that differ from it."""
        settings = dict(settings)
        profile = str(settings.pop("profile", "default"))
        section = self.section
        layer = load_profile(profile, section)
        values, base = resolve(section, layer, settings), resolve(section, layer)
        return {"profile": profile} | {
            name: value for name, value in values.items() if name in settings or value != base[name]
        }

    def call(self, profile, **settings):
        """Run the section; verdict and measurement of each check."""
        import tempfile

        from assocmem.book.claims import read_checks, surprises
        from assocmem.book.runner import SectionFailed, run_section

        section = self.section
        values = resolve(section, load_profile(profile, section), settings)
        with tempfile.TemporaryDirectory(prefix="assocmem-") as folder:
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
