"""A model of 10 000 operators in the window: opened, scrolled and sorted.

Opening is from the drop of the file to the table of operators on the screen. The longest gap is the
longest time in which the window takes no key, by a timer of 5 ms on its thread, less what it waited
for a processor, which Linux counts; the best of the repeats, since other programs only lengthen it.
On a busy machine the time that the thread itself computed in the busiest of these gaps says more.
Without a display Qt draws offscreen.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import QDeadlineTimer, QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from benchmarks.common import Figure, parse_arguments, report
from ctm_gui.application import Application
from ctm_gui.window.main_window import MainWindow
from predictor.services.prediction.engines import CLOSERTOME

OPERATORS = 10_000
OPEN_LIMIT_MS, STALL_LIMIT_MS = 2000.0, 50.0
_BEAT_MS, _WAIT_MS, _SCROLLS = 5, 60_000, 20
_SCHEDULED = Path("/proc/thread-self/schedstat")


class Heartbeat(QObject):
    """Measures the longest time between two beats of a timer, and the longest that it computed."""

    def __init__(self) -> None:
        super().__init__()
        self._timer = QTimer(self, interval=_BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin to measure."""
        self._longest = (0.0, 0.0)
        self._last = thread_times()
        self._timer.start()

    def read(self) -> tuple[float, float]:
        """Return the longest gap and the longest computing within one, in milliseconds."""
        self._beat()
        return self._longest

    def stop(self) -> None:
        """Measure no more."""
        self._timer.stop()

    def _beat(self) -> None:
        now = thread_times()
        gap, computed = ((b - a) * 1e3 for a, b in zip(self._last, now, strict=True))
        self._longest = (max(self._longest[0], gap), max(self._longest[1], computed))
        self._last = now


def thread_times() -> tuple[float, float]:
    """Return the time less what this thread waited for a processor, and what it computed, in s."""
    waited_ns = int(_SCHEDULED.read_bytes().split()[1]) if _SCHEDULED.exists() else 0
    return time.perf_counter() - waited_ns / 1e9, time.thread_time()


def write_chain(path: Path, operators: int = OPERATORS, width: int = 64) -> None:
    """Write a chain of matrix products."""
    weight = numpy_helper.from_array(np.ones((width, width), np.float32), "w")
    nodes = [
        helper.make_node("MatMul", [f"t{i}", "w"], [f"t{i + 1}"], name=f"block{i // 7}/product{i}")
        for i in range(operators)
    ]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])]
        for name in ("t0", f"t{operators}")
    ]
    graph = helper.make_graph(nodes, "chain", *ends, [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, path)


def main() -> int:
    """Take the figures and print them."""
    options = parse_arguments(__doc__, repeats=3)
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_chain(folder / "chain.onnx")
        rounds = [_round(folder, number) for number in range(options.repeats)]
    opened, gaps = [r[0] for r in rounds], [r[1] for r in rounds]
    figures = [
        Figure(f"{OPERATORS} operators: from the drop to the table", median(opened), "ms",
               OPEN_LIMIT_MS, "our target"),
        *(
            Figure(f"{what}: {kind}", min(gap[what][place] for gap in gaps), "ms",
                   STALL_LIMIT_MS, "our target")
            for what in gaps[0]
            for place, kind in enumerate(("longest gap", "computed in one gap"))
        ),
    ]  # fmt: skip
    notes = [f"Of {options.repeats} rounds: the median of opening, the best of the gaps."]
    title = f"A model of {OPERATORS} operators in the window"
    return report("large_model", title, figures, options.output, notes, CLOSERTOME)


def _round(folder: Path, number: int) -> tuple[float, dict[str, tuple[float, float]]]:
    app = Application(folder / f"store{number}.db", folder / f"window{number}.ini")
    app.workspace.machine.is_automatic = False  # it would disturb
    window = app.window
    window.resize(1280, 800)
    window.show_page("operators")
    app.start()
    heart = Heartbeat()
    heart.start()
    # The reader's process is there once it has read anything.
    window.open_paths([str(_small(folder))])
    wait_until(lambda: app.workspace.settled and bool(app.workspace.comparison.rows))
    heart.start()
    began = time.perf_counter()
    window.open_paths([str(folder / "chain.onnx")])
    wait_until(lambda: window.central.operators_view.table.model().rowCount() == OPERATORS)
    opened_ms = (time.perf_counter() - began) * 1e3
    gaps = {
        "open": heart.read(),
        "sort": _sorted(window, heart),
        "scroll": _scrolled(window, heart),
    }
    heart.stop()
    window.close()
    app.close()
    return opened_ms, gaps


def _sorted(window: MainWindow, heart: Heartbeat) -> tuple[float, float]:
    heart.start()
    for key in ("name", "latency", "share"):
        window.central.operators_view.table.sort_by(key)
        turns(20)
    return heart.read()


def _scrolled(window: MainWindow, heart: Heartbeat) -> tuple[float, float]:
    bar = window.central.operators_view.table.verticalScrollBar()
    heart.start()
    for step in range(_SCROLLS):
        bar.setValue(bar.maximum() * step // _SCROLLS)
        turns(10)
    return heart.read()


def _small(folder: Path) -> Path:
    path = folder / "small.onnx"
    write_chain(path, 2)
    return path


def turns(milliseconds: int) -> None:
    """Run the window's events for some time."""
    deadline = QDeadlineTimer(milliseconds)
    while not deadline.hasExpired():
        _next_event()


def wait_until(done: Callable[[], bool], limit_ms: int = _WAIT_MS) -> None:
    """Run the window's events until something is so."""
    deadline = QDeadlineTimer(limit_ms)
    while not done():
        if deadline.hasExpired():
            raise SystemExit(f"the window did not come to rest in {limit_ms / 1e3:.0f} s")
        _next_event()


def _next_event() -> None:
    # Sleeps until the next beat at most, as the program does: other threads have the processor.
    QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


if __name__ == "__main__":
    sys.exit(main())
