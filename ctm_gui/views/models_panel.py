"""The Models panel: what was dropped, where each file stands, details of the current one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QListView, QMenu, QStackedLayout, QWidget

from ctm_gui.models.models_list import ModelsListModel, facts
from ctm_gui.presenters.shelf import ModelShelf
from ctm_gui.theme import Theme
from ctm_gui.views.model_delegate import ModelDelegate
from ctm_gui.views.model_details import ModelDetails
from ctm_gui.views.widgets import STRETCH, add_keys, hbox, label, tool_button, vbox

EMPTY_TEXT = "Drop .onnx files or folders here,\nor press Ctrl+O"


class ModelsPanel(QWidget):
    """List of models above the details of the current one.

    ``open_requested`` asks for the file dialog; ``current_changed`` gives the row (-1 for none).
    """

    open_requested = Signal()
    current_changed = Signal(int)

    def __init__(self, shelf: ModelShelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._model = ModelsListModel(shelf, self)
        self._heading = label("Models", "heading", wraps=False)
        self._list = self._build_list()
        self._empty = label(EMPTY_TEXT, "empty")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.details = ModelDetails(shelf)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._list)
        add = tool_button("Open…", "Open .onnx files (Ctrl+O)", "Open models")
        add.clicked.connect(self.open_requested)
        head = hbox(self._heading, STRETCH, add)
        vbox(head, (self._stack, 1), self.details, of=self, margins=(8, 8, 8, 4), spacing=6)
        self._connect()
        self._on_rows_changed()

    def selected_rows(self) -> list[int]:
        """Return the selected rows, ascending."""
        return sorted(index.row() for index in self._list.selectionModel().selectedRows())

    def current_row(self) -> int:
        """Return the current row, -1 for none."""
        return self._list.currentIndex().row()

    def set_current_row(self, row: int) -> None:
        """Make a row current and select it alone."""
        self._list.selectionModel().setCurrentIndex(
            self._model.index(row), QItemSelectionModel.SelectionFlag.ClearAndSelect
        )

    def remove_selected(self) -> None:
        """Remove the selected models; undo brings them back."""
        self._shelf.remove(self.selected_rows())

    def select_all(self) -> None:
        """Select every model."""
        self._list.selectAll()

    def copy(self) -> None:
        """Copy name and facts of the selected models, one a line."""
        rows = [self._shelf.entries[row] for row in self.selected_rows()]
        lines = [f"{entry.name}\t{facts(entry)}" for entry in rows]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def set_theme(self, theme: Theme) -> None:
        """Draw the rows in the theme's colours."""
        self._delegate.set_theme(theme)
        self._list.viewport().update()

    def _build_list(self) -> QListView:
        view = QListView()
        view.setModel(self._model)
        view.setAccessibleName("Models")
        view.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        view.setUniformItemSizes(True)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._delegate = ModelDelegate(view)
        view.setItemDelegate(self._delegate)
        view.viewport().setMouseTracking(True)
        return view

    def _connect(self) -> None:
        self._delegate.close_clicked.connect(self._on_close)
        self._list.customContextMenuRequested.connect(self._show_menu)
        self._list.selectionModel().currentChanged.connect(self._on_current_changed)
        self._model.rowsInserted.connect(self._on_inserted)
        self._model.rowsRemoved.connect(self._on_rows_changed)
        self._shelf.entry_changed.connect(self._on_entry_changed)
        add_keys(self._list, QKeySequence.StandardKey.Delete, self.remove_selected)
        add_keys(self._list, QKeySequence.StandardKey.Copy, self.copy)

    def _on_inserted(self, _parent: QModelIndex, first: int, _last: int) -> None:
        self._on_rows_changed()
        self.set_current_row(first)

    def _on_rows_changed(self) -> None:
        count = len(self._shelf.entries)
        self._heading.setText(f"Models ({count})" if count else "Models")
        self._stack.setCurrentWidget(self._list if count else self._empty)
        self._show_details()

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._show_details()
        self.current_changed.emit(current.row())

    def _on_entry_changed(self, row: int) -> None:
        if row == self.current_row():
            self._show_details()

    def _show_details(self) -> None:
        row = self.current_row()
        entries: Sequence[object] = self._shelf.entries
        self.details.show_row(row if 0 <= row < len(entries) else None)

    def _on_close(self, row: int) -> None:
        entry = self._shelf.entries[row]
        if entry.pending:
            self._shelf.cancel(row)
        else:
            self._shelf.remove([row])

    def _show_menu(self, position: QPoint) -> None:
        index = self._list.indexAt(position)
        if index.isValid():
            menu = self._build_menu(index.row())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self._list.viewport().mapToGlobal(position))

    def _build_menu(self, row: int) -> QMenu:
        entry = self._shelf.entries[row]
        menu = QMenu(self)
        actions: list[tuple[str, bool, object]] = [
            ("Read Again", not entry.pending, lambda: self._shelf.read_again(row)),
            ("Cancel", entry.pending, lambda: self._shelf.cancel(row)),
            ("Remove", not entry.pending, self.remove_selected),
        ]
        for text, enabled, callback in actions:
            action = QAction(text, menu, enabled=enabled)
            action.triggered.connect(callback)
            menu.addAction(action)
        return menu
