"""The HCV form of one device: its texts, the findings of the checks, undo, save and revert."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from ctm_gui.devices.library import DeviceEntry, DeviceLibrary
from ctm_gui.devices.tables import in_words
from ctm_gui.undo import empty_merged
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Inference
from predictor.devices.consistency import CLUSTERS, MEASURED, OPERATING_POINTS
from predictor.devices.form import (
    CONFIGURATIONS,
    ClusterFields,
    FormFields,
    MeasuredFields,
    PointFields,
    check_form,
    fields_of,
)
from predictor.presentation.metric_labels import metric_label
from predictor.presentation.wording import NOTHING, shown
from predictor.services.devices.form import missing_metric
from predictor.services.devices.inferred import inferred_facts
from predictor.services.devices.user_devices import unused_id

TEXTS = (
    *("id", "name", "vendor", "system", "chip", "architecture", "instruction_sets"),
    *("host_architecture", "notes"),
)
ListRow = ClusterFields | MeasuredFields | PointFields
_LISTS = {
    CLUSTERS: "clusters",
    MEASURED: "measured rates",
    OPERATING_POINTS: "operating points",
}
_MAX_ID = 48
_NOTHING = FormFields(id="", name="", vendor="", family=Family.CPU)


class DeviceForm(QObject):
    """The form of the device that is shown; unsaved texts of other devices are kept meanwhile.

    ``device_changed`` is emitted when another device is shown; ``changed`` when its fields or their
    problems change; ``modified_changed`` gives the key of a device that now has, or no longer
    has, unsaved changes.

    Attributes:
        key: of the device that is shown; empty for none.
        fields: the texts of the fields.
        check: the findings of the checks on the fields.
        problems: a sentence for each wrong field, by its key.

    Args:
        library: source and store of the devices.
        undo_stack: gets a command for each edit; typing in one field is one command.
        parent: owner.
    """

    device_changed = Signal()
    changed = Signal()
    modified_changed = Signal(str)

    def __init__(
        self, library: DeviceLibrary, undo_stack: QUndoStack, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._undo_stack = undo_stack
        self.key = ""
        self._drafts: dict[str, FormFields] = {}
        self.fields = _NOTHING
        self.check = check_form(_NOTHING)
        self.problems: Mapping[str, str] = {}
        library.changed.connect(self._on_library)

    @property
    def entry(self) -> DeviceEntry | None:
        """The device that is shown, as it was saved."""
        return self._library.entry(self.key)

    @property
    def editable(self) -> bool:
        """Whether the device is the user's."""
        entry = self.entry
        return entry is not None and entry.is_user

    @property
    def is_stored(self) -> bool:
        """Whether the device is more than this machine as it was detected."""
        entry = self.entry
        return entry is not None and bool(entry.stored_id)

    @property
    def modified(self) -> bool:
        """Whether something was typed that is not saved."""
        return self.key in self._drafts

    @property
    def can_save(self) -> bool:
        """Whether there is something to save and nothing is wrong with it."""
        return self.modified and not self.problems

    def is_modified(self, key: str) -> bool:
        """Whether something was typed for a device that is not saved."""
        return key in self._drafts

    def warnings_of(self, field: str) -> list[str]:
        """Return the sentences of the contradictions to a field."""
        family = self.fields.family
        return [
            in_words(finding.sentence, family)
            for finding in self.check.findings
            if field in finding.fields
        ]

    def problem_lines(self) -> list[str]:
        """Return every problem, a sentence each."""
        return [_in_list(key, sentence) for key, sentence in self.problems.items()]

    def warning_lines(self) -> list[str]:
        """Return every contradiction, a sentence each."""
        family = self.fields.family
        return [in_words(finding.sentence, family) for finding in self.check.findings]

    def unsourced_line(self) -> str:
        """Return which metrics have no source; empty for none."""
        unsourced = [metric_label(name, self.fields.family) for name in self.check.unsourced]
        return f"Without a source: {', '.join(unsourced)}." if unsourced else ""

    def implied_text(self, name: str) -> str:
        """Return the value that the device's names imply for a text or metric; empty for none."""
        return next((item.value for item in self._inferences if item.field == name), "")

    def inferred_line(self) -> str:
        """Return what the names of the device imply for empty fields, and why; empty for none."""
        entry = self.check.entry
        return "" if entry is None else inferred_facts(entry.device)

    @property
    def _inferences(self) -> tuple[Inference, ...]:
        entry = self.check.entry
        items = () if entry is None else entry.device.inferences
        return tuple(item for item in items if item.is_used)

    def missing_line(self) -> str:
        """Return the missing metrics that a prediction needs; empty where none is missing."""
        entry = self.check.entry
        name = missing_metric(entry.device) if entry is not None else ""
        if not name:
            return ""
        label = metric_label(name, self.fields.family)
        return f"{label} is not known: add it for a surer prediction."

    @property
    def id_follows(self) -> bool:
        """Whether the id still follows the name: it was not typed, and nothing was saved yet."""
        is_usual = self.fields.id.startswith(id_of(self.fields.name) or "my-device")
        return self._library.is_new(self.key) and is_usual

    @property
    def is_empty(self) -> bool:
        """Whether no metric of a device of the user's is known."""
        return self.editable and not self.fields.available

    @property
    def entries(self) -> tuple[DeviceEntry, ...]:
        """All devices that one may start from."""
        return tuple(e for e in self._library.entries if e.key != self.key and e.device.metrics)

    def show(self, key: str) -> None:
        """Show a device, with its unsaved texts where there are any."""
        if key != self.key:
            self.key = key
            self._load()
            self.device_changed.emit()

    def set_text(self, name: str, text: str) -> None:
        """Type into one of ``TEXTS``."""
        if name not in TEXTS:
            raise ValueError(f"{name} is no text of the form")
        after = replace(self.fields, **{name: text})  # type: ignore[arg-type]
        if name == "name" and self.id_follows:
            used = self._library.used_ids(self.key)
            after = replace(after, id=unused_id(id_of(text) or "my-device", used))
        self._edit(name, f"Edit {name.replace('_', ' ')}", after)

    def set_family(self, family: Family) -> None:
        """Choose the kind of compute unit."""
        self._edit("family", "Edit family", replace(self.fields, family=family), merge=False)

    def set_value(self, metric: str, text: str) -> None:
        """Type a metric's value, which makes it known; an empty one is absent from the device."""
        values = {**self.fields.values, metric: text}
        now = self.fields.available
        now = now | {metric} if text.strip() else now - {metric}
        after = replace(self.fields, values=values, available=now)
        self._edit(metric, self._words(metric), after)

    def start_from(self, key: str) -> None:
        """Fill the form with the facts of another device; name and id stay."""
        entry = self._library.entry(key)
        if entry is not None:
            now = self.fields
            after = replace(fields_of(entry.file), id=now.id, name=now.name)
            self._edit("start", f"Start From {shown(entry.device.name)}", after, merge=False)

    def set_source(self, metric: str, text: str) -> None:
        """Type where a metric's value comes from."""
        sources = {**self.fields.sources, metric: text}
        words = f"{self._words(metric)}, source"
        self._edit(f"sources.{metric}", words, replace(self.fields, sources=sources))

    def set_configurations(self, configurations: tuple[Configuration, ...]) -> None:
        """Set the configurations that the device can run, the usual one first."""
        after = replace(self.fields, configurations=configurations)
        self._edit(CONFIGURATIONS, "Edit configurations", after, merge=False)

    def set_rows(self, name: str, rows: tuple[ListRow, ...], *, typed: str = "") -> None:
        """Set the rows of a list: kinds of cores, measured rates or operating points.

        Args:
            name: ``CLUSTERS``, ``MEASURED`` or ``OPERATING_POINTS``.
            rows: its rows, of its kind.
            typed: the cell that is typed into, so that its letters are one step of undo.
        """
        after = replace(self.fields, **{name: rows})  # type: ignore[arg-type]
        self._edit(f"{name}.{typed}", f"Edit {_LISTS[name]}", after, merge=bool(typed))

    def stated_text(self, metric: str) -> str:
        """Return the stated value of a metric as typed; a dash where it is not known."""
        fields = self.fields
        return fields.values.get(metric, "") if metric in fields.available else NOTHING

    def save(self) -> None:
        """Store the device as the form has it."""
        if self.can_save and self.check.entry is not None:
            self._library.save(self.key, self.check.entry)

    def revert(self) -> None:
        """Go back to the saved device; undo brings the texts back."""
        entry = self.entry
        if entry is not None:
            self._edit("revert", "Revert", fields_of(entry.file), merge=False)

    def put(self, key: str, fields: FormFields) -> None:
        """Fill a device's form, and show it; a deleted one is left alone."""
        if self._library.entry(key) is None:
            return
        self._keep(key, fields)
        self.key, before = key, self.key
        self._load()
        if key != before:
            self.device_changed.emit()
        self.changed.emit()

    def _words(self, metric: str) -> str:
        return f"Edit {metric_label(metric, self.fields.family)}"

    def _edit(self, field: str, words: str, after: FormFields, *, merge: bool = True) -> None:
        if self.editable and after != self.fields:
            of = f"{words} of {shown(self.fields.name)}"
            field_key = f"{self.key}/{field}" if merge else ""
            # push calls redo, which fills the form.
            self._undo_stack.push(_Edit(self, of, self.key, self.fields, after, field_key))

    def _keep(self, key: str, fields: FormFields) -> None:
        """Keep the texts of a device that differ from the saved ones."""
        entry = self._library.entry(key)
        was = key in self._drafts
        if entry is None or fields == fields_of(entry.file):
            self._drafts.pop(key, None)
        else:
            self._drafts[key] = fields
        if was != (key in self._drafts):
            self.modified_changed.emit(key)

    def _load(self) -> None:
        entry = self.entry
        saved = _NOTHING if entry is None else fields_of(entry.file)
        self.fields = self._drafts.get(self.key, saved)
        self.check = check_form(self.fields)
        family = self.fields.family
        problems = {
            key: in_words(sentence, family) for key, sentence in self.check.problems.items()
        }
        if "id" not in problems and self.fields.id in self._library.used_ids(self.key):
            problems["id"] = f"Id {self.fields.id} is taken by another device."
        self.problems = problems

    def _on_library(self) -> None:
        """Follow devices that were saved or deleted elsewhere."""
        for key in [key for key in self._drafts if self._library.entry(key) is None]:
            del self._drafts[key]
        for key, fields in list(self._drafts.items()):
            self._keep(key, fields)
        if self.key and self.entry is None:
            self.key = ""
        self._load()
        self.device_changed.emit()


