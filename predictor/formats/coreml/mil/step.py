"""One operation of a MIL program, and the ONNX operators that stand for it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from predictor.formats.builder import ModelBuilder
from predictor.formats.emitter import Dim, Emitter, RuleTable, UnreadError, Values

# MIL's DataType.
DTYPES: Final[dict[int, int]] = {
    1: TensorProto.BOOL,
    2: TensorProto.STRING,
    10: TensorProto.FLOAT16,
    11: TensorProto.FLOAT,
    12: TensorProto.DOUBLE,
    13: TensorProto.BFLOAT16,
    21: TensorProto.INT8,
    22: TensorProto.INT16,
    23: TensorProto.INT32,
    24: TensorProto.INT64,
    25: TensorProto.INT4,
    31: TensorProto.UINT8,
    32: TensorProto.UINT16,
    33: TensorProto.UINT32,
    34: TensorProto.UINT64,
    35: TensorProto.UINT4,
    36: TensorProto.UINT2,
    37: TensorProto.UINT2,  # ONNX has none of 1 bit, or of 3 or 6
    38: TensorProto.FLOAT6E2M3,
    39: TensorProto.UINT4,
    40: TensorProto.FLOAT8E4M3FN,
    41: TensorProto.FLOAT8E5M2,
}
# Types whose elements stand in the field ``bytes``.
_PACKED: Final[dict[int, str]] = {
    TensorProto.FLOAT16: "e",
    TensorProto.INT8: "b",
    TensorProto.INT16: "h",
    TensorProto.UINT8: "B",
    TensorProto.UINT16: "H",
    TensorProto.UINT32: "I",
}
_MAX_VALUES: Final = 4096


@dataclass(frozen=True, slots=True)
class TypeInfo:
    """Type and size of a value.

    Attributes:
        dtype: of ``onnx.TensorProto``.
        dims: sizes; an empty text is an open one.
    """

    dtype: int
    dims: tuple[Dim, ...]


def type_info(value_type: Any) -> TypeInfo | None:
    """Return type and size of a tensor or of a state that holds one; None of anything else."""
    if value_type.HasField("stateType"):
        value_type = value_type.stateType.wrappedType
    if not value_type.HasField("tensorType"):
        return None
    tensor = value_type.tensorType
    dims = tuple(
        int(dim.constant.size) if dim.HasField("constant") else "" for dim in tensor.dimensions
    )
    if any(isinstance(dim, int) and dim >= 2**63 for dim in dims):
        raise ValueError("a size is no count")
    return TypeInfo(DTYPES[tensor.dataType], dims)


def stored_values(value: Any) -> list[Any] | None:
    """Return the elements of a small constant; None of one in the file of weights."""
    if not value.HasField("immediateValue") or not value.immediateValue.HasField("tensor"):
        return None
    for field, content in value.immediateValue.tensor.ListFields():
        if field.name != "bytes":
            return list(content.values[: _MAX_VALUES + 1])
        info = type_info(value.type)
        code = _PACKED.get(info.dtype) if info else None
        if code is None or len(content.values) > 4 * _MAX_VALUES:
            return None
        size = struct.calcsize(code)
        return list(struct.unpack(f"<{len(content.values) // size}{code}", content.values))
    return []


class StepValues(Values):
    """The values of a program that are ONNX values by now.

    Attributes:
        infos: type and size by name.
        constants: message of a constant by name.
    """

    def __init__(self, builder: ModelBuilder) -> None:
        super().__init__(builder)
        self.infos: dict[str, TypeInfo] = {}
        self.constants: dict[str, Any] = {}

    def value(self, name: str) -> str:
        """Return the ONNX value of a name; a constant is added when it is first read."""
        if name not in self.names and name in self.constants:
            self.names[name] = self._constant(name)
        return self.names[name]

    def _constant(self, name: str) -> str:
        info, elements = self.infos[name], stored_values(self.constants[name])
        dims = [int(dim) for dim in info.dims]
        name = self.name(name)
        count = 1
        for dim in dims:
            count *= dim
        if elements is None or len(elements) != count or count > _MAX_VALUES:
            return self.builder.weight(name, info.dtype, dims)
        if info.dtype == TensorProto.STRING:
            raise UnreadError(name)
        if info.dtype not in _PLAIN:
            return self.builder.weight(name, info.dtype, dims)
        array: NDArray[Any] = np.array(elements).astype(_PLAIN[info.dtype]).reshape(dims)
        return self.builder.constant(array, name)


_PLAIN: Final[dict[int, type[np.generic]]] = {
    TensorProto.BOOL: np.bool_,
    TensorProto.FLOAT16: np.float16,
    TensorProto.FLOAT: np.float32,
    TensorProto.DOUBLE: np.float64,
    TensorProto.INT8: np.int8,
    TensorProto.INT16: np.int16,
    TensorProto.INT32: np.int32,
    TensorProto.INT64: np.int64,
    TensorProto.UINT8: np.uint8,
    TensorProto.UINT16: np.uint16,
    TensorProto.UINT32: np.uint32,
    TensorProto.UINT64: np.uint64,
}


class Step(Emitter):
    """An operation of a program.

    Args:
        values: of the program.
        kind: its type.
        name: of the operation.
        inputs: names of the values of each input; a constant that has no name is stored under
            one of its own.
        outputs: names and types of its results.
    """

    def __init__(
        self,
        values: StepValues,
        kind: str,
        name: str,
        inputs: Mapping[str, Sequence[str]],
        outputs: Sequence[tuple[str, TypeInfo | None]],
    ) -> None:
        super().__init__(values, name)
        self.program = values
        self.kind = kind
        self.inputs = inputs
        self.outputs = outputs

    def has(self, key: str) -> bool:
        """Whether an input is there."""
        return bool(self.inputs.get(key))

    def tensor(self, key: str) -> str:
        """Return the ONNX value of an input, "" if it is left out."""
        return self.program.value(self.inputs[key][0]) if self.has(key) else ""

    def tensors(self, key: str) -> list[str]:
        """Return the ONNX values of an input that is a list."""
        return [self.program.value(name) for name in self.inputs[key]]

    def info(self, key: str, position: int = 0) -> TypeInfo:
        """Return type and size of an input."""
        return self.program.infos[self.inputs[key][position]]

    def rank(self, key: str = "x") -> int:
        """Return the number of axes of an input."""
        return len(self.info(key).dims)

    def result(self, position: int = 0) -> TypeInfo:
        """Return type and size of a result."""
        info = self.outputs[position][1]
        if info is None:
            raise UnreadError("a result that is no tensor")
        return info

    def elements(self, key: str) -> list[Any] | None:
        """Return the elements of an input that is a small constant; None of any other."""
        names = self.inputs.get(key) or ()
        constants = [self.program.constants.get(name) for name in names]
        if not constants or any(constant is None for constant in constants):
            return None
        parts = [stored_values(constant) for constant in constants]
        return None if None in parts else [item for part in parts for item in part or ()]

    def numbers(self, key: str, default: Sequence[Any] | None = None) -> list[Any]:
        """Return the elements of a constant input.

        Raises:
            UnreadError: it is computed, or is left out and has no default.
        """
        elements = self.elements(key)
        if elements is None and not self.has(key) and default is not None:
            return list(default)
        if elements is None:
            raise UnreadError(key)
        return elements

    def number(self, key: str, default: Any = None) -> Any:
        """Return a constant input of one element; as ``numbers``."""
        elements = self.numbers(key, None if default is None else [default])
        if len(elements) != 1:
            raise UnreadError(key)
        return elements[0]

    def axis(self, key: str = "axis", of: str = "x", default: int | None = None) -> int:
        """Return an axis counted from the front."""
        rank, axis = self.rank(of), int(self.number(key, default))
        if not -rank <= axis < rank:
            raise UnreadError(key)
        return axis % rank

    def axes(self, key: str = "axes", of: str = "x") -> list[int]:
        """Return axes counted from the front; all if none are stated."""
        rank = self.rank(of)
        axes = [int(axis) for axis in self.numbers(key, list(range(rank)))]
        if not all(-rank <= axis < rank for axis in axes):
            raise UnreadError(key)
        return [axis % rank for axis in axes]

    def integers_of(self, key: str) -> str:
        """Return an input of integers, computed or not, as ONNX's vectors of 64 bits."""
        elements = self.elements(key)
        if elements is not None:
            return self.integer_constant([int(item) for item in elements])
        return self.cast(self.tensor(key), self.info(key).dtype, TensorProto.INT64)


Rule = Callable[[Step], str | Sequence[str]]

RULES: Final[RuleTable[Rule]] = RuleTable()
"""By type of operation; a rule returns its results."""

rule = RULES.of
