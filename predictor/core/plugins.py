"""Plug-ins: parts that other installed packages register by entry points, see docs/plugins.md.

Entry points are read where a look-up needs one, which is where a name or a file is of nothing that
ships: most starts never read them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

ENGINES: Final = "closertome.engines"
IMPORTERS: Final = "closertome.importers"
RUNTIMES: Final = "closertome.runtimes"
DEVICES: Final = "closertome.devices"
FORMATS: Final = "closertome.formats"

_LOG = logging.getLogger(__name__)


class Plugins(NamedTuple):
    """Plug-ins of a kind by name, and a sentence for each one that fails to load."""

    by_name: Mapping[str, Any]
    problems: tuple[str, ...]


@cache
def plugins(group: str) -> Plugins:
    """Return the plug-ins of a kind; one that fails to load is left out, with a warning.

    Args:
        group: of the entry points, one of the names above.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415  # 10 ms that few starts need

    by_name: dict[str, Any] = {}
    problems: list[str] = []
    for entry in entry_points(group=group):
        try:
            by_name[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001  # a plug-in may raise anything
            problems.append(problem_of(group, entry.name, error))
    return Plugins(by_name, tuple(problems))


def problem_of(group: str, name: str, error: Exception) -> str:
    """Return the sentence on a plug-in that fails, which is logged as a warning too."""
    words = f"the plug-in {name} ({group}) is left out: {type(error).__name__}: {error}"
    _LOG.warning("%s", words)
    return words
