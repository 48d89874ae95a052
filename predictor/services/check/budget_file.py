"""The file ``ctm-budget.toml``: models, targets and their limits.

A table ``[[check]]`` checks each of its models on each of its targets against its limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from predictor.core.toml_tables import Readers, TomlTables, integer, number, texts

_FIX: Final = "correct it; docs/checks.md has an example"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One table of the file.

    Attributes:
        line: of its header, from 1.
        models: files, folders and patterns, as written.
        targets: ``DEVICE[/RUNTIME/PRECISION/tTHREADS]``, as written.
        max_ms: of the P50, or of the latency at ``chance``; None for no limit.
        max_memory_mb: of weights and activations, in 1e6 bytes; None for no limit.
        max_growth_percent: of the P50 over that of the base; None for no limit.
        chance: minimum chance in percent that the latency is within ``max_ms``.
        batch: that the models are bound to; None for their own.
        dims: values of dimensions that the files leave open, by name.
        shapes: shapes of inputs, by name.
    """

    line: int
    models: tuple[str, ...]
    targets: tuple[str, ...]
    max_ms: float | None = None
    max_memory_mb: float | None = None
    max_growth_percent: float | None = None
    chance: float = 50.0
    batch: int | None = None
    dims: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def read_budget(path: Path) -> tuple[Check, ...]:
    """Read the file.

    Raises:
        InputError: it cannot be read or is no TOML, or a key is unknown or wrong; with its line.
    """
    file = TomlTables.read(path, _FIX)
    return tuple(_check(file, start, table) for start, table in file.named("check"))


def _check(file: TomlTables, start: int, table: Mapping[str, Any]) -> Check:
    values = file.values(start, table, _READERS)
    for key in ("models", "targets"):
        if key not in values:
            raise file.wrong(start, key, "this table lacks it")
    limits = ("max_ms", "max_memory_mb", "max_growth_percent")
    if not any(name in values for name in limits):
        raise file.wrong(start, limits[0], f"this table has none of {', '.join(limits)}")
    return Check(line=start, **values)


def _dims(value: Any) -> dict[str, int]:
    return {name: integer(size) for name, size in value.items()}


def _shapes(value: Any) -> dict[str, tuple[int, ...]]:
    return {name: tuple(integer(size) for size in list(sizes)) for name, sizes in value.items()}


_READERS: Final[Readers] = {
    "models": (texts, "a path or a list of paths"),
    "targets": (texts, "a target or a list of targets"),
    "max_ms": (number, "a number over 0"),
    "max_memory_mb": (number, "a number over 0"),
    "max_growth_percent": (lambda value: number(value, -1e-9), "a number from 0"),
    "chance": (lambda value: number(value, 0.0, 100.0), "a number between 0 and 100"),
    "batch": (integer, "a whole number from 1"),
    "dims": (_dims, "a table of whole numbers from 1"),
    "shapes": (_shapes, "a table of lists of whole numbers from 1"),
}
