"""Paints the bar of a share beside its text."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from ctm_gui.models.operators_model import BAR_ROLE
from ctm_gui.theme import LIGHT, Theme
from ctm_gui.views.cell_delegate import CellDelegate, Index

# Room for a text like 99.99 % at the right.
TEXT_PX = 66
LEAST_PX = 150


class ShareDelegate(CellDelegate):
    """A bar at the left, as long as the share is of the largest one; the text at the right."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colour for the bars."""
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the cell, and its bar to the left of the text."""
        length = index.data(BAR_ROLE)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        super().paint(painter, option, index)
        if not length:
            return
        colour = QColor(self._theme.on_accent if selected else self._theme.series[0])
        room = QRectF(option.rect).adjusted(4, 4, -TEXT_PX, -4)
        room.setWidth(room.width() * float(length))
        painter.fillRect(room, colour)
