"""Multiply-accumulates of each operator class against numbers worked by hand."""

import pytest
from onnx import TensorProto

from predictor.graph.operator_graph import OperatorFlag
from tests.support.networks.builder import Builder
from tests.support.networks.ingesting import ingest_proto


def single(b, op_type, inputs, outputs=None, domain="", **attributes):
    """Ingest a graph of one operator; return its row."""
    made = outputs or ["y"]
    b.node(op_type, inputs, made, domain=domain, **attributes)
    b.output(made[0])
    graph = ingest_proto(b.model()).graph
    index = graph.names.index(b.nodes[-1].name)
    return graph, index


def counts(row):
    graph, index = row
    return int(graph.macs[index]), graph.gemm[index].tolist()


def test_convolution_counts_as_im2col():
    b = Builder()
    x = b.input("x", [2, 8, 10, 10])
    row = single(b, "Conv", [x, b.weight(12, 4, 3, 3)], group=2, strides=[2, 2], pads=[1] * 4)
    graph, index = row
    # Output 2 x 12 x 5 x 5: 2 groups, M = 2 x 25, N = 12 / 2, K = 4 x 9.
    assert counts(row) == (2 * 50 * 6 * 36, [2, 50, 6, 36])
    assert graph.output_shape(index) == (2, 12, 5, 5)
    assert graph.window[index].tolist() == [3, 3]
    assert graph.stride[index].tolist() == [2, 2]
    assert not graph.flags[index] & OperatorFlag.WINOGRAD


@pytest.mark.parametrize(
    ("kernel", "attributes", "fast"),
    [
        (3, {}, True),
        (1, {}, False),
        (3, {"dilations": [2, 2]}, False),
        (3, {"strides": [2, 2]}, False),
    ],
)
def test_winograd_serves_windows_of_stride_and_dilation_one(kernel, attributes, fast):
    b = Builder()
    x = b.input("x", [1, 4, 16, 16])
    graph, index = single(b, "Conv", [x, b.weight(4, 4, kernel, kernel)], **attributes)
    assert bool(graph.flags[index] & OperatorFlag.WINOGRAD) is fast


def test_one_and_three_dimensional_convolution():
    b = Builder()
    x = b.input("x", [1, 4, 32])
    row = single(b, "Conv", [x, b.weight(8, 4, 5)])
    assert counts(row) == (28 * 8 * 20, [1, 28, 8, 20])
    assert row[0].window[row[1]].tolist() == [1, 5]
    b = Builder()
    x = b.input("x", [1, 2, 4, 4, 4])
    assert counts(single(b, "Conv", [x, b.weight(3, 2, 3, 3, 3)]))[0] == 8 * 3 * 54


def test_transposed_convolution_counts_input_pixels():
    b = Builder()
    x = b.input("x", [1, 16, 5, 5])
    row = single(b, "ConvTranspose", [x, b.weight(16, 8, 4, 4)], strides=[2, 2], pads=[1] * 4)
    assert row[0].output_shape(row[1]) == (1, 8, 10, 10)
    assert counts(row) == (25 * 8 * 16 * 16, [1, 25, 128, 16])


def test_gemm_with_transposed_operands():
    b = Builder()
    x = b.input("x", [7, 3])
    row = single(b, "Gemm", [x, b.weight(5, 7)], transA=1, transB=1)
    assert counts(row) == (3 * 5 * 7, [1, 3, 5, 7])


@pytest.mark.parametrize(
    ("a", "b_dims", "macs", "gemm"),
    [
        ([4, 5], [5, 6], 120, [1, 4, 6, 5]),
        ([2, 3, 4, 5], [5, 6], 2 * 3 * 120, [1, 24, 6, 5]),
        ([2, 3, 4, 5], [2, 3, 5, 6], 6 * 120, [6, 4, 6, 5]),
        ([2, 1, 4, 5], [3, 5, 6], 6 * 120, [6, 4, 6, 5]),
        ([5], [5, 6], 30, [1, 1, 6, 5]),
        ([4, 5], [5], 20, [1, 4, 1, 5]),
        ([5], [5], 5, [1, 1, 1, 5]),
    ],
)
def test_matrix_products_broadcast(a, b_dims, macs, gemm):
    b = Builder()
    row = single(b, "MatMul", [b.input("a", a), b.input("b", b_dims)])
    assert counts(row) == (macs, gemm)


