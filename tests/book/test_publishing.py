"""What leaves the repository: workflows, hosted notebooks, citations, and what pages say about themselves."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from types import SimpleNamespace

import pytest
import yaml
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from extensions import loaded

from assocmem.sweeps.project import project_root

ROOT = project_root()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ADDRESS = "https://github.com/Someone/memory"
SITE = "https://someone.github.io/memory/"


@pytest.fixture(scope="module")
def extension():
    with loaded("assocmem_publish") as module:
        yield module


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


SMALL_DISKS = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
"""The one step beside make: a test mounts a disk of its own in a namespace, which the server forbids."""


def targets():
    return set(re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.MULTILINE)[1].split())


# --- workflows ---


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_make_with_little_power_and_little_time(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"].startswith(path.stem)
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        steps = job["steps"]
        runs = [step["run"] for step in steps if "run" in step]
        called = [word for run in runs if not run.startswith(SMALL_DISKS) for word in run.split()]
        assert called[0] == "make"
        assert set(called) - {"make"} <= targets()
        assert all(re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
        if "permissions" in job:  # only the job that pushes may write, and only when it is on main
            assert called == ["make", "publish"]
            assert "refs/heads/main" in job["if"]
        else:
            assert steps[0]["with"]["persist-credentials"] is False


def test_workflows_test_every_python_that_the_package_promises():
    job = yaml.safe_load(read(".github/workflows/test.yml"))["jobs"]["test"]
    least, beyond = re.fullmatch(
        r">=3\.(\d+),<3\.(\d+)", tomllib.loads(read("pyproject.toml"))["project"]["requires-python"]
    ).groups()
    assert job["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in range(int(least), int(beyond))]


def test_newest_packages_stay_within_the_bounds_of_the_requirements():
    rule = re.search(r"sed -E '(.*)' requirements\.txt >", read("Makefile"))[1]
    loosened = subprocess.run(
        ["sed", "-E", rule, "requirements.txt"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    wanted = [line.split("#")[0].strip() for line in loosened if line.split("#")[0].strip()]
    assert all(re.fullmatch(r"[\w.-]+>=[\w.]+(,<[\d.]+)?(; .+)?", line) for line in wanted), wanted
    assert [line for line in wanted if re.fullmatch(r"jupyter-book>=1[\w.]*,<2", line)]


# --- the branch of the pages ---


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_publishing_replaces_the_branch_and_touches_nothing_else(tmp_path):
    source, remote = tmp_path / "un projet", tmp_path / "remote.git"
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def call(*command, cwd=source):
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    (source / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", source)
    shutil.copy(ROOT / ".ci" / "publish", source / ".ci")
    (source / ".gitignore").write_text("_build/\n*.sqlite\n", encoding="utf-8")
    call("git", "init", "--quiet", "--bare", str(remote), cwd=tmp_path)
    call("git", "init", "--quiet")
    call("git", "add", ".")
    call(
        "git", "-c", "user.name=A. Reader", "-c", "user.email=a@b.example", "commit", "--quiet", "-m", "Begin"
    )
    call("git", "remote", "add", "origin", str(remote))

    done = subprocess.run(["make", "publish"], cwd=source, env=environment, capture_output=True, text=True)
    assert done.returncode
    assert "make book first" in done.stderr

    pages = source / "_build" / "html"
    pages.mkdir(parents=True)
    for name in ("index.html", ".nojekyll", "kept.sqlite"):
        (pages / name).write_text("one", encoding="utf-8")
    call("make", "publish")
    first = call("git", "rev-parse", "gh-pages", cwd=remote)
    call("make", "publish")
    assert call("git", "rev-parse", "gh-pages", cwd=remote) == first
    (pages / "index.html").write_text("two", encoding="utf-8")
    call("make", "publish")
    assert call("git", "show", "gh-pages:index.html", cwd=remote) == "two"
    assert call("git", "ls-tree", "--name-only", "gh-pages", cwd=remote).split() == [
        ".nojekyll",
        "index.html",
        "kept.sqlite",
    ]
    assert call("git", "log", "--format=%an", "gh-pages", cwd=remote) == "A. Reader"
    assert call("git", "status", "--porcelain") == ""


# --- notebooks on machines of others ---


def test_binder_installs_what_its_links_need():
    environment = yaml.safe_load(read(".binder/environment.yml"))
    assert any(package.startswith("python=3.") for package in environment["dependencies"])
    steps = read(".binder/postBuild")
    assert "pip install --no-cache-dir --editable '.[book]'" in steps
    assert "set-default-viewer python" in steps  # else a link to a .py opens an editor
    assert os.access(ROOT / ".binder" / "postBuild", os.X_OK)


def test_downloaded_formulas_need_no_macros_of_the_book(extension):
    macros = {"norm": (r"\left\lVert #1 \right\rVert", 1), "CMM": (r"\mathsf{CMM}", 0)}
    text = extension.expand(r"$\norm{v_{i}}^2 W_\CMM \norms$", macros)
    assert text == r"${\left\lVert v_{i} \right\rVert}^2 W_{\mathsf{CMM}} \norms$"
    assert extension.expand(text, macros) == text


def test_the_package_asks_for_ranges_and_lets_newer_versions_be():
    for line in tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]:
        assert re.fullmatch(r"[\w-]+>=[\d.]+", line)


# --- citations ---


def test_citation_and_deposit_agree_with_the_package():
    cited, deposit = yaml.safe_load(read("CITATION.cff")), json.loads(read(".zenodo.json"))
    package = tomllib.loads(read("pyproject.toml"))["project"]
    book = yaml.safe_load(read("_config.yml"))
    for key in ("title", "version", "license", "keywords"):
        assert cited[key] == deposit[key], key
    assert cited["abstract"] == deposit["description"]
    assert [author["name"] for author in cited["authors"]] == [who["name"] for who in deposit["creators"]]
    assert (cited["version"], cited["license"]) == (package["version"], package["license"])
    assert (cited["title"], cited["authors"][0]["name"]) == (book["title"], book["author"])


def test_the_paper_is_cited_as_in_the_bibliography():
    paper = yaml.safe_load(read("CITATION.cff"))["preferred-citation"]
    entry = re.search(r"@\w+\{barnfield2026sharp,(.*?)\n\}", read("book/references.bib"), re.DOTALL)[1]
    fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\},?\n", entry + "\n"))
    assert (paper["title"], str(paper["year"]), paper["notes"]) == (
        fields["title"],
        fields["year"],
        fields["note"],
    )
    names = [f"{who['family-names']}, {who['given-names']}" for who in paper["authors"]]
    assert " and ".join(names) == fields["author"]
    assert paper["title"] in json.loads(read(".zenodo.json"))["references"][0]


# --- what pages say about themselves ---


def test_the_site_follows_from_the_repository(extension):
    def settled(address, base=""):
        config = SimpleNamespace(repository_address=address, html_baseurl=base)
        extension.settle_site(None, config)
        return config.html_baseurl

    assert settled(ADDRESS) == settled(f"{ADDRESS}.git") == SITE
    assert settled("https://github.com/Someone/someone.github.io") == "https://someone.github.io/"
    assert settled("") == settled("https://git.example.org/a/b") == ""
    assert settled(ADDRESS, "https://memory.example.org") == "https://memory.example.org/"


def test_a_description_is_sentences_that_fit(extension):
    assert extension.description("One. Two, Barnfield et al. [2026]. Three.", 36) == (
        "One. Two, Barnfield et al. [2026]."
    )
    assert extension.description("With a ridge:") == "With a ridge."
    assert extension.description("a word, another word", 9) == "a word …"
    page = publish_doctree("Title\n=====\n\n.. image:: x.png\n\nA :math:`d \\times d` matrix.\n\nMore.\n")
    assert extension.first_paragraph(page) == "A d × d matrix."


def test_the_card_has_the_size_that_the_tags_tell(extension):
    data = (ROOT / "book" / "_static_src" / extension.CARD).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == extension.CARD_SIZE


@pytest.fixture(scope="module")
def build(tmp_path_factory, warm):
    """A small book, built for an address or for none, each time on top of the build before."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("html")
    (source / "book").mkdir()
    title = r'A "small" & :math:`d \times d` book'
    text = "It *has* :math:`d \\times d` entries.\n\n.. toctree::\n\n   more\n"
    front = f"{title}\n{'=' * len(title)}\n\n{text}"
    (source / "book" / "index.rst").write_text(front, encoding="utf-8")
    (source / "book" / "more.rst").write_text("More\n====\n\nMore of it.\n", encoding="utf-8")

    def call(address):
        settings = {"extensions": "assocmem_publish", "root_doc": "book/index"}
        settings |= {"html_title": "Book", "html_theme": "sphinx_book_theme"}
        named = [word for name, value in settings.items() for word in ("-D", f"{name}={value}")]
        command = [warm, "-m", "sphinx", "-qnCW", *named, str(source), str(built)]
        folders = os.pathsep.join(str(ROOT / name) for name in ("book/_ext", "src"))
        variables = {"PYTHONPATH": folders, "ASSOCMEM_REPOSITORY_URL": address}
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return built

    call.source = source
    return call


