"""The window never stalls: the largest gap of a heartbeat on its thread while models load."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QTimer
from pytestqt.qtbot import QtBot

from ctm_gui.application import Application
from ctm_gui.presenters.workspace import Workspace
from ctm_gui.views.main_window import OPERATORS_TAB, MainWindow
from predictor.core.resources import resources_dir

BEAT_MS = 5
LIMIT_MS = 50.0
ATTEMPTS = 3
LARGE = 10_000


class Heartbeat(QObject):
    """Measures the longest time between two beats of a precise timer."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_ms = 0.0
        self._last = 0.0
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        self.longest_ms, self._last = 0.0, time.perf_counter()
        self._timer.start()

    def stop(self) -> float:
        self._beat()
        self._timer.stop()
        return self.longest_ms

    def _beat(self) -> None:
        now = time.perf_counter()
        self.longest_ms = max(self.longest_ms, (now - self._last) * 1e3)
        self._last = now


@pytest.fixture
def application(qtbot: QtBot, tmp_path: Path) -> Iterator[Application]:
    interval = sys.getswitchinterval()
    application = Application(tmp_path / "store.db", tmp_path / "window.ini")
    qtbot.addWidget(application.window)
    yield application
    application.close()
    sys.setswitchinterval(interval)
    gc.unfreeze()


@pytest.mark.timing
def test_the_heartbeat_sees_a_blocked_thread(qtbot: QtBot) -> None:
    heart = Heartbeat()
    heart.start()
    QTimer.singleShot(20, lambda: time.sleep(0.08))
    qtbot.waitUntil(lambda: heart.longest_ms >= 80.0)
    assert heart.stop() >= 80.0


@pytest.mark.timing
@pytest.mark.parametrize("tab", [0, OPERATORS_TAB], ids=["compare", "operators"])
def test_dropping_models_never_stalls_the_window(
    qtbot: QtBot,
    application: Application,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    drop_files: Callable[[MainWindow, list[Path]], None],
    tab: int,
) -> None:
    files = [
        make_model("large.onnx", layers=LARGE),
        *sorted((resources_dir() / "samples").glob("*.onnx")),
        *(make_model(f"small/{number}.onnx") for number in range(20)),
    ]
    assert len(files) > 21
    window, workspace = application.window, application.workspace
    window.resize(1280, 800)
    window.show_tab(tab)
    application.start()
    qtbot.waitExposed(window)
    heart = Heartbeat()
    longest: list[float] = []
    for _ in range(ATTEMPTS):
        heart.start()
        drop_files(window, files)
        qtbot.waitUntil(lambda: len(workspace.shelf.entries) == len(files))
        settle(workspace)
        if tab == OPERATORS_TAB:
            qtbot.waitUntil(lambda: window.explanation.settled)
        longest.append(heart.stop())
        assert len(workspace.comparison.rows) == len(files) * len(workspace.selection.selected)
        workspace.shelf.remove(range(len(files)))
        settle(workspace)
        if longest[-1] < LIMIT_MS:
            break
    assert min(longest) < LIMIT_MS, f"the window stood still for {longest} ms"
