"""Graphs packed with their costs for the roofline, distinct operators once.

A network of many equal blocks, and thousands of single operators at few sizes, have far fewer
distinct operators than operators. Each is stored as the number of its row of features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.packed import PackedGraphs
from predictor.cost.columns import WIDTHS, Columns, OperatorColumns
from predictor.cost.operator_kinds import has_volume
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import FEATURE_NAMES, node_features

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CostRows:
    """Inputs of the roofline: U distinct operators, and the G graphs that they are in.

    Attributes:
        code: int8 [U], as in :mod:`predictor.cost.columns`.
        width: int8 [U], as there.
        macs: [U].
        activation_bytes: [U], read and written, as in the file.
        weight_bytes: [U], as in the file.
        launches: [U].
        volumes: bool [U], which write a volume.
        weights_by_width: [G, WIDTHS], bytes of each graph's distinct weights.
        live_by_width: [G, WIDTHS], bytes of each graph's largest set of live activations.
    """

    code: NDArray[np.int8]
    width: NDArray[np.int8]
    macs: Floats
    activation_bytes: Floats
    weight_bytes: Floats
    launches: Floats
    volumes: NDArray[np.bool_]
    weights_by_width: Floats
    live_by_width: Floats

    def operators(self, rows: NDArray[np.integer]) -> OperatorColumns:
        """Return the columns of some of the distinct operators."""
        return OperatorColumns(**{name: getattr(self, name)[rows] for name in _OF_OPERATORS})


_OF_OPERATORS = ("code", "width", "macs", "activation_bytes", "weight_bytes", "launches")


class GraphPacker:
    """Packs graphs one after the other."""

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._rows: list[NDArray[np.float32]] = []
        self._costs: list[tuple[float, ...]] = []
        self._kinds: list[NDArray[np.int32]] = []
        self._edges: list[NDArray[np.int32]] = []
        self._memory: list[Floats] = []

    def add(self, graph: OperatorGraph) -> None:
        """Pack one graph, at the batch that was measured."""
        cost = Columns.of(graph)
        volumes = has_volume(graph)
        features = node_features(graph)
        rows = np.column_stack([graph.op_code.astype(np.float32), features, volumes])
        distinct, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        columns = np.column_stack([getattr(cost, name)[first] for name in _OF_OPERATORS])
        places = [self._place(row, numbers) for row, numbers in zip(distinct, columns, strict=True)]
        self._kinds.append(np.array(places, np.int32)[kind])
        self._edges.append(graph.edges)
        self._memory.append(np.stack([cost.weights_by_width, cost.live_by_width]))

    def _place(self, row: NDArray[np.float32], numbers: Floats) -> int:
        key = row.tobytes()
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._rows)
            self._rows.append(row)
            self._costs.append(tuple(numbers.tolist()))
        return place

    def packed(self) -> tuple[PackedGraphs, CostRows]:
        """Return the graphs that were added, and their costs."""
        rows = np.array(self._rows, np.float32).reshape(-1, 2 + len(FEATURE_NAMES))
        columns = np.array(self._costs, np.float64).reshape(-1, len(_OF_OPERATORS)).T
        costs = dict(zip(_OF_OPERATORS, columns, strict=True))
        memory = np.array(self._memory, np.float64).reshape(-1, 2, WIDTHS)
        graphs = PackedGraphs(
            op_code=rows[:, 0].astype(np.int16),
            features=np.ascontiguousarray(rows[:, 1:-1]),
            kind=np.concatenate(self._kinds),
            edges=np.concatenate(self._edges, axis=1),
            node_offsets=_offsets([len(kind) for kind in self._kinds]),
            edge_offsets=_offsets([edges.shape[1] for edges in self._edges]),
        )
        return graphs, CostRows(
            code=costs["code"].astype(np.int8),
            width=costs["width"].astype(np.int8),
            macs=costs["macs"],
            activation_bytes=costs["activation_bytes"],
            weight_bytes=costs["weight_bytes"],
            launches=costs["launches"],
            volumes=rows[:, -1] > 0,
            weights_by_width=memory[:, 0],
            live_by_width=memory[:, 1],
        )


def _offsets(counts: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
