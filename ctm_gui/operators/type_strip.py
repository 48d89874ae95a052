"""A strip of bars: time of each operator type, by bound type."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from ctm_gui.operators.rows import TypeTime, operator_unit, type_details
from ctm_gui.widgets.axes import (
    AT_LEFT,
    SELECTED_ALPHA,
    PaintedAxis,
    PixelItem,
    RowLabels,
    faded,
    paint_bar,
)
from ctm_gui.widgets.basic import vbox
from ctm_gui.widgets.plots import RowPlot
from ctm_gui.widgets.theme import Theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import latency_text, percent
from predictor.services.prediction.explain import BOUND_TYPES

_ROW_PX = 19
_LEGEND_PX = 24
_NAMES_PX = 150
_LABEL_ROOM = 1.25
_NARROW_PX = 480  # under it the names take less room, and the texts more
_NARROW_NAMES_PX, _TEXT_PX = 92, 122


def paint_bound(painter: QPainter, rect: QRectF, theme: Theme, bound: int) -> None:
    """Paint time bound by compute solid, by memory hatched, by launch hollow."""
    colour = QColor(theme.series[bound % len(theme.series)])
    if bound < 2:
        paint_bar(painter, rect, colour, over=bound == 1)
        return
    painter.setPen(QPen(colour, 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect.adjusted(0.7, 0.7, -0.7, -0.7))


class _Legend(PaintedAxis):
    """The meaning of the patterns."""

    def __init__(self, strip: TypeStrip) -> None:
        super().__init__("top")
        self._strip = strip
        self.setHeight(_LEGEND_PX)

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint one entry a bound type."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._strip.font())
        metrics = QFontMetricsF(self._strip.font())
        x = rect.left()
        for bound, word in enumerate(BOUND_TYPES):
            text = word if self._strip.is_narrow else f"bound by {word}"
            swatch = QRectF(x, rect.center().y() - 5, 16, 10)
            paint_bound(painter, swatch, self._strip.theme, bound)
            painter.setPen(QColor(self._strip.theme.muted))
            width = metrics.horizontalAdvance(text) + 2
            room = QRectF(x + 22, rect.top(), width, rect.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
            x += 22 + width + 16


class TypeStrip(QWidget):
    """Time by operator type; a click on a type chooses it, a second one all types again.

    Signals:
        chosen: the index of the type that the user chose, or None for all.

    Args:
        options: unit and theme.
    """

    chosen = Signal(object)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self.times: Sequence[TypeTime] = ()
        self._current: int | None = None
        middle = Qt.TextElideMode.ElideMiddle
        self._row_names = names = RowLabels(_NAMES_PX, _ROW_PX, self, self._names, middle, gap_px=8)
        self.plot = RowPlot(options, {"left": names, "top": _Legend(self)}, self)
        self.plot.tooltip_at = self._tooltip
        self.plot.clicked.connect(lambda _x, y: self._toggle(int(y // _ROW_PX)))
        self._bars = PixelItem(self.plot.box, self._paint)
        vbox(self.plot, of=self, margins=0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Time by operator type")
        self.setToolTip("")

    @property
    def theme(self) -> Theme:
        """Colours of the bars."""
        return self._options.theme

    def show_times(self, times: Sequence[TypeTime]) -> None:
        """Show the types' times."""
        self.times = times
        self.setFixedHeight(_LEGEND_PX + 12 + _ROW_PX * max(len(times), 1))
        self.setAccessibleDescription(
            "; ".join(f"{time.label} {percent(time.share)}" for time in times)
        )
        self.plot.set_content_height(_ROW_PX * len(times))
        self._fit()

    @property
    def is_narrow(self) -> bool:
        """Whether it stands in a panel."""
        return bool(self.width() < _NARROW_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Let the longest bar leave room for its text."""
        longest = max((time.latency_ms for time in self.times), default=0.0) or 1.0
        room = _LABEL_ROOM
        if self.is_narrow:
            bars_px = max(self.width() - _NARROW_NAMES_PX - 12, _TEXT_PX + 20)
            room = bars_px / (bars_px - _TEXT_PX)
        self._row_names.setWidth(_NARROW_NAMES_PX if self.is_narrow else _NAMES_PX)
        self.plot.box.setXRange(0.0, longest * room, padding=0)
        self._repaint()

    def set_current(self, index: int | None) -> None:
        """Mark the chosen type."""
        self._current = index
        self._repaint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down choose a type, Escape all types."""
        here = -1 if self._current is None else self._current
        if event.key() == Qt.Key.Key_Escape and self._current is not None:
            self.chosen.emit(None)
        elif event.key() == Qt.Key.Key_Down and here + 1 < len(self.times):
            self.chosen.emit(here + 1)
        elif event.key() == Qt.Key.Key_Up and here > 0:
            self.chosen.emit(here - 1)
        else:
            super().keyPressEvent(event)

    def _names(self) -> list[tuple[str, str]]:
        return [(time.label, self.theme.text) for time in self.times]

    def _toggle(self, index: int) -> None:
        if 0 <= index < len(self.times):
            self.chosen.emit(None if index == self._current else index)

    def _repaint(self) -> None:
        self._bars.refresh()
        for side in ("left", "top"):
            self.plot.canvas.getAxis(side).update()

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        (left, right), (top, _bottom) = self.plot.box.viewRange()
        scale = rect.width() / (right - left)
        painter.setFont(self.font())
        for row, time in enumerate(self.times):
            room = QRectF(0, row * _ROW_PX - top, rect.width(), _ROW_PX)
            if row == self._current:
                painter.fillRect(room, faded(self.theme.accent, SELECTED_ALPHA))
            self._paint_time(painter, time, room, scale)

    def _paint_time(self, painter: QPainter, time: TypeTime, room: QRectF, scale: float) -> None:
        x = 0.0
        for bound, part_ms in enumerate(time.by_bound_ms):
            width = part_ms * scale
            if width > 0:
                # A pixel at least, so that a short part is not taken for none.
                bar = QRectF(x, room.top() + 3, max(width, 1.0), room.height() - 6)
                paint_bound(painter, bar, self.theme, bound)
            x += width
        painter.setPen(QColor(self.theme.text))
        unit = operator_unit(self._options.unit)
        words = f"{latency_text(time.latency_ms, unit)} · {percent(time.share)}"
        painter.drawText(room.adjusted(x + 8, 0, 0, 0), AT_LEFT, words)

    def _tooltip(self, point: QPointF, _on_axis: bool) -> str:
        row, unit = int(point.y() // _ROW_PX), self._options.unit
        return type_details(self.times[row], unit) if 0 <= row < len(self.times) else ""
