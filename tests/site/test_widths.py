"""Nothing is wider than its column: formulas at three widths of the window, code at the usual one."""

import pytest
from conftest import toc_pages

pytestmark = pytest.mark.site

WIDTHS = (390, 1280, 1920)
FORMULAS = """
    () => [...document.querySelectorAll('.bd-content mjx-container')].filter((box) => {
      const drawn = box.querySelector('svg');
      if (!drawn || !box.offsetParent || box.closest('table')) return false;  // tables scroll, as a whole
      if (box.getAttribute('display')) return box.scrollWidth > box.clientWidth + 1;
      const around = box.closest('p, li, dd, figcaption, h1, h2, h3') ?? box.parentElement;
      return drawn.getBoundingClientRect().width > around.getBoundingClientRect().width + 1;
    }).map((box) => (box.closest('div.math') ?? box).id || box.closest('[id]').id)
"""
CODE = """
    () => [...document.querySelectorAll('.bd-content pre')]
      .filter((box) => box.offsetParent && box.scrollWidth > box.clientWidth + 1)
      .map((box) => box.textContent.slice(0, 60))
"""
TYPESET = "window.MathJax?.startup?.promise ? MathJax.startup.promise.then(() => 1) : 1"


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
@pytest.mark.parametrize("name", toc_pages())
def test_formulas_and_code_fit(page, origin, name):
    page.goto(f"{origin}/{name}.html")
    page.evaluate(TYPESET)
    cut = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        cut[width] = page.evaluate(FORMULAS)
    assert cut == {width: [] for width in WIDTHS}
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert page.evaluate(CODE) == []
