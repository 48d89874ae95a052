"""Legend of the colours of the graph, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ctm_gui.graph.boxes_plot import HEATS, Colouring, mixed, words_font
from ctm_gui.graph.facts import KINDS
from ctm_gui.widgets.axes import AT_LEFT
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import percent
from predictor.services.prediction.explain import BOUND_TYPES

_NO_ATTENTION = "none: the prediction is analytic"
_HEIGHT_PX, _SWATCH_PX, _RAMP_PX, _GAP_PX, _STRIPE_PX = 20, 12, 90, 16, 8


class Legend(QWidget):
    """Colours of boxes, then of the stripes at their left: kinds of operators that there are.

    Args:
        options: the theme.
    """

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options, self._colouring = options, Colouring.TIME
        options.theme_changed.connect(self.update)
        self._largest = 0.0
        self._kinds: Sequence[int] = ()
        self._metrics: Sequence[str] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Colours")

    def sizeHint(self) -> QSize:
        return QSize(400, _HEIGHT_PX)

    def show_colours(
        self,
        colouring: Colouring,
        largest: float,
        kinds: Sequence[int],
        metrics: Sequence[str] = (),
    ) -> None:
        """Show other colours.

        Args:
            colouring: of the boxes.
            largest: the share that the last colour stands for.
            kinds: indices in ``KINDS``.
            metrics: labels of those that have a series in the colours of attention.
        """
        self._colouring, self._largest, self._kinds = colouring, largest, kinds
        self._metrics = metrics
        boxes = f"Boxes: {colouring}, up to {percent(largest, 2)}"
        if colouring is Colouring.ATTENTION:
            boxes += f"; colours: {', '.join(metrics) or _NO_ATTENTION}"
        names = ", ".join(KINDS[kind][0] for kind in kinds)
        self.setAccessibleDescription(f"{boxes}. Stripes: {names}.")
        self.setToolTip("" if not names else f"{boxes}\nStripes: {names}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = words_font(self.font())
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        x = self._paint_boxes(painter, metrics)
        words = [KINDS[kind][0] for kind in self._kinds]
        count = fitting([self._word_px(metrics, word) for word in words], self.width() - x)
        for kind, word in zip(self._kinds[:count], words, strict=False):
            stripe = QRectF(x, 3, 4, _HEIGHT_PX - 6)
            painter.fillRect(stripe, QColor(self._options.theme.series[kind]))
            x = self._write(painter, metrics, x + _STRIPE_PX, word)
        if count < len(words):
            self._write(painter, metrics, x, "…")  # the tooltip has all of them

    def _paint_boxes(self, painter: QPainter, metrics: QFontMetricsF) -> float:
        theme = self._options.theme
        if self._colouring in HEATS:
            x = self._write(painter, metrics, 0, "0 %", gap_px=6)
            ramp = QLinearGradient(QPointF(x, 0), QPointF(x + _RAMP_PX, 0))
            for place, name in enumerate(theme.heat):
                # The square root, as boxes have it.
                ramp.setColorAt((place / (len(theme.heat) - 1)) ** 2, QColor(name))
            painter.setPen(QPen(QColor(theme.outline), 1.0))
            painter.setBrush(ramp)
            painter.drawRoundedRect(QRectF(x, 4.5, _RAMP_PX, _HEIGHT_PX - 9), 3, 3)
            what = "time" if self._colouring is Colouring.TIME else "bytes moved"
            largest = f"{percent(self._largest, 2)} of the {what}"
            return self._write(painter, metrics, x + _RAMP_PX + 6, largest)
        x = 0.0
        words = [f"bound by {word}" for word in BOUND_TYPES]
        if self._colouring is Colouring.ATTENTION:
            words = list(self._metrics)
            if not words:
                return self._write(painter, metrics, x, _NO_ATTENTION)
        for series, word in enumerate(words):
            painter.setPen(QPen(QColor(theme.outline), 1.0))
            painter.setBrush(mixed(theme.surface, theme.series[series], 0.75))
            painter.drawRoundedRect(QRectF(x + 0.5, 4.5, _SWATCH_PX, _HEIGHT_PX - 9), 3, 3)
            x = self._write(painter, metrics, x + _SWATCH_PX + 6, word)
        return x

    @staticmethod
    def _word_px(metrics: QFontMetricsF, word: str) -> float:
        return _STRIPE_PX + metrics.horizontalAdvance(word) + 2 + _GAP_PX

    def _write(
        self,
        painter: QPainter,
        metrics: QFontMetricsF,
        x: float,
        text: str,
        gap_px: float = _GAP_PX,
    ) -> float:
        """Write a word and return where the next thing begins."""
        width = metrics.horizontalAdvance(text) + 2
        painter.setPen(QColor(self._options.theme.muted))
        painter.drawText(QRectF(x, 0, width, _HEIGHT_PX), AT_LEFT, text)
        return x + width + gap_px


def fitting(widths: Sequence[float], room: float) -> int:
    """Return how many of the first words fit with their gaps, those without leave an ellipsis.

    Args:
        widths: of the words, each with the gap behind it, in pixels; an ellipsis fits in a gap.
        room: pixels.
    """
    for count in range(len(widths), 0, -1):
        # The gap behind the last word is free where nothing follows.
        width_px = sum(widths[:count]) - (_GAP_PX if count == len(widths) else 0)
        if width_px <= room - (0 if count == len(widths) else _GAP_PX):
            return count
    return 0
