"""Links from the words of a page to the glossary: the first use of each word, without any markup in the text.

The terms are read from the glossary's source, so that a page can be given its links as soon as it is read,
in whatever order pages are; they are ordinary references to terms, which Sphinx resolves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config

from assocmem.book.sections import PAGES, section_of

GLOSSARY = "book/glossary"
"""The page with the terms."""
ALSO = {"book/idea", "book/by_hand", "book/why", "book/proofs", "book/errata"}
"""Pages that get links besides the sections."""
ORDINARY = {
    *("check", "clip", "column", "comparison", "coupling", "dual"),
    *("edge", "fact", "force", "fresh", "lift", "list", "pool", "rival"),
}
"""Terms that are verbs or plain words as often as terms: the glossary has them, but nothing is guessed."""
IRREGULAR = {"kind of evidence": ["kinds of evidence"], "SAT": [], "UNSAT": []}
"""Terms that have no regular plural, with the other forms that they have."""
ELSEWHERE = {
    "certificate": ["tail_average_margin"],
    "first place": ["finite_size_scaling"],
    "frequency": ["perceptron_to_memory"],
    "loss": ["sparse_repair"],
    "margin": ["why"],
    "pair": ["tail_average_margin"],
    "price": ["dual_certificate", "ridgeless_limit", "proofs"],
    "ratio": ["top1_threshold", "tail_average_margin", "scalar_theory", "leave_one_out", "ridgeless_limit"],
}
"""Sections and pages that use a word in another sense first, by the term."""
DIRECTIVE = re.compile(r"^(`{3,}|:{3,})\{glossary\}[^\n]*\n(.*?)^\1", re.DOTALL | re.MULTILINE)
"""A block of terms in MyST."""
HOLDERS = (nodes.paragraph,)
"""What may hold a link: paragraphs, also those of list items."""
THROUGH = (nodes.emphasis, nodes.strong)
"""What may stand between a paragraph and its words."""
CLOSED = (
    nodes.title,
    nodes.caption,
    nodes.figure,
    nodes.table,
    nodes.footnote,
    nodes.citation,
    nodes.raw,
    nodes.reference,
    nodes.term,
    addnodes.pending_xref,
    addnodes.toctree,
)
"""What has no links below it, at any depth."""
CARD = "check-card"
"""The class of the card of a check, in which there are names and numbers."""
CARD_WORDS = {"check-axis", "check-key"}
"""The classes of those parts of a card that have words of the book, such as "falsehood"."""


# --- terms ---


def read_terms(text: str) -> list[list[str]]:
    """Return the terms of a glossary, those with a common explanation together.

    Parameters
    ----------
    text : str
        The source of the page.

    Returns
    -------
    list of list of str
        In the order of the page.
    """
    entries: list[list[str]] = []
    for _, block in DIRECTIVE.findall(text):
        within = False
        for line in block.splitlines():
            is_term = bool(line.strip()) and not line[0].isspace() and not line.startswith(":")
            if is_term and within:
                entries[-1].append(line.strip())
            elif is_term:
                entries.append([line.strip()])
            within = is_term
    return entries


def forms(term: str) -> list[str]:
    """Return a term and its plural.

    Parameters
    ----------
    term : str

    Returns
    -------
    list of str
    """
    if term in IRREGULAR:
        return [term, *IRREGULAR[term]]
    if re.search("[^aeiou]y$", term):
        return [term, f"{term[:-1]}ies"]
    return [term, f"{term}es" if re.search("(s|x|ch|sh)$", term) else f"{term}s"]


class Terms:
    """The terms to look for, the longest first.

    Parameters
    ----------
    entries : iterable of list of str
        From `read_terms`.
    leave : collection of str
        Terms that are not looked for.
    """

    def __init__(self, entries: Iterable[Sequence[str]], leave: Collection[str] = ORDINARY) -> None:
        self.entry: dict[str, tuple[int, str]] = {}
        for number, terms in enumerate(entries):
            for term in terms:
                if term not in leave:
                    self.entry |= {form.lower(): (number, term) for form in forms(term)}
        wanted = sorted(self.entry, key=len, reverse=True)
        words = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in wanted)
        self.pattern = re.compile(rf"(?<![\w$-])(?:{words})(?![\w-])", re.IGNORECASE) if wanted else None

    def find(self, text: str, done: set[int]) -> list[tuple[int, int, str]]:
        """Return where a text uses terms for the first time.

        Parameters
        ----------
        text : str
        done : set of int
            Numbers of the entries that have had their link; those found are added.

        Returns
        -------
        list of (int, int, str)
            Beginning, end, and the term as the glossary has it.
        """
        found = []
        for match in self.pattern.finditer(text) if self.pattern else ():
            number, term = self.entry[" ".join(match[0].split()).lower()]
            if number not in done and not (term.isupper() and not match[0].isupper()):
                done.add(number)
                found.append((match.start(), match.end(), term))
        return found


# --- links ---


def open_texts(doctree: nodes.Element) -> list[nodes.Text]:
    """Return the texts of a page that may have links, in order.

    Parameters
    ----------
    doctree : nodes.Element

    Returns
    -------
    list of nodes.Text
    """
    found = []

    def walk(node: nodes.Node, within: bool, in_card: bool) -> None:
        if isinstance(node, nodes.Text):
            if within and not in_card:
                found.append(node)
        elif not isinstance(node, CLOSED):
            inside = isinstance(node, HOLDERS) or (within and isinstance(node, THROUGH))
            classes = set(node.get("classes", ()))
            in_card = CARD in classes or (in_card and not CARD_WORDS & classes)
            for child in node.children:
                walk(child, inside, in_card)

    walk(doctree, False, False)
    return found


def link(term: str, words: str, docname: str) -> addnodes.pending_xref:
    """Return a reference to a term that Sphinx will resolve.

    Parameters
    ----------
    term : str
        As the glossary has it.
    words : str
        As the text has it.
    docname : str
        The page of the text.

    Returns
    -------
    pending_xref
    """
    look = nodes.inline(words, words, classes=["xref", "std", "std-term"])
    about = {"refdomain": "std", "reftype": "term", "reftarget": term, "refdoc": docname}
    return addnodes.pending_xref(words, look, refexplicit=True, refwarn=True, **about)


def add_links(doctree: nodes.document, terms: Terms, docname: str) -> int:
    """Link the first use of each term of a page.

    Parameters
    ----------
    doctree : nodes.document
        It is changed.
    terms : Terms
    docname : str

    Returns
    -------
    int
        The number of links.
    """
    # What an author has linked by hand needs no second link.
    done = {
        terms.entry[target][0]
        for node in doctree.findall(addnodes.pending_xref)
        if node["reftype"] == "term" and (target := node["reftarget"].lower()) in terms.entry
    }
    before = len(done)
    for node in open_texts(doctree):
        text, place = node.astext(), 0
        pieces: list[nodes.Node] = []
        for start, end, term in terms.find(text, done):
            pieces += [nodes.Text(text[place:start]), link(term, text[start:end], docname)]
            place = end
        if pieces:
            node.parent.replace(
                node, [piece for piece in (*pieces, nodes.Text(text[place:])) if piece.astext()]
            )
    return len(done) - before


# --- Sphinx ---


def link_page(app: Sphinx, doctree: nodes.document) -> None:
    """Link the words of a page that has just been read, if it is one that gets links.

    Parameters
    ----------
    app, doctree
        As Sphinx gives them with ``doctree-read``.
    """
    docname = app.env.docname
    if not (docname.startswith(PAGES) or docname in ALSO):
        return
    path = Path(app.srcdir, f"{GLOSSARY}.md")
    app.env.note_dependency(path)
    app.env.note_dependency(__file__)
    entries = read_terms(path.read_text(encoding="utf-8"))
    add_links(doctree, Terms(entries, ORDINARY | strangers(docname)), docname)


def strangers(docname: str) -> set[str]:
    """Return the terms that a page has in another sense, also where a section goes on on a second page."""
    name = section_of(docname) if docname.startswith(PAGES) else docname.rsplit("/", 1)[-1]
    return {term for term, pages in ELSEWHERE.items() if name in pages}


def set_up_print(app: Sphinx, config: Config) -> None:
    """Print linked words upright: Sphinx would have them in italics.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    upright = "\\protected\\def\\sphinxtermref#1{#1}\n"
    elements = config.latex_elements
    config.latex_elements = {**elements, "preamble": elements.get("preamble", "") + upright}


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", link_page)
    app.connect("config-inited", set_up_print, priority=960)  # after assocmem_print has written the preamble
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
