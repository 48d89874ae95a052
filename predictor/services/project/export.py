"""The records of a store that go into a project: all, or some predictions and their basis."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from predictor.core.records import TargetId
from predictor.graph.untrusted import checked_graph
from predictor.services.devices.user_devices import UserDevices
from predictor.services.project.records import Project
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import predictions as prediction_records
from predictor.store import signatures as signature_records
from predictor.store.database import Database
from predictor.store.measurements import StoredMeasurement
from predictor.store.predictions import StoredPrediction
from predictor.store.signatures import StoredSignature


@dataclass(frozen=True, slots=True)
class Exported:
    """A written project, and the number of predictions left out as their graph is unreadable."""

    project: Project
    left_out: int = 0


def collect(database: Database, tags: Collection[str] = ()) -> Exported:
    """Return the project of a store; see ``Projects.export``."""
    chosen = {tag.casefold() for tag in tags}
    candidates = [
        p
        for p in reversed(prediction_records.recent(database, -1))
        if not chosen or chosen & {tag.casefold() for tag in p.tags}
    ]
    graphs = _graphs(database, (p.prediction.fingerprint for p in candidates))
    predictions = tuple(p for p in candidates if p.prediction.fingerprint in graphs)
    targets = {TargetId.of(p.prediction) for p in predictions}
    signatures = _signatures(database, predictions, targets if chosen else None)
    measurements = _measurements(database, predictions, signatures, everything=not chosen)
    graphs |= _graphs(database, (m.measurement.fingerprint for m in measurements))
    named = {target.device_id for target in targets} | {s.signature.device_id for s in signatures}
    devices = UserDevices(database).every()
    return Exported(
        Project(
            tuple(entry for entry in devices if not chosen or entry.device.id in named),
            graphs,
            measurements,
            signatures,
            predictions,
        ),
        len(candidates) - len(predictions),
    )


def _signatures(
    database: Database, predictions: Collection[StoredPrediction], targets: set[TargetId] | None
) -> tuple[StoredSignature, ...]:
    """Return the signatures that predictions name, and those of their targets; None: of all."""
    used = {p.prediction.signature for p in predictions}
    return tuple(
        stored
        for stored in signature_records.stored(database)
        if stored.signature.id in used
        or (not stored.deleted and (targets is None or TargetId.of(stored.signature) in targets))
    )


def _measurements(
    database: Database,
    predictions: Collection[StoredPrediction],
    signatures: Collection[StoredSignature],
    *,
    everything: bool,
) -> tuple[StoredMeasurement, ...]:
    used = {name for stored in signatures for name in stored.signature.measurement_ids}
    predicted = {p.prediction.fingerprint for p in predictions}
    ids = {p.id for p in predictions}
    every = {stored.measurement.id: stored for stored in measurement_records.every(database)}
    with database.reading() as db:
        # A deleted signature may use one that was withdrawn.
        for name in used - every.keys():
            if (withdrawn := measurement_records.by_id(db, name)) is not None:
                every[name] = withdrawn
    return tuple(
        replace(stored, prediction_id=stored.prediction_id if stored.prediction_id in ids else None)
        for name, stored in every.items()
        if everything or name in used or stored.measurement.fingerprint in predicted
    )


def _graphs(database: Database, fingerprints: Iterable[str]) -> dict[str, bytes]:
    """Return the graphs that can be read; that of a reference network may not be stored at all."""
    graphs = {}
    for name in dict.fromkeys(fingerprints):
        graph = model_records.graph_of(database, name)
        with suppress(ValueError):
            if checked_graph(graph).fingerprint == name:
                graphs[name] = graph
    return graphs
