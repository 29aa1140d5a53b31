"""Rules of one's own on public instances, as a stranger would score them."""

import json

import numpy as np
import pytest
import torch

from assocmem.__main__ import main
from assocmem.book.rule_ladder import ladder_text
from assocmem.capacity import scoring
from assocmem.capacity.scoring import ANY_MEMORY, RuleError, ladder, score_rule, stored_sizes
from assocmem.experiments.explicit.constructions import nested_pairs
from assocmem.experiments.ladder.fewest import fewest_dimensions
from assocmem.experiments.ladder.rules import RULES
from assocmem.experiments.ladder.smallest import smallest
from assocmem.pairs.scores import retrieval_margins

RULE = """
import torch
from beside import twice

def write(U, V):
    W = U @ V.T
    U.zero_()  # a rule may do with its vectors what it likes
    return twice(W).numpy()

def nothing(U, V):
    return torch.zeros(len(U), len(V))

def whole(U, V):
    return U

def undefined(U, V):
    return U @ V.T * float("nan")

def broken(U, V):
    raise KeyError("no such\\nthing")

def words(U, V):
    return "memory"

constant = 3
"""


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """A folder to work in, with a file of rules."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.py").write_text(RULE, encoding="utf-8")
    (tmp_path / "beside.py").write_text("def twice(W):\n    return 2 * W\n", encoding="utf-8")
    return tmp_path


def run(capsys, *words):
    code = main(["score", *words])
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err.splitlines()


def test_outer_products_from_a_file_need_what_those_of_the_book_do(rules, capsys):
    code, said, errors = run(
        capsys, "rules.py:write", "--pairs", "40", "--instances", "2", "--out", "score.json"
    )
    assert (code, errors) == (0, [])
    (score,) = json.loads((rules / "score.json").read_text(encoding="utf-8"))
    write = RULES["outer_products"].write
    assert score["dimensions"] == [smallest(write, 40, seed=seed)[0] for seed in (0, 1)]
    assert said[0] == "write, 40 pairs, 2 instances"
    assert f"from these dimensions on: {score['dimensions'][0]}, {score['dimensions'][1]}" in said[1]
    shares = list(score["shares"].values())
    assert 0 < shares[0] < shares[2] < shares[-1] <= 1
    assert 0 < score["noisy"] < score["rounded"] <= shares[-1] + 0.05


def test_a_rule_of_the_book_has_its_place_on_the_ladder(capsys):
    code, said, errors = run(capsys, "even_clip", "--pairs", "100", "--instances", "1")
    assert (code, errors) == (0, [])
    rungs = [line.strip(" >") for line in said[6:]]
    assert "any memory, proved" in rungs[0]
    values = [float(line.split()[0]) for line in rungs]
    assert values == sorted(values) and len(values) == len(RULES) + 2
    assert sum(line.startswith("  >") for line in said) == 1


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("rules.py:whole", "returned a memory of shape (15, 40): must be (15, 15) (n = 40, d = 15)"),
        ("rules.py:undefined", "returned a memory with inf or nan"),
        ("rules.py:broken", "KeyError: 'no such\\nthing' (n = 40, d = 15)"),
        ("rules.py:words", "returned 'memory': must be a matrix of numbers"),
        ("rules.py:constant", "rules.py: has no function constant"),
        ("rules.py:missing", "rules.py: has no function missing"),
        ("absent.py:write", "absent.py: no such file"),
        ("outer_product", "did you mean 'outer_products'"),
        ("torn.py:write", "torn.py: SyntaxError"),
    ],
)
def test_what_is_no_rule_is_refused_in_one_line(rules, capsys, rule, message):
    (rules / "torn.py").write_text("def write(U, V\n", encoding="utf-8")
    code, said, errors = run(capsys, rule, "--pairs", "40", "--instances", "1")
    assert (code, said, len(errors)) == (2, [], 1)
    assert message in errors[0]


@pytest.mark.parametrize(
    "options",
    [("--pairs", "2"), ("--pairs", "many"), ("--instances", "0"), ("--out", "nowhere/score.json")],
)
def test_settings_out_of_range_are_refused_before_any_work(rules, capsys, options):
    code, said, errors = run(capsys, "rules.py:write", *options)
    assert (code, said, len(errors)) == (2, [], 1)
    assert errors[0].startswith(f"assocmem: {options[0]}")


def test_a_rule_that_never_retrieves_has_no_place(rules, capsys):
    code, said, errors = run(capsys, "rules.py:nothing", "--pairs", "20", "--instances", "1")
    assert (code, errors) == (0, [])
    assert said[1].endswith("none") and "no place on the ladder" in said[-1]


def test_margins_within_rounding_do_not_count(monkeypatch):
    monkeypatch.setattr(scoring, "verify", lambda certificate, pairs: False)
    with pytest.raises(RuleError, match="only within rounding"):
        score_rule(lambda U, V: U @ V.T, 20, instances=1)


def test_a_rule_may_return_single_precision():
    found = score_rule(lambda U, V: (U @ V.T).float().numpy(), 20, instances=1)
    assert found.dimensions == score_rule(lambda U, V: U @ V.T, 20, instances=1).dimensions
    assert np.isnan(found.error)


def test_the_ladder_of_the_package_is_that_of_the_stored_tables():
    stored = scoring.files("assocmem.capacity").joinpath("ladder.csv").read_text(encoding="utf-8")
    assert stored == ladder_text(), "run: python -m assocmem.book.rule_ladder"


def test_no_rule_needs_fewer_dimensions_than_were_proved_to_be_needed():
    for n in stored_sizes():
        fewest = next(rung for rung in ladder(n) if rung.rule == ANY_MEMORY)
        for rung in ladder(n):
            for seed, d in rung.dimensions.items():
                assert d >= fewest.dimensions[seed], (n, rung.rule, seed)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_fewest_dimensions_are_proved_from_both_sides(seed):
    found = fewest_dimensions(30, seed=seed)
    at = nested_pairs(30, seed)
    assert scoring.verify(found.possible, at(found.d)) and found.possible.feasible
    assert scoring.verify(found.impossible, at(found.d - 1)) and not found.impossible.feasible
    below = at(found.d - 1)
    W = torch.from_numpy(found.possible.W)[: below.d, : below.d]
    assert float(retrieval_margins(below, W).min()) <= 0
