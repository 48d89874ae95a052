"""One call of an ATen operator, and the ONNX operators that stand for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto

from predictor.formats.aten.program import Dim, Reference, TensorMeta
from predictor.formats.builder import ModelBuilder

LARGEST_INT: Final = 2**63 - 1

Symbol = int | str
"""An integer of the graph: its value, or the name of a vector of one element."""


class UnreadError(Exception):
    """A call has a form that no rule reads; it stays an unknown operator."""


class Values:
    """The values of a program that are ONNX values by now.

    Attributes:
        builder: of the model.
        names: name of the ONNX value by the program's.
        symbols: integers of the graph by name.
        metas: type and size by the program's name.
        transposed: permutation and source of the values that a Transpose makes.
    """

    def __init__(self, builder: ModelBuilder) -> None:
        self.builder = builder
        self.names: dict[str, str] = {}
        self.symbols: dict[str, Symbol] = {}
        self.metas: dict[str, TensorMeta] = {}
        self.transposed: dict[str, tuple[tuple[int, ...], str]] = {}
        self._used: set[str] = set()

    def name(self, stem: str) -> str:
        """Return the name of a new ONNX value: ``stem``, or one that begins with it."""
        result = self.builder.fresh(stem) if stem in self._used else stem
        self._used.add(stem)
        return result


class Call:
    """A call of an operator in a program.

    Args:
        values: of the program.
        kind: name of the operator, without its namespace.
        name: of the call.
        arguments: by the names of the operator's schema.
        outputs: program's names of its results.
    """

    def __init__(
        self,
        values: Values,
        kind: str,
        name: str,
        arguments: Mapping[str, Any],
        outputs: Sequence[str],
    ) -> None:
        self.values = values
        self.kind = kind
        self.name = name
        self.arguments = arguments
        self.outputs = outputs

    def get(self, key: str, default: Any = None) -> Any:
        """Return an argument that is no tensor; ``default`` if it is left out or None."""
        value = self.arguments.get(key)
        if value is None:
            return default
        if isinstance(value, Reference):
            raise UnreadError(key)
        return value

    def number(self, key: str, default: Any = None) -> Any:
        """Return a number.

        Raises:
            UnreadError: it is none, or is computed.
        """
        value = self.get(key, default)
        if not isinstance(value, int | float):
            raise UnreadError(key)
        return value

    def integers(self, key: str, length: int = 0, default: int = 0) -> list[int]:
        """Return integers; one stands for ``length`` equal ones.

        Raises:
            UnreadError: one is computed.
        """
        value = self.get(key, default)
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, int) for item in values):
            raise UnreadError(key)
        return list(values) * length if len(values) == 1 and length else list(values)

    def symbol(self, key: str, default: int | None = None) -> Symbol | None:
        """Return an integer that may be computed."""
        return self._symbol(self.arguments.get(key, default))

    def symbols(self, key: str) -> list[Symbol]:
        """Return integers that may be computed."""
        items = self.arguments[key]
        items = items if isinstance(items, list) else [items]
        result = [self._symbol(item) for item in items]
        return [item for item in result if item is not None]

    def _symbol(self, value: Any) -> Symbol | None:
        if isinstance(value, Reference):
            return self.values.symbols[value.name]
        if value is not None and not isinstance(value, int):
            raise UnreadError("a size")
        return value

    def has(self, key: str) -> bool:
        """Whether an argument is there and not None."""
        return self.arguments.get(key) is not None

    def is_tensor(self, key: str) -> bool:
        """Whether an argument is a tensor."""
        value = self.arguments.get(key)
        return isinstance(value, Reference) and value.is_tensor

    def tensor(self, key: str) -> str:
        """Return the ONNX value of a tensor, "" if it is left out."""
        value = self.arguments.get(key)
        return "" if value is None else self.values.names[value.name]

    def tensors(self, key: str) -> list[str]:
        """Return the ONNX values of a list of tensors; absent ones are empty."""
        return [
            "" if item is None else self.values.names[item.name] for item in self.arguments[key]
        ]

    def metas(self, key: str) -> list[TensorMeta | None]:
        """Return type and size of the tensors of a list."""
        return [
            None if item is None else self.values.metas[item.name] for item in self.arguments[key]
        ]

    def meta(self, key: str) -> TensorMeta:
        """Return type and size of a tensor argument."""
        return self.values.metas[self.arguments[key].name]

    def rank(self, key: str) -> int:
        """Return the number of dimensions of a tensor argument."""
        return len(self.meta(key).dims)

    def axis(self, key: str, of: str = "self", default: int = 0, extra: int = 0) -> int:
        """Return an axis counted from the front, of a tensor with ``extra`` dimensions more."""
        rank = self.rank(of) + extra
        axis = int(self.number(key, default))
        if not -max(rank, 1) <= axis < max(rank, 1):
            raise UnreadError(key)
        return axis % rank if rank else 0

    def axes(self, key: str, of: str = "self") -> list[int]:
        """Return axes counted from the front; all if none are stated."""
        rank = self.rank(of)
        axes = self.integers(key) if self.arguments.get(key) not in (None, []) else range(rank)
        if not all(-max(rank, 1) <= axis < max(rank, 1) for axis in axes):
            raise UnreadError(key)
        return [axis % rank for axis in axes] if rank else []

    def result(self, position: int = 0) -> TensorMeta:
        """Return type and size of a result."""
        return self.values.metas[self.outputs[position]]

    def emit(self, op_type: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add an ONNX operator of one output and return its name."""
        return self.emit_all(op_type, inputs, 1, **attributes)[0]

    def emit_all(
        self, op_type: str, inputs: Sequence[str], count: int, **attributes: Any
    ) -> list[str]:
        """Add an ONNX operator and return the names of its outputs."""
        names = [self.values.name(self.name) for _ in range(count)]
        self.values.builder.node(op_type, inputs, names, name=names[0], **attributes)
        return names

    def integer_constant(self, values: Sequence[int]) -> str:
        """Add a vector of integers."""
        return self.values.builder.constant(np.array(values, np.int64))

    def constant(self, value: Any, dtype: int = TensorProto.FLOAT) -> str:
        """Add a constant of a type of ``onnx.TensorProto``."""
        array = np.asarray(value).astype(onnx.helper.tensor_dtype_to_np_dtype(dtype))
        return self.values.builder.constant(array)

    def vector(self, symbols: Sequence[Symbol]) -> str:
        """Add a vector of integers of which parts may be computed."""
        if all(isinstance(symbol, int) for symbol in symbols):
            return self.integer_constant([int(symbol) for symbol in symbols])
        parts = [s if isinstance(s, str) else self.integer_constant([s]) for s in symbols]
        return parts[0] if len(parts) == 1 else self.emit("Concat", parts, axis=0)

    def size(self, tensor: str, dims: Sequence[Dim], axis: int) -> Symbol:
        """Return the size of an ONNX value along an axis."""
        dim = dims[axis]
        if isinstance(dim, int):
            return dim
        return self.emit("Shape", [tensor], start=axis, end=axis + 1)

    def sizes(self, tensor: str, dims: Sequence[Dim]) -> list[Symbol]:
        """Return the sizes of an ONNX value."""
        return [self.size(tensor, dims, axis) for axis in range(len(dims))]

    def cast(self, tensor: str, source: int, target: int) -> str:
        """Return a value in another type."""
        return tensor if source == target else self.emit("Cast", [tensor], to=target)

    def transpose(self, tensor: str, permutation: Sequence[int]) -> str:
        """Return a value with permuted axes; two permutations in a row are one."""
        order = tuple(permutation)
        before = self.values.transposed.get(tensor)
        if before is not None:
            order, tensor = tuple(before[0][axis] for axis in order), before[1]
        if order == tuple(range(len(order))):
            return tensor
        result = self.emit("Transpose", [tensor], perm=order)
        self.values.transposed[result] = order, tensor
        return result

    def unsqueeze(self, tensor: str, axes: Sequence[int]) -> str:
        """Return a value with new axes of size 1."""
        return self.emit("Unsqueeze", [tensor, self.integer_constant(axes)]) if axes else tensor

    def squeeze(self, tensor: str, axes: Sequence[int]) -> str:
        """Return a value without axes of size 1."""
        return self.emit("Squeeze", [tensor, self.integer_constant(axes)]) if axes else tensor

    def reshape(self, tensor: str, sizes: Sequence[Symbol]) -> str:
        """Return a value in another shape."""
        return self.emit("Reshape", [tensor, self.vector(sizes)])


Rule = Callable[[Call], str | Sequence[str]]

RULES: Final[dict[str, Rule]] = {}
"""Function that adds the ONNX operators of a call and returns its results, by operator."""


def rule(names: str) -> Callable[[Rule], Rule]:
    """Register the rule of operators of ``aten``, or of another namespace stated as ``name::``."""

    def register(function: Rule) -> Rule:
        for name in names.split():
            RULES[name.replace("::", ".") if "::" in name else f"aten.{name}"] = function
        return function

    return register
