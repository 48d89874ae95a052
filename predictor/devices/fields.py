"""Checks of single fields of a device: each returns the value in our type or raises InputError.

The form of the window checks one field at a time with the same functions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from predictor.core.errors import InputError
from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.metrics import METRIC_BY_NAME, Family, Metric
from predictor.core.records import Precision
from predictor.core.runtimes import RUNTIMES
from predictor.core.text import printable, shortened
from predictor.core.units import significant
from predictor.devices.strict_json import kind_of

ID_PATTERN = r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*$"
MAX_ID = 64
MAX_NAME = 120
MAX_SOURCE = 500
MAX_NOTES = 4000
_ID = re.compile(ID_PATTERN)
_PRECISIONS = {precision.value: precision for precision in Precision}
_FAMILIES = {family.value: family for family in Family}
_NUMBERS = (int, float)
_CORRECT = "correct the field"


class Place(NamedTuple):
    """Where a value stands: the file (or form) and the path of the field in it."""

    subject: str
    field: str = ""

    def at(self, name: str) -> Place:
        """Return the place of a field inside this one."""
        return Place(self.subject, f"{self.field}.{name}" if self.field else name)

    def item(self, index: int) -> Place:
        """Return the place of an entry of this list, counted from 1 for people."""
        return Place(self.subject, f"{self.field} {index + 1}")

    def wrong(self, reason: str, action: str = _CORRECT) -> InputError:
        """Return the error about this field, ``reason`` behind its name."""
        return InputError(self.subject, f"{self.field} {reason}", action)


def is_usual_text(text: str, limit: int) -> bool:
    """Whether ``check_text`` lets a text pass that is not empty."""
    return len(text) <= limit and bool(text.strip()) and printable(text) == text


def check_text(value: object, place: Place, limit: int, *, required: bool = True) -> str:
    """Check a one-line text for people.

    Raises:
        InputError: when it is no text, empty though required, longer than ``limit``, or holds
            control, direction or other characters that are not shown as they are.
    """
    if not isinstance(value, str):
        raise place.wrong(f"is {kind_of(value)} where a text was expected")
    if required and not value.strip():
        raise place.wrong("is empty")
    if len(value) > limit:
        raise place.wrong(f"has {len(value):,} characters, more than {limit:,}")
    if printable(value) != value:
        raise place.wrong(f"holds hidden or direction characters ({shortened(value, 60)})")
    return value


def check_notes(value: object, place: Place) -> str:
    """Check the notes: text as in :func:`check_text`, of several lines."""
    if not isinstance(value, str):
        raise place.wrong(f"is {kind_of(value)} where a text was expected")
    if len(value) > MAX_NOTES:
        raise place.wrong(f"has {len(value):,} characters, more than {MAX_NOTES:,}")
    for line in value.split("\n"):
        check_text(line, place, MAX_NOTES, required=False)
    return value


def check_id(value: object, place: Place) -> str:
    """Check an id: lower-case letters and digits, joined by ``-``, ``_`` or ``.``."""
    text = check_text(value, place, MAX_ID)
    # "$" also matches before a trailing newline.
    if not _ID.match(text) or text.endswith("\n"):
        raise place.wrong(
            f'is "{text}", which is not a slug',
            "use lower-case letters and digits joined by -, _ or .",
        )
    return text


def check_number(value: object, place: Place) -> float:
    """Check that a value is a finite number (true and false are none) and return it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        hint = "leave the field out where it is not known" if value is None else _CORRECT
        raise place.wrong(f"is {kind_of(value)} where a number was expected", hint)
    try:
        number = float(value)
    except OverflowError:
        # A whole number of JSON with more than 308 digits.
        number = math.inf
    if not math.isfinite(number):
        raise place.wrong("is not a finite number")
    return number


