"""The composition root: settings, catalogue, reader, store and window are put together here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QFontDatabase, QIcon
from PySide6.QtWidgets import QApplication

from ctm_gui import settings as table
from ctm_gui.event_loop import GarbageTimer, InterruptWatch
from ctm_gui.later import FirstFrame, Later
from ctm_gui.settings import Settings, remembered_theme, settings_path
from ctm_gui.tasks.turns import NextTurn, in_turns
from ctm_gui.widgets.theme import ThemeChoice, chosen_theme
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.window.crash import CrashHandler
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.messages import LogMessages
from ctm_gui.window.pages import modules_of
from ctm_gui.window.session import remembered_options, restore_language, restore_models
from ctm_gui.window.workspace import Workspace
from predictor.core import left_over
from predictor.core.errors import HostError
from predictor.core.memory import keep_heap_small
from predictor.core.resources import resources_dir
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.models.ingestion import IngestionWorker

if TYPE_CHECKING:
    from ctm_gui.probing.presenter import ProbingPresenter
    from ctm_gui.probing.wizard import ProbingWizard
    from ctm_gui.report.dialog import ReportDialog
    from predictor.services.history.history import History

_SWITCH_INTERVAL_S = 0.0005


class Application:
    """The running program; one a process.

    Args:
        store: the store's file; None for ``CTM_STORE`` or the user's own.
        settings_file: the settings' file; None for ``CTM_SETTINGS`` or the user's own.
    """

    def __init__(self, store: Path | None = None, settings_file: Path | None = None) -> None:
        running = QApplication.instance()
        self.qt = running if isinstance(running, QApplication) else QApplication(sys.argv[:1])
        keep_heap_small()
        self._set_up_qt()
        self.settings = Settings(settings_file or settings_path())
        # An empty list alone does not tell a first start from a user who unticked every device.
        chosen = self.settings.get(table.TARGETS_CHOSEN)
        self._ingestion = IngestionWorker()
        self.workspace = Workspace(
            load_catalogue(),
            self.settings.get(table.TARGETS) if chosen else None,
            self._ingestion,
            partial(_open_history, store),
            store,
        )
        self.workspace.machine.is_automatic = self.settings.get(table.MEASURE)
        self._left_over = LogMessages(left_over.LOG, self.workspace.messages)
        self.options = remembered_options(self.settings)
        self.window = MainWindow(self.workspace, self.settings, self.options, is_late=True)
        self.options.setParent(self.window)
        self._store = store
        self._first_frame: FirstFrame | None = None
        self._later = Later(modules_of(self.window.pages), self.window.build_views, self.window)
        self._probing: ProbingPresenter | None = None
        self.wizard: ProbingWizard | None = None
        self.report: ReportDialog | None = None
        self._page_turn = NextTurn(partial(self.window.tabs.setUpdatesEnabled, True), self.window)
        self.window.theme_chosen.connect(self.use_theme)
        self.window.probing_requested.connect(self.open_wizard)
        self.window.report_requested.connect(self.open_report)
        self._theme_news = self.qt.styleHints().colorSchemeChanged.connect(self._on_system_theme)
        self.use_theme(remembered_theme(self.settings))

    def run(self, models: Sequence[str]) -> int:
        """Show the window, open ``models``, and return the exit code once it is closed."""
        crash = CrashHandler(self.window)
        crash.install()
        interrupt = InterruptWatch(self.window.close)
        self.start(models)
        try:
            return self.qt.exec()
        finally:
            self.close()
            interrupt.stop()
            crash.uninstall()

    def close(self) -> None:
        """Stop all work; the store is closed and the child process has ended afterwards."""
        # Qt's style hints outlive the window: their news would reach one that is deleted.
        QObject.disconnect(self._theme_news)
        if self._first_frame is not None:
            self._first_frame.cancel()
        self._later.close()
        if self._probing is not None:
            self._probing.close()
        if self.report is not None:
            self.report.stop()
        self.workspace.close()
        self._left_over.close()
        # After the workspace, whose reader's thread waits for this child.
        self._ingestion.close()

    def start(self, models: Sequence[str] = ()) -> None:
        """Show the window; background work starts right after its first frame."""
        garbage = GarbageTimer(self.window)
        self._later.done.connect(garbage.keep_all)
        self._first_frame = FirstFrame(self.window, partial(self._read_devices, tuple(models)))
        self.window.show()

    def use_theme(self, choice: ThemeChoice) -> None:
        """Draw everything in the chosen theme."""
        theme = chosen_theme(self.qt, choice)
        if self.window.isVisible():
            # The page in a later turn: to paint all of the window at once would stall it.
            self.window.tabs.setUpdatesEnabled(False)
            self._page_turn.start()
        apply_theme(self.qt, theme)
        self.options.set_theme(theme)

    def open_wizard(self) -> ProbingWizard:
        """Show the probing wizard beside the window; it is built when it is first asked for."""
        if self.wizard is None:
            # Loaded since the first frame, see ctm_gui.later.
            from ctm_gui.probing.presenter import ProbingPresenter
            from ctm_gui.probing.wizard import ProbingWizard

            self._probing = ProbingPresenter(self._store, self.workspace)
            self.wizard = ProbingWizard(self.options, self._probing, self.window)
        self.wizard.show()
        self.wizard.activateWindow()
        return self.wizard

    def open_report(self) -> ReportDialog:
        """Show the report of the present comparison; its dialog is built at the first call."""
        # Loaded since the first frame, see ctm_gui.later.
        from ctm_gui.report.dialog import ReportDialog
        from ctm_gui.report.presenter import ReportPresenter

        if self.report is None:
            presenter = ReportPresenter(self.workspace.recorder, self.window)
            folder = self.settings.get(table.FOLDER)
            self.report = ReportDialog(self.options, presenter, folder, self.window)
        in_turns(self._showing_report(self.report), self.report)
        return self.report

    def _showing_report(self, dialog: ReportDialog) -> Iterator[None]:
        """Show the dialog and begin the report, the window's other events in between."""
        from ctm_gui.report.presenter import ReportSubject

        dialog.show()
        dialog.activateWindow()
        yield
        dialog.show_subject(
            ReportSubject(
                comparison=self.workspace.comparison,
                unit=self.options.unit,
                budget_ms=self.options.budget_ms,
                language=self.workspace.language.runs(),
                chosen=self.window.central.explanation.chosen,
                load=self.window.central.load.answer,
            )
        )

    def _read_devices(self, models: Sequence[str]) -> None:
        """Read the files of the devices, which all else asks for, off the window's thread."""
        catalogue, messages = self.workspace.selection.catalogue, self.workspace.messages
        self.workspace.layouter.submit(
            lambda _: catalogue.devices,
            on_result=lambda _: self._start_work(models),
            on_error=messages.error,
        )

    def _start_work(self, models: Sequence[str]) -> None:
        self.window.targets_panel.fill()
        self.workspace.start()
        self._later.start()
        left_over.remove_noted()
        try:
            self.settings.check_writable()
        except HostError as error:
            self.workspace.messages.error(error)
        if models:
            self.window.open_paths(models)
        else:
            restore_models(self.workspace.shelf, self.settings)
            restore_language(self.workspace, self.settings)

    def _on_system_theme(self) -> None:
        if remembered_theme(self.settings) is ThemeChoice.SYSTEM:
            self.use_theme(ThemeChoice.SYSTEM)

    def _set_up_qt(self) -> None:
        # Each time that Qt hands the window's thread back to Python it waits for the interpreter,
        # up to this long while another thread computes: the usual 5 ms add up to a stall.
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        self.qt.setApplicationName("CloserToMe")
        # Wayland takes the window's icon from the desktop file of this name.
        self.qt.setDesktopFileName("closertome")
        self.qt.setStyle("Fusion")
        self.qt.setWindowIcon(QIcon(str(resources_dir() / "icons" / "closertome.svg")))
        if not QFontDatabase.families():
            # Without any font Qt draws empty boxes and says nothing.
            font = resources_dir() / "fonts" / "DejaVuSans.ttf"
            QFontDatabase.addApplicationFont(str(font))


def _open_history(store: Path | None) -> History:
    from predictor.services.history.history import open_history

    return open_history(store)
