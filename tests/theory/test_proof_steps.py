"""The steps of the proofs that the book writes out: each computed in a second way that could disagree."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, optimize, stats
from scipy.special import expit

from assocmem import TailAverage, fit, gaussian_pairs

RNG = np.random.default_rng


def test_the_generating_function_of_a_margin_given_three_vectors():
    """Against margins of outer products, drawn with the three vectors held; n - 1 factors would not do."""
    n, d, draws, theta = 12, 10, 400_000, 1.5
    rng = RNG(1)
    u_i, u_j, y = (rng.standard_normal(d) / math.sqrt(d) for _ in range(3))
    x = u_i - u_j
    # <x, u_k> and <v_k, y> for the other pairs, and <v_j, y>
    left = np.linalg.norm(x) / math.sqrt(d) * rng.standard_normal((draws, n - 2))
    right = np.linalg.norm(y) / math.sqrt(d) * rng.standard_normal((draws, n - 1))
    rest = (left * right[:, 1:]).sum(axis=1) + x @ u_j * right[:, 0]
    seen = np.exp(-theta * rest)

    def formula(power):
        normal = math.exp(theta**2 * (x @ u_j) ** 2 * (y @ y) / (2 * d))
        return normal * (1 - theta**2 * (x @ x) * (y @ y) / d**2) ** (-power / 2)

    error = seen.std() / math.sqrt(draws)
    assert abs(seen.mean() - formula(n - 2)) < 4 * error
    assert abs(seen.mean() - formula(n - 1)) > 4 * error


def test_a_margin_is_what_its_decomposition_says():
    n, d = 7, 4
    U, V = RNG(2).standard_normal((2, d, n))
    S = U.T @ U @ V.T @ V
    x, y = U[:, 0] - U[:, 1], V[:, 0]
    others = sum((x @ U[:, k]) * (V[:, k] @ y) for k in range(2, n))
    parts = (x @ U[:, 0]) * (y @ y) + (x @ U[:, 1]) * (V[:, 1] @ y) + others
    assert parts == pytest.approx(S[0, 0] - S[1, 0])


def test_the_chernoff_exponent_is_a_quarter_and_eight_is_where_pairs_run_out():
    """The best exponent at the limit, over theta; and the largest dip and rise that n^2 pairs have."""
    for load in (0.01, 0.1):
        best = optimize.minimize_scalar(
            lambda t, load=load: -t + t**2 * load, bounds=(0, 1e3), method="bounded"
        )
        assert best.fun == pytest.approx(-1 / (4 * load), rel=1e-6)
    dip = np.linspace(0, 1, 1001)
    assert ((dip + np.sqrt(2 - dip**2)).max() ** 2) * 2 == pytest.approx(8)


@pytest.mark.parametrize(("z", "w", "rho"), [(0.5, 1.2, 0.3), (2.0, 1.5, -0.4), (1.0, 1.0, 0.0)])
def test_plackett_by_differences(z, w, rho):
    def quadrant(r):
        inner = lambda g: stats.norm.pdf(g) * stats.norm.sf((w - r * g) / math.sqrt(1 - r * r))  # noqa: E731
        return integrate.quad(inner, z, 12, epsabs=1e-13, epsrel=1e-12)[0]

    step = 1e-3
    slope = (quadrant(rho + step) - quadrant(rho - step)) / (2 * step)
    density = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).pdf([z, w])
    assert slope == pytest.approx(density, rel=1e-5)
    assert slope != pytest.approx(stats.norm.pdf(z) * stats.norm.pdf(w), rel=1e-3) or rho == 0


def test_the_weights_of_the_array_have_the_means_that_cancel():
    log_n, length = 9.0, 2.6  # length stands for sqrt(d) |x_i|
    b = 1 - 1 / log_n
    z = optimize.brentq(lambda z: b * stats.norm.pdf(z) / stats.norm.sf(z) - length, 0, 10)
    p = stats.norm.sf(z)

    def mean(f):  # of f(g) c(g), the jump at z apart
        low = integrate.quad(lambda g: f(g) * stats.norm.pdf(g), -12, 12, points=[z])[0]
        return low / log_n + b / p * integrate.quad(lambda g: f(g) * stats.norm.pdf(g), z, 12)[0]

    assert mean(lambda g: 1.0) == pytest.approx(1)
    assert mean(lambda g: g) == pytest.approx(length)


def test_the_infimum_of_the_second_stage_and_the_symmetrised_supremum():
    """The least E|a g - s| on the circle is that at s = 0; and deviations over the sphere fall with r."""
    angle = np.linspace(0, math.pi / 2, 200)[:-1]
    a, s = np.cos(angle), np.sin(angle)
    means = 2 * a * stats.norm.pdf(s / a) + s * (1 - 2 * stats.norm.sf(s / a))
    by_hand = integrate.quad(
        lambda g: abs(a[80] * g - s[80]) * stats.norm.pdf(g), -12, 12, points=[s[80] / a[80]]
    )
    assert means[80] == pytest.approx(by_hand[0])
    assert means.min() == means[0] == pytest.approx(math.sqrt(2 / math.pi))

    rng, d, points = RNG(3), 12, RNG(4).standard_normal((300, 13))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    a, s = np.linalg.norm(points[:, :d], axis=1), abs(points[:, d])
    exact = 2 * a * stats.norm.pdf(s / a) + s * (1 - 2 * stats.norm.sf(s / a))

    def worst(r):
        z = np.hstack([rng.standard_normal((r, d)), -np.ones((r, 1))])
        return abs(abs(z @ points.T).mean(axis=0) - exact).max()

    few, many = (np.mean([worst(r) for _ in range(20)]) for r in (200, 3200))
    bound = [4 * (math.sqrt(d * r) + math.sqrt(r)) / r for r in (200, 3200)]
    assert few < bound[0]
    assert many < bound[1]
    assert 3 < few / many < 5  # the square root of 16


def test_fresh_vectors_contract_by_the_root_of_the_dimension_each():
    d, draws = 8, 200_000
    rng = RNG(5)
    A = rng.standard_normal((d, d)) @ np.diag([3.0] + [0.3] * (d - 1))
    u, v = rng.standard_normal((2, draws, d)) / math.sqrt(d)
    one, two = ((v @ A.T) ** 2).sum(axis=1), (u @ A * v).sum(axis=1) ** 2
    for seen, power in ((one, 1), (two, 2)):
        error = 4 * seen.std() / math.sqrt(draws)
        assert abs(seen.mean() - (A**2).sum() / d**power) < error
        assert abs(seen.mean() - np.linalg.norm(A, 2) ** 2 * d / d**power) > error  # not the operator norm


def test_khatri_rao_features_stay_bounded_where_products_of_norms_grow():
    rng, load, found = RNG(6), 0.5, []
    for d in (10, 20, 30):
        n = int(load * d * d)
        U, V = rng.standard_normal((2, d, n)) / math.sqrt(d)
        F = np.einsum("ai,bi->abi", U, V).reshape(d * d, n)
        gram = (U.T @ U) * (V.T @ V)
        assert np.allclose(F.T @ F, gram)
        found.append((np.linalg.norm(F, 2), np.linalg.norm(U, 2) * np.linalg.norm(V, 2)))
    (first, crude), *_, (last, cruder) = found
    assert last < 1.15 * first
    assert last == pytest.approx(1 + math.sqrt(load), rel=0.25)
    assert cruder > 2.2 * crude


# --- a small trained memory, for the adjoint and the projection -------------------------------------


def loss(S):
    """A convex loss of a signal against a smooth aggregate of its competitors."""
    n = S.shape[0]
    others = S.masked_fill(torch.eye(n, dtype=torch.bool), -torch.inf)
    aggregate = torch.logsumexp(2 * others, dim=0) / 2
    return torch.nn.functional.softplus(aggregate - S.diagonal()).sum()


def train(U, V, ridge=0.7, basis=None):
    """The minimiser by Newton's method, on the span of a basis of matrices if one is given."""
    d = U.shape[0]
    basis = torch.eye(d * d, dtype=U.dtype) if basis is None else basis

    def value(w):
        W = (basis @ w).reshape(d, d)
        return loss(U.T @ W @ V) + ridge / 2 * (W**2).sum()

    w = torch.zeros(basis.shape[1], dtype=U.dtype)
    for _ in range(9):
        gradient = torch.autograd.functional.jacobian(value, w)
        w = w - torch.linalg.solve(torch.autograd.functional.hessian(value, w), gradient)
    assert gradient.norm() < 1e-10
    return (basis @ w).reshape(d, d)


