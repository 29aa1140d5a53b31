"""Calls of all public functions in which one argument is something that nobody should pass.

Each ends in one of two ways: a result without a nan, or one line that names the argument. What counts as
public: the face, and the functions of the rooms that it comes from.
"""

import dataclasses
import importlib
import inspect
import pkgutil
import random
import re
import signal
import tempfile
import traceback
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import assocmem
from assocmem.deciding.feasibility import decide_top1
from assocmem.deciding.lists import decide_list
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.removal.hessians import Problem, evaluate
from assocmem.removal.leave_one_out import full_problem, minimise, without
from assocmem.theory.finite_dimension import laws_at_size
from assocmem.theory.frequencies import equal, two_classes
from assocmem.theory.given_up import all_kept, given_up
from assocmem.theory.ridgeless import sat_laws
from assocmem.theory.scalar import solve_scalar
from assocmem.theory.weighted import solve_weighted
from assocmem.training.descent import Evaluator, Stage
from assocmem.training.losses import TailAverage
from assocmem.training.passes import loss_pass

ROOMS = ("pairs", "memories", "training", "removal", "theory")
"""The rooms of which every public function is called; of `deciding`, what the face offers."""

KERNELS = ("columns_cpu", "columns_gpu", "columns_tensors", "attention_gpu", "columns_for", "attended_pass")
KERNELS += ("times_weights", "mean_loss", "small_pass", "small_fit")
"""Loops that are called once for every block of scores, by functions that have checked it: modules, the
choice between them, a function that runs on a GPU alone, and what weighs the keys of a block."""

FILES = ("checkpoints", "kept_code")
"""Modules that `fit` keeps its state and its compiled code with; their tests damage the files."""

CARRIERS = ("pairs.data.plain", "removal.leave_one_out.drop")
"""Functions that move numbers and make none, so that a nan stays what it is."""

SEARCHES = {"theory.repair.best_split", "theory.repair.best_margin"}
"""Functions that take seconds with good arguments; they have their own tests."""

SECONDS = 600
"""After which a call counts as hanging. The slowest, a search for the best repair, takes up to forty on an
idle machine."""

PACKAGE = str(Path(assocmem.__file__).parent)


class Anything:
    """A class that no function knows."""


def hostile_values():
    """What is passed for an argument, by what it is called in a report."""
    matrix = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    return {
        "None": None,
        "empty word": "",
        "word": "abc",
        "class": Anything,
        "object": Anything(),
        "empty list": [],
        "empty dict": {},
        "nan": float("nan"),
        "inf": float("inf"),
        "-inf": float("-inf"),
        "-1": -1,
        "0": 0,
        "-1e-3": -1e-3,
        "10**30": 10**30,
        "10**400": 10**400,
        "10**5000": 10**5000,
        "1e300": 1e300,
        "1e-300": 1e-300,
        "1.5": 1.5,
        "True": True,
        "numpy float": np.float64(0.3),
        "numpy integer": np.int64(3),
        "short numpy integer": np.int16(3),
        "complex": 1j,
        "function": lambda *_: None,
        "array with nan": np.array([0.5, np.nan]),
        "words in an array": np.array(["a", "b"]),
        "empty array": np.empty(0),
        "another shape": matrix,
        "integers": torch.ones(4, 4, dtype=torch.int64),
        "half precision": torch.ones(4, 4, dtype=torch.float16),
        "no memory": torch.ones(4, 4, dtype=torch.float64, device="meta"),
        "no entries": torch.empty(0, 12, dtype=torch.float64),
        "gradient": torch.ones(4, 4, dtype=torch.float64, requires_grad=True),
        "parameter": torch.nn.Parameter(torch.ones(4, 12, dtype=torch.float64)),
        "sparse": torch.eye(4, dtype=torch.float64).to_sparse(),
        "nan in a tensor": torch.full((4, 4), torch.nan, dtype=torch.float64),
        "lists in a list": [[1.0, 2.0], [3.0]],
    }


FOLDER = tempfile.TemporaryDirectory()
"""Has the files that calls read."""


def saved(name, array):
    """Path of a file with an array."""
    path = f"{FOLDER.name}/{name}.npy"
    np.save(path, array)
    return path


def log_exponential_tail(level):
    """Log of the tail of an exponential variable, for arrays."""
    return -4 * np.maximum(level, 0)


