"""Layers with bodies: TensorIterator, Loop and If as Loop and If of ONNX."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import onnx
from onnx import TensorProto

from predictor.formats.builder import MisfitError, ModelBuilder
from predictor.formats.openvino.conversion import convert
from predictor.formats.openvino.document import Layer, Mapping, Net, Port
from predictor.formats.openvino.operation import Handler, Operation
from predictor.formats.openvino.scope import Scope

_LAST: Final = -1  # in place of an axis: the last piece
Handlers: TypeAlias = dict[str, Handler]


def handlers(content: Handlers) -> Handlers:
    """Return the handlers of layers with bodies.

    Args:
        content: handlers of what is in them, those of bodies in bodies included.
    """
    loop = _iteration(content)
    return {"if": _choice(content), "loop": loop, "tensoriterator": loop}


def _iteration(content: Handlers) -> Handler:
    """Return the handler of a TensorIterator or a Loop."""

    def write(op: Operation) -> None:
        _Iteration(op).write(content)

    return write


class _Iteration:
    """Writes one loop: slices are gathered in the body, pieces are stacked and joined after it."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.net = op.layer.bodies.get("body", Net())
        maps = op.layer.maps.get("port_map", [])
        self.entries = [line for line in maps if line.role == "input"]
        self.exits = [line for line in maps if line.role == "output"]
        self.edges = {
            _id(edge, "to-layer"): _id(edge, "from-layer")
            for edge in op.layer.maps.get("back_edges", [])
        }
        self.unsqueezed: set[str] = set()
        self.body: ModelBuilder = op.builder.body()
        self.counter = self.body.fresh("iteration")
        self.body.input(self.counter, TensorProto.INT64, [])
        condition = self.body.fresh("condition")
        self.body.input(condition, TensorProto.BOOL, [])
        self.body.output(self.body.node("Identity", [condition]), TensorProto.BOOL)

    def write(self, content: Handlers) -> None:
        states: list[tuple[int, str]] = []
        outer: dict[int, str] = {}
        for line in self.entries:
            inner = _id(line, "internal_layer_id")
            if "axis" in line.values:
                outer[inner] = self._slice(line, self._input(line))
            elif line.values.get("external_port_id") == "-1":
                outer[inner] = self._count(inner)
            elif inner in self.edges:
                outer[inner] = self._state(inner)
                states.append((inner, self._input(line)))
            else:
                outer[inner] = self._input(line)
        scope = Scope(self.net, self.body, self.op.scope.weights, outer)
        convert(scope, content)
        for inner, _ in states:
            result = scope.results[self.edges[inner]]
            self.body.output(self.body.node("Identity", [result]), TensorProto.UNDEFINED)
        self._finish(scope, states)

    def _input(self, line: Mapping) -> str:
        number = _id(line, "external_port_id")
        numbers = [port.id for port in self.op.layer.inputs]
        return self.op.inputs[numbers.index(number)]

    def _parameter(self, inner: int) -> Layer:
        return self.net.layers[inner]

    def _state(self, inner: int) -> str:
        name = self.body.fresh("state")
        port = self._parameter(inner).outputs[0]
        self.body.input(
            name, port.dtype, [self.body.fresh("size") if d is None else d for d in port.dims]
        )
        return name

    def _count(self, inner: int) -> str:
        port = self._parameter(inner).outputs[0]
        name = self.body.node("Cast", [self.counter], to=port.dtype or TensorProto.INT64)
        return self.body.node("Reshape", [name, self.body.constant([1] * len(port.dims))])

    def _slice(self, line: Mapping, source: str) -> str:
        if line.values.get("part_size", "1") != "1":
            raise MisfitError("takes parts of more than one element, which ONNX has no loop for")
        index = self.body.node("Reshape", [self.counter, self.body.constant([1])])
        return self.body.node("Gather", [source, index], axis=int(line.values["axis"]))

    def _trips(self) -> str:
        """Return the number of runs: of the length that is sliced, or as an input states it."""
        for line in self.entries:
            if "axis" in line.values:
                shape = self.op.step("Shape", [self._input(line)])
                axis = self.op.builder.constant([int(line.values["axis"])])
                return self.op.step("Gather", [shape, axis])
        if self.op.layer.type != "Loop" or not self.op.inputs:
            return ""
        values = self.op.values(0)
        if values is not None and values.size and values.reshape(-1)[0] < 0:
            return ""
        return self.op.as_int64(0)

    def _finish(self, scope: Scope, states: list[tuple[int, str]]) -> None:
        op, carried = self.op, [self.edges[inner] for inner, _ in states]
        outputs = [op.builder.fresh(f"{op.layer.name}/state") for _ in states]
        after: list[tuple[int, str, int | None]] = []
        for line in self.exits:
            result = _id(line, "internal_layer_id")
            if line.values.get("external_port_id") == "-1":
                continue
            number = _id(line, "external_port_id")
            if "axis" not in line.values and result in carried:
                after.append((number, outputs[carried.index(result)], None))
                continue
            axis = int(line.values["axis"]) if "axis" in line.values else None
            value = scope.results[result]
            is_single = axis is not None and self.net.layers[result].inputs[0].dims[axis] == 1
            if is_single:
                value = self.body.node("Squeeze", [value, self.body.constant([axis or 0])])
            # A copy: an output of a body has one name.
            self.body.output(self.body.node("Identity", [value]), TensorProto.UNDEFINED)
            stacked = op.builder.fresh(f"{op.layer.name}/stacked")
            outputs.append(stacked)
            after.append((number, stacked, _LAST if axis is None else axis))
            if not is_single:
                self.unsqueezed.add(stacked)
        self.body.graph.name = "body"
        trips = self._trips()
        start = [name for _, name in states]
        op.builder.node(
            "Loop", [trips, "", *start], outputs, name=op.layer.name, body=self.body.graph
        )
        self._hand_out(after)

    def _hand_out(self, after: list[tuple[int, str, int | None]]) -> None:
        """Join stacked pieces along their axes, and take the last of others."""
        op, names = self.op, {}
        ports = {port.id: port for port in op.layer.outputs}
        for number, value, axis in after:
            names[number] = self._joined(value, axis, ports[number])
        for port in op.layer.outputs:
            if port.id in names:
                op.scope.sources[op.layer.id, port.id] = names[port.id]

    def _joined(self, value: str, axis: int | None, port: Port) -> str:
        op = self.op
        if axis is None:
            return value
        if axis == _LAST:
            last = op.step("Gather", [value, op.builder.constant([-1])])
            return op.step("Squeeze", [last, op.builder.constant([0])])
        rank = len(port.dims)
        if value in self.unsqueezed:  # pieces of several elements
            if port.static is None:
                raise MisfitError("joins pieces to an open size")
            order = list(range(1, rank + 1))
            turned = op.transposed(value, [*order[:axis], 0, *order[axis:]])
            return op.reshaped(turned, port.static)
        order = list(range(1, rank))
        return op.transposed(value, [*order[:axis], 0, *order[axis:]]) if axis else value


