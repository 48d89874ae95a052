"""Models and devices as the JSON documents of ``ctm inspect`` and ``ctm devices``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from predictor.core.records import Device
from predictor.graph.model import Model
from predictor.services.models.operator_facts import operator_facts

SCHEMA = "ctm-inspection/1"


def totals(model: Model) -> dict[str, int]:
    """Return a model's sums: MACs, parameters, bytes moved in one run, number of operators."""
    graph = model.graph
    return {
        "macs": int(graph.macs.sum()),
        "params": graph.parameters,
        "bytes_moved": int(graph.bytes_moved.sum()),
        "operators": len(graph),
        "weight_bytes": graph.weights_total_bytes,
        "peak_activation_bytes": graph.peak_activation_bytes,
    }


def inspection_document(model: Model) -> dict[str, object]:
    """Return the document that ``ctm inspect --json`` prints.

    Operators stand in topological order; bytes and MACs are those of all their repeats.
    """
    return {
        "schema": SCHEMA,
        "model": Path(model.path).name,
        "fingerprint": model.graph.fingerprint,
        "format": model.format,
        "ir_version": model.ir_version,
        "opsets": dict(model.opsets),
        "producer": model.producer,
        "inputs": [asdict(tensor) for tensor in model.inputs],
        "outputs": [asdict(tensor) for tensor in model.outputs],
        "dynamic": [asdict(dimension) for dimension in model.dynamic],
        "notes": list(model.notes),
        "totals": totals(model),
        "operators": _operators(model),
    }


def device_summary(device: Device, *, has_signature: bool) -> dict[str, object]:
    """Return a device's entry of ``ctm devices --json``."""
    return {
        "id": device.id,
        "name": device.name,
        "vendor": device.vendor,
        "family": device.family.value,
        "metrics": dict(device.metrics),
        "has_signature": has_signature,
    }


def device_document(device: Device) -> dict[str, object]:
    """Return a device as its file holds it, and beside it what was inferred from its name.

    The printed document is a valid device file: reading it infers the same again.
    """
    # Models need none of it.
    from predictor.devices.schema import INFERRED, device_to_object  # noqa: PLC0415
    from predictor.services.devices.inferred import inferred_document  # noqa: PLC0415

    inferred = inferred_document(device)
    return {**device_to_object(device), **({INFERRED: inferred} if inferred else {})}


def check_device_file(path: str) -> tuple[Device, tuple[str, ...]]:
    """Read a device file and return its device and its warnings, a sentence each.

    Raises:
        InputError: naming the file, the field, its value and its range.
    """
    from predictor.devices.schema import read_device  # noqa: PLC0415 - as above

    entry = read_device(path)
    return entry.device, entry.warnings


def _operators(model: Model) -> list[dict[str, object]]:
    facts = operator_facts(model)
    columns = {
        "name": facts.names,
        "op_type": facts.op_types,
        "output_shape": map(list, facts.output_shapes),
        "macs": facts.macs.tolist(),
        "bytes_moved": facts.bytes_moved.tolist(),
        "weight_bytes": facts.weight_bytes.tolist(),
        "repeats": model.graph.repeats.tolist(),
        "flags": facts.flags,
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
