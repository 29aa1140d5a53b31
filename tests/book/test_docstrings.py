"""The docstrings that the reference shows are reStructuredText, where the build takes warnings for errors.

They are taken from the sources, so that nothing has to be imported, pass the same extensions as in the build,
and are parsed by Sphinx as what stands around them there: modules, functions, classes and their members.
"""

import ast
import inspect
import io
import logging
from types import SimpleNamespace

import pytest
from sphinx.application import Sphinx
from sphinx.testing.restructuredtext import parse
from sphinx.util.docutils import docutils_namespace

from assocmem.book import api
from assocmem.sweeps.project import project_root

EXTENSIONS = project_root() / "book" / "_ext"


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A function that gives what Sphinx says against a page of reStructuredText; Sphinx is started once."""
    folder = tmp_path_factory.mktemp("sphinx")
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, docutils_namespace():
        patch.syspath_prepend(EXTENSIONS)
        places = [folder, None, folder / "out", folder / "doctrees"]
        settings = {"extensions": ["assocmem_api"]}
        app = Sphinx(*places, "dummy", settings, status=None, warning=said, freshenv=True)
        logging.getLogger("sphinx").setLevel(
            logging.WARNING
        )  # it tells of each docstring, and pytest listens

        def complaints(module, source):
            said.seek(0)
            said.truncate()
            app.env.temp_data.clear()
            app.env.temp_data["default_domain"] = app.env.domains["py"]
            parse(app, "\n".join(page(app, module, ast.parse(source))), docname=module)
            return said.getvalue()

        complaints.objects = app.env.domains["py"].objects
        yield complaints


def page(app, module, tree):
    """What autodoc makes of a module: lines of reStructuredText."""
    lines = [f".. py:module:: {module}", "", *mended(app, "module", module, None, tree), ""]
    for node in tree.body:
        if is_told(node, ast.FunctionDef | ast.ClassDef):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            lines += directive(app, kind, module, node)
            members = node.body if kind == "class" else []
            for member in (member for member in members if is_told(member, ast.FunctionDef)):
                kind = "property" if names(member) & {"property", "cached_property"} else "method"
                lines += ["   " + line for line in directive(app, kind, module, member)]
    return lines


def is_told(node, kinds):
    return isinstance(node, kinds) and not node.name.startswith("_") and ast.get_docstring(node) is not None


def names(member):
    """Of the decorators of a method."""
    return {ast.unparse(decorator).rpartition(".")[2] for decorator in member.decorator_list}


def directive(app, kind, module, node):
    lines = mended(app, kind, node.name, SimpleNamespace(__module__=module), node)
    return [f".. py:{kind}:: {node.name}", "", *("   " + line for line in lines), ""]


def mended(app, what, name, thing, node):
    """A docstring when the extensions have been at it."""
    lines = [*inspect.cleandoc(ast.get_docstring(node, clean=False) or "").splitlines(), ""]
    app.emit("autodoc-process-docstring", what, name, thing, {}, lines)
    return lines


@pytest.mark.parametrize("room", api.ROOMS)
def test_the_build_has_nothing_to_say_against_a_docstring(build, room):
    for name in api.modules(room):
        said = build(f"{api.PACKAGE}.{name}", api.module_path(name).read_text(encoding="utf-8"))
        assert said == "", f"docstrings of {api.PACKAGE}.{name}:\n{said}"
    missing = {home for home, entry in api.entries().items() if entry.page == api.API + room} - {
        *build.objects
    }
    assert not missing


WRONG = {
    "indented": "Round.\n\nThe step is found on them. At it\n the error is small, so that\nit is noise.",
    "unbalanced": "Take *all of them.",
    "no blank line": "Take:\n  - one\n  - another\nand go on.",
    "a name": "Take `them.",
    "twice": "A thing.\n\n    Attributes\n    ----------\n    size : int\n        How large.",
}


@pytest.mark.parametrize("place", ["module", "function", "class", "method", "property"])
def test_a_docstring_that_the_build_refuses_is_refused(build, place):
    for what, text in WRONG.items():
        quoted = repr(inspect.cleandoc(text))
        source = {
            "module": quoted,
            "function": f"def f():\n    {quoted}",
            "class": f"class C:\n    {quoted}\n    @property\n    def size(self):\n        'How large.'",
            "method": f"class C:\n    'A class.'\n    def f(self):\n        {quoted}",
            "property": f"class C:\n    'A class.'\n    @property\n    def f(self):\n        {quoted}",
        }[place]
        module = f"assocmem.training.{place}_{'_'.join(what.split())}"
        if place == "class" or what != "twice":
            assert build(module, source), what
        assert not build(f"{module}_right", source.replace(quoted, "'Take ``*all`` of `them`.'"))
