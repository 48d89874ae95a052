"""The catalogue as a tree with check boxes: this machine, then families, vendors, devices."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
)

from ctm_gui.targets.choice import TargetSelection
from ctm_gui.targets.products import find_products
from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.tooltips import as_tooltip
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.core.text import plural
from predictor.presentation.wording import target_text
from predictor.services.devices.this_machine import machine_title

# Height of a row; the width follows the column.
_ROW_SIZE = QSize(0, 22)
# Joined once: the view asks a thousand times before its first frame.
_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_NAME_FLAGS = _FLAGS | Qt.ItemFlag.ItemIsUserCheckable
_ANNOUNCED = 12  # changes at once
_TURN_S = 0.005  # of more changes

Index = QModelIndex | QPersistentModelIndex

FAMILY_NAMES = {
    Family.GPU: "GPUs",
    Family.CPU: "CPUs",
    Family.MOBILE_CPU: "Mobile CPUs",
    Family.MOBILE_GPU: "Mobile GPUs",
    Family.NPU: "NPUs and DSPs",
    Family.FPGA: "FPGAs",
    Family.ASIC: "Accelerators",
    Family.MCU: "Microcontrollers",
}
_FAMILY_ORDER = {family: place for place, family in enumerate(Family)}

FAVOURITES, PRODUCTS = "Pinned", "Products"


class Column(IntEnum):
    """Columns of the tree."""

    NAME = 0
    BASIS = 1
    STAR = 2


@dataclass(slots=True, eq=False)
class _Node:
    """A family, a vendor, a product or a device; a group's devices are those below it."""

    text: str
    parent: _Node | None
    device: Device | None = None
    children: list[_Node] = field(default_factory=list)
    tip: str = ""
    _ids: frozenset[str] | None = field(default=None, init=False)

    @property
    def is_checkable(self) -> bool:
        """Whether there is a device to check."""
        return self.device is not None or bool(self.children)

    @property
    def row(self) -> int:
        return self.parent.children.index(self) if self.parent else 0

    def devices(self) -> Iterator[Device]:
        return (node.device for node in self.device_nodes() if node.device is not None)

    def device_nodes(self) -> Iterator[_Node]:
        stack = [self]
        while stack:
            node = stack.pop()
            if node.device is not None:
                yield node
            stack += reversed(node.children)

    @property
    def ids(self) -> frozenset[str]:
        """Of its devices; they are asked for at each paint, when the tree is complete."""
        if self._ids is None:
            self._ids = frozenset(device.id for device in self.devices())
        return self._ids

    def child(self, text: str) -> _Node:
        """Return the group of this name below, made where it is missing."""
        for node in reversed(self.children):  # devices come sorted: the last one, nearly always
            if node.text == text and node.device is None:
                return node
        node = _Node(text, self)
        self.children.append(node)
        return node


