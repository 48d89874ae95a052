"""Inputs, outputs and states of an IR."""

from __future__ import annotations

from typing import Final

import onnx
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.formats.openvino.document import AGAIN, Layer, Port, parsed_size
from predictor.formats.openvino.operation import Handler, Operation
from predictor.formats.openvino.scope import Scope

_IMAGE_CHANNELS = (1, 3, 4)
PAST = "past_length"
LENGTH = "sequence_length"


def _parameter(op: Operation) -> None:
    """Add an input of the network; of a body, let its readers read the value around it."""
    outer = op.scope.outer.get(op.layer.id)
    if outer is not None:
        op.give([outer])
        return
    port = op.out()
    shape = op.text("shape")
    if "..." in shape or len(shape.split(",")) != max(len(port.dims), 1):
        raise op.error("is an input with an open number of dimensions, which cannot be counted")
    names = port.names[:1] or (op.layer.name,)
    name = op.scope.free_name(names[0])
    op.give([name])
    # The attribute states ranges of a size where the port states -1.
    if shape and port.dims:
        port.dims = [parsed_size(part) for part in shape.split(",")]
    op.builder.input(name, port.dtype or TensorProto.FLOAT, named_dims(op, name, port))


def named_dims(op: Operation, name: str, port: Port) -> list[int | str]:
    """Return the dimensions of an input, open ones by a name that says what they are."""
    return [
        _dimension_name(op, name, port.dims, axis) if size is None else size
        for axis, size in enumerate(port.dims)
    ]


def _dimension_name(op: Operation, name: str, dims: list[int | None], axis: int) -> str:
    if axis == 0:
        return "batch"
    if len(dims) == 4:
        if "past" in name and axis == 2:
            return PAST
        sides = (2, 3) if dims[1] in _IMAGE_CHANNELS or dims[3] not in _IMAGE_CHANNELS else (1, 2)
        if axis in sides and dims.count(None) > 1 and _inputs(op.scope) == 1:
            return ("height", "width")[axis - sides[0]]
    if axis == 1 and name.endswith("attention_mask") and "encoder" not in name:
        return f"{PAST} + {LENGTH}" if _has_past(op.scope) else LENGTH
    if axis == 1 and name.endswith(("_ids", "inputs_embeds")):
        return LENGTH
    return f"{name}:{axis}"


def _inputs(scope: Scope) -> int:
    return sum(layer.type == "Parameter" for layer in scope.net.layers.values())


def _has_past(scope: Scope) -> bool:
    layers = scope.net.layers.values()
    return any(layer.type == "ReadValue" or "past_key" in layer.name for layer in layers)


def _result(op: Operation) -> None:
    """Note an output of the network, or of a body."""
    op.scope.results[op.layer.id] = op.inputs[0]


def _read_value(op: Operation) -> None:
    """Add a state as an input: what the network remembers comes from memory like one."""
    variable = op.layer.data.get("variable_id", op.layer.name)
    name = op.scope.states.get(variable)
    if name is None:
        name = op.scope.free_name(variable)
        op.scope.states[variable] = name
        port = op.out()
        dims: list[int | str] = [
            _state_dimension(port.dims, axis) if size is None else size
            for axis, size in enumerate(port.dims)
        ]
        op.builder.input(name, port.dtype or TensorProto.FLOAT, dims)
    op.give([name])


def _state_dimension(dims: list[int | None], axis: int) -> str:
    return "batch" if axis == 0 and len(dims) > 1 else PAST


def _assign(op: Operation) -> None:
    """Add the new value of a state as an output."""
    op.scope.results[op.layer.id] = op.inputs[0]
    if op.layer.outputs:
        op.give(op.inputs[:1])


def finish(scope: Scope) -> onnx.ModelProto:
    """Return the model, once all layers are converted."""
    if not scope.results:
        raise InputError(scope.weights.path, "it has no layer of type Result", AGAIN)
    for number, name in scope.results.items():
        layer = scope.net.layers[number]
        # An input or a constant cannot be an output itself.
        result = scope.free_name(_result_name(scope, layer))
        scope.builder.node("Identity", [name], [result])
        scope.builder.output(result, layer.inputs[0].dtype)
    return scope.builder.finish()


def _constant(op: Operation) -> None:
    op.scope.add_constant(op.layer)


def _result_name(scope: Scope, layer: Layer) -> str:
    """Return the name of an output: that of its state or tensor, as the model had it."""
    source, port_id = scope.net.edges[layer.id, layer.inputs[0].id]
    ports = [port for port in scope.net.layers[source].outputs if port.id == port_id]
    names = ports[0].names[:1] if ports else ()
    return layer.data.get("variable_id") or next(iter(names), layer.name)


HANDLERS: Final[dict[str, Handler]] = {
    "const": _constant,
    "constant": _constant,
    "assign": _assign,
    "parameter": _parameter,
    "readvalue": _read_value,
    "result": _result,
}
"""Handlers by operation in lower case."""
