"""The tensors of a subgraph as values of the ONNX model: their names, constants and layouts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.formats.builder import ModelBuilder
from predictor.formats.tflite.file import AGAIN, ModelFile, Operator, Subgraph, Tensor
from predictor.formats.tflite.layouts import (
    Layout,
    arranged,
    as_filed,
    channels_first,
    images_of,
    is_view,
)

BATCH: Final = "batch"
"""Name of the open first dimension of inputs."""

_SMALL_ELEMENTS: Final = 4096
_COUNTING: Final = (TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL)


class Values:
    """The tensors of one subgraph as values of the model, each in the layout that is asked for.

    Args:
        file: it is of.
        graph: the subgraph.
        builder: of the model or body that the nodes go to.
        prefix: of names, so that those of two subgraphs differ.

    Attributes:
        images: tensors that have channels first in the model, where that is free.
        users: the operators that read each tensor.
        producers: the operator that makes each tensor.
        transposed: by the index of a transposed tensor, that of its source and the order of axes.
        stacks: matrices that are stacked along several axes, where the file joins these to one: the
            value and its sizes.
    """

    def __init__(
        self, file: ModelFile, graph: Subgraph, builder: ModelBuilder, prefix: str = ""
    ) -> None:
        self.file, self.graph, self.builder, self.prefix = file, graph, builder, prefix
        self.images = images_of(graph)
        self.users: dict[int, list[Operator]] = {}
        self.producers: dict[int, Operator] = {}
        for operator in graph.operators:
            for index in operator.inputs:
                self.users.setdefault(index, []).append(operator)
            for index in operator.outputs:
                self.producers.setdefault(index, operator)
        self.transposed: dict[int, tuple[int, list[int]]] = {}
        self.stacks: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._layouts: dict[int, Layout] = {}
        self._values: dict[tuple[int, Layout], str] = {}
        self._made: set[str] = set()
        self._constants: set[int] = set()

    def tensor(self, index: int) -> Tensor:
        """Return a tensor; IndexError for an absent one."""
        if index < 0:
            raise IndexError(index)
        return self.graph.tensors[index]

    def stated_dims(self, index: int) -> list[int | str]:
        """Return the sizes of a tensor as the file states them, an open batch by its name."""
        tensor = self.tensor(index)
        is_open = tensor.signature[:1] == (-1,)
        return [BATCH, *tensor.dims[1:]] if is_open else [*tensor.dims]

    def name(self, index: int) -> str:
        """Return the name of a tensor in the model."""
        return self.prefix + self.tensor(index).name

    def rank(self, index: int) -> int:
        """Return the number of axes of a tensor."""
        return len(self.tensor(index).dims)

    def is_constant(self, index: int) -> bool:
        """Whether a tensor holds data, or is a state that starts as zeros."""
        tensor = self.tensor(index)
        if index in self._layouts:
            return index in self._constants
        return self.file.is_constant(tensor) or tensor.is_variable or 0 in tensor.dims

    def has(self, operator: Operator, position: int) -> bool:
        """Whether an operator has an optional input."""
        return position < len(operator.inputs) and operator.inputs[position] >= 0

    def integers(self, index: int) -> list[int] | None:
        """Return the values of a small constant of integers; None of any other tensor."""
        values = self.values(index)
        if values is None or values.dtype.kind not in "iub":
            return None
        numbers: list[int] = values.astype(np.int64).reshape(-1).tolist()
        return numbers

    def steering(self, operator: Operator, position: int) -> list[int]:
        """Return the values of an input that has to be constant.

        Raises:
            InputError: it is computed by the network.
        """
        numbers = self.integers(operator.inputs[position])
        if numbers is None:
            reason = f"its input {position} is computed, and what it does depends on it"
            raise InputError(operator.subject, reason, "convert the model with fixed sizes")
        return numbers

    def values(self, index: int) -> NDArray[Any] | None:
        """Return the values of a small constant; None of any other tensor."""
        tensor = self.tensor(index)
        if not self.is_constant(index) or math.prod(tensor.dims) > _SMALL_ELEMENTS:
            return None
        if tensor.dtype in (TensorProto.UNDEFINED, TensorProto.STRING):
            return None
        return self.file.data(tensor)

    def layout(self, index: int) -> Layout:
        """Return the layout that a tensor has in the model."""
        return self._layouts.get(index) or as_filed(self.rank(index))

    def result_layout(self, operator: Operator) -> Layout:
        """Return the layout of the result of a neutral operator: that of its images, if any."""
        result = operator.outputs[0]
        rank = self.rank(result)
        dynamic = [i for i in operator.inputs if i >= 0 and not self.is_constant(i)]
        for index in dynamic:
            if self.rank(index) == rank and self.layout(index) != as_filed(rank):
                return self.layout(index)
        is_image = result in self.images and any(self.rank(i) == rank for i in dynamic)
        return channels_first(rank) if is_image else as_filed(rank)

    def define(self, index: int, value: str, layout: Layout) -> None:
        """State which value of the model a tensor is, and its layout."""
        self._layouts[index] = layout
        self._values[index, layout] = value

    def value(self, index: int, layout: Layout | None = None) -> str:
        """Return the value of a tensor in its stored type.

        Args:
            index: of the tensor.
            layout: that it has to have; the one that it has if None.

        Raises:
            InputError: nothing makes it.
        """
        if index not in self._layouts:
            self._add_constant(index, layout)
        layout = self.layout(index) if layout is None else layout
        value = self._values.get((index, layout))
        if value is None:
            value = self._values[index, layout] = self._rearranged(index, layout)
        return value

    def as_int64(self, index: int) -> str:
        """Return the value of a tensor of sizes or positions in the type that ONNX has for them."""
        value = self.value(index, as_filed(self.rank(index)))
        if self.tensor(index).dtype == TensorProto.INT64:
            return value
        return self.builder.node("Cast", [value], to=TensorProto.INT64)

    def _add_constant(self, index: int, layout: Layout | None) -> None:
        tensor = self.tensor(index)
        if not self.is_constant(index):
            reason = f"nothing makes its tensor '{tensor.name[:80]}'"
            raise InputError(self.file.path, reason, AGAIN)
        values = self.values(index) if tensor.dtype in _COUNTING else None
        layout = as_filed(len(tensor.dims)) if layout is None or values is not None else layout
        name = self.name(index)
        if values is not None:
            self.builder.constant(values, name)
        else:
            dtype = tensor.dtype or TensorProto.FLOAT
            self.builder.weight(name, dtype, arranged(tensor.dims, layout))
        self._constants.add(index)
        self.define(index, name, layout)

    def _rearranged(self, index: int, layout: Layout) -> str:
        """Return a tensor in another layout: a view where only axes of one element move."""
        tensor, present = self.tensor(index), self.layout(index)
        if index in self.transposed:
            data, order = self.transposed[index]
            return self.value(data, tuple(order[axis] for axis in layout))
        source = self._values[index, present]
        if is_view(tensor.signature, present, layout):
            return self.reshaped(source, arranged(tensor.signature, layout))
        order = [present.index(axis) for axis in layout]
        return self.builder.node("Transpose", [source], perm=order)

    def reshaped(self, value: str, sizes: Sequence[int], name: str = "") -> str:
        """Return a value in another shape; one size may be -1, or the first as it was."""
        target = list(sizes)
        if target.count(-1) > 1 and target[0] == -1:
            target[0] = 0
        if target.count(-1) > 1:
            raise InputError(
                self.file.path, "a Reshape in it has several open sizes", "fix them in the model"
            )
        outputs = [name] if name else None
        return self.builder.node("Reshape", [value, self.builder.constant(target)], outputs)

    def free_name(self, index: int) -> str:
        """Return the name of a tensor for the value that an operator makes of it."""
        name = self.name(index)
        if name in self._made:
            raise InputError(self.file.path, f"its tensor '{name[:80]}' is made twice", AGAIN)
        self._made.add(name)
        return name
