"""Fields of a device that its file leaves out and that follow from its names.

What the user states stays. A field that is filled in, or that contradicts the name, is an
:class:`~predictor.core.records.Inference` of the device; its file and the store hold what was
stated alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from predictor.core.metrics import METRIC_BY_NAME, RATE_METRIC, Family
from predictor.core.records import Cluster, Device, Inference
from predictor.core.runtimes import CPUS
from predictor.core.text import printable, shortened
from predictor.devices.architectures import Architecture, architectures
from predictor.devices.peaks import highest_clock_mhz

if TYPE_CHECKING:
    from predictor.devices.names import NamedCores, NamedDesign

CLUSTERS: Final = "clusters"
LANES: Final = "fp32_au_per_core"
LANES_FACT: Final = "fp32_lanes"
INFERRED: Final = "inferred: lanes of the design "
"""Start of the source of inferred lanes."""

INFERRED_RATE: Final = "inferred: clock x cores x multiply-adds of the design "
"""Start of the source of inferred rates."""

_GPUS: Final = frozenset({Family.GPU, Family.MOBILE_GPU})
_WITH_LANES: Final = CPUS | _GPUS


def with_inferred(device: Device) -> Device:
    """Return a device with the fields filled in that are left out and that its names imply.

    Its name, chip, system and id are read, the first of them that means something. A field that is
    stated stays; where name or chip mean another architecture the device says so.
    """
    device = stated_part(device)
    inferences: list[Inference] = []
    named = _named(device, device.name, device.chip, device.system, device.id)
    if named is not None:
        device = _with_design(device, named, inferences)
    device = _with_cores(device, named, inferences)
    device = _with_lanes(device, named, inferences)
    device = _with_rates(device, inferences)
    return replace(device, inferences=tuple(inferences)) if inferences else device


def stated_part(device: Device) -> Device:
    """Return a device without its inferred fields: as its file and the store hold it.

    A field whose value was changed since is a stated one.
    """
    if not device.inferences:
        return device
    used = {item.field: item.value for item in device.inferences if item.is_used}
    gone = {name for name, value in device.metrics.items() if used.get(name) == f"{value:g}"}
    clusters = enumerate(device.clusters)
    return replace(
        device,
        chip=_unless(device.chip, used.get("chip")),
        architecture=_unless(device.architecture, used.get("architecture")),
        instruction_sets=()
        if " ".join(device.instruction_sets) == used.get("instruction_sets")
        else device.instruction_sets,
        metrics={name: value for name, value in device.metrics.items() if name not in gone},
        sources={name: text for name, text in device.sources.items() if name not in gone},
        clusters=()
        if _clusters_text(device.clusters) == used.get(CLUSTERS)
        else tuple(_stated_cluster(c, f"{CLUSTERS}.{place}", used) for place, c in clusters),
        inferences=(),
    )


def inference_sentences(device: Device) -> tuple[str, ...]:
    """Return sentences on the inferred fields of a device, one a reason."""
    by_reason: dict[str, list[str]] = {}
    for item in device.inferences:
        if item.is_used:
            by_reason.setdefault(item.reason, []).append(_fact(item))
    return tuple(
        f"not stated, so taken from {printable(reason)}: {', '.join(facts)}"
        for reason, facts in by_reason.items()
    )


def name_contradictions(device: Device) -> tuple[str, ...]:
    """Return sentences on architectures that a device states against its name."""
    return tuple(_contradiction(device, item) for item in device.inferences if not item.is_used)


def _contradiction(device: Device, item: Inference) -> str:
    """Return the sentence of a stated architecture that is not the one that the name means."""
    stated = dict.fromkeys((device.architecture, *(c.architecture for c in device.clusters)))
    return (
        f"{item.field} is {' and '.join(filter(None, stated))}, but the name means {item.value} "
        f"({printable(shortened(item.reason, 80))}); the stated one is used"
    )


def _fact(item: Inference) -> str:
    """Return field and value of an inference in words, clusters by their number from 1."""
    *cluster, field = item.field.split(".")
    of = f" of cluster {int(cluster[1]) + 1}" if cluster else ""
    metric = METRIC_BY_NAME.get(field)
    if metric is None:
        return f"{field.replace('_', ' ')}{of} {item.value}"
    if metric.name == LANES:
        return f"{item.value} FP32 lanes a core{of}"
    return f"{metric.label} {item.value} {metric.unit}"


def _named(device: Device, *texts: str) -> NamedDesign | None:
    """Return the design that the first text of a device with a meaning stands for."""
    for text in texts:
        named = _meaning(f"{device.vendor} {text}", device.family) if text else None
        if named is not None:
            return named
    return None


def _meaning(text: str, family: Family | None = None) -> NamedDesign | None:
    """Return the design of a unit by its name; without a family, that of a cluster's cores."""
    # Imported here alone: the shipped devices are read without it, and most starts need no other.
    from predictor.devices.names import cores_named, design_named  # noqa: PLC0415

    return cores_named(text) if family is None else design_named(text, family)


