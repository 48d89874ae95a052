"""The window of help: pages at the left, one of them at the right; links lead to pages alone."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, QUrl
from PySide6.QtGui import QImage, QKeySequence, QTextDocument
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QTextBrowser,
    QWidget,
)

from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import STRETCH, button, hbox, splitter, vbox
from ctm_gui.window.help_pages import INDEX, contents, page_text, picture_path

_SIZE = (860, 640)
_ITEM_PADDING_PX = 8  # of a page's line, above and below its words together
_LIST_PX = 215
_PAGE_MARGIN_PX = 12
_FILE = ".md"
_HALF = 128  # lightness, 0 to 255


class HelpBrowser(QTextBrowser):
    """Shows pages of help and their pictures: no other file and no address is ever loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Page")
        self.setOpenLinks(False)
        self.document().setDocumentMargin(_PAGE_MARGIN_PX)
        self.anchorClicked.connect(self.follow)

    @property
    def page(self) -> str:
        """Name of the page that is shown."""
        return self.source().fileName().removesuffix(_FILE)

    def show_page(self, name: str) -> None:
        """Show a page."""
        self.setSource(QUrl(f"{name}{_FILE}"), QTextDocument.ResourceType.MarkdownResource)

    def follow(self, link: QUrl) -> None:
        """Follow a link to a page; another leads nowhere."""
        if not link.scheme() and link.fileName().endswith(_FILE):
            self.show_page(link.fileName().removesuffix(_FILE))

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        if QTextDocument.ResourceType(kind) is QTextDocument.ResourceType.MarkdownResource:
            return page_text(QUrl(name).fileName().removesuffix(_FILE))
        if QTextDocument.ResourceType(kind) is QTextDocument.ResourceType.ImageResource:
            return self._picture(QUrl(name).fileName())
        return None

    def _picture(self, name: str) -> QImage | None:
        """Return a picture as wide as the page, sharp on a screen of any density."""
        path = picture_path(name, is_dark=self.palette().base().color().lightness() < _HALF)
        if path is None:
            return None
        density = self.devicePixelRatioF()
        width = self.viewport().width() - 2 * _PAGE_MARGIN_PX - self.verticalScrollBar().width()
        smooth = Qt.TransformationMode.SmoothTransformation
        picture = QImage(str(path)).scaledToWidth(max(round(width * density), 1), smooth)
        picture.setDevicePixelRatio(density)
        return picture

    def changeEvent(self, event: QEvent) -> None:
        """Read the page again in the colours of another theme: links keep those they had."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and not self.source().isEmpty():
            place = self.verticalScrollBar().value()
            self.reload()
            self.verticalScrollBar().setValue(place)


class HelpWindow(BaseDialog):
    """Stays open beside the window; F1 brings another page into it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Help", parent, _SIZE, is_retained=True)
        self.list = QListWidget()
        self.list.setAccessibleName("Pages")
        for name, title in contents():
            item = QListWidgetItem(title)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setSizeHint(QSize(0, self.list.fontMetrics().height() + _ITEM_PADDING_PX))
            self.list.addItem(item)
        self.browser = HelpBrowser()
        self.back_button = _button("&Back", QKeySequence.StandardKey.Back)
        self.forward_button = _button("&Forward", QKeySequence.StandardKey.Forward)
        self.close_button = _button("Close", QKeySequence.StandardKey.Close)
        self._arrange()
        self._connect()

    def show_page(self, name: str) -> None:
        """Show a page."""
        self.browser.show_page(name or INDEX)

    def _arrange(self) -> None:
        widths = (_LIST_PX, _SIZE[0] - _LIST_PX)
        across = Qt.Orientation.Horizontal
        parts = splitter(across, self.list, self.browser, sizes=widths, stretch=(0, 1))
        foot = hbox(self.back_button, self.forward_button, STRETCH, self.close_button)
        vbox((parts, 1), foot, of=self)

    def _connect(self) -> None:
        self.list.itemActivated.connect(self._on_chosen)
        self.list.itemClicked.connect(self._on_chosen)
        self.browser.sourceChanged.connect(self._mark)
        for step, act, can in (
            (self.back_button, self.browser.backward, self.browser.backwardAvailable),
            (self.forward_button, self.browser.forward, self.browser.forwardAvailable),
        ):
            step.clicked.connect(lambda _, act=act: act())
            can.connect(step.setEnabled)
            step.setEnabled(False)
        self.close_button.clicked.connect(self.close)

    def _on_chosen(self, item: QListWidgetItem) -> None:
        self.show_page(item.data(Qt.ItemDataRole.UserRole))

    def _mark(self, page: QUrl) -> None:
        """Mark a page in the list, and name it in the title."""
        name = page.fileName().removesuffix(_FILE)
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item.data(Qt.ItemDataRole.UserRole) == name:
                self.list.setCurrentItem(item)
                self.setWindowTitle(f"Help: {item.text()}")


def _button(text: str, keys: QKeySequence.StandardKey) -> QPushButton:
    words = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    made = button(text, words, keys=keys)
    made.setAutoDefault(False)
    return made
