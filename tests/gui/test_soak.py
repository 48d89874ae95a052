"""A quarter of a minute of random actions in a window of its own: nothing is raised.

The seed is fixed, so that a change is judged by itself; ``benchmarks.soak`` draws other ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEED = "852591"


@pytest.mark.long
def test_random_actions_raise_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.soak", "--minutes", "0.25", "--seed", SEED],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"--seed {SEED}\n{done.stdout}\n{done.stderr[-3000:]}"
    assert "Actions: " in done.stdout
