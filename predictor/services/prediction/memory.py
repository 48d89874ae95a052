"""Memory that a run needs at its peak: weights and live activations in the precision of the run.

Activations are counted by liveness over the operators in their order: a tensor lives from the
operator that writes it to the last that reads it. What a runtime takes for itself is not known and
not counted (research/docs/results/aihub-memory.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Target
from predictor.core.run_facts import MemoryUse
from predictor.cost.capability import ACTIVATION_BYTES, WEIGHT_BYTES
from predictor.cost.columns import Columns, width_ratios
from predictor.graph.operator_graph import OperatorGraph


def memory_uses(graph: OperatorGraph, targets: Sequence[Target]) -> list[MemoryUse]:
    """Return the memory of a graph on each target, cost O(N + T)."""
    columns = Columns.of(graph)
    precisions = [target.configuration.precision for target in targets]
    weights = width_ratios([WEIGHT_BYTES[each] for each in precisions]) @ columns.weights_by_width
    live = width_ratios([ACTIVATION_BYTES[each] for each in precisions]) @ columns.live_by_width
    return [
        MemoryUse(round(weights[place]), round(live[place]), _device_bytes(target))
        for place, target in enumerate(targets)
    ]


def peak_bytes(graph: OperatorGraph, targets: Sequence[Target]) -> NDArray[np.float64]:
    """Return weights and activations of a graph at their peak on each target, float64 [T]."""
    columns = Columns.of(graph)
    peak = {
        precision: width_ratios([WEIGHT_BYTES[precision]]) @ columns.weights_by_width
        + width_ratios([ACTIVATION_BYTES[precision]]) @ columns.live_by_width
        for precision in {target.configuration.precision for target in targets}
    }
    return np.concatenate([peak[target.configuration.precision] for target in targets])


def _device_bytes(target: Target) -> int | None:
    known = target.device.memory_bytes
    return None if known is None else round(known)
