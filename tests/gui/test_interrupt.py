"""Ctrl+C in the terminal that the window was started from."""

from __future__ import annotations

import signal
import subprocess
import sys

from ctm_gui.event_loop import InterruptWatch

# An idle loop runs no Python: only the wake-up lets the handler run. The timer ends a failed run.
IDLE = """
import sys
from PySide6.QtCore import QCoreApplication, QTimer
from ctm_gui.event_loop import InterruptWatch

app = QCoreApplication([])
watch = InterruptWatch(lambda: app.exit(7))
QTimer.singleShot(0, lambda: print("idle", flush=True))
QTimer.singleShot(30_000, lambda: app.exit(1))
code = app.exec()
watch.stop()
sys.exit(code)
"""


def test_an_interrupt_reaches_an_idle_loop():
    with subprocess.Popen([sys.executable, "-c", IDLE], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"idle\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 7


def test_what_had_the_signal_has_it_again_afterwards(qapp):
    before = signal.getsignal(signal.SIGINT)
    watch = InterruptWatch(lambda: None)
    assert signal.getsignal(signal.SIGINT) is not before
    watch.stop()
    assert signal.getsignal(signal.SIGINT) is before
