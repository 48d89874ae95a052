"""What a run of a stage takes on a unit: its latency by batch with its error, memory and energy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.throughput import Concurrency, concurrency_of, cores_of
from predictor.core.percentiles import Z80
from predictor.core.prediction import Prediction
from predictor.core.records import (
    Basis,
    Device,
    Measurement,
    Precision,
    Target,
    TargetId,
)
from predictor.cost.clocks import ClockModel
from predictor.cost.columns import Columns, byte_ratios
from predictor.cost.engine import NOTHING_MEASURED
from predictor.devices.operating import clocks_of, default_clocks
from predictor.graph.model import Model
from predictor.services.generation.probes import DecodeProbe
from predictor.services.generation.records import Generation, MeasuredRate
from predictor.services.loads.records import Box, Stage, Stream, Unit
from predictor.services.prediction.assumptions import needs_quantising
from predictor.services.prediction.batches import SIZES, batch_times
from predictor.services.prediction.clocks import at_clocks, clock_model
from predictor.services.prediction.energy import RunEnergy, at_point, energies
from predictor.services.prediction.predict import NO_DEVICES, KnownTargets, predict
from predictor.services.prediction.targets import resolve_targets
from predictor.services.prediction.variants import ERROR_CORRELATION
from predictor.services.serving.records import Between

Floats = NDArray[np.float64]


class Evidence(NamedTuple):
    """What the user measured, as ``predict`` and ``generate`` take it."""

    measurements: Sequence[Measurement] = ()
    measured: KnownTargets = NOTHING_MEASURED
    devices: Mapping[str, Device] = NO_DEVICES
    rates: Sequence[MeasuredRate] = ()
    probes: Sequence[DecodeProbe] = ()


NO_EVIDENCE: Final = Evidence()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fallback:
    """Operators of a run that its runtime leaves to the processor of the box.

    Attributes:
        unit: name of the processor.
        types: of the operators, the most frequent first.
        operators: number of them.
        transfers: tensors that cross between unit and processor in a run.
        transfer_bytes: of those.
        transfer_ms: that they take, of the unit's time.
        cost: of these operators on the processor, for a run.
    """

    unit: str
    types: tuple[str, ...]
    operators: int
    transfers: int
    transfer_bytes: float
    transfer_ms: float
    cost: RunCost


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RunCost:
    """A run of a stage on a unit.

    Attributes:
        prediction: of one run; its problem says why there is no number.
        batch_ms: P50 of a batch by its size, from 1, float64 [batch].
        deviation: standard deviation of ln(latency).
        shared: float64 [S], the part of that error that models on the unit have in common.
        traffic_bytes: that a run moves.
        memory_bytes: that its largest batch takes; None where it is not known.
        energy_mj: of a run with its 80 % interval; None where no power is known.
        power: in words, whose power that is of; empty where none is known.
        of_board: whether that is the power of all of the board, the host's part among it.
        needs_quantising: whether it is of an INT8 model that the user still has to make.
        fallback: operators that run on the processor instead, whose time is none of the others';
            None where all of them run here.
        generation: of a language model, that the prediction is of; None for a network.
    """

    prediction: Prediction
    batch_ms: Floats
    deviation: float
    shared: Floats
    traffic_bytes: float
    memory_bytes: float | None
    energy_mj: tuple[float, float, float] | None
    power: str = ""
    of_board: bool = False
    needs_quantising: bool = False
    fallback: Fallback | None = None
    generation: Generation | None = None

    @property
    def processor_ms(self) -> float:
        """Time on the processor for a run, beside that of the unit."""
        return 0.0 if self.fallback is None else float(self.fallback.cost.batch_ms[0])

    @property
    def number_format(self) -> str:
        """Precision of a network, format of the weights of a language model."""
        if self.generation is not None:
            return self.generation.weights
        return self.prediction.configuration.precision.value

    @property
    def how(self) -> str:
        """Runtime and number format: ``tensorrt, fp16``."""
        return f"{self.prediction.configuration.runtime}, {self.number_format}"

    @property
    def steps(self) -> int:
        """Parts of a run after its first one: the tokens of a language model but the first."""
        return 0 if self.generation is None else self.generation.request.new - 1

    @property
    def first_share(self) -> float:
        """Share of a run's time until its first token; 1 for a network."""
        generation, total_ms = self.generation, self.prediction.latency_ms
        if generation is None or generation.first_token is None or not total_ms:
            return 1.0
        return generation.first_token.median / total_ms

    @property
    def of_full_batch(self) -> float:
        """Time of a run of a full batch over that of a run by itself."""
        return float(self.batch_ms[-1] / self.batch_ms[0]) / len(self.batch_ms)

    @property
    def floor(self) -> float:
        """Smallest factor on the latency: the bound of the unit over it."""
        bound_ms, latency_ms = self.prediction.bound_ms, self.prediction.latency_ms
        return bound_ms / latency_ms if bound_ms and latency_ms else 0.0


