"""From an imported latency that the user gave a model and a target to a record of the store."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime

from predictor.core.documents import Provenance
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Measurement
from predictor.probing.importers.records import ImportedFile, ImportedLatency, Statistic
from predictor.probing.importers.registry import names_nodes
from predictor.probing.operator_times import triples

PROTOCOL = "import"


def resolve_configuration(
    file: ImportedFile, latency: ImportedLatency, chosen: Configuration
) -> Configuration:
    """Return the configuration of an import: the file's facts must agree with the user's choice.

    Args:
        file: that holds the latency.
        latency: as read.
        chosen: of the target. Runtime "unknown", threads 0 and batch 0 leave it to the file.

    Raises:
        InputError: the file says another runtime, precision, thread count or batch.
    """
    fields = (
        ("runtime", latency.runtime, chosen.runtime, "unknown"),
        ("threads", latency.threads, chosen.threads, 0),
        ("batch", latency.batch, chosen.batch, 0),
        ("precision", latency.precision, chosen.precision, None),
    )
    from_file = {}
    for name, stated, wanted, open_value in fields:
        if stated is None or stated in (wanted, open_value):
            continue
        if wanted != open_value:
            reason = f"it was measured with {name} {stated}, the target has {name} {wanted}"
            raise InputError(f"{file.name}, {latency.place}", reason, f"choose {name} {stated}")
        from_file[name] = stated
    return replace(chosen, **from_file)  # type: ignore[arg-type]  # names and types of its fields


def to_measurement(
    file: ImportedFile,
    latency: ImportedLatency,
    fingerprint: str,
    device_id: str,
    configuration: Configuration,
    imported_at: datetime,
) -> Measurement:
    """Return the record of the store.

    Args:
        file: that holds the latency.
        latency: as read.
        fingerprint: of the operator graph of the model that the user gave it.
        device_id: of the target.
        configuration: of the target; see ``resolve_configuration``.
        imported_at: with a time zone.

    Raises:
        InputError: the file holds times of operators alone, or contradicts the configuration.
    """
    if latency.value_ms is None or latency.statistic is None:
        raise InputError(
            f"{file.name}, {latency.place}",
            "it holds times of operators, not the latency of the network",
            "import the tool's own timing of whole runs",
        )
    return Measurement(
        id=uuid.uuid4().hex,
        fingerprint=fingerprint,
        device_id=device_id,
        configuration=resolve_configuration(file, latency, configuration),
        samples_ns=latency.samples_ns,
        value_ms=latency.value_ms,
        statistic=str(Statistic(latency.statistic)),
        protocol=f"{PROTOCOL}/{file.format}",
        provenance=_provenance(file, latency, imported_at),
    )


def _provenance(file: ImportedFile, latency: ImportedLatency, imported_at: datetime) -> Provenance:
    facts: dict[str, object] = {
        "source": "import",
        "format": file.format,
        "file": file.name,
        "sha256": file.sha256,
        "place": latency.place,
        "network": latency.network,
        "device": latency.device,
        "runs": latency.runs,
        "profiled": latency.profiled,
        "facts": dict(latency.facts),
        "imported_at": imported_at.isoformat(),
    }
    if names_nodes(file.format) and (operators := triples(latency.operators)):
        facts["operators"] = operators
    return Provenance(facts)
