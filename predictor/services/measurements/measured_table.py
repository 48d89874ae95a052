"""A table of measured latencies with the devices, targets and graphs that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import CtmError, InputError
from predictor.core.files import is_file, is_folder
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device, Target
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.services.devices.catalogue import Catalogue
from predictor.services.measurements.table import MeasuredRow, Problems, read_table
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.predict import model_batch
from predictor.services.prediction.targets import resolve_targets

SUFFIX: Final = "@"
"""The rest of a target's name distinguishes targets on one device: ``rpi5@driver-2``."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTarget:
    """One name with one configuration.

    Attributes:
        label: the name, with its configuration where the table has the name with several.
        target: its device and configuration; the batch belongs to the graphs and is 0 here.
        rows: int64 [R], numbers of its rows of the table.
    """

    label: str
    target: Target
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """Rows with the graphs and targets that they name.

    Attributes:
        path: of the table.
        rows: of the table.
        graphs: of each row, at its batch; equal ones are one object.
        targets: in the order of the table.
        reference_targets: targets whose estimates DBSel compares probes by.
    """

    path: Path
    rows: Sequence[MeasuredRow]
    graphs: Sequence[OperatorGraph]
    targets: Sequence[MeasuredTarget]
    reference_targets: Sequence[Target]

    @property
    def latency_ms(self) -> NDArray[np.float64]:
        """Float64 [rows], measured."""
        return np.array([row.latency_ms for row in self.rows], np.float64)


