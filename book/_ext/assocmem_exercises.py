"""Exercises: what their extension writes as a section without a title is none."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

CONTENTS = {"exercise-content", "solution-content"}
"""The identifiers, the same for all exercises of a page, that the extension gives to their contents."""


class PlainContents(SphinxPostTransform):
    """Put the contents of exercises where their section was: an identifier stands once a page."""

    default_priority = 900  # after the titles and links of the extension itself

    def run(self, **_: object) -> None:
        """Replace the sections."""
        for section in list(self.document.findall(nodes.section)):
            if CONTENTS & set(section["ids"]):
                section.replace_self(section.children)


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.add_post_transform(PlainContents)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
