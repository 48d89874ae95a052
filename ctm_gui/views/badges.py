"""Badges: a word in a frame, the firmer the more the number rests on measuring."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from ctm_gui.presenters.comparison import Badge, BadgeStyle
from ctm_gui.theme import Theme

BADGE_PX = 15.0
_SMALLER = 0.85
_PADDING_PX = 5.0
_ROUND_PX = 4.0


def badge_font(font: QFont) -> QFont:
    """Return the font of badges beside text in ``font``."""
    small = QFont(font)
    if font.pixelSize() > 0:
        small.setPixelSize(round(font.pixelSize() * _SMALLER))
    else:
        small.setPointSizeF(font.pointSizeF() * _SMALLER)
    return small


def badge_width(badge: Badge, font: QFont) -> float:
    """Return the width of a badge in its font."""
    return QFontMetricsF(font).horizontalAdvance(badge.text) + 2 * _PADDING_PX


def paint_badge(painter: QPainter, frame: QRectF, badge: Badge, theme: Theme, font: QFont) -> None:
    """Paint a badge into its frame."""
    colour = QColor(theme.warn if badge.style is BadgeStyle.WARNING else theme.muted)
    filled = badge.style is BadgeStyle.FILLED
    pen = QPen(colour, 1.0)
    if badge.style is BadgeStyle.DASHED:
        pen.setStyle(Qt.PenStyle.DashLine)
    elif badge.style is BadgeStyle.PLAIN:
        pen = QPen(Qt.PenStyle.NoPen)
    painter.setPen(pen)
    # The surface under the words: lines of the grid would cross them out.
    painter.setBrush(colour if filled else QColor(theme.surface))
    painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), _ROUND_PX, _ROUND_PX)
    painter.setFont(font)
    painter.setPen(QColor(theme.surface) if filled else colour)
    painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, badge.text)
