"""Pages painted: the same marks on paper, in a file and on the screen."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QIODevice, QLineF, QMarginsF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPageSize, QPainter, QPdfWriter, QPen

from ctm_gui.report.marks import (
    UNITS_PER_INCH,
    Box,
    Line,
    Page,
    Pages,
    PageSize,
    Style,
    Text,
    font_of,
)
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress

QT_SIZES = {
    PageSize.A4: QPageSize.PageSizeId.A4,
    PageSize.LETTER: QPageSize.PageSizeId.Letter,
}
_PROGRAM = "CloserToMe"


def paint_page(painter: QPainter, page: Page) -> None:
    """Paint a page; the painter's unit must be that of the marks."""
    fonts: dict[Style, QFont] = {}
    for mark in page.marks:
        if isinstance(mark, Text):
            if mark.style not in fonts:
                fonts[mark.style] = font_of(mark.style)
            painter.setFont(fonts[mark.style])
            _text(painter, mark)
        elif isinstance(mark, Box):
            _box(painter, mark)
        else:
            _line(painter, mark)


def pdf_of(
    pages: Pages, cancel: CancelToken | None = None, progress: ProgressCallback = no_progress
) -> bytes:
    """Return pages as a PDF file with the fonts that it uses.

    Args:
        pages: at least one.
        cancel: asks to stop.
        progress: called with each page.

    Raises:
        CancelledError: a stop was requested.
    """
    token = cancel or CancelToken()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(pages.title)
    writer.setCreator(_PROGRAM)
    # Before the painter begins: then one of its units is one unit of the marks.
    writer.setResolution(UNITS_PER_INCH)
    writer.setPageSize(QPageSize(QT_SIZES[pages.size]))
    # The layout has margins of its own; the default ones would shift and cut the marks.
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = QPainter(writer)
    try:
        for place, page in enumerate(pages.pages):
            token.check()
            progress(Progress(place, len(pages.pages), "Writing pages"))
            if place:
                writer.newPage()
            paint_page(painter, page)
    finally:
        painter.end()
    return bytes(buffer.data().data())


def _text(painter: QPainter, mark: Text) -> None:
    painter.setPen(QColor(mark.colour))
    if not mark.angle:
        painter.drawText(QPointF(mark.x, mark.y), mark.text)
        return
    painter.save()
    painter.translate(mark.x, mark.y)
    painter.rotate(mark.angle)
    painter.drawText(QPointF(0, 0), mark.text)
    painter.restore()


def _box(painter: QPainter, mark: Box) -> None:
    rect = QRectF(mark.x, mark.y, mark.width, mark.height)
    painter.setPen(QPen(QColor(mark.outline), 6.0) if mark.outline else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(mark.fill) if mark.fill else Qt.BrushStyle.NoBrush)
    if mark.is_round:
        painter.drawEllipse(rect)
    else:
        painter.drawRect(rect)


def _line(painter: QPainter, mark: Line) -> None:
    style = Qt.PenStyle.DashLine if mark.dashed else Qt.PenStyle.SolidLine
    pen = QPen(QColor(mark.colour), mark.thickness, style, Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(QLineF(mark.x1, mark.y1, mark.x2, mark.y2))
