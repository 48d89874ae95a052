"""Clean-up: constants, no-ops, dead nodes, batch normalisation, epilogues, views."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from predictor.graph.operator_graph import OperatorFlag
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def graph_of(b):
    return ingest_proto(b.model()).graph


def test_chains_that_make_a_weight_are_folded_into_it():
    b = Builder()
    x = b.input("x", [4, 8])
    stored = b.weight(16, 8, dtype=TensorProto.FLOAT16)
    cast = b.node("Cast", [stored], to=TensorProto.FLOAT)
    turned = b.node("Transpose", [cast], perm=[1, 0])
    b.output(b.node("MatMul", [x, turned], ["y"]))
    graph = graph_of(b)
    assert graph.op_types == ("MatMul",)
    assert graph.parameters == 128
    assert graph.weights_total_bytes == 256
    assert graph.weight_bytes.tolist() == [512]


def test_a_weight_that_two_operators_share_counts_once():
    b = Builder()
    x = b.input("x", [4, 8])
    shared = b.weight(8, 8)
    hidden = b.node("MatMul", [x, shared])
    b.output(b.node("MatMul", [hidden, b.node("Transpose", [shared])], ["y"]))
    graph = graph_of(b)
    assert graph.parameters == 64
    assert graph.weight_bytes.tolist() == [256, 256]


def test_shape_arithmetic_vanishes():
    b = Builder()
    x = b.input("x", ["batch", 8, 4, 4])
    size = b.node("Gather", [b.node("Shape", [x]), b.constant(0)], axis=0)
    size = b.node("Unsqueeze", [size, b.constant([0])])
    target = b.node("Concat", [size, b.constant([-1])], axis=0)
    b.output(b.node("Reshape", [b.node("Relu", [x]), target], ["y"]))
    graph = graph_of(b)
    assert graph.op_types == ("Relu", "Reshape")
    assert graph.output_shape(1) == (1, 128)


def test_state_made_from_a_shape_is_no_parameter():
    b = Builder()
    x = b.input("x", ["batch", 4])
    zeros = b.node("ConstantOfShape", [b.node("Shape", [x])])
    b.output(b.node("Add", [x, zeros], ["y"]))
    assert graph_of(b).parameters == 0


def test_no_ops_and_dead_nodes_are_dropped():
    b = Builder()
    x = b.input("x", [2, 3])
    same = b.node("Identity", [x])
    same = b.node("Dropout", [same], ["kept", "mask"])
    same = b.node("Cast", [same], to=TensorProto.FLOAT)
    b.node("Exp", [same])
    b.output(b.node("Relu", [same], ["y"]))
    assert graph_of(b).op_types == ("Relu",)


def test_batch_normalization_becomes_the_bias_of_its_convolution():
    b = Builder()
    x = b.input("x", [1, 4, 8, 8])
    b.output(b.conv_bn(x, 4, 6, 3, activation=""))
    graph = graph_of(b)
    assert graph.op_types == ("Conv",)
    assert graph.parameters == 6 * 4 * 9 + 6
    assert graph.weight_bytes.tolist() == [4 * (216 + 6)]


def test_batch_normalization_stays_where_the_convolution_has_other_readers():
    b = Builder()
    x = b.input("x", [1, 4, 8, 8])
    out = b.conv(x, 4, 6, 3)
    b.output(b.node("Add", [b.batch_norm(out, 6), out], ["y"]))
    assert graph_of(b).op_types == ("Conv", "BatchNormalization", "Add")


def flags(graph, index):
    return OperatorFlag(int(graph.flags[index]))


@pytest.mark.parametrize("activation", ["Relu", "LeakyRelu", "HardSwish", "Sigmoid", "Tanh"])
def test_an_activation_runs_inside_the_convolution_before_it(activation):
    b = Builder()
    x = b.input("x", [1, 4, 8, 8])
    inner = b.node(activation, [b.conv(x, 4, 6, 3)])
    b.output(b.node("MaxPool", [inner], ["y"], kernel_shape=[2, 2]))
    graph = graph_of(b)
    assert flags(graph, 1) == OperatorFlag.FUSED
    assert graph.fused_into.tolist() == [-1, 0, -1]
    assert graph.bytes_moved[1] == 0
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]


def test_silu_fuses_as_two_operators():
    b = Builder()
    x = b.input("x", [1, 4, 8, 8])
    out = b.conv(x, 4, 6, 3)
    b.output(b.node("Mul", [out, b.node("Sigmoid", [out])], ["y"]))
    graph = graph_of(b)
    assert graph.fused_into.tolist() == [-1, 0, 0]


def test_an_activation_beside_another_reader_runs_alone():
    b = Builder()
    x = b.input("x", [1, 4, 8, 8])
    out = b.conv(x, 4, 6, 3)
    b.output(b.node("Add", [out, b.node("Relu", [out])], ["y"]))
    assert graph_of(b).fused_into.tolist() == [-1, -1, -1]


def test_a_convolution_that_is_an_output_keeps_its_activation_apart():
    b = Builder()
    x = b.input("x", [1, 4, 8, 8])
    out = b.output(b.conv(x, 4, 6, 3))
    b.output(b.node("Relu", [out], ["y"]))
    assert graph_of(b).fused_into.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("op_type", "extra"),
    [("Flatten", None), ("Reshape", [-1]), ("Squeeze", [0]), ("Unsqueeze", [0])],
)
def test_views_move_nothing(op_type, extra):
    b = Builder()
    inputs = [b.node("Relu", [b.input("x", [1, 4, 8])])]
    inputs += [] if extra is None else [b.constant(extra)]
    b.output(b.node("Relu", [b.node(op_type, inputs)], ["y"]))
    graph = graph_of(b)
    assert flags(graph, 1) == OperatorFlag.VIEW
    assert graph.bytes_moved.tolist() == [256, 0, 256]


def test_weights_standardised_out_of_two_copies_count_once():
    b = Builder()
    x = b.input("x", [1, 8, 8, 8])
    copies = [b.weight(8, 8, 3, 3), b.weight(8, 8, 3, 3)]
    b.output(b.node("Conv", [x, b.node("Sub", copies)], ["y"]))
    assert graph_of(b).parameters == 8 * 8 * 9


def test_model_local_functions_are_inlined():
    body = [helper.make_node("MatMul", ["a", "w"], ["m"]), helper.make_node("Relu", ["m"], ["r"])]
    opset = [helper.make_opsetid("", 17)]
    function = helper.make_function("local", "Dense", ["a", "w"], ["r"], body, opset)
    b = Builder()
    x = b.input("x", [4, 8])
    b.output(b.node("Dense", [x, b.weight(8, 16)], ["y"], domain="local"))
    proto = b.model()
    proto.functions.append(function)
    graph = ingest_proto(proto).graph
    assert graph.op_types == ("MatMul", "Relu")
    assert graph.macs.tolist() == [4 * 8 * 16, 0]


def test_random_operators_are_no_constants():
    b = Builder()
    noise = b.node("RandomNormal", [], shape=[2, 3])
    b.output(b.node("Add", [b.input("x", [2, 3]), noise], ["y"]))
    assert graph_of(b).op_types == ("RandomNormal", "Add")


def test_integer_weights_behind_a_dequantization_count_their_stored_bytes():
    b = Builder()
    x = b.input("x", [1, 32])
    stored = b.tensor([32, 16], TensorProto.INT4)
    scale = b.constant(np.float32(0.1), np.float32)
    weights = b.node("DequantizeLinear", [stored, scale])
    b.opset = 21
    b.output(b.node("MatMul", [x, weights], ["y"]))
    graph = graph_of(b)
    assert graph.op_types == ("MatMul",)
    assert graph.weight_bytes.tolist() == [32 * 16 // 2 + 4]
