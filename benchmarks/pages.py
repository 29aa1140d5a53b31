"""Measure how soon a page of the built book can be read, opened from a disk, and what it weighs.

python benchmarks/pages.py        the pages of _build/html; writes benchmarks/results/pages.json

The browser is Chromium, with a profile of its own for each visit: nothing is kept from the one before.
"""

import re
import shutil
import statistics
from pathlib import Path

from machine import machine, write_results
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
PAGES = {
    "book/index": "opening page",
    "book/idea": "the idea, without a widget",
    "book/sections/correlation_memory": "section 1",
    "book/sections/scalar_theory": "section 7",
    "book/sections/ridgeless_limit": "section 9",
    "book/explore_capacity": "an explorer",
    "book/ledger": "the ledger",
}
"""Pages that are opened, with what the table calls them."""
VISITS = 5
LOADED = re.compile(
    r'<(?:script|img)\b[^>]* src="([^"?#:]+)|<link\b[^>]* href="([^"?#:]+)[^>]*rel="stylesheet"'
)
WIDGETS = ("/widgets/", "/explorer/")
"""Folders of what widgets and explorers bring along."""
PAINT = """
    () => Object.fromEntries([
        ...performance.getEntriesByType('paint').map(entry => [entry.name, entry.startTime]),
        ['widgets', Math.max(0, ...performance.getEntriesByType('mark').map(entry => entry.startTime))],
    ])
"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length > 0"
READY = "() => [...document.querySelectorAll('[data-widget]')].every(place => place.dataset.ready)"


def weights(name: str) -> tuple[int, int]:
    """Bytes that a page loads, and those of them that its widgets bring along.

    Parameters
    ----------
    name : str
        Of the page, without its ending.

    Returns
    -------
    whole, widgets : int
    """
    path = SITE / f"{name}.html"
    text = path.read_text(encoding="utf-8")
    found = {source or style for source, style in LOADED.findall(text)}
    sizes = {part: (path.parent / part).resolve().stat().st_size for part in found}
    own = sum(size for part, size in sizes.items() if any(folder in part for folder in WIDGETS))
    return path.stat().st_size + sum(sizes.values()), own


def visit(browser: object, name: str) -> dict[str, float]:
    """Milliseconds until the first words of a page are seen, and until its widgets are there."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto((SITE / f"{name}.html").as_uri())
    page.wait_for_function(PAINTED)
    page.wait_for_function(READY)
    found = page.evaluate(PAINT)
    context.close()
    return {"paint": found["first-contentful-paint"], "widgets": found["widgets"]}


def rows() -> list[dict]:
    """A row for each page: medians of several visits, and bytes.

    Returns
    -------
    list of dict
    """
    found = []
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name, words in PAGES.items():
            visits = [visit(browser, name) for _ in range(VISITS)]
            paint, widgets = (statistics.median(v[key] for v in visits) for key in ("paint", "widgets"))
            whole, own = weights(name)
            row = {"page": words, "paint": round(paint), "widgets": round(widgets), "bytes": whole}
            found.append(row | {"widget_bytes": own})
            print(row)
        browser.close()
    return found


def main() -> None:
    """Measure and write the table."""
    write_results("pages", {"visits": VISITS, "machine": machine(), "rows": rows()})


if __name__ == "__main__":
    main()
