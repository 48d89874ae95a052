"""The messages of a Core ML model that are read: those of a program; weights of layers are not.

Reference:
    Apple's ``Model.proto``, ``MIL.proto`` and ``FeatureTypes.proto``: the numbers of fields.
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
  pipelineRegressor 201 Opaque, pipeline 202 Opaque, neuralNetworkRegressor 303 Opaque,
  neuralNetworkClassifier 403 Opaque, neuralNetwork 500 Opaque, mlProgram 502 Program,
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
