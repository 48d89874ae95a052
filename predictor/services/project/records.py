"""The records of a project as JSON objects and back, nothing in them trusted.

Every text is bounded, every number finite and in range, every id of its form, and every record
refers to others of the same project only.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Container, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from predictor.core.records import Basis, Configuration, Measurement, Prediction, Signature
from predictor.core.tags import MAX_NOTE, MAX_TAG, MAX_TAGS, clean_tags
from predictor.devices.fields import Place
from predictor.devices.schema import DeviceFile, device_from_object, device_to_object
from predictor.graph.untrusted import checked_graph
from predictor.services.project.checked_fields import CheckedFields
from predictor.store.measurements import StoredMeasurement
from predictor.store.predictions import StoredPrediction
from predictor.store.signatures import StoredSignature

MAX_SAMPLES = 1_000_000
MAX_MEMBERS = 10_000
MAX_FLAGGED = 1_000_000
MAX_NAME = 4096
MAX_TEXT = 1_000_000
MAX_DOCUMENT = 1_000_000
MAX_PROVENANCE = 2**27
MAX_GRAPH = 256 * 2**20
_INTERVALS = (("low80_ms", "high80_ms"), ("low95_ms", "high95_ms"))


@dataclass(frozen=True, slots=True)
class Project:
    """What one store gives another.

    Attributes:
        devices: the user's own that the records are about.
        graphs: bytes of each operator graph by fingerprint.
        measurements: with every sample.
        signatures: each one's measurements are in the project.
        predictions: with tags and notes, without paths.
    """

    devices: tuple[DeviceFile, ...] = ()
    graphs: Mapping[str, bytes] = field(default_factory=dict)
    measurements: tuple[StoredMeasurement, ...] = ()
    signatures: tuple[StoredSignature, ...] = ()
    predictions: tuple[StoredPrediction, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of record: the objects of a project's, and the record of an object."""

    name: str
    objects: Callable[[Project], list[dict[str, object]]]
    record: Callable[[Mapping[str, object], Place], Any]


def check_references(project: Project, subject: str) -> None:
    """Check that every id is there once, and that what records refer to is in the project.

    Raises:
        InputError: naming the first that is not.
    """
    place = Place(subject, "the project")
    measured = _distinct([m.measurement.id for m in project.measurements], "measurement", place)
    signed = _distinct([s.signature.id for s in project.signatures], "signature", place)
    predicted = _distinct([p.id for p in project.predictions], "prediction", place)
    _distinct([d.device.id for d in project.devices], "device", place)
    for signature in project.signatures:
        for name in signature.signature.measurement_ids:
            _require(name, measured, "measurement", place)
    for stored in project.predictions:
        _require(stored.prediction.fingerprint, project.graphs, "model", place)
        if stored.prediction.signature is not None:
            _require(stored.prediction.signature, signed, "signature", place)
    for truth in project.measurements:
        if truth.prediction_id is not None:
            _require(truth.prediction_id, predicted, "prediction", place)
    _check_active(project, place)


def _distinct(ids: list[str], what: str, place: Place) -> set[str]:
    known: set[str] = set()
    for identity in ids:
        if identity in known:
            raise place.wrong(f"has the {what} {identity} twice", _AGAIN)
        known.add(identity)
    return known


def _require(identity: str, known: Container[str], what: str, place: Place) -> None:
    if identity not in known:
        raise place.wrong(f"refers to the {what} {identity}, which is not in it", _AGAIN)


def _check_active(project: Project, place: Place) -> None:
    targets = [
        f"{s.signature.device_id} {s.signature.configuration}"
        for s in project.signatures
        if s.signature.active
    ]
    _distinct(targets, "active signature of", place)


_AGAIN = "export it again"


def _device_objects(project: Project) -> list[dict[str, object]]:
    return [device_to_object(d.device, d.unknown_metrics) for d in project.devices]


def _device(content: Mapping[str, object], place: Place) -> DeviceFile:
    return device_from_object(content, place.subject)


def _model_objects(project: Project) -> list[dict[str, object]]:
    return [
        {"fingerprint": fingerprint, "graph": base64.b64encode(graph).decode()}
        for fingerprint, graph in project.graphs.items()
    ]


