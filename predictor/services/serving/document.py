"""The JSON document of devices that serve a load."""

from __future__ import annotations

import math
from collections.abc import Sequence

from predictor.services.serving.records import Between, Serving, Tail

SCHEMA = "ctm-serving/1"
_PERCENTILES = ("p50", "p90", "p99")


def serving_document(results: Sequence[Serving]) -> dict[str, object]:
    """Return the document: every key is always there, null where there is no number."""
    return {"schema": SCHEMA, "results": [_entry(result) for result in results]}


def _entry(result: Serving) -> dict[str, object]:
    load, alone, energy = result.load, result.generation, result.joules_per_token
    return {
        "model": alone.model,
        "device": result.device.id,
        "runtime": alone.runtime or None,
        "weights": alone.weights,
        "rate_per_s": load.rate_per_s,
        "prompt_tokens": None if load.trace else load.run.prompt,
        "new_tokens": None if load.trace else load.run.new,
        "trace_requests": len(load.trace) or None,
        "slo_ttft_ms": load.limits.first_ms,
        "slo_tpot_ms": load.limits.token_ms,
        "slo_share": load.limits.share,
        "max_sequences": load.max_sequences,
        "sequences_that_fit": result.sequences,
        **_between("capacity_per_s", result.capacity_per_s),
        "load_over_capacity": result.overload,
        **_tail("ttft", result.first),
        **_tail("tpot", result.token),
        "tokens_per_s": result.tokens_per_s,
        "goodput_per_s": result.good_per_s,
        "goodput_share": result.good_share,
        "mean_batch": result.mean_batch,
        "watts": result.power and result.power.median,
        "joules_per_token": energy and energy.median,
        "joules_per_token_low80": energy and energy.low,
        "joules_per_token_high80": energy and energy.high,
        "price_per_hour": load.price_per_hour or None,
        "cost_per_million_tokens": result.cost_per_million,
        "cards": load.run.cards,
        "largest_rate_per_s": result.largest_per_s,
        "cards_needed": result.cards_needed,
        "joules_per_token_of_cards_needed": result.joules_needed and result.joules_needed.median,
        "cost_per_million_of_cards_needed": result.cost_needed,
        "max_joules": load.limits.joules,
        "max_cost": load.limits.cost,
        "limits_exceeded": list(result.excess),
        "simulated_requests": load.requests,
        "seed": load.seed,
        "basis": alone.basis and alone.basis.value,
        "evidence": alone.evidence,
        "problem": result.problem or None,
    }


def _tail(name: str, tail: Tail | None) -> dict[str, object]:
    entries: dict[str, object] = {}
    for percentile in _PERCENTILES:
        value = None if tail is None else getattr(tail, percentile)
        entries |= _between(f"{name}_{percentile}_ms", value)
    return entries


def _between(name: str, value: Between | None) -> dict[str, object]:
    """Return a figure and its interval; an end without a limit is null."""
    if value is None:
        return dict.fromkeys((name, f"{name}_low80", f"{name}_high80"))
    high = value.high if math.isfinite(value.high) else None
    return {name: value.median, f"{name}_low80": value.low, f"{name}_high80": high}
