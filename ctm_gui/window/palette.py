"""The command palette: every action of the window, and every target, found by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import label, vbox
from ctm_gui.widgets.fields import line_edit
from ctm_gui.window.help_pages import Command

_WIDTH_PX, _ROWS, _TIP_LINES = 560, 12, 2
_ITEM_PADDING_PX = 6  # of a line, above and below its words together
_LIST_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class CommandPalette(BaseDialog):
    """Asks for a command and closes; ``run`` is called with it once the window is active again.

    Args:
        find: returns the commands for what is typed, best first.
        run: does a command.
        parent: the window.
    """

    def __init__(
        self,
        find: Callable[[str], Sequence[Command]],
        run: Callable[[Command], None],
        parent: QWidget,
    ) -> None:
        super().__init__("Commands", parent)
        self._find = find
        self._run = run
        hint = "Type what you want to do, or a device to tick"
        self.edit = line_edit("Command", placeholderText=hint, clearButtonEnabled=True)
        self.list = _list()
        self.tip = label(role="muted")
        self.tip.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        # Room for a long one, so that neither list nor window moves under the cursor.
        self.tip.setFixedHeight(_TIP_LINES * self.tip.fontMetrics().lineSpacing())
        vbox(self.edit, self.list, self.tip, of=self)
        self.edit.textChanged.connect(self._show)
        self.edit.installEventFilter(self)
        self.list.currentItemChanged.connect(self._show_tip)
        self.list.itemActivated.connect(self._choose)
        self.edit.returnPressed.connect(self._choose)
        self._show("")
        row_px = max(self.list.sizeHintForRow(0), 1)
        self.resize(_WIDTH_PX, self.sizeHint().height())
        self.list.setMinimumHeight(row_px * _ROWS + 4)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list while the cursor stays in the text."""
        if (
            watched is self.edit
            and isinstance(event, QKeyEvent)
            and event.type() is QEvent.Type.KeyPress
            and event.key() in _LIST_KEYS
        ):
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def _show(self, typed: str) -> None:
        self.list.clear()
        for command in self._find(typed):
            item = QTreeWidgetItem([f"{command.menu}: {command.text}", command.keys])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
            item.setData(0, Qt.ItemDataRole.UserRole, command)
            item.setDisabled(not command.enabled)
            item.setSizeHint(0, QSize(0, self.list.fontMetrics().height() + _ITEM_PADDING_PX))
            self.list.addTopLevelItem(item)
        first = self.list.topLevelItem(0)
        if first is not None:
            self.list.setCurrentItem(first)
        self._show_tip()

    def _show_tip(self, *_: object) -> None:
        command = self._current()
        if command is None:
            self.tip.setText("No command and no device has all these words.")
            self.edit.setAccessibleDescription("")
        else:
            self.tip.setText(command.tip or command.text)
            self.edit.setAccessibleDescription(f"{command.menu}: {command.text}")

    def _current(self) -> Command | None:
        item = self.list.currentItem()
        return None if item is None else item.data(0, Qt.ItemDataRole.UserRole)

    def _choose(self, *_: object) -> None:
        command = self._current()
        if command is not None and command.enabled:
            # The focus goes back to where it was first: some actions are about that widget.
            self.finished.connect(lambda _: self._run(command))
            self.accept()


def _list() -> QTreeWidget:
    made = QTreeWidget()
    made.setAccessibleName("Commands")
    made.setColumnCount(2)
    made.setHeaderHidden(True)
    made.setRootIsDecorated(False)
    made.setUniformRowHeights(True)
    made.header().setStretchLastSection(False)
    made.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    made.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
    return made
