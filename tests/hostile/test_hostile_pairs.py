"""Pairs of all kinds that tensors come in, and of all lengths: each function has an answer or a sentence."""

import signal
import traceback
import warnings
from pathlib import Path

import pytest
import torch

import assocmem as am
from assocmem.memories.delta_rule import decayed_memory
from assocmem.memories.least_squares import whitened_memory
from assocmem.removal.hessians import evaluate, hessian_product, normalized_trace
from assocmem.removal.leave_one_out import full_problem, minimise, without
from assocmem.training.passes import dense_hessian, hessian_pass, loss_pass

PACKAGE = str(Path(am.__file__).parent)
SECONDS = 60
"""After which a call counts as hanging; all of them take a second together."""
LOSSES = (am.CrossEntropy(), am.TailAverage(0.3, 5.0), am.TailAverage(1.0, 5.0))
PASSES = 100
"""Passes over the scores that a fit may take here, whether it has converged or not."""


def unusual_tensors():
    """Pairs whose tensors are of a kind of their own, by name."""
    U, V = (X.clone() for X in _tensors(am.gaussian_pairs(12, 4, seed=1)))
    with torch.inference_mode():
        frozen = U + 0, V + 0
    return {
        "half precision": (U.half(), V.half()),
        "bfloat16": (U.bfloat16(), V.bfloat16()),
        "float32": (U.float(), V.float()),
        "with gradients": (U.clone().requires_grad_(), (2 * V.clone().requires_grad_()).cos()),
        "parameters": (torch.nn.Parameter(U), torch.nn.Parameter(V)),
        "of the inference mode": frozen,
        "every other row": (U.repeat(2, 1)[::2], V.repeat_interleave(2, dim=1)[:, ::2]),
        "turned": (U.T.contiguous().T, V),
        "negated by a bit": (torch.complex(V, -U).conj().imag, V),
        "one column for all": (U, V[:, :1].expand(4, 12)),
    }


def unusual_vectors():
    """Pairs whose vectors are degenerate, long or short, by name."""
    U, V = _tensors(am.gaussian_pairs(12, 4, seed=1))
    keep = torch.ones(12, dtype=U.dtype)
    keep[3] = 0
    found = {
        "a zero key": (U, V * keep),
        "a zero target": (U * keep, V),
        "a zero pair": (U * keep, V * keep),
        "all keys zero": (U, 0 * V),
        "all targets zero": (0 * U, V),
        "all zero": (0 * U, 0 * V),
        "equal keys": (U, V[:, :1].repeat(1, 12)),
        "equal targets": (U[:, :1].repeat(1, 12), V),
    }
    for n, d in ((2, 1), (2, 3), (3, 2), (12, 1)):
        found[f"{n} pairs in dimension {d}"] = _tensors(am.gaussian_pairs(n, d, seed=1))
    for scale in (1e-300, 1e-170, 1e-80, 1e-20, 1e20, 1e80, 1e150, 1e300):
        found |= {f"targets times {scale:g}": (scale * U, V), f"all times {scale:g}": (scale * U, scale * V)}
    return found | {"float32 times 1e30": (1e30 * U.float(), 1e30 * V.float())}


def _tensors(pairs):
    return pairs.U, pairs.V


