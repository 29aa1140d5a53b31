"""The pieces of the search against their definitions: margins, gradients, and derivatives of weights."""

import numpy as np
import torch

from assocmem.deciding.comparisons import cancellation, tail_margins
from assocmem.deciding.search import LossOfScores, loss_for
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import scores
from assocmem.training.losses import CrossEntropy
from assocmem.training.passes import loss_pass


def test_weights_of_the_loss_give_its_gradient():
    pairs = gaussian_pairs(12, 4, seed=0)
    W = torch.from_numpy(np.random.default_rng(1).standard_normal((4, 4)))
    S = scores(pairs, W)
    weights = torch.softmax(S, dim=0).fill_diagonal_(0)
    gradient = loss_pass(pairs, CrossEntropy(), W).gradient * pairs.n
    torch.testing.assert_close(cancellation(pairs, weights), gradient)


def test_response_is_the_derivative_of_the_weights():
    pairs = gaussian_pairs(12, 4, seed=0)
    rng = np.random.default_rng(1)
    W, X = (torch.from_numpy(rng.standard_normal((4, 4))) for _ in range(2))
    for k in (1, 3, 11):
        loss = loss_for(pairs.n, k)
        ends = [LossOfScores(loss, scores(pairs, W + h * X), pairs.answers).weights for h in (-1e-6, 1e-6)]
        change = LossOfScores(loss, scores(pairs, W), pairs.answers).response(scores(pairs, X))
        torch.testing.assert_close(change.fill_diagonal_(0), (ends[1] - ends[0]) / 2e-6, rtol=1e-6, atol=1e-9)


def test_tail_margins_by_sorting():
    S = torch.from_numpy(np.random.default_rng(0).standard_normal((7, 7)))
    for k in (1, 3, 6):
        expected = [
            S[i, i] - torch.cat([S[:i, i], S[i + 1 :, i]]).sort().values[-k:].mean() for i in range(7)
        ]
        torch.testing.assert_close(tail_margins(S, k, torch.arange(7)), torch.stack(expected))
