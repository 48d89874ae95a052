"""FiLM fine-tuned to a signature off the window's thread, and kept where that is better."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ctm_gui.probing.results import Result
from ctm_gui.probing.shelf import SignatureShelf
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.errors import CtmError
from predictor.core.progress import Progress
from predictor.core.records import Device, Target
from predictor.core.stored import StoredSignature
from predictor.presentation.wording import percent
from predictor.services.probing.open import open_probing
from predictor.services.signatures.adaptation import adaptation_of
from predictor.services.signatures.film import Adaptations, adaptations, median_error, obstacle


class FineTuning(QObject):
    """Fine-tunes to one signature at a time; the store is changed at the end or not at all.

    ``changed`` is emitted when an attribute changes.

    Attributes:
        progress: fits done and to do; None before the first fit.
        outcome: errors of both ways; None before it is done, and where nothing did.
        error: the reason for a missing outcome.
        cancelled: whether the user stopped it.

    Args:
        path: the store's file; None for the usual one.
        shelf: of the signatures; gets the better adaptation.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self, path: Path | None, shelf: SignatureShelf, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._path, self._shelf = path, shelf
        self._worker = SerialWorker("fine tuner", self)
        self._forget()

    @property
    def active(self) -> bool:
        """Whether an outcome is still to come."""
        return self._worker.busy

    def obstacle(self, result: Result | None) -> str:
        """Return the obstacle to fine-tuning to the shown signature; empty where there is none."""
        if result is None or result.signature is None:
            return "Select a signature"
        if adaptation_of(result.signature) == "film":
            return (
                "It is fine-tuned already. Undo, or Activate with the signature of before, "
                "goes back to how it was"
            )
        if self._shelf.device(result.device_id) is None:
            return "Its device is no longer there"
        problem = obstacle(len(result.used))
        if problem is None:
            return ""
        return f"{problem.reason[:1].upper()}{problem.reason[1:]}: {problem.action}"

    def start(self, result: Result) -> None:
        """Fine-tune to the signature that is shown, unless something is in the way or at work."""
        device = self._shelf.device(result.device_id)
        if self.active or self.obstacle(result) or device is None or result.signature is None:
            return
        self._forget()
        stored = result.signature
        self._worker.submit(
            partial(_adaptations, self._path, stored, device),
            on_result=partial(self._keep, stored),
            on_error=self._on_error,
            on_progress=self._on_progress,
        )
        self.changed.emit()

    def cancel(self) -> None:
        """Stop it; nothing is changed."""
        if self.active:
            self._worker.cancel_all()
            self._forget()
            self.cancelled = True
            self.changed.emit()

    def forget(self) -> None:
        """Stop it, and forget the last outcome."""
        self.cancel()
        self._forget()

    def close(self) -> None:
        """Stop all work."""
        self._worker.close()

    def _forget(self) -> None:
        self.progress: Progress | None = None
        self.outcome: Adaptations | None = None
        self.error: CtmError | None = None
        self.cancelled = False

    def _keep(self, stored: StoredSignature, outcome: Adaptations) -> None:
        self.outcome = outcome
        if outcome.film_is_better:
            self._shelf.adapt(stored, outcome.film, f"Fine-tuned: {errors_words(outcome)}")
        self.changed.emit()

    def _on_error(self, error: CtmError) -> None:
        self.error = error
        self.changed.emit()

    def _on_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.changed.emit()


def state_words(tuning: FineTuning) -> str:
    """Return the progress of fine-tuning, or its outcome, in words."""
    if tuning.active:
        return _progress_words(tuning.progress)
    if tuning.cancelled:
        return "Cancelled. Nothing was changed."
    if tuning.error is not None:
        return f"{tuning.error} Nothing was changed."
    if tuning.outcome is None:
        return ""
    errors = errors_words(tuning.outcome)
    if tuning.outcome.film_is_better:
        return (
            f"Kept: {errors}. A new signature takes the place of this one; undo (Ctrl+Z) goes back."
        )
    return f"Not kept, as it is no better: {errors}. Nothing was changed."


def errors_words(outcome: Adaptations) -> str:
    """Return the median errors of both ways in words."""
    before, after = map(median_error, (outcome.by_posterior, outcome.by_film))
    errors = f"median error {percent(before)} before, {percent(after)} after"
    return f"each network predicted from the others, {errors}"


def _progress_words(progress: Progress | None) -> str:
    if progress is None:
        return "Loading torch…"
    if progress.done < (progress.total or 0):
        return f"{progress.done} of {progress.total} fits are done…"
    return "Predicting each network from the others, both ways…"


def _adaptations(
    path: Path | None, stored: StoredSignature, device: Device, context: TaskContext
) -> Adaptations:
    target = Target(device, stored.signature.configuration)
    with open_probing(path) as probing:
        measured = probing.signatures.measured(stored.signature.id)
    return adaptations(target, *measured, context.report, context.token)
