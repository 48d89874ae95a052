"""Clicks, typed entries and keys of a user as real events in the window, counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton, QWidget

_PATIENCE_S = 120.0
_TURN_MS = 20
_LEFT = Qt.MouseButton.LeftButton
_PLAIN = Qt.KeyboardModifier.NoModifier


@dataclass(slots=True)
class Counts:
    """Clicks, entries and keys of a user in one task.

    Attributes:
        clicks: of the mouse; a double click and a drop of files are one each.
        entries: words or numbers that were typed, with the Enter or Tab that ends them.
        keys: pressed beside those: shortcuts, Tab, arrows.
    """

    clicks: int = 0
    entries: int = 0
    keys: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.clicks + self.entries + self.keys

    @property
    def words(self) -> str:
        """The counts in words: ``7 clicks, 5 entries``."""
        parts = ((self.clicks, "click"), (self.entries, "entry"), (self.keys, "key"))
        named = [f"{n} {_plural(word, n)}" for n, word in parts if n]
        return ", ".join(named)


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return f"{word[:-1]}ies" if word == "entry" else f"{word}s"


class Hands:
    """Does in a window what a user does with mouse and keys.

    Attributes:
        counts: of what was done.

    Args:
        window: is active.
    """

    def __init__(self, window: QWidget) -> None:
        self.window = window
        self.counts = Counts()

    def wait(self, done: Callable[[], object], what: str) -> None:
        """Let the window work until something is true.

        Raises:
            TimeoutError: it is not, after two minutes: ``what`` did not happen.
        """
        end = time.monotonic() + _PATIENCE_S
        while not done():
            if time.monotonic() > end:
                raise TimeoutError(what)
            QTest.qWait(_TURN_MS)

    def click(self, widget: QWidget, place: QPoint | None = None) -> None:
        """Click a widget that is in sight, in its middle or at a place in it."""
        self._in_sight(widget)
        QTest.mouseClick(widget, _LEFT, _PLAIN, place or widget.rect().center())
        self.counts.clicks += 1

    def double_click(self, widget: QWidget, place: QPoint) -> None:
        """Click twice at a place of a widget."""
        self._in_sight(widget)
        for press in (QTest.mousePress, QTest.mouseRelease, QTest.mouseDClick, QTest.mouseRelease):
            press(widget, _LEFT, _PLAIN, place)
        self.counts.clicks += 1

    def type(self, text: str, end: Qt.Key | None = None) -> None:
        """Type an entry where the cursor is, and the key that ends it."""
        self.wait(lambda: QApplication.focusWidget() is not None, "nothing has the cursor")
        QTest.keyClicks(QApplication.focusWidget(), text)
        if end is not None:
            QTest.keyClick(QApplication.focusWidget(), end)
        self.counts.entries += 1

    def press(self, keys: str) -> None:
        """Press keys such as ``Ctrl+P`` where the focus is."""
        (combination,) = [QKeySequence(keys)[at] for at in range(QKeySequence(keys).count())]
        target = QApplication.focusWidget() or self.window
        QTest.keyClick(target, combination.key(), combination.keyboardModifiers())
        self.counts.keys += 1

    def press_until(self, keys: str, done: Callable[[], bool], limit: int = 12) -> None:
        """Press keys until something is true, each time counted.

        Raises:
            TimeoutError: it is not, after so many times.
        """
        for _ in range(limit):
            if done():
                return
            self.press(keys)
        if not done():
            raise TimeoutError(f"{keys} was pressed {limit} times")

    def drop(self, paths: Sequence[Path]) -> None:
        """Drop files on the window."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        place = QPoint(self.window.width() // 2, self.window.height() // 2)
        how = (Qt.DropAction.CopyAction, data, _LEFT, _PLAIN)
        QApplication.sendEvent(self.window, QDragEnterEvent(place, *how))
        QApplication.sendEvent(self.window, QDropEvent(place.toPointF(), *how))
        self.counts.clicks += 1

    def in_file_dialog(self, act: Callable[[QFileDialog], None], ask: Callable[[], None]) -> None:
        """Ask for a file, and act in the dialog, whose own loop runs meanwhile."""
        met: list[QFileDialog] = []

        def look() -> None:
            dialog = QApplication.activeModalWidget()
            if isinstance(dialog, QFileDialog) and not met:
                met.append(dialog)
                timer.stop()
                dialog.activateWindow()
                try:
                    act(dialog)
                finally:
                    if dialog.isVisible():
                        dialog.reject()

        timer = QTimer(self.window, interval=_TURN_MS)
        timer.timeout.connect(look)
        timer.start()
        ask()
        self.wait(lambda: met, "no file was asked for")
        # As a window manager does, which a platform without a screen lacks.
        if not QApplication.activeWindow():
            self.window.activateWindow()

    def accept_file(self, dialog: QFileDialog) -> None:
        """Click the button of a file dialog that takes what it proposes."""
        buttons = [button for button in dialog.findChildren(QPushButton) if button.isDefault()]
        self.click(buttons[0])

    def accept_by_enter(self, dialog: QFileDialog) -> None:
        """Press Enter in a file dialog, which takes what it proposes."""
        self.wait(dialog.findChildren(QLineEdit)[0].hasFocus, "the name has no cursor")
        self.press("Return")

    def type_file(self, dialog: QFileDialog, path: Path) -> None:
        """Type a path into a file dialog and press Enter."""
        line = dialog.findChildren(QLineEdit)[0]
        self.wait(line.hasFocus, "the name has no cursor")
        self.type(str(path))
        line.completer().popup().hide()  # it would take the Enter that belongs to the entry
        QTest.keyClick(line, Qt.Key.Key_Return)

    def _in_sight(self, widget: QWidget) -> None:
        self.wait(lambda: widget.isVisible() and widget.isEnabled(), f"{widget} is not in sight")
