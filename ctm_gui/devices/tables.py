"""Devices in tables: all, one among its family, two side by side; words for their metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctm_gui.widgets.grid import Column, Grid, number_column, text_column
from predictor.core.metrics import LAUNCH_US, MEASURABLE, METRIC_BY_NAME, METRICS, Family, Metric
from predictor.core.records import Device
from predictor.core.runtimes import CPUS
from predictor.core.text import plural, shortened
from predictor.core.units import significant
from predictor.devices.fields import range_text
from predictor.presentation.metric_labels import (
    METRIC_HELP,
    metric_label,
    metric_text,
)
from predictor.presentation.wording import NOTHING, plain_number, shown
from predictor.services.devices.design import design_facts

# Fields of an operating point and of the head of the form, as they begin a sentence.
_FIELD_WORDS = {
    "power_w": "Power",
    "cpu_mhz": "CPU clock",
    "gpu_mhz": "GPU clock",
    "memory_mhz": "Memory clock",
    "instruction_sets": "Instruction sets",
    "host_architecture": "Host",
}
_METRIC_NAMES = {*METRIC_BY_NAME, *MEASURABLE}
_NAMES = re.compile(r"\b(?:" + "|".join((*_METRIC_NAMES, *_FIELD_WORDS)) + r")\b")


def metric_help(metric: Metric, family: Family) -> str:
    """Return a metric's meaning, its unit and its range, a sentence each."""
    label = metric_label(metric.name, family)
    unit = f"In {metric.unit}, " if metric.unit else "A count, "
    return (
        f"{label} ({metric.name})\n{METRIC_HELP[metric.name]}\n{unit}{range_text(metric)}.\n"
        "Leave it empty where it is not known: absent is not zero."
    )


def applies(name: str, family: Family) -> bool:
    """Whether a device of ``family`` can have the metric at all."""
    if name == "host_clock_ghz":
        return family not in {*CPUS, Family.MCU}
    return name != "dsp_count" or family is Family.FPGA


def in_words(sentence: str, family: Family) -> str:
    """Return a check's sentence with labels in place of field names, as a sentence of its own."""
    words = _NAMES.sub(
        lambda name: _FIELD_WORDS.get(name.group()) or metric_label(name.group(), family), sentence
    )
    return f"{words[:1].upper()}{words[1:]}."


# A share among fewer devices says nothing.
MIN_PEERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
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
        peer_values = np.array([d.metrics[metric.name] for d in peers if metric.name in d.metrics])
        value = device.metric(metric.name)
        if not applies(metric.name, device.family) or (value is None and not peer_values.size):
            continue
        rows.append(
            ProfileRow(
                metric=metric.name,
                label=metric_label(metric.name, device.family),
                value=metric_text(metric.name, value),
                percentile=_percentile(value, peer_values),
                peers=int(peer_values.size),
                range_text=_range_text(peer_values, metric.unit),
            )
        )
    return tuple(rows)


def _percentile(
    value: float | None, peer_values: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float | None:
    if value is None or peer_values.size < MIN_PEERS:
        return None
    below = np.count_nonzero(peer_values < value) + 0.5 * np.count_nonzero(peer_values == value)
    return float(100 * below / peer_values.size)


def _range_text(peer_values: np.ndarray[tuple[int], np.dtype[np.float64]], unit: str) -> str:
    if not peer_values.size:
        return ""
    ordered = np.sort(peer_values)
    # Not np.median: it loads numpy.ma, which takes longer than all of the profile.
    middle = (ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2
    low, middle, high = (
        significant(float(value), 4) for value in (ordered[0], middle, ordered[-1])
    )
    return f"{low} to {high}, median {middle} {unit}".rstrip()


# Characters of a device's name over its column, and of a text in it: both devices fit the page.
_TITLE, _TEXT = 20, 22


class DeviceComparisonGrid(Grid):
    """A row for each fact that one of the two devices has; a missing value is a dash, not zero.

    Args:
        left: the device that the ratio is to.
        right: the other one.
    """

    def __init__(self, left: Device, right: Device) -> None:
        facts = [_compared(device, left.family) for device in (left, right)]
        names = [name for name in _order(left.family) if name in facts[0] or name in facts[1]]
        values = [[fact.get(name) for name in names] for fact in facts]
        columns = [
            text_column("metric", "Fact", names),
            _value_column("left", left, values[0]),
            _value_column("right", right, values[1]),
            number_column(
                "ratio",
                "Ratio",
                list(map(_ratio, *values)),
                f"{shown(right.name)} / {shown(left.name)}.",
                _ratio_text,
            ),
        ]
        self._rows = list(zip(names, *values, strict=True))
        super().__init__(len(names), columns)

    def details(self, row: int) -> str:
        """Return the name and both values of a row in full, a line each."""
        name, *values = self._rows[row]
        return "\n".join([name, *(_value_text(value) for value in values)])


Value = float | str | None
_DESIGN = ("Chip", "Architecture", "Instruction sets")
_POINTS = "Operating points"


def _order(family: Family) -> list[str]:
    """Return the names of all facts that devices can be compared by, in order."""
    metrics = [
        name
        for metric in (*METRICS, LAUNCH_US)
        for name in (_title(metric, family), _title(metric, family, ", measured"))
    ]
    return [*_DESIGN, *metrics, _POINTS]


def _compared(device: Device, family: Family) -> dict[str, float | str]:
    """Return the facts of a device by their names in ``family``."""
    facts: dict[str, float | str] = dict(design_facts(device))
    for name, value in device.metrics.items():
        facts[_title(METRIC_BY_NAME[name], family)] = value
    for name, rate in device.measured.items():
        facts[_title(MEASURABLE[name], family, ", measured")] = rate.value
    if device.operating_points:
        facts[_POINTS] = ", ".join(shown(point.name) for point in device.operating_points)
    return facts


def _value_column(key: str, device: Device, values: Sequence[Value]) -> Column:
    numbers = [value if isinstance(value, int | float) else None for value in values]
    column = number_column(key, shortened(device.name, _TITLE), numbers)
    return replace(
        column,
        text=lambda row: _brief(_value_text(values[row])),
        copied=lambda rows: [
            text if isinstance(text := values[row], str) else plain_number(text) for row in rows
        ],
    )


def _brief(text: str) -> str:
    """Return the start of a text: of an architecture's title that says more than the middle."""
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _ratio(left: Value, right: Value) -> float | None:
    """Return right over left; None where one of them is not known, or is no number."""
    return (
        right / left if isinstance(left, int | float) and isinstance(right, int | float) else None
    )


def comparison_summary(left: Device, right: Device) -> str:
    """Return in words the number of metrics of both devices, and of one of them only."""
    common = len(left.metrics.keys() & right.metrics.keys())
    lonely = len(left.metrics.keys() ^ right.metrics.keys())
    words = f"{plural(common, 'fact')} known of both"
    return f"{words}, {lonely} of one of them only." if lonely else f"{words}."


def _title(metric: Metric, family: Family, more: str = "") -> str:
    unit = f" ({metric.unit})" if metric.unit else ""
    return f"{metric_label(metric.name, family)}{more}{unit}"


def _value_text(value: Value) -> str:
    if value is None or isinstance(value, str):
        return value or NOTHING
    return significant(value, 5)


def _ratio_text(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"× {significant(ratio)}"
