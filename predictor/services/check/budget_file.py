"""The file ``ctm-budget.toml``: models, targets and their limits.

A table ``[[check]]`` holds each of its models on each of its targets against its limits.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import read_text

_MOST_BYTES: Final = 1_000_000
_HEADER: Final = re.compile(r"\s*\[\[\s*check\s*\]\]")
_AT_LINE: Final = re.compile(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)
_FIX: Final = "correct it; docs/checks.md has an example"


@dataclass(frozen=True, slots=True)
class Check:
    """One table of the file.

    Attributes:
        line: of its header, from 1.
        models: files, folders and patterns, as written.
        targets: ``DEVICE[/RUNTIME/PRECISION/tTHREADS]``, as written.
        max_ms: of the P50, or of the latency at ``chance``; None for no limit.
        max_memory_mb: of weights and activations, in 1e6 bytes; None for no limit.
        max_growth_percent: of the P50 over that of the base; None for no limit.
        chance: least chance in percent that the latency is within ``max_ms``.
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
    text = read_text(path, _MOST_BYTES)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _AT_LINE.match(str(error))
        line = int(match[2]) if match and match[2] else text.count("\n") + 1
        reason = match[1] if match else str(error)
        raise InputError(f"{path}, line {line}", f"it is no TOML: {reason}", _FIX) from error
    except RecursionError as error:
        raise InputError(str(path), "it is nested too deeply", _FIX) from error
    lines = text.splitlines()
    headers = [number for number, line in enumerate(lines, 1) if _HEADER.match(line)]
    for key in content.keys() - {"check"}:
        raise _wrong(path, _line_of(lines, key, 1), key, "no such key; tables are [[check]]")
    tables = content.get("check")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise _wrong(path, 1, "check", "the file has no table [[check]]")
    # Tables of an inline array have no header of their own.
    starts = headers if len(headers) == len(tables) else [1] * len(tables)
    return tuple(_check(path, lines, start, t) for start, t in zip(starts, tables, strict=True))


def _check(path: Path, lines: list[str], start: int, table: Mapping[str, Any]) -> Check:
    values: dict[str, Any] = {}
    for key, value in table.items():
        line = _line_of(lines, key, start)
        if key not in _READERS:
            raise _wrong(path, line, key, f"no such key; there are {', '.join(_READERS)}")
        read, expected = _READERS[key]
        try:
            values[key] = read(value)
        except (TypeError, ValueError, AttributeError) as error:
            raise _wrong(path, line, key, f"it is not {expected}") from error
    for key in ("models", "targets"):
        if key not in values:
            raise _wrong(path, start, key, "this table lacks it")
    limits = ("max_ms", "max_memory_mb", "max_growth_percent")
    if not any(name in values for name in limits):
        raise _wrong(path, start, limits[0], f"this table has none of {', '.join(limits)}")
    return Check(start, **values)


def _wrong(path: Path, line: int, key: str, reason: str) -> InputError:
    return InputError(f"{path}, line {line}, {key}", reason, _FIX)


def _line_of(lines: list[str], key: str, start: int) -> int:
    """Return the line of a key at or after another, that one where it is not seen."""
    pattern = re.compile(rf"""\s*\[?["']?{re.escape(key)}["']?\s*[\]=.]""")
    return next(
        (n for n, line in enumerate(lines[start - 1 :], start) if pattern.match(line)), start
    )


def _texts(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) and t for t in texts):
        raise ValueError
    return tuple(texts)


def _number(value: object, low: float = 0.0, high: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
        raise ValueError
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        raise ValueError
    return value


def _dims(value: Any) -> dict[str, int]:
    return {name: _whole(size) for name, size in value.items()}


def _shapes(value: Any) -> dict[str, tuple[int, ...]]:
    return {name: tuple(_whole(size) for size in list(sizes)) for name, sizes in value.items()}


_READERS: Final[dict[str, tuple[Callable[[Any], object], str]]] = {
    "models": (_texts, "a path or a list of paths"),
    "targets": (_texts, "a target or a list of targets"),
    "max_ms": (_number, "a number over 0"),
    "max_memory_mb": (_number, "a number over 0"),
    "max_growth_percent": (lambda value: _number(value, -1e-9), "a number from 0"),
    "chance": (lambda value: _number(value, 0.0, 100.0), "a number between 0 and 100"),
    "batch": (_whole, "a whole number from 1"),
    "dims": (_dims, "a table of whole numbers from 1"),
    "shapes": (_shapes, "a table of lists of whole numbers from 1"),
}
