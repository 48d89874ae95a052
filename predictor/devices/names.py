"""Names of processors, GPUs and accelerators as people and tools write them, and their designs.

The table ships as ``resources/names/*.json``; docs/devices.md describes its rows. A name is read as
words of letters or of digits, whatever is between them: "i7-8700K" and "I7 8700k" are one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

from predictor.core.files import read_bytes
from predictor.core.metrics import Family
from predictor.core.resources import resources_dir
from predictor.core.runtimes import CPUS
from predictor.devices import fields
from predictor.devices.strict_json import parse_object

SCHEMA: Final = "ctm-names/1"
UNITS: Final = ("cpu", "gpu", "npu", "fpga", "mcu")
"""Fields of a row that name a design, by the kind of unit."""

CORE: Final = "core"
"""Field of a row that names the design of a cluster's cores; the name means one there only."""

_UNIT_OF: Final = {
    **dict.fromkeys(CPUS, "cpu"),
    Family.GPU: "gpu",
    Family.MOBILE_GPU: "gpu",
    Family.FPGA: "fpga",
    Family.MCU: "mcu",
}
# Marks, and clocks, whose numbers are none of a model.
_MARKS: Final = re.compile(r"\((?:r|tm|c)\)|[®™©]|@? *[0-9.]+ *[gm]hz", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]+|[0-9]+|\+", re.IGNORECASE)
_NUMBERS: Final = re.compile(r"([0-9]+)-([0-9]+)")
_DIGITS: Final = re.compile(r"[0-9?]*\?[0-9?]*")
# Words that programs add anywhere.
_IGNORED: Final = frozenset({"cpu", "processor", "corporation", "inc", "series"})
_ANY_NUMBER: Final = "#"
_Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedCores:
    """Cores of one kind of a named processor; no number and no clock where they are not known."""

    architecture: str
    cores: int = 0
    clock_mhz: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDesign:
    """Design, chip and product facts that the name of a unit stands for.

    Attributes:
        cores: its design, of a processor with several kinds of cores one each, the fastest first;
            empty where only the chip is known.
        chip: id of its die or system on chip; empty where the name does not say it.
        instruction_sets: of this product; empty for those of the design.
        lanes: FP32 lanes of a core of this product; None for those of the design.
        reason: the name and what it means, for people.
    """

    cores: tuple[NamedCores, ...]
    chip: str
    instruction_sets: tuple[str, ...]
    lanes: float | None
    reason: str

    @property
    def architecture(self) -> str:
        """Id of the design of the fastest cores; empty where it is not known."""
        return self.cores[0].architecture if self.cores else ""


@dataclass(frozen=True, slots=True)
class _Match:
    """A name in a text: its words by their places, and the row of the table."""

    start: int
    end: int
    row: Mapping[str, Any]


class NameTable:
    """Rows by their names.

    Args:
        rows: of the table, checked by the tests of what ships.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._names: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for row in rows:
            for name in row["names"]:
                for word in _first_words(name):
                    self._names.setdefault(word, []).append((name, row))
        self._phrases: dict[str, _Phrases] = {}

    def matches(self, words: Sequence[str], unit: str) -> list[_Match]:
        """Return the names of a unit in a text, the longest first; none within a longer one."""
        starts = range(len(words))
        matches = [match for start in starts for match in self._starting(words, start, unit)]
        result: list[_Match] = []
        for match in sorted(matches, key=lambda match: match.start - match.end):
            if all(match.end <= other.start or other.end <= match.start for other in result):
                result.append(match)
        return result

    def _starting(self, words: Sequence[str], start: int, unit: str) -> Iterator[_Match]:
        """Yield the longest name of a unit that starts at a word."""
        phrases = self._phrases_of(words[start])
        for end in range(min(len(words), start + phrases.longest), start, -1):
            for row in phrases.rows_of(tuple(words[start:end])):
                if _applies(row, unit, words):
                    yield _Match(start, end, row)
                    return

    def _phrases_of(self, word: str) -> _Phrases:
        """Return the names that start with a word, written out when they are first needed."""
        if word not in self._phrases:
            names = self._names.get(word, ())
            self._phrases[word] = _Phrases(
                (*phrase, row) for name, row in names for phrase in _phrases(name)
            )
        return self._phrases[word]


class _Phrases:
    """Rows by the words of their names, of which "#" is any number.

    Args:
        phrases: words, the numbers of "#" and the row of each.
    """

    def __init__(self, phrases: Iterable[tuple[_Words, str, Mapping[str, Any]]]) -> None:
        self._rows: dict[_Words, list[tuple[str, Mapping[str, Any]]]] = {}
        for words, numbers, row in phrases:
            self._rows.setdefault(words, []).append((numbers, row))
        self.longest = max(map(len, self._rows), default=0)

    def rows_of(self, words: _Words) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a name: those that state it, then those with a range of numbers."""
        for _, row in self._rows.get(words, ()):
            yield row
        for place, word in enumerate(words):
            if place and word.isdecimal():
                ranged = (*words[:place], _ANY_NUMBER, *words[place + 1 :])
                for numbers, row in self._rows.get(ranged, ()):
                    if _is_of(word, numbers):
                        yield row


def design_named(text: str, family: Family) -> NamedDesign | None:
    """Return the design that the name of a device means; None where it means none or several.

    Args:
        text: the name, with its vendor where it does not say it.
        family: kind of compute unit.
    """
    return _named(text, _UNIT_OF.get(family, "npu"))


def cores_named(text: str) -> NamedDesign | None:
    """Return the design of a cluster's cores by its name, "Cortex-A76" or "Kryo 585 Gold"."""
    design = _named(text, CORE)
    return design if design is not None and len(design.cores) == 1 else None


