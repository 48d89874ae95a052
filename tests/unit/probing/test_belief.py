"""What an engine believes of networks, and which of them teach it most: hand-worked numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from predictor.core.percentiles import Z80
from predictor.cost.engine import PredictionTable
from predictor.probing.selection.belief import Belief


def table(shared: list[list[float]], high80: list[float]) -> PredictionTable:
    """Networks of 10 ms with 80 % intervals up to ``high80``, on one target."""
    shape = (len(shared), 1)
    latency = np.full(shape, 10.0)
    high = np.array(high80).reshape(shape)
    nothing = np.full(shape, np.nan)
    return PredictionTable(
        engine="engine/1",
        latency_ms=latency,
        low80_ms=latency**2 / high,
        high80_ms=high,
        low95_ms=nothing,
        high95_ms=nothing,
        bound_ms=nothing,
        basis=[[None]] * len(shared),
        memory_bytes=nothing,
        fits_memory=[[None]] * len(shared),
        problems={},
        predicted_ms=latency,
        shared_error=np.array(shared, np.float32).reshape(len(shared), 1, -1),
    )


def test_covariances_are_those_of_the_table() -> None:
    # Standard deviations of 0.5 and 0.2; the errors have a correlation of 0.6 * 0.5.
    told = table([[0.6, 0.0], [0.5, 0.8]], [10 * math.exp(0.5 * Z80), 10 * math.exp(0.2 * Z80)])
    belief = Belief.of(told)
    assert belief is not None
    assert belief.spread == pytest.approx([0.5, 0.2], rel=1e-6)
    assert belief.features[0] @ belief.features[1] == pytest.approx(0.5 * 0.2 * 0.3, rel=1e-6)
    assert belief.noise == pytest.approx([0.5 * 0.8, 0.2 * math.sqrt(0.11)], rel=1e-5)


def test_without_intervals_nothing_is_believed() -> None:
    assert Belief.of(table([[0.5]], [math.nan])) is None


def test_latencies_are_drawn_as_they_are_believed() -> None:
    belief = Belief.of(table([[1.0], [1.0]], [10 * math.exp(0.3 * Z80)] * 2))
    assert belief is not None
    drawn = np.log([belief.drawn(seed) for seed in range(2000)]) - math.log(10)
    assert drawn.std(axis=0) == pytest.approx([0.3, 0.3], rel=0.1)
    # All of the error is shared, so both networks are off by the same.
    assert drawn[:, 0] == pytest.approx(drawn[:, 1], abs=1e-6)
