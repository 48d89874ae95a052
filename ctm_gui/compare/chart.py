"""Places of the latencies of the chart: y in pixels from the top, x in the unit shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm_gui.compare.words import Badge, badges_of
from ctm_gui.prediction.columns import ComparisonColumns, TargetGroups
from ctm_gui.widgets.ordering import BoolArray, FloatArray, IndexArray
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import PredictionRow, tokens_text
from predictor.presentation.remarks import no_number
from predictor.presentation.report import BUDGET_REACH
from predictor.presentation.wording import QUANTISED, in_unit, number, p50_text, shown

SINGLE_ROW_PX = 28
ROW_PX = 18
GROUP_GAP_PX = 10
# Longer labels are cut, so that bars stay comparable.
_MIN_BARS_SHARE = 0.55
# Slowest over fastest up to which dots lie apart on a linear axis.
_LINEAR_SPAN = 10.0
# Room under the smallest mark, as a part of the reach of the marks.
_MARGIN = 0.1
# Part of the largest mark above which the smallest is far from zero.
_FAR_FROM_ZERO = 0.4
# As many of the longest bars of all kinds together have their labels measured.
_MEASURED = 48
# As many of the wordiest names have theirs measured.
_NAMES_MEASURED = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The row of one latency, or the reason why there is none.

    Attributes:
        row: index into the rows shown.
        top_px: its upper edge from the top of the chart.
        series: index of its model, and so of its colour.
        value: the latency in the unit shown; None where there is no number.
        low, high: ends of the 80 % interval in the unit, or None.
        predicted: the engine's prediction where the value was measured, in the unit, or None.
        over: whether it is over the budget.
        limit: 1 where the value is a lower limit, -1 for an upper one, else 0.
        label: the text at its end, or the reason.
        badges: the basis of the number, and whether it is out of distribution.
        doubt: the reason for out of distribution, else empty; shown where there is room.
    """

    row: int
    top_px: int
    series: int
    value: float | None
    low: float | None
    high: float | None
    predicted: float | None
    over: bool
    limit: int
    label: str
    badges: tuple[Badge, ...]
    doubt: str


