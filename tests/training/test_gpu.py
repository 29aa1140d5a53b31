"""The programs for GPUs: run here by Triton's interpreter, compiled for a Hopper card, and run on one."""

import os
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.training import columns_tensors, losses, passes
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import attended_pass, hessian_pass, joint_pass, loss_pass
from assocmem.training.precision import PRECISIONS

CARD = torch.cuda.is_available()
if not CARD:
    os.environ["TRITON_INTERPRET"] = "1"  # read when the programs are first imported

needs_triton = pytest.mark.skipif(not find_spec("triton"), reason="no Triton for this platform")
interpreted = pytest.mark.skipif(CARD, reason="this machine has a GPU: see the tests marked cuda")
on_a_card = pytest.mark.skipif(not CARD, reason="no CUDA GPU")
DEVICES = [
    pytest.param("cpu", marks=[needs_triton, interpreted]),
    pytest.param("cuda", marks=[pytest.mark.cuda, on_a_card]),
]
LOSSES = [CrossEntropy(), TailAverage(0.15, 30.0), TailAverage(0.9, 0.5), TailAverage(1e-9, 3.0)]
LOSSES += [TailAverage(1.0, 5.0)]


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    """Where the programs run; on processors the interpreter takes the place of the compiled loops."""
    if request.param == "cuda":
        yield "cuda"
        return
    from assocmem.training import columns_gpu

    monkeypatch.setattr(columns_gpu, "TILE", 16)  # several tiles, the last one not full
    monkeypatch.setattr(losses, "columns_for", lambda x: columns_gpu)
    with np.errstate(all="ignore"):  # infinities are meant, and a GPU says nothing about them
        yield "cpu"


def problem(n, d, scale, device="cpu", dtype=torch.float64):
    W, D = torch.randn(2, d, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    pairs = gaussian_pairs(n, d, seed=0, device=device, dtype=dtype)
    return pairs, (scale * W).to(pairs.U), D.to(pairs.U)


def everything(loss, problem):
    """All that the passes say about a problem."""
    pairs, W, D = problem
    done = loss_pass(pairs, loss, W, features=True)
    found = {"loss": torch.tensor(done.loss), "gradient": done.gradient, "margins": done.margins}
    found |= {
        "features": done.features,
        "curvature": done.curvature,
        "Hessian": hessian_pass(pairs, loss, W, D),
    }
    if isinstance(loss, TailAverage):
        value, *gradients = joint_pass(pairs, loss, W, torch.linspace(-1, 1, pairs.n).to(W))
        found |= {
            "joint": torch.tensor(value),
            "joint gradients": torch.cat([g.flatten() for g in gradients]),
        }
    return {name: x.double().cpu() for name, x in found.items()}


@pytest.mark.parametrize(
    ("n", "d", "scale", "dtype"),
    [
        (2, 3, 1.0, torch.float64),
        (21, 5, 0.3, torch.float64),
        (11, 4, 60.0, torch.float64),
        (9, 4, 3.0, torch.float32),
    ],
)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_programs_for_gpus_say_what_processors_say(loss, n, d, scale, dtype, device, monkeypatch):
    found = everything(loss, problem(n, d, scale, device, dtype))
    monkeypatch.undo()
    for name, expected in everything(loss, problem(n, d, scale)).items():
        # in single precision the curvature of a staircase is mostly rounding
        precision = 1e-10 if dtype == torch.float64 else 1e-3 if name in ("curvature", "Hessian") else 1e-5
        size = max(float(expected.abs().max()), getattr(loss, "beta", 1.0) if name == "curvature" else 1e-30)
        assert float((found[name] - expected).abs().max()) <= precision * size, name


@pytest.mark.parametrize(("n", "d"), [(2, 1), (16, 16), (37, 5), (65, 17)])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_cross_entropy_without_stored_scores(n, d, precision, device):
    pairs, W, _ = problem(n, d, 2.0, device)
    found = attended_pass(pairs, W, features=True, precision=precision)
    exact = loss_pass(*problem(n, d, 2.0)[:1], CrossEntropy(), W.cpu(), features=True)
    tolerance = {"float64": 1e-12, "float32": 1e-5, "tf32x3": 1e-5, "tf32": 1e-2}[precision]
    assert found.loss == pytest.approx(exact.loss, rel=tolerance)
    for name in ("gradient", "margins", "mu", "features", "curvature"):
        expected = getattr(exact, name)
        error = (getattr(found, name).cpu() - expected).abs().max()
        assert float(error) <= tolerance * float(expected.abs().max()), name


@pytest.mark.parametrize(
    ("loss", "weights"),
    [(CrossEntropy(), torch.linspace(0.1, 9, 40)), (TailAverage(0.3, 3.0), None)],
    ids=["weighted", "alike"],
)
def test_facts_with_targets_in_common(loss, weights, device, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    U, V, W, D = (
        torch.randn(*size, dtype=torch.float64, generator=generator).to(device)
        for size in ((5, 19), (3, 40), (5, 3), (5, 3))
    )
    facts = Facts(U, V, torch.randint(19, (40,), generator=generator), weights)
    found = everything(loss, (facts, W, D))
    if isinstance(loss, CrossEntropy):
        done = attended_pass(facts, W, features=True)
        found |= {"loss": torch.tensor(done.loss).double()}
        found |= {"gradient": done.gradient.cpu(), "features": done.features.cpu()}
    monkeypatch.undo()
    facts, W, D = Facts(facts.U.cpu(), facts.V.cpu(), facts.answers.cpu(), weights), W.cpu(), D.cpu()
    for name, expected in everything(loss, (facts, W, D)).items():
        torch.testing.assert_close(found[name], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.cuda
@on_a_card
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.15, 5.0)], ids=str)
def test_fits_on_a_card_end_where_those_on_processors_end(loss, precision):
    here = fit(gaussian_pairs(400, 50, seed=1), loss, ridge=1e-3, tol=1e-8)
    there = fit(
        gaussian_pairs(400, 50, seed=1, device="cuda"), loss, ridge=1e-3, tol=1e-8, precision=precision
    )
    assert there.converged
    assert there.objective == pytest.approx(here.objective, rel=2e-8)
    assert float((there.W.cpu() - here.W).norm()) < 1e-3 * float(here.W.norm())


