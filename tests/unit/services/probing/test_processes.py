"""What probing loads, whom it talks to and what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.child_modules import NO_NETWORK, modules_after

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]

RUN = """
from pathlib import Path
from predictor.services.probing.measure import measure
from predictor.services.probing.open import open_probing
from predictor.probing.measuring.local import LocalRunner
from tests.support.probe_sessions import small_plan
with open_probing(Path({store!r})) as probing:
    session = probing.sessions.start(small_plan(1))
    events = list(measure(probing.sessions, session.id, LocalRunner()))
    assert probing.sessions.get(session.id).state == "finished", events
"""


SERVICES = ("build", "events", "imports", "kits", "measure", "open", "plan", "runners", "sessions")


def test_services_load_no_torch_no_onnx_no_ssh_and_no_window() -> None:
    names = ", ".join(f"predictor.services.probing.{service}" for service in SERVICES)
    loaded = modules_after(f"import {names}")
    assert "predictor" in loaded
    assert loaded.isdisjoint({"torch", "onnx", "onnxruntime", "asyncssh", "PySide6", "pyqtgraph"})


@pytest.mark.parametrize(
    ("arguments", "left_alone"),
    [
        # What a plan is expected to bring comes from the engine, which onnxruntime runs.
        (["plan", "--device", "rpi5", "--probes", "2"], {"torch", "onnx", "asyncssh"}),
        (["list"], {"torch", "onnx", "onnxruntime", "asyncssh"}),
    ],
)
def test_a_plan_and_a_list_leave_onnx_alone(
    tmp_path: Path, arguments: list[str], left_alone: set[str]
) -> None:
    store = ["--store", str(tmp_path / "store.db")]
    command = ["--quiet", *store, "probe", *arguments]
    loaded = modules_after(f"from predictor.cli.program import main; assert main({command!r}) == 0")
    assert loaded.isdisjoint(left_alone)


def test_measuring_uses_no_network_and_leaves_its_store_only(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("home", "cwd", "tmp", "store", "marks", "site")}
    for folder in folders.values():
        folder.mkdir()
    (folders["site"] / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folders["home"]),
        "USERPROFILE": str(folders["home"]),
        "TMPDIR": str(folders["tmp"]),
        "PYTHONPATH": os.pathsep.join([str(folders["site"]), str(ROOT)]),
        "CTM_TEST_MARKS": str(folders["marks"]),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(store=str(folders["store"] / "store.db"))],
        cwd=folders["cwd"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    marks = {path.name for path in folders["marks"].iterdir()}
    assert "broken" not in marks
    # The program, the builder of networks, the runner, two blocks, the sentinel's two.
    assert len(marks) == 7
    for name in ("home", "cwd", "tmp"):
        assert list(folders[name].rglob("*")) == [], name
    assert {path.name for path in folders["store"].iterdir()} == {"store.db"}
