"""Tensors whose data lies in another file: found, checked by its size, and read where small.

Reference:
    ``onnx/onnx.proto``, TensorProto.external_data: keys location, offset and length.
"""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx

from predictor.core.errors import InputError
from predictor.core.text import shortened

_REEXPORT = "export the model again and keep its files together"
_LONGEST_NUMBER = 19  # digits of 2**63 - 1


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
        own = Path(model_path).absolute().parent
        linked = Path(model_path).resolve().parent
        self._folders = (own, linked) if linked != own else (own,)
        self._allowed = {own.resolve(), linked}
        self._files: dict[str, tuple[Path, int]] = {}

    def checked_span(self, tensor: onnx.TensorProto, data_bytes: int) -> tuple[Path, int]:
        """Return the file and the offset of a tensor's data; nothing is read.

        Args:
            tensor: one with ``data_location`` EXTERNAL.
            data_bytes: what its dims and type ask for.

        Raises:
            InputError: the location leaves the folder, there is no such file, or it is too short.
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
            with path.open("rb", buffering=0) as file:
                file.seek(offset)
                data = file.read(data_bytes)
        except OSError as error:
            raise self._unreadable(path.name, error) from error
        if len(data) != data_bytes:
            raise self._error(f"external data '{shortened(path.name, 120)}' ends too early")
        return data

    def _file(self, location: str) -> tuple[Path, int]:
        """Return the file at a location and its size, looked up once."""
        known = self._files.get(location)
        if known is None:
            known = self._files[location] = self._find(location)
        return known

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
                raise self._unreadable(location, error) from error
            if not any(path.is_relative_to(allowed) for allowed in self._allowed):
                raise self._leaving(location)
            if not stat.S_ISREG(status.st_mode):
                raise self._error(f"external data '{shortened(location, 120)}' is not a file")
            return path, status.st_size
        raise InputError(
            self._subject,
            f"its weights are in '{shortened(location, 120)}', which is missing",
            "put that file into the folder of the model",
        )

    def _number(self, tensor: str, key: str, text: str) -> int:
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

    def _unreadable(self, location: str, error: Exception) -> InputError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
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
    windows = PureWindowsPath(location)
    if windows.drive or windows.root or PurePosixPath(location).is_absolute():
        return True
    depth = 0
    for part in windows.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False
