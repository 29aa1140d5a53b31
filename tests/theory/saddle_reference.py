"""The scalar saddle in high-precision arithmetic: other quadrature, no proximal equation, Newton's method.

    python tests/theory/saddle_reference.py        all points, into saddle_reference.json beside it (minutes)

Averages over the law of the margin are taken over the margin ``y`` itself: the normal variable that leads to
it is ``G = (y - chi sigma(-y) + c) / nu``, explicitly, so that no proximal equation is solved anywhere.
"""

import json
from itertools import pairwise
from pathlib import Path

import mpmath as mp

STORE = Path(__file__).with_suffix(".json")
DIGITS = 30
POINTS = [  # load, r, beta, ridge: both phases, the corners, the paper's figure
    (0.28, 0.15, 30.0, 1e-7),
    (0.4, 0.15, 30.0, 1e-7),
    (0.2944, 0.15, 30.0, 1e-6),
    (0.02, 0.005, 0.1, 1e-12),
    (0.02, 0.98, 1000.0, 1e-12),
    (0.02, 0.98, 0.1, 10.0),
    (5.0, 0.98, 1000.0, 10.0),
    (5.0, 0.005, 1000.0, 1e-12),
    (5.0, 0.005, 0.1, 1e-12),
    (1.0, 0.5, 3.0, 0.1),
    (0.1, 0.3, 1.0, 1e-4),
    (0.6, 0.6, 100.0, 1e-9),
]


def sigma(t):
    return 1 / (1 + mp.exp(-t))


def softplus(t):
    return mp.log1p(mp.exp(t)) if t < 0 else t + mp.log1p(mp.exp(-t))


def tail(nu, r, beta, near):
    """Tail average of a normal law, its threshold, and the average of ``phi_beta''`` there."""

    def mean(function, mu):
        bends = [(mu + t / beta) / nu for t in (-80, -20, -5, 0, 5, 20, 80)]
        edges = [-14, *sorted(b for b in bends if -14 < b < 14), 14]
        return mp.quad(lambda Z: function(beta * (nu * Z - mu)) * mp.npdf(Z), edges)

    step = mp.mpf(10) ** -8 * (abs(near) + 1 / beta)
    start = near - step, near + step
    mu = mp.findroot(lambda mu: mean(sigma, mu) - r, start, solver="secant", tol=mp.mpf(10) ** (4 - DIGITS))
    return mu + mean(softplus, mu) / (r * beta), mu, beta * mean(lambda t: sigma(t) * sigma(-t), mu)


def margin_at(G, nu, chi, c):
    """The margin that a standard normal variable leads to, to a few digits: a place to cut an integral."""
    low = nu * G - c
    high = low + chi
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle - chi * sigma(-middle) < nu * G - c else (low, middle)
    return low


def averages(nu, chi, c, *functions):
    """Averages of functions of the margin."""
    ends = [margin_at(G, nu, chi, c) for G in (-14, 14)]
    inner = [margin_at(mp.mpf(G), nu, chi, c) for G in (-8, -5, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 5, 8)]
    inner += [mp.mpf(y) for y in (-30, -10, -3, 0, 3, 10, 30, 60)]
    cuts = [ends[0], *sorted(y for y in inner if ends[0] < y < ends[1]), ends[1]]
    cuts = [cuts[0]] + [b for a, b in pairwise(cuts) if b - a > mp.mpf(10) ** -12 * (1 + abs(a))]

    def density(y):
        return mp.npdf((y - chi * sigma(-y) + c) / nu) * (1 + chi * sigma(y) * sigma(-y)) / nu

    return [mp.quad(lambda y, f=f: f(y) * density(y), cuts) for f in functions]


def misses(nu, chi, point, near):
    """By how much the two saddle equations are missed, relatively, and c and mu."""
    load, r, beta, ridge = map(mp.mpf, point)
    c, mu, bend = tail(nu, r, beta, near)

    def give(y):
        return chi * sigma(y) * sigma(-y)

    A, square, B = averages(
        nu, chi, c, lambda y: sigma(-y), lambda y: sigma(-y) ** 2, lambda y: give(y) / (1 + give(y))
    )
    variance = load * chi**2 * square / nu**2 - 1
    response = load * (chi * (ridge + A * bend / r) + B) - 1
    return mp.matrix([variance, response]), c, mu


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
    (loss,) = averages(nu, chi, c, lambda y: softplus(-y))
    return {"nu": nu, "chi": chi, "c": c, "mu": mu, "loss": loss, "miss": mp.norm(F)}


def main():
    from assocmem.theory.scalar import solve_scalar

    rows = []
    for point in POINTS:
        start = solve_scalar(point[0], point[1], beta=point[2], ridge=point[3])
        with mp.workdps(DIGITS):
            found = solve(point, *(float(getattr(start, name)) for name in ("nu", "chi", "mu")))
            rows.append({"point": point} | {name: mp.nstr(x, 20) for name, x in found.items()})
        print(rows[-1], flush=True)
    STORE.write_text(json.dumps({"digits": DIGITS, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
