"""Operators of a graph that are equal with all that comes before them, and shorter graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.graph.operator_graph import OperatorGraph

_REACH: Final = 2  # operators back, over which equal ones must not differ
_COLUMNS: Final = (
    *("op_code", "dtype", "flags", "repeats", "macs", "bytes_read", "weight_bytes"),
    *("bytes_written", "gemm", "window", "stride"),
)
_OF_OPERATORS: Final = (*_COLUMNS, "fused_into")


def equal_operators(graph: OperatorGraph) -> list[NDArray[np.int64]]:
    """Return groups of at least two operators with equal work, predecessors and fused epilogues."""
    own = np.column_stack([getattr(graph, name).reshape(len(graph), -1) for name in _COLUMNS])
    shapes = [str(graph.output_shape(place)) for place in range(len(graph))]
    colours: list[object] = [
        (tuple(row), shape, attributes)
        for row, shape, attributes in zip(own.tolist(), shapes, graph.attributes, strict=True)
    ]
    colour = _numbered(colours)
    fused: list[list[int]] = [[] for _ in range(len(graph))]
    before: list[list[int]] = [[] for _ in range(len(graph))]
    for place, host in enumerate(graph.fused_into.tolist()):
        if host >= 0:
            fused[host].append(place)
    for producer, consumer in graph.edges.T.tolist():
        before[consumer].append(producer)
    for _ in range(_REACH):
        colour = _numbered(
            [
                (
                    colour[place],
                    sorted(colour[each] for each in before[place]),
                    sorted(colour[each] for each in fused[place]),
                )
                for place in range(len(graph))
            ]
        )
    groups: dict[int, list[int]] = {}
    for place, number in enumerate(colour):
        groups.setdefault(number, []).append(place)
    return [np.array(group, np.int64) for group in groups.values() if len(group) > 1]


def _numbered(colours: list[object]) -> list[int]:
    numbers: dict[str, int] = {}
    return [numbers.setdefault(repr(colour), len(numbers)) for colour in colours]


def without_last(graph: OperatorGraph) -> OperatorGraph | None:
    """Return a graph without its last operator; None where that is no end of a chain.

    The output of the operator before it becomes that of the graph.
    """
    last = len(graph) - 1
    before = graph.edges[0][graph.edges[1] == last]
    # Another operator that reads the same value keeps it inside the graph, and so do two inputs.
    if len(before) != 1 or (graph.edges[0] == before[0]).sum() != 1:
        return None
    if (graph.fused_into == last).any():
        return None
    kept = graph.edges[1] != last
    end = int(graph.shape_offsets[last])
    return replace(
        graph,
        **{name: getattr(graph, name)[:last] for name in _OF_OPERATORS},
        edges=graph.edges[:, kept],
        shape_offsets=graph.shape_offsets[: last + 1],
        shape_dims=graph.shape_dims[:end],
        names=graph.names[:last],
        op_types=graph.op_types[:last],
        attributes=graph.attributes[:last],
        weights_total_bytes=max(0, graph.weights_total_bytes - int(graph.weight_bytes[last])),
        output_bytes=int(graph.bytes_written[before[0]]),
        fingerprint=f"{graph.fingerprint} without its last operator",
    )
