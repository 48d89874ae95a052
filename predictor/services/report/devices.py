"""The device sheets: the facts that the numbers rest on, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from predictor.core.metrics import METRICS, ONLY_MEASURED
from predictor.core.records import Cluster, Device, OperatingPoint
from predictor.core.units import significant
from predictor.presentation.metric_labels import FAMILY_WORDS, metric_label
from predictor.presentation.report import Block, Cell, Facts, Heading, Paragraph, Section, SectionId
from predictor.presentation.wording import NOTHING, runs_text, shown
from predictor.services.devices.design import design_facts
from predictor.services.report.request import ReportRequest
from predictor.services.report.words import Field, figures, integer, table_of, words

_CLUSTERS: tuple[Field[Cluster], ...] = (
    words("cores_of", "Cores of one kind", lambda cluster: shown(cluster.name)),
    figures("cores", "Cores", lambda cluster: integer(cluster.cores)),
    figures("clock_mhz", "Clock MHz", lambda cluster: _figure(cluster.clock_mhz)),
    figures("fp32_au_per_core", "FP32 lanes per core", lambda c: _figure(c.fp32_au_per_core)),
)
_POINTS: tuple[Field[OperatingPoint], ...] = (
    words("point", "Operating point", lambda point: shown(point.name)),
    figures("power_w", "Power W", lambda point: _figure(point.power_w)),
    figures("cpu_mhz", "CPU MHz", lambda point: _figure(point.cpu_mhz)),
    figures("gpu_mhz", "GPU MHz", lambda point: _figure(point.gpu_mhz)),
    figures("memory_mhz", "Memory MHz", lambda point: _figure(point.memory_mhz)),
    figures("cores", "Cores", lambda point: _figure(point.cores)),
    figures("gpu_cores", "GPU cores", lambda point: _figure(point.gpu_cores)),
    words("source", "Source", lambda point: shown(point.source)),
)
_SOURCES: tuple[Field[tuple[str, str]], ...] = (
    words("source", "Source", lambda source: source[1]),
    words("text", "What it is", lambda source: shown(source[0])),
)


def devices_section(request: ReportRequest) -> Section:
    """Return a sheet a device, in the order of the targets."""
    devices = {target.device.id: target.device for target in request.targets}
    about = (
        "The Hardware Capability Vector of each device. A fact that no source states is absent, "
        "not zero; what needs it has no number."
    )
    blocks: list[Block] = [Paragraph(about)]
    for device in devices.values():
        blocks += _sheet(device)
    return Section(SectionId.DEVICES, "Devices", tuple(blocks))


def _sheet(device: Device) -> Iterator[Block]:
    yield Heading(shown(device.name), f"{FAMILY_WORDS[device.family]} · {shown(device.vendor)}")
    yield Facts(tuple(_facts(device)))
    if device.clusters:
        yield table_of(_CLUSTERS, device.clusters)
    if device.operating_points:
        yield table_of(_POINTS, device.operating_points)
    hcv = tuple(_hcv(device))
    if not hcv:
        yield Paragraph("Nothing is known of it.")
        return
    sources = _numbered_sources(hcv)
    yield table_of(_facts_table(sources), hcv)
    if sources:
        yield table_of(_SOURCES, sources.items())


def _facts(device: Device) -> Iterator[tuple[str, Cell]]:
    yield "Id", Cell(shown(device.id))
    if device.system:
        yield "System", Cell(shown(device.system))
    for title, text in design_facts(device):
        yield title, Cell(text)
    yield "Runs", Cell(runs_text(device.configurations))
    if device.notes:
        yield "Notes", Cell(shown(device.notes))


class _Fact(NamedTuple):
    """A stated or measured value of a device."""

    name: str
    value: float
    unit: str
    source: str


def _hcv(device: Device) -> Iterator[_Fact]:
    """Yield the metrics in the registry's order, each with what was measured of it."""
    for metric in (*METRICS, *ONLY_MEASURED):
        label = metric_label(metric.name, device.family)
        value, rate = device.metric(metric.name), device.measured.get(metric.name)
        if value is not None:
            source = device.sources.get(metric.name, "")
            yield _Fact(label, value, metric.unit, source)
        if rate is not None:
            yield _Fact(f"{label}, measured", rate.value, metric.unit, rate.source)


def _numbered_sources(facts: Sequence[_Fact]) -> dict[str, str]:
    """Return a mark for each source, in the order of the facts; many facts share one source."""
    distinct = dict.fromkeys(fact.source for fact in facts if fact.source)
    return {source: f"[{place}]" for place, source in enumerate(distinct, 1)}


def _facts_table(sources: Mapping[str, str]) -> Sequence[Field[_Fact]]:
    return (
        words("metric", "Fact", lambda fact: fact.name),
        figures("value", "Value", lambda fact: _figure(fact.value)),
        words("unit", "Unit", lambda fact: fact.unit),
        words("source", "Source", lambda fact: sources.get(fact.source, "")),
    )


def _figure(value: float | None) -> Cell:
    return Cell(NOTHING if value is None else significant(value, 5), value)
