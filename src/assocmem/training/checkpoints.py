"""The state of a fit in a file, and whether a state fits a problem.

A state belongs to the bytes of the targets, keys, answers and weights, the loss and the ridge. The bytes are
hashed pair by pair as little-endian float64, so that neither threads nor the device nor the layout in memory
matter, as they would for a floating-point sum. The state itself is kept as it is on a processor and goes to
any device.

Three things can be there instead of a state that fits. Nothing, an empty file, or part of a state that broke
off while it was written: there is nothing to lose, and the fit begins anew. Anything else, such as the state
of another problem or of another version: a fit refuses to overwrite it, since somebody may want it; a sweep,
whose states have names of their own, says so and computes the point anew (`assocmem.checks.UnusableState`).
"""

import hashlib
import io
import zipfile
from dataclasses import astuple
from pathlib import Path

import torch

from assocmem.checks import UnusableState
from assocmem.files import whole_file
from assocmem.pairs.data import Facts, Pairs
from assocmem.pairs.sizes import column_slices
from assocmem.progress import note
from assocmem.training.losses import Loss

FORMAT = 3
"""Number of what a state consists of; it grows when that changes."""

HASHED_COLUMNS = 4096
"""Pairs that are hashed at a time, so that it takes no memory to speak of."""

EMPTY = b"\0"
"""What a file consists of that a machine which went down has made long but not written."""


def identity(pairs: Pairs | Facts, loss: Loss, ridge: float) -> dict:
    """What tells one problem from another.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    ridge : float

    Returns
    -------
    dict
        Of numbers and words.
    """
    return {
        "loss": [type(loss).__name__, *map(float, astuple(loss))],
        "ridge": float(ridge),
        "n": pairs.n,
        "shape": [pairs.d_out, pairs.d_in],
        "data": digest(pairs),
    }


def digest(pairs: Pairs | Facts) -> str:
    """SHA-256 of targets, keys, answers and weights.

    Vectors count one after the other, each number as little-endian float64; answers, which pairs need none,
    follow as little-endian integers, and weights, where there are any, as little-endian float64.
    """
    total = hashlib.sha256()
    for X in (pairs.U, pairs.V):
        for columns in column_slices(X.shape[1], HASHED_COLUMNS):
            rows = X[:, columns].detach().T.to("cpu", torch.float64).contiguous()
            total.update(rows.numpy().astype("<f8", copy=False).data)
    if isinstance(pairs, Facts):
        total.update(pairs.answers.cpu().numpy().astype("<i8", copy=False).data)
    if pairs.weights is not None:
        total.update(pairs.weights.cpu().numpy().astype("<f8", copy=False).data)
    return total.hexdigest()


def write_state(path: Path, problem: dict, W: torch.Tensor, state: dict) -> None:
    """Write a state in one step.

    Parameters
    ----------
    path : Path
    problem : dict
        From `identity`.
    W : Tensor, shape (d_out, d_in)
        The memory to go on from.
    state : dict
        Numbers and the trace.

    Raises
    ------
    OSError
        If it cannot be written; what was there before is there still.
    """
    buffer = io.BytesIO()
    torch.save({"format": FORMAT, "problem": problem, "W": W.cpu(), **state}, buffer)
    with whole_file(path) as partial:
        partial.write_bytes(buffer.getbuffer())


def read_state(path: Path, problem: dict) -> dict | None:
    """The state in a file, if it fits a problem.

    Parameters
    ----------
    path : Path
    problem : dict
        From `identity`.

    Returns
    -------
    dict or None
        None where there is no file, or only part of one, which is said in a line.

    Raises
    ------
    UnusableState
        For anything else than a state of this problem.
    """
    if not path.exists():
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises nearly everything
        if _broken_off(path):
            note(f"checkpoint = {path}: only part of a state, the fit begins anew")
            return None
        _refuse(path, f"a checkpoint of a fit ({' '.join(str(error).split())[:80]})")
    if not isinstance(state, dict) or "problem" not in state:
        _refuse(path, "a checkpoint of a fit, unlike the file that is there")
    if state.get("format") != FORMAT:
        _refuse(path, f"of format {FORMAT}, not of another version of this package")
    if state["problem"] != problem:
        _refuse(path, "of the same pairs, loss and ridge")
    W = state.get("W")
    sound = isinstance(W, torch.Tensor) and list(W.shape) == problem["shape"] and W.dtype == torch.float64
    sound = sound and bool(torch.isfinite(W).all())
    sound = sound and all(isinstance(state.get(name), int) for name in ("stages", "passes"))
    if not sound or not isinstance(state.get("trace"), list):
        _refuse(path, "a checkpoint of a fit, unlike the damaged one that is there")
    return state


def _broken_off(path: Path) -> bool:
    """Whether a file is empty or the beginning of a state: an archive without the list at its end."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    begun = content[:2] == b"PK"[: len(content)] and not zipfile.is_zipfile(io.BytesIO(content))
    return begun or not content.strip(EMPTY)


def _refuse(path: Path, allowed: str) -> None:
    raise UnusableState(f"checkpoint = {str(path)!r}: must be {allowed}; move it away to begin anew")