def small_pairs(n=6, d=3):
    return torch.tensor(RNG(7).standard_normal((2, d, n)) / math.sqrt(d))


def test_the_adjoint_gives_the_derivative_of_an_average_over_a_trained_memory():
    (U, V), ridge = small_pairs(), 0.7
    n, d = U.shape[1], U.shape[0]

    def average(U, V):
        return ((U.T @ train(U, V) @ V).diagonal() ** 2).mean()

    W = train(U, V)
    S = U.T @ W @ V
    G = torch.autograd.functional.jacobian(loss, S)
    second = torch.autograd.functional.hessian(loss, S)
    B = torch.diag(2 * S.diagonal() / n)
    design = torch.einsum("aj,bi->jiab", U, V).reshape(n * n, d * d)
    J = design.T @ second.reshape(n * n, n * n) @ design + ridge * torch.eye(d * d, dtype=U.dtype)
    P = torch.linalg.solve(J, (U @ B @ V.T).reshape(-1)).reshape(d, d)
    T = U.T @ P @ V
    C = torch.einsum("jilk,lk->ji", second, T)
    by_adjoint = W @ V @ (B - C).T - P @ V @ G.T, W.T @ U @ (B - C) - P.T @ U @ G
    step = 1e-5
    for side in (0, 1):
        direction = torch.tensor(RNG(8).standard_normal((d, n)))
        ends = []
        for sign in (1, -1):
            moved = [U, V]
            moved[side] = moved[side] + sign * step * direction
            ends.append(average(*moved))
        slope = (ends[0] - ends[1]) / (2 * step)
        assert slope == pytest.approx((by_adjoint[side] * direction).sum().item(), rel=1e-6)
    # a memory that stood still would have the direct part alone
    assert not torch.allclose(by_adjoint[0], W @ V @ B.T, rtol=0.1)
    assert (T * C).sum() + ridge * (P**2).sum() == pytest.approx((P * (U @ B @ V.T)).sum().item())