@cache
def calls():
    """Good arguments of every public function, by room, module and name; a method stands with its object."""
    pairs = gaussian_pairs(12, 4, seed=1)
    W, loss = correlation_memory(pairs), TailAverage(0.3, 5.0)
    problem = full_problem(pairs, loss, 0.1)
    full, left = minimise(problem), without(problem, 3)
    rest = minimise(left)
    at_rest = evaluate(problem, rest.W)
    done = loss_pass(pairs, loss, W, features=True)
    stage = Stage(loss, 0.1)
    evaluator = Evaluator(pairs, 1e-6, 40, "float64", lambda *_: None, lambda *_: None)
    point = evaluator.enter(W, stage)
    S, square = pairs.U.T @ W @ pairs.V, torch.ones(12, 12, dtype=torch.float64)
    vector, x = torch.linspace(0.1, 1, 12, dtype=torch.float64), np.linspace(-1, 2, 12)
    solution, laws = solve_scalar(1.0, 0.2, beta=5.0, ridge=0.01), sat_laws(0.1, 0.2)
    sized = laws_at_size(0.1, 0.2, 10, beta=5.0, ridge=0.01)
    certificate = decide_top1(gaussian_pairs(12, 8, seed=1)).certificate
    listed = decide_list(pairs, 0.3).certificate
    at = {"load": 1.0, "r": 0.2, "beta": 5.0, "ridge": 0.01}
    saddle = {"nu": 1.0, "chi": 1.0} | at
    asked, zipf = two_classes(0.2, 16.0), {"n": 40, "d": 5, "s": 1.5, "r": 0.2}
    weighted = solve_weighted(**at, frequencies=asked)
    lost = given_up(0.29, 0.15, 1e-6, asked)
    log, logs, repaired = {"log_n": 30.0}, [20.0, 100.0, 900.0], [4.0, 3.0, 2.4]
    U, V, M = pairs.U.numpy(), pairs.V.numpy(), S.numpy()
    sizes = {"d_in": 8, "d_out": 6, "m": 12}
    blocks = {"S": M, "mu": x, "k": 3, "beta": 2.0}
    return {
        "pairs.data.Pairs": {"U": pairs.U, "V": pairs.V},
        "pairs.data.Facts": {"targets": pairs.U, "keys": pairs.V[:3], "answers": pairs.answers}
        | {"weights": torch.linspace(0.5, 2, 12)},
        "pairs.data.gaussian_pairs": {"n": 5, "d": 3, "seed": 0, "dtype": torch.float64, "device": "cpu"},
        "pairs.data.derived_seed": {"seed": 0},
        "pairs.data.require_device": {"device": "cpu"},
        "pairs.data.best_device": {},
        "pairs.data.describe": {"X": W},
        "pairs.data.is_dense": {"X": W},
        "pairs.data.plain": {"X": W},
        "pairs.data.require_pairs": {"pairs": pairs},
        "pairs.data.require_facts": {"pairs": pairs},
        "pairs.data.require_array": {"X": W},
        "pairs.scores.block_columns": {"m": 12, "itemsize": 8, "device": "cpu", "keys": 12},
        "pairs.scores.scores": {"pairs": pairs, "W": W, "columns": slice(0, 3)},
        "pairs.scores.score_blocks": {"pairs": pairs, "W": W},
        "pairs.scores.retrieval_margins": {"pairs": pairs, "W": W},
        "pairs.scores.signals_and_rivals": {"pairs": pairs, "W": W},
        "pairs.scores.signal_percentiles": {"pairs": pairs, "W": W},
        "pairs.scores.signals_and_percentiles": {"pairs": pairs, "W": W},
        "pairs.scores.take_signal": {"block": S, "answers": pairs.answers, "replacement": 0.0},
        "pairs.scores.require_memory_matrix": {"pairs": pairs, "W": W},
        "pairs.scores.require_finite_products": {"product": W},
        "pairs.sizes.dimension_at_ratio": {"n": 12, "ratio": 1.0},
        "pairs.sizes.top1_ratio": {"n": 12, "d": 4},
        "pairs.sizes.pairs_at_load": {"load": 1.0, "d": 4},
        "pairs.sizes.tail_count": {"r": 0.3, "m": 11},
        "pairs.sizes.column_slices": {"count": 12, "step": 5},
        "pairs.sizes.peak_bytes": {"n": 12, "d": 4, "itemsize": 8, "m": 12, "d_out": 4},
        "pairs.tail_average.tail_average": {"x": x, "r": 0.3},
        "pairs.tail_average.smoothed_tail_average": {"x": x, "r": 0.3, "beta": 2.0},
        "pairs.tail_average.smoothed_threshold": {"x": x, "r": 0.3, "beta": 2.0},
        "pairs.tail_average.smoothed_gradient": {"x": x, "r": 0.3, "beta": 2.0},
        "pairs.tail_average.smoothed_hessian": {"x": x, "r": 0.3, "beta": 2.0},
        "memories.clipped.clipped_memory": {"pairs": pairs, "rounds": 2, "gamma": 0.1, "softness": 0.1},
        "memories.clipped.equalised_memory": {"pairs": pairs},
        "memories.compression.rounded": {"W": W, "bits": 3, "rows": True, "seed": 1},
        "memories.compression.sparsified": {"W": W, "share": 0.3},
        "memories.compression.low_rank": {"W": W, "rank": 2},
        "memories.compression.relative_error": {"W": W, "kept": W + 0.1},
        "memories.conjugate_gradients.conjugate_gradients": {
            "product": lambda X: 2 * X,
            "right": W,
            "tol": 1e-6,
            "most_steps": 20,
            "start": W,
        },
        "memories.outer_products.correlation_memory": {"pairs": pairs},
        "memories.delta_rule.delta_memory": {
            "pairs": pairs,
            "step": 0.3,
            "keep": 0.9,
            "passes": 2,
            "start": W,
        },
        "memories.delta_rule.decayed_memory": {"pairs": pairs, "keep": 0.9},
        "memories.even_and_clip.even_and_clip": {"pairs": pairs, "clips": 2, "gamma": 0.2, "whiten": True},
        "memories.even_and_clip.falling": {"clips": 3, "first": 0.2, "last": 0.03},
        "memories.least_squares.least_squares_memory": {
            "pairs": pairs,
            "ridge": 0.1,
            "prior": W,
            "covariance": torch.eye(4, dtype=torch.float64),
        },
        "memories.least_squares.whitened_memory": {"pairs": pairs},
        "memories.sparse_repair.default_reserve": {"n": 12, "d": 4},
        "memories.sparse_repair.reserve_at_share": {"share": 0.5, "d": 4},
        "memories.sparse_repair.sparse_repair": {"pairs": pairs, "gamma": 0.1, "reserve": 2},
        "memories.sparse_repair.repair_in_place": {
            "pairs": pairs,
            "W": W,
            "gamma": 0.1,
            "rounds": 2,
            "against_rivals": False,
        },
        "training.descent.Stage": {"loss": loss, "ridge": 0.1},
        "training.descent.descend": {
            "evaluator": evaluator,
            "point": point,
            "stage": stage,
            "easy": False,
            "last": True,
        },
        "training.fit.fit": {
            "pairs": pairs,
            "loss": loss,
            "ridge": 0.1,
            "tol": 1e-3,
            "max_passes": 60,
            "precision": "float64",
            "W0": W,
            "checkpoint": None,
            "report": None,
        },
        "training.fit.fit_bytes": {"n": 12, "d": 4, "m": 12, "d_out": 4},
        "training.gradient_writes.softmax_memory": {
            "pairs": pairs,
            "steps": 2,
            "scale": 8.0,
            "step": 0.5,
            "block": 5,
        },
        "training.gradient_writes.muon_memory": {"pairs": pairs, "steps": 2, "rate": 3.0, "momentum": 0.9},
        "training.list_fit.fit_list": {
            "pairs": pairs,
            "r": 0.3,
            "ridge": 0.1,
            "tol": 1e-3,
            "max_passes": 60,
            "W0": W,
            "until": None,
        },
        "training.list_fit.list_fit_bytes": {"n": 12, "d": 4, "m": 12, "d_out": 4},
        "training.list_loss.list_level": {"r": 0.3},
        "training.list_loss.list_pass": {"pairs": pairs, "r": 0.3, "W": W, "features": True},
        "training.list_loss.list_hessian_product": {"pairs": pairs, "r": 0.3, "W": W, "D": W},
        "training.losses.TailAverage": {"r": 0.3, "beta": 2.0},
        "training.losses.require_loss": {"loss": loss},
        "training.losses.second_order": {
            "loss": loss,
            "T": square / 12,
            "dS": square.clone(),
            "a": vector,
            "own": vector,
        },
        "training.losses.triton_is_there": {},
        "training.losses.normal_quantile": {"k": 2.0, "m": 11},
        "training.losses.mean_and_spread": {"total": vector, "square": vector, "m": 11},
        "training.metric.model_inverse": {"pairs": pairs, "done": done, "W": W, "ridge": 0.1, "most": 12},
        "training.metric.less_curvature_along": {"W": W, "K": 0.01 * W.T @ W, "inverse": lambda X: X},
        "training.metric.solve_with_factor": {
            "factor": torch.eye(4, dtype=torch.float64),
            "x": W[0, :4].clone(),
        },
        "training.many.fit_many": {
            "instances": [pairs],
            "loss": loss,
            "ridge": 0.1,
            "tol": 1e-4,
            "max_passes": 9,
        },
        "training.many.fit_path": {"problems": [(pairs, loss, 0.1)], "tol": 1e-4, "max_passes": 9},
        "training.metric.exact_inverse": {"pairs": pairs, "loss": loss, "W": W, "ridge": 0.1},
        "training.passes.loss_pass": {
            "pairs": pairs,
            "loss": loss,
            "W": W,
            "features": True,
            "precision": "float64",
        },
        "training.passes.without_stored_scores": {"pairs": pairs, "precision": "float64"},
        "training.passes.joint_pass": {"pairs": pairs, "loss": loss, "W": W, "mu": vector},
        "training.passes.hessian_pass": {
            "pairs": pairs,
            "loss": loss,
            "W": W,
            "D": W,
            "precision": "float64",
        },
        "training.passes.dense_hessian": {"pairs": pairs, "loss": loss, "W": W, "profiled": True},
        "training.passes.assemble_hessian": {
            "U": pairs.U,
            "V": pairs.V,
            "g": pairs.U,
            "C": square,
            "a": vector,
            "b": vector,
            "profiled": True,
        },
        "training.precision.rounded_to_tf32": {"X": torch.ones(3)},
        "removal.hessians.Problem": {"pairs": pairs, "loss": loss, "effective_ridge": 0.1},
        "removal.hessians.evaluate": {"problem": problem, "W": W},
        "removal.hessians.pull_back": {"pairs": pairs, "Y": square, "diagonal": vector},
        "removal.hessians.hessian_product": {"point": full, "D": W, "kind": "full"},
        "removal.hessians.dense_operator": {"point": full, "kind": "full"},
        "removal.hessians.dense_inverse": {"point": full, "kind": "full"},
        "removal.hessians.solve": {"point": full, "right": W, "kind": "full", "tol": 1e-6},
        "removal.hessians.normalized_trace": {"point": full, "kind": "full", "probes": 2, "seed": 0},
        "removal.leave_one_out.full_problem": {"pairs": pairs, "loss": loss, "ridge": 0.1},
        "removal.leave_one_out.without": {"problem": problem, "h": 3},
        "removal.leave_one_out.minimise": {"problem": problem, "W0": W},
        "removal.leave_one_out.drop": {"X": vector, "h": 3},
        "removal.leave_one_out.insertion": {"full": at_rest, "rest": rest, "h": 3},
        "removal.leave_one_out.margin_gradient": {"point": full, "h": 3},
        "removal.leave_one_out.newton_step": {"problem": problem, "rest": rest, "h": 3},
        "removal.leave_one_out.rank_one_response": {"problem": problem, "full": full, "rest": rest, "h": 3},
        "theory.column_smoothing.largest_excess": {"r": 0.2, "beta": 5.0},
        "theory.column_smoothing.normal_excess": {"r": 0.2, "beta": 5.0},
        "theory.column_smoothing.smoothed_share": {"rho": 1.0, "r": 0.2, "beta": 5.0},
        "theory.column_variants.column_without_self_noise": {"n": 20, "d": 4, "size": 5, "seed": 0},
        "theory.column_variants.first_scores": {"n": 20, "d": 4, "size": 5, "seed": 0},
        "theory.column_weights.column_weights": {"rho": 1.0, "r": 0.2, "beta": 5.0},
        "theory.column_weights.density_alone": {"rho": 1.0, "r": 0.2, "beta": 5.0},
        "theory.coupling_constants.coupling_miss": {"solution": solution, "d": 20},
        "theory.critical_curve.inverse_at_small_tails": {"r": 0.01},
        "theory.critical_curve.inverse_at_large_tails": {"r": 0.99},
        "theory.critical_curve.critical_load_of_median": {"r": 0.2},
        "theory.critical_curve.loss_of_first_moments": {"load": 0.4, "r": 0.2},
        "theory.crossover.crossover": {"load": 0.2, "r": 0.2, "ridge": 1e-4},
        "theory.crossover.ridge_at_norm": {"load": 0.1, "r": 0.2, "nu": 10.0},
        "theory.crossover.edge_shift": {"load": 0.2},
        "theory.dimension_table.tabulated_dimension": {"m": 12},
        "theory.facts_that_fit.score_dimensions": sizes,
        "theory.facts_that_fit.dimension_of_answer": {"m": 12, "k": 1},
        "theory.facts_that_fit.facts_that_fit": sizes | {"k": 1},
        "theory.facts_that_fit.pairs_that_fit": {"d_in": 8, "d_out": 6},
        "theory.facts_that_fit.fit_probability": {"n": 30} | sizes | {"k": 1},
        "theory.facts_that_fit.facts_at": {"probability": 0.9} | sizes | {"k": 1},
        "theory.facts_that_fit.fit_width": sizes | {"k": 1},
        "theory.facts_that_fit.cover_probability": {"n": 12, "d_in": 8},
        "theory.facts_that_fit.bits_per_parameter": {"m": 12},
        "theory.finite_dimension.effective_load": {"load": 0.1, "r": 0.2, "d": 10},
        "theory.finite_dimension.laws_at_size": {
            "load": 0.1,
            "r": 0.2,
            "d": 10,
            "beta": 5.0,
            "ridge": 0.01,
        },
        "theory.finite_dimension.LawsAtSize.quantile": (sized.quantile, {"kind": "signal", "p": [0.1, 0.9]}),
        "theory.finite_dimension.LawsAtSize.cdf": (sized.cdf, {"kind": "percentile", "t": [0.1, 0.9]}),
        "theory.finite_percentiles.percentile_cdf_at_size": {"omega": 0.5, "n": 12, "d": 4},
        "theory.list_cone.list_bound": {"n": 12, "k": 2},
        "theory.list_cone.column_distance": {"n": 20.0, "k": 2, "kappa": 0.5},
        "theory.list_cone.list_shift": {"ratio": 0.5},
        "theory.lists.list_quantile": {"r": 0.2},
        "theory.lists.list_capacity": {"r": 0.2},
        "theory.lists.equivalent_tail": {"r": 0.2},
        "theory.lists.listed_fraction": {"tail": 0.4},
        "theory.lists.best_share": {"load": 0.4},
        "theory.lists.vanishing_load": {"r": 0.2},
        "theory.lists.solve_list": {"load": 0.4, "r": 0.2, "ridge": 0.01},
        "theory.place_to_share.crossover_shift": {"z": 0.5},
        "theory.place_to_share.log_log_coefficient": {"z": 0.5},
        "theory.place_to_share.two_levels": {"log_n": 30.0, "log_k": 3.0, "signal": 0.0},
        "theory.place_to_share.place_from_levels": {"log_n": 30.0, "log_k": 3.0, "fluctuations": True},
        "theory.place_to_share.local_coefficient": {"log_n": 30.0, "log_k": 3.0},
        "theory.ruled_facts.led_distance": {"m": 12, "lead": 1.0, "variance": 1.5},
        "theory.ruled_facts.ruled_cost": {"m": 12, "strength": 1.0, "spread": 0.2},
        "theory.gaussian_keys.log_failure": log | {"signal_spread": 0.2, "rival_spread": 0.3, "shared": 0.01},
        "theory.gaussian_keys.log_failure_of_tail": log
        | {"signal_spread": 0.2, "log_tail": log_exponential_tail, "width": 0.3},
        "theory.gaussian_keys.half_point": log | {"log_failures": lambda x: 5 - x},
        "theory.gaussian_keys.require_log_n": log,
        "theory.reshaped.kept_share": {"f": np.tanh, "law": "normal", "breaks": [0.5]},
        "theory.reshaped.best_quantiser": {"bits": 2, "uniform": True},
        "theory.reshaped.quantiser_share": {"bits": 2, "uniform": False},
        "theory.reshaped.largest_entries_share": {"p": 0.2},
        "theory.reshaped.rank_share": {"p": 0.2},
        "theory.reshaped.newton_schulz": {"x": 0.2, "steps": 5},
        "theory.reshaped.newton_schulz_share": {"d": 100, "steps": 5},
        "theory.reshaped.polar_moments": {"ratio": 2.5},
        "theory.reshaped.polar_half_ratio": log,
        "theory.reshaped.rule_constant": {"rho": 0.5},
        "theory.reshaped.reshaped_half_ratio": log | {"rho": 0.5},
        "theory.least_squares.resolvent_trace": {"ratio": 2.5, "ridge": 0.5},
        "theory.least_squares.leverage": {"ratio": 2.5, "ridge": 0.5},
        "theory.least_squares.ridge_noise": {"ratio": 2.5, "ridge": 0.5, "s": 0.3},
        "theory.least_squares.best_ridge": {"ratio": 2.5, "s": 0.3},
        "theory.least_squares.best_ridge_noise": {"ratio": 2.5, "s": 0.3},
        "theory.least_squares.whitened_noise": {"ratio": 2.5},
        "theory.least_squares.noise_gain": {"ratio": 2.5, "rule": "whitened", "on": "query"},
        "theory.least_squares.score_spreads": {"n": 30, "d": 10, "rule": "whitened"},
        "theory.least_squares.least_squares_half_ratio": log | {"rule": "whitened"},
        "theory.forgetting.delta_moments": {"age": 3, "n": 12, "d": 4, "step": 0.5, "keep": 0.9},
        "theory.forgetting.decayed_moments": {"age": 3, "n": 12, "d": 4, "keep": 0.9},
        "theory.forgetting.retrieved_by_age": {"age": 3, "n": 12, "d": 4, "step": 0.5, "keep": 0.9},
        "theory.forgetting.log_forgetful_failures": {"n": 12, "d": 4, "step": 0.5, "keep": 0.9},
        "theory.forgetting.forgetful_half_ratio": {"n": 12, "x": 0.2, "rule": "delta"},
        "theory.forgetting.first_written_factor": {"x": 0.2},
        "theory.forgetting.last_written_factor": {"x": 0.2},
        "theory.forgetting.stream_window": {"d": 100, "step": 0.1, "constant": 2.0} | log,
        "theory.forgetting.best_stream_step": {"d": 100, "constant": 2.0} | log,
        "theory.forgetting.stream_capacity": {"d": 100, "constant": 2.0} | log,
        "theory.noisy_recall.noisy_constant": {"s": 0.2, "memory": "clipped"},
        "theory.noisy_recall.best_clip": {"s": 0.2},
        "theory.noisy_recall.noisy_share_constant": {"s": 0.2},
        "theory.noisy_recall.rounding_noise": {"bits": 2, "uniform": True},
        "theory.noisy_recall.rounded_constant": {"bits": 2, "memory": "clipped", "uniform": True},
        "theory.noisy_recall.facts_per_bit": log | {"bits": 2, "memory": "clipped", "uniform": True},
        "theory.noisy_recall.best_bits": {"memory": "clipped", "uniform": True},
        "theory.noisy_recall.noisy_half_ratio": log
        | {"s": 0.1, "memory": "clipped", "whitened": True, "on": "query"},
        "theory.kinematics.statistical_dimension": {"n": 12, "k": 1},
        "theory.kinematics.critical_dimension": {"n": 12, "k": 1},
        "theory.kinematics.retrieval_probability": {"n": 12, "d": 8, "k": 1, "shift": 0.0},
        "theory.kinematics.log_probabilities": {"n": 12, "d": 8, "k": 1, "shift": 0.0, "stretch": 1.0},
        "theory.kinematics.pool": {"signal": 0.0, "rivals": np.array([2.0, 1.0, -1.0])},
        "theory.kinematics.pooled_moments": {"n": 12, "k": 2},
        "theory.kinematics.large_size": log,
        "theory.law_variants.with_numbers": {"solution": solution, "nu": 1.0, "chi": 1.0},
        "theory.law_variants.middle_levels": {"size": 10},
        "theory.law_variants.normal_twin": {"law": solution.margin, "levels": np.linspace(0.05, 0.95, 10)},
        "theory.law_variants.with_margins_along_lengths": {"law": sized},
        "theory.law_variants.without_tail_scatter": {"law": sized, "load": 0.1, "d": 10},
        "theory.laws.Law.sample": (laws.margin.sample, {"size": 3, "seed": 0}),
        "theory.margin_law.margin_distance": {"n": 30, "kappa": 1.0},
        "theory.margin_law.largest_margin_law": {"n": 30, "ratio": 4.0},
        "theory.margin_law.margin_limit": {"log_n": 30.0, "ratio": 4.0},
        "theory.norm_bounds.largest_square": {"r": 0.2, "beta": 5.0, "ridge": 0.01},
        "theory.norm_bounds.outer_product_objective": {"t": 1.0} | at,
        "theory.norm_bounds.least_norm": at,
        "theory.outer_products.sample_score_column": {"n": 12, "d": 4, "size": 2, "seed": 0},
        "theory.outer_products.signal_variance": {"n": 12, "d": 4},
        "theory.outer_products.competitor_variance": {"n": 12, "d": 4},
        "theory.outer_products.query_failure": {
            "n": 12,
            "d": 4,
            "seed": 0,
            "log2_points": 6,
            "replicates": 2,
        },
        "theory.outer_products.query_failure_at_ratio": {"n": 12, "ratio": 5.0, "seed": 0, "log2_points": 6},
        "theory.outer_products.percentile_cdf": {"omega": 0.5, "load": 1.0},
        "theory.outer_products.percentile_pdf": {"omega": 0.5, "load": 1.0},
        "theory.outer_products.percentile_mean": {"load": 1.0},
        "theory.outer_products.log_expected_failures": log | {"ratio": 5.0},
        "theory.outer_products.log_pair_bound": log | {"ratio": 5.0},
        "theory.outer_products.half_success_ratio": log,
        "theory.outer_products.half_success_expansion": log,
        "theory.outer_products.exact_half_success_ratio": {"n": 60, "seed": 0, "log2_points": 6},
        "theory.potential_shape.tail_average_on_nodes": {"nu": 1.0, "r": 0.2, "beta": 5.0},
        "theory.potential_shape.envelope_on_nodes": {"nu": 1.0, "chi": 2.0, "c": 1.0},
        "theory.potential_shape.channel_averages": {"nu": 1.0, "chi": 2.0, "c": 1.0},
        "theory.potential_shape.exponent_by_differences": {"nu": 1.0, "chi": 2.0, "c": 1.0},
        "theory.potential_shape.potential_on_nodes": {"nu": 1.0, "chi": 2.0} | at,
        "theory.potential_shape.reduced_by_search": {"nu": 1.0} | at,
        "theory.potential_shape.curvature": {"nu": 1.0, "step": 0.03} | at,
        "theory.failing_counts.exact_growth": {"few": 100, "many": 1000, "ratio": 9.0, "log2_points": 6},
        "theory.failing_counts.growth_between": {"few": 100, "many": 1000, "ratio": 9.0, "constant": 8.0},
        "theory.failing_counts.leading_power": {"ratio": 9.0, "constant": 8.0},
        "theory.removal_response.removal_response": {"solution": solution},
        "theory.repair_balance.balanced_share": log,
        "theory.repair_balance.leading_excess": log,
        "theory.repair_balance.extrapolated_constant": {"log_n": logs, "ratios": repaired},
        "theory.repair_balance.extrapolated_coefficient": {"log_n": logs, "ratios": repaired},
        "theory.repair.paper_share": log,
        "theory.repair.predict_repair": log | {"ratio": 5.0, "share": 0.1, "gamma": 0.1},
        "theory.repair.half_success_ratio": log | {"share": 0.1, "gamma": 0.1},
        "theory.repair.best_split": log,
        "theory.repair.best_margin": log | {"share": 0.1},
        "theory.repair.log_equalised_failures": log | {"ratio": 5.0},
        "theory.repair.equalised_half_ratio": log,
        "theory.repair.log_clipped_failures": log | {"ratio": 5.0, "gamma": 0.1},
        "theory.repair.clipped_half_ratio": log | {"gamma": 0.1},
        "theory.ridgeless.tail_mean": {"r": 0.2},
        "theory.ridgeless.critical_load": {"r": 0.2},
        "theory.ridgeless.sat_edge": {"load": 0.2},
        "theory.ridgeless.hinge_edge": {"square": 2.0},
        "theory.ridgeless.hinge_moments": {"rho": 0.5},
        "theory.ridgeless.sat_laws": {"load": 0.1, "r": 0.2},
        "theory.ridgeless.solve_unsat": {"load": 1.0, "r": 0.2, "beta": 5.0},
        "theory.frequencies.Frequencies": {"values": [1.0, 16.0], "masses": [0.8, 0.2]},
        "theory.frequencies.Frequencies.mean": (asked.mean, {"function": np.log}),
        "theory.frequencies.equal": {},
        "theory.frequencies.two_classes": {"share": 0.2, "ratio": 16.0},
        "theory.frequencies.zipf_frequencies": {"n": 50, "s": 1.2, "gamma": 1.5},
        "theory.frequencies.rank_nodes": {"n": 50, "exponent": 1.2, "first": 3},
        "theory.frequencies.condensed": {"frequencies": asked},
        "theory.frequency_scaling.keep_constant": {"s": 1.5, "r": 0.2},
        "theory.frequency_scaling.hebb_constant": {"s": 1.5, "r": 0.2},
        "theory.frequency_scaling.lowest_constant": {"s": 1.5, "r": 0.2},
        "theory.frequency_scaling.convex_constant": {"s": 1.5, "r": 0.2},
        "theory.frequency_scaling.trained_reach": {"exponent": 1.5, "r": 0.2, "beta": 1.0},
        "theory.frequency_scaling.trained_constant": {
            "s": 1.5,
            "r": 0.2,
            "beta": 1.0,
            "gamma": 1.0,
            "smoothed": False,
        },
        "theory.frequency_scaling.keep_error": zipf,
        "theory.frequency_scaling.hebb_error": zipf,
        "theory.frequency_scaling.hebb_weights": zipf,
        "theory.frequency_scaling.lowest_error": zipf,
        "theory.frequency_scaling.convex_error": zipf,
        "theory.frequency_scaling.trained_error": zipf
        | {"beta": 1.0, "gamma": 1.5, "ridge": 0.1, "smoothed": True},
        "theory.frequency_scaling.first_place_hebb_error": {"n": 40, "d": 5, "s": 1.5},
        "theory.frequency_scaling.first_place_keep_error": {"n": 40, "d": 5, "s": 1.5},
        "theory.given_up.given_up": {"load": 0.29, "r": 0.15, "ridge": 1e-6, "frequencies": asked},
        "theory.given_up.GivenUp.lost": (lost.lost, {"p": 0.5}),
        "theory.given_up.GivenUp.left": (lost.left, {"p": 0.5}),
        "theory.given_up.all_kept": {"load": 0.2, "r": 0.15, "ridge": 1e-6, "frequencies": asked},
        "theory.given_up.AllKept.least_margin": (
            all_kept(0.2, 0.15, 1e-6, asked).least_margin,
            {"p": 0.5},
        ),
        "theory.given_up.ridge_at_weighted_norm": {
            "load": 0.2,
            "r": 0.15,
            "nu": 9.0,
            "frequencies": asked,
        },
        "theory.weighted.solve_weighted": at | {"frequencies": asked},
        "theory.weighted.saddle_of_sums": {
            "values": [1.0, 3.0],
            "counts": [0.3, 0.2],
            "r": 0.2,
            "beta": 5.0,
            "ridge": 0.01,
        },
        "theory.weighted.WeightedSolution.kept": (weighted.kept, {"p": 0.5}),
        "theory.weighted.WeightedSolution.lost": (weighted.lost, {"p": 0.5}),
        "theory.weighted.WeightedSolution.margin": (weighted.margin, {"p": 0.5}),
        "theory.weighted.WeightedSolution.percentile": (weighted.percentile, {"p": 0.5}),
        "theory.weighted_reference.weighted_potential_by_definition": saddle | {"frequencies": asked},
        "theory.weighted_reference.highest_in_chi": {"nu": 1.0, "near": 1.0} | at | {"frequencies": equal()},
        "theory.scalar.solve_scalar": at,
        "theory.scalar.ScalarSolution.margin_cdf": (solution.margin_cdf, {"t": 0.5}),
        "theory.scalar.ScalarSolution.percentile_cdf": (solution.percentile_cdf, {"w": 0.5}),
        "theory.scalar.require_parameters": at,
        "theory.scalar.require_point": at,
        "theory.scalar.broadcast": {"load": 1.0, "r": [0.2, 0.3]},
        "theory.scalar.prox": {"x": 0.5, "chi": 1.0},
        "theory.scalar.scalar_tail_average": {"nu": 1.0, "r": 0.2, "beta": 5.0},
        "theory.scalar.saddle_potential": saddle,
        "theory.scalar.reduced_potential": {"nu": 1.0} | at,
        "theory.scalar.dual_potential": {"nu": 1.0, "solution": solution},
        "theory.scalar.saddle_points": at,
        "theory.scalar.density": {"z": 0.5},
        "theory.scalar_reference.normal_average": {"function": lambda G: G * G},
        "theory.scalar_reference.least_value": {"function": lambda x: x * x, "low": -1.0, "high": 2.0},
        "theory.scalar_reference.potential_by_definition": saddle,
        "theory.scalar_reference.logarithmic_slopes": saddle | {"step": 1e-5},
        "theory.second_order.two_terms": log,
        "theory.second_order.surrogate_series": log,
        "theory.second_order.beyond_leading": log,
        "theory.second_order.local_slope": log,
        "theory.tail_average_reference.tail_average_by_linear_program": {"x": x, "k": 3},
        "theory.tail_average_reference.hessian_blocks": blocks,
        "theory.tail_average_reference.held_hessian": {"U": U, "V": V} | blocks | {"ridge": 0.1},
        "theory.tail_cone.face_moments": {"n": 12, "k": 3, "repeats": 2},
        "theory.tail_lengths.limiting_cost": {"r": 0.2},
        "theory.tail_lengths.simulated_cost": {"n": 12, "k": 3, "d": 6.0, "draws": 4, "seed": 0},
        "theory.tail_lengths.projection_cost": {"g": x[None], "squares": np.ones((1, 12)), "k": 3},
        "theory.unequal_lengths.length_cost": {"n": 50.0, "d": 12.0},
        "theory.uneven_answers.unevenness_cost": {"m": 12},
        "theory.uneven_answers.random_answers_cost": {"m": 12},
        "theory.uneven_answers.pool_averages": {"m": 12},
        "deciding.feasibility.decide_top1": {"pairs": pairs, "max_steps": 20, "max_passes": 30},
        "deciding.feasibility.decide": {
            "pairs": pairs,
            "k": 1,
            "max_steps": 20,
            "max_passes": 30,
            "W0": W,
            "checkpoint": None,
            "report": None,
        },
        "deciding.largest_margin.largest_margin": {
            "pairs": gaussian_pairs(12, 8, seed=1),
            "gap": 1e-2,
            "max_passes": 60,
            "W0": torch.ones(8, 8, dtype=torch.float64),
        },
        "deciding.lists.decide_list": {"pairs": pairs, "r": 0.3, "max_passes": 300},
        "deciding.lists.verify_list": {"certificate": listed, "pairs": pairs, "r": 0.3},
        "deciding.feasibility.verify": {
            "certificate": certificate,
            "pairs": gaussian_pairs(12, 8, seed=1),
        },
        "capacity.examine.capacity_report": {
            "facts": pairs,
            "k": 2,
            "key_names": list("abcdefghijkl"),
            "target_names": list("ABCDEFGHIJKL"),
            "decisions": 2,
            "folder": None,
        },
        "capacity.scoring.score_rule": {"write": lambda U, V: U @ V.T, "n": 12, "instances": 2},
        "experiments.explicit.constructions.nested_pairs": {"n": 12, "seed": 1},
        "experiments.ladder.fewest.fewest_dimensions": {"n": 12, "seed": 1},
        "capacity.named_facts.read_facts": {
            **{"keys": saved("keys", V.T), "targets": saved("targets", U.T)},
            "answers": saved("answers", np.arange(12)),
            "key_names": saved("names", np.array(list("abcdefghijkl"))),
            "target_names": None,
            "columns": False,
            "one_answer": False,
        },
    }


