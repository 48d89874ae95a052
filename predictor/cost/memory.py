"""Memory that a run needs at its peak: weights and live activations in the precision of the run.

Activations are counted by liveness over the operators in their order: a tensor lives from the
operator that writes it to the last that reads it. What a runtime takes for itself is not known and
not counted (research/docs/results/aihub-memory.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np

from predictor.core.arrays import Floats
from predictor.core.records import Precision, Target
from predictor.core.run_facts import MemoryUse
from predictor.cost.columns import Columns, byte_ratios
from predictor.cost.rates.facts import bare_memories
from predictor.cost.rates.runs import as_cast
from predictor.cost.run_facts import Computed
from predictor.graph.operator_graph import OperatorGraph

_KIB: Final = 1024


def memory_uses(graph: OperatorGraph, targets: Sequence[Target]) -> Computed[MemoryUse]:
    """Return the memory of a graph on each target; the first that is read costs O(N)."""
    by_precision = cache(lambda: _tensor_bytes(graph))

    def use(place: int) -> MemoryUse:
        target = targets[place]
        weights, live = by_precision()[as_cast(target).configuration.precision]
        stated = target.device.memory_bytes
        return MemoryUse(round(weights), round(live), None if stated is None else round(stated))

    return Computed(len(targets), use)


def peak_bytes(graph: OperatorGraph, targets: Sequence[Target]) -> Floats:
    """Return weights and activations of a graph at their peak on each target, float64 [T]."""
    by_precision = _tensor_bytes(graph)
    return np.array(
        [sum(by_precision[as_cast(target).configuration.precision]) for target in targets],
        np.float64,
    )


def refusals(
    graphs: Sequence[OperatorGraph], targets: Sequence[Target]
) -> Mapping[tuple[int, int], str]:
    """Return why graphs do not fit on the microcontrollers among targets, by both places.

    Weights stay in the flash, live activations in the SRAM; a chip with memory beside it holds any
    network. What a runtime takes for itself is left out, so that no network is refused that fits.
    """
    memories = {
        place: memory
        for place, target in enumerate(targets)
        if (memory := bare_memories(target.device)) is not None
    }
    reasons: dict[tuple[int, int], str] = {}
    for row, graph in enumerate(graphs if memories else ()):
        by_precision = _tensor_bytes(graph)
        for place, (flash, sram) in memories.items():
            weights, live = by_precision[targets[place].configuration.precision]
            excesses = [
                _excess(weights, "weights", flash, "flash"),
                _excess(live, "activations", sram, "SRAM"),
            ]
            if any(excesses):
                reasons[row, place] = f"it does not fit: {' and '.join(filter(None, excesses))}"
    return reasons


def _excess(needed_bytes: float, content: str, memory_bytes: float | None, memory: str) -> str:
    """Return by how much a content is too large for a memory; empty where it fits."""
    if memory_bytes is None or needed_bytes <= memory_bytes:
        return ""
    needed_kb, memory_kb = needed_bytes / _KIB, memory_bytes / _KIB
    return (
        f"{math.ceil(needed_kb)} KiB of {content} for {memory_kb:g} KiB of {memory}, "
        f"{math.ceil(needed_kb - memory_kb)} KiB too many"
    )


def _tensor_bytes(graph: OperatorGraph) -> Mapping[Precision, tuple[float, float]]:
    """Return the bytes of weights and of live activations by the precision of a run."""
    columns, (of_weights, of_activations) = Columns.of(graph), byte_ratios(Precision)
    weights = (of_weights @ columns.weights_by_width).tolist()
    live = (of_activations @ columns.live_by_width).tolist()
    return dict(zip(Precision, zip(weights, live, strict=True), strict=True))
