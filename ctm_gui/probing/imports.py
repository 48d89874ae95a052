"""Latencies that were measured elsewhere: read, given to networks, taken over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, SignalInstance

from ctm_gui.probing.choice import Source, TargetChoice
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.errors import CtmError, InputError
from predictor.graph.model import Model
from predictor.probing.importers.names import NameMatch
from predictor.probing.importers.records import ImportedFile
from predictor.probing.importers.registry import import_file, import_typed
from predictor.services.probing.imports import candidates, matches, take_over
from predictor.services.probing.kits import import_results
from predictor.services.probing.open import open_probing

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that was read, the candidates of each of its names, and all candidates."""

    file: ImportedFile
    names: tuple[NameMatch, ...]
    candidates: tuple[str, ...]

    def proposed(self) -> dict[str, str | None]:
        """Return the first choice for each name: the exact match, else none."""
        return {match.name: match.exact for match in self.names}


@dataclass(frozen=True, slots=True)
class Imported:
    """Outcome of an import: a kit's session, or a signature of another tool's file."""

    session_id: str = ""
    signature_id: str = ""
    notes: tuple[str, ...] = ()


class ProbeImport(QObject):
    """Reads files and takes them over.

    ``read`` gives a ReadFile whose names are to be confirmed; ``imported`` an Imported;
    ``failed`` an error; ``changed`` says that ``busy`` is another.

    Args:
        store: the store's file; None for the usual one.
        parent: owner.
    """

    read = Signal(object)
    imported = Signal(object)
    failed = Signal(object)
    changed = Signal()

    def __init__(self, store: Path | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._worker = SerialWorker("probe import", self)

    @property
    def busy(self) -> bool:
        """Whether something is being read or taken over."""
        return self._worker.busy

    def begin(self, choice: TargetChoice, models: Sequence[Model]) -> None:
        """Read the chosen source; the results of a kit are imported at once."""
        if choice.source is Source.KIT:
            self._submit(partial(_take_kit, Path(choice.path), self._store), self.imported)
        else:
            self._submit(partial(_read, choice, tuple(models)), self.read)

    def take(
        self,
        choice: TargetChoice,
        file: ImportedFile,
        models: Sequence[Model],
        meant: Mapping[str, str | None],
    ) -> None:
        """Store a file's latencies.

        Args:
            choice: the target that they were measured on.
            file: as read.
            models: that names may mean, beside the reference networks.
            meant: model or reference network of each name; None leaves it out.
        """
        work = partial(_take, choice, file, tuple(models), dict(meant), self._store)
        self._submit(work, self.imported)

    def close(self) -> None:
        """Finish the submitted work and end."""
        self._worker.close(finish=True)

    def _submit(self, work: Callable[[TaskContext], T], outcome: SignalInstance) -> None:
        """Submit work unless some is under way; ``outcome`` is emitted with its result."""
        if self.busy:
            return

        def done(result: T) -> None:
            self.changed.emit()
            outcome.emit(result)

        def wrong(error: CtmError) -> None:
            self.changed.emit()
            self.failed.emit(error)

        self._worker.submit(work, on_result=done, on_error=wrong)
        self.changed.emit()


def _read(choice: TargetChoice, models: Sequence[Model], _: TaskContext) -> ReadFile:
    typed = choice.source is Source.TYPED
    file = import_typed(choice.typed) if typed else import_file(Path(choice.path))
    return ReadFile(file, matches(file, models), candidates(models))


def _take_kit(path: Path, store: Path | None, _: TaskContext) -> Imported:
    with open_probing(store) as probing:
        return Imported(import_results(probing.sessions, path).id)


def _take(
    choice: TargetChoice,
    file: ImportedFile,
    models: Sequence[Model],
    meant: Mapping[str, str | None],
    store: Path | None,
    _: TaskContext,
) -> Imported:
    if choice.device is None:
        raise InputError(file.name, "no device is chosen", "choose the one it was measured on")
    stored = take_over(file, choice.device, choice.configuration, models, meant, store)
    return Imported(signature_id=stored.signatures[0], notes=stored.notes)
