"""What this book needs from Sphinx and does not find there.

- Formulas that render with no network: MathJax is copied beside the pages.
- One list of TeX macros (``book/macros.yml``) for MathJax and for LaTeX.
- Links to the repository, made from one address; with no address there is no link.
- A notebook to download on every section page.
- Pages that stay quiet and complete when they are opened from a disk, and fresh when only a style changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import quote, urlencode

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

from assocmem.book.rendered import ADDRESS_VARIABLE
from assocmem.book.sections import PAGES, section_of

BOOK = Path(__file__).resolve().parent.parent
"""The folder of the hand-written pages."""
MATHJAX = "tex-svg-full.js"
"""The one file of MathJax that needs no other: all of TeX, drawn as SVG."""
ADDRESS = re.compile(r"https://(?P<host>[\w.-]+)/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?")
"""The form of a repository's address."""
INSTALL_CELL = {"cell_type": "code", "id": "install", "metadata": {}, "execution_count": None, "outputs": []}
"""The first cell of a downloaded notebook, without its source."""
INSTALL = """\
# Where the package is missing: get it, with the stored tables of the book, and find it without a restart.
import importlib.util
import site

if importlib.util.find_spec("assocmem") is None:
    !git clone --quiet --depth 1 {address} linear-associative-memory
    %pip install --quiet --editable ./linear-associative-memory
    site.main()"""
"""Its source, for a given address."""
BUILT_PAGES = {"book/ledger", "book/status", "book/tables"}
"""Pages that the build writes: there is no source to edit."""
FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>\n?')
"""The theme preloads its icon fonts, which it draws from a script anyway; from file:// each is an error."""


# --- formulas ---


def mathjax_source() -> Path:
    """Return the MathJax file that the package ``sphinx-mathjax-offline`` brings along."""
    package = distribution("sphinx-mathjax-offline")
    return Path(package.locate_file(f"sphinx-mathjax-offline/static/mathjax/{MATHJAX}"))


def copy_mathjax(app: Sphinx) -> None:
    """Put MathJax among the static files of an HTML build."""
    if app.builder.format == "html":
        static = Path(app.outdir, "_static")
        static.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(mathjax_source(), static / MATHJAX)


def read_macros(path: Path = BOOK / "macros.yml") -> dict[str, tuple[str, int]]:
    """Return each macro's name with its text and its number of arguments."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: (entry, 0) if isinstance(entry, str) else tuple(entry) for name, entry in entries.items()}


def macros_for_mathjax(macros: dict[str, tuple[str, int]]) -> dict[str, str | list]:
    """Write the macros as MathJax's configuration wants them."""
    return {name: [text, count] if count else text for name, (text, count) in macros.items()}


def macros_for_latex(macros: dict[str, tuple[str, int]]) -> str:
    """Write the macros as a LaTeX preamble; a name that LaTeX already knows is replaced."""
    lines = []
    for name, (text, count) in macros.items():
        arguments = f"[{count}]" if count else ""
        lines.append(rf"\providecommand{{\{name}}}{{}}\renewcommand{{\{name}}}{arguments}{{{text}}}")
    return "\n".join(lines) + "\n"


