"""The page that is worked by hand: all of it, in exact fractions and with the package's proofs."""

import contextlib
import io
import math
import re
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import torch

from assocmem.book.by_hand_figures import KEYS, MOVED, TARGETS
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide, decide_top1
from assocmem.experiments.first_place.linear_programs import best_of_program
from assocmem.experiments.first_place.many_programs import best_margins, count_retrievable
from assocmem.pairs.data import Pairs
from assocmem.pairs.sizes import tail_count
from assocmem.sweeps.project import project_root
from assocmem.theory.kinematics import statistical_dimension

TEXT = (project_root() / "book" / "by_hand.md").read_text(encoding="utf-8").replace("−", "-")
PLAIN, MENDED, BESIDE, AVERAGE = "outer products", "pair 3 twice", "target 4 moved", "average of two"
MOVED_TARGETS = (*TARGETS[:3], MOVED)


def table(first):
    """The cells of the table whose head begins with a word, without its head."""
    found = re.search(rf"^\| {first} \|.*\n\|[-:| ]+\|\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    rows = [line.strip("|").split("|") for line in found[1].splitlines()]
    return [[cell.strip().strip("*") for cell in row] for row in rows]


def vector(cell):
    return tuple(int(x) for x in cell.strip("()").split(","))


def matrices(text):
    """All matrices of a text, as rows of fractions."""
    found = re.findall(
        r"(?:\\frac(\d)(\d) )?\\begin\{pmatrix\} (\S+) & (\S+) \\\\ (\S+) & (\S+) \\end\{pmatrix\}", text
    )
    return [
        [[Fraction(f"{up or 1}/{down or 1}") * Fraction(x) for x in row] for row in ((a, b), (c, d))]
        for up, down, a, b, c, d in found
        if "-c" not in (a, b, c, d)
    ]


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def minus(x, y):
    return tuple(a - b for a, b in zip(x, y, strict=True))


def outer(x, y):
    return [[a * b for b in y] for a in x]


def answer(W, v):
    return tuple(dot(row, v) for row in W)


def scores(W, targets):
    """Row j, column i: target j for key i."""
    answers = [answer(W, v) for v in KEYS[: len(targets)]]
    return [[dot(u, a) for a in answers] for u in targets]


def margins(S, k=1):
    n = len(S)
    best = [sorted(S[j][i] for j in range(n) if j != i)[-k:] for i in range(n)]
    return [S[i][i] - Fraction(sum(best[i]), k) for i in range(n)]


def added(weights):
    """The weighted sum of outer products of the first pairs."""
    products = [outer(u, v) for u, v in zip(TARGETS, KEYS, strict=True)]
    return [
        [sum(c * product[a][b] for c, product in zip(weights, products, strict=False)) for b in (0, 1)]
        for a in (0, 1)
    ]


def as_pairs(targets, keys=None):
    keys = KEYS[: len(targets)] if keys is None else keys
    return Pairs(*(torch.tensor(x, dtype=torch.float64).T.contiguous() for x in (targets, keys)))


def part(title):
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def solution(label):
    return TEXT.split(f"{{solution}} {label}\n")[1].split("\n```\n")[0]


# --- three pairs ---


def test_the_pairs_are_those_of_the_drawings():
    rows = [*table("pair"), *re.findall(r"^\| (4) \| (\(.*?\)) \| (\(.*?\)) \|$", TEXT, re.MULTILINE)]
    assert [(int(i), vector(u), vector(v)) for i, u, v in rows] == list(
        zip((1, 2, 3, 4), TARGETS, KEYS, strict=True)
    )


def test_the_outer_products_add_up():
    one, two, three, W = matrices(part("Three pairs"))
    assert [one, two, three] == [outer(u, v) for u, v in zip(TARGETS[:3], KEYS[:3], strict=True)]
    assert added((1, 1, 1)) == W
    said = re.findall(r"W v_(\d) = (\(.*?\))", part("Three pairs"))
    assert [vector(x) for _, x in said] == [answer(W, v) for v in KEYS[:3]]


@pytest.mark.parametrize(
    ("name", "W", "targets", "k"),
    [
        (PLAIN, added((1, 1, 1)), TARGETS[:3], 1),
        (MENDED, added((1, 1, 2)), TARGETS[:3], 1),
        (BESIDE, matrices(part("Just beside it"))[0], MOVED_TARGETS, 1),
        (AVERAGE, matrices(part("The average of the two best"))[0], TARGETS, 2),
    ],
)
def test_tables_of_scores_and_margins_are_exact(name, W, targets, k):
    rows = table(name)
    n = len(targets)
    assert [[Fraction(x) for x in row[1:]] for row in rows[:n]] == scores(W, targets)
    found = margins(scores(W, targets), k)
    assert [Fraction(x) for x in rows[-1][1:]] == found
    assert (min(found) > 0) == (name != PLAIN)
    if k == 2:
        averages = [s - m for s, m in zip((scores(W, targets)[i][i] for i in range(n)), found, strict=True)]
        assert [Fraction(x) for x in rows[n][1:]] == averages
        ranks = [sum(row[i] >= scores(W, targets)[i][i] for row in scores(W, targets)) for i in range(n)]
        assert ranks == [2, 2, 1, 1]  # as the text says of keys 1 and 2


def test_only_the_third_key_fails_and_no_score_ties_with_its_signal():
    assert [m > 0 for m in margins(scores(added((1, 1, 1)), TARGETS[:3]))] == [True, True, False]
    assert 0 not in margins(scores(added((1, 1, 1)), TARGETS[:3]))


def test_the_repair_works_between_the_two_ends():
    low, high = (Fraction(x) for x in re.search(r"for all \$c\$ from (\S+) to (\S+), ends", TEXT).groups())
    little = Fraction(1, 1000)

    def least(c):
        return min(margins(scores(added((1, 1, 1 + c)), TARGETS[:3])))

    assert least(low) == least(high) == 0
    assert least(low - little) < 0 < least(low + little)
    assert least(high + little) < 0 < least(high - little)
    assert dot(KEYS[1], KEYS[2]) == 0


def test_three_pairs_in_the_plane_always_fit():
    """Every memory is checked exactly; two keys in one direction, or targets on a line, are left out."""
    generator = np.random.default_rng(1)
    kinds = set()
    for _ in range(150):
        u, v = (list(map(tuple, generator.integers(-3, 4, (3, 2)).tolist())) for _ in range(2))
        side, other = minus(u[1], u[0]), minus(u[2], u[0])
        relation = [v[a][0] * v[b][1] - v[a][1] * v[b][0] for a, b in ((1, 2), (2, 0), (0, 1))]
        same = any(
            r == 0 and dot(v[a], v[b]) >= 0
            for r, (a, b) in zip(relation, ((1, 2), (2, 0), (0, 1)), strict=True)
        )
        if side[0] * other[1] == side[1] * other[0] or same:
            continue
        fits, W = best_of_program(as_pairs(u, v))
        assert fits
        answers = [answer([[Fraction(x) for x in row] for row in W.tolist()], key) for key in v]
        assert min(margins([[dot(target, a) for a in answers] for target in u])) > 0
        kinds.add(tuple(sorted(np.sign(relation).tolist())))
    assert {(-1, 0, 1), (-1, -1, -1), (1, 1, 1)} & kinds
    assert len(kinds) >= 4


def test_two_keys_in_one_direction_do_not_fit():
    assert decide_top1(as_pairs(TARGETS[:3], ((1, 1), (2, 2), (1, 0)))).feasible is False


# --- four pairs ---


def test_the_certificate_is_one():
    rows = table("key")
    *comparisons, total = rows
    sums = [Fraction(0)] * 4
    for key, rival, *entries, weight in comparisons:
        i, j = int(key) - 1, int(rival) - 1
        assert [int(x) for x in entries] == [
            x for row in outer(minus(TARGETS[i], TARGETS[j]), KEYS[i]) for x in row
        ]
        assert Fraction(weight) > 0
        sums = [s + Fraction(weight) * int(x) for s, x in zip(sums, entries, strict=True)]
    assert sums == [0] * 4 == [int(x) for x in total[2:6]]
    assert f"the weights {', '.join(row[-1] for row in comparisons)} are" in TEXT
    said = re.findall(r"u_(\d) - u_(\d) &= (\(.*?\)) [,.]", TEXT)
    assert [vector(x) for *_, x in said] == [
        minus(TARGETS[int(i) - 1], TARGETS[int(j) - 1]) for i, j, _ in said
    ]
    assert {(i, j) for i, j, _ in said} == {(row[0], row[1]) for row in comparisons}


def test_the_same_in_words():
    x = minus(TARGETS[0], TARGETS[2])
    assert "x = u_1 - u_3 = (1, 2)" in TEXT
    assert x == (1, 2)
    assert tuple(a + b for a, b in zip(KEYS[0], KEYS[1], strict=True)) == KEYS[2]
    mixture = [Fraction(a + 3 * b, 4) for a, b in zip(TARGETS[0], TARGETS[3], strict=True)]
    assert [a - b for a, b in zip(TARGETS[1], mixture, strict=True)] == [Fraction(a, 4) for a in x]


def test_both_verdicts_are_those_of_the_package():
    no, yes = decide_top1(as_pairs(TARGETS)), decide_top1(as_pairs(MOVED_TARGETS))
    assert (no.feasible, yes.feasible) == (False, True)
    assert holds_exactly(no.certificate, as_pairs(TARGETS))
    assert holds_exactly(yes.certificate, as_pairs(MOVED_TARGETS))
    assert decide(as_pairs(TARGETS), 2).feasible is True
    assert tail_count(0.5, 3) == 2


@pytest.mark.parametrize("key", [(1, 2), (-3, 1), (-1, -1), (0, 5)])
def test_the_fourth_key_plays_no_part(key):
    assert decide_top1(as_pairs(TARGETS, (*KEYS[:3], key))).feasible is False


def test_the_targets_are_corners():
    for targets in (TARGETS, MOVED_TARGETS):
        assert not any(hidden(np.array(targets, dtype=float).T[None]))


# --- the count ---


def hidden(U):
    """Whether one of four targets lies in the triangle of the others: then no two corners share a sign."""
    rows = np.concatenate([U, np.ones_like(U[:, :1])], axis=1)
    relation = np.array([(-1) ** j * np.linalg.det(np.delete(rows, j, axis=2)) for j in range(4)])
    return abs(np.sign(relation).sum(axis=0)) == 2


def in_order(U, V):
    """Whether keys follow each other around the origin as their targets around the quadrilateral."""
    around = [np.argsort(np.arctan2(X[:, 1], X[:, 0]), axis=-1) for X in (U - U.mean(-1, keepdims=True), V)]
    opposite = [
        np.sort(a[:, [0, 2]], axis=-1)[:, 0] * 4 + np.sort(a[:, [0, 2]], axis=-1)[:, 1] for a in around
    ]
    partner = [
        np.sort(a[:, [1, 3]], axis=-1)[:, 0] * 4 + np.sort(a[:, [1, 3]], axis=-1)[:, 1] for a in around
    ]
    return (opposite[0] == opposite[1]) | (opposite[0] == partner[1])


def test_prices_and_bills_are_those_of_the_theory():
    ways = {"the best": 1, "the average of the two best": 2, "the average of all three": 3}
    rows = table("pairs")
    assert len(rows) == 4
    for pairs, beat, price, bill, _ in rows:
        n = int(pairs)
        cost = statistical_dimension(n, ways[beat])
        assert float(price) == pytest.approx(cost, abs=0.005)
        assert float(bill) == pytest.approx(n * cost, abs=0.005)
    assert statistical_dimension(3) == pytest.approx(5 / 6)
    # Half of the numbers of pooled competitors are odd; none and two for three pairs have 1/3 and 1/6.
    assert Fraction(1, 3) + Fraction(1, 2) + Fraction(1, 6) == 1
    assert Fraction(1, 2) + 2 * Fraction(1, 6) == Fraction(5, 6)


def odd_up_to_three(pooled):
    """Twice the probability that four copies, or three, pool one or three competitors in all."""
    n = len(pooled)
    total = np.array([1], dtype=object)
    for _ in range(n):
        total = np.convolve(total, np.array(pooled, dtype=object))
    return 2 * (total[1] + total[3])


def test_independent_directions_would_fit_so_often():
    """A random subspace of four dimensions meets the product of the cones [Amelunxen et al., 2014]."""
    three = odd_up_to_three([Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)])
    assert three == Fraction(11, 12)
    assert "11 of 12 instances with three pairs" in TEXT
    corner = math.acos(23 / 27) / (4 * math.pi)  # solid angle of a regular tetrahedron, over that of a sphere
    pooled = [0.25, 0.5 - corner, 0.25, corner]
    assert sum(k * p for k, p in enumerate(pooled)) == pytest.approx(statistical_dimension(4))
    assert f"and {100 * odd_up_to_three(pooled):.0f} % of those with four" in TEXT


