"""Facts that come one after another into a memory of fixed size: what is forgotten, by age and by frequency.

A stream is a sequence of questions, each of which names a fact with its answer. They come in blocks of
``d^2 / 32``. There are as many facts as questions in all. With s = 0 each fact comes once; with a larger s
questions are drawn by Zipf's law ``p(i) ~ i^-s``, so that frequent facts come again and many never come. All
facts compete for every question, those that have not come yet as well; a question is answered where its own
target has the first place.

Ways to go through the stream, on the same draw:

- written once, question by question, and never looked at again: *outer_products*, a sum that *decays*, and
  the *delta* rule, each with the best step for an endless stream;
- trained block by block from where the memory stands, by gradient steps on cross-entropy: *newest* has only
  the block, *replay* half as many passes over the block and as many earlier questions, drawn at random;
- what could be had from all that was seen: *retrained* minimises the cross-entropy of all questions at once,
  *sharpened* the same with squared counts for weights, and *keep* that of the facts alone that came most
  often, as many as fit, the newest first among equals.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy import special, stats

from assocmem.checks import require_choice, require_integer, require_number
from assocmem.memories.delta_rule import decayed_memory, delta_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts, Pairs, derived_seed, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.theory.forgetting import best_stream_step, stream_capacity
from assocmem.theory.kinematics import statistical_dimension
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy
from assocmem.training.passes import loss_pass

WAYS = (
    "outer_products",
    "decayed",
    "delta",
    "newest",
    "replay",
    "retrained",
    "sharpened",
    "keep",
)
"""Ways to go through a stream, as the module says."""

WRITTEN = WAYS[:3]
"""Those for which there is a prediction."""

PER_BLOCK = 32
"""A block has ``d^2`` over so many questions: at d = 32 about a quarter of what any memory can hold."""

PASSES = 20
"""Gradient steps on each block by `newest`; by `replay` half as many, on twice as many questions."""

RATE = 1.5
"""Length of a gradient step on the sum of cross-entropies; chosen by trial at d = 32."""

RIDGE, GAP = 1e-3, 1e-2
"""Of the minimisers."""

CONSTANT = 2.0
"""Signals over noise, ``q^2 d^2 / (noise^2 log n)``, that a key of an endless stream shall have at least: the
window of the decayed sum and the step of the delta rule follow. One key of many needs 2, all of them 8."""

AGES = ((0, 0), (1, 1), (2, 3), (4, 7), (8, 15), (16, 31))
"""Blocks since a fact came, from and to."""

TIMES = ((1, 1), (2, 3), (4, 7), (8, 15), (16, None))
"""How often a fact came, from and to."""

NODES, WIDEST = 41, 6.0
"""Noise on a signal over which predictions are averaged: evenly spaced nodes, up to so many spreads."""

LOTS, LEAST_SPREAD = 12, 0.05
"""Equally likely amounts of crosstalk over which predictions are averaged, and the spread from which on."""

LEVELS = 8
"""Weights of competitors that differ by less than a factor ``2^(1/8)`` count as equal in predictions."""


@dataclass(frozen=True)
class Stream:
    """Questions in their order.

    Attributes
    ----------
    pairs : Pairs
        All facts, the most frequent first where they differ.
    questions : ndarray of int
        Which fact each question is about.
    block : int
        Questions of a block.
    frequencies : ndarray, shape (n,)
        How often each fact is asked, summing to one; equal for s = 0.
    """

    pairs: Pairs
    questions: np.ndarray
    block: int
    frequencies: np.ndarray

    @cached_property
    def times(self) -> np.ndarray:
        """How often each fact came, shape (n,)."""
        return np.bincount(self.questions, minlength=self.pairs.n)

    @cached_property
    def last(self) -> np.ndarray:
        """When each fact came last, as the number of the question, -1 for never; shape (n,)."""
        last = np.full(self.pairs.n, -1)
        last[self.questions] = np.arange(len(self.questions))
        return last

    @cached_property
    def age(self) -> np.ndarray:
        """Blocks after the one in which each fact came last; -1 for never; shape (n,)."""
        newest = (len(self.questions) - 1) // self.block
        return np.where(self.last < 0, -1, newest - self.last // self.block)

    def asked(self, questions: np.ndarray, weights: np.ndarray | None = None) -> Facts:
        """Some questions as facts, with all targets of the stream.

        Parameters
        ----------
        questions : ndarray of int
            Facts that are asked, once or several times.
        weights : ndarray, optional
            Of each; equal by default.

        Returns
        -------
        Facts
        """
        which = torch.from_numpy(np.ascontiguousarray(questions))
        extra = {} if weights is None else {"weights": torch.from_numpy(weights.astype(float))}
        return Facts(self.pairs.U, self.pairs.V[:, which], which, **extra)


def draw_stream(d: int, chunks: int, s: float, seed: int) -> Stream:
    """Draw the facts and the questions of a stream.

    Parameters
    ----------
    d : int
        Dimension of keys and targets, at least 8.
    chunks : int
        Blocks of questions, at least 1.
    s : float
        Exponent of Zipf's law, in [0, 10]; 0 for a stream in which every fact comes once.
    seed : int

    Returns
    -------
    Stream

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_integer("d", d, 8)
    require_integer("chunks", chunks, 1)
    require_number("s", s, 0, 10, ends="[]")
    block = max(2, round(d**2 / PER_BLOCK))
    count = chunks * block
    pairs = gaussian_pairs(count, d, seed=seed)
    p = np.arange(1, count + 1) ** -float(s)
    p /= p.sum()
    if s == 0:
        return Stream(pairs, np.arange(count), block, p)
    drawn = np.random.default_rng(derived_seed(seed, d, chunks)).choice(count, size=count, p=p)
    return Stream(pairs, drawn, block, p)


