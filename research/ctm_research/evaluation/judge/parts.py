"""The roofline's parts of every measurement of a corpus: arithmetic, traffic, launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus import Corpus
from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.cost.capability import Capability, capability
from predictor.cost.columns import S_TO_MS, ms_per_mac, width_ratios
from predictor.network.reference_rates import ReferenceRates, Typical
from predictor.network.work_terms import off_chip_share

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Times at the peaks of the target, of M measurements.

    Attributes:
        compute_ms, memory_ms, launch_ms: float64 [M], summed over the operators.
        estimate_ms: float64 [M], sum of the larger of arithmetic and traffic of each operator, and
            its launch.
        rated: bool [T], whether the facts of a target state all its rates; elsewhere a typical
            rate takes the place of a fact.
    """

    compute_ms: Floats
    memory_ms: Floats
    launch_ms: Floats
    estimate_ms: Floats
    rated: NDArray[np.bool_]


def parts_of(corpus: Corpus, targets: Sequence[Target], typical: Typical) -> Parts:
    """Return the parts of all measurements, some seconds for a hundred thousand.

    Args:
        corpus: the measurements.
        targets: T, those of the corpus with their devices.
        typical: rates where a fact is missing.
    """
    rates, rated = _rates(targets, typical)
    graph, target = corpus.measurements.graph, corpus.measurements.target
    pair = graph.astype(np.int64) * len(targets) + target
    distinct, place = np.unique(pair, return_inverse=True)
    graphs, of_target = np.divmod(distinct, max(len(targets), 1))
    times = np.empty((4, len(distinct)))
    starts = np.flatnonzero(np.diff(graphs, prepend=-1))
    for first, end in zip(starts, [*starts[1:], len(distinct)], strict=False):
        columns = rates.take(of_target[first:end])
        times[:, first:end] = _graph_parts(corpus, int(graphs[first]), columns)
    compute, memory, launch, estimate = times[:, place]
    return Parts(compute, memory, launch, estimate, rated)


def _graph_parts(corpus: Corpus, graph: int, rates: ReferenceRates) -> Floats:
    """Return the parts of one graph on T targets and their estimate, [4, T] in ms."""
    packed, costs = corpus.graphs.packed, corpus.graphs.costs
    kind = packed.kind[packed.node_offsets[graph] : packed.node_offsets[graph + 1]]
    # Equal operators are computed once: a network of equal blocks has few distinct ones.
    kind, times = np.unique(kind, return_counts=True)
    operators = costs.operators(kind)
    one = slice(graph, graph + 1)
    leaving = off_chip_share(costs.weights_by_width[one], costs.live_by_width[one], rates)
    compute = rates.ms_per_mac.T[operators.code] * operators.macs[:, None]  # [U, T]
    moved = rates.activation_ratio.T[operators.width] * operators.activation_bytes[:, None]
    moved += rates.weight_ratio.T[operators.width] * operators.weight_bytes[:, None]
    memory = moved * leaving * rates.ms_per_byte
    launch = operators.launches[:, None] * rates.launch_ms
    estimate = np.maximum(compute, memory) + launch
    stacked: Floats = np.einsum("u,put->pt", times, np.stack([compute, memory, launch, estimate]))
    return stacked


def _rates(targets: Sequence[Target], typical: Typical) -> tuple[ReferenceRates, NDArray[np.bool_]]:
    """Return the peaks of each target, and whether they are all facts, [T]."""
    rates = ReferenceRates.of(targets, typical)
    rated = np.zeros(len(targets), np.bool_)
    for place, target in enumerate(targets):
        try:
            peaks = capability(target)
        except InputError:
            continue  # a rate is not stated: the typical one stays
        rated[place] = True
        _state(rates, place, peaks)
    return rates, rated


def _state(rates: ReferenceRates, place: int, peaks: Capability) -> None:
    """Replace the rates of one target by those that its facts state."""
    of_one = (peaks.matrix_macs_per_s, peaks.vector_macs_per_s, peaks.integer_macs_per_s)
    rates.ms_per_mac[place] = ms_per_mac(*(np.array([rate]) for rate in of_one))[0]
    rates.ms_per_byte[place] = S_TO_MS / peaks.bandwidth_bytes_per_s
    rates.weight_ratio[place] = width_ratios([peaks.weight_bytes])[0]
    rates.activation_ratio[place] = width_ratios([peaks.activation_bytes])[0]
    rates.launch_ms[place] = peaks.launch_ms
    rates.held_bytes[place] = peaks.on_chip_bytes if peaks.streams else 0.0