def test_so_many_instances_are_satisfied():
    rows = table("pairs")
    count = {(int(row[0]), row[1]): int(row[4].replace(",", "")) for row in rows}
    assert count_retrievable(3, 2, 2000, seed=2) == 2000
    assert count_retrievable(4, 2, 2000, seed=2, k=3) == 2000
    assert count[3, "the best"] == count[4, "the average of all three"] == 10000
    for k, beat in ((1, "the best"), (2, "the average of the two best")):
        # Verdicts at the very border may depend on the machine.
        assert abs(count_retrievable(4, 2, 10000, seed=1, k=k) - count[4, beat]) <= 3
        share = count[4, beat] / 10000
        assert f"{100 * math.sqrt(share * (1 - share) / 10000):.1f}" == "0.4"
    assert "errors are 0.4 % in the second row and in the third" in TEXT


def test_four_pairs_need_a_quadrilateral_and_the_right_order():
    draws = np.random.default_rng(1).standard_normal((10000, 2, 2, 4))
    U, V = draws[:, 0], draws[:, 1]
    corners = ~hidden(U)
    possible = corners & in_order(U, V)
    fits = best_margins(U[:2000], V[:2000]) > 1e-6
    assert not np.any(fits & ~possible[:2000])
    lost = 2 / math.pi * math.acos(23 / 27)
    assert f"{100 * lost:.1f} %, one of four normal targets" in TEXT.replace("which is ", "")
    assert abs((~corners).mean() - lost) < 4 * math.sqrt(lost * (1 - lost) / 10000)
    left = (1 - lost) / 3
    assert f"leaves {100 * left:.1f} % of all" in TEXT
    assert abs(possible.mean() - left) < 4 * math.sqrt(left * (1 - left) / 10000)
    best = int(table("pairs")[1][4].replace(",", "")) / 10000
    assert f"{100 * best / left:.0f} % of those have a memory" in TEXT
    assert f"100 % and {100 * best:.0f} %" in TEXT