def test_the_restricted_memory_never_sees_two_directions_and_bounds_the_other():
    (U, V), ridge = small_pairs(), 0.7
    d = U.shape[0]
    turn = torch.linalg.qr(torch.tensor(RNG(9).standard_normal((2, d, d))))[0]
    x, y = turn[0][:, 0], turn[1][:, 0]
    left, right = turn[0][:, 1:], turn[1][:, 1:]
    basis = torch.einsum("ap,bq->abpq", left, right).reshape(d * d, -1)

    def project(M):
        X, Y = torch.outer(x, x), torch.outer(y, y)
        return X @ M + M @ Y - X @ M @ Y

    restricted = train(U, V, basis=basis)
    p, r = torch.tensor(RNG(10).standard_normal((2, U.shape[1])))
    elsewhere = U + torch.outer(x, p - x @ U), V + torch.outer(y, r - y @ V)
    assert torch.allclose(train(*elsewhere, basis=basis), restricted)
    assert not torch.allclose(train(*elsewhere), train(U, V), rtol=0.1)

    G = torch.autograd.functional.jacobian(loss, U.T @ restricted @ V)
    M = U @ G @ V.T
    parts = x @ M @ y, x @ M @ right, left.T @ M @ y
    assert (project(M) ** 2).sum() == pytest.approx(sum((part**2).sum() for part in parts).item())
    W = train(U, V)
    bound = project(M).norm() / ridge
    assert abs(x @ W @ y) <= project(W).norm() <= bound
    assert project(W).norm() > bound / 10  # of the right size: without the ridge in it, it would be missed


