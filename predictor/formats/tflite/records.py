"""Records of a flatbuffer: fields by their numbers, each read within the bounds of the file.

The runtime of the package ``flatbuffers`` follows any offset, and looks a field up in three calls;
networks have thousands.

Reference:
    FlatBuffers, "Internals": tables, vtables, vectors.
"""

from __future__ import annotations

import mmap
import struct
from typing import Final

_U16: Final = struct.Struct("<H")
_U32: Final = struct.Struct("<I")
_I32: Final = struct.Struct("<i")


class Record:
    """A table of a flatbuffer.

    Args:
        data: the file.
        position: of the table.

    Attributes:
        data: as above.
        position: as above.

    Raises:
        struct.error: it lies outside of the file; methods raise it too, and ValueError.
    """

    __slots__ = ("_fields", "data", "position")

    def __init__(self, data: mmap.mmap, position: int) -> None:
        start = position - _I32.unpack_from(data, position)[0]
        if start < 0:
            raise ValueError(start)
        size = _U16.unpack_from(data, start)[0]
        self.data, self.position = data, position
        self._fields: tuple[int, ...] = struct.unpack_from(
            f"<{max(size - 4, 0) // 2}H", data, start + 4
        )

    @classmethod
    def root(cls, data: mmap.mmap) -> Record:
        """Return the first table of a file."""
        return cls(data, _U32.unpack_from(data, 0)[0])

    def _place(self, field: int) -> int:
        """Return the position of a field, 0 where it is absent."""
        offset = self._fields[field] if field < len(self._fields) else 0
        return self.position + offset if offset else 0

    def number(self, field: int, form: struct.Struct = _I32) -> int:
        """Return a number, 0 where it is absent."""
        place = self._place(field)
        return int(form.unpack_from(self.data, place)[0]) if place else 0

    def _target(self, field: int) -> int:
        """Return the position that a field leads to, 0 where it is absent."""
        place = self._place(field)
        return place + int(_U32.unpack_from(self.data, place)[0]) if place else 0

    def record(self, field: int) -> Record | None:
        """Return a table, None where it is absent."""
        target = self._target(field)
        return Record(self.data, target) if target else None

    def vector(self, field: int, width: int = 4) -> tuple[int, int]:
        """Return the position and the length of a vector, 0 and 0 where it is absent.

        Args:
            field: its number.
            width: bytes of an element.
        """
        target = self._target(field)
        if not target:
            return 0, 0
        length = int(_U32.unpack_from(self.data, target)[0])
        if target + 4 + length * width > len(self.data):
            raise ValueError(length)
        return target + 4, length

    def integers(self, field: int) -> tuple[int, ...]:
        """Return a vector of 32-bit integers."""
        start, length = self.vector(field)
        return struct.unpack_from(f"<{length}i", self.data, start) if length else ()

    def text(self, field: int) -> str:
        """Return a text, empty where it is absent."""
        start, length = self.vector(field, 1)
        return self.data[start : start + length].decode("utf-8", "replace")

    def item(self, field: int, index: int) -> Record:
        """Return a table of a vector of tables."""
        start, length = self.vector(field)
        if not 0 <= index < length:
            raise ValueError(index)
        place = start + 4 * index
        return Record(self.data, place + int(_U32.unpack_from(self.data, place)[0]))
