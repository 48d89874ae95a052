"""The list of messages that opens below the tabs, and the notice above them."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QGuiApplication, QKeySequence, QShowEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from ctm_gui.widgets.basic import STRETCH, add_keys, button, hbox, label, vbox
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.messages import Level, Message, MessageLog


class MessageList(QWidget):
    """Messages of this session, the newest last, with Copy and Clear.

    Args:
        options: the theme.
        log: the messages.
    """

    def __init__(self, options: ViewOptions, log: MessageLog) -> None:
        super().__init__()
        self._options, self._log = options, log
        self._list = QListWidget()
        self._list.setAccessibleName("Messages")
        self._list.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self._list.setWordWrap(True)
        self._follows = True
        bar = self._list.verticalScrollBar()
        bar.valueChanged.connect(self._follow)
        bar.rangeChanged.connect(self._keep_at_end)
        add_keys(self._list, QKeySequence.StandardKey.Copy, self.copy)
        copy = button("Copy", "Copy the selected messages, or all", self.copy, name="Copy messages")
        clear = button("Clear", act=log.clear, name="Clear messages")
        head = hbox(label("Messages", "heading", wraps=False), STRETCH, copy, clear)
        vbox(head, (self._list, 1), of=self, margins=8)
        for message in log.messages:
            self._add(message)
        log.added.connect(self._add)
        log.cleared.connect(self._list.clear)
        options.theme_changed.connect(self._colour_again)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Once the list has its size.
        QTimer.singleShot(0, self._list, self._list.scrollToBottom)

    def copy(self) -> None:
        """Copy the selected messages; all of them where none is selected."""
        chosen = self._list.selectedItems()
        items = chosen or [self._list.item(row) for row in range(self._list.count())]
        QGuiApplication.clipboard().setText("\n".join(item.text() for item in items))

    def _colour_again(self) -> None:
        for row, message in enumerate(self._log.messages):
            self._colour(self._list.item(row), message)

    def _add(self, message: Message) -> None:
        item = QListWidgetItem(message.line)
        self._colour(item, message)
        self._list.addItem(item)
        # The log forgets its oldest messages, and so does the list.
        while self._list.count() > len(self._log.messages):
            self._list.takeItem(0)
        # Scrolling lays all the lines out, which is slow for a list that nobody sees.
        if self.isVisible():
            self._list.scrollToBottom()

    def _follow(self, value: int) -> None:
        self._follows = value >= self._list.verticalScrollBar().maximum()

    def _keep_at_end(self, _minimum: int, maximum: int) -> None:
        """Keep the newest in view where it was, when the window gets lower."""
        if self._follows:
            self._list.verticalScrollBar().setValue(maximum)

    def _colour(self, item: QListWidgetItem, message: Message) -> None:
        error = message.level is Level.ERROR
        item.setForeground(QColor(self._options.theme.bad if error else self._options.theme.text))


class Noticed(QWidget):
    """A widget with room for a notice above it, shown while its condition lasts."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.notice = label(role="notice", name="Notice", selectable=True)
        self.notice.hide()
        vbox(self.notice, (widget, 1), of=self, margins=0, spacing=0)

    def show_notice(self, sentence: str) -> None:
        """Show a sentence; an empty one takes no room."""
        self.notice.setText(sentence)
        self.notice.setVisible(bool(sentence))
