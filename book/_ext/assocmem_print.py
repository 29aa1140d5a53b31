"""What the printed book needs from Sphinx's LaTeX builder and does not find there.

- Parts and chapters that are named and numbered like the pages, with the opening page as an introduction.
- Print for what is HTML on the pages: verdicts, cards.
- Settings: A4, fonts with all letters that code and prose use, a title page without a date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from pybtex.database import parse_file
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.latex.nodes import thebibliography
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.texescape import escape

BOOK = Path(__file__).resolve().parent.parent
"""The folder of the hand-written pages."""
BIBLIOGRAPHY = "book/bibliography"
"""The page with the list of references."""
PAPER = "barnfield2026sharp"
"""The entry of the paper in ``book/references.bib``."""
FILE = "linear-associative-memory"
"""The name of the LaTeX file, which `assocmem.book.pdf` looks for."""
CLASSES = re.compile(r'<span class="([\w -]*)">')
"""The beginning of a piece of HTML with classes, such as a verdict."""
LONG = 30
"""Rows of a table from which Sphinx lets it break across pages; LaTeX then does not find its widths."""
WIDE = 80
"""Characters of text on a line, about."""
NARROWEST = 8
"""Characters of the narrowest column: one with fewer counts as if it had so many."""
WIDTHS = {
    ("ledger-table", 3): (30, 40, 30),  # verdict, measured, falsehood
    ("section-parameters", 4): (25, 25, 22, 28),  # name, default, range, meaning
    ("status-table", 6): (20, 20, 8, 12, 14, 26),  # readers, table, rows, time, days, machine
}
"""Relative widths of the columns of tables, by their class and number of columns."""
GUESSES = {"conjecture_node", "assumption_node"}
"""Statements that have the colour of what is not proved, by the names of their classes in sphinx-proof."""

GREEK = (
    "alpha α beta β gamma γ delta δ epsilon ε kappa κ lambda λ mu μ nu ν rho ρ sigma σ tau τ chi χ omega ω"
)
"""Letters that may stand in a heading, after their names in TeX."""

FONTS = r"""
\usepackage{unicode-math}
\setmainfont{texgyrepagella}[
  Extension = .otf, UprightFont = *-regular, ItalicFont = *-italic, BoldFont = *-bold,
  BoldItalicFont = *-bolditalic]
\setmathfont{texgyrepagella-math.otf}
\setmonofont{DejaVuSansMono}[
  Extension = .ttf, UprightFont = *, ItalicFont = *-Oblique, BoldFont = *-Bold,
  BoldItalicFont = *-BoldOblique, Scale = 0.85]
"""
"""Fonts that have all letters of prose, formulas and code; that of code is scaled to the height of prose."""

PREAMBLE = r"""
\setcounter{tocdepth}{1}
\addto\captionsenglish{\renewcommand{\contentsname}{Contents}}
\AtBeginDocument{\date{}\let\setminus\smallsetminus} % no math font has the former
\pdfstringdefDisableCommands{GREEK} % in bookmarks, which know no formulas
\raggedbottom
\emergencystretch=3em

