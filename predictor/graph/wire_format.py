"""Protobuf's wire format, walked by hand so that the data of large tensors is never read.

A field is a tag (number and wire type as one varint) and a body; a message is a run of fields. The
walk seeks over the bodies of large tensors, copies everything else as it stands and gives bytes
that ``onnx.ModelProto`` parses as the same model without that data.

Reference:
    https://protobuf.dev/programming-guides/encoding and ``onnx/onnx.proto`` for the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO, NamedTuple

LARGE_BYTES = 64 * 1024
"""A tensor whose data is larger is left out; so is a text or blob that no shape depends on."""

_WINDOW_BYTES = 32 * 1024
_HEAD_BYTES = 20  # two varints of ten bytes: no tag with its length is longer
_MAX_DEPTH = 100  # protobuf's own limit for nested messages

_VARINT, _LENGTH = 0, 2
_FIXED_BYTES = {1: 8, 5: 4}  # wire types of fixed size; 3 and 4, groups, are not in ONNX
_FIRST_TAG = 1 << 3  # field numbers start at 1


class WireError(Exception):
    """The bytes break the format; the text names the place and the reason."""


class TruncatedError(WireError):
    """The file ends in the middle of a field."""


class LimitError(WireError):
    """The file is larger in one respect than we take."""


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """Limits of a walk: nodes at every depth, and bytes once large data is left out."""

    nodes: int
    copied_bytes: int


class Field(NamedTuple):
    """One field: where its tag starts, where its body starts, and where it ends."""

    number: int
    wire_type: int
    start: int
    body: int
    stop: int


class StoredData(NamedTuple):
    """Amount of data in a tensor message.

    Attributes:
        raw_bytes: length of ``raw_data``, None where there is none.
        min_elements, max_elements: bounds of the number of elements in the typed fields; they
            differ for packed varints, which are not read, of 1 to 10 bytes each.
    """

    raw_bytes: int | None
    min_elements: int
    max_elements: int


class _Message(Enum):
    MODEL = "ModelProto"
    GRAPH = "GraphProto"
    NODE = "NodeProto"
    ATTRIBUTE = "AttributeProto"
    TENSOR = "TensorProto"
    SPARSE = "SparseTensorProto"
    FUNCTION = "FunctionProto"


# Treatment of a field with a large body, by message and number: walked into, or left out (None:
# documentation, metadata, training graphs, attribute blobs). Every other field is copied.
_RULES: dict[_Message, dict[int, _Message | None]] = {
    _Message.MODEL: {6: None, 7: _Message.GRAPH, 14: None, 20: None, 25: _Message.FUNCTION},
    _Message.GRAPH: {
        1: _Message.NODE,
        5: _Message.TENSOR,
        10: None,
        15: _Message.SPARSE,
        16: None,
    },
    _Message.NODE: {5: _Message.ATTRIBUTE, 6: None, 9: None},
    _Message.ATTRIBUTE: {
        4: None,
        5: _Message.TENSOR,
        6: _Message.GRAPH,
        10: _Message.TENSOR,
        11: _Message.GRAPH,
        13: None,
        22: _Message.SPARSE,
        23: _Message.SPARSE,
    },
    _Message.SPARSE: {1: _Message.TENSOR, 2: _Message.TENSOR},
    _Message.FUNCTION: {7: _Message.NODE, 8: None, 11: _Message.ATTRIBUTE, 14: None},
}
_NODE_FIELD = {_Message.GRAPH: 1, _Message.FUNCTION: 7}

_RAW_DATA = 9
# Typed data of a tensor: bytes of one element where that is fixed, None for varints and strings.
_TYPED_DATA: dict[int, int | None] = {4: 4, 5: None, 6: None, 7: None, 10: 8, 11: None}
_STRING_DATA = 6
_TENSOR_REMARKS = frozenset({12, 16})  # doc_string and metadata_props


class Source:
    """A file that is read at any offset, without the bytes in between.

    Args:
        file: unbuffered binary file.
        size: its size in bytes.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.size = size

    def read(self, start: int, length: int) -> bytes:
        """Return ``length`` bytes from ``start``.

        Raises:
            TruncatedError: the file has become shorter than it was.
        """
        self._file.seek(start)
        parts: list[bytes] = []
        missing = length
        while missing:
            # An unbuffered read may return less than requested.
            part = self._file.read(missing)
            if not part:
                raise TruncatedError(f"it ends at byte {start + length - missing} while it is read")
            parts.append(part)
            missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _varint(window: bytes, at: int) -> tuple[int, int]:
    """Return the varint at ``at`` and where it ends; IndexError past the window's end."""
    value = shift = 0
    # Ten groups of seven bits hold 64.
    while shift < 70:
        byte = window[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise WireError("a number in it is longer than ten bytes")


def _decoded(window: bytes, at: int) -> tuple[int, int, int]:
    """Return the tag at ``at``, where its body starts and where it ends (-1: no such wire type)."""
    tag = window[at]
    at += 1
    if tag >= 0x80:
        tag, at = _varint(window, at - 1)
    wire_type = tag & 7
    if wire_type == _LENGTH:
        length = window[at]
        at += 1
        if length >= 0x80:
            length, at = _varint(window, at - 1)
        return tag, at, at + length
    if wire_type == _VARINT:
        return tag, at, _varint(window, at)[1]
    if wire_type in _FIXED_BYTES:
        return tag, at, at + _FIXED_BYTES[wire_type]
    return tag, at, -1


def scan(source: Source, start: int, end: int) -> Iterator[Field]:
    """Yield the fields of the message in bytes ``start`` to ``end``; no body is read.

    Raises:
        WireError: the bytes are not a run of fields.
    """
    window, base, position = b"", start, start
    while position < end:
        at = position - base
        if at + _HEAD_BYTES > len(window) and base + len(window) < end:
            window = source.read(position, min(_WINDOW_BYTES, end - position))
            base, at = position, 0
        try:
            tag, body, stop = _decoded(window, at)
        except IndexError:  # only past the message's end, as the window goes on to there otherwise
            tag, body, stop = _FIRST_TAG, 0, end + 1 - base
        if stop < 0 or tag < _FIRST_TAG:
            raise WireError(f"byte {position} starts no field of an ONNX file")
        body, stop = base + body, base + stop
        if stop > end:
            raise _overrun(source, position, stop, end)
        yield Field(tag >> 3, tag & 7, position, body, stop)
        position = stop


def _overrun(source: Source, start: int, stop: int, end: int) -> WireError:
    if end == source.size:
        return TruncatedError(
            f"it ends at byte {end}, in the middle of a field that goes on to byte {stop}"
        )
    return WireError(f"the field at byte {start} goes past the end of its message at byte {end}")


def _encoded_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def length_field(number: int, body: bytes) -> bytes:
    """Return a length-delimited field."""
    return _encoded_varint(number << 3 | _LENGTH) + _encoded_varint(len(body)) + body


class Walk:
    """One walk over a model file.

    Args:
        source: the file.
        limits: maximum of nodes and bytes.
        on_large_tensor: called with a large tensor's message without its data, and the amount
            of data; returns the message to keep in its place.
    """

    def __init__(
        self,
        source: Source,
        limits: WalkLimits,
        on_large_tensor: Callable[[bytes, StoredData], bytes],
    ) -> None:
        self._source = source
        self._limits = limits
        self._on_large_tensor = on_large_tensor
        self._nodes = 0
        self._copied_bytes = 0

    def stripped(self) -> bytes:
        """Return the model's bytes without the data of large tensors.

        Raises:
            TruncatedError: the file ends too early.
            LimitError: it has more nodes or bytes than the limits allow.
            WireError: it is damaged, or not an ONNX file.
        """
        return self._message(_Message.MODEL, 0, self._source.size, 0)

    def _message(self, message: _Message, start: int, end: int, depth: int) -> bytes:
        """Return one message without its large data; ``depth`` messages are around it."""
        if depth > _MAX_DEPTH:
            raise LimitError(f"its messages are nested deeper than {_MAX_DEPTH} levels")
        if message is _Message.TENSOR:
            return self._tensor(start, end)
        rules, node_field = _RULES[message], _NODE_FIELD.get(message)
        parts: list[bytes] = []
        # Neighbouring fields that stay are copied in one read.
        run = start
        for number, wire_type, at, body, stop in scan(self._source, start, end):
            if number == node_field:
                self._count_node()
            if stop - body <= LARGE_BYTES or wire_type != _LENGTH or number not in rules:
                # Before the run is read into memory.
                if stop - run > self._limits.copied_bytes:
                    self._refuse_size()
                continue
            parts.append(self._copy(run, at))
            run = stop
            inner = rules[number]
            if inner is not None:
                parts.append(length_field(number, self._message(inner, body, stop, depth + 1)))
        parts.append(self._copy(run, end))
        return b"".join(parts)

    def _tensor(self, start: int, end: int) -> bytes:
        """Return a tensor message, without its data where that is large."""
        raw_bytes: int | None = None
        min_elements = max_elements = data_bytes = 0
        header_spans: list[tuple[int, int]] = []
        for field in scan(self._source, start, end):
            length = field.stop - field.body
            if field.number == _RAW_DATA and field.wire_type == _LENGTH:
                raw_bytes = length  # a later raw_data replaces an earlier one
                data_bytes += length
            elif field.number in _TYPED_DATA:
                low, high = _elements(field)
                min_elements, max_elements, data_bytes = (
                    min_elements + low,
                    max_elements + high,
                    data_bytes + length,
                )
            elif field.number not in _TENSOR_REMARKS:
                header_spans.append((field.start, field.stop))
        if data_bytes <= LARGE_BYTES:
            return self._copy(start, end)
        header = b"".join(self._copy(*span) for span in header_spans)
        return self._on_large_tensor(header, StoredData(raw_bytes, min_elements, max_elements))

    def _copy(self, start: int, stop: int) -> bytes:
        self._copied_bytes += stop - start
        if self._copied_bytes > self._limits.copied_bytes:
            self._refuse_size()
        return self._source.read(start, stop - start) if stop > start else b""

    def _count_node(self) -> None:
        self._nodes += 1
        if self._nodes > self._limits.nodes:
            raise LimitError(f"it has more than {self._limits.nodes} nodes, the most that we read")

    def _refuse_size(self) -> None:
        raise LimitError(
            f"it holds more than {self._limits.copied_bytes // 2**20} MiB besides its large "
            "tensors, the most that we read"
        )


def _elements(field: Field) -> tuple[int, int]:
    """Return the least and the greatest number of elements in a typed data field."""
    if field.wire_type != _LENGTH or field.number == _STRING_DATA:
        return 1, 1
    length = field.stop - field.body
    size = _TYPED_DATA[field.number]
    if size is None:
        # A varint takes 1 to 10 bytes.
        return -(-length // 10), length
    return length // size, length // size
