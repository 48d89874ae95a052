"""Operators of a stage that its runtime leaves to the processor of the box, and what that costs.

Where the list of a runtime says that an operator runs on the processor instead, a run takes the
unit for the others and for the tensors that cross between both, then the processor for these
operators. The parts are those of the predictions of the whole model on each of the two; what comes
from another unit comes through the memory, however well a processor fuses its operators else.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from predictor.core.arrays import Bools, Floats
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Precision
from predictor.core.run_facts import Unsupported
from predictor.core.runtimes import CPUS
from predictor.cost.columns import S_TO_MS, Columns, byte_ratios
from predictor.cost.rates.facts import link_bandwidth, memory_bandwidth
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPE_BITS
from predictor.language.cards import shipped_links
from predictor.services.loads.costs import (
    NO_EVIDENCE,
    Evidence,
    Fallback,
    RunCost,
    run_costs,
    target_of,
)
from predictor.services.loads.records import Box, Stage, Unit
from predictor.services.prediction.explain import explanations
from predictor.services.prediction.targets import supports

_READ_AND_WRITTEN: Final = 2  # a copy in a memory that both share
_TIMES: Final = ("latency_ms", "low80_ms", "high80_ms", "low95_ms", "high95_ms", "bound_ms")


def run_costs_on(
    stage: Stage,
    model: Model,
    places: Sequence[tuple[Box, Unit]],
    evidence: Evidence = NO_EVIDENCE,
) -> list[RunCost]:
    """Predict a stage on units of boxes with what its runtime leaves to their processors.

    Args and result are those of :func:`predictor.services.loads.costs.run_costs`. What was
    measured of the very model has all of it already, and a box without a processor pays nothing.
    """
    costs = run_costs(stage, model, places, evidence)
    alike: dict[object, list[tuple[int, _Falling]]] = defaultdict(list)
    for place, ((box, unit), cost) in enumerate(zip(places, costs, strict=True)):
        refused, processor = _left_out(cost), _processor(box, unit)
        if refused is not None and processor is not None:
            # Modes and clocks of two devices have the same parts.
            key = target_of(stage, unit).id, processor.device.id
            alike[key].append((place, _Falling(box, unit, processor, refused, cost)))
    for members in alike.values():
        runs = [run for _, run in members]
        for (place, _), cost in zip(members, _parted(stage, model, runs, evidence), strict=True):
            costs[place] = cost
    return costs


class _Falling(NamedTuple):
    """A run on a unit that leaves operators to a processor, and its cost without that."""

    box: Box
    unit: Unit
    processor: Unit
    refused: Unsupported
    cost: RunCost


def _left_out(cost: RunCost) -> Unsupported | None:
    """Return what a predicted run leaves to the processor; None for nothing."""
    prediction, refused = cost.prediction, cost.prediction.unsupported
    is_predicted = prediction.latency_ms is not None and prediction.basis is not Basis.MEASURED
    return refused if refused is not None and refused.falls_back and is_predicted else None


def _processor(box: Box, unit: Unit) -> Unit | None:
    """Return the first processor of a box beside a unit; None where it has none."""
    return next((u for u in box.units.values() if u.device.family in CPUS and u is not unit), None)


def _parted(
    stage: Stage, model: Model, runs: Sequence[_Falling], evidence: Evidence
) -> list[RunCost]:
    """Return costs of one target with their operators parted; as they are without a number.

    Args:
        stage: that falls back.
        model: of it.
        runs: on devices alike, in whatever mode.
        evidence: the user's measurements.
    """
    _, unit, processor, refused, cost = runs[0]
    first, graph = cost.prediction, model.graph
    left = _on_processor(stage, processor, first.configuration.runtime)
    on_processors = [(run.box, run.processor) for run in runs]
    left_costs = run_costs(left, model, on_processors, evidence)
    of_unit = _operator_ms(stage, unit, model, first, evidence)
    of_processor = _operator_ms(left, processor, model, left_costs[0].prediction, evidence)
    if of_unit is None or of_processor is None:
        return [run.cost for run in runs]
    falls = falling(graph, frozenset(refused.types))
    through_memory_ms = _memory_ms(
        graph, processor, left_costs[0].prediction.configuration.precision
    )
    part = float(np.maximum(of_processor, through_memory_ms)[falls].sum() / of_processor.sum())
    sizes = crossing_bytes(graph, falls, first.configuration.precision)
    fallback = Fallback(
        unit=processor.name,
        types=refused.types,
        operators=len(refused.operators),
        transfers=len(sizes),
        transfer_bytes=float(sizes.sum()),
        transfer_ms=_transfer_ms(unit, sizes),
        cost=left_costs[0],
    )
    rest = 1 - float(of_unit[falls].sum() / of_unit.sum())
    return [
        _with(replace(fallback, cost=_part(cost, part)), _part(run.cost, rest), unit.is_shared)
        for run, cost in zip(runs, left_costs, strict=True)
    ]


def _with(fallback: Fallback, rest: RunCost, is_shared: bool) -> RunCost:
    """Return the cost of the other operators with what crosses, and the fallback beside it."""
    energy = None
    if rest.energy_mj is not None and fallback.cost.energy_mj is not None:
        mid, low, high = np.add(rest.energy_mj, fallback.cost.energy_mj).tolist()
        energy = mid, low, high
    sizes = np.arange(1, len(rest.batch_ms) + 1)
    return replace(
        rest,
        prediction=_timed(rest.prediction, 1.0, fallback.transfer_ms),
        batch_ms=rest.batch_ms + fallback.transfer_ms * sizes,
        traffic_bytes=rest.traffic_bytes + fallback.transfer_bytes * is_shared,
        energy_mj=energy,
        of_board=rest.of_board and fallback.cost.of_board,
        fallback=fallback,
    )


def _on_processor(stage: Stage, processor: Unit, runtime: str) -> Stage:
    """Return a stage as its runtime runs it on a processor, else as is usual there."""
    there = replace(
        stage,
        unit=processor.name,
        batch=1,
        delay_ms=0.0,
        runtime=runtime,
        precision="",
        threads=None,
    )
    is_there = supports(processor.device, target_of(there, processor).configuration)
    return there if is_there else replace(there, runtime="")


def falling(graph: OperatorGraph, types: frozenset[str]) -> Bools:
    """Return which operators are on the processor's side, bool [N].

    Those of the types; parts of another operator are where that is, views where their input is.
    """
    falls = np.array([name in types for name in graph.op_types], np.bool_)
    producer = np.full(len(graph), -1)
    producer[graph.edges[1][::-1]] = graph.edges[0][::-1]
    is_view = graph.has_flag(OperatorFlag.VIEW)
    for place in range(len(graph)):
        source = graph.fused_into[place] if graph.fused_into[place] >= 0 else producer[place]
        if source >= 0 and (graph.fused_into[place] >= 0 or is_view[place]):
            falls[place] = falls[source]
    return falls


def crossing_bytes(graph: OperatorGraph, falls: Bools, precision: Precision) -> Floats:
    """Return the bytes of each tensor that crosses between unit and processor, float64 [tensors].

    A tensor that several operators of the other side read crosses once.
    """
    producers, consumers = graph.edges
    crossing = np.unique(producers[falls[producers] != falls[consumers]])
    _, ratios = byte_ratios([precision])
    width = Columns.of(graph).width
    return np.array(
        [
            float(np.prod(graph.output_shape(place), dtype=np.float64))
            * DTYPE_BITS[graph.dtype[place]] / 8
            * ratios[0, width[place]]
            for place in crossing.tolist()
        ],
        np.float64,
    )  # fmt: skip


def _transfer_ms(unit: Unit, sizes: Floats) -> float:
    """Return the ms of copies: bytes over the link or through the shared memory, and starts."""
    _, start_s = shipped_links()
    link, memory = link_bandwidth(unit.device), memory_bandwidth(unit.device)
    bytes_s = 0.0
    if link is not None:
        bytes_s = float(sizes.sum()) / link
    elif memory is not None:
        bytes_s = _READ_AND_WRITTEN * float(sizes.sum()) / memory
    return S_TO_MS * (bytes_s + len(sizes) * start_s)


def _operator_ms(
    stage: Stage, unit: Unit, model: Model, prediction: Prediction, evidence: Evidence
) -> Floats | None:
    """Return the parts of a run's time on a unit, float64 [N]; None without a number."""
    if prediction.latency_ms is None:
        return None
    target = target_of(stage, unit)
    predicted = np.array([prediction.latency_ms])
    (parts,) = explanations(model, [target], predicted, [0], evidence.measured)
    return None if parts is None else parts.latency_ms


