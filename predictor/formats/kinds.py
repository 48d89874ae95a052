"""The formats of model files that can be opened; content decides, not the name of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from zipfile import ZipFile

from predictor.core import plugins
from predictor.core.errors import InputError
from predictor.core.files import BROKEN_ARCHIVE, is_folder, opened
from predictor.formats.recognition import is_graph, is_model, is_package
from predictor.formats.suffixes import ONNX_SUFFIX

HEAD_BYTES: Final = 512
"""Bytes of a file's beginning that are looked at."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of model files beside ONNX.

    Attributes:
        name: of the format, as its makers write it.
        suffixes: endings of its files' names.
        reader: module with ``read(path: str) -> onnx.ModelProto``.
        fits: whether a path is of the format; called with the path and the head of the file, which
            is empty for a folder.
    """

    name: str
    suffixes: tuple[str, ...]
    reader: str
    fits: Callable[[str, bytes], bool]


def _is_tflite(_: str, head: bytes) -> bool:
    return head[4:8] == b"TFL3"


def _is_openvino(_: str, head: bytes) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith((b"<?xml", b"<net ")) and b"<net " in text


def _is_ncnn(_: str, head: bytes) -> bool:
    # The binary form is refused by the reader, with a way out.
    return head.split(b"\n", 1)[0].strip() == b"7767517" or head.startswith(b"\xdd\x85\x76\x00")


def _is_exported_program(path: str, head: bytes) -> bool:
    if not head.startswith(b"PK\x03\x04"):
        return False
    try:
        with opened(path) as (stream, _), ZipFile(stream) as archive:
            names = archive.namelist()
    except (InputError, *BROKEN_ARCHIVE):
        return False
    return any(map(is_graph, names))


def _is_coreml(path: str, head: bytes) -> bool:
    return is_package(path) or is_model(path, head)


FORMATS: Final = (
    Format("TensorFlow Lite", (".tflite", ".lite"), "predictor.formats.tflite", _is_tflite),
    Format("OpenVINO IR", (".xml",), "predictor.formats.openvino", _is_openvino),
    Format("PyTorch ExportedProgram", (".pt2",), "predictor.formats.pytorch", _is_exported_program),
    Format("ncnn", (".param",), "predictor.formats.ncnn", _is_ncnn),
    Format("Core ML", (".mlpackage", ".mlmodel"), "predictor.formats.coreml", _is_coreml),
)


SAVED_MODEL: Final = "saved_model.pb"
"""File that makes a folder a TensorFlow SavedModel, which cannot be opened."""


def format_of(path: str) -> Format | None:
    """Return the format of a file or folder; None for ONNX and for what is none of these.

    Raises:
        InputError: the file is missing or cannot be read.
    """
    head = b""
    if not is_folder(path):
        with opened(path) as (stream, _):
            head = stream.read(HEAD_BYTES)
    kind = next((kind for kind in FORMATS if kind.fits(path, head)), None)
    if kind is None and not path.lower().endswith(ONNX_SUFFIX):
        kind = next((kind for kind in _of_plugins() if kind.fits(path, head)), None)
    return kind


def plugin_suffixes() -> tuple[str, ...]:
    """Return the endings of the names of files that plug-ins read."""
    return tuple(suffix for kind in _of_plugins() for suffix in kind.suffixes)


def _of_plugins() -> list[Format]:
    available = plugins.plugins(plugins.FORMATS).by_name.values()
    return [kind for kind in available if isinstance(kind, Format)]
