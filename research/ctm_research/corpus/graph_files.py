"""Operator graphs of the networks of a data folder, at the batch that was measured."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tempfile
import zipfile
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import onnx

from ctm_research.sources.samples import GraphFile
from predictor import graph as ingestion
from predictor.core.errors import HostError, InputError
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.reader import read_model

_ACTION = "restore the file from its source"
_IMAGE = 4  # dimensions of the input that is an image


class GraphReader:
    """Reads graph files; a context manager that removes the unpacked copies.

    Args:
        kept: folder of graphs that were read before, by content; None keeps none.
    """

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept
        self._folder = tempfile.TemporaryDirectory(prefix="ctm-graphs-")
        self._archives: dict[Path, zipfile.ZipFile] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for archive in self._archives.values():
            archive.close()
        self._folder.cleanup()

    def read(self, file: GraphFile) -> OperatorGraph:
        """Ingest one file.

        Raises:
            InputError: the file is missing or damaged.
            HostError: the graph cannot be kept.
        """
        path = self.path_of(file)
        kept = None if self._kept is None else self._kept / _digest(path)
        if kept is not None and (graph := _read_kept(kept)) is not None:
            return graph
        graph = self._ingested(file, path)
        if kept is not None:
            _keep(kept, graph)
        return graph

    def _ingested(self, file: GraphFile, path: Path) -> OperatorGraph:
        try:
            return ingest(path).graph
        except InputError as error:
            if path == file.path:
                raise
            place = ", ".join(filter(None, (str(file.path), file.member)))
            raise InputError(f"{place}, {error.subject}", error.reason, error.action) from error

    def path_of(self, file: GraphFile) -> Path:
        """Return the ONNX file; a copy of one is there until the next is asked for.

        Raises:
            InputError: it cannot be unpacked, or has no image to resize.
        """
        path = self._unpacked(file)
        if not file.side:
            return path
        resized = Path(self._folder.name) / "resized.onnx"
        onnx.save(_resized(read_model(path).proto, file), resized)
        return resized

    def _unpacked(self, file: GraphFile) -> Path:
        if not file.member and file.path.suffix != ".gz":
            return file.path
        unpacked = Path(self._folder.name) / "model.onnx"
        try:
            with self._stream(file) as stream, unpacked.open("wb") as copy:
                shutil.copyfileobj(stream, copy)
        except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            name = file.member or "it"
            raise InputError(
                str(file.path), f"{name} cannot be unpacked ({error})", _ACTION
            ) from error
        return unpacked

    def _stream(self, file: GraphFile) -> IO[bytes] | gzip.GzipFile:
        if not file.member:
            return gzip.open(file.path)
        return self._archive(file.path).open(file.member)

    def _archive(self, path: Path) -> zipfile.ZipFile:
        if path not in self._archives:
            self._archives[path] = zipfile.ZipFile(path)
        return self._archives[path]


def _resized(proto: onnx.ModelProto, file: GraphFile) -> onnx.ModelProto:
    """Give a model a square image of another side; ingestion finds the shapes that follow."""
    if not proto.graph.input or len(proto.graph.input[0].type.tensor_type.shape.dim) != _IMAGE:
        raise InputError(str(file.path), f"{file.member} has no image to resize", _ACTION)
    for dimension in proto.graph.input[0].type.tensor_type.shape.dim[2:]:
        dimension.dim_value = file.side
    del proto.graph.value_info[:]
    return proto


def _digest(path: Path) -> str:
    """Return the name of a graph that is kept; of a file that cannot be read, any."""
    try:
        content = path.read_bytes()
    except OSError:
        content = b""  # ingestion says what is wrong
    return hashlib.sha256(_code() + content).hexdigest()[:32]


@cache
def _code() -> bytes:
    """Return a digest of what makes graphs: a change of it makes all kept ones useless."""
    files = sorted(Path(next(iter(ingestion.__path__))).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).digest()


def _read_kept(path: Path) -> OperatorGraph | None:
    try:
        return OperatorGraph.from_bytes(zlib.decompress(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return None


def _keep(path: Path, graph: OperatorGraph) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(zlib.compress(graph.to_bytes(), level=1))
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise HostError(
            str(path), f"it cannot be written ({error.strerror})", "free space in the cache folder"
        ) from error
