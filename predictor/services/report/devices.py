"""The device sheets: the facts that the numbers rest on, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from predictor.core.metric_labels import FAMILY_WORDS, metric_label
from predictor.core.metrics import METRICS
from predictor.core.records import Cluster, Device
from predictor.core.report import (
    Block,
    Cell,
    Facts,
    Heading,
    Paragraph,
    Row,
    Section,
    SectionId,
    Table,
)
from predictor.core.units import significant
from predictor.core.wording import configuration_text, shown
from predictor.services.report.request import ReportRequest
from predictor.services.report.words import figures, text, words

_METRIC_COLUMNS = (
    words("metric", "Fact"),
    figures("value", "Value"),
    words("unit", "Unit"),
    words("source", "Source"),
)
_SOURCE_COLUMNS = (words("source", "Source"), words("text", "What it is"))
_CLUSTER_COLUMNS = (
    words("cores_of", "Cores of one kind"),
    figures("cores", "Cores"),
    figures("clock_mhz", "Clock MHz"),
    figures("fp32_au_per_core", "FP32 lanes per core"),
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
        yield Table(_CLUSTER_COLUMNS, tuple(map(_cluster, device.clusters)))
    if not device.metrics:
        yield Paragraph("Nothing is known of it.")
        return
    sources = _numbered_sources(device)
    yield Table(_METRIC_COLUMNS, tuple(_metrics(device, sources)))
    if sources:
        rows = (Row((text(mark), text(shown(source)))) for source, mark in sources.items())
        yield Table(_SOURCE_COLUMNS, tuple(rows))


def _facts(device: Device) -> Iterator[tuple[str, Cell]]:
    yield "Id", text(shown(device.id))
    if device.system:
        yield "System", text(shown(device.system))
    runs = "; ".join(configuration_text(c) for c in device.configurations)
    yield "Runs", text(runs)
    if device.notes:
        yield "Notes", text(shown(device.notes))


def _numbered_sources(device: Device) -> dict[str, str]:
    """Return a mark for each source, in the order of the facts; many facts share one source."""
    named = (device.sources.get(metric.name) for metric in METRICS if metric.name in device.metrics)
    distinct = dict.fromkeys(source for source in named if source)
    return {source: f"[{place}]" for place, source in enumerate(distinct, 1)}


def _metrics(device: Device, sources: Mapping[str, str]) -> Iterator[Row]:
    for metric in METRICS:
        value = device.metric(metric.name)
        if value is not None:
            yield Row(
                (
                    text(metric_label(metric.name, device.family)),
                    Cell(significant(value, 5), value),
                    text(metric.unit),
                    text(sources.get(device.sources.get(metric.name, ""), "")),
                )
            )


def _cluster(cluster: Cluster) -> Row:
    lanes = cluster.fp32_au_per_core
    return Row(
        (
            text(shown(cluster.name)),
            Cell(str(cluster.cores), float(cluster.cores)),
            Cell(significant(cluster.clock_mhz, 5), cluster.clock_mhz),
            Cell("—" if lanes is None else significant(lanes, 5), lanes),
        )
    )
