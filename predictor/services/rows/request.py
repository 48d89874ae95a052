"""A request for the rows of many model files, and the answer of one: the text of its rows."""

from __future__ import annotations

import copyreg
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from predictor.core.errors import CtmError
from predictor.core.records import Device, Measurement, Target
from predictor.graph.model import Model
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.predict import NO_DEVICES, KnownTargets, predict
from predictor.services.rows.text import RowForm, predictions_text


def _read_only(items: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(items)


# Facts of devices are read-only mappings, which pickle does not know by itself.
copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRequest:
    """A request for the rows of each file.

    Attributes:
        targets: to predict for.
        engine: its name, empty for the usual one.
        measured: measurements of targets, by target.
        bindings: values of dynamic dimensions by name.
        batch: of the models; None for their own.
        shapes: shapes of inputs by name.
        form: of the text.
        version: of the program that requests; a worker of another one refuses.
    """

    targets: tuple[Target, ...]
    engine: str
    measured: KnownTargets
    bindings: Mapping[str, int]
    batch: int | None
    shapes: Mapping[str, tuple[int, ...]]
    form: RowForm
    version: str = ""


@dataclass(frozen=True, slots=True)
class ModelRows:
    """The rows of one model.

    Attributes:
        fingerprints: of its graph, and a former one.
        text: as it goes to the file.
    """

    fingerprints: tuple[str, str]
    text: bytes


Answer: TypeAlias = "ModelRows | CtmError"


def read(request: RowsRequest, reader: IngestionWorker, path: str) -> Model:
    """Read the model of a file with the requested dimensions.

    Raises:
        InputError: the file is wrong.
        HostError: the reader cannot be started.
    """
    return reader.ingest(path, request.bindings, request.batch, request.shapes)


def rows_of(
    request: RowsRequest,
    path: str,
    model: Model,
    measurements: Iterable[Measurement] = (),
    devices: Mapping[str, Device] = NO_DEVICES,
) -> ModelRows:
    """Predict a model on all targets.

    Args:
        request: of every file.
        path: of its file, as the user gave it.
        model: the model.
        measurements: the user's of it, the oldest first.
        devices: that they may be of, by id.
    """
    predictions = predict(
        [model], request.targets, request.engine, measurements, request.measured, devices
    )
    text = predictions_text(path, predictions, request.form)
    return ModelRows((model.graph.fingerprint, model.graph.former_fingerprint), text)