def open_measured_table(
    path: Path,
    graphs: Path,
    devices: Path,
    catalogue: Catalogue,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> MeasuredTable:
    """Read a table with the graphs and devices that it names; all of it or nothing.

    Args:
        path: CSV file; see :func:`predictor.services.measurements.table.read_table`.
        graphs: folder with a file ``<model>.onnx`` for each model.
        devices: folder with a file ``<target>.json`` for each target that is no catalogue id.
        catalogue: the shipped devices.
        progress: called before each graph is read.
        cancel: asks to stop.

    Raises:
        InputError: the table, a graph or a device file is wrong or not there; each line is named.
        HostError: the reader of graphs cannot be started.
        CancelledError: it was cancelled.
    """
    rows = read_table(path)
    for folder in (graphs, devices):
        if not is_folder(folder):
            raise InputError(str(folder), "there is no such folder", "name another")
    _check_graphs(path, rows, graphs)
    targets = _targets(path, rows, devices, catalogue)
    with GraphsAtBatch(graphs) as reader:
        read = reader.read(path, rows, progress, cancel or CancelToken())
    return MeasuredTable(path, rows, read, targets, resolve_targets(catalogue.devices))


def _check_graphs(path: Path, rows: Sequence[MeasuredRow], graphs: Path) -> None:
    problems = Problems(path)
    lacking = {row.model for row in rows if not is_file(_graph_path(graphs, row.model))}
    for row in rows:
        if row.model in lacking:
            problems.add(row.line, f"model {row.model} has no file {row.model}.onnx in {graphs}")
    problems.check("add the file or take out the rows")


def _graph_path(graphs: Path, model: str) -> Path:
    return graphs / f"{model}.onnx"


def _targets(
    path: Path, rows: Sequence[MeasuredRow], devices: Path, catalogue: Catalogue
) -> list[MeasuredTarget]:
    """Return a target for each name with a configuration, in the order of the table."""
    by_configuration: dict[tuple[object, ...], list[int]] = {}
    for number, row in enumerate(rows):
        by_configuration.setdefault(row.configuration, []).append(number)
    by_name = _devices(path, rows, devices, catalogue)
    names = [str(name) for name, *_ in by_configuration]
    targets = []
    for name, numbers in zip(names, by_configuration.values(), strict=True):
        target = _target(by_name[name], rows[numbers[0]])
        label = name if names.count(name) == 1 else f"{name} {_words(target)}"
        targets.append(MeasuredTarget(label, target, np.array(numbers, np.int64)))
    return targets


def _devices(
    path: Path, rows: Sequence[MeasuredRow], devices: Path, catalogue: Catalogue
) -> dict[str, Device]:
    by_name: dict[str, Device] = {}
    problems = Problems(path)
    wrong: set[str] = set()
    for row in rows:
        if row.target in by_name or row.target in wrong:
            continue
        try:
            by_name[row.target] = _device(row.target, devices, catalogue)
        except CtmError as error:
            wrong.add(row.target)
            problems.add(row.line, f"{error.subject}: {error.reason}")
    problems.check("correct the device file or the name of the target")
    return by_name


def _device(name: str, devices: Path, catalogue: Catalogue) -> Device:
    """Return the device of a target's name, of the name before its suffix where it has none."""
    # The full name first: a target may have a device file of its own.
    for part in dict.fromkeys((name, name.partition(SUFFIX)[0])):
        path = devices / f"{part}.json"
        if is_file(path):
            return catalogue.find(str(path))
        if part in catalogue.by_id:
            return catalogue.by_id[part]
    raise InputError(
        f"target {name}",
        f"it has no file {name}.json in {devices} and is no catalogue id",
        "add it",
    )


def _target(device: Device, row: MeasuredRow) -> Target:
    (target,) = resolve_targets([device], row.runtime, row.precision, row.threads)
    return Target(device, replace(target.configuration, batch=0))


def _words(target: Target) -> str:
    configuration = target.configuration
    threads = f"{configuration.threads} threads" if configuration.threads else "all cores"
    return f"{configuration.runtime} {configuration.precision} {threads}"


class GraphsAtBatch:
    """Reads the graphs of a folder in the ingestion child, each at the batch that was measured.

    Args:
        folder: of the graph files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._worker = IngestionWorker()
        self._read: dict[tuple[str, int | None], tuple[OperatorGraph, int]] = {}

    def __enter__(self) -> Self:
        self._worker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def read(
        self,
        path: Path,
        rows: Sequence[MeasuredRow],
        progress: ProgressCallback,
        cancel: CancelToken,
    ) -> list[OperatorGraph]:
        """Return the graph of each row; a file is read once for each batch.

        Raises:
            InputError: a graph is damaged or cannot have the batch; the line is named.
        """
        wanted = list(dict.fromkeys((row.model, row.batch) for row in rows))
        # Reversed, so that the first line of each pair is the one that stays.
        lines = {(row.model, row.batch): row.line for row in reversed(rows)}
        graphs: dict[tuple[str, int | None], OperatorGraph] = {}
        for done, (model, batch) in enumerate(wanted):
            progress(Progress(done, len(wanted), model))
            try:
                graphs[model, batch] = self._at_batch(model, batch, cancel)
            except InputError as error:
                line = lines[model, batch]
                raise InputError(
                    f"{path}, line {line}, {error.subject}", error.reason, error.action
                ) from error
        return [graphs[row.model, row.batch] for row in rows]

    def _at_batch(self, model: str, batch: int | None, cancel: CancelToken) -> OperatorGraph:
        """Return a graph at a batch; where a node pins the file's, its counts are multiplied."""
        if batch is None:
            return self._ingested(model, None, cancel)[0]
        try:
            return self._ingested(model, batch, cancel)[0]
        except InputError:
            # The file pins the batch, for example in a Reshape: the counts at it are scaled.
            graph, default_batch = self._ingested(model, None, cancel)
            # Counts can be scaled only by whole images.
            if batch % default_batch:
                raise
            return at_batch(graph, batch // default_batch)

    def _ingested(
        self, model: str, batch: int | None, cancel: CancelToken
    ) -> tuple[OperatorGraph, int]:
        if (model, batch) not in self._read:
            path = _graph_path(self._folder, model)
            read = self._worker.ingest(path, batch=batch, cancel=cancel)
            self._read[model, batch] = read.graph, model_batch(read)
        return self._read[model, batch]
