"""How long a keystroke in the HCV form takes: checks alone, with the form, and with painting."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from benchmarks.common import Figure, best_of, parse_arguments, report
from benchmarks.running_window import running_window
from ctm_gui.application import Application
from predictor.devices.form import check_form

KEYSTROKE_LIMIT_MS = 5.0
DEVICE = "rk3588-cpu"  # clusters and long sources: a full form
_WAIT_S = 60.0


def main() -> int:
    """Print the figures; return 1 when one exceeds its limit."""
    options = parse_arguments(__doc__, repeats=50)
    with tempfile.TemporaryDirectory() as name, running_window(Path(name)) as app:
        figures = _figures(app, options.repeats)
    title = "A keystroke in the form of a device"
    return report("device_form", title, figures, options.output)


def _figures(app: Application, repeats: int) -> list[Figure]:
    view = app.window.central.devices_view
    started = time.perf_counter()
    app.window.show_page("devices")
    while not view.is_built:
        QApplication.processEvents()
    QApplication.processEvents()
    build_ms = (time.perf_counter() - started) * 1e3
    view.show_device(DEVICE)
    view.header.duplicate_button.click()
    end = time.monotonic() + _WAIT_S
    while not view.form.editable and time.monotonic() < end:
        QApplication.processEvents()
    form = view.form
    return [
        _keystroke("check of every field", best_of(lambda: check_form(form.fields), repeats)),
        *_typing(app, "process_nm", repeats),
        *_typing(app, "clock_mhz", repeats),
        Figure("first look at the Devices tab: made and painted piece by piece", build_ms, "ms"),
    ]


def _typing(app: Application, metric: str, repeats: int) -> list[Figure]:
    """Return the usual time of typing a digit into a metric, and of painting what that changes."""
    field = app.window.central.devices_view.form_view.fields[metric].value
    field.setFocus()
    typed, painted = [], []
    for number in range(repeats):
        field.selectAll()
        QApplication.processEvents()
        started = time.perf_counter()
        QTest.keyClicks(field, str(number % 9 + 1))
        typed.append(time.perf_counter() - started)
        QApplication.processEvents()
        painted.append(time.perf_counter() - started - typed[-1])
    return [
        _keystroke(f"a digit in {metric}: check, undo step, every field", median(typed)),
        Figure(f"a digit in {metric}: layout and painting after it", median(painted) * 1e3, "ms"),
    ]


def _keystroke(what: str, seconds: float) -> Figure:
    return Figure(what, seconds * 1e3, "ms", KEYSTROKE_LIMIT_MS, "our target")


if __name__ == "__main__":
    sys.exit(main())
