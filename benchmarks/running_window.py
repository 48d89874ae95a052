"""The program's window for a measurement, with store and settings in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtWidgets import QApplication

from ctm_gui.application import Application

_SIZE = (1280, 800)


@contextmanager
def running_window(folder: Path) -> Iterator[Application]:
    """Give the started program, which is closed afterwards.

    Args:
        folder: of its files.
    """
    # The figures are of the program, not of a display.
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = Application(folder / "store.sqlite", folder / "settings.ini")
    app.workspace.machine.is_automatic = False  # it would disturb
    app.start()
    app.window.resize(*_SIZE)
    QApplication.processEvents()
    try:
        yield app
    finally:
        app.window.close()
        app.close()
