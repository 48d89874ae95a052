"""Pages under one another, as they will be printed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea

from ctm_gui.report.marks import Pages
from ctm_gui.report.presenter import PageImages
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.view_options import ViewOptions

_GAP_PX = 16
_ZOOMS = (0.25, 4.0)
_STEP = 1.2
_WIDEST_PX = 900


class PagePreview(QAbstractScrollArea):
    """Shows pages at the width of the view, or nearer and farther; paints the visible ones only.

    ``page_changed`` gives the number of the page in view, from 1.

    Args:
        options: the theme of the surroundings; paper stays white.
    """

    page_changed = Signal(int)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self._pages: Pages | None = None
        self._zoom = 1.0
        self.images = PageImages(self)
        self.images.painted.connect(self.viewport().update)
        options.theme_changed.connect(self.viewport().update)
        self.setAccessibleName("Preview of the pages")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verticalScrollBar().valueChanged.connect(self._emit_page)

    @property
    def count(self) -> int:
        """Number of pages."""
        return 0 if self._pages is None else len(self._pages.pages)

    @property
    def page(self) -> int:
        """The number of the page in the middle of the view, from 1."""
        middle = self.verticalScrollBar().value() + self.viewport().height() // 2
        return min(max(middle // max(self._page_px().height() + _GAP_PX, 1) + 1, 1), self.count)

    def show_pages(self, pages: Pages | None) -> None:
        """Show pages; the place in them stays where that is possible."""
        self._pages = pages
        self._refresh()
        self._emit_page()

    def zoom_in(self) -> None:
        """Show the pages nearer."""
        self._set_zoom(self._zoom * _STEP)

    def zoom_out(self) -> None:
        """Show the pages farther away."""
        self._set_zoom(self._zoom / _STEP)

    def fit(self) -> None:
        """Show the pages as wide as the view."""
        self._set_zoom(1.0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            # angleDelta is in eighths of a degree; a notch of a wheel is 15 degrees, 120 units.
            self._set_zoom(self._zoom * _STEP ** (event.angleDelta().y() / 120))
        else:
            super().wheelEvent(event)

    def event(self, event: QEvent) -> bool:
        """Paint the pages anew for a screen of other density."""
        if event.type() is QEvent.Type.DevicePixelRatioChange:
            self._refresh()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), QColor(self._options.theme.background))
        for index in range(self.count):
            place = self._place(index)
            if place.intersects(event.rect()):
                self._paint_page(painter, index, place)
                painter.setPen(QPen(QColor(self._options.theme.grid)))
                painter.drawRect(place)

    def _set_zoom(self, zoom: float) -> None:
        self._zoom = min(max(zoom, _ZOOMS[0]), _ZOOMS[1])
        self._refresh()

    def _refresh(self) -> None:
        """Fit the scroll bars to the pages and paint them again."""
        bar = self.verticalScrollBar()
        # The place as a share of the whole survives a change of zoom; pixels would not.
        share = bar.value() / max(bar.maximum(), 1)
        page, view = self._page_px(), self.viewport().size()
        # In pixels of the screen: a page at logical size is blurred at 150 or 200 %.
        self.images.show(self._pages, page * self.devicePixelRatioF())
        height = self.count * (page.height() + _GAP_PX) + _GAP_PX
        bar.setPageStep(view.height())
        bar.setSingleStep(40)
        bar.setRange(0, max(0, height - view.height()))
        bar.setValue(round(share * bar.maximum()))
        across = self.horizontalScrollBar()
        across.setPageStep(view.width())
        across.setRange(0, max(0, page.width() + 2 * _GAP_PX - view.width()))
        self.viewport().update()

    def _page_px(self) -> QSize:
        if self._pages is None:
            return QSize(1, 1)
        size = self._pages.size
        width = min(max(self.viewport().width() - 2 * _GAP_PX, 50), _WIDEST_PX) * self._zoom
        return QSize(round(width), round(width * size.height / size.width))

    def _place(self, index: int) -> QRect:
        """Return where a page is in the viewport."""
        page = self._page_px()
        left = max(_GAP_PX, (self.viewport().width() - page.width()) // 2)
        top = _GAP_PX + index * (page.height() + _GAP_PX)
        scrolled = QPoint(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        return QRect(QPoint(left, top) - scrolled, page)

    def _paint_page(self, painter: QPainter, index: int, place: QRect) -> None:
        """Paint a page, or blank paper until its picture is there."""
        image = self.images.image(index)
        if image is None:
            painter.fillRect(place, QColor(LIGHT.surface))
        else:
            painter.drawImage(place, image)

    def _emit_page(self, *_: object) -> None:
        self.page_changed.emit(self.page)
