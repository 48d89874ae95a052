"""Kinds of operators that runtimes have kernels of their own for."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Bools, Floats, Integers
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import OPERATORS, by_operator

KINDS: Final = (
    "3 x 3 convolution",
    "other convolution",
    "pointwise convolution",
    "depthwise convolution",
    "grouped convolution",
    "product with weights",
    "thin product",
    "product of activations",
    "element by element",
    "normalisation",
    "pooling",
    "movement",
    "other",
    "3-D convolution",
)
KIND: Final = {name: number for number, name in enumerate(KINDS)}

# A product of fewer rows reads its weights for next to nothing: it runs at the speed of the memory.
_THIN_ROWS: Final = 8
_VOLUME_RANK: Final = 5

NETWORK_KINDS: Final = (
    "convolution",
    "pointwise convolution",
    "depthwise convolution",
    "grouped convolution",
    "product",
    "normalisation",
    "pooling",
    "other",
)
"""Kinds that the fine-tuned network distinguishes, fixed by its checkpoint."""

# Kind of a type, and the network's. In the first column the form of a contraction goes before its
# type, and a convolution without a form is "other". The second is fixed by the checkpoint that was
# trained with it: a network that is trained anew can do without.
_KINDS_OF_TYPE: Final = by_operator(
    {
        "Conv ConvInteger ConvTranspose": ("convolution", "convolution"),
        """
        DeformConv FusedConv NhwcConv NhwcFusedConv NhwcQLinearConv QLinearConv
        QLinearConvTranspose
        """: ("convolution", "other"),
        "Attention Einsum Gemm MatMul": ("other", "product"),
        """
        Add Sub Mul Div Relu Sigmoid Tanh Clip Gelu Erf HardSwish HardSigmoid LeakyRelu Swish
        Pow Sqrt Exp Log Where Cast PRelu Elu Selu Celu Neg Abs Min Max Sum Mean Identity
        QuickGelu FastGelu BiasGelu Softplus Softsign Mish Sin Cos Floor Ceil Round Reciprocal
        Equal Greater Less Not And Or QuantizeLinear DequantizeLinear DynamicQuantizeLinear Sign
        Mod QLinearAdd QLinearMul
        """: ("element by element", "other"),
        """
        GroupNormalization InstanceNormalization LayerNormalization ReduceMean Softmax
        """: ("normalisation", "normalisation"),
        """
        BatchNormalization LogSoftmax RMSNormalization LpNormalization MeanVarianceNormalization
        LRN ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare
        ReduceLogSumExp ArgMax ArgMin SkipLayerNormalization SimplifiedLayerNormalization
        SkipSimplifiedLayerNormalization GroupNorm QLinearSoftmax TopK CumSum
        """: ("normalisation", "other"),
        """
        AveragePool MaxPool GlobalAveragePool GlobalMaxPool LpPool QLinearAveragePool
        QLinearGlobalAveragePool NhwcMaxPool
        """: ("pooling", "pooling"),
        "GlobalLpPool MaxRoiPool": ("other", "pooling"),
        """
        Transpose Concat Split Slice Gather Pad Resize Upsample Tile Expand DepthToSpace
        SpaceToDepth GatherElements GatherND Scatter ScatterElements ScatterND Reshape Flatten
        Squeeze Unsqueeze QLinearConcat Trilu OneHot Range ConstantOfShape Col2Im ReorderInput
        ReorderOutput
        """: ("movement", "other"),
    }
)
_PAIRS: Final = [_KINDS_OF_TYPE.get(name, ("other", "other")) for name in OPERATORS]
_KIND_OF_CODE: Final = np.array([KIND.get(kind, KIND["other"]) for kind, _ in _PAIRS])
# Their steps wait for each other: an accelerator reaches little of what it does in products.
_IS_RECURRENT: Final = np.array([name in ("LSTM", "GRU", "RNN") for name in OPERATORS])
_IS_CONVOLUTION: Final = np.array([kind == "convolution" for kind, _ in _PAIRS])
NETWORK_KIND_OF_CODE: Final = np.array([NETWORK_KINDS.index(kind) for _, kind in _PAIRS])
"""The network's kind of each operator type by its code; convolutions have finer ones."""


