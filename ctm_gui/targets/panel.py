"""The Targets panel: the catalogue with search and check boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QActionGroup, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QTreeView,
    QWidget,
)

from ctm_gui.models.shelf import ModelShelf
from ctm_gui.targets.choice import TargetSelection
from ctm_gui.targets.ranking import ConfigurationRanking
from ctm_gui.targets.tree_model import Column, TargetsTreeModel
from ctm_gui.targets.variant_dialog import VariantDialog
from ctm_gui.targets.what_if_dialog import WhatIfDialog
from ctm_gui.widgets.basic import STRETCH, SearchBox, hbox, label, tool_button, vbox
from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.presentation.wording import target_text

if TYPE_CHECKING:
    from ctm_gui.targets.ranking import Ranked

Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Paints the cells of a tree of targets.

    Args:
        tree: shows the targets; owns this.
    """

    def __init__(self, tree: QTreeView) -> None:
        super().__init__(tree)
        self.tree = tree

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a cell; a name goes on over the badge where that is none, or in its way."""
        if index.column() == Column.BASIS and not self.has_badge(index):
            return
        if index.column() == Column.NAME:
            option.rect.setWidth(self.name_px(index))
        super().paint(painter, option, index)

    def name_px(self, index: Index) -> int:
        """Return the pixels from a name's left end to where its row has something else."""
        px = self.tree.visualRect(index).width()
        if not self.has_badge(index):
            # Nothing where the column is hidden.
            px += self.tree.columnWidth(Column.BASIS)
        return px

    def has_badge(self, index: Index) -> bool:
        """Return whether a row's badge is painted: a name that needs its room has it.

        The tip of the badge's cell stays.
        """
        name = index.sibling(index.row(), Column.NAME)
        if not index.sibling(index.row(), Column.BASIS).data():
            return False
        text_px = self.tree.fontMetrics().horizontalAdvance(name.data())
        return text_px + _BOX_PX <= self.tree.visualRect(name).width()


_MAX_OPEN_PRODUCTS = 5
_BOX_PX = 28  # of the tick before a name, and of what the style leaves around both
_BASIS_WIDTH = 76
_STAR_WIDTH = 22
# In a narrower panel devices would be left with a letter of their names.
_BASIS_FITS_PX = 320


