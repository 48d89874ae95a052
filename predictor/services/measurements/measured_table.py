"""A table with all that its names stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Target
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.measurements.table import MeasuredRow


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTarget:
    """One name with one configuration.

    Attributes:
        label: the name, with its configuration where the table has the name with several.
        target: its device and configuration; the batch belongs to the graphs and is 0 here.
        rows: int64 [R], numbers of its rows of the table.
    """

    label: str
    target: Target
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """Rows with the graphs and targets that they name.

    Attributes:
        path: of the table.
        rows: of the table.
        graphs: of each row, at its batch; equal ones are one object.
        targets: in the order of the table.
        known: targets whose estimates DBSel compares probes by.
    """

    path: Path
    rows: Sequence[MeasuredRow]
    graphs: Sequence[OperatorGraph]
    targets: Sequence[MeasuredTarget]
    known: Sequence[Target]

    @property
    def latency_ms(self) -> NDArray[np.float64]:
        """Float64 [rows], measured."""
        return np.array([row.latency_ms for row in self.rows], np.float64)
