"""What goes into a frozen program, without freezing one."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import contents
import pytest

from predictor import __version__
from predictor.probing.runner.bundle import runner_bytes

ROOT = Path(__file__).resolve().parents[2]


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
        ("libstdc++.so.6", False),
    ],
)
def test_what_the_window_never_loads_is_left_out(place: str, used: bool) -> None:
    assert contents.is_used(place) is used


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
