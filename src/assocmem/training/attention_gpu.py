"""The gradient of cross-entropy as an attention output, no score ever stored.

With queries ``W v_i`` and the targets as keys and values, ``U T`` is what attention computes, each query kept
from its own target. One program has a tile of queries and walks over the targets; the sums are scaled at the
end. It saves the traffic of scores, about five times their size for each pass, and pays where that traffic is
more than a small share of the products: in cheap precisions, and as long as a tile of sums fits into
registers. A tail average has to know its threshold before the first weight; the search for it would compute
the scores again and again, which costs more than to read them from memory.
"""

import torch
import triton
import triton.language as tl

from assocmem.homes import place_for_triton

place_for_triton()

WIDEST = {"tf32": 256, "tf32x3": 128}
"""Largest dimension d, for each precision, in which the sums of a tile of queries fit into registers."""

TILES = {torch.float32: (64, 32), torch.float64: (16, 16)}
"""Queries and targets of a tile, for each type of number; chosen by trial."""

WARPS = 8
"""Groups of 32 threads that share a tile; chosen by trial."""

STAGES = 2
"""Tiles of targets that are on their way from memory at a time; chosen by trial."""

LEAST_WIDTH = 16
"""Least width of a product on tensor cores, in numbers."""


def suits(d: int, precision: str) -> bool:
    """Whether it pays not to store the scores of vectors in dimension d.

    Parameters
    ----------
    d : int
    precision : str

    Returns
    -------
    bool
    """
    return d <= WIDEST.get(precision, 0)


def attend(
    Q: torch.Tensor, U: torch.Tensor, answers: torch.Tensor, precision: str = "float64"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-sum-exp of the competitors of each key, and their targets' average by softmax.

    Parameters
    ----------
    Q, U : Tensor, shapes (d, n) and (d, m)
        ``W V`` and the targets; float32 unless the precision is float64.
    answers : Tensor of torch.int64, shape (n,)
        The target of each key, by its number.
    precision : {"float64", "tf32x3", "float32", "tf32"}

    Returns
    -------
    c : Tensor, shape (n,)
    pulled : Tensor, shape (d, n)
        ``U T``.
    """
    rows, targets = Q.T.contiguous(), U.T.contiguous()
    (n, d), m = rows.shape, len(targets)
    c, pulled = rows.new_empty(n), torch.empty_like(rows)
    queries, step = TILES[rows.dtype]
    width = max(LEAST_WIDTH, triton.next_power_of_2(d))
    form = {"PRECISION": precision if precision in WIDEST else "ieee"}
    form |= {"QUERIES": queries, "TARGETS": step, "WIDTH": width, "num_warps": WARPS, "num_stages": STAGES}
    _attend[(triton.cdiv(n, queries),)](rows, targets, answers.contiguous(), c, pulled, n, m, d, **form)
    return c, pulled.T


@triton.jit
def _attend(
    Q,
    U,
    ANSWERS,
    C,
    PULLED,
    n,
    m,
    d,
    PRECISION: tl.constexpr,
    QUERIES: tl.constexpr,
    TARGETS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    keys = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    parts = tl.arange(0, WIDTH)
    place = keys.to(tl.int64)[:, None] * d + parts[None, :]
    inside = (keys[:, None] < n) & (parts[None, :] < d)
    own = tl.load(ANSWERS + keys, mask=keys < n, other=-1)
    q = tl.load(Q + place, mask=inside, other=0.0)
    top = tl.zeros((QUERIES,), q.dtype) - float("inf")
    total = tl.zeros((QUERIES,), q.dtype)
    sums = tl.zeros((QUERIES, WIDTH), q.dtype)
    for start in range(0, m, TARGETS):
        j = start + tl.arange(0, TARGETS)
        there = (j[:, None] < m) & (parts[None, :] < d)
        u = tl.load(U + j.to(tl.int64)[:, None] * d + parts[None, :], mask=there, other=0.0)
        s = tl.dot(q, tl.trans(u), input_precision=PRECISION, out_dtype=q.dtype)
        s = tl.where((j[None, :] < m) & (j[None, :] != own[:, None]), s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))  # finite: the first tile has two targets at least
        shrink = tl.exp(top - higher)
        p = tl.exp(s - higher[:, None])
        total = total * shrink + tl.sum(p, 1)
        sums = tl.dot(p, u, sums * shrink[:, None], input_precision=PRECISION, out_dtype=q.dtype)
        top = higher
    tl.store(C + keys, top + tl.log(total), mask=keys < n)
    tl.store(PULLED + place, sums / total[:, None], mask=inside)