def function_and_arguments(name):
    """A function by its place in the table, with its good arguments."""
    entry = calls()[name]
    if isinstance(entry, tuple):
        return entry
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"assocmem.{module}"), function), entry


def public_functions():
    """Names of the functions of the rooms that are no kernels, as in the table."""
    for room in ROOMS:
        package = importlib.import_module(f"assocmem.{room}")
        for info in pkgutil.iter_modules(package.__path__):
            if info.name in (*KERNELS, *FILES):
                continue
            module = importlib.import_module(f"assocmem.{room}.{info.name}")
            for name, value in vars(module).items():
                mine = getattr(value, "__module__", None) == module.__name__
                door = not name.startswith("_") and name not in KERNELS
                if mine and door and callable(value) and not inspect.isclass(value):
                    yield f"{room}.{info.name}.{name}"


def trials():
    """Every argument of every function with every hostile value: (name, argument, label)."""
    labels = list(hostile_values())
    return [
        (name, argument, label)
        for name in calls()
        for argument in function_and_arguments(name)[1]
        for label in labels
        if not (label == "function" and callable(function_and_arguments(name)[1][argument]))
    ]


def fault_of(name, argument, label):
    """What is wrong with the outcome of a call, or None."""
    function, good = function_and_arguments(name)
    arguments = {key: fresh(value) for key, value in good.items()} | {argument: hostile_values()[label]}
    if name == "pairs.data.require_array":
        arguments |= {"name": "X", "shape": (4, 4)}
    where = f"{name}({argument} = {label})"
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", RuntimeWarning)  # what they warn of shows in the result
            result = function(**arguments)
            result = list(result) if inspect.isgenerator(result) else result
    except ValueError as error:
        return refusal_fault(where, error, arguments)
    except TimeoutError:
        return f"{where}: not done after {SECONDS} s"
    except Exception as error:
        if type(error).__name__ in documented(function) and raised_here(error):
            return None
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return f"{where}: {type(error).__name__} at {place}: {str(error)[:80]!r}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return f"{where}: nan in the result" if name not in CARRIERS and has_nan(result) else None