def run_costs(
    stage: Stage,
    model: Model,
    places: Sequence[tuple[Box, Unit]],
    evidence: Evidence = NO_EVIDENCE,
) -> list[RunCost]:
    """Predict a stage on units of boxes, all in one call of the engine.

    Args:
        stage: with its batch and what it states of its configuration.
        model: of the stage.
        places: the boxes with their modes, and the units.
        evidence: the user's measurements.
    """
    by_place = [target_of(stage, unit) for _, unit in places]
    # Modes and clocks of a target are of one prediction.
    targets = list({target.id: target for target in by_place}.values())
    predictions = predict([model], targets, "", *evidence[:3])
    usual = energies(model, targets, predictions, evidence.measured)
    file_batch = max((p.configuration.batch for p in predictions), default=1)
    ratios, bounds_ms = _batch_ratios(model, targets, file_batch, stage.batch)
    columns = zip(predictions, usual, ratios.T, bounds_ms.tolist(), strict=True)
    of_target = dict(zip((target.id for target in targets), columns, strict=True))
    traffic = Columns.of(model.graph).traffic_by_width
    costs = []
    followed: dict[TargetId, ClockModel] = {}
    for (box, unit), target in zip(places, by_place, strict=True):
        prediction, energy, ratio, item_ms = of_target[target.id]
        clocks = box.clocks(unit)
        clocked, drawn = prediction, energy
        if clocks is not None and prediction.latency_ms is not None:
            if target.id not in followed:
                followed[target.id] = clock_model(model, target)
            point = box.point(unit)
            if point is not None and clocks != clocks_of(unit.device, point):
                point = None  # power is stated of a mode as it is
            clocked = at_clocks(prediction, followed[target.id], target, clocks, point).prediction
            is_limited = point is not None and point.power_w is not None
            if is_limited or clocks != default_clocks(unit.device):
                drawn = None if point is None else at_point(clocked, point)
        _, activation_ratio = byte_ratios([target.configuration.precision])
        traffic_bytes = float(activation_ratio[0] @ traffic)
        latency_ms = math.nan if clocked.latency_ms is None else clocked.latency_ms
        least_ms = np.arange(1, stage.batch + 1) * min(item_ms, latency_ms)
        batch_ms = np.maximum(latency_ms * ratio, least_ms)
        costs.append(_run_cost(stage, model, clocked, drawn, batch_ms, traffic_bytes))
    return costs


def item_joules(stream: Stream, row: Sequence[RunCost]) -> Between | None:
    """Return the joules of an item's runs with their 80 % interval; None where a stage has none.

    Args:
        stream: the stream.
        row: of its stages.
    """
    ends = np.zeros(3)
    for stage, cost in zip(stream.stages, row, strict=True):
        if cost.energy_mj is None:
            return None
        # A batch of runs takes the power of the unit for its time.
        ends += np.array(cost.energy_mj) / 1000 * stage.per_item * cost.of_full_batch
    return Between(*ends.tolist())


def watts_of(streams: Sequence[Stream], rows: Sequence[Sequence[RunCost]]) -> Between | None:
    """Return the watts that the runs of streams draw on average; None where a stage has none."""
    ends = np.zeros(3)
    for stream, row in zip(streams, rows, strict=True):
        energy = item_joules(stream, row)
        if energy is None:
            return None
        items = stream.rate_per_s * stream.count
        ends += items * np.array([energy.median, energy.low, energy.high])
    return Between(*ends.tolist())


