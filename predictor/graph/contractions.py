"""Multiply-accumulates of products: convolutions, matrix products, recurrent layers, FFTs.

MACs count multiplications of a contraction with their additions; bias, activation, pooling,
normalisation and every other elementwise arithmetic count 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from predictor.graph.attention import (
    fused_attention,
    group_query_attention,
    multi_head_attention,
    standard_attention,
)
from predictor.graph.channels_last import is_channels_last
from predictor.graph.einsum import einsum_work
from predictor.graph.misfits import MISFIT, misfit
from predictor.graph.network import Network, Node
from predictor.graph.work import NO_WORK, Work, batch_first, product_work

_MOST_MACS = 2**60
_LARGEST_WINDOW = 2**31
Counter: TypeAlias = Callable[[Network, Node], Work]


class _Window(NamedTuple):
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]


def _window(node: Node, weights: tuple[int, ...]) -> _Window:
    kernel = node.attributes.integers("kernel_shape") or weights[2:]
    ones = (1,) * len(kernel)
    stride = node.attributes.integers("strides") or ones
    return _Window(kernel, stride, node.attributes.integers("dilations") or ones)


def _pair(values: tuple[int, ...]) -> tuple[int, int]:
    """Return height and width: a 1-D window has height 1, of a 3-D one the last two count."""
    padded = (1, 1, *values)
    return padded[-2], padded[-1]


def _is_winograd(window: _Window) -> bool:
    plain = all(s == 1 for s in (*window.stride, *window.dilation))
    return plain and any(k > 1 for k in window.kernel)


def _groups(node: Node) -> int:
    groups = node.attributes.integer("group", 1)
    if groups < 1:
        raise ValueError(groups)
    return groups


def _convolution_at(weights_at: int) -> Counter:
    def count(network: Network, node: Node) -> Work:
        weights, out = network.dims_of(node, weights_at), network.dims_of(node, -1)
        if len(weights) < 3 or len(out) < 3:
            return NO_WORK
        channels = out[-1] if is_channels_last(node) else out[1]
        groups = _groups(node)
        pixels = math.prod(out) // channels if channels else 0
        # Input channels per group x window, whatever the layout of the weights.
        inner = math.prod(weights) // weights[0] if weights[0] else 0
        window = _window(node, weights)
        gemm = (groups, pixels, channels // groups, inner)
        return Work(
            math.prod(gemm), gemm, _pair(window.kernel), _pair(window.stride), _is_winograd(window)
        )

    return count


def _transposed_convolution(network: Network, node: Node) -> Work:
    """Each input pixel meets the window of each output channel of its group once."""
    return _transposed(network, node, 1)


def _quantised_transposed_convolution(network: Network, node: Node) -> Work:
    return _transposed(network, node, 3)


def _transposed(network: Network, node: Node, weights_at: int) -> Work:
    data, weights = network.dims_of(node, 0), network.dims_of(node, weights_at)
    if len(weights) < 3 or len(data) < 3:
        return NO_WORK
    groups = _groups(node)
    pixels = data[0] * math.prod(data[2:])
    window = _window(node, weights)
    gemm = (groups, pixels, math.prod(weights[1:]), weights[0] // groups)
    return Work(
        math.prod(gemm), gemm, _pair(window.kernel), _pair(window.stride), _is_winograd(window)
    )


def _pooling(_: Network, node: Node) -> Work:
    window = _window(node, ())
    return Work(0, (0, 0, 0, 0), _pair(window.kernel), _pair(window.stride), False)


def _matmul_at(a: int, b: int) -> Counter:
    def count(network: Network, node: Node) -> Work:
        left, right = network.dims_of(node, a), network.dims_of(node, b)
        trans_a = bool(node.attributes.integer("transA"))
        trans_b = bool(node.attributes.integer("transB"))
        left = batch_first(left, bool(node.attributes.integer("transBatchA")))
        right = batch_first(right, bool(node.attributes.integer("transBatchB")))
        return _matmul(left, right, trans_a, trans_b)

    return count


def _matmul(
    left: tuple[int, ...], right: tuple[int, ...], trans_a: bool = False, trans_b: bool = False
) -> Work:
    if not left or not right:
        return NO_WORK
    a = left if len(left) > 1 else (1, *left)
    b = right if len(right) > 1 else (*right, 1)
    rows, inner = (a[-1], a[-2]) if trans_a else (a[-2], a[-1])
    columns = b[-2] if trans_b else b[-1]
    batch = _broadcast_count(a[:-2], b[:-2])
    if math.prod(b[:-2]) == 1 and not trans_a:
        return product_work(1, batch * rows, columns, inner)
    return product_work(batch, rows, columns, inner)


def _broadcast_count(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    rank = max(len(a), len(b))
    padded = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    return math.prod(y if x == 1 else x for x, y in padded)


def _matmul_nbits(network: Network, node: Node) -> Work:
    data = network.dims_of(node, 0)
    inner, columns = node.attributes.integer("K"), node.attributes.integer("N")
    return product_work(1, math.prod(data[:-1]), columns, inner)


def _recurrent(gates: int) -> Counter:
    def count(network: Network, node: Node) -> Work:
        data, weights = network.dims_of(node, 0), network.dims_of(node, 1)
        recurrence = network.dims_of(node, 2)
        if len(data) < 3 or len(weights) < 3 or len(recurrence) < 3:
            return NO_WORK
        hidden = node.attributes.integer("hidden_size") or recurrence[2]
        # One row a step and sample: input and state join along K.
        steps = data[0] * data[1]
        return product_work(weights[0], steps, gates * hidden, data[2] + hidden)

    return count


def _fft(network: Network, node: Node) -> Work:
    """A fast Fourier transform of n points takes about 2 n log2(n) real MACs."""
    data, out = network.dims_of(node, 0), network.dims_of(node, -1)
    if len(out) < 3:
        return NO_WORK
    if node.op == "DFT":
        axis = node.attributes.integer("axis", -2)
        length = max(data[axis], out[axis])
    else:
        length = 2 * (out[-2] - 1) if node.attributes.integer("onesided", 1) else out[-2]
    points = math.prod(out[:-1]) // max(out[-2], 1) * length
    return Work(int(2 * points * math.log2(max(length, 1))))


def _causal_convolution(network: Network, node: Node) -> Work:
    """Depthwise: each output meets one window."""
    weights, out = network.dims_of(node, 1), network.dims_of(node, -1)
    if len(out) < 3 or not weights:
        return NO_WORK
    return product_work(out[1], math.prod(out) // max(out[1], 1), 1, weights[-1])


COUNTERS: dict[str, Counter] = {
    "Attention": lambda n, node: (
        fused_attention(n, node) if node.domain == "com.microsoft" else standard_attention(n, node)
    ),
    "AveragePool": _pooling,
    "CausalConvWithState": _causal_convolution,
    "Conv": _convolution_at(1),
    "ConvInteger": _convolution_at(1),
    "ConvTranspose": _transposed_convolution,
    "ConvTransposeWithDynamicPads": _transposed_convolution,
    "DFT": _fft,
    "DecoderMaskedMultiHeadAttention": multi_head_attention,
    "DeformConv": _convolution_at(1),
    "DynamicQuantizeLSTM": _recurrent(4),
    "DynamicQuantizeMatMul": _matmul_at(0, 1),
    "Einsum": einsum_work,
    "FusedConv": _convolution_at(1),
    "FusedGemm": _matmul_at(0, 1),
    "FusedMatMul": _matmul_at(0, 1),
    "FusedMatMulActivation": _matmul_at(0, 1),
    "GRU": _recurrent(3),
    "Gemm": _matmul_at(0, 1),
    "GemmFastGelu": _matmul_at(0, 1),
    "GemmFloat8": _matmul_at(0, 1),
    "GroupQueryAttention": group_query_attention,
    "LSTM": _recurrent(4),
    "LpPool": _pooling,
    "MatMul": _matmul_at(0, 1),
    "MatMulBnb4": _matmul_nbits,
    "MatMulFpQ4": _matmul_nbits,
    "MatMulInteger": _matmul_at(0, 1),
    "MatMulInteger16": _matmul_at(0, 1),
    "MatMulIntegerToFloat": _matmul_at(0, 1),
    "MatMulNBits": _matmul_nbits,
    "MaxPool": _pooling,
    "MultiHeadAttention": multi_head_attention,
    "NhwcConv": _convolution_at(1),
    "NhwcFusedConv": _convolution_at(1),
    "NhwcMaxPool": _pooling,
    "NhwcQLinearConv": _convolution_at(3),
    "PackedMultiHeadAttention": multi_head_attention,
    "QAttention": fused_attention,
    "QGemm": _matmul_at(0, 3),
    "QLinearAveragePool": _pooling,
    "QLinearConv": _convolution_at(3),
    "QLinearConvTranspose": _quantised_transposed_convolution,
    "QLinearMatMul": _matmul_at(0, 3),
    "RNN": _recurrent(1),
    "STFT": _fft,
    "TransposeMatMul": _matmul_at(0, 1),
}


def work_of(network: Network, node: Node) -> Work:
    """Return the arithmetic of one run of a node.

    Raises:
        InputError: the node's inputs are not what its operator is defined for.
    """
    counter = COUNTERS.get(node.op)
    if counter is None:
        return NO_WORK
    try:
        work = counter(network, node)
    except MISFIT as error:
        raise misfit(node) from error
    if not 0 <= work.macs <= _MOST_MACS or max(*work.window, *work.stride) >= _LARGEST_WINDOW:
        raise misfit(node, "they state more work than 64 bits can count")
    return work