def check_metric(name: str, value: object, place: Place) -> float:
    """Check one HCV metric against its plausible range.

    Args:
        name: one of ``METRICS``.
        value: as it was read.
        place: of the object that holds the metric.

    Raises:
        InputError: naming the metric, the value, the range with its unit, and a remedy.
    """
    metric = METRIC_BY_NAME[name]
    # The usual case first: thousands of metrics are checked at each start. True is an int, 1.
    if isinstance(value, _NUMBERS) and value is not True and metric.low <= value <= metric.high:
        return float(value)
    return check_range(metric, value, place.at(name))


def check_range(metric: Metric, value: object, place: Place) -> float:
    """Check a value at ``place`` against the plausible range of ``metric``."""
    number = check_number(value, place)
    if not metric.low <= number <= metric.high:
        raise place.wrong(
            f"is {_plain(number)}, outside of {range_text(metric)}",
            "correct the value or its unit, or leave it out where it is not known",
        )
    return number


def range_text(metric: Metric) -> str:
    """Write a metric's plausible range for people: ``1 to 10000 MHz``."""
    unit = f" {metric.unit}" if metric.unit else ""
    return f"{_plain(metric.low)} to {_plain(metric.high)}{unit}"


def check_count(value: object, place: Place, low: int, high: int) -> int:
    """Check a whole number between ``low`` and ``high``."""
    number = check_number(value, place)
    if number != int(number):
        raise place.wrong(f"is {_plain(number)} where a whole number was expected")
    if not low <= number <= high:
        raise place.wrong(f"is {_plain(number)}, outside of {low} to {high}")
    return int(number)


def check_family(value: object, place: Place) -> Family:
    """Check the field ``family``, the kind of compute unit, of the object at ``place``."""
    return _FAMILIES[_one_of(value, place, "family", _FAMILIES)]


def check_runtime(value: object, place: Place) -> str:
    """Check the field ``runtime`` of the object at ``place``."""
    return _one_of(value, place, "runtime", RUNTIMES)


def check_precision(value: object, place: Place) -> Precision:
    """Check the field ``precision`` of the object at ``place``."""
    return _PRECISIONS[_one_of(value, place, "precision", _PRECISIONS)]


def check_instruction_sets(value: object, place: Place) -> tuple[str, ...]:
    """Check a list of instruction sets, each named once."""
    items = check_list(value, place, len(INSTRUCTION_SETS))
    if not items:
        raise place.wrong("is empty", 'leave it out where it is not known, or use ["none"]')
    for index, item in enumerate(items):
        if not isinstance(item, str) or item not in INSTRUCTION_SETS:
            text = check_text(item, place.item(index), MAX_NAME)
            raise place.item(index).wrong(
                f'is "{shortened(text, 40)}"', f"use one of {', '.join(INSTRUCTION_SETS)}"
            )
        if item in items[:index]:
            raise place.item(index).wrong("is listed twice", "remove one of the two")
    return tuple(str(item) for item in items)


def check_object(value: object, place: Place) -> dict[str, object]:
    """Check that a value is a JSON object and return it."""
    if not isinstance(value, dict):
        raise place.wrong(f"is {kind_of(value)} where an object was expected")
    return value


def check_list(value: object, place: Place, limit: int) -> list[object]:
    """Check that a value is a list of at most ``limit`` entries and return it."""
    if not isinstance(value, list):
        raise place.wrong(f"is {kind_of(value)} where a list was expected")
    if len(value) > limit:
        raise place.wrong(f"has {len(value):,} entries, more than {limit}")
    return value


def _one_of(value: object, place: Place, field: str, choices: Mapping[str, object]) -> str:
    """Return ``value`` where it is a key of ``choices``."""
    if isinstance(value, str) and value in choices:
        return value
    text = check_text(value, place.at(field), MAX_NAME)
    raise place.at(field).wrong(f'is "{shortened(text, 40)}"', f"use one of {', '.join(choices)}")


def _plain(number: float) -> str:
    """Write a number in full where it is short, else with four significant digits."""
    text = f"{number:g}" if abs(number) >= 1e15 else significant(number, 6)
    return text if len(text) <= 18 else f"{number:.4g}"
