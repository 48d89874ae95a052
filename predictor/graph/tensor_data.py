"""Constant tensors: dims that agree with their data, and small external ones read in."""

from __future__ import annotations

import math

from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.graph.external_data import ExternalData
from predictor.graph.operators import DTYPE_BITS, DTYPE_OF_ONNX
from predictor.graph.wire_format import LARGE_BYTES, StoredData, length_field

LEFT_OUT = "(data left out)"
"""``doc_string`` of a tensor whose data was not read."""

_MOST_DIMS = 64  # numpy's own limit
_MOST_ELEMENTS = 2**63 - 1
_DOC_STRING = 12

# Bits of one element by data type; strings have no fixed size.
_BITS: dict[int, int] = {
    **{
        onnx_type: DTYPE_BITS[code]
        for onnx_type, code in DTYPE_OF_ONNX.items()
        if onnx_type not in {TensorProto.UNDEFINED, TensorProto.STRING}
    },
    TensorProto.FLOAT6E2M3: 6,
    TensorProto.FLOAT6E3M2: 6,
}
_COMPLEX = (TensorProto.COMPLEX64, TensorProto.COMPLEX128)
_TYPED_FIELDS = (
    "float_data",
    "int32_data",
    "int64_data",
    "double_data",
    "uint64_data",
    "string_data",
)


class TensorCheck:
    """Checks the constant tensors of one model and makes each small one hold its own data.

    Args:
        path: of the model, for the sentences.
        most_external_bytes: how much data of small external tensors is read at most.
    """

    def __init__(self, path: str, most_external_bytes: int) -> None:
        self._path = path
        self._external = ExternalData(path)
        self._limit = self._budget = most_external_bytes

    def large(self, header: bytes, stored: StoredData) -> bytes:
        """Check a large tensor and return its message, marked as without data.

        Args:
            header: the tensor's message without its data.
            stored: how much data there was.

        Raises:
            InputError: the data is not what dims and type ask for.
            google.protobuf.message.DecodeError: the header is damaged.
        """
        tensor = TensorProto.FromString(header)
        self._check_stored(tensor, self._elements(tensor), stored)
        return header + length_field(_DOC_STRING, LEFT_OUT.encode())

    def parsed(self, tensor: TensorProto) -> None:
        """Check a tensor of the parsed model; read it in if small and external, else leave it out.

        Raises:
            InputError: its dims, its data or its external file are wrong.
        """
        elements = self._elements(tensor)
        if tensor.data_location == TensorProto.EXTERNAL:
            self._settle_external(tensor, elements)
            return
        if tensor.doc_string == LEFT_OUT:
            return
        typed = sum(len(getattr(tensor, name)) for name in _TYPED_FIELDS) if not _raw(tensor) else 0
        self._check_stored(tensor, elements, StoredData(_raw_bytes(tensor), typed, typed))
        if _is_large(tensor, elements):
            _leave_out(tensor)

    def _settle_external(self, tensor: TensorProto, elements: int) -> None:
        bits = _BITS.get(tensor.data_type)
        if bits is None:
            raise self._error(tensor, "holds text in an external file, which ONNX does not allow")
        data_bytes = -(-elements * bits // 8)
        if data_bytes > LARGE_BYTES:
            self._external.checked_span(tensor, data_bytes)
            _leave_out(tensor)
            return
        self._budget -= data_bytes
        if self._budget < 0:
            raise self._error(
                tensor,
                "and those before it, each of up to 64 KiB, have more than "
                f"{self._limit} bytes in other files, the most that we read",
            )
        data = self._external.read(tensor, data_bytes)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.raw_data = data

    def _elements(self, tensor: TensorProto) -> int:
        """Return the number of elements that the dims declare."""
        dims = tensor.dims
        if tensor.data_type not in _BITS and tensor.data_type != TensorProto.STRING:
            raise self._error(
                tensor, f"has element type {tensor.data_type}, which this version does not know"
            )
        if len(dims) > _MOST_DIMS:
            raise self._error(tensor, f"has {len(dims)} dimensions, the most being {_MOST_DIMS}")
        if dims and min(dims) < 0:
            raise self._error(tensor, f"has the negative dimension {min(dims)}")
        elements: int = math.prod(dims)
        if elements > _MOST_ELEMENTS:
            raise self._error(tensor, f"has a shape of more than 2^63 - 1 elements: {list(dims)}")
        return elements

    def _check_stored(self, tensor: TensorProto, elements: int, stored: StoredData) -> None:
        bits = _BITS.get(tensor.data_type)
        if stored.raw_bytes is not None and (stored.raw_bytes or not stored.most):
            if bits is None:
                raise self._error(tensor, "holds text as raw bytes, which ONNX does not allow")
            expected = -(-elements * bits // 8)
            if stored.raw_bytes != expected:
                raise self._error(
                    tensor, f"asks for {expected} bytes by its shape, but holds {stored.raw_bytes}"
                )
            return
        wanted = {elements * (2 if tensor.data_type in _COMPLEX else 1)}
        if bits is not None and bits < 8:
            wanted.add(-(-elements * bits // 8))  # several to one stored element
        if not any(stored.least <= count <= stored.most for count in wanted):
            raise self._error(
                tensor, f"asks for {elements} elements by its shape, but holds {stored.most}"
            )

    def _error(self, tensor: TensorProto, reason: str) -> InputError:
        name = tensor.name if isinstance(tensor.name, str) else repr(tensor.name)
        return InputError(
            self._path,
            f"tensor '{shortened(name, 80)}' {reason}",
            "export the model again",
        )


def _raw(tensor: TensorProto) -> bool:
    return bool(tensor.HasField("raw_data") and tensor.raw_data)


def _raw_bytes(tensor: TensorProto) -> int | None:
    return len(tensor.raw_data) if tensor.HasField("raw_data") else None


def _is_large(tensor: TensorProto, elements: int) -> bool:
    if tensor.data_type == TensorProto.STRING:
        return bool(tensor.ByteSize() > LARGE_BYTES)
    bits: int = _BITS[tensor.data_type]
    return elements * bits > 8 * LARGE_BYTES


def _leave_out(tensor: TensorProto) -> None:
    for name in ("raw_data", "external_data", "data_location", *_TYPED_FIELDS):
        tensor.ClearField(name)
    tensor.doc_string = LEFT_OUT
