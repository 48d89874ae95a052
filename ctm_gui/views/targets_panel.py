"""The Targets panel: the catalogue with search and check boxes."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.models.targets_tree import Column, TargetsTreeModel
from ctm_gui.presenters.targets import TargetSelection
from ctm_gui.views.parts import focus_on
from ctm_gui.views.target_menu import target_menu

_BASIS_WIDTH = 76
_STAR_WIDTH = 22


class TargetsPanel(QWidget):
    """Search box above a tree of families, vendors and devices.

    ``device_activated`` gives the id of a device that was double-clicked or entered;
    ``details_requested`` that of one whose facts are asked for.
    """

    device_activated = Signal(str)
    details_requested = Signal(str)

    def __init__(self, selection: TargetSelection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.selection = selection
        self._model = TargetsTreeModel(selection, self)
        self.heading = QLabel()
        self.heading.setProperty("role", "heading")
        self.search_box = self._build_search()
        self.checked_only = self._build_checked_only()
        self._tree = self._build_tree()
        self._nothing = QLabel("No device matches.")
        self._nothing.setProperty("role", "muted")
        self._nothing.setVisible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(6)
        layout.addLayout(self._build_header())
        search = QHBoxLayout()
        search.addWidget(self.search_box, 1)
        search.addWidget(self.checked_only)
        layout.addLayout(search)
        layout.addWidget(self._tree, 1)
        layout.addWidget(self._nothing)
        selection.devices_changed.connect(self._on_devices)
        selection.changed.connect(self._show_counts)
        selection.badges_changed.connect(self._show_badges)
        self._show_badges()
        self._show_counts()
        self._expand()

    @property
    def tree(self) -> QTreeView:
        """The tree, for focus and tests."""
        return self._tree

    @property
    def model(self) -> TargetsTreeModel:
        """The tree's model."""
        return self._model

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        focus_on(self.search_box)

    def select_shown(self, *, selected: bool) -> None:
        """Check or uncheck every device that the search leaves."""
        self.selection.select(self._model.shown_device_ids(), selected=selected)

    def _show_badges(self) -> None:
        """Leave the room to the names while there is no number yet."""
        self._tree.setColumnHidden(Column.BASIS, not self.selection.has_badges)

    def _build_header(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(self.heading)
        row.addStretch(1)
        check = "Check every device that is shown", "Check all shown targets"
        uncheck = "Uncheck every device that is shown", "Uncheck all shown targets"
        for text, (tip, name), selected in (
            ("All", check, True),
            ("None", uncheck, False),
        ):
            button = QToolButton()
            button.setText(text)
            button.setToolTip(tip)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _, on=selected: self.select_shown(selected=on))
            row.addWidget(button)
        return row

    def _build_checked_only(self) -> QToolButton:
        button = QToolButton()
        button.setText("Checked")
        button.setCheckable(True)
        button.setToolTip("Show the checked devices only")
        button.setAccessibleName("Show checked targets only")
        button.toggled.connect(self._on_filter)
        return button

    def _build_search(self) -> QLineEdit:
        search = QLineEdit(placeholderText="Search name, vendor, family…", clearButtonEnabled=True)
        search.setAccessibleName("Search targets")
        search.textChanged.connect(self._on_filter)
        return search

    def _build_tree(self) -> QTreeView:
        tree = QTreeView()
        tree.setModel(self._model)
        tree.setAccessibleName("Targets")
        tree.setHeaderHidden(True)
        tree.setUniformRowHeights(True)
        tree.setIndentation(14)
        tree.setExpandsOnDoubleClick(True)
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(Column.BASIS, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(Column.STAR, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(Column.BASIS, _BASIS_WIDTH)
        header.setMinimumSectionSize(_STAR_WIDTH)
        header.resizeSection(Column.STAR, _STAR_WIDTH)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._show_menu)
        tree.clicked.connect(self._on_clicked)
        tree.activated.connect(self._on_activated)
        return tree

    def _on_filter(self) -> None:
        checked_only = self.checked_only.isChecked()
        self._model.set_filter(self.search_box.text(), checked_only=checked_only)
        self._nothing.setVisible(not self._model.shown_device_ids())
        self._expand()

    def _on_devices(self) -> None:
        """Show other devices; open groups stay open, and the place that was looked at."""
        place = self._tree.verticalScrollBar().value()
        closed = {path for path, index in self._groups() if not self._tree.isExpanded(index)}
        self._on_filter()
        for path, index in self._groups():
            self._tree.setExpanded(index, path not in closed)
        self._tree.verticalScrollBar().setValue(place)
        self._show_counts()

    def _groups(
        self, parent: QModelIndex = QModelIndex(), path: tuple[str, ...] = ()
    ) -> Iterator[tuple[tuple[str, ...], QModelIndex]]:
        """Yield each group with the titles that lead to it."""
        for row in range(self._model.rowCount(parent)):
            index = self._model.index(row, 0, parent)
            if self._model.rowCount(index):
                here = (*path, str(index.data()))
                yield here, index
                yield from self._groups(index, here)

    def _expand(self) -> None:
        """Open every group of a search; without one, the groups that hold a checked device."""
        if self.search_box.text().strip() or self.checked_only.isChecked():
            self._tree.expandAll()
        else:
            self._open_checked(QModelIndex())

    def _open_checked(self, parent: QModelIndex) -> None:
        for row in range(self._model.rowCount(parent)):
            index = self._model.index(row, 0, parent)
            state = index.data(Qt.ItemDataRole.CheckStateRole)
            if self._model.rowCount(index) and Qt.CheckState(state) is not Qt.CheckState.Unchecked:
                self._tree.expand(index)
                self._open_checked(index)

    def _show_menu(self, place: QPoint) -> None:
        device = self._model.device(self._tree.indexAt(place))
        if device is not None:
            menu = target_menu(self.selection, device, self)
            menu.addAction("Show in Devices", lambda: self.details_requested.emit(device.id))
            menu.popup(self._tree.viewport().mapToGlobal(place))

    def _on_clicked(self, index: QModelIndex) -> None:
        device = self._model.device(index)
        if device is not None and index.column() == Column.STAR:
            favourite = device.id not in self.selection.favourites
            self.selection.set_favourite(device.id, favourite=favourite)

    def _on_activated(self, index: QModelIndex) -> None:
        device = self._model.device(index)
        if device is not None and index.column() != Column.STAR:
            self.device_activated.emit(device.id)

    def _show_counts(self) -> None:
        chosen, known = len(self.selection.selected_ids), len(self.selection.devices)
        self.heading.setText(f"Targets ({chosen} of {known})")
