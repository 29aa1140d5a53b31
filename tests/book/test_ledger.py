"""The ledger: its entries, its page, and what is missing from it."""

import json

from assocmem.book import ledger as module
from assocmem.book.claims import Statement, check, statements
from assocmem.book.ledger import anchors, ledger, ledger_line, ledger_page, miscounts
from assocmem.book.proof_map import proof_map

TITLES = {"correlation_memory": "Outer products"}


def eight(measured, claim="proposition-1", **changes):
    settings = {
        "kind": "simulation",
        "predicted": 8,
        "tolerance": 0.5,
        "falsehood": ("constant 4", 4),
    } | changes
    return check(claim, "the constant [8]", measured=measured, **settings)


def by_id(checks):
    return {entry["id"]: entry for entry in ledger(checks)}


def test_every_statement_is_there_once_with_the_worst_verdict():
    checks = {"correlation_memory": [eight(8), eight(8.1, limits="slow"), eight(8)]}
    entries = by_id(checks)
    assert list(entries) == list(statements())
    entry = entries["proposition-1"]
    assert entry["verdict"] == "holds with limits"
    assert entry["measured"] == [8.1]
    assert len(entry["checks"]) == 3
    assert {"source", "measured", "predicted", "tolerance", "falsehood", "section"} <= entry.keys()
    assert entries["theorem-1"]["verdict"] == "not yet"
    assert entries["theorem-1"]["measured"] is None
    checks["top1_threshold"] = [eight(4)]
    assert by_id(checks)["proposition-1"]["verdict"] == "does not hold"
    json.dumps(list(entries.values()), allow_nan=False)


def test_each_check_has_a_place_of_its_own_in_the_book():
    here = [eight(8), eight(8, "lemma-3"), eight(8)]
    assert anchors("correlation_memory", here) == [
        "check-proposition-1",
        "check-lemma-3",
        "check-proposition-1-2",
    ]
    there = anchors("sparse_repair", [eight(8), eight(8)])
    assert there == ["check-proposition-1-in-sparse-repair", "check-proposition-1-in-sparse-repair-2"]
    checks = by_id({"correlation_memory": here, "sparse_repair": here})["proposition-1"]["checks"]
    assert len({c["anchor"] for c in checks}) == 4
    assert [c["section"] for c in checks] == ["correlation_memory"] * 2 + ["sparse_repair"] * 2


def test_a_check_after_those_of_the_story_is_on_the_second_page():
    checks = {"correlation_memory": [eight(8), eight(8), eight(8)]}
    entries = ledger(checks, {"correlation_memory": 2})
    pages = [c["page"] for entry in entries for c in entry["checks"]]
    assert pages == ["correlation_memory", "correlation_memory", "correlation_memory_checks"]
    assert {c["page"] for entry in ledger(checks) for c in entry["checks"]} == {"correlation_memory"}


def test_the_page_shows_every_statement_and_links_each_check():
    page = ledger_page(ledger({"correlation_memory": [eight(8), eight(8)]}), TITLES)
    overview, entries = page.split("\n## ", 1)
    for statement in statements().values():
        assert overview.count(f"[{statement.name}](#{statement.id})\n") == 1
        assert entries.count(f"({statement.id})=") == 1
        assert statement.title in overview
        assert statement.beyond or statement.place in entries
    assert "[Outer products](#check-proposition-1)" in overview
    assert '[the constant [8]](#check-proposition-1-2) <svg class="strip strip-small"' in entries
    assert "</svg> 0 tolerances away" in overview
    assert "{doc}`Outer products <sections/correlation_memory>`" in entries
    assert "## Dual certificate (to come)" in page


def added(monkeypatch, **changes):
    """The statements of the paper and one beyond it."""
    settings = {
        "id": "beyond-facts",
        "kind": "beyond",
        "number": None,
        "label": None,
        "place": None,
        "title": "Facts that fit",
        "says": "So many facts fit into any matrix.",
        "section": "correlation_memory",
        "uses": ("theorem-1",),
    }
    new = Statement(**settings | changes)
    everything = {name: s for name, s in statements().items() if not s.beyond} | {new.id: new}
    for place in ("claims", "ledger", "proof_map"):
        monkeypatch.setattr(f"assocmem.book.{place}.statements", lambda: everything)
    return new


