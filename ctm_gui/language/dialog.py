"""The window of a language model: its run on top, devices below, a curve of one of them."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QDialog, QSpinBox, QWidget

from ctm_gui.language.presenter import (
    Along,
    Curve,
    GenerationPresenter,
    details,
    generation_grid,
)
from ctm_gui.widgets.axes import ValueAxis, colour_axes
from ctm_gui.widgets.basic import (
    ContentOrMessage,
    combo_box,
    hbox,
    holder,
    label,
    named,
    splitter,
    vbox,
)
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.plots import StillPlot
from ctm_gui.widgets.table_view import GridView
from ctm_gui.widgets.theme import LIGHT, Theme
from predictor.core.wording import shown
from predictor.services.generation.generate import (
    KV_PRECISIONS,
    RUNTIME_NAMES,
    WEIGHT_FORMATS,
    GenerationRequest,
)
from predictor.services.models.language import LanguageModel

_SIZE = (1120, 680)
_DEVICE_PX = 200
_USUAL = "usual"
_MOST = 100_000_000
_BAND_ALPHA = 60
_TITLES = {
    Along.CONTEXT: ("Tokens in the cache", "Tokens a second"),
    Along.PROMPT: ("Tokens of the prompt", "First token (ms)"),
    Along.BATCH: ("Sequences at once", "Tokens a second"),
}


class LanguageModelDialog(QDialog):
    """Stays open beside the window; another model that is opened comes into it.

    Args:
        presenter: model, run and results.
        theme: colours of the plot.
        parent: owner.
    """

    def __init__(
        self, presenter: GenerationPresenter, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._presenter = presenter
        self.setWindowTitle("Language model")
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint, on=True)
        self.resize(*_SIZE)
        self._make_fields()
        self.table = GridView(GridModel(), "Devices", {"device": _DEVICE_PX})
        self.table.details_of = self._details
        self.plot = CurvePlot()
        self.plot.set_theme(theme)
        self._arrange()
        self._connect()
        self._show_model()

    def show_model(self, model: LanguageModel) -> None:
        """Show another language model."""
        self._presenter.open(model)

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        self.plot.set_theme(theme)

    def _make_fields(self) -> None:
        self.summary = label(role="heading", name="Language model")
        self.evidence = label(role="muted", name="What the numbers rest on")
        self.prompt_box = _count_box("Tokens of the prompt", 1)
        self.new_box = _count_box("New tokens", 1)
        self.context_box = _count_box("Tokens in the cache", 0)
        self.context_box.setSpecialValueText("after the prompt")
        self.context_box.setToolTip("Tokens in the cache at which tokens a second are given.")
        self.batch_box = _count_box("Sequences at once", 1)
        self.weights_box = combo_box("Format of the weights", (_USUAL, *WEIGHT_FORMATS))
        self.kv_box = combo_box("Precision of the KV cache", KV_PRECISIONS)
        self.runtime_box = combo_box("Runtime", (_USUAL, *RUNTIME_NAMES))
        self.along_box = combo_box("Curve along", [title for title, _ in _TITLES.values()])

    def _arrange(self) -> None:
        counts = hbox(
            named("&Prompt", self.prompt_box),
            self.prompt_box,
            named("&New", self.new_box),
            self.new_box,
            named("&Context", self.context_box),
            self.context_box,
            named("&Batch", self.batch_box),
            self.batch_box,
            None,
        )
        choices = hbox(
            named("&Weights", self.weights_box),
            self.weights_box,
            named("&KV cache", self.kv_box),
            self.kv_box,
            named("&Runtime", self.runtime_box),
            self.runtime_box,
            None,
        )
        curve = holder(
            hbox(named("Cur&ve along", self.along_box), self.along_box, (self.evidence, 1)),
            (self.plot, 1),
        )
        across = Qt.Orientation.Vertical
        parts = splitter(across, self.table, curve, sizes=(300, 300), stretch=(1, 1))
        self._stack = ContentOrMessage(parts)
        vbox(self.summary, counts, choices, (self._stack, 1), of=self)

    def _connect(self) -> None:
        for box in (self.prompt_box, self.new_box, self.context_box, self.batch_box):
            box.valueChanged.connect(self._ask)
        for choice in (self.weights_box, self.kv_box, self.runtime_box):
            choice.activated.connect(self._ask)
        self.along_box.activated.connect(self._show_curve)
        self.table.rows_selected.connect(self._show_curve)
        self._presenter.opened.connect(self._show_model)
        self._presenter.changed.connect(self._show_results)

    def _ask(self) -> None:
        request = GenerationRequest(
            self.prompt_box.value(),
            self.new_box.value(),
            self.context_box.value(),
            self.batch_box.value(),
            _chosen(self.weights_box),
            self.kv_box.currentText(),
            _chosen(self.runtime_box),
        )
        self._presenter.ask(request)

    def _show_model(self) -> None:
        """Show name, size and run of the model."""
        request = self._presenter.request
        self.summary.setText(self._presenter.size)
        for box, value in (
            (self.prompt_box, request.prompt),
            (self.new_box, request.new),
            (self.context_box, request.context),
            (self.batch_box, request.batch),
        ):
            with QSignalBlocker(box):
                box.setValue(value)
        for choice, text in (
            (self.weights_box, request.weights or _USUAL),
            (self.kv_box, request.kv_precision),
            (self.runtime_box, request.runtime or _USUAL),
        ):
            choice.setCurrentText(text)
        self._show_results()

    def _show_results(self) -> None:
        presenter = self._presenter
        if presenter.problem:
            self.table.show_nothing()
            self._stack.show_message(presenter.problem)
            return
        self._stack.show_content()
        grid = generation_grid(presenter.results)
        self.table.grid_model.replace(grid)
        if self._chosen_row(grid) is None:
            self.table.sort_by("tokens", descending=True)
            self.table.selectRow(0)
        self.table.fit_columns()
        self._show_curve()

    def _chosen_row(self, grid: Grid) -> int | None:
        current = self.table.currentIndex().row()
        return grid.source(current) if 0 <= current < grid.count else None

    def _show_curve(self) -> None:
        row = self._chosen_row(self.table.grid_model.grid)
        results = self._presenter.results
        if row is None or row >= len(results):
            self.plot.show_curve(None)
            self.evidence.setText("")
            return
        along = list(_TITLES)[self.along_box.currentIndex()]
        device = results[row].device
        self.plot.show_curve(self._presenter.curve(device, along))
        self.evidence.setText(f"{shown(device.name)}. {details(results[row])}")

    def _details(self, row: int) -> str:
        return details(self._presenter.results[row])


class CurvePlot(StillPlot):
    """A median with its 80 % interval along a logarithmic count."""

    def __init__(self) -> None:
        axes = {"left": ValueAxis("left"), "bottom": ValueAxis("bottom")}
        super().__init__(axes, (0, 8, 8, 6))
        self._curve: Curve | None = None
        self._theme = LIGHT
        self.setAccessibleName("Curve of the chosen device")
        self.plotItem.setLogMode(x=True)
        for side in ("left", "bottom"):
            self.plotItem.getAxis(side).enableAutoSIPrefix(False)

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        self._theme = theme
        self.setBackground(theme.surface)
        colour_axes(self.getPlotItem(), theme)
        self.show_curve(self._curve)

    def show_curve(self, curve: Curve | None) -> None:
        """Draw another curve; nothing where there is none."""
        self._curve = curve
        self.clear()
        if curve is None:
            self.setAccessibleDescription("There is no curve.")
            return
        bottom, left = _TITLES[curve.along]
        self.plotItem.setLabel("bottom", bottom)
        self.plotItem.setLabel("left", left)
        self.setAccessibleDescription(
            f"{left} from {curve.median[0]:.4g} to {curve.median[-1]:.4g}."
        )
        colour = pg.mkColor(self._theme.series[0])
        band = pg.mkColor(self._theme.series[0])
        band.setAlpha(_BAND_ALPHA)
        # Without a pen of their own the ends would bound nothing.
        low, high = (
            self.plot(curve.at, values, pen=pg.mkPen(band)) for values in (curve.low, curve.high)
        )
        self.addItem(pg.FillBetweenItem(low, high, brush=pg.mkBrush(band)))
        self.plot(curve.at, curve.median, pen=pg.mkPen(colour, width=2))
        self.getPlotItem().setYRange(0, float(curve.high.max()) * 1.05)


def _count_box(name: str, least: int) -> QSpinBox:
    made = QSpinBox(minimum=least, maximum=_MOST)
    made.setAccessibleName(name)
    made.setGroupSeparatorShown(True)
    # Each digit of a number would be a run of its own.
    made.setKeyboardTracking(False)
    return made


def _chosen(box: QComboBox) -> str:
    return "" if box.currentText() == _USUAL else box.currentText()
