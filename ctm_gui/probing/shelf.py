"""The thread of the store, and its sessions and signatures: compared, chosen, changes undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.probing.choice import Unfinished, unfinished
from ctm_gui.probing.results import (
    Result,
    ResultRow,
    after_deletion,
    assessed,
    of_session,
    of_signature,
)
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from ctm_gui.undo import UndoStep
from predictor.core.errors import CtmError
from predictor.core.records import Device, Target
from predictor.core.stored import StoredSignature
from predictor.cost.engine import FilmTuning
from predictor.graph.model import Model
from predictor.presentation.wording import local_time, shown
from predictor.services.probing.open import Probing, open_probing
from predictor.services.signatures.assessment import (
    BeforeAfter,
    LeftOut,
    before_and_after,
    left_out,
)
from predictor.services.signatures.stored import Signatures

T = TypeVar("T")


class ProbingStore(QObject):
    """Runs work with the open store; it is opened when it is first needed.

    Args:
        path: the store's file; None for the usual one.
        parent: owner.
    """

    def __init__(self, path: Path | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self._worker = SerialWorker("probing store", self)
        self._probing: Probing | None = None

    def run(
        self,
        work: Callable[[Probing], T],
        *,
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> Task:
        """Run ``work`` after all earlier work; its outcome comes on the window's thread."""
        return self._worker.submit(
            partial(self._with_store, work), on_result=on_result, on_error=on_error
        )

    def close(self) -> None:
        """Finish all submitted work and close the store."""
        self._worker.close(self._close, finish=True)

    def _with_store(self, work: Callable[[Probing], T], _: TaskContext) -> T:
        if self._probing is None:
            self._probing = open_probing(self.path)
        return work(self._probing)

    def _close(self) -> None:
        if self._probing is not None:
            self._probing.close()
            self._probing = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """Devices and models of the window.

    Attributes:
        device: returns a device by its id; None where there is none.
        models: returns the open models.
    """

    device: Callable[[str], Device | None] = lambda _: None
    models: Callable[[], Sequence[Model]] = tuple


# Sessions and signatures, the newest first, and why some of these are not believed, by their ids.
_Overview = tuple[tuple[Unfinished, ...], tuple[StoredSignature, ...], dict[str, str]]


