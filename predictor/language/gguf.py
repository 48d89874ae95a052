"""The header of a GGUF file: its fields, and names, shapes and types of its tensors.

The weights are not read; of long lists, such as the tokens of a vocabulary, the length alone.

Reference:
    ggml, ``docs/gguf.md``, versions 2 and 3.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeAlias

from predictor.core.errors import InputError
from predictor.core.files import is_file, opened
from predictor.core.text import printable, shortened
from predictor.language.ggml_types import GGML_TYPES, GgmlType

Value: TypeAlias = "bool | int | float | str | list[bool | int | float] | range"

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_AGAIN: Final = "download it again"
_MAX_HEADER: Final = 2**28  # bytes; a vocabulary of 256 000 tokens with its merges takes 2**24
_MAX_DIMENSIONS: Final = 4
_MAX_ITEMS: Final = 10_000  # of a list that is kept: layers are fewer
_MAX_DEPTH: Final = 3  # of lists in lists
_CHUNK: Final = 2**20
# Formats of numbers by the number of their type.
_NUMBERS: Final = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_STRING, _ARRAY = 8, 9
_LENGTH: Final = struct.Struct("<Q").unpack_from
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)


class Tensor(NamedTuple):
    """A tensor of a file.

    Attributes:
        name: as the file has it.
        shape: the first dimension lies together.
        type: of its elements.
    """

    name: str
    shape: tuple[int, ...]
    type: GgmlType

    @property
    def elements(self) -> int:
        """Number of weights."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes in the file."""
        return self.elements // self.type.elements * self.type.bytes


class GgufHeader(NamedTuple):
    """Fields and tensors of a file, or of all parts of a model that is split."""

    fields: dict[str, Value]
    tensors: list[Tensor]


def read_gguf(path: str | os.PathLike[str]) -> GgufHeader:
    """Read the header of a GGUF file, with those of the further parts of a split model.

    Raises:
        InputError: it cannot be read, is no GGUF file, is cut short, or a part is missing.
    """
    header = _read_part(path)
    count = header.fields.get("split.count", 0)
    if not isinstance(count, int) or count < 2:
        return header
    named = _PART.search(Path(path).name)
    if named is None or int(named[2]) != count:
        reason = f"it is one of {count:,} parts of a model, and its name does not say which"
        raise InputError(os.fspath(path), reason, "name it as it was downloaded")
    tensors: list[Tensor] = []
    fields: dict[str, Value] = {}
    for number in range(1, count + 1):
        name = f"{Path(path).name[: named.start()]}-{number:05}-of-{named[2]}.gguf"
        part = Path(path).with_name(name)
        if not is_file(part):
            reason = f"part {number} of {count:,} of its model, {shortened(name, 80)}, is missing"
            raise InputError(os.fspath(path), reason, "download all of them into one folder")
        further = _read_part(part)
        fields = fields or further.fields  # the first part has them
        tensors += further.tensors
    return GgufHeader(fields, tensors)


def _read_part(path: str | os.PathLike[str]) -> GgufHeader:
    with opened(path) as (stream, status):
        reader = _Reader(stream, os.fspath(path))
        return reader.header(status.st_size)