def set_up_formulas(app: Sphinx, config: Config) -> None:
    """Point Sphinx at the local MathJax and give both outputs the macros.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    macros = read_macros()
    config.mathjax_path = MATHJAX
    # The menu would fetch further parts of MathJax, which are not here.
    config.mathjax3_config = {
        "tex": {"macros": macros_for_mathjax(macros)},
        "options": {"enableMenu": False},
    }
    preamble = config.latex_elements.get("preamble", "") + macros_for_latex(macros)
    config.latex_elements = {**config.latex_elements, "preamble": preamble}


# --- the repository ---


def read_address(app: Sphinx, config: Config) -> None:
    """Settle the repository's address, the environment before the configuration.

    Parameters
    ----------
    app : Sphinx
    config : Config
        Its ``repository_address`` is changed.

    Raises
    ------
    ConfigError
        For an address that is not of the form of one.
    """
    address = os.environ.get(ADDRESS_VARIABLE, config.repository_address or "").strip()
    if address and not ADDRESS.fullmatch(address):
        raise ConfigError(f"repository address {address!r} is not of the form https://HOST/OWNER/NAME")
    config.repository_address = address


def page_source(pagename: str) -> str | None:
    """Return the file a reader would edit to change a page, or None for a page that the build writes."""
    if pagename.startswith(PAGES):
        return f"notebooks/{section_of(pagename)}.py"
    if pagename.startswith("book/") and pagename not in BUILT_PAGES:
        return f"{pagename}.md"
    return None


def link(url: str, text: str, tooltip: str, icon: str, label: str) -> dict:
    """Return one button as the theme's templates expect it.

    Parameters
    ----------
    url : str
        Where it leads.
    text : str
        What it reads in a list of buttons.
    tooltip : str
        What it says to those who point at it.
    icon : str
        Classes of its icon.
    label : str
        Its own class.

    Returns
    -------
    dict
    """
    return {"type": "link", "url": url, "text": text, "tooltip": tooltip, "icon": icon, "label": label}


def group(buttons: list[dict], tooltip: str, icon: str, label: str) -> dict:
    """Return a drop-down of buttons as the theme's templates expect it.

    Parameters
    ----------
    buttons : list of dict
        From `link`.
    tooltip, icon, label : str
        As for `link`.

    Returns
    -------
    dict
    """
    return {"type": "group", "buttons": buttons, "tooltip": tooltip, "icon": icon, "label": label}


def source_buttons(address: str, pagename: str) -> list[dict]:
    """Return the links to the repository, to a new issue and to the page's source.

    Parameters
    ----------
    address : str
        Of the repository.
    pagename : str

    Returns
    -------
    list of dict
        Buttons, two or, where there is a source, three.
    """
    issue = urlencode({"title": f"On page {pagename}"})
    buttons = [
        link(address, "Repository", "Source repository", "fas fa-code-branch", "source-repository-button"),
        link(
            f"{address}/issues/new?{issue}",
            "Open issue",
            "Report a problem with this page",
            "fas fa-lightbulb",
            "source-issues-button",
        ),
    ]
    source = page_source(pagename)
    if source:
        url = f"{address}/edit/main/{quote(source)}"
        buttons.append(
            link(url, "Suggest edit", "Edit the source", "fas fa-pencil-alt", "source-edit-button")
        )
    return buttons


def launch_buttons(host: str, owner: str, name: str, pagename: str) -> list[dict]:
    """Return the links that open a section on somebody else's machine; both services read github.com only.

    Parameters
    ----------
    host, owner, name : str
        Parts of the repository's address.
    pagename : str

    Returns
    -------
    list of dict
        Buttons; none on other pages than sections, and for other hosts.
    """
    if host != "github.com" or not pagename.startswith(PAGES):
        return []
    section = section_of(pagename)
    colab = f"https://colab.research.google.com/github/{owner}/{name}/blob/gh-pages/_sources/{PAGES}{section}.ipynb"
    binder = (
        f"https://mybinder.org/v2/gh/{owner}/{name}/main?urlpath={quote(f'lab/tree/notebooks/{section}.py')}"
    )
    return [
        link(colab, "Colab", "Open this section in Colab", "fas fa-play", "launch-colab-button"),
        link(binder, "Binder", "Open this section on Binder", "fas fa-rocket", "launch-binder-button"),
    ]


def add_header_buttons(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Add this book's buttons to those of the theme.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    buttons = context.get("header_buttons")
    if buttons is None or doctree is None:  # not this theme, or a page such as the search
        return
    if pagename.startswith(PAGES):
        url = context["pathto"](f"_sources/{context['sourcename']}", 1)
        tooltip = "Download this section as a notebook (.ipynb)"
        buttons.insert(0, link(url, "", tooltip, "fas fa-download", "download-notebook-button"))
    address = ADDRESS.fullmatch(app.config.repository_address)
    if not address:
        return
    clean = "https://{host}/{owner}/{name}".format(**address.groupdict())
    icon = "fab fa-github" if address["host"] == "github.com" else "fas fa-code-branch"
    buttons.insert(0, group(source_buttons(clean, pagename), "Repository", icon, "source-buttons"))
    launch = launch_buttons(**address.groupdict(), pagename=pagename)
    if launch:
        buttons.insert(0, group(launch, "Run this section", "fas fa-rocket", "launch-buttons"))


# --- the files of a build ---


def drop_missing_extra_paths(app: Sphinx, config: Config) -> None:
    """Let the book build before anything has been put into ``html_extra_path``.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    config.html_extra_path = [path for path in config.html_extra_path if Path(app.confdir, path).exists()]


def digest_copied_files(app: Sphinx, config: Config) -> None:
    """Note what the copied files contain: Sphinx copies nothing while no page and no setting has changed.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    digest = hashlib.sha256()
    for folder in (*config.html_static_path, *config.html_extra_path):
        for path in sorted(Path(app.confdir, folder).rglob("*")):
            if path.is_file():
                digest.update(path.name.encode() + path.read_bytes())
    config.copied_files_digest = digest.hexdigest()


def drop_font_preloads(app: Sphinx, exception: Exception | None) -> None:
    """Take the preloading of icon fonts out of the finished pages.

    Parameters
    ----------
    app, exception
        As Sphinx gives them with ``build-finished``.
    """
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        quiet = FONT_PRELOAD.sub("", text)
        if quiet != text:
            page.write_text(quiet, encoding="utf-8")


def add_install_cell(app: Sphinx, exception: Exception | None) -> None:
    """Let the notebooks that readers download begin with how to get the package, where that is known.

    A hosted service starts them on a machine that has never seen this project.

    Parameters
    ----------
    app, exception
        As Sphinx gives them with ``build-finished``.
    """
    address = app.config.repository_address
    if exception or not address or app.builder.format != "html":
        return
    for path in Path(app.outdir, "_sources", PAGES).glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["id"] != INSTALL_CELL["id"]]
        notebook["cells"] = [{**INSTALL_CELL, "source": INSTALL.format(address=address)}, *cells]
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# --- Sphinx ---


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.add_config_value("repository_address", "", "html", types=[str])
    app.add_config_value("copied_files_digest", "", "html", types=[str])
    for handler in (set_up_formulas, read_address, drop_missing_extra_paths, digest_copied_files):
        app.connect("config-inited", handler, priority=400)  # before Sphinx checks the values at 800
    app.connect("builder-inited", copy_mathjax)
    app.connect("html-page-context", add_header_buttons, priority=900)  # after the theme's own at 501
    app.connect("build-finished", drop_font_preloads)
    app.connect("build-finished", add_install_cell)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
