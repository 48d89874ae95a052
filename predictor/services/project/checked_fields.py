"""One JSON object of a project, its fields taken one by one, each checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from predictor.core.records import Configuration
from predictor.devices.fields import (
    Place,
    check_count,
    check_id,
    check_list,
    check_number,
    check_object,
    check_precision,
    check_runtime,
)
from predictor.devices.schema import MAX_BATCH, MAX_THREADS
from predictor.devices.strict_json import kind_of

_ID = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MAX_INT64 = 2**63 - 1


class CheckedFields:
    """The fields of an object that must have exactly these.

    Args:
        content: as it was read.
        names: of all its fields.
        place: for errors: the file and the line.

    Raises:
        InputError: a field is missing, or there is one too many.
    """

    def __init__(self, content: Mapping[str, object], names: tuple[str, ...], place: Place) -> None:
        self._content, self._place = content, place
        for name in names:
            if name not in content:
                raise place.at(name).wrong("is missing")
        for name in content:
            if name not in names:
                raise place.at(name).wrong("is not a field that this version knows")

    def text(self, name: str, limit: int, *, required: bool = False) -> str:
        """Return a text of at most ``limit`` characters; which they are does not matter."""
        value, place = self._field(name)
        if not isinstance(value, str):
            raise place.wrong(f"is {kind_of(value)} where a text was expected")
        if len(value) > limit:
            raise place.wrong(f"has {len(value):,} characters, more than {limit:,}")
        if required and not value:
            raise place.wrong("is empty")
        return value

    def identity(self, name: str) -> str:
        """Return a record's id: 32 hex digits."""
        return self._matching(name, _ID, "32 hex digits")

    def digest(self, name: str) -> str:
        """Return a SHA-256: 64 hex digits."""
        return self._matching(name, _DIGEST, "64 hex digits")

    def optional_identity(self, name: str) -> str | None:
        """Return a record's id, or None."""
        return None if self._content[name] is None else self.identity(name)

    def identities(self, name: str, limit: int) -> tuple[str, ...]:
        """Return a list of distinct ids."""
        value, place = self._field(name)
        found = tuple(
            CheckedFields({"": item}, ("",), place.item(index)).identity("")
            for index, item in enumerate(check_list(value, place, limit))
        )
        if len(set(found)) < len(found):
            raise place.wrong("names one twice")
        return found

    def texts(self, name: str, count: int, limit: int) -> tuple[str, ...]:
        """Return a list of texts."""
        value, place = self._field(name)
        return tuple(
            CheckedFields({"": item}, ("",), place.item(index)).text("", limit)
            for index, item in enumerate(check_list(value, place, count))
        )

    def inner(self, name: str, names: tuple[str, ...]) -> CheckedFields:
        """Return the fields of an object inside this one."""
        value, place = self._field(name)
        return CheckedFields(check_object(value, place), names, place)

    def whole(self, name: str) -> int:
        """Return a whole number that is not negative."""
        value, place = self._field(name)
        return _whole(value, place, 0)

    def time_ns(self, name: str) -> int:
        """Return nanoseconds since 1970."""
        return self.whole(name)

    def samples_ns(self, name: str, limit: int) -> tuple[int, ...]:
        """Return a list of times in nanoseconds."""
        value, place = self._field(name)
        items = check_list(value, place, limit)
        return tuple(_whole(item, place.item(index), 0) for index, item in enumerate(items))

    def device_id(self, name: str) -> str:
        """Return a device's id."""
        return check_id(*self._field(name))

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value, place = self._field(name)
        if not isinstance(value, bool):
            raise place.wrong(f"is {kind_of(value)} where true or false was expected")
        return value

    def optional_flag(self, name: str) -> bool | None:
        """Return true, false or None."""
        return None if self._content[name] is None else self.flag(name)

    def latency_ms(self, name: str, *, over_zero: bool = False) -> float:
        """Return a time in ms that is not negative."""
        value, place = self._field(name)
        number = check_number(value, place)
        if number < 0 or (over_zero and not number):
            raise place.wrong("is not over 0")
        return number

    def optional_latency_ms(self, name: str) -> float | None:
        """Return a time in ms, or None."""
        return None if self._content[name] is None else self.latency_ms(name)

    def configuration(self, name: str) -> Configuration:
        """Return an execution configuration."""
        names = ("runtime", "precision", "threads", "batch")
        return self.inner(name, names).as_configuration()

    def as_configuration(self) -> Configuration:
        """Return the execution configuration that these fields are."""
        content, place = self._content, self._place
        return Configuration(
            check_runtime(content["runtime"], place),
            check_precision(content["precision"], place),
            check_count(content["threads"], place.at("threads"), 0, MAX_THREADS),
            check_count(content["batch"], place.at("batch"), 0, MAX_BATCH),
        )

    def document(self, name: str, limit: int) -> str:
        """Return the text of a JSON object."""
        text = self.text(name, limit)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._place.at(name).wrong("is not the text of a JSON object")
        return text

    def _matching(self, name: str, form: re.Pattern[str], words: str) -> str:
        value, place = self._field(name)
        if not isinstance(value, str) or not form.fullmatch(value):
            raise place.wrong(f"is not {words}")
        return value

    def _field(self, name: str) -> tuple[object, Place]:
        return self._content[name], self._place.at(name) if name else self._place


def _whole(value: object, place: Place, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise place.wrong(f"is {kind_of(value)} where a whole number was expected")
    if not low <= value <= _MAX_INT64:
        raise place.wrong("is out of range")
    return value
