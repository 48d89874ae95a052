"""Estimates and bounds of a table: what units and references are held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.units import significant
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.measurements.draws import Draw
from predictor.services.measurements.measured_table import MeasuredTable
from predictor.services.measurements.table import Problems

Floats = NDArray[np.float64]

UNDER_BOUND: Final = 20.0
"""A latency this many times under its bound is no latency in ms. No published one is 6 times under
its estimate, which is above the bound."""

APART: Final = 200.0
"""A latency this many times further from its estimate than its target's median is in another unit.
Published ones are at most 43 times; a wrong unit makes 1000."""

_LEAST_ROWS = 3  # a median of fewer tells no odd one


class Analytic:
    """The roofline of all rows on their own targets, and of graphs on known targets.

    Args:
        table: the rows.

    Attributes:
        estimate_ms: float64 [rows], NaN where there is none.
        bound_ms: float64 [rows], NaN where there is none.
    """

    def __init__(self, table: MeasuredTable) -> None:
        self._engine = RooflineEngine()
        self._known = table.known
        self._known_ms: dict[int, Floats] = {}
        self.estimate_ms = np.full(len(table.rows), np.nan)
        self.bound_ms = np.full(len(table.rows), np.nan)
        for measured in table.targets:
            graphs = [table.graphs[row] for row in measured.rows.tolist()]
            found = self._engine.predict(graphs, [measured.target], {})
            self.estimate_ms[measured.rows] = found.latency_ms[:, 0]
            self.bound_ms[measured.rows] = found.bound_ms[:, 0]

    def known_ms(self, graphs: Sequence[OperatorGraph]) -> Floats:
        """Return the estimates on the known targets that have one, float64 [N, T]."""
        for graph in graphs:
            if id(graph) not in self._known_ms:
                found = self._engine.predict([graph], self._known, {})
                self._known_ms[id(graph)] = found.latency_ms[0]
        table = np.stack([self._known_ms[id(graph)] for graph in graphs])
        return table[:, np.isfinite(table).all(axis=0)]

    def reference_ms(self, draw: Draw, latency_ms: Floats) -> Floats:
        """Return the estimates of the tests, scaled by the median ratio of the probes."""
        ratios = latency_ms[draw.probes] / self.estimate_ms[draw.probes]
        scale = float(np.median(ratios)) if ratios.size else 1.0
        return self.estimate_ms[draw.tests] * scale


def check_units(table: MeasuredTable, analytic: Analytic) -> None:
    """Refuse latencies that cannot be in ms.

    Raises:
        InputError: some are far under what is possible, or far from the others of their target;
            each line is named.
    """
    problems = Problems(table.path)
    latency_ms = table.latency_ms
    for row in np.flatnonzero(latency_ms * UNDER_BOUND < analytic.bound_ms).tolist():
        problems.add(
            table.rows[row].line,
            f"latency_ms is {significant(latency_ms[row])}, and no run can take less than "
            f"{significant(analytic.bound_ms[row])} ms",
        )
    told = {line for line, _ in problems.found}
    ratio = np.log(latency_ms / analytic.estimate_ms)
    for measured in table.targets:
        mine = ratio[measured.rows]
        if np.isfinite(mine).sum() < _LEAST_ROWS:
            continue
        apart = np.exp(np.abs(mine - np.nanmedian(mine)))
        for row, factor in zip(measured.rows.tolist(), apart.tolist(), strict=True):
            if factor > APART and table.rows[row].line not in told:
                problems.add(
                    table.rows[row].line,
                    f"latency_ms is {significant(latency_ms[row])}, {significant(factor)} times "
                    f"off what the other rows of {measured.label} lead to expect",
                )
    problems.found.sort(key=lambda found: found[0])
    problems.check("give every latency in ms, and check the facts of the device")
