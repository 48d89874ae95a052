"""The open models as rows of a list: those of the shelf, then the language model."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ctm_gui.models.shelf import ModelEntry, ModelShelf, ModelState
from predictor.core.text import printable
from predictor.core.units import format_count
from predictor.presentation.wording import shown

if TYPE_CHECKING:
    from predictor.services.models.language import LanguageModel

Index = QModelIndex | QPersistentModelIndex


class ModelRole(IntEnum):
    """Roles beside Qt's own."""

    FACTS = Qt.ItemDataRole.UserRole + 1  # the line below the name
    STATE = Qt.ItemDataRole.UserRole + 2  # ModelState


class ModelsListModel(QAbstractListModel):
    """One row a model; follows the shelf's signals. The language model is the last row."""

    def __init__(self, shelf: ModelShelf, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._decoder: LanguageModel | None = None
        shelf.inserting.connect(lambda a, b: self.beginInsertRows(QModelIndex(), a, b))
        shelf.inserted.connect(lambda _a, _b: self.endInsertRows())
        shelf.removing.connect(lambda a, b: self.beginRemoveRows(QModelIndex(), a, b))
        shelf.removed.connect(lambda _a, _b: self.endRemoveRows())
        shelf.entry_changed.connect(self._on_changed)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        count = len(self._shelf.entries) + (self._decoder is not None)
        return 0 if parent.isValid() else count

    def is_language(self, row: int) -> bool:
        """Whether a row is the language model."""
        return self._decoder is not None and row == len(self._shelf.entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if self._decoder is not None and self.is_language(index.row()):
            return _language_data(self._decoder, role)
        read = _ROLES.get(role)
        return None if read is None else read(self._shelf.entries[index.row()])

    def show_language(self, now: LanguageModel | None) -> None:
        """Show another language model, or none."""
        before = self._decoder
        row = len(self._shelf.entries)
        if before is None and now is not None:
            self.beginInsertRows(QModelIndex(), row, row)
            self._decoder = now
            self.endInsertRows()
        elif before is not None and now is None:
            self.beginRemoveRows(QModelIndex(), row, row)
            self._decoder = None
            self.endRemoveRows()
        elif now is not before:
            self._decoder = now
            self._on_changed(row)

    def _on_changed(self, row: int) -> None:
        index = self.index(row)
        self.dataChanged.emit(index, index)


def facts(entry: ModelEntry) -> str:
    """Return size and operators of a model in one line, or the state of its reading."""
    if entry.state is ModelState.FAILED and entry.error is not None:
        return printable(entry.error.reason)
    if entry.model is None:
        return "reading…" if entry.state is ModelState.READING else "waiting…"
    graph = entry.model.graph
    parts = [
        f"{format_count(graph.parameters)} params",
        f"{format_count(int(graph.macs.sum()))} MACs",
        f"{format_count(len(graph))} ops",
    ]
    if entry.pending:
        parts.append("reading again…")
    return " · ".join(parts)


def tooltip(entry: ModelEntry) -> str:
    """Return the tooltip of a model: path, and the error or the notes of its file."""
    lines = [printable(entry.path)]
    if entry.error is not None:
        lines.append(str(entry.error))
    elif entry.model is not None:
        lines.extend(note for note in map(printable, entry.model.notes[:5]))
    return "\n".join(lines)


def _language_data(model: LanguageModel, role: int) -> object:
    from predictor.services.generation.document import size_of

    name, size = shown(model.architecture.name), size_of(model.architecture)
    data: dict[int, object] = {
        Qt.ItemDataRole.DisplayRole: name,
        Qt.ItemDataRole.ToolTipRole: f"{name}: tokens a second and memory",
        Qt.ItemDataRole.AccessibleTextRole: f"Language model {name}: {size}",
        ModelRole.FACTS: f"language model · {size}",
        ModelRole.STATE: ModelState.READY,
    }
    return data.get(role)


_ROLES: dict[int, Callable[[ModelEntry], object]] = {
    Qt.ItemDataRole.DisplayRole: lambda entry: entry.name,
    Qt.ItemDataRole.ToolTipRole: tooltip,
    Qt.ItemDataRole.AccessibleTextRole: lambda entry: f"{entry.name}: {facts(entry)}",
    ModelRole.FACTS: facts,
    ModelRole.STATE: lambda entry: entry.state,
}
