"""Painting around the maps of attention: names of rows and metrics, colour bars, marks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QLinearGradient, QPainter, QPen

from ctm_gui.attention.map import Cell, MapLayout
from ctm_gui.widgets.axes import AT_LEFT, AT_RIGHT, SELECTED_ALPHA, PaintedAxis, faded
from ctm_gui.widgets.elision import elided_path
from ctm_gui.widgets.geometry import shared_widths
from ctm_gui.widgets.theme import Theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import percent, shown

_TITLE_PX = 22
_LABELS_PX = (40, 150)
_BAR_PX = 54
_END = Qt.TextElideMode.ElideRight
_COLOURS = 1024
_QUARTER_GAP = 1 / 6
_FEW_METRICS = 6
_ROUND = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-5)  # shares of marks, by preference


@dataclass(slots=True)
class MapState:
    """State that the parts of the maps paint; the widget changes it and asks for a repaint."""

    font: QFont
    options: ViewOptions
    layout: MapLayout | None = None
    selected: frozenset[int] = field(default_factory=frozenset)
    cell: Cell | None = None

    @property
    def theme(self) -> Theme:
        """Colours of the parts."""
        return self.options.theme


def heat_table(theme: Theme, *, is_signed: bool = False) -> npt.NDArray[np.uint8]:
    """Return the theme's colours of maps from the least to the most share, uint8 [C, 3].

    They follow the square root: beside one large share, small ones would all look like none.

    Args:
        theme: of the window.
        is_signed: whether nothing is in the middle.
    """
    names = theme.change if is_signed else theme.heat
    stops = np.linspace(0, 1, len(names))
    named = [QColor(name) for name in names]
    colours = np.array([(c.red(), c.green(), c.blue()) for c in named], dtype=np.float64)
    places = np.linspace(0, 1, _COLOURS)
    places = signed_place(2 * places - 1) if is_signed else np.sqrt(places)
    channels = [np.interp(places, stops, colours[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=1).round().astype(np.uint8)


class RowNames(PaintedAxis):
    """Names of operators or types on the left, the operator's type muted."""

    def __init__(self, state: MapState) -> None:
        super().__init__("left")
        self._state = state

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the names of the rows in view; none where rows are too thin for them."""
        layout, metrics = self._state.layout, QFontMetricsF(self._state.font)
        if layout is None or layout.row_px < metrics.height() * 0.9:
            return
        top, bottom = self.linkedView().viewRange()[1]
        painter.setClipRect(rect)
        painter.setFont(self._state.font)
        places = layout.places_between(top, bottom)
        for place in range(places.start, places.stop):
            y = rect.top() + place * layout.row_px - top
            room = QRectF(rect.left(), y, rect.width(), layout.row_px)
            self._name(painter, int(layout.order[place]), room, metrics)

    def _name(self, painter: QPainter, row: int, room: QRectF, metrics: QFontMetricsF) -> None:
        state, rows = self._state, self._state.layout.rows if self._state.layout else None
        if rows is None:
            return
        if row in state.selected:
            painter.fillRect(room, faded(state.theme.accent, SELECTED_ALPHA))
        name = shown(rows.names[row])
        kind = shown(rows.types[row]) or f"{int(rows.counts[row])}×"
        if name.endswith(f"/{kind}"):
            kind = ""  # exporters end names in the type: its room is the name's
        inner = room.adjusted(8, 0, -8, 0)
        natural = [metrics.horizontalAdvance(text) + 2 for text in (name, kind)]
        widths = shared_widths(natural, inner.width() - 8, 0.0)
        name_px, kind_px = widths
        name, kind = (
            text if width >= full else elided_path(metrics, text, width)
            for text, full, width in zip((name, kind), natural, widths, strict=True)
        )
        painter.setPen(QColor(state.theme.text))
        painter.drawText(inner.adjusted(0, 0, name_px - inner.width(), 0), AT_LEFT, name)
        painter.setPen(QColor(state.theme.muted))
        painter.drawText(inner.adjusted(inner.width() - kind_px, 0, 0, 0), AT_RIGHT, kind)


class MetricNames(PaintedAxis):
    """Titles of the two maps, and the names of the metrics under them.

    A few names are read from left to right in up to three lines, many upwards.
    """

    def __init__(self, state: MapState) -> None:
        super().__init__("top")
        self._state = state
        self._labels: list[str] = []

    def fit(self) -> None:
        """Take the height of the longest name, within limits."""
        layout = self._state.layout
        labels = layout.summary.labels if layout is not None else ()
        metrics = QFontMetricsF(self._state.font)
        if len(labels) <= _FEW_METRICS:
            self.setHeight(_TITLE_PX + 3 * metrics.lineSpacing() + 6)
            self._labels = list(labels)
            return
        longest = max((metrics.horizontalAdvance(label) for label in labels), default=0.0)
        shortest, longest_px = _LABELS_PX
        room = float(min(max(longest + 12, shortest), longest_px))
        self.setHeight(_TITLE_PX + room)
        self._labels = [metrics.elidedText(label, _END, room - 8) for label in labels]

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint titles and names over their columns."""
        layout = self._state.layout
        if layout is None:
            return
        column_px = rect.width() / layout.columns
        for backward in (False, True):
            x = rect.left() + layout.start(backward=backward) * column_px
            room = QRectF(x, rect.top(), layout.metrics * column_px, rect.height())
            self._title(painter, room, layout.summary.words.titles[backward])
            for metric, label in enumerate(self._labels):
                place = QRectF(x + metric * column_px, room.top(), column_px, room.height())
                cell = self._state.cell
                is_current = cell is not None and (cell.metric, cell.backward) == (metric, backward)
                self._label(painter, place, label, strong=is_current)

    def _title(self, painter: QPainter, room: QRectF, title: str) -> None:
        font = QFont(self._state.font)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(self._state.theme.text))
        short = QFontMetricsF(font).elidedText(title, _END, room.width())
        painter.drawText(QRectF(room.left(), room.top(), room.width(), _TITLE_PX), AT_LEFT, short)

    def _label(self, painter: QPainter, place: QRectF, label: str, *, strong: bool) -> None:
        metrics = QFontMetricsF(self._state.font)
        length = place.height() - _TITLE_PX - 4
        painter.save()
        painter.setFont(self._state.font)
        theme = self._state.theme
        painter.setPen(QColor(theme.text if strong else theme.muted))
        if len(self._labels) <= _FEW_METRICS:
            flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
            room = place.adjusted(0, _TITLE_PX, 0, -2)
            # A word may be a little wider than its column: whole it is better read.
            wrap = Qt.TextFlag.TextWordWrap | Qt.TextFlag.TextDontClip
            painter.drawText(room, flags | wrap, label)
            painter.restore()
            return
        painter.translate(place.center().x(), place.bottom() - 4)
        painter.rotate(-90)
        # The font's height may be more than a narrow column: what is over lies between letters.
        room = QRectF(0, -metrics.height() / 2, length, metrics.height())
        painter.drawText(room, AT_LEFT, label)
        painter.restore()