@dataclass(frozen=True, slots=True)
class GroupBox:
    """The room of one target: its words and where it lies.

    ``chip`` is its runtime and precision, ``detail`` its threads and batch.
    """

    name: str
    chip: str
    detail: str
    top_px: int
    height_px: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLayout:
    """Everything that the latency chart paints; bars and groups are made as they come into view.

    Attributes:
        groups: the targets from the top down, over M bars.
        unit: the unit of x.
        values, lows, highs, predicted: in the unit, float64 [M], NaN where there is none.
        over: mask of the bars over the budget, bool [M].
        limits: 1 for a lower limit, -1 for an upper one, else 0, int [M].
        budget: the budget in the unit; None where there is none, or where the rows have several
            batches and the unit is a rate, so that no single line stands for it.
        single_px: height of a row where there is one model.
        gap_px: between the rows of two targets where there are several models.
    """

    groups: TargetGroups
    unit: LatencyUnit
    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    predicted: FloatArray
    over: BoolArray
    limits: npt.NDArray[np.int64]
    budget: float | None
    single_px: int = SINGLE_ROW_PX
    gap_px: int = GROUP_GAP_PX

    def __len__(self) -> int:
        return self.groups.rows.size

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models as shown, by series."""
        return tuple(shown(model) for model in self.groups.columns.models)

    @property
    def row_px(self) -> int:
        """Height of one bar's row."""
        return ROW_PX if self._is_grouped else self.single_px

    @property
    def sizes(self) -> IndexArray:
        """Bars of each target, intp [T]."""
        return np.diff(np.append(self.groups.starts, len(self)))

    @property
    def height_px(self) -> int:
        """Height of the whole chart."""
        return len(self) * self.row_px + len(self.groups) * self._gap_px

    def bar(self, place: int) -> Bar:
        """Return the bar at a place, counted from the top."""
        row = int(self.groups.rows[place])
        # The last group that starts at this place or before.
        group = int(np.searchsorted(self.groups.starts, place, side="right")) - 1
        over, value = bool(self.over[place]), _number_at(self.values, place)
        predicted = _number_at(self.predicted, place)
        comparison = self.groups.columns.rows[row]
        return Bar(
            row=row,
            top_px=place * self.row_px + group * self._gap_px + self._gap_px // 2,
            series=int(self.groups.columns.model[row]),
            value=value,
            low=_number_at(self.lows, place),
            high=_number_at(self.highs, place),
            predicted=predicted,
            over=over,
            limit=int(self.limits[place]),
            label=_label(comparison, value, predicted, self.unit, over=over, rate=self._has_rates),
            badges=badges_of(comparison.prediction),
            doubt=shown(comparison.prediction.out_of_distribution),
        )

    def group(self, index: int) -> GroupBox:
        """Return the room of a target, counted from the top."""
        groups = self.groups
        return GroupBox(
            groups.name(index),
            groups.chip(index),
            groups.detail(index),
            int(groups.starts[index]) * self.row_px + index * self._gap_px,
            groups.members(index).size * self.row_px + self._gap_px,
        )

    def wordiest_groups(self) -> Iterator[GroupBox]:
        """Yield the groups with the most letters in name and configuration, a few of them."""
        letters = self.groups.columns.letters[self.groups.rows[self.groups.starts]]
        return (self.group(index) for index in _largest(letters, _NAMES_MEASURED).tolist())

    def groups_between(self, top_px: float, bottom_px: float) -> Iterator[GroupBox]:
        """Yield the groups that reach into a stretch, from the top down."""
        first = max(int(np.searchsorted(self._group_tops, top_px, side="right")) - 1, 0)
        end = int(np.searchsorted(self._group_tops, bottom_px, side="right"))
        return (self.group(index) for index in range(first, end))

    def bars_between(self, top_px: float, bottom_px: float) -> Iterator[Bar]:
        """Yield the bars whose rows reach into a stretch, from the top down."""
        first, end = self._place_after(top_px), self._place_after(bottom_px)
        # The row that a stretch ends at is in it.
        return (self.bar(place) for place in range(first, min(end + 1, len(self))))

    def _place_after(self, y_px: float) -> int:
        """Return the place of the first bar whose row ends below ``y_px``, M below all of them."""
        group = int(np.searchsorted(self._group_tops, y_px, side="right")) - 1
        if group < 0:
            return 0
        top_px = int(self._group_tops[group]) + self._gap_px // 2
        place = int(self.groups.starts[group]) + max(int((y_px - top_px) // self.row_px), 0)
        ends = np.append(self.groups.starts[1:], len(self))
        return min(place, int(ends[group]))

    def bar_at(self, y_px: float) -> Bar | None:
        """Return the bar whose row holds ``y_px``, None between groups and outside."""
        bars = self.bars_between(y_px, y_px)
        return next((bar for bar in bars if 0 <= y_px - bar.top_px < self.row_px), None)

    def group_at(self, y_px: float) -> GroupBox | None:
        """Return the group whose room holds ``y_px``."""
        groups = self.groups_between(y_px, y_px)
        return next((group for group in groups if 0 <= y_px - group.top_px < group.height_px), None)

    def place_of_row(self, row: int) -> int | None:
        """Return where a row's bar is, counted from the top; None where it is not in the chart."""
        places = np.flatnonzero(self.groups.rows == row)
        return int(places[0]) if places.size else None

    def bar_of_row(self, row: int) -> Bar | None:
        """Return the bar of a row, None where the row is not in the chart."""
        place = self.place_of_row(row)
        return None if place is None else self.bar(place)

    @property
    def _has_rates(self) -> bool:
        """Whether labels show items a second too: calls of several batches are not alike."""
        return self.groups.columns.has_several_batches and self.unit is not LatencyUnit.FPS

    @property
    def _is_grouped(self) -> bool:
        return len(self.groups.columns.models) > 1

    @property
    def _gap_px(self) -> int:
        return self.gap_px if self._is_grouped else 0

    @property
    def _group_tops(self) -> IndexArray:
        return self.groups.starts * self.row_px + np.arange(len(self.groups)) * self._gap_px


def lay_out(groups: TargetGroups, unit: LatencyUnit, budget_ms: float | None) -> ChartLayout:
    """Place one row of fixed height for each prediction, the groups from the top down."""
    columns, rows = groups.columns, groups.rows
    ends = (
        columns.in_unit(columns.low80_ms, unit)[rows],
        columns.in_unit(columns.high80_ms, unit)[rows],
    )
    # A rate turns the ends of an interval round.
    lows, highs = reversed(ends) if unit is LatencyUnit.FPS else ends
    return ChartLayout(
        groups=groups,
        unit=unit,
        values=columns.in_unit(columns.latency_ms, unit)[rows],
        lows=lows,
        highs=highs,
        predicted=columns.in_unit(columns.predicted_ms, unit)[rows],
        over=columns.over(budget_ms)[rows],
        # A rate has at most the value that operators of unknown cost are missing from.
        limits=columns.is_lower_limit[rows] * np.int64(-1 if unit is LatencyUnit.FPS else 1),
        budget=_budget_in_unit(columns, unit, budget_ms),
    )


def _number_at(values: FloatArray, place: int) -> float | None:
    value = float(values[place])
    return None if math.isnan(value) else value


def _label(
    row: PredictionRow,
    value: float | None,
    predicted: float | None,
    unit: LatencyUnit,
    *,
    over: bool,
    rate: bool,
) -> str:
    prediction = row.prediction
    if row.tokens is not None and row.has_number:
        fits = prediction.fits_memory is not False
        return tokens_text(row.tokens, unit) + ("" if fits else " · exceeds memory")
    if value is None:
        return no_number(prediction)
    words = [p50_text(prediction, unit)]
    if rate:
        words.append(p50_text(prediction, LatencyUnit.FPS))
    if over:
        words.append("over")
    if prediction.fits_memory is False:
        words.append("exceeds memory")
    if row.notes:
        words.append(QUANTISED)
    if predicted is not None:
        words.append(f"predicted {number(predicted)} {unit}")
    return " · ".join(words)


def _budget_in_unit(
    columns: ComparisonColumns, unit: LatencyUnit, budget_ms: float | None
) -> float | None:
    if not budget_ms:
        return None
    batches = np.unique(columns.batch) if unit is LatencyUnit.FPS else np.ones(1)
    return in_unit(budget_ms, unit, int(batches[0])) if batches.size == 1 else None


def budget_in_ms(layout: ChartLayout, value: float) -> float | None:
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
        batch = layout.groups.columns.batch[layout.groups.rows[0]] if len(layout) else 1
        latency_ms = batch * 1e3 / value
    return float(f"{latency_ms:.3g}")


def value_range(layout: ChartLayout, *, log: bool) -> tuple[float, float]:
    """Return the ends of the x axis in the unit, near the data, without room for labels.

    Values, intervals and a budget in reach are on the axis; bounds, which may be far below, are
    not. A linear axis starts at zero unless all lies far from it, a logarithmic one at 1, 2 or 5
    times a power of ten and is a decade long at least.
    """
    # fmax and fmin skip NaN; the initial value is left where nothing has a number.
    longest = float(np.fmax.reduce(_reach(layout), initial=-np.inf))
    marks = np.concatenate([layout.values, layout.lows, layout.predicted])
    smallest = float(np.min(marks[marks > 0], initial=np.inf))
    if not (math.isfinite(longest) and math.isfinite(smallest)):
        longest = longest if math.isfinite(longest) and longest > 0 else 1.0
        smallest = longest
    if layout.budget and smallest / BUDGET_REACH <= layout.budget <= BUDGET_REACH * longest:
        smallest, longest = min(smallest, layout.budget), max(longest, layout.budget)
    if log:
        start = _round_below(smallest)
        return start, max(longest, start * 10)
    start = smallest - _MARGIN * (longest - smallest)
    return (start if _FAR_FROM_ZERO * longest < start < longest else 0.0), longest


def _round_below(value: float) -> float:
    """Return 1, 2 or 5 times the power of ten that leaves some room under a value."""
    decade = 10.0 ** math.floor(math.log10(value))
    steps = (decade * 5, decade * 2, decade, decade / 2)
    # A dot that lies on the edge would be cut.
    return next(step for step in steps if step <= value * 0.9)


def place_on_axis(value: float, ends: tuple[float, float], *, log: bool) -> float:
    """Return where a value lies between the ends of an axis: 0 at the first, 1 at the last."""
    low, high = ends
    if not log:
        return (value - low) / (high - low)
    return math.log(value / low) / math.log(high / low) if value > 0 else -math.inf


def _reach(layout: ChartLayout) -> FloatArray:
    """Return the right end of each latency with its marks, float64 [M], NaN without a number."""
    furthest = np.fmax(np.fmax(layout.values, layout.highs), layout.predicted)
    return np.where(np.isnan(layout.values), np.nan, furthest)


def label_rooms(
    layout: ChartLayout, label_px: Callable[[Bar], float], *, log: bool
) -> list[tuple[float, float]]:
    """Return where bars end on the axis, 0 to 1, and the pixels that their labels take.

    Labels are measured for the longest bars of each kind of label only: a shorter bar has the more
    room, and labels of one kind are about as wide.

    Args:
        layout: the bars.
        label_px: measures a bar's label and badges with their gaps.
        log: whether the axis is logarithmic.
    """
    ends, reach = value_range(layout, log=log), _reach(layout)
    return [
        (place_on_axis(float(reach[place]), ends, log=log), label_px(layout.bar(place)))
        for place in _longest_by_kind(layout, reach)
    ]


def bars_share(rooms: Sequence[tuple[float, float]], width_px: float) -> float:
    """Return the part of the width that the axis up to the longest bar may take.

    Args:
        rooms: from ``label_rooms``.
        width_px: the width of the plot.

    Returns:
        The largest part, 0.55 to 1, with which each label fits in after its bar and its interval.
    """
    shares = ((width_px - label) / (part * width_px) for part, label in rooms if part > 0)
    return max(min((1.0, *shares)), _MIN_BARS_SHARE)


def _longest_by_kind(layout: ChartLayout, reach: FloatArray) -> list[int]:
    """Return the places of the longest bars among those with the same words in their labels."""
    columns, rows = layout.groups.columns, layout.groups.rows
    measured = ~np.isnan(columns.predicted_ms[rows])
    # One code for each combination: four flags as bits, the basis above them.
    kinds = layout.over + 2 * columns.is_flagged[rows] + 4 * measured
    kinds = kinds + 8 * (layout.limits != 0) + 16 * columns.basis[rows]
    places: list[int] = []
    present = np.unique(kinds).tolist()
    for kind in present:
        of_kind = np.flatnonzero((kinds == kind) & ~np.isnan(reach))
        places += of_kind[_largest(reach[of_kind], -(-_MEASURED // len(present)))].tolist()
    return places


def _largest(values: FloatArray | IndexArray, count: int) -> IndexArray:
    """Return the places of the ``count`` largest values, in no order; all where fewer."""
    if values.size <= count:
        return np.arange(values.size)
    # A partition takes linear time, and no order is needed.
    return np.argpartition(values, values.size - count)[-count:]


def prefers_log(columns: ComparisonColumns) -> bool:
    """Return whether the slowest prediction is so far off that a linear axis crowds the others."""
    positive_ms = columns.latency_ms[columns.latency_ms > 0]
    return positive_ms.size > 1 and bool(positive_ms.max() > _LINEAR_SPAN * positive_ms.min())


def is_budget_visible(layout: ChartLayout, *, log: bool) -> bool:
    """Return whether the budget's line lies on the axis."""
    if layout.budget is None:
        return False
    low, high = value_range(layout, log=log)
    return low <= layout.budget <= high