% statements: a bar at the left in the colours of the pages
\definecolor{proved}{HTML}{1F5F8B}
\definecolor{guessed}{HTML}{9A5B00}
\colorlet{statement}{proved}
\renewenvironment{sphinxnote}[1]{\par\addvspace{6pt}%
  \def\FrameCommand{{\color{statement}\vrule width 2pt}\hspace{8pt}}%
  \MakeFramed{\advance\hsize-\width\FrameRestore}\noindent\textbf{\color{statement}#1}\par\nobreak
}{\endMakeFramed\addvspace{6pt}}
\setlength{\abovecaptionskip}{2pt}

% the list of references has a page of its own, which has the heading; its numbers say nothing
\makeatletter
\renewenvironment{sphinxthebibliography}[1]
  {\list{}{\leftmargin1.5em\itemindent-1.5em\labelwidth0pt\labelsep0pt}\let\bibitem\print@bibitem\sloppy}
  {\endlist}
\newcommand{\print@bibitem}[2][]{\item[]\hypertarget{cite.#2}{}\ignorespaces}
\makeatother

% cells of tables are too narrow for straight right margins
\newcolumntype{T}{L}
\renewcommand{\sphinxstyletheadfamily}{\bfseries}
\renewcommand{\sphinxtablecontinued}[1]{}
\setlength{\extrarowheight}{1.5pt}
\makeatletter
\newcolumntype{\X}[2]{>{\raggedright\arraybackslash}p{\dimexpr
  (\linewidth-\spx@arrayrulewidth)*#1/#2-\tw@\tabcolsep-\spx@arrayrulewidth\relax}}
\g@addto@macro\sphinxattablestart{\small}
\g@addto@macro\sphinxatlongtablestart{\small}
\makeatother

% verdicts: dark words in the colours of the pages
\definecolor{holds}{HTML}{0F6A30}
\definecolor{limits}{HTML}{8A5800}
\definecolor{fails}{HTML}{A11D17}
\definecolor{notyet}{HTML}{4A525C}
\definecolor{band}{HTML}{BFDCC7} % of the strip of a check
\newcommand{\verdict}[2]{\textbf{\color{#1}#2}}
\expandafter\def\csname DUroleverdict-holds\endcsname#1{\verdict{holds}{#1}}
\expandafter\def\csname DUroleverdict-limits\endcsname#1{\verdict{limits}{#1}}
\expandafter\def\csname DUroleverdict-fails\endcsname#1{\verdict{fails}{#1}}
\expandafter\def\csname DUroleverdict-notyet\endcsname#1{\verdict{notyet}{#1}}
"""
"""What LaTeX is told before the text; each part says in a comment what it is for."""

SETUP = ",".join(
    [
        "hmargin={24mm,24mm}",
        "vmargin={24mm,26mm}",
        "VerbatimColor={HTML}{F6F7F8}",
        "VerbatimBorderColor={HTML}{F6F7F8}",
        "TitleColor={HTML}{16384F}",
        "InnerLinkColor={HTML}{1F5F8B}",
        "OuterLinkColor={HTML}{1F5F8B}",
        "verbatimforcewraps=true",
        r"HeaderFamily=\rmfamily\bfseries",
    ]
)
"""Margins, colours and headings, in Sphinx's own terms."""


# --- settings ---


def title_page(title: str) -> str:
    """Return the LaTeX of a title page that names the paper and no date."""
    paper = parse_file(BOOK / "references.bib").entries[PAPER]
    names = [" ".join([*p.first_names, *p.middle_names, *p.last_names]) for p in paper.persons["author"]]
    authors = f"{', '.join(names[:-1])} and {names[-1]}"
    return "\n".join(
        [
            r"\begin{titlepage}\centering\null\vspace{0.22\textheight}",
            rf"{{\Huge\bfseries\color{{proved}}{title}\par}}\vspace{{14mm}}",
            r"{\large A book that runs the results of\par}\vspace{4mm}",
            rf"{{\Large\itshape {paper.fields['title']}\par}}\vspace{{4mm}}",
            rf"{{\large {authors}, {paper.fields['year']}\par}}",
            r"\end{titlepage}",
        ]
    )


def set_up_print(app: Sphinx, config: Config) -> None:
    """Settle how the LaTeX builder writes the book.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    config.latex_engine = "xelatex"
    config.latex_toplevel_sectioning = "chapter"
    config.latex_use_xindy = False
    config.latex_table_style = ["booktabs"]
    config.latex_show_urls = "no"
    config.latex_domain_indices = False
    config.latex_documents = [
        (config.root_doc, f"{FILE}.tex", config.html_title, config.author, "manual"),
    ]
    about = (
        rf"\hypersetup{{pdftitle={{{config.html_title}}}, pdfauthor={{{config.author}}}, bookmarksnumbered}}"
    )
    words = GREEK.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    greek = "".join(rf"\def\{name}{{{letter}}}" for name, letter in pairs)
    config.latex_elements = {
        **config.latex_elements,
        "papersize": "a4paper",
        "extraclassoptions": "oneside,openany",
        "fontpkg": FONTS,
        "fncychap": "",
        "figure_align": "H",
        "maketitle": title_page(config.html_title),
        "printindex": "",
        "sphinxsetup": SETUP,
        "fvset": r"\fvset{fontsize=\footnotesize}",
        "preamble": config.latex_elements.get("preamble", "") + PREAMBLE.replace("GREEK", greek) + about,
    }


# --- parts ---


class Parts(SphinxPostTransform):
    """Make the captions of the table of contents parts, and the opening page the first chapter."""

    default_priority = 1  # before anything asks where a page is
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Rearrange the assembled book."""
        top = next((node for node in self.document.children if isinstance(node, nodes.section)), None)
        wrappers = [
            node
            for node in self.document.findall(nodes.compound)
            if "toctree-wrapper" in node["classes"] and any(node.findall(addnodes.start_of_file))
        ]
        # Second pages stay in their chapters. Sphinx does not tell the parts of a page who their parent is.
        inner = [list(page.findall(nodes.compound)) for page in self.document.findall(addnodes.start_of_file)]
        nested = {id(node) for found in inner for node in found}
        wrappers = [node for node in wrappers if id(node) not in nested]
        if top is None or not wrappers:
            return
        top[0].replace_self(nodes.title("", "Introduction"))
        top["docname"] = self.config.root_doc  # as the other pages have it: statements look for it
        book = nodes.section("", nodes.title("", self.config.html_title))
        self.document.replace(top, book)
        toctrees = self.env.get_doctree(self.config.root_doc).findall(addnodes.toctree)
        for number, (wrapper, toctree) in enumerate(zip(wrappers, toctrees, strict=True)):
            depth = 3 if toctree.get("numbered") else -1
            book += raw(rf"\part{{{escape(toctree['caption'])}}}\setcounter{{secnumdepth}}{{{depth}}}")
            wrapper.parent.remove(wrapper)
            book.extend([*([] if number else [top]), *wrapper.children])


class References(SphinxPostTransform):
    """Put the list of references back on its page: Sphinx moves it to the end of the book."""

    default_priority = 760  # after Sphinx has done so at 750
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Move the list to the end of the page with that name, if there is one."""
        pages = {page.get("docname"): page for page in self.document.findall(addnodes.start_of_file)}
        page = pages.get(BIBLIOGRAPHY)
        sections = page and [node for node in page.children if isinstance(node, nodes.section)]
        for references in list(self.document.findall(thebibliography)) if sections else []:
            references.parent.remove(references)
            sections[-1].append(references)


def raw(text: str) -> nodes.raw:
    """Return LaTeX as it is."""
    return nodes.raw("", f"{text}\n", format="latex")


# --- what is HTML on the pages ---


def badge(text: str, classes: list[str]) -> nodes.inline:
    """Return a verdict as a word in its colour.

    Parameters
    ----------
    text : str
    classes : list of str
        As the pages have them.

    Returns
    -------
    nodes.inline
    """
    return nodes.inline("", text, classes=only_kind(classes))


def only_kind(classes: list[str]) -> list[str]:
    """Return the class that says which verdict it is, which LaTeX wants alone."""
    return [name for name in classes if name.startswith("verdict-")]


class Verdicts(SphinxPostTransform):
    """Turn verdicts, HTML or with attributes, into coloured words."""

    default_priority = 5
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Replace the badges."""
        for span in list(self.document.findall(nodes.inline)):
            if "verdict" in span["classes"]:
                span["classes"] = only_kind(span["classes"])
        for opening in list(self.document.findall(nodes.raw)):
            found = CLASSES.fullmatch(opening.astext().strip())
            if found and "verdict" in found[1].split():
                content = opening.next_node(descend=False, siblings=True)
                opening.replace_self(badge(content.astext(), found[1].split()))
                content.parent.remove(content)


class Statements(SphinxPostTransform):
    """Give conjectures and assumptions the colour that they have on the pages."""

    default_priority = 5
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Set the colour before and take it back afterwards."""
        for node in list(self.document.findall(nodes.Admonition)):
            if type(node).__name__ in GUESSES:
                place = node.parent.index(node)
                node.parent.insert(place + 1, raw(r"\colorlet{statement}{proved}"))
                node.parent.insert(place, raw(r"\colorlet{statement}{guessed}"))


class Anchors(SphinxPostTransform):
    """Give a place in LaTeX to anchors that Sphinx takes for those of formulas, by their name."""

    default_priority = 5
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Add the labels."""
        for target in list(self.document.findall(nodes.target)):
            name = target.get("refid", "")
            following = target.next_node(descend=False, siblings=True)
            if name.startswith("equation-") and not isinstance(following, nodes.math_block):
                page = target
                while not (isinstance(page, nodes.document) or "docname" in page):
                    page = page.parent
                label = rf"\phantomsection\label{{\detokenize{{{page['docname']}:{name}}}}}"
                target.replace_self([raw(label), target.deepcopy()])


class Cards(SphinxPostTransform):
    """Turn a grid of cards into a list."""

    default_priority = 20  # once links are resolved
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Replace the grids."""
        for grid in list(self.document.findall(nodes.container)):
            if "sd-container-fluid" in grid["classes"]:
                cards = [node for node in grid.findall(nodes.container) if "sd-card" in node["classes"]]
                grid.replace_self(nodes.bullet_list("", *map(card_item, cards)))


def card_item(card: nodes.Element) -> nodes.list_item:
    """Return a card as an item of a list: its title, its text, where it leads."""
    title = next(node for node in card.findall(nodes.container) if "sd-card-title" in node["classes"])
    body = title.parent
    body.remove(title)
    texts = list(body.findall(nodes.paragraph))
    item = nodes.paragraph("", "", nodes.strong("", f"{title.astext()}:"), nodes.Text(" "))
    for text in texts:
        item.extend(text.children)
    for link in card.findall(nodes.reference):
        item.extend([nodes.Text(" See "), link.deepcopy(), nodes.Text(".")])
    return nodes.list_item("", item)


class Tables(SphinxPostTransform):
    """Give wide and long tables columns that share the page, by what they hold; leave empty cells empty."""

    default_priority = 20
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Set widths where LaTeX would let a table run off the page."""
        for cell in self.document.findall(nodes.entry):
            if not cell.astext().strip():
                cell.clear()  # an empty paragraph is one more line
        for table in self.document.findall(nodes.table):
            rows = list(table.findall(nodes.row))
            body = [row for row in rows if isinstance(row.parent, nodes.tbody)]
            columns = zip(*([len(cell.astext()) for cell in row] for row in body), strict=True)
            widths = [max(NARROWEST, *column) for column in columns]
            fixed = [WIDTHS[name, len(widths)] for name in table["classes"] if (name, len(widths)) in WIDTHS]
            if fixed:
                set_widths(table, fixed[0])
            elif len(rows) > LONG and sum(widths) > WIDE:
                set_widths(table, [min(width, WIDE // 3) + 3 for width in widths])


def set_widths(table: nodes.table, widths: Sequence[int]) -> None:
    """Fix the relative widths of the columns.

    Parameters
    ----------
    table : nodes.table
        It is changed.
    widths : sequence of int
        One for each column.
    """
    for column, width in zip(table.findall(nodes.colspec), widths, strict=True):
        column["colwidth"] = width
    table["classes"].append("colwidths-given")


class FoldedCode(SphinxPostTransform):
    """Leave out the code that the pages keep folded, most of it drawing."""

    default_priority = 3
    builders = ("latex",)

    def run(self, **kwargs: object) -> None:
        """Remove the code of the cells with the tag."""
        for cell in list(self.document.findall(nodes.container)):
            if "tag_hide-input" in cell["classes"]:
                for source in list(cell.findall(nodes.container)):
                    if "cell_input" in source["classes"]:
                        source.parent.remove(source)


# --- Sphinx ---


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.connect("config-inited", set_up_print, priority=950)  # after the table of contents at 900
    for transform in (Parts, References, Verdicts, Statements, Anchors, Cards, Tables, FoldedCode):
        app.add_post_transform(transform)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
