"""One comparison: its models, devices and what-ifs, and the rows of predictions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ctm_gui.prediction.columns import ComparisonColumns
from predictor.core.errors import CtmError
from predictor.core.prediction import Prediction
from predictor.core.records import Device, Measurement, RunId, Target
from predictor.core.text import capitalised
from predictor.graph.model import Model
from predictor.presentation.prediction_rows import PredictionRow
from predictor.presentation.wording import target_text
from predictor.services.signatures.user_signatures import NOTHING_MEASURED, UserSignatures

if TYPE_CHECKING:
    from predictor.services.prediction.predict import KnownTargets

_PART_S = 0.2  # how long a part of a comparison may take before what is there is shown


@dataclass(frozen=True, slots=True, eq=False)
class ComparedModel:
    """A model as it goes into a comparison.

    Attributes:
        entry_id: its id on the shelf.
        label: its name in the window, unique among the models.
        model: as last read from its file.
        problem: the reason for its missing numbers, else empty.
        batches: the model as read at further batches, or the error of that, by batch.
    """

    entry_id: int
    label: str
    model: Model
    problem: str = ""
    batches: Mapping[int, Model | CtmError] = field(default_factory=dict)

    def at(self, batch: int) -> ComparedModel:
        """Return it at the batch of a target's configuration, 0 for its own.

        Where it was not read at that batch, its problem says why.
        """
        if not batch or self.problem:
            return self
        read = self.batches.get(batch)
        if isinstance(read, Model):
            return replace(self, model=read, batches={})
        return replace(self, problem=f"being read at batch {batch}" if read is None else why(read))


def why(error: CtmError) -> str:
    """Return the reason of an error and what to do about it, in one line."""
    return "; ".join(filter(None, (error.reason, error.action)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """The predictions of one run: ``rows`` are model-major, ``len(models) * len(targets)`` of them.

    ``signatures`` are the user's measurements on the targets, by target key; ``engine_problem`` is
    the reason why another engine stands in for the usual one, empty where none does.
    ``measurements`` are those of the user, of the models, the oldest first.
    """

    models: tuple[ComparedModel, ...] = ()
    targets: tuple[Target, ...] = ()
    rows: tuple[PredictionRow, ...] = ()
    predicted: int = 0
    seconds: float = 0.0
    signatures: KnownTargets = field(default_factory=dict)
    engine_problem: str = ""
    measurements: Sequence[Measurement] = ()

    @cached_property
    def columns(self) -> ComparisonColumns:
        """The rows by column."""
        return ComparisonColumns(self.rows)

    @property
    def operators(self) -> int:
        """Number of operators of all models, at every batch that they were read at."""
        return sum(len(model.graph.names) for model in self.readings)

    @property
    def readings(self) -> list[Model]:
        """The models without a problem, each also as it was read at further batches."""
        return [
            read
            for compared in self.models
            if not compared.problem
            for read in (compared.model, *compared.batches.values())
            if isinstance(read, Model)
        ]

    @property
    def missing(self) -> str:
        """What the user has to do before there are rows: ``Tick a target``; empty for nothing."""
        steps = ["open a model"] * (not self.models) + ["tick a target"] * (not self.targets)
        return capitalised(" and ".join(steps))

    def pair_of(self, row: int) -> tuple[int, int]:
        """Return model and target index of a row."""
        return divmod(row, len(self.targets))

    def pair(self, model: int, target: int) -> tuple[ComparedModel, Target]:
        """Return a target, and a model as it is read at the target's batch."""
        of = self.targets[target]
        return self.models[model].at(of.configuration.batch), of

    def predictions_of(self, model: int) -> list[Prediction]:
        """Return the predictions of a model, by target."""
        first = model * len(self.targets)
        return [row.prediction for row in self.rows[first:][: len(self.targets)]]


def target_names(targets: Sequence[Target]) -> list[str]:
    """Name targets by their devices, with the configuration where a device has several."""
    count = Counter(target.device.id for target in targets)
    return [
        f"{t.device.name} ({target_text(t.configuration)})"
        if count[t.device.id] > 1
        else t.device.name
        for t in targets
    ]


def place_of(targets: Sequence[Target], run: RunId | None) -> int:
    """Return the index of a target, else that of the first on its device, else 0."""
    if run is None:
        return 0
    # Of its device alone: to resolve all of many targets takes a while.
    places = [n for n, of in enumerate(targets) if of.device.id == run.target.device_id]
    first = places[0] if places else 0
    return next((place for place in places if targets[place].run_id == run), first)