@pytest.mark.cuda
@on_a_card
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("loss", LOSSES[:3], ids=str)
def test_blocks_on_a_card_say_what_blocks_on_processors_say(loss, precision, monkeypatch):
    monkeypatch.setattr(passes, "block_columns", lambda *_, **__: 300)
    (pairs, W, D), (gpu, *there) = problem(1000, 70, 2.0), problem(1000, 70, 2.0, "cuda")
    tolerance = {"float64": 1e-10, "float32": 1e-4, "tf32x3": 1e-4, "tf32": 0.1}[precision]
    mine = loss_pass(pairs, loss, W).gradient, hessian_pass(pairs, loss, W, D)
    theirs = loss_pass(gpu, loss, there[0], precision=precision).gradient
    theirs = theirs, hessian_pass(gpu, loss, *there, precision=precision)
    for expected, found in zip(mine, theirs, strict=True):
        assert float((found.cpu() - expected).norm()) < tolerance * float(expected.norm())


def test_without_triton_tensors_do_the_work(monkeypatch):
    scores_on_a_card = SimpleNamespace(dtype=torch.float64, device=torch.device("cuda"))
    monkeypatch.setattr(losses, "triton_is_there", lambda: False)
    assert losses.columns_for(scores_on_a_card) is columns_tensors


COMPILE = """
import re, sys
from assocmem.deciding import feasibility
from assocmem.training import fit
assert "triton" not in sys.modules
import torch, triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from assocmem.training import attention_gpu as attention, columns_gpu

constants = {"TILE": 1024, "EPSILON": torch.finfo(torch.float64).eps, "SMOOTH": True}
constants |= {"PRECISION": "ieee", "QUERIES": 16, "TARGETS": 16, "WIDTH": 32}
for name in ("_log_sum_exps", "_tails", "_tails_at", "_answers", "_attend"):
    program = getattr(columns_gpu, name, None) or attention._attend
    types = {p.name: "*fp64" if p.name.isupper() else "i32" for p in program.params}
    types |= {"ANSWERS": "*i64"} if "ANSWERS" in types else {}
    types |= {p.name: "constexpr" for p in program.params if p.is_constexpr}
    values = {name: value for name, value in constants.items() if types.get(name) == "constexpr"}
    built = triton.compile(ASTSource(program, types, values), target=GPUTarget("cuda", 90, 32))
    print(name, *re.findall(r"\\b(?:add|sub|mul|fma|div|ex2|lg2|cvt)\\S*\\.f32\\S*", built.asm["ptx"]))
"""


@needs_triton
def test_programs_compile_for_a_card_and_nothing_in_them_is_single_precision(tmp_path):
    """No card is needed to compile for one. The interpreter would not notice a constant that is rounded.

    Who has no card does not even import the compiler. Who has no home either gets a place that is gone later.
    """
    settings = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    settings |= {"HOME": "/dev/null/home", "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["_log_sum_exps", "_tails", "_tails_at", "_answers", "_attend"]
    assert list(tmp_path.iterdir()) == []
