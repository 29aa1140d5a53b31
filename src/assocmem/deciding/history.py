"""The inverse Hessian of L-BFGS as one matrix product over the steps that it remembers.

The usual two loops visit one step after the other, which for small matrices costs more than a pass over the
scores. The compact form (Byrd, Nocedal and Schnabel 1994, Theorem 2.2) takes three products with all of them
at once.
"""

import torch


class History:
    """Steps of a descent and what the gradient did over them.

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
        A matrix of the size, type and device of the steps.
    most : int
        Steps that are remembered: the latest.
    """

    def __init__(self, W: torch.Tensor, most: int):
        self.most, self.count = most, 0
        self.pairs = W.new_zeros(2, most, W.numel())  # steps, and changes of the gradient
        self.products = W.new_zeros(2, most, most)  # of steps with changes, and of changes with changes

    def clear(self) -> None:
        """Forget all steps."""
        self.count = 0

    def add(self, step: torch.Tensor, change: torch.Tensor) -> None:
        """Remember a step, unless the gradient did not rise along it, as only rounding makes it.

        Parameters
        ----------
        step, change : Tensor, shape (d_out, d_in)
        """
        s, y = step.reshape(-1), change.reshape(-1)
        if not float(s @ y) > 0:
            return
        if self.count == self.most:
            self.count -= 1
            self.pairs[:, : self.count] = self.pairs[:, 1:].clone()
            self.products[:, : self.count, : self.count] = self.products[:, 1:, 1:].clone()
        last = self.count
        self.pairs[0, last], self.pairs[1, last] = s, y
        self.count += 1
        with_steps, with_changes = self.pairs[:, : self.count] @ y
        self.products[0, : self.count, last] = with_steps
        self.products[1, : self.count, last] = self.products[1, last, : self.count] = with_changes

    def times(self, gradient: torch.Tensor) -> torch.Tensor:
        """The inverse Hessian times a gradient.

        Parameters
        ----------
        gradient : Tensor, shape (d_out, d_in)

        Returns
        -------
        Tensor, shape (d_out, d_in)
            The gradient itself where there are no steps.
        """
        m = self.count
        if not m:
            return gradient.clone()
        S, Y = self.pairs[:, :m]
        R, squares = self.products[0, :m, :m].triu(), self.products[1, :m, :m]
        sizes = R.diagonal()
        scale = sizes[-1] / squares[-1, -1]
        g = gradient.reshape(-1)
        along, across = S @ g, Y @ g
        solved = torch.linalg.solve_triangular(R, along[:, None], upper=True)
        middle = sizes[:, None] * solved + scale * (squares @ solved - across[:, None])
        weights = torch.linalg.solve_triangular(R.mT, middle, upper=False)[:, 0]
        return (scale * (g - solved[:, 0] @ Y) + weights @ S).reshape(gradient.shape)
