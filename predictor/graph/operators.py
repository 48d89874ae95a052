"""Canonical operators and data types. Both tables are append-only: their indices are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

T = TypeVar("T")

_STANDARD = """
    Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool
    BatchNormalization Bernoulli BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
    BlackmanWindow Cast CastLike CausalConvWithState Ceil Celu CenterCropPad Clip Col2Im
    Compress Concat ConcatFromSequence Constant ConstantOfShape Conv ConvInteger ConvTranspose
    Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout
    DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather
    GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater
    GreaterOrEqual GridSample GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish
    Hardmax Identity If ImageDecoder InstanceNormalization IsInf IsNaN LRN LSTM
    LayerNormalization LeakyRelu Less LessOrEqual LinearAttention Log LogSoftmax Loop
    LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean
    MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul Multinomial Neg
    NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement
    OptionalHasElement Or PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear
    RMSNormalization RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range
    Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
    ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu Reshape Resize ReverseSequence
    RoiAlign RotaryEmbedding Round STFT Scan Scatter ScatterElements ScatterND Selu SequenceAt
    SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap
    Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss Softplus
    Softsign SpaceToDepth Split SplitToSequence Sqrt Squeeze StringConcat StringNormalizer
    StringSplit Sub Sum SwiGLU Swish Tan Tanh TensorScatter TfIdfVectorizer ThresholdedRelu Tile
    TopK Transpose Trilu Unique Unsqueeze Upsample Where Xor
"""
_CONTRIB = """
    AttnLSTM BeamSearch BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu
    BifurcationDetector BitmaskBiasDropout BitmaskDropout CDist ComplexMul ComplexMulConj
    ConvTransposeWithDynamicPads CropAndResize DecoderAttention DecoderMaskedMultiHeadAttention
    DecoderMaskedSelfAttention DequantizeBFP DequantizeWithOrder DynamicQuantizeLSTM
    DynamicQuantizeMatMul DynamicTimeWarping EPContext EmbedLayerNormalization ExpandDims
    FastGelu FusedConv FusedGemm FusedMatMul FusedMatMulActivation GatedRelativePositionBias
    GatherBlockQuantized GemmFastGelu GemmFloat8 GreedySearch GroupNorm GroupQueryAttention
    Inverse Irfft IsAllFinite LongformerAttention MatMulBnb4 MatMulFpQ4 MatMulInteger16
    MatMulIntegerToFloat MatMulNBits MoE MulInteger MultiHeadAttention MurmurHash3
    NGramRepeatBlock NhwcConv NhwcFusedConv NhwcMaxPool NhwcQLinearConv PackedAttention
    PackedMultiHeadAttention PagedAttention QAttention QEmbedLayerNormalization QGemm QLinearAdd
    QLinearAveragePool QLinearConcat QLinearConvTranspose QLinearGlobalAveragePool
    QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid QLinearSoftmax QLinearWhere
    QMoE QOrderedAttention QOrderedGelu QOrderedLayerNormalization QOrderedLongformerAttention
    QOrderedMatMul QuantizeBFP QuantizeWithOrder QuickGelu RelativePositionBias RemovePadding
    ReorderInput ReorderOutput RestorePadding Rfft SampleOp Sampling
    SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization
    SkipSimplifiedLayerNormalization SparseAttention SparseToDenseMatMul Tokenizer
    TorchEmbedding TransposeMatMul UnfoldTensor WhisperBeamSearch WordConvEmbedding
"""


def by_operator(rows: Mapping[str, T]) -> dict[str, T]:
    """Return a table of single operators from one whose keys are several names each."""
    return {name: value for names, value in rows.items() for name in names.split()}


OPERATORS: Final[tuple[str, ...]] = ("Unknown", *_STANDARD.split(), *_CONTRIB.split())
OPERATOR_CODE: Final[dict[str, int]] = {name: code for code, name in enumerate(OPERATORS)}

_DTYPES = """
    float32 float16 bfloat16 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool string
    float8 int4 uint4 complex64 complex128 float4 int2 uint2 unknown float6
"""
DTYPES: Final[tuple[str, ...]] = tuple(_DTYPES.split())
# Of one element. A string is counted as its 16-byte handle; a value that is no tensor has no known
# size.
DTYPE_BITS: Final[tuple[int, ...]] = (
    *(32, 16, 16, 64, 8, 8, 16, 16, 32, 32, 64, 64, 8, 128, 8, 4, 4, 64, 128, 4, 2, 2, 0, 6),
)
DTYPE_CODE: Final[dict[str, int]] = {name: code for code, name in enumerate(DTYPES)}

# Our names of onnx.TensorProto.DataType, from 0, which is "undefined".
_ONNX_DTYPES: Final = """
    unknown float32 uint8 int8 uint16 int16 int32 int64 string bool float16 float64 uint32 uint64
    complex64 complex128 bfloat16 float8 float8 float8 float8 uint4 int4 float4 float8 uint2 int2
    float6 float6
