"""A layer that is being converted, and the shapes of blobs as far as the file states them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.formats.builder import MisfitError, ModelBuilder
from predictor.formats.ncnn.text import Layer, layer_error

DOMAIN: Final = "ncnn"
"""Domain of operators that ONNX does not have."""

# Codes of activations that are fused into layers.
_LEAKY, _CLIP = 2, 3
_ACTIVATIONS: Final = {1: "Relu", 4: "Sigmoid", 5: "Mish", 6: "HardSwish"}
Dims: TypeAlias = list[int | None]
"""Sizes of a blob from its outermost axis (channels), without a batch; None for an open one."""


class Scope:
    """The blobs of a network while it is converted.

    Attributes:
        path: of the file.
        builder: gets the operators.
        names: in the ONNX model, by blob.
        dims: of each blob.
    """

    def __init__(self, path: str, builder: ModelBuilder) -> None:
        self.path, self.builder = path, builder
        self.names: dict[str, str] = {}
        self.dims: dict[str, Dims] = {}


class Operation:
    """A layer with the names and sizes of its inputs.

    Args:
        scope: of the network.
        layer: the layer.
    """

    def __init__(self, scope: Scope, layer: Layer) -> None:
        self.scope, self.layer, self.builder = scope, layer, scope.builder
        self.inputs = [scope.names[name] for name in layer.inputs]
        self.number, self.integer = layer.number, layer.integer
        self.integers = layer.integers

    def dims(self, index: int = 0) -> Dims:
        """Return the sizes of an input."""
        if index >= len(self.layer.inputs):
            raise MisfitError("has too few inputs")
        return self.scope.dims[self.layer.inputs[index]]

    def rank(self, index: int = 0) -> int:
        """Return the number of axes of an input, without the batch."""
        return len(self.dims(index))

    def axis(self, axis: int, rank: int | None = None) -> int:
        """Return an axis of ncnn as one of ONNX, counted from the front with the batch."""
        rank = self.rank() if rank is None else rank
        place = axis + rank if axis < 0 else axis
        if not 0 <= place < rank:
            raise MisfitError(f"has the axis {axis} of {rank}")
        return place + 1

    def emit(
        self, op_type: str, dims: Dims, inputs: Sequence[str] | None = None, **attributes: Any
    ) -> None:
        """Add the operator that makes the layer's first output, of these sizes."""
        inputs = self.inputs if inputs is None else inputs
        name = self.output()
        self.builder.node(op_type, inputs, [name], name=self.layer.name, **attributes)
        self.give(name, dims)

    def step(self, op_type: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add an operator that is a part of the layer, and return its result."""
        name = self.builder.fresh(f"{self.layer.name}/{op_type}")
        return self.builder.node(op_type, inputs, [name], **attributes)

    def output(self, index: int = 0) -> str:
        """Return the blob that the layer makes."""
        if index >= len(self.layer.outputs):
            raise MisfitError("makes no blob")
        return self.layer.outputs[index]

    def give(self, name: str, dims: Dims, index: int = 0) -> None:
        """Let readers of an output read a value."""
        blob = self.output(index)
        self.scope.names[blob], self.scope.dims[blob] = name, dims

    def inner_size(self, key: int, outer: int) -> int:
        """Return the inner size of a weight, of which a parameter states all elements.

        Args:
            key: of the parameter.
            outer: product of the other sizes.

        Raises:
            MisfitError: the elements are no multiple of it, so the weight is no such tensor.
        """
        elements = self.integer(key)
        if min(elements, outer) < 1 or elements % outer:
            raise MisfitError(f"has a weight of {elements} elements, no multiple of {outer}")
        return elements // outer

    def weight(self, what: str, dims: Sequence[int], dtype: int = TensorProto.FLOAT) -> str:
        """Add weights of the layer, which the file of weights holds."""
        if any(size < 0 for size in dims) or math.prod(dims) > 2**40:
            raise MisfitError(f"has weights of the shape {list(dims)}")
        return self.builder.weight(self.builder.fresh(f"{self.layer.name}/{what}"), dtype, dims)

    def number_constant(self, value: float) -> str:
        """Add a constant number."""
        return self.builder.constant(np.array(value, np.float32))

    def reshaped(self, name: str, dims: Sequence[int]) -> str:
        """Return a value in another shape."""
        return self.step("Reshape", [name, self.builder.constant(list(dims))])

    def activated(self, name: str) -> str:
        """Return a value behind the activation that is fused into the layer."""
        code, values = self.integer(9), self.layer.arrays.get(10, [])
        numbers = [float(value) for value in values] + [0.0, 0.0]
        if code == _LEAKY:
            return self.step("LeakyRelu", [name], alpha=numbers[0])
        if code == _CLIP:
            return self.step("Clip", [name, *map(self.number_constant, numbers[:2])])
        op_type = _ACTIVATIONS.get(code)
        return name if op_type is None else self.step(op_type, [name])

    def unknown(self, dims: Dims | None = None, outputs: Sequence[str] = ()) -> None:
        """Add an operator that ONNX does not have, by default for all blobs of the layer."""
        outputs = outputs or self.layer.outputs
        self.builder.node(
            self.layer.type, self.inputs, outputs, name=self.layer.name, domain=DOMAIN
        )
        for blob in outputs:
            sizes = dims if dims is not None else list(self.dims()) if self.layer.inputs else []
            self.scope.names[blob], self.scope.dims[blob] = blob, list(sizes)
            if None not in sizes:
                stated: list[int | str] = ["batch", *[size or 0 for size in sizes]]
                self.builder.shape(blob, TensorProto.FLOAT, stated)

    def error(self, reason: str) -> InputError:
        """Return the error of this layer."""
        return layer_error(self.scope.path, self.layer, reason)


Handler: TypeAlias = Callable[[Operation], None]
