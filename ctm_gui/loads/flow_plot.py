"""The diagram of a load: stages of the pipelines, and the units with the time that they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from ctm_gui.widgets.axes import AT_LEFT, faded
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.tooltips import as_tooltip
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import NOTHING, number, shown
from predictor.services.loads.answers import Answer, StageAnswer, UnitAnswer
from predictor.services.loads.records import AUTO, Box, Load, Stage, Stream, Unit
from predictor.services.serving.sentences import percent

_BOX_PX, _GAP_PX, _STRIPE_PX = 38, 8, 4
_NAME_PX = 18  # of a stream, over its stages
_UNIT_PX, _BAR_PX = 56, 14
_MIN_BOX_PX, _GOOD_BOX_PX, _MAX_BOX_PX = 62, 72, 190
_ARROW_PX = 13  # between two stages, at least
_UNITS_SHARE, _MIN_UNITS_PX = 0.36, 96
_MARGIN_PX = 8
_LINK_PX = 26  # between the stages and the units
_FULL = 1.25  # of a unit's time, at the right end of its bar


class PlacedStage(NamedTuple):
    """A stage at a row and a column, of a stream at a place."""

    stream: int
    stage: Stage
    column: int
    row: int


def placed(stream: int, record: Stream, first_row: int) -> list[PlacedStage]:
    """Return the stages of a stream, each a column after the last one that it waits for."""
    columns: dict[str, int] = {}
    rows: dict[int, int] = {}
    stages = []
    for stage in record.stages:
        column = max((columns[name] + 1 for name in stage.after), default=0)
        columns[stage.name] = column
        row = rows.get(column, 0)
        rows[column] = row + 1
        stages.append(PlacedStage(stream, stage, column, first_row + row))
    return stages


class FlowPlot(QWidget):
    """Paints pipelines and units; a stage has the colour of its unit.

    Args:
        options: the theme.
    """

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self._load: Load | None = None
        self._box: Box | None = None
        self._answer: Answer | None = None
        self.stages: list[PlacedStage] = []
        self.setAccessibleName("Pipelines and units")
        self.setMouseTracking(True)
        follow_theme(self, options, self.update)

    def show_load(self, load: Load | None, box: Box | None, answer: Answer | None) -> None:
        """Show another load on a box, with the answer where there is one; None for nothing."""
        self._load, self._box, self._answer = load, box, answer
        self.stages = []
        row = 0
        for place, stream in enumerate(load.streams if load else ()):
            stages = placed(place, stream, row)
            self.stages += stages
            row = max(stage.row for stage in stages) + 1
        self.setMinimumHeight(self.sizeHint().height())
        self.setAccessibleDescription("; ".join(self._sentences()))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        rows = max((stage.row for stage in self.stages), default=-1) + 1
        streams = len(self._load.streams) if self._load else 0
        units = len(self._units)
        height = max(rows * (_BOX_PX + _GAP_PX) + streams * _NAME_PX, units * _UNIT_PX)
        return QSize(520, height + 2 * _MARGIN_PX)

    def minimumSizeHint(self) -> QSize:
        stages = self._columns * (_MIN_BOX_PX + _ARROW_PX)
        width = stages + _LINK_PX + _MIN_UNITS_PX + 2 * _MARGIN_PX
        return QSize(max(width, 300), self.sizeHint().height())

    @property
    def _columns(self) -> int:
        return max((stage.column for stage in self.stages), default=0) + 1

    @property
    def _unit_by_name(self) -> Mapping[str, Unit]:
        return self._box.units if self._box else {}

    @property
    def _units(self) -> list[str]:
        return list(self._unit_by_name)

    def _unit_of(self, placed_stage: PlacedStage) -> str:
        """Return the unit of a stage; empty where it is still to be placed."""
        answer = self._answer_of(placed_stage)
        if answer is not None:
            return answer.unit
        return "" if placed_stage.stage.unit == AUTO else placed_stage.stage.unit

    def _answer_of(self, placed_stage: PlacedStage) -> StageAnswer | None:
        if self._answer is None:
            return None
        stages = self._answer.streams[placed_stage.stream].stages
        return next(entry for entry in stages if entry.stage.name == placed_stage.stage.name)

    def _unit_answer(self, name: str) -> UnitAnswer | None:
        units = self._answer.units if self._answer else ()
        return next((unit for unit in units if unit.name == name), None)

    # Where things are

    def _left_px(self) -> float:
        """Return the room of the stages: units give way to them down to their least width."""
        room = self.width() - 2 * _MARGIN_PX
        needed = room - _LINK_PX - self._columns * (_GOOD_BOX_PX + _ARROW_PX)
        return room - _LINK_PX - max(min(room * _UNITS_SHARE, needed), _MIN_UNITS_PX)

    def stage_rect(self, placed_stage: PlacedStage) -> QRectF:
        """Return the room of a stage."""
        room = self._left_px() / self._columns
        width = min(max(room - max(room / 6, _ARROW_PX), _MIN_BOX_PX), _MAX_BOX_PX)
        step = min(room, width + 3 * _GAP_PX)
        top = _MARGIN_PX + placed_stage.row * (_BOX_PX + _GAP_PX)
        top += (placed_stage.stream + 1) * _NAME_PX
        return QRectF(_MARGIN_PX + placed_stage.column * step, top, width, _BOX_PX)

    def unit_rect(self, place: int) -> QRectF:
        """Return the room of a unit by its place in the box."""
        left = _MARGIN_PX + self._left_px() + _LINK_PX
        return QRectF(
            left, _MARGIN_PX + place * _UNIT_PX, self.width() - _MARGIN_PX - left, _UNIT_PX
        )

    def _colour(self, unit: str) -> QColor:
        theme = self._options.theme
        if unit not in self._units:
            return QColor(theme.muted)
        return QColor(theme.series[self._units.index(unit) % len(theme.series)])

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor(self._options.theme.surface))
        for stage in self.stages:
            self._paint_link(painter, stage)
        self._paint_streams(painter)
        for stage in self.stages:
            self._paint_stage(painter, stage)
        for place, (name, unit) in enumerate(self._unit_by_name.items()):
            self._paint_unit(painter, place, name, unit)

    def _paint_streams(self, painter: QPainter) -> None:
        painter.setPen(QColor(self._options.theme.text))
        for place, stream in enumerate(self._load.streams if self._load else ()):
            stages = [stage for stage in self.stages if stage.stream == place]
            top = min(self.stage_rect(stage).top() for stage in stages)
            count = f"{stream.count} × " if stream.count > 1 else ""
            text = f"{count}{shown(stream.name)}, {number(stream.rate_per_s)} a second"
            room = QRectF(_MARGIN_PX, top - _NAME_PX, self._left_px(), _NAME_PX)
            self.write(painter, room, text)

    def _paint_stage(self, painter: QPainter, placed_stage: PlacedStage) -> None:
        theme, rect = self._options.theme, self.stage_rect(placed_stage)
        colour = self._colour(self._unit_of(placed_stage))
        for before in self.stages:
            is_before = before.stage.name in placed_stage.stage.after
            if before.stream == placed_stage.stream and is_before:
                painter.setPen(QPen(QColor(theme.muted), 1.4))
                self._paint_arrow(painter, self.stage_rect(before), rect)
        painter.setPen(QPen(QColor(theme.outline), 1.0))
        painter.setBrush(QColor(theme.background))
        painter.drawRect(rect)
        painter.fillRect(QRectF(rect.topLeft(), QPointF(rect.left() + _STRIPE_PX, rect.bottom())),
                         colour)  # fmt: skip
        inner = rect.adjusted(_STRIPE_PX + 5, 2, -4, -2)
        line = inner.height() / 2
        painter.setPen(QColor(theme.text))
        self.write(painter, QRectF(inner.topLeft(), inner.bottomRight() - QPointF(0, line)),
                    shown(placed_stage.stage.name))  # fmt: skip
        painter.setPen(QColor(theme.muted))
        self.write(painter, inner.adjusted(0, line, 0, 0), *self._second_line(placed_stage))

    def _second_line(self, placed_stage: PlacedStage) -> tuple[str, str]:
        """Return unit, runs and time of a stage, and the same without the unit."""
        stage, answer = placed_stage.stage, self._answer_of(placed_stage)
        runs = f"{number(stage.per_item)} × " if stage.per_item != 1 else ""
        if answer is None:
            return f"{self._unit_of(placed_stage) or AUTO}: {runs}—", f"{runs}—"
        time = f"{runs}{number(answer.cost.prediction.latency_ms, 2)} ms"
        return f"{answer.unit}: {time}", time

    def _paint_arrow(self, painter: QPainter, before: QRectF, after: QRectF) -> None:
        start = QPointF(before.right(), before.center().y())
        end = QPointF(after.left(), after.center().y())
        painter.drawLine(QLineF(start, end))
        painter.drawLine(QLineF(end, end + QPointF(-5, -4)))
        painter.drawLine(QLineF(end, end + QPointF(-5, 4)))

    def _paint_link(self, painter: QPainter, placed_stage: PlacedStage) -> None:
        """Paint the line from a stage to its unit, under all boxes."""
        unit = self._unit_of(placed_stage)
        if unit not in self._units:
            return
        rect, target = self.stage_rect(placed_stage), self.unit_rect(self._units.index(unit))
        start = QPointF(rect.center().x(), rect.bottom())
        end = QPointF(target.left() - 4, target.top() + _UNIT_PX / 2)
        bend = QPointF(end.x() - _LINK_PX, rect.bottom() + _GAP_PX / 2)
        path = QPainterPath(start)
        path.cubicTo(QPointF(start.x(), bend.y()), QPointF(bend.x(), bend.y()), end)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(faded(self._colour(unit), 150), 1.6))
        painter.drawPath(path)

    def _paint_unit(self, painter: QPainter, place: int, name: str, unit: Unit) -> None:
        theme, rect = self._options.theme, self.unit_rect(place)
        answer = self._unit_answer(name)
        line = painter.fontMetrics().height()
        painter.setPen(QColor(theme.text))
        words = f"{name} × {unit.count}" if unit.count > 1 else name
        room = QRectF(rect.left(), rect.top() + 2, rect.width(), line)
        texts = _busy_text(answer), percent(answer.utilisation.median) if answer else NOTHING
        self.write(painter, room, *(f"{words}: {text}" for text in texts))
        bar = QRectF(rect.left(), rect.top() + line + 5, rect.width(), _BAR_PX)
        painter.fillRect(bar, QColor(theme.grid))
        if answer is None:
            return
        scale = bar.width() / _FULL
        busy = answer.utilisation
        over = busy.median > 1
        colour = QColor(theme.bad) if over else self._colour(name)
        width = min(busy.median, _FULL) * scale
        painter.fillRect(QRectF(bar.left(), bar.top(), width, bar.height()), colour)
        painter.setPen(QPen(QColor(theme.text), 1.4))
        middle = bar.center().y()
        low, high = (bar.left() + min(end, _FULL) * scale for end in (busy.low, busy.high))
        painter.drawLine(QLineF(low, middle, high, middle))
        for end in (low, high):
            painter.drawLine(QLineF(end, middle - 4, end, middle + 4))
        full = bar.left() + scale
        painter.setPen(QPen(QColor(theme.text), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(full, bar.top() - 3, full, bar.bottom() + 3))

    @staticmethod
    def write(painter: QPainter, room: QRectF, *texts: str) -> None:
        """Write the first of the texts that fits, else as much as does of the last one."""
        metrics, width = painter.fontMetrics(), int(room.width())
        fitting = (text for text in texts if metrics.horizontalAdvance(text) <= width)
        text = next(fitting, texts[-1])
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.drawText(room, AT_LEFT, elided)

    # Words

    def event(self, event: QEvent) -> bool:
        """Say all of the stage or unit under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self.words_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), as_tooltip(text) if text else "", self)
            return True
        return super().event(event)

    def words_at(self, point: QPointF) -> str:
        """Return what is said of a place."""
        for stage in self.stages:
            if self.stage_rect(stage).contains(point):
                return self._stage_words(stage)
        for place, (name, unit) in enumerate(self._unit_by_name.items()):
            if self.unit_rect(place).contains(point):
                return self._unit_words(name, unit)
        return ""

    def _stage_words(self, placed_stage: PlacedStage) -> str:
        stage, answer = placed_stage.stage, self._answer_of(placed_stage)
        lines = [shown(stage.name), f"Model: {shown(stage.model)}"]
        if answer is None:
            return "\n".join([*lines, f"Unit: {stage.unit}"])
        prediction = answer.cost.prediction
        low, high = prediction.low80_ms, prediction.high80_ms
        between = f", 80 % interval {number(low)} to {number(high)}" if low and high else ""
        return "\n".join([
            *lines,
            f"Unit: {answer.unit} ({answer.cost.how})",
            f"A run by itself: {number(prediction.latency_ms)} ms{between}",
            f"{number(stage.per_item)} runs an item, batches of {number(answer.mean_batch)}",
            f"It takes {percent(answer.share)} of the unit",
            f"Rests on: {prediction.evidence or NOTHING}",
        ])  # fmt: skip

    def _unit_words(self, name: str, unit: Unit) -> str:
        return f"{name}: {_busy_text(self._unit_answer(name))}\n{shown(unit.device.name)}"

    def _sentences(self) -> Iterator[str]:
        for stage in self.stages:
            yield self._stage_words(stage).replace("\n", ", ")
        for name, unit in self._unit_by_name.items():
            yield self._unit_words(name, unit).replace("\n", ", ")


def _busy_text(answer: UnitAnswer | None) -> str:
    if answer is None:
        return NOTHING
    busy = answer.utilisation
    ends = f" ({100 * busy.low:.0f} to {percent(busy.high)})" if busy.high > busy.low else ""
    over = ", more than it can" if busy.median > 1 else ""
    return f"{percent(busy.median)}{ends}{over}"
