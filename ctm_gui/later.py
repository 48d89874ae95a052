"""Loading of everything that the first frame does not need, once that is on the screen.

Modules without widgets are loaded on a thread, those with widgets and the views themselves one a
turn of the event loop: the window starts without them and goes on while they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from PySide6.QtCore import QEvent, QObject, QTimer, Signal

from ctm_gui.tasks.serial import SerialWorker, TaskContext
from ctm_gui.tasks.turns import in_turns

_LONGEST_WAIT_MS = 500
_END = object()
# What the views draw with and take their content from; NumPy asks for its masked arrays late.
PLOTS = ("pyqtgraph", "numpy.ma")
CONTENT = (
    "predictor.services.prediction.assumptions",
    "predictor.services.prediction.configurations",
    "predictor.services.history.changes",
    "predictor.services.generation.probes",
    "predictor.services.generation.token_rates",
    "predictor.services.models.language",
    "predictor.services.project.file",
    "predictor.services.signatures.adaptation",
    "predictor.services.signatures.quick",
    "ctm_gui.widgets.geometry",
    "ctm_gui.widgets.elision",
    "ctm_gui.compare.chart",
    "ctm_gui.compare.comparison_grid",
    "ctm_gui.compare.scores",
    "ctm_gui.compare.answers",
    "ctm_gui.compare.difference",
    "ctm_gui.compare.matrix",
    "ctm_gui.compare.pareto",
    "ctm_gui.compare.families",
    "ctm_gui.compare.further",
    "ctm_gui.compare.sweep",
    "ctm_gui.prediction.explanation",
    "ctm_gui.clocks.plane",
    "ctm_gui.attention.map",
    "ctm_gui.language.curves",
    "ctm_gui.language.rows",
    "ctm_gui.language.work",
    "predictor.services.serving.sentences",
    "ctm_gui.graph.facts",
    "ctm_gui.graph.presenter",
    "ctm_gui.roofline.points",
    "ctm_gui.timeline.strip",
    "ctm_gui.why.subject",
    "ctm_gui.choose.presenter",
    "ctm_gui.choose.rows",
    "ctm_gui.loads.presenter",
    "ctm_gui.loads.rows",
    "predictor.services.loads.sentences",
    "ctm_gui.devices.form",
    "ctm_gui.devices.tables",
    "ctm_gui.history.measured_rows",
)
ENGINE = (
    "predictor.services.probing.open",
    "predictor.services.probing.measure",
    "predictor.services.probing.plan",
    "predictor.services.probing.imports",
    "predictor.services.report.build",
)
WINDOWS = (
    "ctm_gui.window.palette",
    "ctm_gui.window.help_window",
    "ctm_gui.window.settings_dialog",
    "ctm_gui.probing.results",
    "ctm_gui.probing.shelf",
    "ctm_gui.probing.progress",
    "ctm_gui.probing.plan",
    "ctm_gui.probing.run",
    "ctm_gui.probing.fine_tuning",
    "ctm_gui.probing.presenter",
    "ctm_gui.probing.target_page",
    "ctm_gui.probing.plan_page",
    "ctm_gui.probing.measure_page",
    "ctm_gui.probing.dialogs",
    "ctm_gui.probing.result_page",
    "ctm_gui.probing.wizard",
    "ctm_gui.report.chart",
    "ctm_gui.report.graph",
    "ctm_gui.report.marks",
    "ctm_gui.report.presenter",
    "ctm_gui.report.preview",
    "ctm_gui.report.dialog",
)


class FirstFrame(QObject):
    """Calls ``then`` once, when a window has painted its first frame.

    A window that is shown minimised paints none: then it is called after half a second.
    """

    def __init__(self, window: QObject, then: Callable[[], None]) -> None:
        super().__init__(window)
        self._then: Callable[[], None] | None = then
        window.installEventFilter(self)
        QTimer.singleShot(_LONGEST_WAIT_MS, self, self._call)

    def cancel(self) -> None:
        """Call nothing any more."""
        self._then = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Wait for the request that paints, and let it paint."""
        if event.type() is QEvent.Type.UpdateRequest:
            watched.removeEventFilter(self)
            # A filter runs before its event is handled: the timer fires after the painting.
            QTimer.singleShot(0, self, self._call)
        return super().eventFilter(watched, event)

    def _call(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            then()


class Later(QObject):
    """Loads the modules and builds the views that the first frame does not need.

    ``done`` is emitted once all of them are there.

    Args:
        views: names of the modules that the views are made of, in the order of loading.
        build_views: makes the views of the window, one from one ``yield`` to the next.
        parent: owner.
    """

    done = Signal()

    def __init__(
        self, views: Sequence[str], build_views: Callable[[], Iterator[None]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._modules, self._build_views = views, build_views
        self._closed = False
        self._worker = SerialWorker("loader", self)

    def start(self) -> None:
        """Begin to load."""
        self._load_on_thread((*PLOTS, *CONTENT), self._views)

    def close(self) -> None:
        """Stop loading."""
        self._closed = True
        self._worker.close()

    def _views(self) -> Iterator[None]:
        yield from _loaded(self._modules)
        yield from self._build_views()
        self._load_on_thread(ENGINE, self._windows)

    def _windows(self) -> Iterator[None]:
        yield from _loaded(WINDOWS)
        self.done.emit()

    def _while_open(self, work: Iterator[None]) -> Iterator[None]:
        while not self._closed and next(work, _END) is not _END:
            yield

    def _load_on_thread(self, modules: Sequence[str], then: Callable[[], Iterator[None]]) -> None:
        def load(context: TaskContext) -> None:
            for _ in _loaded(modules):
                context.token.check()

        self._worker.submit(
            load,
            on_result=lambda _: in_turns(self._while_open(then()), self),
            on_error=lambda _: None,  # an import raises no error of ours
        )


def _loaded(modules: Sequence[str]) -> Iterator[None]:
    for name in modules:
        import_module(name)
        yield
