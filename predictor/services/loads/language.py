"""What a run of a language model takes on a unit: its prompt, and its tokens one by one.

The figures are those of ``ctm generate``: time to the first token and of each further one, weights,
KV cache and buffers. A batch is of sequences at once.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.records import Configuration
from predictor.core.units import format_bytes
from predictor.cost.rates.power import rated_watts
from predictor.devices.operating import default_clocks
from predictor.language.passes import Passes
from predictor.presentation.wording import number
from predictor.services.generation.generate import generate
from predictor.services.generation.plans import Work, planned
from predictor.services.generation.records import Generation, GenerationRequest
from predictor.services.loads.costs import (
    NO_EVIDENCE,
    Evidence,
    RunCost,
    deviation_of,
    shared_of,
)
from predictor.services.loads.fallback import run_costs_on
from predictor.services.loads.models import StageModel, prompt_of
from predictor.services.loads.records import Box, Stage, Unit
from predictor.services.models.language import LanguageModel
from predictor.services.prediction.batches import SIZES
from predictor.services.prediction.energy import RunEnergy, at_point, usual_point

_ENGINE = "language models"
Place = tuple[Box, Unit]


def stage_costs(
    stage: Stage,
    model: StageModel,
    places: Sequence[Place],
    evidence: Evidence = NO_EVIDENCE,
) -> list[RunCost]:
    """Predict a stage on units of boxes, a network or a language model."""
    if not isinstance(model, LanguageModel):
        return run_costs_on(stage, model, places, evidence)
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, (box, unit) in enumerate(places):
        point = box.point(unit)
        alike[point.name if point else "", _clock_of(box, unit)].append(index)
    costs: dict[int, RunCost] = {}
    for (mode, clock), indices in alike.items():
        among = [places[index] for index in indices]
        rows = _costs_in_mode(stage, model, among, mode, clock, evidence)
        costs.update(zip(indices, rows, strict=True))
    return [costs[index] for index in range(len(places))]


def _clock_of(box: Box, unit: Unit) -> str:
    """Return the clocks in place of those of the mode that are of a unit, as a request."""
    stated = default_clocks(unit.device).stated
    return ",".join(f"{name}={mhz!r}" for name, mhz in box.clock.items() if name in stated)


def _costs_in_mode(
    stage: Stage,
    model: LanguageModel,
    places: Sequence[Place],
    mode: str,
    clock: str,
    evidence: Evidence,
) -> list[RunCost]:
    request = GenerationRequest(
        prompt=prompt_of(stage),
        new=stage.new_tokens,
        weights=stage.weights or model.weights,
        kv_precision=model.kv_precision,
        runtime=stage.runtime,
        mode=mode,
        clock=clock,
    )
    devices = [unit.device for _, unit in places]
    sizes = sorted({1, *(size for size in SIZES if size < stage.batch), stage.batch})
    by_size = {
        size: generate(
            model.architecture,
            devices,
            replace(request, batch=size),
            evidence.rates,
            evidence.probes,
            model.stored,
        )
        for size in sizes
    }
    return [
        _run_cost(stage, model, place, {size: results[index] for size, results in by_size.items()})
        for index, place in enumerate(places)
    ]


def _run_cost(
    stage: Stage, model: LanguageModel, place: Place, by_size: Mapping[int, Generation]
) -> RunCost:
    """Return the cost of a run from the generations of its batches."""
    one, largest = by_size[1], by_size[stage.batch]
    prediction = _prediction(place, one, largest)
    batch_ms = np.full(stage.batch, math.nan)
    if prediction.latency_ms is not None:
        times = [g.end_to_end.median for g in by_size.values() if g.end_to_end is not None]
        sizes = np.arange(1, stage.batch + 1)
        batch_ms = np.maximum.accumulate(np.interp(sizes, list(by_size), times))
        # No batch is slower than its sequences one after the other.
        batch_ms = np.minimum(batch_ms, sizes * times[0])
    energy = _energy(place, prediction, one)
    return RunCost(
        prediction=prediction,
        batch_ms=batch_ms,
        deviation=deviation_of(prediction),
        shared=shared_of(prediction),
        traffic_bytes=_traffic_bytes(model, one),
        memory_bytes=largest.memory.total,
        energy_mj=None if energy is None else (energy.mj, energy.low80_mj, energy.high80_mj),
        power="" if energy is None else energy.evidence,
        of_board=energy is not None and energy.of_board,
        generation=one,
    )


def _prediction(place: Place, one: Generation, largest: Generation) -> Prediction:
    """Return a run as a prediction; without a number where its largest batch does not fit."""
    problem = one.problem or _too_large(place, largest)
    text = f"{one.model} {one.weights} {one.request.kv_precision} {one.memory.weights}"
    prediction = Prediction(
        model=one.model,
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
        device_id=one.device.id,
        configuration=Configuration(one.runtime or one.request.runtime, batch=1),
        engine=_ENGINE,
        basis=None,
        latency_ms=None,
        problem=problem,
    )
    total = None if problem else one.end_to_end
    if total is None:
        return prediction
    return replace(
        prediction,
        basis=one.basis,
        latency_ms=total.median,
        low80_ms=total.low,
        high80_ms=total.high,
        bound_ms=total.bound,
        evidence=one.evidence,
    )


def _too_large(place: Place, run: Generation) -> str:
    """Return why a run does not fit the memory of its unit, in words; empty where it does."""
    box, unit = place
    if run.usable is None:
        return ""
    usable, stated = run.usable.bytes, unit.device.memory_bytes
    if unit.is_shared and box.memory_bytes and stated:
        # What the box has of the memory that its devices could take.
        usable *= min(box.memory_bytes / stated, 1.0)
    if run.memory.total <= usable:
        return ""
    needed = format_bytes(run.memory.total)
    return f"{run.model} needs {needed}, and {format_bytes(usable)} of {unit.name} are usable"


def _energy(place: Place, prediction: Prediction, run: Generation) -> RunEnergy | None:
    """Return the energy of a run: of a mode that states its limit, or of a card; None of others."""
    if prediction.latency_ms is None:
        return None
    box, unit = place
    if _clock_of(box, unit):
        return None  # power is stated of a mode as it is
    point = box.point(unit) or usual_point(unit.device)
    if point is not None:
        return at_point(prediction, point)
    joules, power = run.joules_per_token, run.power
    if joules is None or power is None:
        return None
    stated = number(rated_watts(unit.device))
    mj = [1000 * run.request.new * value for value in joules]
    evidence = f"of the {stated} W that the card states, by what its time is spent on"
    return RunEnergy(
        watts=power.median,
        mj=mj[0],
        low80_mj=mj[1],
        high80_mj=mj[2],
        evidence=evidence,
        of_board=False,
    )


def _traffic_bytes(model: LanguageModel, run: Generation) -> float:
    """Return the bytes that a run moves: weights and cache of each pass, and activations."""
    plan = planned(run.device, run.request, model.stored)
    if isinstance(plan, InputError):
        return 0.0
    work = Work(model.architecture, run.request)
    prompt = work.prefill(plan.form, plan.runtime.micro_batch, False)
    token = work.decode(plan.form, False)
    return _bytes_of(prompt) + (run.request.new - 1) * _bytes_of(token)


def _bytes_of(passes: Passes) -> float:
    activations = passes.batch * passes.activation_bytes
    return float((passes.weight_bytes + passes.kv_bytes + activations).sum())
