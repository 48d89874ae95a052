"""Devices in tables: all, one among its family, two side by side; words for their metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ctm_gui.presenters.devices import DeviceEntry
from ctm_gui.presenters.grid import Column, Grid, count_column, number_column, text_column
from predictor.core.metric_labels import FAMILY_WORDS, metric_label, metric_text
from predictor.core.metrics import METRICS, Family, Metric
from predictor.core.records import Device
from predictor.core.text import plural, shortened
from predictor.core.units import significant
from predictor.core.wording import NOTHING, shown
from predictor.services.devices.form import range_text

_NAMES = re.compile(r"\b(?:" + "|".join(metric.name for metric in METRICS) + r")\b")


def metric_help(metric: Metric, family: Family) -> str:
    """Return a metric's meaning, its unit and its range, a sentence each."""
    label = metric_label(metric.name, family)
    unit = f"In {metric.unit}, " if metric.unit else "A count, "
    return (
        f"{label} ({metric.name})\n{metric.help}\n{unit}{range_text(metric)}.\n"
        "Leave it unticked where it is not known: absent is not zero."
    )


def applies(name: str, family: Family) -> bool:
    """Whether a device of ``family`` can have the metric at all."""
    return name != "dsp_count" or family is Family.FPGA


def in_words(sentence: str, family: Family) -> str:
    """Return a check's sentence with labels in place of field names, as a sentence of its own."""
    words = _NAMES.sub(lambda name: metric_label(name.group(), family), sentence)
    return f"{words[:1].upper()}{words[1:]}."


class DevicesGrid(Grid):
    """A row for each device: its name, its owner, and the number of its known metrics.

    Args:
        entries: the devices, in the order before any sorting.
        is_modified: whether a key's device has something that is not saved.
    """

    def __init__(self, entries: Sequence[DeviceEntry], is_modified: Callable[[str], bool]) -> None:
        self.entries = tuple(entries)
        self.texts = [_searched(entry) for entry in self.entries]
        names = [_name(entry, is_modified(entry.key)) for entry in self.entries]
        columns = [
            text_column(
                "name", "Device", names, "Devices of your own stand first; edited: not saved yet."
            ),
            count_column(
                "facts",
                "Facts",
                [len(entry.device.metrics) for entry in self.entries],
                str,
                "How many hardware metrics are known.",
            ),
        ]
        super().__init__(len(self.entries), columns)

    def row_of(self, key: str) -> int | None:
        """Return the row of a device; None where it is not there."""
        keys = [entry.key for entry in self.entries]
        return keys.index(key) if key in keys else None


def _name(entry: DeviceEntry, modified: bool) -> str:
    name = shown(entry.device.name)
    if not entry.own:
        return name
    state = "edited" if modified else "own"
    return f"{name} · {state}"


def _searched(entry: DeviceEntry) -> str:
    device = entry.device
    words = (device.id, device.name, device.vendor, device.family.value, device.system)
    whose = "own" if entry.own else "shipped"
    return " ".join((*words, FAMILY_WORDS[device.family], whose)).casefold()


# A share among fewer devices says nothing.
LEAST_PEERS = 4


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One metric of a device among the devices of its family.

    Attributes:
        metric: name of the metric.
        label: its name in the family.
        value: as text with its unit, a dash where it is absent.
        percentile: share of the family's other devices with a smaller value, equal ones counting
            half, 0 to 100; None where the metric is absent or too few others know it.
        peers: number of other devices that state the metric.
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


_TITLE = 20  # characters of a device's name over its column


class DeviceComparisonGrid(Grid):
    """A row for each metric that one of the two devices has; a missing value is a dash, not zero.

    Args:
        left: the device that the ratio is to.
        right: the other one.
    """

    def __init__(self, left: Device, right: Device) -> None:
        self.metrics = tuple(
            metric for metric in METRICS if {metric.name} & (left.metrics.keys() | right.metrics)
        )
        self._left, self._right = left, right
        names = [_title(metric, left.family) for metric in self.metrics]
        columns = [
            text_column("metric", "Metric", names),
            self._value_column("left", left),
            self._value_column("right", right),
            number_column(
                "ratio",
                "Ratio",
                [self.ratio(metric) for metric in self.metrics],
                f"{shown(right.name)} / {shown(left.name)}.",
                _ratio_text,
            ),
        ]
        super().__init__(len(self.metrics), columns)

    def ratio(self, metric: Metric) -> float | None:
        """Return right over left; None where one of them is not known."""
        left, right = self._left.metric(metric.name), self._right.metric(metric.name)
        return None if left is None or right is None else right / left

    def _value_column(self, key: str, device: Device) -> Column:
        values = [device.metric(metric.name) for metric in self.metrics]
        return number_column(key, shortened(device.name, _TITLE), values, write=_value_text)


def comparison_summary(left: Device, right: Device) -> str:
    """Return in words the number of metrics of both devices, and of one of them only."""
    both = len(left.metrics.keys() & right.metrics.keys())
    lonely = len(left.metrics.keys() ^ right.metrics.keys())
    words = f"{plural(both, 'metric')} known of both"
    return f"{words}, {lonely} of one of them only." if lonely else f"{words}."


def _title(metric: Metric, family: Family) -> str:
    unit = f" ({metric.unit})" if metric.unit else ""
    return f"{metric_label(metric.name, family)}{unit}"


def _value_text(value: float | None) -> str:
    return NOTHING if value is None else significant(value, 5)


def _ratio_text(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"× {significant(ratio)}"
