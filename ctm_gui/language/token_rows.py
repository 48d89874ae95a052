"""A language model on devices as rows of the comparison: tokens a second beside latencies."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.prediction import Prediction
from predictor.core.records import Configuration
from predictor.core.run_facts import MemoryUse
from predictor.core.runtimes import UNKNOWN
from predictor.presentation.prediction_rows import PredictionRow, TokenRates
from predictor.services.generation.records import Generation


def token_rows(results: Sequence[Generation]) -> list[PredictionRow]:
    """Return a row a device, in the order of a table by latencies, of which these have none."""
    ordered = sorted(results, key=lambda result: -(result.decode_tokens_per_s or 0.0))
    return list(map(_row, ordered))


def _row(result: Generation) -> PredictionRow:
    device, memory = result.device, result.memory
    usable = None if result.usable is None else int(result.usable.bytes)
    prediction = Prediction(
        model=result.model,
        fingerprint="",
        device_id=device.id,
        configuration=Configuration(result.runtime or UNKNOWN, batch=result.request.batch),
        engine="",
        basis=result.basis,
        latency_ms=None,
        fits_memory=result.fits,
        problem=result.problem,
        evidence=result.evidence,
        memory=MemoryUse(int(memory.weights), int(memory.cache + memory.working), usable),
    )
    return PredictionRow(
        prediction=prediction,
        device_name=device.name,
        model_label=result.model,
        vendor=device.vendor,
        family=device.family.value,
        batch=result.request.batch if result.request.batch > 1 else 0,
        tokens=_rates(result),
    )


def _rates(result: Generation) -> TokenRates:
    first, token = result.first_token, result.token
    if first is None or token is None:
        return TokenRates(weights=result.weights)
    of_all = 1000 * result.request.batch
    return TokenRates(
        weights=result.weights,
        per_s=result.decode_tokens_per_s,
        low_per_s=of_all / token.high,
        high_per_s=of_all / token.low,
        first_ms=first.median,
        first_low_ms=first.low,
        first_high_ms=first.high,
        prompt=result.request.prompt,
    )
