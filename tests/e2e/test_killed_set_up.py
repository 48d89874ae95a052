"""A set-up by run.py that is ended: its programs never write beside those of the next start."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a lock is inherited on POSIX")

# In place of Python's venv and pip: the work is done by a child, as ensurepip does venv's, and
# takes until the file "go" is there.
STEP = """
import os, pathlib, subprocess, sys, time

place, name = pathlib.Path(__file__).parent, pathlib.Path(__file__).stem

def note(what):
    with (place / "journal").open("a") as journal:
        journal.write(f"{name} {os.getpid()} {what}\\n")

if sys.argv[-1] != "work":
    sys.exit(subprocess.call([sys.executable, __file__, *sys.argv[1:], "work"]))
note("starts")
while os.environ["SLOW"] == name and not (place / "go").exists():
    time.sleep(0.02)
if name == "venv":
    programs = pathlib.Path(sys.argv[-2]) / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "python").unlink(missing_ok=True)
    (programs / "python").symlink_to(sys.executable)
note("ends")
"""


class Checkout:
    """A checkout of run.py alone, whose set-up and program are written down in a journal."""

    def __init__(self, place: Path, slow: str) -> None:
        self.place = place
        shutil.copy(ROOT / "run.py", place)
        (place / "pyproject.toml").touch()
        (place / "stubs" / "predictor").mkdir(parents=True)
        (place / "packaging" / "lock").mkdir(parents=True)
        for name in ("venv", "pip"):
            (place / "stubs" / f"{name}.py").write_text(STEP)
        (place / "stubs" / "predictor" / "__init__.py").touch()
        (place / "stubs" / "predictor" / "cli.py").write_text("print('predicted')\n")
        unset = {"DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH"}
        self.environment = {name: os.environ[name] for name in os.environ.keys() - unset}
        self.environment |= {"PYTHONPATH": str(place / "stubs"), "SLOW": slow}

    def start(self) -> subprocess.Popen[str]:
        """Start run.py; stderr goes into a file, because a killed start leaves its pipe open."""
        with (self.place / "said").open("a") as said:
            return subprocess.Popen(
                [sys.executable, str(self.place / "run.py"), "model.onnx"],
                cwd=self.place,  # before PYTHONPATH for a module by its name
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )

    def journal(self) -> list[list[str]]:
        """Return name, process and event of all steps in their order."""
        path = self.place / "stubs" / "journal"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def starts_of(self, name: str) -> int:
        """Return how often a step was started."""
        return sum(step == name and event == "starts" for step, _, event in self.journal())

    def said(self) -> str:
        """Return what all starts said."""
        return (self.place / "said").read_text()


def wait_for(holds: Callable[[], bool]) -> None:
    """Poll until something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("step", ["venv", "pip"])
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_start_after_one_that_was_ended_in_its_set_up_has_it_alone_and_works(
    tmp_path: Path, step: str, number: signal.Signals, code: int
) -> None:
    checkout = Checkout(tmp_path, slow=step)
    first = checkout.start()
    wait_for(lambda: checkout.starts_of(step) == 1)
    ended_steps = len(checkout.journal()) - 1

    first.send_signal(number)
    with first:
        assert first.wait(PATIENCE_S) == code
    second = checkout.start()
    wait_for(lambda: "waiting" in checkout.said() or checkout.starts_of("venv") > 1)
    (tmp_path / "stubs" / "go").touch()
    output, _ = second.communicate(timeout=PATIENCE_S)

    assert (second.returncode, output) == (0, "predicted\n"), checkout.said()
    assert "Traceback" not in checkout.said()
    assert ("waiting" in checkout.said()) is (number == signal.SIGKILL)
    # A program that was killed with its start does not end; all that go on are one at a time.
    steps = checkout.journal()
    if number != signal.SIGKILL:
        del steps[ended_steps]
    assert [event for _, _, event in steps] == ["starts", "ends"] * (len(steps) // 2)
    assert [a[1] for a in steps[::2]] == [a[1] for a in steps[1::2]]
    assert steps[-1][0] == "pip"
