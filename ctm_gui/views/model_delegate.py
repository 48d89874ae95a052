"""Rows of the Models list: name, facts below it, a cross that takes it away."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ctm_gui.models.models_list import ModelRole
from ctm_gui.presenters.shelf import ModelState
from ctm_gui.theme import LIGHT, Theme

Index = QModelIndex | QPersistentModelIndex

_PADDING = 6
_CROSS = 16
_BAR = 3


class ModelDelegate(QStyledItemDelegate):
    """Draws two lines a row; ``close_clicked`` gives the row whose cross was clicked.

    The cross is for the mouse only: Delete, the context menu and the buttons of the details do the
    same by keyboard.
    """

    close_clicked = QtSignal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme

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
        painter.setPen(QPen(QColor(self._theme.grid)))
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
        theme = self._theme
        failed = _state(index) is ModelState.FAILED
        inner = rect.adjusted(_PADDING, _PADDING, -_PADDING - _CROSS - 4, -_PADDING)
        height = inner.height() // 2
        font = QFont(painter.font())
        font.setWeight(QFont.Weight.DemiBold)
        name_rect = QRect(inner.left(), inner.top(), inner.width(), height)
        facts_rect = name_rect.translated(0, height)
        painter.setFont(font)
        self._draw(
            painter, name_rect, str(index.data()), theme.on_accent if selected else theme.text
        )
        font.setWeight(QFont.Weight.Normal)
        painter.setFont(font)
        quiet = theme.bad if failed else theme.muted
        facts = str(index.data(ModelRole.FACTS))
        self._draw(painter, facts_rect, facts, theme.on_accent if selected else quiet)

    @staticmethod
    def _draw(painter: QPainter, rect: QRect, text: str, colour: str) -> None:
        painter.setPen(QColor(colour))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_cross(self, painter: QPainter, rect: QRect, *, selected: bool) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self._theme.on_accent if selected else self._theme.muted
        painter.setPen(QPen(QColor(colour), 1.6))
        inner = rect.adjusted(4, 4, -4, -4)
        painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.drawLine(inner.topRight(), inner.bottomLeft())

    def _paint_bar(self, painter: QPainter, rect: QRect) -> None:
        bar = QRect(rect.left(), rect.bottom() - _BAR, rect.width(), _BAR)
        painter.fillRect(bar, QColor(self._theme.accent))

    @staticmethod
    def _cross(rect: QRect) -> QRect:
        top = rect.center().y() - _CROSS // 2
        return QRect(rect.right() - _PADDING - _CROSS, top, _CROSS, _CROSS)


def _state(index: Index) -> ModelState:
    # Qt hands a text enumeration on as plain text.
    return ModelState(index.data(ModelRole.STATE))
