"""The latency chart: dots of all targets, selection, the budget line, keys and hovering."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import is_
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QWidget

from ctm_gui.compare.chart import (
    GROUP_GAP_PX,
    ROW_PX,
    SINGLE_ROW_PX,
    ChartLayout,
    GroupBox,
    bars_share,
    budget_in_ms,
    is_budget_visible,
    label_rooms,
    lay_out,
    value_range,
)
from ctm_gui.compare.chart_items import (
    DOT_PX,
    LABEL_GAP_PX,
    PADDING_PX,
    BarPainter,
    ChartState,
    LabelRuler,
    NameAxis,
    chip_width,
    colour_of,
    paint_diamond,
    paint_dot,
    paint_interval,
    paint_limit,
    two_lines_px,
)
from ctm_gui.compare.words import details
from ctm_gui.prediction.columns import ComparisonColumns, target_groups
from ctm_gui.widgets.axes import PaintedAxis, PixelItem, ValueAxis
from ctm_gui.widgets.basic import vbox
from ctm_gui.widgets.elision import elided_distinct
from ctm_gui.widgets.geometry import shared_widths
from ctm_gui.widgets.plots import RowPlot
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.units import LatencyUnit
from predictor.presentation.columns import axis_title
from predictor.presentation.wording import model_name, number

_LEGEND_PX = 26
_LEGEND_ROW_PX = 18
_MAX_ROWS = 4
_WIDEST_ROW = 1.1  # names of one length share their rows unevenly
_BUDGET_TEXT_PX = 16
_SWATCH_PX = 16
_ENTRY_GAP_PX = 16
_NAMES_GAP_PX = 6  # between names in two lines


Entry = tuple[str, Callable[[QRectF], None]]


class LegendAxis(PaintedAxis):
    """A legend above the plot, part of the scene so that a saved plot has it too."""

    def __init__(self, state: ChartState) -> None:
        super().__init__("top")
        self._state = state
        self.fit()

    def fit(self) -> None:
        """Take the height of the entries, and of the budget's line of text where there is one."""
        budget = 0 if self._state.budget_x is None else _BUDGET_TEXT_PX
        self.setHeight(self._entries_px + budget)

    @property
    def _entries_px(self) -> int:
        """Height of the rows of entries: names of many models need several."""
        names = [(name, None) for name in self._names]
        width = max(self.boundingRect().width(), 1.0)
        rows = math.ceil(_WIDEST_ROW * self._natural_px(names) / width)
        return _LEGEND_PX + _LEGEND_ROW_PX * (min(max(rows, 1), _MAX_ROWS) - 1)

    @property
    def _names(self) -> list[str]:
        """The names of several models; one needs none."""
        models = self._state.layout.models
        return list(map(model_name, models)) if len(models) > 1 else []

    def boundingRect(self) -> QRectF:
        """Return the axis's rectangle with the room over the names, which the entries use too."""
        # Qt clips and repaints items by this rectangle: an entry outside would leave traces.
        rect = QRectF(self.mapRectFromParent(self.geometry()))
        return rect.adjusted(-self._state.names_px, 0, 0, 0)

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint one entry for each model and for each mark that the chart holds."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._state.font)
        room = self.boundingRect().adjusted(PADDING_PX, 0, 0, 0)
        room.setHeight(_LEGEND_PX)
        height = self._entries_px
        rows = (height - _LEGEND_PX) // _LEGEND_ROW_PX + 1
        swatches: list[Entry] = [
            (name, partial(self._swatch, painter, series))
            for series, name in enumerate(self._names)
        ]
        in_row = math.ceil(len(swatches) / rows)
        for row in range(rows):
            part = swatches[row * in_row : (row + 1) * in_row]
            marks = self._marks(painter) if row == rows - 1 else []
            self._entries(painter, room.translated(0, row * _LEGEND_ROW_PX), part, marks)
        if self._state.budget_x is not None:
            self._budget(painter, rect.adjusted(0, height, 0, 0), self._state.budget_x)

    def _entries(
        self, painter: QPainter, room: QRectF, swatches: list[Entry], marks: list[Entry]
    ) -> None:
        """Paint a row of models and marks."""
        metrics, names = QFontMetricsF(self._state.font), [name for name, _ in swatches]
        entries = [*swatches, *marks]
        # Where not all have room the names go before the marks, of which the hover tells too.
        while len(entries) > len(names) > 0 and self._natural_px(entries) > room.width():
            entries.pop()
        natural = [metrics.horizontalAdvance(text) + 2 for text, _draw in entries]
        # Names of models give way, the words for the marks do not.
        fixed_px = (_SWATCH_PX + 6 + _ENTRY_GAP_PX) * len(entries) + sum(natural[len(names) :])
        widths = shared_widths(natural[: len(names)], room.width() - fixed_px, 32.0)
        texts = elided_distinct(metrics, names, widths) + [
            text for text, _ in entries[len(names) :]
        ]
        widths += natural[len(names) :]
        x = room.left()
        for (_, draw), text, width in zip(entries, texts, widths, strict=True):
            draw(QRectF(x, room.center().y() - 5, _SWATCH_PX, 10))
            x += _SWATCH_PX + 6
            painter.setPen(QColor(self._state.theme.muted))
            painter.drawText(
                QRectF(x, room.top(), width, room.height()), Qt.AlignmentFlag.AlignVCenter, text
            )
            x += width + _ENTRY_GAP_PX

    def _natural_px(self, entries: Sequence[tuple[str, object]]) -> float:
        metrics = QFontMetricsF(self._state.font)
        words = sum(metrics.horizontalAdvance(text) + 2 for text, _ in entries)
        return words + (_SWATCH_PX + 6 + _ENTRY_GAP_PX) * len(entries)

    def _budget(self, painter: QPainter, room: QRectF, budget_x: float) -> None:
        """Write the budget over its line, inside the plot."""
        left, right = self.linkedView().viewRange()[0]
        width = QFontMetricsF(self._state.font).horizontalAdvance(self._state.budget_text) + 2
        x = room.left() + (budget_x - left) / (right - left) * room.width() - width / 2
        x = min(max(x, room.left()), room.right() - width)
        painter.setPen(QColor(self._state.theme.bad))
        painter.drawText(
            QRectF(x, room.top(), width, room.height()),
            Qt.AlignmentFlag.AlignCenter,
            self._state.budget_text,
        )

    def _swatch(self, painter: QPainter, series: int, swatch: QRectF) -> None:
        theme = self._state.theme
        colour = colour_of(theme, series)
        paint_dot(painter, swatch.center(), DOT_PX, colour, theme, over=False)

    def _marks(self, painter: QPainter) -> list[tuple[str, Callable[[QRectF], None]]]:
        layout, theme = self._state.layout, self._state.theme

        def over(swatch: QRectF) -> None:
            paint_dot(painter, swatch.center(), DOT_PX, QColor(theme.muted), theme, over=True)

        def interval(swatch: QRectF) -> None:
            y = swatch.center().y()
            ends = QPointF(swatch.left(), y), QPointF(swatch.right(), y)
            paint_interval(painter, *ends, QColor(theme.muted))

        def predicted(swatch: QRectF) -> None:
            paint_diamond(painter, swatch.center(), DOT_PX, theme)

        def limit(swatch: QRectF) -> None:
            side = int(layout.limits.max()) or -1
            edge = swatch.left() if side > 0 else swatch.right()
            place = QPointF(edge, swatch.center().y())
            paint_limit(painter, place, side, QColor(theme.muted), swatch.width())

        marks: list[tuple[str, Callable[[QRectF], None]]] = []
        if layout.over.any():
            marks.append(("over budget", over))
        if not np.isnan(layout.lows).all():
            marks.append(("80 % interval", interval))
        if not np.isnan(layout.predicted).all():
            marks.append(("predicted, where measured", predicted))
        if layout.limits.any():
            word = "lower limit" if layout.limits.max() > 0 else "upper limit"
            marks.append((word, limit))
        return marks


