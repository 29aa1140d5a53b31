"""The book's Sphinx extension: links only where there is an address, one list of macros for both outputs."""

import importlib.util
import json
from types import SimpleNamespace

import pytest
from sphinx.errors import ConfigError

from assocmem.sweeps.project import project_root

ROOT = project_root()
spec = importlib.util.spec_from_file_location("assocmem_book", ROOT / "book" / "_ext" / "assocmem_book.py")
extension = importlib.util.module_from_spec(spec)
spec.loader.exec_module(extension)

ADDRESS = "https://github.com/someone/assocmem"
PAGE = "book/sections/correlation_memory"


def application(address, **more):
    return SimpleNamespace(config=SimpleNamespace(repository_address=address), **more)


def header(address, page=PAGE):
    """Labels of the header buttons of a page, and all their addresses."""
    context = {"header_buttons": [], "pathto": lambda path, _: path, "sourcename": f"{page}.ipynb"}
    extension.add_header_buttons(application(address), page, "page.html", context, "a doctree")
    buttons = context["header_buttons"]
    urls = [b["url"] for group in buttons for b in group.get("buttons", [group])]
    return [b["label"] for b in buttons], urls


def test_without_an_address_there_is_a_download_and_nothing_else():
    assert header("") == (["download-notebook-button"], [f"_sources/{PAGE}.ipynb"])
    assert header("", "book/notation") == ([], [])


def test_an_address_brings_links_that_exist_in_this_repository():
    labels, urls = header(ADDRESS)
    assert labels == ["launch-buttons", "source-buttons", "download-notebook-button"]
    edit = next(url for url in urls if "/edit/" in url)
    assert edit.startswith(f"{ADDRESS}/edit/main/")
    assert (ROOT / edit.removeprefix(f"{ADDRESS}/edit/main/")).is_file()
    binder = next(url for url in urls if "mybinder" in url)
    assert (ROOT / binder.split("lab/tree/")[1]).is_file()
    assert any(url.endswith(f"gh-pages/_sources/{PAGE}.ipynb") for url in urls)
    assert not any("colab" in url for url in header("https://git.example.org/a/b")[1])


@pytest.mark.parametrize(
    "address", ["github.com/a/b", "https://github.com/a", "https://github.com/a/b/c", "x y"]
)
def test_a_malformed_address_is_refused(address, monkeypatch):
    monkeypatch.setenv("ASSOCMEM_REPOSITORY_URL", address)
    with pytest.raises(ConfigError, match="is not of the form https://HOST/OWNER/NAME"):
        extension.read_address(None, SimpleNamespace(repository_address=""))


def test_the_environment_goes_over_the_setting(monkeypatch):
    config = SimpleNamespace(repository_address="https://github.com/a/b")
    extension.read_address(None, config)
    assert config.repository_address == "https://github.com/a/b"
    monkeypatch.setenv("ASSOCMEM_REPOSITORY_URL", ADDRESS)
    extension.read_address(None, config)
    assert config.repository_address == ADDRESS


@pytest.mark.parametrize(("address", "cells"), [("", 1), (ADDRESS, 2)])
def test_downloaded_notebooks_say_how_to_get_the_package_once(tmp_path, address, cells):
    path = tmp_path / "_sources" / f"{PAGE}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": [{"id": "cell-000"}]}), encoding="utf-8")
    app = application(address, outdir=tmp_path, builder=SimpleNamespace(format="html"))
    for _ in range(2):
        extension.add_install_cell(app, None)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert len(notebook["cells"]) == cells
    assert (f"git clone --quiet --depth 1 {ADDRESS} " in path.read_text(encoding="utf-8")) == (cells == 2)


def test_one_list_of_macros_serves_both_outputs():
    macros = {"R": ("\\mathbb{R}", 0), "norm": ("\\|#1\\|", 1)}
    assert extension.macros_for_mathjax(macros) == {"R": "\\mathbb{R}", "norm": ["\\|#1\\|", 1]}
    assert "\\renewcommand{\\norm}[1]{\\|#1\\|}" in extension.macros_for_latex(macros)
    assert extension.read_macros().keys() >= {"R", "E", "P", "norm", "inprod", "CMM"}
    assert extension.mathjax_source().is_file()