def _model(content: Mapping[str, object], place: Place) -> tuple[str, bytes]:
    fields = CheckedFields(content, ("fingerprint", "graph"), place)
    fingerprint = fields.digest("fingerprint")
    try:
        data = base64.b64decode(fields.text("graph", MAX_GRAPH), validate=True)
        graph = checked_graph(data)
    except (binascii.Error, ValueError) as error:
        raise place.at("graph").wrong(f"is no operator graph ({error})", _AGAIN) from error
    if graph.fingerprint != fingerprint:
        raise place.at("graph").wrong("is of another model", _AGAIN)
    return fingerprint, data


_MEASUREMENT = (
    "id",
    "fingerprint",
    "device",
    "configuration",
    "samples_ns",
    "value_ms",
    "statistic",
    "protocol",
    "provenance",
    "created_ns",
    "prediction",
)


def _measurement_objects(project: Project) -> list[dict[str, object]]:
    return [
        {
            "id": stored.measurement.id,
            "fingerprint": stored.measurement.fingerprint,
            "device": stored.measurement.device_id,
            "configuration": _configuration(stored.measurement.configuration),
            "samples_ns": list(stored.measurement.samples_ns),
            "value_ms": stored.measurement.value_ms,
            "statistic": stored.measurement.statistic,
            "protocol": stored.measurement.protocol,
            "provenance": stored.measurement.provenance,
            "created_ns": stored.created_ns,
            "prediction": stored.prediction_id,
        }
        for stored in project.measurements
    ]


def _measurement(content: Mapping[str, object], place: Place) -> StoredMeasurement:
    fields = CheckedFields(content, _MEASUREMENT, place)
    return StoredMeasurement(
        Measurement(
            fields.identity("id"),
            fields.digest("fingerprint"),
            fields.device_id("device"),
            fields.configuration("configuration"),
            fields.samples_ns("samples_ns", MAX_SAMPLES),
            fields.latency_ms("value_ms", over_zero=True),
            fields.text("statistic", MAX_NAME, required=True),
            fields.text("protocol", MAX_NAME),
            fields.document("provenance", MAX_PROVENANCE),
        ),
        fields.time_ns("created_ns"),
        fields.optional_identity("prediction"),
    )


_SIGNATURE = (
    "id",
    "device",
    "configuration",
    "measurements",
    "active",
    "created_ns",
    "facts",
    "deleted",
)


def _signature_objects(project: Project) -> list[dict[str, object]]:
    return [
        {
            "id": stored.signature.id,
            "device": stored.signature.device_id,
            "configuration": _configuration(stored.signature.configuration),
            "measurements": list(stored.signature.measurement_ids),
            "active": stored.signature.active,
            "created_ns": stored.created_ns,
            "facts": stored.facts,
            "deleted": stored.deleted_ns is not None,
        }
        for stored in project.signatures
    ]


def _signature(content: Mapping[str, object], place: Place) -> StoredSignature:
    fields = CheckedFields(content, _SIGNATURE, place)
    created_ns, deleted = fields.time_ns("created_ns"), fields.flag("deleted")
    signature = Signature(
        fields.identity("id"),
        fields.device_id("device"),
        fields.configuration("configuration"),
        fields.identities("measurements", MAX_MEMBERS),
        fields.flag("active"),
    )
    if not signature.measurement_ids:
        raise place.at("measurements").wrong("is empty", _AGAIN)
    if deleted and signature.active:
        raise place.at("active").wrong("is true for a deleted signature", _AGAIN)
    facts = fields.document("facts", MAX_DOCUMENT)
    return StoredSignature(signature, created_ns, facts, None, created_ns if deleted else None)


_TIMES = (
    "latency_ms",
    "low80_ms",
    "high80_ms",
    "low95_ms",
    "high95_ms",
    "bound_ms",
    "predicted_ms",
)
_PREDICTION = (
    "id",
    "created_ns",
    "model",
    "fingerprint",
    "device",
    "configuration",
    "engine",
    "basis",
    *_TIMES,
    "fits_memory",
    "problem",
    "out_of_distribution",
    "signature",
    "flagged_operators",
    "provenance",
    "fine_tuned",
    "by_operators",
    "settings",
    "settings_hash",
    "tags",
    "note",
)


