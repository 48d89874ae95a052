"""Core ML models: packages (``.mlpackage``) and files (``.mlmodel``); weights are not read."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from predictor.core.errors import InputError
from predictor.core.files import is_file, is_folder, opened, read_text
from predictor.formats.coreml.layers.network import Network
from predictor.formats.coreml.mil.program import Program
from predictor.formats.coreml.mil.schema import model_message
from predictor.graph.wire_format import Source, WireError, length_field, scan

_AGAIN: Final = "convert the network again with coremltools"
_WALK_BYTES: Final = 16 * 2**20
_MAX_BYTES: Final = 64 * 2**20
_LARGE_BYTES: Final = 64 * 2**10
_MAX_DEPTH: Final = 64
_LENGTH: Final = 2
_NETWORKS: Final = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")
_MANIFEST_BYTES: Final = 2**20


def read(path: str) -> onnx.ModelProto:
    """Read a Core ML model.

    Raises:
        InputError: it is damaged, compiled, or of a kind that is not read.
    """
    file = _model_file(path) if is_folder(path) else path
    model = _parsed(path, file)
    if model.HasField("mlProgram"):
        return Program(path, model).model()
    for name in _NETWORKS:
        if model.HasField(name):
            return Network(path, model.description, getattr(model, name)).model()
    raise _refused(path, model)


def _refused(path: str, model: Any) -> InputError:
    stated = {descriptor.name for descriptor, _ in model.ListFields()}
    if any(name.startswith("pipeline") for name in stated):
        action = "open the .mlmodel or .mlpackage of its network alone"
        return InputError(path, "it is a Core ML pipeline of several models", action)
    reason = "it is a Core ML model that holds no neural network"
    return InputError(path, reason, "choose one that was converted from a neural network")


def _model_file(path: str) -> str:
    """Return the file of the model in a package, which must lie in it.

    Raises:
        InputError: there is none.
    """
    folder = Path(path)
    if not is_file(folder / "Manifest.json"):
        raise InputError(
            path,
            "it is a compiled Core ML model (.mlmodelc), which cannot be read",
            "open the .mlpackage or .mlmodel that it was compiled from",
        )
    try:
        manifest = json.loads(read_text(folder / "Manifest.json", _MANIFEST_BYTES))
        item = manifest["itemInfoEntries"][manifest["rootModelIdentifier"]]["path"]
        file = _inside(folder, item)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError) as error:
        reason = "its Manifest.json does not state which file is the model"
        raise InputError(path, reason, _AGAIN) from error
    return str(file)


def _inside(folder: Path, item: str) -> Path:
    """Return the path of an item of a package.

    Raises:
        ValueError: it leaves the package.
    """
    parts = {*PurePosixPath(item).parts, *PureWindowsPath(item).parts}
    if ".." in parts or PurePosixPath(item).is_absolute() or PureWindowsPath(item).anchor:
        raise ValueError(item)
    root = folder.resolve()
    file = (folder / "Data" / item).resolve(strict=True)
    if not file.is_relative_to(root):
        raise ValueError(item)
    return file


def _parsed(path: str, file: str) -> Any:
    message = model_message()
    try:
        with opened(file) as (stream, status):
            source = Source(stream, status.st_size)
            if source.size <= _WALK_BYTES:
                data = source.read(0, source.size)
            else:
                data = _Stripped(path, source).message(0, source.size, message.DESCRIPTOR, 0)
        return message.FromString(data)
    except (DecodeError, WireError) as error:
        if "alloc" in str(error):
            raise MemoryError from error
        raise InputError(path, "its model is damaged", _AGAIN) from error


class _Stripped:
    """Copier of a message without what is large and not in the schema: weights of layers."""

    def __init__(self, path: str, source: Source) -> None:
        self._path, self._source = path, source
        self._bytes = 0

    def message(self, start: int, stop: int, descriptor: Any, depth: int) -> bytes:
        """Return the bytes of a message."""
        parts: list[bytes] = []
        for field in scan(self._source, start, stop):
            stated = descriptor.fields_by_number.get(field.number)
            is_large = field.wire_type == _LENGTH and field.stop - field.body > _LARGE_BYTES
            if not is_large:
                parts.append(self._copy(field.start, field.stop))
            elif stated is not None and depth < _MAX_DEPTH:
                kind = stated.message_type
                body = self.message(field.body, field.stop, kind, depth + 1) if kind else b""
                parts.append(length_field(field.number, body))
        return b"".join(parts)

    def _copy(self, start: int, stop: int) -> bytes:
        self._bytes += stop - start
        if self._bytes > _MAX_BYTES:
            reason = f"it holds more than {_MAX_BYTES // 2**20} MiB besides its weights"
            raise InputError(self._path, reason, "give a smaller network")
        return self._source.read(start, stop - start)
