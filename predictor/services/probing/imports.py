"""Latencies from other tools' files as measurements of a target, and the signature they extend."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from predictor.core.documents import NO_FACTS
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Device, Measurement, Precision, Signature, Target
from predictor.core.runtimes import UNKNOWN, runtime_of
from predictor.devices.default_configurations import usual_configuration
from predictor.graph.model import Model
from predictor.presentation.wording import number
from predictor.probing.importers.measurements import to_measurement
from predictor.probing.importers.names import NameMatch, match_names, resolve_names, stem
from predictor.probing.importers.records import ImportedFile, ImportedLatency
from predictor.probing.networks.pool import load_pool
from predictor.services.history.history import History
from predictor.services.prediction.predict import predict
from predictor.services.prediction.scaling import check_bound
from predictor.services.signatures.adaptation import FILM
from predictor.services.signatures.stored import Signatures
from predictor.store import measurements as measurement_records
from predictor.store import signatures as signature_records
from predictor.store.database import Database, open_database


@dataclass(frozen=True, slots=True)
class ImportedMeasurements:
    """Measurements that were stored, and the signatures that hold them.

    Attributes:
        measurements: stored, in the file's order.
        signatures: ids of the signatures that they extended or began, one a configuration.
        notes: sentences about what was left out or is doubtful.
    """

    measurements: tuple[Measurement, ...]
    signatures: tuple[str, ...]
    notes: tuple[str, ...]


def candidates(models: Sequence[Model] = ()) -> tuple[str, ...]:
    """Return the names that a latency can belong to: the models', then the reference networks'."""
    model_names = tuple(dict.fromkeys(stem(Path(model.path).name) for model in models))
    return (*model_names, *(name for name in _candidates(()) if name not in model_names))


def matches(file: ImportedFile, models: Sequence[Model] = ()) -> tuple[NameMatch, ...]:
    """Match the names of a file with networks; ``take_over`` takes the user's confirmed ones."""
    return match_names((latency.network for latency in file.latencies), candidates(models))


def usual_precision(latency: ImportedLatency, device: Device, runtime: str = UNKNOWN) -> Precision:
    """Return the precision of a run: that of the file, else what the runtime runs floats in.

    Args:
        latency: as read; its runtime counts where it states one.
        device: that it was measured on.
        runtime: of the run where the file does not state it.
    """
    if latency.precision is not None:
        return latency.precision
    name = latency.runtime or runtime
    row = runtime_of(name)
    has_floats = not row.precisions or Precision.FP32 in row.precisions
    if has_floats and not row.hides_halves:
        return Precision.FP32
    return usual_configuration(device, name).precision


def take_over(
    file: ImportedFile,
    device: Device,
    configuration: Configuration,
    models: Sequence[Model] = (),
    confirmed: Mapping[str, str | None] | None = None,
    store: Path | None = None,
    *,
    states_precision: bool = True,
) -> ImportedMeasurements:
    """Store the measurements of a file on one target, and extend its signature by them.

    Of a file of several runtimes, one in the configuration takes its own latencies alone.

    Args:
        file: as read.
        device: that it was measured on; latencies of models keep its bound.
        configuration: of the target; runtime "unknown", threads 0 and batch 0 leave it to the file.
        models: that its names may mean, beside the reference networks of the pool.
        confirmed: the user's network for a name; None leaves the name out. What names no network is
            the model where there is one.
        store: the store's file; None for the usual one.
        states_precision: whether the configuration's precision is the user's word; else a latency
            has its ``usual_precision``.

    Raises:
        InputError: a name is not clear, the file contradicts the configuration, or a latency cannot
            be that of its model on the device.
        HostError: the store fails.
    """
    file = _of_runtime(file, configuration.runtime)
    fingerprints = _candidates(models)
    unnamed = {"": stem(Path(models[0].path).name)} if len(models) == 1 else {}
    choices = resolve_names(file, list(fingerprints), {**unnamed, **(confirmed or {})})
    now = datetime.now(UTC)
    measurements = []
    for latency in file.latencies:
        choice = choices[latency.network]
        if choice is None:
            continue
        of_latency = configuration
        if not states_precision:
            precision = usual_precision(latency, device, configuration.runtime)
            of_latency = replace(configuration, precision=precision)
        measurements.append(
            to_measurement(file, latency, fingerprints[choice], device.id, of_latency, now)
        )
    if not measurements:
        raise InputError(file.name, "every network in it was left out", "choose at least one")
    _check_bounds(file, measurements, models, device)
    database = open_database(store)
    with closing(database):
        # Graphs first: a measurement is of use only where its graph can be looked up.
        History(database).record(models, [])
        signatures = _store(database, measurements)
    return ImportedMeasurements(tuple(measurements), signatures, file.notes)


