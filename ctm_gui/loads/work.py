"""What the page of a load computes, without widgets: run on a worker's thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctm_gui.tasks.serial import TaskContext
from predictor.core.errors import HostError, InputError
from predictor.core.metrics import Family
from predictor.core.progress import Progress, ProgressCallback
from predictor.core.records import Measurement
from predictor.core.text import printable
from predictor.devices.operating import power_modes
from predictor.services.devices.catalogue import Catalogue
from predictor.services.generation.probes import decode_probes
from predictor.services.generation.records import MeasuredRate
from predictor.services.loads.answers import Answer
from predictor.services.loads.boxes import all_boxes, box_of_devices, box_of_load, named_box
from predictor.services.loads.carry import carry, check_units
from predictor.services.loads.choice import BoxChoice, choose_box
from predictor.services.loads.costs import Evidence
from predictor.services.loads.draft import LoadDraft
from predictor.services.loads.models import (
    ModelKey,
    Models,
    StageModel,
    model_paths,
    read_models,
)
from predictor.services.loads.placement import targets_of
from predictor.services.loads.records import Box, Load
from predictor.services.loads.settings import in_settings
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.models.language import read_language_model
from predictor.services.signatures.user_signatures import UserSignatures

MAX_HOLDING = 20
"""Boxes that hold, after which no more are simulated."""
_MAX_MODELS = 64  # that are cached


@dataclass(frozen=True, slots=True)
class BoxEntry:
    """A box to choose: its name, and the table that names it in a load file."""

    name: str
    table: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A load that is right, its box and its models."""

    load: Load
    box: Box
    models: Models


@dataclass(frozen=True, slots=True)
class UserData:
    """What the user has: devices, and what was measured."""

    catalogue: Catalogue
    signatures: UserSignatures
    measurements: Sequence[Measurement] = ()
    rates: Sequence[MeasuredRate] = ()

    def evidence(self, load: Load, boxes: Sequence[Box]) -> Evidence:
        """Return what was measured of the targets of a load on boxes."""
        measured = self.signatures.of(targets_of(load, boxes))
        devices = {device.id: device for device in self.catalogue.devices}
        on = [unit.device for box in boxes for unit in box.units.values()]
        probes = decode_probes(self.signatures.measured, on)
        measurements = tuple(self.measurements)
        return Evidence(measurements, measured, devices, tuple(self.rates), tuple(probes))


@dataclass(slots=True)
class ModelReader:
    """Reads the models of loads, a file that did not change once.

    Attributes:
        ingestion: reads files in a child process.
    """

    ingestion: IngestionWorker
    _models: dict[tuple[Path, int, ModelKey], StageModel] = field(default_factory=dict)

    def read(self, load: Load, context: TaskContext) -> Models:
        """Return the models of all stages.

        Raises:
            InputError: a file is not there or no such model; with the line of its stage.
        """
        paths = model_paths(load)
        places = {path: place for place, path in enumerate(paths.values())}

        def read(key: ModelKey, path: Path) -> StageModel:
            words = f"reading {printable(path.name)}"
            _checked(context)(Progress(places[path], len(paths), words))
            file = path, path.stat().st_mtime_ns, key
            if file not in self._models:
                self._models[file] = (
                    read_language_model(path, self.ingestion, context.token)
                    if key.generates
                    else self.ingestion.ingest(path, dict(key.dims), cancel=context.token)
                )
            return self._models[file]

        models = read_models(load, paths, read)
        while len(self._models) > max(_MAX_MODELS, len(models)):
            del self._models[next(iter(self._models))]
        return models


def prepare(
    draft: LoadDraft, catalogue: Catalogue, reader: ModelReader, context: TaskContext
) -> Prepared:
    """Read a load as it is edited, with its box, which is shown at once, and its models.

    Raises:
        InputError: something in it is wrong; with its line.
    """
    load = draft.load()
    if not load.box:
        raise load.wrong(1, "box", "there is none; choose one")
    box = box_of_load(load, catalogue)
    context.part(box)
    check_units(load, box)
    return Prepared(load, box, reader.read(load, context))


def modes_of(box: Box) -> list[str]:
    """Return the names of the power modes of a box's devices."""
    points = (point for unit in box.units.values() for point in power_modes(unit.device))
    return list(dict.fromkeys(point.name for point in points))


def answered(prepared: Prepared, data: UserData, context: TaskContext) -> Answer:
    """Return what the box does with the load, first without its modes and clocks.

    Raises:
        InputError: a stage has no number, or a deadline is under the bound; with its line.
    """
    load, box, models = prepared.load, prepared.box, prepared.models
    evidence, report = data.evidence(load, [box]), _checked(context)
    answer = carry(load, box, models, evidence, report)
    context.part(answer)
    return in_settings(answer, models, evidence, report)


def chosen(
    prepared: Prepared,
    data: UserData,
    user_boxes: Sequence[str],
    family: Family | None,
    context: TaskContext,
) -> BoxChoice:
    """Return which boxes carry the load.

    Args:
        prepared: the load.
        data: devices and measurements.
        user_boxes: files of the user's boxes.
        family: of devices, each of which is a box; None for the boxes.
        context: of the task.
    """
    devices = [device for device in data.catalogue.devices if device.family is family]
    boxes = [box_of_devices([device]) for device in devices]
    if family is None:
        user_files = [entry for path in user_boxes if (entry := _user_box(path, data.catalogue))]
        boxes = [*user_files, *all_boxes(data.catalogue)]
    load, models = prepared.load, prepared.models
    evidence = data.evidence(load, boxes)
    return choose_box(load, boxes, models, evidence, MAX_HOLDING, _checked(context))


def box_entries(catalogue: Catalogue, user_boxes: Sequence[str]) -> list[BoxEntry]:
    """Return the boxes to choose from, those of the user first; files that are wrong are not."""
    entries = []
    for path in user_boxes:
        box = _user_box(path, catalogue)
        if box is not None:
            entries.append(BoxEntry(box.name, {"file": path}))
    return [*entries, *(BoxEntry(box.name, {"id": box.id}) for box in all_boxes(catalogue))]


def _user_box(path: str, catalogue: Catalogue) -> Box | None:
    try:
        return named_box(path, catalogue)
    except (InputError, HostError):
        return None  # said where it is opened


def _checked(context: TaskContext) -> ProgressCallback:
    """Return the progress callback of a task that stops when it is cancelled."""

    def report(progress: Progress) -> None:
        context.token.check()
        context.report(progress)

    return report
