"""Conflicts between a project and a store in words, and the choices for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from predictor.core.records import Device
from predictor.core.stored import StoredMeasurement, StoredPrediction, StoredSignature
from predictor.core.text import shortened
from predictor.core.units import significant
from predictor.devices.schema import FIELDS, device_to_object
from predictor.store.token_rates import TokenRate

_MAX_TEXT = 80


class Subject(StrEnum):
    """Subject of a conflict."""

    DEVICE = "device"
    MEASUREMENT = "measurement"
    SIGNATURE = "signature"
    PREDICTION = "prediction"
    MARKS = "tags and note"
    ACTIVE = "signature in use"
    RATE = "tokens a second"


class Choice(StrEnum):
    """Answer to a conflict: the local record stays, the incoming one replaces it, or both stay."""

    KEEP = "keep"
    TAKE = "take"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A difference between the store and the project.

    Attributes:
        subject: kind of the thing.
        id: of the device, record or target.
        name: title of the thing.
        local: the store's version, in words.
        incoming: the project's.
        choices: answers that make sense for it.
    """

    subject: Subject
    id: str
    name: str
    local: str
    incoming: str
    choices: tuple[Choice, ...]


Chooser = Callable[[Conflict], Choice | None]


def always(choice: Choice) -> Chooser:
    """Return a chooser that answers every conflict alike.

    Where the incoming record cannot replace the local one both are stored; where that is impossible
    the local one stays.
    """
    order = {
        Choice.KEEP: (Choice.KEEP,),
        Choice.TAKE: (Choice.TAKE, Choice.BOTH, Choice.KEEP),
        Choice.BOTH: (Choice.BOTH, Choice.KEEP),
    }[choice]
    return lambda conflict: next(c for c in order if c in conflict.choices)


def of_device(local: Device, incoming: Device, *, shipped: bool) -> Conflict:
    """Return the conflict of two descriptions under one id; a shipped one is never replaced."""
    # The catalogue belongs to the program, not to the store: it is never changed.
    choices = (Choice.KEEP, Choice.BOTH) if shipped else tuple(Choice)
    name = f"{incoming.name} ({incoming.id})"
    return Conflict(
        subject=Subject.DEVICE,
        id=incoming.id,
        name=name,
        local=_facts(local, incoming),
        incoming=_facts(incoming, local),
        choices=choices,
    )


def of_measurement(local: StoredMeasurement, incoming: StoredMeasurement) -> Conflict:
    """Return the conflict of two measurements under one id."""
    words = [
        f"{significant(m.measurement.value_ms, 6)} ms, {m.measurement.statistic}, "
        f"{len(m.measurement.samples_ns)} samples, {_day(m.created_ns)}"
        for m in (local, incoming)
    ]
    return _of_record(Subject.MEASUREMENT, local.measurement.id, local.measurement.device_id, words)


def of_signature(local: StoredSignature, incoming: StoredSignature) -> Conflict:
    """Return the conflict of two signatures under one id."""
    words = [
        f"{len(s.signature.measurement_ids)} measurements, {_day(s.created_ns)}"
        for s in (local, incoming)
    ]
    return _of_record(Subject.SIGNATURE, local.signature.id, local.signature.device_id, words)


def of_prediction(local: StoredPrediction, incoming: StoredPrediction) -> Conflict:
    """Return the conflict of two predictions under one id."""
    words = [_prediction(stored) for stored in (local, incoming)]
    name = f"{local.prediction.model} on {local.prediction.device_id}"
    return _of_record(Subject.PREDICTION, local.id, name, words)


def of_marks(local: StoredPrediction, incoming: StoredPrediction) -> Conflict:
    """Return the conflict of two sets of tags and notes of one prediction."""
    words = [f"{', '.join(s.tags) or 'no tag'}; {s.note or 'no note'}" for s in (local, incoming)]
    name = f"{local.prediction.model} on {local.prediction.device_id}"
    return _conflict(Subject.MARKS, local.id, name, words, tuple(Choice))


def of_active(local: StoredSignature, incoming: StoredSignature) -> Conflict:
    """Return the conflict of two signatures, each in use for one target."""
    signature = incoming.signature
    c = signature.configuration
    words = [
        f"{s.signature.id[:8]}, {len(s.signature.measurement_ids)} measurements, "
        f"{_day(s.created_ns)}"
        for s in (local, incoming)
    ]
    name = f"{signature.device_id}, {c.runtime}, {c.precision}, {c.threads} threads"
    return _conflict(Subject.ACTIVE, signature.id, name, words, (Choice.KEEP, Choice.TAKE))


def of_token_rate(local: TokenRate, incoming: TokenRate) -> Conflict:
    """Return the conflict of two rates of language models, each the last of one device."""
    words = []
    for rate in (local, incoming):
        model = rate.run.content.get("model")
        name = model.get("name") if isinstance(model, dict) else "a model"
        words.append(f"{significant(rate.tokens_per_s, 6)} tokens/s of {name}")
    choices = (Choice.KEEP, Choice.TAKE)
    return _conflict(Subject.RATE, local.device_id, local.device_id, words, choices)


def _of_record(subject: Subject, identity: str, name: str, words: list[str]) -> Conflict:
    return _conflict(subject, identity, name, words, (Choice.KEEP, Choice.BOTH))


def _conflict(
    subject: Subject, identity: str, name: str, words: list[str], choices: tuple[Choice, ...]
) -> Conflict:
    local, incoming = (shortened(text, _MAX_TEXT) for text in words)
    return Conflict(
        subject=subject,
        id=identity,
        name=shortened(name, _MAX_TEXT),
        local=local,
        incoming=incoming,
        choices=choices,
    )


def _facts(device: Device, other: Device) -> str:
    """Return the facts of one description that the other lacks, metrics by name."""
    fields_of_device, other_fields = device_to_object(device), device_to_object(other)
    words = [
        f"{name} {significant(value, 6)}"
        for name, value in device.metrics.items()
        if other.metrics.get(name) != value
    ]
    words += [
        name
        for name in FIELDS
        if name not in {"schema", "id", "system", "metrics"}
        and fields_of_device.get(name) != other_fields.get(name)
    ]
    return shortened(", ".join(words), _MAX_TEXT) or "less"


def _prediction(stored: StoredPrediction) -> str:
    latency_ms = stored.prediction.latency_ms
    number = "no number" if latency_ms is None else f"{significant(latency_ms, 6)} ms"
    return f"{number}, {stored.prediction.engine}, {_day(stored.created_ns)}"


def _day(time_ns: int) -> str:
    try:
        return f"{datetime.fromtimestamp(time_ns / 1e9, UTC):%Y-%m-%d}"
    # The time is of an untrusted file; fromtimestamp has these three ways to refuse one.
    except (OverflowError, ValueError, OSError):
        return "a day out of range"
