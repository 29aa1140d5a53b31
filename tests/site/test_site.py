"""The built book, as its readers get it: complete, quiet, offline, and readable on any screen."""

import json
import re
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import ROOT, WITHOUT_STROKES, repository_address, soup, toc_pages

pytestmark = pytest.mark.site

PAGES = toc_pages()
FRONT = PAGES[0]
SECTIONS = [name for name in PAGES if name.startswith("book/sections/")]
OTHERS = ["search", "genindex", "prf-prf"]
# Contrast takes axe most of a minute on a page with many formulas: there it looks at what is around the text,
# and the other test of each page at the text itself.
LONG = {*SECTIONS, *(f"book/{name}" for name in ("ledger", "benchmarks", "proofs", "notation", "errata"))}
LONG |= {name for name in PAGES if name.startswith("book/api/")}
# All pages as a server gives them; from a disk one of each kind, which differ in where their files come from.
VISITS = [("loopback", name) for name in PAGES] + [("disk", name) for name in (FRONT, *SECTIONS[:1])]
AXE_VISITS = [("loopback", name) for name in (*PAGES, *OTHERS)]
VERDICTS = {"holds", "holds with limits", "does not hold", "not yet"}
CLAIM_KEYS = {"id", "source", "verdict", "measured", "predicted", "tolerance", "falsehood", "section"}
REPOSITORY_LINK = re.compile(r"/issues/new|/edit/main/|colab\.research\.|mybinder\.")


@cache
def anchors(path: Path) -> set[str]:
    return {
        tag.get("id") or tag.get("name")
        for tag in soup(path).find_all(id=True) + soup(path).select("a[name]")
    }


def html_files(site: Path) -> list[Path]:
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts]


def is_elsewhere(address: str) -> bool:
    """Tell whether an address leads off this machine."""
    parts = urlsplit(address.strip())
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def place(site: Path, page: Path, path: str) -> Path:
    """The file that a link leads to; one from the root counts from where the site is on its host."""
    if path.startswith("/"):
        own = page.relative_to(site).as_posix()
        home = urlsplit(soup(page).find("link", rel="canonical")["href"]).path.removesuffix(own)
        return site / path.removeprefix(home)
    return (page.parent / path).resolve()


# --- what the files say ---


@pytest.mark.parametrize("name", PAGES)
def test_page_of_the_contents_exists(site, name):
    assert soup(site / f"{name}.html").h1


def test_the_root_leads_to_the_front_page(site):
    refresh = soup(site / "index.html").find("meta", attrs={"http-equiv": re.compile("refresh", re.I)})
    assert FRONT == "index" or refresh["content"].endswith(f"url={FRONT}.html")


def test_the_front_page_has_formulas_to_typeset(site):
    assert len(soup(site / f"{FRONT}.html").select("article .math")) > 10


def test_internal_links_and_anchors_resolve(site):
    broken = []
    for page in html_files(site):
        for tag in soup(page).select("a[href], link[href], script[src], img[src], source[src]"):
            address = tag.get("href", tag.get("src"))
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = place(site, page, unquote(parts.path)) if parts.path else page
            gone = not target.is_file()
            lost = (
                parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target)
            )
            if gone or lost:
                broken.append(f"{page.relative_to(site)}: {address}")
    assert not broken


def test_nothing_is_loaded_from_another_host(site):
    loaded = [
        f"{page.relative_to(site)}: {tag.get('src') or tag.get('href') or tag.get('data')}"
        for page in html_files(site)
        for tag in soup(page).select(
            "script[src], link[href]:not([rel=canonical]), img[src], iframe[src], source[src], object[data]"
        )
        if is_elsewhere(tag.get("src") or tag.get("href") or tag.get("data"))
    ]
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        addresses = re.findall(r"(?:url\(|@import\s+)\s*[\"']?([^\"')\s;]+)", text)
        loaded += [f"{sheet.relative_to(site)}: {address}" for address in addresses if is_elsewhere(address)]
    assert not loaded


def test_every_image_says_what_it_shows(site):
    images = [(page, image) for page in html_files(site) for image in soup(page).find_all("img")]
    assert images
    mute = [
        f"{page.relative_to(site)}: {image['src']}"
        for page, image in images
        if not image.get("alt", "").strip() or re.search(r"\.(png|svg|jpe?g)$", image["alt"])
    ]
    assert not mute


def test_links_to_the_repository_follow_its_address(site):
    address = repository_address().rstrip("/").removesuffix(".git")
    for name in PAGES:
        links = [tag["href"] for tag in soup(site / f"{name}.html").select("a[href]")]
        if address:
            assert address in links, name
        else:
            assert not [link for link in links if REPOSITORY_LINK.search(link)], name


def test_sections_offer_their_notebook(site):
    assert SECTIONS
    for name in SECTIONS:
        link = soup(site / f"{name}.html").select_one("a.btn-download-notebook-button")
        notebook = (site / name).parent / link["href"]
        assert json.loads(notebook.read_text(encoding="utf-8"))["nbformat"] == 4


