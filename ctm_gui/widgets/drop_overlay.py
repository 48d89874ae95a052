"""A frame and a sentence over the whole window while a drop will be taken."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from ctm_gui.widgets.view_options import ViewOptions

_MARGIN = 8
_SENTENCE = "Drop models to add them"


class DropOverlay(QWidget):
    """Covers its parent during a drag and takes the drop.

    ``dropped`` gives the paths.

    Args:
        options: the theme.
        parent: the window.
    """

    dropped = Signal(object)

    def __init__(self, options: ViewOptions, parent: QWidget) -> None:
        super().__init__(parent)
        self._options = options
        options.theme_changed.connect(self.update)
        self._covered = parent
        parent.installEventFilter(self)
        # Otherwise the overlay itself would take the drag, and the parent would see it leave.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName("Drop area")
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow a drag over the parent; other events go their way."""
        if isinstance(event, QDragEnterEvent) and dropped_paths(event.mimeData()):
            event.acceptProposedAction()
            self.cover()
        elif isinstance(event, QDragLeaveEvent):
            self.hide()
        elif isinstance(event, QDropEvent) and event.type() is QEvent.Type.Drop:
            self.hide()
            self._take(event)
        else:
            return super().eventFilter(watched, event)
        return True

    def cover(self) -> None:
        """Show it over the whole parent."""
        self.setGeometry(self._covered.rect())
        self.raise_()
        self.show()

    def paintEvent(self, _: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(self._options.theme.background)
        veil.setAlpha(215)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(QColor(self._options.theme.accent), 2, Qt.PenStyle.DashLine))
        frame = self.rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        painter.drawRoundedRect(frame, 8, 8)
        font = painter.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        painter.setFont(font)
        self._paint_sentence(painter, frame)

    def _take(self, event: QDropEvent) -> None:
        paths = dropped_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.dropped.emit(paths)

    def _paint_sentence(self, painter: QPainter, frame: QRect) -> None:
        centred = Qt.AlignmentFlag.AlignCenter
        words = painter.boundingRect(frame, centred, _SENTENCE)
        painter.setPen(QPen(QColor(self._options.theme.accent), 1))
        painter.setBrush(QColor(self._options.theme.surface))
        painter.drawRoundedRect(words.adjusted(-24, -16, 24, 16), 8, 8)
        painter.setPen(QColor(self._options.theme.text))
        painter.drawText(frame, centred, _SENTENCE)


def dropped_paths(mime: QMimeData) -> list[str]:
    """Return the local files and folders of a drag."""
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]


def refuse_drops(widget: QWidget) -> None:
    """Leave dropped files to the window: a field of a view would take their paths as text."""
    for part in widget.findChildren(QWidget):
        part.setAcceptDrops(False)