"""
DTYPE_OF_ONNX: Final[dict[int, int]] = {
    onnx_type: DTYPE_CODE[name] for onnx_type, name in enumerate(_ONNX_DTYPES.split())
}
# The reverse: one ONNX type for each type here. Reversed, so that the first of several is written
# last and stays: float8 stands for E4M3FN.
ONNX_OF_DTYPE: Final[dict[int, int]] = {
    code: onnx_type for onnx_type, code in reversed(DTYPE_OF_ONNX.items())
}

# onnxruntime's saved graphs: standard operators on channels in blocks, dims as in NCHW.
BLOCKED_DOMAIN: Final = "com.microsoft.nchwc"
_OUR_DOMAINS = frozenset({"", "ai.onnx", "com.microsoft", BLOCKED_DOMAIN})

# Inputs that steer an operator (shapes, axes, bounds): neither weights nor traffic.
PARAMETER_INPUTS: Final[dict[str, tuple[int, ...]]] = {
    **by_operator(
        {
            "AffineGrid CenterCropPad CumProd CumSum Expand Reshape SequenceAt Split": (1,),
            "SplitToSequence Squeeze Tile TopK Trilu Unsqueeze Upsample": (1,),
            "Clip Col2Im DFT Dropout OneHot": (1, 2),
            "ConstantOfShape If": (0,),
            "Loop": (0, 1),
            "MaxUnpool": (2,),
            "NonMaxSuppression": (2, 3, 4),
            "Pad Resize": (1, 2, 3),
            "Range": (0, 1, 2),
            "STFT": (1, 3),
            "Slice": (1, 2, 3, 4),
        }
    ),
    # Axes became an input of reductions with opset 13 (ReduceSum) and 18 (the others).
    **{name: (1,) for name in OPERATORS if name.startswith("Reduce")},
}

# Inputs that choose elements: traffic, but no weights.
INDEX_INPUTS: Final[dict[str, tuple[int, ...]]] = by_operator(
    {
        "Gather GatherElements GatherND GatherBlockQuantized": (1,),
        "Scatter ScatterElements ScatterND TensorScatter": (1,),
    }
)

# Scales and zero points of integers: bytes of the model, no parameters.
SCALE_INPUTS: Final[dict[str, tuple[int, ...]]] = by_operator(
    {
        "DequantizeLinear QuantizeLinear": (1, 2),
        "QLinearAveragePool QLinearGlobalAveragePool QLinearLeakyRelu": (1, 2, 3, 4),
        "QLinearReduceMean QLinearSigmoid QLinearSoftmax": (1, 2, 3, 4),
        "NhwcQLinearConv QLinearConv QLinearConvTranspose": (1, 2, 4, 5, 6, 7),
        "QLinearAdd QLinearMatMul QLinearMul": (1, 2, 4, 5, 6, 7),
        "QGemm": (1, 2, 4, 5, 7, 8),
        "ConvInteger DynamicQuantizeMatMul MatMulInteger": (2, 3),
        "MatMulIntegerToFloat": (2, 3, 4, 5),
        "DynamicQuantizeLSTM": (8, 9, 10, 11),
        "QAttention": (3, 4, 6, 7),
        "GatherBlockQuantized": (2, 3),
        "MatMulBnb4": (2,),
        "MatMulNBits": (2, 3, 4),
        "QMoE": (3, 6, 9, 11, 12, 13),
    }
)

# Weights of several to a byte, and the attribute with their bits.
PACKED_INPUTS: Final[dict[str, tuple[tuple[int, ...], str]]] = {
    "GatherBlockQuantized": ((0,), "bits"),
    "MatMulBnb4": ((1,), ""),
    "MatMulFpQ4": ((1,), ""),
    "MatMulNBits": ((1,), "bits"),
    "QMoE": ((2, 5, 8), "expert_weight_bits"),
}

# Epilogues that runtimes run inside the contraction that feeds them.
_ACTIVATIONS = """
    Celu Clip Elu FastGelu Gelu HardSigmoid HardSwish LeakyRelu Mish PRelu QuickGelu Relu Selu
    Sigmoid Softplus Softsign Swish Tanh ThresholdedRelu
"""
ACTIVATIONS: Final[frozenset[str]] = frozenset(_ACTIVATIONS.split())
VIEWS: Final[frozenset[str]] = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
RANDOM: Final[frozenset[str]] = frozenset(
    name for name in OPERATORS if name.startswith(("Bernoulli", "Multinomial", "Random"))
)
CONTROL: Final[frozenset[str]] = frozenset({"If", "Loop", "Scan"})
# Known by name, but their work is not counted: they are flagged like unknown operators.
_UNCOUNTED = """
    AttnLSTM BeamSearch DecoderAttention EPContext GreedySearch ImageDecoder LinearAttention
    LongformerAttention QOrderedAttention QOrderedLongformerAttention QOrderedMatMul Sampling
    SequenceMap SparseAttention SparseToDenseMatMul WhisperBeamSearch WordConvEmbedding
"""
UNCOUNTED: Final[frozenset[str]] = frozenset(_UNCOUNTED.split())


def canonical_operator(domain: str, op_type: str) -> str:
    """Return the name in ``OPERATORS``, or ``Unknown``."""
    is_canonical = domain in _OUR_DOMAINS and op_type in OPERATOR_CODE
    return op_type if is_canonical else "Unknown"


def qualified_type(domain: str, op_type: str) -> str:
    """Return ``domain::Type``, or ``Type`` alone in the default domain."""
    return op_type if domain in {"", "ai.onnx"} else f"{domain}::{op_type}"


def tensor_bytes(dtype: int, elements: int) -> int:
    """Return the bytes of ``elements`` values packed, rounded up to whole bytes."""
    return (elements * DTYPE_BITS[dtype] + 7) // 8
