"""From a model file of any format to a :class:`Model`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Final

import onnx

from predictor.core.errors import InputError
from predictor.core.files import is_file
from predictor.core.plugins import FORMATS, plugins
from predictor.formats.archives import refuse_archive
from predictor.formats.kinds import SAVED_MODEL, Format, format_of
from predictor.formats.suffixes import ONNX_SUFFIX
from predictor.graph.ingest import build_model
from predictor.graph.model import Model
from predictor.graph.model_checks import check_contents, check_versions
from predictor.graph.reader import READ_LIMITS, ReadModel, read_model
from predictor.graph.tensor_data import TensorCheck

_MAX_FILES: Final = 1000
"""Of a folder, whose sizes are summed."""


def open_model(
    path: str | os.PathLike[str],
    bindings: Mapping[str, int] | None = None,
    batch: int | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Model:
    """Read a file and build its model.

    Args:
        path: of the file, or of the folder of a Core ML package.
        bindings: values of dynamic dimensions by name.
        batch: batch to set; a batch that the file fixes is replaced.
        shapes: whole input shapes by input name.

    Raises:
        InputError: the file or one of the arguments is wrong.
    """
    return build_model(read_file(path), bindings or {}, batch, shapes or {})


def read_file(path: str | os.PathLike[str]) -> ReadModel:
    """Read and check a model file.

    Raises:
        InputError: the file is missing, unreadable, damaged or of no known format.
    """
    name = os.fspath(path)
    kind = format_of(name)
    if kind is not None:
        return _converted(name, kind)
    if is_file(Path(name) / SAVED_MODEL):
        action = "convert it with tf.lite.TFLiteConverter.from_saved_model or with tf2onnx"
        raise InputError(name, "it is the folder of a TensorFlow SavedModel", action)
    refuse_archive(name)
    try:
        return read_model(name)
    except InputError as error:
        problems = () if name.lower().endswith(ONNX_SUFFIX) else plugins(FORMATS).problems
        if not problems:
            raise
        reason = "; ".join((error.reason, *problems))
        raise InputError(error.subject, reason, error.action) from error


def _converted(name: str, kind: Format) -> ReadModel:
    """Read a file that is not ONNX, and check what its reader made of it like an ONNX file."""
    proto: onnx.ModelProto = import_module(kind.reader).read(name)
    tensors = TensorCheck(name, READ_LIMITS.copied_bytes)
    check_versions(name, proto)
    check_contents(name, proto, READ_LIMITS, tensors)
    try:
        statuses = [path.stat() for path in islice(_files(Path(name)), _MAX_FILES)]
    except OSError as error:  # it was there a moment ago
        raise InputError(name, "there is no such file", "check the path") from error
    path = os.path.abspath(name)  # noqa: PTH100  # keeps ".." and links as given
    return ReadModel(
        proto=proto,
        path=path,
        size_bytes=sum(status.st_size for status in statuses),
        modified_ns=max((status.st_mtime_ns for status in statuses), default=0),
        missing=tensors.missing,
        format=kind.name,
    )


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files in a folder; links in it are left out."""
    if not path.is_dir():
        yield path
    for file in path.rglob("*"):
        if file.is_file() and not file.is_symlink():
            yield file
