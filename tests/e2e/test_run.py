"""The README's first command as a process, where its set-up stands (``python3 run.py test``)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / ".venv" / "closertome-setup.json").exists(),
    reason="this checkout was not set up by run.py",
)


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *map(str, arguments)],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_environment_has_the_versions_of_the_lock() -> None:
    stamp = json.loads((ROOT / ".venv" / "closertome-setup.json").read_text("utf-8"))
    for name in ("setup", "base", *stamp["extras"]):
        lines = (ROOT / "packaging" / "lock" / f"{name}.txt").read_text("utf-8").splitlines()
        for line in lines:
            if line[:1] in {"#", " "}:
                continue
            pin = Requirement(line.rstrip(" \\"))
            if pin.marker is None or pin.marker.evaluate():
                assert pin.specifier.contains(version(pin.name)), line


def test_without_a_display_the_comparison_of_the_samples_is_text() -> None:
    done = run()

    assert done.returncode == 0, done.stderr
    assert "There is no display" in done.stderr
    assert "setting up" not in done.stderr, "a second start does no set-up work"
    for name in ("mobilenetv2-1.0-224.onnx: ", "distilbert-base.onnx: "):
        assert name in done.stdout
    assert " from specs" in done.stdout or " calibrated" in done.stdout


def test_a_display_that_does_not_answer_is_said_and_ends_in_no_signal(mobilenet: Path) -> None:
    done = run(mobilenet, DISPLAY=":65000")

    assert done.returncode == 0, done.stderr
    assert "The display :65000 does not answer" in done.stderr
    assert "distilbert" not in done.stdout


def test_a_file_that_is_no_model_has_the_exit_code_of_the_command(tmp_path: Path) -> None:
    assert run(tmp_path / "none.onnx").returncode == 2
