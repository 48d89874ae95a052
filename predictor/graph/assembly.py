"""From the cleaned-up network to the frozen arrays of an :class:`OperatorGraph`.

Bytes that operators move, parameters that they read, and peak memory of activations are counted.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from predictor.graph.arithmetic import Arithmetic
from predictor.graph.cleanup import data_inputs, scale_tensors, stored_tensors
from predictor.graph.contractions import arithmetic_of
from predictor.graph.contrib_rules import packed_sizes
from predictor.graph.fingerprint import fingerprint, former_fingerprint
from predictor.graph.network import Network, Node, TensorType, misfit
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import (
    CONTROL,
    DTYPE_BITS,
    DTYPE_CODE,
    OPERATOR_CODE,
    PACKED_INPUTS,
    PARAMETER_INPUTS,
    tensor_bytes,
)
from predictor.graph.values import ValueTable

# Read only as much of their first input as they give out.
_PARTIAL_READERS = frozenset(
    {"Gather", "GatherElements", "GatherND", "Slice", "GatherBlockQuantized"}
)
# Inputs of rotary tables: GroupQueryAttention, and RotaryEmbedding of onnx (1, 2) and onnxruntime.
_ANGLES = {
    "com.microsoft::GroupQueryAttention": (7, 8),
    "com.microsoft::RotaryEmbedding": (1, 2, 3),
    "RotaryEmbedding": (1, 2, 3),
}
_SILENT = int(OperatorFlag.VIEW | OperatorFlag.FUSED)


class Traffic(NamedTuple):
    """Bytes of one run of an operator: activations read, constants read, activations written."""

    read: int
    weights: int
    written: int


_NO_TRAFFIC = Traffic(0, 0, 0)


class Parameters(NamedTuple):
    """The distinct constants of a model.

    Attributes:
        elements: of weights, without scales and zero points.
        bytes: of weights, scales and zero points as they are stored.
    """

    elements: int
    bytes: int


class TrafficCounter:
    """Counts bytes over a cleaned-up network whose fused operators are marked."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._carried = _carried_types(network)
        self._sizes: dict[str, int] = {}
        # Optional outputs without a reader, like a mask, are never written by a runtime.
        self._used = {name for node in network.nodes for name in node.inputs}
        self._used.update(network.outputs)
        self._used.update(o for node in network.nodes for b in node.bodies for o in b.outputs)

    def carried_type(self, name: str) -> TensorType:
        """Return the type in which a value crosses memory, fused conversions seen through."""
        carried = self._carried.get(name)
        return self._network.type_of(name) if carried is None else carried

    def size_bytes(self, name: str) -> int:
        """Return the bytes of a value as it crosses memory."""
        size = self._sizes.get(name)
        if size is None:
            size = self._sizes[name] = self.carried_type(name).bytes
        return size

    def count(self, node: Node) -> Traffic:
        """Count one run of a node; views and fused operators move nothing of their own."""
        if node.flags & _SILENT:
            return _NO_TRAFFIC
        if node.op in CONTROL:
            return self._stacking(node)
        constants, inputs = self._network.constants, node.inputs
        partial = inputs[0] if inputs and node.op in _PARTIAL_READERS else None
        read = 0
        for name in inputs if len(inputs) < 2 else dict.fromkeys(inputs):
            if name and name not in constants:
                read += self._gathered(node) if name == partial else self.size_bytes(name)
        written = sum(self.size_bytes(o) for o in node.outputs if o and o in self._used)
        return Traffic(read, self._weights(node), written)

    def _gathered(self, node: Node) -> int:
        source = self.carried_type(node.inputs[0])
        return min(source.bytes, tensor_bytes(source.dtype, self._out(node).elements))

    def _out(self, node: Node) -> TensorType:
        return self._network.type_of(node.outputs[0])

    def _weights(self, node: Node) -> int:
        total = 0
        for name in weight_names(self._network, node):
            elements = self._elements_read(node, name)
            # Stored bits: weights behind a DequantizeLinear cross memory as integers.
            total += (elements * self._network.constants[name].bits + 7) // 8
            if scale_bytes := self._scale_bytes(name):
                total += scale_bytes * elements // max(self.carried_type(name).elements, 1)
        return total

    def _scale_bytes(self, name: str) -> int:
        """Return the bytes of the scales that a constant of quantised weights is made with."""
        network = self._network
        roots = network.constants[name].roots
        if len(roots) < 2:
            return 0
        return sum(network.type_of(root).bytes for root in roots if root in network.scales)

    def _elements_read(self, node: Node, name: str) -> int:
        """Return the elements of a constant that a node reads in one run."""
        stored = self._network.type_of(name)
        dims, elements = stored.dims, stored.elements
        if node.op in _PARTIAL_READERS and name == node.inputs[0]:
            return min(elements, self._out(node).elements)
        if not dims or not elements:
            return elements
        tables, is_mixture = _ANGLES.get(node.op_type, ()), node.op in {"MoE", "QMoE"}
        data = self._network.dims_of(node, 0) if tables or is_mixture else ()
        if name in [node.inputs[i] for i in tables if i < len(node.inputs)] and len(data) > 1:
            # Sines and cosines of the longest context: those of the new positions are read.
            return elements // dims[0] * min(data[-2], dims[0])
        if is_mixture and len(data) > 1:
            tokens, chosen = math.prod(data[:-1]), node.attributes.integer("k", 1)
            # Experts that independent tokens touch, were they chosen evenly.
            return math.ceil(elements * (1 - (1 - min(chosen / dims[0], 1)) ** tokens))
        return elements

    def _stacking(self, node: Node) -> Traffic:
        """A loop copies what each trip hands out into one tensor."""
        if node.op == "If":
            return Traffic(0, 0, 0)
        # A Loop's first two inputs are trip count and condition, the others are carried.
        states = len(node.inputs) - 2
        if node.op == "Scan":
            states = len(node.inputs) - node.attributes.integer("num_scan_inputs")
        copied_bytes = sum(self.size_bytes(o) for o in node.outputs[max(states, 0) :] if o)
        return Traffic(copied_bytes, 0, copied_bytes)


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
    stored: dict[str, int] = {}
    scales, constants = set(network.scales), network.constants
    for node in network.nodes:
        if constants.keys().isdisjoint(node.inputs):
            continue
        scales.update(scale_tensors(network, node))
        for name in data_inputs(node):
            for root in stored_tensors(network, name) if name in constants else ():
                stored[root] = max(stored.get(root, 0), _unpacked_elements(network, node, root))
    return Parameters(
        sum(elements for root, elements in stored.items() if root not in scales),
        sum(network.type_of(root).bytes for root in stored),
    )


