"""The Language tab: a run of a language model, the ticked devices, what binds them, curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSpinBox, QWidget

from ctm_gui.language.curve_plot import CurvePlot
from ctm_gui.language.curves import Along
from ctm_gui.language.parts_plot import PartsPlot
from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.language.rows import DevicesGrid, answer, details, parts_bars
from ctm_gui.widgets.basic import (
    STRETCH,
    ContentOrMessage,
    ElidedLabel,
    button,
    combo_box,
    fill_box,
    hbox,
    holder,
    label,
    named,
    scrolled,
    splitter,
    vbox,
)
from ctm_gui.widgets.fields import BudgetBox, NumberBox
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.save_plot import save_button
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import number, shown
from predictor.services.generation.choices import KV_PRECISIONS, RUNTIME_NAMES, WEIGHT_FORMATS
from predictor.services.generation.records import Generation
from predictor.services.serving.sentences import answer as load_answer

_DEVICE_PX = 250
_BOX_PX = 84
_DEFAULT = "auto: llama.cpp"  # where it runs, else what does
_AUTO = "auto"  # the format of the file, else the usual one of the runtime
_MAX_COUNT = 100_000_000
_MAX_CURVES = 4
_LETTERS = 10
_GAP_PX = 6


class LanguageView(QWidget):
    """Fields of the run, the devices, and below them curves and parts of those that are selected.

    Args:
        options: the theme.
        presenter: model, run and results.

    Signals:
        open_requested: the user asks for a file.
    """

    open_requested = Signal()

    def __init__(self, options: ViewOptions, presenter: LanguagePresenter) -> None:
        super().__init__()
        self._options, self._presenter = options, presenter
        self._make_run()
        self._make_results()
        self._arrange()
        self._connect()
        self._show_state()
        self._show_results()

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.table.focus_search()

    def show_device(self, device_id: str) -> None:
        """Select a device, whose parts and curve are shown."""
        ids = [result.device.id for result in self._presenter.results]
        if device_id in ids:
            self.table.select_rows([ids.index(device_id)], ids.index(device_id))

    def _make_run(self) -> None:
        self.summary = ElidedLabel()
        self.summary.setAccessibleName("Language model")
        self.model_box = combo_box("Language model that is shown", letters=_LETTERS)
        self.model_box.setToolTip("Which of the open language models this page shows.")
        self.open_button = button("&Open…", "Open a config.json, a GGUF file or a decoder in ONNX.")
        self.counts = {
            "prompt": _count_box("Tokens of the prompt", 1),
            "new": _count_box("New tokens", 1),
            "context": _count_box("Tokens in the cache", 0),
            "batch": _count_box("Sequences at once", 1),
            "cards": _count_box("Cards that share the model", 1),
        }
        self.load = {
            "rate": _limit_box("requests/s", "Requests a second"),
            "first": _limit_box("ms", "Limit of the first token"),
            "token": _limit_box("ms", "Limit of each further token"),
        }
        self.load["rate"].setToolTip(
            "Users that ask at random: the answer says how long they wait on the device whose row "
            "is current, and up to which rate the limits hold."
        )
        self.counts["context"].setToolTip(
            "Tokens in the cache at which tokens a second are given; by default the prompt and "
            "half of the new tokens."
        )
        self.choices = {
            "weights": combo_box(
                "Format of the weights", (_AUTO, *WEIGHT_FORMATS), letters=_LETTERS
            ),
            "kv_precision": combo_box("Precision of the KV cache", KV_PRECISIONS),
            "runtime": combo_box("Runtime", (_DEFAULT, *RUNTIME_NAMES), letters=_LETTERS),
        }

    def _make_results(self) -> None:
        self.table = FilteredTable(
            GridModel(), "Devices", "Search device or runtime (Ctrl+F)", {"device": _DEVICE_PX}
        )
        self.table.details_of = self._details
        self.answer = label(role="heading", name="Answer", selectable=True)
        self.load_answer = label(role="muted", name="Answer on the load", selectable=True)
        self.load_answer.setWordWrap(True)
        self.load_answer.setVisible(False)
        self.plot, self.parts = CurvePlot(self._options), PartsPlot(self._options)
        self.along_box = combo_box("Curve", [along.value for along in Along])
        self.save_button = save_button("language-model", self.plot.save)
        self.subject = ElidedLabel()
        self.subject.setAccessibleName("Device whose parts are shown")
        self.evidence = label(role="muted", name="What its numbers rest on", selectable=True)
        self.evidence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.measured_box = BudgetBox(None, "tokens/s", "Tokens a second that you measured there")
        self.measured_box.setSpecialValueText("nothing")
        self.measured_box.setToolTip(
            "Tokens a second of this very run that you measured on the device: it calibrates that "
            "device for other models and runs too, and moves those near it."
        )

    def _arrange(self) -> None:
        run: list[Any] = []
        for text, key in (
            ("P&rompt", "prompt"), ("&New", "new"), ("Conte&xt", "context"), ("&Batch", "batch"),
            ("Car&ds", "cards"),
        ):  # fmt: skip
            run += [named(text, self.counts[key]), self.counts[key]]
        form: list[Any] = []
        for text, key in (
            ("&Weights", "weights"),
            ("&KV", "kv_precision"),
            ("R&untime", "runtime"),
        ):
            form += [named(text, self.choices[key]), self.choices[key]]
        search = hbox((self.table.search_box, 1), self.table.matches, self.table.copy_button)
        curve, side = QWidget(), QWidget()
        along = hbox(named("Cur&ve", self.along_box), (self.along_box, 1), self.save_button)
        vbox(along, (self.plot, 1), of=curve, margins=(0, _GAP_PX, _GAP_PX, 0))
        measured = hbox(named("I &measured", self.measured_box), (self.measured_box, 1), margins=0)
        evidence = scrolled(self.evidence, "What its numbers rest on")
        edges = (_GAP_PX, _GAP_PX, 0, 0)
        vbox(self.subject, self.parts, measured, (evidence, 1), of=side, margins=edges)
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        lower = splitter(across, curve, side, sizes=(560, 400), stretch=(3, 2))
        rows = holder(self.answer, self.load_answer, search, (self.table, 1))
        parts = splitter(down, rows, lower, sizes=(220, 280), stretch=(1, 1))
        self.content = ContentOrMessage(parts, name="Message")
        load: list[Any] = []
        for text, key in (
            ("Re&quests", "rate"),
            ("&First token within", "first"),
            ("A token w&ithin", "token"),
        ):
            load += [named(text, self.load[key]), self.load[key]]
        self._run_fields = holder(hbox(*run, STRETCH), hbox(*form, STRETCH), hbox(*load, STRETCH))
        head = hbox(self.model_box, (self.summary, 1), self.open_button)
        vbox(head, self._run_fields, (self.content, 1), of=self)

    def _connect(self) -> None:
        presenter = self._presenter
        self.open_button.clicked.connect(self.open_requested)
        self.model_box.activated.connect(lambda _: presenter.show(self.model_box.currentData()))
        for key, box in self.counts.items():
            box.valueChanged.connect(lambda value, key=key: self._ask(key, value))
        for key, choice in self.choices.items():
            choice.activated.connect(lambda _, key=key: self._ask(key, _chosen(self.choices[key])))
        for key, limit in self.load.items():
            limit.budget_edited.connect(lambda value, key=key: self._ask_load(key, value))
        self.along_box.activated.connect(self._show_selected)
        self.measured_box.budget_edited.connect(self._on_measured)
        self.table.rows_selected.connect(self._show_selected)
        presenter.state_changed.connect(self._show_state)
        presenter.results_changed.connect(self._show_results)
        presenter.curves_changed.connect(self._show_curves)

    def _show_curves(self) -> None:
        presenter = self._presenter
        self.plot.show_curves(presenter.curves)
        serving = presenter.serving
        self.load_answer.setVisible(serving is not None)
        self.load_answer.setText(load_answer(serving) if serving else "")

    def _ask_load(self, key: str, value: float | None) -> None:
        state = self._presenter.state
        stated = {
            "rate": state.rate_per_s,
            "first": state.limits.first_ms,
            "token": state.limits.token_ms,
        } | {key: value}
        limits = replace(state.limits, first_ms=stated["first"], token_ms=stated["token"])
        name = {"rate": "Requests a Second", "first": "First Token", "token": "A Token"}[key]
        self._presenter.ask_load(stated["rate"], limits, f"{name} {number(value)}")

    def _ask(self, key: str, value: int | str) -> None:
        request = replace(self._presenter.request, **dict[str, Any]({key: value}))
        title = key.replace("_", " ").replace("kv", "KV").title().replace("Kv", "KV")
        value_text = f"{value:,}" if isinstance(value, int) else value or _DEFAULT
        typed = key if isinstance(value, int) else ""
        self._presenter.ask(request, f"{title} {value_text}", typed=typed)

    def _show_state(self) -> None:
        """Show name, size and run of the model."""
        state, request = self._presenter.state, self._presenter.request
        self.summary.set_full_text(self._presenter.size or "No language model is open")
        self._show_models()
        self._run_fields.setVisible(bool(state.entries))
        usual = request.prompt + request.new // 2
        self.counts["context"].setSpecialValueText(f"auto: {usual:,}")
        for key, box in self.counts.items():
            with QSignalBlocker(box):
                box.setValue(getattr(request, key))
        limits = state.limits
        for key, value in (
            ("rate", state.rate_per_s), ("first", limits.first_ms), ("token", limits.token_ms),
        ):  # fmt: skip
            self.load[key].show_budget(value)
        for key, choice in self.choices.items():
            if text := getattr(request, key):
                choice.setCurrentText(text)
            else:
                choice.setCurrentIndex(0)

    def _show_models(self) -> None:
        labels, box = self._presenter.state.labels, self.model_box
        box.setVisible(len(labels) > 1)
        fill_box(box, map(shown, labels.values()))
        for place, path in enumerate(labels):
            box.setItemData(place, path)
        box.setCurrentIndex(box.findData(self._presenter.current_path))

    def _show_results(self) -> None:
        presenter = self._presenter
        self.choices["weights"].setItemText(0, _auto_text(presenter.results))
        if presenter.message:
            self.table.show_nothing()
            self.content.show_message(presenter.message)
            return
        is_first = not self.table.grid_model.grid.count
        with QSignalBlocker(self.table.selectionModel()):
            self.table.show_grid(DevicesGrid(presenter.results, presenter.measured))
            self.answer.setText(answer(presenter.results))
            if is_first and self.table.grid_model.grid.sort_column is None:
                self.table.sort_by("tokens", descending=True)
            if not self.table.selected_rows().size and self.table.grid_model.rowCount():
                self.table.selectRow(0)
        self.table.fit_columns()
        self.content.show_content()
        self._show_selected()

    def _selected(self) -> list[Generation]:
        results = self._presenter.results
        rows = [row for row in self.table.selected_rows().tolist() if row < len(results)]
        return [results[row] for row in rows]

    def _show_selected(self, *_: object) -> None:
        """Show parts and evidence of the current device, and the curves of those selected."""
        chosen = self._selected()
        current = self._current(chosen)
        self.subject.set_full_text(shown(current.device.name) if current else "")
        self.parts.show_bars(parts_bars(current) if current else [])
        rate = self._presenter.measured.get(current.device.id) if current else None
        self.evidence.setText(details(current, rate) if current else "")
        self.measured_box.setEnabled(current is not None and current.token is not None)
        self.measured_box.show_budget(rate.tokens_per_s if rate else None)
        along = list(Along)[self.along_box.currentIndex()]
        self._presenter.show_curves([result.device for result in chosen[:_MAX_CURVES]], along)

    def _current(self, chosen: list[Generation]) -> Generation | None:
        row = self.table.current_row()
        results = self._presenter.results
        if row is not None and row < len(results) and results[row] in chosen:
            return results[row]
        return chosen[0] if chosen else None

    def _on_measured(self, tokens_per_s: float | None) -> None:
        current = self._current(self._selected())
        if current is not None:
            self._presenter.set_measured(current.device, tokens_per_s)

    def _details(self, position: int) -> str:
        result = self._presenter.results[self.table.grid_model.grid.source(position)]
        return details(result, self._presenter.measured.get(result.device.id))


def _count_box(name: str, minimum: int) -> QSpinBox:
    made = NumberBox(minimum=minimum, maximum=_MAX_COUNT, accessibleName=name)
    made.setGroupSeparatorShown(True)
    # A spin box asks for the width of its largest number.
    made.setMinimumWidth(_BOX_PX)
    made.setMaximumWidth(2 * _BOX_PX)
    # Each digit of a number would be a run of its own.
    made.setKeyboardTracking(False)
    return made


def _limit_box(unit: str, name: str) -> BudgetBox:
    made = BudgetBox(None, unit, name)
    made.setSpecialValueText("none")
    return made


def _auto_text(results: Sequence[Generation]) -> str:
    """Return the entry of formats that nobody chose, with the format where it is one."""
    formats = {result.weights for result in results if result.token}
    return f"{_AUTO}: {formats.pop()}" if len(formats) == 1 else _AUTO


def _chosen(box: QComboBox) -> str:
    text = box.currentText()
    return "" if text == _DEFAULT or text.startswith(_AUTO) else text
