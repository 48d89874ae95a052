"""Measurements of a source as a matrix of graphs and targets, and the level of each target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.research.training.examples import Examples

_PRIOR_WEIGHT: Final = 3.0  # measurements that the spread on all targets counts for
_LEAST_SPREAD: Final = 0.05
_ROUNDS: Final = 20

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Measurements of one source: G graphs on D targets.

    Attributes:
        graphs: int64 [G], ascending.
        targets: int64 [D], ascending.
        log_latency: float64 [G, D], ln(latency in ms), NaN where there is none; no row or column
            is all NaN.
    """

    graphs: Rows
    targets: Rows
    log_latency: Floats

    @classmethod
    def of(cls, examples: Examples, source: int) -> Measured:
        """Return the examples of one source, at least one."""
        mine = examples.source == source
        graphs, g = np.unique(examples.graph[mine], return_inverse=True)
        targets, t = np.unique(examples.target[mine], return_inverse=True)
        cells = np.full((len(graphs), len(targets)), np.nan)
        cells[g, t] = examples.log_latency[mine]
        return cls(graphs, targets, cells)

    def on(self, chosen: NDArray[np.bool_]) -> Measured:
        """Return the measurements on some targets, [D]."""
        cells = self.log_latency[:, chosen]
        measured = ~np.isnan(cells).all(axis=1)
        return Measured(self.graphs[measured], self.targets[chosen], cells[measured])

    def levels(self) -> tuple[Floats, Floats]:
        """Return the centre and the spread of log-latency on each target, both [D].

        Targets that measured other graphs are compared by those that they share: a centre is the
        target's part of a sum of graph and target. Where all measured the same it is the mean.
        """
        cells = self.log_latency
        centre = np.nanmean(cells, axis=0)
        for _ in range(_ROUNDS):
            of_graph = np.nanmean(cells - centre, axis=1, keepdims=True)
            centre = np.nanmean(cells - of_graph, axis=0)
        squares = (cells - centre) ** 2
        count = (~np.isnan(cells)).sum(axis=0)
        pooled = _PRIOR_WEIGHT * np.nanmean(squares) + np.nansum(squares, axis=0)
        spread = np.sqrt(pooled / (_PRIOR_WEIGHT + count))
        return centre, np.maximum(spread, _LEAST_SPREAD)