def _unpacked_elements(network: Network, node: Node, name: str) -> int:
    """Return the elements of a stored tensor, of packed weights those that they unpack to."""
    stored = network.type_of(name)
    positions, attribute = PACKED_INPUTS.get(node.op, ((), ""))
    if DTYPE_BITS[stored.dtype] != 8 or name not in [
        node.inputs[position] for position in positions if position < len(node.inputs)
    ]:
        return stored.elements
    rows, columns = packed_sizes(network, node)
    # The last block of a row may be padded.
    return rows * columns or stored.elements * 8 // max(node.attributes.integer(attribute, 4), 1)


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
    live = sum(map(counter.size_bytes, network.inputs))
    peak = live
    freed: dict[int, list[str]] = {}
    for name, position in last_use.items():
        freed.setdefault(position, []).append(name)
    allocated = set(network.inputs)
    for position, node in enumerate(network.nodes):
        for name in node.outputs:
            if name and name not in storage and name in last_use:
                live += counter.size_bytes(name)
                allocated.add(name)
        # Before freeing: while an operator runs, its inputs and outputs are in memory together.
        peak = max(peak, live)
        for name in freed.get(position, ()):
            if name in allocated:
                live -= counter.size_bytes(name)
    return peak


def _last_uses(network: Network, storage: dict[str, str]) -> dict[str, int]:
    last_use: dict[str, int] = {}
    for position, node in enumerate(network.nodes):
        for name in node.inputs:
            if name and name not in network.constants:
                last_use[storage.get(name, name)] = position
    for name in network.outputs:
        # Past the last node: the caller still reads the outputs.
        last_use[storage.get(name, name)] = len(network.nodes)
    return last_use


_WINOGRAD = int(OperatorFlag.WINOGRAD)
# NumPy wraps int64 sums without an error, so the limit stands below 2**63.
_MAX_COUNT = 2**62
_UNKNOWN = DTYPE_CODE["unknown"]
_DTYPE_OF_OUTPUT = frozenset({"Cast", "CastLike", "ConstantOfShape", "DequantizeLinear", "Gather"})


