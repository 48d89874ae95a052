"""Whether a file, folder or member of an archive is a model, without reading its network."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from predictor.core.errors import InputError
from predictor.core.files import is_file, is_folder, opened
from predictor.graph.wire_format import Source, WireError, scan

OLD_PROGRAM: Final = "serialized_exported_program.json"
"""Name of the graph in an exported program, torch 2.1 to 2.7."""

_MAX_FIELDS: Final = 64
_LENGTH: Final = 2
# Numbers of the fields of a Core ML model that hold its network, and of an ONNX model.
_NETWORKS: Final = frozenset({200, 201, 202, *range(300, 1000), 3000})
_ONNX: Final = frozenset({7, 8})


def is_graph(member: str) -> bool:
    """Whether a member of an archive is the graph of an exported program."""
    folder, _, name = member.rpartition("/")
    in_models = folder.rpartition("/")[2] == "models" and name.endswith(".json")
    return in_models or name == OLD_PROGRAM


def is_package(path: str) -> bool:
    """Whether a folder is a Core ML package, or one that was compiled."""
    folder = Path(path)
    if is_file(folder / "Manifest.json"):
        return is_folder(folder / "Data")
    return is_file(folder / "coremldata.bin") or is_file(folder / "model.mil")


def is_model(path: str, head: bytes) -> bool:
    """Whether a file is a Core ML model: it has no magic bytes, the numbers of its fields decide.

    An ONNX file begins with a version too, but has other fields after it.
    """
    if not head.startswith(b"\x08"):
        return False
    try:
        with opened(path) as (stream, status):
            fields = scan(Source(stream, status.st_size), 0, status.st_size)
            for _, field in zip(range(_MAX_FIELDS), fields, strict=False):
                if field.number in _ONNX or field.number in _NETWORKS:
                    return field.number in _NETWORKS and field.wire_type == _LENGTH
    except (InputError, WireError):
        pass
    return False
