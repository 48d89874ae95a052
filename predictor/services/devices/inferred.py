"""Facts of devices that were inferred from their names, as sentences and as records."""

from __future__ import annotations

from collections.abc import Iterable

from predictor.core.records import Device
from predictor.core.text import capitalised
from predictor.devices.inference import inference_sentences, name_contradictions
from predictor.presentation.wording import shown


def inferred_sentences(devices: Iterable[Device]) -> tuple[str, ...]:
    """Return a sentence on each inferred fact, and on each that contradicts the device's name."""
    return tuple(
        f"{shown(device.name)}: {sentence}."
        for device in devices
        for sentence in (*inference_sentences(device), *name_contradictions(device))
    )


def inferred_facts(device: Device) -> str:
    """Return the inferred facts of a device in sentences; empty where all are stated."""
    return _text(inference_sentences(device))


def contradicted_facts(device: Device) -> str:
    """Return the facts that contradict a device's name in sentences; empty without any."""
    return _text(name_contradictions(device))


def _text(sentences: Iterable[str]) -> str:
    return " ".join(f"{capitalised(sentence)}." for sentence in sentences)


def inferred_document(device: Device) -> list[dict[str, object]]:
    """Return the inferences of a device as records: field, value, reason, whether it is used."""
    return [
        {"field": item.field, "value": item.value, "reason": item.reason, "used": item.is_used}
        for item in device.inferences
    ]