@lru_cache(maxsize=256)
def _named(text: str, unit: str) -> NamedDesign | None:
    plain = _MARKS.sub(" ", text)
    places = [m for m in _WORD.finditer(plain) if m[0].lower() not in _IGNORED]
    matches = _table().matches([place[0].lower() for place in places], unit)
    used = _narrowed([match for match in matches if _design(match.row, unit)], unit)
    chips = {match.row["chip"] for match in matches if "chip" in match.row}
    if len({_designs(match.row, unit)[0] for match in used}) > 1 or not (used or chips):
        return None
    best = max(used or matches, key=lambda match: len(match.row))
    row = best.row
    name = _name(plain, places[best.start].start(), places[best.end - 1].end())
    return NamedDesign(
        cores=_design(row, unit),
        chip=chips.pop() if len(chips) == 1 else "",
        instruction_sets=tuple(row.get("sets", "").split()) if unit in {"cpu", CORE} else (),
        lanes=row.get("lanes") if unit == "cpu" else None,
        reason=f"{name}: {row['as']}" if row.get("as") else name,
    )


def _name(text: str, start: int, end: int) -> str:
    """Return a part of a text up to the end of its last word: i7-8700K, not i7-8700."""
    while end < len(text) and (text[end].isalnum() or text[end] == "+"):
        end += 1
    return text[start:end]


def names_dir() -> Path:
    """Return the folder of the shipped tables."""
    return resources_dir() / "names"


def read_rows() -> list[dict[str, Any]]:
    """Return the rows of the shipped tables.

    Raises:
        InputError: a file is damaged or of another schema.
    """
    rows: list[dict[str, Any]] = []
    for path in sorted(names_dir().glob("*.json")):
        content = parse_object(read_bytes(path, 1 << 20, "install the program again"), str(path))
        if content.get("schema") != SCHEMA:
            place = fields.Place(str(path)).at("schema")
            raise place.wrong(f'is not "{SCHEMA}"', "install the program again")
        groups: Any = content["groups"]
        for group in groups:
            shared = {"vendor": group["vendor"]} if "vendor" in group else {}
            rows += [{**shared, **row} for row in group["rows"]]
    return rows


@lru_cache(maxsize=1)
def _table() -> NameTable:
    return NameTable(read_rows())


def _applies(row: Mapping[str, Any], unit: str, words: Sequence[str]) -> bool:
    """Whether a row says something of a unit, and its vendor is named where that is needed."""
    if not (_design(row, unit) or (unit != CORE and CORE not in row and "chip" in row)):
        return False
    vendor = row.get("vendor")
    return vendor is None or vendor in words


def _design(row: Mapping[str, Any], unit: str) -> tuple[NamedCores, ...]:
    stated = row.get(unit)
    if stated is None and unit == CORE:
        stated = row.get("cpu")
    if stated is None:
        return ()
    if isinstance(stated, str):
        return (NamedCores(stated),)
    return tuple(NamedCores(*cores) for cores in stated)


def _designs(row: Mapping[str, Any], unit: str) -> tuple[str, ...]:
    """Return the distinct designs of a row, the fastest first."""
    return tuple(dict.fromkeys(kind.architecture for kind in _design(row, unit)))


def _narrowed(matches: list[_Match], unit: str) -> list[_Match]:
    """Return the names that count of those that mean a design.

    A row of the unit itself goes before one of the chip that it is a part of. Of a chip with
    several kinds of cores one that is named beside it, "RK3588 (Cortex-A55)", goes before the chip
    unless it is the fastest; several name no part of it.
    """
    if unit not in {"cpu", CORE}:
        return [match for match in matches if "cpu" not in match.row] or matches
    wide = [match for match in matches if len(_designs(match.row, unit)) > 1]
    if not wide:
        return matches
    kinds = _designs(wide[0].row, unit)
    parts = [m for m in matches if m not in wide and _designs(m.row, unit)[0] in kinds]
    is_part = len(parts) == 1 and _designs(parts[0].row, unit)[0] != kinds[0]
    return parts if is_part else [match for match in matches if match not in parts]


def _first_words(name: str) -> set[str]:
    """Return the words that a name of the table can start with."""
    first: set[str] = set()
    for word in name.split():
        starts = map(_WORD.match, word.removesuffix("~").split("|"))
        first |= {start[0] for start in starts if start}
        if not word.endswith("~"):
            break
    return first


def _phrases(name: str) -> Iterator[tuple[_Words, str]]:
    """Yield the words of a name of the table, and the numbers that "#" stands for in it.

    In a name "a|b" is one word or the other, "a~" a word that may be left out, "8000-8999" a
    number in that range and "7??1" one with these digits.
    """
    for parts in product(*map(_alternatives, name.split())):
        words = tuple(chain.from_iterable(words for words, _ in parts))
        yield words, "".join(numbers for _, numbers in parts)


@cache
def _alternatives(word: str) -> tuple[tuple[_Words, str], ...]:
    """Return the words that a word of a name stands for, each with the numbers of its "#"."""
    forms = word.removesuffix("~").split("|")
    return tuple(map(_words_of, [*forms, ""] if word.endswith("~") else forms))


def _words_of(form: str) -> tuple[_Words, str]:
    if _NUMBERS.fullmatch(form) or _DIGITS.fullmatch(form):
        return (_ANY_NUMBER,), form
    return tuple(match[0] for match in _WORD.finditer(form)), ""


def _is_of(number: str, numbers: str) -> bool:
    """Whether a number is in "8000-8999", or has the digits of "7??1"."""
    limits = _NUMBERS.fullmatch(numbers)
    if limits:
        return int(limits[1]) <= int(number) <= int(limits[2])
    return len(number) == len(numbers) and all(
        digit in {"?", other} for digit, other in zip(numbers, number, strict=True)
    )
