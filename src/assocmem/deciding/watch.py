"""Tells of a decision while it goes on: a line on the terminal, reports, and a checkpoint."""

import math
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from assocmem.checks import UnusableState
from assocmem.deciding.tilted import State
from assocmem.pairs.data import Facts, Pairs
from assocmem.progress import duration, note
from assocmem.training.checkpoints import digest, read_state, write_state
from assocmem.training.fit import CHECKPOINT_SECONDS

RECENT_STEPS = 20
"""Steps from which the time left is extrapolated."""


class Watch:
    """What is told of a search in passes.

    Parameters
    ----------
    pairs : Pairs or Facts
    k : int
    checkpoint : Path or None
    report : callable or None
        As in `assocmem.deciding.feasibility.decide`.
    show : callable
        Takes the line for the terminal.
    """

    def __init__(
        self,
        pairs: Pairs | Facts,
        k: int,
        checkpoint: Path | None,
        report: Callable[[dict, float | None], None] | None,
        show: Callable[[str], None],
    ):
        self.checkpoint, self.report, self.show = checkpoint, report, show
        self.problem = {"decision": k, "n": pairs.n, "shape": [pairs.d_out, pairs.d_in]}
        if checkpoint:
            self.problem["data"] = digest(pairs)
        self.device = pairs.U.device
        self.latest: State | None = None
        self.extent, self.failed = 0.0, False
        self.recent: deque = deque(maxlen=RECENT_STEPS)
        self.started = self.saved = time.monotonic()

    def resume(self, extent: float) -> State | None:
        """The state in the checkpoint, where there is one of a search that leaves out as much.

        Parameters
        ----------
        extent : float
            Of directions that are left out.

        Returns
        -------
        State or None

        Raises
        ------
        UnusableState
            For a file that is something else.
        """
        self.latest, self.extent = None, extent
        self.recent.clear()
        try:
            state = read_state(self.checkpoint, self.problem) if self.checkpoint else None
        except UnusableState:
            raise UnusableState(
                f"checkpoint = {str(self.checkpoint)!r}: must be of a decision about the same pairs and k, "
                "by this version of the package; move it away to begin anew"
            ) from None
        if state is None or state["extent"] != extent:
            return None
        return State(state["W"].to(self.device), state["floor"], state["passes"])

    def after_step(self, state: State) -> None:
        """Tell of a step.

        Parameters
        ----------
        state : State
        """
        now, self.latest = time.monotonic() - self.started, state
        self.recent.append((now, state))
        left = _seconds_left(self.recent)
        expected = "" if left is None else f", a proof of no in about {duration(left)}"
        self.show(
            f"decide: pass {state.passes}, worst margin {state.margin:.1e}, "
            f"{max(state.excess, 1):.1e} times what a proof of no may leave{expected}, {duration(now)} so far"
        )
        if self.report:
            names = ("passes", "margin", "excess", "floor")
            self.report({name: getattr(state, name) for name in names} | {"seconds": now}, left)
        self.save()

    def save(self, *, force: bool = False) -> None:
        """Write the state in one step, not more often than every half minute unless forced.

        Parameters
        ----------
        force : bool
        """
        due = force or time.monotonic() - self.saved > CHECKPOINT_SECONDS
        if not (self.checkpoint and self.latest is not None and due):
            return
        self.saved = time.monotonic()
        state = {"stages": 0, "trace": [], "passes": self.latest.passes}
        state |= {"floor": self.latest.floor, "extent": self.extent}
        try:
            write_state(self.checkpoint, self.problem, self.latest.W, state)
        except OSError as error:  # a disk that is full now must not cost the result
            if not self.failed:
                note(f"checkpoint = {self.checkpoint}: not written, the search goes on ({error.strerror})")
            self.failed = True


def _seconds_left(recent):
    """Extrapolation of the logarithm of the excess over the latest steps with one floor, or None."""
    steps = [(t, s.excess) for t, s in recent if s.floor == recent[-1][1].floor]
    if len(steps) < 3 or not 1 < steps[-1][1] < steps[0][1] < math.inf or not steps[-1][0] > steps[0][0]:
        return None
    rate = math.log(steps[0][1] / steps[-1][1]) / (steps[-1][0] - steps[0][0])
    return math.log(steps[-1][1]) / rate
