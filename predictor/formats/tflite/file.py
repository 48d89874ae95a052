"""The records of a TensorFlow Lite file: subgraphs, operators, tensors; weights stay in the file.

Numbers of fields are those of the schema. Records are counted; what reading them raises means a
damaged file. Options of operators are read by the classes of the package ``tflite``.

Reference:
    TensorFlow Lite, ``schema.fbs``.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np
import tflite
from numpy.typing import NDArray
from onnx import TensorProto, helper

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.tflite.records import Record

T = TypeVar("T")

AGAIN: Final = "convert or download the model again"
_DAMAGE: Final = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    TypeError,
    UnicodeDecodeError,
    ValueError,
    struct.error,
)
_MAX_RECORDS: Final = 4_000_000
_MAX_OPERATORS: Final = 200_000
_MAX_RANK: Final = 16
# A flatbuffer's offsets have 31 bits; weights of larger files lie behind it.
_MAX_MAPPED: Final = 2**31 - 1
_SMALL_BYTES: Final = 2**16
_I8, _U8, _U32, _U64 = map(struct.Struct, ("<b", "<B", "<I", "<Q"))
_MODEL_CODES, _MODEL_SUBGRAPHS, _MODEL_DESCRIPTION, _MODEL_BUFFERS = range(1, 5)
_WEIGHTS_BEHIND: Final = 1  # offsets up to this mean that the weights are in the flatbuffer

DTYPES: Final = {
    tflite.TensorType.FLOAT32: TensorProto.FLOAT,
    tflite.TensorType.FLOAT16: TensorProto.FLOAT16,
    tflite.TensorType.INT32: TensorProto.INT32,
    tflite.TensorType.UINT8: TensorProto.UINT8,
    tflite.TensorType.INT64: TensorProto.INT64,
    tflite.TensorType.STRING: TensorProto.STRING,
    tflite.TensorType.BOOL: TensorProto.BOOL,
    tflite.TensorType.INT16: TensorProto.INT16,
    tflite.TensorType.COMPLEX64: TensorProto.COMPLEX64,
    tflite.TensorType.INT8: TensorProto.INT8,
    tflite.TensorType.FLOAT64: TensorProto.DOUBLE,
    tflite.TensorType.COMPLEX128: TensorProto.COMPLEX128,
    tflite.TensorType.UINT64: TensorProto.UINT64,
    tflite.TensorType.UINT32: TensorProto.UINT32,
    tflite.TensorType.UINT16: TensorProto.UINT16,
    tflite.TensorType.INT4: TensorProto.INT4,
    tflite.TensorType.BFLOAT16: TensorProto.BFLOAT16,
}
"""Types of ONNX by those of the file; handles of resources and variants have none."""

_HANDLES: Final = frozenset({tflite.TensorType.RESOURCE, tflite.TensorType.VARIANT})
_INTEGERS: Final = frozenset(
    {TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT4}
)


def _names(numbers: type) -> dict[int, str]:
    return {number: name for name, number in vars(numbers).items() if isinstance(number, int)}


OPERATORS: Final = _names(tflite.BuiltinOperator)
"""Types of operators by their numbers in the schema."""

_OPTIONS: Final = _names(tflite.BuiltinOptions)
_OPTIONS_2: Final = _names(tflite.BuiltinOptions2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor of a subgraph.

    Attributes:
        index: in the subgraph.
        name: unique in the subgraph.
        dtype: of ONNX; UNDEFINED of a handle.
        dims: as the file orders them, an open one as 1.
        signature: the same, an open one as -1.
        buffer: number of the buffer with its data.
        scales: number of its scales, 0 where it is not quantised.
        axis: that the scales are of.
        is_variable: a state that the network keeps.
    """

    index: int
    name: str
    dtype: int
    dims: tuple[int, ...]
    signature: tuple[int, ...]
    buffer: int
    scales: int
    axis: int
    is_variable: bool

    @property
    def is_quantised(self) -> bool:
        """Whether its integers stand for real numbers."""
        return self.scales > 0 and self.dtype in _INTEGERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator of a subgraph.

    Attributes:
        index: in the subgraph.
        type: its name in the schema, or the name of a custom one.
        is_custom: whether the schema does not define it.
        inputs: indices of tensors, -1 of an absent one.
        outputs: indices of tensors.
        options: its record of options; None where it has none.
    """

    index: int
    type: str
    is_custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Any = field(repr=False)

    def option(self, name: str, default: Any = 0) -> Any:
        """Return an option by its name in the schema; the default where it is not stated."""
        method: Callable[[], Any] | None = getattr(self.options, name, None)
        return default if method is None else sound(method)

    def integers(self, name: str) -> list[int]:
        """Return an option that is a vector of numbers; empty where it is not stated."""
        if getattr(self.options, name, None) is None:
            return []
        return sound(lambda: _vector(self.options, name, _MAX_RANK * 2))

    @property
    def subject(self) -> str:
        """Its place in words, for errors."""
        return f"operator {self.index} ({shortened(self.type, 80)})"


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A graph of the file: a network, or the body of a loop or branch."""

    tensors: list[Tensor]
    inputs: list[int]
    outputs: list[int]
    operators: list[Operator]


