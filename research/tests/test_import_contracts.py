"""Each import rule of research is proven once by an import that breaks it and no other."""

from __future__ import annotations

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

CONFIGURATION = api.read_configuration(str(Path(__file__).parents[1] / "pyproject.toml"))
BREAKS = {
    "Research knows no window": ("ctm_research.packed", "PySide6"),
    "Research uses no store": ("ctm_research.evaluation.bound", "predictor.store.database"),
    "Commands alone use the command line": ("ctm_research.evaluation", "predictor.cli.console"),
    "No import circles": ("ctm_research.network.config", "ctm_research.training.loop"),
}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    graph = project_imports(CONFIGURATION)
    graph.add_module("PySide6", is_squashed=True)
    return graph


def test_research_keeps_every_contract(imports: grimp.ImportGraph) -> None:
    assert broken_contracts(CONFIGURATION, imports) == []


@pytest.mark.parametrize("contract", BREAKS)
def test_an_import_breaks_its_contract_and_no_other(
    imports: grimp.ImportGraph, contract: str
) -> None:
    assert broken_by(CONFIGURATION, imports, *BREAKS[contract]) == [contract]


def test_every_contract_is_broken_once() -> None:
    assert list(BREAKS) == contract_names(CONFIGURATION)
