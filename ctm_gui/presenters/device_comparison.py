"""Two devices metric by metric."""

from __future__ import annotations

from ctm_gui.presenters.grid import Column, Grid, number_column, text_column
from predictor.core.metric_labels import metric_label
from predictor.core.metrics import METRICS, Family, Metric
from predictor.core.records import Device
from predictor.core.text import plural, shortened
from predictor.core.units import significant
from predictor.core.wording import NOTHING, shown

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
    """Return in words how many metrics both have, and how many only one of them."""
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
