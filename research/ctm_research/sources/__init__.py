"""Published measurements by source: modules that declare a ``SOURCE``, or several ``SOURCES``.

A data folder has one folder a source, with the files that the declaration names. ``samples`` gives
its rows as :class:`Sample`; the search spaces of ``nas`` are matrices and stand apart. Sources that
give times without graphs share those of ``graphs``; ``aliases`` says which device of the catalogue
a stated one is. A new source is a new module here.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from ctm_research.sources.samples import GraphFile, Sample, Statistic
from ctm_research.sources.source import Share, Source
from predictor.core.errors import InputError

__all__ = ["SOURCES", "GraphFile", "Sample", "Share", "Source", "Statistic", "present_sources"]


def _declared() -> Mapping[str, Source]:
    """Return the declaration of each module that has one, by name in the order of their ranks."""
    modules = (import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    declared: list[Source] = []
    for module in modules:
        declared += getattr(module, "SOURCES", ())
        declared += [module.SOURCE] if hasattr(module, "SOURCE") else []
    return MappingProxyType({s.name: s for s in sorted(declared, key=lambda s: s.rank)})


SOURCES: Mapping[str, Source] = _declared()


def present_sources(data: Path) -> tuple[Source, ...]:
    """Return the sources whose folder a data folder holds.

    Raises:
        InputError: it holds none.
    """
    present = tuple(source for source in SOURCES.values() if source.path(data).is_dir())
    if not present:
        raise InputError(
            str(data), "it holds no folder of a source", f"name a folder with {', '.join(SOURCES)}"
        )
    return present
