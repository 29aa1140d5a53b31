"""Links from words to the glossary: the first use of each, and nothing inside formulas, titles or links."""

import importlib.util

import pytest
from docutils import nodes
from sphinx import addnodes
from sphinx.testing.util import SphinxTestApp

from assocmem.book.sections import section_names
from assocmem.sweeps.project import project_root

ROOT = project_root()
FOLDER = ROOT / "book" / "_ext"
spec = importlib.util.spec_from_file_location("assocmem_glossary", FOLDER / "assocmem_glossary.py")
extension = importlib.util.module_from_spec(spec)
spec.loader.exec_module(extension)

ENTRIES = [
    ["load"],
    ["tail average"],
    ["tail-average margin"],
    ["margin"],
    ["key"],
    ["SAT"],
    ["entry", "item"],
]
SOURCE = """\
# Words

```{glossary}
load
  Pairs per {term}`entry`.

  A second paragraph.

entry
item
  One number.
```

Text that is no term.
"""


def page(*children):
    document = nodes.document(None, None)
    document.extend(children)
    return document


def paragraph(*parts):
    made = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    return nodes.paragraph("", "", *made)


def linked(document):
    """Words and targets of the links that were made, in order."""
    extension.add_links(document, extension.Terms(ENTRIES), "book/sections/trial")
    return [
        (node.astext(), node["reftarget"])
        for node in document.findall(addnodes.pending_xref)
        if node["reftype"] == "term"
    ]


def test_terms_are_read_with_those_that_share_an_explanation():
    assert extension.read_terms(SOURCE) == [["load"], ["entry", "item"]]
    assert extension.read_terms("no block") == []


@pytest.mark.parametrize(
    ("term", "plural"),
    [("key", "keys"), ("memory", "memories"), ("loss", "losses"), ("kind of evidence", "kinds of evidence")],
)
def test_plurals(term, plural):
    assert extension.forms(term) == [term, plural]


def test_the_first_use_is_linked_and_the_words_stay_as_they_are():
    text = "Loads rise. The load of a key, and of\nkeys."
    document = page(paragraph(text), paragraph("A load."))
    assert linked(document) == [("Loads", "load"), ("key", "key")]
    assert document.astext() == f"{text}\n\nA load."


def test_the_longest_term_is_taken():
    document = page(paragraph("The tail-average margin, a tail\naverage, its margin, a margin."))
    assert linked(document) == [
        ("tail-average margin", "tail-average margin"),
        ("tail\naverage", "tail average"),
        ("margin", "margin"),
    ]


def test_words_within_others_are_left_alone():
    text = "Overload, load-bearing, monkey, keyed, sat, SATisfied, off-key"
    assert linked(page(paragraph(text))) == []
    assert linked(page(paragraph("SAT"))) == [("SAT", "SAT")]


def test_terms_that_share_an_explanation_have_one_link():
    assert linked(page(paragraph("items and entries"))) == [("items", "item")]


def test_titles_formulas_code_links_captions_and_tables_have_none():
    load = nodes.Text("load")
    document = page(
        nodes.section("", nodes.title("", "The load"), paragraph(nodes.math("load", "load"))),
        paragraph(nodes.literal("load", "load"), nodes.reference("", "the load", refuri="x")),
        nodes.figure("", nodes.caption("", "A load"), nodes.legend("", paragraph("A load"))),
        nodes.table("", nodes.entry("", paragraph("A load"))),
        nodes.literal_block("load", "load"),
        nodes.math_block("load", "load"),
        paragraph(nodes.footnote("", paragraph(load))),
    )
    assert linked(document) == []


def test_lists_emphasis_and_statements_have_some():
    document = page(
        nodes.bullet_list("", nodes.list_item("", paragraph("The ", nodes.emphasis("", "load")))),
        nodes.note("", nodes.title("", "Key"), paragraph(nodes.strong("", "Key"), " of all")),
    )
    assert linked(document) == [("load", "load"), ("Key", "key")]


def test_on_the_card_of_a_check_only_its_key_has_some():
    key = nodes.container(
        "", nodes.bullet_list("", nodes.list_item("", paragraph("load"))), classes=["check-key"]
    )
    card = nodes.container("", paragraph("The margin of a key"), key, classes=["check-card"])
    assert linked(page(card, paragraph("A key"))) == [("load", "load"), ("key", "key")]


def test_a_link_made_by_hand_is_enough():
    by_hand = addnodes.pending_xref("", nodes.inline("", "load"), reftype="term", reftarget="Load")
    assert linked(page(paragraph("The load, a "), paragraph(by_hand))) == [("load", "Load")]


def test_terms_with_another_sense_on_a_page_are_left_to_others():
    assert "ratio" in extension.strangers("book/sections/scalar_theory_checks")
    assert extension.strangers("book/idea") == set()
    names = {name for pages in extension.ELSEWHERE.values() for name in pages}
    assert names <= {*section_names(), *(page.rsplit("/", 1)[-1] for page in extension.ALSO)}


def test_the_glossary_is_in_order_and_has_all_terms_that_are_named_in_the_code():
    entries = extension.read_terms((ROOT / f"{extension.GLOSSARY}.md").read_text(encoding="utf-8"))
    firsts = [terms[0].lower() for terms in entries]
    assert firsts == sorted(firsts, key=lambda term: term.replace("-", " "))
    terms = {term for own in entries for term in own}
    assert 40 <= len(entries) <= 75
    assert terms >= extension.ORDINARY | set(extension.IRREGULAR) | set(extension.ELSEWHERE)


def test_a_built_page_leads_to_its_words(tmp_path):
    (tmp_path / "book" / "sections").mkdir(parents=True)
    (tmp_path / "book" / "glossary.md").write_text(SOURCE, encoding="utf-8")
    text = "# A load\n\nTwo items and a load, $load$; a load.\n"
    (tmp_path / "book" / "sections" / "trial.md").write_text(text, encoding="utf-8")
    (tmp_path / "book" / "other.md").write_text(text, encoding="utf-8")
    (tmp_path / "index.md").write_text("# All\n\n```{toctree}\n:glob:\nbook/**\n```\n", encoding="utf-8")
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(FOLDER)!r})\n"
        "extensions = ['myst_parser', 'assocmem_glossary']\nmyst_enable_extensions = ['dollarmath']\n",
        encoding="utf-8",
    )
    app = SphinxTestApp("html", srcdir=tmp_path)
    app.build()
    warnings = app.warning.getvalue()
    app.cleanup()
    assert not warnings
    pages = tmp_path / "_build" / "html" / "book"
    html = (pages / "sections" / "trial.html").read_text(encoding="utf-8")
    assert html.count('href="../glossary.html#term-') == 2
    assert 'href="../glossary.html#term-item"' in html and "a load.</p>" in html
    assert "#term-" not in (pages / "other.html").read_text(encoding="utf-8")
