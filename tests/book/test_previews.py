"""Previews of what links lead to, cut out of finished pages."""

import json
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from extensions import loaded

PAGE = """
<html><body><article class="bd-article">
<section id="top"><h1>1. Memories<a class="headerlink" href="#top">#</a></h1>
<div class="section-head"><dl><dt>What</dt><dd><p>Not this.</p></dd></dl></div>
<p>The first paragraph, with <span class="math">\\(x\\)</span> and</p>
<div class="math" id="equation-eq-a">
<span class="eqno">(1.1)<a class="headerlink" href="#equation-eq-a">#</a></span>\\[ x = 1 \\]</div>
<p>The second.</p>
<section id="part"><span id="old-name"></span><h2>1.1. A part</h2><p>What the part says.</p></section>
<div class="proof theorem admonition" id="thm">
<p class="admonition-title"><span class="caption-number">Theorem 1.1 </span>
Fits (Theorem 2 of the paper)</p>
<section id="proof-content"><p>It <a href="ledger.html#theorem-2">fits</a>.</p></section></div>
<figure id="fig">
<a class="image-reference" href="../_images/a.png"><img alt="A cloud" src="../_images/a.png"/></a>
<figcaption><p><span class="caption-number">Fig. 1.1 </span>A cloud. Of dots.</p></figcaption></figure>
<dl class="glossary"><dt id="term-load">load</dt><dd><p>Pairs an entry.</p></dd></dl>
<div class="check-card" id="check-one">
<p><span class="verdict">holds</span> <a href="ledger.html#theorem-2">Theorem 2</a>: Fits</p>
<p><strong>Share of those that fit</strong></p>
<svg id="s"><path id="tip" d="M0 0"/><use href="#tip"/></svg>
<details><summary>The numbers</summary><p>0.123</p></details></div>
<div class="cell"><div class="cell_input"><pre>alpha=0.35</pre></div></div>
<p>Links: <a href="#equation-eq-a">(1.1)</a>, <a href="ledger.html#theorem-2">Theorem 2</a>,
<a href="#gone">gone</a>, <a href="https://example.org/">elsewhere</a>,
<a href="ledger.html?verdict=holds">some</a>, <a href="ledger.html">the ledger</a>,
<a class="headerlink" href="#fig">#</a>.</p>
</section></article></body></html>
"""
LEDGER = """
<article><section id="ledger"><h1>The ledger</h1><p>What holds.</p>
<div class="ledger-entry">
<p id="theorem-2"><strong>Theorem 2</strong> <span class="verdict">holds</span><br/><em>Fits</em></p>
<p>Whatever is small fits.</p><p><em>In the proof</em>: uses Lemma 1.</p>
<table class="ledger-table"><tr><td>1</td></tr></table>
</div></section></article>
"""


@pytest.fixture(scope="module")
def extension():
    with loaded("assocmem_previews") as module:
        yield module


@pytest.fixture
def articles(extension, tmp_path):
    found = {}
    with loaded("assocmem_articles") as finished:
        read_article = finished.read_article
    for name, text in (("book/page.html", PAGE), ("book/ledger.html", LEDGER)):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        found[name] = read_article(path)
    return found


def shown(extension, articles, anchor, page="book/page.html"):
    text = extension.cut_out(extension.preview(articles[page], anchor), page)
    return BeautifulSoup(text, "html.parser")


def words(soup):
    return " ".join(soup.get_text(" ").split())


def test_an_equation_keeps_its_number(extension, articles):
    seen = shown(extension, articles, "equation-eq-a")
    assert words(seen) == r"(1.1) \[ x = 1 \]"
    assert seen.find(class_="math")
    assert not seen.select("[id], a")


def test_a_section_shows_its_heading_and_first_paragraph(extension, articles):
    assert words(shown(extension, articles, "")).startswith("1. Memories The first paragraph, with")
    assert "x = 1" in words(shown(extension, articles, "top"))  # the formula that it leads to
    assert words(shown(extension, articles, "part")) == "1.1. A part What the part says."
    assert words(shown(extension, articles, "old-name")) == "1.1. A part What the part says."


def test_a_statement_is_whole_and_has_no_links(extension, articles):
    seen = shown(extension, articles, "thm")
    assert words(seen) == "Theorem 1.1 Fits (Theorem 2 of the paper) It fits."
    assert not seen.find("a")


def test_a_picture_is_referred_to_from_the_root(extension, articles):
    seen = shown(extension, articles, "fig")
    assert seen.img["src"] == "@/_images/a.png"
    assert words(seen) == "Fig. 1.1 A cloud. Of dots."


def test_a_term_has_its_meaning(extension, articles):
    assert words(shown(extension, articles, "term-load")) == "load Pairs an entry."


def test_a_check_shows_its_card_without_code_and_numbers(extension, articles):
    seen = shown(extension, articles, "check-one")
    assert words(seen) == "holds Theorem 2: Fits Share of those that fit"
    assert seen.use["href"] == "#preview-tip"
    assert seen.path["id"] == "preview-tip"


def test_an_entry_of_the_ledger_shows_the_statement_and_the_verdict(extension, articles):
    seen = shown(extension, articles, "theorem-2", "book/ledger.html")
    assert words(seen) == "Theorem 2 holds Fits Whatever is small fits."


def test_what_is_not_there_has_no_preview(extension, articles):
    assert extension.preview(articles["book/page.html"], "gone") == []


def test_a_page_has_the_previews_that_its_links_need(extension, articles):
    before = str(articles["book/ledger.html"])
    texts = extension.previews_of("book/page.html", articles)
    assert list(texts) == ["book/ledger.html#theorem-2", "book/page.html#equation-eq-a", "book/ledger.html"]
    assert str(articles["book/ledger.html"]) == before


def test_the_build_writes_one_script_a_page(extension, articles, tmp_path):
    builder = SimpleNamespace(format="html", get_outfilename=lambda name: tmp_path / f"{name}.html")
    env = SimpleNamespace(found_docs={"book/page", "book/ledger", "book/gone"})
    app = SimpleNamespace(builder=builder, env=env, outdir=tmp_path)
    extension.write_previews(app, None)
    scripts = tmp_path / extension.FOLDER / "book"
    assert {path.name for path in scripts.iterdir()} == {"page.js", "ledger.js"}
    script = (scripts / "page.js").read_text(encoding="utf-8")
    assert len(json.loads(script.removeprefix("assocmemPreviews(").removesuffix(");\n"))) == 3
    script = (scripts / "ledger.js").read_text(encoding="utf-8")
    assert script == "assocmemPreviews({});\n"
