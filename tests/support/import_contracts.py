"""The import contracts of a project, and the imports that break them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

import grimp
from importlinter import Contract
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract

Configuration = dict[str, Any]
"""Settings and contracts of a ``pyproject.toml``, as import-linter reads them."""

_TYPES: Final[dict[str, type[Contract]]] = {
    kind.type_name: kind
    for kind in (AcyclicSiblingsContract, ForbiddenContract, LayersContract, ProtectedContract)
}


def project_imports(configuration: Configuration) -> grimp.ImportGraph:
    """Return every import of the packages of a project."""
    packages = configuration["session_options"]["root_packages"]
    return grimp.build_graph(*packages, include_external_packages=True, cache_dir=None)


def contract_names(configuration: Configuration) -> list[str]:
    return [options["name"] for options in configuration["contracts_options"]]


def broken_contracts(configuration: Configuration, imports: grimp.ImportGraph) -> list[str]:
    """Return the names of the contracts that the imports break."""
    contracts = (
        _TYPES[options["type"]](options["name"], configuration["session_options"], options)
        for options in configuration["contracts_options"]
    )
    # A contract takes the imports that it ignores out of its graph.
    return [c.name for c in contracts if not c.check(deepcopy(imports), verbose=False).kept]


def broken_by(
    configuration: Configuration, imports: grimp.ImportGraph, importer: str, imported: str
) -> list[str]:
    """Return the names of the contracts that one more import breaks."""
    assert {importer, imported} <= imports.modules
    broken = deepcopy(imports)
    broken.add_import(importer=importer, imported=imported, line_number=1, line_contents="")
    return broken_contracts(configuration, broken)
