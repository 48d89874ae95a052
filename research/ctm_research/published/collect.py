"""Collects published latencies of whole networks on targets that the catalogue has."""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.corpus.corpus import STATISTICS, Measurements
from ctm_research.corpus.drafts import DOUBTED, NO_GRAPH
from ctm_research.corpus.noise import measurement_noise
from ctm_research.published.exports import other_exports
from ctm_research.published.layouts import Layout, Network, layouts_of
from ctm_research.sources import SOURCES, Sample
from predictor.calibration.published import (
    PROVENANCES,
    SCHEMA,
    WORDS,
    Columns,
    Published,
    prefix_of,
)
from predictor.core.errors import HostError, InputError
from predictor.core.progress import ProgressCallback, no_progress
from predictor.core.records import Device, Precision, TargetId
from predictor.core.runtimes import runtime_of

PUBLISHERS: Final[Mapping[str, str]] = {
    name: source.publisher for name, source in SOURCES.items() if source.ships is not None
}
"""Publisher in the file of each source whose latencies ship, by name."""

NOT_LISTED: Final = "the device is not in the catalogue"
NO_LATENCY: Final = "no latency of one run"
NO_THREADS: Final = "the source does not say how many threads ran"
NO_RUNTIME: Final = "the runtime is none of ours"
NO_BATCH: Final = "a node pins another batch than the one that was measured"


@dataclass(slots=True)
class Collected:
    """Latencies that were collected, and the rows that were not.

    Attributes:
        published: the file's content.
        counts: entries by source.
        left_out: rows that are not in it, by source and reason.
    """

    published: Published
    counts: dict[str, int]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


def collect(
    data: Path,
    devices: Mapping[str, Device],
    names: Sequence[str] = tuple(PUBLISHERS),
    progress: ProgressCallback = no_progress,
) -> Collected:
    """Read the tables and graphs of a data folder.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        names: of the sources.
        progress: told before each graph is read.

    Raises:
        InputError: a file of a source is missing or damaged, or no source is there.
    """
    left_out: dict[str, Counter[str]] = {}
    kept: list[Sample] = []
    for name in names:
        if (data / name).is_dir():
            for sample in SOURCES[name].samples(data):
                reason = _reason(sample, devices)
                if reason:
                    left_out.setdefault(name, Counter())[reason] += 1
                else:
                    kept.append(sample)
    if not kept:
        raise InputError(str(data), "no source of whole networks is there", "name a data folder")
    networks = [_network(sample) for sample in kept]
    layouts = layouts_of(networks, other_exports(data), progress)
    for sample, network in zip(kept, networks, strict=True):
        if not layouts[network]:
            left_out.setdefault(sample.source, Counter())[NO_BATCH] += 1
    published = _published(_rows(kept, layouts, devices))
    current = {
        prefix_of(layout.fingerprint)
        for graphs in layouts.values()
        for layout in graphs
        if not layout.is_former
    }
    # Former fingerprints repeat the rows of the current ones.
    counted = np.isin(published.columns.prefix, np.array(list(current), np.uint64))
    counted_sources = published.columns.source[counted]
    sources = np.bincount(counted_sources, minlength=len(PUBLISHERS)).tolist()
    return Collected(published, dict(zip(PUBLISHERS, sources, strict=True)), left_out)


def _network(sample: Sample) -> Network:
    if sample.graph is None:
        raise ValueError("samples without a graph are left out before")
    return sample.graph, sample.batch_factor


def _reason(sample: Sample, devices: Mapping[str, Device]) -> str:
    """Return why a row is no measured latency of a target that a user can choose, else empty."""
    if sample.excluded:
        return sample.excluded
    configuration = sample.configuration
    device = devices.get(sample.device_id)
    is_threaded = device is not None and device.is_threaded
    faults = {
        DOUBTED: bool(sample.doubt),
        NO_LATENCY: not sample.statistic.is_latency,
        NO_GRAPH: sample.graph is None,
        NOT_LISTED: device is None,
        NO_RUNTIME: configuration.runtime == "unknown",
        NO_THREADS: is_threaded and not configuration.threads,
    }
    return next((reason for reason, applies in faults.items() if applies), "")


@dataclass(frozen=True, slots=True)
class _Row:
    """A published latency under a graph of its network.

    Attributes:
        sample: the latency.
        target: that it was measured on.
        layout: the graph.
        difference: of the log-MACs of the graph and of that which was measured.
    """

    sample: Sample
    target: TargetId
    layout: Layout
    difference: float

    @property
    def provenance(self) -> str:
        """Origin of the latency, with the remark on the layout that was measured instead."""
        remark = self.layout.remark
        return (
            f"{self.sample.provenance} (another layout: {remark})"
            if remark
            else self.sample.provenance
        )


