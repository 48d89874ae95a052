"""The open models as rows of a list: those of the shelf, then the language models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ctm_gui.models.shelf import ModelEntry, ModelShelf, ModelState
from predictor.core.text import printable
from predictor.core.units import format_count

Index = QModelIndex | QPersistentModelIndex


class ModelRole(IntEnum):
    """Roles beside Qt's own."""

    FACTS = Qt.ItemDataRole.UserRole + 1  # the line below the name
    STATE = Qt.ItemDataRole.UserRole + 2  # ModelState


class LanguageRow(NamedTuple):
    """A language model in the list: path, a label that no other has, size in words."""

    path: str
    label: str
    size: str


class ModelsListModel(QAbstractListModel):
    """One row a model; follows the shelf's signals. The language models are the last rows."""

    def __init__(self, shelf: ModelShelf, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._language: list[LanguageRow] = []
        shelf.inserting.connect(lambda a, b: self.beginInsertRows(QModelIndex(), a, b))
        shelf.inserted.connect(lambda _a, _b: self.endInsertRows())
        shelf.removing.connect(lambda a, b: self.beginRemoveRows(QModelIndex(), a, b))
        shelf.removed.connect(lambda _a, _b: self.endRemoveRows())
        shelf.entry_changed.connect(self._on_changed)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._shelf.entries) + len(self._language)

    def language_path(self, row: int) -> str:
        """Return the path of the language model of a row; empty where it is another model."""
        place = row - len(self._shelf.entries)
        return self._language[place].path if 0 <= place < len(self._language) else ""

    def row_of(self, path: str) -> int:
        """Return the row of a language model; -1 where it is not open."""
        paths = [row.path for row in self._language]
        return len(self._shelf.entries) + paths.index(path) if path in paths else -1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if (place := index.row() - len(self._shelf.entries)) >= 0:
            return _language_data(self._language[place], role)
        read = _ROLES.get(role)
        return None if read is None else read(self._shelf.entries[index.row()])

    def show_language(self, now: Sequence[LanguageRow]) -> None:
        """Show other language models."""
        first, paths = len(self._shelf.entries), [row.path for row in now]
        for path in [row.path for row in self._language if row.path not in paths]:
            row = self.row_of(path)
            self.beginRemoveRows(QModelIndex(), row, row)
            del self._language[row - first]
            self.endRemoveRows()
        for place, path in enumerate(paths):
            if self.row_of(path) < 0:
                self.beginInsertRows(QModelIndex(), first + place, first + place)
                self._language.insert(place, now[place])
                self.endInsertRows()
        if self._language != list(now):  # another one has a label that was one's alone
            self._language = list(now)
            self.dataChanged.emit(self.index(first), self.index(first + len(now) - 1))

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


def _language_data(row: LanguageRow, role: int) -> object:
    data: dict[int, object] = {
        Qt.ItemDataRole.DisplayRole: row.label,
        Qt.ItemDataRole.ToolTipRole: f"{printable(row.path)}\nTokens a second and memory",
        Qt.ItemDataRole.AccessibleTextRole: f"Language model {row.label}: {row.size}",
        ModelRole.FACTS: f"language model · {row.size}",
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
