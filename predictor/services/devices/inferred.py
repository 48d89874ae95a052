"""What was inferred of devices from their names, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from predictor.core.records import Device
from predictor.core.text import capitalised
from predictor.devices.inference import inference_sentences, name_contradictions
from predictor.presentation.wording import shown


def inferred_sentences(devices: Iterable[Device]) -> tuple[str, ...]:
    """Return what was inferred of each device and what contradicts its name, a sentence each."""
    return tuple(
        f"{shown(device.name)}: {sentence}."
        for device in devices
        for sentence in (*inference_sentences(device), *name_contradictions(device))
    )


def inferred_facts(device: Device) -> str:
    """Return what was inferred of a device in sentences; empty where all is stated."""
    return _text(inference_sentences(device))


def contradicted_facts(device: Device) -> str:
    """Return what a device states against its name in sentences; empty where nothing does."""
    return _text(name_contradictions(device))


def _text(sentences: Iterable[str]) -> str:
    return " ".join(f"{capitalised(sentence)}." for sentence in sentences)


def inferred_document(device: Device) -> list[dict[str, object]]:
    """Return the inferences of a device as records: field, value, reason, whether it is used."""
    return [
        {"field": item.field, "value": item.value, "reason": item.reason, "used": item.is_used}
        for item in device.inferences
    ]
