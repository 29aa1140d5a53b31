"""Code that runs inside the page: marks the blocks that can, and gives their pages what it takes.

A block can run there if it needs no more than numpy, scipy and the part of the package that is written for
them (`assocmem.book.light`): a cell that answers an exercise, or code within the text that uses the package.
Nothing of Python is loaded, nor asked for, before a reader wants it. It then comes from beside the book, or
else from the address in the setting ``pyodide_address``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from assocmem.book.exercises import ANSWER
from assocmem.book.light import PACKAGE, is_light, script
from assocmem.files import write_whole

SOURCE = Path(__file__).resolve().parents[2] / "src"
"""The folder that has the package."""
STYLE = "running/running.css"
SCRIPT = "running/running.js"
"""What the pages load at once; the rest when a reader wants to run something."""
ARCHIVE = "running/light.js"
"""The light part of the package, among the static files of the built book."""
LIGHT = "am-light"
"""The class of what can run."""


class MarkLight(SphinxPostTransform):
    """Give a class to cells and blocks of code that can run in the page."""

    default_priority = 950
    formats = ("html",)

    def run(self, **_: object) -> None:
        """Mark them."""
        for block in self.document.findall(nodes.literal_block):
            cell = _cell(block)
            text = block.astext()
            is_code = _shows_package(block, text) if cell is None else _answers(cell, block)
            if is_code and is_light(text, SOURCE):
                (block if cell is None else cell)["classes"].append(LIGHT)


def _cell(block):
    """The cell of a notebook in which a block stands; None for one in the text."""
    node = block.parent
    while node is not None and "cell" not in node.get("classes", ()):
        node = node.parent
    return node


def _shows_package(block, text):
    return block.get("language") == "python" and PACKAGE in text


def _answers(cell, block):
    return f"tag_{ANSWER}" in cell["classes"] and "cell_input" in block.parent["classes"]


def add_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Load the script on pages with code that can run.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    if doctree and any(LIGHT in node["classes"] for node in doctree.findall(nodes.Element)):
        app.add_css_file(STYLE)
        settings = {
            "data-address": app.config.pyodide_address,
            "data-megabytes": str(app.config.pyodide_megabytes),
            "data-package": f"light.js?v={_digest(script(SOURCE))}",
        }
        app.add_js_file(SCRIPT, loading_method="defer", **settings)


def _digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def write_package(app: Sphinx, exception: Exception | None) -> None:
    """Put the light part of the package among the static files of the built book.

    Parameters
    ----------
    app, exception
        As Sphinx gives them with ``build-finished``.
    """
    if exception is None and app.builder.format == "html":
        path = Path(app.outdir, "_static", ARCHIVE)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, script(SOURCE))


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.add_config_value("pyodide_address", "", "html", str)
    app.add_config_value("pyodide_megabytes", 0, "html", int)
    app.add_post_transform(MarkLight)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_package)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
