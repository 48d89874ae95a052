"""Operator graphs of the networks of a data folder, at the batch that was measured."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Self

from predictor.core.errors import InputError
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.research.sources.samples import GraphFile

_ACTION = "restore the file from its source"


class GraphReader:
    """Reads graph files; a context manager that removes the unpacked copies."""

    def __init__(self) -> None:
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
        """
        path = self.path_of(file)
        try:
            return ingest(path).graph
        except InputError as error:
            if not file.member:
                raise
            raise InputError(
                f"{file.path}, {file.member}, {error.subject}", error.reason, error.action
            ) from error

    def path_of(self, file: GraphFile) -> Path:
        """Return the ONNX file; one of an archive is there until the next is asked for.

        Raises:
            InputError: it cannot be unpacked.
        """
        if not file.member:
            return file.path
        unpacked = Path(self._folder.name) / "model.onnx"
        try:
            with self._archive(file.path).open(file.member) as stream, unpacked.open("wb") as copy:
                shutil.copyfileobj(stream, copy)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(
                str(file.path), f"{file.member} cannot be unpacked ({error})", _ACTION
            ) from error
        return unpacked

    def _archive(self, path: Path) -> zipfile.ZipFile:
        if path not in self._archives:
            self._archives[path] = zipfile.ZipFile(path)
        return self._archives[path]
