"""The Choose place: three limits, the sentence that answers them, the best option of devices."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from ctm_gui import settings as table
from ctm_gui.choose.language import LanguageChosen
from ctm_gui.choose.language_rows import LanguageOptionsGrid
from ctm_gui.choose.language_view import LanguageFields
from ctm_gui.choose.limits import Limits
from ctm_gui.choose.presenter import ChoicePresenter
from ctm_gui.choose.progress_view import ChoiceProgress
from ctm_gui.choose.rows import OptionsGrid, OptionsModel
from ctm_gui.choose.work import Chosen
from ctm_gui.settings import Settings
from ctm_gui.widgets.basic import (
    STRETCH,
    ContentOrMessage,
    button,
    combo_box,
    explain_items,
    fill_box,
    hbox,
    holder,
    label,
    named,
    vbox,
)
from ctm_gui.widgets.fields import BudgetBox, DecimalBox
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.metrics import Family
from predictor.core.records import Precision
from predictor.core.run_facts import PERCENTILES
from predictor.core.runtimes import RUNTIMES, UNKNOWN
from predictor.core.text import capitalised
from predictor.presentation.wording import shown
from predictor.services.choose.options import Wanted

_MIN_WIDTHS_PX = {"device": 230, "how": 190, "mode": 80, "needs": 104}
_FAMILIES = {
    Family.GPU: "GPUs",
    Family.CPU: "processors",
    Family.MOBILE_CPU: "mobile processors",
    Family.MOBILE_GPU: "mobile GPUs",
    Family.NPU: "NPUs",
    Family.FPGA: "FPGAs",
    Family.ASIC: "ASICs",
    Family.MCU: "microcontrollers",
}
_FIELD_PX = 90  # a spin box asks for the width of its largest number
_LARGE_PX, _LARGE_HEIGHT_PX = 150, 34
_COMPARED = 5  # of the best options, where no row is selected
_ALL = "all models"
_IN_TURN, _AT_ONCE = "in turn", "at once"
_OF_ONE = "Of one run after the other, over the best batch of up to 16 times the model's."
_OF_SEVERAL = (
    "Of as many runs at once as the runtime would choose, where published rates beside latencies "
    "show what they bring; elsewhere of one run after the other, as the remark says."
)
_BOX_LETTERS, _MODEL_LETTERS = 10, 18
_LONGEST = 400


class ChooseView(QWidget):
    """Budget fields on top, the answer below them, and the best option of each device.

    Args:
        options: budget and theme.
        presenter: of the choice.
        settings: keep the limits.

    Signals:
        device_activated: the user asked where the time goes on a device: its id.
        measuring_requested: the user asked to measure on a device: its id.
        comparing_requested: the user asked to compare options: targets, and the latency limit.
        tokens_requested: the user asked for a language model on devices: its label and their ids.
    """

    device_activated = Signal(str)
    measuring_requested = Signal(str)
    comparing_requested = Signal(object, object)
    tokens_requested = Signal(str, object)

    def __init__(
        self, options: ViewOptions, presenter: ChoicePresenter, settings: Settings
    ) -> None:
        super().__init__()
        self._options, self._presenter, self._settings = options, presenter, settings
        self._model = OptionsModel(options, self)
        self.table = FilteredTable(
            self._model, "Options", "Search device or configuration (Ctrl+F)", _MIN_WIDTHS_PX
        )
        self._make_controls()
        self._arrange()
        self._connect()
        self._take_limits()
        self._show()

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.table.focus_search()

    def enter(self) -> None:
        """Put the cursor into the first limit; Enter goes on to the next one."""
        _type_into(self.latency_box)

    def _make_controls(self) -> None:
        self.model_box = combo_box("What runs", [_ALL], letters=_MODEL_LETTERS)
        self.latency_box = BudgetBox(None, "ms", "Largest latency; zero for no limit")
        self.percentile_box = combo_box("Runs that keep the latency")
        self.percentile_box.setToolTip(
            "Of 100 runs so many keep the latency. P90 and P99 are known where published logs have "
            "them of the runtime and the kind of device; elsewhere the P50 is judged."
        )
        for percentile in PERCENTILES:
            self.percentile_box.addItem(f"{percentile} % of runs", percentile)
        self.rate_box = BudgetBox(None, "items/s", "Least items a second; zero for no limit")
        self.runs_box = combo_box("Runs that make the items a second", [_IN_TURN, _AT_ONCE])
        explain_items(self.runs_box, [_OF_ONE, _OF_SEVERAL])
        self.power_box = BudgetBox(None, "W", "Largest stated power in watts; zero for no limit")
        self.memory_box = BudgetBox(None, "MB", "Largest memory in megabytes; zero for no limit")
        self._limits = {
            table.CHOOSE_MS: self.latency_box,
            table.CHOOSE_WATTS: self.power_box,
            table.CHOOSE_MB: self.memory_box,
        }
        for box in (*self._limits.values(), self.rate_box):
            box.setSpecialValueText("no limit")
            box.setMinimumWidth(_FIELD_PX)
        for setting, box in self._limits.items():
            box.setProperty("role", "large")
            box.setMinimumWidth(_LARGE_PX)
            box.show_budget(self._settings.get(setting) or None)
        self.chance_box = DecimalBox(minimum=1.0, maximum=99.0, decimals=0, suffix=" %", value=50.0)
        self.chance_box.setKeyboardTracking(False)
        self.chance_box.setAccessibleName("Least chance in percent with which a budget is met")
        self.family_box = _choice("Kind of device", "All devices", _FAMILIES.items())
        runtimes = [(name, row.title) for name, row in RUNTIMES.items() if name != UNKNOWN]
        self.runtime_box = _choice("Runtime", "All runtimes", runtimes)
        precisions = [(precision, precision.words) for precision in Precision]
        self.precision_box = _choice("Precision", "All precisions", precisions)
        explain_items(self.precision_box, ["", *(precision.explanation for precision in Precision)])
        self.language_fields = LanguageFields(self._settings)
        self.language_fields.hide()
        self.answer = label(role="heading", name="Answer", selectable=True)
        self.advice = label(name="The measurement that would settle it", selectable=True)
        self.probe_button = button(
            "Probe &It…",
            "Tick this device and open the wizard: it measures reference networks there.",
            self._ask_to_measure,
        )
        self.compare_button = button(
            "Compa&re These",
            f"Tick the selected rows, or the first {_COMPARED}, and show them in Answer",
            self._ask_to_compare,
        )
        self.counted = label(role="muted", wraps=False)
        self.progress = ChoiceProgress(self._presenter)

    def _arrange(self) -> None:
        of_models = QWidget()
        for box in (self.model_box, self.percentile_box):
            box.setMinimumHeight(_LARGE_HEIGHT_PX)  # in line with the large fields beside them
        fields = (
            ("&Latency at most", self.latency_box),
            ("Kept &by", self.percentile_box),
            ("Po&wer at most", self.power_box),
            ("&Memory at most", self.memory_box),
        )
        row = hbox(*(_field(text, box) for text, box in fields), STRETCH, spacing=10)
        vbox(row, of=of_models, margins=0)
        limits = hbox(
            _field("What ru&ns", self.model_box), (of_models, 1), (self.language_fields, 1),
            spacing=14,
        )  # fmt: skip
        throughput = named("Throu&ghput", self.rate_box)
        filters = hbox(
            named("&Chance", self.chance_box),
            self.chance_box,
            throughput,
            self.rate_box,
            self.runs_box,
            self.family_box,
            self.runtime_box,
            self.precision_box,
            STRETCH,
            spacing=4,
        )
        self._of_models = (
            of_models, throughput, self.rate_box, self.runs_box, self.runtime_box,
            self.precision_box,
        )  # fmt: skip
        search = hbox(
            (self.table.search_box, 1),
            self.counted,
            self.table.matches,
            self.table.copy_button,
            self.compare_button,
        )
        self._advice_row = holder(hbox((self.advice, 1), self.probe_button))
        content = holder(self.answer, self._advice_row, search, (self.table, 1))
        self.content = ContentOrMessage(content, name="Why nothing is chosen")
        vbox(limits, filters, self.progress, (self.content, 1), of=self)

    def _connect(self) -> None:
        self.rate_box.budget_edited.connect(self._take_limits)
        for box, following in pairwise(self._limits.values()):
            box.lineEdit().returnPressed.connect(partial(_type_into, following))
        for setting, box in self._limits.items():
            box.budget_edited.connect(lambda value, s=setting: self._settings.set(s, value or 0.0))
            box.budget_edited.connect(self._take_limits)
        self.model_box.activated.connect(self._take_limits)
        self.chance_box.valueChanged.connect(self._take_limits)
        boxes = (self.percentile_box, self.runs_box, self.family_box, self.runtime_box)
        for choice in (*boxes, self.precision_box):
            choice.activated.connect(self._take_limits)
        self.language_fields.edited.connect(self._take_limits)
        self.table.row_activated.connect(self._activate)
        self._presenter.changed.connect(self._show)

    def _take_limits(self, *_: object) -> None:
        rate, in_turn = self.rate_box.value() or None, self.runs_box.currentText() == _IN_TURN
        self._presenter.set_limits(
            Limits(
                model=self.model_box.currentText() if self.model_box.currentIndex() else "",
                max_ms=self.latency_box.value() or None,
                min_fps=rate if in_turn else None,
                min_throughput=None if in_turn else rate,
                max_watts=self.power_box.value() or None,
                max_memory_mb=self.memory_box.value() or None,
                percentile=int(self.percentile_box.currentData()),
                chance=self.chance_box.value() / 100,
                wanted=Wanted(
                    tuple(_chosen(self.runtime_box)),
                    tuple(map(Precision, _chosen(self.precision_box))),
                    tuple(map(Family, _chosen(self.family_box))),
                ),
                language=self.language_fields.limits,
            )
        )

    def _show(self) -> None:
        chosen = self._presenter.chosen
        # What was chosen before stays until the new one is there.
        self._show_models()
        language = self._presenter.chosen_language
        if chosen is None and language is None:
            if self._presenter.settled:
                self.table.show_nothing()
            self.content.show_message(self._presenter.message)
            return
        if not self._presenter.settled:
            return
        if language is not None:
            self._show_language(language)
        elif chosen is not None:
            self._show_chosen(chosen)
        self.table.fit_columns()
        self.content.show_content()

    def _show_language(self, chosen: LanguageChosen) -> None:
        self._show_counted(len(chosen.options))
        self.answer.setText(shown(chosen.sentence, _LONGEST))
        self.advice.clear()
        self._advice_row.hide()
        chance = self._presenter.limits.chance
        self._show_grid(LanguageOptionsGrid(chosen.options, chosen.front, chance))

    def _show_chosen(self, chosen: Chosen) -> None:
        choice, settling = chosen.choice, chosen.choice.settling
        self._show_counted(len(chosen.options))
        self.answer.setText(choice.sentence)
        advice = settling.words(chosen.names) if settling else ""
        self.advice.setText(" ".join(filter(None, [choice.without_tail, advice])))
        self.probe_button.setVisible(settling is not None)
        self._advice_row.setVisible(bool(self.advice.text()))
        self._show_grid(OptionsGrid(chosen.options, choice.min_chance))

    def _show_counted(self, count: int) -> None:
        self.counted.setText(f"{count} of {self._presenter.device_count} devices have a number")

    def _show_grid(self, grid: Grid) -> None:
        with QSignalBlocker(self.table.selectionModel()):
            self.table.show_grid(grid)

    def _show_models(self) -> None:
        is_of_language = bool(self._presenter.language_label)
        self.language_fields.setVisible(is_of_language)
        for part in self._of_models:
            part.setVisible(not is_of_language)
        models = self._presenter.models
        # A language model has limits of its own: it is none of all models.
        of_language = tuple(self._presenter.language_names)
        names = [*([] if models == of_language and models else [_ALL]), *models]
        if names != [self.model_box.itemText(i) for i in range(self.model_box.count())]:
            fill_box(self.model_box, names, self._presenter.limits.model or _ALL)

    def _activate(self, row: int) -> None:
        grid = self._model.grid
        if isinstance(grid, LanguageOptionsGrid):
            generation = grid.language_options[row].generation
            self.tokens_requested.emit(generation.model, [generation.device.id])
        elif isinstance(grid, OptionsGrid):
            self.device_activated.emit(grid.options[row].target.device.id)

    def _ask_to_compare(self) -> None:
        grid = self._model.grid
        rows = self.table.selected_rows().tolist() or grid.order[:_COMPARED].tolist()
        if isinstance(grid, LanguageOptionsGrid):
            results = [grid.language_options[row].generation for row in rows]
            ids = [result.device.id for result in results]
            if results:
                self.tokens_requested.emit(results[0].model, ids)
        elif isinstance(grid, OptionsGrid):
            targets = [grid.options[row].target for row in rows]
            self.comparing_requested.emit(targets, self._presenter.limits.max_ms)

    def _ask_to_measure(self) -> None:
        chosen = self._presenter.chosen
        if chosen is not None and chosen.choice.settling is not None:
            self.measuring_requested.emit(chosen.choice.settling.target.device.id)


def _type_into(box: BudgetBox) -> None:
    box.setFocus(Qt.FocusReason.TabFocusReason)
    box.selectAll()


def _field(text: str, box: QWidget) -> QWidget:
    """Return a field under its label."""
    made = holder(named(text, box), box)
    made.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
    return made


def _choice(name: str, all_text: str, items: Iterable[tuple[str, str]]) -> QComboBox:
    box = combo_box(name, letters=_BOX_LETTERS)
    box.addItem(all_text, "")
    for value, words in items:
        box.addItem(capitalised(words), str(value))
    return box


def _chosen(box: QComboBox) -> list[str]:
    """Return the chosen value, none where every one is."""
    value = str(box.currentData())
    return [value] if value else []
