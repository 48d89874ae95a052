"""Where a device stands in its family, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctm_gui.presenters.device_wording import applies
from predictor.core.metric_labels import metric_label, metric_text
from predictor.core.metrics import METRICS
from predictor.core.records import Device
from predictor.core.units import significant

# A share among fewer devices says nothing.
LEAST_PEERS = 4


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One metric of a device among the devices of its family.

    Attributes:
        metric: name of the metric.
        label: what it is called in the family.
        value: as text with its unit, a dash where it is absent.
        percentile: share of the family's other devices with a smaller value, equal ones counting
            half, 0 to 100; None where the metric is absent or too few others know it.
        peers: how many other devices know the metric.
        range_text: smallest, middle and largest value of the others.
    """

    metric: str
    label: str
    value: str
    percentile: float | None
    peers: int
    range_text: str

    @property
    def absent(self) -> bool:
        """Whether the device does not state the metric."""
        return self.value == metric_text(self.metric, None)


def profile(device: Device, devices: Sequence[Device]) -> tuple[ProfileRow, ...]:
    """Return a row for each metric that the family has.

    Args:
        device: whose profile it is.
        devices: all devices; those of another family and ``device`` itself (by id) are left out.
    """
    peers = [d for d in devices if d.family is device.family and d.id != device.id]
    rows = []
    for metric in METRICS:
        others = np.array([d.metrics[metric.name] for d in peers if metric.name in d.metrics])
        value = device.metric(metric.name)
        if not applies(metric.name, device.family) or (value is None and not others.size):
            continue
        rows.append(
            ProfileRow(
                metric.name,
                metric_label(metric.name, device.family),
                metric_text(metric.name, value),
                _percentile(value, others),
                int(others.size),
                _range_text(others, metric.unit),
            )
        )
    return tuple(rows)


def _percentile(
    value: float | None, others: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float | None:
    if value is None or others.size < LEAST_PEERS:
        return None
    below = np.count_nonzero(others < value) + 0.5 * np.count_nonzero(others == value)
    return float(100 * below / others.size)


def _range_text(others: np.ndarray[tuple[int], np.dtype[np.float64]], unit: str) -> str:
    if not others.size:
        return ""
    ordered = np.sort(others)
    # Not np.median: it loads numpy.ma, which takes longer than all of the profile.
    middle = (ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2
    low, middle, high = (
        significant(float(value), 4) for value in (ordered[0], middle, ordered[-1])
    )
    return f"{low} to {high}, median {middle} {unit}".rstrip()
