"""The legend of the latency chart, and the budget over its line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from ctm_gui.geometry import shared_widths
from ctm_gui.views.axes import PaintedAxis
from ctm_gui.views.latency_items import (
    PADDING_PX,
    ChartState,
    colour_of,
    paint_bar,
    paint_diamond,
    paint_haloed,
)

_LEGEND_PX = 26
_BUDGET_TEXT_PX = 16
_SWATCH_PX = 16
_ENTRY_GAP_PX = 16


class LegendAxis(PaintedAxis):
    """A legend above the plot, part of the scene so that a saved plot has it too."""

    def __init__(self, state: ChartState) -> None:
        super().__init__("top")
        self._state = state
        self.fit()

    def fit(self) -> None:
        """Take the height of the entries, and of the budget's line of text where there is one."""
        budget = 0 if self._state.budget_x is None else _BUDGET_TEXT_PX
        self.setHeight(_LEGEND_PX + budget)

    def boundingRect(self) -> QRectF:
        """Return the axis's rectangle with the room over the names, which the entries use too."""
        rect = QRectF(self.mapRectFromParent(self.geometry()))
        return rect.adjusted(-self._state.names_px, 0, 0, 0)

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint one entry for each model and for each mark that the chart holds."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._state.font)
        room = self.boundingRect().adjusted(PADDING_PX, 0, 0, 0)
        room.setHeight(_LEGEND_PX)
        self._entries(painter, room)
        if self._state.budget_x is not None:
            self._budget(painter, rect.adjusted(0, _LEGEND_PX, 0, 0), self._state.budget_x)

    def _entries(self, painter: QPainter, room: QRectF) -> None:
        layout, metrics = self._state.layout, QFontMetricsF(self._state.font)
        names = layout.models if len(layout.models) > 1 else ()
        entries: list[tuple[str, Callable[[QRectF], None]]] = [
            (name, partial(self._swatch, painter, series)) for series, name in enumerate(names)
        ]
        entries += self._marks(painter)
        natural = [metrics.horizontalAdvance(text) + 2 for text, _draw in entries]
        # Names of models give way, the words for the marks do not.
        fixed_px = (_SWATCH_PX + 6 + _ENTRY_GAP_PX) * len(entries) + sum(natural[len(names) :])
        widths = shared_widths(natural[: len(names)], room.width() - fixed_px, 32.0)
        widths += natural[len(names) :]
        x = room.left()
        for (text, draw), width in zip(entries, widths, strict=True):
            draw(QRectF(x, room.center().y() - 5, _SWATCH_PX, 10))
            x += _SWATCH_PX + 6
            painter.setPen(QColor(self._state.theme.muted))
            painter.drawText(
                QRectF(x, room.top(), width, room.height()),
                Qt.AlignmentFlag.AlignVCenter,
                metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width),
            )
            x += width + _ENTRY_GAP_PX

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
        paint_bar(painter, swatch, colour_of(self._state.theme, series), over=False)

    def _marks(self, painter: QPainter) -> list[tuple[str, Callable[[QRectF], None]]]:
        layout, theme = self._state.layout, self._state.theme

        def over(swatch: QRectF) -> None:
            paint_bar(painter, swatch, QColor(theme.muted), over=True)

        def bound(swatch: QRectF) -> None:
            x = swatch.center().x()
            paint_haloed(painter, [QLineF(x, swatch.top(), x, swatch.bottom())], theme, 2.0)

        def interval(swatch: QRectF) -> None:
            y = swatch.center().y()
            lines = [QLineF(swatch.left(), y, swatch.right(), y)]
            lines += [QLineF(x, y - 4, x, y + 4) for x in (swatch.left(), swatch.right())]
            paint_haloed(painter, lines, theme, 1.3)

        def predicted(swatch: QRectF) -> None:
            paint_diamond(painter, swatch.center(), 5.0, theme)

        marks: list[tuple[str, Callable[[QRectF], None]]] = []
        if layout.over.any():
            marks.append(("over budget", over))
        if not np.isnan(layout.bounds).all():
            marks.append(("bound", bound))
        if not np.isnan(layout.lows).all():
            marks.append(("80 % interval", interval))
        if not np.isnan(layout.predicted).all():
            marks.append(("predicted, where measured", predicted))
        return marks
