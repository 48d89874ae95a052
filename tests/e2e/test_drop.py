"""The whole path on a real screen: files dropped on the window become dots and stored rows."""

from __future__ import annotations

import json
import os
import queue
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctm_gui.widgets.theme import LIGHT

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATIENCE_S = 60.0
SCREEN = "1600x1000x24"
GRIP = (80, 30)  # inside drag_source's window
# Devices of one class, so that no bar is too short to be found beside the others.
DEVICES = ("a100-pcie-40gb", "rtx4090", "tesla-t4")
SETTINGS = f"""[window]
theme=light
[targets]
chosen=true
selected={", ".join(DEVICES)}
"""
MISSING = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"a real drop needs {' and '.join(MISSING)}, which this machine has not"
)

Start = Callable[..., subprocess.Popen[str]]


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    """Poll until something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S:g} s in vain: {what}"
        time.sleep(0.05)


class Lines:
    """The lines that a process prints, as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        self.seen: list[str] = []
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put(line.strip())

    def has(self, wanted: str) -> bool:
        """Whether the process has printed the line by now."""
        while not self._lines.empty():
            self.seen.append(self._lines.get())
        return wanted in self.seen


@pytest.fixture
def display() -> Iterator[str]:
    """A screen of our own, with a number that the X server itself found free."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", SCREEN, "-nolisten", "tcp"],
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        number = pipe.readline().strip()
    assert number, "Xvfb did not start"
    yield f":{number}"
    server.terminate()
    server.wait()


@pytest.fixture
def start(display: str, tmp_path: Path) -> Iterator[Start]:
    """Start Python programs on that screen, with settings that make the picture known."""
    (tmp_path / "own-settings.ini").write_text(SETTINGS, encoding="utf-8")
    running: list[subprocess.Popen[str]] = []

    def start_python(*arguments: str | Path) -> subprocess.Popen[str]:
        environment = {**os.environ, "DISPLAY": display, "PYTHONPATH": str(ROOT)}
        environment["QT_QPA_PLATFORM"] = "xcb"
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start_python
    for process in reversed(running):
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def xdotool(display: str, *words: str) -> str:
    done = subprocess.run(
        ["xdotool", *words],
        env={**os.environ, "DISPLAY": display},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done.stdout


def drag(display: str, source: Lines, target: tuple[int, int]) -> None:
    """Press on the source, move to the target in small steps as a hand does, and let go.

    A drop is only taken where the window has said that it would; the pointer stays in motion there
    until it has.
    """
    xdotool(display, "mousemove", *map(str, GRIP), "mousedown", "1")
    for step in range(1, 41):
        x, y = (round(a + (b - a) * step / 40) for a, b in zip(GRIP, target, strict=True))
        xdotool(display, "mousemove", str(x), str(y))

    def accepted() -> bool:
        for offset in (3, 0):
            xdotool(display, "mousemove", str(target[0] + offset), str(target[1]))
        return source.has("over CopyAction")

    wait_until("the window takes the files", accepted)
    xdotool(display, "mouseup", "1")
    wait_until("the drop is taken", lambda: source.has("ended CopyAction"))


def stored_predictions(store: Path) -> int:
    if not store.exists():
        return 0
    connection = sqlite3.connect(store, timeout=PATIENCE_S)
    try:
        return int(connection.execute("SELECT count(*) FROM predictions").fetchone()[0])
    except sqlite3.OperationalError:  # the store is being made
        return 0
    finally:
        connection.close()


@pytest.mark.timeout(240)
def test_two_dropped_files_become_dots_and_rows(
    display: str,
    start: Start,
    own_store: Path,
    tmp_path: Path,
    mobilenet: Path,
    distilbert: Path,
) -> None:
    first, second = LIGHT.series[:2]

    def dots() -> dict[str, int]:
        """Return how many pixels have the colours of the first and the second model."""
        probe = start(HERE / "screen_colours.py", first, second, "--save", tmp_path / "screen.png")
        counts: dict[str, int] = json.loads(probe.communicate(timeout=PATIENCE_S)[0])
        return counts

    start("-m", "ctm_gui.app")
    wait_until(
        "the window is shown",
        lambda: bool(xdotool(display, "search", "--onlyvisible", "--name", "^CloserToMe$")),
    )
    source = Lines(start(HERE / "drag_source.py", mobilenet, distilbert))
    wait_until("the other program is shown", lambda: source.has("ready"))
    assert max(dots().values()) < 20, "no dots before the drop"

    drag(display, source, (800, 500))

    # A dot has about forty pixels, the one in the legend too; there are three targets.
    wait_until("dots of both models", lambda: min(dots().values()) > 120)
    wait_until("the rows", lambda: stored_predictions(own_store) >= 2 * len(DEVICES))