def _rows(
    samples: Sequence[Sample],
    layouts: Mapping[Network, Sequence[Layout]],
    devices: Mapping[str, Device],
) -> list[_Row]:
    """Return a row for each fingerprint of a sample's network; of two, the measured graph's."""
    rows = []
    for sample in samples:
        target = _target_name(sample, devices)
        graphs = layouts[_network(sample)]
        for layout in graphs:
            difference = math.log(layout.macs / graphs[0].macs) if layout.remark else 0.0
            rows.append(_Row(sample, target, layout, difference))
    same = {(row.layout.fingerprint, row.target) for row in rows if not row.layout.remark}
    return [
        row
        for row in rows
        if not row.layout.remark or (row.layout.fingerprint, row.target) not in same
    ]


def _published(rows: Sequence[_Row]) -> Published:
    """Join the values of one graph on one target; the source with most of them is taken."""
    targets = sorted({row.target for row in rows})
    numbers = {name: number for number, name in enumerate(targets)}
    sources = list(PUBLISHERS)
    source = np.array([sources.index(row.sample.source) for row in rows])
    target = np.array([numbers[row.target] for row in rows])
    deviation = np.hypot(_deviations(rows, target, source), [row.difference for row in rows])
    groups: dict[tuple[int, int], dict[int, list[int]]] = {}
    for at, row in enumerate(rows):
        key = prefix_of(row.layout.fingerprint), int(target[at])
        groups.setdefault(key, {}).setdefault(int(source[at]), []).append(at)
    provenances: dict[str, int] = {}
    entries = []
    for (prefix, number), of_source in sorted(groups.items()):
        places = max(of_source.values(), key=len)
        values = np.array([rows[at].sample.latency_ms for at in places])
        median = float(np.median(values))
        # A median of an even number is no measurement: statistic and origin are of the nearest one.
        nearest = rows[places[int(np.abs(np.log(values / median)).argmin())]]
        entries.append(
            (
                prefix,
                number,
                median,
                float(np.median(deviation[places])),
                len(places),
                int(source[places[0]]),
                STATISTICS.index(nearest.sample.statistic),
                provenances.setdefault(nearest.provenance, len(provenances)),
            )
        )
    columns = zip(*entries, strict=True)
    types = (np.uint64, np.uint16, np.float32, np.float32, np.uint16, np.uint8, np.uint8, np.uint16)
    return Published(
        Columns(
            **{
                field.name: np.array(column, dtype)
                for field, column, dtype in zip(fields(Columns), columns, types, strict=True)
            }
        ),
        targets,
        list(PUBLISHERS.values()),
        [str(statistic) for statistic in STATISTICS],
        zlib.compress(json.dumps(list(provenances)).encode(), level=9),
    )


def _target_name(sample: Sample, devices: Mapping[str, Device]) -> TargetId:
    c = sample.configuration
    device = devices[sample.device_id]
    hides = runtime_of(c.runtime).hides_halves
    precision = _usual_float(device, c.runtime) if hides else None
    if precision is None or c.precision is not Precision.FP32:
        precision = c.precision
    return TargetId(device.id, c.runtime, str(precision), device.threads_in_use(c.threads))


def _usual_float(device: Device, runtime: str) -> Precision | None:
    """Return the precision in which a runtime takes float networks on a device by itself.

    ncnn multiplies halves where the device can. Its benchmark does not say so in a row, and the
    catalogue names the usual one first.
    """
    usual = (c.precision for c in device.configurations if c.runtime == runtime)
    return next((precision for precision in usual if precision is not Precision.INT8), None)


def _deviations(
    rows: Sequence[_Row],
    target: np.ndarray[tuple[int], np.dtype[np.int64]],
    source: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return the standard deviation of each log-latency, as the corpus has it."""
    graphs: dict[str, int] = {}
    graph = [graphs.setdefault(row.layout.fingerprint, len(graphs)) for row in rows]
    nothing = np.zeros(len(rows))
    statistic = [STATISTICS.index(row.sample.statistic) for row in rows]
    measurements = Measurements(
        graph=np.array(graph, np.int32),
        target=target.astype(np.int32),
        source=source.astype(np.int8),
        statistic=np.array(statistic, np.int8),
        provenance=nothing.astype(np.int32),
        latency_ms=np.array([row.sample.latency_ms for row in rows]),
        noise=nothing.astype(np.float32),
    )
    return measurement_noise(measurements, len(PUBLISHERS))


def write_published(path: Path, published: Published) -> None:
    """Write a file; equal content gives equal bytes.

    Raises:
        HostError: it cannot be written.
    """
    arrays = {f.name: getattr(published.columns, f.name) for f in fields(Columns)}
    words = {
        "schema": SCHEMA,
        "targets": published.targets,
        "sources": published.sources,
        "statistics": published.statistics,
    }
    text = json.dumps(words, separators=(",", ":")).encode()
    arrays[WORDS] = np.frombuffer(text, np.uint8)
    arrays[PROVENANCES] = np.frombuffer(published.packed_provenances, np.uint8)
    try:
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)
    except OSError as error:
        raise HostError(
            str(path), f"it cannot be written ({error.strerror})", "choose another place"
        ) from error
