"""Planning to take a project over: new records, the same, those back again, and conflicts.

Nothing of the store is overwritten unless the user chooses so for that conflict. Measurements,
signatures and predictions are records: mine stays whatever is chosen, and theirs, where it is
another under the same id, is kept beside it under an id of its own. Records that were deleted here
and are in the project come back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from predictor.core.records import Configuration, Device
from predictor.core.tags import MAX_NOTE, MAX_TAGS
from predictor.devices.schema import DeviceFile, device_to_object
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.user_devices import UserDevices, unused_id
from predictor.services.project import conflicts
from predictor.services.project.conflicts import Choice, Chooser, Conflict
from predictor.services.project.records import PARTS, Project
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import predictions as prediction_records
from predictor.store import signatures as signature_records
from predictor.store import token_rates as token_rate_records
from predictor.store.database import Database
from predictor.store.measurements import StoredMeasurement
from predictor.store.predictions import StoredPrediction
from predictor.store.signatures import StoredSignature
from predictor.store.token_rates import TokenRate

_Record = TypeVar("_Record", StoredMeasurement, StoredSignature, StoredPrediction)


@dataclass(slots=True)
class Counts:
    """Numbers of records of one kind that are new, the same here, back again, or in conflict."""

    new: int = 0
    same: int = 0
    back: int = 0
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
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
        self._database, self._project, self._catalogue = database, project, catalogue
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
        """Return the answer to a conflict; without one mine stays, and the conflict is open."""
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
        theirs: _Record,
        find: Callable[[str], _Record | None],
        conflict: Callable[[_Record, _Record], Conflict],
    ) -> tuple[str, _Record | None] | None:
        """Compare a record with mine of its id.

        Returns:
            The id that theirs has in the store, and mine of that id or None where theirs is to be
            stored; or None where mine stays and theirs does not come in.
        """
        mine = find(identity)
        if mine is None or _comparable(mine) == _comparable(theirs):
            self._count(kind, same=mine is not None)
        elif self._ask(conflict(mine, theirs), kind) is Choice.KEEP:
            return None
        else:
            identity = self._another_id(identity, theirs)
            mine = find(identity)
        return identity, mine

    def _plan_devices(self) -> None:
        mine = {entry.device.id: entry for entry in UserDevices(self._database).every()}
        # All three: an id made for theirs must be new here, in the catalogue and in the project.
        taken = {*mine, *self._catalogue.by_id, *(d.device.id for d in self._project.devices)}
        for theirs in self._project.devices:
            identity = theirs.device.id
            shipped = self._catalogue.by_id.get(identity)
            own = mine[identity].device if identity in mine else shipped
            twin = _twin(theirs, mine)
            if own is not None and device_to_object(own) == device_to_object(theirs.device):
                self._count("devices", same=True)
            elif own is not None and twin is not None:
                self._count("devices", same=True)
                self._device_ids[identity] = twin
            elif own is None:
                self._count("devices", same=False)
                self._changes.devices.append(theirs)
            else:
                self._settle_device(own, theirs, taken, shipped=identity not in mine)

    def _settle_device(
        self, mine: Device, theirs: DeviceFile, taken: set[str], *, shipped: bool
    ) -> None:
        conflict = conflicts.of_device(mine, theirs.device, shipped=shipped)
        answer = self._ask(conflict, "devices")
        if answer is Choice.TAKE:
            self._changes.devices.append(theirs)
        elif answer is Choice.BOTH:
            identity = unused_id(theirs.device.id, taken)
            taken.add(identity)
            self._device_ids[theirs.device.id] = identity
            name = f"{theirs.device.name[:100]} (theirs)"
            beside = replace(theirs, device=replace(theirs.device, id=identity, name=name))
            self._changes.devices.append(beside)

    def _plan_models(self) -> None:
        for fingerprint, graph in self._project.graphs.items():
            stored = bool(model_records.graph_of(self._database, fingerprint))
            self._count("models", same=stored)
            if not stored:
                self._changes.graphs[fingerprint] = graph

    def _plan_measurement(self, stored: StoredMeasurement) -> None:
        record = replace(stored.measurement, device_id=self._device(stored.measurement.device_id))
        theirs = replace(stored, measurement=record)
        db = self._database.tables
        find = partial(measurement_records.by_id, db)
        match = self._match("measurements", record.id, theirs, find, conflicts.of_measurement)
        if match is None:
            return
        identity, mine = match
        if mine is None:
            made = replace(theirs, measurement=replace(record, id=identity))
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
        theirs, find = replace(stored, signature=record), self._signatures.get
        match = self._match("signatures", record.id, theirs, find, conflicts.of_signature)
        if match is None:
            return
        identity, mine = match
        if mine is None:
            # Which one is in use is settled when all are there.
            made = replace(theirs, signature=replace(record, id=identity, active=False))
            self._changes.signatures.append(made)
        elif mine.deleted and not stored.deleted:
            self._counts["signatures"].back += 1
            self._changes.undeleted.append(identity)

    def _plan_prediction(self, stored: StoredPrediction) -> None:
        prediction = replace(
            stored.prediction,
            device_id=self._device(stored.prediction.device_id),
            signature=self._renamed(stored.prediction.signature),
        )
        theirs = replace(stored, prediction=prediction)
        db = self._database.tables
        find = partial(prediction_records.by_id, db)
        match = self._match("predictions", theirs.id, theirs, find, conflicts.of_prediction)
        if match is None:
            return
        identity, mine = match
        if mine is None:
            self._changes.predictions.append(replace(theirs, id=identity))
            return
        self._plan_marks(mine, theirs)
        if prediction_records.is_deleted(db, identity):
            self._counts["predictions"].back += 1
            self._changes.restored.append(identity)

    def _plan_marks(self, mine: StoredPrediction, theirs: StoredPrediction) -> None:
        own, other = (mine.tags, mine.note), (theirs.tags, theirs.note)
        if own == other or not any(other):
            return
        answer = Choice.TAKE if not any(own) else self._ask(conflicts.of_marks(mine, theirs))
        if answer is Choice.TAKE:
            self._changes.marks[mine.id] = other
        elif answer is Choice.BOTH:
            # Both, without repeats, within the limits that a typed note has.
            tags = tuple(dict.fromkeys((*mine.tags, *theirs.tags)))[:MAX_TAGS]
            notes = dict.fromkeys(text for text in (mine.note, theirs.note) if text)
            self._changes.marks[mine.id] = tags, " / ".join(notes)[:MAX_NOTE]

    def _plan_active(self, stored: StoredSignature) -> None:
        signature = stored.signature
        identity = self._ids.get(signature.id, signature.id)
        target = (self._device(signature.device_id), signature.configuration)
        # Only one is in use on a target: to take theirs means to put mine out of use.
        mine = next((s for s in self._signatures.values() if _active_target(s) == target), None)
        if mine is not None and mine.signature.id == identity:
            return
        if mine is None or self._ask(conflicts.of_active(mine, stored)) is Choice.TAKE:
            self._changes.active.append(identity)

    def _plan_token_rates(self) -> None:
        rates = {rate.device_id: rate for rate in token_rate_records.load_all(self._database)}
        for stored in self._project.rates:
            theirs = replace(stored, device_id=self._device(stored.device_id))
            mine = rates.get(theirs.device_id)
            if mine is None or mine == theirs:
                self._count("rates", same=mine is not None)
            elif self._ask(conflicts.of_token_rate(mine, theirs), "rates") is Choice.KEEP:
                continue
            if mine != theirs:
                self._changes.token_rates.append(theirs)

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
        """Return the id under which a record is kept beside mine: the same each time."""
        # From its content, so that a second import finds it again instead of adding another.
        text = f"{identity} {_comparable(record)!r}".encode("utf-8", "surrogatepass")
        self._ids[identity] = hashlib.sha256(text).hexdigest()[:32]
        return self._ids[identity]


def _active_target(stored: StoredSignature) -> tuple[str, Configuration] | None:
    signature = stored.signature
    return (signature.device_id, signature.configuration) if signature.active else None


def _comparable(record: StoredMeasurement | StoredSignature | StoredPrediction) -> object:
    """Return the parts that are equal in two records of one id that are the same."""
    match record:
        case StoredMeasurement():
            return record.measurement, record.created_ns
        case StoredSignature():
            # Being in use is a conflict of its own kind, asked about once all are there.
            return replace(record.signature, active=False), record.created_ns, record.facts
        case StoredPrediction():
            return record.prediction, record.created_ns, record.settings_hash, record.settings


def _twin(theirs: DeviceFile, mine: Mapping[str, DeviceFile]) -> str | None:
    """Return the id of a device of mine that is theirs under another id: kept both before."""

    def facts(device: Device) -> dict[str, object]:
        return {**device_to_object(device), "id": "", "name": ""}

    description = facts(theirs.device)
    # Kept beside mine it was called "... (theirs)", see ``_settle_device``.
    stem = theirs.device.name[:100]
    return next(
        (
            identity
            for identity, entry in mine.items()
            if entry.device.name.startswith(stem) and facts(entry.device) == description
        ),
        None,
    )