class _Reader:
    """Reads values one after another, as much of the file as they need."""

    def __init__(self, stream: BinaryIO, subject: str) -> None:
        self._stream, self._subject = stream, subject
        self._data, self._at = bytearray(), 0

    def header(self, file_bytes: int) -> GgufHeader:
        if self._bytes(4) != _MAGIC:
            raise self._error("it is no GGUF file", "choose a .gguf file")
        version = self._number("I")
        if version not in _VERSIONS:
            big = int.from_bytes(int(version).to_bytes(4, "little"), "big") in _VERSIONS
            what = "for big-endian machines" if big else f"of version {version}, not 2 or 3"
            raise self._error(f"it is a GGUF file {what}", "convert the model again")
        tensor_count, field_count = self._count(), self._count()
        fields = {self._text(): self._value(int(self._number("I"))) for _ in range(field_count)}
        placed = [self._tensor() for _ in range(tensor_count)]
        alignment = fields.get("general.alignment", 32)
        step = alignment if isinstance(alignment, int) and alignment > 0 else 32
        start = -(-self._at // step) * step
        end = max((start + offset + tensor.bytes for tensor, offset in placed), default=0)
        if end > file_bytes:
            reason = f"it is cut short: its tensors end at byte {end:,}, and it has {file_bytes:,}"
            raise self._error(reason)
        return GgufHeader(fields, [tensor for tensor, _ in placed])

    def _error(self, reason: str, action: str = _AGAIN) -> InputError:
        return InputError(self._subject, reason, action)

    def _need(self, size: int) -> int:
        """Return the place of the next ``size`` bytes, which are read then, and pass them."""
        end = self._at + size
        if end > _MAX_HEADER:
            raise self._error(f"its header is longer than {_MAX_HEADER:,} bytes")
        while len(self._data) < end:
            chunk = self._stream.read(_CHUNK)
            if not chunk:
                raise self._error("it is cut short within its header")
            self._data += chunk
        at, self._at = self._at, end
        return at

    def _bytes(self, size: int) -> bytes:
        at = self._need(size)
        return bytes(self._data[at : at + size])

    def _number(self, form: str) -> bool | int | float:
        number = struct.Struct(f"<{form}")
        value: bool | int | float = number.unpack(self._bytes(number.size))[0]
        return value

    def _count(self) -> int:
        return int(self._number("Q"))

    def _text(self) -> str:
        return self._bytes(self._count()).decode("utf-8", "replace")

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            return self._items(1)
        return self._number(self._form(kind))

    def _form(self, kind: int) -> str:
        form = _NUMBERS.get(kind)
        if form is None:
            raise self._error(f"a field of it has the type {kind}, which GGUF has not")
        return form

    def _items(self, depth: int) -> list[bool | int | float] | range:
        """Return the numbers of a list; of texts, lists and long lists a range of its length."""
        kind, count = int(self._number("I")), self._count()
        if kind == _STRING:
            self._pass_texts(count)
        elif kind == _ARRAY:
            if depth == _MAX_DEPTH:
                raise self._error("its lists are nested too deeply")
            for _ in range(count):
                self._items(depth + 1)
        else:
            form = self._form(kind)
            at = self._need(count * struct.calcsize(f"<{form}"))
            if count <= _MAX_ITEMS:
                return list(struct.unpack_from(f"<{count}{form}", self._data, at))
        return range(count)

    def _pass_texts(self, count: int) -> None:
        """Pass texts, of which a vocabulary with its merges has half a million."""
        data, at, last = self._data, self._at, len(self._data) - 8
        for _ in range(count):
            if at > last:
                self._at = at
                self._need(8)
                last = len(data) - 8
            at += 8 + _LENGTH(data, at)[0]
        self._at = at
        self._need(0)

    def _tensor(self) -> tuple[Tensor, int]:
        """Return a tensor and its place after the header."""
        name, dimensions = self._text(), int(self._number("I"))
        what = f"its tensor {printable(shortened(name, 60))}"
        if dimensions > _MAX_DIMENSIONS:
            raise self._error(f"{what} has {dimensions:,} dimensions")
        shape = tuple(self._count() for _ in range(dimensions))
        number, offset = int(self._number("I")), self._count()
        kind = GGML_TYPES.get(number)
        if kind is None:
            reason = f"{what} has the type {number}, which is not known"
            raise self._error(reason, "choose a file in another quantisation")
        if not shape or 0 in shape or shape[0] % kind.elements:
            sizes = "×".join(f"{size:,}" for size in shape) or "none"
            raise self._error(f"{what} has the shape {sizes}, which {kind.name} cannot have")
        return Tensor(name, shape, kind), offset


def blocks_of(tensors: list[Tensor]) -> Iterator[tuple[str, int, Tensor]]:
    """Yield name without the block's number and ending, number (-1 outside blocks), tensor."""
    for tensor in tensors:
        stem = tensor.name.removesuffix(".weight")
        parts = stem.split(".", 2)
        if len(parts) > 2 and parts[0] == "blk" and parts[1].isdecimal():
            yield parts[2], int(parts[1]), tensor
        else:
            yield stem, -1, tensor
