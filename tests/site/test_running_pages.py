"""Code that runs inside the page: only when a reader wants it, with what is said to be loaded, and visibly.

Most of it is seen with a stand-in for Pyodide, which knows one answer; the last test wants the real files.
"""

import json
import re
import threading
from functools import partial
from http.server import ThreadingHTTPServer
from importlib.resources import files
from itertools import product

import pytest
from conftest import TAKES, WITHOUT_STROKES, Quiet, soup, toc_pages

pytestmark = pytest.mark.site

NAME = "book/sections/ridgeless_limit"
CELL = ".am-light.tag_answer"
BESIDE = "/_static/pyodide/"
LATER = re.compile(r"/pyodide/|/running/(light|worker)\.js")
"""What is loaded when a reader wants to run something."""
REAL = 300_000  # ms for Pyodide on a busy machine
AXE = """
    async () => {
        const found = await axe.run('.am-light', {resultTypes: ['violations']});
        return found.violations
            .filter(rule => ['serious', 'critical'].includes(rule.impact))
            .flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`));
    }
"""
STAND_IN = """
const known = KNOWN;
const raise = (text) => {
  throw Object.assign(new Error(text), { name: "PythonError" });
};
export const loadPyodide = async ({ indexURL }) => {
  let write;
  let hasPackages = false;
  let hasPackage = false;
  const names = new Map();
  return {
    globals: names,
    setStdout: (settings) => (write = settings.write),
    setStderr() {},
    loadPackage: async (wanted) => (hasPackages = wanted.join() === "numpy,scipy" && indexURL.endsWith("/")),
    unpackArchive: (bytes, kind) => (hasPackage = kind === "zip" && bytes[0] === 80 && bytes[1] === 75),
    runPythonAsync: async (text) => {
      if (text.startsWith("import sys; sys.path")) return;
      const code = names.get("code_of_cell");
      if (!hasPackages || !hasPackage) throw new Error("it was not told what to load");
      if (code.includes("while True")) for (;;);
      if (code.includes("too much")) throw new RangeError("out of memory");
      if (code.includes("1 / 0"))
        raise('Traceback (most recent call last):\\n  File "<exec>", line 5, in <module>\\n' +
          '  File "/lib/python312.zip/_pyodide/_base.py", line 597, in eval_code_async\\n' +
          '    await Runner(\\n          ^^^\\n  File "cell", line 1, in <module>\\n    1 / 0\\n' +
          'ZeroDivisionError: division by zero');
      if (code.includes("torch")) raise("ModuleNotFoundError: No module named 'torch'");
      if (code === "6 * 7") return "42";
      write(new TextEncoder().encode(code === known.code ? known.says : `new: ${code}`));
    },
  };
};
"""


class Book(Quiet):
    """The book, with files beside it that are not there, and the address that pages name elsewhere."""

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def reply(self, *, body):
        path = self.path.partition("?")[0]
        text = self.server.texts.get(path)
        if text is None and path.endswith(".html") and self.server.remote is not None:
            text = self.server.page(path)
        if text is None and path.startswith(BESIDE) and not self.server.is_real:
            return self.send_error(404)
        if text is None:
            return super().do_GET() if body else super().do_HEAD()
        self.send_response(200)
        kind = "text/html" if path.endswith(".html") else "text/javascript"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        if body:
            self.wfile.write(text.encode())
        return None

    def do_GET(self):
        self.server.asked.append(self.path)
        self.reply(body=True)

    def do_HEAD(self):
        self.server.asked.append(self.path)
        self.reply(body=False)


class BookServer(ThreadingHTTPServer):
    """A server for it that keeps what it was asked for."""

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), partial(Book, directory=str(folder)))
        self.folder, self.texts, self.asked = folder, {}, []
        self.remote, self.is_real = None, False

    def handle_error(self, *args):
        pass

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def page(self, path):
        """A page as if it had been built with another setting for where Python comes from."""
        file = self.folder / path.strip("/")
        text, there = file.read_text(encoding="utf-8"), soup(file).select_one("script[data-address]")
        return text.replace(there["data-address"], self.remote) if there else text


@pytest.fixture
def servers(site):
    """One for the book, and another for what it takes from elsewhere."""
    both = [BookServer(site), BookServer(site)]
    threads = [threading.Thread(target=s.serve_forever, kwargs={"poll_interval": 0.02}) for s in both]
    for thread in threads:
        thread.start()
    yield both
    for server, thread in zip(both, threads, strict=True):
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def known(site):
    """The code of the first answer on the page and what it says there."""
    cell = soup(site / f"{NAME}.html").select_one(CELL)
    code, says = (cell.select_one(f"{part} pre").get_text() for part in (".cell_input", ".cell_output"))
    return {"code": code.rstrip("\n"), "says": says}


@pytest.fixture
def stand_in(known):
    text = STAND_IN.replace("KNOWN", json.dumps(known))
    return lambda folder: {f"{folder}pyodide.mjs": text, f"{folder}pyodide-lock.json": "{}"}


