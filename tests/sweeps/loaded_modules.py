"""Prints, as JSON, which modules of the package each point function has loaded when it has done its work.

Each one starts without any of the package's modules. One process does them all, so that torch is loaded once.
"""

import importlib
import json
import sys

import torch

POINTS = "assocmem.experiments.points"
"""The module of the point functions; it loads nothing until one of them is called."""
HERE = {"device": "cpu"}
ANYWHERE = HERE | {"checkpoint": None}
FIT = {"seed": 0, "beta": 4.0, "ridge": 1e-2, "tol": 1e-2}
TRAINED = {"r": 0.3, "beta": 4.0, "ridge": 1e-1}

CALLS: dict[str, list[dict]] = {
    "top1_verdict": [{"n": 12, "d": 3, "seed": 0}, {"n": 12, "d": 8, "seed": 0}],
    "tail_verdict": [{"r": 0.3, "n": 12, "d": 3, "seed": 0}, {"r": 0.3, "n": 12, "d": 8, "seed": 0}],
    "place_verdict": [{"n": 12, "k": 2, "d": 3, "seed": 0}, {"n": 12, "k": 4, "d": 8, "seed": 0}],
    "last_retrievable": [{"d": 2, "seed": 0}],
    "fact_verdict": [
        {"d_in": 4, "d_out": 3, "m": 5, "n": n, "seed": 0, "k": k, "in_turn": k - 1}
        for n, k in ((4, 1), (40, 2))
    ],
    "top1_memory": [{"d": 4, "seed": 0, "n": 6, "effective_ridge": 1e-1, "tol": 1e-2} | HERE],
    "structure": [{"n": 8, "structure": place, "d": 4, "seed": 0} for place in (0, 1)],
    "tail_memory": [{"d": 6, "r": 0.3, "load": 0.3} | FIT | ANYWHERE],
    "tail_profile": [{"d": 6, "r": 0.3, "load": 0.3} | FIT | ANYWHERE],
    "tail_boundary": [{"d": 6, "r": 0.5, "seed": 0} | HERE],
    "removal": [{"setting": 0, "d": 6, "seed": 0}],
    "dimension": [{"n": 30, "construction": place, "seed": 0} for place in (0, 2, 3, 6, 10)],
    "repair_prediction": [{"digits": 30, "kind": 1}],
    "pooled": [{"n": 20, "k": 1}, {"n": 20, "k": 4}, {"n": 20, "k": 19}],
    "outer_product_failure": [{"n": 20, "ratio": 2.0}],
    "zipf_constants": [{"s": 2.0, "gamma": 1.0, "beta": 1.0, "r": 0.3}],
    "zipf_prediction": [
        {"n": 40, "d": 8, "s": 1.5, "gamma": 1.0, "beta": 1.0, "ridge": 1e-3, "r": 0.3},
    ],
    "removal_motion": [{"d": 6, "seed": 0, "load": 0.5} | TRAINED],
    "scalar_instance": [{"d": 6, "seed": 0, "load": 0.5, "removed": 1} | TRAINED],
    "last_retrievable_fact": [{"relation": 4, "kind": 2, "d": 4, "order": 0}],
    "word_costs": [{"relation": 4, "d": 3, "order": 0}],
    "last_ruled_fact": [{"d": 4, "m": 8, "strength": 1.0, "seed": 0}],
    "list_memory": [
        {"d": 6, "r": 0.3, "load": 0.4, "loss": loss, "seed": 0, "ridge": 1e-1, "beta": 4.0, "tol": 1e-2}
        for loss in range(5)
    ],
    "list_verdict": [{"d": 5, "n": n, "r": 0.3, "seed": 0} for n in (8, 60)],
    "certified_dimension": [{"n": n, "seed": 0} for n in (8, 120)],
    "rule_dimension": [{"n": 30, "rule": rule, "seed": 0} for rule in ("muon_ten", "even_clip")],
    "rule_share": [{"n": 30, "d": 12, "rule": rule, "seed": 0} for rule in ("cross_entropy", "four_clips")],
    "survival": [
        {"n": 20, "d": 14, "rule": rule, "harm": harm, "size": 1.0, "seed": 0}
        for rule, harm in (("largest_margin", "query"), ("four_clips", "bits"), ("muon", "overwritten"))
    ],
    "margin_bound": [{"n": 20, "d": 14, "seed": 0}],
    "kept_shares": [{"load": 0.5, "d": 6, "law": "two", "seed": 0} | TRAINED],
    "zipf_error": [
        {"n": 20, "d": 4, "s": 1.5, "way": way, "seed": 0, "ridge": 1e-2} for way in ("hebb", "keep_first")
    ],
    "fact_stream": [
        {"d": 8, "chunks": 5, "way": way, "s": 1.2, "seed": 0} for way in ("decayed", "replay", "keep")
    ],
    "error_by_passes": [
        {"n": 20, "d": 4, "s": 1.5, "training": training, "seed": 0} for training in ("descent", "fit")
    ],
}
"""Small arguments of each point function, one for each way it may take."""


def loaded(name):
    """Modules of the package that are there after all calls of a point function."""
    for module in [module for module in sys.modules if module.split(".")[0] == "assocmem"]:
        del sys.modules[module]
    function = getattr(importlib.import_module(POINTS), name)
    for arguments in CALLS[name]:
        assert function(**arguments)
    return sorted(module for module in sys.modules if module.split(".")[0] == "assocmem")


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps({name: loaded(name) for name in CALLS}))
