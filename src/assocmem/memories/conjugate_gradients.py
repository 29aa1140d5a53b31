"""Conjugate gradients for linear systems whose matrix is positive definite and only known by its products."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from assocmem.checks import require, require_callable, require_integer, require_number
from assocmem.pairs.data import describe, is_dense


@dataclass(frozen=True)
class Solution:
    """What conjugate gradients found.

    Attributes
    ----------
    x : Tensor
        The solution, or the last iterate.
    steps : int
        Products taken, one for each step.
    residual : float
        Norm of ``right - product(x)`` over that of ``right``, as the recursion knows it.
    converged : bool
        Whether the residual is at most the tolerance.
    """

    x: torch.Tensor
    steps: int
    residual: float
    converged: bool


def conjugate_gradients(
    product: Callable[[torch.Tensor], torch.Tensor],
    right: torch.Tensor,
    *,
    tol: float,
    most_steps: int,
    start: torch.Tensor | None = None,
) -> Solution:
    """Solve ``product(x) = right`` by the method of Hestenes and Stiefel (1952).

    In exact arithmetic it takes as many steps as the matrix has distinct eigenvalues, and in any arithmetic a
    number that grows as the square root of its condition number.

    Parameters
    ----------
    product : callable
        A linear map of tensors of one shape, symmetric and positive definite.
    right : Tensor
        Of any shape.
    tol : float
        Norm of the residual over that of ``right`` at which to stop.
    most_steps : int
        After which to give up.
    start : Tensor, optional
        A guess of the solution, by default zero, which saves a product.

    Returns
    -------
    Solution
        Whoever calls has to look whether it converged.

    Raises
    ------
    ValueError
        For a tolerance or a number of steps out of range, or a start of another shape than ``right``.
    """
    require_callable("product", product)
    ok = is_dense(right) and right.is_floating_point() and bool(torch.isfinite(right).all())
    require(ok, "right", describe(right), "a floating-point tensor, finite")
    require_number("tol", tol, 0, 1, ends="[]")
    require_integer("most_steps", most_steps, 0)
    if start is not None:
        require(_alike(start, right), "start", describe(start), f"like right, {describe(right)}")
        require(bool(torch.isfinite(start).all()), "start", "a tensor with inf or nan", "finite")
    right = right.detach()

    def checked(image: torch.Tensor) -> torch.Tensor:
        require(
            _alike(image, right),
            "product",
            describe(image),
            f"a map to tensors like right, {describe(right)}",
        )
        return image

    if start is None:
        x, rest = torch.zeros_like(right), right.clone()
    else:
        x = start.detach().clone()
        rest = right - checked(product(x))
    size, square = _square(right), _square(rest)
    goal, direction, steps = tol**2 * size, rest.clone(), 0
    while square > goal and steps < most_steps:
        image = checked(product(direction))
        curvature = float((direction * image).sum())
        if not curvature > 0:  # not positive definite in the digits there are
            break
        length = square / curvature
        x.add_(direction, alpha=length)
        rest.sub_(image, alpha=length)
        square, before = _square(rest), square
        direction.mul_(square / before).add_(rest)
        steps += 1
    return Solution(x, steps, math.sqrt(square / size) if size else math.sqrt(square), square <= goal)


def _alike(x: object, y: torch.Tensor) -> bool:
    """Whether something is a tensor of the shape, dtype and device of another."""
    return is_dense(x) and (x.shape, x.dtype, x.device) == (y.shape, y.dtype, y.device)


def _square(x: torch.Tensor) -> float:
    return float((x * x).sum())
