"""The graph of searchable blocks, which NAS predictors see of an architecture.

The published predictors take the search space's own graph, with one node for each choice, and not
the operators that a framework runs. Its shape is the same for all architectures of a space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.space import Architectures

# Nodes of NAS-Bench-201 between which each of its six edges runs; an edge's choice is a node here.
_CELL_EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))


@dataclass(frozen=True, slots=True, eq=False)
class BlockGraph:
    """Nodes and edges: an input, one node a position of the code, an output.

    Attributes:
        kinds: int64 [A, L], choice of each node; input and output have kinds of their own.
        kind_count: number of kinds.
        adjacency: bool [L, L], whether row receives from column.
    """

    kinds: NDArray[np.int64]
    kind_count: int
    adjacency: NDArray[np.bool_]


def block_graph(architectures: Architectures) -> BlockGraph:
    """Return the block graphs of a space: a chain for FBNet, the cell for NAS-Bench-201."""
    codes, choices = architectures.codes, architectures.choices
    ends = np.ones((len(codes), 1), np.int64)
    kinds = np.concatenate([choices * ends, codes, (choices + 1) * ends], axis=1)
    edges = _cell() if architectures.space == "nasbench201" else _chain(codes.shape[1])
    adjacency = np.zeros((kinds.shape[1],) * 2, bool)
    for producer, consumer in edges:
        adjacency[consumer, producer] = True
    return BlockGraph(kinds, choices + 2, adjacency)


def _chain(positions: int) -> list[tuple[int, int]]:
    return [(node, node + 1) for node in range(positions + 1)]


def _cell() -> list[tuple[int, int]]:
    """Return edges between the choices: one choice follows another where their ends meet."""
    output = len(_CELL_EDGES) + 1
    pairs = [
        (1 + first, 1 + second)
        for first, (_, end) in enumerate(_CELL_EDGES)
        for second, (start, _) in enumerate(_CELL_EDGES)
        if end == start
    ]
    pairs += [(0, 1 + place) for place, (start, _) in enumerate(_CELL_EDGES) if start == 0]
    pairs += [(1 + place, output) for place, (_, end) in enumerate(_CELL_EDGES) if end == 3]
    return pairs