class SignatureShelf(QObject):
    """Follows the store.

    ``sessions_changed`` is emitted when ``sessions`` change; ``result_changed`` gives a Result;
    ``failed`` an error; ``done`` a sentence on a finished action.

    Args:
        store: of sessions and signatures.
        undo_stack: gets a command for each deletion, for each network left out or taken in, and for
            each fine-tuning.
        lookup: devices and models of the window.
        parent: owner.
    """

    sessions_changed = Signal()
    result_changed = Signal(object)
    failed = Signal(object)
    done = Signal(str)

    def __init__(
        self,
        store: ProbingStore,
        undo_stack: QUndoStack,
        lookup: Lookup | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._lookup = store, lookup or Lookup()
        self._undo_stack = undo_stack
        self.sessions: tuple[Unfinished, ...] = ()
        self.signatures: tuple[StoredSignature, ...] = ()
        self.reasons: dict[str, str] = {}
        self.result: Result | None = None

    def refresh(self) -> None:
        """Read sessions and signatures again."""
        self._store.run(_overview, on_result=self._on_overview, on_error=self.failed.emit)

    def device_name(self, device_id: str) -> str:
        """Return the name of a device; its id where there is no such device any more."""
        device = self.device(device_id)
        return shown(device.name if device is not None else device_id)

    def device(self, device_id: str) -> Device | None:
        """Return a device; None where there is no such device any more."""
        return self._lookup.device(device_id)

    def show_session(self, session_id: str) -> None:
        """Show the outcome of a session."""
        self._show(partial(of_session, session_id))

    def show_signature(self, signature_id: str, other_id: str = "") -> None:
        """Show a signature, beside another one of its target where that is asked."""
        self._show(partial(of_signature, signature_id, other_id))

    def activate(self, signature_id: str) -> None:
        """Make a signature the active one of its target, believed or not."""

        def work(probing: Probing) -> Result:
            probing.signatures.activate(signature_id)
            return of_signature(signature_id, "", probing)

        self._show(work)

    def exclude(self, signature_id: str, row: ResultRow, reason: str) -> None:
        """Leave a network out of a signature; a new one without it takes its place."""
        self._replace(
            f"Exclude {row.name}",
            signature_id,
            lambda signatures: signatures.exclude(signature_id, row.measurement_id, reason),
            f"Left out {row.name}: {shown(reason)}; undo takes it in again",
        )

    def include(self, signature_id: str, row: ResultRow) -> None:
        """Take a network in again; a new signature with it takes the place of this one."""
        self._replace(
            f"Include {row.name}",
            signature_id,
            lambda signatures: signatures.include(signature_id, row.measurement_id),
            f"Included {row.name} again; its exclusion stays on record",
        )

    def adapt(self, stored: StoredSignature, film: FilmTuning, message: str) -> None:
        """Let predictions use FiLM fine-tuned to a signature; a new one takes its place."""
        before = stored.signature.id
        self._replace(
            f"Fine-Tune to {self.device_name(stored.signature.device_id)}",
            before,
            lambda signatures: signatures.adapt(before, film),
            message,
        )

    def leave(self, session_id: str) -> None:
        """End a session that will not go on; its measurements become its signature."""
        self._store.run(
            lambda probing: probing.sessions.give_up(session_id),
            on_result=lambda _: self.refresh(),
            on_error=self.failed.emit,
        )

    def delete(self, stored: StoredSignature) -> None:
        """Delete a signature, and show another of its target; undo brings it back."""
        signature, what = stored.signature, f"the signature of {local_time(stored.created_ns)}"

        def put_away(probing: Probing) -> Result:
            probing.signatures.delete(signature.id)
            return after_deletion(stored, probing)

        def restore(signatures: Signatures) -> str:
            signatures.restore(signature.id, active=signature.active)
            return signature.id

        delete = partial(self._show, put_away, f"Deleted {what}; undo restores it")
        bring_back = partial(self._change, restore, f"Restored {what}")
        words = f"Delete signature of {shown(signature.device_id)}"
        self._undo_stack.push(UndoStep(words, delete, bring_back))

    def _replace(
        self, text: str, before: str, make: Callable[[Signatures], str], message: str
    ) -> None:
        """Let the signature that ``make`` makes take the place of another; undo gives it back.

        The signature that was made stays in the store, with the reason that it keeps.
        """
        # Set and read on the store's thread alone, by the functions below.
        made, active = "", False

        def take_place(signatures: Signatures) -> str:
            nonlocal made
            # A redo: the signature of the first time is still in the store.
            if made:
                signatures.restore(made, active=active)
            else:
                made = make(signatures)
            return made

        def give_back(signatures: Signatures) -> str:
            nonlocal active
            if made:  # else nothing came of it
                active = signatures.give_back(made, before)
            return before

        redo = partial(self._change, take_place, message)
        undo = partial(self._change, give_back, f"Undone: {text}")
        self._undo_stack.push(UndoStep(text, redo, undo))

    def _change(self, work: Callable[[Signatures], str], message: str) -> None:
        """Change signatures, show the one whose id is returned, and emit ``done``."""
        self._show(lambda probing: of_signature(work(probing.signatures), "", probing), message)

    def _show(self, work: Any, message: str = "") -> None:
        def show(answer: tuple[Result, _Overview]) -> None:
            self.result, overview = answer
            self._on_overview(overview)
            self.result_changed.emit(self.result)
            if message:
                self.done.emit(message)
            self._assess(self.result)

        self._store.run(
            lambda probing: (work(probing), _overview(probing)),
            on_result=show,
            on_error=self.failed.emit,
        )

    def _assess(self, result: Result) -> None:
        """Predict networks from one another, and the models; it takes a second or two."""
        device = self.device(result.device_id)
        if result.signature is None or device is None:
            return
        stored, models = result.signature, list(self._lookup.models())

        def work(probing: Probing) -> tuple[tuple[LeftOut, ...], tuple[BeforeAfter, ...]]:
            target = Target(device, stored.signature.configuration)
            measured, used = probing.signatures.measured(stored.signature.id)
            return left_out(target, measured, used), before_and_after(target, measured, models)

        def done(assessment: tuple[tuple[LeftOut, ...], tuple[BeforeAfter, ...]]) -> None:
            # Another result may be shown by now.
            if self.result is result:
                self.result = assessed(result, *assessment)
                self.result_changed.emit(self.result)

        self._store.run(work, on_result=done, on_error=self.failed.emit)

    def _on_overview(self, overview: _Overview) -> None:
        self.sessions, self.signatures, self.reasons = overview
        self.sessions_changed.emit()


def _overview(probing: Probing) -> _Overview:
    left = [
        unended
        for session in probing.sessions.all()
        if session.finished_ns is None
        and (unended := unfinished(session, probing.sessions.measurements(session.id)))
    ]
    signatures = tuple(reversed(probing.signatures.all()))
    reasons = {
        stored.signature.id: probing.signatures.noted_reason(stored) for stored in signatures
    }
    return tuple(reversed(left)), signatures, {key: why for key, why in reasons.items() if why}
