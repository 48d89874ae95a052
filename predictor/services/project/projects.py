"""Projects of an open store: exported to a file, compared with one, imported from one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.files import is_folder, is_same_file, is_there
from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.core.records import TargetId
from predictor.core.stored import StoredMeasurement, StoredPrediction, StoredSignature
from predictor.devices.inference import stated_part
from predictor.graph.untrusted import checked_graph
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.user_devices import UserDevices
from predictor.services.project.conflicts import Chooser
from predictor.services.project.file import write_project
from predictor.services.project.imports import Changes, Plan, Planner
from predictor.services.project.records import Project
from predictor.store import devices as device_records
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import predictions as prediction_records
from predictor.store import signatures as signature_records
from predictor.store import token_rates as token_rate_records
from predictor.store.database import Database


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
        # The newest come first from the store; a project is written from the oldest on.
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
    devices = UserDevices(database).all()
    return Exported(
        Project(
            devices=tuple(entry for entry in devices if not chosen or entry.device.id in named),
            graphs=graphs,
            measurements=measurements,
            signatures=signatures,
            predictions=predictions,
            # They belong to no prediction, so no tag selects them.
            rates=() if chosen else tuple(token_rate_records.load_all(database)),
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
    measurements = {
        stored.measurement.id: stored for stored in measurement_records.load_all(database)
    }
    with database.reading() as db:
        # A deleted signature may use one that was withdrawn.
        for name in used - measurements.keys():
            if (withdrawn := measurement_records.by_id(db, name)) is not None:
                measurements[name] = withdrawn
    return tuple(
        # A reference to a prediction that stays behind would be refused by the reader.
        replace(stored, prediction_id=stored.prediction_id if stored.prediction_id in ids else None)
        for name, stored in measurements.items()
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


class Projects:
    """The projects of an open store.

    Args:
        database: opened on this thread; the caller closes it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def export(
        self,
        path: Path,
        *,
        tags: Collection[str] = (),
        replacing: bool = False,
        report: ProgressCallback = no_progress,
        token: CancelToken | None = None,
    ) -> Exported:
        """Write a project file.

        Args:
            path: the file.
            tags: only predictions that have one of these, and their basis; none for all.
            replacing: whether a file that is there may be replaced.
            report: gets the progress.
            token: asks it to stop.

        Returns:
            The project that was written.

        Raises:
            InputError: nothing is to be written, or the file is there.
            HostError: the file cannot be written.
            CancelledError: it was stopped.
        """
        subject = str(path)
        if is_folder(path):
            raise InputError(subject, "this is a folder", "name a file in it")
        if is_same_file(path, self._database.path):
            raise InputError(subject, "this is the store itself", "name another file")
        if is_there(path) and not replacing:
            raise InputError(subject, "the file is there already", "name another, or add --replace")
        exported = collect(self._database, tags)
        project = exported.project
        if not any((project.predictions, project.signatures, project.devices, project.rates)):
            cause = f"no prediction has the tag {', '.join(tags)}" if tags else "the store is empty"
            raise InputError(
                subject, f"there is nothing to write ({cause})", "choose something else"
            )
        write_project(project, path, report, token)
        return exported

    def plan(self, project: Project, catalogue: Catalogue, choose: Chooser | None = None) -> Plan:
        """Return the plan of importing a project; the store is as it was.

        Args:
            project: as read, its references checked.
            catalogue: the devices that ship.
            choose: answers conflicts, None where one is not answered.
        """
        return Planner(self._database, project, catalogue, choose).plan()

    def apply(self, project: Project, catalogue: Catalogue, choose: Chooser) -> Plan:
        """Import a project, all of it or nothing.

        Raises:
            InputError: a conflict is not answered.
            HostError: the store cannot be written.
        """
        # Planned inside the transaction: no other process changes the store in between.
        with self._database.transaction():
            made = self.plan(project, catalogue, choose)
            if made.open:
                raise InputError(
                    f"{made.open[0].subject} {made.open[0].name}",
                    "the store says something else, and nothing was imported",
                    "choose what to keep and import again",
                )
            self._make(made.changes)
        return made

    def _make(self, changes: Changes) -> None:
        database, db = self._database, self._database.tables
        # Measurements and predictions refer to each other.
        db.execute("PRAGMA defer_foreign_keys = ON")
        for entry in changes.devices:
            device_records.put(database, stated_part(entry.device), entry.unknown_metrics)
        for fingerprint, graph in changes.graphs.items():
            model_records.put_graph(db, fingerprint, graph)
        measurement_records.insert_stored(db, changes.measurements)
        for identity in changes.reinstated:
            measurement_records.reinstate(db, identity)
        for signature in changes.signatures:
            signature_records.insert_stored(db, signature)
        for identity in changes.undeleted:
            signature_records.restore(database, identity, active=False)
        prediction_records.insert(db, changes.predictions)
        for identity, (tags, note) in changes.marks.items():
            prediction_records.mark(db, identity, tags, note)
        prediction_records.restore(db, changes.restored)
        for identity in changes.active:
            signature_records.activate(database, identity)
        for rate in changes.token_rates:
            token_rate_records.put(database, rate)
