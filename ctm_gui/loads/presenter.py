"""The state of the page of a load: what is edited, what its box does with it, which boxes do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui import settings as table
from ctm_gui.loads.work import (
    BoxEntry,
    ModelReader,
    Prepared,
    UserData,
    answered,
    box_entries,
    chosen,
    prepare,
)
from ctm_gui.settings import Settings
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from ctm_gui.tasks.store_client import OwnMeasurements, StoreRunner
from ctm_gui.undo import push_change
from predictor.core.documents import Document
from predictor.core.errors import CtmError, InputError
from predictor.core.files import write_text
from predictor.core.metrics import Family
from predictor.core.progress import Progress
from predictor.core.records import Device
from predictor.core.text import capitalised
from predictor.core.toml_tables import KeyedError, Place
from predictor.services.devices.catalogue import Catalogue
from predictor.services.loads.answers import Answer
from predictor.services.loads.boxes import box_of_devices, named_box
from predictor.services.loads.choice import BoxChoice
from predictor.services.loads.draft import LoadDraft, new_draft, parse_draft, read_draft
from predictor.services.loads.models import networks
from predictor.services.loads.records import Box
from predictor.services.models.ingestion import IngestionWorker

NO_LOAD = (
    "What will a box carry? Begin a load, open a load file (.toml) or choose an example: streams "
    "of items, the models that they pass, and the box that runs them."
)
WORKING = "Simulating…"
CANCELLED = "Cancelled: Simulate goes on."
READING = "Reading the models of the load…"
NOT_RIGHT = "Something is wrong with the load, as is said above: no box is tried."
ASK_AGAIN = "The load has changed: ask again which boxes hold it."
ASK_FIRST = "Ask which boxes hold this load: those of the fewest joules come first."


class Problem:
    """What is wrong with a load.

    Args:
        error: of the load.
        draft: that it is about.

    Attributes:
        sentence: why, and nothing of the file.
        place: of the table in it; empty where the error is about no key.
        key: in that table; empty likewise.
    """

    def __init__(self, error: CtmError, draft: LoadDraft) -> None:
        self.place: Place = ()
        self.key = ""
        if isinstance(error, KeyedError):
            self.place, self.key = draft.place_of(error)
            of = error.key.partition(": ")[2]
            self.sentence = f"{of}: {error.reason}." if of else f"{capitalised(error.reason)}."
        else:
            self.sentence = f"{capitalised(error.reason)}; {error.action}."


class LoadPresenter(QObject):
    """One load, which is simulated anew when it changes while its page is looked at.

    Signals:
        draft_changed: ``draft`` is another.
        results_changed: ``answer``, ``problem``, ``message``, ``box`` or ``busy`` are.
        boxes_changed: ``boxes`` are.
        choice_changed: ``choice`` and ``choice_message`` are, or ``choosing`` is.
        progressed: a Progress of the work.
        failed: an error of a file.

    Attributes:
        draft: the load as it is edited; None before one is opened.
        box: the last one that the load named; None before.
        prepared: the last one that was right; None before.
        answer: what its box does with it; None where there is none.
        problem: what is wrong; None where nothing is.
        message: why there is no answer, where nothing is wrong.
        boxes: to choose from.
        choice: which boxes carry it; None where there is none.
        choice_message: why there is none.

    Args:
        worker: the thread that simulates.
        ingestion: reads model files.
        run: runs work with the open store.
        user_measurements: the user's measurements.
        catalogue: returns all devices.
        settings: have the user's boxes.
        undo_stack: gets a step for each change.
        parent: owner.
    """

    draft_changed = Signal()
    results_changed = Signal()
    boxes_changed = Signal()
    choice_changed = Signal()
    progressed = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        worker: SerialWorker,
        ingestion: IngestionWorker,
        run: StoreRunner,
        user_measurements: OwnMeasurements,
        catalogue: Callable[[], Catalogue],
        settings: Settings,
        undo_stack: QUndoStack,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker, self._reader, self._run = worker, ModelReader(ingestion), run
        self._user_measurements, self._catalogue = user_measurements, catalogue
        self._settings, self._undo_stack = settings, undo_stack
        self._task: Task | None = None
        self._choice_task: Task | None = None
        self._turn = 0  # of what was asked of the store
        self._active, self._stale, self._has_boxes = False, True, False
        self.draft: LoadDraft | None = None
        self.box: Box | None = None
        self.prepared: Prepared | None = None
        self.answer: Answer | None = None
        self.problem: Problem | None = None
        self.message = NO_LOAD
        self.boxes: Sequence[BoxEntry] = ()
        self.choice: BoxChoice | None = None
        self.choice_message = ASK_FIRST
        self._is_waiting = self._is_ready = False
        self._pending: Callable[[], None] | None = None
        user_measurements.changed.connect(self.refresh)

    @property
    def busy(self) -> bool:
        """Whether an answer is being worked out."""
        return self._is_waiting or (self._task is not None and self._task.active)

    @property
    def choosing(self) -> bool:
        """Whether boxes are being tried."""
        return self._choice_task is not None and self._choice_task.active

    @property
    def settled(self) -> bool:
        """Whether all that is shown is of the present load."""
        return not (self.busy or self.choosing)

    @property
    def user_boxes(self) -> list[str]:
        """Files of the user's boxes."""
        return self._settings.get(table.LOAD_BOXES)

    # What the user does

    def begin(self, models: list[str]) -> None:
        """Begin a load of one camera with the first of some models."""
        self.edit(new_draft(models, Path.cwd() / "load.toml"), "New Load")

    def open(self, path: Path) -> None:
        """Open a load file; what is wrong in it is shown at its field."""
        try:
            draft = read_draft(path)
        except CtmError as error:
            self.failed.emit(error)
            return
        self.edit(draft, f"Open {path.name}")

    def save(self, path: Path) -> None:
        """Write the load file; it is of this file from then on."""
        if self.draft is None:
            return
        draft = self.draft.at(path)
        try:
            write_text(path, draft.text)
        except CtmError as error:
            self.failed.emit(error)
            return
        self.draft = draft
        self._remember()
        self.draft_changed.emit()

    def edit(self, draft: LoadDraft, words: str, typed: str = "") -> None:
        """Take another load.

        Args:
            draft: the load.
            words: of the undo step.
            typed: names the field that was typed into, see ``UndoStep``.
        """
        if draft != self.draft:
            typed = typed and f"load {typed}"
            push_change(self._undo_stack, words, self._set, draft, self.draft, typed, "load")

    def restore(self) -> None:
        """Show the load of the last session if the user wants that; it is no step to take back."""
        document = Document(text=self._settings.get(table.LOAD)).content
        text, path = document.get("text"), document.get("path")
        if self._settings.get(table.RESTORE) and isinstance(text, str) and isinstance(path, str):
            with suppress(InputError):  # of another version of the program
                self._set(parse_draft(text, Path(path)))

    def use_box(self, box: Mapping[str, Any], name: str) -> None:
        """Run the load on another box, named by a table of the load file."""
        if self.draft is not None:
            self.edit(self.draft.with_box(box), f"Box {name}")

    def use_devices(self, devices: Sequence[Device]) -> None:
        """Run the load on devices as one box."""
        if devices:
            box = box_of_devices(devices)
            units = {name: unit.device.id for name, unit in box.units.items()}
            self.use_box({"units": units, "name": box.name}, box.name)

    def use_candidate(self, box: Box) -> None:
        """Run the load on a box in its mode of those that were tried."""
        tables = (entry.table for entry in self.boxes if entry.name == box.name)
        units = {name: unit.device.id for name, unit in box.units.items()}
        table = next(tables, {"units": units, "name": box.name})
        self.use_box({**table, **({"mode": box.mode} if box.mode else {})}, box.name)

    def add_box(self, path: Path, models: list[str]) -> None:
        """Add a file to the user's boxes, and use it; a load of it begins where there is none.

        Args:
            path: of the file.
            models: files, the first of which a new load runs.
        """
        try:
            box = named_box(str(path), self._catalogue())
        except CtmError as error:
            self.failed.emit(error)
            return
        boxes = list(dict.fromkeys([str(path), *self.user_boxes]))
        self._settings.set(table.LOAD_BOXES, boxes)
        self.read_boxes()
        draft = self.draft or new_draft(models, Path.cwd() / "load.toml")
        self.edit(draft.with_box({"file": str(path)}), f"Box {box.name}")

    def cancel(self) -> None:
        """Stop the running work; ``refresh`` goes on."""
        if self.busy:
            self._stop()
            self._show(None, None, CANCELLED)
        if self.choosing:
            self._show_choice(None, ASK_FIRST)

    def choose(self, family: Family | None) -> None:
        """Try which boxes carry the load: the boxes, or all devices of a family."""
        if self.busy and not self._is_ready:
            self._pending = partial(self.choose, family)
            self._show_choice(None, READING)
            return
        if self.prepared is None or self.problem is not None:
            self._show_choice(None, NOT_RIGHT)
            return
        self._cancel_choice()
        draft, prepared, boxes = self.draft, self.prepared, self.user_boxes

        def choose(data: UserData) -> None:
            if draft is self.draft:
                self._submit_choice(lambda task: chosen(prepared, data, boxes, family, task))

        self._ask_store(prepared, choose)

    # How it comes about

    def set_active(self, *, active: bool) -> None:
        """Set whether the page is looked at; nothing is computed for a hidden one."""
        self._active = active
        if not active:
            return
        if not self._has_boxes:
            self.read_boxes()
        if self._stale:
            self.refresh()

    def read_boxes(self) -> None:
        """Read the boxes to choose from, those of the user first."""
        self._has_boxes = True
        catalogue, paths = self._catalogue(), self.user_boxes
        self._worker.submit(
            lambda _: box_entries(catalogue, paths),
            on_result=self._on_boxes,
            on_error=self.failed.emit,
        )

    def refresh(self, *_: object) -> None:
        """Simulate the present load, from when its page is looked at."""
        self._stop()
        self._stale = not self._active
        if not self._active:
            return
        draft = self.draft
        if draft is None:
            self._show(None, None, NO_LOAD)
            return
        catalogue = self._catalogue()
        self._task = self._worker.submit(
            lambda context: prepare(draft, catalogue, self._reader, context),
            on_result=self._on_prepared,
            on_error=partial(self._on_wrong, draft),
            on_progress=self.progressed.emit,
            on_part=self._on_box,
        )
        self.results_changed.emit()

    def _set(self, draft: LoadDraft | None) -> None:
        self.draft = draft
        self._remember()
        if self.choice is not None or self.choosing:
            self._show_choice(None, ASK_AGAIN)
        self.draft_changed.emit()
        self.refresh()

    def _remember(self) -> None:
        # At each change: what ends the program ends no session.
        draft, text = self.draft, ""
        if draft is not None:
            text = Document({"path": str(draft.path), "text": draft.text}).to_json()
        self._settings.set(table.LOAD, text)

    def _stop(self) -> None:
        self._turn += 1
        self._is_waiting = self._is_ready = False
        if self._task is not None:
            self._task.cancel()

    def _on_box(self, box: Any) -> None:
        self.box = box
        self.results_changed.emit()

    def _on_prepared(self, prepared: Prepared) -> None:
        self.prepared = prepared
        draft = self.draft
        assert draft is not None  # noqa: S101  # it was prepared
        self._is_waiting = self._is_ready = True
        turn = self._turn

        def simulate(data: UserData) -> None:
            if turn != self._turn:
                return
            self._is_waiting = False
            self._task = self._worker.submit(
                lambda context: answered(prepared, data, context),
                on_result=lambda answer: self._show(answer, None, ""),
                on_error=partial(self._on_wrong, draft),
                on_progress=self.progressed.emit,
                on_part=lambda answer: self._show(answer, None, ""),
            )
            self.results_changed.emit()

        self._ask_store(prepared, simulate)
        pending, self._pending = self._pending, None
        if pending is not None:
            pending()

    def _ask_store(self, prepared: Prepared, then: Callable[[UserData], None]) -> None:
        """Go on with what the user measured of the models of a load."""
        of_networks = networks(prepared.models.values())
        catalogue, signatures = self._catalogue(), self._user_measurements.signatures
        devices = {device.id: device for device in catalogue.devices}

        # A store that cannot be opened says so there.
        self._run(
            lambda history: (history.measured(of_networks), history.token_rates.all(devices)),
            on_result=lambda stored: then(
                UserData(catalogue, signatures, stored[0], tuple(stored[1].values()))
            ),
            on_error=lambda _: then(UserData(catalogue, signatures)),
        )

    def _on_wrong(self, draft: LoadDraft, error: CtmError) -> None:
        self._show(None, Problem(error, draft), "")

    def _show(self, answer: Answer | None, problem: Problem | None, message: str) -> None:
        self.answer, self.problem, self.message = answer, problem, message
        if self._pending is not None:
            self._pending = None
            self._show_choice(None, NOT_RIGHT if problem else ASK_FIRST)
        self.results_changed.emit()

    def _on_boxes(self, boxes: Sequence[BoxEntry]) -> None:
        self.boxes = boxes
        self.boxes_changed.emit()

    def _submit_choice(self, work: Callable[[TaskContext], BoxChoice]) -> None:
        self._cancel_choice()
        self._choice_task = self._worker.submit(
            work,
            on_result=lambda choice: self._show_choice(choice, ""),
            on_error=lambda error: self._show_choice(None, str(error)),
            on_progress=self.progressed.emit,
        )
        self.progressed.emit(Progress(0, 0, "predicting all boxes"))
        self.choice_changed.emit()

    def _cancel_choice(self) -> None:
        if self._choice_task is not None:
            self._choice_task.cancel()

    def _show_choice(self, choice: BoxChoice | None, message: str) -> None:
        self._cancel_choice()
        self.choice, self.choice_message = choice, message
        self.choice_changed.emit()
