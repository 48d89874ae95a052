"""Doubts in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from predictor.core.metrics import Family
from predictor.core.records import Precision
from predictor.engine.checkpoint import Experience
from predictor.engine.doubts import device_doubt, graph_doubts
from predictor.graph.operator_graph import OperatorGraph
from tests.unit.cost.graphs import UNKNOWN, Op, make_graph, make_target

EXPERIENCE = Experience(
    {"Conv": 9, "Gemm": 4, "Einsum": 1},
    {
        "family gpu": 4,
        "precision fp32": 4,
        "runtime pytorch": 5,
        "runtime ncnn": 4,
        "runtime qnn": 1,
    },
    {"fp32_tflops": (np.log(1.0), np.log(10.0))},
)
FACTS = {"fp32_tflops": 2.0, "dram_bw_gbps": 100.0, "l2_kb": 500.0, "clock_mhz": 1000.0}


def network(*types: str, flags: int = 0) -> OperatorGraph:
    return replace(make_graph([Op(macs=1, flags=flags) for _ in types]), op_types=types)


def doubts(graph: OperatorGraph, *shares: float) -> list[str]:
    return graph_doubts(graph, np.arange(len(graph)), np.array([shares]).T, EXPERIENCE)


def test_operators_that_it_knows_raise_no_doubt() -> None:
    assert doubts(network("Conv", "Gemm"), 0.5, 0.5) == [""]


def test_much_time_in_operators_that_hardly_any_network_has() -> None:
    words = doubts(network("Conv", "Einsum", "Mystery"), 0.16, 0.44, 0.40)

    assert words == [
        "84 % of the time is in operators that hardly any training network has (Einsum, Mystery)"
    ]


def test_little_time_in_them_is_no_doubt_and_each_target_is_asked_apart() -> None:
    shares = np.array([[0.9, 0.5], [0.1, 0.5]])

    found = graph_doubts(network("Conv", "Einsum"), np.arange(2), shares, EXPERIENCE)

    assert found[0] == ""
    assert found[1].startswith("50 % of the time")


def test_more_than_three_are_not_all_listed() -> None:
    words = doubts(network("A", "B", "C", "D"), 0.25, 0.25, 0.25, 0.25)

    assert words[0].endswith("(A, B, C and others)")


def test_work_that_cannot_be_counted_is_said() -> None:
    assert doubts(network("Conv", flags=UNKNOWN), 1.0) == [
        "it has operators whose work cannot be counted"
    ]


def test_a_device_like_those_learned_from_raises_no_doubt() -> None:
    assert device_doubt(make_target(FACTS), EXPERIENCE) == ""


def test_a_device_of_which_hardly_anything_is_known() -> None:
    words = device_doubt(make_target({"fp32_tflops": 2.0}), EXPERIENCE)

    assert words == "only 1 fact of the device is known"
    assert "only 2 facts of the device are known" in device_doubt(make_target(), EXPERIENCE)


def test_a_family_and_a_precision_that_it_has_not_learned_from() -> None:
    target = make_target(FACTS, family=Family.NPU, precision=Precision.INT8)

    assert device_doubt(target, EXPERIENCE) == (
        "no device of the family npu is among what it has learned from; "
        "no run in int8 is among what it has learned from"
    )


def test_a_runtime_that_hardly_any_device_was_learned_with() -> None:
    def words(runtime: str) -> str:
        return device_doubt(make_target(FACTS, runtime=runtime), EXPERIENCE)

    assert words("pytorch") == ""
    assert words("ncnn") == "only 4 of the devices that it has learned from ran ncnn"
    assert words("qnn") == "only one device that it has learned from ran qnn"
    assert words("openvino") == "no run on openvino is among what it has learned from"


def test_a_fact_outside_the_range_of_all_training_devices() -> None:
    def words(tflops: float) -> str:
        return device_doubt(make_target({**FACTS, "fp32_tflops": tflops}), EXPERIENCE)

    assert words(19.9) == ""  # within a factor of two
    assert words(21.0) == "its FP32 peak is above that of every device learned from"
    assert words(0.4) == "its FP32 peak is below that of every device learned from"
