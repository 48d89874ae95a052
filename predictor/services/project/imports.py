"""Taking a project over: what is new, the same, back again, or in conflict, and doing it at once.

Nothing of the store is overwritten unless the user says so for that conflict. Measurements,
signatures and predictions are records: mine stays whatever is chosen, and theirs, where it is
another under the same id, is kept beside it under an id of its own. What was deleted here and is
in the project comes back.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from predictor.core.errors import InputError
from predictor.core.records import Configuration, Device
from predictor.core.tags import MAX_NOTE, MAX_TAGS
from predictor.devices.schema import DeviceFile, device_to_object
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.user_devices import UserDevices, unused_id
from predictor.services.project import conflicts
from predictor.services.project.conflicts import Choice, Chooser, Conflict, Subject, always
from predictor.services.project.records import Project
from predictor.store import devices as device_records
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import predictions as prediction_records
from predictor.store import signatures as signature_records
from predictor.store.database import Database
from predictor.store.measurements import StoredMeasurement
from predictor.store.predictions import StoredPrediction
from predictor.store.signatures import StoredSignature

__all__ = ["Choice", "Chooser", "Conflict", "Counts", "Plan", "Subject", "always", "apply", "plan"]

_Action = Callable[[sqlite3.Connection], None]


@dataclass(slots=True)
class Counts:
    """How many records of one kind are new, the same here, back again, or in conflict."""

    new: int = 0
    same: int = 0
    back: int = 0
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import does.

    Attributes:
        counts: by kind of record.
        conflicts: all of them, in the project's order.
        open: those that are not answered.
    """

    counts: Mapping[str, Counts]
    conflicts: tuple[Conflict, ...]
    open: tuple[Conflict, ...]


def plan(
    database: Database, project: Project, catalogue: Catalogue, choose: Chooser | None = None
) -> Plan:
    """Return what importing a project would do; the store is as it was.

    Args:
        database: the store.
        project: as read, its references checked.
        catalogue: the devices that ship.
        choose: answers conflicts, None where one is not answered.
    """
    return _Planner(database, project, catalogue, choose).plan()


def apply(database: Database, project: Project, catalogue: Catalogue, choose: Chooser) -> Plan:
    """Take a project over, all of it or nothing.

    Raises:
        InputError: a conflict is not answered.
        HostError: the store cannot be written.
    """
    with database.transaction() as connection:
        planner = _Planner(database, project, catalogue, choose)
        made = planner.plan()
        if made.open:
            raise InputError(
                f"{made.open[0].subject} {made.open[0].name}",
                "the store says something else, and nothing was imported",
                "choose what to keep and import again",
            )
        # Measurements and predictions refer to each other.
        connection.execute("PRAGMA defer_foreign_keys = ON")
        for action in planner.actions:
            action(connection)
    return made


