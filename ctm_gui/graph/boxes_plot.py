"""Painting of boxes and edges: colours, elided words, detail by distance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from ctm_gui.attention.map_items import heat_table
from ctm_gui.graph.facts import NodeFacts
from ctm_gui.widgets.axes import AT_LEFT, AT_RIGHT, faded
from ctm_gui.widgets.ordering import BoolArray, FloatArray
from ctm_gui.widgets.theme import DARK, LIGHT, Theme
from predictor.core.units import LatencyUnit
from predictor.services.graph.placement import TITLE_HEIGHT, Edge, Picture

_RADIUS = 7.0
_BAND = 5.0  # width of the stripe in the colour of the operator's kind
_MARGIN = 8.0
_TITLE_PX, _WORDS_PX = 13, 11
_NAMES_FROM, _WORDS_FROM = 0.22, 0.55  # least scales at which names, and all words, are painted
_LARGEST_TITLE_PX = 24
_CARD = 3.0  # of a closed group, behind its box
_DIMMED = 0.25
_DARK_INK = 0.2  # relative luminance from which dark letters have more contrast than light ones


class Colouring(StrEnum):
    """Quantity that the colour of a box shows."""

    TIME = "time"
    BOUND = "bound"
    MEMORY = "memory"
    ATTENTION = "attention"


HEATS = frozenset({Colouring.TIME, Colouring.MEMORY})


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxLook:
    """Colours and words of one box.

    Attributes:
        fill, ink, muted: of the box, its name, its other words.
        band: of its operators' kind.
        title, subtitle, time: words, as long as the box has room for.
        is_group: whether there is more in it.
    """

    fill: QColor
    ink: QColor
    muted: QColor
    band: QColor
    title: str
    subtitle: str
    time: str
    is_group: bool


def title_font(font: QFont, size_px: int = _TITLE_PX) -> QFont:
    """Return the font of names."""
    made = QFont(font)
    made.setPixelSize(size_px)
    made.setWeight(QFont.Weight.DemiBold)
    return made


def words_font(font: QFont) -> QFont:
    """Return the font of types and times."""
    made = QFont(font)
    made.setPixelSize(_WORDS_PX)
    return made


def looks_of(
    picture: Picture,
    facts: NodeFacts,
    colouring: Colouring,
    unit: LatencyUnit,
    theme: Theme,
    font: QFont,
) -> list[BoxLook]:
    """Return the look of each box of a picture."""
    parts = parts_of(facts, colouring)
    largest = float(parts[picture.nodes[~picture.is_open]].max(initial=0.0)) or 1.0
    heat = [QColor(*channels) for channels in heat_table(theme).tolist()]
    names, words = QFontMetricsF(title_font(font)), QFontMetricsF(words_font(font))
    looks = []
    for node, is_open, width in zip(
        picture.nodes.tolist(), picture.is_open.tolist(), picture.rects[:, 2].tolist(), strict=True
    ):
        part = min(float(parts[node]) / largest, 1.0)
        if is_open:
            fill = QColor(theme.background)
        elif colouring in HEATS:
            fill = heat[round(part * (len(heat) - 1))]
        else:
            fill = (
                mixed(
                    theme.surface,
                    theme.series[_series(facts, node, colouring)],
                    0.15 + 0.6 * part**0.5,
                )
                if part
                else QColor(theme.surface)
            )
        ink = QColor(LIGHT.text if luminance(fill) > _DARK_INK else DARK.text)
        time = facts.time(node, unit)
        room = width - _BAND - 2 * _MARGIN
        free_width = room - words.horizontalAdvance(time) - _MARGIN
        subtitle = facts.subtitle(node)
        if not is_open and words.horizontalAdvance(subtitle) > free_width:
            # A type that is cut says nothing; of the time the share alone is enough.
            time = facts.share_text(node) or time
            free_width = room - words.horizontalAdvance(time) - _MARGIN
        is_group = facts.tree.is_group(node)
        looks.append(
            BoxLook(
                fill=fill,
                ink=ink,
                muted=faded(ink, 190),
                band=QColor(theme.series[int(facts.kinds[node])]),
                title=elided(
                    names, facts.title(node), (free_width if is_open else room) - 14 * is_group
                ),
                subtitle=elided(words, subtitle, free_width),
                time=time,
                is_group=is_group,
            )
        )
    return looks


def parts_of(facts: NodeFacts, colouring: Colouring) -> FloatArray:
    """Return the part of the model, 0 to 1, that the strength of each node's colour shows."""
    if colouring is Colouring.MEMORY:
        return facts.traffic
    if colouring is Colouring.ATTENTION and not facts.top_metrics:
        return np.zeros_like(facts.share)
    return facts.share


