"""Widgets in the text: the directive ``widget``, and the scripts of the pages that have one.

A widget is a file ``NAME.js`` among the static files, in ``widgets``. A comment at its beginning,
``// needs: explorer/tables.js``, names further scripts that it wants. The content of the directive is its
caption. In print there is nothing to move: what the caption says is left out there.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

STATIC = Path(__file__).resolve().parent.parent / "_static_src"
"""The static files of the book."""
FOLDER = "widgets"
"""Where the widgets are among them."""
COMMON = ("explorer/theory.js", "explorer/widgets.js", "explorer/inline.js")
"""The scripts that all widgets use, in the order in which they are read."""
STYLE = "explorer/explorer.css"
"""How explorers and widgets look."""
NAME = re.compile(r"[a-z][a-z_0-9]*")
"""The names that a widget may have."""
NEEDS = re.compile(r"^// needs: (.+)$", re.MULTILINE)
"""The line of a widget's file with the further scripts that it wants."""
WITHOUT = "What stands here is computed in the browser and needs JavaScript; it needs no network."
"""What a reader sees whose browser runs no scripts."""


class Widget(nodes.General, nodes.Element):
    """A widget, with its caption as content."""


class WidgetDirective(SphinxDirective):
    """``{widget} NAME``, with a ``:label:`` of a few words; the content is the caption."""

    required_arguments = 1
    has_content = True
    option_spec = {"label": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Return the widget's node.

        Returns
        -------
        list of Node
        """
        name, label = self.arguments[0], self.options.get("label", "")
        path = STATIC / FOLDER / f"{name}.js"
        if not NAME.fullmatch(name) or not path.is_file():
            raise self.error(f"widget {name!r}: there is no {FOLDER}/{name}.js")
        if not label or not self.content:
            raise self.error(f"widget {name!r}: give it a :label: and a caption")
        self.env.note_dependency(str(path))
        node = Widget(widget=name, label=label)
        node["ids"].append(f"widget-{name}")  # as it is: docutils would make a name of its own
        node["names"].append(f"widget-{name}")
        self.state.document.note_explicit_target(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def scripts(name: str) -> list[str]:
    """Return the scripts of a widget in the order in which they are read.

    Parameters
    ----------
    name : str

    Returns
    -------
    list of str
        Paths among the static files.
    """
    path = STATIC / FOLDER / f"{name}.js"
    needs = NEEDS.search(path.read_text(encoding="utf-8"))
    return [*COMMON, *(needs[1].split() if needs else []), f"{FOLDER}/{name}.js"]


def open_widget(translator: nodes.NodeVisitor, node: Widget) -> None:
    """Begin a widget in HTML.

    Parameters
    ----------
    translator
        Of the builder.
    node : Widget
    """
    name, label = node["widget"], escape(node["label"])
    translator.body.append(
        f'<figure class="am-explorer am-widget" id="widget-{name}" aria-label="{label}">'
        f'<div class="am-widget-body" data-widget="{name}"><noscript><p>{WITHOUT}</p></noscript></div>'
        '<figcaption class="am-widget-caption">'
    )


def close_widget(translator: nodes.NodeVisitor, node: Widget) -> None:
    """End a widget in HTML.

    Parameters
    ----------
    translator
        Of the builder.
    node : Widget
    """
    translator.body.append("</figcaption></figure>\n")


def print_widget(translator: nodes.NodeVisitor, node: Widget) -> None:
    """Leave a widget out of a printed book, but for the place that links lead to.

    Parameters
    ----------
    translator
        Of the builder for LaTeX.
    node : Widget
    """
    translator.body.append(translator.hypertarget(node["ids"][0]))
    raise nodes.SkipNode


def skip_widget(translator: nodes.NodeVisitor, node: Widget) -> None:
    """Leave a widget out, with its caption.

    Parameters
    ----------
    translator
        Of the builder.
    node : Widget
    """
    raise nodes.SkipNode


def add_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Load the scripts of the widgets that a page has.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    names = [node["widget"] for node in doctree.findall(Widget)] if doctree else []
    if names:
        app.add_css_file(STYLE)
    for script in dict.fromkeys(script for name in names for script in scripts(name)):
        app.add_js_file(script, loading_method="defer")


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    shown, left_out = (open_widget, close_widget), (skip_widget, None)
    others = {kind: left_out for kind in ("text", "man", "texinfo")}
    app.add_node(Widget, html=shown, latex=(print_widget, None), **others)
    app.add_directive("widget", WidgetDirective)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
