"""TensorFlow Lite files of few operators, written by the classes of the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import flatbuffers
import numpy as np
import tflite
from numpy.typing import NDArray

FLOAT, INT8, INT32, BOOL = (
    tflite.TensorType.FLOAT32,
    tflite.TensorType.INT8,
    tflite.TensorType.INT32,
    tflite.TensorType.BOOL,
)


class Tensor(NamedTuple):
    """A tensor: sizes (-1 for open ones), type, values of a constant, whether it is quantised."""

    dims: tuple[int, ...]
    dtype: int = FLOAT
    values: NDArray[Any] | None = None
    is_quantised: bool = False


class Operator(NamedTuple):
    """An operator: its type (a custom one by a name that the schema lacks), tensors, options."""

    type: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    record: str = ""
    options: Mapping[str, Any] = {}


def zeros(*dims: int) -> Tensor:
    """Return a constant of floats."""
    return Tensor(dims, FLOAT, np.zeros(dims, np.float32))


def numbers(*values: int) -> Tensor:
    """Return a constant vector of integers."""
    return Tensor((len(values),), INT32, np.array(values, np.int32))


def tflite_file(
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[int],
    outputs: Sequence[int],
) -> bytes:
    """Return a file of one subgraph."""
    builder = flatbuffers.Builder(1024)
    kinds = list(dict.fromkeys(operator.type for operator in operators))
    codes = [_code(builder, kind) for kind in kinds]
    buffers = [_buffer(builder, None), *(_buffer(builder, t.values) for t in tensors)]
    records = [_tensor(builder, index, tensor) for index, tensor in enumerate(tensors)]
    steps = [_operator(builder, operator, kinds) for operator in operators]
    parts = [
        _offsets(builder, records),
        _integers(builder, inputs),
        _integers(builder, outputs),
        _offsets(builder, steps),
    ]
    tflite.SubGraphStart(builder)
    for add, part in zip(
        (
            tflite.SubGraphAddTensors,
            tflite.SubGraphAddInputs,
            tflite.SubGraphAddOutputs,
            tflite.SubGraphAddOperators,
        ),
        parts,
        strict=True,
    ):
        add(builder, part)
    graphs = _offsets(builder, [tflite.SubGraphEnd(builder)])
    all_codes, all_buffers = _offsets(builder, codes), _offsets(builder, buffers)
    tflite.ModelStart(builder)
    tflite.ModelAddVersion(builder, 3)
    tflite.ModelAddOperatorCodes(builder, all_codes)
    tflite.ModelAddSubgraphs(builder, graphs)
    tflite.ModelAddBuffers(builder, all_buffers)
    builder.Finish(tflite.ModelEnd(builder), b"TFL3")
    return bytes(builder.Output())


def _offsets(builder: Any, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _integers(builder: Any, values: Sequence[int]) -> int:
    return int(builder.CreateNumpyVector(np.array(values, np.int32)))


def _code(builder: Any, kind: str) -> int:
    number = getattr(tflite.BuiltinOperator, kind, tflite.BuiltinOperator.CUSTOM)
    name = builder.CreateString(kind) if number == tflite.BuiltinOperator.CUSTOM else None
    tflite.OperatorCodeStart(builder)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, min(number, 127))
    tflite.OperatorCodeAddBuiltinCode(builder, number)
    if name is not None:
        tflite.OperatorCodeAddCustomCode(builder, name)
    return int(tflite.OperatorCodeEnd(builder))


def _buffer(builder: Any, values: NDArray[Any] | None) -> int:
    data = None if values is None else np.frombuffer(values.tobytes(), np.uint8)
    vector = None if data is None or not data.size else builder.CreateNumpyVector(data)
    tflite.BufferStart(builder)
    if vector is not None:
        tflite.BufferAddData(builder, vector)
    return int(tflite.BufferEnd(builder))


def _tensor(builder: Any, index: int, tensor: Tensor) -> int:
    name = builder.CreateString(f"t{index}")
    dims = _integers(builder, [abs(size) for size in tensor.dims])
    signature = _integers(builder, tensor.dims)
    quantisation = None
    if tensor.is_quantised:
        scale = builder.CreateNumpyVector(np.ones(1, np.float32))
        zero = builder.CreateNumpyVector(np.zeros(1, np.int64))
        tflite.QuantizationParametersStart(builder)
        tflite.QuantizationParametersAddScale(builder, scale)
        tflite.QuantizationParametersAddZeroPoint(builder, zero)
        quantisation = tflite.QuantizationParametersEnd(builder)
    tflite.TensorStart(builder)
    tflite.TensorAddName(builder, name)
    tflite.TensorAddShape(builder, dims)
    tflite.TensorAddShapeSignature(builder, signature)
    tflite.TensorAddType(builder, tensor.dtype)
    tflite.TensorAddBuffer(builder, index + 1)
    if quantisation is not None:
        tflite.TensorAddQuantization(builder, quantisation)
    return int(tflite.TensorEnd(builder))


def _operator(builder: Any, operator: Operator, kinds: Sequence[str]) -> int:
    record = None
    if operator.record:
        values = {
            name: _integers(builder, value) if isinstance(value, list) else value
            for name, value in operator.options.items()
        }
        getattr(tflite, f"{operator.record}Start")(builder)
        for name, value in values.items():
            getattr(tflite, f"{operator.record}Add{name}")(builder, value)
        record = getattr(tflite, f"{operator.record}End")(builder)
    inputs, outputs = _integers(builder, operator.inputs), _integers(builder, operator.outputs)
    tflite.OperatorStart(builder)
    tflite.OperatorAddOpcodeIndex(builder, kinds.index(operator.type))
    tflite.OperatorAddInputs(builder, inputs)
    tflite.OperatorAddOutputs(builder, outputs)
    if record is not None:
        number = getattr(tflite.BuiltinOptions, operator.record)
        tflite.OperatorAddBuiltinOptionsType(builder, number)
        tflite.OperatorAddBuiltinOptions(builder, record)
    return int(tflite.OperatorEnd(builder))
