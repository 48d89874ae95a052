"""The device sheets: the facts that the numbers rest on, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from predictor.core.metric_labels import FAMILY_WORDS, metric_label
from predictor.core.metrics import METRICS, Metric
from predictor.core.records import Cluster, Device
from predictor.core.report import Block, Cell, Facts, Heading, Paragraph, Section, SectionId
from predictor.core.units import significant
from predictor.core.wording import NOTHING, configuration_text, shown
from predictor.services.report.request import ReportRequest
from predictor.services.report.words import Field, figures, table_of, whole, words

_CLUSTERS: tuple[Field[Cluster], ...] = (
    words("cores_of", "Cores of one kind", lambda cluster: shown(cluster.name)),
    figures("cores", "Cores", lambda cluster: whole(cluster.cores)),
    figures("clock_mhz", "Clock MHz", lambda cluster: _figure(cluster.clock_mhz)),
    figures("fp32_au_per_core", "FP32 lanes per core", lambda c: _figure(c.fp32_au_per_core)),
)
_SOURCES: tuple[Field[tuple[str, str]], ...] = (
    words("source", "Source", lambda source: source[1]),
    words("text", "What it is", lambda source: shown(source[0])),
)


def devices_section(request: ReportRequest) -> Section:
    """Return a sheet a device, in the order of the targets."""
    devices = {target.device.id: target.device for target in request.targets}
    about = (
        "The Hardware Capability Vector of each device. A fact that nobody states is absent, not "
        "zero; what needs it has no number."
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
    if not device.metrics:
        yield Paragraph("Nothing is known of it.")
        return
    sources = _numbered_sources(device)
    stated = (metric for metric in METRICS if metric.name in device.metrics)
    yield table_of(_metrics(device, sources), stated)
    if sources:
        yield table_of(_SOURCES, sources.items())


def _facts(device: Device) -> Iterator[tuple[str, Cell]]:
    yield "Id", Cell(shown(device.id))
    if device.system:
        yield "System", Cell(shown(device.system))
    runs = "; ".join(configuration_text(c) for c in device.configurations)
    yield "Runs", Cell(runs)
    if device.notes:
        yield "Notes", Cell(shown(device.notes))


def _numbered_sources(device: Device) -> dict[str, str]:
    """Return a mark for each source, in the order of the facts; many facts share one source."""
    named = (device.sources.get(metric.name) for metric in METRICS if metric.name in device.metrics)
    distinct = dict.fromkeys(source for source in named if source)
    return {source: f"[{place}]" for place, source in enumerate(distinct, 1)}


def _metrics(device: Device, sources: Mapping[str, str]) -> Sequence[Field[Metric]]:
    return (
        words("metric", "Fact", lambda metric: metric_label(metric.name, device.family)),
        figures("value", "Value", lambda metric: _figure(device.metric(metric.name))),
        words("unit", "Unit", lambda metric: metric.unit),
        words("source", "Source", lambda m: sources.get(device.sources.get(m.name, ""), "")),
    )


def _figure(value: float | None) -> Cell:
    return Cell(NOTHING if value is None else significant(value, 5), value)
