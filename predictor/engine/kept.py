"""What was worked out of graphs, for as long as they are asked about again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from predictor.graph.operator_graph import OperatorGraph

T = TypeVar("T")
_MOST: Final = 512  # graphs: a whole pool of reference networks, and the user's own


class KeptByGraph(Generic[T]):
    """Works something out of a graph, once for each; the oldest are forgotten first."""

    def __init__(self, make: Callable[[OperatorGraph], T]) -> None:
        """Take what works it out."""
        self._make = make
        self._known: dict[int, tuple[OperatorGraph, T]] = {}

    def __call__(self, graph: OperatorGraph) -> T:
        """Return what was worked out of a graph."""
        known = self._known.get(id(graph))
        if known is None or known[0] is not graph:
            if len(self._known) >= _MOST:
                self._known.pop(next(iter(self._known)))
            known = self._known[id(graph)] = (graph, self._make(graph))
        return known[1]
