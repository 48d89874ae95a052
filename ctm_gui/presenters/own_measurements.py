"""The user's measurements of the models on the shelf and of targets, as the store has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from ctm_gui.presenters.store_client import StoreRunner
from predictor.core.errors import CtmError
from predictor.core.records import Measurement
from predictor.services.models.ingestion import Model
from predictor.services.signatures.own import OwnSignatures


class OwnMeasurements(QObject):
    """Keeps the measurements of some models and of targets; ``changed`` says that they are others.

    Args:
        run: runs work with the open store.
        models: returns the models that there are now.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self,
        run: StoreRunner,
        models: Callable[[], Sequence[Model]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.measurements: tuple[Measurement, ...] = ()
        self.signatures = OwnSignatures()
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
            lambda history: (tuple(history.measured(models)), history.own_signatures()),
            on_result=self._on_read,
            on_error=self._on_error,
        )

    def _on_read(self, stored: tuple[tuple[Measurement, ...], OwnSignatures]) -> None:
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
