"""The ONNX operators that stand for one operator of another format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
import onnx
from onnx import TensorProto

from predictor.formats.builder import ModelBuilder

Dim = int | str
"""Size of an axis; a text stands for an open one."""

Symbol = int | str
"""An integer of the network: its value, or the name of a vector of one element."""

LARGEST_INT: Final = 2**63 - 1
"""End of a slice that goes to the last element."""


class UnreadError(ValueError):
    """An operator has a form that no rule reads; it stays an unknown operator."""


def static(dims: Sequence[Dim]) -> list[int]:
    """Return sizes of which none is open.

    Raises:
        UnreadError: one is.
    """
    if not all(isinstance(dim, int) for dim in dims):
        raise UnreadError("an open size")
    return [int(dim) for dim in dims]


R = TypeVar("R")


class RuleTable(dict[str, R]):
    """The functions that add the ONNX operators of an operator, by its type in the format."""

    def of(self, names: str) -> Callable[[R], R]:
        """Register the function that is decorated, for types that blanks separate."""

        def register(function: R) -> R:
            self.update(dict.fromkeys(names.split(), function))
            return function

        return register


class Values:
    """The ONNX values of a network that is being read.

    Attributes:
        builder: of the model.
        names: name of the ONNX value by the format's name.
        transposed: permutation and source of the values that a Transpose makes.
    """

    def __init__(self, builder: ModelBuilder) -> None:
        self.builder = builder
        self.names: dict[str, str] = {}
        self.transposed: dict[str, tuple[tuple[int, ...], str]] = {}
        self._used: set[str] = set()

    def name(self, stem: str) -> str:
        """Return the name of a new ONNX value: ``stem``, or one that begins with it."""
        result = self.builder.fresh(stem) if stem in self._used else stem
        self._used.add(stem)
        return result


class Emitter:
    """Writer of the ONNX operators of one operator.

    Args:
        values: of the network.
        name: of the operator.
    """

    def __init__(self, values: Values, name: str) -> None:
        self.values = values
        self.name = name

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

    def indices(self, dims: Sequence[int]) -> str:
        """Add integers that choose elements, of which only the shape matters."""
        name = self.values.name(f"{self.name}/indices")
        return self.values.builder.weight(name, TensorProto.INT64, dims)

    def equal(self, value: float, size: int, dtype: int) -> str:
        """Add a vector of equal numbers, of which one is stored."""
        return self.emit("Expand", [self.constant(value, dtype), self.integer_constant([size])])

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
        return self.joined(parts, 0)

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

    def cut(self, tensor: str, *bounds: Sequence[Symbol]) -> str:
        """Return a part of a value: by starts, ends and, if not the first axes, axes and steps."""
        return self.emit("Slice", [tensor, *map(self.vector, bounds)])

    def joined(self, tensors: Sequence[str], axis: int) -> str:
        """Return values as one along an axis."""
        return tensors[0] if len(tensors) == 1 else self.emit("Concat", tensors, axis=axis)

    def stacked(self, tensors: Sequence[str]) -> str:
        """Return values of one shape as one, along a new first axis."""
        return self.joined([self.unsqueeze(tensor, [0]) for tensor in tensors], 0)

    def dequantized(
        self, tensor: str, scale: str, dims: Sequence[int], blocks: Sequence[int]
    ) -> str:
        """Return integers times the scales of their blocks.

        Args:
            tensor: integers.
            scale: of the blocks, one for all of them or of the shape ``blocks``.
            dims: sizes of the integers.
            blocks: number of blocks along an axis.

        Raises:
            UnreadError: blocks are shorter than an axis and longer than an element along two axes.
        """
        wide = [axis for axis, count in enumerate(blocks) if count > 1]
        if not wide:
            return self.emit("DequantizeLinear", [tensor, self.reshape(scale, [])])
        if len(wide) == 1 and blocks[wide[0]] == dims[wide[0]]:
            rows = self.reshape(scale, [-1])
            return self.emit("DequantizeLinear", [tensor, rows], axis=wide[0])
        grouped = [axis for axis in wide if blocks[axis] < dims[axis]]
        if len(grouped) != 1:
            raise UnreadError("blocks of two axes")
        axis, size = grouped[0], dims[grouped[0]] // blocks[grouped[0]]
        full = [*dims[:axis], blocks[axis], *dims[axis + 1 :]]
        if full != list(blocks):
            scale = self.emit("Expand", [scale, self.integer_constant(full)])
        return self.emit("DequantizeLinear", [tensor, scale], axis=axis, block_size=size)
