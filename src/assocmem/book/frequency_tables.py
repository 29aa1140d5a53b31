"""Numbers for the widget of frequent and rare facts: what takes a saddle point to find."""

from assocmem.sweeps.stored_table import read_table
from assocmem.theory.ridgeless import critical_load, tail_mean

R = 0.15
"""The tail fraction of the widget."""
BETA = 1.0
"""Its smoothing."""


def frequency_tables() -> dict[str, object]:
    """All numbers of the widget, as plain data.

    Returns
    -------
    dict
        ``kappa`` and ``critical``, the average of the best competitors and the critical load; ``reach``,
        lists of ``s gamma`` and the reach of a pull in training, in the order of the first.
    """
    table = read_table("what_is_kept", "constants")
    table = table[table["beta"] == BETA]
    rows = table[["s", "gamma", "reach"]].itertuples(index=False)
    reach = {round(float(s * gamma), 6): float(x) for s, gamma, x in rows}
    return {
        "kappa": float(tail_mean(R)),
        "critical": float(critical_load(R)),
        "reach": [[u, x] for u, x in sorted(reach.items())],
    }
