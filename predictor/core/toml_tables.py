"""TOML files that people write: tables ``[[NAME]]``, each wrong key named with its line."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import read_text

_MAX_BYTES: Final = 1_000_000
_AT_LINE: Final = re.compile(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)

_MAX_EXACT: Final = 2**53

Place = tuple[str | int, ...]
"""Way to a table in a file: names of tables, and places in arrays of them."""
Readers = Mapping[str, tuple[Callable[[Any], object], str]]
"""By key: what turns its value into a field, and the words for what it expects."""


class KeyedError(InputError):
    """An error of a key in a file.

    Args:
        path: of the file.
        line: of the key, from 1.
        key: its name.
        reason: why it is wrong.
        action: the user's next step.
    """

    def __init__(self, path: Path, line: int, key: str, reason: str, action: str) -> None:
        super().__init__(f"{path}, line {line}, {key}", reason, action)
        self.line, self.key = line, key


@dataclass(frozen=True, slots=True)
class TomlTables:
    """A parsed file.

    Attributes:
        path: of the file.
        content: as parsed.
        lines: of its text.
        fix: next step of the user where something is wrong.
    """

    path: Path
    content: Mapping[str, Any]
    lines: list[str]
    fix: str

    @classmethod
    def read(cls, path: Path, fix: str) -> TomlTables:
        """Read a file.

        Raises:
            InputError: it cannot be read or is no TOML; with its line.
        """
        return cls.parse(read_text(path, _MAX_BYTES), path, fix)

    @classmethod
    def parse(cls, text: str, path: Path, fix: str) -> TomlTables:
        """Read a text as if it stood in a file.

        Raises:
            InputError: it is no TOML; with its line.
        """
        try:
            return cls(path, tomllib.loads(text), text.splitlines(), fix)
        except tomllib.TOMLDecodeError as error:
            match = _AT_LINE.match(str(error))
            line = int(match[2]) if match and match[2] else text.count("\n") + 1
            reason = match[1] if match else str(error)
            raise InputError(f"{path}, line {line}", f"it is no TOML: {reason}", fix) from error
        except ValueError as error:  # Python's limit on the digits of a whole number
            raise InputError(str(path), "it holds a number that is too long", fix) from error
        except RecursionError as error:
            raise InputError(str(path), "it is nested too deeply", fix) from error

    def named(self, name: str, extra_keys: frozenset[str] = frozenset()) -> list[tuple[int, Any]]:
        """Return the tables ``[[name]]``, each with the line of its header, from 1.

        Args:
            name: of the tables.
            extra_keys: further keys that the file may have.

        Raises:
            InputError: there is none, or there are other keys.
        """
        for key in self.content.keys() - {name} - extra_keys:
            line = self.line_of(key, 1)
            headers = ", ".join([f"[[{name}]]", *(f"[{other}]" for other in sorted(extra_keys))])
            raise self.wrong(line, key, f"no such key; tables are {headers}")
        tables = self.content.get(name)
        are_tables = isinstance(tables, list) and all(isinstance(t, dict) for t in tables)
        if not tables or not are_tables:
            raise self.wrong(1, name, f"the file has no table [[{name}]]")
        header = re.compile(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]")
        starts = [number for number, line in enumerate(self.lines, 1) if header.match(line)]
        # Tables of an inline array have no header of their own.
        if len(starts) != len(tables):
            starts = [1] * len(tables)
        return list(zip(starts, tables, strict=True))

    def values(self, start: int, table: Mapping[str, Any], readers: Readers) -> dict[str, Any]:
        """Return the fields of a table by key.

        Raises:
            InputError: a key is unknown, or its value is wrong; with its line.
        """
        values: dict[str, Any] = {}
        # Lines are looked up for errors alone: each takes a walk through the file.
        for key, value in table.items():
            if key not in readers:
                line = self.line_of(key, start)
                raise self.wrong(line, key, f"no such key; there are {', '.join(readers)}")
            read, expected = readers[key]
            try:
                values[key] = read(value)
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                line = self.line_of(key, start)
                raise self.wrong(line, key, f"it is not {expected}") from error
        return values

    def line_of(self, key: str, start: int) -> int:
        """Return the line of a key at or after another, that one where it is not seen."""
        pattern = re.compile(rf"""\s*\[?["']?{re.escape(key)}["']?\s*[\]=.]""")
        following = enumerate(self.lines[start - 1 :], start)
        return next((number for number, line in following if pattern.match(line)), start)

    def wrong(self, line: int, key: str, reason: str) -> KeyedError:
        """Return the error of a key."""
        return KeyedError(self.path, line, key, reason, self.fix)


def toml_text(content: Mapping[str, Any]) -> tuple[str, list[Place]]:
    """Write tables as TOML.

    Args:
        content: tables and arrays of tables, of texts, numbers, lists and tables of those.

    Returns:
        The text, and the place of the table of each of its lines.
    """
    lines: list[str] = []
    places: list[Place] = []

    def write(table: Mapping[str, Any], names: tuple[str, ...], place: Place) -> None:
        for key, value in table.items():
            if not _is_tables(value, names):
                lines.append(f"{_key(key)} = {_value(value)}")
                places.append(place)
        for key, value in table.items():
            if _is_tables(value, names):
                path = (*names, _key(key))
                for i, entry in enumerate(value if isinstance(value, list) else [value]):
                    header = f"[[{'.'.join(path)}]]" if isinstance(value, list) else f"[{path[0]}]"
                    inner: Place = (*place, key, i) if isinstance(value, list) else (*place, key)
                    lines.extend(["", header] if lines else [header])
                    places.extend([inner] * (len(lines) - len(places)))
                    write(entry, path, inner)

    write(content, (), ())
    return "".join(f"{line}\n" for line in lines), places


def _is_tables(value: object, names: tuple[str, ...]) -> bool:
    """Return whether a value has a header: a table at the top, or an array of tables."""
    if isinstance(value, Mapping):
        return not names
    return bool(value) and isinstance(value, list) and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(v)}' for key, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float):
        is_exact = value.is_integer() and abs(value) < _MAX_EXACT
        return str(int(value)) if is_exact else repr(value)
    if isinstance(value, date | time):
        return value.isoformat()
    # A text of JSON is one of TOML too, but for DEL, which JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def one_text(value: object) -> str:
    """Return a text that is not empty; raise ValueError for any other value."""
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def texts(value: object) -> tuple[str, ...]:
    """Return a text or a list of them; raise ValueError for any other value."""
    if not isinstance(value, list):
        return (one_text(value),)
    if not value:
        raise ValueError
    return tuple(map(one_text, value))


def number(value: object, low: float = 0.0, high: float = math.inf) -> float:
    """Return a number between two others; raise ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
        raise ValueError
    return float(value)


def integer(value: object, low: int = 1, high: int = 2**31 - 1) -> int:
    """Return a whole number from ``low`` to ``high``; raise ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError
    return value
