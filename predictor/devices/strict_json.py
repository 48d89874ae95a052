"""Reads one JSON object from an untrusted file.

Stricter than ``json.loads``: a repeated key, NaN, Infinity, a number that overflows, half of a
surrogate pair, a file that is too large or nested too deeply are each refused in one sentence.
"""

from __future__ import annotations

import json
import math
import os
from typing import NoReturn

from predictor.core.errors import InputError
from predictor.core.files import read_bytes
from predictor.core.text import shortened

MAX_BYTES = 1_000_000
_CORRECT = "correct the file, or export it again"


class _RefusedError(ValueError):
    """Raised by the decoder's hooks: the reason, without the file that it stands in."""


def read_object(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read the JSON object in the file at ``path``.

    Raises:
        InputError: when it cannot be read, is over ``MAX_BYTES``, or is no JSON object.
    """
    data = read_bytes(path, MAX_BYTES, "choose a device file that exists")
    return parse_object(data, os.fspath(path))


def parse_object(
    data: bytes, subject: str, what: str = "device file", limit: int = MAX_BYTES
) -> dict[str, object]:
    """Parse ``data`` as one JSON object.

    Args:
        data: the bytes of the file, UTF-8 with or without a byte order mark.
        subject: its name in an error, usually its path.
        what: the kind of file that was expected.
        limit: most bytes that it may have.

    Raises:
        InputError: naming ``subject``, the place and the reason.
    """
    if len(data) > limit:
        raise InputError(
            subject,
            f"is larger than {limit:,} bytes, the most that a {what} may have",
            f"choose a {what}",
        )
    try:
        text = data.decode("utf-8-sig")
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(subject, f"is not JSON ({error.msg} at {place})", _CORRECT) from error
    except UnicodeDecodeError as error:
        raise InputError(
            subject,
            f"is not text in UTF-8 (byte {error.start})",
            f"choose a {what}, or save it as UTF-8",
        ) from error
    except RecursionError as error:
        raise InputError(subject, f"is nested too deeply for a {what}", _CORRECT) from error
    except ValueError as error:
        # The hooks' own reasons, and Python's limit on the digits of a whole number.
        reason = (
            str(error) if isinstance(error, _RefusedError) else "holds a number that is too long"
        )
        raise InputError(subject, reason, _CORRECT) from error
    if not isinstance(value, dict):
        raise InputError(
            subject,
            f"holds {kind_of(value)} where a JSON object was expected",
            f"choose a {what}",
        )
    return value


def kind_of(value: object) -> str:
    """Name the JSON kind of a value, with its article."""
    names = {bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), "a number")


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                raise _RefusedError(f'holds the field "{shortened(key, 40)}" twice')
            keys.add(key)
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedError(f"holds {name}, which is not a number in JSON")


def _finite(text: str) -> float:
    value = float(text)
    # float() makes infinity of 1e999 without an error.
    if math.isinf(value):
        raise _RefusedError(f"holds the number {shortened(text, 20)}, which is too large")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant, parse_float=_finite
)
