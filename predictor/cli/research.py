"""The package ``ctm_research``, which a checkout has and an installed program has not."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Final

from predictor.core.errors import HostError

PACKAGE: Final = "ctm_research"


def has_research() -> bool:
    """Whether the package can be imported."""
    return find_spec(PACKAGE) is not None


def research_module(name: str, work: str) -> ModuleType:
    """Import a module of research.

    Args:
        name: of the module, with that of the package.
        work: that needs it, as the subject of the error.

    Raises:
        HostError: this is no checkout.
    """
    if not has_research():
        raise HostError(
            work,
            "it is not part of an installed CloserToMe",
            "run it in a checkout, with closertome[train] installed",
        )
    return import_module(name)
