"""Forms of graphs, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from predictor.engine.run_graphs import parts_of, with_casts
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPES, OPERATOR_CODE
from tests.support.graphs import FUSED, QUANTISED, VIEW, Op, make_graph

CONV = Op(macs=900, read=10, weights=20, written=5, dtype="int8", flags=QUANTISED)
QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"


def graph_of(*operators: tuple[str, Op]) -> OperatorGraph:
    graph = make_graph([op for _, op in operators], input_bytes=8, output_bytes=4)
    codes = np.array([OPERATOR_CODE[name] for name, _ in operators], np.int16)
    return replace(graph, op_code=codes, op_types=tuple(name for name, _ in operators))


def launched(graph: OperatorGraph) -> list[bool]:
    return (~graph.has_flag(OperatorFlag.FUSED | OperatorFlag.VIEW)).tolist()


def test_integers_have_the_form_of_floats_of_four_times_their_bytes() -> None:
    graph = graph_of(
        (QUANTIZE, Op(read=40, written=10)),
        ("QLinearConv", CONV),
        (DEQUANTIZE, Op(read=5, written=20)),
    )
    parts = parts_of(graph)
    assert parts is not None
    form = parts.integers
    assert launched(form) == [False, True, False]
    assert (form.bytes_read[1], form.weight_bytes[1], form.bytes_written[1]) == (40, 80, 20)
    assert (form.op_types[1], form.op_code[1]) == ("Conv", OPERATOR_CODE["Conv"])
    assert DTYPES[form.dtype[1]] == "float32"
    assert not form.has_flag(OperatorFlag.QUANTISED).any()
    assert form.weights_total_bytes == 4 * 20
    # Conversions at the ends of the graph are parts of the convolution.
    assert parts.floats is None
    assert parts.share == 1.0
    assert form.bytes_moved.tolist() == [0, 140, 0]


def test_float_operators_and_the_conversions_at_them_stay() -> None:
    graph = graph_of(
        ("Conv", Op(macs=100, read=8, weights=4, written=40)),
        ("Relu", Op(flags=FUSED, fused_into=0)),
        ("Reshape", Op(flags=VIEW)),
        (QUANTIZE, Op(read=40, written=10)),
        ("Conv", CONV),
        (DEQUANTIZE, Op(read=5, written=20)),
    )
    parts = parts_of(graph)
    assert parts is not None
    assert parts.floats is not None
    assert parts.share == 0.9
    assert launched(parts.integers) == [False, False, False, False, True, False]
    assert launched(parts.floats) == [True, False, False, True, False, False]
    assert parts.floats.macs.tolist() == [100, 0, 0, 0, 0, 0]
    assert parts.integers.macs.tolist() == [0, 0, 0, 0, 900, 0]
    assert parts.floats.bytes_moved.tolist() == [52, 0, 0, 50, 0, 0]


def test_scales_that_are_chosen_at_run_time_cost() -> None:
    graph = graph_of(
        ("DynamicQuantizeLinear", Op(read=40, written=10)),
        ("MatMulInteger", replace(CONV, dtype="uint8")),
    )
    parts = parts_of(graph)
    assert parts is not None
    assert parts.floats is not None
    assert launched(parts.floats) == [True, False]
    assert parts.integers.op_types == ("DynamicQuantizeLinear", "MatMul")


def test_a_float_graph_has_no_parts() -> None:
    assert parts_of(graph_of(("Conv", Op(macs=1)))) is None
    # Quantised but for its products: nothing of it is of integers.
    assert parts_of(graph_of(("MaxPool", Op(read=1, flags=QUANTISED, dtype="int8")))) is None


def test_casts_read_halves_and_write_floats_at_the_ends() -> None:
    floats = graph_of(
        ("Conv", Op(macs=100, read=8, weights=4, written=40)),
        ("Relu", Op(read=40, written=4)),
    )
    halves = replace(
        graph_of(
            ("Conv", Op(macs=100, read=4, weights=2, written=20, dtype="float16")),
            ("Relu", Op(read=20, written=2, dtype="float16")),
        ),
        input_bytes=4,
        output_bytes=2,
    )
    for graph in (floats, halves):
        run = with_casts(graph)
        # Two floats come in: 2 x (2 + 4) bytes. One goes out.
        assert run.bytes_read.tolist() == [8 + 12, 40]
        assert run.weight_bytes.tolist() == [4, 0]
        assert run.bytes_written.tolist() == [40, 4 + 6]
        assert [DTYPES[code] for code in run.dtype] == ["float32", "float32"]
        assert run.weights_total_bytes == 4
    nothing = graph_of(("Reshape", Op(flags=VIEW)))
    assert with_casts(nothing).bytes_moved.tolist() == [0]
