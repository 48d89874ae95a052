"""Where the bars of the latency chart lie: y in pixels from the top, x in the unit shown."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ctm_gui.presenters.comparison import ComparisonRow, TargetGroup, is_over, model_labels
from ctm_gui.presenters.wording import (
    batch_of,
    in_unit,
    interval_in_unit,
    number,
    shown,
)
from predictor.core.units import LatencyUnit

SINGLE_ROW_PX = 28
ROW_PX = 18
GROUP_GAP_PX = 10
# A budget further out than this many times the longest bar would squeeze all bars; it is left out.
_BUDGET_REACH = 3.0
# Bars shorter than a fiftieth of the longest are hardly seen.
_LINEAR_SPAN = 50.0
# Longer labels are cut, so that bars stay comparable.
_LEAST_BARS_SHARE = 0.55


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, or the reason for which there is none.

    Attributes:
        row: index into the rows shown.
        top_px: its upper edge from the top of the chart.
        series: index of its model, which gives the colour.
        value: its length in the unit shown; None where there is no number.
        low, high: ends of the 80 % interval in the unit, or None.
        bound: the bound in the unit, or None.
        over: whether it is over the budget.
        label: what stands at its end, or the reason.
    """

    row: int
    top_px: int
    series: int
    value: float | None
    low: float | None
    high: float | None
    bound: float | None
    over: bool
    label: str


@dataclass(frozen=True, slots=True)
class GroupBox:
    """The room of one target: its words and where it lies."""

    name: str
    detail: str
    top_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class ChartLayout:
    """Everything that the latency chart paints.

    Attributes:
        bars: from the top down.
        groups: from the top down.
        models: labels of the models, by series.
        row_px: height of one bar's row.
        height_px: of the whole chart.
        unit: the unit of x.
        budget: the budget in the unit; None where there is none, or where the rows have several
            batches and the unit is a rate, so that no single line stands for it.
    """

    bars: tuple[Bar, ...]
    groups: tuple[GroupBox, ...]
    models: tuple[str, ...]
    row_px: int
    height_px: int
    unit: LatencyUnit
    budget: float | None

    def bar_at(self, y_px: float) -> Bar | None:
        """Return the bar whose row holds ``y_px``, None between groups and outside."""
        index = bisect_right([bar.top_px for bar in self.bars], y_px) - 1
        if index < 0 or y_px >= self.bars[index].top_px + self.row_px:
            return None
        return self.bars[index]

    def group_at(self, y_px: float) -> GroupBox | None:
        """Return the group whose room holds ``y_px``."""
        index = bisect_right([group.top_px for group in self.groups], y_px) - 1
        if index < 0 or y_px >= self.groups[index].top_px + self.groups[index].height_px:
            return None
        return self.groups[index]

    def bar_of_row(self, row: int) -> Bar | None:
        """Return the bar of a row, None where the row is not in the chart."""
        return next((bar for bar in self.bars if bar.row == row), None)


def lay_out(
    groups: Sequence[TargetGroup],
    rows: Sequence[ComparisonRow],
    unit: LatencyUnit,
    budget_ms: float | None,
) -> ChartLayout:
    """Place one row of fixed height for each prediction, the groups from the top down."""
    models = model_labels(rows)
    series = {model: index for index, model in enumerate(models)}
    row_px, gap_px = (SINGLE_ROW_PX, 0) if len(models) < 2 else (ROW_PX, GROUP_GAP_PX)
    bars: list[Bar] = []
    boxes: list[GroupBox] = []
    top = 0
    for group in groups:
        height = gap_px + row_px * len(group.rows)
        boxes.append(GroupBox(group.name, group.detail, top, height))
        for slot, row in enumerate(group.rows):
            top_px = top + gap_px // 2 + slot * row_px
            bars.append(
                _bar(rows[row], row, top_px, series[rows[row].model_label], unit, budget_ms)
            )
        top += height
    return ChartLayout(
        bars=tuple(bars),
        groups=tuple(boxes),
        models=tuple(shown(model) for model in models),
        row_px=row_px,
        height_px=top,
        unit=unit,
        budget=_budget_in_unit(rows, unit, budget_ms),
    )