def said(page):
    """What a page says about itself, by name."""
    head = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").head
    return {tag.get("name", tag.get("property", "")): tag["content"] for tag in head("meta", content=True)}


def test_pages_describe_themselves_and_name_places_only_where_there_are_some(build):
    built = build(ADDRESS)
    for name in ("index.html", "book/index.html"):
        tags = said(built / name)
        assert tags["description"] == tags["og:description"] == "It has d × d entries."
        assert tags["og:title"] == "A “small” & d × d book"
        assert (tags["og:type"], tags["og:site_name"]) == ("article", "Book")
        assert tags["og:url"] == f"{SITE}book/index.html"
        assert tags["og:image"] == f"{SITE}_static/card.png"
        assert (tags["og:image:width"], tags["og:image:height"]) == ("1200", "630")
        assert tags["twitter:card"] == "summary_large_image"
        canonical = f'<link rel="canonical" href="{SITE}book/index.html" />'
        assert canonical in (built / name).read_text(encoding="utf-8")
    built = build("")
    for name in ("index.html", "book/index.html"):
        assert said(built / name)["description"] == "It has d × d entries."
        assert not [key for key in said(built / name) if key.startswith(("og:", "twitter:"))]
        assert SITE not in (built / name).read_text(encoding="utf-8")


def test_a_site_has_its_files_as_long_as_it_has_an_address(build):
    build(ADDRESS)
    (build.source / "book" / "more.rst").write_text("More\n====\n\nAnd more.\n", encoding="utf-8")
    built = build(ADDRESS)
    pages = [f"<loc>{SITE}book/{name}.html</loc>" for name in ("index", "more")]
    assert re.findall("<loc>.*</loc>", (built / "sitemap.xml").read_text(encoding="utf-8")) == pages
    assert f"Sitemap: {SITE}sitemap.xml" in (built / "robots.txt").read_text(encoding="utf-8")
    assert (built / "404.html").exists()

    build("")
    assert not [name for name in ("404.html", "sitemap.xml", "robots.txt") if (built / name).exists()]


def test_the_page_for_lost_readers_leads_back_from_any_depth(build):
    built = build(ADDRESS)
    page = BeautifulSoup((built / "404.html").read_text(encoding="utf-8"), "html.parser")
    assert said(built / "404.html")["robots"] == "noindex"
    assert page.find("h1", string="There is no such page")
    places = [tag[key] for key in ("href", "src", "action") for tag in page(attrs={key: True})]
    assert f"{SITE}book/more.html".removeprefix("https://someone.github.io") in places
    for place in places:
        if not place.startswith(("#", "https://")):
            path = place.partition("?")[0]
            assert path.startswith("/memory/"), place
            assert (built / path.removeprefix("/memory/")).is_file(), place


def test_two_builds_are_the_same(build):
    def content(built):
        names = ("index.html", "404.html", "sitemap.xml", "robots.txt", "book/index.html", "book/more.html")
        return [(built / name).read_bytes() for name in names]

    first = content(build(ADDRESS))
    build("")
    assert content(build(ADDRESS)) == first