def test_claims_are_complete(site):
    claims = json.loads((site / "claims.json").read_text(encoding="utf-8"))
    assert isinstance(claims, list)
    assert claims
    for claim in claims:
        assert claim.keys() >= CLAIM_KEYS, claim
        assert claim["verdict"] in VERDICTS, claim
    assert len({claim["id"] for claim in claims}) == len(claims)


def test_no_path_of_the_building_machine_is_told(site):
    places = {f"{place}/" for place in (ROOT, Path.home(), tempfile.gettempdir()) if str(place) != "/"}
    kinds = {".html", ".ipynb", ".json", ".js", ".md", ".txt"}
    told = [
        f"{path.relative_to(site)}: {place}"
        for path in site.rglob("*")
        if path.is_file() and path.suffix in kinds and "_static" not in path.relative_to(site).parts
        for place in places
        if place in path.read_text(encoding="utf-8", errors="replace")
    ]
    assert not told


# --- what a browser shows ---

FORMULAS_ARE_SET = """
    () => [...document.querySelectorAll('.bd-article .math')].every(m => m.querySelector('mjx-container'))
"""

# TeX that nobody typeset, outside code; formulas that MathJax could not read; macros that it does not know.
RAW_TEX = r"""
    () => {
        const copy = document.querySelector('article').cloneNode(true);
        copy.querySelectorAll('pre, code, script, mjx-container').forEach(node => node.remove());
        const raw = copy.textContent.match(/\$\$|\\\(|\\\[|\\begin\{|\$[^\s$][^$\n]*\$/g) || [];
        const bad = document.querySelectorAll('[data-mml-node="merror"], mjx-container g[fill="red"]');
        return [...raw, ...[...bad].map(node => 'formula not understood: ' + node.textContent)];
    }
"""

BROKEN_IMAGES = "() => [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"
DISTORTED_IMAGES = """
    () => [...document.querySelectorAll('article img')]
        .filter(i => Math.abs(i.clientWidth / i.clientHeight / (i.naturalWidth / i.naturalHeight) - 1) > 0.02)
        .map(i => i.src)
"""
IMAGE_FILTERS = (
    "() => [...document.querySelectorAll('article figure img')].map(i => getComputedStyle(i).filter)"
)
# What is wider than its column: formulas at three widths of the window, code at the usual one.
WIDTHS = (390, 1280, 1920)
WIDE_FORMULAS = """
    () => [...document.querySelectorAll('.bd-content mjx-container')].filter((box) => {
      const drawn = box.querySelector('svg');
      if (!drawn || !box.offsetParent || box.closest('table')) return false;  // tables scroll, as a whole
      if (box.getAttribute('display')) return box.scrollWidth > box.clientWidth + 1;
      const around = box.closest('p, li, dd, figcaption, h1, h2, h3') ?? box.parentElement;
      return drawn.getBoundingClientRect().width > around.getBoundingClientRect().width + 1;
    }).map((box) => (box.closest('div.math') ?? box).id || box.closest('[id]').id)
"""
WIDE_CODE = """
    () => [...document.querySelectorAll('.bd-content pre')]
      .filter((box) => box.offsetParent && box.scrollWidth > box.clientWidth + 1)
      .map((box) => box.textContent.slice(0, 60))
"""
UNFOLD = """
    unfold => {
        if (unfold) window.folded = [...document.querySelectorAll('details:not([open])')];
        window.folded.forEach(fold => { fold.open = unfold; });
    }
"""
TYPESET = "window.MathJax?.startup?.promise ? MathJax.startup.promise.then(() => 1) : 1"
OVERFLOW = """
    () => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - window.innerWidth
"""

# Contrast, by the WCAG formula, of text against all the grounds that lie under it.
CONTRAST = r"""
    () => {
        const parse = text => {
            const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
            return [r, g, b, a];
        };
        const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
        const known = new Map();
        const ground = node => known.get(node) ?? known.set(node, mixed(node)).get(node);
        const mixed = node => {
            const own = parse(getComputedStyle(node).backgroundColor);
            if (own[3] === 1) return own;
            return over(own, node.parentElement ? ground(node.parentElement) : [255, 255, 255]);
        };
        const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
        const light = ([r, g, b]) =>
            0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
        const contrast = node => {
            const behind = ground(node);
            const colours = [over(parse(getComputedStyle(node).color), behind), behind];
            const [low, high] = colours.map(light).sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        };
        const kinds = 'p, h1, h2, a, figcaption, td, th, dt, dd, pre, .admonition-title, .verdict';
        const worst = [...document.querySelector('article').querySelectorAll(kinds)]
            .filter(node => node.textContent.trim() && !node.matches('.headerlink'))
            .map(node => [contrast(node), node.outerHTML.slice(0, 160)])
            .sort((a, b) => a[0] - b[0])[0];
        return {worst, ground: light(ground(document.querySelector('article')))};
    }
"""


