"""Loading of everything that the first frame does not need, once that is on the screen.

Modules without widgets are loaded on a thread, those with widgets and the views themselves one a
turn of the event loop: the window starts without them and goes on while they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from PySide6.QtCore import QEvent, QObject, QTimer, Signal

from ctm_gui.tasks.serial import SerialWorker, TaskContext
from ctm_gui.views.turns import in_turns

_LONGEST_WAIT_MS = 500
_END = object()
PLOTS = ("pyqtgraph",)
VIEWS = (
    "ctm_gui.views.latency_chart",
    "ctm_gui.presenters.variants",
    "ctm_gui.presenters.past_tables",
    "ctm_gui.views.compare_view",
    "ctm_gui.presenters.difference",
    "ctm_gui.views.matrix_view",
    "ctm_gui.views.pareto_view",
    "ctm_gui.views.difference_view",
    "ctm_gui.views.operators_view",
    "ctm_gui.views.attention_map",
    "ctm_gui.views.attention_view",
    "ctm_gui.views.device_form",
    "ctm_gui.views.devices_view",
    "ctm_gui.views.truth_plot",
    "ctm_gui.views.history_view",
    "ctm_gui.views.central_views",
)
ENGINE = (
    "predictor.services.probing.open",
    "predictor.services.probing.measure",
    "predictor.services.probing.plan",
    "predictor.services.probing.imports",
)
WINDOWS = (
    "ctm_gui.views.palette",
    "ctm_gui.views.help_window",
    "ctm_gui.views.settings_dialog",
    "ctm_gui.presenters.probing.results",
    "ctm_gui.presenters.probing.shelf",
    "ctm_gui.presenters.probing.progress",
    "ctm_gui.presenters.probing.plan",
    "ctm_gui.presenters.probing.run",
    "ctm_gui.presenters.probing.fine_tuning",
    "ctm_gui.presenters.probing.presenter",
    "ctm_gui.wizard.target_page",
    "ctm_gui.wizard.plan_page",
    "ctm_gui.wizard.measure_page",
    "ctm_gui.wizard.dialogs",
    "ctm_gui.wizard.result_page",
    "ctm_gui.wizard.window",
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
        build_views: makes the views of the window, one from one ``yield`` to the next.
        parent: owner.
    """

    done = Signal()

    def __init__(self, build_views: Callable[[], Iterator[None]], parent: QObject) -> None:
        super().__init__(parent)
        self._build_views = build_views
        self._closed = False
        self._worker = SerialWorker("loader", self)

    def start(self) -> None:
        """Begin to load."""
        self._load_on_thread(PLOTS, self._views)

    def close(self) -> None:
        """Stop loading."""
        self._closed = True
        self._worker.close()

    def _views(self) -> Iterator[None]:
        yield from _loaded(VIEWS)
        yield from self._build_views()
        self._load_on_thread(ENGINE, self._windows)

    def _windows(self) -> Iterator[None]:
        yield from _loaded(WINDOWS)
        self.done.emit()

    def _while_open(self, work: Iterator[None]) -> Iterator[None]:
        while not self._closed and next(work, _END) is not _END:
            yield

    def _load_on_thread(self, modules: tuple[str, ...], then: Callable[[], Iterator[None]]) -> None:
        def load(context: TaskContext) -> None:
            for _ in _loaded(modules):
                context.token.check()

        self._worker.submit(
            load,
            on_result=lambda _: in_turns(self._while_open(then()), self),
            on_error=lambda _: None,  # an import raises no error of ours
        )


def _loaded(modules: tuple[str, ...]) -> Iterator[None]:
    for name in modules:
        import_module(name)
        yield
