"""Two devices metric by metric."""

from __future__ import annotations

from ctm_gui.presenters.grid import Column, Grid
from ctm_gui.presenters.ordering import number_keys, text_ranks
from predictor.core.metric_labels import metric_label
from predictor.core.metrics import METRICS, Family, Metric
from predictor.core.records import Device
from predictor.core.text import plural, shortened
from predictor.core.units import significant
from predictor.core.wording import NOTHING, plain_number, shown

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
        ratios = [self.ratio(metric) for metric in self.metrics]
        columns = [
            _text_column("metric", "Metric", names),
            self._value_column("left", shortened(left.name, _TITLE), left),
            self._value_column("right", shortened(right.name, _TITLE), right),
            Column(
                "ratio",
                "Ratio",
                numeric=True,
                text=lambda row: _ratio_text(ratios[row]),
                sort_keys=lambda: number_keys(ratios),
                copied=lambda rows: [plain_number(ratios[row]) for row in rows],
                help=f"{shown(right.name)} / {shown(left.name)}.",
            ),
        ]
        super().__init__(len(self.metrics), columns)

    def ratio(self, metric: Metric) -> float | None:
        """Return right over left; None where one of them is not known."""
        left, right = self._left.metric(metric.name), self._right.metric(metric.name)
        return None if left is None or right is None else right / left

    def _value_column(self, key: str, title: str, device: Device) -> Column:
        values = [device.metric(metric.name) for metric in self.metrics]
        return Column(
            key,
            title,
            numeric=True,
            text=lambda row: _value_text(values[row]),
            sort_keys=lambda: number_keys(values),
            copied=lambda rows: [plain_number(values[row]) for row in rows],
        )


def comparison_summary(left: Device, right: Device) -> str:
    """Say how many metrics both have, and how many only one of them."""
    both = len(left.metrics.keys() & right.metrics.keys())
    lonely = len(left.metrics.keys() ^ right.metrics.keys())
    words = f"{plural(both, 'metric')} known of both"
    return f"{words}, {lonely} of one of them only." if lonely else f"{words}."


def _title(metric: Metric, family: Family) -> str:
    unit = f" ({metric.unit})" if metric.unit else ""
    return f"{metric_label(metric.name, family)}{unit}"


def _text_column(key: str, title: str, texts: list[str]) -> Column:
    return Column(
        key,
        title,
        numeric=False,
        text=lambda row: texts[row],
        sort_keys=lambda: text_ranks(texts),
    )


def _value_text(value: float | None) -> str:
    return NOTHING if value is None else significant(value, 5)


def _ratio_text(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"× {significant(ratio)}"