def _run_cost(
    stage: Stage,
    model: Model,
    prediction: Prediction,
    energy: RunEnergy | None,
    batch_ms: Floats,
    traffic_bytes: float,
) -> RunCost:
    memory = prediction.memory
    grown = 0 if memory is None else memory.activations_bytes * (stage.batch - 1)
    return RunCost(
        prediction=prediction,
        batch_ms=batch_ms,
        deviation=deviation_of(prediction),
        shared=shared_of(prediction),
        traffic_bytes=traffic_bytes,
        memory_bytes=None if memory is None else float(memory.peak_bytes + grown),
        energy_mj=None if energy is None else (energy.mj, energy.low80_mj, energy.high80_mj),
        power="" if energy is None else energy.evidence,
        of_board=energy is not None and energy.of_board,
        needs_quantising=needs_quantising(model, prediction),
    )


def target_of(stage: Stage, unit: Unit) -> Target:
    """Return the target of a stage on a unit; what the stage leaves open is usual of the device."""
    precision = Precision(stage.precision) if stage.precision else None
    (target,) = resolve_targets([unit.device], stage.runtime or None, precision, stage.threads)
    return target


def runs_at_once(stage: Stage, unit: Unit) -> int:
    """Return how many runs of a stage a unit makes at once.

    One on each of its devices, and on a processor of cores alike as many as the threads that the
    stage states leave room for. At all cores such runs are up to a sixth slower than alone, and
    beyond them they take turns at next to no cost (research/docs/results/throughput.md).
    """
    device = unit.device
    if stage.threads is None or not device.core_count or len(device.clusters) > 1:
        return unit.count
    return unit.count * max(device.core_count // device.threads_in_use(stage.threads), 1)


def in_precision(stage: Stage, precision: Precision) -> Stage:
    """Return the stage in another precision."""
    return replace(stage, precision=precision.value)


def _batch_ratios(
    model: Model, targets: Sequence[Target], file_batch: int, batch: int
) -> tuple[Floats, Floats]:
    """Return the P50 of batches of 1 to ``batch`` runs over that of one, float64 [batch, targets].

    Between predicted sizes it is linear, and by the rule of a class where published rates show
    that more comes of batches than that. What a measurement changes of one run it changes of all.
    Beside it the least time in ms of a run in a batch, float64 [targets]; 0 where unknown.
    """
    if batch == 1:
        return np.ones((1, len(targets))), np.zeros(len(targets))
    sizes = sorted({size for size in SIZES if size < batch} | {batch})
    times = batch_times(model.graph, targets, sizes)
    places = np.arange(1, batch + 1)
    ratio = np.stack([np.interp(places, sizes, column) for column in times.ratio.T], axis=1)
    for place, target in enumerate(targets):
        rule = concurrency_of(target)
        if rule is not None and rule.of_loads and np.isfinite(ratio[:, place]).all():
            if file_batch > 1:  # What starts a run of one item is in its latency already.
                rule = replace(rule, start=0.0, cores=0.0)
            ratio[:, place] = _by_rule(rule, places / ratio[:, place], cores_of(target) or 1)
    return ratio, np.nan_to_num(times.bound_ms)


def _by_rule(rule: Concurrency, gains: Floats, cores: int) -> Floats:
    """Return the times of batches over that of one run, by what they bring as predicted."""
    sizes = range(1, len(gains) + 1)
    ruled = [
        size / rule.of_batch(float(gain), size, cores)
        for size, gain in zip(sizes, gains, strict=True)
    ]
    ratio: Floats = np.maximum.accumulate(ruled)
    return ratio


def deviation_of(prediction: Prediction) -> float:
    """Return the standard deviation of ln(latency), of the wider side; 0 without an interval."""
    low, p50, high = prediction.low80_ms, prediction.latency_ms, prediction.high80_ms
    if not low or not p50 or not high:
        return 0.0
    return max(math.log(high / p50), math.log(p50 / low)) / Z80


def shared_of(prediction: Prediction) -> Floats:
    """Return the part of the error that models on one unit have in common, float64 [S]."""
    if prediction.basis is Basis.MEASURED:
        return np.zeros(1)
    if not prediction.shared_error:
        return np.array([math.sqrt(ERROR_CORRELATION)])
    return np.frombuffer(prediction.shared_error, np.float32).astype(np.float64)