# Only what is serious counts, which nothing outside of landmarks is. Links in a text are told apart by their
# style; contrast, which would do as well, takes axe half of its time, and is asked for where style fails.
AXE = """
    async contrast => {
        const check = async options => (await axe.run(
            {exclude: [['mjx-container svg']]}, {resultTypes: ['violations'], preload: false, ...options}
        )).violations;
        const links = 'link-in-text-block';
        let found = await check(contrast ? {runOnly: ['color-contrast']} : {
            rules: {'color-contrast': {enabled: false}, region: {enabled: false}},
            checks: {[links]: {enabled: false}},
        });
        if (found.some(rule => rule.id === links)) {
            found = [...found.filter(rule => rule.id !== links), ...await check({runOnly: [links]})];
        }
        return found
            .filter(rule => ['serious', 'critical'].includes(rule.impact))
            .flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`));
    }
"""
LOADED = """
    () => {
        const formulas = [...document.querySelectorAll('.bd-article .math')];
        return document.readyState === 'complete' && formulas.every(m => m.querySelector('mjx-container'));
    }
"""
# Where only its surroundings are looked at, the article goes as well, and leaves them where they are.
WITHOUT_ARTICLE = """
    () => document.querySelectorAll('article').forEach(article => {
        article.style.boxSizing = 'border-box';
        article.style.height = `${article.getBoundingClientRect().height}px`;
        article.replaceChildren();
    })
"""
# After a change of the width, keys are let reach what scrolls; the theme waits for a third of a second.
SETTLED = """
    () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 400))))
"""


def visit(page, address):
    page.goto(address)
    page.wait_for_function(FORMULAS_ARE_SET)


# The two tests of a page follow each other, so that the second finds it loaded, with its formulas set.
@pytest.mark.parametrize(("origin", "name"), VISITS, indirect=["origin"], scope="module")
def test_page_in_a_browser(page, stays, origin, name):
    """One visit, seen wide and narrow, light and dark: typeset, legible, within screen and column, quiet."""
    page.emulate_media(reduced_motion="reduce")
    visit(page, f"{origin}/{name}.html")
    assert page.evaluate(RAW_TEX) == []
    assert page.evaluate(BROKEN_IMAGES) == []
    assert page.evaluate(OVERFLOW) <= 0

    seen = page.evaluate(CONTRAST)
    assert seen["ground"] > 0.8, "light mode is not light"
    assert seen["worst"][0] >= 4.5, seen["worst"]

    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    seen = page.evaluate(CONTRAST)
    assert seen["ground"] < 0.05, "dark mode is not dark"
    assert seen["worst"][0] >= 4.5, seen["worst"]
    assert all("invert" in effect for effect in page.evaluate(IMAGE_FILTERS))

    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(OVERFLOW) <= 0, "the page scrolls sideways at 390 px"
    assert page.evaluate(DISTORTED_IMAGES) == []

    page.evaluate(TYPESET)
    cut = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        cut[width] = page.evaluate(WIDE_FORMULAS)
    assert cut == {width: [] for width in WIDTHS}
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate(UNFOLD, True)
    assert page.evaluate(WIDE_CODE) == []
    page.evaluate(UNFOLD, False)
    assert page.trouble == []


@pytest.mark.parametrize(("origin", "name"), AXE_VISITS, indirect=["origin"], scope="module")
def test_no_serious_violation(page, again, origin, name):
    """The same page, or one more: the structure on a narrow screen, where most things scroll; contrast."""
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    again(f"{origin}/{name}.html")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
    page.wait_for_function(LOADED)
    page.evaluate(SETTLED)
    page.evaluate(WITHOUT_STROKES)
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    assert page.evaluate(AXE, False) == []
    page.set_viewport_size({"width": 1280, "height": 800})
    if name in LONG:
        page.evaluate(WITHOUT_ARTICLE)
    for scheme in ("light", "dark"):
        page.emulate_media(reduced_motion="reduce", color_scheme=scheme)
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{scheme}'")
        assert page.evaluate(AXE, True) == []


def test_navigation_leads_through_the_book(page, origin):
    visit(page, f"{origin}/{FRONT}.html")
    page.click(".prev-next-footer a.right-next")
    page.wait_for_url(f"**/{PAGES[1]}.html")

    page.set_viewport_size({"width": 390, "height": 844})
    left = "document.querySelector('.bd-sidebar-primary nav.bd-links a').getBoundingClientRect().left"
    page.wait_for_function(f"() => {left} < 0")
    page.click(".bd-header-article button.primary-toggle")
    page.wait_for_function(f"() => {left} >= 0")
    assert page.trouble == []


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_mode_button_changes_the_mode(page, origin):
    visit(page, f"{origin}/{FRONT}.html")
    modes = set()
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        modes.add(page.evaluate("document.documentElement.dataset.mode"))
    assert modes == {"auto", "dark", "light"}


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_keyboard_focus_is_visible(page, origin):
    visit(page, f"{origin}/{FRONT}.html")
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outline")
        assert "solid" in outline, page.evaluate("document.activeElement.outerHTML")


def test_copy_button_copies_the_code(browser, served):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{served}/book/how_to.html")
    code = page.locator("div.highlight pre").first
    code.hover()
    page.locator("button.copybtn").first.click()
    assert page.evaluate("navigator.clipboard.readText()").strip() == code.inner_text().strip()
    context.close()
