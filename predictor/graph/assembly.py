"""From the cleaned-up network to the frozen arrays of an :class:`OperatorGraph`."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from predictor.graph.contractions import work_of
from predictor.graph.counting import TrafficCounter, count_parameters, peak_activation_bytes
from predictor.graph.fingerprint import fingerprint
from predictor.graph.network import Network, Node
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPE_CODE, OPERATOR_CODE

_WINOGRAD = int(OperatorFlag.WINOGRAD)
_UNKNOWN = DTYPE_CODE["unknown"]
_DTYPE_OF_OUTPUT = frozenset({"Cast", "CastLike", "ConstantOfShape", "DequantizeLinear", "Gather"})


def assemble(network: Network) -> OperatorGraph:
    """Count every operator and freeze the graph."""
    nodes = network.nodes
    counter = TrafficCounter(network)
    index = {id(node): position for position, node in enumerate(nodes)}
    works = [work_of(network, node) for node in nodes]
    traffic = [counter.count(node) for node in nodes]
    repeats = np.array([node.repeats for node in nodes], np.int64)
    for node, work in zip(nodes, works, strict=True):
        if work.winograd:
            node.flags |= _WINOGRAD
    dtypes = [_computing_dtype(counter, node) for node in nodes]
    shapes = [network.type_of(node.outputs[0]).dims if node.outputs else () for node in nodes]
    parameters = count_parameters(network)
    moved = np.array(traffic, np.int64).reshape(-1, 3) * repeats[:, None]
    return OperatorGraph(
        op_code=np.array([OPERATOR_CODE[node.op] for node in nodes], np.int16),
        dtype=np.array(dtypes, np.int8),
        flags=np.array([node.flags for node in nodes], np.uint16),
        repeats=repeats,
        macs=np.array([w.macs for w in works], np.int64) * repeats,
        bytes_read=np.ascontiguousarray(moved[:, 0]),
        weight_bytes=np.ascontiguousarray(moved[:, 1]),
        bytes_written=np.ascontiguousarray(moved[:, 2]),
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
        fingerprint=fingerprint(
            network, dict(zip(map(id, nodes), dtypes, strict=True)), parameters.elements
        ),
    )


def _computing_dtype(counter: TrafficCounter, node: Node) -> int:
    """Return the type of the first data input, or of the output where that tells more."""
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
    pairs: dict[tuple[int, int], None] = {}
    for position, node in enumerate(nodes):
        for name in node.inputs:
            if name in producer:
                pairs[producer[name], position] = None
        for body in node.bodies:
            for name in body.outputs:
                if name in producer:
                    pairs[producer[name], position] = None
    return np.ascontiguousarray(np.array(list(pairs), np.int32).reshape(-1, 2).T)