def _bar(
    row: ComparisonRow,
    index: int,
    top_px: int,
    series: int,
    unit: LatencyUnit,
    budget_ms: float | None,
) -> Bar:
    prediction = row.prediction
    batch = batch_of(prediction.configuration)
    value = in_unit(prediction.latency_ms, unit, batch)
    over = is_over(prediction, budget_ms)
    low, high = interval_in_unit(prediction, unit)
    return Bar(
        row=index,
        top_px=top_px,
        series=series,
        value=value,
        low=low,
        high=high,
        bound=in_unit(prediction.bound_ms, unit, batch),
        over=over,
        label=_label(row, value, unit, over=over),
    )


def _label(row: ComparisonRow, value: float | None, unit: LatencyUnit, *, over: bool) -> str:
    prediction = row.prediction
    if value is None:
        return f"no number: {shown(prediction.problem)}"
    words = [f"{number(value)} {unit}"]
    if over:
        words.append("over")
    if prediction.fits_memory is False:
        words.append("exceeds memory")
    if prediction.out_of_distribution:
        words.append("uncertain")
    return " · ".join(words)


def _budget_in_unit(
    rows: Sequence[ComparisonRow], unit: LatencyUnit, budget_ms: float | None
) -> float | None:
    if not budget_ms:
        return None
    batches = {batch_of(row.prediction.configuration) for row in rows}
    if unit is LatencyUnit.FPS and len(batches) > 1:
        return None
    return in_unit(budget_ms, unit, next(iter(batches), 1))


def budget_in_ms(layout: ChartLayout, rows: Sequence[ComparisonRow], value: float) -> float | None:
    """Return the budget in ms that a line at ``value`` of the layout's unit means.

    It is rounded to three significant digits; a line at or left of zero means no budget.
    """
    if value <= 0 or not math.isfinite(value):
        return None
    if layout.unit is LatencyUnit.MS:
        latency_ms = value
    elif layout.unit is LatencyUnit.US:
        latency_ms = value / 1e3
    else:
        batch = batch_of(rows[layout.bars[0].row].prediction.configuration) if layout.bars else 1
        latency_ms = batch * 1e3 / value
    return float(f"{latency_ms:.3g}")


def value_range(layout: ChartLayout, *, log: bool) -> tuple[float, float]:
    """Return the ends of the x axis in the unit, without room for labels.

    Linear axes start at zero. Logarithmic ones start at the power of ten under the smallest value
    (bound and interval included), so that the shortest bar still has a length.
    """
    lengths = [x for bar in layout.bars for x in (bar.value, bar.high) if x is not None]
    longest = max(lengths, default=1.0)
    if layout.budget is not None and layout.budget <= _BUDGET_REACH * longest:
        longest = max(longest, layout.budget)
    if not log:
        return 0.0, longest or 1.0
    marks = [x for bar in layout.bars for x in (bar.value, bar.low, bar.bound) if x]
    smallest = min((x for x in marks if x > 0), default=longest or 1.0)
    start = 10.0 ** math.floor(math.log10(smallest))
    # A bar that ends on a power of ten would start there too.
    start = start if start < smallest * 0.8 else start / 10
    return start, max(longest, start * 10)


def bars_share(
    layout: ChartLayout, label_px: Sequence[float], width_px: float, *, log: bool
) -> float:
    """Return which part of the width the axis up to the longest bar may take.

    Args:
        layout: the bars.
        label_px: for each bar the width of its label with its gaps.
        width_px: the width of the plot.
        log: whether the axis is logarithmic.

    Returns:
        The largest part, 0.55 to 1, with which each label fits in after its bar and its interval.
    """
    low, high = value_range(layout, log=log)

    def fraction(value: float) -> float:
        if not log:
            return value / high
        return math.log(value / low) / math.log(high / low) if value > low else 0.0

    share = 1.0
    for bar, label in zip(layout.bars, label_px, strict=True):
        reach = 0.0 if bar.value is None else fraction(max(bar.value, bar.high or 0.0))
        if reach > 0:
            share = min(share, (width_px - label) / (reach * width_px))
    return max(share, _LEAST_BARS_SHARE)


def prefers_log(rows: Sequence[ComparisonRow]) -> bool:
    """Return whether the slowest prediction is so far from the fastest that linear bars vanish."""
    known = [
        latency
        for row in rows
        if (latency := row.prediction.latency_ms) is not None and latency > 0
    ]
    return len(known) > 1 and max(known) > _LINEAR_SPAN * min(known)


def budget_shown(layout: ChartLayout, *, log: bool) -> bool:
    """Return whether the budget's line lies on the axis."""
    if layout.budget is None:
        return False
    low, high = value_range(layout, log=log)
    return low < layout.budget <= high