class TargetsTreeModel(QAbstractItemModel):
    """Family > vendor > device. Groups have three states; a search hides devices that do not match.

    This machine is the first row, above the groups. Pinned devices stand in a group of their own as
    well, and so do the products that a search names, the newest first, each with its devices.
    Checking a group checks the devices that are shown below it.

    Args:
        selection: of the devices.
        parent: owner.
        is_late: there are no rows before the first ``set_filter``, and no file of a device is read.
    """

    def __init__(
        self, selection: TargetSelection, parent: QObject | None = None, *, is_late: bool = False
    ) -> None:
        super().__init__(parent)
        self._selection = selection
        self._search = ""
        self._checked_only = False
        self._root = _Node("", None) if is_late else self._build()
        self._checked = frozenset(selection.selected_ids)
        selection.changed.connect(self._refresh_checks)
        selection.badges_changed.connect(self._refresh_badges)

    def set_filter(self, text: str, *, checked_only: bool) -> None:
        """Show the devices in which every word of ``text`` occurs, and that are checked now."""
        self.beginResetModel()
        self._search, self._checked_only = text, checked_only
        self._root = self._build()
        self.endResetModel()

    def visible_device_ids(self) -> list[str]:
        """Return the ids of the devices that the search leaves."""
        return list(dict.fromkeys(device.id for device in self._root.devices()))

    def device(self, index: Index) -> Device | None:
        """Return the device of a row, None for a group."""
        return self._node(index).device

    def index_of(self, device_id: str) -> QModelIndex:
        """Return the first row of a device; an invalid index where the search leaves it out."""
        nodes = (n for n in self._root.device_nodes() if n.device and n.device.id == device_id)
        node = next(nodes, None)
        return QModelIndex() if node is None else self._index(node)

    def product_indexes(self) -> list[QModelIndex]:
        """Return the rows of the products that the search names."""
        groups = (node for node in self._root.children if node.text == PRODUCTS)
        return [self._index(product) for group in groups for product in group.children]

    def groups(self) -> Iterator[tuple[tuple[str, ...], QModelIndex]]:
        """Yield the titles that lead to each group, its own at the end, and its row."""
        for node in self._groups():
            if node is not self._root:
                yield tuple(reversed([part.text for part in self._way_up(node)])), self._index(node)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        children = self._node(parent).children
        if 0 <= row < len(children) and 0 <= column < len(Column):
            # The pointer does not keep a node alive: the tree under _root does.
            return self.createIndex(row, column, children[row])
        return QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]
        node = self._node(index).parent
        return QModelIndex() if node is None or node is self._root else self._index(node)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        # Qt's rule: only the first column has children.
        return 0 if parent.column() > 0 else len(self._node(parent).children)

    def columnCount(self, _: Index = QModelIndex()) -> int:
        return len(Column)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        is_checkable = index.column() == Column.NAME and self._node(index).is_checkable
        return _NAME_FLAGS if is_checkable else _FLAGS

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node = self._node(index)
        if index.column() == Column.BASIS:
            return self._basis(node, role)
        if index.column() == Column.STAR:
            return self._star(node, role)
        if role == Qt.ItemDataRole.CheckStateRole:
            return self._check_state(node) if node.is_checkable else None
        read = _ROLES.get(role)
        return None if read is None else read(node)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        checked = Qt.CheckState(value) is Qt.CheckState.Checked
        ids = [device.id for device in self._node(index).devices()]
        self._selection.select(ids, selected=checked)
        return True

    def _basis(self, node: _Node, role: int) -> Any:
        if node.device is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        word, sentence = self._selection.badge(node.device.id)
        if role == Qt.ItemDataRole.DisplayRole:
            return word
        return sentence if role == Qt.ItemDataRole.ToolTipRole and sentence else None

    def _star(self, node: _Node, role: int) -> Any:
        if node.device is None:
            return None
        favourite = node.device.id in self._selection.favourites
        words = {
            Qt.ItemDataRole.DisplayRole: "★" if favourite else "☆",
            Qt.ItemDataRole.TextAlignmentRole: Qt.AlignmentFlag.AlignCenter,
            Qt.ItemDataRole.ToolTipRole: "Unpin" if favourite else "Pin below This PC",
            Qt.ItemDataRole.AccessibleTextRole: "pinned" if favourite else "not pinned",
        }
        return words.get(Qt.ItemDataRole(role))

    def _check_state(self, node: _Node) -> Qt.CheckState:
        checked = self._selection.count_selected(node.ids)
        if 0 < checked < len(node.ids):
            return Qt.CheckState.PartiallyChecked
        return Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked

    def _node(self, index: Index) -> _Node:
        node = index.internalPointer() if index.isValid() else None
        return node if isinstance(node, _Node) else self._root

    def _index(self, node: _Node, column: int = 0) -> QModelIndex:
        return self.createIndex(node.row, column, node)

    def _build(self) -> _Node:
        root = _Node("", None)
        favourites = root.child(FAVOURITES) if self._selection.favourites else None
        catalogue = self._selection.catalogue
        for device in sorted(catalogue.search(self._search), key=_order):
            if self._checked_only and not self._selection.is_selected(device.id):
                continue
            if device.id == catalogue.machine_id:
                name = machine_title(device) + self._chosen_words(device)
                root.children.insert(0, _Node(name, root, device))
                continue
            vendor = root.child(FAMILY_NAMES[device.family]).child(device.vendor)
            name = _short(device) + self._chosen_words(device)
            vendor.children.append(_Node(name, vendor, device))
            if favourites is not None and device.id in self._selection.favourites:
                name = device.name + self._chosen_words(device)
                favourites.children.append(_Node(name, favourites, device))
        if favourites is not None and not favourites.children:
            root.children.remove(favourites)
        if (products := self._product_group(root)).children:
            root.children.insert(_first_group(root), products)
        return root

    def _product_group(self, root: _Node) -> _Node:
        """Return the products that the search names, a group each with its devices."""
        group = _Node(PRODUCTS, root)
        products, more = find_products(self._selection.catalogue, self._search)
        for product in products:
            node = _Node(product.title, group, tip=product.sentence)
            node.children = [
                _Node(_unit_name(unit, device) + self._chosen_words(device), node, device)
                for unit, device in product.units
                if not self._checked_only or self._selection.is_selected(device.id)
            ]
            if node.children or not self._checked_only:
                group.children.append(node)
        if more and not self._checked_only:
            group.children.append(_Node(f"{more} more: type another word", group))
        return group

    def _chosen_words(self, device: Device) -> str:
        """Return the configuration of a device where it is not the usual one, and its variants."""
        if not self._selection.has_choice(device.id):
            return ""  # nearly all of them
        chosen = self._selection.configuration_of(device)
        is_usual = chosen == device.configurations[0]
        parts = [] if is_usual else [target_text(chosen)]
        if what_if := self._selection.what_ifs.get(device.id):
            parts.append(f"what if {what_if.words}")
        if variants := self._selection.variants_of(device):
            parts.append(f"+{plural(len(variants), 'variant')}")
        return "".join(f" · {words}" for words in parts)

    def _refresh_checks(self) -> None:
        before, self._checked = self._checked, frozenset(self._selection.selected_ids)
        self._refresh(before ^ self._checked, Column.NAME)

    def _refresh_badges(self, device_ids: frozenset[str]) -> None:
        self._refresh(device_ids, Column.BASIS)

    def _refresh(self, device_ids: frozenset[str], column: Column) -> None:
        """Announce that devices, and the groups that they are in, are others in a column.

        Each change of neighbours costs the view a quarter of a millisecond, and more where many
        groups are open: many come in turns.
        """
        changed = [
            nodes
            for group in self._groups()
            if (nodes := [c for c in group.children if not device_ids.isdisjoint(c.ids)])
        ]
        if len(changed) > _ANNOUNCED:
            in_turns(self._announcing(self._root, changed, column), self)
        else:
            for nodes in changed:
                self._announce(nodes, column)

    def _announcing(
        self, root: _Node, changed: Sequence[Sequence[_Node]], column: Column
    ) -> Iterator[None]:
        until_s = time.perf_counter() + _TURN_S
        for nodes in changed:
            if self._root is not root:
                return  # its rows are announced as new ones
            self._announce(nodes, column)
            if time.perf_counter() > until_s:
                yield
                until_s = time.perf_counter() + _TURN_S

    def _groups(self) -> Iterator[_Node]:
        stack = [self._root]
        while stack:
            node = stack.pop()
            if node.children:
                yield node
                stack.extend(node.children)

    def _way_up(self, node: _Node) -> Iterator[_Node]:
        while node.parent is not None:
            yield node
            node = node.parent

    def _announce(self, nodes: Sequence[_Node], column: Column) -> None:
        """Announce that the first of these neighbours, the last and all between are others."""
        self.dataChanged.emit(self._index(nodes[0], column), self._index(nodes[-1], column))