@pytest.fixture
def cell(browser):
    """Open the page of an address; return its first answer, unfolded, with what went wrong."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})

    def open_page(address, name=NAME):
        page = context.new_page()
        page.set_default_timeout(TAKES)
        page.trouble = []
        page.on("pageerror", lambda error: page.trouble.append(str(error)))
        page.goto(f"{address}/{name}.html")
        page.wait_for_selector(".am-run", state="attached")
        unfold(page)
        return page.locator(CELL).first

    yield open_page
    trouble = [line for page in context.pages for line in page.trouble]
    context.close()
    assert trouble == []


def unfold(page):
    """Open the solutions, as a click on each would."""
    page.evaluate("""() => {
        document.querySelectorAll('.toggle-hidden').forEach(node => node.classList.remove('toggle-hidden'));
        document.querySelectorAll('details').forEach(node => (node.open = true));
    }""")


def status(cell, pattern, timeout=TAKES):
    """Wait until the cell says something; return all that it says."""
    cell.page.wait_for_function(
        "([node, pattern]) => new RegExp(pattern).test(node.textContent)",
        arg=[cell.locator(".am-running-says").element_handle(), pattern],
        timeout=timeout,
    )
    return cell.locator(".am-running-says").inner_text().replace("\xa0", " ")


def run(cell, text, pattern):
    """Put other code into the cell, run it by keyboard and return what it says."""
    field = cell.locator(".cell_input pre")
    field.fill(text)
    field.press("Control+Enter")
    return status(cell, pattern)


def output(cell):
    return cell.locator(".am-running-output").inner_text().strip()


def agreed(cell):
    cell.locator(".am-run").click()
    cell.locator(".am-agree").click()
    status(cell, "It took")


# --- before anything is loaded ---


def test_nothing_is_asked_for_before_a_reader_wants_it(servers, cell):
    book, _ = servers
    here = cell(book.address)
    here.page.wait_for_load_state("networkidle")
    assert not [
        path for path in book.asked if "pyodide" in path or "/light.js" in path or "worker.js" in path
    ]
    assert here.locator(".cell_input pre").get_attribute("contenteditable") is None
    shown = here.locator(".am-running button:visible").all_inner_texts()
    assert shown == ["Run it here"]


def test_a_page_without_such_code_has_no_script_for_it(site):
    text = (site / "book/notation.html").read_text(encoding="utf-8")
    assert "running.js" not in text


def test_consent_says_what_is_loaded_and_from_where_and_can_be_refused(servers, stand_in, cell):
    book, other = servers
    book.remote = f"{other.address}/elsewhere/"
    here = cell(book.address)
    here.locator(".am-run").focus()
    here.page.keyboard.press("Enter")
    said = status(here, "MB")
    assert "37 MB" in said
    assert f"from 127.0.0.1:{other.server_port}" in said
    assert here.page.evaluate("document.activeElement.textContent") == "Load 37\xa0MB"
    assert here.locator(".am-running-says").get_attribute("role") == "status"
    here.locator(".am-decline").click()
    assert here.page.evaluate("document.activeElement.textContent") == "Run it here"
    assert here.locator(".am-running-says").inner_text() == ""
    assert other.asked == []
    assert not [path for path in book.asked if "running/light.js" in path]
    here.locator(".am-run").click()
    here.locator(".am-agree").wait_for()  # it asks again


# --- where Python comes from ---


def test_files_beside_the_book_come_first(servers, stand_in, known, cell):
    book, other = servers
    book.remote = f"{other.address}/elsewhere/"
    book.texts = stand_in(BESIDE)
    here = cell(book.address)
    here.locator(".am-run").click()
    assert "from beside this book" in status(here, "MB")
    here.locator(".am-agree").click()
    assert status(here, "It took").startswith("The same as in the book.")
    assert output(here) == known["says"].strip()
    assert other.asked == []


def test_else_they_come_from_elsewhere_and_consent_is_asked_once_a_tab(servers, stand_in, known, cell):
    book, other = servers
    book.remote = f"{other.address}/elsewhere/"
    other.texts = stand_in("/elsewhere/")
    here = cell(book.address)
    agreed(here)
    assert output(here) == known["says"].strip()
    assert any(path.startswith("/elsewhere/pyodide.mjs") for path in other.asked)
    page = here.page
    page.reload()
    page.wait_for_selector(".am-run", state="attached")
    unfold(page)
    here.locator(".am-run").click()
    assert "until Python was there" in status(here, "It took")


def test_a_page_on_a_disk_can_have_it_from_elsewhere(servers, stand_in, known, cell, site):
    book, other = servers
    book.remote = f"{other.address}/elsewhere/"
    other.texts = stand_in("/elsewhere/")
    path = site / f"{NAME}_from_a_disk.html"
    path.write_text(book.page(f"/{NAME}.html"), encoding="utf-8")
    try:
        here = cell(site.as_uri(), f"{NAME}_from_a_disk")
        here.locator(".am-run").click()
        assert "This page was opened from a disk" in status(here, "MB")
        here.locator(".am-agree").click()
        status(here, "It took")
        assert output(here) == known["says"].strip()
    finally:
        path.unlink()


def test_a_page_on_a_disk_says_what_to_do_where_nothing_is_allowed_from_elsewhere(servers, cell, site):
    book, _ = servers
    book.remote = ""
    path = site / f"{NAME}_from_a_disk.html"
    path.write_text(book.page(f"/{NAME}.html"), encoding="utf-8")
    try:
        here = cell(site.as_uri(), f"{NAME}_from_a_disk")
        here.locator(".am-run").click()
        assert "python -m http.server" in status(here, "disk")
        assert here.locator(".am-copy").is_visible()
    finally:
        path.unlink()


def test_nothing_is_loaded_where_the_setting_is_empty_and_nothing_lies_beside(servers, cell):
    book, other = servers
    book.remote = ""
    here = cell(book.address)
    here.locator(".am-run").click()
    status(here, "comes without the Python")
    assert here.locator(".am-help").get_attribute("href").endswith("/book/how_to.html#run-in-page")
    assert not here.locator(".am-agree").is_visible()
    assert other.asked == []


def test_an_address_that_does_not_answer_is_told_and_can_be_tried_again(servers, stand_in, cell):
    book, other = servers
    book.remote = f"{other.address}/elsewhere/"
    here = cell(book.address)
    here.locator(".am-run").click()
    here.locator(".am-agree").click()
    assert "Are you online?" in status(here, "could not be loaded")
    other.texts = stand_in("/elsewhere/")
    here.locator(".am-run").click()
    status(here, "It took")


# --- a run ---


@pytest.fixture
def ready(servers, stand_in, cell):
    """A cell that has run once."""
    book, _ = servers
    book.texts = stand_in(BESIDE)
    here = cell(book.address)
    agreed(here)
    return here


def test_code_can_be_changed_run_again_and_brought_back(ready, known):
    assert run(ready, "other", "Done").startswith("Done.")
    assert output(ready) == "new: other"
    run(ready, "6 * 7", "Done")
    assert output(ready) == "42"
    ready.locator(".am-reset").click()
    status(ready, "as in the book again")
    assert ready.locator(".cell_input pre").inner_text().rstrip("\n") == known["code"]
    assert ready.locator(".cell_input pre .kn, .cell_input pre .nb").count() > 0  # in its colours
    ready.locator(".am-run").click()
    status(ready, "The same as in the book")


def test_lines_that_are_typed_arrive_as_lines(ready):
    field = ready.locator(".cell_input pre")
    field.fill("first")
    field.press("End")
    field.press("Enter")
    ready.page.keyboard.type("    second")
    field.press("Shift+Enter")
    status(ready, "Done")
    assert output(ready) == "new: first\n    second"


def test_an_error_is_shown_without_what_is_no_ones_code(ready):
    run(ready, "1 / 0", "An error ended it")
    assert output(ready).splitlines() == [
        "Traceback (most recent call last):",
        '  File "cell", line 1, in <module>',
        "    1 / 0",
        "ZeroDivisionError: division by zero",
    ]


def test_what_a_page_cannot_have_is_named(ready):
    run(ready, "import torch", "An error ended it")
    assert "needs more than a page has" in output(ready)


def test_a_run_without_end_can_be_stopped_and_the_page_stays_alive(ready):
    run(ready, "while True: pass", "Running")
    ready.locator(".am-stop").click()
    status(ready, "Stopped")
    assert ready.page.evaluate("document.activeElement.textContent") == "Run it here"
    run(ready, "other", "Done")
    assert output(ready) == "new: other"


def test_a_python_that_broke_down_is_started_again(ready):
    run(ready, "too much", "broke down: out of memory")
    run(ready, "other", "until Python was there")
    assert output(ready) == "new: other"


def test_it_can_be_read_and_is_left_out_in_print(ready):
    page = ready.page
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    run(ready, "1 / 0", "An error ended it")
    page.evaluate(WITHOUT_STROKES, ".am-light")
    for width, scheme in product((1280, 390), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{scheme}'")
        assert page.evaluate(AXE) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    assert not ready.locator(".am-running").is_visible()
    assert not ready.locator(".am-running-output").is_visible()


# --- the real thing ---


def test_the_real_python_gives_the_answers_of_the_book(servers, cell, site):
    if not (site / f"{BESIDE[1:]}pyodide.asm.wasm").is_file():
        pytest.skip("no release of Pyodide in _static/pyodide: book/how_to.md says how to put it there")
    book, _ = servers
    book.is_real = True
    for name in toc_pages():
        if "tag_answer am-light" not in (site / f"{name}.html").read_text(encoding="utf-8"):
            continue
        first = cell(book.address, name)
        for here in first.page.locator(CELL).all():
            here.locator(".am-run").click()
            if here.locator(".am-agree").is_visible():
                here.locator(".am-agree").click()
            said = status(here, "It took|could not", REAL)
            assert said.startswith("The same as in the book."), f"{name}: {said}\n{output(here)}"
        first.page.close()
