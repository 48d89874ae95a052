"""The records of a project as JSON objects and back, nothing in them trusted.

Every text is bounded, every number finite and in range, every id of its form, and every record
refers to others of the same project only.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from predictor.core import fields
from predictor.core.documents import Document, Provenance
from predictor.core.fields import Field, Kind
from predictor.core.prediction import Prediction
from predictor.core.records import Measurement, Signature
from predictor.core.stored import StoredMeasurement, StoredPrediction, StoredSignature
from predictor.core.tags import MAX_NOTE, MAX_TAG, MAX_TAGS, clean_tags
from predictor.devices.fields import Place, check_id
from predictor.devices.schema import DeviceFile, device_from_object, device_to_object
from predictor.graph.untrusted import checked_graph
from predictor.services.generation.token_rates import run_of
from predictor.services.project.checked_fields import (
    check_any_text,
    check_basis,
    check_configuration,
    check_digits,
    check_document,
    check_flag,
    check_integer,
    check_items,
    check_latency,
    check_names,
)
from predictor.store.token_rates import TokenRate

MAX_SAMPLES = 1_000_000
MAX_MEMBERS = 10_000
MAX_FLAGGED = 1_000_000
MAX_NAME = 4096
MAX_TEXT = 1_000_000
MAX_DOCUMENT = 1_000_000
MAX_PROVENANCE = 2**27
MAX_GRAPH = 256 * 2**20
_AGAIN = "export it again"
_ID_DIGITS = 32
_SHA256_DIGITS = 64
_INTERVALS = (("low80_ms", "high80_ms"), ("low95_ms", "high95_ms"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Records that are exchanged between stores.

    Attributes:
        devices: the user's own that the records are about.
        graphs: bytes of each operator graph by fingerprint.
        measurements: with every sample.
        signatures: each one's measurements are in the project.
        predictions: with tags and notes, without paths.
        rates: tokens a second of language models, at most one a device.
    """

    devices: tuple[DeviceFile, ...] = ()
    graphs: Mapping[str, bytes] = field(default_factory=dict)
    measurements: tuple[StoredMeasurement, ...] = ()
    signatures: tuple[StoredSignature, ...] = ()
    predictions: tuple[StoredPrediction, ...] = ()
    rates: tuple[TokenRate, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """The records of one kind: the objects of a project's, and the record of an object.

    One that is ``later`` is in a file only if it has records: programs before it read the others.
    """

    name: str
    objects: Callable[[Project], list[dict[str, object]]]
    record: Callable[[Mapping[str, object], Place], Any]
    later: bool = False


def check_references(project: Project, subject: str) -> None:
    """Check that every id is there once, and that every reference leads to a record here.

    Raises:
        InputError: naming the first that is not.
    """
    place = Place(subject, "the project")
    measured = _distinct([m.measurement.id for m in project.measurements], "measurement", place)
    signed = _distinct([s.signature.id for s in project.signatures], "signature", place)
    predicted = _distinct([p.id for p in project.predictions], "prediction", place)
    _distinct([d.device.id for d in project.devices], "device", place)
    _distinct([r.device_id for r in project.rates], "tokens a second of", place)
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


def _distinct(ids: list[str], kind: str, place: Place) -> set[str]:
    distinct: set[str] = set()
    for identity in ids:
        if identity in distinct:
            raise place.wrong(f"has the {kind} {identity} twice", _AGAIN)
        distinct.add(identity)
    return distinct


def _require(identity: str, ids: Container[str], kind: str, place: Place) -> None:
    if identity not in ids:
        raise place.wrong(f"refers to the {kind} {identity}, which is not in it", _AGAIN)


def _check_active(project: Project, place: Place) -> None:
    targets = [
        f"{s.signature.device_id} {s.signature.configuration}"
        for s in project.signatures
        if s.signature.active
    ]
    _distinct(targets, "active signature of", place)


def _finite(value: float | None) -> float | None:
    # JSON has no NaN or Infinity.
    return value if value is not None and math.isfinite(value) else None


# A kind that is not here is written as it is.
_WRITTEN: Final[Mapping[Kind, Callable[[Any], object]]] = {
    Kind.CONFIGURATION: asdict,
    Kind.DOCUMENT: lambda document: document.to_json(),
    Kind.IDENTITIES: list,
    Kind.LATENCY: _finite,
    Kind.NAMES: list,
    Kind.SAMPLES: list,
    Kind.TAGS: list,
}


def _identity(value: object, place: Place) -> str:
    return check_digits(value, place, _ID_DIGITS)


def _identities(value: object, place: Place) -> tuple[str, ...]:
    ids = check_items(value, place, MAX_MEMBERS, _identity)
    if len(set(ids)) < len(ids):
        raise place.wrong("names one twice")
    return ids


def _names(value: object, place: Place) -> tuple[str, ...]:
    return check_items(value, place, MAX_FLAGGED, lambda v, p: check_any_text(v, p, MAX_TEXT))


def _tags(value: object, place: Place) -> tuple[str, ...]:
    return clean_tags(
        check_items(value, place, MAX_TAGS, lambda v, p: check_any_text(v, p, MAX_TAG))
    )


def _document(value: object, place: Place, described: Field) -> object:
    limit = MAX_PROVENANCE if described.document is Provenance else MAX_DOCUMENT
    return check_document(value, place, limit, described.document)


def _name(value: object, place: Place, described: Field) -> str:
    # A model is called by its file.
    errors: Literal["strict", "surrogateescape"]
    errors = "surrogateescape" if described.name == "model" else "strict"
    return check_any_text(value, place, MAX_NAME, required=described.required, errors=errors)


_CHECKED: Final[Mapping[Kind, Callable[[object, Place, Field], object]]] = {
    Kind.IDENTITY: lambda v, p, _: _identity(v, p),
    Kind.IDENTITIES: lambda v, p, _: _identities(v, p),
    Kind.DIGEST: lambda v, p, _: check_digits(v, p, _SHA256_DIGITS),
    Kind.DEVICE: lambda v, p, _: check_id(v, p),
    Kind.CONFIGURATION: lambda v, p, _: check_configuration(v, p),
    Kind.NAME: _name,
    Kind.REMARK: lambda v, p, _: check_any_text(v, p, MAX_TEXT),
    Kind.NOTE: lambda v, p, _: check_any_text(v, p, MAX_NOTE),
    Kind.TAGS: lambda v, p, _: _tags(v, p),
    Kind.NAMES: lambda v, p, _: _names(v, p),
    Kind.BASIS: lambda v, p, _: check_basis(v, p),
    Kind.LATENCY: lambda v, p, f: check_latency(v, p, over_zero=f.required),
    Kind.SAMPLES: lambda v, p, _: check_items(v, p, MAX_SAMPLES, check_integer),
    Kind.TIME: lambda v, p, _: check_integer(v, p),
    Kind.FLAG: lambda v, p, _: check_flag(v, p),
    Kind.DOCUMENT: _document,
}


def _objects(table: Sequence[Field], records: Sequence[object]) -> list[dict[str, object]]:
    def written(described: Field, value: object) -> object:
        write = _WRITTEN.get(described.kind)
        return value if write is None or value is None else write(value)

    return [{f.key: written(f, f.of(record)) for f in table} for record in records]


def _values(
    table: Sequence[Field], content: Mapping[str, object], place: Place
) -> dict[str, dict[str, Any]]:
    """Return the checked fields of an object by the part of the record that they belong to."""
    content = {**{f.key: f.absent for f in table if f.later}, **content}
    check_names(content, (f.key for f in table), place)
    values: dict[str, dict[str, Any]] = defaultdict(dict)
    for f in table:
        value = content[f.key]
        absent = f.optional and value is None
        checked = None if absent else _CHECKED[f.kind](value, place.at(f.key), f)
        values[f.part][f.name] = checked
    return values


def _model_objects(project: Project) -> list[dict[str, object]]:
    return [
        {"fingerprint": fingerprint, "graph": base64.b64encode(graph).decode()}
        for fingerprint, graph in project.graphs.items()
    ]


def _model(content: Mapping[str, object], place: Place) -> tuple[str, bytes]:
    check_names(content, ("fingerprint", "graph"), place)
    fingerprint = check_digits(content["fingerprint"], place.at("fingerprint"), _SHA256_DIGITS)
    at = place.at("graph")
    try:
        # validate: without it characters outside the alphabet are skipped silently.
        data = base64.b64decode(check_any_text(content["graph"], at, MAX_GRAPH), validate=True)
        graph = checked_graph(data)
    except (binascii.Error, ValueError) as error:
        raise at.wrong(f"is no operator graph ({error})", _AGAIN) from error
    # Else a stranger could put another graph under the fingerprint of a known model.
    if graph.fingerprint != fingerprint:
        raise at.wrong("is of another model", _AGAIN)
    return fingerprint, data


def _measurement(content: Mapping[str, object], place: Place) -> StoredMeasurement:
    values = _values(fields.STORED_MEASUREMENT, content, place)
    return StoredMeasurement(Measurement(**values["measurement"]), **values[""])


def _signature(content: Mapping[str, object], place: Place) -> StoredSignature:
    values = _values(fields.STORED_SIGNATURE, content, place)
    signature, stored = Signature(**values["signature"]), values[""]
    if not signature.measurement_ids:
        raise place.at("measurements").wrong("is empty", _AGAIN)
    if stored["deleted"] and signature.active:
        raise place.at("active").wrong("is true for a deleted signature", _AGAIN)
    created_ns = stored["created_ns"]
    deleted_ns = created_ns if stored["deleted"] else None
    return StoredSignature(
        signature=signature,
        created_ns=created_ns,
        facts=stored["facts"],
        session_id=None,
        deleted_ns=deleted_ns,
    )


def _prediction(content: Mapping[str, object], place: Place) -> StoredPrediction:
    values = _values(fields.STORED_PREDICTION, content, place)
    prediction = Prediction(**values["prediction"])
    _check_numbers(prediction, place)
    # A project has no paths: those of the sender's machine lead nowhere here.
    return StoredPrediction(path="", prediction=prediction, **values[""])


def _check_numbers(prediction: Prediction, place: Place) -> None:
    if (prediction.latency_ms is None) is not (prediction.basis is None):
        raise place.at("basis").wrong("does not fit to the latency", _AGAIN)
    for low, high in _INTERVALS:
        ends = getattr(prediction, low), getattr(prediction, high)
        if (ends[0] is None) is not (ends[1] is None) or (ends[0] or 0) > (ends[1] or 0):
            raise place.at(high).wrong(f"does not fit to {low}", _AGAIN)


def _token_rate_objects(project: Project) -> list[dict[str, object]]:
    return [
        {"device": r.device_id, "tokens_per_s": r.tokens_per_s, "run": r.run.to_json()}
        for r in project.rates
    ]


def _token_rate(content: Mapping[str, object], place: Place) -> TokenRate:
    check_names(content, ("device", "tokens_per_s", "run"), place)
    run = check_document(content["run"], place.at("run"), MAX_DOCUMENT, Document)
    try:
        run_of(run)
    except ValueError as error:
        raise place.at("run").wrong(f"is no run of a language model ({error})", _AGAIN) from error
    return TokenRate(
        check_id(content["device"], place.at("device")),
        check_latency(content["tokens_per_s"], place.at("tokens_per_s"), over_zero=True),
        run,
    )


PARTS: Final[tuple[Part, ...]] = (
    Part(
        "devices",
        lambda p: [device_to_object(d.device, d.unknown_metrics) for d in p.devices],
        lambda content, place: device_from_object(content, place.subject),
    ),
    Part("models", _model_objects, _model),
    Part(
        "measurements",
        lambda p: _objects(fields.STORED_MEASUREMENT, p.measurements),
        _measurement,
    ),
    Part("signatures", lambda p: _objects(fields.STORED_SIGNATURE, p.signatures), _signature),
    Part("predictions", lambda p: _objects(fields.STORED_PREDICTION, p.predictions), _prediction),
    Part("rates", _token_rate_objects, _token_rate, later=True),
)
