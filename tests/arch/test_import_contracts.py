"""Each import rule is proven once by an import that breaks it and no other."""

from __future__ import annotations

import ast
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path

import grimp
import pytest
from importlinter import api

from tests.support.import_contracts import (
    broken_by,
    broken_contracts,
    contract_names,
    project_imports,
)
from tests.support.sources import imported_modules

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = api.read_configuration(str(ROOT / "pyproject.toml"))


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Every import of both packages."""
    graph = project_imports(CONFIGURATION)
    graph.add_module("ctm_research", is_squashed=True)
    return graph


def test_the_packages_keep_every_contract(imports: grimp.ImportGraph) -> None:
    assert broken_contracts(CONFIGURATION, imports) == []


ROOMS = "Rooms of the engine, top down"
CIRCLES = "No import circles"
STORE = "Services alone use the store"
COMMAND_LINE = "The command line sees services, presentation, core and records only"
WINDOW = "The window sees services, presentation, core and records only"
PYTHON_API = "The Python API sees services, presentation, core and records only"
RESEARCH = "The product knows no research"
BREAKS = [
    ("predictor.services.frozen", "ctm_gui.display", "The engine knows no window"),
    ("predictor.core.text", "PySide6", "The engine knows no window"),
    ("predictor.core.text", "predictor.graph.model", ROOMS),
    ("predictor.graph.model", "predictor.cost.engine", ROOMS),
    ("predictor.graph.model", "predictor.devices.schema", ROOMS),
    ("predictor.store.database", "predictor.graph.model", ROOMS),
    ("predictor.cost.engine", "predictor.services.frozen", ROOMS),
    ("predictor.services.frozen", "predictor.cli.console", ROOMS),
    ("predictor.core.text", "predictor.presentation.wording", ROOMS),
    ("predictor.presentation.wording", "predictor.presentation.verdict", CIRCLES),
    ("ctm_gui.tasks.serial", "ctm_gui.window.main_window", CIRCLES),
    ("predictor.cost.engine", "predictor.store.database", STORE),
    ("predictor.cli.console", "predictor.probing.protocol", COMMAND_LINE),
    ("predictor.cli.predict.command", "predictor.calibration.scores", COMMAND_LINE),
    ("predictor.api.models", "predictor.probing.protocol", PYTHON_API),
    ("ctm_gui.window.main_window", "predictor.graph.matching", WINDOW),
    ("ctm_gui.window.main_window", "predictor.engine", WINDOW),
    ("ctm_gui.window.main_window", "predictor.probing.protocol", WINDOW),
    ("predictor.cli.evaluate", "ctm_research", RESEARCH),
    ("ctm_gui.window.main_window", "ctm_research", RESEARCH),
    ("predictor.services.frozen", "sqlite_utils", "sqlite_utils belongs to the store"),
    ("predictor.services.frozen", "onnx", "onnx reads and writes model files"),
    ("predictor.network", "torch", "Torch belongs to fine-tuning"),
    ("predictor.engine", "predictor.network.film_tuning", "Fine-tuning is a process of its own"),
]


@pytest.mark.parametrize(("importer", "imported", "contract"), BREAKS)
def test_an_import_breaks_its_contract_and_no_other(
    imports: grimp.ImportGraph, importer: str, imported: str, contract: str
) -> None:
    assert broken_by(CONFIGURATION, imports, importer, imported) == [contract]


def test_every_contract_is_broken_once() -> None:
    assert {contract for _, _, contract in BREAKS} == set(contract_names(CONFIGURATION))


def test_a_new_room_must_be_given_its_place(imports: grimp.ImportGraph) -> None:
    with_room = deepcopy(imports)
    with_room.add_module("predictor.attic")

    assert broken_contracts(CONFIGURATION, with_room) == [ROOMS]


def names_of_research(*folders: Path) -> set[str]:
    """Return the files under folders, as their last three parts, that name research.

    Of the product, which ships without it, the command line alone may.
    """
    return {
        "/".join(path.parts[-3:])
        for folder in folders
        for path in folder.rglob("*.py")
        if "ctm_research" in path.read_text(encoding="utf-8")
    }


def test_of_the_product_the_command_line_names_research() -> None:
    found = names_of_research(ROOT / "ctm_gui", ROOT / "predictor")

    assert found == {
        "cli/evaluate/__init__.py",
        "cli/evaluate/track.py",
        "predictor/cli/program.py",
        "predictor/cli/research.py",
    }


def test_a_string_that_names_research_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "module.py").write_text('CHILD = "ctm_research.nas"\n')
    (folder / "other.py").write_text('"""Research on networks."""\n')

    assert names_of_research(tmp_path) == {"a/b/module.py"}


def importers_of(names: tuple[str, ...], folder: Path) -> set[str]:
    """Return the files under ``folder`` that import one of ``names`` or something in it."""
    wanted = tuple(f"{name}." for name in names)
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if any(f"{module}.".startswith(wanted) for module in imported_modules(path))
    }


# The last word of a module's name that says: this shows something.
VIEW_WORDS = {
    *("view", "tabs", "panel", "page", "parts", "bar", "strip", "menu", "fields"),
    *("dialog", "dialogs", "wizard", "preview", "plot", "plots", "items", "delegate"),
}


def shows(path: str) -> bool:
    """Whether a module of the window, by its path under ``ctm_gui``, may have widgets."""
    room, _, name = path.rpartition("/")
    if room in {"widgets", "window"} or path in {"__main__.py", "app.py", "application.py"}:
        return True
    return Path(name).stem.split("_")[-1] in VIEW_WORDS


@cache
def importers_of_widgets() -> set[str]:
    # import-linter cannot tell the parts of an external package from one another.
    window = ROOT / "ctm_gui"
    return importers_of(("PySide6.QtWidgets", "pyqtgraph"), window)


def test_widgets_are_in_what_is_named_a_view() -> None:
    assert [path for path in sorted(importers_of_widgets()) if not shows(path)] == []


def presenters_with_widgets(imports: grimp.ImportGraph) -> set[tuple[str, str]]:
    """Return each module that is no view with each module of widgets that it leads to."""
    window = ROOT / "ctm_gui"
    widgets = {module_name(path) for path in importers_of_widgets()}
    paths = [path.relative_to(window).as_posix() for path in window.rglob("*.py")]
    presenters = [module_name(path) for path in paths if not shows(path)]
    # Few modules lead to widgets: from each of these, who leads to it.
    leading = {widget: imports.find_downstream_modules(widget) for widget in widgets}
    return {
        (presenter, widget)
        for widget, importers in leading.items()
        for presenter in importers.intersection(presenters)
    }


def module_name(path: str) -> str:
    """Return the module of a path under ``ctm_gui``."""
    return ".".join(("ctm_gui", *Path(path).with_suffix("").parts)).removesuffix(".__init__")


def test_no_presenter_leads_to_a_widget(imports: grimp.ImportGraph) -> None:
    assert presenters_with_widgets(imports) == set()


def test_a_presenter_that_leads_to_a_widget_is_seen(imports: grimp.ImportGraph) -> None:
    broken = deepcopy(imports)
    broken.add_import(importer="ctm_gui.window.messages", imported="ctm_gui.widgets.basic")

    assert ("ctm_gui.history.presenter", "ctm_gui.widgets.basic") not in (
        presenters_with_widgets(broken)
    )
    # The probing follows the workspace, which follows the messages.
    assert ("ctm_gui.probing.presenter", "ctm_gui.widgets.basic") in presenters_with_widgets(broken)


def test_an_offending_import_inside_a_function_is_seen(tmp_path: Path) -> None:
    (tmp_path / "hidden.py").write_text("def f():\n    from PySide6 import QtWidgets\n")

    assert importers_of(("PySide6.QtWidgets",), tmp_path) == {"hidden.py"}
    assert importers_of(("PySide6.QtGui", "pyqtgraph"), tmp_path) == set()


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
