"""Value and gradient of a mean loss: ours, and what a competent user would otherwise write.

Each peer is a function of the pairs, a memory and the thresholds that prepares what it needs and returns a
function without arguments, which is what gets timed.
"""

from collections.abc import Callable

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import block_columns
from assocmem.pairs.sizes import column_slices, tail_count
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import joint_pass, loss_pass

TAIL = TailAverage(r=0.15, beta=30.0)
"""The tail average of all benchmarks: a short tail, sharp enough that thresholds take a search."""
LOSSES = {"cross-entropy": CrossEntropy(), "tail average": TAIL}
FARTHEST = 700
"""Argument from which on a softplus is taken for its argument: just below where an exponential overflows."""
BISECTIONS = 50
"""Halvings of a bracket, after which its length is at the rounding of double precision."""
BRACKET = 40
"""Units of ``1 / beta`` by which a bracket of thresholds exceeds the range of scores: a sigmoid is 0 or 1 to
the last digit that far away."""

Evaluate = Callable[[], tuple[float | None, torch.Tensor | None]]
"""Gives the value of a loss and its gradient in the memory, or None for what a peer does not compute."""
Prepare = Callable[[Pairs, torch.Tensor, torch.Tensor], Evaluate]
"""Takes pairs, a memory and the thresholds of all keys."""


def bare_products(pairs: Pairs, W: torch.Tensor, mu: torch.Tensor) -> Evaluate:
    """Scores and pull-back by blocks, and nothing in between: the floor. It returns no gradient."""
    step = block_columns(pairs.n, device=pairs.U.device)

    def evaluate():
        pulled, space = torch.zeros_like(W), W.new_empty(step, pairs.n)
        for columns in column_slices(pairs.n, step):
            V = pairs.V[:, columns]
            S = torch.mm((W @ V).T, pairs.U, out=space[: V.shape[1]]).T
            pulled.addmm_(pairs.U @ S, V.T)
        return None, None

    return evaluate


def ours(loss: CrossEntropy | TailAverage) -> Prepare:
    """The streamed pass of this book; for the tail average it finds the thresholds as well."""

    def prepare(pairs, W, mu):
        def evaluate():
            done = loss_pass(pairs, loss, W)
            return done.loss, done.gradient

        return evaluate

    return prepare


def ours_at_thresholds(pairs: Pairs, W: torch.Tensor, mu: torch.Tensor) -> Evaluate:
    """The same with the thresholds given, as most peers of the tail average have them."""

    def evaluate():
        value, gradient, _ = joint_pass(pairs, TAIL, W, mu)
        return value, gradient

    return evaluate


def labels(pairs: Pairs) -> torch.Tensor:
    """The class of each key, which is its own number."""
    return torch.arange(pairs.n, device=pairs.U.device)


def differentiated(value: Callable[[torch.Tensor], torch.Tensor], W: torch.Tensor) -> Evaluate:
    """Value and gradient of a function of the memory, by automatic differentiation at W."""
    free = W.clone().requires_grad_()

    def evaluate():
        free.grad = None
        result = value(free)
        result.backward()
        return result.item(), free.grad

    return evaluate


def autograd_cross_entropy(pairs: Pairs, W: torch.Tensor, mu: torch.Tensor) -> Evaluate:
    """Automatic differentiation of the full score matrix."""
    classes = labels(pairs)
    return differentiated(lambda M: functional.cross_entropy((pairs.U.T @ (M @ pairs.V)).T, classes), W)


def linear_cross_entropy(pairs: Pairs, W: torch.Tensor, mu: torch.Tensor) -> Evaluate:
    """The fused loss of torch, which streams over the targets."""
    classes, targets = labels(pairs), pairs.U.T.contiguous()
    options = torch.nn.LinearCrossEntropyOptions()

    def value(M):
        total = functional.linear_cross_entropy(
            pairs.V.T @ M.T, targets, classes, reduction="sum", options=options
        )
        return total / pairs.n

    return differentiated(value, W)


def _tail_of_block(S, signal, mu, k, beta):
    """Sum of the losses of a block at given thresholds; the signal's own softplus is taken off again."""
    excess = functional.softplus(S - mu, beta=beta, threshold=FARTHEST).sum(dim=0)
    excess = excess - functional.softplus(signal - mu, beta=beta, threshold=FARTHEST)
    return -functional.logsigmoid(signal - mu - excess / k).sum()


def autograd_tail(pairs: Pairs, W: torch.Tensor, mu: torch.Tensor) -> Evaluate:
    """Automatic differentiation of the full score matrix, the thresholds given."""
    k = tail_count(TAIL.r, pairs.n - 1)

    def value(M):
        S = pairs.U.T @ (M @ pairs.V)
        return _tail_of_block(S, S.diagonal(), mu, k, TAIL.beta) / pairs.n

    return differentiated(value, W)


def autograd_tail_with_search(pairs: Pairs, W: torch.Tensor, mu: torch.Tensor) -> Evaluate:
    """The same, the thresholds found first by bisections of the full score matrix."""
    k = tail_count(TAIL.r, pairs.n - 1)

    def value(M):
        S = pairs.U.T @ (M @ pairs.V)
        with torch.no_grad():
            x = S.clone().fill_diagonal_(-torch.inf)
            reach = BRACKET / TAIL.beta
            low, high = S.amin(dim=0) - reach, x.amax(dim=0) + reach
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                above = torch.sigmoid(TAIL.beta * (x - middle)).sum(dim=0) > k
                low, high = torch.where(above, middle, low), torch.where(above, high, middle)
        return _tail_of_block(S, S.diagonal(), middle, k, TAIL.beta) / pairs.n

    return differentiated(value, W)


def _checkpointed(block_loss):
    """Blocks of keys, each recomputed for its gradient, the block's work compiled."""

    def prepare(pairs, W, mu):
        compiled = torch.compile(block_loss, dynamic=False)
        size = block_columns(pairs.n, device=pairs.U.device)
        size = next(b for b in range(size, 0, -1) if pairs.n % b == 0)  # one shape, so one compilation

        def value(M):
            total = M.new_zeros(())
            for columns in column_slices(pairs.n, size):
                U, V = pairs.U[:, columns], pairs.V[:, columns]
                total = total + checkpoint(compiled, M, pairs.U, U, V, mu[columns], use_reentrant=False)
            return total / pairs.n

        return differentiated(value, W)

    return prepare


def _tail_block(M, all_targets, U, V, mu):
    S = all_targets.T @ (M @ V)
    signal = (U * (M @ V)).sum(dim=0)
    k = tail_count(TAIL.r, all_targets.shape[1] - 1)
    return _tail_of_block(S, signal, mu, k, TAIL.beta)


def _cross_entropy_block(M, all_targets, U, V, mu):
    S = all_targets.T @ (M @ V)
    return (torch.logsumexp(S, dim=0) - (U * (M @ V)).sum(dim=0)).sum()


PEERS = {
    "cross-entropy": {
        "two bare products": bare_products,
        "assocmem": ours(CrossEntropy()),
        "autograd, full scores": autograd_cross_entropy,
        "autograd, checkpointed blocks, torch.compile": _checkpointed(_cross_entropy_block),
        "torch linear_cross_entropy": linear_cross_entropy,
    },
    "tail average": {
        "two bare products": bare_products,
        "assocmem": ours(TAIL),
        "assocmem, thresholds given": ours_at_thresholds,
        "autograd, full scores, thresholds given": autograd_tail,
        "autograd, full scores, thresholds by bisection": autograd_tail_with_search,
        "autograd, checkpointed blocks, torch.compile, thresholds given": _checkpointed(_tail_block),
    },
}
