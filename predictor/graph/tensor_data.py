"""Constant tensors: dims that agree with their data, and small external ones read in.

Reference:
    ``onnx/onnx.proto``, TensorProto.external_data: keys location, offset and length.
"""

from __future__ import annotations

import math
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx
from onnx import SparseTensorProto, TensorProto

from predictor.core.errors import InputError
from predictor.core.files import opened
from predictor.core.text import shortened
from predictor.graph.operators import DTYPE_BITS, DTYPE_OF_ONNX
from predictor.graph.wire_format import LARGE_BYTES, StoredData, length_field

_REEXPORT = "export the model again and keep its files together"
_LONGEST_NUMBER = 19  # digits of 2**63 - 1


class MissingDataError(InputError):
    """A file with weights is missing."""


class ExternalData:
    """The external files of one model.

    A location is taken relative to the folder of the model, or of the file that the model's path
    links to; the file that it leads to must lie in one of the two. In a Hugging Face cache both
    model and data are links into one folder of blobs.

    Args:
        model_path: path of the model as the user gave it.
    """

    def __init__(self, model_path: str) -> None:
        self._subject = model_path
        folder = Path(model_path).absolute().parent
        linked = Path(model_path).resolve().parent
        self._folders = (folder, linked) if linked != folder else (folder,)
        self._allowed = {folder.resolve(), linked}
        self._files: dict[str, tuple[Path, int]] = {}

    def checked_span(self, tensor: onnx.TensorProto, data_bytes: int) -> tuple[Path, int]:
        """Return the file and the offset of a tensor's data; nothing is read.

        Args:
            tensor: one with ``data_location`` EXTERNAL.
            data_bytes: size that its dims and type ask for.

        Raises:
            MissingDataError: there is no such file.
            InputError: the location leaves the folder, or the file is too short.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if not all(isinstance(value, str) for value in entries.values()):  # protobuf gives bytes
            raise self._error(
                f"tensor '{shortened(tensor.name, 80)}' has an external location that is not UTF-8"
            )
        location = entries.get("location", "")
        offset = self._number(tensor.name, "offset", entries.get("offset", "0"))
        length = self._number(tensor.name, "length", entries.get("length", str(data_bytes)))
        if length != data_bytes:
            raise self._error(
                f"tensor '{shortened(tensor.name, 80)}' has {length} bytes of external data, "
                f"but its shape asks for {data_bytes}"
            )
        path, size = self._file(location)
        if offset + length > size:
            raise self._error(
                f"tensor '{shortened(tensor.name, 80)}' asks for bytes {offset} to "
                f"{offset + length} of '{shortened(location, 120)}', which has {size}"
            )
        return path, offset

    def read(self, tensor: onnx.TensorProto, data_bytes: int) -> bytes:
        """Return a tensor's data.

        Raises:
            InputError: as ``checked_span``, or the file cannot be read.
        """
        path, offset = self.checked_span(tensor, data_bytes)
        try:
            with opened(path) as (file, _):
                file.seek(offset)
                data = file.read(data_bytes)
        except InputError as error:
            raise self._unreadable(path.name, error.reason) from error
        if len(data) != data_bytes:
            raise self._error(f"external data '{shortened(path.name, 120)}' ends too early")
        return data

    def _file(self, location: str) -> tuple[Path, int]:
        """Return the file at a location and its size, looked up once."""
        location_and_size = self._files.get(location)
        if location_and_size is None:
            location_and_size = self._files[location] = self._find(location)
        return location_and_size

    def _find(self, location: str) -> tuple[Path, int]:
        if _leaves(location):
            raise self._leaving(location)
        for folder in self._folders:
            try:
                path = (folder / location).resolve(strict=True)
                status = path.stat()
            except FileNotFoundError:
                continue
            except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links
                reason = getattr(error, "strerror", None) or str(error)
                raise self._unreadable(location, reason) from error
            if not any(path.is_relative_to(allowed) for allowed in self._allowed):
                raise self._leaving(location)
            # A pipe would block for ever, a device might never end.
            if not stat.S_ISREG(status.st_mode):
                raise self._error(f"external data '{shortened(location, 120)}' is not a file")
            return path, status.st_size
        raise MissingDataError(
            self._subject,
            f"its weights are in '{shortened(location, 120)}', which is missing",
            "put that file into the folder of the model",
        )

    def _number(self, tensor: str, key: str, text: str) -> int:
        # isdigit alone takes the digits of other scripts.
        if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
            raise self._error(
                f"tensor '{shortened(tensor, 80)}' has the external {key} '{shortened(text, 40)}', "
                "which is no count of bytes"
            )
        return int(text)

    def _leaving(self, location: str) -> InputError:
        return self._error(
            f"its external data '{shortened(location, 120)}' lies outside the folder of the model"
        )

    def _unreadable(self, location: str, reason: str) -> InputError:
        return InputError(
            self._subject,
            f"its external data '{shortened(location, 120)}' cannot be read: {reason}",
            "make that file readable",
        )

    def _error(self, reason: str) -> InputError:
        return InputError(self._subject, reason, _REEXPORT)


def _leaves(location: str) -> bool:
    """Whether a location is no plain path downwards, on this system or on another."""
    if not location or "\0" in location:
        return True
    # Windows rules on every system: they split at both slashes and know drives.
    windows = PureWindowsPath(location)
    if windows.drive or windows.root or PurePosixPath(location).is_absolute():
        return True
    depth = 0
    for part in windows.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


LEFT_OUT = "(data left out)"
"""``doc_string`` of a tensor whose data was not read."""

_MAX_DIMS = 64  # numpy's own limit
_MAX_ELEMENTS = 2**63 - 1
_DOC_STRING = 12

# Bits of one element by data type; strings have no fixed size.
_BITS: dict[int, int] = {
    onnx_type: DTYPE_BITS[code]
    for onnx_type, code in DTYPE_OF_ONNX.items()
    if onnx_type not in {TensorProto.UNDEFINED, TensorProto.STRING}
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
        path: of the model, for the error messages.
        max_external_bytes: limit of the data read from small external tensors.

    Attributes:
        missing: error of the first file of weights that is missing; its tensors are left out.
    """

    def __init__(self, path: str, max_external_bytes: int) -> None:
        self._path = path
        self._external = ExternalData(path)
        self._limit = self._budget = max_external_bytes
        self.missing: MissingDataError | None = None

    def large(self, header: bytes, stored: StoredData) -> bytes:
        """Check a large tensor and return its message, marked as without data.

        Args:
            header: the tensor's message without its data.
            stored: amount of its data in the file.

        Raises:
            InputError: the data does not fit dims and type.
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
            try:
                self._settle_external(tensor, elements)
            except MissingDataError as error:
                self.missing = self.missing or error
                _leave_out(tensor)
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

    def sparse(self, tensor: SparseTensorProto) -> None:
        """Check the dims of a sparse tensor; its values and indices are tensors of their own.

        Raises:
            InputError: they are no dims.
        """
        self._product(tensor.values, tensor.dims)

    def _elements(self, tensor: TensorProto) -> int:
        """Return the number of elements that the dims declare."""
        if tensor.data_type not in _BITS and tensor.data_type != TensorProto.STRING:
            raise self._error(
                tensor, f"has element type {tensor.data_type}, which this version does not know"
            )
        return self._product(tensor, tensor.dims)

    def _product(self, tensor: TensorProto, dims: Sequence[int]) -> int:
        if len(dims) > _MAX_DIMS:
            raise self._error(tensor, f"has {len(dims)} dimensions, the most being {_MAX_DIMS}")
        if dims and min(dims) < 0:
            raise self._error(tensor, f"has the negative dimension {min(dims)}")
        elements: int = math.prod(dims)
        if elements > _MAX_ELEMENTS:
            raise self._error(tensor, f"has a shape of more than 2^63 - 1 elements: {list(dims)}")
        return elements

    def _check_stored(self, tensor: TensorProto, elements: int, stored: StoredData) -> None:
        bits = _BITS.get(tensor.data_type)
        if stored.raw_bytes is not None and (stored.raw_bytes or not stored.max_elements):
            if bits is None:
                raise self._error(tensor, "holds text as raw bytes, which ONNX does not allow")
            expected = -(-elements * bits // 8)
            if stored.raw_bytes != expected:
                raise self._error(
                    tensor, f"asks for {expected} bytes by its shape, but holds {stored.raw_bytes}"
                )
            return
        # A complex number is stored as two elements.
        wanted = {elements * (2 if tensor.data_type in _COMPLEX else 1)}
        if bits is not None and bits < 8:
            wanted.add(-(-elements * bits // 8))  # several to one stored element
        if not any(stored.min_elements <= count <= stored.max_elements for count in wanted):
            raise self._error(
                tensor,
                f"asks for {elements} elements by its shape, but holds {stored.max_elements}",
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
