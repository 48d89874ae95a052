"""Predictions by hand."""

from __future__ import annotations

import math
from dataclasses import replace

from predictor.core.percentiles import Z80
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration


def prediction(
    p50_ms: float | None, spread: float | None = None, name: str = "a", basis: Basis = Basis.PROBED
) -> Prediction:
    """A log-normal latency; the name is the fingerprint too."""
    plain = Prediction(
        model=name,
        fingerprint=name,
        device_id="rpi5",
        configuration=Configuration(),
        engine="engine/1",
        basis=basis,
        latency_ms=p50_ms,
    )
    if p50_ms is None or spread is None:
        return plain
    reach = math.exp(Z80 * spread)
    return replace(plain, low80_ms=p50_ms / reach, high80_ms=p50_ms * reach)
