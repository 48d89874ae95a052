"""Pictures of pages for the screen, painted off the window's thread."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QColor, QImage, QPainter

from ctm_gui.report.marks import Page, Pages
from ctm_gui.report.painting import paint_page
from ctm_gui.tasks.serial import SerialWorker, Task
from ctm_gui.theme import LIGHT
from predictor.core.errors import CtmError

_KEPT = 12


class PageImages(QObject):
    """Paints the pages that are asked for, and keeps the last of them.

    ``painted`` says that a picture is there that was asked for in vain before.

    Args:
        parent: owner.
    """

    painted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = SerialWorker("pages", self)
        self._pages: Pages | None = None
        self._size = QSize(1, 1)
        self._images: OrderedDict[int, QImage] = OrderedDict()
        self._tasks: dict[int, Task] = {}

    @property
    def settled(self) -> bool:
        """Whether every picture that was asked for is there."""
        return not self._tasks

    def show(self, pages: Pages | None, size_px: QSize) -> None:
        """Paint other pages from now on, or the same ones in another size."""
        self._worker.cancel_all()
        self._tasks.clear()
        self._images.clear()
        self._pages, self._size = pages, size_px

    def image(self, index: int) -> QImage | None:
        """Return the picture of a page; None while it is being painted."""
        image = self._images.get(index)
        if image is not None:
            self._images.move_to_end(index)
        elif self._pages is not None and index not in self._tasks:
            page, width = self._pages.pages[index], self._pages.size.width
            self._tasks[index] = self._worker.submit(
                lambda _: _painted(page, width, self._size),
                on_result=partial(self._keep, index),
                on_error=_ignore,
            )
        return image

    def close(self) -> None:
        """Stop painting; what is asked for afterwards stays blank."""
        self.show(None, self._size)
        self._worker.close()

    def _keep(self, index: int, image: QImage) -> None:
        self._tasks.pop(index, None)
        self._images[index] = image
        while len(self._images) > _KEPT:
            self._images.popitem(last=False)
        self.painted.emit()


def _painted(page: Page, width: float, size_px: QSize) -> QImage:
    image = QImage(size_px, QImage.Format.Format_RGB32)
    image.fill(QColor(LIGHT.surface))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size_px.width() / width, size_px.width() / width)
    paint_page(painter, page)
    painter.end()
    return image


def _ignore(_: CtmError) -> None:
    """Painting raises no error of ours."""