def refusal_fault(where, error, arguments):
    """What is wrong with a refusal, or None: one line of the package that names an argument."""
    text = str(error)
    if not raised_here(error):
        return f"{where}: a ValueError from inside: {text[:80]!r}"
    if "\n" in text or len(text) > 400:
        return f"{where}: more than a line: {text[:80]!r}"
    if not any(re.search(rf"\b{key}\b", text) for key in arguments):
        return f"{where}: names no argument: {text[:80]!r}"
    return None


def raised_here(error):
    """Whether an exception was raised by a line of the package."""
    return traceback.extract_tb(error.__traceback__)[-1].filename.startswith(PACKAGE)


def documented(function):
    """Exceptions, other than `ValueError`, that the docstring of a function names."""
    section = (inspect.getdoc(function) or "").partition("Raises\n------\n")[2]
    return re.findall(r"^(\w+Error)$", section, flags=re.MULTILINE)


def fresh(value):
    """An argument that a call may overwrite."""
    return value.clone() if isinstance(value, torch.Tensor) else value


def has_nan(result):
    """Whether a result, or anything that it holds, is not a number."""
    if isinstance(result, torch.Tensor):
        on_device = result.device.type == "meta" or not result.is_floating_point()
        return False if on_device or result.is_sparse else bool(result.isnan().any())
    if isinstance(result, float | np.floating | np.ndarray):
        array = np.asarray(result)
        return array.dtype.kind == "f" and bool(np.isnan(array).any())
    if isinstance(result, dict):
        return any(has_nan(x) for x in result.values())
    if isinstance(result, list | tuple):
        return any(has_nan(x) for x in result)
    if dataclasses.is_dataclass(result) and not isinstance(result, type | Problem | Pairs):
        return any(has_nan(getattr(result, field.name)) for field in dataclasses.fields(result))
    return False