_NARROWEST_NAMES_PX = 160
# Parts of the chart's width that names take at most, those beside their configuration more.
_NAMES_SHARE, _ONE_LINE_SHARE = 0.43, 0.5
_EXPORT_WIDTH_PX = 1100


class LatencyChart(QWidget):
    """Latencies as dots with intervals, one row of fixed height a prediction.

    Attributes:
        state: what the parts of the chart draw.

    Args:
        options: the theme.
    """

    row_selected = Signal(int)
    row_activated = Signal(int)
    budget_dragged = Signal(object)
    budget_dropped = Signal(object)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        empty = lay_out(target_groups(ComparisonColumns(())), LatencyUnit.MS, None)
        self.state = ChartState(layout=empty, options=options, font=self.font())
        self._budget_ms: float | None = None
        self._rooms: list[tuple[float, float]] = []
        self._rooms_of: tuple[object, ...] = (None, None, None)
        self._names = NameAxis(self.state)
        self._legend = LegendAxis(self.state)
        self._value_axis = ValueAxis("bottom")
        axes = {"left": self._names, "top": self._legend, "bottom": self._value_axis}
        self.rows_plot = RowPlot(options, axes, self)
        self.rows_plot.tooltip_at = self._tooltip
        self._bars = PixelItem(
            self.rows_plot.box, BarPainter(self.state, self.rows_plot.box, self._value_axis)
        )
        self.budget_line = self._make_budget_line()
        vbox(self.rows_plot, of=self, margins=0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Latency chart")
        self.rows_plot.clicked.connect(lambda _x, y: self._pick(y, self.row_selected))
        self.rows_plot.double_clicked.connect(lambda _x, y: self._pick(y, self.row_activated))
        self.rows_plot.box.sigResized.connect(self._set_range)
        follow_theme(self, options, self._colour_budget_line)

    def show_layout(self, layout: ChartLayout, budget_ms: float | None) -> None:
        """Show the bars of ``layout``, and the budget that it was made with."""
        self.state.layout, self._budget_ms = layout, budget_ms
        self.state.ruler = LabelRuler(self.state.font)
        has_tokens = bool(layout.groups.columns.is_tokens.any())
        self._value_axis.setLabel(axis_title(layout.unit, has_tokens=has_tokens))
        self.setAccessibleDescription(f"{len(layout)} latencies; the table below says the same.")
        self._fit_names()
        self._set_range()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_names()

    def set_log(self, log: bool) -> None:
        """Use a logarithmic axis, or a linear one."""
        self.state.log = log
        self._value_axis.setLogMode(x=log)
        self._set_range()

    def select_rows(self, rows: Iterable[int], current: int | None) -> None:
        """Mark the rows as selected and bring the current one into view."""
        self.state.selected = frozenset(int(row) for row in rows)
        self.state.current = current
        bar = None if current is None else self.state.layout.bar_of_row(current)
        if bar is not None:
            self.rows_plot.reveal(bar.top_px, self.state.layout.row_px)
        self._repaint()

    def save(self, path: Path) -> None:
        """Save the whole chart, every row of it, as SVG or PNG.

        Raises:
            HostError: the file cannot be written.
        """
        # A copy with room for every row: the visible one keeps its size and its place.
        copy = LatencyChart(self._options)
        copy.setFont(self.font())
        copy.resize(max(self.width(), _EXPORT_WIDTH_PX), 400)
        copy.set_log(self.state.log)
        copy.show_layout(self.state.layout, self._budget_ms)
        height_px = self.state.layout.height_px
        copy.rows_plot.save_rows(copy, height_px, path, "Predicted latency")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up, Down, Home, End and the page keys move the current bar; Enter activates it."""
        key = event.key()
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.state.current is not None:
            self.row_activated.emit(self.state.current)
            return
        layout, current = self.state.layout, self.state.current
        place = None if current is None else layout.place_of_row(current)
        here = -1 if place is None else place
        step = self.rows_plot.row_step(key, layout.row_px, len(layout))
        if step is None or not len(layout):
            super().keyPressEvent(event)
            return
        self.row_selected.emit(int(layout.groups.rows[min(max(here + step, 0), len(layout) - 1)]))

    def _make_budget_line(self) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=90, movable=True)
        line.setCursor(Qt.CursorShape.SizeHorCursor)
        line.setVisible(False)
        line.sigDragged.connect(lambda _: self.budget_dragged.emit(self._line_budget_ms()))
        line.sigPositionChangeFinished.connect(
            lambda _: self.budget_dropped.emit(self._line_budget_ms())
        )
        self.rows_plot.box.addItem(line, ignoreBounds=True)
        return line

    def _colour_budget_line(self) -> None:
        colour = self._options.theme.bad
        self.budget_line.setPen(pg.mkPen(colour, width=2, style=Qt.PenStyle.DashLine))
        self.budget_line.setHoverPen(pg.mkPen(colour, width=4))

    def _line_budget_ms(self) -> float | None:
        position = float(self.budget_line.value())
        value = 10.0**position if self.state.log else position
        return budget_in_ms(self.state.layout, value)

    def _set_range(self, *_: object) -> None:
        layout, log = self.state.layout, self.state.log
        low, high = value_range(layout, log=log)
        start, end = (math.log10(low), math.log10(high)) if log else (low, high)
        width = max(self.rows_plot.box.rect().width(), 1.0)
        share = bars_share(self._label_rooms(), width)
        # Before the range, whose change makes pyqtgraph ask for the ticks again.
        self._value_axis.end = end
        self.rows_plot.box.setXRange(start, start + (end - start) / share, padding=0)
        self._place_budget_line()
        self._repaint()

    def _label_rooms(self) -> list[tuple[float, float]]:
        """Return the rooms of the labels; a chart that changes its size alone has the same."""
        layout, log, ruler = self.state.layout, self.state.log, self.state.ruler
        key = (layout.values, log, ruler)
        if not all(map(is_, key, self._rooms_of)):
            self._rooms_of = key
            self._rooms = label_rooms(
                layout, lambda bar: ruler.width(bar) + 2 * LABEL_GAP_PX, log=log
            )
        return self._rooms

    def _place_budget_line(self) -> None:
        layout, log = self.state.layout, self.state.log
        is_visible = layout.budget is not None and is_budget_visible(layout, log=log)
        self.budget_line.setVisible(is_visible)
        # While the mouse moves the line, a comparison of an earlier place must not move it back.
        if is_visible and layout.budget is not None and not self.budget_line.moving:
            self.budget_line.setValue(math.log10(layout.budget) if log else layout.budget)
        had_text = self.state.budget_x is not None
        self.state.budget_x = float(self.budget_line.value()) if is_visible else None
        if self._budget_ms is not None:
            self.state.budget_text = f"budget {number(self._budget_ms)} ms"
        if had_text != is_visible:
            self._legend.fit()

    def _fit_names(self) -> None:
        """Give the names the width that they need; in a narrow chart they stand in two lines."""
        layout, metrics = self.state.layout, QFontMetricsF(self.state.font)
        gap, sizes = metrics.horizontalAdvance("mm"), layout.sizes
        words = [self._name_widths(group, metrics) for group in layout.wordiest_groups()]
        one_line_px = max((name + gap + runs for name, runs in words), default=0.0) + gap
        two_lines = max((max(widths) for widths in words), default=0.0) + gap
        is_one_line = sizes.max(initial=1) == 1 and one_line_px <= _ONE_LINE_SHARE * self.width()
        widest = one_line_px if is_one_line else min(two_lines, _NAMES_SHARE * self.width())
        self.state.names_px = max(widest, _NARROWEST_NAMES_PX)
        self._names.setWidth(self.state.names_px)
        row_px = SINGLE_ROW_PX if is_one_line else round(two_lines_px(metrics)) + _NAMES_GAP_PX
        # The rows of a target are as high as its name and configuration.
        fewest = int(sizes.min()) if sizes.size else 1
        gap_px = max(GROUP_GAP_PX, row_px - fewest * ROW_PX)
        self.state.layout = replace(layout, single_px=row_px, gap_px=gap_px)
        self.rows_plot.set_content_height(self.state.layout.height_px)
        self._legend.fit()

    @staticmethod
    def _name_widths(group: GroupBox, metrics: QFontMetricsF) -> tuple[float, float]:
        """Return the widths of a target's name and of its configuration."""
        gap = metrics.horizontalAdvance("mm")
        detail = metrics.horizontalAdvance(group.detail) + gap if group.detail else 0.0
        return metrics.horizontalAdvance(group.name), chip_width(group, metrics) + detail

    def _repaint(self) -> None:
        self._bars.refresh()
        self._names.update()
        self._legend.update()

    def _pick(self, y: float, signal: SignalInstance) -> None:
        bar = self.state.layout.bar_at(y)
        if bar is not None:
            signal.emit(bar.row)

    def _tooltip(self, point: QPointF, on_axis: bool) -> str:
        if on_axis:
            group = self.state.layout.group_at(point.y())
            if group is None:
                return ""
            return "\n".join(filter(None, (group.name, group.chip, group.detail)))
        bar = self.state.layout.bar_at(point.y())
        if bar is None:
            return ""
        return details(
            self.state.layout.groups.columns.rows[bar.row],
            self.state.layout.unit,
            self._budget_ms,
        )
