"""Ctrl+C in the terminal that the window was started from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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


# Python runs it before our first line: Qt is being loaded when the signal comes.
LOADING = """
import os, signal, sys

def interrupt(event, arguments):
    if event == "import" and arguments[0] == "PySide6.QtWidgets":
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(interrupt)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no end by a signal")
def test_an_interrupt_ends_a_window_that_is_being_loaded(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LOADING)
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).resolve().parents[2])])
    done = subprocess.run(
        [sys.executable, "-m", "ctm_gui.app"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_what_had_the_signal_has_it_again_afterwards(qapp):
    before = signal.getsignal(signal.SIGINT)
    watch = InterruptWatch(lambda: None)
    assert signal.getsignal(signal.SIGINT) is not before
    watch.stop()
    assert signal.getsignal(signal.SIGINT) is before
