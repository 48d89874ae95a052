"""The store on a thread of its own: kept predictions, work of presenters, measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.errors import CtmError, HostError
from predictor.core.prediction import Prediction
from predictor.core.records import Measurement
from predictor.graph.model import Model
from predictor.services.signatures.user_signatures import UserSignatures

if TYPE_CHECKING:
    from predictor.services.history.history import History, Recorded

T = TypeVar("T")

# Keys that are kept. A prediction that was shown before so many others may be stored a second time.
MAX_RECORDED = 200_000
# Of what makes a prediction another one than one that is stored already.
Key = int


class Recorder(QObject):
    """Records each prediction of this session once.

    ``opened`` is emitted once the store is open; ``recorded`` gives the number of predictions that
    one transaction stored; ``failed`` gives the error, once where the store cannot be opened, and
    one for each prediction that it refuses.

    Args:
        open_store: opens the store; called on the worker's thread.
        parent: owner.
    """

    opened = Signal()
    recorded = Signal(int)
    failed = Signal(object)

    def __init__(self, open_store: Callable[[], History], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open_store = open_store
        self._worker = SerialWorker("store", self)
        self._history: History | None = None
        self._broken = False
        self._recorded: dict[Key, None] = {}

    def open(self) -> None:
        """Open the store in the background."""
        self._worker.submit(
            self._open, on_result=lambda _: self.opened.emit(), on_error=self._on_closed_store
        )

    def record(self, models: Sequence[Model], predictions: Sequence[Prediction]) -> None:
        """Store the predictions that this session has not stored yet; returns at once."""
        if not self._broken and predictions:
            self._worker.submit(
                partial(self._store, models, predictions),
                on_result=self._on_recorded,
                on_error=self.failed.emit,
            )

    def run(
        self,
        work: Callable[[History], T],
        *,
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> None:
        """Run ``work`` with the open store, after all work submitted before.

        Where the store could not be opened, ``on_error`` gets a HostError.
        """
        self._worker.submit(partial(self._with_store, work), on_result=on_result, on_error=on_error)

    def close(self) -> None:
        """Finish all submitted work and close the store."""
        # The store closes on the worker's thread too, after the writes that wait.
        self._worker.close(self._close, finish=True)

    def _with_store(self, work: Callable[[History], T], _: TaskContext) -> T:
        if self._history is None:
            raise HostError(
                "the store", "it is not open", "see the messages, and start again with --store"
            )
        return work(self._history)

    def _open(self, _: TaskContext) -> None:
        # On the worker's thread: an SQLite connection serves only the thread that opened it.
        self._history = self._open_store()

    def _store(
        self, models: Sequence[Model], predictions: Sequence[Prediction], _: TaskContext
    ) -> Recorded:
        from predictor.services.history.history import Recorded

        # Which are new is found out here: to look through thousands would stall the window.
        new = {_key(p): p for p in predictions if p.latency_ms is not None}
        new = {key: prediction for key, prediction in new.items() if key not in self._recorded}
        if self._history is None or not new:
            return Recorded(())
        fingerprints = {prediction.fingerprint for prediction in new.values()}
        about = [model for model in models if model.graph.fingerprint in fingerprints]
        recorded = self._history.record(about, list(new.values()))
        # What could not be stored is tried again with the next comparison.
        self._recorded |= dict.fromkeys(new)
        for key in list(islice(self._recorded, max(len(self._recorded) - MAX_RECORDED, 0))):
            del self._recorded[key]
        return recorded

    def _close(self) -> None:
        if self._history is not None:
            self._history.close()
            self._history = None

    def _on_closed_store(self, error: CtmError) -> None:
        self._broken = True
        self.failed.emit(error)

    def _on_recorded(self, recorded: Recorded) -> None:
        if recorded.ids:
            self.recorded.emit(len(recorded.ids))
        for error in recorded.refused:
            self.failed.emit(error)


def _key(prediction: Prediction) -> Key:
    """Return the hash of a prediction's parts: of 200 000 they would take a hundred megabytes."""
    parts = (
        prediction.model,
        prediction.fingerprint,
        prediction.device_id,
        prediction.configuration,
        prediction.engine,
        prediction.signature,
        # A device of the user's may have been changed under its id.
        prediction.latency_ms,
    )
    return hash(parts)


class StoreRunner(Protocol):
    """Runs work with the open store on the store's thread."""

    def __call__(
        self,
        work: Callable[[History], T],
        *,
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> None:
        """Run ``work``; its outcome comes back on the window's thread."""


class StoreClient(QObject):
    """Submits work with the store and counts the outstanding calls.

    ``busy_changed`` is emitted when ``busy`` may have changed; ``failed`` gives an error, ``done``
    a sentence on a finished action.

    Args:
        run: runs work with the open store.
        parent: owner.
    """

    busy_changed = Signal()
    failed = Signal(object)
    done = Signal(str)

    def __init__(self, run: StoreRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._waiting = 0

    @property
    def busy(self) -> bool:
        """Whether the store is at work for it."""
        return self._waiting > 0

    def _submit(self, work: Callable[[History], T], on_result: Callable[[T], None]) -> None:
        """Run ``work`` with the store; an error goes to ``failed``."""
        self._wait(1)

        def settle(result: T) -> None:
            self._wait(-1)
            on_result(result)

        self._run(work, on_result=settle, on_error=self._on_error)

    def _on_error(self, error: CtmError) -> None:
        self._wait(-1)
        self.failed.emit(error)

    def _wait(self, step: int) -> None:
        self._waiting += step
        self.busy_changed.emit()


class OwnMeasurements(QObject):
    """Keeps the user's measurements of models and targets; ``changed`` is emitted with new ones.

    Args:
        run: runs work with the open store.
        models: returns the models that there are now.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self, run: StoreRunner, models: Callable[[], Sequence[Model]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.measurements: tuple[Measurement, ...] = ()
        self.signatures = UserSignatures()
        self._run, self._models = run, models
        self._reading = self._again = False

    def read(self, *_: object) -> None:
        """Read them again, off the window's thread; without a store there are none."""
        # Many models that are opened together ask one after another: one more reading is enough.
        self._again = True
        if not self._reading:
            self._read()

    def _read(self) -> None:
        self._reading, self._again = True, False
        models = self._models()
        self._run(
            lambda history: (tuple(history.measured(models)), history.user_signatures()),
            on_result=self._on_read,
            on_error=self._on_error,
        )

    def _on_read(self, stored: tuple[tuple[Measurement, ...], UserSignatures]) -> None:
        self._go_on()
        if stored != (self.measurements, self.signatures):
            self.measurements, self.signatures = stored
            self.changed.emit()

    def _on_error(self, _: CtmError) -> None:
        # A store that fails says so where it is opened and written.
        self._go_on()

    def _go_on(self) -> None:
        self._reading = False
        if self._again:
            self._read()
