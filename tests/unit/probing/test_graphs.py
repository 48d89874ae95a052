"""The graphs of the pool's networks, which ship beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

from predictor.core.errors import HostError
from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import cost_by_kind, load_pool
from predictor.probing.networks.reference import is_reference
from predictor.probing.networks.spaces import operator_graph_of, write_network
from predictor.services.models.ingestion import IngestionWorker


def test_every_network_of_the_pool_has_its_graph() -> None:
    for network in load_pool():
        graph = pool_graph(network.fingerprint)
        assert graph is not None
        assert graph.fingerprint == network.fingerprint
        assert graph.parameters == network.parameters
        assert cost_by_kind(graph) == network.cost


def test_a_graph_is_the_one_that_its_code_builds() -> None:
    network = next(n for n in load_pool() if n.space == "operator")
    built = operator_graph_of(network.space, network.code)
    found = pool_graph(network.fingerprint)
    assert found is not None
    assert found.to_bytes() == built.to_bytes()


def test_other_fingerprints_have_none() -> None:
    assert pool_graph("0" * 64) is None


def test_graphs_are_read_without_onnx() -> None:
    code = (
        "import sys\n"
        "from predictor.probing.networks.graphs import pool_graph\n"
        "from predictor.probing.networks.pool import load_pool\n"
        "assert pool_graph(load_pool()[0].fingerprint) is not None\n"
        "assert 'onnx' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("damage", [b"", b"PK no archive"])
def test_a_damaged_file_says_so(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "graphs.zip"
    path.write_bytes(damage)
    with pytest.raises(HostError, match="install again"):
        pool_graph("0" * 64, path)


def test_the_file_of_a_reference_network_keeps_its_fingerprint(tmp_path: Path) -> None:
    network = load_pool()[0]
    path = tmp_path / "network.onnx"
    write_network(path, network.space, network.code)

    with IngestionWorker() as worker:
        graph = worker.ingest(path).graph

    assert (graph.fingerprint, graph.former_fingerprint) == (network.fingerprint, "")
    assert is_reference(network.fingerprint)
    assert not is_reference("0" * 64)
    assert not is_reference("")
