"""Peaks of attention of operators and of hardware metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.core.metrics import METRIC_BY_NAME
from predictor.core.records import Device
from predictor.cost.engine import AttentionMaps
from predictor.presentation.metric_labels import metric_label, metric_text
from predictor.presentation.wording import NOTHING

_SAME = 1e-4
# Usable by a configuration, beside the metrics of the device itself.
_OF_CONFIGURATION = {
    "matrix_rate": "Usable matrix rate",
    "vector_rate": "Usable vector rate",
    "unit_rate": "Rate of one core or unit",
    "bandwidth": "Usable bandwidth",
    "launch": "Launch overhead",
    "on_chip_bytes": "On-chip memory in all",
    "family": "Kind of device",
}


@dataclass(frozen=True, slots=True, eq=False)
class AttentionPeak:
    """Peaks of L rows of a map of attention.

    Attributes:
        at: intp [L], index of the largest share, the first of equals.
        share: float64 [L], the largest share, 0 to 1.
        even: bool [L], whether all shares of the row are equal.
    """

    at: NDArray[np.intp]
    share: NDArray[np.float64]
    even: NDArray[np.bool_]


def operators_peak(attention: AttentionMaps | None) -> AttentionPeak | None:
    """Return the metric that each operator attended to most; None without attention."""
    if attention is None or not attention.metrics:
        return None
    return attention_peak(attention.operator_to_metric)


def attention_peak(shares: NDArray[np.floating]) -> AttentionPeak:
    """Return the peak of each row of ``shares`` [L, K], K > 0."""
    at = shares.argmax(axis=1)
    # [L, 1] index into [L, K], then [L].
    share = np.take_along_axis(shares, at[:, None], axis=1)[:, 0].astype(np.float64)
    return AttentionPeak(at, share, share - shares.min(axis=1) <= _SAME * share)


def token_label(name: str, device: Device) -> str:
    """Return the label of a metric that HODM attends to on a device.

    Beside the metrics of the registry the network may read facts of the configuration.
    """
    if name in METRIC_BY_NAME:
        return metric_label(name, device.family)
    return _OF_CONFIGURATION.get(name) or name.replace("_", " ").capitalize()


def token_text(name: str, device: Device) -> str:
    """Write a metric's value on a device with its unit; a dash where it is none of the device's."""
    return metric_text(name, device.metric(name)) if name in METRIC_BY_NAME else NOTHING