def _of_runtime(file: ImportedFile, runtime: str) -> ImportedFile:
    """Return a file of several runtimes with the latencies of one, where one is chosen."""
    runtimes = {latency.runtime for latency in file.latencies}
    if runtime not in runtimes or len(runtimes) == 1:
        return file
    latencies = tuple(latency for latency in file.latencies if latency.runtime == runtime)
    omitted = len(file.latencies) - len(latencies)
    note = f"{omitted} of its latencies are of other runtimes and were left out."
    return replace(file, latencies=latencies, notes=(*file.notes, note))


def _check_bounds(
    file: ImportedFile, measurements: Sequence[Measurement], models: Sequence[Model], device: Device
) -> None:
    """Check latencies of the user's models against what the device needs for them.

    Raises:
        InputError: one is far under it.
    """
    by_fingerprint = {model.graph.fingerprint: model for model in models}
    for measurement in measurements:
        model = by_fingerprint.get(measurement.fingerprint)
        if model is None or measurement.configuration.runtime == UNKNOWN:
            continue
        target = Target(device, measurement.configuration)
        (prediction,) = predict([model], [target])
        subject = f"{file.name}, {stem(Path(model.path).name)}, {number(measurement.value_ms)} ms"
        check_bound(subject, measurement.value_ms, prediction)


def _candidates(models: Sequence[Model]) -> dict[str, str]:
    """Return the fingerprint of each name that a latency can belong to."""
    # The user's models are entered last: they win where a reference network has their name.
    fingerprints = {network.name: network.fingerprint for network in load_pool()}
    for model in models:
        fingerprints[stem(Path(model.path).name)] = model.graph.fingerprint
    return fingerprints


def _store(database: Database, imported: Sequence[Measurement]) -> tuple[str, ...]:
    """Store measurements; each target's active signature is followed by one that has them too."""
    # A signature is of one configuration, and a file may hold several.
    by_configuration: dict[Configuration, list[Measurement]] = {}
    for measurement in imported:
        measurement_records.add(database, measurement)
        by_configuration.setdefault(measurement.configuration, []).append(measurement)
    return tuple(_extend(database, group) for group in by_configuration.values())


def _extend(database: Database, measurements: Sequence[Measurement]) -> str:
    first = measurements[0]
    signatures = Signatures(database)
    target = (first.device_id, first.configuration)
    before: list[str] = []
    facts = NO_FACTS
    for stored in signatures.all():
        former = stored.signature
        if not former.active or (former.device_id, former.configuration) != target:
            continue
        if signatures.reason_against(stored):
            if not stored.facts.used_anyway:
                continue  # what is not believed is not extended either
            facts = stored.facts.without(FILM)  # that it is unstable stays with its measurements
        before += former.measurement_ids
    # Signatures are never changed, as stored predictions name them: a longer one takes over.
    ids = (*before, *(measurement.id for measurement in measurements))
    signature = Signature(uuid.uuid4().hex, first.device_id, first.configuration, ids, active=True)
    signature_records.add(database, signature, facts)
    return signature.id