class ColourBars(PaintedAxis):
    """A bar of colours under each map, from the least to its largest share, with its unit."""

    def __init__(self, state: MapState) -> None:
        super().__init__("bottom")
        self._state = state
        self.setHeight(_BAR_PX)

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint both bars."""
        layout = self._state.layout
        if layout is None:
            return
        column_px = rect.width() / layout.columns
        painter.setFont(self._state.font)
        for backward in (False, True):
            x = rect.left() + layout.start(backward=backward) * column_px
            room = QRectF(x, rect.top() + 6, layout.metrics * column_px, rect.height() - 6)
            unit = layout.summary.words.units[backward]
            self._bar(painter, room, layout.scale(backward=backward), unit)

    def _bar(self, painter: QPainter, room: QRectF, scale: tuple[float, float], unit: str) -> None:
        theme, is_signed = self._state.theme, scale[0] < 0
        colours = theme.change if is_signed else theme.heat
        bar = QRectF(room.left(), room.top(), room.width(), 10)
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        for place, colour in enumerate(colours):
            gradient.setColorAt(place / (len(colours) - 1), QColor(colour))
        painter.fillRect(bar, gradient)
        painter.setPen(QPen(QColor(theme.outline), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        painter.setPen(QColor(theme.muted))
        metrics = QFontMetricsF(self._state.font)
        below = QRectF(bar.left(), bar.bottom() + 2, bar.width(), metrics.height())
        widest = "−00.0 %  " if is_signed else "00.0 %  "
        gap = metrics.horizontalAdvance(widest) / max(bar.width(), 1.0)
        marks = change_marks(scale[1], gap) if is_signed else share_marks(scale, gap)
        for mark, share in marks:
            _mark(painter, below, mark, percent(share, signed=is_signed))
        unit = metrics.elidedText(unit, _END, room.width())
        below.translate(0, metrics.height())
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, unit)


def share_marks(scale: tuple[float, float], gap: float) -> list[tuple[float, float]]:
    """Return places on a bar, 0 to 1, and the shares there: its ends, and round shares between.

    Args:
        scale: shares of the first and the last colour.
        gap: least distance between two places.
    """
    low, high = scale
    marks = [(0.0, low), (1.0, high)]
    for share in _ROUND:
        # The gradient is linear in colour and colours follow the root.
        place = math.sqrt((share - low) / (high - low)) if low < share < high else 0.0
        # Those at the ends stand inside the bar.
        centres = [min(max(other, gap / 2), 1 - gap / 2) for other, _ in marks]
        if all(abs(place - other) >= gap for other in centres):
            marks.append((place, share))
    return sorted(marks)


def signed_place(part: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the places on a bar, 0 to 1, of parts of the largest change, -1 to 1."""
    places: npt.NDArray[np.float64] = 0.5 + 0.5 * np.sign(part) * np.sqrt(np.abs(part))
    return places


def change_marks(largest: float, gap: float) -> list[tuple[float, float]]:
    """Return places on a bar of changes, 0 to 1, and the changes there.

    Args:
        largest: the largest change, at the right end; the left one is its opposite.
        gap: least distance between two places.
    """
    # Those at the ends stand inside the bar.
    parts = np.array([-1.0, -0.25, 0.0, 0.25, 1.0] if gap < _QUARTER_GAP else [-1.0, 0.0, 1.0])
    return list(zip(signed_place(parts).tolist(), (largest * parts).tolist(), strict=True))


def _mark(painter: QPainter, line: QRectF, place: float, words: str) -> None:
    """Write a share under its place on the bar, 0 to 1."""
    x = line.left() + place * line.width()
    room = QRectF(x - line.width() / 2, line.top(), line.width(), line.height())
    side = Qt.AlignmentFlag.AlignHCenter
    if place in {0.0, 1.0}:
        room, side = line, (Qt.AlignmentFlag.AlignRight if place else Qt.AlignmentFlag.AlignLeft)
    painter.drawText(room, side | Qt.AlignmentFlag.AlignTop, words)
