"""Bytes that operators move and memory that activations take, worked by hand."""

import pytest
from onnx import TensorProto

from predictor.graph.operators import DTYPE_BITS, DTYPE_CODE, DTYPES, OPERATORS, tensor_bytes
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def graph_of(b):
    return ingest_proto(b.model()).graph


def traffic(graph, index):
    return tuple(int(a[index]) for a in (graph.bytes_read, graph.weight_bytes, graph.bytes_written))


def test_a_dense_layer_moves_input_weights_and_output():
    b = Builder()
    x = b.input("x", [2, 8])
    b.output(b.node("Gemm", [x, b.weight(8, 4), b.weight(4)], ["y"]))
    assert traffic(graph_of(b), 0) == (2 * 8 * 4, (32 + 4) * 4, 2 * 4 * 4)


def test_a_value_read_twice_by_one_operator_is_read_once():
    b = Builder()
    x = b.input("x", [10])
    b.output(b.node("Mul", [x, x], ["y"]))
    assert traffic(graph_of(b), 0) == (40, 0, 40)


@pytest.mark.parametrize(
    ("onnx_type", "size"),
    [
        (TensorProto.FLOAT16, 2),
        (TensorProto.BFLOAT16, 2),
        (TensorProto.DOUBLE, 8),
        (TensorProto.FLOAT, 4),
    ],
)
def test_element_sizes(onnx_type, size):
    b = Builder()
    b.input("x", [3, 5], onnx_type)
    b.output(b.node("Relu", ["x"], ["y"]), dtype=onnx_type)
    graph = graph_of(b)
    assert traffic(graph, 0) == (15 * size, 0, 15 * size)
    assert graph.input_bytes == graph.output_bytes == 15 * size


def test_packed_types_round_up_to_whole_bytes():
    assert tensor_bytes(DTYPE_CODE["int4"], 3) == 2
    assert tensor_bytes(DTYPE_CODE["uint2"], 5) == 2
    assert tensor_bytes(DTYPE_CODE["float8"], 5) == 5


def test_tables_are_complete_and_unique():
    assert len(DTYPE_BITS) == len(DTYPES) == len(set(DTYPES))
    assert len(OPERATORS) == len(set(OPERATORS))
    assert OPERATORS[0] == "Unknown"


def test_an_embedding_reads_the_rows_that_are_asked_for():
    b = Builder()
    ids = b.input("ids", [1, 6], TensorProto.INT64)
    b.output(b.node("Gather", [b.weight(1000, 16), ids], ["y"]))
    graph = graph_of(b)
    assert traffic(graph, 0) == (6 * 8, 6 * 16 * 4, 6 * 16 * 4)
    assert graph.parameters == 16000
    assert graph.weights_total_bytes == 64000


def test_a_slice_reads_what_it_gives_out():
    b = Builder()
    x = b.input("x", [100, 4])
    b.output(b.node("Slice", [x, b.constant([0]), b.constant([5])], ["y"]))
    assert traffic(graph_of(b), 0) == (80, 0, 80)


def test_outputs_that_nobody_reads_are_not_written():
    b = Builder()
    x = b.input("x", [5, 1, 8])
    weights = [b.weight(1, 16, 8), b.weight(1, 16, 4)]
    b.output(b.node("LSTM", [x, *weights], ["all", "last", "cell"], hidden_size=4))
    assert traffic(graph_of(b), 0)[2] == 5 * 4 * 4


def test_peak_memory_is_the_largest_sum_of_live_values():
    b = Builder()
    x = b.input("x", [10])
    a = b.node("Relu", [x])  # x and a live: 80
    wide = b.node("Expand", [b.node("Exp", [a]), b.constant([10, 10])])  # a, exp, wide
    b.output(b.node("Add", [wide, a], ["y"]))  # a 40, wide 400, y 400
    assert graph_of(b).peak_activation_bytes == 840


def test_fused_and_viewing_operators_take_no_memory_of_their_own():
    b = Builder()
    x = b.input("x", [1, 1, 4, 4])
    out = b.node("Relu", [b.conv(x, 1, 1, 1)])
    flat = b.node("Reshape", [out, b.constant([16])])
    b.output(b.node("Exp", [flat], ["y"]))
    assert graph_of(b).peak_activation_bytes == 128
