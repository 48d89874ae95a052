"""One start of a window, for ``benchmarks.window_start``: says when it can be used, and ends.

``python -m benchmarks.first_frame bare|ours``: a bare window of PySide6 with a pyqtgraph plot, or
the program's. A window can be used once its first frame is painted and its event loop has run what
was waiting. The line says which modules are loaded by then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

READY = "ready"


def bare() -> None:
    """Open a window with a plot and nothing else."""
    import pyqtgraph  # noqa: PLC0415 - the same
    from PySide6.QtWidgets import QApplication, QMainWindow  # noqa: PLC0415 - what is measured

    app = QApplication(sys.argv[:1])
    window = QMainWindow()
    plot = pyqtgraph.PlotWidget()
    plot.plot([1, 2, 3])
    window.setCentralWidget(plot)
    window.resize(1280, 800)
    _tell_when_painted(window)
    window.show()
    app.exec()


def ours() -> None:
    """Open the program's window as ``ctm-gui`` does without files."""
    import gc  # noqa: PLC0415 - what is measured

    gc.disable()
    from ctm_gui.application import Application  # noqa: PLC0415 - what is measured

    application = Application()
    _tell_when_painted(application.window)
    application.start()
    application.qt.exec()


def _tell_when_painted(window: object) -> None:
    from PySide6.QtCore import QEvent, QObject, QTimer  # noqa: PLC0415 - after the clock starts

    class Watch(QObject):
        def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
            if event.type() is QEvent.Type.UpdateRequest:  # the first frame is painted by it
                QTimer.singleShot(0, _tell)
            return False

    watch = Watch(window)  # type: ignore[call-overload]  # the window owns it
    window.installEventFilter(watch)  # type: ignore[attr-defined]


def _tell() -> None:
    roots = sorted({name.partition(".")[0] for name in sys.modules})
    print(READY, *roots, flush=True)
    os._exit(0)


WINDOWS: dict[str, Callable[[], None]] = {"bare": bare, "ours": ours}

if __name__ == "__main__":
    WINDOWS[sys.argv[1]]()
