"""Keys typed after a command, held until the field that they are meant for has the focus."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

_OF_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class TypedAhead(QObject):
    """Event filter that holds the keys typed in a window until a field has the focus.

    A press of the mouse, or a view that is hidden, ends the waiting: the keys go where they went.

    Args:
        view: has the field; owner of this object.
    """

    def __init__(self, view: QWidget) -> None:
        super().__init__(view)
        self._view = view
        self._keys: list[QKeyEvent] = []
        self.is_waiting = False

    def wait(self) -> None:
        """Hold back the keys from now on."""
        application = QApplication.instance()
        if not self.is_waiting and application is not None:
            self.is_waiting = True
            application.installEventFilter(self)

    def stop(self) -> None:
        """Let keys through again, and forget those that were held back."""
        application = QApplication.instance()
        if self.is_waiting and application is not None:
            self.is_waiting = False
            application.removeEventFilter(self)
        self._keys.clear()

    def deliver(self) -> None:
        """Type what was held back into what has the focus now."""
        keys = [*self._keys]
        self.stop()
        for key in keys:
            # Enter in a field leads to another one.
            if (focused := QApplication.focusWidget()) is not None:
                QApplication.sendEvent(focused, key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hold back keys that write or end an entry; commands go on."""
        kind = event.type()
        if kind is QEvent.Type.MouseButtonPress or (
            kind is QEvent.Type.Hide and watched is self._view
        ):
            self.stop()
        if not isinstance(event, QKeyEvent) or not self._takes(watched, event):
            return False
        if kind is QEvent.Type.KeyPress:
            self._keys.append(event.clone())
        event.accept()  # of a shortcut's override: the key is for the field
        return True

    def _takes(self, watched: QObject, event: QKeyEvent) -> bool:
        is_entry = bool(event.text()) and not event.modifiers() & _OF_COMMANDS
        is_here = isinstance(watched, QWidget) and watched.window() is self._view.window()
        return is_entry and is_here
