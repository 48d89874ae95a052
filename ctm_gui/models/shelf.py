"""The models of the window: reading, re-reading with other dimensions, removing, undo."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from ctm_gui.undo import UndoStep
from predictor.core.errors import CancelledError, CtmError
from predictor.core.progress import CancelToken, Progress
from predictor.core.tensors import DynamicDimension
from predictor.core.text import plural, printable
from predictor.graph.model import Model
from predictor.services.models.batches import read_at
from predictor.services.models.ingestion import IngestionWorker

# Models that were removed, for undo; older ones are read again. Some 10 MB.
_MAX_UNDO_OPERATORS = 5_000


class ModelState(StrEnum):
    """Steps of a model from its file to its predictions."""

    WAITING = "waiting"
    READING = "reading"
    READY = "ready"
    FAILED = "failed"


@dataclass(slots=True, eq=False, kw_only=True)
class ModelEntry:
    """One model of the window.

    Attributes:
        id: unique in this session.
        path: absolute path of the file.
        bindings: values that the user gave to dynamic dimensions, by name.
        state: step of its reading; ``READY`` alone says that ``model`` fits the bindings.
        model: the last one that was read, kept while it is read again.
        error: of the last reading where it failed, else None.
        batches: the model as read at further batches, or the error of that, by batch.
    """

    id: int
    path: str
    bindings: dict[str, int] = field(default_factory=dict)
    state: ModelState = ModelState.WAITING
    model: Model | None = None
    error: CtmError | None = None
    batches: dict[int, Model | CtmError] = field(default_factory=dict)
    task: Task | None = None
    batch_tasks: dict[int, Task] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """File name as shown: without its folder, odd characters escaped."""
        return printable(Path(self.path).name)

    @property
    def pending(self) -> bool:
        """Whether it waits to be read or is being read, at whatever batch."""
        return self.is_read_anew or bool(self.batch_tasks)

    @property
    def is_read_anew(self) -> bool:
        """Whether ``model`` waits to be read or is being read."""
        return self.state in {ModelState.WAITING, ModelState.READING}

    @property
    def dimensions(self) -> tuple[DynamicDimension, ...]:
        """The dynamic dimensions with the values that the user set last."""
        if self.model is None:
            return ()
        return tuple(
            DynamicDimension(d.name, self.bindings.get(d.name, d.value), d.default, d.reason)
            for d in self.model.dynamic
        )


class ModelShelf(QObject):
    """The list of models, in the order of their addition.

    ``inserting``/``inserted`` and ``removing``/``removed`` frame changes of the list with the first
    and last row; ``entry_changed`` gives the row of one that changed; ``content_changed`` is
    emitted when the models to compare change, ``batch_read`` when one was read at a further batch.

    Attributes:
        entries: the models in order.

    Args:
        ingestion: reads files in a child process.
        worker: the thread that waits for it.
        undo_stack: gets a step for what is opened and for each removal.
        parent: owner.
    """

    inserting = Signal(int, int)
    inserted = Signal(int, int)
    removing = Signal(int, int)
    removed = Signal(int, int)
    entry_changed = Signal(int)
    content_changed = Signal()
    batch_read = Signal()
    read = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        ingestion: IngestionWorker,
        worker: SerialWorker,
        undo_stack: QUndoStack,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._ingestion = ingestion
        self._worker = worker
        self._undo_stack = undo_stack
        self.entries: list[ModelEntry] = []
        self._removed: list[ModelEntry] = []
        self._ids = itertools.count(1)
        self._further: frozenset[int] = frozenset()
        self._tried: int | None = None

    @property
    def pending_count(self) -> int:
        """Number of those that wait to be read or are being read."""
        return sum(entry.pending for entry in self.entries)

    def models(self) -> list[Model]:
        """Return those that were read, in order."""
        return [entry.model for entry in self.entries if entry.model is not None]

    def readings(self) -> list[Model]:
        """Return those that were read, each also as it was read at further batches."""
        further = (read for entry in self.entries for read in entry.batches.values())
        return [*self.models(), *(read for read in further if isinstance(read, Model))]

    def labels(self) -> dict[int, str]:
        """Return a name for each entry id that is unique in the list: with folders where needed."""
        names = Counter(entry.name for entry in self.entries)
        labels: dict[int, str] = {}
        for entry in self.entries:
            label = entry.name
            if names[label] > 1:
                label = f"{printable(Path(entry.path).parent.name)}/{label}"
            used_labels = labels.values()
            labels[entry.id] = f"{label} ({entry.id})" if label in used_labels else label
        return labels

    def add(self, paths: Iterable[str]) -> list[int]:
        """Add the files as one step and read them; one that is in the list is read again there.

        Returns:
            Row of each path.
        """
        rows = {entry.path: row for row, entry in enumerate(self.entries)}
        distinct = list(dict.fromkeys(paths))
        new = [ModelEntry(id=next(self._ids), path=path) for path in distinct if path not in rows]
        for path in distinct:
            if path in rows:
                self.read_again(rows[path])
        if new:
            what = new[0].name if len(new) == 1 else plural(len(new), "model")
            opened, closed = partial(self._append, new), partial(self._take_entries, new)
            self._undo_stack.push(UndoStep(f"Open {what}", opened, closed))
        rows = {entry.path: row for row, entry in enumerate(self.entries)}
        return [rows[path] for path in distinct]

    def restore(self, models: Iterable[tuple[str, Mapping[str, int]]]) -> None:
        """Add files, each with values of its dynamic dimensions, and read them."""
        open_paths = {entry.path for entry in self.entries}
        new = [
            ModelEntry(id=next(self._ids), path=path, bindings=dict(bindings))
            for path, bindings in models
            if path not in open_paths
        ]
        self._append(new)

    def remove(self, rows: Iterable[int]) -> None:
        """Remove rows; undo brings them back, large and long removed ones by reading them again."""
        removed_rows = [(row, self.entries[row]) for row in sorted(set(rows))]
        if removed_rows:
            what = (
                removed_rows[0][1].name
                if len(removed_rows) == 1
                else plural(len(removed_rows), "model")
            )
            take = partial(self._take, [row for row, _ in removed_rows])
            put_back = partial(self._insert, removed_rows)
            self._undo_stack.push(UndoStep(f"Remove {what}", take, put_back))

    def cancel(self, row: int) -> None:
        """Stop reading a model: a new one leaves the list, one read before keeps its old result."""
        entry = self.entries[row]
        if not entry.pending:
            return
        self._stop(entry)
        if entry.model is None:
            self._take([row])
        elif not entry.is_read_anew:
            for batch in entry.batch_tasks:
                reason = f"reading it at batch {batch} was cancelled"
                entry.batches[batch] = CancelledError(entry.name, reason, "reload the model")
            entry.batch_tasks.clear()
            self._notify(entry)
            self.content_changed.emit()
        else:
            entry.bindings = {d.name: d.value for d in entry.model.dynamic}
            self._settle(entry, ModelState.READY)

    def cancel_all(self) -> None:
        """Stop reading whatever is being read or waits."""
        # Backwards: a new model leaves the list, and the rows after it move up.
        for row in reversed(range(len(self.entries))):
            self.cancel(row)

    def bind(self, row: int, name: str, value: int) -> None:
        """Give a dynamic dimension another value and read the model again."""
        entry = self.entries[row]
        if entry.bindings.get(name) != value:
            entry.bindings[name] = value
            self._read(entry)

    def set_further_batches(self, batches: Iterable[int]) -> None:
        """Read every model at further batches too, once each; the others are let go."""
        self._further = frozenset(batches)
        for entry in self.entries:
            self._follow_batches(entry)

    def try_batch(self, batch: int | None) -> None:
        """Read every model at the batch of a dialog; None when it is closed."""
        self._tried = batch
        for entry in self.entries:
            self._follow_batches(entry)

    def readings_at(self, batch: int) -> dict[str, Model | CtmError | None]:
        """Return, by label, each open model as read at a batch, or its error; None until then."""
        labels = self.labels()
        open_ = (entry for entry in self.entries if entry.model is not None)
        return {labels[entry.id]: entry.batches.get(batch) for entry in open_}

    def read_again(self, row: int) -> None:
        """Read a model's file again, with the same dimensions."""
        self._read(self.entries[row])

    def _append(self, new: Sequence[ModelEntry]) -> None:
        first = len(self.entries)
        self._insert([(first + i, entry) for i, entry in enumerate(new)])

    def _take_entries(self, entries: Sequence[ModelEntry]) -> None:
        # One whose reading was cancelled is not there any more.
        self._take([row for row, entry in enumerate(self.entries) if entry in entries])

    def _insert(self, rows: Sequence[tuple[int, ModelEntry]]) -> None:
        # Qt's beginInsertRows announces one run of rows, so each run has its own frame.
        for first, last in _runs([row for row, _ in rows]):
            run = [entry for row, entry in rows if first <= row <= last]
            self.inserting.emit(first, last)
            self.entries[first:first] = run
            self.inserted.emit(first, last)
        self._removed = [entry for entry in self._removed if entry not in self.entries]
        for _, entry in rows:
            if entry.model is None and entry.error is None:
                self._read(entry)
            self._follow_batches(entry)
        self.content_changed.emit()

    def _take(self, rows: Sequence[int]) -> None:
        # From the last run up, so that the rows before keep their numbers.
        for first, last in reversed(_runs(rows)):
            for entry in self.entries[first : last + 1]:
                self._stop(entry)
                entry.batch_tasks.clear()
                entry.batches.clear()
            self.removing.emit(first, last)
            self._removed += self.entries[first : last + 1]
            del self.entries[first : last + 1]
            self.removed.emit(first, last)
        self._forget()
        self.content_changed.emit()

    def _forget(self) -> None:
        """Let go of the oldest models that were removed, as far as there are too many operators."""
        room = _MAX_UNDO_OPERATORS
        for place in reversed(range(len(self._removed))):
            entry = self._removed[place]
            room -= len(entry.model.graph.names) if entry.model is not None else 0
            if room < 0:
                for forgotten in self._removed[: place + 1]:
                    forgotten.model = None
                del self._removed[: place + 1]
                return

    @staticmethod
    def _stop(entry: ModelEntry) -> None:
        for task in (entry.task, *entry.batch_tasks.values()):
            if task is not None:
                task.cancel()
        entry.task = None

    def _read(self, entry: ModelEntry) -> None:
        # What a newer reading supersedes is dropped and not stopped: stopping restarts the child,
        # which costs more than letting a reading of some milliseconds end.
        for task in (entry.task, *entry.batch_tasks.values()):
            if task is not None:
                task.drop()
        entry.batch_tasks.clear()
        entry.state = ModelState.WAITING
        entry.error = None
        entry.task = self._worker.submit(
            partial(_ingest, self._ingestion, entry.path, dict(entry.bindings)),
            on_result=partial(self._on_read, entry),
            on_error=partial(self._on_failed, entry),
            on_progress=partial(self._on_progress, entry),
        )
        self._notify(entry)

    def _on_progress(self, entry: ModelEntry, _: Progress) -> None:
        entry.state = ModelState.READING
        self._notify(entry)

    def _on_read(self, entry: ModelEntry, model: Model) -> None:
        entry.model = model
        entry.batches.clear()
        self._settle(entry, ModelState.READY)
        self.read.emit(entry)

    def _follow_batches(self, entry: ModelEntry) -> None:
        """Read a model at the batches that it lacks, and drop those without a target."""
        wanted = self._further if self._tried is None else self._further | {self._tried}
        if wanted == entry.batches.keys() | entry.batch_tasks.keys():
            return
        for batch in entry.batches.keys() - wanted:
            del entry.batches[batch]
        for batch in entry.batch_tasks.keys() - wanted:
            entry.batch_tasks.pop(batch).drop()
        if entry.model is None or entry.state is not ModelState.READY:
            return
        for batch in sorted(wanted - entry.batches.keys() - entry.batch_tasks.keys()):
            work = partial(read_at, self._ingestion, entry.model, dict(entry.bindings), batch)
            entry.batch_tasks[batch] = self._worker.submit(
                partial(_with_token, work),
                on_result=partial(self._on_batch, entry, batch),
                on_error=partial(self._on_batch, entry, batch),
            )
        self._notify(entry)

    def _on_batch(self, entry: ModelEntry, batch: int, read: Model | CtmError) -> None:
        del entry.batch_tasks[batch]
        entry.batches[batch] = read
        self._notify(entry)
        self.batch_read.emit()
        if batch in self._further:
            self.content_changed.emit()

    def _on_failed(self, entry: ModelEntry, error: CtmError) -> None:
        entry.error = error
        self._settle(entry, ModelState.FAILED)
        self.failed.emit(entry)

    def _settle(self, entry: ModelEntry, state: ModelState) -> None:
        entry.task = None
        entry.state = state
        self._follow_batches(entry)
        self._notify(entry)
        self.content_changed.emit()

    def _notify(self, entry: ModelEntry) -> None:
        self.entry_changed.emit(self.entries.index(entry))


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last row of each run of consecutive numbers; ``rows`` ascend."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


def _with_token(work: Callable[[CancelToken], Model], context: TaskContext) -> Model:
    return work(context.token)


def _ingest(
    ingestion: IngestionWorker,
    path: str,
    bindings: Mapping[str, int],
    context: TaskContext,
) -> Model:
    context.report(Progress(0, 1, "reading"))
    return ingestion.ingest(path, bindings, cancel=context.token)
