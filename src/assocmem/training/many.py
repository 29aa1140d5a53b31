"""Several fits: at once, on a thread each, and along a path, each from the minimiser of the one before.

On a processor, fits of one size have nothing to share: each is bound by arithmetic of its own, on scores that
fit into a cache. So every fit keeps to one thread, and there are as many at a time as there are threads. This
way the numbers are those of single fits with one thread, bit for bit.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch

from assocmem.checks import require, require_instance
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.training.fit import Fit, fit
from assocmem.training.losses import Loss
from assocmem.training.small_pass import one_thread


def fit_many(
    instances: Iterable[Pairs | Facts], loss: Loss, *, ridge: float, tol: float = 1e-6, max_passes: int = 5000
) -> list[Fit]:
    """Minimise the loss of several instances, as `assocmem.training.fit.fit` does for one.

    Parameters
    ----------
    instances : iterable of Pairs or Facts
        On a processor as many are fitted at a time as there are threads; on a GPU one after the other. Sizes
        may differ.
    loss : CrossEntropy or TailAverage
    ridge : float
    tol : float
    max_passes : int
        Each as in `fit`.

    Returns
    -------
    list of Fit
        In the order of the instances.

    Raises
    ------
    ValueError
        As `fit` does; no further fit is begun then.
    """
    instances = _listed("instances", instances, "pairs or facts")
    for instance in instances:
        require_facts(instance)
    settings = {"ridge": ridge, "tol": tol, "max_passes": max_passes}
    threads = torch.get_num_threads()
    if threads == 1 or any(instance.U.device.type == "cuda" for instance in instances):
        return [fit(instance, loss, **settings) for instance in instances]

    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        with one_thread():  # held here, since to set it anew for each fit takes as long as small fits do
            return list(pool.map(lambda instance: fit(instance, loss, **settings), instances))
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)  # a thread that sets its number sets that of some libraries for all


def fit_path(
    problems: Iterable[tuple[Pairs | Facts, Loss, float]], *, tol: float = 1e-6, max_passes: int = 5000
) -> list[Fit]:
    """Minimise one problem after the other, each from the minimiser of the one before.

    Neighbours on a path of ridges, tail fractions, sharpnesses or loads share most of their minimiser. Along
    a ridge that falls, or a sharpness that rises, a fit then takes a third of the passes; along tail
    fractions and loads, half. In small problems, whose passes cost next to nothing, it takes two thirds of
    them or more.

    Parameters
    ----------
    problems : iterable of (pairs, loss, ridge)
        Each as for `assocmem.training.fit.fit`. All memories have one shape.
    tol : float
    max_passes : int
        Each as in `fit`.

    Returns
    -------
    list of Fit
        In the order of the problems; each has a duality gap of its own, whatever it started from.

    Raises
    ------
    ValueError
        As `fit` does, or for problems whose memories differ in shape.
    """
    problems = _listed("problems", problems, "(pairs, loss, ridge)")
    for problem in problems:
        triple = isinstance(problem, Sequence) and len(problem) == 3
        require(triple, "problems", type(problem).__name__, "triples (pairs, loss, ridge)")
        require_facts(problem[0])
    shapes = {(pairs.d_out, pairs.d_in) for pairs, _, _ in problems}
    require(len(shapes) <= 1, "problems", f"memories of shapes {sorted(shapes)}", "of one shape")
    found: list[Fit] = []
    for pairs, loss, ridge in problems:
        start = found[-1].W.to(pairs.U) if found else None
        found.append(fit(pairs, loss, ridge=ridge, tol=tol, max_passes=max_passes, W0=start))
    return found


def _listed(name: str, items: object, wanted: str) -> list:
    """The items of an iterable, which are not those of a single instance."""
    require_instance(name, items, Iterable)
    items = list(items)
    require(bool(items), name, "none", f"at least one, of {wanted}")
    return items