def _id(line: Mapping, key: str) -> int:
    return int(line.values[key])


def _choice(content: Handlers) -> Handler:
    """Return the handler of an If."""

    def write(op: Operation) -> None:
        attributes: dict[str, Any] = {}
        for branch in ("then", "else"):
            attributes[f"{branch}_branch"] = _branch(op, branch, content)
        names = op.names()
        op.builder.node("If", op.inputs[:1], names, name=op.layer.name, **attributes)

    return write


def _branch(op: Operation, branch: str, content: Handlers) -> onnx.GraphProto:
    body = op.builder.body()
    lines = op.layer.maps.get(f"{branch}_port_map", [])
    places = {port.id: position for position, port in enumerate(op.layer.inputs)}
    outer = {
        _id(line, "internal_layer_id"): op.inputs[places[_id(line, "external_port_id")]]
        for line in lines
        if line.role == "input"
    }
    net = op.layer.bodies[f"{branch}_body"]
    scope = Scope(net, body, op.scope.weights, outer or {-1: ""})
    convert(scope, content)
    results = {
        _id(line, "external_port_id"): scope.results[_id(line, "internal_layer_id")]
        for line in lines
        if line.role == "output"
    }
    for port in op.layer.outputs:
        body.output(body.node("Identity", [results[port.id]]), port.dtype)
    body.graph.name = branch
    return body.graph