def test_what_is_beyond_the_paper_is_marked_and_no_part_of_its_proof(monkeypatch):
    new = added(monkeypatch)
    checks = {"correlation_memory": [eight(8), eight(8, new.id)]}
    entries = ledger(checks)
    assert [entry["id"] for entry in entries if entry["beyond"]] == [new.id]
    entry = entries[-1]
    assert (entry["source"], entry["verdict"], entry["uses"]) == ("Beyond the paper", "holds", ["theorem-1"])
    page = ledger_page(entries, TITLES)
    overview, below = page.split("\n## ", 1)
    assert "[Beyond the paper](#beyond-facts)" in overview
    assert "*Facts that fit*; not in the paper\n" in below
    assert "*Goes on from*: [Theorem 1](#theorem-1).\n" in below
    assert "is used by [Beyond" not in below
    count = len(entries) - 1
    line = ledger_line(entries)
    assert line.startswith(
        f"Of {count} statements, figures and claims of the paper and 1 statement beyond it, "
    )
    assert '?verdict=holds">2 hold</a>' in line
    drawn = proof_map(entries)
    assert new.id not in drawn
    assert "theorem-1" in drawn
    added(monkeypatch, uses=())
    assert "*Goes on from*" not in ledger_page(ledger(checks), TITLES)


def test_one_sentence_counts_and_links_what_there_is():
    entries = [e for e in ledger({"correlation_memory": [eight(8), eight(4, "lemma-3")]}) if not e["beyond"]]
    assert ledger_line(entries) == (
        f"Of {len(entries)} statements, figures and claims, "
        '<a href="ledger.html?verdict=holds">1 holds</a>, '
        '<a href="ledger.html?verdict=does-not-hold">1 does not</a> and '
        f'<a href="ledger.html?verdict=not-yet">{len(entries) - 2} are not decided yet</a>.\n'
        'The verdicts rest on 2 checks: <a href="ledger.html?kind=simulation">2 by simulation</a>.\n'
    )


def test_kinds_of_checks_are_counted_and_listed_in_one_order():
    own = [
        eight(8, kind="asymptotic arithmetic", limits="far away"),
        eight(8, kind="stored simulation"),
        eight(8, kind="stored simulation"),
    ]
    entries = ledger({"correlation_memory": own})
    assert by_id({"correlation_memory": own})["proposition-1"]["kinds"] == [
        "stored simulation",
        "asymptotic arithmetic",
    ]
    assert ledger_line(entries).splitlines()[1] == (
        'The verdicts rest on 3 checks: <a href="ledger.html?kind=stored-simulation">2 by stored simulation'
        '</a> and <a href="ledger.html?kind=asymptotic-arithmetic">1 by asymptotic arithmetic</a>.'
    )
    assert '<span class="ledger-kinds">stored simulation, asymptotic arithmetic</span>' in ledger_page(
        entries, TITLES
    )
    assert "The verdicts rest" not in ledger_line(ledger({}))


def test_distances_of_checks_are_data_and_an_infinite_one_is_nothing():
    exact, usual = by_id({"correlation_memory": [eight(8, tolerance=0), eight(8.25)]})["proposition-1"][
        "checks"
    ]
    assert (exact["distance"], exact["falsehood_distance"], exact["force"]) == (0, None, None)
    assert (usual["distance"], usual["force"]) == (0.5, 8)


def test_a_check_that_vanished_or_came_is_told(monkeypatch):
    known = {name: s for name, s in statements().items() if s.section == "correlation_memory"}
    monkeypatch.setattr(module, "statements", lambda: known)
    promised = {"correlation_memory": dict.fromkeys(known, 1) | {"proposition-1": 2}}
    complete = [
        eight(8, claim) for claim, count in promised["correlation_memory"].items() for _ in range(count)
    ]
    assert miscounts({"correlation_memory": complete}, promised) == []

    del complete[next(i for i, c in enumerate(complete) if c.claim == "proposition-1")]
    more = [*(c for c in complete if c.claim != "lemma-3"), eight(8, "remark-6")]
    assert miscounts({"correlation_memory": more}, promised) == [
        "section correlation_memory: 1 check of proposition-1, and notebooks/sections.yml expects 2",
        "section correlation_memory: no checks of lemma-3, and notebooks/sections.yml expects 1",
        "section correlation_memory: 2 checks of remark-6, and notebooks/sections.yml expects 1",
    ]


def test_a_statement_that_nobody_checks_is_told_once_its_section_is_in_the_book(monkeypatch):
    known = {name: s for name, s in statements().items() if s.section == "tail_average_margin"}
    monkeypatch.setattr(module, "statements", lambda: known)
    assert miscounts({"sparse_repair": []}, {"sparse_repair": {}}) == []
    lines = miscounts({"tail_average_margin": []}, {"tail_average_margin": {}})
    assert lines[0].startswith(
        "definition-1: no check anywhere, though its section tail_average_margin is in"
    )
    assert len(lines) == len(known)