def _series(facts: NodeFacts, node: int, colouring: Colouring) -> int:
    """Return the series that the colour of a node is of: what binds it, or what it attends to."""
    if colouring is Colouring.BOUND:
        return int(np.argmax(facts.by_bound_ms[node]))
    return facts.attended(node)


def elided(metrics: QFontMetricsF, text: str, width: float) -> str:
    """Return a text that fits; of names the end stays, which distinguishes them."""
    return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, max(width, 0.0))


def mixed(one: str, other: str, part: float) -> QColor:
    """Return a colour between two, ``part`` of the way to the other."""
    ends = [(c.redF(), c.greenF(), c.blueF()) for c in (QColor(one), QColor(other))]
    return QColor.fromRgbF(*(a + (b - a) * part for a, b in zip(*ends, strict=True)))


def luminance(colour: QColor) -> float:
    """Return the relative luminance of WCAG, 0 to 1; its curve is near a power of 2.2."""
    channels = colour.redF(), colour.greenF(), colour.blueF()
    weights = 0.2126, 0.7152, 0.0722
    return sum(weight * math.pow(part, 2.2) for weight, part in zip(weights, channels, strict=True))


def edge_path(edge: Edge) -> QPainterPath:
    """Return the line of an edge: straight within layers, curved between them."""
    path = QPainterPath(QPointF(*edge.points[0]))
    for number, (x, y) in enumerate(edge.points[1:], start=1):
        left, top = edge.points[number - 1]
        if number % 2:
            path.lineTo(x, y)
        else:
            middle = (top + y) / 2
            path.cubicTo(left, middle, x, middle, x, y)
    return path


