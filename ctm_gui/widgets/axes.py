"""Parts of plots: axes that paint words, items in pixels, hatching, colours.

Bars are painted in pixels, which keeps hatching and ticks crisp at any scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsObject, QStyleOptionGraphicsItem, QWidget

from ctm_gui.widgets.geometry import LABEL_PX, log_ticks
from ctm_gui.widgets.theme import Theme
from predictor.core.units import significant

HATCH_PX = 7.0
_LINE_PX = 44.0  # from one label of a vertical axis to the next, at least
_TINT = 56  # alpha of a bar over the budget under its hatching
SELECTED_ALPHA = 44  # of the stripe behind a selected row
AT_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
AT_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def faded(colour: QColor | str, alpha: int) -> QColor:
    """Return a colour with an alpha of 0 to 255."""
    made = QColor(colour)
    made.setAlpha(alpha)
    return made


def first_ticks(axis: pg.AxisItem, low: float, high: float, size_px: float) -> Sequence[float]:
    """Return the labelled ticks of an axis between two values."""
    levels = axis.tickValues(low, high, size_px)
    return levels[0][1] if levels else ()


def hatch_lines(rect: QRectF, spacing_px: float = HATCH_PX) -> list[tuple[QPointF, QPointF]]:
    """Return rising diagonals that fill ``rect`` and end on its edges.

    They are computed, not clipped: SVG Tiny, which Qt writes, has no clipping.
    """
    lines = []
    x, bottom, height = rect.left() - rect.height(), rect.bottom(), rect.height()
    # Start on a fixed raster, so that neighbouring bars have one pattern.
    x -= x % spacing_px
    while x < rect.right():
        start, end = max(x, rect.left()), min(x + height, rect.right())
        if start < end:
            lines.append((QPointF(start, bottom - (start - x)), QPointF(end, bottom - (end - x))))
        x += spacing_px
    return lines


def paint_bar(painter: QPainter, rect: QRectF, colour: QColor, *, over: bool) -> None:
    """Paint a bar: solid, or pale with an outline and hatching where it is over the budget."""
    if not over:
        painter.fillRect(rect, colour)
        return
    painter.fillRect(rect, faded(colour, _TINT))
    painter.setPen(QPen(colour, 1.4))
    painter.drawLines([QLineF(start, end) for start, end in hatch_lines(rect)])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)


class PixelItem(QGraphicsObject):
    """Paints inside a view box in the box's own pixels, clipped to it.

    Args:
        box: the view box; the item follows its size and range.
        paint_in: called with the painter and the box's rectangle.
    """

    def __init__(self, box: pg.ViewBox, paint_in: Callable[[QPainter, QRectF], None]) -> None:
        super().__init__(box)
        self._box = box
        self._paint_in = paint_in
        self.setZValue(1)  # over lines of the plot, which would cross out what is written here
        box.sigRangeChanged.connect(self.refresh)
        box.sigResized.connect(self.refresh)

    def refresh(self, *_: object) -> None:
        """Paint again at the box's present size."""
        self.prepareGeometryChange()
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the box's rectangle."""
        return QRectF(self._box.rect())

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 (Qt's signature)
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        """Paint by the callback."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_in(painter, self.boundingRect())


class PaintedAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis that paints words of its own in place of ticks."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 (Qt's signature)
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        """Paint into the axis's rectangle."""
        self.paint_in(painter, QRectF(self.mapRectFromParent(self.geometry())))

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint into ``rect``."""
        raise NotImplementedError


class RowLabels(PaintedAxis):
    """Names of rows on the left, set to the right; those without room are cut.

    Args:
        width_px: of the axis.
        row_px: height of a row.
        font_of: has the font.
        names: returns the name of each row and its colour.
        elide: where a name is cut.
        gap_px: between names and plot.
    """

    def __init__(
        self,
        width_px: int,
        row_px: int,
        font_of: QWidget,
        names: Callable[[], Iterable[tuple[str, str]]],
        elide: Qt.TextElideMode,
        gap_px: int,
    ) -> None:
        super().__init__("left")
        self.setWidth(width_px)
        self._row_px, self._gap_px, self._elide = row_px, gap_px, elide
        self._font_of, self._names = font_of, names

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the names of the rows that are in view."""
        font = self._font_of.font()
        top, metrics = self.linkedView().viewRange()[1][0], QFontMetricsF(font)
        painter.setFont(font)
        painter.setClipRect(rect)
        for row, (name, colour) in enumerate(self._names()):
            y = rect.top() + row * self._row_px - top
            room = QRectF(0, y, rect.width() - self._gap_px, self._row_px)
            painter.setPen(QColor(colour))
            painter.drawText(room, AT_RIGHT, metrics.elidedText(name, self._elide, room.width()))


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """The axis of latencies, with plain numbers on a logarithmic scale too.

    ``end`` is the last place of logarithmic ticks; the rest of the axis is room for labels.
    ``label_px`` is from one label of logarithmic ticks to the next, at least.

    Args:
        side: of the plot.
        write: writes the values of logarithmic ticks.
    """

    def __init__(
        self, side: str, write: Callable[[float], str] = lambda value: significant(value, 2)
    ) -> None:
        super().__init__(side)
        self._write = write
        # Its own factor, such as (x1e+15), would stand beside a label that says the unit. Only
        # here, without a label: pyqtgraph scales the ticks of a labelled axis in this call.
        self.enableAutoSIPrefix(False)
        self.end = math.inf
        self.label_px = LABEL_PX if side in {"bottom", "top"} else _LINE_PX

    def tickValues(
        self, low: float, high: float, size: float
    ) -> list[tuple[float | None, list[float]]]:
        """Return levels of ticks as pyqtgraph asks for them; None marks those without a label."""
        if not self.logMode:
            return list(super().tickValues(low, high, size))
        end = min(high, self.end)
        labelled, bare = log_ticks(low, end, size * (end - low) / (high - low), self.label_px)
        return [(1.0, labelled), (None, bare)]

    def logTickStrings(
        self,
        values: Sequence[float],
        scale: float,  # noqa: ARG002
        spacing: float | None,
    ) -> list[str]:
        """Write ticks as numbers, without an exponent."""
        return ["" if spacing is None else self._write(10.0**value) for value in values]


class _HasAxes(Protocol):
    def getAxis(self, side: str, /) -> pg.AxisItem: ...


def colour_axes(plot: _HasAxes, theme: Theme) -> None:
    """Give the axes at the left and below the colours of ``theme``."""
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(theme.grid))
        axis.setTextPen(pg.mkPen(theme.muted))


def show_axes(plot: _HasAxes, *, has_data: bool) -> None:
    """Show the axes; without data they would count from 0 to 1, which is nothing."""
    for side in ("left", "bottom"):
        plot.getAxis(side).setVisible(has_data)
