"""A profile's entries as times of a graph's operators: hand-worked."""

from __future__ import annotations

import numpy as np
import pytest

from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import load_pool
from predictor.probing.operator_times import OperatorTime
from predictor.services.signatures.user_signatures import times_of_operators
from tests.support.graphs import Op, make_graph

GRAPH = make_graph([Op(macs=10**6, read=9, written=9)] * 3)


def entries(**time_ms: float) -> list[OperatorTime]:
    return [OperatorTime(name, "MatMul", value) for name, value in time_ms.items()]


def test_what_the_profiler_adds_is_taken_off_each_entry_alike() -> None:
    # 0.33 ms with the profiler and 0.30 without: 0.01 of each of three entries is the profiler's.
    found = times_of_operators(GRAPH, entries(op_0=0.21, op_1=0.11, op_2=0.01), 0.30)

    assert found is not None
    assert list(found.groups) == [(0,), (1,), (2,)]
    # The last keeps a fifth: 0.2 + 0.1 + 0.002 are made to sum to 0.30.
    np.testing.assert_allclose(found.time_ms, np.array([0.2, 0.1, 0.002]) * 0.30 / 0.302)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ReorderOutput", [3.0, 1.0]), ("ReorderInput", [2.0, 2.0]), ("gemm_reshape", [3.0, 1.0])],
)
def test_what_the_runtime_put_in_counts_for_its_neighbour(name: str, expected: list[float]) -> None:
    profile = [
        OperatorTime("op_0", "Relu", 2.0),
        OperatorTime(name, name, 1.0),
        OperatorTime("op_2", "Relu", 1.0),
    ]

    found = times_of_operators(GRAPH, profile, 4.0)

    assert found is not None
    assert found.time_ms.tolist() == expected
    assert all(0 in group or 2 in group for group in found.groups)


def test_what_comes_first_or_last_counts_for_what_there_is() -> None:
    profile = [
        OperatorTime("ReorderOutput", "ReorderOutput", 1.0),
        OperatorTime("op_1", "Relu", 2.0),
        OperatorTime("ReorderInput_2", "ReorderInput", 3.0),
    ]

    found = times_of_operators(GRAPH, profile, 6.0)

    assert found is not None
    assert found.time_ms.tolist() == [6.0]


def test_a_profile_of_another_network_tells_nothing() -> None:
    assert times_of_operators(GRAPH, entries(elsewhere=1.0), 1.0) is None
    assert times_of_operators(GRAPH, [], 1.0) is None
    assert times_of_operators(GRAPH, entries(op_0=0.0), 1.0) is None


def test_a_convolution_that_the_runtime_made_of_three_nodes_is_one_group() -> None:
    network = next(each for each in load_pool() if each.name == "grouped-07")
    graph = pool_graph(network.fingerprint)
    assert graph is not None
    profile = [
        OperatorTime("ReorderInput", "ReorderInput", 0.012),
        OperatorTime("block0.relu1:0_nchwc", "Conv", 0.537),
        OperatorTime("block0.b", "FusedConv", 0.626),
        OperatorTime("block0.c:0_nchwc", "Conv", 0.545),
    ]

    found = times_of_operators(graph, profile, 1.72)

    assert found is not None
    assert [[graph.names[place] for place in group] for group in found.groups[:2]] == [
        ["block0.a", "block0.relu1"],
        ["block0.b", "block0.relu2"],
    ]
    assert found.time_ms[0] == pytest.approx(0.012 + 0.537)  # with the tensor turned over for it
    assert sum(found.time_ms) == pytest.approx(1.72)
