"""The compact form of L-BFGS against the two loops, and against inverses that are known."""

from collections import deque

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assocmem.training.history import History


def random(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_two_loops(gradient, kept, guess):
    """The inverse Hessian of L-BFGS times a gradient, one step after the other."""
    q, factors = gradient.clone(), []
    for s, y in reversed(kept):
        factors.append(float((s * q).sum()) / float((s * y).sum()))
        q -= factors[-1] * y
    q = guess(q)
    for (s, y), factor in zip(kept, reversed(factors), strict=True):
        q += (factor - float((y * q).sum()) / float((s * y).sum())) * s
    return q


def steps_of(count, d, seed):
    """Steps, and changes of the gradient of a function that bends in all directions, but not equally."""
    root = random(d * d, d * d, seed=seed)
    bends = root @ root.T + torch.eye(d * d, dtype=torch.float64)
    steps = [random(d, d, seed=seed + 1 + i) for i in range(count)]
    return [(s, (bends @ s.flatten()).reshape(d, d) + 0.1 * s**3) for s in steps]


@settings(max_examples=12)
@given(count=st.integers(1, 12), most=st.integers(1, 7), seed=st.integers(0, 100), guessed=st.booleans())
def test_the_compact_form_is_that_of_two_loops(count, most, seed, guessed):
    """Also where the first guess is another matrix, and changes on the way."""
    history, kept = History(random(3, 3, seed=0), most, guessed=guessed), deque(maxlen=most)
    roots = random(2, 9, 9, seed=seed + 50)
    guesses = roots @ roots.mT + torch.eye(9, dtype=torch.float64)

    def guess(X, which=0):
        return (X.flatten(-2) @ guesses[which]).reshape(X.shape)

    for s, y in steps_of(count, 3, seed):
        history.add(s, y, guess(y) if guessed else None)
        if float((s * y).sum()) > 0:
            kept.append((s, y))
    if guessed:
        history.guess_anew(lambda X: guess(X, 1), (3, 3))
    first = (lambda X: guess(X, 1)) if guessed else (lambda X: X)
    gradient = random(3, 3, seed=seed + 99)
    s, y = kept[-1]
    scale = float((s * y).sum()) / float((y * first(y)).sum())
    expected = by_two_loops(gradient, kept, lambda X: scale * first(X))
    assert history.count == len(kept)
    found = history.times(gradient, first(gradient) if guessed else None)
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-10)


def test_without_steps_a_guess_is_all_there_is():
    history, gradient = History(random(4, 4, seed=0), 5, guessed=True), random(4, 4, seed=1)
    history.guess_anew(lambda X: 3 * X, gradient.shape)
    assert torch.equal(history.times(gradient, 3 * gradient), 3 * gradient)


def test_without_steps_a_gradient_stays_what_it_is():
    history, gradient = History(random(4, 4, seed=0), 5), random(4, 4, seed=1)
    assert torch.equal(history.times(gradient), gradient)
    history.add(gradient, gradient)
    history.clear()
    assert torch.equal(history.times(gradient), gradient)
    assert history.times(gradient) is not gradient


def test_steps_without_a_rise_of_the_gradient_are_dropped():
    step = random(4, 4, seed=0)
    history = History(step, 5)
    for change in (-step, 0 * step, step * torch.nan):
        history.add(step, change)
        assert history.count == 0
    history.add(step, 2 * step)
    assert history.count == 1


def test_the_last_step_is_reproduced():
    """The secant equation: the inverse Hessian takes the last change of the gradient to the last step."""
    history = History(random(4, 4, seed=0), 6)
    for s, y in steps_of(10, 4, seed=3):
        history.add(s, y)
        torch.testing.assert_close(history.times(y), s)


def test_as_many_steps_as_numbers_give_the_inverse_of_a_quadratic():
    """With conjugate steps all of the inverse Hessian is known after as many as there are numbers."""
    root = random(9, 9, seed=0)
    bends = root @ root.T + torch.eye(9, dtype=torch.float64)
    _, steps = torch.linalg.eigh(bends)
    history = History(random(3, 3, seed=0), 9)
    for s in steps.T:
        history.add(s.reshape(3, 3), (bends @ s).reshape(3, 3))
    gradient = random(3, 3, seed=5)
    expected = torch.linalg.solve(bends, gradient.flatten()).reshape(3, 3)
    torch.testing.assert_close(history.times(gradient), expected)


def test_a_full_memory_keeps_the_latest():
    steps = steps_of(9, 3, seed=7)
    long, short = History(steps[0][0], 4), History(steps[0][0], 4)
    for s, y in steps:
        long.add(s, y)
    for s, y in steps[-4:]:
        short.add(s, y)
    gradient = random(3, 3, seed=1)
    torch.testing.assert_close(long.times(gradient), short.times(gradient))
