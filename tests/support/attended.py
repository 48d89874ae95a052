"""Operator tables with attention, for tests of what shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from predictor.core.metrics import METRICS, Family
from predictor.core.records import Device
from predictor.cost.engine import AttentionMaps
from predictor.services.prediction.explain import OperatorTable

BOARD = Device(
    id="board",
    name="Board",
    vendor="Maker",
    family=Family.GPU,
    metrics={metric.name: metric.low for metric in METRICS},
)


def attended(table: OperatorTable, metrics: int = 5, seed: int = 0) -> OperatorTable:
    """Return the table with random attention to the first metrics of the registry."""
    generator = np.random.default_rng(seed)
    forward = generator.dirichlet(np.full(metrics, 0.3), len(table.names)).astype(np.float32)
    backward = generator.dirichlet(np.full(len(table.names), 0.3), metrics).astype(np.float32)
    names = tuple(metric.name for metric in METRICS[:metrics])
    return replace(
        table,
        attention=AttentionMaps(
            metrics=names,
            operator_to_metric=forward,
            metric_to_operator=backward,
            blend=0.25,
            residual=0.5,
        ),
    )
