"""Measurements beside an engine's number and physical bound, and why some have neither."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.corpus.silicon import one_cluster
from ctm_research.sources import GraphFile, Sample
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Device, Target
from predictor.cost.engine import Engine
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch

NOT_IN_CATALOGUE = "the device is not in the catalogue"
NO_GRAPH = "no graph of the network is at hand"
_BANDWIDTH = "dram_bw_gbps"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measurement beside the numbers of the engine.

    Attributes:
        sample: the measurement.
        estimate_ms: the engine's number; NaN where there is none.
        bound_ms: the physical bound; NaN where it is not known.
        reason: why there is no estimate, else empty; there may be a bound all the same.
    """

    sample: Sample
    estimate_ms: float
    bound_ms: float
    reason: str = ""

    @property
    def measured_over_bound(self) -> float:
        """Under 1 the measurement proves the bound or a fact of the device wrong; NaN unknown."""
        return self.sample.latency_ms / self.bound_ms if self.bound_ms > 0 else math.nan

    @property
    def measured_over_estimate(self) -> float:
        """Above 1 the run was slower than the estimate; NaN without an estimate."""
        return self.sample.latency_ms / self.estimate_ms if self.estimate_ms > 0 else math.nan

    @property
    def target_name(self) -> str:
        """Device, runtime and precision."""
        configuration = self.sample.configuration
        return f"{self.sample.device_id} {configuration.runtime} {configuration.precision}"


def compare(
    samples: Iterable[Sample],
    devices: Mapping[str, Device],
    engine: Engine,
    progress: ProgressCallback = no_progress,
) -> list[Comparison]:
    """Return every sample with the engine's number for it; each graph is read once.

    Args:
        samples: the measurements.
        devices: the catalogue by id.
        engine: gives estimate and bound.
        progress: told before each graph is read.

    Raises:
        InputError: a graph file is missing or damaged.
    """
    compared: list[Comparison] = []
    by_graph: dict[GraphFile, list[Sample]] = defaultdict(list)
    for sample in samples:
        reason = _left_out(sample, devices)
        if sample.graph is None or reason:
            compared.append(Comparison(sample, math.nan, math.nan, reason))
        else:
            by_graph[sample.graph].append(sample)
    with GraphReader() as reader:
        for done, (file, group) in enumerate(by_graph.items()):
            progress(Progress(done, len(by_graph), group[0].network))
            graph = reader.read(file)
            for factor in sorted({sample.batch_factor for sample in group}):
                part = [sample for sample in group if sample.batch_factor == factor]
                compared += _predicted(at_batch(graph, factor), part, devices, engine)
    return compared


def _left_out(sample: Sample, devices: Mapping[str, Device]) -> str:
    if sample.excluded:
        return sample.excluded
    if sample.device_id not in devices:
        return NOT_IN_CATALOGUE
    return "" if sample.graph else NO_GRAPH


def _predicted(
    graph: OperatorGraph,
    samples: Sequence[Sample],
    devices: Mapping[str, Device],
    engine: Engine,
) -> list[Comparison]:
    targets = [
        Target(one_cluster(devices[s.device_id], s.cluster), s.configuration) for s in samples
    ]
    numbers = predict_row(graph, targets, engine)
    return [
        Comparison(
            sample,
            float(numbers.estimate_ms[column]),
            float(numbers.bound_ms[column]),
            numbers.problems.get(column, ""),
        )
        for column, sample in enumerate(samples)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class RowNumbers:
    """One graph on T targets.

    Attributes:
        estimate_ms: [T], NaN where there is none.
        bound_ms: [T], NaN where it is not known.
        problems: why there is no estimate, by target index.
    """

    estimate_ms: NDArray[np.float64]
    bound_ms: NDArray[np.float64]
    problems: Mapping[int, str]


def predict_row(graph: OperatorGraph, targets: Sequence[Target], engine: Engine) -> RowNumbers:
    """Return an engine's numbers; where only the bandwidth is not known there is still a bound."""
    table = engine.predict([graph], targets, {})
    problems = {column: text for (_, column), text in table.problems.items()}
    bound_ms = table.bound_ms[0].copy()
    if problems:
        columns = list(problems)
        quick = engine.predict([graph], [_with_bandwidth(targets[c]) for c in columns], {})
        bound_ms[columns] = quick.bound_ms[0]
    return RowNumbers(table.latency_ms[0], bound_ms, problems)


def _with_bandwidth(target: Target) -> Target:
    """Return a target whose memory takes no time where its bandwidth is not known.

    Its estimate means nothing; its bound is that of the arithmetic alone, and still one that no
    run can beat.
    """
    device = target.device
    if device.metric(_BANDWIDTH) is not None:
        return target
    metrics = {**device.metrics, _BANDWIDTH: math.inf}
    return Target(replace(device, metrics=metrics), target.configuration)