def test_programs_for_many_instances_agree_with_proofs():
    draws = np.random.default_rng(3).standard_normal((12, 2, 2, 4))
    found = best_margins(draws[:, 0], draws[:, 1]) > 1e-6
    for one, fits in zip(draws, found, strict=True):
        assert decide_top1(Pairs(*torch.tensor(one))).feasible in (bool(fits), None)
    wider = np.random.default_rng(4).standard_normal((8, 2, 4, 9))
    for k in (1, 3):
        found = best_margins(wider[:, 0], wider[:, 1], k) > 1e-6
        assert [decide(Pairs(*torch.tensor(one)), k).feasible for one in wider] == found.tolist()
        assert found.any() or k == 1


@pytest.mark.parametrize("bad", [{"n": 1}, {"d": 0}, {"instances": 0}, {"k": 3}])
def test_counts_refuse_what_makes_no_sense(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        count_retrievable(**({"n": 3, "d": 2, "instances": 5, "seed": 1} | bad))


# --- exercises ---


def test_equal_signals():
    text = solution("ex-by-hand-equal")
    gram = [[dot(TARGETS[i], TARGETS[j]) * dot(KEYS[i], KEYS[j]) for j in range(3)] for i in range(3)]
    assert gram == [[4, 1, -1], [1, 1, 0], [-1, 0, 1]]
    assert "x_1 = x_2 = 1/2$ and $x_3 = 3/2" in text
    weights = [Fraction(1, 2), Fraction(1, 2), Fraction(3, 2)]
    assert [dot(row, weights) for row in gram] == [1, 1, 1]
    (W,) = matrices(text)
    assert added(weights) == W
    found = margins(scores(W, TARGETS[:3]))
    assert [f"{x}" for x in found] == re.search(r"margins are (\S+), (\S+) and (\S+?):", text)[0][
        12:-1
    ].replace(" and ", ", ").split(", ")
    assert [f"{1 - x}" for x in found] == ["1/2", "1/2", "-1/2"]
    assert W[0][0] == W[1][1]
    assert W[0][1] == -W[1][0]


@pytest.mark.parametrize("t", [Fraction(-29, 10), Fraction(-2), Fraction(-7, 4), Fraction(-3, 2)])
def test_where_it_turns(t):
    alpha, beta = -(3 + 2 * t) / (3 + t), 3 / (3 + t)
    assert alpha >= 0
    assert (alpha == 0) == (t == Fraction(-3, 2))
    u = [tuple(map(Fraction, target)) for target in (*TARGETS[:3], (t, -1))]
    terms = [(1, 0, 2), (1, 2, 0), (alpha, 1, 0), (beta, 1, 3)]
    products = [(w, outer(minus(u[i], u[j]), KEYS[i])) for w, i, j in terms]
    assert all(sum(w * product[a][b] for w, product in products) == 0 for a in (0, 1) for b in (0, 1))
    assert r"\beta = \frac{3}{3 + t} , \qquad \alpha = -\frac{3 + 2 t}{3 + t}" in TEXT


def test_a_memory_begins_where_the_certificate_ends():
    assert "at $t = -1.49$ the package finds one" in TEXT
    pairs = as_pairs((*TARGETS[:3], (-1.49, -1.0)))
    found = decide_top1(pairs)
    assert found.feasible is True
    assert holds_exactly(found.certificate, pairs)


def test_the_block_prints_what_the_page_says():
    code = re.search(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[1]
    assert len(list(filter(None, code.splitlines()))) <= 12
    assert max(map(len, code.splitlines())) <= 88
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(code, {})
    assert f"It prints `{said.getvalue().strip()}`" in TEXT
    U = np.array(MOVED_TARGETS, dtype=float).T[None]
    orders = list(permutations(range(4)))
    ways = sum(
        bool(in_order(U, np.array([KEYS[i] for i in order], dtype=float).T[None])[0]) for order in orders
    )
    assert ways == 8
    assert "$4 \\cdot 2 = 8$ ways of 24" in TEXT
