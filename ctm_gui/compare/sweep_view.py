"""The page of sweeps: latency of one pair over its batch and its threads."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from ctm_gui.compare.chart_items import DOT_PX, paint_diamond, paint_dot
from ctm_gui.compare.sweep import SweepPresenter, curve, point_words, sweep_sentence
from ctm_gui.widgets.axes import ValueAxis, faded
from ctm_gui.widgets.basic import ContentOrMessage, label, splitter, vbox
from ctm_gui.widgets.geometry import logs
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.pair_choice import PairChoice
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Basis
from predictor.presentation.columns import axis_title
from predictor.services.prediction.sweep import Sweep

_BAND_ALPHA = 60
_MARGIN = 0.08
_TITLES = {"batch": "Batch", "threads": "Threads"}
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class _ChoiceAxis(ValueAxis):
    """A logarithmic axis with a tick at each choice, whose log10 are ``places``."""

    def __init__(self) -> None:
        super().__init__("bottom", lambda value: f"{value:.0f}")
        self.places: list[float] = []

    def tickValues(
        self,
        low: float,  # noqa: ARG002 (pyqtgraph's signature)
        high: float,  # noqa: ARG002
        size: float,  # noqa: ARG002
    ) -> list[tuple[float | None, list[float]]]:
        """Return one level of labelled ticks."""
        return [(1.0, self.places)]


class SweepPlot(PointPlot):
    """Latency over the batch or over the threads; both axes are logarithmic.

    Left and Right, or a click, point at one of its dots.

    Args:
        options: unit and theme.
        kind: of the sweep, "batch" or "threads".

    Signals:
        pointed: the words of the dot that is pointed at; empty where none is any more.
    """

    pointed = Signal(str)

    def __init__(self, options: ViewOptions, kind: str) -> None:
        self._sweep: Sweep | None = None
        # log10 of the choices, and of median, low and high over them.
        self._across, self._up = np.zeros(0), np.zeros((3, 0))
        self._current: int | None = None
        self._choices = _ChoiceAxis()
        axes = {"bottom": self._choices, "left": ValueAxis("left")}
        name = f"Latency over {kind}"
        super().__init__(options, axes, name, name)
        self.canvas.setLabel("bottom", _TITLES[kind])
        for axis in axes.values():
            axis.setLogMode(x=True, y=True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show another sweep; None for an empty plot."""
        self._sweep, unit = sweep, self._options.unit
        self.canvas.setLabel("left", axis_title(unit))
        self._current = None
        if sweep is None:
            self._across, self._up = np.zeros(0), np.zeros((3, 0))
        else:
            self.setAccessibleDescription(
                "; ".join(
                    point_words(sweep, place, unit).replace("\n", ", ")
                    for place in range(len(sweep.predictions))
                )
            )
            self._across, self._up = np.log10(sweep.choices), logs(curve(sweep, unit))
            self._set_ranges()
        self._item.refresh()

    def points_px(self) -> FloatArray:
        return self._places(self._across, self._up[0])

    def choose(self, index: int | None) -> None:
        self._current = index
        self._item.refresh()
        self.pointed.emit("" if index is None else self.details(index).replace("\n", ", "))

    def details(self, index: int) -> str:
        return "" if self._sweep is None else point_words(self._sweep, index, self._options.unit)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._current is None and self._sweep is not None:
            self.choose(self._sweep.now)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go from dot to dot."""
        step = _STEPS.get(Qt.Key(event.key()), 0)
        if not step or self._sweep is None:
            super().keyPressEvent(event)
            return
        now = self._sweep.now if self._current is None else self._current
        self.choose(min(max(now + step, 0), len(self._sweep.predictions) - 1))

    def _set_ranges(self) -> None:
        self._choices.places = self._across.tolist()
        heights = self._up[np.isfinite(self._up)]
        heights = heights if heights.size else np.zeros(1)
        (left, right), (low, high) = (
            (float(values.min()), float(values.max())) for values in (self._across, heights)
        )
        across, up = max(right - left, 0.1) * _MARGIN, max(high - low, 0.3) * _MARGIN
        self._box.setRange(
            xRange=(left - across, right + across), yRange=(low - up, high + up), padding=0
        )

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        sweep = self._sweep
        if sweep is None:
            return
        self._paint_grid(painter, rect)
        colour = QColor(self._theme.series[0])
        pixels = (self._places(self._across, up).tolist() for up in self._up)
        median, low, high = ([QPointF(*place) for place in line] for line in pixels)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(faded(colour, _BAND_ALPHA))
        painter.drawPolygon(QPolygonF(_placed([*low, *reversed(high)])))
        now = median[sweep.now].x()
        if not math.isnan(median[sweep.now].y()):
            painter.setPen(QPen(QColor(self._theme.muted), 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(now, 0, now, rect.height()))
        painter.setPen(QPen(colour, 1.6))
        painter.drawPolyline(_placed(median))
        for place, (prediction, centre) in enumerate(zip(sweep.predictions, median, strict=True)):
            if math.isnan(centre.y()):
                continue
            if prediction.basis is Basis.MEASURED:
                paint_diamond(painter, centre, DOT_PX + 1, self._theme)
            else:
                is_over = prediction.fits_memory is False
                paint_dot(painter, centre, DOT_PX, colour, self._theme, over=is_over)
            if place == self._current:
                self._paint_ring(painter, centre, DOT_PX)


def _placed(points: list[QPointF]) -> list[QPointF]:
    return [point for point in points if not math.isnan(point.y())]


_LEGEND = (
    "Band: 80 % interval. Dashed line: now. Diamond: measured. Ring: exceeds the memory. Other "
    "batches are predicted as that many independent items."
)


class SweepView(QWidget):
    """A choice of model and target, what a change would bring, and a plot each.

    Args:
        options: unit and theme.
        presenter: the pair and its sweeps.
    """

    def __init__(self, options: ViewOptions, presenter: SweepPresenter) -> None:
        super().__init__()
        self._presenter = presenter
        self.pair = PairChoice()
        self.batch_plot, self.threads_plot = (
            SweepPlot(options, kind) for kind in ("batch", "threads")
        )
        plots = splitter(
            Qt.Orientation.Horizontal, self.batch_plot, self.threads_plot, sizes=(500, 500)
        )
        self._stack = ContentOrMessage(plots, presenter.message)
        self.words = label(_LEGEND, "muted", name="Point of the sweep")
        vbox(self.pair, (self._stack, 1), self.words, of=self)
        for plot in (self.batch_plot, self.threads_plot):
            plot.pointed.connect(lambda words: self.words.setText(words or _LEGEND))
        self.pair.choice_changed.connect(presenter.pair_requested)
        presenter.changed.connect(self._show)
        options.unit_changed.connect(self._show)
        self._show()

    def focus_search(self) -> None:
        """Put the cursor into the first box: the page has no search."""
        self.pair.model_box.setFocus()

    def _show(self) -> None:
        presenter = self._presenter
        self.pair.set_choices(presenter.models, presenter.targets, presenter.choice)
        by_kind = {sweep.kind: sweep for sweep in presenter.sweeps}
        self.batch_plot.show_sweep(by_kind.get("batch"))
        self.threads_plot.show_sweep(by_kind.get("threads"))
        self.threads_plot.setVisible("threads" in by_kind)
        self.words.setText(_LEGEND)
        self.pair.show_sentence(sweep_sentence(presenter.sweeps), "")
        if presenter.message:
            self._stack.show_message(presenter.message)
        else:
            self._stack.show_content()
