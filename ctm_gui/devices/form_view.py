"""The HCV form: groups of fields with units, ranges and sources, problems beside each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from ctm_gui.devices.form import DeviceForm
from ctm_gui.devices.lists_view import ConfigurationsEditor, RowsEditor, implied_sets, list_editors
from ctm_gui.devices.tables import applies, metric_help
from ctm_gui.widgets.basic import FieldNote, combo_box, fill, label, named, note_label, show_note
from ctm_gui.widgets.fields import ChoiceLineEdit, FormLineEdit, FormTextEdit
from ctm_gui.widgets.tooltips import as_tooltip
from predictor.core.metrics import METRICS, Family, Metric, MetricGroup
from predictor.devices.consistency import CLUSTERS, MEASURED, OPERATING_POINTS
from predictor.devices.fields import range_text
from predictor.devices.form import CONFIGURATIONS
from predictor.presentation.metric_labels import FAMILY_WORDS, metric_label
from predictor.services.devices.design import architecture_titles

_LABEL_PX, _VALUE_PX, _UNIT_PX = 196, 104, 52


class MetricField(QWidget):
    """A row of the form: what is typed is known, what is empty is not.

    A sentence on it stands below once the field is left, in room that is kept for it.

    Signals:
        value_edited: the text of its value.
        source_edited: the text of its source.
    """

    value_edited = Signal(str)
    source_edited = Signal(str)

    def __init__(self, metric: Metric, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._metric = metric
        self._family: Family | None = None
        self._displayed: tuple[str, str, bool] | None = None
        self._implied = ""
        self._notes: tuple[Sequence[str], Sequence[str]] = ((), ())
        # Made as its children: Qt styles a widget anew when it gets another parent.
        self.name = label(wraps=False, parent=self)
        self.value = FormLineEdit(self)
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.name.setBuddy(self.value)
        self.unit = label(metric.unit, "muted", wraps=False, parent=self)
        self.source = FormLineEdit(self)
        self.source.setPlaceholderText("Source: document and publisher, or address")
        self.problem, self.warning = FieldNote("bad"), FieldNote("warn")
        self._arrange()
        self.value.textEdited.connect(self.value_edited)
        self.source.textEdited.connect(self.source_edited)
        self._fields = (self.value, self.source)
        for field in self._fields:
            field.installEventFilter(self)

    def show_wording(self, family: Family) -> None:
        """Name the metric as it is called in a family."""
        if family is self._family:
            return
        self._family = family
        name, text = metric_label(self._metric.name, family), metric_help(self._metric, family)
        self.name.setText(name)
        self.value.setAccessibleName(f"{name} {self._metric.unit}".strip())
        self.source.setAccessibleName(f"Source of {name}")
        for widget in (self.name, self.value, self.unit):
            widget.setToolTip(text)
            widget.setWhatsThis(text)
        self.value.setAccessibleDescription(text)

    def show_value(self, text: str, source: str, *, editable: bool) -> None:
        """Show the form's value, empty where it is not known."""
        state = (text, source, editable)
        if state == self._displayed:
            return
        self._displayed = state
        self.value.show_text(text)
        self.source.show_text(source)
        self.source.setToolTip(as_tooltip(source) if source else "")
        for field in (self.value, self.source):
            field.setReadOnly(not editable)
        self.source.setEnabled(bool(text.strip()))
        self._show_placeholder()

    def show_implied(self, text: str) -> None:
        """Show the value that the names of the device imply; empty for none."""
        if text != self._implied:
            self._implied = text
            self._show_placeholder()

    def show_notes(self, problems: Sequence[str], warnings: Sequence[str]) -> None:
        """Show problems, or else contradictions, below the fields once they are left."""
        self._notes = problems, warnings
        self._show_notes()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the notes when a field is left, and the range of values when it is entered."""
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            for field in self._fields:
                field.setModified(False)  # what is wrong in it stays until it is typed into
            self._show_notes()
            self._show_placeholder()
        return super().eventFilter(watched, event)

    def _show_notes(self) -> None:
        is_typed = any(field.hasFocus() and field.isModified() for field in self._fields)
        problems, warnings = ((), ()) if is_typed else self._notes
        self.problem.show_lines(problems)
        self.warning.show_lines(() if problems else warnings)

    def _show_placeholder(self) -> None:
        text = self._implied or "not known"
        if self.value.hasFocus() and not self.value.isReadOnly():
            text = range_text(self._metric).removesuffix(self._metric.unit).strip()
        self.value.setPlaceholderText(text)

    def _arrange(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(8)
        layout.setVerticalSpacing(0)
        self.name.setFixedWidth(_LABEL_PX)
        self.value.setFixedWidth(_VALUE_PX)
        self.unit.setFixedWidth(_UNIT_PX)
        for column, widget in enumerate((self.name, self.value, self.unit, self.source)):
            layout.addWidget(widget, 0, column)
        layout.setColumnStretch(3, 1)
        layout.addWidget(self.problem, 1, 1, 1, 3)
        layout.addWidget(self.warning, 1, 1, 1, 3)


_GROUPS = {
    MetricGroup.COMPUTE: "Compute",
    MetricGroup.MEMORY: "Memory",
    MetricGroup.POWER: "Power",
}
# The title of a text, and its row and column in the grid.
_TEXTS = {
    "name": ("Name", 0, 0),
    "vendor": ("Vendor", 0, 2),
    "id": ("Id", 2, 0),
    "system": ("System", 4, 0),
    "chip": ("Chip", 4, 2),
    "architecture": ("Architecture", 6, 0),
    "instruction_sets": ("Instructions", 6, 2),
    "host_architecture": ("Host", 8, 0),
    "notes": ("Notes", 12, 0),
}
_TIPS = {
    "name": "What people call the device.",
    "id": "Short name for --device: lower-case letters and digits joined by -, _ or .",
    "vendor": "Maker of the chip.",
    "system": "Name shared by the units of one chip or board; empty where there is one.",
    "chip": "Id of the die or system on chip; devices of one chip share silicon.",
    "architecture": "Design of its cores; type a part of its name. Of a processor with several "
    "kinds of cores, each has its own below.",
    "instruction_sets": "Vector instruction sets, separated by spaces; empty for those of the "
    "architecture.",
    "host_architecture": "Design of the processor that starts the work of a card or accelerator; "
    "empty for a current desktop.",
    "notes": "Anything worth knowing.",
}
# Texts that name a row of the table of architectures.
_DESIGNS = ("architecture", "host_architecture")
_CLUSTER_FAMILIES = {Family.CPU, Family.MOBILE_CPU, Family.MCU}
_TITLES = {
    CLUSTERS: "Kinds of cores",
    MEASURED: "Measured rates",
    OPERATING_POINTS: "Operating points",
}
_NEEDED = ("clock_mhz", "core_count", "fp32_tflops", "dram_bw_gbps")  # of most predictions
_FIELDS_AT_ONCE = 2
_NOTES_PX = 62
_TITLE_PX = 78


class DeviceFormView(QScrollArea):
    """Shows a form presenter and passes input on to it; empty until it is built.

    Enter leads from one of the numbers that a prediction needs to the next one without a value.

    Args:
        form: the form of the device that is shown.

    Signals:
        entered: the last of these numbers has a value.
    """

    entered = Signal()

    def __init__(self, form: DeviceForm) -> None:
        super().__init__()
        self._form = form
        self.setAccessibleName("Form of the device")
        self.fields: dict[str, MetricField] = {}
        self.lists: dict[str, RowsEditor] = {}
        self._list_titles: dict[str, QLabel] = {}
        body = QWidget()
        self._layout = fill(QVBoxLayout(body), margins=(10, 8, 10, 10), spacing=6)
        self._layout.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(body)

    def minimumSizeHint(self) -> QSize:
        """Return a width in which no field is cut."""
        bar = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        width = self._layout.minimumSize().width() + bar
        return QSize(width, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the width of the fields of another device."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def build(self) -> Iterator[None]:
        """Build the form from its top, a few fields from one ``yield`` to the next."""
        self._build_texts()
        yield
        for group, title in _GROUPS.items():
            self._add_heading(title)
            metrics = [metric for metric in METRICS if metric.group is group]
            for start in range(0, len(metrics), _FIELDS_AT_ONCE):
                self._build_metrics(metrics[start : start + _FIELDS_AT_ONCE])
                yield
        self._build_configurations()
        yield
        for editor in list_editors(self._form, self._architectures, self.widget()):
            self._build_list(editor)
            yield
        self._layout.addStretch(1)
        # Earlier, a field could be left for ones that are not there yet.
        for field in self.texts.values():
            field.editingFinished.connect(self._show_notes)
        for name in _NEEDED:
            self.fields[name].value.returnPressed.connect(self.enter)
        self._form.device_changed.connect(self._on_device)
        self._form.changed.connect(self.show_form)
        self.show_form()

    def enter(self) -> None:
        """Put the cursor into the first needed number without a value."""
        for name in _NEEDED:
            field = self.fields[name]
            if not field.value.text() and not field.isHidden():
                field.value.setFocus(Qt.FocusReason.TabFocusReason)
                self.ensureWidgetVisible(field)
                return
        self.entered.emit()

    def show_note(self) -> None:
        """Go to the first field below which something is said."""
        texts = ((note, self.texts.get(name)) for name, note in self.text_notes.items())
        metrics = (
            (note, field.value)
            for field in self.fields.values()
            for note in (field.problem, field.warning)
        )
        for note, field in (*texts, *metrics):
            if note.isVisibleTo(self) and field is not None:
                field.setFocus(Qt.FocusReason.OtherFocusReason)
                self.ensureWidgetVisible(note)
                return

    def show_form(self) -> None:
        """Show the form's values and problems."""
        self._show_texts()
        for name in self.fields:
            self._show_metric(name)
        self._show_configurations()
        for name in self.lists:
            self._show_list(name)
        self._show_notes()

    def _show_texts(self) -> None:
        fields, editable = self._form.fields, self._form.editable
        for name, field in self.texts.items():
            field.show_text(getattr(fields, name))
            field.setReadOnly(not editable)
        for name in _DESIGNS:
            title = self._architectures.get(getattr(fields, name), "")
            self.texts[name].setToolTip(title or _TIPS[name])
        for name in ("chip", "architecture"):
            self.texts[name].setPlaceholderText(self._form.implied_text(name))
        self._show_implied_sets()
        self.notes.show_text(fields.notes)
        self.notes.setReadOnly(not editable)
        self.family.setCurrentIndex(list(Family).index(fields.family))
        self.family.setEnabled(editable)

    def _show_implied_sets(self) -> None:
        """Offer the instruction sets that the name says, else those of the architecture."""
        form = self._form
        design = form.fields.architecture or form.implied_text("architecture")
        sets = form.implied_text("instruction_sets") or implied_sets(design)
        self.texts["instruction_sets"].setPlaceholderText(sets)

    def _show_metric(self, name: str) -> None:
        fields, field = self._form.fields, self.fields[name]
        available = name in fields.available
        field.show_wording(fields.family)
        texts = (
            (fields.values.get(name, ""), fields.sources.get(name, "")) if available else ("", "")
        )
        field.show_value(*texts, editable=self._form.editable)
        field.setVisible(available or applies(name, fields.family))

    def _show_configurations(self) -> None:
        form = self._form
        self.configurations.show_configurations(form.fields.configurations, editable=form.editable)

    def _show_list(self, name: str) -> None:
        fields, editable = self._form.fields, self._form.editable
        rows = getattr(fields, name)
        self.lists[name].show_rows(rows, editable=editable)
        may_have = name != CLUSTERS or fields.family in _CLUSTER_FAMILIES
        for part in (self.lists[name], self._list_titles[name]):
            part.setVisible(bool(rows) or (editable and may_have))

    def _show_notes(self) -> None:
        form = self._form
        problems = form.problems
        for name, note in self.text_notes.items():
            is_typed = name in self.texts and self.texts[name].hasFocus()
            note.show_lines([problems[name]] if name in problems and not is_typed else [])
        show_note(self.text_warning, [w for name in _DESIGNS for w in form.warnings_of(name)])
        show_note(self.text_inferred, list(filter(None, [form.inferred_line()])))
        for name, field in self.fields.items():
            field.show_implied(form.implied_text(name))
            wrong = [problems[key] for key in (name, f"sources.{name}") if key in problems]
            field.show_notes(wrong, form.warnings_of(name))
        self.configurations.show_problem(problems.get(CONFIGURATIONS, ""))
        for name, editor in self.lists.items():
            editor.show_notes(problems, form.warnings_of(name))

    def _add_heading(self, text: str) -> QLabel:
        heading = label(text, "heading", wraps=False)
        fill(self._layout, 6, heading)
        return heading

    def _build_texts(self) -> None:
        form = self._form
        self._architectures = architecture_titles()
        self.texts = {name: FormLineEdit() for name in _TEXTS if name != "notes"}
        for name in _DESIGNS:
            self.texts[name] = choice = ChoiceLineEdit()
            choice.offer(self._architectures)
        self.text_notes = {name: FieldNote("bad") for name in _TEXTS}
        self.text_warning = note_label("warn")
        self.text_inferred = note_label("muted")
        self.notes = FormTextEdit()
        self.notes.setFixedHeight(_NOTES_PX)
        self.family = combo_box("Family", [FAMILY_WORDS[family] for family in Family])
        self.family.setToolTip("Kind of compute unit; the names of the metrics follow it.")
        self._layout.addLayout(self._arrange_texts())
        self._show_texts()
        for name, field in self.texts.items():
            field.textEdited.connect(partial(form.set_text, name))
        self.notes.textChanged.connect(self._on_notes)
        self.family.activated.connect(lambda index: form.set_family(list(Family)[index]))

    def _build_metrics(self, metrics: Sequence[Metric]) -> None:
        form = self._form
        for metric in metrics:
            name = metric.name
            field = self.fields[name] = MetricField(metric, self.widget())
            self._layout.addWidget(field)
            self._show_metric(name)
            field.value_edited.connect(partial(form.set_value, name))
            field.source_edited.connect(partial(form.set_source, name))

    def _build_configurations(self) -> None:
        self._add_heading("Runs")
        self.configurations = ConfigurationsEditor(self.widget())
        self._layout.addWidget(self.configurations)
        self._show_configurations()
        self.configurations.edited.connect(self._form.set_configurations)

    def _build_list(self, editor: RowsEditor) -> None:
        name = editor.key
        self._list_titles[name] = self._add_heading(_TITLES[name])
        self.lists[name] = editor
        self._layout.addWidget(editor)
        self._show_list(name)
        editor.edited.connect(lambda rows, cell: self._form.set_rows(name, rows, typed=cell))

    def _arrange_texts(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(0)
        for name, field in self.texts.items():
            self._place(grid, name, field)
        self._label(grid, "Family", self.family, (2, 2))
        grid.addWidget(self.text_warning, 10, 1, 1, 3)
        grid.addWidget(self.text_inferred, 11, 1, 1, 3)
        self._place(grid, "notes", self.notes, span=3)
        for column in (1, 3):
            grid.setColumnStretch(column, 1)
        return grid

    def _place(self, grid: QGridLayout, name: str, field: QWidget, span: int = 1) -> None:
        title, row, column = _TEXTS[name]
        field.setToolTip(_TIPS[name])
        field.setWhatsThis(_TIPS[name])
        field.setAccessibleName(title)
        self._label(grid, title, field, (row, column), span)
        grid.addWidget(self.text_notes[name], row + 1, column + 1, 1, span)

    @staticmethod
    def _label(
        grid: QGridLayout, title: str, field: QWidget, place: tuple[int, int], span: int = 1
    ) -> None:
        words = named(title, field)
        words.setMinimumWidth(_TITLE_PX if place[1] == 0 else 0)
        top = Qt.AlignmentFlag.AlignTop if span > 1 else Qt.AlignmentFlag.AlignVCenter
        grid.addWidget(words, place[0], place[1], top)
        grid.addWidget(field, place[0], place[1] + 1, 1, span)

    def _on_notes(self) -> None:
        # Also said when it is shown, and then it is what the form holds.
        if self.notes.toPlainText() != self._form.fields.notes:
            self._form.set_text("notes", self.notes.toPlainText())

    def _on_device(self) -> None:
        self.show_form()
        self.ensureVisible(0, 0)
