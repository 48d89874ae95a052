"""The ingestion worker as its parent sees it: lines in, lines out."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.model_files import model_of, relu_node, saved

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-P", "-m", "predictor.formats.worker", str(4 * 2**30), "60"]


def started(**options):
    """A worker that this test talks to itself."""
    return subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options,
    )


def test_the_child_says_when_it_is_ready_and_ends_with_its_input():
    out, err = started().communicate(b"")
    assert json.loads(out) == {"id": 0, "kind": "progress", "payload": {"message": "ready"}}
    assert err == b""


def test_the_child_answers_in_the_order_of_requests(tmp_path):
    path = saved(tmp_path / "m.onnx", model_of([relu_node()]))
    request = {"bindings": {}, "batch": None, "shapes": {}}
    lines = [
        json.dumps({"id": 1, "path": str(path), **request}),
        json.dumps({"id": 2, "path": str(tmp_path), **request}),
    ]
    out, _ = started().communicate("\n".join(lines).encode())
    answers = [json.loads(line) for line in out.splitlines()]
    assert [(a["id"], a["kind"]) for a in answers] == [(0, "progress"), (1, "result"), (2, "error")]


def test_modules_in_the_users_folder_are_not_imported(tmp_path):
    for name in ("onnx", "numpy", "json", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    process = started(cwd=tmp_path)
    assert b"ready" in process.communicate(b"")[0]
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX alarms")
def test_an_orphan_in_an_endless_loop_ends_by_its_alarm():
    code = "from predictor.formats.worker import set_alarm; set_alarm(1)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGALRM


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_memory_is_limited_for_libraries_too():
    code = (
        "from predictor.formats.worker import limit_memory; import numpy; limit_memory(2**30);"
        "numpy.empty(2**30, numpy.uint8)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "MemoryError" in done.stderr