def _memory_ms(graph: OperatorGraph, processor: Unit, precision: Precision) -> Floats:
    """Return the time that the tensors of operators take through the memory, float64 [N]."""
    columns = Columns.of(graph)
    weights, activations = (ratios[0, columns.width] for ratios in byte_ratios([precision]))
    traffic_bytes = columns.activation_bytes * activations + columns.weight_bytes * weights
    bandwidth = memory_bandwidth(processor.device)
    times: Floats = S_TO_MS * traffic_bytes / (math.inf if bandwidth is None else bandwidth)
    return times


def _part(cost: RunCost, share: float) -> RunCost:
    """Return the cost of some of the operators, by their share of the time."""
    energy = None
    if cost.energy_mj is not None:
        mid, low, high = (share * mj for mj in cost.energy_mj)
        energy = mid, low, high
    return replace(
        cost,
        prediction=_timed(cost.prediction, share, 0.0),
        batch_ms=cost.batch_ms * share,
        traffic_bytes=cost.traffic_bytes * share,
        energy_mj=energy,
    )


def _timed(prediction: Prediction, share: float, added_ms: float) -> Prediction:
    """Return a prediction whose times are a share, and some ms more."""
    now: dict[str, Any] = {}
    for name in _TIMES:
        ms = getattr(prediction, name)
        now[name] = None if ms is None else share * ms + added_ms
    return replace(prediction, **now)
