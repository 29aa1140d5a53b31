"""The inverse Hessian of L-BFGS as one matrix product over the steps that it remembers.

The usual two loops visit one step after the other, which for small matrices costs more than a pass over the
scores. The compact form (Byrd, Nocedal and Schnabel 1994, Theorem 2.2) takes three products with all of them
at once. It corrects a first guess of the inverse Hessian: the identity, or any other that the caller applies
to gradients, multiplied so that it takes the last change of the gradient to a step as long as the last one
was in the metric of the guess. (A guess that is a model of the Hessian may be off by a factor. Without the
multiple, steps of fits of cross-entropy were twice too long, and each cost a pass more.)
"""

import torch

from assocmem.training.metric import Inverse


class History:
    """Steps of a descent and what the gradient did over them.

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
        A matrix of the size, type and device of the steps.
    most : int
        Steps that are remembered: the latest.
    guessed : bool
        Whether the caller has a first guess of the inverse Hessian. Else it is the identity.
    """

    def __init__(self, W: torch.Tensor, most: int, *, guessed: bool = False):
        self.most, self.count = most, 0
        # steps, changes of the gradient, and last what the guess makes of these, if it is not the identity
        self.pairs = W.new_zeros(3 if guessed else 2, most, W.numel())
        self.products = W.new_zeros(2, most, most)  # of the changes with the first and with the last of these

    def clear(self) -> None:
        """Forget all steps."""
        self.count = 0

    def add(self, step: torch.Tensor, change: torch.Tensor, guessed: torch.Tensor | None = None) -> None:
        """Remember a step, unless the gradient did not rise along it, as only rounding makes it.

        Parameters
        ----------
        step, change : Tensor, shape (d_out, d_in)
        guessed : Tensor, shape (d_out, d_in), optional
            What the guess makes of the change, where there is one.
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
        if guessed is not None:
            self.pairs[2, last] = guessed.reshape(-1)
        self.count += 1
        with_steps, with_changes = self.pairs[:: len(self.pairs) - 1, : self.count] @ y
        self.products[0, : self.count, last] = with_steps
        self.products[1, : self.count, last] = self.products[1, last, : self.count] = with_changes

    def guess_anew(self, guess: Inverse, shape: torch.Size) -> None:
        """Go on with another first guess, which the steps so far correct as well.

        Parameters
        ----------
        guess : callable
            Takes several matrices at once.
        shape : tuple of int
            Of a memory.
        """
        m = self.count
        if m:
            changes = self.pairs[1, :m]
            self.pairs[2, :m] = guess(changes.reshape(m, *shape)).reshape(m, -1)
            self.products[1, :m, :m] = self.pairs[2, :m] @ changes.T

    def times(self, gradient: torch.Tensor, guessed: torch.Tensor | None = None) -> torch.Tensor:
        """The inverse Hessian times a gradient.

        Parameters
        ----------
        gradient : Tensor, shape (d_out, d_in)
        guessed : Tensor, shape (d_out, d_in), optional
            What the guess makes of it, where there is one.

        Returns
        -------
        Tensor, shape (d_out, d_in)
            Where there are no steps: what the guess makes of the gradient, or the gradient itself.
        """
        m, first = self.count, gradient if guessed is None else guessed
        if not m:
            return first.clone()
        S, Y, R = self.pairs[0, :m], self.pairs[1, :m], self.products[0, :m, :m].triu()
        squares = self.products[1, :m, :m]
        sizes = R.diagonal()
        scale = sizes[-1] / squares[-1, -1]
        g, h = gradient.reshape(-1), first.reshape(-1)
        along, across = S @ g, Y @ h
        solved = torch.linalg.solve_triangular(R, along[:, None], upper=True)
        middle = sizes[:, None] * solved + scale * (squares @ solved - across[:, None])
        weights = torch.linalg.solve_triangular(R.mT, middle, upper=False)[:, 0]
        return (scale * (h - solved[:, 0] @ self.pairs[-1, :m]) + weights @ S).reshape(gradient.shape)
