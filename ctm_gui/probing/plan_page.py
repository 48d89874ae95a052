"""Page 2: the networks of a plan with reasons and duration; of an import, the meaning of names."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from ctm_gui.probing.choice import TargetChoice, Way
from ctm_gui.probing.grids import names_grid, plan_grid
from ctm_gui.probing.imports import ReadFile
from ctm_gui.probing.load import LoadWatch
from ctm_gui.probing.page_parts import Table, box, button, column, label, show_words
from ctm_gui.probing.plan import (
    SELECTOR_SENTENCES,
    SELECTORS,
    PlanFields,
    Planned,
    ProbePlanner,
    plan_words,
)
from ctm_gui.probing.plots import CoveragePlot
from ctm_gui.widgets.basic import STRETCH, combo_box, hbox, named, splitter
from ctm_gui.widgets.fields import NumberBox
from ctm_gui.widgets.table_view import copy_button
from predictor.core.text import plural
from predictor.presentation.wording import configuration_text, shown
from predictor.probing.choice import ADAPTIVE
from predictor.probing.importers.registry import NAME as TYPED
from predictor.services.probing.other_load import busy_words

_MAX_PROBES = 100
_MAX_MINUTES = 240
_WIDEST = 200
_TABLE_PX, _PLOT_PX = 300, 200


class PlanPage(QWidget):
    """The second page.

    ``changed`` is emitted when the plan may differ; ``idle`` when the user waits for an idle
    machine and it has become one.
    """

    changed = Signal()
    idle = Signal()

    def __init__(self, planner: ProbePlanner, plot: CoveragePlot, watch: LoadWatch) -> None:
        super().__init__()
        self._planner, self._watch = planner, watch
        self._choice = TargetChoice()
        self._displayed: Planned | None = None
        self.probes_box = NumberBox(minimum=1, maximum=_MAX_PROBES, value=PlanFields().probes)
        self.minutes_box = NumberBox(minimum=1, maximum=_MAX_MINUTES, value=PlanFields().minutes)
        self.minutes_box.setSuffix(" min")
        self.selector_box = combo_box("What chooses the networks", SELECTORS.values())
        self.within_box = NumberBox(maximum=_WIDEST, singleStep=5, suffix=" %")
        self.within_box.setSpecialValueText("off")
        self.within_box.setToolTip(
            "Choosing in steps ends once the upper end of the 80 % interval of a typical network "
            "is at most this far above its latency."
        )
        self.within_box.setEnabled(False)
        self.chosen_by = label(SELECTOR_SENTENCES[PlanFields().selector], "muted")
        self.summary = label()
        self.problem = label(role="bad")
        self.load = label(role="muted", name="Work of other programs")
        self.wait_button = button("Start When &Idle", "Measure as soon as other programs rest")
        self.wait_button.setCheckable(True)
        self.load_row = box(hbox((self.load, 1), self.wait_button), margins=0)
        self.table = Table("Planned networks")
        self.plot = plot
        legend = label(
            "Diamonds: chosen. Dots: not chosen. Lines: from the 10th to the 90th "
            "percentile of the devices in the catalogue. All are estimates.",
            "muted",
        )
        parts = splitter(
            Qt.Orientation.Vertical,
            self.table,
            box(legend, (self.plot, 1), spacing=2),
            sizes=(_TABLE_PX, _PLOT_PX),
        )
        fields = self._build_fields()
        column(self, fields, self.chosen_by, self.summary, self.load_row, self.problem, (parts, 1))
        for spin_box in (self.probes_box, self.minutes_box, self.within_box):
            spin_box.valueChanged.connect(lambda _: self._ask())
        self.selector_box.currentIndexChanged.connect(lambda _: self._ask())
        planner.changed.connect(self._show)
        watch.changed.connect(self._show_load)
        self.wait_button.toggled.connect(lambda _: self._show_load())

    def follow_load(self, *, is_open: bool) -> None:
        """Look at other programs while the page is open, where this machine is measured.

        Args:
            is_open: whether the page is before the user.
        """
        is_meant = is_open and self._choice.way is Way.THIS
        self.wait_button.setChecked(False)
        self.load_row.setVisible(is_meant)
        if is_meant:
            self._watch.start()
        else:
            self._watch.stop()

    def open(self, choice: TargetChoice) -> None:
        """Plan for a target."""
        self._choice = choice
        self._ask()

    def _build_fields(self) -> QWidget:
        parts: list[QWidget] = []
        for words, name, field in (
            ("&Networks", "How many networks", self.probes_box),
            ("&Time", "Time that measuring may take", self.minutes_box),
            ("Chos&en", "What chooses the networks", self.selector_box),
            (
                "End when inter&val below",
                "Interval at which choosing in steps ends",
                self.within_box,
            ),
        ):
            field.setAccessibleName(name)
            parts += [named(words, field), field]
        # Two rows: in one they are wider than a small screen.
        *counted, selector_name, selector, within_name, within = parts
        first = hbox(*counted, within_name, within, STRETCH, spacing=8)
        chosen = hbox(selector_name, selector, STRETCH, copy_button(self.table), spacing=8)
        return box(first, chosen, spacing=6)

    def _ask(self) -> None:
        selector = list(SELECTORS)[self.selector_box.currentIndex()]
        self.within_box.setEnabled(selector == ADAPTIVE and self._choice.way is not Way.KIT)
        self.chosen_by.setText(SELECTOR_SENTENCES[selector])
        within = self.within_box.value() if self.within_box.isEnabled() else 0
        fields = PlanFields(self.probes_box.value(), self.minutes_box.value(), selector, within)
        self._planner.ask(self._choice, fields)

    def _show_load(self) -> None:
        load, is_waiting = self._watch.load, self.wait_button.isChecked()
        busy = load is not None and load.is_busy
        words = "Looking at other programs…" if load is None else busy_words(load)
        if is_waiting:
            words += " Measuring starts when they rest."
        show_words(self.load, words, "warn" if busy else "muted")
        self.wait_button.setVisible(busy or is_waiting)
        if is_waiting and self._watch.is_idle and self._planner.planned is not None:
            self.wait_button.setChecked(False)
            self.idle.emit()

    def _show(self) -> None:
        planner = self._planner
        planned = planner.planned
        show_words(self.problem, "" if planner.error is None else str(planner.error), "bad")
        self.summary.setText(_summary(planned) if planned else planner.state)
        if planned is not self._displayed:
            self._displayed = planned
            self.table.show_grid(plan_grid(planned.plan if planned else None))
            self.plot.show_coverage(planned.coverage if planned else None)
        self.changed.emit()


def _summary(planned: Planned) -> str:
    plan = planned.plan
    target = f"{shown(plan.target.device.name)}, {configuration_text(plan.target.configuration)}"
    return " ".join(filter(None, (f"{target}:", plan_words(planned), planned.note)))


LEFT_OUT = "(leave out)"


class NamesPage(QWidget):
    """The mapping of names; ``changed`` is emitted when it differs."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.read: ReadFile | None = None
        self.meant: dict[str, str | None] = {}
        self._summary = label()
        self.table = Table("Names in the file")
        self.box = combo_box("What the selected name means")
        heading = label("Which network does each name mean?", "heading")
        meaning = hbox(named("The selected name &means", self.box), (self.box, 1))
        column(self, heading, self._summary, (self.table, 1), meaning)
        self.table.rows_selected.connect(lambda _rows, current: self._on_row(current))
        self.box.activated.connect(self._on_meaning)

    @property
    def ready(self) -> bool:
        """Whether any name is mapped."""
        return any(choice is not None for choice in self.meant.values())

    def show_file(self, read: ReadFile) -> None:
        """Show the names of a file; exact ones are chosen already."""
        self.read, self.meant = read, read.proposed()
        file = read.file
        latencies = plural(len(file.latencies), "latency", "latencies")
        is_typed = file.format == TYPED
        sentences = (
            f"{latencies} entered."
            if is_typed
            else f"{shown(file.name)}: {file.format}, {latencies}.",
            "Names of the window's models and of reference networks are recognised.",
            *map(shown, file.notes),
        )
        self._summary.setText(" ".join(sentences))
        self._show_table()
        unclear = [row for row, match in enumerate(read.names) if match.exact is None]
        first = unclear[0] if unclear else 0
        self.table.select_rows([first], first)
        self.changed.emit()

    def choose(self, name: str, meaning: str | None) -> None:
        """Give a name a meaning; None leaves it out."""
        self.meant[name] = meaning
        self._show_table()
        self.changed.emit()

    def _show_table(self) -> None:
        if self.read is not None:
            self.table.show_grid(names_grid(self.read, self.meant, LEFT_OUT))

    def _on_row(self, row: int | None) -> None:
        """Offer the meanings of the current name, the likeliest first."""
        self.box.clear()
        if self.read is None or row is None:
            return
        match = self.read.names[row]
        likely = [proposal.candidate for proposal in match.proposals]
        rest = [name for name in self.read.candidates if name not in likely]
        self.box.addItems([LEFT_OUT, *likely, *rest])
        self.box.setCurrentText(self.meant[match.name] or LEFT_OUT)

    def _on_meaning(self, place: int) -> None:
        row = self.table.current_row()
        if self.read is not None and row is not None:
            name = self.read.names[row].name
            self.choose(name, None if place == 0 else self.box.itemText(place))
