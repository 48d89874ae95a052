"""Measurements of the targets: signatures, with their protocol, date and machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from predictor.core.percentiles import coefficient_of_variation
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Measurement
from predictor.core.runtimes import MEASURED, RUNTIMES
from predictor.core.text import plural
from predictor.core.units import significant
from predictor.presentation.report import Block, Cell, Facts, Heading, Paragraph, Section, SectionId
from predictor.presentation.wording import NOTHING, configuration_text, number, percent, shown
from predictor.services.report.request import MeasuredSignature, ReportRequest
from predictor.services.report.words import (
    Field,
    brief,
    figures,
    integer,
    joined,
    table_of,
    words,
)
from predictor.services.signatures.adaptation import ADAPTATIONS, adaptation_of
from predictor.services.signatures.stored import Signatures


def _network(measurement: Measurement) -> str:
    return shown(measurement.provenance.network or measurement.fingerprint[:12])


_COLUMNS: tuple[Field[Measurement], ...] = (
    words("network", "Reference network", _network),
    figures("latency_ms", "Median ms", lambda measurement: _milliseconds(measurement.value_ms)),
    figures("least_ms", "Least ms", lambda measurement: _shortest_run(measurement.samples_ns)),
    figures("variation", "Variation", lambda measurement: _variation(measurement.samples_ns)),
    figures("runs", "Runs", lambda measurement: integer(len(measurement.samples_ns))),
    words("statistic", "Statistic", lambda measurement: shown(measurement.statistic)),
)
_SHIPPED = (
    "Other networks were measured on {names} and published. The deviations of these targets ship "
    "with the engine, and the predictions rest on them: adapted by {adaptation}."
)
_POSTERIOR = ADAPTATIONS["posterior"]
_HOST_FACTS = (
    ("processor", "Machine"),
    ("system", "System"),
    (MEASURED, RUNTIMES[MEASURED].title),
    ("python", "Python"),
)


def measured_signatures(
    signatures: Signatures, device_ids: Sequence[str], used: Sequence[str]
) -> tuple[MeasuredSignature, ...]:
    """Return the signatures that are in use for devices, and those that predictions used.

    Raises:
        HostError: the store cannot be read.
    """
    return tuple(
        MeasuredSignature(stored, tuple(signatures.measurements(stored.signature.id)))
        for stored in signatures.all()
        if stored.signature.id in used
        or (stored.signature.active and stored.signature.device_id in device_ids)
    )


def probing_section(request: ReportRequest) -> Section:
    """Return a part a signature, and the names of the targets that have none."""
    names = {target.device.id: target.device.name for target in request.targets}
    blocks: list[Block] = []
    for signature in request.signatures:
        name = names.get(signature.stored.signature.device_id)
        if name is not None:
            identity = signature.stored.signature.id
            used = [entry for entry in request.predictions if entry.signature == identity]
            blocks += _part(signature, shown(name), used)
    probed = {signature.stored.signature.device_id for signature in request.signatures}
    # Probed without a signature of the store: the measurements came with the engine.
    shipped = {
        prediction.device_id
        for prediction in request.predictions
        if prediction.basis is Basis.PROBED and prediction.signature is None
    } - probed
    if shipped:
        rest = [brief(name) for identity, name in names.items() if identity in shipped]
        blocks.append(Paragraph(_SHIPPED.format(names=joined(rest, 20), adaptation=_POSTERIOR)))
    none = [brief(name) for key, name in names.items() if key not in probed | shipped]
    if none:
        blocks.append(Paragraph(f"Nothing was measured on {joined(none, 20)}."))
    return Section(SectionId.PROBING, "Probing", tuple(blocks))


def _part(signature: MeasuredSignature, name: str, used: Sequence[Prediction]) -> Iterator[Block]:
    yield Heading(name, configuration_text(signature.stored.signature.configuration))
    if not used:
        yield Paragraph("The numbers in this report do not rest on this signature.")
    yield Facts((*_facts(signature), ("Predictions adapted by", _adaptation(signature, used))))
    if signature.measurements:
        yield table_of(_COLUMNS, signature.measurements)


def _facts(signature: MeasuredSignature) -> Iterator[tuple[str, Cell]]:
    facts = signature.stored.facts
    yield "Signature", Cell(signature.stored.signature.id)
    day = datetime.fromtimestamp(signature.stored.created_ns / 1e9, UTC).date().isoformat()
    yield "Date", Cell(day)
    protocol = facts.protocol or _only({m.protocol for m in signature.measurements})
    if protocol:
        yield "Protocol", Cell(shown(protocol))
    if facts.settings:
        yield "How", Cell(_how(facts.settings))
    if facts.selector:
        yield "Networks chosen by", Cell(shown(facts.selector))
    for key, title in _HOST_FACTS:
        if facts.host.get(key):
            yield title, Cell(shown(str(facts.host[key])))
    if facts.drift is not None:
        yield "Drift of the machine", Cell(percent(facts.drift), facts.drift)


def _adaptation(signature: MeasuredSignature, used: Sequence[Prediction]) -> Cell:
    """Return the adaptations of the report's numbers; that of the signature where none has one."""
    adaptations = {prediction.adaptation for prediction in used if prediction.adaptation}
    adaptations = adaptations or {adaptation_of(signature.stored)}
    return Cell(joined([ADAPTATIONS[key] for key in sorted(adaptations)]))


def _how(settings: Mapping[str, Any]) -> str:
    """Return the measuring protocol in a sentence, as far as its settings are known."""
    try:
        return (
            f"At least {plural(int(settings['warm_up_runs']), 'run')} and "
            f"{settings['warm_up_s']:g} s of warm-up; then blocks of at least "
            f"{plural(int(settings['least_runs']), 'run')} and {settings['least_s']:g} s, each in "
            f"a fresh process, until the 95 % interval of the median is within "
            f"{percent(settings['interval'])} of it; at most {number(float(settings['cap_s']))} s "
            "a network."
        )
    except (KeyError, TypeError, ValueError):
        return "as noted with the signature"


def _only(values: set[str]) -> str:
    return joined(sorted(values), 4)


def _shortest_run(samples_ns: Sequence[int]) -> Cell:
    return _milliseconds(min(samples_ns) / 1e6 if samples_ns else None)


def _milliseconds(value_ms: float | None) -> Cell:
    return Cell(NOTHING if value_ms is None else significant(value_ms, 4), value_ms)


def _variation(samples_ns: Sequence[int]) -> Cell:
    variation = coefficient_of_variation(samples_ns) if samples_ns else None
    return Cell(percent(variation), variation)
