"""From the layers of an IR to operators of an ONNX model, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from predictor.formats.builder import MisfitError
from predictor.formats.openvino.document import Layer
from predictor.formats.openvino.operation import Handler, Operation
from predictor.formats.openvino.quantisation import MOVING, keep_rounded
from predictor.formats.openvino.scope import Scope

# Their result is a constant where their inputs are: all but those with a state or chance.
_NEVER_CONSTANT: Final = frozenset(
    {"parameter", "result", "readvalue", "assign", "randomuniform", "multinomial", "if", "loop"}
)


def convert(scope: Scope, handlers: dict[str, Handler]) -> None:
    """Convert all layers of a network, or of a body.

    Args:
        scope: of the layers.
        handlers: by type of operation in lower case.

    Raises:
        InputError: the layers contradict themselves, or a value is missing that is needed.
    """
    order = _ordered(scope)
    scope.constant_layers = _find_constants(scope, order)
    # Constants first: a layer may take the bias that its only reader adds.
    order.sort(key=lambda layer: layer.id not in scope.constant_layers)
    for layer in order:
        if layer.id not in scope.done:
            _convert(scope, layer, handlers)


def _convert(scope: Scope, layer: Layer, handlers: dict[str, Handler]) -> None:
    handler = handlers.get(layer.type.lower())
    try:
        operation = Operation(scope, layer)
        if handler is None:
            operation.unknown()
        else:
            handler(operation)
        if scope.rounded and layer.type.lower() in MOVING:
            keep_rounded(operation)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        is_named = isinstance(error, MisfitError)
        detail = str(error) if is_named else "has inputs or attributes that do not fit"
        raise scope.error(layer, detail) from error


def _ordered(scope: Scope) -> list[Layer]:
    """Return the layers so that each stands behind those that it reads."""
    order: list[Layer] = []
    state: dict[int, int] = {}
    for first in scope.net.layers.values():
        stack = [first]
        while stack:
            layer = stack[-1]
            if state.get(layer.id) == 2:
                stack.pop()
                continue
            before = [s for s in _read_by(scope, layer) if state.get(s.id) != 2]
            if state.get(layer.id) == 1 or not before:
                if before:
                    raise scope.error(layer, "is a part of a circle")
                state[layer.id] = 2
                order.append(stack.pop())
                continue
            state[layer.id] = 1
            stack += before
    return order


def _read_by(scope: Scope, layer: Layer) -> list[Layer]:
    sources = []
    for port in layer.inputs:
        source = scope.net.edges.get((layer.id, port.id))
        if source is None:
            raise scope.error(layer, f"has no source for its input {port.id}")
        maker = scope.net.layers.get(source[0])
        if maker is None or all(port.id != source[1] for port in maker.outputs):
            raise scope.error(
                layer, f"reads output {source[1]} of layer {source[0]}, which is not there"
            )
        sources.append(maker)
    return sources


def _find_constants(scope: Scope, order: Sequence[Layer]) -> set[int]:
    constant: set[int] = set()
    for layer in order:
        if layer.type in {"Const", "Constant"} or (
            layer.inputs
            and layer.type.lower() not in _NEVER_CONSTANT
            and all(scope.net.edges[layer.id, port.id][0] in constant for port in layer.inputs)
        ):
            constant.add(layer.id)
    return constant
