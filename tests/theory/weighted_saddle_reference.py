"""The saddle with weights in arithmetic with thirty digits: other quadrature, Newton's method by differences.

    python tests/theory/weighted_saddle_reference.py     all points, into the JSON file beside it (minutes)

Averages of each class are those of `saddle_reference`, over the margin itself.
"""

import json
from pathlib import Path

import mpmath as mp
from saddle_reference import DIGITS, averages, sigma, softplus, tail

STORE = Path(__file__).with_suffix(".json")
POINTS = [  # load, r, beta, ridge, weights, shares: both phases, with a ridge and without
    (0.6, 0.15, 5.0, 0.01, (0.25, 4.0), (0.8, 0.2)),
    (0.6, 0.15, 5.0, 0.0, (0.25, 4.0), (0.8, 0.2)),
    (0.2, 0.15, 30.0, 1e-6, (0.25, 4.0), (0.8, 0.2)),
    (0.31, 0.15, 30.0, 0.0, (1.0, 2.0), (0.5, 0.5)),
    (3.0, 0.5, 1.0, 0.0, (1e-3, 1.0, 100.0), (0.6, 0.35, 0.05)),
    (0.25, 0.5, 1.0, 1e-9, (1e-3, 1.0, 100.0), (0.6, 0.35, 0.05)),
    (20.0, 0.01, 0.3, 1e-4, (1.0, 10.0, 1e4), (0.9, 0.0999, 1e-4)),
]


def mean_one(point):
    """Weights with mean one, and shares with sum one."""
    shares = [mp.mpf(x) for x in point[5]]
    shares = [x / sum(shares) for x in shares]
    mean = sum(p * m for p, m in zip(point[4], shares, strict=True))
    return [mp.mpf(p) / mean for p in point[4]], shares


def misses(nu, chi, point, near):
    """By how much the two saddle equations are missed, relatively, and c and mu."""
    load, r, beta, ridge = map(mp.mpf, point[:4])
    c, mu, bend = tail(nu, r, beta, near)
    first = square = response = mp.mpf(0)
    for p, m in zip(*mean_one(point), strict=True):
        tau = chi * p

        def give(y, tau=tau):
            return tau * sigma(y) * sigma(-y)

        A, A2, B = averages(
            nu, tau, c, lambda y: sigma(-y), lambda y: sigma(-y) ** 2, lambda y, g=give: g(y) / (1 + g(y))
        )
        first, square, response = first + m * p * A, square + m * p**2 * A2, response + m * B
    variance = load * chi**2 * square / nu**2 - 1
    return mp.matrix([variance, load * (chi * (ridge + first * bend / r) + response) - 1]), c, mu


def solve(point, nu, chi, mu):
    """Newton's method in the logarithms of nu and chi, from a solution to be refined."""
    nu, chi, mu = mp.mpf(nu), mp.mpf(chi), mp.mpf(mu)
    step = mp.mpf(10) ** (-DIGITS // 3)
    for _ in range(4):
        F, c, mu = misses(nu, chi, point, mu)
        if mp.norm(F) < mp.mpf(10) ** -22:
            break
        slopes = [misses(nu * (1 + a), chi * (1 + b), point, mu)[0] - F for a, b in ((step, 0), (0, step))]
        J = mp.matrix([[slopes[0][i], slopes[1][i]] for i in range(2)]) / step
        change = mp.lu_solve(J, -F)
        nu, chi = nu * mp.exp(change[0]), chi * mp.exp(change[1])
    F, c, mu = misses(nu, chi, point, mu)
    weights = list(zip(*mean_one(point), strict=True))
    loss = sum(m * p * averages(nu, chi * p, c, lambda y: softplus(-y))[0] for p, m in weights)
    error = sum(m * p * mp.ncdf((c - chi * p / 2) / nu) for p, m in weights)
    return {"nu": nu, "chi": chi, "c": c, "mu": mu, "loss": loss, "error": error, "miss": mp.norm(F)}


def main():
    from assocmem.theory.frequencies import Frequencies
    from assocmem.theory.weighted import solve_weighted

    rows = []
    for point in POINTS:
        load, r, beta, ridge, weights, shares = point
        law = Frequencies(weights, shares)
        start = solve_weighted(load, r, beta=beta, ridge=ridge, frequencies=law)
        with mp.workdps(DIGITS):
            found = solve(point, start.nu, start.chi, start.mu)
            rows.append({"point": point} | {name: mp.nstr(x, 20) for name, x in found.items()})
        print(rows[-1], flush=True)
    STORE.write_text(json.dumps({"digits": DIGITS, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
