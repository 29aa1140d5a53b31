"""All that the scalar theory says of one memory, in so few numbers that hundreds of memories can be kept.

Two statements are about couplings and not about laws, so what they couple is kept: a signal score beside
the score that its pair has under the memory trained without it (Proposition 7), and the competitors of a key
beside themselves divided by the length of its answer (Proposition 6).
"""

import math

import numpy as np
import torch

from assocmem.checks import require_integer
from assocmem.experiments.tail_average.memories_at_load import train_at_load
from assocmem.experiments.tail_average.scalar_instances import GAP
from assocmem.removal.hessians import Evaluation, dense_inverse, evaluate, solve
from assocmem.removal.leave_one_out import full_problem, without
from assocmem.theory.law_variants import with_numbers
from assocmem.theory.scalar import ScalarSolution, solve_scalar
from assocmem.training.fit import fit
from assocmem.training.losses import TailAverage

REMOVED_GAP = 1e-9
"""Relative duality gap of the memories without a pair. One pair moves the objective by a share of about 1/n,
which is far more, and what the gap leaves of a score is its root times the score."""
LARGEST_INVERSE = 80
"""Dimension up to which the inverse Hessian is formed, of ``8 d^4`` bytes; beyond, its trace comes from
random probes, whose error falls like 1/d."""
PROBE_RESIDUAL = 1e-4
"""Relative residual of a probe's system: its quadratic form is off by about the square of it."""
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles of the laws below which the shares of scores are kept."""


def measure_instance(
    d: int, load: float, r: float, beta: float, ridge: float, *, seed: int, removed: int, probes: int
) -> dict[str, float]:
    """Train one memory, and read off it what Theorem 2 and Propositions 6 to 9 speak of.

    Parameters
    ----------
    d : int
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.solve_scalar`.
    seed : int
        Of the pairs, and of the probes.
    removed : int
        Pairs of which each is removed once: the first ones.
    probes : int
        Random probes of the trace, at least two, where d is above `LARGEST_INVERSE`.

    Returns
    -------
    dict of str to float
        ``nu``, ``chi``, ``chi_error``, ``loss``, and the numbers of `averages`, of `shares` for the laws at
        its own nu and chi, of `competitors` and of `couplings`.

    Raises
    ------
    ArithmeticError
        If a minimiser is not found to its gap.
    RuntimeError
        If the system of a probe is not solved.
    """
    require_integer("removed", removed, 0)
    loss = TailAverage(r=r, beta=beta)
    pairs, found = train_at_load(load, d, loss, ridge=ridge, tol=GAP, seed=seed)
    point = evaluate(full_problem(pairs, loss, ridge), found.W)
    chi, error = susceptibility(point, probes=probes, seed=seed)
    numbers = {"nu": found.nu, "chi": chi, "chi_error": error, "loss": found.loss}
    law = with_numbers(solve_scalar(load, r, beta=beta, ridge=ridge), found.nu, chi)
    numbers |= averages(point, chi) | shares(point, law) | competitors(point)
    return numbers | couplings(point, removed)


def susceptibility(point: Evaluation, *, probes: int, seed: int) -> tuple[float, float]:
    """``tr(H^-1) / d^2`` and its standard error: exact in small dimensions, by random probes in large ones.

    Parameters
    ----------
    point : Evaluation
    probes : int
        At least two.
    seed : int

    Returns
    -------
    chi, error : float

    Raises
    ------
    ValueError
        For fewer than two probes.
    RuntimeError
        If the system of a probe is not solved.
    """
    require_integer("probes", probes, 2)
    d = point.problem.pairs.d
    if d <= LARGEST_INVERSE:
        return float(dense_inverse(point).diagonal().mean()), 0.0
    generator = torch.Generator().manual_seed(int(seed))
    found = []
    for _ in range(probes):
        signs = torch.randint(0, 2, (d, d), generator=generator).to(point.W).mul_(2).sub_(1)
        found.append(float((signs * solve(point, signs, tol=PROBE_RESIDUAL)).mean()))
    return float(np.mean(found)), float(np.std(found, ddof=1)) / math.sqrt(probes)


def averages(point: Evaluation, chi: float) -> dict[str, float]:
    """Averages over the keys of one memory, which the equations of Propositions 8 and 9 contain.

    Parameters
    ----------
    point : Evaluation
    chi : float
        Its susceptibility.

    Returns
    -------
    dict of str to float
        ``a``, ``a_square``: mean and mean square of the weights; ``a_signal``: mean of the weight times the
        signal; ``pulled``: of the weight times the margin at the tail weights; ``bend``, ``a_bend``: of the
        sum of ``phi'' / k`` over competitors, alone and times the weight; ``response``, ``response_first``:
        of ``chi b / (1 + chi b)`` and of ``chi b``; ``signal``, ``signal_square``, ``tail``,
        ``tail_square``, ``threshold``: of signals, tail averages and thresholds.
    """
    s, a, b = point.S.diagonal(), point.a, point.b
    bend = point.c.sum(dim=0)
    pulled = torch.linalg.vecdot(point.p, point.S, dim=0)
    means = {
        "a": a,
        "a_square": a**2,
        "a_signal": a * s,
        "pulled": a * (s - pulled),
        "bend": bend,
        "a_bend": a * bend,
        "response": chi * b / (1 + chi * b),
        "response_first": chi * b,
        "signal": s,
        "signal_square": s**2,
        "tail": point.t,
        "tail_square": point.t**2,
        "threshold": point.mu,
    }
    return {name: float(x.mean()) for name, x in means.items()}


def competitors(point: Evaluation) -> dict[str, float]:
    r"""What the competing scores of one memory share by columns and by rows (Proposition 6).

    With ``z_ji = nu s_ji sqrt(d) / |W v_i|`` each key's competitors have one scale. Under a fresh key the
    length ``|W v|^2`` varies by a share of variance ``2 tr((W'W)^2) / |W|_F^4``, which is of order 1/d.

    Parameters
    ----------
    point : Evaluation

    Returns
    -------
    dict of str to float
        ``competitor``, ``competitor_square``, ``competitor_fourth``: moments of the scores;
        ``scaled_square``, ``scaled_fourth``: of the z; ``coupling``: root mean square of ``s - z``;
        ``length_variance``: the share of variance above; ``column_variance``, ``row_variance``: variance of
        the mean square of a column of scores, and of a row, over the square of its mean;
        ``scaled_column_variance``, ``scaled_row_variance``: the same of the z.
    """
    pairs, W = point.problem.pairs, point.W
    n, d = pairs.n, pairs.d
    nu = float(torch.linalg.matrix_norm(W)) / d
    length = torch.linalg.vector_norm(W @ pairs.V, dim=0)
    stretch = nu * math.sqrt(d) / length
    S = point.S.clone()
    S.fill_diagonal_(0)
    numbers = {"competitor": float(S.sum())}
    S.square_()
    column, row = S.sum(dim=0), S.sum(dim=1)
    scaled_row = S @ stretch**2
    numbers["competitor_square"] = float(column.sum())
    numbers["scaled_square"] = float(scaled_row.sum())
    numbers["coupling"] = float(column @ (1 - stretch) ** 2)
    fourth = S.square_().sum(dim=0)
    numbers["competitor_fourth"] = float(fourth.sum())
    numbers["scaled_fourth"] = float(fourth @ stretch**4)
    numbers = {name: x / (n * (n - 1)) for name, x in numbers.items()}
    numbers["coupling"] = math.sqrt(numbers["coupling"])
    squares = torch.linalg.svdvals(W).square()
    numbers["length_variance"] = 2 * float((squares**2).sum() / squares.sum() ** 2)
    shares = {
        "column": column,
        "row": row,
        "scaled_column": column * stretch**2,
        "scaled_row": scaled_row,
    }
    return numbers | {f"{name}_variance": float(x.var() / x.mean() ** 2) for name, x in shares.items()}


def couplings(point: Evaluation, removed: int) -> dict[str, float]:
    """Scores of the first pairs with them, and under the memories trained without them (Proposition 7).

    Parameters
    ----------
    point : Evaluation
        The minimiser with all pairs.
    removed : int

    Returns
    -------
    dict of str to float
        For h from 0 to ``removed - 1``: ``signal_h``, ``tail_h`` the signal and the tail average of pair h;
        ``fresh_h`` its signal under the memory without it; ``answer_h`` the length of its answer there,
        over ``nu sqrt(d)`` of that memory's norm; ``square_h`` the product ``|u_h|^2 |v_h|^2``, 1 on average.

    Raises
    ------
    ArithmeticError
        If a minimiser is not found to its gap.
    """
    pairs = point.problem.pairs
    numbers = {}
    for h in range(removed):
        rest = without(point.problem, h)
        found = fit(rest.pairs, rest.loss, ridge=rest.ridge, tol=REMOVED_GAP, W0=point.W)
        if not found.converged:
            raise ArithmeticError(f"without pair {h}: gap {found.gap:.1e} after {found.passes} passes")
        u, v = pairs.U[:, h], pairs.V[:, h]
        answer = found.W @ v
        numbers |= {
            f"signal_{h}": float(point.S[h, h]),
            f"tail_{h}": float(point.t[h]),
            f"fresh_{h}": float(u @ answer),
            f"answer_{h}": float(answer.norm()) / (found.nu * math.sqrt(pairs.d)),
            f"square_{h}": float((u @ u) * (v @ v)),
        }
    return numbers


def shares(point: Evaluation, solution: ScalarSolution) -> dict[str, float]:
    """Shares of the signals and of the margins below quantiles of their laws.

    Parameters
    ----------
    point : Evaluation
    solution : ScalarSolution
        Whose laws are meant.

    Returns
    -------
    dict of str to float
        ``signal_below_0`` and ``margin_below_0``, and so on, in the order of `LEVELS`.
    """
    numbers = {}
    for kind, x in (("signal", point.S.diagonal()), ("margin", point.m)):
        quantiles = getattr(solution, kind).quantile(np.array(LEVELS))
        for i, q in enumerate(quantiles):
            numbers[f"{kind}_below_{i}"] = float((x <= float(q)).double().mean())
    return numbers
