"""What a real process loads, whom it talks to and what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.child_modules import NO_NETWORK, ROOT, modules_after, run_python

SAMPLE = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"


SERVICES = (
    "models",
    "prediction.predict",
    "devices.catalogue",
    "history.history",
    "prediction.variants",
)


def test_services_load_no_torch_no_onnx_and_no_window() -> None:
    names = ", ".join(f"predictor.services.{service}" for service in SERVICES)
    loaded = modules_after(f"import {names}")

    assert "predictor" in loaded
    assert loaded.isdisjoint({"torch", "onnx", "onnxruntime", "PySide6", "pyqtgraph", "google"})


def test_a_prediction_leaves_onnx_to_the_worker_and_torch_to_training(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    command = ["--quiet", "--store", str(store), "predict", str(SAMPLE), "--all"]

    loaded = modules_after(f"from predictor.cli.program import main; assert main({command!r}) == 0")

    assert "sqlite_utils" in loaded  # it makes the store
    assert loaded.isdisjoint({"torch", "onnx", "onnxruntime", "PySide6", "pyqtgraph", "google"})


def test_a_prediction_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    command = ["--quiet", "--store", str(store), "predict", str(SAMPLE), "--all", "--json"]
    run = f"from predictor.cli.program import main; assert main({command!r}) == 0"
    modules_after(run)

    loaded = modules_after(run, whole=True)

    assert "predictor.engine.targets.prepared" in loaded
    unneeded = ("sqlite_utils", "predictor.language", "predictor.services.project", "psutil")
    assert [name for name in loaded if name.startswith(unneeded)] == []


def test_inspecting_a_model_loads_no_engine() -> None:
    command = ["inspect", str(SAMPLE), "--quiet"]

    loaded = modules_after(
        f"from predictor.cli.program import main; assert main({command!r}) == 0", whole=True
    )

    assert "predictor.services.models.inspection" in loaded
    assert [name for name in loaded if name.startswith("predictor.engine")] == []


def test_the_reader_is_started_before_anything_else_is_loaded() -> None:
    loaded = modules_after("import predictor.cli.ahead", whole=True)

    ours = {name for name in loaded if name.startswith("predictor.") and name.count(".") > 1}
    models = "predictor.services.models"
    assert ours == {
        "predictor.cli.ahead",
        "predictor.core.child_start",
        "predictor.formats.suffixes",
        models,
        f"{models}.reader",
    }
    assert loaded.isdisjoint({"typing", "dataclasses", "argparse", "pathlib", "logging"})


def test_the_roofline_loads_no_network(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    command = ["--quiet", "--store", str(store), "predict", str(SAMPLE), "--engine", "roofline"]

    loaded = modules_after(f"from predictor.cli.program import main; assert main({command!r}) == 0")

    assert loaded.isdisjoint({"torch", "onnx", "onnxruntime", "google"})


def test_opening_the_engine_loads_no_network_before_the_first_prediction() -> None:
    loaded = modules_after(
        "from predictor.services.prediction.engines import open_engine;"
        " assert open_engine().name.startswith('closertome/')"
    )

    assert loaded.isdisjoint({"torch", "onnx", "onnxruntime", "google"})


def test_a_command_can_start_its_worker_before_it_loads_numpy() -> None:
    loaded = modules_after("import predictor.cli.reading")

    assert "predictor" in loaded
    assert loaded.isdisjoint({"numpy", "sqlite_utils"})


FIRST_FRAME = """
import os, sys
from PySide6.QtCore import QEvent, QObject
from ctm_gui.application import Application

class Painted(QObject):
    def eventFilter(self, _, event):
        if event.type() is QEvent.Type.UpdateRequest:
            print("\\n" + " ".join(sys.modules), file=sys.stderr, flush=True)
            os._exit(0)
        return False

application = Application()
watch = Painted()
application.window.installEventFilter(watch)
application.start()
application.qt.exec()
"""


def test_the_first_frame_needs_no_network_no_onnx_and_no_wizard(tmp_path: Path) -> None:
    """What takes long to load comes after the window is on the screen."""
    done = run_python(
        FIRST_FRAME,
        QT_QPA_PLATFORM="offscreen",
        CTM_STORE=str(tmp_path / "store.db"),
        CTM_SETTINGS=str(tmp_path / "window.ini"),
    )

    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "ctm_gui.window.main_window" in loaded
    late = {
        "predictor.services.probing.open",
        "ctm_gui.probing.wizard",
        "sqlite_utils",
        "asyncssh",
    }
    assert loaded.isdisjoint({"torch", "onnx", "onnxruntime", *late})


def test_the_window_loads_no_torch() -> None:
    assert "torch" not in modules_after("import ctm_gui.application, ctm_gui.probing.wizard")


@pytest.fixture
def confined(tmp_path: Path) -> dict[str, Path]:
    """Folders of a user, all empty, and one with the rule against sockets."""
    folders = {name: tmp_path / name for name in ("home", "cwd", "tmp", "store", "marks", "site")}
    for folder in folders.values():
        folder.mkdir()
    (folders["site"] / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    return folders


def run_confined(folders: dict[str, Path], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``ctm`` with these folders for a user's own."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folders["home"]),
        "USERPROFILE": str(folders["home"]),
        "TMPDIR": str(folders["tmp"]),
        "PYTHONPATH": os.pathsep.join([str(folders["site"]), str(ROOT)]),
        "CTM_TEST_MARKS": str(folders["marks"]),
    }
    return subprocess.run(
        [sys.executable, "-m", "predictor.cli", *arguments],
        cwd=folders["cwd"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_prediction_uses_no_network_and_writes_its_store_only(confined: dict[str, Path]) -> None:
    store = confined["store"] / "store.db"

    done = run_confined(confined, "predict", str(SAMPLE), "--all", "--store", str(store))

    assert done.returncode == 0, done.stderr
    marks = {path.name for path in confined["marks"].iterdir()}
    assert "broken" not in marks
    assert len(marks) == 2, "the command and its worker both ran under the rule"
    for name in ("home", "cwd", "tmp"):
        assert list(confined[name].rglob("*")) == [], name
    assert {path.name for path in confined["store"].iterdir()} <= {
        "store.db",
        "store.db-wal",
        "store.db-shm",
    }


def test_the_rule_against_sockets_would_catch_a_connection(confined: dict[str, Path]) -> None:
    done = run_python(
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        PYTHONPATH=str(confined["site"]),
        CTM_TEST_MARKS=str(confined["marks"]),
    )

    assert "no network" in done.stderr
    assert (confined["marks"] / "broken").exists()