def calls_with(pairs):
    """Calls of what takes pairs, by name."""
    one = torch.eye(pairs.d, dtype=pairs.U.dtype)
    calls = {
        "correlation_memory": lambda: am.correlation_memory(pairs),
        "retrieval_margins": lambda: am.retrieval_margins(pairs, am.correlation_memory(pairs)),
        "signal_percentiles": lambda: am.signal_percentiles(pairs, one),
        "sparse_repair": lambda: am.sparse_repair(pairs, gamma=0.1, reserve=1),
        "repair_in_place": lambda: am.repair_in_place(pairs, one, gamma=0.1, rounds=3, against_rivals=True),
        "clipped_memory": lambda: am.clipped_memory(pairs),
        "equalised_memory": lambda: am.equalised_memory(pairs),
        "least_squares_memory": lambda: am.least_squares_memory(pairs),
        "least_squares_memory, prior": lambda: am.least_squares_memory(
            pairs, ridge=0.1, prior=one, covariance=one
        ),
        "whitened_memory": lambda: whitened_memory(pairs),
        "delta_memory": lambda: am.delta_memory(pairs, step=0.5, keep=0.9, passes=2),
        "decayed_memory": lambda: decayed_memory(pairs, keep=0.9),
        "even_and_clip": lambda: am.even_and_clip(pairs, clips=2),
        "even_and_clip, as they are": lambda: am.even_and_clip(pairs, whiten=False),
        "softmax_memory": lambda: am.softmax_memory(pairs, steps=2, scale=5.0, step=0.5),
        "largest_margin": lambda: am.largest_margin(pairs, max_passes=PASSES),
        "rounded": lambda: am.rounded(pairs.U, 3, seed=1),
        "muon_memory": lambda: am.muon_memory(pairs, steps=2, rate=1.0),
    }
    for loss in LOSSES:
        for extra in ({}, {"W0": one}, {"precision": "float32"}):
            name = ", ".join(["fit", str(loss), *extra])
            calls[name] = lambda loss=loss, extra=extra: am.fit(
                pairs, loss, ridge=0.01, max_passes=PASSES, **extra
            )
        calls[f"loss_pass, {loss}"] = lambda loss=loss: loss_pass(pairs, loss, one, features=True)
        calls[f"hessian_pass, {loss}"] = lambda loss=loss: hessian_pass(pairs, loss, one, one)
        calls[f"dense_hessian, {loss}"] = lambda loss=loss: dense_hessian(pairs, loss, one)

    def at_one():
        return evaluate(full_problem(pairs, LOSSES[1], 0.1), one.double())

    return calls | {
        "minimise": lambda: minimise(without(full_problem(pairs, LOSSES[1], 0.1), 1)),
        "normalized_trace": lambda: normalized_trace(at_one(), "profiled"),
        "hessian_product": lambda: hessian_product(at_one(), one.double(), "profiled"),
    }


def faults_of(name, U, V, *, only=None):
    """What is wrong with the outcomes of all calls with some pairs, and how many there were."""
    faults, tried = [], 0
    for what, call in calls_with(am.Pairs(U, V)).items():
        if only and not what.startswith(only):
            continue
        tried, fault = tried + 1, None
        signal.alarm(SECONDS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                if _has_nan(call()):
                    fault = "nan in the result"
        except TimeoutError:
            fault = f"not done after {SECONDS} s"
        except (ValueError, ArithmeticError, RuntimeError) as error:
            last, kind = traceback.extract_tb(error.__traceback__)[-1], type(error)
            own = kind.__module__.startswith("assocmem")
            own = own or kind in (ValueError, ArithmeticError, RuntimeError)
            told = own and last.filename.startswith(PACKAGE)
            fault = None if told and "\n" not in str(error) else f"{kind.__name__}: {error}"
        finally:
            signal.alarm(0)
        faults += [f"{name}: {what}: {fault}"] if fault else []
    return faults, tried


def _has_nan(result):
    if isinstance(result, tuple | list):
        return any(_has_nan(x) for x in result)
    values = vars(result).values() if hasattr(result, "__dataclass_fields__") else [result]
    return any(bool(torch.as_tensor(x).isnan().any()) for x in values if isinstance(x, float | torch.Tensor))


@pytest.fixture
def alarm():
    """A call that hangs ends in a TimeoutError."""

    def ring(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", unusual_tensors())
def test_tensors_of_every_kind_are_stored_as_plain_ones(name):
    given = unusual_tensors()[name]
    pairs = am.Pairs(*given)
    for X, stored in zip(given, (pairs.U, pairs.V), strict=True):
        assert type(stored) is torch.Tensor
        assert not (stored.requires_grad or stored.is_neg() or stored.is_inference())
        assert stored.dtype in (torch.float64, torch.float32)
        assert torch.equal(stored, X.detach().clone().to(stored.dtype))


def test_calls_with_unusual_tensors_are_those_of_plain_ones(alarm):
    """A gradient that nobody asked for, or an order of memory, changes nothing."""
    tensors, W = unusual_tensors(), torch.eye(4, dtype=torch.float64)
    plain = am.retrieval_margins(am.Pairs(*tensors["turned"]), W)
    for name in ("parameters", "of the inference mode"):
        assert torch.equal(am.retrieval_margins(am.Pairs(*tensors[name]), W), plain)
    faults, tried = faults_of("parameters", *tensors["parameters"], only=("fit, Tail", "clipped", "minimise"))
    assert tried > 5
    assert not faults, faults


@pytest.mark.faults
def test_unusual_pairs_have_an_answer_or_a_sentence(alarm, report_trials):
    faults, trials = [], 0
    for name, (U, V) in (unusual_tensors() | unusual_vectors()).items():
        found, tried = faults_of(name, U, V)
        faults, trials = faults + found, trials + tried
    report_trials("unusual tensors and vectors as pairs", trials, faults)
