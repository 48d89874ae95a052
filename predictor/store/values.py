"""Codecs of record fields: values of columns, and back."""

from __future__ import annotations

import json
import struct
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from predictor.core.fields import Field, Kind
from predictor.core.records import Basis, Configuration, Precision
from predictor.store.tables import Tables

_SAMPLE_BYTES = 8
# A project may carry any time; one past this year is no clock's.
_YEAR_2116_NS: Final = 2**62
_LOOKED_BACK: Final = 1000
_TARGET: Final = ("device_id", "configuration")


def new_id() -> str:
    """Return the id of a new record: 32 hex digits that no other store will make."""
    return uuid.uuid4().hex


def next_time(db: Tables, table: str) -> int:
    """Return the time of a new record of a table, in ns since 1970; inside a transaction.

    Records stand in the order of their times, so that one that is made after the clock was put back
    gets the time just after the newest. Of records that came from other stores a few may be later.
    """
    # The last rows only: not every table has an index on its times.
    rows = db.execute(
        "SELECT max(created_ns) FROM (SELECT created_ns"  # noqa: S608 - our own words
        f" FROM {table} WHERE created_ns < ? ORDER BY rowid DESC LIMIT ?)",
        (_YEAR_2116_NS, _LOOKED_BACK),
    )
    newest: int | None = rows.fetchone()[0]
    return max(time.time_ns(), (newest or 0) + 1)


def text_in(text: str) -> str | bytes:
    """Return ``text`` for a column; a name that is not Unicode goes in as bytes.

    A file name may hold bytes that are no UTF-8; Python carries them as lone surrogates, which
    SQLite's text cannot hold.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def text_out(value: str | bytes) -> str:
    """Return the text that ``text_in`` wrote, in one copy for all rows that have the same."""
    text = value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
    return sys.intern(text)


def _samples_in(samples_ns: Sequence[int]) -> bytes:
    """Return samples as little-endian int64, 8 bytes each, in order."""
    return struct.pack(f"<{len(samples_ns)}q", *samples_ns)


def _samples_out(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // _SAMPLE_BYTES}q", data)


@lru_cache(maxsize=256)
def names_out(text: str) -> tuple[str, ...]:
    """Return a tuple of texts; thousands of predictions have the same, mostly none."""
    return tuple(json.loads(text))


def _document_out(field: Field) -> Callable[[Any], object]:
    return lambda text: field.document(text=text_out(text))


_IN: Final[Mapping[Kind, Callable[[Any], object]]] = {
    Kind.NAME: text_in,
    Kind.REMARK: text_in,
    Kind.NAMES: json.dumps,
    Kind.BASIS: str,
    Kind.SAMPLES: _samples_in,
    Kind.DOCUMENT: lambda document: text_in(document.to_json()),
}
_OUT: Final[Mapping[Kind, Callable[[Any], object]]] = {
    Kind.NAME: text_out,
    Kind.REMARK: text_out,
    Kind.DIGEST: text_out,
    Kind.NAMES: names_out,
    Kind.BASIS: Basis,
    Kind.SAMPLES: _samples_out,
    Kind.FLAG: bool,
}


class Columns:
    """The columns of a record's fields; its target is a row of another table.

    Args:
        fields: of the record, device and configuration among them.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        record_fields = [field for field in fields if field.name not in _TARGET]
        self._in = [(f.column, f.name, _IN.get(f.kind)) for f in record_fields]
        decoders = [
            (f, _document_out(f) if f.kind is Kind.DOCUMENT else _OUT.get(f.kind))
            for f in record_fields
        ]
        self._plain = [(f.name, f.column) for f, decode in decoders if decode is None]
        self._decoded = [(f.name, f.column, decode) for f, decode in decoders if decode is not None]

    def values(self, record: object) -> dict[str, object]:
        """Return a record as a row, but for its target."""
        row = {}
        for column, name, encode in self._in:
            value = getattr(record, name)
            row[column] = value if encode is None or value is None else encode(value)
        return row

    def fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a record from a row that was joined with its target."""
        values = {name: row[column] for name, column in self._plain}
        for name, column, decode in self._decoded:
            value = row[column]
            values[name] = None if value is None else decode(value)
        return values | target_of(row)


def target_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return device id and configuration of a row that was joined with its target."""
    configuration = _configuration(row["runtime"], row["precision"], row["threads"], row["batch"])
    return {"device_id": row["device_id"], "configuration": configuration}


@lru_cache(maxsize=1024)
def _configuration(runtime: str, precision: str, threads: int, batch: int) -> Configuration:
    return Configuration(runtime, Precision(precision), threads, batch)
