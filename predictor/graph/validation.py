"""Checks on the nodes of a network: producers, order, inputs, and reshapes that fit."""

from __future__ import annotations

import heapq
from functools import lru_cache
from typing import NamedTuple

import onnx

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.network import Network, Node
from predictor.graph.operators import BLOCKED_DOMAIN


def check_reshapes(network: Network) -> None:
    """Check that every Reshape keeps the number of elements.

    Raises:
        InputError: one does not; it is named.
    """
    loose = network.data_dependent | network.assumed
    for node in network.nodes:
        if node.op != "Reshape" or node.inputs[0] in loose:
            continue
        source, result = network.type_of(node.inputs[0]), network.type_of(node.outputs[0])
        if source.is_static and result.is_static and source.elements != result.elements:
            raise InputError(
                node.subject,
                f"Reshape cannot make {_dims_text(result.dims)} of {_dims_text(source.dims)}",
                "check the dimensions that the model is bound to",
            )


def _dims_text(dims: tuple[int, ...]) -> str:
    return shortened("[" + ", ".join(map(str, dims)) + "]", 80)


_EXPORT = "export the model again or mend the file"
_STANDARD_DOMAINS = frozenset({"", "ai.onnx", BLOCKED_DOMAIN})
_SINGLE = onnx.defs.OpSchema.FormalParameterOption.Single


def validate(network: Network) -> None:
    """Check the nodes and put them into topological order.

    Raises:
        InputError: a value made twice, an input without a producer, a cycle.
    """
    producer = _producers(network)
    if not _is_sorted(network, producer):
        network.nodes = _sorted_nodes(network, producer)


def _producers(network: Network) -> dict[str, int]:
    producer: dict[str, int] = {}
    input_names: set[str] = set()
    for name in network.inputs:
        if name in input_names:
            raise InputError(
                f"input {shortened(name, 120)}", "the graph has two inputs of that name", _EXPORT
            )
        input_names.add(name)
    for index, node in enumerate(network.nodes):
        for name in node.outputs:
            if not name:
                continue
            if name in producer or name in input_names or name in network.constants:
                raise InputError(
                    node.subject,
                    f"its output {shortened(name, 120)} is made twice in the graph",
                    _EXPORT,
                )
            producer[name] = index
    return producer


def _is_sorted(network: Network, producer: dict[str, int]) -> bool:
    """Check the order, and that every value has a producer.

    Raises:
        InputError: an input without a producer.
    """
    in_order = True
    sources = {*network.inputs, *network.constants, *network.formals}
    for index, node in enumerate(network.nodes):
        for name in node.consumed:
            made = producer.get(name)
            if made is not None:
                in_order = in_order and made < index
            elif name not in sources:
                raise InputError(
                    node.subject, f"nothing makes its input {shortened(name, 120)}", _EXPORT
                )
    for name in network.outputs:
        if name not in producer and name not in sources:
            raise InputError(f"output {shortened(name, 120)}", "no node makes it", _EXPORT)
    return in_order


def _sorted_nodes(network: Network, producer: dict[str, int]) -> list[Node]:
    """Sort topologically, keeping the file's order where it is free (Kahn's algorithm)."""
    nodes = network.nodes
    waiting = [0] * len(nodes)
    consumers: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        needed = {producer[name] for name in node.consumed if name in producer}
        waiting[index] = len(needed)
        for made in needed:
            consumers[made].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    order: list[Node] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(nodes[index])
        for consumer in consumers[index]:
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                heapq.heappush(ready, consumer)
    if len(order) < len(nodes):
        node = nodes[_on_cycle(nodes, waiting, producer)]
        raise InputError(node.subject, "it stands on a cycle of the graph", _EXPORT)
    return order


def _on_cycle(nodes: list[Node], waiting: list[int], producer: dict[str, int]) -> int:
    """Walk up from a node that never became ready until one is met again: it is on the cycle."""
    current = next(index for index, count in enumerate(waiting) if count)
    met: set[int] = set()
    while current not in met:
        met.add(current)
        current = next(
            producer[name]
            for name in nodes[current].consumed
            if name in producer and waiting[producer[name]]
        )
    return current


def refuse_compiled(network: Network) -> None:
    """Refuse a model of which a part was compiled.

    Raises:
        InputError: a node holds a network in the code of one device.
    """
    for node in network.nodes:
        if node.op == "EPContext":
            raise InputError(
                node.subject,
                "it holds a network that was compiled for one device, which cannot be read",
                "open the ONNX file that it was compiled from",
            )


class _Arity(NamedTuple):
    required: tuple[int, ...]
    outputs: int


def check_arity(network: Network) -> None:
    """Check that no required input or output is left out.

    Raises:
        InputError: one is; the node is named.
    """
    for node in network.nodes:
        if node.op == "Unknown" or node.proto is None:
            continue
        arity = _arity_of(network, node)
        for position in arity.required:
            if position >= len(node.inputs) or not node.inputs[position]:
                raise _incomplete(node, f"its required input {position} is left out")
        if len(node.outputs) < arity.outputs:
            raise _incomplete(node, "it has no output")


def _incomplete(node: Node, reason: str) -> InputError:
    return InputError(node.subject, f"{shortened(node.op_type, 60)}: {reason}", _EXPORT)


def _arity_of(network: Network, node: Node) -> _Arity:
    version = network.opsets.get("", network.opsets.get("ai.onnx", 1))
    if node.domain not in _STANDARD_DOMAINS:
        return _Arity((0,), 1)
    return _standard_arity(node.op, version)


@lru_cache(maxsize=1024)
def _standard_arity(op: str, version: int) -> _Arity:
    try:
        schema = onnx.defs.get_schema(op, version)
    except onnx.defs.SchemaError:
        return _Arity((0,), 1)  # written by a runtime in an opset that does not have it yet
    required = [i for i, formal in enumerate(schema.inputs) if formal.option == _SINGLE]
    return _Arity(tuple(required), min(schema.min_output, 1))
