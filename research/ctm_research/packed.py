"""Graphs packed without repeating equal operators.

The operators of a search space are few: thousands of graphs have some hundred distinct rows of
features. Each operator is stored as the number of its row, and minibatches are unpacked when drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.network.graph_table import GraphTable, ranges

Integers = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class PackedGraphs:
    """G graphs with N operators of U distinct kinds, and E edges.

    Attributes:
        op_code: int16 [U].
        features: float32 [U, F], columns as ``network.features.FEATURE_NAMES``.
        kind: int32 [N], row of each operator.
        edges: int32 [2, E], producer and consumer, counted from their graph's first operator.
        node_offsets: int64 [G + 1].
        edge_offsets: int64 [G + 1].
    """

    op_code: NDArray[np.int16]
    features: NDArray[np.float32]
    kind: NDArray[np.int32]
    edges: NDArray[np.int32]
    node_offsets: NDArray[np.int64]
    edge_offsets: NDArray[np.int64]

    @classmethod
    def of(cls, table: GraphTable) -> PackedGraphs:
        """Pack a table."""
        # Codes are below 2**15, which float32 holds exactly.
        rows = np.column_stack([table.op_code.astype(np.float32), table.features])
        distinct, kind = np.unique(rows, axis=0, return_inverse=True)
        return cls(
            distinct[:, 0].astype(np.int16),
            distinct[:, 1:],
            kind.astype(np.int32),
            table.edges,
            table.node_offsets,
            table.edge_offsets,
        )

    @classmethod
    def joined(cls, parts: Sequence[PackedGraphs]) -> PackedGraphs:
        """Join the graphs of several parts, in order."""
        rows = np.concatenate(
            [np.column_stack([part.op_code.astype(np.float32), part.features]) for part in parts]
        )
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        first = np.cumsum([0, *(len(part.op_code) for part in parts)])
        kinds = [
            # Row in the part, [N], to row in the whole: ``place`` is by rows of all parts.
            place[start : start + len(part.op_code)][part.kind]
            for start, part in zip(first, parts, strict=False)
        ]
        return cls(
            distinct[:, 0].astype(np.int16),
            distinct[:, 1:],
            np.concatenate(kinds).astype(np.int32),
            np.concatenate([part.edges for part in parts], axis=1),
            _stacked([part.node_offsets for part in parts]),
            _stacked([part.edge_offsets for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def take(self, graphs: Integers | Sequence[int]) -> GraphTable:
        """Unpack the graphs of these indices, in their order.

        Raises:
            IndexError: an index is not in the space.
        """
        chosen = np.asarray(graphs, np.int64)
        nodes, node_offsets = ranges(self.node_offsets, chosen)
        edges, edge_offsets = ranges(self.edge_offsets, chosen)
        kind = self.kind[nodes]
        return GraphTable(
            op_code=self.op_code[kind],
            features=self.features[kind],
            edges=self.edges[:, edges],
            node_offsets=node_offsets,
            edge_offsets=edge_offsets,
        )


def _stacked(offsets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    sizes = np.concatenate([np.diff(part) for part in offsets])
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
