"""A quarter of a minute of random actions in a window of its own: nothing is raised."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_random_actions_raise_nothing() -> None:
    seed = random.randrange(10**6)  # noqa: S311 - no secret
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.soak", "--minutes", "0.25", "--seed", str(seed)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"--seed {seed}\n{done.stdout}\n{done.stderr[-3000:]}"
    assert "Actions: " in done.stdout
