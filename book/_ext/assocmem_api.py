"""The reference of the package: pages from its docstrings, links to them from the text, and links back.

- A line ``<<face>>`` or ``<<room NAME>>`` on a page below ``book/api`` is replaced by what is public there,
  as directives of autodoc; `assocmem.book.api` says what that is.
- Names in single backticks in docstrings become links where they are public, and code elsewhere.
- In the text of all other pages, the first inline code of a page that names a function of the face leads to
  its entry.
- Each entry says which sections use it.

The print leaves the reference out.
"""

from __future__ import annotations

import json
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

from assocmem.book import api
from assocmem.book.sections import PAGES, SECOND

PLACE = re.compile(r"^<<(?:(?P<face>face)|room (?P<room>\w+))>>$", re.MULTILINE)
"""Where a page wants its entries."""
ONLY_ON_SCREEN = "# {title}\n\nOn the pages; not in print.\n"
"""What is read in place of a page of the reference for the print, which drops it."""
FREE = re.compile(r"(?P<bar>\|)|(?P<tail>(?<=\w)_)(?=\W|$)")
"""What reStructuredText would take for a mark outside of code: a bar, an underscore at the end of a word."""
RULE = re.compile(r"\s*-{3,}\s*")
"""The line below the heading of a part of a docstring, such as its parameters."""
CODE = re.compile(r"(:[\w:]+:`[^`]+`|``.+?``(?!`)|`[^`\n]+`)")
"""Code, names and roles within a line of a docstring."""


# --- pages --------------------------------------------------------------------------------------------------


def fill_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the entries into a page of the reference that is read.

    Parameters
    ----------
    app, docname, source
        As Sphinx gives them with ``source-read``.
    """
    if not docname.startswith(api.API):
        return
    if app.builder.format == "latex":
        title = re.search(r"^# (.+)$", source[0], re.MULTILINE)
        source[0] = ONLY_ON_SCREEN.format(title=title[1] if title else docname)
        return
    app.env.note_dependency(api.__file__)
    source[0] = PLACE.sub(lambda m: api.face_text() if m["face"] else api.room_text(m["room"]), source[0])


class LeaveOut(SphinxPostTransform):
    """Take the reference out of the print."""

    default_priority = 0  # before the parts are arranged
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Remove the pages."""
        for page in list(self.document.findall(addnodes.start_of_file)):
            if page["docname"].startswith(api.API):
                page.parent.remove(page)


# --- docstrings ---------------------------------------------------------------------------------------------


