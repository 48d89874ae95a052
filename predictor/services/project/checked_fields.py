"""Checks of single fields of a project: each returns the value in our type or raises InputError."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeVar

from predictor.core.documents import Document
from predictor.core.records import Basis, Configuration
from predictor.core.text import escaped
from predictor.devices import fields
from predictor.devices.schema import MAX_BATCH, MAX_THREADS
from predictor.devices.strict_json import kind_of

_Value = TypeVar("_Value")
_MAX_INT64 = 2**63 - 1


def check_names(
    content: Mapping[str, object], names: Iterable[str], place: fields.Place
) -> Mapping[str, object]:
    """Check that an object has exactly these fields."""
    expected = tuple(names)
    for name in expected:
        if name not in content:
            raise place.at(name).wrong("is missing")
    for name in content:
        if name not in expected:
            raise place.at(name).wrong("is not a field that this version knows")
    return content


def check_inner(value: object, names: Iterable[str], place: fields.Place) -> Mapping[str, object]:
    """Check an object inside another one."""
    return check_names(fields.check_object(value, place), names, place)


def check_any_text(
    value: object,
    place: fields.Place,
    limit: int,
    *,
    required: bool = False,
    errors: Literal["strict", "surrogateescape"] = "strict",
) -> str:
    """Check a text of at most ``limit`` characters of any kind.

    Half of a surrogate pair is no character. Python has some for the bytes of a file's name that
    are no UTF-8, which ``surrogateescape`` lets pass.
    """
    if not isinstance(value, str):
        raise place.wrong(f"is {kind_of(value)} where a text was expected")
    if len(value) > limit:
        raise place.wrong(f"has {len(value):,} characters, more than {limit:,}")
    if required and not value:
        raise place.wrong("is empty")
    try:
        # SQLite stores UTF-8, in which half of a pair has no bytes.
        value.encode(errors=errors)
    except UnicodeEncodeError as error:
        half = escaped(value[error.start])
        raise place.wrong(f"holds {half}, half of a surrogate pair") from error
    return value


def check_digits(value: object, place: fields.Place, count: int) -> str:
    """Check a number of ``count`` hex digits: a record's id, or a SHA-256."""
    if not isinstance(value, str) or not re.fullmatch(rf"[0-9a-f]{{{count}}}", value):
        raise place.wrong(f"is not {count} hex digits")
    return value


def check_items(
    value: object, place: fields.Place, limit: int, check: Callable[[object, fields.Place], _Value]
) -> tuple[_Value, ...]:
    """Check a list of at most ``limit`` entries."""
    items = fields.check_list(value, place, limit)
    return tuple(check(item, place.item(index)) for index, item in enumerate(items))


def check_integer(value: object, place: fields.Place) -> int:
    """Check a whole number that is not negative and that SQLite can hold."""
    # bool is a subclass of int: true would pass for 1.
    if isinstance(value, bool) or not isinstance(value, int):
        raise place.wrong(f"is {kind_of(value)} where a whole number was expected")
    if not 0 <= value <= _MAX_INT64:
        raise place.wrong("is out of range")
    return value


def check_flag(value: object, place: fields.Place) -> bool:
    """Check true or false."""
    if not isinstance(value, bool):
        raise place.wrong(f"is {kind_of(value)} where true or false was expected")
    return value


def check_latency(value: object, place: fields.Place, *, over_zero: bool) -> float:
    """Check a time in ms that is not negative."""
    number = fields.check_number(value, place)
    if number < 0 or (over_zero and not number):
        raise place.wrong("is not over 0")
    return number


def check_basis(value: object, place: fields.Place) -> Basis:
    """Check the basis of a latency."""
    if value not in list(Basis):
        raise place.wrong("is none that this version knows", f"use one of {', '.join(Basis)}")
    return Basis(str(value))


def check_configuration(value: object, place: fields.Place) -> Configuration:
    """Check an execution configuration."""
    content = check_inner(value, ("runtime", "precision", "threads", "batch"), place)
    return Configuration(
        fields.check_runtime(content["runtime"], place),
        fields.check_precision(content["precision"], place),
        fields.check_count(content["threads"], place.at("threads"), 0, MAX_THREADS),
        fields.check_count(content["batch"], place.at("batch"), 0, MAX_BATCH),
    )


def check_document(
    value: object, place: fields.Place, limit: int, document: type[Document]
) -> Document:
    """Check the text of a JSON object."""
    text = check_any_text(value, place, limit)
    try:
        checked = document.from_json(text)
    except ValueError as error:
        raise place.wrong("is not the text of a JSON object") from error
    if "\\ud" in text.lower():  # half of a pair may stand there escaped
        unescaped = json.dumps(checked.content, ensure_ascii=False)
        check_any_text(unescaped, place, len(unescaped), errors="surrogateescape")
    return checked
