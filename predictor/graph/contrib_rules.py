"""Output types of fused operators (com.microsoft), which onnx itself does not know.

References:
    onnxruntime, docs/ContribOperators.md, and its NHWC transformer: where channels stand last, the
    weights keep their layout, output channels first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from predictor.graph.arithmetic import batch_first
from predictor.graph.network import Network, Node, TensorType
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import DTYPE_CODE, by_operator
from predictor.graph.values import ValueTable, stored_value

Outputs: TypeAlias = list[TensorType]
Rule: TypeAlias = Callable[[Network, Node, ValueTable], Outputs | None]
"""None where the types are unknown; onnx's own inference is used then."""


def of_types(
    *positions: int,
) -> Callable[[Callable[..., Outputs | None]], Rule]:
    """Make a rule of a function of the network, a node and the types of some of its inputs.

    Args:
        positions: of the inputs; where the type of one is not known, neither are the outputs'.
    """

    def decorate(function: Callable[..., Outputs | None]) -> Rule:
        def rule(network: Network, node: Node, _: ValueTable) -> Outputs | None:
            types = [network.input_type(node, position) for position in positions]
            return function(network, node, *types) if all(t.is_static for t in types) else None

        return rule

    return decorate


def is_channels_last(node: Node) -> bool:
    """Whether the channels of a node's data and output stand last."""
    return node.op.startswith("Nhwc") or bool(node.attributes.integer("channels_last"))


def _convolution_at(weights_at: int, zero_point_at: int | None = None) -> Rule:
    @of_types(0, weights_at)
    def rule(network: Network, node: Node, data: TensorType, weights: TensorType) -> Outputs | None:
        if not is_channels_last(node):
            return None  # onnx infers channels first by itself
        # The output's zero point has the type of the output.
        result = data if zero_point_at is None else network.input_type(node, zero_point_at)
        kernel = node.attributes.integers("kernel_shape") or weights.dims[2:]
        spatial = _windows(node, data.dims[1:-1], kernel)
        return [TensorType(result.dtype, (data.dims[0], *spatial, weights.dims[0]))]

    return rule


@of_types(0)
def _channels_last_pooling(_: Network, node: Node, data: TensorType) -> Outputs | None:
    if not is_channels_last(node):
        return None
    spatial = _windows(node, data.dims[1:-1], node.attributes.integers("kernel_shape"))
    return [TensorType(data.dtype, (data.dims[0], *spatial, data.dims[-1]))]


