"""Each import rule is proven once by breaking it in a copy of the packages."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = Path(sysconfig.get_path("scripts")) / "lint-imports"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of both packages and of the rules, to be broken."""
    copy = tmp_path_factory.mktemp("packages")
    for package in ("predictor", "ctm_gui"):
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(LINT_IMPORTS), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_packages_keep_every_contract(packages: Path) -> None:
    done = lint(packages)

    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "imported", "contract"),
    [
        ("predictor/services", "ctm_gui", "The engine knows no window"),
        ("predictor/core", "PySide6.QtCore", "The engine knows no window"),
        ("predictor/core", "predictor.graph.model", "Rooms of the engine, top down"),
        ("predictor/graph", "predictor.cost.engine", "Rooms of the engine, top down"),
        ("predictor/graph", "predictor.devices.schema", "Rooms of the engine, top down"),
        ("predictor/cost", "predictor.services", "Rooms of the engine, top down"),
        ("predictor/services", "predictor.cli", "Rooms of the engine, top down"),
        ("predictor/store", "predictor.graph.model", "The store knows records only"),
        ("predictor/cost", "predictor.store.database", "Services alone use the store"),
        ("predictor/cli", "predictor.store.database", "Services alone use the store"),
        ("predictor/cli", "predictor.cost.engine", "The command line sees services and core only"),
        ("ctm_gui/views", "predictor.graph.model", "The window sees services and core only"),
        ("predictor/services", "sqlite_utils", "sqlite_utils belongs to the store"),
        ("predictor/graph", "torch", "torch is for training"),
        ("ctm_gui/views", "onnxscript", "torch is for training"),
        ("predictor/calibration", "predictor.research", "Rooms of the engine, top down"),
    ],
)
def test_an_import_that_breaks_a_contract_is_found(
    packages: Path, module: str, imported: str, contract: str
) -> None:
    offender = packages / module / "offender.py"
    offender.write_text(f"import {imported}\n", encoding="utf-8")
    try:
        done = lint(packages)
    finally:
        offender.unlink()

    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{contract} BROKEN" in done.stdout


def imported_modules(path: Path) -> set[str]:
    """Return every module that a file imports, at any depth, with the names of from-imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def importers_of(name: str, folder: Path) -> set[str]:
    """Return the files under ``folder`` that import ``name`` or something in it."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if any(f"{module}.".startswith(f"{name}.") for module in imported_modules(path))
    }


def test_widgets_are_in_views_and_where_the_window_is_put_together_only() -> None:
    # import-linter cannot tell the parts of an external package from one another.
    importers = importers_of("PySide6.QtWidgets", ROOT / "ctm_gui")
    importers |= importers_of("pyqtgraph", ROOT / "ctm_gui")

    rooms = {path.split("/")[0] for path in importers}
    assert rooms <= {"views", "wizard", "app.py", "application.py", "tour"}


def test_onnx_is_imported_where_model_files_are_read_or_written_only() -> None:
    importers = importers_of("onnx", ROOT / "predictor") | importers_of("onnx", ROOT / "ctm_gui")

    assert {path.split("/")[0] for path in importers} <= {"graph", "network", "probing", "research"}


def test_an_offending_import_inside_a_function_is_seen(tmp_path: Path) -> None:
    (tmp_path / "hidden.py").write_text("def f():\n    from PySide6 import QtWidgets\n")

    assert importers_of("PySide6.QtWidgets", tmp_path) == {"hidden.py"}
    assert importers_of("PySide6.QtGui", tmp_path) == set()


@pytest.mark.parametrize("version", [(3, 6), (3, 8)])
def test_run_py_parses_on_an_older_python(version: tuple[int, int]) -> None:
    source = (ROOT / "run.py").read_text(encoding="utf-8")

    ast.parse(source, feature_version=version)


def test_run_py_and_what_it_imports_of_ours_need_the_standard_library_only() -> None:
    names = imported_modules(ROOT / "run.py")
    names |= imported_modules(ROOT / "ctm_gui" / "display.py")
    names |= imported_modules(ROOT / "ctm_gui" / "__init__.py")

    ours = {name for name in names if name.startswith(("ctm_gui", "predictor"))}
    assert ours == {"ctm_gui.display.display_problem"}
    assert {name.split(".")[0] for name in names - ours} <= sys.stdlib_module_names
