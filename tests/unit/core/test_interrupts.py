"""Ctrl+C at the moments in which Python alone loses it or ends by the signal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import signal, sys, time
from predictor.core.interrupts import ignore_interrupts, raise_interrupts

class Swallowing:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

LOCKED = "whole = False; signal.raise_signal(signal.SIGINT); whole = True"
LOCKED = compile(LOCKED, "<frozen importlib._bootstrap>", "exec")
whole = True
{first}
raise_interrupts()
try:
    {work}
    time.sleep({rest})
except KeyboardInterrupt:
    sys.exit(130 if whole else 1)
"""


@pytest.mark.parametrize(
    ("first", "work", "rest", "code"),
    [
        ("", "exec('signal.raise_signal(signal.SIGINT)')", 0, 130),
        ("", "Swallowing()", 60, 130),
        ("", "exec(LOCKED)", 60, 130),
        ("", "ignore_interrupts(); Swallowing()", 0, 0),
        ("ignore_interrupts()", "Swallowing()", 0, 0),
    ],
    ids=["in exec", "in a callback", "in an import's lock", "after the work", "in the background"],
)
def test_an_interrupt_ends_the_work_by_its_exception(
    tmp_path: Path, first: str, work: str, rest: int, code: int
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(first=first, work=work, rest=rest))

    done = subprocess.run(
        [sys.executable, "-m", "program"],  # run as a file, Python does not end by the signal
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (code, "")