def _first_group(root: _Node) -> int:
    """Return the row below this machine."""
    return int(bool(root.children) and root.children[0].device is not None)


def _short(device: Device) -> str:
    """Return a device's name without its vendor."""
    return device.name.removeprefix(f"{device.vendor} ")


def _unit_name(unit: str, device: Device) -> str:
    """Return a unit's name and its device's, which often ends in the former."""
    return f"{unit}: {_short(device).removesuffix(f' ({unit})')}"


def _order(device: Device) -> tuple[int, str, str]:
    return _FAMILY_ORDER[device.family], device.vendor.casefold(), device.name.casefold()


def describe(device: Device) -> str:
    """Return the tooltip of a device: usual configuration, number of facts, notes."""
    usual = device.configurations[0]
    facts = len(device.metrics)
    threads = f", {usual.threads} threads" if usual.threads else ""
    lines = [
        f"{device.name} ({device.id})",
        f"Default configuration: {usual.runtime}, {usual.precision}{threads}",
        f"{plural(facts, 'hardware fact')} known",
    ]
    if usual.precision.explanation:
        lines.append(usual.precision.explanation)
    if device.notes:
        lines.append(device.notes)
    return "\n".join(lines)


def _tip(node: _Node) -> str | None:
    # Names and notes of the user's devices come from files: never markup.
    text = describe(node.device) if node.device else node.tip
    return as_tooltip(text) if text else None


_ROLES: dict[int, Callable[[_Node], object]] = {
    Qt.ItemDataRole.DisplayRole: lambda node: node.text,
    Qt.ItemDataRole.SizeHintRole: lambda _: _ROW_SIZE,
    Qt.ItemDataRole.ToolTipRole: _tip,
}
