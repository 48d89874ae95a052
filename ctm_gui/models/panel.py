"""The Models panel: opened files with their state, details of the current one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QGuiApplication,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QListView,
    QMenu,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ctm_gui.models.details_view import ModelDetails
from ctm_gui.models.list_model import ModelRole, ModelsListModel
from ctm_gui.models.shelf import ModelShelf, ModelState
from ctm_gui.widgets.basic import STRETCH, add_keys, hbox, label, tool_button, vbox
from ctm_gui.widgets.view_options import ViewOptions

Index = QModelIndex | QPersistentModelIndex

_PADDING = 6
_CROSS = 16
_BAR = 3


class ModelDelegate(QStyledItemDelegate):
    """Draws two lines a row; ``close_clicked`` gives the row of the clicked cross.

    The cross is for the mouse only: Delete, the context menu and the buttons of the details do the
    same by keyboard.

    Args:
        options: the theme.
        parent: owner.
    """

    close_clicked = QtSignal(int)

    def __init__(self, options: ViewOptions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._options = options

    def sizeHint(self, option: QStyleOptionViewItem, _: Index) -> QSize:
        return QSize(120, 2 * option.fontMetrics.lineSpacing() + 2 * _PADDING + 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.fillRect(rect, option.palette.brush(QPalette.ColorRole.Highlight))
        self._paint_text(painter, rect, index, selected=selected)
        if selected or state & QStyle.StateFlag.State_MouseOver:
            self._paint_cross(painter, self._cross(rect), selected=selected)
        if _state(index) is ModelState.READING:
            self._paint_bar(painter, rect)
        painter.setPen(QPen(QColor(self._options.theme.grid)))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def editorEvent(
        self, event: QEvent, _model: object, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        if event.type() is QEvent.Type.MouseButtonRelease and isinstance(event, QMouseEvent):
            cross = self._cross(option.rect).adjusted(-4, -4, 4, 4)
            if cross.contains(event.position().toPoint()):
                self.close_clicked.emit(index.row())
                return True
        return False

    def _paint_text(self, painter: QPainter, rect: QRect, index: Index, *, selected: bool) -> None:
        theme = self._options.theme
        failed = _state(index) is ModelState.FAILED
        inner = rect.adjusted(_PADDING, _PADDING, -_PADDING - _CROSS - 4, -_PADDING)
        height = inner.height() // 2
        font = QFont(painter.font())
        font.setWeight(QFont.Weight.DemiBold)
        name_rect = QRect(inner.left(), inner.top(), inner.width(), height)
        facts_rect = name_rect.translated(0, height)
        painter.setFont(font)
        colour, middle = theme.on_accent if selected else theme.text, Qt.TextElideMode.ElideMiddle
        self._draw(painter, name_rect, str(index.data()), colour, middle)
        font.setWeight(QFont.Weight.Normal)
        painter.setFont(font)
        quiet = theme.bad if failed else theme.muted
        facts = str(index.data(ModelRole.FACTS))
        self._draw(painter, facts_rect, facts, theme.on_accent if selected else quiet)

    @staticmethod
    def _draw(
        painter: QPainter,
        rect: QRect,
        text: str,
        colour: str,
        side: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        painter.setPen(QColor(colour))
        elided = painter.fontMetrics().elidedText(text, side, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)

    def _paint_cross(self, painter: QPainter, rect: QRect, *, selected: bool) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self._options.theme.on_accent if selected else self._options.theme.muted
        painter.setPen(QPen(QColor(colour), 1.6))
        inner = rect.adjusted(4, 4, -4, -4)
        painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.drawLine(inner.topRight(), inner.bottomLeft())

    def _paint_bar(self, painter: QPainter, rect: QRect) -> None:
        bar = QRect(rect.left(), rect.bottom() - _BAR, rect.width(), _BAR)
        painter.fillRect(bar, QColor(self._options.theme.accent))

    @staticmethod
    def _cross(rect: QRect) -> QRect:
        top = rect.center().y() - _CROSS // 2
        return QRect(rect.right() - _PADDING - _CROSS, top, _CROSS, _CROSS)


def _state(index: Index) -> ModelState:
    # Qt hands a text enumeration on as plain text.
    return ModelState(index.data(ModelRole.STATE))


EMPTY_TEXT = "Drop model files or folders here,\nor press Ctrl+O"


class ModelsListView(QListView):
    """A list that keeps its current row in view when the details under it take more room."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        row = self.visualRect(self.currentIndex())
        if row.isValid() and 0 <= row.top() < event.oldSize().height():
            self.scrollTo(self.currentIndex())