def _windows(node: Node, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> list[int]:
    """Return the number of windows along each axis.

    Raises:
        ArithmeticError: a stride of 0.
        LookupError: the attributes have fewer axes than the data.
    """
    attributes, axes = node.attributes, len(sizes)
    strides = attributes.integers("strides") or (1,) * axes
    padding = attributes.string("auto_pad", "NOTSET")
    if padding.startswith("SAME"):
        # SAME pads until every step starts a window: kernel and dilation do not matter.
        return [-(-size // stride) for size, stride in zip(sizes, strides, strict=True)]
    pads = (attributes.integers("pads") if padding == "NOTSET" else ()) or (0,) * (2 * axes)
    dilations = attributes.integers("dilations") or (1,) * axes
    up = bool(attributes.integer("ceil_mode"))
    counts = []
    for i, size in enumerate(sizes):
        room = size + pads[i] + pads[i + axes] - dilations[i] * (kernel[i] - 1) - 1
        count = (-(-room // strides[i]) if up else room // strides[i]) + 1
        if up and (count - 1) * strides[i] >= size + pads[i]:
            count -= 1  # a window that starts in the padding after the data does not count
        counts.append(count)
    return counts


_FLOAT32 = DTYPE_CODE["float32"]
_INT32 = DTYPE_CODE["int32"]
_UINT8 = DTYPE_CODE["uint8"]


def _same_as_first(network: Network, node: Node, _: ValueTable) -> Outputs | None:
    return [network.input_type(node, 0)]


@of_types(0, 3)
def _broadcast_quantised(_: Network, __: Node, left: TensorType, right: TensorType) -> Outputs:
    rank = max(len(left.dims), len(right.dims))
    x = (1,) * (rank - len(left.dims)) + left.dims
    y = (1,) * (rank - len(right.dims)) + right.dims
    return [TensorType(left.dtype, tuple(q if p == 1 else p for p, q in zip(x, y, strict=True)))]


def _matmul_dims(
    a: tuple[int, ...], b: tuple[int, ...], trans_a: bool = False, trans_b: bool = False
) -> tuple[int, ...]:
    rows, columns = a[-1 if trans_a else -2], b[-2 if trans_b else -1]
    longer = a[:-2] if len(a) >= len(b) else b[:-2]
    other = b[:-2] if len(a) >= len(b) else a[:-2]
    other = (1,) * (len(longer) - len(other)) + other
    batch = tuple(q if p == 1 else p for p, q in zip(longer, other, strict=True))
    return (*batch, rows, columns)


def _matmul_at(a: int, b: int, dtype: int | None = None) -> Rule:
    @of_types(a, b)
    def rule(_: Network, node: Node, left: TensorType, right: TensorType) -> Outputs | None:
        if len(left.dims) < 2 or len(right.dims) < 2:
            return None
        flags = [bool(node.attributes.integer(f"trans{s}")) for s in "AB"]
        trans_batch = [bool(node.attributes.integer(f"transBatch{s}")) for s in "AB"]
        operands = (batch_first(left.dims, trans_batch[0]), batch_first(right.dims, trans_batch[1]))
        dims = _matmul_dims(*operands, *flags)
        return [TensorType(left.dtype if dtype is None else dtype, dims)]

    return rule


def packed_sizes(network: Network, node: Node) -> tuple[int, int]:
    """Return rows K and columns N of the packed matrix of a node, 0 where they are not stated."""
    if node.op == "MatMulFpQ4":
        stored = network.tensors.get(node.inputs[2]) if len(node.inputs) > 2 else None
        sizes = None if stored is None else stored_value(stored)
        return (int(sizes[0]), int(sizes[1])) if sizes is not None and sizes.size == 2 else (0, 0)
    return node.attributes.integer("K"), node.attributes.integer("N")


@of_types(0)
def _matmul_nbits(network: Network, node: Node, data: TensorType) -> Outputs | None:
    columns = packed_sizes(network, node)[1]
    return [TensorType(data.dtype, (*data.dims[:-1], columns))] if columns > 0 else None


@of_types(0, 1)
def _attention(
    network: Network, node: Node, data: TensorType, weights: TensorType
) -> Outputs | None:
    """Types of com.microsoft Attention and its kin: [B, S, hidden], [2, B, N, T, H]."""
    if len(data.dims) != 3:
        return None
    batch, length, _unused = data.dims
    sizes = node.attributes.integers("qkv_hidden_sizes")
    hidden = sizes[2] if len(sizes) == 3 else weights.dims[-1] // 3
    heads = max(node.attributes.integer("num_heads", 1), 1)
    quantised = node.op == "QAttention"
    past = network.input_type(node, 8 if quantised else 4)
    cached = past.dims[-2] if past.is_static and len(past.dims) == 5 else 0
    total = cached if is_shared_buffer(node) and cached else length + cached
    dtype = network.input_type(node, 3).dtype if quantised else data.dtype
    present = TensorType(dtype, (2, batch, heads, total, hidden // heads))
    return [TensorType(dtype, (batch, length, hidden)), present]


def is_shared_buffer(node: Node) -> bool:
    """Whether past and present keys and values of an attention lie in one buffer."""
    return bool(node.attributes.integer("past_present_share_buffer"))


def bound_work(network: Network, node: Node) -> None:
    """Mark a node whose work depends on values."""
    node.flags |= int(OperatorFlag.DATA_DEPENDENT)
    network.note(f"The work of {node.op_type} depends on values: an upper bound is counted.")


@of_types(0, 1)
def _packed_attention(
    network: Network, node: Node, data: TensorType, weights: TensorType
) -> Outputs | None:
    if len(data.dims) != 2:
        return None
    if network.dims_of(node, 3)[:1] != (1,):
        bound_work(network, node)
    sizes = node.attributes.integers("qkv_hidden_sizes")
    hidden = sizes[2] if len(sizes) == 3 else weights.dims[-1] // 3
    return [TensorType(data.dtype, (data.dims[0], hidden))]


@of_types(0)
def _packed_multi_head_attention(network: Network, node: Node, query: TensorType) -> Outputs:
    if network.dims_of(node, 4)[:1] != (1,):
        bound_work(network, node)
    value = network.input_type(node, 2)
    if len(query.dims) == 4:  # packed [T, N, 3, H]
        hidden = query.dims[1] * query.dims[3]
    else:
        hidden = value.dims[-1] if value.is_static else query.dims[-1]
    return [TensorType(query.dtype, (query.dims[0], hidden))]


@of_types(0, 3, 4)
def _paged_attention(
    network: Network, node: Node, query: TensorType, keys: TensorType, values: TensorType
) -> Outputs:
    """Query [T, N * H], or with keys and values beside it; caches [blocks, size, KV heads, H]."""
    bound_work(network, node)
    heads = max(node.attributes.integer("num_heads", 1), 1)
    head_size = node.attributes.integer("v_head_size") or values.dims[-1]
    return [TensorType(query.dtype, (query.dims[0], heads * head_size)), keys, values]


def _standard_or_contrib_attention(
    network: Network, node: Node, values: ValueTable
) -> Outputs | None:
    return _attention(network, node, values) if node.domain == "com.microsoft" else None


@of_types(0)
def _multi_head_attention(network: Network, node: Node, query: TensorType) -> Outputs:
    batch, length = query.dims[:2]
    if len(query.dims) == 5:  # packed [B, S, N, 3, H]
        return [TensorType(query.dtype, (batch, length, query.dims[2] * query.dims[4]))]
    heads = max(node.attributes.integer("num_heads", 1), 1)
    key, value = network.input_type(node, 1), network.input_type(node, 2)
    # key and value are [B, T, N * H] or, from another attention, [B, N, T, H].
    hidden, total = query.dims[2], key.dims[1] if key.is_static else length
    if value.is_static:
        hidden = value.dims[2] if len(value.dims) == 3 else value.dims[1] * value.dims[3]
        total = value.dims[1] if len(value.dims) == 3 else value.dims[2]
    past = network.input_type(node, 6)
    total += past.dims[2] if past.is_static and len(past.dims) == 4 else 0
    present = TensorType(query.dtype, (batch, heads, total, hidden // heads))
    return [TensorType(query.dtype, (batch, length, hidden)), present, present]


@of_types(0)
def _group_query_attention(network: Network, node: Node, query: TensorType) -> Outputs:
    batch, length, width = query.dims
    heads = max(node.attributes.integer("num_heads", 1), 1)
    kv_heads = max(node.attributes.integer("kv_num_heads", heads), 1)
    # Packed: query, key and value heads lie side by side in the first input.
    packed = len(node.inputs) < 2 or not node.inputs[1]
    head_size = width // (heads + 2 * kv_heads) if packed else width // heads
    past = network.input_type(node, 3)
    cached = past.dims[2] if past.is_static and len(past.dims) == 4 else 0
    present = TensorType(query.dtype, (batch, kv_heads, max(cached, 0) + length, head_size))
    return [TensorType(query.dtype, (batch, length, heads * head_size)), present, present]


@of_types(0)
def _skip_normalization(_: Network, __: Node, data: TensorType) -> Outputs:
    mean = TensorType(_FLOAT32, (*data.dims[:-1], 1))
    return [data, mean, mean, data]


@of_types(0, 2)
def _embed_normalization(_: Network, __: Node, ids: TensorType, table: TensorType) -> Outputs:
    embedded = TensorType(table.dtype, (*ids.dims, table.dims[-1]))
    return [embedded, TensorType(_INT32, ids.dims[:1]), embedded]


@of_types(0)
def _global_pool(_: Network, node: Node, data: TensorType) -> Outputs:
    ones = (1,) * (len(data.dims) - 2)
    last = is_channels_last(node)
    batch, channels = data.dims[0], data.dims[-1 if last else 1]
    return [TensorType(data.dtype, (batch, *ones, channels) if last else (batch, channels, *ones))]


@of_types(0, 1)
def _quantised_embedding(
    network: Network, node: Node, table: TensorType, ids: TensorType
) -> Outputs:
    axis = node.attributes.integer("gather_axis")
    rows = table.dims
    if table.dtype == _UINT8:
        # Several integers to a byte, along the last axis.
        rows = (*rows[:-1], rows[-1] * 8 // max(node.attributes.integer("bits", 4), 1))
    dims = (*rows[:axis], *ids.dims, *rows[axis + 1 :])
    return [TensorType(network.input_type(node, 2).dtype, dims)]


@of_types(0)
def _reorder_output(_: Network, node: Node, data: TensorType) -> Outputs | None:
    """Back from channels in blocks: the padding of the last block goes."""
    channels = node.attributes.integer("channels")
    if channels <= 0:
        return None
    batch, _padded, *spatial = data.dims
    last = bool(node.attributes.integer("channels_last"))
    dims = (batch, *spatial, channels) if last else (batch, channels, *spatial)
    return [TensorType(data.dtype, dims)]


def _reorder_input(network: Network, node: Node, _: ValueTable) -> Outputs | None:
    data = network.input_type(node, 0)
    if not data.is_static or not node.attributes.integer("channels_last"):
        return [data]
    batch, *spatial, channels = data.dims
    return [TensorType(data.dtype, (batch, channels, *spatial))]


@of_types(0, 1)
def _dynamic_lstm(_: Network, node: Node, data: TensorType, weights: TensorType) -> Outputs | None:
    hidden = node.attributes.integer("hidden_size")
    if not hidden:
        return None
    length, batch, _width = data.dims
    # Y is [S, directions, B, H], Y_h and Y_c are [directions, B, H].
    state = TensorType(data.dtype, (weights.dims[0], batch, hidden))
    sequence = TensorType(data.dtype, (length, weights.dims[0], batch, hidden))
    return [sequence, state, state]


def _quantised_concat(network: Network, node: Node, _: ValueTable) -> Outputs | None:
    # Output scale and zero point, then tensor, scale and zero point of each piece.
    pieces = [network.type_of(name) for name in node.inputs[2::3]]
    if not pieces or not all(p.is_static for p in pieces):
        return None
    axis = node.attributes.integer("axis")
    dims = list(pieces[0].dims)
    dims[axis] = sum(p.dims[axis] for p in pieces)
    return [TensorType(pieces[0].dtype, tuple(dims))]


@of_types(0, 3)
def _quantised_gemm(_: Network, node: Node, a: TensorType, b: TensorType) -> Outputs:
    flags = [bool(node.attributes.integer(f"trans{s}")) for s in "AB"]
    # Input 7 is y_scale; without it the result stays float32.
    has_output_scale = len(node.inputs) > 7 and bool(node.inputs[7])
    dtype = a.dtype if has_output_scale else _FLOAT32
    return [TensorType(dtype, _matmul_dims(a.dims, b.dims, *flags))]


_SAME = """
    BiasAdd BiasDropout BiasGelu BiasSoftmax BitmaskDropout ComplexMul ComplexMulConj FastGelu
    GroupNorm GroupNormalization MoE NGramRepeatBlock QLinearLeakyRelu QLinearSigmoid
    QLinearSoftmax QMoE QuickGelu RotaryEmbedding SimplifiedLayerNormalization
"""

CONTRIB_RULES: dict[str, Rule] = by_operator(
    {
        _SAME: _same_as_first,
        "Attention": _standard_or_contrib_attention,
        "DynamicQuantizeLSTM": _dynamic_lstm,
        "DynamicQuantizeMatMul FusedMatMul FusedMatMulActivation": _matmul_at(0, 1),
        "EmbedLayerNormalization": _embed_normalization,
        "GatherBlockQuantized": _quantised_embedding,
        "GroupQueryAttention": _group_query_attention,
        "MatMulBnb4 MatMulFpQ4 MatMulNBits": _matmul_nbits,
        "MatMulInteger16": _matmul_at(0, 1, _INT32),
        "MatMulIntegerToFloat": _matmul_at(0, 1, _FLOAT32),
        "MultiHeadAttention": _multi_head_attention,
        "NhwcConv NhwcFusedConv": _convolution_at(1),
        "NhwcMaxPool QLinearAveragePool": _channels_last_pooling,
        "NhwcQLinearConv QLinearConv": _convolution_at(3, zero_point_at=7),
        "DecoderMaskedSelfAttention QAttention": _attention,
        "PackedAttention": _packed_attention,
        "PackedMultiHeadAttention": _packed_multi_head_attention,
        "PagedAttention": _paged_attention,
        "QGemm": _quantised_gemm,
        "QLinearAdd QLinearMul": _broadcast_quantised,
        "QLinearConcat": _quantised_concat,
        "QLinearGlobalAveragePool": _global_pool,
        "ReorderInput": _reorder_input,
        "ReorderOutput": _reorder_output,
        "SkipGroupNorm SkipLayerNormalization": _skip_normalization,
        "SkipSimplifiedLayerNormalization": _skip_normalization,
        "TransposeMatMul": _matmul_at(0, 1),
    }
)
