"""Where the built book is, a server on loopback for it, and one browser for all checks."""

import os
import re
import shutil
import threading
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("ASSOCMEM_SITE", ROOT / "_build" / "html")).resolve()
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

TAKES = 30_000
"""Milliseconds for whatever a page does: many times what it takes where nothing else runs."""


def toc_pages() -> list[str]:
    """Return every page that the table of contents names, in its order."""

    def files(entry):
        if isinstance(entry, dict):
            for key in ("root", "file"):
                if key in entry:
                    yield entry[key]
            entry = [entry[key] for key in ("parts", "chapters", "sections") if key in entry]
        for child in entry if isinstance(entry, list) else []:
            yield from files(child)

    return list(files(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))


@cache
def soup(path: Path) -> BeautifulSoup:
    """Return a page of the book as it is written, which nobody changes."""
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def repository_address() -> str:
    """Return the address that the book was built with, as far as the settings tell."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return os.environ.get("ASSOCMEM_REPOSITORY_URL", config["sphinx"]["config"]["repository_address"])


class Quiet(SimpleHTTPRequestHandler):
    """A file server that keeps its log to itself."""

    def log_message(self, *args):
        pass


class QuietServer(ThreadingHTTPServer):
    """A server that does not mind a browser which leaves before the end."""

    def handle_error(self, *args):
        pass


@pytest.fixture(scope="session")
def site():
    if not (SITE / "index.html").is_file():
        pytest.fail(f"no book at {SITE}: build it first (make book)")
    return SITE


@pytest.fixture(scope="session")
def served(site):
    """The address of the book on loopback."""
    server = QuietServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session", params=["loopback", "disk"])
def origin(request, site):
    """The address of the book, once as a server gives it and once as a folder on a disk."""
    return request.getfixturevalue("served") if request.param == "loopback" else site.as_uri()


@pytest.fixture(scope="session")
def browser():
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        message = f"no browser on PATH (looked for {', '.join(BROWSERS)})"
        if os.environ.get("ASSOCMEM_REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser, origin):
    """One profile for each origin, so that its scripts are compiled once."""
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture(scope="session")
def left(context):
    """What a test leaves for the next one: at most one page, whose process is there and knows the scripts."""
    return []


def open_page(context, origin):
    """A new page that notes what goes wrong on it and what it asks for elsewhere."""
    page = context.new_page()
    page.on("console", lambda message: message.type == "error" and page.trouble.append(message.text))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on(
        "request",
        lambda request: (
            request.url.startswith((origin, "data:", "blob:"))
            or page.trouble.append(f"request to {request.url}")
        ),
    )
    return page


@pytest.fixture
def page(request, context, origin, left):
    """A page as good as new that remembers what went wrong on it (``page.trouble``)."""
    page = left.pop() if left else open_page(context, origin)
    if page.url != "about:blank" and "again" not in request.fixturenames:
        page.goto("about:blank")
    page.trouble = []
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(media="null", color_scheme="null", reduced_motion="null")
    page.set_default_timeout(TAKES)
    failed = request.session.testsfailed
    yield page
    page.evaluate("localStorage.clear()")
    if request.session.testsfailed > failed:
        page.close()
        return
    page.evaluate("sessionStorage.clear()")
    page.unroute_all()
    page.mouse.move(0, 0)
    if "stays" not in request.fixturenames:
        page.goto("about:blank")
    left.append(page)


@pytest.fixture
def stays():
    """Of a test that leaves its page as it was loaded, for the next one to look at."""


@pytest.fixture
def again(page):
    """A function that goes to an address, unless the test before has left the page there."""

    def visit(address):
        if page.url != address:
            page.goto(address)

    return visit


WITHOUT_STROKES = """
    (kept) => document.querySelectorAll('mjx-container svg').forEach((frame) => {
        if (!kept || !frame.closest(kept)) frame.replaceChildren();
    })
"""
"""Empty the frames of formulas, which keep their places, except in a part of the page.

Axe walks through all strokes of all formulas, whatever it is told to look at: that takes it most of its time.
"""

PLACE = re.compile(r'data-widget="(\w+)"')
"""Where a widget stands in a page."""
DRAWN = re.compile(r"/(tex-svg-full|fontawesome/.*)\.js\b")
"""The scripts that draw formulas and icons: they take longer than all widgets, which do without."""


def draw_nothing(page):
    """Leave formulas and icons undrawn on what a page opens from now on."""
    page.route(DRAWN, lambda route: route.fulfill(body="", content_type="text/javascript"))


@cache
def widget_pages() -> dict[str, str]:
    """Return the page of each widget of the built book."""
    pages = {}
    for name in toc_pages():
        path = SITE / f"{name}.html"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        pages |= dict.fromkeys(PLACE.findall(text), name)
    return pages


@pytest.fixture
def widget(page, origin):
    """Open a page at a widget with settings, as a link would; give the element that holds the widget.

    Formulas and icons are not drawn: other tests look at them.
    """
    draw_nothing(page)

    def open_page(name, **settings):
        query = "&".join(f"{name}.{key}={value!r}" for key, value in settings.items())
        address = f"{origin}/{widget_pages()[name]}.html?{query}#widget-{name}"
        page.goto("about:blank")
        page.goto(address, wait_until="domcontentloaded")
        page.wait_for_selector(f"[data-widget={name}][data-ready=yes]")
        return page.locator(f"[data-widget={name}]")

    yield open_page
    assert page.trouble == []
