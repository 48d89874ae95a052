"""The history of the window: read from the store, changed through it, each change undoable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.presenters.devices import StoreRunner
from ctm_gui.presenters.history_undo import Deletion, Marking, NewTruthCommand
from ctm_gui.presenters.past_rows import PastRow, PastRows, past_rows
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.errors import CtmError, InputError
from predictor.core.records import Device, Prediction
from predictor.core.tags import checked_note, clean_tags
from predictor.core.wording import shown
from predictor.services.history.changes import Change, Graphs, predict_again
from predictor.services.history.history import History
from predictor.services.history.past_predictions import (
    NewTruth,
    StoredPrediction,
)
from predictor.services.signatures.own import OwnSignatures

T = TypeVar("T")

SHOWN = 20_000
MOST_COMPARED = 500
# A burst of stored predictions is read once.
READ_DELAY_MS = 300

Devices = Callable[[], Mapping[str, Device]]


class HistoryPresenter(QObject):
    """Holds what the History view shows.

    ``changed`` says that ``data`` is another; ``busy_changed`` that it is being read or changed;
    ``compared`` gives a tuple of Change; ``reopened`` a path, the values of its dimensions
    and a device id; ``found`` a StoredPrediction and its device's name; ``failed`` an error;
    ``told`` a sentence on what was done.

    Args:
        run: runs work with the open store.
        predictor: predicts off the window's thread.
        undo_stack: gets a command for each change.
        devices: returns the devices that there are now, by id.
        parent: owner.
    """

    changed = Signal()
    busy_changed = Signal()
    compared = Signal(object)
    reopened = Signal(str, object, str)
    found = Signal(object, str)
    failed = Signal(object)
    told = Signal(str)

    def __init__(
        self,
        run: StoreRunner,
        predictor: SerialWorker,
        undo_stack: QUndoStack,
        devices: Devices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.data = PastRows()
        self._run, self._predictor = run, predictor
        self._undo_stack, self._devices = undo_stack, devices
        self._active = self._is_open = False
        self._stale = True
        self._waiting = 0
        self._timer = QTimer(self, singleShot=True, interval=READ_DELAY_MS)
        self._timer.timeout.connect(self.read)

    @property
    def busy(self) -> bool:
        """Whether the store is at work for it."""
        return self._waiting > 0 or self._timer.isActive()

    def set_active(self, *, active: bool) -> None:
        """Follow the store while somebody looks."""
        self._active = active
        if active and self._stale and self._is_open:
            self.read()

    def begin(self) -> None:
        """Begin to read: the store is open. What was deleted a month ago goes for good."""
        self._is_open = True
        self.submit(lambda history: history.past.purge(), lambda _: None)
        self.expect_more()

    def expect_more(self, *_: object) -> None:
        """Note that the store has more than is shown; it is read while somebody looks."""
        self._stale = True
        if self._active and self._is_open and not self._timer.isActive():
            self._timer.start()

    def read(self) -> None:
        """Read everything from the store."""
        self._stale = False
        devices, known = self._devices(), self.data

        def work(history: History) -> PastRows:
            found = past_rows(history.past.read(SHOWN), devices)
            return known if found.same_as(known) else found

        self.submit(work, self._on_read)

    def close(self) -> None:
        """Read no more."""
        self._active = False
        self._timer.stop()

    def set_tags(self, row: int, text: str) -> None:
        """Set the tags of a prediction, typed apart by commas; undo sets the old ones again."""
        stored = self.data.rows[row].stored
        try:
            tags = clean_tags(text.split(","))
        except InputError as error:
            self.failed.emit(error)
            return
        self._mark(stored, tags, stored.note)

    def set_note(self, row: int, text: str) -> None:
        """Set the note of a prediction; undo sets the old one again."""
        stored = self.data.rows[row].stored
        try:
            note = checked_note(text)
        except InputError as error:
            self.failed.emit(error)
            return
        self._mark(stored, stored.tags, note)

    def delete(self, rows: Sequence[int]) -> None:
        """Delete predictions; undo brings them back."""
        stored = [self.data.rows[row].stored for row in rows]
        if stored:
            self._undo_stack.push(Deletion(self, stored))

    def add_truth(self, stored: StoredPrediction, truth: NewTruth) -> None:
        """Record a measured latency for a prediction; undo leaves it out again."""
        self._undo_stack.push(NewTruthCommand(self, stored, truth))

    def find(self, prediction: Prediction, device_name: str) -> None:
        """Look for the record of a prediction that the window shows."""

        def told(stored: StoredPrediction | None) -> None:
            if stored is None:
                reason = "it is not in the store"
                action = "wait until it is stored, and see the messages"
                self.failed.emit(InputError(prediction.model, reason, action))
            else:
                self.found.emit(stored, device_name)

        self.submit(lambda history: history.past.find(prediction), told)

    def open_again(self, row: int) -> None:
        """Open the model of a prediction with its dimensions, and tick its device."""
        stored = self.data.rows[row].stored
        self.submit(lambda _: _known_file(stored), lambda _: self._on_file(stored))

    def compare(self, rows: Sequence[int]) -> None:
        """Predict again what was predicted, with the present engine."""
        stored = [self.data.rows[row].stored for row in rows[:MOST_COMPARED]]
        if len(rows) > MOST_COMPARED:
            self.told.emit(f"The first {MOST_COMPARED} of {len(rows)} are compared")
        names = [s.prediction.fingerprint for s in stored]
        self.submit(
            lambda history: (history.past.graphs(names), history.own_signatures()),
            partial(self._predict_again, stored),
        )

    def row_of(self, prediction_id: str) -> PastRow | None:
        """Return the row of a prediction; None where it is not shown."""
        return next((row for row in self.data.rows if row.stored.id == prediction_id), None)

    def submit(
        self,
        work: Callable[[History], T],
        on_result: Callable[[T], None],
    ) -> None:
        """Run ``work`` with the store; an error is told."""
        self._wait(1)

        def done(result: T) -> None:
            self._wait(-1)
            on_result(result)

        self._run(work, on_result=done, on_error=self._on_error)

    def change(self, work: Callable[[History], object], said: str) -> None:
        """Change something in the store, say what was done, and read it again."""

        def done(_: object) -> None:
            self.told.emit(said)
            self.read()

        self.submit(work, done)

    def _mark(self, stored: StoredPrediction, tags: tuple[str, ...], note: str) -> None:
        if (tags, note) != (stored.tags, stored.note):
            self._undo_stack.push(Marking(self, stored, tags, note))

    def _on_read(self, data: PastRows) -> None:
        if data is not self.data:
            self.data = data
            self.changed.emit()

    def _on_file(self, stored: StoredPrediction) -> None:
        dimensions = dict(stored.settings.dimensions)
        self.reopened.emit(stored.path, dimensions, stored.prediction.device_id)
        self.told.emit(f"Opened {shown(stored.prediction.model)} again")

    def _predict_again(
        self, stored: Sequence[StoredPrediction], known: tuple[Graphs, OwnSignatures]
    ) -> None:
        (graphs, signatures), devices = known, self._devices()
        self._wait(1)

        def work(_: TaskContext) -> tuple[Change, ...]:
            return predict_again(stored, graphs, devices, signatures=signatures)

        def done(entries: tuple[Change, ...]) -> None:
            self._wait(-1)
            self.compared.emit(entries)

        self._predictor.submit(work, on_result=done, on_error=self._on_error)

    def _on_error(self, error: CtmError) -> None:
        self._wait(-1)
        self.failed.emit(error)

    def _wait(self, step: int) -> None:
        self._waiting += step
        self.busy_changed.emit()


def _known_file(stored: StoredPrediction) -> None:
    """Look whether the model's file is there.

    Raises:
        InputError: it is not, or where it was is not known.
    """
    model = stored.prediction.model
    if not stored.path:
        reason = "where its file is, this store does not know: the prediction was imported"
        raise InputError(model, reason, "open the file itself")
    try:
        there = Path(stored.path).is_file()
    except OSError:
        there = False
    if not there:
        raise InputError(stored.path, "the file is no longer there", "open it from where it is now")
