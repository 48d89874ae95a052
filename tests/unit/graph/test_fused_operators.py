"""Output shapes of fused operators (com.microsoft), as onnxruntime states them."""

import pytest
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.graph.operator_graph import OperatorFlag
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto

U8, I8, I32, I64 = TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32, TensorProto.INT64
SCALE: list[int] = []
ZERO = (SCALE, U8)

# Operator, inputs (dims, or dims and type, or None), outputs, attributes.
CASES = [
    ("Attention", [[2, 10, 64], [64, 192], [192]], [(2, 10, 64)], {"num_heads": 4}),
    (
        "Attention",
        [[2, 10, 64], [64, 192], [192], None, [2, 2, 4, 6, 16]],
        [(2, 10, 64), (2, 2, 4, 16, 16)],
        {"num_heads": 4},
    ),
    (
        "MultiHeadAttention",
        [[2, 1, 64], [2, 1, 64], [2, 1, 64], None, None, None, [2, 4, 7, 16], [2, 4, 7, 16]],
        [(2, 1, 64), (2, 4, 8, 16), (2, 4, 8, 16)],
        {"num_heads": 4},
    ),
    (
        "MultiHeadAttention",
        [[2, 10, 64], [2, 4, 12, 16], [2, 4, 12, 16]],
        [(2, 10, 64)],
        {"num_heads": 4},
    ),
    (
        "GroupQueryAttention",
        [[1, 5, 192], None, None, [1, 2, 7, 16], [1, 2, 7, 16], ([1], I32), ([], I32)],
        [(1, 5, 128), (1, 2, 12, 16), (1, 2, 12, 16)],
        {"num_heads": 8, "kv_num_heads": 2},
    ),
    (
        "SkipLayerNormalization",
        [[2, 10, 64], [2, 10, 64], [64], [64]],
        [(2, 10, 64), (2, 10, 1), (2, 10, 1), (2, 10, 64)],
        {},
    ),
    (
        "EmbedLayerNormalization",
        [([2, 10], I32), ([2, 10], I32), [100, 64], [20, 64], [2, 64], [64], [64]],
        [(2, 10, 64), (2,), (2, 10, 64)],
        {},
    ),
    ("BiasGelu", [[2, 10, 64], [64]], [(2, 10, 64)], {}),
    ("Gelu", [[2, 10, 64]], [(2, 10, 64)], {}),
    ("QuickGelu", [[2, 10, 64]], [(2, 10, 64)], {}),
    ("FusedMatMul", [[2, 3, 4], [2, 5, 4]], [(2, 3, 5)], {"transB": 1}),
    ("FusedMatMul", [[3, 2, 4], [2, 4, 5]], [(2, 3, 5)], {"transBatchA": 1}),
    ("FusedGemm", [[3, 4], [4, 5]], [(3, 5)], {"activation": "Relu"}),
    ("FusedConv", [[1, 3, 8, 8], [4, 3, 3, 3]], [(1, 4, 8, 8)], {"pads": [1] * 4}),
    (
        "NhwcConv",
        [[1, 8, 8, 3], [4, 3, 3, 3]],
        [(1, 4, 4, 4)],
        {"pads": [1] * 4, "strides": [2, 2]},
    ),
    (
        "NhwcMaxPool",
        [([1, 9, 9, 4], U8)],
        [(1, 5, 5, 4)],
        {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
    ),
    (
        "QLinearConv",
        [([1, 9, 9, 16], U8), SCALE, ZERO, ([32, 4, 3, 3], I8), SCALE, ZERO, SCALE, ZERO],
        [(1, 5, 5, 32)],
        {"channels_last": 1, "group": 4, "strides": [2, 2], "auto_pad": "SAME_UPPER"},
    ),
    (
        "QLinearConv",
        [([1, 16, 9, 9], U8), SCALE, ZERO, ([32, 4, 3, 3], U8), SCALE, ZERO, SCALE, ZERO],
        [(1, 32, 7, 7)],
        {"group": 4},
    ),
    ("QGemm", [([3, 4], U8), SCALE, ZERO, ([4, 5], U8), SCALE, ZERO], [(3, 5)], {}),
    (
        "QLinearGlobalAveragePool",
        [([1, 8, 4, 4], U8), SCALE, ZERO, SCALE, ZERO],
        [(1, 8, 1, 1)],
        {},
    ),
    (
        "QLinearAveragePool",
        [([1, 8, 4, 4], U8), SCALE, ZERO, SCALE, ZERO],
        [(1, 8, 3, 3)],
        {"kernel_shape": [2, 2]},
    ),
    (
        "QLinearAveragePool",
        [([1, 4, 6, 8], U8), SCALE, ZERO, SCALE, ZERO],
        [(1, 3, 5, 8)],
        {"kernel_shape": [2, 2], "channels_last": 1},
    ),
    (
        "QLinearConcat",
        [SCALE, ZERO, ([1, 8], U8), SCALE, ZERO, ([1, 6], U8), SCALE, ZERO],
        [(1, 14)],
        {"axis": 1},
    ),
    (
        "QLinearAdd",
        [([1, 8], U8), SCALE, ZERO, ([4, 1, 8], U8), SCALE, ZERO, SCALE, ZERO],
        [(4, 1, 8)],
        {},
    ),
    (
        "DynamicQuantizeLSTM",
        [
            *([5, 2, 16], ([1, 16, 32], I8), ([1, 8, 32], I8), [1, 32], None, None, None, None),
            *([1], ([1], I8), [1], ([1], I8)),
        ],
        [(5, 1, 2, 8), (1, 2, 8), (1, 2, 8)],
        {"hidden_size": 8},
    ),
    (
        "GatherBlockQuantized",
        [([100, 64], TensorProto.UINT4), ([2, 5], I64), [100, 2]],
        [(2, 5, 64)],
        {"block_size": 32},
    ),
    (
        "MatMulNBits",
        [[1, 5, 64], ([32, 2, 16], U8), [64]],
        [(1, 5, 32)],
        {"K": 64, "N": 32, "block_size": 32},
    ),
]


@pytest.mark.parametrize(
    ("op_type", "inputs", "shapes", "attributes"), CASES, ids=[case[0] for case in CASES]
)
def test_output_shapes(op_type, inputs, shapes, attributes):
    b = Builder()
    names = []
    for position, given in enumerate(inputs):
        if given is None:
            names.append("")
            continue
        dims, dtype = given if isinstance(given, tuple) else (given, TensorProto.FLOAT)
        names.append(b.input(f"in{position}", dims, dtype))
    outputs = [f"out{position}" for position in range(len(shapes))]
    b.node(op_type, names, outputs, domain="com.microsoft", **attributes)
    for name in outputs:
        b.output(name)
    model = ingest_proto(b.model())
    assert [o.shape for o in model.outputs] == shapes
    assert not model.graph.flags[0] & OperatorFlag.UNKNOWN
    assert not model.notes


def test_a_quantised_convolution_on_channels_last_counts_like_channels_first():
    """25 windows x 32 output channels x 4 input channels a group x 9 weights."""
    b = Builder()
    scale, zero = b.input("scale", []), b.input("zero", [], U8)
    x, weights = b.input("x", [1, 9, 9, 16], U8), b.input("w", [32, 4, 3, 3], I8)
    y = b.node(
        "QLinearConv",
        [x, scale, zero, weights, scale, zero, scale, zero],
        domain="com.microsoft",
        channels_last=1,
        group=4,
        pads=[1] * 4,
        strides=[2, 2],
    )
    b.output(y)
    assert ingest_proto(b.model()).graph.macs.tolist() == [25 * 32 * 4 * 9]


@pytest.mark.parametrize("op_type", ["DecoderAttention", "LongformerAttention", "SparseAttention"])
def test_work_that_is_not_counted_is_said(op_type):
    b = Builder()
    x = b.input("x", [2, 4, 8])
    b.output(b.node(op_type, [x, b.weight(8, 8)], ["y"], domain="com.microsoft"))
    model = ingest_proto(b.model())
    assert model.graph.flags[0] & OperatorFlag.UNKNOWN
    assert any(op_type in note for note in model.notes)


@pytest.mark.parametrize(("op_type", "dims"), [("MultiHeadAttention", [8]), ("Attention", [2, 3])])
def test_malformed_operators_name_themselves(op_type, dims):
    b = Builder()
    x = b.input("x", dims)
    b.output(b.node(op_type, [x], ["y"], domain="com.microsoft"))
    with pytest.raises(InputError, match=rf"node {op_type}_1: its inputs do not fit"):
        ingest_proto(b.model())


def test_an_operator_without_its_inputs_names_itself():
    b = Builder()
    b.output(b.node("Conv", [b.input("x", [1, 3, 8, 8])], ["y"]))
    with pytest.raises(InputError, match=r"node Conv_1: Conv: its required input 1 is left out"):
        ingest_proto(b.model())
