"""A first command that is ended at many moments: the next one works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"
SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")

# Python runs it before our first line.
ENDING = """
import os, signal, sys

def end(event, arguments):
    name = arguments[0] if event == "import" else event
    if name == os.environ.get("MOMENT"):
        os.kill(os.getpid(), getattr(signal, os.environ.pop("SIGNAL")))
        os.environ.pop("MOMENT")

sys.addaudithook(end)
"""


@pytest.mark.parametrize(
    "moment", ["subprocess.Popen", "os.mkdir", "sqlite3.connect", "predictor.engine.closertome"]
)
@pytest.mark.parametrize("name", SIGNALS)
def test_a_first_command_that_is_ended_at_any_moment_leaves_the_next_one_whole(
    tmp_path: Path, ctm: Run, own_store: Path, moment: str, name: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(ENDING)
    command = ["predict", str(SAMPLE), "--device", "rpi5", "--json"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT))),
        "CTM_STORE": str(own_store),
        "MOMENT": moment,
        "SIGNAL": name,
    }

    ended = subprocess.run(
        [sys.executable, "-m", "predictor.cli", *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    done = ctm(*command)

    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert done.returncode == 0, done.stderr
    assert "ctm: " not in done.stderr
    assert json.loads(done.stdout)["predictions"][0]["latency_ms"] > 0
