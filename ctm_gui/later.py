"""Modules that the first frame does not need: they are loaded when it is on the screen.

The engine's are loaded on a thread of their own, those with widgets one a turn of the event loop:
what the user asks for next opens at once, and the window starts without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from PySide6.QtCore import QObject

from ctm_gui.tasks.serial import SerialWorker, TaskContext
from ctm_gui.views.turns import in_turns

ENGINE = (
    "predictor.services.probing",
    "predictor.services.probing_plan",
    "predictor.services.probing_import",
    "predictor.services.report.build",
)
WINDOW = (
    "ctm_gui.views.palette",
    "ctm_gui.views.help_window",
    "ctm_gui.views.settings_dialog",
    "ctm_gui.presenters.probing_results",
    "ctm_gui.presenters.probing_progress",
    "ctm_gui.presenters.probing_plan",
    "ctm_gui.presenters.probing_run",
    "ctm_gui.presenters.probing",
    "ctm_gui.wizard.target_page",
    "ctm_gui.wizard.plan_page",
    "ctm_gui.wizard.measure_page",
    "ctm_gui.wizard.result_page",
    "ctm_gui.wizard.window",
    "ctm_gui.presenters.report",
    "ctm_gui.views.page_preview",
    "ctm_gui.views.report_dialog",
)


class Later(QObject):
    """Loads what is needed later."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._worker = SerialWorker("loader", self)

    def start(self) -> None:
        """Begin to load."""
        self._worker.submit(
            _load_engine,
            on_result=lambda _: in_turns(_load(WINDOW), self),
            on_error=lambda _: None,  # an import raises no error of ours
        )

    def close(self) -> None:
        """Stop loading."""
        self._worker.close()


def _load_engine(context: TaskContext) -> None:
    for _ in _load(ENGINE):
        context.token.check()


def _load(modules: tuple[str, ...]) -> Iterator[None]:
    for name in modules:
        import_module(name)
        yield
