"""ncnn ``.param`` as the ONNX model of the same network; its weights are not read."""

from __future__ import annotations

import onnx
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.core.files import opened
from predictor.formats.builder import MisfitError, ModelBuilder
from predictor.formats.ncnn import dense, elements, moves, windows
from predictor.formats.ncnn.inputs import Inputs
from predictor.formats.ncnn.layers import DOMAIN, Dims, Operation, Scope
from predictor.formats.ncnn.text import BINARY_MAGIC, Layer, read_layers

_HANDLERS = {**dense.HANDLERS, **elements.HANDLERS, **moves.HANDLERS, **windows.HANDLERS}
# Axes of images, from the outermost; the channels come first.
_SIDES = {2: ("width",), 3: ("height", "width"), 4: ("depth", "height", "width")}


def read(path: str) -> onnx.ModelProto:
    """Return the model of a file, with a batch before the axes of each blob.

    Raises:
        InputError: it is no such file, or it contradicts itself.
    """
    _refuse_binary(path)
    layers = read_layers(path)
    scope = Scope(path, ModelBuilder("ncnn", DOMAIN))
    inputs = Inputs(layers)
    several = sum(layer.type == "Input" for layer in layers) > 1
    for layer in layers:
        if layer.type == "Input":
            stem = f"{layer.name}_" if several else ""
            _add_input(scope, layer, inputs.dims(layer), stem)
        else:
            _convert(scope, layer)
    return _finished(scope, layers)


def _refuse_binary(path: str) -> None:
    with opened(path) as (stream, _):
        if stream.read(len(BINARY_MAGIC)) == BINARY_MAGIC:
            raise InputError(
                path,
                "it is the binary form of an ncnn .param, made by ncnn2mem",
                "give the .param in text that it was made from",
            )


def _add_input(scope: Scope, layer: Layer, dims: Dims, stem: str) -> None:
    if layer.inputs or len(layer.outputs) != 1:
        raise Operation(scope, layer).error("reads blobs, or makes other than one")
    name = layer.outputs[0]
    sides = ("channels", *_SIDES.get(len(dims), ()))
    if len(dims) == 2 and dims[0] is None:
        sides = ("length", "size")  # rows of a matrix
    names = [
        f"{stem}{side}" if size is None else size for side, size in zip(sides, dims, strict=True)
    ]
    scope.builder.input(name, TensorProto.FLOAT, ["batch", *names])
    scope.names[name], scope.dims[name] = name, dims


def _convert(scope: Scope, layer: Layer) -> None:
    operation = Operation(scope, layer)
    handler = _HANDLERS.get(layer.type)
    try:
        if handler is None:
            operation.unknown()
        else:
            handler(operation)
        missing = [name for name in layer.outputs if name not in scope.names]
        if missing:  # caches and masks that ONNX has no outputs for
            operation.unknown(outputs=missing)
    except (ValueError, LookupError, TypeError, OverflowError, ZeroDivisionError) as error:
        reason = str(error) if isinstance(error, MisfitError) else "has parameters that do not fit"
        raise operation.error(reason) from error


def _finished(scope: Scope, layers: list[Layer]) -> onnx.ModelProto:
    read_blobs = {name for layer in layers for name in layer.inputs}
    for layer in layers:
        for blob in layer.outputs:
            if blob in read_blobs or layer.type in {"Input", "MemoryData"}:
                continue
            # A layer that only passes a value on, or ends in a part of itself, makes no such name.
            if scope.names[blob] != blob:
                scope.builder.node("Identity", [scope.names[blob]], [blob])
            scope.builder.output(blob, TensorProto.FLOAT)
    return scope.builder.finish()
