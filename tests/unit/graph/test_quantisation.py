"""Integer graphs: QDQ, QOperator and dynamic forms of the same layers."""

import numpy as np
from onnx import TensorProto

from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import DTYPES
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto

_INT8, _UINT8 = TensorProto.INT8, TensorProto.UINT8


class QuantisedBuilder(Builder):
    """Adds quantisation and dequantisation with constant scales."""

    def scale(self):
        return [self.constant(np.float32(0.1), np.float32), self.constant(np.uint8(0), np.uint8)]

    def quantise(self, value):
        return self.node("QuantizeLinear", [value, *self.scale()])

    def dequantise(self, value):
        return self.node("DequantizeLinear", [value, *self.scale()])

    def integer_weight(self, *dims):
        scale = self.constant(np.float32(0.1), np.float32)
        return self.node("DequantizeLinear", [self.tensor(dims, _INT8), scale])


def flags(graph, index):
    return OperatorFlag(int(graph.flags[index]))


def qdq_network():
    b = QuantisedBuilder()
    x = b.dequantise(b.quantise(b.input("x", [1, 3, 8, 8])))
    out = b.node("Relu", [b.node("Conv", [x, b.integer_weight(4, 3, 1, 1)])])
    out = b.dequantise(b.quantise(out))
    out = b.node("MaxPool", [out], kernel_shape=[2, 2], strides=[2, 2])
    b.output(b.dequantise(b.quantise(out)))
    return ingest_proto(b.model()).graph


def row(graph, op_type):
    return graph.op_types.index(op_type)


def test_a_convolution_between_conversions_is_an_integer_one():
    graph = qdq_network()
    conv = row(graph, "Conv")
    assert flags(graph, conv) == OperatorFlag.QUANTISED
    assert DTYPES[graph.dtype[conv]] == "uint8"
    # 3 x 64 and 4 x 64 activations and 12 weights, one byte each; the weights' scale has 4.
    assert graph.bytes_read[conv] == 192
    assert graph.weight_bytes[conv] == 12 + 4
    assert graph.bytes_written[conv] == 256


def test_conversions_around_it_run_inside_it():
    graph = qdq_network()
    conv = row(graph, "Conv")
    fused = {graph.op_types[i] for i in np.flatnonzero(graph.fused_into == conv)}
    assert fused == {"DequantizeLinear", "Relu", "QuantizeLinear"}
    assert not graph.bytes_moved[graph.fused_into == conv].any()


def test_operators_that_move_integers_move_single_bytes():
    graph = qdq_network()
    pool = row(graph, "MaxPool")
    assert graph.bytes_read[pool] == 256
    assert graph.bytes_written[pool] == 64


def test_conversions_at_the_borders_stay():
    graph = qdq_network()
    kept = [t for t, host in zip(graph.op_types, graph.fused_into, strict=True) if host < 0]
    assert kept == ["QuantizeLinear", "Conv", "MaxPool", "DequantizeLinear"]


def test_a_float_reader_keeps_the_conversion():
    b = QuantisedBuilder()
    x = b.dequantise(b.quantise(b.input("x", [1, 3, 8, 8])))
    out = b.quantise(b.node("Conv", [x, b.integer_weight(4, 3, 1, 1)]))
    b.output(out, dtype=_UINT8)
    b.output(b.node("Exp", [x]))
    graph = ingest_proto(b.model()).graph
    assert graph.fused_into[row(graph, "DequantizeLinear")] == -1


def test_a_product_with_float_activations_is_no_integer_one():
    b = QuantisedBuilder()
    b.output(b.node("MatMul", [b.input("x", [2, 8]), b.integer_weight(8, 4)], ["y"]))
    graph = ingest_proto(b.model()).graph
    assert flags(graph, 0) == 0
    assert graph.weight_bytes.tolist() == [32 + 4]
    assert graph.parameters == 32
    assert graph.weights_total_bytes == 32 + 4


def test_operators_that_are_integer_by_definition():
    b = QuantisedBuilder()
    x = b.input("x", [1, 3, 8, 8], _UINT8)
    scale, zero = b.scale()
    weights = [b.tensor([4, 3, 3, 3], _INT8), scale, b.constant(np.int8(0), np.int8)]
    out = b.node("QLinearConv", [x, scale, zero, *weights, scale, zero])
    added = b.node(
        "QLinearAdd", [out, scale, zero, out, scale, zero, scale, zero], domain="com.microsoft"
    )
    b.output(added, dtype=_UINT8)
    graph = ingest_proto(b.model()).graph
    assert graph.macs.tolist() == [36 * 4 * 27, 0]
    assert [DTYPES[d] for d in graph.dtype] == ["uint8", "uint8"]
    assert flags(graph, 0) & OperatorFlag.QUANTISED
    assert flags(graph, 1) & OperatorFlag.QUANTISED
    assert graph.bytes_written.tolist() == [144, 144]


def test_dynamic_quantisation_multiplies_integers():
    b = QuantisedBuilder()
    x = b.input("x", [5, 16])
    b.node("DynamicQuantizeLinear", [x], ["q", "s", "z"])
    product = b.node("MatMulInteger", ["q", b.tensor([16, 8], _INT8), "z"])
    real = b.node("Cast", [product], to=TensorProto.FLOAT)
    b.output(b.node("Mul", [real, "s"], ["y"]))
    graph = ingest_proto(b.model()).graph
    index = row(graph, "MatMulInteger")
    assert graph.macs[index] == 5 * 16 * 8
    assert flags(graph, index) & OperatorFlag.QUANTISED
    assert graph.bytes_read[index] == 5 * 16 + 1


def test_quantised_attention_and_gemm():
    b = QuantisedBuilder()
    x = b.input("x", [1, 8, 16], _UINT8)
    scale, zero = b.scale()
    weights = b.tensor([16, 48], _INT8)
    attended = b.node(
        "QAttention",
        [x, weights, b.weight(48), scale, scale, "", zero, b.constant(np.int8(0), np.int8)],
        domain="com.microsoft",
        num_heads=2,
    )
    b.output(attended)
    graph = ingest_proto(b.model()).graph
    assert graph.macs.tolist() == [8 * 16 * 48 + 2 * 2 * 8 * 8 * 8]
    assert graph.output_shape(0) == (1, 8, 16)
    assert DTYPES[graph.dtype[0]] == "uint8"
