"""Each import rule is proven once by an import that breaks it and no other."""

from __future__ import annotations

import ast
import re
import sys
from copy import deepcopy
from pathlib import Path

import grimp
import pytest
from importlinter import Contract, api
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = api.read_configuration(str(ROOT / "pyproject.toml"))
TYPES: dict[str, type[Contract]] = {
    kind.type_name: kind
    for kind in (AcyclicSiblingsContract, ForbiddenContract, LayersContract, ProtectedContract)
}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Every import of both packages."""
    packages = CONFIGURATION["session_options"]["root_packages"]
    return grimp.build_graph(*packages, include_external_packages=True, cache_dir=None)


def broken_contracts(imports: grimp.ImportGraph) -> list[str]:
    """Return the names of the contracts that the imports break."""
    contracts = (
        TYPES[options["type"]](options["name"], CONFIGURATION["session_options"], options)
        for options in CONFIGURATION["contracts_options"]
    )
    # A contract takes the imports that it ignores out of its graph.
    return [c.name for c in contracts if not c.check(deepcopy(imports), verbose=False).kept]


def test_the_packages_keep_every_contract(imports: grimp.ImportGraph) -> None:
    assert broken_contracts(imports) == []


ROOMS = "Rooms of the engine, top down"
CIRCLES = "No import circles"
STORE = "Services alone use the store"
COMMAND_LINE = "The command line sees services, presentation and core only"
WINDOW = "The window sees services, presentation and core only"
TRAINING = "The libraries of training belong to the network and research"
TORCH = "What predicts reaches no torch"
BREAKS = [
    ("predictor.services.frozen", "ctm_gui.display", "The engine knows no window"),
    ("predictor.core.text", "PySide6", "The engine knows no window"),
    ("predictor.core.text", "predictor.graph.model", ROOMS),
    ("predictor.graph.model", "predictor.cost.engine", ROOMS),
    ("predictor.graph.model", "predictor.devices.schema", ROOMS),
    ("predictor.store.database", "predictor.graph.model", ROOMS),
    ("predictor.cost.engine", "predictor.services.frozen", ROOMS),
    ("predictor.services.frozen", "predictor.cli.console", ROOMS),
    ("predictor.services.frozen", "predictor.research", ROOMS),
    ("predictor.core.text", "predictor.presentation.wording", ROOMS),
    ("predictor.presentation.wording", "predictor.presentation.verdict", CIRCLES),
    ("ctm_gui.tasks.serial", "ctm_gui.window.main_window", CIRCLES),
    ("predictor.cost.engine", "predictor.store.database", STORE),
    ("predictor.research.evaluation.bound", "predictor.store.database", STORE),
    ("predictor.cli.console", "predictor.probing.protocol", COMMAND_LINE),
    ("predictor.cli.predict.command", "predictor.calibration.scores", COMMAND_LINE),
    ("predictor.cli.console", "predictor.research", COMMAND_LINE),
    ("ctm_gui.window.main_window", "predictor.graph.model", WINDOW),
    ("ctm_gui.window.main_window", "predictor.engine", WINDOW),
    ("ctm_gui.window.main_window", "predictor.probing.protocol", WINDOW),
    ("ctm_gui.window.main_window", "predictor.research", WINDOW),
    ("predictor.services.frozen", "sqlite_utils", "sqlite_utils belongs to the store"),
    ("predictor.services.frozen", "onnx", "onnx reads and writes model files"),
    ("predictor.services.frozen", "matplotlib", TRAINING),
    ("predictor.services.frozen", "predictor.network.term_network", TORCH),
    ("predictor.network.term_runtime", "torch", TORCH),
]


@pytest.mark.parametrize(("importer", "imported", "contract"), BREAKS)
def test_an_import_breaks_its_contract_and_no_other(
    imports: grimp.ImportGraph, importer: str, imported: str, contract: str
) -> None:
    assert {importer, imported} <= imports.modules
    broken = deepcopy(imports)

    broken.add_import(importer=importer, imported=imported, line_number=1, line_contents="")

    assert broken_contracts(broken) == [contract]


def test_every_contract_is_broken_once() -> None:
    names = [options["name"] for options in CONFIGURATION["contracts_options"]]

    assert {contract for _, _, contract in BREAKS} == set(names)


def test_a_new_room_must_be_given_its_place(imports: grimp.ImportGraph) -> None:
    with_room = deepcopy(imports)
    with_room.add_module("predictor.attic")

    assert broken_contracts(with_room) == [ROOMS]


# Of the product, which ships without research, only these may name it.
NAMES_RESEARCH = re.compile(r"\bpredictor[./]research\b|\bresearch[./]\w")


def names_of_research(*folders: Path) -> set[str]:
    """Return the files under folders, as their last three parts, that name research."""
    return {
        "/".join(path.parts[-3:])
        for folder in folders
        for path in folder.rglob("*.py")
        if NAMES_RESEARCH.search(path.read_text(encoding="utf-8"))
    }


def test_of_the_product_two_commands_name_research() -> None:
    rooms = [path for path in (ROOT / "predictor").iterdir() if path.name != "research"]

    found = names_of_research(ROOT / "ctm_gui", *rooms)

    assert found == {
        "cli/evaluate/bound.py",
        "cli/evaluate/classes.py",
        "cli/evaluate/tails.py",
        "cli/evaluate/clocks.py",
        "cli/evaluate/memory.py",
        "cli/evaluate/figures.py",
        "cli/evaluate/generation.py",
        "cli/evaluate/physics.py",
        "cli/evaluate/selectors.py",
        "cli/evaluate/suite.py",
        "cli/evaluate/systems.py",
        "predictor/cli/train.py",
    }


def test_a_string_that_names_research_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "module.py").write_text('CHILD = "predictor.research.nas"\n')
    (folder / "other.py").write_text('"""Research on networks."""\n')

    assert names_of_research(tmp_path) == {"a/b/module.py"}


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


def importers_of_widgets() -> set[str]:
    # import-linter cannot tell the parts of an external package from one another.
    window = ROOT / "ctm_gui"
    return importers_of("PySide6.QtWidgets", window) | importers_of("pyqtgraph", window)


def test_widgets_are_in_what_is_named_a_view() -> None:
    assert [path for path in sorted(importers_of_widgets()) if not shows(path)] == []


def presenters_with_widgets(imports: grimp.ImportGraph) -> set[tuple[str, str]]:
    """Return each module that is no view with each module of widgets that it leads to."""
    window = ROOT / "ctm_gui"
    widgets = {module_name(path) for path in importers_of_widgets()}
    paths = [path.relative_to(window).as_posix() for path in window.rglob("*.py")]
    presenters = [module_name(path) for path in paths if not shows(path)]
    return {
        (presenter, imported)
        for presenter in presenters
        for imported in imports.find_upstream_modules(presenter) & widgets
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
