"""The fields of the first page, by the way to the target."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from ctm_gui.devices.library import DeviceEntry
from ctm_gui.probing.choice import Source, TargetChoice, Way
from ctm_gui.widgets.basic import button, combo_box, fill, fill_box
from ctm_gui.widgets.fields import NumberBox, line_edit, make_searchable
from predictor.core.records import Configuration, Device, Precision
from predictor.core.runtimes import MEASURED, RUNTIMES, UNKNOWN
from predictor.presentation.wording import all_cores, shown
from predictor.probing.importers.registry import FORMATS

_DETECTED = "This PC, as detected"
_MAX_THREADS = 1024
_TYPED_LINES = 5
_NAME_LETTERS = 60
_SOURCES = {
    Source.KIT: "Results of a kit",
    Source.TOOL: "A file of another benchmark tool",
    Source.TYPED: "Medians typed by hand",
}


class DeviceBox(QComboBox):
    """Chooses a device by any part of its name; the first entry stands for none."""

    def __init__(self) -> None:
        super().__init__()
        self._devices: dict[str, Device] = {}
        self.setAccessibleName("Device")
        # Its width is not that of the longest name: all of them would be measured, 40 ms.
        self.setSizeAdjustPolicy(self.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(_NAME_LETTERS)
        make_searchable(self, QLineEdit(placeholderText="Type a part of its name"))

    def show_devices(self, entries: Sequence[DeviceEntry], first: str) -> None:
        """Offer devices; the choice stays.

        Args:
            entries: in the order of the list.
            first: text of the first entry, which stands for no device.
        """
        text = self.currentText() if self.currentIndex() > 0 else first
        self._devices = {_device_text(entry): entry.device for entry in entries}
        fill_box(self, [first, *self._devices], text)

    @property
    def device(self) -> Device | None:
        """The device; None for the first entry, and for a name that there is not."""
        return self._devices.get(self.currentText())

    @property
    def problem(self) -> str:
        """The problem with the typed text; empty where there is none."""
        text = self.currentText()
        is_valid = not text or text in self._devices or text == self.itemText(0)
        return "" if is_valid else f"No device is called {shown(text)}."

    def choose(self, device_id: str) -> None:
        """Choose a device by its id."""
        for text, device in self._devices.items():
            if device.id == device_id:
                self.setCurrentIndex(self.findText(text))


class FileField(QWidget):
    """A path, typed or chosen."""

    changed = Signal()

    def __init__(self, name: str, title: str, hint: str = "") -> None:
        super().__init__()
        self._title = title
        self.edit = line_edit(name, placeholderText=hint)
        self.button = button("Browse…", act=self._browse, name=f"Choose: {name}")
        fill(QHBoxLayout(self), (self.edit, 1), self.button, margins=0)
        self.edit.textChanged.connect(lambda _: self.changed.emit())
        self.setFocusProxy(self.edit)

    def _browse(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self._title)
        if path:
            self.edit.setText(path)


class TargetForm(QWidget):
    """The target and the way to it; ``changed`` is emitted when a field differs."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.way = Way.THIS
        self._entries: Sequence[DeviceEntry] = ()
        self._addresses: dict[str, str] = {}
        self.source_box = combo_box("What is imported", _SOURCES.values())
        self.device_box = DeviceBox()
        self.runtime_box = combo_box("Runtime", [MEASURED])
        self.precision_box = combo_box("Precision", [Precision.FP32.value])
        self.threads_box = NumberBox(maximum=_MAX_THREADS, accessibleName="Threads")
        self.batch_box = NumberBox(maximum=_MAX_THREADS, accessibleName="Batch")
        self.batch_box.setSpecialValueText("as the file says")
        hint = "user@host or user@host:22"
        self.address_edit = line_edit("Address of the board", placeholderText=hint)
        hint = "the SSH agent and the default keys"
        self.key_field = FileField("Private key", "Private key for the board", hint)
        self.python_edit = line_edit("Python on the board", "python3")
        self.file_field = FileField("File to import", "File to import", "known by its content")
        self.file_field.setToolTip("\n".join(("One of these:", *(kind.title for kind in FORMATS))))
        self.typed_edit = QPlainTextEdit()
        self.typed_edit.setAccessibleName("Medians")
        self.typed_edit.setTabChangesFocus(True)
        self.typed_edit.setPlaceholderText("One network a line, as: resnet50 23.4 ms")
        lines_px = _TYPED_LINES * self.typed_edit.fontMetrics().lineSpacing()
        self.typed_edit.setFixedHeight(lines_px + 14)
        self._form = self._arrange()
        self._connect()
        self.show_way(Way.THIS)

    @property
    def problem(self) -> str:
        """The first missing or wrong field, in one sentence."""
        fields = self.choice(None)
        if self._form.isRowVisible(self.device_box) and self.device_box.problem:
            return self.device_box.problem
        return fields.problem

    def choice(self, user_machine: Device | None) -> TargetChoice:
        """Return the choice that the fields make.

        Args:
            user_machine: this machine as the user's device, which stands for the detected one.
        """
        device = self.device_box.device
        if self.way is Way.THIS and device is None:
            device = user_machine
        return TargetChoice(
            way=self.way,
            device=device,
            threads=self.threads_box.value(),
            address=self.address_edit.text().strip(),
            key_file=self.key_field.edit.text().strip(),
            python=self.python_edit.text().strip() or "python3",
            source=list(_SOURCES)[self.source_box.currentIndex()],
            path=self.file_field.edit.text().strip(),
            typed=self.typed_edit.toPlainText(),
            configuration=Configuration(
                self.runtime_box.currentText(),
                Precision(self.precision_box.currentText()),
                self.threads_box.value(),
                self.batch_box.value(),
            ),
        )

    def fill(self, device: Device, configuration: Configuration) -> None:
        """Fill in a target for the way that is shown; an import is of another tool's file."""
        if self.way is Way.IMPORT:
            self.source_box.setCurrentText(_SOURCES[Source.TOOL])
            self.runtime_box.setCurrentText(configuration.runtime)
            self.precision_box.setCurrentText(configuration.precision.value)
        self.device_box.choose(device.id)
        self.threads_box.setValue(configuration.threads)
        # Another board must not be measured in the name of this one.
        self.address_edit.setText(self._addresses.get(device.id, ""))

    def show_devices(self, entries: Sequence[DeviceEntry]) -> None:
        """Offer devices."""
        self._entries = entries
        self.device_box.show_devices(entries, _DETECTED if self.way is Way.THIS else "")

    def show_way(self, way: Way) -> None:
        """Show the fields that ``way`` needs."""
        before, self.way = self.way, way
        if Way.IMPORT in {before, way} and before is not way:
            self._offer(way is Way.IMPORT)
        if Way.THIS in {before, way}:
            # Another device that was chosen before must not stand for this machine unasked.
            self.device_box.setCurrentIndex(0)
        self.show_devices(self._entries)
        self._show_rows()

    def _note_address(self, address: str) -> None:
        if self.device_box.device is not None:
            self._addresses[self.device_box.device.id] = address

    def _show_rows(self) -> None:
        source = list(_SOURCES)[self.source_box.currentIndex()]
        case = source if self.way is Way.IMPORT else self.way
        for _, field, cases in self._rows:
            self._form.setRowVisible(field, case in cases)
        self.changed.emit()

    def _offer(self, importing: bool) -> None:
        """Offer runtimes and precisions: all for an import, else those of reference runs."""
        runtimes = [UNKNOWN, *(name for name in RUNTIMES if name != UNKNOWN)]
        _refill(self.runtime_box, runtimes if importing else [MEASURED])
        precisions = [p.value for p in Precision] if importing else [Precision.FP32.value]
        _refill(self.precision_box, precisions)
        self._show_usual_threads()
        self.threads_box.setValue(0)

    def _show_usual_threads(self, *_: object) -> None:
        """Say what no number stands for: the cores of the device, where they are known."""
        device = self.device_box.device
        count = device.threads_in_use(0) if device is not None else 0
        is_import = self.way is Way.IMPORT
        self.threads_box.setSpecialValueText("as the file says" if is_import else all_cores(count))

    @property
    def _rows(self) -> Sequence[tuple[str, QWidget, Collection[Way | Source]]]:
        """Name and field of each row, and the ways and sources that need it."""
        files = (Source.KIT, Source.TOOL)
        of_import = (Source.TOOL, Source.TYPED)
        of_target = (Way.THIS, Way.SSH, Way.KIT, *of_import)
        return (
            ("What", self.source_box, tuple(Source)),
            ("File", self.file_field, files),
            ("Medians", self.typed_edit, (Source.TYPED,)),
            ("Address", self.address_edit, (Way.SSH,)),
            ("Private key", self.key_field, (Way.SSH,)),
            ("Python there", self.python_edit, (Way.SSH,)),
            ("Device", self.device_box, of_target),
            ("Runtime", self.runtime_box, of_target),
            ("Precision", self.precision_box, of_target),
            ("Threads", self.threads_box, of_target),
            ("Batch", self.batch_box, of_import),
        )

    def _arrange(self) -> QFormLayout:
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for name, field, _ in self._rows:
            form.addRow(name, field)
        tip = "Reference networks are fp32 networks, run by onnxruntime"
        self.runtime_box.setToolTip(tip)
        self.precision_box.setToolTip(tip)
        self._show_usual_threads()
        return form

    def _connect(self) -> None:
        for edited in (
            self.address_edit.textChanged,
            self.python_edit.textChanged,
            self.key_field.changed,
            self.file_field.changed,
            self.typed_edit.textChanged,
            self.device_box.currentTextChanged,
            self.threads_box.valueChanged,
            self.batch_box.valueChanged,
        ):
            edited.connect(self.changed)
        self.address_edit.textChanged.connect(self._note_address)
        self.device_box.currentTextChanged.connect(self._show_usual_threads)
        self.source_box.currentIndexChanged.connect(lambda _: self._show_rows())


def _device_text(entry: DeviceEntry) -> str:
    whose = "own, " if entry.stored_id else ""
    return f"{shown(entry.device.name)} ({whose}{entry.device.id})"


def _refill(box: QComboBox, texts: Sequence[str]) -> None:
    box.clear()
    box.addItems(list(texts))
