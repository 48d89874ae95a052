"""Parameters and bytes of weights in few bits: quantised, in blocks, packed several to a byte."""

import math

import pytest
from onnx import TensorProto, helper

from predictor.graph.operators import DTYPE_BITS, DTYPE_OF_ONNX
from tests.support.networks.ingesting import ingest_proto

FLOAT, UINT8 = TensorProto.FLOAT, TensorProto.UINT8


def tensor(name, dims, dtype=FLOAT):
    bits = DTYPE_BITS[DTYPE_OF_ONNX[dtype]]
    data = bytes(-(-math.prod(dims) * bits // 8))
    return helper.make_tensor(name, dtype, dims, data, raw=True)


def model_of(nodes, tensors, *, x, y, domain="", opset=25):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", FLOAT, x)],
        [helper.make_tensor_value_info("y", FLOAT, y)],
        tensors,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return ingest_proto(helper.make_model(graph, opset_imports=opsets, ir_version=11)).graph


def stored(graph):
    return graph.parameters, graph.weights_total_bytes


INTEGERS = [
    (TensorProto.INT8, 8),
    (TensorProto.UINT8, 8),
    (TensorProto.INT4, 4),
    (TensorProto.UINT4, 4),
    (TensorProto.INT2, 2),
    (TensorProto.UINT2, 2),
    (TensorProto.FLOAT4E2M1, 4),
    (TensorProto.FLOAT8E4M3FN, 8),
    (TensorProto.FLOAT8E5M2, 8),
]


@pytest.mark.parametrize(("dtype", "bits"), INTEGERS)
def test_dequantised_weights_are_stored_in_their_bits(dtype, bits):
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "scale"], ["w"], block_size=32, axis=0),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    tensors = [tensor("q", [256, 512], dtype), tensor("scale", [8, 512])]
    graph = model_of(nodes, tensors, x=[1, 256], y=[1, 512])
    assert stored(graph) == (256 * 512, 256 * 512 * bits // 8 + 8 * 512 * 4)
    # Once through memory: integers and scales.
    assert graph.weight_bytes.sum() == 256 * 512 * bits // 8 + 8 * 512 * 4


def test_scales_that_are_quantised_are_no_parameters():
    """As NVFP4: blocks of 16 in 4 bits, their scales in 8, one scale of the scales."""
    nodes = [
        helper.make_node("DequantizeLinear", ["scales", "scale"], ["s"]),
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"], block_size=16, axis=0),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    tensors = [
        tensor("q", [64, 32], TensorProto.FLOAT4E2M1),
        tensor("scales", [4, 32], TensorProto.FLOAT8E4M3FN),
        tensor("scale", []),
    ]
    graph = model_of(nodes, tensors, x=[1, 64], y=[1, 32])
    assert stored(graph) == (64 * 32, 64 * 32 // 2 + 4 * 32 + 4)


def test_scales_of_activations_are_no_parameters():
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["wq", "s", "z"], ["w"]),
        helper.make_node("MatMul", ["d", "w"], ["y"]),
    ]
    tensors = [tensor("s", []), tensor("z", [], UINT8), tensor("wq", [64, 32], UINT8)]
    graph = model_of(nodes, tensors, x=[1, 64], y=[1, 32])
    assert stored(graph) == (64 * 32, 64 * 32 + 5)


@pytest.mark.parametrize(("bits", "columns"), [(2, 512), (4, 512), (8, 512), (4, 500)])
def test_packed_blocks_of_a_product(bits, columns):
    blob = 32 * bits // 8
    node = helper.make_node(
        "MatMulNBits", ["x", "q", "s"], ["y"], domain="com.microsoft",
        K=250, N=columns, bits=bits, block_size=32,
    )  # fmt: skip
    tensors = [tensor("q", [columns, 8, blob], UINT8), tensor("s", [columns * 8])]
    graph = model_of([node], tensors, x=[4, 250], y=[4, columns])
    # The last block of a row is padded from 26 to 32.
    assert stored(graph) == (250 * columns, columns * 8 * blob + columns * 8 * 4)
    assert graph.macs.tolist() == [4 * 250 * columns]


def test_packed_blocks_without_attributes_of_their_sizes():
    node = helper.make_node("MatMulFpQ4", ["x", "q", "dims"], ["y"], domain="com.microsoft")
    dims = helper.make_tensor("dims", TensorProto.INT64, [2], [256, 64])
    tensors = [tensor("q", [256 * 64 // 2], UINT8), dims]
    graph = model_of([node], tensors, x=[4, 256], y=[4, 64])
    assert graph.macs.tolist() == [4 * 256 * 64]


@pytest.mark.parametrize(("bits", "width"), [(4, 128), (8, 256)])
def test_rows_of_a_packed_table_unpack(bits, width):
    nodes = [
        helper.make_node("Cast", ["x"], ["ids"], to=TensorProto.INT64),
        helper.make_node(
            "GatherBlockQuantized", ["q", "ids", "s"], ["e"], domain="com.microsoft",
            bits=bits, block_size=32, gather_axis=0, quantize_axis=1,
        ),
        helper.make_node("MatMul", ["e", "w"], ["y"]),
    ]  # fmt: skip
    tensors = [tensor("q", [1000, width], UINT8), tensor("s", [1000, 8]), tensor("w", [256, 64])]
    graph = model_of(nodes, tensors, x=[1, 128], y=[1, 128, 64])
    assert graph.macs.sum() == 128 * 256 * 64
    assert graph.parameters == 1000 * 256 + 256 * 64


def test_six_bits_are_six_bits():
    nodes = [
        helper.make_node("Cast", ["q"], ["w"], to=FLOAT),
        helper.make_node("Add", ["x", "w"], ["y"]),
    ]
    tensors = [tensor("q", [64], TensorProto.FLOAT6E2M3)]
    graph = model_of(nodes, tensors, x=[64], y=[64], opset=25)
    assert stored(graph)[1] == 64 * 6 // 8