def assemble(network: Network, values: ValueTable) -> OperatorGraph:
    """Count every operator and freeze the graph."""
    nodes = network.nodes
    counter = TrafficCounter(network)
    index = {id(node): position for position, node in enumerate(nodes)}
    works = [arithmetic_of(network, node) for node in nodes]
    traffic = [counter.count(node) for node in nodes]
    _check_countable(nodes, works, traffic)
    repeats = np.array([node.repeats for node in nodes], np.int64)
    for node, work in zip(nodes, works, strict=True):
        if work.winograd:
            node.flags |= _WINOGRAD
    dtypes = [_computing_dtype(counter, node) for node in nodes]
    shapes = [network.type_of(node.outputs[0]).dims if node.outputs else () for node in nodes]
    parameters = count_parameters(network)
    types = dict(zip(map(id, nodes), dtypes, strict=True))
    # [N, 3]: read, weights, written; reshape keeps three columns for an empty graph.
    traffic_bytes = np.array(traffic, np.int64).reshape(-1, 3) * repeats[:, None]
    return OperatorGraph(
        op_code=np.array([OPERATOR_CODE[node.op] for node in nodes], np.int16),
        dtype=np.array(dtypes, np.int8),
        flags=np.array([node.flags for node in nodes], np.uint16),
        repeats=repeats,
        macs=np.array([w.macs for w in works], np.int64) * repeats,
        bytes_read=np.ascontiguousarray(traffic_bytes[:, 0]),
        weight_bytes=np.ascontiguousarray(traffic_bytes[:, 1]),
        bytes_written=np.ascontiguousarray(traffic_bytes[:, 2]),
        gemm=np.array([w.gemm for w in works], np.int64).reshape(-1, 4),
        window=np.array([w.window for w in works], np.int32).reshape(-1, 2),
        stride=np.array([w.stride for w in works], np.int32).reshape(-1, 2),
        fused_into=np.array(
            [-1 if n.fused_into is None else index[id(n.fused_into)] for n in nodes], np.int32
        ),
        edges=_edges(nodes),
        shape_offsets=np.array([0, *accumulate(map(len, shapes))], np.int32),
        shape_dims=np.array([size for shape in shapes for size in shape], np.int64),
        names=tuple(node.name for node in nodes),
        op_types=tuple(node.op_type for node in nodes),
        attributes=tuple(node.attributes.text for node in nodes),
        parameters=parameters.elements,
        weights_total_bytes=parameters.bytes,
        input_bytes=sum(network.type_of(name).bytes for name in network.inputs),
        output_bytes=sum(network.type_of(name).bytes for name in network.outputs),
        peak_activation_bytes=peak_activation_bytes(network, counter),
        fingerprint=fingerprint(network, values, types),
        former_fingerprint=former_fingerprint(network, types),
    )


def _check_countable(nodes: list[Node], works: list[Arithmetic], traffic: list[Traffic]) -> None:
    """Check that the sums of work and traffic fit into 64 bits.

    Raises:
        InputError: they do not; the operator that goes beyond is named.
    """
    total = 0
    for node, work, node_traffic in zip(nodes, works, traffic, strict=True):
        total += (1 + work.macs + sum(node_traffic)) * node.repeats
        if total > _MAX_COUNT:
            raise misfit(node, "with those before it they state more work than 64 bits can count")


def _computing_dtype(counter: TrafficCounter, node: Node) -> int:
    """Return the type of the first data input, or of the output where that is more specific."""
    names = node.inputs[:1] if node.op not in _DTYPE_OF_OUTPUT else []
    for name in (*names, *node.outputs[:1]):
        dtype = counter.carried_type(name).dtype
        if dtype != _UNKNOWN:
            return dtype
    return _UNKNOWN


def _edges(nodes: list[Node]) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    producer = {
        name: position for position, node in enumerate(nodes) for name in node.outputs if name
    }
    # A dict as an ordered set: no duplicates, and the same order in every run.
    pairs: dict[tuple[int, int], None] = {}
    for position, node in enumerate(nodes):
        for name in node.inputs:
            if name in producer:
                pairs[producer[name], position] = None
        for body in node.bodies:
            for name in body.outputs:
                if name in producer:
                    pairs[producer[name], position] = None
    # [E, 2] to [2, E], contiguous; reshape also where there is no edge.
    return np.ascontiguousarray(np.array(list(pairs), np.int32).reshape(-1, 2).T)
