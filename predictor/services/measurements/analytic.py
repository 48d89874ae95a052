"""Estimates and bounds of a table, for references and for the check of units."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.caching import IdentityCache
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
        self._known_ms: IdentityCache[Floats] = IdentityCache(len(table.graphs))
        self.estimate_ms = np.full(len(table.rows), np.nan)
        self.bound_ms = np.full(len(table.rows), np.nan)
        for measured in table.targets:
            graphs = [table.graphs[row] for row in measured.rows.tolist()]
            prediction = self._engine.predict(graphs, [measured.target], {})
            self.estimate_ms[measured.rows] = prediction.latency_ms[:, 0]
            self.bound_ms[measured.rows] = prediction.bound_ms[:, 0]

    def known_ms(self, graphs: Sequence[OperatorGraph]) -> Floats:
        """Return the estimates on the known targets that have one, float64 [N, T]."""
        table = np.stack([self._known_ms.get((g,), partial(self._estimates, g)) for g in graphs])
        return table[:, np.isfinite(table).all(axis=0)]

    def _estimates(self, graph: OperatorGraph) -> Floats:
        estimates: Floats = self._engine.predict([graph], self._known, {}).latency_ms[0]
        return estimates

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
    noted = {line for line, _ in problems.lines}
    ratio = np.log(latency_ms / analytic.estimate_ms)
    for measured in table.targets:
        mine = ratio[measured.rows]
        if np.isfinite(mine).sum() < _LEAST_ROWS:
            continue
        apart = np.exp(np.abs(mine - np.nanmedian(mine)))
        for row, factor in zip(measured.rows.tolist(), apart.tolist(), strict=True):
            if factor > APART and table.rows[row].line not in noted:
                problems.add(
                    table.rows[row].line,
                    f"latency_ms is {significant(latency_ms[row])}, {significant(factor)} times "
                    f"off what the other rows of {measured.label} lead to expect",
                )
    problems.lines.sort(key=lambda problem: problem[0])
    problems.check("give every latency in ms, and check the facts of the device")
