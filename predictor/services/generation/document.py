"""Predictions of language models as a JSON document, and a model's size in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from predictor.presentation.wording import number
from predictor.services.generation.records import Generation, Interval

if TYPE_CHECKING:
    from predictor.language.architecture import DecoderArchitecture

SCHEMA = "ctm-generation/1"
_MB = 1e6


@lru_cache(maxsize=256)
def size_of(model: DecoderArchitecture) -> str:
    """Return the parameters of a model in words, of experts those of a token too."""
    size = f"{number(model.parameters() / 1e9)} B parameters"
    if model.experts:
        size += f", {number(model.active_parameters() / 1e9)} B of them a token"
    return size


def generation_document(results: Sequence[Generation]) -> dict[str, object]:
    """Return the document: every key is always there, null where there is no number."""
    return {"schema": SCHEMA, "results": [_entry(result) for result in results]}


def _entry(result: Generation) -> dict[str, object]:
    request, first, token = result.request, result.first_token, result.token
    split, total = result.split, result.end_to_end
    power, energy = result.power, result.joules_per_token
    return {
        "model": result.model,
        "device": result.device.id,
        "runtime": result.runtime or None,
        "weights": result.weights,
        "prompt_tokens": request.prompt,
        "new_tokens": request.new,
        "context_tokens": request.depth,
        "batch": request.batch,
        "kv_precision": request.kv_precision,
        "mode": request.mode or None,
        "clock": request.clock or None,
        "ttft_ms": first and first.median,
        "ttft_low80_ms": first and first.low,
        "ttft_high80_ms": first and first.high,
        "ttft_bound_ms": first and first.bound,
        "prefill_tokens_per_s": result.prefill_tokens_per_s,
        "ms_per_token": token and token.median,
        "decode_tokens_per_s": result.decode_tokens_per_s,
        "decode_low80_tokens_per_s": _rate(token, request.batch, "high"),
        "decode_high80_tokens_per_s": _rate(token, request.batch, "low"),
        "decode_bound_tokens_per_s": _rate(token, request.batch, "bound"),
        "e2e_ms": total and total.median,
        "e2e_low80_ms": total and total.low,
        "e2e_high80_ms": total and total.high,
        "watts": power and power.median,
        "watts_low80": power and power.low,
        "watts_high80": power and power.high,
        "joules_per_token": energy and energy.median,
        "joules_per_token_low80": energy and energy.low,
        "joules_per_token_high80": energy and energy.high,
        "cards": request.cards,
        "pipeline": request.pipeline,
        "prefill_bound_by": first and first.binds.value,
        "decode_bound_by": token and token.binds.value,
        "memory_mb": result.memory.total / _MB,
        "weights_mb": result.memory.weights / _MB,
        "kv_cache_mb": result.memory.cache / _MB,
        "working_mb": result.memory.working / _MB,
        "usable_mb": result.usable and result.usable.bytes / _MB,
        "memory_assumption": result.usable and result.usable.assumption,
        "fits": result.fits,
        "fits_on_cards": result.fits_on,
        "longest_context": result.longest_context,
        "basis": result.basis and result.basis.value,
        "evidence": result.evidence,
        "problem": result.problem or None,
        "host": split and split.host.id,
        "card_layers": split and split.card_layers,
        "host_memory_mb": split and split.host_bytes / _MB,
    }


def _rate(token: Interval | None, batch: int, name: str) -> float | None:
    return None if token is None else 1000 * batch / float(getattr(token, name))
