"""Doubts in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from predictor.engine.doubts import graph_doubts, rare_operators
from predictor.graph.operator_graph import OperatorGraph
from tests.support.graphs import UNKNOWN, Op, make_graph

FAMILIES = {"Conv": 9, "Gemm": 4, "Einsum": 1}
FACTS = {"fp32_tflops": 2.0, "dram_bw_gbps": 100.0, "l2_kb": 500.0, "clock_mhz": 1000.0}


def network(*types: str, flags: int = 0) -> OperatorGraph:
    return replace(make_graph([Op(macs=1, flags=flags) for _ in types]), op_types=types)


def doubts(graph: OperatorGraph, *shares: float) -> list[str]:
    rare = np.flatnonzero(rare_operators(graph.op_types, FAMILIES))
    return graph_doubts(graph, rare, np.array([sum(shares[place] for place in rare.tolist())]))


def test_operators_that_it_knows_raise_no_doubt() -> None:
    assert doubts(network("Conv", "Gemm"), 0.5, 0.5) == [""]


def test_much_time_in_operators_that_hardly_any_network_has() -> None:
    words = doubts(network("Conv", "Einsum", "Mystery"), 0.16, 0.44, 0.40)

    assert words == [
        "84 % of the time is in operators that hardly any training network has (Einsum, Mystery)"
    ]


def test_little_time_in_them_is_no_doubt_and_each_target_is_asked_apart() -> None:
    found = graph_doubts(network("Conv", "Einsum"), np.array([1]), np.array([0.1, 0.5]))

    assert found[0] == ""
    assert found[1].startswith("50 % of the time")


def test_more_than_three_are_not_all_listed() -> None:
    words = doubts(network("A", "B", "C", "D"), 0.25, 0.25, 0.25, 0.25)

    assert words[0].endswith("(A, B, C and others)")


def test_work_that_cannot_be_counted_is_said() -> None:
    assert doubts(network("Conv", flags=UNKNOWN), 1.0) == ["contains operators of unknown cost"]
