"""From a Core ML neural network of layers to an ONNX model."""

from __future__ import annotations

from typing import Any, Final

import onnx
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.builder import ModelBuilder
from predictor.formats.coreml.layers import arrangement, rules  # noqa: F401  # they register rules
from predictor.formats.coreml.layers.layer import RULES, Layer
from predictor.formats.coreml.mil.program import DAMAGED
from predictor.formats.emitter import Values

_AGAIN: Final = "convert the network again with coremltools"
_PLAIN: Final = frozenset({"name", "input", "output", "inputTensor", "outputTensor"})
_TYPES: Final = {65552: TensorProto.FLOAT16, 65600: TensorProto.DOUBLE, 131104: TensorProto.INT32}
_GREY: Final = frozenset({10, 40})  # colour spaces of one channel
_MAX_LAYERS: Final = 200_000


class Network:
    """Writer of the layers of a network.

    Args:
        path: of the file, for errors.
        description: of the model's inputs and outputs.
        network: message ``Network``.
    """

    def __init__(self, path: str, description: Any, network: Any) -> None:
        self._path, self._description, self._layers = path, description, network.layers
        self._builder = ModelBuilder("coremltools")
        self._values = Values(self._builder)
        # Sequence, batch, channels, height, width: the first forms of networks state no ranks.
        self._is_flat = network.arrayInputShapeMapping == 0
        self._dtype: int = TensorProto.FLOAT

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model.

        Raises:
            InputError: the network is damaged.
        """
        if len(self._layers) > _MAX_LAYERS:
            raise self._error(f"it has more than {_MAX_LAYERS} layers, the most that are read")
        try:
            self._dtype = self._stored_type()
            for feature in self._description.input:
                self._add_input(feature)
        except DAMAGED as error:
            raise self._error("its inputs are damaged") from error
        for layer in self._layers:
            try:
                self._add(layer)
            except DAMAGED as error:
                name = shortened(str(layer.name), 80)
                raise self._error(f"its layer '{name}' is damaged") from error
        self._add_outputs()
        return self._builder.finish()

    def _error(self, reason: str) -> InputError:
        return InputError(self._path, reason, _AGAIN)

    def _stored_type(self) -> int:
        """Return the type of the weights, in which the network computes."""
        for layer in self._layers:
            for name in ("convolution", "innerProduct"):
                if layer.HasField(name) and getattr(layer, name).weights.float16Value:
                    return TensorProto.FLOAT16
        return TensorProto.FLOAT

    def _add_input(self, feature: Any) -> None:
        dtype = TensorProto.FLOAT
        if feature.type.HasField("imageType"):
            image = feature.type.imageType
            channels = 1 if image.colorSpace in _GREY else 3
            dims = [1, channels, int(image.height), int(image.width)]
        elif feature.type.HasField("multiArrayType"):
            array = feature.type.multiArrayType
            dtype = _TYPES.get(array.dataType, TensorProto.FLOAT)
            dims = self._array_dims([int(size) for size in array.shape])
        else:
            return
        name = self._values.name(feature.name)
        self._builder.input(name, dtype, dims)
        is_number = dtype not in {self._dtype, TensorProto.INT32}
        if is_number:
            name = self._builder.node("Cast", [name], to=self._dtype)
        self._values.names[feature.name] = name

    def _array_dims(self, shape: list[int]) -> list[int]:
        if not self._is_flat:
            return shape
        if len(shape) == 1:
            return [1, shape[0], 1, 1]
        return [1] * (4 - len(shape)) + shape[-4:]

    def _add(self, message: Any) -> None:
        kind = next((d.name for d, _ in message.ListFields() if d.name not in _PLAIN), "layer")
        rule = RULES.get(kind)
        made = None
        if rule is not None:
            layer = Layer(self._values, kind, message, self._dtype, is_flat=self._is_flat)
            try:
                made = rule(layer)
            except DAMAGED:
                made = None
        outputs = list(message.output)
        if made is None:
            inputs = [self._values.names[name] for name in message.input]
            made = [self._values.name(name) for name in outputs]
            self._builder.node(kind, inputs, made, domain="coreml")
        made = [made] if isinstance(made, str) else list(made)
        self._values.names.update(zip(outputs, made, strict=False))

    def _add_outputs(self) -> None:
        """Add the outputs that layers make; a label follows from the last layer."""
        stated = [feature.name for feature in self._description.output]
        made = [self._values.names[name] for name in stated if name in self._values.names]
        if not made and self._layers and self._layers[-1].output:
            made = [self._values.names[self._layers[-1].output[0]]]
        for name in dict.fromkeys(made):
            self._builder.output(self._builder.node("Identity", [name]), self._dtype)
