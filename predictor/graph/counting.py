"""Bytes that operators move, parameters that they read, and peak memory of activations."""

from __future__ import annotations

from typing import NamedTuple

from predictor.graph.constants import data_inputs
from predictor.graph.network import Constant, Network, Node, TensorType
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import CONTROL, PARAMETER_INPUTS, tensor_bytes

# Read only as much of their first input as they give out.
_PARTIAL_READERS = frozenset(
    {"Gather", "GatherElements", "GatherND", "Slice", "GatherBlockQuantized"}
)
_SILENT = int(OperatorFlag.VIEW | OperatorFlag.FUSED)


class Traffic(NamedTuple):
    """Bytes of one run of an operator: activations read, constants read, activations written."""

    read: int
    weights: int
    written: int


class Parameters(NamedTuple):
    """Distinct constant elements that operators read, and their bytes."""

    elements: int
    bytes: int


class TrafficCounter:
    """Counts bytes over a cleaned-up network whose fused operators are marked."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._carried = _carried_types(network)
        self._used = {name for node in network.nodes for name in node.inputs}
        self._used.update(network.outputs)
        self._used.update(o for node in network.nodes for b in node.bodies for o in b.outputs)

    def carried_type(self, name: str) -> TensorType:
        """Return the type in which a value crosses memory, fused conversions seen through."""
        known = self._carried.get(name)
        return self._network.type_of(name) if known is None else known

    def count(self, node: Node) -> Traffic:
        """Count one run of a node; views and fused operators move nothing of their own."""
        if node.flags & _SILENT:
            return Traffic(0, 0, 0)
        if node.op in CONTROL:
            return self._stacking(node)
        constants = self._network.constants
        read = 0
        for name in dict.fromkeys(node.inputs):
            if name and name not in constants:
                partial = node.op in _PARTIAL_READERS and name == node.inputs[0]
                read += self._gathered(node) if partial else self.carried_type(name).bytes
        written = sum(self.carried_type(o).bytes for o in node.outputs if o and o in self._used)
        return Traffic(read, self._weights(node), written)

    def _gathered(self, node: Node) -> int:
        source = self.carried_type(node.inputs[0])
        return min(source.bytes, tensor_bytes(source.dtype, self._out(node).elements))

    def _out(self, node: Node) -> TensorType:
        return self._network.type_of(node.outputs[0])

    def _weights(self, node: Node) -> int:
        total = 0
        for name in weight_names(self._network, node):
            elements = self._network.type_of(name).elements
            if node.op in _PARTIAL_READERS and name == node.inputs[0]:
                elements = min(elements, self._out(node).elements)
            total += (elements * self._network.constants[name].bits + 7) // 8
        return total

    def _stacking(self, node: Node) -> Traffic:
        """A loop copies what each trip hands out into one tensor."""
        if node.op == "If":
            return Traffic(0, 0, 0)
        states = len(node.inputs) - 2
        if node.op == "Scan":
            states = len(node.inputs) - node.attributes.integer("num_scan_inputs")
        moved = sum(self.carried_type(o).bytes for o in node.outputs[max(states, 0) :] if o)
        return Traffic(moved, 0, moved)


def weight_names(network: Network, node: Node) -> list[str]:
    """Return the constants that a node reads as data, each once; shapes and axes are none."""
    steering = PARAMETER_INPUTS.get(node.op, ())
    constants = network.constants
    names = [n for i, n in enumerate(node.inputs) if n in constants and i not in steering]
    return names if len(names) < 2 else list(dict.fromkeys(names))


def count_parameters(network: Network) -> Parameters:
    """Count the elements of the tensors that operators read, each tensor once.

    Of a folded constant its stored tensors count, unless the result is smaller and replaces them
    (weights standardised out of two copies); a table of which rows are picked counts whole.
    """
    stored: set[str] = set()
    for name in {name for node in network.nodes for name in data_inputs(node)}:
        constant = network.constants.get(name)
        if constant is not None:
            stored.update(_stored_tensors(network, name, constant))
    types = [network.type_of(name) for name in stored]
    return Parameters(sum(t.elements for t in types), sum(t.bytes for t in types))


def _stored_tensors(network: Network, name: str, constant: Constant) -> tuple[str, ...]:
    if len(constant.roots) < 2 or constant.picked:
        return constant.roots
    elements = sum(network.type_of(root).elements for root in constant.roots)
    return constant.roots if elements <= network.type_of(name).elements else (name,)


def _carried_types(network: Network) -> dict[str, TensorType]:
    """Return the types of values that a fused conversion or epilogue stands beside."""
    carried: dict[str, TensorType] = {}
    fused = [node for node in network.nodes if node.fused_into is not None]
    for node in fused:
        if node.op == "DequantizeLinear":
            carried[node.outputs[0]] = network.type_of(node.inputs[0])
    # Backwards, so that a convolution takes the type after activation and quantisation.
    for node in reversed(fused):
        host = node.fused_into
        if host is not None and node.op != "DequantizeLinear":
            result = node.outputs[0]
            kind = carried.get(result, network.type_of(result))
            for name in (node.inputs[0], host.outputs[0]):
                carried.setdefault(name, kind)
    return carried


def peak_activation_bytes(network: Network, counter: TrafficCounter) -> int:
    """Return the largest sum of live activations in the network's order.

    Inputs live until their last reader, outputs to the end. A view or a fused operator shares
    the memory of what it reads.
    """
    storage: dict[str, str] = {}
    for node in network.nodes:
        if node.flags & _SILENT and node.inputs:
            source = node.inputs[0]
            storage[node.outputs[0]] = storage.get(source, source)
    last_use = _last_uses(network, storage)
    live = sum(counter.carried_type(name).bytes for name in network.inputs)
    peak = live
    freed: dict[int, list[str]] = {}
    for name, position in last_use.items():
        freed.setdefault(position, []).append(name)
    held = set(network.inputs)
    for position, node in enumerate(network.nodes):
        for name in node.outputs:
            if name and name not in storage and name in last_use:
                live += counter.carried_type(name).bytes
                held.add(name)
        peak = max(peak, live)
        for name in freed.get(position, ()):
            if name in held:
                live -= counter.carried_type(name).bytes
    return peak


def _last_uses(network: Network, storage: dict[str, str]) -> dict[str, int]:
    last_use: dict[str, int] = {}
    for position, node in enumerate(network.nodes):
        for name in node.inputs:
            if name and name not in network.constants:
                last_use[storage.get(name, name)] = position
    for name in network.outputs:
        last_use[storage.get(name, name)] = len(network.nodes)
    return last_use