class GraphPainter:
    """Paints parts of a picture.

    Args:
        picture: boxes and edges.
        looks: of the boxes.
        theme: colours.
        font: of the window.
    """

    def __init__(self, picture: Picture, looks: list[BoxLook], theme: Theme, font: QFont) -> None:
        self.picture, self._looks, self._theme, self._font = picture, looks, theme, font
        self._rects = [QRectF(*rect) for rect in picture.rects.tolist()]
        self._paths = [edge_path(edge) for edge in picture.edges]
        self._reach = [path.boundingRect().adjusted(-4, -4, 4, 4) for path in self._paths]

    def paint(
        self,
        painter: QPainter,
        exposed: QRectF,
        scale: float,
        current: int | None,
        selected: BoolArray | None,
        bright: BoolArray | None,
    ) -> None:
        """Paint what meets a rectangle.

        Args:
            painter: in the picture's coordinates.
            exposed: the rectangle.
            scale: pixels of the screen a pixel of the picture.
            current: the box with the cursor.
            selected: the boxes with selected operators, bool [B].
            bright: boxes that a search found, bool [B]; None without a search.
        """
        area = exposed.x(), exposed.y(), exposed.width(), exposed.height()
        in_view = np.flatnonzero(self.picture.boxes_in(*area)).tolist()
        is_open = self.picture.is_open
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for box in in_view:
            if is_open[box]:
                self._paint_frame(painter, box, scale)
        self._paint_edges(painter, exposed, current)
        for box in in_view:
            if not is_open[box]:
                dimmed = bright is not None and not bright[box]
                painter.setOpacity(_DIMMED if dimmed else 1.0)
                self._paint_box(painter, box, scale)
        painter.setOpacity(1.0)
        if selected is not None:
            # Boxes only: a frame around all would say that nothing was chosen.
            rings = [box for box in in_view if selected[box] and not is_open[box]]
            self._paint_rings(painter, rings, 2.0 / max(scale, 0.3))
        if current is not None:
            self._paint_rings(painter, [current], 3.0 / max(scale, 0.3))

    def spots(self) -> list[tuple[QRectF, QColor]]:
        """Return the boxes with the colour that each has on a map."""
        frame, outline = faded(self._theme.muted, 40), self._theme.outline
        # Mixed, since the palest boxes are as pale as the map.
        return [
            (rect, frame if is_open else mixed(look.fill.name(), outline, 0.25))
            for rect, look, is_open in zip(
                self._rects, self._looks, self.picture.is_open.tolist(), strict=True
            )
        ]

    def _paint_frame(self, painter: QPainter, box: int, scale: float) -> None:
        rect, look, theme = self._rects[box], self._looks[box], self._theme
        painter.setPen(QPen(QColor(theme.outline), 1.0))
        painter.setBrush(faded(theme.muted, 16))
        painter.drawRoundedRect(rect, _RADIUS + 3, _RADIUS + 3)
        if scale < _NAMES_FROM:
            return
        title = QRectF(rect.x() + _MARGIN, rect.y(), rect.width() - 2 * _MARGIN, TITLE_HEIGHT)
        self._paint_sign(painter, title, opened=True)
        painter.setFont(title_font(self._font))
        painter.setPen(QColor(theme.text))
        painter.drawText(title.adjusted(14, 0, 0, 0), AT_LEFT, look.title)
        if scale >= _WORDS_FROM:
            painter.setFont(words_font(self._font))
            painter.setPen(QColor(theme.muted))
            painter.drawText(title, AT_RIGHT, look.time)

    def _paint_box(self, painter: QPainter, box: int, scale: float) -> None:
        rect, look, theme = self._rects[box], self._looks[box], self._theme
        outline = QPen(QColor(theme.outline), 1.0)
        painter.setPen(outline)
        painter.setBrush(look.fill)
        if look.is_group:
            painter.drawRoundedRect(rect.translated(_CARD, _CARD), _RADIUS, _RADIUS)
        painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.band)
        band = QRectF(rect.x() + 3, rect.y() + 6, _BAND - 1, rect.height() - 12)
        painter.drawRoundedRect(band, 2, 2)
        if scale < _NAMES_FROM:
            return
        room = rect.adjusted(_BAND + _MARGIN, 4, -_MARGIN, -4)
        if scale < _WORDS_FROM:
            self._paint_large_title(painter, room, look, scale)
            return
        upper = QRectF(room.x(), room.y(), room.width(), room.height() / 2)
        lower = upper.translated(0, room.height() / 2)
        painter.setPen(look.ink)
        if look.is_group:
            self._paint_sign(painter, upper, opened=False, ink=look.ink)
            upper.adjust(14, 0, 0, 0)
        painter.setFont(title_font(self._font))
        painter.setPen(look.ink)
        painter.drawText(upper, AT_LEFT, look.title)
        painter.setFont(words_font(self._font))
        painter.setPen(look.muted)
        painter.drawText(lower, AT_LEFT, look.subtitle)
        painter.setPen(look.ink)
        painter.drawText(lower, AT_RIGHT, look.time)

    def _paint_large_title(
        self, painter: QPainter, room: QRectF, look: BoxLook, scale: float
    ) -> None:
        """Paint the name alone, larger than the rest would be from afar."""
        font = title_font(self._font, min(round(_WORDS_PX / scale), _LARGEST_TITLE_PX))
        painter.setFont(font)
        painter.setPen(look.ink)
        text = elided(QFontMetricsF(font), look.title, room.width())
        painter.drawText(room, AT_LEFT, text)

    def _paint_sign(
        self, painter: QPainter, room: QRectF, *, opened: bool, ink: QColor | None = None
    ) -> None:
        """Paint the triangle of a group, as trees have it: down where it is open."""
        x, y = room.x() + 4, room.center().y()
        corners = ((-4, -2.5), (4, -2.5), (0, 3)) if opened else ((-2.5, -4), (-2.5, 4), (3, 0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink or QColor(self._theme.muted))
        painter.drawPolygon(QPolygonF([QPointF(x + across, y + down) for across, down in corners]))

    def _paint_edges(self, painter: QPainter, exposed: QRectF, current: int | None) -> None:
        node = None if current is None else int(self.picture.nodes[current])
        # Opaque: edges of one producer run over each other.
        usual = QPen(mixed(self._theme.surface, self._theme.muted, 0.7), 1.3)
        marked = QPen(QColor(self._theme.accent), 2.4)
        late = []
        for number, reach in enumerate(self._reach):
            if not reach.intersects(exposed):
                continue
            edge = self.picture.edges[number]
            if node in {edge.producer, edge.consumer}:
                late.append(number)
            else:
                self._paint_edge(painter, number, usual)
        # Those of the cursor's box above all others.
        for number in late:
            self._paint_edge(painter, number, marked)

    def _paint_edge(self, painter: QPainter, number: int, pen: QPen) -> None:
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._paths[number])
        x, y = self.picture.edges[number].points[-1]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(pen.color())
        tip = [QPointF(x, y), QPointF(x - 3.5, y - 7), QPointF(x + 3.5, y - 7)]
        painter.drawPolygon(QPolygonF(tip))

    def _paint_rings(self, painter: QPainter, boxes: Iterable[int], width: float) -> None:
        painter.setPen(QPen(QColor(self._theme.accent), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for box in boxes:
            rect = self._rects[box].adjusted(-2, -2, 2, 2)
            painter.drawRoundedRect(rect, _RADIUS + 2, _RADIUS + 2)
