"""Page 4: medians with their verdicts, the signature, and the other signatures of its target."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QInputDialog, QWidget

from ctm_gui.probing.dialogs import FineTuneDialog
from ctm_gui.probing.fine_tuning import FineTuning
from ctm_gui.probing.grids import changes_grid, result_grid, signatures_grid
from ctm_gui.probing.page_parts import Table, box, button, column, label, show_words
from ctm_gui.probing.results import (
    Result,
    ResultRow,
    belief_question,
    fit_words,
    result_words,
    signature_facts,
    signature_title,
)
from ctm_gui.probing.shelf import SignatureShelf
from ctm_gui.widgets.basic import STRETCH, combo_box, hbox, named, splitter
from ctm_gui.widgets.table_view import copy_button
from predictor.core.stored import StoredSignature
from predictor.presentation.wording import configuration_text, local_time, shown
from predictor.services.signatures.checks import is_used

_NETWORKS_PX, _CHANGES_PX, _SIGNATURES_PX = 300, 110, 130


class ResultPage(QWidget):
    """The last page.

    ``repeat_requested`` gives a session's id, the way that it was measured, and names.
    """

    repeat_requested = Signal(str, object, object)

    def __init__(self, shelf: SignatureShelf, tuning: FineTuning) -> None:
        super().__init__()
        self._shelf, self._tuning = shelf, tuning
        self._result: Result | None = None
        self._signatures: tuple[StoredSignature, ...] = ()
        self._following = False
        self.heading = label(role="heading")
        self.words = label()
        self.belief = label(role="warn", name="Whether the probing passed its own checks")
        self.facts = label(name="How it was measured")
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.table = Table("Measured networks", several=True)
        self.fit = label(name="How well the networks predict each other")
        self.changes = Table("Open models before and after")
        self.signatures = Table("Signatures of all targets")
        self.compare_box = combo_box(
            "Compare with another signature of the target", letters=len("2026-01-01 00:00")
        )
        self.repeat_button = button("&Repeat", act=self._repeat)
        self.exclude_button = button(
            "E&xclude…",
            "Leave the selected network out of the signature, with a reason",
            self._ask_reason,
        )
        self.include_button = button(
            "&Include", "Take the selected network in again, which was left out", self._include
        )
        self.tune_button = button("&Fine-Tune…", act=self._fine_tune)
        self.activate_button = button(
            "&Activate", "Make it the active signature of its target", self._activate
        )
        self.delete_button = button("&Delete", "Ctrl+Z brings it back", self._delete)
        self.of_models = box(
            label("Effect on open models", "heading"), (self.changes, 1), margins=(0, 4, 0, 0)
        )
        parts = splitter(
            Qt.Orientation.Vertical,
            self._build_networks(),
            self.of_models,
            self._build_signatures(),
            sizes=(_NETWORKS_PX, _CHANGES_PX, _SIGNATURES_PX),
        )
        column(self, self.heading, self.words, self.belief, self.facts, self.fit, (parts, 1))
        self._connect()

    def open(self) -> None:
        """Show the newest signature where nothing is shown."""
        if self._result is None and self._shelf.signatures:
            self._shelf.show_signature(self._shelf.signatures[0].signature.id)

    def _build_networks(self) -> QWidget:
        buttons = hbox(
            named("&Compare with", self.compare_box),
            self.compare_box,
            self.repeat_button,
            self.exclude_button,
            self.include_button,
            STRETCH,
            copy_button(self.table),
        )
        return box(buttons, (self.table, 1), margins=(0, 0, 0, 4))

    def _build_signatures(self) -> QWidget:
        buttons = hbox(
            (label("Signatures", "heading"), 1),
            self.tune_button,
            self.activate_button,
            self.delete_button,
        )
        return box(buttons, (self.signatures, 1), margins=(0, 4, 0, 0))

    def _connect(self) -> None:
        self._shelf.result_changed.connect(self._show)
        self._shelf.sessions_changed.connect(self._show_signatures)
        self.signatures.rows_selected.connect(lambda _rows, current: self._on_row(current))
        self.compare_box.activated.connect(self._on_compare)
        self.table.rows_selected.connect(lambda _rows, _current: self._show_buttons())
        self._show_buttons()

    def _show(self, result: Result) -> None:
        self._result = result
        device = self._shelf.device_name(result.device_id)
        self.heading.setText(f"{device}, {configuration_text(result.configuration)}")
        show_words(self.words, result_words(result))
        show_words(self.belief, belief_question(result), "warn")
        other = next((s for s in result.signatures if s.signature.id == result.other_id), None)
        self.table.show_grid(
            result_grid(result.rows, local_time(other.created_ns) if other else "")
        )
        self.table.hide_empty_columns("others", "error")
        doubtful = result.odd or result.drifted
        show_words(self.fit, fit_words(result), "warn" if doubtful else "")
        self.changes.show_grid(changes_grid(result.changes))
        self.of_models.setVisible(bool(result.changes))
        self._show_facts(result)
        self._fill_compare_box(result)
        self._show_signatures()

    def _show_facts(self, result: Result) -> None:
        facts = signature_facts(result.signature) if result.signature else []
        show_words(self.facts, " · ".join(f"{name}: {words}" for name, words in facts))

    def _fill_compare_box(self, result: Result) -> None:
        current_id = result.signature.signature.id if result.signature else ""
        self.compare_box.clear()
        self.compare_box.addItem("nothing", "")
        for stored in result.signatures:
            if stored.signature.id != current_id:
                self.compare_box.addItem(signature_title(stored), stored.signature.id)
        self.compare_box.setCurrentIndex(max(self.compare_box.findData(result.other_id), 0))
        self.compare_box.setEnabled(bool(current_id) and self.compare_box.count() > 1)

    def _show_signatures(self) -> None:
        self._following = True
        self._signatures = self._shelf.signatures
        self.signatures.show_grid(
            signatures_grid(self._signatures, self._shelf.device_name, self._shelf.reasons)
        )
        ids = [stored.signature.id for stored in self._signatures]
        current_id = self._current_id()
        row = ids.index(current_id) if current_id in ids else None
        self.signatures.select_rows([] if row is None else [row], row)
        self._following = False
        self._show_buttons()

    def _current_id(self) -> str:
        stored = self._result.signature if self._result else None
        return stored.signature.id if stored else ""

    def _show_buttons(self) -> None:
        current = self._current()
        reason = self._shelf.reasons.get(current.signature.id, "") if current else ""
        self.activate_button.setEnabled(current is not None and not is_used(current, reason))
        self.activate_button.setText("Use &Anyway" if reason else "&Activate")
        self.delete_button.setEnabled(current is not None)
        in_the_way = self._tuning.obstacle(self._result)
        self.tune_button.setEnabled(not in_the_way)
        self.tune_button.setToolTip(
            in_the_way or "Fit FiLM of the network to this signature, where that is better"
        )
        names = self._again()
        self.repeat_button.setEnabled(bool(names))
        self.repeat_button.setToolTip(
            f"Measure again: {', '.join(map(shown, names))}"
            if names
            else "Select networks; none is noisy, inconclusive, without a number or disagrees"
        )
        self.exclude_button.setEnabled(self._excludable() is not None)
        self.include_button.setEnabled(self._includable() is not None)

    def _again(self) -> tuple[str, ...]:
        """Return the networks to repeat: the selected ones, else the doubtful ones."""
        result = self._result
        if result is None:
            return ()
        chosen = tuple(row.name for row in self._selected() if row.name in result.repeatable)
        return chosen or tuple(name for name in result.doubtful if name in result.repeatable)

    def _selected(self) -> list[ResultRow]:
        rows = self._result.rows if self._result else ()
        return [rows[row] for row in self.table.selected_rows() if row < len(rows)]

    def _excludable(self) -> ResultRow | None:
        """Return the selected network if it can be left out of the signature that is shown."""
        row = self._one()
        used = self._result.used if self._result else ()
        return row if row in used and len(used) > 1 else None

    def _includable(self) -> ResultRow | None:
        """Return the selected network if it was left out of the signature that is shown."""
        row = self._one()
        return row if row is not None and row.excluded else None

    def _one(self) -> ResultRow | None:
        """Return the selected network of a signature; None where none or several are selected."""
        chosen = self._selected()
        return chosen[0] if len(chosen) == 1 and self._current_id() else None

    def _ask_reason(self) -> None:
        row, signature_id = self._excludable(), self._current_id()
        if row is None:
            return
        dialog = QInputDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Exclude a Network")
        dialog.setLabelText(
            f"Why {row.name} is left out. A new signature without it takes the place of\n"
            "this one, which stays; the reason is kept. Undo, or Include, takes it in\n"
            "again."
        )
        dialog.setOkButtonText("Exclude")
        dialog.textValueSelected.connect(
            lambda reason: self._shelf.exclude(signature_id, row, reason.strip() or "no reason")
        )
        dialog.open()

    def _include(self) -> None:
        row = self._includable()
        if row is not None:
            self._shelf.include(self._current_id(), row)

    def _current(self) -> StoredSignature | None:
        row = self.signatures.current_row()
        if row is None or row >= len(self._signatures):
            return None
        return self._signatures[row] if self.signatures.selected_rows().size else None

    def _on_row(self, row: int | None) -> None:
        if self._following:
            return  # it is the list that follows what is shown
        self._show_buttons()
        if row is not None and row < len(self._signatures):
            chosen = self._signatures[row].signature.id
            if chosen != self._current_id():
                self._shelf.show_signature(chosen)

    def _on_compare(self, place: int) -> None:
        if self._current_id():
            other = str(self.compare_box.itemData(place))
            self._shelf.show_signature(self._current_id(), other)

    def _fine_tune(self) -> None:
        if self._result is not None:
            FineTuneDialog(self._tuning, self._result, self).open()

    def _activate(self) -> None:
        current = self._current()
        if current is not None:
            self._shelf.activate(current.signature.id)

    def _delete(self) -> None:
        current = self._current()
        if current is not None:
            self._shelf.delete(current)

    def _repeat(self) -> None:
        result, names = self._result, self._again()
        if result is not None and result.session is not None and names:
            self.repeat_requested.emit(result.session.id, result.way, names)