def compare(
    models: Sequence[ComparedModel],
    devices: Sequence[Device],
    part: Callable[[Comparison], None] = lambda _: None,
    measurements: Sequence[Measurement] = (),
    signatures: UserSignatures = NOTHING_MEASURED,
    devices_by_id: Mapping[str, Device] = MappingProxyType({}),
) -> Comparison:
    """Predict every model on every device; models with a problem get rows without a number.

    Args:
        models: the models.
        devices: once for each configuration, which is the first of it.
        part: gets the comparison of the first models, a few times a second while the rest is
            predicted; may raise CancelledError.
        measurements: the user's measurements of the models, the oldest first.
        signatures: the user's measurements on targets.
        devices_by_id: devices that ``measurements`` may be of beside ``devices``, by id.

    Raises:
        InputError: the configuration asked for makes no sense.
    """
    from predictor.services.prediction.engines import usual_engine_problem
    from predictor.services.prediction.targets import distinct, resolve_targets

    started = reported_at = time.perf_counter()
    targets = distinct(_of_library(item, devices_by_id) for item in resolve_targets(devices))
    measured = signatures.of(targets)
    rows: list[PredictionRow] = []
    done = predicted = 0
    count, problem = 1, ""

    def compared_so_far() -> Comparison:
        return Comparison(
            models=tuple(models[:done]),
            targets=targets,
            rows=tuple(rows),
            predicted=predicted,
            signatures=measured,
            engine_problem=problem,
            measurements=measurements,
        )

    while done < len(models) and targets:
        chunk_started = time.perf_counter()
        chunk = models[done : done + count]
        rows += _rows(chunk, targets, measurements, measured, devices_by_id)
        done += len(chunk)
        predicted += sum(not compared.problem for compared in chunk) * len(targets)
        problem = usual_engine_problem() if predicted else ""
        now = time.perf_counter()
        # Each run gives the pace of the next: as many models as fit in the time of a part.
        count = max(1, int(len(chunk) * _PART_S / (now - chunk_started)))
        if done < len(models) and now - reported_at > _PART_S:
            so_far = compared_so_far()
            so_far.columns.read()
            part(so_far)
            reported_at = time.perf_counter()
    seconds = time.perf_counter() - started
    comparison = replace(compared_so_far(), models=tuple(models), seconds=seconds)
    comparison.columns.read()
    return comparison


def _of_library(target: Target, devices_by_id: Mapping[str, Device]) -> Target:
    """Return a target of its device as the library lists it, whose first configuration is usual."""
    device = target.device
    library_device = devices_by_id.get(device.id, device)
    # A device that is being edited is not the one of the library.
    is_same = replace(library_device, configurations=device.configurations) == device
    return replace(target, device=library_device) if is_same else target


def _rows(
    models: Sequence[ComparedModel],
    targets: Sequence[Target],
    measurements: Sequence[Measurement],
    signatures: KnownTargets,
    devices_by_id: Mapping[str, Device],
) -> Iterator[PredictionRow]:
    """Give the rows of some models, model by model."""
    from predictor.services.devices.inferred import inferred_sentences
    from predictor.services.prediction.assumptions import (
        assumptions_by_prediction,
    )

    by_batch = {
        batch: _predicted(
            [compared.at(batch) for compared in models],
            of_batch,
            measurements,
            signatures,
            devices_by_id,
        )
        for batch, of_batch in _by_batch(targets).items()
    }
    for compared in models:
        of_model = [next(by_batch[target.configuration.batch]) for target in targets]
        notes = assumptions_by_prediction(compared.model, of_model)
        for target, prediction, assumed in zip(targets, of_model, notes, strict=True):
            yield PredictionRow(
                prediction=prediction,
                device_name=target.device.name,
                vendor=target.device.vendor,
                family=target.device.family.value,
                model_label=compared.label,
                notes=(*assumed, *inferred_sentences([target.device])),
                batch=target.configuration.batch,
            )


def _by_batch(targets: Sequence[Target]) -> dict[int, list[Target]]:
    by_batch: dict[int, list[Target]] = {}
    for target in targets:
        by_batch.setdefault(target.configuration.batch, []).append(target)
    return by_batch


def _predicted(
    models: Sequence[ComparedModel],
    targets: Sequence[Target],
    measurements: Sequence[Measurement],
    signatures: KnownTargets,
    devices_by_id: Mapping[str, Device],
) -> Iterator[Prediction]:
    """Give the predictions of models at one batch, all targets of the first model first."""
    from predictor.services.prediction.predict import predict

    good = [compared.model for compared in models if not compared.problem]
    predicted = predict(good, targets, "", measurements, signatures, devices_by_id) if good else ()
    predictions = iter(predicted)
    # Equal parts are one object: fewer of them for Python's collector of garbage to look through.
    parts: dict[Any, Any] = {}
    for compared in models:
        for target in targets:
            if compared.problem:
                yield _unavailable(compared, target)
                continue
            prediction = next(predictions)
            batch = target.configuration.batch or prediction.configuration.batch
            # The first dimension of a model is not always its batch.
            configuration = replace(prediction.configuration, batch=batch)
            yield replace(
                prediction,
                configuration=parts.setdefault(configuration, configuration),
                memory=parts.setdefault(prediction.memory, prediction.memory),
            )


def _unavailable(compared: ComparedModel, target: Target) -> Prediction:
    return Prediction(
        model=compared.label,
        fingerprint=compared.model.graph.fingerprint,
        device_id=target.device.id,
        # Threads as a count, as those of predictions are: it is the same target.
        configuration=replace(target.configuration, threads=target.threads),
        engine="",
        basis=None,
        latency_ms=None,
        problem=compared.problem,
    )