class ModelFile:
    """An open file.

    Args:
        path: for errors.
        stream: open file.
        size: in bytes.

    Attributes:
        path: as above.
        producer: program that wrote the file, as it states it.
        subgraphs: the first is the network.

    Raises:
        InputError: the file is damaged or too large.
    """

    def __init__(self, path: str, stream: BinaryIO, size: int) -> None:
        self.path, self._stream, self._size = path, stream, size
        self._map = mmap.mmap(stream.fileno(), min(size, _MAX_MAPPED), access=mmap.ACCESS_READ)
        self._budget = _MAX_RECORDS
        self._constants: dict[int, bool] = {}
        self.subgraphs: list[Subgraph] = []
        with self.checked():
            self._model = Record.root(self._map)
            self.producer = self._model.text(_MODEL_DESCRIPTION)
            self._codes = [self._code(code) for code in self._all(self._model, _MODEL_CODES)]
            self._buffers = self._model.vector(_MODEL_BUFFERS)[1]
            for graph in self._all(self._model, _MODEL_SUBGRAPHS):
                self.subgraphs.append(self._subgraph(graph))
        if not self.subgraphs:
            raise InputError(path, "it holds no network", AGAIN)

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Raise one error for records that are damaged."""
        try:
            yield
        except _DAMAGE as error:
            reason = "it is damaged or cut off: its records lead outside of the file"
            raise InputError(self.path, reason, AGAIN) from error

    def data(self, tensor: Tensor, limit: int = _SMALL_BYTES) -> NDArray[Any] | None:
        """Return the values of a constant; None of any other tensor or one that is not small.

        Raises:
            InputError: the data is not as long as the dims state.
        """
        with self.checked():
            dtype = helper.tensor_dtype_to_np_dtype(tensor.dtype)
            count = int(np.prod(tensor.dims, dtype=object))
            if count * dtype.itemsize > limit or tensor.dtype == TensorProto.INT4:
                return None
            buffer = self._buffer(tensor)
            if buffer is None:
                return None
            size = count * dtype.itemsize
            start, length = buffer.vector(0, 1)
            if length:
                data = self._map[start : start + min(size, length)]
            else:
                self._stream.seek(buffer.number(1, _U64))
                data = self._stream.read(size)
            return np.frombuffer(data, dtype, count).reshape(tensor.dims)

    def is_constant(self, tensor: Tensor) -> bool:
        """Whether the file holds the data of a tensor."""
        index = tensor.buffer
        if index not in self._constants:
            with self.checked():
                self._constants[index] = self._buffer(tensor) is not None
        return self._constants[index]

    def _buffer(self, tensor: Tensor) -> Record | None:
        """Return the buffer of a constant, else None."""
        if not 0 < tensor.buffer < self._buffers:
            return None
        buffer = self._model.item(_MODEL_BUFFERS, tensor.buffer)
        if buffer.vector(0, 1)[1]:
            return buffer
        offset, size = buffer.number(1, _U64), buffer.number(2, _U64)
        if offset + size > self._size:
            raise ValueError(offset)
        return buffer if offset > _WEIGHTS_BEHIND else None

    def _all(self, record: Record, field: int) -> Iterator[Record]:
        _, count = record.vector(field)
        self._spend(count)
        return (record.item(field, index) for index in range(count))

    def _spend(self, count: int) -> None:
        self._budget -= count
        if self._budget < 0:
            raise InputError(self.path, "it has too many records to read", "give a smaller model")

    def _integers(self, record: Record, field: int) -> tuple[int, ...]:
        self._spend(record.vector(field)[1])
        return record.integers(field)

    def _code(self, code: Record) -> tuple[str, bool]:
        """Return the type of an operator, and whether it is a custom one."""
        number = max(code.number(0, _I8), code.number(3))
        if number == tflite.BuiltinOperator.CUSTOM:
            return code.text(1) or "custom", True
        return OPERATORS.get(number, f"BUILTIN_{number}"), number not in OPERATORS

    def _subgraph(self, graph: Record) -> Subgraph:
        names: set[str] = set()
        tensors = [
            self._tensor(index, tensor, names) for index, tensor in enumerate(self._all(graph, 0))
        ]
        if graph.vector(3)[1] > _MAX_OPERATORS:
            reason = f"it has more than {_MAX_OPERATORS} operators, the most that we read"
            raise InputError(self.path, reason, "give a smaller model")
        operators = [
            self._operator(index, operator, len(tensors))
            for index, operator in enumerate(self._all(graph, 3))
        ]
        inputs = self._indices(graph, 1, len(tensors))
        outputs = self._indices(graph, 2, len(tensors))
        return Subgraph(tensors, [*inputs], [*outputs], operators)

    def _tensor(self, index: int, tensor: Record, names: set[str]) -> Tensor:
        name = tensor.text(3).replace("\0", "") or f"tensor{index}"
        if name in names:
            name = f"{name}#{index}"
        names.add(name)
        stated = self._integers(tensor, 0)
        signature = self._integers(tensor, 7) or stated
        if len(signature) != len(stated):
            signature = stated
        if len(stated) > _MAX_RANK or min([*stated, *signature], default=0) < -1:
            raise ValueError(stated)
        kind = tensor.number(1, _I8)
        if kind not in DTYPES and kind not in _HANDLES:
            # Taken for a float, it would count with a wrong number of bytes.
            reason = f"its tensor '{shortened(name, 80)}' is of type {kind}, which we do not know"
            raise InputError(self.path, reason, "convert the model with another type of weights")
        scaling = tensor.record(4)
        scales = scaling.vector(2)[1] if scaling is not None else 0
        return Tensor(
            index=index,
            name=name,
            dtype=DTYPES.get(kind, TensorProto.UNDEFINED),
            dims=tuple(1 if size < 0 else size for size in stated),
            signature=signature,
            buffer=tensor.number(2, _U32),
            scales=scales,
            axis=scaling.number(6) if scaling is not None and scales else 0,
            is_variable=bool(tensor.number(5, _I8)),
        )

    def _indices(self, record: Record, field: int, limit: int) -> tuple[int, ...]:
        indices = self._integers(record, field)
        if indices and not -1 <= min(indices) <= max(indices) < limit:
            raise ValueError(indices)
        return indices

    def _operator(self, index: int, operator: Record, limit: int) -> Operator:
        kind, is_custom = self._codes[operator.number(0, _U32)]
        return Operator(
            index=index,
            type=kind,
            is_custom=is_custom,
            inputs=self._indices(operator, 1, limit),
            outputs=self._indices(operator, 2, limit),
            options=_options(operator),
        )


def _options(operator: Record) -> Any:
    """Return the record of options as the class of the schema, None where there is none."""
    for number, names in ((3, _OPTIONS), (11, _OPTIONS_2)):
        kind: Any = getattr(tflite, names.get(operator.number(number, _U8), ""), None)
        record = operator.record(number + 1) if kind is not None else None
        if record is not None:
            options = kind()
            options.Init(record.data, record.position)
            return options
    return None


def sound(call: Callable[[], T]) -> T:
    """Return the result of a call of the schema's classes; damage is a ValueError."""
    try:
        return call()
    except _DAMAGE as error:
        raise ValueError(str(error)) from error


def _vector(record: Any, name: str, limit: int) -> list[int]:
    """Return the first ``limit`` numbers of a vector."""
    values = getattr(record, name + "AsNumpy")()
    # The classes give 0 in place of an absent vector.
    return values[:limit].tolist() if isinstance(values, np.ndarray) else []
