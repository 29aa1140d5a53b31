"""What the live memory of the opening page is given: every verdict proved, and the script written once."""

import json

import numpy as np
import pytest
import torch

from assocmem.book import live_instances
from assocmem.book.data_scripts import INSTANCES, write_data_script
from assocmem.deciding.certificates import Certificate
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.pairs.data import Pairs

LARGEST = 100_000  # bytes of the script


@pytest.fixture(scope="module")
def instances(once):
    return once("instances", live_instances.live_instances)


def first(draw, n, d):
    """The first n pairs of a draw in d dimensions, as integers."""
    return Pairs(*(torch.tensor(draw[name], dtype=torch.float64).T[:d, :n].contiguous() for name in "UV"))


def proof_weights(pairs, proof):
    """The weights that make the sum over these comparisons zero, from a singular value decomposition."""
    U, V, (j, i) = pairs.U.numpy(), pairs.V.numpy(), np.transpose(proof)
    A = ((U[:, i] - U[:, j])[:, None] * V[:, i][None]).reshape(-1, len(proof))
    null = np.linalg.svd(A)[2][-1]
    assert np.linalg.matrix_rank(A) == len(proof) - 1  # no others do, up to a factor
    weights = np.zeros((pairs.n, pairs.n))
    weights[j, i] = null / null[-1]
    return weights


def test_they_are_plain_data_of_gaussian_pairs(instances):
    assert json.loads(json.dumps(instances)) == instances
    for draw, seed in zip(instances["draws"], live_instances.SEEDS, strict=True):
        assert [v["d"] for v in draw["verdicts"]] == list(range(2, 13))
        for X, name in zip(live_instances.integer_pairs(seed), "UV", strict=True):
            assert np.array_equal(np.array(draw[name]).T, X)
            assert X.std() == pytest.approx(live_instances.UNIT, rel=0.1)


def test_every_memory_retrieves_in_integers_and_for_the_verifier(instances):
    for draw in instances["draws"]:
        for verdict in draw["verdicts"]:
            d, n = verdict["d"], verdict["n"]
            W = np.array(verdict["W"]).reshape(d, d)
            U, V = (np.array(draw[name])[:n, :d].T for name in "UV")
            sizes = np.abs(U.T) @ np.abs(W) @ np.abs(V)
            assert sizes.max() < 2**53  # so that nothing is rounded in a browser
            S = U.T @ W @ V
            assert all(S[i, i] > S[j, i] for i in range(n) for j in range(n) if i != j)
            assert verify(Certificate(1, W=W.astype(float)), first(draw, n, d))


def test_every_proof_is_exact_and_determines_its_weights(instances):
    for draw in instances["draws"]:
        for verdict in draw["verdicts"]:
            pairs = first(draw, verdict["n"] + 1, verdict["d"])
            weights = proof_weights(pairs, verdict["proof"])
            assert len(verdict["proof"]) <= pairs.d**2 + 1
            assert weights.max() == weights[tuple(verdict["proof"][-1])]
            assert weights[weights != 0].min() > 1e-7
            certificate = Certificate(1, weights=weights)
            assert verify(certificate, pairs)
            assert holds_exactly(certificate, pairs)
            weights[tuple(verdict["proof"][0])] = 0
            assert not verify(Certificate(1, weights=weights), pairs)  # without any one comparison it is none


def test_the_search_of_the_package_decides_the_same(instances):
    for draw in instances["draws"]:
        for verdict in draw["verdicts"]:
            n, d = verdict["n"], verdict["d"]
            assert decide_top1(first(draw, n, d)).feasible is True
            assert decide_top1(first(draw, n + 1, d)).feasible is False


def test_more_dimensions_retrieve_at_least_as_many_pairs(instances):
    for draw in instances["draws"]:
        counts = [verdict["n"] for verdict in draw["verdicts"]]
        assert counts == sorted(counts)
        assert all(d <= n < 40 for d, n in enumerate(counts, 2))


def test_where_all_pairs_fit_there_is_no_proof():
    U, V = live_instances.integer_pairs(2)
    n, W, proof = live_instances.last_retrievable(U[:, :12], V[:, :12], 2)
    assert (n, proof) == (12, [])
    assert W.shape == (12, 12)
    with pytest.raises(ArithmeticError, match="no proof for the first 30 pairs in dimension 3"):
        live_instances.last_retrievable(U[:3], V[:3], 30)


def test_the_script_is_written_once(tmp_path, monkeypatch, instances):
    path = tmp_path / "data" / "live_memory.js"
    monkeypatch.setattr(live_instances, "live_instances", lambda: instances)
    write_data_script(INSTANCES, path)
    head, script = path.read_text().splitlines()
    assert head.startswith("// made by assocmem.book.live_instances from ")
    assert json.loads(script.partition(".liveInstances = ")[2].rstrip(";")) == instances
    assert path.stat().st_size < LARGEST
    monkeypatch.setattr(live_instances, "live_instances", lambda: pytest.fail("made again"))
    write_data_script(INSTANCES, path)
