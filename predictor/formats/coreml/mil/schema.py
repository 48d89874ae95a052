"""The messages of a Core ML model that are read; weights are not.

Reference:
    Apple's ``Model.proto``, ``MIL.proto``, ``NeuralNetwork.proto`` and ``FeatureTypes.proto``: the
    numbers of fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

# A line a message; a field is its name, number and type, with a star where it is repeated.
_MESSAGES: Final = """
Model specificationVersion 1 int32, description 2 Description, pipelineClassifier 200 Opaque,
  pipelineRegressor 201 Opaque, pipeline 202 Opaque, neuralNetworkRegressor 303 Network,
  neuralNetworkClassifier 403 Network, neuralNetwork 500 Network, mlProgram 502 Program,
  serializedModel 3000 Opaque
Opaque
Description input 1 Feature*, output 10 Feature*, state 13 Feature*, defaultFunctionName 21 string
Feature name 1 string, type 3 FeatureType
FeatureType imageType 4 Image, multiArrayType 5 Array
Image width 1 int64, height 2 int64, colorSpace 3 int32
Array shape 1 int64*, dataType 2 int32
Program version 1 int64, functions 2 FunctionEntry*
FunctionEntry key 1 string, value 2 Function
Function inputs 1 NamedType*, opset 2 string, blocks 3 BlockEntry*
BlockEntry key 1 string, value 2 Block
Block inputs 1 NamedType*, outputs 2 string*, operations 3 Operation*
Operation type 1 string, inputs 2 InputEntry*, outputs 3 NamedType*, blocks 4 Block*,
  attributes 5 AttributeEntry*
InputEntry key 1 string, value 2 Argument
AttributeEntry key 1 string, value 2 Value
Argument arguments 1 Binding*
Binding name 1 string, value 2 Value
NamedType name 1 string, type 2 ValueType
ValueType tensorType 1 TensorType, listType 2 ListType, stateType 5 StateType
ListType type 1 ValueType
StateType wrappedType 1 ValueType
TensorType dataType 1 int32, rank 2 int64, dimensions 3 Dimension*
Dimension constant 1 Constant, unknown 2 Opaque
Constant size 1 uint64
Value type 2 ValueType, immediateValue 3 Immediate, blobFileValue 5 Blob
Immediate tensor 1 Tensor, list 3 List
List values 1 Value*
Blob fileName 1 string, offset 2 uint64
Tensor floats 1 Floats, ints 2 Ints, bools 3 Bools, strings 4 Strings, longInts 5 Longs,
  doubles 6 Doubles, bytes 7 Bytes
Floats values 1 float*
Ints values 1 int32*
Bools values 1 bool*
Strings values 1 string*
Longs values 1 int64*
Doubles values 1 double*
Bytes values 1 bytes
Network layers 1 Layer*, arrayInputShapeMapping 5 int32
Layer name 1 string, input 2 string*, output 3 string*, inputTensor 4 Sizes*,
  outputTensor 5 Sizes*, convolution 100 Convolution, pooling 120 Pooling,
  activation 130 Activation, innerProduct 140 InnerProduct, embedding 150 Embedding,
  batchnorm 160 BatchNorm, mvn 165 Opaque, l2normalize 170 Opaque, softmax 175 Opaque,
  lrn 180 Lrn, crop 190 Crop, padding 200 Padding, upsample 210 Upsample,
  resizeBilinear 211 Targets, cropResize 212 Opaque, unary 220 Unary, add 230 Number,
  multiply 231 Number, average 240 Opaque, scale 245 Scale, bias 250 Bias, max 260 Opaque,
  min 261 Opaque, dot 270 Opaque, reduce 280 Reduce, loadConstant 290 Load,
  reshape 300 Targets, flatten 301 Opaque, permute 310 Targets, concat 320 Opaque,
  split 330 Opaque, sequenceRepeat 340 Opaque, reorganizeData 345 Reorganize,
  slice 350 SliceAxis, simpleRecurrent 400 Opaque, gru 410 Recurrent,
  uniDirectionalLSTM 420 Recurrent, biDirectionalLSTM 430 Recurrent, custom 500 Opaque,
  copy 600 Opaque, branch 605 Opaque, loop 615 Opaque, clip 660 Clip, ceil 665 Opaque,
  floor 670 Opaque, sign 680 Opaque, round 685 Opaque, sin 710 Opaque, cos 715 Opaque,
  tanh 760 Opaque, erf 790 Opaque, gelu 795 Opaque, lessThan 825 Opaque,
  greaterThan 830 Opaque, minBroadcastable 870 Opaque, maxBroadcastable 875 Opaque,
  addBroadcastable 880 Opaque, powBroadcastable 885 Opaque, divideBroadcastable 890 Opaque,
  multiplyBroadcastable 900 Opaque, subtractBroadcastable 905 Opaque, stack 925 Axis,
  gather 930 Axis, gatherND 940 Opaque, softmaxND 950 Axis, splitND 975 SplitAxis,
  concatND 980 Axis, transpose 985 Targets, sliceStatic 995 SliceStatic, topK 1015 Axis,
  embeddingND 1040 EmbeddingNd, batchedMatmul 1045 MatMul, getShape 1065 Opaque,
  tile 920 Targets, gatherAlongAxis 952 Axis, reverse 960 Flags,
  argMin 1020 Place, argMax 1025 Place, constantPad 1155 ConstantPad, reduceL1 1250 Axes,
  reduceL2 1255 Axes, reduceProd 1275 Axes, reduceSumSquare 1290 Axes, cumSum 1455 Axis,
  pooling3d 1465 Opaque, broadcastToStatic 1105 Targets,
  loadConstantND 1070 Load, squeeze 1120 Targets, expandDims 1125 Targets,
  flattenTo2D 1130 Axis, reshapeStatic 1140 Targets, reshapeDynamic 1145 Opaque,
  rankPreservingReshape 1150 Targets, reduceMax 1260 Axes, reduceMin 1265 Axes,
  reduceSum 1270 Axes, reduceMean 1280 Axes, layerNormalization 1350 LayerNorm,
  NonMaximumSuppression 1400 Opaque, clampedReLU 1460 Opaque, convolution3d 1471 Opaque
