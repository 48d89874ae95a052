"""Base class of the dialogs: title, size, lifetime and a row of buttons."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget


class BaseDialog(QDialog):
    """A dialog that is deleted when it closes, or a window that is opened again.

    Args:
        title: of its window.
        parent: the widget that it belongs to.
        size_px: its first width and height.
        is_retained: whether it is opened again; it can be maximised then.
    """

    def __init__(
        self,
        title: str,
        parent: QWidget | None,
        size_px: tuple[int, int] | None = None,
        *,
        is_retained: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        if is_retained:
            self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint, on=True)
        else:
            self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if size_px is not None:
            # With large text the screen may have less room.
            self.resize(QSize(*size_px).boundedTo(self.screen().availableSize()))

    def make_buttons(
        self, words: str, kind: QDialogButtonBox.StandardButton = QDialogButtonBox.StandardButton.Ok
    ) -> QDialogButtonBox:
        """Return a button that accepts the dialog, under other words, and Cancel."""
        made = QDialogButtonBox(kind | QDialogButtonBox.StandardButton.Cancel)
        made.button(kind).setText(words)
        made.accepted.connect(self.accept)
        made.rejected.connect(self.reject)
        return made