def _with_design(device: Device, named: NamedDesign, inferences: list[Inference]) -> Device:
    """Return a device with the chip, the clusters and the architecture that its name means."""
    if named.chip and not device.chip:
        device = replace(device, chip=named.chip)
        inferences.append(Inference("chip", named.chip, named.reason))
    stated = {cluster.architecture for cluster in device.clusters} | {device.architecture}
    stated.discard("")
    # The system and the id are labels of the user's: they contradict nothing.
    is_named = bool(stated) and named == _named(device, device.name, device.chip)
    if is_named and named.architecture and not stated & {c.architecture for c in named.cores}:
        inferences.append(
            Inference("architecture", named.architecture, named.reason, is_used=False)
        )
    if stated or not named.architecture:
        return device
    if named.instruction_sets and not device.instruction_sets:
        device = replace(device, instruction_sets=named.instruction_sets)
        text = " ".join(named.instruction_sets)
        inferences.append(Inference("instruction_sets", text, named.reason))
    if device.clusters:
        return device
    clusters = _clusters(device, named.cores)
    if clusters:
        inferences.append(Inference(CLUSTERS, _clusters_text(clusters), named.reason))
        return replace(device, clusters=clusters)
    inferences.append(Inference("architecture", named.architecture, named.reason))
    return replace(device, architecture=named.architecture)


def _clusters(device: Device, cores: tuple[NamedCores, ...]) -> tuple[Cluster, ...]:
    """Return the clusters of a named processor; none where the device has another number of cores.

    The fastest run at the clock that the device states.
    """
    count = device.metric("core_count")
    total = sum(kind.cores for kind in cores)
    if len(cores) < 2 or not all(kind.cores for kind in cores) or count not in {None, total}:
        return ()
    highest = highest_clock_mhz(device) or cores[0].clock_mhz
    return tuple(
        _cluster(kind, highest if place == 0 else min(highest, kind.clock_mhz))
        for place, kind in enumerate(cores)
    )


def _cluster(kind: NamedCores, clock_mhz: float) -> Cluster:
    design = architectures().get(kind.architecture)
    return Cluster(
        # The title lists kin and chips after the name.
        name="small cores" if design is None else re.split(r",| \(", design.title)[0],
        cores=kind.cores,
        clock_mhz=clock_mhz,
        fp32_au_per_core=None if design is None else design.numbers.get(LANES_FACT),
        architecture=kind.architecture,
    )


def _with_cores(device: Device, named: NamedDesign | None, inferences: list[Inference]) -> Device:
    """Return a device whose clusters have the designs of their names, else of the processor's."""
    if device.architecture or all(cluster.architecture for cluster in device.clusters):
        return device
    kinds = _by_cluster(device.clusters, () if named is None else named.cores)
    clusters = []
    for place, (cluster, kind) in enumerate(zip(device.clusters, kinds, strict=True)):
        of_name = _meaning(cluster.name)
        design = kind if of_name is None else of_name.architecture
        if cluster.architecture or not design:
            clusters.append(cluster)
            continue
        reason = next(part.reason for part in (of_name, named) if part is not None)
        inferences.append(Inference(f"{CLUSTERS}.{place}.architecture", design, reason))
        clusters.append(replace(cluster, architecture=design))
    return replace(device, clusters=tuple(clusters))


def _by_cluster(clusters: tuple[Cluster, ...], cores: tuple[NamedCores, ...]) -> list[str]:
    """Return the design of each cluster, in the order of a processor's; empty where it is open."""
    kinds = [kind.architecture for kind in cores]
    distinct = list(dict.fromkeys(kinds))
    if len(distinct) == 1:
        return distinct * len(clusters)
    if len(clusters) == len(kinds):
        return kinds
    return distinct if len(clusters) == len(distinct) else [""] * len(clusters)


