"""How values that SQLite has no type for are written in a column."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Sequence

_SAMPLE_BYTES = 8


def new_id() -> str:
    """Return the id of a new record: 32 hex digits that no other store will make."""
    return uuid.uuid4().hex


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
    """Return the text that ``text_in`` wrote."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def pack_samples(samples_ns: Sequence[int]) -> bytes:
    """Return samples as little-endian int64, 8 bytes each, in order."""
    return struct.pack(f"<{len(samples_ns)}q", *samples_ns)


def unpack_samples(data: bytes) -> tuple[int, ...]:
    """Return the samples that ``pack_samples`` wrote, in nanoseconds."""
    return struct.unpack(f"<{len(data) // _SAMPLE_BYTES}q", data)