def go_through(stream: Stream, way: str, *, seed: int = 0) -> torch.Tensor:
    """The memory that one of the ways makes of a stream.

    Parameters
    ----------
    stream : Stream
    way : str
        One of `WAYS`.
    seed : int
        Of what is replayed.

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For another way.
    ArithmeticError
        If a minimiser was not found.
    """
    require_choice("way", way, WAYS)
    if way in WRITTEN:
        facts = stream.asked(stream.questions)
        if way == "outer_products":
            return correlation_memory(facts)
        if way == "decayed":
            return decayed_memory(facts, keep=decay(stream))
        return delta_memory(facts, step=delta_step(stream))
    if way in ("newest", "replay"):
        return _block_by_block(stream, way == "replay", seed)
    seen = np.flatnonzero(stream.times)
    weights = stream.times[seen]
    if way == "keep":
        order = np.lexsort((-stream.last[seen], -weights))  # by times, the newest first among equals
        most = order[: fitting(stream)]
        return _minimiser(stream.asked(seen[most], weights[most]))
    return _minimiser(stream.asked(seen, weights ** (2 if way == "sharpened" else 1)))


def decay(stream: Stream) -> float:
    """Factor of the decayed sum at each question: the best for the window of an endless stream.

    Parameters
    ----------
    stream : Stream

    Returns
    -------
    float
    """
    window = stream_capacity(stream.pairs.d, math.log(stream.pairs.n), constant=CONSTANT)
    return math.exp(-1 / (2 * window))


def delta_step(stream: Stream) -> float:
    """Step of the delta rule: the best for an endless stream, at most one.

    Parameters
    ----------
    stream : Stream

    Returns
    -------
    float
    """
    return min(1.0, best_stream_step(stream.pairs.d, math.log(stream.pairs.n), constant=CONSTANT))