def _with_lanes(device: Device, named: NamedDesign | None, inferences: list[Inference]) -> Device:
    """Return a device whose cores have the FP32 lanes of their design where none are stated."""
    if device.family not in _WITH_LANES:
        return device
    if device.clusters:
        parts = enumerate(device.clusters)
        return replace(
            device, clusters=tuple(_with_lanes_of(c, place, inferences) for place, c in parts)
        )
    if named is not None and len({kind.architecture for kind in named.cores}) > 1:
        return device  # how many cores of each kind it has is not known
    design = architectures().get(device.architecture)
    if design is None or device.metric(LANES) is not None:
        return device
    lanes = design.numbers.get(LANES_FACT)
    if named is not None and named.lanes is not None and named.architecture == design.id:
        lanes = named.lanes
    if lanes is None:
        return device
    reason = _reason(inferences, "architecture", design.title)
    inferences.append(Inference(LANES, f"{lanes:g}", reason))
    return replace(
        device,
        metrics={**device.metrics, LANES: lanes},
        sources={**device.sources, LANES: f"{INFERRED}{design.title}"},
    )


def _with_lanes_of(cluster: Cluster, place: int, inferences: list[Inference]) -> Cluster:
    design = architectures().get(cluster.architecture)
    lanes = None if design is None else design.numbers.get(LANES_FACT)
    if design is None or lanes is None or cluster.fp32_au_per_core is not None:
        return cluster
    field = f"{CLUSTERS}.{place}"
    reason = _reason(inferences, f"{field}.architecture", design.title)
    inferences.append(Inference(f"{field}.{LANES}", f"{lanes:g}", reason))
    return replace(cluster, fp32_au_per_core=lanes)


def _with_rates(device: Device, inferences: list[Inference]) -> Device:
    """Return a GPU with the rates of its design, clock and cores where none are stated."""
    design = architectures().get(device.architecture)
    clock_mhz, units = highest_clock_mhz(device), device.metric("core_count")
    if design is None or device.family not in _GPUS or not clock_mhz or not units:
        return device
    # MHz x multiply-adds x 2 operations: 2e-6 makes it TFLOP/s.
    rates = {
        name: float(f"{lanes * units * clock_mhz * 2e-6:.4g}")
        for name, lanes in _multiply_adds(design).items()
        if name not in device.metrics
    }
    reason = _reason(inferences, "architecture", design.title)
    inferences += (Inference(name, f"{rate:g}", reason) for name, rate in rates.items())
    sources = dict.fromkeys(rates, f"{INFERRED_RATE}{design.title}")
    return replace(
        device, metrics={**device.metrics, **rates}, sources={**device.sources, **sources}
    )


def _multiply_adds(design: Architecture) -> dict[str, float]:
    """Return the multiply-adds a clock of one unit of a GPU, by the metric of their rate."""
    lanes = {RATE_METRIC[n]: v for n, v in design.matrix_lanes.items() if n in RATE_METRIC}
    halves = design.numbers.get("fp16_factor", 0.0) * design.numbers.get(LANES_FACT, 0.0)
    if halves >= design.numbers.get(LANES_FACT, math.inf):
        lanes.setdefault(RATE_METRIC["fp16"], halves)
    return lanes


def _reason(inferences: Iterable[Inference], field: str, title: str) -> str:
    """Return why a part has the design that its lanes follow from."""
    of_field = (item.reason for item in inferences if item.field == field and item.is_used)
    return next(of_field, f"its architecture ({title})")


def _clusters_text(clusters: tuple[Cluster, ...]) -> str:
    return ", ".join(f"{cluster.cores} x {cluster.name}" for cluster in clusters)


def _unless(text: str, inferred: str | None) -> str:
    return "" if text == inferred else text


def _stated_cluster(cluster: Cluster, field: str, used: Mapping[str, str]) -> Cluster:
    architecture, lanes = used.get(f"{field}.architecture"), used.get(f"{field}.{LANES}")
    stated = cluster.fp32_au_per_core
    return replace(
        cluster,
        architecture=_unless(cluster.architecture, architecture),
        fp32_au_per_core=None if stated is not None and lanes == f"{stated:g}" else stated,
    )
