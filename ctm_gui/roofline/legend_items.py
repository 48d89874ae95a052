"""The legend over the roofline: the targets beside the colours of their roofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from ctm_gui.widgets.axes import PaintedAxis
from ctm_gui.widgets.view_options import ViewOptions

_SAMPLE_PX, _GAP_PX, _ENTRY_GAP_PX = 18.0, 6.0, 16.0


class TargetNames(PaintedAxis):
    """Names of the targets in rows above the plot, where they hide neither roofs nor points.

    Args:
        options: the theme.
        colour_of: returns the colour of a target's roofs, by its number.
    """

    def __init__(self, options: ViewOptions, colour_of: Callable[[int], QColor]) -> None:
        super().__init__("top")
        self._options, self._colour_of = options, colour_of
        self._names: Sequence[str] = ()
        self.setHeight(0)

    def show_names(self, names: Sequence[str], width_px: float) -> None:
        """Show the targets' names, none where one is alone, in rows of a width."""
        self._names = names if len(names) > 1 else ()
        rows = {y for y, *_ in self._places(width_px)}
        self.setHeight(len(rows) * self._metrics.height() + (_GAP_PX if rows else 0.0))
        self.update()

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the entries of the legend."""
        theme, metrics = self._options.theme, self._metrics
        for target, (y, x, name) in enumerate(self._places(rect.width())):
            corner = rect.topLeft() + QPointF(x, y)
            middle = corner.y() + metrics.height() / 2
            painter.setPen(QPen(self._colour_of(target), 2.0))
            painter.drawLine(QLineF(corner.x(), middle, corner.x() + _SAMPLE_PX, middle))
            painter.setPen(QColor(theme.text if target == 0 else theme.muted))
            place = corner + QPointF(_SAMPLE_PX + _GAP_PX, metrics.ascent())
            painter.drawText(place, name)

    @property
    def _metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self.font())

    def _places(self, width_px: float) -> list[tuple[float, float, str]]:
        """Return y, x and text of each entry, in as many rows as the width needs."""
        metrics, x, y = self._metrics, 0.0, 0.0
        places = []
        for target in self._names:
            room = width_px - _SAMPLE_PX - _GAP_PX
            name = metrics.elidedText(target, Qt.TextElideMode.ElideMiddle, max(room, 0.0))
            entry_px = _SAMPLE_PX + _GAP_PX + metrics.horizontalAdvance(name)
            if x and x + entry_px > width_px:
                x, y = 0.0, y + metrics.height()
            places.append((y, x, name))
            x += entry_px + _ENTRY_GAP_PX
        return places
