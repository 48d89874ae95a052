"""One file as the parsers see it: text with line numbers, and errors that name the place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.core.units import significant

MAX_BYTES = 64 * 2**20
LONGEST_LINE = 2**14
"""Characters of a line of a log or a table."""
# An hour: no run of a network takes longer, so a larger number is in another unit.
MAX_LATENCY_MS = 3_600_000.0
MAX_COUNT = 2**31 - 1
_QUOTED_LENGTH = 60
# Colours and the clearing of a line, as terminals get them.
_ESCAPES = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")
# Head of a message: a time, then that of logcat (two forms), of librknnrt, of ExecuTorch.
_HEAD = re.compile(
    r"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]{0,10}(?:Z|[+-]\d\d:?\d\d)?\]?:? )?"
    r"(?:\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d+ +\d+ [VDIWEF] [^:]{0,80}: )?"
    r"(?:[VDIWEF]/[^(]{1,80}\([ \d]{1,9}\): )?"
    r"(?:[VDIWEF] RKNN: \[[\d:.]{1,20}\] ?)?"
    r"(?:[DIEF] (?:[\d:.]{1,20} )?\[?executorch:[^\]]{1,200}\] ?)?"
)
_LONGEST_REASON = 500
_ACTION = "import the file as the tool wrote it"


@dataclass(frozen=True)
class Entry:
    """An element of a JSON array, and the line on which it starts."""

    line: int
    value: object


@dataclass(frozen=True)
class Source:
    """A file's name and text.

    Attributes:
        name: of the file, or a stand-in for it ("the typed values").
        text: decoded, without a byte order mark and the escapes of a terminal.
    """

    name: str
    text: str

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> Source:
        """Decode a file.

        Raises:
            InputError: it is empty, too large, or no text in UTF-8.
        """
        if len(data) > MAX_BYTES:
            limit = f"{len(data)} bytes are more than the limit of {MAX_BYTES}"
            raise InputError(name, limit, "export fewer runs, or profile fewer of them")
        if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise InputError(name, "it is UTF-16, not UTF-8", "save it again as UTF-8")
        if b"\0" in data:
            raise InputError(name, "it is a binary file, not text", _ACTION)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            reason = f"line {line} is not UTF-8 (byte {data[error.start]:#04x})"
            raise InputError(name, reason, "save it again as UTF-8") from error
        if not text.strip():
            raise InputError(name, "it is empty", _ACTION)
        return cls(name, _ESCAPES.sub("", text) if "\x1b" in text else text)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number, from 1, and its text."""
        lines = (line.rstrip("\r") for line in self.text.split("\n"))  # adb writes \r\r\n
        yield from enumerate(lines, start=1)

    def messages(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number, from 1, and its text after the head of a logger."""
        for number, line in self.lines():
            head = _HEAD.match(line)
            yield number, line[head.end() :] if head else line

    @cached_property
    def long_line(self) -> int:
        """Number of the first line that is longer than ``LONGEST_LINE``; 0 where none is."""
        lines = enumerate(self.text.split("\n"), start=1)
        return next((number for number, line in lines if len(line) > LONGEST_LINE), 0)

    def error_at(self, place: str, reason: str, action: str = _ACTION) -> InputError:
        """Return the error about a place in this file."""
        subject = f"{self.name}, {place}" if place else self.name
        return InputError(subject, shortened(reason, _LONGEST_REASON), action)

    def error(self, reason: str, action: str = _ACTION) -> InputError:
        """Return the error about the whole file."""
        return self.error_at("", reason, action)

    @property
    def looks_like_json(self) -> bool:
        """Whether it starts as a JSON array or object does."""
        return self.text.lstrip()[:1] in {"[", "{"}

    @cached_property
    def document(self) -> object:
        """The JSON document.

        Raises:
            InputError: it is no JSON, is cut short, nests too deeply, or says a key twice.
        """
        try:
            return json.loads(self.text, object_pairs_hook=self._unique)
        except json.JSONDecodeError as error:
            raise self._json_error(error) from error
        except RecursionError as error:
            raise self.error("its JSON nests too deeply") from error
        except ValueError as error:  # an integer of more digits than Python converts
            raise self.error("it holds a number of thousands of digits") from error

    def elements(self) -> Iterator[Entry]:
        """Yield the elements of a top-level JSON array, each with its line.

        Raises:
            InputError: the text is no JSON array, or is cut short.
        """
        decoder = json.JSONDecoder(object_pairs_hook=self._unique)
        position = _skip_space(self.text, 0)
        if self.text[position : position + 1] != "[":
            raise self.error("it is no JSON array")
        position = _skip_space(self.text, position + 1)
        line, counted = 1, 0
        while self.text[position : position + 1] != "]":
            # Counted on from the last element: from the start each time would be quadratic.
            line, counted = line + self.text.count("\n", counted, position), position
            try:
                value, end = decoder.raw_decode(self.text, position)
            except json.JSONDecodeError as error:
                raise self._json_error(error) from error
            except RecursionError as error:
                raise self.error_at(f"line {line}", "its JSON nests too deeply") from error
            except ValueError as error:
                reason = "it holds a number of thousands of digits"
                raise self.error_at(f"line {line}", reason) from error
            yield Entry(line, value)
            position = self._after_element(end)
        if self.text[position + 1 :].strip():
            line = self.text.count("\n", 0, position) + 1
            raise self.error_at(f"line {line}", "more follows after the end of the array")

    def _json_error(self, error: json.JSONDecodeError) -> InputError:
        if error.pos >= len(self.text.rstrip()) or "Unterminated" in error.msg:
            reason = "the JSON is cut short"
        else:
            reason = f"it is no valid JSON ({error.msg}, column {error.colno})"
        return self.error_at(f"line {error.lineno}", reason)

    def _after_element(self, end: int) -> int:
        position = _skip_space(self.text, end)
        following = self.text[position : position + 1]
        if following == ",":
            return _skip_space(self.text, position + 1)
        if following != "]":
            line = self.text.count("\n", 0, end) + 1
            reason = (
                "a comma is missing after it" if following else "the JSON is cut short after it"
            )
            raise self.error_at(f"line {line}", reason)
        return position

    def _unique(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        # json keeps the last of equal keys without a word.
        table = dict(pairs)
        if len(table) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise self.error(f"the key {_quoted(twice)} stands twice in one object")
        return table

    def latency_ms(self, place: str, value: object, per_ms: float, what: str) -> float:
        """Return a time in ms.

        Args:
            place: where it stands.
            value: number or text of a number, in the file's unit.
            per_ms: number of the file's units in a millisecond.
            what: its name in the file, for the error.

        Raises:
            InputError: it is no number, not above 0, or longer than an hour.
        """
        number = self._number(place, value, what)
        if not number > 0:
            raise self.error_at(place, f"{what} is {_quoted(value)}, not a time above 0")
        if number / per_ms > MAX_LATENCY_MS:
            hour = significant(MAX_LATENCY_MS * per_ms)
            raise self.error_at(place, f"{what} is {_quoted(value)}, over an hour ({hour})", _UNIT)
        return number / per_ms

    def duration_ms(self, place: str, value: object, per_ms: float, what: str) -> float:
        """Return a time in ms that may be 0, as clocks of operators are coarse.

        Raises:
            InputError: it is no number, below 0, or longer than an hour.
        """
        if self._number(place, value, what) == 0:
            return 0.0
        return self.latency_ms(place, value, per_ms, what)

    def quantity(self, place: str, value: object, what: str) -> float:
        """Return a number that is not below 0, in the file's unit: an instant, a sum, a share.

        Raises:
            InputError: it is something else.
        """
        number = self._number(place, value, what)
        if number < 0:
            raise self.error_at(place, f"{what} is {_quoted(value)}, below 0")
        return number

    def _number(self, place: str, value: object, what: str) -> float:
        number = math.nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = _as_float(value)
        # float() takes 1_000, which no tool writes.
        elif isinstance(value, str) and "_" not in value:
            try:
                number = float(value)
            except ValueError:
                number = math.nan
        if not math.isfinite(number):
            raise self.error_at(place, f"{what} is {_quoted(value)}, not a number")
        return number

    def count(self, place: str, value: object, what: str) -> int:
        """Return a whole number from 1 to 2^31 - 1.

        Raises:
            InputError: it is something else.
        """
        number = self._number(place, value, what)
        if number != int(number) or not 1 <= number <= MAX_COUNT:
            raise self.error_at(place, f"{what} is {_quoted(value)}, not a whole number above 0")
        return int(number)

    def ordered(self, place: str, values: Mapping[str, float]) -> None:
        """Check that values sorted by the tool do not fall.

        Raises:
            InputError: one is larger than the next, so the line is damaged or its units differ.
        """
        for low, high in pairwise(values):
            # Tools print few digits: a mean of equal runs may round above their maximum.
            if values[low] > values[high] * (1 + 1e-3) + 1e-2:
                pair = f"{low} {significant(values[low])} > {high} {significant(values[high])}"
                raise self.error_at(place, f"its values contradict each other ({pair} ms)", _UNIT)

    def table(self, place: str, value: object, what: str) -> Mapping[str, object]:
        """Return a JSON object.

        Raises:
            InputError: it is something else.
        """
        if not isinstance(value, dict):
            raise self.error_at(place, f"{what} is {_quoted(value)}, not a JSON object")
        return value

    def array(self, place: str, value: object, what: str) -> Sequence[object]:
        """Return a JSON array.

        Raises:
            InputError: it is something else.
        """
        if not isinstance(value, list):
            raise self.error_at(place, f"{what} is {_quoted(value)}, not a JSON array")
        return value


_UNIT = "check the unit, and import the file as the tool wrote it"


def median_ns(samples_ns: Sequence[int]) -> int:
    """Return sorted[floor(n / 2)], the one definition of the median here."""
    return sorted(samples_ns)[len(samples_ns) // 2]


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer above 1.8e308
        return math.inf


def _quoted(value: object) -> str:
    return shortened(repr(value), _QUOTED_LENGTH)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position