def kinds_of(graph: OperatorGraph) -> Integers:
    """Return the kind of each operator of a graph, int64 [N], index into :data:`KINDS`."""
    starts, ends = graph.shape_offsets[:-1], graph.shape_offsets[1:]
    batch, elements = np.ones((2, len(graph)))
    # Products keep the batch as their first dimension; at another batch than that of the file they
    # write more than their shape says.
    sized = ends > starts
    batch[sized] = np.maximum(graph.shape_dims[starts[sized]], 1)
    np.multiply.at(elements, np.repeat(np.arange(len(graph)), ends - starts), graph.shape_dims)
    batch *= np.maximum(1.0, np.rint(graph.gemm[:, :3].prod(axis=1) / np.maximum(elements, 1)))
    return operator_kinds(
        graph.op_code,
        graph.gemm.astype(np.float64),
        graph.window.astype(np.float64),
        graph.weight_bytes.astype(np.float64),
        graph.has_flag(OperatorFlag.WINOGRAD),
        has_volume(graph),
        batch,
    )


def has_volume(graph: OperatorGraph) -> Bools:
    """Return which of N operators write a volume: batch, channels and three dimensions, bool [N].

    A convolution that does is a 3-D one, which few accelerators have kernels for.
    """
    volumes: Bools = np.diff(graph.shape_offsets) == _VOLUME_RANK
    return volumes


def is_convolution(op_code: NDArray[np.integer], window: NDArray[np.number]) -> Bools:
    """Return which of N contractions are convolutions, [N].

    Args:
        op_code: [N], as in :class:`predictor.graph.operator_graph.OperatorGraph`.
        window: [N, 2], as there.
    """
    convolutions: Bools = _IS_CONVOLUTION[op_code] | (window.max(axis=1, initial=0) > 0)
    return convolutions


def operator_kinds(
    op_code: NDArray[np.integer],
    gemm: Floats,
    window: Floats,
    weight_bytes: Floats,
    winograd: Bools,
    volumes: Bools,
    batch: Floats | float,
) -> Integers:
    """Return the kind of each of N operators, int64 [N], index into :data:`KINDS`.

    It is the same at every batch: where a kind changes, so does an efficiency, and a larger batch
    could be predicted faster.

    Args:
        op_code: [N], as in :class:`predictor.graph.operator_graph.OperatorGraph`.
        gemm: [N, 4], as there.
        window: [N, 2], as there.
        weight_bytes: [N], as there.
        winograd: [N], which may be served by fast algorithms.
        volumes: [N], which write a volume.
        batch: of the run, or of each operator, [N].
    """
    kinds = _KIND_OF_CODE[op_code]
    groups, rows, columns, _ = gemm.T
    contraction = (rows > 0) & ~_IS_RECURRENT[op_code]
    convolution = contraction & is_convolution(op_code, window)
    product = contraction & ~convolution
    # Without weights of its own a convolution holds the batch in its groups.
    grouped = convolution & (groups > np.where(weight_bytes > 0, 1.0, batch))
    large = window.max(axis=1, initial=0) > 1
    choices = (
        (product & (weight_bytes == 0), "product of activations"),
        (product & (weight_bytes > 0) & (rows < _THIN_ROWS * batch), "thin product"),
        (product & (weight_bytes > 0), "product with weights"),
        (convolution & volumes, "3-D convolution"),
        (grouped & (columns == 1), "depthwise convolution"),
        (grouped, "grouped convolution"),
        (convolution & ~large, "pointwise convolution"),
        (convolution & winograd, "3 x 3 convolution"),
        (convolution, "other convolution"),
    )
    numbers: Integers = np.select(
        [where for where, _ in choices], [KIND[name] for _, name in choices], kinds
    )
    return numbers
