"""The values of one network of an IR: names, constants, readers."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.builder import ModelBuilder
from predictor.formats.openvino.document import (
    AGAIN,
    MAX_RANK,
    Layer,
    Net,
    Port,
    Source,
    element_type,
    is_count,
    parsed_size,
)
from predictor.graph.operators import DTYPE_BITS, DTYPE_OF_ONNX
from predictor.graph.tensor_data import ExternalData

Array: TypeAlias = NDArray[Any]
_MAX_VALUES: Final = 1 << 16  # elements of a constant whose values are read
_MAX_ELEMENTS: Final = 2**50


class Rounded(NamedTuple):
    """A value that is made of integers: inputs of its DequantizeLinear, and its axis."""

    inputs: tuple[str, str, str]
    axis: int | None


class Weights:
    """The ``.bin`` file of an IR.

    Args:
        path: of the XML.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = Path(path).with_suffix(".bin").name
        self._data = ExternalData(path)

    def read(self, tensor: TensorProto) -> Array:
        """Return the values of a small constant.

        Raises:
            MissingDataError: there is no such file.
            InputError: it is too short or cannot be read.
        """
        stored = TensorProto()
        stored.CopyFrom(tensor)
        data = self._data.read(stored, stored_bytes(tensor.data_type, math.prod(tensor.dims)))
        stored.ClearField("external_data")
        stored.ClearField("data_location")
        stored.raw_data = data
        return numpy_helper.to_array(stored)


def stored_bytes(dtype: int, elements: int) -> int:
    """Return the bytes of a constant, packed."""
    return -(-elements * DTYPE_BITS[DTYPE_OF_ONNX[dtype]] // 8)


class Scope:
    """One network, or the body of a layer, while it is converted.

    Args:
        net: its layers.
        builder: gets the operators.
        weights: of the file.
        outer: names of values around a body, by the id of the Parameter that stands for each.

    Attributes:
        sources: name in the ONNX model of each value.
        results: names of what Result layers and states take, by the layer's id.
        states: names of the inputs that stand for states, by their variable.
        done: ids of layers that are a part of one before.
        readers: number of inputs that read each value.
        rounded: integers, scale, zero point and axis of values that fake quantisation rounds.
        constant_layers: ids of layers that do not depend on an input.
    """

    def __init__(
        self,
        net: Net,
        builder: ModelBuilder,
        weights: Weights,
        outer: dict[int, str] | None = None,
    ) -> None:
        self.builder, self.weights, self.net = builder, weights, net
        self.outer = outer or {}
        self.sources: dict[Source, str] = {}
        self.results: dict[int, str] = {}
        self.states: dict[str, str] = {}
        self.done: set[int] = set()
        self.rounded: dict[Source, Rounded] = {}
        self.constant_layers: set[int] = set()
        self._constants: dict[Source, TensorProto] = {}
        self._places: dict[tuple[object, ...], TensorProto] = {}
        self.readers = Counter(net.edges.values())
        self._reader_of = {source: target for target, source in net.edges.items()}
        self._names: set[str] = set()

    def sole_reader(self, source: Source) -> tuple[Layer, int] | None:
        """Return the layer and the position of its input that alone read a value."""
        if self.readers[source] != 1:
            return None
        target, port_id = self._reader_of[source]
        layer = self.net.layers.get(target)
        if layer is None:
            return None
        positions = [i for i, port in enumerate(layer.inputs) if port.id == port_id]
        return (layer, positions[0]) if positions else None

    def constant_operand(self, layer: Layer, position: int) -> tuple[str, Port] | None:
        """Return the constant that a layer of two inputs combines with the value that it reads.

        Args:
            layer: the layer.
            position: of the input that is the value.
        """
        if len(layer.inputs) != 2:
            return None
        port = layer.inputs[1 - position]
        source = self.net.edges[layer.id, port.id]
        return (self.sources[source], port) if source[0] in self.constant_layers else None

    def free_name(self, name: str) -> str:
        """Return the name of a new value, like that of a layer."""
        name = name.replace("\0", "")
        if not name or name in self._names or self.outer:
            name = self.builder.fresh(name or "value")
        self._names.add(name)
        return name

    def add_constant(self, layer: Layer) -> None:
        """Add a constant as a tensor whose data lie in the weights' file."""
        port = self.output_port(layer, 0)
        dtype = element_type(layer.data.get("element_type", "")) or port.dtype
        if dtype not in DTYPE_OF_ONNX or dtype == TensorProto.UNDEFINED:
            kind = shortened(layer.data.get("element_type", ""), 20)
            raise self.error(layer, f"has the element type '{kind}', which is not known")
        dims = self._stated_dims(layer, layer.data.get("shape", ""))
        source = layer.id, port.id
        if dtype == TensorProto.STRING:
            self.sources[source] = self.builder.weight(self.free_name(layer.name), dtype, dims)
            return
        # Equal constants lie at one place of the file: they are one tensor.
        place = (layer.data.get("offset"), dtype, *dims)
        tensor = self._places.get(place)
        if tensor is None:
            tensor = self._stored(layer, self.free_name(layer.name), dtype, dims)
            self._places[place] = tensor
            self.builder.tensor(tensor)
        self._constants[source] = tensor
        self.sources[source] = tensor.name

    def _stored(self, layer: Layer, name: str, dtype: int, dims: list[int]) -> TensorProto:
        tensor = TensorProto(
            name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL
        )
        sizes = {key: layer.data.get(key, "") for key in ("offset", "size")}
        expected = stored_bytes(dtype, math.prod(dims))
        for key, value in sizes.items():
            if not is_count(value):
                raise self.error(
                    layer, f"has the {key} '{shortened(value, 40)}', no count of bytes"
                )
        if layer.data.get("element_type", "").startswith("u2"):
            expected = int(sizes["size"])
        if int(sizes["size"]) != expected:
            raise self.error(
                layer, f"has {sizes['size']} bytes, but its shape and type ask for {expected}"
            )
        entries = {
            "location": self.weights.name,
            "offset": sizes["offset"],
            "length": str(expected),
        }
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)
        return tensor

    def _stated_dims(self, layer: Layer, text: str) -> list[int]:
        stated = [parsed_size(part) for part in text.split(",")] if text.strip() else []
        sizes = [size for size in stated if size is not None]
        if len(sizes) < len(stated) or len(sizes) > MAX_RANK:
            raise self.error(layer, f"has the shape '{shortened(text, 60)}', which no constant has")
        if math.prod(sizes) > _MAX_ELEMENTS:
            raise self.error(layer, f"has more than {_MAX_ELEMENTS} elements")
        return sizes

    def values(self, source: Source) -> Array | None:
        """Return the values of a small constant, None of what is computed or large.

        Raises:
            MissingDataError: the weights' file is missing.
        """
        tensor = self._constants.get(source)
        if tensor is not None:
            elements = math.prod(tensor.dims)
            return self.weights.read(tensor) if elements <= _MAX_VALUES else None
        layer = self.net.layers[source[0]]
        if layer.type == "Convert" and layer.id in self.constant_layers:
            return self.values(self.net.edges[layer.id, layer.inputs[0].id])
        return None

    def output_port(self, layer: Layer, index: int) -> Port:
        """Return an output port of a layer."""
        if index >= len(layer.outputs):
            raise self.error(layer, "has no output")
        return layer.outputs[index]

    def error(self, layer: Layer, reason: str) -> InputError:
        """Return the error of a layer."""
        what = f"layer '{shortened(layer.name, 80)}' ({shortened(layer.type, 40)}) {reason}"
        return InputError(self.weights.path, what, AGAIN)
