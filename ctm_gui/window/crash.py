"""Reports of defects: a dialog to copy them from and a log file; the window goes on."""

from __future__ import annotations

import sys
import threading
import traceback
from datetime import datetime
from pathlib import Path
from types import TracebackType

import platformdirs
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QWidget

from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import label, vbox
from predictor.core.files import is_file, is_there

_MAX_LOG_BYTES = 1_000_000


def log_path() -> Path:
    """Return the file that reports are appended to."""
    return platformdirs.user_log_path("closertome", appauthor=False) / "crash.log"


class CrashHandler(QObject):
    """Takes over the interpreter's exception hooks while installed.

    Args:
        window: parent of the dialog.
    """

    _reported = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._dialog: CrashDialog | None = None
        # Queued: a thread's report is shown on the window's thread, and a slot's after it returned.
        self._reported.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Report every exception that nothing handled."""
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception

    @staticmethod
    def uninstall() -> None:
        """Give the hooks back."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__

    def report(self, error: BaseException) -> str:
        """Write the report of a defect to the log and show it; returns its text."""
        text = _report(error)
        sys.stderr.write(text)
        _append(log_path(), text)
        self._reported.emit(text)
        return text

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            # 130 is the shell's code for a program ended by Ctrl+C (128 + SIGINT).
            sys.__excepthook__(kind, error, trace)
            QGuiApplication.exit(130)
            return
        self.report(error)

    def _on_thread_exception(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self.report(arguments.exc_value)

    def _show(self, text: str) -> None:
        # One dialog: a defect in painting would open hundreds.
        if self._dialog is None:
            self._dialog = CrashDialog(self._window)
            self._dialog.finished.connect(self._forget)
            self._dialog.open()
        self._dialog.add(text)

    def _forget(self) -> None:
        self._dialog = None


class CrashDialog(BaseDialog):
    """The report of a defect; the window goes on when it is closed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("A defect in CloserToMe", parent, (720, 420))
        heading = label(
            "Something went wrong that should not. Your models and results are still here. "
            "Please send this report to the developers; it holds no model data, but it may "
            "hold names of files."
        )
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setAccessibleName("Report")
        # A defect in painting repeats with every frame: memory must not grow with it.
        self._text.setMaximumBlockCount(2000)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy Report", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.report))
        buttons.rejected.connect(self.reject)
        place = label(f"It is also in {log_path()}.")
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        vbox(heading, self._text, place, buttons, of=self)

    @property
    def report(self) -> str:
        """The text that Copy Report copies."""
        return self._text.toPlainText()

    def add(self, text: str) -> None:
        """Add one more report."""
        self._text.appendPlainText(text)


def _report(error: BaseException) -> str:
    # Not before there is a defect: it reads what is installed.
    from ctm_gui.window.system_information import versions

    now = datetime.now().astimezone().isoformat(timespec="seconds")
    trace = "".join(traceback.format_exception(error))
    return f"--- {now}\n{versions()}\n\n{trace}\n"


def _append(path: Path, text: str) -> None:
    # A pipe would keep the window waiting for its reader.
    if is_there(path) and not is_file(path):
        sys.stderr.write(f"ctm-gui: the report could not be written: {path} is no file\n")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A defect that repeats must not fill the disk.
        mode = "w" if path.exists() and path.stat().st_size > _MAX_LOG_BYTES else "a"
        with path.open(mode, encoding="utf-8") as log:
            log.write(text)
    except OSError as failure:
        sys.stderr.write(f"ctm-gui: the report could not be written to {path}: {failure}\n")
