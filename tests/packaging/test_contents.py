"""What goes into a frozen program, without freezing one."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import contents
import pytest

from predictor import __version__
from predictor.probing.runner.bundle import runner_bytes

ROOT = Path(__file__).resolve().parents[2]
LINKED = ("PySide6", "onnxruntime", "onnx", "shiboken6")
QT_MODULES = (
    "QtCore",
    "QtGui",
    "QtOpenGL",
    "QtOpenGLWidgets",
    "QtPrintSupport",
    "QtSvg",
    "QtWidgets",
)

# Imports all that ships where what is left out is not installed, and prints the files in memory.
LOADED = """
import importlib, importlib.abc, pkgutil, pathlib, sys
import contents

class LeftOut(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if any(name == left or name.startswith(left + ".") for left in contents.EXCLUDED):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, LeftOut())
import ctm_gui, onnxruntime, predictor.cli
from PySide6.QtWidgets import QApplication
application = QApplication([])
names = [module.name for module in pkgutil.walk_packages(ctm_gui.__path__, "ctm_gui.")]
for name in (*names, *contents.command_modules()):
    if not name.endswith("__main__"):
        importlib.import_module(name)
import pyqtgraph
plot = pyqtgraph.PlotWidget()
plot.plot([1, 2], [3, 4])
maps = pathlib.Path("/proc/self/maps")
lines = maps.read_text().splitlines() if maps.exists() else []
print(*sorted({line.split()[-1] for line in lines if ".so" in line}), sep="\\n")
"""


def test_the_version_stands_in_one_place() -> None:
    assert contents.version() == __version__


def test_the_sources_that_ship_are_those_that_go_to_other_machines(tmp_path: Path) -> None:
    for source, folder in contents.data_files():
        if folder == "predictor/probing/runner":
            shutil.copy(source, tmp_path)

    assert runner_bytes(tmp_path) == runner_bytes()


def test_the_agent_and_the_resources_ship_where_the_program_looks() -> None:
    shipped = {Path(source).name: folder for source, folder in contents.data_files()}

    assert shipped["board_agent.py"] == "predictor/probing/ssh"
    assert shipped["resources"] == "predictor/resources"  # as in a wheel


@pytest.mark.parametrize(
    ("place", "used"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/iconengines/libqsvgicon.so", True),
        ("PySide6/Qt/lib/libQt6Widgets.so.6", True),
        ("onnxruntime/capi/onnxruntime_pybind11_state.so", True),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", False),
        ("PySide6\\Qt\\plugins\\tls\\qopensslbackend.dll", False),
        ("PySide6/Qt/lib/libQt6Quick.so.6", False),
        ("PySide6/Qt/plugins/imageformats/libqsvg.so", True),
        ("PySide6/Qt/plugins/imageformats/libqtiff.so", False),
        ("PySide6/Qt/lib/libQt6Network.so.6", False),
        ("onnxruntime/capi/libonnxruntime.so.1.32.0", False),
        ("libstdc++.so.6", False),
    ],
)
def test_what_the_window_never_loads_is_left_out(place: str, used: bool) -> None:
    assert contents.is_used(place) is used


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
def test_nothing_that_ships_is_linked_to_a_library_that_does_not() -> None:
    packages = [Path(str(importlib.import_module(name).__file__)).parent for name in LINKED]
    bindings = [packages[0] / f"{name}.abi3.so" for name in QT_MODULES]
    plugins = list((packages[0] / "Qt" / "plugins").rglob("*.so"))
    others = [path for package in packages[1:] for path in package.rglob("*.so*")]
    files = [path for path in (*plugins, *others) if contents.is_used(path.as_posix())]
    libraries = {path.name: path for path in (packages[0] / "Qt" / "lib").iterdir()}

    todo, linked = {*bindings, *files}, set[Path]()
    while todo:
        path = todo.pop()
        linked.add(path)
        command = ["objdump", "-p", str(path)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        names = [b for a, b in itertools.pairwise(lines) if a == "NEEDED"]
        assert not [name for name in names if name.startswith("libonnxruntime.so")], path
        todo |= {libraries[name] for name in names if name in libraries} - linked

    assert libraries["libQt6Widgets.so.6"] in linked
    assert [path for path in linked if not contents.is_used(path.as_posix())] == []


def test_window_and_commands_load_nothing_that_is_left_out() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    files = done.stdout.splitlines()
    assert any("QtWidgets" in path for path in files) or not Path("/proc/self/maps").exists()
    assert [path for path in files if "site-packages" in path and not contents.is_used(path)] == []


def test_every_command_ships_and_research_does_not() -> None:
    shipped = contents.command_modules()

    assert {"predictor.cli", "predictor.cli.report", "predictor.cli.probe.run"} <= set(shipped)
    assert "predictor.probing.networks.build" in shipped  # of a child process
    assert all(importlib.util.find_spec(module) is not None for module in shipped)
    assert "ctm_research" in contents.EXCLUDED


def test_no_module_that_the_program_needs_is_excluded() -> None:
    code = ROOT.rglob("*.py")
    imported = {
        line.split()[1].split(".")[0]
        for path in code
        if path.relative_to(ROOT).parts[0] in {"predictor", "ctm_gui"}
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "from ")) and not line.startswith("from .")
    }

    assert "numpy" in imported
    assert imported.isdisjoint({"PIL", "yaml", "scipy", "pandas", "setuptools", "tkinter"})
    assert "readline" not in imported
    assert "torch" in contents.EXCLUDED
    assert set(sys.stdlib_module_names) & set(contents.EXCLUDED) == {"readline", "tkinter"}
