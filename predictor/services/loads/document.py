"""The JSON document of a load on a box."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Final

from predictor.services.loads.answers import (
    Answer,
    Candidate,
    Settings,
    StageAnswer,
    StreamAnswer,
)
from predictor.services.loads.boxes import box_entry
from predictor.services.loads.costs import Fallback
from predictor.services.loads.sentences import headline, sentences
from predictor.services.serving.records import Between

SCHEMA: Final = "ctm-load/1"


def load_document(answer: Answer) -> dict[str, object]:
    """Return the document: every key is always there, null where there is no number."""
    load, cost = answer.load, answer.cost
    return {
        "schema": SCHEMA,
        "box": box_entry(answer.box),
        "holds": answer.holds,
        "chance": answer.chance,
        "wanted_chance": load.chance,
        "largest_factor": answer.largest_factor,
        "sentence": headline(answer),
        "remarks": list(sentences(answer)),
        "units": [
            {
                "unit": unit.name,
                "device": unit.device,
                "count": unit.count,
                **_between("utilisation", unit.utilisation),
            }
            for unit in answer.units
        ],
        "streams": [_stream(stream) for stream in answer.streams],
        "binding": {"stage": answer.binding.stage.name, "unit": answer.binding.unit},
        "advice": [asdict(change) for change in answer.advice],
        "memory": [asdict(memory) for memory in answer.memory],
        **_between("watts", answer.watts),
        "budget_w": answer.budget_w,
        "settings": _settings(answer.settings),
        **_between("cost_per_hour", None if cost is None else cost.per_hour),
        **_between("cost_per_million_items", None if cost is None else cost.per_million),
        "simulated_items": answer.simulated,
        "seed": load.seed,
        "draws": load.draws,
    }


def _settings(settings: Settings | None) -> dict[str, object] | None:
    if settings is None:
        return None
    return {
        "chance": settings.chance,
        "modes": [
            {"holds": mode.chance >= settings.chance, **candidate_entry(mode)}
            for mode in settings.modes
        ],
        "lowest_clocks": [asdict(clock) for clock in settings.clocks],
    }


def candidate_entry(candidate: Candidate) -> dict[str, object]:
    """Return a box in its mode under a load as plain values."""
    return {
        "mode": candidate.box.mode or None,
        "chance": candidate.chance,
        "busiest": candidate.busiest,
        "busiest_unit": candidate.unit or None,
        "watts": candidate.watts,
        "run_watts": candidate.run_watts,
        "joules_per_hour": candidate.joules_per_hour,
        "of_whole_board": None if candidate.run_watts is None else candidate.of_board,
        "problem": candidate.problem or None,
    }


def _stream(answer: StreamAnswer) -> dict[str, object]:
    stream = answer.stream
    return {
        "stream": stream.name,
        "rate_per_s": stream.rate_per_s,
        "count": stream.count,
        "arrival": stream.arrival,
        "deadline_ms": stream.deadline_ms,
        "share": stream.share,
        "alone_ms": answer.alone_ms,
        **_between("p50_ms", answer.p50_ms),
        **_between("p90_ms", answer.p90_ms),
        **_between("p99_ms", answer.p99_ms),
        "missed": answer.missed,
        "chance": answer.chance,
        "largest_count": answer.largest_count,
        **_between("joules", answer.joules),
        "stages": [_stage(stage) for stage in answer.stages],
    }


def _stage(answer: StageAnswer) -> dict[str, object]:
    stage, prediction = answer.stage, answer.cost.prediction
    generation = answer.cost.generation
    first, token = (generation.first_token, generation.token) if generation else (None, None)
    return {
        "stage": stage.name,
        "model": stage.model,
        "unit": answer.unit,
        "per_item": stage.per_item,
        "after": list(stage.after),
        "batch": stage.batch,
        "mean_batch": answer.mean_batch,
        "share_of_unit": answer.share,
        "runtime": prediction.configuration.runtime,
        "precision": prediction.configuration.precision.value if generation is None else None,
        "prompt_tokens": generation and generation.request.prompt,
        "new_tokens": generation and generation.request.new,
        "weights": generation and generation.weights,
        "first_token_ms": first and first.median,
        "token_ms": token and token.median,
        "latency_ms": prediction.latency_ms,
        "low80_ms": prediction.low80_ms,
        "high80_ms": prediction.high80_ms,
        "basis": prediction.basis and prediction.basis.value,
        "evidence": prediction.evidence,
        "fallback": _fallback(answer.cost.fallback),
    }


def _fallback(fallback: Fallback | None) -> dict[str, object] | None:
    if fallback is None:
        return None
    return {
        "unit": fallback.unit,
        "types": list(fallback.types),
        "operators": fallback.operators,
        "processor_ms": fallback.cost.prediction.latency_ms,
        "transfers": fallback.transfers,
        "transfer_bytes": fallback.transfer_bytes,
        "transfer_ms": fallback.transfer_ms,
    }


def _between(name: str, value: Between | None) -> dict[str, object]:
    """Return a figure and its interval; one without a limit is null."""
    if value is None:
        return dict.fromkeys((name, f"{name}_low80", f"{name}_high80"))
    ends = (value.median, value.low, value.high)
    median, low, high = (end if math.isfinite(end) else None for end in ends)
    return {name: median, f"{name}_low80": low, f"{name}_high80": high}