def fitting(stream: Stream) -> int:
    """How many facts fit, among the targets of all: ``d^2`` over the conditions that one of them takes.

    Parameters
    ----------
    stream : Stream

    Returns
    -------
    int
    """
    return max(1, int(stream.pairs.d**2 / statistical_dimension(stream.pairs.n)))


def _minimiser(facts):
    """Memory of least cross-entropy."""
    found = fit(facts, CrossEntropy(), ridge=RIDGE, tol=GAP)
    if not found.converged:
        raise ArithmeticError(f"{facts.n} facts: gap {found.gap:.1e} after {found.passes} passes")
    return found.W


def _block_by_block(stream, replay, seed):
    """Gradient steps on one block after another, with or without earlier questions."""
    rng = np.random.default_rng(seed)
    W = stream.pairs.U.new_zeros(stream.pairs.d, stream.pairs.d)
    for start in range(0, len(stream.questions), stream.block):
        asked = stream.questions[start : start + stream.block]
        if replay:
            earlier = stream.questions[:start] if start else asked
            asked = np.concatenate([asked, rng.choice(earlier, size=stream.block)])
        facts = stream.asked(asked)
        for _ in range(PASSES // 2 if replay else PASSES):
            W = W - RATE * facts.n * loss_pass(facts, CrossEntropy(), W).gradient
    return W


# --- what is predicted ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contents:
    """What a rule that writes once has left of each fact, on average over keys and answers.

    Attributes
    ----------
    signal : ndarray, shape (n,)
        Mean signal; 0 for a fact that never came.
    crosstalk : ndarray, shape (n,)
        Mean square of what the key of each fact calls up besides its own answer, over the length of a vector.
    spread : float
        Relative variance of that square between keys: 2 where it comes from a single fact that is written
        far more strongly than all others, next to nothing where it comes from many.
    """

    signal: np.ndarray
    crosstalk: np.ndarray
    spread: float


def contents(stream: Stream, way: str) -> Contents:
    """Signals and crosstalk of the rules that write once, followed question by question.

    Parameters
    ----------
    stream : Stream
    way : str
        One of `WRITTEN`.

    Returns
    -------
    Contents

    Raises
    ------
    ValueError
        For another way.

    Notes
    -----
    For sums the numbers are exact means. For the delta rule they are exact for small steps if every fact
    comes once; facts that come again are taken to correct their error alone, and what they do to others to be
    in proportion to the crosstalk that they still have: an argument and no proof.
    """
    require_choice("way", way, WRITTEN)
    n, d = stream.pairs.n, stream.pairs.d
    if way == "delta":
        return _delta_contents(stream)
    keep = 1.0 if way == "outer_products" else decay(stream)
    ages = len(stream.questions) - 1 - np.arange(len(stream.questions))
    signal = np.bincount(stream.questions, weights=keep**ages, minlength=n)
    square = signal**2
    spread = 2 * (square**2).sum() / square.sum() ** 2
    return Contents(signal, (square.sum() - square) / d, float(spread))


def _delta_contents(stream):
    """The same for the delta rule: of all keys at once, and of a key that never came in the last place."""
    n, d, step = stream.pairs.n, stream.pairs.d, delta_step(stream)
    m, c = np.zeros(n + 1), np.zeros(n + 1)
    for i in stream.questions:
        lost = c[i] / c[-1] if c[-1] > 0 else 1.0
        error = (1 - m[i]) ** 2 + c[i]
        own_m, own_c = m[i] + step * (1 - m[i]), (1 - step) ** 2 * c[i]
        total = (m**2 + c) * (1 - 2 * step * lost / d)
        total += (step**2 * error + 2 * step * (1 - m[i]) * m[i]) / d
        m *= 1 - step * lost / d
        c = np.maximum(total - m**2, 0)
        m[i], c[i] = own_m, own_c
    return Contents(m[:-1], c[:-1], 0.0)


def chances(stream: Stream, held: Contents) -> np.ndarray:
    """Probability that each fact has the first place, in the Gaussian picture of `theory.forgetting`.

    Parameters
    ----------
    stream : Stream
    held : Contents

    Returns
    -------
    ndarray, shape (n,)
        Signals and competitors are taken for normal and independent given the crosstalk of the key, and that
        for a Gamma law with the right two moments; a competitor that was written strongly is louder, and a
        factor that all scores of a key share is left out.
    """
    n, d = stream.pairs.n, stream.pairs.d
    signal, noise = held.signal, held.crosstalk / d
    lots = np.ones((1, 1, 1))
    if held.spread > LEAST_SPREAD:
        shape = 1 / held.spread
        lots = stats.gamma.ppf((np.arange(LOTS) + 0.5) / LOTS, shape) / shape
        lots = (lots / lots.mean())[:, None, None]
    z = np.linspace(-WIDEST, WIDEST, NODES)
    weights = special.softmax(-(z**2) / 2)
    loud = signal**2 / d
    level = np.where(loud > 0, np.round(LEVELS * np.log2(np.maximum(loud, 1e-300))), -math.inf)
    levels, counts = np.unique(level, return_counts=True)
    found = np.empty(n)
    for i in range(n):
        if signal[i] < 1e-6 * math.sqrt(noise[i] + 1e-300):
            found[i] = 1 / n
            continue
        common = lots * noise[i] / signal[i] ** 2
        at = 1 + np.sqrt(2.5 / d + 4 / d**2 + common) * z[:, None]
        rivals = np.exp2(levels / LEVELS) / signal[i] ** 2
        below = special.log_ndtr(at / np.sqrt(common + rivals + at**2 / d))
        mine = special.log_ndtr(at / np.sqrt(common + loud[i] / signal[i] ** 2 + at**2 / d))
        found[i] = np.mean(np.exp(np.minimum(below @ counts - mine[:, :, 0], 0)) @ weights)
    return found


# --- what is measured -------------------------------------------------------------------------------------


def measure_stream(d: int, chunks: int, way: str, s: float, seed: int) -> dict[str, float | int | None]:
    """What a way keeps of a stream.

    Parameters
    ----------
    d, chunks, s, seed
        As in `draw_stream`.
    way : str
        One of `WAYS`.

    Returns
    -------
    dict
        ``seen``, the number of facts that came; ``held``, how many of them are answered; ``questions``, the
        share of questions answered, by how often facts are asked; then shares answered: of the facts that
        came once, by blocks since (``age_0``, ``age_1``, ``age_2``, ``age_4``, ``age_8``, ``age_16``), and of
        all, by how often they came (``times_1``, ...), each with the number of facts (``of_age_0``, ...) and,
        for rules that write once, what is predicted (``told_questions``, ``told_age_0``, ...). None stands
        where there are no facts, or no prediction.
    """
    stream = draw_stream(d, chunks, s, seed)
    W = go_through(stream, way, seed=derived_seed(seed, d, chunks, WAYS.index(way)))
    right = (retrieval_margins(stream.pairs, W) > 0).numpy().astype(float)
    told = chances(stream, contents(stream, way)) if way in WRITTEN else None
    seen = stream.times > 0
    row = {"seen": int(seen.sum()), "held": int(right[seen].sum())}
    row |= {"questions": float(stream.frequencies @ right)}
    row |= {"told_questions": None if told is None else float(stream.frequencies @ told)}
    once = stream.times == 1
    bins = {f"age_{a}": once & (stream.age >= a) & (stream.age <= b) for a, b in AGES}
    bins |= {f"times_{a}": (stream.times >= a) & (stream.times <= (b or math.inf)) for a, b in TIMES}
    for name, chosen in bins.items():
        count = int(chosen.sum())
        row |= {name: float(right[chosen].mean()) if count else None, f"of_{name}": count}
        row[f"told_{name}"] = None if told is None or not count else float(told[chosen].mean())
    return row
