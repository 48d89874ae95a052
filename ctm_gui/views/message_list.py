"""The list of messages that opens below the tabs."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QGuiApplication, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.presenters.messages import Level, Message, MessageLog
from ctm_gui.theme import LIGHT, Theme
from ctm_gui.views.keys import add_keys
from ctm_gui.views.parts import push_button


class MessageList(QWidget):
    """Messages of this session, the newest last, with Copy and Clear."""

    def __init__(self, log: MessageLog, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self._theme = LIGHT
        heading = QLabel("Messages")
        heading.setProperty("role", "heading")
        self._list = QListWidget()
        self._list.setAccessibleName("Messages")
        self._list.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self._list.setWordWrap(True)
        self._follows = True
        bar = self._list.verticalScrollBar()
        bar.valueChanged.connect(self._follow)
        bar.rangeChanged.connect(self._keep_at_end)
        add_keys(self._list, QKeySequence.StandardKey.Copy, self.copy)
        copy = push_button("Copy", "Copy the selected messages, or all")
        copy.setAccessibleName("Copy messages")
        copy.clicked.connect(self.copy)
        clear = QPushButton("Clear")
        clear.setAccessibleName("Clear messages")
        clear.clicked.connect(log.clear)
        header = QHBoxLayout()
        header.addWidget(heading)
        header.addStretch(1)
        header.addWidget(copy)
        header.addWidget(clear)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addLayout(header)
        layout.addWidget(self._list, 1)
        for message in log.messages:
            self._add(message)
        log.added.connect(self._add)
        log.cleared.connect(self._list.clear)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Once the list has its size.
        QTimer.singleShot(0, self._list, self._list.scrollToBottom)

    def copy(self) -> None:
        """Copy the selected messages; all of them where none is selected."""
        chosen = self._list.selectedItems()
        items = chosen or [self._list.item(row) for row in range(self._list.count())]
        QGuiApplication.clipboard().setText("\n".join(item.text() for item in items))

    def set_theme(self, theme: Theme) -> None:
        """Draw errors in the theme's colour."""
        self._theme = theme
        for row, message in enumerate(self._log.messages):
            self._colour(self._list.item(row), message)

    def _add(self, message: Message) -> None:
        item = QListWidgetItem(message.line)
        self._colour(item, message)
        self._list.addItem(item)
        # The log forgets its oldest messages, and so does the list.
        while self._list.count() > len(self._log.messages):
            self._list.takeItem(0)
        # It lays all the lines out.
        if self.isVisible():
            self._list.scrollToBottom()

    def _follow(self, value: int) -> None:
        self._follows = value >= self._list.verticalScrollBar().maximum()

    def _keep_at_end(self, _least: int, most: int) -> None:
        """Keep the newest in view where it was, when the window gets lower."""
        if self._follows:
            self._list.verticalScrollBar().setValue(most)

    def _colour(self, item: QListWidgetItem, message: Message) -> None:
        error = message.level is Level.ERROR
        item.setForeground(QColor(self._theme.bad if error else self._theme.text))
