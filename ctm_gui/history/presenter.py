"""The history of the window: read from the store, changed through it, each change undoable."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.history.past_rows import PastRow, PastRows, past_rows
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from ctm_gui.tasks.store_client import StoreClient, StoreRunner
from ctm_gui.undo import UndoStep, push_change
from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.records import Device
from predictor.core.stored import StoredPrediction
from predictor.core.tags import checked_note, clean_tags
from predictor.core.text import plural
from predictor.presentation.wording import shown

if TYPE_CHECKING:
    from predictor.services.history.changes import Change, Graphs
    from predictor.services.history.history import History
    from predictor.services.history.past_predictions import NewTruth
    from predictor.services.signatures.user_signatures import UserSignatures

MAX_ROWS = 20_000
MAX_COMPARED = 500
# A burst of stored predictions is read once.
READ_DELAY_MS = 300

Devices = Callable[[], Mapping[str, Device]]
Marks = tuple[tuple[str, ...], str]  # tags and note


class HistoryPresenter(StoreClient):
    """Holds the data of the History view.

    ``changed`` is emitted when ``data`` changes; ``compared`` gives a tuple of Change;
    ``reopened`` a path, the values of its dimensions and a device id; ``truth_requested`` a
    StoredPrediction and its device's name.

    Args:
        run: runs work with the open store.
        predictor: predicts off the window's thread.
        undo_stack: gets a command for each change.
        devices: returns the devices that there are now, by id.
        parent: owner.
    """

    changed = Signal()
    compared = Signal(object)
    reopened = Signal(str, object, str)
    truth_requested = Signal(object, str)

    def __init__(
        self,
        run: StoreRunner,
        predictor: SerialWorker,
        undo_stack: QUndoStack,
        devices: Devices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(run, parent)
        self.data = PastRows()
        self._predictor = predictor
        self._undo_stack, self._devices = undo_stack, devices
        self._active = self._is_open = False
        self._stale = True
        self._timer = QTimer(self, singleShot=True, interval=READ_DELAY_MS)
        self._timer.timeout.connect(self.read)

    @property
    def busy(self) -> bool:
        """Whether the store is at work for it."""
        return super().busy or self._timer.isActive()

    def set_active(self, *, active: bool) -> None:
        """Follow the store while somebody looks."""
        self._active = active
        if active and self._stale and self._is_open:
            self.read()

    def begin(self) -> None:
        """Begin to read: the store is open. Predictions deleted a month ago go for good."""
        self._is_open = True
        self._submit(lambda history: history.past.purge(), lambda _: None)
        self.expect_more()

    def expect_more(self, *_: object) -> None:
        """Note that the store has more than is shown; it is read while somebody looks."""
        self._stale = True
        if self._active and self._is_open and not self._timer.isActive():
            self._timer.start()

    def read(self) -> None:
        """Read everything from the store."""
        self._stale = False
        devices, before = self._devices(), self.data

        def work(history: History) -> PastRows:
            rows = past_rows(history.past.read(MAX_ROWS), devices)
            # Compared here, off the window's thread; the same object means no change.
            return before if rows.same_as(before) else rows

        self._submit(work, self._on_read)

    def close(self) -> None:
        """Read no more."""
        self._active = False
        self._timer.stop()

    def set_tags(self, row: int, text: str) -> None:
        """Set the tags of a prediction, typed apart by commas; undo sets the old ones again."""
        self._mark(row, lambda stored: (clean_tags(text.split(",")), stored.note))

    def set_note(self, row: int, text: str) -> None:
        """Set the note of a prediction; undo sets the old one again."""
        self._mark(row, lambda stored: (stored.tags, checked_note(text)))

    def delete(self, rows: Sequence[int]) -> None:
        """Delete predictions; undo brings them back."""
        stored = [self.data.rows[row].stored for row in rows]
        if not stored:
            return
        ids, first = [s.id for s in stored], shown(stored[0].prediction.model)
        what = first if len(stored) == 1 else plural(len(stored), "prediction")

        def delete() -> None:
            done = f"Deleted {what}; undo brings it back"
            self._change(lambda history: history.past.delete(ids), done)

        def restore() -> None:
            self._change(lambda history: history.past.restore(ids), f"Brought {what} back")

        self._undo_stack.push(UndoStep(f"Delete {what}", delete, restore, page="history"))

    def add_truth(self, stored: StoredPrediction, truth: NewTruth) -> None:
        """Record a measured latency for a prediction; undo leaves it out again."""
        value, identity = f"{truth.value.strip()} {truth.unit}", uuid.uuid4().hex
        words = f"{value} for {shown(stored.prediction.model)}"
        # What was left out is still in the store: it is brought back, not added again.
        steps = chain(
            [lambda history: history.past.add_truth(stored, truth, identity)],
            repeat(lambda history: history.past.reinstate_truth(identity)),
        )

        def record() -> None:
            self._change(next(steps), f"Recorded {words}")

        def leave_out() -> None:
            done = f"Left out {words}"
            self._change(lambda history: history.past.withdraw_truth(identity), done)

        self._undo_stack.push(UndoStep(f"Record {value}", record, leave_out, page="history"))

    def find(self, prediction: Prediction, device_name: str) -> None:
        """Look for the record of a prediction that the window shows."""

        def answer(stored: StoredPrediction | None) -> None:
            if stored is None:
                reason = "it is not in the store"
                action = "wait until it is stored, and see the messages"
                self.failed.emit(InputError(prediction.model, reason, action))
            else:
                self.truth_requested.emit(stored, device_name)

        self._submit(lambda history: history.past.find(prediction), answer)

    def open_again(self, row: int) -> None:
        """Open the model of a prediction with its dimensions, and tick its device."""
        stored = self.data.rows[row].stored
        self._submit(lambda _: _checked_file(stored), lambda _: self._on_file(stored))

    def compare(self, rows: Sequence[int]) -> None:
        """Predict the stored predictions again, with the present engine."""
        stored = [self.data.rows[row].stored for row in rows[:MAX_COMPARED]]
        if len(rows) > MAX_COMPARED:
            self.done.emit(f"The first {MAX_COMPARED} of {len(rows)} are compared")
        names = [s.prediction.fingerprint for s in stored]
        self._submit(
            lambda history: (history.past.graphs(names), history.user_signatures()),
            partial(self._predict_again, stored),
        )

    def row_of(self, prediction_id: str) -> PastRow | None:
        """Return the row of a prediction; None where it is not shown."""
        return next((row for row in self.data.rows if row.stored.id == prediction_id), None)

    def _change(self, work: Callable[[History], object], done: str) -> None:
        """Change something in the store, report ``done``, and read it again."""

        def settle(_: object) -> None:
            self.done.emit(done)
            self.read()

        self._submit(work, settle)

    def _mark(self, row: int, marks_of: Callable[[StoredPrediction], Marks]) -> None:
        stored = self.data.rows[row].stored
        try:
            before, after = (stored.tags, stored.note), marks_of(stored)
        except InputError as error:
            self.failed.emit(error)
            return
        model = shown(stored.prediction.model)

        def mark(marks: Marks) -> None:
            done = f"Marked {model}"
            self._change(lambda history: history.past.mark(stored.id, *marks), done)

        if after != before:
            push_change(self._undo_stack, f"Mark {model}", mark, after, before, page="history")

    def _on_read(self, data: PastRows) -> None:
        if data is not self.data:
            self.data = data
            self.changed.emit()

    def _on_file(self, stored: StoredPrediction) -> None:
        dimensions = dict(stored.settings.dimensions)
        self.reopened.emit(stored.path, dimensions, stored.prediction.device_id)
        self.done.emit(f"Opened {shown(stored.prediction.model)} again")

    def _predict_again(
        self, stored: Sequence[StoredPrediction], stored_facts: tuple[Graphs, UserSignatures]
    ) -> None:
        (graphs, signatures), devices = stored_facts, self._devices()
        self._wait(1)

        from predictor.services.history.changes import predict_again

        def work(_: TaskContext) -> tuple[Change, ...]:
            return predict_again(stored, graphs, devices, signatures=signatures)

        def done(entries: tuple[Change, ...]) -> None:
            self._wait(-1)
            self.compared.emit(entries)

        self._predictor.submit(work, on_result=done, on_error=self._on_error)


def _checked_file(stored: StoredPrediction) -> None:
    """Look whether the model's file is there.

    Raises:
        InputError: it is not, or where it was is not known.
    """
    model = stored.prediction.model
    if not stored.path:
        reason = "its file is not known: the prediction was imported"
        raise InputError(model, reason, "open the file itself")
    try:
        there = Path(stored.path).is_file()
    except OSError:
        there = False
    if not there:
        raise InputError(stored.path, "the file is no longer there", "open it from where it is now")
