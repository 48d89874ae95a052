"""How long the window takes from the start of its process until it can be used.

The limit is 1.25 times a bare window of PySide6 with a pyqtgraph plot, started in turns with ours
in this run, so that what else the machine does weighs on both. Each start is a process of its own
with an empty store and no settings; without a display Qt draws offscreen.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.common import Figure, parse_arguments, report
from benchmarks.first_frame import READY, WINDOWS

TIMES = 1.25
LATE = {"onnx", "onnxruntime", "torch"}


def start(which: str, folder: Path) -> tuple[float, set[str]]:
    """Start a window; return the seconds until it can be used and the modules it has loaded."""
    environment = {
        **os.environ,
        "CTM_STORE": str(folder / "store.db"),
        "CTM_SETTINGS": str(folder / "window.ini"),
    }
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        environment["QT_QPA_PLATFORM"] = "offscreen"
    command = [sys.executable, "-m", "benchmarks.first_frame", which]
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it is piped
        words = process.stdout.readline().split()
        seconds = time.perf_counter() - began
    if words[:1] != [READY]:
        raise SystemExit(f"the {which} window did not open")
    return seconds, set(words[1:])


def main() -> int:
    """Start both windows in turns and print the figures."""
    options = parse_arguments(__doc__)
    seconds: dict[str, list[float]] = {which: [] for which in WINDOWS}
    loaded: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        start("ours", Path(folder))  # compiles and warms the file cache
        for _ in range(options.repeats):
            for which, times in seconds.items():
                spent, modules = start(which, Path(folder))
                times.append(spent)
                loaded |= modules
    bare, ours = (median(seconds[which]) for which in ("bare", "ours"))
    ratios = [b / a for a, b in zip(seconds["bare"], seconds["ours"], strict=True)]
    figures = [
        Figure("bare PySide6 + pyqtgraph window", bare * 1e3, "ms"),
        Figure("our window", ours * 1e3, "ms"),
        Figure("ours / bare, median of the turns", median(ratios), "", TIMES, "our target"),
        Figure("ours / bare, best of each", min(seconds["ours"]) / min(seconds["bare"]), ""),
    ]
    early = ", ".join(sorted(LATE & loaded)) or "none"
    notes = [
        f"Medians of {options.repeats} starts each, taken in turns.",
        f"Of {', '.join(sorted(LATE))}, loaded by the first frame: {early}.",
    ]
    title = "From start to a usable window"
    code = report("window_start", title, figures, options.output, notes)
    return 1 if LATE & loaded else code


if __name__ == "__main__":
    sys.exit(main())