def _prediction_objects(project: Project) -> list[dict[str, object]]:
    return [_prediction_object(stored) for stored in project.predictions]


def _prediction_object(stored: StoredPrediction) -> dict[str, object]:
    prediction = stored.prediction
    return {
        "id": stored.id,
        "created_ns": stored.created_ns,
        "model": prediction.model,
        "fingerprint": prediction.fingerprint,
        "device": prediction.device_id,
        "configuration": _configuration(prediction.configuration),
        "engine": prediction.engine,
        "basis": prediction.basis,
        **{name: _finite(getattr(prediction, name)) for name in _TIMES},
        "fits_memory": prediction.fits_memory,
        "problem": prediction.problem,
        "out_of_distribution": prediction.out_of_distribution,
        "signature": prediction.signature,
        "flagged_operators": list(prediction.flagged_operators),
        "provenance": prediction.provenance,
        "fine_tuned": prediction.fine_tuned,
        "by_operators": prediction.by_operators,
        "settings": stored.settings,
        "settings_hash": stored.settings_hash,
        "tags": list(stored.tags),
        "note": stored.note,
    }


def _prediction(content: Mapping[str, object], place: Place) -> StoredPrediction:
    # Projects from before a number could be adapted so do not tell.
    told = {"fine_tuned": False, "by_operators": False, **content}
    fields = CheckedFields(told, _PREDICTION, place)
    time = fields.optional_latency_ms
    prediction = Prediction(
        model=fields.text("model", MAX_NAME),
        fingerprint=fields.digest("fingerprint"),
        device_id=fields.device_id("device"),
        configuration=fields.configuration("configuration"),
        engine=fields.text("engine", MAX_NAME, required=True),
        basis=_basis(content["basis"], place.at("basis")),
        latency_ms=time("latency_ms"),
        low80_ms=time("low80_ms"),
        high80_ms=time("high80_ms"),
        low95_ms=time("low95_ms"),
        high95_ms=time("high95_ms"),
        bound_ms=time("bound_ms"),
        predicted_ms=time("predicted_ms"),
        fits_memory=fields.optional_flag("fits_memory"),
        problem=fields.text("problem", MAX_TEXT),
        out_of_distribution=fields.text("out_of_distribution", MAX_TEXT),
        signature=fields.optional_identity("signature"),
        flagged_operators=fields.texts("flagged_operators", MAX_FLAGGED, MAX_TEXT),
        provenance=fields.text("provenance", MAX_TEXT),
        fine_tuned=fields.flag("fine_tuned"),
        by_operators=fields.flag("by_operators"),
    )
    _check_numbers(prediction, place)
    return StoredPrediction(
        fields.identity("id"),
        fields.time_ns("created_ns"),
        "",
        fields.digest("settings_hash"),
        prediction,
        fields.document("settings", MAX_DOCUMENT),
        clean_tags(fields.texts("tags", MAX_TAGS, MAX_TAG)),
        fields.text("note", MAX_NOTE),
    )


def _basis(value: object, place: Place) -> Basis | None:
    if value is None:
        return None
    if value not in list(Basis):
        raise place.wrong("is none that this version knows", f"use one of {', '.join(Basis)}")
    return Basis(str(value))


def _check_numbers(prediction: Prediction, place: Place) -> None:
    if (prediction.latency_ms is None) is not (prediction.basis is None):
        raise place.at("basis").wrong("does not fit to the latency", _AGAIN)
    for low, high in _INTERVALS:
        ends = getattr(prediction, low), getattr(prediction, high)
        if (ends[0] is None) is not (ends[1] is None) or (ends[0] or 0) > (ends[1] or 0):
            raise place.at(high).wrong(f"does not fit to {low}", _AGAIN)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _configuration(configuration: Configuration) -> dict[str, object]:
    return asdict(configuration)


KINDS: tuple[Kind, ...] = (
    Kind("devices", _device_objects, _device),
    Kind("models", _model_objects, _model),
    Kind("measurements", _measurement_objects, _measurement),
    Kind("signatures", _signature_objects, _signature),
    Kind("predictions", _prediction_objects, _prediction),
)