def id_of(name: str) -> str:
    """Return the id that a name leads to: ``My Board 2`` is ``my-board-2``."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:_MAX_ID]


def _in_list(key: str, sentence: str) -> str:
    """Name the list and row of a problem that is in one."""
    name, *parts = key.split(".")
    if name not in _LISTS or not parts:
        return sentence
    return f"{_LISTS[name].capitalize()}, row {int(parts[0]) + 1}: {sentence}"


class _Edit(QUndoCommand):
    """Changes fields of one device; typing on in one field stays one command."""

    def __init__(
        self,
        form: DeviceForm,
        words: str,
        key: str,
        before: FormFields,
        after: FormFields,
        field_key: str,
    ) -> None:
        super().__init__(words)
        self.page = "devices"
        self._form = form
        self.key = key
        self._before = before
        self.after = after
        self.field_key = field_key

    def id(self) -> int:
        # Qt merges only commands of one id, and never those of -1.
        return 1 if self.field_key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802 - Qt's name
        """Merge a further edit of the same field into this command."""
        if not isinstance(other, _Edit) or other.field_key != self.field_key:
            return False
        self.after = other.after
        # Typed back to the start: Qt drops an obsolete command from the stack.
        self.setObsolete(self.after == self._before)
        empty_merged(other)
        return True

    def redo(self) -> None:
        self._form.put(self.key, self.after)

    def undo(self) -> None:
        self._form.put(self.key, self._before)
