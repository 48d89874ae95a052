"""Canonical operators and data types. Both tables are append-only: their indices are stored."""

from __future__ import annotations

from typing import Final

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

OPERATORS: Final[tuple[str, ...]] = ("Unknown", *_STANDARD.split(), *_CONTRIB.split())
OPERATOR_CODE: Final[dict[str, int]] = {name: code for code, name in enumerate(OPERATORS)}

DTYPES: Final[tuple[str, ...]] = (
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "bool",
    "string",
    "float8",
    "int4",
    "uint4",
    "complex64",
    "complex128",
    "float4",
    "int2",
    "uint2",
    "unknown",
)
DTYPE_CODE: Final[dict[str, int]] = {name: code for code, name in enumerate(DTYPES)}

# A string is counted as its 16-byte handle; a value that is no tensor has no known size.
DTYPE_BITS: Final[tuple[int, ...]] = (
    *(32, 16, 16, 64, 8, 8, 16, 16, 32, 32, 64, 64, 8, 128, 8, 4, 4, 64, 128, 4, 2, 2, 0),
)

# onnx.TensorProto.DataType -> index into DTYPES; 0 is "undefined".
DTYPE_OF_ONNX: Final[dict[int, int]] = {
    onnx_type: DTYPE_CODE[name]
    for onnx_type, name in {
        0: "unknown",
        1: "float32",
        2: "uint8",
        3: "int8",
        4: "uint16",
        5: "int16",
        6: "int32",
        7: "int64",
        8: "string",
        9: "bool",
        10: "float16",
        11: "float64",
        12: "uint32",
        13: "uint64",
        14: "complex64",
        15: "complex128",
        16: "bfloat16",
        17: "float8",
        18: "float8",
        19: "float8",
        20: "float8",
        21: "uint4",
        22: "int4",
        23: "float4",
        24: "float8",
        25: "uint2",
        26: "int2",
    }.items()
}
# The other way, one ONNX type for each of ours; float8 stands for E4M3FN.
ONNX_OF_DTYPE: Final[dict[int, int]] = {
    **{code: onnx_type for onnx_type, code in reversed(DTYPE_OF_ONNX.items())},
}

# onnxruntime's saved graphs: standard operators on channels in blocks, dims as in NCHW.
BLOCKED_DOMAIN: Final = "com.microsoft.nchwc"
_OUR_DOMAINS = frozenset({"", "ai.onnx", "com.microsoft", BLOCKED_DOMAIN})

# Inputs that steer an operator (shapes, axes, bounds): neither weights nor traffic.
PARAMETER_INPUTS: Final[dict[str, tuple[int, ...]]] = {
    "AffineGrid": (1,),
    "CenterCropPad": (1,),
    "Clip": (1, 2),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "DFT": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "If": (0,),
    "Loop": (0, 1),
    "MaxUnpool": (2,),
    "NonMaxSuppression": (2, 3, 4),
    "OneHot": (1, 2),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "SequenceAt": (1,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "SplitToSequence": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
    **{
        f"Reduce{kind}": (1,)
        for kind in [
            "L1",
            "L2",
            "LogSum",
            "LogSumExp",
            "Max",
            "Mean",
            "Min",
            "Prod",
            "Sum",
            "SumSquare",
        ]
    },
}

# Inputs that choose elements: traffic, but no weights.
INDEX_INPUTS: Final[dict[str, tuple[int, ...]]] = {
    **dict.fromkeys(("Gather", "GatherElements", "GatherND", "GatherBlockQuantized"), (1,)),
    **dict.fromkeys(("Scatter", "ScatterElements", "ScatterND", "TensorScatter"), (1,)),
}

# Epilogues that runtimes run inside the contraction that feeds them.
ACTIVATIONS: Final[frozenset[str]] = frozenset(
    [
        "Relu",
        "Clip",
        "LeakyRelu",
        "HardSwish",
        "Sigmoid",
        "HardSigmoid",
        "PRelu",
        "Gelu",
        "FastGelu",
        "QuickGelu",
        "Tanh",
        "Elu",
        "Selu",
        "Celu",
        "Mish",
        "Softplus",
        "Softsign",
        "Swish",
        "ThresholdedRelu",
    ]
)
VIEWS: Final[frozenset[str]] = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
RANDOM: Final[frozenset[str]] = frozenset(
    [
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    ]
)
CONTROL: Final[frozenset[str]] = frozenset({"If", "Loop", "Scan"})
# Known by name, but their work is not counted: they are flagged like unknown operators.
UNCOUNTED: Final[frozenset[str]] = frozenset(
    [
        "AttnLSTM",
        "BeamSearch",
        "DecoderAttention",
        "EPContext",
        "GreedySearch",
        "ImageDecoder",
        "LinearAttention",
        "LongformerAttention",
        "MoE",
        "QMoE",
        "QOrderedAttention",
        "QOrderedLongformerAttention",
        "QOrderedMatMul",
        "Sampling",
        "SequenceMap",
        "SparseAttention",
        "SparseToDenseMatMul",
        "WhisperBeamSearch",
        "WordConvEmbedding",
    ]
)


def canonical_operator(domain: str, op_type: str) -> str:
    """Return the name in ``OPERATORS``, or ``Unknown``."""
    known = domain in _OUR_DOMAINS and op_type in OPERATOR_CODE
    return op_type if known else "Unknown"


def qualified_type(domain: str, op_type: str) -> str:
    """Return ``domain::Type``, or ``Type`` alone in the default domain."""
    return op_type if domain in {"", "ai.onnx"} else f"{domain}::{op_type}"


def tensor_bytes(dtype: int, elements: int) -> int:
    """Return the bytes of ``elements`` values packed, rounded up to whole bytes."""
    return (elements * DTYPE_BITS[dtype] + 7) // 8
