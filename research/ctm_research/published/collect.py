"""Collects published latencies of whole networks on targets that the catalogue has."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.corpus.corpus import STATISTICS, Measurements
from ctm_research.corpus.drafts import DOUBTED, NO_GRAPH
from ctm_research.corpus.graph_files import GraphReader
from ctm_research.corpus.noise import measurement_noise
from ctm_research.published.exports import other_exports, written
from ctm_research.sources import SOURCES, GraphFile, Sample
from predictor.calibration.published import (
    PROVENANCES,
    SCHEMA,
    WORDS,
    Columns,
    Published,
    prefix_of,
)
from predictor.core.errors import HostError, InputError
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Device, Precision, TargetId
from predictor.core.runtimes import runtime_of
from predictor.graph.ingest import build_model
from predictor.graph.reader import ReadModel, read_model

PUBLISHERS: Final[Mapping[str, str]] = {
    name: source.publisher for name, source in SOURCES.items() if source.ships is not None
}
"""Publisher in the file of each source whose latencies ship, by name."""

NOT_LISTED: Final = "the device is not in the catalogue"
NO_LATENCY: Final = "no latency of one run"
NO_THREADS: Final = "the source does not say how many threads ran"
NO_RUNTIME: Final = "the runtime is none of ours"
NO_BATCH: Final = "a node pins another batch than the one that was measured"

Network = tuple[GraphFile, int]  # file and how many times its batch


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
    fingerprints = _fingerprints(networks, other_exports(data), progress)
    complete: list[tuple[Sample, str]] = []
    for sample, network in zip(kept, networks, strict=True):
        # In order: the file is the same in every run.
        complete += [(sample, fingerprint) for fingerprint in sorted(fingerprints[network])]
        if not fingerprints[network]:
            left_out.setdefault(sample.source, Counter())[NO_BATCH] += 1
    published = _published(complete, devices)
    sources = np.bincount(published.columns.source, minlength=len(PUBLISHERS)).tolist()
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


def _fingerprints(
    networks: Iterable[Network],
    others: Mapping[GraphFile, Sequence[GraphFile]],
    progress: ProgressCallback,
) -> dict[Network, set[str]]:
    """Return the fingerprints of each network at its batch: one for each way of writing it.

    There is none where a node pins another batch.
    """
    factors: dict[GraphFile, set[int]] = {}
    for file, factor in networks:
        factors.setdefault(file, set()).add(factor)
    fingerprints: dict[Network, set[str]] = {(f, n): set() for f in factors for n in factors[f]}
    with GraphReader() as reader:
        for done, file in enumerate(factors):
            progress(Progress(done, len(factors), file.member or file.path.name))
            for export in (file, *others.get(file, ())):
                for model in written(read_model(reader.path_of(export))):
                    for factor in factors[file]:
                        fingerprints[file, factor] |= _at_batch(model, factor)
    return fingerprints


def _at_batch(read: ReadModel, factor: int) -> set[str]:
    """Return the fingerprint of a model at a multiple of its batch, if it has one."""
    if factor == 1:
        return {build_model(read, {}, None, {}).graph.fingerprint}
    shapes = (value.type.tensor_type.shape.dim for value in read.proto.graph.input)
    batch = next((shape[0].dim_value for shape in shapes if shape), 1)
    try:
        return {build_model(read, {}, batch * factor, {}).graph.fingerprint}
    except InputError:
        return set()


def _published(complete: Sequence[tuple[Sample, str]], devices: Mapping[str, Device]) -> Published:
    """Join the values of one graph on one target; the source with most of them is taken."""
    samples, fingerprints = zip(*complete, strict=True)
    names = [_target_name(sample, devices) for sample in samples]
    targets = sorted(set(names))
    numbers = {name: number for number, name in enumerate(targets)}
    sources = list(PUBLISHERS)
    source = np.array([sources.index(sample.source) for sample in samples])
    target = np.array([numbers[name] for name in names])
    deviation = _deviations(samples, fingerprints, target, source)
    groups: dict[tuple[int, int], dict[int, list[int]]] = {}
    for row, fingerprint in enumerate(fingerprints):
        of_source = groups.setdefault((prefix_of(fingerprint), int(target[row])), {})
        of_source.setdefault(int(source[row]), []).append(row)
    provenances: dict[str, int] = {}
    entries = []
    for (prefix, number), of_source in sorted(groups.items()):
        rows = max(of_source.values(), key=len)
        values = np.array([samples[row].latency_ms for row in rows])
        median = float(np.median(values))
        # A median of an even number is no measurement: statistic and origin are of the nearest one.
        nearest = samples[rows[int(np.abs(np.log(values / median)).argmin())]]
        entries.append(
            (
                prefix,
                number,
                median,
                float(np.median(deviation[rows])),
                len(rows),
                int(source[rows[0]]),
                STATISTICS.index(nearest.statistic),
                provenances.setdefault(nearest.provenance, len(provenances)),
            )
        )
    columns = zip(*entries, strict=True)
    types = (np.uint64, np.uint16, np.float32, np.float32, np.uint16, np.uint8, np.uint8, np.uint16)
    packed = zlib.compress(json.dumps(list(provenances)).encode(), level=9)
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
        packed,
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
    samples: Sequence[Sample],
    fingerprints: Sequence[str],
    target: np.ndarray[tuple[int], np.dtype[np.int64]],
    source: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return the standard deviation of each log-latency, as the corpus has it."""
    graphs: dict[str, int] = {}
    graph = [graphs.setdefault(fingerprint, len(graphs)) for fingerprint in fingerprints]
    nothing = np.zeros(len(samples))
    measurements = Measurements(
        graph=np.array(graph, np.int32),
        target=target.astype(np.int32),
        source=source.astype(np.int8),
        statistic=np.array([STATISTICS.index(s.statistic) for s in samples], np.int8),
        provenance=nothing.astype(np.int32),
        latency_ms=np.array([sample.latency_ms for sample in samples]),
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
