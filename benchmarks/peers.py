"""Value and gradient of a mean loss: ours, and what a competent user would otherwise write.

Each peer is a function of the pairs, a memory and the parameters that prepares what it needs and returns a
function without arguments, which is what gets timed.
"""

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from assocmem.pairs.scores import block_columns
from assocmem.pairs.sizes import column_slices, tail_count
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import joint_pass, loss_pass

TAIL = TailAverage(r=0.15, beta=30.0)
LOSSES = {"cross-entropy": CrossEntropy(), "tail average": TAIL}


def bare_products(pairs, W, mu):
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


def ours(loss):
    """The streamed pass of this book; for the tail average it finds the thresholds as well."""

    def prepare(pairs, W, mu):
        def evaluate():
            done = loss_pass(pairs, loss, W)
            return done.loss, done.gradient

        return evaluate

    return prepare


def ours_at_thresholds(pairs, W, mu):
    """The same with the thresholds given, as most peers of the tail average have them."""

    def evaluate():
        value, gradient, _ = joint_pass(pairs, TAIL, W, mu)
        return value, gradient

    return evaluate


def _labels(pairs):
    return torch.arange(pairs.n, device=pairs.U.device)


def _differentiated(value, W):
    free = W.clone().requires_grad_()

    def evaluate():
        free.grad = None
        result = value(free)
        result.backward()
        return result.item(), free.grad

    return evaluate


def autograd_cross_entropy(pairs, W, mu):
    """Automatic differentiation of the full score matrix."""
    labels = _labels(pairs)
    return _differentiated(lambda M: functional.cross_entropy((pairs.U.T @ (M @ pairs.V)).T, labels), W)


def linear_cross_entropy(pairs, W, mu):
    """The fused loss of torch, which streams over the targets."""
    labels, targets = _labels(pairs), pairs.U.T.contiguous()
    options = torch.nn.LinearCrossEntropyOptions()

    def value(M):
        total = functional.linear_cross_entropy(
            pairs.V.T @ M.T, targets, labels, reduction="sum", options=options
        )
        return total / pairs.n

    return _differentiated(value, W)


def _tail_of_block(S, signal, mu, k, beta):
    """Sum of the losses of a block at given thresholds; the signal's own softplus is taken off again."""
    excess = functional.softplus(S - mu, beta=beta, threshold=700).sum(dim=0)
    excess = excess - functional.softplus(signal - mu, beta=beta, threshold=700)
    return -functional.logsigmoid(signal - mu - excess / k).sum()


def autograd_tail(pairs, W, mu):
    """Automatic differentiation of the full score matrix, the thresholds given."""
    k = tail_count(TAIL.r, pairs.n - 1)

    def value(M):
        S = pairs.U.T @ (M @ pairs.V)
        return _tail_of_block(S, S.diagonal(), mu, k, TAIL.beta) / pairs.n

    return _differentiated(value, W)


def autograd_tail_with_search(pairs, W, mu):
    """The same, the thresholds found first by 50 bisections of the full score matrix."""
    k = tail_count(TAIL.r, pairs.n - 1)

    def value(M):
        S = pairs.U.T @ (M @ pairs.V)
        with torch.no_grad():
            x = S.clone().fill_diagonal_(-torch.inf)
            reach = 40 / TAIL.beta
            low, high = S.amin(dim=0) - reach, x.amax(dim=0) + reach
            for _ in range(50):
                middle = 0.5 * (low + high)
                above = torch.sigmoid(TAIL.beta * (x - middle)).sum(dim=0) > k
                low, high = torch.where(above, middle, low), torch.where(above, high, middle)
        return _tail_of_block(S, S.diagonal(), middle, k, TAIL.beta) / pairs.n

    return _differentiated(value, W)


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

        return _differentiated(value, W)

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
