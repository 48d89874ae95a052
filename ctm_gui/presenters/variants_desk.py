"""The choice of a baseline, and the matrix that follows from it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from ctm_gui.presenters.prediction_run import Comparison
from ctm_gui.presenters.variants import VariantMatrix, variant_matrix
from ctm_gui.tasks.serial import SerialWorker, Task
from predictor.core.errors import CtmError


class VariantsDesk(QObject):
    """Follows a comparison; works only while it is looked at.

    ``matrix_changed`` says that ``matrix`` is another.

    Args:
        worker: the thread that predictions are made on.
        parent: owner.
    """

    matrix_changed = Signal()
    failed = Signal(object)

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._comparison = Comparison()
        self._baseline_id: int | None = None
        self._task: Task | None = None
        self._active = False
        self._stale = True
        self.matrix: VariantMatrix | None = None

    @property
    def settled(self) -> bool:
        """Whether the matrix is true to the choice, as far as anybody looks."""
        return self._task is None

    @property
    def baseline(self) -> int:
        """Index of the baseline among the models; the first one where none was chosen."""
        ids = [compared.entry_id for compared in self._comparison.models]
        return ids.index(self._baseline_id) if self._baseline_id in ids else 0

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow a new comparison; the baseline stays where it is in it."""
        if comparison is self._comparison:
            return
        self._comparison = comparison
        self._refresh()

    def choose_baseline(self, model: int) -> None:
        """Compare with another model of the comparison."""
        entry_id = self._comparison.models[model].entry_id
        if entry_id != self._baseline_id:
            self._baseline_id = entry_id
            self._refresh()

    def set_active(self, *, active: bool) -> None:
        """Say whether anybody looks; what is not looked at is not computed."""
        self._active = active
        if active and self._stale:
            self._refresh()

    def _refresh(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._stale = True
        if not self._active:
            return
        self._stale = False
        if not self._comparison.rows:
            self._show(None)
            return
        work = partial(variant_matrix, self._comparison, self.baseline)
        self._task = self._worker.submit(
            lambda _: work(), on_result=self._show, on_error=self._on_error
        )

    def _on_error(self, error: CtmError) -> None:
        self._show(None)
        self.failed.emit(error)

    def _show(self, matrix: VariantMatrix | None) -> None:
        self._task = None
        self.matrix = matrix
        self.matrix_changed.emit()
