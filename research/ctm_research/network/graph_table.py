"""Many operator graphs packed side by side, so that minibatches are drawn without a loop.

No torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.network.scaling import fit_scaling
from predictor.core.errors import InputError
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import FEATURE_NAMES, node_features
from predictor.network.scaling import Scaling


@dataclass(frozen=True, slots=True, eq=False)
class GraphTable:
    """G graphs with N operators and E edges together.

    Attributes:
        op_code: int16 [N].
        features: float32 [N, F], columns as ``FEATURE_NAMES``, not standardised.
        edges: int32 [2, E], producer and consumer, counted from their graph's first operator.
        node_offsets: int64 [G + 1], graph g has the operators from offset g to offset g + 1.
        edge_offsets: int64 [G + 1], the same of its edges.
    """

    op_code: NDArray[np.int16]
    features: NDArray[np.float32]
    edges: NDArray[np.int32]
    node_offsets: NDArray[np.int64]
    edge_offsets: NDArray[np.int64]

    @classmethod
    def of(cls, graphs: Sequence[OperatorGraph]) -> GraphTable:
        """Pack ``graphs``.

        Raises:
            InputError: there is no graph, or one has no operator.
        """
        if not graphs:
            raise InputError("graph table", "there are no graphs", "give at least one")
        for index, graph in enumerate(graphs):
            if not len(graph):
                raise InputError(
                    f"operator graph {index}", "it has no operators", "give a model that computes"
                )
        return cls(
            op_code=np.concatenate([graph.op_code for graph in graphs]),
            features=np.concatenate([node_features(graph) for graph in graphs]),
            edges=np.concatenate([graph.edges for graph in graphs], axis=1),
            node_offsets=_offsets([len(graph) for graph in graphs]),
            edge_offsets=_offsets([graph.edges.shape[1] for graph in graphs]),
        )

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @property
    def node_counts(self) -> NDArray[np.int64]:
        """Int64 [G], operators of each graph."""
        return np.diff(self.node_offsets)

    @property
    def graph_ids(self) -> NDArray[np.int64]:
        """Int64 [N], the graph of each operator."""
        return np.repeat(np.arange(len(self)), self.node_counts)

    @property
    def flat_edges(self) -> NDArray[np.int64]:
        """Int64 [2, E], edges counted from the table's first operator."""
        first = np.repeat(self.node_offsets[:-1], np.diff(self.edge_offsets))
        flat: NDArray[np.int64] = self.edges + first
        return flat

    def take(self, indices: NDArray[np.integer] | Sequence[int]) -> GraphTable:
        """Return the table of the graphs ``indices``, in their order; repeats are allowed.

        Raises:
            InputError: an index is not in the table.
        """
        chosen = np.asarray(indices, np.int64)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(self)):
            raise InputError(
                "graph table",
                f"index {chosen.max()} or {chosen.min()} is not one of its {len(self)} graphs",
                "give indices from 0",
            )
        nodes, node_offsets = ranges(self.node_offsets, chosen)
        edges, edge_offsets = ranges(self.edge_offsets, chosen)
        return GraphTable(
            op_code=self.op_code[nodes],
            features=self.features[nodes],
            edges=self.edges[:, edges],
            node_offsets=node_offsets,
            edge_offsets=edge_offsets,
        )

    def scaling(self) -> Scaling:
        """Return the statistics of these graphs' features; call it on training graphs only.

        Zeros are left out: an operator without MACs says nothing of the variation of MACs, and half
        of all operators have none. With them a factor of two would be a tenth of a deviation.
        """
        return fit_scaling(FEATURE_NAMES, np.where(self.features > 0, self.features, np.nan))


def _offsets(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return [0, c0, c0 + c1, ...], [G + 1]."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def ranges(
    offsets: NDArray[np.int64], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions that the ranges ``chosen`` cover, one after another, and their offsets.

    Range i is ``offsets[i]:offsets[i + 1]``.
    """
    starts = offsets[chosen]
    counts = offsets[chosen + 1] - starts
    new = _offsets(counts)
    # A running count over all, moved for each range by the gap between its old and new offset.
    positions = np.arange(new[-1]) + np.repeat(starts - new[:-1], counts)
    return positions, new
