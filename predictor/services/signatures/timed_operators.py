"""Entries of a profile as times of a graph's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from predictor.cost.engine import OperatorTimes
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.importers.fused_operators import OperatorNames, match_entries
from predictor.probing.operator_times import OperatorTime

_MOST_MS: Final = 0.01  # that a profiler may add to an entry
_LEAST_SHARE: Final = 0.2  # of an entry that is not the profiler's
_FOR_THE_NEXT: Final = "ReorderInput"  # onnxruntime's, before a convolution


def times_of_operators(
    graph: OperatorGraph, entries: Sequence[OperatorTime], latency_ms: float
) -> OperatorTimes | None:
    """Return the times of a graph's operators; None where no entry is one of them.

    A profiled run takes longer than others. What it takes more is the profiler's, as much for each
    entry; then the entries are made to sum to the latency that was measured without it. What the
    runtime put in, to turn a tensor over for an operator, counts for that operator.

    Args:
        graph: that was profiled; its operators have the names of the file's nodes.
        entries: of the profile.
        latency_ms: measured without the profiler.
    """
    time_ms = np.array([entry.time_ms for entry in entries])
    if not len(time_ms) or time_ms.sum() <= 0:
        return None
    added = np.clip((time_ms.sum() - latency_ms) / len(time_ms), 0.0, _MOST_MS)
    own = np.maximum(time_ms - added, _LEAST_SHARE * time_ms)
    own *= latency_ms / own.sum()
    groups = match_entries(entries, _names(graph))
    known = np.array([place for place, group in enumerate(groups) if group])
    if not len(known):
        return None
    before = np.searchsorted(known, np.arange(len(entries)), "right") - 1
    after = np.minimum(before + 1, len(known) - 1)
    first = np.array([entry.op_type == _FOR_THE_NEXT for entry in entries]) | (before < 0)
    first[known] = False
    whole = np.zeros(len(known))
    np.add.at(whole, np.where(first, after, before), own)
    return OperatorTimes([groups[place] for place in known], whole)


def _names(graph: OperatorGraph) -> list[OperatorNames]:
    inputs: list[list[str]] = [[] for _ in range(len(graph))]
    for producer, consumer in graph.edges.T.tolist():
        inputs[consumer].append(graph.names[producer])
    return [
        OperatorNames(name, op_type, tuple(read), (name,))
        for name, op_type, read in zip(graph.names, graph.op_types, inputs, strict=True)
    ]
