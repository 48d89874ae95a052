"""Plans of importing a project: new records, equal ones, restored ones, and conflicts.

Nothing of the store is overwritten unless the user chooses so for that conflict. Measurements,
signatures and predictions are records: the local one always stays, and an incoming one that differs
under the same id is stored beside it under a new id. Records that were deleted in the store and are
in the project are restored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from predictor.core.records import Configuration, Device
from predictor.core.stored import StoredMeasurement, StoredPrediction, StoredSignature
from predictor.core.tags import MAX_NOTE, MAX_TAGS
from predictor.devices.schema import DeviceFile, device_to_object
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.user_devices import UserDevices, unused_id
from predictor.services.project import conflicts
from predictor.services.project.conflicts import Choice, Chooser, Conflict
from predictor.services.project.prints import as_stored
from predictor.services.project.records import PARTS, Project
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import predictions as prediction_records
from predictor.store import signatures as signature_records
from predictor.store import token_rates as token_rate_records
from predictor.store.database import Database
from predictor.store.token_rates import TokenRate

_Record = TypeVar("_Record", StoredMeasurement, StoredSignature, StoredPrediction)


@dataclass(slots=True)
class Counts:
    """Numbers of records of one kind that are new, the same here, back again, or in conflict."""

    new: int = 0
    same: int = 0
    back: int = 0
    conflicts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes of the store that an import makes.

    Attributes:
        devices: to be described; an earlier description is replaced.
        graphs: to be stored, by fingerprint.
        measurements, signatures, predictions: to be stored.
        reinstated: ids of measurements that were withdrawn.
        undeleted: ids of signatures that were deleted.
        restored: ids of predictions that were deleted.
        marks: tags and note by the id of their prediction.
        active: ids of signatures that are to be in use.
        token_rates: to be stored; an earlier one of the device is replaced.
    """

    devices: list[DeviceFile] = field(default_factory=list)
    graphs: dict[str, bytes] = field(default_factory=dict)
    measurements: list[StoredMeasurement] = field(default_factory=list)
    reinstated: list[str] = field(default_factory=list)
    signatures: list[StoredSignature] = field(default_factory=list)
    undeleted: list[str] = field(default_factory=list)
    predictions: list[StoredPrediction] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    marks: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    active: list[str] = field(default_factory=list)
    token_rates: list[TokenRate] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of an import.

    Attributes:
        counts: by kind of record.
        conflicts: all of them, in the project's order.
        open: those that are not answered.
        changes: of the store.
    """

    counts: Mapping[str, Counts]
    conflicts: tuple[Conflict, ...]
    open: tuple[Conflict, ...]
    changes: Changes


class Planner:
    """One pass over a project that collects the changes which follow from the answers.

    Args:
        database: the store.
        project: as read, its references checked.
        catalogue: the devices that ship.
        choose: answers conflicts, None where one is not answered.
    """

    def __init__(
        self, database: Database, project: Project, catalogue: Catalogue, choose: Chooser | None
    ) -> None:
        self._database, self._catalogue = database, catalogue
        self._project = as_stored(database, project)
        self._choose = choose or (lambda _: None)
        self._conflicts: list[Conflict] = []
        self._open: list[Conflict] = []
        self._counts = {part.name: Counts() for part in PARTS}
        self._changes = Changes()
        self._device_ids: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._signatures = {s.signature.id: s for s in signature_records.stored(database)}

    def plan(self) -> Plan:
        """Return the plan of importing the project; the store is as it was."""
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
        self._plan_token_rates()
        # Measurements and predictions refer to each other: only now all ids are known.
        self._changes.measurements[:] = [
            replace(stored, prediction_id=self._renamed(stored.prediction_id))
            for stored in self._changes.measurements
        ]
        return Plan(self._counts, tuple(self._conflicts), tuple(self._open), self._changes)

    def _ask(self, conflict: Conflict, kind: str = "") -> Choice:
        """Return the answer to a conflict; without one the local record stays and it is open."""
        self._conflicts.append(conflict)
        if kind:
            self._counts[kind].conflicts += 1
        answer = self._choose(conflict)
        if answer not in conflict.choices:
            self._open.append(conflict)
            return Choice.KEEP
        return answer

    def _match(
        self,
        kind: str,
        identity: str,
        incoming: _Record,
        find: Callable[[str], _Record | None],
        conflict: Callable[[_Record, _Record], Conflict],
    ) -> tuple[str, _Record | None] | None:
        """Compare an incoming record with the local one of its id.

        Returns:
            The id of the incoming record in the store, and the local record of that id, None where
            the incoming one is to be stored; or None where the local one stays alone.
        """
        local = find(identity)
        if local is None or _comparable(local) == _comparable(incoming):
            self._count(kind, same=local is not None)
        elif self._ask(conflict(local, incoming), kind) is Choice.KEEP:
            return None
        else:
            identity = self._another_id(identity, incoming)
            local = find(identity)
        return identity, local

    def _plan_devices(self) -> None:
        local = {entry.device.id: entry for entry in UserDevices(self._database).all()}
        # All three: a new id must be unused in the store, in the catalogue and in the project.
        used_ids = {*local, *self._catalogue.by_id, *(d.device.id for d in self._project.devices)}
        for incoming in self._project.devices:
            identity = incoming.device.id
            shipped = self._catalogue.by_id.get(identity)
            present = local[identity].device if identity in local else shipped
            twin = _twin(incoming, local)
            if present is not None and device_to_object(present) == device_to_object(
                incoming.device
            ):
                self._count("devices", same=True)
            elif present is not None and twin is not None:
                self._count("devices", same=True)
                self._device_ids[identity] = twin
            elif present is None:
                self._count("devices", same=False)
                self._changes.devices.append(incoming)
            else:
                self._settle_device(present, incoming, used_ids, shipped=identity not in local)

    def _settle_device(
        self, local: Device, incoming: DeviceFile, used_ids: set[str], *, shipped: bool
    ) -> None:
        conflict = conflicts.of_device(local, incoming.device, shipped=shipped)
        answer = self._ask(conflict, "devices")
        if answer is Choice.TAKE:
            self._changes.devices.append(incoming)
        elif answer is Choice.BOTH:
            identity = unused_id(incoming.device.id, used_ids)
            used_ids.add(identity)
            self._device_ids[incoming.device.id] = identity
            name = f"{incoming.device.name[:100]} (theirs)"
            renamed = replace(incoming, device=replace(incoming.device, id=identity, name=name))
            self._changes.devices.append(renamed)

    def _plan_models(self) -> None:
        for fingerprint, graph in self._project.graphs.items():
            stored = bool(model_records.graph_of(self._database, fingerprint))
            self._count("models", same=stored)
            if not stored:
                self._changes.graphs[fingerprint] = graph

    def _plan_measurement(self, stored: StoredMeasurement) -> None:
        record = replace(stored.measurement, device_id=self._device(stored.measurement.device_id))
        incoming = replace(stored, measurement=record)
        db = self._database.tables
        find = partial(measurement_records.by_id, db)
        match = self._match("measurements", record.id, incoming, find, conflicts.of_measurement)
        if match is None:
            return
        identity, local = match
        if local is None:
            made = replace(incoming, measurement=replace(record, id=identity))
            self._changes.measurements.append(made)
        elif measurement_records.is_withdrawn(db, identity):
            self._counts["measurements"].back += 1
            self._changes.reinstated.append(identity)

    def _plan_signature(self, stored: StoredSignature) -> None:
        record = replace(
            stored.signature,
            device_id=self._device(stored.signature.device_id),
            measurement_ids=tuple(
                self._ids.get(name, name) for name in stored.signature.measurement_ids
            ),
        )
        incoming, find = replace(stored, signature=record), self._signatures.get
        match = self._match("signatures", record.id, incoming, find, conflicts.of_signature)
        if match is None:
            return
        identity, local = match
        if local is None:
            # Which one is in use is settled when all are there.
            made = replace(incoming, signature=replace(record, id=identity, active=False))
            self._changes.signatures.append(made)
        elif local.deleted and not stored.deleted:
            self._counts["signatures"].back += 1
            self._changes.undeleted.append(identity)

    def _plan_prediction(self, stored: StoredPrediction) -> None:
        prediction = replace(
            stored.prediction,
            device_id=self._device(stored.prediction.device_id),
            signature=self._renamed(stored.prediction.signature),
        )
        incoming = replace(stored, prediction=prediction)
        db = self._database.tables
        find = partial(prediction_records.by_id, db)
        match = self._match("predictions", incoming.id, incoming, find, conflicts.of_prediction)
        if match is None:
            return
        identity, local = match
        if local is None:
            self._changes.predictions.append(replace(incoming, id=identity))
            return
        self._plan_marks(local, incoming)
        if prediction_records.is_deleted(db, identity):
            self._counts["predictions"].back += 1
            self._changes.restored.append(identity)

    def _plan_marks(self, local: StoredPrediction, incoming: StoredPrediction) -> None:
        present, other = (local.tags, local.note), (incoming.tags, incoming.note)
        if present == other or not any(other):
            return
        answer = Choice.TAKE if not any(present) else self._ask(conflicts.of_marks(local, incoming))
        if answer is Choice.TAKE:
            self._changes.marks[local.id] = other
        elif answer is Choice.BOTH:
            # Both, without repeats, within the limits that a typed note has.
            tags = tuple(dict.fromkeys((*local.tags, *incoming.tags)))[:MAX_TAGS]
            notes = dict.fromkeys(text for text in (local.note, incoming.note) if text)
            self._changes.marks[local.id] = tags, " / ".join(notes)[:MAX_NOTE]

    def _plan_active(self, stored: StoredSignature) -> None:
        signature = stored.signature
        identity = self._ids.get(signature.id, signature.id)
        target = (self._device(signature.device_id), signature.configuration)
        # Only one is in use on a target: the incoming one takes the place of the local one.
        local = next((s for s in self._signatures.values() if _active_target(s) == target), None)
        if local is not None and local.signature.id == identity:
            return
        if local is None or self._ask(conflicts.of_active(local, stored)) is Choice.TAKE:
            self._changes.active.append(identity)

    def _plan_token_rates(self) -> None:
        rates = {rate.device_id: rate for rate in token_rate_records.load_all(self._database)}
        for stored in self._project.rates:
            incoming = replace(stored, device_id=self._device(stored.device_id))
            local = rates.get(incoming.device_id)
            if local is None or local == incoming:
                self._count("rates", same=local is not None)
            elif self._ask(conflicts.of_token_rate(local, incoming), "rates") is Choice.KEEP:
                continue
            if local != incoming:
                self._changes.token_rates.append(incoming)

    def _count(self, kind: str, *, same: bool) -> None:
        if same:
            self._counts[kind].same += 1
        else:
            self._counts[kind].new += 1

    def _device(self, device_id: str) -> str:
        return self._device_ids.get(device_id, device_id)

    def _renamed(self, identity: str | None) -> str | None:
        return None if identity is None else self._ids.get(identity, identity)

    def _another_id(self, identity: str, record: _Record) -> str:
        """Return the id under which a record is stored beside the local one: always the same."""
        # From its content, so that a second import finds it again instead of adding another.
        text = f"{identity} {_comparable(record)!r}".encode("utf-8", "surrogatepass")
        self._ids[identity] = hashlib.sha256(text).hexdigest()[:32]
        return self._ids[identity]


def _active_target(stored: StoredSignature) -> tuple[str, Configuration] | None:
    signature = stored.signature
    return (signature.device_id, signature.configuration) if signature.active else None


def _comparable(record: StoredMeasurement | StoredSignature | StoredPrediction) -> object:
    """Return the parts by which two records of one id are compared."""
    match record:
        case StoredMeasurement():
            return record.measurement, record.created_ns
        case StoredSignature():
            # Being in use is a conflict of its own kind, resolved once all are there.
            return replace(record.signature, active=False), record.created_ns, record.facts
        case StoredPrediction():
            return record.prediction, record.created_ns, record.settings_hash, record.settings


def _twin(incoming: DeviceFile, devices: Mapping[str, DeviceFile]) -> str | None:
    """Return the id of a local device equal to an incoming one, from an import that stored both."""

    def facts(device: Device) -> dict[str, object]:
        return {**device_to_object(device), "id": "", "name": ""}

    description = facts(incoming.device)
    # A device that was stored beside it is called "... (theirs)", see ``_settle_device``.
    stem = incoming.device.name[:100]
    return next(
        (
            identity
            for identity, entry in devices.items()
            if entry.device.name.startswith(stem) and facts(entry.device) == description
        ),
        None,
    )
