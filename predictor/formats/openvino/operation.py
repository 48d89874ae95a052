"""A layer that is being converted, as handlers read and write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from onnx import TensorProto, helper

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.builder import MisfitError
from predictor.formats.openvino.document import Layer, Port, Source
from predictor.formats.openvino.scope import Array, Scope
from predictor.graph.tensor_data import MissingDataError

Handler: TypeAlias = "Callable[[Operation], None]"
DOMAIN: Final = "openvino"
"""Domain of operators that ONNX does not have."""


class Operation:
    """A layer that is being converted, with the ONNX names of its inputs.

    Attributes:
        layer: the layer.
        scope: of the network that it is in.
        inputs: names of its inputs.
    """

    def __init__(self, scope: Scope, layer: Layer) -> None:
        self.scope, self.layer = scope, layer
        self.builder = scope.builder
        self._sources = [scope.net.edges[layer.id, port.id] for port in layer.inputs]
        self.inputs = [self._read(source) for source in self._sources]

    def _read(self, source: Source) -> str:
        """Return the name of a value; of a rounded one with several readers one for each."""
        rounded = self.scope.rounded.get(source)
        if rounded is None or self.scope.readers[source] < 2:
            return self.scope.sources[source]
        return self.builder.node("DequantizeLinear", rounded.inputs, axis=rounded.axis)

    # attributes

    def text(self, key: str, default: str = "") -> str:
        """Return an attribute as text, in lower case."""
        return self.layer.data.get(key, default).strip().lower()

    def flag(self, key: str, default: bool = False) -> bool:
        """Return an attribute that is true or false."""
        return self.text(key, str(default)) in {"true", "1"}

    def integer(self, key: str, default: int = 0) -> int:
        """Return an attribute that is a whole number of 64 bits."""
        return _bounded(self.text(key) or default)

    def number(self, key: str, default: float) -> float:
        """Return an attribute that is a number."""
        return float(self.text(key) or default)

    def integers(self, key: str) -> list[int]:
        """Return an attribute that is a list of whole numbers."""
        return [_bounded(part) for part in self.text(key).split(",") if part.strip()]

    # inputs and outputs

    def has(self, index: int) -> bool:
        """Whether there is such an input."""
        return index < len(self.inputs)

    def port(self, index: int) -> Port:
        """Return an input's port."""
        return self.layer.inputs[index]

    def dims(self, index: int) -> tuple[int | None, ...]:
        """Return the stated sizes of an input, None for an open one."""
        return tuple(self.port(index).dims)

    def rank(self, index: int = 0) -> int:
        """Return the number of dimensions of an input."""
        return len(self.port(index).dims)

    def out(self, index: int = 0) -> Port:
        """Return an output's port."""
        return self.scope.output_port(self.layer, index)

    def is_constant(self, index: int) -> bool:
        """Whether an input does not depend on the inputs of the network."""
        return self._sources[index][0] in self.scope.constant_layers

    def maker(self, index: int) -> Layer:
        """Return the layer that makes an input."""
        return self.scope.net.layers[self._sources[index][0]]

    def source(self, index: int) -> Source:
        """Return the source of an input."""
        return self._sources[index]

    def values(self, index: int) -> Array | None:
        """Return the values of an input; None where they are computed, or in a missing file."""
        try:
            return self.scope.values(self._sources[index])
        except MissingDataError:
            return None

    def needed(self, index: int, fallback: Sequence[int] | None = None) -> list[int]:
        """Return whole numbers that decide the operation.

        Args:
            index: of the input.
            fallback: values in place of a constant in a missing file.

        Raises:
            MissingDataError: the weights' file is missing.
            MisfitError: they are computed, so ONNX cannot state them.
        """
        try:
            values = self.scope.values(self._sources[index])
        except MissingDataError:
            if fallback is None:
                raise
            return list(fallback)
        if values is None:
            raise MisfitError(f"computes its input {index}, which has to be a constant")
        return [int(value) for value in values.reshape(-1)]

    def as_int64(self, index: int, fallback: Sequence[int] | None = None) -> str:
        """Return the name of an input as a vector or scalar of INT64.

        Args:
            index: of the input.
            fallback: values in place of a constant in a missing file.
        """
        try:
            values = self.scope.values(self._sources[index])
        except MissingDataError:
            if fallback is None:
                raise
            return self.builder.constant(np.array(fallback, np.int64))
        if values is not None:
            return self.builder.constant(values.astype(np.int64))
        return self.int64(index)

    def vector(self, index: int, fallback: Sequence[int] | None = None) -> str:
        """Return the name of an input as a vector of INT64, also where the file has one number.

        Args:
            index: of the input.
            fallback: values in place of a constant in a missing file.
        """
        values = self.values(index)
        if values is not None:
            return self.builder.constant(values.reshape(-1).astype(np.int64))
        name = self.as_int64(index, fallback)
        return self.reshaped(name, [-1]) if self.rank(index) == 0 else name

    def int64(self, index: int) -> str:
        """Return the name of an input, cast to INT64 where it is of another type."""
        if self.port(index).dtype == TensorProto.INT64:
            return self.inputs[index]
        return self.step("Cast", [self.inputs[index]], to=TensorProto.INT64)

    # results

    def names(self) -> list[str]:
        """Return new names of all outputs, and make readers of the layer read them."""
        ports = self.layer.outputs
        suffixes = [""] if len(ports) == 1 else [f":{i}" for i in range(len(ports))]
        result = [self.scope.free_name(self.layer.name + suffix) for suffix in suffixes]
        self.give(result)
        return result

    def give(self, names: Sequence[str], layer: Layer | None = None) -> None:
        """Let readers of a layer's outputs read values of these names."""
        layer = layer or self.layer
        for port, name in zip(layer.outputs, names, strict=False):
            self.scope.sources[layer.id, port.id] = name

    def emit(
        self,
        op_type: str,
        inputs: Sequence[str] | None = None,
        *,
        outputs: int | None = None,
        **attributes: Any,
    ) -> None:
        """Add the operator that stands for the layer.

        Args:
            op_type: its type in ONNX.
            inputs: of the operator; all those of the layer if None.
            outputs: largest number that the operator has; that of the layer if None.
            attributes: of the operator.
        """
        inputs = self.inputs if inputs is None else inputs
        names = self.names()[:outputs]
        self.builder.node(op_type, inputs, names, name=self.layer.name, **attributes)

    def emit_joined(
        self, readers: Sequence[Layer], op_type: str, inputs: Sequence[str], **attributes: Any
    ) -> None:
        """Add the operator that stands for the layer and the chain of layers that reads it."""
        last = readers[-1]
        name = self.scope.free_name(last.name)
        self.builder.node(op_type, inputs, [name], name=self.layer.name, **attributes)
        self.give([name], last)
        self.scope.done.update(reader.id for reader in readers)

    def step(self, op_type: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add an operator that is a part of the layer, and return its result."""
        name = self.builder.fresh(f"{self.layer.name}/{op_type}")
        return self.builder.node(op_type, inputs, [name], **attributes)

    def reshaped(self, name: str, dims: Sequence[int]) -> str:
        """Return a value in another shape."""
        return self.step("Reshape", [name, self.builder.constant(np.array(dims, np.int64))])

    def transposed(self, name: str, order: Sequence[int]) -> str:
        """Return a value with its axes in another order."""
        return self.step("Transpose", [name], perm=list(order))

    def scalar(self, value: float, index: int = 0) -> str:
        """Return a constant number of the type of an input."""
        dtype = self.port(index).dtype or TensorProto.FLOAT
        lowest, highest = _limits(dtype)
        value = min(max(value, lowest), highest)
        return self.builder.tensor(
            helper.make_tensor(self.builder.fresh("number"), dtype, [], [value])
        )

    def unknown(self, largest: int | None = None) -> None:
        """Add an operator that ONNX does not have, with the shapes that the file states.

        Args:
            largest: what an open size is at most.
        """
        outputs = self.names()
        self.builder.node(
            self.layer.type, self.inputs, outputs, name=self.layer.name, domain=DOMAIN
        )
        for name, port in zip(outputs, self.layer.outputs, strict=True):
            dims = [
                largest or self.builder.fresh("size") if size is None else size
                for size in port.dims
            ]
            self.builder.shape(name, port.dtype, dims)

    def sole_reader(self, index: int = 0) -> tuple[Layer, int] | None:
        """Return the layer, and the position of its input, that alone read an output."""
        return self.scope.sole_reader((self.layer.id, self.out(index).id))

    def error(self, reason: str) -> InputError:
        """Return the error of this layer."""
        return self.scope.error(self.layer, reason)


def _limits(dtype: int) -> tuple[float, float]:
    """Return the numbers of a type between which ONNX can state one."""
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    if np.issubdtype(kind, np.integer):
        # As floats the largest 64-bit integers round up.
        info = np.iinfo(kind)
        return max(info.min, -(2**53)), min(info.max, 2**53)
    if np.issubdtype(kind, np.floating):
        return float(np.finfo(kind).min), float(np.finfo(kind).max)
    return 0.0, 1.0


def _bounded(value: str | int) -> int:
    number = int(value) if len(str(value)) < 21 else 2**63
    if not -(2**63) <= number < 2**63:
        raise MisfitError(f"has the number {shortened(str(value), 30)}, too large for 64 bits")
    return number