def mend_docstring(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Turn names into links and keep reStructuredText from reading marks into what are letters.

    Parameters
    ----------
    app, what, name, obj, options, lines
        As autodoc gives them with ``autodoc-process-docstring``.
    """
    module = name if what == "module" else getattr(obj, "__module__", None) or name
    rules = [number for number, line in enumerate(lines) if RULE.fullmatch(line)]
    if rules and api.is_brief(module):
        del lines[rules[0] - 1 :]
    indent = None  # of the line that ended with two colons: what is indented more is as it is
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if indent is not None and line.strip() and depth <= indent:
            indent = None
        if indent is None:
            lines[number] = mended(line, module)
            if line.rstrip().endswith("::"):
                indent = depth


def mended(line: str, module: str) -> str:
    """One line of a docstring with links in it.

    Parameters
    ----------
    line : str
    module : str
        In which the docstring stands, with the package's name.

    Returns
    -------
    str
        reStructuredText.
    """
    parts = CODE.split(line)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = FREE.sub(r"\\\g<0>", part)
            if i and parts[i][:1].isalnum():
                parts[i] = rf"\ {parts[i]}"  # code ends within a word, such as a plural
        elif part.startswith("`") and not part.startswith("``"):
            text = part.strip("`")
            found = api.resolved(text, module)
            if found is None:
                parts[i] = f"``{text}``"
            else:
                role, target = ("mod", found) if isinstance(found, str) else ("obj", found.name)
                parts[i] = f":py:{role}:`{text} <{target}>`"
    return "".join(parts)


def skip_what_is_not_told(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave constants of classes out; autodoc decides about all else.

    Parameters
    ----------
    app, what, name, obj, skip, options
        As autodoc gives them with ``autodoc-skip-member``.
    """
    told = callable(obj) or isinstance(obj, property | classmethod | staticmethod) or hasattr(obj, "func")
    return None if told else True


def shorten_contents(app: Sphinx, doctree: nodes.document) -> None:
    """List modules alone in the contents of a room: Sphinx copies all contents into every page's sidebar.

    Parameters
    ----------
    app, doctree
        As Sphinx gives them with ``doctree-read``.
    """
    docname = app.env.docname
    if docname.startswith(api.API) and docname != api.FACE:
        contents = app.env.tocs[docname]
        for entry in list(contents.findall(nodes.list_item)):
            link = next(entry.findall(nodes.reference), None)
            if link is not None and link.get("anchorname", "").startswith(f"#{api.PACKAGE}."):
                entry.parent.remove(entry)
        for empty in [part for part in contents.findall(nodes.bullet_list) if not len(part)]:
            empty.parent.remove(empty)


# --- links to the reference ---------------------------------------------------------------------------------


class NameLinks(SphinxPostTransform):
    """Let the first inline code of a page that names a function lead to its entry."""

    default_priority = 650  # once all other references are resolved
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Put links around code."""
        docname = self.env.docname
        if docname.startswith(api.API):
            return
        places, seen = anchors(self.env), set()
        for code in list(self.document.findall(nodes.literal)):
            entry = api.named(code.astext())
            if entry is None or entry.home in seen or entry.name not in places or is_taken(code):
                continue
            seen.add(entry.home)
            page, anchor = places[entry.name]
            uri = f"{self.app.builder.get_relative_uri(docname, page)}#{anchor}"
            link = nodes.reference("", "", refuri=uri, internal=True, reftitle=entry.name)
            link["classes"].append("api-link")
            code.replace_self(link)
            link += code


def is_taken(code: nodes.Element) -> bool:
    """Tell whether code stands where a link would be wrong: in a link, a heading or a table of parameters."""
    node = code.parent
    while node is not None:
        if isinstance(node, nodes.reference | nodes.title | addnodes.pending_xref | nodes.caption):
            return True
        if isinstance(node, nodes.table) and "section-parameters" in node["classes"]:
            return True
        node = node.parent
    return False


def anchors(env: BuildEnvironment) -> dict[str, tuple[str, str]]:
    """The page and the anchor of each entry, by its name."""
    objects = env.get_domain("py").objects
    return {name: (found.docname, found.node_id) for name, found in objects.items()}


# --- links back ---------------------------------------------------------------------------------------------


def note_uses(app: Sphinx, docname: str, source: list[str]) -> None:
    """Note what a section uses when it is read.

    Parameters
    ----------
    app, docname, source
        As Sphinx gives them with ``source-read``.
    """
    uses = notes(app.env)
    uses.pop(docname, None)
    if docname.startswith(PAGES) and not docname.endswith(SECOND):  # both pages are of one notebook
        cells = json.loads(source[0])["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        uses[docname] = api.used(code)


def notes(env: BuildEnvironment) -> dict[str, set[str]]:
    """What each section uses, by the name of its page."""
    if not hasattr(env, "assocmem_uses"):
        env.assocmem_uses = {}
    return env.assocmem_uses


def forget_uses(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that has gone.

    Parameters
    ----------
    app, env, docname
        As Sphinx gives them with ``env-purge-doc``.
    """
    notes(env).pop(docname, None)


def merge_uses(app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment) -> None:
    """Take over what another process has read.

    Parameters
    ----------
    app, env, docnames, other
        As Sphinx gives them with ``env-merge-info``.
    """
    notes(env).update({name: uses for name, uses in notes(other).items() if name in docnames})


def pages_to_write(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the reference again where the sections use something else than before.

    Parameters
    ----------
    app, env
        As Sphinx gives them with ``env-updated``.

    Returns
    -------
    list of str
    """
    told = {name: sorted(uses) for name, uses in sorted(notes(env).items())}
    titles = {name: env.titles[name].astext() for name in told if name in env.titles}
    state = json.dumps([told, titles])
    before, env.assocmem_uses_told = getattr(env, "assocmem_uses_told", None), state
    return [] if state == before else [name for name in env.found_docs if name.startswith(api.API)]


def add_uses(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Say at each entry which sections use it.

    Parameters
    ----------
    app, doctree, docname
        As Sphinx gives them with ``doctree-resolved``.
    """
    if not docname.startswith(api.API) or app.builder.format != "html":
        return
    homes = {entry.name: home for home, entry in api.entries().items()}
    order = [name for name in app.env.toctree_includes.get(app.config.root_doc, ()) if name in notes(app.env)]
    order += sorted(set(notes(app.env)) - set(order))
    uses = {name: notes(app.env)[name] for name in order}
    for entry in doctree.findall(addnodes.desc):
        signature, content = entry[0], entry[-1]
        name = f"{signature.get('module')}.{signature.get('fullname')}"
        sections = api.linked(uses, homes[name]) if name in homes else []
        if sections:
            content += used_in(app, docname, sections)


def used_in(app: Sphinx, docname: str, sections: list[str]) -> nodes.paragraph:
    """A paragraph that leads to sections.

    Parameters
    ----------
    app : Sphinx
    docname : str
        Of the page on which it stands.
    sections : list of str
        Names of their pages.

    Returns
    -------
    nodes.paragraph
    """
    paragraph = nodes.paragraph("", "", nodes.strong("", "Used in"), nodes.Text(" "), classes=["api-uses"])
    for number, section in enumerate(sections):
        title = app.env.titles[section].astext()
        uri = app.builder.get_relative_uri(docname, section)
        paragraph += [nodes.Text(", ")] if number else []
        paragraph += nodes.reference("", title, refuri=uri, internal=True)
    return paragraph


# --- Sphinx -------------------------------------------------------------------------------------------------


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    for name in ("sphinx.ext.autodoc", "sphinx.ext.napoleon"):
        app.setup_extension(name)
    app.connect("source-read", note_uses, priority=400)  # before a section gets its head and end
    app.connect("source-read", fill_page)
    app.connect("env-purge-doc", forget_uses)
    app.connect("env-merge-info", merge_uses)
    app.connect("env-updated", pages_to_write)
    app.connect("doctree-read", shorten_contents, priority=900)  # once the contents are there
    app.connect("doctree-resolved", add_uses)
    app.connect("autodoc-process-docstring", mend_docstring, priority=400)  # before napoleon at 500
    app.connect("autodoc-skip-member", skip_what_is_not_told)
    app.add_post_transform(LeaveOut)
    app.add_post_transform(NameLinks)
    app.add_css_file("reference.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