@pytest.fixture
def alarm(tmp_path, monkeypatch):
    """A call that hangs ends in a TimeoutError, and files that calls write lie in a folder of their own."""

    def ring(*_):
        raise TimeoutError

    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.signal(signal.SIGALRM, before)


def test_every_public_function_is_in_the_table():
    face = {
        f"{value.__module__.removeprefix('assocmem.')}.{name}"
        for name in assocmem.__all__
        if callable(value := getattr(assocmem, name)) and not inspect.isclass(value)
    }
    assert face | set(public_functions()) <= set(calls())


@pytest.mark.parametrize("name", sorted(set(calls()) - SEARCHES))
def test_the_arguments_of_the_table_are_good(name):
    function, arguments = function_and_arguments(name)
    extra = {"name": "X", "shape": (4, 4)} if name == "pairs.data.require_array" else {}
    result = function(**{key: fresh(value) for key, value in arguments.items()}, **extra)
    assert not has_nan(list(result) if inspect.isgenerator(result) else result)


def test_a_sample_of_hostile_calls_ends_in_an_answer_or_a_sentence(alarm):
    sample = [trial for trial in random.Random(0).sample(trials(), 150) if trial[0] not in SEARCHES]
    faults = [fault for trial in sample if (fault := fault_of(*trial))]
    assert not faults, "\n".join(faults)


@pytest.mark.faults
def test_hostile_calls_end_in_an_answer_or_a_sentence(alarm, report_trials):
    everything = trials()
    faults = [fault for trial in everything if (fault := fault_of(*trial))]
    report_trials("one hostile argument of a public function", len(everything), faults)