class ModelsPanel(QWidget):
    """List of models above the details of the current one.

    ``open_requested`` asks for the file dialog; ``current_changed`` gives the row (-1 for none);
    ``language_chosen`` gives the path of a language model whose row becomes current,
    ``language_closed`` those that are taken off the list.

    Args:
        options: the theme.
        shelf: the models.
    """

    open_requested = Signal()
    current_changed = Signal(int)
    language_chosen = Signal(str)
    language_closed = Signal(object)

    def __init__(self, options: ViewOptions, shelf: ModelShelf) -> None:
        super().__init__()
        self._options, self._shelf = options, shelf
        self._model = ModelsListModel(shelf, self)
        self.show_language = self._model.show_language
        self._is_removing = False
        self._heading = label("Models", "heading", wraps=False)
        self._list = self._build_list()
        self._empty = label(EMPTY_TEXT, "empty")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.details = ModelDetails(shelf)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._list)
        add = tool_button("Open…", "Open model files (Ctrl+O)", "Open models")
        add.clicked.connect(self.open_requested)
        head = hbox(self._heading, STRETCH, add)
        vbox(head, (self._stack, 1), self.details, of=self, margins=(8, 8, 8, 4), spacing=6)
        self._connect()
        self._on_rows_changed()

    def selected_rows(self) -> list[int]:
        """Return the selected rows of the shelf, ascending."""
        return [row for row in self._selected() if not self._model.language_path(row)]

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
        rows, paths = self.selected_rows(), map(self._model.language_path, self._selected())
        if closed := list(filter(None, paths)):
            self.language_closed.emit(closed)
        self._shelf.remove(rows)

    def select_language(self, path: str) -> None:
        """Make a language model current."""
        self.set_current_row(self._model.row_of(path))

    def select_all(self) -> None:
        """Select every model."""
        self._list.selectAll()

    def copy(self) -> None:
        """Copy name and facts of the selected models, one a line."""
        indexes = map(self._model.index, self._selected())
        lines = [f"{index.data()}\t{index.data(ModelRole.FACTS)}" for index in indexes]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _selected(self) -> list[int]:
        return sorted(index.row() for index in self._list.selectionModel().selectedRows())

    def _build_list(self) -> QListView:
        view = ModelsListView()
        # Before the view: it turns to another row at once.
        self._model.rowsAboutToBeRemoved.connect(self._begin_removal)
        view.setModel(self._model)
        view.setAccessibleName("Models")
        view.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        view.setUniformItemSizes(True)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._delegate = ModelDelegate(self._options, view)
        view.setItemDelegate(self._delegate)
        view.viewport().setMouseTracking(True)
        self._options.theme_changed.connect(view.viewport().update)
        return view

    def _connect(self) -> None:
        self._delegate.close_clicked.connect(self._on_close)
        self._list.customContextMenuRequested.connect(self._show_menu)
        self._list.selectionModel().currentChanged.connect(self._on_current_changed)
        self._model.rowsInserted.connect(self._on_inserted)
        self._model.rowsRemoved.connect(self._on_removed)
        self._shelf.entry_changed.connect(self._on_entry_changed)
        add_keys(self._list, QKeySequence.StandardKey.Delete, self.remove_selected)
        add_keys(self._list, QKeySequence.StandardKey.Copy, self.copy)

    def _on_inserted(self, _parent: QModelIndex, first: int, _last: int) -> None:
        self._on_rows_changed()
        # A language model of the last session changes no page.
        if not self._model.language_path(first):
            self.set_current_row(first)

    def _begin_removal(self, *_: object) -> None:
        self._is_removing = True

    def _on_removed(self, *_: object) -> None:
        self._is_removing = False
        self._on_rows_changed()

    def _on_rows_changed(self) -> None:
        count = self._model.rowCount()
        self._heading.setText(f"Models ({count})" if count else "Models")
        self._stack.setCurrentWidget(self._list if count else self._empty)
        self._show_details()

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self._show_details()
        if path := self._model.language_path(current.row()):
            # The row beside one that goes is chosen by nobody.
            if not self._is_removing:
                self.language_chosen.emit(path)
        else:
            self.current_changed.emit(current.row())

    def _on_entry_changed(self, row: int) -> None:
        if row == self.current_row():
            self._show_details()

    def _show_details(self) -> None:
        row = self.current_row()
        entries: Sequence[object] = self._shelf.entries
        self.details.show_row(row if 0 <= row < len(entries) else None)

    def _on_close(self, row: int) -> None:
        if path := self._model.language_path(row):
            self.language_closed.emit([path])
            return
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
        menu = QMenu(self)
        if self._model.language_path(row):
            menu.addAction("Remove", self.remove_selected)
            return menu
        entry = self._shelf.entries[row]
        actions: list[tuple[str, bool, object]] = [
            ("Reload", not entry.pending, lambda: self._shelf.read_again(row)),
            ("Cancel", entry.pending, lambda: self._shelf.cancel(row)),
            ("Remove", not entry.pending, self.remove_selected),
        ]
        for text, enabled, callback in actions:
            action = QAction(text, menu, enabled=enabled)
            action.triggered.connect(callback)
            menu.addAction(action)
        return menu