Sizes rank 1 int32, dimValue 2 int64*
Weights float16Value 2 bytes*, quantization 40 Quantization
Quantization numberOfBits 1 uint64
Convolution outputChannels 1 uint64, kernelChannels 2 uint64, nGroups 10 uint64,
  kernelSize 20 uint64*, stride 30 uint64*, dilationFactor 40 uint64*, valid 50 Borders,
  same 51 Same, isDeconvolution 60 bool, hasBias 70 bool, weights 90 Weights,
  outputShape 100 uint64*
Borders paddingAmounts 1 Amounts
Amounts borderAmounts 10 Edges*
Edges startEdgeSize 1 uint64, endEdgeSize 2 uint64
Same asymmetryMode 1 int32
Complete paddingAmounts 10 uint64*
Pooling type 1 int32, kernelSize 10 uint64*, stride 20 uint64*, valid 30 Borders, same 31 Same,
  includeLastPixel 32 Complete, avgPoolExcludePadding 50 bool, globalPooling 60 bool
Activation linear 5 Line, ReLU 10 Opaque, leakyReLU 15 Number, thresholdedReLU 20 Number,
  PReLU 25 Opaque, tanh 30 Opaque, scaledTanh 31 Line, sigmoid 40 Opaque,
  sigmoidHard 41 Line, ELU 50 Number, softsign 60 Opaque, softplus 70 Opaque,
  parametricSoftplus 71 Opaque
Number alpha 1 float
Line alpha 1 float, beta 2 float
InnerProduct inputChannels 1 uint64, outputChannels 2 uint64, hasBias 10 bool, weights 20 Weights
Embedding inputDim 1 uint64, outputChannels 2 uint64, hasBias 10 bool, weights 20 Weights
EmbeddingNd inputDim 1 uint64, outputChannels 2 uint64, hasBias 3 bool, weights 20 Weights
BatchNorm channels 1 uint64, instanceNormalization 6 bool
Lrn localSize 3 uint64
Crop cropAmounts 1 Amounts, offset 5 uint64*
Padding constant 1 Opaque, reflection 2 Opaque, replication 3 Opaque, paddingAmounts 10 Amounts
Upsample scalingFactor 1 uint64*, mode 5 int32, fractionalScalingFactor 7 float*
Targets targets 1 int64*
Unary type 1 int32, alpha 2 float, shift 4 float, scale 5 float
Scale shapeScale 1 uint64*, scale 2 Weights, hasBias 3 bool, shapeBias 4 uint64*
Bias shape 1 uint64*
Reduce mode 1 int32, axis 3 int32
Load shape 1 uint64*, data 2 Weights
Reorganize mode 1 int32, blockSize 2 uint64
SliceAxis startIndex 1 int64, endIndex 2 int64, stride 3 uint64, axis 4 int32
Recurrent inputVectorSize 1 uint64, outputVectorSize 2 uint64,
  params 15 RecurrentParams
RecurrentParams sequenceOutput 10 bool, hasBiasVectors 20 bool, hasPeepholeVectors 40 bool
Flags reverseDim 1 bool*
Place axis 1 int64, removeDim 2 bool
ConstantPad value 1 float, padAmounts 2 uint64*
Clip minVal 1 float, maxVal 2 float
Axis axis 1 int64
Axes axes 1 int64*, keepDims 2 bool, reduceAll 3 bool
SplitAxis axis 1 int64, numSplits 2 uint64, splitSizes 3 uint64*
SliceStatic beginIds 1 int64*, beginMasks 2 bool*, endIds 3 int64*, endMasks 4 bool*,
  strides 5 int64*, squeezeMasks 6 bool*
MatMul transposeA 1 bool, transposeB 2 bool, rows 5 uint64, columns 6 uint64, hasBias 7 bool,
  weights 8 Weights
LayerNorm normalizedShape 1 int64*
"""
_Field: Final = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
    "uint64": _Field.TYPE_UINT64,
}
_PACKAGE: Final = "closertome.coreml"


def _rows() -> Iterator[tuple[str, list[list[str]]]]:
    """Return the messages with the words of their fields."""
    for line in _MESSAGES.replace(",\n  ", ", ").strip().splitlines():
        name, _, fields = line.partition(" ")
        yield name, [field.split() for field in fields.split(",") if field]


@lru_cache(maxsize=1)
def model_message() -> Any:
    """Return the class of the message ``Model``."""
    file = descriptor_pb2.FileDescriptorProto(
        name="closertome_coreml.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _rows():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            plain = kind.removesuffix("*")
            label = _Field.LABEL_REPEATED if kind.endswith("*") else _Field.LABEL_OPTIONAL
            added = message.field.add(name=field, number=int(number), label=label)
            if plain in _SCALARS:
                added.type = _SCALARS[plain]
            else:
                added.type, added.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{plain}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Model"))
