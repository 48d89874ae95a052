"""Multiply-accumulates of convolutions, matrix products, attention, recurrent layers and FFTs.

MACs count multiplications of a contraction with their additions; bias, activation, pooling,
normalisation and every other elementwise arithmetic count 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from predictor.graph.arithmetic import NO_ARITHMETIC, Arithmetic, batch_first, product_arithmetic
from predictor.graph.attention import (
    fused_attention,
    group_query_attention,
    multi_head_attention,
    packed_multi_head_attention,
    paged_attention,
    relative_position_gate,
    standard_attention,
)
from predictor.graph.contrib_rules import is_channels_last, packed_sizes
from predictor.graph.network import MISFIT, Network, Node, misfit
from predictor.graph.operators import by_operator

# One character in place of three, so that a term is read letter by letter.
_ELLIPSIS_SYMBOL = "."


def einsum_work(network: Network, node: Node) -> Arithmetic:
    """Count an Einsum: two operands as one product, more from left to right."""
    operands = [network.type_of(name).dims for name in node.inputs]
    equation = node.attributes.string("equation").replace(" ", "").replace("...", _ELLIPSIS_SYMBOL)
    left, arrow, output = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands) or len(terms) < 2:
        return NO_ARITHMETIC
    labelled = [_label(term, dims) for term, dims in zip(terms, operands, strict=True)]
    sizes: dict[str, int] = {}
    for labels, dims in zip(labelled, operands, strict=True):
        for label, size in zip(labels, dims, strict=False):
            # Broadcasting: a dim of 1 stretches to that of the other operand.
            sizes[label] = max(size, sizes.get(label, 1))
    dotted = {label for label in sizes if label.startswith(_ELLIPSIS_SYMBOL)}
    wanted = _wanted(labelled, arrow, output, dotted)
    if len(labelled) == 2:
        return _pair_work(set(labelled[0]), set(labelled[1]), wanted, sizes)
    return _chain([set(labels) for labels in labelled], wanted, sizes)


def _label(term: str, dims: tuple[int, ...]) -> list[str]:
    """Name each axis; those under an ellipsis are named from the right."""
    hidden = len(dims) - len(term.replace(_ELLIPSIS_SYMBOL, ""))
    labels: list[str] = []
    for symbol in term:
        if symbol == _ELLIPSIS_SYMBOL:
            labels += [f"{_ELLIPSIS_SYMBOL}{hidden - i}" for i in range(hidden)]
        else:
            labels.append(symbol)
    return labels


def _wanted(labelled: list[list[str]], arrow: str, output: str, dotted: set[str]) -> set[str]:
    if arrow:
        return set(output.replace(_ELLIPSIS_SYMBOL, "")) | dotted
    # Implicit form: labels that occur once are the output, as in numpy.einsum.
    all_labels = [label for labels in labelled for label in labels]
    return {label for label in all_labels if all_labels.count(label) == 1} | dotted


def _pair_work(a: set[str], b: set[str], wanted: set[str], sizes: dict[str, int]) -> Arithmetic:
    def volume(labels: set[str]) -> int:
        return math.prod(sizes[label] for label in labels)

    if not (a | b) - wanted:
        return NO_ARITHMETIC  # nothing is summed: an elementwise or outer product
    return product_arithmetic(
        volume(a & b & wanted),
        volume((a - b) & wanted),
        volume((b - a) & wanted),
        volume((a | b) - wanted),
    )


def _chain(terms: list[set[str]], wanted: set[str], sizes: dict[str, int]) -> Arithmetic:
    macs, current = 0, terms[0]
    for position, term in enumerate(terms[1:], start=1):
        later = set().union(*terms[position + 1 :], wanted)
        macs += _pair_work(current, term, later, sizes).macs
        current = (current | term) & later
    return Arithmetic(macs)


_MAX_MACS = 2**60
# Window and stride are int32 in the operator graph.
_LARGEST_WINDOW = 2**31
Counter: TypeAlias = Callable[[Network, Node], Arithmetic]


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
    # Fast algorithms reuse overlapping windows, which a 1 x 1 kernel does not have.
    plain = all(s == 1 for s in (*window.stride, *window.dilation))
    return plain and any(k > 1 for k in window.kernel)


def _groups(node: Node) -> int:
    groups = node.attributes.integer("group", 1)
    if groups < 1:
        # One of MISFIT: arithmetic_of names the node.
        raise ValueError(groups)
    return groups


def _convolution_at(weights_at: int) -> Counter:
    def count(network: Network, node: Node) -> Arithmetic:
        weights, out = network.dims_of(node, weights_at), network.dims_of(node, -1)
        if len(weights) < 3 or len(out) < 3:
            return NO_ARITHMETIC
        channels = out[-1] if is_channels_last(node) else out[1]
        groups = _groups(node)
        pixels = math.prod(out) // channels if channels else 0
        # Input channels per group x window, whatever the layout of the weights.
        inner = math.prod(weights) // weights[0] if weights[0] else 0
        return _windowed((groups, pixels, channels // groups, inner), _window(node, weights))

    return count


def _transposed_convolution_at(weights_at: int) -> Counter:
    """Each input pixel meets the window of each output channel of its group once."""

    def count(network: Network, node: Node) -> Arithmetic:
        data, weights = network.dims_of(node, 0), network.dims_of(node, weights_at)
        if len(weights) < 3 or len(data) < 3:
            return NO_ARITHMETIC
        groups = _groups(node)
        pixels = data[0] * math.prod(data[2:])
        gemm = (groups, pixels, math.prod(weights[1:]), weights[0] // groups)
        return _windowed(gemm, _window(node, weights))

    return count


# Deep networks repeat the same few convolutions.
@lru_cache(maxsize=4096)
def _windowed(gemm: tuple[int, int, int, int], window: _Window) -> Arithmetic:
    kernel, stride = _pair(window.kernel), _pair(window.stride)
    return Arithmetic(math.prod(gemm), gemm, kernel, stride, _is_winograd(window))


def _pooling(_: Network, node: Node) -> Arithmetic:
    window = _window(node, ())
    return Arithmetic(0, (0, 0, 0, 0), _pair(window.kernel), _pair(window.stride), False)


def _matmul_at(a: int, b: int) -> Counter:
    def count(network: Network, node: Node) -> Arithmetic:
        left, right = network.dims_of(node, a), network.dims_of(node, b)
        trans_a = bool(node.attributes.integer("transA"))
        trans_b = bool(node.attributes.integer("transB"))
        left = batch_first(left, bool(node.attributes.integer("transBatchA")))
        right = batch_first(right, bool(node.attributes.integer("transBatchB")))
        return _matmul(left, right, trans_a, trans_b)

    return count


def _matmul(
    left: tuple[int, ...], right: tuple[int, ...], trans_a: bool = False, trans_b: bool = False
) -> Arithmetic:
    if not left or not right:
        return NO_ARITHMETIC
    a = left if len(left) > 1 else (1, *left)
    b = right if len(right) > 1 else (*right, 1)
    rows, inner = (a[-1], a[-2]) if trans_a else (a[-2], a[-1])
    columns = b[-2] if trans_b else b[-1]
    batch = _broadcast_count(a[:-2], b[:-2])
    # One right matrix serves the whole batch, so the batch joins the rows.
    if math.prod(b[:-2]) == 1 and not trans_a:
        return product_arithmetic(1, batch * rows, columns, inner)
    return product_arithmetic(batch, rows, columns, inner)


def _broadcast_count(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    rank = max(len(a), len(b))
    padded = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    return math.prod(y if x == 1 else x for x, y in padded)


def _matmul_nbits(network: Network, node: Node) -> Arithmetic:
    data = network.dims_of(node, 0)
    inner, columns = packed_sizes(network, node)
    return product_arithmetic(1, math.prod(data[:-1]), columns, inner)


def _experts(network: Network, node: Node) -> Arithmetic:
    """Each token passes ``k`` experts: their two or three matrices count as one product."""
    data, quantised = network.dims_of(node, 0), node.op == "QMoE"
    # Each matrix is followed by its bias, a quantised one by its scales first.
    stride = 3 if quantised else 2
    packed = 8 // max(node.attributes.integer("expert_weight_bits", 4), 1) if quantised else 1
    matrices = [network.dims_of(node, 2 + stride * i) for i in range(3)]
    weights = sum(math.prod(dims[1:]) * packed for dims in matrices if len(dims) == 3)
    width = max(data[-1], 1)
    rows = math.prod(data[:-1]) * node.attributes.integer("k", 1)
    return product_arithmetic(1, rows, weights // width, width)


def _recurrent(gates: int) -> Counter:
    def count(network: Network, node: Node) -> Arithmetic:
        data, weights = network.dims_of(node, 0), network.dims_of(node, 1)
        recurrence = network.dims_of(node, 2)
        if len(data) < 3 or len(weights) < 3 or len(recurrence) < 3:
            return NO_ARITHMETIC
        hidden = node.attributes.integer("hidden_size") or recurrence[2]
        # One row a step and sample: input and state join along K. weights[0] counts directions.
        steps = data[0] * data[1]
        return product_arithmetic(weights[0], steps, gates * hidden, data[2] + hidden)

    return count


def _fft(network: Network, node: Node) -> Arithmetic:
    """A fast Fourier transform of n points takes about 2 n log2(n) real MACs."""
    data, out = network.dims_of(node, 0), network.dims_of(node, -1)
    if len(out) < 3:
        return NO_ARITHMETIC
    if node.op == "DFT":
        axis = node.attributes.integer("axis", -2)
        length = max(data[axis], out[axis])
    else:
        # A one-sided transform keeps length // 2 + 1 bins.
        length = 2 * (out[-2] - 1) if node.attributes.integer("onesided", 1) else out[-2]
    points = math.prod(out[:-1]) // max(out[-2], 1) * length
    return Arithmetic(int(2 * points * math.log2(max(length, 1))))


def _causal_convolution(network: Network, node: Node) -> Arithmetic:
    """Depthwise: each output meets one window."""
    weights, out = network.dims_of(node, 1), network.dims_of(node, -1)
    if len(out) < 3 or not weights:
        return NO_ARITHMETIC
    return product_arithmetic(out[1], math.prod(out) // max(out[1], 1), 1, weights[-1])


COUNTERS: dict[str, Counter] = by_operator(
    {
        "Attention": lambda network, node: (
            fused_attention if node.domain == "com.microsoft" else standard_attention
        )(network, node),
        "DecoderMaskedSelfAttention PackedAttention QAttention": fused_attention,
        "AveragePool LpPool MaxPool NhwcMaxPool QLinearAveragePool": _pooling,
        "CausalConvWithState": _causal_convolution,
        "Conv ConvInteger DeformConv FusedConv NhwcConv NhwcFusedConv": _convolution_at(1),
        "ConvTranspose ConvTransposeWithDynamicPads": _transposed_convolution_at(1),
        "DFT STFT": _fft,
        "DecoderMaskedMultiHeadAttention MultiHeadAttention": multi_head_attention,
        "DynamicQuantizeLSTM LSTM": _recurrent(4),
        "DynamicQuantizeMatMul FusedMatMul FusedMatMulActivation MatMul": _matmul_at(0, 1),
        "Einsum": einsum_work,
        "FusedGemm Gemm GemmFastGelu GemmFloat8 TransposeMatMul": _matmul_at(0, 1),
        "GRU": _recurrent(3),
        "GatedRelativePositionBias": relative_position_gate,
        "GroupQueryAttention": group_query_attention,
        "MatMulBnb4 MatMulFpQ4 MatMulNBits": _matmul_nbits,
        "MoE QMoE": _experts,
        "MatMulInteger MatMulInteger16 MatMulIntegerToFloat": _matmul_at(0, 1),
        "PackedMultiHeadAttention": packed_multi_head_attention,
        "PagedAttention": paged_attention,
        "NhwcQLinearConv QLinearConv": _convolution_at(3),
        "QGemm QLinearMatMul": _matmul_at(0, 3),
        "QLinearConvTranspose": _transposed_convolution_at(3),
        "RNN": _recurrent(1),
    }
)


def arithmetic_of(network: Network, node: Node) -> Arithmetic:
    """Return the arithmetic of one run of a node.

    Raises:
        InputError: the node's inputs do not fit its operator.
    """
    counter = COUNTERS.get(node.op)
    if counter is None:
        return NO_ARITHMETIC
    try:
        work = counter(network, node)
    except MISFIT as error:
        raise misfit(node) from error
    counts, sizes = (work.macs, *work.gemm), (*work.window, *work.stride)
    if min(*counts, *sizes) < 0 or max(counts) > _MAX_MACS or max(sizes) >= _LARGEST_WINDOW:
        raise misfit(node, "they state more work than 64 bits can count")
    return work
