"""Checks of the printed book: everything is in it, every link leads somewhere, nothing leaves the page."""

import ctypes
import os
import re
from collections import Counter

import pytest
import yaml
from conftest import ROOT, toc_pages

from assocmem.book.api import API
from assocmem.book.claims import KINDS, VERDICTS, read_checks, statements
from assocmem.book.pdf import pdf_path
from assocmem.book.sections import load_section

pytestmark = pytest.mark.site

PDF = pdf_path(ROOT)
SIDE, TOP, BOTTOM = 60, 28, 38  # points that stay white: code begins at 64, the header at 32
MARKUP = re.compile(  # strings in code may hold some: there, roles follow a quote and backslashes are doubled
    r"\?\?|</?(?:span|a|div|table|t[rdh]|p|br)\b[^>]*>|"
    r"(?<!\")\{(?:doc|numref|eq|ref|cite[:\w]*|prf:\w+)\}`|"
    r"(?<!\\)\\(?:hyperref|label|DUrole|begin|end|frac|sqrt|alpha|mathbb|text\w*)\b|None:"
)


@pytest.fixture(scope="module")
def pdf():
    if not PDF.is_file():
        message = "no printed book: make pdf"
        if os.environ.get("ASSOCMEM_REQUIRE_PDF") == "1":
            pytest.fail(message)
        pytest.skip(message)
    import pypdfium2

    with pypdfium2.PdfDocument(PDF) as document:
        yield document


@pytest.fixture(scope="module")
def texts(pdf):
    """The text of each page."""
    return [page.get_textpage().get_text_bounded() for page in pdf]


@pytest.fixture(scope="module")
def bookmarks(pdf):
    """Depth, title and number of the page of each bookmark."""
    return [(mark.level, mark.get_title(), mark.get_dest().get_index()) for mark in pdf.get_toc()]


@pytest.fixture(scope="module")
def log(pdf):
    path = PDF.parent / "_build" / "latex" / f"{PDF.stem}.log"
    return path.read_text(encoding="utf-8", errors="replace")


def chapters_of_the_book():
    """The pages that are chapters in print: no second pages, and none of the reference."""
    files = [entry["file"] for part in parts() for entry in part["chapters"]]
    return [toc_pages()[0], *(name for name in files if not name.startswith(API))]


def parts():
    return yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]


def test_the_book_says_what_it_is(pdf):
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    about = pdf.get_metadata_dict()
    assert (about["Title"], about["Author"]) == (config["title"], config["author"])
    assert "Sharp Capacity Thresholds" in pdf[0].get_textpage().get_text_bounded()
    assert 100 < len(pdf) < 500
    assert {tuple(round(x) for x in page.get_size()) for page in pdf} == {(595, 842)}  # A4


def test_bookmarks_name_the_parts_and_all_chapters_in_order(bookmarks):
    tops = [title for level, title, _ in bookmarks if level == 0]
    assert [re.sub(r"^[IVX]+ ", "", title) for title in tops] == [part["caption"] for part in parts()]
    chapters = [title for level, title, _ in bookmarks if level == 1]
    assert len(chapters) == len(chapters_of_the_book())
    sections = [page for page in chapters_of_the_book() if page.startswith("book/sections/")]
    numbered = [f"{i} {load_section(page.split('/')[-1], ROOT).title}" for i, page in enumerate(sections, 1)]
    assert [title for title in chapters if title[0].isdigit()] == numbered
    assert "Bibliography" in chapters


def test_a_bookmark_leads_to_its_heading(bookmarks, texts):
    def letters(text):
        return re.sub(r"\W", "", text)

    for level, title, page in bookmarks:
        if level == 1:
            assert letters(title.lstrip("0123456789 ")) in letters(texts[page]), title


def test_references_stand_on_their_own_pages(bookmarks, texts):
    """Sphinx would put them at the end of the book."""
    (page,) = [page for _, title, page in bookmarks if title == "Bibliography"]
    assert "Correlation matrix memories" in "".join(texts[page : page + 2])  # the list takes two pages


def test_figures_have_the_numbers_of_the_pages(site, texts):
    printed = set(re.findall(r"^Fig\. ([\d.]+):", "\n".join(texts).replace("\r", ""), flags=re.MULTILINE))
    numbers = set()
    for page in toc_pages():
        html = (site / f"{page}.html").read_text(encoding="utf-8")
        numbers |= set(re.findall(r'caption-number">Fig\. ([\d.]+) <', html))
    assert printed == numbers
    assert len(numbers) > 40


def test_verdicts_and_checks_are_there(texts):
    text = " ".join(" ".join(texts).split())
    sections = [page for page in chapters_of_the_book() if page.startswith("book/sections/")]
    checks = [c for page in sections for c in read_checks(ROOT / f"{page}.ipynb")]
    names = (statement.name for statement in statements().values())
    verdict, kind, name = (
        "|".join(sorted(words, key=len, reverse=True)) for words in (VERDICTS, KINDS, set(names))
    )
    verdicts = Counter(re.findall(rf"\b({verdict}) (?:{kind}) (?:{name}):", text))
    assert verdicts == Counter(c.verdict for c in checks)


def test_no_markup_and_no_unresolved_reference_is_left(texts):
    found = {number: MARKUP.findall(text) for number, text in enumerate(texts, 1)}
    assert {number: hits for number, hits in found.items() if hits} == {}


def test_every_link_leads_somewhere(pdf):
    from pypdfium2 import raw

    count = Counter()
    dead = []
    for number, page in enumerate(pdf, 1):
        position, link = ctypes.c_int(0), raw.FPDF_LINK()
        while raw.FPDFLink_Enumerate(page, position, link):
            action = raw.FPDFLink_GetAction(link)
            outside = bool(action) and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI
            destination = raw.FPDFLink_GetDest(pdf, link)
            count["outside" if outside else "inside"] += 1
            if not outside and (not destination or raw.FPDFDest_GetDestPageIndex(pdf, destination) < 0):
                dead.append(number)
    assert dead == []
    assert count["inside"] > 300


def test_no_ink_leaves_the_page(pdf):
    import numpy as np

    stained = []
    for number, page in enumerate(pdf, 1):
        image = np.array(page.render(scale=0.5, grayscale=True).to_pil())
        image[TOP // 2 : -BOTTOM // 2, SIDE // 2 : -SIDE // 2] = 255
        if image.min() < 250:
            stained.append(number)
    assert stained == []


def test_latex_had_nothing_to_complain_about(log):
    # lines of the log are broken at 79 characters
    joined = re.sub(r"(?<=[^\n]{79})\n", "", log)
    assert re.findall(r".*undefined on input line.*", joined) == []
    assert "Missing character" not in joined
    assert "multiply defined" not in joined
    wide = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", joined)]
    assert [x for x in wide if x > 10] == []