def test_the_source_of_the_adjoint_falls_with_the_dimension_and_not_with_its_root():
    """|U B V'| of trained memories, psi(s) = s^2: halved at twice the dimension, where the paper has 0.71."""

    def source(d):
        sizes = []
        for seed in range(4):
            pairs = gaussian_pairs(d * d // 2, d, seed=seed)
            W = fit(pairs, TailAverage(r=0.2, beta=3.0), ridge=0.3).W
            signals = (pairs.U * (W @ pairs.V)).sum(dim=0)
            sizes.append(torch.linalg.norm(pairs.U * (2 * signals / pairs.n) @ pairs.V.T).item())
        return np.mean(sizes)

    assert source(16) / source(8) == pytest.approx(0.5, abs=0.1)


def test_one_direction_of_a_cavity():
    rng, b, size = RNG(11), 0.2, 9
    root = rng.standard_normal((size, size))
    A, f = root @ root.T + np.eye(size), rng.standard_normal(size)
    x = f @ np.linalg.solve(A, f)
    whole = f @ np.linalg.solve(A + b * np.outer(f, f), f)
    assert whole == pytest.approx(x / (1 + b * x))
    assert whole != pytest.approx(x * (1 - b * x), rel=0.01)


def test_a_fresh_feature_reads_off_the_trace_with_an_error_of_the_root_of_the_dimension():
    """The spread of f' T f for T = I, the worst case, by its exact moments and by draws."""
    draws = 100_000
    for d in (8, 32):
        u, v = RNG(d).chisquare(d, (2, draws)) / d  # |u|^2 and |v|^2
        seen = u * v
        exact = (1 + 2 / d) ** 2 - 1
        assert seen.mean() == pytest.approx(1, abs=4 * math.sqrt(exact / draws))
        assert seen.var() == pytest.approx(exact, rel=0.05)


# --- duality -----------------------------------------------------------------------------------------


def softplus(t):
    return np.logaddexp(0, -t)


def entropy(a):
    return a * np.log(a) + (1 - a) * np.log1p(-a)


@pytest.mark.parametrize("t", [-4.0, -0.3, 0.0, 2.5])
def test_the_loss_is_the_largest_of_its_lines(t):
    a = np.linspace(1e-9, 1 - 1e-9, 200_001)
    lines = -a * t - entropy(a)
    assert lines.max() == pytest.approx(softplus(t), abs=1e-9)
    assert a[lines.argmax()] == pytest.approx(1 / (1 + math.exp(t)), abs=1e-4)


def bracket_at(s, x, chi, c):
    return (s - x) ** 2 / (2 * chi) + softplus(s - c)


def test_the_envelope_and_its_dual_have_one_value():
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights /= weights.sum()
    a = np.linspace(1e-9, 1 - 1e-9, 20_001)[:, None]
    for nu, chi, c in ((1.0, 0.5, 1.4), (2.0, 3.0, 2.2)):
        primal = [optimize.minimize_scalar(bracket_at, args=(nu * g, chi, c), tol=1e-12).fun for g in nodes]
        dual = (a * (c - nu * nodes) - entropy(a) - chi / 2 * a**2).max(axis=0)
        assert weights @ primal == pytest.approx(weights @ dual, abs=1e-7)
        without = (a * (c - nu * nodes) - entropy(a) - chi / 4 * a**2).max(axis=0)
        assert weights @ primal != pytest.approx(weights @ without, abs=1e-3)


def test_the_reduced_potential_is_its_dual_and_bends_at_least_like_the_ridge():
    """The maximum over chi against the dual value at its own weights, and midpoints of chords."""
    load, r, beta, ridge = 0.5, 0.2, 3.0, 0.4
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights /= weights.sum()

    def tail(nu):
        phi = lambda mu: mu + weights @ np.logaddexp(0, beta * (nu * nodes - mu)) / (beta * r)  # noqa: E731
        return optimize.minimize_scalar(phi, bracket=(-1, 3), tol=1e-12).fun

    def weight(nu, chi, c):
        low, high = np.zeros_like(nodes), np.ones_like(nodes)
        for _ in range(60):  # bisection for a = sigma(c - nu g - chi a): one side rises, the other falls
            a = (low + high) / 2
            above = a > expit(c - nu * nodes - chi * a)
            low, high = np.where(above, low, a), np.where(above, a, high)
        return a

    def parts(nu):
        c = tail(nu)
        moment = lambda chi: chi**2 * (weights @ weight(nu, chi, c) ** 2) - nu**2 / load  # noqa: E731
        chi = optimize.brentq(moment, 1e-6, 1e3, xtol=1e-13)
        a = weight(nu, chi, c)
        s = nu * nodes + chi * a
        primal = weights @ ((s - nu * nodes) ** 2 / (2 * chi) + softplus(s - c)) - nu**2 / (2 * load * chi)
        dual = weights @ (a * (c - nu * nodes) - entropy(a)) - nu * math.sqrt(weights @ a**2 / load)
        return ridge * nu**2 / 2 + primal, ridge * nu**2 / 2 + dual, moment, chi

    values = {nu: parts(nu) for nu in (0.6, 1.0, 1.4)}
    for primal, dual, moment, chi in values.values():
        assert primal == pytest.approx(dual, rel=1e-8)
        assert moment(0.9 * chi) < 0 < moment(1.1 * chi)  # one change of sign: what rises to zero goes on
    low, mid, high = (values[nu][0] for nu in (0.6, 1.0, 1.4))
    assert low + high - 2 * mid >= ridge * 0.4**2
    assert (tail(0.6) + tail(1.4)) / 2 > tail(1.0)