@pytest.mark.parametrize(
    ("equation", "shapes", "macs", "gemm"),
    [
        ("bhqd,bhkd->bhqk", [(2, 4, 8, 16), (2, 4, 9, 16)], 2 * 4 * 8 * 9 * 16, [8, 8, 9, 16]),
        ("ij,jk", [(3, 4), (4, 5)], 60, [1, 3, 5, 4]),
        ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)], 120, [2, 3, 5, 4]),
        ("i,i->", [(7,), (7,)], 7, [1, 1, 1, 7]),
        ("bi,bi->bi", [(2, 7), (2, 7)], 0, [0, 0, 0, 0]),
        # Left to right: [3,4] x [4,5], then [3,5] x [5,6].
        ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 6)], 60 + 90, [0, 0, 0, 0]),
    ],
)
def test_einsum(equation, shapes, macs, gemm):
    b = Builder()
    inputs = [b.input(f"x{i}", shape) for i, shape in enumerate(shapes)]
    assert counts(single(b, "Einsum", inputs, equation=equation)) == (macs, gemm)


@pytest.mark.parametrize(("op_type", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_layers_join_input_and_state(op_type, gates):
    b = Builder()
    x = b.input("x", [20, 2, 40])
    weights = [b.weight(2, gates * 64, 40), b.weight(2, gates * 64, 64)]
    row = single(b, op_type, [x, *weights], hidden_size=64, direction="bidirectional")
    assert counts(row) == (2 * 40 * gates * 64 * 104, [2, 40, gates * 64, 104])


def test_standard_attention_counts_both_products_with_grouped_heads():
    b = Builder(opset=23)
    query = b.input("q", [2, 8, 16, 32])
    key, value = b.input("k", [2, 2, 24, 32]), b.input("v", [2, 2, 24, 64])
    row = single(b, "Attention", [query, key, value])
    # 16 heads in all: 16 x 24 x 32 and 16 x 24 x 64 each.
    assert counts(row) == (16 * (16 * 24 * 32 + 16 * 24 * 64), [16, 16, 24, 96])


def test_fused_attention_adds_its_projection():
    b = Builder()
    x = b.input("x", [2, 128, 768])
    weights = [b.weight(768, 2304), b.weight(2304)]
    row = single(b, "Attention", [x, *weights], domain="com.microsoft", num_heads=12)
    macs, gemm = counts(row)
    projection = 2 * 128 * 768 * 2304
    products = 2 * 12 * (128 * 128 * 64) * 2
    assert macs == projection + products
    assert gemm[0] * gemm[1] * gemm[2] * gemm[3] == macs
    assert row[0].output_shape(row[1]) == (2, 128, 768)


def test_multi_head_attention_with_another_key_length():
    b = Builder()
    inputs = [b.input("q", [1, 10, 64]), b.input("k", [1, 30, 64]), b.input("v", [1, 30, 64])]
    row = single(b, "MultiHeadAttention", inputs, domain="com.microsoft", num_heads=4)
    assert counts(row) == (4 * 10 * 30 * 32, [4, 10, 30, 32])


def test_group_query_attention_reads_its_past():
    b = Builder()
    query, key = b.input("q", [1, 1, 256]), b.input("k", [1, 1, 64])
    past = [b.input(name, [1, 2, 127, 32]) for name in ("past_k", "past_v")]
    lengths = [b.input("seqlens", [1], TensorProto.INT32), b.input("total", [], TensorProto.INT32)]
    row = single(
        b,
        "GroupQueryAttention",
        [query, key, key, *past, *lengths],
        ["y", "present_k", "present_v"],
        domain="com.microsoft",
        num_heads=8,
        kv_num_heads=2,
    )
    assert counts(row) == (8 * 128 * 64, [8, 1, 128, 64])


def test_four_bit_product_keeps_the_activation_type():
    b = Builder()
    x = b.input("x", [1, 5, 64], TensorProto.FLOAT16)
    packed = b.tensor([32, 2, 16], TensorProto.UINT8)
    scales = b.tensor([64], TensorProto.FLOAT16)
    row = single(
        b,
        "MatMulNBits",
        [x, packed, scales],
        domain="com.microsoft",
        K=64,
        N=32,
        bits=4,
        block_size=32,
    )
    assert counts(row) == (5 * 32 * 64, [1, 5, 32, 64])
    assert row[0].weight_bytes[row[1]] == 32 * 2 * 16 + 64 * 2


@pytest.mark.parametrize("domain", ["com.microsoft", "com.microsoft.nchwc"])
def test_convolutions_of_saved_graphs(domain):
    b = Builder()
    x = b.input("x", [1, 8, 6, 6])
    op_type = "FusedConv" if domain == "com.microsoft" else "Conv"
    row = single(b, op_type, [x, b.weight(8, 8, 3, 3)], domain=domain, activation="Relu")
    assert counts(row) == (16 * 8 * 72, [1, 16, 8, 72])


def test_fused_products_transpose():
    b = Builder()
    inputs = [b.input("a", [2, 5, 3]), b.input("b", [2, 7, 5])]
    row = single(b, "FusedMatMul", inputs, domain="com.microsoft", transA=1, transB=1)
    assert counts(row) == (2 * 3 * 7 * 5, [2, 3, 7, 5])
    assert row[0].output_shape(row[1]) == (2, 3, 7)


@pytest.mark.parametrize("op_type", ["Relu", "Softmax", "LRN", "GlobalAveragePool", "Exp"])
def test_elementwise_operators_count_nothing(op_type):
    b = Builder()
    attributes = {"size": 3} if op_type == "LRN" else {}
    assert counts(single(b, op_type, [b.input("x", [1, 4, 6, 6])], **attributes))[0] == 0


def test_pooling_states_its_window():
    b = Builder()
    row = single(b, "MaxPool", [b.input("x", [1, 4, 8, 8])], kernel_shape=[2, 3], strides=[2, 1])
    assert row[0].window[row[1]].tolist() == [2, 3]
    assert row[0].stride[row[1]].tolist() == [2, 1]


def test_fourier_transform_counts_n_log_n():
    b = Builder(opset=17)
    row = single(b, "DFT", [b.input("x", [3, 64, 1])], axis=1)
    assert counts(row)[0] == 3 * 2 * 64 * 6


def test_a_group_query_attention_reads_the_angles_of_its_tokens():
    b = Builder()
    query, key = b.input("q", [1, 3, 256]), b.input("k", [1, 3, 64])
    past = [b.input(name, [1, 2, 100, 32]) for name in ("past_k", "past_v")]
    lengths = [b.input("seqlens", [1], TensorProto.INT32), b.input("total", [], TensorProto.INT32)]
    tables = [b.tensor([4096, 16]), b.tensor([4096, 16])]
    row = single(
        b,
        "GroupQueryAttention",
        [query, key, key, *past, *lengths, *tables],
        ["y", "present_k", "present_v"],
        domain="com.microsoft",
        num_heads=8,
        kv_num_heads=2,
    )
    assert row[0].weight_bytes[row[1]] == 2 * 3 * 16 * 4


def test_rotary_embedding_reads_the_angles_of_its_tokens():
    b = Builder()
    x, places = b.input("x", [1, 5, 64]), b.input("positions", [1, 5], TensorProto.INT64)
    tables = [b.tensor([4096, 16]), b.tensor([4096, 16])]
    row = single(b, "RotaryEmbedding", [x, places, *tables], domain="com.microsoft")
    assert row[0].weight_bytes[row[1]] == 2 * 5 * 16 * 4


@pytest.mark.parametrize(("tokens", "touched"), [(1, 2), (3, 37 / 8), (10**4, 8)])
def test_a_mixture_of_experts_reads_those_that_its_tokens_touch(tokens: int, touched: float):
    b = Builder()
    x = b.input("x", [1, tokens, 64], TensorProto.FLOAT16)
    router = b.input("router", [tokens, 8], TensorProto.FLOAT16)
    first, second = b.tensor([8, 64, 96], TensorProto.FLOAT16), b.tensor([8, 96, 64])
    inputs = [x, router, first, "", second]
    row = single(b, "MoE", inputs, domain="com.microsoft", k=2, activation_type="silu")
    assert counts(row) == (tokens * 2 * 2 * 96 * 64, [1, tokens * 2, 192, 64])
    assert row[0].weight_bytes[row[1]] == pytest.approx(touched * 96 * 64 * (2 + 4), abs=8)
    assert row[0].output_shape(row[1]) == (1, tokens, 64)
    assert not row[0].flags[row[1]] & OperatorFlag.UNKNOWN


def test_experts_in_four_bits_are_unpacked():
    b = Builder()
    x = b.input("x", [6, 64], TensorProto.FLOAT16)
    router = b.input("router", [6, 4], TensorProto.FLOAT16)
    # Gate and up projection interleaved: 2 x 96 rows of 64 weights, two in a byte.
    first, second = (
        b.tensor([4, 192, 32], TensorProto.UINT8),
        b.tensor([4, 64, 48], TensorProto.UINT8),
    )
    scales = [b.tensor([4, n], TensorProto.FLOAT16) for n in (192, 64)]
    inputs = [x, router, first, scales[0], "", second, scales[1]]
    row = single(b, "QMoE", inputs, domain="com.microsoft", k=1, expert_weight_bits=4)
    assert counts(row) == (6 * 3 * 96 * 64, [1, 6, 288, 64])
