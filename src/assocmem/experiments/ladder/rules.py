"""Rules by which a memory is written, under their names: the sum of outer products to cross-entropy.

Each rule is a function of the pairs alone. What a rule leaves open, a step or a sharpness, is fixed here by a
formula of n and d, never by the instance. Formulas were chosen by trial on instances with n = 300 and 1000.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from assocmem.experiments.explicit.constructions import SPLIT, SPLIT_GAMMA
from assocmem.memories.clipped import clipped_memory
from assocmem.memories.delta_rule import delta_memory
from assocmem.memories.even_and_clip import even_and_clip, falling
from assocmem.memories.least_squares import least_squares_memory, whitened_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.memories.sparse_repair import repair_in_place, reserve_at_share, sparse_repair
from assocmem.pairs.data import Facts, Pairs
from assocmem.theory.forgetting import first_written_factor
from assocmem.theory.reshaped import POLAR_SHARE, rule_constant
from assocmem.training.fit import fit
from assocmem.training.gradient_writes import muon_memory, softmax_memory
from assocmem.training.losses import CrossEntropy

DELTA = 0.05
"""Step of one pass of the delta rule, times ``n / d``."""
GATE = 0.5
"""What the gated delta rule forgets besides while n keys come, as the logarithm of a factor."""
DELTA_TEN = 0.2
"""Step of ten passes, times ``n / d``."""
PASS_SCALE = 2.0
"""Sharpness of the softmax in one pass."""
PASS_BLOCKS = 10
"""Blocks of that pass."""
TWO = (2.2, 0.55)
"""Sharpness over ``log n`` and second step over the first, of two softmax steps."""
TEN = (4.0, 0.3)
"""Sharpness over ``log n`` and later steps over the first, of ten softmax steps."""
MUON_RATE = 5.0
"""Rate of Muon's steps, over ``sqrt(n / d)``: signals grow by nearly so much in each. Its momentum is 0.95,
as ``torch.optim.Muon`` has it."""
CLIP = 1.5
"""Margin of the one clip after evening, times ``log n``."""
CLIP_TEN = (1.3, 0.2)
"""First and last margin of ten clips, likewise; they fall in equal ratios."""
RIDGE = 1e-3
"""Of cross-entropy to the end."""
FINE = {"gamma": 0.05, "softness": 0.03}
"""Of four clips."""


@dataclass(frozen=True)
class WriteRule:
    """A rule to write a memory.

    Attributes
    ----------
    name : str
    label : str
        In plain words, for tables and figures.
    write : callable
        From `Pairs` to the memory, a Tensor of shape (d_out, d_in).
    passes : float
        Cost in passes over the scores: one stands for ``2 n m d`` operations, a walk with gradients for two.
        Where the number depends on the instance, a typical one.
    constant : float or None
        ``d^2 / (n log n)`` from which on it retrieves all pairs, as n grows without end and d with it.
    status : str
        What the constant is: "proved", "derived" (by an argument that is no proof) or "measured" (no
        constant is known, and only sizes that exist tell).
    source : str
        Who gave the rule.
    note : str
        What the cost leaves out, and what is particular.
    """

    name: str
    label: str
    write: Callable[[Pairs | Facts], torch.Tensor]
    passes: float
    constant: float | None
    status: str
    source: str
    note: str = ""


def _delta(x, passes, gate=0.0):
    def write(pairs):
        ratio = pairs.d_in / pairs.n
        # in few dimensions, no step longer than one
        return delta_memory(pairs, step=min(1.0, x * ratio), keep=math.exp(-gate / pairs.n), passes=passes)

    return write


def _softmax(steps, per_log, later):
    def write(pairs):
        lengths = (1.0, *(later,) * (steps - 1))
        return softmax_memory(pairs, steps=steps, scale=per_log * math.log(pairs.m), step=lengths)

    return write


def _softmax_pass(pairs):
    block = math.ceil(pairs.n / PASS_BLOCKS)
    return softmax_memory(pairs, steps=1, scale=PASS_SCALE, step=1.0, block=block)


def _muon(steps):
    def write(pairs):
        rate = MUON_RATE * math.sqrt(pairs.n / pairs.d_in)
        return muon_memory(pairs, steps=steps, rate=rate)

    return write


def _repair(pairs):
    return sparse_repair(pairs, gamma=SPLIT_GAMMA, reserve=reserve_at_share(SPLIT, pairs.d)).W


def _in_place(pairs):
    return repair_in_place(pairs, correlation_memory(pairs), gamma=0.2, rounds=1).W


def _evened(pairs):
    return even_and_clip(pairs, clips=0)


def _even_clip(pairs):
    return even_and_clip(pairs, clips=1, gamma=_margin(pairs, CLIP))


def _even_clip_ten(pairs):
    return even_and_clip(pairs, clips=10, gamma=falling(10, *(_margin(pairs, x) for x in CLIP_TEN)))


def _margin(pairs, x):
    return min(0.5, x / math.log(pairs.m))


def _clipped(rounds, **keywords):
    def write(pairs):
        return clipped_memory(pairs, rounds=rounds, **keywords).W

    return write


def _cross_entropy(pairs):
    return fit(pairs, CrossEntropy(), ridge=RIDGE, tol=1e-2).W


def _forgetting(x):
    """The constant of outer products for the key that is written first, where the rest makes it fade."""
    return float(8 * first_written_factor(x))


_LISTED = (
    WriteRule(
        "outer_products",
        "outer products",
        correlation_memory,
        0,
        8.0,
        "proved",
        "Kohonen (1972), Anderson (1972); linear attention, Katharopoulos et al. (2020)",
    ),
    WriteRule(
        "least_squares",
        "least squares (MEMIT)",
        least_squares_memory,
        0,
        8.0,
        "derived",
        "Kohonen and Ruohonen (1973); with a prior memory, MEMIT, Meng et al. (2023)",
        "a system of d equations; the constant is that of n far above d",
    ),
    WriteRule(
        "whitened",
        "outer products, whitened",
        whitened_memory,
        0,
        8.0,
        "derived",
        "least squares on both sides",
        "two systems of d equations; the constant is that of n far above d",
    ),
    WriteRule(
        "delta",
        "delta rule (DeltaNet)",
        _delta(DELTA, 1),
        0,
        _forgetting(DELTA),
        "derived",
        "Widrow and Hoff (1960); DeltaNet, Schlag et al. (2021)",
        "4 n d^2 operations",
    ),
    WriteRule(
        "delta_ten",
        "delta rule, ten passes",
        _delta(DELTA_TEN, 10),
        0,
        _forgetting(DELTA_TEN),
        "derived",
        "Widrow and Hoff (1960)",
        "40 n d^2 operations",
    ),
    WriteRule(
        "gated_delta",
        "gated delta rule",
        _delta(DELTA, 1, GATE),
        0,
        _forgetting(DELTA + GATE),
        "derived",
        "gated DeltaNet, Yang et al. (2024)",
        "4 n d^2 operations; its gate exp(-1/(2n)) is the best one for an endless stream of which the last n "
        "keys shall be kept",
    ),
    WriteRule(
        "muon",
        "one step of Muon",
        _muon(1),
        0,
        float(rule_constant(POLAR_SHARE)),
        "derived",
        "Jordan et al. (2024); torch.optim.Muon",
        "five products of three matrices with d^2 entries, in bfloat16; the constant is that of the polar "
        "factor, for n far above d",
    ),
    WriteRule(
        "muon_ten",
        "ten steps of Muon",
        _muon(10),
        18,
        None,
        "measured",
        "Jordan et al. (2024); torch.optim.Muon",
    ),
    WriteRule(
        "softmax_pass",
        "softmax, a pass in blocks",
        _softmax_pass,
        2,
        None,
        "measured",
        "layers that learn in use, Sun et al. (2024)",
    ),
    WriteRule(
        "softmax_two",
        "softmax, two steps",
        _softmax(2, *TWO),
        2,
        2.0,
        "derived",
        "gradient descent on cross-entropy",
    ),
    WriteRule(
        "softmax_ten",
        "softmax, ten steps",
        _softmax(10, *TEN),
        18,
        2.0,
        "derived",
        "gradient descent on cross-entropy",
    ),
    WriteRule(
        "sparse_repair",
        "sparse repair",
        _repair,
        1,
        None,
        "measured",
        "the paper, Proposition prop:optimal, with the share of coordinates that is best at sizes that exist",
        "with the reserve and the margin of the proof the constant is 2",
    ),
    WriteRule(
        "repair_in_place",
        "repair in place",
        _in_place,
        1,
        None,
        "measured",
        "the paper's repair without its reserve",
        "with a margin that vanishes slowly the constant is 2",
    ),
    WriteRule(
        "evened",
        "even",
        _evened,
        0,
        4.0,
        "proved",
        "this book",
        "4 n d^2 operations, and whitening",
    ),
    WriteRule(
        "even_clip",
        "even, clip",
        _even_clip,
        1,
        2.0,
        "proved",
        "this book",
        "8 n d^2 operations, and whitening; the margin falls with log n, for a fixed one the constant is "
        "2 / (1 - gamma)^2",
    ),
    WriteRule(
        "even_clip_ten",
        "even, ten clips",
        _even_clip_ten,
        10,
        2.0,
        "derived",
        "this book",
        "44 n d^2 operations, and whitening",
    ),
    WriteRule(
        "equal_signals",
        "equal signals, solved",
        _clipped(0),
        1,
        4.0,
        "derived",
        "this book; MACE filters, Mahalanobis et al. (1987)",
        "and about 10 steps of conjugate gradients, each 4 n d^2 operations",
    ),
    WriteRule(
        "one_clip",
        "one clip, solved",
        _clipped(1),
        2,
        2.0,
        "derived",
        "this book",
        "and about 20 steps of conjugate gradients; the constant is that of a margin that falls with n",
    ),
    WriteRule(
        "four_clips",
        "four clips, solved",
        _clipped(4, **FINE),
        5,
        2.0,
        "derived",
        "this book",
        "and about 100 steps of conjugate gradients; the constant is that of a margin that falls with n",
    ),
    WriteRule(
        "cross_entropy",
        "softmax to the end",
        _cross_entropy,
        400,
        2.0,
        "derived",
        "softmax regression with ridge 0.001, by the solver of this book",
    ),
)

RULES = {rule.name: rule for rule in _LISTED}
"""All rules by name."""