class TargetsPanel(QWidget):
    """Search box above a tree of families, vendors and devices.

    ``device_activated`` gives the id of a device that was double-clicked or entered;
    ``details_requested`` that of a device to show with its facts.

    Attributes:
        model: the tree's rows.
        tree: the view of them.

    Args:
        selection: of the devices.
        shelf: of the models.
        ranking: of a device's configurations.
        strip: stands above the tree; None for nothing.
        is_late: the tree is empty until ``fill``.
    """

    device_activated = Signal(str)
    details_requested = Signal(str)

    def __init__(
        self,
        selection: TargetSelection,
        shelf: ModelShelf,
        ranking: ConfigurationRanking,
        strip: QWidget | None = None,
        *,
        is_late: bool = False,
    ) -> None:
        super().__init__()
        self.selection, self._shelf, self._ranking = selection, shelf, ranking
        self.model = TargetsTreeModel(selection, self, is_late=is_late)
        self._is_filled = not is_late
        self.heading = label(role="heading", wraps=False)
        self.search_box = SearchBox("Search device, phone, board…", "Search targets")
        self.search_box.textChanged.connect(self._on_filter)
        self.search_box.returnPressed.connect(self._tick_first)
        self.search_box.setToolTip("Enter checks the device that is meant, or the first of those.")
        self.checked_only = self._build_checked_only()
        self.tree = self._build_tree()
        self._nothing = label("No device matches.", "muted", wraps=False)
        self._nothing.setVisible(False)
        search = hbox((self.search_box, 1), self.checked_only)
        above = (strip,) if strip is not None else ()
        parts = (self._build_header(), search, *above, (self.tree, 1), self._nothing)
        vbox(*parts, of=self, margins=8, spacing=6)
        selection.devices_changed.connect(self._on_devices)
        selection.changed.connect(self._show_counts)
        selection.badges_changed.connect(self._show_badges)
        self._show_badges()
        self._show_counts()
        self._expand()

    def fill(self) -> None:
        """Show the devices, if they are not there yet."""
        if not self._is_filled:
            self._on_filter()

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.search_box.focus()

    def tick(self, device_ids: Sequence[str]) -> None:
        """Check devices and go to the first of them; a search that leaves it out is cleared."""
        self.fill()
        self.selection.select(device_ids, selected=True)
        first = device_ids[0]
        if not self.model.index_of(first).isValid():
            self.search_box.clear()
            self.checked_only.setChecked(False)
        index = self.model.index_of(first)
        self.tree.scrollTo(index)
        self.tree.setCurrentIndex(index)
        self.tree.setFocus()

    def _tick_first(self) -> None:
        """Check the device that the search means, else the first found; other words may follow."""
        words = self.search_box.text().strip()
        try:
            meant = self.selection.catalogue.match(words).devices if words else ()
        except InputError:  # several devices, or none
            meant = ()
        ids = [device.id for device in meant] or self.model.visible_device_ids()
        if words and ids:
            self.selection.select(ids[:1], selected=True)
            self.tree.scrollTo(self.model.index_of(ids[0]))
            self.search_box.focus()

    def select_visible(self, *, selected: bool) -> None:
        """Check or uncheck every device that the search leaves."""
        self.fill()
        self.selection.select(self.model.visible_device_ids(), selected=selected)

    def _show_badges(self) -> None:
        """Leave the room to the names where the panel is narrow, or while there is no number."""
        has_room = self.selection.has_badges and self.width() >= _BASIS_FITS_PX
        self.tree.setColumnHidden(Column.BASIS, not has_room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_badges()

    def _build_header(self) -> QHBoxLayout:
        check = tool_button("All", "Check every device that is shown", "Check all shown targets")
        self.none_button = tool_button(
            "None", "Uncheck every device that is shown", "Uncheck all shown targets"
        )
        check.clicked.connect(lambda _: self.select_visible(selected=True))
        self.none_button.clicked.connect(lambda _: self.select_visible(selected=False))
        return hbox(self.heading, STRETCH, check, self.none_button)

    def _build_checked_only(self) -> QToolButton:
        made = tool_button("Checked", "Show the checked devices only", "Show checked targets only")
        made.setCheckable(True)
        made.toggled.connect(self._on_filter)
        return made

    def _build_tree(self) -> QTreeView:
        tree = QTreeView()
        tree.setModel(self.model)
        tree.setItemDelegate(RowDelegate(tree))
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
        self._show_rows()
        self._expand()

    def _show_rows(self) -> None:
        self._is_filled = True
        checked_only = self.checked_only.isChecked()
        self.model.set_filter(self.search_box.text(), checked_only=checked_only)
        self._nothing.setHidden(self.model.has_devices)

    def _on_devices(self) -> None:
        """Show other devices; open groups stay open, and the place that was looked at."""
        if not self._is_filled:
            self.fill()
            self._show_counts()
            return
        place = self.tree.verticalScrollBar().value()
        closed = {path for path, index in self.model.groups() if not self.tree.isExpanded(index)}
        self._show_rows()
        for path, index in self.model.groups():
            self.tree.setExpanded(index, path not in closed)
        self.tree.verticalScrollBar().setValue(place)
        self._show_counts()

    def _expand(self) -> None:
        """Open every group of a search; without one, the groups that hold a checked device.

        Many products stay closed: their names are what is looked for.
        """
        if self.search_box.text().strip() or self.checked_only.isChecked():
            self.tree.expandAll()
            products = self.model.product_indexes()
            for index in products if len(products) > _MAX_OPEN_PRODUCTS else ():
                self.tree.collapse(index)
        else:
            self._open_checked(QModelIndex())

    def _open_checked(self, parent: QModelIndex) -> None:
        for row in range(self.model.rowCount(parent)):
            index = self.model.index(row, 0, parent)
            if not self.model.rowCount(index):
                continue
            state = index.data(Qt.ItemDataRole.CheckStateRole)
            if Qt.CheckState(state) is not Qt.CheckState.Unchecked:
                self.tree.expand(index)
                self._open_checked(index)

    def _show_menu(self, place: QPoint) -> None:
        device = self.model.device(self.tree.indexAt(place))
        if device is not None:
            menu = target_menu(self.selection, self._shelf, self._ranking, device, self)
            menu.addAction("Show in Devices", lambda: self.details_requested.emit(device.id))
            menu.popup(self.tree.viewport().mapToGlobal(place))

    def _on_clicked(self, index: QModelIndex) -> None:
        device = self.model.device(index)
        if device is not None and index.column() == Column.STAR:
            favourite = device.id not in self.selection.favourites
            self.selection.set_favourite(device.id, favourite=favourite)

    def _on_activated(self, index: QModelIndex) -> None:
        device = self.model.device(index)
        if device is not None and index.column() != Column.STAR:
            self.device_activated.emit(device.id)

    def _show_counts(self) -> None:
        checked, count = len(self.selection.selected_ids), len(self.selection.catalogue.by_id)
        self.heading.setText(f"Targets ({checked} of {count})")


def target_menu(
    selection: TargetSelection,
    shelf: ModelShelf,
    ranking: ConfigurationRanking,
    device: Device,
    parent: QWidget,
) -> QMenu:
    """Return the menu of a device; it goes when it is closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    favourite = device.id in selection.favourites
    menu.addAction(
        "Unpin" if favourite else "Pin below This PC",
        lambda: selection.set_favourite(device.id, favourite=not favourite),
    )
    _add_choices(menu, selection, ranking, device)
    menu.addAction(
        "Add Variant…", lambda: VariantDialog(selection, shelf, ranking, device, parent).open()
    )
    menu.addAction("What If…", lambda: WhatIfDialog(selection, device, parent).show())
    if variants := selection.variants_of(device):
        removable = menu.addMenu("Remove Variant")
        for variant in variants:
            action = removable.addAction(target_text(variant))
            action.triggered.connect(lambda _=False, c=variant: selection.remove_variant(device, c))
    return menu


def _add_choices(
    menu: QMenu, selection: TargetSelection, ranking: ConfigurationRanking, device: Device
) -> None:
    """Add the configurations of a device, the fastest first once they are predicted."""
    choices = menu.addMenu("Configuration")
    configurations = selection.choices(device)
    further = _further_menu(selection, device, choices)

    def show(ranked: Ranked) -> None:
        # Under the pointer nothing moves.
        if not choices.isVisible():
            choices.clear()  # it leaves submenus alone: the same one is added again
            _fill_choices(choices, selection, device, ranked)
            if not further.isEmpty():
                choices.addSeparator()
                choices.addMenu(further)

    show(ranking.unpredicted(device, configurations))
    task = ranking.submit(device, configurations, show)
    menu.destroyed.connect(task.cancel)


def _fill_choices(
    choices: QMenu, selection: TargetSelection, device: Device, ranked: Ranked
) -> None:
    group, chosen = QActionGroup(choices), selection.configuration_of(device)
    for number, choice in enumerate(ranked):
        if choice.needs_quantising and number and not ranked[number - 1].needs_quantising:
            choices.addSeparator()
        configuration = choice.configuration
        default = " (default)" if configuration == device.configurations[0] else ""
        action = choices.addAction(f"{choice.words}{default}")
        action.setCheckable(True)
        action.setChecked(configuration == chosen)
        group.addAction(action)
        action.triggered.connect(
            lambda _=False, c=configuration: selection.set_configuration(device, c)
        )


def _further_menu(selection: TargetSelection, device: Device, parent: QMenu) -> QMenu:
    """Return a menu of the configurations that a device does not list."""
    from predictor.services.prediction.configurations import (
        further_configurations,
    )

    menu = QMenu("Other Runtimes", parent)
    for configuration in further_configurations(device):
        action = menu.addAction(target_text(configuration))
        action.triggered.connect(
            lambda _=False, c=configuration: selection.set_configuration(device, c)
        )
    return menu