class _Planner:
    """Goes through a project once; its actions do what the answers to the conflicts say."""

    def __init__(
        self, database: Database, project: Project, catalogue: Catalogue, choose: Chooser | None
    ) -> None:
        self._database, self._project, self._catalogue = database, project, catalogue
        self._connection = database.connection
        self._choose = choose or (lambda _: None)
        self._conflicts: list[Conflict] = []
        self._open: list[Conflict] = []
        self._counts = {
            name: Counts()
            for name in ("devices", "models", "measurements", "signatures", "predictions")
        }
        self._device_ids: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._signatures = {s.signature.id: s for s in signature_records.stored(database)}
        self.actions: list[_Action] = []

    def plan(self) -> Plan:
        """Return what is to be done."""
        self._plan_devices()
        self._plan_models()
        for measured in self._project.measurements:
            self._plan_measurement(measured)
        for signature in self._project.signatures:
            self._plan_signature(signature)
        for predicted in self._project.predictions:
            self._plan_prediction(predicted)
        for signature in self._project.signatures:
            if signature.signature.active:
                self._plan_active(signature)
        return Plan(self._counts, tuple(self._conflicts), tuple(self._open))

    def _ask(self, conflict: Conflict, kind: str = "") -> Choice:
        """Return the answer to a conflict; without one mine stays, and the conflict is open."""
        self._conflicts.append(conflict)
        if kind:
            self._counts[kind].conflicts += 1
        answer = self._choose(conflict)
        if answer not in conflict.choices:
            self._open.append(conflict)
            return Choice.KEEP
        return answer

    def _plan_devices(self) -> None:
        mine = {entry.device.id: entry for entry in UserDevices(self._database).every()}
        taken = {*mine, *self._catalogue.by_id, *(d.device.id for d in self._project.devices)}
        for theirs in self._project.devices:
            identity = theirs.device.id
            shipped = self._catalogue.by_id.get(identity)
            own = mine[identity].device if identity in mine else shipped
            twin = _twin(theirs, mine)
            if own is not None and device_to_object(own) == device_to_object(theirs.device):
                self._counts["devices"].same += 1
            elif own is not None and twin is not None:
                self._counts["devices"].same += 1
                self._device_ids[identity] = twin
            elif own is None:
                self._counts["devices"].new += 1
                self._put_device(theirs)
            else:
                self._settle_device(own, theirs, taken, shipped=identity not in mine)

    def _settle_device(
        self, mine: Device, theirs: DeviceFile, taken: set[str], *, shipped: bool
    ) -> None:
        conflict = conflicts.of_device(mine, theirs.device, shipped=shipped)
        answer = self._ask(conflict, "devices")
        if answer is Choice.TAKE:
            self._put_device(theirs)
        elif answer is Choice.BOTH:
            identity = unused_id(theirs.device.id, taken)
            taken.add(identity)
            self._device_ids[theirs.device.id] = identity
            name = f"{theirs.device.name[:100]} (theirs)"
            self._put_device(replace(theirs, device=replace(theirs.device, id=identity, name=name)))

    def _put_device(self, entry: DeviceFile) -> None:
        self.actions.append(lambda c: device_records.insert(c, entry.device, entry.unknown_metrics))

    def _plan_models(self) -> None:
        for fingerprint, graph in self._project.graphs.items():
            known = bool(model_records.graph_of(self._database, fingerprint))
            self._count("models", known=known)
            if not known:
                put = model_records.put_graph
                self.actions.append(partial(put, fingerprint=fingerprint, graph=graph))

    def _plan_measurement(self, stored: StoredMeasurement) -> None:
        record = replace(stored.measurement, device_id=self._device(stored.measurement.device_id))
        theirs = replace(stored, measurement=record)
        mine = measurement_records.by_id(self._connection, record.id)
        if mine is not None and _comparable(mine) != _comparable(theirs):
            conflict = conflicts.of_measurement(mine, theirs)
            if self._ask(conflict, "measurements") is Choice.KEEP:
                return
            record = replace(record, id=self._another_id(record.id, theirs))
            mine = measurement_records.by_id(self._connection, record.id)
        elif mine is not None:
            self._count("measurements", known=True)
        else:
            self._count("measurements", known=False)
        if mine is None:
            self.actions.append(
                lambda c: measurement_records.insert(
                    c,
                    record,
                    prediction_id=self._renamed(stored.prediction_id),
                    created_ns=stored.created_ns,
                )
            )
        elif measurement_records.is_withdrawn(self._connection, record.id):
            self._counts["measurements"].back += 1
            self.actions.append(lambda c: measurement_records.reinstate(c, record.id))

    def _plan_signature(self, stored: StoredSignature) -> None:
        record = replace(
            stored.signature,
            device_id=self._device(stored.signature.device_id),
            measurement_ids=tuple(
                self._ids.get(name, name) for name in stored.signature.measurement_ids
            ),
        )
        theirs = replace(stored, signature=record)
        mine = self._signatures.get(record.id)
        if mine is not None and _comparable(mine) != _comparable(theirs):
            conflict = conflicts.of_signature(mine, theirs)
            if self._ask(conflict, "signatures") is Choice.KEEP:
                return
            record = replace(record, id=self._another_id(record.id, theirs))
            mine = self._signatures.get(record.id)
        else:
            self._count("signatures", known=mine is not None)
        if mine is None:
            made = replace(theirs, signature=record)
            self.actions.append(lambda c: signature_records.insert_stored(c, made))
        elif mine.deleted_ns is not None and stored.deleted_ns is None:
            self._counts["signatures"].back += 1
            self.actions.append(lambda c: signature_records.undelete(c, record.id))

    def _plan_prediction(self, stored: StoredPrediction) -> None:
        theirs = replace(
            stored,
            prediction=replace(
                stored.prediction,
                device_id=self._device(stored.prediction.device_id),
                signature=self._renamed(stored.prediction.signature),
            ),
        )
        mine = prediction_records.by_id(self._connection, theirs.id)
        if mine is not None and _comparable(mine) != _comparable(theirs):
            conflict = conflicts.of_prediction(mine, theirs)
            if self._ask(conflict, "predictions") is Choice.KEEP:
                return
            theirs = replace(theirs, id=self._another_id(theirs.id, theirs))
            mine = prediction_records.by_id(self._connection, theirs.id)
        else:
            self._count("predictions", known=mine is not None)
        if mine is None:
            self.actions.append(lambda c: prediction_records.insert(c, theirs))
            return
        self._plan_marks(mine, theirs)
        if prediction_records.is_deleted(self._connection, theirs.id):
            self._counts["predictions"].back += 1
            self.actions.append(lambda c: prediction_records.restore(c, [theirs.id]))

    def _plan_marks(self, mine: StoredPrediction, theirs: StoredPrediction) -> None:
        own, other = (mine.tags, mine.note), (theirs.tags, theirs.note)
        if own == other or not any(other):
            return
        answer = Choice.TAKE if not any(own) else self._ask(conflicts.of_marks(mine, theirs))
        tags, note = theirs.tags, theirs.note
        if answer is Choice.KEEP:
            return
        if answer is Choice.BOTH:
            tags = tuple(dict.fromkeys((*mine.tags, *theirs.tags)))[:MAX_TAGS]
            notes = dict.fromkeys(text for text in (mine.note, theirs.note) if text)
            note = " / ".join(notes)[:MAX_NOTE]
        self.actions.append(lambda c: prediction_records.mark(c, mine.id, tags, note))

    def _plan_active(self, stored: StoredSignature) -> None:
        signature = stored.signature
        identity = self._ids.get(signature.id, signature.id)
        target = (self._device(signature.device_id), signature.configuration)
        mine = next((s for s in self._signatures.values() if _active_target(s) == target), None)
        if mine is not None and mine.signature.id == identity:
            return
        if mine is None or self._ask(conflicts.of_active(mine, stored)) is Choice.TAKE:
            self.actions.append(lambda c: signature_records.make_active(c, identity))

    def _count(self, kind: str, *, known: bool) -> None:
        if known:
            self._counts[kind].same += 1
        else:
            self._counts[kind].new += 1

    def _device(self, device_id: str) -> str:
        return self._device_ids.get(device_id, device_id)

    def _renamed(self, identity: str | None) -> str | None:
        return None if identity is None else self._ids.get(identity, identity)

    def _another_id(self, identity: str, record: object) -> str:
        """Return the id under which a record is kept beside mine: the same each time."""
        text = f"{identity} {_comparable(record)!r}".encode("utf-8", "surrogatepass")
        self._ids[identity] = hashlib.sha256(text).hexdigest()[:32]
        return self._ids[identity]


def _active_target(stored: StoredSignature) -> tuple[str, Configuration] | None:
    signature = stored.signature
    return (signature.device_id, signature.configuration) if signature.active else None


def _comparable(record: object) -> object:
    """Return what makes two records of one id the same: not what a store adds to them."""
    match record:
        case StoredMeasurement():
            return record.measurement, record.created_ns
        case StoredSignature():
            return replace(record.signature, active=False), record.created_ns, record.facts
        case StoredPrediction():
            return record.prediction, record.created_ns, record.settings_hash, record.settings
        case _:
            raise TypeError(type(record).__name__)


def _twin(theirs: DeviceFile, mine: Mapping[str, DeviceFile]) -> str | None:
    """Return the id of a device of mine that is theirs under another id: kept both before."""

    def facts(device: Device) -> dict[str, object]:
        return {**device_to_object(device), "id": "", "name": ""}

    wanted = facts(theirs.device)
    stem = theirs.device.name[:100]
    return next(
        (
            identity
            for identity, entry in mine.items()
            if entry.device.name.startswith(stem) and facts(entry.device) == wanted
        ),
        None,
    )
