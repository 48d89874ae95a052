"""Costs of runs by hand."""

from __future__ import annotations

import math

import numpy as np

from predictor.services.loads.costs import RunCost
from tests.support.predictions import prediction


def cost(
    ms: float | list[float], deviation: float = 0.0, traffic: float = 0.0, name: str = "a"
) -> RunCost:
    batch_ms = np.atleast_1d(np.array(ms, np.float64))
    return RunCost(
        prediction=prediction(float(batch_ms[0]), deviation or None, name),
        batch_ms=batch_ms,
        deviation=deviation,
        shared=np.array([math.sqrt(0.5)]),
        traffic_bytes=traffic,
        memory_bytes=1e6,
        energy_mj=None,
    )
