"""The state of the window: models, targets, what-ifs, and the comparison that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.devices.library import DeviceLibrary
from ctm_gui.devices.this_machine import ThisMachine
from ctm_gui.history.presenter import HistoryPresenter
from ctm_gui.history.projects import ProjectExchange
from ctm_gui.language.files import LanguageFiles
from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.models.shelf import ModelEntry, ModelShelf, ModelState
from ctm_gui.prediction.comparison import ComparedModel, Comparison, compare, why
from ctm_gui.targets.choice import TargetSelection
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from ctm_gui.tasks.store_client import OwnMeasurements, Recorder
from ctm_gui.tasks.turns import NextTurn
from ctm_gui.window.messages import MessageLog
from predictor.core.errors import CtmError
from predictor.core.memory import release_memory
from predictor.core.records import Device
from predictor.services.devices.catalogue import Catalogue
from predictor.services.loads.box_files import is_box_file
from predictor.services.models.files import FoundFiles, absolute, find_model_files
from predictor.services.models.ingestion import IngestionWorker

if TYPE_CHECKING:
    from predictor.services.history.history import History

DEVICE_SUFFIX = BOX_SUFFIX = ".json"  # which of them a file is, its schema says
PROJECT_SUFFIX = ".ctmproject"
LOAD_SUFFIX = ".toml"
# A burst of changes (the check boxes of a group) makes one run.
PREDICT_DELAY_MS = 15
# While files are read one after another, what is shown follows them a few times a second.
PREDICT_WHILE_READING_MS = 200
# Models of so many operators take tens of megabytes, which the C library would keep.
LARGE_OPERATORS = 5_000
RELEASE_DELAY_MS = 1000
# Each holds what it takes to go back: memory must not grow with the length of a session.
UNDO_STEPS = 100


class Workspace(QObject):
    """Owns the state of the window and keeps the comparison up to date with it.

    ``comparison_changed`` is emitted when ``comparison`` changes; ``activity_changed`` when
    searching, reading or predicting begins or ends; ``opened`` gives the paths that were added,
    ``load_opened`` gives the path of a load file that the user opened, ``box_opened`` that of a
    box.

    Attributes:
        comparison: the last one.
        undo_stack: steps of models, targets and views.
        library_stack: steps of devices, history and measurements.
        load_stack: steps of the load that is edited.
        language: the open language models.
        language_files: opens their files.

    Args:
        catalogue: the devices that ship.
        selected: ids of the devices that are checked; None for the first selection.
        ingestion: reads model files in a child process.
        open_store: opens the store of predictions, called on the store's own thread.
        store: the store's file, for what measures this machine; None for the usual one.
    """

    comparison_changed = Signal()
    activity_changed = Signal()
    opened = Signal(object)
    load_opened = Signal(str)
    box_opened = Signal(str)

    def __init__(
        self,
        catalogue: Catalogue,
        selected: Sequence[str] | None,
        ingestion: IngestionWorker,
        open_store: Callable[[], History],
        store: Path | None = None,
    ) -> None:
        super().__init__()
        self.ingestion = ingestion
        self._reader = SerialWorker("reader", self)
        self.predictor = SerialWorker("predictor", self)
        self.layouter = SerialWorker("layouter", self)
        self.simulator = SerialWorker("simulator", self)
        self._finder = SerialWorker("finder", self)
        self.messages = MessageLog(self)
        self.undo_stack, self.library_stack = QUndoStack(self), QUndoStack(self)
        self.load_stack = QUndoStack(self)
        for stack in (self.undo_stack, self.library_stack, self.load_stack):
            stack.setUndoLimit(UNDO_STEPS)
        self.shelf = ModelShelf(ingestion, self._reader, self.undo_stack, self)
        self.selection = TargetSelection(catalogue, selected, self.undo_stack, self)
        self.recorder = Recorder(open_store, self)
        self.library = DeviceLibrary(catalogue, self.recorder.run, self.library_stack, self)
        self.machine = ThisMachine(self.library, store, self)
        self.user_measurements = OwnMeasurements(self.recorder.run, self.shelf.readings, self)
        self.history = HistoryPresenter(
            self.recorder.run, self.predictor, self.library_stack, self.library.by_id, self
        )
        self.projects = ProjectExchange(self.recorder.run, catalogue, self)
        self.language = LanguagePresenter(
            self.recorder.run,
            self.selection,
            self.user_measurements,
            self.predictor,
            self.undo_stack,
            self,
        )
        self.language_files = LanguageFiles(self.language, self._finder, self.predictor, self)
        self.comparison = Comparison()
        self._prediction: Task | None = None
        self._predict_timer = self._timer(PREDICT_DELAY_MS, self._predict)
        self._release_timer = self._timer(RELEASE_DELAY_MS, self._release_memory)
        # Not in the turn that fills the page.
        self._badges_turn = NextTurn(self._show_badges, self)
        self._connect()

    @property
    def searching(self) -> bool:
        """Whether folders are being searched for models."""
        return self._finder.busy

    @property
    def settled(self) -> bool:
        """Whether the comparison is up to date and nothing is under way."""
        waiting = self._predict_timer.isActive() or self._badges_turn.is_waiting
        working = self._prediction is not None or self._finder.busy or self.machine.busy
        return not (waiting or working or self.shelf.pending_count)

    def start(self) -> None:
        """Start the slow parts in the background: the reader's child, the store, this machine."""
        self._reader.submit(
            lambda _: self.ingestion.start(), on_result=lambda _: None, on_error=self.messages.error
        )
        self.recorder.open()
        self.machine.describe()
        # For the first search of the targets, which waits for no file.
        self.layouter.submit(
            lambda _: self.selection.catalogue.products("a"),
            on_result=lambda _: None,
            on_error=self.messages.error,
        )

    def close(self) -> None:
        """Stop all work and close the store; the ingestion is its maker's to close."""
        self._predict_timer.stop()
        self._release_timer.stop()
        for worker in (self._finder, self._reader, self.layouter, self.predictor, self.simulator):
            worker.close()
        self.machine.close()
        self.history.close()
        # Last, after everything that submits work to it.
        self.recorder.close()

    def open_paths(self, paths: Sequence[str]) -> None:
        """Add model files, and those inside folders; they are searched off the window's thread.

        Device files become devices of the user's, projects are taken over; the configuration of a
        language model, and a decoder among the model files, open in the Language tab; files of
        loads and boxes on the page Load.
        """
        loads = [path for path in paths if path.lower().endswith(LOAD_SUFFIX)]
        boxes = [path for path in paths if path.lower().endswith(BOX_SUFFIX) and is_box_file(path)]
        for opened, of_kind in ((self.load_opened, loads), (self.box_opened, boxes)):
            for path in of_kind:
                opened.emit(path)
                self.opened.emit([path])
        further = [path for path in paths if path not in {*loads, *boxes}]
        paths = [path for path in further if not self.language_files.open(path)]
        devices = [path for path in paths if path.lower().endswith(DEVICE_SUFFIX)]
        projects = [path for path in paths if path.lower().endswith(PROJECT_SUFFIX)]
        self.library.import_files(devices)
        for path in projects:
            self.projects.open(path)
        model_paths = tuple(path for path in paths if path not in {*devices, *projects})
        if not model_paths:
            return
        self._finder.submit(
            lambda context: find_model_files(model_paths, context.token),
            on_result=self._on_files,
            on_error=self.messages.error,
        )
        self.activity_changed.emit()

    def cancel_all(self) -> None:
        """Stop searching, reading and measuring this machine."""
        self._finder.cancel_all()
        self.shelf.cancel_all()
        self.messages.info("Cancelled")
        self.machine.cancel()
        self.activity_changed.emit()

    def _connect(self) -> None:
        self.shelf.content_changed.connect(self._predict_soon)
        self.shelf.entry_changed.connect(self.activity_changed)
        self.shelf.read.connect(self._on_read)
        self.shelf.failed.connect(self._on_failed)
        self.selection.changed.connect(self._follow_batches)
        self.selection.changed.connect(self._predict_soon)
        self.recorder.failed.connect(self.messages.error)
        self.recorder.opened.connect(self.library.load)
        self.recorder.opened.connect(self.user_measurements.read)
        self.shelf.content_changed.connect(self.user_measurements.read)
        self.user_measurements.changed.connect(self._predict_soon)
        self.library.catalogue_changed.connect(self.selection.set_catalogue)
        self.library.renamed.connect(self.selection.rename)
        self.library.saved.connect(self.selection.show_saved)
        self.library.failed.connect(self.messages.error)
        self.library.done.connect(self.messages.info)
        self.machine.changed.connect(self.activity_changed)
        self.machine.measured.connect(self.user_measurements.read)
        self._connect_history()

    def _connect_history(self) -> None:
        self.recorder.opened.connect(self.history.begin)
        self.recorder.recorded.connect(self.history.expect_more)
        self.history.reopened.connect(self._open_again)
        self.projects.imported.connect(self.library.load)
        self.projects.imported.connect(self.history.expect_more)
        self.projects.imported.connect(self._predict_soon)
        self.history.changed.connect(self.user_measurements.read)
        self.projects.imported.connect(self.user_measurements.read)
        for reason in (
            self.recorder.opened, self.projects.imported, self.library.catalogue_changed,
        ):  # fmt: skip
            reason.connect(lambda *_: self.language.read_measured())
        self.language_files.failed.connect(self.messages.error)
        self.language_files.noticed.connect(self.messages.info)
        self.language_files.file_opened.connect(lambda path: self.opened.emit([path]))
        self.language.failed.connect(self.messages.error)
        for source in (self.history, self.projects):
            source.failed.connect(self.messages.error)
            source.done.connect(self.messages.info)

    def _timer(self, delay_ms: int, call: Callable[[], None]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=delay_ms)
        timer.timeout.connect(call)
        return timer

    def _open_again(self, path: str, dimensions: Mapping[str, int], device_id: str) -> None:
        """Open a model with values of its dimensions, and tick the device it was predicted on."""
        (row,) = self.shelf.add([path])
        for name, value in dimensions.items():
            self.shelf.bind(row, name, value)
        # The device may have been deleted since the prediction.
        if device_id in self.library.by_id():
            self.selection.select([device_id], selected=True)
        self.opened.emit([path])

    def _release_memory(self) -> None:
        """Give back the memory of models that were closed: of large ones, or of all."""
        self.predictor.submit(
            lambda _: release_memory(), on_result=lambda _: None, on_error=self.messages.error
        )

    def _follow_batches(self) -> None:
        """Have every model read at the batches of the ticked targets."""
        batches = {device.configurations[0].batch for device in self.selection.selected}
        self.shelf.set_further_batches(batches - {0})

    def _on_files(self, files: FoundFiles) -> None:
        for problem in files.problems:
            self.messages.error(problem)
        if files.paths:
            paths = [absolute(path) for path in files.paths]
            self.language_files.expect(paths)
            self.shelf.add(paths)
            self.opened.emit(paths)
        self.activity_changed.emit()

    def _on_read(self, entry: ModelEntry) -> None:
        self.messages.info(f"Read {entry.name}")
        if entry.model is not None:
            self.language_files.take(entry.path, entry.model)

    def _on_failed(self, entry: ModelEntry) -> None:
        if entry.error is not None:
            self.messages.error(entry.error)

    def _predict_soon(self) -> None:
        pending = self.shelf.pending_count
        # Not restarted while it runs: a stream of changes would put the run off for ever.
        if not self._predict_timer.isActive() or not pending:
            self._predict_timer.start(PREDICT_WHILE_READING_MS if pending else PREDICT_DELAY_MS)

    def _predict(self) -> None:
        if self._prediction is not None:
            self._prediction.cancel()
        work = self.comparing(self.selection.selected)
        self._prediction = self.predictor.submit(
            lambda context: work(part=partial(_tell_part, context)),
            on_result=self._on_compared,
            on_error=self._on_not_compared,
            on_part=self._on_part,
        )

    def comparing(self, devices: tuple[Device, ...]) -> Callable[..., Comparison]:
        """Return the work that compares the open models on devices, as they are now."""
        return partial(
            compare,
            self._compared_models(),
            devices,
            measurements=self.user_measurements.measurements,
            signatures=self.user_measurements.signatures,
            devices_by_id=dict(self.library.by_id()),
        )

    def _compared_models(self) -> tuple[ComparedModel, ...]:
        labels = self.shelf.labels()
        return tuple(
            ComparedModel(
                entry.id, labels[entry.id], entry.model, _problem(entry), dict(entry.batches)
            )
            for entry in self.shelf.entries
            if entry.model is not None
        )

    def _show_badges(self) -> None:
        self.selection.set_badges(self.comparison.columns.badges)

    def _on_part(self, comparison: Comparison) -> None:
        # Models that are shown already stay until they are all predicted again.
        if len(comparison.models) > len(self.comparison.models):
            self.comparison = comparison
            self.comparison_changed.emit()

    def _on_compared(self, comparison: Comparison) -> None:
        self._show(comparison)
        self.recorder.record(comparison.readings, [row.prediction for row in comparison.rows])
        # Beside its number from facts, and not while files are read, which would disturb it.
        if comparison.models and not self.shelf.pending_count:
            self.machine.prepare(target.device for target in comparison.targets)

    def _on_not_compared(self, error: CtmError) -> None:
        self.messages.error(error)
        self._show(Comparison())

    def _show(self, comparison: Comparison) -> None:
        self._prediction = None
        closed = self.comparison.operators - comparison.operators
        if closed > LARGE_OPERATORS or (closed and not comparison.models):
            self._release_timer.start()
        self.comparison = comparison
        self._badges_turn.start()
        self.comparison_changed.emit()
        self.activity_changed.emit()


def _tell_part(context: TaskContext, comparison: Comparison) -> None:
    context.token.check()
    context.part(comparison)


def _problem(entry: ModelEntry) -> str:
    if entry.state is ModelState.FAILED and entry.error is not None:
        return why(entry.error)
    return ""
